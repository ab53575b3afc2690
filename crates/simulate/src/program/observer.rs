//! A state seen from outside: positions, velocities, momenta, accelerations, forces
//! and energy, whatever the variables it is moved in.

use crate::noise::state::{LEFT, TRIES, beside, spread, units, widen, widen_rows};
use crate::normal_form::Matrix;
pub use crate::normal_form::Solved;
use crate::normal_form::layout::{Layout, Outputs, Sparse};
use crate::phases::apart;
use crate::phases::share::{Bearer, missing};
use crate::phases::{Here, Shown};
use crate::program::compiled::Compiled;
use crate::program::field::{Feedback, Field, FieldError};
use crate::program::on_branches::OnBranches;
use crate::setting::State;
use crate::setting::extent::natural_accelerations;
use crate::setting::{Setting, Table};
use dalembert_derive::picture::Picture;
use dalembert_derive::{EquationsOfMotion, Variables};
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::certificate::Gauss;
use dalembert_gauss::eliminations::Scratch;
use dalembert_gauss::linalg;
use dalembert_gauss::multipliers::recovered;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::scale::Units;
use dalembert_gauss::terms::{Noise, Terms, Tolerances};
use dalembert_gauss::{DEFAULT, Factored};
use dalembert_model::system::{
    Energy, Friction, Mode, Model, OfTouch, Phase, System, Touched, Unknown,
};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// What a state looks like from outside.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Positions, velocities, momenta.
    pub state: State,
    /// H = q̇·p − L.
    pub energy: f64,
    /// The power of all that is not conservative: explicit time, impressed and
    /// non-ideal forces, constraints that move. NaN where it is not followed.
    pub power: f64,
    /// The work it has done since the start: E − E₀ but for errors.
    pub work: f64,
    /// q̈.
    pub accelerations: Vec<f64>,
    /// ṗ.
    pub momentum_rates: Vec<f64>,
    /// Qᶜ.
    pub constraint_force: Vec<f64>,
    /// λ of least norm for the rows as written.
    pub multipliers: Vec<f64>,
    /// Which multipliers are not unique.
    pub indeterminate: Vec<bool>,
    /// A.
    pub jacobian: Matrix,
    /// Certificates.
    pub gauss: Gauss,
    /// rank A.
    pub rank: usize,
    /// The phase it was seen in, where contacts and friction have one.
    pub phase: Option<Arc<PhaseSeen>>,
}

/// A phase as its observations need it.
#[derive(Clone)]
pub struct PhaseSeen {
    /// The setting of the phase's own model.
    setting: Setting,
    /// Contacts and frictions as they are seen: those whose load others bear are closed too.
    pub(crate) shown: Option<Shown>,
    /// Normal impulses, while events see an impact.
    pub(crate) impulses: Option<Vec<f64>>,
}

impl std::fmt::Debug for PhaseSeen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PhaseSeen").field("shown", &self.shown).finish_non_exhaustive()
    }
}

/// Compiled observations.
#[derive(Clone)]
pub struct Observer {
    branches: OnBranches,
    function: Compiled,
    input: Vec<f64>,
    /// Coordinates and states.
    n: usize,
    coordinates: usize,
    m: usize,
    size: usize,
    layout: Places,
    scratch: Box<Scratch>,
    outcome: Outcome,
    /// The decision of a state before, where all rows are independent; not that of the first,
    /// which may be the only one.
    factored: Box<Factored>,
    is_first: bool,
    units: Box<Units>,
    /// What observations tell of their phase.
    pub(crate) phase: Option<Arc<PhaseSeen>>,
}

/// Where the outputs lie.
#[derive(Clone)]
struct Places {
    velocity: Range<usize>,
    momentum: Range<usize>,
    momentum_bias: Range<usize>,
    energy: usize,
    lift: Sparse,
    lift_bias: Range<usize>,
    /// M, Q, C, A and b of q̈.
    normal: Layout,
}

