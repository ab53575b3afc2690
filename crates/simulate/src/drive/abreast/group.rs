//! A group of motions on their way: steps of all of them at once.

use super::guards::Guards;
use super::length::suited;
use super::unseen::Unseen;
use super::weights::Sizes;
use super::{Became, Engine, Lane, Moves, Ready, Took, Traveling, each};
use crate::drive::EventState;
use crate::drive::narrow;
use crate::drive::step_size::smallest_step;
use crate::drive::tolerances::constraints::{HELD, IMPLIED, SHARE};
use crate::integrators::taylor::{DEFECT, LONGER, ROUNDING};
use crate::program::field::Abreast;
use dalembert_compile::{Function, LaneList, Scratch};
use dalembert_machine::{Wide, widest};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the equations leave, over a step and in units of what is allowed, is below this.
const LEFT: f64 = 0.1;
/// Where an entry of S that belongs to a row has grown by this much in a step, rows come near each
/// other.
const NEARER: f64 = 4.0;
/// Unit: part of the way. A step goes no further to where rows seem to lose their rank.
const AHEAD: f64 = 0.8;
/// How they come near each other is seen in this part of a step, where none was taken before.
const GLANCE: f64 = 1.0 / 64.0;
/// Where time is in the forces, rates are held against those of the series at the ends of so many
/// parts of a step: a push may begin and end inside.
const PARTS: usize = 8;
/// Rounds in which the length of a step is found, if it is not about that of the last one.
const ROUNDS: usize = 5;
/// What components may be off by hardly changes between steps whose lengths differ by less.
const TWICE: f64 = 2.0;
/// A motion that is turned down more often in a row leaves.
const TURNED_DOWN: u32 = 8;
/// So many steps are taken before the driver looks at a motion, which may be stiff.
const UNSEEN: u32 = 4096;

/// Motions side by side.
pub(super) struct Group<const W: usize, E> {
    ready: Ready,
    engine: E,
    registers: [Scratch; 3],
    /// Those that were served.
    back: VecDeque<Traveling>,
    /// How many lanes there are: not known to the compiler, which would take loops apart.
    width: usize,
    /// What each lane moves.
    who: [Option<Traveling>; W],
    t: Lane<W>,
    end: Lane<W>,
    /// The last step, or a part of one that was turned down.
    h: Lane<W>,
    is_first: [bool; W],
    turned_down: [u32; W],
    /// How many steps were tried since the motion came.
    tried: [u32; W],
    /// q and v at hand, and at the end of the step.
    x: LaneList<W>,
    next: LaneList<W>,
    /// Rates there: by the terms, and by the series.
    rates: LaneList<W>,
    ends: LaneList<W>,
    /// t, q, v and parameters.
    input: LaneList<W>,
    variables: LaneList<W>,
    /// The terms at hand, and at the end.
    here: LaneList<W>,
    there: LaneList<W>,
    held: LaneList<W>,
    residuals: LaneList<W>,
    column: LaneList<W>,
    weights: LaneList<W>,
    errors: LaneList<W>,
    last: [LaneList<W>; 2],
    sizes: Sizes<W>,
    verdict: [Verdict; W],
    /// What is not to be zero, where there is something.
    guards: Option<Guards<W>>,
    /// What does not show in series, where there is something.
    unseen: Option<Unseen<W>>,
    /// Whether a lane's motion may be moved here, by what it is to meet.
    may_go: [bool; W],
    /// How much the entries of S that belong to rows have grown, in which time; not a number where
    /// that is not known yet.
    grown: Lane<W>,
    grown_in: Lane<W>,
}

/// What is said of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Taken,
    /// A shorter one is tried.
    TurnedDown,
    Leaves,
    /// So it does, ahead of an event or a turn.
    Meets,
}

