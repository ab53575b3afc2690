//! The consistent start: positions first, then velocities (or momenta), each the
//! nearest to the guesses in the mass metric that satisfies the `=` equations of
//! `start` and the constraints.
//!
//! Positions minimise ½ δqᵀM δq on φ(q, t) = 0; velocities the same on all rows
//! ψ(q, q̇, t) = 0, the rates of position rows included; momenta ½ δpᵀH_pp δp.
//! Equations of the form `name = value` hold exactly.

use crate::normal_form::Matrix;
use crate::normal_form::layout::{is_large, numbers_of, pattern_of};
use crate::points::aligned;
use crate::points::balance;
use crate::points::nearest::{NearestPoint, Scales, Unmet};
use crate::points::states;
use crate::setting::State;
use crate::setting::extent::{Along, Geometry, no_entries, velocity_extents};
use crate::setting::legendre::NewtonError;
use crate::setting::{Setting, Table};
use dalembert_derive::bodies::BodyTree;
use dalembert_derive::{kernel, picture};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_gauss::Pattern;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;
use dalembert_model::system::{Energy, Level, Start as Item, System};
use dalembert_model::tree::StartRelation;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A start that satisfies everything.
#[derive(Clone, Debug)]
pub struct Start {
    /// The state.
    pub state: State,
    /// What differs from what was guessed: name, guess, value.
    pub changed: Vec<(String, f64, f64)>,
    /// Positions that neither constraints nor equations fix.
    pub free_positions: usize,
    /// Velocities that neither constraints nor equations fix.
    pub free_velocities: usize,
}

/// Why there is no consistent start.
#[derive(Clone, Debug)]
pub enum StartError {
    /// Faults of the model: equations that clash.
    Clash(Vec<Diagnostic>),
    /// Velocities and momenta do not determine each other.
    Legendre(NewtonError),
    /// The start time is not a number.
    Time,
}

/// Equations of one level: unknowns, guesses, equations of the user, laws.
pub(super) struct Stage<'a> {
    what: &'static str,
    unknowns: Vec<Symbol>,
    guess: Vec<f64>,
    given: Vec<&'a Item>,
    laws: Vec<(usize, ExprId)>,
    nearest: bool,
    metric: &'a dyn Fn(&Table) -> Option<Matrix>,
    scales: Scales,
}

/// The consistent start of a model.
pub fn start(setting: &Setting) -> Result<Start, StartError> {
    let system = &setting.model.system;
    let t = setting.number(system.run.from, &Table::default());
    if !t.is_finite() {
        return Err(StartError::Time);
    }
    let mut table = Table::default();
    table.set(Symbol::TIME, t);
    let faults: Vec<Diagnostic> = guesses(setting, &table)
        .filter(|guess| !guess.1.is_finite())
        .map(|(s, _)| {
            let message = format!("the guess for `{}` is not a finite number at t = {t}", s.text);
            Diagnostic::fault(Code::NotANumber, s.span, message)
        })
        .collect();
    if !faults.is_empty() {
        return Err(StartError::Clash(faults));
    }
    let guess = Guess::of_start(setting);
    let found = from(setting, t, &guess, true)?;
    aligned::aligned(setting, t, &guess, found)
}

/// The `~` items of a model's start and their values. All at once: they may be sums of each other,
/// as positions along a chain are.
fn guesses<'s>(setting: &'s Setting, table: &Table) -> impl Iterator<Item = (&'s Item, f64)> {
    let items = setting.model.system.start.iter();
    let items: Vec<&Item> = items.filter(|s| s.relation == StartRelation::Near).collect();
    let right: Vec<ExprId> = items.iter().map(|s| s.right).collect();
    items.into_iter().zip(setting.numbers(&right, table))
}

/// What positions and velocities (or momenta) are guessed to be.
#[derive(Clone, Debug)]
pub struct Guess {
    /// Positions, then states.
    pub q: Vec<f64>,
    /// Velocities, or momenta.
    pub rate: Vec<f64>,
    /// Whether `rate` holds momenta.
    pub by_momenta: bool,
}

