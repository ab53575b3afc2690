//! The nearest point, in a metric, that satisfies equations.
//!
//! ```text
//! minimise ½ (x − g)ᵀ M (x − g)   subject to   e(x) = 0
//! ```
//!
//! Each step is the universal problem of mechanics once more, with the equations
//! linearised: first Newton steps of least length, halved until the residual
//! falls, to reach the equations; then steps that also pull towards the guess g.
//! Dependent equations and a singular metric do no harm. What cannot be met is
//! reported with what is left over, never least-squared away in silence.

use crate::eliminations::Scratch;
use crate::linalg;
use crate::outcome::Outcome;
use crate::setting::{Setting, Table};
use crate::terms::{Terms, Tolerances};
use dalembert_expr::{ExprId, Jacobian, Symbol};

/// Equations for unknowns, and a guess of them.
pub struct Problem<'a> {
    /// Numbers for parameters.
    pub setting: &'a Setting<'a>,
    /// Values of everything that is not unknown.
    pub table: Table,
    /// The unknowns.
    pub unknowns: Vec<Symbol>,
    /// The guess.
    pub guess: Vec<f64>,
    /// The equations, as residuals.
    pub equations: Vec<ExprId>,
    /// The metric, dense, row by row, at the values of a table; `None` where it is
    /// not defined.
    pub metric: &'a dyn Fn(&Table) -> Option<Vec<f64>>,
}

/// A point found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The unknowns.
    pub x: Vec<f64>,
    /// How many of them the equations leave free.
    pub freedom: usize,
}

/// Equations that were not met.
#[derive(Clone, Debug)]
pub struct Unmet {
    /// The best point found.
    pub x: Vec<f64>,
    /// What is left of each equation there; 0 where it is met.
    pub residuals: Vec<f64>,
    /// Which equations take part in the contradiction.
    pub involved: Vec<bool>,
}

/// Most steps of each phase.
const MOST: usize = 80;
/// Guesses tried when the first is a singular point.
const ATTEMPTS: u32 = 12;

struct Point {
    x: Vec<f64>,
    residuals: Vec<f64>,
    noise: Vec<f64>,
    jacobian: Vec<f64>,
}