impl<const W: usize, E: Engine<W>> Group<W, E> {
    pub(super) fn new(ready: &Ready, engine: E) -> Group<W, E> {
        let parts = &*ready.parts;
        let components = parts.n + parts.size;
        let list = LaneList::new;
        let [phi, psi] = parts.residual_counts;
        let prepared = |function: Option<&Arc<dyn Function>>| {
            let Some(function) = function else { return Scratch::default() };
            let mut scratch = function.scratch();
            function.prepare(&mut scratch, &parts.own);
            scratch
        };
        let registers = [
            prepared(Some(&parts.terms)),
            prepared(parts.hold.as_ref()),
            prepared(parts.residuals.as_ref()),
        ];
        Group {
            engine,
            registers,
            back: VecDeque::new(),
            width: W,
            who: std::array::from_fn(|_| None),
            t: [0.0; W],
            end: [0.0; W],
            h: [0.0; W],
            is_first: [true; W],
            turned_down: [0; W],
            tried: [0; W],
            x: list(components),
            next: list(components),
            rates: list(components),
            ends: list(components),
            input: list(parts.inputs + parts.parameters),
            variables: list(parts.series_places.parameters + parts.parameters),
            here: list(parts.places.count),
            there: list(parts.places.count),
            held: list(1 + parts.rows.len() * parts.size + phi + psi),
            residuals: list(phi + psi),
            column: list(parts.size + parts.all_rows),
            weights: list(components),
            errors: list(components),
            last: [list(components), list(components)],
            sizes: Sizes::new(parts.n, parts.size, &ready.measures),
            verdict: [Verdict::Taken; W],
            guards: Guards::new(parts, ready.order),
            unseen: Unseen::new(parts, ready.order),
            may_go: [true; W],
            grown: [f64::NAN; W],
            grown_in: [0.0; W],
            ready: ready.clone(),
        }
    }

    /// Gives motions to lanes that have none.
    fn fill(&mut self, next: &mut dyn FnMut() -> Option<Traveling>, took: &mut Took<'_>) {
        while self.who.iter().any(Option::is_none) {
            let mut fresh = [false; W];
            for lane in 0..W {
                if self.who[lane].is_none()
                    && let Some(motion) = self.back.pop_front().or_else(&mut *next)
                {
                    self.load(lane, motion);
                    fresh[lane] = true;
                }
            }
            if !fresh.contains(&true) {
                return;
            }
            widest(Begin { group: self, fresh });
            for lane in (0..W).filter(|lane| fresh[*lane]) {
                if self.verdict[lane] != Verdict::Taken
                    && let Some(motion) = self.who[lane].take()
                {
                    self.back.extend(took(Became::Leaves(motion)));
                }
            }
        }
    }

    fn load(&mut self, lane: usize, motion: Traveling) {
        let parts = &self.ready.parts;
        let first = parts.inputs;
        for (place, &value) in self.input[first..].iter_mut().zip(&*motion.parameters) {
            place[lane] = value;
        }
        let first = parts.series_places.parameters;
        for (place, &value) in self.variables[first..].iter_mut().zip(&*motion.parameters) {
            place[lane] = value;
        }
        if let Some(guards) = &mut self.guards {
            self.may_go[lane] = guards.load(lane, parts, &motion);
            let branches = guards.branches();
            let places = parts.inputs - branches.len()..parts.inputs;
            for list in [&mut self.input, &mut self.variables] {
                let own = list[places.clone()].iter_mut();
                own.zip(branches).for_each(|(place, &value)| place[lane] = value);
            }
        }
        self.x.iter_mut().zip(&motion.x).for_each(|(place, &value)| place[lane] = value);
        let [origin, own] = &motion.sizes;
        let is_new = origin.is_empty();
        for (i, place) in self.sizes.origin[..parts.n].iter_mut().enumerate() {
            place[lane] = if is_new { motion.x[i] } else { origin[i] };
        }
        for (i, place) in self.sizes.own.iter_mut().enumerate() {
            place[lane] = if is_new { 0.0 } else { own[i] };
        }
        (self.t[lane], self.end[lane]) = (motion.t, motion.end);
        self.is_first[lane] = motion.h == 0.0;
        self.h[lane] = if motion.h == 0.0 { motion.end - motion.t } else { motion.h };
        (self.turned_down[lane], self.tried[lane]) = (0, 0);
        self.grown[lane] = f64::NAN;
        self.who[lane] = Some(motion);
    }

