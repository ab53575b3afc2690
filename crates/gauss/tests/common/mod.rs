//! Random problems with known solutions, and exact-enough sums to make them from.
// Each test file uses a part of this module; index loops read like the formulas.
#![allow(dead_code, clippy::needless_range_loop)]

use dalembert_gauss::{Elimination, Outcome, Scratch, SolveError, Terms, Tolerances};

/// Knuth's MMIX generator; the high bits are good enough for test data.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = self.0 ^ (self.0 >> 29);
        x.wrapping_mul(0xBF58476D1CE4E5B9) >> 11
    }
    /// Uniform on (−1, 1).
    pub fn signed(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.signed() / 2.0).sum()
    }
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }
    /// 10^u with u uniform on ±[low, high].
    pub fn unit(&mut self, low: f64, high: f64) -> f64 {
        let size = low + (high - low) * (self.signed() + 1.0) / 2.0;
        10f64.powf(size.copysign(self.signed()))
    }
    /// Orthonormal columns, rows × cols with rows ≥ cols, by repeated Gram–Schmidt.
    pub fn orthonormal(&mut self, rows: usize, cols: usize) -> Vec<f64> {
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for _ in 0..cols {
            let mut v = self.vector(rows);
            for _ in 0..3 {
                for c in &columns {
                    let w: f64 = c.iter().zip(&v).map(|(a, b)| a * b).sum();
                    v.iter_mut().zip(c).for_each(|(v, c)| *v -= w * c);
                }
                let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
                v.iter_mut().for_each(|x| *x /= norm);
            }
            columns.push(v);
        }
        let mut q = vec![0.0; rows * cols];
        for i in 0..rows {
            for j in 0..cols {
                q[i * cols + j] = columns[j][i];
            }
        }
        q
    }
}

/// Σ x_i y_i evaluated in twice the working precision (Ogita, Rump & Oishi 2005).
pub fn dot2<'a>(x: impl IntoIterator<Item = &'a f64>, y: impl IntoIterator<Item = &'a f64>) -> f64 {
    let (mut sum, mut rest) = (0.0f64, 0.0f64);
    for (a, b) in x.into_iter().zip(y) {
        let product = a * b;
        let product_error = a.mul_add(*b, -product);
        let next = sum + product;
        let z = next - sum;
        rest += (sum - (next - z)) + (product - z) + product_error;
        sum = next;
    }
    sum + rest
}

/// A problem that owns its numbers.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub n: usize,
    pub m: usize,
    pub metric: Vec<f64>,
    pub force: Vec<f64>,
    pub nonideal: Vec<f64>,
    pub jacobian: Vec<f64>,
    pub bias: Vec<f64>,
}

impl Problem {
    pub fn terms(&self) -> Terms<'_> {
        Terms {
            n: self.n,
            m: self.m,
            metric: &self.metric,
            force: &self.force,
            nonideal: &self.nonideal,
            jacobian: &self.jacobian,
            bias: &self.bias,
            noise: None,
            inertia: &[],
            patterns: None,
        }
    }
    pub fn solve(&self, by: &dyn Elimination) -> Result<Outcome, SolveError> {
        self.solve_with(by, &Tolerances::default())
    }
    pub fn solve_with(&self, by: &dyn Elimination, t: &Tolerances) -> Result<Outcome, SolveError> {
        let mut outcome = Outcome::default();
        by.solve(&mut Scratch::default(), &self.terms(), t, &mut outcome)?;
        Ok(outcome)
    }
    pub fn row(&self, j: usize) -> &[f64] {
        &self.jacobian[j * self.n..(j + 1) * self.n]
    }
    /// Sets F (with a random C taken off it) and b so that v̇, λ solve the problem.
    pub fn pose(&mut self, random: &mut Random, v_dot: &[f64], multipliers: &[f64]) {
        let n = self.n;
        self.nonideal = random.vector(n);
        self.force = (0..n)
            .map(|i| {
                let column: Vec<f64> = (0..self.m).map(|j| -self.jacobian[j * n + i]).collect();
                let mut left = self.metric[i * n..(i + 1) * n].to_vec();
                left.extend(column);
                left.push(-1.0);
                let mut right = v_dot.to_vec();
                right.extend_from_slice(multipliers);
                right.push(self.nonideal[i]);
                dot2(&left, &right)
            })
            .collect();
        self.bias = (0..self.m).map(|j| dot2(self.row(j), v_dot)).collect();
    }
    /// The same problem in other units: q_i = s_i q̂_i, rows × t_j, (Γ, F, C) × mass.
    pub fn in_units(&self, s: &[f64], t: &[f64], mass: f64) -> Problem {
        let mut p = self.clone();
        for i in 0..p.n {
            for j in 0..p.n {
                p.metric[i * p.n + j] *= s[i] * s[j] * mass;
            }
            p.force[i] *= s[i] * mass;
            p.nonideal[i] *= s[i] * mass;
            for j in 0..p.m {
                p.jacobian[j * p.n + i] *= s[i] * t[j];
            }
        }
        for j in 0..p.m {
            p.bias[j] *= t[j];
        }
        p
    }
}

/// G Gᵀ with G n × rank.
pub fn semidefinite(random: &mut Random, n: usize, rank: usize) -> Vec<f64> {
    let g = random.vector(n * rank);
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = dot2(&g[i * rank..(i + 1) * rank], &g[j * rank..(j + 1) * rank]);
        }
    }
    for i in 0..n {
        for j in 0..i {
            a[i * n + j] = a[j * n + i];
        }
    }
    a
}

pub fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// ‖x − y‖ / ‖y‖.
pub fn error(x: &[f64], y: &[f64]) -> f64 {
    if x.len() != y.len() {
        return f64::INFINITY;
    }
    let difference: Vec<f64> = x.iter().zip(y).map(|(a, b)| a - b).collect();
    let size = norm(y);
    if size == 0.0 { norm(&difference) } else { norm(&difference) / size }
}