/// H = q̇·p − L, in q, q̇, t (and auxiliary momenta).
pub(crate) fn energy(setting: &Setting, picture: &Picture) -> ExprId {
    energy_of(&setting.model, picture)
}

/// The same of a model.
pub(crate) fn energy_of(model: &Model, picture: &Picture) -> ExprId {
    let (exprs, system) = (&model.exprs, &model.system);
    match &system.energy {
        Energy::Lagrangian { lagrangian, momenta, .. } => {
            let terms: Vec<ExprId> = picture
                .velocities
                .iter()
                .zip(momenta)
                .map(|(&v, &p)| (exprs.at(exprs.of_symbol(v)) * exprs.at(p)).id)
                .collect();
            (exprs.at(exprs.sum(&terms)) - exprs.at(*lagrangian)).id
        }
        Energy::Hamiltonian { hamiltonian, .. } => {
            let map: Vec<(Symbol, ExprId)> =
                system.momenta().into_iter().zip(picture.momenta.iter().copied()).collect();
            exprs.substitute(&[*hamiltonian], &map)[0]
        }
    }
}

impl Observer {
    /// The observer of a field's variables, with the picture of the setting's system.
    pub fn new(setting: &Setting, picture: &Picture, equations: &EquationsOfMotion) -> Observer {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let equations = equations.on_constraints(exprs);
        let mut outputs = Outputs::beside(&picture.metric, picture.bodies.as_deref());
        // In q, q̇, t; then q̇ by the own variables.
        let momentum = outputs.list(picture.momenta.iter().copied());
        let momentum_bias = outputs.list(picture.momentum_bias.iter().copied());
        let energy = outputs.one(energy(setting, picture));
        let normal = Layout::of_picture(&mut outputs, picture);
        let map: Vec<(Symbol, ExprId)> =
            picture.velocities.iter().copied().zip(equations.kinematics.iter().copied()).collect();
        outputs.roots = exprs.substitute(&outputs.roots, &map);
        let coordinates = equations.n_coordinates();
        let velocity = outputs.list(equations.kinematics[..coordinates].iter().copied());
        let lift = outputs.matrix(&equations.lift);
        let lift_bias = outputs.list(equations.lift_bias.iter().copied());
        let layout = Places { velocity, momentum, momentum_bias, energy, lift, lift_bias, normal };
        let mut variables = vec![Symbol::TIME];
        variables.extend(&equations.q);
        variables.extend(&equations.v);
        variables.extend(equations.auxiliary.iter().flat_map(|a| a.symbols.iter().copied()));
        variables.extend(equations.multipliers.iter().map(|m| m.1));
        let energy = layout.energy..layout.energy + 1;
        let (roots, branches) = OnBranches::freeze(setting, &outputs.roots, energy, &mut variables);
        Observer {
            branches,
            input: vec![0.0; variables.len()],
            function: Compiled::new(setting, &roots, &variables),
            n: equations.q.len(),
            coordinates,
            m: system.constraints.len(),
            size: equations.v.len(),
            layout,
            scratch: Box::default(),
            outcome: Outcome::default(),
            factored: Box::default(),
            is_first: true,
            units: Box::default(),
            phase: system.phase.is_some().then(|| {
                let setting = setting.clone();
                Arc::new(PhaseSeen { setting, shown: None, impulses: None })
            }),
        }
    }

    /// Takes the parameters of another setting of its model.
    pub(crate) fn set_parameters(&mut self, setting: &Setting) {
        self.prepare(&setting.constants().1);
        if let Some(phase) = &mut self.phase {
            Arc::make_mut(phase).setting = setting.clone();
        }
    }

    /// Sets the parameters.
    pub(crate) fn prepare(&mut self, constants: &[f64]) {
        self.function.prepare(constants);
        self.branches.prepare(constants);
        self.factored.forget();
    }

