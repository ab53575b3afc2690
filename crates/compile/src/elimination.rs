//! Linear equations with a symmetric matrix, and least problems under linear equations, solved by
//! instructions of the tape that computes their terms.
//!
//! ```text
//! Γ x = f + g + Aᵀμ ,   A x = b
//! A = L Qᵀ ,   N = Q [0; I] ,   K = NᵀΓN ,   y = Q L⁻¹b
//! K z = Nᵀ(f + g − Γy) ,   x = y + N z ,   Lᵀμ = Qᵀ(Γx − f − g)
//! ```
//!
//! and K by W = D U, W_ij = K_ij − Σ_{k<i} U_ki W_kj, U_ki = W_ki / W_kk.
//!
//! A small problem is done with in fewer operations than it takes to hand it to somebody else: its
//! entries stay in registers, and what is 0 by structure is not computed with. Nothing is
//! exchanged; that the order serves is known from elsewhere, and watched: where a pivot is less
//! than a given part of what it is taken from, the last output is no number.
//!
//! The operations are written down such that whoever does the same elsewhere has the same bits:
//! an entry of W takes its products one after the other, k by k, fused; sums of products are four
//! sums side by side, as those of the small dense kernels are.

use crate::tape::{Instruction, Register, Tape};
use dalembert_expr::Function;
use std::ops::Range;

/// Below this the squares of a row have lost their digits.
const LEAST_SQUARES: f64 = 1e-280;

/// A problem by the outputs of a tape; where there is none an entry is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// How many unknowns there are.
    pub size: usize,
    /// Γ, row by row; the upper triangle counts.
    pub matrix: Vec<Option<usize>>,
    /// The outputs of f and of g; empty if no solution is asked for.
    pub right: Vec<[usize; 2]>,
    /// A, row by row.
    pub rows: Vec<Option<usize>>,
    /// b.
    pub bias: Vec<Option<usize>>,
    /// What μ of rows are multiplied by and added to the last output: rows and outputs, in the order
    /// in which these are summed up.
    pub weights: Vec<(usize, usize)>,
    /// Where each unknown goes in the solution.
    pub places: Vec<usize>,
    /// Outputs that are kept, ahead of the solution.
    pub kept: Range<usize>,
    /// The output behind it, which is no number where a pivot has fallen.
    pub last: usize,
    /// Whether μ of all rows come behind the last output, in the order of the rows.
    pub has_multipliers: bool,
    /// The equations, first those of Γ in the order of the unknowns, then the rows, for which
    /// solutions come behind these: x, in the order of the solution, and μ for 1 in the equation
    /// and 0 in all others.
    pub inverse: Range<usize>,
    /// Outputs that are kept, behind all others.
    pub more: Range<usize>,
}

impl Problem {
    /// How many constants are added: the least part for the pivots of K; with rows in front of
    /// that the unit of each unknown, the unit of each row, and the least part for its pivot.
    pub fn constants(&self) -> usize {
        let (n, r) = (self.size, self.bias.len());
        if r == 0 { n } else { n + 2 * r + (n - r) }
    }
}

type Entry = Option<Register>;

