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

mod abreast;
mod branches;
mod build;
mod canonical;
mod constraints;
pub(crate) mod continuity;
mod cost;
mod coupling;
mod decide;
mod direct;
mod error;
mod expansion;
mod feedback;
mod implicit;
mod inverse;
mod kept;
mod loads;
mod narrow;
mod noise;
mod residual;
mod structure;

pub(crate) use self::abreast::{Abreast, Watched};
pub use self::error::FieldError;
pub(crate) use self::narrow::Arguments;
pub use self::noise::FieldNoise;
pub(crate) use self::noise::still;

use self::constraints::Residuals;
use self::coupling::Coupling;
use self::implicit::Implicit;
use self::kept::{Kept, Parts};
use crate::normal_form::layout::{Chosen, Layout};
use crate::program::problem::{Canonical, Expansion, Problem, ResidualForm, Structure};
use crate::search::Room;
use crate::setting::State;
use crate::setting::extent::Geometry;
use crate::setting::legendre;
use crate::setting::{Setting, Table};
use dalembert_compile::{Function, Scratch as Registers};
use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{Jacobian, Switch, SwitchKind, Symbol};
use dalembert_gauss::Factored;
use dalembert_gauss::coupled::Coupled;
use dalembert_gauss::eliminations::{Elimination, Scratch};
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Patterns, Terms};
use dalembert_model::system::Model;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Where the outputs of the compiled terms lie.
#[derive(Clone)]
struct Places {
    kinematics: Range<usize>,
    normal: Layout,
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
    /// Those of them that were found in one go with the terms.
    pub direct: u64,
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
    duration: f64,
    noise: FieldNoise,
    phi_q: Jacobian,
    mass_matrix: Jacobian,
    /// M, also where the projection of positions needs none.
    whole_mass: Jacobian,
    /// What extents are read off, where they were asked for.
    geometry: Arc<OnceLock<[Geometry; 2]>>,
    /// What does not show in series, where it was asked for.
    narrow: Arc<OnceLock<Option<Arguments>>>,
    /// The equations.
    pub equations: EquationsOfMotion,
    /// Number of coordinates.
    pub n: usize,
    /// Number of own velocities.
    pub size: usize,
    elimination: &'static dyn Elimination,
    terms: Arc<dyn Function>,
    layout: Places,
    residuals: Residuals,
    auxiliary: Option<Implicit>,
    coupling: Option<Coupling>,
    switchboard: Switchboard,
    windings: continuity::Windings,
    constants: Vec<f64>,
    work: Box<Work>,
    conserves: bool,
    follows: bool,
    kept: Kept,
    parts: Parts,
    /// Rows in use.
    rows: Vec<usize>,
    direct: direct::Direct,
    loads: loads::DirectLoads,
    /// Rows that are not in use and repeat one that is, where matrices are large.
    twins: Vec<(usize, usize)>,
    /// The row of A of each velocity residual.
    velocity_rows: Vec<usize>,
    /// Which own velocities are the rates of the positions at their places.
    rates_of_positions: Vec<bool>,
    /// Where Γ_ii is among the outputs of the terms.
    metric_diagonal: Vec<Option<usize>>,
    /// Whether A and Γ are φ_q and M, row by row.
    has_rows_of_positions: bool,
    /// Held by feedback.
    pub feedback: Feedback,
    /// Rates that are known otherwise, where solving for them would only add noise.
    pub known_rates: Option<Vec<f64>>,
    /// Calls of the rates so far.
    pub evaluations: u64,
    /// How solutions were found so far.
    pub counts: Counts,
}

