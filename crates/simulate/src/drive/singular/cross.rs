//! Through positions in which the constraints lose a rank.
//!
//! Where a mechanism could go on in more than one way the rank of A drops at one position
//! (all rods of a parallelogram on a line). On a smooth branch through it the accelerations
//! are smooth functions of time; it is their evaluation that breaks down, with errors like
//! ε/σ², σ ~ |t − t*| being the smallest singular value. So the motion is carried across by
//! one step of Gauss–Legendre collocation with t* at its middle, between two nodes:
//!
//! ```text
//! X_i = x₀ + h Σ a_ij f(P(X_j)),      P the projection onto φ = 0 and ψ = 0
//! ```
//!
//! The first guess follows the rates of the nodes before, as a multistep method does, and so
//! the branch by continuity. That one smooth branch was followed is shown afterwards: the
//! polynomial satisfies the constraints between its nodes, t* included, and its last
//! coefficients are below the tolerance. Where this fails no smooth continuation was found;
//! where the motion comes to rest at t* every branch has equal right. The run ends there.
//!
//! Only runs with error control and projection cross, and not in a chart: that wears out
//! there.

use crate::drive::events::land::EventsInStep;
use crate::drive::pass::{Arrival, Pass, Record};
use crate::drive::singular::change::{RankChange, Unresolved};
use crate::drive::singular::collocation::RULE;
use crate::drive::singular::distance::Margins;
use crate::drive::singular::step::{Crossing, Mark, RowSet, nearest};
use crate::drive::tolerances::singular::{
    BEHIND, FAR, GOES_ON, LOST, MIDDLE, NEAR, NEAREST, NOISE, REACH, THERE, VANISHES,
};
use crate::drive::{Driver, End, Failure, RANK, Sample, Stabilize};
use crate::integrators::Problem;
use crate::program::field::FieldError;
use crate::program::projection::Violation;
use dalembert_gauss::outcome;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What the driver knows about singular positions.
pub(in crate::drive) struct Crossings {
    pub(in crate::drive) margins: Margins,
    trail: VecDeque<Mark>,
    /// The rows in use at the last mark.
    pub(in crate::drive) set: Arc<RowSet>,
    /// Room for a state, and of marks that are no more.
    spare: Vec<f64>,
    room: Vec<(Vec<f64>, Vec<f64>)>,
    /// The position ahead was tried in vain.
    refused: bool,
    /// A position on the constraints in which the rank drops and that could not be passed.
    missed: Option<RankChange>,
}

impl Default for Crossings {
    fn default() -> Crossings {
        Crossings {
            margins: Margins::default(),
            trail: VecDeque::with_capacity(TRAIL + 1),
            set: Arc::default(),
            spare: Vec::new(),
            room: Vec::new(),
            refused: false,
            missed: None,
        }
    }
}

/// Ends of steps that are kept.
const TRAIL: usize = 12;
/// Steps whose ends tell where the motion goes,
const AHEAD: usize = 4;
/// Parts of a way that are looked at where it is foretold.
const PARTS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
/// Shorter parts of the way to where a margin seems to vanish do not lead beyond it.
const UNSEEN: f64 = 0.2;
/// Parts of a way that are not told apart on it.
const NARROW: f64 = 0.005;

/// What became of a try.
enum Tried {
    Crossed(Box<Crossing>),
    /// As good as rounding allows, with what its polynomial leaves out.
    Noisy(Box<Crossing>, f64),
    /// The step was too long for the polynomial.
    TooLong,
    Refused,
    AtRest(RankChange, Box<Crossing>),
}

impl Driver {
    /// Whether singular positions can be crossed at all.
    fn crosses(&self) -> bool {
        self.adapts()
            && self.control.stabilize == Stabilize::Projection
            && self.field.equations.chart.is_none()
            && self.expected.is_some_and(|e| e.0 > 0)
    }

