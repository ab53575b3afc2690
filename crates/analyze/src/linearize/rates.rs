//! The equations of motion and their slopes at a state.
//!
//! With the accelerations a = v̇ and the multipliers λ as symbols of their own ([`Residual`]),
//!
//! ```text
//! R(q, v, t; a, λ) = Γ a − F − C − Aᵀλ = 0        S(q, v, t; a) = A a − b = 0
//! ```
//!
//! hold along every motion, and so their derivative in any direction (δq, δv, δt) along which the
//! constraints stay satisfied:
//!
//! ```text
//! Γ δa − Aᵀδλ = −(R_q δq + R_v δv + R_t δt)       A δa = −(S_q δq + S_v δv + S_t δt)
//! ```
//!
//! That is the problem of mechanics once more, with another right-hand side, and it is solved by
//! the same elimination. No pseudo-inverse is differentiated; R_q holds the geometric stiffness
//! −∂(Aᵀλ)/∂q by itself. All slopes come from the expressions.
//!
//! Where F and C depend on λ themselves (friction by a normal force), with D = ∂(F + C)/∂λ,
//!
//! ```text
//! Γ δa − (Aᵀ + D) δλ = …
//! ```
//!
//! is solved by the same elimination too: δλ = L(f + D δλ), L the map from forces to multipliers
//! that it gives, is a small linear system for those δλ that occur in forces.
//!
//! At a switch (a sign, a modulus, a condition) that has different slopes on its sides there are
//! no linear equations; where both sides agree, as of max(x, 0)² at 0, there are.

use super::LinearizeError;
use dalembert_derive::{Choices, EquationsOfMotion, Residual, for_system};
use dalembert_expr::{ExprId, Jacobian, Switch, SwitchKind, Symbol};
use dalembert_gauss::linalg::lu;
use dalembert_gauss::{Factored, Solver};
use dalembert_simulate::normal_form::dense;
use dalembert_simulate::normal_form::multiplier_forces;
use dalembert_simulate::{
    DEFAULT, Noisy, Numbers, Outcome, Scratch, Setting, State, Table, Terms, Tolerances, Verdict,
};
use std::cell::RefCell;

/// Rows that depend on each other only where the constraints hold are dependent at a state that
/// was found by iteration up to this.
const RANK: f64 = 1e-9;

/// The equations of a model in the variables it is written in: v is q̇, or p.
pub(crate) struct Rates<'s> {
    pub setting: &'s Setting,
    pub equations: EquationsOfMotion,
    /// Number of coordinates.
    pub n: usize,
    /// Number of coordinates and states.
    pub wide: usize,
    /// Number of constraint rows.
    pub m: usize,
    /// R and S, with the symbols of a and λ.
    pub residual: Residual,
    /// The inputs that the equations hold, where these are symbols.
    pub inputs: Vec<Driver>,
    /// k, R, S, φ and ψ, in this order, by (q, z, v, t, u).
    slopes: Jacobian,
    entries: Vec<ExprId>,
    /// D, by the multipliers that occur in forces, and their rows.
    coupling: Jacobian,
    coupled: Vec<usize>,
    /// R, S and the slopes with their switches frozen.
    frozen: Vec<ExprId>,
    switches: Vec<Switch>,
}

/// Where the blocks of the slopes begin.
pub(crate) struct Blocks {
    pub balance: usize,
    pub binding: usize,
    pub configuration: usize,
    pub velocity: usize,
    pub end: usize,
}

/// The slopes at a state.
pub(crate) struct Point {
    pub state: State,
    /// v.
    pub v: Vec<f64>,
    pub numbers: Numbers,
    /// a and λ.
    pub outcome: Outcome,
    /// A matrix with a column for each of q, z, v, t and the inputs.
    pub slopes: Vec<f64>,
    columns: usize,
    /// Bounds on its rounding errors.
    pub noise: Vec<f64>,
    /// Multipliers that occur in forces: the row, and ∂(F + C)/∂λ of it.
    coupling: Vec<(usize, Vec<f64>)>,
    /// What solves for the response to a direction, with the decision made for the first.
    room: RefCell<(Scratch, Factored)>,
}

/// An input, or one of its rates, that the equations of motion hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Driver {
    /// The input.
    pub input: usize,
    /// 0 for u, 1 for u', 2 for u''.
    pub order: usize,
    /// Its symbol.
    pub symbol: Symbol,
}

/// δ(q̇, ż), δa and δλ.
pub type Response = (Vec<f64>, Vec<f64>, Vec<f64>);

