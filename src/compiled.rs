//! Equations as a function: accelerations and terms at any state, for any parameters.
//!
//! ```text
//! M q̈ = F + C + Aᵀλ ,   A q̈ = b
//! ```
//!
//! in the coordinates and velocities of the model, whatever it is written in. Ranks and
//! verdict are decided anew at each state, by what decides them on a run; an acceleration
//! that misses Gauss's principle is none. Where contacts and friction have phases each state is taken in
//! the phase that it is in (`phased`).

mod phased;

use crate::error::{Error, ErrorKind};
use crate::key::Key;
use crate::values::Values;
use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{Number, Symbol};
use dalembert_gauss::outcome::Verdict;
use dalembert_model::system::Model;
use dalembert_simulate::drive::{Control, Driver, Failure, Stabilize};
use dalembert_simulate::integrators::dop853;
use dalembert_simulate::phases::Decider;
use dalembert_simulate::{Field, FieldError};
use dalembert_simulate::{Setting, Table};
use phased::Phased;
use std::sync::Arc;

/// A model compiled for numbers. Cheap to clone, and threads may share it: each takes a
/// [`Work`] of its own.
#[derive(Clone)]
pub struct Compiled {
    shared: Arc<Shared>,
}

struct Shared {
    model: Model,
    setting: Setting,
    equations: EquationsOfMotion,
    field: Field,
    /// What finds the phase of a state; the equations are then those without contacts and friction.
    decider: Option<Decider>,
}

/// Threads may share what is compiled.
const _: fn() = || {
    fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<Compiled>();
};

/// The compiled equations of a setting: the one place where they are made.
fn field(setting: &Setting) -> Result<(EquationsOfMotion, Field), Error> {
    Field::by_lagrange(setting, dalembert_gauss::DEFAULT)
        .map_err(|faults| Error::of_faults(faults, &setting.model))
}

/// A driver that never takes a step: it decides ranks with regard to rounding and to what
/// states are off the constraints.
fn driver(field: Field) -> Driver {
    let size = field.n + field.size + 1;
    let control = Control {
        tolerance: 1e-9,
        step: None,
        stabilize: Stabilize::None,
        most_steps: 0,
        leaves_when_stiff: false,
        span: 1.0,
        longest: None,
    };
    Driver::new(field, Box::new(dop853::new(size)), control, 0.0, vec![0.0; size])
}

impl Compiled {
    pub(crate) fn new(model: &Model) -> Result<Compiled, Error> {
        let given = model;
        let setting = Setting::new(given).map_err(|m| Error::of_missing(m, given))?;
        let decider = Decider::new(&setting).map_err(|faults| Error::of_faults(faults, given))?;
        let (model, setting) = match &decider {
            Some(decider) => (decider.bare().model.share(), decider.bare().clone()),
            None => (given.clone(), setting),
        };
        let (equations, field) = field(&setting)?;
        Ok(Compiled { shared: Arc::new(Shared { model, setting, equations, field, decider }) })
    }

    /// Whether contacts and friction have phases: the rows of terms are then those of the phase that a
    /// state is in.
    pub fn has_phases(&self) -> bool {
        self.shared.decider.is_some()
    }

    /// The names of the coordinates, in the order in which states have them.
    pub fn coordinates(&self) -> impl ExactSizeIterator<Item = &str> {
        self.shared.model.system.coordinates.iter().map(|c| c.name.as_str())
    }

    /// The names of the states, which stand behind the coordinates in positions.
    pub fn states(&self) -> impl ExactSizeIterator<Item = &str> {
        self.shared.model.system.states.iter().map(|z| z.name.as_str())
    }

