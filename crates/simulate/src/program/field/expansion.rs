//! The motion from a state as Taylor series, order by order: the residual form on jets.
//!
//! With coefficients x[k] = x⁽ᵏ⁾/k! and q[0], v[0] given, the order k of
//!
//! ```text
//! 0 = (Γ v̇ − F − C − Aᵀλ)[k]
//! 0 = φ[k+2]            rows on positions, where q̇ is v itself
//! 0 = ψ[k+1]            rows on velocities, and on positions where it is not
//! 0 = (A v̇ − b)[k]      rows on accelerations, and all where unknowns stand behind v
//! ```
//!
//! is linear in v̇[k] and λ[k], since v[k+1] = v̇[k]/(k+1) and q[k+2] = v[k+1]/(k+2), and its matrix
//! is that of the normal form at the state, whatever the order. So a step is one factorization,
//! by the decision that the step has, and one back-substitution an order; nothing is
//! differentiated again. Rows that the decision leaves out stay out at all orders. Where forces
//! depend on multipliers their slopes belong to the matrix.
//!
//! Then, still at the same stage, 0 = r(w; q, v, t)[k+1] for unknowns w behind v, and
//! (k+2) q[k+2] = k(q, v, t)[k+1] where q̇ is not v. The work done on the system is integrated
//! beside.
//!
//! Source: N. Nedialkov and J. Pryce, BIT 45 (2005) and 47 (2007), for the order of unknowns and
//! equations; here it is known ahead from the level of each row.

use super::inverse::{Behind, Factors, Inverse};
use super::{Field, FieldError, Work, residual};
use crate::program::problem::{Expanded, Expansion};
use dalembert_compile::Tape;
use dalembert_compile::series::{
    Closing, Fours, Integral, Jets, NoSeries, Series, SeriesCode, Source, Variable, Wanted,
};
use dalembert_derive::Residual;
use dalembert_expr::ExprId;
use dalembert_gauss::terms::Terms;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// After so many expansions machine code is made: it costs a few of them.
const EXPANSIONS: u32 = 4;
/// Up to so many unknowns all stages are one call, which multiplies with the inverse of their
/// matrix.
const SMALL: usize = 24;
/// Beyond this order there is none.
const HIGHEST: usize = 40;

/// The phases of a stage.
const DYNAMICS: usize = 0;
const BEHIND: usize = 1;
const KINEMATICS: usize = 2;

/// The compiled residual on jets.
#[derive(Clone)]
pub(crate) struct Part {
    series: Arc<Series>,
    /// Machine code for each order, where it was made.
    codes: Arc<Vec<OnceLock<Option<SeriesCode>>>>,
    /// Expansions by the interpreter so far, of all that share the code.
    interpreted: Arc<AtomicU32>,
    jets: Jets,
    /// How much ahead each row of A is.
    ahead: Vec<usize>,
    /// Whether q̇ is v.
    is_rate: bool,
    has_power: bool,
    places: Places,
    constants: Vec<f64>,
    /// What was expanded last: the input, the rows, and the order.
    input: Vec<f64>,
    rows: Vec<usize>,
    order: usize,
    inverse: Inverse,
    /// Room for a column of it.
    unknowns: Vec<f64>,
    behind: Behind,
}

/// Where variables and outputs are.
#[derive(Clone, Copy)]
pub(super) struct Places {
    n: usize,
    size: usize,
    auxiliary: usize,
    /// The first acceleration among the variables; multipliers follow.
    pub(super) rates: usize,
    rows: usize,
}

