//! When an iteration has come as far as rounding lets it.

/// Most rounds.
const MOST: usize = 200;
/// Below this a change may be rounding.
const SMALL: f64 = 1e-11;
/// Components far below the largest may consist of what is left of larger ones.
const FLOOR: f64 = 1e-3;

/// The changes of one round, each with the size of the number and of its parts, in units
/// of what its component may be off by.
#[derive(Default)]
pub(super) struct Changes {
    weighted: Vec<(f64, f64)>,
    /// Those of components without a unit, which count where no other does.
    bare: Vec<(f64, f64)>,
}

impl Changes {
    pub(super) fn see(&mut self, change: f64, value: f64, part: f64, weight: f64) {
        let (change, size) = (change.abs(), value.abs().max(part.abs()));
        match weight > 0.0 {
            true => self.weighted.push((weight * change, weight * size)),
            false => self.bare.push((change, size)),
        }
    }

    /// The largest, relative to its size.
    pub(super) fn largest(&self) -> f64 {
        let list = if self.weighted.is_empty() { &self.bare } else { &self.weighted };
        let largest = list.iter().fold(0f64, |m, c| m.max(c.1));
        list.iter().fold(0f64, |m, (change, size)| {
            if change.is_nan() {
                return f64::INFINITY;
            }
            let size = size.max(FLOOR * largest);
            if *change == 0.0 { m } else { m.max(change / size) }
        })
    }
}

/// Follows the changes of an iteration.
#[derive(Default)]
pub(super) struct Settling {
    before: Option<f64>,
    settled: u32,
    /// Rounds so far.
    pub(super) rounds: usize,
}

impl Settling {
    /// Takes the relative change of a round. True once nothing is gained any more:
    /// twice, since a change may happen to be small.
    pub(super) fn see(&mut self, change: f64) -> bool {
        self.rounds += 1;
        if change < SMALL && self.before.is_some_and(|before| change >= before) {
            self.settled += 1;
        }
        self.before = Some(change);
        change == 0.0 || self.settled >= 2
    }

    /// Whether there is no hope.
    pub(super) fn is_lost(&self) -> bool {
        self.rounds >= MOST || self.before.is_some_and(|change| !(change < 1e6))
    }
}
