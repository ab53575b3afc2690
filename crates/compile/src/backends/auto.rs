//! Interpreted at first, machine code when it pays: what is called a few times is not worth
//! compiling, and nobody knows ahead how often something will be called.
//!
//! Code costs as much as about a hundred interpreted calls and then gains most of each. It is made
//! after [`CALLS`] calls, which are a step or two of a motion: later is too late, as nothing is
//! allocated in the steps that follow, and what is called that often is mostly called on. Against
//! what the tape itself took to be made it is little. Tapes that are shorter than [`SHORTEST`] gain
//! less than the memory for code costs. All backends give the same bits, and nobody can tell when
//! the change came.

use super::{Backend, Function, Scratch, bulk, interpreter, machine};
use crate::tape::Tape;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Calls before code is made.
pub const CALLS: u32 = 24;
/// Tapes with fewer instructions are interpreted.
pub const SHORTEST: usize = 4;

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
        if let Some(loops) = bulk::if_it_pays(&tape) {
            return Box::new(loops);
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
    second: OnceLock<Option<machine::Assembled>>,
}

struct Either(Arc<Both>);

/// What changes in a call.
#[derive(Clone)]
struct Work {
    /// Whose work it is.
    of: Arc<Both>,
    constants: Vec<f64>,
    first: Scratch,
    second: Option<machine::Work>,
}

impl Both {
    /// The machine code, once it is worth it.
    fn code(&self, calls: u32) -> Option<&machine::Assembled> {
        if let Some(made) = self.second.get() {
            return made.as_ref();
        }
        // Another thread may be counting too; what is lost is a call.
        let before = self.calls.load(Ordering::Relaxed);
        let now = before.saturating_add(calls);
        self.calls.store(now, Ordering::Relaxed);
        if now < CALLS {
            return None;
        }
        self.second.get_or_init(|| machine::assembled(self.tape.clone()).ok()).as_ref()
    }

    /// The machine code with room for its calls, once it is worth it.
    fn ready<'a>(
        &'a self,
        constants: &[f64],
        room: &'a mut Option<machine::Work>,
        calls: u32,
    ) -> Option<(&'a machine::Assembled, &'a mut machine::Work)> {
        let code = self.code(calls)?;
        let room = room.get_or_insert_with(|| {
            let mut own = code.room();
            code.prepare_in(&mut own, constants);
            own
        });
        Some((code, room))
    }
}

impl Either {
    fn work<'a>(&self, scratch: &'a mut Scratch) -> Option<&'a mut Work> {
        scratch.get().filter(|work: &&mut Work| Arc::ptr_eq(&work.of, &self.0))
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
            code.prepare_in(second, constants);
        }
    }

    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        match self.0.ready(&work.constants, &mut work.second, 1) {
            Some((code, room)) => code.call_in(room, x, y),
            None => self.0.first.call(&mut work.first, x, y),
        }
    }

    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        let calls = lanes.try_into().unwrap_or(u32::MAX);
        match self.0.ready(&work.constants, &mut work.second, calls) {
            Some((code, room)) => code.call_many_in(room, lanes, x, y),
            None => self.0.first.call_many(&mut work.first, lanes, x, y),
        }
    }
}
