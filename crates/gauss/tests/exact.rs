//! Status and ranks against exact arithmetic, for sparse problems of small integers.

mod common;
use common::*;
use dalembert_gauss::{ALL, SolveError, Verdict};

const PRIME: i128 = (1 << 61) - 1;

/// Rank modulo a large prime, which for such small integers is the rank.
fn rank(mut a: Vec<Vec<i128>>) -> usize {
    let cols = a.first().map_or(0, Vec::len);
    let power = |mut base: i128, mut exponent: i128| {
        let mut result = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * base % PRIME;
            }
            base = base * base % PRIME;
            exponent >>= 1;
        }
        result
    };
    let mut found = 0;
    for j in 0..cols {
        let Some(at) = (found..a.len()).find(|&i| a[i][j].rem_euclid(PRIME) != 0) else { continue };
        a.swap(found, at);
        let inverse = power(a[found][j].rem_euclid(PRIME), PRIME - 2);
        for i in found + 1..a.len() {
            let factor = a[i][j] * inverse % PRIME;
            let (head, tail) = a.split_at_mut(i);
            tail[0].iter_mut().zip(&head[found]).for_each(|(x, y)| *x = (*x - factor * y) % PRIME);
        }
        found += 1;
    }
    found
}

fn integers(v: &[f64], cols: usize) -> Vec<Vec<i128>> {
    if cols == 0 {
        return Vec::new();
    }
    v.chunks_exact(cols).map(|row| row.iter().map(|x| *x as i128).collect()).collect()
}

/// rank Γ, rank A, rank of both stacked, and the status.
fn truth(p: &Problem) -> (usize, usize, usize, Verdict) {
    let (n, m) = (p.n, p.m);
    let (g, a) = (integers(&p.metric, n), integers(&p.jacobian, n));
    let stacked = rank(g.iter().chain(&a).cloned().collect());
    let with_b: Vec<Vec<i128>> =
        (0..m).map(|j| a[j].iter().copied().chain([p.bias[j] as i128]).collect()).collect();
    let mut kkt = vec![vec![0i128; n + m]; n + m];
    for i in 0..n {
        kkt[i][..n].copy_from_slice(&g[i]);
        for j in 0..m {
            kkt[i][n + j] = a[j][i];
            kkt[n + j][i] = a[j][i];
        }
    }
    let mut extended = kkt.clone();
    let right = p.force.iter().chain(&p.bias);
    extended.iter_mut().zip(right).for_each(|(row, value)| row.push(*value as i128));
    let motion = if rank(with_b) > rank(a.clone()) {
        Verdict::Inconsistent
    } else if rank(extended) > rank(kkt) {
        Verdict::HiddenConstraint
    } else if stacked < n {
        Verdict::GaugeFree
    } else {
        Verdict::Unique
    };
    (rank(g), rank(a), stacked, motion)
}

#[test]
fn status_and_ranks_are_exact_in_any_units() {
    let mut random = Random(51);
    let mut counts = [0; 4];
    for case in 0..12_000 {
        let n = 1 + random.below(6);
        let (m, factors) = (random.below(n + 2), random.below(n + 1));
        let mut sparse = |len: usize, density: usize| -> Vec<f64> {
            (0..len)
                .map(|_| match random.below(10) < density {
                    true => [1.0, -1.0, 2.0, -2.0, 1.0, -1.0, 3.0, 7.0][random.below(8)],
                    false => 0.0,
                })
                .collect()
        };
        let g = sparse(factors * n, 4);
        let mut p = Problem { n, m, metric: vec![0.0; n * n], ..Problem::default() };
        for i in 0..n {
            for j in 0..n {
                p.metric[i * n + j] = (0..factors).map(|k| g[k * n + i] * g[k * n + j]).sum();
            }
        }
        p.jacobian = sparse(m * n, 4);
        p.nonideal = vec![0.0; n];
        if case % 2 == 0 {
            // Solvable: F and b from integer v̇ and λ.
            let (v, l) = (sparse(n, 8), sparse(m, 8));
            p.force = (0..n)
                .map(|i| {
                    dot2(&p.metric[i * n..(i + 1) * n], &v)
                        - (0..m).map(|j| p.jacobian[j * n + i] * l[j]).sum::<f64>()
                })
                .collect();
            p.bias = (0..m).map(|j| dot2(p.row(j), &v)).collect();
        } else {
            (p.force, p.bias) = (sparse(n, 5), sparse(m, 5));
        }
        let expected = truth(&p);
        let s: Vec<f64> = (0..n).map(|_| random.unit(0.0, 9.0)).collect();
        let t: Vec<f64> = (0..m).map(|_| random.unit(0.0, 9.0)).collect();
        let other = p.in_units(&s, &t, random.unit(0.0, 9.0));
        for e in ALL {
            for (p, units) in [(&p, "given"), (&other, "other")] {
                let o = match p.solve(*e) {
                    Err(SolveError::SingularMetric { rank, .. }) => {
                        assert!(rank == expected.0 && rank < n);
                        continue;
                    }
                    result => result.unwrap(),
                };
                let found = (o.rank.metric, o.rank.jacobian, o.rank.metric_and_jacobian, o.motion);
                assert_eq!(found, expected, "case {case} {} {units} units: {p:?}", e.name());
                counts[o.motion as usize] += 1;
            }
        }
    }
    println!("unique, gauge-free, hidden, inconsistent: {counts:?}");
    assert!(counts.iter().all(|c| *c > 3000));
}