    /// Remembers the state as the end of a step.
    pub(in crate::drive) fn mark(&mut self, pass: &Pass) {
        if !self.crosses() {
            return;
        }
        let is_first = self.crossings.trail.is_empty();
        let speed = is_first.then(|| {
            let x = std::mem::take(&mut self.x);
            let speed = self.speed(self.t, &x, &pass.rates);
            self.x = x;
            speed
        });
        let crossings = &mut self.crossings;
        let margin = crossings.margins.mark(&mut self.field, self.t, &self.x).unwrap_or(1.0);
        if crossings.trail.back().is_some_and(|last| margin > last.margin) {
            crossings.refused = false;
        }
        let (mut x, mut rates) = crossings.room.pop().unwrap_or_default();
        x.clone_from(&self.x);
        rates.clone_from(&pass.rates);
        let mark = Mark { t: self.t, x, margin, rates, speed, set: self.same_set() };
        let trail = &mut self.crossings.trail;
        trail.push_back(mark);
        if trail.len() > TRAIL {
            // Steps that have become short leave the long ones before them in place.
            let (mut closest, mut least) = (1, f64::INFINITY);
            let around = trail.iter().zip(trail.iter().skip(2)).enumerate();
            for (i, (before, after)) in around {
                let gap = (after.t - before.t).abs();
                if gap < least {
                    (closest, least) = (i + 1, gap);
                }
            }
            if let Some(mark) = trail.remove(closest) {
                self.crossings.room.push((mark.x, mark.rates));
            }
        }
    }

    /// Forgets the way: what is smooth begins anew here.
    pub(in crate::drive) fn forget(&mut self) {
        let Crossings { trail, room, .. } = &mut self.crossings;
        room.extend(trail.drain(..).map(|mark| (mark.x, mark.rates)));
    }

    /// Forgets the motion.
    pub(in crate::drive) fn forget_crossings(&mut self) {
        self.forget();
        let Crossings { margins, refused, missed, .. } = &mut self.crossings;
        margins.forget();
        (*refused, *missed) = (false, None);
    }

    /// The largest speed at the ends of the last steps.
    fn fastest_mark(&mut self) -> f64 {
        let trail = std::mem::take(&mut self.crossings.trail);
        let fastest = trail.iter().fold(0f64, |most, mark| most.max(self.speed_at(mark)));
        self.crossings.trail = trail;
        fastest
    }

    /// How fast the state is at the end of a step.
    fn speed_at(&mut self, mark: &Mark) -> f64 {
        mark.speed.unwrap_or_else(|| self.speed(mark.t, &mark.x, &mark.rates))
    }

    /// The length of steps before they are shortened by what is ahead.
    fn usual(&self) -> f64 {
        let trail = &self.crossings.trail;
        let gaps = trail.iter().zip(trail.iter().skip(1)).map(|(a, b)| (b.t - a.t).abs());
        gaps.fold(self.h.abs(), f64::max)
    }

    /// When the rank will drop, if that is soon and the margin falls straight to 0.
    fn singular_ahead(&mut self, pass: &Pass) -> Option<f64> {
        let trail = &self.crossings.trail;
        let last = trail.back().filter(|last| last.t == self.t)?;
        let margin = last.margin;
        // Most margins do not fall, and nothing more is asked of them.
        let slope = match trail.len() > 1 {
            true => {
                let before = &trail[trail.len() - 2];
                (before.margin - margin) / (self.t - before.t).abs()
            }
            false => f64::INFINITY,
        };
        if !(slope > 0.0) {
            return None;
        }
        let usual = self.usual();
        if !(margin < FAR * slope * usual) {
            return None;
        }
        let eta = 1e-4 * self.h;
        let mut ahead = std::mem::take(&mut self.crossings.spare);
        ahead.clear();
        ahead.extend(self.x.iter().zip(&pass.rates).map(|(x, d)| x + eta * d));
        let margins = &mut self.crossings.margins;
        let there = margins.margin(&mut self.field, self.t + eta, &ahead);
        self.crossings.spare = ahead;
        let there = there?;
        let slope = (margin - there) / eta.abs();
        (slope > 0.0 && margin < FAR * slope * usual)
            .then(|| self.t + pass.forward * margin / slope)
    }

