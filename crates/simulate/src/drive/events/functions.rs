//! The functions of events, and on which side of zero each of them is.
//!
//! A function of positions, velocities, momenta and time is compiled in the variables of
//! the field, with its gradient. One that speaks of accelerations, multipliers or
//! reactions is read off an observation, which costs a solution each time; where it speaks of
//! multipliers alone and they are those that the rates are found with, off the rates
//! ([`Loads`]).
//!
//! An event is *armed* on the side of zero it was last seen on. At zero it is not: where it
//! has just happened it is armed again as soon as it has left zero by more than the rounding
//! errors of its value there. One that is zero at the start, or after the reset of another,
//! gets its side by the direction of the motion, which `at_zero` finds.

use crate::drive::events::loads::Loads;
use crate::drive::isolate::{self, Functions, Isolated};
use crate::drive::tolerances::events::{BEYOND, JUMP, LEFT, OBSERVED, SLOPE, START};
use crate::integrators::Polynomial;
use crate::phases::Slow;
use crate::program::compiled::Compiled;
use crate::program::field::{Field, FieldError};
use crate::program::observer::{Observation, Observer};
use crate::setting::{Setting, Table};
use dalembert_compile::Tape;
use dalembert_compile::enclosure::Enclosure;
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg;
use dalembert_model::system::Unknown;
use dalembert_model::tree::Direction;

/// On which side of zero an event function is, and how it came there.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::drive) struct EventSide {
    /// +1 or −1; 0 at zero.
    pub side: i8,
    /// At zero: values above this have left it.
    pub threshold: f64,
    /// The side it was on before it reset itself; 0 if it did not.
    pub came: i8,
    /// Whether the motion goes on through zero after the reset.
    pub passes: bool,
    /// Whether it has just happened.
    pub happened: bool,
    /// Whether it has no value.
    pub lost: bool,
    /// Whether it has just happened by a jump, so that its value is none of zero.
    pub jumped: bool,
    /// At zero, where the motion did not tell to which side it leaves.
    pub open: bool,
}

/// Where the events of a motion stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventState {
    pub(in crate::drive) sides: Vec<EventSide>,
    pub(in crate::drive) usual: Vec<f64>,
    /// Which way the run goes, and the lengths of a first step and of the run.
    pub(in crate::drive) way: (bool, f64, f64),
}

impl EventState {
    /// All armed, on these sides.
    pub(in crate::drive) fn armed(sides: &[i8]) -> EventState {
        let armed = |&side: &i8| EventSide { side, ..EventSide::default() };
        let (sides, usual) = (sides.iter().map(armed).collect(), vec![0.0; sides.len()]);
        EventState { sides, usual, way: (false, 0.0, f64::INFINITY) }
    }

    /// The sides.
    pub(in crate::drive) fn sides(&self) -> impl ExactSizeIterator<Item = i8> + '_ {
        self.sides.iter().map(|side| side.side)
    }
}

/// How slow is at rest is told anew where a motion has become faster by this factor.
const FASTER: f64 = 2.0;
/// Below this part of the velocities that a slip may be made of its direction is that of a corner.
const CORNER: f64 = 1e-3;
/// What slips is clear of being at rest above this factor, of squares.
const CLEAR: f64 = 16.0;

/// How a function is evaluated.
#[derive(Clone)]
enum Kind {
    /// By the tape: its place among the outputs, and itself in the own variables.
    Plain(usize, ExprId),
    /// By an observation.
    Observed(ExprId),
}

