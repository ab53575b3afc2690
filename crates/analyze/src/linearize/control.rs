//! What inputs and outputs do to a linear system: poles, zeros, what no input moves and what no
//! output shows.
//!
//! Columns for u' and u'' make the transfer function C(s − A)⁻¹(B₀ + s B₁ + s² B₂) + D₀ + s D₁ +
//! s² D₂. They are taken in by states: (x, u, u') with the input u'' is an ordinary system whose
//! zeros are the same, and whose parts that no input moves, or no output shows of x, are the same.
//!
//! **Zeros** are the invariant zeros: where [A − s, B; C, D] loses rank. They are found by
//! orthogonal transformations alone (Emami-Naeini & Van Dooren, *Computation of zeros of linear
//! multivariable systems*, Automatica 18 (1982) 415–430): what an output must not see is taken out
//! of the state until D has full row rank, the same is done for the transposed system, and what is
//! left has the eigenvalues of A − B D⁻¹C.
//!
//! **Controllable** is what B, AB, A²B, … reach, by orthonormal bases step by step (the staircase);
//! on the rest no input acts, and its eigenvalues and left eigenvectors are the modes that are not
//! controllable. Observability is the same for the transposed matrices, its right eigenvectors
//! the motions that no output shows.
//!
//! Ranks are decided in natural units, with inputs and outputs scaled to the size of A.

use super::eigen::{self, Complex};
use super::outputs::InputOutput;
use super::reduce::Reduced;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{dot, lu, norm};

/// Singular values below this part of A's size are none.
const RANK: f64 = 1e-10;

/// Zeros, and what cannot be moved or seen.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// The invariant zeros of all inputs and outputs together; `None` where no output answers to
    /// an input at all.
    pub zeros: Option<Vec<Complex>>,
    /// Each input with each output.
    pub channels: Vec<Channel>,
    /// Modes that no input moves: the eigenvalue, and the combination of x that goes by itself.
    pub uncontrollable: Vec<Part>,
    /// Modes that no output shows: the eigenvalue, and the direction of x in which it moves.
    pub unobservable: Vec<Part>,
}

/// One input and one output.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The input.
    pub input: String,
    /// The output.
    pub output: String,
    /// The zeros of the transfer function between them and of what it leaves out; `None` if it
    /// is 0.
    pub zeros: Option<Vec<Complex>>,
    /// The factor of ∏(s − zero)/∏(s − pole).
    pub gain: f64,
    /// The transfer function at s = 0; `None` if it has a pole there.
    pub steady: Option<f64>,
}

/// An eigenvalue and what belongs to it.
#[derive(Clone, Debug)]
pub struct Part {
    /// λ.
    pub value: Complex,
    /// Entries by x, the largest in natural units being 1.
    pub weights: Vec<Complex>,
    /// How long the longest chain is that ends in vectors of this eigenvalue: one of more than 1
    /// grows with powers of the time.
    pub chain: usize,
}

/// A system in natural units, with derivatives of inputs taken in by states.
struct Scaled {
    n: usize,
    m: usize,
    p: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    d: Vec<f64>,
    /// The factors of inputs and outputs in D.
    of_inputs: Vec<f64>,
    of_outputs: Vec<f64>,
    /// How large A is.
    size: f64,
}

impl Control {
    /// The zeros, channels and what cannot be moved or seen.
    pub fn new(reduced: &Reduced, io: &InputOutput) -> Control {
        let dim = reduced.dimension();
        let inputs = names(io);
        let outputs: Vec<usize> = (0..io.outputs.len())
            .filter(|&i| {
                let (c, d) = (&io.c[i * dim..(i + 1) * dim], io.columns.len());
                c.iter().chain(&io.d[i * d..(i + 1) * d]).all(|x| x.is_finite())
            })
            .collect();
        let all: Vec<usize> = (0..inputs.len()).collect();
        let whole = scaled(reduced, io, &inputs, &all, &outputs);
        let mut control = Control::default();
        if !all.is_empty() {
            control.uncontrollable = whole.uncontrollable(reduced);
        }
        if !outputs.is_empty() {
            control.unobservable = whole.unobservable(reduced);
        }
        if !all.is_empty() && !outputs.is_empty() {
            control.zeros = whole.zeros();
        }
        for &input in &all {
            for &output in &outputs {
                let one = scaled(reduced, io, &inputs, &[input], &[output]);
                let steady = steady(reduced, io, &inputs[input], output);
                let (input, output) = (inputs[input].clone(), io.outputs[output].clone());
                control.channels.push(one.channel(input, output, steady));
            }
        }
        control
    }
}

