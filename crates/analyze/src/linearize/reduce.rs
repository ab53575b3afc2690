//! From the slopes at a steady state to a matrix on the true degrees of freedom.
//!
//! The constraints φ(q, t) = 0 and ψ(q, v, t) = 0 leave the tangent space
//! ker [φ_q 0; ψ_q ψ_v] of the states. Its basis T is made by solving the constraints for as many
//! coordinates as there are independent rows, chosen by pivots: what remains free are coordinates
//! z and velocities u of the model, by name, and
//!
//! ```text
//! (δq, δv) = T (z, u)        (ż, u̇) = S (z, u)
//! ```
//!
//! where S is read off (J − Ξ)T in the free places. That (J − Ξ)T lies in the range of T is an
//! identity; by how much rounding breaks it tells how far S can be trusted. The spurious zeros of
//! J (two for each holonomic row, one for each other) never appear.
//!
//! With N the velocity part of T, the same in second order:
//!
//! ```text
//! 𝖬 u̇ + 𝖣 u + 𝖪 z = 0 ,   𝖬 = NᵀΓN
//! ```
//!
//! At an equilibrium of a holonomic system 𝖣 = NᵀDN and 𝖪 = NᵀKN with
//! K = −∂(Q + C + Aᵀλ₀)/∂q.

use super::LinearizeError;
use super::rates::{Point, Rates};
use super::steady;
use super::symmetry::Symmetry;
use dalembert_gauss::linalg::{dot, largest, lu, norm};

/// Pivots below this, relative to the first, are none.
const PIVOT: f64 = 1e-9;
/// How much more readily a coordinate that the positions depend on is solved for among the
/// velocities.
const PREFERRED: f64 = 64.0;

/// The linear system on the constraints.
#[derive(Clone, Debug, Default)]
pub struct Reduced {
    /// The free coordinates z.
    pub positions: Vec<usize>,
    /// The coordinates of the free velocities u.
    pub velocities: Vec<usize>,
    /// T, a column of 2n entries (δq, δv) for each of z and u.
    pub tangent: Vec<Vec<f64>>,
    /// S, row-major.
    pub matrix: Vec<f64>,
    /// Natural sizes of z and u, by which S is brought to one unit.
    pub scales: Vec<f64>,
    /// By how much (J − Ξ)T misses the range of T, relative to the largest entry of S in
    /// natural units.
    pub closure: f64,
}

impl Reduced {
    /// The dimension of the space of states.
    pub fn dimension(&self) -> usize {
        self.positions.len() + self.velocities.len()
    }

    /// S in natural units.
    pub fn scaled(&self) -> Vec<f64> {
        let d = self.dimension();
        let at = |i: usize, j: usize| self.matrix[i * d + j] * self.scales[j] / self.scales[i];
        (0..d * d).map(|k| at(k / d, k % d)).collect()
    }

    /// The free entries of (δq, δv).
    pub fn free(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        let z = self.positions.iter().map(|&i| q[i]);
        z.chain(self.velocities.iter().map(|&i| v[i])).collect()
    }
}

/// Rows solved for some of their columns.
struct Solved {
    /// The columns they are solved for.
    dependent: Vec<usize>,
    /// The other columns.
    free: Vec<usize>,
    /// The rows used.
    rows: Vec<usize>,
    factors: Vec<f64>,
    order: Vec<usize>,
}

impl Solved {
    /// Solves rows for the columns with the largest pivots, in units of the columns' sizes.
    fn new(matrix: &[f64], columns: usize, sizes: &[f64]) -> Option<Solved> {
        let count = matrix.len().checked_div(columns).unwrap_or(0);
        let mut scaled: Vec<f64> =
            matrix.iter().enumerate().map(|(k, x)| x * sizes[k % columns]).collect();
        for row in scaled.chunks_exact_mut(columns.max(1)) {
            let length = norm(row);
            if length > 0.0 {
                row.iter_mut().for_each(|x| *x /= length);
            }
        }
        let (rows, dependent) = lu::pivots_as_scaled(scaled, count, columns, PIVOT / PREFERRED);
        let r = rows.len();
        let mut factors: Vec<f64> = rows
            .iter()
            .flat_map(|&i| dependent.iter().map(move |&j| (i, j)))
            .map(|(i, j)| matrix[i * columns + j])
            .collect();
        let mut order = vec![0; r];
        if !lu::factor(&mut factors, r, &mut order) {
            return None;
        }
        let free = (0..columns).filter(|j| !dependent.contains(j)).collect();
        Some(Solved { dependent, free, rows, factors, order })
    }

    /// The dependent entries that make the rows' values zero, given what the rest of each row
    /// comes to.
    fn complete(&self, rest: &[f64], x: &mut [f64]) {
        let r = self.rows.len();
        let mut y: Vec<f64> = self.rows.iter().map(|&i| -rest[i]).collect();
        lu::solve(&self.factors, r, &self.order, &mut y, &mut vec![0.0; r]);
        self.dependent.iter().zip(y).for_each(|(&j, y)| x[j] = y);
    }
}

