//! The rates of a state, compiled: what an integrator calls.
//!
//! A state is (q, v, W): positions, the formulation's own velocities, and the work
//! done on the system so far. Evaluating the rates means one pass over the tape and
//! one elimination.
//!
//! Which constraint rows enter is decided at states that satisfy the constraints,
//! and kept between them. Rows that depend on each other only on the constraint set
//! are independent next to it, by an amount that is all rounding and truncation;
//! between two states of a step the independent rows found at its beginning define
//! the same motion, smoothly.

use crate::eliminations::{Elimination, Scratch, SolveError};
use crate::integrators::Motion;
use crate::linalg::{self, lu};
use crate::outcome::{self, Outcome};
use crate::power::power_and_mass;
use crate::setting::{Setting, Table};
use crate::terms::{Noise, Terms, Tolerances};
use dalembert_compile::{Function, Scratch as Registers, Tape, compile};
use dalembert_derive::{EquationsOfMotion, Shape};
use dalembert_expr::{ExprId, Jacobian, Switch, SwitchKind, Symbol};
use dalembert_model::system::Level;
use std::ops::Range;

/// Why there are no rates at a state.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldError {
    /// A term is not a number: what, and which.
    NotFinite {
        /// What.
        what: &'static str,
        /// Its place.
        index: usize,
    },
    /// No acceleration, or not one.
    NoMotion(outcome::Motion),
    /// The elimination failed.
    Solve(SolveError),
    /// The velocities behind the momenta (or the reverse) were not found.
    Legendre,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FieldError::NotFinite { what, index } => {
                write!(f, "{what} {} is not a number at this state", index + 1)
            }
            FieldError::NoMotion(motion) => write!(f, "the motion is {}", motion.name()),
            FieldError::Solve(error) => error.fmt(f),
            FieldError::Legendre => f.write_str("the velocities behind the momenta were not found"),
        }
    }
}

/// Where the outputs of the compiled terms lie.
struct Layout {
    kinematics: Range<usize>,
    metric: Vec<usize>,
    force: Range<usize>,
    nonideal: Range<usize>,
    jacobian: Vec<usize>,
    jacobian_at: usize,
    metric_at: usize,
    drift: Range<usize>,
    power: usize,
    row_power: Range<usize>,
}

/// How drift off the constraints is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feedback {
    /// Not by the rates.
    None,
    /// b − 2α φ̇ − α² φ and b − α ψ, with this rate α.
    Baumgarte(f64),
    /// q̇ and v̇ are pulled back to the constraints at this rate.
    Invariant(f64),
}

/// Rounding noise of the terms at some state on the way; it changes little.
#[derive(Clone, Debug, Default)]
pub struct FieldNoise {
    metric: Vec<f64>,
    force: Vec<f64>,
    jacobian: Vec<f64>,
    drift: Vec<f64>,
    /// Of φ_q.
    pub position_jacobian: Vec<f64>,
    /// Of M.
    pub mass: Vec<f64>,
}

/// Compiled rates.
pub struct Field<'m> {
    setting: &'m Setting<'m>,
    noise: FieldNoise,
    phi_q: Jacobian,
    mass_matrix: Jacobian,
    /// The equations.
    pub equations: EquationsOfMotion,
    /// Number of coordinates.
    pub n: usize,
    /// Number of own velocities.
    pub size: usize,
    elimination: &'static dyn Elimination,
    terms: Box<dyn Function>,
    layout: Layout,
    residuals: Residuals,
    auxiliary: Option<Implicit>,
    switchboard: Switchboard,
    constants: Vec<f64>,
    work: Work,
    conserves: bool,
    follows: bool,
    /// Rows in use.
    pub rows: Vec<usize>,
    /// Held by feedback.
    pub feedback: Feedback,
    /// Calls of the rates so far.
    pub evaluations: u64,
}

/// φ, ψ and their derivatives with respect to q and v.
struct Residuals {
    function: Box<dyn Function>,
    positions: usize,
    velocities: usize,
    phi_q: Vec<usize>,
    mass: Vec<usize>,
    slopes: usize,
}