/// D₀ − C A⁻¹B₀; `None` where A is singular.
fn steady(reduced: &Reduced, io: &InputOutput, input: &str, output: usize) -> Option<f64> {
    let (n, width) = (reduced.dimension(), io.columns.len());
    let mut a = reduced.scaled();
    if eigen::deflate(&a, n, RANK * norm(&a)).size < n {
        return None;
    }
    let Some(column) = io.columns.iter().position(|c| c.0 == input) else { return Some(0.0) };
    let mut order = vec![0; n];
    if !lu::factor(&mut a, n, &mut order) {
        return None;
    }
    let mut x: Vec<f64> = (0..n).map(|i| -io.b[i * width + column] / reduced.scales[i]).collect();
    lu::solve(&a, n, &order, &mut x, &mut vec![0.0; n]);
    let own: f64 = (0..n).map(|j| io.c[output * n + j] * reduced.scales[j] * x[j]).sum();
    Some(own + io.d[output * width + column])
}

/// The inputs without their derivatives, in order.
fn names(io: &InputOutput) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for (name, _) in &io.columns {
        let name = name.trim_end_matches('\'').to_owned();
        if !list.contains(&name) {
            list.push(name);
        }
    }
    list
}

fn scaled(
    reduced: &Reduced,
    io: &InputOutput,
    names: &[String],
    inputs: &[usize],
    outputs: &[usize],
) -> Scaled {
    let dim = reduced.dimension();
    let own = reduced.scaled();
    let size = norm(&own);
    let size = if size > 0.0 { size } else { 1.0 };
    let width = io.columns.len();
    let place = |input: usize, order: usize| -> Option<usize> {
        let is_own =
            |c: &(String, usize)| c.1 == order && c.0.trim_end_matches('\'') == names[input];
        io.columns.iter().position(is_own)
    };
    let highest = |input: usize| (0..3).rev().find(|&o| place(input, o).is_some()).unwrap_or(0);
    let more: usize = inputs.iter().map(|&u| highest(u)).sum();
    let (n, m, p) = (dim + more, inputs.len(), outputs.len());
    let mut system = Scaled {
        n,
        m,
        p,
        a: vec![0.0; n * n],
        b: vec![0.0; n * m],
        c: vec![0.0; p * n],
        d: vec![0.0; p * m],
        of_inputs: vec![1.0; m],
        of_outputs: vec![1.0; p],
        size,
    };
    for i in 0..dim {
        system.a[i * n..i * n + dim].copy_from_slice(&own[i * dim..(i + 1) * dim]);
    }
    for (k, &output) in outputs.iter().enumerate() {
        for j in 0..dim {
            system.c[k * n + j] = io.c[output * dim + j] * reduced.scales[j];
        }
    }
    let mut next = dim;
    for (j, &input) in inputs.iter().enumerate() {
        let top = highest(input);
        // u, u', …: states, in units of the time that A has; the last one is the input.
        for order in 0..=top {
            let Some(column) = place(input, order) else { continue };
            let unit = size.powi(order as i32);
            for i in 0..dim {
                let entry = io.b[i * width + column] * unit / reduced.scales[i];
                match order == top {
                    true => system.b[i * m + j] = entry,
                    false => system.a[i * n + next + order] = entry,
                }
            }
            for (k, &output) in outputs.iter().enumerate() {
                let entry = io.d[output * width + column] * unit;
                match order == top {
                    true => system.d[k * m + j] = entry,
                    false => system.c[k * n + next + order] = entry,
                }
            }
        }
        for order in 0..top {
            match order + 1 == top {
                true => system.b[(next + order) * m + j] = size,
                false => system.a[(next + order) * n + next + order + 1] = size,
            }
        }
        system.of_inputs[j] = size.powi(top as i32);
        // All of what belongs to an input, its states too, in one unit.
        let column: Vec<f64> = (0..dim)
            .map(|i| {
                let states = (0..top).map(|o| system.a[i * n + next + o]);
                states.chain([system.b[i * m + j]]).fold(0f64, |s, x| s.hypot(x))
            })
            .collect();
        let length = norm(&column);
        if length > 0.0 {
            let factor = size / length;
            (0..dim).for_each(|i| {
                system.b[i * m + j] *= factor;
                (0..top).for_each(|o| system.a[i * n + next + o] *= factor);
            });
            (0..p).for_each(|k| {
                system.d[k * m + j] *= factor;
                (0..top).for_each(|o| system.c[k * n + next + o] *= factor);
            });
            system.of_inputs[j] *= factor;
        }
        next += top;
    }
    for k in 0..p {
        let row = [&system.c[k * n..(k + 1) * n], &system.d[k * m..(k + 1) * m]].concat();
        let length = norm(&row);
        if length > 0.0 {
            let factor = size / length;
            system.c[k * n..(k + 1) * n].iter_mut().for_each(|x| *x *= factor);
            system.d[k * m..(k + 1) * m].iter_mut().for_each(|x| *x *= factor);
            system.of_outputs[k] = factor;
        }
    }
    system
}

