//! Everything the doctor says of a model. Of one with contacts and friction, what is true in the
//! phase of its start.

use crate::brackets::{self, Bracket};
use crate::integrability::{Integrability, integrability};
use crate::invariants::{InvariantOptions, Invariants, invariants_watched};
use crate::left_out::{LeftOut, is_large};
use crate::places::{Places, Point};
use crate::redundancy::{Circuit, circuits};
use crate::rows::{self, Forms};
use crate::shown::Shown;
use crate::uniqueness::{Uniqueness, uniqueness};
use crate::watch::{Interrupted, Watch};
use dalembert_derive::Formulation;
use dalembert_derive::formulations::lagrange;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Constraint, Level, Model, System};
use dalembert_simulate::phases::Here;
use dalembert_simulate::report::{self, EvalError, Options};
use dalembert_simulate::{Evaluation, Numbers, Refusal, Setting, Start, State, start};

/// Random consistent states beside the start.
const STATES: usize = 5;

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// F and G of a bracket {F, G}_r.
    pub bracket: Option<[ExprId; 2]>,
    /// Whether to look for singular configurations, potentials and integrals, which may
    /// take a while.
    pub searches: bool,
}

/// What is true of a model.
pub struct Analysis {
    /// The consistent start.
    pub start: Start,
    /// Whether the motion is unique.
    pub uniqueness: Uniqueness,
    /// Ranks and degrees of freedom.
    pub freedom: Freedom,
    /// Minimal dependent sets of rows.
    pub circuits: Vec<Circuit>,
    /// Whether these are all.
    pub circuits_are_all: bool,
    /// The kind of each constraint, in words.
    pub kinds: Vec<Vec<&'static str>>,
    /// Frobenius and the derived flag.
    pub integrability: Integrability,
    /// The reduced bracket, or why there is none.
    pub bracket: Result<Bracket, String>,
    /// The Jacobi defect; `None` where there is no J_r.
    pub jacobi_defect: Option<f64>,
    /// {F, G}_r, if asked for, with its value at the start.
    pub value: Option<(brackets::Value, Option<f64>)>,
    /// Relations φ(q, t) = c behind rows at velocity level, each verified.
    pub potentials: Vec<crate::potential::Potential>,
    /// Singular configurations near the start, if they were looked for.
    pub singular: Option<crate::singular::Search>,
    /// What is conserved, if it was looked for and the identity could be formed.
    pub conserved: Option<Invariants>,
    /// What is probably not meant, or worth knowing.
    pub findings: Vec<Diagnostic>,
    /// What was not looked at because the system is large.
    pub left_out: Vec<LeftOut>,
    /// The phase of contacts and friction at the start, if there are any: all of this is of its model.
    pub phase: Option<Here>,
}

/// Coordinates in which J_r is the constant matrix (25) of van der Schaft & Maschke.
#[derive(Clone, Debug)]
pub struct Canonical {
    /// Names of q̄.
    pub q: Vec<String>,
    /// What p̄ is, in the language: p̃ = Sᵀp.
    pub p: Vec<String>,
    /// What s̄ is, as far as potentials of the rows were found.
    pub s: Vec<String>,
}

impl Analysis {
    /// How many positions are independent: n less the integrable combinations.
    pub fn configuration_freedom(&self) -> Option<usize> {
        self.integrability.integrable.map(|i| self.freedom.coordinates.saturating_sub(i))
    }

    /// An expression of the bracket for readers.
    pub fn readable(&self, exprs: &Exprs, id: ExprId) -> ExprId {
        brackets::readable(exprs, id)
    }

