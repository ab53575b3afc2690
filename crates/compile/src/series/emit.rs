//! The steps of series as instructions: sums of products, copies, and what follows from them.

use super::node::{Ends, Factor, Jet, Last, STILL, Sign, Step};
use super::{Beside, LANES, Series, Shape, place};
use crate::backends::machine::encoder::{
    Address, Bits, Encoder, Fused, Integers, Memory, Operand, Operation, When, Width,
};
use crate::tape::Register;
use std::collections::VecDeque;
use std::ops::Range;

/// Fours of products in one loop.
const TOGETHER: usize = 6;
/// Registers in which coefficients are kept that may be read next.
pub(super) const HELD: Range<u8> = 4..12;

/// The registers of the lists.
pub(super) const ALL: Address = Address::Rsi;
pub(super) const VALUES: Address = Address::Rdx;
pub(super) const BESIDE: Address = Address::Rcx;
/// Coefficients and what is beside them at the order of the stage, and its number.
pub(super) const HERE: Address = Address::R8;
pub(super) const BESIDE_HERE: Address = Address::R9;
pub(super) const STAGE: Address = Address::R10;
/// Coefficients at two orders, from the middle to the ends, and how often they still move.
pub(super) const LOW: Address = Address::Rax;
pub(super) const HIGH: Address = Address::Rdi;
pub(super) const LEFT: Address = Address::R11;

/// Bytes from the coefficients of an order to those of the next.
pub(super) const NEXT: usize = 8 * LANES;

/// Four products, or one where motions are side by side.
#[derive(Clone, Copy)]
pub(super) struct Products {
    pub(super) y: Jet,
    pub(super) a: Factor,
    pub(super) b: Factor,
    pub(super) ends: Ends,
    pub(super) are_squares: bool,
    /// Of which group of motions.
    pub(super) group: usize,
}

pub(super) struct Emit<'a> {
    pub(super) series: &'a Series,
    pub(super) code: Encoder,
    pub(super) shape: Shape,
    pub(super) beside: Beside,
    /// The stage that the code is for, if it is for one.
    pub(super) stage: Option<usize>,
    /// Coefficients that are in registers, how much ahead, and of which group: the last few that were
    /// found.
    pub(super) held: VecDeque<((Jet, usize, usize), u8)>,
    /// The register for the next.
    pub(super) next: u8,
    /// How many motions are side by side: every coefficient is there so many times. Of more than
    /// a register has room for an instruction is there for each that are together, and the one for
    /// these is at hand.
    pub(super) lanes: usize,
    pub(super) together: usize,
    pub(super) group: usize,
    /// The unknowns of the phase at hand, and how much ahead they are, where the newest coefficients
    /// of them are not there as 0.
    pub(super) unknowns: Vec<(Jet, u32)>,
    /// Where motions are side by side, what each series is a copy of, and which are read.
    pub(super) originals: Vec<Jet>,
    pub(super) is_read: Vec<bool>,
}

pub(super) fn memory(base: Address, place: usize) -> Memory {
    Memory { base, displacement: (8 * place) as i32 }
}

pub(super) fn register(at: u8) -> Operand {
    Operand::Register(at)
}

impl<'a> Emit<'a> {
    /// No code yet, for so many motions side by side.
    pub(super) fn new(series: &'a Series, shape: Shape, beside: Beside, lanes: usize) -> Emit<'a> {
        let width = Width::widest_of(lanes);
        let (mut originals, mut is_read) = (Vec::new(), Vec::new());
        if lanes > 1 {
            originals = series.originals();
            is_read = series.is_read(&originals);
        }
        Emit {
            series,
            code: Encoder::new(width, 1 << 14),
            shape,
            beside,
            stage: None,
            held: VecDeque::new(),
            next: HELD.start,
            lanes,
            together: width.doubles(),
            group: 0,
            unknowns: Vec::new(),
            originals,
            is_read,
        }
    }
}

impl Emit<'_> {
    pub(super) fn leave(&mut self) {
        self.code.clear_upper();
        self.code.ret();
    }

    /// A place of which there is one for each motion.
    pub(super) fn own(&self, base: Address, place: usize) -> Memory {
        memory(base, self.lanes * place + self.together * self.group)
    }

    /// How many groups of motions there are.
    pub(super) fn groups(&self) -> usize {
        self.lanes / self.together
    }

    /// Emits the same for each group of motions: these do not wait for each other.
    pub(super) fn for_each_group(&mut self, emit: &mut dyn FnMut(&mut Self)) {
        for group in 0..self.groups() {
            self.group = group;
            emit(self);
        }
        self.group = 0;
    }

    /// The same in the list of what is beside coefficients, from a place on.
    pub(super) fn beside(&self, first: usize, place: usize) -> Memory {
        memory(BESIDE, first + self.lanes * place + self.together * self.group)
    }

