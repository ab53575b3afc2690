//! When events happen, in which order, and how they end a run.

mod support;

use dalembert::checks::{self, CheckOutcome};
use dalembert::simulate::Setting;
use dalembert::simulate::drive::End;
use dalembert::simulate::run::{RunOptions, run};
use dalembert::{Input, Options};
use std::ops::ControlFlow;
use support::load;
use support::motion::{by_all, change, ran, times};

const BALL: &str = "
param g = 10, e = 0.8, h = 5
coord y
kinetic y'^2/2
potential g*y
event hit: y = 0 falling -> y' = -e*y'
start y = h
run t = 0..20
";

/// The n-th bounce of the ball, from 0: t₁ (1 + 2 Σ eᵏ).
fn bounce(n: i32, e: f64) -> f64 {
    1.0 + (1..=n).map(|k| 2.0 * e.powi(k)).sum::<f64>()
}

#[test]
fn a_ball_bounces_at_its_times_in_every_formulation() {
    for tolerance in [1e-6, 1e-9, 1e-12] {
        let all = by_all(BALL, tolerance);
        assert!(all.len() >= 4, "{:?}", all.iter().map(|a| a.0).collect::<Vec<_>>());
        for (name, report) in all {
            let times = times(&report, 0);
            assert!(times.len() > 60, "{name}: {}", times.len());
            for (n, t) in times.iter().enumerate() {
                let exact = bounce(n as i32, 0.8);
                assert!((t - exact).abs() < 1e-12, "{name}, {tolerance}: {n}: {t} not {exact}");
            }
            let End::PiledUp { event: 0, t } = report.end else {
                panic!("{name}: {:?}", report.end)
            };
            assert!((t - 9.0).abs() < 1e-11, "{name}: {t}");
            assert_eq!(report.verdict(), Ok(()), "{name}");
            // All of the energy is lost, in the ledger as well.
            assert!((report.energy_of_events() + 50.0).abs() < 1e-9, "{name}");
        }
    }
}