impl Guess {
    /// The `~` items of a model's start; what is not mentioned is 0.
    pub fn of_start(setting: &Setting) -> Guess {
        let system = &setting.model.system;
        let mut table = Table::default();
        table.set(Symbol::TIME, setting.number(system.run.from, &Table::default()));
        let mut values: FxHashMap<Symbol, f64> = FxHashMap::default();
        for (item, value) in guesses(setting, &table) {
            if let Some(symbol) = item.guess {
                values.insert(symbol, if value.is_finite() { value } else { 0.0 });
            }
        }
        let of = |symbols: Vec<Symbol>| -> Vec<f64> {
            symbols.iter().map(|s| values.get(s).copied().unwrap_or(0.0)).collect()
        };
        let by_momenta = system.coordinates.iter().any(|c| values.contains_key(&c.momentum))
            || (matches!(system.energy, Energy::Hamiltonian { .. })
                && !system.coordinates.iter().any(|c| values.contains_key(&c.velocity)));
        let mut q = of(system.configuration());
        table.set_all(&system.configuration(), &q);
        aligned::guess_turns(setting, &table, &mut q);
        Guess {
            q,
            rate: of(if by_momenta { system.momenta() } else { system.velocities() }),
            by_momenta,
        }
    }
}

/// The consistent state nearest to a guess, with the `=` equations of the model's
/// start; or one near the guess, without them.
pub fn from(setting: &Setting, t: f64, guess: &Guess, given: bool) -> Result<Start, StartError> {
    balance::balanced(setting, guess, &|guess| level_by_level(setting, t, guess, given))
}

/// Where states are: those that an equation gives a value have it, the others are found beside the
/// motion that goes with them, until neither changes any more.
fn level_by_level(
    setting: &Setting,
    t: f64,
    guess: &Guess,
    given: bool,
) -> Result<Start, StartError> {
    if let Some(found) = assigned(setting, t, guess, given) {
        return found;
    }
    let system = &setting.model.system;
    let n = system.n_coordinates();
    let mut states = states::States::new(setting, t, &guess.q[n..], given);
    loop {
        let start = with_states(setting, t, guess, given, &states)?;
        if states.settle(setting, &start.state)? {
            return Ok(start);
        }
    }
}

fn with_states(
    setting: &Setting,
    t: f64,
    guess: &Guess,
    given: bool,
    states: &states::States<'_>,
) -> Result<Start, StartError> {
    let system = &setting.model.system;
    let exprs = &setting.model.exprs;
    let equations = |level: Level| -> Vec<&Item> {
        let items = system.start.iter().enumerate();
        items
            .filter(|(at, s)| {
                let is_given = given && s.relation == StartRelation::Equals && s.level == level;
                is_given && !states.takes(*at)
            })
            .map(|(_, s)| s)
            .collect()
    };
    let mut table = Table::default();
    table.set(Symbol::TIME, t);
    table.set_all(&system.state_symbols(), states.values());
    let rate_symbols = if guess.by_momenta { system.momenta() } else { system.velocities() };
    table.set_all(&rate_symbols, &guess.rate);
    let native = Native::new(exprs, system);
    let n = system.n_coordinates();
    let guessed_q = &guess.q[..n];

    let rows = system.constraints.iter().enumerate();
    let position_laws = rows
        .filter(|(_, c)| c.level == Level::Position)
        .map(|(row, c)| (row, c.residual))
        .collect();
    table.set_all(&system.positions(), guessed_q);
    let at_guess = table.clone();
    let guessed = native.geometry.at(setting, &at_guess);
    let scales = native.position_scales(&guessed);
    let mass = |table: &Table| native.mass(setting, table);
    let positions = Stage {
        what: "positions",
        unknowns: system.positions(),
        guess: guessed_q.to_vec(),
        given: equations(Level::Position),
        laws: position_laws,
        nearest: given,
        metric: &mass,
        scales,
    };
    let (mut q, free_positions, held_positions) = positions.solve(setting, &table)?;
    clear(&mut q);
    table.set_all(&system.positions(), &q);
    let moved = (q != guessed_q).then(|| native.geometry.at(setting, &table));
    let along = moved.as_ref().unwrap_or(&guessed);
    q.extend(states.values());

    // The guess in the model's own variables.
    let rate = if native.by_momenta == guess.by_momenta {
        guess.rate.clone()
    } else if native.by_momenta {
        State::of_velocities(setting, t, q.clone(), guess.rate.clone())
            .map_err(StartError::Legendre)?
            .momentum
    } else {
        State::of_momenta(setting, t, q.clone(), guess.rate.clone())
            .map_err(StartError::Legendre)?
            .velocity
    };
    let own = |table: &Table| native.metric(setting, table);
    let velocities = Stage {
        what: if native.by_momenta { "momenta" } else { "velocities" },
        unknowns: native.rates.clone(),
        guess: rate.clone(),
        given: equations(Level::Velocity),
        laws: native.velocity_laws.clone(),
        nearest: given,
        metric: &own,
        scales: native.rate_scales(setting, along, &rate),
    };
    let (mut found, free_velocities, held) = velocities.solve(setting, &table)?;
    clear(&mut found);
    let state = if native.by_momenta {
        State::of_momenta(setting, t, q, found)
    } else {
        State::of_velocities(setting, t, q, found)
    }
    .map_err(StartError::Legendre)?;
    let mut changed = changes(setting, &system.positions(), guessed_q, &state.q, &held_positions);
    let moved = if native.by_momenta { &state.momentum } else { &state.velocity };
    changed.extend(changes(setting, &native.rates, &rate, moved, &held));
    Ok(Start { state, changed, free_positions, free_velocities })
}

