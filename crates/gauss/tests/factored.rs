//! The frozen route against the deciding one: a decision made at one state solves the problem at
//! states near it, by every elimination, or says that it does not.

mod common;
use common::*;
use dalembert_gauss::{ALL, Factored, Outcome, Scratch, SolveError, Tolerances, Verdict};

/// A random problem with independent rows and dependent ones behind them, in random units.
fn problem(random: &mut Random, case: usize) -> (Problem, usize) {
    let n = 1 + random.below(9);
    let independent = random.below(n + 1);
    let dependent = if independent > 0 { random.below(3) } else { 0 };
    let m = independent + dependent;
    let rank = if case.is_multiple_of(3) { n - random.below(independent + 1) } else { n };
    let mut p = Problem { n, m, ..Problem::default() };
    p.metric = semidefinite(random, n, rank);
    p.jacobian = random.vector(independent * n);
    for _ in 0..dependent {
        let weights = random.vector(independent);
        for i in 0..n {
            let column: Vec<f64> = (0..independent).map(|j| p.jacobian[j * n + i]).collect();
            p.jacobian.push(dot2(&column, &weights));
        }
    }
    let (v, l) = (random.vector(n), random.vector(m));
    p.pose(random, &v, &l);
    let s: Vec<f64> = (0..n).map(|_| random.unit(0.0, 6.0)).collect();
    let t: Vec<f64> = (0..m).map(|_| random.unit(0.0, 6.0)).collect();
    (p.in_units(&s, &t, random.unit(0.0, 6.0)), independent)
}

/// The independent rows of a problem, moved a little: as a stage of a step is beside its state.
fn beside(random: &mut Random, p: &Problem, rows: &[usize], by: f64) -> Problem {
    let n = p.n;
    let mut q = Problem { n, m: rows.len(), ..p.clone() };
    q.jacobian = rows.iter().flat_map(|&j| p.row(j).to_vec()).collect();
    q.bias = rows.iter().map(|&j| p.bias[j]).collect();
    for i in 0..n {
        for j in 0..=i {
            // Γ + E∘Γ with the same factor on both sides stays symmetric; rank may grow.
            let factor = 1.0 + by * random.signed() * f64::from(u8::from(i == j));
            q.metric[i * n + j] *= factor;
            q.metric[j * n + i] = q.metric[i * n + j];
        }
        q.force[i] *= 1.0 + by * random.signed();
    }
    q.jacobian.iter_mut().for_each(|a| *a *= 1.0 + by * random.signed());
    q.bias.iter_mut().for_each(|b| *b *= 1.0 + by * random.signed());
    q
}

#[test]
fn a_frozen_decision_solves_the_states_beside_it() {
    let mut random = Random(20261115);
    let (mut solved, mut fallen) = (0, 0);
    for case in 0..4000 {
        let (p, _) = problem(&mut random, case);
        let by = 10f64.powi(-1 - random.below(8) as i32);
        for elimination in ALL {
            let mut scratch = Scratch::default();
            let mut outcome = Outcome::default();
            let tolerances = Tolerances::default();
            match elimination.solve(&mut scratch, &p.terms(), &tolerances, &mut outcome) {
                Ok(()) => {}
                Err(SolveError::SingularMetric { .. } | SolveError::IndefiniteMetric { .. }) => {
                    continue;
                }
                Err(error) => panic!("{}: {error}", elimination.name()),
            }
            let mut factored = Factored::default();
            if !factored.adopt(&scratch, &outcome) {
                assert_ne!(outcome.motion, Verdict::Unique, "{}", elimination.name());
                continue;
            }
            let q = beside(&mut random, &p, &outcome.independent, by);
            let Ok(right) = q.solve(*elimination) else { continue };
            if right.motion != Verdict::Unique {
                continue;
            }
            let (mut v_dot, mut multipliers) = (Vec::new(), Vec::new());
            if !factored.refactor(*elimination, &q.terms()) {
                fallen += 1;
                continue;
            }
            for _ in 0..2 {
                assert!(factored.solve(*elimination, &q.terms(), &mut v_dot, &mut multipliers));
            }
            let (stationarity, feasibility) = factored.residuals();
            assert!(stationarity.max(feasibility) < 1e-12, "{stationarity} {feasibility}");
            // In equal units of mass the two differ by rounding times the condition.
            let mass = |i: usize| q.metric[i * q.n + i].abs().sqrt();
            let weigh = |v: &[f64]| (0..q.n).map(|i| v[i] * mass(i)).collect::<Vec<f64>>();
            let (a, b) = (weigh(&v_dot), weigh(&right.v_dot));
            let off = error(&a, &b);
            assert!(off < 1e-8, "{} case {case}: {off:.1e}", elimination.name());
            solved += 1;
        }
    }
    assert!(solved > 8000, "{solved} solved");
    assert!(fallen * 20 < solved, "{fallen} of {solved} asked for another decision");
}

