//! What an evaluation needs to know of its numbers.

mod formula;
mod restriction;

pub(crate) use formula::{Formula, Recorder};
pub use restriction::Restriction;

use crate::function::Function;
use crate::number::Number;
use std::sync::Arc;

/// The operations of expressions. An evaluation has the arena to itself: none of these may
/// use it.
pub trait Arithmetic {
    /// A number of this kind.
    type Value: Clone;
    /// An exact number.
    fn number(&self, number: &Number) -> Self::Value;
    /// π.
    fn pi(&self) -> Self::Value;
    /// a + b
    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// a · b
    fn mul(&self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// base ^ exponent for an exact rational exponent.
    fn power(&self, base: &Self::Value, exponent: &Number) -> Self::Value;
    /// base ^ exponent
    fn pow(&self, base: &Self::Value, exponent: &Self::Value) -> Self::Value;
    /// A function of its arguments.
    fn call(&self, function: Function, arguments: &[Self::Value]) -> Self::Value;
    /// K⁻¹ r, `k` row by row.
    fn solve(&self, k: &[Self::Value], r: &[Self::Value]) -> Vec<Self::Value>;
    /// Functions restricted to a surface. Where there is no distance from a surface, they are
    /// the functions themselves.
    fn restricted(&self, of: &Arc<Restriction>, arguments: &[Self::Value]) -> Vec<Self::Value>
    where
        Self: Sized,
    {
        of.plain(self, arguments)
    }
}
