//! The multiplier form of Hamilton's equations, evaluated as it is printed, as a
//! second way to the numbers of the formulation `hamilton`.

mod support;

use dalembert::expr::{ExprId, Jacobian, Symbol};
use dalembert::formulations::{Choices, kernel};
use dalembert::simulate::report::Report;
use dalembert::simulate::{Evaluation, Numbers, Setting};
use dalembert::{Model, derive};
use serde_json::Value;
use support::oracle_model::*;
use support::own_variables::{TOLERANCE, table};

/// Greenwood (2.111)–(2.113), as printed:
///
/// ```text
/// A H_pp Aᵀ λ = A H_pp(H_q − Q′ − C) − ∂_q(A H_p + a_t) H_p − ∂_t(A H_p + a_t)
/// ṗ = −H_q + Q′ + C + Aᵀλ
/// ```
///
/// Here H itself is differentiated, with its inverse of M, and so is A H_p + a_t;
/// the formulation does neither, which makes this a second way to the numbers.
fn multiplier_form(oracle: &Value, model: &Model) -> bool {
    let expected = &oracle["expected"];
    let (exprs, system) = (&model.exprs, &model.system);
    let setting = Setting::new(model).expect("values");
    let state = state(oracle, &setting);
    let hamilton = derive(model, Some("hamilton")).expect("applies");
    let h = match &hamilton.canonical {
        Some(canonical) if hamilton.auxiliary.is_none() => canonical.hamiltonian,
        _ => return false,
    };
    let (q, p) = (system.positions(), system.momenta());
    let n = q.len();
    let own = Numbers::new(&setting, &hamilton, &state).expect("numbers");
    let at = table(&hamilton, &own, &state);
    let h_p = exprs.gradient(h, &p);
    let h_pp = exprs.jacobian(&h_p, &p);
    let h_pp = dense(&h_pp);
    let mut phi = hamilton.velocity_residuals.clone();
    phi.sort_by_key(|r| r.0);
    let phi: Vec<ExprId> = phi.into_iter().map(|r| r.1).collect();
    let m = phi.len();
    let phi_q = exprs.jacobian(&phi, &q);
    let phi_q = dense(&phi_q);
    let phi_t: Vec<ExprId> = phi.iter().map(|&f| exprs.derivative(f, Symbol::TIME)).collect();
    let number = |list: &[ExprId]| setting.numbers(list, &at);
    let (velocity, h_pp, h_q) = (number(&h_p), number(&h_pp), number(&exprs.gradient(h, &q)));
    let (phi_q, phi_t) = (number(&phi_q), number(&phi_t));
    let given = |forces| setting.numbers(&kernel::total(exprs, n, forces), &state.table(system));
    let (impressed, nonideal) = (given(&system.forces), given(&system.nonideal));
    let f: Vec<f64> = (0..n).map(|i| impressed[i] + nonideal[i] - h_q[i]).collect();
    // A in velocities, as the reference has it.
    let a = numbers(&expected["A"]);
    let times = |matrix: &[f64], i: usize, x: &[f64]| -> f64 {
        (0..n).map(|j| matrix[i * n + j] * x[j]).sum()
    };
    let h_pp_f: Vec<f64> = (0..n).map(|i| times(&h_pp, i, &f)).collect();
    let right: Vec<f64> =
        (0..m).map(|j| -times(&a, j, &h_pp_f) - times(&phi_q, j, &velocity) - phi_t[j]).collect();
    let mut k = vec![0.0; m * m];
    for j in 0..m {
        let column: Vec<f64> = (0..n).map(|i| times(&h_pp, i, &a[j * n..])).collect();
        (0..m).for_each(|i| k[i * m + j] = times(&a, i, &column));
    }
    let lambda = numbers(&expected["lambda_min_norm"]);
    let left: Vec<f64> = (0..m).map(|i| (0..m).map(|j| k[i * m + j] * lambda[j]).sum()).collect();
    let off = error(&left, &right);
    assert!(off <= TOLERANCE, "{}: (3.3′) is off by {off:e}", name(oracle));
    // With dependent rows any λ of (3.3′) serves; the one of least norm is taken.
    let independent = numbers(&expected["rank_A"])[0] as usize == m;
    let lambda = if independent { solve(k, right) } else { lambda };
    let p_dot: Vec<f64> =
        (0..n).map(|i| f[i] + (0..m).map(|j| a[j * n + i] * lambda[j]).sum::<f64>()).collect();
    let report = every_route(&setting, &state, &Choices::default());
    let evaluation = cell(&report, "hamilton", "multipliers");
    for (what, found, by_route, key) in [
        ("λ", &lambda, &evaluation.outcome.multipliers, "lambda_min_norm"),
        ("ṗ", &p_dot, &evaluation.outcome.v_dot, "pdot"),
    ] {
        for (whom, expected) in [("reference", &numbers(&expected[key])), ("route", by_route)] {
            let off = error(found, expected);
            assert!(off <= TOLERANCE, "{}: {what} and the {whom}: {off:e}", name(oracle));
        }
    }
    true
}

/// The entries row by row.
fn dense(m: &Jacobian) -> Vec<ExprId> {
    let places = (0..m.rows.len()).flat_map(|i| (0..m.columns).map(move |j| (i, j)));
    places.map(|(i, j)| m.get(i, j)).collect()
}

fn cell<'r>(report: &'r Report, formulation: &str, elimination: &str) -> &'r Evaluation {
    let named = |a: &&dalembert::simulate::Answer| {
        a.formulation == formulation && a.elimination == elimination
    };
    let answer = report.answers.iter().find(named).expect("it is there");
    answer.result.as_ref().expect("numbers")
}

/// K x = r by elimination with partial pivoting.
fn solve(mut k: Vec<f64>, mut r: Vec<f64>) -> Vec<f64> {
    let n = r.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|&i, &j| k[i * n + c].abs().total_cmp(&k[j * n + c].abs()));
        let pivot = pivot.expect("not empty");
        (0..n).for_each(|j| k.swap(c * n + j, pivot * n + j));
        r.swap(c, pivot);
        for i in c + 1..n {
            let factor = k[i * n + c] / k[c * n + c];
            (c..n).for_each(|j| k[i * n + j] -= factor * k[c * n + j]);
            r[i] -= factor * r[c];
        }
    }
    for c in (0..n).rev() {
        r[c] = (r[c] - (c + 1..n).map(|j| k[c * n + j] * r[j]).sum::<f64>()) / k[c * n + c];
    }
    r
}

#[test]
fn the_multiplier_form_of_hamilton_as_printed() {
    let mut evaluated = 0;
    for oracle in of_kind("state").iter().filter(|o| o["kind"] == "state") {
        let expected = &oracle["expected"];
        if !expected["pdot"].is_null() && !numbers(&expected["A"]).is_empty() {
            evaluated += multiplier_form(oracle, &model(&model_text(oracle))) as usize;
        }
    }
    for (oracle, model) in by_hamiltonian() {
        assert!(multiplier_form(&oracle, &model), "{}", name(&oracle));
        evaluated += 1;
    }
    println!("{evaluated} systems");
    assert!(evaluated >= 25, "only {evaluated}");
}
