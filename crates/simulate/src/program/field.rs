//! The rates of a state, compiled: what an integrator calls.
//!
//! A state is (q, v, W): positions, the formulation's own velocities, and the work
//! done on the system so far. Evaluating the rates means one pass over the tape and
//! one elimination; a few of them where forces depend on multipliers.
//!
//! Which constraint rows enter is decided at states that satisfy the constraints,
//! and kept between them. Rows that depend on each other only on the constraint set
//! are independent next to it, by an amount that is all rounding and truncation;
//! between two states of a step the independent rows found at its beginning define
//! the same motion, smoothly.

mod branches;
mod canonical;
pub(crate) mod continuity;
mod coupling;
mod feedback;
mod implicit;
mod kept;
mod noise;
mod residual;
mod structure;

pub use self::noise::FieldNoise;

use self::coupling::Coupling;
use self::implicit::Implicit;
use self::kept::{Kept, Parts};
use crate::normal_form::multiplier_forces;
use crate::program::power::power_and_mass;
use crate::program::problem::{Canonical, Problem, ResidualForm, Structure};
use crate::search::Room;
use crate::setting::State;
use crate::setting::legendre;
use crate::setting::{Setting, Table};
use dalembert_compile::{Function, Scratch as Registers, Tape, backends};
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Jacobian, Switch, SwitchKind, Symbol};
use dalembert_gauss::coupled::{Coupled, CoupledError};
use dalembert_gauss::eliminations::{Elimination, Scratch, SolveError};
use dalembert_gauss::outcome::{self, Outcome};
use dalembert_gauss::terms::{Noise, Terms, Tolerances};
use dalembert_gauss::{Factored, Solver};
use dalembert_model::system::{Level, Model};
use std::ops::Range;
use std::sync::Arc;

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
    NoMotion(outcome::Verdict),
    /// The elimination failed.
    Solve(SolveError),
    /// The velocities behind the momenta (or the reverse) were not found.
    Legendre,
    /// Forces and the multipliers they depend on were not found together.
    Coupled(CoupledError),
    /// What was solved misses Gauss's principle by this much.
    Residual(f64),
    /// The equations of an implicit step were not solved: by what.
    NotSolved(&'static str),
}

impl From<CoupledError> for FieldError {
    fn from(error: CoupledError) -> FieldError {
        match error {
            CoupledError::Solve(error) => error.into(),
            other => FieldError::Coupled(other),
        }
    }
}

impl From<SolveError> for FieldError {
    fn from(error: SolveError) -> FieldError {
        match error {
            SolveError::NotFinite { what, index } => FieldError::NotFinite { what, index },
            other => FieldError::Solve(other),
        }
    }
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
            FieldError::Coupled(error) => error.fmt(f),
            FieldError::Residual(residual) => {
                write!(f, "no route satisfies Gauss's principle here: {residual:.1e} is left")
            }
            FieldError::NotSolved(method) => {
                write!(
                    f,
                    "the equations of a step of {method} were not solved: the step is too large"
                )
            }
        }
    }
}

/// Where the outputs of the compiled terms lie.
#[derive(Clone)]
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

/// How solutions were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Units, ranks and verdict decided at states on the constraints.
    pub decisions: u64,
    /// On the decision of another state.
    pub frozen: u64,
    /// Decided where a decision was to serve: a pivot had fallen, or forces depend on
    /// multipliers.
    pub decided: u64,
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

/// Compiled rates. Clones share what is compiled, and nothing else.
#[derive(Clone)]
pub struct Field {
    setting: Setting,
    noise: FieldNoise,
    phi_q: Jacobian,
    mass_matrix: Jacobian,
    /// M, also where the projection of positions needs none.
    whole_mass: Jacobian,
    /// The equations.
    pub equations: EquationsOfMotion,
    /// Number of coordinates.
    pub n: usize,
    /// Number of own velocities.
    pub size: usize,
    elimination: &'static dyn Elimination,
    terms: Arc<dyn Function>,
    layout: Layout,
    residuals: Residuals,
    auxiliary: Option<Implicit>,
    coupling: Option<Coupling>,
    switchboard: Switchboard,
    windings: continuity::Windings,
    constants: Vec<f64>,
    work: Work,
    conserves: bool,
    follows: bool,
    kept: Kept,
    parts: Parts,
    /// Rows in use.
    rows: Vec<usize>,
    /// The row of A of each velocity residual.
    velocity_rows: Vec<usize>,
    /// Which own velocities are the rates of the positions at their places.
    rates_of_positions: Vec<bool>,
    /// Held by feedback.
    pub feedback: Feedback,
    /// Rates that are known otherwise, where solving for them would only add noise.
    pub known_rates: Option<Vec<f64>>,
    /// Calls of the rates so far.
    pub evaluations: u64,
    /// How solutions were found so far.
    pub counts: Counts,
}

