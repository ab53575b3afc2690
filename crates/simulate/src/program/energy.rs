//! The energy of a motion, part by part, and what it is measured against.
//!
//! Coordinates that no term of the energy, no force and no constraint joins are parts by
//! themselves, and
//!
//! ```text
//! E = Σ_p E_p + const,    E_p = Σ_{i ∈ p} q̇_i p_i − L_p
//! ```
//!
//! A part on which nothing does work keeps its E_p; the others together change theirs by the
//! work W. Each error is measured against what its part exchanges: the largest of 2T = q̇·p,
//! of the range of E − T along the motion, and of W. So a constant in the potential, which
//! is left out, and energy that a part never meets hide nothing; and what is below the
//! rounding errors of the energy itself is not counted.
//!
//! Resets and states may join parts, so with them there is one.

use crate::program::compiled::Compiled;
use crate::program::field::Field;
use crate::program::on_branches::OnBranches;
use crate::setting::{Setting, Table};
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::{Action, Energy, Level, System, Unknown};
use rustc_hash::FxHashMap;

/// Rounding errors add up: so many times the bound for one evaluation.
const NOISE: f64 = 8.0;

/// Velocities below this part of the others, where masses are equal, are rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Which part each coordinate belongs to: parts are numbered from 0.
pub fn parts(setting: &Setting) -> Vec<usize> {
    let model = &setting.model;
    parts_of(setting, &model.exprs.terms(energy_of(&model.system)))
}

/// The same, given the terms of the energy.
fn parts_of(setting: &Setting, terms: &[ExprId]) -> Vec<usize> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let n = system.n_coordinates();
    let mut joined = Joined((0..n).collect());
    let resets = system.events.iter().any(|e| matches!(e.action, Action::Reset(_)));
    // What a state is made of it may bring anywhere, and impacts join what touches.
    let touches = system.phase.is_some() || !system.contacts.is_empty();
    if resets || !system.states.is_empty() || touches {
        return vec![0; n];
    }
    let owners = Owners::new(system);
    let of = |roots: &[ExprId]| -> Vec<usize> {
        let symbols = exprs.symbols_of(roots);
        let mut list: Vec<usize> = symbols.iter().filter_map(|&s| owners.of(s)).collect();
        for symbol in symbols {
            let unknown = system.unknowns.iter().find(|u| u.0 == symbol).map(|u| u.1);
            match unknown {
                Some(Unknown::Multiplier(row) | Unknown::Share(_, row)) => {
                    let residual = system.constraints[row].residual;
                    list.extend(exprs.symbols_of(&[residual]).iter().filter_map(|&s| owners.of(s)));
                }
                Some(Unknown::Reaction(i)) => list.push(i),
                Some(Unknown::Touch(_)) | None => {}
            }
        }
        list
    };
    for pair in exprs.numbered(terms, |s| owners.of(s)).1 {
        joined.join(&pair);
    }
    for constraint in &system.constraints {
        joined.join(&of(&[constraint.residual]));
    }
    for force in system.forces.iter().chain(&system.nonideal) {
        for &(i, component) in &force.components {
            let mut list = of(&[component]);
            list.push(i);
            joined.join(&list);
        }
    }
    joined.numbered()
}

fn energy_of(system: &System) -> ExprId {
    match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => *lagrangian,
        Energy::Hamiltonian { hamiltonian, .. } => *hamiltonian,
    }
}

/// Which coordinate a symbol belongs to.
struct Owners(Vec<(Symbol, usize)>);

impl Owners {
    fn new(system: &System) -> Owners {
        let lists = [
            system.positions(),
            system.velocities(),
            system.momenta(),
            system.accelerations(),
            system.momentum_rates(),
        ];
        let mut all: Vec<(Symbol, usize)> =
            lists.into_iter().flat_map(|list| list.into_iter().zip(0..)).collect();
        all.sort_unstable();
        Owners(all)
    }

    fn of(&self, symbol: Symbol) -> Option<usize> {
        self.0.binary_search_by_key(&symbol, |o| o.0).ok().map(|at| self.0[at].1)
    }
}

/// Sets that are joined: each member knows another of its set, the first itself.
struct Joined(Vec<usize>);

