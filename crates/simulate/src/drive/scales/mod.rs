//! What local errors are measured by: the motion's own size in each component.
//!
//! ```text
//! allowed_i = tol s_i + r_i
//! ```
//!
//! The size s of a position is how far it has traveled from where it began, that of a
//! velocity the larger of what it is and a tenth of what it was at most; at the beginning
//! both are what the step at hand gives them, |q̇| h and |v̇| h. So no unit enters, and no
//! choice of the origin: a motion of 1e-12 is followed as well as one of 1. What rounding
//! leaves of a number, r = 4 ε |x|, is always allowed; where constraints bring the rounding
//! errors of one coordinate to another, |x| is that of the largest in units of equal mass.
//!
//! A component that only rounding moves has no size: its error does not get smaller with
//! the step. Neither has one that is moved only by what others do later (the last link of a
//! chain at rest), where each step has an error as large as what it moves. Where a step was
//! turned down because of such a component and a much shorter one is no better, its error is
//! taken as r from there on, as long as that is far below what the energy of the motion
//! could do to it.
//!
//! What has no size where a step begins and has one at its end is measured by that (a mass at rest
//! that is pushed later on), or by the largest of those it moves with, in units of equal mass: else
//! a step could go over all that happens to it. So that such sizes can be followed from where they
//! come, none is less than 1e-270 of any unit: numbers have not enough digits below. Where nothing
//! moves at the beginning, none is less than 1e-40 of what the forces on the way could make of it.
//!
//! Where a system begins at rest, rounding errors δ of the forces that balance there move it, and
//! as long as it is no faster than they can have made it, δ h is allowed to velocities and δ h²
//! to positions.
//!
//! The work done on the system, last in a state, moves nothing. Series of a product fall later than
//! those of its factors (e^{-2t} against e^{-t}), so where steps go by series, work that is followed
//! is held to the tolerance by the kinetic energy; otherwise it has no size here.

use super::Driver;
use crate::drive::tolerances::scales::{COUPLED, DIGITS, KEEPS, TINY};
use dalembert_gauss::linalg::largest;

mod learned;
mod lengths;
mod pushes;
mod weights;

/// The sizes of a motion's components.
#[derive(Clone, Debug, Default)]
pub(super) struct Scales {
    /// Where positions began.
    pub(super) origin: Vec<f64>,
    /// The largest travel of positions, the largest |v|.
    pub(super) own: Vec<f64>,
    /// r, where it was learned.
    floor: Vec<f64>,
    /// Where nothing moves at the beginning: what no size is below; else empty.
    least: Vec<f64>,
    /// What rounding does to v̇ where the motion begins at rest; empty if it does not.
    pub(super) rest: Vec<f64>,
    /// The largest √(Σ g_j v_j²), g the diagonal of the metric, or of v̇ in a step.
    speed: f64,
    /// The diagonal of the metric of the own velocities, where it was last seen.
    metric: Vec<f64>,
    /// The same where a pass begins; empty on its way.
    pub(super) began: Vec<f64>,
    /// Positions, then own velocities.
    components: Vec<Component>,
    has_massless: bool,
    /// Whether time is in the forces or the constraints, where that was looked for.
    is_timed: Option<bool>,
    /// Which part each coordinate belongs to.
    parts: Vec<usize>,
    /// The largest position and velocity of each part.
    most: [Vec<f64>; 2],
    /// A step that was turned down: from where, its length, and its errors.
    rejected: Option<(f64, f64, Vec<f64>)>,
    /// What rounding does to the rates of velocities, where the motion began; along a tree, where the
    /// forces were last like those at hand.
    shaken: Vec<f64>,
    /// How large forces were there, in units of equal mass.
    pushed: f64,
    /// Whether the velocities are those of the coordinates.
    is_rate: bool,
    /// The component that limited the last step.
    suspected: Option<usize>,
    /// So many steps are not looked at.
    vouched: u32,
}

/// What brings a component to units of equal mass, √g, and back, 1/√g; none where g is 0.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    g: f64,
    root: f64,
    inverse: f64,
}

impl Unit {
    fn of(g: f64) -> Unit {
        let g = if g.is_finite() { g.abs() } else { 0.0 };
        let root = g.sqrt();
        Unit { g, root, inverse: if g > 0.0 { 1.0 / root } else { 0.0 } }
    }

    /// A size in units of equal mass, in the component's own; 0 where there are none.
    #[inline(always)]
    fn back(self, size: f64) -> f64 {
        size * self.inverse
    }
}

/// The larger of two numbers: one instruction, where there is no NaN to mind.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// A component as the masses have it where a pass begins.
#[derive(Clone, Copy, Debug, Default)]
struct Component {
    unit: Unit,
    /// The same, where constraints join it to others.
    joint: Unit,
    part: usize,
    /// Whether it is where the constraints put it, as it has no mass.
    is_massless: bool,
}

