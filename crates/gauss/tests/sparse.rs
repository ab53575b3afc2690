//! Sparse problems by their structure are what they are with all their zeros: accelerations, total
//! constraint forces, multipliers of least norm, ranks, verdicts, flags.

mod common;

use common::{Problem, Random};
use dalembert_gauss::{
    DEFAULT, Factored, Outcome, Pattern, Patterns, Scratch, Terms, Tolerances, Verdict,
};
use std::sync::Arc;

/// A problem with its patterns and entries.
struct Sparse {
    problem: Problem,
    metric: Arc<Pattern>,
    jacobian: Arc<Pattern>,
    entries: [Vec<f64>; 2],
}

impl Sparse {
    fn new(problem: Problem) -> Sparse {
        let n = problem.n;
        let row = |of: &[f64]| -> Vec<usize> { (0..n).filter(|&i| of[i] != 0.0).collect() };
        let pattern = |of: &[f64]| Arc::new(Pattern::new(n, of.chunks(n.max(1)).map(row)));
        let entries = |of: &[f64]| of.iter().copied().filter(|a| *a != 0.0).collect();
        Sparse {
            metric: pattern(&problem.metric),
            jacobian: pattern(&problem.jacobian),
            entries: [entries(&problem.metric), entries(&problem.jacobian)],
            problem,
        }
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            metric: &self.entries[0],
            jacobian: &self.entries[1],
            patterns: Some(Patterns { metric: &self.metric, jacobian: &self.jacobian }),
            ..self.problem.terms()
        }
    }
}

/// Blocks of Γ of sizes one to three; rows over a few neighbouring coordinates; some of them twice,
/// scaled, or sums of others. b is that of some acceleration.
fn random(random: &mut Random) -> (Problem, usize) {
    let n = 4 + random.below(30);
    let mut p = Problem { n, ..Problem::default() };
    p.metric = vec![0.0; n * n];
    let mut i = 0;
    while i < n {
        let size = (1 + random.below(3)).min(n - i);
        let l: Vec<f64> = (0..size * size).map(|_| random.normal()).collect();
        for a in 0..size {
            for b in 0..size {
                let own: f64 = (0..size).map(|k| l[a * size + k] * l[b * size + k]).sum();
                p.metric[(i + a) * n + i + b] = own + if a == b { 0.5 } else { 0.0 };
            }
        }
        i += size;
    }
    let independent = random.below(n / 2 + 1);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for k in 0..independent {
        // Each has a coordinate of its own, so that all are independent.
        let mut row = vec![0.0; n];
        row[n - 1 - k] = 1.0 + random.signed().abs();
        for _ in 0..1 + random.below(3) {
            row[random.below(n - independent + 1).min(n - 1 - k)] += random.normal();
        }
        if row[n - 1 - k].abs() < 0.1 {
            row[n - 1 - k] = 1.0;
        }
        rows.push(row);
    }
    for _ in 0..if independent > 0 { random.below(independent + 1) } else { 0 } {
        let (a, b) = (random.below(independent), random.below(independent));
        let (s, t) = (random.unit(0.0, 2.0), if random.below(2) == 0 { 0.0 } else { 1.0 });
        rows.push((0..n).map(|i| s * rows[a][i] + t * rows[b][i]).collect());
    }
    let v = random.vector(n);
    for row in &rows {
        p.bias.push(row.iter().zip(&v).map(|(a, v)| a * v).sum());
    }
    p.m = rows.len();
    p.jacobian = rows.concat();
    p.force = random.vector(n);
    p.nonideal = (0..n).map(|_| if random.below(3) == 0 { random.normal() } else { 0.0 }).collect();
    (p, independent)
}

