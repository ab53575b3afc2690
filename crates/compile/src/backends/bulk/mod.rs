//! Large tapes that do the same to many neighbors, as loops over these.
//!
//! A system of a thousand equal links has a tape of a thousand equal stretches. As code it is longer
//! than what a processor keeps near; as loops it is a few dozen, four doubles at a time. `runs` finds
//! them, `loops` are what they do. Each register has a place of its own, so that a loop writes behind
//! everything that it reads.
//!
//! It applies to tapes without linear solves; all others, and those whose instructions are mostly in
//! no run, are for [`machine`]. Results are those of the interpreter, to the bit.

mod loops;
mod runs;

use super::interpreter::fastest;
use super::{Backend, Function, Scratch, machine};
use crate::tape::Tape;
use loops::Sweep;
use runs::{Runs, Stage};
use std::sync::Arc;

/// The part of the instructions that are in runs at least.
const MOST: f64 = 0.75;
/// Code for shorter tapes stays near.
const LONG: usize = 1000;

/// Loops over neighbors.
pub struct Bulk;

/// The member of the list.
pub static BACKEND: Bulk = Bulk;

impl Backend for Bulk {
    fn name(&self) -> &'static str {
        "bulk"
    }

    fn compile(&self, tape: Tape) -> Box<dyn Function> {
        match Staged::new(&tape, tape.variables, 0) {
            Some(function) => Box::new(function),
            None => machine::BACKEND.compile(tape),
        }
    }
}

/// The loops of a tape, if they pay.
pub(super) fn if_it_pays(tape: &Tape) -> Option<Staged> {
    if tape.instructions.len() < LONG {
        return None;
    }
    let staged = Staged::new(tape, tape.variables, 0)?;
    staged.pays().then_some(staged)
}

/// A copy of neighbors, or of one number, to outputs.
#[derive(Clone, Copy, Debug)]
struct Copies {
    to: usize,
    length: usize,
    from: usize,
    moves: bool,
}

#[derive(Debug)]
struct Plan {
    tape: Tape,
    runs: Runs,
    /// Where the stages begin among the runs.
    first: usize,
    rest: usize,
    variables: usize,
    outputs: [Vec<Copies>; 2],
    early: usize,
}

/// A tape in two stages: what can be computed from the first variables, and then from all.
#[derive(Clone, Debug)]
pub struct Staged(Arc<Plan>);

/// What changes in a call.
#[derive(Clone)]
struct Work {
    of: Arc<Plan>,
    registers: Vec<f64>,
}

impl Staged {
    /// A tape whose first variables are known at first, when the first `early` outputs are wanted.
    /// None if it has linear solves, or these outputs need the others.
    pub fn new(tape: &Tape, variables: usize, early: usize) -> Option<Staged> {
        let variables = variables.min(tape.variables);
        let runs = Runs::new(tape, variables)?;
        let begin = |stage: Stage| runs.list.partition_point(|run| run.stage < stage);
        let (first, rest) = (begin(Stage::First), begin(Stage::Rest));
        let ready = runs.list.get(rest).map_or(tape.registers(), |run| run.into);
        let late = tape.first_variable() + variables..tape.first_instruction();
        let place = |&r: &u32| runs.of.get(r as usize).map(|&place| place as usize);
        let places: Vec<usize> = tape.outputs.iter().map(place).collect::<Option<_>>()?;
        let (before, after) = places.split_at(early.min(places.len()));
        if before.iter().any(|place| *place >= ready || late.contains(place)) {
            return None;
        }
        let outputs = [copies(before), copies(after)];
        let early = before.len();
        Some(Staged(Arc::new(Plan {
            tape: tape.clone(),
            runs,
            first,
            rest,
            variables,
            outputs,
            early,
        })))
    }

    /// Whether most of it is runs.
    pub fn pays(&self) -> bool {
        let Plan { tape, runs, .. } = &*self.0;
        runs.stepping as f64 >= MOST * tape.instructions.len() as f64
    }