/// Branches of the terms, and where they turn.
#[derive(Clone)]
struct Switchboard {
    /// Those that depend on multipliers.
    dependent: Vec<usize>,
    switches: Vec<Switch>,
    /// None where there are no switches.
    function: Option<Arc<dyn Function>>,
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
    /// The input at which what stands behind v was found last, with it; empty if it was not.
    behind_at: Vec<f64>,
    output: Vec<f64>,
    residual_output: Vec<f64>,
    /// The input of the residuals at hand; empty if there are none.
    residuals_at: Vec<f64>,
    auxiliary_output: Vec<f64>,
    metric: Vec<f64>,
    jacobian: Vec<f64>,
    chosen: Chosen,
    scratch: Scratch,
    outcome: Outcome,
    factored: Factored,
    /// Whether the factors are those of Γ and of the rows in use at hand.
    has_factors: bool,
    /// Whether the terms at hand are solved, and whether that was checked by Gauss's principle.
    is_solved: bool,
    is_certified: bool,
    /// Whether the last solution is on the decision of another state.
    is_frozen: bool,
    /// Whether the decision at hand is that of a state on the constraints with one motion.
    is_settled: bool,
    /// 1/√Γ_ii, and rows in these units, orthonormal.
    units: Vec<f64>,
    basis: Vec<f64>,
    unknowns: Vec<f64>,
    search: Room,
}

impl Field {
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
    #[inline]
    fn load(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        let state = self.n + self.size;
        let input = &mut self.work.input;
        input[0] = t;
        copy(&mut input[1..1 + state], &x[..state]);
        if self.auxiliary.is_none() { Ok(()) } else { self.load_behind(t, x) }
    }

    /// Solves for what stands behind v.
    fn load_behind(&mut self, t: f64, x: &[f64]) -> Result<(), FieldError> {
        let (n, size) = (self.n, self.size);
        let work = &mut self.work;
        let Some(implicit) = &self.auxiliary else { return Ok(()) };
        let first = 1 + n + size;
        work.input[first..first + implicit.count].copy_from_slice(&work.auxiliary);
        // What was found once is not looked for again: a search that begins at its end may lose it.
        if is_same(&work.behind_at, &work.input) {
            return Ok(());
        }
        work.behind_at.clear();
        if implicit.solve(work, first).is_err() {
            self.find_by_expressions(t, x)?;
        }
        let Work { behind_at, input, .. } = &mut *self.work;
        behind_at.extend_from_slice(input);
        Ok(())
    }

