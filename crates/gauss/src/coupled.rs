//! Forces that depend on multipliers, solved together with them: friction that goes by
//! the normal force.
//!
//! ```text
//! Γ v̇ = F(λ) + C(λ) + Aᵀλ ,   A v̇ = b
//! ```
//!
//! With the forces held at λ̄ this is the universal problem, and any elimination gives
//! λ = P(F(λ̄) + C(λ̄)), affine in the force. Wanted is λ = λ̄, for the multipliers that
//! occur in forces, by Newton's method:
//!
//! ```text
//! r = λ̄ − λ ,   J = I − L D ,   D = ∂(F + C)/∂λ ,   L = ∂λ/∂(F + C)
//! ```
//!
//! The columns of L D are the multipliers of the problem whose force is a column of D and
//! whose b is 0, so ranks, singular metrics and dependent rows are dealt with where they
//! always are. Where the forces are affine in λ, as Coulomb's friction is while nothing
//! changes its sign, the first step is exact.
//!
//! det J = det(A Γ⁻¹(Aᵀ + D)) / det(A Γ⁻¹Aᵀ) is 1 without friction. Where it is not
//! positive the solution is not the one that friction leads to as it grows from nothing:
//! Painlevé's paradox (1895), in which a rigid body that slides has no acceleration, or
//! more than one.
//!
//! Where a constraint is held in another direction than its own (by inputs, by what slides), D is
//! B − Aᵀ and J = −L B: its determinant may have any sign and any size, and no friction grew to it. A
//! regular J there is all that is asked; what friction adds is then measured by the determinant
//! beside that of these multipliers alone. A singular one says that nothing pushes along some
//! combination of the rows ([`CoupledError::Servo`]).

use crate::directed::{Directed, signed_product};
use crate::error::SolveError;
use crate::linalg::lu;
use crate::outcome::Outcome;
use crate::solver::Solver;
use crate::terms::Terms;
use crate::tolerances::coupling::{LARGE, SINGULAR, SMALL};

/// Why forces and multipliers were not found together. Rows are constraints of the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoupledError {
    /// No branch of the forces has a solution that lies on it.
    NoSolution,
    /// More than one has.
    Several,
    /// det J is not positive.
    Paradox {
        /// det J.
        determinant: f64,
    },
    /// Newton's method came to a standstill.
    NotFound {
        /// |λ̄ − λ| relative to the forces in it.
        residual: f64,
    },
    /// The force depends on a multiplier that is not unique.
    NotUnique {
        /// The constraint.
        row: usize,
    },
    /// Directions given for the forces of some constraints do not push along all of them.
    Servo {
        /// How many combinations of them are pushed along.
        rank: usize,
        /// How many constraints there are of the kind.
        count: usize,
    },
    /// The problem with the forces held could not be solved.
    Solve(SolveError),
}

impl std::fmt::Display for CoupledError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CoupledError::NoSolution => f.write_str(
                "the friction and the constraint force it depends on have no common solution (Painlevé's paradox)",
            ),
            CoupledError::Several => f.write_str(
                "the friction and the constraint force it depends on have more than one common solution (Painlevé's paradox)",
            ),
            CoupledError::Paradox { determinant } => write!(
                f,
                "the friction outgrows the constraint force it depends on (factor {determinant:.3e}, which must be positive: Painlevé's paradox), so that the two have no common solution that friction leads to as it grows"
            ),
            CoupledError::NotFound { residual } => write!(
                f,
                "no common solution of a force and the multipliers it depends on was found: {residual:.1e} of them is left over"
            ),
            CoupledError::NotUnique { row } => write!(
                f,
                "a force depends on the multiplier of constraint {}, which is not unique: constraints depend on each other here",
                row + 1
            ),
            CoupledError::Servo { rank, count } => write!(
                f,
                "inputs push along {rank} of {count} combinations of the constraints they hold: along the others the model implies a constraint that it does not have"
            ),
            CoupledError::Solve(error) => error.fmt(f),
        }
    }
}

impl CoupledError {
    /// In words, with the constraints' own names.
    pub fn named<'a>(&self, name: impl Fn(usize) -> &'a str) -> String {
        match self {
            CoupledError::NotUnique { row } => format!(
                "a force depends on `multiplier({})`, which is not unique: constraints depend on each other here",
                name(*row)
            ),
            other => other.to_string(),
        }
    }
}

