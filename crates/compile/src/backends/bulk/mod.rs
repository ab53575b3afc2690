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

use super::{Backend, Function, Scratch, machine};
use crate::tape::Tape;
use dalembert_machine::wide;
use loops::Sweep;
use runs::{Runs, Stage};
use std::sync::Arc;

/// The part of the instructions that are in runs at least.
const MOST: f64 = 0.75;
/// Code for shorter tapes stays near.
const LONG: usize = 1000;
/// A run is begun in the time in which code does so many instructions, or less.
const BEGUN: usize = 64;
/// Fewer outputs are copied one by one.
const SHORTEST: usize = 8;

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
    let most = tape.instructions.len() / BEGUN;
    Staged::within(tape, tape.variables, 0, most).filter(Staged::pays)
}

/// Copies to outputs that follow each other.
#[derive(Clone, Debug)]
enum Copies {
    /// Of neighbors.
    Many { to: usize, from: usize, length: usize },
    /// Of one number to all of them.
    One { to: usize, from: usize, length: usize },
    /// From anywhere.
    Each { to: usize, from: Vec<u32> },
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
        Staged::within(tape, variables, early, usize::MAX)
    }

    /// The same of so many runs at most.
    fn within(tape: &Tape, variables: usize, early: usize, most: usize) -> Option<Staged> {
        let variables = variables.min(tape.variables);
        let runs = Runs::new(tape, variables, most)?;
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

    /// Computes the first outputs from the first variables, which are given piece by piece.
    pub fn begin(&self, scratch: &mut Scratch, x: &[&[f64]], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        let plan = &*self.0;
        let at = plan.tape.first_variable();
        let mut own = &mut work.registers[at..at + plan.variables];
        for piece in x {
            let (here, rest) = own.split_at_mut(piece.len().min(own.len()));
            here.copy_from_slice(&piece[..here.len()]);
            own = rest;
        }
        own.fill(f64::NAN);
        plan.sweep(plan.first..plan.rest, &mut work.registers);
        write(&plan.outputs[0], &work.registers, y);
    }

    /// The first variables, as they were given last.
    pub fn given<'a>(&self, scratch: &'a mut Scratch) -> &'a [f64] {
        let at = self.0.tape.first_variable();
        self.work(scratch).map_or(&[], |work| &work.registers[at..at + self.0.variables])
    }

    /// Computes the other outputs from the other variables.
    pub fn finish(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        let Some(work) = self.work(scratch) else { return y.fill(f64::NAN) };
        let plan = &*self.0;
        let at = plan.tape.first_variable() + plan.variables;
        let own = &mut work.registers[at..plan.tape.first_instruction()];
        let given = own.len().min(x.len());
        own[..given].copy_from_slice(&x[..given]);
        own[given..].fill(f64::NAN);
        plan.sweep(plan.rest..plan.runs.list.len(), &mut work.registers);
        write(&plan.outputs[1], &work.registers, y);
    }
}

impl Plan {
    fn sweep(&self, runs: std::ops::Range<usize>, registers: &mut [f64]) {
        wide(Sweep { runs: &self.runs.list[runs], places: &self.runs.places, registers });
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
        self.begin(scratch, &[x], y);
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

/// Outputs as copies.
fn copies(places: &[usize]) -> Vec<Copies> {
    let mut list: Vec<Copies> = Vec::new();
    let mut to = 0;
    while let Some(&from) = places.get(to) {
        let left = &places[to..];
        let many = left.iter().enumerate().take_while(|(k, place)| **place == from + k).count();
        let one = left.iter().take_while(|place| **place == from).count();
        let length = many.max(one);
        match list.last_mut() {
            _ if many >= SHORTEST => list.push(Copies::Many { to, from, length }),
            _ if one >= SHORTEST => list.push(Copies::One { to, from, length }),
            Some(Copies::Each { from, .. }) => {
                from.extend(left[..length].iter().map(|&place| place as u32));
            }
            _ => {
                let from = left[..length].iter().map(|&place| place as u32).collect();
                list.push(Copies::Each { to, from });
            }
        }
        to += length;
    }
    list
}

/// Writes them; a list that is shorter gets what it has room for.
fn write(copies: &[Copies], registers: &[f64], y: &mut [f64]) {
    for copy in copies {
        let (Copies::Many { to, .. } | Copies::One { to, .. } | Copies::Each { to, .. }) = copy;
        let Some(own) = y.get_mut(*to..) else { return };
        match copy {
            Copies::Many { from, length, .. } => {
                let length = *length.min(&own.len());
                own[..length].copy_from_slice(&registers[*from..from + length]);
            }
            Copies::One { from, length, .. } => {
                let length = *length.min(&own.len());
                own[..length].fill(registers[*from]);
            }
            Copies::Each { from, .. } => {
                for (own, &place) in own.iter_mut().zip(from) {
                    *own = registers[place as usize];
                }
            }
        }
    }
}
