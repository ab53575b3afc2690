//! Contacts that slip in space, decided at random states: against a search over all modes and directions
//! that shares nothing with the decision but numbers.

mod support;

use dalembert::expr::Symbol;
use dalembert::simulate::drive::End;
use dalembert::simulate::phases::{Decider, Fault};
use dalembert::simulate::run::verify::{Sink, StateError, run_verified};
use dalembert::simulate::run::{RunOptions, RunReport};
use dalembert::simulate::{Observation, Setting, State};
use std::f64::consts::TAU;
use std::fmt::Write;
use std::ops::ControlFlow;
use support::motion::ran;

const N: usize = 6;

/// A generator of random numbers: xorshift64*.
struct Random(u64);

impl Random {
    fn within(&mut self, a: f64, b: f64) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        a + (b - a) * bits as f64 / (1u64 << 53) as f64
    }
}

/// Γ v̇ = F + …, gaps and slips as rows, coefficients, and the velocities of belts beneath the slips.
struct Numbers {
    root: Vec<f64>,
    force: Vec<f64>,
    /// A gap and two slips for each contact.
    rows: Vec<Vec<f64>>,
    mu: Vec<f64>,
    belt: Vec<[f64; 2]>,
}

impl Numbers {
    fn random(random: &mut Random, contacts: usize, most: f64) -> Numbers {
        let mut list =
            |n: usize| -> Vec<f64> { (0..n).map(|_| random.within(-1.0, 1.0)).collect() };
        let (root, force) = (list(N * N), list(N));
        let rows = (0..3 * contacts).map(|_| list(N)).collect();
        let mu = (0..contacts).map(|_| random.within(0.05, most)).collect();
        let belt = (0..contacts).map(|_| match random.within(0.0, 1.0) {
            part if part < 0.25 => [random.within(-1.0, 1.0), random.within(-1.0, 1.0)],
            _ => [0.0; 2],
        });
        let belt = belt.collect();
        Numbers { root, force, rows, mu, belt }
    }

    fn mass(&self, i: usize, j: usize) -> f64 {
        let sum: f64 = (0..N).map(|k| self.root[i * N + k] * self.root[j * N + k]).sum();
        sum + if i == j { 0.3 } else { 0.0 }
    }

    /// Values of all parameters, in the order of [`text`].
    fn values(&self) -> Vec<f64> {
        let mut values: Vec<f64> = (0..N)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| self.mass(i, j))
            .collect();
        values.extend(&self.force);
        self.rows.iter().for_each(|row| values.extend(row));
        values.extend(&self.mu);
        self.belt.iter().for_each(|belt| values.extend(belt));
        values
    }
}

/// The model of these numbers, and the names of its parameters.
fn text(contacts: usize) -> (String, Vec<String>) {
    let mut names = Vec::new();
    let mut name = |name: String| {
        names.push(name.clone());
        name
    };
    let mut energy = Vec::new();
    for i in 0..N {
        for j in 0..=i {
            let part = if i == j { "1/2*" } else { "" };
            energy.push(format!("{part}{}*q[{}]'*q[{}]'", name(format!("m{i}_{j}")), i + 1, j + 1));
        }
    }
    let forces: Vec<String> =
        (0..N).map(|i| format!("-{}*q[{}]", name(format!("f{i}")), i + 1)).collect();
    let mut row = |r: usize, prime: &str| -> String {
        let terms = (0..N).map(|i| format!("{}*q[{}]{prime}", name(format!("a{r}_{i}")), i + 1));
        terms.collect::<Vec<_>>().join(" + ")
    };
    let rows: Vec<String> =
        (0..3 * contacts).map(|r| row(r, if r % 3 == 0 { "" } else { "'" })).collect();
    let mus: Vec<String> = (0..contacts).map(|c| name(format!("mu{c}"))).collect();
    let belts: Vec<[String; 2]> =
        (0..contacts).map(|c| [name(format!("v{c}_0")), name(format!("v{c}_1"))]).collect();
    let mut text = format!(
        "param {}\n",
        names.iter().map(|n| format!("{n} = 1")).collect::<Vec<_>>().join(", ")
    );
    let _ = writeln!(
        text,
        "coord q[1..{N}]\nkinetic {}\npotential {}",
        energy.join(" + "),
        forces.join(" + ")
    );
    for c in 0..contacts {
        let _ = writeln!(
            text,
            "contact c{c}: {} >= 0, sliding [{} - {}, {} - {}], friction {}",
            rows[3 * c],
            rows[3 * c + 1],
            belts[c][0],
            rows[3 * c + 2],
            belts[c][1],
            mus[c]
        );
    }
    text.push_str("run t = 0..1\n");
    (text, names)
}

