//! No numeric input makes a kernel panic; ranks near the tolerance are reported as uncertain.

mod common;
use common::*;
use dalembert_gauss::{
    ALL, DEFAULT, EVERY, Noise, Outcome, Route, Scratch, SolveError, Terms, Tolerances, Verdict,
};

#[test]
fn wild_numbers_never_panic() {
    let mut random = Random(41);
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    let wild = |random: &mut Random, special: bool| -> f64 {
        match random.below(if special { 14 } else { 11 }) {
            0..=3 => random.normal(),
            4 | 5 => 0.0,
            6 => 1e300 * random.normal(),
            7 => 1e-300 * random.normal(),
            8 => 5e-324,
            9 => random.unit(0.0, 18.0),
            10 => 1.0,
            11 => f64::NAN,
            12 => f64::INFINITY,
            _ => f64::MAX,
        }
    };
    let (mut solved, mut failed) = (0, [0; 5]);
    for case in 0..20_000 {
        let (n, m) = (random.below(5), random.below(6));
        let special = case % 4 == 0;
        let mut fill =
            |len: usize| -> Vec<f64> { (0..len).map(|_| wild(&mut random, special)).collect() };
        let mut p = Problem {
            n,
            m,
            metric: fill(n * n),
            force: fill(n),
            nonideal: fill(n),
            jacobian: fill(m * n),
            bias: fill(m),
        };
        let noise = (fill(n * n), fill(n), fill(m * n), fill(m));
        if case % 3 != 0 {
            // A diagonal metric is semidefinite whatever the numbers.
            for i in 0..n {
                for j in 0..n {
                    let value = p.metric[i * n + j].abs();
                    p.metric[i * n + j] = if i == j { value } else { 0.0 };
                }
            }
        }
        let mut terms = p.terms();
        if case % 5 == 0 {
            terms.noise = Some(Noise {
                metric: &noise.0,
                force: &noise.1,
                jacobian: &noise.2,
                bias: &noise.3,
            });
        }
        let tolerances = Tolerances { least_squares: case % 2 == 0, ..Tolerances::default() };
        for e in EVERY {
            match e.solve(&mut scratch, &terms, &tolerances, &mut outcome) {
                Ok(()) => {
                    solved += 1;
                    assert!(
                        outcome.v_dot.iter().chain(&outcome.multipliers).all(|v| v.is_finite())
                    );
                    assert_eq!(outcome.indeterminate.len(), m);
                    assert_eq!(outcome.undetermined.len(), n);
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    failed[match error {
                        SolveError::NotFinite { .. } => 0,
                        SolveError::SingularMetric { .. } => 1,
                        SolveError::IndefiniteMetric { .. }
                        | SolveError::NegativeDirection { .. } => 2,
                        SolveError::Overflow { .. } => 3,
                        _ => 4,
                    }] += 1;
                }
            }
        }
    }
    println!("solved {solved}, not finite/singular/indefinite/overflow/shape {failed:?}");
    assert!(solved > 10_000 && failed[4] == 0);
}

#[test]
fn wrong_shapes_are_errors() {
    let terms = Terms {
        n: 1,
        m: 1,
        metric: &[1.0],
        force: &[1.0],
        nonideal: &[],
        jacobian: &[1.0],
        bias: &[0.0],
        noise: None,
        inertia: &[],
        patterns: None,
    };
    for e in EVERY {
        let result = e.solve(
            &mut Scratch::default(),
            &terms,
            &Tolerances::default(),
            &mut Outcome::default(),
        );
        assert_eq!(
            result,
            Err(SolveError::Shape { what: "nonideal force", expected: 1, found: 0 })
        );
    }
}

/// Two unit rows at angle `angle`, unit masses.
fn nearly_parallel(angle: f64) -> Problem {
    Problem {
        n: 3,
        m: 2,
        metric: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        force: vec![1.0, 2.0, 3.0],
        nonideal: vec![0.0; 3],
        jacobian: vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0 + angle],
        bias: vec![0.0, 0.0],
    }
}

