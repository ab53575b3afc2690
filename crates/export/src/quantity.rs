//! What kind of quantity a number of a run is: what its axis is called, what may share that axis,
//! and which pairs are drawn to one scale.
//!
//! The language has no units. Kinds are read off what a column is (a coordinate, its rate, a
//! multiplier) and off which coordinates are angles ([`Kinds`]); what is only an expression is a
//! length where the model draws a point there or its name says so, else simply a quantity.

use crate::scene::Kinds;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::{Model, OfTouch, System, Touched, Unknown};
use rustc_hash::FxHashSet;

/// The kinds of quantities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// t
    Time,
    /// A coordinate of a place.
    Length,
    /// An angle, in radians.
    Angle,
    /// A coordinate of which no more is known.
    Coordinate,
    /// The rate of a length.
    Velocity,
    /// The rate of an angle.
    AngularVelocity,
    /// The rate of a coordinate of which no more is known.
    Rate,
    /// The second rate of any.
    Acceleration,
    /// p
    Momentum,
    /// A constraint force on a coordinate.
    Force,
    /// λ
    Multiplier,
    /// An energy, or work.
    Energy,
    /// The rate of an energy.
    Power,
    /// An estimate of an error.
    Error,
    /// By how much a constraint is missed.
    Residual,
    /// How a friction is, or a contact that has one: 0 open, 1 slips, 2 sticks.
    Mode,
    /// How a contact without friction is: 0 open, 1 closed.
    Closed,
    /// Anything else.
    #[default]
    Other,
}

impl Quantity {
    /// What an axis is called, with the name of a single quantity in it.
    pub fn label(self, name: &str) -> String {
        let (noun, unit) = match self {
            Quantity::Time => ("time", ""),
            Quantity::Length => ("position", ""),
            Quantity::Angle => ("angle", "(rad)"),
            Quantity::Coordinate => ("coordinate", ""),
            Quantity::Velocity => ("velocity", ""),
            Quantity::AngularVelocity => ("angular velocity", "(rad per time)"),
            Quantity::Rate => ("rate", ""),
            Quantity::Acceleration => ("acceleration", ""),
            Quantity::Momentum => ("momentum", ""),
            Quantity::Force => ("constraint force", ""),
            Quantity::Multiplier => ("multiplier", ""),
            Quantity::Energy => ("energy", ""),
            Quantity::Power => ("power", ""),
            Quantity::Error => ("estimated error", ""),
            Quantity::Residual => ("residual", ""),
            Quantity::Mode | Quantity::Closed | Quantity::Other => ("", ""),
        };
        // `energy energy` and `constraint force reaction(x)` say it twice, and so do members.
        let is_said = name.starts_with(noun) || name.contains('(') || name.ends_with(".force");
        let noun = if is_said { "" } else { noun };
        let words: Vec<&str> = [noun, name, unit].into_iter().filter(|w| !w.is_empty()).collect();
        words.join(" ")
    }

    /// Whether it says in which mode something is, and not how much there is of it.
    pub fn is_mode(self) -> bool {
        matches!(self, Quantity::Mode | Quantity::Closed)
    }

    /// A mode in words.
    pub fn mode_word(self, value: f64) -> &'static str {
        match (self, value) {
            (_, 0.0) => "open",
            (Quantity::Closed, _) => "closed",
            (_, 1.0) => "slips",
            _ => "sticks",
        }
    }

    /// The kind of its rate.
    pub fn rate(self) -> Quantity {
        match self {
            Quantity::Length => Quantity::Velocity,
            Quantity::Angle => Quantity::AngularVelocity,
            Quantity::Energy => Quantity::Power,
            Quantity::Velocity | Quantity::AngularVelocity | Quantity::Rate => {
                Quantity::Acceleration
            }
            _ => Quantity::Rate,
        }
    }
}

/// The kind of what a contact or friction is in.
pub fn of_mode(system: &System, of: Touched) -> Quantity {
    match of {
        Touched::Contact(at) if system.contacts[at].friction.is_none() => Quantity::Closed,
        _ => Quantity::Mode,
    }
}

/// Contacts, and frictions that belong to none, with their names.
pub fn touched(system: &System) -> Vec<(Touched, &str)> {
    let contacts = system.contacts.iter().enumerate();
    let contacts = contacts.map(|(at, c)| (Touched::Contact(at), c.name.as_str()));
    let own = system.frictions.iter().enumerate().filter(|(_, f)| f.contact.is_none());
    contacts.chain(own.map(|(at, f)| (Touched::Friction(at), f.name.as_str()))).collect()
}

/// What tells the kinds of a model's quantities.
pub struct Quantities<'a> {
    model: &'a Model,
    kinds: Kinds,
    /// Components of points that are drawn.
    places: FxHashSet<ExprId>,
}

impl<'a> Quantities<'a> {
    /// Looks at a model.
    pub fn new(model: &'a Model) -> Quantities<'a> {
        // What is drawn, and what would be: looking for rods is not needed here.
        let system = &model.system;
        let drawn = system.draws.iter().flat_map(|d| d.points.iter().flatten().chain(&d.radius));
        let moved = system.places.iter().filter(|p| p.position.len() > 1);
        let mut places: FxHashSet<ExprId> =
            drawn.chain(moved.flat_map(|p| &p.position)).copied().collect();
        places.remove(&ExprId::ZERO);
        Quantities { model, kinds: Kinds::new(model), places }
    }

    /// Of a coordinate.
    pub fn of_coordinate(&self, position: Symbol) -> Quantity {
        match (self.kinds.is_length(position), self.kinds.is_angle(position)) {
            (true, _) => Quantity::Length,
            (_, true) => Quantity::Angle,
            _ => Quantity::Coordinate,
        }
    }

    /// Of an expression with a name, as `observe` has them.
    pub fn of_expression(&self, name: &str, value: ExprId) -> Quantity {
        let system = &self.model.system;
        // What holds a servo constraint is an input, whatever it is found from.
        if system.servos.iter().flat_map(|servo| &servo.inputs).any(|u| u.name == name) {
            return Quantity::Other;
        }
        if let Some(symbol) = self.model.exprs.as_symbol(value) {
            if let Some(&(_, unknown)) = system.unknowns.iter().find(|u| u.0 == symbol) {
                return match unknown {
                    Unknown::Multiplier(_) => Quantity::Multiplier,
                    Unknown::Touch(OfTouch::ContactMode(at)) => {
                        of_mode(system, Touched::Contact(at))
                    }
                    Unknown::Touch(OfTouch::FrictionMode(at)) => {
                        of_mode(system, Touched::Friction(at))
                    }
                    _ => Quantity::Force,
                };
            }
            for c in &system.coordinates {
                let own = self.of_coordinate(c.position);
                match symbol {
                    s if s == c.position => return own,
                    s if s == c.velocity => return own.rate(),
                    s if s == c.acceleration => return own.rate().rate(),
                    s if s == c.momentum => return Quantity::Momentum,
                    _ => {}
                }
            }
        }
        if self.places.contains(&value) || self.kinds.is_named_length(name) {
            return Quantity::Length;
        }
        match name {
            "energy" | "kinetic" | "potential" => Quantity::Energy,
            _ if name.starts_with("residual(") => Quantity::Residual,
            _ => Quantity::Other,
        }
    }
}
