//! Ctrl-C, and the signal by which a system asks a process to end.
//!
//! The first one ends a run at its next step, with its files whole; the second one
//! ends the program at once. Before there is anything to keep, the first one does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const NOTHING_YET: u8 = 0;
const RUNNING: u8 = 1;
const ASKED: u8 = 2;

/// What a shell reports for a program that Ctrl-C ended.
const BY_SIGNAL: i32 = 130;

/// Whether the user asked to stop.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Listens from here on.
    pub fn listen() -> Interrupt {
        let state = Arc::new(AtomicU8::new(NOTHING_YET));
        let seen = state.clone();
        // Without a handler Ctrl-C ends the program, which is no reason to fail.
        let _ = ctrlc::set_handler(move || {
            if seen.swap(ASKED, Ordering::SeqCst) != RUNNING {
                std::process::exit(BY_SIGNAL);
            }
        });
        Interrupt(state)
    }

    /// There is something to keep now.
    pub fn guard(&self) {
        let _ = self.0.compare_exchange(NOTHING_YET, RUNNING, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ASKED
    }
}