/// The start of a model without constraints whose equations only assign: there is nothing to
/// search for. `None` for all others.
fn assigned(
    setting: &Setting,
    t: f64,
    guess: &Guess,
    given: bool,
) -> Option<Result<Start, StartError>> {
    let system = &setting.model.system;
    let by_momenta = matches!(system.energy, Energy::Hamiltonian { .. });
    if !system.constraints.is_empty() || guess.by_momenta != by_momenta {
        return None;
    }
    let mut table = Table::default();
    table.set(Symbol::TIME, t);
    let rates = if by_momenta { system.momenta() } else { system.velocities() };
    table.set_all(&rates, &guess.rate);
    let mut levels = [(system.configuration(), guess.q.clone()), (rates, guess.rate.clone())];
    let mut free = [0; 2];
    for (level, (symbols, values)) in [Level::Position, Level::Velocity].iter().zip(&mut levels) {
        table.set_all(symbols, values);
        let place: FxHashMap<Symbol, usize> =
            symbols.iter().enumerate().map(|(at, &s)| (s, at)).collect();
        let mut is_fixed = vec![false; symbols.len()];
        let is_given = |s: &&Item| given && s.relation == StartRelation::Equals;
        let items: Vec<&Item> =
            system.start.iter().filter(is_given).filter(|s| s.level == *level).collect();
        for found in assignments(setting, &items, &place, &table) {
            let (at, value) = found?;
            if std::mem::replace(&mut is_fixed[at], true) {
                return None;
            }
            values[at] = value;
        }
        clear(values);
        table.set_all(symbols, values);
        let of_motion = &is_fixed[..system.n_coordinates()];
        free[usize::from(*level == Level::Velocity)] =
            of_motion.iter().filter(|fixed| !**fixed).count();
    }
    let [(_, q), (_, rate)] = levels;
    let state = match by_momenta {
        true => State::of_momenta(setting, t, q, rate),
        false => State::of_velocities(setting, t, q, rate),
    };
    let [free_positions, free_velocities] = free;
    let start = |state| Start { state, changed: Vec::new(), free_positions, free_velocities };
    Some(state.map(start).map_err(StartError::Legendre))
}

/// What is left of a coordinate that constraints hold at 0: each step towards it leaves a rounding
/// error of the one before, down to numbers with fewer digits than a double has.
fn clear(list: &mut [f64]) {
    const NOTHING: f64 = f64::MIN_POSITIVE / f64::EPSILON;
    list.iter_mut().filter(|x| x.abs() < NOTHING).for_each(|x| *x = 0.0);
}

/// The positions nearest to a guess that satisfy the constraints among positions.
pub fn place(setting: &Setting, t: f64, guess: &[f64]) -> Option<Vec<f64>> {
    place_on(setting, t, guess, &[])
}