    /// The unknowns behind v where the compiled search did not find them: with the rounding of
    /// the relation evaluated beside it, which tells a residual that is only that.
    #[cold]
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
        // A state is counted once.
        let is_counted = self.was_direct(t, x);
        self.load(t, x)?;
        let (work, layout) = (&mut self.work, &self.layout);
        let is_same_time = work.evaluated.first().is_some_and(|own| own.to_bits() == t.to_bits());
        if !replace(&mut work.evaluated, &work.input) && work.is_fresh {
            return Ok(());
        }
        // Forces by multipliers are written over.
        work.is_fresh = self.coupling.is_none();
        work.is_solved = false;
        self.terms.call(&mut work.registers, &work.input, &mut work.output);
        self.evaluations += u64::from(!is_counted);
        self.direct.were_evaluated();
        let (metric, jacobian) = (&layout.normal.metric, &layout.normal.jacobian);
        work.has_factors &= is_same_time;
        // At another time they are others, but for those that nobody would ask about.
        if work.has_factors {
            let has_other_metric = metric.rewrite(&work.output, &mut work.metric);
            let has_other_rows = jacobian.rewrite(&work.output, &mut work.jacobian);
            work.has_factors = !(has_other_metric || has_other_rows);
        } else {
            metric.write(&work.output, &mut work.metric);
            jacobian.write(&work.output, &mut work.jacobian);
        }
        Ok(())
    }

    /// Whether the own velocity at a place is the rate of the position there.
    pub fn is_rate(&self, at: usize) -> bool {
        self.rates_of_positions.get(at).copied().unwrap_or(false)
    }

    /// The time that a run takes, as the model says.
    pub fn duration(&self) -> f64 {
        self.duration
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
    pub fn bias(&self) -> &[f64] {
        &self.work.output[self.layout.normal.bias.clone()]
    }

    /// Γ, F, C, A and b at a state, on the branches there are; forces by multipliers are
    /// those of the solution.
    pub fn terms(&mut self, t: f64, x: &[f64]) -> Result<Terms<'_>, FieldError> {
        self.evaluate(t, x)?;
        if self.coupling.is_some() {
            self.solve()?;
        }
        let work = &self.work;
        Ok(self.layout.normal.terms(&work.output, &work.metric, &work.jacobian))
    }

    /// Γ and A at a state: dense, or the entries of large ones.
    pub fn matrices(&mut self, t: f64, x: &[f64]) -> Result<(&[f64], &[f64]), FieldError> {
        self.evaluate(t, x)?;
        Ok((&self.work.metric, &self.work.jacobian))
    }

    /// Γ and A as last evaluated.
    pub fn last_matrices(&self) -> (&[f64], &[f64]) {
        (&self.work.metric, &self.work.jacobian)
    }

    /// Where the entries of Γ and A are, if these are large.
    pub(crate) fn patterns(&self) -> Option<Patterns<'_>> {
        self.layout.normal.patterns()
    }

    /// That matrices are sparse, in words, if they are.
    pub(crate) fn sparsity(&self) -> Option<String> {
        let Patterns { metric, jacobian } = self.patterns()?;
        let (n, m) = (metric.rows(), jacobian.rows());
        if let Some(bodies) = &self.equations.bodies {
            let count = bodies.links.len();
            return Some(format!("along a tree: {n} rates of {count} bodies, and {m} rows"));
        }
        let (here, there) = (metric.entries() + jacobian.entries(), n * (n + m));
        Some(format!("sparse: {n} rates and {m} rows with {here} entries of {there}"))
    }

    /// A row of A among the values of it: (column, entry).
    pub(crate) fn row<'a>(
        &'a self,
        jacobian: &'a [f64],
        row: usize,
    ) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        self.layout.normal.jacobian.row(jacobian, row)
    }

    /// The rows of the velocity residuals as last evaluated.
    pub(crate) fn take_rows(&self, into: &mut Chosen) {
        into.take_rows(&self.velocity_rows, &self.layout.normal.jacobian, &self.work.jacobian);
    }

    /// Γ_ii as last evaluated.
    pub(crate) fn last_mass(&self, i: usize) -> f64 {
        let at = self.metric_diagonal.get(i).copied().flatten();
        at.map_or(0.0, |at| self.work.output[at])
    }

    /// The solution of the last [`rates`](Problem::rates) or
    /// [`choose_rows`](Field::choose_rows).
    pub fn outcome(&self) -> &Outcome {
        &self.work.outcome
    }

    /// Every row's multiplier of the last solution by [`certified_rates`](Field::certified_rates) or
    /// [`choose_rows`](Field::choose_rows): 0 for rows not in use.
    pub fn multipliers(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.equations.rows.len()];
        if self.work.outcome.multipliers.len() == self.rows.len() {
            for (&row, &value) in self.rows.iter().zip(&self.work.outcome.multipliers) {
                all[row] = value;
            }
        }
        all
    }

    /// Whether rates are found with the multipliers of all rows, and with nothing that pulls a motion back.
    pub(crate) fn tells_loads(&self) -> bool {
        self.rows.len() == self.equations.rows.len()
            && self.known_rates.is_none()
            && self.feedback == Feedback::None
    }

    /// A row's multiplier of the last rates that were found by their terms.
    pub(crate) fn multiplier(&self, row: usize) -> Option<f64> {
        let found = &self.work.outcome.multipliers;
        let place = self.rows.iter().position(|own| *own == row)?;
        found.get(place).copied().filter(|_| found.len() == self.rows.len())
    }

    /// The rates, checked by Gauss's principle also where they are found on the decision of
    /// another state.
    pub fn certified_rates(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), FieldError> {
        self.find_rates(t, x, dx, true)
    }

    /// The rates at a state of which more is going to be asked: by its terms, which are then there.
    pub fn lasting_rates(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), FieldError> {
        self.find_rates(t, x, dx, false)
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
        copy(&mut dx[..n], &work.output[layout.kinematics.clone()]);
        copy(&mut dx[n..n + size], &work.outcome.v_dot);
        // dE/dt = −L_t + q̇·(Q′ + C) + λᵀA q̇
        let rows = &work.output[layout.row_power.clone()];
        let by_rows: f64 =
            self.rows.iter().zip(&work.outcome.multipliers).map(|(&row, l)| l * rows[row]).sum();
        dx[n + size] = work.output[layout.power] + by_rows;
        if let Feedback::Invariant(rate) = self.feedback {
            self.invariant(t, x, dx, rate)?;
        }
        if are_finite(dx) {
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
        if self.direct_rates(t, x, dx)? {
            return Ok(());
        }
        let found = self.find_rates(t, x, dx, false);
        self.direct.was_missed();
        found
    }

    fn residual_form(&mut self) -> Option<&mut dyn ResidualForm> {
        if self.parts.residual.is_some() { Some(self) } else { None }
    }

    fn canonical(&mut self) -> Option<&mut dyn Canonical> {
        if self.parts.canonical.is_some() { Some(self) } else { None }
    }

    fn expansion(&mut self) -> Option<&mut dyn Expansion> {
        if self.parts.expansion.is_some() { Some(self) } else { None }
    }

    fn structure(&mut self) -> Option<&mut dyn Structure> {
        if self.parts.structure.is_some() { Some(self) } else { None }
    }
}

