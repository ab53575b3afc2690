//! The residual against the normal form it is made of, on some pages of the gallery and by every
//! formulation that applies: the coefficients of v̇ and λ are those of the normal form, and what
//! is left at v̇ = 0, λ = 0 is its right-hand side.

use dalembert_derive::{ALL, Choices, EquationsOfMotion, Residual};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::load::{Syntax, load};
use dalembert_model::resolve::Limits;
use dalembert_model::system::Model;

fn page(name: &str) -> Model {
    let path = format!("{}/../../gallery/{name}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the page is there");
    load(&path, &text, Syntax::Markdown, &[], Limits::default()).model.expect("no faults")
}

/// Whether a matrix is another one times a sign, as functions.
fn are_same(exprs: &Exprs, a: &Jacobian, b: &Jacobian, sign: i64) -> bool {
    (0..a.rows.len()).all(|i| {
        (0..a.columns).all(|j| {
            let off = exprs.at(a.get(i, j)) - sign * exprs.at(b.get(i, j));
            exprs.is_zero(off.id).is_zero()
        })
    })
}

/// What of the residual does not follow from the normal form.
fn faults(exprs: &Exprs, equations: &EquationsOfMotion, residual: &Residual) -> Vec<&'static str> {
    let mut found = Vec::new();
    let rows: Vec<ExprId> = residual.rows.iter().map(|row| row.acceleration).collect();
    let by_rates = exprs.jacobian(&residual.dynamics, &residual.accelerations);
    if !are_same(exprs, &by_rates, &equations.metric, 1) {
        found.push("Γ");
    }
    if !are_same(exprs, &exprs.jacobian(&rows, &residual.accelerations), &equations.jacobian, 1) {
        found.push("A");
    }
    // Forces that depend on multipliers have slopes of their own.
    if equations.multipliers.is_empty() {
        let by_lambda = exprs.jacobian(&residual.dynamics, &residual.multipliers);
        let transposed = dalembert_derive::matrix::transposed(&equations.jacobian);
        if !are_same(exprs, &by_lambda, &transposed, -1) {
            found.push("Aᵀ");
        }
    }
    let at_zero = |roots: &[ExprId], symbols: &[Symbol]| {
        let zero: Vec<(Symbol, ExprId)> = symbols.iter().map(|&s| (s, ExprId::ZERO)).collect();
        exprs.substitute(roots, &zero)
    };
    let unknowns: Vec<Symbol> =
        residual.accelerations.iter().chain(&residual.multipliers).copied().collect();
    let named: Vec<Symbol> = equations.multipliers.iter().map(|m| m.1).collect();
    let force = at_zero(&equations.force, &named);
    let nonideal = at_zero(&equations.nonideal, &named);
    for (i, &left) in at_zero(&residual.dynamics, &unknowns).iter().enumerate() {
        let off = exprs.at(left) + exprs.at(force[i]) + exprs.at(nonideal[i]);
        if !exprs.is_zero(off.id).is_zero() {
            found.push("F + C");
        }
    }
    for (&left, &b) in at_zero(&rows, &unknowns).iter().zip(&equations.bias) {
        if !exprs.is_zero((exprs.at(left) + exprs.at(b)).id).is_zero() {
            found.push("b");
        }
    }
    if exprs.symbols_of(&residual.dynamics).iter().any(|s| named.contains(s)) {
        found.push("a multiplier by the model's own symbol");
    }
    found
}

#[test]
fn the_residual_is_the_normal_form() {
    let pages = ["double-pendulum", "knife-edge", "spherical-pendulum", "rough-wire"];
    let (mut compared, mut coupled) = (0, 0);
    for name in pages {
        let model = page(name);
        let exprs = &model.exprs;
        for formulation in ALL {
            let derived = formulation.derive(exprs, &model.system, &Choices::default());
            let Ok(equations) = derived else { continue };
            let found = faults(exprs, &equations, &Residual::new(exprs, &equations));
            assert!(found.is_empty(), "{name} by {}: {found:?}", formulation.name());
            compared += 1;
            coupled += usize::from(!equations.multipliers.is_empty());
        }
    }
    assert!(compared >= 15 && coupled >= 2, "{compared} compared, {coupled} of them coupled");
}

#[test]
fn another_sign_of_the_constraint_force_is_noticed() {
    let model = page("knife-edge");
    let formulation = dalembert_derive::for_system(&model.system);
    let mut equations =
        formulation.derive(&model.exprs, &model.system, &Choices::default()).expect("applies");
    let residual = Residual::new(&model.exprs, &equations);
    for entry in equations.jacobian.rows.iter_mut().flatten() {
        entry.1 = (-model.exprs.at(entry.1)).id;
    }
    let found = faults(&model.exprs, &equations, &residual);
    assert!(found.contains(&"Aᵀ") && found.contains(&"A"), "{found:?}");
}