impl Tape {
    /// A tape with some of the outputs, the solution of a problem between others, and one more that
    /// is no number where a pivot is below the part that a constant says. Its constants come behind
    /// those that there are. There are fewer rows than unknowns, or as many.
    pub fn solved(mut self, problem: &Problem) -> Tape {
        let [minus_one, one] = [-1.0, 1.0].map(|value| self.number(value));
        let least = self.number(LEAST_SQUARES);
        let first = self.first_variable() as Register;
        let count = problem.constants() as Register;
        self.rename(&|r| if r >= first { r + count } else { r });
        self.constants += count as usize;
        let known = [minus_one, one, least];
        let mut adding =
            Adding { next: self.registers() as Register, list: Vec::new(), fallen: None, known };
        let output = |at: Option<usize>| at.map(|at| self.outputs[at]);
        let (n, r) = (problem.size, problem.bias.len());
        let metric: Vec<Entry> = (0..n * n)
            .map(|at| (at / n, at % n))
            .map(|(i, j)| output(problem.matrix[i.min(j) * n + i.max(j)]))
            .collect();
        let force: Vec<Entry> = problem
            .right
            .iter()
            .map(|&[f, g]| adding.add(output(Some(f)), output(Some(g))))
            .collect();
        let mut last = output(Some(problem.last));
        let rows: Vec<Entry> = problem.rows.iter().map(|&at| output(at)).collect();
        let bias: Vec<Entry> = problem.bias.iter().map(|&at| output(at)).collect();
        let mut factored = adding.factored(n, r, first, metric, rows);
        let x = match force.is_empty() {
            true => Vec::new(),
            false => adding.x(&mut factored, &force, &bias),
        };
        let needs_multipliers = problem.has_multipliers || !problem.weights.is_empty();
        let mu = match needs_multipliers {
            true => adding.multipliers(&factored),
            false => Vec::new(),
        };
        let mut work = None;
        for &(row, at) in &problem.weights {
            let along = adding.multiply(mu[row], Some(self.outputs[at]));
            work = adding.add(work, along);
        }
        last = adding.add(last, work);
        let mut columns: Vec<Entry> = Vec::new();
        let one = Some(one);
        for equation in problem.inverse.clone() {
            let [mut force, mut bias] = [vec![None; n], vec![None; r]];
            match equation.checked_sub(n) {
                None => force[equation] = one,
                Some(row) => bias[row] = one,
            }
            let x = adding.x(&mut factored, &force, &bias);
            let mu = adding.multipliers(&factored);
            let mut column = vec![None; n];
            problem.places.iter().zip(x).for_each(|(&place, x)| column[place] = x);
            columns.extend(column.into_iter().chain(mu));
        }
        if let Some(fallen) = adding.fallen {
            let negative = adding.emit(Instruction::Neg(fallen));
            let nothing = adding.emit(Instruction::Sqrt(negative));
            last = adding.add(last, Some(nothing));
        }
        let mut solution = vec![0; x.len()];
        for (&place, x) in problem.places.iter().zip(x) {
            solution[place] = x.unwrap_or_else(|| adding.zero());
        }
        let last = last.unwrap_or_else(|| adding.zero());
        let mu = if problem.has_multipliers { mu } else { Vec::new() };
        let behind: Vec<Register> =
            mu.into_iter().chain(columns).map(|at| at.unwrap_or_else(|| adding.zero())).collect();
        let kept = self.outputs[problem.kept.clone()].iter().copied();
        let more = self.outputs[problem.more.clone()].iter().copied();
        self.outputs = kept.chain(solution).chain([last]).chain(behind).chain(more).collect();
        self.append(adding.list);
        self.sweep();
        self
    }

    /// The tape with some of its outputs, and nothing else.
    pub fn with_outputs(mut self, outputs: impl Iterator<Item = usize>) -> Tape {
        self.outputs = outputs.map(|at| self.outputs[at]).collect();
        self.sweep();
        self
    }

    /// Leaves out what no output needs any more.
    pub(crate) fn sweep(&mut self) {
        let first = self.first_instruction();
        let mut factors = vec![None; self.matrices.len()];
        for (at, instruction) in self.instructions.iter().enumerate() {
            if let Instruction::Factor(matrix) = instruction {
                factors[*matrix as usize] = Some(at);
            }
        }
        let mut is_needed = vec![false; self.instructions.len()];
        for &r in self.outputs.iter().filter(|r| **r as usize >= first) {
            is_needed[r as usize - first] = true;
        }
        // What follows is needed with what it follows, and the other way around.
        let mut end = self.instructions.len();
        for at in (0..self.instructions.len()).rev() {
            if self.instructions[at] == Instruction::Follow {
                continue;
            }
            let group = is_needed[at..end].iter().any(|needed| *needed);
            is_needed[at..end].fill(group);
            end = at;
            if !group {
                continue;
            }
            let instruction = self.instructions[at];
            self.reads(&instruction, &mut |r| {
                if r as usize >= first {
                    is_needed[r as usize - first] = true;
                }
            });
            if let Instruction::Solve(right) = instruction
                && let Some(factor) = factors[self.rights[right as usize].matrix as usize]
            {
                is_needed[factor] = true;
            }
        }
        let mut place = vec![0; is_needed.len()];
        let mut count = 0;
        for (place, needed) in place.iter_mut().zip(&is_needed) {
            *place = (first + count) as Register;
            count += usize::from(*needed);
        }
        let all = self.instructions.iter().zip(&is_needed);
        for (instruction, _) in all.filter(|(_, needed)| !**needed) {
            match *instruction {
                Instruction::Factor(matrix) => self.matrices[matrix as usize].entries.clear(),
                Instruction::Solve(right) => self.rights[right as usize].entries.clear(),
                Instruction::Restricted(number) => {
                    self.restricted[number as usize].entries.clear();
                }
                _ => {}
            }
        }
        self.prologue = is_needed[..self.prologue].iter().filter(|needed| **needed).count();
        let mut needed = is_needed.iter();
        self.instructions.retain(|_| needed.next().is_some_and(|needed| *needed));
        self.rename(&|r| if (r as usize) < first { r } else { place[r as usize - first] });
    }

