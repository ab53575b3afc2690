//! Taylor series of the motion, as long as the tolerance asks for.
//!
//! ```text
//! x(t + h) = Σ x[j] hʲ,   j = 0 … p
//! ```
//!
//! The coefficients are those of the constrained motion itself, found order by order with one
//! factorization a step ([`Expansion`](super::Expansion)). Order and step: À. Jorba and M. Zou,
//! *A software package for the numerical integration of ODEs by means of high-order Taylor
//! methods*, Experimental Mathematics 14 (2005). The step that terms up to order p allow is the
//! radius of convergence times the p-th root of the tolerance. Where the work goes with p², as for
//! long products, p = ½ ln(1/tolerance) is best; where it goes with p, as for short ones and what
//! comes once an order, p = ln(1/tolerance); and what comes once a step asks for more. Measured,
//! 0.7 is near the best for systems of a few coordinates. What is left out is estimated by both of
//! the last two terms, so that functions of which every other coefficient vanishes do not deceive.
//!
//! The step is known before it is taken. The dense output is the polynomial itself. For motions
//! that are analytic: at a state without a series (a root at 0, a motion at a branch of its own)
//! a step of [DOP853](super::dop853) is taken. Not for stiff motions.

use super::dop853::{self, Dop853};
use super::{Integrator, Needs, Polynomial, Problem, Step, Stiffness};
use crate::program::field::FieldError;

/// Its name.
pub const NAME: &str = "taylor";

/// The lowest and the highest order.
const ORDERS: (f64, f64) = (4.0, 40.0);
/// The order for each factor of e in the tolerance.
const PER_DIGIT: f64 = 0.7;
/// What is left out is meant to be so much of the tolerance: errors of steps add up.
const MEANT: f64 = 0.05;
/// A step is turned down if its rates at the end speak of an error of so many tolerances.
const DEFECT: f64 = 30.0;
/// Steps of e^{λt} are stable up to h|λ| a little above this part of the order.
const EDGE: f64 = 0.35;
/// A last term of so many tolerances limits the step.
const LIMITS: f64 = 0.01;
/// A term in the middle that is this part of √(T₀ T_p) belongs to another motion than the last.
const DEAD: f64 = 0.03;
/// Rates that agree to this part of them do so but for rounding.
const ROUNDING: f64 = 1e-8;
/// Steps are not longer than so many times the one before: what does not show in the series of a
/// state may be near.
const LONGER: f64 = 8.0;

/// The method and its last step.
pub struct Taylor {
    size: usize,
    order: usize,
    /// The tolerance that order and ratio go by.
    tolerance: f64,
    /// By what terms fall from one to the next in a step that is as long as is meant.
    ratio: f64,
    /// Coefficients of a component, one component after the other.
    coefficients: Vec<f64>,
    /// When they begin.
    t: f64,
    h: f64,
    errors: Vec<f64>,
    /// The rates at the end, which must be there.
    rates: Vec<f64>,
    /// How stiff the last step looked.
    stiff: Option<Stiffness>,
    /// Where there is no series.
    other: Dop853,
    has_series: bool,
}

/// The method for states of a size.
pub fn new(size: usize) -> Taylor {
    Taylor {
        size,
        order: order_of(1e-9),
        tolerance: f64::NAN,
        ratio: 0.0,
        coefficients: Vec::new(),
        t: f64::NAN,
        h: 0.0,
        errors: vec![0.0; size],
        rates: vec![0.0; size],
        stiff: None,
        other: dop853::new(size),
        has_series: true,
    }
}

/// The order that a tolerance asks for.
pub(crate) fn order_of(tolerance: f64) -> usize {
    (1.0 - PER_DIGIT * tolerance.ln()).ceil().clamp(ORDERS.0, ORDERS.1) as usize
}

