//! Gaps, slips and the motion without them, as numbers at a state.
//!
//! ```text
//! gap' = G q̇ + gap_t ,  gap'' = G q̈ − γ ;   v' = W q̈ − ω
//! ```
//!
//! with γ = −(all of gap'' but G q̈), evaluated from the expressions themselves, so that no choice of
//! rows, however many are dependent, stands between.

use crate::normal_form::{Numbers, multiplier_forces};
use crate::phases::apart::{self, Reach};
use crate::phases::settle::along;
use crate::setting::legendre::NewtonError;
use crate::setting::{Setting, State, Table};
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::formulations::lagrange;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_gauss::contact::{Space, SpaceError, Touches};
use dalembert_gauss::eliminations::Scratch;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::{DEFAULT, Tolerances};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, Model, OfTouch, System, Unknown};
use std::sync::Arc;

/// One row, a q̈ − bias, with the value that it is a rate of.
#[derive(Clone, Debug)]
struct RowOf {
    value: ExprId,
    entries: Vec<(usize, ExprId)>,
    bias: ExprId,
}

/// A contact as expressions.
#[derive(Clone, Debug)]
struct GapOf {
    gap: ExprId,
    rate: RowOf,
    restitution: ExprId,
    condition: Option<ConditionOf>,
}

/// The condition of a contact as expressions.
#[derive(Clone, Debug)]
struct ConditionOf {
    value: ExprId,
    /// d/dt of it; none where it holds velocities, whose rates are what is looked for.
    rate: Option<ExprId>,
}

/// A friction as expressions.
#[derive(Clone, Debug)]
struct SlipOf {
    rows: Vec<RowOf>,
    bound: ExprId,
    at_rest: Option<ExprId>,
    contact: Option<usize>,
}

/// Everything that touches or rubs, as expressions of a model.
#[derive(Clone)]
pub(crate) struct Facts {
    /// The model without contacts and frictions.
    bare: Setting,
    equations: EquationsOfMotion,
    /// ∂(F + C)/∂λ, a column for each multiplier that forces depend on.
    slopes: Jacobian,
    gaps: Vec<GapOf>,
    slips: Vec<SlipOf>,
    /// The normals of contacts.
    normals: Vec<Symbol>,
    roots: Vec<ExprId>,
    bounds: Vec<ExprId>,
    bounds_hold_unknowns: bool,
}

/// A row at a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// What it is a rate of: gap', or a slip velocity.
    pub value: f64,
    /// The size of the terms of that.
    pub size: f64,
    /// The row.
    pub entries: Vec<f64>,
    /// a = row q̈ − bias.
    pub bias: f64,
}

/// A contact at a state.
#[derive(Clone, Debug)]
pub(crate) struct GapAt {
    /// The gap.
    pub gap: f64,
    /// The size of what it is made of.
    pub size: f64,
    /// Its rate.
    pub row: Row,
    /// e.
    pub restitution: f64,
    /// `while`, if it has one.
    pub condition: Option<ConditionAt>,
}

/// The condition of a contact at a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionAt {
    /// Not negative where the contact is there.
    pub value: f64,
    /// What rounding does to it, with that of the state.
    pub noise: f64,
    /// Its rate, if it is known,
    pub rate: f64,
    /// and what rounding does to that.
    pub rate_noise: f64,
}

/// A friction at a state.
#[derive(Clone, Debug)]
pub(crate) struct SlipAt {
    /// Its components.
    pub rows: Vec<Row>,
    /// The contact whose it is.
    pub contact: Option<usize>,
    /// Where constraints hold some of its slips as well, those that they leave, along a basis.
    left: Option<(Vec<Row>, Reach)>,
}

impl SlipAt {
    /// The rows by which it is held.
    pub fn held(&self) -> &[Row] {
        self.left.as_ref().map_or(&self.rows, |left| &left.0)
    }

    /// The components of a force on these.
    pub fn force(&self, held: Vec<f64>) -> Vec<f64> {
        self.left.as_ref().map_or_else(|| held.clone(), |left| left.1.along(&held))
    }
}

