//! Series as machine code: the steps of a stage one after the other, for all stages.
//!
//! A stage is code in which only the sums of products are loops, over the orders. It is run for one
//! stage after the other: from outside, phase by phase, or, where a [`Closing`] says what is solved
//! in between, by itself, so that an expansion is one call. Where there is little of it every stage
//! has code of its own, without any loop. The operations are those of the interpreter in its
//! order, so the coefficients are the same to the bit.

use super::node::{Ends, Factor, Jet, Last, STILL, Sign, Step};
use super::{
    Beside, Closing, Correction, Integral, Jets, LANES, Node, Phase, Series, Shape, Source, place,
};
use crate::backends::machine::encoder::{
    Address, Bits, Encoder, Fused, Integers, Memory, Operand, Operation, When, Width,
};
use crate::backends::machine::{BACKEND, is_available};
use crate::backends::{Backend, Function};
use crate::tape::{Register, Tape};
use dalembert_machine::{Code, Entry};
use std::collections::VecDeque;
use std::ops::Range;

/// Up to so many instructions each stage has code of its own.
const UNROLLED: usize = 8000;
/// Fours of products in one loop.
const TOGETHER: usize = 6;
/// The longest list of unknowns, in fours, that is solved for in registers.
const WIDEST: usize = 12;
/// Registers in which coefficients are kept that may be read next.
const HELD: Range<u8> = 4..12;

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
        let has_solves = self
            .phases
            .iter()
            .flat_map(|phase| &phase.nodes)
            .any(|node| matches!(node.step, Step::Last(Last::Solve(_), _)));
        let jets = self.jets(order);
        if !is_available() || has_solves || stages == 0 || !self.has_room(&jets, stages) {
            return None;
        }
        let room = jets.room;
        let mut emit = Emit {
            series: self,
            code: Encoder::new(Width::One, 1 << 14),
            shape: jets.shape(),
            beside: self.beside(room),
            stage: None,
            held: VecDeque::new(),
            next: HELD.start,
        };
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
        let mut tape = Tape::clone(&self.tape);
        let body = tape.first_instruction() + tape.prologue;
        tape.outputs = (body as Register..tape.registers() as Register).collect();
        let values = BACKEND.compile(tape);
        let (stage, phases) = (self.beside(room).stage, self.phases.len());
        Some(SeriesCode { code, values, room, stages, stage, phases, is_whole: entries.len() == 1 })
    }

    fn is_solved_in_registers(&self, closing: &Closing) -> bool {
        let count = closing.equations;
        count.div_ceil(LANES) <= WIDEST && self.quads(&self.variables, closing.unknowns, count)
    }

    /// Whether series lie side by side in whole fours, with nothing else in the last of them.
    fn quads(&self, list: &[Jet], first: usize, count: usize) -> bool {
        let ids = Series::ids(list, first, count);
        let Some(&start) = ids.first() else { return true };
        let end = (start as usize + count).next_multiple_of(LANES) as Jet;
        let is_other = |id: &Jet| (start + count as Jet..end).contains(id);
        start.is_multiple_of(LANES as Jet)
            && ids.iter().zip(start..).all(|(id, expected)| *id == expected)
            && !self.variables.iter().any(is_other)
    }
}

/// The registers of the lists.
const ALL: Address = Address::Rsi;
const VALUES: Address = Address::Rdx;
const BESIDE: Address = Address::Rcx;
/// Coefficients and what is beside them at the order of the stage, and its number.
const HERE: Address = Address::R8;
const BESIDE_HERE: Address = Address::R9;
const STAGE: Address = Address::R10;
/// Coefficients at two orders, from the middle to the ends, and how often they still move.
const LOW: Address = Address::Rax;
const HIGH: Address = Address::Rdi;
const LEFT: Address = Address::R11;

/// Bytes from the coefficients of an order to those of the next.
const NEXT: usize = 8 * LANES;

/// Four products: results, factors, ends.
type Products = (Jet, Factor, Factor, Ends);

struct Emit<'a> {
    series: &'a Series,
    code: Encoder,
    shape: Shape,
    beside: Beside,
    /// The stage that the code is for, if it is for one.
    stage: Option<usize>,
    /// Coefficients that are in registers, and how much ahead: the last few that were found.
    held: VecDeque<(Jet, usize, u8)>,
    /// The register for the next.
    next: u8,
}

fn memory(base: Address, place: usize) -> Memory {
    Memory { base, displacement: (8 * place) as i32 }
}

