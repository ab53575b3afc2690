//! Ctrl-C, and the signal by which a system asks a process to end.
//!
//! Where work can be left in a good state, it is guarded: the first Ctrl-C asks it to
//! stop, the second ends the program at once. Elsewhere (nothing is lost by it) the
//! first one ends the program, with a word and the status a shell expects.

use crate::progress;
use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

const NOTHING_YET: u8 = 0;
const RUNNING: u8 = 1;
const ASKED: u8 = 2;

/// What a shell reports for a program that Ctrl-C ended.
const BY_SIGNAL: i32 = 130;

/// Whether the user asked to stop.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Listens from the first call on; there is one for the whole program.
    pub fn listen() -> Interrupt {
        static ONE: OnceLock<Interrupt> = OnceLock::new();
        ONE.get_or_init(|| {
            let state = Arc::new(AtomicU8::new(NOTHING_YET));
            let seen = state.clone();
            // Without a handler Ctrl-C ends the program too, which is no reason to fail.
            let _ = ctrlc::set_handler(move || {
                if seen.swap(ASKED, Ordering::SeqCst) != RUNNING {
                    let _line = progress::pause();
                    let _ = writeln!(std::io::stderr(), "interrupted");
                    std::process::exit(BY_SIGNAL);
                }
            });
            Interrupt(state)
        })
        .clone()
    }

    /// There is something to keep now.
    pub fn guard(&self) {
        let _ = self.0.compare_exchange(NOTHING_YET, RUNNING, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Nothing is left to keep: from here on Ctrl-C ends the program.
    pub fn release(&self) {
        let _ = self.0.compare_exchange(RUNNING, NOTHING_YET, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ASKED
    }
}