/// The functions of events, compiled, and their sides.
#[derive(Clone)]
pub struct EventFunctions {
    setting: Setting,
    kinds: Vec<Kind>,
    directions: Vec<Direction>,
    /// The plain functions, their boundaries, and their angles.
    values: Compiled,
    plain: usize,
    /// The same on intervals, where they are functions of (t, q, v).
    enclosure: Option<Enclosure>,
    /// The functions and their boundaries in (t, q, v), where all of them are such.
    watched: Option<Vec<ExprId>>,
    /// How many boundaries there are.
    boundaries: usize,
    /// Functions that may jump.
    may_jump: Vec<bool>,
    /// The usual size of each function in the last step.
    pub(in crate::drive) usual: Vec<f64>,
    /// For each function its angles, by their place among the boundaries and angles.
    angles: Vec<Vec<usize>>,
    /// The gradients of the plain functions, and for each of them (variable, output).
    gradients: Compiled,
    entries: Vec<Vec<(usize, usize)>>,
    input: Vec<f64>,
    variables: Vec<Symbol>,
    observer: Option<Observer>,
    /// The observed functions by the rates, where these tell them.
    loads: Option<Loads>,
    /// The last observation.
    seen: Option<Observation>,
    pub(in crate::drive) sides: Vec<EventSide>,
    /// The sides at the end of the step that is tried.
    pub(in crate::drive) pending: Vec<i8>,
    /// Whether each has no value at the end of the step that is tried.
    pub(in crate::drive) lost: Vec<bool>,
    /// The sides that events at zero come from; 0 if that is not known.
    pub(in crate::drive) sides_before: Vec<i8>,
    /// From this one on they are guards: whoever set them has decided on which side of zero they are.
    guards: usize,
    /// The guards that do not leave zero but by rounding.
    vague: Vec<usize>,
    /// The largest coordinate there was before.
    far: f64,
    /// Symbols that stand for multipliers of least norm where these are not unique, with their rows.
    least: Vec<(Symbol, usize)>,
    /// Guards of slips of several components, and the directions that these had.
    slow: Vec<Limit>,
    from: Vec<(Symbol, f64)>,
}

/// |v|² − L ≥ 0: what is slower has stopped.
#[derive(Clone, Copy, Debug)]
struct Limit {
    event: usize,
    /// L.
    symbol: Symbol,
    slow: Slow,
    /// The largest velocity that it was taken for.
    fast: f64,
}

impl EventFunctions {
    /// Takes other values of the parameters.
    pub(crate) fn set_parameters(&mut self, setting: &Setting) {
        let constants = setting.constants().1;
        self.values.prepare(&constants);
        self.enclosure.iter_mut().for_each(|enclosure| enclosure.prepare(&constants));
        self.gradients.prepare(&constants);
        self.observer.iter_mut().for_each(|observer| observer.set_parameters(setting));
        self.loads.iter_mut().for_each(|loads| loads.prepare(&constants));
        self.setting = setting.clone();
    }

