//! Series as machine code: the steps of a stage one after the other, for all stages.
//!
//! A stage is code in which only the sums of products are loops, over the orders. It is run for one
//! stage after the other: from outside, phase by phase, or, where a [`Closing`] says what is solved
//! in between, by itself, so that an expansion is one call. Where there is little of it every stage
//! has code of its own, without any loop. The operations are those of the interpreter in its
//! order, so the coefficients are the same to the bit.

use super::emit::{ALL, BESIDE, BESIDE_HERE, Emit, HERE, NEXT, STAGE, memory, register};
use super::node::{Jet, Last, Step};
use super::{Closing, Correction, Integral, Jets, LANES, Node, Phase, Series, Source};
use crate::backends::machine::encoder::{
    Address, Bits, Fused, Integers, Memory, Operand, Operation, When,
};
use crate::backends::machine::{BACKEND, is_available};
use crate::backends::{Backend, Function};
use crate::tape::{Register, Tape};
use dalembert_machine::{Code, Entry};

/// Up to so many instructions each stage has code of its own.
const UNROLLED: usize = 8000;
/// The longest list of unknowns, in fours, that is solved for in registers.
const WIDEST: usize = 12;

/// The machine code of series up to an order.
pub struct SeriesCode {
    code: Code<()>,
    /// All values at order 0.
    values: Box<dyn Function>,
    room: usize,
    /// How many stages there are, from 1 on.
    stages: usize,
    /// Where the number of the stage is said.
    stage: usize,
    phases: usize,
    /// Whether it is all stages at once, or a phase at a time.
    is_whole: bool,
}

impl SeriesCode {
    /// Runs a phase of a stage, as [`Series::run`] does; false if there is no code for it.
    pub fn run(&self, jets: &mut Jets, phase: usize, stage: usize) -> bool {
        self.call_part(jets, phase, stage, 0)
    }

    /// Runs what is ahead, as [`Series::catch_up`] does; false if there is no code for it.
    pub fn catch_up(&self, jets: &mut Jets) -> bool {
        !self.is_whole && self.call(jets, 2 * self.phases)
    }

    /// Corrects as [`Series::finish`] does; false if there is no code for it.
    pub fn finish(&self, jets: &mut Jets, phase: usize, stage: usize) -> bool {
        self.call_part(jets, phase, stage, 1)
    }

    /// Takes the values of the variables, as [`Series::begin`] does.
    pub fn begin(&self, series: &Series, jets: &mut Jets, x: &[f64]) {
        let tape = &*series.tape;
        if !jets.is_prepared {
            let Jets { values, scratch, is_prepared, .. } = jets;
            let constants = &values[tape.first_constant()..][..tape.constants];
            self.values.prepare(scratch, constants);
            *is_prepared = true;
        }
        series.take_variables(jets, x);
        let Jets { values, scratch, .. } = jets;
        self.values.call(scratch, x, &mut values[tape.first_instruction() + tape.prologue..]);
        series.begin_series(jets);
    }

    /// Runs what is ahead and all stages, as [`Series::start`] does the one and [`Series::stage`]
    /// one of the others; false if there is no code for it.
    pub fn run_all(&self, jets: &mut Jets) -> bool {
        self.is_whole && self.call(jets, 0)
    }

    fn call_part(&self, jets: &mut Jets, phase: usize, stage: usize, part: usize) -> bool {
        if self.is_whole || !(1..=self.stages).contains(&stage) || phase >= self.phases {
            return false;
        }
        if let Some(place) = jets.beside.as_mut_slice().get_mut(self.stage) {
            *place = f64::from_bits(stage as u64);
        }
        self.call(jets, 2 * phase + part)
    }

    #[inline]
    fn call(&self, jets: &mut Jets, entry: usize) -> bool {
        if jets.room != self.room {
            return false;
        }
        let Jets { all, values, beside, .. } = jets;
        self.code.call(entry, &mut (), all.as_mut_slice(), values, beside.as_mut_slice())
    }
}