    fn evaluate(&mut self, field: &Field, t: f64, x: &[f64]) {
        let (n, size) = (self.n, self.size);
        self.input[0] = t;
        self.input[1..1 + n + size].copy_from_slice(&x[..n + size]);
        let behind = 1 + n + size + field.auxiliary().len();
        self.input[1 + n + size..behind].copy_from_slice(field.auxiliary());
        self.input[behind..self.branches.first].copy_from_slice(field.multipliers_in_forces());
        self.branches.set(field, &mut self.input);
        self.function.call(&self.input);
    }

    /// The energy at the field's last state, and the size of what it consists of:
    /// |q̇·p|, twice the kinetic energy.
    pub fn energy(&mut self, field: &Field, t: f64, x: &[f64]) -> (f64, f64) {
        self.evaluate(field, t, x);
        let velocity = &self.function.output[self.layout.velocity.clone()];
        let momentum = &self.function.output[self.layout.momentum.clone()];
        (self.function.output[self.layout.energy], linalg::dot(velocity, momentum).abs())
    }

    /// M_ii at the field's last state.
    pub fn masses(&mut self, field: &Field, t: f64, x: &[f64]) -> Vec<f64> {
        self.evaluate(field, t, x);
        let diagonal = self.layout.normal.metric.diagonal();
        let mass = |at: Option<usize>| at.map_or(0.0, |at| self.function.output[at]);
        diagonal.into_iter().map(mass).collect()
    }

    /// Velocities and momenta at the field's last state.
    pub fn state(&mut self, field: &Field, t: f64, x: &[f64]) -> State {
        self.evaluate(field, t, x);
        State {
            t,
            q: x[..self.n].to_vec(),
            velocity: self.function.output[self.layout.velocity.clone()].to_vec(),
            momentum: self.function.output[self.layout.momentum.clone()].to_vec(),
        }
    }

    /// What the last digits of a state do to its rows.
    fn blurred(&mut self, field: &Field, t: f64, x: &[f64]) -> Blurred {
        let (n, m) = (self.coordinates, self.m);
        let normal = &self.layout.normal;
        let (entries, length) = (normal.metric.length(), normal.jacobian.length());
        let pattern = normal.jacobian.pattern().cloned();
        let masses = self.masses(field, t, x);
        let rows = self.layout.normal.jacobian.values(&self.function.output);
        let right = self.function.output[self.layout.normal.bias.clone()].to_vec();
        let mut blurred = Blurred {
            n,
            zero: vec![0.0; entries.max(n)],
            entries,
            jacobian: vec![0.0; length],
            bias: vec![0.0; m],
        };
        let mut parts = vec![0.0; m];
        let inertia = &field.noise().mass_inertia;
        let units = units(|i| masses[i], &inertia[..n.min(inertia.len())], n);
        for number in 0..TRIES {
            self.evaluate(field, t, &beside(x, &field.noise().extents, number));
            widen_rows(
                &mut parts,
                &units,
                &rows,
                &self.layout.normal.jacobian.values(&self.function.output),
                pattern.as_ref(),
            );
            widen(
                &mut blurred.bias,
                &right,
                &self.function.output[self.layout.normal.bias.clone()],
            );
        }
        spread(&mut blurred.jacobian, n, &rows, &parts, pattern.as_ref());
        blurred
    }