/// φ, ψ and their derivatives with respect to q and v.
#[derive(Clone)]
struct Residuals {
    function: Arc<dyn Function>,
    positions: usize,
    velocities: usize,
    phi_q: Vec<usize>,
    mass: Vec<usize>,
    slopes: usize,
}

/// Branches of the terms, and where they turn.
#[derive(Clone)]
struct Switchboard {
    /// Those that depend on multipliers.
    dependent: Vec<usize>,
    switches: Vec<Switch>,
    function: Arc<dyn Function>,
    kinds: Vec<SwitchKind>,
    counts: Vec<usize>,
    first_input: usize,
}

/// Everything that changes in a call.
#[derive(Clone, Default)]
struct Work {
    registers: Registers,
    switch_registers: Registers,
    switch_output: Vec<f64>,
    residual_registers: Registers,
    auxiliary_registers: Registers,
    law_registers: Registers,
    law_output: Vec<f64>,
    coupled: Coupled,
    places: Vec<Option<usize>>,
    input: Vec<f64>,
    /// The input of the terms at hand, and whether these are as evaluated.
    evaluated: Vec<f64>,
    is_fresh: bool,
    auxiliary: Vec<f64>,
    output: Vec<f64>,
    residual_output: Vec<f64>,
    /// The input of the residuals at hand; empty if there are none.
    residuals_at: Vec<f64>,
    auxiliary_output: Vec<f64>,
    metric: Vec<f64>,
    jacobian: Vec<f64>,
    chosen: Vec<f64>,
    chosen_drift: Vec<f64>,
    scratch: Scratch,
    outcome: Outcome,
    factored: Factored,
    /// Whether the terms at hand are solved, and whether that was checked by Gauss's principle.
    is_solved: bool,
    is_certified: bool,
    /// Whether the last solution is on the decision of another state.
    is_frozen: bool,
    /// Whether the decision at hand is that of a state on the constraints with one motion and
    /// all rows independent.
    is_settled: bool,
    unknowns: Vec<f64>,
    search: Room,
}

impl Field {
    /// Compiles equations. Levels off the constraints are 0: a motion is on them.
    pub fn new(
        setting: &Setting,
        equations: &EquationsOfMotion,
        elimination: &'static dyn Elimination,
    ) -> Field {
        let picture = Picture::new(&setting.model.exprs, &setting.model.system).ok();
        Field::on(setting, picture.as_ref(), equations, elimination)
    }

