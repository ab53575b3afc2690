//! Decided once, factored often, solved more often.
//!
//! A decision fixes the units, the rows and their order, and the order of pivots. Near the state
//! it was made for, nothing of that changes: what does is numbers. So between two decisions the
//! problem is
//!
//! ```text
//! refactor   Ã = L Qᵀ, K = NᵀΓ̃N = UᵀDU, in the order decided; then what an elimination adds
//! solve      y = Q L⁻¹ b̃,  K z = Nᵀ(F̃ − Γ̃y),  x = y + N z,  L ᵀμ = Qᵀ(Γ̃x − F̃)
//! ```
//!
//! and nothing is compared with anything but the pivots: one that falls far below what it was,
//! measured by its own row, asks for a new decision. Only problems with one motion and
//! independent rows are frozen; all others are decided each time.
//!
//! While no pivot, row or mass is less than half or more than twice what it was, another decision
//! would be the same one ([`Factored::holds`]): ranks are those of pivots that are far from
//! rounding, and units are powers of two next to these sizes.
//!
//! Solutions are refined only where pivots are small. So that rounding of one coordinate does not
//! reach another that no row joins to it, coordinates are ordered such that each reflection
//! begins at the largest entry of its row: it then touches none that the row does not.

use super::along_tree::TreeFactored;
use super::frozen::{self, Order};
use super::inverse;
use super::shared::{self, solve_rows};
use super::status::{factor_rows, find_remaining, form_reduced};
use super::{Elimination, STRAIGHT, STRAIGHT_WITH_ROWS, Scratch, null_space};
use crate::linalg::{cholesky, lq, multiply, sized, zeros};
use crate::outcome::{Outcome, Verdict};
use crate::sparse::{Dense, LARGEST_DENSE, Reduced, SparseFactored};
use crate::terms::Terms;
use crate::tolerances::solving::{FALLS, HOLDS, POOR};
use dalembert_machine::wide;

/// A decision, the factors of the last state, and its last solution.
#[derive(Clone, Debug, Default)]
pub struct Factored {
    s: Scratch,
    is_decided: bool,
    /// Squares of the pivots of the rows and of K at the decision, over those of their rows.
    rows: Vec<f64>,
    free: Vec<f64>,
    /// Squares of the lengths of the rows, K_kk, and Γ̃_ii, at the decision.
    sizes: Vec<f64>,
    /// The coordinates and rows in the order in which they are factored.
    order: Order,
    /// Whether a coordinate had no mass at the decision.
    has_massless: bool,
    /// How many decisions were taken over.
    adopted: u64,
    /// The same of a sparse problem, where the decision was made on one.
    sparse: Option<Box<SparseFactored>>,
    /// The same of bodies along a tree.
    tree: Option<Box<TreeFactored>>,
    /// A sparse problem made dense.
    dense: Option<Box<Dense>>,
}

impl Factored {
    /// Whether there is a decision to go by.
    pub fn is_decided(&self) -> bool {
        if let Some(tree) = &self.tree {
            return tree.is_decided();
        }
        self.sparse.as_ref().map_or(self.is_decided, |sparse| sparse.is_decided())
    }

    /// Forgets the decision.
    pub fn forget(&mut self) {
        self.is_decided = false;
        self.sparse.iter_mut().for_each(|sparse| sparse.forget());
        self.tree.iter_mut().for_each(|tree| tree.forget());
    }

    /// How many decisions were taken over: a number for that at hand.
    pub fn adopted(&self) -> u64 {
        self.adopted
    }

    /// The order of coordinates and of rows, where a problem is small and solved as it is: code that
    /// keeps to the operations here, one by one, gives the same bits. `constants` gets what it goes
    /// by: of a problem with rows the units of coordinates and of rows, and what part of a row its
    /// pivot is to be; then what part of K_ii.
    pub fn straight(
        &self,
        elimination: &dyn Elimination,
        constants: &mut Vec<f64>,
    ) -> Option<(&[usize], &[usize])> {
        let (n, r) = (self.s.scaled.n, self.s.decision.jacobian);
        let most = if r == 0 { STRAIGHT } else { STRAIGHT_WITH_ROWS };
        let is_plain = self.is_decided && !self.s.refines && !self.has_massless && n <= most;
        let is_large = self.sparse.is_some() || self.tree.is_some();
        if is_large || !is_plain || !elimination.is_null_space() {
            return None;
        }
        constants.clear();
        let least = |before: &f64| FALLS * FALLS * before;
        if r > 0 {
            constants.extend(&self.s.scaled.coordinates[..n]);
            constants.extend(&self.s.scaled.rows[..r]);
            constants.extend(self.rows[..r].iter().map(least));
        }
        constants.extend(self.free[..n - r].iter().map(least));
        Some((&self.order.columns, &self.order.rows))
    }

