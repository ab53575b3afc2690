//! Text to M and Q of the N-link planar pendulum: parse, resolve, derive.
//!
//! `cargo bench --bench derive`; `benches/peers/` has the same in CasADi, and
//! docs/performance.md both.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dalembert::{Input, Options};
use std::hint::black_box;

const MODEL: &str = include_str!("../gallery/n-link-chain.md");

fn input() -> Input {
    Input {
        name: "chain".into(),
        text: MODEL.into(),
        syntax: dalembert::model::load::Syntax::Markdown,
        folder: None,
    }
}

/// Text → M, Q; returns how many nodes they have.
fn derive(input: &Input, n: usize, count: bool) -> usize {
    let options = Options { set: vec![format!("N={n}")], ..Options::default() };
    let model = dalembert::load(input, &options).model.expect("no faults");
    let equations = dalembert::derive(&model, None).expect("applies");
    if count { equations.count_nodes(&model.exprs) } else { black_box(equations.force.len()) }
}

fn bench(c: &mut Criterion) {
    let input = input();
    let mut group = c.benchmark_group("n-link pendulum, text to M and Q");
    for n in [2, 5, 10, 20, 30, 50] {
        println!("N = {n}: {} nodes", derive(&input, n, true));
        group.bench_with_input(BenchmarkId::from_parameter(n), &n, |b, &n| {
            b.iter(|| derive(&input, n, false))
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