/// All of it at a state.
pub(crate) struct FactsAt {
    /// Γ, F, A, b without contacts and frictions.
    pub numbers: Numbers,
    /// By contact.
    pub gaps: Vec<GapAt>,
    /// By friction.
    pub slips: Vec<SlipAt>,
    /// What multipliers act along, by rows of A, where that is not Aᵀ.
    directions: Option<Vec<f64>>,
    table: Table,
}

impl FactsAt {
    /// The space of some rows: what loads on them do.
    pub fn space(&self, touches: &Touches) -> Result<Space, SpaceError> {
        Space::directed(&self.numbers.terms(), touches, self.directions.as_deref(), DEFAULT)
    }
}

impl Facts {
    /// Of the model of a setting, in any phase or none.
    pub fn new(setting: &Setting, model: &Model) -> Result<Facts, Vec<Diagnostic>> {
        let (exprs, system) = (&model.exprs, &model.system);
        let mut bare = system.clone();
        bare.contacts.clear();
        bare.frictions.clear();
        bare.events.clear();
        bare.phase = None;
        let bare = setting.of_model(Model {
            exprs: exprs.share(),
            system: bare,
            sources: Arc::clone(&model.sources),
        });
        let system = &model.system;
        let picture = Picture::new(exprs, &bare.model.system)?;
        let equations = lagrange::equations(exprs, &picture);
        let along = Flow::new(exprs, system, &picture);
        let gaps: Vec<GapOf> = system
            .contacts
            .iter()
            .map(|contact| GapOf {
                gap: contact.gap(),
                rate: along.row(along.rate(contact.gap())),
                restitution: contact.restitution,
                condition: contact.condition.map(|value| along.condition(value)),
            })
            .collect();
        let slips: Vec<SlipOf> = system
            .frictions
            .iter()
            .map(|friction| SlipOf {
                rows: friction.slip.iter().map(|&v| along.row(along.in_velocities(v))).collect(),
                bound: friction.bound,
                at_rest: friction.static_bound,
                contact: friction.contact,
            })
            .collect();
        let mut roots = Vec::new();
        for gap in &gaps {
            roots.extend([gap.gap, gap.restitution]);
            gap.rate.list(&mut roots);
        }
        slips.iter().flat_map(|s| &s.rows).for_each(|row| row.list(&mut roots));
        let normals: Vec<Symbol> = system.contacts.iter().map(|c| c.normal).collect();
        let bounds: Vec<ExprId> =
            slips.iter().flat_map(|s| [s.bound, s.at_rest.unwrap_or(s.bound)]).collect();
        let own: Vec<ExprId> = slips
            .iter()
            .filter(|s| s.contact.is_none())
            .flat_map(|s| [s.bound, s.at_rest.unwrap_or(s.bound)])
            .collect();
        let held = exprs.symbols_of(&own);
        let bounds_hold_unknowns = system.unknowns.iter().any(|u| held.contains(&u.0));
        let multipliers: Vec<Symbol> = equations.multipliers.iter().map(|m| m.1).collect();
        let (force, nonideal) = (&equations.force, &equations.nonideal);
        let slopes = multiplier_forces::derivatives(exprs, force, nonideal, &multipliers);
        Ok(Facts {
            bare,
            equations,
            slopes,
            gaps,
            slips,
            normals,
            roots,
            bounds,
            bounds_hold_unknowns,
        })
    }

    /// The same with the parameters of another setting of the model.
    pub fn with(&self, setting: &Setting) -> Facts {
        Facts { bare: setting.of_model(self.bare.given().share()), ..self.clone() }
    }

    /// Other values of the parameters.
    pub fn set_values(&mut self, symbols: &[Symbol], values: &[f64]) {
        self.bare.set_values(symbols, values);
    }

    /// The model without contacts and frictions.
    pub fn bare(&self) -> &Setting {
        &self.bare
    }

    /// At a state.
    pub fn at(&self, state: &State) -> Result<FactsAt, NewtonError> {
        self.at_within(state, [0.0; 2])
    }

