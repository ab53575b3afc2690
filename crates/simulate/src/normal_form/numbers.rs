//! The normal form in numbers: Γ, F, C, A, b and what surrounds them at a state.

use crate::noise::Noisy;
use crate::normal_form::layout::{Layout, Outputs, Sparse};
use crate::normal_form::matrix::Matrix;
use crate::normal_form::multiplier_forces::Frozen;
use crate::setting::State;
use crate::setting::extent::{Geometry, natural_accelerations};
use crate::setting::legendre::{self, NewtonError};
use crate::setting::{Setting, Table};
use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{ExprId, Jacobian};
use dalembert_gauss::Pattern;
use dalembert_gauss::coupled::CoupledError;
use dalembert_gauss::eliminations::{Elimination, Scratch, SolveError};
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Noise, Patterns, Terms, Tolerances, row_of};
use std::sync::Arc;

/// Numbers of the normal form. Matrices are dense, row by row; those of a large system are lists of
/// their entries unless made dense.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Size of v.
    pub size: usize,
    /// v.
    pub v: Vec<f64>,
    /// k.
    pub kinematics: Vec<f64>,
    /// K of q̈ = K v̇ + κ.
    pub lift: Vec<f64>,
    /// κ.
    pub lift_bias: Vec<f64>,
    /// Γ.
    pub metric: Vec<f64>,
    /// F.
    pub force: Vec<f64>,
    /// C.
    pub nonideal: Vec<f64>,
    /// A.
    pub jacobian: Vec<f64>,
    /// b.
    pub bias: Vec<f64>,
    /// φ with rounding noise, as in `configuration_residuals`.
    pub configuration: Vec<Noisy>,
    /// ψ with rounding noise, as in `velocity_residuals`.
    pub velocity: Vec<Noisy>,
    /// Rounding noise of Γ.
    pub metric_noise: Vec<f64>,
    /// Rounding noise of F + C.
    pub force_noise: Vec<f64>,
    /// Rounding noise of A.
    pub jacobian_noise: Vec<f64>,
    /// Rounding noise of b.
    pub bias_noise: Vec<f64>,
    /// What Γ_ii is made of nearby.
    pub inertia: Vec<f64>,
    /// Accelerations of the size that the velocities give.
    pub natural: Vec<f64>,
    /// Where the entries of Γ, A and K are, if these are not dense.
    places: Option<[Arc<Pattern>; 3]>,
    /// F and C as functions of the multipliers that occur in them, if any does; their
    /// numbers above are those at the solution.
    law: Option<(Frozen, Table)>,
}

impl Numbers {
    /// Evaluates equations at a state, with dense matrices. Forces that depend on multipliers are
    /// solved for together with these by the default elimination.
    pub fn new(
        setting: &Setting,
        equations: &EquationsOfMotion,
        state: &State,
    ) -> Result<Numbers, NewtonError> {
        Numbers::at(setting, equations, state).map(Numbers::with_zeros)
    }

    /// Makes the matrices dense.
    pub fn with_zeros(mut self) -> Numbers {
        if let Some([metric, jacobian, lift]) = self.places.take() {
            self.lift = lift.dense(&self.lift);
            self.metric_noise = metric.dense_noise(&self.metric, &self.metric_noise);
            self.metric = metric.dense(&self.metric);
            for values in [&mut self.jacobian, &mut self.jacobian_noise] {
                *values = jacobian.dense(values);
            }
        }
        self
    }