    /// Everything.
    pub fn observe(
        &mut self,
        field: &mut Field,
        t: f64,
        x: &[f64],
    ) -> Result<Observation, FieldError> {
        let mut dx = vec![0.0; x.len()];
        // The motion itself, without what pulls it back to the constraints.
        let feedback = std::mem::replace(&mut field.feedback, Feedback::None);
        let rates = field.certified_rates(t, x, &mut dx);
        field.feedback = feedback;
        rates?;
        // Dependent rows differ by what the state is off by.
        let solved = field.equations.chart.as_ref().map_or(0, |c| c.chart.rows.len());
        let is_full = field.rows().len() + solved == self.m;
        let blurred = (!is_full).then(|| self.blurred(field, t, x));
        self.evaluate(field, t, x);
        let (n, size, layout) = (self.coordinates, self.size, &self.layout);
        let output = &self.function.output;
        let lift = layout.lift.values(output);
        let (q, last) = (&x[..self.n], self.n + size);
        let v_dot = &dx[self.n..last];
        let accelerations: Vec<f64> = (0..n)
            .map(|i| {
                let own: f64 = layout.lift.row(&lift, i).map(|(k, a)| a * v_dot[k]).sum();
                own + output[layout.lift_bias.start + i]
            })
            .collect();
        let (mass, jacobian) =
            (layout.normal.metric.values(output), layout.normal.jacobian.values(output));
        let state = State {
            t,
            q: q.to_vec(),
            velocity: output[layout.velocity.clone()].to_vec(),
            momentum: output[layout.momentum.clone()].to_vec(),
        };
        // Without constraints Hamilton's equations go on where there is no M.
        if self.m == 0
            && field.equations.variables == Variables::Momenta
            && mass.iter().any(|m| !m.is_finite())
        {
            return Ok(Observation {
                state,
                energy: output[layout.energy],
                power: if field.follows_work() { dx[last] } else { f64::NAN },
                work: if field.follows_work() { x[last] } else { f64::NAN },
                accelerations,
                momentum_rates: v_dot.to_vec(),
                constraint_force: vec![0.0; n],
                multipliers: Vec::new(),
                indeterminate: Vec::new(),
                gauss: Gauss { residual: field.outcome().stationarity, ..Gauss::default() },
                rank: 0,
                jacobian: layout.normal.jacobian.matrix(jacobian),
                phase: self.phase.clone(),
            });
        }
        let inertia = &field.noise().mass_inertia;
        let inertia = &inertia[..n.min(inertia.len())];
        let terms = Terms { inertia, ..layout.normal.terms(output, &mass, &jacobian) };
        let rates = terms.moved(&accelerations);
        let constraint_force: Vec<f64> =
            rates.iter().zip(terms.force).map(|(a, b)| a - b).collect();
        let bias = &output[layout.momentum_bias.clone()];
        let momentum_rates = rates.iter().zip(bias).map(|(a, b)| a + b).collect();
        // Which multipliers are unique depends on the rank only.
        let rank = Some(1e-9);
        let outcome = &mut self.outcome;
        let is_decided = is_full && self.factored.is_decided();
        if !(is_decided
            && self.factored.refactor(DEFAULT, &terms)
            && self.factored.holds()
            && self.factored.solve(DEFAULT, &terms, &mut outcome.v_dot, &mut outcome.multipliers))
        {
            let tolerances =
                Tolerances { rank, inconsistent: 1e-6, hidden: 1e-6, least_squares: true };
            let noise = blurred.as_ref().map(Blurred::noise);
            DEFAULT
                .solve(&mut self.scratch, &Terms { noise, ..terms }, &tolerances, outcome)
                .map_err(FieldError::Solve)?;
            self.factored.forget();
            let is_first = std::mem::replace(&mut self.is_first, false);
            if is_full && !is_first && outcome.independent.len() == self.m {
                self.factored.adopt(&self.scratch, outcome);
            }
        }
        self.units.set(&terms);
        let lambda = recovered(&terms, &self.units, &self.outcome, &constraint_force, rank)
            .map_err(|_| FieldError::NotFinite { what: "multiplier", index: 0 })?;
        let mut certified = Outcome { multipliers: lambda, ..Outcome::default() };
        certified.stationarity = field.outcome().stationarity;
        // Of what the state may be off by, a projection leaves little.
        let left = blurred.map(|b| b.times(LEFT));
        let terms = Terms { noise: left.as_ref().map(Blurred::noise), ..terms };
        if terms.noise.is_some() {
            self.units.set(&terms);
        }
        let velocity = &output[layout.velocity.clone()];
        let natural = natural_accelerations(q, velocity, &field.noise().extents, field.duration());
        // Accelerations that were not solved for are no solution to be certified.
        let gauss = match field.known_rates {
            None => {
                let force = &constraint_force;
                Gauss::new(&terms, &self.units, &accelerations, force, &certified, &natural)
            }
            Some(_) => Gauss::default(),
        };
        let system = &field.model().system;
        let mut multipliers = certified.multipliers;
        let mut jacobian = layout.normal.jacobian.matrix(jacobian);
        if !system.recombined.is_empty() {
            jacobian = jacobian.with_zeros();
        }
        let mut indeterminate = self.outcome.indeterminate.clone();
        let table = OnceCell::new();
        let number =
            |weight| field.setting().number(weight, table.get_or_init(|| state.table(system)));
        system.write_multipliers(&mut multipliers, &number);
        system.write_rows(&mut jacobian.values, n, &number);
        system.write_flags(&mut indeterminate);
        apart::share(system, &jacobian, &mut multipliers, &mut indeterminate);
        Ok(Observation {
            state,
            energy: output[layout.energy],
            power: if field.follows_work() { dx[last] } else { f64::NAN },
            work: if field.follows_work() { x[last] } else { f64::NAN },
            accelerations,
            momentum_rates,
            constraint_force,
            multipliers,
            indeterminate,
            gauss,
            rank: self.outcome.rank.jacobian,
            jacobian,
            phase: self.phase.clone(),
        })
    }
}