    /// Looks for a position ahead in which the rank drops: crosses it if it is near,
    /// shortens the next step if it is not. `Some` if it was crossed.
    pub(in crate::drive) fn approach(
        &mut self,
        pass: &mut Pass,
        record: &mut Record<'_>,
    ) -> Result<Option<ControlFlow<End>>, Failure> {
        if !self.crosses() || self.crossings.refused {
            return Ok(None);
        }
        let Some(when) = self.singular_ahead(pass) else { return Ok(None) };
        let distance = (when - self.t).abs();
        // A run that ends shortly before it ends on a polynomial across it.
        if pass.forward * (when - pass.end) > 0.5 * distance {
            return Ok(None);
        }
        if distance > REACH * self.usual() {
            // Not beyond it unseen: the margin may fall faster than it does here.
            self.h = self.h.signum() * self.h.abs().min(0.5 * distance);
            self.do_not_pass(distance);
            return Ok(None);
        }
        if !self.falls_until(when) {
            return Ok(None);
        }
        self.cross(pass, when, record)
    }

    /// Whether the margin goes on falling on the way to where it seems to vanish: rows that only
    /// become shorter for a while do not. The way is the method's own where it knows it ahead of a
    /// step, else the polynomial through the last steps.
    fn falls_until(&mut self, when: f64) -> bool {
        let trail = &self.crossings.trail;
        let Some(margin) = trail.back().map(|last| last.margin) else { return true };
        let distance = when - self.t;
        // A margin that falls faster and faster is 0 before it seems to be, and has risen there.
        if distance.abs() <= REACH * self.h.abs()
            && let Some((part, lowest)) = self.foretold(distance)
        {
            let share = if part < 1.0 { VANISHES } else { GOES_ON };
            return lowest < share * margin;
        }
        if self.crossings.trail.len() < AHEAD {
            return true;
        }
        let mut there = std::mem::take(&mut self.crossings.spare);
        there.clear();
        there.resize(self.x.len(), 0.0);
        self.follow_trail(when, &mut there);
        let ahead = self.crossings.margins.margin(&mut self.field, when, &there);
        self.crossings.spare = there;
        ahead.is_none_or(|ahead| ahead < GOES_ON * margin)
    }

    /// The lowest margin on the way that the method foretells, and at which part of it; where it
    /// falls to much less, as low as a search finds it. Where a rank drops it falls to 0.
    fn foretold(&mut self, distance: f64) -> Option<(f64, f64)> {
        let margin = self.crossings.trail.back()?.margin;
        let mut there = std::mem::take(&mut self.crossings.spare);
        there.clear();
        there.resize(self.x.len(), 0.0);
        let mut at = |part: f64| {
            let ahead = part * distance;
            self.integrator.foretell(self.t, ahead, &mut there).then(|| {
                let margins = &mut self.crossings.margins;
                margins.margin(&mut self.field, self.t + ahead, &there).unwrap_or(0.0)
            })
        };
        let mut lowest = (0.0, f64::INFINITY);
        for part in PARTS {
            let own = at(part)?;
            lowest = if own < lowest.1 { (part, own) } else { lowest };
        }
        let mut width = 0.5 * PARTS[0];
        while lowest.1 < GOES_ON * margin && width > NARROW {
            for part in [lowest.0 - width, lowest.0 + width] {
                let own = at(part)?;
                lowest = if own < lowest.1 { (part, own) } else { lowest };
            }
            width *= 0.5;
        }
        self.crossings.spare = there;
        Some(lowest)
    }

    /// A step that would pass a position unseen is shortened to lead before it.
    fn do_not_pass(&mut self, distance: f64) {
        let Some(margin) = self.crossings.trail.back().map(|last| last.margin) else { return };
        if self.h.abs() > UNSEEN * distance
            && let Some((part, lowest)) = self.foretold(self.h)
            && part < 1.0
            && lowest < VANISHES * margin
        {
            self.h *= 0.5 * part;
        }
    }

    /// The polynomial through the last steps, at a time.
    fn follow_trail(&self, when: f64, there: &mut [f64]) {
        let last = self.crossings.trail.iter().rev().take(AHEAD);
        for mark in last.clone() {
            let others = last.clone().filter(|other| other.t != mark.t);
            let weight: f64 = others.map(|o| (when - o.t) / (mark.t - o.t)).product();
            there.iter_mut().zip(&mark.x).for_each(|(sum, x)| *sum += weight * x);
        }
    }

