//! Running series: values, then coefficients order by order.

use super::node::{Ends, Factor, Jet, Last, Solve, Step};
use super::{Correction, Jets, LANES, Node, Series, Shape, place};
use crate::calls;
use crate::lu::Lu;
use crate::tape::{Instruction, Tape};
use dalembert_machine::{Wide, wide};
use std::ops::Range;

impl Series {
    /// Sets the constants and computes what depends on them only. Comes before the first
    /// [`begin`](Series::begin).
    pub fn prepare(&self, jets: &mut Jets, constants: &[f64]) {
        let tape = &*self.tape;
        jets.is_prepared = false;
        jets.values[..tape.numbers.len()].copy_from_slice(&tape.numbers);
        let places = jets.values[tape.first_constant()..][..tape.constants].iter_mut();
        places.zip(constants).for_each(|(place, &value)| *place = value);
        wide(Values { tape, jets, part: 0..tape.prologue });
    }

    /// Takes the values of the variables: coefficients of order 0 of everything, and 0 for all
    /// others of the variables.
    pub fn begin(&self, jets: &mut Jets, x: &[f64]) {
        let tape = &*self.tape;
        self.take_variables(jets, x);
        wide(Values { tape, jets, part: tape.prologue..tape.instructions.len() });
        self.begin_series(jets);
    }

    /// The same with the values of all instructions given, as [`Series::tape_of_values`] has them.
    pub fn begin_with(&self, jets: &mut Jets, x: &[f64], values: &[f64]) {
        self.take_variables(jets, x);
        let body = self.tape.first_instruction() + self.tape.prologue;
        jets.values[body..].copy_from_slice(values);
        self.begin_series(jets);
    }

    pub(super) fn take_variables(&self, jets: &mut Jets, x: &[f64]) {
        let tape = &*self.tape;
        let places = jets.values[tape.first_variable()..][..tape.variables].iter_mut();
        places.zip(x).for_each(|(place, &value)| *place = value);
    }

    /// Order 0 of all series, with all values there.
    pub(super) fn begin_series(&self, jets: &mut Jets) {
        // Nothing else is read before it is found.
        let (room, shape) = (jets.room, jets.shape());
        for &quad in &self.quads_of_variables {
            jets.all.as_mut_slice()[place(quad, 0, shape)..][..LANES * room].fill(0.0);
        }
        let all = jets.all.as_mut_slice();
        for &(place, register) in &jets.begins {
            all[place] = jets.values[register];
        }
        for &(to, from) in &self.packs {
            (to..).zip(from).for_each(|(to, from)| jets.put(to, 0, jets.at(from, 0)));
        }
        let at = self.beside(jets.room);
        let picks = jets.beside.as_mut_slice()[at.picks..].chunks_exact_mut(2);
        for (place, pick) in picks.zip(&self.picks) {
            place.copy_from_slice(&pick.factors(&|r| jets.values[r as usize]));
        }
        let mut first = at.slopes;
        for correction in self.phases.iter().flat_map(|phase| &phase.corrections) {
            if let Correction::Linear { y, op, .. } = correction {
                let slopes = op.slopes(*y, jets, at.picks);
                jets.beside.as_mut_slice()[first..first + 3].copy_from_slice(&slopes);
            }
            first += 3;
        }
    }

    /// Brings what is run ahead in the first phase up to the stage 1: all coefficients that
    /// variables are ahead by have been set.
    pub fn catch_up(&self, jets: &mut Jets) {
        let Some(phase) = self.phases.first() else { return };
        for order in 1..=self.ahead {
            wide(Orders { series: self, jets, nodes: &phase.nodes, at: At::Order(order) });
        }
    }

    /// Runs a phase of a stage.
    pub fn run(&self, jets: &mut Jets, phase: usize, stage: usize) {
        let Some(phase) = self.phases.get(phase) else { return };
        wide(Orders { series: self, jets, nodes: &phase.nodes, at: At::Stage(stage) });
    }

    /// Corrects what was run by the coefficients that the unknowns of the phase have been set to.
    pub fn finish(&self, jets: &mut Jets, phase: usize, stage: usize) {
        let before = self.corrections_before(phase);
        wide(Finish { series: self, jets, phase, stage, before });
    }

    /// How many corrections there are in the phases before one.
    pub(super) fn corrections_before(&self, phase: usize) -> usize {
        self.phases.iter().take(phase).map(|p| p.corrections.len()).sum()
    }
}