impl Places {
    pub(super) fn velocity(&self, j: usize) -> usize {
        1 + self.n + j
    }
    fn behind(&self, j: usize) -> usize {
        1 + self.n + self.size + j
    }
    pub(super) fn multiplier(&self, row: usize) -> usize {
        self.rates + self.size + row
    }
    /// The outputs, one after the other: dynamics, rows, power, kinematics, unknowns behind v.
    fn power(&self) -> usize {
        self.size + self.rows
    }
    pub(super) fn kinematics(&self, i: usize) -> usize {
        self.power() + 1 + i
    }
    fn relation(&self, j: usize) -> usize {
        self.power() + 1 + self.n + j
    }
    /// How v̇ and λ are found, v from v̇, and q from v or from what its rate is.
    fn closing(&self, is_rate: bool) -> Closing {
        let velocities = Integral {
            first: self.velocity(0),
            count: self.size,
            of: Source::Variables(self.rates),
        };
        let of = match is_rate {
            true => Source::Variables(self.velocity(0)),
            false => Source::Outputs(self.kinematics(0)),
        };
        let positions = Integral { first: 1, count: self.n, of };
        Closing {
            equations: self.size + self.rows,
            unknowns: self.rates,
            integrals: vec![velocities, positions],
        }
    }
}

/// The residual on jets.
pub(super) struct Planned {
    pub(super) series: Series,
    /// How much ahead each row of A is.
    ahead: Vec<usize>,
    /// Whether q̇ is v.
    pub(super) is_rate: bool,
    has_power: bool,
    pub(super) places: Places,
}

impl Planned {
    /// The residual of a field. For motions that are moved abreast its parameters are variables
    /// behind all others, which are held, and work is not followed.
    pub(super) fn new(field: &Field, is_abreast: bool) -> Result<Planned, NoSeries> {
        let exprs = &field.setting.model.exprs;
        let kept = &field.kept;
        let equations = field.frozen_equations();
        let residual = Residual::new(exprs, &equations);
        let (n, size) = (field.n, field.size);
        let velocities: Vec<ExprId> = equations.v.iter().map(|&s| exprs.of_symbol(s)).collect();
        let is_rate = residual.kinematics == velocities;
        let has_behind = !residual.auxiliary.is_empty();
        let mut roots = residual.dynamics.clone();
        let now = Wanted { phase: DYNAMICS, ahead: 0, is_final: false };
        let mut wanted = vec![now; size];
        let mut ahead = Vec::new();
        for (row, constraint) in residual.rows.iter().zip(&equations.rows) {
            let mut positions = equations.configuration_residuals.iter();
            let position = positions.find(|p| p.0 == *constraint).filter(|_| is_rate);
            let (root, level) = match (position, row.velocity) {
                (Some(position), _) => (position.1, 2),
                (None, Some(velocity)) if !has_behind => (velocity, 1),
                _ => (row.acceleration, 0),
            };
            roots.push(root);
            wanted.push(Wanted { ahead: level, ..now });
            ahead.push(level);
        }
        let power = if is_abreast { ExprId::ZERO } else { residual::power(field, &residual) };
        roots.push(power);
        wanted.push(Wanted { is_final: true, ..now });
        roots.extend(&residual.kinematics);
        let phase = if is_rate { DYNAMICS } else { KINEMATICS };
        wanted.extend(vec![Wanted { phase, ahead: 1, is_final: !is_rate }; n]);
        roots.extend(&residual.auxiliary);
        let behind = Wanted { phase: BEHIND, ahead: 1, is_final: false };
        wanted.extend(vec![behind; residual.auxiliary.len()]);

        let mut symbols = kept.variables.clone();
        let rates = symbols.len();
        symbols.extend(residual.accelerations.iter().chain(&residual.multipliers));
        let moving = |phase, ahead| Variable::Moving { phase, ahead };
        let mut variables = vec![Variable::Held; symbols.len()];
        let places = Places {
            n,
            size,
            auxiliary: residual.auxiliary.len(),
            rates,
            rows: equations.rows.len(),
        };
        variables[0] = Variable::Given;
        variables[1..=n].fill(moving(phase, 2));
        variables[places.velocity(0)..places.behind(0)].fill(moving(DYNAMICS, 1));
        variables[places.behind(0)..][..places.auxiliary].fill(moving(BEHIND, 1));
        variables[rates..].fill(moving(DYNAMICS, 0));
        let mut constants = &kept.symbols[..];
        if is_abreast {
            symbols.extend(std::mem::take(&mut constants));
            variables.resize(symbols.len(), Variable::Held);
        }
        let tape = Tape::lower(exprs, &roots, constants, &symbols);
        let mut series = Series::new(tape, &variables, &wanted)?;
        if places.auxiliary == 0 && size + places.rows <= SMALL {
            series.close(places.closing(is_rate));
        }
        let has_power = power != ExprId::ZERO;
        Ok(Planned { series, ahead, is_rate, has_power, places })
    }
}