    /// After a failure: whether the rank drops here, and the motion can be carried on.
    pub(in crate::drive) fn recover(
        &mut self,
        pass: &mut Pass,
        failure: Failure,
        record: &mut Record<'_>,
    ) -> Result<ControlFlow<End>, Failure> {
        let is_singular = matches!(
            failure,
            Failure::Field(_) | Failure::RankLost { .. } | Failure::StepTooSmall { .. }
        );
        if !is_singular || !self.crosses() {
            return Err(failure);
        }
        // Steps that are so short have not left where the trail begins.
        let begins = self.crossings.trail.len() == 1
            || self
                .crossings
                .trail
                .front()
                .is_some_and(|first| (self.t - first.t).abs() <= THERE * pass.length);
        if let Failure::RankLost { expected, found, constraints } = &failure
            && found > expected
            && begins
        {
            let change = RankChange {
                t: self.crossings.trail[0].t,
                before: *found,
                at: *expected,
                after: Some(*found),
                constraints: constraints.clone(),
                stopped: None,
            };
            return self.depart(pass, change, record);
        }
        if begins {
            let mark = self.crossings.trail[0].clone();
            let now = (self.t, std::mem::replace(&mut self.x, mark.x));
            self.t = mark.t;
            if let explained @ Failure::Unresolved(_) = self.singular_start(failure.clone()) {
                return Err(explained);
            }
            // What begins as too few rows demand is no motion of them all: components that
            // are at rest would have to go otherwise from the first, however short the step.
            let (violation, expected, rank) = (self.violation, self.expected, pass.rank);
            let set = self.row_set();
            if let Some((change, _)) = self.lower_here() {
                let beside = self.beside();
                let chosen = self.projection.choose(&mut self.field, self.t, &beside, RANK);
                chosen.map_err(Failure::Field)?;
                match self.depart(pass, change, record) {
                    // Rows that depend on each other on all of the constraints.
                    Err(Failure::Unresolved(_)) => self.rank_changes.pop(),
                    left => return left,
                };
            }
            (self.violation, self.expected, pass.rank) = (violation, expected, rank);
            self.use_set(&set);
            (self.t, self.x) = now;
        }
        if !self.crossings.refused
            && let Some(flow) = self.cross(pass, self.t, record)?
        {
            return Ok(flow);
        }
        Err(failure)
    }

    /// A state beside the driver's, on the constraints if they have one there: rows that depend
    /// on each other where they hold are independent off them, which is no change of rank.
    fn beside(&self) -> Vec<f64> {
        let mut x = around(&self.x, &self.field.noise().extents);
        let n = self.field.n;
        if let Some(q) = crate::points::start::place(self.field.setting(), self.t, &x[..n]) {
            x[..n].copy_from_slice(&q);
        }
        x
    }

    /// The change of rank at the driver's state if the rank is higher everywhere around, and
    /// the verdict there. The rows of around are in use afterwards.
    fn lower_here(&mut self) -> Option<(RankChange, outcome::Verdict)> {
        let (t, x, beside) = (self.t, self.x.clone(), self.beside());
        let here = self.field.choose_rows(t, &x, RANK).ok()?;
        let (at, motion) = (here.rank.jacobian, here.motion);
        let constraints = self.dependent_rows();
        // Of another kind where the constraints are independent, or none.
        let before = self.field.choose_rows(t, &beside, RANK).ok()?.rank.jacobian;
        let after = Some(before);
        let change = RankChange { t, before, at, after, constraints, stopped: None };
        (at < before).then_some((change, motion))
    }

    /// What a failure at the start means where the rank is higher everywhere around.
    pub(in crate::drive) fn singular_start(&mut self, failure: Failure) -> Failure {
        let is_singular = matches!(
            failure,
            Failure::Field(FieldError::NoMotion(_)) | Failure::StepTooSmall { .. }
        );
        let Some((change, motion)) = self.lower_here().filter(|_| is_singular) else {
            return failure;
        };
        let (t, x) = (self.t, self.x.clone());
        let mut rates = vec![0.0; x.len()];
        let moves = self.field.choose_rows(t, &x, RANK).is_ok()
            && self.field.rates(t, &x, &mut rates).is_ok();
        let why = match motion {
            outcome::Verdict::Inconsistent => Unresolved::NoBranch,
            _ if moves && self.speed(t, &x, &rates) <= self.control.tolerance => Unresolved::AtRest,
            _ => return failure,
        };
        let change = RankChange { after: None, stopped: Some(why), ..change };
        self.rank_changes.push(change.clone());
        Failure::Unresolved(change)
    }

