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
//! (states of the model come behind z and u, all of them free),
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
    /// The number of coordinates.
    pub n: usize,
    /// The number of states, all of which are free; they come behind z and u.
    pub states: usize,
    /// The free coordinates z.
    pub positions: Vec<usize>,
    /// The coordinates of the free velocities u.
    pub velocities: Vec<usize>,
    /// T, a column of entries (δq, states, δv) for each free quantity.
    pub tangent: Vec<Vec<f64>>,
    /// S, row-major.
    pub matrix: Vec<f64>,
    /// Natural sizes of what is free, by which S is brought to one unit.
    pub scales: Vec<f64>,
    /// By how much (J − Ξ)T misses the range of T, relative to the largest entry of S in
    /// natural units.
    pub closure: f64,
}

impl Reduced {
    /// The dimension of the space of states.
    pub fn dimension(&self) -> usize {
        self.positions.len() + self.velocities.len() + self.states
    }

    /// S in natural units.
    pub fn scaled(&self) -> Vec<f64> {
        let d = self.dimension();
        let at = |i: usize, j: usize| self.matrix[i * d + j] * self.scales[j] / self.scales[i];
        (0..d * d).map(|k| at(k / d, k % d)).collect()
    }

    /// The free entries of (δq, states, δv).
    pub fn free(&self, full: &[f64]) -> Vec<f64> {
        self.places().map(|at| full[at]).collect()
    }

    /// The places of what is free in (δq, states, δv).
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let (n, wide) = (self.n, self.n + self.states);
        let z = self.positions.iter().copied();
        z.chain(self.velocities.iter().map(move |&i| wide + i)).chain(n..wide)
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

/// Which coordinates and velocities are free at a point, and what the constraints make of the
/// others.
pub(crate) struct Tangents {
    n: usize,
    wide: usize,
    columns: usize,
    of_positions: Solved,
    of_velocities: Solved,
    /// Slopes of the rows among positions and of those among velocities.
    configuration: Vec<f64>,
    velocity: Vec<f64>,
}

impl Tangents {
    pub fn new(rates: &Rates, point: &Point) -> Result<Tangents, LinearizeError> {
        let (n, wide) = (rates.n, rates.wide);
        let blocks = rates.blocks();
        let (of_q, of_v) = steady::scales(rates, point);
        let configuration = cleaned(point, blocks.configuration..blocks.velocity);
        let velocity = cleaned(point, blocks.velocity..blocks.end);
        let singular = || LinearizeError::NotSmooth { state: Box::new(point.state.clone()) };
        let columns = point.columns();
        let part = |matrix: &[f64], range: std::ops::Range<usize>| -> Vec<f64> {
            matrix.chunks_exact(columns).flat_map(|row| row[range.clone()].to_vec()).collect()
        };
        let of_positions = Solved::new(&part(&configuration, 0..n), n, &of_q);
        let of_positions = of_positions.ok_or_else(singular)?;
        // A velocity is solved for where its position is, so that z and u belong together.
        let mut preferred = of_v.clone();
        of_positions.dependent.iter().for_each(|&i| preferred[i] *= PREFERRED);
        let of_velocities = Solved::new(&part(&velocity, wide..wide + n), n, &preferred);
        let of_velocities = of_velocities.ok_or_else(singular)?;
        Ok(Tangents { n, wide, columns, of_positions, of_velocities, configuration, velocity })
    }

