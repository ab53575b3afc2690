//! Equations for more or fewer unknowns than there are equations, near a guess.
//!
//! Gauss–Newton steps of least length by the singular value decomposition, with the damping of
//! Levenberg and Marquardt where a full step does not help: δ = Σ σ/(σ² + μ²) (u·r) v. Dependent
//! equations and unknowns that stay open do no harm. Once the equations are met, the point slides
//! along the solution set towards the guess.
//!
//! Lengths are in natural units that the caller gives; unknowns without one (multipliers, rates)
//! move freely. The solver [`dalembert_simulate::points::nearest`] is not used here: it takes the sizes
//! of such unknowns from the equations, and near a state of rest those hold entries that tend to
//! zero with the velocities.

use dalembert_expr::Random;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{dot, norm};

/// The equations at a point: residuals, their rounding noise, and the Jacobian by rows.
pub(crate) struct Values {
    pub residuals: Vec<f64>,
    pub noise: Vec<f64>,
    pub jacobian: Vec<f64>,
}

/// Equations and a guess.
pub(crate) struct Equations<'a> {
    pub guess: Vec<f64>,
    /// Natural sizes; 0 for an unknown without one.
    pub sizes: Vec<f64>,
    /// Which unknowns count in the distance to the guess.
    pub counted: Vec<bool>,
    /// The equations at a point; `None` where they have no numbers.
    pub at: &'a dyn Fn(&[f64]) -> Option<Values>,
}

/// Where a search ended.
pub(crate) struct Ended {
    pub x: Vec<f64>,
    /// What is left of each equation; 0 where it is met.
    pub residuals: Vec<f64>,
}

impl Ended {
    pub fn is_met(&self) -> bool {
        self.residuals.iter().all(|&r| r == 0.0)
    }
}

/// Most steps from one guess.
const MOST: usize = 60;
/// Guesses tried.
const ATTEMPTS: u32 = 6;
/// Singular values below this, relative, are none.
const RANK: f64 = 1e-9;
/// An equation is met if it misses by no more than this, relative to its terms.
const MET: f64 = 1e-12;

struct Here {
    x: Vec<f64>,
    values: Values,
    /// Sizes of the unknowns.
    scales: Vec<f64>,
    /// Lengths of the rows in these sizes.
    lengths: Vec<f64>,
    /// How far the guess or this point is from 0, in natural sizes: what rounding is measured by.
    reach: f64,
    /// Lengths of the rows where the search began: a row that fades away on the way (at a double
    /// root) is still measured by what it was.
    first: Vec<f64>,
}