    /// The names of the constraint rows, in the order in which terms have them; of what touches and
    /// sticks there are rows behind these, in the phases in which it does.
    pub fn constraints(&self) -> impl ExactSizeIterator<Item = &str> {
        self.shared.model.system.constraints.iter().map(|c| c.name.as_str())
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = &str> {
        self.shared.model.system.parameters.iter().map(|p| p.name.as_str())
    }

    /// A place to evaluate in, for the thread that asks, with the parameters of the model.
    pub fn work(&self) -> Work {
        let Shared { model, setting, equations, field, decider } = &*self.shared;
        let driver = driver(field.clone());
        Work {
            model: model.clone(),
            setting: setting.clone(),
            equations: equations.clone(),
            rates: vec![0.0; driver.x.len()],
            driver,
            stale: Stale::None,
            terms: StateTerms::default(),
            values: Values::new(model, setting),
            phased: decider.clone().map(Phased::new),
        }
    }
}

/// A place to evaluate compiled equations in.
pub struct Work {
    model: Model,
    setting: Setting,
    equations: EquationsOfMotion,
    driver: Driver,
    /// What parameters have changed since a state was last taken.
    stale: Stale,
    values: Values,
    /// The rates of (q, q̇, W).
    rates: Vec<f64>,
    /// The terms asked for last.
    terms: StateTerms,
    /// The phases of contacts and friction that were met.
    phased: Option<Box<Phased>>,
}

/// What changed parameters make old.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stale {
    None,
    /// Numbers.
    Numbers,
    /// Rows that are held, perhaps.
    Rows,
}

/// A thread may hand its work to another.
const _: fn() = || {
    fn is_movable<T: Send>() {}
    is_movable::<Work>();
};

/// The terms of M q̈ = F + C + Aᵀλ and A q̈ = b at a state. Matrices row by row.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StateTerms {
    /// M, n × n.
    pub mass: Vec<f64>,
    /// F: impressed forces and all terms in velocities.
    pub force: Vec<f64>,
    /// C: the non-ideal part of the constraint force.
    pub nonideal: Vec<f64>,
    /// A, a row for each constraint.
    pub jacobian: Vec<f64>,
    /// b.
    pub bias: Vec<f64>,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Compiled").field(&self.shared.model).finish()
    }
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Work").field(&self.model).finish()
    }
}

impl Work {
    /// Another value for a parameter; parameters that are defined by it follow. Nothing is
    /// compiled again or allocated, unless it is in one of several constraints, which may then
    /// depend on each other, or it is far from what it was.
    pub fn set(&mut self, parameter: impl Key, value: f64) -> Result<(), Error> {
        let name = parameter.name();
        let parameters = &self.model.system.parameters;
        let Some(at) = parameters.iter().position(|p| p.name == name) else {
            let known = parameters.iter().map(|p| p.name.clone()).collect();
            return Err(Error::unknown("parameter", &name, known));
        };
        if !value.is_finite() {
            let words = format!("`{name}` must be a finite number, and it is {value}");
            let name = name.into_owned();
            return Err(Error::plain(ErrorKind::NotANumber { name, value }, words));
        }
        if self.values.numbers[at] != value {
            self.values.set(&self.model, at, value);
            if let Some(phased) = &mut self.phased {
                phased.set(&name, value)?;
            }
            let decides = self.values.decides[at];
            self.stale = self.stale.max(if decides { Stale::Rows } else { Stale::Numbers });
        }
        Ok(())
    }

    /// The accelerations q̈ at a state, on the constraints or not.
    ///
    /// An error where they do not exist or are not unique. Once its buffers have been used
    /// nothing is allocated, unless parameters were set, constraints depend on each other, or
    /// the model has branches (`abs`, `if`, …).
    pub fn accelerations(&mut self, t: f64, q: &[f64], velocity: &[f64]) -> Result<&[f64], Error> {
        let rates = self.rates(t, q, velocity)?;
        Ok(&rates[q.len()..])
    }

    /// The rates of all that a state is made of: of positions, of states, of velocities, in this
    /// order.
    pub fn rates(&mut self, t: f64, q: &[f64], velocity: &[f64]) -> Result<&[f64], Error> {
        if self.phased.is_some() {
            return self.in_phase(t, q, velocity)?.rates(t, q, velocity);
        }
        self.take(t, q, velocity)?;
        match self.solve() {
            Ok(()) => Ok(&self.rates[..q.len() + velocity.len()]),
            Err(failure) => Err(Error::of_state(failure, t, &self.model)),
        }
    }