    /// What is said of a lane's step.
    fn settle(&mut self, lane: usize, took: &mut Took<'_>) {
        let Some(motion) = &mut self.who[lane] else { return };
        let is_there = match self.verdict[lane] {
            Verdict::Taken => {
                motion.steps += 1;
                motion.abreast += 1;
                self.t[lane] == self.end[lane]
            }
            Verdict::TurnedDown => {
                motion.rejected += 1;
                self.turned_down[lane] += 1;
                false
            }
            Verdict::Meets => {
                motion.meets = true;
                false
            }
            Verdict::Leaves => false,
        };
        self.tried[lane] += 1;
        let is_long =
            motion.steps + motion.rejected >= self.ready.most_steps || self.tried[lane] >= UNSEEN;
        let is_stuck = self.turned_down[lane] > TURNED_DOWN
            || self.h[lane] < 64.0 * smallest_step(self.t[lane], self.end[lane]);
        let leaves = matches!(self.verdict[lane], Verdict::Leaves | Verdict::Meets);
        let leaves = leaves || is_long || is_stuck;
        if self.verdict[lane] == Verdict::Taken {
            self.turned_down[lane] = 0;
        }
        if !is_there && !leaves {
            return;
        }
        let Some(mut motion) = self.who[lane].take() else { return };
        motion.t = self.t[lane];
        let take = |list: &mut Vec<f64>, from: &[Lane<W>]| {
            list.clear();
            list.extend(from.iter().map(|value| value[lane]));
        };
        take(&mut motion.x, &self.x);
        take(&mut motion.sizes[0], &self.sizes.origin[..self.ready.parts.n]);
        take(&mut motion.sizes[1], &self.sizes.own);
        motion.h = self.h[lane];
        if let Some(guards) = &self.guards {
            motion.events.get_or_insert_with(|| EventState::armed(guards.events_of(lane)));
        }
        let became = if is_there { Became::Arrived(motion) } else { Became::Leaves(motion) };
        self.back.extend(took(became));
    }

    #[inline(always)]
    fn call(function: &dyn Function, registers: &mut Scratch, x: &[Lane<W>], y: &mut [Lane<W>]) {
        let (x, y) = (x.as_flattened(), y.as_flattened_mut());
        match W {
            1 => function.call(registers, x, y),
            _ => function.call_many(registers, W, x, y),
        }
    }

    /// The terms at times and states.
    #[inline(always)]
    fn rate(&mut self, t: Lane<W>, is_next: bool) {
        let Group { ready, registers, x, next, input, there, .. } = self;
        let x = if is_next { next } else { x };
        input[0] = t;
        input[1..=x.len()].copy_from_slice(x);
        Self::call(&*ready.parts.terms, &mut registers[0], input, there);
    }

    /// Takes over what was found at the end, of some lanes.
    #[inline(always)]
    fn take_terms(&mut self, lanes: &[bool; W]) {
        if lanes.iter().all(|taken| *taken) {
            return std::mem::swap(&mut self.here, &mut self.there);
        }
        for (here, there) in self.here.iter_mut().zip(&self.there) {
            *here = each(|lane| if lanes[lane] { there[lane] } else { here[lane] });
        }
    }

    /// q̇ and v̇ of terms.
    #[inline(always)]
    fn rates_of(parts: &Abreast, terms: &[Lane<W>], x: &[Lane<W>], rates: &mut [Lane<W>]) {
        let (first, second) = rates.split_at_mut(parts.n);
        match parts.is_rate {
            true => first.copy_from_slice(&x[parts.n..]),
            false => first.copy_from_slice(&terms[..parts.n]),
        }
        second.copy_from_slice(&terms[parts.places.rates..][..parts.size]);
    }