    /// Of a sparse problem with a diagonal Γ, S = A Γ⁻¹ Aᵀ by its products: code that keeps to the
    /// operations here, sums of fused products one after the other, gives the same bits.
    pub fn reduced(&self) -> Option<Reduced<'_>> {
        self.sparse.as_ref().and_then(|sparse| sparse.reduced())
    }

    /// λ of such a problem where S and b − A Γ⁻¹F are given, in the place of the latter. The factors
    /// there are stay as they are. False if a pivot has fallen, or λ is not a number.
    pub fn solve_reduced(&mut self, schur: &[f64], right: &mut [f64]) -> bool {
        self.sparse.as_mut().is_some_and(|sparse| sparse.solve_reduced(schur, right))
    }

    /// Takes over a decision made on all rows of a problem, for the independent ones among
    /// them, in the order in which they are listed. False if the motion is not unique.
    pub fn adopt(&mut self, decided: &Scratch, outcome: &Outcome) -> bool {
        let (n, r) = (decided.scaled.n, decided.decision.jacobian);
        self.is_decided = false;
        self.adopted += 1;
        (self.sparse, self.tree) = (None, None);
        if decided.is_sparse {
            if decided.is_along_tree {
                let found = decided.tree.as_ref().and_then(|d| TreeFactored::adopt(d, outcome));
                self.tree = found.map(Box::new);
                return self.tree.is_some();
            }
            let found = decided.sparse.as_ref().and_then(|d| SparseFactored::adopt(d, outcome));
            self.sparse = found.map(Box::new);
            return self.sparse.is_some();
        }
        if outcome.motion != Verdict::Unique
            || outcome.independent.len() != r
            || r + decided.reduced_rank < n
        {
            return false;
        }
        let (s, columns) = (&mut self.s, &mut self.order.columns);
        let pivots_of_rows = &decided.decision.order[..r];
        let place = |row: &usize| outcome.independent.iter().position(|other| other == row);
        self.order.rows.clear();
        self.order.rows.extend(pivots_of_rows.iter().filter_map(place));
        self.has_massless = decided.scaled.massless.contains(&true);
        order_columns(decided, &mut s.matrix, columns);
        s.scaled.adopt(&decided.scaled, pivots_of_rows, columns);
        s.decision.adopt(&decided.decision, columns);
        factor_rows(s);
        // The free directions in the order of K's pivots, so that no order is left to keep.
        let free = n - r;
        form_reduced(s);
        s.reduced_order.resize(free, 0);
        zeros(&mut s.extra, free);
        let found = cholesky::factor_pivoted(&mut s.reduced, free, &s.extra, &mut s.reduced_order);
        pivots(&s.reduced, free, free, &mut self.free);
        s.order.clear();
        s.order.extend(s.reduced_order.iter().map(|&k| columns[r + k]));
        // Without rows any order of such a matrix is as good, if its pivots are; as they come they
        // need not be sought.
        self.order.is_natural =
            r == 0 && stands_as_it_is(s, &decided.scaled.metric, &mut self.free);
        if !self.order.is_natural {
            columns[r..].copy_from_slice(&s.order);
        }
        s.scaled.adopt(&decided.scaled, pivots_of_rows, columns);
        s.decision.adopt(&decided.decision, columns);
        factor_rows(s);
        pivots(&s.rows_lq, n, r, &mut self.rows);
        (s.reduced_rank, s.is_frozen) = (free, true);
        sized(&mut s.matrix, free * n);
        sized(&mut s.reduced, frozen::room_for(free));
        frozen::form_reduced(n, r, &s.scaled.metric, &s.basis, &mut s.matrix, &mut s.reduced);
        let k = frozen::Reduced { count: free, k: &mut s.reduced, before: &self.free };
        let is_regular = wide(k);
        let least = self.rows.iter().chain(&self.free).fold(1.0, |m: f64, p| m.min(*p));
        s.refines = !(least >= POOR * POOR);
        self.sizes.clear();
        self.sizes.extend(sizes(s));
        self.is_decided = found.rank == free && is_regular;
        self.is_decided
    }

    /// Whether the decision would be made again at the state that was factored last, by far.
    pub fn holds(&self) -> bool {
        if let Some(tree) = &self.tree {
            return tree.holds();
        }
        if let Some(sparse) = &self.sparse {
            return sparse.holds();
        }
        let s = &self.s;
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        let is_near = |(now, before): (f64, &f64)| HOLDS * now >= *before && now <= HOLDS * before;
        let stands = |(pivot, row): (f64, f64), before: f64| HOLDS * pivot >= before * row;
        self.is_decided
            && !s.refines
            && !self.has_massless
            && (0..r).all(|k| stands(frozen::pivot(&s.rows_lq, n, k), self.rows[k]))
            && (0..n - r).all(|k| stands(frozen::free_pivot(&s.reduced, n - r, k), self.free[k]))
            && sizes(s).zip(&self.sizes).all(is_near)
    }

    /// Factors Γ and A of another state. False if a pivot has fallen.
    pub fn refactor(&mut self, elimination: &dyn Elimination, terms: &Terms) -> bool {
        if let Some(tree) = &mut self.tree {
            return tree.refactor(terms);
        }
        if let Some(sparse) = &mut self.sparse {
            return sparse.refactor(terms);
        }
        if terms.patterns.is_some() {
            return self.with_zeros(terms, |own, terms| own.refactor(elimination, terms));
        }
        let s = &mut self.s;
        if terms.n != s.scaled.n || terms.m != s.decision.jacobian || !elimination.freezes() {
            return false;
        }
        frozen::factor(s, terms, &self.order, &self.rows, &self.free)
            && elimination.factor(s, terms)
    }

    /// Solves for forces and right-hand sides with the factors there are: v̇ and λ. False if
    /// they are not numbers.
    pub fn solve(
        &mut self,
        elimination: &dyn Elimination,
        terms: &Terms,
        v_dot: &mut Vec<f64>,
        multipliers: &mut Vec<f64>,
    ) -> bool {
        if let Some(tree) = &mut self.tree {
            return tree.solve(terms, v_dot, multipliers);
        }
        if let Some(sparse) = &mut self.sparse {
            return sparse.solve(terms, v_dot, multipliers);
        }
        if terms.patterns.is_some() {
            return self
                .with_zeros(terms, |own, terms| own.solve(elimination, terms, v_dot, multipliers));
        }
        let (s, order) = (&mut self.s, &self.order);
        if elimination.is_null_space() && !s.refines && !self.has_massless {
            return frozen::solve(s, terms, order, v_dot, multipliers);
        }
        let (n, r) = (s.scaled.n, s.decision.jacobian);
        frozen::take_right(n, r, s, terms, order);
        solve_rows(s, r);
        find_remaining(s);
        if !elimination.back_substitute(s, terms) {
            null_space::solve_free(s);
        }
        zeros(&mut s.multipliers, r);
        if r > 0 {
            sized(&mut s.left, n);
            multiply(&s.scaled.metric, n, &s.solution, &mut s.left);
            s.left.iter_mut().zip(&s.scaled.force).for_each(|(g, f)| *g -= f);
            shared::add_basic(s, r);
            if s.refines || self.has_massless {
                shared::improve_basic(s, r);
            }
        }
        frozen::take_back(n, r, s, order, v_dot, multipliers)
    }

    /// Factors Γ and A of another state and solves there: [`refactor`](Factored::refactor) and
    /// [`solve`](Factored::solve). False if either does not serve.
    pub fn solve_at(
        &mut self,
        elimination: &dyn Elimination,
        terms: &Terms,
        v_dot: &mut Vec<f64>,
        multipliers: &mut Vec<f64>,
    ) -> bool {
        if self.sparse.is_some() || self.tree.is_some() || terms.patterns.is_some() {
            return self.refactor(elimination, terms)
                && self.solve(elimination, terms, v_dot, multipliers);
        }
        let s = &mut self.s;
        let is_plain = elimination.is_null_space() && !s.refines && !self.has_massless;
        if is_plain && terms.n == s.scaled.n && terms.m == s.decision.jacobian {
            let before = (&*self.rows, &*self.free);
            return frozen::factor_and_solve(s, terms, &self.order, before, v_dot, multipliers);
        }
        self.refactor(elimination, terms) && self.solve(elimination, terms, v_dot, multipliers)
    }

    /// The shortest change of v by which A v changes by `right`, with the factors there are: the
    /// problem of Gauss without forces, and without its multipliers. False where solutions are
    /// refined or another elimination has factors of its own, or if it is not a number.
    pub fn shortest(
        &mut self,
        elimination: &dyn Elimination,
        right: &[f64],
        change: &mut Vec<f64>,
    ) -> bool {
        if let Some(tree) = &mut self.tree {
            return tree.shortest(right, change);
        }
        if let Some(sparse) = &mut self.sparse {
            return sparse.shortest(right, change);
        }
        let s = &mut self.s;
        elimination.is_null_space()
            && !s.refines
            && !self.has_massless
            && right.len() == s.decision.jacobian
            && frozen::shortest(s, right, &self.order, change)
    }

    /// v̇ and λ for 1 in each of F and b, one after the other, with the factors there are. False
    /// where solutions are refined or another elimination has factors of its own, or if they are
    /// not numbers.
    pub fn inverse(&mut self, elimination: &dyn Elimination, into: &mut Vec<f64>) -> bool {
        let s = &mut self.s;
        self.sparse.is_none()
            && self.tree.is_none()
            && elimination.is_null_space()
            && !s.refines
            && !self.has_massless
            && inverse::inverse(s, &self.order, into)
    }

    /// ρ_N and ρ_A of the last solution.
    pub fn residuals(&mut self) -> (f64, f64) {
        match (&mut self.tree, &mut self.sparse) {
            (Some(tree), _) => tree.residuals(),
            (_, Some(sparse)) => sparse.residuals(),
            _ => frozen::residuals(&mut self.s),
        }
    }

    /// Of a sparse problem, how far the rows factored last are from depending on each other: the
    /// least pivot in units of equal mass, as a part of given lengths of the rows.
    pub fn margin(&self, lengths: &[f64]) -> Option<f64> {
        match &self.tree {
            Some(tree) => Some(tree.margin()),
            None => self.sparse.as_ref().map(|sparse| sparse.margin(lengths)),
        }
    }

    /// Does with a sparse problem what is done with a dense one.
    fn with_zeros(
        &mut self,
        terms: &Terms,
        mut what: impl FnMut(&mut Self, &Terms) -> bool,
    ) -> bool {
        if terms.n > LARGEST_DENSE {
            return false;
        }
        let mut dense = self.dense.take().unwrap_or_default();
        let done = what(self, &dense.fill(terms));
        self.dense = Some(dense);
        done
    }
}