/// Values of instructions.
struct Values<'a> {
    tape: &'a Tape,
    jets: &'a mut Jets,
    part: Range<usize>,
}

impl Wide for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Values { tape, jets, part } = self;
        let Jets { values, factors, .. } = jets;
        let first = tape.first_instruction() + part.start;
        let instructions = tape.instructions[part].iter();
        for (into, instruction) in (first..).zip(instructions) {
            macro_rules! at {
                ($r:expr) => {
                    values[$r as usize]
                };
            }
            values[into] = match *instruction {
                Instruction::Add(a, b) => at!(a) + at!(b),
                Instruction::Sub(a, b) => at!(a) - at!(b),
                Instruction::Mul(a, b) => at!(a) * at!(b),
                Instruction::Div(a, b) => at!(a) / at!(b),
                Instruction::Neg(a) => -at!(a),
                Instruction::Fma(a, b, c) => at!(a).mul_add(at!(b), at!(c)),
                Instruction::Sqrt(a) => at!(a).sqrt(),
                Instruction::Pow(a, b) => at!(a).powf(at!(b)),
                Instruction::SinCos(a) => {
                    let (sin, cos) = at!(a).sin_cos();
                    values[into + 1] = cos;
                    sin
                }
                Instruction::Call1(f, a) => calls::one(f)(at!(a)),
                Instruction::Call2(f, a, b) => calls::two(f)(at!(a), at!(b)),
                Instruction::Select(c, a, b) => match at!(c) {
                    c if c.is_nan() => f64::NAN,
                    c if c != 0.0 => at!(a),
                    _ => at!(b),
                },
                Instruction::Factor(matrix) => {
                    let matrix = matrix as usize;
                    factors[matrix].factor(&tape.matrices[matrix], |r| values[r as usize]);
                    continue;
                }
                Instruction::Solve(right) => {
                    let right = &tape.rights[right as usize];
                    let lu = &mut factors[right.matrix as usize];
                    lu.solve(|i| values[right.entries[i] as usize]);
                    values[into..into + lu.solution.len()].copy_from_slice(&lu.solution);
                    continue;
                }
                Instruction::Follow => continue,
                Instruction::Restricted(_) => f64::NAN,
            };
        }
    }
}

#[derive(Clone, Copy)]
enum At {
    Stage(usize),
    /// One order of everything that is at least so much ahead.
    Order(usize),
}

/// Coefficients of nodes.
struct Orders<'a> {
    series: &'a Series,
    jets: &'a mut Jets,
    nodes: &'a [Node],
    at: At,
}

impl Wide for Orders<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Orders { series, jets, nodes, at } = self;
        let shape = jets.shape();
        let Jets { values, all, room, beside, factors, right, .. } = jets;
        let (places, beside) = (series.beside(*room), beside.as_slice());
        let mut rows = Rows { all: all.as_mut_slice(), shape };
        let is_given = matches!(at, At::Order(_));
        for &Node { step, ahead } in nodes {
            let m = match at {
                At::Stage(k) => k + ahead as usize,
                At::Order(m) if m <= ahead as usize => m,
                At::Order(_) => continue,
            };
            // Order 0 is there; what is most ahead may be beyond the last.
            if m == 0 || m >= *room {
                continue;
            }
            match step {
                Step::Products { y, a, b, ends, given } => {
                    let ends = if is_given { given } else { ends };
                    let products = rows.products(a, b, ends, m);
                    let first = place(y, m, shape);
                    rows.all[first..first + LANES].copy_from_slice(&products);
                }
                Step::Pack { to, from, before } => {
                    if before {
                        rows.pack(to, from, m - 1);
                    }
                    if is_given || !before {
                        rows.pack(to, from, m);
                    }
                }
                Step::Last(Last::Solve(at), _) => {
                    let solve = &series.solves[at as usize];
                    solve_order(solve, &mut rows, &mut factors[solve.matrix as usize], right, m);
                }
                Step::Last(last, y) => {
                    let inverse = beside[places.inverses + LANES * m];
                    let picks = &beside[places.picks..];
                    let value = coefficient(&rows, values, (picks, inverse), last, y, m);
                    rows.put(y, m, value);
                }
            }
        }
    }
}

/// All coefficients, with what is known of their places at hand.
struct Rows<'a> {
    all: &'a mut [f64],
    shape: Shape,
}