impl Joined {
    fn first(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, list: &[usize]) {
        for pair in list.windows(2) {
            let (a, b) = (self.first(pair[0]), self.first(pair[1]));
            self.0[a.max(b)] = a.min(b);
        }
    }

    fn numbered(mut self) -> Vec<usize> {
        let n = self.0.len();
        let firsts: Vec<usize> = (0..n).map(|i| self.first(i)).collect();
        let mut order: Vec<usize> = firsts.clone();
        order.sort_unstable();
        order.dedup();
        firsts.iter().map(|f| order.binary_search(f).unwrap_or(0)).collect()
    }
}

/// What one part has exchanged, and by how much it is off.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    first: f64,
    /// Range of E − T.
    rest: (f64, f64),
    /// The largest 2T and |W|.
    largest: f64,
    worst: f64,
    change: f64,
    /// The change in the first half.
    early: f64,
    /// 2T + |E − T|, where it was largest.
    size: f64,
    /// The same where the rounding errors were looked at last.
    looked: f64,
    noise: f64,
}

impl Exchange {
    fn scale(&self) -> f64 {
        self.largest.max(self.rest.1 - self.rest.0)
    }

    /// An error relative to what was exchanged, or the least that could be.
    fn relative(&self, error: f64, least: f64) -> f64 {
        let error = (error - NOISE * self.noise).max(0.0);
        if error == 0.0 { 0.0 } else { error / self.scale().max(least) }
    }
}

/// The energies of a motion's parts: those that keep theirs one by one, all others as one.
#[derive(Clone)]
pub(crate) struct Energies {
    branches: OnBranches,
    function: Compiled,
    variables: Vec<Symbol>,
    roots: Vec<ExprId>,
    input: Vec<f64>,
    /// The part of each coordinate.
    pub(crate) parts: Vec<usize>,
    /// Whether work is done on a group.
    active: Vec<bool>,
    exchanges: Vec<Exchange>,
    /// The inputs at which the terms of each group were largest: their rounding errors are looked at
    /// there, when a run is over.
    largest: Vec<Vec<f64>>,
    /// What events added; W has it too.
    pub(crate) jumps: f64,
    /// What fields that are switched in time added to the parts on which work is done; W has
    /// it too.
    pub(crate) switched: f64,
}

impl Energies {
    pub(crate) fn new(
        setting: &Setting,
        picture: &Picture,
        equations: &EquationsOfMotion,
    ) -> Energies {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let equations = equations.on_constraints(exprs);
        let terms = exprs.terms(energy_of(system));
        let parts = parts_of(setting, &terms);
        let groups = groups(setting, &terms, &mixed(setting, &equations, &parts));
        let owners = Owners::new(system);
        let count = groups.iter().map(|g| g.0 + 1).max().unwrap_or(1);
        let mut active = vec![false; count];
        groups.iter().for_each(|g| active[g.0] |= g.1);
        // What no work is done on in one phase may have had some in another.
        if system.phase.is_some() {
            active.fill(true);
        }
        let group_of = |term: ExprId, owner: Option<usize>| -> Option<usize> {
            // Time alone: it belongs to what changes with time.
            let changes = || changes(system, &exprs.symbols_of(&[term]));
            let by_time = || changes().then(|| active.iter().position(|a| *a));
            owner.map(|i| groups[i].0).or_else(|| by_time().flatten())
        };
        let mut energies: Vec<Vec<ExprId>> = vec![Vec::new(); count];
        let mut kinetic: Vec<Vec<ExprId>> = vec![Vec::new(); count];
        let is_hamiltonian = matches!(system.energy, Energy::Hamiltonian { .. });
        let owned = exprs.numbered(&terms, |s| owners.of(s)).0;
        for (&term, owner) in terms.iter().zip(owned) {
            let Some(group) = group_of(term, owner) else { continue };
            energies[group].push(if is_hamiltonian { term } else { (-exprs.at(term)).id });
        }
        for (i, &(group, _)) in groups.iter().enumerate() {
            let velocity = exprs.at(exprs.of_symbol(picture.velocities[i]));
            let term = (velocity * exprs.at(picture.momenta[i])).id;
            kinetic[group].push(term);
            if !is_hamiltonian {
                energies[group].push(term);
            }
        }
        let mut roots: Vec<ExprId> = energies.iter().map(|terms| exprs.sum(terms)).collect();
        roots.extend(kinetic.iter().map(|terms| exprs.sum(terms)));
        if is_hamiltonian {
            let momenta = system.momenta().into_iter().zip(picture.momenta.iter().copied());
            let map: Vec<(Symbol, ExprId)> = momenta.collect();
            roots = exprs.substitute(&roots, &map);
        }
        let map: Vec<(Symbol, ExprId)> =
            picture.velocities.iter().copied().zip(equations.kinematics.iter().copied()).collect();
        let roots = exprs.substitute(&roots, &map);
        let mut variables = vec![Symbol::TIME];
        variables.extend(&equations.q);
        variables.extend(&equations.v);
        variables.extend(equations.auxiliary.iter().flat_map(|a| a.symbols.iter().copied()));
        let (roots, branches) = OnBranches::freeze(setting, &roots, 0..count, &mut variables);
        Energies {
            branches,
            input: vec![0.0; variables.len()],
            function: Compiled::new(setting, &roots, &variables),
            variables,
            roots,
            parts,
            active,
            exchanges: Vec::new(),
            largest: Vec::new(),
            jumps: 0.0,
            switched: 0.0,
        }
    }

