//! Random motions, each told in several ways that must not matter: by other formulations, in
//! other units of mass, length and time, with a constant in the potential, beside a particle
//! that has nothing to do with it, and with next to nothing in place of the zeros of its start.
//!
//! Every run estimates its own error. Two runs may differ by the sum of their estimates and by
//! rounding, never by more; and where one passes, all do.
//!
//! `cargo run --release -p dalembert-fuzz --bin dalembert-motions -- --seconds 60`, or
//! `--motions 100000 --threads 2 --seed 7`. A pair that differs is printed and the program ends
//! with status 1.

mod settings;

use dalembert::expr;
use dalembert::simulate::Observation;
use dalembert::simulate::Setting;
use dalembert::simulate::run::verify::{Sink, StateError, run_verified};
use dalembert::simulate::run::{RunOptions, RunReport};
use dalembert::{Input, Options};
use settings::Settings;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The numbers of a seed.
struct Random(expr::Random);

impl Random {
    fn next(&mut self) -> f64 {
        self.0.signed()
    }

    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    /// Between 1/4 and 1.
    fn size(&mut self) -> f64 {
        0.25 + 0.75 * self.0.unit()
    }

    /// A factor of up to 10^±12 each way.
    fn unit(&mut self) -> f64 {
        10f64.powf((12.0 * self.next()).round())
    }
}

/// A way of telling a motion.
#[derive(Clone, Copy, Debug)]
struct Telling {
    /// Units of mass, length and time.
    units: [f64; 3],
    /// A constant in the potential, in energies of the motion.
    offset: f64,
    /// The speed of a free particle beside it, in speeds of the motion; 0 for none.
    spectator: f64,
    /// What stands in the place of 0 in the start.
    nothing: f64,
    formulation: &'static str,
}

const PLAIN: Telling =
    Telling { units: [1.0; 3], offset: 0.0, spectator: 0.0, nothing: 0.0, formulation: "lagrange" };

/// A model as text, and the length of each coordinate's unit (1 for angles).
struct Told {
    text: String,
    lengths: Vec<f64>,
}

/// Writes a model in the units of a telling.
struct Writer<'t> {
    telling: &'t Telling,
    text: String,
    lengths: Vec<f64>,
}

impl Writer<'_> {
    /// A quantity of mass^m length^l time^t.
    fn q(&self, value: f64, m: i32, l: i32, t: i32) -> String {
        let [mass, length, time] = self.telling.units;
        format!("({:e})", value * mass.powi(m) * length.powi(l) * time.powi(t))
    }

    fn line(&mut self, line: String) {
        self.text += &line;
        self.text.push('\n');
    }

    fn coordinate(&mut self, name: &str, is_length: bool) {
        self.line(format!("coord {name}"));
        self.lengths.push(if is_length { self.telling.units[1] } else { 1.0 });
    }

    /// Start values; zeros may become next to nothing.
    fn start(&mut self, name: &str, relation: &str, value: f64, l: i32, t: i32) {
        let value = if value == 0.0 { self.telling.nothing } else { value };
        let number = self.q(value, 0, l, t);
        self.line(format!("start {name} {relation} {number}"));
    }

    fn finish(mut self, end: f64) -> Told {
        if self.telling.offset != 0.0 {
            let constant = self.q(self.telling.offset, 1, 2, -2);
            self.line(format!("potential {constant}"));
        }
        if self.telling.spectator != 0.0 {
            let mass = self.q(1.0, 1, 0, 0);
            self.line(format!("coord spectator\nkinetic {mass}*spectator'^2/2"));
            self.start("spectator'", "=", self.telling.spectator, 1, -1);
        }
        let end = self.q(end, 0, 0, 1);
        self.line(format!("run t = 0..{end}"));
        Told { text: self.text, lengths: self.lengths }
    }
}