impl Rows<'_> {
    #[inline(always)]
    fn at(&self, jet: Jet, order: usize) -> f64 {
        self.all[place(jet, order, self.shape)]
    }

    #[inline(always)]
    fn put(&mut self, jet: Jet, order: usize, value: f64) {
        self.all[place(jet, order, self.shape)] = value;
    }

    #[inline(always)]
    fn pack(&mut self, to: Jet, from: [Jet; LANES], m: usize) {
        for (to, from) in (to..).zip(from) {
            self.put(to, m, self.at(from, m));
        }
    }

    #[inline(always)]
    fn four(&self, factor: Factor, order: usize) -> [f64; LANES] {
        match factor {
            Factor::Same(jet) => [self.at(jet, order); LANES],
            Factor::Quad { first, .. } => {
                let first = place(first, order, self.shape);
                let four = &self.all[first..first + LANES];
                [four[0], four[1], four[2], four[3]]
            }
        }
    }

    /// Σ a_j b_{m−j}, from the middle on: what was found last is added last, and to two sums that
    /// do not wait for each other; of squares one is enough, twice.
    #[inline(always)]
    fn products(&self, a: Factor, b: Factor, ends: Ends, m: usize) -> [f64; LANES] {
        let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
        if m.is_multiple_of(2) {
            let (a, b) = (self.four(a, m / 2), self.four(b, m / 2));
            (0..LANES).for_each(|lane| high[lane] = a[lane].mul_add(b[lane], high[lane]));
        }
        let is_square = a == b;
        let mut lo = (m - 1) / 2;
        while lo > 0 {
            let (a_lo, b_hi) = (self.four(a, lo), self.four(b, m - lo));
            (0..LANES).for_each(|lane| low[lane] = a_lo[lane].mul_add(b_hi[lane], low[lane]));
            if !is_square {
                let (a_hi, b_lo) = (self.four(a, m - lo), self.four(b, lo));
                (0..LANES).for_each(|lane| high[lane] = a_hi[lane].mul_add(b_lo[lane], high[lane]));
            }
            lo -= 1;
        }
        if ends == Ends::Both {
            let (a, b) = (self.four(a, 0), self.four(b, m));
            (0..LANES).for_each(|lane| low[lane] = a[lane].mul_add(b[lane], low[lane]));
        }
        if ends != Ends::None && !is_square {
            let (a, b) = (self.four(a, m), self.four(b, 0));
            (0..LANES).for_each(|lane| high[lane] = a[lane].mul_add(b[lane], high[lane]));
        }
        match is_square {
            true => [0, 1, 2, 3].map(|lane| low[lane].mul_add(2.0, high[lane])),
            false => [0, 1, 2, 3].map(|lane| low[lane] + high[lane]),
        }
    }

    /// Σ a_j b_{m−j}, j = 1 … m.
    #[inline(always)]
    fn product(&self, a: Jet, b: Jet, m: usize) -> f64 {
        let mut sum = 0.0;
        for j in 1..=m {
            sum = self.at(a, j).mul_add(self.at(b, m - j), sum);
        }
        sum
    }
}

/// Coefficient m of what has one series, by the factors of picks and 1/m.
#[inline(always)]
fn coefficient(
    rows: &Rows,
    values: &[f64],
    (picks, inverse): (&[f64], f64),
    last: Last,
    y: Jet,
    m: usize,
) -> f64 {
    // No closures: what is not inlined is not compiled for the processor's instructions.
    macro_rules! constant {
        ($register:expr) => {
            values[$register as usize]
        };
    }
    macro_rules! at {
        ($jet:expr) => {
            rows.at($jet, m)
        };
    }
    macro_rules! first {
        ($jet:expr) => {
            rows.at($jet, 0)
        };
    }
    match last {
        Last::Add(a, b) => at!(a) + at!(b),
        Last::Sub(a, b) => at!(a) - at!(b),
        Last::Neg(a) => -at!(a),
        Last::Scale(c, a) => constant!(c) * at!(a),
        Last::ScaleAdd(c, a, b) => constant!(c).mul_add(at!(a), at!(b)),
        Last::Over(a, c) => at!(a) / constant!(c),
        Last::Derivative(a) => m as f64 * at!(a),
        Last::Div(a, p, b) => (at!(a) - at!(p)) / first!(b),
        Last::Sqrt(a, p) => (at!(a) - at!(p)) / (2.0 * first!(y)),
        Last::Integral(p, sign) => sign.of(at!(p) * inverse),
        Last::Quotient(a, p, c, sign) => (sign.of(at!(a)) - at!(p) * inverse) / first!(c),
        Last::Power(p, q, a, e) => (constant!(e) * at!(p) - at!(q)) / (m as f64 * first!(a)),
        Last::Angle([p, q, r], c) => (at!(p) - at!(q) - at!(r)) / (m as f64 * first!(c)),
        Last::Pick(a, b, place) => {
            let (by_first, by_second) = (picks[2 * place as usize], picks[2 * place as usize + 1]);
            by_first * at!(a) + by_second * at!(b)
        }
        // These have several.
        Last::Solve(_) => f64::NAN,
    }
}

