//! Compiling equations into a field, and giving it other parameters.
//!
//! All expressions are frozen on their branches together, so that a switch of the terms and of
//! the residuals is one switch; then each group becomes a function of its own over the same
//! inputs: t, q, v, what stands behind v, multipliers, branches, turns of angles.

use super::constraints::Residuals;
use super::coupling::Coupling;
use super::implicit::Implicit;
use super::kept::{self, Kept, Parts};
use super::{Counts, Feedback, Field, FieldNoise, Places, Switchboard, Work, continuity};
use crate::normal_form::layout::{Layout, Outputs, entries, places};
use crate::normal_form::multiplier_forces;
use crate::normal_form::picture_for;
use crate::program::power::power_and_mass;
use crate::setting::Setting;
use dalembert_compile::{Function, Tape, backends};
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::formulations::lagrange;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_gauss::coupled::Coupled;
use dalembert_gauss::eliminations::Elimination;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Level;
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Field {
    /// Compiles equations. Levels off the constraints are 0: a motion is on them.
    pub fn new(
        setting: &Setting,
        equations: &EquationsOfMotion,
        elimination: &'static dyn Elimination,
    ) -> Field {
        let picture = picture_for(setting, elimination).ok();
        Field::on(setting, picture.as_ref(), equations, elimination)
    }

    /// Lagrange's equations of a setting and their field, from one picture of the system.
    pub fn by_lagrange(
        setting: &Setting,
        elimination: &'static dyn Elimination,
    ) -> Result<(EquationsOfMotion, Field), Vec<Diagnostic>> {
        let exprs = &setting.model.exprs;
        let picture = picture_for(setting, elimination)?;
        let equations = lagrange::equations(exprs, &picture);
        let field = Field::on(setting, Some(&picture), &equations, elimination);
        Ok((equations, field))
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
        let mut roots = Outputs::beside(&equations.metric, equations.bodies.as_deref());
        let layout = Places {
            kinematics: roots.list(equations.kinematics.iter().copied()),
            normal: Layout::of_equations(&mut roots, &equations),
            power: roots.one(power),
            row_power: roots.list(row_power),
        };
        let roots = roots.roots;
        let phi: Vec<ExprId> = equations.configuration_residuals.iter().map(|r| r.1).collect();
        let psi: Vec<ExprId> = equations.velocity_residuals.iter().map(|r| r.1).collect();
        // Projection moves no state: nothing is by z, and its mass is any.
        let mut phi_q = exprs.jacobian(&phi, equations.positions());
        phi_q.columns = n;
        let mut mass = mass;
        mass.columns = n;
        mass.rows.extend((mass.rows.len()..n).map(|i| vec![(i, ExprId::ONE)]));
        let whole_mass = mass.clone();
        // Positions are measured by the diagonal where that of bodies is all there is.
        let has_rows_of_positions = equations.v == system.velocities()
            && equations.bodies.is_none()
            && equations.metric.rows == whole_mass.rows
            && equations.jacobian.rows == phi_q.rows
            && [&equations.configuration_residuals, &equations.velocity_residuals]
                .iter()
                .all(|list| list.iter().map(|row| &row.0).eq(&equations.rows));
        // The mass matrix serves the projection of positions only.
        let mass = if phi.is_empty() { Jacobian { rows: Vec::new(), columns: n } } else { mass };
        let mut outputs = Outputs::beside(&whole_mass, equations.bodies.as_deref());
        outputs.list(phi.iter().chain(&psi).copied());
        let (phi_q_at, mass_at) = (outputs.matrix(&phi_q), outputs.matrix(&mass));
        // S of a chart, to see when it wears out.
        let slopes = outputs.list(equations.chart.iter().flat_map(|c| entries(&c.s))).start;
        let outputs = outputs.roots;
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
            phi_q: phi_q_at,
            mass_diagonal: mass_at.diagonal(),
            mass: mass_at,
            slopes,
        };
        let auxiliary = equations.auxiliary.as_ref().map(|a| Implicit {
            function: lower(implicit),
            places: places(&a.jacobian),
            count: a.symbols.len(),
        });
        let coupling = (!multipliers.is_empty()).then(|| {
            let (force, nonideal) =
                (&roots[layout.normal.force.clone()], &roots[layout.normal.nonideal.clone()]);
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
            function: (!guards.is_empty()).then(|| lower(&guards)),
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
            metric: vec![0.0; layout.normal.metric.length()],
            jacobian: vec![0.0; layout.normal.jacobian.length()],
            ..Work::default()
        };
        if let Some(function) = &switchboard.function {
            work.switch_registers = function.scratch();
            work.switch_output = vec![0.0; function.outputs()];
            function.prepare(&mut work.switch_registers, &constants);
        }
        terms.prepare(&mut work.registers, &constants);
        residuals.function.prepare(&mut work.residual_registers, &constants);
        if let Some(coupling) = &coupling {
            work.law_registers = coupling.function.scratch();
            coupling.function.prepare(&mut work.law_registers, &constants);
            work.law_output = vec![0.0; coupling.function.outputs()];
            let constraints: Vec<usize> = equations.multipliers.iter().map(|m| m.0).collect();
            work.coupled = Coupled::new(multipliers.len(), size, m)
                .directed(&multiplier_forces::directed(&setting.model.system, &constraints));
        }
        if let Some(implicit) = &auxiliary {
            work.auxiliary_registers = implicit.function.scratch();
            implicit.function.prepare(&mut work.auxiliary_registers, &constants);
            work.auxiliary_output = vec![0.0; implicit.function.outputs()];
        }
        let mut field = Field {
            duration: setting.duration(),
            setting: setting.clone(),
            noise: FieldNoise::default(),
            phi_q,
            mass_matrix: mass,
            whole_mass,
            geometry: Arc::default(),
            narrow: Arc::default(),
            n,
            size,
            elimination,
            terms,
            metric_diagonal: layout.normal.metric.diagonal(),
            layout,
            residuals,
            auxiliary,
            coupling,
            switchboard,
            windings,
            constants,
            work: Box::new(work),
            rows: (0..m).collect(),
            direct: Default::default(),
            loads: Default::default(),
            twins: Vec::new(),
            rates_of_positions: {
                let velocities = system.velocities();
                let pairs =
                    (0..n).map(|i| i < velocities.len() && velocities.get(i) == equations.v.get(i));
                pairs.collect()
            },
            velocity_rows: {
                let rows = equations.velocity_residuals.iter();
                let places: FxHashMap<usize, usize> =
                    equations.rows.iter().enumerate().map(|(at, &row)| (row, at)).collect();
                rows.filter_map(|r| places.get(&r.0).copied()).collect()
            },
            has_rows_of_positions,
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
        (self.setting, self.duration) = (setting.clone(), setting.duration());
        self.constants = setting.constants().1;
        self.prepare();
        self.noise = FieldNoise::default();
        self.rows = (0..self.equations.rows.len()).collect();
        (self.evaluations, self.counts) = (0, Counts::default());
    }

    /// The same for values that change neither the rows that are held nor the time that a run
    /// takes; what is known of rounding and of the rows in use is kept. Nothing is allocated.
    pub fn set_values(&mut self, symbols: &[Symbol], values: &[f64]) {
        self.setting.set_values(symbols, values);
        self.constants.copy_from_slice(values);
        self.prepare();
    }

    /// Hands the constants to all functions, and forgets what was found with others.
    fn prepare(&mut self) {
        let (work, constants) = (&mut self.work, &self.constants);
        self.terms.prepare(&mut work.registers, constants);
        self.residuals.function.prepare(&mut work.residual_registers, constants);
        if let Some(function) = &self.switchboard.function {
            function.prepare(&mut work.switch_registers, constants);
        }
        if let Some(coupling) = &self.coupling {
            coupling.function.prepare(&mut work.law_registers, constants);
        }
        if let Some(implicit) = &self.auxiliary {
            implicit.function.prepare(&mut work.auxiliary_registers, constants);
        }
        let parts = &mut self.parts;
        parts.residual.iter_mut().for_each(|part| part.prepare(constants));
        parts.expansion.iter_mut().for_each(|part| part.prepare(constants));
        parts.canonical.iter_mut().for_each(|part| part.prepare(constants));
        parts.structure.iter_mut().for_each(|part| part.prepare(constants));
        parts.continuity.iter_mut().for_each(|part| part.function.prepare(constants));
        self.direct.forget();
        self.loads.forget();
        *parts.projection = Default::default();
        (work.is_fresh, work.is_settled) = (false, false);
        work.residuals_at.clear();
        work.behind_at.clear();
        work.factored.forget();
        self.known_rates = None;
    }
}
