//! Numbers at one state, by any formulation and any elimination, brought to the
//! same quantities so that they compare: q̈, the constraint force Qᶜ of
//! M q̈ = Q + Qᶜ, and the multipliers of least norm for the rows as written.

use crate::normal_form::{Numbers, RESIDUAL};
use crate::phases::apart;
use crate::setting::State;
use crate::setting::legendre::NewtonError;
use crate::setting::{Dependence, Doubt, Setting};
use dalembert_derive::formulations::{hamilton, lagrange};
use dalembert_derive::picture::Picture;
use dalembert_derive::{Chart, Choices, EquationsOfMotion, Formulation, Variables};
use dalembert_gauss::certificate::Gauss;
use dalembert_gauss::coupled::CoupledError;
use dalembert_gauss::eliminations::{Elimination, Scratch, SolveError};
use dalembert_gauss::linalg::{self, lu, orthonormal};
use dalembert_gauss::multipliers::{constraint_force, recovered};
use dalembert_gauss::outcome::{Outcome, Verdict};
use dalembert_gauss::scale::{Scaled, Units};
use dalembert_gauss::terms::{Noise, Terms, Tolerances};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, Level};
use std::sync::Arc;

/// A formulation and an elimination at a state.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The formulation's name.
    pub formulation: &'static str,
    /// The elimination's name.
    pub elimination: &'static str,
    /// What they say, or why they do not apply.
    pub result: Result<Evaluation, Refusal>,
}

/// What is known of the motion at a state.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The solution in the formulation's own variables; its ranks, multipliers and
    /// null directions are those of the whole system.
    pub outcome: Outcome,
    /// What v is.
    pub variables: Variables,
    /// Names of v̇.
    pub rates: Vec<String>,
    /// q̈; empty if there is none.
    pub accelerations: Vec<f64>,
    /// Qᶜ; empty if there is no acceleration.
    pub constraint_force: Vec<f64>,
    /// Certificates.
    pub gauss: Gauss,
}

/// Why there is no answer, in words by `Display`.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The formulation does not apply to the model.
    Formulation(Vec<Diagnostic>),
    /// The formulation needs M ≻ 0.
    SingularMass {
        /// Rank of M.
        rank: usize,
        /// Number of coordinates.
        size: usize,
    },
    /// Velocities or momenta behind the formulation's variables were not found.
    Legendre(NewtonError),
    /// The state misses a velocity constraint that the formulation builds in.
    OffConstraints {
        /// The constraint's name.
        constraint: String,
        /// Its residual.
        residual: f64,
    },
    /// The formulation's own variables have no meaning at this state.
    Undefined,
    /// The elimination goes along a tree of bodies, and the equations have none.
    NoTree,
    /// The elimination does not apply, or failed.
    Solve(SolveError),
    /// The answer misses Gauss's principle by this much: doubles do not carry this route here.
    Residual(f64),
    /// Rows that doubles take for dependent add something of their own to the others.
    NearlyDependent {
        /// What they add, relative to themselves.
        ratio: f64,
        /// The constraints.
        constraints: Vec<usize>,
    },
    /// Whether rows that doubles take for dependent follow from the others is not known.
    Undecided {
        /// Why.
        why: Doubt,
        /// The constraints.
        constraints: Vec<usize>,
    },
    /// The state is a singular position: beside it, more of the constraints are independent.
    Singular {
        /// The rank at the state.
        rank: usize,
        /// The constraints that depend on each other there.
        constraints: Vec<usize>,
    },
    /// Forces and the multipliers they depend on were not found together.
    Coupled {
        /// Why.
        error: CoupledError,
        /// The name of the constraint whose multiplier is not unique, if that is why.
        constraint: Option<String>,
    },
}

