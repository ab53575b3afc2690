//! What an event does to the state: positions first, then velocities.
//!
//! Positions that are listed take their values; the others move as little as the position
//! constraints demand, in the mass metric. Velocities follow the impulsive principle of
//! Gauss: with e(q, q̇⁺, t) = 0 the listed equations and all constraints at the velocity
//! level, at the new positions,
//!
//! ```text
//! minimise ½ (q̇⁺ − q̇⁻)ᵀ M (q̇⁺ − q̇⁻)   subject to   e = 0 ,
//! ```
//!
//! so that p⁺ − p⁻ = e_q̇ᵀ π: impulses act along what is listed and along the constraints,
//! and nowhere else. It is solved in this form, which holds for an L that is not quadratic
//! in q̇ too, by Newton steps; each is the universal problem once more, and for linear
//! equations and a quadratic L one is enough. In a model given by H the unknowns are the
//! momenta, the metric is H_pp and the rows e_p = e_q̇ H_pp.
//!
//! Rows may depend on each other and M may be singular. What cannot be met is reported
//! with what is left over.
//!
//! In a phase of contacts and friction only the model's own constraints are held. A friction has a
//! bound, which no impulse is below, so it holds nothing. A closed contact pushes: where positions are
//! set it stays closed if it can, and where velocities are set it keeps its gap from closing, if the
//! listed equations leave it that. What approaches nevertheless is struck, and what parts opens.

use crate::normal_form::Matrix;
use crate::points::nearest::{NearestPoint, Unmet};
use crate::points::start::Native;
use crate::setting::State;
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Jacobian, Symbol, SymbolKind};
use dalembert_gauss::eliminations::Scratch;
use dalembert_gauss::linalg;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Terms, Tolerances};
use dalembert_model::system::{Action, Energy, Level, System};

/// Rows are dependent below this.
const RANK: f64 = 1e-7;
/// Most Newton steps.
const MOST: usize = 80;

/// An event resets the state to what cannot be.
#[derive(Clone, Debug, PartialEq)]
pub struct ResetError {
    /// Which event.
    pub event: usize,
    /// What is left of its equations and the constraints; NaN if they have no value.
    pub left: f64,
    /// The constraints that stand in the way.
    pub constraints: Vec<usize>,
}

/// The resets of a model.
#[derive(Clone)]
pub struct Impulses {
    setting: Setting,
    native: Native,
    /// For each event its equations.
    resets: Vec<Vec<Reset>>,
    /// What the rows of the model are.
    rows: Vec<Holds>,
}

/// What a row of a model holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// A constraint of the model as written.
    Always,
    /// A closed contact.
    Contact,
    /// A friction, or a contact along the edge of its cone.
    Friction,
}

impl Holds {
    fn of(system: &System) -> Vec<Holds> {
        let mut rows = vec![Holds::Always; system.constraints.len()];
        for row in system.contacts.iter().filter_map(|c| c.held) {
            let is_gap = system.constraints[row].level == Level::Position;
            rows[row] = if is_gap { Holds::Contact } else { Holds::Friction };
        }
        for held in system.frictions.iter().filter_map(|f| f.held.clone()) {
            rows[held].fill(Holds::Friction);
        }
        rows
    }
}

/// `quantity = value`: the residual quantity − w, the symbol w, and the value.
#[derive(Clone)]
struct Reset {
    quantity: ExprId,
    residual: ExprId,
    symbol: Symbol,
    value: ExprId,
    is_position: bool,
}

/// Equations of one level that an event wants.
struct Wanted<'a> {
    event: usize,
    table: Table,
    list: Vec<&'a Reset>,
}

impl Impulses {
    /// The resets of a model's events.
    pub fn new(setting: &Setting) -> Impulses {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let native = Native::new(exprs, system);
        let reset = |&(quantity, value): &(ExprId, ExprId)| {
            let symbol = exprs.symbol("after", SymbolKind::Constant);
            let residual = (exprs.at(quantity) - exprs.at(exprs.of_symbol(symbol))).id;
            let symbols = exprs.symbols_of(&[quantity]);
            // A state takes its value with the positions: neither sees an impulse.
            let is_position = !symbols.iter().any(|s| native.rates.contains(s));
            Reset { quantity, residual, symbol, value, is_position }
        };
        let resets = system.events.iter().map(|event| match &event.action {
            Action::Reset(list) => list.iter().map(reset).collect(),
            Action::Record | Action::Stop => Vec::new(),
        });
        let (resets, rows) = (resets.collect(), Holds::of(system));
        Impulses { setting: setting.clone(), native, resets, rows }
    }

