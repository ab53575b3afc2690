//! The four statuses are told apart, in any units.

mod common;
use common::*;
use dalembert_gauss::{ALL, EVERY, Noise, Outcome, Scratch, SolveError, Tolerances, Verdict};

/// A problem of the wanted status. Coordinates are mixed so that nothing is aligned with axes.
fn build(random: &mut Random, motion: Verdict, aligned: bool) -> (Problem, Vec<Vec<f64>>) {
    let free_null = matches!(motion, Verdict::GaugeFree | Verdict::HiddenConstraint);
    let null = if free_null { 1 + random.below(2) } else { 0 };
    let core = 1 + random.below(5);
    let n = core + null;
    let independent = 1 + random.below(core);
    let dependent =
        if motion == Verdict::Inconsistent { 1 + random.below(2) } else { random.below(3) };
    let m = independent + dependent;
    let rank = core - random.below(independent.min(core) + 1).min(core - 1);
    // In x = T q the metric and the rows touch only the first `core` of x.
    let mut mix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            mix[i * n + j] = f64::from(i == j) + if aligned { 0.0 } else { 0.4 * random.normal() };
        }
    }
    let g = random.vector(rank * core);
    let factor: Vec<Vec<f64>> = (0..rank)
        .map(|k| {
            (0..n).map(|j| (0..core).map(|i| g[k * core + i] * mix[i * n + j]).sum()).collect()
        })
        .collect();
    let mut p = Problem { n, m, metric: vec![0.0; n * n], ..Problem::default() };
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = factor.iter().map(|f| f[i] * f[j]).sum();
            (p.metric[i * n + j], p.metric[j * n + i]) = (sum, sum);
        }
    }
    let rows = random.vector(independent * core);
    for k in 0..independent {
        for j in 0..n {
            p.jacobian.push((0..core).map(|i| rows[k * core + i] * mix[i * n + j]).sum());
        }
    }
    let mut kernel = Vec::new();
    for at in independent..m {
        let weights = random.vector(independent);
        for i in 0..n {
            p.jacobian.push((0..independent).map(|j| weights[j] * p.jacobian[j * n + i]).sum());
        }
        let mut zeta = vec![0.0; m];
        zeta[..independent].copy_from_slice(&weights);
        zeta[at] = -1.0;
        kernel.push(zeta);
    }
    let (v, l) = (random.vector(n), random.vector(m));
    p.pose(random, &v, &l);
    match motion {
        // Any force with a component along ker Γ ∩ ker A, which is T⁻¹ of the last coordinates.
        Verdict::HiddenConstraint => {
            let size = 10f64.powf(-4.0 * (random.signed() + 1.0) / 2.0);
            (0..n).for_each(|j| p.force[j] += size * mix[core * n + j]);
        }
        Verdict::Inconsistent => {
            let size = 10f64.powf(-4.0 * (random.signed() + 1.0) / 2.0);
            p.bias[m - 1] += size.copysign(random.signed());
        }
        _ => {}
    }
    (p, kernel)
}

fn transposed_product(p: &Problem, l: &[f64]) -> Vec<f64> {
    (0..p.n).map(|i| (0..p.m).map(|j| p.jacobian[j * p.n + i] * l[j]).sum()).collect()
}

