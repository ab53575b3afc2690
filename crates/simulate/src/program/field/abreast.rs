//! What is compiled for motions that are moved abreast: everything that a step needs where nothing
//! is to be decided.
//!
//! ```text
//! terms    (t, q, v) → q̇, v̇, λ, S, φ, ψ       S: the inverse of [Γ −Aᵀ; A 0], rows in use
//! hold     (t, q, v) → S_b, φ, ψ              S_b: the columns of S for the rows
//! rows     (t, q, v) → φ, ψ
//! series   the residual form on jets
//! watched  (t, q, v) → functions of events, guards of branches, on intervals
//! branches (t, q, v) → the branches of the terms
//! ```
//!
//! each for one motion or for several at once, with the same bits. The parameters are variables
//! here, so that motions abreast may have different ones. Coordinates and rows are in the order of
//! one decision, whose pivots are watched: where one falls the terms are no numbers, and the
//! motion needs a decision of its own.
//!
//! It applies to what is solved straight ([`Factored::straight`]) and has series that are closed,
//! without unknowns behind v, forces by multipliers or angles that are continued; and with constraints
//! only where q̇ is v, so that positions are held by the rows that hold velocities. Branches are
//! inputs beside (t, q, v), and turn where a function that is watched is zero.
//!
//! [`Factored::straight`]: dalembert_gauss::Factored::straight

use super::expansion::{Places, Planned};
use super::{Arguments, Field};
use dalembert_compile::enclosure::Enclosure;
use dalembert_compile::series::Series;
use dalembert_compile::{Backend, Function, Given, Problem, Tape, backends};
use dalembert_expr::ExprId;
use std::ops::Range;
use std::sync::Arc;

/// The compiled parts, shared by all motions.
#[derive(Clone)]
pub(crate) struct Abreast {
    pub(crate) n: usize,
    pub(crate) size: usize,
    /// How many rows A has.
    pub(crate) all_rows: usize,
    /// The rows in use and the coordinates, in the order of the decision.
    pub(crate) rows: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    /// Whether q̇ is v.
    pub(crate) is_rate: bool,
    /// How many inputs there are ahead of the parameters: t, q, v and branches.
    pub(crate) inputs: usize,
    pub(crate) parameters: usize,
    pub(crate) terms: Arc<dyn Function>,
    /// How many instructions they are.
    pub(crate) instructions: usize,
    pub(crate) places: TermPlaces,
    /// Where the values that series begin with are among their outputs: to the end.
    pub(crate) values: Option<usize>,
    pub(crate) hold: Option<Arc<dyn Function>>,
    pub(crate) residuals: Option<Arc<dyn Function>>,
    /// How many φ and ψ there are, and of each row in use, where it is among them.
    pub(crate) residual_counts: [usize; 2],
    pub(crate) held: Vec<[Option<usize>; 2]>,
    /// Rows that are not in use: where they are among φ and ψ, and which coordinates they have.
    pub(crate) unused: Vec<Unused>,
    /// What the decision goes by, beside the terms.
    pub(crate) own: Vec<f64>,
    pub(crate) series: Arc<Series>,
    pub(crate) series_places: SeriesPlaces,
    /// What may not be zero in a step; none where there is nothing such.
    pub(crate) watched: Option<Watched>,
    /// What does not show in series; none where there is nothing such.
    pub(crate) narrow: Option<Arguments>,
}

/// Functions of (t, q, v), branches and parameters that are not zero in a step at which nothing is
/// to be decided.
#[derive(Clone)]
pub(crate) struct Watched {
    pub(crate) enclosure: Enclosure,
    pub(crate) count: usize,
    /// Those of events, at first; boundaries and guards follow.
    pub(crate) events: usize,
    /// The branches at a state, and how many there are.
    pub(crate) branches: Option<Arc<dyn Function>>,
    pub(crate) switches: usize,
}

/// The functions of a step.
struct Compiled {
    terms: Arc<dyn Function>,
    instructions: usize,
    places: TermPlaces,
    values: Option<usize>,
    hold: Option<Arc<dyn Function>>,
    residuals: Option<Arc<dyn Function>>,
}

/// A row that is not in use.
#[derive(Clone)]
pub(crate) struct Unused {
    pub(crate) residuals: [Option<usize>; 2],
    /// Its coordinates, and their entries among the outputs of the terms.
    pub(crate) entries: Vec<(usize, usize)>,
}

/// Where outputs of the terms begin.
#[derive(Clone, Copy)]
pub(crate) struct TermPlaces {
    pub(crate) rates: usize,
    /// No number where a pivot has fallen.
    pub(crate) last: usize,
    pub(crate) multipliers: usize,
    /// Column by column: accelerations, then multipliers.
    pub(crate) inverse: usize,
    pub(crate) residuals: usize,
    pub(crate) count: usize,
}

