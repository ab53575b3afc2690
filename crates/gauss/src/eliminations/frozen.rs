//! The loops of a frozen problem, with lengths that the compiler knows where problems are small.
//!
//! ```text
//! factor   Ã = L Qᵀ ,   N = Q [0; I] ,   K = NᵀΓ̃N = UᵀDU
//! solve    y = Q L⁻¹ b̃ ,   K z = Nᵀ(F̃ − Γ̃y) ,   x = y + N z ,   Lᵀμ = Qᵀ(Γ̃x − F̃)
//! ```
//!
//! Here U has ones on its diagonal: a root waits for what is before it, and all that is after
//! it waits for the root.
//!
//! With three coordinates and a row these are some sixty products; calls, counters and moves of a
//! few numbers would cost three times as much as the products. So every function here is written
//! once, for any size, and is compiled once more for each size up to four coordinates, where all
//! of its loops are unrolled; the operations and their order are the same. Beyond that size loops
//! are long enough to be compiled for wide registers, and K is factored by blocks ([`larger`]).

use super::{Scratch, larger};
use crate::linalg::{dot, lq, multiply, norm, sized};
use crate::terms::Terms;
use crate::tolerances::solving::FALLS;
use dalembert_machine::{Wide, wide};

/// Calls a function that is inlined with n and r as constants where these are small; or one that
/// has them as parameters, for problems that are.
macro_rules! by_size {
    ($n:expr, $r:expr, $call:expr) => {
        by_size!($n, $r, $call; (1, 0) (1, 1) (2, 0) (2, 1) (2, 2) (3, 0) (3, 1) (3, 2) (3, 3)
            (4, 0) (4, 1) (4, 2) (4, 3) (4, 4))
    };
    ($n:expr, $r:expr, $call:expr; $(($small:literal, $few:literal))*) => {
        match ($n, $r) {
            $(($small, $few) => $call($small, $few),)*
            (n, r) => $call(n, r),
        }
    };
    ($n:expr, $r:expr, $call:ident; $($given:expr),+) => {
        match ($n, $r) {
            (1, 0) => $call::<1, 0>($($given),+),
            (1, 1) => $call::<1, 1>($($given),+),
            (2, 0) => $call::<2, 0>($($given),+),
            (2, 1) => $call::<2, 1>($($given),+),
            (2, 2) => $call::<2, 2>($($given),+),
            (3, 0) => $call::<3, 0>($($given),+),
            (3, 1) => $call::<3, 1>($($given),+),
            (3, 2) => $call::<3, 2>($($given),+),
            (3, 3) => $call::<3, 3>($($given),+),
            (4, 0) => $call::<4, 0>($($given),+),
            (4, 1) => $call::<4, 1>($($given),+),
            (4, 2) => $call::<4, 2>($($given),+),
            (4, 3) => $call::<4, 3>($($given),+),
            (4, 4) => $call::<4, 4>($($given),+),
            _ => $call::<0, 0>($($given),+),
        }
    };
}

pub(super) use by_size;

/// The largest number of coordinates with loops of its own; what is between the numbers given and
/// those kept is then not in memory.
pub(super) const SMALL: usize = 4;

/// Room for a matrix of a small problem.
type Small = [f64; SMALL * SMALL];

/// The order of the coordinates and rows of a frozen problem, as their places in the terms.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    pub(super) columns: Vec<usize>,
    pub(super) rows: Vec<usize>,
    /// Whether the coordinates are in the order of the terms.
    pub(super) is_natural: bool,
}

/// Takes Γ and A in the units and the order there are, and factors the rows and K. `rows` and
/// `free` have the pivots at the decision. False if one has fallen.
pub(super) fn factor(
    s: &mut Scratch,
    terms: &Terms,
    order: &Order,
    rows: &[f64],
    free: &[f64],
) -> bool {
    sized(&mut s.matrix, s.basis.len());
    wide(Factor { s, terms, order, rows, free })
}

/// [`factor`].
struct Factor<'a> {
    s: &'a mut Scratch,
    terms: &'a Terms<'a>,
    order: &'a Order,
    rows: &'a [f64],
    free: &'a [f64],
}