impl Taylor {
    /// The series at the state of a step.
    fn expand(&mut self, motion: &mut dyn Problem, step: &Step) -> Result<(), FieldError> {
        if self.tolerance != step.tolerance {
            self.tolerance = step.tolerance;
            self.order = order_of(step.tolerance);
            self.ratio = step.tolerance.powf(1.0 / (self.order - 1) as f64).min(0.5);
        }
        let Some(expansion) = motion.expansion() else {
            return Err(FieldError::NotSolved(NAME));
        };
        let expanded = expansion.expand(step.t, step.x, self.order, &mut self.coefficients);
        self.has_series = expanded.is_ok();
        self.t = step.t;
        expanded
    }

    /// The coefficients of a component.
    fn of(&self, component: usize) -> &[f64] {
        &self.coefficients[component * (self.order + 1)..(component + 1) * (self.order + 1)]
    }

    /// What is left out of a component, by powers of a step: its last term times r/(1 − r), or
    /// the last but one times r²/(1 − r), where terms fall by r from one to the next.
    fn error(&self, component: usize, (last, before): (f64, f64)) -> f64 {
        let c = self.of(component);
        (c[self.order].abs() * last).max(c[self.order - 1].abs() * before * self.ratio)
            * (self.ratio / (1.0 - self.ratio))
    }

    /// Terms of a smooth motion fall from T₀ to the last, T_p, at about the same rate, so that the one in
    /// the middle is about √(T₀ T_p). Where that is far less, the last ones belong to another motion: one
    /// like a e^{λt}, h²λ² = p (p − 1) T_p/T_{p−2}, with a below what a component may be off by, which
    /// has died out. If it limits the step, and that is at the edge of stability, the motion is stiff.
    fn look(&self, step: &Step<'_>) -> Stiffness {
        let p = self.order;
        let largest = |k: usize| {
            let power = step.h.abs().powi(k as i32);
            let terms = step.weights.iter().enumerate();
            let terms = terms.map(|(at, weight)| (at, weight * self.of(at)[k].abs() * power));
            terms.fold((0, 0.0), |most, term| if term.1 > most.1 { term } else { most })
        };
        let (component, last) = largest(p);
        let middle = largest(p / 2).1.max(largest(p / 2 + 1).1);
        let is_dead = last > LIMITS && middle < DEAD * (last / step.tolerance).sqrt();
        let h_lambda = ((p * (p - 1)) as f64 * last / largest(p - 2).1).sqrt();
        let limit = if is_dead { EDGE * p as f64 } else { f64::INFINITY };
        Stiffness { h_lambda, limit, component }
    }

    fn evaluate(&self, h: f64, x: &mut [f64]) {
        let terms = self.order + 1;
        // Four at once: one sum waits for each of its products.
        let (fours, last) = x.as_chunks_mut::<4>();
        let (of_fours, of_last) = self.coefficients.split_at(4 * terms * fours.len());
        for (x, c) in fours.iter_mut().zip(of_fours.chunks_exact(4 * terms)) {
            let (c, rest) = c.split_at(2 * terms);
            let ((a, b), (c, d)) = (c.split_at(terms), rest.split_at(terms));
            let mut sums = [0.0; 4];
            for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d).rev() {
                sums = [sums[0] * h + a, sums[1] * h + b, sums[2] * h + c, sums[3] * h + d];
            }
            *x = sums;
        }
        for (x, c) in last.iter_mut().zip(of_last.chunks_exact(terms)) {
            *x = c.iter().rev().fold(0.0, |sum, c| sum * h + c);
        }
    }
}