impl Scaled {
    fn uncontrollable(&self, reduced: &Reduced) -> Vec<Part> {
        let (dim, transposed) = (reduced.dimension(), transposed(&self.a, self.n, self.n));
        let rest = unreached(&self.a, self.n, &self.b, self.m, RANK * self.size);
        // w(A x) = λ w x: a combination of x that goes by itself.
        let block = eigen::project(&transposed, self.n, &rest);
        self.parts(&block, &rest, |w| {
            (0..dim).map(|i| w[i].map(|x| x / reduced.scales[i])).collect()
        })
    }

    fn unobservable(&self, reduced: &Reduced) -> Vec<Part> {
        // The derivatives of inputs are not to be seen.
        let dim = reduced.dimension();
        let own: Vec<f64> = (0..dim * dim).map(|k| self.a[k / dim * self.n + k % dim]).collect();
        let shown: Vec<f64> =
            (0..dim * self.p).map(|k| self.c[k % self.p * self.n + k / self.p]).collect();
        let rest = unreached(&transposed(&own, dim, dim), dim, &shown, self.p, RANK * self.size);
        let block = eigen::project(&own, dim, &rest);
        self.parts(&block, &rest, |x| {
            (0..dim).map(|i| x[i].map(|e| e * reduced.scales[i])).collect()
        })
    }

    /// Eigenvalues of a block and what belongs to them in the whole space, by rows of `basis`.
    fn parts(
        &self,
        block: &[f64],
        basis: &[f64],
        unit: impl Fn(&[Complex]) -> Vec<Complex>,
    ) -> Vec<Part> {
        let count = (block.len() as f64).sqrt().round() as usize;
        let width = basis.len().checked_div(count).unwrap_or(0);
        let large = |c: &Complex| c[0].hypot(c[1]);
        // The largest entry in natural units is 1 in those of the model.
        let weights = |vector: &[Complex]| -> Vec<Complex> {
            let whole: Vec<Complex> = (0..width)
                .map(|j| {
                    (0..count).fold([0.0, 0.0], |s, k| {
                        let b = basis[k * width + j];
                        [s[0] + b * vector[k][0], s[1] + b * vector[k][1]]
                    })
                })
                .collect();
            let at = (0..width).max_by(|&i, &j| large(&whole[i]).total_cmp(&large(&whole[j])));
            let all = unit(&whole);
            let Some(first) = at.and_then(|at| all.get(at).copied()) else { return Vec::new() };
            let size = large(&first).powi(2);
            all.iter()
                .map(|c| {
                    let re = (c[0] * first[0] + c[1] * first[1]) / size;
                    let im = (c[1] * first[0] - c[0] * first[1]) / size;
                    [re, im].map(|x| if x.abs() <= 1e-12 { 0.0 } else { x })
                })
                .collect()
        };
        // Zeros first, whose chains rounding would tell apart, by the kernel.
        let left = eigen::deflate(block, count, 16.0 * RANK * self.size);
        let mut list: Vec<Part> = Vec::new();
        if let Some(&kernel) = left.blocks.first() {
            let mut svd = Svd::default();
            svd.decompose(block, count, count);
            for row in svd.v[(count - kernel) * count..].chunks_exact(count) {
                let vector: Vec<Complex> = row.iter().map(|&x| [x, 0.0]).collect();
                let (value, chain) = ([0.0, 0.0], left.blocks.len());
                list.push(Part { value, weights: weights(&vector), chain });
            }
        }
        let mut seen: Vec<(Complex, Vec<Complex>, usize)> = Vec::new();
        for value in eigen::eigenvalues(&left.matrix, left.size).unwrap_or_default() {
            let near =
                |v: &Complex| large(&[v[0] - value[0], v[1] - value[1]]) <= 1e-7 * large(&value);
            let others: Vec<Vec<Complex>> =
                seen.iter().filter(|s| near(&s.0)).map(|s| s.1.clone()).collect();
            let vector = eigen::eigenvector(block, count, value, &others);
            // What is none of its own is within the chain of one that was seen.
            let is_own = |v: &[Complex]| miss(block, value, v) <= 1e-6 * self.size;
            match vector {
                Some(vector) if others.is_empty() || is_own(&vector) => {
                    list.push(Part { value, weights: weights(&vector), chain: 1 });
                    seen.push((value, vector, list.len() - 1));
                }
                _ => {
                    let own = seen.iter().rev().find(|s| near(&s.0));
                    own.into_iter().for_each(|seen| list[seen.2].chain += 1);
                }
            }
        }
        list
    }