impl Part {
    /// Sets the parameters.
    pub(super) fn prepare(&mut self, constants: &[f64]) {
        self.constants = constants.to_vec();
        self.series.prepare(&mut self.jets, constants);
        self.input.clear();
    }

    /// Compiles the residual of a field.
    pub(crate) fn new(field: &Field) -> Result<Part, NoSeries> {
        let Planned { series, ahead, is_rate, has_power, places } = Planned::new(field, false)?;
        let series = Arc::new(series);
        let mut jets = series.jets(0);
        series.prepare(&mut jets, &field.constants);
        Ok(Part {
            jets,
            series,
            codes: Arc::new((0..=HIGHEST).map(|_| OnceLock::new()).collect()),
            interpreted: Arc::default(),
            ahead,
            is_rate,
            has_power,
            places,
            constants: field.constants.clone(),
            input: Vec::new(),
            rows: Vec::new(),
            order: 0,
            inverse: Inverse::default(),
            unknowns: Vec::new(),
            behind: Behind::default(),
        })
    }

    /// The operations up to an order: values, recurrences and solutions.
    pub(super) fn cost(&self, order: usize) -> f64 {
        let (stages, unknowns) = (order - 1, (self.places.size + self.places.rows) as f64);
        let solutions = stages as f64 * (unknowns * unknowns / 4.0 + 4.0 * unknowns);
        self.series.cost_of_values() + self.series.cost(stages) + solutions
    }

    /// The machine code for the order at hand, once it is worth it.
    fn code(&mut self) {
        let Some(code) = self.codes.get(self.order) else { return };
        if code.get().is_none() && self.interpreted.fetch_add(1, Ordering::Relaxed) >= EXPANSIONS {
            code.get_or_init(|| self.series.assemble(self.order + 1, self.order - 1));
        }
    }

    fn run(&mut self, phase: usize, k: usize) {
        let code = self.codes.get(self.order).and_then(|code| code.get()?.as_ref());
        if !code.is_some_and(|code| code.run(&mut self.jets, phase, k)) {
            self.series.run(&mut self.jets, phase, k);
        }
    }

    fn finish(&mut self, phase: usize, k: usize) {
        if !self.series.corrects(phase) {
            return;
        }
        let code = self.codes.get(self.order).and_then(|code| code.get()?.as_ref());
        if !code.is_some_and(|code| code.finish(&mut self.jets, phase, k)) {
            self.series.finish(&mut self.jets, phase, k);
        }
    }

    fn set(&mut self, variable: usize, order: usize, value: f64) {
        self.series.set(&mut self.jets, variable, order, value);
    }

    fn output(&self, at: usize, order: usize) -> f64 {
        self.series.output(&self.jets, at, order)
    }

    /// Order 0, and what of the others is known there.
    fn begin(&mut self, v_dot: &[f64]) {
        let n = self.places.n;
        let Part { series, jets, input, codes, order, .. } = self;
        match codes.get(*order).and_then(|code| code.get()?.as_ref()) {
            Some(code) => code.begin(series, jets, input),
            None => series.begin(jets, input),
        }
        self.set(0, 1, 1.0);
        for (j, v_dot) in v_dot.iter().enumerate() {
            self.set(self.places.velocity(j), 1, *v_dot);
        }
        for i in 0..n {
            self.set(1 + i, 1, self.output(self.places.kinematics(i), 0));
            if self.is_rate {
                self.set(1 + i, 2, 0.5 * v_dot[i]);
            }
        }
    }