impl<'s> Rates<'s> {
    pub fn new(setting: &'s Setting) -> Result<Rates<'s>, LinearizeError> {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        system.of_one_phase().map_err(LinearizeError::Equations)?;
        let equations = for_system(system)
            .derive(exprs, system, &Choices::default())
            .map_err(LinearizeError::Equations)?;
        let (n, m) = (equations.v.len(), equations.rows.len());
        let residual = Residual::new(exprs, &equations);
        let coupled: Vec<usize> = equations.multiplier_rows().into_iter().flatten().collect();
        let by: Vec<Symbol> = coupled.iter().map(|&row| residual.multipliers[row]).collect();
        let coupling =
            multiplier_forces::derivatives(exprs, &residual.force, &residual.nonideal, &by);
        let mut roots = residual.kinematics.clone();
        roots.extend(&residual.dynamics);
        roots.extend(residual.rows.iter().map(|row| row.acceleration));
        roots.extend(&residual.positions);
        roots.extend(&residual.velocities);
        let mut variables = equations.q.clone();
        variables.extend(&equations.v);
        variables.push(Symbol::TIME);
        let inputs = drivers(setting, &roots);
        variables.extend(inputs.iter().map(|u| u.symbol));
        let slopes = exprs.jacobian(&roots, &variables);
        let entries: Vec<ExprId> = slopes.rows.iter().flatten().map(|e| e.1).collect();
        let all: Vec<ExprId> = roots.iter().chain(&entries).copied().collect();
        let (frozen, switches) = exprs.freeze_switches(&all);
        Ok(Rates {
            setting,
            equations,
            n,
            wide: setting.model.system.configuration().len(),
            m,
            residual,
            inputs,
            slopes,
            entries,
            coupling,
            coupled,
            frozen,
            switches,
        })
    }

    pub fn blocks(&self) -> Blocks {
        let binding = self.wide + self.n;
        let configuration = binding + self.m;
        let velocity = configuration + self.equations.configuration_residuals.len();
        let end = velocity + self.equations.velocity_residuals.len();
        Blocks { balance: self.wide, binding, configuration, velocity, end }
    }

    /// k, R, S, φ and ψ by (q, z, v, t, u).
    pub fn slopes(&self) -> &Jacobian {
        &self.slopes
    }

    /// The slopes at a state, which must have one motion.
    pub fn at(&self, state: &State) -> Result<Point, LinearizeError> {
        let numbers =
            Numbers::new(self.setting, &self.equations, state).map_err(LinearizeError::Legendre)?;
        let mut outcome = Outcome::default();
        let tolerances = Tolerances { rank: Some(RANK), ..Tolerances::default() };
        DEFAULT
            .solve(&mut Scratch::default(), &numbers.terms(), &tolerances, &mut outcome)
            .map_err(|error| LinearizeError::Solve { error, state: Box::new(state.clone()) })?;
        if outcome.motion != Verdict::Unique {
            let undetermined = (0..self.n).filter(|&i| outcome.undetermined[i]).collect();
            return Err(LinearizeError::NoMotion {
                motion: outcome.motion,
                undetermined,
                state: Box::new(state.clone()),
            });
        }
        let table = self.table(state, &numbers.v, &outcome);
        let values = self.setting.evaluate(&self.entries, &table);
        let slopes = dense(&self.slopes, &values.iter().map(|v| v.value).collect::<Vec<_>>());
        let noise = dense(&self.slopes, &values.iter().map(|v| v.noise).collect::<Vec<_>>());
        if slopes.iter().any(|x| !x.is_finite()) {
            return Err(LinearizeError::NotSmooth { state: Box::new(state.clone()) });
        }
        let list: Vec<ExprId> = self.coupling.rows.iter().flatten().map(|e| e.1).collect();
        let by_lambda = dense(&self.coupling, &self.setting.numbers(&list, &table));
        let count = self.coupled.len();
        let coupling = (0..count)
            .map(|c| (self.coupled[c], (0..self.n).map(|i| by_lambda[i * count + c]).collect()))
            .collect();
        Ok(Point {
            state: state.clone(),
            v: numbers.v.clone(),
            numbers,
            outcome,
            columns: self.slopes.columns,
            slopes,
            noise,
            coupling,
            room: RefCell::default(),
        })
    }

    /// Values for all symbols of the equations at a state.
    pub fn table(&self, state: &State, v: &[f64], outcome: &Outcome) -> Table {
        let mut table = state.table(&self.setting.model.system);
        table.set_all(&self.equations.v, v);
        table.set_all(&self.residual.accelerations, &outcome.v_dot);
        table.set_all(&self.residual.multipliers, &outcome.multipliers);
        table
    }

    /// Whether all switches that a point lies on have the same slopes on both sides.
    pub fn is_smooth(&self, point: &Point) -> bool {
        if self.switches.is_empty() {
            return true;
        }
        let mut table = self.table(&point.state, &point.v, &point.outcome);
        let mut open = Vec::new();
        // What is inside of a switch comes before it.
        for switch in &self.switches {
            let guards = self.setting.evaluate(&switch.guards, &table);
            if guards.iter().any(|g| g.value.abs() <= 64.0 * g.noise) {
                open.push(switch);
            }
            let side = self.setting.number(switch.value, &table);
            table.set(switch.mode, if side == 0.0 { lower(switch) } else { side });
        }
        let here = self.setting.evaluate(&self.frozen, &table);
        open.iter().all(|switch| {
            let mut other = table.clone();
            other.set(switch.mode, 1.0);
            let above = self.setting.evaluate(&self.frozen, &other);
            other.set(switch.mode, lower(switch));
            let below = self.setting.evaluate(&self.frozen, &other);
            let same = |a: &Noisy, b: &Noisy, here: &Noisy| {
                let size = a.value.abs().max(b.value.abs()).max(here.value.abs());
                (a.value - b.value).abs() <= 64.0 * (a.noise + b.noise) + 1e-12 * size
            };
            above.iter().zip(&below).zip(&here).all(|((a, b), here)| same(a, b, here))
        })
    }
}

/// The inputs and their rates among the symbols of some expressions.
fn drivers(setting: &Setting, roots: &[ExprId]) -> Vec<Driver> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    if system.open.is_some() || system.inputs.is_empty() {
        return Vec::new();
    }
    let found = exprs.symbols_of(roots);
    let all = system.inputs.iter().enumerate().flat_map(|(input, u)| {
        let symbols = [u.symbol, u.rate, u.second];
        (0..3).map(move |order| Driver { input, order, symbol: symbols[order] })
    });
    all.filter(|u| found.contains(&u.symbol)).collect()
}