    /// The events of a model in the variables of a formulation; `None` if there are none.
    pub fn new(
        setting: &Setting,
        picture: &Picture,
        equations: &EquationsOfMotion,
    ) -> Option<EventFunctions> {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        if system.events.is_empty() {
            return None;
        }
        let own = equations.on_constraints(exprs);
        let by_velocities: Vec<(Symbol, ExprId)> =
            picture.velocities.iter().copied().zip(own.kinematics.iter().copied()).collect();
        let momenta = exprs.substitute(&picture.momenta, &by_velocities);
        let mut map = by_velocities;
        // Momenta that the field moves itself are known as they are.
        let foreign = system.momenta().into_iter().zip(momenta).filter(|(p, _)| !own.v.contains(p));
        map.extend(foreign);
        let mut known = vec![Symbol::TIME];
        known.extend(system.parameters.iter().map(|p| p.symbol));
        known.extend(system.configuration());
        known.extend(system.velocities());
        known.extend(system.momenta());
        let mut variables = vec![Symbol::TIME];
        variables.extend(&own.q);
        variables.extend(&own.v);
        let moving = variables.len();
        variables.extend(own.auxiliary.iter().flat_map(|a| a.symbols.iter().copied()));
        let mut roots = Vec::new();
        let mut kinds = Vec::new();
        for event in &system.events {
            let is_plain = exprs.symbols_of(&[event.function]).iter().all(|s| known.contains(s));
            kinds.push(if is_plain {
                let root = exprs.substitute(&[event.function], &map)[0];
                roots.push(root);
                Kind::Plain(roots.len() - 1, root)
            } else {
                Kind::Observed(event.function)
            });
        }
        let gradients = exprs.jacobian(&roots, &variables[..moving]);
        let mut entries: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut slopes = Vec::new();
        for row in &gradients.rows {
            entries.push(row.iter().enumerate().map(|(i, e)| (e.0, slopes.len() + i)).collect());
            slopes.extend(row.iter().map(|e| e.1));
        }
        let is_observed = roots.len() < kinds.len();
        let mut beside: Vec<ExprId> = roots.iter().flat_map(|&r| exprs.boundaries(r)).collect();
        beside.sort_unstable();
        beside.dedup();
        let boundaries = beside.len();
        let angles = kinds.iter().map(|kind| {
            let Kind::Plain(_, root) = kind else { return Vec::new() };
            let own = exprs.angles(*root);
            let first = beside.len();
            beside.extend(&own);
            (first..beside.len()).collect()
        });
        let angles: Vec<Vec<usize>> = angles.collect();
        let may_jump = kinds.iter().map(|kind| match kind {
            Kind::Plain(_, root) => {
                !exprs.freeze_switches(&[*root]).1.is_empty() || !exprs.boundaries(*root).is_empty()
            }
            Kind::Observed(_) => true,
        });
        let may_jump: Vec<bool> = may_jump.collect();
        let plain = roots.len();
        roots.extend(beside);
        let is_watched = !is_observed && variables.len() == moving;
        let watched = is_watched.then(|| roots[..plain + boundaries].to_vec());
        let (symbols, constants) = setting.constants();
        let tape = Tape::lower(exprs, &roots, &symbols, &variables);
        let mut enclosure = Enclosure::new(tape).filter(|_| variables.len() == moving);
        enclosure.iter_mut().for_each(|enclosure| enclosure.prepare(&constants));
        let observer = is_observed.then(|| Observer::new(setting, picture, equations));
        let functions = kinds.iter().map(|kind| match kind {
            Kind::Observed(function) => Some(*function),
            Kind::Plain(..) => None,
        });
        let functions: Vec<Option<ExprId>> = functions.collect();
        let loads = (is_observed && variables.len() == moving)
            .then(|| Loads::new(setting, equations, &functions, &map, (&variables, &known)))
            .flatten();
        Some(EventFunctions {
            setting: setting.clone(),
            directions: system.events.iter().map(|e| e.direction).collect(),
            guards: kinds.len(),
            vague: Vec::new(),
            far: 0.0,
            least: Vec::new(),
            slow: Vec::new(),
            from: Vec::new(),
            sides: vec![EventSide::default(); kinds.len()],
            pending: vec![0; kinds.len()],
            lost: vec![false; kinds.len()],
            sides_before: vec![0; kinds.len()],
            kinds,
            values: Compiled::new(setting, &roots, &variables),
            plain,
            enclosure,
            watched,
            boundaries,
            may_jump,
            usual: vec![0.0; angles.len()],
            angles,
            gradients: Compiled::new(setting, &slopes, &variables),
            entries,
            input: vec![0.0; variables.len()],
            variables,
            observer,
            loads,
            seen: None,
        })
    }

    /// All functions, then their boundaries, as functions of (t, q, v); `None` where some are more
    /// than that.
    pub(in crate::drive) fn watched(&self) -> Option<&[ExprId]> {
        self.watched.as_deref()
    }

    /// Makes guards of all from this one on: they begin on the side that they fall or rise from, also
    /// where their values are 0 to rounding, or beyond.
    pub(crate) fn guard_from(&mut self, first: usize) {
        self.guards = first;
    }

    /// Tells which guards do not leave zero but by rounding, and the largest coordinate there was,
    /// whose rounding that is.
    pub(crate) fn set_vague(&mut self, vague: Vec<usize>, far: f64) {
        (self.vague, self.far) = (vague, far);
    }

    /// Tells which symbols stand for multipliers of least norm.
    pub(crate) fn set_least(&mut self, least: Vec<(Symbol, usize)>) {
        self.least = least;
    }

    /// Tells how slow is at rest: events, the parameters that stand for it, and the largest velocity so
    /// far; and the directions of slips.
    pub(crate) fn set_slow(
        &mut self,
        list: &[(usize, Symbol, Slow)],
        from: Vec<(Symbol, f64)>,
        fast: f64,
    ) {
        let limit = |&(event, symbol, slow)| Limit { event, symbol, slow, fast };
        self.slow = list.iter().map(limit).collect();
        self.from = from;
        self.set_limits();
    }