impl Wide for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Factor { s, terms, order, rows, free } = self;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        by_size!(n, r, |n, r| factor_sized(n, r, s, terms, order, rows, free))
    }
}

#[inline(always)]
pub(super) fn factor_sized(
    n: usize,
    r: usize,
    s: &mut Scratch,
    terms: &Terms,
    order: &Order,
    rows: &[f64],
    free: &[f64],
) -> bool {
    let count = n - r;
    let c = &s.scaled.coordinates[..n];
    let given = (terms, order, c, &s.scaled.rows[..r]);
    let before = (&rows[..r], &free[..count]);
    if n > SMALL {
        let at = Factors {
            metric: &mut s.scaled.metric[..n * n],
            jacobian: &mut s.scaled.jacobian[..r * n],
            lq: &mut s.rows_lq[..r * n],
            tau: &mut s.rows_tau[..r],
            basis: &mut s.basis[..count * n],
            moved: &mut s.matrix[..count * n],
            reduced: &mut s.reduced[..room_for(count)],
        };
        return factor_at(n, r, at, given, before);
    }
    let mut here = Here::default();
    let holds = factor_at(n, r, here.factors(n, r, &mut s.scaled.jacobian), given, before);
    here.keep(n, r, s);
    holds
}

/// The factors of a small problem, one by one, so that each of them may be in registers.
#[derive(Default)]
struct Here {
    metric: Small,
    lq: Small,
    tau: Small,
    basis: Small,
    moved: Small,
    reduced: Small,
}

impl Here {
    #[inline(always)]
    fn factors<'a>(&'a mut self, n: usize, r: usize, jacobian: &'a mut [f64]) -> Factors<'a> {
        let count = n - r;
        Factors {
            metric: &mut self.metric[..n * n],
            jacobian: &mut jacobian[..r * n],
            lq: &mut self.lq[..r * n],
            tau: &mut self.tau[..r],
            basis: &mut self.basis[..count * n],
            moved: &mut self.moved[..count * n],
            reduced: &mut self.reduced[..count * count],
        }
    }

    /// Puts them where they are found later.
    #[inline(always)]
    fn keep(&self, n: usize, r: usize, s: &mut Scratch) {
        let count = n - r;
        s.scaled.metric[..n * n].copy_from_slice(&self.metric[..n * n]);
        s.rows_lq[..r * n].copy_from_slice(&self.lq[..r * n]);
        s.rows_tau[..r].copy_from_slice(&self.tau[..r]);
        s.basis[..count * n].copy_from_slice(&self.basis[..count * n]);
        s.reduced[..count * count].copy_from_slice(&self.reduced[..count * count]);
    }
}

/// Factors and solves by the null space, not refined: as [`factor`] and [`solve`] do one after
/// the other, but a small problem does not go through memory in between. False if a pivot has
/// fallen, or v̇ and λ are not numbers.
pub(super) fn factor_and_solve(
    s: &mut Scratch,
    terms: &Terms,
    order: &Order,
    before: (&[f64], &[f64]),
    v_dot: &mut Vec<f64>,
    multipliers: &mut Vec<f64>,
) -> bool {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    if n > SMALL && r == 0 {
        sized(&mut s.solution, n);
        sized(&mut s.multipliers, 0);
        return wide(Free { s, terms, order, free: before.1, v_dot, multipliers });
    }
    if n > SMALL {
        return factor(s, terms, order, before.0, before.1)
            && solve(s, terms, order, v_dot, multipliers);
    }
    sized(&mut s.solution, n);
    sized(&mut s.multipliers, r);
    let (given, found) = ((terms, order), (v_dot, multipliers));
    by_size!(n, r, known; s, given, before, found)
}

/// [`factor_and_solve`] for larger problems without rows, where K is Γ̃: the right side is
/// eliminated from on the way.
struct Free<'a> {
    s: &'a mut Scratch,
    terms: &'a Terms<'a>,
    order: &'a Order,
    free: &'a [f64],
    v_dot: &'a mut Vec<f64>,
    multipliers: &'a mut Vec<f64>,
}