fn register(at: u8) -> Operand {
    Operand::Register(at)
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

    fn leave(&mut self) {
        self.code.clear_upper();
        self.code.ret();
    }

    fn all_stages(&mut self, closing: &Closing, stages: usize) {
        self.catch_up();
        self.stage = Some(0);
        self.later_phases(closing);
        self.stage = None;
        if self.instructions(stages) <= UNROLLED {
            for stage in 1..=stages {
                self.stage = Some(stage);
                self.stage(closing);
            }
            return self.leave();
        }
        self.code.number(Address::Rax, 1);
        self.code.copy_address(STAGE, Address::Rax);
        self.code.address_of(HERE, Memory { base: ALL, displacement: NEXT as i32 });
        self.code.address_of(BESIDE_HERE, Memory { base: BESIDE, displacement: NEXT as i32 });
        let again = self.code.bytes.len();
        self.stage(closing);
        self.code.add_number(HERE, NEXT as i8);
        self.code.add_number(BESIDE_HERE, NEXT as i8);
        self.code.add_number(STAGE, 1);
        self.code.compare_number(STAGE, stages as i32);
        self.code.jump_back(When::NotGreater, again);
        self.leave();
    }

    /// About how many instructions there are without loops.
    fn instructions(&self, stages: usize) -> usize {
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

    /// The place of a coefficient at the order of the stage, so much ahead.
    fn here(&self, jet: Jet, ahead: usize) -> Memory {
        match self.stage {
            Some(stage) => memory(ALL, place(jet, stage + ahead, self.shape)),
            None if (jet as usize) < self.shape.passing => memory(ALL, jet as usize),
            None => memory(HERE, place(jet, ahead, self.shape)),
        }
    }

    /// A place in a table by orders.
    fn table(&self, first: usize, ahead: usize) -> Memory {
        match self.stage {
            Some(stage) => memory(BESIDE, first + LANES * (stage + ahead)),
            None => memory(BESIDE_HERE, first + LANES * ahead),
        }
    }

    fn at(&self, jet: Jet, ahead: usize) -> Operand {
        Operand::Memory(self.here(jet, ahead))
    }

    fn first(&self, jet: Jet) -> Operand {
        Operand::Memory(memory(ALL, place(jet, 0, self.shape)))
    }

    fn order(&self, ahead: usize) -> Operand {
        Operand::Memory(self.table(self.beside.orders, ahead))
    }

    fn inverse(&self, ahead: usize) -> Operand {
        Operand::Memory(self.table(self.beside.inverses, ahead))
    }

    fn change(&self, jet: Jet) -> Memory {
        memory(BESIDE, self.beside.changes + jet as usize)
    }

    fn constant(&self, register: Register) -> Operand {
        Operand::Memory(memory(VALUES, register as usize))
    }

    fn load(&mut self, d: u8, from: Operand) {
        self.code.load(d, from);
    }

    fn does(&mut self, what: Operation, d: u8, a: u8, b: Operand) {
        self.code.operation(what, d, a, b);
    }

    fn signed(&mut self, d: u8, sign: Sign) {
        if sign == Sign::Minus {
            let zeros = Operand::Memory(memory(BESIDE, self.beside.sign));
            self.code.bits(Bits::Xor, d, d, zeros);
        }
    }

    /// The steps of a phase. Products that do not wait for each other are made together.
    fn phase(&mut self, number: usize) {
        let first = self.stage;
        let nodes = self.series.phases[number].nodes.iter();
        let nodes = nodes.map(|node| (node.step, node.ahead as usize));
        // Order 0 is there.
        self.steps(nodes.filter(|(_, ahead)| first.unwrap_or(1) + ahead > 0));
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

    fn steps(&mut self, nodes: impl Iterator<Item = (Step, usize)>) {
        self.held.clear();
        let mut together: Vec<Products> = Vec::new();
        let mut level = 0;
        let is_made = |together: &[Products], jet: Jet| {
            together.iter().any(|(y, ..)| (*y..*y + LANES as Jet).contains(&jet))
        };
        for (step, ahead) in nodes {
            match step {
                Step::Products { y, a, b, ends, .. } => {
                    let waits = |factor: Factor| match factor {
                        Factor::Same(jet) => is_made(&together, jet),
                        Factor::Quad { first, .. } => is_made(&together, first),
                    };
                    let is_full = together.len() == TOGETHER || level != ahead;
                    if is_full || waits(a) || waits(b) {
                        self.products(&together, level);
                        together.clear();
                    }
                    level = ahead;
                    together.push((y, a, b, ends));
                }
                Step::Pack { to, from, before } => {
                    if from.iter().any(|&jet| is_made(&together, jet)) {
                        self.products(&together, level);
                        together.clear();
                    }
                    self.pack(to, from, ahead, before);
                }
                Step::Last(last, y) => {
                    self.products(&together, level);
                    together.clear();
                    self.last(last, y, ahead);
                }
            }
        }
        self.products(&together, level);
    }

    /// Four doubles into one register; the one after it is used.
    fn gather(&mut self, d: u8, of: [Memory; LANES]) {
        self.load(d, Operand::Memory(of[0]));
        self.code.load_second(d, d, of[1]);
        self.load(d + 1, Operand::Memory(of[2]));
        self.code.load_second(d + 1, d + 1, of[3]);
        self.code.join(d, d, d + 1);
    }

    fn pack(&mut self, to: Jet, from: [Jet; LANES], ahead: usize, before: bool) {
        // What is constant has no order.
        let place = |jet: Jet| match self.here(jet, ahead) {
            at if before && jet != STILL => {
                Memory { displacement: at.displacement - NEXT as i32, ..at }
            }
            at => at,
        };
        let (of, to) = (from.map(place), place(to));
        self.gather(14, of);
        self.vectors(|code| code.store(to, 14));
    }

    fn vectors(&mut self, emit: impl FnOnce(&mut Encoder)) {
        self.code.width = Width::Four;
        emit(&mut self.code);
        self.code.width = Width::One;
    }

    /// Where four factors are, and a register that takes them if they are the same.
    fn factor(&self, factor: Factor, base: Address, order: usize) -> Memory {
        let (Factor::Same(jet) | Factor::Quad { first: jet, .. }) = factor;
        memory(base, place(jet, order, self.shape))
    }

    /// d += a b, of factors at these places.
    fn add_product(&mut self, d: u8, a: (Factor, Memory), b: (Factor, Memory)) {
        let (x, y) = (12, 13);
        self.load_factor(x, a);
        let second = match b.0 {
            Factor::Same(_) => {
                self.load_factor(y, b);
                register(y)
            }
            Factor::Quad { .. } => Operand::Memory(b.1),
        };
        self.vectors(|code| code.fused(Fused::Plus231, d, x, second));
    }

    fn load_factor(&mut self, d: u8, (factor, at): (Factor, Memory)) {
        match factor {
            Factor::Same(_) => self.code.spread(d, Operand::Memory(at)),
            Factor::Quad { .. } => self.vectors(|code| code.load(d, Operand::Memory(at))),
        }
    }

    /// d += a b, where a is of order 0 and b the newest.
    fn add_newest(&mut self, d: u8, a: Factor, b: Factor, ahead: usize) {
        let first = self.factor(a, ALL, 0);
        match b {
            Factor::Quad { first: quad, is_fresh: true } => {
                // What was stored in four pieces cannot be loaded as one at once.
                let lanes = [0, 1, 2, 3].map(|lane| self.here(quad + lane, ahead));
                self.gather(14, lanes);
                self.load_factor(12, (a, first));
                self.vectors(|code| code.fused(Fused::Plus231, d, 12, register(14)));
            }
            Factor::Quad { first: jet, .. } | Factor::Same(jet) => {
                let newest = self.here(jet, ahead);
                self.add_product(d, (a, first), (b, newest));
            }
        }
    }

    /// Σ a_j b_{m−j} as the interpreter has it.
    fn products(&mut self, together: &[Products], ahead: usize) {
        if together.is_empty() {
            return;
        }
        self.held.clear();
        let sums = |number: usize| (2 * number as u8, 2 * number as u8 + 1);
        for d in 0..2 * together.len() as u8 {
            self.code.bits(Bits::Xor, d, d, register(d));
        }
        match self.stage {
            Some(stage) => {
                let m = stage + ahead;
                for low in (1..=(m - 1) / 2).rev() {
                    self.pairs(together, (ALL, low), (ALL, m - low));
                }
            }
            None => {
                // (m − 1)/2 turns, from there and from m less it on.
                self.code.address_of(LEFT, Memory { base: STAGE, displacement: ahead as i32 - 1 });
                self.code.shift_right(LEFT, 1);
                self.code.copy_address(LOW, LEFT);
                self.code.shift_left(LOW, NEXT.trailing_zeros() as u8);
                let newest = Memory { base: HERE, displacement: (NEXT * ahead) as i32 };
                self.code.address_of(HIGH, newest);
                self.code.integers(Integers::Sub, HIGH, LOW);
                self.code.integers(Integers::Add, LOW, ALL);
                self.code.add_number(LEFT, 0);
                let none = self.code.jump(When::Zero);
                let again = self.code.bytes.len();
                self.pairs(together, (LOW, 0), (HIGH, 0));
                self.code.add_number(LOW, -(NEXT as i8));
                self.code.add_number(HIGH, NEXT as i8);
                self.code.add_number(LEFT, -1);
                self.code.jump_back(When::NotZero, again);
                self.code.land(none);
            }
        }
        for (number, &(_, a, b, ends)) in together.iter().enumerate() {
            let (low, high) = sums(number);
            if ends == Ends::Both {
                self.add_newest(low, a, b, ahead);
            }
            if ends != Ends::None && a != b {
                self.add_newest(high, b, a, ahead);
            }
            let other = if a == b { low } else { high };
            self.vectors(|code| code.operation(Operation::Add, low, low, register(other)));
        }
        // The middle of even orders.
        let skip = match self.stage {
            Some(stage) if (stage + ahead) % 2 == 1 => None,
            Some(stage) => {
                self.middle(together, (ALL, (stage + ahead) / 2));
                None
            }
            None => {
                self.code.test_parity(STAGE);
                let is_odd = if ahead.is_multiple_of(2) { When::NotZero } else { When::Zero };
                let skip = self.code.jump(is_odd);
                self.code.address_of(LEFT, Memory { base: STAGE, displacement: ahead as i32 });
                self.code.shift_left(LEFT, NEXT.trailing_zeros() as u8 - 1);
                self.code.integers(Integers::Add, LEFT, ALL);
                self.middle(together, (LEFT, 0));
                Some(skip)
            }
        };
        skip.into_iter().for_each(|jump| self.code.land(jump));
        for (number, &(y, ..)) in together.iter().enumerate() {
            let to = self.here(y, ahead);
            self.vectors(|code| code.store(to, 2 * number as u8));
        }
    }

    /// The products at two orders.
    fn pairs(&mut self, together: &[Products], low: (Address, usize), high: (Address, usize)) {
        for (number, &(_, a, b, _)) in together.iter().enumerate() {
            let at = |factor: Factor, (base, order)| (factor, self.factor(factor, base, order));
            let (a_low, b_high, a_high, b_low) = (at(a, low), at(b, high), at(a, high), at(b, low));
            self.add_product(2 * number as u8, a_low, b_high);
            if a != b {
                self.add_product(2 * number as u8 + 1, a_high, b_low);
            }
        }
    }

    fn middle(&mut self, together: &[Products], (base, order): (Address, usize)) {
        for (number, &(_, a, b, _)) in together.iter().enumerate() {
            let (a, b) = ((a, self.factor(a, base, order)), (b, self.factor(b, base, order)));
            self.add_product(2 * number as u8, a, b);
        }
    }

    /// A coefficient, in a register if it was among the last.
    fn newest(&self, jet: Jet, ahead: usize) -> Operand {
        let held = self.held.iter().find(|(other, level, _)| (*other, *level) == (jet, ahead));
        held.map_or(self.at(jet, ahead), |(_, _, at)| register(*at))
    }

    /// A coefficient of one series.
    fn last(&mut self, last: Last, y: Jet, ahead: usize) {
        use Operation::{Add, Div, Mul, Sub};
        let d = self.next;
        let of = |this: &Emit, jet: Jet| this.newest(jet, ahead);
        match last {
            // Either may be in a register.
            Last::Add(a, b) => match (of(self, a), of(self, b)) {
                (Operand::Register(a), b) | (b, Operand::Register(a)) => self.does(Add, d, a, b),
                (a, b) => {
                    self.load(0, a);
                    self.does(Add, d, 0, b);
                }
            },
            Last::Sub(a, b) => {
                let a = self.taken(of(self, a), 0);
                self.does(Sub, d, a, of(self, b));
            }
            Last::Neg(a) => {
                let a = self.taken(of(self, a), 0);
                let zeros = Operand::Memory(memory(BESIDE, self.beside.sign));
                self.code.bits(Bits::Xor, d, a, zeros);
            }
            Last::Scale(c, a) => {
                let a = self.taken(of(self, a), 0);
                self.does(Mul, d, a, self.constant(c));
            }
            Last::ScaleAdd(c, a, b) => {
                let (a, b) = (self.taken(of(self, a), 1), of(self, b));
                self.load(0, b);
                self.code.fused(Fused::Plus231, 0, a, self.constant(c));
                self.load(d, register(0));
            }
            Last::Over(a, c) => {
                let a = self.taken(of(self, a), 0);
                self.does(Div, d, a, self.constant(c));
            }
            Last::Derivative(a) => {
                let a = self.taken(of(self, a), 0);
                self.does(Mul, d, a, self.order(ahead));
            }
            Last::Div(a, p, b) => {
                let a = self.taken(of(self, a), 0);
                self.does(Sub, 0, a, of(self, p));
                self.does(Div, d, 0, self.first(b));
            }
            Last::Sqrt(a, p) => {
                let a = self.taken(of(self, a), 0);
                self.does(Sub, 0, a, of(self, p));
                self.load(1, self.first(y));
                self.does(Add, 1, 1, register(1));
                self.does(Div, d, 0, register(1));
            }
            Last::Integral(p, sign) => {
                let p = self.taken(of(self, p), 0);
                self.does(Mul, 0, p, self.inverse(ahead));
                self.signed(0, sign);
                self.load(d, register(0));
            }
            Last::Quotient(a, p, c, sign) => {
                let p = self.taken(of(self, p), 1);
                self.does(Mul, 1, p, self.inverse(ahead));
                self.load(0, of(self, a));
                self.signed(0, sign);
                self.does(Sub, 0, 0, register(1));
                self.does(Div, d, 0, self.first(c));
            }
            Last::Power(p, q, a, e) => {
                let p = self.taken(of(self, p), 0);
                self.does(Mul, 0, p, self.constant(e));
                self.does(Sub, 0, 0, of(self, q));
                self.over_order(d, ahead, a);
            }
            Last::Angle([p, q, r], c) => {
                let p = self.taken(of(self, p), 0);
                self.does(Sub, 0, p, of(self, q));
                self.does(Sub, 0, 0, of(self, r));
                self.over_order(d, ahead, c);
            }
            Last::Pick(a, b, place) => {
                let factor = memory(BESIDE, self.beside.picks + 2 * place as usize);
                let other = Memory { displacement: factor.displacement + 8, ..factor };
                let a = self.taken(of(self, a), 0);
                self.does(Mul, 0, a, Operand::Memory(factor));
                let b = self.taken(of(self, b), 1);
                self.does(Mul, 1, b, Operand::Memory(other));
                self.does(Add, d, 0, register(1));
            }
            // There is no code for tapes with these.
            Last::Solve(_) => return,
        }
        let to = self.here(y, ahead);
        self.code.store(to, d);
        self.held.retain(|(_, _, at)| *at != d);
        self.held.push_back((y, ahead, d));
        self.next = if d + 1 == HELD.end { HELD.start } else { d + 1 };
    }

    /// The register of an operand; this one, loaded, if it is in memory.
    fn taken(&mut self, operand: Operand, d: u8) -> u8 {
        match operand {
            Operand::Register(at) => at,
            Operand::Memory(_) => {
                self.load(d, operand);
                d
            }
        }
    }

    /// d = register 0 over m a_0.
    fn over_order(&mut self, d: u8, ahead: usize, a: Jet) {
        self.load(1, self.order(ahead));
        self.does(Operation::Mul, 1, 1, self.first(a));
        self.does(Operation::Div, d, 0, register(1));
    }

    /// x[k] = S r, and the integrals of x.
    fn solve(&mut self, closing: &Closing) {
        let count = closing.equations;
        let quads = count.div_ceil(LANES) as u8;
        if quads > HELD.start {
            self.held.clear();
        }
        for d in 0..quads {
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
            for d in 0..quads {
                let entries = Operand::Memory(memory(BESIDE, column + LANES * d as usize));
                self.vectors(|code| code.fused(Fused::Plus231, d, 15, entries));
            }
        }
        self.store_quads(closing.unknowns, count, 0);
        self.held.clear();
        // What is in the registers: the unknowns, or integrals of them.
        let mut held = (closing.unknowns, count);
        for &Integral { first, count, of } in &closing.integrals {
            let (Source::Variables(from), true) = (of, count > 0) else { continue };
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
    fn integrals(&mut self, first: usize, of: &[Jet], ahead: usize) {
        for (at, &of) in of.iter().enumerate() {
            self.load(0, self.at(of, ahead - 1));
            self.does(Operation::Mul, 0, 0, self.inverse(ahead));
            let to = self.here(self.series.variables[first + at], ahead);
            self.code.store(to, 0);
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
            self.load(0, self.at(jet, ahead as usize));
            let to = self.change(jet);
            self.code.store(to, 0);
        }
        let before = series.corrections_before(number);
        let first = self.stage.unwrap_or(1);
        for (at, correction) in phase.corrections.iter().enumerate() {
            self.correction(before + at, correction, &is_read);
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
                let slope = |at: usize| {
                    Operand::Memory(memory(BESIDE, self.beside.slopes + 3 * number + at))
                };
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