/// Forces as functions of the multipliers that occur in them, on one branch.
pub trait Law {
    /// Sets F, C and D, the latter column by column, at λ̄.
    fn evaluate(&mut self, lambda: &[f64], at: &mut Forces);
}

/// F, C and D.
#[derive(Clone, Debug, Default)]
pub struct Forces {
    /// F.
    pub force: Vec<f64>,
    /// C.
    pub nonideal: Vec<f64>,
    /// D, column by column.
    pub slopes: Vec<f64>,
}

/// Most iterations.
const MOST: usize = 60;
/// Guesses where forces have no value: friction that is divided by the normal force has
/// none at 0, and its limit beside it.
const GUESSES: &[f64] = &[0.0, 1e-30, -1e-30, 1.0, -1.0];

/// The solver and its storage, which is kept from call to call.
#[derive(Clone, Debug, Default)]
pub struct Coupled {
    /// λ̄ of the multipliers that occur: the guess, and what was found.
    pub lambda: Vec<f64>,
    /// The forces at λ̄.
    pub forces: Forces,
    /// |λ̄ − λ| relative to the forces in it, at the end.
    pub residual: f64,
    /// det J, as last found.
    pub determinant: f64,
    known: bool,
    is_looked_at: bool,
    shortens: bool,
    before: Vec<f64>,
    step: Vec<f64>,
    found: Vec<f64>,
    matrix: Vec<f64>,
    order: Vec<usize>,
    spare: Vec<f64>,
    zero: Vec<f64>,
    column: Outcome,
    /// The multipliers that act in another direction than that of their row.
    pub directed: Directed,
}

impl Coupled {
    /// A solver for so many multipliers in forces, velocities and rows.
    pub fn new(count: usize, n: usize, m: usize) -> Coupled {
        Coupled {
            lambda: vec![0.0; count],
            forces: Forces {
                force: vec![0.0; n],
                nonideal: vec![0.0; n],
                slopes: vec![0.0; count * n],
            },
            determinant: 1.0,
            before: vec![0.0; count],
            step: vec![0.0; count],
            found: vec![0.0; count],
            matrix: vec![0.0; count * count],
            order: vec![0; count],
            spare: vec![0.0; count],
            zero: vec![0.0; n.max(m)],
            ..Coupled::default()
        }
    }

    /// The same where some multipliers act in another direction than that of their row.
    pub fn directed(mut self, marked: &[bool]) -> Coupled {
        self.directed = Directed::new(marked);
        self
    }

    /// Forgets the guess: the next solution starts from the forces without multipliers.
    pub fn forget(&mut self) {
        self.known = false;
        self.is_looked_at = false;
    }

    /// Keeps the guess, for forces on another branch.
    pub fn renew(&mut self) {
        self.is_looked_at = false;
    }

    /// Solves the problem of `terms`, whose forces are not looked at. `places` has the row
    /// of each multiplier that occurs, `None` for one that is 0. The outcome is that of the
    /// elimination at the forces found.
    pub fn solve(
        &mut self,
        law: &mut dyn Law,
        terms: &Terms,
        places: &[Option<usize>],
        solver: &mut Solver,
        outcome: &mut Outcome,
    ) -> Result<(), CoupledError> {
        // On the way, a solution in the least-squares sense is as good as any.
        let is_lenient = std::mem::replace(&mut solver.tolerances.least_squares, true);
        let solved = self.search(law, terms, places, solver, outcome);
        solver.tolerances.least_squares = is_lenient;
        if solved.is_ok() && !is_lenient && !outcome.motion.exists() {
            outcome.v_dot.clear();
            outcome.multipliers.clear();
        }
        solved
    }

    fn search(
        &mut self,
        law: &mut dyn Law,
        terms: &Terms,
        places: &[Option<usize>],
        solver: &mut Solver,
        outcome: &mut Outcome,
    ) -> Result<(), CoupledError> {
        // From the guess; then from nothing; then by whole steps, which get past places where
        // no part of a step helps.
        let ways = [(self.known, true), (false, true), (false, false)];
        let mut left = f64::INFINITY;
        for &(keeps, shortens) in &ways[usize::from(!self.known)..] {
            if !keeps {
                self.forget();
            }
            self.shortens = shortens;
            match self.iterate(law, terms, places, solver, outcome) {
                Err(CoupledError::NotFound { residual }) => left = left.min(residual),
                result => return result,
            }
        }
        Err(CoupledError::NotFound { residual: left })
    }