/// Noise of A and b.
struct Blurred {
    n: usize,
    /// How many entries Γ has.
    entries: usize,
    zero: Vec<f64>,
    jacobian: Vec<f64>,
    bias: Vec<f64>,
}

impl Blurred {
    fn noise(&self) -> Noise<'_> {
        Noise {
            metric: &self.zero[..self.entries],
            force: &self.zero[..self.n],
            jacobian: &self.jacobian,
            bias: &self.bias,
        }
    }

    fn times(mut self, factor: f64) -> Blurred {
        self.jacobian.iter_mut().chain(&mut self.bias).for_each(|noise| *noise *= factor);
        self
    }
}

impl Observation {
    /// How large the forces on a coordinate are.
    pub(crate) fn force_on(&self, i: usize) -> f64 {
        self.momentum_rates[i].abs().max(self.constraint_force[i].abs())
    }

    /// The multiplier of a row if it alone had to bear the forces at hand: a multiplier in balance is
    /// a difference of such.
    pub(crate) fn multiplier_by_forces(&self, row: usize) -> f64 {
        let entries = || self.jacobian.row(row);
        let whole: f64 = entries().map(|(_, a)| a * a).sum();
        let forces: f64 = entries().map(|(i, a)| a.abs() * self.force_on(i)).sum();
        if whole > 0.0 { forces / whole } else { 0.0 }
    }

    /// Values for everything an output or a check may speak of. What is not unique
    /// is NaN.
    pub fn table(&self, system: &System) -> Table {
        let mut table = self.state.table(system);
        table.set_all(&system.accelerations(), &self.accelerations);
        table.set_all(&system.momentum_rates(), &self.momentum_rates);
        let solved = Solved {
            multipliers: &self.multipliers,
            indeterminate: &self.indeterminate,
            constraint_force: &self.constraint_force,
            jacobian: &self.jacobian,
        };
        solved.fill(system, &mut table);
        if let Some(phase) = &self.phase {
            phase.fill(system, &solved, &mut table);
        }
        table
    }

    /// How a contact or friction is: 0 open, 1 slipping (or closed without friction), 2 sticking.
    /// `None` where the run has no phases.
    pub fn mode(&self, of: Touched) -> Option<f64> {
        let seen = self.phase.as_ref()?;
        let phase = seen.setting.model.system.phase.as_ref()?;
        Some(match of {
            Touched::Contact(c) => seen.contact_mode(phase, c),
            Touched::Friction(f) => seen.friction_mode(phase, f),
        })
    }
}

impl PhaseSeen {
    /// Of a state by itself.
    pub fn of(here: &Here) -> PhaseSeen {
        let (setting, shown) = (here.setting.clone(), Some(here.shown().clone()));
        PhaseSeen { setting, shown, impulses: None }
    }