    /// The register of a number, which is added if need be.
    pub(crate) fn number(&mut self, value: f64) -> Register {
        let known = self.numbers.iter().position(|x| x.to_bits() == value.to_bits());
        let place = known.unwrap_or_else(|| {
            let place = self.numbers.len() as Register;
            self.rename(&|r| if r >= place { r + 1 } else { r });
            self.numbers.push(value);
            place as usize
        });
        place as Register
    }

    /// Adds instructions at the end; those without variables go to the end of the prologue.
    pub(crate) fn append(&mut self, list: Vec<Instruction>) {
        let (first, old, count) =
            (self.first_instruction(), self.instructions.len(), self.prologue);
        let variables = self.first_variable()..first;
        let mut moves: Vec<bool> = (0..old).map(|at| at >= count).collect();
        for instruction in &list {
            let (registers, operands) = instruction.operands();
            let is_moving = |&r: &Register| {
                let at = r as usize;
                variables.contains(&at) || (at >= first && moves[at - first])
            };
            let own = match instruction {
                Instruction::Follow => moves.last().copied().unwrap_or(true),
                _ => registers[..operands].iter().any(is_moving),
            };
            moves.push(own);
        }
        let still: Vec<usize> = (old..moves.len()).filter(|&at| !moves[at]).collect();
        let moved = (old..moves.len()).filter(|&at| moves[at]);
        let order: Vec<usize> =
            (0..count).chain(still.iter().copied()).chain(count..old).chain(moved).collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = (first + new) as Register);
        self.instructions.extend(list);
        self.instructions = order.iter().map(|&at| self.instructions[at]).collect();
        self.prologue += still.len();
        self.rename(&|r| if (r as usize) < first { r } else { place[r as usize - first] });
    }
}

/// A factored problem: the units from a register on, Γ, A = L Qᵀ, N and K.
#[derive(Default)]
struct Factored {
    n: usize,
    first: Register,
    metric: Vec<Entry>,
    q: Vec<Row>,
    basis: Vec<Vec<Entry>>,
    k: Factors,
    /// The last solution and its force, in these units.
    scaled: Vec<Entry>,
    force: Vec<Entry>,
}

/// A factored K.
#[derive(Default)]
struct Factors {
    /// −U above the diagonal.
    u: Vec<Vec<Entry>>,
    /// 1/D.
    inverses: Vec<Register>,
}

/// A factored row of A: the entries of L, then v of its reflection and τ; no τ where v is 0.
struct Row {
    l: Vec<Entry>,
    v: Vec<Entry>,
    tau: Entry,
}

/// Instructions that are being added.
struct Adding {
    next: Register,
    list: Vec<Instruction>,
    /// 0 as long as no pivot has fallen.
    fallen: Entry,
    /// −1, 1, and [`LEAST_SQUARES`].
    known: [Register; 3],
}

impl Adding {
    fn emit(&mut self, instruction: Instruction) -> Register {
        self.list.push(instruction);
        self.next += 1;
        self.next - 1
    }

    fn zero(&mut self) -> Register {
        self.emit(Instruction::Sub(self.known[1], self.known[1]))
    }

