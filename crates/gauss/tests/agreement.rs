//! The eliminations against known solutions, and so against each other.

mod common;
use common::*;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::{ALL, EVERY, Outcome, Scratch, SolveError, Tolerances, Verdict};

/// A random problem: n 1..8, m 0..n+3, a third of the metrics singular, half of the problems with
/// dependent rows. Returns v̇ and some multipliers.
fn random_problem(random: &mut Random, case: usize) -> (Problem, Vec<f64>, Vec<f64>) {
    let n = 1 + random.below(8);
    let m = random.below(n + 4);
    let independent = if case.is_multiple_of(2) {
        m.min(n)
    } else {
        random.below(m.min(n) + 1).max(usize::from(m > 0))
    };
    let rank =
        if case.is_multiple_of(3) { (n - random.below(n + 1)).max(n - independent) } else { n };
    let mut p = Problem { n, m, ..Problem::default() };
    p.metric = semidefinite(random, n, rank);
    p.jacobian = random.vector(independent * n);
    for _ in independent..m {
        let weights = random.vector(independent);
        for i in 0..n {
            let column: Vec<f64> = (0..independent).map(|j| p.jacobian[j * n + i]).collect();
            p.jacobian.push(dot2(&column, &weights));
        }
    }
    let (v, l) = (random.vector(n), random.vector(m));
    p.pose(random, &v, &l);
    (p, v, l)
}

/// Condition number of the problem: the norm of the inverse KKT matrix (zero singular values left
/// out) times the size of the data, over the size of v̇. Rounding F, C, b alone moves v̇ by ε times
/// this.
fn condition(p: &Problem, v: &[f64]) -> f64 {
    let size = p.n + p.m;
    let mut a = vec![0.0; size * size];
    for i in 0..p.n {
        for j in 0..p.n {
            a[i * size + j] = p.metric[i * p.n + j];
        }
        for j in 0..p.m {
            a[i * size + p.n + j] = p.jacobian[j * p.n + i];
            a[(p.n + j) * size + i] = p.jacobian[j * p.n + i];
        }
    }
    let mut svd = Svd::default();
    svd.decompose(&a, size, size);
    let data = norm(&p.force) + norm(&p.nonideal) + norm(&p.bias);
    let smallest = svd.sigma[svd.rank(1e-13) - 1];
    (svd.sigma[0] + data / norm(v)) / smallest
}

/// λ of least norm by brute force: U Uᵀ λ with the left singular vectors of A.
fn least_norm(p: &Problem, l: &[f64], rank: usize) -> Vec<f64> {
    let mut svd = Svd::default();
    svd.decompose(&p.jacobian, p.m, p.n);
    let mut out = vec![0.0; p.m];
    for k in 0..rank {
        let u = &svd.u[k * p.m..(k + 1) * p.m];
        let w = dot2(u, l);
        out.iter_mut().zip(u).for_each(|(o, u)| *o += w * u);
    }
    out
}