    /// The largest load that the forces at hand would be on the rows of closed contacts, and of
    /// frictions that stick.
    pub(crate) fn sizes(&self, seen: &Observation) -> (f64, f64) {
        let own = &self.setting.model.system;
        let of = |rows: &mut dyn Iterator<Item = usize>| {
            rows.map(|row| seen.multiplier_by_forces(row)).fold(0.0, f64::max)
        };
        let loads = of(&mut own.contacts.iter().filter_map(|c| c.held));
        (loads, of(&mut own.frictions.iter().filter_map(|f| f.held.clone()).flatten()))
    }

    /// (bound, force) of each friction that sticks, where both are known.
    pub(crate) fn held(&self, seen: &Observation) -> Vec<(f64, f64)> {
        let own = &self.setting.model.system;
        let table = seen.table(own);
        let mut list = Vec::new();
        for friction in &own.frictions {
            let Some(held) = friction.held.clone() else { continue };
            let open = |row: usize| seen.indeterminate.get(row).copied().unwrap_or(true);
            if held.clone().any(open) {
                continue;
            }
            let force = held.map(|row| seen.multipliers[row].powi(2)).sum::<f64>().sqrt();
            let bound =
                self.setting.number(friction.static_bound.unwrap_or(friction.bound), &table);
            if bound.is_finite() {
                list.push((bound, force));
            }
        }
        list
    }

    /// The part of what is borne that no sharing of the loads bears without a pull, or a friction over its
    /// bound, where what frictions hold is not unique; 0 where it is.
    pub(crate) fn shared(&self, seen: &Observation) -> f64 {
        let own = &self.setting.model.system;
        let n = own.n_coordinates();
        let open = |row: usize| seen.indeterminate.get(row).copied().unwrap_or(true);
        let is_open = |f: &Friction| f.held.as_ref().is_some_and(|held| held.clone().any(open));
        if !own.frictions.iter().any(is_open) {
            return 0.0;
        }
        let row = |at: usize| -> Vec<f64> { (0..n).map(|i| seen.jacobian.entry(at, i)).collect() };
        let mut table = seen.table(own);
        own.contacts.iter().for_each(|c| table.set(c.normal, 1.0));
        let bound =
            |f: &Friction| self.setting.number(f.static_bound.unwrap_or(f.bound), &table).max(0.0);
        let (mut bearers, mut borne) = (Vec::new(), Vec::new());
        for contact in &own.contacts {
            let Some(normal) = contact.held else { continue };
            let friction = contact.friction.map(|f| &own.frictions[f]);
            match friction.map(|f| (f, f.held.clone())) {
                // What slips by its load is a force beside it.
                Some((_, None)) => {}
                Some((friction, Some(held))) => {
                    borne.extend(held.clone().chain([normal]));
                    let slips = held.map(row).collect();
                    bearers.push(Bearer::Pushes(row(normal), slips, bound(friction)));
                }
                None => {
                    borne.push(normal);
                    bearers.push(Bearer::Pushes(row(normal), Vec::new(), 0.0));
                }
            }
        }
        for friction in own.frictions.iter().filter(|f| f.contact.is_none()) {
            let Some(held) = friction.held.clone() else { continue };
            borne.extend(held.clone());
            bearers.push(Bearer::Rubs(held.map(row).collect(), bound(friction)));
        }
        let touched = |at: &usize| {
            own.contacts.iter().any(|c| c.held == Some(*at))
                || own.frictions.iter().any(|f| f.held.as_ref().is_some_and(|h| h.contains(at)))
        };
        let written = (0..seen.multipliers.len()).filter(|at| !touched(at));
        bearers.extend(written.map(|at| Bearer::Free(row(at))));
        let largest = borne.iter().map(|&at| seen.multipliers[at].abs()).fold(0.0, f64::max);
        let (mut force, mut sizes) = (vec![0.0; n], vec![0f64; n]);
        for &at in &borne {
            for (i, a) in row(at).into_iter().enumerate() {
                force[i] += seen.multipliers[at] * a;
                sizes[i] = sizes[i].max(largest * a.abs());
            }
        }
        missing(&bearers, &force, &sizes)
    }

