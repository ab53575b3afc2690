//! Integrals in words: a name, a formula, a reason.

use super::identity::{Generator, Identity};
use dalembert_expr::{ExprId, Exprs, Notation, Symbol, SymbolKind};

/// Expressions up to this size, as trees, are written out and simplified.
const READABLE: u64 = 300;

/// In momenta and `energy`.
pub fn name(identity: &Identity, generator: &Generator) -> String {
    let exprs = identity.exprs;
    let energy = exprs.of_symbol(exprs.symbol("energy", SymbolKind::Constant));
    let momenta: Vec<ExprId> =
        identity.system.momenta().into_iter().map(|s| exprs.of_symbol(s)).collect();
    exprs.to_source(exprs.simplify(identity.compose(generator, &momenta, energy)))
}

/// Written out where that can be read.
pub fn written(exprs: &Exprs, id: ExprId, name: &str) -> (ExprId, String) {
    if exprs.count_tree_size(id) > 8 * READABLE {
        return (id, name.to_owned());
    }
    let simple = exprs.simplify(id);
    match exprs.count_tree_size(simple) <= READABLE {
        true => (simple, exprs.to_source(simple)),
        false => (id, name.to_owned()),
    }
}

/// Why it is constant, in words.
pub fn because(identity: &Identity, generator: &Generator, for_these_values: bool) -> String {
    let (exprs, system) = (identity.exprs, identity.system);
    let field = &generator.field;
    let along: Vec<usize> = (0..field.len()).filter(|&i| field[i] != ExprId::ZERO).collect();
    let names: Vec<String> =
        along.iter().map(|&i| format!("`{}`", system.coordinates[i].name)).collect();
    let names = names.join(", ");
    let numbers = along.iter().all(|&i| exprs.as_number(field[i]).is_some());
    let boost = along.iter().all(|&i| exprs.as_symbol(field[i]) == Some(Symbol::TIME));
    let gauge = exprs.print_limited(generator.gauge, Notation::Source, 120);
    let free = generator.gauge == ExprId::ZERO;
    let mut words = match (generator.with_energy, along.as_slice()) {
        (true, []) => {
            "L does not depend on time, and neither forces nor constraints do work".to_owned()
        }
        (true, _) => format!(
            "nothing depends on time for an observer who moves along ξ = {}, and no force works on what is left",
            field_words(identity, generator)
        ),
        (false, [_]) if numbers && free => format!("nothing depends on {names} or acts along it"),
        (false, _) if numbers && free => format!("nothing changes when {names} shift together"),
        (false, _) if numbers => format!("what acts along {names} is the rate of f = {gauge}"),
        (false, _) if boost => format!("{names} together move as if free; f = {gauge}"),
        (false, _) => match rotation(identity, generator).filter(|_| free) {
            Some(planes) => format!("nothing changes when {planes} turn"),
            None if free => format!(
                "nothing changes along ξ = {}, and no force works on it",
                field_words(identity, generator)
            ),
            None => format!(
                "along ξ = {} L and the work of forces change by the rate of f = {gauge}",
                field_words(identity, generator)
            ),
        },
    };
    if for_these_values {
        words.push_str("; for these values of the parameters, not for all");
    }
    words
}

/// The planes of a rotation: ξ = x e_y − y e_x, … .
fn rotation(identity: &Identity, generator: &Generator) -> Option<String> {
    let exprs = identity.exprs;
    let n = generator.field.len();
    let q: Vec<ExprId> = identity.q.iter().map(|&s| exprs.of_symbol(s)).collect();
    let mut planes = Vec::new();
    let mut taken = vec![false; n];
    for i in 0..n {
        let Some(j) = (0..n).find(|&j| {
            let unit = exprs.at(generator.field[i]) / exprs.at(q[j]);
            let other = exprs.at(generator.field[j]) / exprs.at(q[i]);
            j > i
                && generator.field[i] != ExprId::ZERO
                && exprs.as_number(unit.id).is_some()
                && (unit + other).is_literally_zero()
        }) else {
            continue;
        };
        let coordinates = &identity.system.coordinates;
        planes.push(format!("(`{}`, `{}`)", coordinates[i].name, coordinates[j].name));
        (taken[i], taken[j]) = (true, true);
    }
    // Angles that turn along.
    for i in (0..n).filter(|&i| !taken[i] && generator.field[i] != ExprId::ZERO) {
        exprs.as_number(generator.field[i])?;
        planes.push(format!("`{}`", identity.system.coordinates[i].name));
    }
    (!planes.is_empty()).then(|| planes.join(" and "))
}

fn field_words(identity: &Identity, generator: &Generator) -> String {
    let exprs = identity.exprs;
    let parts: Vec<String> =
        generator.field.iter().map(|&x| exprs.print_limited(x, Notation::Source, 60)).collect();
    format!("({})", parts.join(", "))
}
