//! Hidden constraints: what a model implies without saying so.
//!
//! Two kinds. If some ν has M ν = 0 and A ν = 0, then νᵀ(Q + C) = 0 must hold,
//! whatever the acceleration: a constraint χ on the state (Udwadia & Phohomsiri
//! 2006, the step from (5.39) to (5.40) in general form). If some ζ has ζᵀA = 0,
//! then ζᵀb = 0 must hold; for rows ψ at velocity level it comes from the relation
//! χ = ζᵀψ = 0, which has fewer velocities than its rows.
//!
//! A third kind belongs to constraints that inputs hold (`servo`): along a combination of them that
//! no input pushes along, the accelerations have to be those that come by themselves.
//!
//! Completion appends χ, differentiates again, and repeats until a motion exists
//! or the constraints contradict each other. On χ = 0 the multiplier of an
//! appended row of the first kind is zero.
//!
//! That it is zero may be a relation χ₂(q, q̇, λ, t) = 0 which determines coordinates λ
//! without mass (a multiplier written as a coordinate) by the rest of the state. As a row among
//! velocities it would act on the wrong ones, and vanish at rest. Its rate along the motion,
//! with the accelerations of the others put in, is one that determines λ′:
//!
//! ```text
//! χ₂_q q̇ + χ₂_t + χ₂_q̇ q̈(q, q̇, λ, t) = 0
//! ```
//!
//! and is appended; χ₂ itself is kept for the start.

use crate::normal_form::Numbers;
use crate::points::servo;
use crate::points::start::{self, Guess, Start, StartError};
use crate::setting::Setting;
use crate::setting::State;
use dalembert_derive::matrix::{self, Inverse};
use dalembert_derive::{Choices, EquationsOfMotion, for_system, picture};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_gauss::linalg::lu;
use dalembert_gauss::outcome::{Outcome, Verdict};
use dalembert_gauss::terms::Tolerances;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;
use dalembert_model::system::{Constraint, Determined, Energy, Level, Model, System};

/// A constraint that the model implies.
#[derive(Clone, Debug)]
pub struct Implied {
    /// Its residual χ.
    pub residual: ExprId,
    /// Its level.
    pub level: Level,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where an implied constraint comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A direction without mass and without constraint: the coordinates in it.
    Massless(Vec<usize>),
    /// Dependent rows: the constraints among them.
    Rows(Vec<usize>),
    /// A combination of constraints along which their inputs do not push.
    Servo(Vec<usize>),
}

/// Gaussian elimination is written out up to this size; beyond it a `solve` node
/// stands for the inverse.
const EXPLICIT: usize = 4;
/// Expressions up to this size, as trees, are simplified for the reader.
const READABLE: u64 = 60;

/// How the names of appended constraints begin.
const HIDDEN: &str = "hidden[";

/// What the equations imply at a state, as expressions: one constraint for each
/// null direction, or for each dependent row that disagrees.
pub fn implied(
    setting: &Setting,
    equations: &EquationsOfMotion,
    numbers: &Numbers,
    outcome: &Outcome,
) -> Vec<Implied> {
    match outcome.motion {
        Verdict::HiddenConstraint | Verdict::GaugeFree => massless(setting, equations, numbers),
        Verdict::Inconsistent => dependent(setting, equations, numbers),
        Verdict::Unique => Vec::new(),
    }
}

