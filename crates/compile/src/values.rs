//! What a tape can be run over: anything with the operations of its instructions.

use crate::tape::{Matrix, Register};
use dalembert_expr::{Function, Restriction};
use std::sync::Arc;

/// The operations of a tape's instructions.
pub trait Values {
    /// What a register holds.
    type Value: Clone;
    /// A factored matrix, with room for a solution.
    type Factors: Clone;

    /// A number of the tape.
    fn number(&self, x: f64) -> Self::Value;
    /// a + b
    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// a − b
    fn sub(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// a · b
    fn mul(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// a / b
    fn div(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// −a
    fn neg(&self, a: &Self::Value) -> Self::Value;
    /// a · b + c
    fn fma(&self, a: &Self::Value, b: &Self::Value, c: &Self::Value) -> Self::Value;
    /// √a
    fn sqrt(&self, a: &Self::Value) -> Self::Value;
    /// a to the power b
    fn pow(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// sin a and cos a
    fn sin_cos(&self, a: &Self::Value) -> (Self::Value, Self::Value);
    /// A function of one argument.
    fn call1(&self, function: Function, a: &Self::Value) -> Self::Value;
    /// A function of two arguments.
    fn call2(&self, function: Function, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// a where c is not 0, else b
    fn select(&self, c: &Self::Value, a: &Self::Value, b: &Self::Value) -> Self::Value;

    /// Room for a factored matrix with so many rows.
    fn factors(&self, size: usize) -> Self::Factors;
    /// Factors a matrix of registers.
    fn factor(&self, factors: &mut Self::Factors, matrix: &Matrix, registers: &[Self::Value]);
    /// Solves for a right side of registers; [`component`](Values::component) has the solution.
    fn solve(&self, factors: &mut Self::Factors, right: &[Register], registers: &[Self::Value]);
    /// A component of the last solution.
    fn component(&self, factors: &Self::Factors, index: usize) -> Self::Value;
    /// Functions restricted to a surface, of registers.
    fn restricted(
        &self,
        of: &Arc<Restriction>,
        entries: &[Register],
        registers: &[Self::Value],
    ) -> Vec<Self::Value>;
}
