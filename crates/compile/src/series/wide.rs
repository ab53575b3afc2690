//! Series of several motions side by side: one motion in each lane of a vector.
//!
//! Every coefficient is there once for each motion, and each instruction of the code does for all
//! of them what that of [`SeriesCode`](super::SeriesCode) does for one. Nothing is added across
//! motions and no sum is taken in another order, so a motion has the same coefficients, to the
//! bit, alone and in company, whatever the company is. Where there is no such code, motions are
//! expanded one by one.
//!
//! Constants can be different from motion to motion if they are variables that are
//! [held](super::Variable::Held).

use super::emit::{ALL, BESIDE, Emit, Products, VALUES, memory};
use super::node::{Angle, Factor, Jet, Op, STILL, Sign, Step};
use super::{Beside, Closing, Correction, Integral, LANES, Series, Shape, Source, place};
use crate::backends::machine::BACKEND;
use crate::backends::machine::aligned::Aligned;
use crate::backends::machine::encoder::{Bits, Fused, Operand, Operation};
use crate::backends::{Backend, Function, Scratch};
use dalembert_machine::{Code, Entry};
use std::sync::Arc;

/// Closed series of so many motions, a power of two from four on, up to an order.
pub struct Wide<const W: usize> {
    series: Arc<Series>,
    code: Code<()>,
    values: Box<dyn Function>,
    shape: Shape,
    beside: Beside,
}

/// The coefficients of so many motions.
pub struct WideJets<const W: usize> {
    all: Aligned,
    values: Aligned,
    beside: Aligned,
    scratch: Scratch,
    /// Where the series of variables are; none of constants.
    variables: Vec<Option<usize>>,
    /// The first place of the values of instructions.
    body: usize,
    room: usize,
}

impl<const W: usize> Wide<W> {
    /// Code for series up to an order of whatever is most ahead, and so many stages. `None` where
    /// there is none: on other processors, with linear solves, and where it was not said how
    /// stages are closed.
    pub fn new(series: &Arc<Series>, order: usize, stages: usize) -> Option<Wide<W>> {
        let room = order + 1;
        let beside = series.beside_lanes(room, W);
        let shape = Shape { room, passing: series.passing };
        let closing = series.closing.as_ref()?;
        if !W.is_power_of_two()
            || W < LANES
            || !series.has_code(stages)
            || !series.has_room(&series.jets(order), stages)
        {
            return None;
        }
        let mut emit = Emit::new(series, shape, beside, W);
        emit.begin();
        emit.all_stages(closing, stages);
        let (frame, x) = (W * series.length(room), W * series.tape.registers());
        let entry = Entry { at: 0, frame, x, y: beside.length };
        let code = Code::new(&emit.code.bytes, &[entry]).ok()?;
        let values = BACKEND.compile(series.tape_of_values());
        Some(Wide { series: series.clone(), code, values, shape, beside })
    }

    /// Room for four motions, with the same constants for all of them.
    pub fn jets(&self, constants: &[f64]) -> WideJets<W> {
        let (series, tape) = (&self.series, &self.series.tape);
        let mut one = series.jets(self.shape.room - 1);
        series.prepare(&mut one, constants);
        let mut values = Aligned::new(W * tape.registers());
        let places = values.as_mut_slice().as_chunks_mut::<W>().0;
        places.iter_mut().zip(&one.values).for_each(|(place, value)| *place = [*value; W]);
        let mut scratch = self.values.scratch();
        self.values.prepare(&mut scratch, constants);
        let mut beside = self.beside.list(self.shape.room);
        series.steady_slopes::<W>(&self.beside, beside.as_mut_slice());
        let first = |jet: Jet| (jet != STILL).then(|| W * place(jet, 0, self.shape));
        WideJets {
            all: Aligned::new(W * series.length(self.shape.room)),
            values,
            beside,
            scratch,
            variables: series.variables.iter().map(|&jet| first(jet)).collect(),
            body: tape.first_instruction() + tape.prologue,
            room: self.shape.room,
        }
    }

    /// Takes the values of the variables: order 0 of all outputs.
    pub fn begin(&self, jets: &mut WideJets<W>, x: &[[f64; W]]) {
        let WideJets { values, scratch, body, .. } = jets;
        let results = &mut values.as_mut_slice()[W * *body..];
        self.values.call_many(scratch, W, x.as_flattened(), results);
        self.begin_series(jets, x);
    }