    fn solve(&mut self) -> Result<(), Failure> {
        let driver = &mut self.driver;
        if driver.field.switches() > 0 {
            driver.settle_branches().map_err(Failure::Field)?;
        }
        driver.settle_here()?;
        match driver.field.outcome().motion {
            Verdict::Unique => {}
            motion => return Err(Failure::Field(FieldError::NoMotion(motion))),
        }
        let (field, t, x) = (&mut driver.field, driver.t, &driver.x);
        field.certified_rates(t, x, &mut self.rates).map_err(Failure::Field)
    }

    /// M, F, C, A and b at a state. Where forces depend on multipliers they are those of the
    /// solution. Nothing is allocated, as by [`accelerations`](Work::accelerations).
    pub fn terms(&mut self, t: f64, q: &[f64], velocity: &[f64]) -> Result<&StateTerms, Error> {
        if self.phased.is_some() {
            return self.in_phase(t, q, velocity)?.terms(t, q, velocity);
        }
        self.take(t, q, velocity)?;
        let driver = &mut self.driver;
        let lost = |error| Error::of_state(Failure::Field(error), t, &self.model);
        if driver.field.switches() > 0 {
            driver.settle_branches().map_err(lost)?;
        }
        let found = driver.field.terms(t, &driver.x).map_err(lost)?;
        let own = &mut self.terms;
        for (own, found) in [
            (&mut own.mass, found.metric),
            (&mut own.force, found.force),
            (&mut own.nonideal, found.nonideal),
            (&mut own.jacobian, found.jacobian),
            (&mut own.bias, found.bias),
        ] {
            own.clear();
            own.extend_from_slice(found);
        }
        if let Some(patterns) = found.patterns {
            own.mass = patterns.metric.dense(found.metric);
            own.jacobian = patterns.jacobian.dense(found.jacobian);
        }
        let system = &self.setting.model.system;
        if !system.recombined.is_empty() {
            let mut table = Table::default();
            table.set(Symbol::TIME, t);
            table.set_all(&system.configuration(), q);
            table.set_all(&system.velocities(), velocity);
            let number = |weight| self.setting.number(weight, &table);
            system.write_rows(&mut own.jacobian, system.n_coordinates(), &number);
            system.write_rows(&mut own.bias, 1, &number);
        }
        Ok(own)
    }

    /// Whether lists have as many entries as states have.
    fn fits(&self, q: &[f64], velocity: &[f64]) -> Result<(), Error> {
        let n = self.model.system.n_coordinates();
        let places = n + self.model.system.states.len();
        for (what, list, expected) in [("positions", q, places), ("velocities", velocity, n)] {
            if list.len() != expected {
                let found = list.len();
                let words = format!("{expected} {what} make a state, and there are {found}");
                return Err(Error::plain(ErrorKind::Length { what, expected, found }, words));
            }
        }
        Ok(())
    }

    /// Takes a state over, and brings the equations up to the parameters.
    fn take(&mut self, t: f64, q: &[f64], velocity: &[f64]) -> Result<(), Error> {
        self.fits(q, velocity)?;
        let n = self.model.system.n_coordinates();
        let places = n + self.model.system.states.len();
        let stale = std::mem::replace(&mut self.stale, Stale::None);
        if stale == Stale::Numbers {
            let is_far = self.values.are_far();
            self.setting.set_values(&self.values.symbols, &self.values.numbers);
            self.driver.set_values(&self.values.symbols, &self.values.numbers, is_far);
        } else if stale == Stale::Rows {
            self.values.are_far();
            let mut model = self.model.clone();
            let parameters = model.system.parameters.iter_mut().zip(&self.values.numbers);
            for (parameter, &value) in parameters {
                parameter.value = Number::from_f64(value).map(|x| model.exprs.of_number(x));
            }
            let setting = Setting::new(&model);
            self.setting = setting.map_err(|m| Error::of_missing(m, &self.model))?;
            // Rows that nearly depend on each other are combined by the parameters.
            let held = |setting: &Setting| setting.model.system.recombined.clone();
            let mut own = self.driver.field.clone();
            if held(&self.setting) == held(own.setting()) {
                own.set_parameters(&self.setting);
            } else {
                (self.equations, own) = field(&self.setting)?;
            }
            self.driver = driver(own);
        }
        self.driver.t = t;
        self.driver.x[..places].copy_from_slice(q);
        self.driver.x[places..places + n].copy_from_slice(velocity);
        Ok(())
    }
}