/// The motion of a seed, told in one way.
fn tell(seed: u64, telling: &Telling) -> Told {
    let mut r = Random(expr::Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
    (0..4).for_each(|_| _ = r.next());
    let writer = Writer { telling, text: String::new(), lengths: Vec::new() };
    match r.below(6) {
        0 => linkage(writer, &mut r),
        1 => pendulum(writer, &mut r),
        2 => skate(writer, &mut r),
        3 => body(writer, &mut r),
        4 => springs(writer, &mut r),
        _ => driven(writer, &mut r),
    }
}

/// Particles in the plane on rods, some of them told twice.
fn linkage(mut w: Writer, r: &mut Random) -> Told {
    let n = 1 + r.below(3);
    let g = w.q(1.0, 0, 1, -2);
    let (mut x, mut y) = (0.0, 0.0);
    let mut kinetic = Vec::new();
    let mut potential = Vec::new();
    for i in 1..=n {
        w.coordinate(&format!("x{i}"), true);
        w.coordinate(&format!("y{i}"), true);
        let m = w.q(r.size(), 1, 0, 0);
        kinetic.push(format!("{m}*(x{i}'^2 + y{i}'^2)/2"));
        potential.push(format!("{m}*{g}*y{i}"));
        let (length, angle) = (r.size(), if r.below(4) == 0 { 0.0 } else { 0.5 * r.next() });
        let square = w.q(length * length, 0, 2, 0);
        let before = if i == 1 {
            format!("x{i}^2 + y{i}^2")
        } else {
            format!("(x{i} - x{0})^2 + (y{i} - y{0})^2", i - 1)
        };
        w.line(format!("constraint rod{i}: {before} = {square}"));
        if r.below(3) == 0 {
            w.line(format!("constraint again{i}: 2*({before}) = 2*{square}"));
        }
        x += length * f64::sin(angle);
        y -= length * f64::cos(angle);
        w.start(&format!("x{i}"), "~", x, 1, 0);
        w.start(&format!("y{i}"), "~", y, 1, 0);
        let speed = if r.below(2) == 0 { 0.0 } else { 0.5 * r.next() };
        w.start(&format!("x{i}'"), "~", speed, 1, -1);
    }
    w.line(format!("kinetic {}", kinetic.join(" + ")));
    w.line(format!("potential {}", potential.join(" + ")));
    w.finish(2.0 * r.size())
}

/// A double pendulum in angles.
fn pendulum(mut w: Writer, r: &mut Random) -> Told {
    w.coordinate("a", false);
    w.coordinate("b", false);
    let (m, n) = (w.q(r.size(), 1, 0, 0), w.q(r.size(), 1, 0, 0));
    let (l, k) = (w.q(r.size(), 0, 1, 0), w.q(r.size(), 0, 1, 0));
    let g = w.q(1.0, 0, 1, -2);
    w.line(format!("let x = {l}*sin(a) + {k}*sin(b), y = -{l}*cos(a) - {k}*cos(b)"));
    w.line(format!("kinetic {m}*{l}^2*a'^2/2 + {n}*(x'^2 + y'^2)/2"));
    w.line(format!("potential -{m}*{g}*{l}*cos(a) + {n}*{g}*y"));
    w.start("a", "=", 0.8 * r.next(), 0, 0);
    w.start("b", "=", if r.below(3) == 0 { 0.0 } else { 0.8 * r.next() }, 0, 0);
    w.start("a'", "=", if r.below(2) == 0 { 0.0 } else { 0.5 * r.next() }, 0, -1);
    w.finish(3.0 * r.size())
}

/// A skate on an incline.
fn skate(mut w: Writer, r: &mut Random) -> Told {
    w.coordinate("x", true);
    w.coordinate("y", true);
    w.coordinate("phi", false);
    let (m, j) = (w.q(r.size(), 1, 0, 0), w.q(r.size(), 1, 2, 0));
    let force = w.q(r.size(), 1, 1, -2);
    w.line(format!("kinetic {m}*(x'^2 + y'^2)/2 + {j}*phi'^2/2"));
    w.line(format!("potential -{force}*x"));
    w.line("constraint edge: x'*sin(phi) - y'*cos(phi) = 0".to_owned());
    if r.below(2) == 0 {
        w.line("constraint again: 3*x'*sin(phi) - 3*y'*cos(phi) = 0".to_owned());
    }
    w.start("phi", "=", if r.below(2) == 0 { 0.0 } else { r.next() }, 0, 0);
    w.start("phi'", "=", 1.0 + r.size(), 0, -1);
    w.start("x'", "~", r.next(), 1, -1);
    w.finish(3.0 * r.size())
}

/// A body by a quaternion on a ball joint.
fn body(mut w: Writer, r: &mut Random) -> Told {
    for i in 1..=3 {
        w.coordinate(&format!("r{i}"), true);
    }
    for i in 1..=4 {
        w.coordinate(&format!("e{i}"), false);
    }
    let g = w.q(1.0, 0, 1, -2);
    let mass = w.q(r.size(), 1, 0, 0);
    let inertia: Vec<String> = (0..3).map(|_| w.q(0.2 + 0.02 * r.next(), 1, 2, 0)).collect();
    let down = w.q(-0.5, 0, 1, 0);
    w.line(format!("gravity [0, 0, -{g}]"));
    w.line(format!(
        "body b: mass {mass}, inertia [{}], at [r1, r2, r3], turning Rq([e1, e2, e3, e4])",
        inertia.join(", ")
    ));
    w.line("constraint unit: e1^2 + e2^2 + e3^2 + e4^2 = 1".to_owned());
    w.line(format!("constraint pin: b.point([0, 0, {down}]) = [0, 0, 0]"));
    let tilt = if r.below(2) == 0 { 0.0 } else { 0.3 * r.next() };
    w.start("e1", "~", 1.0, 0, 0);
    w.start("e2", "~", tilt, 0, 0);
    w.start("e3", "~", 0.0, 0, 0);
    w.start("e4", "~", 0.0, 0, 0);
    w.start("r3", "~", 0.5, 1, 0);
    w.start("e4'", "~", 0.5 * r.next(), 0, -1);
    w.start("e3'", "~", if r.below(2) == 0 { 0.0 } else { 0.3 * r.next() }, 0, -1);
    w.finish(r.size())
}

/// Masses on springs that are not linear.
fn springs(mut w: Writer, r: &mut Random) -> Told {
    let n = 1 + r.below(3);
    for i in 1..=n {
        w.coordinate(&format!("x{i}"), true);
        let m = w.q(r.size(), 1, 0, 0);
        let (k, c) = (w.q(r.size(), 1, 0, -2), w.q(r.size(), 1, -2, -2));
        w.line(format!("kinetic {m}*x{i}'^2/2\npotential {k}*x{i}^2/2 + {c}*x{i}^4/4"));
        if i > 1 {
            let k = w.q(r.size(), 1, 0, -2);
            w.line(format!("potential {k}*(x{i} - x{0})^2/2", i - 1));
        }
        if r.below(3) == 0 {
            let d = w.q(0.2 * r.size(), 1, 0, -1);
            w.line(format!("force x{i}: -{d}*x{i}'"));
        }
        w.start(&format!("x{i}"), "=", if i > 1 && r.below(3) == 0 { 0.0 } else { r.next() }, 1, 0);
        w.start(&format!("x{i}'"), "=", if r.below(2) == 0 { 0.0 } else { r.next() }, 1, -1);
    }
    w.finish(4.0 * r.size())
}

/// A pendulum on a pivot that is driven.
fn driven(mut w: Writer, r: &mut Random) -> Told {
    w.coordinate("x", true);
    w.coordinate("y", true);
    let (m, g) = (w.q(r.size(), 1, 0, 0), w.q(1.0, 0, 1, -2));
    let (length, height) = (r.size(), 0.2 * r.size());
    let square = w.q(length * length, 0, 2, 0);
    let (a, omega) = (w.q(height, 0, 1, 0), w.q(1.0 + r.size(), 0, 0, -1));
    w.line(format!("kinetic {m}*(x'^2 + y'^2)/2\npotential {m}*{g}*y"));
    w.line(format!("constraint rod: x^2 + (y - {a}*cos({omega}*t))^2 = {square}"));
    let angle = 0.7 * r.next();
    w.start("x", "~", length * f64::sin(angle), 1, 0);
    w.start("y", "~", height - length * f64::cos(angle), 1, 0);
    w.finish(2.0 * r.size())
}

/// Nothing is done with the rows.
struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Where a run ended and how far off it may be, in the units of the plain telling.
struct Ended {
    q: Vec<f64>,
    error: Vec<f64>,
    passes: Result<(), Vec<String>>,
    /// e over what it may be.
    part: f64,
}

/// Runs a telling; `None` if its formulation does not apply.
fn run(told: &Told, telling: &Telling) -> Result<Option<Ended>, String> {
    let input = Input::text("motion.dal", &told.text);
    let loaded = dalembert::load(&input, &Options::default());
    let Some(model) = loaded.model else { return Err("the model has faults".to_owned()) };
    let setting = Setting::new(&model).map_err(|e| e.to_string())?;
    let mut options = RunOptions::of_model(&setting);
    options.every = Some(options.end);
    let formulation = dalembert::formulations::by_name(telling.formulation);
    options.formulation = formulation.ok_or("no such formulation")?;
    let report = match run_verified(&setting, &options, false, &mut Nowhere) {
        Ok(report) => report,
        Err(error) if telling.formulation == PLAIN.formulation => return Err(format!("{error:?}")),
        Err(_) => return Ok(None),
    };
    Ok(Some(ended(&report, told)))
}

fn ended(report: &RunReport, told: &Told) -> Ended {
    let state = report.last.as_ref().map(|last| last.state.q.clone()).unwrap_or_default();
    let estimate = report.error.estimate();
    let error = estimate.map(|e| e.end.q.clone()).unwrap_or(vec![f64::INFINITY; state.len()]);
    let scaled = |list: &[f64]| list.iter().zip(&told.lengths).map(|(x, l)| x / l).collect();
    Ended {
        q: scaled(&state),
        error: scaled(&error),
        passes: report.verdict(),
        part: estimate.map_or(0.0, |e| e.relative / e.bound),
    }
}

/// The ways in which the motion of a seed is told beside the plain one.
fn tellings(seed: u64) -> Vec<Telling> {
    let mut r = Random(expr::Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1));
    (0..4).for_each(|_| _ = r.next());
    let other = ["hamilton", "maggi", "bracket", "poincare"][r.below(4)];
    let nothing = [1e-17, 1e-20, 1e-30, 1e-60, 1e-200][r.below(5)];
    vec![
        Telling { formulation: other, ..PLAIN },
        Telling { units: [r.unit(), r.unit(), r.unit()], ..PLAIN },
        Telling { offset: 10f64.powi(2 + r.below(7) as i32), ..PLAIN },
        Telling { spectator: 10f64.powi(r.below(6) as i32), ..PLAIN },
        Telling { nothing, ..PLAIN },
        Telling {
            units: [r.unit(), r.unit(), r.unit()],
            formulation: other,
            nothing,
            offset: 1e4,
            spectator: 0.0,
        },
    ]
}

