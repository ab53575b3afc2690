//! Equilibration of [[Γ, Aᵀ], [A, 0]], so that no later decision depends on units.
//!
//! With v̇ = c x and rows multiplied by d the problem becomes Γ̃ = c Γ c, F̃ = c (F + C), Ã = d A c,
//! b̃ = d b and λ = d μ. Coordinates with mass take c_i = Γ_ii^(−1/2). A coordinate without mass
//! takes its size from the rows that touch it, by the logarithmic least squares of Curtis & Reid
//! 1972: c and d minimize Σ (log|A_ji| + log c_i + log d_j)² over the entries that do not vanish
//! beside others, with the massive c held fixed. A coordinate in a row that has mass nearby and next to none at
//! this very state takes its unit from the mass nearby: with the unit of the mass that it has
//! here, all rows it is in would seem to say the same. Rows are then brought to unit length. All
//! factors are powers of two, so scaling is exact. Changing the unit of a coordinate, of a row, or of mass changes c and d and leaves the
//! scaled problem as it was, but for factors below two.
//!
//! Entries below their noise are set to zero here, before anything is divided by them.

use crate::error::SolveError;
use crate::linalg::{norm, power_of_two, zeros};
use crate::terms::Terms;
use crate::tolerances::rank::{CLOSE, LIGHT};

/// The problem in equilibrated units, with the factors that lead back.
#[derive(Clone, Debug, Default)]
pub struct Scaled {
    /// Number of coordinates.
    pub n: usize,
    /// Number of rows.
    pub m: usize,
    /// c, by which v̇ = c x.
    pub coordinates: Vec<f64>,
    /// d, by which λ = d μ.
    pub rows: Vec<f64>,
    /// Γ̃, with a diagonal between one half and two, or zero.
    pub metric: Vec<f64>,
    /// c (F + C).
    pub force: Vec<f64>,
    /// c (|F| + |C|), the size of what enters the force.
    pub force_size: Vec<f64>,
    /// Ã, rows of unit length or zero.
    pub jacobian: Vec<f64>,
    /// b̃.
    pub bias: Vec<f64>,
    /// Noise of Γ̃, zero on coordinates taken as massless.
    pub metric_noise: Vec<f64>,
    /// Noise of F̃.
    pub force_noise: Vec<f64>,
    /// Noise of Ã, zero on coordinates that have no mass and are in no row.
    pub jacobian_noise: Vec<f64>,
    /// Noise of b̃.
    pub bias_noise: Vec<f64>,
    /// Which coordinates have no mass of their own.
    pub massless: Vec<bool>,
    /// Whether noise was given.
    pub noisy: bool,
    /// Whether a coordinate took its unit from the mass it has nearby.
    pub is_light: bool,
    log_c: Vec<f64>,
    log_d: Vec<f64>,
    log_a: Vec<f64>,
    open: Vec<bool>,
    next: Vec<f64>,
}

/// The factors c of coordinates and d of rows that bring terms to equilibrated units: v̇ = c x,
/// and a row times d has unit length. Ones where there are none.
#[derive(Clone, Debug, Default)]
pub struct Units {
    /// c.
    pub coordinates: Vec<f64>,
    /// d.
    pub rows: Vec<f64>,
    /// Room for them to be found.
    scaled: Scaled,
}

impl Units {
    /// The units of a problem.
    pub fn of(terms: &Terms) -> Units {
        let mut units = Units::default();
        units.set(terms);
        units
    }

    /// Becomes those of another problem.
    pub fn set(&mut self, terms: &Terms) {
        if terms.patterns.is_some() {
            self.set_sparse(terms);
            return;
        }
        if self.scaled.set(terms).is_ok() {
            self.coordinates.clone_from(&self.scaled.coordinates);
            self.rows.clone_from(&self.scaled.rows);
            return;
        }
        for (list, count) in [(&mut self.coordinates, terms.n), (&mut self.rows, terms.m)] {
            list.clear();
            list.resize(count, 1.0);
        }
    }
}