/// Orders coordinates so that each row, after the reflections of those before it, has its largest
/// entry where its own reflection begins.
fn order_columns(decided: &Scratch, work: &mut Vec<f64>, columns: &mut Vec<usize>) {
    let (n, r) = (decided.scaled.n, decided.decision.jacobian);
    columns.clear();
    columns.extend(0..n);
    work.clear();
    for &row in &decided.decision.order[..r] {
        work.extend_from_slice(&decided.scaled.jacobian[row * n..(row + 1) * n]);
    }
    let mut tau = [0.0];
    for k in 0..r {
        let largest =
            (k..n).fold(
                k,
                |best, i| {
                    if work[k * n + i].abs() > work[k * n + best].abs() { i } else { best }
                },
            );
        columns.swap(k, largest);
        work.chunks_exact_mut(n).for_each(|row| row.swap(k, largest));
        lq::factor_from(work, n, k, k + 1, &mut tau);
    }
}

/// Whether Γ̃ has good pivots in the order of its coordinates, which are then those to go by.
fn stands_as_it_is(s: &mut Scratch, metric: &[f64], free: &mut Vec<f64>) -> bool {
    let n = s.scaled.n;
    sized(&mut s.reduced, frozen::room_for(n));
    frozen::form_reduced(n, 0, metric, &[], &mut [], &mut s.reduced);
    zeros(&mut s.extra, n);
    wide(frozen::Reduced { count: n, k: &mut s.reduced, before: &s.extra });
    let ratio = |k: usize| {
        let (pivot, whole) = frozen::free_pivot(&s.reduced, n, k);
        pivot / whole
    };
    let stands = (0..n).all(|k| ratio(k) >= POOR * POOR);
    if stands {
        free.clear();
        free.extend((0..n).map(ratio));
    }
    stands
}