    /// The place of a coefficient at the order of the stage, so much ahead.
    pub(super) fn here(&self, jet: Jet, ahead: usize) -> Memory {
        match self.stage {
            Some(stage) => self.own(ALL, place(jet, stage + ahead, self.shape)),
            None if (jet as usize) < self.shape.passing => self.own(ALL, jet as usize),
            None => self.own(HERE, place(jet, ahead, self.shape)),
        }
    }

    /// A place in a table by orders.
    pub(super) fn table(&self, first: usize, ahead: usize) -> Memory {
        match self.stage {
            Some(stage) => memory(BESIDE, first + self.beside.copies * (stage + ahead)),
            None => memory(BESIDE_HERE, first + self.beside.copies * ahead),
        }
    }

    pub(super) fn at(&self, jet: Jet, ahead: usize) -> Operand {
        Operand::Memory(self.here(jet, ahead))
    }

    fn first(&self, jet: Jet) -> Operand {
        Operand::Memory(self.own(ALL, place(jet, 0, self.shape)))
    }

    pub(super) fn order(&self, ahead: usize) -> Operand {
        Operand::Memory(self.table(self.beside.orders, ahead))
    }

    pub(super) fn inverse(&self, ahead: usize) -> Operand {
        Operand::Memory(self.table(self.beside.inverses, ahead))
    }

    pub(super) fn change(&self, jet: Jet) -> Memory {
        self.beside(self.beside.changes, jet as usize)
    }

    pub(super) fn constant(&self, register: Register) -> Operand {
        Operand::Memory(self.own(VALUES, register as usize))
    }

    pub(super) fn load(&mut self, d: u8, from: Operand) {
        self.code.load(d, from);
    }

    pub(super) fn does(&mut self, what: Operation, d: u8, a: u8, b: Operand) {
        self.code.operation(what, d, a, b);
    }

    fn signed(&mut self, d: u8, sign: Sign) {
        if sign == Sign::Minus {
            let zeros = Operand::Memory(memory(BESIDE, self.beside.sign));
            self.code.bits(Bits::Xor, d, d, zeros);
        }
    }

