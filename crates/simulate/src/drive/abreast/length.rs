//! How long steps may be, by the last terms of their series: as [`taylor`] has it, with logarithms
//! that are only as good as a length of a step needs, and the same in every lane.
//!
//! [`taylor`]: crate::integrators::taylor

use super::{Lane, each};

/// The bits of an exponent.
const EXPONENT: u32 = 52;
const ONE: u64 = 1023 << EXPONENT;

/// log₂ x to 1e-4, of a number that is not subnormal.
#[inline(always)]
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> EXPONENT) as f64 - 1023.0;
    let m = f64::from_bits(bits & ((1 << EXPONENT) - 1) | ONE);
    // (m − 1)/(m + 1), odd powers.
    let z = (m - 1.0) / (m + 1.0);
    let zz = z * z;
    const LN2: f64 = std::f64::consts::LN_2;
    exponent + z * (2.0 / LN2) * (1.0 + zz * (1.0 / 3.0 + zz * (0.2 + zz * (1.0 / 7.0))))
}

/// 2ˣ to 1e-4, of a small number.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    let whole = x.clamp(-1000.0, 1000.0).floor();
    let y = (x.clamp(-1000.0, 1000.0) - whole) * std::f64::consts::LN_2;
    let series = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y / 120.0))));
    // A whole number, so that its bits are those of an exponent.
    let exponent = ((whole + 1023.0) as u64) << EXPONENT;
    f64::from_bits(exponent) * series
}

/// The steps in which terms a hᵖ and b hᵖ⁻¹ are as large as is meant of each.
#[inline(always)]
pub(super) fn suited<const W: usize>(
    (last, meant_last): (Lane<W>, f64),
    (before, meant_before): (Lane<W>, f64),
    order: usize,
) -> Lane<W> {
    let p = order as f64;
    let (by_last, by_before) = (1.0 / p, 1.0 / (p - 1.0));
    each(|lane| {
        let a = (meant_last / last[lane].max(1e-290)).clamp(1e-300, 1e300);
        let b = (meant_before / before[lane].max(1e-290)).clamp(1e-300, 1e300);
        let shorter = (log2(a) * by_last).min(log2(b) * by_before);
        exp2(shorter)
    })
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
        let [h] = suited(([1e-3], 1e-9), ([1e-30], 1e-9), 12);
        assert!((h / (1e-6f64).powf(1.0 / 12.0) - 1.0).abs() < 1e-3);
        assert!(suited(([f64::NAN], 1e-9), ([0.0], 1e-9), 12)[0].is_finite());
    }
}
