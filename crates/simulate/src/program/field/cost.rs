//! What rates and series cost, counted in operations, and what series tell: for the choice between
//! methods.

use super::Field;
use dalembert_compile::Tape;

/// What a solution costs whatever its size: calls, checks, copies.
const CALL: f64 = 150.0;

/// A degree below which there are no narrow pulses: cos²⁴ is as wide as a fifth of a radian.
pub(super) const LOW: u32 = 24;

impl Field {
    /// The operations of the rates at a state.
    pub fn cost_of_rates(&self) -> f64 {
        let (exprs, kept) = (&self.setting.model.exprs, &self.kept);
        let terms = Tape::lower(exprs, &kept.terms, &kept.symbols, &kept.variables);
        let (n, m) = (self.size as f64, self.equations.rows.len() as f64);
        // Γ is factored, A Γ⁻¹Aᵀ is made and factored.
        let factors = n * n * n / 6.0 + n * n * m / 2.0 + n * m * m / 2.0 + m * m * m / 6.0;
        // Along a tree: some operations for each entry of an inertia, of each link.
        let factors = match &self.equations.bodies {
            Some(bodies) => 200.0 * bodies.links.len() as f64 * (1.0 + m),
            None => factors,
        };
        terms.cost() + factors + (n + m) * (n + m) + CALL
    }

    /// Whether steps by series cannot go over anything unseen: the terms are of a low degree, without
    /// exponentials and branches ([`Tape::degree`]), and nothing is searched for beside them.
    pub(crate) fn shows_from_afar(&self) -> bool {
        let (exprs, kept) = (&self.setting.model.exprs, &self.kept);
        let is_plain = self.coupling.is_none()
            && self.auxiliary.is_none()
            && self.switchboard.function.is_none()
            && self.equations.chart.is_none();
        let terms = || Tape::lower(exprs, &kept.terms, &kept.symbols, &kept.variables);
        is_plain && terms().degree().is_some_and(|degree| degree <= LOW)
    }

    /// The operations of the motion's coefficients up to an order, beside those of the rates;
    /// `None` where there are no series.
    pub fn cost_of_series(&self, order: usize) -> Option<f64> {
        let part = self.parts.expansion.as_ref()?;
        Some(part.cost(order.max(1)))
    }
}
