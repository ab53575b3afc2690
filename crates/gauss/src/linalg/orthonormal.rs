//! Orthonormal bases, one vector after another (Gram and Schmidt, repeated).
//!
//! ```text
//! v ← v − Σ q (q·v) ,   once more where most of v was along the basis
//! ```
//!
//! What is left of a vector in the span of others is rounding, and is orthogonal to nothing: whoever
//! asks says below which part of its length a vector has nothing of its own.

use super::{dot, norm};

/// So often what is along a basis is taken out.
const MOST: usize = 3;
/// What kept this part of its length is orthogonal to rounding.
const KEPT: f64 = 0.5;

/// Takes out of a vector what is along an orthonormal basis; the length of what is left.
pub fn reject(v: &mut [f64], basis: &[Vec<f64>]) -> f64 {
    let mut length = norm(v);
    for _ in 0..MOST {
        for q in basis {
            let along = dot(v, q);
            v.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
        }
        let left = norm(v);
        let is_done = left >= KEPT * length || left == 0.0;
        length = left;
        if is_done {
            break;
        }
    }
    length
}

/// Adds what a vector has beside a basis to it, if that is more than a part of its length; whether it
/// is.
pub fn extend(basis: &mut Vec<Vec<f64>>, vector: &[f64], part: f64) -> bool {
    let (whole, mut v) = (norm(vector), vector.to_vec());
    let left = reject(&mut v, basis);
    let is_new = left > part * whole;
    if is_new {
        v.iter_mut().for_each(|x| *x /= left);
        basis.push(v);
    }
    is_new
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors that hardly differ still give a basis that is orthonormal to rounding, and one in the span
    /// of others gives nothing.
    #[test]
    fn a_basis_is_orthonormal() {
        let e = 1e-7;
        let vectors = [[1.0, e, 0.0, 0.0], [1.0, 0.0, e, 0.0], [1.0, 0.0, 0.0, e]];
        let mut basis = Vec::new();
        assert!(vectors.iter().all(|v| extend(&mut basis, v, 1e-9)));
        for (i, a) in basis.iter().enumerate() {
            for (j, b) in basis.iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(a, b) - expected).abs() < 1e-15, "{i} {j} {}", dot(a, b));
            }
        }
        let sum: Vec<f64> = (0..4).map(|k| vectors[0][k] - 3.0 * vectors[2][k]).collect();
        assert!(!extend(&mut basis, &sum, 1e-7));
        assert_eq!(basis.len(), 3);
    }
}
