//! Bodies, frames and joints as they hang together.

use crate::span::Span;
use dalembert_expr::ExprId;

/// The bodies, frames and joints of a machine, as written: what recursions along it go by. Bodies
/// come parents first, so that one pass outward has the pose of a parent before that of its child,
/// and one pass inward the child before its parent. A model without joints, and without bodies
/// that are free or fixed in others, has an empty tree.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Bodies, frames and particles that take part, parents first.
    pub links: Vec<Link>,
    /// All joints, in the order of the text.
    pub joints: Vec<Joint>,
    /// Terms of T and L that are not the kinetic energy of a link.
    pub others: Vec<ExprId>,
    /// Terms of V that are not the weight of a link.
    pub potentials: Vec<ExprId>,
}

impl Tree {
    /// The most links on a path from the ground.
    pub fn depth(&self) -> usize {
        let mut depths: Vec<usize> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let below = match link.stands {
                Stands::On(parent) => parent,
                Stands::Carried(joint) => self.joints.get(joint).and_then(|joint| joint.sides[0]),
                Stands::Placed | Stands::Free(_) => None,
            };
            depths.push(1 + below.and_then(|at| depths.get(at)).copied().unwrap_or(0));
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// Visits every expression.
    pub(super) fn each(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        for link in &mut self.links {
            [&mut link.mass, &mut link.kinetic].into_iter().for_each(&mut *visit);
            let lists = [&mut link.center, &mut link.inertia, &mut link.origin, &mut link.rotation];
            for list in lists.into_iter().chain([&mut link.position, &mut link.gravity]) {
                list.iter_mut().for_each(&mut *visit);
            }
            let Some(steps) = &mut link.steps else { continue };
            steps.from_parent.iter_mut().chain(&mut steps.to_origin).for_each(&mut *visit);
            if let Some(motion) = &mut steps.motion {
                motion.twist.iter_mut().chain(&mut motion.drift).for_each(&mut *visit);
            }
            for step in &mut steps.columns {
                step.linear.iter_mut().chain(&mut step.angular).for_each(&mut *visit);
            }
        }
        self.others.iter_mut().chain(&mut self.potentials).for_each(&mut *visit);
        for joint in &mut self.joints {
            joint.point.iter_mut().chain(&mut joint.aligned).for_each(&mut *visit);
            let turns = joint.turns.iter_mut();
            turns.for_each(|turn| {
                [&mut turn.sine, &mut turn.cosine].into_iter().for_each(&mut *visit)
            });
            for attachment in &mut joint.attachments {
                attachment.at.iter_mut().chain(&mut attachment.turning).for_each(&mut *visit);
            }
            let Some(motion) = &mut joint.motion else { continue };
            motion.along.iter_mut().chain(&mut motion.displaced).for_each(&mut *visit);
            for turn in &mut motion.turns {
                match turn {
                    JointTurn::Plane(by) => visit(by),
                    JointTurn::About(axis, by) => {
                        axis.iter_mut().for_each(&mut *visit);
                        visit(by);
                    }
                    JointTurn::Quaternion(e) => e.iter_mut().for_each(&mut *visit),
                }
            }
        }
    }
}

/// A body, frame or particle of a [`Tree`].
#[derive(Clone, Debug)]
pub struct Link {
    /// Its full name.
    pub name: String,
    /// Its mass; 0 for a frame.
    pub mass: ExprId,
    /// The mass center in body axes.
    pub center: Vec<ExprId>,
    /// About the mass center in body axes: nine entries in space, one in the plane, none for a
    /// particle.
    pub inertia: Vec<ExprId>,
    /// The point that joints speak of, in inertial axes.
    pub origin: Vec<ExprId>,
    /// R by rows, nine entries in space, four in the plane, none for a particle.
    pub rotation: Vec<ExprId>,
    /// The mass center in inertial axes.
    pub position: Vec<ExprId>,
    /// The uniform gravity that acts on it; empty where none does, or a field.
    pub gravity: Vec<ExprId>,
    /// Its kinetic energy.
    pub kinetic: ExprId,
    /// What it stands on.
    pub stands: Stands,
    /// How it moves beside that; `None` where it also does as coordinates elsewhere say (an
    /// attachment that slides along its body, for instance).
    pub steps: Option<Steps>,
    /// Where it is declared.
    pub span: Span,
}

/// How a link moves relative to what it stands on, by its own velocities: at its reference point, in
/// inertial axes. That is where the joint is that carries it, else its origin.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// From the origin of what it stands on to the reference point; 0 where it stands on nothing.
    pub from_parent: Vec<ExprId>,
    /// From there to its own origin.
    pub to_origin: Vec<ExprId>,
    /// For each of its own coordinates.
    pub columns: Vec<Step>,
    /// The same for the velocities there are; `None` where it also moves by time, beside what it
    /// stands on.
    pub motion: Option<Moving>,
}