impl Scales {
    /// Begins at a state.
    pub(super) fn begin(&mut self, n: usize, x: &[f64]) {
        if self.origin.len() != n {
            self.origin = x[..n].to_vec();
        }
        self.own.resize(x.len(), 0.0);
        self.floor.resize(x.len(), 0.0);
    }

    /// Forgets a motion; what belongs to the model is kept.
    pub(super) fn restart(&mut self) {
        let (parts, is_timed) = (std::mem::take(&mut self.parts), self.is_timed);
        *self = Scales { parts, is_timed, ..Scales::default() };
    }

    /// Takes over the positions of a motion in other velocities.
    pub(super) fn inherit(&mut self, before: &Scales) {
        let n = before.origin.len();
        self.origin.clone_from(&before.origin);
        self.own = before.own[..n].to_vec();
        self.floor = before.floor[..n].to_vec();
    }

    /// Goes on with a motion that began elsewhere and has been through this; nothing is told of one
    /// that begins.
    pub(super) fn resume(&mut self, origin: &[f64], own: &[f64]) {
        if !origin.is_empty() {
            self.origin = origin.to_vec();
            self.own = own.to_vec();
        }
    }

    /// Where positions began, and how far components have been.
    pub(super) fn so_far(&self) -> [Vec<f64>; 2] {
        let own = &self.own[..self.own.len().saturating_sub(1)];
        [self.origin.clone(), own.to_vec()]
    }

    /// Takes a state into account.
    pub(super) fn see(&mut self, x: &[f64]) {
        let n = self.origin.len();
        for i in 0..x.len().saturating_sub(1) {
            let size = if i < n { (x[i] - self.origin[i]).abs() } else { x[i].abs() };
            if size > self.own[i] {
                self.own[i] = size;
            }
        }
    }

    /// The metric at a state, for what the energy could do.
    fn measure(&mut self, metric: Vec<f64>, x: &[f64], rates: &[f64], h: f64) {
        let inside = self.origin.len()..x.len() - 1;
        let norm = |v: &[f64]| -> f64 {
            let parts = metric.iter().zip(v).map(|(g, v)| g.sqrt() * v.abs());
            parts.fold(0f64, f64::max)
        };
        let speed = norm(&x[inside.clone()]).max(norm(&rates[inside]) * h.abs());
        self.speed = self.speed.max(speed);
        self.metric = metric;
    }

    /// The size of a component at a state with these rates, for a step h; 0 if it has none.
    #[inline(always)]
    pub(super) fn size(&self, i: usize, x: &[f64], rates: &[f64], h: f64) -> f64 {
        let n = self.origin.len();
        if i + 1 >= x.len() {
            return 0.0;
        }
        let by_step = (rates[i] * h).abs();
        if i >= n {
            return larger(larger(x[i].abs(), KEEPS * self.own[i]), by_step);
        }
        let own = larger(self.own[i], (x[i] - self.origin[i]).abs());
        if own > 0.0 { larger(own, by_step) } else { self.unmoved(i, x, rates, h) }
    }

    /// The same for a position that has not moved.
    #[cold]
    fn unmoved(&self, i: usize, x: &[f64], rates: &[f64], h: f64) -> f64 {
        let n = self.origin.len();
        // From rest a position goes with the square of the time; by 1/M_ii where velocities
        // are momenta. Later it goes by its velocity: a force does less than this to what
        // cannot be faster, or is held.
        let by_force = |factor: f64| 0.5 * factor * (rates[n + i] * h * h).abs();
        let own = match self.is_rate {
            // A state has no velocity.
            _ if n + i + 1 >= x.len() => 0.0,
            true => by_force(1.0),
            false if self.components.len() == 2 * n => by_force(self.components[n + i].unit.g),
            false => 0.0,
        };
        let own = own.max((rates[i] * h).abs());
        // From rest in other velocities nothing tells how far it will go in a step.
        if own == 0.0 && !self.is_rate { COUPLED * x[i].abs() } else { own }
    }

    /// What a component may be off by; 0 if it has no size.
    #[inline(always)]
    fn allowed(&self, i: usize, tolerance: f64, x: &[f64], rates: &[f64], h: f64) -> f64 {
        let (size, floor) = (self.size(i, x, rates, h), self.floor[i]);
        if size == 0.0 && floor == 0.0 {
            return 0.0;
        }
        tolerance * larger(size, self.least(i)) + larger(floor, DIGITS * x[i].abs())
    }

    /// What no size of a component is below.
    #[inline(always)]
    fn least(&self, i: usize) -> f64 {
        self.least.get(i).copied().unwrap_or(TINY)
    }