impl Integrator for Taylor {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        self.order as u32
    }

    fn dense_order(&self) -> u32 {
        self.order as u32 - 1
    }

    fn source(&self) -> &'static str {
        "Jorba & Zou, Experimental Mathematics 14 (2005); Nedialkov & Pryce, BIT 45 (2005)"
    }

    fn needs(&self) -> Needs {
        Needs::Series
    }

    fn estimates(&self) -> bool {
        true
    }

    fn growth(&mut self, _: f64) -> Option<f64> {
        self.has_series.then_some(LONGER)
    }

    fn length(&mut self, motion: &mut dyn Problem, step: &Step<'_>) -> Option<f64> {
        self.expand(motion, step).ok()?;
        self.length_again(step)
    }

    fn length_again(&self, step: &Step<'_>) -> Option<f64> {
        let p = self.order;
        let (mut last, mut before) = (0f64, 0f64);
        for (at, weight) in step.weights.iter().enumerate() {
            let c = self.of(at);
            let (own, own_before) = (weight * c[p].abs(), weight * c[p - 1].abs());
            last = if own > last { own } else { last };
            before = if own_before > before { own_before } else { before };
        }
        let meant = MEANT * (1.0 - self.ratio) / self.ratio;
        // Relative to a step of about the length, so that units of time change nothing.
        let term = |size: f64, order: usize| (0..order).fold(size, |term, _| term * step.h.abs());
        let by = |size: f64, order: usize| (meant / term(size, order)).powf(1.0 / order as f64);
        Some(step.h.abs() * by(last, p).min(by(before * self.ratio, p - 1)))
    }

    fn foretell(&self, t: f64, h: f64, x: &mut [f64]) -> bool {
        let is_known = self.has_series && self.t == t;
        if is_known {
            self.evaluate(h, x);
        }
        is_known
    }

    fn stiffness(&self) -> Option<Stiffness> {
        if self.has_series { self.stiff } else { self.other.stiffness() }
    }

    fn errors(&self) -> Option<&[f64]> {
        if self.has_series { Some(&self.errors) } else { self.other.errors() }
    }

    fn step(
        &mut self,
        motion: &mut dyn Problem,
        step: Step<'_>,
        next: &mut [f64],
    ) -> Result<f64, FieldError> {
        if self.expand(motion, &step).is_err() {
            return self.other.step(motion, step, next);
        }
        self.h = step.h;
        self.evaluate(step.h, next);
        let powers = (step.h.abs().powi(self.order as i32), step.h.abs().powi(self.order as i32 - 1));
        let mut largest = 0f64;
        for at in 0..self.size {
            let error = self.error(at, powers);
            self.errors[at] = error;
            let error = error * step.weights[at];
            largest = if error.is_nan() { f64::INFINITY } else { largest.max(error) };
        }
        self.stiff = step.looks.then(|| self.look(&step));
        if step.looks {
            motion.rates(step.t + step.h, next, &mut self.rates)?;
            largest = largest.max(self.defect(&self.rates, step.weights));
        }
        Ok(largest)
    }

    fn prepare_dense(&mut self, motion: &mut dyn Problem) -> Result<(), FieldError> {
        if self.has_series { Ok(()) } else { self.other.prepare_dense(motion) }
    }

    fn interpolate(&self, theta: f64, x: &mut [f64]) {
        match self.has_series {
            true => self.evaluate(theta * self.h, x),
            false => self.other.interpolate(theta, x),
        }
    }

    fn polynomial(&self) -> Option<Polynomial<'_>> {
        let (coefficients, terms) = (&self.coefficients[..], self.order + 1);
        self.has_series.then_some(Polynomial { coefficients, terms, h: self.h })
    }

    fn defect(&self, rates: &[f64], weights: &[f64]) -> f64 {
        if !self.has_series {
            return 0.0;
        }
        let powers = (1..=self.order).rev();
        (0..self.size).fold(0f64, |largest, at| {
            let c = self.of(at);
            let rate = powers.clone().fold(0.0, |sum, j| sum * self.h + j as f64 * c[j]);
            let off = (rate - rates[at]).abs();
            // The rate of what is left out is so many times as large as that over the step.
            let error = off * self.h.abs() * weights[at] / (DEFECT * (self.order + 1) as f64);
            match off <= ROUNDING * rate.abs().max(rates[at].abs()) {
                true => largest,
                false => largest.max(error),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_go_by_the_tolerance() {
        let orders = [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-300].map(order_of);
        assert_eq!(orders, [6, 11, 16, 21, 26, 40]);
        assert_eq!(order_of(0.9), 4);
    }
}