/// (linear, angular), in inertial axes.
#[derive(Clone, Debug, Default)]
pub struct Moving {
    /// Σ S q̇; of a link that stands on nothing its whole twist.
    pub twist: Vec<ExprId>,
    /// By what twists change where q̈ = 0, seen from what it stands on.
    pub drift: Vec<ExprId>,
}

/// What the rate of one coordinate does to a link.
#[derive(Clone, Debug)]
pub struct Step {
    /// The coordinate.
    pub coordinate: usize,
    /// ∂(velocity of the reference point)/∂q̇.
    pub linear: Vec<ExprId>,
    /// ∂(angular velocity)/∂q̇: three numbers in space, one in the plane.
    pub angular: Vec<ExprId>,
}

/// What a link stands on; links and joints by their places in the [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// As its `at` and `turning` say.
    Placed,
    /// On coordinates of its own. In absolute coordinates, the joint that would carry it.
    Free(Option<usize>),
    /// Fixed in another link, or in the ground.
    On(Option<usize>),
    /// On the coordinates of a joint.
    Carried(usize),
}

/// A joint of a [`Tree`].
#[derive(Clone, Debug)]
pub struct Joint {
    /// Its full name.
    pub name: String,
    /// `pin`, `slider`, …
    pub kind: &'static str,
    /// The links of its sides; `None` for the ground.
    pub sides: [Option<usize>; 2],
    /// Whether it carries its second side; else it closes.
    pub carries: bool,
    /// Its coordinates, in the order of the kind.
    pub coordinates: Vec<usize>,
    /// Coordinates that are its forbidden displacements, held at 0, where a reaction was asked for.
    pub released: Vec<usize>,
    /// The first attachment, in inertial axes.
    pub point: Vec<ExprId>,
    /// Both attachments, in the axes of what they belong to.
    pub attachments: [Attachment; 2],
    /// What it does to its second side, where it carries.
    pub motion: Option<Motion>,
    /// Where it closes, what is 0 if its sides are the right way round, and not if its axes point against
    /// each other while its rows hold. Empty where nothing can be the wrong way round.
    pub aligned: Vec<ExprId>,
    /// Where it closes, its angles that are coordinates, for the sake of turns.
    pub turns: Vec<TurnOf>,
    /// The statement.
    pub span: Span,
}

/// The angle of a joint that closes: a coordinate, which a row holds at the sine and cosine that the
/// poses make, whatever the turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnOf {
    /// The coordinate.
    pub coordinate: usize,
    /// Its sine, by the poses.
    pub sine: ExprId,
    /// Its cosine, by the poses.
    pub cosine: ExprId,
    /// Whether a row tells its turn too: that of a screw does.
    pub is_led: bool,
}

/// Where a joint is attached to a link, in the link's axes.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Where.
    pub at: Vec<ExprId>,
    /// The turn by rows, nine entries in space; in the plane its angle.
    pub turning: Vec<ExprId>,
}

/// The second attachment as seen from the first: at `along` and turned by the turns, one after the
/// other.
#[derive(Clone, Debug)]
pub struct Motion {
    /// d, in the axes of the first attachment.
    pub along: Vec<ExprId>,
    /// A further displacement in inertial axes; 0 but where the joint is released.
    pub displaced: Vec<ExprId>,
    /// The factors of D.
    pub turns: Vec<JointTurn>,
}

/// One turn of a joint.
#[derive(Clone, Debug)]
pub enum JointTurn {
    /// In the plane, by an angle.
    Plane(ExprId),
    /// About a unit vector, by an angle.
    About([ExprId; 3], ExprId),
    /// By the rotation of a quaternion.
    Quaternion([ExprId; 4]),
}
