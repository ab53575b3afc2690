//! What a system may stick to and touch: dry friction and contacts, as inequalities and laws that
//! hold on top of the equations of motion.
//!
//! ```text
//! friction   slip   v ≠ 0   C gains −wᵀF v/|v|
//!            stick  v = 0   rows v' = 0, force wᵀf with |f| ≤ F (F_s to break away)
//! contact    open           nothing
//!            closed         row gap = 0 with multiplier N ≥ 0, and friction of bound μN
//! ```
//!
//! with w = ∂v/∂q'. At each instant a model is one of part 1; which one is its [`Phase`], and
//! [`System::in_phase`](super::System::in_phase) makes it. Nothing here decides the phase.

use super::Constraint;
use crate::span::Span;
use dalembert_expr::{ExprId, Symbol};
use std::ops::Range;

/// Dry friction along a slip velocity.
#[derive(Clone, Debug)]
pub struct Friction {
    /// Its full name; that of a contact's own friction is `c.slip`.
    pub name: String,
    /// v, in components along directions at right angles: one, or more of a vector. In the variables
    /// of the system.
    pub slip: Vec<ExprId>,
    /// w = ∂v/∂q' by components of v: (coordinate, entry), entries not 0.
    pub directions: Vec<Vec<(usize, ExprId)>>,
    /// The rows v = 0 that hold it where it sticks, one for each component.
    pub rows: Vec<Constraint>,
    /// F ≥ 0. It may hold multipliers; that of its own contact for one.
    pub bound: ExprId,
    /// F_s, up to which it holds where it sticks; F if there is none.
    pub static_bound: Option<ExprId>,
    /// The contact that it belongs to: it acts where that is closed.
    pub contact: Option<usize>,
    /// Where its rows are among the constraints; in a phase in which it sticks.
    pub held: Option<Range<usize>>,
    /// The direction that it slips to, d in −wᵀF d; in a phase of [`Mode::Toward`].
    pub toward: Vec<Symbol>,
    /// The statement.
    pub span: Span,
}

/// An inequality gap ≥ 0, N δgap ≥ 0.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Its full name.
    pub name: String,
    /// The row gap = 0 that holds it where it is closed, at position level.
    pub row: Constraint,
    /// N, an unknown of the solution.
    pub normal: Symbol,
    /// Not negative where the contact is there at all: of `while`. A function of the state.
    pub condition: Option<ExprId>,
    /// e; 0 if it was not given.
    pub restitution: ExprId,
    /// Its friction, if it has any.
    pub friction: Option<usize>,
    /// Where it touches and what with, if sides with shapes say so.
    pub touch: Option<Touch>,
    /// Where its row is among the constraints; in a phase in which it is closed.
    pub held: Option<usize>,
    /// The statement.
    pub span: Span,
}

impl Contact {
    /// gap(q, t).
    pub fn gap(&self) -> ExprId {
        self.row.residual
    }
}

/// Two shapes that touch, or roll on each other.
#[derive(Clone, Debug)]
pub struct Touch {
    /// The contact or rolling joint.
    pub name: String,
    /// The point of the second side nearest to the first, in inertial axes.
    pub point: Vec<ExprId>,
    /// The unit normal, from the first side to the second.
    pub normal: Vec<ExprId>,
    /// The shapes of both sides.
    pub shapes: [Shape; 2],
}

/// The shape of a side, in inertial axes.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A point.
    Point(Vec<ExprId>),
    /// A ball, in the plane a disk: center and radius, which is negative for a hollow.
    Ball(Vec<ExprId>, ExprId),
    /// The rim of a disk: center, radius, unit axis.
    Rim(Vec<ExprId>, ExprId, Vec<ExprId>),
    /// A plane, in the plane a line: a point of it and the unit normal, away from the material.
    Plane(Vec<ExprId>, Vec<ExprId>),
    /// A curve of the plane: P(s) and the coordinate s.
    Curve(Vec<ExprId>, Symbol),
}