/// The same, with further equations among positions.
pub(super) fn place_on(
    setting: &Setting,
    t: f64,
    guess: &[f64],
    more: &[(usize, ExprId)],
) -> Option<Vec<f64>> {
    let system = &setting.model.system;
    let native = Native::new(&setting.model.exprs, system);
    let mut table = Table::default();
    table.set(Symbol::TIME, t);
    table.set_all(&native.rates, &vec![0.0; native.rates.len()]);
    table.set_all(&system.configuration(), guess);
    let states = guess.get(system.n_coordinates()..).unwrap_or(&[]);
    let guess = &guess[..system.n_coordinates()];
    let scales = native.position_scales(&native.geometry.at(setting, &table));
    let rows = system.constraints.iter().enumerate();
    let laws = rows.filter(|(_, c)| c.level == Level::Position).map(|(row, c)| (row, c.residual));
    let stage = Stage {
        what: "positions",
        unknowns: system.positions(),
        guess: guess.to_vec(),
        given: Vec::new(),
        nearest: false,
        laws: laws.chain(more.iter().copied()).collect(),
        metric: &|table: &Table| native.mass(setting, table),
        scales,
    };
    stage.solve(setting, &table).ok().map(|found| [&found.0, states].concat())
}

/// What a consistent start changed of its guesses; what an equation assigned was
/// never one.
fn changes(
    setting: &Setting,
    symbols: &[Symbol],
    from: &[f64],
    to: &[f64],
    held: &[bool],
) -> Vec<(String, f64, f64)> {
    let size = to.iter().fold(0f64, |m, x| m.max(x.abs()));
    let name = |symbol: Symbol| setting.model.exprs.symbol_info(symbol).full_name();
    (0..symbols.len())
        .filter(|&i| !held[i] && (from[i] - to[i]).abs() > 1e-14 * size)
        .map(|i| (name(symbols[i]), from[i], to[i]))
        .collect()
}

/// The variables a model is written in, beside q: velocities, or momenta.
#[derive(Clone)]
pub(crate) struct Native {
    pub(crate) by_momenta: bool,
    pub(crate) rates: Vec<Symbol>,
    pub(crate) metric: Jacobian,
    /// M of bodies along a tree, of which `metric` is the diagonal.
    pub(crate) bodies: Option<(BodyTree, Arc<Pattern>)>,
    /// What the position constraints, the velocity constraints and the metric depend on.
    pub(crate) geometry: Geometry,
    pub(crate) velocity_laws: Vec<(usize, ExprId)>,
}

impl Native {
    pub(crate) fn new(exprs: &Exprs, system: &System) -> Native {
        let (q, v) = (system.positions(), system.velocities());
        match &system.energy {
            Energy::Lagrangian { momenta, .. } => {
                let k: Vec<ExprId> = v.iter().map(|&s| exprs.of_symbol(s)).collect();
                let rates = picture::rates(&q, &k, &system.rates(exprs));
                let a = system.accelerations();
                let rows = kernel::differentiate(exprs, system, &v, &a, &rates, None);
                let bodies = BodyTree::of_large(exprs, system);
                let metric = match &bodies {
                    Some(bodies) => bodies.diagonal_matrix(),
                    None => exprs.jacobian(momenta, &v),
                };
                let residuals = &rows.velocity_residuals;
                let geometry = geometry(exprs, system, residuals, &v, &metric, bodies.is_some());
                Native {
                    by_momenta: false,
                    rates: v,
                    metric,
                    bodies: bodies.map(|bodies| {
                        let pattern = pattern_of(&bodies);
                        (bodies, pattern)
                    }),
                    geometry,
                    velocity_laws: rows.velocity_residuals,
                }
            }
            Energy::Hamiltonian { velocities, .. } => {
                let p = system.momenta();
                let rates = picture::rates(&q, velocities, &system.rates(exprs));
                let a = system.momentum_rates();
                let rows = kernel::differentiate(exprs, system, &p, &a, &rates, None);
                let metric = exprs.jacobian(velocities, &p);
                let residuals = &rows.velocity_residuals;
                let geometry = geometry(exprs, system, residuals, &p, &metric, false);
                Native {
                    by_momenta: true,
                    rates: p,
                    metric,
                    bodies: None,
                    geometry,
                    velocity_laws: rows.velocity_residuals,
                }
            }
        }
    }

