//! Interpreted at first, machine code when it pays: what is called a few times is not worth
//! compiling, and nobody knows ahead how often something will be called.
//!
//! Code costs as much as about a hundred interpreted calls and then gains most of each. It is made
//! after [`CALLS`] calls, which are a step or two of a motion: later is too late, as nothing is
//! allocated in the steps that follow, and what is called that often is mostly called on. Against
//! what the tape itself took to be made it is little. Tapes that are shorter than [`SHORTEST`] gain
//! less than the memory for code costs. All backends give the same bits, and nobody can tell when
//! the change came.

use super::{Backend, Function, Scratch, interpreter, machine};
use crate::tape::Tape;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Calls before code is made.
pub const CALLS: u32 = 24;
/// Tapes with fewer instructions are interpreted.
pub const SHORTEST: usize = 16;

/// The interpreter first, then machine code.
pub struct Auto;

/// The member of the list.
pub static BACKEND: Auto = Auto;

impl Backend for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn compile(&self, tape: Tape) -> Box<dyn Function> {
        if tape.instructions.len() < SHORTEST {
            return interpreter::BACKEND.compile(tape);
        }
        let first = interpreter::BACKEND.compile(tape.clone());
        let calls = AtomicU32::new(0);
        Box::new(Either(Arc::new(Both { tape, first, calls, second: OnceLock::new() })))
    }
}

struct Both {
    tape: Tape,
    first: Box<dyn Function>,
    calls: AtomicU32,
    /// Machine code; none where there cannot be any.
    second: OnceLock<Option<Box<dyn Function>>>,
}

struct Either(Arc<Both>);

/// What changes in a call.
#[derive(Clone)]
struct Work {
    /// Whose work it is.
    of: Arc<Both>,
    constants: Vec<f64>,
    first: Scratch,
    second: Option<Scratch>,
}

impl Both {
    /// The machine code, once it is worth it.
    fn code(&self, calls: u32) -> Option<&dyn Function> {
        if let Some(made) = self.second.get() {
            return made.as_deref();
        }
        // Another thread may be counting too; what is lost is a call.
        let before = self.calls.load(Ordering::Relaxed);
        let now = before.saturating_add(calls);
        self.calls.store(now, Ordering::Relaxed);
        if now < CALLS {
            return None;
        }
        self.second.get_or_init(|| machine::assemble(self.tape.clone()).ok()).as_deref()
    }
}

impl Either {
    fn work<'a>(&self, scratch: &'a mut Scratch) -> Option<&'a mut Work> {
        scratch.get().filter(|work: &&mut Work| Arc::ptr_eq(&work.of, &self.0))
    }

    /// Whichever is to be called, with its scratch.
    fn choose<'a>(
        &'a self,
        scratch: &'a mut Scratch,
        calls: u32,
    ) -> Option<(&'a dyn Function, &'a mut Scratch)> {
        let work = self.work(scratch)?;
        let Some(code) = self.0.code(calls) else {
            return Some((self.0.first.as_ref(), &mut work.first));
        };
        let Work { constants, second, .. } = work;
        let second = second.get_or_insert_with(|| {
            let mut own = code.scratch();
            code.prepare(&mut own, constants);
            own
        });
        Some((code, second))
    }
}

impl Function for Either {
    fn constants(&self) -> usize {
        self.0.first.constants()
    }

    fn variables(&self) -> usize {
        self.0.first.variables()
    }

    fn outputs(&self) -> usize {
        self.0.first.outputs()
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(Work {
            of: Arc::clone(&self.0),
            constants: vec![0.0; self.constants()],
            first: self.0.first.scratch(),
            second: None,
        })
    }

    fn prepare(&self, scratch: &mut Scratch, constants: &[f64]) {
        if self.work(scratch).is_none() {
            *scratch = self.scratch();
        }
        let Some(work) = self.work(scratch) else { return };
        work.constants.iter_mut().zip(constants).for_each(|(own, given)| *own = *given);
        self.0.first.prepare(&mut work.first, constants);
        if let (Some(second), Some(Some(code))) = (&mut work.second, self.0.second.get()) {
            code.prepare(second, constants);
        }
    }

    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        match self.choose(scratch, 1) {
            Some((function, scratch)) => function.call(scratch, x, y),
            None => y.fill(f64::NAN),
        }
    }

    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]) {
        match self.choose(scratch, lanes.try_into().unwrap_or(u32::MAX)) {
            Some((function, scratch)) => function.call_many(scratch, lanes, x, y),
            None => y.fill(f64::NAN),
        }
    }
}
