//! A file whose end is written over when it grows.

use super::Output;
use std::io::{self, SeekFrom};

/// What stays, and behind it what makes the file readable for now.
pub(super) struct Patched {
    out: Box<dyn Output>,
    kept: u64,
    buffer: Vec<u8>,
}

impl Patched {
    pub(super) fn new(out: Box<dyn Output>) -> Patched {
        Patched { out, kept: 0, buffer: Vec::new() }
    }

    /// How many bytes stay.
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }

    /// Appends what stays and what closes the file, over what closed it before.
    ///
    /// Both are handed over in one piece: a process that is killed leaves the file
    /// as it was before or after, but for the moment of the call itself. The file
    /// must not become shorter by it.
    pub(super) fn write(&mut self, stays: &[u8], closes: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.extend_from_slice(stays);
        self.buffer.extend_from_slice(closes);
        self.out.seek(SeekFrom::Start(self.kept))?;
        self.out.write_all(&self.buffer)?;
        self.out.flush()?;
        self.kept += stays.len() as u64;
        Ok(())
    }
}
