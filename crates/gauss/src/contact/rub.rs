//! Coulomb's law in space as it stands, with all loads as unknowns: a search for loads, and a proof that
//! they are the only ones.
//!
//! **Search.** With ρ > 0 for each contact, loads solve the problem where
//!
//! ```text
//! N = max(0, N − ρ g'') ,   T = (T − ρ s') cut to the length μN
//! ```
//!
//! changes nothing (Alart & Curnier 1991). One contact after the other, again and again, this comes near
//! to a solution from almost anywhere; what is near is made exact by [`cone`](super::cone).
//!
//! **Proof.** Let two solutions differ by δf = (δN, δT), and so their accelerations by δa = D δf. At each
//! contact 0 ≤ N ⊥ g'' ≥ 0 gives δN δg'' ≤ 0, and T = −μN s'/|s'|, or |T| ≤ μN where s' = 0, gives
//! δT·δs' ≤ −μ δN δ|s'| ≤ μ |δN| |δs'|. With weights α of gaps, 1 of slips and any w > 0
//!
//! ```text
//! Σ α δN δg'' + Σ δT·δs' ≤ Σ μ/2 (w δN² + |δs'|²/w) ,
//! ```
//!
//! so that there is only one solution if what is left of the form on the left, without the right, is
//! positive definite. With little friction, or where loads and slips do not couple, it is; where rows
//! depend on each other it is not, and nothing is proved.

use super::Space;
use crate::linalg::{cholesky, norm};

/// A contact or friction by its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Rub {
    /// The row of its gap; none for a friction without a contact.
    pub normal: Option<usize>,
    /// The rows of its slip; none without friction.
    pub slips: Vec<usize>,
    /// μ, or the bound of a friction without a contact.
    pub bound: f64,
    /// Where it slips already, the unit vector it slips along.
    pub moves: Option<Vec<f64>>,
}

/// So many times all loads are gone through.
const SWEEPS: usize = 2000;
/// Loads that change by less than this part of the largest have been found.
const FOUND: f64 = 1e-11;
/// Weights α that are tried, and factors of w.
const WEIGHTS: [f64; 6] = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0];
const SHARES: [f64; 5] = [1.0, 0.5, 2.0, 0.25, 4.0];
/// What is left of the form must be larger than this part of it.
const CLEAR: f64 = 1e-9;

/// Accelerations by unit loads, and without loads, in the units of the rows.
fn matrix(space: &Space) -> (Vec<Vec<f64>>, Vec<f64>) {
    let rows = space.rows();
    let entry = |i: usize, j: usize| space.value(i, space.coupling(i, j) * space.scaled(j, 1.0));
    let matrix = (0..rows).map(|i| (0..rows).map(|j| entry(i, j)).collect()).collect();
    (matrix, (0..rows).map(|i| space.value(i, space.free[i])).collect())
}

/// Loads near a solution, by row in its units, from some that may be far; `None` if none is found.
pub fn seek(space: &Space, rubs: &[Rub], first: &[f64]) -> Option<Vec<f64>> {
    let (d, c) = matrix(space);
    let mut loads = first.to_vec();
    let rate = |loads: &[f64], row: usize| -> f64 {
        c[row] + d[row].iter().zip(loads).map(|(d, f)| d * f).sum::<f64>()
    };
    let given = |rub: &Rub, normal: f64, loads: &mut [f64]| {
        let Some(direction) = &rub.moves else { return };
        for (&row, way) in rub.slips.iter().zip(direction) {
            loads[row] = -rub.bound * normal * way;
        }
    };
    rubs.iter().filter(|rub| rub.normal.is_none()).for_each(|rub| given(rub, 1.0, &mut loads));
    for _ in 0..SWEEPS {
        let (mut changed, mut largest) = (0f64, 0f64);
        for rub in rubs {
            let before: Vec<f64> =
                rub.normal.iter().chain(&rub.slips).map(|&row| loads[row]).collect();
            let mut bound = rub.bound;
            if let Some(row) = rub.normal {
                if !(d[row][row] > 0.0) {
                    continue;
                }
                loads[row] = (loads[row] - rate(&loads, row) / d[row][row]).max(0.0);
                bound *= loads[row];
                given(rub, loads[row], &mut loads);
            }
            if rub.moves.is_none() && !rub.slips.is_empty() {
                let trace: f64 = rub.slips.iter().map(|&row| d[row][row]).sum();
                if trace > 0.0 {
                    let rates = rub.slips.iter().map(|&row| rate(&loads, row));
                    let pull = rates.zip(&rub.slips).map(|(s, &row)| loads[row] - s / trace);
                    let pull: Vec<f64> = pull.collect();
                    let length = norm(&pull);
                    let part = if length > bound { bound / length } else { 1.0 };
                    rub.slips.iter().zip(pull).for_each(|(&row, p)| loads[row] = part * p);
                }
            }
            for (&row, before) in rub.normal.iter().chain(&rub.slips).zip(before) {
                changed = changed.max((loads[row] - before).abs());
                largest = largest.max(loads[row].abs());
            }
        }
        if changed <= FOUND * largest {
            return Some(loads);
        }
        if !largest.is_finite() {
            return None;
        }
    }
    None
}

