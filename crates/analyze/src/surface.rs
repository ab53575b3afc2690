//! Consistent states near the start, on the same branch.
//!
//! Where rows depend on each other only on the surface φ(q, t) = 0, a point off it is
//! no good guess: the nearest consistent one may lie on another branch, or just where
//! branches meet. So the states here are reached on the surface: a step along it, in
//! the kernel of φ_q, then back by Newton's method with the rank of the start. Of few rows the
//! singular values decide it; many are factored where they have entries.

use crate::envelope::{Envelope, FEW};
use crate::left_out::LeftOut;
use dalembert_expr::{ExprId, Jacobian, Random, Symbol};
use dalembert_gauss::linalg::svd::Svd;
use dalembert_model::system::{Energy, Level};
use dalembert_simulate::normal_form::dense;
use dalembert_simulate::points::random_states;
use dalembert_simulate::start::{self, Guess};
use dalembert_simulate::{Setting, Start, State, Table};

/// Singular values below this are zero for the rank of the start.
const ZERO: f64 = 1e-9;
/// Newton steps.
const STEPS: usize = 40;

/// Up to `count` states; fewer where the constraints leave nothing to move. What they are left out
/// for, where there are too many of these.
pub fn states(setting: &Setting, start: &Start, count: usize) -> Result<Vec<State>, LeftOut> {
    let system = &setting.model.system;
    let exprs = &setting.model.exprs;
    let phi: Vec<ExprId> = system
        .constraints
        .iter()
        .filter(|c| c.level == Level::Position)
        .map(|c| c.residual)
        .collect();
    if phi.is_empty() {
        return Ok(random_states(setting, start, count, 2026));
    }
    let q = system.positions();
    let (n, m) = (q.len(), phi.len());
    let jacobian = exprs.jacobian(&phi, &q);
    let mut roots = phi.clone();
    roots.extend(jacobian.rows.iter().flatten().map(|e| e.1));
    let at = |t: f64, place: &[f64]| -> (Vec<f64>, Vec<f64>) {
        let mut table = Table::default();
        table.set(Symbol::TIME, t);
        table.set_all(&q, place);
        let mut residual = setting.numbers(&roots, &table);
        let slopes = residual.split_off(m);
        (residual, slopes)
    };
    let mut rows = Rows::new(jacobian).ok_or(LeftOut::States)?;
    rows.begin(&at(start.state.t, &start.state.q).1);
    // Many rows share the extent of a system: each has a part of it to move in.
    let share = if m > FEW { 4.0 / m as f64 } else { 1.0 };
    let timed = exprs.symbols_of(&phi).contains(&Symbol::TIME);
    let mut random = Random::new(0x5eed_2026);
    let mut found = Vec::new();
    for attempt in 0..3 * count {
        if found.len() == count {
            break;
        }
        let reach = share * if attempt < 2 * count { 0.25 } else { 0.05 };
        let mut place = start.state.q.clone();
        let mut t = start.state.t;
        // A few steps, so that curved surfaces are followed.
        let mut last = None;
        for _ in 0..3 {
            if !rows.set(&at(t, &place).1) {
                break;
            }
            let size = place.iter().fold(1f64, |s, x| s.max(x.abs()));
            let mut step: Vec<f64> = (0..n).map(|_| reach * size * random.signed()).collect();
            rows.project_on_kernel(&mut step);
            place.iter_mut().zip(&step).for_each(|(x, d)| *x += d);
            t += if timed { 0.1 * random.signed() } else { 0.0 };
            last = None;
            for _ in 0..STEPS {
                let (residual, slopes) = at(t, &place);
                if !rows.set(&slopes) {
                    break;
                }
                let back = rows.back(&residual);
                let length = back.iter().fold(0f64, |s, x| s.max(x.abs()));
                if !length.is_finite() || length > size {
                    break;
                }
                place.iter_mut().zip(&back).for_each(|(x, d)| *x -= d);
                if length <= 4.0 * f64::EPSILON * size {
                    last = rows.all_hold(&at(t, &place).0, size).then_some(length);
                    break;
                }
            }
            if last.is_none() {
                break;
            }
        }
        if last.is_some()
            && let Some(state) = with_rates(setting, start, t, place, &mut random)
        {
            found.push(state);
        }
    }
    Ok(found)
}

