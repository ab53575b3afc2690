//! The one place where ranks are decided.
//!
//! Three ranks are needed: of Γ, by pivoted Cholesky of Γ̃ with unit diagonal; of A, by
//! pivoted QR of the transposed, row-normalized B = Ã F⁻ᵀ with F Fᵀ = Γ̃; and of K = NᵀΓ̃N on the
//! free directions. B carries the decision because its singular values do not change with the
//! coordinates, nor, once its rows have unit length, with the scale of the constraints: B Bᵀ is
//! the matrix of cosines between them. If Γ̃ is not comfortably regular the metric is
//! Γ̃ + ÃᵀÃ, and if that fails too, the Euclidean one on equilibrated coordinates. A Γ with
//! negative directions is one that is not regular: whether the constraints remove these
//! directions is for K to say.
//!
//! The singular values are computed only if the QR diagonal leaves doubt. The right-hand side b
//! never takes part.

use crate::linalg::svd::Svd;
use crate::linalg::{cholesky, largest, norm, qr, zeros};
use crate::outcome::Route;
use crate::scale::Scaled;
use crate::terms::Tolerances;
use crate::tolerances::rank::{AROUND, COMFORTABLE, GREY, WEAK};

/// The ranks, and the order of rows that goes with them.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// rank Γ.
    pub metric: usize,
    /// Pivoted Cholesky factor of Γ̃ and its order of coordinates.
    pub metric_factor: Vec<f64>,
    /// Order of coordinates of the factor.
    pub metric_order: Vec<usize>,
    /// A negative pivot of Γ in the user's units, and the coordinate at which it showed. The
    /// factor is then of no use.
    pub negative: Option<(f64, usize)>,
    /// rank A.
    pub jacobian: usize,
    /// Number of rows that are not zero within their noise.
    pub live: usize,
    /// Rows: independent ones first, then dependent ones, then those that vanish.
    pub order: Vec<usize>,
    /// Norms of the rows of B, in the given order of rows.
    pub norms: Vec<f64>,
    /// τ as applied.
    pub tolerance: f64,
    /// Largest ratio of singular values (or QR diagonal entries) that was taken for zero.
    pub dropped: f64,
    /// How the rank of A was found.
    pub route: Route,
    /// A ratio that left doubt.
    pub uncertain: Option<f64>,
    /// A ratio that was taken for zero though neither rounding nor noise explains it: the rows
    /// nearly depend on each other, and what they say was left out.
    pub weak: Option<f64>,
    condition: f64,
    largest_entry: f64,
    limits: Vec<f64>,
    augmented: Vec<f64>,
    augmented_order: Vec<usize>,
    inverse: Vec<f64>,
    b: Vec<f64>,
    qr: Vec<f64>,
    tau: Vec<f64>,
    pivots: Vec<usize>,
    rows: Vec<usize>,
    row_noise: Vec<f64>,
    work: Vec<f64>,
    bound: Vec<f64>,
    ratios: Vec<f64>,
    svd: Svd,
}

impl Decision {
    /// Decides the rank of Γ, and whether it is positive semidefinite.
    pub fn decide_metric(&mut self, scaled: &Scaled) {
        let n = scaled.n;
        self.uncertain = None;
        self.metric_factor.clone_from(&scaled.metric);
        self.metric_order.resize(n, 0);
        let rounding = 64.0 * n as f64 * f64::EPSILON;
        self.limits.clear();
        self.limits.extend((0..n).map(|i| {
            let noise: f64 = scaled.metric_noise[i * n..(i + 1) * n].iter().sum();
            rounding.max(2.0 * noise)
        }));
        let found = cholesky::factor_pivoted_noisy(
            &mut self.metric_factor,
            n,
            &self.limits,
            if scaled.noisy { &scaled.metric_noise } else { &[] },
            &mut self.metric_order,
            &mut self.work,
        );
        self.metric = found.rank;
        self.condition = found.accepted.0 / found.accepted.1;
        self.negative = found.negative.map(|(pivot, coordinate)| {
            let c = scaled.coordinates[coordinate];
            (pivot / c / c, coordinate)
        });
        if self.negative.is_some() {
            self.largest_entry = largest(&scaled.metric);
            self.metric = self.rank_of_indefinite(scaled);
            self.condition = f64::INFINITY;
        }
    }