    /// All stages, closed by the inverse.
    fn run_all(&mut self) {
        let Places { size, rows, .. } = self.places;
        let Part { series, jets, inverse, unknowns, .. } = self;
        let are_all = self.rows.iter().copied().eq(0..rows);
        for equation in 0..size + rows {
            if are_all {
                let column = inverse.column(equation).unwrap_or_default();
                series.set_inverse(jets, equation, column);
                continue;
            }
            let column = match equation.checked_sub(size) {
                None => Some(equation),
                Some(row) => self.rows.iter().position(|own| *own == row).map(|at| size + at),
            };
            // A row that is not in use is not looked at, and its multiplier is 0.
            unknowns.clear();
            unknowns.resize(size + rows, 0.0);
            if let Some(column) = column.and_then(|at| inverse.column(at)) {
                unknowns[..size].copy_from_slice(&column[..size]);
                for (&row, &value) in self.rows.iter().zip(&column[size..]) {
                    unknowns[size + row] = value;
                }
            }
            series.set_inverse(jets, equation, unknowns);
        }
        let code = self.codes.get(self.order).and_then(|code| code.get()?.as_ref());
        if !code.is_some_and(|code| code.run_all(jets)) {
            series.start(jets);
            (1..self.order).for_each(|k| series.stage(jets, k));
        }
    }

    /// All stages, one after the other, each with the factors.
    fn run_each(&mut self, factors: &mut Factors, terms: &Terms) -> Result<(), FieldError> {
        let code = self.codes.get(self.order).and_then(|code| code.get()?.as_ref());
        if !code.is_some_and(|code| code.catch_up(&mut self.jets)) {
            self.series.catch_up(&mut self.jets);
        }
        if self.order > 1 {
            self.follow(0);
        }
        (1..self.order).try_for_each(|k| self.stage(k, factors, terms))
    }

    /// What comes after v[k+1]: w[k+1] and q[k+2].
    fn follow(&mut self, k: usize) {
        let Places { n, auxiliary, .. } = self.places;
        if auxiliary > 0 {
            self.run(BEHIND, k);
            let Part { series, jets, behind, places, .. } = self;
            for (j, place) in behind.right.iter_mut().enumerate() {
                *place = -series.output(jets, places.relation(j), k + 1);
            }
            behind.solve();
            for (j, value) in behind.right.iter().enumerate() {
                series.set(jets, places.behind(j), k + 1, *value);
            }
            self.finish(BEHIND, k);
        }
        if !self.is_rate {
            self.run(KINEMATICS, k);
            let Part { series, jets, places, .. } = self;
            for i in 0..n {
                let rate = series.output(jets, places.kinematics(i), k + 1);
                series.set(jets, 1 + i, k + 2, rate / (k + 2) as f64);
            }
        }
    }

    /// One stage: v̇[k] and λ[k], and what follows from them.
    fn stage(&mut self, k: usize, factors: &mut Factors, terms: &Terms) -> Result<(), FieldError> {
        let size = self.places.size;
        self.run(DYNAMICS, k);
        let Part { series, jets, places, inverse, rows, ahead, .. } = self;
        let (force, bias) = inverse.right.split_at_mut(size);
        for (i, place) in force.iter_mut().enumerate() {
            *place = -series.output(jets, i, k);
        }
        for (place, &row) in bias.iter_mut().zip(&*rows) {
            // v̇[k] enters over (k + 1), or over (k + 1)(k + 2).
            let factor = [1, k + 1, (k + 1) * (k + 2)][ahead[row]];
            *place = -(factor as f64) * series.output(jets, size + row, k + ahead[row]);
        }
        if !inverse.solve(factors, terms) {
            return Err(FieldError::NotFinite { what: "Taylor coefficient", index: k });
        }
        let (v_dot, lambda) = inverse.solution.split_at(size);
        for (j, &value) in v_dot.iter().enumerate() {
            let velocity = value / (k + 1) as f64;
            series.set(jets, places.rates + j, k, value);
            series.set(jets, places.velocity(j), k + 1, velocity);
            if self.is_rate {
                series.set(jets, 1 + j, k + 2, velocity / (k + 2) as f64);
            }
        }
        for (&value, &row) in lambda.iter().zip(&*rows) {
            series.set(jets, places.multiplier(row), k, value);
        }
        let is_last = k + 1 == self.order;
        if !is_last || self.has_power {
            self.finish(DYNAMICS, k);
        }
        if !is_last {
            self.follow(k);
        }
        Ok(())
    }