    /// The direction in which one column of the slopes changes by 1, the free quantities stay,
    /// and the others follow.
    pub fn along(&self, column: usize) -> Vec<f64> {
        let mut full = vec![0.0; self.columns];
        full[column] = 1.0;
        let product = |matrix: &[f64], x: &[f64]| -> Vec<f64> {
            matrix.chunks_exact(self.columns).map(|row| dot(row, x)).collect()
        };
        let rest = product(&self.configuration, &full);
        self.of_positions.complete(&rest, &mut full[..self.n]);
        let rest = product(&self.velocity, &full);
        self.of_velocities.complete(&rest, &mut full[self.wide..self.wide + self.n]);
        full
    }
}

/// Entries beyond their rounding.
fn cleaned(point: &Point, rows: std::ops::Range<usize>) -> Vec<f64> {
    let width = point.columns();
    let beyond = |k: usize| point.slopes[k].abs() > 4.0 * point.noise[k];
    (rows.start * width..rows.end * width)
        .map(|k| if beyond(k) { point.slopes[k] } else { 0.0 })
        .collect()
}

/// Reduces the slopes at a state to the free coordinates, velocities and states. `along` is the
/// symmetry that carries a steady motion, `bend` D²ξ(v, ·) of one that is not affine.
pub(crate) fn reduce(
    rates: &Rates,
    point: &Point,
    tangents: &Tangents,
    along: &Symmetry,
    bend: Option<&[f64]>,
) -> Result<Reduced, LinearizeError> {
    let (n, wide) = (rates.n, rates.wide);
    let blocks = rates.blocks();
    let (of_q, of_v) = steady::scales(rates, point);
    let mut reduced = Reduced {
        n,
        states: wide - n,
        positions: tangents.of_positions.free.clone(),
        velocities: tangents.of_velocities.free.clone(),
        ..Reduced::default()
    };
    let d = reduced.dimension();
    let mut images = Vec::with_capacity(d);
    reduced.matrix = vec![0.0; d * d];
    for (j, place) in reduced.places().collect::<Vec<_>>().into_iter().enumerate() {
        let mut column = tangents.along(place);
        let (mut image, mut v, _) = point.response(&blocks, &column)?;
        let turned_q = along.turned(&column[..n]);
        let turned_v = along.turned(&column[wide..wide + n]);
        image.iter_mut().zip(turned_q).for_each(|(x, b)| *x -= b);
        v.iter_mut().zip(turned_v).for_each(|(x, b)| *x -= b);
        if let Some(bend) = bend {
            let bent = bend.chunks_exact(n).map(|row| dot(row, &column[..n]));
            v.iter_mut().zip(bent).for_each(|(x, b)| *x -= b);
        }
        image.extend(v);
        for (i, x) in reduced.free(&image).into_iter().enumerate() {
            reduced.matrix[i * d + j] = x;
        }
        images.push(image);
        column.truncate(wide + n);
        reduced.tangent.push(column);
    }
    if reduced.matrix.iter().any(|x| !x.is_finite()) {
        return Err(LinearizeError::NotSmooth { state: Box::new(point.state.clone()) });
    }
    measure(&mut reduced, &images, &of_q, &of_v);
    Ok(reduced)
}

/// Natural units, and how well the tangent space is kept.
fn measure(reduced: &mut Reduced, images: &[Vec<f64>], of_q: &[f64], of_v: &[f64]) {
    let (n, d) = (of_q.len(), reduced.dimension());
    let free = |reduced: &Reduced, time: f64| -> Vec<f64> {
        let mut full: Vec<f64> = of_q.iter().map(|s| s * time).collect();
        full.extend(std::iter::repeat_n(1.0, reduced.states));
        full.extend(of_v);
        reduced.free(&full)
    };
    // A time in which positions and velocities are of one size: the geometric mean of what S
    // itself takes from velocities to positions and back.
    reduced.scales = free(reduced, 1.0);
    let scaled = reduced.scaled();
    let nz = reduced.positions.len();
    let moving = nz + reduced.velocities.len();
    let block = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> f64 {
        rows.flat_map(|i| columns.clone().map(move |j| i * d + j))
            .fold(0f64, |m, k| m.max(scaled[k].abs()))
    };
    let (forth, back) = (block(0..nz, nz..moving), block(nz..moving, 0..nz));
    let own = block(nz..moving, nz..moving);
    let time = if forth > 0.0 && back > 0.0 {
        (forth / back).sqrt()
    } else if forth > 0.0 && own > 0.0 {
        forth / own
    } else {
        1.0
    };
    reduced.scales = free(reduced, time);
    measure_states(reduced);
    let scaled = reduced.scaled();
    let size = largest(&scaled);
    let mut worst = 0f64;
    for (j, image) in images.iter().enumerate() {
        for (i, x) in image.iter().enumerate() {
            let back: f64 = (0..d).map(|k| reduced.tangent[k][i] * reduced.matrix[k * d + j]).sum();
            let unit = match i.checked_sub(n) {
                None => of_q[i] * time,
                Some(k) if k < reduced.states => reduced.scales[moving + k],
                Some(k) => of_v[k - reduced.states],
            };
            worst = worst.max((x - back).abs() * reduced.scales[j] / unit);
        }
    }
    reduced.closure = if size > 0.0 { worst / size } else { 0.0 };
}

/// The size of a state is what does as much to the rates of the rest as these do to each other; of
/// one that does nothing, what the rest makes of it in their time.
fn measure_states(reduced: &mut Reduced) {
    let d = reduced.dimension();
    for at in d - reduced.states..d {
        let scaled = reduced.scaled();
        let before = || (0..at).flat_map(|i| (0..at).map(move |j| i * d + j));
        let rate = before().fold(0f64, |m, k| m.max(scaled[k].abs()));
        let rate = if rate > 0.0 { rate } else { scaled[at * d + at].abs() };
        let does = (0..at).fold(0f64, |m, i| m.max(scaled[i * d + at].abs()));
        let takes = (0..at).fold(0f64, |m, j| m.max(scaled[at * d + j].abs()));
        if rate > 0.0 && does > 0.0 {
            reduced.scales[at] *= rate / does;
        } else if rate > 0.0 && takes > 0.0 {
            reduced.scales[at] *= takes / rate;
        }
    }
}