#[test]
fn the_status_is_found_in_any_units() {
    let mut random = Random(21);
    let mut counts = [0; 4];
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    let mut worst = [0.0f64; 4];
    for case in 0..4000 {
        let all =
            [Verdict::Unique, Verdict::GaugeFree, Verdict::HiddenConstraint, Verdict::Inconsistent];
        let motion = all[case % 4];
        let (p, kernel) = build(&mut random, motion, case % 8 >= 4);
        let s: Vec<f64> = (0..p.n).map(|_| random.unit(6.0, 9.0)).collect();
        let t: Vec<f64> = (0..p.m).map(|_| random.unit(6.0, 9.0)).collect();
        let mass = random.unit(6.0, 9.0);
        let other = p.in_units(&s, &t, mass);
        for e in ALL {
            let base = match p.solve(*e) {
                Err(SolveError::SingularMetric { .. }) => continue,
                result => result.unwrap(),
            };
            e.solve(&mut scratch, &other.terms(), &Tolerances::default(), &mut outcome).unwrap();
            let name = e.name();
            assert_eq!(base.motion, motion, "case {case} {name}: {base:?}");
            assert_eq!(outcome.motion, motion, "case {case} {name} in other units: {outcome:?}");
            assert_eq!(outcome.indeterminate, base.indeterminate);
            let (a, b) = (base.rank, outcome.rank);
            assert_eq!(
                (a.jacobian, a.metric, a.metric_and_jacobian),
                (b.jacobian, b.metric, b.metric_and_jacobian)
            );
            counts[case % 4] += 1;
            if motion == Verdict::Unique {
                let back: Vec<f64> = outcome.v_dot.iter().zip(&s).map(|(v, s)| v * s).collect();
                worst[0] = worst[0].max(error(&back, &base.v_dot));
            }
            if motion.exists() {
                // Aᵀλ is invariant, and λ is orthogonal to ker Aᵀ of the rows as written.
                let scaled: Vec<f64> =
                    outcome.multipliers.iter().zip(&t).map(|(l, t)| l * t / mass).collect();
                let (x, y) =
                    (transposed_product(&p, &scaled), transposed_product(&p, &base.multipliers));
                worst[1] = worst[1].max(
                    norm(&x.iter().zip(&y).map(|(x, y)| x - y).collect::<Vec<_>>())
                        / norm(&base.multipliers).max(1e-3),
                );
                let biggest = norm(&outcome.multipliers);
                for zeta in &kernel {
                    let zeta: Vec<f64> = zeta.iter().zip(&t).map(|(z, t)| z / t).collect();
                    let value = dot2(&zeta, &outcome.multipliers).abs();
                    worst[2] = worst[2].max(value / (norm(&zeta) * biggest));
                }
            }
            for (o, p) in [(&base, &p), (&outcome, &other)] {
                for v in &o.null {
                    // Γν and Aν vanish entry by entry, against the sum of absolute values.
                    for row in p.metric.chunks_exact(p.n).chain(p.jacobian.chunks_exact(p.n)) {
                        let sum: f64 = row.iter().zip(v).map(|(a, v)| (a * v).abs()).sum();
                        if sum > 0.0 {
                            worst[3] = worst[3].max(dot2(row, v).abs() / sum);
                        }
                    }
                    assert_eq!(v.iter().copied().fold(0.0, f64::max), 1.0);
                }
                if let Some(hidden) = &o.hidden {
                    let f: Vec<f64> = p.force.iter().zip(&p.nonideal).map(|(f, c)| f + c).collect();
                    assert!(
                        (dot2(&hidden.direction, &f) - hidden.value).abs()
                            <= 1e-9 * hidden.value.abs()
                    );
                }
                if let Some(conflict) = &o.conflict {
                    assert!(
                        (dot2(&conflict.weights, &p.bias) - conflict.value).abs()
                            <= 1e-9 * conflict.value.abs()
                    );
                    let left = transposed_product(p, &conflict.weights);
                    for i in 0..p.n {
                        let sum: f64 = (0..p.m)
                            .map(|j| (p.jacobian[j * p.n + i] * conflict.weights[j]).abs())
                            .sum();
                        assert!(left[i].abs() <= 1e-8 * sum, "{case} {left:?} {sum}");
                    }
                    assert!(norm(&conflict.residual) > 0.0);
                }
            }
        }
    }
    println!("cases {counts:?}; v̇, Aᵀλ, λ·ζ, null: {worst:?}");
    assert!(counts.iter().all(|c| *c > 2000));
    // v̇ and Aᵀλ carry the condition number of the draw; λ·ζ and the null vectors do not.
    assert!(worst[0] < 1e-8 && worst[1] < 1e-8 && worst[2] < 1e-11 && worst[3] < 1e-7);
}

#[test]
fn rounding_never_raises_a_contradiction() {
    let mut random = Random(22);
    for case in 0..2000 {
        let (mut p, _) = build(&mut random, Verdict::Unique, case % 2 == 0);
        p.bias.iter_mut().for_each(|b| *b *= 1.0 + 1e-14 * random.signed());
        p.jacobian.iter_mut().for_each(|a| *a *= 1.0 + 2e-16 * random.signed());
        p.force.iter_mut().for_each(|f| *f *= 1.0 + 1e-14 * random.signed());
        assert_eq!(p.solve(ALL[2]).unwrap().motion, Verdict::Unique);
        let (mut p, _) = build(&mut random, Verdict::GaugeFree, case % 2 == 0);
        p.force.iter_mut().for_each(|f| *f *= 1.0 + 1e-14 * random.signed());
        assert_eq!(p.solve(ALL[2]).unwrap().motion, Verdict::GaugeFree, "{case} {p:?}");
    }
}