    /// The same of a motion that has become faster: how fast it is going to be is not known where it
    /// begins, and at rest is what is slow beside that. What slips more slowly than that already is left
    /// to go on.
    pub(in crate::drive) fn widen(&mut self, field: &mut Field, t: f64, x: &[f64], rates: &[f64]) {
        let fast = rates.iter().fold(0f64, |m, v| m.max(v.abs()));
        let mut is_new = false;
        for at in 0..self.slow.len() {
            let Limit { event, slow, fast: known, .. } = self.slow[at];
            let (clear, fast) = (slow.clear(), fast.max(known));
            let (now, next) = (slow.limit(known), clear.limit(fast));
            if next > FASTER * now
                && self.value(field, event, t, x) + now.powi(2) > CLEAR * next.powi(2)
            {
                (self.slow[at].slow, self.slow[at].fast) = (clear, fast);
                is_new = true;
            }
        }
        if is_new {
            self.set_limits();
        }
    }

    /// Slower than this a slip with a guard is at rest.
    pub(in crate::drive) fn limit(&self, event: usize) -> Option<f64> {
        let own = self.slow.iter().find(|limit| limit.event == event)?;
        Some(own.slow.limit(own.fast))
    }

    /// Whether a slip of several components has hardly a direction: a part of a velocity that is next to
    /// nothing beside others turns it.
    pub(in crate::drive) fn is_at_corner(&mut self, field: &mut Field, t: f64, x: &[f64]) -> bool {
        (0..self.slow.len()).any(|at| {
            let Limit { event, slow, fast, .. } = self.slow[at];
            let square = self.value(field, event, t, x) + slow.limit(fast).powi(2);
            square < (CORNER * slow.whole(fast)).powi(2)
        })
    }

    fn set_limits(&mut self) {
        let value = |limit: &Limit| (limit.symbol, limit.slow.limit(limit.fast).powi(2));
        let all = self.slow.iter().map(value).chain(self.from.iter().copied());
        let (symbols, values): (Vec<Symbol>, Vec<f64>) = all.unzip();
        let mut setting = self.setting.clone();
        setting.set_values(&symbols, &values);
        self.set_parameters(&setting);
    }

    /// What an observation tells.
    fn told(&self, seen: &Observation) -> Table {
        let mut table = seen.table(&self.setting.model.system);
        for &(symbol, row) in &self.least {
            table.set(symbol, seen.multipliers.get(row).copied().unwrap_or(f64::NAN));
        }
        table
    }

    /// Whether it is a guard.
    pub(in crate::drive) fn is_guard(&self, event: usize) -> bool {
        event >= self.guards
    }

    /// The side that a crossing which counts comes from; 0 if both count.
    fn origin(&self, event: usize) -> i8 {
        match self.directions[event] {
            Direction::Both => 0,
            Direction::Rising => -1,
            Direction::Falling => 1,
        }
    }

    /// How many events there are.
    pub(in crate::drive) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// Whether every event is armed, with a value at the end of the last step.
    pub(in crate::drive) fn are_armed(&self) -> bool {
        self.sides.iter().all(|side| side.side != 0 && !side.lost && !side.open)
    }

    /// Whether a function needs an observation, which is dear.
    pub(in crate::drive) fn is_observed(&self, event: usize) -> bool {
        matches!(self.kinds[event], Kind::Observed(_))
    }

    /// Whether a crossing from a side counts.
    pub(in crate::drive) fn counts(&self, event: usize, from: i8) -> bool {
        match self.directions[event] {
            Direction::Both => true,
            Direction::Rising => from < 0,
            Direction::Falling => from > 0,
        }
    }

    /// Takes over where the events of another formulation or chart stand.
    pub(crate) fn inherit(&mut self, other: &EventFunctions) {
        self.sides.clone_from(&other.sides);
        self.usual.clone_from(&other.usual);
        self.guards = other.guards;
        self.least.clone_from(&other.least);
        self.slow.clone_from(&other.slow);
        self.from.clone_from(&other.from);
        if !self.slow.is_empty() {
            self.set_limits();
        }
    }