impl Wide for Free<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Free { s, terms, order, free, v_dot, multipliers } = self;
        let n = s.scaled.n;
        take_all_metric(n, &mut s.scaled.metric[..n * n], terms, &s.scaled.coordinates, order);
        take_right(n, 0, s, terms, order);
        let k = &mut s.reduced[..room_for(n)];
        larger::take(n, &s.scaled.metric[..n * n], k);
        larger::rows(n, k).zip(&s.scaled.force).for_each(|(row, force)| row[n] = *force);
        let x = &mut s.solution[..n];
        let holds = larger::factor(n, k, &free[..n]);
        larger::take_right(n, k, x);
        larger::solve_upper(n, k, x);
        take_back(n, 0, s, order, v_dot, multipliers) && holds
    }
}

/// For one size, in a function of its own: all sizes in one are more than a compiler minds.
fn known<const N: usize, const R: usize>(
    s: &mut Scratch,
    given: (&Terms, &Order),
    before: (&[f64], &[f64]),
    found: (&mut Vec<f64>, &mut Vec<f64>),
) -> bool {
    wide(Known::<N, R> { s, given, before, found })
}

/// [`factor_and_solve`] for one size.
struct Known<'a, const N: usize, const R: usize> {
    s: &'a mut Scratch,
    given: (&'a Terms<'a>, &'a Order),
    before: (&'a [f64], &'a [f64]),
    found: (&'a mut Vec<f64>, &'a mut Vec<f64>),
}

impl<const N: usize, const R: usize> Wide for Known<'_, N, R> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        factor_and_solve_sized(N, R, self.s, self.given, self.before, self.found)
    }
}

#[inline(always)]
fn factor_and_solve_sized(
    n: usize,
    r: usize,
    s: &mut Scratch,
    (terms, order): (&Terms, &Order),
    (rows, free): (&[f64], &[f64]),
    (v_dot, multipliers): (&mut Vec<f64>, &mut Vec<f64>),
) -> bool {
    let count = n - r;
    let given = (terms, order, &s.scaled.coordinates[..n], &s.scaled.rows[..r]);
    let before = (&rows[..r], &free[..count]);
    let mut here = Here::default();
    let holds = factor_at(n, r, here.factors(n, r, &mut s.scaled.jacobian), given, before);
    here.keep(n, r, s);
    take_right(n, r, s, terms, order);
    let given = Given {
        metric: &here.metric[..n * n],
        force: &s.scaled.force[..n],
        bias: &s.scaled.bias[..r],
        lq: &here.lq[..r * n],
        tau: &here.tau[..r],
        basis: &here.basis[..count * n],
        reduced: &here.reduced[..count * count],
    };
    let (mut x, mut left, mut right) = ([0.0; SMALL], [0.0; SMALL], [0.0; SMALL]);
    let mu = &mut s.multipliers[..r];
    solve_at(n, r, given, &mut x[..n], &mut left[..n], &mut right[..n], mu);
    s.solution[..n].copy_from_slice(&x[..n]);
    take_back(n, r, s, order, v_dot, multipliers) && holds
}

/// Where the matrices and their factors are.
struct Factors<'a> {
    metric: &'a mut [f64],
    jacobian: &'a mut [f64],
    lq: &'a mut [f64],
    tau: &'a mut [f64],
    basis: &'a mut [f64],
    /// Γ̃N.
    moved: &'a mut [f64],
    reduced: &'a mut [f64],
}

#[inline(always)]
fn factor_at(
    n: usize,
    r: usize,
    at: Factors,
    (terms, order, c, d): (&Terms, &Order, &[f64], &[f64]),
    (rows, free): (&[f64], &[f64]),
) -> bool {
    let Factors { metric, jacobian, lq, tau, basis, moved, reduced } = at;
    take_all_metric(n, metric, terms, c, order);
    take_rows(n, r, (lq, jacobian), terms, (c, d), order);
    if r > 0 {
        lq::factor(lq, n, r, tau);
        find_basis(n, r, lq, tau, basis);
    }
    let stands = !has_fallen(lq, n, rows);
    form_reduced(n, r, metric, basis, moved, reduced);
    factor_reduced(n - r, reduced, free) && stands
}