    /// M or H_pp, as numbers.
    pub(crate) fn metric(&self, setting: &Setting, table: &Table) -> Option<Matrix> {
        if let Some((bodies, pattern)) = &self.bodies {
            let values = setting.numbers(&numbers_of(bodies).collect::<Vec<_>>(), table);
            return Some(Matrix::with_pattern(values, self.rates.len(), Some(pattern.clone())));
        }
        let entries: Vec<ExprId> = self.metric.rows.iter().flatten().map(|e| e.1).collect();
        let values = setting.numbers(&entries, table);
        Some(Matrix::of(&self.metric, values, is_large(&self.metric)))
    }

    /// M, as numbers.
    pub(crate) fn mass(&self, setting: &Setting, table: &Table) -> Option<Matrix> {
        let metric = self.metric(setting, table)?;
        let n = self.rates.len();
        match self.by_momenta {
            true => inverse(&metric.with_zeros().values, n).map(|mass| Matrix::dense(mass, n)),
            false => Some(metric),
        }
    }

    /// The scales of the positions, with the geometry along them.
    pub(crate) fn position_scales(&self, along: &Along) -> Scales {
        let inertia = if self.by_momenta { Vec::new() } else { along.reach() };
        Scales { extents: along.extents(), inertia, ..Scales::default() }
    }

    /// The scales of the velocities, or of the momenta, with the geometry along the positions.
    pub(crate) fn rate_scales(&self, setting: &Setting, along: &Along, rates: &[f64]) -> Scales {
        let (positions, inertia) = (&along.extents(), along.reach());
        let duration = setting.duration();
        if !self.by_momenta {
            let extents = velocity_extents(positions, rates, duration);
            return Scales { extents, inertia, ..Scales::default() };
        }
        // At least p = q̇ / H_pp for the velocities of a position that moves slowly.
        let slow = velocity_extents(positions, &vec![0.0; rates.len()], duration);
        let momenta = slow.iter().zip(&inertia).map(|(v, h)| v / h);
        let momenta = momenta.map(|p| if p.is_finite() { p } else { 0.0 });
        let extents = momenta.zip(rates).map(|(a, b)| a.max(b.abs())).collect();
        Scales { extents, inertia, ..Scales::default() }
    }
}

/// The geometry of a system in the variables it is written in.
fn geometry(
    exprs: &Exprs,
    system: &System,
    velocity_residuals: &[(usize, ExprId)],
    rates: &[Symbol],
    metric: &Jacobian,
    of_bodies: bool,
) -> Geometry {
    let positions = system.constraints.iter().filter(|c| c.level == Level::Position);
    let phi: Vec<ExprId> = positions.map(|c| c.residual).collect();
    let psi: Vec<ExprId> = velocity_residuals.iter().map(|r| r.1).collect();
    let (q, jacobian) = (&system.positions(), &exprs.jacobian(&psi, rates));
    let geometry = Geometry::new(exprs, q, &phi, jacobian, &no_entries(metric, of_bodies));
    geometry.with_masses(metric)
}

fn inverse(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    use dalembert_gauss::linalg::lu;
    let mut factors = matrix.to_vec();
    let mut order = vec![0; n];
    if !lu::factor(&mut factors, n, &mut order) {
        return None;
    }
    let mut result = vec![0.0; n * n];
    let mut work = vec![0.0; n];
    for j in 0..n {
        let mut column = vec![0.0; n];
        column[j] = 1.0;
        lu::solve(&factors, n, &order, &mut column, &mut work);
        (0..n).for_each(|i| result[i * n + j] = column[i]);
    }
    Some(result)
}