    /// The terms at the states of new lanes, which leave at once where these are no numbers or
    /// the constraints do not hold.
    #[inline(always)]
    fn begin(&mut self, fresh: [bool; W]) {
        self.rate(self.t, false);
        self.take_terms(&fresh);
        self.sizes.see(&self.x, &fresh);
        let parts = &*self.ready.parts;
        let order = parts.size + parts.rows.len();
        let [phi, _] = parts.residual_counts;
        let residuals = &self.here[parts.places.residuals..];
        let mut is_off = [false; W];
        for i in 0..parts.size {
            let mut off = [[0.0; W]; 2];
            for (k, held) in parts.held.iter().enumerate() {
                let entry = self.here[parts.places.inverse + (parts.size + k) * order + i];
                for (off, at) in off.iter_mut().zip([held[0], held[1].map(|at| phi + at)]) {
                    let Some(at) = at else { continue };
                    *off = each(|lane| off[lane] + entry[lane] * residuals[at][lane]);
                }
            }
            for lane in 0..W {
                let sizes = [self.x[i][lane], self.x[parts.n + i][lane]].map(f64::abs);
                let most = [self.largest(0, lane), self.largest(parts.n, lane)];
                for ((off, size), most) in off.iter().zip(sizes).zip(most) {
                    is_off[lane] |= !(off[lane].abs() <= HELD * size.max(most));
                }
            }
        }
        let last = self.here[parts.places.last];
        for lane in 0..W {
            let may_go = self.who[lane].as_ref().is_none_or(|motion| motion.is_quiet);
            let is_good = may_go && self.may_go[lane] && last[lane].is_finite() && !is_off[lane];
            self.verdict[lane] = if is_good { Verdict::Taken } else { Verdict::Leaves };
        }
    }

    /// The largest position or velocity of a lane.
    fn largest(&self, first: usize, lane: usize) -> f64 {
        let count = if first == 0 { self.ready.parts.n } else { self.ready.parts.size };
        self.x[first..first + count].iter().fold(0f64, |m, x| m.max(x[lane].abs()))
    }

    /// The series at the states at hand; what is left of the equations there, as accelerations.
    #[inline(always)]
    fn expand(&mut self) {
        let parts = &*self.ready.parts;
        let (n, size, rows) = (parts.n, parts.size, &parts.rows);
        let at = parts.series_places;
        let (engine, here) = (&mut self.engine, &self.here);
        let rates = &here[parts.places.rates..][..size];
        let variables = &mut self.variables;
        variables[0] = self.t;
        variables[1..=n + size].copy_from_slice(&self.x);
        variables[at.rates..at.rates + size].copy_from_slice(rates);
        for (k, row) in rows.iter().enumerate() {
            variables[at.multipliers + row] = here[parts.places.multipliers + k];
        }
        engine.begin(variables, parts.values.map(|first| &here[first..]));
        engine.set(0, 1, [1.0; W]);
        for (j, rate) in rates.iter().enumerate() {
            engine.set(at.velocities + j, 1, *rate);
        }
        for i in 0..n {
            if parts.is_rate {
                engine.set(1 + i, 1, self.x[n + i]);
                engine.set(1 + i, 2, rates[i].map(|rate| 0.5 * rate));
            } else {
                let rate = engine.output(at.kinematics + i);
                engine.set(1 + i, 1, rate);
            }
        }
        let order = size + rows.len();
        for equation in 0..order {
            let from = &here[parts.places.inverse + equation * order..][..order];
            self.column[..size].copy_from_slice(&from[..size]);
            for (row, value) in rows.iter().zip(&from[size..]) {
                self.column[size + row] = *value;
            }
            let number = match equation.checked_sub(size) {
                None => parts.columns[equation],
                Some(k) => size + rows[k],
            };
            engine.set_inverse(number, &self.column);
        }
        engine.run();
        let [last, before] = &mut self.last;
        engine.sizes(self.ready.order, last);
        engine.sizes(self.ready.order - 1, before);
    }

    /// What is left of Γ v̇ = F + C + Aᵀλ, as accelerations, in units of what is allowed over steps.
    #[inline(always)]
    fn left(&self, h: &Lane<W>) -> Lane<W> {
        let parts = &*self.ready.parts;
        let (n, size, order) = (parts.n, parts.size, parts.size + parts.rows.len());
        let mut most = [0.0; W];
        for i in 0..size {
            let mut sum = [0.0; W];
            for (equation, &column) in parts.columns.iter().enumerate() {
                let entry = &self.here[parts.places.inverse + equation * order + i];
                let left = self.engine.output(column);
                sum = each(|lane| sum[lane] + entry[lane] * left[lane]);
            }
            let weight = &self.weights[n + i];
            most = each(|lane| most_of(most[lane], sum[lane].abs() * h[lane] * weight[lane]));
        }
        most
    }