#[inline(always)]
fn take_all_metric(n: usize, metric: &mut [f64], terms: &Terms, c: &[f64], order: &Order) {
    let given = &terms.metric[..n * n];
    match order.is_natural && n > SMALL {
        true => scale_metric(n, metric, given, &c[..n]),
        false => take_metric(n, metric, given, &c[..n], &order.columns[..n]),
    }
}

/// Γ̃. A coordinate without mass where units were decided may have one beside that state.
#[inline(always)]
fn take_metric(n: usize, metric: &mut [f64], given: &[f64], c: &[f64], columns: &[usize]) {
    for i in 0..n {
        let p = columns[i];
        let row = &given[p * n..(p + 1) * n];
        for j in 0..=i {
            let q = columns[j];
            let sum = 0.5 * row[q] + 0.5 * given[q * n + p];
            let value = sum * c[i] * c[j];
            (metric[i * n + j], metric[j * n + i]) = (value, value);
        }
    }
}

/// The same in the order of the terms.
#[inline(always)]
fn scale_metric(n: usize, metric: &mut [f64], given: &[f64], c: &[f64]) {
    let rows = metric.chunks_exact_mut(n).zip(given.chunks_exact(n));
    for ((own, given), by) in rows.zip(c) {
        for ((own, given), c) in own.iter_mut().zip(given).zip(c) {
            *own = given * by * c;
        }
    }
}

/// Ã, to be factored and to be kept.
#[inline(always)]
fn take_rows(
    n: usize,
    r: usize,
    (rows, kept): (&mut [f64], &mut [f64]),
    terms: &Terms,
    (c, d): (&[f64], &[f64]),
    order: &Order,
) {
    let (given, columns) = (&terms.jacobian[..r * n], &order.columns[..n]);
    for k in 0..r {
        let row = &given[order.rows[k] * n..(order.rows[k] + 1) * n];
        let (own, kept) = (&mut rows[k * n..(k + 1) * n], &mut kept[k * n..(k + 1) * n]);
        for (((own, kept), &column), c) in own.iter_mut().zip(kept).zip(columns).zip(c) {
            *own = row[column] * c * d[k];
            *kept = *own;
        }
    }
}

/// N of factored rows, its columns one after the other.
#[inline(always)]
fn find_basis(n: usize, r: usize, lq: &[f64], tau: &[f64], basis: &mut [f64]) {
    let last = r - 1;
    for k in 0..n - r {
        let column = &mut basis[k * n..(k + 1) * n];
        // The last reflection, of a unit vector.
        let v = &lq[last * n + r..r * n];
        let by = tau[last] * v[k];
        column[..last].fill(0.0);
        column[last] = 0.0 - by;
        for i in r..n {
            let own = if i == r + k { 1.0 } else { 0.0 };
            column[i] = own - by * v[i - r];
        }
        lq::apply_q(lq, n, last, tau, column);
    }
}

/// The upper triangle of K.
#[inline(always)]
pub(super) fn form_reduced(
    n: usize,
    r: usize,
    metric: &[f64],
    basis: &[f64],
    moved: &mut [f64],
    reduced: &mut [f64],
) {
    let count = n - r;
    if r == 0 {
        // N is the identity.
        match count > SMALL {
            true => larger::take(count, metric, reduced),
            false => reduced.copy_from_slice(metric),
        }
        return;
    }
    for k in 0..count {
        let here = k * n..(k + 1) * n;
        multiply(metric, n, &basis[here.clone()], &mut moved[here]);
    }
    if count > SMALL {
        for (i, row) in larger::rows(count, reduced).enumerate() {
            for j in i..count {
                row[j] = dot(&basis[j * n..(j + 1) * n], &moved[i * n..(i + 1) * n]);
            }
            row[count] = 0.0;
        }
        return;
    }
    for i in 0..count {
        for j in i..count {
            let (p, q) = (j * n..(j + 1) * n, i * n..(i + 1) * n);
            reduced[i * count + j] = dot(&basis[p], &moved[q]);
        }
    }
}

