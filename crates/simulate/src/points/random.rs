//! Random consistent states: where claims about all states are tried.

use crate::points::start::{self, Guess, Start};
use crate::setting::State;
use crate::setting::{Setting, Table};
use dalembert_expr::Random;
use dalembert_model::system::Energy;

/// Up to `count` states that satisfy the constraints, near the start: positions
/// moved by up to a fifth of their size (or of 1), velocities drawn anew. Fewer
/// where the constraints leave nothing to move. The `=` equations of the start do
/// not bind them. Singular positions, where fewer rows are independent than at the start, are
/// left out: they are no more typical of the others than a start would be that lies in one.
pub fn random_states(setting: &Setting, start: &Start, count: usize, seed: u64) -> Vec<State> {
    let by_momenta = matches!(setting.model.system.energy, Energy::Hamiltonian { .. });
    let center = &start.state;
    let rate = if by_momenta { &center.momentum } else { &center.velocity };
    let mut random = Random::new(seed ^ 0x9e37_79b9_7f4a_7c15);
    let mut states = Vec::new();
    let own = Guess { q: center.q.clone(), rate: rate.clone(), by_momenta };
    let freedom =
        start::from(setting, center.t, &own, false).map_or(usize::MAX, |s| s.free_positions);
    for _ in 0..4 * count {
        if states.len() == count {
            break;
        }
        let size = rate.iter().fold(1f64, |m, v| m.max(v.abs()));
        let guess = Guess {
            q: center.q.iter().map(|&q| q + 0.2 * q.abs().max(1.0) * random.signed()).collect(),
            rate: rate.iter().map(|&v| v + 0.5 * size * random.signed()).collect(),
            by_momenta,
        };
        if let Ok(found) = start::from(setting, center.t + 0.3 * random.signed(), &guess, false)
            && found.free_positions <= freedom
        {
            states.push(found.state);
        }
    }
    states
}

/// Up to `count` states near the start's guesses whose positions satisfy the
/// constraints and whose velocities are any.
pub fn random_places(setting: &Setting, count: usize, seed: u64) -> Vec<State> {
    let t = setting.number(setting.model.system.run.from, &Table::default());
    let center = Guess::of_start(setting);
    let mut random = Random::new(seed ^ 0x9e37_79b9_7f4a_7c15);
    let mut states = Vec::new();
    for _ in 0..4 * count {
        if states.len() == count {
            break;
        }
        let q: Vec<f64> =
            center.q.iter().map(|&q| q + 0.3 * q.abs().max(1.0) * random.signed()).collect();
        let rate: Vec<f64> = center.rate.iter().map(|_| random.signed()).collect();
        if let Some(q) = start::place(setting, t, &q)
            && let Ok(state) = State::of_velocities(setting, t, q, rate)
        {
            states.push(state);
        }
    }
    states
}