    /// The same with the values of all instructions given, as [`Series::tape_of_values`] has them.
    pub fn begin_with(&self, jets: &mut WideJets<W>, x: &[[f64; W]], values: &[[f64; W]]) {
        let results = &mut jets.values.as_mut_slice()[W * jets.body..];
        results.copy_from_slice(values.as_flattened());
        self.begin_series(jets, x);
    }

    fn begin_series(&self, jets: &mut WideJets<W>, x: &[[f64; W]]) {
        let (series, tape) = (&self.series, &self.series.tape);
        let WideJets { values, beside, .. } = jets;
        let values = values.as_mut_slice();
        let first = W * tape.first_variable();
        values[first..first + W * x.len()].copy_from_slice(x.as_flattened());
        let picks = beside.as_mut_slice()[self.beside.picks..].as_chunks_mut::<W>().0;
        for (places, pick) in picks.chunks_exact_mut(2).zip(&series.picks) {
            for lane in 0..W {
                let of = pick.factors(&|r| values[W * r as usize + lane]);
                (places[0][lane], places[1][lane]) = (of[0], of[1]);
            }
        }
    }

    /// An output of each motion at order 0.
    pub fn output(&self, jets: &WideJets<W>, at: usize) -> [f64; W] {
        let values = jets.values.as_slice().as_chunks().0;
        values[self.series.tape.outputs[at] as usize]
    }

    /// Sets a column of S of each motion: what the unknowns are for 1 in an equation.
    pub fn set_inverse(&self, jets: &mut WideJets<W>, equation: usize, unknowns: &[[f64; W]]) {
        let Some(closing) = &self.series.closing else { return };
        let first = self.beside.matrix + W * equation * closing.column();
        let count = W * closing.equations.min(unknowns.len());
        let column = &mut jets.beside.as_mut_slice()[first..first + count];
        column.copy_from_slice(&unknowns.as_flattened()[..count]);
    }

    /// Runs all stages.
    pub fn run(&self, jets: &mut WideJets<W>) -> bool {
        let WideJets { all, values, beside, .. } = jets;
        let (all, beside) = (all.as_mut_slice(), beside.as_mut_slice());
        self.code.call(0, &mut (), all, values.as_mut_slice(), beside)
    }
}

impl<const W: usize> WideJets<W> {
    /// Sets a coefficient of a variable of each motion.
    pub fn set(&mut self, variable: usize, order: usize, of: [f64; W]) {
        if let Some(first) = self.variables[variable]
            && order < self.room
        {
            let at = first + W * LANES * order;
            self.all.as_mut_slice()[at..at + W].copy_from_slice(&of);
        }
    }

    /// The coefficients of a variable, from order 0 on: one of each motion in every fourth place.
    /// None of a constant.
    #[inline]
    pub fn variable(&self, variable: usize) -> Option<&[[f64; W]]> {
        let first = self.variables[variable]?;
        let all = self.all.as_slice().as_chunks().0;
        all.get(first / W..)?.get(..LANES * (self.room - 1) + 1)
    }
}

impl Series {
    /// How many coefficients there are.
    pub(super) fn length(&self, room: usize) -> usize {
        self.passing + (self.jets - self.passing) * room
    }

    /// Slopes that are the same at every state.
    fn steady_slopes<const W: usize>(&self, at: &Beside, list: &mut [f64]) {
        let slopes = list[at.slopes..].as_chunks_mut::<W>().0.chunks_exact_mut(3);
        let corrections = self.phases.iter().flat_map(|phase| &phase.corrections);
        for (places, correction) in slopes.zip(corrections) {
            let Correction::Linear { op, .. } = correction else { continue };
            let steady = match op {
                Op::Add(..) => [1.0, 1.0, 0.0],
                Op::Sub(..) => [1.0, -1.0, 0.0],
                Op::Neg(_) => [-1.0, 0.0, 0.0],
                Op::ScaleAdd(..) => [0.0, 1.0, 0.0],
                Op::MulAdd(..) => [0.0, 0.0, 1.0],
                _ => [0.0; 3],
            };
            places.iter_mut().zip(steady).for_each(|(place, value)| *place = [value; W]);
        }
    }