    /// Leaves a start in which the rank is lower than on the way from it, along the branch
    /// that the velocity is tangent to.
    fn depart(
        &mut self,
        pass: &mut Pass,
        change: RankChange,
        record: &mut Record<'_>,
    ) -> Result<ControlFlow<End>, Failure> {
        let mut mark = self.crossings.trail[0].clone();
        mark.set = self.same_set();
        let rank = change.after.unwrap_or(change.before);
        let stop = |this: &mut Self, why: Unresolved| {
            let change = RankChange { after: None, stopped: Some(why), ..change.clone() };
            (this.t, this.x) = (mark.t, mark.x.clone());
            this.rank_changes.push(change.clone());
            Err(Failure::Unresolved(change))
        };
        let speed = self.speed_at(&mark);
        if !(speed > self.control.tolerance) {
            return stop(self, Unresolved::AtRest);
        }
        // The step that showed the higher rank is not taken.
        self.violation = Violation::default();
        self.expected = Some((rank, outcome::Verdict::Unique));
        pass.rank = rank;
        let allowed = (10.0 * self.control.tolerance).max(1e-10);
        let mut h = pass.forward * pass.length.min(0.5 / speed);
        for _ in 0..12 {
            if let Some(mut crossing) = self.collocate(&mark, h, false) {
                let (tail, is_noise) = self.tail(&crossing.passage);
                let is_good = tail <= 1.0 || is_noise && tail * self.control.tolerance <= NOISE;
                if is_good && self.between(&crossing.passage, 1.0) <= allowed {
                    crossing.at = 0.0;
                    crossing.change = Some(change);
                    self.h = 0.25 * h;
                    return self.take_across(pass, crossing, record);
                }
            }
            h *= 0.5;
        }
        stop(self, Unresolved::NotSmooth)
    }

    /// Crosses a position at about the given time, from the nearest end of a step that
    /// allows it.
    fn cross(
        &mut self,
        pass: &mut Pass,
        when: f64,
        record: &mut Record<'_>,
    ) -> Result<Option<ControlFlow<End>>, Failure> {
        self.crossings.missed = None;
        let set = self.row_set();
        let marks: Vec<Mark> = self.crossings.trail.iter().rev().cloned().collect();
        let usual = self.usual();
        let mut best: Option<(Box<Crossing>, f64)> = None;
        for mark in marks {
            let distance = pass.forward * (when - mark.t);
            if distance > FAR * usual.max(1e-3 * pass.length) {
                break;
            }
            if distance <= crate::drive::step_size::smallest_step(mark.t, pass.end) {
                continue;
            }
            match self.cross_from(&mark, when) {
                Tried::Crossed(crossing) => {
                    return self.take_across(pass, *crossing, record).map(Some);
                }
                Tried::AtRest(change, crossing) => {
                    self.rank_changes.push(change.clone());
                    let t = change.t;
                    if self.deliver_inside(pass, &crossing, t, record)?.is_break() {
                        return Ok(Some(ControlFlow::Break(End::Interrupted)));
                    }
                    (self.t, self.x) = (t, crossing.passage.state(crossing.at));
                    self.field.known_rates = Some(crossing.passage.rates(crossing.at));
                    return Err(Failure::Unresolved(change));
                }
                // A longer step keeps its nodes further away from where there is noise.
                Tried::Noisy(crossing, tail) => {
                    if best.as_ref().is_none_or(|b| tail < b.1) {
                        best = Some((crossing, tail));
                    }
                }
                Tried::TooLong if best.is_some() => break,
                Tried::TooLong if mark.t == self.t && distance > NEAREST * usual => {
                    return Ok(self.come_nearer(&set, distance));
                }
                Tried::TooLong | Tried::Refused => {}
            }
        }
        if let Some((crossing, _)) = best {
            return self.take_across(pass, *crossing, record).map(Some);
        }
        // What could not be followed from afar may be followed from nearby.
        let distance = pass.forward * (when - self.t);
        if self.crossings.missed.is_some() && distance > NEAREST * usual {
            self.crossings.missed = None;
            return Ok(self.come_nearer(&set, distance));
        }
        self.use_set(&set);
        if let Some(change) = self.crossings.missed.take() {
            self.rank_changes.push(change.clone());
            return Err(Failure::Unresolved(change));
        }
        self.crossings.refused = true;
        Ok(None)
    }