/// Where the variables of the series are.
#[derive(Clone, Copy)]
pub(crate) struct SeriesPlaces {
    pub(crate) velocities: usize,
    pub(crate) rates: usize,
    pub(crate) multipliers: usize,
    pub(crate) parameters: usize,
    /// The first output that is a rate of a position.
    pub(crate) kinematics: usize,
}

impl SeriesPlaces {
    fn of(places: &Places, rows: usize) -> SeriesPlaces {
        SeriesPlaces {
            velocities: places.velocity(0),
            rates: places.rates,
            multipliers: places.multiplier(0),
            parameters: places.multiplier(rows),
            kinematics: places.kinematics(0),
        }
    }
}

impl Field {
    /// What is compiled for motions abreast, by the decision at hand; none if it does not apply.
    /// Functions that are not to be zero in a step are those of so many events, and others.
    pub(crate) fn abreast(&self, functions: &[ExprId], events: usize) -> Option<Abreast> {
        let is_plain = self.coupling.is_none()
            && self.auxiliary.is_none()
            && self.equations.chart.is_none()
            && self.windings.is_empty()
            // States are moved one motion after the other.
            && self.equations.states == 0;
        if !is_plain || !self.work.factored.is_decided() {
            return None;
        }
        let mut own = Vec::new();
        let (columns, rows) = self.work.factored.straight(self.elimination, &mut own)?;
        if rows.len() != self.rows.len() {
            return None;
        }
        let rows: Vec<usize> = rows.iter().map(|&row| self.rows[row]).collect();
        let planned = Planned::new(self, true).ok()?;
        let (all_rows, is_rate) = (self.equations.rows.len(), planned.is_rate);
        if !planned.series.is_closed() || !(is_rate || all_rows == 0) {
            return None;
        }
        let series_places = SeriesPlaces::of(&planned.places, all_rows);
        let watched = self.watched(functions, events)?;
        let (held, mut unused) = self.held_rows(&rows);
        let columns = columns.to_vec();
        let compiled = self.compile_abreast((&columns, &rows), &planned, &mut unused)?;
        Some(Abreast {
            n: self.n,
            size: self.size,
            all_rows,
            columns,
            is_rate,
            inputs: self.kept.variables.len(),
            parameters: self.kept.symbols.len(),
            terms: compiled.terms,
            instructions: compiled.instructions,
            places: compiled.places,
            values: compiled.values,
            hold: compiled.hold,
            residuals: compiled.residuals,
            residual_counts: [self.residuals.positions, self.residuals.velocities],
            held,
            unused,
            own,
            series: Arc::new(planned.series),
            series_places,
            watched,
            narrow: self.narrow().cloned(),
            rows,
        })
    }

    /// Makes functions, and the guards of all branches, ready for intervals; `None` where that
    /// cannot be, and none of it where there are none.
    fn watched(&self, functions: &[ExprId], events: usize) -> Option<Option<Watched>> {
        let switchboard = &self.switchboard;
        let guards = switchboard.switches.iter().flat_map(|switch| switch.guards.iter().copied());
        let roots: Vec<ExprId> = functions.iter().copied().chain(guards).collect();
        if roots.is_empty() && switchboard.switches.is_empty() {
            return Some(None);
        }
        let exprs = &self.setting.model.exprs;
        let mut symbols = self.kept.variables.clone();
        symbols.extend(&self.kept.symbols);
        let lower = |roots: &[ExprId]| Tape::lower(exprs, roots, &[], &symbols);
        let mut enclosure = Enclosure::new(lower(&roots))?;
        enclosure.prepare(&[]);
        let values: Vec<ExprId> = switchboard.switches.iter().map(|switch| switch.value).collect();
        let branches = (!values.is_empty())
            .then(|| Arc::from(backends::interpreter::BACKEND.compile(lower(&values))));
        let switches = values.len();
        Some(Some(Watched { enclosure, count: roots.len(), events, branches, switches }))
    }

    /// Where φ and ψ of each row in use are, and the rows that are not.
    fn held_rows(&self, rows: &[usize]) -> (Vec<[Option<usize>; 2]>, Vec<Unused>) {
        let equations = &self.equations;
        let of_row = |row: usize| {
            let constraint = equations.rows[row];
            let mut positions = equations.configuration_residuals.iter();
            let position = positions.position(|p| p.0 == constraint);
            let velocity = self.velocity_rows.iter().position(|&own| own == row);
            [position, velocity]
        };
        let held = rows.iter().map(|&row| of_row(row)).collect();
        let others = (0..equations.rows.len()).filter(|row| !rows.contains(row));
        let mut next = 0;
        let unused = others.map(|row| {
            let coordinates = equations.jacobian.rows[row].iter().map(|entry| entry.0);
            let entries: Vec<(usize, usize)> = coordinates.zip(next..).collect();
            next += entries.len();
            Unused { residuals: of_row(row), entries }
        });
        (held, unused.collect())
    }

