//! Singular configurations near the start: where the rows lose rank.
//!
//! At such a place some u ≠ 0 has A(q)ᵀu = 0 for rows that are independent
//! elsewhere. Together with φ(q, t) = 0 and uᵀu = 1 these are equations for (q, u),
//! more than unknowns in general, which are brought down in the least-squares sense
//! (Levenberg–Marquardt) from the start and from states around it, u being first the
//! left singular vector of the smallest singular value. What is found is kept if the
//! rank of all rows is lower there indeed. Finding none proves nothing.

use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{ExprId, Symbol, SymbolKind};
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{largest, norm};
use dalembert_simulate::normal_form::dense;
use dalembert_simulate::{Numbers, Setting, State};

/// Systems of more coordinates are not searched.
const LARGEST: usize = 16;
/// How far from the start a configuration may be, in any coordinate.
const RADIUS: f64 = 1.5;
/// Iterations from one state.
const STEPS: usize = 60;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Search {
    /// How far from the start was looked.
    pub radius: f64,
    /// What was found.
    pub found: Vec<Singular>,
}

/// A configuration in which the rows lose rank.
#[derive(Clone, Debug)]
pub struct Singular {
    /// The positions.
    pub q: Vec<f64>,
    /// The rank there.
    pub rank: usize,
    /// The rows that depend on each other there.
    pub rows: Vec<usize>,
    /// How far from the start it is, in the largest coordinate.
    pub distance: f64,
}

/// Looks for a rank drop; `None` where the system is too large for it.
pub fn search(
    setting: &Setting,
    lagrange: &EquationsOfMotion,
    start: &State,
    states: &[State],
    independent: &[usize],
) -> Option<Search> {
    let exprs = &setting.model.exprs;
    // States stand behind the coordinates and no row moves them: they stay as at the start.
    let (n, r) = (lagrange.v.len(), independent.len());
    if n > LARGEST || r > n {
        return None;
    }
    let mut search = Search { radius: RADIUS, found: Vec::new() };
    if r == 0 {
        return Some(search);
    }
    let weights: Vec<Symbol> =
        (0..r).map(|k| exprs.symbol(&format!("u[{}]", k + 1), SymbolKind::Variable)).collect();
    let mut equations: Vec<ExprId> = lagrange.configuration_residuals.iter().map(|c| c.1).collect();
    for i in 0..n {
        let terms: Vec<ExprId> = independent
            .iter()
            .zip(&weights)
            .map(|(&j, &u)| {
                let entry = exprs.at(lagrange.jacobian.get(j, i));
                (entry * exprs.at(exprs.of_symbol(u))).id
            })
            .collect();
        equations.push(exprs.sum(&terms));
    }
    let squares: Vec<ExprId> =
        weights.iter().map(|&u| exprs.at(exprs.of_symbol(u)).powi(2).id).collect();
    equations.push((exprs.at(exprs.sum(&squares)) - 1).id);
    let unknowns: Vec<Symbol> = lagrange.q[..n].iter().chain(&weights).copied().collect();
    let jacobian = exprs.jacobian(&equations, &unknowns);
    let mut roots = equations.clone();
    roots.extend(jacobian.rows.iter().flatten().map(|e| e.1));
    let m = equations.len();
    let at = |x: &[f64]| -> (Vec<f64>, Vec<f64>) {
        let mut table = start.table(&setting.model.system);
        table.set_all(&unknowns, x);
        let values = setting.numbers(&roots, &table);
        (values[..m].to_vec(), dense(&jacobian, &values[m..]))
    };
    for state in std::iter::once(start).chain(states) {
        let Ok(numbers) = Numbers::new(setting, lagrange, state) else { continue };
        let matrix: Vec<f64> = independent
            .iter()
            .flat_map(|&j| numbers.jacobian[j * n..(j + 1) * n].iter().copied())
            .collect();
        let mut svd = Svd::default();
        svd.decompose(&matrix, r, n);
        let u = &svd.u[(r - 1) * r..r * r];
        let x: Vec<f64> = state.q[..n].iter().chain(u).copied().collect();
        let Some(x) = descend(x, m, &at) else { continue };
        let q = &x[..n];
        let distance =
            q.iter().zip(&start.q).fold(0f64, |d, (a, b)| d.max((a - b).abs() / b.abs().max(1.0)));
        let near = |s: &Singular| s.q.iter().zip(q).all(|(a, b)| (a - b).abs() < 1e-4);
        if distance > RADIUS || search.found.iter().any(near) {
            continue;
        }
        let place = State { q: [q, &start.q[n..]].concat(), ..start.clone() };
        if let Some((rank, rows)) = rank_at(setting, lagrange, &place)
            && rank < r
        {
            search.found.push(Singular { q: q.to_vec(), rank, rows, distance });
        }
    }
    search.found.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    Some(search)
}

/// Residuals and their slopes.
type Equations<'a> = dyn Fn(&[f64]) -> (Vec<f64>, Vec<f64>) + 'a;

/// Least squares from x; `None` if they do not come down to zero.
fn descend(mut x: Vec<f64>, m: usize, at: &Equations<'_>) -> Option<Vec<f64>> {
    let size = x.len();
    let (mut residual, mut slopes) = at(&x);
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let now = norm(&residual);
        if !now.is_finite() {
            return None;
        }
        if now <= 1e-12 {
            return Some(x);
        }
        let mut svd = Svd::default();
        svd.decompose(&slopes, m, size);
        let first = svd.sigma.first().copied().unwrap_or(0.0);
        let mut better = false;
        for _ in 0..8 {
            let mu = damping * now.min(1.0) * first * first;
            let mut step = vec![0.0; size];
            for k in 0..svd.sigma.len() {
                let s = svd.sigma[k];
                let u = &svd.u[k * m..(k + 1) * m];
                let along: f64 = u.iter().zip(&residual).map(|(a, b)| a * b).sum();
                let weight = along * s / (s * s + mu);
                let v = &svd.v[k * size..(k + 1) * size];
                step.iter_mut().zip(v).for_each(|(d, v)| *d -= weight * v);
            }
            let next: Vec<f64> = x.iter().zip(&step).map(|(a, b)| a + b).collect();
            let (r, s) = at(&next);
            if norm(&r) < now {
                (x, residual, slopes) = (next, r, s);
                damping = (damping / 4.0).max(1e-15);
                better = true;
                break;
            }
            damping *= 8.0;
        }
        if !better {
            break;
        }
    }
    (norm(&residual) <= 1e-8).then_some(x)
}

/// The rank of all rows at a place, and those that depend on each other.
fn rank_at(
    setting: &Setting,
    lagrange: &EquationsOfMotion,
    place: &State,
) -> Option<(usize, Vec<usize>)> {
    let numbers = Numbers::new(setting, lagrange, place).ok()?;
    let (n, m) = (numbers.size, numbers.bias.len());
    // Rows of unit length; a row that vanishes has none.
    let mut matrix = numbers.jacobian.clone();
    let whole = largest(&matrix);
    for row in matrix.chunks_mut(n) {
        let length = norm(row);
        if length > 1e-7 * whole {
            row.iter_mut().for_each(|a| *a /= length);
        }
    }
    let mut svd = Svd::default();
    svd.decompose(&matrix, m, n);
    let rank = svd.rank(1e-6);
    let involved = |j: &usize| {
        // e_j is not in the range: it takes part in some relation.
        let along: f64 = (0..rank).map(|k| svd.u[k * m + j].powi(2)).sum();
        1.0 - along > 1e-6
    };
    Some((rank, (0..m).filter(involved).collect()))
}