    /// The same with the picture of the setting's system, where there is one.
    pub(crate) fn on(
        setting: &Setting,
        picture: Option<&Picture>,
        equations: &EquationsOfMotion,
        elimination: &'static dyn Elimination,
    ) -> Field {
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
        let before_multipliers = variables.len();
        let multipliers: Vec<Symbol> = equations.multipliers.iter().map(|m| m.1).collect();
        variables.extend(&multipliers);

        let (power, row_power, mass) = power_and_mass(setting, picture, &equations);
        let idle = power == ExprId::ZERO && row_power.iter().all(|&e| e == ExprId::ZERO);
        let system = &setting.model.system;
        let solved = equations.chart.iter().flat_map(|c| c.chart.rows.iter());
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
        let whole_mass = mass.clone();
        // The mass matrix serves the projection of positions only.
        let mass = if phi.is_empty() { Jacobian { rows: Vec::new(), columns: n } } else { mass };
        let mut outputs = phi.clone();
        outputs.extend(&psi);
        outputs.extend(entries(&phi_q));
        outputs.extend(entries(&mass));
        // S of a chart, to see when it wears out.
        let slopes = outputs.len();
        outputs.extend(equations.chart.iter().flat_map(|c| entries(&c.s)));
        let implicit: Vec<ExprId> = equations
            .auxiliary
            .iter()
            .flat_map(|a| a.residuals.iter().copied().chain(entries(&a.jacobian)))
            .collect();
        // All branches are frozen together, so that one switch is one switch.
        let counts = [roots.len(), outputs.len()];
        let mut all: Vec<ExprId> = roots.iter().chain(&outputs).chain(&implicit).copied().collect();
        all.extend(kept::extra(&equations));
        let (mut frozen, mut switches) = exprs.freeze_switches(&all);
        let held = continuity::held(setting, &equations, &switches);
        if !held.is_empty() {
            all.extend(&held);
            (frozen, switches) = exprs.freeze_switches(&all);
        }
        let windings = continuity::windings(exprs, &switches);
        let moving = variables[..before_multipliers].to_vec();
        let go_on = |plain: ExprId, frozen: &mut ExprId| {
            *frozen = continuity::continued(exprs, (plain, *frozen), &moving, &switches, &windings);
        };
        for (k, &phi) in phi.iter().enumerate() {
            go_on(phi, &mut frozen[counts[0] + k]);
        }
        if let (Some(&energy), Some(frozen)) = (held.last(), frozen.last_mut()) {
            go_on(energy, frozen);
        }
        let held = frozen.split_off(frozen.len() - held.len());
        let all = frozen;
        let (roots, rest) = all.split_at(counts[0]);
        let (outputs, rest) = rest.split_at(counts[1]);
        let (implicit, extra) = rest.split_at(implicit.len());
        let before_modes = variables.len();
        variables.extend(switches.iter().map(|s| s.mode));
        variables.extend(windings.iter().map(|w| w.2));
        let lower = |roots: &[ExprId]| -> Arc<dyn Function> {
            backends::DEFAULT.compile(Tape::lower(exprs, roots, &symbols, &variables)).into()
        };
        let terms = lower(roots);
        let kept = Kept {
            terms: roots.to_vec(),
            residuals: outputs.to_vec(),
            implicit: implicit.to_vec(),
            extra: extra.to_vec(),
            symbols: symbols.clone(),
            variables: variables.clone(),
        };
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
        let coupling = (!multipliers.is_empty()).then(|| {
            let (force, nonideal) = (&roots[layout.force.clone()], &roots[layout.nonideal.clone()]);
            let slopes = multiplier_forces::derivatives(exprs, force, nonideal, &multipliers);
            let mut outputs: Vec<ExprId> = force.iter().chain(nonideal).copied().collect();
            outputs.push(roots[layout.power]);
            outputs.extend(entries(&slopes));
            let rows = slopes.rows.iter().enumerate();
            Coupling {
                function: lower(&outputs),
                rows: equations.multiplier_rows(),
                first_input: before_multipliers,
                slopes: rows.flat_map(|(i, row)| row.iter().map(move |e| (e.0, i))).collect(),
            }
        });
        let mut guards: Vec<ExprId> = switches.iter().map(|s| s.value).collect();
        guards.extend(switches.iter().flat_map(|s| s.guards.iter().copied()));
        let switchboard = Switchboard {
            dependent: multiplier_forces::dependent(exprs, &switches, &multipliers),
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
            ..Work::default()
        };
        work.switch_registers = switchboard.function.scratch();
        work.switch_output = vec![0.0; switchboard.function.outputs()];
        switchboard.function.prepare(&mut work.switch_registers, &constants);
        terms.prepare(&mut work.registers, &constants);
        residuals.function.prepare(&mut work.residual_registers, &constants);
        if let Some(coupling) = &coupling {
            work.law_registers = coupling.function.scratch();
            coupling.function.prepare(&mut work.law_registers, &constants);
            work.law_output = vec![0.0; coupling.function.outputs()];
            work.coupled = Coupled::new(multipliers.len(), size, m);
        }
        if let Some(implicit) = &auxiliary {
            work.auxiliary_registers = implicit.function.scratch();
            implicit.function.prepare(&mut work.auxiliary_registers, &constants);
            work.auxiliary_output = vec![0.0; implicit.function.outputs()];
        }
        let mut field = Field {
            setting: setting.clone(),
            noise: FieldNoise::default(),
            phi_q,
            mass_matrix: mass,
            whole_mass,
            n,
            size,
            elimination,
            terms,
            layout,
            residuals,
            auxiliary,
            coupling,
            switchboard,
            windings,
            constants,
            work,
            rows: (0..m).collect(),
            rates_of_positions: {
                let velocities = system.velocities();
                let pairs = (0..n).map(|i| velocities.get(i) == equations.v.get(i));
                pairs.collect()
            },
            velocity_rows: {
                let rows = equations.velocity_residuals.iter();
                rows.filter_map(|r| equations.rows.iter().position(|row| *row == r.0)).collect()
            },
            feedback: Feedback::None,
            known_rates: None,
            conserves: idle && follows,
            follows,
            kept,
            parts: Parts::default(),
            equations,
            evaluations: 0,
            counts: Counts::default(),
        };
        field.keep_continuous(&held);
        field
    }

