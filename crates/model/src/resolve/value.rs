//! Values of expressions: scalars, vectors, matrices, and what may be done
//! with them.

use dalembert_expr::{ExprId, Exprs};
use std::rc::Rc;

/// What an expression evaluates to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar(ExprId),
    Vector(Rc<[ExprId]>),
    /// Row by row.
    Matrix {
        columns: usize,
        data: Rc<[ExprId]>,
    },
}

/// Vectors and matrices are told apart by shape: [], [n] or [rows, columns].
pub(crate) type Shape = Vec<usize>;

impl Value {
    pub fn vector(data: Vec<ExprId>) -> Value {
        Value::Vector(data.into())
    }

    pub fn matrix(columns: usize, data: Vec<ExprId>) -> Value {
        Value::Matrix { columns, data: data.into() }
    }

    pub fn shape(&self) -> Shape {
        match self {
            Value::Scalar(_) => vec![],
            Value::Vector(data) => vec![data.len()],
            Value::Matrix { columns, data } => vec![data.len() / columns.max(&1), *columns],
        }
    }

    pub fn with_shape(shape: &[usize], data: Vec<ExprId>) -> Value {
        match shape {
            [] => Value::Scalar(data.first().copied().unwrap_or(ExprId::ZERO)),
            [_] => Value::vector(data),
            [_, columns, ..] => Value::matrix(*columns, data),
        }
    }

    pub fn components(&self) -> &[ExprId] {
        match self {
            Value::Scalar(id) => std::slice::from_ref(id),
            Value::Vector(data) => data,
            Value::Matrix { data, .. } => data,
        }
    }

    pub fn scalar(&self) -> Option<ExprId> {
        match self {
            Value::Scalar(id) => Some(*id),
            _ => None,
        }
    }

    /// The shape in words: "a scalar", "a vector of 3", "a 3×2 matrix".
    pub fn describe(&self) -> String {
        describe(&self.shape())
    }

    pub fn map(&self, mut f: impl FnMut(ExprId) -> ExprId) -> Value {
        let data = self.components().iter().map(|&e| f(e)).collect();
        Value::with_shape(&self.shape(), data)
    }

    /// Σ signs·values of equal shapes.
    pub fn sum(exprs: &Exprs, terms: &[Value]) -> Value {
        let shape = terms[0].shape();
        let count = terms[0].components().len();
        let data = (0..count)
            .map(|at| {
                let parts: Vec<ExprId> = terms.iter().map(|t| t.components()[at]).collect();
                exprs.sum(&parts)
            })
            .collect();
        Value::with_shape(&shape, data)
    }

    pub fn scale(&self, exprs: &Exprs, factor: ExprId) -> Value {
        self.map(|e| (exprs.at(factor) * exprs.at(e)).id)
    }

    pub fn neg(&self, exprs: &Exprs) -> Value {
        self.map(|e| (-exprs.at(e)).id)
    }

    pub fn dot(exprs: &Exprs, a: &[ExprId], b: &[ExprId]) -> ExprId {
        let terms: Vec<ExprId> =
            a.iter().zip(b).map(|(&x, &y)| (exprs.at(x) * exprs.at(y)).id).collect();
        exprs.sum(&terms)
    }

    /// Matrix × matrix or matrix × vector; shapes must fit.
    pub fn matmul(&self, exprs: &Exprs, other: &Value) -> Option<Value> {
        let Value::Matrix { columns, data } = self else { return None };
        let rows: Vec<&[ExprId]> = data.chunks(*columns).collect();
        match other {
            Value::Vector(v) if v.len() == *columns => {
                Some(Value::vector(rows.iter().map(|row| Value::dot(exprs, row, v)).collect()))
            }
            Value::Matrix { columns: inner, data: right } if right.len() == columns * inner => {
                let mut out = Vec::with_capacity(rows.len() * inner);
                for row in &rows {
                    for j in 0..*inner {
                        let column: Vec<ExprId> =
                            right.iter().skip(j).step_by(*inner).copied().collect();
                        out.push(Value::dot(exprs, row, &column));
                    }
                }
                Some(Value::matrix(*inner, out))
            }
            _ => None,
        }
    }
}

pub(crate) fn describe(shape: &[usize]) -> String {
    match shape {
        [] => "a scalar".into(),
        [n] => format!("a vector of {n}"),
        [r, c, ..] => format!("a {r}×{c} matrix"),
    }
}
