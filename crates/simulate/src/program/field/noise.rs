//! Rounding noise of the terms, by which it is decided what is zero.

use super::{Field, FieldError};
use crate::noise::TRIES;
use crate::normal_form::layout::{Columns, Layout, Outputs, entries, pattern};
use crate::setting::Table;
use crate::setting::extent::{Geometry, velocity_extents};
use dalembert_expr::{ExprId, Jacobian, Random, Symbol};
use dalembert_gauss::Scratch;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Terms, Tolerances};

/// Rounding noise of the terms at some state on the way; it changes little.
#[derive(Clone, Debug, Default)]
pub struct FieldNoise {
    pub(super) metric: Vec<f64>,
    pub(super) force: Vec<f64>,
    /// Of A.
    pub jacobian: Vec<f64>,
    /// Of b.
    pub bias: Vec<f64>,
    /// Of φ_q.
    pub position_jacobian: Vec<f64>,
    /// Of M.
    pub mass: Vec<f64>,
    /// Of φ.
    pub positions: Vec<f64>,
    /// Of ψ where all velocities are 0.
    pub velocities: Vec<f64>,
    /// Of A by rounding, and by that of the positions at which it is evaluated.
    pub rows: Vec<f64>,
    /// What Γ_ii is made of nearby.
    pub inertia: Vec<f64>,
    /// What M_ii is made of nearby.
    pub mass_inertia: Vec<f64>,
    /// The scale that the model gives to each component of (q, v); 0 where it gives none.
    pub extents: Vec<f64>,
}

/// The noise of rates that are no more than noise; 0 for all others.
pub(crate) fn still(rates: &[f64], noise: &[f64]) -> Vec<f64> {
    let at = |(rate, noise): (&f64, &f64)| if rate.abs() <= *noise { *noise } else { 0.0 };
    rates.iter().zip(noise).map(at).collect()
}

impl Field {
    /// Evaluates the terms once more with bounds on their rounding errors. Rows whose
    /// entries all vanish on the constraints are noise there, which only these bounds
    /// tell.
    pub fn refresh_noise(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        self.load(t, x)?;
        let (n, size) = (self.n, self.size);
        let equations = &self.equations;
        let table = self.table(t, x);
        let exprs = &self.setting.model.exprs;
        let [geometry, mass] = self.geometry.get_or_init(|| {
            let mass = match equations.metric.rows == self.whole_mass.rows {
                true => Geometry::default(),
                false => Geometry::of_metric(exprs, &equations.q, &self.whole_mass),
            };
            [Geometry::of_equations(exprs, equations), mass]
        });
        let along = geometry.at(&self.setting, &table);
        let (mut extents, lengths) = (along.extents(), along.lengths());
        let inertia = along.reach_within(&lengths);
        // A position is known to a rounding error of its own size, or of the one it has on the
        // constraints: no projection leaves less.
        let known = lengths.iter().zip(x).map(|(s, q)| s.max(q.abs()));
        let slopes = along.slopes_within(&known.collect::<Vec<f64>>());
        let mass_inertia = match equations.metric.rows == self.whole_mass.rows {
            true => inertia.clone(),
            false => mass.at(&self.setting, &table).reach_within(&lengths),
        };
        let own = &x[n..n + size];
        if equations.v == self.setting.model.system.velocities() {
            extents.extend(velocity_extents(&extents, own, self.duration));
        } else {
            extents.extend(own.iter().map(|v| v.abs()));
        }
        let mut outputs = Outputs::beside(&equations.metric, equations.bodies.as_deref());
        let layout = Layout::of_equations(&mut outputs, equations);
        let mut outputs = outputs.go_on_beside(&self.whole_mass, equations.bodies.as_deref());
        let position_jacobian = outputs.matrix(&self.phi_q);
        let mass = outputs.matrix(&self.mass_matrix);
        let positions = outputs.list(equations.configuration_residuals.iter().map(|r| r.1));
        // What is not known to be noisy is taken as exact.
        let noise_of = |roots: &[ExprId], table: &Table| -> Vec<f64> {
            let values = self.setting.evaluate(roots, table);
            values.iter().map(|v| if v.noise.is_finite() { v.noise } else { 0.0 }).collect()
        };
        let noise = noise_of(&outputs.roots, &table);
        // What velocities add to it goes by those at hand, not by those here.
        let mut still = table;
        still.set_all(&equations.v, &vec![0.0; size]);
        let rows: Vec<ExprId> = equations.velocity_residuals.iter().map(|r| r.1).collect();
        let velocities = noise_of(&rows, &still);
        let digits: Vec<f64> = entries(&equations.jacobian)
            .map(|entry| f64::EPSILON * slopes.get(&entry).copied().unwrap_or(0.0))
            .collect();
        let digits = match layout.jacobian.pattern() {
            Some(_) => digits,
            None => crate::normal_form::dense(&equations.jacobian, &digits),
        };
        let (force, nonideal) = (&noise[layout.force], &noise[layout.nonideal]);
        let jacobian = layout.jacobian.values(&noise);
        self.noise = FieldNoise {
            metric: layout.metric.values(&noise),
            force: force.iter().zip(nonideal).map(|(a, b)| a + b).collect(),
            bias: noise[layout.bias].to_vec(),
            position_jacobian: position_jacobian.values(&noise),
            mass: mass.values(&noise),
            positions: noise[positions].to_vec(),
            velocities,
            rows: jacobian.iter().zip(digits).map(|(a, b)| a + b).collect(),
            jacobian,
            inertia,
            mass_inertia,
            extents,
        };
        Ok(())
    }

