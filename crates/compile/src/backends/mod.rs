//! Backends, one file or folder each: a tape in, a function out. All compute the same, to the
//! bit, so that a faster one can replace another.

use crate::tape::Tape;
use std::any::Any;

pub mod auto;
pub mod bulk;
pub mod interpreter;
pub mod machine;

/// Something that turns tapes into functions.
pub trait Backend: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Compiles a tape.
    fn compile(&self, tape: Tape) -> Box<dyn Function>;
}

/// A compiled computation. It can be shared between threads; what changes in a call
/// lives in a [`Scratch`].
pub trait Function: Send + Sync {
    /// How many constants it takes.
    fn constants(&self) -> usize;

    /// How many variables it takes.
    fn variables(&self) -> usize;

    /// How many numbers it yields.
    fn outputs(&self) -> usize;

    /// Room for one thread's calls.
    fn scratch(&self) -> Scratch;

    /// Sets the constants and computes what depends on them only. Comes before the
    /// first call. A scratch of another function is replaced.
    fn prepare(&self, scratch: &mut Scratch, constants: &[f64]);

    /// Computes the outputs `y` of the variables `x`. Allocates nothing. NaN with the
    /// scratch of another function.
    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]);

    /// Computes outputs for many sets of variables at once: `x` holds the first
    /// variable of every set, then the second, …, and `y` likewise. Each lane equals
    /// a [`call`](Function::call) to the bit.
    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]);
}

/// What one thread's calls of a function change: a type of the backend's own, of the size that
/// the function takes. The default one is of no function.
#[derive(Default)]
pub struct Scratch(Option<Kept>);

/// What a backend keeps, and how it is copied.
struct Kept {
    own: Box<dyn Any + Send + Sync>,
    copy: fn(&(dyn Any + Send + Sync)) -> Option<Kept>,
}

impl Kept {
    fn new<T: Any + Send + Sync + Clone>(own: T) -> Kept {
        Kept { own: Box::new(own), copy: |own| own.downcast_ref::<T>().cloned().map(Kept::new) }
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Scratch {
        Scratch(self.0.as_ref().and_then(|kept| (kept.copy)(&*kept.own)))
    }
}

impl Scratch {
    /// What a backend keeps.
    pub fn new<T: Any + Send + Sync + Clone>(own: T) -> Scratch {
        Scratch(Some(Kept::new(own)))
    }

    /// What the backend kept, if it is of that type.
    #[inline]
    pub fn get<T: Any>(&mut self) -> Option<&mut T> {
        self.0.as_mut().and_then(|kept| kept.own.downcast_mut())
    }
}

/// The explicit list. A backend is a module with a static `BACKEND`; the module line stays outside
/// the macro because rustfmt does not follow modules declared inside one.
macro_rules! backends {
    ($($member:ident),*) => {
        /// Every backend.
        pub static ALL: &[&dyn Backend] = &[$(&$member::BACKEND),*];
    };
}

backends! { interpreter, machine, bulk, auto }

/// The backend used unless another is named: interpreted at first, machine code when it pays.
pub static DEFAULT: &dyn Backend = &auto::BACKEND;

/// The backend with the given name.
pub fn by_name(name: &str) -> Option<&'static dyn Backend> {
    ALL.iter().copied().find(|backend| backend.name() == name)
}