    /// The same with the matrices of a large system as lists of their entries.
    pub fn at(
        setting: &Setting,
        equations: &EquationsOfMotion,
        state: &State,
    ) -> Result<Numbers, NewtonError> {
        let system = &setting.model.system;
        let mut table = state.table(system);
        let v = setting.numbers(&equations.own, &table);
        let levels: Vec<ExprId> = equations.levels.iter().map(|l| l.1).collect();
        let levels = setting.numbers(&levels, &table);
        // From here on only q, v and t are known: a state's own velocities or
        // momenta must not leak into a formulation that has others.
        let mut own = crate::setting::Table::default();
        own.set(dalembert_expr::Symbol::TIME, state.t);
        own.set_all(&equations.q, &state.q);
        own.set_all(&equations.v, &v);
        for (level, value) in equations.levels.iter().zip(levels) {
            own.set(level.0, value);
        }
        table = own;
        if let Some(auxiliary) = &equations.auxiliary {
            let (symbols, jacobian) = (&auxiliary.symbols, &auxiliary.jacobian);
            // They serve as a guess, which the equations have to confirm.
            let guess = state.table(system);
            symbols.iter().for_each(|&s| table.set(s, guess.get(s).unwrap_or(0.0)));
            legendre::solve(setting, &mut table, symbols, &auxiliary.residuals, jacobian, None)?;
        }
        let geometry = Geometry::of_equations(&setting.model.exprs, equations);
        let along = geometry.at(setting, &table);
        let lengths = along.lengths();
        let inertia = along.reach_within(&lengths);
        let natural =
            natural_accelerations(&state.q, &state.velocity, &lengths, setting.duration());
        let mut outputs = Outputs::beside(&equations.metric, equations.bodies.as_deref());
        let kinematics = outputs.list(equations.kinematics.iter().copied());
        let lift = outputs.matrix(&equations.lift);
        let lift_bias = outputs.list(equations.lift_bias.iter().copied());
        let layout = Layout::of_equations(&mut outputs, equations);
        let configuration = outputs.list(equations.configuration_residuals.iter().map(|r| r.1));
        let velocity = outputs.list(equations.velocity_residuals.iter().map(|r| r.1));
        let values = setting.evaluate(&outputs.roots, &table);
        let plain: Vec<f64> = values.iter().map(|v| v.value).collect();
        let noise: Vec<f64> = values.iter().map(|v| v.noise).collect();
        let (force, nonideal) = (layout.force, layout.nonideal);
        let force_noise =
            noise[force.clone()].iter().zip(&noise[nonideal.clone()]).map(|(a, b)| a + b).collect();
        let law = Frozen::new(&setting.model.exprs, equations).map(|frozen| (frozen, table));
        let mut numbers = Numbers {
            size: equations.v.len(),
            v,
            kinematics: plain[kinematics].to_vec(),
            lift: lift.values(&plain),
            lift_bias: plain[lift_bias].to_vec(),
            metric: layout.metric.values(&plain),
            force: plain[force].to_vec(),
            nonideal: plain[nonideal].to_vec(),
            jacobian: layout.jacobian.values(&plain),
            bias: plain[layout.bias.clone()].to_vec(),
            configuration: values[configuration].to_vec(),
            velocity: values[velocity].to_vec(),
            metric_noise: layout.metric.values(&noise),
            force_noise,
            jacobian_noise: layout.jacobian.values(&noise),
            bias_noise: noise[layout.bias].to_vec(),
            places: places(&layout.metric, &layout.jacobian, &lift),
            inertia,
            natural,
            law,
        };
        if numbers.law.is_some() {
            let mut outcome = Outcome::default();
            let tolerances = Tolerances::default();
            numbers
                .solve(setting, equations, dalembert_gauss::DEFAULT, &tolerances, &mut outcome)
                .map_err(NewtonError::Coupled)?;
        }
        Ok(numbers)
    }