    /// Bounds on what rounding does to each v̇ where a state is at rest: where v̇ is no more than
    /// the rounding errors of the forces that balance there,
    ///
    /// ```text
    /// Γ_ii |v̇_i| ≤ 16 (δF_i + ε Σ_j |A_ji λ_j|)
    /// ```
    ///
    /// and 0 for all others.
    pub fn rest_noise(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        let (rates, noise) = self.rate_noise(t, x);
        still(&rates, &noise)
    }

    /// v̇ at a state, and what rounding may have done to it: 16 (δF_i + ε Σ_j |A_ji λ_j|) / Γ_ii.
    ///
    /// Along a tree Γ is far from diagonal: Γ_ii is the inertia of all that hangs on joint i, and v̇ is
    /// what large forces leave of each other. Of 1000 joints the rounding of v̇ is 10⁷ times what Γ_ii
    /// says. There the problem is solved for forces ±δF of random signs instead,
    ///
    /// ```text
    /// Γ δv̇ = ±δF + Aᵀ δλ,   A δv̇ = 0 ,
    /// ```
    ///
    /// and the largest of what comes of them is taken.
    pub fn rate_noise(&mut self, t: f64, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        const FACTOR: f64 = 16.0;
        let (n, size) = (self.n, self.size);
        let mut rates = vec![0.0; n + size + 1];
        if self.lasting_rates(t, x, &mut rates).is_err() {
            return (vec![0.0; size], vec![0.0; size]);
        }
        let equations = &self.equations;
        let roots: Vec<ExprId> =
            equations.force.iter().chain(&equations.nonideal).copied().collect();
        let values = self.setting.evaluate(&roots, &self.table(t, x));
        let mut held = vec![0.0; size];
        let multipliers = self.multipliers().to_vec();
        // Multipliers are solved for together: what one of them is off by, all of the rows that hang
        // together may be.
        let shared = self.shared(&multipliers);
        for (row, (l, shared)) in multipliers.iter().zip(shared).enumerate() {
            let l = l.abs().max(shared);
            self.row(&self.work.jacobian, row).for_each(|(i, a)| held[i] += (a * l).abs());
        }
        let own = |i: usize| values[i].noise + values[size + i].noise + f64::EPSILON * held[i];
        let forces: Vec<f64> = (0..size).map(own).collect();
        let bound = |i: usize| {
            let noise = FACTOR * forces[i] / self.last_mass(i).abs();
            if noise.is_finite() { noise } else { 0.0 }
        };
        let mut noise: Vec<f64> = (0..size).map(bound).collect();
        if self.equations.bodies.is_some()
            && let Some(along) = self.solved_noise(t, x, &forces)
        {
            noise = along;
        }
        (rates[n..n + size].to_vec(), noise)
    }

    /// The largest force where the field was evaluated last, in units of equal mass: |F_i|/√Γ_ii.
    pub(crate) fn push(&self) -> f64 {
        let (work, layout) = (&self.work, &self.layout.normal);
        let terms = layout.terms(&work.output, &work.metric, &work.jacobian);
        let forces = terms.force.iter().zip(terms.nonideal).enumerate();
        let sizes = forces.map(|(i, (f, c))| (f + c).abs() / self.last_mass(i).abs().sqrt());
        sizes.filter(|size| size.is_finite()).fold(0f64, f64::max)
    }

    /// The largest v̇ of forces of this size and random signs, where nothing else acts; `None` where
    /// they are not known.
    fn solved_noise(&mut self, t: f64, x: &[f64], forces: &[f64]) -> Option<Vec<f64>> {
        self.evaluate(t, x).ok()?;
        let (work, layout) = (&self.work, &self.layout.normal);
        let nothing = vec![0.0; layout.bias.len()];
        let still = vec![0.0; forces.len()];
        let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
        let mut most = vec![0f64; forces.len()];
        for number in 0..TRIES {
            let mut random = Random::new(0x5851_f42d_4c95_7f2d ^ (number + 1));
            let force: Vec<f64> = forces.iter().map(|f| f * random.signed().signum()).collect();
            let terms = Terms {
                force: &force,
                nonideal: &still,
                bias: &nothing,
                inertia: &self.noise.inertia,
                ..layout.terms(&work.output, &work.metric, &work.jacobian)
            };
            self.elimination
                .solve(&mut scratch, &terms, &Tolerances::default(), &mut outcome)
                .ok()?;
            for (most, v_dot) in most.iter_mut().zip(&outcome.v_dot) {
                *most = most.max(v_dot.abs());
            }
        }
        most.iter().all(|noise| noise.is_finite()).then_some(most)
    }