    /// How long the steps may be.
    #[inline(always)]
    fn measure(&mut self) -> Lane<W> {
        let ready = &self.ready;
        let (order, [meant, meant_before]) = (ready.order, ready.meant);
        Self::rates_of(&ready.parts, &self.here, &self.x, &mut self.rates);
        self.sizes.couple(&self.x, &ready.measures);
        let remaining: Lane<W> = each(|lane| self.end[lane] - self.t[lane]);
        let mut h: Lane<W> = each(|lane| self.h[lane].min(remaining[lane]));
        let limit: Lane<W> = each(|lane| match self.is_first[lane] {
            true => remaining[lane],
            false if self.turned_down[lane] > 0 => h[lane],
            false => LONGER * h[lane],
        });
        // What components may be off by goes by how far a step takes them. What is found of a lane
        // has to be the same whatever the others do: rounds that are not its own change nothing.
        let (mut by, mut is_own) = (h, [true; W]);
        for _ in 0..ROUNDS {
            self.sizes.weigh((&self.x, &self.rates), by, &ready.measures, &mut self.weights);
            let (mut last, mut before) = ([0.0; W], [0.0; W]);
            let terms = self.last[0].iter().zip(&self.last[1]);
            for (weight, (own, own_before)) in self.weights.iter().zip(terms) {
                last = each(|lane| most_of(last[lane], weight[lane] * own[lane]));
                before = each(|lane| most_of(before[lane], weight[lane] * own_before[lane]));
            }
            let mut found = [0.0; W];
            let into = &mut found[..self.width];
            suited(
                (&last[..self.width], meant),
                (&before[..self.width], meant_before),
                order,
                into,
            );
            h = each(|lane| if is_own[lane] { found[lane].min(limit[lane]) } else { h[lane] });
            for lane in 0..W {
                is_own[lane] &= h[lane] > TWICE * by[lane] || by[lane] > TWICE * h[lane];
            }
            if !is_own.contains(&true) {
                break;
            }
            by = each(|lane| if is_own[lane] { h[lane] } else { by[lane] });
        }
        each(|lane| {
            if h[lane] >= remaining[lane] * (1.0 - 1e-9) {
                remaining[lane]
            } else {
                h[lane].min(0.5 * remaining[lane])
            }
        })
    }

    /// Brings ends of steps back onto the constraints; the corrections in units of what is allowed.
    #[inline(always)]
    fn hold(&mut self, t: Lane<W>) -> Lane<W> {
        let Group { ready, registers, next, input, held, residuals, weights, .. } = self;
        let (parts, mut most) = (&*ready.parts, [0.0; W]);
        let Some(hold) = &parts.hold else { return most };
        let (n, size) = (parts.n, parts.size);
        let [phi, psi] = parts.residual_counts;
        input[0] = t;
        input[1..=n + size].copy_from_slice(next);
        Self::call(&**hold, &mut registers[1], input, held);
        let (columns, found) = held[1..].split_at(parts.rows.len() * size);
        residuals.copy_from_slice(&found[..phi + psi]);
        if let Some(again) = &parts.residuals {
            for i in 0..n {
                let by = correction(columns, size, i, &parts.held, 0, residuals);
                next[i] = each(|lane| next[i][lane] - by[lane]);
                let weight = &weights[i];
                most = each(|lane| most_of(most[lane], SHARE * by[lane].abs() * weight[lane]));
            }
            input[1..=n].copy_from_slice(&next[..n]);
            Self::call(&**again, &mut registers[2], input, residuals);
            // What is left of positions is to be nothing.
            for i in 0..n {
                let by = correction(columns, size, i, &parts.held, 0, residuals);
                let weight = &weights[i];
                most = each(|lane| most_of(most[lane], by[lane].abs() * weight[lane]));
            }
        }
        for j in 0..size {
            let by = correction(columns, size, j, &parts.held, 1, &residuals[phi..]);
            next[n + j] = each(|lane| next[n + j][lane] - by[lane]);
            let weight = &weights[n + j];
            most = each(|lane| most_of(most[lane], SHARE * by[lane].abs() * weight[lane]));
        }
        most
    }