/// Squares of the lengths of the rows, K_kk, and Γ̃_ii.
fn sizes(s: &Scratch) -> impl Iterator<Item = f64> + '_ {
    let (n, r) = (s.scaled.n, s.decision.jacobian);
    let rows = (0..r).map(move |k| frozen::pivot(&s.rows_lq, n, k).1);
    let free = (0..n - r).map(move |k| frozen::free_pivot(&s.reduced, n - r, k).1);
    rows.chain(free).chain((0..n).map(move |i| s.scaled.metric[i * n + i]))
}

/// Squares of the diagonal entries of a triangle over those of the lengths of their rows.
fn pivots(l: &[f64], cols: usize, count: usize, into: &mut Vec<f64>) {
    into.clear();
    into.extend((0..count).map(|k| {
        let (pivot, row) = frozen::pivot(l, cols, k);
        pivot / row
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEFAULT, Tolerances};
    use std::hint::black_box;

    /// Loops with known lengths do what those of any length do, to the bit.
    #[test]
    fn small_sizes_have_no_results_of_their_own() {
        let mut seed = 7u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        for case in 0..400 {
            let n = 1 + case % 5;
            let m = (case / 5) % (n + 1);
            let l: Vec<f64> = (0..n * n).map(|_| next()).collect();
            let mut metric = vec![0.0; n * n];
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                metric[i * n + j] = (0..n).map(|k| l[i * n + k] * l[j * n + k]).sum();
            }
            let [force, nonideal, bias] = [n, n, m].map(|k| (0..k).map(|_| next()).collect());
            let jacobian: Vec<f64> = (0..m * n).map(|_| next()).collect();
            let (force, nonideal, bias): (Vec<f64>, Vec<f64>, Vec<f64>) = (force, nonideal, bias);
            let terms = Terms::new(&metric, [&force, &nonideal], &jacobian, &bias);
            let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
            DEFAULT.solve(&mut scratch, &terms, &Tolerances::default(), &mut outcome).unwrap();
            let mut own = Factored::default();
            if !own.adopt(&scratch, &outcome) {
                continue;
            }
            let mut any = own.clone();
            let mut at_once = own.clone();
            assert!(own.refactor(DEFAULT, &terms));
            own.s.refines = false;
            let (mut v_dot, mut multipliers) = (Vec::new(), Vec::new());
            assert!(own.solve(DEFAULT, &terms, &mut v_dot, &mut multipliers));
            let residuals = own.residuals();
            at_once.s.refines = false;
            let (mut v, mut l) = (Vec::new(), Vec::new());
            assert!(at_once.solve_at(DEFAULT, &terms, &mut v, &mut l));
            assert_eq!((&v, &l, at_once.residuals()), (&v_dot, &multipliers, residuals));
            let Factored { s, rows, free, order, .. } = &mut any;
            for of in [&mut s.solution, &mut s.left, &mut s.right, &mut s.matrix] {
                sized(of, n * n);
            }
            sized(&mut s.multipliers, m);
            let (n, m) = black_box((n, m));
            assert!(frozen::factor_sized(n, m, s, &terms, order, rows, free));
            frozen::solve_sized(n, m, s, &terms, order);
            s.solution.truncate(n);
            assert_eq!((&own.s.solution, &own.s.multipliers), (&s.solution, &s.multipliers));
            assert_eq!(residuals, frozen::residuals_sized(n, m, s));
            // The inverse has what is solved for with each unit vector.
            let mut inverse = Vec::new();
            assert!(own.inverse(DEFAULT, &mut inverse));
            for j in 0..n + m {
                let mut unit = vec![0.0; n + m];
                unit[j] = 1.0;
                let (force, bias) = unit.split_at(n);
                let at = Terms { force, nonideal: &vec![0.0; n], bias, ..terms };
                assert!(own.solve(DEFAULT, &at, &mut v_dot, &mut multipliers));
                let largest = inverse.iter().fold(1f64, |m, x| m.max(x.abs()));
                let column = &inverse[j * (n + m)..(j + 1) * (n + m)];
                for (a, b) in column.iter().zip(v_dot.iter().chain(&multipliers)) {
                    assert!((a - b).abs() <= 1e-9 * largest, "{case}: {a} for {b}");
                }
            }
            // Without forces the solution is the shortest one.
            let still = Terms { force: &vec![0.0; n], nonideal: &vec![0.0; n], ..terms };
            let mut change = Vec::new();
            assert!(own.shortest(DEFAULT, &bias, &mut change));
            assert!(own.solve(DEFAULT, &still, &mut v_dot, &mut multipliers));
            assert_eq!(change, v_dot);
        }
    }
}
