//! The Whipple bicycle against the accelerations that Basu-Mandal, Chatterjee
//! and Papadopoulos (2007) print in their Table 1 for one generic state, which
//! an independent model in quadruple precision confirms to 12 digits.

mod support;

use dalembert::{Input, Options};
use std::f64::consts::PI;
use support::evaluate;

/// Solves [M −Aᵀ; A 0][q̈; λ] = [Q; b] by elimination with row pivoting.
fn accelerations(terms: &support::Terms, n: usize, m: usize) -> Vec<f64> {
    let size = n + m;
    let mut k = vec![vec![0.0; size + 1]; size];
    for i in 0..n {
        for j in 0..n {
            k[i][j] = terms.metric[i * n + j];
        }
        for r in 0..m {
            k[i][n + r] = -terms.jacobian[r * n + i];
            k[n + r][i] = terms.jacobian[r * n + i];
        }
        k[i][size] = terms.force[i];
    }
    for r in 0..m {
        k[n + r][size] = terms.drift[r];
    }
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| k[a][column].abs().total_cmp(&k[b][column].abs()))
            .unwrap();
        k.swap(column, pivot);
        for row in column + 1..size {
            let factor = k[row][column] / k[column][column];
            for j in column..=size {
                let above = k[column][j];
                k[row][j] -= factor * above;
            }
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|j| k[row][j] * k[j][size]).sum();
        k[row][size] = (k[row][size] - known) / k[row][row];
    }
    (0..n).map(|i| k[i][size]).collect()
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
    let terms = evaluate(&model, &equations, &q, &v, 0.0);
    let found = accelerations(&terms, 9, 6);
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
