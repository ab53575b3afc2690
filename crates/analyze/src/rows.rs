//! The constraints as one-forms, and the kind of each row.
//!
//! A row a(q, t) q̇ + a_t(q, t) = 0 is the form Σ a_i dq_i + a_t dt, a row φ(q, t) = 0
//! the form dφ. Rows that are nonlinear in the velocities as written may still be
//! affine: ψ = F(ρ·q̇; q, t) with ρ free of q̇ says ρ·q̇ = c where F has the one root
//! c, such as (ẋ − y)³ = 0. A row whose set of velocities is no hyperplane is
//! nonholonomic, since a relation φ(q, t) = c differentiates to an affine row.

use dalembert_derive::picture::{self, Picture};
use dalembert_expr::{ExprId, Exprs, Jacobian, Number, Symbol};
use dalembert_model::system::{Constraint, Level, System};

/// Rows that restrict velocities in an affine way, as one-forms in (q, t).
#[derive(Clone, Debug)]
pub struct Forms {
    /// The coordinates (q, t).
    pub x: Vec<Symbol>,
    /// The constraint that each form belongs to.
    pub rows: Vec<usize>,
    /// The forms with their parameters as symbols.
    pub named: Jacobian,
    /// The forms with the values of parameters put in.
    pub forms: Jacobian,
    /// Constraints that are affine though they do not look it.
    pub disguised: Vec<usize>,
    /// Constraints at velocity level that are nonlinear in the velocities.
    pub nonlinear: Vec<usize>,
    /// Constraints at velocity level whose form was not found.
    pub open: Vec<usize>,
}

/// Parameters by their values, in terms of numbers only.
pub fn parameter_values(exprs: &Exprs, system: &System) -> Vec<(Symbol, ExprId)> {
    let mut map: Vec<(Symbol, ExprId)> =
        system.parameters.iter().filter_map(|p| Some((p.symbol, p.value?))).collect();
    // Each pass puts in the values one declaration deeper.
    for _ in 0..map.len() {
        let values: Vec<ExprId> = map.iter().map(|m| m.1).collect();
        let next = exprs.substitute(&values, &map);
        if next == values {
            break;
        }
        map.iter_mut().zip(next).for_each(|(place, value)| place.1 = value);
    }
    map
}

/// A matrix with symbols replaced.
pub fn replaced(exprs: &Exprs, matrix: &Jacobian, map: &[(Symbol, ExprId)]) -> Jacobian {
    let entries: Vec<ExprId> = matrix.rows.iter().flatten().map(|e| e.1).collect();
    let mut next = exprs.substitute(&entries, map).into_iter();
    let mut result = matrix.clone();
    for row in &mut result.rows {
        row.iter_mut().for_each(|e| e.1 = next.next().unwrap_or(e.1));
        row.retain(|e| e.1 != ExprId::ZERO);
    }
    result
}

impl Forms {
    /// The forms of a system, whatever the state.
    pub fn of(exprs: &Exprs, system: &System, picture: &Picture) -> Forms {
        Forms::near(exprs, system, picture, &|_| false)
    }

    /// The forms of a system near a state: `vanishes` tells whether an expression is 0
    /// there, which decides between several hyperplanes that one row may stand for.
    pub fn near(
        exprs: &Exprs,
        system: &System,
        picture: &Picture,
        vanishes: &dyn Fn(ExprId) -> bool,
    ) -> Forms {
        let n = picture.q.len();
        let mut x = picture.q.clone();
        x.push(Symbol::TIME);
        let mut found = Forms {
            x,
            rows: Vec::new(),
            named: Jacobian { rows: Vec::new(), columns: n + 1 },
            forms: Jacobian { rows: Vec::new(), columns: n + 1 },
            disguised: Vec::new(),
            nonlinear: Vec::new(),
            open: Vec::new(),
        };
        for &(row, residual) in &picture.rows.velocity_residuals {
            let form = if picture.is_affine(system, row) {
                let list = &picture.rows.jacobian.rows[row];
                let mut entries: Vec<ExprId> = list.iter().map(|e| e.1).collect();
                entries.push(residual);
                let rest = picture::at_zero(exprs, &entries, &picture.velocities);
                let columns = list.iter().map(|e| e.0).chain([n]);
                columns.zip(rest).filter(|e| e.1 != ExprId::ZERO).collect()
            } else if picture.auxiliary.is_some() {
                found.open.push(row);
                continue;
            } else {
                match disguised(exprs, residual, &picture.velocities, vanishes) {
                    Disguise::Affine(form) => {
                        found.disguised.push(row);
                        form
                    }
                    Disguise::Open => {
                        found.open.push(row);
                        continue;
                    }
                    Disguise::Nonlinear => {
                        found.nonlinear.push(row);
                        continue;
                    }
                }
            };
            found.rows.push(row);
            found.named.rows.push(form);
        }
        found.forms = replaced(exprs, &found.named, &parameter_values(exprs, system));
        found
    }
}