    fn iterate(
        &mut self,
        law: &mut dyn Law,
        terms: &Terms,
        places: &[Option<usize>],
        solver: &mut Solver,
        outcome: &mut Outcome,
    ) -> Result<(), CoupledError> {
        if !self.known {
            self.lambda.fill(0.0);
        }
        let (mut best, mut fraction) = (f64::INFINITY, 1.0);
        let mut iterations = 0;
        let mut guesses = GUESSES.iter();
        // det J belongs to the branch; it is looked at anew on another.
        loop {
            law.evaluate(&self.lambda, &mut self.forces);
            let values = self.forces.force.iter().chain(&self.forces.nonideal);
            let is_finite = values.clone().all(|f| f.is_finite());
            let mut residual = f64::INFINITY;
            if is_finite {
                let problem =
                    Terms { force: &self.forces.force, nonideal: &self.forces.nonideal, ..*terms };
                solver.solve(&problem, outcome).map_err(CoupledError::Solve)?;
                residual = self.compare(terms, places, outcome);
            } else if iterations == 0 {
                if self.guess(&mut guesses) {
                    continue;
                }
                // Let the elimination say what is not a number.
                let problem =
                    Terms { force: &self.forces.force, nonideal: &self.forces.nonideal, ..*terms };
                return solver.solve(&problem, outcome).map_err(CoupledError::Solve);
            }
            iterations += 1;
            let stands = residual >= 0.5 * best && best <= LARGE;
            if residual <= SMALL && !self.is_looked_at {
                self.is_looked_at = true;
                self.newton(terms, places, solver)?;
            }
            if residual <= SMALL || stands || iterations > MOST {
                self.residual = residual;
                // A step that made it no better is at the level of rounding.
                self.known = residual <= LARGE;
                if !self.known {
                    self.forget();
                    return Err(CoupledError::NotFound { residual });
                }
                return Ok(());
            }
            if !(residual < best) && iterations > 1 && (self.shortens || !is_finite) {
                // Too far: half of the step back.
                fraction *= 0.5;
                for ((l, b), s) in self.lambda.iter_mut().zip(&self.before).zip(&self.step) {
                    *l = b - fraction * s;
                }
                if fraction < 1e-9 {
                    self.forget();
                    return Err(CoupledError::NotFound { residual: best });
                }
                continue;
            }
            (best, fraction) = (residual, 1.0);
            self.before.copy_from_slice(&self.lambda);
            // Without a guess, the first step is that of the fixed point: forces need not
            // have slopes where there is no constraint force, √(λ₁² + λ₂²) has none at 0.
            let is_first = !self.known && iterations == 1 && self.shortens;
            self.is_looked_at |= !is_first;
            if is_first || !self.newton(terms, places, solver)? {
                for ((s, l), f) in self.step.iter_mut().zip(&self.lambda).zip(&self.found) {
                    *s = l - f;
                }
                if is_first {
                    best = f64::INFINITY;
                }
            }
            for (l, s) in self.lambda.iter_mut().zip(&self.step) {
                *l -= s;
            }
        }
    }

    /// Takes another guess, where forces have no value; false if there is none left.
    fn guess(&mut self, guesses: &mut std::slice::Iter<f64>) -> bool {
        self.forget();
        let Some(size) = guesses.next() else { return false };
        // Not all alike: differences of multipliers should not vanish either.
        let values = (0..self.lambda.len()).map(|c| size * (1.0 + c as f64 / 7.0));
        self.lambda.iter_mut().zip(values).for_each(|(l, value)| *l = value);
        true
    }

    /// Sets λ as found; how far λ̄ is from it, relative to the forces in it.
    fn compare(&mut self, terms: &Terms, places: &[Option<usize>], outcome: &Outcome) -> f64 {
        let mut worst = 0f64;
        for (c, place) in places.iter().enumerate() {
            let found = place.and_then(|row| outcome.multipliers.get(row)).copied().unwrap_or(0.0);
            self.found[c] = found;
            let difference = (self.lambda[c] - found).abs();
            if difference == 0.0 {
                continue;
            }
            let Some(row) = *place else { continue };
            // The multiplier that forces of this size have, whatever the units.
            let (mut by_force, mut by_row) = (0.0, 0.0);
            for (i, a) in terms.jacobian_row(row) {
                let mass = terms.mass(i);
                if mass > 0.0 {
                    let size = self.forces.force[i].abs() + self.forces.nonideal[i].abs();
                    by_force += a.abs() * size / mass;
                    by_row += a * a / mass;
                }
            }
            let size = if by_row > 0.0 { by_force / by_row } else { 0.0 };
            let size = size + found.abs() + self.lambda[c].abs();
            worst = worst.max(difference / size);
        }
        if worst.is_nan() { f64::INFINITY } else { worst }
    }

