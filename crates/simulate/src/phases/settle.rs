//! From a state to its phase.
//!
//! 1. Who touches: closed contacts, those whose gap has just become 0, and those whose gap is 0 to
//!    rounding. 2. If any of these approaches, an impact, at once or in turn; without the model's word
//!    on which, only one on which both agree. 3. Who rests (gap' = 0) and which slips are 0. 4. The
//!    decision of all modes at acceleration level, which has to leave one motion.
//!
//! Where a load, or an acceleration, is 0 at the edge of a mode several modes have the same motion: as
//! at the very instant a contact opens or a friction breaks away. Then the one is taken that is decided
//! a little ahead along that motion (a step so short that nothing else changes, so long that a load
//! that grows is above rounding); if that tells nothing either, the one in which less slips and less
//! is held.

use crate::phases::Fault;
use crate::phases::facts::{Facts, FactsAt, GapAt, Row};
use crate::setting::{Setting, State};
use dalembert_gauss::contact::Touches;
use dalembert_gauss::contact::cone::Trial;
use dalembert_model::system::{Change, Contact, Impacts, Model, Phase, Touched};

/// A gap is 0 below this part of what it is made of,
const TOUCHES: f64 = 1e-11;
/// and below this part of the largest coordinates.
const NEAR: f64 = 1e-14;
/// Where a run comes to the zero of one gap others may be beyond theirs by as much as zeros are found
/// to before a step ends there: by this part.
const PASSES: f64 = 1e-9;
/// A rate of a gap, or a slip, is 0 below this part of the terms it is made of,
const RESTS: f64 = 1e-10;
/// and below this part of the largest velocities.
const SLOW: f64 = 1e-14;
/// A hop is lower than can be seen below this part of what its gap is made of.
const HOPS: f64 = 1e-13;
/// What struck slower than so many times the rate it parts with is a bounce, with others beside it or
/// without.
const SLOWLY: f64 = 100.0;
/// A condition is on one side of 0 above so many times its rounding errors;
const CLEAR: f64 = 8.0;
/// where it has just passed 0, times are known to this part of the run.
const PASSED: f64 = 1e-9;
/// Conditions that velocities change with are found together with these within so many rounds.
const CONDITIONS: usize = 8;
/// Bounds that hold unknowns are found together with these within so many rounds.
pub(super) const ROUNDS: usize = 200;
/// A slip of several components is at rest below this part of the velocities it is made of.
const SLOWEST: f64 = 1e-10;
/// One that begins has a direction above this part of them,
const LEAST: f64 = 4e-13;
/// and is at rest below this part of what it has then, until it is clear of what is.
const BEGINS: f64 = 0.25;
/// Where one comes to rest, others that come to rest with it are as slow but for this factor.
const TOGETHER: f64 = 8.0;

/// How slow is at rest, for a slip of several components. They are as large as what they are made of
/// where the phase begins, and as what they may be made of later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slow {
    /// The velocities it is made of.
    size: f64,
    /// How much of another velocity it may be.
    reach: f64,
    /// What begins is as slow as that: infinite once it is clear of what is at rest.
    begins: f64,
}

impl Slow {
    pub(super) fn of(rows: &[Row]) -> Slow {
        let size = rows.iter().map(|row| row.size).sum();
        let reach = rows.iter().map(|row| largest(&row.entries)).fold(0.0, f64::max);
        Slow { size, reach, begins: f64::INFINITY }
    }

    /// The same where the slip begins, now as fast as that.
    fn begun(self, speed: f64) -> Slow {
        Slow { begins: BEGINS * speed, ..self }
    }

    /// The same of one that is clear of what is at rest.
    pub fn clear(self) -> Slow {
        Slow { begins: f64::INFINITY, ..self }
    }

    /// Slower than this is at rest, in a motion that has been as fast as `fast`.
    pub fn limit(self, fast: f64) -> f64 {
        (SLOWEST * self.whole(fast)).min(self.begins)
    }