    fn add(&mut self, a: Entry, b: Entry) -> Entry {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.emit(Instruction::Add(a, b))),
            (a, b) => a.or(b),
        }
    }

    fn subtract(&mut self, a: Entry, b: Entry) -> Entry {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.emit(Instruction::Sub(a, b))),
            (None, Some(b)) => Some(self.emit(Instruction::Neg(b))),
            (a, None) => a,
        }
    }

    fn multiply(&mut self, a: Entry, b: Entry) -> Entry {
        let (a, b) = (a?, b?);
        // Columns of the identity have ones.
        Some(if b == self.known[1] { a } else { self.emit(Instruction::Mul(a, b)) })
    }

    /// a · b + c with one rounding.
    fn fused(&mut self, a: Entry, b: Entry, c: Entry) -> Entry {
        match (a, b, c) {
            (Some(a), Some(b), Some(c)) => Some(self.emit(Instruction::Fma(a, b, c))),
            (Some(a), Some(b), None) => Some(self.emit(Instruction::Mul(a, b))),
            _ => c,
        }
    }

    fn divide(&mut self, a: Entry, b: Entry) -> Entry {
        let b = b.unwrap_or_else(|| self.zero());
        Some(self.emit(Instruction::Div(a?, b)))
    }

    /// Σ x_i y_i, as four sums side by side from four products on.
    fn dot(&mut self, x: &[Entry], y: &[Entry]) -> Entry {
        let n = x.len().min(y.len());
        let mut sums = [None; 5];
        for i in 0..n {
            let product = self.multiply(x[i], y[i]);
            let at = if n < 4 || i >= n - n % 4 { 4 } else { i % 4 };
            sums[at] = self.add(sums[at], product);
        }
        let (a, b) = (self.add(sums[0], sums[2]), self.add(sums[1], sums[3]));
        let sum = self.add(a, b);
        self.add(sum, sums[4])
    }

    /// Notes whether a number is negative.
    fn watch(&mut self, margin: Register) {
        // |m| − m is 0 unless m is negative.
        let size = self.emit(Instruction::Call1(Function::Abs, margin));
        let below = self.emit(Instruction::Sub(size, margin));
        self.fallen = self.add(self.fallen, Some(below));
    }

    /// Notes whether a pivot is below a part of something.
    fn watch_pivot(&mut self, pivot: Register, part: Register, whole: Entry) {
        let least = whole.map(|whole| {
            let size = self.emit(Instruction::Call1(Function::Abs, whole));
            self.emit(Instruction::Mul(part, size))
        });
        if let Some(margin) = self.subtract(Some(pivot), least) {
            self.watch(margin);
        }
    }

    /// K = UᵀDU; the least parts for its pivots are in registers from `part` on.
    fn factor(&mut self, size: usize, k: Vec<Entry>, part: Register) -> Factors {
        let mut w: Vec<Vec<Entry>> = k.chunks(size.max(1)).map(<[Entry]>::to_vec).collect();
        let mut u = vec![vec![None; size]; size];
        let mut inverses = Vec::with_capacity(size);
        for i in 0..size {
            let (above, here) = w.split_at_mut(i);
            let here = &mut here[0];
            let whole = here[i];
            for (row, u) in above.iter().zip(&u) {
                if u[i].is_some() {
                    (i..size).for_each(|j| here[j] = self.fused(u[i], row[j], here[j]));
                }
            }
            let pivot = here[i].unwrap_or_else(|| self.zero());
            let inverse = self.emit(Instruction::Div(self.known[0], pivot));
            (i + 1..size).for_each(|j| u[i][j] = self.multiply(here[j], Some(inverse)));
            inverses.push(self.emit(Instruction::Neg(inverse)));
            self.watch_pivot(pivot, part + i as Register, whole);
        }
        Factors { u, inverses }
    }

    /// Solves K z = g.
    fn solve(&mut self, k: &mut Factors, mut z: Vec<Entry>) -> Vec<Entry> {
        let size = z.len();
        for i in 0..size {
            (0..i).for_each(|j| z[i] = self.fused(k.u[j][i], z[j], z[i]));
        }
        for i in (0..size).rev() {
            z[i] = self.multiply(z[i], Some(k.inverses[i]));
            (i + 1..size).rev().for_each(|j| z[i] = self.fused(k.u[i][j], z[j], z[i]));
        }
        z
    }

    /// The factors of a problem.
    fn factored(
        &mut self,
        n: usize,
        r: usize,
        first: Register,
        metric: Vec<Entry>,
        rows: Vec<Entry>,
    ) -> Factored {
        if r == 0 {
            let k = self.factor(n, metric, first);
            return Factored { n, first, k, ..Factored::default() };
        }
        let unit = |i: usize| Some(first + i as Register);
        let (own, parts) = (|k: usize| unit(n + k), first + (n + r) as Register);
        // Everything in the units there are.
        let mut scaled = vec![None; n * n];
        for (i, j) in (0..n).flat_map(|i| (i..n).map(move |j| (i, j))) {
            if metric[i * n + j].is_some() {
                let by = self.multiply(unit(i), unit(j));
                let value = self.multiply(metric[i * n + j], by);
                (scaled[i * n + j], scaled[j * n + i]) = (value, value);
            }
        }
        let metric = scaled;
        let mut a: Vec<Vec<Entry>> = Vec::with_capacity(r);
        for (k, row) in rows.chunks(n).enumerate() {
            let mut scaled = Vec::with_capacity(n);
            for (i, &entry) in row.iter().enumerate() {
                let by = entry.and_then(|_| self.multiply(unit(i), own(k)));
                scaled.push(self.multiply(entry, by));
            }
            a.push(scaled);
        }
        let q = self.factor_rows(n, a);
        for (k, row) in q.iter().enumerate() {
            let pivot = self.multiply(row.l[k], row.l[k]);
            let whole = self.dot(&row.l, &row.l);
            let pivot = pivot.unwrap_or_else(|| self.zero());
            self.watch_pivot(pivot, parts + k as Register, whole);
        }
        let count = n - r;
        let basis: Vec<Vec<Entry>> = (0..count)
            .map(|k| {
                let mut column = vec![None; n];
                column[r + k] = Some(self.known[1]);
                self.apply(&q, column)
            })
            .collect();
        let moved: Vec<Vec<Entry>> =
            basis.iter().map(|column| self.times(&metric, column)).collect();
        let mut k = vec![None; count * count];
        for (i, j) in (0..count).flat_map(|i| (i..count).map(move |j| (i, j))) {
            k[i * count + j] = self.dot(&basis[j], &moved[i]);
        }
        let k = self.factor(count, k, parts + r as Register);
        Factored { n, first, metric, q, basis, k, ..Factored::default() }
    }

    /// Γ x.
    fn times(&mut self, metric: &[Entry], x: &[Entry]) -> Vec<Entry> {
        metric.chunks(x.len()).map(|row| self.dot(row, x)).collect()
    }

    /// x of right sides, in the order of the unknowns.
    fn x(&mut self, of: &mut Factored, force: &[Entry], bias: &[Entry]) -> Vec<Entry> {
        let (n, r) = (of.n, of.q.len());
        if r == 0 {
            return self.solve(&mut of.k, force.to_vec());
        }
        let first = of.first;
        let unit = |i: usize| Some(first + i as Register);
        let force: Vec<Entry> = (0..n).map(|i| self.multiply(force[i], unit(i))).collect();
        let bias: Vec<Entry> = (0..r).map(|k| self.multiply(bias[k], unit(n + k))).collect();
        // y = Q L⁻¹b
        let q = &of.q;
        let mut x = vec![None; n];
        for i in 0..r {
            let before = self.dot(&q[i].l[..i], &x[..i]);
            let left = self.subtract(bias[i], before);
            x[i] = self.divide(left, q[i].l[i]);
        }
        let mut x = self.apply(q, x);
        // K z = Nᵀ(f − Γy), x = y + N z
        let mut right = self.times(&of.metric, &x);
        (0..n).for_each(|i| right[i] = self.subtract(force[i], right[i]));
        let g: Vec<Entry> = of.basis.iter().map(|column| self.dot(column, &right)).collect();
        let z = self.solve(&mut of.k, g);
        for (column, &z) in of.basis.iter().zip(&z) {
            for i in 0..n {
                let along = self.multiply(column[i], z);
                x[i] = self.add(x[i], along);
            }
        }
        // In the units of the solution; multipliers need them as they are.
        (of.scaled, of.force) = (x, force);
        (0..n).map(|i| self.multiply(of.scaled[i], unit(i))).collect()
    }

    /// μ of the solution that was found last.
    fn multipliers(&mut self, of: &Factored) -> Vec<Entry> {
        let (n, r, first) = (of.n, of.q.len(), of.first);
        if r == 0 {
            return Vec::new();
        }
        let unit = |i: usize| Some(first + i as Register);
        // Lᵀμ = Qᵀ(Γx − f)
        let mut left = self.times(&of.metric, &of.scaled);
        (0..n).for_each(|i| left[i] = self.subtract(left[i], of.force[i]));
        let q = &of.q;
        for (k, row) in q.iter().enumerate() {
            self.reflect(row, &mut left[k..]);
        }
        for i in (0..r).rev() {
            left[i] = self.divide(left[i], q[i].l[i]);
            for j in 0..i {
                let along = self.multiply(q[i].l[j], left[i]);
                left[j] = self.subtract(left[j], along);
            }
        }
        (0..r).map(|k| self.multiply(left[k], unit(n + k))).collect()
    }

    /// A = L Qᵀ by reflections H = I − τ v vᵀ.
    fn factor_rows(&mut self, n: usize, mut a: Vec<Vec<Entry>>) -> Vec<Row> {
        let [_, one, least] = self.known;
        let mut done: Vec<Row> = Vec::with_capacity(a.len());
        for k in 0..a.len() {
            let (alpha, tail) = (a[k][k], a[k][k + 1..n].to_vec());
            let mut row = Row { l: a[k][..=k].to_vec(), v: tail, tau: None };
            // What is 0 by structure needs no reflection; nor does what happens to be 0.
            if let Some(squares) = self.dot(&row.v, &row.v) {
                let is_zero = self.emit(Instruction::Call1(Function::NotPositive, squares));
                let margin = self.emit(Instruction::Sub(squares, least));
                let margin = self.emit(Instruction::Select(is_zero, squares, margin));
                self.watch(margin);
                let own = self.multiply(alpha, alpha);
                let whole = self.add(Some(squares), own).unwrap_or(squares);
                let length = self.emit(Instruction::Sqrt(whole));
                let turned = self.emit(Instruction::Neg(length));
                let alpha = alpha.unwrap_or_else(|| self.zero());
                let is_below = self.emit(Instruction::Call1(Function::Negative, alpha));
                let beta = self.emit(Instruction::Select(is_below, length, turned));
                let divisor = self.emit(Instruction::Sub(alpha, beta));
                let negative = self.emit(Instruction::Neg(divisor));
                let tau = self.emit(Instruction::Div(negative, beta));
                row.tau = Some(self.emit(Instruction::Select(is_zero, squares, tau)));
                let factor = self.emit(Instruction::Div(one, divisor));
                row.v.iter_mut().for_each(|v| *v = self.multiply(*v, Some(factor)));
                row.l[k] = Some(self.emit(Instruction::Select(is_zero, alpha, beta)));
                for other in &mut a[k + 1..] {
                    self.reflect(&row, &mut other[k..]);
                }
            }
            done.push(row);
        }
        done
    }

    /// x ← H x for the part of x that the reflection touches.
    fn reflect(&mut self, row: &Row, x: &mut [Entry]) {
        if row.tau.is_none() {
            return;
        }
        let along = self.dot(&row.v, &x[1..]);
        let sum = self.add(x[0], along);
        let s = self.multiply(row.tau, sum);
        x[0] = self.subtract(x[0], s);
        for (x, &v) in x[1..].iter_mut().zip(&row.v) {
            let part = self.multiply(s, v);
            *x = self.subtract(*x, part);
        }
    }

    /// Q x.
    fn apply(&mut self, q: &[Row], mut x: Vec<Entry>) -> Vec<Entry> {
        for (k, row) in q.iter().enumerate().rev() {
            self.reflect(row, &mut x[k..]);
        }
        x
    }
}
