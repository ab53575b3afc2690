//! Where text goes: data to standard output, words for people to standard error.
//!
//! A reader that has seen enough closes its pipe, as `head` does, and that is no reason
//! to fail. Anything else that keeps text from being written (a full disk, say) is
//! remembered, said, and the program ends with a status other than 0.

use crate::progress;
use std::io::{ErrorKind, Result, Write};
use std::sync::Mutex;

/// The first thing that went wrong with a stream.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// A line for people.
pub(crate) fn say(text: &str) {
    let _line = progress::pause();
    remember("standard error", writeln!(std::io::stderr().lock(), "{text}"));
}

/// A line of data.
pub(crate) fn data(text: &str) {
    let _line = progress::pause();
    let mut stdout = std::io::stdout().lock();
    remember("standard output", writeln!(stdout, "{text}").and_then(|()| stdout.flush()));
}

/// Data as it is.
pub(crate) fn bytes(data: &[u8]) {
    let _line = progress::pause();
    let mut stdout = std::io::stdout().lock();
    remember("standard output", stdout.write_all(data).and_then(|()| stdout.flush()));
}

/// Notes whether writing to a stream failed.
pub(crate) fn remember(stream: &str, result: Result<()>) {
    if let Err(error) = result
        && error.kind() != ErrorKind::BrokenPipe
        && let Ok(mut lost) = LOST.lock()
    {
        lost.get_or_insert(format!("cannot write to {stream}: {error}"));
    }
}

/// What could not be written, if something could not.
pub(crate) fn lost() -> Option<String> {
    LOST.lock().ok().and_then(|lost| lost.clone())
}