enum Disguise {
    /// The form, sparse.
    Affine(Vec<(usize, ExprId)>),
    /// Level sets are hyperplanes, but which one is meant is not told by a formula.
    Open,
    Nonlinear,
}

/// The hyperplane ρ·q̇ = c behind ψ(q, q̇, t) = 0, if there is one.
fn disguised(
    exprs: &Exprs,
    residual: ExprId,
    velocities: &[Symbol],
    vanishes: &dyn Fn(ExprId) -> bool,
) -> Disguise {
    let n = velocities.len();
    let slopes = exprs.gradient(residual, velocities);
    let Some(pivot) = (0..n).find(|&i| !exprs.is_zero(slopes[i]).is_zero()) else {
        return Disguise::Nonlinear;
    };
    let ratios: Vec<ExprId> =
        slopes.iter().map(|&s| (exprs.at(s) / exprs.at(slopes[pivot])).id).collect();
    let change: Vec<ExprId> =
        exprs.jacobian(&ratios, velocities).rows.into_iter().flatten().map(|e| e.1).collect();
    if !exprs.all_zero(&change).is_zero() {
        return Disguise::Nonlinear;
    }
    // ρ is free of q̇, so any q̇ shows it; at rest it may be 0/0.
    let some: Vec<(Symbol, ExprId)> = velocities
        .iter()
        .enumerate()
        .map(|(i, &v)| {
            let value = Number::ratio(17 + 6 * i as i64, 11 + 4 * i as i64).unwrap_or(Number::ONE);
            (v, exprs.of_number(value))
        })
        .collect();
    let rho: Vec<ExprId> =
        exprs.substitute(&ratios, &some).into_iter().map(|e| exprs.simplify(e)).collect();
    // F(s) = ψ at q̇ = s e_pivot; for F = k (s − c)^μ, F/F′ = (s − c)/μ.
    let s = velocities[pivot];
    let rest: Vec<(Symbol, ExprId)> =
        velocities.iter().filter(|&&v| v != s).map(|&v| (v, ExprId::ZERO)).collect();
    let f = exprs.substitute(&[residual], &rest)[0];
    let slope = exprs.derivative(f, s);
    let quotient = (exprs.at(f) / exprs.at(slope)).id;
    let rate = exprs.derivative(quotient, s);
    let moving = exprs.derivative(rate, s);
    if !exprs.is_zero(moving).is_zero() {
        // Of several roots the one at rest, if the state is on it.
        let at_rest = exprs.substitute(&[f], &[(s, ExprId::ZERO)])[0];
        let terms: Vec<ExprId> = rho
            .iter()
            .zip(velocities)
            .map(|(&r, &v)| (exprs.at(r) * exprs.at(exprs.of_symbol(v))).id)
            .collect();
        if exprs.is_zero(at_rest).is_zero() && vanishes(exprs.sum(&terms)) {
            let form = rho.into_iter().enumerate();
            return Disguise::Affine(form.filter(|e| e.1 != ExprId::ZERO).collect());
        }
        return Disguise::Open;
    }
    let at = [(s, some[pivot].1)];
    let values = exprs.substitute(&[quotient, rate], &at);
    let c = (exprs.at(some[pivot].1) - exprs.at(values[0]) / exprs.at(values[1])).id;
    let c = if exprs.is_zero(c).is_zero() { ExprId::ZERO } else { exprs.simplify(c) };
    let form = rho.into_iter().chain([(-exprs.at(c)).id]).enumerate();
    Disguise::Affine(form.filter(|e| e.1 != ExprId::ZERO).collect())
}

/// The kind of one constraint, in words.
pub fn kinds(
    constraint: &Constraint,
    row: usize,
    forms: &Forms,
    integrable: Option<Integrable>,
    ideal: bool,
) -> Vec<&'static str> {
    let mut words = match constraint.level {
        Level::Position => vec!["holonomic"],
        Level::Velocity => vec!["velocity-level"],
        Level::Acceleration => vec!["acceleration-level"],
    };
    if constraint.level == Level::Velocity {
        words.push(if forms.nonlinear.contains(&row) || forms.open.contains(&row) {
            "nonlinear"
        } else {
            "affine"
        });
        if forms.disguised.contains(&row) {
            words.push("written nonlinearly");
        }
        match integrable {
            Some(Integrable::Alone) => words.push("integrable"),
            Some(Integrable::Together) => words.push("integrable with others"),
            Some(Integrable::Not) => words.push("nonholonomic"),
            None => {}
        }
    }
    words.push(if constraint.scleronomic { "scleronomic" } else { "rheonomic" });
    match constraint.catastatic {
        Some(true) => words.push("catastatic"),
        Some(false) => words.push("acatastatic"),
        None => {}
    }
    words.push(match (constraint.servo, ideal) {
        (true, _) => "servo",
        (false, true) => "ideal",
        (false, false) => "non-ideal",
    });
    words
}

/// Whether one row can be integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrable {
    /// It is holonomic by itself.
    Alone,
    /// It is one of several that are so together.
    Together,
    /// It is not.
    Not,
}