    /// Takes over the sides of some of them from where they stood in another phase.
    pub(crate) fn inherit_at(&mut self, other: &EventFunctions, which: &[usize]) {
        for &at in which.iter().filter(|&&at| at < other.sides.len().min(self.guards)) {
            self.usual[at] = other.usual[at];
            self.sides[at] = other.sides[at];
        }
    }

    /// The direction in which a crossing counts.
    pub(in crate::drive) fn direction(&self, event: usize) -> Direction {
        self.directions[event]
    }

    fn load(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Result<(), FieldError> {
        let moving = field.n + field.size;
        self.input[0] = t;
        self.input[1..=moving].copy_from_slice(&x[..moving]);
        if field.equations.auxiliary.is_some() {
            field.residuals(t, x)?;
            self.input[1 + moving..].copy_from_slice(field.auxiliary());
        }
        self.values.call(&self.input);
        Ok(())
    }

    /// The values of all functions; NaN where one has none. Without an observation where none is needed.
    fn values_alone(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Vec<f64> {
        let Some(mut loads) = self.loads.take() else { return self.values(field, t, x) };
        let found = self.load(field, t, x).is_ok() && loads.find(field, t, x, &self.input);
        let value = |(event, kind): (usize, &Kind)| match kind {
            Kind::Plain(at, _) => self.values.output[*at],
            Kind::Observed(_) => loads.value(event),
        };
        let values = found.then(|| self.kinds.iter().enumerate().map(value).collect());
        self.loads = Some(loads);
        values.unwrap_or_else(|| self.values(field, t, x))
    }

    /// The values of all functions; NaN where one has none. What is observed stays.
    pub(in crate::drive) fn values(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Vec<f64> {
        let loaded = self.load(field, t, x);
        self.seen = self.observer.as_mut().and_then(|o| o.observe(field, t, x).ok());
        let table = self.seen.as_ref().map(|seen| self.told(seen));
        let value = |kind: &Kind| match (kind, &table) {
            (Kind::Plain(at, _), _) if loaded.is_ok() => self.values.output[*at],
            (Kind::Observed(function), Some(table)) => self.setting.number(*function, table),
            _ => f64::NAN,
        };
        self.kinds.iter().map(value).collect()
    }

    /// The values of all functions, then of their boundaries and of their angles.
    pub(in crate::drive) fn all(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Vec<f64> {
        let mut values = self.values_alone(field, t, x);
        values.extend_from_slice(&self.values.output[self.plain..]);
        values
    }

    /// Where functions and boundaries can be zero in a part of a step, as far as its polynomials
    /// tell.
    pub(in crate::drive) fn isolate(
        &mut self,
        (t, field): (f64, &Field),
        step: Option<Polynomial<'_>>,
        until: f64,
    ) -> Isolated {
        let Some((enclosure, step)) = self.enclosure.as_mut().zip(step) else {
            return Isolated::default();
        };
        let variables = isolate::variables(t, &step, field.n + field.size, enclosure);
        let plain = self.kinds.iter().map(|kind| match kind {
            Kind::Plain(at, _) => Some(*at),
            Kind::Observed(_) => None,
        });
        let boundaries = (0..self.boundaries).map(|at| Some(self.plain + at));
        let outputs: Vec<Option<usize>> = plain.chain(boundaries).collect();
        Functions { enclosure, outputs: &outputs, variables: &variables }.isolate(until)
    }

    /// How many boundaries the functions have.
    pub(in crate::drive) fn boundaries(&self) -> usize {
        self.boundaries
    }

    /// Whether an angle in a function has passed its cut between two of [`all`](EventFunctions::all).
    pub(in crate::drive) fn is_cut(&self, event: usize, before: &[f64], after: &[f64]) -> bool {
        let first = self.kinds.len();
        let jump = |&at: &usize| (after[first + at] - before[first + at]).abs();
        self.angles[event].iter().any(|at| jump(at) > std::f64::consts::PI)
    }

    /// The value of one function.
    pub(in crate::drive) fn value(
        &mut self,
        field: &mut Field,
        event: usize,
        t: f64,
        x: &[f64],
    ) -> f64 {
        let Kind::Plain(at, _) = self.kinds[event] else {
            return self.values_alone(field, t, x)[event];
        };
        match self.load(field, t, x) {
            Ok(()) => self.values.output[at],
            Err(_) => f64::NAN,
        }
    }

    /// The slope of a function along the rates, and the size of its terms, where the
    /// gradients were evaluated last. `None` if no formula gives it.
    pub(in crate::drive) fn slope(&self, event: usize, rates: &[f64]) -> Option<(f64, f64)> {
        let Kind::Plain(at, _) = self.kinds[event] else { return None };
        // The rates of what stands behind the own variables are not known.
        if self.input.len() != rates.len() + 1 {
            return None;
        }
        let rate = |place: usize| if place == 0 { 1.0 } else { rates[place - 1] };
        let terms =
            || self.entries[at].iter().map(|&(i, out)| self.gradients.output[out] * rate(i));
        Some((terms().sum(), terms().map(f64::abs).sum()))
    }

    /// Bounds on the rounding errors of the values at the state that was evaluated last.
    fn noise(&self, field: &mut Field, values: &[f64]) -> Vec<f64> {
        let mut table = Table::default();
        table.set_all(&self.variables, &self.input);
        let roots: Vec<ExprId> = self
            .kinds
            .iter()
            .map(|kind| match kind {
                Kind::Plain(_, root) => *root,
                Kind::Observed(_) => ExprId::ZERO,
            })
            .collect();
        let noisy = self.setting.evaluate(&roots, &table);
        let all = noisy.iter().zip(&self.kinds).zip(values);
        all.map(|((noisy, kind), value)| match kind {
            Kind::Plain(..) if noisy.noise.is_finite() => noisy.noise,
            Kind::Plain(..) => 0.0,
            Kind::Observed(function) => {
                OBSERVED * value.abs().max(self.observed_terms(field, *function))
            }
        })
        .collect()
    }

    /// How large the terms of the functions are where they were evaluated last, if every
    /// variable counts with the size of the largest of its kind, coordinates with the largest
    /// there was: where all of them pass 0, nothing else tells what is rounding.
    fn terms(&mut self, (coordinates, n): (usize, usize)) -> Vec<f64> {
        self.gradients.call(&self.input);
        let (q, v) = self.input[1..].split_at(n);
        let (q, v) = (linalg::largest(&q[..coordinates]).max(self.far), linalg::largest(v));
        let size = |place: usize| match place {
            place if place > n => v,
            place if (1..=coordinates).contains(&place) => q,
            // Time, and states, which are no lengths of the motion.
            place => self.input[place],
        };
        let term = |&(i, out): &(usize, usize)| (self.gradients.output[out] * size(i)).abs();
        let kinds = self.kinds.iter();
        kinds
            .map(|kind| match kind {
                Kind::Plain(at, _) => self.entries[*at].iter().map(term).sum(),
                // Their errors are above rounding, and in `noise`.
                Kind::Observed(_) => 0.0,
            })
            .collect()
    }

    /// How large the terms of a function are that is read off the last observation, if
    /// accelerations, multipliers and reactions count with what forces as large as those at
    /// hand would give: they are differences of these.
    fn observed_terms(&self, field: &mut Field, function: ExprId) -> f64 {
        let (exprs, system) = (&self.setting.model.exprs, &self.setting.model.system);
        let Some(seen) = &self.seen else { return 0.0 };
        let mut x = self.input[1..=field.n + field.size].to_vec();
        x.push(0.0);
        let has_mass = field.residuals(self.input[0], &x).is_ok();
        let force = |i: usize| seen.force_on(i);
        let rate = |i: usize| {
            let mass = field.mass_of(i).filter(|m| has_mass && *m > 0.0);
            let by_force = mass.map_or(0.0, |m| force(i) / m);
            seen.accelerations[i].abs().max(by_force)
        };
        let multiplier =
            |row: usize| seen.multipliers[row].abs().max(seen.multiplier_by_forces(row));
        let table = self.told(seen);
        let (accelerations, momentum_rates) = (system.accelerations(), system.momentum_rates());
        let place = |list: &[Symbol], symbol: Symbol| list.iter().position(|s| *s == symbol);
        let size = |symbol: Symbol| -> f64 {
            if let Some(i) = place(&accelerations, symbol) {
                return rate(i);
            }
            if let Some(i) = place(&momentum_rates, symbol) {
                return force(i);
            }
            match system.unknowns.iter().find(|u| u.0 == symbol).map(|u| u.1) {
                Some(Unknown::Multiplier(row)) => multiplier(row),
                Some(Unknown::Share(i, row)) => seen.jacobian.entry(row, i).abs() * multiplier(row),
                Some(Unknown::Reaction(i)) => force(i),
                Some(Unknown::Touch(_)) | None => table.get(symbol).unwrap_or(0.0).abs(),
            }
        };
        let symbols = exprs.symbols_of(&[function]);
        let gradient = exprs.jacobian(&[function], &symbols);
        let (places, slopes): (Vec<usize>, Vec<ExprId>) = gradient.rows[0].iter().copied().unzip();
        let slopes = self.setting.numbers(&slopes, &table);
        let terms = places.iter().zip(slopes).map(|(at, slope)| (slope * size(symbols[*at])).abs());
        terms.filter(|term| term.is_finite()).sum()
    }

    /// Values below these are zero, at the state that was evaluated last.
    fn thresholds(&mut self, field: &mut Field, values: &[f64]) -> Vec<f64> {
        let noise = self.noise(field, values);
        let terms = self.terms((field.equations.n_coordinates(), field.n));
        thresholds_of(&noise, &terms)
    }

    /// The value of a function below which it is zero at a state.
    pub(in crate::drive) fn threshold(
        &mut self,
        field: &mut Field,
        event: usize,
        t: f64,
        x: &[f64],
    ) -> f64 {
        let values = self.values(field, t, x);
        let threshold = self.thresholds(field, &values)[event];
        if threshold.is_finite() { threshold } else { 0.0 }
    }

    /// Finds the sides of the events at the start of a run; returns those that are at zero.
    pub(in crate::drive) fn begin(&mut self, field: &mut Field, t: f64, x: &[f64]) -> Vec<usize> {
        let values = self.values(field, t, x);
        let noise = self.noise(field, &values);
        let terms = self.terms((field.equations.n_coordinates(), field.n));
        let thresholds = thresholds_of(&noise, &terms);
        self.sides_before.fill(0);
        self.usual.fill(0.0);
        for (at, value) in values.iter().enumerate() {
            let is_guard = self.is_guard(at);
            // Hops are met as soon as they can be told from rounding.
            let is_sharp = is_guard && !self.vague.contains(&at);
            let threshold = if is_sharp { LEFT * noise[at] } else { thresholds[at] };
            let origin = self.origin(at);
            // A guard that is 0, or beyond by what states are known to, comes from its side.
            let beyond = if self.is_observed(at) { f64::INFINITY } else { BEYOND * terms[at] };
            let is_beyond = sign(*value) == -origin && value.abs() <= beyond;
            if is_guard && origin != 0 && (is_beyond || value.abs() <= threshold) {
                // What is beyond, and goes on there, was decided on: it is met again where there is
                // twice as much.
                let threshold =
                    if threshold.is_finite() { threshold } else { 0.0 } + 2.0 * value.abs();
                self.sides[at] = EventSide { came: origin, threshold, ..EventSide::default() };
                continue;
            }
            let is_zero = !(value.abs() > threshold);
            self.sides[at] = EventSide {
                side: if is_zero { 0 } else { sign(*value) },
                threshold: if threshold.is_finite() { threshold } else { 0.0 },
                ..EventSide::default()
            };
        }
        let is_open = |at: &usize| self.sides[*at].side == 0 && values[*at].is_finite();
        (0..values.len().min(self.guards)).filter(is_open).collect()
    }

    /// Finds the sides again where some of them have happened: these are at zero. If the
    /// state has changed, `before` is what it was, and the others are where they now are: a
    /// jump across zero is no crossing. `rates` are those of the new state. Returns those of
    /// the others that are at zero now.
    pub(in crate::drive) fn after_events(
        &mut self,
        field: &mut Field,
        (t, x): (f64, &[f64]),
        rates: &[f64],
        happened: &[usize],
        before: Option<&[f64]>,
    ) -> Vec<usize> {
        let mut at_zero = Vec::new();
        let old = self.sides.clone();
        let values_before = before.map(|before| self.values(field, t, before));
        let values = self.values(field, t, x);
        let noise = self.noise(field, &values);
        let thresholds = self.thresholds(field, &values);
        for (at, &value) in values.iter().enumerate().take(self.guards) {
            let size = if value.is_finite() { value.abs() } else { 0.0 };
            let is_away = |left: f64| size > LEFT * noise[at].max(left);
            let away = EventSide { side: sign(value), ..EventSide::default() };
            let near = EventSide { threshold: LEFT * noise[at].max(size), ..EventSide::default() };
            if !happened.contains(&at) {
                let Some(first) = values_before.as_ref().map(|list| list[at]) else { continue };
                // It may have passed zero at the same instant, before the reset.
                let stays = (value - first).abs() <= noise[at];
                let passed = stays && old[at].side != 0 && sign(value) == -old[at].side;
                let is_zero = value.is_finite() && (size <= thresholds[at] || passed);
                self.sides[at] = if is_zero || !is_away(0.0) {
                    EventSide { came: old[at].came, passes: old[at].passes, ..near }
                } else {
                    away
                };
                if is_zero && !old[at].passes {
                    self.sides_before[at] =
                        if old[at].side != 0 { old[at].side } else { old[at].came };
                    at_zero.push(at);
                }
                continue;
            }
            // A reset of positions may have taken it off zero.
            if values_before.as_ref().is_some_and(|list| is_away(list[at].abs())) {
                self.sides[at] = away;
                continue;
            }
            if self.may_jump[at] && value.is_finite() && size > JUMP * self.usual[at] {
                self.sides[at] = EventSide { jumped: true, happened: true, ..EventSide::default() };
                continue;
            }
            let from = old[at].side;
            let passes = self
                .slope(at, rates)
                .is_none_or(|(slope, whole)| slope.abs() > SLOPE * whole && sign(slope) == -from);
            let came = if before.is_some() { from } else { 0 };
            self.sides[at] = EventSide { came, passes, happened: true, ..near };
        }
        at_zero
    }

    /// The slope of a function along the rates at a state, rounding taken as none; `None` if
    /// no formula gives it.
    pub(in crate::drive) fn slope_at(
        &mut self,
        field: &mut Field,
        event: usize,
        (t, x): (f64, &[f64]),
        rates: &[f64],
    ) -> Option<f64> {
        self.load(field, t, x).ok()?;
        self.gradients.call(&self.input);
        let (slope, whole) = self.slope(event, rates)?;
        Some(if slope.abs() > SLOPE * whole { slope } else { 0.0 })
    }

    /// Takes over the sides at the end of a step. Returns the events that left zero the way
    /// they count, where the motion had not told so.
    pub(in crate::drive) fn commit(&mut self) -> Vec<usize> {
        let mut undecided = Vec::new();
        for (event, &side) in self.pending.iter().enumerate() {
            let known = self.sides[event];
            if side != 0 && known.side != side {
                if known.side == 0 && known.open && self.counts(event, -side) {
                    undecided.push(event);
                }
                self.sides[event] = EventSide { side, ..EventSide::default() };
            }
            self.sides[event].lost = self.lost[event];
        }
        undecided
    }
}

/// Values that are zero, by their noise and the size of their terms.
fn thresholds_of(noise: &[f64], terms: &[f64]) -> Vec<f64> {
    noise.iter().zip(terms).map(|(noise, terms)| LEFT * noise.max(START * terms)).collect()
}

/// +1, −1, or 0.
pub(in crate::drive) fn sign(value: f64) -> i8 {
    match value {
        v if v > 0.0 => 1,
        v if v < 0.0 => -1,
        _ => 0,
    }
}