impl Shape {
    /// Visits every expression.
    fn each(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        match self {
            Shape::Point(p) | Shape::Curve(p, _) => p.iter_mut().for_each(visit),
            Shape::Ball(p, r) => {
                p.iter_mut().for_each(&mut *visit);
                visit(r);
            }
            Shape::Rim(p, r, n) => {
                p.iter_mut().chain(n).for_each(&mut *visit);
                visit(r);
            }
            Shape::Plane(p, n) => p.iter_mut().chain(n).for_each(visit),
        }
    }
}

impl Touch {
    /// Visits every expression.
    pub(crate) fn each(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        self.point.iter_mut().chain(&mut self.normal).for_each(&mut *visit);
        self.shapes.iter_mut().for_each(|shape| shape.each(visit));
    }
}

impl Friction {
    /// Visits every expression.
    pub(super) fn each(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        self.slip.iter_mut().for_each(&mut *visit);
        self.directions.iter_mut().flatten().for_each(|entry| visit(&mut entry.1));
        self.rows.iter_mut().for_each(|row| visit(&mut row.residual));
        visit(&mut self.bound);
        self.static_bound.iter_mut().for_each(visit);
    }
}

impl Contact {
    /// Visits every expression.
    pub(super) fn each(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        visit(&mut self.row.residual);
        self.condition.iter_mut().for_each(&mut *visit);
        visit(&mut self.restitution);
        self.touch.iter_mut().for_each(|touch| touch.each(visit));
    }
}

/// An unknown of contacts and frictions that an expression may refer to. A phase makes of it an
/// unknown of part 1, or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfTouch {
    /// N of a contact.
    Normal(usize),
    /// A component of the force of a friction, f in wᵀf.
    Force(usize, usize),
    /// 0 open, 1 slipping (or without friction), 2 sticking, of a contact.
    ContactMode(usize),
    /// 1 slipping, 2 sticking, of a friction.
    FrictionMode(usize),
    /// The normal impulse of a contact, in what its events reset.
    Impulse(usize),
}

/// How a friction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// v = 0, held by rows.
    Stick,
    /// v ≠ 0; the force is against v as it is.
    Slip,
    /// v > 0, of one component; the force is that of v > 0 also where v is 0.
    Forward,
    /// v < 0, of one component.
    Backward,
    /// v = 0, held by the rows of others, with the force that slip with v > 0 would meet: of a contact
    /// whose load is at this edge of its cone, among more that touch than it takes.
    HeldForward,
    /// The same for v < 0.
    HeldBackward,
    /// The force is against a direction that is given, in parameters `NAME.toward[1]`, …: for the
    /// beginning of slip, where v is 0 still.
    Toward,
}

impl Mode {
    /// Whether v = 0 is held.
    pub fn sticks(self) -> bool {
        matches!(self, Mode::Stick | Mode::HeldForward | Mode::HeldBackward)
    }

    /// Whether the load of its contact is held along an edge of its cone.
    pub fn is_at_edge(self) -> bool {
        matches!(self, Mode::HeldForward | Mode::HeldBackward)
    }
}

/// Which contacts are closed, and how each friction is. That of an open contact counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Phase {
    /// By contacts.
    pub closed: Vec<bool>,
    /// By frictions.
    pub modes: Vec<Mode>,
}

/// What changes a contact or friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The contact begins to hold.
    Closes,
    /// The contact ends.
    Opens,
    /// The slip ends.
    Sticks,
    /// The slip begins.
    Slips,
}

/// What an event by a change of touch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touched {
    /// A contact, by its place.
    Contact(usize),
    /// A friction, by its place.
    Friction(usize),
}

/// Who takes part in an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Impacts {
    /// All contacts that touch, in one problem: Moreau's law.
    AtOnce,
    /// Those that approach, again until none does.
    InTurn,
}
