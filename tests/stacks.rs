//! Random stacks of blocks and balls in the plane: nothing penetrates, loads and gaps are complementary,
//! energy is only lost, and the motion is the same in other units and for any order of statements.

mod support;

use dalembert::simulate::drive::{End, Failure};
use dalembert::simulate::phases::Fault;
use dalembert::simulate::run::RunReport;
use dalembert::simulate::{Observation, Setting};
use std::fmt::Write;
use support::motion::{model, ran};

/// A generator of random numbers: xorshift64*.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }

    fn within(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn is(&mut self, part: f64) -> bool {
        self.within(0.0, 1.0) < part
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Units: what lengths, masses and times are multiplied with.
#[derive(Clone, Copy)]
struct Units {
    length: f64,
    mass: f64,
    time: f64,
}

const SI: Units = Units { length: 1.0, mass: 1.0, time: 1.0 };

/// The statements of a random stack, and its contacts.
fn stack(seed: u64, units: Units) -> (Vec<String>, Vec<String>) {
    let mut random = Random::new(seed);
    let Units { length, mass, time } = units;
    let n_blocks = random.below(4);
    let n_balls = if n_blocks == 0 { 1 + random.below(3) } else { random.below(3) };
    let mu = random.one_of(&[0.0, 0.1, 0.3, 0.5, 0.8]);
    let e: f64 = if mu == 0.0 {
        random.one_of(&[0.0, 0.0, 0.5, 0.8])
    } else {
        random.one_of(&[0.0, 0.0, 0.0, 0.4])
    };
    let word = random.one_of(&["at-once", "in-turn"]);
    let mut laws = String::new();
    if mu > 0.0 {
        let _ = write!(laws, ", friction {mu}");
    }
    if e > 0.0 {
        let _ = write!(laws, ", restitution {e}");
    }
    let mut list = vec![format!("gravity [0, {:?}]", -9.81 * length / time / time)];
    let (mut contacts, mut starts) = (Vec::new(), Vec::new());
    let speed = |random: &mut Random, name: &str, starts: &mut Vec<String>| {
        if random.is(0.4) {
            let v = random.within(-1.0, 1.0) * length / time;
            starts.push(format!("start {name}.r[1]' = {v:?}"));
        }
    };
    let (mut top, mut base) = (0.0, "ground normal [0, 1]".to_owned());
    for i in 0..n_blocks {
        let a = random.within(0.3, 0.45) * 0.75f64.powi(i as i32);
        let h = random.within(0.08, 0.25);
        let m = random.within(0.5, 2.0);
        let inertia = m * (a * a + h * h) / 3.0 * mass * length * length;
        list.push(format!("body b{i}: mass {:?}, inertia {inertia:?}, free", m * mass));
        for (side, at) in [("l", -a), ("r", a)] {
            let corner = format!("b{i} at [{:?}, {:?}]", at * length, -h * length);
            contacts.push((format!("b{i}{side}"), format!("{base}, {corner}")));
        }
        let gap = random.one_of(&[0.0, 0.0, 0.0, 0.05]);
        top += gap + h;
        let x = random.within(-0.05, 0.05);
        starts.push(format!("start b{i}.r = [{:?}, {:?}]", x * length, top * length));
        speed(&mut random, &format!("b{i}"), &mut starts);
        if gap > 0.0 && i + 1 == n_blocks && n_balls == 0 {
            starts.push(format!("start b{i}.angle = {:?}", random.within(-0.05, 0.05)));
        }
        top += h;
        base = format!("b{i} at [0, {:?}] normal [0, 1]", h * length);
    }
    let mut radii: Vec<f64> = Vec::new();
    for j in 0..n_balls as usize {
        let (r, m) = (random.within(0.05, 0.12), random.within(0.2, 1.0));
        let inertia = 0.5 * m * r * r * mass * length * length;
        list.push(format!("body c{j}: mass {:?}, inertia {inertia:?}, free", m * mass));
        contacts.push((format!("c{j}f"), format!("{base}, c{j} radius {:?}", r * length)));
        for (k, other) in radii.iter().enumerate() {
            let pair = format!("c{k} radius {:?}, c{j} radius {:?}", other * length, r * length);
            contacts.push((format!("c{k}c{j}"), pair));
        }
        radii.push(r);
        let (x, up) = match j {
            0 | 1 => (0.25 * j as f64 - 0.13, r + random.one_of(&[0.0, 0.03])),
            _ => (0.0, 0.5),
        };
        starts.push(format!("start c{j}.r = [{:?}, {:?}]", x * length, (top + up) * length));
        speed(&mut random, &format!("c{j}"), &mut starts);
    }
    for (name, sides) in &contacts {
        list.push(format!("contact {name}: {sides}{laws}"));
    }
    list.extend(starts);
    list.push(format!("run t = 0..{:?}, impacts {word}, tol 1e-11", 0.5 * time));
    (list, contacts.into_iter().map(|c| c.0).collect())
}

/// A run of statements; its rows.
fn run(list: &[String]) -> (RunReport, Vec<Observation>) {
    ran(&list.join("\n"), |_| ())
}

/// What a stack may end by: laws of impact and friction that have no or several solutions.
fn is_told(end: &End) -> bool {
    use Fault::{ImpactGains, ImpactNone, ImpactSeveral, None, Several};
    let End::Failed(Failure::Phase(fault)) = end else { return false };
    matches!(fault, Several(_) | None | ImpactSeveral | ImpactNone | ImpactGains { .. })
}

/// How many stacks: `DALEMBERT_CASES`, if it is set.
fn cases(usual: u64) -> u64 {
    std::env::var("DALEMBERT_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(usual)
}

#[test]
fn stacks_obey_their_laws() {
    let (mut told, mut impacts) = (Vec::new(), 0);
    let cases = cases(40);
    for seed in 0..cases {
        let (mut list, contacts) = stack(seed, SI);
        for name in &contacts {
            list.push(format!("observe {name}.gap, multiplier({name})"));
        }
        let (report, rows) = run(&list);
        let text = || format!("case {seed}:\n{}", list.join("\n"));
        if is_told(&report.end) {
            told.push((seed, report.end.clone()));
        } else {
            assert_eq!(report.end, End::Finished, "{}", text());
        }
        let phases = report.phases.as_ref().expect("phases");
        impacts += phases.impacts;
        assert!(phases.penetration <= 1e-12, "{} {}", phases.penetration, text());
        assert!(phases.pull <= 1e-12, "{} {}", phases.pull, text());
        assert!(phases.excess <= 1e-12, "{} {}", phases.excess, text());
        let most = rows.iter().fold(0f64, |m, row| m.max(row.energy.abs()));
        assert!(phases.impact_energy <= 1e-12 * most, "{} {}", phases.impact_energy, text());
        let model = model(&list.join("\n"));
        let setting = Setting::new(&model).expect("values");
        let roots: Vec<_> = model.system.observes.iter().map(|o| o.value).collect();
        let mut energy = f64::INFINITY;
        for row in &rows {
            assert!(row.energy <= energy + 1e-11 * most, "at {}: {}", row.state.t, text());
            energy = energy.min(row.energy);
            let values = setting.numbers(&roots, &row.table(&model.system));
            for pair in values.chunks(2) {
                let (gap, load) = (pair[0], pair[1]);
                // Loads that are not determined have no value.
                assert!(
                    gap >= -1e-12 && (load >= -1e-11 || load.is_nan()),
                    "{gap} {load} {}",
                    text()
                );
                assert!(gap * load <= 1e-11 || load.is_nan(), "{gap} {load} {}", text());
            }
        }
    }
    assert!(impacts > 3 * cases, "{impacts}");
    assert!(told.len() as u64 * 20 <= cases, "{told:?}");
}

/// By another unit of everything, and told in another order.
#[test]
fn stacks_are_what_they_are() {
    let mut compared = 0;
    let cases = cases(20);
    for seed in 0..cases {
        let (list, _) = stack(seed, SI);
        let (first, _) = run(&list);
        let units = Units { length: 8.0, mass: 0.25, time: 2.0 };
        let (mut other, _) = stack(seed, units);
        let mut random = Random::new(seed + 1000);
        for i in (1..other.len()).rev() {
            other.swap(i, random.below(i as u64 + 1) as usize);
        }
        let (second, _) = run(&other);
        if first.end != End::Finished || second.end != End::Finished {
            continue;
        }
        let named = |report: &RunReport, list: &[String]| {
            let model = model(&list.join("\n"));
            let state = &report.last.as_ref().expect("a state").state;
            let of = |c: &dalembert::model::system::Coordinate, q: &f64| (c.name.clone(), *q);
            let mut all: Vec<(String, f64)> =
                model.system.coordinates.iter().zip(&state.q).map(|(c, q)| of(c, q)).collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all
        };
        for ((name, a), (same, b)) in named(&first, &list).into_iter().zip(named(&second, &other)) {
            assert_eq!(name, same);
            let b = if name.ends_with("angle") { b } else { b / units.length };
            assert!((a - b).abs() < 1e-6, "case {seed}, {name}: {a} {b}\n{}", list.join("\n"));
        }
        compared += 1;
    }
    assert!(compared * 10 >= cases * 9, "{compared}");
}
