//! Threads, each taking the next cases that nobody has.
//!
//! What comes out is handed to one taker as it comes, in any order; a bound on what waits for it
//! keeps memory flat.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Cases that a thread takes at first, and where they take long: what is begun and not handed over
/// is lost with its process.
const FEW: usize = 8;
/// More are taken while they take less than this.
const LITTLE: Duration = Duration::from_millis(50);

/// Results that may wait to be taken, for each thread.
const WAITING: usize = 16;

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crew {
    /// How many threads.
    pub threads: usize,
    /// How many cases a thread takes at once, at most; fewer where there are too few for all
    /// threads, and where cases take long.
    pub at_once: usize,
}

/// Computes all of `cases`, each thread with a worker of its own, which is given some cases and
/// gives what came of each. The taker may break: then what has begun is finished and handed over,
/// and nothing more is begun.
pub fn run<W, T: Send>(
    cases: &[u64],
    crew: Crew,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &[u64]) -> Vec<T> + Sync,
    mut take: impl FnMut(u64, T) -> ControlFlow<()>,
) {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let threads = crew.threads.clamp(1, cases.len().max(1));
    let at_once = crew.at_once.clamp(1, cases.len().div_ceil(threads).max(1));
    // What came of cases that were taken together is handed over together: a thread that waits for
    // each to be taken would sleep and wake as often.
    let (sender, receiver) = mpsc::sync_channel((WAITING / at_once).max(2) * threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, is_over, worker, work) = (&next, &is_over, &worker, &work);
            scope.spawn(move || {
                let mut own = worker();
                let mut share = at_once.min(FEW);
                while !is_over.load(Ordering::Relaxed) {
                    let (clock, first) = (Instant::now(), next.fetch_add(share, Ordering::Relaxed));
                    let Some(rest) = cases.get(first..).filter(|rest| !rest.is_empty()) else {
                        return;
                    };
                    let taken = &rest[..share.min(rest.len())];
                    let results = work(&mut own, taken);
                    share = match clock.elapsed() {
                        took if took < LITTLE => at_once.min(2 * share),
                        took if took > 4 * LITTLE => at_once.min((share / 2).max(FEW)),
                        _ => share,
                    };
                    // The receiver lives as long as there are senders.
                    let _ = sender.send((taken, results));
                }
            });
        }
        drop(sender);
        for (taken, results) in &receiver {
            for (&case, result) in taken.iter().zip(results) {
                if take(case, result).is_break() {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_computed_once() {
        for (threads, at_once) in [(1, 1), (2, 1), (7, 1), (1, 8), (3, 8), (2, 900)] {
            let cases: Vec<u64> = (0..1000).filter(|k| k % 3 != 0).collect();
            let mut seen = Vec::new();
            run(
                &cases,
                Crew { threads, at_once },
                || 0u64,
                |_, cases| cases.iter().map(|case| case * case).collect(),
                |case, square| {
                    assert_eq!(square, case * case);
                    seen.push(case);
                    ControlFlow::Continue(())
                },
            );
            seen.sort_unstable();
            assert_eq!(seen, cases);
        }
    }

    #[test]
    fn it_ends_when_the_taker_breaks() {
        let cases: Vec<u64> = (0..1_000_000).collect();
        let begun = AtomicUsize::new(0);
        let mut count = 0;
        let work = |(): &mut (), cases: &[u64]| {
            begun.fetch_add(cases.len(), Ordering::Relaxed);
            vec![(); cases.len()]
        };
        run(
            &cases,
            Crew { threads: 4, at_once: 3 },
            || (),
            work,
            |_, _| {
                count += 1;
                if count >= 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert_eq!(count, begun.into_inner(), "what was computed is handed over");
        assert!(count < 1000, "{count}");
    }
}
