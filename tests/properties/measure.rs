//! The problem at a state solved by singular values alone, and how well
//! conditioned it is: what answers are compared with, and by which measure.

use crate::dense::{Matrix, add, largest};
use dalembert::simulate::{Terms, Verdict};

/// Singular values below this ratio are zero.
const ZERO: f64 = 1e-10;
/// Ratios above this are not.
const CLEAR: f64 = 1e-6;

/// A problem measured and solved.
#[derive(Clone, Debug)]
pub struct Measure {
    pub rank_of_mass: usize,
    pub rank_of_rows: usize,
    pub rank_together: usize,
    pub motion: Verdict,
    /// Whether a rank or verdict is close to its threshold.
    pub doubtful: bool,
    /// cond B + cond NᵀMN.
    pub condition: f64,
    /// Sizes that differences are measured by: of accelerations, forces, multipliers.
    pub sizes: [f64; 3],
    /// Whether forces and accelerations vanish.
    pub at_rest: bool,
    /// The shortest q̈; empty if there is no motion.
    pub accelerations: Vec<f64>,
    /// Qᶜ.
    pub force: Vec<f64>,
    /// The shortest λ.
    pub multipliers: Vec<f64>,
    /// Columns span ker A.
    pub free: Matrix,
    /// Columns span ker M ∩ ker A.
    pub null: Matrix,
    /// Per coordinate: q̈ is not determined.
    pub undetermined: Vec<bool>,
    /// Per row: λ is not determined.
    pub indeterminate: Vec<bool>,
}

/// Rank by singular values, whether it is doubtful, and the ratio of the largest
/// to the smallest that counts.
fn rank(matrix: &Matrix) -> (usize, bool, f64) {
    if matrix.entries.is_empty() {
        return (0, false, 1.0);
    }
    let svd = matrix.svd();
    let first = svd.sigma[0];
    if first == 0.0 {
        return (0, false, 1.0);
    }
    let rank = svd.rank(ZERO);
    let doubtful = svd.sigma.iter().any(|s| (1e-13..CLEAR).contains(&(s / first)));
    (rank, doubtful, first / svd.sigma[rank - 1])
}

/// Rows of unit length.
fn normalized(matrix: &Matrix) -> Matrix {
    let size = |i: usize| crate::dense::dot(row(matrix, i), row(matrix, i)).sqrt();
    let sizes: Vec<f64> =
        (0..matrix.rows).map(|i| if size(i) > 0.0 { size(i) } else { 1.0 }).collect();
    Matrix::build(matrix.rows, matrix.columns, |i, j| matrix.at(i, j) / sizes[i])
}

fn row(matrix: &Matrix, i: usize) -> &[f64] {
    &matrix.entries[i * matrix.columns..(i + 1) * matrix.columns]
}

