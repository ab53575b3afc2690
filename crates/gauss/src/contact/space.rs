//! The space of the contacts: what loads do to gaps and slips once the rows A are eliminated.
//!
//! With S = diag(Γ_ii)^(−½), Z an orthonormal basis of ker(A S) and L Lᵀ = Zᵀ S Γ S Z,
//!
//! ```text
//! v̇ = v̇₀ + S Z L⁻ᵀ u ,   u = Yᵀ f ,   Y = J S Z L⁻ᵀ ,   a = J v̇ − bias = c + Y u ,
//! ```
//!
//! where J has the rows of the contacts, f their loads and v̇₀ is the motion without these. The length
//! |u| is that of the change of motion in the metric, ½|u|² its energy. Rows are scaled to |Y_i| = 1, so
//! nothing here has units but what the metric gives to all alike; [`Space::load`] takes loads back.
//!
//! Where multipliers act along B̃ in place of Aᵀ (rows that inputs hold, forces that go by them), what
//! loads change is seen along K with KᵀB̃ = 0, and D is not symmetric:
//!
//! ```text
//! u = Xᵀ f ,   Xᵀ = (KᵀΓ S Z L⁻ᵀ)⁻¹ KᵀJᵀ ,   D = Y Xᵀ .
//! ```

use crate::eliminations::{Elimination, Scratch};
use crate::error::SolveError;
use crate::linalg::orthonormal::extend;
use crate::linalg::{cholesky, dot, lu, norm};
use crate::outcome::{Outcome, Verdict};
use crate::terms::{Terms, Tolerances};

/// Rows of the contacts: gaps and slips in any order, `bias[i]` with row i.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    /// J, row by row, n entries each.
    pub rows: Vec<Vec<f64>>,
    /// What is subtracted: a = J v̇ − bias.
    pub bias: Vec<f64>,
}

/// Why there is no such space.
#[derive(Clone, Debug, PartialEq)]
pub enum SpaceError {
    /// The problem without contacts could not be solved.
    Solve(SolveError),
    /// It has no motion, whatever the contacts do.
    Motion(Verdict),
    /// A direction that the constraints leave free has no mass.
    Massless,
}

/// Rows shorter than this, as a part of what they are without constraints, are immovable.
const IMMOVABLE: f64 = 1e-11;
/// A vector outside of others has more than this part of its length there.
const OUTSIDE: f64 = 1e-7;
/// Accelerations are known to so many ε of the terms they are sums of,
const ROUNDING: f64 = 4096.0 * f64::EPSILON;
/// and to so many of the largest ones anywhere.
const ELSEWHERE: f64 = 64.0 * f64::EPSILON;
/// Forces are known to so many of their bounds: states carry the errors of many steps.
const FORCES: f64 = 16.0;

/// The space of the contacts at one state.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// c, scaled.
    pub free: Vec<f64>,
    /// Y with rows of length one (0 for what cannot move).
    pub y: Vec<Vec<f64>>,
    /// X, where it is not Y.
    x: Option<Vec<Vec<f64>>>,
    /// What c is known to.
    pub noise: Vec<f64>,
    /// |Y_i| before scaling.
    pub length: Vec<f64>,
    /// |c| of the problem of which this one is what is left: 0 if it is no such.
    pub whole: f64,
    /// v̇₀.
    pub v_dot: Vec<f64>,
    /// S Z L⁻ᵀ, column by column.
    lift: Vec<Vec<f64>>,
}

impl Space {
    /// Reduces dense terms; `solver` gives v̇₀ and the independent rows.
    pub fn new(
        terms: &Terms,
        touches: &Touches,
        solver: &dyn Elimination,
    ) -> Result<Space, SpaceError> {
        Space::directed(terms, touches, None, solver)
    }

    /// The same where the multipliers of the rows act along `directions`, n entries for each, in
    /// place of these.
    pub fn directed(
        terms: &Terms,
        touches: &Touches,
        directions: Option<&[f64]>,
        solver: &dyn Elimination,
    ) -> Result<Space, SpaceError> {
        let n = terms.n;
        let mut outcome = Outcome::default();
        solver
            .solve(&mut Scratch::default(), terms, &Tolerances::default(), &mut outcome)
            .map_err(SpaceError::Solve)?;
        if !outcome.motion.exists() {
            return Err(SpaceError::Motion(outcome.motion));
        }
        let held: Vec<&[f64]> =
            outcome.independent.iter().map(|&i| &terms.jacobian[i * n..(i + 1) * n]).collect();
        let mut space = Space { v_dot: outcome.v_dot, ..Space::default() };
        space.reduce(terms, &held)?;
        let v = &space.v_dot;
        let size = |row: &[f64]| row.iter().zip(v).map(|(a, b)| (a * b).abs()).sum();
        let seen: Vec<(f64, f64)> =
            touches.rows.iter().map(|row| (dot(row, v), size(row))).collect();
        space.set_rows(touches, &seen);
        if let Some(noise) = &terms.noise {
            space.add_noise(noise.force);
        }
        if let Some(directions) = directions {
            let rows = outcome.independent.iter();
            let rows: Vec<&[f64]> = rows.map(|&i| &directions[i * n..(i + 1) * n]).collect();
            space.direct(terms, touches, &rows)?;
        }
        Ok(space)
    }

