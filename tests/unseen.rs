//! What a motion meets without warning: walls, steps and pulses that are next to nothing, with all their
//! derivatives, until the motion is there. Held against quadrature, by every method that chooses its
//! steps and abreast.

use dalembert::expr::Random;
use dalembert::simulate::drive::End;
use dalembert::simulate::points::start;
use dalembert::simulate::run::{self, Departure, Program, RunOptions};
use dalembert::simulate::{Observation, Setting};
use dalembert::{Input, Options};
use std::ops::ControlFlow;

/// The methods.
const METHODS: [&str; 4] = ["auto", "taylor", "dop853", "radau"];

/// Where x is at the end, and how fast: by runs of all methods, then abreast.
fn ends(text: &str, tolerance: f64) -> Vec<(String, [f64; 2])> {
    let loaded = dalembert::load(&Input::text("unseen", text), &Options::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let setting = Setting::new(&model).expect("values");
    let mut ends = Vec::new();
    let mut options = RunOptions::of_model(&setting);
    options.every = Some(options.end);
    options.tolerance = tolerance;
    for method in METHODS {
        options.method = method.to_owned();
        let begin = start::start(&setting).expect("a start");
        let go_on = &mut |_: &Observation| ControlFlow::Continue(());
        let report = run::run_from(&setting, &options, begin, go_on).expect("a run");
        assert_eq!(report.end, End::Finished, "{method}\n{text}");
        let last = report.last.expect("an end").state;
        ends.push((method.to_owned(), [last.q[0], last.velocity[0]]));
    }
    options.method = "taylor".to_owned();
    let program = Program::new(&setting, &options).expect("a program");
    let state = start::start(&setting).expect("a start").state;
    let n = state.q.len();
    let mut company: Vec<Departure> = (0..5).map(|id| Departure::new(id, state.clone())).collect();
    // One is on another way.
    company[2].state.velocity[0] *= -1.0;
    let mut alone: Option<Vec<u64>> = None;
    for lanes in [1, 4, 8] {
        let ensemble = program.ensemble(&options, lanes).expect("it suits").expect("abreast");
        let mut traveller = ensemble.traveller().expect("the same").expect("abreast");
        let mut next = company.iter().cloned();
        traveller.travel_all(&mut || next.next(), &mut |arrived| {
            assert_eq!(arrived.end, End::Finished, "{lanes} lanes\n{text}");
            let bits = arrived.x.iter().map(|x| x.to_bits()).collect();
            if arrived.id == 0 {
                assert_eq!(*alone.get_or_insert(bits), bits_of(&arrived.x), "{text}");
                ends.push((format!("{lanes} lanes"), [arrived.x[0], arrived.x[n]]));
            }
        });
    }
    assert_eq!(ends.len(), METHODS.len() + 3);
    ends
}

fn bits_of(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Simpson's rule.
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    let count = 20_000;
    let weight = |k: i32| if k == 0 || k == count { 1.0 } else { 2.0 + 2.0 * f64::from(k % 2) };
    let sum: f64 = (0..=count).map(|k| weight(k) * f(f64::from(k) / f64::from(count))).sum();
    sum / (3.0 * f64::from(count))
}

/// A unit mass from 0 at a speed, and a potential that is constant but within `wide` of a place: where
/// the mass is at a time, and how fast.
fn exact(v: f64, potential: &dyn Fn(f64) -> f64, (at, wide): (f64, f64), end: f64) -> [f64; 2] {
    let energy = 0.5 * v * v;
    let speed = |x: f64| (2.0 * (energy - potential(x))).sqrt();
    let (first, past) = (at - wide, at + wide);
    let (mut low, mut high) = (first, past);
    let count = 4000;
    let step = |k: i32| first + 2.0 * wide * f64::from(k) / f64::from(count);
    let Some(k) = (1..=count).find(|&k| potential(step(k)) >= energy) else {
        let through = integral(|u| 2.0 * wide / speed(first + 2.0 * wide * u));
        let beyond = speed(past);
        return [past + (end - first / v - through) * beyond, beyond];
    };
    (low, high) = (step(k - 1).max(low), step(k).min(high));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if potential(middle) < energy { low = middle } else { high = middle }
    }
    // Back from where it turns, by x = low − u² far: the speed goes with u.
    let far = low - first;
    let there = integral(|u| {
        let u = u.max(1e-4);
        2.0 * far * u / speed(low - far * u * u)
    });
    [first - (end - first / v - 2.0 * there) * v, -v]
}

