//! The arithmetics in which expressions are evaluated, for tapes: doubles that carry a bound on
//! their rounding errors, or series along one of the inputs.

use crate::tape::{Matrix, Register};
use crate::values::Values;
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{Function, Number, Restriction};
use std::sync::Arc;

/// The values of an arithmetic of expressions. Numbers are the doubles of the tape; a quotient is
/// a product with a reciprocal.
pub struct Through<'a, A>(pub &'a A);

impl<A: Arithmetic> Through<'_, A> {
    fn integer(&self, n: i64) -> A::Value {
        self.0.number(&Number::from(n))
    }
}

impl<A: Arithmetic> Values for Through<'_, A> {
    type Value = A::Value;
    /// The matrix row by row, and the solution.
    type Factors = (Vec<A::Value>, Vec<A::Value>);

    fn number(&self, x: f64) -> A::Value {
        match Number::from_f64(x) {
            Some(number) => self.0.number(&number),
            None => {
                // What is no number comes as the arithmetic's own 1/0, −1/0 and 0/0.
                let factor = if x.is_nan() { 0 } else { x.signum() as i64 };
                let infinite = self.0.power(&self.integer(0), &Number::from(-1));
                self.0.mul(&self.integer(factor), &infinite)
            }
        }
    }

    fn add(&self, a: &A::Value, b: &A::Value) -> A::Value {
        self.0.add(a, b)
    }

    fn sub(&self, a: &A::Value, b: &A::Value) -> A::Value {
        self.0.add(a, &self.neg(b))
    }

    fn mul(&self, a: &A::Value, b: &A::Value) -> A::Value {
        self.0.mul(a, b)
    }

    fn div(&self, a: &A::Value, b: &A::Value) -> A::Value {
        self.0.mul(a, &self.0.power(b, &Number::from(-1)))
    }

    fn neg(&self, a: &A::Value) -> A::Value {
        self.0.mul(&self.integer(-1), a)
    }

    fn fma(&self, a: &A::Value, b: &A::Value, c: &A::Value) -> A::Value {
        self.0.add(&self.0.mul(a, b), c)
    }

    fn sqrt(&self, a: &A::Value) -> A::Value {
        match Number::ratio(1, 2) {
            Some(half) => self.0.power(a, &half),
            None => self.number(f64::NAN),
        }
    }

    fn pow(&self, a: &A::Value, b: &A::Value) -> A::Value {
        self.0.pow(a, b)
    }

    fn sin_cos(&self, a: &A::Value) -> (A::Value, A::Value) {
        (self.call1(Function::Sin, a), self.call1(Function::Cos, a))
    }

    fn call1(&self, function: Function, a: &A::Value) -> A::Value {
        self.0.call(function, std::slice::from_ref(a))
    }

    fn call2(&self, function: Function, a: &A::Value, b: &A::Value) -> A::Value {
        self.0.call(function, &[a.clone(), b.clone()])
    }

    fn select(&self, c: &A::Value, a: &A::Value, b: &A::Value) -> A::Value {
        self.0.call(Function::If, &[c.clone(), a.clone(), b.clone()])
    }

    fn factors(&self, _: usize) -> Self::Factors {
        (Vec::new(), Vec::new())
    }

    fn factor(&self, factors: &mut Self::Factors, matrix: &Matrix, registers: &[A::Value]) {
        factors.0.clear();
        factors.0.resize(matrix.size * matrix.size, self.integer(0));
        for entry in &matrix.entries {
            let place = entry.row as usize * matrix.size + entry.column as usize;
            factors.0[place] = registers[entry.register as usize].clone();
        }
    }

    fn solve(&self, factors: &mut Self::Factors, right: &[Register], registers: &[A::Value]) {
        let right: Vec<A::Value> = right.iter().map(|&r| registers[r as usize].clone()).collect();
        factors.1 = self.0.solve(&factors.0, &right);
    }

    fn component(&self, factors: &Self::Factors, index: usize) -> A::Value {
        factors.1.get(index).cloned().unwrap_or_else(|| self.number(f64::NAN))
    }

    fn restricted(
        &self,
        of: &Arc<Restriction>,
        entries: &[Register],
        registers: &[A::Value],
    ) -> Vec<A::Value> {
        let arguments: Vec<A::Value> =
            entries.iter().map(|&r| registers[r as usize].clone()).collect();
        self.0.restricted(of, &arguments)
    }
}
