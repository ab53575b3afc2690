//! How far answers are apart.

use crate::at_state::{Answer, Evaluation};
use dalembert_gauss::outcome::Verdict;
use dalembert_gauss::terms::Terms;

/// The largest relative difference between the answers that exist: of q̈ relative
/// to the largest acceleration, of Qᶜ relative to the largest force. `None` if
/// there are fewer than two to compare, infinite if they differ in their verdict.
pub fn agreement(answers: &[Answer], terms: &Terms) -> Option<f64> {
    let found: Vec<&Evaluation> = answers.iter().filter_map(|a| a.result.as_ref().ok()).collect();
    let first = found.first()?;
    if found.len() < 2 {
        return None;
    }
    if found.iter().any(|e| e.outcome.motion != first.outcome.motion) {
        return Some(f64::INFINITY);
    }
    if !matches!(first.outcome.motion, Verdict::Unique | Verdict::GaugeFree) {
        return Some(0.0);
    }
    let scales = Scales::new(terms, first);
    let mut worst = 0f64;
    for other in &found[1..] {
        let pairs = [
            (&first.accelerations, &other.accelerations, scales.acceleration),
            (&first.constraint_force, &other.constraint_force, scales.force),
        ];
        for (a, b, scale) in pairs {
            worst = worst.max(difference(a, b) / scale);
        }
    }
    Some(worst)
}

/// Sizes that differences are measured by.
pub struct Scales {
    /// The largest acceleration: of the motion, or by the impressed forces alone.
    pub acceleration: f64,
    /// The largest force.
    pub force: f64,
}

impl Scales {
    /// The scales of a problem and one solution of it.
    pub fn new(terms: &Terms, evaluation: &Evaluation) -> Scales {
        let largest = |x: &[f64]| x.iter().fold(0f64, |m, v| m.max(v.abs()));
        let force = largest(&evaluation.constraint_force)
            .max(largest(terms.force))
            .max(largest(terms.nonideal));
        let alone = (0..terms.n).fold(0f64, |m, i| {
            let mass = terms.mass(i);
            if mass > 0.0 { m.max(terms.force[i].abs() / mass) } else { m }
        });
        let acceleration = largest(&evaluation.accelerations).max(alone);
        let positive = |x: f64| if x > 0.0 { x } else { 1.0 };
        Scales { acceleration: positive(acceleration), force: positive(force) }
    }
}

/// The largest difference of two vectors; NaN counts as infinite.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs());
    worst.fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) })
}
