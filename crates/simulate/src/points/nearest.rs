//! The nearest point, in a metric, that satisfies equations.
//!
//! ```text
//! minimise ½ (x − g)ᵀ M (x − g)   subject to   e(x) = 0
//! ```
//!
//! Each step is the universal problem of mechanics once more, with the equations
//! linearised: first Newton steps of least length, halved until the residual
//! falls, to reach the equations; then steps along the solution set to the point
//! nearest to the guess g.
//! Dependent equations and a singular metric do no harm. What cannot be met is
//! reported with what is left over, never least-squared away in silence.

use crate::normal_form::Matrix;
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Jacobian, Random, Symbol};
use dalembert_gauss::eliminations::Scratch;
use dalembert_gauss::linalg;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Terms, Tolerances};

/// Equations for unknowns, and a guess of them.
pub struct NearestPoint<'a> {
    /// Numbers for parameters.
    pub setting: &'a Setting,
    /// Values of everything that is not unknown.
    pub table: Table,
    /// The unknowns.
    pub unknowns: Vec<Symbol>,
    /// The guess.
    pub guess: Vec<f64>,
    /// The equations, as residuals.
    pub equations: Vec<ExprId>,
    /// Whether the point must be the nearest one; if not, one near the guess will do.
    pub nearest: bool,
    /// The metric at the values of a table; `None` where it is not defined.
    pub metric: &'a dyn Fn(&Table) -> Option<Matrix>,
    /// The scales of the unknowns.
    pub scales: Scales,
}

/// The scales that a model gives to unknowns.
#[derive(Clone, Debug, Default)]
pub struct Scales {
    /// Of each unknown; 0 where there is none.
    pub extents: Vec<f64>,
    /// What the diagonal of the metric is made of near the guess; empty where that is not known.
    pub inertia: Vec<f64>,
    /// Symbols that are not unknown and are known to rounding only, with their extents.
    pub held: Vec<(Symbol, f64)>,
}

impl Scales {
    /// The extent of an unknown.
    fn extent(&self, i: usize) -> f64 {
        self.extents.get(i).copied().unwrap_or(0.0)
    }

