//! Coordinates without mass that a completed model determines by the rest of the state.
//!
//! Where a constraint is written as V = λ φ(q) with λ a coordinate, λ has no equation of motion:
//! the accelerations that keep φ = 0 fix it as a function χ(q, q̇, λ, t) = 0 of the whole state.
//! Completion appends the rate of χ as a constraint; the start has to satisfy χ itself, which
//! neither its positions nor its velocities do alone:
//!
//! ```text
//! positions, velocities → λ by χ = 0 → positions, velocities with this λ → …
//! ```
//!
//! Twice is enough where λ does not act on the positions and velocities of the start.

use crate::normal_form::Matrix;
use crate::points::nearest::NearestPoint;
use crate::points::start::{Guess, Start, StartError};
use crate::setting::{Setting, Table};
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Energy;

/// Most rounds.
const MOST: usize = 20;
/// Changes below this part are none.
const SETTLED: f64 = 1e-14;
/// What is held by an equation may be off by this part: the digits of a model are few.
const HELD: f64 = 1e-9;

/// A start with the coordinates that the rest of the state determines. `once` finds a start
/// without them.
pub(crate) fn balanced(
    setting: &Setting,
    guess: &Guess,
    once: &dyn Fn(&Guess) -> Result<Start, StartError>,
) -> Result<Start, StartError> {
    let mut start = once(guess)?;
    let system = &setting.model.system;
    if system.determined.is_empty() {
        return Ok(start);
    }
    let mut places: Vec<usize> =
        system.determined.iter().flat_map(|d| d.coordinates.iter().copied()).collect();
    places.sort_unstable();
    places.dedup();
    let mut changed = start.changed.clone();
    let mut before: Option<Vec<f64>> = None;
    for _ in 0..MOST {
        let values = values(setting, &start, &places)?;
        let found: Vec<f64> = places.iter().map(|&i| start.state.q[i]).collect();
        let off = |limit: f64| {
            values.iter().zip(&found).any(|(a, b)| (a - b).abs() > limit * a.abs().max(b.abs()))
        };
        if !off(SETTLED) || (before.as_ref() == Some(&values) && !off(HELD)) {
            changed.extend(
                start.changed.iter().filter(|c| !is_in(&changed, c)).cloned().collect::<Vec<_>>(),
            );
            start.changed = last_values(setting, &start, changed);
            return Ok(start);
        }
        if before.as_ref() == Some(&values) {
            // Set to these values, they came back as they were.
            return Err(clash(setting, &places, &found, &values));
        }
        let mut next = Guess {
            q: start.state.q.clone(),
            rate: start.state.velocity.clone(),
            by_momenta: false,
        };
        if matches!(system.energy, Energy::Hamiltonian { .. }) {
            (next.rate, next.by_momenta) = (start.state.momentum.clone(), true);
        }
        for (&i, &value) in places.iter().zip(&values) {
            next.q[i] = value;
            let name = system.coordinates[i].name.clone();
            let entry = (name, guess.q[i], value);
            if !is_in(&changed, &entry) {
                changed.push(entry);
            }
        }
        before = Some(values);
        start = once(&next)?;
    }
    Err(clash(setting, &places, &[], &[]))
}

/// The coordinates by their relations, everything else being as it is.
fn values(setting: &Setting, start: &Start, places: &[usize]) -> Result<Vec<f64>, StartError> {
    let system = &setting.model.system;
    let positions = system.positions();
    let unknowns: Vec<Symbol> = places.iter().map(|&i| positions[i]).collect();
    let equations: Vec<ExprId> = system.determined.iter().map(|d| d.residual).collect();
    let n = unknowns.len();
    let identity = |_: &Table| Some(Matrix::identity(n, false));
    let problem = NearestPoint {
        setting,
        table: start.state.table(system),
        guess: places.iter().map(|&i| start.state.q[i]).collect(),
        unknowns,
        equations,
        nearest: false,
        metric: &identity,
        scales: Default::default(),
    };
    problem.solve().map(|found| found.x).map_err(|_| clash(setting, places, &[], &[]))
}

fn is_in(list: &[(String, f64, f64)], entry: &(String, f64, f64)) -> bool {
    list.iter().any(|other| other.0 == entry.0)
}

/// What was changed, with the values of the start that was found in the end.
fn last_values(
    setting: &Setting,
    start: &Start,
    changed: Vec<(String, f64, f64)>,
) -> Vec<(String, f64, f64)> {
    let model = &*setting.model;
    let mut named = start.state.named(&model.exprs, &model.system);
    let symbols = model.system.momenta();
    let momenta = symbols.iter().map(|&s| model.exprs.symbol_info(s).full_name());
    named.extend(momenta.zip(start.state.momentum.iter().copied()));
    let value = |name: &str| named.iter().find(|n| n.0 == name).map(|n| n.1);
    let updated = changed.into_iter().map(|(name, from, to)| {
        let to = value(&name).unwrap_or(to);
        (name, from, to)
    });
    updated.filter(|(_, from, to)| from != to).collect()
}

fn clash(setting: &Setting, places: &[usize], found: &[f64], wanted: &[f64]) -> StartError {
    let system = &setting.model.system;
    let names: Vec<String> =
        places.iter().map(|&i| format!("`{}`", system.coordinates[i].name)).collect();
    let worst = found
        .iter()
        .zip(wanted)
        .enumerate()
        .max_by(|a, b| (a.1.0 - a.1.1).abs().total_cmp(&(b.1.0 - b.1.1).abs()));
    let message = match worst {
        Some((at, (held, value))) => format!(
            "{} is held at {held}, and the rest of the start determines it to be {value}",
            names[at]
        ),
        None => format!("no value of {} goes with the rest of the start", names.join(", ")),
    };
    let span = system.coordinates[places[worst.map_or(0, |w| w.0)]].span;
    let fault = Diagnostic::fault(Code::ContradictoryStart, span, message)
        .hint("leave it out of `start`, or make it a guess with `~`");
    StartError::Clash(vec![fault])
}
