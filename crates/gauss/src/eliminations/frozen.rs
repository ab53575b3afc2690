//! The loops of a frozen problem, with lengths that the compiler knows where problems are small.
//!
//! ```text
//! factor   Ã = L Qᵀ ,   N = Q [0; I] ,   K = NᵀΓ̃N = L_K D L_Kᵀ
//! solve    y = Q L⁻¹ b̃ ,   K z = Nᵀ(F̃ − Γ̃y) ,   x = y + N z ,   Lᵀμ = Qᵀ(Γ̃x − F̃)
//! ```
//!
//! Here L_K has ones on its diagonal: a root waits for what is before it, and all that is after
//! it waits for the root.
//!
//! With three coordinates and a row these are some sixty products; calls, counters and moves of a
//! few numbers would cost three times as much as the products. So every function here is written
//! once, for any size, and is compiled once more for each size up to four coordinates, where all
//! of its loops are unrolled. Whatever the size, the operations and their order are the same.

use super::Scratch;
use crate::linalg::{dot, lq, multiply, norm, sized};
use crate::terms::Terms;

/// Calls a function that is inlined with n and r as constants where these are small.
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
}

/// A pivot has fallen if it is below this part of what it was at the decision.
const FALLS: f64 = 1.0 / 16.0;

/// Takes Γ and A in the units and orders there are, and factors the rows and K. `columns` has the
/// coordinates in order; `rows` and `free` have the pivots at the decision. False if one has
/// fallen.
pub(super) fn factor(
    s: &mut Scratch,
    terms: &Terms,
    columns: &[usize],
    rows: &[f64],
    free: &[f64],
) -> bool {
    by_size!(s.scaled.n, s.decision.jacobian, |n, r| factor_sized(
        n, r, s, terms, columns, rows, free
    ))
}

#[inline(always)]
pub(super) fn factor_sized(
    n: usize,
    r: usize,
    s: &mut Scratch,
    terms: &Terms,
    columns: &[usize],
    rows: &[f64],
    free: &[f64],
) -> bool {
    take_matrices(n, r, s, terms, columns);
    if r > 0 {
        factor_rows(n, r, s);
    }
    if has_fallen(&s.rows_lq, n, &rows[..r]) {
        return false;
    }
    form_reduced(n, r, s);
    let count = n - r;
    factor_reduced(count, &mut s.reduced[..count * count], &free[..count])
}

/// K = L_K D L_Kᵀ in the lower triangle, D on the diagonal; `before` has D_kk/K_kk at the decision.
/// False if a pivot has fallen.
#[inline(always)]
pub(super) fn factor_reduced(count: usize, k: &mut [f64], before: &[f64]) -> bool {
    for i in 0..count {
        let (above, row) = k.split_at_mut(i * count);
        // The row of L_K D, then that of L_K.
        for j in 0..i {
            row[j] -= dot(&row[..j], &above[j * count..j * count + j]);
        }
        let whole = row[i];
        let mut pivot = whole;
        for j in 0..i {
            let scaled = row[j];
            row[j] = scaled / above[j * count + j];
            pivot -= scaled * row[j];
        }
        row[i] = pivot;
        let is_high = pivot >= FALLS * FALLS * before[i] * whole;
        if !(is_high && pivot > 0.0 && pivot < f64::INFINITY) {
            return false;
        }
    }
    true
}

/// Solves K z = g in place, in the order of the pivots.
#[inline(always)]
fn solve_reduced(count: usize, k: &[f64], z: &mut [f64]) {
    for i in 0..count {
        z[i] -= dot(&k[i * count..i * count + i], &z[..i]);
    }
    for i in 0..count {
        z[i] /= k[i * count + i];
    }
    for i in (0..count).rev() {
        for j in 0..i {
            z[j] -= k[i * count + j] * z[i];
        }
    }
}

/// Solves K x = g in place, in the order of the free directions; `work` needs as many entries.
pub(super) fn solve_free(s: &Scratch, x: &mut [f64], work: &mut [f64]) {
    let (count, order) = (x.len(), &s.reduced_order);
    (0..count).for_each(|k| work[k] = x[order[k]]);
    solve_reduced(count, &s.reduced, work);
    (0..count).for_each(|k| x[order[k]] = work[k]);
}

