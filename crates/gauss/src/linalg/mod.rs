//! Small dense kernels on row-major slices.
//!
//! A matrix with `rows` rows and `cols` columns is a slice of length `rows * cols`; entry (i, j)
//! is `a[i * cols + j]`. Kernels work in place and take their scratch from the caller, so a hot
//! loop allocates nothing once its vectors have grown. They are meant for the sizes of mechanics
//! (a few to a few dozen coordinates); none is blocked or threaded.
//!
//! No kernel panics on a numeric value. NaN and infinity travel through to the result, where the
//! caller looks for them once.

pub mod cholesky;
pub mod complex;
pub mod ldl;
pub mod lq;
pub mod lu;
pub mod orthonormal;
pub mod qr;
pub mod svd;

/// Inner product of two vectors; the shorter length counts.
#[inline(always)]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    if n < 4 {
        // Nothing is added to the first: a sum that begins with 0 has to wait for it.
        return match n {
            0 => 0.0,
            1 => x[0] * y[0],
            2 => x[0] * y[0] + x[1] * y[1],
            _ => x[0] * y[0] + x[1] * y[1] + x[2] * y[2],
        };
    }
    // Four sums at once: one would wait for each of its additions.
    let (mut fours, mut rest) = ([0.0; 4], 0.0);
    let (chunks_x, chunks_y) = (x.chunks_exact(4), y.chunks_exact(4));
    for (a, b) in chunks_x.remainder().iter().zip(chunks_y.remainder()) {
        rest += a * b;
    }
    for (a, b) in chunks_x.zip(chunks_y) {
        for k in 0..4 {
            fours[k] += a[k] * b[k];
        }
    }
    (fours[0] + fours[2]) + (fours[1] + fours[3]) + rest
}

/// Largest absolute entry, zero for an empty vector. NaN entries are passed over.
#[inline(always)]
pub fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// Euclidean norm, safe against overflow and underflow of the squares.
#[inline(always)]
pub fn norm(x: &[f64]) -> f64 {
    let plain = dot(x, x);
    if (1e-280..1e280).contains(&plain) {
        return plain.sqrt();
    }
    let big = largest(x);
    if big == 0.0 || !big.is_finite() {
        // NaN entries are passed over by `largest`; the plain sum still shows them.
        return if plain.is_nan() { f64::NAN } else { big };
    }
    big * x.iter().map(|v| (v / big) * (v / big)).sum::<f64>().sqrt()
}

/// y = A x for a row-major A with `cols` columns; the number of rows is the length of y.
#[inline(always)]
pub fn multiply(a: &[f64], cols: usize, x: &[f64], y: &mut [f64]) {
    for i in 0..y.len() {
        y[i] = dot(&a[i * cols..(i + 1) * cols], x);
    }
}

/// y = Aᵀ x for a row-major A with `cols` columns; the number of rows is the length of x.
pub fn multiply_transposed(a: &[f64], cols: usize, x: &[f64], y: &mut [f64]) {
    y.fill(0.0);
    for (i, x) in x.iter().enumerate() {
        for (y, a) in y.iter_mut().zip(&a[i * cols..(i + 1) * cols]) {
            *y += a * x;
        }
    }
}

/// Sets the length of a vector that is going to be filled, keeping its storage.
#[inline]
pub fn sized(v: &mut Vec<f64>, len: usize) {
    if v.len() != len {
        v.resize(len, 0.0);
    }
}

/// Sets a vector to `len` zeros, keeping its storage.
pub fn zeros(v: &mut Vec<f64>, len: usize) {
    v.clear();
    v.resize(len, 0.0);
}

/// The power of two nearest to 2^x on a logarithmic scale. Multiplication by it is exact. The
/// exponent is kept within ±480 so that the product of two such factors is still a number.
pub fn power_of_two(x: f64) -> f64 {
    // A cast of NaN gives zero, hence the factor one.
    let exponent = x.round().clamp(-480.0, 480.0) as i64;
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_neither_overflows_nor_underflows() {
        assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
        assert_eq!(norm(&[]), 0.0);
        assert!(norm(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn powers_of_two_are_exact() {
        assert_eq!(power_of_two(3.4), 8.0);
        assert_eq!(power_of_two(-1.2), 0.5);
        assert_eq!(power_of_two(f64::NAN), 1.0);
        assert!(power_of_two(1e9).is_finite() && power_of_two(-1e9) > 0.0);
    }
}
