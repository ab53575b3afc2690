//! Forces that depend on multipliers, against one dense system for v̇ and λ together.

#[path = "../../gauss/tests/common/mod.rs"]
mod common;

use common::Random;
use dalembert_expr::SwitchKind;
use dalembert_gauss::Solver;
use dalembert_gauss::coupled::{Coupled, CoupledError, Forces, Law};
use dalembert_gauss::linalg::lu;
use dalembert_simulate::normal_form::multiplier_forces::{Attempt, only_branch};
use dalembert_simulate::{EVERY, Outcome, Scratch, SolveError, Terms, Tolerances};

/// F + C = f + D φ(λ), half of it in C.
struct Case {
    n: usize,
    m: usize,
    metric: Vec<f64>,
    jacobian: Vec<f64>,
    bias: Vec<f64>,
    free: Vec<f64>,
    /// Row by row of n × k.
    slopes: Vec<f64>,
    /// The rows whose multipliers occur.
    used: Vec<usize>,
    /// How far from linear φ is: φ(λ) = λ + c sin λ.
    bend: f64,
}

impl Case {
    /// Γ of a rank, rows independent, D of a size.
    fn random(random: &mut Random, massless: usize, bend: f64) -> Case {
        let n = 2 + massless + random.below(5);
        let m = massless + 1 + random.below(n - massless - 1);
        let k = 1 + random.below(m);
        let rank = n - massless;
        let half = random.vector(n * rank);
        let mut metric = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                metric[i * n + j] =
                    (0..rank).map(|l| half[i * rank + l] * half[j * rank + l]).sum::<f64>();
            }
        }
        let mut used: Vec<usize> = (0..m).collect();
        while used.len() > k {
            used.remove(random.below(used.len()));
        }
        Case {
            n,
            m,
            metric,
            jacobian: random.vector(m * n),
            bias: random.vector(m),
            free: random.vector(n),
            slopes: random.vector(n * k).iter().map(|d| 0.3 * d).collect(),
            used,
            bend,
        }
    }

    fn phi(&self, l: f64) -> (f64, f64) {
        (l + self.bend * l.sin(), 1.0 + self.bend * l.cos())
    }

    /// (Γ v̇ − f − D φ(λ) − Aᵀλ, A v̇ − b) and its derivatives.
    fn residual(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (n, m, k) = (self.n, self.m, self.used.len());
        let size = n + m;
        let (mut r, mut j) = (vec![0.0; size], vec![0.0; size * size]);
        for i in 0..n {
            r[i] = -self.free[i];
            for l in 0..n {
                r[i] += self.metric[i * n + l] * x[l];
                j[i * size + l] = self.metric[i * n + l];
            }
            for l in 0..m {
                r[i] -= self.jacobian[l * n + i] * x[n + l];
                j[i * size + n + l] = -self.jacobian[l * n + i];
            }
            for c in 0..k {
                let (value, slope) = self.phi(x[n + self.used[c]]);
                r[i] -= self.slopes[i * k + c] * value;
                j[i * size + n + self.used[c]] -= self.slopes[i * k + c] * slope;
            }
        }
        for l in 0..m {
            r[n + l] = -self.bias[l];
            for i in 0..n {
                r[n + l] += self.jacobian[l * n + i] * x[i];
                j[(n + l) * size + i] = self.jacobian[l * n + i];
            }
        }
        (r, j)
    }

    /// v̇ and λ by Newton's method on the whole, and det of the whole there.
    fn dense(&self) -> Option<(Vec<f64>, f64)> {
        let size = self.n + self.m;
        let mut x = vec![0.0; size];
        let mut order = vec![0; size];
        let mut work = vec![0.0; size];
        for _ in 0..60 {
            let (mut r, mut j) = self.residual(&x);
            if !lu::factor(&mut j, size, &mut order) {
                return None;
            }
            lu::solve(&j, size, &order, &mut r, &mut work);
            x.iter_mut().zip(&r).for_each(|(x, r)| *x -= r);
        }
        let (r, j) = self.residual(&x);
        let scale = x.iter().fold(1f64, |m, x| m.max(x.abs()));
        let settled = r.iter().all(|r| r.abs() < 1e-11 * scale);
        settled.then(|| (x, determinant(j, size)))
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            n: self.n,
            m: self.m,
            metric: &self.metric,
            force: &self.free,
            nonideal: &self.free,
            jacobian: &self.jacobian,
            bias: &self.bias,
            noise: None,
            inertia: &[],
            patterns: None,
        }
    }
}