/// What is wrong with two tellings of one motion.
fn difference(plain: &Ended, other: &Ended) -> Option<String> {
    // Near the bound either may pass or not.
    let near = plain.part.max(other.part) > 0.05;
    match (&plain.passes, &other.passes) {
        (Ok(()), Err(why)) if !near => {
            return Some(format!("it does not pass: {}", why.join("; ")));
        }
        (Err(why), Ok(())) if !near => {
            return Some(format!("the plain one does not pass: {}", why.join("; ")));
        }
        (Ok(()), Ok(())) => {}
        _ => return None,
    }
    let size = plain.q.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
    plain.q.iter().enumerate().find_map(|(i, q)| {
        let apart = (q - other.q[i]).abs();
        let allowed = plain.error[i] + other.error[i] + 1e-13 * size;
        let differs = apart.is_nan() || apart > allowed;
        differs.then(|| format!("coordinate {i} differs by {apart:.2e}, allowed {allowed:.2e}"))
    })
}

/// Runs all tellings of a seed: how many motions there were, or what is wrong.
fn exercise(seed: u64) -> Result<u64, String> {
    let told = tell(seed, &PLAIN);
    let plain = run(&told, &PLAIN)
        .map_err(|why| format!("seed {seed}: {why}\n{}", told.text))?
        .ok_or_else(|| format!("seed {seed}: not run\n{}", told.text))?;
    let mut count = 1;
    for telling in tellings(seed) {
        let other = tell(seed, &telling);
        let what = |why: String| format!("seed {seed}: {telling:?}: {why}\n{}", other.text);
        let Some(found) = run(&other, &telling).map_err(what)? else { continue };
        count += 1;
        if let Some(why) = difference(&plain, &found) {
            return Err(format!("{}\nplain:\n{}", what(why), told.text));
        }
    }
    Ok(count)
}