    /// Takes over what was decided on all rows, for the independent ones among them in the order
    /// of their pivots, and with the coordinates in another order.
    pub(crate) fn adopt(&mut self, other: &Decision, columns: &[usize]) {
        self.metric = other.metric;
        self.metric_order.clear();
        let at = |i: &usize| columns.iter().position(|c| c == i).unwrap_or(0);
        self.metric_order.extend(other.metric_order.iter().map(at));
        (self.jacobian, self.live) = (other.jacobian, other.jacobian);
        self.order.clear();
        self.order.extend(0..other.jacobian);
    }

    /// Factors Γ̃ ≻ 0 in the order that was decided; false if it is not.
    pub fn refactor_metric(&mut self, scaled: &Scaled) -> bool {
        let n = scaled.n;
        zeros(&mut self.metric_factor, n * n);
        for (i, &p) in self.metric_order.iter().enumerate() {
            for (j, &q) in self.metric_order[..=i].iter().enumerate() {
                self.metric_factor[i * n + j] = scaled.metric[p * n + q];
            }
        }
        cholesky::factor(&mut self.metric_factor, n).is_ok()
    }

    /// The rank of a Γ̃ with eigenvalues of both signs, by its singular values.
    fn rank_of_indefinite(&mut self, scaled: &Scaled) -> usize {
        let n = scaled.n;
        self.svd.decompose(&scaled.metric, n, n);
        let noise = norm(&scaled.metric_noise);
        let limit = 64.0 * n as f64 * f64::EPSILON * self.svd.sigma[0];
        self.svd.sigma.iter().take_while(|s| **s > limit.max(2.0 * noise)).count()
    }

    /// Whether Γ̃ is positive definite and well enough conditioned to measure by.
    fn comfortable(&self, n: usize) -> bool {
        self.metric == n && self.condition < COMFORTABLE
    }

    /// Decides the rank of A and orders its rows. [`Decision::decide_metric`] comes first.
    pub fn decide_jacobian(&mut self, scaled: &Scaled, tolerances: &Tolerances) {
        let (n, m) = (scaled.n, scaled.m);
        self.jacobian = 0;
        self.dropped = 0.0;
        self.route = Route::Cheap;
        zeros(&mut self.norms, m);
        let amplification = self.form_b(scaled);
        let live = self.rows.len();
        self.live = live;
        let rounding = f64::EPSILON * m.max(n) as f64;
        let own = (64.0 * rounding).max(4.0 * rounding * amplification);
        let base =
            tolerances.rank.filter(|t| t.is_finite() && *t >= 0.0).map_or(own, |t| t.max(rounding));

        self.weigh_by_noise(live, base);
        self.qr.clone_from(&self.b);
        zeros(&mut self.tau, n.min(live));
        self.pivots.resize(live, 0);
        let steps =
            qr::factor_pivoted(&mut self.qr, n, live, &mut self.tau, &mut self.pivots[..live]);
        self.ratios.clear();
        for k in 0..steps {
            self.ratios.push((self.qr[k * live + k] / self.qr[0]).abs());
        }
        let tau = if scaled.noisy { base.max(self.noise_level(live, base)) } else { base };
        let explained = scaled.noisy.then(|| WEAK * own.max(self.noise_level(live, own)));
        self.tolerance = tau;
        let low = GREY.0.max(own / 16.0);
        let high = GREY.1.max(AROUND * tau);
        let doubtful = |ratio: &f64| (low..=high).contains(ratio);
        if self.ratios.iter().any(doubtful) {
            self.route = Route::Revealing;
            self.svd.decompose(&self.b, n, live);
            let first = self.svd.sigma.first().copied().unwrap_or(1.0);
            self.ratios.clear();
            self.ratios.extend(self.svd.sigma.iter().map(|s| s / first));
            let distance = |r: f64| (r / tau).ln().abs();
            let grey = self.ratios.iter().copied().filter(|r| doubtful(r));
            self.uncertain = grey.min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        }
        // Below the tolerance there is nothing to measure a gap against.
        self.jacobian = rank_at_gap(&self.ratios, tau, low.max(tau / 16.0));
        self.dropped = self.ratios.get(self.jacobian).copied().unwrap_or(0.0);
        self.weak = explained.filter(|e| self.dropped > *e).map(|_| self.dropped);

        let vanishing = (0..m).filter(|j| !self.rows.contains(j));
        self.order.clear();
        self.order.extend(self.pivots[..live].iter().map(|&k| self.rows[k]));
        self.order.extend(vanishing);
    }

