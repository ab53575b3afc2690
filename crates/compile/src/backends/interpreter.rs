//! The interpreter: loops over instructions of one kind. Slow by the standard of machine code and
//! everywhere available; the reference for other backends.
//!
//! One run ([`Program`]) serves single calls and lanes.

use super::{Backend, Function, Scratch};
use crate::lanes::Lanes;
use crate::program::{Part, Program, Room};
use crate::tape::Tape;
use dalembert_machine::{Wide, wide};

/// Sets of variables computed side by side.
pub const LANES: usize = 8;

/// The interpreter.
pub struct Interpreter;

/// The member of the list.
pub static BACKEND: Interpreter = Interpreter;

impl Backend for Interpreter {
    fn name(&self) -> &'static str {
        "interpreter"
    }

    fn compile(&self, tape: Tape) -> Box<dyn Function> {
        Box::new(Interpreted { program: Program::new(&tape) })
    }
}

struct Interpreted {
    program: Program,
}

/// What changes in a call.
#[derive(Clone)]
struct Work {
    single: Room<Lanes<1>>,
    constants: Vec<[f64; 1]>,
    /// Made when lanes are first asked for.
    wide: Option<Room<Lanes<LANES>>>,
    /// Whether the lanes know the constants.
    is_wide_prepared: bool,
}

impl Interpreted {
    /// What this function keeps; none in what another one made.
    fn work<'a>(&self, scratch: &'a mut Scratch) -> Option<&'a mut Work> {
        scratch.get().filter(|work: &&mut Work| self.program.fits(&work.single))
    }
}

impl Function for Interpreted {
    fn constants(&self) -> usize {
        self.program.constants()
    }

    fn variables(&self) -> usize {
        self.program.variables()
    }

    fn outputs(&self) -> usize {
        self.program.outputs()
    }

    fn scratch(&self) -> Scratch {
        Scratch::new(Work {
            single: self.program.room(&Lanes),
            constants: vec![[0.0]; self.program.constants()],
            wide: None,
            is_wide_prepared: false,
        })
    }

    fn prepare(&self, scratch: &mut Scratch, constants: &[f64]) {
        if self.work(scratch).is_none() {
            *scratch = self.scratch();
        }
        let Some(work) = self.work(scratch) else { return };
        work.constants.iter_mut().zip(constants).for_each(|(place, &c)| *place = [c]);
        work.is_wide_prepared = false;
        self.program.constants_in(&mut work.single).copy_from_slice(&work.constants);
        run(&self.program, &mut work.single, Part::Prologue);
    }

    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        let places = self.program.variables_in(&mut work.single).as_flattened_mut();
        let given = places.len().min(x.len());
        places[..given].copy_from_slice(&x[..given]);
        // What another value left in the place of one that is not given must not be read.
        places[given..].fill(f64::NAN);
        run(&self.program, &mut work.single, Part::Body);
        let results = self.program.results(&work.single);
        y.iter_mut().zip(results).for_each(|(place, value)| *place = value[0]);
    }

    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        let program = &self.program;
        let wide = work.wide.get_or_insert_with(|| program.room(&Lanes));
        if !work.is_wide_prepared {
            let places = program.constants_in(wide).iter_mut();
            places.zip(&work.constants).for_each(|(place, &[c])| *place = [c; LANES]);
            run(program, wide, Part::Prologue);
            work.is_wide_prepared = true;
        }
        for start in (0..lanes).step_by(LANES) {
            let width = LANES.min(lanes - start);
            for (place, all) in program.variables_in(wide).iter_mut().zip(x.chunks_exact(lanes)) {
                // Lanes that are not asked for repeat the last one.
                *place = [all[start + width - 1]; LANES];
                place[..width].copy_from_slice(&all[start..start + width]);
            }
            run(program, wide, Part::Body);
            for (to, value) in y.chunks_exact_mut(lanes).zip(program.results(wide)) {
                to[start..start + width].copy_from_slice(&value[..width]);
            }
        }
    }
}

fn run<const N: usize>(program: &Program, room: &mut Room<Lanes<N>>, part: Part) {
    // A product and a sum with one rounding are one instruction of most processors, but not of all
    // for which a program is usually compiled; without it they are a call that gives the same bits.
    wide(Run { program, room, part });
}

struct Run<'a, const N: usize> {
    program: &'a Program,
    room: &'a mut Room<Lanes<N>>,
    part: Part,
}

impl<const N: usize> Wide for Run<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.program.run(&Lanes, self.room, self.part);
    }
}