    /// Where the variables of the series come from.
    fn given_to_series(
        &self,
        planned: &Planned,
        rows: &[usize],
        places: &TermPlaces,
    ) -> Vec<Given> {
        let (size, all_rows) = (self.size, self.equations.rows.len());
        let at = SeriesPlaces::of(&planned.places, all_rows);
        let (parameters, inputs) = (self.kept.symbols.len(), self.kept.variables.len());
        let mut given = vec![Given::Number(0.0); at.parameters + parameters];
        (0..inputs).for_each(|k| given[k] = Given::Variable(k));
        (0..size).for_each(|k| given[at.rates + k] = Given::Output(places.rates + k));
        for (k, row) in rows.iter().enumerate() {
            given[at.multipliers + row] = Given::Output(places.multipliers + k);
        }
        (0..parameters).for_each(|k| given[at.parameters + k] = Given::Variable(inputs + k));
        given
    }

    /// The functions, and where the entries of rows that are not in use are among their outputs.
    fn compile_abreast(
        &self,
        (columns, rows): (&[usize], &[usize]),
        planned: &Planned,
        unused: &mut [Unused],
    ) -> Option<Compiled> {
        let is_rate = planned.is_rate;
        let exprs = &self.setting.model.exprs;
        let (kept, size) = (&self.kept, self.size);
        let mut symbols = kept.variables.clone();
        symbols.extend(&kept.symbols);
        let (positions, velocities) = (self.residuals.positions, self.residuals.velocities);
        let residuals = &kept.residuals[..positions + velocities];
        let (terms, count) = (kept.terms.len(), rows.len());
        let mut problem = self.direct_problem(columns, rows)?;
        problem.weights.clear();
        // What is added to the last output is not asked for.
        problem.kept = if is_rate { 0..0 } else { problem.kept };
        let kinematics = problem.kept.len();
        let mut roots: Vec<ExprId> = kept.terms.clone();
        roots[problem.last] = ExprId::ZERO;
        roots.extend(residuals);
        let entries: Vec<ExprId> = self.layout.normal.jacobian.entries(&kept.terms).to_vec();
        let of_rows = self.equations.jacobian.rows.iter().enumerate();
        let all = of_rows.flat_map(|(row, list)| list.iter().map(move |_| row));
        let others = all.zip(&entries).filter(|(row, _)| !rows.contains(row));
        roots.extend(others.map(|(_, entry)| *entry));
        let order = size + count;
        let last = kinematics + size;
        let mut places = TermPlaces {
            rates: kinematics,
            last,
            multipliers: last + 1,
            inverse: last + 1 + count,
            residuals: last + 1 + count + order * order,
            count: last + 1 + count + order * order + roots.len() - terms,
        };
        let lower = |roots: &[ExprId]| Tape::lower(exprs, roots, &[], &symbols);
        let compile =
            |tape: Tape| -> Arc<dyn Function> { backends::machine::BACKEND.compile(tape).into() };
        problem.has_multipliers = true;
        problem.inverse = 0..order;
        problem.more = terms..roots.len();
        let tape = lower(&roots).solved(&problem);
        let instructions = tape.instructions.len();
        // What series begin with are functions of the same, sines of the same angles above all.
        let given = self.given_to_series(planned, rows, &places);
        let joined = tape.clone().followed_by(&planned.series.tape_of_values(), &given);
        let values = joined.as_ref().map(|_| places.count);
        let tape = joined.unwrap_or(tape);
        places.count = tape.outputs.len();
        let terms_function = compile(tape);
        let mut compiled = Compiled {
            terms: terms_function,
            instructions,
            places,
            values,
            hold: None,
            residuals: None,
        };
        for unused in unused {
            let first = places.residuals + residuals.len();
            unused.entries.iter_mut().for_each(|entry| entry.1 += first);
        }
        if count > 0 {
            let wanted = Problem {
                right: Vec::new(),
                kept: 0..0,
                has_multipliers: false,
                inverse: size..order,
                more: terms..terms + residuals.len(),
                ..problem
            };
            let tape = lower(&roots[..terms + residuals.len()]).solved(&wanted);
            let columns = (0..count).flat_map(|k| (0..size).map(move |i| 1 + k * order + i));
            let behind: Range<usize> = 1 + count * order..1 + count * order + residuals.len();
            compiled.hold =
                Some(compile(tape.with_outputs([0].into_iter().chain(columns).chain(behind))));
            if positions > 0 {
                compiled.residuals = Some(compile(lower(residuals)));
            }
        }
        Some(compiled)
    }
}