/// Solves a small system by elimination with pivots.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, best);
        b.swap(k, best);
        if a[k][k].abs() <= 1e-12 || a[k][k].is_nan() {
            return None;
        }
        for i in k + 1..n {
            let part = a[i][k] / a[k][k];
            let pivot = a[k].clone();
            a[i].iter_mut().zip(&pivot).for_each(|(x, p)| *x -= part * p);
            b[i] -= part * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    Some(b)
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Opens,
    Sticks,
    /// Along this direction, which it has or is given.
    Slips(f64),
}

/// The problem in the space of the contacts: a = c + D f.
struct Space<'a> {
    numbers: &'a Numbers,
    d: Vec<Vec<f64>>,
    c: Vec<f64>,
}

impl Space<'_> {
    fn of(numbers: &Numbers) -> Space<'_> {
        let mass: Vec<Vec<f64>> =
            (0..N).map(|i| (0..N).map(|j| numbers.mass(i, j)).collect()).collect();
        let moved: Vec<Vec<f64>> = numbers
            .rows
            .iter()
            .map(|row| solved(mass.clone(), row.clone()).expect("a mass"))
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let d = numbers.rows.iter().map(|a| moved.iter().map(|b| dot(a, b)).collect()).collect();
        let c = moved.iter().map(|b| dot(b, &numbers.force)).collect();
        Space { numbers, d, c }
    }

    /// Loads and accelerations of the contacts that do this.
    fn loads(&self, does: &[Does]) -> Option<(Vec<f64>, Vec<f64>)> {
        // Each column is what loads one unknown makes.
        let mut columns: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
        for (c, does) in does.iter().enumerate() {
            let row = 3 * c;
            match does {
                Does::Opens => {}
                Does::Sticks => (row..row + 3).for_each(|r| columns.push((r, vec![(r, 1.0)]))),
                Does::Slips(way) => {
                    let (s, k) = way.sin_cos();
                    let mu = self.numbers.mu[c];
                    columns.push((row, vec![(row, 1.0), (row + 1, -mu * k), (row + 2, -mu * s)]));
                }
            }
        }
        let entry = |r: usize, loads: &[(usize, f64)]| -> f64 {
            loads.iter().map(|&(j, x)| self.d[r][j] * x).sum()
        };
        let matrix =
            columns.iter().map(|(r, _)| columns.iter().map(|(_, l)| entry(*r, l)).collect());
        let found = solved(matrix.collect(), columns.iter().map(|(r, _)| -self.c[*r]).collect())?;
        let mut loads = vec![0.0; self.c.len()];
        for ((_, list), x) in columns.iter().zip(&found) {
            list.iter().for_each(|&(j, one)| loads[j] += one * x);
        }
        let rates = (0..loads.len())
            .map(|r| self.c[r] + self.d[r].iter().zip(&loads).map(|(d, f)| d * f).sum::<f64>());
        Some((loads.clone(), rates.collect()))
    }

    /// The directions that a slip has from the start.
    fn given(&self, c: usize) -> Option<f64> {
        let [x, y] = self.numbers.belt[c];
        (x != 0.0 || y != 0.0).then(|| (-y).atan2(-x))
    }

    /// By how much the pull is off the direction of a slip that begins, and whether it is along it.
    fn off(rates: &[f64], c: usize, way: f64) -> (f64, f64) {
        let (s, k) = way.sin_cos();
        let (x, y) = (rates[3 * c + 1], rates[3 * c + 2]);
        (k * y - s * x, k * x + s * y)
    }

    fn holds(&self, does: &[Does], loads: &[f64], rates: &[f64]) -> bool {
        does.iter().enumerate().all(|(c, does)| {
            let (n, load) = (rates[3 * c], loads[3 * c]);
            let force = loads[3 * c + 1].hypot(loads[3 * c + 2]);
            match does {
                Does::Opens => n >= -1e-9,
                Does::Sticks => {
                    self.given(c).is_none()
                        && load >= -1e-9
                        && force <= self.numbers.mu[c] * load + 1e-9
                }
                Does::Slips(way) => {
                    let along = Self::off(rates, c, *way).1;
                    load >= -1e-9 && (self.given(c).is_some() || along >= -1e-9)
                }
            }
        })
    }

    /// All motions: loads that differ.
    fn all(&self) -> Vec<Vec<f64>> {
        let contacts = self.numbers.mu.len();
        let mut found: Vec<Vec<f64>> = Vec::new();
        for mut code in 0..3usize.pow(contacts as u32) {
            let kinds: Vec<usize> = (0..contacts).map(|_| (code % 3, code /= 3).0).collect();
            let does: Vec<Does> = kinds
                .iter()
                .enumerate()
                .map(|(c, kind)| match kind {
                    0 => Does::Opens,
                    1 => Does::Sticks,
                    _ => Does::Slips(self.given(c).unwrap_or(0.0)),
                })
                .collect();
            let unknown: Vec<usize> =
                (0..contacts).filter(|&c| kinds[c] == 2 && self.given(c).is_none()).collect();
            let mut add = |does: &[Does]| {
                let Some((loads, rates)) = self.loads(does) else { return };
                let size = loads.iter().fold(1e-9f64, |m, l| m.max(l.abs()));
                let apart = |other: &Vec<f64>| {
                    other.iter().zip(&loads).fold(0f64, |m, (a, b)| m.max((a - b).abs()))
                };
                if self.holds(does, &loads, &rates) && found.iter().all(|f| apart(f) > 1e-6 * size)
                {
                    found.push(loads);
                }
            };
            match unknown[..] {
                [] => add(&does),
                [c] => self.one(&does, c).iter().for_each(|does| add(does)),
                _ => self.several(&does, &unknown).iter().for_each(|does| add(does)),
            }
        }
        found
    }

    /// The directions of one slip, all of them: zeros of what is off, between points of a fine ring.
    fn one(&self, does: &[Does], c: usize) -> Vec<Vec<Does>> {
        let with = |way: f64| {
            let mut does = does.to_vec();
            does[c] = Does::Slips(way);
            does
        };
        // Times what divides by 0 where the load has none.
        let off = |way: f64| {
            self.loads(&with(way)).map_or((f64::NAN, f64::NAN), |(loads, rates)| {
                (Self::off(&rates, c, way).0, loads[3 * c])
            })
        };
        const RING: usize = 720;
        let at = |k: usize| TAU * (k as f64 + 0.37) / RING as f64;
        let mut found = Vec::new();
        for k in 0..RING {
            let (mut a, mut b) = (at(k), at(k + 1));
            let (mut fa, fb) = (off(a), off(b));
            if fa.0 * fb.0 > 0.0 || fa.1 * fb.1 < 0.0 {
                continue;
            }
            for _ in 0..80 {
                let middle = 0.5 * (a + b);
                let fm = off(middle);
                if fa.0 * fm.0 <= 0.0 {
                    b = middle;
                } else {
                    (a, fa) = (middle, fm);
                }
            }
            found.push(with(0.5 * (a + b)));
        }
        found
    }

    /// The directions of two slips, by Newton's method from many.
    fn several(&self, does: &[Does], unknown: &[usize]) -> Vec<Vec<Does>> {
        let with = |ways: &[f64]| {
            let mut does = does.to_vec();
            unknown.iter().zip(ways).for_each(|(&c, &way)| does[c] = Does::Slips(way));
            does
        };
        let off = |ways: &[f64]| -> Option<Vec<f64>> {
            let (_, rates) = self.loads(&with(ways))?;
            Some(unknown.iter().zip(ways).map(|(&c, &way)| Self::off(&rates, c, way).0).collect())
        };
        const RING: usize = 24;
        let mut found = Vec::new();
        for start in 0..RING.pow(unknown.len() as u32) {
            let ring = |k: u32| TAU * ((start / RING.pow(k)) % RING) as f64 / RING as f64 + 0.1;
            let mut ways: Vec<f64> = (0..unknown.len() as u32).map(ring).collect();
            for _ in 0..30 {
                let Some(value) = off(&ways) else { break };
                let slopes: Option<Vec<Vec<f64>>> = (0..ways.len())
                    .map(|k| {
                        let mut beside = ways.clone();
                        beside[k] += 1e-7;
                        let there = off(&beside)?;
                        Some(there.iter().zip(&value).map(|(b, a)| (b - a) / 1e-7).collect())
                    })
                    .collect();
                let Some(slopes) = slopes else { break };
                let matrix =
                    (0..ways.len()).map(|i| slopes.iter().map(|s| s[i]).collect()).collect();
                let Some(step) = solved(matrix, value.clone()) else { break };
                let longest = step.iter().fold(0f64, |m, s| m.max(s.abs()));
                // Shorter, until it is nearer.
                let size = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
                let mut part = (0.5 / longest).min(1.0);
                for _ in 0..12 {
                    let there: Vec<f64> =
                        ways.iter().zip(&step).map(|(w, s)| w - part * s).collect();
                    let nearer = off(&there).is_some_and(|v| size(&v) < size(&value));
                    if nearer {
                        break;
                    }
                    part *= 0.5;
                }
                ways.iter_mut().zip(&step).for_each(|(w, s)| *w -= part * s);
                if longest < 1e-12 {
                    found.push(with(&ways));
                    break;
                }
            }
        }
        found
    }
}