impl Law for Case {
    fn evaluate(&mut self, lambda: &[f64], at: &mut Forces) {
        let (n, k) = (self.n, self.used.len());
        for i in 0..n {
            let moved: f64 = (0..k).map(|c| self.slopes[i * k + c] * self.phi(lambda[c]).0).sum();
            at.force[i] = self.free[i] + moved / 2.0;
            at.nonideal[i] = moved / 2.0;
            for (c, l) in lambda.iter().enumerate() {
                at.slopes[c * n + i] = self.slopes[i * k + c] * self.phi(*l).1;
            }
        }
    }
}

fn determinant(mut a: Vec<f64>, n: usize) -> f64 {
    let mut order = vec![0; n];
    if !lu::factor(&mut a, n, &mut order) {
        return 0.0;
    }
    let odd = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let odd = odd.filter(|&(i, j)| order[i] > order[j]).count() % 2;
    let product: f64 = (0..n).map(|i| a[i * n + i]).product();
    if odd == 0 { product } else { -product }
}

/// Largest difference relative to the largest entry.
fn off(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

fn compare(cases: usize, massless: usize, bend: f64) -> (usize, f64) {
    let mut random = Random(41 + massless as u64);
    let (mut met, mut worst) = (0, 0f64);
    while met < cases {
        let mut case = Case::random(&mut random, massless, bend);
        let Some((exact, whole)) = case.dense() else { continue };
        let mut plain = Case { slopes: vec![0.0; case.slopes.len()], ..clone(&case) };
        plain.bend = 0.0;
        let Some((_, without)) = plain.dense() else { continue };
        // What is nearly a paradox, or nearly dependent, is ill-posed.
        if !(0.2..5.0).contains(&(whole / without)) || exact.iter().any(|x| x.abs() > 1e3) {
            continue;
        }
        met += 1;
        let (n, m) = (case.n, case.m);
        for elimination in EVERY {
            let is_literal = elimination.name().contains("literal");
            let mut coupled = Coupled::new(case.used.len(), n, m);
            let mut outcome = Outcome::default();
            let places: Vec<Option<usize>> = case.used.iter().map(|&row| Some(row)).collect();
            let copy = clone(&case);
            let solved = coupled.solve(
                &mut case,
                &copy.terms(),
                &places,
                &mut Solver::new(
                    *elimination,
                    &Tolerances::default(),
                    &mut Scratch::default(),
                    None,
                ),
                &mut outcome,
            );
            match solved {
                Err(CoupledError::Solve(SolveError::SingularMetric { .. })) if massless > 0 => {
                    continue;
                }
                // Literal formulas square condition numbers, and may say so.
                Err(CoupledError::NotFound { residual }) if is_literal && residual < 1e-5 => {
                    continue;
                }
                other => other.unwrap_or_else(|e| panic!("{}: {e}", elimination.name())),
            }
            assert!(coupled.residual <= 1e-10, "{}", coupled.residual);
            let found: Vec<f64> =
                outcome.v_dot.iter().chain(&outcome.multipliers).copied().collect();
            let difference = off(&found, &exact);
            let bound = if is_literal { 1e-6 } else { 1e-9 };
            assert!(difference < bound, "{}: {difference:e}", elimination.name());
            worst = if is_literal { worst } else { worst.max(difference) };
            let factor = whole / without;
            if bend == 0.0 && !is_literal {
                let wrong = (coupled.determinant - factor).abs() / factor.abs();
                assert!(wrong < 1e-7, "det J is {}, not {factor}", coupled.determinant);
                assert!(coupled.check().is_ok());
            }
        }
    }
    (met, worst)
}

fn clone(case: &Case) -> Case {
    Case {
        n: case.n,
        m: case.m,
        metric: case.metric.clone(),
        jacobian: case.jacobian.clone(),
        bias: case.bias.clone(),
        free: case.free.clone(),
        slopes: case.slopes.clone(),
        used: case.used.clone(),
        bend: case.bend,
    }
}

#[test]
fn affine_forces() {
    let (met, worst) = compare(300, 0, 0.0);
    println!("{met} problems, worst {worst:.1e}");
}

#[test]
fn forces_that_bend() {
    let (met, worst) = compare(200, 0, 0.4);
    println!("{met} problems, worst {worst:.1e}");
}

#[test]
fn without_mass_in_some_directions() {
    for massless in 1..3 {
        let (met, worst) = compare(100, massless, 0.0);
        println!("{met} problems, worst {worst:.1e}");
        compare(50, massless, 0.3);
    }
}

/// A row written twice: the forces may depend on what is unique of the two multipliers,
/// their weighted sum, and on nothing else.
#[test]
fn dependent_rows() {
    let mut random = Random(7);
    let mut met = 0;
    while met < 100 {
        let mut one = Case::random(&mut random, 0, 0.0);
        let (n, m) = (one.n, one.m);
        one.used = vec![0];
        one.slopes = random.vector(n).iter().map(|d| 0.3 * d).collect();
        let Some((exact, whole)) = one.dense() else { continue };
        let mut plain = clone(&one);
        plain.slopes.fill(0.0);
        let Some((_, without)) = plain.dense() else { continue };
        if !(0.2..5.0).contains(&(whole / without)) || exact.iter().any(|x| x.abs() > 1e3) {
            continue;
        }
        met += 1;
        // Row m is `factor` times row 0: λ₀ + factor λ_m is unique.
        let factor = 1.0 + random.signed() / 2.0;
        let mut twice = clone(&one);
        twice.m = m + 1;
        let again: Vec<f64> = one.jacobian[..n].iter().map(|a| factor * a).collect();
        twice.jacobian.extend(again);
        twice.bias.push(factor * one.bias[0]);
        twice.used = vec![0, m];
        for is_unique in [true, false] {
            let second = if is_unique { factor } else { 0.0 };
            twice.slopes = one.slopes.iter().flat_map(|d| [*d, second * d]).collect();
            let mut coupled = Coupled::new(2, n, m + 1);
            let mut outcome = Outcome::default();
            let places = [Some(0), Some(m)];
            let copy = clone(&twice);
            coupled
                .solve(
                    &mut twice,
                    &copy.terms(),
                    &places,
                    &mut Solver::new(
                        dalembert_simulate::DEFAULT,
                        &Tolerances::default(),
                        &mut Scratch::default(),
                        None,
                    ),
                    &mut outcome,
                )
                .expect("a solution");
            assert!(outcome.indeterminate[0]);
            let ambiguous = coupled.ambiguous(&copy.terms(), &places, &outcome.indeterminate);
            assert_eq!(ambiguous.is_none(), is_unique);
            if is_unique {
                assert!(off(&outcome.v_dot, &exact[..n]) < 1e-9);
                let sum = outcome.multipliers[0] + factor * outcome.multipliers[m];
                assert!((sum - exact[n]).abs() < 1e-9 * exact[n].abs().max(1.0));
            }
        }
    }
}

/// N = N₀ − c |N| has one solution, none or two: every branch is tried.
#[test]
fn branches() {
    let mut counts = [0; 3];
    let mut random = Random(3);
    for _ in 0..1000 {
        let (n0, c) = (random.signed(), 2.0 * random.signed());
        // On the branch s the solution is N₀/(1 + c s).
        let solutions = [1.0, -1.0].into_iter().filter(|s| n0 / (1.0 + c * s) * s > 0.0).count();
        counts[solutions] += 1;
        let found = only_branch(&[SwitchKind::Sign], &mut |modes| {
            let lambda = n0 / (1.0 + c * modes[0]);
            Ok(Some(Attempt { lambda: vec![lambda], modes: vec![lambda.signum()] }))
        });
        match solutions {
            0 => assert_eq!(found, Err(CoupledError::NoSolution)),
            1 => {
                let mode = found.expect("one solution")[0];
                assert!(n0 / (1.0 + c * mode) * mode > 0.0);
            }
            _ => assert_eq!(found, Err(CoupledError::Several)),
        }
    }
    assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
}