/// νᵀ(Q + C) for each independent ν in ker M ∩ ker A.
fn massless(setting: &Setting, equations: &EquationsOfMotion, numbers: &Numbers) -> Vec<Implied> {
    let exprs = &setting.model.exprs;
    let n = numbers.size;
    let (mut stacked, rows_known) = known(numbers);
    stacked.extend(rows_known);
    let (rows, columns) = lu::pivots(&stacked, n + numbers.bias.len(), n, 1e-10);
    let mut symbolic = equations.metric.clone();
    symbolic.rows.extend(equations.jacobian.rows.iter().cloned());
    let zeros = zero_parameters(setting);
    for row in &mut symbolic.rows {
        let entries: Vec<ExprId> = row.iter().map(|e| e.1).collect();
        let entries = exprs.substitute(&entries, &zeros);
        row.iter_mut().zip(entries).for_each(|(place, e)| place.1 = e);
        row.retain(|e| e.1 != ExprId::ZERO);
    }
    let total: Vec<ExprId> = (0..n)
        .map(|i| (exprs.at(equations.force[i]) + exprs.at(equations.nonideal[i])).id)
        .collect();
    let total = exprs.substitute(&total, &zeros);
    let block = matrix::part(&symbolic, &rows, &columns);
    let mut found = Vec::new();
    for free in (0..n).filter(|j| !columns.contains(j)) {
        let column = matrix::part(&symbolic, &rows, &[free]);
        let right: Vec<ExprId> = column
            .rows
            .iter()
            .map(|row| row.first().map_or(ExprId::ZERO, |e| (-exprs.at(e.1)).id))
            .collect();
        let Some(solution) = solve(exprs, &block, &right) else { continue };
        let mut nu = vec![ExprId::ZERO; n];
        nu[free] = ExprId::ONE;
        columns.iter().zip(solution).for_each(|(&j, e)| nu[j] = e);
        let row: Vec<(usize, ExprId)> = matrix::sparse(nu.iter().copied());
        let coordinates = row.iter().map(|e| e.0).collect();
        let chi = readable(exprs, matrix::dot(exprs, &row, &total));
        // A relation between multipliers is none between positions and velocities.
        let symbols = exprs.symbols_of(&[chi]);
        if equations.multipliers.iter().any(|m| symbols.contains(&m.1)) {
            continue;
        }
        found.push(classified(setting, equations, chi, Origin::Massless(coordinates)));
    }
    found
}

/// M and A without entries that are rounding: a row of these alone would be as good as any.
pub(super) fn known(numbers: &Numbers) -> (Vec<f64>, Vec<f64>) {
    let beyond = |values: &[f64], noise: &[f64]| -> Vec<f64> {
        let pairs = values.iter().zip(noise);
        pairs.map(|(&v, &noise)| if v.abs() <= 16.0 * noise { 0.0 } else { v }).collect()
    };
    (
        beyond(&numbers.metric, &numbers.metric_noise),
        beyond(&numbers.jacobian, &numbers.jacobian_noise),
    )
}

/// ζᵀψ (or ζᵀb) for each row that depends on others.
fn dependent(setting: &Setting, equations: &EquationsOfMotion, numbers: &Numbers) -> Vec<Implied> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let (n, m) = (numbers.size, numbers.bias.len());
    let (rows, columns) = lu::pivots(&known(numbers).1, m, n, 1e-10);
    let block = matrix::transposed(&matrix::part(&equations.jacobian, &rows, &columns));
    let mut found = Vec::new();
    for row in (0..m).filter(|j| !rows.contains(j)) {
        let own = matrix::part(&equations.jacobian, &[row], &columns);
        let mut right = vec![ExprId::ZERO; columns.len()];
        own.rows[0].iter().for_each(|&(j, e)| right[j] = (-exprs.at(e)).id);
        let Some(solution) = solve(exprs, &block, &right) else { continue };
        let mut zeta = vec![ExprId::ZERO; m];
        zeta[row] = ExprId::ONE;
        rows.iter().zip(solution).for_each(|(&j, e)| zeta[j] = e);
        let weights: Vec<(usize, ExprId)> = matrix::sparse(zeta.iter().copied());
        let by_velocity =
            weights.iter().all(|w| system.constraints[w.0].level != Level::Acceleration);
        let values: Vec<ExprId> = (0..m)
            .map(|j| {
                let residual = equations.velocity_residuals.iter().find(|r| r.0 == j);
                match residual {
                    Some(&(_, psi)) if by_velocity => psi,
                    _ => equations.bias[j],
                }
            })
            .collect();
        let chi = readable(exprs, matrix::dot(exprs, &weights, &values));
        let names = weights.iter().map(|w| w.0).collect();
        found.push(classified(setting, equations, chi, Origin::Rows(names)));
    }
    found
}