    /// Leaves a position for a later try, from a state nearer to it.
    fn come_nearer(&mut self, set: &RowSet, distance: f64) -> Option<ControlFlow<End>> {
        self.use_set(set);
        self.h = self.h.signum() * self.h.abs().min(0.5 * distance);
        None
    }

    fn cross_from(&mut self, mark: &Mark, when: f64) -> Tried {
        let allowed = (10.0 * self.control.tolerance).max(1e-10);
        let mut h = 2.0 * (when - mark.t);
        for round in 0..8 {
            let Some(mut crossing) = self.collocate(mark, h, true) else {
                // Its end may lie where the rank drops, if it slows down on the way there.
                if round == 0 {
                    h *= 1.6;
                    continue;
                }
                return Tried::TooLong;
            };
            let Some((at, margin)) = self.lowest(&crossing.passage, &crossing.sets) else {
                return Tried::Refused;
            };
            crossing.at = at;
            if at > 0.95 {
                h *= 1.6;
                continue;
            }
            let is_lost = margin < LOST;
            if is_lost && (at - 0.5).abs() > MIDDLE {
                h *= 2.0 * at;
                continue;
            }
            let change = is_lost.then(|| self.change(&crossing.passage, &crossing.sets, at));
            if let Some((change, kept)) = change {
                crossing.kept = Some(kept);
                let rates = crossing.passage.rates(at);
                let speed = self.speed(self.t, &crossing.passage.state(at), &rates);
                // Whether it gets there at all is less than the tolerance tells.
                let least = (100.0 * self.control.tolerance).sqrt();
                let fastest = self.fastest_mark();
                if speed <= least * fastest {
                    let stopped = Some(Unresolved::AtRest);
                    let change = RankChange { stopped, after: None, ..change };
                    return Tried::AtRest(change, Box::new(crossing));
                }
                // Beside the constraints it is no position of the motion: a near miss. Neither is
                // one that the motion has left behind without meeting it.
                let behind = h.signum() * (self.t - change.t);
                let is_ahead = behind <= BEHIND * (when - mark.t).abs();
                if is_ahead && self.violation_on(&crossing.passage, at, 0.0) <= allowed {
                    let stopped = Some(Unresolved::NotSmooth);
                    let change = RankChange { stopped, after: None, ..change.clone() };
                    self.crossings.missed = Some(change);
                }
                crossing.change = Some(change);
            }
            let (tail, is_noise) = self.tail(&crossing.passage);
            return match self.between(&crossing.passage, 0.0) <= allowed {
                true if tail <= 1.0 => Tried::Crossed(Box::new(crossing)),
                true if is_noise && tail * self.control.tolerance <= NOISE => {
                    Tried::Noisy(Box::new(crossing), tail)
                }
                _ if !is_noise && tail > 1.0 => Tried::TooLong,
                _ => Tried::Refused,
            };
        }
        Tried::Refused
    }