/// Entries of a matrix with all its zeros.
const MOST: usize = 1 << 18;
/// What may be left of a row that was not asked for.
const LEFT: f64 = 1e-9;

/// φ_q at a place.
enum Rows {
    Few { matrix: Jacobian, svd: Svd, rank: usize },
    Many { envelope: Envelope, rank: usize, sizes: Vec<f64>, matrix: Jacobian },
}

impl Rows {
    /// `None` where there are too many for either way.
    fn new(matrix: Jacobian) -> Option<Rows> {
        let m = matrix.rows.len();
        match (m > FEW).then(|| Envelope::new(&matrix)).flatten() {
            Some(envelope) => Some(Rows::Many { envelope, rank: 0, sizes: Vec::new(), matrix }),
            None if m.saturating_mul(matrix.columns) > MOST => None,
            None => Some(Rows::Few { matrix, svd: Svd::default(), rank: 0 }),
        }
    }

    /// Takes the entries at the start, and their rank as that of all places.
    fn begin(&mut self, slopes: &[f64]) {
        self.set(slopes);
        match self {
            Rows::Few { svd, rank, .. } => *rank = svd.rank(ZERO),
            Rows::Many { envelope, rank, .. } => *rank = envelope.factor(slopes),
        }
    }

    /// Takes the entries at a place; whether it can be gone on from there.
    fn set(&mut self, slopes: &[f64]) -> bool {
        match self {
            Rows::Few { matrix, svd, .. } => {
                svd.decompose(&dense(matrix, slopes), matrix.rows.len(), matrix.columns);
                true
            }
            Rows::Many { envelope, rank, sizes, matrix } => {
                let mut rest = slopes;
                sizes.clear();
                sizes.extend(matrix.rows.iter().map(|row| {
                    let (own, after) = rest.split_at(row.len());
                    rest = after;
                    own.iter().map(|a| a.abs()).sum::<f64>()
                }));
                envelope.factor(slopes) == *rank
            }
        }
    }

    fn project_on_kernel(&self, x: &mut [f64]) {
        match self {
            Rows::Few { svd, rank, .. } => svd.project_on_kernel(*rank, x),
            Rows::Many { envelope, .. } => envelope.project_on_kernel(x),
        }
    }

    /// The least step that takes residuals away.
    fn back(&self, residual: &[f64]) -> Vec<f64> {
        match self {
            Rows::Few { matrix, svd, rank } => {
                let mut back = vec![0.0; matrix.columns];
                svd.apply_pseudo_inverse(*rank, residual, &mut back);
                back
            }
            Rows::Many { envelope, .. } => envelope.least(residual),
        }
    }

    /// Whether rows that were left out hold with the others.
    fn all_hold(&self, residual: &[f64], size: f64) -> bool {
        match self {
            Rows::Few { .. } => true,
            Rows::Many { sizes, .. } => {
                residual.iter().zip(sizes).all(|(r, a)| r.abs() <= LEFT * a * size)
            }
        }
    }
}

/// The state of a place, with velocities that satisfy the constraints where they can
/// be found.
fn with_rates(
    setting: &Setting,
    start: &Start,
    t: f64,
    q: Vec<f64>,
    random: &mut Random,
) -> Option<State> {
    let by_momenta = matches!(setting.model.system.energy, Energy::Hamiltonian { .. });
    let center = if by_momenta { &start.state.momentum } else { &start.state.velocity };
    let size = center.iter().fold(1f64, |s, v| s.max(v.abs()));
    let rate = center.iter().map(|&v| v + 0.5 * size * random.signed()).collect();
    let guess = Guess { q: q.clone(), rate, by_momenta };
    let velocity = match start::from(setting, t, &guess, false) {
        Ok(found) => found.state.velocity,
        Err(_) => start.state.velocity.clone(),
    };
    State::of_velocities(setting, t, q, velocity).ok()
}
