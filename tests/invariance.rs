//! What must not change the equations, does not: a total derivative added to L,
//! the description by L or by H, the names and the order of statements.

mod support;

use dalembert::expr::{ExprId, Symbol};
use dalembert::{EquationsOfMotion, Model};
use support::{error, evaluate, model, values};

/// L and L + df/dt give the same M, Q, A and b, symbol by symbol.
#[test]
fn a_total_derivative_changes_nothing() {
    let base = "param m = 2, k = 3\ncoord x, y\nlet f = x^2*sin(y) + t*x*y + exp(t)*y\n\
        kinetic m/2*(x'^2 + (1 + x^2)*y'^2) + t*x'*y'\npotential k*x*y^2\n\
        constraint c: x'*y = t*y'\nforce x: -x'*y'\n";
    let (plain, gauged) = (model(base), model(&format!("{base}lagrangian f'")));
    let [a, b] = [&plain, &gauged].map(|m| dalembert::derive(m, None).expect("applies"));
    let state = (&[0.3, -0.7][..], &[1.1, 0.4][..], 0.6);
    let [s, t] =
        [(&plain, &a), (&gauged, &b)].map(|(m, e)| evaluate(m, e, state.0, state.1, state.2));
    for (x, y) in [
        (&s.metric, &t.metric),
        (&s.force, &t.force),
        (&s.jacobian, &t.jacobian),
        (&s.bias, &t.bias),
    ] {
        assert!(error(x, y) < 1e-13, "{x:?} {y:?}");
    }
    // The comparison can fail: f itself is no total derivative.
    let wrong = model(&format!("{base}lagrangian f"));
    let equations = dalembert::derive(&wrong, None).expect("applies");
    let terms = evaluate(&wrong, &equations, state.0, state.1, state.2);
    assert!(error(&terms.force, &s.force) > 1e-3);
}

/// v̇ of Γ v̇ = F + C + Aᵀλ, A v̇ = b, for independent rows.
fn rates(model: &Model, equations: &EquationsOfMotion) -> Vec<ExprId> {
    let (n, m) = (equations.v.len(), equations.bias.len());
    let exprs = &model.exprs;
    let mut k = Vec::new();
    for i in 0..n {
        k.extend((0..n).map(|j| equations.metric.get(i, j)));
        k.extend((0..m).map(|r| (-exprs.at(equations.jacobian.get(r, i))).id));
    }
    for r in 0..m {
        k.extend((0..n).map(|j| equations.jacobian.get(r, j)));
        k.extend((0..m).map(|_| ExprId::ZERO));
    }
    let force = equations.force.iter().zip(&equations.nonideal);
    let mut right: Vec<ExprId> = force.map(|(&f, &c)| (exprs.at(f) + exprs.at(c)).id).collect();
    right.extend(&equations.bias);
    exprs.solve(&k, &right)[..n].to_vec()
}

/// One system by T and V and by H, with a holonomic row, a row on velocities, a
/// nonlinear one, forces, friction and a non-ideal part: the same accelerations.
#[test]
fn lagrange_and_hamilton_agree() {
    let common = "param m = 1.5, g = 9.81, c = 0.3\ncoord r, th, z\n\
        dissipation c/2*(r'^2 + th'^2)\nforce th: sin(t)*r'\nnonideal z: -r'*z'\nforce [1, t, 0] at [r*cos(th), r*sin(th), z]\n";
    for constraint in [
        "constraint cone: r = z*(1 + t/10)",
        "constraint roll: r*th' = z'",
        "constraint speed: r'^2 + r^2*th'^2 = z'^2 + t",
        "constraint servo: r'' + th'' = sin(t)",
        "constraint cone: r = z*(1 + t/10)\nconstraint roll: r*th' = z'",
        "constraint momenta: p_th = m*r*p_z + t",
    ] {
        let by_l = model(&format!(
            "{common}{constraint}\nkinetic m/2*(r'^2 + r^2*th'^2 + z'^2)\npotential m*g*z + r^2"
        ));
        let by_h = model(&format!(
            "{common}{constraint}\nhamiltonian (p_r^2 + p_th^2/r^2 + p_z^2)/(2*m) + m*g*z + r^2"
        ));
        let l = dalembert::derive(&by_l, None).expect("applies");
        let h = dalembert::derive(&by_h, None).expect("applies");
        assert_eq!((l.formulation, h.formulation), ("lagrange", "hamilton"));
        let (q, v, t) = ([0.8, 0.4, 0.7], [0.5, -0.9, 1.3], 0.25);
        let p = [1.5 * v[0], 1.5 * q[0] * q[0] * v[1], 1.5 * v[2]];
        let expected = values(&by_l, &l, &rates(&by_l, &l), &q, &v, t);
        // q̈ = d/dt H_p along ṗ.
        let p_dot = rates(&by_h, &h);
        let mut along: Vec<(Symbol, ExprId)> =
            h.q.iter().copied().zip(h.kinematics.iter().copied()).collect();
        along.extend(h.v.iter().copied().zip(p_dot));
        along.push((Symbol::TIME, ExprId::ONE));
        let q_ddot = by_h.exprs.directional(&h.kinematics, &along);
        let found = values(&by_h, &h, &q_ddot, &q, &p, t);
        assert!(error(&found, &expected) < 1e-12, "{constraint}: {found:?} {expected:?}");
    }
}

/// Every order of the statements gives the same document.
#[test]
fn the_order_of_statements_does_not_matter() {
    let lines = [
        "param m = 2*k, k = 3",
        "let v2 = dot(r', r'), r = [x, y*u]",
        "coord x, y",
        "kinetic m/2*v2",
        "let u = cos(x)",
        "constraint c: r[2] = t*x",
        "potential k*y",
    ];
    let document = |text: &str| {
        let model = model(text);
        let equations = dalembert::derive(&model, None).expect("applies");
        dalembert::export::Derivation::new(&model, &equations).to_text()
    };
    let expected = document(&lines.join("\n"));
    for turn in 1..lines.len() {
        let mut turned = lines;
        turned.rotate_left(turn);
        assert_eq!(document(&turned.join("\n")), expected);
        turned.reverse();
        assert_eq!(document(&turned.join("\n")), expected);
    }
}