    /// Slower than this it has no direction.
    pub(super) fn least(self, fast: f64) -> f64 {
        LEAST * self.whole(fast)
    }

    /// The velocities that it is made of, or may be.
    pub fn whole(self, fast: f64) -> f64 {
        self.size.max(self.reach * fast)
    }
}

/// An impact.
#[derive(Clone, Debug, PartialEq)]
pub struct Struck {
    /// Normal impulses by contact; 0 where it does not take part.
    pub impulses: Vec<f64>,
    /// By how much the energy changes, as seen by the walls: not positive.
    pub energy: f64,
}

impl Struck {
    /// One impact after another at the same time.
    fn both(first: Option<Struck>, second: Option<Struck>) -> Option<Struck> {
        let (Some(first), Some(second)) = (&first, &second) else { return first.or(second) };
        let impulses = first.impulses.iter().zip(&second.impulses).map(|(a, b)| a + b).collect();
        Some(Struck { impulses, energy: first.energy + second.energy })
    }
}

/// What a run knows of the state it is at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The phase so far; none at the start.
    pub before: Option<Shown>,
    /// Contacts whose gap has just become 0.
    pub hits: Vec<usize>,
    /// Frictions whose slip has just become 0.
    pub stops: Vec<usize>,
    /// Frictions whose slip has several components and has just turned by a right angle.
    pub turns: Vec<usize>,
    /// Contacts whose condition has just passed 0: those that were there are not, and the others are.
    pub flips: Vec<usize>,
    /// Contacts whose condition has passed 0 at this time before: its zero is where a step ends, which
    /// is not to the last digit where its value vanishes.
    pub flipped: Vec<usize>,
    /// Contacts whose impacts pile up here: they come to rest.
    pub rests: Vec<usize>,
    /// Whether velocities were set from outside since: what was closed may move.
    pub is_reset: bool,
    /// How long the run is.
    pub span: f64,
    /// The largest coordinate and velocity there were: where all of them pass 0, nothing else tells how
    /// large rounding is.
    pub sizes: [f64; 2],
}

/// Contacts and frictions as they are seen: also those that bear no load of their own, since others
/// bear it for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// By contact, whether it is closed.
    pub closed: Vec<bool>,
    /// By contact, whether its condition holds.
    pub there: Vec<bool>,
    /// By friction, whether it sticks.
    pub sticks: Vec<bool>,
    /// By contact, whether its load is not unique.
    pub open_load: Vec<bool>,
    /// By friction, the same.
    pub open_force: Vec<bool>,
}

/// A slip of several components along a direction.
pub(super) fn along(rows: &[Row], direction: &[f64]) -> Row {
    let mut sum = Row { entries: vec![0.0; rows[0].entries.len()], ..Row::default() };
    for (row, d) in rows.iter().zip(direction) {
        sum.value += d * row.value;
        sum.size += (d * row.size).abs();
        sum.bias += d * row.bias;
        sum.entries.iter_mut().zip(&row.entries).for_each(|(s, a)| *s += d * a);
    }
    sum
}

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    /// The state, after an impact if there was one.
    pub state: State,
    /// The phase in which it goes on. Contacts whose load others bear are open in it.
    pub phase: Phase,
    /// As it is seen.
    pub shown: Shown,
    /// Contacts that are closed by the rows of others: their gaps stay 0.
    pub idle: Vec<usize>,
    /// Contacts that touch and do not part, and are open: what their gaps do next is rounding.
    pub grazing: Vec<usize>,
    /// For slips of several components, how slow is at rest.
    pub slow: Vec<Slow>,
    /// The directions of these.
    pub from: Vec<Vec<f64>>,
    /// The largest velocity so far.
    pub fast: f64,
    /// Velocities are those of so much later, for slips that begin.
    pub late: f64,
    /// Whether it is proved that there is no other motion.
    pub proved: bool,
    /// The accelerations with which it goes on; empty if there was nothing to decide.
    pub v_dot: Vec<f64>,
    /// The impact.
    pub struck: Option<Struck>,
    /// What changed.
    pub changes: Vec<(Touched, Change)>,
}