    /// The motion and the multipliers by an elimination. Forces that depend on multipliers
    /// are then those at the solution.
    pub fn solve(
        &mut self,
        setting: &Setting,
        equations: &EquationsOfMotion,
        elimination: &dyn Elimination,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) -> Result<(), CoupledError> {
        let Some((frozen, mut table)) = self.law.take() else {
            return elimination
                .solve(&mut Scratch::default(), &self.terms(), tolerances, outcome)
                .map_err(CoupledError::Solve);
        };
        // Γ, A and b have to be numbers; F and C are not looked at.
        let zero = vec![0.0; self.size];
        let (force, nonideal) = (zero.clone(), zero.clone());
        let own = std::mem::replace(&mut self.force_noise, zero);
        self.force = force;
        self.nonideal = nonideal;
        let found =
            frozen.solve(setting, &mut table, &self.terms(), elimination, tolerances, outcome);
        self.force_noise = own;
        let coupled = found?;
        // At the solution as the equations say it, with the noise it has there.
        let roots: Vec<ExprId> =
            equations.force.iter().chain(&equations.nonideal).copied().collect();
        let values = setting.evaluate(&roots, &table);
        let (force, nonideal) = values.split_at(self.size);
        self.force = force.iter().map(|v| v.value).collect();
        self.nonideal = nonideal.iter().map(|v| v.value).collect();
        self.force_noise = force.iter().zip(nonideal).map(|(a, b)| a.noise + b.noise).collect();
        if let Some(index) = self.force.iter().position(|f| !f.is_finite()) {
            let error = SolveError::NotFinite { what: "force", index };
            return Err(CoupledError::Solve(error));
        }
        frozen.ambiguous(equations, &coupled, &self.terms(), &outcome.indeterminate)?;
        // Once more with what rounding does to the forces, for the verdict.
        elimination
            .solve(&mut Scratch::default(), &self.terms(), tolerances, outcome)
            .map_err(CoupledError::Solve)?;
        outcome.coupling = Some(coupled.residual);
        self.law = Some((frozen, table));
        Ok(())
    }

    /// The problem to solve.
    pub fn terms(&self) -> Terms<'_> {
        Terms {
            n: self.size,
            m: self.bias.len(),
            metric: &self.metric,
            force: &self.force,
            nonideal: &self.nonideal,
            jacobian: &self.jacobian,
            bias: &self.bias,
            noise: Some(Noise {
                metric: &self.metric_noise,
                force: &self.force_noise,
                jacobian: &self.jacobian_noise,
                bias: &self.bias_noise,
            }),
            inertia: &self.inertia,
            patterns: self
                .places
                .as_ref()
                .map(|[metric, jacobian, _]| Patterns { metric, jacobian }),
        }
    }

    /// A.
    pub fn rows(&self) -> Matrix {
        let pattern = self.places.as_ref().map(|places| places[1].clone());
        Matrix::with_pattern(self.jacobian.clone(), self.size, pattern)
    }

    /// A row of K: (column, entry).
    fn lift_row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        row_of(&self.lift, self.size, self.places.as_ref().map(|places| &places[2]), i)
    }

    /// q̈ = K v̇ + κ.
    pub fn acceleration(&self, v_dot: &[f64]) -> Vec<f64> {
        let direction = self.direction(v_dot);
        direction.iter().zip(&self.lift_bias).map(|(a, b)| a + b).collect()
    }

    /// Which entries of K x vanish, judged by the terms they are made of and so whatever the
    /// units.
    pub fn vanishing(&self, x: &[f64]) -> Vec<bool> {
        let row = |i: usize| self.lift_row(i).map(|(k, a)| (a, x[k]));
        (0..self.lift_bias.len())
            .map(|i| {
                let value: f64 = row(i).map(|(k, x)| k * x).sum();
                let size: f64 = row(i).map(|(k, x)| (k * x).abs()).sum();
                !(value.abs() > 1e-9 * size)
            })
            .collect()
    }

    /// K x.
    pub fn direction(&self, x: &[f64]) -> Vec<f64> {
        let n = self.lift_bias.len();
        (0..n).map(|i| self.lift_row(i).map(|(j, k)| k * x[j]).sum()).collect()
    }
}

/// Where the entries of large matrices are.
fn places(metric: &Sparse, jacobian: &Sparse, lift: &Sparse) -> Option<[Arc<Pattern>; 3]> {
    let places = [metric, jacobian, lift].map(Sparse::pattern);
    match places {
        [Some(metric), Some(jacobian), Some(lift)] => {
            Some([metric.clone(), jacobian.clone(), lift.clone()])
        }
        _ => None,
    }
}

/// A sparse matrix's values in their places.
pub fn dense(matrix: &Jacobian, values: &[f64]) -> Vec<f64> {
    let mut full = vec![0.0; matrix.rows.len() * matrix.columns];
    let mut next = values.iter();
    for (i, row) in matrix.rows.iter().enumerate() {
        for &(j, _) in row {
            full[i * matrix.columns + j] = next.next().copied().unwrap_or(0.0);
        }
    }
    full
}
