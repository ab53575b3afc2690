//! What a model can be asked to do.

use crate::compiled::Compiled;
use crate::error::Error;
use crate::simulation::Simulation;
use dalembert_derive::EquationsOfMotion;
use dalembert_model::system::Model;
use std::ops::RangeBounds;

/// What a model can be asked to do. The model itself lives in [`model`](crate::model), which
/// knows the language and no mechanics; this is what the whole library adds.
pub trait Mechanics {
    /// A run over a span of time, backwards if it ends before it begins. `..` is the span of
    /// the model's `run` statement, `..5.0` begins where that does.
    ///
    /// ```
    /// use dalembert::prelude::*;
    /// # fn main() -> Result<(), dalembert::Error> {
    /// let model = dalembert::parse("coord x; kinetic x'^2/2; potential x^2/2; start x = 1")?;
    /// let motion = model.simulate(0.0..1.0).tolerance(1e-12).run()?;
    /// motion.certificate().check()?;
    /// assert!((motion.at(0.3)?["x"] - 0.3f64.cos()).abs() < 1e-11);
    /// # Ok(())
    /// # }
    /// ```
    fn simulate(&self, span: impl RangeBounds<f64>) -> Simulation;

    /// The equations as a function of state and parameters, for threads to share.
    ///
    /// ```
    /// use dalembert::prelude::*;
    /// # fn main() -> Result<(), dalembert::Error> {
    /// let model = dalembert::parse("param k = 1; coord x; kinetic x'^2/2; potential k*x^2/2")?;
    /// let system = model.compile()?;
    /// let mut work = system.work();
    /// assert_eq!(work.accelerations(0.0, &[0.5], &[0.0])?, [-0.5]);
    /// work.set("k", 4.0)?;
    /// assert_eq!(work.accelerations(0.0, &[0.5], &[0.0])?, [-2.0]);
    /// # Ok(())
    /// # }
    /// ```
    fn compile(&self) -> Result<Compiled, Error>;

    /// The equations of motion, by the formulation that the model is written for.
    fn equations(&self) -> Result<EquationsOfMotion, Error>;
}

impl Mechanics for Model {
    fn simulate(&self, span: impl RangeBounds<f64>) -> Simulation {
        Simulation::new(self, span)
    }

    fn compile(&self) -> Result<Compiled, Error> {
        Compiled::new(self)
    }

    fn equations(&self) -> Result<EquationsOfMotion, Error> {
        crate::derive(self, None).map_err(|faults| Error::of_faults(faults, self))
    }
}
