//! Rows that say the same: rank, minimal dependent sets, what stays unique.
//!
//! A *circuit* is a set of rows that depend on each other while no part of it does:
//! ζᵀA = 0 with a support as small as can be. For a basis of independent rows every
//! other row makes one; all of them are found where they are few. A circuit agrees
//! if ζᵀb = 0 too, otherwise its rows contradict each other.
//!
//! Multipliers of rows in a circuit are not unique, those of others are, and so is
//! the whole constraint force Qᶜ = Aᵀλ + C (the convex problem of
//! `dalembert_simulate`).

use dalembert_gauss::linalg;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_simulate::Numbers;

/// Sizes below this, relative to the largest term, are zero.
const ZERO: f64 = 1e-9;
/// More sets of columns than these are not tried.
const TRIES: usize = 600;

/// A minimal set of dependent rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuit {
    /// The constraints in it.
    pub rows: Vec<usize>,
    /// ζ, by row of `rows`, at the state; the largest is 1.
    pub weights: Vec<f64>,
    /// ζᵀb relative to the terms it is made of.
    pub disagreement: f64,
}

impl Circuit {
    /// Whether its rows agree.
    pub fn is_consistent(&self) -> bool {
        self.disagreement <= 1e-8
    }
}

/// The circuits of A at a state, given independent rows that span all; whether they
/// are all of them.
pub fn circuits(numbers: &Numbers, independent: &[usize]) -> (Vec<Circuit>, bool) {
    let (n, m) = (numbers.size, numbers.bias.len());
    let norms: Vec<f64> = (0..m)
        .map(|j| linalg::norm(&numbers.jacobian[j * n..(j + 1) * n]).max(f64::MIN_POSITIVE))
        .collect();
    let unit = |j: usize| -> Vec<f64> {
        numbers.jacobian[j * n..(j + 1) * n].iter().map(|a| a / norms[j]).collect()
    };
    // Columns are independent rows of unit length: B w = a.
    let r = independent.len();
    let mut basis = vec![0.0; n * r];
    for (k, &j) in independent.iter().enumerate() {
        unit(j).iter().enumerate().for_each(|(i, &a)| basis[i * r + k] = a);
    }
    let mut svd = Svd::default();
    svd.decompose(&basis, n, r);
    let mut null: Vec<Vec<f64>> = Vec::new();
    for j in (0..m).filter(|j| !independent.contains(j)) {
        let mut w = vec![0.0; r];
        svd.apply_pseudo_inverse(r, &unit(j), &mut w);
        let mut zeta = vec![0.0; m];
        zeta[j] = 1.0;
        independent.iter().zip(&w).for_each(|(&i, &w)| zeta[i] = -w);
        clean(&mut zeta);
        null.push(zeta);
    }
    let mut found: Vec<Vec<f64>> = Vec::new();
    for zeta in &null {
        keep(&mut found, zeta.clone());
    }
    let all = complete(&null, m, &mut found);
    let finish = |zeta: Vec<f64>| {
        let rows: Vec<usize> = (0..m).filter(|&j| zeta[j] != 0.0).collect();
        let mut weights: Vec<f64> = rows.iter().map(|&j| zeta[j] / norms[j]).collect();
        let largest = linalg::largest(&weights);
        weights.iter_mut().for_each(|w| *w /= largest);
        let terms = || rows.iter().zip(&weights).map(|(&j, w)| (j, w));
        let value: f64 = terms().map(|(j, w)| w * numbers.bias[j]).sum();
        let size: f64 = terms().map(|(j, w)| (w * numbers.bias[j]).abs()).sum();
        let noise: f64 = terms().map(|(j, w)| (w * numbers.bias_noise[j]).abs()).sum();
        let beyond = (value.abs() - 64.0 * noise).max(0.0);
        let disagreement = if beyond == 0.0 { 0.0 } else { beyond / size };
        Circuit { rows, weights, disagreement }
    };
    (found.into_iter().map(finish).collect(), all)
}

fn clean(zeta: &mut [f64]) {
    let largest = linalg::largest(zeta);
    zeta.iter_mut().filter(|z| z.abs() <= ZERO * largest).for_each(|z| *z = 0.0);
}

/// Adds a vector unless one of the same support is there.
fn keep(found: &mut Vec<Vec<f64>>, zeta: Vec<f64>) {
    let same = |a: &[f64]| a.iter().zip(&zeta).all(|(a, b)| (*a == 0.0) == (*b == 0.0));
    if !found.iter().any(|f| same(f)) && zeta.iter().any(|&z| z != 0.0) {
        found.push(zeta);
    }
}

/// All minimal supports in the span of k vectors: those that vanish in k − 1
/// independent places. False if there are too many places to try.
fn complete(null: &[Vec<f64>], m: usize, found: &mut Vec<Vec<f64>>) -> bool {
    let k = null.len();
    if k < 2 {
        return true;
    }
    let places: Vec<usize> = (0..m).filter(|&j| null.iter().any(|z| z[j] != 0.0)).collect();
    let mut count = 1f64;
    for i in 0..k - 1 {
        count *= (places.len() - i) as f64 / (i + 1) as f64;
    }
    if count > TRIES as f64 {
        return false;
    }
    let mut chosen: Vec<usize> = (0..k - 1).collect();
    loop {
        let rows: Vec<usize> = chosen.iter().map(|&c| places[c]).collect();
        if let Some(weights) = vanishing(null, &rows) {
            let mut zeta = vec![0.0; m];
            for (w, z) in weights.iter().zip(null) {
                zeta.iter_mut().zip(z).for_each(|(a, b)| *a += w * b);
            }
            rows.iter().for_each(|&j| zeta[j] = 0.0);
            clean(&mut zeta);
            keep(found, zeta);
        }
        // The next combination.
        let Some(at) = (0..k - 1).rev().find(|&i| chosen[i] + (k - 1 - i) < places.len()) else {
            return true;
        };
        chosen[at] += 1;
        for i in at + 1..k - 1 {
            chosen[i] = chosen[i - 1] + 1;
        }
    }
}

/// The combination of vectors that vanishes in k − 1 places, if there is just one.
fn vanishing(null: &[Vec<f64>], places: &[usize]) -> Option<Vec<f64>> {
    let k = null.len();
    let matrix: Vec<f64> = places.iter().flat_map(|&j| null.iter().map(move |z| z[j])).collect();
    let mut svd = Svd::default();
    svd.decompose(&matrix, k - 1, k);
    if svd.rank(1e-8) < k - 1 {
        return None;
    }
    // Off the rows' span, from whichever axis leaves most.
    let mut best: Vec<f64> = Vec::new();
    for axis in 0..k {
        let mut x = vec![0.0; k];
        x[axis] = 1.0;
        svd.project_on_kernel(k - 1, &mut x);
        if linalg::norm(&x) > linalg::norm(&best) {
            best = x;
        }
    }
    Some(best)
}