fn main() -> std::process::ExitCode {
    let settings = match Settings::read("--motions") {
        Ok(settings) => settings,
        Err(why) => {
            eprintln!("{why}");
            return std::process::ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let failures = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    // A few are more telling than one.
    const MOST: u64 = 5;
    std::thread::scope(|scope| {
        for _ in 0..settings.threads {
            scope.spawn(|| {
                loop {
                    let over = settings.count.is_some_and(|n| done.load(Ordering::Relaxed) >= n)
                        || settings
                            .seconds
                            .is_some_and(|s| start.elapsed() >= Duration::from_secs(s));
                    if over || failed.load(Ordering::Relaxed) {
                        return;
                    }
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    match exercise(settings.seed.wrapping_mul(1_000_000).wrapping_add(number)) {
                        Ok(count) => drop(done.fetch_add(count, Ordering::Relaxed)),
                        Err(why) => {
                            eprintln!("{why}");
                            if failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST {
                                failed.store(true, Ordering::Relaxed);
                            }
                        }
                    }
                }
            });
        }
    });
    let (count, wrong) = (done.load(Ordering::Relaxed), failures.load(Ordering::Relaxed));
    let seconds = start.elapsed().as_secs_f64();
    println!("{count} motions in {seconds:.1} s ({:.0} a second)", count as f64 / seconds);
    println!("motions: {count} passed, {wrong} failed");
    std::process::ExitCode::from(u8::from(wrong > 0))
}
