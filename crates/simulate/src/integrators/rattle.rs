//! RATTLE for any H(q, p, t): order 2, symplectic, on the constraints at every step.
//!
//! Two-stage Lobatto IIIA–IIIB: Jay (1996); Hairer, Lubich & Wanner, *Geometric Numerical
//! Integration*, VII.1.3. With G = φ_q:
//!
//! ```text
//! p½ = p₀ − h/2 (H_q(q₀, p½) + G(q₀)ᵀλ)
//! q₁ = q₀ + h/2 (H_p(q₀, p½) + H_p(q₁, p½)),        φ(q₁) = 0
//! p₁ = p½ − h/2 (H_q(q₁, p½) + G(q₁)ᵀμ),            G(q₁) H_p(q₁, p₁) + φ_t = 0
//! ```
//!
//! H need not be separable. Where H or φ depend on time, the terms at q₀ are taken at t
//! and those at q₁ at t + h: time is one more coordinate then, and the method is still
//! symplectic, though the energy is no integral.
//!
//! All of it is iterated until rounding stops it; sums over the steps carry what their
//! additions lose. The multipliers are those of rows that are independent at the
//! beginning of a step, so that further rows which say the same do no harm. For
//! holonomic, ideal constraints and forces that have a potential, at constant steps;
//! others are refused. Without constraints it is the method of Störmer and Verlet.
//!
//! The dense output is the cubic through both ends and their rates, which is of order 2
//! as the ends are.

use super::iteration::{Changes, Settling};
use super::{Canonical, Integrator, Problem, Needs, Properties, Step};
use crate::program::field::FieldError;
use dalembert_gauss::linalg::{self, lu};

/// Its name.
pub const NAME: &str = "rattle";

/// The method and its last step.
pub struct Rattle {
    old: Vec<f64>,
    new: Vec<f64>,
    /// What additions have lost, of (q, p).
    lost: Vec<f64>,
    first: Vec<f64>,
    last: Vec<f64>,
    h: f64,
    has_step: bool,
    /// h λ/2 and h μ/2 of the last step, to begin with.
    impulses: [Vec<f64>; 2],
    end: f64,
    last_is_known: bool,
}

/// The method for states of a size.
pub fn new(size: usize) -> Rattle {
    Rattle {
        old: vec![0.0; size],
        new: vec![0.0; size],
        lost: vec![0.0; size],
        first: vec![0.0; size],
        last: vec![0.0; size],
        h: 0.0,
        has_step: false,
        impulses: Default::default(),
        end: 0.0,
        last_is_known: false,
    }
}

impl Rattle {
    /// The matrix of a correction along φ_q: `left` H_pp `right`ᵀ, factored.
    fn matrix(metric: &[f64], left: &[f64], right: &[f64], n: usize) -> Option<(Vec<f64>, Vec<usize>)> {
        let m = left.len() / n.max(1);
        let mut matrix = vec![0.0; m * m];
        let mut column = vec![0.0; n];
        for j in 0..m {
            linalg::multiply(metric, n, &right[j * n..(j + 1) * n], &mut column);
            for i in 0..m {
                matrix[i * m + j] = linalg::dot(&left[i * n..(i + 1) * n], &column);
            }
        }
        let mut order = vec![0; m];
        lu::factor(&mut matrix, m, &mut order).then_some((matrix, order))
    }

