//! Taylor series of the motion, as long as the tolerance asks for.
//!
//! ```text
//! x(t + h) = Σ x[j] hʲ,   j = 0 … p
//! ```
//!
//! The coefficients are those of the constrained motion itself, found order by order with one
//! factorization a step ([`Expansion`](super::Expansion)). Order and step: À. Jorba and M. Zou,
//! *A software package for the numerical integration of ODEs by means of high-order Taylor
//! methods*, Experimental Mathematics 14 (2005). The work for an order goes with its square,
//! and the step that a term of order p allows is the radius of convergence times the p-th root of the
//! tolerance; the product is best at p = 1 + ½ ln(1/tolerance) and a step of e⁻² radii. The
//! radius is estimated by the last two terms, so that functions of which every other coefficient
//! vanishes do not deceive it.
//!
//! The step is known before it is taken. The dense output is the polynomial itself. For motions
//! that are analytic: at a state without a series (a root at 0, a motion at a branch of its own)
//! a step of [DOP853](super::dop853) is taken. Not for stiff motions.

use super::dop853::{self, Dop853};
use super::{Integrator, Needs, Problem, Step, Stiffness};
use crate::program::field::FieldError;

/// Its name.
pub const NAME: &str = "taylor";

/// The lowest and the highest order.
const ORDERS: (f64, f64) = (4.0, 30.0);
/// What the last term but one is meant to be, in units of the tolerance, and may be; the last one
/// is e² times less, and the first that is left out e⁴ times.
const MEANT: f64 = 2.0;
const TERM: f64 = 2.0 * MEANT;
/// Steps are not longer than so many times the one before: what does not show in the series of a
/// state may be near.
const LONGER: f64 = 8.0;

/// The method and its last step.
pub struct Taylor {
    size: usize,
    order: usize,
    /// Coefficients of a component, one component after the other.
    coefficients: Vec<f64>,
    h: f64,
    errors: Vec<f64>,
    /// The rates at the end, which must be there.
    rates: Vec<f64>,
    /// Where there is no series.
    other: Dop853,
    has_series: bool,
}

/// The method for states of a size.
pub fn new(size: usize) -> Taylor {
    Taylor {
        size,
        order: order_of(1e-9),
        coefficients: Vec::new(),
        h: 0.0,
        errors: vec![0.0; size],
        rates: vec![0.0; size],
        other: dop853::new(size),
        has_series: true,
    }
}

/// The order that a tolerance asks for.
fn order_of(tolerance: f64) -> usize {
    (1.0 - 0.5 * tolerance.ln()).ceil().clamp(ORDERS.0, ORDERS.1) as usize
}

impl Taylor {
    /// The series at the state of a step.
    fn expand(&mut self, motion: &mut dyn Problem, step: &Step) -> Result<(), FieldError> {
        self.order = order_of(step.tolerance);
        let Some(expansion) = motion.expansion() else {
            return Err(FieldError::NotSolved(NAME));
        };
        let expanded = expansion.expand(step.t, step.x, self.order, &mut self.coefficients);
        self.has_series = expanded.is_ok();
        expanded
    }

    /// The coefficients of a component.
    fn of(&self, component: usize) -> &[f64] {
        &self.coefficients[component * (self.order + 1)..(component + 1) * (self.order + 1)]
    }

    /// What a component is off by in a step h: its last terms.
    fn error(&self, component: usize, (last, before): (f64, f64)) -> f64 {
        let c = self.of(component);
        let last = c[self.order].abs() * last * E2;
        last.max(c[self.order - 1].abs() * before) / TERM
    }

    fn evaluate(&self, h: f64, x: &mut [f64]) {
        for (at, place) in x.iter_mut().enumerate() {
            let c = self.of(at);
            let rest = c[1..].iter().rev().fold(0.0, |sum: f64, c| sum.mul_add(h, *c));
            *place = rest.mul_add(h, c[0]);
        }
    }
}

/// e²
const E2: f64 = 7.38905609893065;

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
        let p = self.order;
        let (mut last, mut before) = (0f64, 0f64);
        for (at, weight) in step.weights.iter().enumerate() {
            let c = self.of(at);
            last = last.max(weight * c[p].abs());
            before = before.max(weight * c[p - 1].abs());
        }
        let by = |size: f64, order: usize| (MEANT / size).powf(1.0 / order as f64);
        Some(by(E2 * last, p).min(by(before, p - 1)))
    }

    fn stiffness(&self) -> Option<Stiffness> {
        if self.has_series { None } else { self.other.stiffness() }
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
        if step.looks {
            motion.rates(step.t + step.h, next, &mut self.rates)?;
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
}