/// D_kk and K_kk of a factored K.
pub(super) fn free_pivot(k: &[f64], count: usize, at: usize) -> (f64, f64) {
    let row = &k[at * count..(at + 1) * count];
    let parts = (0..at).map(|j| row[j] * row[j] * k[j * count + j]);
    (row[at], parts.sum::<f64>() + row[at])
}

/// A coordinate without mass where units were decided may have one beside that state.
#[inline(always)]
fn take_matrices(n: usize, r: usize, s: &mut Scratch, terms: &Terms, columns: &[usize]) {
    let (columns, c) = (&columns[..n], &s.scaled.coordinates[..n]);
    let (metric, given) = (&mut s.scaled.metric[..n * n], &terms.metric[..n * n]);
    for i in 0..n {
        for j in 0..=i {
            let (p, q) = (columns[i], columns[j]);
            let sum = 0.5 * given[p * n + q] + 0.5 * given[q * n + p];
            let value = sum * c[i] * c[j];
            (metric[i * n + j], metric[j * n + i]) = (value, value);
        }
    }
    let (jacobian, given) = (&mut s.scaled.jacobian[..r * n], &terms.jacobian[..r * n]);
    let d = &s.scaled.rows[..r];
    for k in 0..r {
        for i in 0..n {
            jacobian[k * n + i] = given[k * n + columns[i]] * c[i] * d[k];
        }
    }
}