impl Refusal {
    /// The same with its rows numbered otherwise.
    pub(crate) fn renumbered(mut self, number: &dyn Fn(usize) -> usize) -> Refusal {
        match &mut self {
            Refusal::NearlyDependent { constraints, .. }
            | Refusal::Undecided { constraints, .. }
            | Refusal::Singular { constraints, .. } => {
                constraints.iter_mut().for_each(|row| *row = number(*row));
            }
            Refusal::Coupled { error: CoupledError::NotUnique { row }, .. } => *row = number(*row),
            _ => {}
        }
        self
    }

    /// A refusal with the names of the constraints.
    pub fn coupled(error: CoupledError, setting: &Setting) -> Refusal {
        let constraints = &setting.model.system.constraints;
        match error {
            CoupledError::Solve(error) => Refusal::Solve(error),
            CoupledError::NotUnique { row } => {
                Refusal::Coupled { error, constraint: Some(constraints[row].name.clone()) }
            }
            error => Refusal::Coupled { error, constraint: None },
        }
    }

    /// A refusal because there are no numbers.
    fn numbers(error: NewtonError, setting: &Setting) -> Refusal {
        match error {
            NewtonError::Coupled(error) => Refusal::coupled(error, setting),
            other => Refusal::Legendre(other),
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Formulation(list) => {
                let words: Vec<&str> = list.iter().map(|d| d.message.as_str()).collect();
                f.write_str(&words.join("; "))
            }
            Refusal::SingularMass { rank, size } => write!(
                f,
                "the mass matrix is singular at this state (rank {rank} of {size}), so momenta do not determine velocities"
            ),
            Refusal::Legendre(error) => error.fmt(f),
            Refusal::OffConstraints { constraint, residual } => write!(
                f,
                "the state misses the velocity constraint `{constraint}` by {residual:.3e}, and this formulation lives on the constraints"
            ),
            Refusal::Undefined => {
                f.write_str("the variables of this formulation are singular at this state")
            }
            Refusal::NoTree => f.write_str(
                "this elimination goes along a tree of bodies, which these equations do not have",
            ),
            Refusal::Solve(error) => error.fmt(f),
            Refusal::Residual(residual) => write!(
                f,
                "what this route gives misses Gauss's principle by {residual:.1e}: at this state it loses too many digits"
            ),
            Refusal::NearlyDependent { ratio, .. } => write!(
                f,
                "constraints nearly depend on each other, by {ratio:.1e}: doubles do not tell what \
                 they determine"
            ),
            Refusal::Undecided { why, .. } => write!(
                f,
                "whether constraints follow from each other, or nearly do, is not decided: {why}"
            ),
            Refusal::Singular { rank, .. } => write!(
                f,
                "this is a singular position: {rank} of the constraints are independent here, and \
                 more beside it, so that what they say here does not tell the accelerations"
            ),
            Refusal::Coupled { error, constraint } => {
                f.write_str(&error.named(|_| constraint.as_deref().unwrap_or_default()))
            }
        }
    }
}

/// A system at a state in Lagrange's variables: what every answer is measured by.
pub struct Reference {
    /// Lagrange's equations.
    pub equations: Arc<EquationsOfMotion>,
    /// Their numbers.
    pub numbers: Numbers,
    /// Their solution by the default elimination.
    pub outcome: Outcome,
}

impl Reference {
    /// The reference of a state: in Lagrange's variables; in momenta where these determine the
    /// velocities and not the reverse (H_pp singular), which without constraints does no harm.
    pub fn of(
        setting: &Setting,
        state: &State,
        tolerances: &Tolerances,
    ) -> Result<Reference, Refusal> {
        let lagrange = setting.lagrange().map_err(Refusal::Formulation)?;
        Reference::by(setting, &lagrange, state, tolerances)
    }

    /// The same with the picture of the setting's system.
    pub(crate) fn on(
        setting: &Setting,
        picture: &Picture,
        state: &State,
        tolerances: &Tolerances,
    ) -> Result<Reference, Refusal> {
        let lagrange = Arc::new(lagrange::equations(&setting.model.exprs, picture));
        Reference::by(setting, &lagrange, state, tolerances)
    }