impl Stage<'_> {
    /// The unknowns, how many of them are left free, and which are held by an
    /// equation `name = value`.
    fn solve(
        self,
        setting: &Setting,
        table: &Table,
    ) -> Result<(Vec<f64>, usize, Vec<bool>), StartError> {
        let exprs = &setting.model.exprs;
        let mut table = table.clone();
        // `name = value` holds to the letter: the unknown is one no longer.
        let place: FxHashMap<Symbol, usize> =
            self.unknowns.iter().enumerate().map(|(at, &s)| (s, at)).collect();
        let mut fixed: FxHashMap<usize, usize> = FxHashMap::default();
        let mut rest: Vec<usize> = Vec::new();
        let mut values = self.guess.clone();
        for (at, found) in assignments(setting, &self.given, &place, &table).into_iter().enumerate()
        {
            match found {
                Some((unknown, value)) if !fixed.contains_key(&unknown) => {
                    fixed.insert(unknown, at);
                    values[unknown] = value;
                }
                _ => rest.push(at),
            }
        }
        let free: Vec<usize> =
            (0..self.unknowns.len()).filter(|i| !fixed.contains_key(i)).collect();
        for &unknown in fixed.keys() {
            table.set(self.unknowns[unknown], values[unknown]);
        }
        let metric = |table: &Table| (self.metric)(table).map(|full| full.square(&free));
        let equations: Vec<ExprId> = rest
            .iter()
            .map(|&at| equation(exprs, self.given[at]))
            .chain(self.laws.iter().map(|l| l.1))
            .collect();
        let problem = |equations: Vec<ExprId>| NearestPoint {
            setting,
            table: table.clone(),
            unknowns: free.iter().map(|&i| self.unknowns[i]).collect(),
            guess: free.iter().map(|&i| self.guess[i]).collect(),
            equations,
            nearest: self.nearest,
            metric: &metric,
            scales: Scales {
                held: fixed.keys().map(|&i| (self.unknowns[i], self.scales.extents[i])).collect(),
                ..self.scales.of(&free)
            },
        };
        match problem(equations.clone()).solve() {
            Ok(found) => {
                free.iter().zip(&found.x).for_each(|(&i, &x)| values[i] = x);
                let held = (0..values.len()).map(|i| fixed.contains_key(&i)).collect();
                Ok((values, found.freedom, held))
            }
            Err(unmet) => {
                let user: Vec<ExprId> =
                    rest.iter().map(|&at| equation(exprs, self.given[at])).collect();
                let unmet = match problem(user).solve() {
                    // The user's equations agree among themselves: hold them, and
                    // see what that leaves of the constraints.
                    Ok(_) if !rest.is_empty() => {
                        problem(equations.clone()).hold(rest.len()).unwrap_or(unmet)
                    }
                    Ok(_) => unmet,
                    Err(mut alone) => {
                        alone.residuals.resize(equations.len(), 0.0);
                        alone.involved.resize(equations.len(), false);
                        alone
                    }
                };
                let names: FxHashMap<usize, usize> =
                    fixed.iter().map(|(&unknown, &at)| (unknown, at)).collect();
                Err(StartError::Clash(self.clash(setting, exprs, &unmet, &rest, &names)))
            }
        }
    }

    /// The message for equations that cannot be met.
    fn clash(
        &self,
        setting: &Setting,
        exprs: &Exprs,
        unmet: &Unmet,
        rest: &[usize],
        fixed: &FxHashMap<usize, usize>,
    ) -> Vec<Diagnostic> {
        let system = &setting.model.system;
        let mut given: Vec<(Span, String, f64)> = Vec::new();
        let mut laws: Vec<(usize, f64)> = Vec::new();
        let mut touched: Vec<ExprId> = Vec::new();
        for (at, &involved) in unmet.involved.iter().enumerate() {
            if !involved {
                continue;
            }
            let residual = unmet.residuals[at];
            match rest.get(at) {
                Some(&item) => {
                    let Item { span, text, .. } = self.given[item];
                    given.push((*span, text.clone(), residual));
                    touched.push(equation(exprs, self.given[item]));
                }
                None => {
                    let (row, equation) = self.laws[at - rest.len()];
                    laws.push((row, residual));
                    touched.push(equation);
                }
            }
        }
        // Assignments of what the clashing equations contain take part too.
        let symbols = exprs.symbols_of(&touched);
        let mut held: Vec<usize> = fixed
            .iter()
            .filter(|&(&unknown, _)| symbols.contains(&self.unknowns[unknown]))
            .map(|(_, &at)| at)
            .collect();
        held.sort_unstable();
        let worst =
            unmet.residuals.iter().fold(0f64, |m, r| if r.abs() > m.abs() { *r } else { m });
        let left = if unmet.residuals.iter().any(|r| r.is_nan()) {
            "they are not defined near the guess".to_owned()
        } else {
            format!("{} is left over", short(worst.abs()))
        };
        let by_user = !given.is_empty() || !held.is_empty();
        let (code, message) = if by_user {
            let what = self.what;
            (
                Code::ContradictoryStart,
                format!("the {what} at the start cannot satisfy all of this: {left}"),
            )
        } else if self.what == "positions" {
            (
                Code::ContradictoryConstraints,
                format!("no positions satisfy these constraints together: {left}"),
            )
        } else {
            let what = self.what;
            (
                Code::ContradictoryConstraints,
                format!("no {what} satisfy these constraints together at the start: {left}"),
            )
        };
        let mut labels: Vec<(Span, String)> = Vec::new();
        for (row, residual) in &laws {
            let constraint = &system.constraints[*row];
            let text = match residual {
                r if *r == 0.0 => format!("`{}`", constraint.name),
                r => format!("`{}`: {} left over", constraint.name, short(*r)),
            };
            labels.push((constraint.span, text));
        }
        for (span, _, residual) in &given {
            let text = match residual {
                r if *r == 0.0 => "this".to_owned(),
                r => format!("this: {} left over", short(*r)),
            };
            labels.push((*span, text));
        }
        for at in held {
            labels.push((self.given[at].span, "held".to_owned()));
        }
        let first = labels.first().map(|l| l.0).unwrap_or_default();
        let mut diagnostic = Diagnostic::fault(code, first, message);
        for (at, (span, text)) in labels.into_iter().enumerate() {
            diagnostic = if at == 0 { diagnostic.at(text) } else { diagnostic.with(span, text) };
        }
        let hint = if by_user {
            "leave an equation out, or make it a guess with `~`"
        } else {
            "if the guess is far off, give one nearby with `start … ~ …`"
        };
        vec![diagnostic.hint(hint)]
    }
}