    /// At a state of a motion whose coordinates and velocities have been as large as `sizes`: where
    /// all of them pass 0, nothing else tells what rounding does to forces in balance there.
    pub fn at_within(&self, state: &State, sizes: [f64; 2]) -> Result<FactsAt, NewtonError> {
        let mut numbers = Numbers::new(&self.bare, &self.equations, state)?;
        let off = self.off(&numbers, state, sizes);
        self.blur(&mut numbers, state, &off);
        let table = state.table(&self.bare.model.system);
        let values = self.bare.numbers(&self.roots, &table);
        let n = self.bare.model.system.n_coordinates();
        let mut next = values.into_iter();
        let mut one = || next.next().unwrap_or(f64::NAN);
        let speeds = &state.velocity;
        let row = |of: &RowOf, one: &mut dyn FnMut() -> f64| {
            let (value, bias) = (one(), one());
            let mut entries = vec![0.0; n];
            of.entries.iter().for_each(|&(at, _)| entries[at] = one());
            let size = entries.iter().zip(speeds).map(|(a, v)| (a * v).abs()).sum::<f64>();
            Row { value, size: size + value.abs(), entries, bias }
        };
        let mut gaps = Vec::new();
        for of in &self.gaps {
            let (gap, restitution) = (one(), one());
            let condition = of.condition.as_ref().map(|of| self.condition(of, &table, &off));
            let row = row(&of.rate, &mut one);
            let terms = row.entries.iter().zip(&state.q).map(|(a, q)| (a * q).abs());
            let size = terms.sum::<f64>() + gap.abs();
            gaps.push(GapAt { gap, size, row, restitution, condition });
        }
        let mut slips = Vec::new();
        for of in &self.slips {
            let rows = of.rows.iter().map(|of| row(of, &mut one)).collect();
            slips.push(SlipAt { rows, contact: of.contact, left: None });
        }
        leave(&numbers, &mut slips);
        let directions = self.directions(&numbers, &table);
        Ok(FactsAt { numbers, gaps, slips, directions, table })
    }

    /// What is known of a state that is rounded itself.
    fn off(&self, numbers: &Numbers, state: &State, [far, fast]: [f64; 2]) -> Table {
        let (equations, n) = (&self.equations, numbers.size);
        let mut off = Table::default();
        for (i, (&symbol, q)) in equations.q.iter().zip(&state.q).enumerate() {
            let far = if i < n { far } else { 0.0 };
            off.set(symbol, f64::EPSILON * q.abs().max(far));
        }
        for (&symbol, v) in equations.v.iter().zip(&numbers.v) {
            off.set(symbol, f64::EPSILON * v.abs().max(fast));
        }
        off
    }

    /// A condition at a state: also the time is rounded.
    fn condition(&self, of: &ConditionOf, table: &Table, off: &Table) -> ConditionAt {
        let mut off = off.clone();
        let t = table.get(Symbol::TIME).unwrap_or(0.0);
        off.set(Symbol::TIME, f64::EPSILON * t.abs());
        let roots = [of.value, of.rate.unwrap_or(ExprId::ZERO)];
        let found = self.bare.evaluate_off(&roots, table, &off);
        let [value, rate] = [found[0], found[1]];
        let known = |noise: f64| if noise.is_finite() { noise } else { 0.0 };
        ConditionAt {
            value: value.value,
            noise: known(value.noise),
            rate: rate.value,
            rate_noise: known(rate.noise),
        }
    }

    /// Raises the noise of forces to what rounding does to them at a state that is rounded itself.
    fn blur(&self, numbers: &mut Numbers, state: &State, off: &Table) {
        let (equations, n) = (&self.equations, numbers.size);
        let mut table = state.table(&self.bare.model.system);
        table.set_all(&equations.v, &numbers.v);
        let roots: Vec<ExprId> =
            equations.force.iter().chain(&equations.nonideal).copied().collect();
        let values = self.bare.evaluate_off(&roots, &table, off);
        let (force, nonideal) = values.split_at(n);
        for ((noise, a), b) in numbers.force_noise.iter_mut().zip(force).zip(nonideal) {
            let sum = a.noise + b.noise;
            if sum.is_finite() {
                *noise = noise.max(sum);
            }
        }
    }