    fn by(
        setting: &Setting,
        lagrange: &Arc<EquationsOfMotion>,
        state: &State,
        tolerances: &Tolerances,
    ) -> Result<Reference, Refusal> {
        let model = &*setting.model;
        let found = Reference::new(setting, lagrange, state, tolerances);
        let is_singular = matches!(
            found,
            Err(Refusal::Solve(SolveError::NotFinite { .. }) | Refusal::Legendre(_))
        );
        let by_h = matches!(model.system.energy, Energy::Hamiltonian { .. });
        if is_singular && by_h && model.system.constraints.is_empty() {
            let hamilton =
                setting.equations(&hamilton::FORMULATION).map_err(Refusal::Formulation)?;
            if let Ok(canonical) = Reference::new(setting, &hamilton, state, tolerances) {
                return Ok(canonical);
            }
        }
        let found = found?;
        if found.outcome.rank.jacobian == found.equations.rows.len() {
            return Ok(found);
        }
        match setting.dependence(&found.equations, state) {
            Dependence::Nearly(nearly) => {
                let (ratio, constraints) = (nearly.ratio, nearly.constraints());
                Err(Refusal::NearlyDependent { ratio, constraints })
            }
            Dependence::Undecided(why) => {
                Err(Refusal::Undecided { why: *why, constraints: found.dependent_rows() })
            }
            Dependence::Singular | Dependence::Follows => Ok(found),
        }
    }

    /// The same at a state whose accelerations are asked for: they are not known in a singular
    /// position.
    pub fn regular(
        setting: &Setting,
        state: &State,
        tolerances: &Tolerances,
    ) -> Result<Reference, Refusal> {
        let found = Reference::of(setting, state, tolerances)?;
        let rank = found.outcome.rank.jacobian;
        let is_full = rank == found.equations.rows.len();
        if !is_full && *setting.dependence(&found.equations, state) == Dependence::Singular {
            return Err(Refusal::Singular { rank, constraints: found.dependent_rows() });
        }
        Ok(found)
    }

    /// The constraints whose multipliers are not determined.
    fn dependent_rows(&self) -> Vec<usize> {
        let rows = self.equations.rows.iter().zip(&self.outcome.indeterminate);
        rows.filter(|(_, open)| **open).map(|(row, _)| *row).collect()
    }

    /// Whether the variables are momenta.
    fn is_canonical(&self) -> bool {
        self.equations.variables == Variables::Momenta
    }

    /// The reference of a state.
    pub fn new(
        setting: &Setting,
        equations: &Arc<EquationsOfMotion>,
        state: &State,
        tolerances: &Tolerances,
    ) -> Result<Reference, Refusal> {
        let numbers = Numbers::at(setting, equations, state)
            .map_err(|error| Refusal::numbers(error, setting))?;
        let mut outcome = Outcome::default();
        dalembert_gauss::DEFAULT
            .solve(&mut Scratch::default(), &numbers.terms(), tolerances, &mut outcome)
            .map_err(Refusal::Solve)?;
        Ok(Reference { equations: Arc::clone(equations), numbers, outcome })
    }