#[test]
fn a_pivot_that_falls_asks_for_a_decision() {
    // Two rods that become parallel.
    let at = |angle: f64| Problem {
        n: 3,
        m: 2,
        metric: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        force: vec![0.0, -1.0, 0.5],
        nonideal: vec![0.0; 3],
        jacobian: vec![1.0, 0.0, 0.0, angle.cos(), angle.sin(), 0.0],
        bias: vec![0.1, 0.2],
    };
    let by = dalembert_gauss::DEFAULT;
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    by.solve(&mut scratch, &at(0.5).terms(), &Tolerances::default(), &mut outcome).unwrap();
    let mut factored = Factored::default();
    assert!(factored.adopt(&scratch, &outcome));
    assert!(factored.refactor(by, &at(0.4).terms()));
    assert!(factored.refactor(by, &at(0.1).terms()));
    assert!(!factored.refactor(by, &at(0.01).terms()));
    assert!(!factored.refactor(by, &at(0.0).terms()));
}

#[test]
fn what_is_not_unique_is_never_frozen() {
    let mut p = Problem { n: 2, m: 1, ..Problem::default() };
    p.metric = vec![1.0, 0.0, 0.0, 0.0];
    (p.force, p.nonideal) = (vec![1.0, 0.0], vec![0.0; 2]);
    (p.jacobian, p.bias) = (vec![1.0, 0.0], vec![0.0]);
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    let by = dalembert_gauss::DEFAULT;
    by.solve(&mut scratch, &p.terms(), &Tolerances::default(), &mut outcome).unwrap();
    assert_eq!(outcome.motion, Verdict::GaugeFree);
    assert!(!Factored::default().adopt(&scratch, &outcome));
}

#[test]
fn a_coordinate_without_mass_at_the_decision_may_have_one_beside_it() {
    // A quaternion's scalar at the identity: its mass is that of the others' squares.
    let at = |e: f64| Problem {
        n: 2,
        m: 1,
        metric: vec![e * e, -e, -e, 1.0],
        force: vec![0.3 * e, -1.0],
        nonideal: vec![0.0; 2],
        jacobian: vec![1.0, e],
        bias: vec![-0.2],
    };
    for elimination in ALL.iter().filter(|e| !e.needs_regular()) {
        let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
        let tolerances = Tolerances::default();
        elimination.solve(&mut scratch, &at(0.0).terms(), &tolerances, &mut outcome).unwrap();
        assert_eq!(outcome.motion, Verdict::Unique);
        let mut factored = Factored::default();
        assert!(factored.adopt(&scratch, &outcome));
        let right = at(0.3).solve(*elimination).unwrap();
        let (mut v_dot, mut multipliers) = (Vec::new(), Vec::new());
        assert!(factored.refactor(*elimination, &at(0.3).terms()));
        assert!(factored.solve(*elimination, &at(0.3).terms(), &mut v_dot, &mut multipliers));
        assert!(error(&v_dot, &right.v_dot) < 1e-14, "{v_dot:?} {right:?}");
        assert!(error(&multipliers, &right.multipliers) < 1e-14, "{multipliers:?}");
    }
}