impl Units {
    /// Of a sparse problem: by masses, here or nearby, and lengths of rows alone.
    fn set_sparse(&mut self, terms: &Terms) {
        self.coordinates.clear();
        for i in 0..terms.n {
            let nearby = terms.inertia.get(i).copied().unwrap_or(0.0);
            let mass = terms.mass(i).abs();
            let mass = if mass > LIGHT * nearby { mass } else { nearby };
            self.coordinates.push(match mass > 0.0 {
                true => power_of_two(-0.5 * mass.log2()),
                false => 1.0,
            });
        }
        self.rows.clear();
        for j in 0..terms.m {
            let own = terms.jacobian_row(j).map(|(i, a)| a * self.coordinates[i]);
            let length = own.map(|a| a * a).sum::<f64>().sqrt();
            self.rows.push(if length > 0.0 { power_of_two(-length.log2()) } else { 1.0 });
        }
    }
}

impl Scaled {
    /// Sets the scaled problem from the terms, which must have passed [`Terms::check`].
    pub fn set(&mut self, terms: &Terms) -> Result<(), SolveError> {
        let (n, m) = (terms.n, terms.m);
        (self.n, self.m, self.noisy) = (n, m, terms.noise.is_some());
        self.take_entries(terms);
        self.scale_coordinates(terms.inertia);
        self.scale_coupled();
        self.scale_metric();
        self.scale_rows();
        for i in 0..n {
            let c = self.coordinates[i];
            self.force[i] *= c;
            self.force_size[i] *= c;
            self.force_noise[i] *= c;
        }
        for (what, values) in [
            ("metric", &self.metric),
            ("force", &self.force),
            ("constraint matrix", &self.jacobian),
            ("constraint right-hand side", &self.bias),
        ] {
            if values.iter().any(|v| !v.is_finite()) {
                return Err(SolveError::Overflow { what });
            }
        }
        Ok(())
    }

    /// Takes over another problem, for some of its rows and with its coordinates in another
    /// order. Noise is left out.
    pub(crate) fn adopt(&mut self, other: &Scaled, rows: &[usize], columns: &[usize]) {
        let (n, m) = (other.n, rows.len());
        (self.n, self.m) = (n, m);
        (self.noisy, self.is_light) = (false, other.is_light);
        self.coordinates.clear();
        self.coordinates.extend(columns.iter().map(|&i| other.coordinates[i]));
        self.rows.clear();
        self.rows.extend(rows.iter().map(|&row| other.rows[row]));
        self.metric.clear();
        for &i in columns {
            self.metric.extend(columns.iter().map(|&j| other.metric[i * n + j]));
        }
        self.jacobian.clear();
        for &row in rows {
            self.jacobian.extend(columns.iter().map(|&i| other.jacobian[row * n + i]));
        }
        zeros(&mut self.force, n);
        zeros(&mut self.bias, m);
        zeros(&mut self.metric_noise, n * n);
        zeros(&mut self.jacobian_noise, m * n);
        zeros(&mut self.force_noise, n);
        zeros(&mut self.bias_noise, m);
    }

    fn take_entries(&mut self, terms: &Terms) {
        let (n, m) = (terms.n, terms.m);
        let noise_at = |of: Option<&[f64]>, k: usize| of.map_or(0.0, |v| v[k].abs());
        let noise = terms.noise;
        zeros(&mut self.metric, n * n);
        zeros(&mut self.metric_noise, n * n);
        for i in 0..n {
            for j in 0..n {
                let (k, l) = (i * n + j, j * n + i);
                self.metric[k] = 0.5 * terms.metric[k] + 0.5 * terms.metric[l];
                let of = noise.map(|v| v.metric);
                self.metric_noise[k] = noise_at(of, k).max(noise_at(of, l));
            }
        }
        self.massless.clear();
        self.massless.extend((0..n).map(|i| {
            let k = i * n + i;
            !(self.metric[k].abs() > 2.0 * self.metric_noise[k])
        }));
        zeros(&mut self.force, n);
        zeros(&mut self.force_size, n);
        zeros(&mut self.force_noise, n);
        for i in 0..n {
            self.force[i] = terms.force[i] + terms.nonideal[i];
            self.force_size[i] = terms.force[i].abs() + terms.nonideal[i].abs();
            self.force_noise[i] = noise_at(noise.map(|v| v.force), i);
        }
        zeros(&mut self.jacobian, m * n);
        zeros(&mut self.jacobian_noise, m * n);
        for k in 0..m * n {
            let bound = noise_at(noise.map(|v| v.jacobian), k);
            self.jacobian_noise[k] = bound;
            self.jacobian[k] =
                if terms.jacobian[k].abs() > bound { terms.jacobian[k] } else { 0.0 };
        }
        // A coordinate without mass and in no row has no size by which its noise could be judged;
        // it takes no part in any row, and so its noise takes none.
        for i in (0..n).filter(|&i| self.massless[i]) {
            if (0..m).all(|j| self.jacobian[j * n + i] == 0.0) {
                (0..m).for_each(|j| self.jacobian_noise[j * n + i] = 0.0);
            }
        }
        zeros(&mut self.bias, m);
        zeros(&mut self.bias_noise, m);
        for j in 0..m {
            self.bias[j] = terms.bias[j];
            self.bias_noise[j] = noise_at(noise.map(|v| v.bias), j);
        }
    }

