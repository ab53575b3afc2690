//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! Code that was made at run time, and how it is called. Bytes in, a call out; what the bytes
//! compute is not known here. This is the room of the unsafe code: what the compiler cannot see
//! about such bytes is said once, below, and whoever makes them keeps to it.
//!
//! **The convention.** Code is entered by the platform's convention for `extern "C"` with four
//! arguments: a [`State`], and the addresses of three lists of doubles, the frame, `x` and `y`. The
//! code reads and writes the frame, reads `x`, and writes and reads `y`, each only as far as its
//! [`Entry`] says; it may call `extern "C"` functions, of which those that take a `&mut State` get
//! the state that it was given itself; it returns, with the registers kept that the convention
//! wants kept. Nothing else.
//!
//! ```
//! use dalembert_machine::{Code, Entry};
//!
//! // y₀ = x₀
//! let bytes = [
//!     0x48, 0x8b, 0x02, // mov rax, [rdx]
//!     0x48, 0x89, 0x01, // mov [rcx], rax
//!     0xc3, // ret
//! ];
//! let entry = Entry { at: 0, frame: 0, x: 1, y: 1 };
//! // Refused on other processors, and where a system allows no code that is made at run time.
//! if let Ok(code) = Code::<()>::new(&bytes, &[entry]) {
//!     let mut y = [0.0];
//!     assert!(code.call(0, &mut (), &mut [], &[1.5], &mut y));
//!     assert_eq!(y, [1.5]);
//!     // Lists that are too short for the code are not given to it.
//!     assert!(!code.call(0, &mut (), &mut [], &[], &mut y));
//! }
//! ```

mod memory;
mod wide;

use memory::Memory;
use std::marker::PhantomData;

pub use memory::Refused;
pub use wide::{Wide, wide, widest};

/// The address of the platform's `sincos(x, &sin, &cos)`, an `extern "C"` function, where it has one: sin x
/// and cos x, to the bit what [`f64::sin_cos`] gives.
#[allow(unsafe_code)]
pub fn sin_cos() -> Option<usize> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the library that Rust's own library is linked with has it, declared so.
        unsafe extern "C" {
            fn sincos(x: f64, sin: *mut f64, cos: *mut f64);
        }
        Some(sincos as *const () as usize)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    None
}

/// What code hands on to functions that it calls: the three lists of doubles, and a context.
pub struct State<C> {
    frame: *mut f64,
    x: *const f64,
    y: *mut f64,
    context: *mut C,
    lengths: [usize; 3],
}

/// What a [`State`] points to.
pub struct Parts<'a, C> {
    /// The frame.
    pub frame: &'a mut [f64],
    /// What is read.
    pub x: &'a [f64],
    /// What is written.
    pub y: &'a mut [f64],
    /// The context of the call.
    pub context: &'a mut C,
}

impl<C> State<C> {
    /// The lists and the context, for a function that the code calls.
    #[allow(unsafe_code)]
    pub fn parts(&mut self) -> Parts<'_, C> {
        let [frame, x, y] = self.lengths;
        // SAFETY: a state is only made by `Code::call`, of borrows that outlive it and do not
        // overlap, and its fields are private. The code does not run while a function that it
        // calls does, so nothing else reaches the lists for as long as this state is borrowed.
        unsafe {
            Parts {
                frame: std::slice::from_raw_parts_mut(self.frame, frame),
                x: std::slice::from_raw_parts(self.x, x),
                y: std::slice::from_raw_parts_mut(self.y, y),
                context: &mut *self.context,
            }
        }
    }
}

/// A place at which code can be entered, and how many doubles it takes of each list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The place, in bytes from the start.
    pub at: usize,
    /// How long the frame must be.
    pub frame: usize,
    /// How long `x` must be.
    pub x: usize,
    /// How long `y` must be.
    pub y: usize,
}

/// Code, ready to be called, by any number of threads at once.
#[derive(Debug)]
pub struct Code<C> {
    memory: Memory,
    entries: Vec<Entry>,
    context: PhantomData<fn(&mut C)>,
}

impl<C> Code<C> {
    /// Makes bytes callable. They keep to the convention of this crate, with a context of this
    /// type; that is for the maker of the bytes to see to.
    pub fn new(bytes: &[u8], entries: &[Entry]) -> Result<Code<C>, Refused> {
        if entries.iter().any(|entry| entry.at >= bytes.len()) {
            return Err(Refused::Entry);
        }
        let memory = Memory::new(bytes)?;
        Ok(Code { memory, entries: entries.to_vec(), context: PhantomData })
    }

    /// Calls the code at an entry, by its number. False, and nothing is called, if there is no
    /// such entry or a list is shorter than it takes.
    #[inline]
    #[allow(unsafe_code)]
    pub fn call(
        &self,
        entry: usize,
        context: &mut C,
        frame: &mut [f64],
        x: &[f64],
        y: &mut [f64],
    ) -> bool {
        let Some(entry) = self.entries.get(entry) else { return false };
        if frame.len() < entry.frame || x.len() < entry.x || y.len() < entry.y {
            return false;
        }
        let mut state = State {
            frame: frame.as_mut_ptr(),
            x: x.as_ptr(),
            y: y.as_mut_ptr(),
            context,
            lengths: [frame.len(), x.len(), y.len()],
        };
        // SAFETY: the memory holds at least one byte at this place and is executable for as long
        // as `self` lives. The bytes keep to the convention, so that the code reaches only the
        // state and the lists, which are as long as it takes, and returns.
        unsafe {
            let code = self.memory.start().add(entry.at);
            let code: extern "C" fn(*mut State<C>, *mut f64, *const f64, *mut f64) =
                std::mem::transmute(code);
            code(&mut state, state.frame, state.x, state.y);
        }
        true
    }
}