    /// Takes other values of the parameters.
    pub(crate) fn set_parameters(&mut self, setting: &Setting) {
        self.setting = setting.clone();
    }

    /// The state after an event. `before` has the values of everything that the right
    /// sides may speak of.
    pub fn after(&self, event: usize, state: &State, before: &Table) -> Result<State, ResetError> {
        let resets = &self.resets[event];
        let values: Vec<ExprId> = resets.iter().map(|r| r.value).collect();
        let values = self.setting.numbers(&values, before);
        if values.iter().any(|v| !v.is_finite()) {
            return Err(ResetError { event, left: f64::NAN, constraints: Vec::new() });
        }
        let mut table = Table::default();
        table.set(Symbol::TIME, state.t);
        for (reset, &value) in resets.iter().zip(&values) {
            table.set(reset.symbol, value);
        }
        let of = |is_position: bool| Wanted {
            event,
            table: table.clone(),
            list: resets.iter().filter(|r| r.is_position == is_position).collect(),
        };
        let q = self.positions(of(true), state)?;
        let lost = |_| ResetError { event, left: f64::NAN, constraints: Vec::new() };
        let moved = if q == state.q {
            state.clone()
        } else {
            State::of_velocities(&self.setting, state.t, q.clone(), state.velocity.clone())
                .map_err(lost)?
        };
        let rates = self.velocities(of(false), &moved)?;
        match self.native.by_momenta {
            true => State::of_momenta(&self.setting, state.t, q, rates),
            false => State::of_velocities(&self.setting, state.t, q, rates),
        }
        .map_err(lost)
    }

    /// The listed positions as given, the others nearest to where they were.
    fn positions(&self, wanted: Wanted, state: &State) -> Result<Vec<f64>, ResetError> {
        if wanted.list.is_empty() {
            return Ok(state.q.clone());
        }
        let touches = self.rows.contains(&Holds::Contact);
        match self.positions_on(&wanted, state, &|row| self.rows[row] != Holds::Friction) {
            Err(_) if touches => {
                self.positions_on(&wanted, state, &|row| self.rows[row] == Holds::Always)
            }
            found => found,
        }
    }