    fn advance(
        &mut self,
        system: &mut dyn Canonical,
        step: &Step,
        next: &mut [f64],
    ) -> Result<(), FieldError> {
        let n = system.coordinates();
        let (h, t, end) = (step.h, step.t, step.t + step.h);
        let rows = system.rows(t, step.x)?;
        let m = rows.len();
        for list in &mut self.impulses {
            if list.len() != m {
                list.clear();
                list.resize(m, 0.0);
            }
        }
        let (mut phi, mut psi, mut g0, mut g1) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut metric = Vec::new();
        system.constraints(t, step.x, &rows, &mut phi, &mut psi, &mut g0)?;
        system.metric(t, step.x, &mut metric)?;
        let unsolved = || FieldError::NotSolved(NAME);
        let (mut lu0, mut work) = (Rattle::matrix(&metric, &g0, &g0, n).ok_or_else(unsolved)?, vec![0.0; m]);
        let zero = vec![0.0; n];
        let (mut h_p0, mut f0) = (zero.clone(), zero.clone());
        let (mut h_p1, mut f1) = (zero.clone(), zero);
        // (q₀, p½) and (q₁, p½), without the work.
        let mut early = step.x[..2 * n].to_vec();
        let mut late = early.clone();
        for i in 0..n {
            late[i] += h * step.rates[i];
        }
        let mut settling = Settling::default();
        loop {
            system.gradient(t, &early, &mut h_p0, &mut f0)?;
            let (mut momenta, mut positions) = (Changes::default(), Changes::default());
            for i in 0..n {
                let pull: f64 = (0..m).map(|k| g0[k * n + i] * self.impulses[0][k]).sum();
                let by = 0.5 * h * f0[i] - pull;
                let half = step.x[n + i] + (by + self.lost[n + i]);
                momenta.see(half - early[n + i], half, pull, step.weights[n + i]);
                early[n + i] = half;
                late[n + i] = half;
            }
            system.gradient(t, &early, &mut h_p0, &mut f0)?;
            system.gradient(end, &late, &mut h_p1, &mut f1)?;
            for i in 0..n {
                let by = 0.5 * h * (h_p0[i] + h_p1[i]);
                let q = step.x[i] + (by + self.lost[i]);
                positions.see(q - late[i], q, by, step.weights[i]);
                late[i] = q;
            }
            if m > 0 {
                system.constraints(end, &late, &rows, &mut phi, &mut psi, &mut g1)?;
                // δq = −h H_pp G(q₀)ᵀ δ(hλ/2)
                let mut by: Vec<f64> = phi.iter().map(|r| r / h).collect();
                lu::solve(&lu0.0, m, &lu0.1, &mut by, &mut work);
                for (k, by) in by.iter().enumerate() {
                    self.impulses[0][k] += by;
                }
            }
            // A rounding error of q is one of λ over h, and of the part of p½ along φ_q that
            // the second half removes; so with constraints positions decide.
            let moved = positions.largest();
            if settling.see(if m == 0 { moved.max(momenta.largest()) } else { moved }) {
                break;
            }
            if settling.is_lost() {
                return Err(unsolved());
            }
            // Far from q₀ the matrix there is a poor guide.
            if settling.rounds == 20 && m > 0 {
                system.metric(end, &late, &mut metric)?;
                lu0 = Rattle::matrix(&metric, &g1, &g0, n).ok_or_else(unsolved)?;
            }
        }
        // The second half, with its own multipliers.
        let mut ends = late.clone();
        let mut lu1 = None;
        if m > 0 {
            system.constraints(end, &late, &rows, &mut phi, &mut psi, &mut g1)?;
            system.metric(end, &late, &mut metric)?;
            lu1 = Some(Rattle::matrix(&metric, &g1, &g1, n).ok_or_else(unsolved)?);
        }
        let mut settling = Settling::default();
        let mut gains = vec![0.0; n];
        loop {
            let mut changes = Changes::default();
            for i in 0..n {
                let pull: f64 = (0..m).map(|k| g1[k * n + i] * self.impulses[1][k]).sum();
                gains[i] = 0.5 * h * f1[i] - pull;
                let p = late[n + i] + gains[i];
                changes.see(p - ends[n + i], p, pull, step.weights[n + i]);
                ends[n + i] = p;
            }
            let Some((matrix, order)) = &lu1 else { break };
            let mut slopes = Vec::new();
            system.constraints(end, &ends, &rows, &mut phi, &mut psi, &mut slopes)?;
            let mut by = psi.clone();
            lu::solve(matrix, m, order, &mut by, &mut work);
            for (k, by) in by.iter().enumerate() {
                self.impulses[1][k] += by;
            }
            if settling.see(changes.largest()) {
                break;
            }
            if settling.is_lost() {
                return Err(unsolved());
            }
        }
        // Sums once more from their increments, so that nothing is lost twice.
        for i in 0..n {
            let by = 0.5 * h * (h_p0[i] + h_p1[i]) + self.lost[i];
            next[i] = step.x[i] + by;
            self.lost[i] = (step.x[i] - next[i]) + by;
            let pull: f64 = (0..m).map(|k| g0[k * n + i] * self.impulses[0][k]).sum();
            let by = (0.5 * h * f0[i] - pull) + gains[i] + self.lost[n + i];
            next[n + i] = step.x[n + i] + by;
            self.lost[n + i] = (step.x[n + i] - next[n + i]) + by;
        }
        Ok(())
    }
}

impl Integrator for Rattle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        2
    }

    fn dense_order(&self) -> u32 {
        2
    }

    fn source(&self) -> &'static str {
        "Hairer, Lubich & Wanner, Geometric Numerical Integration, VII.1.3"
    }

    fn needs(&self) -> Needs {
        Needs::Canonical
    }

    fn properties(&self) -> Properties {
        Properties { symplectic: true, keeps_constraints: true, ..Properties::default() }
    }

    fn estimates(&self) -> bool {
        false
    }

    fn step(
        &mut self,
        motion: &mut dyn Problem,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError> {
        if !(self.has_step && step.x == self.new.as_slice()) {
            self.lost.fill(0.0);
        }
        self.has_step = false;
        let Some(system) = motion.canonical() else { return Err(FieldError::NotSolved(NAME)) };
        self.advance(system, &step, next)?;
        // The work done on the system, by the trapezoidal rule: 0 without time in H or φ.
        let work = step.x.len() - 1;
        next[work] = step.x[work];
        (self.end, self.h, self.last_is_known) = (step.t + step.h, step.h, false);
        if step.rates[work] != 0.0 {
            motion.rates(self.end, next, &mut self.last)?;
            self.last_is_known = true;
            next[work] += 0.5 * step.h * (step.rates[work] + self.last[work]);
        }
        self.old.copy_from_slice(step.x);
        self.first.copy_from_slice(step.rates);
        self.new.copy_from_slice(next);
        self.has_step = true;
        Ok(0.0)
    }

    fn prepare_dense(&mut self, motion: &mut dyn Problem) -> Result<(), FieldError> {
        if !self.last_is_known {
            motion.rates(self.end, &self.new, &mut self.last)?;
            self.last_is_known = true;
        }
        Ok(())
    }

    fn interpolate(&self, theta: f64, x: &mut [f64]) {
        hermite(theta, self.h, [&self.old, &self.first, &self.new, &self.last], x);
    }
}

/// The cubic with given values and slopes at 0 and 1.
pub(super) fn hermite(theta: f64, h: f64, [old, first, new, last]: [&[f64]; 4], x: &mut [f64]) {
    let rest = 1.0 - theta;
    for (i, place) in x.iter_mut().enumerate() {
        let apart = new[i] - old[i];
        let bend = theta * rest * (rest * (h * first[i] - apart) - theta * (h * last[i] - apart));
        *place = old[i] + theta * apart + bend;
    }
}