    /// The canonical coordinates of a bracket that satisfies the Jacobi identity.
    pub fn canonical(&self, model: &Model) -> Option<Canonical> {
        let bracket = self.bracket.as_ref().ok()?;
        if self.jacobi_defect != Some(0.0) || model.system.constraints.is_empty() {
            return None;
        }
        let exprs = &model.exprs;
        let chart = &bracket.equations.chart.as_ref()?.chart;
        let names = model.system.coordinates.iter().enumerate();
        let free = names.filter(|(at, _)| !chart.columns.contains(at)).map(|(_, c)| c.name.clone());
        let p = bracket.equations.own.iter().map(|&e| brackets::readable(exprs, e));
        let position = |c: &&Constraint| c.level == Level::Position;
        let rows = model.system.constraints.iter().filter(position).map(|c| c.residual);
        let known = rows.chain(self.potentials.iter().map(|p| p.expression));
        Some(Canonical {
            q: free.collect(),
            p: p.map(|e| exprs.to_source(e)).collect(),
            s: known.map(|e| exprs.to_source(e)).collect(),
        })
    }
}

/// Ranks and degrees of freedom.
#[derive(Clone, Debug)]
pub struct Freedom {
    /// n.
    pub coordinates: usize,
    /// m.
    pub constraints: usize,
    /// rank A at a generic consistent state.
    pub rank: usize,
    /// rank A at the start.
    pub rank_at_start: usize,
    /// Rank of the rows among positions.
    pub rank_of_positions: usize,
    /// How the rank was established.
    pub shown: Shown,
}

impl Freedom {
    /// n − rank A: independent velocities.
    pub fn degrees_of_freedom(&self) -> usize {
        self.coordinates - self.rank
    }
}

/// Analyzes a model whose parameters all have values.
pub fn analyze(model: &Model, request: &Request) -> Result<Analysis, EvalError> {
    match analyze_watched(model, request, &Watch::nobody()) {
        Ok(found) => found,
        Err(Interrupted) => unreachable!("nobody watches"),
    }
}

/// The same, watched: the caller hears what is being done, and may end it.
pub fn analyze_watched(
    model: &Model,
    request: &Request,
    watch: &Watch,
) -> Result<Result<Analysis, EvalError>, Interrupted> {
    match steps(model, request, watch) {
        Ok(found) => Ok(Ok(found)),
        Err(Stop::Failed(error)) => Ok(Err(error)),
        Err(Stop::Interrupted) => Err(Interrupted),
    }
}

/// Why an analysis ended early.
enum Stop {
    Failed(EvalError),
    Interrupted,
}

impl From<EvalError> for Stop {
    fn from(error: EvalError) -> Stop {
        Stop::Failed(error)
    }
}

impl From<Interrupted> for Stop {
    fn from(_: Interrupted) -> Stop {
        Stop::Interrupted
    }
}

