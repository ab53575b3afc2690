//! Doubles, one or several side by side.

use crate::calls;
use crate::lu::Lu;
use crate::tape::{Matrix, Register};
use crate::values::Values;
use dalembert_expr::{Function, Restriction};
use std::sync::Arc;

/// `N` doubles side by side, each computed as it would be alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes<const N: usize>;

impl<const N: usize> Lanes<N> {
    // Loops, all inlined: what is not inlined is not compiled for the processor's instructions
    // that the caller may use.
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

    fn restricted(
        &self,
        of: &Arc<Restriction>,
        entries: &[Register],
        registers: &[[f64; N]],
    ) -> Vec<[f64; N]> {
        let mut found = vec![[f64::NAN; N]; of.len()];
        for lane in 0..N {
            let arguments: Vec<f64> =
                entries.iter().map(|&r| registers[r as usize][lane]).collect();
            let values = of.at(&arguments);
            found.iter_mut().zip(values).for_each(|(place, value)| place[lane] = value);
        }
        found
    }
}
