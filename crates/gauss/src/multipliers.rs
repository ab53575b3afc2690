//! Multipliers behind a constraint force: λ of least norm with Aᵀλ = Qᶜ − C.
//!
//! It is the problem of this crate once more, with the identity as its metric and Aᵀ as its rows.

use crate::eliminations::{DEFAULT, Scratch, SolveError};
use crate::outcome::Outcome;
use crate::scale::Units;
use crate::terms::{Noise, Terms, Tolerances};

/// Qᶜ = M q̈ − Q.
pub fn constraint_force(terms: &Terms, accelerations: &[f64]) -> Vec<f64> {
    let inertia = terms.moved(accelerations);
    terms.force.iter().zip(inertia).map(|(f, inertia)| inertia - f).collect()
}

/// The shortest λ behind a constraint force, given a solution: its own λ, and what
/// the difference of the forces adds. Differences that rounding explains add
/// nothing, so that rows which hardly hold anything do not turn it into multipliers.
/// `units` are those of the terms.
pub fn recovered(
    terms: &Terms,
    units: &Units,
    solution: &Outcome,
    constraint_force: &[f64],
    rank: Option<f64>,
) -> Result<Vec<f64>, SolveError> {
    let n = terms.n;
    if solution.v_dot.len() != n || solution.multipliers.len() != terms.m {
        return shortest(terms, constraint_force, rank);
    }
    let own = self::constraint_force(terms, &solution.v_dot);
    // In units of equal mass rounding of the largest force is in all of them.
    let units = &units.coordinates;
    let inertia = terms.spread(&solution.v_dot);
    let largest = (0..n)
        .map(|i| units[i] * (inertia[i] + terms.force[i].abs()))
        .filter(|size| size.is_finite())
        .fold(0.0, f64::max);
    let mut differs = false;
    let difference: Vec<f64> = (0..n)
        .map(|i| {
            let noise = terms.noise.map_or(0.0, |noise| noise.force[i]);
            let slack = 64.0 * (noise + f64::EPSILON * largest / units[i]);
            let left = constraint_force[i] - own[i];
            let left = if left.abs() <= slack { 0.0 } else { left };
            differs |= left != 0.0;
            left + terms.nonideal[i]
        })
        .collect();
    let mut lambda = solution.multipliers.clone();
    if differs {
        for (l, more) in lambda.iter_mut().zip(shortest(terms, &difference, rank)?) {
            *l += more;
        }
    }
    Ok(lambda)
}

/// The shortest λ with Aᵀλ = Qᶜ − C: the universal problem once more, with the
/// identity as the metric and Aᵀ as the constraints.
/// `rank` is the tolerance of ranks, where the state is known less well than to rounding.
pub fn shortest(
    terms: &Terms,
    constraint_force: &[f64],
    rank: Option<f64>,
) -> Result<Vec<f64>, SolveError> {
    let (n, m) = (terms.n, terms.m);
    if m == 0 {
        return Ok(Vec::new());
    }
    if terms.patterns.is_some() {
        return shortest_of_sparse(terms, constraint_force, rank);
    }
    let mut identity = vec![0.0; m * m];
    (0..m).for_each(|i| identity[i * m + i] = 1.0);
    let mut transposed = vec![0.0; n * m];
    for j in 0..m {
        for i in 0..n {
            transposed[i * m + j] = terms.jacobian[j * n + i];
        }
    }
    let ideal: Vec<f64> = constraint_force.iter().zip(terms.nonideal).map(|(a, b)| a - b).collect();
    let zero = vec![0.0; m * m];
    // A coordinate that a row hardly touches says nothing of its multiplier but rounding.
    let units = Units::of(terms).coordinates;
    let most =
        |of: &dyn Fn(usize) -> f64| (0..n).map(|i| units[i] * of(i).abs()).fold(0.0, f64::max);
    let rows: Vec<f64> = (0..m).map(|j| most(&|i| terms.jacobian[j * n + i])).collect();
    let force = most(&|i| ideal[i]);
    let digit = |i: usize, size: f64| {
        let noise = 4.0 * f64::EPSILON * size / units[i];
        if noise.is_finite() { noise } else { 0.0 }
    };
    let rows_noise: Vec<f64> = (0..n)
        .flat_map(|i| rows.iter().map(move |row| (i, *row)))
        .map(|(i, r)| digit(i, r))
        .collect();
    let force_noise: Vec<f64> = (0..n).map(|i| digit(i, force)).collect();
    let problem = Terms {
        n: m,
        m: n,
        metric: &identity,
        force: &zero[..m],
        nonideal: &zero[..m],
        jacobian: &transposed,
        bias: &ideal,
        noise: Some(Noise {
            metric: &zero,
            force: &zero[..m],
            jacobian: &rows_noise,
            bias: &force_noise,
        }),
        inertia: &[],
        patterns: None,
    };
    let tolerances = Tolerances { rank, least_squares: true, ..Tolerances::default() };
    let mut outcome = Outcome::default();
    DEFAULT.solve(&mut Scratch::default(), &problem, &tolerances, &mut outcome)?;
    Ok(outcome.v_dot)
}

/// The same of a sparse problem: by that of Gauss itself, whose accelerations make up for the
/// force. With F = −Qᶜ and A v̇ = 0 its multipliers are those of the part of Qᶜ along the rows.
fn shortest_of_sparse(
    terms: &Terms,
    constraint_force: &[f64],
    rank: Option<f64>,
) -> Result<Vec<f64>, SolveError> {
    let force: Vec<f64> = constraint_force.iter().zip(terms.nonideal).map(|(a, b)| b - a).collect();
    let zero = vec![0.0; terms.n.max(terms.m)];
    let (nonideal, bias) = (&zero[..terms.n], &zero[..terms.m]);
    let problem = Terms { force: &force, nonideal, bias, noise: None, ..*terms };
    let tolerances = Tolerances { rank, least_squares: true, ..Tolerances::default() };
    let mut outcome = Outcome::default();
    DEFAULT.solve(&mut Scratch::default(), &problem, &tolerances, &mut outcome)?;
    Ok(outcome.multipliers)
}
