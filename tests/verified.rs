//! Runs with an estimate of their global error: units, constants in the potential and
//! spectators change nothing, and the estimate is not below the error.

mod support;

use dalembert::expr::Random;
use dalembert::simulate::Observation;
use dalembert::simulate::drive::End;
use dalembert::simulate::run::verify::{ErrorEstimate, Sink, StateError, run_verified};
use dalembert::simulate::run::{self, RunOptions, RunReport};
use dalembert::simulate::{Setting, State};
use std::ops::ControlFlow;
use support::motion::model;

/// Keeps the rows of the run that counts.
#[derive(Default)]
struct Rows {
    states: Vec<(State, Option<StateError>)>,
    restarts: u32,
}

impl Sink for Rows {
    fn restart(&mut self) {
        self.states.clear();
        self.restarts += 1;
    }

    fn record(&mut self, row: &Observation, error: Option<&StateError>) -> ControlFlow<()> {
        self.states.push((row.state.clone(), error.cloned()));
        ControlFlow::Continue(())
    }
}

fn verified_with(
    text: &str,
    change: impl FnOnce(&mut RunOptions),
    rows: bool,
) -> (RunReport, Rows) {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    options.every.get_or_insert((options.end / 10.0).abs());
    change(&mut options);
    let mut sink = Rows::default();
    let report = run_verified(&setting, &options, rows, &mut sink);
    (report.unwrap_or_else(|error| panic!("{text}: {error:?}")), sink)
}

fn verified(text: &str) -> RunReport {
    verified_with(text, |_| {}, false).0
}

