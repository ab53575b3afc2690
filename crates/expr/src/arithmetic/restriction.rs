//! Functions restricted to one surface, taken out of their arena.

use super::{Arithmetic, Formula};
use crate::number::Number;
use std::sync::Arc;

/// Functions restricted to one surface, without an arena.
#[derive(Debug)]
pub struct Restriction {
    pub(crate) arguments: usize,
    pub(crate) units: Vec<f64>,
    pub(crate) has_conditions: bool,
    pub(crate) bits: usize,
    /// (J U² Jᵀ)⁻¹ φ times Jᵀ: the step in units of U².
    pub(crate) way: Arc<Formula>,
    pub(crate) constants: Formula,
    pub(crate) shift: i64,
    pub(crate) values: Formula,
    pub(crate) functions: Vec<u32>,
}

impl PartialEq for Restriction {
    fn eq(&self, other: &Restriction) -> bool {
        self.functions == other.functions && self.arguments == other.arguments
    }
}

impl Restriction {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// How many arguments there are.
    pub fn arguments(&self) -> usize {
        self.arguments
    }

    /// The values as if the arguments lay on the surface.
    pub(crate) fn plain<A: Arithmetic>(&self, arithmetic: &A, x: &[A::Value]) -> Vec<A::Value> {
        let mut x = x.to_vec();
        x.extend(self.constants.run(arithmetic, &[]));
        self.scaled(arithmetic, self.values.run(arithmetic, &x))
    }

    /// Values times 2 to the power that is asked for.
    pub(crate) fn scaled<A: Arithmetic>(
        &self,
        arithmetic: &A,
        mut values: Vec<A::Value>,
    ) -> Vec<A::Value> {
        // In two steps: the power alone may be too large.
        for part in [self.shift / 2, self.shift - self.shift / 2] {
            let two = arithmetic.number(&Number::integer(2));
            let factor = arithmetic.power(&two, &Number::integer(part));
            values.iter_mut().for_each(|value| *value = arithmetic.mul(value, &factor));
        }
        values
    }
}