impl Problem<'_> {
    /// Solves the problem.
    pub fn solve(&self) -> Result<Found, Unmet> {
        let exprs = &self.setting.model.exprs;
        let jacobian = exprs.jacobian(&self.equations, &self.unknowns);
        let mut best: Option<Point> = None;
        for attempt in 0..ATTEMPTS {
            let Some(point) = self.point(&jacobian, self.moved(attempt)) else { continue };
            // Ranks are first decided generously, as rows may be dependent on the
            // solution set only; what then stays unmet is tried to the letter.
            let coarse = self.reach(&jacobian, point, Some(1e-7));
            let point = if coarse.is_met() { coarse } else { self.reach(&jacobian, coarse, None) };
            if point.is_met() {
                let point = if attempt == 0 { self.polish(&jacobian, point) } else { point };
                let rank = self.step(&point, None, Some(1e-7)).map_or(0, |o| o.rank.jacobian);
                return Ok(Found { freedom: self.unknowns.len() - rank, x: point.x });
            }
            if best.as_ref().is_none_or(|b| point.size() < b.size()) {
                best = Some(point);
            }
        }
        Err(match best {
            Some(point) => self.unmet(point),
            None => Unmet {
                x: self.guess.clone(),
                residuals: vec![f64::NAN; self.equations.len()],
                involved: vec![true; self.equations.len()],
            },
        })
    }

    /// The guess, moved off singular points from the second attempt on.
    fn moved(&self, attempt: u32) -> Vec<f64> {
        let mut seed = 0x9e37_79b9_7f4a_7c15u64 ^ u64::from(attempt);
        let size = if attempt == 0 { 0.0 } else { 0.02 * 1.7f64.powi(attempt as i32 - 1) };
        self.guess
            .iter()
            .map(|&g| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let random = (seed >> 33) as f64 / (1u64 << 30) as f64 - 1.0;
                g + size * g.abs().max(1.0) * random
            })
            .collect()
    }

    fn point(&self, jacobian: &Jacobian, x: Vec<f64>) -> Option<Point> {
        let mut table = self.table.clone();
        table.set_all(&self.unknowns, &x);
        let mut roots = self.equations.clone();
        roots.extend(jacobian.rows.iter().flatten().map(|e| e.1));
        let values = self.setting.evaluate(&roots, &table);
        if values.iter().any(|v| !v.value.is_finite()) {
            return None;
        }
        let (residuals, entries) = values.split_at(self.equations.len());
        let plain: Vec<f64> = entries.iter().map(|v| v.value).collect();
        Some(Point {
            residuals: residuals.iter().map(|v| v.value).collect(),
            noise: residuals
                .iter()
                .map(|v| if v.noise.is_finite() { v.noise } else { 0.0 })
                .collect(),
            jacobian: crate::numbers::dense(jacobian, &plain),
            x,
        })
    }

    /// Newton steps of least length until the equations are met.
    fn reach(&self, jacobian: &Jacobian, mut point: Point, rank: Option<f64>) -> Point {
        for _ in 0..MOST {
            if point.is_exact() {
                break;
            }
            let Some(outcome) = self.step(&point, None, rank) else { break };
            let weights = point.weights();
            let merit = point.merit(&weights);
            let mut fraction = 1.0;
            let next = loop {
                let x = point.x.iter().zip(&outcome.v_dot).map(|(x, d)| x + fraction * d).collect();
                if let Some(next) = self.point(jacobian, x)
                    && (next.merit(&weights) < merit || next.is_exact())
                {
                    break Some(next);
                }
                fraction /= 2.0;
                if fraction < 1e-10 {
                    break None;
                }
            };
            match next {
                Some(next) => point = next,
                None => break,
            }
        }
        point
    }

    /// Steps towards the guess along the solution set, as long as they shrink.
    fn polish(&self, jacobian: &Jacobian, point: Point) -> Point {
        let mut best = point;
        let mut length = f64::INFINITY;
        let mut here = Point { ..best.copy() };
        for _ in 0..MOST {
            let Some(outcome) = self.step(&here, Some(&self.guess), Some(1e-7)) else { break };
            let step = linalg::norm(&outcome.v_dot);
            // Not contracting: the nearest point is not reached this way.
            if !(step < length) {
                break;
            }
            length = step;
            let x: Vec<f64> = here.x.iter().zip(&outcome.v_dot).map(|(x, d)| x + d).collect();
            let size = linalg::norm(&x);
            let Some(next) = self.point(jacobian, x) else { break };
            here = next;
            if step <= 4.0 * f64::EPSILON * size {
                break;
            }
        }
        let reached = self.reach(jacobian, here, Some(1e-7));
        if reached.is_met() {
            best = reached;
        }
        best
    }

    /// The step to the linearised equations: of least length, or to the point
    /// nearest to the guess.
    fn step(&self, point: &Point, towards: Option<&[f64]>, rank: Option<f64>) -> Option<Outcome> {
        let n = self.unknowns.len();
        let mut table = self.table.clone();
        table.set_all(&self.unknowns, &point.x);
        let metric = (self.metric)(&table)
            .filter(|m| m.iter().all(|x| x.is_finite()))
            .unwrap_or_else(|| identity(n));
        let mut force = vec![0.0; n];
        if let Some(guess) = towards {
            let away: Vec<f64> = guess.iter().zip(&point.x).map(|(g, x)| g - x).collect();
            linalg::multiply(&metric, n, &away, &mut force);
        }
        let zero = vec![0.0; n];
        let drift: Vec<f64> = point.residuals.iter().map(|r| -r).collect();
        let terms = Terms {
            n,
            m: drift.len(),
            metric: &metric,
            force: &force,
            nonideal: &zero,
            jacobian: &point.jacobian,
            drift: &drift,
            noise: None,
        };
        let tolerances = Tolerances { rank, least_squares: true, ..Tolerances::default() };
        let mut outcome = Outcome::default();
        let mut scratch = Scratch::default();
        let euclidean = identity(n);
        if crate::DEFAULT.solve(&mut scratch, &terms, &tolerances, &mut outcome).is_err()
            || outcome.v_dot.len() != n
        {
            // An indefinite metric measures no distance.
            let terms = Terms { metric: &euclidean, force: &zero, ..terms };
            crate::DEFAULT.solve(&mut scratch, &terms, &tolerances, &mut outcome).ok()?;
        }
        (outcome.v_dot.len() == n && outcome.v_dot.iter().all(|d| d.is_finite())).then_some(outcome)
    }

    /// Tells which equations clash where they cannot all be met.
    fn unmet(&self, point: Point) -> Unmet {
        let met = point.met();
        let residuals: Vec<f64> =
            point.residuals.iter().zip(&met).map(|(&r, &met)| if met { 0.0 } else { r }).collect();
        let conflict = self.step(&point, None, Some(1e-7)).and_then(|o| o.conflict);
        let involved = match conflict {
            Some(conflict) => {
                let size = linalg::largest(&conflict.weights);
                let by_weight = conflict.weights.iter().map(|w| w.abs() > 1e-6 * size);
                by_weight.zip(&met).map(|(weight, met)| weight || !met).collect()
            }
            None => met.iter().map(|met| !met).collect(),
        };
        Unmet { x: point.x, residuals, involved }
    }
}

impl Point {
    fn copy(&self) -> Point {
        Point {
            x: self.x.clone(),
            residuals: self.residuals.clone(),
            noise: self.noise.clone(),
            jacobian: self.jacobian.clone(),
        }
    }

    /// The size of the terms of each equation: Σ |∂e/∂x_i x_i|.
    fn scale(&self, row: usize) -> f64 {
        let n = self.x.len();
        let row = &self.jacobian[row * n..(row + 1) * n];
        row.iter().zip(&self.x).map(|(a, x)| (a * x).abs()).sum()
    }

    /// Which equations are met, up to what can be told.
    fn met(&self) -> Vec<bool> {
        let rows = self.residuals.iter().zip(&self.noise).enumerate();
        rows.map(|(at, (r, noise))| r.abs() <= (64.0 * noise).max(1e-11 * self.scale(at))).collect()
    }

    fn is_met(&self) -> bool {
        self.met().iter().all(|&m| m)
    }

    /// Met as well as rounding allows.
    fn is_exact(&self) -> bool {
        self.residuals.iter().zip(&self.noise).all(|(r, noise)| r.abs() <= 2.0 * noise)
    }

    /// Row norms, to weigh residuals against each other.
    fn weights(&self) -> Vec<f64> {
        let n = self.x.len();
        (0..self.residuals.len())
            .map(|j| {
                let size = linalg::norm(&self.jacobian[j * n..(j + 1) * n]);
                if size > 0.0 { 1.0 / size } else { 1.0 }
            })
            .collect()
    }

    fn merit(&self, weights: &[f64]) -> f64 {
        self.residuals.iter().zip(weights).map(|(r, w)| (r * w).powi(2)).sum()
    }

    fn size(&self) -> f64 {
        self.merit(&self.weights())
    }
}

fn identity(n: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    (0..n).for_each(|i| matrix[i * n + i] = 1.0);
    matrix
}