/// Γ of a band, which is one block; rows over neighbouring coordinates, each with one that no earlier
/// row has; some of them twice, scaled, or sums of others.
fn random_band(random: &mut Random) -> (Problem, usize) {
    let n = 40 + random.below(40);
    let mut p = Problem { n, ..Problem::default() };
    p.metric = vec![0.0; n * n];
    // L Lᵀ with a band L.
    let width = 1 + random.below(3);
    let l: Vec<f64> = (0..n * n)
        .map(|k| match (k / n, k % n) {
            (i, j) if i == j => 1.0 + random.unit(0.0, 1.0).abs(),
            // Not too far from singular: L itself has small factors.
            (i, j) if j < i && i - j <= width => 0.3 * random.normal(),
            _ => 0.0,
        })
        .collect();
    for i in 0..n {
        for j in 0..n {
            if i.abs_diff(j) <= width {
                p.metric[i * n + j] = (0..n).map(|k| l[i * n + k] * l[j * n + k]).sum();
            }
        }
    }
    let every = 2 + random.below(4);
    let independent = (n - 4) / every;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for k in 0..independent {
        let mut row = vec![0.0; n];
        row[k * every + 3] = 1.0 + random.signed().abs();
        (0..3).for_each(|i| row[k * every + i] = 0.5 * random.normal());
        rows.push(row);
    }
    for _ in 0..random.below(independent + 1) {
        let a = random.below(independent);
        let b = (a + 1).min(independent - 1);
        let (s, t) = (random.unit(0.0, 2.0), if random.below(2) == 0 { 0.0 } else { 1.0 });
        rows.push((0..n).map(|i| s * rows[a][i] + t * rows[b][i]).collect());
    }
    let v = random.vector(n);
    p.bias = rows.iter().map(|row| row.iter().zip(&v).map(|(a, v)| a * v).sum()).collect();
    p.m = rows.len();
    p.jacobian = rows.concat();
    (p.force, p.nonideal) = (random.vector(n), random.vector(n));
    (p, independent)
}

fn solve(terms: &Terms) -> (Scratch, Outcome) {
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    let tolerances = Tolerances { rank: Some(1e-9), ..Tolerances::default() };
    DEFAULT.solve(&mut scratch, terms, &tolerances, &mut outcome).expect("a solution");
    (scratch, outcome)
}

