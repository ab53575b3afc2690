//! Nonnegative least squares: minimise |M x − y| subject to x ≥ 0.
//!
//! The active-set method of Lawson & Hanson (*Solving Least Squares Problems*, 1974, ch. 23). The
//! columns with x > 0 at the end are linearly independent, so x is a vertex where there are many
//! solutions; it is the solution of a least-squares problem on these columns alone, by Householder
//! reflections, and so as exact as that. M x = y has a solution x ≥ 0 exactly if what is left is 0.

use crate::linalg::{dot, norm};

/// A solution.
#[derive(Clone, Debug, Default)]
pub struct Nonnegative {
    /// x.
    pub x: Vec<f64>,
    /// y − M x.
    pub left: Vec<f64>,
}

/// A new column must have this part of its length outside of those in use.
const INDEPENDENT: f64 = 1e-11;

/// Solves it for M given column by column, each of the length of `y`. Residuals up to `noise`, row
/// by row, count as 0.
pub fn solve(columns: &[Vec<f64>], y: &[f64], noise: &[f64]) -> Nonnegative {
    let (n, rows) = (columns.len(), y.len());
    let mut x = vec![0.0; n];
    let mut used: Vec<usize> = Vec::new();
    let mut barred = vec![false; n];
    let mut left = y.to_vec();
    let lengths: Vec<f64> = columns.iter().map(|c| norm(c)).collect();
    for _ in 0..10 * (n + 4) {
        if left.iter().zip(noise).all(|(l, noise)| l.abs() <= *noise) {
            break;
        }
        let small = norm(noise);
        let gain = |j: usize| dot(&columns[j], &left) / lengths[j];
        let candidates = (0..n).filter(|&j| {
            !barred[j] && lengths[j] > 0.0 && !used.contains(&j) && gain(j) > small * 1e-3
        });
        let Some(best) = candidates.max_by(|&a, &b| gain(a).total_cmp(&gain(b))) else { break };
        used.push(best);
        let Some(mut z) = least_squares(columns, &used, y, rows) else {
            used.pop();
            barred[best] = true;
            continue;
        };
        // One that would not grow is left out, or it would be taken again and again.
        if z.last().is_some_and(|z| !(*z > 0.0)) {
            used.pop();
            barred[best] = true;
            continue;
        }
        while z.iter().any(|z| !(*z > 0.0)) {
            let mut part = 1f64;
            for (&j, z) in used.iter().zip(&z) {
                if !(*z > 0.0) {
                    let step = x[j] / (x[j] - z);
                    part = part.min(if step.is_finite() { step } else { 0.0 });
                }
            }
            for (&j, z) in used.iter().zip(&z) {
                x[j] += part * (z - x[j]);
            }
            let leaves = |(&j, z): (&usize, &f64)| !(*z > 0.0) && !(x[j] > 1e-15 * z.abs());
            let gone: Vec<usize> =
                used.iter().zip(&z).filter(|p| leaves(*p)).map(|p| *p.0).collect();
            // At least the one that stopped the step.
            let gone = if gone.is_empty() {
                let least = used.iter().zip(&z).filter(|p| !(*p.1 > 0.0));
                let least = least.min_by(|a, b| x[*a.0].total_cmp(&x[*b.0]));
                least.map(|p| *p.0).into_iter().collect()
            } else {
                gone
            };
            gone.iter().for_each(|&j| x[j] = 0.0);
            used.retain(|j| !gone.contains(j));
            match least_squares(columns, &used, y, rows) {
                Some(next) => z = next,
                None => return Nonnegative { x, left },
            }
        }
        x.fill(0.0);
        used.iter().zip(&z).for_each(|(&j, &z)| x[j] = z);
        left.copy_from_slice(y);
        for &j in &used {
            left.iter_mut().zip(&columns[j]).for_each(|(l, m)| *l -= m * x[j]);
        }
        barred.fill(false);
    }
    Nonnegative { x, left }
}

/// The least-squares solution on some columns; `None` if they depend on each other. It is mended once:
/// where rows are of very different sizes, as those of much friction, the small ones are exact only then.
fn least_squares(columns: &[Vec<f64>], used: &[usize], y: &[f64], rows: usize) -> Option<Vec<f64>> {
    let mut x = reflected(columns, used, y, rows)?;
    let mut left = y.to_vec();
    for (&j, x) in used.iter().zip(&x) {
        left.iter_mut().zip(&columns[j]).for_each(|(l, m)| *l -= m * x);
    }
    let more = reflected(columns, used, &left, rows)?;
    x.iter_mut().zip(more).for_each(|(x, more)| *x += more);
    Some(x)
}

/// The same by reflections alone.
fn reflected(columns: &[Vec<f64>], used: &[usize], y: &[f64], rows: usize) -> Option<Vec<f64>> {
    let k = used.len();
    if k > rows {
        return None;
    }
    let mut a: Vec<Vec<f64>> = used.iter().map(|&j| columns[j].clone()).collect();
    let mut y = y.to_vec();
    for at in 0..k {
        let (head, tail) = a.split_at_mut(at + 1);
        let column = &mut head[at];
        let length = norm(&column[at..]);
        if !(length > INDEPENDENT * norm(column)) {
            return None;
        }
        let alpha = if column[at] > 0.0 { -length } else { length };
        let mut v = column[at..].to_vec();
        v[0] -= alpha;
        let scale = 2.0 / dot(&v, &v);
        column[at] = alpha;
        column[at + 1..].fill(0.0);
        for other in tail.iter_mut().map(|c| &mut c[at..]).chain([&mut y[at..]]) {
            let weight = scale * dot(&v, other);
            other.iter_mut().zip(&v).for_each(|(o, v)| *o -= weight * v);
        }
    }
    let mut x = y[..k].to_vec();
    for i in (0..k).rev() {
        for j in i + 1..k {
            x[i] -= a[j][i] * x[j];
        }
        x[i] /= a[i][i];
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_of_many_solutions() {
        // x₁ + x₂ + x₃ = 2 , x₁ − x₃ = 0.
        let columns = vec![vec![1.0, 1.0], vec![1.0, 0.0], vec![1.0, -1.0]];
        let found = solve(&columns, &[2.0, 0.0], &[1e-14; 2]);
        assert!(norm(&found.left) < 1e-14, "{found:?}");
        assert!(found.x.iter().all(|x| *x >= 0.0));
        assert!(found.x.iter().filter(|x| **x > 0.0).count() <= 2);
    }

    #[test]
    fn rows_of_all_sizes() {
        for size in [1e3, 1e6, 1e9] {
            let found = solve(&[vec![1.0, size], vec![1.0, -size]], &[9.81, 1e-3], &[0.0; 2]);
            assert!((found.x[0] + found.x[1] - 9.81).abs() < 1e-14, "{size:e}: {found:?}");
        }
    }

    #[test]
    fn what_is_left_is_the_distance_from_the_cone() {
        let found = solve(&[vec![1.0, 0.0], vec![1.0, 1.0]], &[-1.0, 2.0], &[1e-14; 2]);
        // The nearest point of the cone is (½, ½).
        assert!((found.left[0] + 1.5).abs() < 1e-14 && (found.left[1] - 1.5).abs() < 1e-14);
    }
}