    /// What rounding errors of the forces that balance may do to a component in a step h of a
    /// run, while that is all that moves it.
    fn at_rest(&self, i: usize, x: &[f64], h: f64, span: f64) -> f64 {
        let n = self.origin.len();
        let Some(&noise) = self.rest.get(if i < n { i } else { i - n }) else { return 0.0 };
        let is_rate = self.is_rate;
        let velocity = match (i < n, is_rate) {
            (false, _) => x[i],
            (true, true) => x[n + i],
            (true, false) => return 0.0,
        };
        if velocity.abs() > noise * span {
            0.0
        } else if i < n {
            noise * h * h
        } else {
            noise * h.abs()
        }
    }

    /// The largest of positions and of velocities, in units of equal mass, where constraints
    /// join them.
    fn joined(&self, x: &[f64]) -> [f64; 2] {
        let n = self.origin.len();
        let mut most = [0f64; 2];
        for (i, (component, x)) in self.components.iter().zip(x).enumerate() {
            let own = &mut most[usize::from(i >= n)];
            *own = own.max(component.joint.root * x.abs());
        }
        most
    }

    /// The unit of a component that constraints join to others; none if they do not.
    fn joint(&self, i: usize) -> Unit {
        self.components.get(i).map_or_else(Unit::default, |component| component.joint)
    }

    /// Finds the largest of the positions and of the velocities of each part, in units of equal
    /// mass, and those that constraints join; all as large as they have been.
    #[inline(always)]
    fn couple(&mut self, x: &[f64]) -> [f64; 2] {
        let n = self.origin.len();
        let (positions, velocities) = self.components.split_at(n.min(self.components.len()));
        let (x, own) = ((&x[..n], &x[n..]), (&self.own[..n], &self.own[n..]));
        let lists = [(positions, x.0, own.0), (velocities, x.1, own.1)];
        let mut joined = [0f64; 2];
        for ((most, joined), (components, x, own)) in
            self.most.iter_mut().zip(&mut joined).zip(lists)
        {
            most.clear();
            most.resize(n.max(1), 0.0);
            for ((component, x), own) in components.iter().zip(x).zip(own) {
                let size = larger(x.abs(), *own);
                *joined = larger(*joined, component.joint.root * size);
                let most = &mut most[component.part];
                *most = larger(*most, component.unit.root * size);
            }
        }
        joined
    }

    /// The largest of the positions or of the velocities that a component is coupled to, in its
    /// own units; [`couple`](Scales::couple) comes first.
    #[inline(always)]
    fn coupled(&self, component: &Component, at: usize) -> f64 {
        component.unit.back(self.most[at][component.part])
    }

    /// What the energy of the motion could do to a component in a step, at most.
    fn reach(&self, i: usize, h: f64) -> f64 {
        let n = self.origin.len();
        let by = |j: usize| match self.metric.get(j) {
            Some(g) if *g > 0.0 => self.speed / g.sqrt(),
            _ => 0.0,
        };
        // A position goes by its velocity, if there is one of each.
        if i >= n {
            by(i - n)
        } else if self.metric.len() == n {
            by(i) * h.abs()
        } else {
            0.0
        }
    }
}

impl Driver {
    /// See [`Field::rest_noise`](crate::program::field::Field::rest_noise), for q̈; 0 where the own
    /// velocities are others.
    pub fn rest_noise(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        let (n, coordinates) = (self.field.n, self.field.equations.n_coordinates());
        if (0..coordinates).any(|i| self.own_is_rate(i) == 0.0) {
            return vec![0.0; n];
        }
        let mut noise = self.field.rest_noise(t, x);
        noise.resize(n, 0.0);
        noise
    }

    /// The part that each coordinate belongs to, where that was found already.
    pub(crate) fn set_parts(&mut self, parts: &[usize]) {
        self.scales.parts = parts.to_vec();
    }

    /// Takes over all sizes from a motion in the same variables, if they are.
    pub(crate) fn inherit_all_scales(&mut self, before: &Driver) {
        let (own, other) = (&self.field.equations, &before.field.equations);
        let (is_same, is_all) = (own.q == other.q, own.own == other.own);
        if is_same {
            self.inherit_scales(before);
        }
        if is_same && is_all {
            self.scales.own.clone_from(&before.scales.own);
        }
    }

    /// The largest coordinate there was, to a factor of two, and the largest velocity, where these are
    /// the field's own.
    pub(crate) fn largest_so_far(&self) -> [f64; 2] {
        let (scales, coordinates) = (&self.scales, self.field.equations.n_coordinates());
        let n = scales.origin.len();
        let far = scales.own.iter().zip(&scales.origin).take(coordinates);
        let far = far.fold(0f64, |m, (own, origin)| m.max(own.abs()).max(origin.abs()));
        let fast = if scales.is_rate { scales.own.get(n..).unwrap_or(&[]) } else { &[] };
        [far, largest(&fast[..fast.len().saturating_sub(1)])]
    }

    /// Takes over the sizes of positions from a motion in other velocities.
    pub fn inherit_scales(&mut self, before: &Driver) {
        self.scales.inherit(&before.scales);
    }
}
