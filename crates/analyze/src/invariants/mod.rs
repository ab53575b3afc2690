//! What is conserved, and why.
//!
//! Integrals are looked for among pᵀξ − f and E − pᵀξ + f with ξ and f combinations of
//! a library of fields and functions, by the generalised Noether identity (5.3) of
//! [`identity`]. That covers the energy, momenta of ignorable coordinates, momenta
//! along translations, rotations and headings, Jacobi's integral of rotating frames
//! and the gauge momenta of nonholonomic systems. Integrals that are not linear in
//! the momenta (but for E) are not looked for, and nothing is said of them.
//!
//! A candidate is found by numbers at consistent states, its coefficients are read
//! as exact ones, the conditions are tested on the expressions, and the integral is
//! held against simulated motions. Only what passes all of it is claimed; where there
//! is no motion to be simulated the claim says so.
//!
//! Found for the fields of the library only: that nothing else is conserved is never
//! claimed.

mod candidates;
pub mod identity;
mod independent;
mod library;
mod motion;
mod reasons;
mod recognise;
mod search;
mod symbolic;
mod words;

pub use identity::{Conditions, Generator, Identity};
pub use motion::{Motions, Seen};
pub use reasons::{EnergyVerdict, Ignorable};

use crate::Shown;
use crate::watch::{Interrupted, Watch};
use candidates::candidates;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_simulate::points::random_states;
use dalembert_simulate::{Setting, Start};
use independent::Independent;
use reasons::Reasons;
use symbolic::{OnConstraints, Vanishing};
use words::{because, name, written};

/// What is looked for, and how far.
#[derive(Clone, Debug)]
pub struct InvariantOptions {
    /// Most columns of the ansatz.
    pub most_columns: usize,
    /// Most coordinates for which combinations are looked for.
    pub most_coordinates: usize,
    /// Most constraint rows for which combinations are looked for: each state takes
    /// a projection on all of them.
    pub most_rows: usize,
    /// Chooses the states.
    pub seed: u64,
}

impl Default for InvariantOptions {
    fn default() -> Self {
        InvariantOptions { most_columns: 400, most_coordinates: 40, most_rows: 12, seed: 2026 }
    }
}

/// An integral of the motion.
#[derive(Clone, Debug)]
pub struct Integral {
    /// In momenta and `energy`: `p_phi`, `x*p_y - y*p_x`, `energy - Omega*(x*p_y - y*p_x)`.
    pub name: String,
    /// In the model's language; where that is too long to be read, the name.
    pub expression: String,
    /// The same as an expression.
    pub id: ExprId,
    /// ξ, τ and f.
    pub generator: Generator,
    /// Its value at the start; `None` where it is not a number.
    pub value: Option<f64>,
    /// How the conditions were established.
    pub shown: Shown,
    /// Whether they hold for these values of the parameters and not for all.
    pub for_these_values: bool,
    /// What was seen along simulated motions.
    pub seen: Seen,
    /// Why it is constant, in words.
    pub because: String,
    /// The equation behind it: (5.2) for the energy, else (5.3).
    pub equation: &'static str,
    /// Whether the other integrals determine it, locally.
    pub follows_from_others: bool,
}

/// What is conserved.
#[derive(Clone, Debug)]
pub struct Invariants {
    /// Integrals, the energy first.
    pub integrals: Vec<Integral>,
    /// What passed on paper and not along a motion: name, deviation, time.
    pub refuted: Vec<(String, f64, f64)>,
    /// The energy.
    pub energy: EnergyVerdict,
    /// Coordinates that do not occur in L.
    pub ignorable: Vec<Ignorable>,
    /// Why no integrals were looked for beyond the energy and single momenta.
    pub not_sought: Option<String>,
}

/// What is conserved in a system, from a consistent start.
pub fn invariants(
    setting: &Setting,
    start: &Start,
    options: &InvariantOptions,
) -> Result<Invariants, Vec<Diagnostic>> {
    match invariants_watched(setting, start, options, &Watch::nobody()) {
        Ok(found) => found,
        Err(Interrupted) => unreachable!("nobody watches"),
    }
}