impl Equations<'_> {
    /// The point nearest to the guess that was found to satisfy the equations, or the one that
    /// misses them least.
    pub fn solve(&self) -> Ended {
        let mut best: Option<Here> = None;
        for attempt in 0..ATTEMPTS {
            let Some(here) = self.here(self.moved(attempt), &[]) else { continue };
            let here = self.reach(here);
            if here.is_met() {
                return self.without_dust(self.slide(here)).ended();
            }
            if best.as_ref().is_none_or(|b| here.merit(&here.lengths) < b.merit(&b.lengths)) {
                best = Some(here);
            }
        }
        match best {
            Some(here) => here.ended(),
            None => Ended { x: self.guess.clone(), residuals: vec![f64::INFINITY] },
        }
    }

    /// The point with 0 for what is no more than rounding of the way to it, if the equations are
    /// met there too.
    fn without_dust(&self, here: Here) -> Here {
        let mut x = here.x.clone();
        for j in 0..x.len() {
            if self.counts(j) && (x[j] / self.sizes[j]).abs() <= f64::EPSILON * here.reach {
                x[j] = 0.0;
            }
        }
        if x == here.x {
            return here;
        }
        self.here(x, &here.first).filter(Here::is_met).unwrap_or(here)
    }

    /// The guess, moved from the second attempt on.
    fn moved(&self, attempt: u32) -> Vec<f64> {
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15 ^ u64::from(attempt));
        let amount = if attempt == 0 { 0.0 } else { 0.05 * 2.2f64.powi(attempt as i32 - 1) };
        self.guess.iter().map(|&g| g + amount * g.abs().max(1.0) * random.signed()).collect()
    }

    fn here(&self, x: Vec<f64>, first: &[f64]) -> Option<Here> {
        let values = (self.at)(&x)?;
        let n = x.len();
        let rows = values.residuals.len();
        // Unknowns without a size get one from their columns, against rows measured by the others.
        let mut scales = self.sizes.clone();
        let length = |i: usize, scales: &[f64]| -> f64 {
            norm(&(0..n).map(|j| values.jacobian[i * n + j] * scales[j]).collect::<Vec<_>>())
        };
        let typical = (0..rows).fold(0f64, |m, i| m.max(length(i, &scales)));
        let typical = if typical > 0.0 { typical } else { 1.0 };
        for j in 0..n {
            if scales[j] == 0.0 {
                let column: Vec<f64> = (0..rows).map(|i| values.jacobian[i * n + j]).collect();
                let long = norm(&column);
                scales[j] = if long > 0.0 { typical / long } else { 1.0 };
            }
        }
        let far = |x: &[f64]| -> f64 {
            let list = (0..n).filter(|&j| self.counts(j));
            list.fold(0f64, |m, j| m.max((x[j] / self.sizes[j]).abs()))
        };
        let reach = far(&x).max(far(&self.guess));
        let lengths = (0..rows).map(|i| length(i, &scales));
        let lengths: Vec<f64> = lengths.map(|l| if l > 0.0 { l } else { 1.0 }).collect();
        let first = if first.is_empty() { lengths.clone() } else { first.to_vec() };
        Some(Here { x, values, scales, lengths, reach, first })
    }

    fn counts(&self, j: usize) -> bool {
        self.counted[j] && self.sizes[j] > 0.0
    }

    fn reach(&self, mut here: Here) -> Here {
        let mut svd = Svd::default();
        for _ in 0..MOST {
            if here.is_exact() {
                break;
            }
            let merit = here.merit(&here.lengths);
            here.decompose(&mut svd);
            let mut next = None;
            for damping in [0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0] {
                let step = here.step(&svd, damping);
                let mut fraction = 1.0;
                while next.is_none() && fraction > 0.2 {
                    let x = here.x.iter().zip(&step).map(|(x, d)| x + fraction * d).collect();
                    next = self
                        .here(x, &here.first)
                        .filter(|n| n.merit(&here.lengths) < merit * (1.0 - 1e-9));
                    fraction /= 2.0;
                }
                if next.is_some() {
                    break;
                }
            }
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        here
    }

    /// Moves along the solution set towards the guess, as far as the distance falls.
    fn slide(&self, mut here: Here) -> Here {
        let sized: Vec<usize> = (0..here.x.len()).filter(|&j| self.counts(j)).collect();
        let distance = |x: &[f64]| -> f64 {
            let away = sized.iter().map(|&j| (x[j] - self.guess[j]) / self.sizes[j]);
            norm(&away.collect::<Vec<_>>())
        };
        let mut svd = Svd::default();
        for _ in 0..30 {
            let far = distance(&here.x);
            let mut towards = vec![0.0; here.x.len()];
            sized.iter().for_each(|&j| towards[j] = (self.guess[j] - here.x[j]) / here.scales[j]);
            here.decompose(&mut svd);
            svd.project_on_kernel(svd.rank(RANK), &mut towards);
            if !(norm(&towards) > 1e-10 * far) {
                break;
            }
            let mut fraction = 1.0;
            let mut next = None;
            while next.is_none() && fraction > 0.1 {
                let step = towards.iter().zip(&here.scales).map(|(d, s)| d * s * fraction);
                let x = here.x.iter().zip(step).map(|(x, d)| x + d).collect();
                let there = self.here(x, &here.first).map(|h| self.reach(h));
                next = there.filter(|h| h.is_met() && distance(&h.x) < far * (1.0 - 1e-9));
                fraction /= 2.0;
            }
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        here
    }
}

impl Here {
    fn decompose(&self, svd: &mut Svd) {
        let (n, rows) = (self.x.len(), self.values.residuals.len());
        let mut matrix = self.values.jacobian.clone();
        for i in 0..rows {
            (0..n).for_each(|j| matrix[i * n + j] *= self.scales[j] / self.lengths[i]);
        }
        // Tall, so that the kernel comes with it.
        matrix.resize(rows.max(n) * n, 0.0);
        svd.decompose(&matrix, rows.max(n), n);
    }

    fn step(&self, svd: &Svd, damping: f64) -> Vec<f64> {
        let n = self.x.len();
        let mut right: Vec<f64> =
            self.values.residuals.iter().zip(&self.lengths).map(|(r, l)| -r / l).collect();
        right.resize(svd.rows, 0.0);
        let top = svd.sigma.first().copied().unwrap_or(0.0);
        let mu = damping * top;
        let mut step = vec![0.0; n];
        for k in 0..svd.rank(RANK) {
            let sigma = svd.sigma[k];
            let weight = dot(&svd.u[k * svd.rows..(k + 1) * svd.rows], &right) * sigma
                / (sigma * sigma + mu * mu);
            step.iter_mut().zip(&svd.v[k * n..(k + 1) * n]).for_each(|(s, v)| *s += weight * v);
        }
        step.iter().zip(&self.scales).map(|(s, c)| s * c).collect()
    }

    fn merit(&self, lengths: &[f64]) -> f64 {
        self.values.residuals.iter().zip(lengths).map(|(r, l)| (r / l).powi(2)).sum()
    }

    /// Met as well as rounding allows.
    fn is_exact(&self) -> bool {
        let rows = self.values.residuals.iter().zip(&self.values.noise).zip(&self.lengths);
        let rounding = |l: f64| 2.0 * f64::EPSILON * self.reach * l;
        rows.into_iter().all(|((r, e), &l)| r.abs() <= (2.0 * e).max(rounding(l)))
    }

    fn met(&self) -> Vec<bool> {
        let n = self.x.len();
        let rows = self.values.residuals.iter().zip(&self.values.noise).enumerate();
        rows.map(|(i, (r, noise))| {
            let row = &self.values.jacobian[i * n..(i + 1) * n];
            let size: f64 = row.iter().zip(&self.x).map(|(a, x)| (a * x).abs()).sum();
            r.abs()
                <= (64.0 * noise)
                    .max(MET * (size + self.reach * self.lengths[i].max(self.first[i])))
        })
        .collect()
    }

    fn is_met(&self) -> bool {
        self.met().iter().all(|&m| m)
    }

    fn ended(self) -> Ended {
        let met = self.met();
        let residuals = self.values.residuals.iter().zip(met);
        let residuals = residuals.map(|(&r, met)| if met { 0.0 } else { r }).collect();
        Ended { x: self.x, residuals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(x: &[f64]) -> Option<Values> {
        let r = x[0] * x[0] + x[1] * x[1] - 1.0;
        Some(Values {
            residuals: vec![r],
            noise: vec![1e-16],
            jacobian: vec![2.0 * x[0], 2.0 * x[1]],
        })
    }

    #[test]
    fn the_nearest_point_of_a_curve_is_found() {
        let equations = Equations {
            guess: vec![3.0, 4.0],
            sizes: vec![1.0, 1.0],
            counted: vec![true; 2],
            at: &circle,
        };
        let ended = equations.solve();
        assert!(ended.is_met());
        assert!(
            (ended.x[0] - 0.6).abs() < 1e-8 && (ended.x[1] - 0.8).abs() < 1e-8,
            "{:?}",
            ended.x
        );
    }

    #[test]
    fn what_cannot_be_met_is_left_over() {
        let at = |x: &[f64]| {
            Some(Values {
                residuals: vec![x[0] * x[0] + 1.0],
                noise: vec![1e-16],
                jacobian: vec![2.0 * x[0]],
            })
        };
        let equations =
            Equations { guess: vec![2.0], sizes: vec![1.0], counted: vec![true], at: &at };
        let ended = equations.solve();
        assert!(!ended.is_met());
        assert!((ended.residuals[0] - 1.0).abs() < 1e-2, "{:?}", ended.residuals);
    }
}
