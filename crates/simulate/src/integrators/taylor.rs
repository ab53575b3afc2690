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
//! 0.7 is near the best where errors are to go with the tolerance: longer series are sooner at
//! the end, by steps whose errors are less regular. Orders are even: the errors of single steps go with
//! the tolerance at any order, but most of what they come to cancels along the way, more of it at even
//! orders (of a pendulum at 1e-8, 3 to 10 of 100 remain at order 14, 10 to 20 at order 15), so that with
//! orders of both kinds a tighter tolerance would often be further off. How much cancels also depends on
//! where steps happen to lie, so that on finer scales of tolerance than half a decade what remains goes
//! up and down by some times, far below the sum of the sizes. What is left out is estimated by both of
//! the last two terms, so that functions of which every other coefficient vanishes do not deceive.
//!
//! The step is known before it is taken. The dense output is the polynomial itself. For motions
//! that are analytic: at a state without a series (a root at 0, a motion at a branch of its own)
//! a step of [DOP853](super::dop853) is taken. So it is beside a state without one (|x|^{3/2} at x next to
//! 0), where the radius of convergence is next to nothing. Not for stiff motions.

use super::dop853::{self, Dop853};
use super::{Integrator, Needs, Polynomial, Problem, Step, Stiffness};
use crate::program::field::FieldError;
use crate::program::problem::Expanded;
use dalembert_compile::series::Fours;

/// Its name.
pub const NAME: &str = "taylor";

/// The lowest and the highest order.
const ORDERS: (f64, f64) = (4.0, 40.0);
/// The order for each factor of e in the tolerance.
const PER_DIGIT: f64 = 0.7;
/// What is left out is meant to be so much of the tolerance: errors of steps add up.
pub(crate) const MEANT: f64 = 0.05;
/// The same of series that are longer than the tolerance asks for: their errors are less regular.
const MEANT_OF_LONGER: f64 = 0.002;
/// A step is turned down if its rates at the end speak of an error of so many tolerances.
pub(crate) const DEFECT: f64 = 30.0;
/// Steps of e^{λt} are stable up to h|λ| a little above this part of the order.
const EDGE: f64 = 0.35;
/// A last term of so many tolerances limits the step.
const LIMITS: f64 = 0.01;
/// A term in the middle that is this part of √(T₀ T_p) belongs to another motion than the last.
const DEAD: f64 = 0.03;
/// Rates that agree to this part of them do so but for rounding.
pub(crate) const ROUNDING: f64 = 1e-8;
/// Steps are not longer than so many times the one before: what does not show in the series of a
/// state may be near.
pub(crate) const LONGER: f64 = 8.0;
/// Series that suit a step shorter than this part of the one at hand end at a singularity beside the
/// state: no motion gets that much faster at once.
const BESIDE: f64 = 1e-3;

/// The method and its last step.
pub struct Taylor {
    order: usize,
    /// The order that was asked for; none if it goes by the tolerance.
    asked: Option<usize>,
    /// What is meant to be left out, in tolerances.
    meant: f64,
    /// The tolerance that order and ratio go by.
    tolerance: f64,
    /// By what terms fall from one to the next in a step that is as long as is meant.
    ratio: f64,
    coefficients: Fours,
    /// The sizes of the last terms of each component, and of those before them.
    last: Vec<f64>,
    before: Vec<f64>,
    /// All coefficients of a component, one component after the other: where they were asked for.
    one_by_one: Vec<f64>,
    /// When they begin.
    t: f64,
    h: f64,
    errors: Vec<f64>,
    /// The rates at the end, by the state there and by the series.
    rates: Vec<f64>,
    ends: Vec<f64>,
    /// A state inside of the step, and rates there.
    inside: [Vec<f64>; 3],
    /// How stiff the last step looked.
    stiff: Option<Stiffness>,
    /// Where there is no series.
    other: Dop853,
    has_series: bool,
    /// A time and state beside one without a series.
    beside: Option<(f64, Vec<f64>)>,
}

/// The method for states of a size.
pub fn new(size: usize) -> Taylor {
    Taylor {
        order: order_of(1e-9),
        asked: None,
        meant: MEANT,
        tolerance: f64::NAN,
        ratio: 0.0,
        coefficients: Fours::default(),
        last: vec![0.0; size],
        before: vec![0.0; size],
        one_by_one: Vec::new(),
        t: f64::NAN,
        h: 0.0,
        errors: vec![0.0; size],
        rates: vec![0.0; size],
        ends: vec![0.0; size],
        inside: Default::default(),
        stiff: None,
        other: dop853::new(size),
        has_series: true,
        beside: None,
    }
}

/// The same with series of one order, whatever the tolerance is.
pub(crate) fn of_order(size: usize, order: usize) -> Taylor {
    let order = order.clamp(ORDERS.0 as usize, ORDERS.1 as usize);
    Taylor { order, asked: Some(order), meant: MEANT_OF_LONGER, ..new(size) }
}