    /// Sets Newton's step; false if there is none.
    fn newton(
        &mut self,
        terms: &Terms,
        places: &[Option<usize>],
        solver: &mut Solver,
    ) -> Result<bool, CoupledError> {
        let (n, m, count) = (terms.n, terms.m, places.len());
        if self.forces.slopes.iter().any(|d| !d.is_finite()) {
            return Ok(false);
        }
        for c in 0..count {
            let column = &self.forces.slopes[c * n..(c + 1) * n];
            let is_zero = column.iter().all(|d| *d == 0.0);
            if !is_zero {
                let problem = Terms {
                    force: column,
                    nonideal: &self.zero[..n],
                    bias: &self.zero[..m],
                    ..*terms
                };
                solver.solve(&problem, &mut self.column).map_err(CoupledError::Solve)?;
            }
            for (k, place) in places.iter().enumerate() {
                let moved = place.and_then(|row| self.column.multipliers.get(row));
                let moved = if is_zero { 0.0 } else { moved.copied().unwrap_or(0.0) };
                self.matrix[k * count + c] = f64::from(u8::from(k == c)) - moved;
            }
        }
        if !self.directed.is_empty() {
            let slopes = &self.forces.slopes;
            let looked = self.directed.look_at(&self.matrix, count, slopes, terms, places);
            if let Err((rank, count)) = looked {
                self.forget();
                return Err(CoupledError::Servo { rank, count });
            }
        }
        for ((s, l), f) in self.step.iter_mut().zip(&self.lambda).zip(&self.found) {
            *s = l - f;
        }
        let is_regular = lu::factor(&mut self.matrix, count, &mut self.order);
        self.determinant = if is_regular { self.signed_product(count) } else { 0.0 };
        if !is_regular {
            return Ok(false);
        }
        lu::solve(&self.matrix, count, &self.order, &mut self.step, &mut self.spare);
        Ok(self.step.iter().all(|s| s.is_finite()))
    }

    /// det J from its factors.
    fn signed_product(&self, count: usize) -> f64 {
        signed_product(&self.matrix, &self.order, count)
    }

    /// Whether the solution is the one that friction leads to as it grows from nothing.
    pub fn check(&self) -> Result<(), CoupledError> {
        let determinant = match self.directed.is_empty() {
            true => self.determinant,
            // Without friction the two are the same to rounding.
            false => self.determinant / self.directed.determinant,
        };
        if determinant > SINGULAR { Ok(()) } else { Err(CoupledError::Paradox { determinant }) }
    }

    /// Whether the forces depend on unique multipliers only, or on a combination that is
    /// unique where these are not: D ζ = 0 for all ζ in ker Aᵀ. If not, the row of one.
    pub fn ambiguous(
        &self,
        terms: &Terms,
        places: &[Option<usize>],
        open: &[bool],
    ) -> Option<usize> {
        let (n, m) = (terms.n, terms.m);
        let is_open = |row: usize| open.get(row).copied().unwrap_or(false);
        let first = places.iter().flatten().copied().find(|&row| is_open(row))?;
        let zero = vec![0.0; n];
        let plain = Terms { nonideal: &zero, ..*terms };
        for j in (0..m).filter(|&j| is_open(j)) {
            // e_j less its part in range A is along ker Aᵀ.
            let mut row = vec![0.0; n];
            terms.jacobian_row(j).for_each(|(i, a)| row[i] = a);
            let Ok(shortest) = crate::multipliers::shortest(&plain, &row, None) else {
                return Some(first);
            };
            let zeta = |k: usize| f64::from(u8::from(k == j)) - shortest[k];
            for i in 0..n {
                let (mut value, mut size) = (0.0, 0.0);
                for (c, place) in places.iter().enumerate() {
                    let Some(k) = *place else { continue };
                    let part = self.forces.slopes[c * n + i] * zeta(k);
                    value += part;
                    size += part.abs();
                }
                let value: f64 = value;
                if !(value.abs() <= 1e-8 * size) {
                    return Some(first);
                }
            }
        }
        None
    }
}