/// Branches of the terms, and where they turn.
struct Switchboard {
    switches: Vec<Switch>,
    function: Box<dyn Function>,
    kinds: Vec<SwitchKind>,
    counts: Vec<usize>,
    first_input: usize,
}

/// Unknowns behind the own variables.
struct Implicit {
    function: Box<dyn Function>,
    places: Vec<usize>,
    count: usize,
}

/// Everything that changes in a call.
#[derive(Default)]
struct Work {
    registers: Registers,
    switch_registers: Registers,
    switch_output: Vec<f64>,
    residual_registers: Registers,
    auxiliary_registers: Registers,
    input: Vec<f64>,
    auxiliary: Vec<f64>,
    output: Vec<f64>,
    residual_output: Vec<f64>,
    auxiliary_output: Vec<f64>,
    metric: Vec<f64>,
    jacobian: Vec<f64>,
    drift: Vec<f64>,
    chosen: Vec<f64>,
    chosen_drift: Vec<f64>,
    scratch: Scratch,
    outcome: Outcome,
    matrix: Vec<f64>,
    order: Vec<usize>,
    step: Vec<f64>,
    spare: Vec<f64>,
}

impl<'m> Field<'m> {
    /// Compiles equations. Levels off the constraints are 0: a motion is on them.
    pub fn new(
        setting: &'m Setting<'m>,
        equations: &EquationsOfMotion,
        elimination: &'static dyn Elimination,
    ) -> Field<'m> {
        let exprs = &setting.model.exprs;
        let equations = equations.on_constraints(exprs);
        let (symbols, constants) = setting.constants();
        let (n, size) = (equations.q.len(), equations.v.len());
        let mut variables = vec![Symbol::TIME];
        variables.extend(&equations.q);
        variables.extend(&equations.v);
        let auxiliary_symbols: Vec<Symbol> =
            equations.auxiliary.iter().flat_map(|a| a.symbols.iter().copied()).collect();
        variables.extend(&auxiliary_symbols);

