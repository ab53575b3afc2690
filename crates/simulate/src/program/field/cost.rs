//! What rates and series cost, counted in operations: for the choice between methods.

use super::Field;
use dalembert_compile::Tape;

/// What a solution costs whatever its size: calls, checks, copies.
const CALL: f64 = 150.0;

impl Field {
    /// The operations of the rates at a state.
    pub fn cost_of_rates(&self) -> f64 {
        let (exprs, kept) = (&self.setting.model.exprs, &self.kept);
        let terms = Tape::lower(exprs, &kept.terms, &kept.symbols, &kept.variables);
        let (n, m) = (self.size as f64, self.equations.rows.len() as f64);
        // Γ is factored, A Γ⁻¹Aᵀ is made and factored.
        let factors = n * n * n / 6.0 + n * n * m / 2.0 + n * m * m / 2.0 + m * m * m / 6.0;
        terms.cost() + factors + (n + m) * (n + m) + CALL
    }

    /// The operations of the motion's coefficients up to an order, beside those of the rates;
    /// `None` where there are no series.
    pub fn cost_of_series(&self, order: usize) -> Option<f64> {
        let part = self.parts.expansion.as_ref()?;
        Some(part.cost(order.max(1)))
    }
}