    /// Decides the rank of K = NᵀΓ̃N, which is `size` × `size` with the given noise of its
    /// entries (none if empty), and factors it in place.
    pub fn decide_reduced(
        &mut self,
        k: &mut [f64],
        size: usize,
        noise: &[f64],
        order: &mut [usize],
        n: usize,
    ) -> cholesky::Pivoted {
        // Only an indefinite Γ̃ has entries beyond its diagonal, which is one.
        let largest = if self.negative.is_some() { self.largest_entry.max(1.0) } else { 1.0 };
        let rounding = 64.0 * n as f64 * f64::EPSILON * largest;
        self.limits.clear();
        // If Γ ≻ 0 so is K, and only the sign of its pivots matters.
        let regular = self.metric == n && self.negative.is_none();
        let own = |i: usize| noise.get(i * size + i).copied().unwrap_or(0.0);
        self.limits.extend((0..size).map(
            |i| {
                if regular { 0.0 } else { rounding.max(2.0 * own(i)) }
            },
        ));
        let noise = if regular { &[] } else { noise };
        let found =
            cholesky::factor_pivoted_noisy(k, size, &self.limits, noise, order, &mut self.work);
        if !regular && self.uncertain.is_none() {
            let kept = found.accepted.1;
            if found.rank > 0 && kept < 16.0 * rounding {
                self.uncertain = Some(kept);
            } else if found.rank < size && found.dropped > rounding / 4.0 {
                self.uncertain = Some(found.dropped);
            }
        }
        found
    }

    /// Sets the row-normalized B of the rows that do not vanish, transposed (n × live), and
    /// returns the factor by which forming it may have amplified the rounding of A.
    fn form_b(&mut self, scaled: &Scaled) -> f64 {
        let (n, m) = (scaled.n, scaled.m);
        let euclidean = !self.choose_metric(scaled);
        let (factor, order) = if self.comfortable(n) {
            (&self.metric_factor, &self.metric_order)
        } else {
            (&self.augmented, &self.augmented_order)
        };
        zeros(&mut self.inverse, n * n);
        if !euclidean {
            // |F⁻¹| bounds how errors of A enter B; column by column of the triangle.
            zeros(&mut self.work, n);
            for j in 0..n {
                self.work.fill(0.0);
                self.work[j] = 1.0;
                cholesky::solve_lower(factor, n, n, &mut self.work);
                for i in 0..n {
                    self.inverse[j * n + i] = self.work[i].abs();
                }
            }
        }
        self.rows.clear();
        self.row_noise.clear();
        zeros(&mut self.bound, n);
        zeros(&mut self.work, n);
        zeros(&mut self.b, n * m);
        let mut amplification: f64 = 1.0;
        for j in 0..m {
            let row = &scaled.jacobian[j * n..(j + 1) * n];
            let noise = &scaled.jacobian_noise[j * n..(j + 1) * n];
            let (row_noise, grown);
            if euclidean {
                self.work.copy_from_slice(row);
                self.norms[j] = norm(row);
                (row_noise, grown) = (norm(noise) / self.norms[j], 1.0);
            } else {
                for k in 0..n {
                    self.work[k] = row[order[k]];
                }
                cholesky::solve_lower(factor, n, n, &mut self.work);
                self.norms[j] = norm(&self.work);
                let size_of = |of: &[f64], out: &mut [f64]| {
                    // Most entries of a row are zero.
                    out.fill(0.0);
                    for (k, column) in self.inverse.chunks_exact(n.max(1)).enumerate() {
                        let a = of[order[k]].abs();
                        if a != 0.0 {
                            out[k..].iter_mut().zip(&column[k..]).for_each(|(o, c)| *o += c * a);
                        }
                    }
                    norm(out)
                };
                grown = size_of(row, &mut self.bound) / self.norms[j];
                row_noise = size_of(noise, &mut self.bound) / self.norms[j];
            }
            // A row that its own noise could make vanish says nothing about the motion.
            if self.norms[j] > 0.0 && !(row_noise >= 0.5) {
                for k in 0..n {
                    self.b[k * m + self.rows.len()] = self.work[k] / self.norms[j];
                }
                self.rows.push(j);
                self.row_noise.push(row_noise);
                amplification = amplification.max(grown);
            }
        }
        // Close the gaps that vanishing rows have left.
        let live = self.rows.len();
        for i in 0..n {
            for k in 0..live {
                self.b[i * live + k] = self.b[i * m + k];
            }
        }
        self.b.truncate(n * live);
        amplification
    }