/// The same, watched.
pub fn invariants_watched(
    setting: &Setting,
    start: &Start,
    options: &InvariantOptions,
    watch: &Watch,
) -> Result<Result<Invariants, Vec<Diagnostic>>, Interrupted> {
    watch.on("looking for integrals of the motion")?;
    let identity = match Identity::new(&setting.model) {
        Ok(identity) => identity,
        Err(faults) => return Ok(Err(faults)),
    };
    let n = identity.q.len();
    let on = OnConstraints::new(&identity);
    let large = n > options.most_coordinates || identity.drag.len() > options.most_rows;
    // Many rows are moved along: to come back to them from afar is a search of its own.
    let mut few = match large {
        true => crate::surface::states(setting, start, 3).unwrap_or_default(),
        false => random_states(setting, start, 5, options.seed),
    };
    let other = match large {
        true => few.first().cloned(),
        false => random_states(setting, start, 1, options.seed + 1).pop(),
    };
    few.insert(0, start.state.clone());
    let constraint_forces = reasons::constraint_forces(setting, &few);
    let reasons =
        Reasons { identity: &identity, setting, on: &on, states: &few, constraint_forces };
    let (energy, ignorable) = (reasons.energy(), reasons.ignorable());

    let not_sought;
    let mut generators = Vec::new();
    if large {
        not_sought = Some(format!(
            "more than {} coordinates or {} constraint rows: only the energy and the momenta of single coordinates were tried",
            options.most_coordinates, options.most_rows
        ));
        generators.extend(energy.conserved.then(|| Generator::energy(n)));
        generators.extend((0..n).map(|i| Generator::momentum(n, i)));
    } else {
        let found = candidates(&identity, setting, start, &on, &few, options, watch)?;
        generators = found.generators;
        not_sought = found
            .without_rotations
            .then(|| "too many coordinates of the same mass: rotations were not tried".to_owned());
    }

    let motions = Motions::watched(setting, start, other, watch)?;
    // A start may be special; others count where there are any.
    let others = if few.len() > 1 { &few[1..] } else { &few[..] };
    let mut independent = Independent::new(&identity, setting, others);
    let mut integrals: Vec<Integral> = Vec::new();
    let mut refuted = Vec::new();
    // Momenta before what holds the energy: E may be a function of them. Boosts before
    // rotations: with the momentum they determine how the center of mass turns.
    let mut in_turn: Vec<(usize, Generator)> = generators.into_iter().enumerate().collect();
    in_turn.sort_by_key(|(_, g)| (g.with_energy, simplicity(&identity, g)));
    let mut places: Vec<usize> = Vec::new();
    for (place, generator) in in_turn {
        watch.on("proving that integrals are constant")?;
        let generator = positive(&identity, generator);
        let conditions = identity.conditions(&generator);
        let mut roots = vec![conditions.power];
        roots.extend(&conditions.rows);
        let Some(Vanishing { shown, for_these_values }) =
            on.vanish(&identity, setting, &few, &roots)
        else {
            continue;
        };
        let id = identity.integral(&generator);
        let follows_from_others = independent.depends(id);
        if independent.is_trivial(id)
            || says_nothing(&identity, &generator)
            || (follows_from_others && !is_energy(&generator))
        {
            continue;
        }
        let parts = parts(&identity, &generator);
        let seen = motions.judge(setting, identity.system, id, &parts);
        let name = name(&identity, &generator);
        if let Seen::Changed { deviation, t } = seen {
            // What was 0 in floating point at a few states was not shown to be.
            if !matches!(shown, Shown::RandomPoints { error: None, .. }) {
                refuted.push((name, deviation, t));
            }
            continue;
        }
        independent.add(id);
        places.push(place);
        let (id, expression) = written(identity.exprs, id, &name);
        let value = setting.number(id, &start.state.table(identity.system));
        integrals.push(Integral {
            because: because(&identity, &generator, for_these_values),
            equation: if is_energy(&generator) { "(5.2)" } else { "(5.3)" },
            name,
            expression,
            id,
            generator,
            value: value.is_finite().then_some(value),
            shown,
            for_these_values,
            seen,
            follows_from_others,
        });
    }
    let mut in_place: Vec<(usize, Integral)> = places.into_iter().zip(integrals).collect();
    // Plain momenta first.
    let plain = |i: &Integral| simplicity(&identity, &i.generator) == 0;
    in_place.sort_by_key(|(place, i)| (!i.generator.with_energy, !plain(i), *place));
    let integrals = in_place.into_iter().map(|i| i.1).collect();
    Ok(Ok(Invariants { integrals, refuted, energy, ignorable, not_sought }))
}

fn is_energy(generator: &Generator) -> bool {
    generator.with_energy
        && generator.gauge == ExprId::ZERO
        && generator.field.iter().all(|&x| x == ExprId::ZERO)
}

/// Fields of constants, then of time, then others.
fn simplicity(identity: &Identity, generator: &Generator) -> usize {
    let symbols = identity.exprs.symbols_of(&generator.field);
    match symbols.iter().any(|s| identity.q.contains(s)) {
        true => 2,
        false => usize::from(symbols.contains(&Symbol::TIME)),
    }
}

/// The one of two signs that reads better.
fn positive(identity: &Identity, generator: Generator) -> Generator {
    if generator.with_energy || !name(identity, &generator).starts_with('-') {
        return generator;
    }
    let negative = |id: ExprId| (-identity.exprs.at(id)).id;
    Generator {
        field: generator.field.into_iter().map(negative).collect(),
        gauge: negative(generator.gauge),
        with_energy: false,
    }
}

/// Functions of q and t alone belong to constraints that integrate, and t p − m x of
/// a single coordinate says no more than that p is constant.
fn says_nothing(identity: &Identity, generator: &Generator) -> bool {
    let exprs = identity.exprs;
    let along: Vec<ExprId> =
        generator.field.iter().copied().filter(|&x| x != ExprId::ZERO).collect();
    let boost = exprs.symbols_of(&along).contains(&Symbol::TIME);
    !generator.with_energy && (along.is_empty() || (boost && along.len() == 1))
}

/// What an integral consists of: its size is theirs.
fn parts(identity: &Identity, generator: &Generator) -> Vec<ExprId> {
    let exprs = identity.exprs;
    let product = |(&a, &b): (&ExprId, &ExprId)| exprs.product(&[a, b]);
    let mut parts: Vec<ExprId> =
        generator.field.iter().zip(&identity.momenta).map(product).collect();
    parts.push(generator.gauge);
    if generator.with_energy {
        parts.extend(identity.velocities.iter().zip(&identity.momenta).map(product));
        parts.push(identity.energy);
    }
    parts
}
