//! Relative errors of v̇ at given condition numbers of M and A.

mod common;
use common::*;
use dalembert_gauss::{EVERY, Tolerances, Verdict};

/// Rounds to a multiple of 2^−bits, so that F and b below are exact and the solution is known.
fn round(x: f64, bits: i32) -> f64 {
    (x * 2f64.powi(bits)).round() / 2f64.powi(bits)
}

fn draw(random: &mut Random, cond_m: f64, cond_a: f64, dependent: usize) -> (Problem, Vec<f64>) {
    let (n, r) = (10, 4);
    let spread = |k: usize, of: usize, cond: f64| cond.powf(-(k as f64) / (of - 1) as f64);
    let q = random.orthonormal(n, n);
    let mut p = Problem { n, m: r + dependent, metric: vec![0.0; n * n], ..Problem::default() };
    for i in 0..n {
        for j in 0..=i {
            let scaled: Vec<f64> = (0..n).map(|k| q[i * n + k] * spread(k, n, cond_m)).collect();
            let value = round(dot2(&scaled, &q[j * n..(j + 1) * n]), 40);
            (p.metric[i * n + j], p.metric[j * n + i]) = (value, value);
        }
    }
    let (u, v) = (random.orthonormal(r, r), random.orthonormal(n, r));
    for j in 0..r {
        for i in 0..n {
            let sum = (0..r).map(|k| u[j * r + k] * spread(k, r, cond_a) * v[i * r + k]).sum();
            p.jacobian.push(round(sum, 36));
        }
    }
    for _ in 0..dependent {
        let w: Vec<f64> = (0..r).map(|_| round(random.normal(), 2)).collect();
        for i in 0..n {
            let column: Vec<f64> = (0..r).map(|j| p.jacobian[j * n + i]).collect();
            p.jacobian.push(dot2(&column, &w));
        }
    }
    let v: Vec<f64> = (0..n).map(|_| round(random.normal(), 5)).collect();
    let l: Vec<f64> = (0..p.m).map(|_| round(random.normal(), 3)).collect();
    p.pose(random, &v, &l);
    p.nonideal.fill(0.0);
    for i in 0..n {
        let column: Vec<f64> = (0..p.m).map(|j| -p.jacobian[j * n + i]).collect();
        let left: Vec<f64> = p.metric[i * n..(i + 1) * n].iter().chain(&column).copied().collect();
        p.force[i] = dot2(&left, v.iter().chain(&l));
    }
    (p, v)
}

#[test]
fn errors_are_those_of_the_table() {
    // cond M, cond A, dependent rows; largest error allowed for the null space and for the other
    // three of ALL.
    let rows = [
        (1e1, 1e1, 3, 5e-14, 5e-14),
        (1e6, 1e1, 3, 5e-11, 1e-10),
        (1e1, 1e4, 0, 2e-11, 1e-8),
        (1e10, 1e1, 0, 1e-7, 1e-7),
        (1e3, 1e7, 0, 5e-8, 1e-4),
    ];
    let mut random = Random(31);
    for (cond_m, cond_a, dependent, limit, others) in rows {
        let mut errors = vec![Vec::new(); EVERY.len()];
        for _ in 0..200 {
            let (p, v) = draw(&mut random, cond_m, cond_a, dependent);
            for (k, e) in EVERY.iter().enumerate() {
                let o = p.solve_with(*e, &Tolerances::default()).unwrap();
                assert_eq!((o.motion, o.rank.jacobian), (Verdict::Unique, 4), "{:?}", o.rank);
                errors[k].push(error(&o.v_dot, &v));
            }
        }
        println!("cond M {cond_m:e}, cond A {cond_a:e}, dependent {dependent}");
        for (k, e) in EVERY.iter().enumerate() {
            errors[k].sort_by(f64::total_cmp);
            let (median, max) = (errors[k][100], errors[k][199]);
            println!("  {:24} {median:.0e}, {max:.0e}", e.name());
            if !e.name().ends_with("literal") {
                let by_null_space = ["null-space", "articulated-bodies"].contains(&e.name());
                assert!(max < if by_null_space { limit } else { others }, "{} {max:e}", e.name());
            }
        }
    }
}

#[test]
fn units_of_mass_do_not_matter() {
    let mut random = Random(32);
    for s in [1e-9, 1e-6, 1.0, 1e6, 1e9] {
        let mut worst = vec![0.0f64; EVERY.len()];
        for _ in 0..50 {
            let mut p = Problem { n: 8, m: 4, ..Problem::default() };
            p.metric = semidefinite(&mut random, 8, 5);
            p.jacobian = random.vector(32);
            let (v, l) = (random.vector(8), random.vector(4));
            p.pose(&mut random, &v, &l);
            let p = p.in_units(&[1.0; 8], &[1.0; 4], s);
            for (k, e) in EVERY.iter().enumerate() {
                if let Ok(o) = p.solve(*e) {
                    assert_eq!(o.motion, Verdict::Unique);
                    worst[k] = worst[k].max(error(&o.v_dot, &v));
                }
            }
        }
        println!("(M, Q) × {s:e}: {worst:?}");
        let of_robust = worst.iter().zip(EVERY).filter(|(_, e)| !e.name().ends_with("literal"));
        assert!(of_robust.fold(0.0, |m, (w, _)| w.max(m)) < 1e-9);
    }
}