/// Puts a list in the place of another. False if it was there already, bit by bit.
fn replace(own: &mut Vec<f64>, new: &[f64]) -> bool {
    if own.len() != new.len() {
        own.clear();
        own.extend_from_slice(new);
        return true;
    }
    let is_other = !is_same(own, new);
    if is_other {
        copy(own, new);
    }
    is_other
}

/// Whether lists are the same, bit by bit.
fn is_same(own: &[f64], new: &[f64]) -> bool {
    // Mostly it is another time.
    own.len() == new.len() && own.iter().zip(new).all(|(own, new)| own.to_bits() == new.to_bits())
}

/// So many numbers are looked at one by one.
const FEW: usize = 8;

/// Copies numbers. A call for a few of them would cost more than they do.
fn copy(into: &mut [f64], from: &[f64]) {
    fn few<const N: usize>(into: &mut [f64], from: &[f64]) {
        if let (Some(into), Some(from)) = (into.first_chunk_mut::<N>(), from.first_chunk()) {
            *into = *from;
        }
    }
    match from.len() {
        1 => few::<1>(into, from),
        2 => few::<2>(into, from),
        3 => few::<3>(into, from),
        4 => few::<4>(into, from),
        5 => few::<5>(into, from),
        6 => few::<6>(into, from),
        7 => few::<7>(into, from),
        8 => few::<8>(into, from),
        _ => into[..from.len()].copy_from_slice(from),
    }
}

/// Whether all numbers are.
#[inline]
fn are_finite(list: &[f64]) -> bool {
    // One by one where they are few: they were written so just before, and what is read two at a time
    // would wait until they have arrived in memory.
    if list.len() <= FEW {
        return list.iter().fold(0.0, |sum, x| sum + 0.0 * x) == 0.0;
    }
    // All bits of an exponent are set if there is no number: one more carries into the sign.
    const EXPONENT: u64 = f64::INFINITY.to_bits();
    const ONE: u64 = 1 << (f64::MANTISSA_DIGITS - 1);
    list.iter().fold(0, |carried, x| carried | ((x.to_bits() & EXPONENT) + ONE)) >> 63 == 0
}
