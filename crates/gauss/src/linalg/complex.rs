//! Gaussian elimination in complex numbers: Π A = L U with partial pivoting, like
//! [`super::lu`]. Real and imaginary parts lie in pairs.

/// A complex number.
pub type Complex = (f64, f64);

#[inline(always)]
pub(crate) fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

pub(crate) fn over(a: Complex, b: Complex) -> Complex {
    // Smith's division: no square of a large or small number.
    if b.0.abs() >= b.1.abs() {
        let (ratio, size) = (b.1 / b.0, b.0 + b.1 * (b.1 / b.0));
        ((a.0 + a.1 * ratio) / size, (a.1 - a.0 * ratio) / size)
    } else {
        let (ratio, size) = (b.0 / b.1, b.1 + b.0 * (b.0 / b.1));
        ((a.0 * ratio + a.1) / size, (a.1 * ratio - a.0) / size)
    }
}

#[inline(always)]
pub(crate) fn size(a: Complex) -> f64 {
    a.0.abs() + a.1.abs()
}

/// Factors in place; `order` receives the row permutation. Returns false if a pivot is
/// zero or not a number, in which case the factors must not be used.
pub fn factor(a: &mut [Complex], n: usize, order: &mut [usize]) -> bool {
    for (i, slot) in order.iter_mut().enumerate().take(n) {
        *slot = i;
    }
    for k in 0..n {
        let mut best = k;
        for i in k + 1..n {
            if size(a[i * n + k]) > size(a[best * n + k]) {
                best = i;
            }
        }
        if best != k {
            order.swap(best, k);
            for j in 0..n {
                a.swap(best * n + j, k * n + j);
            }
        }
        let pivot = a[k * n + k];
        if !(size(pivot) > 0.0) || !size(pivot).is_finite() {
            return false;
        }
        for i in k + 1..n {
            if a[i * n + k] == (0.0, 0.0) {
                continue;
            }
            let l = over(a[i * n + k], pivot);
            a[i * n + k] = l;
            for j in k + 1..n {
                let part = times(l, a[k * n + j]);
                a[i * n + j].0 -= part.0;
                a[i * n + j].1 -= part.1;
            }
        }
    }
    true
}

/// Solves A x = b in place with a factored matrix; `work` needs `n` entries.
pub fn solve(a: &[Complex], n: usize, order: &[usize], x: &mut [Complex], work: &mut [Complex]) {
    for (i, &from) in order.iter().enumerate().take(n) {
        let mut sum = x[from];
        for j in 0..i {
            let part = times(a[i * n + j], work[j]);
            sum = (sum.0 - part.0, sum.1 - part.1);
        }
        work[i] = sum;
    }
    for i in (0..n).rev() {
        let mut sum = work[i];
        for j in i + 1..n {
            let part = times(a[i * n + j], x[j]);
            sum = (sum.0 - part.0, sum.1 - part.1);
        }
        x[i] = over(sum, a[i * n + i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let a = [
            (0.0, 1.0),
            (2.0, 0.0),
            (1.0, -1.0),
            (3.0, 0.0),
            (0.0, 0.0),
            (1.0, 1.0),
            (0.0, 2.0),
            (1.0, 0.0),
            (4.0, 0.0),
        ];
        let x = [(1.0, 2.0), (-1.0, 0.5), (0.0, -3.0)];
        let mut b = [(0.0, 0.0); 3];
        for i in 0..3 {
            for j in 0..3 {
                let part = times(a[i * 3 + j], x[j]);
                b[i] = (b[i].0 + part.0, b[i].1 + part.1);
            }
        }
        let (mut lu, mut order, mut work) = (a, [0; 3], [(0.0, 0.0); 3]);
        assert!(factor(&mut lu, 3, &mut order));
        solve(&lu, 3, &order, &mut b, &mut work);
        for (found, wanted) in b.iter().zip(&x) {
            assert!(size((found.0 - wanted.0, found.1 - wanted.1)) < 1e-14, "{b:?}");
        }
        assert!(!factor(&mut [(0.0, 0.0); 4], 2, &mut [0; 2]));
    }
}