    /// The same where these rows are held.
    fn positions_on(
        &self,
        wanted: &Wanted,
        state: &State,
        holds: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<f64>, ResetError> {
        let system = &self.setting.model.system;
        let exprs = &self.setting.model.exprs;
        let all = system.configuration();
        let mut q = state.q.clone();
        let mut table = wanted.table.clone();
        let rates = if self.native.by_momenta { &state.momentum } else { &state.velocity };
        table.set_all(&self.native.rates, rates);
        // A coordinate that is listed is unknown no longer.
        let mut is_free = vec![true; all.len()];
        let mut equations = Vec::new();
        for reset in &wanted.list {
            let place =
                exprs.as_symbol(reset.quantity).and_then(|s| all.iter().position(|a| *a == s));
            match place.filter(|&at| is_free[at]) {
                Some(at) => {
                    is_free[at] = false;
                    q[at] = wanted.table.get(reset.symbol).unwrap_or(f64::NAN);
                    table.set(all[at], q[at]);
                }
                None => equations.push(reset.residual),
            }
        }
        let listed = equations.len();
        let rows = system.constraints.iter().enumerate();
        let laws: Vec<(usize, ExprId)> = rows
            .filter(|&(row, c)| c.level == Level::Position && holds(row))
            .map(|(row, c)| (row, c.residual))
            .collect();
        equations.extend(laws.iter().map(|l| l.1));
        // States that are not listed stay.
        let n = system.n_coordinates();
        (n..all.len()).for_each(|i| table.set(all[i], q[i]));
        let free: Vec<usize> = (0..n).filter(|&i| is_free[i]).collect();
        if equations.is_empty() {
            return Ok(q);
        }
        let scales =
            self.native.position_scales(&self.native.geometry.at(&self.setting, &table)).of(&free);
        let metric = |table: &Table| Some(self.native.mass(&self.setting, table)?.square(&free));
        let problem = NearestPoint {
            setting: &self.setting,
            table,
            unknowns: free.iter().map(|&i| all[i]).collect(),
            guess: free.iter().map(|&i| q[i]).collect(),
            equations,
            nearest: true,
            metric: &metric,
            scales,
        };
        match problem.solve() {
            Ok(found) => {
                free.iter().zip(found.x).for_each(|(&i, x)| q[i] = x);
                Ok(q)
            }
            Err(unmet) => Err(failure(wanted.event, &unmet, listed, &laws)),
        }
    }

    /// Velocities (momenta, in a model given by H) after the impulse.
    fn velocities(&self, wanted: Wanted, state: &State) -> Result<Vec<f64>, ResetError> {
        let laws = &self.native.velocity_laws;
        let of = |what: Holds| laws.iter().copied().filter(move |law| self.rows[law.0] == what);
        let (mut held, contacts): (Vec<_>, Vec<_>) =
            (of(Holds::Always).collect(), of(Holds::Contact).collect());
        let mut rates = self.velocities_on(&wanted, state, &held)?;
        // Contacts that would be pressed in push, until none is, or those that are cannot be helped.
        let mut table = wanted.table.clone();
        table.set_all(&self.setting.model.system.configuration(), &state.q);
        loop {
            table.set_all(&self.native.rates, &rates);
            let is_pressed = |law: &&(usize, ExprId)| {
                !held.contains(law) && self.setting.number(law.1, &table) < 0.0
            };
            let pressed: Vec<_> = contacts.iter().filter(is_pressed).copied().collect();
            if pressed.is_empty() {
                return Ok(rates);
            }
            held.extend(pressed);
            match self.velocities_on(&wanted, state, &held) {
                Ok(found) => rates = found,
                Err(_) => return Ok(rates),
            }
        }
    }

    /// The same where the rates of these rows are held.
    fn velocities_on(
        &self,
        wanted: &Wanted,
        state: &State,
        laws: &[(usize, ExprId)],
    ) -> Result<Vec<f64>, ResetError> {
        let system = &self.setting.model.system;
        let native = &self.native;
        let mut table = wanted.table.clone();
        table.set_all(&system.configuration(), &state.q);
        let table = table;
        let before = if native.by_momenta { &state.momentum } else { &state.velocity };
        let mut equations: Vec<ExprId> = wanted.list.iter().map(|r| r.residual).collect();
        equations.extend(laws.iter().map(|l| l.1));
        let metric = |table: &Table| native.metric(&self.setting, table);
        let along = native.geometry.at(&self.setting, &table);
        let scales = native.rate_scales(&self.setting, &along, before);
        let exprs = &self.setting.model.exprs;
        let jacobian = exprs.jacobian(&equations, &native.rates);
        let entries: Vec<ExprId> = jacobian.rows.iter().flatten().map(|e| e.1).collect();
        let mut starts = vec![before.clone()];
        // Equations that are not linear have several solutions. The nearest is often the
        // one that is found where the listed velocities have their values already.
        if exprs.symbols_of(&entries).iter().any(|s| native.rates.contains(s)) {
            let mut there = before.clone();
            for reset in &wanted.list {
                let symbol = exprs.as_symbol(reset.quantity);
                let place = native.rates.iter().position(|rate| Some(*rate) == symbol);
                if let (Some(at), Some(value)) = (place, wanted.table.get(reset.symbol)) {
                    there[at] = value;
                }
            }
            starts.push(there);
        }
        let problem = |guess: &[f64]| NearestPoint {
            setting: &self.setting,
            table: table.clone(),
            unknowns: native.rates.clone(),
            guess: guess.to_vec(),
            equations: equations.clone(),
            nearest: false,
            metric: &metric,
            scales: scales.clone(),
        };
        let rows = (&equations[..], &jacobian, &entries[..]);
        let mut best: Option<(f64, Vec<f64>)> = None;
        let mut lost = ResetError { event: wanted.event, left: f64::NAN, constraints: Vec::new() };
        for start in &starts {
            let found = match problem(start).solve() {
                Ok(found) => found.x,
                Err(unmet) => {
                    let listed = wanted.list.len();
                    // The listed equations are held if they can be: what is left is the
                    // constraints'.
                    let unmet = problem(start).hold(listed).unwrap_or(unmet);
                    lost = failure(wanted.event, &unmet, listed, laws);
                    continue;
                }
            };
            let Some(x) = self.settle(rows, &scales.inertia, state, &table, found) else {
                continue;
            };
            let distance = self.distance(&table, &x, before);
            if best.as_ref().is_none_or(|b| distance < b.0) {
                best = Some((distance, x));
            }
        }
        best.map(|b| b.1).ok_or(lost)
    }

    /// Half the square of what the rates changed by, in the metric.
    fn distance(&self, table: &Table, x: &[f64], before: &[f64]) -> f64 {
        let mut table = table.clone();
        table.set_all(&self.native.rates, x);
        let away: Vec<f64> = x.iter().zip(before).map(|(x, b)| x - b).collect();
        let mut force = vec![0.0; x.len()];
        match self.native.metric(&self.setting, &table) {
            Some(metric) => metric.multiply(&away, &mut force),
            None => return f64::INFINITY,
        }
        let distance = 0.5 * linalg::dot(&away, &force);
        if distance.is_finite() { distance } else { f64::INFINITY }
    }

    /// Newton steps from rates that satisfy the equations to those that impulses along them
    /// lead to.
    fn settle(
        &self,
        (equations, jacobian, entries): (&[ExprId], &Jacobian, &[ExprId]),
        inertia: &[f64],
        state: &State,
        table: &Table,
        mut x: Vec<f64>,
    ) -> Option<Vec<f64>> {
        let native = &self.native;
        let mut table = table.clone();
        let n = x.len();
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            table.set_all(&native.rates, &x);
            let metric = native.metric(&self.setting, &table)?;
            let force = self.missing_impulse(&metric, state, &x, &table);
            let bias: Vec<f64> =
                self.setting.numbers(equations, &table).iter().map(|r| -r).collect();
            let values = self.setting.numbers(entries, &table);
            let rows = Matrix::of(jacobian, values, !metric.is_dense());
            let terms = Terms {
                n,
                m: bias.len(),
                metric: &metric.values,
                force: &force,
                nonideal: &vec![0.0; n],
                jacobian: &rows.values,
                bias: &bias,
                noise: None,
                inertia,
                patterns: metric.patterns(&rows),
            };
            let tolerances =
                Tolerances { rank: Some(RANK), least_squares: true, ..Tolerances::default() };
            let mut outcome = Outcome::default();
            dalembert_gauss::DEFAULT
                .solve(&mut Scratch::default(), &terms, &tolerances, &mut outcome)
                .ok()?;
            if outcome.v_dot.len() != n || outcome.v_dot.iter().any(|d| !d.is_finite()) {
                return None;
            }
            x.iter_mut().zip(&outcome.v_dot).for_each(|(x, d)| *x += d);
            let (moved, size) = (linalg::norm(&outcome.v_dot), linalg::norm(&x));
            // Down to rounding, where steps no longer shrink.
            if moved <= 4.0 * f64::EPSILON * size || (moved >= 0.5 * last && moved <= 1e-12 * size)
            {
                return Some(x);
            }
            last = moved;
        }
        (last <= 1e-9 * linalg::norm(&x).max(f64::MIN_POSITIVE)).then_some(x)
    }

