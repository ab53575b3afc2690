//! Symmetries of the motion, and the steady motions that they make possible.
//!
//! A field ξ(q) = B q + c with antisymmetric B, a constant τ, and the flow they generate turn and
//! shift the coordinates: B holds rotations among Cartesian coordinates (or among the components
//! of a quaternion), c shifts, B and c together the rotation of a position and a heading. It is a
//! symmetry if it carries motions to motions:
//!
//! ```text
//! R_q ξ + R_v B v + τ R_t + Γ B a ∈ range Aᵀ,   φ_q ξ + τ φ_t = 0,   ψ_q ξ + ψ_v B v + τ ψ_t = 0
//! ```
//!
//! at every state on the constraints. These are linear equations for (B, c, τ). They are set up
//! at random states, more than there are unknowns, and their common solutions are the symmetries
//! (wrong only if all states happen to be special). A coordinate that occurs nowhere gives a
//! shift; uniform driving, as by a hoop that turns at a constant rate, a turn with τ = 1.
//!
//! A **steady motion** is one that a symmetry carries along itself: q̇ = ξ(q), v̇ = B v. In the
//! frame that moves with it, it is at rest, and its linearisation has constant coefficients:
//!
//! ```text
//! δẋ = (J − Ξ) δx ,   Ξ = diag(B, B)
//! ```
//!
//! An equilibrium is the case ξ = 0. What is no affine field of this kind (a turn in coordinates
//! that are not Cartesian, such as Euler angles about a tilted axis) is looked for elsewhere
//! (`curved`), and for the start itself only; nothing wrong is concluded where it is not seen,
//! only no steady motion found.

use super::rates::{Point, Rates};
use dalembert_gauss::linalg::largest;
use dalembert_gauss::linalg::svd::Svd;

/// Turns are looked for up to this many coordinates; shifts always.
const MOST_TURNED: usize = 12;
/// Singular values below this, relative, are none.
const NULL: f64 = 1e-9;

/// A symmetry: ξ(q) = B q + c, and how time goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    /// B, row-major, antisymmetric.
    pub turn: Vec<f64>,
    /// c.
    pub shift: Vec<f64>,
    /// τ.
    pub time: f64,
}

impl Symmetry {
    /// Nothing moves but time.
    pub fn rest(n: usize) -> Symmetry {
        Symmetry { turn: vec![0.0; n * n], shift: vec![0.0; n], time: 1.0 }
    }

    /// B x.
    pub fn turned(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; x.len()];
        dalembert_gauss::linalg::multiply(&self.turn, x.len(), x, &mut y);
        y
    }

    /// ξ(q); what q has behind the coordinates stays out of it.
    pub fn moved(&self, q: &[f64]) -> Vec<f64> {
        self.turned(&q[..self.shift.len()]).iter().zip(&self.shift).map(|(a, b)| a + b).collect()
    }

    /// Whether it shifts only.
    pub fn is_shift(&self) -> bool {
        self.turn.iter().all(|&x| x == 0.0)
    }

    /// This and multiples of others.
    pub fn plus(&self, others: &[Symmetry], amounts: &[f64]) -> Symmetry {
        let mut sum = self.clone();
        for (other, &amount) in others.iter().zip(amounts) {
            sum.turn.iter_mut().zip(&other.turn).for_each(|(s, x)| *s += amount * x);
            sum.shift.iter_mut().zip(&other.shift).for_each(|(s, x)| *s += amount * x);
            sum.time += amount * other.time;
        }
        sum
    }
}

/// All symmetries of a system: one that goes with time, and those that do not.
#[derive(Clone, Debug)]
pub struct Symmetries {
    /// The one with τ = 1; `None` if the equations depend on time in another way.
    pub with_time: Option<Symmetry>,
    /// A basis of those with τ = 0.
    pub others: Vec<Symmetry>,
    /// At how many states they were established.
    pub points: usize,
}

/// The unknowns (B, c, τ), one after the other.
struct Unknowns {
    n: usize,
    pairs: Vec<(usize, usize)>,
}

impl Unknowns {
    fn new(n: usize) -> Unknowns {
        let all = if n <= MOST_TURNED { n } else { 0 };
        let pairs = (0..all).flat_map(|i| (i + 1..all).map(move |j| (i, j))).collect();
        Unknowns { n, pairs }
    }