    fn zeros(&self) -> Option<Vec<Complex>> {
        let tolerance = RANK * self.size;
        let once = Pencil {
            n: self.n,
            m: self.m,
            p: self.p,
            a: self.a.clone(),
            b: self.b.clone(),
            c: self.c.clone(),
            d: self.d.clone(),
        };
        let twice = once.reduced(tolerance).dual().reduced(tolerance);
        let Pencil { n, m, p, mut a, b, c, mut d } = twice;
        if p == 0 {
            return None;
        }
        // D is square and regular now.
        let mut order = vec![0; p];
        if m != p || !lu::factor(&mut d, p, &mut order) {
            return None;
        }
        let mut work = vec![0.0; p];
        for j in 0..n {
            let mut column: Vec<f64> = (0..p).map(|i| c[i * n + j]).collect();
            lu::solve(&d, p, &order, &mut column, &mut work);
            for i in 0..n {
                a[i * n + j] -= dot(&b[i * p..(i + 1) * p], &column);
            }
        }
        let left = eigen::deflate(&a, n, 16.0 * tolerance);
        let mut values = eigen::eigenvalues(&left.matrix, left.size)?;
        values.extend(std::iter::repeat_n([0.0, 0.0], n - left.size));
        values.sort_by(|a, b| b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1])));
        Some(values)
    }

    /// A system of one input and one output as a channel.
    fn channel(&self, input: String, output: String, steady: Option<f64>) -> Channel {
        let zeros = self.zeros();
        let factor = self.of_inputs[0] * self.of_outputs[0];
        // Far from poles and zeros.
        let s = 3.7 * self.size;
        let mut gain = 0.0;
        if let (Some(zeros), Some(value)) = (&zeros, self.transfer(s)) {
            let poles = eigen::eigenvalues(&self.a, self.n).unwrap_or_default();
            let product = |list: &[Complex]| -> f64 {
                // Pairs are conjugate, so that the product is real.
                list.iter().fold([1.0, 0.0], |t: Complex, z| {
                    let (re, im) = (s - z[0], -z[1]);
                    [t[0] * re - t[1] * im, t[0] * im + t[1] * re]
                })[0]
            };
            gain = value * product(&poles) / product(zeros) / factor;
        }
        let steady = if zeros.is_none() { Some(0.0) } else { steady };
        Channel { input, output, zeros, gain, steady }
    }

    /// C (s − A)⁻¹ B + D of the first input and output.
    fn transfer(&self, s: f64) -> Option<f64> {
        let n = self.n;
        let mut matrix: Vec<f64> = self.a.iter().map(|x| -x).collect();
        (0..n).for_each(|i| matrix[i * n + i] += s);
        let mut order = vec![0; n];
        if !lu::factor(&mut matrix, n, &mut order) {
            return None;
        }
        let mut x: Vec<f64> = (0..n).map(|i| self.b[i * self.m]).collect();
        lu::solve(&matrix, n, &order, &mut x, &mut vec![0.0; n]);
        Some(dot(&self.c[..n], &x) + self.d[0])
    }
}