    /// Prepares the factor of the metric for B; false if only the Euclidean one is left.
    fn choose_metric(&mut self, scaled: &Scaled) -> bool {
        let (n, m) = (scaled.n, scaled.m);
        if self.comfortable(n) {
            return true;
        }
        self.augmented.clone_from(&scaled.metric);
        for j in 0..m {
            let row = &scaled.jacobian[j * n..(j + 1) * n];
            for i in 0..n {
                for k in 0..n {
                    self.augmented[i * n + k] += row[i] * row[k];
                }
            }
        }
        self.augmented_order.resize(n, 0);
        self.limits.clear();
        self.limits.resize(n, 0.0);
        let found = cholesky::factor_pivoted(
            &mut self.augmented,
            n,
            &self.limits,
            &mut self.augmented_order,
        );
        found.rank == n && found.accepted.0 / found.accepted.1 < COMFORTABLE
    }

    /// Shortens rows with more noise than the tolerance until they have no more. A row that
    /// is almost noise, brought to unit length, would be as good a choice as any; like this
    /// it is taken if no other row says the same. The best row keeps its length: entries
    /// are compared with the longest.
    fn weigh_by_noise(&mut self, live: usize, base: f64) {
        let least = self.row_noise[..live].iter().fold(f64::INFINITY, |m, x| m.min(*x)).max(base);
        for k in 0..live {
            if self.row_noise[k] > least {
                let weight = least / self.row_noise[k];
                self.b.iter_mut().skip(k).step_by(live).for_each(|b| *b *= weight);
                self.row_noise[k] = least;
            }
        }
    }

    /// What the noise of the rows may leave of a diagonal entry of R that ought to vanish: the
    /// noise of a row plus that of the rows before it, weighted as they combine to give it.
    fn noise_level(&mut self, live: usize, base: f64) -> f64 {
        let mut level: f64 = 0.0;
        for k in 0..self.ratios.len() {
            if k > 0 && !(self.ratios[k - 1] > base.max(level)) {
                break;
            }
            zeros(&mut self.work, k);
            for i in 0..k {
                self.work[i] = self.qr[i * live + k];
            }
            qr::solve_upper(&self.qr, live, k, &mut self.work);
            let noise = self.row_noise[self.pivots[k]]
                + (0..k).map(|i| self.work[i].abs() * self.row_noise[self.pivots[i]]).sum::<f64>();
            if self.ratios[k] <= 2.0 * noise {
                level = level.max(2.0 * noise);
            }
        }
        level
    }
}

/// The rank at tolerance τ; where the ratios around τ leave a choice, the one with the widest gap.
fn rank_at_gap(ratios: &[f64], tau: f64, floor: f64) -> usize {
    let plain = ratios.iter().take_while(|&&r| r > tau).count();
    let at = |k: usize| ratios.get(k).copied().unwrap_or(0.0);
    let gap = |rank: usize| at(rank - 1) / at(rank).max(floor);
    let mut best = plain;
    for rank in 1..=ratios.len() {
        let admissible = at(rank - 1) >= tau / AROUND && at(rank) <= AROUND * tau;
        if admissible && at(rank - 1) > floor && (best == 0 || gap(rank) > gap(best)) {
            best = rank;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::rank_at_gap;

    #[test]
    fn a_gap_near_the_tolerance_overrules_it_and_one_far_away_does_not() {
        assert_eq!(rank_at_gap(&[1.0, 1e-9], 1e-13, 1e-14), 2);
        assert_eq!(rank_at_gap(&[1.0, 5e-13], 1e-13, 1e-14), 1);
        assert_eq!(rank_at_gap(&[1.0, 0.5, 3e-9, 1e-15], 1e-8, 1e-14), 2);
        assert_eq!(rank_at_gap(&[1.0, 0.5, 1e-10, 1e-15], 1e-8, 1e-14), 2);
        assert_eq!(rank_at_gap(&[], 1e-13, 1e-14), 0);
        assert_eq!(rank_at_gap(&[1.0, 1e-16], 1e-13, 1e-14), 1);
    }
}