/// Simplified if that is likely to help.
pub(super) fn readable(exprs: &Exprs, id: ExprId) -> ExprId {
    if exprs.count_tree_size(id) <= 8 * READABLE { exprs.simplify(id) } else { id }
}

/// What to divide by first.
#[derive(Clone, Copy, PartialEq)]
enum Pivot {
    /// A number, which keeps fractions away.
    Number,
    /// The entry on the diagonal, where that of a definite matrix does not vanish.
    Diagonal,
}

/// K⁻¹ r, written out where it is small enough to be read.
pub(super) fn solve(exprs: &Exprs, k: &Jacobian, r: &[ExprId]) -> Option<Vec<ExprId>> {
    solve_by(exprs, k, r, Pivot::Number)
}

fn solve_by(exprs: &Exprs, k: &Jacobian, r: &[ExprId], by: Pivot) -> Option<Vec<ExprId>> {
    let n = r.len();
    // Long entries swell when they are divided by each other, and nobody reads them.
    let entries = k.rows.iter().flatten().map(|e| e.1).chain(r.iter().copied());
    let long = entries.into_iter().any(|e| exprs.count_tree_size(e) > READABLE);
    if n > EXPLICIT || long {
        return Inverse::new(k).map(|inverse| inverse.solve(exprs, r));
    }
    let mut a: Vec<Vec<ExprId>> =
        (0..n).map(|i| (0..n).map(|j| k.get(i, j)).chain([r[i]]).collect()).collect();
    for column in 0..n {
        let candidates: Vec<usize> =
            (column..n).filter(|&i| !exprs.is_zero(a[i][column]).is_zero()).collect();
        let pivot = candidates
            .iter()
            .copied()
            .find(|&i| match by {
                Pivot::Number => exprs.as_number(a[i][column]).is_some(),
                Pivot::Diagonal => i == column,
            })
            .or(candidates.first().copied())?;
        a.swap(column, pivot);
        let scale = exprs.at(a[column][column]);
        let scaled: Vec<ExprId> =
            a[column].iter().map(|&e| exprs.simplify((exprs.at(e) / scale).id)).collect();
        a[column] = scaled;
        for i in (0..n).filter(|&i| i != column) {
            let factor = exprs.at(a[i][column]);
            if factor.is_literally_zero() {
                continue;
            }
            let new: Vec<ExprId> = (0..=n)
                .map(|j| exprs.simplify((exprs.at(a[i][j]) - factor * exprs.at(a[column][j])).id))
                .collect();
            a[i] = new;
        }
    }
    Some(a.iter().map(|row| row[n]).collect())
}

/// Parameters whose value is 0, which may be what makes M singular.
fn zero_parameters(setting: &Setting) -> Vec<(Symbol, ExprId)> {
    let table = Default::default();
    let exprs = &setting.model.exprs;
    let symbols = setting.model.system.parameters.iter().map(|p| p.symbol);
    symbols
        .filter(|&s| setting.number(exprs.of_symbol(s), &table) == 0.0)
        .map(|s| (s, ExprId::ZERO))
        .collect()
}

pub(super) fn classified(
    setting: &Setting,
    equations: &EquationsOfMotion,
    residual: ExprId,
    origin: Origin,
) -> Implied {
    let exprs = &setting.model.exprs;
    let slopes: Vec<ExprId> =
        exprs.jacobian(&[residual], &equations.v).rows.into_iter().flatten().map(|e| e.1).collect();
    let level = if exprs.all_zero(&slopes).is_zero() { Level::Position } else { Level::Velocity };
    // What does not depend on velocities should not show them.
    let residual = match level {
        Level::Position => picture::at_zero(exprs, &[residual], &equations.v)[0],
        _ => residual,
    };
    Implied { residual, level, origin }
}

