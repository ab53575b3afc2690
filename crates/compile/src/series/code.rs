//! Series as machine code: every recurrence of every stage, one after the other.
//!
//! With the order known, so is the place of every coefficient and the length of every sum: a stage
//! is code without jumps, and what an interpreter spends on finding out what to do is not there.
//! The operations are those of the interpreter in its order, so the coefficients are the same to
//! the bit. Code grows with the square of the order: it is for small systems.

use super::node::{Angle, Jet, Op, Sign};
use super::{BLOCK, Beside, Correction, Jets, Node, Series, stride};
use crate::backends::machine::encoder::{
    Address, Bits, Encoder, Fused, Memory, Operand, Operation, Width,
};
use crate::backends::machine::is_available;
use crate::tape::Register;
use dalembert_machine::{Code, Entry};

/// Longer code is no faster than the interpreter: it has to come from memory.
const LONGEST: usize = 400_000;

/// The machine code of series up to an order.
#[derive(Debug)]
pub struct SeriesCode {
    code: Code<()>,
    room: usize,
    /// How many stages there are, from 1 on.
    stages: usize,
    phases: usize,
}

impl SeriesCode {
    /// Runs a phase of a stage, as [`Series::run`] does; false if there is no code for it.
    pub fn run(&self, jets: &mut Jets, phase: usize, stage: usize) -> bool {
        self.call(jets, phase, stage, 0)
    }

    /// Corrects as [`Series::finish`] does; false if there is no code for it.
    pub fn finish(&self, jets: &mut Jets, phase: usize, stage: usize) -> bool {
        self.call(jets, phase, stage, 1)
    }

    #[inline]
    fn call(&self, jets: &mut Jets, phase: usize, stage: usize, part: usize) -> bool {
        if jets.room != self.room || !(1..=self.stages).contains(&stage) || phase >= self.phases {
            return false;
        }
        let entry = ((stage - 1) * self.phases + phase) * 2 + part;
        let Jets { all, values, beside, .. } = jets;
        self.code.call(entry, &mut (), all, values, beside)
    }
}

impl Series {
    /// Machine code for stages from 1 on, for jets of an order; `None` where there is none: on
    /// other processors, with linear solves, and where it would be too long.
    pub fn assemble(&self, order: usize, stages: usize) -> Option<SeriesCode> {
        let mut nodes = self.phases.iter().flat_map(|phase| &phase.nodes);
        if !is_available() || nodes.any(|node| matches!(node.op, Op::Solve(_))) {
            return None;
        }
        let jets = self.jets(order);
        let room = jets.room;
        let mut emit =
            Emit { code: Encoder::new(Width::One, 1 << 16), room, beside: self.beside(room) };
        let (frame, x, y) = (jets.all.len(), jets.values.len(), jets.beside.len());
        let mut entries = Vec::new();
        for stage in 1..=stages {
            for (number, phase) in self.phases.iter().enumerate() {
                entries.push(Entry { at: emit.code.bytes.len(), frame, x, y });
                for node in &phase.nodes {
                    // What is most ahead may be beyond the last order.
                    if stage + (node.ahead as usize) < room {
                        emit.node(node, stage + node.ahead as usize);
                    }
                }
                emit.leave();
                entries.push(Entry { at: emit.code.bytes.len(), frame, x, y });
                for &(jet, ahead) in &phase.unknowns {
                    emit.take(jet, stage + ahead as usize);
                }
                let before = self.corrections_before(number);
                for (at, correction) in phase.corrections.iter().enumerate() {
                    emit.correction(before + at, correction, stage);
                }
                emit.leave();
            }
            if emit.code.bytes.len() > LONGEST {
                return None;
            }
        }
        let code = Code::new(&emit.code.bytes, &entries).ok()?;
        Some(SeriesCode { code, room, stages, phases: self.phases.len() })
    }
}

/// The registers of the lists.
const ALL: Address = Address::Rsi;
const VALUES: Address = Address::Rdx;
const BESIDE: Address = Address::Rcx;

struct Emit {
    code: Encoder,
    room: usize,
    beside: Beside,
}

fn memory(base: Address, place: usize) -> Operand {
    Operand::Memory(at(base, place))
}

fn at(base: Address, place: usize) -> Memory {
    Memory { base, displacement: (8 * place) as i32 }
}

