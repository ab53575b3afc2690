//! States of a motion: at its samples, and between them.

use crate::key::{Key, Names, Place};
use dalembert_simulate::Observation;
use dalembert_simulate::State;
use std::fmt;
use std::ops::Index;

/// A sample as it is kept; what is not unique is NaN.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) seen: Observation,
    pub(crate) outputs: Vec<f64>,
}

/// A state of a motion with all that was observed there.
///
/// `sample["x"]`, `sample["x'"]` and `sample[&x]`, `x` being what a builder gave for the
/// coordinate, are numbers. Names are those of [`Key`].
#[derive(Clone, Copy)]
pub struct Sample<'t> {
    /// Time.
    pub t: f64,
    names: &'t Names,
    row: &'t Row,
}

impl<'t> Sample<'t> {
    pub(crate) fn new(names: &'t Names, row: &'t Row) -> Sample<'t> {
        Sample { t: row.seen.state.t, names, row }
    }

    pub(crate) fn value(&self, place: Place) -> &'t f64 {
        let seen = &self.row.seen;
        match place {
            Place::Time => &seen.state.t,
            Place::Energy => &seen.energy,
            Place::Position(i) | Place::State(i) => &seen.state.q[i],
            Place::Velocity(i) => &seen.state.velocity[i],
            Place::Acceleration(i) => &seen.accelerations[i],
            Place::Momentum(i) => &seen.state.momentum[i],
            Place::Multiplier(row) => &seen.multipliers[row],
            Place::Reaction(i) => &seen.constraint_force[i],
            Place::Output(k) => &self.row.outputs[k],
        }
    }

    /// A quantity; `None` if nothing has this name.
    pub fn get(&self, key: impl Key) -> Option<f64> {
        self.names.find(&key.name()).map(|place| *self.value(place))
    }

    /// The rate of a coordinate.
    ///
    /// # Panics
    /// If no coordinate has this name, as an index does.
    pub fn velocity(&self, coordinate: impl Key) -> f64 {
        self.row.seen.state.velocity[coordinate_of(self.names, &coordinate)]
    }

    /// The constraint force on a coordinate.
    ///
    /// # Panics
    /// If no coordinate has this name, as an index does.
    pub fn reaction(&self, coordinate: impl Key) -> f64 {
        self.row.seen.constraint_force[coordinate_of(self.names, &coordinate)]
    }

    /// The multiplier of a constraint of one row; NaN where it is not unique.
    ///
    /// # Panics
    /// If no constraint has this name, or if it has several rows, as an index does.
    pub fn multiplier(&self, constraint: impl Key) -> f64 {
        match self.multipliers(&constraint) {
            [value] => *value,
            several => {
                let (name, count) = (constraint.name(), several.len());
                panic!("`{name}` has {count} rows: `multipliers` gives those of all")
            }
        }
    }

    /// The multipliers of all rows of a constraint; NaN where they are not unique.
    ///
    /// # Panics
    /// If no constraint has this name, as an index does.
    pub fn multipliers(&self, constraint: impl Key) -> &'t [f64] {
        let name = constraint.name();
        match self.names.rows(&name) {
            // Without constraints in play, as in canonical variables, there are none.
            Some(rows) => self.row.seen.multipliers.get(rows).unwrap_or(&[]),
            None => panic!("no constraint is called `{name}`"),
        }
    }

    /// The energy H = q̇·p − L.
    pub fn energy(&self) -> f64 {
        self.row.seen.energy
    }

    /// All that was observed, by the places of the system.
    pub fn observation(&self) -> &'t Observation {
        &self.row.seen
    }
}

impl fmt::Debug for Sample<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sample").field(&self.row.seen.state).finish()
    }
}

/// The place of a coordinate.
fn coordinate_of(names: &Names, key: &impl Key) -> usize {
    let name = key.name();
    match names.coordinate(&name) {
        Some(at) => at,
        None => panic!("no coordinate is called `{name}`"),
    }
}

impl<K: Key> Index<K> for Sample<'_> {
    type Output = f64;

    /// # Panics
    /// If nothing has this name; [`get`](Sample::get) does not.
    fn index(&self, key: K) -> &f64 {
        let name = key.name();
        match self.names.find(&name) {
            Some(place) => self.value(place),
            None => panic!("nothing is called `{name}` here; there are {:?}", self.names.all()),
        }
    }
}

/// A state between samples: positions, velocities, momenta.
#[derive(Clone)]
pub struct Moment<'t> {
    pub(crate) names: &'t Names,
    pub(crate) state: State,
}

impl Moment<'_> {
    fn value(&self, name: &str) -> Option<&f64> {
        match self.names.find(name)? {
            Place::Time => Some(&self.state.t),
            Place::Position(i) | Place::State(i) => self.state.q.get(i),
            Place::Velocity(i) => self.state.velocity.get(i),
            Place::Momentum(i) => self.state.momentum.get(i),
            _ => None,
        }
    }

    /// A coordinate, velocity or momentum; `None` if none has this name.
    pub fn get(&self, key: impl Key) -> Option<f64> {
        self.value(&key.name()).copied()
    }

    /// The rate of a coordinate.
    ///
    /// # Panics
    /// If no coordinate has this name, as an index does.
    pub fn velocity(&self, coordinate: impl Key) -> f64 {
        self.state.velocity[coordinate_of(self.names, &coordinate)]
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl fmt::Debug for Moment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Moment").field(&self.state).finish()
    }
}

impl<K: Key> Index<K> for Moment<'_> {
    type Output = f64;

    /// # Panics
    /// If no coordinate, velocity or momentum has this name; [`get`](Moment::get) does not.
    fn index(&self, key: K) -> &f64 {
        let name = key.name();
        match self.value(&name) {
            Some(value) => value,
            None => panic!("no coordinate, velocity or momentum is called `{name}`"),
        }
    }
}