    /// Series that are copies of others, by number: the others.
    pub(super) fn originals(&self) -> Vec<Jet> {
        let mut of: Vec<Jet> = (0..self.jets as Jet).collect();
        for &(to, from) in &self.packs {
            (to..).zip(from).for_each(|(to, from)| of[to as usize] = from);
        }
        for at in 0..of.len() {
            while of[of[at] as usize] != of[at] {
                of[at] = of[of[at] as usize];
            }
        }
        of
    }

    /// Which series are read, or asked for.
    pub(super) fn is_read(&self, originals: &[Jet]) -> Vec<bool> {
        let mut is_read = vec![false; self.jets];
        let mut see = |jet: Jet| is_read[originals[jet as usize] as usize] = true;
        self.variables.iter().chain(&self.outputs).for_each(|&jet| see(jet));
        for phase in &self.phases {
            for node in &phase.nodes {
                match node.step {
                    Step::Last(last, y) => {
                        see(y);
                        last.reads(&mut see);
                    }
                    Step::Products { a, b, .. } => {
                        a.lanes().into_iter().chain(b.lanes()).for_each(&mut see);
                    }
                    Step::Pack { .. } => {}
                }
            }
            for correction in &phase.corrections {
                match *correction {
                    Correction::Linear { y, of, .. } => [y, of[0], of[1], of[2]].map(&mut see),
                    Correction::Derivative { y, of, .. } => [y, of, of, of].map(&mut see),
                    Correction::Solve { .. } => continue,
                };
            }
        }
        is_read
    }
}

impl Factor {
    /// The four of them.
    fn lanes(self) -> [Jet; LANES] {
        match self {
            Factor::Same(jet) => [jet; LANES],
            Factor::Quad { first, .. } => [0, 1, 2, 3].map(|lane| first + lane),
        }
    }
}