fn steps(model: &Model, request: &Request, watch: &Watch) -> Result<Analysis, Stop> {
    watch.on("looking for a consistent start")?;
    let setting = Setting::new(model).map_err(EvalError::Missing)?;
    let mut start = start::start(&setting).map_err(EvalError::Start)?;
    watch.on("deriving and evaluating at the start")?;
    let given = model;
    let phase = report::phase_at(&setting, &start.state)?;
    let setting = phase.as_ref().map_or(setting, |here| here.setting.clone());
    if let Some(here) = &phase {
        start.state.clone_from(&here.state);
    }
    // With what rows that nearly depend on each other determine.
    let model = &*setting.model;
    let (exprs, system) = (&model.exprs, &model.system);
    let found = report::at(&setting, &start.state, &Options::of_model(model))?;
    let evaluation = evaluation(&setting, &start.state, &found)?;
    let refused = |faults| EvalError::Refused(Refusal::Formulation(faults));
    let picture = Picture::for_numbers(exprs, system).map_err(refused)?;
    let lagrange = lagrange::equations(exprs, &picture);
    let values = rows::parameter_values(exprs, system);
    let at = start.state.table(system);
    let vanishes = |e: ExprId| {
        let noisy = setting.evaluate(&[e], &at)[0];
        noisy.value.abs() <= 1e-9 * noisy.noise / f64::EPSILON
    };
    let forms = Forms::near(exprs, system, &picture, &vanishes);

    watch.on("looking for other consistent states")?;
    let mut left_out = Vec::new();
    let is_large = is_large(system.n_coordinates(), system.constraints.len());
    let states = match crate::surface::states(&setting, &start, STATES) {
        Ok(states) => states,
        Err(why) => {
            left_out.push(why);
            Vec::new()
        }
    };
    let is_confined = system.constraints.iter().any(|c| c.level == Level::Position)
        || !forms.nonlinear.is_empty();
    let point = |state: &State| Point::of_system(system, state, is_confined);
    let at_start = point(&start.state);
    // The start comes last: a generic state is preferred where ranks are equal.
    let mut points: Vec<Point> = states.iter().map(point).collect();
    points.push(at_start.clone());
    let places = Places { points, confined: is_confined };

    watch.on("counting the degrees of freedom")?;
    let jacobian = rows::replaced(exprs, &lagrange.jacobian, &values);
    let ranked = places.rank(exprs, &jacobian);
    let outcome = &evaluation.outcome;
    let positions: Vec<usize> = (0..system.constraints.len())
        .filter(|&r| system.constraints[r].level == Level::Position)
        .collect();
    let freedom = Freedom {
        coordinates: system.n_coordinates(),
        constraints: system.constraints.len(),
        rank: ranked.as_ref().map_or(0, |r| r.rank()).max(outcome.rank.jacobian),
        rank_at_start: outcome.rank.jacobian,
        rank_of_positions: match &ranked {
            Some(ranked) if positions.len() == system.constraints.len() => ranked.rank(),
            _ => rank_of(&positions, &jacobian, &places, exprs),
        },
        shown: ranked.as_ref().map_or(Shown::AtState, |r| r.shown.clone()),
    };
    // Circuits where the rank is generic; elsewhere other rows depend on each other.
    let all_states: Vec<&State> = states.iter().chain([&start.state]).collect();
    let (generic, independent) = match &ranked {
        Some(r) => (r.place.unwrap_or(all_states.len() - 1), r.at.rows.clone()),
        None => (all_states.len() - 1, outcome.independent.clone()),
    };
    let (found_circuits, circuits_are_all) = if independent.len() == system.constraints.len() {
        (Vec::new(), true)
    } else if is_large {
        left_out.push(LeftOut::DependentSets);
        (Vec::new(), false)
    } else {
        match Numbers::new(&setting, &lagrange, all_states[generic]) {
            Ok(numbers) => circuits(&numbers, &independent),
            Err(_) => (Vec::new(), false),
        }
    };

    watch.on("testing whether the constraints integrate")?;
    let integrability = integrability(exprs, system, &forms, &places, &at_start);
    left_out.extend(integrability.left_out);
    let ideal = ideal_rows(system, &lagrange.jacobian, &lagrange.nonideal);
    let kinds = system
        .constraints
        .iter()
        .enumerate()
        .map(|(row, c)| rows::kinds(c, row, &forms, integrability.rows[row], ideal[row]))
        .collect();

    watch.on("writing the reduced bracket")?;
    let regular = outcome.rank.metric == system.n_coordinates();
    let refusal = brackets::refusal(exprs, system, &forms, regular);
    let mut jacobi_defect = None;
    let bracket = match (refusal, &integrability.flag) {
        (Some(why), _) => Err(why),
        (None, None) => {
            // Holonomic rows satisfy the identity, written out or not.
            jacobi_defect = integrability.holonomic.filter(|h| *h).map(|_| 0.0);
            Err(integrability.note.clone().unwrap_or_else(|| "J_r is too large to write".into()))
        }
        // p̃ takes all entries of M.
        (None, Some(_)) if picture.bodies.is_some() => {
            jacobi_defect = integrability.holonomic.filter(|h| *h).map(|_| 0.0);
            Err("J_r is too large to write".into())
        }
        (None, Some(flag)) => {
            jacobi_defect = brackets::defect(exprs, &picture, &values, &forms, flag, &places);
            Bracket::of(exprs, system, &forms, flag).ok_or_else(|| {
                "J_r is too large to write, or L is not quadratic in the velocities".to_owned()
            })
        }
    };
    let value = match (&bracket, request.bracket) {
        (Ok(bracket), Some([f, g])) => {
            let value = bracket.value(exprs, system, f, g);
            let number =
                brackets::at_state(&setting, &bracket.equations, &start.state, value.bracket);
            Some((value, number))
        }
        _ => None,
    };
    watch.on("looking for relations behind the constraints")?;
    let potentials = if request.searches {
        crate::potential::potentials(&setting, &forms, &integrability, &places, &start.state)
    } else {
        Vec::new()
    };
    watch.on("looking for singular configurations")?;
    let singular = match request.searches {
        true => crate::singular::search(&setting, &lagrange, &start.state, &states, &independent),
        false => None,
    };
    // What is conserved is looked for with all entries of M.
    let has_entries = !is_large && picture.bodies.is_none();
    left_out.extend((request.searches && !has_entries).then_some(LeftOut::Integrals));
    let conserved = match request.searches && has_entries {
        true => invariants_watched(&setting, &start, &InvariantOptions::default(), watch)?.ok(),
        false => None,
    };
    watch.on("looking for what is probably not meant")?;
    let uniqueness = uniqueness(exprs, system, &start.state, &evaluation, &found);
    Ok(Analysis {
        start,
        uniqueness,
        freedom,
        circuits: found_circuits,
        circuits_are_all,
        kinds,
        integrability,
        bracket,
        jacobi_defect,
        value,
        potentials,
        singular,
        conserved,
        findings: crate::lint::lint(given),
        left_out,
        phase,
    })
}

