//! What a motion costs: one evaluation of the rates at a decided state, and whole runs.
//!
//! `cargo bench --bench motion`; docs/performance.md has the table.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dalembert::simulate::Field;
use dalembert::simulate::integrators::Problem;
use dalembert::simulate::run::{RunOptions, run};
use dalembert::simulate::{DEFAULT, Setting, start};
use dalembert::{Input, Model, Options};
use std::hint::black_box;
use std::ops::ControlFlow;

/// The pages, and what is set in them.
const PAGES: &[(&str, &[&str])] = &[
    ("spherical-pendulum", &[]),
    ("double-pendulum", &[]),
    ("n-link-chain", &["N=20"]),
    ("benchmarks/andrews", &[]),
    ("whipple-bicycle", &[]),
    ("bricard", &[]),
];

fn load(page: &str, set: &[&str]) -> Model {
    let input = Input::open(&format!("gallery:{page}")).expect("a page of the gallery");
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let options = Options { set, ..Options::default() };
    dalembert::load(&input, &options).model.expect("no faults")
}

fn rates(c: &mut Criterion) {
    let mut group = c.benchmark_group("rates");
    for (page, set) in PAGES {
        let model = load(page, set);
        let setting = Setting::new(&model).expect("parameters have values");
        let equations = dalembert::derive(&model, None).expect("applies");
        let start = start::start(&setting).expect("a start").state;
        let mut field = Field::new(&setting, &equations, DEFAULT);
        let mut x = start.q.clone();
        x.extend(&start.velocity);
        x.push(0.0);
        field.choose_rows(start.t, &x, 1e-9).expect("a motion");
        let mut dx = vec![0.0; x.len()];
        // Two times in turn: what is evaluated twice at one state is not.
        let mut times = [start.t, start.t + 1e-9].into_iter().cycle();
        group.bench_function(BenchmarkId::from_parameter(page), |b| {
            b.iter(|| field.rates(times.next().unwrap_or(0.0), black_box(&x), &mut dx))
        });
    }
    group.finish();
}

fn runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    for (page, end) in [("spherical-pendulum", 10.0), ("benchmarks/andrews", 0.05)] {
        let model = load(page, &[]);
        let setting = Setting::new(&model).expect("parameters have values");
        let mut options = RunOptions::of_model(&setting);
        (options.end, options.every, options.tolerance) = (end, Some(end), 1e-9);
        let once = || {
            let mut last = None;
            let report = run(&setting, &options, &mut |row| {
                last = Some(row.state.t);
                ControlFlow::Continue(())
            });
            (report.expect("a run").statistics.steps, last)
        };
        println!("{page}: {} steps", once().0);
        group.bench_function(BenchmarkId::from_parameter(page), |b| b.iter(once));
    }
    group.finish();
}

criterion_group!(benches, rates, runs);
criterion_main!(benches);