impl Emit {
    fn leave(&mut self) {
        self.code.clear_upper();
        self.code.ret();
    }

    fn coefficient(&self, jet: Jet, order: usize) -> Operand {
        memory(ALL, jet as usize * stride(self.room) + order)
    }

    fn order(&self, order: usize) -> Operand {
        memory(BESIDE, self.beside.orders + order)
    }

    fn change(&self, jet: Jet) -> Operand {
        memory(BESIDE, self.beside.changes + jet as usize)
    }

    fn constant(&self, register: Register) -> Operand {
        memory(VALUES, register as usize)
    }

    fn load(&mut self, d: u8, from: Operand) {
        self.code.load(d, from);
    }

    fn does(&mut self, what: Operation, d: u8, a: u8, b: Operand) {
        self.code.operation(what, d, a, b);
    }

    fn negate(&mut self, d: u8) {
        self.code.bits(Bits::Xor, d, d, memory(BESIDE, 0));
    }

    fn signed(&mut self, d: u8, sign: Sign) {
        if sign == Sign::Minus {
            self.negate(d);
        }
    }

    /// y_m = d
    fn put(&mut self, y: Jet, m: usize, d: u8) {
        let first = y as usize * stride(self.room);
        self.code.store(at(ALL, first + m), d);
        self.code.store(at(ALL, first + 2 * self.room - 1 - m), d);
    }

    /// d = Σ a_j b_{m−j}; the register after it is used.
    fn product(&mut self, d: u8, a: Jet, b: Jet, m: usize) {
        let stride = stride(self.room);
        let (a, b) = (a as usize * stride, b as usize * stride + 2 * self.room - 1 - m);
        self.code.width = Width::Four;
        self.code.bits(Bits::Xor, d, d, Operand::Register(d));
        for block in (0..=m).step_by(BLOCK) {
            self.code.load(d + 1, memory(ALL, a + block));
            self.code.fused(Fused::Plus231, d, d + 1, memory(ALL, b + block));
        }
        self.code.upper(d + 1, d);
        self.code.operation(Operation::Add, d, d, Operand::Register(d + 1));
        self.code.width = Width::One;
        self.code.second(d + 1, d);
        self.code.operation(Operation::Add, d, d, Operand::Register(d + 1));
    }

