//! Runs through phases of contacts and dry friction, against closed forms.

mod support;

use dalembert::model::system::{Change, Touched};
use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::phases::Fault;
use dalembert::simulate::run::RunReport;
use support::motion::{by_all, ran, times};

const G: f64 = 9.81;

fn close(found: f64, exact: f64, within: f64) {
    let off = (found - exact).abs() / exact.abs().max(1.0);
    assert!(off <= within, "{found} is off {exact} by {off:e}");
}

fn whole(text: &str) -> RunReport {
    let report = ran(text, |_| ()).0;
    assert_eq!(report.end, End::Finished);
    assert!(report.verdict().is_ok(), "{:?}", report.verdict());
    report
}

fn fault(text: &str) -> Fault {
    match ran(text, |_| ()).0.end {
        End::Failed(Failure::Phase(fault)) => fault,
        end => panic!("{end:?}"),
    }
}

/// Times of a change of something.
fn changes(report: &RunReport, of: Touched, change: Change) -> Vec<f64> {
    let phases = report.phases.as_ref().expect("phases");
    let all = phases.changes.iter().filter(|c| c.of == of && c.change == change);
    all.map(|c| c.t).collect()
}

const BALL: &str = "param g = 9.81, e = 0.8
    coord y
    kinetic y'^2/2
    potential g*y
    contact floor: y >= 0, restitution e
    observe floor.mode, multiplier(floor)
    start y = 1
    run t = 0..6, tol 1e-12\n";

/// It bounces at its times, comes to rest where these end, and bears its weight from there on, in
/// every formulation.
#[test]
fn a_ball_bounces_to_rest() {
    let (e, fall) = (0.8f64, (2.0 / G).sqrt());
    for (name, report) in by_all(BALL, 1e-12) {
        assert_eq!(report.end, End::Finished, "{name}");
        assert!(report.verdict().is_ok(), "{name}: {:?}", report.verdict());
        let closes = changes(&report, Touched::Contact(0), Change::Closes);
        assert!(closes.len() > 50, "{name}: {}", closes.len());
        for (n, t) in closes.iter().enumerate() {
            let exact = fall * (1.0 + (1..=n as i32).map(|k| 2.0 * e.powi(k)).sum::<f64>());
            assert!((t - exact).abs() < 1e-11, "{name}: {n}: {t} {exact}");
        }
        let end = fall * (1.0 + e) / (1.0 - e);
        assert!((closes.last().expect("one") - end).abs() < 1e-8);
        let last = report.last.expect("a state");
        assert_eq!((last.state.q[0], last.state.velocity[0]), (0.0, 0.0), "{name}");
        // All of its energy went into impacts.
        close(report.phases.expect("phases").impact_energy, -G, 1e-9);
    }
    let (_, rows) = ran(BALL, |_| ());
    let text = support::motion::model(BALL);
    let setting = dalembert::simulate::Setting::new(&text).expect("values");
    let seen = |row: &dalembert::simulate::Observation| -> Vec<f64> {
        let roots: Vec<_> = text.system.observes.iter().map(|o| o.value).collect();
        setting.numbers(&roots, &row.table(&text.system))
    };
    assert_eq!(seen(&rows[0]), [0.0, 0.0]);
    let at_rest = seen(rows.last().expect("a row"));
    assert_eq!(at_rest[0], 1.0);
    close(at_rest[1], G, 1e-12);
}

/// A block on a belt, static friction above kinetic: it sticks from k x = F on to k x = F_s, then swings
/// about F/k until it is as fast as the belt again.
#[test]
fn a_block_on_a_belt() {
    let (m, k, f, s, v) = (1.0f64, 10.0f64, 2.0f64, 3.0f64, 0.5f64);
    let report = whole(&format!(
        "coord x
         kinetic {m}*x'^2/2
         potential {k}*x^2/2
         friction rub: {f} along x' - {v}, static {s}
         start x' = {v}
         run t = 0..100, tol 1e-12"
    ));
    let omega = (k / m).sqrt();
    let slips = changes(&report, Touched::Friction(0), Change::Slips);
    let sticks = changes(&report, Touched::Friction(0), Change::Sticks);
    close(slips[0], s / k / v, 1e-11);
    // It leaves at x = s/k and comes back at 2f/k − s/k.
    let away = (s - f) / k;
    let slip = 2.0 / omega * (std::f64::consts::PI - (omega * away / v).atan());
    let stick = 2.0 * away / v;
    for (a, b) in slips.iter().zip(&sticks) {
        close(b - a, slip, 1e-10);
    }
    for (a, b) in sticks.iter().zip(&slips[1..]) {
        close(b - a, stick, 1e-10);
    }
    assert!(slips.len() as f64 > 100.0 / (slip + stick) - 2.0);
}

