//! A metric with negative directions that the constraints remove poses a problem like any other:
//! the motion is unique iff Γ ≻ 0 on ker A, and every elimination says so, or refuses in words.

mod common;
use common::*;
use dalembert_gauss::{ALL, EVERY, SolveError, Verdict};

/// Γ = [Y N] G [Y N]ᵀ with a given N-block of G, and A = R Yᵀ: a problem with the wanted K.
struct Case {
    problem: Problem,
    v_dot: Vec<f64>,
    multipliers: Vec<f64>,
}

/// `sign` is that of one direction of K: +1 definite, −1 indefinite, 0 singular.
fn random(random: &mut Random, sign: f64, repeat: bool) -> Case {
    let n = 2 + random.below(6);
    let r = 1 + random.below(n - 1);
    let free = n - r;
    let q = random.orthonormal(n, n);
    let mut g = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let x = random.normal();
            (g[i * n + j], g[j * n + i]) = (x, x);
        }
    }
    // K = W diag Wᵀ with the first eigenvalue of the wanted sign.
    let w = random.orthonormal(free, free);
    for i in 0..free {
        for j in 0..free {
            let x = (0..free).map(|k| {
                let value = if k == 0 { sign } else { 0.25 + k as f64 / 4.0 };
                w[i * free + k] * value * w[j * free + k]
            });
            g[(r + i) * n + r + j] = x.sum();
        }
    }
    // A direction that is negative beyond doubt, and removed.
    g[0] = -2.0 - g[0].abs();
    let mut metric = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                metric[i * n + j] +=
                    (0..n).map(|l| q[i * n + k] * g[k * n + l] * q[j * n + l]).sum::<f64>();
            }
        }
    }
    for i in 0..n {
        for j in 0..i {
            metric[i * n + j] = metric[j * n + i];
        }
    }
    let m = r + usize::from(repeat);
    let mix = random.orthonormal(r, r);
    let mut jacobian = vec![0.0; m * n];
    for j in 0..r {
        for i in 0..n {
            jacobian[j * n + i] = (0..r).map(|k| mix[j * r + k] * q[i * n + k]).sum();
        }
    }
    if repeat {
        for i in 0..n {
            jacobian[r * n + i] = 2.0 * jacobian[i];
        }
    }
    let mut problem = Problem { n, m, metric, jacobian, ..Problem::default() };
    let v_dot = random.vector(n);
    let mut multipliers = random.vector(m);
    if repeat {
        // The shortest λ of rows (a, 2a) is along (1, 2).
        multipliers[r] = 2.0 * multipliers[0];
    }
    problem.pose(random, &v_dot, &multipliers);
    Case { problem, v_dot, multipliers }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(1f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

#[test]
fn what_the_constraints_remove_may_be_negative() {
    let mut source = Random(71);
    for number in 0..2000 {
        let case = random(&mut source, 1.0, number % 3 == 0);
        for e in EVERY {
            match case.problem.solve(*e) {
                Ok(o) => {
                    assert_eq!(o.motion, Verdict::Unique, "{} {:?}", e.name(), case.problem);
                    let off = distance(&o.v_dot, &case.v_dot)
                        .max(distance(&o.multipliers, &case.multipliers));
                    assert!(off < 1e-10, "{number} {}: {off:e} {:?}", e.name(), case.problem);
                    assert!(o.stationarity < 1e-12 && o.feasibility < 1e-12, "{o:?}");
                }
                Err(error) => {
                    assert!(e.name().starts_with("udwadia-kalaba"), "{} {error}", e.name());
                    assert!(matches!(error, SolveError::NegativeDirection { .. }), "{error}");
                }
            }
        }
    }
}

#[test]
fn what_they_leave_free_may_not_be_negative_nor_without_mass() {
    let mut source = Random(72);
    for number in 0..1000 {
        let sign = if number % 2 == 0 { -0.5 } else { 0.0 };
        let case = random(&mut source, sign, number % 3 == 0);
        for e in EVERY {
            let error = case.problem.solve(*e).unwrap_err();
            assert!(matches!(error, SolveError::IndefiniteMetric { .. }), "{error}");
        }
    }
}

/// A coordinate in no row and without mass leaves the rest as it is.
#[test]
fn a_gauge_coordinate_beside_a_negative_direction() {
    let mut source = Random(73);
    for _ in 0..500 {
        let case = random(&mut source, 1.0, false);
        let (n, m) = (case.problem.n, case.problem.m);
        let mut wide = Problem { n: n + 1, m, ..case.problem.clone() };
        wide.metric = vec![0.0; (n + 1) * (n + 1)];
        wide.jacobian = vec![0.0; m * (n + 1)];
        for i in 0..n {
            for j in 0..n {
                wide.metric[i * (n + 1) + j] = case.problem.metric[i * n + j];
            }
            for j in 0..m {
                wide.jacobian[j * (n + 1) + i] = case.problem.jacobian[j * n + i];
            }
        }
        wide.force.push(0.0);
        wide.nonideal.push(0.0);
        for e in [ALL[0], ALL[2], ALL[3]] {
            let o = wide.solve(e).unwrap();
            assert_eq!(o.motion, Verdict::GaugeFree);
            assert!(distance(&o.v_dot[..n], &case.v_dot) < 1e-10 && o.v_dot[n] == 0.0, "{o:?}");
        }
        *wide.force.last_mut().unwrap() = 1.0;
        assert_eq!(wide.solve(ALL[2]).unwrap().motion, Verdict::HiddenConstraint);
    }
}

/// T = M x'y' with y = k x has no mass on its diagonal, and M k on the constraint. Units may be
/// any.
#[test]
fn coordinates_with_mass_in_products_only() {
    let mut source = Random(74);
    for _ in 0..500 {
        let (mass, k) = (source.unit(0.0, 6.0), source.unit(0.0, 6.0));
        let own = if source.below(2) == 0 { 0.0 } else { -mass * k / 4.0 };
        let v_dot = source.unit(0.0, 3.0);
        let lambda = source.unit(0.0, 3.0) * mass;
        let mut p = Problem {
            n: 2,
            m: 1,
            metric: vec![own, mass, mass, 0.0],
            jacobian: vec![-k, 1.0],
            ..Problem::default()
        };
        let v = [v_dot, k * v_dot];
        p.force = vec![own * v[0] + mass * v[1] + k * lambda, mass * v[0] - lambda];
        p.nonideal = vec![0.0; 2];
        p.bias = vec![-k * v[0] + v[1]];
        for e in [ALL[0], ALL[2], ALL[3]] {
            let o = p.solve(e).unwrap();
            assert_eq!(o.motion, Verdict::Unique);
            let off = (o.v_dot[0] / v[0] - 1.0).abs().max((o.v_dot[1] / v[1] - 1.0).abs());
            // The force is known to rounding of its larger term.
            let amplified = 1.0 + lambda.abs() / (mass * v_dot).abs();
            assert!(off < 1e-14 * amplified * 16.0, "{} {off:e} {p:?} {o:?}", e.name());
        }
    }
}