#[test]
fn thin_walls_and_steps_are_met() {
    let mut random = Random::new(41);
    let (mut back, mut through) = (0, 0);
    for k in 0..54 {
        let sharp = 10f64.powf(1.7 + 4.0 * random.unit()).round();
        let v = (0.5 + 1.5 * random.unit()).sqrt();
        let at = ((0.4 + 0.3 * random.unit()) * 1e3).round() / 1e3;
        // Not next to the height that would hold it up.
        let part = if random.unit() < 0.5 { 0.7 * random.unit() } else { 1.4 + random.unit() };
        let height = 0.5 * v * v * part;
        let end = 2.5 / v;
        type Shape = (String, Box<dyn Fn(f64) -> f64>, f64);
        let (text, shape, wide): Shape = match k % 6 {
            0 | 1 => (
                format!("{height:e}*exp(-{sharp}^2*(x - {at})^2)"),
                Box::new(move |x| height * (-(sharp * (x - at)).powi(2)).exp()),
                7.0 / sharp,
            ),
            2 => (
                format!("{height:e}/2*(1 + tanh({sharp}*(x - {at})))"),
                Box::new(move |x| 0.5 * height * (1.0 + (sharp * (x - at)).tanh())),
                20.0 / sharp,
            ),
            3 | 4 => {
                // Where it is 10⁻¹⁴ of its height it is nothing.
                let n = i32::from(k % 6 == 4) + 2;
                let wide = 10f64.powf(7.0 / f64::from(n)) / sharp;
                (
                    format!("{height:e}/(1 + ({sharp}*(x - {at}))^4)^{n}"),
                    Box::new(move |x| height / (1.0 + (sharp * (x - at)).powi(4)).powi(n)),
                    wide,
                )
            }
            _ => {
                // Of higher ones the rounding of the cosine makes forces of more than the tolerance.
                let n = (sharp * sharp).round().clamp(25.0, 1e9);
                (
                    format!("{height:e}*cos(x - {at})^{n}"),
                    Box::new(move |x| height * (x - at).cos().powf(n)),
                    9.0 / n.sqrt(),
                )
            }
        };
        if wide > 0.9 * at {
            continue;
        }
        let right = exact(v, &shape, (at, wide), end);
        if right[1] < 0.0 {
            back += 1
        } else {
            through += 1
        }
        // Beside it goes something else.
        let model = format!(
            "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential y^2/2 + {text}\n\
             start x = 0, y = 1, x' = {v:e}\nrun t = 0..{end:e}"
        );
        for (how, found) in ends(&model, 1e-9) {
            let off = (found[0] - right[0]).abs().max((found[1] - right[1]).abs());
            assert!(off < 1e-6, "{k} {how}: {found:?}, not {right:?}\n{model}");
        }
    }
    assert!(back > 5 && through > 5, "{back} {through}");
}

#[test]
fn thin_pulses_are_met() {
    let mut random = Random::new(43);
    for k in 0..45 {
        let sharp = 10f64.powf(2.0 + 5.0 * random.unit()).round();
        let at = (1e3 * (0.2 + 1.6 * random.unit())).round() / 1e3;
        let given = 0.1 + random.unit();
        // What the pulse gives is its integral.
        let (text, width) = match k % 3 {
            0 => (format!("exp(-{sharp}^2*(t - {at})^2)"), std::f64::consts::PI.sqrt() / sharp),
            1 => (format!("1 - tanh({sharp}*(t - {at}))^2"), 2.0 / sharp),
            // ∫ (1 + s⁴)⁻² ds = 3π/(4√2); beyond it there are tails of 10⁻¹⁴ and less.
            _ => (
                format!("(1 + ({sharp}*(t - {at}))^4)^(-2)"),
                3.0 * std::f64::consts::PI / (4.0 * std::f64::consts::SQRT_2 * sharp),
            ),
        };
        let size = given / width;
        let model = format!(
            "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential y^2/2\nforce x: {size:e}*({text})\n\
             start x = 0, y = 1, x' = 1\nrun t = 0..2"
        );
        for (how, found) in ends(&model, 1e-9) {
            let right = [2.0 + given * (2.0 - at), 1.0 + given];
            let off = (found[0] - right[0]).abs().max((found[1] - right[1]).abs());
            assert!(off < 1e-6, "{k} {how}: {found:?}, not {right:?}\n{model}");
        }
    }
}
