use crate::arena::{ExprId, Exprs}; impl Exprs { /// s
 pub fn simplify(&self, id: ExprId) -> ExprId { id } }
