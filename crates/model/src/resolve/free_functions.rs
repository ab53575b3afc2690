//! Functions of vectors and matrices whose names a model may take for its own: rotations about any
//! axis and in a row, unit vectors, small linear algebra.

use super::value::Value;
use super::*;

/// The largest matrix whose determinant is written out.
const LARGEST: usize = 6;

impl<'a> Resolver<'a, '_> {
    /// `Rzyx(a, b, c)` = `Rz(a)*Ry(b)*Rx(c)`.
    pub(super) fn rotations(
        &mut self,
        name: &str,
        values: &[Value],
        spans: &[Span],
    ) -> Eval<Value> {
        let mut product: Option<Value> = None;
        for ((axis, value), &span) in name[1..].chars().zip(values).zip(spans) {
            let angle = self.scalar_of(value, name, span)?;
            let turn = self.rotation(&format!("R{axis}"), angle);
            product = match product {
                None => Some(turn),
                Some(before) => before.matmul(&self.exprs, &turn),
            };
        }
        product.ok_or_else(|| self.already(spans.first().copied().unwrap_or_default()))
    }

    #[allow(clippy::needless_range_loop)]
    pub(super) fn free_function(
        &mut self,
        name: &str,
        values: &[Value],
        spans: &[Span],
    ) -> Eval<Value> {
        match name {
            "Raxis" => {
                let axis = self.vector_of_length(&values[0], 3, name, spans[0])?;
                let angle = self.scalar_of(&values[1], name, spans[1])?;
                self.turn_about([axis[0], axis[1], axis[2]], angle, spans[0])
            }
            "unit" => {
                let v = self.vector_of(&values[0], spans[0])?;
                let direction = self.along(&v);
                direction.map(Value::vector).ok_or(()).or_else(|()| self.no_direction(spans[0]))
            }
            "clamp" => {
                let mut x = [ExprId::ZERO; 3];
                for at in 0..3 {
                    x[at] = self.scalar_of(&values[at], name, spans[at])?;
                }
                use dalembert_expr::Function::{Max, Min};
                let above = self.exprs.call(Max, &[x[0], x[1]]);
                Ok(Value::Scalar(self.exprs.call(Min, &[above, x[2]])))
            }
            "diag" => {
                let v = self.vector_of(&values[0], spans[0])?;
                let n = v.len();
                self.spend((n * n) as u64, spans[0])?;
                let entry =
                    |k: usize| if k.is_multiple_of(n + 1) { v[k / (n + 1)] } else { ExprId::ZERO };
                Ok(Value::matrix(n, (0..n * n).map(entry).collect()))
            }
            "identity" => {
                let id = self.scalar_of(&values[0], name, spans[0])?;
                let n = self.exprs.as_number(id).and_then(|n| n.as_integer());
                let Some(n) = n.filter(|n| (1..=1000).contains(n)) else {
                    return self.fault(
                        Code::NotInteger,
                        spans[0],
                        "`identity` takes a constant, the number of rows",
                    );
                };
                let n = n as usize;
                self.spend((n * n) as u64, spans[0])?;
                let entry =
                    |k: usize| if k.is_multiple_of(n + 1) { ExprId::ONE } else { ExprId::ZERO };
                Ok(Value::matrix(n, (0..n * n).map(entry).collect()))
            }
            "det" => {
                let (n, entries) = self.square(&values[0], name, spans[0])?;
                if n > LARGEST {
                    let message =
                        format!("`det` takes matrices of up to {LARGEST} rows, and this has {n}");
                    return self.fault(Code::Shape, spans[0], message);
                }
                let columns: Vec<usize> = (0..n).collect();
                Ok(Value::Scalar(self.determinant(&entries, n, 0, &columns)))
            }
            _ => {
                let (n, entries) = self.square(&values[0], name, spans[0])?;
                self.spend((n * n) as u64, spans[0])?;
                // Column by column, each a solution; nothing is inverted.
                let mut inverse = vec![ExprId::ZERO; n * n];
                for j in 0..n {
                    let right: Vec<ExprId> =
                        (0..n).map(|i| if i == j { ExprId::ONE } else { ExprId::ZERO }).collect();
                    let column = self.exprs.solve(&entries, &right);
                    (0..n).for_each(|i| inverse[i * n + j] = column[i]);
                }
                Ok(Value::matrix(n, inverse))
            }
        }
    }

    /// A square matrix: its size and its entries.
    fn square(&mut self, value: &Value, name: &str, span: Span) -> Eval<(usize, Vec<ExprId>)> {
        match value {
            Value::Matrix { columns, data, .. } if data.len() == columns * columns => {
                Ok((*columns, data.to_vec()))
            }
            other => {
                let found = other.describe();
                let message = format!("`{name}` takes a square matrix, and this is {found}");
                self.fault(Code::Shape, span, message)
            }
        }
    }

    /// Laplace's expansion by rows.
    fn determinant(&self, entries: &[ExprId], n: usize, row: usize, columns: &[usize]) -> ExprId {
        if row == n {
            return ExprId::ONE;
        }
        let mut terms = Vec::new();
        for (at, &column) in columns.iter().enumerate() {
            let entry = entries[row * n + column];
            if entry == ExprId::ZERO {
                continue;
            }
            let rest: Vec<usize> = columns.iter().copied().filter(|&c| c != column).collect();
            let minor = self.exprs.at(self.determinant(entries, n, row + 1, &rest));
            let term = self.exprs.at(entry) * minor;
            terms.push(if at % 2 == 0 { term.id } else { (-term).id });
        }
        self.exprs.sum(&terms)
    }

    /// v/|v|, if v is not 0 as it stands.
    pub(super) fn along(&self, v: &[ExprId]) -> Option<Vec<ExprId>> {
        let square = Value::dot(&self.exprs, v, v);
        let length = self.exprs.at(square).sqrt();
        let scaled = || v.iter().map(|&e| (self.exprs.at(e) / length).id).collect();
        (square != ExprId::ZERO).then(scaled)
    }

    fn no_direction(&mut self, span: Span) -> Eval<Value> {
        self.fault(Code::DivisionByZero, span, "this vector is zero and has no direction")
    }

    /// The turn about the direction of an axis. One that moves by itself leaves the angular velocity
    /// to the derivative of the matrix.
    fn turn_about(&mut self, axis: [ExprId; 3], angle: ExprId, span: Span) -> Eval<Value> {
        let is_fixed = axis.iter().all(|&id| self.mask(id) & !role::PARAMETER == 0);
        let rate = self.rate_of(angle).filter(|_| is_fixed);
        match self.along(&axis).as_deref() {
            Some(&[x, y, z]) => Ok(Value::about(&self.exprs, &[x, y, z], angle, rate)),
            _ => self.no_direction(span),
        }
    }
}