    pub(super) fn steps(&mut self, nodes: impl Iterator<Item = (Step, usize)>) {
        self.held.clear();
        let mut together: Vec<Products> = Vec::new();
        let mut level = 0;
        let is_made = |together: &[Products], jet: Jet| {
            together.iter().any(|p| (p.y..p.y + LANES as Jet).contains(&jet))
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
                    together.push(Products { y, a, b, ends, are_squares: a == b, group: 0 });
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
                    self.for_each_group(&mut |this| this.last(last, y, ahead));
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

    pub(super) fn pack(&mut self, to: Jet, from: [Jet; LANES], ahead: usize, before: bool) {
        // Where motions are side by side series need not be.
        if self.lanes > 1 {
            return;
        }
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

    /// Instructions on whole registers: of four series, or of several motions.
    pub(super) fn vectors(&mut self, emit: impl FnOnce(&mut Encoder)) {
        let whole = if self.lanes == 1 { Width::Four } else { self.code.width };
        let width = std::mem::replace(&mut self.code.width, whole);
        emit(&mut self.code);
        self.code.width = width;
    }

    /// Where four factors are, and a register that takes them if they are the same.
    fn factor(&self, factor: Factor, base: Address, order: usize) -> Memory {
        let (Factor::Same(jet) | Factor::Quad { first: jet, .. }) = factor;
        self.own(base, place(jet, order, self.shape))
    }

    /// d += a b, of factors at these places.
    fn add_product(&mut self, d: u8, a: (Factor, Memory), b: (Factor, Memory)) {
        let (x, y) = (12, 13);
        self.load_factor(x, a);
        let second = match b.0 {
            Factor::Same(_) if self.lanes == 1 => {
                self.load_factor(y, b);
                register(y)
            }
            _ => Operand::Memory(b.1),
        };
        self.vectors(|code| code.fused(Fused::Plus231, d, x, second));
    }

    fn load_factor(&mut self, d: u8, (factor, at): (Factor, Memory)) {
        match factor {
            Factor::Same(_) if self.lanes == 1 => self.code.spread(d, Operand::Memory(at)),
            _ => self.vectors(|code| code.load(d, Operand::Memory(at))),
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
        if self.lanes == 1 {
            return self.sums(together, ahead);
        }
        let one_by_one: Vec<Products> = together.iter().flat_map(|p| self.apart(p)).collect();
        one_by_one.chunks(TOGETHER).for_each(|together| self.sums(together, ahead));
    }

    /// Sums of products, each in two registers.
    fn sums(&mut self, together: &[Products], ahead: usize) {
        if together.is_empty() {
            return;
        }
        self.held.clear();
        let next = self.lanes * NEXT;
        let sums = |number: usize| (2 * number as u8, 2 * number as u8 + 1);
        for d in 0..2 * together.len() as u8 {
            self.code.bits(Bits::Xor, d, d, register(d));
        }
        // The middle of even orders.
        match self.stage {
            Some(stage) if (stage + ahead) % 2 == 1 => {}
            Some(stage) => self.middle(together, (ALL, (stage + ahead) / 2)),
            None => {
                self.code.test_parity(STAGE);
                let is_odd = if ahead.is_multiple_of(2) { When::NotZero } else { When::Zero };
                let skip = self.code.jump(is_odd);
                self.code.address_of(LEFT, Memory { base: STAGE, displacement: ahead as i32 });
                self.code.shift_left(LEFT, next.trailing_zeros() as u8 - 1);
                self.code.integers(Integers::Add, LEFT, ALL);
                self.middle(together, (LEFT, 0));
                self.code.land(skip);
            }
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
                self.code.shift_left(LOW, next.trailing_zeros() as u8);
                let newest = Memory { base: HERE, displacement: (next * ahead) as i32 };
                self.code.address_of(HIGH, newest);
                self.code.integers(Integers::Sub, HIGH, LOW);
                self.code.integers(Integers::Add, LOW, ALL);
                self.code.add_number(LEFT, 0);
                let none = self.code.jump(When::Zero);
                let again = self.code.bytes.len();
                self.pairs(together, (LOW, 0), (HIGH, 0));
                self.code.address_of(LOW, Memory { base: LOW, displacement: -(next as i32) });
                self.code.address_of(HIGH, Memory { base: HIGH, displacement: next as i32 });
                self.code.add_number(LEFT, -1);
                self.code.jump_back(When::NotZero, again);
                self.code.land(none);
            }
        }
        for (number, &Products { a, b, ends, are_squares, group, .. }) in
            together.iter().enumerate()
        {
            self.group = group;
            let (low, high) = sums(number);
            if ends == Ends::Both {
                self.add_newest(low, a, b, ahead);
            }
            if ends != Ends::None && !are_squares {
                self.add_newest(high, b, a, ahead);
            }
            let two = Operand::Memory(memory(BESIDE, self.beside.two));
            self.vectors(|code| match are_squares {
                true => code.fused(Fused::Plus231, high, low, two),
                false => code.operation(Operation::Add, high, low, register(high)),
            });
        }
        for (number, products) in together.iter().enumerate() {
            self.group = products.group;
            let to = self.here(products.y, ahead);
            self.vectors(|code| code.store(to, 2 * number as u8 + 1));
        }
        self.group = 0;
    }

    /// The products at two orders.
    fn pairs(&mut self, together: &[Products], low: (Address, usize), high: (Address, usize)) {
        // Side by side, factors that are those of the product before are in registers.
        let mut loaded = None;
        for (number, &Products { a, b, are_squares, group, .. }) in together.iter().enumerate() {
            self.group = group;
            let at = |factor: Factor, (base, order)| (factor, self.factor(factor, base, order));
            let (a_low, b_high, a_high, b_low) = (at(a, low), at(b, high), at(a, high), at(b, low));
            let (first, second) = (2 * number as u8, 2 * number as u8 + 1);
            if self.lanes == 1 {
                self.add_product(first, a_low, b_high);
                if !are_squares {
                    self.add_product(second, a_high, b_low);
                }
                continue;
            }
            let (x, y) = (12, 13);
            let is_there = loaded == Some((a, group, true));
            if !is_there && loaded != Some((a, group, false)) {
                self.load_factor(x, a_low);
            }
            self.code.fused(Fused::Plus231, first, x, Operand::Memory(b_high.1));
            if !are_squares {
                if !is_there {
                    self.load_factor(y, a_high);
                }
                self.code.fused(Fused::Plus231, second, y, Operand::Memory(b_low.1));
            }
            loaded = Some((a, group, is_there || !are_squares));
        }
        self.group = 0;
    }

    fn middle(&mut self, together: &[Products], (base, order): (Address, usize)) {
        for (number, &Products { a, b, group, .. }) in together.iter().enumerate() {
            self.group = group;
            let (a, b) = ((a, self.factor(a, base, order)), (b, self.factor(b, base, order)));
            self.add_product(2 * number as u8 + 1, a, b);
        }
        self.group = 0;
    }

    /// A coefficient, in a register if it was among the last.
    pub(super) fn newest(&self, jet: Jet, ahead: usize) -> Operand {
        if self.unknowns.contains(&(jet, ahead as u32)) {
            return Operand::Memory(self.own(ALL, STILL as usize));
        }
        let held = self.held.iter().find(|(of, _)| *of == (jet, ahead, self.group));
        held.map_or(self.at(jet, ahead), |(_, at)| register(*at))
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
                let factor = self.beside(self.beside.picks, 2 * place as usize);
                let other = self.beside(self.beside.picks, 2 * place as usize + 1);
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
        self.held.retain(|(_, at)| *at != d);
        self.held.push_back(((y, ahead, self.group), d));
        self.next = if d + 1 == HELD.end { HELD.start } else { d + 1 };
    }

    /// The register of an operand; this one, loaded, if it is in memory.
    pub(super) fn taken(&mut self, operand: Operand, d: u8) -> u8 {
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
}