        let (power, row_power, mass) = power_and_mass(setting, &equations);
        let idle = power == ExprId::ZERO && row_power.iter().all(|&e| e == ExprId::ZERO);
        let system = &setting.model.system;
        let solved = equations.chart.iter().flat_map(|c| c.rows.iter());
        let follows = solved
            .map(|&row| &system.constraints[row])
            .all(|c| c.catastatic == Some(true) && (c.level != Level::Position || c.scleronomic));
        let mut roots = Vec::new();
        let mut take = |list: &mut dyn Iterator<Item = ExprId>| {
            let start = roots.len();
            roots.extend(list);
            start..roots.len()
        };
        let entries =
            |m: &Jacobian| -> Vec<ExprId> { m.rows.iter().flatten().map(|e| e.1).collect() };
        let kinematics = take(&mut equations.kinematics.iter().copied());
        let metric = take(&mut entries(&equations.metric).into_iter());
        let force = take(&mut equations.force.iter().copied());
        let nonideal = take(&mut equations.nonideal.iter().copied());
        let jacobian = take(&mut entries(&equations.jacobian).into_iter());
        let drift = take(&mut equations.drift.iter().copied());
        let power = take(&mut std::iter::once(power)).start;
        let row_power = take(&mut row_power.into_iter());
        let layout = Layout {
            kinematics,
            metric: places(&equations.metric),
            metric_at: metric.start,
            force,
            nonideal,
            jacobian: places(&equations.jacobian),
            jacobian_at: jacobian.start,
            drift,
            power,
            row_power,
        };
        let phi: Vec<ExprId> = equations.configuration_residuals.iter().map(|r| r.1).collect();
        let psi: Vec<ExprId> = equations.velocity_residuals.iter().map(|r| r.1).collect();
        let phi_q = exprs.jacobian(&phi, &equations.q);
        // The mass matrix serves the projection of positions only.
        let mass = if phi.is_empty() { Jacobian { rows: Vec::new(), columns: n } } else { mass };
        let mut outputs = phi.clone();
        outputs.extend(&psi);
        outputs.extend(entries(&phi_q));
        outputs.extend(entries(&mass));
        // S of a chart, to see when it wears out.
        let slopes = outputs.len();
        if let (Some(_), Some(Shape::Matrix(s))) = (&equations.chart, equations.quantity("S")) {
            outputs.extend(entries(s));
        }
        let implicit: Vec<ExprId> = equations
            .auxiliary
            .iter()
            .flat_map(|a| a.residuals.iter().copied().chain(entries(&a.jacobian)))
            .collect();
        // All branches are frozen together, so that one switch is one switch.
        let counts = [roots.len(), outputs.len()];
        let all: Vec<ExprId> = roots.iter().chain(&outputs).chain(&implicit).copied().collect();
        let (all, switches) = exprs.freeze_switches(&all);
        let (roots, rest) = all.split_at(counts[0]);
        let (outputs, implicit) = rest.split_at(counts[1]);
        let before_modes = variables.len();
        variables.extend(switches.iter().map(|s| s.mode));
        let lower = |roots: &[ExprId]| compile(Tape::lower(exprs, roots, &symbols, &variables));
        let terms = lower(roots);
        let residuals = Residuals {
            function: lower(outputs),
            positions: phi.len(),
            velocities: psi.len(),
            phi_q: places(&phi_q),
            mass: places(&mass),
            slopes,
        };
        let auxiliary = equations.auxiliary.as_ref().map(|a| Implicit {
            function: lower(implicit),
            places: places(&a.jacobian),
            count: a.symbols.len(),
        });
        let mut guards: Vec<ExprId> = switches.iter().map(|s| s.value).collect();
        guards.extend(switches.iter().flat_map(|s| s.guards.iter().copied()));
        let switchboard = Switchboard {
            switches: switches.clone(),
            function: lower(&guards),
            kinds: switches.iter().map(|s| s.kind).collect(),
            counts: switches.iter().map(|s| s.guards.len()).collect(),
            first_input: before_modes,
        };
        let m = equations.rows.len();
        let mut work = Work {
            registers: terms.scratch(),
            residual_registers: residuals.function.scratch(),
            input: vec![0.0; variables.len()],
            auxiliary: vec![0.0; auxiliary_symbols.len()],
            output: vec![0.0; terms.outputs()],
            residual_output: vec![0.0; residuals.function.outputs()],
            metric: vec![0.0; size * size],
            jacobian: vec![0.0; m * size],
            drift: vec![0.0; m],
            ..Work::default()
        };
        work.switch_registers = switchboard.function.scratch();
        work.switch_output = vec![0.0; switchboard.function.outputs()];
        switchboard.function.prepare(&mut work.switch_registers, &constants);
        terms.prepare(&mut work.registers, &constants);
        residuals.function.prepare(&mut work.residual_registers, &constants);
        if let Some(implicit) = &auxiliary {
            work.auxiliary_registers = implicit.function.scratch();
            implicit.function.prepare(&mut work.auxiliary_registers, &constants);
            work.auxiliary_output = vec![0.0; implicit.function.outputs()];
            work.matrix = vec![0.0; implicit.count * implicit.count];
            work.order = vec![0; implicit.count];
            work.step = vec![0.0; implicit.count];
            work.spare = vec![0.0; implicit.count];
        }
        Field {
            setting,
            noise: FieldNoise::default(),
            phi_q,
            mass_matrix: mass,
            n,
            size,
            elimination,
            terms,
            layout,
            residuals,
            auxiliary,
            switchboard,
            constants,
            work,
            rows: (0..m).collect(),
            feedback: Feedback::None,
            conserves: idle && follows,
            follows,
            equations,
            evaluations: 0,
        }
    }

    /// The values of the parameters.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// Whether nothing does work on the system, so that its energy is conserved.
    pub fn conserves_energy(&self) -> bool {
        self.conserves
    }

    /// Whether the work done on the system is followed: a chart has no multipliers
    /// for the constraints it solves, and these may do work.
    pub fn follows_work(&self) -> bool {
        self.follows
    }

    /// The unknowns behind v that were found last.
    pub fn auxiliary(&self) -> &[f64] {
        &self.work.auxiliary
    }

    /// Sets t, q and v, and solves for what stands behind v.
    fn load(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        let (n, size) = (self.n, self.size);
        let work = &mut self.work;
        work.input[0] = t;
        work.input[1..1 + n + size].copy_from_slice(&x[..n + size]);
        if let Some(implicit) = &self.auxiliary {
            implicit.solve(work, 1 + n + size)?;
        }
        Ok(())
    }

    /// Evaluates the terms of the normal form into the work space.
    fn evaluate(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        self.load(t, x)?;
        let size = self.size;
        let (work, layout) = (&mut self.work, &self.layout);
        self.terms.call(&mut work.registers, &work.input, &mut work.output);
        self.evaluations += 1;
        for (place, value) in layout.metric.iter().zip(&work.output[layout.metric_at..]) {
            work.metric[*place] = *value;
        }
        for (place, value) in layout.jacobian.iter().zip(&work.output[layout.jacobian_at..]) {
            work.jacobian[*place] = *value;
        }
        work.drift.copy_from_slice(&work.output[layout.drift.clone()]);
        debug_assert_eq!(work.metric.len(), size * size);
        Ok(())
    }

    /// Evaluates the terms once more with bounds on their rounding errors. Rows whose
    /// entries all vanish on the constraints are noise there, which only these bounds
    /// tell.
    pub fn refresh_noise(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        self.load(t, x)?;
        let (n, size) = (self.n, self.size);
        let equations = &self.equations;
        let mut table = Table::default();
        table.set(Symbol::TIME, t);
        table.set_all(&equations.q, &x[..n]);
        table.set_all(&equations.v, &x[n..n + size]);
        if let Some(auxiliary) = &equations.auxiliary {
            table.set_all(&auxiliary.symbols, &self.work.auxiliary);
        }
        let entries =
            |m: &Jacobian| -> Vec<ExprId> { m.rows.iter().flatten().map(|e| e.1).collect() };
        let matrices = [&equations.metric, &equations.jacobian, &self.phi_q, &self.mass_matrix];
        let mut roots: Vec<ExprId> = matrices.iter().flat_map(|m| entries(m)).collect();
        let vectors = roots.len();
        roots.extend(equations.force.iter().chain(&equations.nonideal).chain(&equations.drift));
        let values = self.setting.evaluate(&roots, &table);
        // What is not known to be noisy is taken as exact.
        let noise: Vec<f64> =
            values.iter().map(|v| if v.noise.is_finite() { v.noise } else { 0.0 }).collect();
        let mut next = 0;
        let [metric, jacobian, position_jacobian, mass] = matrices.map(|m| {
            let count = m.nonzeros();
            next += count;
            crate::numbers::dense(m, &noise[next - count..next])
        });
        let (force, rest) = noise[vectors..].split_at(size);
        let (nonideal, drift) = rest.split_at(size);
        self.noise = FieldNoise {
            metric,
            force: force.iter().zip(nonideal).map(|(a, b)| a + b).collect(),
            jacobian,
            drift: drift.to_vec(),
            position_jacobian,
            mass,
        };
        Ok(())
    }

    /// Noise as last found.
    pub fn noise(&self) -> &FieldNoise {
        &self.noise
    }

    /// Solves the whole problem at a state that satisfies the constraints, finds
    /// which rows are independent there, and takes those from here on.
    pub fn choose_rows(&mut self, t: f64, x: &[f64], rank: f64) -> Result<&Outcome, FieldError> {
        self.evaluate(t, x)?;
        let (work, layout) = (&mut self.work, &self.layout);
        let terms = Terms {
            n: self.size,
            m: work.drift.len(),
            metric: &work.metric,
            force: &work.output[layout.force.clone()],
            nonideal: &work.output[layout.nonideal.clone()],
            jacobian: &work.jacobian,
            drift: &work.drift,
            noise: (!self.noise.metric.is_empty()).then_some(Noise {
                metric: &self.noise.metric,
                force: &self.noise.force,
                jacobian: &self.noise.jacobian,
                drift: &self.noise.drift,
            }),
        };
        // Rows that the projection holds agree up to its residual; whether they do
        // is certified, not decided here.
        let tolerances =
            Tolerances { rank: Some(rank), inconsistent: 1e-6, hidden: 1e-6, least_squares: false };
        self.elimination
            .solve(&mut work.scratch, &terms, &tolerances, &mut work.outcome)
            .map_err(FieldError::Solve)?;
        self.rows.clone_from(&work.outcome.independent);
        Ok(&work.outcome)
    }

    /// φ and ψ at a state.
    pub fn residuals(&mut self, t: f64, x: &[f64]) -> Result<(&[f64], &[f64]), FieldError> {
        self.load(t, x)?;
        let work = &mut self.work;
        self.residuals.function.call(
            &mut work.residual_registers,
            &work.input,
            &mut work.residual_output,
        );
        let (phi, rest) = work.residual_output.split_at(self.residuals.positions);
        Ok((phi, &rest[..self.residuals.velocities]))
    }

    /// φ_q at the state of the last [`residuals`](Field::residuals), dense.
    pub fn position_jacobian(&self, matrix: &mut Vec<f64>) {
        matrix.clear();
        matrix.resize(self.residuals.positions * self.n, 0.0);
        let start = self.residuals.positions + self.residuals.velocities;
        let entries = &self.work.residual_output[start..];
        for (place, value) in self.residuals.phi_q.iter().zip(entries) {
            matrix[*place] = *value;
        }
    }

    /// M at the state of the last [`residuals`](Field::residuals), dense; empty if
    /// there are no position constraints.
    pub fn mass(&self, matrix: &mut Vec<f64>) {
        matrix.clear();
        if self.residuals.positions == 0 {
            return;
        }
        matrix.resize(self.n * self.n, 0.0);
        let start =
            self.residuals.positions + self.residuals.velocities + self.residuals.phi_q.len();
        for (place, value) in self.residuals.mass.iter().zip(&self.work.residual_output[start..]) {
            matrix[*place] = *value;
        }
    }

    /// The mode of the switch that decides an expression's value.
    pub fn mode_of(&self, value: ExprId) -> Option<f64> {
        let at = self.switchboard.switches.iter().position(|s| s.value == value)?;
        Some(self.modes()[at])
    }

    /// How many switches there are.
    pub fn switches(&self) -> usize {
        self.switchboard.kinds.len()
    }

    /// How many functions pass through 0 where branches turn.
    pub fn guards(&self) -> usize {
        self.switchboard.counts.iter().sum()
    }

    /// The switch that a guard belongs to.
    pub fn switch_of(&self, guard: usize) -> usize {
        let mut before = 0;
        for (at, count) in self.switchboard.counts.iter().enumerate() {
            before += count;
            if guard < before {
                return at;
            }
        }
        self.switchboard.counts.len()
    }

    /// The branches the terms are on.
    pub fn modes(&self) -> &[f64] {
        let first = self.switchboard.first_input;
        &self.work.input[first..first + self.switches()]
    }

    /// Puts the terms on branches.
    pub fn set_modes(&mut self, modes: &[f64]) {
        let first = self.switchboard.first_input;
        self.work.input[first..first + modes.len()].copy_from_slice(modes);
    }

    /// The branches at a state, and the guards there.
    pub fn branches(
        &mut self,
        t: f64,
        x: &[f64],
        modes: &mut Vec<f64>,
        guards: &mut Vec<f64>,
    ) -> Result<(), FieldError> {
        self.load(t, x)?;
        let count = self.switches();
        let work = &mut self.work;
        let function = &self.switchboard.function;
        function.call(&mut work.switch_registers, &work.input, &mut work.switch_output);
        modes.clear();
        modes.extend_from_slice(&work.switch_output[..count]);
        guards.clear();
        guards.extend_from_slice(&work.switch_output[count..]);
        Ok(())
    }

    /// Γ and A at a state, dense.
    pub fn matrices(&mut self, t: f64, x: &[f64]) -> Result<(&[f64], &[f64]), FieldError> {
        self.evaluate(t, x)?;
        Ok((&self.work.metric, &self.work.jacobian))
    }

    /// Adds feedback to b.
    fn baumgarte(&mut self, t: f64, x: &[f64], rate: f64) -> Result<(), FieldError> {
        let positions: Vec<usize> =
            self.equations.configuration_residuals.iter().map(|r| r.0).collect();
        let velocities: Vec<usize> =
            self.equations.velocity_residuals.iter().map(|r| r.0).collect();
        let (phi, psi) = self.residuals(t, x)?;
        let (phi, psi) = (phi.to_vec(), psi.to_vec());
        for (place, row) in self.equations.rows.iter().enumerate() {
            let position = positions.iter().position(|r| r == row);
            if let Some(at) = velocities.iter().position(|r| r == row) {
                let factor = if position.is_some() { 2.0 * rate } else { rate };
                self.work.drift[place] -= factor * psi[at];
            }
            if let Some(at) = position {
                self.work.drift[place] -= rate * rate * phi[at];
            }
        }
        Ok(())
    }

    /// The slopes of the dependent velocities in the chart: the entries of S, none if
    /// there is no chart.
    pub fn slopes(&mut self, t: f64, x: &[f64]) -> &[f64] {
        if self.residuals.slopes == self.work.residual_output.len() || self.residuals(t, x).is_err()
        {
            return &[];
        }
        &self.work.residual_output[self.residuals.slopes..]
    }

    /// Feedback of the constraints into the rates: −κ times what a projection would
    /// move positions and velocities by.
    fn invariant(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
        rate: f64,
    ) -> Result<(), FieldError> {
        let (n, size) = (self.n, self.size);
        let (phi, psi) = self.residuals(t, x)?;
        let drifts: [Vec<f64>; 2] =
            [phi.iter().map(|r| -r).collect(), psi.iter().map(|r| -r).collect()];
        let (mut matrix, mut mass) = (Vec::new(), Vec::new());
        self.position_jacobian(&mut matrix);
        self.mass(&mut mass);
        let mut rows = Vec::new();
        for residual in &self.equations.velocity_residuals {
            if let Some(at) = self.equations.rows.iter().position(|row| *row == residual.0) {
                rows.extend_from_slice(&self.work.jacobian[at * size..(at + 1) * size]);
            }
        }
        let metric = self.work.metric.clone();
        let problems = [(n, 0, &mass, &matrix, &drifts[0]), (size, n, &metric, &rows, &drifts[1])];
        for (n, first, metric, jacobian, drift) in problems {
            if drift.is_empty() {
                continue;
            }
            let zero = vec![0.0; n];
            let terms = Terms {
                n,
                m: drift.len(),
                metric,
                force: &zero,
                nonideal: &zero,
                jacobian,
                drift,
                noise: None,
            };
            let tolerances =
                Tolerances { rank: Some(1e-9), least_squares: true, ..Tolerances::default() };
            let mut outcome = Outcome::default();
            crate::DEFAULT
                .solve(&mut self.work.scratch, &terms, &tolerances, &mut outcome)
                .map_err(FieldError::Solve)?;
            for (rate_of, d) in dx[first..].iter_mut().zip(&outcome.v_dot) {
                *rate_of += rate * d;
            }
        }
        Ok(())
    }

    /// The solution of the last [`rates`](Motion::rates) or
    /// [`choose_rows`](Field::choose_rows).
    pub fn outcome(&self) -> &Outcome {
        &self.work.outcome
    }

    /// Every row's multiplier of the last solution: 0 for rows not in use.
    pub fn multipliers(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.equations.rows.len()];
        if self.work.outcome.multipliers.len() == self.rows.len() {
            for (&row, &value) in self.rows.iter().zip(&self.work.outcome.multipliers) {
                all[row] = value;
            }
        }
        all
    }
}

