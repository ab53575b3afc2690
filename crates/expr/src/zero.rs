use crate::arena::{ExprId, Exprs};
/// s
pub enum Zero { /// s
 Unknown }
/// s
pub struct ZeroTest;
impl Zero { /// s
 pub fn is_zero(&self) -> bool { false } }
impl Exprs { /// s
 pub fn is_zero(&self, _id: ExprId) -> Zero { Zero::Unknown } }