#[test]
fn all_eliminations_find_the_known_solution() {
    let mut random = Random(11);
    let mut scratch = Scratch::default();
    let mut outcome = Outcome::default();
    let (mut solved, mut refused, mut worst) = (0, 0, vec![0.0f64; EVERY.len()]);
    let mut rough = 0;
    let (mut worst_multiplier, mut worst_certificate) = (0.0f64, 0.0f64);
    for case in 0..6000 {
        let (p, v, l) = random_problem(&mut random, case);
        let kappa = condition(&p, &v);
        if kappa > 1e9 {
            continue;
        }
        for (k, e) in EVERY.iter().enumerate() {
            let tolerances = Tolerances::default();
            let is_literal = e.name().ends_with("literal");
            let inverts = e.name().starts_with("udwadia-kalaba");
            match e.solve(&mut scratch, &p.terms(), &tolerances, &mut outcome) {
                Ok(()) => {}
                Err(SolveError::SingularMetric { .. })
                    if inverts && (case % 3 == 0 || is_literal) =>
                {
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("case {case}, {}: {error}", e.name()),
            }
            assert_eq!(outcome.motion, Verdict::Unique, "case {case} {} {p:?}", e.name());
            let mismatch = error(&outcome.v_dot, &v) / kappa;
            worst[k] = worst[k].max(mismatch);
            // The printed formulas square condition numbers, so they are only looked at as a whole.
            rough += usize::from(is_literal && mismatch * kappa > 1e-6);
            assert!(
                mismatch < 1e-14 || is_literal,
                "case {case} {}: {mismatch:e} kappa {kappa:e}",
                e.name()
            );
            if !is_literal {
                let expected = least_norm(&p, &l, outcome.rank.jacobian);
                let mismatch = error(&outcome.multipliers, &expected) / kappa;
                worst_multiplier = worst_multiplier.max(mismatch);
                assert!(mismatch < 1e-13, "case {case} {}: λ {mismatch:e}", e.name());
                let certificate = outcome.stationarity.max(outcome.feasibility);
                worst_certificate = worst_certificate.max(certificate);
                assert!(certificate < 1e-14 * kappa.max(100.0), "{certificate:e}");
                let redundant = p.m > outcome.rank.jacobian;
                assert_eq!(outcome.indeterminate.iter().any(|i| *i), redundant);
            }
            solved += 1;
        }
    }
    println!("solved {solved}, refused {refused}, worst error/κ {worst:?}");
    println!("λ error/κ {worst_multiplier:.1e}, certificates {worst_certificate:.1e}");
    println!("literal solutions with an error above 1e-6: {rough}");
    assert!(rough < 100 && solved > 25_000 && refused > 1000);
}

#[test]
fn the_checks_of_this_file_can_fail() {
    let mut random = Random(12);
    let (p, v, l) = random_problem(&mut random, 1);
    let mut other = v.clone();
    other[0] += 1e-6;
    assert!(error(&p.solve(ALL[2]).unwrap().v_dot, &other) > 1e-8);
    // Two equal rows: the multipliers that posed the problem are not those of least norm.
    let mut p = Problem { n: 1, m: 2, metric: vec![1.0], jacobian: vec![1.0, 1.0], ..p };
    p.pose(&mut random, &[0.5], &[1.0, 0.0]);
    assert!(error(&l[..0], &v) == f64::INFINITY);
    for e in ALL {
        let o = p.solve(*e).unwrap();
        assert!(error(&o.multipliers, &[1.0, 0.0]) > 0.5);
        assert!(error(&o.multipliers, &[0.5, 0.5]) < 1e-15);
    }
}

#[test]
fn least_squares_are_the_same_for_all() {
    let mut random = Random(13);
    let tolerances = Tolerances { least_squares: true, ..Tolerances::default() };
    for case in 0..300 {
        let (mut p, ..) = random_problem(&mut random, 1 + 6 * case);
        if p.m == 0 {
            continue;
        }
        p.bias.iter_mut().for_each(|b| *b += random.normal());
        let reference = p.solve_with(ALL[2], &tolerances).unwrap();
        for e in ALL {
            let o = p.solve_with(*e, &tolerances).unwrap();
            assert_eq!(o.motion, reference.motion);
            let kappa = condition(&p, &reference.v_dot);
            assert!(error(&o.v_dot, &reference.v_dot) < 1e-13 * kappa * kappa.sqrt().max(10.0));
            assert_eq!(o.multipliers.len(), p.m);
        }
    }
}

#[test]
fn empty_problems() {
    for e in EVERY {
        let o = Problem::default().solve(*e).unwrap();
        assert_eq!((o.motion, o.v_dot.len()), (Verdict::Unique, 0));
        let free = Problem {
            n: 2,
            m: 0,
            metric: vec![2.0, 0.0, 0.0, 4.0],
            force: vec![1.0, 1.0],
            nonideal: vec![1.0, 0.0],
            ..Problem::default()
        };
        assert!(error(&free.solve(*e).unwrap().v_dot, &[1.0, 0.25]) < 1e-15);
        let rows = Problem { m: 2, bias: vec![0.0, 0.0], ..Problem::default() };
        assert_eq!(rows.solve(*e).unwrap().motion, Verdict::Unique);
        let rows = Problem { m: 2, bias: vec![0.0, 1.0], ..Problem::default() };
        let o = rows.solve(*e).unwrap();
        assert_eq!(o.motion, Verdict::Inconsistent);
        assert_eq!(o.conflict.unwrap().weights, vec![0.0, 1.0]);
    }
}