    /// How far rates at the end of steps are from those of the series, in units of what is allowed.
    #[inline(always)]
    fn defect(&mut self, h: Lane<W>) -> Lane<W> {
        let by = 1.0 / (DEFECT * (self.ready.order + 1) as f64);
        let errors = self.errors.as_flattened_mut();
        let count = errors.len();
        let [ends, rates, weights] =
            [&self.ends, &self.rates, &self.weights].map(|list| &list.as_flattened()[..count]);
        for k in 0..count {
            let off = (ends[k] - rates[k]).abs();
            let (a, b) = (ends[k].abs(), rates[k].abs());
            let is_rounding = off <= ROUNDING * if a > b { a } else { b };
            errors[k] = if is_rounding { 0.0 } else { off * by * weights[k] };
        }
        let mut most = [0.0; W];
        for error in &self.errors {
            most = each(|lane| most_of(most[lane], error[lane] * h[lane]));
        }
        most
    }

    /// The same inside of steps, where something may come in time.
    #[inline(always)]
    fn defect_inside(&mut self, h: &Lane<W>) -> Lane<W> {
        let mut most = [0.0; W];
        for k in 1..if self.ready.is_timed { PARTS } else { 1 } {
            let part: Lane<W> = each(|lane| h[lane] * (k as f64 / PARTS as f64));
            self.engine.evaluate(part, &mut self.next, &mut self.ends);
            self.rate(each(|lane| self.t[lane] + part[lane]), true);
            Self::rates_of(&self.ready.parts, &self.there, &self.next, &mut self.rates);
            self.measure_new(h);
            let defect = self.defect(*h);
            most = each(|lane| most_of(most[lane], defect[lane]));
        }
        most
    }

    /// The same where something stands out inside of steps that does not show in series.
    #[inline(always)]
    fn defect_at_places(&mut self, h: &Lane<W>) -> Lane<W> {
        let mut most = [0.0; W];
        let Some(mut unseen) = self.unseen.take() else { return most };
        for k in narrow::FIRST {
            self.sample_part(&mut unseen, h, k);
        }
        if (0..W).any(|lane| self.who[lane].is_some() && unseen.may_stand_out(lane)) {
            for k in narrow::others() {
                self.sample_part(&mut unseen, h, k);
            }
        }
        for lane in 0..W {
            match &self.who[lane] {
                Some(_) => unseen.find(lane, (self.t[lane], h[lane]), &self.engine, &self.input),
                None => unseen.places[lane].clear(),
            }
        }
        // What is found of a lane has to be the same whatever the others do.
        for round in 0..unseen.places.iter().map(Vec::len).max().unwrap_or(0) {
            let of_lane = |lane: usize| unseen.places[lane].get(round).copied();
            let theta: Lane<W> = each(|lane| of_lane(lane).unwrap_or(0.0));
            let part: Lane<W> = each(|lane| h[lane] * theta[lane]);
            self.engine.evaluate(part, &mut self.next, &mut self.ends);
            self.rate(each(|lane| self.t[lane] + part[lane]), true);
            Self::rates_of(&self.ready.parts, &self.there, &self.next, &mut self.rates);
            let defect = self.defect(*h);
            for lane in (0..W).filter(|lane| round < unseen.places[*lane].len()) {
                most[lane] = most_of(most[lane], defect[lane]);
            }
        }
        self.unseen = Some(unseen);
        most
    }

    /// Takes the arguments of what does not show at the place of a sample.
    #[inline(always)]
    fn sample_part(&mut self, unseen: &mut Unseen<W>, h: &Lane<W>, k: usize) {
        let part: Lane<W> = each(|lane| h[lane] * narrow::place_of(k));
        self.engine.evaluate(part, &mut self.next, &mut self.ends);
        for lane in (0..W).filter(|lane| self.who[*lane].is_some()) {
            unseen.sample((k, lane), self.t[lane] + part[lane], &self.next, &self.input);
        }
    }