    /// A chart of the affine rows that is well conditioned at this state.
    pub fn chart(&self, setting: &Setting) -> Option<Chart> {
        let (n, system) = (self.numbers.size, &setting.model.system);
        let by_momenta = self.equations.auxiliary.is_some();
        // A force that depends on a multiplier needs the row it belongs to.
        let is_in_force = |row: usize| self.equations.multipliers.iter().any(|m| m.0 == row);
        let affine: Vec<usize> = (0..system.constraints.len())
            .filter(|&row| !is_in_force(row))
            .filter(|&row| match system.constraints[row].level {
                Level::Position => true,
                Level::Velocity => system.constraints[row].affine && !by_momenta,
                Level::Acceleration => false,
            })
            .collect();
        let affine = self.independent(affine);
        // Sizes of coordinates come from the mass. Columns brought to equal size instead would
        // make a velocity that hardly enters the rows as good a choice as any.
        let mut scaled = Scaled::default();
        let numbers = self.numbers.clone().with_zeros();
        scaled.set(&numbers.terms()).ok()?;
        // Massless coordinates have no size of their own. They are the better ones to depend on
        // the others: large entries of S in their rows do not enter SᵀMS.
        const MASSLESS: f64 = 256.0;
        let weight = |i: usize| if scaled.massless[i] { MASSLESS } else { 1.0 };
        let matrix: Vec<f64> = affine
            .iter()
            .flat_map(|&row| scaled.jacobian[row * n..(row + 1) * n].iter().enumerate())
            .map(|(i, a)| a * weight(i))
            .collect();
        let tolerance = 1e-10 / MASSLESS;
        let (rows, columns) = lu::pivots_as_scaled(matrix, affine.len(), n, tolerance);
        // In the order of the system: what is read is the same for the same choice.
        let mut pairs: Vec<(usize, usize)> =
            rows.into_iter().map(|row| affine[row]).zip(columns).collect();
        pairs.sort_unstable();
        Some(Chart {
            rows: pairs.iter().map(|p| p.0).collect(),
            columns: pairs.iter().map(|p| p.1).collect(),
        })
    }

    /// Independent ones among rows, decided where all ranks are: rows that are noise
    /// must not become pivots.
    fn independent(&self, rows: Vec<usize>) -> Vec<usize> {
        let n = self.numbers.size;
        let pick = |from: &[f64]| -> Vec<f64> {
            rows.iter().flat_map(|&r| from[r * n..(r + 1) * n].iter().copied()).collect()
        };
        let numbers = self.numbers.clone().with_zeros();
        let terms = numbers.terms();
        let (jacobian, zero) = (pick(terms.jacobian), vec![0.0; n.max(rows.len())]);
        let jacobian_noise = pick(&numbers.jacobian_noise);
        let problem = Terms {
            m: rows.len(),
            force: &zero[..n],
            nonideal: &zero[..n],
            jacobian: &jacobian,
            bias: &zero[..rows.len()],
            noise: Some(Noise {
                metric: &numbers.metric_noise,
                force: &zero[..n],
                jacobian: &jacobian_noise,
                bias: &zero[..rows.len()],
            }),
            ..terms
        };
        let mut outcome = Outcome::default();
        let mut scratch = Scratch::default();
        match dalembert_gauss::DEFAULT.solve(
            &mut scratch,
            &problem,
            &Tolerances::default(),
            &mut outcome,
        ) {
            Ok(()) => outcome.independent.iter().map(|&at| rows[at]).collect(),
            Err(_) => rows,
        }
    }
}