/// The same by a force that switches: it slides along its switch where it sticks.
#[test]
fn a_force_that_switches_goes_on() {
    let text = |friction: &str| {
        format!(
            "coord x
             kinetic x'^2/2
             potential 10*x^2/2
             {friction}
             start x = 1
             run t = 0..20, tol 1e-12"
        )
    };
    let switch = whole(&text("nonideal x: -2*sign(x' - 0.5)"));
    let friction = whole(&text("friction 2 along x' - 0.5"));
    let end = |report: &RunReport| report.last.as_ref().expect("a state").state.clone();
    close(end(&switch).q[0], end(&friction).q[0], 1e-10);
    close(end(&switch).velocity[0], end(&friction).velocity[0], 1e-10);
    let impressed = whole(&text("force x: -2*sign(x' - 0.5)"));
    close(end(&impressed).q[0], end(&friction).q[0], 1e-10);
}

/// A block pushed up an incline stops; whether it stays is a matter of tan α and μ.
#[test]
fn a_block_on_an_incline() {
    let text = |mu: f64| {
        format!(
            "param mu = {mu}, alpha = 0.5, g = 9.81
             coord x, y
             kinetic (x'^2 + y'^2)/2
             potential g*(x*sin(alpha) + y*cos(alpha))
             contact floor: y >= 0, sliding x', friction mu
             start y = 0, x' = 3
             run t = 0..2, tol 1e-12"
        )
    };
    let (sin, cos) = 0.5f64.sin_cos();
    let up = |mu: f64| 3.0 / (G * (sin + mu * cos));
    let stays = whole(&text(0.7));
    let state = &stays.last.as_ref().expect("a state").state;
    close(state.q[0], 1.5 * up(0.7), 1e-11);
    assert!(state.velocity[0].abs() < 1e-13);
    close(changes(&stays, Touched::Contact(0), Change::Sticks)[0], up(0.7), 1e-11);
    let slides = whole(&text(0.3));
    let left = 2.0 - up(0.3);
    let state = &slides.last.as_ref().expect("a state").state;
    close(state.velocity[0], -G * (sin - 0.3 * cos) * left, 1e-11);
}

/// A disk that slides begins to roll at 2/3 of its speed, and goes on rolling.
#[test]
fn a_disk_begins_to_roll() {
    let report = whole(
        "param mu = 0.2, r = 0.3, g = 9.81
         coord x, y, th
         kinetic (x'^2 + y'^2)/2 + r^2*th'^2/4
         potential g*y
         contact floor: y - r >= 0, sliding x' + r*th', friction mu
         start y = r, x' = 4
         run t = 0..3, tol 1e-12",
    );
    // x' = v − μgt and r θ' = −2μgt.
    close(changes(&report, Touched::Contact(0), Change::Sticks)[0], 4.0 / (3.0 * 0.2 * G), 1e-11);
    close(report.last.expect("a state").state.velocity[0], 8.0 / 3.0, 1e-11);
}