/// Why a model cannot be completed.
#[derive(Clone, Debug)]
pub enum CompletionError {
    /// No consistent start, with what has been appended so far.
    Start(StartError),
    /// The equations do not exist or have no numbers.
    Equations(Vec<Diagnostic>),
    /// What is implied contradicts the rest.
    Contradiction(Vec<Diagnostic>),
}

/// A model with its hidden constraints.
#[derive(Clone)]
pub struct Completed {
    /// The model; its expressions are in the arena of the one it is made of.
    pub model: Model,
    /// What was appended, in order; nothing where nothing is hidden.
    pub added: Vec<Implied>,
}

/// A model with its hidden constraints appended to it. The model itself stays as it is.
pub fn complete(model: &Model, tolerances: &Tolerances) -> Result<Completed, CompletionError> {
    let mut model = model.share();
    let mut added: Vec<Implied> = Vec::new();
    for _ in 0..2 * model.system.n_coordinates() + 1 {
        let mut new = next(&model, tolerances).map_err(|error| named(&model, error))?;
        if new.is_empty()
            && let Some((implied, determined)) = forceless(&model, &added, tolerances)
        {
            new.push(implied);
            model.system.determined.extend(determined);
        }
        if new.is_empty() {
            break;
        }
        for implied in new {
            append(&mut model, &implied, added.len() + 1)?;
            added.push(implied);
        }
    }
    Ok(Completed { model, added })
}

/// A relation that follows from the dynamics is no constraint that anything
/// enforces: the multiplier of an appended row of the first kind must be zero. Where
/// it is not, that is the next hidden relation.
fn forceless(
    model: &Model,
    added: &[Implied],
    tolerances: &Tolerances,
) -> Option<(Implied, Option<Determined>)> {
    let first = model.system.constraints.len() - added.len();
    let (Ok(setting), Ok(equations)) = (
        Setting::new(model),
        for_system(&model.system).derive(&model.exprs, &model.system, &Choices::default()),
    ) else {
        return None;
    };
    let start = center(&setting).ok()?;
    let mut states = vec![start.state.clone()];
    states.extend(crate::points::random_states(&setting, &start, 4, 1));
    for (at, implied) in added.iter().enumerate() {
        let Origin::Massless(coordinates) = &implied.origin else { continue };
        for state in &states {
            let Ok(numbers) = Numbers::new(&setting, &equations, state) else { continue };
            let mut outcome = Outcome::default();
            let mut scratch = Default::default();
            let solved = dalembert_gauss::DEFAULT.solve(
                &mut scratch,
                &numbers.terms(),
                tolerances,
                &mut outcome,
            );
            if solved.is_err() || !outcome.motion.exists() || outcome.indeterminate[first + at] {
                continue;
            }
            let size = outcome.multipliers.iter().fold(1f64, |m, l| m.max(l.abs()));
            if outcome.multipliers[first + at].abs() <= 1e-9 * size {
                continue;
            }
            let Some(Solved { chi, accelerations }) =
                multiplier(&setting, &equations, &numbers, first + at)
            else {
                continue;
            };
            let origin = Origin::Massless(coordinates.clone());
            let new = classified(&setting, &equations, chi, origin.clone());
            if !fails(&setting, &[new.residual], &states) {
                continue;
            }
            return Some(match rate(&setting, &equations, &new, &accelerations) {
                Some((rate, determined)) => {
                    (classified(&setting, &equations, rate, origin), Some(determined))
                }
                None => (new, None),
            });
        }
    }
    None
}