    /// Aᵀ + ∂(F + C)/∂λ at the solution without contacts, row by row of A.
    fn directions(&self, numbers: &Numbers, table: &Table) -> Option<Vec<f64>> {
        let multipliers = &self.equations.multipliers;
        if multipliers.is_empty() {
            return None;
        }
        let mut outcome = Outcome::default();
        let (scratch, tolerances) = (&mut Scratch::default(), Tolerances::default());
        DEFAULT.solve(scratch, &numbers.terms(), &tolerances, &mut outcome).ok()?;
        let mut table = table.clone();
        let rows = self.equations.multiplier_rows();
        for (&(_, symbol), row) in multipliers.iter().zip(&rows) {
            let lambda = row.and_then(|row| outcome.multipliers.get(row).copied());
            table.set(symbol, lambda.unwrap_or(0.0));
        }
        let n = numbers.size;
        let mut directions = numbers.jacobian.clone();
        let entries: Vec<(usize, usize, ExprId)> = (self.slopes.rows.iter().enumerate())
            .flat_map(|(i, row)| row.iter().map(move |&(c, slope)| (i, c, slope)))
            .collect();
        let slopes: Vec<ExprId> = entries.iter().map(|e| e.2).collect();
        for ((i, c, _), slope) in entries.iter().zip(self.bare.numbers(&slopes, &table)) {
            if let Some(row) = rows[*c] {
                directions[row * n + i] += slope;
            }
        }
        Some(directions)
    }

    /// F and F_s of each friction; μ and μ_s where it is a contact's. Where bounds hold unknowns, they
    /// are those of `loads`: by contact N, and the generalized force of all loads.
    pub fn bounds(&self, at: &FactsAt, loads: Option<(&[f64], &[f64])>) -> Vec<[f64; 2]> {
        let mut table = at.table.clone();
        self.normals.iter().for_each(|&n| table.set(n, 1.0));
        if self.bounds_hold_unknowns {
            self.unknowns(at, loads, &mut table);
        }
        let values = self.bare.numbers(&self.bounds, &table);
        let mut bounds: Vec<[f64; 2]> = values.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
        // A coefficient is the bound of a unit load.
        if self.bounds_hold_unknowns {
            self.normals.iter().for_each(|&n| table.set(n, 1.0));
            let values = self.bare.numbers(&self.bounds, &table);
            for (i, pair) in values.chunks(2).enumerate() {
                if self.slips[i].contact.is_some() {
                    bounds[i] = [pair[0], pair[1]];
                }
            }
        }
        bounds
    }

    /// Whether bounds of frictions depend on what is solved for.
    pub fn bounds_hold_unknowns(&self) -> bool {
        self.bounds_hold_unknowns
    }

    /// Sets multipliers and reactions that go with loads.
    fn unknowns(&self, at: &FactsAt, loads: Option<(&[f64], &[f64])>, table: &mut Table) {
        let numbers = &at.numbers;
        let (n, m) = (numbers.size, numbers.bias.len());
        let mut force = numbers.force.clone();
        if let Some((normals, more)) = loads {
            force.iter_mut().zip(more).for_each(|(f, more)| *f += more);
            self.normals.iter().zip(normals).for_each(|(&s, &n)| table.set(s, n));
        } else {
            self.normals.iter().for_each(|&s| table.set(s, 0.0));
        }
        let mut outcome = Outcome::default();
        let terms = dalembert_gauss::Terms { force: &force, ..numbers.terms() };
        let solved =
            DEFAULT.solve(&mut Scratch::default(), &terms, &Tolerances::default(), &mut outcome);
        let lambda = |row: usize| match solved {
            Ok(()) => outcome.multipliers.get(row).copied().unwrap_or(f64::NAN),
            Err(_) => f64::NAN,
        };
        for &(symbol, unknown) in &self.bare.model.system.unknowns {
            let share = |i: usize, row: usize| numbers.jacobian[row * n + i] * lambda(row);
            let value = match unknown {
                Unknown::Multiplier(row) if row < m => lambda(row),
                Unknown::Share(i, row) if row < m => share(i, row),
                Unknown::Reaction(i) => {
                    (0..m).map(|row| share(i, row)).sum::<f64>() + numbers.nonideal[i]
                }
                Unknown::Touch(OfTouch::Normal(_)) => continue,
                _ => 0.0,
            };
            table.set(symbol, value);
        }
    }
}