impl Settled {
    /// A state at which nothing was decided.
    pub fn loose(state: State, shown: &Shown) -> Settled {
        Settled {
            state,
            phase: Phase { closed: Vec::new(), modes: Vec::new() },
            shown: shown.clone(),
            idle: Vec::new(),
            grazing: Vec::new(),
            slow: Vec::new(),
            from: Vec::new(),
            fast: 0.0,
            late: 0.0,
            proved: true,
            v_dot: Vec::new(),
            struck: None,
            changes: Vec::new(),
        }
    }
}

/// The decision of a model.
pub(crate) struct Deciding<'a> {
    pub facts: &'a Facts,
    pub model: &'a Model,
    /// The setting of the model.
    pub setting: &'a Setting,
    /// What the model says of impacts.
    pub impacts: Option<Impacts>,
}

impl Deciding<'_> {
    /// Finds the phase of a state.
    pub fn settle(&self, state: &State, known: &Known) -> Result<Settled, Fault> {
        let mut settled = self.settle_there(state, known)?;
        // Conditions on velocities may hold after an impact that did not before it.
        for _ in 0..CONDITIONS {
            if settled.struck.is_none() {
                break;
            }
            let again = Known {
                before: Some(settled.shown.clone()),
                is_reset: true,
                flips: Vec::new(),
                flipped: [&known.flips[..], &known.flipped].concat(),
                ..known.clone()
            };
            let at = self.facts.at_within(&settled.state, known.sizes).map_err(Fault::State)?;
            if self.there(&at, &again) == settled.shown.there {
                break;
            }
            let first = settled.struck.take();
            settled = self.settle_there(&settled.state, &again)?;
            settled.struck = Struck::both(first, settled.struck);
            settled.changes = changes(self.model, known.before.as_ref(), &settled);
        }
        Ok(settled)
    }

    /// The same by the conditions of contacts before the impact.
    fn settle_there(&self, state: &State, known: &Known) -> Result<Settled, Fault> {
        let mut settled = self.settled(state, known)?;
        let mut known = known.clone();
        // What comes to rest may leave others that hop on.
        for _ in 0..self.model.system.contacts.len() {
            let hops = self.hops(&settled, &known)?;
            if hops.is_empty() {
                break;
            }
            // What struck as slowly comes to rest as it strikes. Of an impact that was none of these
            // only what it leaves does: it stays what it was.
            let at = self.facts.at_within(state, known.sizes).map_err(Fault::State)?;
            let is_slow =
                |&(c, rate): &(usize, f64)| at.gaps[c].row.value.abs() <= SLOWLY * rate.abs();
            let are_slow = hops.iter().all(is_slow);
            known.rests.extend(hops.into_iter().map(|hop| hop.0));
            if are_slow {
                settled = self.settled(state, &known)?;
                continue;
            }
            let again = Known { is_reset: true, ..known.clone() };
            let first = settled.struck.take();
            settled = self.settled(&settled.state, &again)?;
            settled.struck = Struck::both(first, settled.struck);
            settled.changes = changes(self.model, known.before.as_ref(), &settled);
            break;
        }
        Ok(settled)
    }

    /// Contacts that part so slowly, and come together again so soon, that their gaps are nothing
    /// but rounding all the while: no zero of them would be seen, and they are at rest. Each with how
    /// fast it parts.
    fn hops(&self, settled: &Settled, known: &Known) -> Result<Vec<(usize, f64)>, Fault> {
        if settled.shown.closed.iter().all(|&closed| closed) {
            return Ok(Vec::new());
        }
        let at = self.facts.at_within(&settled.state, known.sizes).map_err(Fault::State)?;
        let far = reach(&settled.state).max(known.sizes[0]);
        let mut v_dot = settled.v_dot.clone();
        let mut hops = Vec::new();
        for (c, gap) in at.gaps.iter().enumerate() {
            let (row, small) = (&gap.row, HOPS * gap.size);
            let touches = settled.shown.there[c] && gap.gap.abs() <= nothing(gap, far);
            // What does not part was decided on with the rest.
            let parts = row.value > 0.0 && !settled.grazing.contains(&c);
            if settled.shown.closed[c] || !touches || !parts {
                continue;
            }
            if v_dot.is_empty() {
                let space = at.space(&Touches::default());
                v_dot = space.map_err(Fault::Space)?.v_dot;
            }
            let second: f64 =
                row.entries.iter().zip(&v_dot).map(|(a, v)| a * v).sum::<f64>() - row.bias;
            if second < 0.0 && row.value * row.value <= -2.0 * second * small {
                hops.push((c, row.value));
            }
        }
        Ok(hops)
    }

    /// The same, if no contact hops.
    fn settled(&self, state: &State, known: &Known) -> Result<Settled, Fault> {
        let mut state = state.clone();
        let mut at = self.facts.at_within(&state, known.sizes).map_err(Fault::State)?;
        self.check(&at)?;
        let there = self.there(&at, known);
        let touching = self.touching(&at, &there, &state, known)?;
        let was_closed = |c: usize| known.before.as_ref().is_some_and(|b| b.closed[c]);
        let is_kept = |c: usize| was_closed(c) && !known.is_reset;
        // Velocities of gaps: what was closed is at rest.
        let speed = largest(&state.velocity).max(known.sizes[1]);
        let slow = |row: &Row| RESTS * row.size + SLOW * total(&row.entries) * speed;
        let mut rates: Vec<f64> = (0..at.gaps.len())
            .map(|c| {
                let row = &at.gaps[c].row;
                if is_kept(c) || row.value.abs() <= slow(row) { 0.0 } else { row.value }
            })
            .collect();
        let mut struck = None;
        let approaches = (0..at.gaps.len()).any(|c| touching[c] && rates[c] < 0.0);
        let rests = known.rests.iter().any(|&c| touching[c]);
        if approaches || rests {
            let (velocity, record, after) =
                self.strike(&at, &state, &touching, &rates, &known.rests)?;
            state = self.with_velocity(&state, velocity)?;
            for c in (0..at.gaps.len()).filter(|&c| touching[c]) {
                let row = &at.gaps[c].row;
                let small = slow(row).max(RESTS * row.value.abs());
                rates[c] = if after[c].abs() <= small { 0.0 } else { after[c] };
            }
            struck = Some(record);
            at = self.facts.at_within(&state, known.sizes).map_err(Fault::State)?;
        }
        let is_struck = struck.is_some() || known.is_reset;
        let resting: Vec<bool> =
            (0..at.gaps.len()).map(|c| touching[c] && rates[c] == 0.0).collect();
        let mut stopping = known.stops.iter().chain(&known.turns);
        let stops = stopping.any(|&f| at.slips[f].rows.len() > 1);
        let slips: Vec<Vec<f64>> = (0..at.slips.len())
            .map(|f| {
                let rows = &at.slips[f].rows;
                let sticks = known.before.as_ref().is_some_and(|b| b.sticks[f]) && !is_struck;
                let mut small: f64 = rows.iter().map(slow).sum();
                if stops && rows.len() > 1 {
                    small = small.max(TOGETHER * Slow::of(rows).limit(speed));
                }
                let length = rows.iter().map(|row| row.value * row.value).sum::<f64>().sqrt();
                let is_zero = sticks || (known.stops.contains(&f) && !is_struck) || length <= small;
                rows.iter().map(|row| if is_zero { 0.0 } else { row.value }).collect()
            })
            .collect();
        let (found, elements) = self.decide(&at, &state, &resting, &slips, known)?;
        let mut late = 0.0;
        let begins = elements.trials.iter().any(|t| matches!(t, Some(Trial::Begins(_))));
        if let (Some((found, space)), true) = (&found, begins) {
            (state, late) = self.nudged(&at, (found, space, &elements), &state, known)?;
        }
        let v_dot = found.as_ref().map(|(found, space)| {
            let change = space.change(&found.loads);
            space.v_dot.iter().zip(change).map(|(a, d)| a + d).collect()
        });
        let mut slow: Vec<Slow> = at.slips.iter().map(|slip| Slow::of(&slip.rows)).collect();
        let mut settled = self.phase_of(state, found.as_ref(), &elements);
        settled.state = self.laid(&at, settled.state, &touching, &settled.shown.closed)?;
        if begins {
            at = self.facts.at_within(&settled.state, known.sizes).map_err(Fault::State)?;
            let begun = slow.iter_mut().zip(&at.slips).zip(&elements.trials);
            for ((slow, slip), _) in begun.filter(|(_, t)| matches!(t, Some(Trial::Begins(_)))) {
                let values: Vec<f64> = slip.rows.iter().map(|row| row.value).collect();
                *slow = slow.begun(norm(&values));
            }
        }
        (settled.slow, settled.fast, settled.late) = (slow, speed, late);
        settled.from = at.slips.iter().map(|slip| direction(&slip.rows)).collect();
        settled.shown.there = there;
        let grazes = |c: &usize| resting[*c] && !settled.shown.closed[*c];
        settled.grazing = (0..resting.len()).filter(grazes).collect();
        settled.v_dot = v_dot.unwrap_or_default();
        settled.struck = struck;
        settled.changes = changes(self.model, known.before.as_ref(), &settled);
        Ok(settled)
    }

    /// Whether all has a value, and bounds are not negative.
    fn check(&self, at: &FactsAt) -> Result<(), Fault> {
        let is_number =
            |row: &Row| row.value.is_finite() && row.entries.iter().all(|a| a.is_finite());
        let is_known = |g: &GapAt| g.gap.is_finite() && is_number(&g.row);
        // Where its condition fails a gap needs no value.
        let fails = |g: &GapAt| g.condition.as_ref().is_some_and(|c| c.value < 0.0);
        let gaps = at.gaps.iter().all(|g| fails(g) || is_known(g));
        let slips = at.slips.iter().flat_map(|s| &s.rows).all(is_number);
        let contacts = self.model.system.contacts.iter();
        let is_lost = |(gap, contact): (&GapAt, &Contact)| {
            contact.touch.is_some() && !fails(gap) && !is_known(gap)
        };
        match at.gaps.iter().zip(contacts).position(is_lost) {
            Some(contact) => Err(Fault::Degenerate { contact }),
            None if gaps && slips => Ok(()),
            None => Err(Fault::NoValue),
        }
    }

    /// Which contacts are there. A condition is decided by its sign. Where it is 0 to rounding it holds
    /// if the motion goes to where it does, as far as that is known: at a start, after velocities were
    /// set, and beside others that pass 0. What passes 0 has changed its side, and else it is as before.
    fn there(&self, at: &FactsAt, known: &Known) -> Vec<bool> {
        let decides = known.before.is_none() || known.is_reset || !known.flips.is_empty();
        let is_there = |(c, gap): (usize, &GapAt)| {
            let Some(condition) = &gap.condition else { return true };
            let before = known.before.as_ref().map(|before| before.there[c]);
            let was_flipped = known.flipped.contains(&c);
            match before {
                Some(before) if known.flips.contains(&c) => return !before,
                Some(before) if was_flipped && !known.is_reset => return before,
                _ => {}
            }
            let passed = match was_flipped {
                true => PASSED * condition.rate.abs() * known.span.abs(),
                false => 0.0,
            };
            if condition.value.abs() > passed.max(CLEAR * condition.noise) {
                return condition.value > 0.0;
            }
            if decides && condition.rate.abs() > CLEAR * condition.rate_noise {
                return (condition.rate > 0.0) == (known.span >= 0.0);
            }
            before.unwrap_or(true)
        };
        at.gaps.iter().enumerate().map(is_there).collect()
    }

    /// Which contacts touch.
    fn touching(
        &self,
        at: &FactsAt,
        there: &[bool],
        state: &State,
        known: &Known,
    ) -> Result<Vec<bool>, Fault> {
        let far = reach(state).max(known.sizes[0]);
        let mut touching = Vec::new();
        for (c, gap) in at.gaps.iter().enumerate() {
            let was_closed = known.before.as_ref().is_some_and(|b| b.closed[c]);
            let is_known = (was_closed && !known.is_reset)
                || known.hits.contains(&c)
                || known.rests.contains(&c);
            // What was above its surface until here has not been below it.
            let was_there = known.before.as_ref().is_some_and(|b| b.there[c]);
            let passed = PASSES * gap.size.max(total(&gap.row.entries) * far);
            let is_passed = was_there && gap.gap < 0.0 && -gap.gap <= passed;
            let is_zero = is_passed || gap.gap.abs() <= nothing(gap, far);
            let touches = there[c] && (is_known || is_zero);
            if there[c] && !touches && gap.gap < 0.0 {
                return Err(Fault::Penetrates { contact: c, gap: gap.gap });
            }
            touching.push(touches);
        }
        Ok(touching)
    }

    /// The same state with other velocities.
    pub(super) fn with_velocity(&self, state: &State, velocity: Vec<f64>) -> Result<State, Fault> {
        State::of_velocities(self.setting, state.t, state.q.clone(), velocity).map_err(Fault::State)
    }
}