    /// Moves to the end of a crossing.
    fn take_across(
        &mut self,
        pass: &mut Pass,
        crossing: Crossing,
        record: &mut Record<'_>,
    ) -> Result<ControlFlow<End>, Failure> {
        self.crossings.missed = None;
        self.crossings.trail.clear();
        let mut t = crossing.passage.t + crossing.passage.h;
        let mut next = crossing.end.clone();
        if pass.forward * (t - pass.end) >= 0.0 {
            t = pass.end;
            next = self.inside(&crossing, t)?.0;
        }
        let mut events = None;
        match self.events_across(pass, &crossing.passage, t) {
            EventsInStep::Nothing => {}
            EventsInStep::PiledUp(event) => {
                return Ok(ControlFlow::Break(End::PiledUp { event, t: self.t }));
            }
            EventsInStep::Events(found) => {
                t = self.t + found.theta * (t - self.t);
                next = self.inside(&crossing, t)?.0;
                events = Some((found.events, self.h));
            }
        }
        if self.deliver_inside(pass, &crossing, t, record)?.is_break() {
            return Ok(ControlFlow::Break(End::Interrupted));
        }
        let Crossing { passage, sets, change, at, .. } = crossing;
        let theta = passage.theta(t);
        let change = change.filter(|_| theta >= at);
        self.use_set(&sets[nearest(&RULE.nodes, theta)]);
        if (theta - at).abs() >= NEAR {
            self.hold(t, &mut next).map_err(Failure::Field)?;
        }
        if let Some(dense) = &mut self.dense {
            let degree = RULE.nodes.len() + 1;
            dense.keep((self.t, t), degree, &next, &mut |time, x| {
                x.copy_from_slice(&passage.state(passage.theta(time)))
            });
        }
        // It may begin where rows have no terms.
        let end = passage.t + passage.h;
        let beside = if at == 0.0 { (end, passage.state(1.0)) } else { (passage.t, passage.start) };
        let beside = (beside.0, beside.1.as_slice());
        let violation = self.projection.violation_beside(&mut self.field, (t, &next), beside);
        let violation = violation.map_err(Failure::Field)?;
        self.violation.position = self.violation.position.max(violation.position);
        self.violation.velocity = self.violation.velocity.max(violation.velocity);
        if let Some(change) = change {
            self.ranks.0 = self.ranks.0.min(change.at);
            self.rank_changes.push(change);
        }
        pass.next.copy_from_slice(&next);
        pass.rejected_last = false;
        let (h, error) = (self.h, 0.1);
        let arrival = Arrival {
            t,
            h,
            whole: h,
            error,
            turned: false,
            is_dense: false,
            events,
            piled_up: None,
            rated: None,
        };
        self.land_on(pass, arrival, record)
    }

    /// Records the outputs before a time inside of a crossing.
    fn deliver_inside(
        &mut self,
        pass: &mut Pass,
        crossing: &Crossing,
        t: f64,
        record: &mut Record<'_>,
    ) -> Result<ControlFlow<()>, Failure> {
        let inside = |time: &&f64| pass.forward * (**time - t) < 0.0;
        let wanted = pass.outputs.iter().take_while(inside).count();
        let (now, later) = pass.outputs.split_at(wanted);
        pass.outputs = later;
        for &t in now {
            let (x, known) = self.inside(crossing, t)?;
            self.field.known_rates = known;
            let jumped = self.jumped;
            let sample = Sample { t, x: &x, rates: None, is_output: true, is_step: false, jumped };
            let flow = record(&mut self.field, sample);
            self.field.known_rates = None;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// A state inside of a crossing, and its rates where they are not to be solved for.
    fn inside(
        &mut self,
        crossing: &Crossing,
        t: f64,
    ) -> Result<(Vec<f64>, Option<Vec<f64>>), Failure> {
        let Crossing { passage, sets, at, kept, .. } = crossing;
        let theta = passage.theta(t);
        let mut x = passage.state(theta);
        self.use_set(&sets[nearest(&RULE.nodes, theta)]);
        if (theta - at).abs() >= NEAR {
            self.hold(t, &mut x).map_err(Failure::Field)?;
            return Ok((x, None));
        }
        // The others hold as well as they can be told apart here.
        if let Some(kept) = kept {
            self.use_set(kept);
            self.hold(t, &mut x).map_err(Failure::Field)?;
        }
        Ok((x, Some(passage.rates(theta))))
    }
}

/// A state around `x`, on the constraints or not.
fn around(x: &[f64], extents: &[f64]) -> Vec<f64> {
    let beside = crate::noise::state::beside(x, extents, 0);
    let far = 1e-3 / crate::noise::state::DIGITS;
    x.iter().zip(beside).map(|(x, b)| x + far * (b - x)).collect()
}