    fn scale_coordinates(&mut self, inertia: &[f64]) {
        let n = self.n;
        zeros(&mut self.log_c, n);
        self.is_light = false;
        for i in 0..n {
            // Undetermined sizes are −∞: such a coordinate does not move its neighbours yet.
            let mass = self.metric[i * n + i].abs();
            self.log_c[i] = if inertia.get(i).is_some_and(|&nearby| mass < LIGHT * nearby)
                && (0..self.m).any(|j| self.jacobian[j * n + i] != 0.0)
            {
                self.is_light = true;
                -0.5 * inertia[i].log2()
            } else if self.massless[i] {
                f64::NEG_INFINITY
            } else {
                -0.5 * mass.log2()
            };
        }
        if self.log_c.contains(&f64::NEG_INFINITY) {
            self.spread_to_massless();
        }
        self.coordinates.clear();
        self.coordinates.extend(self.log_c.iter().map(|&c| power_of_two(c)));
    }

    /// −(mean of log₂|A_ji| c_i) over the entries of row `j` whose c is known: its scale d so far.
    fn row_level(&self, j: usize) -> Option<f64> {
        let row = self.log_a[j * self.n..(j + 1) * self.n].iter().zip(&self.log_c);
        mean(row.map(|(a, c)| a + c)).map(|level| -level)
    }

    /// The same for coordinate `i`, over the rows whose d is known.
    fn coordinate_level(&self, i: usize) -> Option<f64> {
        let rows = self.log_d.iter().enumerate();
        mean(rows.map(|(j, d)| self.log_a[j * self.n + i] + d)).map(|level| -level)
    }

    fn set_row_levels(&mut self) {
        self.log_d.clear();
        for j in 0..self.m {
            let level = self.row_level(j).unwrap_or(f64::NEG_INFINITY);
            self.log_d.push(level);
        }
    }

    fn spread_to_massless(&mut self) {
        let n = self.n;
        self.log_a.clear();
        self.log_a.extend(self.jacobian.iter().map(|a| a.abs().log2()));
        let unknown = |c: f64| c == f64::NEG_INFINITY;
        self.open.clear();
        self.open.extend(self.log_c.iter().map(|&c| unknown(c)));
        // A start that is itself covariant: outward from the massive coordinates, one layer at a
        // time so that the result does not depend on the order of coordinates.
        loop {
            self.set_row_levels();
            self.next.clear();
            for i in 0..n {
                let known = self.log_c[i];
                let level = if unknown(known) { self.coordinate_level(i) } else { None };
                self.next.push(level.unwrap_or(known));
            }
            if self.next != self.log_c {
                std::mem::swap(&mut self.next, &mut self.log_c);
                continue;
            }
            // A group of massless coordinates tied only to each other has no scale of its own:
            // any will do, since its rows are normalized afterwards.
            match (0..n).find(|&i| unknown(self.log_c[i])) {
                Some(i) => self.log_c[i] = 0.0,
                None => break,
            }
        }
        for _ in 0..40 {
            self.set_row_levels();
            let mut change: f64 = 0.0;
            for i in 0..n {
                if let (true, Some(level)) = (self.open[i], self.coordinate_level(i)) {
                    change = change.max((level - self.log_c[i]).abs());
                    self.log_c[i] = level;
                }
            }
            // Factors are rounded to powers of two anyway.
            if change < 0.05 {
                break;
            }
        }
    }