impl Motion for Field<'_> {
    fn size(&self) -> usize {
        self.n + self.size + 1
    }

    fn rates(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), FieldError> {
        self.evaluate(t, x)?;
        if let Feedback::Baumgarte(rate) = self.feedback {
            self.baumgarte(t, x, rate)?;
        }
        let (n, size) = (self.n, self.size);
        let (work, layout) = (&mut self.work, &self.layout);
        let all = self.rows.len() == work.drift.len();
        if !all {
            work.chosen.clear();
            work.chosen_drift.clear();
            for &row in &self.rows {
                work.chosen.extend_from_slice(&work.jacobian[row * size..(row + 1) * size]);
                work.chosen_drift.push(work.drift[row]);
            }
        }
        let terms = Terms {
            n: size,
            m: self.rows.len(),
            metric: &work.metric,
            force: &work.output[layout.force.clone()],
            nonideal: &work.output[layout.nonideal.clone()],
            jacobian: if all { &work.jacobian } else { &work.chosen },
            drift: if all { &work.drift } else { &work.chosen_drift },
            noise: None,
        };
        let tolerances =
            Tolerances { rank: None, inconsistent: 1e-3, hidden: 1e-6, least_squares: true };
        self.elimination.solve(&mut work.scratch, &terms, &tolerances, &mut work.outcome).map_err(
            |error| match error {
                SolveError::NotFinite { what, index } => FieldError::NotFinite { what, index },
                other => FieldError::Solve(other),
            },
        )?;
        match work.outcome.motion {
            outcome::Motion::Unique | outcome::Motion::Inconsistent => {}
            motion => return Err(FieldError::NoMotion(motion)),
        }
        dx[..n].copy_from_slice(&work.output[layout.kinematics.clone()]);
        dx[n..n + size].copy_from_slice(&work.outcome.v_dot);
        // dE/dt = −L_t + q̇·(Q′ + C) + λᵀA q̇
        let rows = &work.output[layout.row_power.clone()];
        let by_rows: f64 =
            self.rows.iter().zip(&work.outcome.multipliers).map(|(&row, l)| l * rows[row]).sum();
        dx[n + size] = work.output[layout.power] + by_rows;
        if let Feedback::Invariant(rate) = self.feedback {
            self.invariant(t, x, dx, rate)?;
        }
        if let Some(index) = dx.iter().position(|d| !d.is_finite()) {
            return Err(FieldError::NotFinite { what: "rate", index });
        }
        Ok(())
    }
}