/// How much room the factors of K take.
pub(super) fn room_for(count: usize) -> usize {
    if count > SMALL { larger::length(count) } else { count * count }
}

/// K = UᵀDU, D U in the upper triangle; `before` has D_kk/K_kk at the decision. False if a pivot
/// has fallen. The operations are those of [`larger`].
#[inline(always)]
pub(super) fn factor_reduced(count: usize, k: &mut [f64], before: &[f64]) -> bool {
    if count > SMALL {
        return larger::factor(count, k, before);
    }
    let mut holds = true;
    for i in 0..count {
        let whole = k[i * count + i];
        for j in 0..i {
            let by = k[j * count + i] * -(1.0 / k[j * count + j]);
            // −U is kept below the diagonal.
            k[i * count + j] = by;
            for c in i..count {
                k[i * count + c] = by.mul_add(k[j * count + c], k[i * count + c]);
            }
        }
        let pivot = k[i * count + i];
        holds &= pivot >= FALLS * FALLS * before[i] * whole && pivot > 0.0;
    }
    holds
}

/// The same by itself.
pub(super) struct Reduced<'a> {
    pub(super) count: usize,
    pub(super) k: &'a mut [f64],
    pub(super) before: &'a [f64],
}

impl Wide for Reduced<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        factor_reduced(self.count, self.k, self.before)
    }
}

/// Solves K z = g in place.
#[inline(always)]
pub(super) fn solve_reduced(count: usize, k: &[f64], z: &mut [f64]) {
    if count > SMALL {
        return larger::solve(count, k, z);
    }
    for i in 0..count {
        for j in 0..i {
            z[i] = k[i * count + j].mul_add(z[j], z[i]);
        }
    }
    for i in (0..count).rev() {
        z[i] *= 1.0 / k[i * count + i];
        for j in (i + 1..count).rev() {
            z[i] = k[j * count + i].mul_add(z[j], z[i]);
        }
    }
}

/// D_kk and K_kk of a factored K.
pub(super) fn free_pivot(k: &[f64], count: usize, at: usize) -> (f64, f64) {
    if count > SMALL {
        return larger::pivot(count, k, at);
    }
    let pivot = k[at * count + at];
    let parts = (0..at).map(|j| k[at * count + j] * k[j * count + at]);
    (pivot, pivot - parts.sum::<f64>())
}

/// Takes F + C and b in the units and the order there are, and solves by the null space, not
/// refined. False if v̇ and λ are not numbers.
pub(super) fn solve(
    s: &mut Scratch,
    terms: &Terms,
    order: &Order,
    v_dot: &mut Vec<f64>,
    multipliers: &mut Vec<f64>,
) -> bool {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    for of in [&mut s.solution, &mut s.left, &mut s.right] {
        sized(of, n);
    }
    sized(&mut s.multipliers, r);
    wide(Solve { s, terms, order, v_dot, multipliers })
}

/// [`solve`].
struct Solve<'a> {
    s: &'a mut Scratch,
    terms: &'a Terms<'a>,
    order: &'a Order,
    v_dot: &'a mut Vec<f64>,
    multipliers: &'a mut Vec<f64>,
}

impl Wide for Solve<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Solve { s, terms, order, v_dot, multipliers } = self;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        by_size!(n, r, |n, r| {
            solve_sized(n, r, s, terms, order);
            take_back(n, r, s, order, v_dot, multipliers)
        })
    }
}

#[inline(always)]
pub(super) fn solve_sized(n: usize, r: usize, s: &mut Scratch, terms: &Terms, order: &Order) {
    take_right(n, r, s, terms, order);
    let mut multipliers = std::mem::take(&mut s.multipliers);
    solve_with(n, r, s, &mut multipliers[..r]);
    s.multipliers = multipliers;
}

