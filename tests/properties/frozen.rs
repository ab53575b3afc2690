//! Between decisions: what is solved on the decision of a nearby state is what would be
//! decided there, for every elimination.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load};
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::System;
use dalembert::simulate::Field;
use dalembert::simulate::integrators::Problem;
use dalembert::simulate::{ALL, DEFAULT, Setting, Verdict, start};
use dalembert::{Input, Options};

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

/// Rates that are found in one go with the terms: those of the frozen problem, to the bit. Whether
/// there were any.
fn compare_direct(often: &mut Field, t: f64, x: &[f64], tried: &mut Tried) -> Outcomes<bool> {
    let mut random = Random::new(x.len() as u64 ^ 0xd12ec7);
    let mut once = often.clone();
    let (mut found, mut expected) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for call in 0..60 {
        // At last far from where it was decided.
        let away = if call < 50 { NEARBY } else { 3.0 };
        let beside: Vec<f64> = x.iter().map(|x| x + away * random.signed()).collect();
        let before = found.clone();
        let own = often.rates(t, &beside, &mut found);
        let other = once.certified_rates(t, &beside, &mut expected);
        if own.is_err() || other.is_err() {
            continue;
        }
        tried.hold("v̇", if found == expected { 0.0 } else { f64::INFINITY })?;
        tried.notice(if found == before { 0.0 } else { f64::INFINITY });
        if call % 7 == 0 {
            // The terms at hand are then those of the state that is asked about.
            let certified = often.certified_rates(t, &beside, &mut expected);
            let is_same = certified.is_err() || found == expected;
            tried.hold("v̇ again", if is_same { 0.0 } else { f64::INFINITY })?;
        }
    }
    Ok(often.counts.direct > 0)
}

fn check_direct(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    let model = load(&system);
    let Some(case) = Case::new(&model, index as u64, Place::On) else { return Ok(tried) };
    let mut x = case.state.q.clone();
    x.extend(&case.state.velocity);
    x.push(0.0);
    let mut field = Field::new(&case.setting, &case.equations, DEFAULT);
    if field.choose_rows(case.state.t, &x, 1e-9).is_err() {
        return Ok(tried);
    }
    let any = compare_direct(&mut field, case.state.t, &x, &mut tried)
        .map_err(|why| format!("{why}\n{}", system.text()))?;
    tried.systems = usize::from(any);
    Ok(tried)
}

#[test]
fn direct_solutions_are_the_frozen_ones() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check_direct).conclude("direct", systems / 4);
}

#[test]
fn direct_solutions_of_chains_are_the_frozen_ones() {
    for n in [1, 2, 4, 5, 8, 13, 20, 21] {
        let input = Input::open("gallery:n-link-chain").expect("a page");
        let options = Options { set: vec![format!("N={n}")], ..Options::default() };
        let model = dalembert::load(&input, &options).model.expect("no faults");
        let setting = Setting::new(&model).expect("values");
        let state = start::start(&setting).expect("a start").state;
        let mut x = [state.q, state.velocity, vec![0.0]].concat();
        x.iter_mut().enumerate().for_each(|(i, x)| *x += 0.1 * i as f64);
        let mut field = Field::by_lagrange(&setting, DEFAULT).expect("applies").1;
        field.choose_rows(0.0, &x, 1e-9).expect("a motion");
        let mut tried = Tried::default();
        let any = compare_direct(&mut field, 0.0, &x, &mut tried).expect("the same");
        // Large ones are not written out.
        assert_eq!(any, n <= 20, "{n}: {tried:?}");
        assert!(tried.held > 40, "{n}: {tried:?}");
    }
}

#[test]
fn frozen_solutions_are_those_that_would_be_decided() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check).conclude("frozen", systems / 3);
}
