//! How long steps may be, by the last terms of their series: as [`taylor`] has it, with logarithms
//! that are only as good as a length of a step needs, and the same in every lane.
//!
//! [`taylor`]: crate::integrators::taylor

/// The bits of an exponent.
const EXPONENT: u32 = 52;
const ONE: u64 = 1023 << EXPONENT;
const LARGE: f64 = (1u64 << EXPONENT) as f64;

/// log₂ x to 1e-4, of a number that is not subnormal.
#[inline(always)]
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    // The exponent as the last bits of a large number.
    let exponent = f64::from_bits(bits >> EXPONENT | LARGE.to_bits()) - (LARGE + 1023.0);
    let m = f64::from_bits(bits & ((1 << EXPONENT) - 1) | ONE);
    // (m − 1)/(m + 1), odd powers.
    let z = (m - 1.0) / (m + 1.0);
    let zz = z * z;
    const LN2: f64 = std::f64::consts::LN_2;
    exponent + z * (2.0 / LN2) * (1.0 + zz * (1.0 / 3.0 + zz * (0.2 + zz * (1.0 / 7.0))))
}

/// 2ˣ to 1e-4, of a number within a thousand.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Added to this a number has its whole part in the last bits.
    const SHIFT: f64 = 1.5 * (1u64 << EXPONENT) as f64;
    let shifted = x + SHIFT;
    let y = (x - (shifted - SHIFT)) * std::f64::consts::LN_2;
    let series = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y / 120.0))));
    let exponent = shifted.to_bits().wrapping_add(1023) << EXPONENT;
    f64::from_bits(exponent) * series
}

/// The steps in which the last terms and those before are as large as is meant of each. Lists, so
/// that it is a loop, which is compiled to vectors.
#[inline(always)]
pub(super) fn suited(
    (last, meant_last): (&[f64], f64),
    (before, meant_before): (&[f64], f64),
    order: usize,
    into: &mut [f64],
) {
    let p = order as f64;
    let (by_last, by_before) = (1.0 / p, 1.0 / (p - 1.0));
    for ((h, last), before) in into.iter_mut().zip(last).zip(before) {
        let a = within(meant_last / within(*last));
        let b = within(meant_before / within(*before));
        let (a, b) = (log2(a) * by_last, log2(b) * by_before);
        *h = exp2(if a < b { a } else { b });
    }
}

/// Neither too small nor too large for a logarithm; small where it is no number.
#[inline(always)]
fn within(x: f64) -> f64 {
    let x = if x > 1e-290 { x } else { 1e-290 };
    if x < 1e290 { x } else { 1e290 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_good_enough() {
        for exponent in -250..250 {
            for part in [1.0, 1.3, 1.7, 1.99] {
                let x = part * 10f64.powi(exponent);
                assert!((log2(x) - x.log2()).abs() < 2e-4, "{x}");
                let small = 0.37 * f64::from(exponent) + part;
                assert!((exp2(small) / small.exp2() - 1.0).abs() < 2e-4, "{small}");
            }
        }
        let mut h = [0.0; 3];
        suited((&[1e-3, f64::NAN, 1e308], 1e-9), (&[1e-30, 0.0, 1.0], 1e-9), 12, &mut h);
        assert!((h[0] / (1e-6f64).powf(1.0 / 12.0) - 1.0).abs() < 1e-3);
        assert!(h.iter().all(|h| h.is_finite() && *h > 0.0));
    }
}
