//! Sobol's points: each power of two of them, from the first on, lies evenly along every axis.
//!
//! Direction numbers: S. Joe and F. Y. Kuo, *Constructing Sobol sequences with better
//! two-dimensional projections*, SIAM J. Sci. Comput. 30 (2008), their set D(6). The seed shifts
//! all points by a random word (a digital shift, by exclusive or), which keeps what makes them
//! even; points are computed from their number, not from the one before.

use super::{inside, mixed};

/// The degree, the coefficients and the first direction numbers of each axis after the first.
const AXIS: [(u32, u32, &[u64]); 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// As many as there are numbers for.
pub(super) const AXES: usize = AXIS.len() + 1;

pub(super) fn place(case: u64, axis: usize, seed: u64) -> f64 {
    let shift = mixed(mixed(seed ^ 0x736f_626f_6c00_0000).wrapping_add(axis as u64));
    inside(point(case, axis) ^ shift)
}

/// The binary digits of a coordinate, the first of them highest.
fn point(case: u64, axis: usize) -> u64 {
    // Gray's code of the number: the same points, of which each power of two is a block.
    let mut gray = case ^ (case >> 1);
    let mut word = 0;
    let mut bit = 0;
    let directions = directions(axis);
    while gray != 0 {
        if gray & 1 == 1 {
            word ^= directions[bit];
        }
        gray >>= 1;
        bit += 1;
    }
    word
}

fn directions(axis: usize) -> [u64; 64] {
    let mut v = [0u64; 64];
    let Some(&(degree, coefficients, first)) = axis.checked_sub(1).and_then(|a| AXIS.get(a)) else {
        v.iter_mut().enumerate().for_each(|(k, v)| *v = 1 << (63 - k));
        return v;
    };
    let s = degree as usize;
    for k in 0..64 {
        v[k] = match first.get(k) {
            Some(m) => m << (63 - k),
            None => {
                let mut word = v[k - s] ^ (v[k - s] >> s);
                for j in 1..s {
                    if coefficients >> (s - 1 - j) & 1 == 1 {
                        word ^= v[k - j];
                    }
                }
                word
            }
        };
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each power of two of points has one in every cell of an axis, and in every cell of as many
    /// that two neighbouring axes of the first ones have together.
    #[test]
    fn points_are_even() {
        for axis in 0..AXES {
            for seed in [0, 7] {
                let mut seen = vec![false; 256];
                for case in 0..256 {
                    seen[(place(case, axis, seed) * 256.0) as usize] = true;
                }
                assert!(seen.iter().all(|x| *x), "axis {axis}");
            }
        }
        let mut seen = vec![false; 256];
        for case in 0..256 {
            let (x, y) = (place(case, 0, 3), place(case, 1, 3));
            seen[(x * 16.0) as usize * 16 + (y * 16.0) as usize] = true;
        }
        assert!(seen.iter().all(|x| *x));
    }

    /// The first points without a shift, as any implementation has them.
    #[test]
    fn points_are_those_of_sobol() {
        let first = |axis: usize| -> Vec<f64> {
            (0..8).map(|k| point(k, axis) as f64 / 2f64.powi(64)).collect()
        };
        assert_eq!(first(0), [0.0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125]);
        assert_eq!(first(1), [0.0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625]);
        assert_eq!(first(2), [0.0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375]);
        // In 256ths, by another implementation (SciPy's).
        let later = [
            181, 227, 233, 23, 81, 15, 135, 121, 213, 31, 127, 23, 207, 23, 153, 49, 35, 89, 63,
            173, 221,
        ];
        let found: Vec<u64> = (0..AXES).map(|axis| point(201, axis) >> 56).collect();
        assert_eq!(found, later);
    }
}
