//! The kinds of joints, one entry each: what moves, and what is held.
//!
//! Seen from the first attachment the second is at d, turned by D. The axes T1, T2, N of a joint
//! are right-handed and fixed in the first attachment where nothing moves: `axis n` gives N, and
//! T1 comes from the coordinate axis farthest from it; `axis [n1, n2]` gives T1 and T2.
//!
//! | kind | d; D | held |
//! |---|---|---|
//! | fixed | 0; 1 | d = 0, axial(D) = 0 |
//! | pin | 0; turn about N | d = 0, T1·DN = 0, T2·DN = 0 |
//! | slider | N slide; 1 | T1·d = T2·d = 0, axial(D) = 0 |
//! | cylinder | N slide; turn about N | T1·d = T2·d = 0, T1·DN = T2·DN = 0 |
//! | screw | N h angle/2π; turn about N | as cylinder, and N·d = h angle/2π |
//! | universal | 0; turns about T1, then T2 | d = 0, T1·DT2 = 0 |
//! | ball | 0; Rq(e) | d = 0 |
//! | planar | T1 slide₁ + T2 slide₂; turn about N | N·d = 0, T1·DN = T2·DN = 0 |
//!
//! In the plane N of a pin stands on it, T2 of a slider too, and what is held along or about what
//! is not in the plane is left out.

/// An axis of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::resolve) enum Axis {
    N,
    T1,
    T2,
}

/// What a coordinate of a joint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::resolve) enum Move {
    /// d gains the axis times `slide`.
    Slide(Axis),
    /// D gains a turn about the axis by `angle`.
    Turn(Axis),
    /// Both at once: d gains N h angle/2π.
    Screw,
    /// D is Rq(e).
    Ball,
}

impl Move {
    /// The name of its coordinate.
    pub fn name(self) -> &'static str {
        match self {
            Move::Slide(_) => "slide",
            Move::Turn(_) | Move::Screw => "angle",
            Move::Ball => "e",
        }
    }

    /// The axis it turns about.
    pub fn turns_about(self) -> Option<Axis> {
        match self {
            Move::Turn(axis) => Some(axis),
            Move::Screw => Some(Axis::N),
            Move::Slide(_) | Move::Ball => None,
        }
    }
}

/// What a joint holds: the rows where it closes, the forbidden displacements where it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::resolve) enum Held {
    /// d = 0, in inertial axes.
    Point,
    /// axis·d = 0.
    Along(Axis),
    /// N·d = h angle/2π.
    Screw,
    /// axial(D) = 0; in the plane sin of the angle between.
    Attitude,
    /// a·D b = 0.
    Normal(Axis, Axis),
}

impl Held {
    /// How many rows it has.
    pub fn size(self, dimension: usize) -> usize {
        match self {
            Held::Point => dimension,
            Held::Attitude => 2 * dimension - 3,
            Held::Along(_) | Held::Screw | Held::Normal(..) => 1,
        }
    }
}

/// A kind of joint.
#[derive(Debug)]
pub(in crate::resolve) struct JointKind {
    /// Its word.
    pub word: &'static str,
    /// How many vectors its `axis` has, in space.
    pub axes: usize,
    /// The same in the plane; `None` if it does not exist there.
    pub plane_axes: Option<usize>,
    /// Whether it has a `pitch`.
    pub pitch: bool,
    pub moves: &'static [Move],
    held: &'static [Held],
}

use Axis::{N, T1, T2};
use Held::{Along, Attitude, Normal, Point};

/// All kinds with coordinates; `rolling` never carries, and is in the room of what touches.
pub(in crate::resolve) const KINDS: &[JointKind] = &[
    JointKind {
        word: "fixed",
        axes: 0,
        plane_axes: Some(0),
        pitch: false,
        moves: &[],
        held: &[Point, Attitude],
    },
    JointKind {
        word: "pin",
        axes: 1,
        plane_axes: Some(0),
        pitch: false,
        moves: &[Move::Turn(N)],
        held: &[Point, Normal(T1, N), Normal(T2, N)],
    },
    JointKind {
        word: "slider",
        axes: 1,
        plane_axes: Some(1),
        pitch: false,
        moves: &[Move::Slide(N)],
        held: &[Along(T1), Along(T2), Attitude],
    },
    JointKind {
        word: "cylinder",
        axes: 1,
        plane_axes: None,
        pitch: false,
        moves: &[Move::Slide(N), Move::Turn(N)],
        held: &[Along(T1), Along(T2), Normal(T1, N), Normal(T2, N)],
    },
    JointKind {
        word: "screw",
        axes: 1,
        plane_axes: None,
        pitch: true,
        moves: &[Move::Screw],
        held: &[Along(T1), Along(T2), Held::Screw, Normal(T1, N), Normal(T2, N)],
    },
    JointKind {
        word: "universal",
        axes: 2,
        plane_axes: None,
        pitch: false,
        moves: &[Move::Turn(T1), Move::Turn(T2)],
        held: &[Point, Normal(T1, T2)],
    },
    JointKind {
        word: "ball",
        axes: 0,
        plane_axes: None,
        pitch: false,
        moves: &[Move::Ball],
        held: &[Point],
    },
    JointKind {
        word: "planar",
        axes: 2,
        plane_axes: None,
        pitch: false,
        moves: &[Move::Slide(T1), Move::Slide(T2), Move::Turn(N)],
        held: &[Along(N), Normal(T1, N), Normal(T2, N)],
    },
];

impl JointKind {
    /// The kind of a word.
    pub fn named(word: &str) -> Option<&'static JointKind> {
        KINDS.iter().find(|kind| kind.word == word)
    }

    /// What it holds, in the order of its rows.
    pub fn held(&self, dimension: usize) -> impl Iterator<Item = Held> {
        let outside = move |held: &Held| matches!(held, Along(T2) | Normal(..));
        self.held.iter().copied().filter(move |held| dimension == 3 || !outside(held))
    }

    /// The index of a coordinate among those of its name, if there are several.
    pub fn index(&self, at: usize) -> Option<i64> {
        let name = self.moves[at].name();
        let same = |moves: &[Move]| moves.iter().filter(|m| m.name() == name).count();
        (same(self.moves) > 1).then(|| same(&self.moves[..at]) as i64 + 1)
    }
}