/// The order that a tolerance asks for. Even at all tolerances: errors of steps cancel along the way, those
/// of even orders far more than those of odd ones.
pub(crate) fn order_of(tolerance: f64) -> usize {
    let half = (0.5 * (1.5 - PER_DIGIT * tolerance.ln())).round();
    (2.0 * half).clamp(ORDERS.0, ORDERS.1) as usize
}

/// The order among some that is soonest at the end, by what a step costs: steps are as long as the
/// radius of convergence times the root of the tolerance. Where only ends count, or that errors are
/// small; that they go with the tolerance in all digits is not asked for.
pub(crate) fn soonest(
    tolerance: f64,
    orders: std::ops::RangeInclusive<usize>,
    cost: impl Fn(usize) -> f64,
) -> usize {
    let digits = -(MEANT * tolerance).ln();
    let whole = |order: usize| cost(order) * (digits / order as f64).exp();
    let first = *orders.start();
    orders.min_by(|a, b| whole(*a).total_cmp(&whole(*b))).unwrap_or(first)
}

/// h to a power, by squares.
fn power(mut h: f64, mut order: usize) -> f64 {
    let mut power = 1.0;
    while order > 0 {
        power *= if order % 2 == 1 { h } else { 1.0 };
        h *= h;
        order /= 2;
    }
    power
}

impl Taylor {
    /// The series at the state of a step.
    fn expand(&mut self, motion: &mut dyn Problem, step: &Step) -> Result<(), FieldError> {
        let Some(expansion) = motion.expansion() else {
            return Err(FieldError::NotSolved(NAME));
        };
        if self.tolerance != step.tolerance {
            self.tolerance = step.tolerance;
            self.order = self.asked.unwrap_or_else(|| order_of(step.tolerance));
            self.ratio = step.tolerance.powf(1.0 / (self.order - 1) as f64).min(0.5);
        }
        let expanded = expansion.expand(step.t, step.x, self.order, &mut self.coefficients);
        self.has_series = expanded.is_ok();
        self.t = step.t;
        if expanded? == Expanded::Now {
            self.one_by_one.clear();
            self.coefficients.sizes(self.order, &mut self.last);
            self.coefficients.sizes(self.order - 1, &mut self.before);
        }
        Ok(())
    }

    /// What is left out of each component in a step h: its last term times r/(1 − r), or the last
    /// but one times r²/(1 − r), where terms fall by r from one to the next. The largest by its
    /// weight.
    fn estimate(&mut self, h: f64, weights: &[f64]) -> f64 {
        let before = power(h.abs(), self.order - 1);
        let left = self.ratio / (1.0 - self.ratio);
        let (by_last, by_before) = (before * h.abs() * left, before * self.ratio * left);
        let mut largest = 0f64;
        let terms = self.last.iter().zip(&self.before).zip(weights);
        for (error, ((last, before), weight)) in self.errors.iter_mut().zip(terms) {
            *error = (last * by_last).max(before * by_before);
            let error = *error * weight;
            largest = if error.is_nan() { f64::INFINITY } else { largest.max(error) };
        }
        largest
    }

    /// Terms of a smooth motion fall from T₀ to the last, T_p, at about the same rate, so that the one in
    /// the middle is about √(T₀ T_p). Where that is far less, the last ones belong to another motion: one
    /// like a e^{λt}, h²λ² = p (p − 1) T_p/T_{p−2}, with a below what a component may be off by, which
    /// has died out. If it limits the step, and that is at the edge of stability, the motion is stiff.
    fn look(&mut self, step: &Step<'_>) -> Stiffness {
        let p = self.order;
        let mut largest = |k: usize| {
            self.coefficients.sizes(k, &mut self.rates);
            let power = power(step.h.abs(), k);
            let mut most = (0, 0.0);
            // Work, the last one, is no motion.
            let moving = self.rates.len().saturating_sub(1);
            for (at, (size, weight)) in self.rates[..moving].iter().zip(step.weights).enumerate() {
                let term = weight * size * power;
                most = if term > most.1 { (at, term) } else { most };
            }
            most
        };
        let (component, last) = largest(p);
        let middle = largest(p / 2).1.max(largest(p / 2 + 1).1);
        let before = largest(p - 2).1;
        let is_dead = last > LIMITS && middle < DEAD * (last / step.tolerance).sqrt();
        let h_lambda = ((p * (p - 1)) as f64 * last / before).sqrt();
        let limit = if is_dead { EDGE * p as f64 } else { f64::INFINITY };
        Stiffness { h_lambda, limit, component }
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
        self.beside = None;
        self.expand(motion, step).ok()?;
        let suited = self.length_again(step)?;
        if suited < BESIDE * step.h.abs() {
            self.beside = Some((step.t, step.x.to_vec()));
            return None;
        }
        Some(suited)
    }