/// All pairs of the formulations and eliminations at a state, beside its reference.
pub fn evaluate(
    setting: &Setting,
    state: &State,
    reference: &Reference,
    formulations: &[&'static dyn Formulation],
    eliminations: &[&'static dyn Elimination],
    choices: &Choices,
    tolerances: &Tolerances,
) -> Vec<Answer> {
    let mut answers = Vec::new();
    for &formulation in formulations {
        let prepared = prepare(setting, state, formulation, reference, choices);
        for &elimination in eliminations {
            let own = match elimination.is_along_tree() {
                true => Some(along_tree(setting, state, &prepared)),
                false => None,
            };
            let result = match own.as_ref().unwrap_or(&prepared) {
                Err(refusal) => Err(refusal.clone()),
                Ok((equations, numbers)) => {
                    let at = (setting, state);
                    solve(at, equations, numbers, elimination, reference, tolerances)
                }
            };
            answers.push(Answer {
                formulation: formulation.name(),
                elimination: elimination.name(),
                result,
            });
        }
    }
    answers
}

/// Equations and their numbers at a state.
type Prepared = (Arc<EquationsOfMotion>, Numbers);

/// Derives and evaluates a formulation at a state.
fn prepare(
    setting: &Setting,
    state: &State,
    formulation: &dyn Formulation,
    reference: &Reference,
    choices: &Choices,
) -> Result<Prepared, Refusal> {
    let rank = &reference.outcome.rank;
    if formulation.needs_regular_mass() && rank.metric < rank.coordinates {
        return Err(Refusal::SingularMass { rank: rank.metric, size: rank.coordinates });
    }
    // The reference's own are there, and a large Γ of bodies is not formed in them.
    let (equations, numbers) = match formulation.name() == reference.equations.formulation {
        true => (Arc::clone(&reference.equations), reference.numbers.clone()),
        false => derived(setting, state, formulation, reference, choices)?,
    };
    if numbers.kinematics.iter().chain(&numbers.lift).any(|x| !x.is_finite()) {
        return Err(Refusal::Undefined);
    }
    // The velocities must be those of the state: a formulation whose state space
    // is the constraint set has no other ones.
    let size = linalg::largest(&state.velocity);
    let off =
        numbers.kinematics.iter().zip(&state.velocity).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
    if off > 1e-8 * size.max(f64::MIN_POSITIVE) {
        let residuals =
            reference.equations.velocity_residuals.iter().zip(&reference.numbers.velocity);
        let worst = residuals.max_by(|a, b| a.1.value.abs().total_cmp(&b.1.value.abs()));
        return Err(match worst {
            Some((&(row, _), noisy)) if equations.chart.is_some() => Refusal::OffConstraints {
                constraint: setting.model.system.constraints[row].name.clone(),
                residual: noisy.value,
            },
            _ => Refusal::Undefined,
        });
    }
    Ok((equations, numbers))
}

/// The same equations with Γ as that of bodies along a tree.
fn along_tree(
    setting: &Setting,
    state: &State,
    prepared: &Result<Prepared, Refusal>,
) -> Result<Prepared, Refusal> {
    let (equations, numbers) = prepared.as_ref().map_err(Refusal::clone)?;
    if equations.bodies.is_some() {
        return Ok((Arc::clone(equations), numbers.clone()));
    }
    let model = &*setting.model;
    if equations.formulation != lagrange::FORMULATION.name() {
        return Err(Refusal::NoTree);
    }
    let picture = Picture::along_tree(&model.exprs, &model.system).map_err(Refusal::Formulation)?;
    let equations = Arc::new(lagrange::equations(&model.exprs, &picture));
    if equations.bodies.is_none() {
        return Err(Refusal::NoTree);
    }
    let numbers = Numbers::at(setting, &equations, state)
        .map_err(|error| Refusal::numbers(error, setting))?;
    Ok((equations, numbers))
}

fn derived(
    setting: &Setting,
    state: &State,
    formulation: &dyn Formulation,
    reference: &Reference,
    choices: &Choices,
) -> Result<Prepared, Refusal> {
    let model = &*setting.model;
    let equations = match formulation.has_chart() || choices.is_made() {
        false => setting.equations(formulation),
        true => {
            let mut choices = choices.clone();
            if choices.chart.is_none() && formulation.has_chart() {
                choices.chart = reference.chart(setting);
            }
            formulation.derive(&model.exprs, &model.system, &choices).map(Arc::new)
        }
    };
    let equations = equations.map_err(Refusal::Formulation)?;
    let numbers = Numbers::at(setting, &equations, state)
        .map_err(|error| Refusal::numbers(error, setting))?;
    Ok((equations, numbers))
}

fn solve(
    (setting, state): (&Setting, &State),
    equations: &EquationsOfMotion,
    numbers: &Numbers,
    elimination: &dyn Elimination,
    reference: &Reference,
    tolerances: &Tolerances,
) -> Result<Evaluation, Refusal> {
    let exprs = &setting.model.exprs;
    let variables = equations.variables;
    let mut outcome = Outcome::default();
    numbers
        .clone()
        .solve(setting, equations, elimination, tolerances, &mut outcome)
        .map_err(|error| Refusal::coupled(error, setting))?;
    let rates = equations
        .v
        .iter()
        .map(|&s| match exprs.rate(s) {
            Some(rate) => exprs.symbol_info(rate).full_name(),
            None => format!("{}'", exprs.symbol_info(s).full_name()),
        })
        .collect();
    let terms = reference.numbers.terms();
    // Directions in which q̈ is not determined.
    let null: Vec<Vec<f64>> = outcome.null.iter().map(|x| numbers.direction(x)).collect();
    let mut accelerations = Vec::new();
    if outcome.motion.exists() {
        accelerations = numbers.acceleration(&outcome.v_dot);
        project_off(&mut accelerations, &null);
    }
    if let Some(chart) = &equations.chart {
        outcome.rank.jacobian += chart.chart.rows.len();
        // Rows that the chart left out as dependent hold only if they agree.
        let gauss = Gauss::feasibility(&terms, &accelerations);
        let agrees = accelerations.is_empty() || gauss <= tolerances.inconsistent;
        if !agrees && reference.outcome.motion == Verdict::Inconsistent {
            outcome.motion = Verdict::Inconsistent;
            outcome.v_dot.clear();
            accelerations.clear();
        }
    }
    outcome.rank.constraints = terms.m;
    outcome.rank.coordinates = terms.n;
    outcome.rank.metric = reference.outcome.rank.metric;
    outcome.rank.metric_and_jacobian = terms.n - outcome.null.len();
    let vanishing: Vec<Vec<bool>> = outcome.null.iter().map(|x| numbers.vanishing(x)).collect();
    outcome.undetermined = (0..terms.n).map(|i| vanishing.iter().any(|v| !v[i])).collect();
    outcome.null = null;
    outcome.indeterminate = reference.outcome.indeterminate.clone();
    // Evidence is in coordinates and rows, whatever the variables.
    outcome.hidden = (outcome.motion == Verdict::HiddenConstraint)
        .then(|| reference.outcome.hidden.clone())
        .flatten();
    outcome.conflict = (outcome.motion == Verdict::Inconsistent)
        .then(|| reference.outcome.conflict.clone())
        .flatten();
    let system = &setting.model.system;
    if !outcome.motion.exists() {
        outcome.multipliers.clear();
        system.write_flags(&mut outcome.indeterminate);
        return Ok(Evaluation {
            outcome,
            variables,
            rates,
            accelerations: Vec::new(),
            constraint_force: Vec::new(),
            gauss: Gauss::default(),
        });
    }
    if reference.is_canonical() {
        // There are no constraints.
        let constraint_force = vec![0.0; terms.n];
        let gauss = Gauss { residual: outcome.stationarity, ..Gauss::default() };
        return Ok(Evaluation {
            outcome,
            variables,
            rates,
            accelerations,
            constraint_force,
            gauss,
        });
    }
    let constraint_force = constraint_force(&terms, &accelerations);
    let units = Units::of(&terms);
    if equations.rows.len() != terms.m {
        let own = &reference.outcome;
        outcome.multipliers =
            recovered(&terms, &units, own, &constraint_force, None).map_err(Refusal::Solve)?;
    }
    let natural = &reference.numbers.natural;
    let gauss = Gauss::new(&terms, &units, &accelerations, &constraint_force, &outcome, natural);
    let table = state.table(system);
    system.write_multipliers(&mut outcome.multipliers, &|weight| setting.number(weight, &table));
    system.write_flags(&mut outcome.indeterminate);
    let rows = reference.numbers.rows();
    apart::share(system, &rows, &mut outcome.multipliers, &mut outcome.indeterminate);
    // An answer that is none is not given: another route may have one.
    if gauss.residual > RESIDUAL {
        return Err(Refusal::Residual(gauss.residual));
    }
    Ok(Evaluation { outcome, variables, rates, accelerations, constraint_force, gauss })
}

/// x without its components along the vectors: the shortest of x + span.
fn project_off(x: &mut [f64], vectors: &[Vec<f64>]) {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        orthonormal::extend(&mut basis, vector, 0.0);
    }
    orthonormal::reject(x, &basis);
}