/// The direction of a slip of several components.
fn direction(rows: &[Row]) -> Vec<f64> {
    if rows.len() < 2 {
        return Vec::new();
    }
    let slip: Vec<f64> = rows.iter().map(|row| row.value).collect();
    let length = norm(&slip);
    slip.iter().map(|v| if length > 0.0 { v / length } else { 0.0 }).collect()
}

/// What is different from before.
fn changes(model: &Model, before: Option<&Shown>, settled: &Settled) -> Vec<(Touched, Change)> {
    let Some(before) = before else { return Vec::new() };
    let now = &settled.shown;
    let mut changes = Vec::new();
    for c in 0..now.closed.len() {
        let is_struck = settled.struck.as_ref().is_some_and(|s| s.impulses[c] > 0.0);
        if !before.closed[c] && (now.closed[c] || is_struck) {
            changes.push((Touched::Contact(c), Change::Closes));
        }
        if before.closed[c] && !now.closed[c] {
            changes.push((Touched::Contact(c), Change::Opens));
        }
    }
    for f in 0..now.sticks.len() {
        let contact = model.system.frictions[f].contact;
        let whose = contact.map_or(Touched::Friction(f), Touched::Contact);
        if !before.sticks[f] && now.sticks[f] {
            changes.push((whose, Change::Sticks));
        }
        let acts = contact.is_none_or(|c| now.closed[c]);
        if before.sticks[f] && !now.sticks[f] && acts {
            changes.push((whose, Change::Slips));
        }
    }
    changes
}

/// A gap below this is 0.
fn nothing(gap: &GapAt, far: f64) -> f64 {
    TOUCHES * gap.size + NEAR * total(&gap.row.entries) * far
}

/// The largest coordinate; states beside the coordinates are no lengths of the motion.
pub(crate) fn reach(state: &State) -> f64 {
    largest(&state.q[..state.velocity.len().min(state.q.len())])
}

pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn total(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum()
}

pub(super) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
