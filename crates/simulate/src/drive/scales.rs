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
use super::abreast::{Measure, Measures};
use crate::drive::pass::Pass;
use crate::drive::tolerances::scales::{
    COUPLED, DIGITS, FALLS, FAR_BELOW, HARDLY, KEEPS, LEAST, LIGHT, LOW, RESTS, SHAKEN, SHARE,
    SHORTER, SMALL, STILL, TINY, TOGETHER, WORK,
};
use crate::integrators::{Needs, Problem, Step};
use crate::program::field::still;
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg::largest;

/// After this many steps it is looked at again.
const VOUCHED: u32 = 16;

/// Where nothing moves, this many parts of a step are looked at for what would.
const GLANCES: u32 = 64;

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
    /// What rounding does to the rates of velocities, where the motion began.
    shaken: Vec<f64>,
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

    /// The same for steps whose size does not follow the error, and across singular
    /// positions: sizes are those of the coordinates themselves, of what the step `moves`
    /// them by, and of the largest in units of equal mass.
    pub(super) fn weigh_together(&self, weights: &mut [f64], moves: &[f64]) {
        let scales = &self.scales;
        let n = self.field.n;
        let moved = |i: usize| moves.get(i).map_or(0.0, |m| m.abs());
        let sizes = self.x.iter().zip(&scales.own).map(|(x, o)| x.abs().max(*o));
        let own: Vec<f64> = sizes.enumerate().map(|(i, size)| size.max(moved(i))).collect();
        let [far, fast] = scales.joined(&own);
        for (i, weight) in weights.iter_mut().enumerate() {
            let others = scales.joint(i).back(if i < n { far } else { fast });
            let size = if i + 1 < self.x.len() { own[i].max(others) } else { 0.0 };
            *weight = if size > 0.0 { 1.0 / (self.control.tolerance * size) } else { 0.0 };
        }
    }

    /// What motions abreast are measured by, at the state at hand; none if that needs more than they
    /// have.
    pub(super) fn measures(&mut self) -> Option<Measures> {
        let x = self.x.clone();
        self.scales.begin(self.field.n, &x);
        self.weigh_masses();
        self.weigh_rest();
        let scales = &self.scales;
        if scales.has_massless {
            return None;
        }
        let n = self.field.n;
        let of = |unit: Unit| [unit.root, unit.inverse];
        let measure = |(i, c): (usize, &Component)| {
            let noise = i.checked_sub(n).and_then(|j| scales.shaken.get(j));
            Measure {
                unit: of(c.unit),
                joint: of(c.joint),
                part: c.part,
                shaken: noise.copied().unwrap_or(0.0),
            }
        };
        Some(Measures {
            components: scales.components.iter().enumerate().map(measure).collect(),
            parts: 1 + scales.components.iter().map(|c| c.part).max().unwrap_or(0),
            is_rate: scales.is_rate,
            tolerance: self.control.tolerance,
            span: self.control.span,
        })
    }

    /// The inverses of what each component may be off by in a step h; 0 for one without size.
    pub(super) fn weigh(&mut self, weights: &mut [f64], rates: &[f64], h: f64) {
        if self.control.step.is_some() {
            return self.weigh_together(weights, &[]);
        }
        let [far, fast] = self.scales.couple(&self.x);
        let (scales, n) = (&self.scales, self.field.n);
        let (tolerance, span) = (self.control.tolerance, self.control.span);
        let far = far.max(fast * h.abs());
        // At rest, it is what would bring them somewhere in the time of the run.
        let together = fast.max(far / span);
        let is_residual = self.integrator.needs() == Needs::Residual;
        // What only few motions have: components without mass, and a beginning at rest.
        let is_plain = scales.rest.is_empty() && !scales.has_massless;
        let joint_part = TOGETHER * tolerance;
        let coupled_part = COUPLED * tolerance;
        let extents = &self.field.noise().extents;
        let odd = |i: usize, component: &Component, mut allowed: f64| {
            // What has no mass is where the constraints put it, on their scale.
            if component.is_massless {
                let extent = extents.get(i).copied().unwrap_or(0.0);
                allowed = larger(allowed + DIGITS * extent, joint_part * extent);
            }
            allowed + scales.at_rest(i, &self.x, h, span)
        };
        weights.fill(0.0);
        let (positions, velocities) = scales.components.split_at(n);
        let (first, second) = weights.split_at_mut(n);
        for (i, (weight, component)) in first.iter_mut().zip(positions).enumerate() {
            let mut allowed = scales.allowed(i, tolerance, &self.x, rates, h);
            if !(allowed > 0.0) {
                continue;
            }
            let joined = component.joint.back(far);
            if joined > 0.0 {
                allowed = larger(allowed + DIGITS * joined, joint_part * joined);
            }
            allowed = larger(allowed, coupled_part * scales.coupled(component, 0));
            *weight = 1.0 / if is_plain { allowed } else { odd(i, component, allowed) };
        }
        // At rest, velocities are what the positions are in the time of the run.
        let once = if scales.is_rate { 1.0 / span } else { 0.0 };
        for (j, (weight, component)) in second.iter_mut().zip(velocities).enumerate() {
            let i = n + j;
            let mut allowed = scales.allowed(i, tolerance, &self.x, rates, h);
            if !(allowed > 0.0) {
                continue;
            }
            let joint = component.joint;
            let most = joint.back(together);
            if most > 0.0 {
                allowed = larger(allowed + DIGITS * joint.back(fast), joint_part * most);
            }
            let mut coupled = scales.coupled(component, 1);
            if once > 0.0 {
                coupled = larger(coupled, scales.coupled(&positions[j], 0) * once);
            }
            allowed = larger(allowed, coupled_part * coupled);
            if !is_plain {
                allowed = odd(i, component, allowed);
            }
            // Rounding of the forces at hand is in every velocity, however short the step; it is no
            // more than rounding where it is far below the velocity itself.
            let shaken = scales.shaken.get(j).map_or(0.0, |noise| noise * h.abs());
            allowed += shaken.min(SMALL * scales.own[i]);
            // A method that solves for positions has velocities as their differences.
            if is_residual {
                let is_own = self.field.size == self.field.equations.n_coordinates();
                let own = if is_own { self.x[j].abs() } else { 0.0 };
                allowed += DIGITS * own.max(joint.back(far)) / h.abs();
            }
            *weight = 1.0 / allowed;
        }
        if self.integrator.needs() == Needs::Series && self.field.follows_work() {
            let moved = |(j, c): (usize, &Component)| {
                c.unit.root * larger(scales.own[n + j], (rates[n + j] * h).abs())
            };
            let least = |(j, c): (usize, &Component)| c.unit.root * scales.least(n + j);
            let slowest = velocities.iter().enumerate().map(least).fold(0f64, f64::max);
            let fastest = velocities.iter().enumerate().map(moved).fold(0f64, f64::max);
            // Forces of which rounding leaves 16 ε work along what it moves in the step.
            let shaken = |(c, noise): (&Component, &f64)| c.unit.root * noise * h.abs();
            let left = velocities.iter().zip(&scales.shaken).map(shaken).fold(0f64, f64::max);
            let left = left * left / (16.0 * f64::EPSILON);
            let speed = if fastest > 0.0 { larger(fastest, slowest) } else { 0.0 };
            let energy = if speed > 0.0 { larger(speed * speed, TINY) } else { 0.0 };
            let allowed = WORK * tolerance * energy + left;
            if let Some(weight) = weights.last_mut().filter(|_| allowed > 0.0) {
                *weight = 1.0 / allowed;
            }
        }
    }

    /// Measures what had no size where a step began by what it has at its end, and tells the largest
    /// error of such components. What only rounding has moved still has none.
    pub(super) fn weigh_new(&self, pass: &mut Pass, h: f64) -> f64 {
        let (scales, n) = (&self.scales, self.field.n);
        let Pass { next, between, weights, errors, weighed, .. } = pass;
        let components = &scales.components;
        if weights[..components.len()].iter().all(|weight| *weight > 0.0) {
            return 0.0;
        }
        let sizes: Vec<f64> =
            (0..components.len()).map(|i| scales.size(i, next, between, h)).collect();
        let mut most = [vec![0f64; n.max(1)], vec![0f64; n.max(1)]];
        for (i, (component, size)) in components.iter().zip(&sizes).enumerate() {
            let most = &mut most[usize::from(i >= n)][component.part];
            *most = larger(*most, component.unit.root * size);
        }
        let mut largest = 0f64;
        for (i, (component, &size)) in components.iter().zip(&sizes).enumerate() {
            if weights[i] > 0.0 || component.is_massless {
                continue;
            }
            let noise = match i.checked_sub(n) {
                Some(j) => scales.shaken.get(j).map_or(0.0, |noise| noise * h.abs()),
                None => scales.shaken.get(i).map_or(0.0, |noise| noise * h * h),
            };
            if !(size > SHAKEN * noise) {
                continue;
            }
            let among = component.unit.back(most[usize::from(i >= n)][component.part]);
            let size = larger(larger(size, among), scales.least(i));
            weights[i] = 1.0 / (self.control.tolerance * size + noise + DIGITS * next[i].abs());
            largest = largest.max(errors[i] * weights[i]);
            // The next try begins without.
            *weighed = 0.0;
        }
        largest
    }

    /// Of what does not move, where time is in the forces: looks ahead how large these become on the
    /// spot. What is far below what they make of a component in the time of the run is nothing, so
    /// that a push that begins as exp(−700) need not be followed from there; nor is it followed
    /// while it is what rounding makes of forces that balance, as 1 + tanh(−30). Whether it looked.
    pub(super) fn look_for_pushes(&mut self, pass: &Pass) -> bool {
        self.scales.least.clear();
        let (n, moving) = (self.field.n, self.field.n + self.field.size);
        let is_still: Vec<bool> =
            (n..moving).map(|i| self.x[i].abs() < STILL && pass.rates[i].abs() < STILL).collect();
        if !is_still.contains(&true) || !self.is_timed() {
            return false;
        }
        let (x, way) = (self.x.clone(), pass.end - self.t);
        let (mut rates, mut most) = (pass.rates.clone(), vec![0f64; moving]);
        for k in 1..=GLANCES {
            let t = self.t + way * f64::from(k) / f64::from(GLANCES);
            if self.field.lasting_rates(t, &x, &mut rates).is_ok() {
                most.iter_mut().zip(&rates).for_each(|(most, rate)| *most = most.max(rate.abs()));
            }
        }
        let (span, tolerance) = (way.abs(), self.control.tolerance);
        let velocity = |j: usize| {
            let noise = self.scales.shaken.get(j).map_or(0.0, |noise| noise / tolerance);
            if is_still[j] { larger(FAR_BELOW * most[n + j], noise) * span } else { 0.0 }
        };
        let has_positions = self.scales.is_rate;
        let least = (0..moving).map(|i| match i.checked_sub(n) {
            Some(j) => velocity(j),
            None if has_positions && i < is_still.len() => velocity(i) * span,
            None => 0.0,
        });
        self.scales.least = least.map(|least| larger(least, TINY)).collect();
        true
    }

    /// Whether something without a size, or next to none, both where a step begins and at its end, is moved in between,
    /// as far as is seen at some times: a push that is over before the step is.
    pub(super) fn goes_over_a_push(&mut self, pass: &mut Pass, h: f64) -> bool {
        let moving = self.x.len() - 1;
        if !self.is_timed() {
            return false;
        }
        let scales = &self.scales;
        let is_at_rest = |i: &usize| {
            let size = scales.size(*i, &pass.next, &pass.between, h);
            !(pass.weights[*i] > 0.0) || size <= RESTS * scales.least(*i)
        };
        let rests: Vec<usize> = (0..moving).filter(is_at_rest).collect();
        if rests.is_empty() {
            return false;
        }
        // Steps of what moves are not as long.
        let times = if rests.len() == moving { GLANCES } else { GLANCES / 8 };
        // The rates at the end are needed again.
        let mut rates = pass.between.clone();
        let is_moved = (1..times).any(|k| {
            let t = self.t + h * f64::from(k) / f64::from(times);
            let is_known = self.field.lasting_rates(t, &pass.next, &mut rates).is_ok();
            let scales = &self.scales;
            is_known && rests.iter().any(|&i| (rates[i] * h).abs() > RESTS * scales.least(i))
        });
        let t = self.t + h;
        is_moved || self.field.lasting_rates(t, &pass.next, &mut pass.between).is_err()
    }

    /// Whether time is in the forces or the constraints.
    pub(super) fn is_timed(&mut self) -> bool {
        let field = &self.field;
        *self.scales.is_timed.get_or_insert_with(|| {
            let equations = &field.equations;
            let residuals = equations.configuration_residuals.iter();
            let residuals = residuals.chain(&equations.velocity_residuals).map(|row| row.1);
            let forces = equations.force.iter().chain(&equations.nonideal).copied();
            let all: Vec<ExprId> = forces.chain(residuals).collect();
            field.model().exprs.symbols_of(&all).contains(&Symbol::TIME)
        })
    }

    /// Looks whether the motion begins at rest.
    pub(super) fn weigh_rest(&mut self) {
        let x = self.x.clone();
        let (rates, noise) = self.field.rate_noise(self.t, &x);
        let rest = still(&rates, &noise);
        self.scales.rest = if rest.iter().any(|a| *a > 0.0) { rest } else { Vec::new() };
        self.scales.shaken = noise;
    }

    /// Looks at the masses, where constraints join coordinates.
    pub(super) fn weigh_masses(&mut self) {
        let x = self.x.clone();
        let masses = self.field.mass_diagonal(self.t, &x);
        let metric = self.metric_diagonal(&x).unwrap_or_default();
        self.scales.began.clone_from(&metric);
        self.scales.is_rate = self.field.equations.v == self.field.model().system.velocities();
        if self.scales.parts.is_empty() {
            self.scales.parts = crate::program::energy::parts(self.field.setting());
        }
        let (n, size) = (self.field.n, self.field.size);
        let coordinates = self.field.equations.n_coordinates();
        // What a chart has solved joins them too.
        let is_charted = self.field.equations.chart.is_some();
        let mut held = vec![is_charted; size];
        let rows = self.field.equations.jacobian.rows.iter();
        rows.flatten().for_each(|entry| held[entry.0] = true);
        let is_joined = is_charted || !self.field.equations.rows.is_empty();
        let has_own = self.scales.is_rate;
        let parts = &self.scales.parts;
        let noise = self.field.noise();
        let component = |i: usize| {
            let (list, at) = if i < n { (&masses, i) } else { (&metric, i - n) };
            // A mass that is next to nothing here and not nearby is that of no component: the others
            // would leave it all there is.
            let near = match i < n {
                true => noise.mass_inertia.get(at),
                false => noise.inertia.get(at).filter(|_| has_own),
            };
            let is_light = |g: f64| near.is_some_and(|near| g.abs() <= LIGHT * near);
            let mass = list.get(at).copied().filter(|g| !is_light(*g));
            let unit = mass.map_or_else(Unit::default, Unit::of);
            // Velocities that are not those of the coordinates belong to all of them; states
            // stand alone.
            let is_state = (coordinates..n).contains(&i);
            let has_part = i < n || size == coordinates;
            let is_held = is_joined
                && !is_state
                && if i < n { size != coordinates || held[at] } else { held[at] };
            Component {
                unit,
                joint: if is_held { unit } else { Unit::default() },
                part: if has_part { parts.get(at).copied().unwrap_or(at) } else { 0 },
                is_massless: at < list.len() && unit.g == 0.0 && (i < n || has_own),
            }
        };
        self.scales.components = (0..n + size).map(component).collect();
        self.scales.has_massless = self.scales.components.iter().any(|c| c.is_massless);
    }

    /// The diagonal of the metric of the own velocities, by the mass that each of them moves;
    /// 1/M_jj for momenta, where M is known.
    pub(super) fn metric_diagonal(&mut self, x: &[f64]) -> Option<Vec<f64>> {
        let size = self.field.size;
        let (t, n) = (self.t, self.field.equations.n_coordinates());
        self.field.matrices(t, x).ok()?;
        let mut diagonal: Vec<f64> = (0..size).map(|j| self.field.last_mass(j).abs()).collect();
        let momenta = self.field.model().system.momenta();
        let own = &self.field.equations.v;
        if size == n && momenta.iter().zip(own).any(|(p, v)| p == v) {
            let mass = self.field.mass_diagonal(t, x);
            for j in 0..n {
                if momenta[j] == self.field.equations.v[j] {
                    let m = mass[j].abs();
                    diagonal[j] = if m > 0.0 { 1.0 / m } else { 0.0 };
                }
            }
        } else if let Some(kinetic) = self.field.kinetic_diagonal(t, x) {
            // Reduced momenta have no metric of their own: Γ is 1, whatever their units.
            diagonal = kinetic;
        }
        Some(diagonal)
    }

    /// Whether a step was turned down for what is no error of the method: components whose
    /// errors do not get smaller with the step.
    pub(super) fn learns(&mut self, h: f64, pass: &Pass) -> bool {
        if pass.errors.iter().any(|e| !e.is_finite()) {
            self.scales.rejected = None;
            return false;
        }
        let (t, longer, mut before) = match self.scales.rejected.take() {
            Some(last) if last.0 == self.t && h.abs() < last.1.abs() => last,
            last => {
                let mut errors = last.map_or_else(Vec::new, |last| last.2);
                errors.clone_from(&pass.errors);
                self.scales.rejected = Some((self.t, h, errors));
                return false;
            }
        };
        if (h / longer).abs() > SHORTER {
            self.scales.rejected = Some((t, longer, before));
            return false;
        }
        let learned = self.compare(pass, (longer, &before), (h, &pass.errors));
        before.clone_from(&pass.errors);
        self.scales.rejected = Some((self.t, h, before));
        learned
    }

    /// Learns from the errors of a step and a much shorter one from the same state.
    fn compare(&mut self, pass: &Pass, long: (f64, &[f64]), short: (f64, &[f64])) -> bool {
        let x = self.x.clone();
        if let Some(metric) = self.metric_diagonal(&x) {
            self.scales.measure(metric, &x, &pass.rates, short.0);
        }
        let ratio = (short.0 / long.0).abs();
        let mut learned = false;
        for i in 0..x.len() - 1 {
            let (before, error) = (long.1[i], short.1[i]);
            if !(before * pass.weights[i] > LOW) || error < FALLS * ratio * ratio * before {
                continue;
            }
            let reach = self.reach(i, long.0);
            // Projections leave rounding errors of positions as large as positions are.
            let [far, _] = self.scales.joined(&x);
            let across = if i < self.field.n { self.scales.joint(i).back(far) } else { 0.0 };
            let most = SMALL * reach.max(self.scales.own[i]).max(across);
            let floor = (4.0 * error.max(before)).max(SHARE * self.control.tolerance * reach);
            if floor <= most && floor > self.scales.floor[i] {
                self.scales.floor[i] = floor;
                learned = true;
            }
        }
        learned
    }

    /// Where a component that hardly moves limits the steps, looks with a shorter one whether
    /// its errors are those of the method.
    pub(super) fn suspect(&mut self, h: f64, pass: &mut Pass) {
        let Some(i) = self.scales.suspected.take() else { return };
        if self.scales.vouched > 0 {
            self.scales.vouched -= 1;
            return;
        }
        if self.scales.metric.is_empty() {
            let x = self.x.clone();
            if let Some(metric) = self.metric_diagonal(&x) {
                self.scales.measure(metric, &x, &pass.rates, h);
            }
        }
        if self.scales.own[i] > HARDLY * self.reach(i, h) {
            return;
        }
        self.scales.vouched = VOUCHED;
        let (tolerance, constant) = (self.control.tolerance, false);
        let mut tried = Vec::new();
        for h in [h, 0.25 * h] {
            let (rates, weights) = (&pass.rates, &pass.weights);
            let looks = true;
            let step =
                Step { t: self.t, h, x: &self.x, rates, weights, tolerance, constant, looks };
            if self.integrator.step(&mut self.field, step, &mut pass.next).is_err() {
                return;
            }
            let Some(errors) = self.integrator.errors() else { return };
            tried.push(errors.to_vec());
        }
        if self.compare(pass, (h, &tried[0]), (0.25 * h, &tried[1])) {
            self.scales.vouched = 0;
            self.weigh(&mut pass.weights, &pass.rates, h);
        }
    }

    /// Remembers which component limits the steps.
    pub(super) fn limited_by(&mut self, pass: &Pass) {
        let errors = pass.errors.iter().zip(&pass.weights).map(|(e, w)| e * w);
        let mut most = LOW;
        self.scales.suspected = None;
        for (i, error) in errors.enumerate().take(self.x.len() - 1) {
            if error > LOW && error >= most {
                (self.scales.suspected, most) = (Some(i), error);
            }
        }
    }

    /// The first step: where accelerations change by a tenth or so, shortened by what the
    /// tolerance asks of the order.
    pub(super) fn first_length(&mut self, rates: &[f64], end: f64) -> f64 {
        let n = self.field.n;
        let moving = n + self.field.size;
        let longest = (end - self.t).abs();
        let forward = if end >= self.t { 1.0 } else { -1.0 };
        let x = self.x.clone();
        let mut metric = std::mem::take(&mut self.scales.began);
        if metric.is_empty() {
            metric = self.metric_diagonal(&x).unwrap_or_default();
        }
        let weight = |j: usize| metric.get(j).copied().filter(|g| *g > 0.0).unwrap_or(0.0);
        let norm = |v: &[f64]| -> f64 {
            let by = |unit: f64| -> f64 {
                let squares =
                    v.iter().enumerate().map(|(j, a)| weight(j) * (a / unit) * (a / unit));
                unit * squares.sum::<f64>().sqrt()
            };
            let norm = by(1.0);
            // The squares may be too small for numbers.
            if norm.is_normal() { norm } else { by(larger(largest(v), f64::MIN_POSITIVE)) }
        };
        let (speed, force) = (norm(&x[n..moving]), norm(&rates[n..moving]));
        let mut length = 0.01 * longest;
        // What is so slow that it changes at once is at rest.
        let turns = 0.1 * speed / force;
        if turns > LEAST * longest {
            length = length.min(turns);
        }
        let mut there = vec![0.0; x.len()];
        // Shorter ones tell nothing where all begins at 0; rejections find them if need be.
        while length > LEAST * longest {
            let h = forward * length;
            let mut ahead: Vec<f64> = x.iter().zip(rates).map(|(x, d)| x + h * d).collect();
            let coordinates = self.field.equations.n_coordinates();
            if self.field.size == coordinates {
                for i in 0..coordinates {
                    ahead[i] += 0.5 * h * h * rates[n + i] * self.own_is_rate(i);
                }
            }
            let is_ok = self.field.rates(self.t + h, &ahead, &mut there).is_ok();
            let change: Vec<f64> =
                there[n..moving].iter().zip(&rates[n..moving]).map(|(a, b)| a - b).collect();
            let (change, whole) = (norm(&change), force.max(norm(&there[n..moving])));
            // What hardly changes the velocities is no time of the motion.
            let is_slow = speed > 0.0 && length * whole <= 0.1 * speed;
            if is_ok && (change <= 0.3 * whole || whole == 0.0 || is_slow) {
                break;
            }
            length *= 0.1;
        }
        // Nothing happens.
        if force == 0.0 && norm(&there[n..moving]) == 0.0 {
            return 0.125 * longest;
        }
        let order = f64::from(self.integrator.order());
        let part = (self.control.tolerance.min(1.0)).powf(1.0 / (order + 1.0));
        length * (2.0 * part).min(1.0)
    }

    /// What the energy could do to a component in a step; 0 for the position of a momentum,
    /// which is no rate.
    fn reach(&self, i: usize, h: f64) -> f64 {
        let is_known = i >= self.field.n || self.own_is_rate(i) > 0.0;
        if is_known { self.scales.reach(i, h) } else { 0.0 }
    }

    /// 1 where an own velocity is the rate of its position.
    fn own_is_rate(&self, i: usize) -> f64 {
        if self.field.is_rate(i) { 1.0 } else { 0.0 }
    }

    /// ‖q̇‖ over ‖q‖ where masses are equal.
    pub(super) fn speed(&mut self, t: f64, x: &[f64], rates: &[f64]) -> f64 {
        let n = self.field.equations.n_coordinates();
        let is_known = self.field.residuals(t, x).is_ok();
        let (mut moved, mut length) = (0.0, 0.0);
        for i in 0..n {
            let mass = self.field.mass_of(i).filter(|_| is_known);
            let weight = mass.map_or(1.0, f64::abs);
            let far = x[i].abs().max(self.scales.own.get(i).copied().unwrap_or(0.0));
            moved += weight * rates[i] * rates[i];
            length += weight * far * far;
        }
        let (moved, length) = (moved.sqrt(), length.sqrt());
        // Coordinates that are all 0 have no length to go by, but the run has.
        if moved == 0.0 {
            0.0
        } else if length == 0.0 {
            10.0 / self.control.span
        } else {
            moved / length
        }
    }

    /// Whether steps go by residuals: what only the rates hold, such as work, does not limit them.
    pub fn goes_by_residuals(&self) -> bool {
        self.integrator.needs() == Needs::Residual
    }

    /// How often a state has changed by its own size, given the lengths of its components'
    /// paths; those that rounding moves do not count.
    pub fn times(&self, paths: &[f64]) -> f64 {
        let scales = &self.scales;
        let parts = paths.iter().zip(scales.own.iter().zip(&scales.floor));
        let counted = parts.filter(|(_, (own, floor))| self.control.tolerance * **own > **floor);
        let most = counted.fold(0f64, |m, (path, (own, _))| m.max(path / own));
        most / (2.0 * std::f64::consts::PI)
    }

    /// How fast the state changes by its own size, at most: 1 / a time.
    pub(super) fn fastest(&self, x: &[f64], rates: &[f64]) -> f64 {
        let sizes = (0..x.len() - 1).map(|i| {
            let own = self.scales.own.get(i).copied().unwrap_or(0.0);
            (rates[i].abs(), x[i].abs().max(own))
        });
        let rates = sizes.filter(|s| s.1 > 0.0).map(|(rate, size)| rate / size);
        let own: Vec<f64> = rates.filter(|rate| rate.is_finite()).collect();
        largest(&own).max(1.0 / self.control.span)
    }
}
