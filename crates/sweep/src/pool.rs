//! Threads, each taking the next case that nobody has.
//!
//! What comes out is handed to one taker as it comes, in any order; a bound on what waits for it
//! keeps memory flat.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Results that may wait to be taken, for each thread.
const WAITING: usize = 16;

/// Computes all of `cases` on so many threads, each with a worker of its own. The taker may break:
/// then what has begun is finished and handed over, and nothing more is begun.
pub fn run<W, T: Send>(
    cases: &[u64],
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, u64) -> T + Sync,
    mut take: impl FnMut(u64, T) -> ControlFlow<()>,
) {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let threads = threads.clamp(1, cases.len().max(1));
    let (sender, receiver) = mpsc::sync_channel(WAITING * threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            let (next, is_over, worker, work) = (&next, &is_over, &worker, &work);
            scope.spawn(move || {
                let mut own = worker();
                while !is_over.load(Ordering::Relaxed) {
                    let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        return;
                    };
                    // The receiver lives as long as there are senders.
                    let _ = sender.send((case, work(&mut own, case)));
                }
            });
        }
        drop(sender);
        for (case, result) in &receiver {
            if take(case, result).is_break() {
                is_over.store(true, Ordering::Relaxed);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_computed_once() {
        for threads in [1, 2, 7] {
            let cases: Vec<u64> = (0..1000).filter(|k| k % 3 != 0).collect();
            let mut seen = Vec::new();
            run(
                &cases,
                threads,
                || 0u64,
                |_, case| case * case,
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
        let work = |(): &mut (), _: u64| begun.fetch_add(1, Ordering::Relaxed);
        run(
            &cases,
            4,
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