const CRADLE: &str = "coord x[1..3]
    kinetic (x[1]'^2 + x[2]'^2 + x[3]'^2)/2
    contact a: x[2] - x[1] >= 1, restitution 1
    contact b: x[3] - x[2] >= 1, restitution 1
    start x[1] = -1, x[2] = 1, x[3] = 2, x[1]' = 1
    run t = 0..3, tol 1e-12";

/// What several contacts do together is the model's word.
#[test]
fn the_cradle() {
    let velocity = |word: &str| {
        let report = whole(&format!("{CRADLE}, impacts {word}"));
        report.last.expect("a state").state.velocity
    };
    for (found, exact) in velocity("in-turn").iter().zip([0.0, 0.0, 1.0]) {
        close(*found, exact, 1e-12);
    }
    let third = 1.0 / 3.0;
    for (found, exact) in velocity("at-once").iter().zip([-third, 2.0 * third, 2.0 * third]) {
        close(*found, exact, 1e-12);
    }
    assert!(matches!(fault(CRADLE), Fault::ImpactDiffers { in_turn: Some(_), .. }));
}

/// Cradles of any length, hung side by side in any unit: what is drawn aside comes back, and contacts
/// that rounding moves where all of them pass through rest make no phases of their own.
#[test]
fn cradles_swing_back() {
    let mut tried = 0;
    for n in 2..8 {
        for aside in 1..n {
            let seed = 7 * n + aside;
            let unit = 10f64.powi(seed % 7 - 3);
            let (radius, length) = (unit * [0.0, 0.02, 0.3][seed as usize % 3], unit * 0.5);
            let by_one = unit * 0.01 * f64::from(1 + seed % 5);
            let drawn: Vec<String> = (1..=n)
                .map(|i| {
                    let hung = 2.0 * radius * f64::from(i);
                    let off = if i <= aside { by_one } else { 0.0 };
                    format!("x[{i}] = {:?}", hung - off)
                })
                .collect();
            let report = whole(&format!(
                "param g = {g:?}, l = {length:?}, r = {radius:?}
                 coord x[1..{n}]
                 kinetic dot(x', x')/2
                 potential sum(i in 1..{n}, g/(2*l)*(x[i] - 2*r*i)^2)
                 for i in 1..{last} {{ contact touch[i]: x[i+1] - x[i] >= 2*r, restitution 1 }}
                 start {start}
                 run t = 0..3*2*pi*sqrt(l/g), tol 1e-12, impacts in-turn",
                g = G * unit,
                last = n - 1,
                start = drawn.join(", "),
            ));
            let phases = report.phases.as_ref().expect("phases");
            assert_eq!((phases.phases, phases.impacts), (7, 6), "{n} {aside}");
            let state = &report.last.as_ref().expect("a state").state;
            for (i, x) in (1..=n).zip(&state.q) {
                let hung = 2.0 * radius * f64::from(i);
                let off = if i <= aside { by_one } else { 0.0 };
                assert!((x - (hung - off)).abs() <= 1e-9 * by_one, "{n} {aside}: {i}: {x}");
            }
            tried += 1;
        }
    }
    assert_eq!(tried, 21);
}

/// Painlevé's rod: no motion, several, and starts inside.
#[test]
fn what_cannot_go_on_is_told() {
    let rod = |start: &str| {
        format!(
            "param mu = 2.5
             coord x, y, th
             kinetic (x'^2 + y'^2)/2 + th'^2/6
             potential 9.81*y
             contact tip: y - sin(th) >= 0, friction mu, sliding x' + sin(th)*th'
             start x = 0, th = 1.2, {start}
             run t = 0..1"
        )
    };
    assert_eq!(fault(&rod("tip.gap = 0, x' = -10")), Fault::None);
    let several = fault(&rod("tip.gap = 0, x' = -10, th' = 5, y' = 5*cos(1.2)"));
    assert!(matches!(&several, Fault::Several(phases) if phases.len() == 2), "{several:?}");
    let inside = fault(&BALL.replace("start y = 1", "start y = -1"));
    assert_eq!(inside, Fault::Penetrates { contact: 0, gap: -1.0 });
    let negative =
        fault("coord x\nkinetic x'^2/2\nfriction 1 - t along x'\nstart x' = 9\nrun t = 0..3");
    assert!(matches!(negative, Fault::Negative { friction: 0, .. }), "{negative:?}");
}

/// Stacked blocks stay at rest; loads that are not determined are not shown.
#[test]
fn stacks_rest() {
    let report = whole(
        "param g = 9.81, mu = 0.5, a = 0.5, h = 0.25
         body one: mass 2, inertia 0.2, free
         body two: mass 1, inertia 0.1, free
         gravity [0, -g]
         contact l: one.point([-a, -h])[2] >= 0, sliding one.point([-a, -h])'[1], friction mu
         contact r: one.point([a, -h])[2] >= 0, sliding one.point([a, -h])'[1], friction mu
         contact m: one.point([0, -h])[2] >= 0, sliding one.point([0, -h])'[1], friction mu
         contact p: two.point([-a, -h])[2] - h >= h, sliding two.point([-a, -h])'[1] - one.r[1]', friction mu
         contact q: two.point([a, -h])[2] - h >= h, sliding two.point([a, -h])'[1] - one.r[1]', friction mu
         start one.r[2] = h, two.r[2] = 3*h, one.r[1] = 0, two.r[1] = 0
         run t = 0..1",
    );
    let state = report.last.as_ref().expect("a state");
    assert!(state.state.velocity.iter().all(|v| v.abs() < 1e-12), "{:?}", state.state);
    let phases = report.phases.as_ref().expect("phases");
    assert_eq!((phases.phases, phases.impacts), (1, 0));
    assert!(phases.penetration < 1e-12);
}

/// Events by changes: after the contact, with the impulse; resets are seen by the contacts again.
#[test]
fn events_at_changes() {
    let report = whole(
        "coord y
         kinetic y'^2/2
         potential 9.81*y
         contact floor: y >= 0, restitution 0.5
         state hits' = 0
         state blow' = 0
         event hit: floor closes -> hits = hits + 1, blow = multiplier(floor)
         start y = 1
         run t = 0..1",
    );
    let count = times(&report, 0).len();
    assert!(count >= 2, "{count}");
    let state = &report.last.as_ref().expect("a state").state;
    close(state.q[1], count as f64, 0.0);
    let fall = (2.0 * G).sqrt();
    close(state.q[2], 1.5 * fall * 0.5f64.powi(count as i32 - 1), 1e-9);
}

/// Ten thousand bounces without loss come back to where they were, in constant memory.
#[test]
fn many_bounces() {
    let bounces = std::env::var("DALEMBERT_LONG").map_or(300.0, |_| 10_000.0);
    let period = 2.0 * (2.0f64 / G).sqrt();
    let report = whole(&format!(
        "coord y
         kinetic y'^2/2
         potential 9.81*y
         contact floor: y >= 0, restitution 1
         start y = 1
         run t = 0..{:?}, every {:?}, tol 1e-12",
        bounces * period,
        bounces * period
    ));
    let phases = report.phases.as_ref().expect("phases");
    assert_eq!(phases.impacts as f64, bounces);
    close(report.last.expect("a state").state.q[0], 1.0, 1e-9);
}

/// Loads jump where a phase ends: there are rows on both sides of it, of one time and one state.
#[test]
fn both_sides_of_a_change_are_told() {
    let text = "param F = 2, S = 3, v = 0.5
        coord x
        kinetic x'^2/2
        potential 10*x^2/2
        friction rub: F along x' - v, static S
        observe rub.force
        start x' = v
        run t = 0..7, every 0.1, tol 1e-12";
    let (report, rows) = ran(text, |_| ());
    let loaded = support::load(text);
    let model = loaded.model.as_ref().expect("no faults");
    let force = |row: &dalembert::simulate::Observation| {
        let setting = dalembert::simulate::Setting::new(model).expect("values");
        setting.number(model.system.observes[0].value, &row.table(&model.system))
    };
    let slips = changes(&report, Touched::Friction(0), Change::Slips);
    let sticks = changes(&report, Touched::Friction(0), Change::Sticks);
    assert!(slips.len() > 2 && sticks.len() > 2);
    for (list, is_slip) in [(&slips, true), (&sticks, false)] {
        for &t in list {
            let [before, after] = rows.iter().filter(|r| r.state.t == t).collect::<Vec<_>>()[..]
            else {
                panic!("two rows at {t}");
            };
            let of = Touched::Friction(0);
            let modes = (before.mode(of), after.mode(of));
            close(before.state.q[0], after.state.q[0], 1e-14);
            if is_slip {
                assert_eq!(modes, (Some(2.0), Some(1.0)), "{t}");
                close(force(before), 3.0, 1e-10);
                close(force(after), 2.0, 1e-10);
            } else {
                assert_eq!(modes, (Some(1.0), Some(2.0)), "{t}");
                close(force(before).abs(), 2.0, 1e-10);
                close(force(after), 10.0 * after.state.q[0], 1e-9);
            }
        }
    }
}