impl Series {
    /// Machine code for stages from 1 on, for jets of an order: of all stages at once if it was
    /// said how they are [closed](Series::close), else of each phase. `None` where there is none:
    /// on other processors, and with linear solves.
    pub fn assemble(&self, order: usize, stages: usize) -> Option<SeriesCode> {
        let jets = self.jets(order);
        if !self.has_code(stages) || !self.has_room(&jets, stages) {
            return None;
        }
        let room = jets.room;
        let mut emit = Emit::new(self, jets.shape(), self.beside(room), 1);
        let (frame, x) = (jets.all.as_slice().len(), jets.values.len());
        let entry = |at: usize| Entry { at, frame, x, y: jets.beside.as_slice().len() };
        let mut entries = Vec::new();
        let closing = self.closing.as_ref();
        match closing.filter(|closing| self.is_solved_in_registers(closing)) {
            Some(closing) => {
                entries.push(entry(0));
                emit.all_stages(closing, stages);
            }
            None => {
                for number in 0..self.phases.len() {
                    entries.push(entry(emit.code.bytes.len()));
                    emit.enter();
                    emit.phase(number);
                    emit.leave();
                    entries.push(entry(emit.code.bytes.len()));
                    emit.enter();
                    emit.finish(number);
                    emit.leave();
                }
                entries.push(entry(emit.code.bytes.len()));
                emit.catch_up();
                emit.leave();
            }
        }
        let code = Code::new(&emit.code.bytes, &entries).ok()?;
        let values = BACKEND.compile(self.tape_of_values());
        let (stage, phases) = (self.beside(room).stage, self.phases.len());
        Some(SeriesCode { code, values, room, stages, stage, phases, is_whole: entries.len() == 1 })
    }

    /// Whether there can be code for so many stages.
    pub(super) fn has_code(&self, stages: usize) -> bool {
        let mut nodes = self.phases.iter().flat_map(|phase| &phase.nodes);
        let has_solves = nodes.any(|node| matches!(node.step, Step::Last(Last::Solve(_), _)));
        is_available() && !has_solves && stages > 0
    }

    /// The tape with all values as outputs.
    /// The values of all instructions, as outputs: order 0 of what the series are made of. A tape
    /// that gives them for other reasons can save [`Series::begin`] from finding them again.
    pub fn tape_of_values(&self) -> Tape {
        let mut tape = Tape::clone(&self.tape);
        let body = tape.first_instruction() + tape.prologue;
        tape.outputs = (body as Register..tape.registers() as Register).collect();
        tape
    }

    fn is_solved_in_registers(&self, closing: &Closing) -> bool {
        let count = closing.equations;
        count.div_ceil(LANES) <= WIDEST && self.quads(&self.variables, closing.unknowns, count)
    }

    /// Whether series lie side by side in whole fours, with nothing else in the last of them.
    fn quads(&self, list: &[Jet], first: usize, count: usize) -> bool {
        let ids = Series::ids(list, first, count);
        let Some(&start) = ids.first() else {
            return true;
        };
        let end = (start as usize + count).next_multiple_of(LANES) as Jet;
        let is_other = |id: &Jet| (start + count as Jet..end).contains(id);
        start.is_multiple_of(LANES as Jet)
            && ids.iter().zip(start..).all(|(id, expected)| *id == expected)
            && !self.variables.iter().any(is_other)
    }
}