    /// Those of some of the unknowns.
    pub fn of(&self, chosen: &[usize]) -> Scales {
        let pick = |from: &[f64]| chosen.iter().filter_map(|&i| from.get(i).copied()).collect();
        Scales {
            extents: pick(&self.extents),
            inertia: pick(&self.inertia),
            held: self.held.clone(),
        }
    }
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
/// Up to so many unknowns a dense matrix is formed to tell which equations clash.
const LARGEST_DENSE: usize = 2000;
/// Guesses tried when the first is a singular point.
const ATTEMPTS: u32 = 12;

#[derive(Clone)]
struct Point {
    x: Vec<f64>,
    residuals: Vec<f64>,
    noise: Vec<f64>,
    jacobian: Matrix,
    /// See [`Matrix::reach`].
    reach: Vec<f64>,
    /// What the last digit of each unknown is worth on the scale that the model gives to it.
    digits: Vec<f64>,
    /// What the last digits of what is held are worth in each equation.
    held: Vec<f64>,
}

impl NearestPoint<'_> {
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
            let point = match (coarse.is_met(), coarse.is_rounding()) {
                (_, true) => coarse,
                (false, false) => self.reach(&jacobian, coarse, None),
                // Near a singular point of the equations a residual of ε is a distance of √ε,
                // and what is left there looks as if nothing could be done about it.
                (true, false) => {
                    let exact = self.reach(&jacobian, coarse.clone(), None);
                    if exact.is_rounding() { exact } else { coarse }
                }
            };
            if point.is_met() {
                let (point, rank) = match self.nearest {
                    true => self.polish(&jacobian, point),
                    false => (point, None),
                };
                let rank = rank.unwrap_or_else(|| {
                    self.step(&point, None, Some(1e-7)).map_or(0, |o| o.rank.jacobian)
                });
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
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15 ^ u64::from(attempt));
        let size = if attempt == 0 { 0.0 } else { 0.02 * 1.7f64.powi(attempt as i32 - 1) };
        // Where the model gives no scale, any will do that is not 0.
        let largest = linalg::largest(&self.scales.extents).max(linalg::largest(&self.guess));
        let other = if largest > 0.0 { largest } else { 1.0 };
        let scale = |i: usize, g: f64| match g.abs().max(self.scales.extent(i)) {
            s if s > 0.0 => s,
            _ => other,
        };
        self.guess
            .iter()
            .enumerate()
            .map(|(i, &g)| g + size * scale(i, g) * random.signed())
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
        let metric = (self.metric)(&table);
        Some(Point {
            residuals: residuals.iter().map(|v| v.value).collect(),
            noise: residuals
                .iter()
                .map(|v| if v.noise.is_finite() { v.noise } else { 0.0 })
                .collect(),
            jacobian: Matrix::of(jacobian, plain, metric.as_ref().is_some_and(|m| !m.is_dense())),
            held: self.held(&table),
            digits: self.scales.extents.iter().map(|s| f64::EPSILON * s).collect(),
            reach: metric.map_or(vec![0.0; x.len()], |m| m.reach(&x)),
            x,
        })
    }

    /// What the last digits of what is held are worth in each equation.
    fn held(&self, table: &Table) -> Vec<f64> {
        let held = &self.scales.held;
        if held.is_empty() {
            return vec![0.0; self.equations.len()];
        }
        let symbols: Vec<Symbol> = held.iter().map(|h| h.0).collect();
        let slopes = self.setting.model.exprs.jacobian(&self.equations, &symbols);
        let entries: Vec<ExprId> = slopes.rows.iter().flatten().map(|e| e.1).collect();
        let mut values = self.setting.numbers(&entries, table).into_iter();
        let mut row = |row: &Vec<(usize, ExprId)>| -> f64 {
            let parts = row.iter().zip(&mut values);
            parts.map(|(e, slope)| f64::EPSILON * held[e.0].1 * slope.abs()).sum()
        };
        slopes.rows.iter().map(&mut row).map(|d| if d.is_finite() { d } else { 0.0 }).collect()
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

    /// Moves along the solution set to the point nearest to the guess. Newton's
    /// method where it works, which minds that the set is curved; otherwise the
    /// linearised problem, as far along as the distance falls. With the rank of the equations
    /// there, if it is known.
    fn polish(&self, jacobian: &Jacobian, point: Point) -> (Point, Option<usize>) {
        let mut here = point;
        let mut outcome = self.step(&here, Some(&self.guess), Some(1e-7));
        for _ in 0..MOST {
            let Some(towards) = &outcome else { break };
            let length = self.length(&towards.v_dot, &here);
            if length <= 4.0 * f64::EPSILON {
                break;
            }
            let Some(metric) = self.metric_at(&here) else { break };
            let distance = self.distance(&metric, &here.x);
            let next = self.newton(jacobian, &here, &metric, towards).and_then(|step| {
                let next = self.along(jacobian, &here, &step, 1.0)?;
                let outcome = self.step(&next, Some(&self.guess), Some(1e-7))?;
                let shorter = self.length(&outcome.v_dot, &next) < 0.5 * length;
                let near = self.distance(&metric, &next.x) <= distance * (1.0 + 1e-12);
                (shorter && near).then_some((next, outcome))
            });
            let next = next.or_else(|| {
                let mut fraction = 1.0;
                while fraction > 1e-4 {
                    if let Some(next) = self.along(jacobian, &here, &towards.v_dot, fraction)
                        && self.distance(&metric, &next.x) < distance
                    {
                        let outcome = self.step(&next, Some(&self.guess), Some(1e-7))?;
                        return Some((next, outcome));
                    }
                    fraction /= 2.0;
                }
                None
            });
            let Some((next, outcome_there)) = next else { break };
            (here, outcome) = (next, Some(outcome_there));
        }
        (here, outcome.map(|outcome| outcome.rank.jacobian))
    }

    /// The sizes that unknowns have or are given.
    fn sizes(&self, at: &Point) -> Vec<f64> {
        let own = |i: usize| at.x[i].abs().max(self.scales.extent(i)).max(at.reach[i]);
        let largest = (0..at.x.len()).map(own).fold(0.0, f64::max);
        // Where nothing gives one, any will do that is not 0.
        let size = |i: usize| match own(i) {
            own if own > 0.0 => own,
            _ if largest > 0.0 => largest,
            _ => 1.0,
        };
        (0..at.x.len()).map(size).collect()
    }

    /// The length of a step, relative to these.
    fn length(&self, step: &[f64], at: &Point) -> f64 {
        let parts = step.iter().zip(self.sizes(at)).filter(|(d, _)| **d != 0.0);
        parts.fold(0f64, |m, (d, size)| m.max(d.abs() / size))
    }

    /// A fraction of a step, then back to the equations; `None` if that fails.
    fn along(&self, jacobian: &Jacobian, from: &Point, step: &[f64], part: f64) -> Option<Point> {
        let x = from.x.iter().zip(step).map(|(x, d)| x + part * d).collect();
        let point = self.reach(jacobian, self.point(jacobian, x)?, Some(1e-7));
        point.is_met().then_some(point)
    }

    /// The distance to the guess.
    fn distance(&self, metric: &Matrix, x: &[f64]) -> f64 {
        let away: Vec<f64> = x.iter().zip(&self.guess).map(|(x, g)| x - g).collect();
        let mut force = vec![0.0; away.len()];
        metric.multiply(&away, &mut force);
        linalg::dot(&away, &force).max(0.0).sqrt()
    }

    /// Newton's step for M(x − g) = Jᵀλ, e = 0, with the λ of the step `towards` the
    /// guess: M is joined by the curvature −Σ λ_j ∂²e_j, from differences of J.
    fn newton(
        &self,
        jacobian: &Jacobian,
        here: &Point,
        metric: &Matrix,
        towards: &Outcome,
    ) -> Option<Vec<f64>> {
        // The curvature is dense, and costs a point for each unknown.
        if !metric.is_dense() {
            return None;
        }
        let (n, m) = (self.unknowns.len(), self.equations.len());
        let pull = |point: &Point| -> Vec<f64> {
            let mut sum = vec![0.0; n];
            for (j, l) in towards.multipliers.iter().enumerate() {
                point.jacobian.row(j).for_each(|(i, a)| sum[i] += a * l);
            }
            sum
        };
        let before = pull(here);
        let own = self.sizes(here).into_iter().zip(&towards.v_dot);
        let sizes: Vec<f64> = own.map(|(size, d)| size.max(d.abs())).collect();
        let mut curved = metric.values.clone();
        for i in 0..n {
            let mut x = here.x.clone();
            let small = 1e-7 * sizes[i];
            x[i] += small;
            let after = pull(&self.point(jacobian, x)?);
            for j in 0..n {
                let slope = (after[j] - before[j]) / small;
                curved[i * n + j] -= 0.5 * slope;
                curved[j * n + i] -= 0.5 * slope;
            }
        }
        // Only along the solution set must this be positive; JᵀJ makes it so
        // across, and changes nothing else.
        let most =
            (0..n * n).map(|k| (curved[k] * sizes[k / n] * sizes[k % n]).abs()).fold(0.0, f64::max);
        for j in 0..m {
            let row = &here.jacobian.values[j * n..(j + 1) * n];
            let square: f64 = row.iter().zip(&sizes).map(|(a, s)| (a * s).powi(2)).sum();
            if !(square > 0.0) {
                continue;
            }
            let weight = 64.0 * most / square;
            for i in 0..n {
                (0..n).for_each(|k| curved[i * n + k] += weight * row[i] * row[k]);
            }
        }
        let away: Vec<f64> = self.guess.iter().zip(&here.x).map(|(g, x)| g - x).collect();
        let mut force = vec![0.0; n];
        metric.multiply(&away, &mut force);
        let curved = Matrix::dense(curved, n);
        self.linear(here, &curved, &force, Some(1e-7)).map(|outcome| outcome.v_dot)
    }

    fn metric_at(&self, point: &Point) -> Option<Matrix> {
        let mut table = self.table.clone();
        table.set_all(&self.unknowns, &point.x);
        (self.metric)(&table).filter(|m| m.values.iter().all(|x| x.is_finite()))
    }

    /// The step to the linearised equations: of least length, or to the point
    /// nearest to the guess.
    fn step(&self, point: &Point, towards: Option<&[f64]>, rank: Option<f64>) -> Option<Outcome> {
        let n = self.unknowns.len();
        let identity = || Matrix::identity(n, !point.jacobian.is_dense());
        let metric = self.metric_at(point).unwrap_or_else(identity);
        let mut force = vec![0.0; n];
        if let Some(guess) = towards {
            let away: Vec<f64> = guess.iter().zip(&point.x).map(|(g, x)| g - x).collect();
            metric.multiply(&away, &mut force);
        }
        // An indefinite metric measures no distance.
        self.linear(point, &metric, &force, rank)
            .or_else(|| self.linear(point, &identity(), &vec![0.0; n], rank))
    }

    /// The step d that minimises ½ dᵀΓd − dᵀf on the linearised equations.
    fn linear(
        &self,
        point: &Point,
        metric: &Matrix,
        force: &[f64],
        rank: Option<f64>,
    ) -> Option<Outcome> {
        let n = self.unknowns.len();
        let bias: Vec<f64> = point.residuals.iter().map(|r| -r).collect();
        let terms = Terms {
            n,
            m: bias.len(),
            metric: &metric.values,
            force,
            nonideal: &vec![0.0; n],
            jacobian: &point.jacobian.values,
            bias: &bias,
            noise: None,
            inertia: &self.scales.inertia,
            patterns: metric.patterns(&point.jacobian),
        };
        let tolerances = Tolerances { rank, least_squares: true, ..Tolerances::default() };
        let mut outcome = Outcome::default();
        dalembert_gauss::DEFAULT
            .solve(&mut Scratch::default(), &terms, &tolerances, &mut outcome)
            .ok()?;
        (outcome.v_dot.len() == n && outcome.v_dot.iter().all(|d| d.is_finite())).then_some(outcome)
    }

    /// Meets the first equations, and the others as well as that allows: what is
    /// left of these, and which of the first stand in their way. `None` if the
    /// first cannot be met.
    pub fn hold(&self, first: usize) -> Option<Unmet> {
        let exprs = &self.setting.model.exprs;
        let held = NearestPoint {
            nearest: false,
            setting: self.setting,
            table: self.table.clone(),
            unknowns: self.unknowns.clone(),
            guess: self.guess.clone(),
            equations: self.equations[..first].to_vec(),
            metric: self.metric,
            scales: self.scales.clone(),
        };
        let held_jacobian = exprs.jacobian(&held.equations, &self.unknowns);
        let jacobian = exprs.jacobian(&self.equations, &self.unknowns);
        let mut point = self.point(&jacobian, held.solve().ok()?.x)?;
        for _ in 0..MOST {
            let outcome = self.compromise(&point, first)?;
            let weights = point.weights();
            let merit = point.merit_from(first, &weights);
            let mut fraction = 1.0;
            let next = loop {
                let x = point.x.iter().zip(&outcome.v_dot).map(|(x, d)| x + fraction * d).collect();
                let back = held.point(&held_jacobian, x);
                let back = back.map(|p| held.reach(&held_jacobian, p, Some(1e-7)));
                let next = back.filter(Point::is_met).and_then(|p| self.point(&jacobian, p.x));
                if let Some(next) = next
                    && next.merit_from(first, &weights) < merit * (1.0 - 1e-14)
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
        let outcome = self.compromise(&point, first)?;
        let weights = point.weights();
        // The equations that are held are in the way where they carry a multiplier.
        let pull: Vec<f64> =
            outcome.multipliers.iter().zip(&weights).map(|(l, w)| (l / w).abs()).collect();
        let size = linalg::largest(&pull);
        let met = point.met();
        let involved =
            (0..met.len()).map(|at| if at < first { pull[at] > 1e-6 * size } else { !met[at] });
        let residuals = point.residuals.iter().zip(&met).enumerate();
        let residuals = residuals.map(|(at, (&r, &met))| if at < first || met { 0.0 } else { r });
        Some(Unmet { residuals: residuals.collect(), involved: involved.collect(), x: point.x })
    }

    /// The step that makes the later equations smallest, in units of their rows'
    /// lengths, with the first ones met: least squares under constraints is the
    /// universal problem too.
    fn compromise(&self, point: &Point, first: usize) -> Option<Outcome> {
        let n = self.unknowns.len();
        if !point.jacobian.is_dense() && n > LARGEST_DENSE {
            return None;
        }
        let weights = point.weights();
        let jacobian = point.jacobian.clone().with_zeros().values;
        let (mut metric, mut force) = (vec![0.0; n * n], vec![0.0; n]);
        for (at, weight) in weights.iter().enumerate().skip(first) {
            let row = &jacobian[at * n..(at + 1) * n];
            for i in 0..n {
                let a = row[i] * weight * weight;
                force[i] -= a * point.residuals[at];
                (0..n).for_each(|j| metric[i * n + j] += a * row[j]);
            }
        }
        let bias: Vec<f64> = point.residuals[..first].iter().map(|r| -r).collect();
        let terms = Terms {
            n,
            m: first,
            metric: &metric,
            force: &force,
            nonideal: &vec![0.0; n],
            jacobian: &jacobian[..first * n],
            bias: &bias,
            noise: None,
            inertia: &[],
            patterns: None,
        };
        let tolerances =
            Tolerances { rank: Some(1e-7), least_squares: true, ..Tolerances::default() };
        let mut outcome = Outcome::default();
        let solved = dalembert_gauss::DEFAULT.solve(
            &mut Scratch::default(),
            &terms,
            &tolerances,
            &mut outcome,
        );
        (solved.is_ok() && outcome.v_dot.len() == n && outcome.multipliers.len() == first)
            .then_some(outcome)
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
    /// The size of the terms of each equation: Σ |∂e/∂x_i s_i|.
    fn scale(&self, row: usize, sizes: &[f64]) -> f64 {
        let part = |(i, a): (usize, f64)| sizes.get(i).map_or(0.0, |s| (a * s).abs());
        self.jacobian.row(row).map(part).sum()
    }

    /// Which equations are met, up to what can be told.
    fn met(&self) -> Vec<bool> {
        let rounding = self.rounding().into_iter().zip(&self.residuals).enumerate();
        rounding.map(|(at, (e, r))| r.abs() <= e.max(1e-11 * self.scale(at, &self.x))).collect()
    }

    /// How much of each equation may be rounding.
    fn rounding(&self) -> Vec<f64> {
        let rows = self.noise.iter().enumerate();
        rows.map(|(at, noise)| {
            let rounding = 64.0 * f64::EPSILON * self.scale(at, &self.reach);
            let digits = 4.0 * (self.scale(at, &self.digits) + self.held[at]);
            (64.0 * noise).max(rounding).max(digits)
        })
        .collect()
    }

    /// Met up to rounding.
    fn is_rounding(&self) -> bool {
        self.residuals.iter().zip(self.rounding()).all(|(r, e)| r.abs() <= e)
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
        (0..self.residuals.len())
            .map(|j| {
                let row: Vec<f64> = self.jacobian.row(j).map(|(_, a)| a).collect();
                let size = linalg::norm(&row);
                if size > 0.0 { 1.0 / size } else { 1.0 }
            })
            .collect()
    }

    fn merit(&self, weights: &[f64]) -> f64 {
        self.merit_from(0, weights)
    }

    /// The merit of the equations from one on: a length, as squares of 10⁻²⁰⁰ are 0.
    fn merit_from(&self, first: usize, weights: &[f64]) -> f64 {
        let rows = self.residuals.iter().zip(weights).skip(first);
        let weighted: Vec<f64> = rows.map(|(r, w)| r * w).collect();
        linalg::norm(&weighted)
    }

    fn size(&self) -> f64 {
        self.merit(&self.weights())
    }
}