    fn len(&self) -> usize {
        self.pairs.len() + self.n + 1
    }

    /// B x for the unknown alone.
    fn turned(&self, unknown: usize, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.n];
        if let Some(&(i, j)) = self.pairs.get(unknown) {
            (y[i], y[j]) = (-x[j], x[i]);
        }
        y
    }

    /// (ξ, 0, B v, τ) for the unknown alone: states stay as they are.
    fn direction(&self, unknown: usize, q: &[f64], v: &[f64]) -> Vec<f64> {
        let wide = q.len();
        let mut along = self.turned(unknown, &q[..self.n]);
        along.resize(wide, 0.0);
        along.extend(self.turned(unknown, v));
        along.push(0.0);
        if let Some(shift) = unknown.checked_sub(self.pairs.len()) {
            if shift < self.n {
                along[shift] = 1.0;
            } else {
                along[wide + self.n] = 1.0;
            }
        }
        along
    }

    fn symmetry(&self, x: &[f64]) -> Symmetry {
        let n = self.n;
        let mut turn = vec![0.0; n * n];
        for (&(i, j), &angle) in self.pairs.iter().zip(x) {
            turn[i * n + j] = -angle;
            turn[j * n + i] = angle;
        }
        let shift = x[self.pairs.len()..self.pairs.len() + n].to_vec();
        Symmetry { turn, shift, time: x[self.len() - 1] }
    }
}

/// How many states are needed for the symmetries of a system.
pub(crate) fn states_needed(n: usize) -> usize {
    Unknowns::new(n).len().div_ceil(n.max(1)) + 3
}

/// The symmetries that hold at all of the given states.
pub(crate) fn find(rates: &Rates, points: &[Point]) -> Symmetries {
    let unknowns = Unknowns::new(rates.n);
    let count = unknowns.len();
    let mut rows: Vec<f64> = Vec::new();
    for point in points {
        conditions(rates, point, &unknowns, &mut rows);
    }
    // Columns are brought to equal size, since their units differ; what is not
    // constrained at all is exactly zero and stays so.
    let total = rows.len() / count;
    let mut scales = vec![1.0; count];
    for j in 0..count {
        let big = (0..total).fold(0f64, |m, i| m.max(rows[i * count + j].abs()));
        if big > 0.0 {
            scales[j] = 1.0 / big;
            (0..total).for_each(|i| rows[i * count + j] *= scales[j]);
        }
    }
    rows.resize(total.max(count) * count, 0.0);
    let mut svd = Svd::default();
    svd.decompose(&rows, total.max(count), count);
    let rank = svd.rank(NULL);
    let mut basis: Vec<Vec<f64>> = (rank..count)
        .map(|k| (0..count).map(|j| svd.v[k * count + j] * scales[j]).collect())
        .collect();
    // Time first, then turns, then shifts: every basis vector has one of these to itself.
    let order = std::iter::once(count - 1).chain(0..count - 1);
    let leading = reduce(&mut basis, order, &scales);
    let mut all: Vec<Symmetry> = basis.iter().map(|x| unknowns.symmetry(x)).collect();
    let with_time = (leading.first() == Some(&(count - 1))).then(|| all.remove(0));
    Symmetries { with_time, others: all, points: points.len() }
}

/// Reduced echelon form; returns the leading places. Entries that are rounding become 0, and
/// those that are integers up to rounding become integers.
fn reduce(
    basis: &mut Vec<Vec<f64>>,
    order: impl Iterator<Item = usize>,
    scales: &[f64],
) -> Vec<usize> {
    let mut leading = Vec::new();
    for column in order {
        let done = leading.len();
        let best = (done..basis.len())
            .max_by(|&i, &j| basis[i][column].abs().total_cmp(&basis[j][column].abs()));
        let Some(best) = best else { break };
        let size =
            |row: &[f64]| row.iter().zip(scales).fold(0f64, |m, (x, s)| m.max((x / s).abs()));
        if !(basis[best][column].abs() / scales[column] > 1e-6 * size(&basis[best])) {
            (done..basis.len()).for_each(|i| basis[i][column] = 0.0);
            continue;
        }
        basis.swap(done, best);
        let pivot = basis[done][column];
        basis[done].iter_mut().for_each(|x| *x /= pivot);
        let row = basis[done].clone();
        for i in (0..basis.len()).filter(|&i| i != done) {
            let factor = basis[i][column];
            basis[i].iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
        }
        leading.push(column);
    }
    basis.truncate(leading.len());
    for row in basis.iter_mut() {
        let size = row.iter().zip(scales).fold(0f64, |m, (x, s)| m.max((x / s).abs()));
        for (x, s) in row.iter_mut().zip(scales) {
            if (*x / s).abs() <= 1e-9 * size {
                *x = 0.0;
            } else if (*x - x.round()).abs() <= 1e-9 * x.abs() {
                *x = x.round();
            }
        }
    }
    leading
}