/// K₀ x_m = r_m − Σ K_j x_{m−j}
#[inline(always)]
fn solve_order(solve: &Solve, rows: &mut Rows, lu: &mut Lu, right: &mut [f64], m: usize) {
    for (place, &r) in right.iter_mut().zip(&solve.right) {
        *place = rows.at(r, m);
    }
    for &(row, column, entry) in &solve.entries {
        right[row as usize] -= rows.product(entry, solve.x[column as usize], m);
    }
    lu.solve(|i| right[i]);
    for (&x, &value) in solve.x.iter().zip(&lu.solution) {
        rows.put(x, m, value);
    }
}

/// Corrections of a phase.
struct Finish<'a> {
    series: &'a Series,
    jets: &'a mut Jets,
    phase: usize,
    stage: usize,
    /// How many corrections there are in those before it.
    before: usize,
}

impl Wide for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Finish { series, jets, phase, stage, before } = self;
        let Some(phase) = series.phases.get(phase).filter(|phase| phase.corrects()) else { return };
        let shape = jets.shape();
        let Jets { all, room, beside, factors, right, .. } = jets;
        let at = series.beside(*room);
        let (changes, slopes) =
            beside.as_mut_slice()[at.changes..].split_at_mut(at.slopes - at.changes);
        let slopes = slopes[3 * before..].chunks_exact(3);
        let mut rows = Rows { all: all.as_mut_slice(), shape };
        for &(jet, ahead) in &phase.unknowns {
            let order = (stage + ahead as usize).min(*room - 1);
            changes[jet as usize] = rows.at(jet, order);
        }
        for (slopes, correction) in slopes.zip(&phase.corrections) {
            let (y, order, change) = match *correction {
                Correction::Linear { y, ahead, of: [a, b, c], .. } => {
                    let (p, q, r) = (slopes[0], slopes[1], slopes[2]);
                    let rest = q.mul_add(changes[b as usize], r * changes[c as usize]);
                    let sum = p.mul_add(changes[a as usize], rest);
                    (y, stage + ahead as usize, sum)
                }
                Correction::Derivative { y, ahead, of } => {
                    let order = stage + ahead as usize;
                    (y, order, order as f64 * changes[of as usize])
                }
                Correction::Solve { at, ahead } => {
                    let solve = &phase.solves[at as usize];
                    let lu = &mut factors[solve.matrix as usize];
                    correct_solve(solve, &mut rows, changes, lu, right, stage + ahead as usize);
                    continue;
                }
            };
            if order == 0 {
                continue;
            }
            changes[y as usize] = change;
            if order < shape.room {
                rows.put(y, order, rows.at(y, order) + change);
            }
        }
        for &Node { step, ahead } in &phase.again {
            let m = stage + ahead as usize;
            if let Step::Pack { to, from, .. } = step
                && (1..shape.room).contains(&m)
            {
                rows.pack(to, from, m);
            }
        }
    }
}

/// K₀ δx = δr − δK x₀
fn correct_solve(
    solve: &Solve,
    rows: &mut Rows,
    changes: &mut [f64],
    lu: &mut Lu,
    right: &mut [f64],
    m: usize,
) {
    for (place, &r) in right.iter_mut().zip(&solve.right) {
        *place = changes[r as usize];
    }
    for &(row, column, entry) in &solve.entries {
        right[row as usize] -= changes[entry as usize] * rows.at(solve.x[column as usize], 0);
    }
    lu.solve(|i| right[i]);
    for (&x, &change) in solve.x.iter().zip(&lu.solution) {
        changes[x as usize] = change;
        rows.put(x, m, rows.at(x, m) + change);
    }
}
