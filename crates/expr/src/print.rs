use crate::arena::{ExprId, Exprs};
impl Exprs {
    /// s
    pub fn to_source(&self, id: ExprId) -> String { format!("#{}", id.0) }
    /// s
    pub fn to_text(&self, id: ExprId) -> String { format!("#{}", id.0) }
}
