//! Units do not matter: factors of 10⁶ on coordinates, time, mass and rows change no
//! verdict, and accelerations and forces change as their units do.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load};
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::{System, Units};
use dalembert::Choices;
use dalembert::formulations::{Formulation, by_name};
use dalembert::simulate::{DEFAULT, Outcome, Setting, State, Verdict};

const SYSTEMS: usize = 2000;

/// Units of which one kind, or all, differ from 1.
fn draw(system: &System, kind: usize, random: &mut Random) -> Units {
    let (n, m) = (system.coordinates(), system.rows.len());
    let mut factor = || [1e-6, 1e6][random.below(2)];
    let mut units = Units { coordinates: vec![1.0; n], time: 1.0, mass: 1.0, rows: vec![1.0; m] };
    if kind == 0 || kind == 5 {
        units.coordinates.iter_mut().for_each(|s| *s = factor());
    }
    if kind == 2 || kind == 5 {
        units.mass = factor();
    }
    if kind == 3 || kind == 5 {
        units.time = factor();
    }
    if kind == 4 || kind == 5 {
        units.rows.iter_mut().for_each(|s| *s = factor());
    }
    if kind == 1 {
        units.coordinates[random.below(n)] = [1e-6, 1e6][random.below(2)];
    }
    units
}

/// What must be the same in all units.
fn verdict(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let rank = &outcome.rank;
    (
        outcome.motion,
        (rank.jacobian, rank.constraints, rank.metric, rank.metric_and_jacobian),
        outcome.undetermined.clone(),
        outcome.indeterminate.clone(),
    )
}

/// A system in other units at the state of a case, by one formulation: its outcome,
/// and q̈ and Qᶜ in the units of the case.
fn in_units(
    system: &System,
    units: &Units,
    case: &Case,
    formulation: &'static dyn Formulation,
) -> Result<(Outcome, Vec<f64>, Vec<f64>), String> {
    let mut variant = system.clone();
    variant.frame.units = Some(units.clone());
    let model = load(&variant);
    let setting = Setting::new(&model).expect("has values");
    let (s, time) = (&units.coordinates, units.time);
    let q = case.state.q.iter().zip(s).map(|(q, s)| q / s).collect();
    let v = case.state.velocity.iter().zip(s).map(|(v, s)| v / s / time).collect();
    let state = State::of_velocities(&setting, case.state.t * time, q, v).expect("explicit");
    let there = Case::at(setting, state);
    let answer = there.evaluate(&[formulation], &[DEFAULT], &Choices::default()).remove(0);
    let found = answer.result.map_err(|refusal| refusal.to_string())?;
    let force = found.constraint_force.iter().zip(s).map(|(f, s)| f / s / units.mass).collect();
    let back = found.accelerations.iter().zip(s).map(|(a, s)| a * s * time * time).collect();
    Ok((found.outcome, back, force))
}

fn check(index: usize) -> Outcomes<Tried> {
    let mut system = System::new(index);
    let mut random = Random::new(index as u64 ^ 0x0917);
    // Speeds with constant weights: generic states, at which their rank is decided,
    // are not those of other units.
    let n = system.n;
    system.speeds = (1..=n)
        .map(|i| format!("2*v{i} + 0.3*{}*v{}", random.coefficient(), 1 + random.below(n)))
        .collect();
    let mut tried = Tried::default();
    let model = load(&system);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let measure = Measure::new(&case.terms());
    if measure.doubtful {
        return Ok(tried);
    }
    tried.systems = 1;
    let outcome = case.outcome();
    for (at, kind) in [index % 5, 5].into_iter().enumerate() {
        let units = draw(&system, kind, &mut random);
        let formulation =
            by_name(["lagrange", "poincare", "maggi"][(index + at) % 3]).expect("a formulation");
        let fail = |why: String| {
            let name = formulation.name();
            format!("{name}, {kind}: {why}\n{units:?}\n{:?}\n{}", case.state, system.text())
        };
        let (found, accelerations, force) =
            in_units(&system, &units, &case, formulation).map_err(&fail)?;
        if verdict(&found) != verdict(&outcome) {
            let (a, b) = (verdict(&found), verdict(&outcome));
            return Err(fail(format!("{a:?} instead of {b:?}")));
        }
        if !outcome.motion.exists() {
            continue;
        }
        let off = |a: &[f64]| {
            difference(a, &measure.accelerations) / measure.sizes[0] / measure.tolerance()
        };
        // The shortest acceleration depends on units; what exists without it does not.
        if outcome.motion == Verdict::Unique {
            tried.hold("q̈", off(&accelerations)).map_err(&fail)?;
            // A forgotten unit shows.
            let first = units.coordinates[0] * units.time.powi(2);
            if first != 1.0 && measure.accelerations[0].abs() > 1e-3 * measure.sizes[0] {
                let mut wrong = accelerations.clone();
                wrong[0] /= first;
                tried.notice(off(&wrong));
            }
        }
        let apart = difference(&force, &measure.force) / measure.sizes[1] / measure.tolerance();
        tried.hold("Qᶜ", apart).map_err(&fail)?;
    }
    // A verdict is something that can differ: a row less where rows are independent.
    if measure.rank_of_rows == system.rows.len() && !system.rows.is_empty() {
        let mut fewer = system.clone();
        fewer.rows.pop();
        let model = load(&fewer);
        let there = Case::at(Setting::new(&model).expect("has values"), case.state.clone());
        let same = verdict(&there.outcome()) == verdict(&outcome);
        tried.notice(if same { 0.0 } else { f64::INFINITY });
    }
    Ok(tried)
}

#[test]
fn units_change_no_verdict() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check).conclude("units", systems * 9 / 10);
}