    /// Measures what had no size where the steps began. Tells of each lane whether there is
    /// something to go by; where nothing moves that may be moved, the driver looks after it.
    #[inline(always)]
    fn measure_new(&mut self, h: &Lane<W>) -> [bool; W] {
        let smallest = self.weights.as_flattened().iter().copied().fold(f64::INFINITY, f64::min);
        let mut moves = [true; W];
        if smallest > 0.0 {
            return moves;
        }
        let Group { ready, sizes, next, rates, weights, .. } = self;
        for lane in 0..W {
            sizes.weigh_new(lane, (next, rates), h[lane], &ready.measures, weights);
            moves[lane] = !ready.is_timed || weights.iter().any(|weight| weight[lane] > 0.0);
        }
        moves
    }

    /// Whether lanes may go on: pivots hold, rows do not come near each other, and those that are not
    /// in use hold like the others.
    #[inline(always)]
    fn is_quiet(&self, growth: &Lane<W>) -> [bool; W] {
        let parts = &*self.ready.parts;
        let mut quiet: [bool; W] = self.there[parts.places.last].map(f64::is_finite);
        for lane in 0..W {
            quiet[lane] &= growth[lane] <= NEARER;
        }
        let [phi, _] = parts.residual_counts;
        for unused in &parts.unused {
            for (level, at) in unused.residuals.iter().enumerate() {
                let Some(at) = at.map(|at| at + level * phi) else { continue };
                let mut terms = [0.0; W];
                for &(coordinate, entry) in &unused.entries {
                    let entry = &self.there[entry];
                    let x = &self.next[coordinate + level * parts.n];
                    terms = each(|lane| terms[lane] + (entry[lane] * x[lane]).abs());
                }
                let left = &self.there[parts.places.residuals + at];
                for lane in 0..W {
                    quiet[lane] &= left[lane].abs() <= IMPLIED * terms[lane];
                }
            }
        }
        quiet
    }

    /// By how much the entries of S that belong to rows are larger than those at hand, at most.
    #[inline(always)]
    fn growth(&self) -> Lane<W> {
        let parts = &*self.ready.parts;
        let order = parts.size + parts.rows.len();
        let mut most = [0.0; W];
        for k in parts.size..order {
            let at = parts.places.inverse + k * order + k;
            let (before, after) = (&self.here[at], &self.there[at]);
            most = each(|lane| most_of(most[lane], after[lane].abs() / before[lane].abs()));
        }
        most
    }

    /// Whether steps stay ahead of where rows seem to lose their rank: the entries of S grow as
    /// 1/(τ − t)² then, where σ, by which rows are apart, goes to 0 as τ − t does. The last step
    /// tells; ahead of a first one, a glance.
    #[inline(always)]
    fn stays_ahead(&mut self, h: &Lane<W>) -> [bool; W] {
        if self.ready.parts.rows.is_empty() {
            return [true; W];
        }
        let is_fresh = self.grown.map(f64::is_nan);
        if is_fresh.contains(&true) {
            let part: Lane<W> = each(|lane| GLANCE * h[lane]);
            self.engine.evaluate(part, &mut self.next, &mut self.ends);
            self.rate(each(|lane| self.t[lane] + part[lane]), true);
            let growth = self.growth();
            for lane in (0..W).filter(|lane| is_fresh[*lane]) {
                (self.grown[lane], self.grown_in[lane]) = (growth[lane], part[lane]);
            }
        }
        let mut stays = [true; W];
        for lane in 0..W {
            // h ≤ AHEAD τ with τ = h₀/(√g − 1).
            let pace = self.grown[lane].sqrt() - 1.0;
            stays[lane] = h[lane] * pace <= AHEAD * self.grown_in[lane];
        }
        stays
    }

    /// Whether nothing that is watched is zero in a lane's step.
    #[inline]
    fn keeps_sides(&mut self, lane: usize, h: f64) -> bool {
        if self.who[lane].is_none() {
            return true;
        }
        let Group { guards, engine, input, t, .. } = self;
        guards.as_mut().is_none_or(|guards| guards.keep(lane, (t[lane], h), engine, input))
    }