    /// For Γ ⪰ 0, |Γ_ij|² ≤ Γ_ii Γ_jj: a coordinate without mass cannot be coupled. Where one is, Γ
    /// is indefinite, and the coordinate takes its size from the coupling: from the sizes found so
    /// far, factors that bring the largest entry of its row of Γ̃ to one (Ruiz 2001).
    fn scale_coupled(&mut self) {
        let n = self.n;
        if !self.massless.contains(&true) {
            return;
        }
        let rounding = 64.0 * n as f64 * f64::EPSILON;
        let size = |k: usize| self.metric[k * n + k].abs() + self.metric_noise[k * n + k];
        // log₂ of the largest entry of row i of Γ̃ beyond what Γ ⪰ 0 allows; −∞ if there is none.
        let level = |c: &[f64], i: usize| {
            (0..n).filter(|&j| j != i).fold(f64::NEG_INFINITY, |most: f64, j| {
                let value = self.metric[i * n + j].abs();
                let allowed = self.metric_noise[i * n + j] + size(i).sqrt() * size(j).sqrt();
                let scaled = value * c[i] * c[j];
                let counts = value > 2.0 * allowed && scaled > rounding;
                if counts { most.max(scaled.log2()) } else { most }
            })
        };
        for sweep in 0..40 {
            self.next.clear();
            self.next.extend((0..n).map(|i| {
                if self.massless[i] { level(&self.coordinates, i) } else { f64::NEG_INFINITY }
            }));
            let mut change: f64 = 0.0;
            for (c, level) in self.coordinates.iter_mut().zip(&self.next) {
                if level.is_finite() {
                    *c = power_of_two(c.log2() - 0.5 * level);
                    change = change.max(level.abs());
                }
            }
            if change < 2.0 || sweep == 39 {
                break;
            }
        }
        for (massless, level) in self.massless.iter_mut().zip(&self.next) {
            *massless &= !level.is_finite();
        }
    }

    fn scale_metric(&mut self) {
        let n = self.n;
        for i in 0..n {
            for j in 0..n {
                let k = i * n + j;
                if self.massless[i] || self.massless[j] {
                    self.metric[k] = 0.0;
                    self.metric_noise[k] = 0.0;
                } else {
                    self.metric[k] *= self.coordinates[i];
                    self.metric[k] *= self.coordinates[j];
                    self.metric_noise[k] *= self.coordinates[i];
                    self.metric_noise[k] *= self.coordinates[j];
                }
            }
        }
    }

    fn scale_rows(&mut self) {
        let n = self.n;
        zeros(&mut self.rows, self.m);
        for j in 0..self.m {
            let row = &mut self.jacobian[j * n..(j + 1) * n];
            let noise = &mut self.jacobian_noise[j * n..(j + 1) * n];
            for ((a, noise), c) in row.iter_mut().zip(&mut *noise).zip(&self.coordinates) {
                *a *= c;
                *noise *= c;
            }
            let length = norm(row);
            let d = if length > 0.0 { power_of_two(-length.log2()) } else { 1.0 };
            row.iter_mut().for_each(|a| *a *= d);
            noise.iter_mut().for_each(|a| *a *= d);
            self.rows[j] = d;
            self.bias[j] *= d;
            self.bias_noise[j] *= d;
        }
    }
}

/// Mean of the values within [`CLOSE`] of the largest; −∞ stands for a zero entry or an unknown
/// factor.
fn mean(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    let (sum, count) = values
        .filter(|v| *v != f64::NEG_INFINITY && *v >= most - CLOSE)
        .fold((0.0, 0), |(sum, count), v| (sum + v, count + 1));
    if count == 0 { None } else { Some(sum / f64::from(count)) }
}

/// ‖x‖ / √M_ii, how large each entry alone would be for the length of x; 0 where the
/// metric does not tell. The rounding error of an entry that ought to vanish comes from
/// the others, and only the metric compares them.
pub fn reach(terms: &Terms, x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let square: f64 = x.iter().zip(terms.moved(x)).map(|(x, moved)| x * moved).sum();
    let length = |i: usize| (square / terms.mass(i)).sqrt();
    (0..n).map(length).map(|s| if s.is_finite() { s } else { 0.0 }).collect()
}
