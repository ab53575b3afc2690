//! Consistent states near the start, on the same branch.
//!
//! Where rows depend on each other only on the surface φ(q, t) = 0, a point off it is
//! no good guess: the nearest consistent one may lie on another branch, or just where
//! branches meet. So the states here are reached on the surface: a step along it, in
//! the kernel of φ_q, then back by Newton's method with the rank of the start.

use dalembert_expr::{ExprId, Random, Symbol};
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

/// Up to `count` states; fewer where the constraints leave nothing to move.
pub fn states(setting: &Setting, start: &Start, count: usize) -> Vec<State> {
    let system = &setting.model.system;
    let exprs = &setting.model.exprs;
    let phi: Vec<ExprId> = system
        .constraints
        .iter()
        .filter(|c| c.level == Level::Position)
        .map(|c| c.residual)
        .collect();
    if phi.is_empty() {
        return random_states(setting, start, count, 2026);
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
        let values = setting.numbers(&roots, &table);
        (values[..m].to_vec(), dense(&jacobian, &values[m..]))
    };
    let mut svd = Svd::default();
    svd.decompose(&at(start.state.t, &start.state.q).1, m, n);
    let rank = svd.rank(ZERO);
    let timed = exprs.symbols_of(&phi).contains(&Symbol::TIME);
    let mut random = Random::new(0x5eed_2026);
    let mut found = Vec::new();
    for attempt in 0..3 * count {
        if found.len() == count {
            break;
        }
        let reach = if attempt < 2 * count { 0.25 } else { 0.05 };
        let mut place = start.state.q.clone();
        let mut t = start.state.t;
        // A few steps, so that curved surfaces are followed.
        let mut last = None;
        for _ in 0..3 {
            svd.decompose(&at(t, &place).1, m, n);
            let size = place.iter().fold(1f64, |s, x| s.max(x.abs()));
            let mut step: Vec<f64> = (0..n).map(|_| reach * size * random.signed()).collect();
            svd.project_on_kernel(rank, &mut step);
            place.iter_mut().zip(&step).for_each(|(x, d)| *x += d);
            t += if timed { 0.1 * random.signed() } else { 0.0 };
            last = None;
            for _ in 0..STEPS {
                let (residual, slopes) = at(t, &place);
                svd.decompose(&slopes, m, n);
                let mut back = vec![0.0; n];
                svd.apply_pseudo_inverse(rank, &residual, &mut back);
                let length = back.iter().fold(0f64, |s, x| s.max(x.abs()));
                if !length.is_finite() || length > size {
                    break;
                }
                place.iter_mut().zip(&back).for_each(|(x, d)| *x -= d);
                if length <= 4.0 * f64::EPSILON * size {
                    last = Some(length);
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
    found
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
