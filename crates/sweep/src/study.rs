//! A study from its beginning, or from where it was left, to its end.

use crate::plan::Plan;
use crate::pool::{self, Crew};
use crate::store::{Done, Store};
use std::io;
use std::ops::ControlFlow;

/// How far a study is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Cases that are finished, those of earlier processes included.
    pub finished: u64,
    /// Those of this one.
    pub own: u64,
    /// Those that failed.
    pub failed: u64,
    /// All of them; of a part, if it is one that is worked on.
    pub count: u64,
}

/// Computes what is left of a study. `work` is given the values of some cases and gives what came
/// of each, in their order; `watch` may break. What was finished until then is kept.
pub fn run<W>(
    store: &mut Store,
    plan: &Plan,
    crew: Crew,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &[&[f64]]) -> Vec<Done> + Sync,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let (left, count, width) = (store.left(), store.count(), plan.names.len().max(1));
    let (mut own, mut end, mut failure) = (0, ControlFlow::Continue(()), None);
    let prepare = || (worker(), Vec::new());
    let compute = |(worker, values): &mut (W, Vec<f64>), cases: &[u64]| {
        values.resize(cases.len() * width, 0.0);
        for (&case, own) in cases.iter().zip(values.chunks_exact_mut(width)) {
            plan.values(case, own);
        }
        let rows: Vec<&[f64]> = values.chunks_exact(width).collect();
        let mut all = work(worker, &rows);
        // What was varied stands first in its row.
        for (done, values) in all.iter_mut().zip(&rows) {
            done.row.splice(0..0, values.iter().copied());
        }
        all
    };
    pool::run(&left, crew, prepare, compute, |case, done| {
        if failure.is_some() {
            return ControlFlow::Break(());
        }
        if let Err(error) = store.take(case, &done) {
            failure = Some(error);
            return ControlFlow::Break(());
        }
        own += 1;
        let (finished, failed) = store.counts();
        if watch(Progress { finished, own, failed, count }).is_break() {
            end = ControlFlow::Break(());
        }
        end
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(end),
    }
}
