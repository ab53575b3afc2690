//! The noise of the rows, as far as it comes from the state; see [`crate::noise::state`].

use super::Driver;
use crate::noise::state::{TRIES, beside, spread, units, widen, widen_rows};
use crate::program::field::FieldError;

impl Driver {
    /// Evaluates the rounding noise of the terms anew.
    pub(super) fn refresh_noise(&mut self, x: &[f64]) -> Result<(), FieldError> {
        self.field.refresh_noise(self.t, x)?;
        self.rounding = self.field.noise().clone();
        Ok(())
    }

    /// Takes into account that the state is not known to its last digits. Where all rows
    /// are independent by far it makes no difference, and is not done.
    pub(super) fn blur(&mut self, x: &[f64]) -> Result<(), FieldError> {
        let rank = self.expected.map_or(0, |e| e.0);
        if rank == self.field.equations.rows.len() {
            return Ok(());
        }
        let t = self.t;
        let [mut jacobian, mut bias, mut position_jacobian] = {
            let noise = &self.rounding;
            [&noise.jacobian, &noise.bias, &noise.position_jacobian].map(Vec::clone)
        };
        let inertia = self.field.noise().inertia.clone();
        let rows = self.field.matrices(t, x)?.1.to_vec();
        let own = units(|i| self.field.last_mass(i), &inertia, inertia.len());
        let pattern = self.field.patterns().map(|of| of.jacobian.clone());
        let of_positions = self.field.position_matrices().0.pattern().cloned();
        let right = self.field.bias().to_vec();
        let (n, size) = (self.field.n, self.field.size);
        let mut parts = vec![0.0; right.len()];
        let (mut here, mut there) = (Vec::new(), Vec::new());
        self.field.residuals(t, x)?;
        self.field.position_jacobian(&mut here);
        let count = self.field.position_count();
        let mass = |i: usize| self.field.mass_of(i).unwrap_or(0.0);
        let positions = match count == 0 {
            true => Vec::new(),
            false => units(mass, &self.field.noise().mass_inertia, n),
        };
        let mut position_parts = vec![0.0; count];
        for number in 0..TRIES {
            let x = beside(x, &self.field.noise().extents, number);
            // Where there are no values beside the state, nothing is known of its noise.
            let Ok((_, moved)) = self.field.matrices(t, &x) else { continue };
            widen_rows(&mut parts, &own, &rows, moved, pattern.as_ref());
            widen(&mut bias, &right, self.field.bias());
            if self.field.residuals(t, &x).is_ok() {
                self.field.position_jacobian(&mut there);
                let pattern = of_positions.as_ref();
                widen_rows(&mut position_parts, &positions, &here, &there, pattern);
            }
        }
        spread(&mut jacobian, size, &rows, &parts, pattern.as_ref());
        let pattern = of_positions.as_ref();
        spread(&mut position_jacobian, n, &here, &position_parts, pattern);
        let noise = self.field.noise_mut();
        (noise.jacobian, noise.bias) = (jacobian, bias);
        noise.position_jacobian = position_jacobian;
        Ok(())
    }
}