    /// Adds what the noise of forces does to accelerations.
    fn add_noise(&mut self, force: &[f64]) {
        let size = |column: &Vec<f64>| -> f64 {
            column.iter().zip(force).map(|(a, noise)| a.abs() * noise).sum()
        };
        let along: Vec<f64> = self.lift.iter().map(size).collect();
        for (noise, y) in self.noise.iter_mut().zip(&self.y) {
            let more: f64 = y.iter().zip(&along).map(|(y, size)| y.abs() * size).sum();
            *noise += FORCES * more;
        }
    }

    /// X, by what rows act along.
    fn direct(
        &mut self,
        terms: &Terms,
        touches: &Touches,
        directions: &[&[f64]],
    ) -> Result<(), SpaceError> {
        let (n, scale) = (terms.n, scale(terms));
        let (basis, count) = complete(directions, &scale);
        let beside: Vec<Vec<f64>> = basis[count..]
            .iter()
            .map(|q| q.iter().zip(&scale).map(|(q, s)| q * s).collect())
            .collect();
        let k = self.lift.len();
        if beside.len() != k {
            return Err(SpaceError::Motion(Verdict::Inconsistent));
        }
        let moved: Vec<Vec<f64>> = self
            .lift
            .iter()
            .map(|column| (0..n).map(|r| dot(&terms.metric[r * n..(r + 1) * n], column)).collect())
            .collect();
        let mut matrix: Vec<f64> =
            beside.iter().flat_map(|q| moved.iter().map(|m| dot(q, m))).collect();
        let (mut order, mut room) = (vec![0; k], vec![0.0; k]);
        if !lu::factor(&mut matrix, k, &mut order) {
            return Err(SpaceError::Motion(Verdict::Inconsistent));
        }
        let rows = touches.rows.iter().zip(&self.length).map(|(row, length)| {
            let mut x: Vec<f64> = beside.iter().map(|q| dot(q, row) / length).collect();
            lu::solve(&matrix, k, &order, &mut x, &mut room);
            x
        });
        self.x = Some(rows.collect());
        Ok(())
    }

    /// X.
    fn x(&self) -> &[Vec<f64>] {
        self.x.as_deref().unwrap_or(&self.y)
    }

    /// The same space with other values of the rows without loads: of velocities, for an impact.
    /// `sizes` are those of the terms that they are sums of.
    pub fn with_free(&self, values: &[f64], sizes: &[f64]) -> Space {
        let mut space = self.clone();
        let lengths = sizes.iter().zip(&self.length).enumerate().filter(|(i, _)| !self.is_led(*i));
        let largest = lengths.map(|(_, (s, l))| s / l).fold(0.0, f64::max);
        for i in 0..values.len() {
            space.free[i] = values[i] / self.length[i];
            space.noise[i] = ROUNDING * sizes[i] / self.length[i] + ELSEWHERE * largest;
        }
        space
    }

    /// S Z L⁻ᵀ, with these rows held.
    fn reduce(&mut self, terms: &Terms, held: &[&[f64]]) -> Result<(), SpaceError> {
        let n = terms.n;
        let scale = scale(terms);
        let (basis, count) = complete(held, &scale);
        let z = &basis[count..];
        let k = z.len();
        let mut metric = vec![0.0; k * k];
        for (i, a) in z.iter().enumerate() {
            let mut image = vec![0.0; n];
            for r in 0..n {
                let row = &terms.metric[r * n..(r + 1) * n];
                let sum: f64 = row.iter().zip(a).zip(&scale).map(|((m, a), s)| m * a * s).sum();
                image[r] = scale[r] * sum;
            }
            for (j, b) in z.iter().enumerate() {
                metric[i * k + j] = dot(&image, b);
            }
        }
        let diagonal: Vec<f64> = (0..k).map(|i| metric[i * k + i]).collect();
        cholesky::factor(&mut metric, k).map_err(|_| SpaceError::Massless)?;
        let is_massive = |i: usize| metric[i * k + i].powi(2) > 1e-13 * diagonal[i];
        if !(0..k).all(is_massive) {
            return Err(SpaceError::Massless);
        }
        // Columns of S Z L⁻ᵀ: (S Z) times the columns of L⁻ᵀ.
        for j in 0..k {
            let mut e = vec![0.0; k];
            e[j] = 1.0;
            cholesky::solve_lower_transposed(&metric, k, k, &mut e);
            let column = (0..n).map(|r| {
                let sum: f64 = z.iter().zip(&e).map(|(z, e)| z[r] * e).sum();
                scale[r] * sum
            });
            self.lift.push(column.collect());
        }
        Ok(())
    }