#[test]
fn what_no_row_joins_is_not_touched_by_rounding() {
    let mut random = Random(31);
    for case in 0..200 {
        // Three particles at rest without forces, before, between and after others that move.
        let n = 9;
        let moving = [1, 2, 4, 5, 6, 8];
        let m = 1 + case % 4;
        let mut p = Problem { n, m, ..Problem::default() };
        p.metric = vec![0.0; n * n];
        let block = semidefinite(&mut random, moving.len(), moving.len());
        for (i, &a) in moving.iter().enumerate() {
            for (j, &b) in moving.iter().enumerate() {
                p.metric[a * n + b] = block[i * moving.len() + j];
            }
        }
        for i in (0..n).filter(|i| !moving.contains(i)) {
            p.metric[i * n + i] = random.unit(0.0, 3.0);
        }
        p.jacobian = vec![0.0; m * n];
        p.force = vec![0.0; n];
        for &i in &moving {
            (0..m).for_each(|j| p.jacobian[j * n + i] = random.normal());
            p.force[i] = random.normal();
        }
        (p.nonideal, p.bias) = (vec![0.0; n], random.vector(m));
        for elimination in [ALL[0], ALL[2]] {
            let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
            let tolerances = Tolerances::default();
            elimination.solve(&mut scratch, &p.terms(), &tolerances, &mut outcome).unwrap();
            let mut factored = Factored::default();
            assert!(factored.adopt(&scratch, &outcome));
            let (mut v_dot, mut multipliers) = (Vec::new(), Vec::new());
            assert!(factored.refactor(elimination, &p.terms()));
            assert!(factored.solve(elimination, &p.terms(), &mut v_dot, &mut multipliers));
            for i in (0..n).filter(|i| !moving.contains(i)) {
                assert_eq!(v_dot[i], 0.0, "{} case {case}: {v_dot:?}", elimination.name());
            }
        }
    }
}

/// Where a decision holds by far, the one that would be made there has its ranks and its verdict,
/// whatever the problem was moved by.
#[test]
fn a_decision_that_holds_would_be_made_again() {
    let mut random = Random(271828);
    let by = dalembert_gauss::DEFAULT;
    let (mut held, mut asked) = (0, 0);
    for case in 0..3000 {
        let (p, _) = problem(&mut random, case);
        let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
        let tolerances = Tolerances::default();
        if by.solve(&mut scratch, &p.terms(), &tolerances, &mut outcome).is_err() {
            continue;
        }
        let mut factored = Factored::default();
        if !factored.adopt(&scratch, &outcome) {
            continue;
        }
        // From a small change to one that has little to do with the problem.
        let moved = 10f64.powf(2.0 * random.signed() - 1.0);
        let q = beside(&mut random, &p, &outcome.independent, moved);
        if !factored.refactor(by, &q.terms()) || !factored.holds() {
            asked += 1;
            continue;
        }
        let right = q.solve(by).expect("solved where a decision holds");
        assert_eq!(right.motion, Verdict::Unique, "case {case}");
        assert_eq!(right.rank.jacobian, outcome.rank.jacobian, "case {case}");
        assert_eq!(right.independent.len(), q.m, "case {case}");
        held += 1;
    }
    assert!(held > 500 && asked > 200, "{held} held, {asked} asked");
}

/// A single row has no other to depend on: what is watched is its length.
#[test]
fn a_row_that_vanishes_asks_for_a_decision() {
    let at = |length: f64| Problem {
        n: 2,
        m: 1,
        metric: vec![1.0, 0.0, 0.0, 1.0],
        force: vec![0.0, -1.0],
        nonideal: vec![0.0; 2],
        jacobian: vec![length, 0.5 * length],
        bias: vec![0.1],
    };
    let by = dalembert_gauss::DEFAULT;
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    by.solve(&mut scratch, &at(1.0).terms(), &Tolerances::default(), &mut outcome).unwrap();
    let mut factored = Factored::default();
    assert!(factored.adopt(&scratch, &outcome));
    for (length, holds) in [(1.0, true), (0.7, true), (0.4, false), (1e-9, false), (3.0, false)] {
        assert!(factored.refactor(by, &at(length).terms()));
        assert_eq!(factored.holds(), holds, "{length}");
    }
}