/// The rate along the motion of a relation that holds velocities, where these are not those of the
/// coordinates it determines: the ones whose accelerations are open.
fn rate(
    setting: &Setting,
    equations: &EquationsOfMotion,
    new: &Implied,
    accelerations: &[Option<ExprId>],
) -> Option<(ExprId, Determined)> {
    if new.level != Level::Velocity || equations.formulation != "lagrange" {
        return None;
    }
    let exprs = &setting.model.exprs;
    let slopes = |symbols: &[Symbol]| -> Vec<ExprId> {
        let row = exprs.jacobian(&[new.residual], symbols);
        (0..symbols.len()).map(|i| row.get(0, i)).collect()
    };
    let open = |i: &usize| accelerations[*i].is_none();
    let (by_q, by_v) = (slopes(equations.positions()), slopes(&equations.v));
    let is_zero = |e: ExprId| exprs.is_zero(e).is_zero();
    let coordinates: Vec<usize> =
        (0..by_q.len()).filter(open).filter(|&i| !is_zero(by_q[i])).collect();
    if coordinates.is_empty() || (0..by_v.len()).filter(open).any(|i| !is_zero(by_v[i])) {
        return None;
    }
    let k: Vec<ExprId> = equations.v.iter().map(|&s| exprs.of_symbol(s)).collect();
    let given = setting.model.system.rates(exprs);
    let mut rates = picture::rates(equations.positions(), &k, &given);
    rates.extend(equations.v.iter().zip(accelerations).filter_map(|(&v, a)| Some((v, (*a)?))));
    let rate = exprs.directional(&[new.residual], &rates)[0];
    Some((readable(exprs, rate), Determined { coordinates, residual: new.residual }))
}

/// λ of a row as an expression, and the accelerations that go with it; `None` for those that are
/// open.
struct Solved {
    chi: ExprId,
    accelerations: Vec<Option<ExprId>>,
}

/// λ of one row as an expression: from the equations Γv̇ − Aᵀλ = F + C, A v̇ = b,
/// those of a regular block that determines it, what stays open being 0.
fn multiplier(
    setting: &Setting,
    equations: &EquationsOfMotion,
    numbers: &Numbers,
    row: usize,
) -> Option<Solved> {
    // Where forces depend on multipliers these are no expressions of the state.
    if !equations.multipliers.is_empty() {
        return None;
    }
    let exprs = &setting.model.exprs;
    let (n, m) = (numbers.size, numbers.bias.len());
    let size = n + m;
    let (metric, jacobian) = known(numbers);
    let mut dense = vec![0.0; size * size];
    for i in 0..n {
        for j in 0..n {
            dense[i * size + j] = metric[i * n + j];
        }
        for j in 0..m {
            dense[i * size + n + j] = -jacobian[j * n + i];
            dense[(n + j) * size + i] = jacobian[j * n + i];
        }
    }
    let (mut rows, mut columns) = lu::pivots(&dense, size, size, 1e-10);
    // In their own order masses are divided by first, then what is left of A M⁻¹Aᵀ: neither
    // vanishes elsewhere, as other pivots would.
    rows.sort_unstable();
    columns.sort_unstable();
    let wanted = columns.iter().position(|&c| c == n + row)?;
    let by_column = matrix::transposed(&equations.jacobian);
    let mut symbolic = Jacobian { rows: Vec::new(), columns: size };
    for i in 0..n {
        let mut line = equations.metric.rows[i].clone();
        line.extend(by_column.rows[i].iter().map(|&(j, e)| (n + j, (-exprs.at(e)).id)));
        symbolic.rows.push(line);
    }
    symbolic.rows.extend(equations.jacobian.rows.iter().cloned());
    let right: Vec<ExprId> = (0..n)
        .map(|i| (exprs.at(equations.force[i]) + exprs.at(equations.nonideal[i])).id)
        .chain(equations.bias.iter().copied())
        .collect();
    let zeros = zero_parameters(setting);
    let right: Vec<ExprId> = rows.iter().map(|&r| right[r]).collect();
    let right = exprs.substitute(&right, &zeros);
    let mut block = matrix::part(&symbolic, &rows, &columns);
    for line in &mut block.rows {
        let entries: Vec<ExprId> = line.iter().map(|e| e.1).collect();
        let entries = exprs.substitute(&entries, &zeros);
        line.iter_mut().zip(entries).for_each(|(place, e)| place.1 = e);
        line.retain(|e| e.1 != ExprId::ZERO);
    }
    let solution = solve_by(exprs, &block, &right, Pivot::Diagonal)?;
    let place = |i: usize| columns.iter().position(|&c| c == i);
    Some(Solved {
        chi: readable(exprs, solution[wanted]),
        accelerations: (0..n).map(|i| place(i).map(|at| solution[at])).collect(),
    })
}