/// Entries beyond their rounding.
fn cleaned(
    point: &Point,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) -> Vec<f64> {
    let width = point.columns();
    rows.flat_map(|i| columns.clone().map(move |j| i * width + j))
        .map(|k| if point.slopes[k].abs() > 4.0 * point.noise[k] { point.slopes[k] } else { 0.0 })
        .collect()
}

/// Reduces the slopes at a steady state to the free coordinates and velocities. `bend` is
/// D²ξ(v, ·) of a symmetry that is not affine.
pub(crate) fn reduce(
    rates: &Rates,
    point: &Point,
    along: &Symmetry,
    bend: Option<&[f64]>,
) -> Result<Reduced, LinearizeError> {
    let n = rates.n;
    let blocks = rates.blocks();
    let (of_q, of_v) = steady::scales(rates, point);
    let configuration = cleaned(point, blocks.configuration..blocks.velocity, 0..n);
    let of_positions = cleaned(point, blocks.velocity..blocks.end, 0..n);
    let of_velocities = cleaned(point, blocks.velocity..blocks.end, n..2 * n);
    let singular = || LinearizeError::NotSmooth { state: Box::new(point.state.clone()) };
    let solved_q = Solved::new(&configuration, n, &of_q).ok_or_else(singular)?;
    // A velocity is solved for where its position is, so that z and u belong together.
    let mut preferred = of_v.clone();
    solved_q.dependent.iter().for_each(|&i| preferred[i] *= PREFERRED);
    let solved_v = Solved::new(&of_velocities, n, &preferred).ok_or_else(singular)?;
    let mut tangent = Vec::new();
    let product = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
        matrix.chunks_exact(n).map(|row| dot(row, x)).collect()
    };
    for &z in &solved_q.free {
        let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
        q[z] = 1.0;
        solved_q.complete(&product(&configuration, &q), &mut q);
        solved_v.complete(&product(&of_positions, &q), &mut v);
        q.extend(v);
        tangent.push(q);
    }
    for &u in &solved_v.free {
        let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
        v[u] = 1.0;
        solved_v.complete(&product(&of_velocities, &v), &mut v);
        q.extend(v);
        tangent.push(q);
    }
    let mut reduced = Reduced {
        positions: solved_q.free,
        velocities: solved_v.free,
        tangent,
        ..Reduced::default()
    };
    let d = reduced.dimension();
    reduced.matrix = vec![0.0; d * d];
    let mut images = Vec::with_capacity(d);
    for (j, column) in reduced.tangent.iter().enumerate() {
        let mut direction = column.clone();
        direction.push(0.0);
        let (mut q, mut v) = point.response(&blocks, &direction)?;
        let turned_q = along.turned(&column[..n]);
        let turned_v = along.turned(&column[n..]);
        q.iter_mut().zip(turned_q).for_each(|(x, b)| *x -= b);
        v.iter_mut().zip(turned_v).for_each(|(x, b)| *x -= b);
        if let Some(bend) = bend {
            let bent = bend.chunks_exact(n).map(|row| dot(row, &column[..n]));
            v.iter_mut().zip(bent).for_each(|(x, b)| *x -= b);
        }
        for (i, x) in reduced.free(&q, &v).into_iter().enumerate() {
            reduced.matrix[i * d + j] = x;
        }
        q.extend(v);
        images.push(q);
    }
    if reduced.matrix.iter().any(|x| !x.is_finite()) {
        return Err(singular());
    }
    measure(&mut reduced, &images, &of_q, &of_v);
    Ok(reduced)
}

/// Natural units, and how well the tangent space is kept.
fn measure(reduced: &mut Reduced, images: &[Vec<f64>], of_q: &[f64], of_v: &[f64]) {
    let (n, d) = (of_q.len(), reduced.dimension());
    let free = |reduced: &Reduced, time: f64| -> Vec<f64> {
        let scaled_q: Vec<f64> = of_q.iter().map(|s| s * time).collect();
        reduced.free(&scaled_q, of_v)
    };
    // A time in which positions and velocities are of one size: the geometric mean of what S
    // itself takes from velocities to positions and back.
    reduced.scales = free(reduced, 1.0);
    let scaled = reduced.scaled();
    let nz = reduced.positions.len();
    let block = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> f64 {
        rows.flat_map(|i| columns.clone().map(move |j| i * d + j))
            .fold(0f64, |m, k| m.max(scaled[k].abs()))
    };
    let (forth, back, own) = (block(0..nz, nz..d), block(nz..d, 0..nz), block(nz..d, nz..d));
    let time = if forth > 0.0 && back > 0.0 {
        (forth / back).sqrt()
    } else if forth > 0.0 && own > 0.0 {
        forth / own
    } else {
        1.0
    };
    reduced.scales = free(reduced, time);
    let scaled = reduced.scaled();
    let size = largest(&scaled);
    let mut worst = 0f64;
    for (j, image) in images.iter().enumerate() {
        for i in 0..2 * n {
            let back: f64 = (0..d).map(|k| reduced.tangent[k][i] * reduced.matrix[k * d + j]).sum();
            let unit = if i < n { of_q[i] * time } else { of_v[i - n] };
            worst = worst.max((image[i] - back).abs() * reduced.scales[j] / unit);
        }
    }
    reduced.closure = if size > 0.0 { worst / size } else { 0.0 };
}
