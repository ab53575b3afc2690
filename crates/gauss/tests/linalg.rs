//! Identities of the dense kernels on random matrices.

mod common;
use common::*;
use dalembert_gauss::linalg::{cholesky, ldl, lu, qr, svd::Svd};

fn product(a: &[f64], b: &[f64], rows: usize, inner: usize, cols: usize) -> Vec<f64> {
    let mut c = vec![0.0; rows * cols];
    for i in 0..rows {
        for j in 0..cols {
            c[i * cols + j] = (0..inner).map(|k| a[i * inner + k] * b[k * cols + j]).sum();
        }
    }
    c
}

fn transposed(a: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let mut t = vec![0.0; rows * cols];
    for i in 0..rows {
        for j in 0..cols {
            t[j * rows + i] = a[i * cols + j];
        }
    }
    t
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

#[test]
fn qr_reconstructs_and_q_is_orthogonal() {
    let mut random = Random(1);
    for case in 0..400 {
        let (rows, cols) = (1 + random.below(8), 1 + random.below(8));
        let a = random.vector(rows * cols);
        let steps = rows.min(cols);
        let (mut f, mut tau, mut pivots) = (a.clone(), vec![0.0; steps], vec![0; cols]);
        if case % 2 == 0 {
            qr::factor(&mut f, rows, cols, steps, &mut tau);
            (0..cols).for_each(|j| pivots[j] = j);
        } else {
            qr::factor_pivoted(&mut f, rows, cols, &mut tau, &mut pivots);
            for k in 1..steps {
                assert!(f[k * cols + k].abs() <= f[(k - 1) * cols + k - 1].abs() * 1.00001);
            }
        }
        for j in 0..cols {
            let mut x: Vec<f64> =
                (0..rows).map(|i| if i <= j { f[i * cols + j] } else { 0.0 }).collect();
            qr::apply_q(&f, rows, cols, steps, &tau, &mut x);
            let column: Vec<f64> = (0..rows).map(|i| a[i * cols + pivots[j]]).collect();
            assert!(apart(&x, &column) < 1e-13);
        }
        let x = random.vector(rows);
        let mut y = x.clone();
        qr::apply_q_transposed(&f, rows, cols, steps, &tau, &mut y);
        assert!((norm(&x) - norm(&y)).abs() < 1e-13);
        qr::apply_q(&f, rows, cols, steps, &tau, &mut y);
        assert!(apart(&x, &y) < 1e-13);
    }
}

#[test]
fn svd_satisfies_the_penrose_conditions() {
    let mut random = Random(2);
    let mut svd = Svd::default();
    for case in 0..400 {
        let (rows, cols) = (1 + random.below(7), 1 + random.below(7));
        let rank = 1 + random.below(rows.min(cols));
        let scale = [1.0, 1e-200, 1e200][case % 3];
        let mut a =
            product(&random.vector(rows * rank), &random.vector(rank * cols), rows, rank, cols);
        a.iter_mut().for_each(|v| *v *= scale);
        svd.decompose(&a, rows, cols);
        assert_eq!(svd.rank(1e-12), rank);
        let k = rows.min(cols);
        for (vectors, len) in [(&svd.u, rows), (&svd.v, cols)] {
            let gram = product(vectors, &transposed(vectors, k, len), k, len, k);
            for i in 0..k {
                for j in 0..k {
                    assert!((gram[i * k + j] - f64::from(i == j)).abs() < 1e-13);
                }
            }
        }
        // P = A⁺ column by column: A P A = A, P A P = P, A P and P A symmetric.
        let mut p = vec![0.0; cols * rows];
        for j in 0..rows {
            let mut unit = vec![0.0; rows];
            unit[j] = 1.0;
            let mut x = vec![0.0; cols];
            svd.apply_pseudo_inverse(rank, &unit, &mut x);
            (0..cols).for_each(|i| p[i * rows + j] = x[i]);
        }
        let (ap, pa) = (product(&a, &p, rows, cols, rows), product(&p, &a, cols, rows, cols));
        let condition = svd.sigma[0] / svd.sigma[rank - 1];
        let tolerance = 1e-14 * condition * 20.0;
        assert!(apart(&ap, &transposed(&ap, rows, rows)) < tolerance);
        assert!(apart(&pa, &transposed(&pa, cols, cols)) < tolerance);
        assert!(apart(&product(&ap, &a, rows, rows, cols), &a) < tolerance * svd.sigma[0]);
        let pap = product(&pa, &p, cols, cols, rows);
        assert!(apart(&pap, &p) < tolerance / svd.sigma[rank - 1]);
    }
    svd.decompose(&[0.0; 6], 2, 3);
    assert_eq!(svd.sigma, [0.0, 0.0]);
    svd.decompose(&[], 0, 3);
    assert!(svd.sigma.is_empty() && svd.rank(0.0) == 0);
    svd.decompose(&[f64::NAN, 1.0, f64::INFINITY, 0.0], 2, 2);
}

#[test]
fn ldl_solves_and_states_the_inertia() {
    let mut random = Random(3);
    for _ in 0..600 {
        let n = 1 + random.below(9);
        let q = random.orthonormal(n, n);
        let eigenvalues: Vec<f64> =
            (0..n).map(|_| (0.1 + random.signed().abs()).copysign(random.signed())).collect();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = (0..n).map(|k| q[i * n + k] * eigenvalues[k] * q[j * n + k]).sum();
                (a[i * n + j], a[j * n + i]) = (sum, sum);
            }
        }
        // Zero diagonals force 2×2 blocks now and then.
        let (mut f, mut order, mut wide) = (a.clone(), vec![0; n], vec![false; n]);
        let inertia = ldl::factor(&mut f, n, &mut order, &mut wide);
        assert_eq!(inertia.positive, eigenvalues.iter().filter(|e| **e > 0.0).count());
        assert_eq!(inertia.negative + inertia.positive, n);
        let x = random.vector(n);
        let mut b = product(&a, &x, n, n, 1);
        ldl::solve(&f, n, &order, &wide, &mut b, &mut vec![0.0; n]);
        assert!(apart(&b, &x) < 1e-11, "{}", apart(&b, &x));
        // Π A Πᵀ = L D Lᵀ.
        let (mut l, mut d) = (vec![0.0; n * n], vec![0.0; n * n]);
        let mut k = 0;
        while k < n {
            let step = if wide[k] { 2 } else { 1 };
            for i in k..k + step {
                l[i * n + i] = 1.0;
                for j in k..=i {
                    (d[i * n + j], d[j * n + i]) = (f[i * n + j], f[i * n + j]);
                }
                for row in k + step..n {
                    l[row * n + i] = f[row * n + i];
                }
            }
            k += step;
        }
        let again = product(&product(&l, &d, n, n, n), &transposed(&l, n, n), n, n, n);
        for i in 0..n {
            for j in 0..n {
                assert!((again[i * n + j] - a[order[i] * n + order[j]]).abs() < 1e-12);
            }
        }
    }
    let (mut order, mut wide) = (vec![0; 2], vec![false; 2]);
    let inertia = ldl::factor(&mut [0.0, 1.0, 1.0, 0.0], 2, &mut order, &mut wide);
    assert_eq!((inertia.positive, inertia.negative, wide[0]), (1, 1, true));
    assert_eq!(ldl::factor(&mut [0.0; 4], 2, &mut order, &mut wide).zero, 2);
    ldl::factor(&mut [f64::NAN; 4], 2, &mut order, &mut wide);
}

