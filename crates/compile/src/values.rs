//! What a tape can be run over: anything with these operations.
//!
//! [`Lanes`] are doubles, one or several side by side. [`Through`] runs a tape over any
//! arithmetic that expressions can be evaluated in: doubles that carry a bound on their rounding
//! errors, say.

use crate::calls;
use crate::lu::Lu;
use crate::tape::{Matrix, Register};
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{Function, Number};

/// The operations of a tape's instructions.
pub trait Values {
    /// What a register holds.
    type Value: Clone;
    /// A factored matrix, with room for a solution.
    type Factors;

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
}

/// `N` doubles side by side, each computed as it would be alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes<const N: usize>;

impl<const N: usize> Lanes<N> {
    // Loops rather than closures: a closure would not inherit the instructions of the processor
    // that its caller may use.
    #[inline(always)]
    fn each1(a: &[f64; N], f: impl Fn(f64) -> f64) -> [f64; N] {
        let mut y = *a;
        for lane in 0..N {
            y[lane] = f(a[lane]);
        }
        y
    }

    #[inline(always)]
    fn each2(a: &[f64; N], b: &[f64; N], f: impl Fn(f64, f64) -> f64) -> [f64; N] {
        let mut y = *a;
        for lane in 0..N {
            y[lane] = f(a[lane], b[lane]);
        }
        y
    }
}

impl<const N: usize> Values for Lanes<N> {
    type Value = [f64; N];
    type Factors = [Lu; N];

    #[inline(always)]
    fn number(&self, x: f64) -> [f64; N] {
        [x; N]
    }

    #[inline(always)]
    fn add(&self, a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        Self::each2(
            a,
            b,
            #[inline(always)]
            |a, b| a + b,
        )
    }

    #[inline(always)]
    fn sub(&self, a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        Self::each2(
            a,
            b,
            #[inline(always)]
            |a, b| a - b,
        )
    }

    #[inline(always)]
    fn mul(&self, a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        Self::each2(
            a,
            b,
            #[inline(always)]
            |a, b| a * b,
        )
    }

    #[inline(always)]
    fn div(&self, a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        Self::each2(
            a,
            b,
            #[inline(always)]
            |a, b| a / b,
        )
    }

    #[inline(always)]
    fn neg(&self, a: &[f64; N]) -> [f64; N] {
        Self::each1(
            a,
            #[inline(always)]
            |a| -a,
        )
    }

    #[inline(always)]
    fn fma(&self, a: &[f64; N], b: &[f64; N], c: &[f64; N]) -> [f64; N] {
        let mut y = *c;
        for lane in 0..N {
            y[lane] = a[lane].mul_add(b[lane], c[lane]);
        }
        y
    }

    #[inline(always)]
    fn sqrt(&self, a: &[f64; N]) -> [f64; N] {
        Self::each1(
            a,
            #[inline(always)]
            |a| a.sqrt(),
        )
    }

    #[inline(always)]
    fn pow(&self, a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        Self::each2(a, b, f64::powf)
    }

    #[inline(always)]
    fn sin_cos(&self, a: &[f64; N]) -> ([f64; N], [f64; N]) {
        let both = a.map(f64::sin_cos);
        (both.map(|x| x.0), both.map(|x| x.1))
    }

    #[inline(always)]
    fn call1(&self, function: Function, a: &[f64; N]) -> [f64; N] {
        Self::each1(a, calls::one(function))
    }

    #[inline(always)]
    fn call2(&self, function: Function, a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        Self::each2(a, b, calls::two(function))
    }

    #[inline(always)]
    fn select(&self, c: &[f64; N], a: &[f64; N], b: &[f64; N]) -> [f64; N] {
        let mut y = *c;
        for lane in 0..N {
            y[lane] = match c[lane] {
                x if x.is_nan() => f64::NAN,
                x if x != 0.0 => a[lane],
                _ => b[lane],
            };
        }
        y
    }

    fn factors(&self, size: usize) -> [Lu; N] {
        std::array::from_fn(|_| Lu::new(size))
    }

    // Pivots differ from lane to lane, so each lane is factored by itself.
    fn factor(&self, factors: &mut [Lu; N], matrix: &Matrix, registers: &[[f64; N]]) {
        for (lane, lu) in factors.iter_mut().enumerate() {
            lu.factor(matrix, |r| registers[r as usize][lane]);
        }
    }

    fn solve(&self, factors: &mut [Lu; N], right: &[Register], registers: &[[f64; N]]) {
        for (lane, lu) in factors.iter_mut().enumerate() {
            lu.solve(|i| registers[right[i] as usize][lane]);
        }
    }

    fn component(&self, factors: &[Lu; N], index: usize) -> [f64; N] {
        std::array::from_fn(|lane| factors[lane].solution[index])
    }
}

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
}