#[test]
fn noise_decides_what_is_zero() {
    // A row that ought to vanish, a mass that ought to vanish, and a force on it that ought to.
    let p = Problem {
        n: 2,
        m: 2,
        metric: vec![1.0, 0.0, 0.0, 1e-17],
        force: vec![1.0, 3e-17],
        nonideal: vec![0.0; 2],
        jacobian: vec![1.0, 0.0, 2e-17, 1e-17],
        bias: vec![0.5, 4e-17],
    };
    let small = 1e-16;
    let noise =
        Noise { metric: &[small; 4], force: &[small; 2], jacobian: &[small; 4], bias: &[small; 2] };
    for e in EVERY.iter().filter(|e| !e.name().starts_with("udwadia")) {
        let o = p.solve(*e).unwrap();
        assert_eq!((o.motion, o.rank.jacobian, o.rank.metric), (Verdict::Unique, 2, 2));
        let mut o = Outcome::default();
        let terms = dalembert_gauss::Terms { noise: Some(noise), ..p.terms() };
        e.solve(&mut Scratch::default(), &terms, &Tolerances::default(), &mut o).unwrap();
        assert_eq!((o.motion, o.rank.jacobian, o.rank.metric), (Verdict::GaugeFree, 1, 1));
        assert_eq!(o.null, vec![vec![0.0, 1.0]]);
        assert_eq!(o.indeterminate, vec![false, true]);
        if !e.name().ends_with("literal") {
            assert!(error(&o.v_dot, &[0.5, 0.0]) < 1e-15, "{} {:?}", e.name(), o.v_dot);
        }
    }
}

#[test]
fn noisy_dependent_rows_are_dependent() {
    let mut random = Random(23);
    for _ in 0..500 {
        let (p, _) = build(&mut random, Verdict::Unique, false);
        let mut q = p.clone();
        let level = 1e-9;
        q.jacobian.iter_mut().for_each(|a| *a += level * random.signed());
        q.bias.iter_mut().for_each(|b| *b += level * random.signed());
        let (a, b) = (vec![level; p.n * p.m], vec![level; p.m]);
        let (c, d) = (vec![0.0; p.n * p.n], vec![0.0; p.n]);
        let noise = Noise { metric: &c, force: &d, jacobian: &a, bias: &b };
        let terms = dalembert_gauss::Terms { noise: Some(noise), ..q.terms() };
        let (mut s, mut o) = (Scratch::default(), Outcome::default());
        ALL[2].solve(&mut s, &terms, &Tolerances::default(), &mut o).unwrap();
        let clean = p.solve(ALL[2]).unwrap();
        assert_eq!(o.rank.jacobian, clean.rank.jacobian, "{:?} {:?} {q:?}", o.rank, clean.rank);
        assert_eq!(o.motion, clean.motion, "{o:?}");
    }
}

#[test]
fn the_checks_of_this_file_can_fail() {
    let mut random = Random(24);
    let (p, _) = build(&mut random, Verdict::Inconsistent, false);
    assert_eq!(p.solve(ALL[2]).unwrap().motion, Verdict::Inconsistent);
    let loose = Tolerances { inconsistent: 1e9, ..Tolerances::default() };
    assert_ne!(p.solve_with(ALL[2], &loose).unwrap().motion, Verdict::Inconsistent);
    let (q, _) = build(&mut random, Verdict::HiddenConstraint, false);
    let loose = Tolerances { hidden: 1e9, ..Tolerances::default() };
    assert_eq!(q.solve_with(ALL[2], &loose).unwrap().motion, Verdict::GaugeFree);
    let p = Problem {
        n: 1,
        metric: vec![-1.0],
        force: vec![1.0],
        nonideal: vec![0.0],
        ..Problem::default()
    };
    assert!(matches!(p.solve(ALL[2]), Err(SolveError::IndefiniteMetric { .. })));
}