    fn length_again(&self, step: &Step<'_>) -> Option<f64> {
        let p = self.order;
        let (mut last, mut before) = (0f64, 0f64);
        let terms = self.last.iter().zip(&self.before);
        for (weight, (own, own_before)) in step.weights.iter().zip(terms) {
            let (own, own_before) = (weight * own, weight * own_before);
            last = if own > last { own } else { last };
            before = if own_before > before { own_before } else { before };
        }
        let meant = self.meant * (1.0 - self.ratio) / self.ratio;
        // Relative to a step of about the length, so that units of time change nothing.
        let half = power(step.h.abs(), p / 2);
        let rest = half * if p % 2 == 1 { step.h.abs() } else { 1.0 };
        let by_last = (meant / (last * half * rest)).powf(1.0 / p as f64);
        let before = before * self.ratio * half * (rest / step.h.abs());
        let by_before = (meant / before).powf(1.0 / (p - 1) as f64);
        Some(step.h.abs() * by_last.min(by_before))
    }

    fn foretell(&self, t: f64, h: f64, x: &mut [f64]) -> bool {
        let is_known = self.has_series && self.t == t;
        if is_known {
            self.coefficients.evaluate(h, x);
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
        let is_beside = self.beside.as_ref().is_some_and(|(t, x)| *t == step.t && x == step.x);
        if is_beside || self.expand(motion, &step).is_err() {
            self.has_series = false;
            return self.other.step(motion, step, next);
        }
        self.h = step.h;
        self.coefficients.evaluate_with_rates(step.h, next, &mut self.ends);
        let mut largest = self.estimate(step.h, step.weights);
        self.stiff = if step.looks { Some(self.look(&step)) } else { None };
        if step.looks {
            motion.rates(step.t + step.h, next, &mut self.rates)?;
            largest = largest.max(self.defect(&self.rates, step.weights));
        }
        Ok(largest)
    }

    fn prepare_dense(&mut self, motion: &mut dyn Problem) -> Result<(), FieldError> {
        if !self.has_series {
            return self.other.prepare_dense(motion);
        }
        if self.one_by_one.is_empty() {
            self.coefficients.one_by_one(&mut self.one_by_one);
        }
        Ok(())
    }

    fn interpolate(&self, theta: f64, x: &mut [f64]) {
        match self.has_series {
            true => self.coefficients.evaluate(theta * self.h, x),
            false => self.other.interpolate(theta, x),
        }
    }

    fn polynomial(&self) -> Option<Polynomial<'_>> {
        let (coefficients, terms) = (&self.one_by_one[..], self.order + 1);
        let is_ready = self.has_series && !coefficients.is_empty();
        is_ready.then_some(Polynomial { coefficients, terms, h: self.h })
    }

    fn defect(&self, rates: &[f64], weights: &[f64]) -> f64 {
        if !self.has_series {
            return 0.0;
        }
        // The rate of what is left out is so many times as large as that over the step.
        let by = self.h.abs() / (DEFECT * (self.order + 1) as f64);
        let mut largest = 0f64;
        for ((rate, found), weight) in self.ends.iter().zip(rates).zip(weights) {
            let off = (rate - found).abs();
            if !(off <= ROUNDING * rate.abs().max(found.abs())) {
                largest = largest.max(off * by * weight);
            }
        }
        largest
    }

    fn defect_inside(
        &mut self,
        motion: &mut dyn Problem,
        weights: &[f64],
        parts: u32,
    ) -> Result<f64, FieldError> {
        let mut largest = 0f64;
        for k in 1..parts {
            let theta = f64::from(k) / f64::from(parts);
            largest = largest.max(self.defect_at(motion, weights, theta)?.unwrap_or(0.0));
        }
        Ok(largest)
    }

    fn defect_at(
        &mut self,
        motion: &mut dyn Problem,
        weights: &[f64],
        theta: f64,
    ) -> Result<Option<f64>, FieldError> {
        if !self.has_series {
            return Ok(None);
        }
        // Those at the end are asked for once more.
        let [mut x, mut rates, mut ends] = std::mem::take(&mut self.inside);
        for list in [&mut x, &mut rates, &mut ends] {
            list.resize(self.ends.len(), 0.0);
        }
        self.coefficients.evaluate_with_rates(theta * self.h, &mut x, &mut ends);
        std::mem::swap(&mut self.ends, &mut ends);
        let found = motion.rates(self.t + theta * self.h, &x, &mut rates);
        let defect = found.map(|()| Some(self.defect(&rates, weights)));
        std::mem::swap(&mut self.ends, &mut ends);
        self.inside = [x, rates, ends];
        defect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_go_by_the_tolerance() {
        let orders = [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-300].map(order_of);
        assert_eq!(orders, [6, 12, 16, 20, 26, 40]);
        assert_eq!(order_of(0.9), 4);
    }
}
