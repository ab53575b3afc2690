//! Executable memory: pages are mapped, written, and then made executable; they are never both
//! writable and executable. Unmapped when dropped.

use std::fmt;

/// Why there is no executable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This crate knows no convention for this processor or system.
    Unsupported,
    /// An entry lies outside of the code.
    Entry,
    /// The system maps no pages: its error number.
    Map(i32),
    /// The system does not let pages that were written be executed: its error number.
    Protect(i32),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Unsupported => write!(f, "no machine code for this processor or system"),
            Refused::Entry => write!(f, "an entry outside of the code"),
            Refused::Map(error) => write!(f, "no pages were mapped (error {error})"),
            Refused::Protect(error) => write!(f, "pages cannot be executed (error {error})"),
        }
    }
}

impl std::error::Error for Refused {}

/// Whether code can be made for this processor and system at all.
const IS_SUPPORTED: bool = cfg!(all(unix, target_arch = "x86_64", target_pointer_width = "64"));

/// Pages are written at once, so they are asked for with their memory where that can be said.
#[cfg(target_os = "linux")]
const PRESENT: libc::c_int = libc::MAP_POPULATE;
#[cfg(all(unix, not(target_os = "linux")))]
const PRESENT: libc::c_int = 0;

/// Pages that can be read and executed.
#[derive(Debug)]
pub(crate) struct Memory {
    start: *const u8,
    #[cfg_attr(not(unix), allow(dead_code))]
    length: usize,
}

#[allow(unsafe_code)]
// SAFETY: after `new` the pages are only read and executed; whichever thread drops them owns them.
unsafe impl Send for Memory {}
#[allow(unsafe_code)]
// SAFETY: as above; reading and executing may be done by any number of threads.
unsafe impl Sync for Memory {}

impl Memory {
    /// The first byte.
    pub(crate) fn start(&self) -> *const u8 {
        self.start
    }

    /// Executable pages with these bytes.
    #[cfg(unix)]
    #[allow(unsafe_code)]
    pub(crate) fn new(bytes: &[u8]) -> Result<Memory, Refused> {
        let length = bytes.len();
        if !IS_SUPPORTED || length == 0 {
            return Err(Refused::Unsupported);
        }
        let error = || std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON | PRESENT);
        // SAFETY: new pages are asked for, at no address in particular and of no file; nothing
        // that exists is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Refused::Map(error()));
        }
        // From here on the pages are unmapped when this is dropped, also on failure.
        let memory = Memory { start: start.cast(), length };
        // SAFETY: `length` bytes were mapped for writing at `start`, and nobody else knows them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.cast(), length) };
        // SAFETY: the pages are those mapped above; from now on they are only read and executed.
        let done = unsafe { libc::mprotect(start, length, libc::PROT_READ | libc::PROT_EXEC) };
        if done == 0 { Ok(memory) } else { Err(Refused::Protect(error())) }
    }

    /// No pages: there is no convention for this system.
    #[cfg(not(unix))]
    pub(crate) fn new(_: &[u8]) -> Result<Memory, Refused> {
        debug_assert!(!IS_SUPPORTED);
        Err(Refused::Unsupported)
    }
}

#[cfg(unix)]
impl Drop for Memory {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the pages were mapped by `new` with this length, and are called only through
        // a borrow of their owner, which is gone.
        unsafe { libc::munmap(self.start.cast_mut().cast(), self.length) };
    }
}