/// What the model's own route says at the start, or Lagrange's where it does not
/// apply.
fn evaluation(
    setting: &Setting,
    state: &State,
    found: &report::Report,
) -> Result<Evaluation, EvalError> {
    if let Some(Ok(evaluation)) = found.answers.first().map(|a| &a.result) {
        return Ok(evaluation.clone());
    }
    let lagrange: &'static dyn Formulation = &lagrange::FORMULATION;
    let mut options = Options::of_model(&setting.model);
    options.formulations = vec![lagrange];
    options.eliminations = vec![dalembert_simulate::DEFAULT];
    let report = report::at(setting, state, &options)?;
    match report.answers.into_iter().next().map(|a| a.result) {
        Some(Ok(evaluation)) => Ok(evaluation),
        Some(Err(refusal)) => Err(EvalError::Refused(refusal)),
        None => Err(EvalError::Refused(Refusal::Undefined)),
    }
}

fn rank_of(rows: &[usize], jacobian: &Jacobian, places: &Places, exprs: &Exprs) -> usize {
    let part = Jacobian {
        rows: rows.iter().map(|&r| jacobian.rows[r].clone()).collect(),
        columns: jacobian.columns,
    };
    if rows.is_empty() { 0 } else { places.rank(exprs, &part).map_or(0, |r| r.rank()) }
}

/// Per row: whether no non-ideal force acts on a coordinate that it restricts.
fn ideal_rows(system: &System, jacobian: &Jacobian, nonideal: &[ExprId]) -> Vec<bool> {
    let acts = |at: usize| nonideal.get(at).is_some_and(|&c| c != ExprId::ZERO);
    (0..system.constraints.len())
        .map(|row| !jacobian.rows[row].iter().any(|&(at, _)| acts(at)))
        .collect()
}

impl Point {
    /// A state of a system: positions, velocities, momenta and time.
    pub fn of_system(system: &System, state: &State, rounded: bool) -> Point {
        let mut point = Point::of_state(&system.positions(), state, rounded);
        let pairs = |symbols: Vec<Symbol>, values: &[f64]| -> Vec<(Symbol, f64)> {
            symbols.into_iter().zip(values.iter().copied()).collect()
        };
        point.set(&pairs(system.velocities(), &state.velocity), rounded);
        point.set(&pairs(system.momenta(), &state.momentum), rounded);
        point
    }
}
