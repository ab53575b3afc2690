//! The worked examples of Udwadia & Phohomsiri 2006, with the numbers of the specification.

// The numbers of the specification are quoted in full.
#![allow(clippy::excessive_precision)]

mod common;
use common::*;
use dalembert_gauss::{ALL, EVERY, SolveError, Verdict};

fn close(a: &[f64], b: &[f64]) {
    assert!(
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-13 * (1.0 + b.abs())),
        "{a:?} {b:?}"
    );
}

fn regular(name: &str) -> bool {
    name.starts_with("udwadia")
}

fn wheel() -> Problem {
    let slope = 0.5f64.sin();
    Problem {
        n: 2,
        m: 1,
        metric: vec![0.75, 0.0, 0.0, 0.0],
        force: vec![0.0, 19.625],
        nonideal: vec![0.0; 2],
        jacobian: vec![-0.5 * slope, 1.0],
        bias: vec![0.0],
    }
}

#[test]
fn example_1_wheel() {
    for e in EVERY {
        match wheel().solve(*e) {
            Ok(o) => {
                assert_eq!((o.motion, o.rank.jacobian, o.rank.metric), (Verdict::Unique, 1, 1));
                close(&o.v_dot, &[6.2724841300716559, 1.5035945412229597]);
                close(&o.multipliers, &[-19.625]);
            }
            Err(SolveError::SingularMetric { rank: 1, size: 2 }) => assert!(regular(e.name())),
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn example_2_massless_particle_is_gauge_free() {
    let mut p = wheel();
    p.n = 3;
    p.metric = vec![0.75, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    p.force.push(0.0);
    p.nonideal.push(0.0);
    p.jacobian.push(0.0);
    for e in EVERY.iter().filter(|e| !regular(e.name())) {
        let o = p.solve(*e).unwrap();
        assert_eq!(o.motion, Verdict::GaugeFree, "{}", e.name());
        assert_eq!(o.motion.name(), "gauge-free");
        assert_eq!(o.null, vec![vec![0.0, 0.0, 1.0]]);
        assert_eq!(o.undetermined, vec![false, false, true]);
        close(&o.v_dot, &[6.2724841300716559, 1.5035945412229597, 0.0]);
        close(&o.multipliers, &[-19.625]);
    }
}

fn two_masses(m1: f64, m2: f64, q: [f64; 3]) -> Problem {
    let (k1, k2) = (40.0, 24.0);
    Problem {
        n: 3,
        m: 1,
        metric: vec![m1, 0.0, 0.0, 0.0, m2, m2, 0.0, m2, m2],
        force: vec![-k1 * q[0], 0.0, -k2 * q[2]],
        nonideal: vec![0.0; 3],
        jacobian: vec![1.0, -1.0, 0.0],
        bias: vec![0.0],
    }
}

#[test]
fn example_3_two_masses() {
    let regular_case = two_masses(1.5, 2.5, [0.25, 0.25, 0.5]);
    let mut on = two_masses(0.0, 2.5, [0.375, 0.375, 0.625]);
    on.m = 2;
    on.jacobian.extend([40.0, 0.0, -24.0]);
    on.bias.push(0.0);
    let mut off = two_masses(0.0, 2.5, [0.25, 0.25, 0.5]);
    (off.m, off.jacobian, off.bias) = (2, on.jacobian.clone(), vec![0.0, 0.0]);
    let mut light = two_masses(1.5, 0.0, [0.25, 0.25, 0.0]);
    light.m = 2;
    light.jacobian.extend([0.0, 0.0, 24.0]);
    light.bias.push(0.0);
    for e in EVERY.iter().filter(|e| !regular(e.name())) {
        let o = regular_case.solve(*e).unwrap();
        close(&o.v_dot, &[4.0 / 3.0, 4.0 / 3.0, -92.0 / 15.0]);
        close(&o.multipliers, &[12.0]);
        let o = on.solve(*e).unwrap();
        close(&o.v_dot, &[-2.25, -2.25, -3.75]);
        close(&o.multipliers, &[15.0, 0.0]);
        let o = off.solve(*e).unwrap();
        close(&o.v_dot, &[-1.6875, -1.6875, -2.8125]);
        close(&o.multipliers, &[11.25, -0.03125]);
        assert_eq!(o.rank.jacobian, 2);
        let o = light.solve(*e).unwrap();
        close(&o.v_dot, &[-20.0 / 3.0, -20.0 / 3.0, 0.0]);
        close(&o.multipliers, &[0.0, 0.0]);
    }
}

#[test]
fn example_3_with_a_constraint_left_out() {
    let p = two_masses(0.0, 2.5, [0.25, 0.25, 0.5]);
    assert_eq!(p.force, [-10.0, 0.0, -12.0]);
    for e in EVERY.iter().filter(|e| !regular(e.name())) {
        let o = p.solve(*e).unwrap();
        assert_eq!(o.motion, Verdict::HiddenConstraint);
        let hidden = o.hidden.unwrap();
        close(&hidden.direction, &[1.0, 1.0, -1.0]);
        close(&[hidden.value, hidden.relative], &[2.0, 2.0 / 22.0]);
        assert!(o.v_dot.is_empty() && o.multipliers.is_empty());
        assert_eq!(o.undetermined, vec![true; 3]);
        // On the hidden constraint the same rows leave the motion gauge-free.
        let o = two_masses(0.0, 2.5, [0.375, 0.375, 0.625]).solve(*e).unwrap();
        assert_eq!(o.motion, Verdict::GaugeFree);
    }
}

#[test]
fn quaternion_body_and_dependent_nonideal_rows() {
    // x1: M = 4 EᵀJE at u = (½, ½, −½, ½) has kernel u; the row is u itself.
    let u = [0.5, 0.5, -0.5, 0.5];
    let e = [[-u[1], u[0], u[3], -u[2]], [-u[2], -u[3], u[0], u[1]], [-u[3], u[2], -u[1], u[0]]];
    let inertia = [1.0, 1.5, 2.25];
    let mut metric = vec![0.0; 16];
    for (row, j) in e.iter().zip(inertia) {
        for a in 0..4 {
            for b in 0..4 {
                metric[a * 4 + b] += 4.0 * j * row[a] * row[b];
            }
        }
    }
    let mut p = Problem { n: 4, m: 1, metric, jacobian: u.to_vec(), ..Problem::default() };
    let mut random = Random(3);
    let v =
        [-0.16059027777777778, -0.34288194444444444, 0.073784722222222222, -0.36024305555555556];
    p.pose(&mut random, &v, &[-2.96875]);
    // x2: ẏ = z ẋ stated twice, the second row three times the first.
    let speed = (1.0f64 + 0.75 * 0.75 + 0.25).sqrt();
    let x2 = Problem {
        n: 3,
        m: 2,
        metric: vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0],
        force: vec![0.5, -0.1875, -2.0 * 9.8125],
        nonideal: [1.0, 0.75, 0.5].iter().map(|v| -0.5 * speed * v).collect(),
        jacobian: vec![-0.75, 1.0, 0.0, -2.25, 3.0, 0.0],
        bias: vec![0.5, 1.5],
    };
    for e in EVERY {
        if !regular(e.name()) {
            let o = p.solve(*e).unwrap();
            assert_eq!((o.motion, o.rank.metric), (Verdict::Unique, 3));
            close(&o.v_dot, &v);
            close(&o.multipliers, &[-2.96875]);
        }
        let o = x2.solve(*e).unwrap();
        close(&o.v_dot, &[-0.4615728004459065, 0.15382039966557012, -9.9807864002229533]);
        close(&o.multipliers, &[0.1, 0.3]);
        assert_eq!(o.indeterminate, vec![true, true]);
        assert_eq!((o.rank.jacobian, o.rank.constraints), (1, 2));
    }
    assert_eq!(ALL.len(), 4);
}