#[test]
fn ranks_near_the_tolerance() {
    for (angle, rank, route, doubt) in [
        (1e-3, 2, Route::Cheap, false),
        (1e-9, 2, Route::Revealing, true),
        (1e-11, 2, Route::Revealing, true),
        (5e-14, 1, Route::Revealing, true),
        (0.0, 1, Route::Cheap, false),
    ] {
        let o = nearly_parallel(angle).solve(ALL[2]).unwrap();
        assert_eq!((o.rank.jacobian, o.rank.route), (rank, route), "{angle:e} {:?}", o.rank);
        assert_eq!(o.rank.uncertain.is_some(), doubt);
        assert_eq!(o.motion, Verdict::Unique);
    }
    // A tolerance above the drift makes such rows dependent, and small disagreement is forgiven.
    let drift = Tolerances { rank: Some(1e-8), ..Tolerances::default() };
    let mut p = nearly_parallel(1e-10);
    p.bias = vec![1.0, 1.0 + 1e-10];
    let o = p.solve_with(ALL[2], &drift).unwrap();
    assert_eq!((o.rank.jacobian, o.motion), (1, Verdict::Unique));
    p.bias[1] = 1.5;
    assert_eq!(p.solve_with(ALL[2], &drift).unwrap().motion, Verdict::Inconsistent);
    // Taken as written, the same rows have an answer, a large one.
    let o = p.solve(ALL[2]).unwrap();
    assert_eq!((o.rank.jacobian, o.motion), (2, Verdict::Unique));
}

#[test]
fn dependent_rows_are_found_under_ill_conditioned_metrics() {
    let mut random = Random(42);
    let (mut doubts, mut worst) = (0, 0.0f64);
    for case in 0..600 {
        let n = 4 + random.below(5);
        let cond = 10f64.powi(case % 12);
        let q = random.orthonormal(n, n);
        let mut p = Problem { n, m: 4, metric: vec![0.0; n * n], ..Problem::default() };
        for i in 0..n {
            for j in 0..=i {
                let value = (0..n)
                    .map(|k| q[i * n + k] * q[j * n + k] * cond.powf(-(k as f64) / (n - 1) as f64))
                    .sum::<f64>();
                (p.metric[i * n + j], p.metric[j * n + i]) = (value, value);
            }
        }
        p.jacobian = random.vector(2 * n);
        for _ in 0..2 {
            let w = random.vector(2);
            for i in 0..n {
                p.jacobian.push(w[0] * p.jacobian[i] + w[1] * p.jacobian[n + i]);
            }
        }
        let (v, l) = (random.vector(n), random.vector(4));
        p.pose(&mut random, &v, &l);
        for e in ALL {
            let o = p.solve(*e).unwrap();
            assert_eq!((o.rank.jacobian, o.motion), (2, Verdict::Unique), "{cond:e} {:?}", o.rank);
            doubts += usize::from(o.rank.uncertain.is_some());
            worst = worst.max(error(&o.v_dot, &v) / cond);
        }
    }
    println!("uncertain {doubts} of 2400, worst error/cond {worst:e}");
    assert!(doubts < 400 && worst < 1e-13);
}

/// w″ = 20 x″ + 4 y″ + s z″ for a w without mass: its unit goes by what it is made of, however small
/// s is, and so does the answer.
#[test]
fn small_entries_of_a_row_leave_the_unit_of_what_it_determines() {
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    for power in 0..20 {
        let small = 10f64.powi(-power);
        let n = 4;
        let mut metric = vec![0.0; n * n];
        (0..3).for_each(|i| metric[i * n + i] = 1.0);
        let p = Problem {
            n,
            m: 1,
            metric,
            force: vec![1.0, -2.0, 3.0, 0.0],
            nonideal: vec![0.0; n],
            jacobian: vec![20.0, 4.0, small, -1.0],
            bias: vec![0.0],
        };
        DEFAULT
            .solve(&mut scratch, &p.terms(), &Tolerances::default(), &mut outcome)
            .expect("numbers");
        assert_eq!(outcome.motion, Verdict::Unique, "{small:e}");
        let expected = [1.0, -2.0, 3.0, 12.0 + 3.0 * small];
        for (a, b) in outcome.v_dot.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{small:e}: {a} {b}");
        }
    }
}

#[test]
fn storage_is_reused() {
    let p = nearly_parallel(1e-3);
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    for e in EVERY {
        e.solve(&mut scratch, &p.terms(), &Tolerances::default(), &mut outcome).unwrap();
        let at = (outcome.v_dot.as_ptr(), outcome.multipliers.as_ptr());
        let first = outcome.clone();
        e.solve(&mut scratch, &p.terms(), &Tolerances::default(), &mut outcome).unwrap();
        assert_eq!((outcome.v_dot.as_ptr(), outcome.multipliers.as_ptr()), at);
        // The same call gives the same bits, whatever the scratch held before.
        assert_eq!(outcome, first);
        assert_eq!(outcome, p.solve(*e).unwrap());
    }
}
