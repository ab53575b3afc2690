//! Whether loads that are not unique can be what they have to be together.
//!
//! ```text
//! Σ N (n + μ W d) + Σ f W d + Σ λ a = Q ,   N ≥ 0 , |d| ≤ 1 , f ≤ F
//! ```
//!
//! The set on the left is convex, and Q is in it or not: it is nonnegative least squares over directions
//! d, of which the next is that of what is left over. What is left over in the end is what no sharing
//! of the loads bears.

use dalembert_gauss::contact::nonneg;

/// So many directions are looked for, one after another.
const MOST: usize = 100;
/// What is left is 0 below this part of what is borne.
const NOTHING: f64 = 1e-11;

/// One of those that bear together, with generalized forces for loads of 1.
pub(crate) enum Bearer {
    /// A constraint of the model.
    Free(Vec<f64>),
    /// A contact: its normal, its slips and their coefficient.
    Pushes(Vec<f64>, Vec<Vec<f64>>, f64),
    /// A friction of its own: its slips and its bound.
    Rubs(Vec<Vec<f64>>, f64),
}

/// The part of a force that these cannot bear, where coordinates bear forces of these sizes.
pub(crate) fn missing(bearers: &[Bearer], force: &[f64], sizes: &[f64]) -> f64 {
    let places: Vec<usize> = (0..force.len()).filter(|&i| sizes[i] > 0.0).collect();
    let own = bearers.iter().filter(|b| matches!(b, Bearer::Rubs(..))).count();
    let column = |entries: &dyn Fn(usize) -> f64, of: Option<usize>| -> Vec<f64> {
        let scaled = places.iter().map(|&i| entries(i) / sizes[i]);
        let mut column: Vec<f64> = scaled.collect();
        column.extend((0..own).map(|k| if Some(k) == of { 1.0 } else { 0.0 }));
        column
    };
    // The parts of all that bear with bounds of their own are 1 together with what is not used.
    let mut wanted = column(&|i| force[i], None);
    wanted[places.len()..].fill(1.0);
    let whole = wanted[..places.len()].iter().map(|w| w * w).sum::<f64>().sqrt();
    if whole == 0.0 {
        return 0.0;
    }
    let noise = vec![NOTHING * whole; wanted.len()];
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut place = 0;
    let mut places_of = Vec::new();
    for bearer in bearers {
        places_of.push(place);
        match bearer {
            Bearer::Free(row) => {
                columns.push(column(&|i| row[i], None));
                columns.push(column(&|i| -row[i], None));
            }
            Bearer::Pushes(normal, ..) => columns.push(column(&|i| normal[i], None)),
            Bearer::Rubs(..) => {
                columns.push(column(&|_| 0.0, Some(place)));
                place += 1;
            }
        }
    }
    let size = |left: &[f64]| left.iter().map(|l| l * l).sum::<f64>().sqrt() / whole;
    for _ in 0..MOST {
        let left = nonneg::solve(&columns, &wanted, &noise).left;
        let now = size(&left);
        if now <= NOTHING {
            return 0.0;
        }
        let known = columns.len();
        for (bearer, &at) in bearers.iter().zip(&places_of) {
            let (normal, slips, bound, of) = match bearer {
                Bearer::Free(_) => continue,
                Bearer::Pushes(normal, slips, mu) => (Some(normal), slips, *mu, None),
                Bearer::Rubs(slips, bound) => (None, slips, *bound, Some(at)),
            };
            let along = |slip: &Vec<f64>| -> f64 {
                let terms = places.iter().zip(&left).map(|(&i, l)| slip[i] / sizes[i] * l);
                terms.sum()
            };
            let pulls: Vec<f64> = slips.iter().map(along).collect();
            let length = pulls.iter().map(|p| p * p).sum::<f64>().sqrt();
            if length == 0.0 || bound <= 0.0 {
                continue;
            }
            let entry = |i: usize| {
                let slip: f64 = slips.iter().zip(&pulls).map(|(s, p)| s[i] * p / length).sum();
                normal.map_or(0.0, |normal| normal[i]) + bound * slip
            };
            let new = column(&entry, of);
            let gain: f64 = new.iter().zip(&left).map(|(c, l)| c * l).sum();
            let norm = new.iter().map(|c| c * c).sum::<f64>().sqrt();
            if gain > 1e-3 * NOTHING * whole * norm {
                columns.push(new);
            }
        }
        if columns.len() == known {
            return now;
        }
    }
    size(&nonneg::solve(&columns, &wanted, &noise).left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rod on two frictions: a force across its middle up to the sum of their bounds, one along it
    /// as well, and a moment up to that sum times the arm.
    #[test]
    fn two_frictions_bear_the_sum_of_their_bounds() {
        let rubs = |arm: f64, bound: f64| {
            Bearer::Rubs(vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, arm]], bound)
        };
        let (one, two) = (1.0, 1.0);
        let bearers = [rubs(1.0, one), rubs(-1.0, two)];
        for (k, way) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.8, 0.0]]
            .into_iter()
            .enumerate()
        {
            for (part, holds) in [(0.5, true), (0.999, true), (1.001, false), (1.5, false)] {
                let force: Vec<f64> = way.iter().map(|w| 2.0 * part * w).collect();
                let left = missing(&bearers, &force, &[1.0; 3]);
                assert_eq!(left < 1e-7, holds, "{k} {part}: {left:e}");
            }
        }
    }

    /// A box on four points of a slope: it holds up to the angle of friction, whatever its height does
    /// to the loads.
    #[test]
    fn a_box_holds_up_to_the_angle_of_friction() {
        let (a, b, h, mu) = (0.2, 0.1, 0.05, 0.5f64);
        let point = |x: f64, y: f64| {
            let slips = vec![vec![1.0, 0.0, 0.0, h, -y], vec![0.0, 1.0, -h, 0.0, x]];
            // Forces x, y and z and moments are x, y, about x, about y, about z; z is the last.
            let pad = |row: Vec<f64>, z: f64| [row, vec![z]].concat();
            let slips = slips.into_iter().map(|row| pad(row, 0.0)).collect();
            Bearer::Pushes(pad(vec![0.0, 0.0, y, -x, 0.0], 1.0), slips, mu)
        };
        let bearers = [point(a, b), point(-a, b), point(a, -b), point(-a, -b)];
        for (part, holds) in [(0.2, true), (0.9, true), (0.999, true), (1.001, false), (1.2, false)]
        {
            let angle = part * mu.atan();
            let force = [-angle.sin(), 0.0, 0.0, 0.0, 0.0, angle.cos()];
            let left = missing(&bearers, &force, &[1.0, 1.0, 0.2, 0.2, 0.2, 1.0]);
            assert_eq!(left < 1e-7, holds, "{part}: {left:e}");
        }
    }

    /// The same on three points, of which one bears more.
    #[test]
    fn a_box_on_three_points_holds_as_well() {
        let (a, b, h, mu) = (0.2, 0.1, 0.05, 0.5f64);
        let point = |x: f64, y: f64| {
            let slips = vec![vec![1.0, 0.0, 0.0, -h, -y], vec![0.0, 1.0, h, 0.0, x]];
            let pad = |row: Vec<f64>, z: f64| [row, vec![z]].concat();
            let slips = slips.into_iter().map(|row| pad(row, 0.0)).collect();
            Bearer::Pushes(pad(vec![0.0, 0.0, y, -x, 0.0], 1.0), slips, mu)
        };
        let bearers = [point(a, b), point(-a, 0.0), point(a, -b)];
        for (part, holds) in [(0.2, true), (0.9, true), (0.999, true), (1.001, false), (1.2, false)]
        {
            let angle = part * mu.atan();
            let force = [-angle.sin(), 0.0, 0.0, 0.0, 0.0, angle.cos()];
            let left = missing(&bearers, &force, &[1.0, 1.0, 0.2, 0.2, 0.2, 1.0]);
            assert_eq!(left < 1e-7, holds, "{part}: {left:e}");
        }
    }
}