fn compare(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().chain(b).fold(1e-300f64, |m, x| m.max(x.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {a} for {b} of {size}");
    }
}

#[test]
fn sparse_problems_have_the_solutions_of_dense_ones() {
    let mut source = Random(11);
    for case in 0..1500 {
        let (problem, independent) = match case % 3 {
            0 => random_band(&mut source),
            _ => random(&mut source),
        };
        let (_, dense) = solve(&problem.terms());
        let sparse = Sparse::new(problem.clone());
        let (scratch, own) = solve(&sparse.terms());
        let what = format!("case {case}, {} coordinates, {} rows", problem.n, problem.m);
        assert_eq!(dense.rank.jacobian, independent, "{what}: the test itself");
        assert_eq!(own.rank.jacobian, dense.rank.jacobian, "{what}");
        assert_eq!((own.motion, own.rank.weak), (Verdict::Unique, None), "{what}");
        assert_eq!(own.indeterminate, dense.indeterminate, "{what}");
        assert_eq!(own.independent.len(), independent, "{what}");
        compare(&format!("{what}: accelerations"), &own.v_dot, &dense.v_dot, 1e-9);
        compare(&format!("{what}: multipliers"), &own.multipliers, &dense.multipliers, 1e-8);
        assert!(own.stationarity.max(own.feasibility) < 1e-12, "{what}: {own:?}");
        // The same on the decision, at another state.
        let mut factored = Factored::default();
        assert!(factored.adopt(&scratch, &own), "{what}");
        let rows: Vec<usize> = own.independent.clone();
        let factor = 1.0 + 0.2 * source.signed();
        let mut other = problem.clone();
        other.metric.iter_mut().for_each(|g| *g *= factor);
        other.jacobian = rows.iter().flat_map(|&row| problem.row(row).to_vec()).collect();
        other.bias = rows.iter().map(|&row| factor * problem.bias[row]).collect();
        other.m = rows.len();
        let (_, dense) = solve(&other.terms());
        let other = Sparse::new(other);
        let (mut v_dot, mut lambda) = (Vec::new(), Vec::new());
        assert!(factored.solve_at(DEFAULT, &other.terms(), &mut v_dot, &mut lambda), "{what}");
        compare(&format!("{what}: on the decision"), &v_dot, &dense.v_dot, 1e-9);
        compare(&format!("{what}: its multipliers"), &lambda, &dense.multipliers, 1e-8);
        let (stationarity, feasibility) = factored.residuals();
        assert!(stationarity.max(feasibility) < 1e-12, "{what}");
        let mut change = Vec::new();
        if factored.shortest(DEFAULT, other.problem.bias.as_slice(), &mut change) {
            let still = Problem {
                force: vec![0.0; problem.n],
                nonideal: vec![0.0; problem.n],
                ..other.problem.clone()
            };
            compare(&format!("{what}: shortest"), &change, &solve(&still.terms()).1.v_dot, 1e-9);
        }
    }
}

/// One room for problems of all kinds, as fields and projections have: nothing of one is left in
/// another, also where they share a metric or a choice of rows.
#[test]
fn problems_in_one_room_do_not_meet() {
    let mut source = Random(3);
    let tolerances = Tolerances { rank: Some(1e-9), ..Tolerances::default() };
    let mut scratch = Scratch::default();
    for case in 0..300 {
        let first = Sparse::new(match case % 3 {
            0 => random_band(&mut source).0,
            _ => random(&mut source).0,
        });
        let n = first.problem.n;
        let mut others = vec![first];
        // The same metric with rows at other places.
        let mut moved = others[0].problem.clone();
        moved.jacobian.chunks_mut(n).for_each(|row| row.rotate_left(1));
        let v = source.vector(n);
        moved.bias =
            (0..moved.m).map(|j| moved.row(j).iter().zip(&v).map(|(a, v)| a * v).sum()).collect();
        let moved = Sparse { metric: others[0].metric.clone(), ..Sparse::new(moved) };
        others.push(moved);
        // A diagonal metric, then the first problem again.
        let mut plain = others[0].problem.clone();
        (0..n * n).filter(|k| k % (n + 1) != 0).for_each(|k| plain.metric[k] = 0.0);
        others.push(Sparse::new(plain));
        others.push(Sparse::new(others[0].problem.clone()));
        for sparse in &others {
            let mut own = Outcome::default();
            DEFAULT
                .solve(&mut scratch, &sparse.terms(), &tolerances, &mut own)
                .expect("a solution");
            let alone = solve(&sparse.terms()).1;
            compare(&format!("case {case}"), &own.v_dot, &alone.v_dot, 1e-12);
            compare(&format!("case {case}"), &own.multipliers, &alone.multipliers, 1e-11);
        }
    }
}

#[test]
fn rows_that_contradict_each_other_are_told() {
    let mut source = Random(5);
    for case in 0..400 {
        let (mut problem, independent) = match case % 3 {
            0 => random_band(&mut source),
            _ => random(&mut source),
        };
        if problem.m == independent {
            continue;
        }
        let last = problem.m - 1;
        let size = problem.bias.iter().fold(1.0f64, |m, b| m.max(b.abs()));
        problem.bias[last] += 0.3 * size;
        let (_, dense) = solve(&problem.terms());
        let sparse = Sparse::new(problem);
        let (_, own) = solve(&sparse.terms());
        assert_eq!(own.motion, Verdict::Inconsistent, "case {case}");
        assert_eq!(dense.motion, Verdict::Inconsistent, "case {case}: the test itself");
        let conflict = own.conflict.expect("evidence");
        let p = &sparse.problem;
        for i in 0..p.n {
            let sum: f64 = (0..p.m).map(|j| conflict.weights[j] * p.jacobian[j * p.n + i]).sum();
            let size = p.jacobian.iter().fold(1.0f64, |m, a| m.max(a.abs()));
            assert!(sum.abs() <= 1e-9 * size, "case {case}: {sum}");
        }
        let value: f64 = conflict.weights.iter().zip(&p.bias).map(|(w, b)| w * b).sum();
        assert!((value - conflict.value).abs() <= 1e-9 * size, "case {case}");
    }
}

/// A metric that is one block, far too large for a matrix with its zeros: a solution with the rows
/// that repeat others left out, and no heavier than its entries.
#[test]
fn a_large_metric_of_one_block_is_never_full() {
    let n = 6000;
    let neighbours = |i: usize| i.saturating_sub(1)..(i + 2).min(n);
    let metric = Arc::new(Pattern::new(n, (0..n).map(neighbours)));
    let entries: Vec<f64> =
        (0..n).flat_map(|i| neighbours(i).map(move |j| if i == j { 4.0 } else { 1.0 })).collect();
    // x_i − x_{i+1} for every other pair, each twice.
    let pair = |k: usize| [2 * (k / 2), 2 * (k / 2) + 1];
    let jacobian = Arc::new(Pattern::new(n, (0..n).map(pair)));
    let rows: Vec<f64> =
        (0..n).flat_map(|k| if k % 2 == 0 { [1.0, -1.0] } else { [-2.0, 2.0] }).collect();
    let force: Vec<f64> = (0..n).map(|i| (0.37 * i as f64).sin()).collect();
    let (none, bias) = (vec![0.0; n], vec![0.0; n]);
    let terms = Terms {
        n,
        m: n,
        metric: &entries,
        jacobian: &rows,
        force: &force,
        nonideal: &none,
        bias: &bias,
        inertia: &[],
        noise: None,
        patterns: Some(Patterns { metric: &metric, jacobian: &jacobian }),
    };
    let (_, own) = solve(&terms);
    assert_eq!((own.motion, own.rank.jacobian), (Verdict::Unique, n / 2));
    assert!(own.stationarity.max(own.feasibility) < 1e-13);
    // Pairs move as one: a chain of half the length with the masses and couplings of pairs.
    let half = n / 2;
    let (mut diagonal, mut right): (Vec<f64>, Vec<f64>) =
        (vec![10.0; half], (0..half).map(|k| force[2 * k] + force[2 * k + 1]).collect());
    for k in 1..half {
        let l = 1.0 / diagonal[k - 1];
        diagonal[k] -= l;
        right[k] -= l * right[k - 1];
    }
    for k in (0..half).rev() {
        let next = if k + 1 < half { right[k + 1] } else { 0.0 };
        right[k] = (right[k] - next) / diagonal[k];
    }
    let pairs: Vec<f64> = right.iter().flat_map(|a| [*a, *a]).collect();
    compare("pairs", &own.v_dot, &pairs, 1e-12);
}

/// One row over all coordinates of such a metric fills in nothing else; a metric that joins each to
/// many is told to be too large, at once.
#[test]
fn a_row_over_all_coordinates_stays_one_row() {
    let n = 3000;
    let band = |width: usize| {
        let row = move |i: usize| i.saturating_sub(width)..(i + width + 1).min(n);
        let pattern = Arc::new(Pattern::new(n, (0..n).map(row)));
        let value = move |i: usize, j: usize| if i == j { 4.0 } else { 1.0 / width as f64 };
        let entries = (0..n).flat_map(|i| row(i).map(move |j| value(i, j))).collect::<Vec<f64>>();
        (pattern, entries)
    };
    let jacobian = Arc::new(Pattern::new(n, std::iter::once(0..n)));
    let (rows, bias, none) = (vec![1.0; n], [3.0], vec![0.0; n]);
    let force: Vec<f64> = (0..n).map(|i| (0.11 * i as f64).cos()).collect();
    let (metric, entries) = band(1);
    let terms = Terms {
        n,
        m: 1,
        metric: &entries,
        jacobian: &rows,
        force: &force,
        nonideal: &none,
        bias: &bias,
        inertia: &[],
        noise: None,
        patterns: Some(Patterns { metric: &metric, jacobian: &jacobian }),
    };
    let (_, own) = solve(&terms);
    assert!(own.stationarity.max(own.feasibility) < 1e-12, "{own:?}");
    assert!((own.v_dot.iter().sum::<f64>() - 3.0).abs() < 1e-9);
    let (metric, entries) = band(700);
    let patterns = Some(Patterns { metric: &metric, jacobian: &jacobian });
    let terms = Terms { metric: &entries, patterns, ..terms };
    let (mut scratch, mut outcome) = (Scratch::default(), Outcome::default());
    let solved = DEFAULT.solve(&mut scratch, &terms, &Tolerances::default(), &mut outcome);
    assert!(solved.is_err(), "{:?}", outcome.rank);
}

#[test]
fn what_sparse_factors_do_not_serve_is_solved_with_zeros() {
    // A coordinate without mass that a row holds.
    let n = 6;
    let mut problem = Problem { n, m: 1, ..Problem::default() };
    problem.metric =
        (0..n * n).map(|k| if k % (n + 1) == 0 && k > 0 { 1.0 } else { 0.0 }).collect();
    problem.force = vec![1.0; n];
    problem.nonideal = vec![0.0; n];
    problem.jacobian = (0..n).map(|i| if i < 2 { 1.0 } else { 0.0 }).collect();
    problem.bias = vec![0.0];
    let (_, dense) = solve(&problem.terms());
    let (_, own) = solve(&Sparse::new(problem).terms());
    assert_eq!(own, dense);
    assert_eq!(own.motion, Verdict::Unique);
}

/// Rows that meet as a tree does, or not; a diagonal metric. What is left after elimination, formed
/// by its products elsewhere, has the multipliers of the problem itself, to the bit, and falls as it
/// does.
#[test]
fn a_reduced_problem_has_the_multipliers_of_the_whole() {
    let mut source = Random(23);
    let mut trees = 0;
    for case in 0..400 {
        let m = 2 + source.below(40);
        let n = m + 1;
        let mut p = Problem { n, m, ..Problem::default() };
        p.metric = vec![0.0; n * n];
        (0..n).for_each(|i| p.metric[i * (n + 1)] = source.unit(0.0, 0.5).abs());
        p.jacobian = vec![0.0; m * n];
        let is_tree = case % 2 == 0;
        for row in 0..m {
            // Each row has a coordinate of its own and one of an earlier row; of a tree no two share
            // the latter.
            p.jacobian[row * n + row + 1] = 1.0 + source.signed().abs();
            let other = if is_tree { row } else { source.below(row + 1) };
            p.jacobian[row * n + other] = source.normal() + 3.0;
        }
        (p.force, p.nonideal, p.bias) = (source.vector(n), source.vector(n), source.vector(m));
        let sparse = Sparse::new(p);
        let (scratch, own) = solve(&sparse.terms());
        let mut factored = Factored::default();
        assert!(factored.adopt(&scratch, &own), "case {case}");
        let (mut v_dot, mut lambda) = (Vec::new(), Vec::new());
        assert!(factored.solve_at(DEFAULT, &sparse.terms(), &mut v_dot, &mut lambda));
        let Some(reduced) = factored.reduced() else { continue };
        let p = &sparse.problem;
        let (masses, entries) = (&sparse.entries[0], &sparse.entries[1]);
        let columns: Vec<usize> =
            (0..m).flat_map(|row| reduced.jacobian.row(row).to_vec()).collect();
        let sum = |products: &mut dyn Iterator<Item = (f64, f64)>| {
            let first = products.next().map_or(0.0, |(a, b)| a * b);
            products.fold(first, |sum, (a, b)| a.mul_add(b, sum))
        };
        let over = |at: usize| entries[at] * (1.0 / masses[columns[at]]);
        let mut schur = Vec::new();
        for ends in reduced.ends.windows(2) {
            let products = &reduced.products[ends[0] as usize..ends[1] as usize];
            let mut products =
                products.iter().map(|&(a, w)| (entries[a as usize], over(w as usize)));
            schur.push(sum(&mut products));
        }
        let u: Vec<f64> =
            (0..n).map(|i| (p.force[i] + p.nonideal[i]) * (1.0 / masses[i])).collect();
        let mut right: Vec<f64> = (0..m)
            .map(|row| {
                let own = reduced.jacobian.range(row);
                p.bias[row] - sum(&mut own.map(|at| (entries[at], u[columns[at]])))
            })
            .collect();
        trees += usize::from(is_tree);
        assert!(factored.solve_reduced(&schur, &mut right), "case {case}");
        assert_eq!(right, lambda, "case {case}");
        // A row that all but vanishes has a pivot that has fallen.
        let mut fallen = schur.clone();
        fallen.iter_mut().for_each(|s| *s = f64::NAN);
        assert!(!factored.solve_reduced(&fallen, &mut right), "case {case}");
        assert!(!factored.solve_reduced(&schur[1..], &mut right), "case {case}");
    }
    assert!(trees > 100, "{trees}");
}