/// The conditions at one state, rows of unit size; what is rounding is zero.
fn conditions(rates: &Rates, point: &Point, unknowns: &Unknowns, rows: &mut Vec<f64>) {
    let (n, count, columns) = (rates.n, unknowns.len(), point.columns());
    let blocks = rates.blocks();
    let numbers = &point.numbers;
    let terms = numbers.terms();
    // N with A N = 0, by rows: it leaves the multipliers out.
    let mut padded = terms.jacobian.to_vec();
    padded.resize(terms.m.max(n) * n, 0.0);
    let mut svd = Svd::default();
    svd.decompose(&padded, terms.m.max(n), n);
    let rank = point.outcome.rank.jacobian;
    let kernel: Vec<&[f64]> = (rank..n).map(|k| &svd.v[k * n..(k + 1) * n]).collect();
    let height = blocks.end + kernel.len() - n;
    let mut block = vec![0.0; height * count];
    for unknown in 0..count {
        let along = unknowns.direction(unknown, &point.state.q, &point.v);
        let turned = unknowns.turned(unknown, &point.outcome.v_dot);
        let rates_turned = unknowns.turned(unknown, &numbers.kinematics);
        // Value and noise of every row.
        let slope = |at: usize| -> (f64, f64) {
            let row = point.row(at).iter().zip(&point.noise[at * columns..]).zip(&along);
            row.fold((0.0, 0.0), |(sum, noise), ((s, e), x)| {
                (sum + s * x, noise + (e + 4.0 * f64::EPSILON * s.abs()) * x.abs())
            })
        };
        let inertia = |row: &[f64], noise: &[f64], x: &[f64]| -> (f64, f64) {
            row.iter().zip(noise).zip(x).fold((0.0, 0.0), |(sum, bound), ((a, e), x)| {
                (sum + a * x, bound + (e + 4.0 * f64::EPSILON * a.abs()) * x.abs())
            })
        };
        let mut found: Vec<(f64, f64)> = Vec::with_capacity(height);
        for i in 0..n {
            let (value, noise) = slope(i);
            found.push((
                value - rates_turned[i],
                noise + 4.0 * f64::EPSILON * rates_turned[i].abs(),
            ));
        }
        found.extend((n..rates.wide).map(slope));
        let balance: Vec<(f64, f64)> = (0..n)
            .map(|i| {
                let (value, noise) = slope(blocks.balance + i);
                let range = i * n..(i + 1) * n;
                let metric = &terms.metric[range.clone()];
                let (more, its) = inertia(metric, &numbers.metric_noise[range], &turned);
                (value + more, noise + its + 4.0 * f64::EPSILON * (value.abs() + more.abs()))
            })
            .collect();
        for direction in &kernel {
            found.push(direction.iter().zip(&balance).fold((0.0, 0.0), |(s, e), (w, b)| {
                (s + w * b.0, e + w.abs() * b.1 + 64.0 * f64::EPSILON * b.0.abs())
            }));
        }
        for r in 0..rates.m {
            let (value, noise) = slope(blocks.binding + r);
            let range = r * n..(r + 1) * n;
            let row = &terms.jacobian[range.clone()];
            let (more, its) = inertia(row, &numbers.jacobian_noise[range], &turned);
            found.push((value + more, noise + its));
        }
        found.extend((blocks.configuration..blocks.end).map(slope));
        for (i, (value, noise)) in found.into_iter().enumerate() {
            // States are on the constraints only up to the rounding of their coordinates, hence
            // the generous factor.
            block[i * count + unknown] = if value.abs() <= 256.0 * noise { 0.0 } else { value };
        }
    }
    for row in block.chunks_exact(count) {
        let big = largest(row);
        if big > 0.0 && big.is_finite() {
            rows.extend(row.iter().map(|x| x / big));
        }
    }
}