    /// Takes other values of the parameters, without compiling anything again. Everything found
    /// at states so far is forgotten. The setting must be one of the same model that holds the
    /// same rows.
    pub fn set_parameters(&mut self, setting: &Setting) {
        self.setting = setting.clone();
        self.constants = setting.constants().1;
        let (work, constants) = (&mut self.work, &self.constants);
        self.terms.prepare(&mut work.registers, constants);
        self.residuals.function.prepare(&mut work.residual_registers, constants);
        self.switchboard.function.prepare(&mut work.switch_registers, constants);
        if let Some(coupling) = &self.coupling {
            coupling.function.prepare(&mut work.law_registers, constants);
        }
        if let Some(implicit) = &self.auxiliary {
            implicit.function.prepare(&mut work.auxiliary_registers, constants);
        }
        let parts = &mut self.parts;
        parts.residual.iter_mut().for_each(|part| part.prepare(constants));
        parts.canonical.iter_mut().for_each(|part| part.prepare(constants));
        parts.structure.iter_mut().for_each(|part| part.prepare(constants));
        parts.continuity.iter_mut().for_each(|part| part.function.prepare(constants));
        parts.projection = Default::default();
        (work.is_fresh, work.is_settled) = (false, false);
        work.residuals_at.clear();
        work.factored.forget();
        self.noise = FieldNoise::default();
        self.rows = (0..self.equations.rows.len()).collect();
        self.known_rates = None;
        (self.evaluations, self.counts) = (0, Counts::default());
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

    /// A state next to which the unknowns behind v are looked for at first.
    pub fn guess(&mut self, state: &State) {
        let table = state.table(&self.setting.model.system);
        let symbols = self.equations.auxiliary.iter().flat_map(|a| &a.symbols);
        for (guess, &symbol) in self.work.auxiliary.iter_mut().zip(symbols) {
            *guess = table.get(symbol).unwrap_or(0.0);
        }
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
        if let Some(implicit) = &self.auxiliary
            && implicit.solve(work, 1 + n + size).is_err()
        {
            self.find_by_expressions(t, x)?;
        }
        Ok(())
    }

    /// The unknowns behind v where the compiled search did not find them: with the rounding of
    /// the relation evaluated beside it, which tells a residual that is only that.
    fn find_by_expressions(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        let (n, size) = (self.n, self.size);
        let Some(auxiliary) = &self.equations.auxiliary else { return Ok(()) };
        let mut table = Table::default();
        table.set(Symbol::TIME, t);
        table.set_all(&self.equations.q, &x[..n]);
        table.set_all(&self.equations.v, &x[n..n + size]);
        table.set_all(&auxiliary.symbols, &self.work.auxiliary);
        let (symbols, jacobian) = (&auxiliary.symbols, &auxiliary.jacobian);
        let found = legendre::solve(
            &self.setting,
            &mut table,
            symbols,
            &auxiliary.residuals,
            jacobian,
            None,
        );
        self.work.auxiliary = found.map_err(|_| FieldError::Legendre)?;
        let first = 1 + n + size;
        self.work.input[first..first + symbols.len()].copy_from_slice(&self.work.auxiliary);
        Ok(())
    }

    /// Evaluates the terms of the normal form into the work space. Where they were evaluated
    /// last they are not again.
    fn evaluate(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        self.load(t, x)?;
        let size = self.size;
        let (work, layout) = (&mut self.work, &self.layout);
        if work.is_fresh && is_same(&work.input, &work.evaluated) {
            return Ok(());
        }
        work.evaluated.clone_from(&work.input);
        // Forces by multipliers are written over.
        work.is_fresh = self.coupling.is_none();
        work.is_solved = false;
        self.terms.call(&mut work.registers, &work.input, &mut work.output);
        self.evaluations += 1;
        for (place, value) in layout.metric.iter().zip(&work.output[layout.metric_at..]) {
            work.metric[*place] = *value;
        }
        for (place, value) in layout.jacobian.iter().zip(&work.output[layout.jacobian_at..]) {
            work.jacobian[*place] = *value;
        }
        debug_assert_eq!(work.metric.len(), size * size);
        Ok(())
    }

    /// Solves the whole problem at a state that satisfies the constraints, finds
    /// which rows are independent there, and takes those from here on.
    pub fn choose_rows(&mut self, t: f64, x: &[f64], rank: f64) -> Result<&Outcome, FieldError> {
        self.evaluate(t, x)?;
        let (work, layout) = (&mut self.work, &self.layout);
        work.is_settled = false;
        let terms = Terms {
            n: self.size,
            m: layout.drift.len(),
            metric: &work.metric,
            force: &work.output[layout.force.clone()],
            nonideal: &work.output[layout.nonideal.clone()],
            jacobian: &work.jacobian,
            drift: &work.output[layout.drift.clone()],
            noise: (!self.noise.metric.is_empty()).then_some(Noise {
                metric: &self.noise.metric,
                force: &self.noise.force,
                jacobian: &self.noise.jacobian,
                drift: &self.noise.drift,
            }),
            inertia: &self.noise.inertia,
        };
        // Rows that the projection holds agree up to its residual; whether they do
        // is certified, not decided here.
        let tolerances =
            Tolerances { rank: Some(rank), inconsistent: 1e-6, hidden: 1e-6, least_squares: false };
        match &self.coupling {
            None => self
                .elimination
                .solve(&mut work.scratch, &terms, &tolerances, &mut work.outcome)
                .map_err(FieldError::Solve)?,
            Some(coupling) => {
                work.places.clone_from(&coupling.rows);
                let elimination = self.elimination;
                coupling.solve(
                    &mut work.law_registers,
                    &mut work.input,
                    &mut work.law_output,
                    &mut |law| {
                        let (scratch, outcome) = (&mut work.scratch, &mut work.outcome);
                        let places = &work.places;
                        let coupled = &mut work.coupled;
                        let mut solver = Solver::new(elimination, &tolerances, scratch, None);
                        coupled.solve(law, &terms, places, &mut solver, outcome)?;
                        match coupled.ambiguous(&terms, places, &outcome.indeterminate) {
                            None => Ok(()),
                            Some(place) => {
                                let row = self.equations.rows[place];
                                Err(CoupledError::NotUnique { row })
                            }
                        }
                    },
                )?;
            }
        }
        self.counts.decisions += 1;
        (work.is_frozen, work.is_solved) = (false, false);
        let is_adopted = work.factored.adopt(&work.scratch, &work.outcome);
        work.is_settled = is_adopted && work.outcome.independent.len() == layout.drift.len();
        self.rows.clone_from(&work.outcome.independent);
        Ok(&work.outcome)
    }

    /// Whether the last decision would be made again at a state on the constraints, by far. Then
    /// the motion there is solved for and certified on it.
    pub fn keeps_decision(&mut self, t: f64, x: &[f64]) -> bool {
        let is_plain = self.feedback == Feedback::None
            && self.known_rates.is_none()
            && self.coupling.is_none();
        if !is_plain || !self.work.is_settled {
            return false;
        }
        let solved = self.evaluate(t, x).and_then(|()| self.solve());
        let certified = solved.and_then(|()| self.certify()).is_ok();
        let work = &self.work;
        certified && work.is_settled && work.is_frozen && work.factored.holds()
    }

    /// Whether the own velocity at a place is the rate of the position there.
    pub fn is_rate(&self, at: usize) -> bool {
        self.rates_of_positions.get(at).copied().unwrap_or(false)
    }

    /// The rows in use.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Uses other rows.
    pub fn use_rows(&mut self, rows: &[usize]) {
        if self.rows != rows {
            self.rows = rows.to_vec();
            self.work.factored.forget();
            (self.work.is_settled, self.work.is_solved) = (false, false);
        }
    }

    /// φ and ψ at a state. Where they were evaluated last they are not again.
    pub fn residuals(&mut self, t: f64, x: &[f64]) -> Result<(&[f64], &[f64]), FieldError> {
        self.load(t, x)?;
        let work = &mut self.work;
        if !is_same(&work.input, &work.residuals_at) {
            self.residuals.function.call(
                &mut work.residual_registers,
                &work.input,
                &mut work.residual_output,
            );
            work.residuals_at.clone_from(&work.input);
        }
        let (phi, rest) = work.residual_output.split_at(self.residuals.positions);
        Ok((phi, &rest[..self.residuals.velocities]))
    }

    /// How many position residuals there are.
    pub fn position_count(&self) -> usize {
        self.residuals.positions
    }

    /// φ of the last [`residuals`](Field::residuals).
    pub fn position_residuals(&self) -> &[f64] {
        &self.work.residual_output[..self.residuals.positions]
    }

    /// ψ of the last [`residuals`](Field::residuals).
    pub fn velocity_residuals(&self) -> &[f64] {
        let first = self.residuals.positions;
        &self.work.residual_output[first..first + self.residuals.velocities]
    }

    /// The row of A of each velocity residual.
    pub fn velocity_rows(&self) -> &[usize] {
        &self.velocity_rows
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

    /// The time that a run takes, as the model says.
    pub fn duration(&self) -> f64 {
        self.setting.duration()
    }

    /// The model and its parameters.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.setting.model
    }

    /// b of the last [`matrices`](Field::matrices).
    pub fn drift(&self) -> &[f64] {
        &self.work.output[self.layout.drift.clone()]
    }

    /// Γ, F, C, A and b at a state, dense, on the branches there are; forces by multipliers are
    /// those of the solution.
    pub fn terms(&mut self, t: f64, x: &[f64]) -> Result<Terms<'_>, FieldError> {
        self.evaluate(t, x)?;
        if self.coupling.is_some() {
            self.solve()?;
        }
        let (work, layout) = (&self.work, &self.layout);
        Ok(Terms {
            n: self.size,
            m: layout.drift.len(),
            metric: &work.metric,
            force: &work.output[layout.force.clone()],
            nonideal: &work.output[layout.nonideal.clone()],
            jacobian: &work.jacobian,
            drift: &work.output[layout.drift.clone()],
            noise: None,
            inertia: &[],
        })
    }