fn plain(text: &str, tolerance: f64) -> RunReport {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    options.tolerance = tolerance;
    options.every = Some((options.end / 10.0).abs());
    let report = run::run(&setting, &options, &mut |_| ControlFlow::Continue(()));
    report.unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn last(report: &RunReport) -> &State {
    &report.last.as_ref().expect("a last state").state
}

fn estimate(report: &RunReport) -> &ErrorEstimate {
    report.error.estimate().unwrap_or_else(|| panic!("{:?}", report.error))
}

/// Between 1/8 and 1, in steps of 1/64.
fn size(random: &mut Random) -> f64 {
    (8 + random.below(57)) as f64 / 64.0
}

/// Units of mass, length and time.
#[derive(Clone, Copy, Debug)]
struct Units(f64, f64, f64);

const SI: Units = Units(1.0, 1.0, 1.0);

/// Masses joined by springs that are not linear, damped or not, a pendulum among them.
#[derive(Clone, Debug)]
struct Case {
    masses: Vec<f64>,
    linear: Vec<f64>,
    cubic: Vec<f64>,
    joined: f64,
    damping: Option<f64>,
    pendulum: bool,
    x: Vec<f64>,
    v: Vec<f64>,
    end: f64,
    /// A constant in the potential, and a free particle of another speed.
    offset: Option<f64>,
    spectator: Option<f64>,
}

impl Case {
    fn draw(seed: u64) -> Case {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let n = 1 + random.below(3);
        let mut list = |n: usize| -> Vec<f64> { (0..n).map(|_| size(&mut random)).collect() };
        let (masses, linear, cubic) = (list(n), list(n), list(n));
        let (x, mut v) = (list(n), list(n));
        let joined = size(&mut random);
        if random.below(3) == 0 {
            v.fill(0.0);
        }
        Case {
            masses,
            linear,
            cubic,
            joined,
            damping: (random.below(3) == 0).then(|| 0.1 * size(&mut random)),
            pendulum: random.below(2) == 0,
            x,
            v,
            end: 2.0 + 8.0 * size(&mut random),
            offset: None,
            spectator: None,
        }
    }

    fn text(&self, Units(mass, length, time): Units) -> String {
        let n = self.masses.len();
        let mut text = String::new();
        let force = mass / (time * time);
        for i in 0..n {
            text += &format!(
                "coord x{i}\nparam m{i} = {:e}, k{i} = {:e}, c{i} = {:e}\n\
                 kinetic m{i}*x{i}'^2/2\npotential k{i}*x{i}^2/2 + c{i}*x{i}^4/4\n",
                self.masses[i] * mass,
                self.linear[i] * force,
                self.cubic[i] * (force / (length * length))
            );
            text += &format!(
                "start x{i} = {:e}, x{i}' = {:e}\n",
                self.x[i] * length,
                self.v[i] * (length / time)
            );
            if let Some(damping) = self.damping {
                text += &format!("force x{i}: -{:e}*x{i}'\n", damping * (mass / time));
            }
        }
        text += &format!("param j = {:e}\n", self.joined * force);
        for i in 1..n {
            text += &format!("potential j*(x{i} - x{})^2/2\n", i - 1);
        }
        if self.pendulum {
            let inertia = mass * length * length;
            text += &format!(
                "coord th\nparam i0 = {:e}, w0 = {:e}, b0 = {:e}\nkinetic i0*th'^2/2\n\
                 potential -w0*cos(th) + b0*th*x0\nstart th = {:e}\n",
                inertia,
                force * length * length,
                0.25 * force * length,
                self.x[0]
            );
        }
        if let Some(offset) = self.offset {
            text += &format!("potential {:e}\n", offset * force * length * length);
        }
        if let Some(speed) = self.spectator {
            text += &format!(
                "coord far\nparam mf = {:e}\nkinetic mf*far'^2/2\nstart far = 0, far' = {:e}\n",
                mass,
                speed * (length / time)
            );
        }
        text + &format!("run t = 0..{:e}\n", self.end * time)
    }
}

/// q and q̇ of a state in other units, angles as they are.
fn in_units(state: &State, case: &Case, Units(_, length, time): Units) -> Vec<f64> {
    let n = case.masses.len();
    let unit = |i: usize| if i < n || case.pendulum && i > n { length } else { 1.0 };
    let unit = |i: usize| if i == n && !case.pendulum { length } else { unit(i) };
    let q = state.q.iter().enumerate().map(|(i, q)| q / unit(i));
    let v = state.velocity.iter().enumerate().map(|(i, v)| v / (unit(i) / time));
    q.chain(v).collect()
}

/// The errors of a run's end, as one list, in other units.
fn errors(report: &RunReport, case: &Case, units: Units) -> Vec<f64> {
    let end = &estimate(report).end;
    let as_state = State {
        t: 0.0,
        q: end.q.clone(),
        velocity: end.velocity.clone(),
        momentum: end.momentum.clone(),
    };
    in_units(&as_state, case, units)
}

const CASES: u64 = 40;

/// 40 motions in 3 other units each, up to 10^±12: the same verdict, steps within one, and
/// the same end within what both say they are off by.
#[test]
fn other_units_change_nothing() {
    for seed in 0..CASES {
        let case = Case::draw(seed);
        let one = verified(&case.text(SI));
        let mut random = Random::new(seed + 77);
        for _ in 0..3 {
            let mut factor = || 10f64.powi(random.below(25) as i32 - 12);
            let units = Units(factor(), factor(), factor());
            let text = case.text(units);
            let other = verified(&text);
            assert_eq!(one.verdict(), other.verdict(), "{seed} {units:?}\n{text}");
            let (a, b) = (one.statistics, other.statistics);
            if a.steps.abs_diff(b.steps) > 1 {
                eprintln!("{}\n{text}", case.text(SI));
            }
            assert!(a.steps.abs_diff(b.steps) <= 1, "{seed} {units:?}: {a:?} {b:?}\n{text}");
            let (x, y) = (in_units(last(&one), &case, SI), in_units(last(&other), &case, units));
            let (ex, ey) = (errors(&one, &case, SI), errors(&other, &case, units));
            for i in 0..x.len() {
                let apart = (x[i] - y[i]).abs();
                assert!(apart <= ex[i] + ey[i], "{seed} {units:?} {i}: {apart:e}\n{text}");
                // Rounding alone tells them apart, not the tolerance.
                assert!(apart <= 1e-10, "{seed} {units:?} {i}: {apart:e}\n{text}");
            }
        }
    }
}

/// 40 motions in units that are powers of four: the same to the last bit.
#[test]
fn powers_of_four_change_no_bit() {
    for seed in 0..CASES {
        let case = Case::draw(seed);
        let one = plain(&case.text(SI), 1e-9);
        let mut random = Random::new(seed + 99);
        let mut factor = || 4f64.powi(random.below(41) as i32 - 20);
        let units = Units(factor(), factor(), factor());
        let other = plain(&case.text(units), 1e-9);
        let (x, y) = (in_units(last(&one), &case, SI), in_units(last(&other), &case, units));
        assert_eq!(one.statistics, other.statistics, "{seed} {units:?}");
        assert_eq!(x, y, "{seed} {units:?}");
    }
}

/// 40 motions, too loose for what is asked of them: the certificate says so whatever constant
/// is in the potential and whatever passes by; and says nothing of those that are good.
#[test]
fn constants_and_spectators_hide_nothing() {
    let mut loose = 0;
    for seed in 0..CASES {
        let case = Case { damping: None, ..Case::draw(seed) };
        let mut random = Random::new(seed + 55);
        let offset = Some(10f64.powi(random.below(13) as i32));
        let spectator = Some(10f64.powi(random.below(7) as i32));
        let with = Case { offset, spectator, ..case.clone() };
        let verdict = |case: &Case, tolerance: f64| {
            let report = plain(&case.text(SI), tolerance);
            (report.certificate.verdict(1e-9).is_ok(), report.certificate.energy_balance)
        };
        let (a, b) = (verdict(&case, 1e-4), verdict(&with, 1e-4));
        assert_eq!(a.0, b.0, "{seed}: {a:?} {b:?}");
        loose += u32::from(!a.0);
        let (a, b) = (verdict(&case, 1e-10), verdict(&with, 1e-10));
        assert!(a.0 && b.0, "{seed}: {a:?} {b:?}\n{}", with.text(SI));
        let (a, b) = (verified(&case.text(SI)), verified(&with.text(SI)));
        assert_eq!((a.verdict(), b.verdict()), (Ok(()), Ok(())), "{seed}\n{}", with.text(SI));
    }
    assert!(loose > CASES as u32 / 2, "{loose}");
}

/// 40 motions at 2 tolerances: the error, by a run that is much tighter, is within the
/// estimate; which is no more than a thousand times it, at the median.
#[test]
fn estimates_are_honest() {
    let (mut ratios, mut total, mut beyond) = (Vec::new(), 0, 0);
    for seed in 0..CASES {
        let case = Case::draw(1000 + seed);
        let text = case.text(SI);
        let exact = plain(&text, 1e-14);
        for tolerance in [1e-6, 1e-9] {
            let (report, _) = verified_with(&text, |o| o.tolerance = tolerance, false);
            assert_eq!(report.verdict(), Ok(()), "{seed}");
            let (x, y) = (in_units(last(&report), &case, SI), in_units(last(&exact), &case, SI));
            let estimated = errors(&report, &case, SI);
            for i in 0..x.len() {
                let error = (x[i] - y[i]).abs();
                total += 1;
                if error > estimated[i] + 1e-13 {
                    beyond += 1;
                    eprintln!("{seed} {tolerance:e} {i}: {error:e} {:e}", estimated[i]);
                }
                if error > 1e-13 {
                    ratios.push(estimated[i] / error);
                }
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    assert!(beyond == 0, "{beyond} of {total} beyond their estimate");
    assert!((1.0..1e3).contains(&median), "{median}");
}

const ENERGY_OFFSET: &str = "
coord x
kinetic x'^2/2
potential exp(-((x-5)/0.001)^2)+1e8
start x=0,x'=1
run t=0..10
";

/// The same wall without exponentials and quotients, which are looked at along each step.
const RATIONAL: &str = "
coord x
kinetic x'^2/2
potential 1/(1 + ((x-5)/0.02)^2)^4 + 1e8
start x=0,x'=1
run t=0..10
";

/// The same of powers none of which is high by itself.
const POWERS: &str = "
coord x
let w = cos((x-5)/2)^24 + 1e-9
let v = w^24 + 1e-9
kinetic x'^2/2
potential v^24 + 1e8
start x=0,x'=1
run t=0..10
";

/// A wall that the first run steps over is met by the second, and the run made again.
#[test]
fn a_wall_that_was_stepped_over_is_met() {
    // The one of quotients is climbed for longer, and errors are amplified on the way.
    for (text, least) in [(ENERGY_OFFSET, 1e-9), (RATIONAL, 1e-8)] {
        let met = plain(text, 1e-9);
        assert_eq!(met.verdict(), Ok(()));
        assert!((last(&met).velocity[0] + 1.0).abs() < least, "{:?}", last(&met));
    }
    let first = plain(POWERS, 1e-9);
    assert!(first.verdict().is_err());
    let (report, rows) = verified_with(POWERS, |_| {}, false);
    assert_eq!(report.verdict(), Ok(()));
    assert!((last(&report).velocity[0] + 1.0).abs() < 1e-9, "{:?}", last(&report));
    assert_eq!(rows.restarts, estimate(&report).tightened);
    assert!(rows.restarts > 0);
    // What was written is the run that counts.
    assert_eq!(rows.states.len(), 11);
    assert_eq!(&rows.states[10].0, last(&report));
}

#[test]
fn a_tiny_motion_is_followed() {
    let report = verified(
        "coord x\nkinetic x'^2/2\npotential (1 - cos(x*1e12))*1e-24\nstart x = 1e-12\n\
         run t = 0..20",
    );
    assert_eq!(report.verdict(), Ok(()));
    let same =
        verified("coord x\nkinetic x'^2/2\npotential 1 - cos(x)\nstart x = 1\nrun t = 0..20");
    assert!((last(&report).q[0] * 1e12 - last(&same).q[0]).abs() < 1e-9);
    assert!((last(&report).q[0] - 9.96e-13).abs() < 1e-15);
}

/// A close encounter and chaos: as exact as rounding allows, and not called more than that.
#[test]
fn what_is_sensitive_is_called_so() {
    let collision = "coord x\nkinetic x'^2/2\npotential -1/sqrt(x^2+1e-12)\nstart x=1\nrun t=0..10";
    let report = verified(collision);
    let words = report.verdict().expect_err("sensitive").join("; ");
    assert!(words.contains("sensitive") && words.contains("amplified"), "{words}");
    assert!((last(&report).q[0] + 0.03786).abs() < 1e-5, "{:?}", last(&report));
    let error = estimate(&report).end.q[0];
    assert!((1e-8..1e-4).contains(&error), "{error:e}");
    assert!(estimate(&report).rounding);
}

/// Before and after a jump there are two rows of one time, and each has the error of its own side: bounces
/// of a contact and of an event, at times that both runs meet to the last digit.
#[test]
fn rows_beside_a_jump_have_their_own_errors() {
    let ball = |floor: &str| {
        format!(
            "coord y\nkinetic y'^2/2\npotential 10*y\n{floor}\nstart y = 5\n\
             run t = 0..2.4, every 0.1, tol 1e-11"
        )
    };
    for floor in
        ["contact floor: y >= 0, restitution 0.5", "event hit: y = 0 falling -> y' = -y'/2"]
    {
        let (report, rows) = verified_with(&ball(floor), |_| {}, true);
        assert!(report.verdict().is_ok(), "{:?}", report.verdict());
        let jumps = rows.states.windows(2).filter(|pair| pair[0].0.t == pair[1].0.t).count();
        assert!(jumps >= 2, "{floor}: {jumps}");
        for (state, error) in &rows.states[1..] {
            let error = error.as_ref().expect("an error");
            let worst = error.q[0].max(error.velocity[0]);
            assert!(worst.is_nan() || worst < 1e-9, "{floor} at t = {}: {worst}", state.t);
        }
    }
}

/// The errors of rows, of runs that events end, and of constant steps.
#[test]
fn every_kind_of_run_has_its_estimate() {
    let free = "coord y\nkinetic y'^2/2\npotential 10*y\nstart y = 5\n\
                event floor: y = 0 falling -> stop\nrun t = 0..20";
    let report = verified(free);
    assert!(matches!(report.end, End::Stopped { .. }), "{:?}", report.end);
    assert_eq!(report.verdict(), Ok(()));
    let time = estimate(&report).end_time.expect("an error of the time");
    assert!((last(&report).t - 1.0).abs() <= time + 1e-15);
    let ball = "coord y\nkinetic y'^2/2\npotential 10*y\nstart y = 5\n\
                event hit: y = 0 falling -> y' = -0.8*y'\nrun t = 0..20";
    assert_eq!(verified(ball).verdict(), Ok(()));
    let swing = "coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1\nrun t = 0..10, every 1";
    let (report, rows) = verified_with(swing, |_| {}, true);
    assert_eq!((report.verdict(), rows.states.len()), (Ok(()), 11));
    for (state, error) in &rows.states[1..] {
        let error = error.as_ref().expect("an error").q[0];
        let off = (state.q[0] - state.t.cos()).abs();
        assert!(off <= error + 1e-12, "{}: {off:e} {error:e}", state.t);
    }
    for (method, step) in [("gauss4", 0.1), ("gauss8", 0.2), ("radau", 0.05)] {
        let change = |options: &mut RunOptions| {
            options.method = method.to_owned();
            options.step = Some(step);
        };
        let (report, _) = verified_with(swing, change, false);
        let (off, error) = ((last(&report).q[0] - 10f64.cos()).abs(), estimate(&report).end.q[0]);
        assert!(off <= error && error < 1e-2, "{method}: {off:e} {error:e}");
        assert!(estimate(&report).holds(), "{method}");
    }
}

/// A section that an oscillator reaches when the run ends is met by one run and not by
/// another; that is no difference. 40 of them.
#[test]
fn an_event_at_the_end_is_no_difference() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let rate = 0.3 + 0.07 * random.below(50) as f64;
        let quarters = 1 + 2 * random.below(6);
        let text = format!(
            "coord x\nkinetic x'^2/2\npotential {rate:?}^2*x^2/2\nstart x = 1\n\
             event zero: x = 0\nrun t = 0..{quarters}*pi/(2*{rate:?})"
        );
        let method = ["dop853", "gauss4", "gauss6", "radau"][random.below(4)];
        let tolerance = 10f64.powi(-5 - random.below(6) as i32);
        let change = |o: &mut RunOptions| {
            (o.method, o.tolerance) = (method.to_owned(), tolerance);
        };
        let (report, _) = verified_with(&text, change, false);
        assert_eq!(report.verdict(), Ok(()), "{seed}: {text}");
        let missed = quarters.div_ceil(2) - report.event_log.len();
        assert!(missed <= 1, "{seed}: {text}");
    }
}

/// Reduced momenta of different kinds (along the edge, about its point) are not of one size: every
/// formulation of a knife edge goes the same way in other units of mass, length and time.
#[test]
fn every_formulation_in_other_units() {
    for seed in 0..6 {
        let part = |k: usize| f64::from((seed * 37 + k as u32 * 61) % 100) / 100.0;
        let told = |m: f64, l: f64, t: f64| {
            format!(
                "coord x, y, phi\nkinetic ({:e})*(x'^2 + y'^2)/2 + ({:e})*phi'^2/2\n\
                 potential -({:e})*x\nconstraint edge: x'*sin(phi) - y'*cos(phi) = 0\n\
                 start phi = {:e}\nstart phi' = ({:e})\nstart x' ~ ({:e})\nrun t = 0..({:e})",
                (0.3 + part(0)) * m,
                (0.3 + part(1)) * m * l * l,
                (0.2 + part(2)) * m * l / t / t,
                0.3 + part(3),
                (0.5 + part(4)) / t,
                (0.4 + part(5)) * l / t,
                3.0 * t
            )
        };
        for formulation in ["lagrange", "poincare", "hamilton", "maggi", "bracket"] {
            let run = |text: &str| {
                let by = dalembert::formulations::by_name(formulation).expect("a formulation");
                verified_with(text, |options| options.formulation = by, false).0
            };
            let plain = run(&told(1.0, 1.0, 1.0));
            assert_eq!(plain.verdict(), Ok(()), "{formulation}");
            for (m, l, t) in [(1e9, 1.0, 1.0), (1.0, 1e9, 1.0), (1.0, 1.0, 1e9), (1e-7, 1e8, 1e-9)]
            {
                let other = run(&told(m, l, t));
                assert_eq!(other.verdict(), Ok(()), "{formulation} {m} {l} {t}");
                let (a, b) = (plain.statistics, other.statistics);
                assert!(a.steps.abs_diff(b.steps) <= 1, "{formulation} {m} {l} {t}: {a:?} {b:?}");
            }
        }
    }
}

/// The work of forces falls off faster than the motion it is the product of, and is held to the
/// tolerance all the same: overdamped, critical and weakly damped motions pass by series.
#[test]
fn damped_motions_pass_by_series() {
    use dalembert::prelude::*;
    for damping in ["0.2", "2", "6", "8.944", "12", "40"] {
        for tolerance in ["1e-6", "1e-9", "1e-11"] {
            let text = format!(
                "coord x\nkinetic x'^2/2\nforce x: 20*(1 - x) - {damping}*x'\n\
                 run t = 0..5, tol {tolerance}, method taylor"
            );
            let model = dalembert::parse(&text).expect("no faults");
            let motion = model.simulate(..).run().expect("a motion");
            let found = motion.certificate().check();
            assert!(found.is_ok(), "damping {damping} at {tolerance}: {found:?}");
        }
    }
}
