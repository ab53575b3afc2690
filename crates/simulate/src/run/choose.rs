//! Which explicit method `auto` begins with: series, or stages.
//!
//! Steps by series are longer, and cost more. Both are known ahead: the first goes by the tolerance
//! τ, since the step of a series of the best order is a part of its radius of convergence that hardly
//! depends on τ, and that of a method of order 8 goes with τ^(1/8); the second is counted in operations.
//! So series are taken where
//!
//! ```text
//! (expansion + step) / (12 rates + step)  <  S (10⁻⁶/τ)^s
//! ```
//!
//! The numbers are fits to all motions of `tests/data/cases.json` at 10⁻⁶, 10⁻⁹ and 10⁻¹²
//! (`examples/methods.rs`): what is taken is never slower than the other by more than a factor of
//! two there. No clock is asked, so that a run is the same everywhere.
//!
//! Stiff motions are told on the way, and handed to another method.

use crate::integrators::{Needs, dop853, taylor};
use crate::program::field::Field;
use crate::run::{RunOptions, method};
use crate::setting::Setting;

/// S and s.
const LONGER: (f64, f64) = (1.35, 0.145);
/// What a step costs beside its rates or its series: by stages, and by series.
const STEP: (f64, f64) = (1500.0, 2500.0);
/// Stages of a step.
const STAGES: f64 = 12.0;
/// Recurrences run four side by side: what they cost of what is counted one by one.
const SIDE_BY_SIDE: f64 = 0.5;
/// What guards that depend on multipliers cost in a step, in rates.
const GUARDS: f64 = 150.0;
/// Of large rates the series cost at least so many times as much: there is no need to derive them
/// in order to know.
const AT_LEAST: (f64, f64) = (1000.0, 22.0);

/// The highest order of series that are longer than the tolerance asks for: that of full precision.
const LONGEST: usize = 26;

/// A method and why it is taken.
pub(crate) struct Chosen {
    pub(crate) name: &'static str,
    pub(crate) reason: String,
    /// Of series: what a step costs, and how long it is, beside one by stages.
    pub(crate) beside: Option<Beside>,
}

/// A step by series beside one by stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beside {
    /// So many times as dear,
    dearer: f64,
    /// and so many times as long.
    longer: f64,
}

impl Beside {
    /// Whether a run that takes so many steps by series is done sooner by stages, if it must have
    /// so many steps in any case.
    pub(crate) fn is_slower(&self, steps: f64, at_least: f64) -> bool {
        self.dearer * steps.max(at_least) > (self.longer * steps).max(at_least)
    }
}

/// The method to begin with. The field gets what it needs.
pub(crate) fn choose(
    setting: &Setting,
    options: &RunOptions,
    field: &mut Field,
    rates: f64,
) -> Chosen {
    let order = taylor::order_of(options.tolerance);
    let by_stages = Chosen {
        name: dop853::NAME,
        reason: "explicit and of high order; a stiff motion would be handed to radau".to_owned(),
        beside: None,
    };
    let longer = LONGER.0 * (1e-6 / options.tolerance).powf(LONGER.1);
    let guards = if field.follows_multipliers() { GUARDS * rates } else { 0.0 };
    let stages = STAGES * rates + STEP.0 + guards;
    let is_hopeless = rates > AT_LEAST.0 && AT_LEAST.1 * rates + guards > longer * stages;
    // Constant steps are those of a method whose order is known; and where velocities are in charts,
    // steps that are long would end beyond them.
    let has_charts = field.equations.chart.is_some();
    if options.step.is_some() || has_charts || is_hopeless {
        return by_stages;
    }
    let method = taylor::new(0);
    let is_refused = method::refusal(setting, options, &method, &field.equations).is_some();
    if is_refused || !field.equip(Needs::Series) {
        return by_stages;
    }
    let Some(series) = field.cost_of_series(order) else { return by_stages };
    let series = SIDE_BY_SIDE * series + rates;
    let dearer = (series + STEP.1 + guards) / stages;
    if !(dearer < longer) {
        let reason = format!(
            "explicit and of high order: a step by series of order {order} would cost about \
             {dearer:.1} times as much and be about {longer:.1} times as long; a stiff motion would be \
             handed to radau"
        );
        return Chosen { reason, ..by_stages };
    }
    Chosen {
        name: taylor::NAME,
        reason: format!(
            "series of order {order}: a step costs about {dearer:.1} times one of dop853 and is about \
             {longer:.1} times as long; a stiff motion would be handed to radau"
        ),
        beside: Some(Beside { dearer, longer }),
    }
}

/// The order of series by which a run at a tolerance is done soonest, where its errors only have to be
/// small: not below the one that the tolerance asks for.
pub(crate) fn order_of_ends(field: &Field, tolerance: f64) -> Option<usize> {
    let rates = field.cost_of_rates();
    field.cost_of_series(1)?;
    let cost = |order: usize| {
        SIDE_BY_SIDE * field.cost_of_series(order).unwrap_or(f64::INFINITY) + rates + STEP.1
    };
    let least = taylor::order_of(tolerance);
    Some(taylor::soonest(tolerance, least..=LONGEST.max(least), cost))
}