impl Measure {
    /// Measures and solves a problem whose units are of order one.
    pub fn new(terms: &Terms) -> Measure {
        let (n, m) = (terms.n, terms.m);
        let mass = Matrix::new(n, n, terms.metric);
        let a = Matrix::new(m, n, terms.jacobian);
        let total = add(terms.force, 1.0, terms.nonideal);
        let (rank_of_mass, doubt_mass, _) = rank(&mass);
        let (rank_of_rows, doubt_rows, _) = rank(&normalized(&a));

        // Solved rows: the shortest y with A y = b, and what is left over.
        let svd = a.svd();
        let mut y = vec![0.0; n];
        if rank_of_rows > 0 {
            svd.apply_pseudo_inverse(rank_of_rows, terms.bias, &mut y);
        }
        let left = largest(&add(&a.apply(&y), -1.0, terms.bias));
        // Below this size right-hand sides and forces are rounding of zero.
        let floor = 1e-3;
        let off = left / (largest(terms.bias) + largest(terms.jacobian) * largest(&y)).max(floor);

        // The free directions and the motion along them.
        let free = a.kernel(rank_of_rows);
        let reduced = free.transposed().times(&mass).times(&free);
        let (rank_reduced, doubt_reduced, condition_reduced) = rank(&reduced);
        // Errors are those of M, also where little of it is left on the free directions.
        let condition_reduced = match reduced.rows {
            0 => 1.0,
            _ => condition_reduced * (mass.svd().sigma[0] / reduced.svd().sigma[0]).max(1.0),
        };
        // A reduced metric that is rounding of the mass has rank 0.
        let vanishes = largest(&reduced.entries) <= 1e-12 * largest(terms.metric);
        let rank_reduced = if vanishes { 0 } else { rank_reduced };
        let null = free.times(&reduced.kernel(rank_reduced));
        let right = free.transposed().apply(&add(&total, -1.0, &mass.apply(&y)));
        let mut z = vec![0.0; free.columns];
        if rank_reduced > 0 {
            reduced.svd().apply_pseudo_inverse(rank_reduced, &right, &mut z);
        }
        let along = null.transposed().apply(&total);
        let hidden = largest(&along) / largest(&total).max(floor);
        let motion = if off > 1e-9 {
            Verdict::Inconsistent
        } else if null.columns > 0 && hidden > 1e-9 {
            Verdict::HiddenConstraint
        } else if null.columns > 0 {
            Verdict::GaugeFree
        } else {
            Verdict::Unique
        };
        // Masses that differ by more have no common scale.
        let diagonal = || (0..n).map(|i| mass.at(i, i)).filter(|m| *m > 0.0);
        let least_mass = diagonal().fold(f64::INFINITY, f64::min);
        let doubtful = doubt_mass
            || least_mass < 1e-10 * diagonal().fold(0.0, f64::max)
            || doubt_rows
            || (doubt_reduced && !vanishes)
            || (1e-12..1e-6).contains(&off)
            || (null.columns > 0 && (1e-12..1e-6).contains(&hidden));

        // B in the metric M, or M + AᵀA where M is singular.
        let unit = normalized(&a);
        let metric = if rank_of_mass == n {
            mass.clone()
        } else {
            mass.plus(1.0, &unit.transposed().times(&unit))
        };
        let condition_rows = match cholesky(&metric) {
            Some(lower) if m > 0 => rank(&normalized(&unit.times(&lower.inverse().transposed()))).2,
            _ => rank(&unit).2,
        };

        let mut measure = Measure {
            rank_of_mass,
            rank_of_rows,
            rank_together: rank_of_rows + rank_reduced,
            motion,
            doubtful,
            condition: condition_rows + if vanishes { 1.0 } else { condition_reduced },
            sizes: [1.0; 3],
            at_rest: false,
            accelerations: Vec::new(),
            force: Vec::new(),
            multipliers: Vec::new(),
            undetermined: (0..n)
                .map(|i| (0..null.columns).any(|j| null.at(i, j).abs() > 1e-7))
                .collect(),
            indeterminate: vec![false; m],
            null,
            free,
        };
        // ker Aᵀ is what the left singular vectors leave out.
        for j in 0..m {
            let inside: f64 = (0..rank_of_rows).map(|k| svd.u[k * m + j].powi(2)).sum();
            measure.indeterminate[j] = 1.0 - inside > 1e-12;
        }
        if motion.exists() {
            let mut x = add(&y, 1.0, &measure.free.apply(&z));
            for _ in 0..2 {
                let along = measure.null.transposed().apply(&x);
                x = add(&x, -1.0, &measure.null.apply(&along));
            }
            let force = add(&mass.apply(&x), -1.0, terms.force);
            let ideal = add(&force, -1.0, terms.nonideal);
            let mut multipliers = vec![0.0; m];
            if rank_of_rows > 0 {
                a.transposed().svd().apply_pseudo_inverse(rank_of_rows, &ideal, &mut multipliers);
            }
            // What the impressed forces alone would do is part of the size.
            let alone = (0..n).fold(0f64, |s, i| {
                let mass = terms.metric[i * n + i];
                if mass > 1e-9 * largest(terms.metric) { s.max(total[i].abs() / mass) } else { s }
            });
            let acceleration = largest(&x).max(alone).max(largest(&y));
            let inertia = largest(terms.metric) * acceleration;
            let size = largest(&force).max(largest(&total)).max(inertia);
            let least = if rank_of_rows > 0 { svd.sigma[rank_of_rows - 1] } else { 1.0 };
            measure.sizes = [acceleration, size, size / least].map(|s| s.max(1e-2));
            measure.at_rest = acceleration.max(size) < 1e-12;
            measure.accelerations = x;
            measure.force = force;
            measure.multipliers = multipliers;
        }
        measure
    }

    /// The relative difference that rounding may make.
    pub fn tolerance(&self) -> f64 {
        1e3 * f64::EPSILON * self.condition
    }

    /// How far accelerations, force and multipliers are from these, as multiples of the
    /// tolerance.
    pub fn distance(&self, accelerations: &[f64], force: &[f64], multipliers: &[f64]) -> [f64; 3] {
        let pairs = [
            (accelerations, &self.accelerations),
            (force, &self.force),
            (multipliers, &self.multipliers),
        ];
        let mut worst = [0.0; 3];
        for (k, (found, expected)) in pairs.into_iter().enumerate() {
            worst[k] = if found.len() == expected.len() {
                difference(found, expected) / self.sizes[k] / self.tolerance()
            } else {
                f64::INFINITY
            };
        }
        worst
    }
}

/// The largest difference; NaN counts as infinite.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let apart = a.iter().zip(b).map(|(x, y)| (x - y).abs());
    apart.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) })
}

/// L of L Lᵀ; `None` if a pivot is not clearly positive.
pub fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let n = matrix.rows;
    let mut l = Matrix::build(n, n, |_, _| 0.0);
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l.at(i, k) * l.at(j, k)).sum();
            let left = matrix.at(i, j) - sum;
            let value = if i == j {
                if left < 1e-10 * matrix.at(i, i) || left <= 0.0 {
                    return None;
                }
                left.sqrt()
            } else {
                left / l.at(j, j)
            };
            l.entries[i * n + j] = value;
        }
    }
    Some(l)
}