/// A start that hidden constraints forbid should say what they are: nobody has
/// written them.
fn named(model: &Model, error: CompletionError) -> CompletionError {
    let CompletionError::Start(StartError::Clash(faults)) = error else { return error };
    let faults = faults.into_iter().map(|mut fault| {
        for constraint in &model.system.constraints {
            let name = format!("`{}`", constraint.name);
            let is_named = fault.labels.iter().any(|l| l.text.contains(&name));
            if is_named && constraint.name.contains(HIDDEN) {
                let equation = model.exprs.to_source(constraint.residual);
                fault = fault.hint(format!("the model implies {name}: {equation} = 0"));
            }
        }
        fault
    });
    CompletionError::Start(StartError::Clash(faults.collect()))
}

/// Where to look for hidden constraints: the start, or the consistent state nearest
/// to the one that is asked for, which the equations of the start do not bind.
fn center(setting: &Setting) -> Result<Start, StartError> {
    let system = &setting.model.system;
    if system.state.is_empty() {
        return start::start(setting);
    }
    let asked = State::of_items(setting, &system.state).map_err(StartError::Legendre)?;
    let by_momenta = matches!(system.energy, Energy::Hamiltonian { .. });
    let rate = if by_momenta { asked.momentum } else { asked.velocity };
    start::from(setting, asked.t, &Guess { q: asked.q, rate, by_momenta }, false)
}

/// The hidden constraints that show at the start or at random consistent states.
fn next(model: &Model, tolerances: &Tolerances) -> Result<Vec<Implied>, CompletionError> {
    let Ok(setting) = Setting::new(model) else { return Ok(Vec::new()) };
    let equations = for_system(&model.system)
        .derive(&model.exprs, &model.system, &Choices::default())
        .map_err(CompletionError::Equations)?;
    let start = center(&setting);
    let mut states = Vec::new();
    if let Ok(start) = &start {
        states.push(start.state.clone());
        states.extend(crate::points::random_states(&setting, start, 4, 1));
    }
    for state in &states {
        let list: Vec<Implied> = servo::implied(&setting, &equations, state)
            .into_iter()
            .filter(|i| holds_not(&setting, i, &states))
            .collect();
        if !list.is_empty() {
            return Ok(list);
        }
        let Ok(numbers) = Numbers::new(&setting, &equations, state) else { continue };
        let mut outcome = Outcome::default();
        let mut scratch = Default::default();
        let solved = dalembert_gauss::DEFAULT.solve(
            &mut scratch,
            &numbers.terms(),
            tolerances,
            &mut outcome,
        );
        if solved.is_err() || outcome.motion == Verdict::Unique {
            continue;
        }
        let list: Vec<Implied> = implied(&setting, &equations, &numbers, &outcome)
            .into_iter()
            .filter(|i| holds_not(&setting, i, &states))
            .collect();
        if !list.is_empty() {
            return Ok(list);
        }
    }
    // Velocities that satisfy ζᵀA q̇ = … exist only where χ(q) = 0, so no consistent
    // state shows a relation among positions: places on the constraints do.
    let places = crate::points::random_places(&setting, 4, 1);
    let unseen = places.iter().find_map(|place| Numbers::new(&setting, &equations, place).ok());
    if let Some(numbers) = unseen {
        let list: Vec<Implied> = dependent(&setting, &equations, &numbers)
            .into_iter()
            .filter(|i| i.level == Level::Position && fails(&setting, &[i.residual], &places))
            .take(1)
            .collect();
        if !list.is_empty() {
            return Ok(list);
        }
    }
    start.map(|_| Vec::new()).map_err(CompletionError::Start)
}

