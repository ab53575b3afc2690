//! Compiled equations where contacts and friction have phases: the phase is decided at each state, and
//! the equations of each are compiled when they are first met.

use super::{Compiled, Work};
use crate::error::{Error, ErrorKind};
use crate::failures;
use dalembert_model::system::Phase;
use dalembert_simulate::State;
use dalembert_simulate::phases::{Decider, Here};

/// The phases that were met.
pub(super) struct Phased {
    decider: Decider,
    works: Vec<(Phase, Work)>,
    /// Parameters that were set.
    set: Vec<(String, f64)>,
}

impl Phased {
    pub fn new(decider: Decider) -> Box<Phased> {
        Box::new(Phased { decider, works: Vec::new(), set: Vec::new() })
    }

    /// Another value for a parameter.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), Error> {
        self.set.retain(|own| own.0 != name);
        self.set.push((name.to_owned(), value));
        self.works.iter_mut().try_for_each(|(_, work)| work.set(name, value))
    }

    /// The phase of a state.
    fn at(&self, state: &State) -> Result<Here, Error> {
        let model = self.decider.model();
        let told = |fault| {
            let told = failures::explain_phase(&model.system, &fault, state.t, true);
            Error::of_faults(vec![told], model)
        };
        let here = self.decider.at(state).map_err(told)?;
        if here.struck.is_some() {
            let words = format!(
                "at t = {}: a contact is struck at this state, and velocities jump: there is no \
                 acceleration",
                state.t
            );
            return Err(Error::plain(ErrorKind::Struck { t: state.t }, words));
        }
        Ok(here)
    }

    /// The equations of a phase.
    fn work(&mut self, here: &Here) -> Result<&mut Work, Error> {
        let known = self.works.iter().position(|(phase, _)| *phase == here.phase);
        let at = match known {
            Some(at) => at,
            None => {
                let mut work = Compiled::new(&here.model)?.work();
                for (name, value) in &self.set {
                    work.set(name, *value)?;
                }
                self.works.push((here.phase.clone(), work));
                self.works.len() - 1
            }
        };
        let work = &mut self.works[at].1;
        for (name, value) in here.directions() {
            work.set(&name, value)?;
        }
        Ok(work)
    }
}

impl Work {
    /// The phase that a state is in, if contacts and friction have phases: by name, `open`, `closed`,
    /// `slips` or `sticks`.
    pub fn phase(
        &mut self,
        t: f64,
        q: &[f64],
        velocity: &[f64],
    ) -> Result<Vec<(String, &'static str)>, Error> {
        let Some(here) = self.here(t, q, velocity)? else { return Ok(Vec::new()) };
        Ok(here.words().into_iter().map(|(name, word)| (name.to_owned(), word)).collect())
    }

    /// The equations of the phase that a state is in, where there are phases.
    pub(super) fn in_phase(
        &mut self,
        t: f64,
        q: &[f64],
        velocity: &[f64],
    ) -> Result<&mut Work, Error> {
        let here = self.here(t, q, velocity)?.expect("asked where there are phases only");
        self.phased.as_mut().expect("asked where there are phases only").work(&here)
    }

    fn here(&mut self, t: f64, q: &[f64], velocity: &[f64]) -> Result<Option<Here>, Error> {
        self.fits(q, velocity)?;
        let Some(phased) = &mut self.phased else { return Ok(None) };
        phased.decider.set_values(&self.values.symbols, &self.values.numbers);
        let setting = phased.decider.bare();
        let state = State::of_velocities(setting, t, q.to_vec(), velocity.to_vec());
        let lost = |e: dalembert_simulate::setting::NewtonError| {
            Error::plain(ErrorKind::Model, format!("at t = {t}: {e}"))
        };
        phased.at(&state.map_err(lost)?).map(Some)
    }
}