impl Implicit {
    /// Newton's method from what was found last.
    fn solve(&self, work: &mut Work, first: usize) -> Result<(), FieldError> {
        let n = self.count;
        let mut size = f64::INFINITY;
        for _ in 0..50 {
            let guess = &mut work.input[first..first + n];
            guess.copy_from_slice(&work.auxiliary);
            let output = &mut work.auxiliary_output;
            self.function.call(&mut work.auxiliary_registers, &work.input, output);
            let (residual, entries) = output.split_at(n);
            let now = linalg::largest(residual);
            if !residual.iter().all(|r| r.is_finite()) || now > 2.0 * size {
                // Too far: half of the last step back.
                for (w, s) in work.auxiliary.iter_mut().zip(work.step.iter_mut()) {
                    *s *= 0.5;
                    *w += *s;
                }
                if linalg::largest(&work.step) == 0.0 {
                    break;
                }
                continue;
            }
            size = now;
            work.matrix.fill(0.0);
            for (place, value) in self.places.iter().zip(entries) {
                work.matrix[*place] = *value;
            }
            work.step.copy_from_slice(residual);
            if !lu::factor(&mut work.matrix, n, &mut work.order) {
                break;
            }
            lu::solve(&work.matrix, n, &work.order, &mut work.step, &mut work.spare);
            let mut moved = 0f64;
            for (w, s) in work.auxiliary.iter_mut().zip(&work.step) {
                moved = moved.max(s.abs() / w.abs().max(1e-300));
                *w -= s;
            }
            if moved <= 1e-15 || now == 0.0 {
                work.input[first..first + n].copy_from_slice(&work.auxiliary);
                return Ok(());
            }
            // Quadratic convergence: after a step this small nothing is left.
            if moved <= 1e-9 {
                work.input[first..first + n].copy_from_slice(&work.auxiliary);
                return Ok(());
            }
        }
        work.auxiliary.fill(0.0);
        Err(FieldError::Legendre)
    }
}

/// Places of a sparse matrix's entries in the dense one.
fn places(matrix: &Jacobian) -> Vec<usize> {
    let columns = matrix.columns;
    let rows = matrix.rows.iter().enumerate();
    rows.flat_map(|(i, row)| row.iter().map(move |&(j, _)| i * columns + j)).collect()
}
