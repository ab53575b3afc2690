//! What the last digits of a state do to the rows of its constraints.
//!
//! Rows that depend on each other only where they hold are independent next to it, by an
//! amount that is all drift; a row whose gradient vanishes where it holds (n·Rn = 1 of a
//! hinge about the vertical) consists of nothing else. Rounding of the terms does not tell:
//! they are evaluated exactly, at a state that is slightly off. So the rows are evaluated
//! again at states beside it, and what changes there, as a part of each row, is its noise.
//! Not entry by entry: in the metric of the masses the noise of a single entry may count
//! for more than the row, where a coordinate has hardly any mass.

use dalembert_expr::Random;
use dalembert_gauss::Pattern;
use dalembert_gauss::terms::row_of;
use std::sync::Arc;

/// How far off a state may be, relative to the scale that the model gives to each component:
/// more than a projection leaves, less than any tolerance of ranks.
pub const DIGITS: f64 = 1e-10;
/// What a projection leaves, as a part of [`DIGITS`].
pub const LEFT: f64 = 1e-2;
/// States beside it that are looked at.
pub const TRIES: u64 = 3;

/// A state beside `x`, given the extents of its components (those that are not given are of
/// their own size); the same for the same number on every machine.
pub fn beside(x: &[f64], extents: &[f64], number: u64) -> Vec<f64> {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(number + 1));
    let mut nudge = |(i, x): (usize, &f64)| {
        let signed = random.signed();
        // At least half of the way, up or down.
        let share = 0.5 * signed.signum() + 0.5 * signed;
        x + DIGITS * x.abs().max(extents.get(i).copied().unwrap_or(0.0)) * share
    };
    x.iter().enumerate().map(&mut nudge).collect()
}

/// Units in which the entries of a row compare: of equal mass, as it is here or nearby. 0 for a
/// coordinate that has none.
pub fn units(mass: impl Fn(usize) -> f64, inertia: &[f64], n: usize) -> Vec<f64> {
    let mass = |i: usize| mass(i).abs().max(inertia.get(i).copied().unwrap_or(0.0));
    (0..n).map(|i| if mass(i) > 0.0 { mass(i).sqrt().recip() } else { 0.0 }).collect()
}

/// Raises the parts of rows that are noise to twice what changed, in the units of the entries.
pub fn widen_rows(
    parts: &mut [f64],
    units: &[f64],
    here: &[f64],
    there: &[f64],
    pattern: Option<&Arc<Pattern>>,
) {
    for (j, part) in parts.iter_mut().enumerate() {
        let row = |of| row_of(of, units.len(), pattern, j);
        let both = || row(here).zip(row(there)).map(|((i, a), (_, b))| (i, a, b));
        let (mut change, mut size) = (0f64, 0f64);
        for (i, a, b) in both() {
            change = change.max(2.0 * units[i] * (a - b).abs());
            size = size.max(units[i] * a.abs());
        }
        let massive = match (change > 0.0, size > 0.0) {
            (true, true) => Some(change / size),
            (true, false) => Some(1.0),
            _ => (size > 0.0).then_some(0.0),
        };
        // A coordinate without mass compares with nothing but itself; where its entry stands,
        // the row says something.
        let own = both().filter(|&(i, a, _)| units[i] == 0.0 && a != 0.0);
        let massless = own.map(|(_, a, b)| 2.0 * ((a - b) / a).abs()).reduce(f64::min);
        let part_here = match (massive, massless) {
            (Some(x), Some(y)) => x.min(y),
            (x, y) => x.or(y).unwrap_or(0.0),
        };
        if part_here > 0.0 && part_here.is_finite() {
            *part = part.max(part_here);
        }
    }
}

/// Raises the noise of rows to a part of their entries.
pub fn spread(
    noise: &mut [f64],
    n: usize,
    rows: &[f64],
    parts: &[f64],
    pattern: Option<&Arc<Pattern>>,
) {
    for (j, part) in parts.iter().enumerate() {
        let own = pattern.map_or(j * n..(j + 1) * n, |pattern| pattern.range(j));
        for (noise, a) in noise[own.clone()].iter_mut().zip(&rows[own]) {
            *noise = noise.max(part * a.abs());
        }
    }
}

/// Raises noise to twice what changed.
pub fn widen(noise: &mut [f64], here: &[f64], there: &[f64]) {
    for (noise, (a, b)) in noise.iter_mut().zip(here.iter().zip(there)) {
        let change = 2.0 * (a - b).abs();
        if change.is_finite() {
            *noise = noise.max(change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_moves_by_some_of_its_digits() {
        let (x, extents) = ([0.0, 1.0, -40.0, 1e-3], [1.0, 2.0, 0.0, 1e-3]);
        for number in 0..TRIES {
            for (i, (a, b)) in x.iter().zip(beside(&x, &extents, number)).enumerate() {
                let moved = (a - b).abs() / a.abs().max(extents[i]);
                assert!((0.4 * DIGITS..=1.1 * DIGITS).contains(&moved), "{a} {b}");
            }
        }
        assert_ne!(beside(&x, &extents, 0), beside(&x, &extents, 1));
    }

    #[test]
    fn noise_only_grows() {
        let mut noise = [1.0, 0.0, 0.0];
        widen(&mut noise, &[0.0, 1.0, 1.0], &[0.1, 1.5, f64::NAN]);
        assert_eq!(noise, [1.0, 1.0, 0.0]);
    }
}