    /// Coefficient m of a node.
    fn node(&mut self, &Node { op, y, .. }: &Node, m: usize) {
        use Operation::{Add, Div, Mul, Sub};
        let of = |this: &Emit, jet: Jet| this.coefficient(jet, m);
        let first = |this: &Emit, jet: Jet| this.coefficient(jet, 0);
        let register = Operand::Register;
        match op {
            Op::Add(a, b) => {
                self.load(0, of(self, a));
                self.does(Add, 0, 0, of(self, b));
            }
            Op::Sub(a, b) => {
                self.load(0, of(self, a));
                self.does(Sub, 0, 0, of(self, b));
            }
            Op::Neg(a) => {
                self.load(0, of(self, a));
                self.negate(0);
            }
            Op::Scale(c, a) => {
                self.load(0, self.constant(c));
                self.does(Mul, 0, 0, of(self, a));
            }
            Op::ScaleAdd(c, a, b) => {
                self.load(0, of(self, b));
                self.load(1, self.constant(c));
                self.code.fused(Fused::Plus231, 0, 1, of(self, a));
            }
            Op::Over(a, c) => {
                self.load(0, of(self, a));
                self.does(Div, 0, 0, self.constant(c));
            }
            Op::Mul(a, b) => self.product(0, a, b, m),
            Op::MulAdd(a, b, c) => {
                self.product(0, a, b, m);
                self.does(Add, 0, 0, of(self, c));
            }
            Op::Div(a, b) => {
                self.product(2, b, y, m);
                self.load(0, of(self, a));
                self.does(Sub, 0, 0, register(2));
                self.does(Div, 0, 0, first(self, b));
            }
            Op::Sqrt(a) => {
                self.product(2, y, y, m);
                self.load(0, of(self, a));
                self.does(Sub, 0, 0, register(2));
                self.load(1, self.order(2));
                self.does(Mul, 1, 1, first(self, y));
                self.does(Div, 0, 0, register(1));
            }
            Op::Derivative(a) => {
                self.load(0, self.order(m));
                self.does(Mul, 0, 0, of(self, a));
            }
            Op::Exp(_, dot) => {
                self.product(0, dot, y, m);
                self.does(Div, 0, 0, self.order(m));
            }
            Op::Log(a, y_dot) => {
                self.product(2, y_dot, a, m);
                self.does(Div, 2, 2, self.order(m));
                self.load(0, of(self, a));
                self.does(Sub, 0, 0, register(2));
                self.does(Div, 0, 0, first(self, a));
            }
            Op::Power(a, a_dot, y_dot, e) => {
                self.product(0, a_dot, y, m);
                self.does(Mul, 0, 0, self.constant(e));
                self.product(2, y_dot, a, m);
                self.does(Sub, 0, 0, register(2));
                self.over_order(m, a);
            }
            Op::SinCos(_, dot, cos) => {
                self.product(2, dot, y, m);
                self.product(0, dot, cos, m);
                self.does(Div, 0, 0, self.order(m));
                self.negate(2);
                self.does(Div, 2, 2, self.order(m));
                self.put(cos, m, 2);
            }
            Op::Slope(_, dot, c, sign) => {
                self.product(0, dot, c, m);
                self.does(Div, 0, 0, self.order(m));
                self.signed(0, sign);
            }
            Op::Quotient(a, c, y_dot, sign) => {
                self.product(2, y_dot, c, m);
                self.does(Div, 2, 2, self.order(m));
                self.load(0, of(self, a));
                self.signed(0, sign);
                self.does(Sub, 0, 0, register(2));
                self.does(Div, 0, 0, first(self, c));
            }
            Op::Angle(Angle { b, a, b_dot, a_dot, c, y_dot }) => {
                self.product(0, b_dot, a, m);
                self.product(2, a_dot, b, m);
                self.does(Sub, 0, 0, register(2));
                self.product(2, y_dot, c, m);
                self.does(Sub, 0, 0, register(2));
                self.over_order(m, c);
            }
            Op::Pick(a, b, place) => {
                let factor = self.beside.picks + 2 * place as usize;
                self.load(0, memory(BESIDE, factor));
                self.does(Mul, 0, 0, of(self, a));
                self.load(1, memory(BESIDE, factor + 1));
                self.does(Mul, 1, 1, of(self, b));
                self.does(Add, 0, 0, register(1));
            }
            // There is no code for tapes with these.
            Op::Solve(_) => return,
        }
        self.put(y, m, 0);
    }

    /// Register 0 over m a_0.
    fn over_order(&mut self, m: usize, a: Jet) {
        self.load(1, self.order(m));
        self.does(Operation::Mul, 1, 1, self.coefficient(a, 0));
        self.does(Operation::Div, 0, 0, Operand::Register(1));
    }

    /// The change of an unknown is its newest coefficient.
    fn take(&mut self, jet: Jet, order: usize) {
        if order < self.room {
            self.load(0, self.coefficient(jet, order));
            self.code.store(at(BESIDE, self.beside.changes + jet as usize), 0);
        }
    }

    fn correction(&mut self, number: usize, correction: &Correction, stage: usize) {
        let (y, ahead) = match *correction {
            Correction::Linear { y, ahead, of: [a, b, c], .. } => {
                let slope = |at: usize| memory(BESIDE, self.beside.slopes + 3 * number + at);
                let (p, q, r) = (slope(0), slope(1), slope(2));
                self.load(0, r);
                self.does(Operation::Mul, 0, 0, self.change(c));
                self.load(1, q);
                self.code.fused(Fused::Plus231, 0, 1, self.change(b));
                self.load(1, p);
                self.code.fused(Fused::Plus231, 0, 1, self.change(a));
                (y, ahead)
            }
            Correction::Derivative { y, ahead, of } => {
                self.load(0, self.order((stage + ahead as usize).min(self.room - 1)));
                self.does(Operation::Mul, 0, 0, self.change(of));
                (y, ahead)
            }
            Correction::Solve { .. } => return,
        };
        let order = stage + ahead as usize;
        self.code.store(at(BESIDE, self.beside.changes + y as usize), 0);
        if order < self.room {
            self.load(1, self.coefficient(y, order));
            self.does(Operation::Add, 0, 1, Operand::Register(0));
            self.put(y, order, 0);
        }
    }
}
