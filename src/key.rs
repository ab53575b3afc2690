//! Names of what a motion has numbers for, and where the numbers are.

use dalembert_model::build::{ConstraintHandle, Handle, Term};
use dalembert_model::system::Model;
use std::borrow::Cow;
use std::collections::HashMap;

/// What a quantity can be asked for by: its name, or what a builder gave for it.
///
/// A name is what the language writes: `x`, `th[2]`, `x'`, `x''`, `p_x`, `multiplier(rod)`,
/// `reaction(x)`, `energy`, `t`, and the outputs that the model names itself.
pub trait Key {
    /// The name.
    fn name(&self) -> Cow<'_, str>;
}

impl Key for str {
    fn name(&self) -> Cow<'_, str> {
        self.into()
    }
}

impl Key for String {
    fn name(&self) -> Cow<'_, str> {
        self.into()
    }
}

impl Key for Handle {
    fn name(&self) -> Cow<'_, str> {
        Handle::name(self).into()
    }
}

impl Key for Term<'_> {
    fn name(&self) -> Cow<'_, str> {
        self.text().into()
    }
}

impl Key for ConstraintHandle<'_> {
    fn name(&self) -> Cow<'_, str> {
        self.text().into()
    }
}

impl<K: Key + ?Sized> Key for &K {
    fn name(&self) -> Cow<'_, str> {
        (**self).name()
    }
}

/// Where a number is in an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Time,
    Energy,
    Position(usize),
    /// A state, by its place behind the positions.
    State(usize),
    Velocity(usize),
    Acceleration(usize),
    Momentum(usize),
    Multiplier(usize),
    Reaction(usize),
    Output(usize),
}

/// The places of all names of a model.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    places: HashMap<String, Place>,
    /// Rows of each constraint's label.
    rows: HashMap<String, std::ops::Range<usize>>,
}

impl Names {
    pub(crate) fn new(model: &Model) -> Names {
        let system = &model.system;
        let mut places = HashMap::new();
        let mut rows: HashMap<String, std::ops::Range<usize>> = HashMap::new();
        for (row, constraint) in system.constraints.iter().enumerate() {
            let own = rows.entry(constraint.label.clone()).or_insert(row..row);
            own.end = row + 1;
            places.insert(format!("multiplier({})", constraint.name), Place::Multiplier(row));
        }
        for (label, own) in rows.iter().filter(|(_, own)| own.len() == 1) {
            places.insert(format!("multiplier({label})"), Place::Multiplier(own.start));
        }
        for (i, coordinate) in system.coordinates.iter().enumerate() {
            let name = |symbol| model.exprs.symbol_info(symbol).full_name();
            places.insert(name(coordinate.momentum), Place::Momentum(i));
            places.insert(name(coordinate.acceleration), Place::Acceleration(i));
            places.insert(name(coordinate.velocity), Place::Velocity(i));
            places.insert(coordinate.name.clone(), Place::Position(i));
            places.insert(format!("reaction({})", coordinate.name), Place::Reaction(i));
        }
        for (i, state) in system.states.iter().enumerate() {
            places.insert(state.name.clone(), Place::State(system.n_coordinates() + i));
        }
        places.insert("t".to_owned(), Place::Time);
        places.insert("energy".to_owned(), Place::Energy);
        for (k, output) in system.observes.iter().enumerate() {
            places.insert(output.name.clone(), Place::Output(k));
        }
        Names { places, rows }
    }

    pub(crate) fn find(&self, name: &str) -> Option<Place> {
        self.places.get(name).copied()
    }

    /// The place of a coordinate.
    pub(crate) fn coordinate(&self, name: &str) -> Option<usize> {
        match self.find(name)? {
            Place::Position(i) => Some(i),
            _ => None,
        }
    }

    /// The rows of a constraint: of its label, or the one of this name.
    pub(crate) fn rows(&self, name: &str) -> Option<std::ops::Range<usize>> {
        if let Some(rows) = self.rows.get(name) {
            return Some(rows.clone());
        }
        match self.find(&format!("multiplier({name})"))? {
            Place::Multiplier(row) => Some(row..row + 1),
            _ => None,
        }
    }

    /// All names, in alphabetical order.
    pub(crate) fn all(&self) -> Vec<String> {
        let mut list: Vec<String> = self.places.keys().cloned().collect();
        list.sort_unstable();
        list
    }
}