    /// The coefficients of (q, v, W).
    fn take(&self, work: f64, into: &mut Fours) {
        let Part { series, jets, places, .. } = self;
        into.take(0, series, jets, 1);
        into.take(1, series, jets, places.velocity(0));
        match self.has_power {
            true => {
                let power = |k: usize| self.output(places.power(), k - 1) / k as f64;
                into.set(2, (0..=self.order).map(|k| if k == 0 { work } else { power(k) }));
            }
            false => into.hold(2, work),
        }
    }
}

impl Expansion for Field {
    fn expand(
        &mut self,
        t: f64,
        x: &[f64],
        order: usize,
        into: &mut Fours,
    ) -> Result<Expanded, FieldError> {
        let Some(mut part) = self.parts.expansion.take() else {
            return Err(FieldError::NotSolved("this integrator"));
        };
        let expanded = self.expand_by(&mut part, (t, x), order, into);
        if expanded.is_err() {
            part.input.clear();
        }
        self.parts.expansion = Some(part);
        expanded
    }
}

impl Field {
    fn expand_by(
        &mut self,
        part: &mut Part,
        (t, x): (f64, &[f64]),
        order: usize,
        into: &mut Fours,
    ) -> Result<Expanded, FieldError> {
        let (n, size, terms) = (self.n, self.size, order + 1);
        if self.known_rates.is_some() {
            return Err(FieldError::NotSolved("this integrator"));
        }
        // The same motion as last time, if the field is on the same branches.
        let (moved, modes) = (n + size, self.switchboard.first_input..part.places.rates);
        let is_known = part.order == order
            && part.rows == self.rows
            && part.input.len() > modes.end
            && into.terms() == terms
            && into.components() == moved + 1
            && is_same(&[part.input[0], into.at(moved, 0)], &[t, x[moved]])
            && is_same(&part.input[1..=moved], &x[..moved])
            && is_same(&part.input[modes.clone()], &self.work.input[modes]);
        if is_known {
            return Ok(Expanded::Before);
        }
        self.evaluate(t, x)?;
        self.solve()?;
        let Work { input, outcome, .. } = &*self.work;
        part.input.clear();
        part.input.extend_from_slice(input);
        part.input.extend_from_slice(&outcome.v_dot);
        part.input.resize(part.places.multiplier(part.places.rows), 0.0);
        for (&row, &value) in self.rows.iter().zip(&outcome.multipliers) {
            part.input[part.places.multiplier(row)] = value;
        }
        part.rows.clone_from(&self.rows);
        // Positions may be ahead of the velocities by one.
        if part.order != order {
            part.jets = part.series.jets(order + 1);
            part.series.prepare(&mut part.jets, &part.constants);
            part.order = order;
        }
        into.shape(terms, &[n, size, 1]);
        if let Some(implicit) = &self.auxiliary {
            part.behind.factor(implicit, &mut self.work);
        }
        part.code();
        part.begin(&self.work.outcome.v_dot);
        let (work, layout) = (&mut *self.work, &self.layout.normal);
        let mut factors = Factors { by: self.elimination, factored: &mut work.factored };
        let all = layout.terms(&work.output, &work.metric, &work.jacobian);
        part.inverse.begin(size, self.rows.len());
        part.inverse.find(&mut factors, &all, self.coupling.is_some())?;
        if let Some(coupling) = &self.coupling {
            let forces = (&work.coupled.forces.slopes[..], &work.places[..]);
            debug_assert_eq!(work.places.len(), coupling.rows.len());
            if !part.inverse.couple(forces) {
                return Err(FieldError::NotSolved("this integrator"));
            }
        }
        match part.series.is_closed() {
            true => part.run_all(),
            false => part.run_each(&mut factors, &all)?,
        }
        part.take(x[n + size], into);
        match into.not_finite() {
            None => Ok(Expanded::Now),
            Some(index) => Err(FieldError::NotFinite { what: "Taylor coefficient", index }),
        }
    }
}

/// Whether numbers are the same to the bit.
fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}
