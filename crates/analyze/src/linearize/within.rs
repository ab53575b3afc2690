//! All equilibria in a box that a search from many guesses finds.
//!
//! Guesses fill the box evenly (Halton's sequence); from each the state of rest nearest to it is
//! looked for, and what is met again is one. A search proves nothing: that no other equilibrium
//! is there is likely where further guesses lead to none, and how many were tried is told. Where
//! equilibria form a curve or a surface each guess ends somewhere on it; there are as many then as
//! are asked for.

use super::operating::Operating;
use super::rates::Rates;
use super::search::Search;
use super::steady;
use super::symmetry::{self, Symmetry};
use super::{Linearization, LinearizeError, begin, linearize_watched, sample};
use crate::watch::Watch;
use dalembert_expr::{ExprId, Number, Symbol};
use dalembert_model::system::Model;
use dalembert_simulate::{Setting, State};

/// What was found in a box.
#[derive(Clone, Debug)]
pub struct Within {
    /// The equilibria, in the order of their positions.
    pub found: Vec<Linearization>,
    /// Those with no linear equations, and why.
    pub failed: Vec<(State, LinearizeError)>,
    /// How many guesses were tried.
    pub guesses: usize,
    /// How many guesses the last one that showed something new was of.
    pub last_new: usize,
    /// Whether there are more than are listed.
    pub more: bool,
}

/// An interval for a coordinate or a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// The place in the configuration: coordinates, then states.
    pub place: usize,
    /// Its ends.
    pub ends: [f64; 2],
}

/// Equilibria listed at most.
const MOST: usize = 64;
/// Two states are one up to this part of the box.
const SAME: f64 = 1e-6;
/// A coordinate is 0 below this part of the box.
const ROUNDED: f64 = 1e-12;

/// The equilibria whose coordinates are within the sides of a box; what has no side begins at the
/// start.
pub fn equilibria_within(
    setting: &Setting,
    sides: &[Side],
    guesses: usize,
    watch: &Watch,
) -> Result<Within, LinearizeError> {
    let Operating { closed, open, .. } = &Operating::new(setting);
    watch.on("deriving the equations and their slopes")?;
    let rates = Rates::new(open)?;
    watch.on("looking for a consistent start")?;
    let start = begin(closed)?;
    let points = sample(closed, &rates, &start, watch)?;
    let own = rates.at(&start.state);
    let Some(near) = own.as_ref().ok().or(points.first()) else {
        return Err(own.err().unwrap_or(LinearizeError::NoEigenvalues));
    };
    let with = Symmetry::rest(rates.n);
    let none = symmetry::Symmetries { with_time: None, others: Vec::new(), points: 0 };
    let search = Search::new(&rates, &none, &with, near);
    let multipliers = vec![0.0; rates.m];
    let mut states: Vec<State> = Vec::new();
    let (mut last_new, mut more) = (0, false);
    for k in 0..guesses {
        watch.on("looking for equilibria")?;
        let mut guess = start.state.clone();
        guess.velocity.fill(0.0);
        if steady::by_momenta(setting) {
            guess.momentum.fill(0.0);
        }
        for (at, side) in sides.iter().enumerate() {
            let [low, high] = side.ends;
            guess.q[side.place] = low + (high - low) * halton(k + 1, at);
        }
        let Ok(mut state) = search.find(&guess, &multipliers, &[], &[], true) else { continue };
        let width = |side: &Side| (side.ends[1] - side.ends[0]).abs();
        let inside = sides.iter().all(|side| {
            let x = state.q[side.place];
            let edge = SAME * width(side);
            side.ends[0] - edge <= x && x <= side.ends[1] + edge
        });
        let size = |place: usize| {
            let own = sides.iter().find(|s| s.place == place).map(width);
            own.unwrap_or_else(|| start.state.q[place].abs()).max(1.0)
        };
        // Rounding of a search is no force, which next to 0 it would be taken for.
        for (i, x) in state.q.iter_mut().enumerate() {
            *x = if x.abs() <= ROUNDED * size(i) { 0.0 } else { *x };
        }
        let is_known = states.iter().any(|known| {
            let mut pairs = known.q.iter().zip(&state.q).enumerate();
            pairs.all(|(i, (a, b))| (a - b).abs() <= SAME * size(i))
        });
        if inside && !is_known {
            last_new = k + 1;
            more = states.len() >= MOST;
            if more {
                break;
            }
            states.push(state);
        }
    }
    states.sort_by(|a, b| {
        let order = sides.iter().map(|s| a.q[s.place].total_cmp(&b.q[s.place]));
        order.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let mut within = Within { found: Vec::new(), failed: Vec::new(), guesses, last_new, more };
    for state in states {
        watch.on("computing the modes")?;
        match at(setting, &state).map(|there| linearize_watched(&there, watch)) {
            Some(Ok(found)) => within.found.push(found),
            Some(Err(LinearizeError::Interrupted)) => return Err(LinearizeError::Interrupted),
            Some(Err(error)) => within.failed.push((state, error)),
            None => within.failed.push((state, LinearizeError::NoEigenvalues)),
        }
    }
    Ok(within)
}

/// The setting with a state of rest asked for.
fn at(setting: &Setting, state: &State) -> Option<Setting> {
    let Model { exprs, mut system, sources } = setting.model.share();
    let number = |x: f64| Number::from_f64(x).map(|x| exprs.of_number(x));
    let mut items: Vec<(ExprId, ExprId)> = vec![(exprs.of_symbol(Symbol::TIME), number(state.t)?)];
    for (symbol, &x) in system.configuration().into_iter().zip(&state.q) {
        items.push((exprs.of_symbol(symbol), number(x)?));
    }
    system.state = items;
    let there = Setting::new(&Model { exprs, system, sources }).ok()?;
    let mut there = there;
    let (symbols, values) = setting.constants();
    there.set_values(&symbols, &values);
    Some(there)
}

/// The k-th point of Halton's sequence in a dimension.
fn halton(mut k: usize, dimension: usize) -> f64 {
    const PRIMES: [usize; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];
    let base = PRIMES[dimension % PRIMES.len()];
    let (mut sum, mut part) = (0.0, 1.0);
    while k > 0 {
        part /= base as f64;
        sum += part * (k % base) as f64;
        k /= base;
    }
    sum
}