/// Whether a relation, or the rate of one among positions, fails at one of the states.
fn holds_not(setting: &Setting, implied: &Implied, states: &[State]) -> bool {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let mut claims = vec![implied.residual];
    if implied.level == Level::Position {
        let k: Vec<ExprId> = system.velocities().iter().map(|&s| exprs.of_symbol(s)).collect();
        let rates = picture::rates(&system.positions(), &k, &system.rates(exprs));
        claims.extend(exprs.directional(&claims, &rates));
    }
    fails(setting, &claims, states)
}

/// Whether one of the expressions is not 0 at one of the states, beyond rounding.
fn fails(setting: &Setting, claims: &[ExprId], states: &[State]) -> bool {
    states.iter().any(|state| {
        let values = setting.evaluate(claims, &state.table(&setting.model.system));
        values.iter().any(|v| v.value.is_finite() && v.value.abs() > 1e-9f64.max(64.0 * v.noise))
    })
}

fn append(model: &mut Model, implied: &Implied, number: usize) -> Result<(), CompletionError> {
    let (exprs, system) = (&model.exprs, &model.system);
    let native = match for_system(system).name() {
        "hamilton" => system.momenta(),
        _ => system.velocities(),
    };
    let moving: Vec<Symbol> = system.configuration().into_iter().chain(native.clone()).collect();
    let symbols = exprs.symbols_of(&[implied.residual]);
    if !symbols.iter().any(|s| moving.contains(s) || *s == Symbol::TIME) {
        let names: Vec<String> = match &implied.origin {
            Origin::Rows(rows) | Origin::Servo(rows) => {
                rows.iter().map(|&r| format!("`{}`", system.constraints[r].name)).collect()
            }
            Origin::Massless(list) => {
                list.iter().map(|&i| format!("`{}`", system.coordinates[i].name)).collect()
            }
        };
        let message = format!(
            "no motion satisfies the model: {} {} {} = 0",
            names.join(", "),
            if names.len() == 1 { "implies" } else { "imply" },
            exprs.to_text(implied.residual)
        );
        let fault =
            Diagnostic::fault(Code::ContradictoryConstraints, span(system, implied), message);
        return Err(CompletionError::Contradiction(vec![fault]));
    }
    let constraint = constraint(exprs, system, implied, &native, number);
    model.system.constraints.push(constraint);
    Ok(())
}

fn constraint(
    exprs: &Exprs,
    system: &System,
    implied: &Implied,
    native: &[Symbol],
    number: usize,
) -> Constraint {
    let residual = implied.residual;
    let slopes: Vec<ExprId> =
        exprs.jacobian(&[residual], native).rows.into_iter().flatten().map(|e| e.1).collect();
    let curvature: Vec<ExprId> =
        exprs.jacobian(&slopes, native).rows.into_iter().flatten().map(|e| e.1).collect();
    let mut name = format!("{HIDDEN}{number}]");
    while system.constraints.iter().any(|c| c.name == name) {
        name = format!("implied_{name}");
    }
    let at_rest = picture::at_zero(exprs, &[residual], native)[0];
    let by_time = system.partial_rate(exprs, residual);
    let scleronomic = exprs.is_zero(by_time).is_zero();
    Constraint {
        label: name.clone(),
        name,
        level: implied.level,
        residual,
        affine: exprs.all_zero(&curvature).is_zero(),
        scleronomic,
        catastatic: match implied.level {
            Level::Position => Some(scleronomic),
            _ => Some(exprs.is_zero(at_rest).is_zero()),
        },
        servo: false,
        span: span(system, implied),
    }
}

/// What a message about an implied constraint points at.
fn span(system: &System, implied: &Implied) -> Span {
    match &implied.origin {
        Origin::Rows(rows) | Origin::Servo(rows) => system.constraints[rows[0]].span,
        Origin::Massless(list) => system.coordinates[list.first().copied().unwrap_or(0)].span,
    }
}
