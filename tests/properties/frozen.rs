//! Between decisions: what is solved on the decision of a nearby state is what would be
//! decided there, for every elimination.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load};
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::System;
use dalembert::simulate::Field;
use dalembert::simulate::integrators::Problem;
use dalembert::simulate::{ALL, Verdict};

const SYSTEMS: usize = 3000;
/// How far stages of a step may be from its beginning.
const NEARBY: f64 = 1e-3;

fn check(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    let model = load(&system);
    let Some(case) = Case::new(&model, index as u64, Place::On) else { return Ok(tried) };
    let measure = Measure::new(&case.terms());
    if measure.doubtful || measure.motion != Verdict::Unique {
        return Ok(tried);
    }
    let n = case.state.q.len();
    let mut x = case.state.q.clone();
    x.extend(&case.state.velocity);
    x.push(0.0);
    let mut random = Random::new(index as u64 ^ 0xf402e);
    let elimination = ALL[index % ALL.len()];
    let mut frozen = Field::new(&case.setting, &case.equations, elimination);
    if frozen.choose_rows(case.state.t, &x, 1e-9).is_err() {
        return Ok(tried);
    }
    let rows = frozen.rows().to_vec();
    tried.systems = 1;
    for _ in 0..3 {
        let beside: Vec<f64> = x.iter().map(|x| x + NEARBY * random.signed()).collect();
        let mut decided = Field::new(&case.setting, &case.equations, elimination);
        decided.use_rows(&rows);
        let (mut by_decision, mut as_decided) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let found = frozen.rates(case.state.t, &beside, &mut by_decision);
        let expected = decided.rates(case.state.t, &beside, &mut as_decided);
        if found.is_ok() != expected.is_ok() {
            return Err(format!(
                "{}: {found:?} instead of {expected:?}\n{}",
                elimination.name(),
                system.text()
            ));
        }
        if expected.is_err() {
            continue;
        }
        assert_eq!((decided.counts.frozen, decided.counts.decided), (0, 1));
        let size = measure.sizes[0].max(as_decided.iter().fold(0f64, |m, a| m.max(a.abs())));
        let off = |found: &[f64]| {
            difference(&found[n..2 * n], &as_decided[n..2 * n]) / size / measure.tolerance()
        };
        tried
            .hold("v̇", off(&by_decision))
            .map_err(|why| format!("{}: {why}\n{}", elimination.name(), system.text()))?;
        // The constraint force, by the multipliers.
        let (_, rows_there) = decided.last_matrices();
        let force = |lambda: Vec<f64>| -> Vec<f64> {
            let push =
                |i: usize| lambda.iter().enumerate().map(move |(j, l)| l * rows_there[j * n + i]);
            (0..n).map(|i| push(i).sum()).collect()
        };
        let apart = difference(&force(frozen.multipliers()), &force(decided.multipliers()));
        tried
            .hold("Qᶜ", apart / measure.sizes[1] / (10.0 * measure.tolerance()))
            .map_err(|why| format!("{}: {why}\n{}", elimination.name(), system.text()))?;
        // An answer of the state before would show.
        let mut before = vec![0.0; x.len()];
        if frozen.rates(case.state.t, &x, &mut before).is_ok()
            && difference(&before[n..2 * n], &as_decided[n..2 * n]) > 1e-6 * size
        {
            tried.notice(off(&before));
        }
    }
    Ok(tried)
}

#[test]
fn frozen_solutions_are_those_that_would_be_decided() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check).conclude("frozen", systems / 3);
}
