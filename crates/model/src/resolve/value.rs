//! Values of expressions.

pub(crate) use crate::tensor::{Tensor as Value, describe};
