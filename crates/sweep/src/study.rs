//! A study from its beginning, or from where it was left, to its end.

use crate::plan::Plan;
use crate::pool;
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
    /// All of them.
    pub count: u64,
}

/// Computes what is left of a study. `work` is given the values of a case; `watch` may break.
/// What was finished until then is kept.
pub fn run<W>(
    store: &mut Store,
    plan: &Plan,
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &[f64]) -> Done + Sync,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let (left, count, names) = (store.left(), plan.count(), plan.names.len());
    let (mut own, mut end, mut failure) = (0, ControlFlow::Continue(()), None);
    let prepare = || (worker(), vec![0.0; names]);
    let compute = |(worker, values): &mut (W, Vec<f64>), case: u64| {
        plan.values(case, values);
        let mut done = work(worker, values);
        // What was varied stands first in its row.
        done.row.splice(0..0, values.iter().copied());
        done
    };
    pool::run(&left, threads, prepare, compute, |case, done| {
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