    fn set_rows(&mut self, touches: &Touches, seen: &[(f64, f64)]) {
        let mut sizes = Vec::new();
        for (row, (&bias, &(value, size))) in touches.rows.iter().zip(touches.bias.iter().zip(seen))
        {
            let mut y: Vec<f64> = self.lift.iter().map(|column| dot(row, column)).collect();
            let most: f64 = self
                .lift
                .iter()
                .map(|c| row.iter().zip(c).map(|(a, b)| (a * b).abs()).sum::<f64>())
                .fold(0.0, f64::max);
            let length = norm(&y);
            let moves = length > IMMOVABLE * most;
            // What nothing here can move has no length of its own.
            let length = match (moves, norm(row)) {
                (true, _) => length,
                (false, own) if own > 0.0 => own,
                (false, _) => 1.0,
            };
            y.iter_mut().for_each(|y| *y = if moves { *y / length } else { 0.0 });
            self.y.push(y);
            self.length.push(length);
            self.free.push((value - bias) / length);
            sizes.push((size + bias.abs()) / length);
        }
        let moving = sizes.iter().enumerate().filter(|(i, _)| !self.is_led(*i));
        let largest = moving.map(|(_, size)| *size).fold(0.0, f64::max);
        self.noise = sizes.iter().map(|size| ROUNDING * size + ELSEWHERE * largest).collect();
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.free.len()
    }

    /// Whether loads on a row change anything, or loads at all its acceleration.
    pub fn moves(&self, row: usize) -> bool {
        self.x()[row].iter().any(|x| *x != 0.0) || !self.is_led(row)
    }

    /// Whether no load changes the acceleration of a row.
    pub fn is_led(&self, row: usize) -> bool {
        self.y[row].iter().all(|y| *y == 0.0)
    }

    /// D_ij.
    pub fn coupling(&self, i: usize, j: usize) -> f64 {
        dot(&self.y[i], &self.x()[j])
    }

    /// u of loads, scaled.
    pub fn motion(&self, loads: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.lift.len()];
        for (x, load) in self.x().iter().zip(loads) {
            u.iter_mut().zip(x).for_each(|(u, x)| *u += x * load);
        }
        u
    }

    /// a of loads, scaled.
    pub fn accelerations(&self, loads: &[f64]) -> Vec<f64> {
        let u = self.motion(loads);
        self.free.iter().zip(&self.y).map(|(c, y)| c + dot(y, &u)).collect()
    }

    /// A load in the units of its row, from the scaled one.
    pub fn load(&self, row: usize, scaled: f64) -> f64 {
        scaled / self.length[row]
    }

    /// A load as it is scaled.
    pub fn scaled(&self, row: usize, load: f64) -> f64 {
        load * self.length[row]
    }

    /// A value of a row (an acceleration, a velocity) from the scaled one.
    pub fn value(&self, row: usize, scaled: f64) -> f64 {
        scaled * self.length[row]
    }

    /// The coefficient of friction between scaled loads.
    pub fn coefficient(&self, mu: f64, normal: usize, slip: usize) -> f64 {
        mu * self.length[slip] / self.length[normal]
    }

    /// What loads add to v̇ (to v, in an impact).
    pub fn change(&self, loads: &[f64]) -> Vec<f64> {
        let u = self.motion(loads);
        let n = self.v_dot.len();
        let mut change = vec![0.0; n];
        for (column, u) in self.lift.iter().zip(&u) {
            change.iter_mut().zip(column).for_each(|(c, column)| *c += column * u);
        }
        change
    }
}

/// S.
fn scale(terms: &Terms) -> Vec<f64> {
    let of = |i: usize| {
        let mass = terms.metric[i * terms.n + i];
        let mass = if mass > 0.0 { mass } else { terms.inertia.get(i).copied().unwrap_or(0.0) };
        if mass > 0.0 { 1.0 / mass.sqrt() } else { 1.0 }
    };
    (0..terms.n).map(of).collect()
}

/// An orthonormal basis: of rows times S, so many as the number says, and of what is beside them.
fn complete(rows: &[&[f64]], scale: &[f64]) -> (Vec<Vec<f64>>, usize) {
    let n = scale.len();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in rows {
        let q: Vec<f64> = row.iter().zip(scale).map(|(a, s)| a * s).collect();
        extend(&mut basis, &q, 0.0);
    }
    let count = basis.len();
    while basis.len() < n {
        // The unit vector that is least in what there is.
        let outside = |i: usize| 1.0 - basis.iter().map(|q| q[i] * q[i]).sum::<f64>();
        let Some(best) = (0..n).max_by(|&a, &b| outside(a).total_cmp(&outside(b))) else {
            break;
        };
        let mut q = vec![0.0; n];
        q[best] = 1.0;
        if !extend(&mut basis, &q, OUTSIDE) {
            break;
        }
    }
    (basis, count)
}