/// Whether there is no more than one solution, whatever it is: true if that is proved.
pub fn is_only(space: &Space, rubs: &[Rub]) -> bool {
    // Variables: the rows whose loads are not given, each with its own column of loads.
    let mut columns: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut is_gap = Vec::new();
    // μ, the place of its N, and what its |δs'| is at most the length of.
    let mut couples: Vec<(f64, usize, Vec<Vec<f64>>)> = Vec::new();
    let rows = space.rows();
    let unit = |row: usize| {
        let mut unit = vec![0.0; rows];
        unit[row] = 1.0;
        unit
    };
    for rub in rubs {
        let has_friction = rub.bound > 0.0 && !rub.slips.is_empty();
        let moving = |&row: &usize| space.moves(row);
        let along = |row: usize| -> Vec<f64> {
            let entry = |j: usize| space.coupling(row, j) * space.length[row];
            (0..rows).map(entry).collect()
        };
        let mut place = None;
        if let Some(row) = rub.normal.filter(moving) {
            let mut loads = unit(row);
            if let (true, Some(direction)) = (has_friction, &rub.moves) {
                for (&slip, way) in rub.slips.iter().zip(direction) {
                    loads[slip] = -space.coefficient(rub.bound, row, slip) * way;
                }
            }
            place = Some(columns.len());
            columns.push((row, loads));
            is_gap.push(true);
        }
        if has_friction && rub.moves.is_none() {
            for &row in rub.slips.iter().filter(|row| moving(row)) {
                columns.push((row, unit(row)));
                is_gap.push(false);
            }
            if let Some(place) = place {
                // N in its scaled load, slips in their units.
                let mu = rub.bound * space.length[columns[place].0].recip();
                couples.push((mu, place, rub.slips.iter().map(|&row| along(row)).collect()));
            }
        }
    }
    let n = columns.len();
    let of =
        |row: &[f64], j: usize| -> f64 { row.iter().zip(&columns[j].1).map(|(a, b)| a * b).sum() };
    let couplings: Vec<Vec<f64>> =
        (0..rows).map(|i| (0..rows).map(|j| space.coupling(i, j)).collect()).collect();
    let d: Vec<Vec<f64>> =
        columns.iter().map(|(row, _)| (0..n).map(|j| of(&couplings[*row], j)).collect()).collect();
    let slips: Vec<Vec<Vec<f64>>> = couples
        .iter()
        .map(|(_, _, rows)| rows.iter().map(|row| (0..n).map(|j| of(row, j)).collect()).collect())
        .collect();
    let holds = |weight: f64, share: f64| {
        let weigh = |i: usize| if is_gap[i] { weight } else { 1.0 };
        let mut left = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                left[i * n + j] = 0.5 * (weigh(i) * d[i][j] + weigh(j) * d[j][i]);
            }
        }
        let sizes: Vec<f64> = (0..n).map(|i| left[i * n + i]).collect();
        for ((mu, place, _), slips) in couples.iter().zip(&slips) {
            let size = slips.iter().map(|row| norm(row).powi(2)).sum::<f64>().sqrt();
            let w = share * size;
            if !(w > 0.0) {
                continue;
            }
            left[place * n + place] -= 0.5 * mu * w;
            for row in slips {
                for i in 0..n {
                    for j in 0..n {
                        left[i * n + j] -= 0.5 * mu / w * row[i] * row[j];
                    }
                }
            }
        }
        (0..n).for_each(|i| left[i * n + i] -= CLEAR * sizes[i]);
        cholesky::factor(&mut left, n).is_ok()
    };
    WEIGHTS.iter().any(|&weight| {
        SHARES.iter().any(|&share| holds(weight, share) || holds(1.0 / weight, share))
    })
}