/// |A x − λ x| of a unit vector.
fn miss(a: &[f64], value: Complex, x: &[Complex]) -> f64 {
    let n = x.len();
    let row = |i: usize| {
        let sum =
            |k: usize| a[i * n..(i + 1) * n].iter().zip(x).map(|(a, x)| a * x[k]).sum::<f64>();
        let own =
            [value[0] * x[i][0] - value[1] * x[i][1], value[0] * x[i][1] + value[1] * x[i][0]];
        (sum(0) - own[0]).hypot(sum(1) - own[1])
    };
    (0..n).map(row).fold(0.0, f64::hypot)
}

/// [A − s, B; C, D].
struct Pencil {
    n: usize,
    m: usize,
    p: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    d: Vec<f64>,
}

impl Pencil {
    fn dual(self) -> Pencil {
        Pencil {
            n: self.n,
            m: self.p,
            p: self.m,
            a: transposed(&self.a, self.n, self.n),
            b: transposed(&self.c, self.p, self.n),
            c: transposed(&self.b, self.n, self.m),
            d: transposed(&self.d, self.p, self.m),
        }
    }

    /// The same zeros with D of full row rank.
    fn reduced(mut self, tolerance: f64) -> Pencil {
        loop {
            let Pencil { n, m, p, .. } = self;
            // D and C with the rows that D does not reach last.
            let (rank, rows) = row_space(&transposed(&self.d, p, m), m, p, tolerance);
            let c = product(&rows, &self.c, p, p, n);
            let d = product(&rows, &self.d, p, p, m);
            let (c1, c2) = c.split_at(rank * n);
            let d1 = &d[..rank * m];
            if rank == p {
                return Pencil { c: c1.to_vec(), d: d1.to_vec(), ..self };
            }
            // What these rows see has to stay 0.
            let (seen, turn) = row_space(c2, p - rank, n, tolerance);
            if seen == 0 {
                return Pencil { p: rank, c: c1.to_vec(), d: d1.to_vec(), ..self };
            }
            let back = transposed(&turn, n, n);
            let a = product(&product(&turn, &self.a, n, n, n), &back, n, n, n);
            let b = product(&turn, &self.b, n, n, m);
            let c1 = product(c1, &back, rank, n, n);
            let left = n - seen;
            let tail = |matrix: &[f64], rows: std::ops::Range<usize>| -> Vec<f64> {
                rows.flat_map(|i| matrix[i * n + seen..(i + 1) * n].to_vec()).collect()
            };
            self = Pencil {
                n: left,
                m,
                p: rank + seen,
                a: tail(&a, seen..n),
                b: b[seen * m..].to_vec(),
                c: [tail(&c1, 0..rank), tail(&a, 0..seen)].concat(),
                d: [d1, &b[..seen * m]].concat(),
            };
        }
    }
}

/// An orthonormal basis of all rows' space: first what the rows of a matrix span, then the rest;
/// and how many of the first kind there are.
fn row_space(matrix: &[f64], rows: usize, columns: usize, tolerance: f64) -> (usize, Vec<f64>) {
    if columns == 0 {
        return (0, Vec::new());
    }
    let height = rows.max(columns);
    let mut tall = matrix.to_vec();
    tall.resize(height * columns, 0.0);
    let mut svd = Svd::default();
    svd.decompose(&tall, height, columns);
    let rank = svd.sigma.iter().take_while(|&&s| s > tolerance).count();
    (rank, svd.v.clone())
}

/// Orthonormal rows across all that A and B reach.
fn unreached(a: &[f64], n: usize, b: &[f64], m: usize, tolerance: f64) -> Vec<f64> {
    let mut reached: Vec<f64> = Vec::new();
    let mut new = transposed(b, n, m);
    loop {
        // Twice is enough for orthogonality to rounding.
        for row in new.chunks_exact_mut(n.max(1)) {
            for _ in 0..2 {
                for known in reached.chunks_exact(n) {
                    let along = dot(known, row);
                    row.iter_mut().zip(known).for_each(|(x, k)| *x -= along * k);
                }
            }
        }
        let (rank, basis) = row_space(&new, new.len() / n.max(1), n, tolerance);
        if rank == 0 || reached.len() == n * n {
            break;
        }
        let fresh = &basis[..rank * n];
        new = Vec::with_capacity(rank * n);
        for row in fresh.chunks_exact(n) {
            new.extend(a.chunks_exact(n).map(|line| dot(line, row)));
        }
        reached.extend_from_slice(fresh);
    }
    let (rank, basis) = row_space(&reached, reached.len() / n.max(1), n, 0.5);
    basis[rank * n..].to_vec()
}