/// Solves for the forces and right-hand sides there are; μ only if there is room for it.
#[inline(always)]
fn solve_with(n: usize, r: usize, s: &mut Scratch, multipliers: &mut [f64]) {
    let count = n - r;
    let given = Given {
        metric: &s.scaled.metric[..n * n],
        force: &s.scaled.force[..n],
        bias: &s.scaled.bias[..r],
        lq: &s.rows_lq[..r * n],
        tau: &s.rows_tau[..r],
        basis: &s.basis[..count * n],
        reduced: &s.reduced[..room_for(count)],
    };
    if n > SMALL {
        let (x, left, right) = (&mut s.solution[..n], &mut s.left[..n], &mut s.right[..n]);
        return solve_at(n, r, given, x, left, right, multipliers);
    }
    let (mut x, mut left, mut right) = ([0.0; SMALL], [0.0; SMALL], [0.0; SMALL]);
    solve_at(n, r, given, &mut x[..n], &mut left[..n], &mut right[..n], multipliers);
    s.solution[..n].copy_from_slice(&x[..n]);
}

/// A frozen problem and its factors.
struct Given<'a> {
    metric: &'a [f64],
    force: &'a [f64],
    bias: &'a [f64],
    lq: &'a [f64],
    tau: &'a [f64],
    basis: &'a [f64],
    reduced: &'a [f64],
}

#[inline(always)]
fn solve_at(
    n: usize,
    r: usize,
    given: Given,
    x: &mut [f64],
    left: &mut [f64],
    right: &mut [f64],
    multipliers: &mut [f64],
) {
    let Given { metric, force, bias, lq, tau, basis, reduced } = given;
    let count = n - r;
    if r == 0 {
        x.copy_from_slice(force);
        solve_reduced(count, reduced, x);
        return;
    }
    // y = Q L⁻¹ b̃
    x[..r].copy_from_slice(bias);
    x[r..].fill(0.0);
    lq::solve_lower(lq, n, r, x);
    lq::apply_q(lq, n, r, tau, x);
    // K z = Nᵀ(F̃ − Γ̃y), x = y + N z
    multiply(metric, n, x, right);
    (0..n).for_each(|i| right[i] = force[i] - right[i]);
    multiply(basis, n, right, &mut left[..count]);
    solve_reduced(count, reduced, &mut left[..count]);
    for k in 0..count {
        (0..n).for_each(|i| x[i] += basis[k * n + i] * left[k]);
    }
    if multipliers.is_empty() {
        return;
    }
    // Lᵀμ = Qᵀ(Γ̃x − F̃)
    multiply(metric, n, x, left);
    (0..n).for_each(|i| left[i] -= force[i]);
    lq::apply_q_transposed(lq, n, r, tau, left);
    lq::solve_lower_transposed(lq, n, r, left);
    multipliers.copy_from_slice(&left[..r]);
}

/// Solves for v alone with F = 0 and these numbers for b. False if it is not a number.
pub(super) fn shortest(
    s: &mut Scratch,
    right: &[f64],
    order: &Order,
    change: &mut Vec<f64>,
) -> bool {
    let n = s.scaled.n;
    for of in [&mut s.solution, &mut s.left, &mut s.right] {
        sized(of, n);
    }
    wide(Shortest { s, right, order, change })
}

/// [`shortest`].
struct Shortest<'a> {
    s: &'a mut Scratch,
    right: &'a [f64],
    order: &'a Order,
    change: &'a mut Vec<f64>,
}

impl Wide for Shortest<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Shortest { s, right, order, change } = self;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        by_size!(n, r, |n: usize, r: usize| {
            for k in 0..r {
                s.scaled.bias[k] = right[order.rows[k]] * s.scaled.rows[k];
            }
            s.scaled.force[..n].fill(0.0);
            solve_with(n, r, s, &mut []);
            take_velocities(n, s, order, change)
        })
    }
}

/// F + C and b.
#[inline(always)]
pub(super) fn take_right(n: usize, r: usize, s: &mut Scratch, terms: &Terms, order: &Order) {
    let (columns, c) = (&order.columns[..n], &s.scaled.coordinates[..n]);
    let (force, nonideal) = (&terms.force[..n], &terms.nonideal[..n]);
    let into = &mut s.scaled.force[..n];
    for i in 0..n {
        into[i] = (force[columns[i]] + nonideal[columns[i]]) * c[i];
    }
    let (into, d, given) = (&mut s.scaled.bias[..r], &s.scaled.rows[..r], &terms.bias[..r]);
    for k in 0..r {
        into[k] = given[order.rows[k]] * d[k];
    }
}

