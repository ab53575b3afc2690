//! Linear equations of a model: about equilibria and steady motions, any state, states of a run,
//! a period; all equilibria of a box.

use crate::door::{Guard, Trouble};
use dalembert::Error;
use dalembert::analyze::Watch;
use dalembert::analyze::linearize::{
    LinearizeError, Side, equilibria_within, floquet, linearize_along, linearize_here,
    linearize_watched, symbolic,
};
use dalembert::export::linearization::{failure_words, symbolic_json};
use dalembert::export::{AlongPage, FloquetPage, LinearizationPage, LocalPage, WithinPage};
use dalembert::model::system::Model;
use dalembert::simulate::{Setting, StartError};
use serde_json::Value;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// Which linear equations are asked for.
pub(crate) enum Asked {
    /// About the equilibrium or steady motion nearby; with formulas in the parameters.
    Steady { symbolic: bool },
    /// About the state as it is.
    Here,
    /// About states that the run passes at these times.
    Along(Vec<f64>),
    /// Over a period.
    Period(f64),
    /// About all equilibria of a box, from so many guesses.
    Within(Vec<(String, f64, f64)>, usize),
}

impl Asked {
    /// The one thing that is asked for.
    pub fn new(
        here: bool,
        along: Option<Vec<f64>>,
        period: Option<f64>,
        within: Option<Vec<(String, f64, f64)>>,
        guesses: usize,
        symbolic: bool,
    ) -> Result<Asked, Trouble> {
        let mut all = Vec::new();
        all.extend(here.then_some(Asked::Here));
        all.extend(along.map(Asked::Along));
        all.extend(period.map(Asked::Period));
        all.extend(within.map(|sides| Asked::Within(sides, guesses)));
        all.extend(symbolic.then_some(Asked::Steady { symbolic }));
        match all.len() {
            0 => Ok(Asked::Steady { symbolic: false }),
            1 => Ok(all.remove(0)),
            _ => Err(Trouble::Argument(
                "`here`, `along`, `period`, `within` and `symbolic` are asked for one at a time"
                    .to_owned(),
            )),
        }
    }
}

/// Asks a guard between the steps of an analysis.
pub(crate) fn watched<T>(guard: &mut Guard, work: impl FnOnce(&Watch<'_>) -> T) -> T {
    let guard = RefCell::new(guard);
    let stage = |_: &'static str| -> ControlFlow<()> { guard.borrow_mut().ask(0.0, 0.0) };
    work(&Watch::by(&stage))
}

/// The linear equations, as `dal linearize --json` has them.
pub(crate) fn linearize(model: &Model, asked: &Asked, guard: &mut Guard) -> Result<Value, Trouble> {
    let setting = &Setting::new(model).map_err(|m| Error::of_missing(m, model))?;
    let found = match asked {
        Asked::Steady { symbolic: in_symbols } => {
            let found = watched(guard, |watch| linearize_watched(setting, watch));
            found.map(|found| {
                let mut object = LinearizationPage { model, found: &found }.to_json();
                if *in_symbols {
                    let formulas = symbolic(setting, &found);
                    object["symbols"] = symbolic_json(&formulas, &found, model);
                }
                object
            })
        }
        Asked::Here => watched(guard, |watch| linearize_here(setting, watch))
            .map(|found| LocalPage { model, found: &found }.to_json()),
        Asked::Along(times) => watched(guard, |watch| linearize_along(setting, times, watch))
            .map(|found| AlongPage { model, found: &found }.to_json()),
        Asked::Period(period) => {
            if !(*period > 0.0 && period.is_finite()) {
                let words = format!("a period is a positive number, and not {period}");
                return Err(Trouble::Argument(words));
            }
            watched(guard, |watch| floquet(setting, *period, watch))
                .map(|found| FloquetPage { model, found: &found }.to_json())
        }
        Asked::Within(sides, guesses) => {
            let sides = sides_of(model, sides)?;
            watched(guard, |watch| equilibria_within(setting, &sides, *guesses, watch))
                .map(|found| WithinPage { model, found: &found }.to_json())
        }
    };
    match found {
        Ok(object) => Ok(object),
        Err(
            LinearizeError::Start(StartError::Clash(faults)) | LinearizeError::Equations(faults),
        ) => Err(Error::of_faults(faults, model).into()),
        Err(error) => Err(Trouble::Failed(failure_words(&error, model))),
    }
}

fn sides_of(model: &Model, sides: &[(String, f64, f64)]) -> Result<Vec<Side>, Trouble> {
    let system = &model.system;
    let coordinates = system.coordinates.iter().map(|c| &c.name);
    let names: Vec<&String> = coordinates.chain(system.states.iter().map(|z| &z.name)).collect();
    let side = |(name, low, high): &(String, f64, f64)| {
        let Some(place) = names.iter().position(|own| *own == name) else {
            let words = format!("`{name}` is no coordinate or state of this model");
            return Err(Trouble::Argument(words));
        };
        if low.partial_cmp(high) != Some(std::cmp::Ordering::Less) {
            let words = format!("of `{name}` the first end is to be the lower one");
            return Err(Trouble::Argument(words));
        }
        Ok(Side { place, ends: [*low, *high] })
    };
    sides.iter().map(side).collect()
}