impl Emit<'_> {
    /// Takes over the number of the stage.
    fn enter(&mut self) {
        self.code.load_integer(STAGE, memory(BESIDE, self.beside.stage));
        self.code.copy_address(HERE, STAGE);
        self.code.shift_left(HERE, NEXT.trailing_zeros() as u8);
        self.code.copy_address(BESIDE_HERE, HERE);
        self.code.integers(Integers::Add, HERE, ALL);
        self.code.integers(Integers::Add, BESIDE_HERE, BESIDE);
    }

    pub(super) fn all_stages(&mut self, closing: &Closing, stages: usize) {
        self.catch_up();
        self.stage = Some(0);
        self.later_phases(closing);
        self.stage = None;
        // Side by side there is enough to do in each turn of a loop.
        if self.lanes == 1 && self.instructions(stages) <= UNROLLED {
            for stage in 1..=stages {
                self.stage = Some(stage);
                self.stage(closing);
            }
            return self.leave();
        }
        let next = (self.lanes * NEXT) as i32;
        let next_beside = (8 * self.beside.copies) as i32;
        self.code.number(Address::Rax, 1);
        self.code.copy_address(STAGE, Address::Rax);
        self.code.address_of(HERE, Memory { base: ALL, displacement: next });
        self.code.address_of(BESIDE_HERE, Memory { base: BESIDE, displacement: next_beside });
        let again = self.code.bytes.len();
        self.stage(closing);
        self.code.address_of(HERE, Memory { base: HERE, displacement: next });
        self.code.add_number(BESIDE_HERE, next_beside as i8);
        self.code.add_number(STAGE, 1);
        self.code.compare_number(STAGE, stages as i32);
        self.code.jump_back(When::NotGreater, again);
        self.leave();
    }

    /// About how many instructions there are without loops.
    pub(super) fn instructions(&self, stages: usize) -> usize {
        let phases = self.series.phases.iter();
        phases.fold(0, |sum, phase| {
            let nodes = phase.nodes.iter().map(|node| match node.step {
                // Two for each order, and half the orders on the average.
                Step::Products { .. } => stages + 2 * node.ahead as usize + 6,
                Step::Pack { .. } => 6,
                Step::Last(..) => 4,
            });
            sum + stages * (nodes.sum::<usize>() + 10 * phase.corrections.len())
        })
    }

    /// A stage with all of its phases.
    fn stage(&mut self, closing: &Closing) {
        self.phase(0);
        self.solve(closing);
        self.finish(0);
        self.later_phases(closing);
    }

    fn later_phases(&mut self, closing: &Closing) {
        for phase in 1..self.series.phases.len() {
            self.phase(phase);
            self.integrate(closing, phase);
            self.finish(phase);
        }
    }

    /// The steps of a phase. Products that do not wait for each other are made together.
    fn phase(&mut self, number: usize) {
        let first = self.stage;
        let nodes = self.series.phases[number].nodes.iter();
        let nodes = nodes.map(|node| (node.step, node.ahead as usize));
        if self.lanes > 1 {
            self.unknowns.clone_from(&self.series.phases[number].unknowns);
        }
        // Order 0 is there.
        self.steps(nodes.filter(|(_, ahead)| first.unwrap_or(1) + ahead > 0));
        self.unknowns.clear();
    }

    /// What is ahead in the first phase, up to the first stage.
    fn catch_up(&mut self) {
        let series = self.series;
        for order in 1..=series.ahead {
            self.stage = Some(order);
            let nodes = series.phases.first().map_or(&[][..], |phase| &phase.nodes);
            let nodes = nodes.iter().filter(|node| node.ahead as usize >= order);
            // The unknowns are given there.
            let given = nodes.flat_map(|node| match node.step {
                Step::Products { y, a, b, given, .. } => {
                    [Some((Step::Products { y, a, b, ends: given, given }, 0)), None]
                }
                Step::Pack { to, from, before } => {
                    let newest = Step::Pack { to, from, before: false };
                    [before.then_some((node.step, 0)), Some((newest, 0))]
                }
                step => [Some((step, 0)), None],
            });
            self.steps(given.flatten());
        }
        self.stage = None;
    }

    /// x[k] = S r, and the integrals of x.
    fn solve(&mut self, closing: &Closing) {
        if self.lanes > 1 {
            return self.solve_one_by_one(closing);
        }
        let count = closing.equations;
        let quads = count.div_ceil(LANES) as u8;
        let sums = closing.sums() as u8;
        if sums * quads > super::emit::HELD.start {
            self.held.clear();
        }
        for d in 0..sums * quads {
            self.code.bits(Bits::Xor, d, d, register(d));
        }
        for equation in 0..count {
            let ahead = self.series.when.1[equation].ahead;
            let y = self.newest(self.series.outputs[equation], ahead);
            let y = self.taken(y, 15);
            let level = Operand::Memory(self.table(self.beside.levels[ahead], 0));
            self.does(Operation::Mul, 15, y, level);
            self.code.spread(15, register(15));
            let column = self.beside.matrix + equation * closing.column();
            let first = equation as u8 % sums * quads;
            for d in 0..quads {
                let entries = Operand::Memory(memory(BESIDE, column + LANES * d as usize));
                self.vectors(|code| code.fused(Fused::Plus231, first + d, 15, entries));
            }
        }
        if sums == 2 {
            for d in 0..quads {
                let other = register(quads + d);
                self.vectors(|code| code.operation(Operation::Add, d, d, other));
            }
        }
        self.store_quads(closing.unknowns, count, 0);
        self.held.clear();
        // What is in the registers: the unknowns, or integrals of them.
        let mut held = (closing.unknowns, count);
        for &Integral { first, count, of } in &closing.integrals {
            let (Source::Variables(from), true) = (of, count > 0) else {
                continue;
            };
            let ahead = self.series.ahead_of(first);
            let variables = &self.series.variables;
            let is_held = held.0 == from && held.1 >= count;
            if is_held && self.series.quads(variables, first, count) {
                let by = self.inverse(ahead);
                for d in 0..count.div_ceil(LANES) as u8 {
                    self.vectors(|code| code.operation(Operation::Mul, d, d, by));
                }
                self.store_quads(first, count, ahead);
                held = (first, count);
            } else {
                self.integrals(first, Series::ids(variables, from, count), ahead);
                held = (0, 0);
            }
        }
    }

    fn store_quads(&mut self, first: usize, count: usize, ahead: usize) {
        for d in 0..count.div_ceil(LANES) {
            let to = self.here(self.series.variables[first + LANES * d], ahead);
            self.vectors(|code| code.store(to, d as u8));
        }
    }

    /// Integrals one by one, of what is not as much ahead.
    pub(super) fn integrals(&mut self, first: usize, of: &[Jet], ahead: usize) {
        for (at, &of) in of.iter().enumerate() {
            self.for_each_group(&mut |this| {
                this.load(0, this.at(of, ahead - 1));
                this.does(Operation::Mul, 0, 0, this.inverse(ahead));
                let to = this.here(this.series.variables[first + at], ahead);
                this.code.store(to, 0);
            });
        }
    }

    /// The integrals of a later phase.
    fn integrate(&mut self, closing: &Closing, phase: usize) {
        for &Integral { first, count, of } in &closing.integrals {
            if let Source::Outputs(from) = of
                && count > 0
                && self.series.phase_of(first) == phase
            {
                let ahead = self.series.ahead_of(first);
                self.integrals(first, Series::ids(&self.series.outputs, from, count), ahead);
            }
        }
    }

    /// The corrections of a phase.
    fn finish(&mut self, number: usize) {
        self.held.clear();
        let series = self.series;
        let phase = &series.phases[number];
        if !phase.corrects() {
            return;
        }
        let is_read = |jet: Jet| reads_change(phase, jet);
        for &(jet, ahead) in phase.unknowns.iter().filter(|(jet, _)| is_read(*jet)) {
            self.for_each_group(&mut |this| {
                this.load(0, this.at(jet, ahead as usize));
                let to = this.change(jet);
                this.code.store(to, 0);
            });
        }
        let before = series.corrections_before(number);
        let first = self.stage.unwrap_or(1);
        for (at, correction) in phase.corrections.iter().enumerate() {
            self.for_each_group(&mut |this| this.correction(before + at, correction, &is_read));
        }
        for &Node { step, ahead } in &phase.again {
            if let Step::Pack { to, from, .. } = step
                && first + ahead as usize > 0
            {
                self.pack(to, from, ahead as usize, false);
            }
        }
    }

    fn correction(&mut self, number: usize, of: &Correction, is_read: &dyn Fn(Jet) -> bool) {
        let (y, ahead) = match *of {
            Correction::Linear { y, ahead, of: [a, b, c], .. } => {
                let slope =
                    |at: usize| Operand::Memory(self.beside(self.beside.slopes, 3 * number + at));
                let (p, q, r) = (slope(0), slope(1), slope(2));
                let [a, b, c] = [a, b, c].map(|jet| Operand::Memory(self.change(jet)));
                self.load(0, r);
                self.does(Operation::Mul, 0, 0, c);
                self.load(1, q);
                self.code.fused(Fused::Plus231, 0, 1, b);
                self.load(1, p);
                self.code.fused(Fused::Plus231, 0, 1, a);
                (y, ahead as usize)
            }
            Correction::Derivative { y, ahead, of } => {
                self.load(0, self.order(ahead as usize));
                self.does(Operation::Mul, 0, 0, Operand::Memory(self.change(of)));
                (y, ahead as usize)
            }
            Correction::Solve { .. } => return,
        };
        if self.stage.unwrap_or(1) + ahead == 0 {
            return;
        }
        if is_read(y) {
            let to = self.change(y);
            self.code.store(to, 0);
        }
        self.load(1, self.at(y, ahead));
        self.does(Operation::Add, 0, 1, register(0));
        let to = self.here(y, ahead);
        self.code.store(to, 0);
    }
}

/// Whether the change of a series is read by a correction.
fn reads_change(phase: &Phase, jet: Jet) -> bool {
    phase.corrections.iter().any(|correction| match correction {
        Correction::Linear { of, .. } => of.contains(&jet),
        Correction::Derivative { of, .. } => *of == jet,
        Correction::Solve { .. } => false,
    })
}