/// How many states: `DALEMBERT_CASES`, if it is set.
fn cases(usual: usize) -> usize {
    std::env::var("DALEMBERT_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(usual)
}

/// What is decided is what is found by trying everything: where there is one motion it is this one, where
/// it is said that there is no other there is none.
fn agrees(contacts: usize, most: f64, cases: usize, seed: u64) -> [usize; 4] {
    let (text, names) = text(contacts);
    let model = support::motion::model(&text);
    let setting = Setting::new(&model).expect("values");
    let mut decider = Decider::new(&setting).expect("a model").expect("contacts");
    let symbols: Vec<Symbol> = names
        .iter()
        .map(|name| model.system.parameters.iter().find(|p| p.name == *name).expect("one").symbol)
        .collect();
    let mut random = Random(seed);
    // Proved, found, several, none.
    let mut counts = [0; 4];
    for case in 0..cases {
        let numbers = Numbers::random(&mut random, contacts, most);
        decider.set_values(&symbols, &numbers.values());
        let mut setting = setting.clone();
        setting.set_values(&symbols, &numbers.values());
        let state =
            State::of_velocities(&setting, 0.0, vec![0.0; N], vec![0.0; N]).expect("a state");
        let space = Space::of(&numbers);
        let all = space.all();
        let mass: Vec<Vec<f64>> =
            (0..N).map(|i| (0..N).map(|j| numbers.mass(i, j)).collect()).collect();
        let motion = |loads: &Vec<f64>| {
            let mut force = numbers.force.clone();
            for (row, load) in numbers.rows.iter().zip(loads) {
                force.iter_mut().zip(row).for_each(|(f, a)| *f += a * load);
            }
            solved(mass.clone(), force).expect("a mass")
        };
        let motions: Vec<Vec<f64>> = all.iter().map(motion).collect();
        let what = || {
            let (mu, belt) = (&numbers.mu, &numbers.belt);
            format!(
                "{contacts} contacts, case {case}: {motions:?} {mu:?} {belt:?} {all:?} {:?} {:?}",
                space.d, space.c
            )
        };
        match decider.at(&state) {
            Ok(here) => {
                let apart = |other: &Vec<f64>| {
                    // Where all is held the rest is rounding of forces, which are of the order of 1.
                    let size = other.iter().fold(1e-6f64, |m, a| m.max(a.abs()));
                    let off = other.iter().zip(&here.accelerations);
                    off.fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size
                };
                // Directions that are found slowly are known to 1e-8, of which loads may make more.
                let is_one = motions.iter().any(|m| apart(m) < 1e-6);
                assert!(is_one, "{:?} {}", here.accelerations, what());
                assert!(!here.is_only || motions.len() == 1, "{}", what());
                counts[usize::from(!here.is_only)] += 1;
            }
            Err(Fault::Several(phases)) => {
                assert!(motions.len() > 1, "{phases:?} {}", what());
                counts[2] += 1;
            }
            Err(fault) => {
                assert!(motions.is_empty(), "{fault:?} {}", what());
                counts[3] += 1;
            }
        }
    }
    counts
}

#[test]
fn one_slip_in_space() {
    let [proved, found, ..] = agrees(1, 0.6, cases(400), 3);
    assert!(proved > found, "{proved} {found}");
    // With much friction all of it occurs.
    let counts = agrees(1, 6.0, cases(400), 4);
    assert!(counts.iter().all(|&n| n > 0), "{counts:?}");
}

#[test]
fn two_slips_in_space() {
    let counts = agrees(2, 0.5, cases(100), 5);
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
    agrees(2, 2.0, cases(60), 6);
}

fn whole(text: &str) -> RunReport {
    let report = ran(text, |_| ()).0;
    assert_eq!(report.end, End::Finished, "{text}");
    assert!(report.verdict().is_ok(), "{:?}\n{text}", report.verdict());
    report
}

fn verified(text: &str, tolerance: f64) -> RunReport {
    let model = support::motion::model(text);
    let setting = Setting::new(&model).expect("values");
    let options = RunOptions { tolerance, ..RunOptions::of_model(&setting) };
    run_verified(&setting, &options, false, &mut Nowhere).expect("a run")
}

struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The coordinates at the end.
fn end(text: &str) -> Vec<f64> {
    whole(text).last.expect("a state").state.q
}

/// A chain of masses, springs and dry friction along a line; in the plane, along a direction of it.
fn chain(random: &mut Random, n: usize, way: Option<f64>) -> String {
    let (s, k) = way.unwrap_or(0.0).sin_cos();
    let is_plane = way.is_some();
    let place = |i: usize, prime: &str| match is_plane {
        true => format!("[x{i}{prime}, y{i}{prime}]"),
        false => format!("x{i}{prime}"),
    };
    let mut text = String::new();
    let mut energy = Vec::new();
    let mut starts = Vec::new();
    for i in 0..n {
        let names = if is_plane { format!("x{i}, y{i}") } else { format!("x{i}") };
        let _ = writeln!(text, "coord {names}");
        let m = random.within(0.5, 2.0);
        energy.push(match is_plane {
            true => format!("{m:?}/2*(x{i}'^2 + y{i}'^2)"),
            false => format!("{m:?}/2*x{i}'^2"),
        });
        let (stretch, bound) = (random.within(2.0, 20.0), random.within(0.1, 1.5));
        let _ = match is_plane {
            true => writeln!(text, "potential {stretch:?}/2*(x{i}^2 + y{i}^2)"),
            false => writeln!(text, "potential {stretch:?}/2*x{i}^2"),
        };
        let scale = random.within(-3.0, 3.0).exp();
        let slip = place(i, "'");
        let at_rest = random.within(1.0, 1.5);
        let _ = writeln!(
            text,
            "friction r{i}: {:?} along {scale:?}*{slip}, static {:?}",
            bound / scale,
            at_rest * bound / scale
        );
        if i > 0 {
            let (last, rub) = (i - 1, random.within(0.1, 1.0));
            let _ = writeln!(
                text,
                "friction s{i}: {rub:?} along {} - {}",
                place(i, "'"),
                place(last, "'")
            );
        }
        let (x, v) = (random.within(-1.0, 1.0), random.within(-1.0, 1.0));
        let v = if random.within(0.0, 1.0) < 0.5 { 0.0 } else { v };
        starts.push(match is_plane {
            true => format!(
                "start x{i} = {:?}, y{i} = {:?}, x{i}' = {:?}, y{i}' = {:?}",
                x * k,
                x * s,
                v * k,
                v * s
            ),
            false => format!("start x{i} = {x:?}, x{i}' = {v:?}"),
        });
    }
    let _ = writeln!(
        text,
        "kinetic {}\n{}\nrun t = 0..4, tol 1e-9",
        energy.join(" + "),
        starts.join("\n")
    );
    text
}

/// What moves along a line does so in a plane too: slips of two components stop, stick and turn round
/// as those of one.
#[test]
fn lines_in_a_plane() {
    for case in 0..cases(20) as u64 {
        let n = 1 + case as usize % 3;
        let make = |way: Option<f64>| chain(&mut Random(1000 + case), n, way);
        let way = 0.1 + case as f64;
        let (line, plane) = (end(&make(None)), end(&make(Some(way))));
        let (s, k) = way.sin_cos();
        for (i, x) in line.iter().enumerate() {
            let (a, b) = (plane[2 * i], plane[2 * i + 1]);
            let off = (a - x * k).hypot(b - x * s);
            assert!(off < 1e-6, "case {case}: {x} {a} {b}\n{}", make(Some(way)));
        }
    }
}

/// What is said of the error holds where slips of two components begin, turn round and stop: against the
/// same along a line, at tolerances at which an instant too early would be seen.
#[test]
fn what_is_said_of_chains_in_a_plane_holds() {
    let mut passed = 0;
    for case in (0..cases(4) as u64).chain([20, 25]) {
        let n = 1 + case as usize % 3;
        let way = 0.1 + case as f64;
        let make = |way: Option<f64>| chain(&mut Random(1000 + case), n, way);
        let line = ran(&make(None), |options| options.tolerance = 1e-12).0;
        let line = line.last.expect("a state").state.q;
        let (s, k) = way.sin_cos();
        for tolerance in [1e-9, 1e-11] {
            let report = verified(&make(Some(way)), tolerance);
            let error = report.error.estimate().expect("an estimate");
            if report.verdict().is_err() {
                continue;
            }
            passed += 1;
            let last = report.last.as_ref().expect("a state");
            for (i, x) in line.iter().enumerate() {
                for (at, part) in [(2 * i, k), (2 * i + 1, s)] {
                    let off = (last.state.q[at] - x * part).abs();
                    let said = error.end.q[at];
                    assert!(off < 30.0 * said + 1e-12, "{case} {tolerance:e}: {off:e} {said:e}");
                }
            }
        }
    }
    // At the tighter one some are sensitive.
    assert!(passed > cases(4), "{passed}");
}

/// A block stops v/μg after it was pushed, v²/2μg away: at this time, not where it is too slow to be told
/// from rest.
#[test]
fn a_block_stops_in_time() {
    for (v, pull, way) in [(1.5, 3.924, 0.3f64), (0.02, 0.7, 2.0), (40.0, 11.0, -1.0)] {
        let (s, k) = way.sin_cos();
        let text = format!(
            "coord x, y
             kinetic (x'^2 + y'^2)/2
             friction rub: {pull} along [x', y']
             start x = 0, y = 0, x' = {:?}, y' = {:?}
             run t = 0..{:?}",
            v * k,
            v * s,
            2.0 * v / pull
        );
        for tolerance in [1e-8, 1e-11, 1e-13] {
            let report = verified(&text, tolerance);
            assert!(report.verdict().is_ok(), "{:?}", report.verdict());
            let changes = &report.phases.as_ref().expect("phases").changes;
            let [stop] = changes[..] else { panic!("{changes:?}") };
            let (t, far) = (v / pull, v * v / (2.0 * pull));
            assert!((stop.t - t).abs() < 1e-14 * t, "{v} {tolerance:e}: {:e}", stop.t - t);
            let q = &report.last.as_ref().expect("a state").state.q;
            let off = (q[0] - far * k).hypot(q[1] - far * s);
            assert!(off < 1e-14 * far, "{v} {tolerance:e}: {off:e}");
        }
    }
}

/// A slip that begins with next to no speed and a direction that rounding turns goes straight on, by every
/// method that adapts its steps: errors beside the corner are those of the method and not of rounding,
/// and where it is steepest they are seen as well.
#[test]
fn a_slip_that_begins_goes_straight() {
    let text = chain(&mut Random(1000), 1, Some(0.1));
    let (s, k) = 0.1f64.sin_cos();
    for method in ["taylor", "dop853", "radau"] {
        let (_, rows) = ran(&text, |options| {
            options.method = method.to_owned();
            options.tolerance = 1e-11;
            options.every = Some(0.05);
        });
        let across =
            |row: &Observation| (k * row.state.velocity[1] - s * row.state.velocity[0]).abs();
        let worst = rows.iter().map(across).fold(0.0, f64::max);
        let allowed = if method == "radau" { 1e-8 } else { 1e-11 };
        assert!(worst < allowed, "{method}: {worst:e}");
    }
}

/// A box on four points that slides without turning comes to rest as a block does, and stays there.
#[test]
fn a_box_comes_to_rest() {
    let (mu, v, g) = (0.4, 1.5, 9.81);
    let mut text = format!(
        "gravity [0, 0, -{g}]
         body b: mass 1, inertia [0.01, 0.02, 0.03], free
         start b.rotation = Rz(0.3), b.r = [0, 0, 0.05], b.velocity = {v}*[0.6, 0.8, 0]
         run t = 0..1, tol 1e-10\n"
    );
    for (k, [x, y]) in [[0.2, 0.1], [-0.2, 0.1], [0.2, -0.1], [-0.2, -0.1]].into_iter().enumerate()
    {
        let _ = writeln!(
            text,
            "contact c{k}: ground normal [0, 0, 1], b at [{x}, {y}, -0.05], friction {mu}"
        );
    }
    let q = end(&text);
    let far = v * v / (2.0 * mu * g);
    assert!((q[0] - 0.6 * far).abs() < 1e-8 && (q[1] - 0.8 * far).abs() < 1e-8, "{q:?}");
}

/// A box that slides and turns on three points has as many bearers as it takes, and a run of its own beside
/// it, whatever is asked.
#[test]
fn a_box_that_spins_on_three_points_is_verified() {
    let mut random = Random(7);
    for case in 0..cases(6) {
        let (vx, vy, turn) =
            (random.within(-1.5, 1.5), random.within(-1.5, 1.5), random.within(-6.0, 6.0));
        let mut text = format!(
            "gravity [0, 0, -9.81]
             body b: mass 1, inertia [0.01, 0.02, 0.03], free
             start b.rotation = Rz(0.3), b.r = [0, 0, 0.05], b.velocity = [{vx:?}, {vy:?}, 0]
             start b.omega = [0, 0, {turn:?}]
             run t = 0..0.6\n"
        );
        for (k, [x, y]) in [[0.2, 0.1], [-0.2, 0.0], [0.2, -0.1]].into_iter().enumerate() {
            let _ = writeln!(
                text,
                "contact c{k}: ground normal [0, 0, 1], b at [{x}, {y}, -0.05], friction 0.4"
            );
        }
        for tolerance in [1e-8, 1e-10] {
            let report = verified(&text, tolerance);
            let error = report.error.estimate();
            assert!(error.is_some(), "{case} {tolerance:e}: {:?}\n{text}", report.verdict());
            assert!(report.verdict().is_ok(), "{case} {tolerance:e}: {:?}", report.verdict());
        }
    }
}

/// Two balls in space that strike each other and a wall at once, in turn: that of the wall is struck
/// again.
#[test]
fn in_turn_in_space() {
    let (mu, v) = (0.2, 3.0);
    let r = 0.1;
    let text = format!(
        "body a: mass 1, inertia {0:?}*[1, 1, 1], free
         body b: mass 1, inertia {0:?}*[1, 1, 1], free
         contact wall: ground normal [0, 0, 1], a radius {r}, friction {mu}
         contact pair: a radius {r}, b radius {r}, friction {mu}
         start a.rotation = Rz(0), b.rotation = Rz(0), a.r = [0, 0, {r}], b.r = [0, 0, 0.3]
         start b.velocity = [0.3, 0.4, -{v}]
         run t = 0..0.1, tol 1e-11, impacts in-turn",
        0.4 * r * r
    );
    let report = whole(&text);
    let last = report.last.expect("a state").state;
    // By hand: rounds of one pair each. Velocities along the wall and spins, with u the direction of the
    // slip, which stays.
    let (j, mut va, mut vb) = (0.4 * r * r, [0.0f64, 0.0], [0.5f64, -v]);
    let (mut wa, mut wb) = (0.0f64, 0.0f64);
    for _ in 0..10_000 {
        if vb[1] < va[1] - 1e-14 {
            let load = (va[1] - vb[1]) / 2.0;
            // Slip of b against a; each impulse turns both balls.
            let slip = vb[0] - va[0] - r * (wa + wb);
            let stick = slip / (2.0 + 2.0 * r * r / j);
            let rub = stick.clamp(-mu * load, mu * load);
            (va[1], vb[1]) = (va[1] - load, vb[1] + load);
            (va[0], vb[0]) = (va[0] + rub, vb[0] - rub);
            (wa, wb) = (wa + r * rub / j, wb + r * rub / j);
        }
        if va[1] < -1e-14 {
            let load = -va[1];
            // Spins are about the axis that turns the top along the slip of b.
            let slip = va[0] - r * wa;
            let stick = slip / (1.0 + r * r / j);
            let rub = stick.clamp(-mu * load, mu * load);
            va = [va[0] - rub, 0.0];
            wa += r * rub / j;
        }
    }
    let along = |q: &[f64], at: usize| 0.6 * q[at] + 0.8 * q[at + 1];
    let (a, b) = (along(&last.velocity, 0), along(&last.velocity, 7));
    assert!((a - va[0]).abs() < 1e-9 && (b - vb[0]).abs() < 1e-9, "{a} {b} {va:?} {vb:?}");
}