impl Emit<'_> {
    /// Four products as one after the other, of those that are read.
    pub(super) fn apart(&self, of: &Products) -> Vec<Products> {
        let original = |jet: Jet| Factor::Same(self.originals[jet as usize]);
        let lanes = of.a.lanes().into_iter().zip(of.b.lanes()).zip(of.y..);
        let read = lanes.filter(|(_, y)| self.is_read[*y as usize]);
        let mut one: Vec<Products> =
            read.map(|((a, b), y)| Products { y, a: original(a), b: original(b), ..*of }).collect();
        // Products with a factor in common follow on each other.
        one.sort_by_key(|products| products.a.lanes()[0]);
        let groups = 0..self.groups();
        groups.flat_map(|group| one.iter().map(move |p| Products { group, ..*p })).collect()
    }

    /// x[k] = S r, and the integrals of x, each by itself.
    pub(super) fn solve_one_by_one(&mut self, closing: &Closing) {
        self.held.clear();
        self.unknowns.clone_from(&self.series.phases[0].unknowns);
        let count = closing.equations;
        for equation in 0..count {
            let ahead = self.series.when.1[equation].ahead;
            self.for_each_group(&mut |this| {
                this.load(0, this.newest(this.series.outputs[equation], ahead));
                let level = Operand::Memory(this.table(this.beside.levels[ahead], 0));
                this.does(Operation::Mul, 0, 0, level);
                let to = this.beside(this.beside.rights, equation);
                this.code.store(to, 0);
            });
        }
        self.unknowns.clear();
        let sums = closing.sums() as u8;
        for unknown in 0..count {
            self.for_each_group(&mut |this| {
                // Those of the next one need not wait.
                let first = 2 * ((unknown * this.groups() + this.group) % 4) as u8;
                (first..first + sums).for_each(|d| {
                    this.code.bits(Bits::Xor, d, d, Operand::Register(d));
                });
                for equation in 0..count {
                    let entry = equation * closing.column() + unknown;
                    this.load(8, Operand::Memory(this.beside(this.beside.rights, equation)));
                    let entry = Operand::Memory(this.beside(this.beside.matrix, entry));
                    this.code.fused(Fused::Plus231, first + equation as u8 % sums, 8, entry);
                }
                if sums == 2 {
                    this.does(Operation::Add, first, first, Operand::Register(first + 1));
                }
                let to = this.here(this.series.variables[closing.unknowns + unknown], 0);
                this.code.store(to, first);
            });
        }
        for &Integral { first, count, of } in &closing.integrals {
            if let Source::Variables(from) = of {
                let ahead = self.series.ahead_of(first);
                self.integrals(first, Series::ids(&self.series.variables, from, count), ahead);
            }
        }
    }

    /// Order 0 of all series, and slopes there.
    pub(super) fn begin(&mut self) {
        let series = self.series;
        for &(jet, register) in &series.begins {
            self.for_each_group(&mut |this| {
                this.load(0, Operand::Memory(this.own(VALUES, register as usize)));
                let to = this.own(ALL, place(jet, 0, this.shape));
                this.code.store(to, 0);
            });
        }
        let corrections = series.phases.iter().flat_map(|phase| &phase.corrections);
        for (number, correction) in corrections.enumerate() {
            if let Correction::Linear { y, op, .. } = *correction {
                self.for_each_group(&mut |this| this.slopes(number, op, y));
            }
        }
    }

    fn slopes(&mut self, number: usize, op: Op, y: Jet) {
        let at = |this: &Emit, jet: Jet| Operand::Memory(this.own(ALL, place(jet, 0, this.shape)));
        let one = Operand::Memory(memory(BESIDE, self.beside.one));
        let half = Operand::Memory(memory(BESIDE, self.beside.half));
        let zeros = Operand::Memory(memory(BESIDE, self.beside.sign));
        let put = |this: &mut Emit, which: usize, of: &[Operand], over: Option<Operand>, sign| {
            this.load(0, of[0]);
            if let Some(by) = of.get(1) {
                this.does(Operation::Mul, 0, 0, *by);
            }
            if let Some(over) = over {
                this.does(Operation::Div, 0, 0, over);
            }
            if sign == Sign::Minus {
                this.code.bits(Bits::Xor, 0, 0, zeros);
            }
            let to = this.beside(this.beside.slopes, 3 * number + which);
            this.code.store(to, 0);
        };
        let plus = Sign::Plus;
        match op {
            Op::Add(..) | Op::Sub(..) | Op::Neg(_) | Op::Derivative(_) | Op::Solve(_) => {}
            Op::Scale(c, _) | Op::ScaleAdd(c, ..) => put(self, 0, &[self.constant(c)], None, plus),
            Op::Over(_, c) => put(self, 0, &[one], Some(self.constant(c)), plus),
            Op::Mul(a, b) | Op::MulAdd(a, b, _) => {
                put(self, 0, &[at(self, b)], None, plus);
                put(self, 1, &[at(self, a)], None, plus);
            }
            Op::Div(_, b) => {
                let (y, b) = (at(self, y), at(self, b));
                put(self, 0, &[one], Some(b), plus);
                put(self, 1, &[y], Some(b), Sign::Minus);
            }
            Op::Sqrt(_) => put(self, 0, &[half], Some(at(self, y)), plus),
            Op::Exp(..) => put(self, 0, &[at(self, y)], None, plus),
            Op::Log(a, _) => put(self, 0, &[one], Some(at(self, a)), plus),
            Op::Power(a, _, _, e) => {
                let (e, y, a) = (self.constant(e), at(self, y), at(self, a));
                put(self, 0, &[e, y], Some(a), plus);
            }
            Op::SinCos(_, _, cos) => put(self, 0, &[at(self, cos)], None, plus),
            Op::Slope(_, _, c, sign) => put(self, 0, &[at(self, c)], None, sign),
            Op::Quotient(_, c, _, sign) => put(self, 0, &[one], Some(at(self, c)), sign),
            Op::Angle(Angle { a, b, c, .. }) => {
                let (a, b, c) = (at(self, a), at(self, b), at(self, c));
                put(self, 0, &[b], Some(c), Sign::Minus);
                put(self, 1, &[a], Some(c), plus);
            }
            Op::Pick(_, _, place) => {
                for which in 0..2 {
                    let factor = self.beside(self.beside.picks, 2 * place as usize + which);
                    put(self, which, &[Operand::Memory(factor)], None, plus);
                }
            }
        }
    }
}