/// The other value of a switch than 1.
fn lower(switch: &Switch) -> f64 {
    if switch.kind == SwitchKind::Sign { -1.0 } else { 0.0 }
}

impl Point {
    /// The columns of the slopes.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A row of the slopes.
    pub fn row(&self, at: usize) -> &[f64] {
        &self.slopes[at * self.columns()..(at + 1) * self.columns()]
    }

    /// The change of rows of the slopes along (δq, δz, δv, δt, δu); what is left out is 0.
    pub fn change(&self, rows: std::ops::Range<usize>, along: &[f64]) -> Vec<f64> {
        rows.map(|at| dalembert_gauss::linalg::dot(self.row(at), along)).collect()
    }

    /// δ(q̇, ż), δa and δλ along a direction in which the constraints stay satisfied.
    pub fn response(&self, blocks: &Blocks, along: &[f64]) -> Result<Response, LinearizeError> {
        let negative = |list: Vec<f64>| -> Vec<f64> { list.into_iter().map(|x| -x).collect() };
        let force = negative(self.change(blocks.balance..blocks.binding, along));
        let bias = negative(self.change(blocks.binding..blocks.configuration, along));
        let terms = Terms {
            force: &force,
            nonideal: &vec![0.0; self.v.len()],
            bias: &bias,
            noise: None,
            inertia: &[],
            patterns: None,
            ..self.numbers.terms()
        };
        let mut outcome = self.solve(&terms)?;
        if !self.coupling.is_empty() {
            let more = self.coupled(&terms, &outcome)?;
            let force: Vec<f64> = force.iter().zip(more).map(|(a, b)| a + b).collect();
            outcome = self.solve(&Terms { force: &force, ..terms })?;
        }
        Ok((self.change(0..blocks.balance, along), outcome.v_dot, outcome.multipliers))
    }

    fn solve(&self, terms: &Terms) -> Result<Outcome, LinearizeError> {
        let tolerances =
            Tolerances { rank: Some(RANK), least_squares: true, ..Tolerances::default() };
        let mut outcome = Outcome::default();
        let (scratch, factored) = &mut *self.room.borrow_mut();
        let was_decided = factored.is_decided();
        let solved =
            Solver::new(DEFAULT, &tolerances, scratch, Some(factored)).solve(terms, &mut outcome);
        solved.map_err(|error| LinearizeError::Solve {
            error,
            state: Box::new(self.state.clone()),
        })?;
        // Directions differ in their right-hand sides only: what is decided for the first serves
        // all of them.
        if !was_decided {
            factored.adopt(scratch, &outcome);
        }
        Ok(outcome)
    }

    /// D δλ, given the multipliers without it: (I − L D) δλ = L f.
    fn coupled(&self, terms: &Terms, without: &Outcome) -> Result<Vec<f64>, LinearizeError> {
        let count = self.coupling.len();
        let bias = vec![0.0; terms.m];
        let mut matrix = vec![0.0; count * count];
        for (c, (_, column)) in self.coupling.iter().enumerate() {
            let found = self.solve(&Terms { force: column, bias: &bias, ..*terms })?;
            for (k, (row, _)) in self.coupling.iter().enumerate() {
                matrix[k * count + c] = f64::from(u8::from(k == c)) - found.multipliers[*row];
            }
        }
        let mut lambda: Vec<f64> =
            self.coupling.iter().map(|(row, _)| without.multipliers[*row]).collect();
        let mut order = vec![0; count];
        if !lu::factor(&mut matrix, count, &mut order) {
            return Err(LinearizeError::NotSmooth { state: Box::new(self.state.clone()) });
        }
        lu::solve(&matrix, count, &order, &mut lambda, &mut vec![0.0; count]);
        let mut force = vec![0.0; self.v.len()];
        for ((_, column), l) in self.coupling.iter().zip(lambda) {
            force.iter_mut().zip(column).for_each(|(f, d)| *f += d * l);
        }
        Ok(force)
    }
}
