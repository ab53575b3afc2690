//! Threads, each taking the next cases that nobody has.
//!
//! What comes out is handed to one taker as it comes, in any order; a bound on what waits for it
//! keeps memory flat.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Cases that a thread takes at first, and where they take long: what is begun and not handed over
/// is lost with its process.
const FEW: usize = 8;
/// More are taken while they take less than this.
const LITTLE: Duration = Duration::from_millis(50);

/// Results that may wait to be taken, for each thread.
const WAITING: usize = 16;

/// Numbers of cases that rise, told by the stretches of them without a gap: there may be more of
/// them than there is memory for.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Each stretch, and how many numbers are before it.
    stretches: Vec<(u64, Range<u64>)>,
    count: u64,
}

impl Numbers {
    /// Adds numbers above all that there are.
    pub fn add(&mut self, more: Range<u64>) {
        if more.is_empty() {
            return;
        }
        let before = self.count;
        self.count += more.end - more.start;
        match self.stretches.last_mut().filter(|last| last.1.end == more.start) {
            Some(last) => last.1.end = more.end,
            None => self.stretches.push((before, more)),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Up to so many of them, from a place on.
    pub fn some(&self, first: u64, most: u64) -> impl Iterator<Item = u64> {
        let from = self
            .stretches
            .partition_point(|(before, range)| before + (range.end - range.start) <= first);
        let rest = self.stretches[from..].iter().flat_map(move |(before, range)| {
            range.start + first.saturating_sub(*before)..range.end
        });
        rest.take(usize::try_from(most).unwrap_or(usize::MAX))
    }
}

impl FromIterator<u64> for Numbers {
    fn from_iter<I: IntoIterator<Item = u64>>(all: I) -> Numbers {
        let mut numbers = Numbers::default();
        all.into_iter().for_each(|number| numbers.add(number..number + 1));
        numbers
    }
}

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
    cases: &Numbers,
    crew: Crew,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &[u64]) -> Vec<T> + Sync,
    mut take: impl FnMut(u64, T) -> ControlFlow<()>,
) {
    let (next, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let count = usize::try_from(cases.count()).unwrap_or(usize::MAX);
    let threads = crew.threads.clamp(1, count.max(1));
    let at_once = crew.at_once.clamp(1, count.div_ceil(threads).max(1));
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
                    let clock = Instant::now();
                    let first = next.fetch_add(share as u64, Ordering::Relaxed);
                    let taken: Vec<u64> = cases.some(first, share as u64).collect();
                    if taken.is_empty() {
                        return;
                    }
                    let results = work(&mut own, &taken);
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
            for (case, result) in taken.into_iter().zip(results) {
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
                &cases.iter().copied().collect(),
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
        let mut cases = Numbers::default();
        cases.add(0..1 << 50);
        let begun = AtomicU64::new(0);
        let mut count = 0;
        let work = |(): &mut (), cases: &[u64]| {
            begun.fetch_add(cases.len() as u64, Ordering::Relaxed);
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
    #[test]
    fn numbers_are_in_their_stretches() {
        let mut numbers = Numbers::default();
        [0..3, 3..3, 3..5, 9..10, 10..12, 20..21].into_iter().for_each(|more| numbers.add(more));
        let all = [0, 1, 2, 3, 4, 9, 10, 11, 20];
        assert_eq!((numbers.count(), numbers.stretches.len()), (9, 3));
        for first in 0..12 {
            for most in 0..12 {
                let some: Vec<u64> = numbers.some(first, most).collect();
                let right: Vec<u64> =
                    all.iter().copied().skip(first as usize).take(most as usize).collect();
                assert_eq!(some, right, "{first} {most}");
            }
        }
    }
}