    /// Sets the parameters, for another motion.
    pub(crate) fn prepare(&mut self, constants: &[f64]) {
        self.function.prepare(constants);
        self.branches.prepare(constants);
    }

    /// Goes on in other variables.
    pub(crate) fn go_on(&mut self, mut from: Energies, setting: &Setting) {
        from.look(setting);
        if from.exchanges.len() == self.active.len() {
            self.exchanges = from.exchanges;
            // Where the terms were largest is said in its own variables.
            self.exchanges.iter_mut().for_each(|own| (own.size, own.looked) = (-1.0, -1.0));
            self.largest = vec![self.input.clone(); self.exchanges.len()];
            (self.jumps, self.switched) = (from.jumps, from.switched);
        }
    }

    /// Takes the field's last state into account, with the work done so far.
    pub(crate) fn see(&mut self, field: &Field, t: f64, x: &[f64], early: bool) {
        let moving = x.len() - 1;
        let work = x[moving];
        self.input[0] = t;
        self.input[1..=moving].copy_from_slice(&x[..moving]);
        self.input[1 + moving..self.branches.first].copy_from_slice(field.auxiliary());
        self.branches.set(field, &mut self.input);
        self.function.call(&self.input);
        let is_first = self.exchanges.is_empty();
        let count = self.active.len();
        for group in 0..count {
            let (energy, twice) =
                (self.function.output[group], self.function.output[count + group]);
            let rest = energy - 0.5 * twice;
            let (work, jumps) = match self.active[group] {
                true => (work, self.jumps + self.switched),
                false => (self.jumps, self.jumps),
            };
            if is_first {
                self.exchanges.push(Exchange {
                    // Of a motion that goes on, what it began with.
                    first: energy - work,
                    rest: (rest, rest),
                    largest: 0.0,
                    worst: 0.0,
                    change: 0.0,
                    early: 0.0,
                    size: -1.0,
                    looked: -1.0,
                    noise: 0.0,
                });
                self.largest.push(self.input.clone());
            }
            let own = &mut self.exchanges[group];
            own.rest = (own.rest.0.min(rest), own.rest.1.max(rest));
            own.largest = own.largest.max(twice.abs()).max(work.abs());
            let larger = |a: f64, b: f64| if b.is_nan() { f64::INFINITY } else { a.max(b) };
            own.worst = larger(own.worst, (energy - own.first - work).abs());
            own.change = larger(own.change, (energy - own.first - jumps).abs());
            let size = twice.abs() + rest.abs();
            if size > own.size {
                own.size = size;
                self.largest[group].copy_from_slice(&self.input);
            }
            if early {
                own.early = own.change;
            }
        }
    }

    /// Looks at the rounding errors of the energies, where these were largest.
    pub(crate) fn look(&mut self, setting: &Setting) {
        let noise = |root: ExprId, input: &[f64]| {
            let mut table = Table::default();
            table.set_all(&self.variables, input);
            let noise = setting.evaluate(&[root], &table)[0].noise;
            if noise.is_finite() { noise } else { 0.0 }
        };
        let groups = self.exchanges.iter_mut().zip(&self.largest).zip(&self.roots);
        for ((own, largest), &root) in groups {
            if own.size > own.looked {
                own.noise = own.noise.max(noise(root, largest));
                own.looked = own.size;
            }
        }
    }

