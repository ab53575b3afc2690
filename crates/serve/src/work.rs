//! The thread that makes pages: when the source changes, and when values are asked for.

use crate::PAUSE;
use crate::desk::{Desk, Sheet};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What a page is made of.
pub trait Source: Send + 'static {
    /// A number that is another one when what is read is.
    fn stamp(&self) -> u64;

    /// Makes the page, with values by name that take the place of the model's own. Long work asks
    /// `stop` now and then, and ends early if it says so.
    fn make(&self, values: &[(String, f64)], stop: &dyn Fn() -> bool) -> Made;
}

/// What came of it.
pub enum Made {
    /// A page.
    Page {
        /// The whole of it.
        html: String,
        /// Its data alone, as JSON.
        data: String,
        /// The values that may be asked for.
        names: Vec<String>,
        /// What is worth saying beside it; mostly nothing.
        trouble: String,
    },
    /// Why there is none, as text; the last one goes on being served.
    Fault(String),
    /// It was asked to stop.
    Stopped,
}

/// Longer than it takes to write a file.
const SETTLE: Duration = Duration::from_millis(50);

pub(crate) fn work(source: &impl Source, desk: &Desk) {
    let mut done: Option<(u64, u64)> = None;
    while !desk.is_over() {
        let stamp = settled(source);
        if done.is_some_and(|(before, _)| before != stamp) {
            desk.forget();
        }
        let (number, values) = desk.order();
        if done == Some((stamp, number)) {
            desk.wait(number, PAUSE);
            continue;
        }
        desk.say_running();
        let values: Vec<(String, f64)> = values.into_iter().collect();
        let looked = Cell::new(Instant::now());
        let stop = || {
            if desk.is_outdated(number) {
                return true;
            }
            if looked.get().elapsed() < PAUSE {
                return false;
            }
            looked.set(Instant::now());
            source.stamp() != stamp
        };
        // A panic is a bug of ours, told on the terminal; the page says that there was one, and
        // the next save is tried as ever.
        let made = catch_unwind(AssertUnwindSafe(|| source.make(&values, &stop)));
        let bug = || Made::Fault("a bug of the program; the terminal has its words".to_owned());
        match made.unwrap_or_else(|_| bug()) {
            Made::Page { html, data, names, trouble } => {
                let sheet = Sheet { html: html.into(), data: data.into(), names };
                desk.publish(sheet, trouble);
            }
            Made::Fault(words) => desk.complain(words),
            Made::Stopped => continue, // Something newer waits.
        }
        done = Some((stamp, number));
    }
}

/// The stamp once it stays the same for a moment: programs write files in pieces.
fn settled(source: &impl Source) -> u64 {
    let mut stamp = source.stamp();
    loop {
        std::thread::sleep(SETTLE);
        let next = source.stamp();
        if next == stamp {
            return stamp;
        }
        stamp = next;
    }
}