    /// What the impulses have still to do: p⁻ − p at x; in a model given by H,
    /// H_pp (p⁻ − x).
    fn missing_impulse(
        &self,
        metric: &Matrix,
        before: &State,
        x: &[f64],
        table: &Table,
    ) -> Vec<f64> {
        match &self.setting.model.system.energy {
            Energy::Lagrangian { momenta, .. } => {
                let momenta = self.setting.numbers(momenta, table);
                before.momentum.iter().zip(momenta).map(|(before, now)| before - now).collect()
            }
            Energy::Hamiltonian { .. } => {
                let away: Vec<f64> = before.momentum.iter().zip(x).map(|(p, x)| p - x).collect();
                let mut force = vec![0.0; x.len()];
                metric.multiply(&away, &mut force);
                force
            }
        }
    }
}

/// What is said of equations that cannot be met.
fn failure(event: usize, unmet: &Unmet, listed: usize, laws: &[(usize, ExprId)]) -> ResetError {
    let left = unmet.residuals.iter().fold(0f64, |m, r| if r.abs() <= m { m } else { r.abs() });
    let involved = unmet.involved.iter().skip(listed).zip(laws);
    let constraints = involved.filter(|(is_in, _)| **is_in).map(|(_, law)| law.0).collect();
    ResetError { event, left, constraints }
}