    fn work<'a>(&self, scratch: &'a mut Scratch) -> Option<&'a mut Work> {
        scratch.get().filter(|work: &&mut Work| Arc::ptr_eq(&work.of, &self.0))
    }

    /// Computes the first outputs from the first variables.
    pub fn begin(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        let plan = &*self.0;
        let at = plan.tape.first_variable();
        fill(&mut work.registers[at..at + plan.variables], x);
        plan.sweep(plan.first..plan.rest, &mut work.registers);
        write(&plan.outputs[0], &work.registers, y);
    }

    /// Computes the other outputs from the other variables.
    pub fn finish(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        let plan = &*self.0;
        let at = plan.tape.first_variable() + plan.variables;
        fill(&mut work.registers[at..plan.tape.first_instruction()], x);
        plan.sweep(plan.rest..plan.runs.list.len(), &mut work.registers);
        write(&plan.outputs[1], &work.registers, y);
    }
}

impl Plan {
    fn sweep(&self, runs: std::ops::Range<usize>, registers: &mut [f64]) {
        fastest(Sweep { runs: &self.runs.list[runs], places: &self.runs.places, registers });
    }
}

impl Function for Staged {
    fn constants(&self) -> usize {
        self.0.tape.constants
    }

    fn variables(&self) -> usize {
        self.0.tape.variables
    }

    fn outputs(&self) -> usize {
        self.0.tape.outputs.len()
    }

    fn scratch(&self) -> Scratch {
        let mut registers = vec![0.0; self.0.tape.registers()];
        registers[..self.0.tape.numbers.len()].copy_from_slice(&self.0.tape.numbers);
        Scratch::new(Work { of: self.0.clone(), registers })
    }

    fn prepare(&self, scratch: &mut Scratch, constants: &[f64]) {
        if self.work(scratch).is_none() {
            *scratch = self.scratch();
        }
        let Some(work) = self.work(scratch) else { return };
        let plan = &*self.0;
        let places = &mut work.registers[plan.tape.first_constant()..plan.tape.first_variable()];
        places.iter_mut().zip(constants).for_each(|(place, &constant)| *place = constant);
        plan.sweep(0..plan.first, &mut work.registers);
    }

    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        let (x, more) = x.split_at(self.0.variables.min(x.len()));
        let (y, others) = y.split_at_mut(self.0.early.min(y.len()));
        self.begin(scratch, x, y);
        self.finish(scratch, more, others);
    }

    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]) {
        let mut own = vec![0.0; self.variables()];
        let mut found = vec![0.0; self.outputs()];
        for lane in 0..lanes {
            own.fill(f64::NAN);
            own.iter_mut().zip(x.chunks_exact(lanes)).for_each(|(own, all)| *own = all[lane]);
            self.call(scratch, &own, &mut found);
            y.chunks_exact_mut(lanes).zip(&found).for_each(|(to, &value)| to[lane] = value);
        }
    }
}

/// Takes what is given; what is not is NaN.
fn fill(own: &mut [f64], x: &[f64]) {
    let given = own.len().min(x.len());
    own[..given].copy_from_slice(&x[..given]);
    own[given..].fill(f64::NAN);
}

/// Outputs as copies of neighbors.
fn copies(places: &[usize]) -> Vec<Copies> {
    let mut list: Vec<Copies> = Vec::new();
    for (to, &from) in places.iter().enumerate() {
        match list.last_mut() {
            Some(last) if last.moves && from == last.from + last.length => last.length += 1,
            Some(last) if !last.moves && from == last.from => last.length += 1,
            Some(last) if last.length == 1 && from == last.from => {
                (last.length, last.moves) = (2, false);
            }
            _ => list.push(Copies { to, length: 1, from, moves: true }),
        }
    }
    list
}

/// Writes them; lists that are shorter get what they have room for.
fn write(copies: &[Copies], registers: &[f64], y: &mut [f64]) {
    for &Copies { to, length, from, moves } in copies {
        let Some(own) = y.get_mut(to..) else { return };
        let length = length.min(own.len());
        match (moves, length) {
            (true, 1) => own[0] = registers[from],
            (true, _) => own[..length].copy_from_slice(&registers[from..from + length]),
            (false, _) => own[..length].fill(registers[from]),
        }
    }
}