#[test]
fn cholesky_finds_rank_kernel_and_negative_pivots() {
    let mut random = Random(4);
    for _ in 0..300 {
        let n = 1 + random.below(7);
        let rank = random.below(n + 1);
        let a = semidefinite(&mut random, n, rank);
        let (mut f, mut order) = (a.clone(), vec![0; n]);
        let found = cholesky::factor_pivoted(&mut f, n, &vec![1e-12; n], &mut order);
        assert_eq!((found.rank, found.negative), (rank, None));
        let (mut v, mut work) = (vec![0.0; n], vec![0.0; n]);
        for which in 0..n - rank {
            cholesky::null_vector(&f, n, rank, &order, which, &mut v, &mut work);
            assert!(norm(&product(&a, &v, n, n, 1)) < 1e-11 * norm(&v));
        }
        let x = random.vector(n);
        let b = product(&a, &x, n, n, 1);
        let mut y = b.clone();
        cholesky::solve_pivoted(&f, n, rank, &order, &mut y, &mut work);
        assert!(apart(&product(&a, &y, n, n, 1), &b) < 1e-10 * (1.0 + norm(&b)));
        let mut plain = a.clone();
        assert!(rank < n || cholesky::factor(&mut plain, n).is_ok());
    }
    let mut order = vec![0; 2];
    for mut bad in [[0.0, 1.0, 1.0, 0.0], [1.0, 2.0, 2.0, 1.0], [1.0, 0.0, 0.0, -1.0]] {
        assert!(cholesky::factor(&mut bad.clone(), 2).is_err());
        let found = cholesky::factor_pivoted(&mut bad, 2, &[1e-12; 2], &mut order);
        assert!(found.negative.is_some());
    }
}

#[test]
fn lu_solves_and_pivots_reveal() {
    let mut random = Random(5);
    for _ in 0..300 {
        let n = 1 + random.below(7);
        let (a, x) = (random.vector(n * n), random.vector(n));
        let (mut f, mut order, mut b) = (a.clone(), vec![0; n], product(&a, &x, n, n, 1));
        assert!(lu::factor(&mut f, n, &mut order));
        lu::solve(&f, n, &order, &mut b, &mut vec![0.0; n]);
        let mut svd = Svd::default();
        svd.decompose(&a, n, n);
        assert!(error(&b, &x) < 1e-14 * svd.sigma[0] / svd.sigma[n - 1] + 1e-13);

        let (rows, cols) = (1 + random.below(7), 1 + random.below(7));
        let rank = 1 + random.below(rows.min(cols));
        let mut a =
            product(&random.vector(rows * rank), &random.vector(rank * cols), rows, rank, cols);
        for j in 0..cols {
            let unit = random.unit(0.0, 9.0);
            (0..rows).for_each(|i| a[i * cols + j] *= unit);
        }
        let (r, c) = lu::pivots(&a, rows, cols, 1e-10);
        assert_eq!((r.len(), c.len()), (rank, rank));
    }
    assert!(!lu::factor(&mut [0.0; 4], 2, &mut [0; 2]));
    assert_eq!(lu::pivots(&[0.0; 4], 2, 2, 1e-12).0.len(), 0);
    assert_eq!(lu::pivots(&[], 0, 2, 1e-12).0.len(), 0);
    lu::pivots(&[f64::NAN, f64::INFINITY, 1.0, 0.0], 2, 2, 1e-12);
    assert_eq!(lu::pivots(&[1.0, 0.0, 1.0, 0.0, 2.0, 0.0], 2, 3, 1e-12), (vec![0, 1], vec![0, 1]));
}
