//! The Whipple bicycle against the accelerations that Basu-Mandal, Chatterjee
//! and Papadopoulos (2007) print in their Table 1 for one generic state, which
//! an independent model in quadruple precision confirms to 12 digits.

mod support;

use dalembert::expr::ExprId;
use dalembert::{EquationsOfMotion, Input, Model, Options};
use std::f64::consts::PI;
use support::values;

/// q̈ of [M −Aᵀ; A 0][q̈; λ] = [Q; b], by the `solve` node of the graph.
fn accelerations(model: &Model, equations: &EquationsOfMotion) -> Vec<ExprId> {
    let (n, m) = (equations.v.len(), equations.bias.len());
    let exprs = &model.exprs;
    let mut k = Vec::with_capacity((n + m) * (n + m));
    for row in 0..n {
        k.extend((0..n).map(|j| equations.metric.get(row, j)));
        k.extend((0..m).map(|r| (-exprs.at(equations.jacobian.get(r, row))).id));
    }
    for row in 0..m {
        k.extend((0..n).map(|j| equations.jacobian.get(row, j)));
        k.extend((0..m).map(|_| ExprId::ZERO));
    }
    let right: Vec<ExprId> = equations.force.iter().chain(&equations.bias).copied().collect();
    let mut solution = exprs.solve(&k, &right);
    solution.truncate(n);
    solution
}

#[test]
fn accelerations_of_table_1() {
    let input = Input::open("gallery:whipple-bicycle").expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let equations = dalembert::derive(&model, None).expect("applies");
    // The paper's coordinates, and ours by x = −X, y = Y, z = −Z, yaw = −θ,
    // roll = π/2 − ψ, pitch = π − φ, steer = −ψ_f, wheels −β.
    let q = [
        0.0,
        0.0,
        -0.2440472102925,
        0.0,
        PI / 2.0 - 0.9501292851472,
        PI - 3.1257073014894,
        -0.2311385135743,
        0.0,
        0.0,
    ];
    let v = [
        2.8069345714545,
        -0.1480982396001,
        -0.1058778746261,
        -0.7830033527065,
        -0.6068425835418,
        0.0119185528069,
        -0.4859824687093,
        -8.9129896614890,
        -8.0133620584155,
    ];
    let expected = [
        0.5041626315047636,
        -0.34497066194543874,
        1.4604528332980184,
        -0.8353281706380009,
        7.855528112824301,
        -0.12055438978837053,
        4.6198904039398005,
        -1.8472554144219437,
        -2.454807290455227,
    ];
    let found = values(&model, &equations, &accelerations(&model, &equations), &q, &v, 0.0);
    // The printed state has 13 digits, which is what limits the agreement.
    let off = support::error(&found, &expected);
    assert!(off < 2e-11, "off by {off:e}: {found:?}");
}

#[test]
fn nothing_swells() {
    let lines: Vec<String> =
        ["whipple-bicycle", "bricard", "rolling-disk", "spinning-top", "four-bar"]
            .iter()
            .map(|name| {
                let input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
                let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
                let equations = dalembert::derive(&model, None).expect("applies");
                let (n, m) = (model.system.n_coordinates(), model.system.constraints.len());
                format!(
                    "{name}: {n} coordinates, {m} rows, {} nodes",
                    equations.count_nodes(&model.exprs)
                )
            })
            .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
