//! Ends of many motions: how many a second, on how many threads, with what error.
//!
//! `cargo bench --bench ensembles -- [NAME] [--tolerance=T] [--lanes=N] [--threads=N]` prints a line for each model, tolerance and number of
//! lanes. Motions are those of random starts; errors are against the same motions at a tolerance
//! of 1e-14, by one lane.

use dalembert::simulate::drive::End;
use dalembert::simulate::run::{Arrived, Departure, Ensemble, Program, RunOptions};
use dalembert::simulate::{Setting, State};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Motions that are timed, and those whose errors are found.
const MOTIONS: usize = 4_000;
const CHECKED: usize = 300;
const THREADS: usize = 2;
const TOLERANCES: [f64; 5] = [1e-7, 1e-8, 1e-9, 1e-10, 1e-11];

const DOUBLE_PENDULUM: &str = "
system Double pendulum
coord a, b
kinetic a'^2 + b'^2/2 + a'*b'*cos(a - b)
potential -9.81*(2*cos(a) + cos(b))
start a = 0.5, b = 0.3
run t = 0..10
";

/// A model, and a start of it for three random numbers in 0 … 1.
type Case = (&'static str, &'static str, fn([f64; 3]) -> [Vec<f64>; 2]);

fn cases() -> [Case; 2] {
    [
        ("double-pendulum", DOUBLE_PENDULUM, |[a, b, _]| {
            [vec![2.0 * a - 1.0, 2.0 * b - 1.0], vec![0.0, 0.0]]
        }),
        ("spherical", include_str!("peers/models/spherical.dal"), |[a, b, c]| {
            let (theta, phi, w) = (0.3 + a, 6.28 * b, 0.5 + 1.5 * c);
            let q = vec![theta.sin() * phi.cos(), theta.sin() * phi.sin(), -theta.cos()];
            [q, vec![-w * phi.sin(), w * phi.cos(), 0.0]]
        }),
    ]
}

fn starts(case: &Case) -> Vec<State> {
    let mut bits = 7u64;
    let mut unit = || {
        bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (bits >> 11) as f64 / (1u64 << 53) as f64
    };
    let one = |_| {
        let [q, velocity] = case.2([unit(), unit(), unit()]);
        State { t: 0.0, q, momentum: velocity.clone(), velocity }
    };
    (0..MOTIONS).map(one).collect()
}

/// The ends of motions, on so many threads.
fn ends(ensemble: &Ensemble, starts: &[State], threads: usize) -> Vec<Option<Arrived>> {
    let next = AtomicUsize::new(0);
    let lists: Vec<Vec<Arrived>> = std::thread::scope(|scope| {
        let work = || {
            let mut own = ensemble.traveller().expect("the same").expect("no events");
            let mut list = Vec::new();
            own.travel_all(
                &mut || {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    starts.get(at).map(|state| Departure::new(at, state.clone()))
                },
                &mut |ended| list.push(ended),
            );
            list
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut ends = vec![None; starts.len()];
    lists.into_iter().flatten().for_each(|ended| {
        let at = ended.id;
        ends[at] = Some(ended);
    });
    ends
}

fn main() {
    let only: Option<String> = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let asked =
        |name: &str| std::env::args().find_map(|a| a.strip_prefix(name)?.parse::<f64>().ok());
    let tolerances = asked("--tolerance=").map_or(TOLERANCES.to_vec(), |one| vec![one]);
    let lanes = asked("--lanes=").map_or(vec![1, 4, 8], |lanes| vec![lanes as usize]);
    let threads = asked("--threads=").map_or(THREADS, |threads| threads as usize);
    for case in cases().iter().filter(|case| only.as_deref().is_none_or(|own| own == case.0)) {
        let model = dalembert::parse(case.1).expect("a model");
        let setting = Setting::new(&model).expect("values");
        let starts = starts(case);
        let with = |tolerance: f64| RunOptions {
            method: "taylor".to_owned(),
            tolerance,
            ..RunOptions::of_model(&setting)
        };
        let run = |tolerance: f64, lanes: usize, starts: &[State], threads: usize| {
            let options = with(tolerance);
            let program = Program::new(&setting, &options).expect("a program");
            let ensemble = program.ensemble(&options, lanes).expect("it suits").expect("no events");
            let clock = Instant::now();
            let ends = ends(&ensemble, starts, threads);
            (ends, clock.elapsed().as_secs_f64())
        };
        let exact = run(1e-14, 1, &starts[..CHECKED], 2).0;
        for &tolerance in &tolerances {
            for &lanes in &lanes {
                let mut best = f64::INFINITY;
                let mut last = None;
                for _ in 0..15 {
                    let ran = run(tolerance, lanes, &starts, threads);
                    best = best.min(ran.1);
                    last = Some(ran);
                }
                let Some((ends, _)) = last else { continue };
                let mut errors: Vec<f64> = Vec::new();
                let (mut steps, mut served, mut failed) = (0, 0, 0);
                for (at, end) in ends.iter().enumerate() {
                    let Some(end) = end else {
                        failed += 1;
                        continue;
                    };
                    failed += usize::from(end.end != End::Finished);
                    steps += end.statistics.steps;
                    served += end.served;
                    if let Some(Some(right)) = exact.get(at) {
                        let off = end.x.iter().zip(&right.x).map(|(a, b)| (a - b).abs());
                        errors.push(off.fold(0f64, f64::max));
                    }
                }
                errors.sort_by(f64::total_cmp);
                println!(
                    "{:16} tol {tolerance:.0e} lanes {lanes} {:8.0}/s  error {:.1e} (most {:.1e})  \
                     steps {:.1}  served {served} failed {failed}",
                    case.0,
                    MOTIONS as f64 / best,
                    errors[errors.len() / 2],
                    errors[errors.len() - 1],
                    steps as f64 / MOTIONS as f64,
                );
            }
        }
    }
}