/// v̇ and λ in the user's units and order. False if they are not numbers.
#[inline(always)]
pub(super) fn take_back(
    n: usize,
    r: usize,
    s: &Scratch,
    order: &Order,
    v_dot: &mut Vec<f64>,
    multipliers: &mut Vec<f64>,
) -> bool {
    sized(multipliers, r);
    let is_finite = take_velocities(n, s, order, v_dot);
    let mut nothing = 0.0;
    let (mu, d) = (&s.multipliers[..r], &s.scaled.rows[..r]);
    for k in 0..r {
        let value = mu[k] * d[k];
        nothing += 0.0 * value;
        multipliers[order.rows[k]] = value;
    }
    is_finite && nothing == 0.0
}

/// v̇ in the user's units and order. False if it is not a number.
#[inline(always)]
fn take_velocities(n: usize, s: &Scratch, order: &Order, v_dot: &mut Vec<f64>) -> bool {
    sized(v_dot, n);
    let (x, c, columns) = (&s.solution[..n], &s.scaled.coordinates[..n], &order.columns[..n]);
    // A sum of numbers that are all finite, times 0, is 0.
    let mut nothing = 0.0;
    for i in 0..n {
        let value = x[i] * c[i];
        nothing += 0.0 * value;
        v_dot[columns[i]] = value;
    }
    nothing == 0.0
}

/// ρ_N and ρ_A of the last solution, whose terms are taken as they are.
pub(super) fn residuals(s: &mut Scratch) -> (f64, f64) {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    if n > SMALL {
        return wide(Residuals(s));
    }
    by_size!(n, r, |n, r| residuals_sized(n, r, s))
}

/// [`residuals`] for larger problems.
struct Residuals<'a>(&'a mut Scratch);

impl Wide for Residuals<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        residuals_sized(self.0.scaled.n, self.0.decision.jacobian, self.0)
    }
}

#[inline(always)]
pub(super) fn residuals_sized(n: usize, r: usize, s: &mut Scratch) -> (f64, f64) {
    sized(&mut s.left, n);
    sized(&mut s.work, n);
    let (metric, force) = (&s.scaled.metric[..n * n], &s.scaled.force[..n]);
    let (jacobian, bias) = (&s.scaled.jacobian[..r * n], &s.scaled.bias[..r]);
    let (x, left) = (&s.solution[..n], &mut s.left[..n]);
    let size = norm(x);
    let ratio = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a / b };
    multiply(metric, n, x, left);
    for i in 0..n {
        let along: f64 = (0..r).map(|k| jacobian[k * n + i] * s.multipliers[k]).sum();
        left[i] -= force[i] + along;
    }
    let whole = norm(metric) * size + norm(force);
    let stationarity = ratio(norm(left), whole);
    let rows = &mut s.work[..r];
    for k in 0..r {
        rows[k] = dot(&jacobian[k * n..(k + 1) * n], x) - bias[k];
    }
    // At rest in equilibrium the size is that of what the forces alone would do.
    let whole = norm(jacobian) * (size + norm(force)) + norm(bias);
    (stationarity, ratio(norm(rows), whole))
}

/// The squares of a diagonal entry of a triangle and of its row.
#[inline(always)]
pub(super) fn pivot(l: &[f64], cols: usize, k: usize) -> (f64, f64) {
    let row = &l[k * cols..k * cols + k + 1];
    (row[k] * row[k], dot(row, row))
}

#[inline(always)]
fn has_fallen(l: &[f64], cols: usize, before: &[f64]) -> bool {
    let mut holds = true;
    for k in 0..before.len() {
        let (pivot, row) = pivot(l, cols, k);
        holds &= pivot >= FALLS * FALLS * before[k] * row;
    }
    !holds
}