fn transposed(a: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..rows * columns).map(|k| a[k % rows * columns + k / rows]).collect()
}

fn product(a: &[f64], b: &[f64], rows: usize, inner: usize, columns: usize) -> Vec<f64> {
    let entry =
        |i: usize, j: usize| (0..inner).map(|k| a[i * inner + k] * b[k * columns + j]).sum();
    (0..rows * columns).map(|k| entry(k / columns, k % columns)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pencil(n: usize, m: usize, p: usize, parts: [&[f64]; 4]) -> Scaled {
        let [a, b, c, d] = parts.map(<[f64]>::to_vec);
        let (of_inputs, of_outputs) = (vec![1.0; m], vec![1.0; p]);
        Scaled { n, m, p, a, b, c, d, of_inputs, of_outputs, size: 3.0 }
    }

    #[test]
    fn zeros_of_a_companion_form_are_those_of_its_numerator() {
        // (s − 2)(s + 5) / (s³ + 4 s² + s + 7)
        let a = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -7.0, -1.0, -4.0];
        let one = pencil(3, 1, 1, [&a, &[0.0, 0.0, 1.0], &[-10.0, 3.0, 1.0], &[0.0]]);
        let zeros = one.zeros().expect("a transfer function");
        assert!(
            (zeros[0][0] - 2.0).abs() < 1e-12 && (zeros[1][0] + 5.0).abs() < 1e-12,
            "{zeros:?}"
        );
        let channel = one.channel("u".into(), "y".into(), None);
        assert!((channel.gain - 1.0).abs() < 1e-10, "{channel:?}");
        assert!((one.transfer(0.0).expect("no pole at 0") + 10.0 / 7.0).abs() < 1e-12);
        // With a direct part: as many zeros as poles.
        let direct = pencil(3, 1, 1, [&a, &[0.0, 0.0, 1.0], &[-10.0, 3.0, 1.0], &[2.0]]);
        assert_eq!(direct.zeros().expect("zeros").len(), 3);
        // No transfer at all.
        let none = pencil(3, 1, 1, [&a, &[0.0, 0.0, 0.0], &[-10.0, 3.0, 1.0], &[0.0]]);
        assert!(none.zeros().is_none());
    }

    #[test]
    fn zeros_of_two_by_two_are_where_the_determinant_vanishes() {
        // G = [1/(s+1), 2/(s+1); 1/(s+2), 1/(s+2) ] has det ∝ −1: no finite zeros; with
        // [1/(s+1), 2/(s+3); 1/(s+2), 1/(s+1)]: det = 1/(s+1)² − 2/((s+2)(s+3)).
        let a =
            [-1.0, 0.0, 0.0, 0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, -1.0];
        let b = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
        let c = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let zeros = pencil(4, 2, 2, [&a, &b, &c, &[0.0; 4]]).zeros().expect("zeros");
        // (s+2)(s+3) = 2 (s+1)²: s² − s − 4 = 0.
        let expected = [(1.0 + 17f64.sqrt()) / 2.0, (1.0 - 17f64.sqrt()) / 2.0];
        assert_eq!(zeros.len(), 2);
        for (found, expected) in zeros.iter().zip(expected) {
            assert!((found[0] - expected).abs() < 1e-12 && found[1] == 0.0, "{zeros:?}");
        }
    }

    #[test]
    fn what_is_not_reached_is_found() {
        let a = [-1.0, 0.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, -3.0];
        let rest = unreached(&a, 3, &[1.0, 1.0, 0.0], 1, 1e-9);
        assert_eq!(rest.len(), 3);
        assert!((rest[2].abs() - 1.0).abs() < 1e-12);
        assert!(unreached(&a, 3, &[1.0, 1.0, 1.0], 1, 1e-9).is_empty());
    }
}
