//! Where claims about all states are tried, and ranks that are settled there.
//!
//! Constraints among positions confine the states to a surface. What is generic
//! there may differ from what is generic without them (the rods of a parallelogram
//! depend on each other just where it is closed), so ranks are taken at points of
//! the surface, in balls that hold the true point. Off it, at a random point of a
//! finite field, the rank can only be larger: where both agree it is settled, with
//! the probability of the field.

use crate::shown::Shown;
use dalembert_expr::{ExprId, Exprs, Jacobian, Random, RankAt, Symbol};
use dalembert_simulate::State;
use rustc_hash::FxHashMap;

/// How far from a point of the surface the computed one may be, relatively.
const RADIUS: f64 = 2e-14;
/// Points of the finite field.
const EXACT: u32 = 3;
const SEED: u64 = 0x1994_0826;

/// A point, each symbol in a ball.
#[derive(Clone, Debug, Default)]
pub struct Point {
    values: FxHashMap<Symbol, (f64, f64)>,
}

impl Point {
    /// A point of exact numbers.
    pub fn exact(symbols: &[Symbol], values: &[f64]) -> Point {
        let pairs = symbols.iter().copied().zip(values.iter().map(|&v| (v, 0.0)));
        Point { values: pairs.collect() }
    }

    /// The position and time of a state, known to rounding where `rounded`.
    pub fn of_state(q: &[Symbol], state: &State, rounded: bool) -> Point {
        let mut point = Point::exact(&[Symbol::TIME], &[state.t]);
        let pairs: Vec<(Symbol, f64)> = q.iter().copied().zip(state.q.iter().copied()).collect();
        point.set(&pairs, rounded);
        point
    }

    /// Sets quantities of one kind, known to rounding where `rounded`.
    pub fn set(&mut self, pairs: &[(Symbol, f64)], rounded: bool) {
        let largest = pairs.iter().fold(0f64, |m, p| m.max(p.1.abs()));
        for &(symbol, x) in pairs {
            let radius = if rounded { RADIUS * x.abs().max(0.1 * largest) } else { 0.0 };
            self.values.insert(symbol, (x, radius));
        }
    }

    /// A symbol's ball.
    pub fn get(&self, symbol: Symbol) -> (f64, f64) {
        self.values.get(&symbol).copied().unwrap_or((f64::NAN, 0.0))
    }

    /// A symbol's value.
    pub fn value(&self, symbol: Symbol) -> f64 {
        self.get(symbol).0
    }
}

/// The points at which generic claims are tried.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The points.
    pub points: Vec<Point>,
    /// Whether constraints confine them, so that other points are no witnesses.
    pub confined: bool,
}

/// A rank and how it was established.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Independent rows and the columns of their pivots.
    pub at: RankAt,
    /// At which of the points, if at one.
    pub place: Option<usize>,
    /// How it was established.
    pub shown: Shown,
}

impl Ranked {
    /// The rank.
    pub fn rank(&self) -> usize {
        self.at.rank()
    }
}

impl Places {
    /// Random points of unconfined symbols.
    pub fn anywhere(symbols: &[Symbol]) -> Places {
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        let mut next = || 0.25 + random.unit();
        let points = (0..6)
            .map(|_| {
                let values: Vec<f64> = symbols.iter().map(|_| next()).collect();
                Point::exact(symbols, &values)
            })
            .collect();
        Places { points, confined: false }
    }

    /// The generic rank of a matrix; `None` if it has no value at any point.
    pub fn rank(&self, exprs: &Exprs, matrix: &Jacobian) -> Option<Ranked> {
        let mut near: Option<(usize, RankAt)> = None;
        let mut tried = 0;
        for (place, point) in self.points.iter().enumerate() {
            let Some(at) = exprs.rank_near(matrix, |s| point.get(s)) else { continue };
            tried += 1;
            if near.as_ref().is_none_or(|best| at.rank() > best.1.rank()) {
                near = Some((place, at));
            }
        }
        let mut exact: Option<RankAt> = None;
        let mut fields = 0;
        for point in 0..EXACT {
            let Some(at) = exprs.rank_exact(matrix, SEED, point) else { continue };
            fields += 1;
            if exact.as_ref().is_none_or(|best| at.rank() > best.rank()) {
                exact = Some(at);
            }
        }
        let certain = || Shown::RandomPoints {
            points: fields as usize + tried,
            error: Some(exprs.rank_chance(matrix, fields)),
        };
        match (near, exact) {
            (Some((place, near)), Some(exact)) if near.rank() == exact.rank() => {
                Some(Ranked { at: near, place: Some(place), shown: certain() })
            }
            (near, Some(exact)) if !self.confined && exprs.is_rational(matrix) => {
                Some(Ranked { at: exact, place: near.map(|n| n.0), shown: certain() })
            }
            (Some((place, near)), _) => Some(Ranked {
                at: near,
                place: Some(place),
                shown: Shown::RandomPoints { points: tried, error: None },
            }),
            (None, Some(exact)) if !self.confined => Some(Ranked {
                at: exact,
                place: None,
                shown: Shown::RandomPoints { points: fields as usize, error: None },
            }),
            _ => None,
        }
    }

    /// The rank at one point.
    pub fn rank_at(exprs: &Exprs, matrix: &Jacobian, point: &Point) -> Option<usize> {
        exprs.rank_near(matrix, |s| point.get(s)).map(|at| at.rank())
    }
}

/// Both claims together: as certain as the less certain one.
pub fn both(a: &Shown, b: &Shown) -> Shown {
    match (a, b) {
        (Shown::Symbolic, other) | (other, Shown::Symbolic) => other.clone(),
        (
            Shown::RandomPoints { points: m, error: e },
            Shown::RandomPoints { points: n, error: f },
        ) => Shown::RandomPoints {
            points: (*m).min(*n),
            error: e.zip(*f).map(|(e, f)| (e + f).min(1.0)),
        },
        (Shown::RandomPoints { .. }, other) | (other, _) => other.clone(),
    }
}

/// How a claim was established, in words.
pub fn shown_words(shown: &Shown) -> String {
    match shown {
        Shown::Symbolic => "for every state".to_owned(),
        // A bound of one says nothing.
        Shown::RandomPoints { points, error: Some(1.0..) } => {
            format!("exact at {points} random points")
        }
        Shown::RandomPoints { points, error: Some(error) } => format!(
            "exact at {points} random points, wrong with probability below {:.0e}",
            error.max(1e-99)
        ),
        Shown::RandomPoints { points, error: None } => {
            format!("in floating point at {points} states")
        }
        Shown::AlongMotion { deviation, duration } => {
            format!("along a motion of {duration}, up to {deviation:.1e}")
        }
        Shown::AtState => "at the start only".to_owned(),
    }
}

/// A matrix of sparse rows from dense ones.
pub fn matrix_of(rows: &[Vec<ExprId>], columns: usize) -> Jacobian {
    let sparse = |row: &Vec<ExprId>| {
        row.iter().copied().enumerate().filter(|e| e.1 != ExprId::ZERO).collect()
    };
    Jacobian { rows: rows.iter().map(sparse).collect(), columns }
}