/// L Qᵀ of the rows in order, and N.
#[inline(always)]
fn factor_rows(n: usize, r: usize, s: &mut Scratch) {
    let (lq, tau) = (&mut s.rows_lq[..r * n], &mut s.rows_tau[..r]);
    let (order, jacobian) = (&s.decision.order[..r], &s.scaled.jacobian[..r * n]);
    for k in 0..r {
        let row = &jacobian[order[k] * n..(order[k] + 1) * n];
        (0..n).for_each(|i| lq[k * n + i] = row[i]);
    }
    lq::factor(lq, n, r, tau);
    let last = r - 1;
    let basis = &mut s.basis[..(n - r) * n];
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

/// The lower triangle of K in the order of its pivots.
#[inline(always)]
pub(super) fn form_reduced(n: usize, r: usize, s: &mut Scratch) {
    let count = n - r;
    let order = &s.reduced_order[..count];
    let reduced = &mut s.reduced[..count * count];
    let metric = &s.scaled.metric[..n * n];
    if r == 0 {
        // N is the identity.
        for i in 0..n {
            for j in 0..=i {
                reduced[i * n + j] = metric[order[i] * n + order[j]];
            }
        }
        return;
    }
    let basis = &s.basis[..count * n];
    sized(&mut s.matrix, count * n);
    let moved = &mut s.matrix[..count * n];
    for k in 0..count {
        let here = k * n..(k + 1) * n;
        multiply(metric, n, &basis[here.clone()], &mut moved[here]);
    }
    for i in 0..count {
        for j in 0..=i {
            let (p, q) = (order[i].max(order[j]), order[i].min(order[j]));
            reduced[i * count + j] = dot(&basis[p * n..(p + 1) * n], &moved[q * n..(q + 1) * n]);
        }
    }
}

/// Takes F + C and b in the units and orders there are, and solves by the null space, not
/// refined. False if v̇ and λ are not numbers.
pub(super) fn solve(
    s: &mut Scratch,
    terms: &Terms,
    columns: &[usize],
    v_dot: &mut Vec<f64>,
    multipliers: &mut Vec<f64>,
) -> bool {
    by_size!(s.scaled.n, s.decision.jacobian, |n, r| {
        solve_sized(n, r, s, terms, columns);
        take_back(n, r, s, columns, v_dot, multipliers)
    })
}

/// v̇ and λ in the user's units. False if they are not numbers.
#[inline(always)]
pub(super) fn take_back(
    n: usize,
    r: usize,
    s: &Scratch,
    columns: &[usize],
    v_dot: &mut Vec<f64>,
    multipliers: &mut Vec<f64>,
) -> bool {
    sized(v_dot, n);
    sized(multipliers, r);
    let (x, c, columns) = (&s.solution[..n], &s.scaled.coordinates[..n], &columns[..n]);
    let mut is_finite = true;
    for i in 0..n {
        let value = x[i] * c[i];
        is_finite &= value.is_finite();
        v_dot[columns[i]] = value;
    }
    let (mu, d, multipliers) = (&s.multipliers[..r], &s.scaled.rows[..r], &mut multipliers[..r]);
    for k in 0..r {
        multipliers[k] = mu[k] * d[k];
        is_finite &= multipliers[k].is_finite();
    }
    is_finite
}

#[inline(always)]
pub(super) fn solve_sized(n: usize, r: usize, s: &mut Scratch, terms: &Terms, columns: &[usize]) {
    let count = n - r;
    take_right(n, r, s, terms, columns);
    for of in [&mut s.solution, &mut s.left, &mut s.right] {
        sized(of, n);
    }
    sized(&mut s.work, n);
    sized(&mut s.multipliers, r);
    let (metric, force) = (&s.scaled.metric[..n * n], &s.scaled.force[..n]);
    let (x, left, right) = (&mut s.solution[..n], &mut s.left[..n], &mut s.right[..n]);
    let (lq, tau, order) = (&s.rows_lq[..r * n], &s.rows_tau[..r], &s.decision.order[..r]);
    // y = Q L⁻¹ b̃
    for k in 0..r {
        x[k] = s.scaled.drift[order[k]];
    }
    x[r..].fill(0.0);
    lq::solve_lower(lq, n, r, x);
    lq::apply_q(lq, n, r, tau, x);
    // K z = Nᵀ(F̃ − Γ̃y), x = y + N z
    if r == 0 {
        left.copy_from_slice(force);
    } else {
        multiply(metric, n, x, right);
        (0..n).for_each(|i| right[i] = force[i] - right[i]);
        multiply(&s.basis[..count * n], n, right, &mut left[..count]);
    }
    let (reduced, order_of_pivots) = (&s.reduced[..count * count], &s.reduced_order[..count]);
    let z = &mut s.work[..count];
    for k in 0..count {
        z[k] = left[order_of_pivots[k]];
    }
    solve_reduced(count, reduced, z);
    for k in 0..count {
        left[order_of_pivots[k]] = z[k];
    }
    if r == 0 {
        (0..n).for_each(|i| x[i] += left[i]);
        return;
    }
    let basis = &s.basis[..count * n];
    for k in 0..count {
        (0..n).for_each(|i| x[i] += basis[k * n + i] * left[k]);
    }
    // Lᵀμ = Qᵀ(Γ̃x − F̃)
    multiply(metric, n, x, left);
    (0..n).for_each(|i| left[i] -= force[i]);
    lq::apply_q_transposed(lq, n, r, tau, left);
    lq::solve_lower_transposed(lq, n, r, left);
    for k in 0..r {
        s.multipliers[order[k]] = left[k];
    }
}

/// F + C and b.
#[inline(always)]
fn take_right(n: usize, r: usize, s: &mut Scratch, terms: &Terms, columns: &[usize]) {
    let (columns, c) = (&columns[..n], &s.scaled.coordinates[..n]);
    let (force, nonideal) = (&terms.force[..n], &terms.nonideal[..n]);
    let into = &mut s.scaled.force[..n];
    for i in 0..n {
        into[i] = (force[columns[i]] + nonideal[columns[i]]) * c[i];
    }
    let (into, d, given) = (&mut s.scaled.drift[..r], &s.scaled.rows[..r], &terms.drift[..r]);
    for k in 0..r {
        into[k] = given[k] * d[k];
    }
}

/// ρ_N and ρ_A of the last solution, whose terms are taken as they are.
pub(super) fn residuals(s: &mut Scratch) -> (f64, f64) {
    by_size!(s.scaled.n, s.decision.jacobian, |n, r| residuals_sized(n, r, s))
}

#[inline(always)]
pub(super) fn residuals_sized(n: usize, r: usize, s: &mut Scratch) -> (f64, f64) {
    sized(&mut s.left, n);
    sized(&mut s.work, n.max(r));
    let (metric, force) = (&s.scaled.metric[..n * n], &s.scaled.force[..n]);
    let (jacobian, drift) = (&s.scaled.jacobian[..r * n], &s.scaled.drift[..r]);
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
        rows[k] = dot(&jacobian[k * n..(k + 1) * n], x) - drift[k];
    }
    // At rest in equilibrium the size is that of what the forces alone would do.
    let whole = norm(jacobian) * (size + norm(force)) + norm(drift);
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