/// left − right.
pub(super) fn equation(exprs: &Exprs, item: &Item) -> ExprId {
    (exprs.at(item.left) - exprs.at(item.right)).id
}

/// Of items that say `unknown = number`, which unknown and the number; `None` for the others. All
/// of them in one walk: what they share is looked at once.
fn assignments(
    setting: &Setting,
    items: &[&Item],
    place: &FxHashMap<Symbol, usize>,
    table: &Table,
) -> Vec<Option<(usize, f64)>> {
    let exprs = &setting.model.exprs;
    let rights: Vec<ExprId> = items.iter().map(|item| item.right).collect();
    let depends = exprs.depend_on(&rights, |symbol| place.contains_key(&symbol));
    let values = setting.numbers(&rights, table);
    let known = items.iter().zip(depends).zip(values);
    known
        .map(|((item, depends), value)| {
            let unknown = exprs.as_symbol(item.left).and_then(|symbol| place.get(&symbol));
            match unknown {
                // −0 would be printed.
                Some(&unknown) if !depends => value.is_finite().then_some((unknown, value + 0.0)),
                _ => assignment(setting, equation(exprs, item), place, table),
            }
        })
        .collect()
}

/// An equation `unknown − number`.
fn assignment(
    setting: &Setting,
    equation: ExprId,
    place: &FxHashMap<Symbol, usize>,
    table: &Table,
) -> Option<(usize, f64)> {
    let exprs = &setting.model.exprs;
    let mut found = exprs.symbols_of(&[equation]).into_iter().filter(|s| place.contains_key(s));
    let symbol = found.next()?;
    if found.next().is_some() || exprs.derivative(equation, symbol) != ExprId::ONE {
        return None;
    }
    let right = exprs.substitute(&[equation], &[(symbol, ExprId::ZERO)])[0];
    let value = -setting.number(right, table);
    // −0 would be printed.
    value.is_finite().then_some((place[&symbol], value + 0.0))
}

/// A number for a message.
fn short(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.3e}") }
}