    /// The largest |E − E₀ − W| relative to what its part exchanged.
    pub(crate) fn balance(&self) -> f64 {
        self.largest(|own| own.worst)
    }

    /// The largest |E − E₀|, less what events added.
    pub(crate) fn change(&self) -> f64 {
        self.largest(|own| own.change)
    }

    /// The same in the first half.
    pub(crate) fn early(&self) -> f64 {
        self.largest(|own| own.early)
    }

    fn largest(&self, error: impl Fn(&Exchange) -> f64) -> f64 {
        // A part that only rounding of the others moves has energies of the square of it.
        let all: f64 = self.exchanges.iter().map(Exchange::scale).sum();
        let least = ROUNDING * ROUNDING * all;
        self.exchanges.iter().fold(0f64, |m, own| m.max(own.relative(error(own), least)))
    }
}

/// Parts, with those as one whose velocities the variables of the equations mix: errors of
/// one are errors of the other.
fn mixed(setting: &Setting, equations: &EquationsOfMotion, parts: &[usize]) -> Vec<usize> {
    let exprs = &setting.model.exprs;
    let mut joined = Joined((0..parts.len()).collect());
    let mut firsts: FxHashMap<usize, usize> = FxHashMap::default();
    for (i, &part) in parts.iter().enumerate() {
        joined.join(&[*firsts.entry(part).or_insert(i), i]);
    }
    let places = |list: &[Symbol]| -> FxHashMap<Symbol, usize> {
        list.iter().enumerate().map(|(at, &s)| (s, at)).collect()
    };
    let (of_v, of_q) = (places(&equations.v), places(equations.positions()));
    let mut owner: Vec<Option<usize>> = vec![None; equations.v.len()];
    for (i, &rate) in equations.kinematics[..parts.len()].iter().enumerate() {
        for symbol in exprs.symbols_of(&[rate]) {
            if let Some(&at) = of_v.get(&symbol) {
                let first = *owner[at].get_or_insert(i);
                joined.join(&[first, i]);
            }
            if let Some(&at) = of_q.get(&symbol) {
                joined.join(&[at, i]);
            }
        }
    }
    joined.numbered()
}

/// Whether time or a state is among the symbols of an expression: it changes by itself.
fn changes(system: &System, symbols: &[Symbol]) -> bool {
    let is_state = |s: &Symbol| system.states.iter().any(|z| z.symbol == *s);
    symbols.iter().any(|s| *s == Symbol::TIME || is_state(s))
}

/// For each coordinate its group, and whether work is done on that.
fn groups(setting: &Setting, terms: &[ExprId], parts: &[usize]) -> Vec<(usize, bool)> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let owners = Owners::new(system);
    let count = parts.iter().map(|p| p + 1).max().unwrap_or(0);
    let mut active = vec![false; count];
    for force in system.forces.iter().chain(&system.nonideal) {
        force.components.iter().for_each(|&(i, _)| active[parts[i]] = true);
    }
    let mut mark = |root: ExprId| {
        for symbol in exprs.symbols_of(&[root]) {
            if let Some(i) = owners.of(symbol) {
                active[parts[i]] = true;
            }
        }
    };
    let changing = exprs.depend_on(terms, |s| changes(system, &[s]));
    for (&term, _) in terms.iter().zip(changing).filter(|(_, changes)| *changes) {
        mark(term);
    }
    for constraint in &system.constraints {
        let is_idle = constraint.scleronomic
            && match constraint.level {
                Level::Position => true,
                Level::Velocity => constraint.catastatic == Some(true) && constraint.affine,
                Level::Acceleration => false,
            };
        if !is_idle {
            mark(constraint.residual);
        }
    }
    // All on which work is done are one, the last.
    let idle = active.iter().filter(|a| !**a).count();
    let number = |part: usize| match active[part] {
        true => idle,
        false => active[..part].iter().filter(|a| !**a).count(),
    };
    parts.iter().map(|&part| (number(part), active[part])).collect()
}
