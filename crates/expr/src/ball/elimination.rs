//! Linear systems in balls.

use super::{BallSign, Balls, Enclose, Enclosed, Gap};

impl<E: Enclose> Balls<E> {
    /// Gaussian elimination; the pivot is the largest certainly nonzero entry.
    pub(super) fn eliminate(&self, a: &mut [E::Ball], x: &mut [E::Ball]) -> Enclosed<()> {
        let n = x.len();
        let is_zero = |ball: &E::Ball| self.0.sign(ball) == BallSign::Zero;
        for column in 0..n {
            let mut pivot: Option<usize> = None;
            let mut singular = true;
            for row in column..n {
                let here = &a[row * n + column];
                match self.0.sign(here) {
                    BallSign::Zero => {}
                    BallSign::Unclear => singular = false,
                    _ if pivot.is_none_or(|best| self.0.larger(here, &a[best * n + column])) => {
                        pivot = Some(row);
                    }
                    _ => {}
                }
            }
            let Some(pivot) = pivot else {
                return Err(if singular { Gap::Undefined } else { Gap::Undecided });
            };
            if pivot != column {
                for j in 0..n {
                    a.swap(column * n + j, pivot * n + j);
                }
                x.swap(column, pivot);
            }
            let inverse = self.0.inverse(&a[column * n + column])?;
            for row in column + 1..n {
                if is_zero(&a[row * n + column]) {
                    continue;
                }
                let factor = self.0.neg(&self.0.mul(&a[row * n + column], &inverse)?);
                for j in column + 1..n {
                    if !is_zero(&a[column * n + j]) {
                        a[row * n + j] = self
                            .0
                            .add(&a[row * n + j], &self.0.mul(&factor, &a[column * n + j])?)?;
                    }
                }
                x[row] = self.0.add(&x[row], &self.0.mul(&factor, &x[column])?)?;
            }
            // Only the inverse of the pivot is needed from here on.
            a[column * n + column] = inverse;
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                let product = self.0.mul(&a[i * n + j], &x[j])?;
                x[i] = self.sub(&x[i], &product)?;
            }
            x[i] = self.0.mul(&x[i], &a[i * n + i])?;
        }
        Ok(())
    }
}