/// Finds what constraints leave of slips of several components.
fn leave(numbers: &Numbers, slips: &mut [SlipAt]) {
    let (n, m) = (numbers.size, numbers.bias.len());
    if m == 0 || slips.iter().all(|slip| slip.rows.len() < 2) {
        return;
    }
    let written = numbers.jacobian.chunks(n).map(<[f64]>::to_vec);
    let all = slips.iter().flat_map(|slip| &slip.rows).map(|row| row.entries.clone());
    let beside = apart::Beside::new(written.chain(all).collect(), m);
    let mut next = m;
    for slip in slips {
        let range = next..next + slip.rows.len();
        next = range.end;
        let reach = beside.reach(range);
        if reach.len() == 0 || reach.len() == slip.rows.len() {
            continue;
        }
        let rows = reach.basis.iter().map(|direction| along(&slip.rows, direction)).collect();
        slip.left = Some((rows, reach));
    }
}

impl RowOf {
    fn list(&self, roots: &mut Vec<ExprId>) {
        roots.extend([self.value, self.bias]);
        roots.extend(self.entries.iter().map(|e| e.1));
    }
}

/// Derivatives along the motion.
struct Flow<'a> {
    exprs: &'a Exprs,
    positions: Vec<Symbol>,
    velocities: Vec<Symbol>,
    /// q → q̇ and what changes by itself.
    rates: Vec<(Symbol, ExprId)>,
    /// In a model given by H: p by q̇.
    momenta: Vec<(Symbol, ExprId)>,
}

impl<'a> Flow<'a> {
    fn new(exprs: &'a Exprs, system: &System, picture: &Picture) -> Flow<'a> {
        let (positions, velocities) = (system.positions(), system.velocities());
        let mut rates = system.rates(exprs);
        let moving = positions.iter().zip(&velocities);
        rates.extend(moving.map(|(&q, &v)| (q, exprs.of_symbol(v))));
        let momenta = match system.energy {
            Energy::Hamiltonian { .. } => {
                system.momenta().into_iter().zip(picture.momenta.iter().copied()).collect()
            }
            Energy::Lagrangian { .. } => Vec::new(),
        };
        Flow { exprs, positions, velocities, rates, momenta }
    }

    /// d/dt of a function of positions, states and time.
    fn rate(&self, id: ExprId) -> ExprId {
        self.exprs.directional(&[id], &self.rates)[0]
    }

    /// In q̇ in place of p.
    fn in_velocities(&self, id: ExprId) -> ExprId {
        match self.momenta.is_empty() {
            true => id,
            false => self.exprs.substitute(&[id], &self.momenta)[0],
        }
    }

    /// A condition with its rate.
    fn condition(&self, value: ExprId) -> ConditionOf {
        let held = self.exprs.symbols_of(&[value]);
        let momenta = self.momenta.iter().map(|m| &m.0);
        let mut moving = self.velocities.iter().chain(momenta);
        let rate = (!moving.any(|symbol| held.contains(symbol))).then(|| self.rate(value));
        ConditionOf { value, rate }
    }

    /// The rate of a function of velocities as a row.
    fn row(&self, value: ExprId) -> RowOf {
        let exprs = self.exprs;
        let jacobian = exprs.jacobian(&[value], &self.velocities);
        let entries = jacobian.rows.into_iter().next().unwrap_or_default();
        let rest = exprs.directional(&[value], &self.rates)[0];
        debug_assert!(self.positions.len() == self.velocities.len());
        RowOf { value, entries, bias: (-exprs.at(rest)).id }
    }
}
