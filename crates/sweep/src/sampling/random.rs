//! Random places, each from the numbers of its case and axis alone: a generator that counts
//! instead of remembering, so that any case can be computed without those before it.

use super::{inside, mixed};

/// No bound.
pub(super) const AXES: usize = usize::MAX;

/// What the golden ratio leaves: steps that visit all words in an even order.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

pub(super) fn place(case: u64, axis: usize, seed: u64) -> f64 {
    let stream = mixed(seed ^ mixed((axis as u64).wrapping_add(1).wrapping_mul(GOLDEN)));
    inside(mixed(stream.wrapping_add(case.wrapping_add(1).wrapping_mul(GOLDEN))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means, deviations and correlations of what should be even and independent.
    #[test]
    fn places_are_even_and_independent() {
        let count = 100_000u64;
        for seed in [0, 1, 99] {
            let rows: Vec<[f64; 3]> =
                (0..count).map(|k| [0, 1, 2].map(|axis| place(k, axis, seed) - 0.5)).collect();
            for i in 0..3 {
                let mean = rows.iter().map(|r| r[i]).sum::<f64>() / count as f64;
                assert!(mean.abs() < 5.0 * (1.0 / 12.0f64 / count as f64).sqrt(), "{mean}");
                for j in 0..=i {
                    let moment = rows.iter().map(|r| r[i] * r[j]).sum::<f64>() / count as f64;
                    let right = if i == j { 1.0 / 12.0 } else { 0.0 };
                    assert!(
                        (moment - right).abs() < 5.0 / 12.0 / (count as f64).sqrt(),
                        "{moment}"
                    );
                }
                // Neighbours do not know of each other.
                let next = rows.windows(2).map(|w| w[0][i] * w[1][i]).sum::<f64>() / count as f64;
                assert!(next.abs() < 5.0 / 12.0 / (count as f64).sqrt(), "{next}");
            }
        }
        assert_ne!(place(0, 0, 1), place(0, 0, 2));
    }
}