    fn sticks(&self, phase: &Phase, f: usize) -> bool {
        match &self.shown {
            Some(shown) => shown.sticks[f],
            None => phase.modes[f].sticks(),
        }
    }

    /// 0 open, 1 closed and slipping (or without friction), 2 sticking.
    fn contact_mode(&self, phase: &Phase, c: usize) -> f64 {
        let is_closed = match &self.shown {
            Some(shown) => shown.closed[c],
            None => phase.closed[c],
        };
        match (is_closed, self.setting.model.system.contacts[c].friction) {
            (false, _) => 0.0,
            (true, Some(f)) if self.sticks(phase, f) => 2.0,
            (true, _) => 1.0,
        }
    }

    /// 0 where it does not act, 1 slipping, 2 sticking.
    fn friction_mode(&self, phase: &Phase, f: usize) -> f64 {
        match (phase.mode(&self.setting.model.system, f).is_some(), self.sticks(phase, f)) {
            (false, _) => 0.0,
            (true, true) => 2.0,
            (true, false) => 1.0,
        }
    }

    /// Sets what a system (the model as written, or that of the phase) says of contacts and frictions.
    pub fn fill(&self, system: &System, solved: &Solved<'_>, table: &mut Table) {
        let own = &self.setting.model.system;
        let Some(phase) = &own.phase else { return };
        let row = |at: usize| match solved.indeterminate.get(at).copied().unwrap_or(true) {
            true => f64::NAN,
            false => solved.multipliers[at],
        };
        let is_open_load = |c: usize| self.shown.as_ref().is_some_and(|shown| shown.open_load[c]);
        let is_open_force = |f: usize| self.shown.as_ref().is_some_and(|shown| shown.open_force[f]);
        let mut with_unknowns = None;
        let mut force = |f: usize, k: usize| -> f64 {
            if let Some(held) = &own.frictions[f].held {
                return row(held.start + k);
            }
            let Some(mode) = phase.mode(own, f) else { return 0.0 };
            let table: &Table = with_unknowns.get_or_insert_with(|| {
                let mut own_table = table.clone();
                solved.fill(own, &mut own_table);
                own_table
            });
            let friction = &own.frictions[f];
            let at_rest = friction.static_bound.filter(|_| mode.is_at_edge());
            let bound = self.setting.number(at_rest.unwrap_or(friction.bound), table);
            let slip = self.setting.numbers(&friction.slip, table);
            let length = slip.iter().map(|v| v * v).sum::<f64>().sqrt();
            match mode {
                Mode::Forward | Mode::HeldForward => -bound,
                Mode::Backward | Mode::HeldBackward => bound,
                Mode::Toward => -bound * self.setting.number_of(friction.toward[k]),
                Mode::Slip | Mode::Stick => -bound * slip[k] / length,
            }
        };
        let mut values = Vec::new();
        for &(symbol, unknown) in &system.unknowns {
            let Unknown::Touch(of) = unknown else { continue };
            let value = match of {
                OfTouch::Normal(c) if is_open_load(c) => f64::NAN,
                OfTouch::Normal(c) => own.contacts[c].held.map_or(0.0, row),
                OfTouch::Force(f, _) if is_open_force(f) => f64::NAN,
                OfTouch::Force(f, k) => force(f, k),
                OfTouch::ContactMode(c) => self.contact_mode(phase, c),
                OfTouch::FrictionMode(f) => self.friction_mode(phase, f),
                OfTouch::Impulse(c) => {
                    self.impulses.as_ref().and_then(|p| p.get(c)).copied().unwrap_or(0.0)
                }
            };
            values.push((symbol, value));
        }
        values.into_iter().for_each(|(symbol, value)| table.set(symbol, value));
    }
}