    /// Γ and A at a state, dense.
    pub fn matrices(&mut self, t: f64, x: &[f64]) -> Result<(&[f64], &[f64]), FieldError> {
        self.evaluate(t, x)?;
        Ok((&self.work.metric, &self.work.jacobian))
    }

    /// Γ and A as last evaluated.
    pub fn last_matrices(&self) -> (&[f64], &[f64]) {
        (&self.work.metric, &self.work.jacobian)
    }

    /// The entries of S of the chart, by which the dependent velocities follow; none if
    /// there is no chart.
    pub fn chart_entries(&mut self, t: f64, x: &[f64]) -> &[f64] {
        if self.residuals.slopes == self.work.residual_output.len() || self.residuals(t, x).is_err()
        {
            return &[];
        }
        &self.work.residual_output[self.residuals.slopes..]
    }

    /// The solution of the last [`rates`](Problem::rates) or
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

    /// The rates, checked by Gauss's principle also where they are found on the decision of
    /// another state.
    pub fn certified_rates(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), FieldError> {
        self.find_rates(t, x, dx, true)
    }

    fn find_rates(
        &mut self,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
        certified: bool,
    ) -> Result<(), FieldError> {
        self.evaluate(t, x)?;
        if let Some(known) = &self.known_rates {
            dx.copy_from_slice(known);
            return Ok(());
        }
        if let Feedback::Baumgarte(rate) = self.feedback {
            self.baumgarte(t, x, rate)?;
        }
        self.solve()?;
        if certified {
            self.certify()?;
        }
        if self.coupling.is_some() {
            self.work.coupled.check()?;
        }
        let (n, size) = (self.n, self.size);
        let (work, layout) = (&mut self.work, &self.layout);
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
        // What is finite, times 0, is 0.
        if dx.iter().fold(0.0, |nothing, d| nothing + 0.0 * d) == 0.0 {
            return Ok(());
        }
        let index = dx.iter().position(|d| !d.is_finite()).unwrap_or(0);
        Err(FieldError::NotFinite { what: "rate", index })
    }
}

impl Problem for Field {
    fn state_length(&self) -> usize {
        self.n + self.size + 1
    }

    fn rates(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), FieldError> {
        self.find_rates(t, x, dx, false)
    }

    fn residual_form(&mut self) -> Option<&mut dyn ResidualForm> {
        if self.parts.residual.is_some() { Some(self) } else { None }
    }

    fn canonical(&mut self) -> Option<&mut dyn Canonical> {
        if self.parts.canonical.is_some() { Some(self) } else { None }
    }

    fn structure(&mut self) -> Option<&mut dyn Structure> {
        if self.parts.structure.is_some() { Some(self) } else { None }
    }
}

/// Whether two inputs are equal, bit by bit.
fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Places of a sparse matrix's entries in the dense one.
fn places(matrix: &Jacobian) -> Vec<usize> {
    let columns = matrix.columns;
    let rows = matrix.rows.iter().enumerate();
    rows.flat_map(|(i, row)| row.iter().map(move |&(j, _)| i * columns + j)).collect()
}