    /// A step of all lanes.
    #[inline(always)]
    fn advance(&mut self) {
        self.expand();
        let h = self.measure();
        let left = self.left(&h);
        let ahead = self.stays_ahead(&h);
        let t: Lane<W> = each(|lane| {
            let is_last = h[lane] == self.end[lane] - self.t[lane];
            if is_last { self.end[lane] } else { self.t[lane] + h[lane] }
        });
        let inside = self.defect_inside(&h);
        let unseen = self.defect_at_places(&h);
        self.engine.evaluate(h, &mut self.next, &mut self.ends);
        let corrected = self.hold(t);
        self.rate(t, true);
        Self::rates_of(&self.ready.parts, &self.there, &self.next, &mut self.rates);
        let moves = self.measure_new(&h);
        let defect = self.defect(h);
        let growth = self.growth();
        let quiet = self.is_quiet(&growth);
        let mut taken = [false; W];
        for lane in 0..W {
            let error = most_of(most_of(corrected[lane], defect[lane]), inside[lane]);
            let verdict = match error {
                _ if !(left[lane] <= LEFT && h[lane] > 0.0 && moves[lane]) => Verdict::Leaves,
                _ if !(unseen[lane] <= 1.0) => Verdict::Meets,
                e if e <= 1.0 && !(quiet[lane] && ahead[lane]) => Verdict::Leaves,
                e if e <= 1.0 && !self.keeps_sides(lane, h[lane]) => Verdict::Meets,
                e if e <= 1.0 => Verdict::Taken,
                _ => Verdict::TurnedDown,
            };
            taken[lane] = verdict == Verdict::Taken;
            self.verdict[lane] = verdict;
            match verdict {
                Verdict::Taken => {
                    (self.t[lane], self.h[lane]) = (t[lane], h[lane]);
                    (self.grown[lane], self.grown_in[lane]) = (growth[lane], h[lane]);
                }
                Verdict::TurnedDown => self.h[lane] = 0.5 * h[lane],
                Verdict::Leaves | Verdict::Meets => {}
            }
            self.is_first[lane] &= !taken[lane];
        }
        self.take_terms(&taken);
        for (x, next) in self.x.iter_mut().zip(&self.next) {
            *x = each(|lane| if taken[lane] { next[lane] } else { x[lane] });
        }
        self.sizes.see(&self.x, &taken);
    }
}

impl<const W: usize, E: Engine<W> + Send> Moves for Group<W, E> {
    fn go(&mut self, next: &mut dyn FnMut() -> Option<Traveling>, took: &mut Took<'_>) {
        loop {
            self.fill(next, took);
            if self.who.iter().all(Option::is_none) {
                return;
            }
            widest(Advance { group: self });
            for lane in 0..W {
                self.settle(lane, took);
            }
        }
    }
}

/// The larger of two, and what is no number if one is.
#[inline(always)]
fn most_of(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}

/// Σ S_ik r_k of the rows in use that have such a residual.
#[inline(always)]
fn correction<const W: usize>(
    columns: &[Lane<W>],
    size: usize,
    at: usize,
    held: &[[Option<usize>; 2]],
    level: usize,
    residuals: &[Lane<W>],
) -> Lane<W> {
    let mut sum = [0.0; W];
    for (k, held) in held.iter().enumerate() {
        if let Some(place) = held[level] {
            let (entry, residual) = (&columns[k * size + at], &residuals[place]);
            sum = each(|lane| entry[lane].mul_add(residual[lane], sum[lane]));
        }
    }
    sum
}

struct Advance<'a, const W: usize, E> {
    group: &'a mut Group<W, E>,
}

impl<const W: usize, E: Engine<W>> Wide for Advance<'_, W, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.group.advance();
    }
}

struct Begin<'a, const W: usize, E> {
    group: &'a mut Group<W, E>,
    fresh: [bool; W],
}

impl<const W: usize, E: Engine<W>> Wide for Begin<'_, W, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.group.begin(self.fresh);
    }
}