    /// For each row the largest multiplier of those that it hangs together with by coordinates, as large
    /// as it is for a row of this length in units of equal mass.
    fn shared(&self, multipliers: &[f64]) -> Vec<f64> {
        let count = multipliers.len();
        let rows: Vec<Vec<(usize, f64)>> =
            (0..count).map(|row| self.row(&self.work.jacobian, row).collect()).collect();
        let length = |row: &Vec<(usize, f64)>| {
            let squares = row.iter().map(|&(i, a)| a * a / self.last_mass(i).abs());
            squares.filter(|s| s.is_finite()).sum::<f64>().sqrt()
        };
        let lengths: Vec<f64> = rows.iter().map(length).collect();
        // The largest of each coordinate and its rows, until nothing grows.
        let mut sizes: Vec<f64> =
            lengths.iter().zip(multipliers).map(|(a, l)| a * l.abs()).collect();
        let mut of = vec![0f64; self.size];
        for _ in 0..=count {
            let mut grows = false;
            for (row, size) in rows.iter().zip(&mut sizes) {
                let most = row.iter().fold(*size, |m, &(i, _)| m.max(of[i]));
                grows |= most > *size || row.iter().any(|&(i, _)| of[i] < most);
                *size = most;
                row.iter().for_each(|&(i, _)| of[i] = most);
            }
            if !grows {
                break;
            }
        }
        let of_row = |(size, length): (f64, f64)| if length > 0.0 { size / length } else { 0.0 };
        sizes.into_iter().zip(lengths).map(of_row).collect()
    }

    /// Values for the symbols of the equations at the state that was loaded last.
    fn table(&self, t: f64, x: &[f64]) -> Table {
        let (n, size) = (self.n, self.size);
        let equations = &self.equations;
        let mut table = Table::with_capacity(self.work.input.len());
        table.set(Symbol::TIME, t);
        table.set_all(&equations.q, &x[..n]);
        table.set_all(&equations.v, &x[n..n + size]);
        if let Some(auxiliary) = &equations.auxiliary {
            table.set_all(&auxiliary.symbols, &self.work.auxiliary);
        }
        for (multiplier, &value) in equations.multipliers.iter().zip(&self.work.coupled.lambda) {
            table.set(multiplier.1, value);
        }
        table
    }

    /// The diagonal of KᵀMK at a state, K = ∂q̇/∂v: the mass that each own velocity moves, in
    /// whatever units it has. `None` where velocities stand behind what is moved, or there is no
    /// value.
    pub fn kinetic_diagonal(&mut self, t: f64, x: &[f64]) -> Option<Vec<f64>> {
        if self.equations.auxiliary.is_some() || self.load(t, x).is_err() {
            return None;
        }
        let exprs = &self.setting.model.exprs;
        if self.equations.v == self.setting.model.system.velocities() {
            let mut diagonal = self.mass_diagonal(t, x);
            diagonal.iter_mut().for_each(|m| *m = m.abs());
            return diagonal.iter().all(|g| g.is_finite()).then_some(diagonal);
        }
        let of_coordinates = &self.equations.kinematics[..self.equations.n_coordinates()];
        let kinematics = exprs.jacobian(of_coordinates, &self.equations.v);
        let entries = |m: &Jacobian| entries(m).collect::<Vec<_>>();
        let table = self.table(t, x);
        let (n, size) = (self.n, self.size);
        let k = self.setting.numbers(&entries(&kinematics), &table);
        let mass = self.setting.numbers(&entries(&self.whole_mass), &table);
        let (places, of_mass) = (pattern(&kinematics), pattern(&self.whole_mass));
        let columns = Columns::new(&places, &k);
        let (mut column, mut diagonal) = (vec![0.0; n], Vec::with_capacity(size));
        for j in 0..size {
            columns.of(j).for_each(|(i, k)| column[i] = k);
            let row =
                |i: usize| of_mass.entries_of(i, &mass).map(|(l, m)| m * column[l]).sum::<f64>();
            diagonal.push(columns.of(j).map(|(i, k)| k * row(i)).sum::<f64>().abs());
            columns.of(j).for_each(|(i, _)| column[i] = 0.0);
        }
        diagonal.iter().all(|g| g.is_finite()).then_some(diagonal)
    }

    /// M_ii at a state; NaN where it has no value.
    pub fn mass_diagonal(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        if self.load(t, x).is_err() {
            return vec![f64::NAN; self.n];
        }
        let entry = |(i, row): (usize, &Vec<(usize, ExprId)>)| {
            row.iter().find(|e| e.0 == i).map_or(ExprId::ZERO, |e| e.1)
        };
        let roots: Vec<ExprId> = self.whole_mass.rows.iter().enumerate().map(entry).collect();
        self.setting.numbers(&roots, &self.table(t, x))
    }

    /// Noise as last found.
    pub fn noise(&self) -> &FieldNoise {
        &self.noise
    }

    /// The same, to be widened.
    pub fn noise_mut(&mut self) -> &mut FieldNoise {
        &mut self.noise
    }
}