/// K(k) by the arithmetic-geometric mean.
fn quarter_period(k: f64) -> f64 {
    let (mut a, mut b): (f64, f64) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// A pendulum released from the horizontal passes its lowest point at (2n + 1) K/√(g/l):
/// with a constraint, in an angle, and by all formulations.
#[test]
fn a_pendulum_passes_below_at_odd_quarters() {
    let rod = "
param g = 9.81
coord x, y
kinetic (x'^2 + y'^2)/2
potential g*y
constraint rod: x^2 + y^2 = 1
constraint again: 2*x^2 + 2*y^2 = 2
start x = 1, y = 0
event below: x = 0
event left: x = 0 falling
event turn: x*y' - y*x' = 0
run t = 0..4
";
    let angle = "
param g = 9.81
coord th
kinetic th'^2/2
potential -g*cos(th)
start th = pi/2
event below: sin(th) = 0
event left: th = 0 falling
event turn: p_th = 0
run t = 0..4
";
    let quarter = quarter_period(0.5f64.sqrt()) / 9.81f64.sqrt();
    for (text, least) in [(rod, 2), (angle, 3)] {
        let all = by_all(text, 1e-13);
        assert!(all.len() >= least, "{}", all.len());
        for (name, report) in all {
            assert_eq!(report.end, End::Finished, "{name}");
            let below = times(&report, 0);
            assert_eq!(below.len(), (4.0 / quarter + 1.0) as usize / 2, "{name}: {below:?}");
            for (n, t) in below.iter().enumerate() {
                let exact = (2 * n + 1) as f64 * quarter;
                assert!((t - exact).abs() < 2e-12, "{name}: {t} not {exact}");
            }
            let every_other: Vec<f64> = below.iter().copied().step_by(2).collect();
            assert_eq!(times(&report, 1), every_other, "{name}");
            // It starts at rest: the first turn is not an event, nothing has left zero.
            for (n, t) in times(&report, 2).iter().enumerate() {
                let exact = (2 * n + 2) as f64 * quarter;
                assert!((t - exact).abs() < 1e-11, "{name}: {t} not {exact}");
            }
        }
    }
}

/// y = (t − 1)² + δ: two crossings next to each other, or none, however small δ is.
#[test]
fn what_grazes_zero_is_seen_if_it_crosses() {
    for (delta, expected) in [("-1e-10", 2), ("1e-10", 0), ("-1e-6", 2), ("1e-6", 0), ("-1e-3", 2)]
    {
        let text = format!(
            "param d = {delta}\ncoord y\nkinetic y'^2/2\nforce y: 2\n\
             start y = 1 + d, y' = -2\nevent touch: y = 0\nrun t = 0..3"
        );
        let (report, _) = ran(&text, |_| {});
        let times = times(&report, 0);
        assert_eq!(times.len(), expected, "{delta}: {times:?}");
        let root = delta.parse::<f64>().expect("a number").abs().sqrt();
        for (t, exact) in times.iter().zip([1.0 - root, 1.0 + root]) {
            assert!((t - exact).abs() < 1e-15 / root + 1e-14, "{delta}: {t} not {exact}");
        }
    }
}

/// Two balls land at once; what the events do depends on their order.
#[test]
fn events_at_one_instant_act_in_order() {
    let balls = "
coord y, z, m
kinetic (y'^2 + z'^2 + m'^2)/2
potential 10*(y + z)
start y = 5, z = 45, z' = -40
run t = 0..1.5
";
    let add = "event add: y = 0 falling -> m' = m' + 1, y' = 3\n";
    let triple = "event triple: z = 0 falling -> m' = 3*m'\n";
    for (events, expected) in [(format!("{add}{triple}"), 3.0), (format!("{triple}{add}"), 1.0)] {
        let (report, _) = ran(&format!("{balls}{events}"), |o| o.tolerance = 1e-12);
        let happened = &report.event_log;
        assert_eq!(happened.len(), 2);
        assert_eq!(happened.iter().map(|h| h.event).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(happened[0].t, happened[1].t);
        let last = report.last.as_ref().expect("a state");
        assert!((last.state.velocity[2] - expected).abs() < 1e-12);
        assert!((last.state.velocity[0] - (3.0 - 5.0)).abs() < 1e-12);
    }
}

#[test]
fn a_stop_is_exact_and_last() {
    let text = "
coord x
kinetic x'^2/2
potential x^2/2
start x = 1
event half: x = 1/2 falling -> stop
event never: x = 1/4
run t = 0..10, every 0.25
";
    for (name, report) in by_all(text, 1e-12) {
        assert_eq!(report.end, End::Stopped { event: 0 }, "{name}");
        assert_eq!(report.verdict(), Ok(()), "{name}");
        let last = report.last.as_ref().expect("a state");
        assert!((last.state.t - std::f64::consts::FRAC_PI_3).abs() < 1e-12, "{name}");
        assert!((last.state.q[0] - 0.5).abs() < 1e-15, "{name}");
        assert!((last.state.velocity[0] + 0.75f64.sqrt()).abs() < 1e-12, "{name}");
        assert!(times(&report, 1).is_empty());
    }
    // The last row is where it stopped, once.
    let (report, rows) = ran(text, |_| {});
    let last: Vec<f64> = rows.iter().rev().take(2).map(|o| o.state.t).collect();
    assert_eq!((last[0], last[1]), (report.event_log[0].t, 1.0));
}

/// A reset shows in the rows as the state before and the state after.
#[test]
fn a_jump_has_two_rows() {
    let (report, rows) = ran(BALL, |o| {
        o.end = 2.0;
        // One of the times of output is the bounce itself.
        o.times = vec![1.0];
    });
    let t = report.event_log[0].t;
    let there: Vec<f64> =
        rows.iter().filter(|o| o.state.t == t).map(|o| o.state.velocity[0]).collect();
    assert_eq!(there.len(), 2, "{there:?}");
    assert!((there[0] + 10.0).abs() < 1e-12 && (there[1] - 8.0).abs() < 1e-12);
    assert!(rows.windows(2).all(|pair| pair[0].state.t <= pair[1].state.t));
    // E − E₀ = W across the jump.
    for row in &rows {
        assert!((row.energy - 50.0 - row.work).abs() < 1e-11, "{}", row.state.t);
    }
}

/// The tension of a rope: a pendulum started from below with v² = 4 g l goes slack where
/// cos φ = −2/3, after √(l/g) artanh √(5/6).
#[test]
fn a_rope_goes_slack_where_its_multiplier_vanishes() {
    let text = "
param g = 9.81, l = 2
coord x, y
kinetic (x'^2 + y'^2)/2
potential g*y
constraint rope: x^2 + y^2 = l^2
start x = 0, y = -l, x' = 2*sqrt(g*l)
event slack: multiplier(rope) = 0 -> stop
run t = 0..4
";
    let (report, _) = ran(text, |o| o.tolerance = 1e-12);
    assert_eq!(report.end, End::Stopped { event: 0 });
    let last = report.last.expect("a state");
    let exact = (2.0f64 / 9.81).sqrt() * (5.0f64 / 6.0).sqrt().atanh();
    assert!((last.state.t - exact).abs() < 1e-11, "{} not {exact}", last.state.t);
    assert!((last.state.q[1] - 4.0 / 3.0).abs() < 1e-11);
    assert!(last.multipliers[0].abs() < 1e-12);
}

/// An elastic motion, shown in reverse, meets its bounces again.
#[test]
fn elastic_bounces_are_met_again_backwards() {
    let text = "
coord x, y
kinetic (x'^2 + y'^2)/2
potential 10*y + x^2
event floor: y = 0 falling -> y' = -y'
event wall: x = 1 rising -> x' = -x'
start y = 3, x' = 2
run t = 0..5
";
    let (forth, _) = ran(text, |o| o.tolerance = 1e-12);
    assert!(forth.event_log.len() > 4);
    let loaded = support::load(text);
    let model = loaded.model.as_ref().expect("no faults");
    let setting = dalembert::simulate::Setting::new(model).expect("values");
    let mut options = dalembert::simulate::run::RunOptions::of_model(&setting);
    (options.tolerance, options.end) = (1e-12, 0.0);
    let mut start = forth.start.clone();
    start.state = forth.last.as_ref().expect("a state").state.clone();
    let back = dalembert::simulate::run::run_from(&setting, &options, start, &mut |_| {
        std::ops::ControlFlow::Continue(())
    })
    .expect("runs");
    let there: Vec<(usize, f64)> = forth.event_log.iter().map(|h| (h.event, h.t)).collect();
    let again: Vec<(usize, f64)> = back.event_log.iter().rev().map(|h| (h.event, h.t)).collect();
    assert_eq!(there.len(), again.len(), "{there:?}\n{again:?}");
    for (a, b) in there.iter().zip(&again) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-9, "{a:?} {b:?}");
    }
    let (first, last) = (&forth.start.state, back.last.expect("a state").state);
    for (a, b) in first.q.iter().chain(&first.velocity).zip(last.q.iter().chain(&last.velocity)) {
        assert!((a - b).abs() < 1e-9, "{first:?} {last:?}");
    }
}

/// What starts at zero is no event until it has left it; what comes back is one.
#[test]
fn zero_at_the_start_is_no_event() {
    let text = "
coord y
kinetic y'^2/2
potential 10*y
start y = 0, y' = 5
event floor: y = 0
event falling: y = 0 falling -> stop
run t = 0..3
";
    let (report, _) = ran(text, |_| {});
    assert_eq!(report.end, End::Stopped { event: 1 });
    assert_eq!(times(&report, 0).len(), 1);
    assert!((report.event_log[0].t - 1.0).abs() < 1e-13);
}

/// A ball that does not bounce at all rests at once; one that is kicked goes on.
#[test]
fn without_restitution_it_ends_where_it_lands() {
    let plastic = BALL.replace("-e*y'", "0");
    let (report, _) = ran(&plastic, |_| {});
    let End::PiledUp { event: 0, t } = report.end else { panic!("{:?}", report.end) };
    assert!((t - 1.0).abs() < 1e-14);
    assert_eq!(report.event_log.len(), 1);
    let kicked = BALL.replace("-e*y'", "2*y'");
    let (report, _) = ran(&kicked, |o| o.end = 2.0);
    assert_eq!((report.end, report.event_log.len()), (End::Finished, 1));
    // Without gravity it stays where it is put.
    let free = "coord y\nkinetic y'^2/2\nstart y = 1, y' = -1\n\
                event hit: y = 0 falling -> y' = 0\nrun t = 0..5";
    let (report, _) = ran(free, |_| {});
    assert_eq!((report.end, report.event_log.len()), (End::Finished, 1));
}

/// Bounces that pile up away from the origin, where rounding ends them first, on a
/// moving floor and off a slope with friction: always an end, never a fall through it.
#[test]
fn bounces_pile_up_anywhere() {
    for (floor, e) in [("1000", 0.5), ("1e-3*sin(t)", 0.7), ("-3", 0.9), ("2 + 0.1*t", 0.3)] {
        let text = format!(
            "param e = {e}\ncoord y\nkinetic y'^2/2\npotential 10*y\nlet f = {floor}\n\
             start y = 1 + {floor_at_0}\n\
             event hit: y = f falling -> y' = f' - e*(y' - f')\nrun t = 0..30",
            floor_at_0 = floor.replace("(t)", "(0)").replace("*t", "*0"),
        );
        let (report, rows) = ran(&text, |_| {});
        assert!(matches!(report.end, End::PiledUp { .. }), "{floor}: {:?}", report.end);
        let lowest = rows.iter().map(|o| o.state.q[0]).fold(f64::INFINITY, f64::min);
        let below = match floor {
            "1000" => 1000.0,
            "-3" => -3.0,
            "2 + 0.1*t" => 2.0,
            _ => -1.1e-3,
        };
        assert!(lowest > below - 1e-9, "{floor}: {lowest}");
    }
}

/// Zeros without end in a finite time end the run, too.
#[test]
fn a_chirp_does_not_hang() {
    let text = "coord x\nkinetic x'^2/2\nstart x' = 1\nevent e: sin(1/(1 - t)) = 0\nrun t = 0..2";
    let (report, _) = ran(text, |o| o.most_steps = 3000);
    assert!(report.event_log.len() > 8);
    let exact = |n: f64| 1.0 - 1.0 / (n * std::f64::consts::PI);
    for (n, record) in report.event_log.iter().take(8).enumerate() {
        assert!((record.t - exact(n as f64 + 1.0)).abs() < 1e-11, "{n}: {}", record.t);
    }
}

/// A strobe that flashes often in one step of a slow motion.
#[test]
fn a_fast_function_of_time_is_followed() {
    let text = "coord x\nkinetic x'^2/2\nstart x' = 1\n\
                event strobe: sin(50*t) = 0 rising\nrun t = 0..10";
    let (report, _) = ran(text, |_| {});
    let times = times(&report, 0);
    assert_eq!(times.len(), 79);
    for (n, t) in times.iter().enumerate() {
        let exact = (n + 1) as f64 * std::f64::consts::TAU / 50.0;
        assert!((t - exact).abs() < 1e-13, "{n}: {t}");
    }
}

/// A pole is no zero; a jump through zero is one.
#[test]
fn poles_and_jumps() {
    let text = "coord x\nkinetic x'^2/2\nstart x = -1, x' = 1\n\
                event pole: 1/x = 0\nevent jump: sign(x) = 0\nevent both: x*abs(x) = 0\nrun t = 0..2";
    let (report, _) = ran(text, |_| {});
    assert!(times(&report, 0).is_empty(), "{:?}", times(&report, 0));
    assert_eq!(times(&report, 1).len(), 1);
    assert!((times(&report, 1)[0] - 1.0).abs() < 1e-14);
    assert!((times(&report, 2)[0] - 1.0).abs() < 1e-7);
}

/// Switches and events share a step; the earlier goes first.
#[test]
fn switches_and_events_in_one_step() {
    let text = "coord x\nkinetic x'^2/2\nforce x: -10*sign(x)\nstart x = 1\n\
                event above: x = 0.1\nevent at: x = 0\nrun t = 0..1.7";
    let (report, _) = ran(text, |o| o.tolerance = 1e-12);
    let quarter = 0.2f64.sqrt();
    let first = (0.2 * 0.9f64).sqrt();
    let above = times(&report, 0);
    assert_eq!(above.len(), 2);
    for (t, exact) in above.iter().zip([first, 4.0 * quarter - first]) {
        assert!((t - exact).abs() < 1e-11, "{above:?}");
    }
    let at = times(&report, 1);
    for (n, t) in at.iter().enumerate() {
        let exact = (2 * n + 1) as f64 * quarter;
        assert!((t - exact).abs() < 1e-11, "{at:?}");
    }
    assert_eq!(at.len(), 2);
}

/// A check beyond the end of a run that an event ended says why.
#[test]
fn checks_beyond_a_stop_fail_in_words() {
    let page = "```dal\ncoord x\nkinetic x'^2/2\nstart x' = 1\nevent wall: x = 2 -> stop\nrun t = 0..10\n```\n\
                ```check\nx = 1 at t = 1\n[x, t] = [2, 2] at end\nx = 5 at t = 5\nconserve x'\nx = 3 at end\n```\n";
    let mut input = Input::text("page", page);
    input.syntax = dalembert::model::load::Syntax::Markdown;
    let results = checks::run(&dalembert::load(&input, &Options::default()));
    let holds: Vec<bool> =
        results.iter().map(|r| matches!(r.outcome, CheckOutcome::Holds(_))).collect();
    assert_eq!(holds, [true, true, false, true, false], "{results:?}");
    let CheckOutcome::Fails(why) = &results[2].outcome else { panic!("{results:?}") };
    assert!(why.contains("ended at t = 2") && why.contains("`wall`"), "{why}");
}

/// The state before an event is what its right side speaks of, multipliers included.
#[test]
fn values_are_of_the_state_before() {
    let text = "
coord x, y, m
kinetic (x'^2 + y'^2 + m'^2)/2
potential 10*y
constraint rod: x^2 + y^2 = 1
start x = 1, y = 0
event below: x = 0 falling -> m = multiplier(rod), m' = y''
run t = 0..0.7
";
    let (report, _) = ran(text, |o| o.tolerance = 1e-12);
    let (_, after) = change(&report, 0);
    // λ = −(v² + g)/2 ... with y = −1: y'' = 2 y λ − g = v² = 2 g.
    assert!((after.velocity[2] - 20.0).abs() < 1e-10, "{after:?}");
    assert!((after.q[2] + 15.0).abs() < 1e-10, "{after:?}");
}

/// What is noted when zero is reached is noted at any tolerance, whatever another event has made of
/// the motion at the same instant; what has been turned back is not turned again.
#[test]
fn events_at_one_instant_do_not_hang_on_rounding() {
    for digits in 12..=40 {
        let tolerance = 10f64.powf(-0.3 * f64::from(digits));
        for (second, times) in [("n = n + 1", 1), ("x' = -0.5*x'", 0)] {
            let text = format!(
                "coord x, y, n\nkinetic (x'^2 + y'^2 + n'^2)/2 + x'*y'/4\n\
                 potential 9.81*x + (y - sin(x))^2\nevent stop: x = 0.25 falling -> x' = -0.6*x'\n\
                 event note: x = 0.25 falling -> {second}\nstart x = 1, y = 0.3\n\
                 run t = 0..0.6, every 0.1, tol {tolerance:e}\n"
            );
            let model = load(&text).model.expect("a model");
            let setting = Setting::new(&model).expect("values");
            let options = RunOptions::of_model(&setting);
            let report =
                run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("a run");
            let count = |event: usize| report.event_log.iter().filter(|e| e.event == event).count();
            assert_eq!((count(0), count(1)), (1, times), "{second} at {tolerance:e}");
        }
    }
}
