//! How a run goes on from one phase of contacts and friction to the next.

use crate::drive::{Driver, End, EventFunctions, Failure, Stuck};
use crate::integrators::dop853;
use crate::phases::piles::Piles;
use crate::phases::{Fault, Known, Settled, Shown, reach};
use crate::points::start::Start;
use crate::program::observer::{Observation, PhaseSeen};
use crate::program::projection::RANK;
use crate::run::method::{AUTO, integrator_for};
use crate::run::options::control_of;
use crate::run::phased::{Compiled, Guard, Phases};
use crate::run::{Program, RunError, RunOptions, Simulation};
use crate::setting::Setting;
use crate::setting::State;
use dalembert_expr::ExprId;
use dalembert_gauss::certificate::Gauss;
use dalembert_model::span::Span;
use dalembert_model::system::{Action, Change, Energy, Touched};
use std::sync::Arc;

/// So many changes of phase at one time are one too many,
const MOST: u32 = 200;
/// and so many decisions, each without a change, within this part of the run.
const IDLE: (u32, f64) = (1000, 1e-6);
/// Zeros are found to this part of the run, and of the time.
const FOUND: f64 = 1e-12;
/// A record of more changes than this keeps the first and the last ones.
const KEPT: usize = 100_000;

/// A change of a contact or friction on a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseChange {
    /// When.
    pub t: f64,
    /// Which contact or friction.
    pub of: Touched,
    /// What.
    pub change: Change,
}

/// Where a motion stuck at switches of forces, and went on sliding along them.
#[derive(Clone, Debug)]
pub struct Sliding {
    /// The state.
    pub state: State,
    /// The switches.
    pub stuck: Vec<Stuck>,
}

/// What contacts and friction did on a run.
#[derive(Clone, Debug, Default)]
pub struct PhaseReport {
    /// How many phases it went through, one after another.
    pub phases: u64,
    /// How many impacts there were.
    pub impacts: u64,
    /// The energy that impacts took, as seen by the walls: not positive.
    pub impact_energy: f64,
    /// At how many of its decisions it is not proved that the motion is the only one.
    pub unproved: u64,
    /// What changed, in order.
    pub changes: Vec<PhaseChange>,
    /// How many changes there were, if not all of them are kept.
    pub count: u64,
    /// Where motions began to slide along switches of forces.
    pub sliding: Vec<Sliding>,
    /// When impacts happened.
    pub impact_times: Vec<f64>,
    /// The largest depth of a contact at the outputs, over the largest coordinate so far.
    pub penetration: f64,
    /// The largest pull of a closed contact at the outputs, over the largest load, or what forces
    /// at hand would be as one.
    pub pull: f64,
    /// The largest excess of a friction that sticks over its bound, over the largest bound, or what
    /// forces at hand would be as one.
    pub excess: f64,
    /// The largest load, and the largest bound, or what the forces at hand would be as one: where
    /// nothing is borne, what is read off is rounding of these.
    sizes: (f64, f64),
    /// The largest pull and excess as they are.
    worst: (f64, f64),
    /// The largest part of what is borne that no sharing of loads bears, where these are not unique.
    unborne: f64,
    /// The same of the last output, which tells nothing where the phase ends by them there: forces
    /// that jump have jumped, and the phase has not changed yet.
    last: Option<Borne>,
}

/// What is borne at an output.
#[derive(Clone, Copy, Debug)]
struct Borne {
    t: f64,
    pull: f64,
    excess: f64,
    sizes: (f64, f64),
    /// The part that no sharing bears.
    unborne: f64,
}

impl PhaseReport {
    /// Counts what was borne at the last output.
    fn count_last(&mut self) {
        let Some(last) = self.last.take() else { return };
        self.sizes = (self.sizes.0.max(last.sizes.0), self.sizes.1.max(last.sizes.1));
        self.worst = (self.worst.0.max(last.pull), self.worst.1.max(last.excess));
        if self.worst.0 > 0.0 {
            self.pull = self.worst.0 / self.sizes.0;
        }
        self.unborne = self.unborne.max(last.unborne);
        if self.worst.1 > 0.0 {
            self.excess = self.worst.1 / self.sizes.1;
        }
        self.excess = self.excess.max(self.unborne);
    }
}

/// Where a run stands among its phases.
pub(crate) struct Going {
    phases: Arc<Phases>,
    guards: Arc<Vec<Guard>>,
    shown: Shown,
    piles: Piles,
    /// A time, and how often the phase has changed there.
    here: (f64, u32),
    /// The contacts whose conditions have passed 0 at this time.
    flipped: Vec<usize>,
    /// The same of decisions that changed nothing, one after another.
    idle: (f64, u32),
    /// The largest coordinate and velocity so far.
    sizes: [f64; 2],
    /// The driver's velocities are those of so much later, for slips that begin.
    pub late: f64,
    /// The energy that impacts have brought.
    pub energy: f64,
    pub report: PhaseReport,
    /// Why it cannot begin.
    fault: Option<Fault>,
    /// The contacts' gaps, and whether they are there; the loads, and the bounds that hold.
    gaps: Vec<ExprId>,
    /// Forces made frictions on the way: the model's own events and rows are as they were.
    setting: Setting,
    /// Whether the model has no contacts or frictions of its own.
    pub lifted: bool,
}

/// A run in its first phase: the program, the start after what happens there, and where it stands.
pub(super) fn begin(
    program: Program,
    options: &RunOptions,
    start: Start,
) -> Result<(Program, Start, Option<Going>), RunError> {
    let Some(phases) = program.phases.clone() else { return Ok((program, start, None)) };
    let known = Known { span: options.end - start.state.t, ..Known::default() };
    let mut going = Going::new(phases);
    going.size(&start.state, [0.0; 2]);
    let (compiled, start) = match going.phases.settle(&start.state, &known) {
        Ok(settled) => {
            let mut compiled = going.phases.program(&settled)?;
            going.take(&settled);
            going.guards = Arc::clone(&compiled.guards);
            going.graze(&mut compiled.program.functions, &settled);
            (compiled, Start { state: settled.state, ..start })
        }
        Err(fault) => {
            going.fault = Some(fault);
            (going.phases.free(&start.state)?, start)
        }
    };
    let Compiled { mut program, guards } = compiled;
    going.guards = guards;
    program.observer.phase = going.seen(&program);
    Ok((program, start, Some(going)))
}

impl Going {
    /// Keeps the sizes of a state, after a motion through others.
    fn size(&mut self, state: &State, [far, fast]: [f64; 2]) {
        let fast = state.velocity.iter().fold(fast, |m, v| m.max(v.abs()));
        self.sizes = [self.sizes[0].max(reach(state)).max(far), self.sizes[1].max(fast)];
    }

    fn new(phases: Arc<Phases>) -> Going {
        let contacts = phases.model().system.contacts.len();
        let frictions = phases.model().system.frictions.len();
        let gaps = phases.model().system.contacts.iter().map(|c| c.gap()).collect();
        let setting = phases.setting().clone();
        Going {
            gaps,
            sizes: [0.0; 2],
            late: 0.0,
            setting,
            lifted: false,
            guards: Arc::default(),
            shown: Shown {
                closed: vec![false; contacts],
                there: vec![true; contacts],
                sticks: vec![false; frictions],
                open_load: vec![false; contacts],
                open_force: vec![false; frictions],
            },
            piles: Piles::default(),
            here: (f64::NAN, 0),
            flipped: Vec::new(),
            idle: (f64::NAN, 0),
            energy: 0.0,
            report: PhaseReport { phases: 1, ..PhaseReport::default() },
            fault: None,
            phases,
        }
    }

    /// Tells the functions of the events which gaps only rounding moves.
    fn graze(&self, functions: &mut Option<EventFunctions>, settled: &Settled) {
        let Some(functions) = functions else { return };
        let grazes = |guard: &Guard| matches!(guard, Guard::Gap(c) if settled.grazing.contains(c));
        let vague = self.guards.iter().enumerate().filter(|(_, guard)| grazes(guard));
        let vague = vague.map(|(at, _)| self.own_events() + at).collect();
        functions.set_vague(vague, self.sizes[0].max(reach(&settled.state)));
    }

    /// What observations tell.
    fn seen(&self, program: &Program) -> Option<Arc<PhaseSeen>> {
        let seen = program.observer.phase.as_ref()?;
        let shown = self.fault.is_none().then(|| self.shown.clone());
        let mut seen = (**seen).clone();
        seen.shown = shown;
        Some(Arc::new(seen))
    }

    /// Takes over what was decided.
    fn take(&mut self, settled: &Settled) {
        if let Some(struck) = &settled.struck {
            self.report.impacts += 1;
            if self.report.impact_times.len() < KEPT {
                self.report.impact_times.push(settled.state.t);
            }
            self.report.impact_energy += struck.energy;
        }
        self.report.unproved += u64::from(!settled.proved);
        let t = settled.state.t;
        for &(of, change) in &settled.changes {
            self.report.count += 1;
            if self.report.changes.len() < KEPT {
                self.report.changes.push(PhaseChange { t, of, change });
            }
        }
        self.late = settled.late;
        self.shown.clone_from(&settled.shown);
    }

    /// Events of the model that are changes.
    fn events_of(&self, changes: &[(Touched, Change)]) -> Vec<usize> {
        let events = self.phases.model().system.events.iter().enumerate();
        let happens = |change: &(Touched, Change)| changes.contains(change);
        events.filter(|(_, e)| e.change.as_ref().is_some_and(happens)).map(|e| e.0).collect()
    }

    /// Looks at an output for the certificate.
    pub fn look(&mut self, seen: &Observation) {
        let system = &self.setting.model.system;
        if system.contacts.is_empty() && system.frictions.is_empty() {
            return;
        }
        let table = seen.table(system);
        let gaps = self.setting.numbers(&self.gaps, &table);
        self.report.count_last();
        let (report, reached) = (&mut self.report, self.sizes[0]);
        let t = seen.state.t;
        let mut borne = Borne { t, pull: 0.0, excess: 0.0, sizes: (0.0, 0.0), unborne: 0.0 };
        if let Some(phase) = &seen.phase {
            borne.sizes = phase.sizes(seen);
            borne.unborne = phase.shared(seen);
            for (bound, force) in phase.held(seen) {
                borne.sizes.1 = borne.sizes.1.max(bound);
                borne.excess = borne.excess.max(force - bound);
            }
        }
        for ((contact, gap), &is_there) in system.contacts.iter().zip(gaps).zip(&self.shown.there) {
            if gap < 0.0 && is_there {
                let far = gap.abs().max(reached);
                let size = seen.state.q.iter().fold(far, |m, q| m.max(q.abs()));
                report.penetration = report.penetration.max(-gap / size);
            }
            let load = table.get(contact.normal).unwrap_or(0.0);
            if load.is_finite() {
                borne.sizes.0 = borne.sizes.0.max(load.abs());
                borne.pull = borne.pull.max(-load);
            }
        }
        report.last = Some(borne);
    }

    /// Of the run when it has ended.
    pub fn into_report(mut self) -> PhaseReport {
        self.report.count_last();
        self.report
    }

    /// The report so far.
    pub fn end(&mut self) -> &PhaseReport {
        self.report.count_last();
        &self.report
    }

    /// Parts a list of events into those of the model and guards.
    pub fn part(&self, events: &[usize]) -> (Vec<usize>, Vec<Guard>) {
        let own = self.phases.own_events();
        let (own_events, guards): (Vec<usize>, Vec<usize>) = events.iter().partition(|&&e| e < own);
        (own_events, guards.into_iter().map(|e| self.guards[e - own]).collect())
    }

    /// How many events the model has of its own.
    pub fn own_events(&self) -> usize {
        self.phases.own_events()
    }

    /// Why it cannot begin.
    pub fn fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }
}

impl Simulation<'_> {
    /// Goes on in the phase that the driver's state is in, where guards were met or events have set
    /// velocities. Returns the model's events that happen by the change, or how the run ends.
    pub(super) fn change_phase(
        &mut self,
        fired: &[Guard],
        is_reset: bool,
        recorded: f64,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<Result<Vec<usize>, End>, RunError> {
        let Some(mut going) = self.going.take() else { return Ok(Ok(Vec::new())) };
        let changed = self.change_to(&mut going, fired, is_reset, recorded, see);
        self.going = Some(going);
        changed
    }

    fn change_to(
        &mut self,
        going: &mut Going,
        fired: &[Guard],
        is_reset: bool,
        recorded: f64,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<Result<Vec<usize>, End>, RunError> {
        let failed = |fault: Fault| Ok(Err(End::Failed(Failure::Phase(fault))));
        let (t, x) = (self.driver.t, self.driver.x.clone());
        if going.here.0 != t {
            going.flipped.clear();
        }
        going.here = if going.here.0 == t { (t, going.here.1 + 1) } else { (t, 0) };
        if going.here.1 > MOST {
            return failed(Fault::Again);
        }
        let mut before = match self.observer.observe(&mut self.driver.field, t, &x) {
            Ok(before) => before,
            Err(error) => return Ok(Err(End::Failed(Failure::Field(error)))),
        };
        going.size(&before.state, self.driver.largest_so_far());
        let mut known = Known {
            before: Some(going.shown.clone()),
            sizes: going.sizes,
            is_reset,
            flipped: going.flipped.clone(),
            span: self.options.end - self.began,
            ..Known::default()
        };
        for guard in fired {
            match *guard {
                Guard::Gap(c) => known.hits.push(c),
                Guard::Slip(f) => known.stops.push(f),
                Guard::Turn(f) => known.turns.push(f),
                Guard::Condition(c) => known.flips.push(c),
                Guard::Negative(friction) => {
                    return failed(Fault::Negative { friction, bound: 0.0 });
                }
                Guard::Load(_) | Guard::Bound(_) => {}
            }
        }
        going.flipped.extend(&known.flips);
        let state = self.come_to_rest(going, fired, &before.state);
        let mut settled = match going.phases.settle(&state, &known) {
            Ok(settled) => settled,
            Err(fault) => return failed(fault),
        };
        // Impacts that pile up here are the last ones.
        if let Some(struck) = settled.struck.clone() {
            let hit = |c: &usize| struck.impulses[*c] > 0.0;
            let piled: Vec<usize> =
                (0..struck.impulses.len()).filter(hit).filter(|&c| going.piles.add(c, t)).collect();
            if !piled.is_empty() {
                for &c in &piled {
                    known.rests.extend(going.piles.beside(c, t));
                }
                known.rests.sort_unstable();
                known.rests.dedup();
                known.rests.iter().for_each(|&c| going.piles.forget(c));
                settled = match going.phases.settle(&state, &known) {
                    Ok(settled) => settled,
                    Err(fault) => return failed(fault),
                };
            }
        }
        let is_idle = settled.changes.is_empty() && settled.struck.is_none() && !is_reset;
        let is_near = (t - going.idle.0).abs() <= IDLE.1 * known.span.abs();
        going.idle = match is_idle && is_near {
            true => (going.idle.0, going.idle.1 + 1),
            false => (t, 0),
        };
        if going.idle.1 > IDLE.0 {
            return failed(Fault::Again);
        }
        going.take(&settled);
        // A slip that has gone around is the phase it was in.
        let goes_around =
            is_idle && !fired.is_empty() && fired.iter().all(|g| matches!(g, Guard::Turn(_)));
        going.report.phases += u64::from(!goes_around);
        // Loads jump where a phase ends: both sides of it are told.
        let jumps = settled.struck.is_some() || !settled.changes.is_empty();
        if jumps && recorded != t {
            if settled.struck.is_some() {
                going.look(&before);
            } else {
                // The direction of a slip that comes to rest is a quotient of next to nothing: forces along
                // it have few digits, and are looked at where steps end.
                before.gauss = Gauss::default();
            }
            see(&before);
        }
        // What ends a phase by what it bears is not borne in it.
        let by_load = |guard: &Guard| matches!(guard, Guard::Load(_) | Guard::Bound(_));
        if fired.iter().any(by_load) {
            let near = FOUND * t.abs().max(known.span.abs());
            going.report.last = going.report.last.filter(|last| (last.t - t).abs() > near);
        }
        let compiled = going.phases.program(&settled)?;
        if let Err(failure) = self.go_on(going, compiled, &settled)? {
            return Ok(Err(End::Failed(failure)));
        }
        if jumps {
            let after = {
                let (t, x) = (self.driver.t, self.driver.x.clone());
                self.observer.observe(&mut self.driver.field, t, &x)
            };
            let mut after = match after {
                Ok(after) => after,
                Err(error) => return Ok(Err(End::Failed(Failure::Field(error)))),
            };
            if settled.struck.is_none() {
                see(&after);
                return Ok(Ok(going.events_of(&settled.changes)));
            }
            let jump = after.energy - before.energy;
            going.energy += jump;
            if let Some(work) = self.driver.x.last_mut() {
                *work += jump;
            }
            after.work += jump;
            going.look(&after);
            see(&after);
        }
        let events = going.events_of(&settled.changes);
        if !events.is_empty() {
            // In their resets a multiplier is the impulse.
            if let (Some(seen), Some(struck)) = (&mut self.observer.phase, &settled.struck) {
                Arc::make_mut(seen).impulses = Some(struck.impulses.clone());
            }
        }
        Ok(Ok(events))
    }

    /// Moves on to where a slip that has stopped is 0; the state there.
    fn come_to_rest(&mut self, going: &Going, fired: &[Guard], state: &State) -> State {
        let first = going.own_events();
        let slips = going.guards.iter().enumerate();
        let mut stops = slips.filter(|(_, g)| matches!(g, Guard::Slip(_)) && fired.contains(g));
        let Some((t, x)) = stops.find_map(|(at, _)| self.driver.at_rest(first + at)) else {
            return state.clone();
        };
        (self.driver.t, self.driver.x) = (t, x);
        self.observer.state(&self.driver.field, t, &self.driver.x)
    }

    /// Lets go what contacts and frictions hold, before events that set the state: in own velocities
    /// that are as few as the freedom of the phase there is no place for what they set.
    pub(super) fn let_go(&mut self, events: &[usize]) -> Result<Result<(), Failure>, RunError> {
        let Some(mut going) = self.going.take() else { return Ok(Ok(())) };
        let own = going.phases.model().system.constraints.len();
        let (system, field) = (&self.setting.model.system, &self.driver.field);
        let resets = |&event: &usize| matches!(system.events[event].action, Action::Reset(_));
        let has_no_place =
            system.constraints.len() > own && field.size < field.equations.n_coordinates();
        if !(has_no_place && events.iter().any(resets)) {
            self.going = Some(going);
            return Ok(Ok(()));
        }
        let state = self.observer.state(&self.driver.field, self.driver.t, &self.driver.x);
        let compiled = going.phases.loose(&state)?;
        let settled = Settled::loose(state, &going.shown);
        // What is closed keeps from closing further, as in the phase it is closed in.
        let impulses = self.impulses.take();
        let gone = self.go_on(&mut going, compiled, &settled)?;
        self.impulses = impulses;
        self.going = Some(going);
        Ok(gone)
    }

    /// Impulses are seen by the events of their instant only.
    pub(super) fn forget_impulses(&mut self) {
        if let Some(seen) = &mut self.observer.phase
            && seen.impulses.is_some()
        {
            Arc::make_mut(seen).impulses = None;
        }
    }

    /// Goes on where the motion sticks at switches of forces, with these as frictions; false where
    /// they are none.
    pub(super) fn lift(
        &mut self,
        stuck: &[Stuck],
        recorded: f64,
        see: &mut dyn FnMut(&Observation),
    ) -> Result<Option<Result<Vec<usize>, End>>, RunError> {
        let switches: Vec<(ExprId, Option<Span>)> =
            stuck.iter().map(|s| (s.switch, s.span)).collect();
        let setting = match &self.going {
            Some(going) => going.phases.setting().clone(),
            None => self.setting.clone(),
        };
        let Some(phases) = Phases::lifted(&setting, self.options, &switches) else {
            return Ok(None);
        };
        let mut next = Going::new(Arc::new(phases));
        // What is stuck has no slip here.
        let known = next.phases.model().system.frictions.len();
        let fired: Vec<Guard> = (known - stuck.len()..known).map(Guard::Slip).collect();
        let (t, x) = (self.driver.t, self.driver.x.clone());
        let Ok(seen) = self.observer.observe(&mut self.driver.field, t, &x) else {
            return Ok(None);
        };
        // Where friction is a paradox the motion ends where it sticks.
        let stops = (known - stuck.len()..known).collect();
        let tried = Known { stops, span: self.options.end - self.began, ..Known::default() };
        if self.going.is_none() && next.phases.settle(&seen.state, &tried).is_err() {
            return Ok(None);
        }
        match self.going.take() {
            Some(old) => {
                next.shown.closed.clone_from(&old.shown.closed);
                next.shown.there.clone_from(&old.shown.there);
                next.shown.open_load.clone_from(&old.shown.open_load);
                next.shown.sticks[..old.shown.sticks.len()].copy_from_slice(&old.shown.sticks);
                next.piles = old.piles;
                next.sizes = old.sizes;
                next.energy = old.energy;
                next.report = old.report;
                next.here = old.here;
                next.flipped = old.flipped;
                next.idle = old.idle;
                next.lifted = old.lifted;
            }
            None => {
                next.lifted = true;
                next.report.phases = 1;
                self.own_events = next.own_events();
            }
        }
        next.report.sliding.push(Sliding { state: seen.state, stuck: stuck.to_vec() });
        self.going = Some(next);
        self.change_phase(&fired, false, recorded, see).map(Some)
    }

    /// Goes on with the program of a phase from a state.
    fn go_on(
        &mut self,
        going: &mut Going,
        compiled: Compiled,
        settled: &Settled,
    ) -> Result<Result<(), Failure>, RunError> {
        let state = &settled.state;
        self.finish();
        // The rank may differ from phase to phase, not in one.
        let ranks = &mut self.certificate.ranks;
        if ranks.0 == ranks.1 {
            *ranks = (usize::MAX, 0);
        }
        let Compiled { program, guards } = compiled;
        let phase = going.seen(&program);
        let Program {
            setting,
            equations,
            mut field,
            mut observer,
            mut energies,
            mut functions,
            impulses,
            ..
        } = program;
        // Resets keep the rows of this phase.
        self.impulses = impulses;
        observer.phase = phase;
        going.guards = guards;
        going.graze(&mut functions, settled);
        self.observer = observer;
        std::mem::swap(&mut energies, &mut self.energies);
        self.energies.go_on(energies, &self.setting);
        let system = &setting.model.system;
        let mut next = state.q.clone();
        next.extend(setting.numbers(&equations.own, &state.table(system)));
        next.push(self.driver.x.last().copied().unwrap_or(0.0));
        field.guess(state);
        self.conserved &= field.conserves_energy();
        self.followed &= field.follows_work();
        if !self.conserved {
            self.certificate.invariants.clear();
        }
        // Where the rows leave no freedom there is nothing to integrate, and what is left of a
        // series, or of a Newton iteration, is rounding: it would be taken for an error.
        let freedom = field.size;
        let held = field.choose_rows(self.driver.t, &next, RANK);
        let is_held = held.is_ok_and(|outcome| outcome.rank.jacobian == freedom);
        // What it leaves of velocities is rounding too, and no row could tell it from a motion.
        if is_held && matches!(system.energy, Energy::Lagrangian { .. }) {
            let mut rest = state.clone();
            rest.velocity.fill(0.0);
            let own = setting.numbers(&equations.own, &rest.table(system));
            let mut at_rest = next.clone();
            at_rest[state.q.len()..state.q.len() + own.len()].copy_from_slice(&own);
            let left = field.residuals(self.driver.t, &at_rest);
            if left.is_ok_and(|(_, velocities)| velocities.iter().all(|left| *left == 0.0)) {
                next = at_rest;
            }
        }
        let adapts = self.driver.constant_step().is_none();
        let name = if is_held && adapts { dop853::NAME } else { self.choice.name };
        let found = integrator_for(&setting, self.options, name, &mut field);
        let integrator = match found {
            Err(_) if self.options.method == AUTO => {
                let integrator = integrator_for(&setting, self.options, dop853::NAME, &mut field)?;
                self.choice.name = integrator.name();
                integrator
            }
            found => found?,
        };
        // Bodies are no longer by entries, as they were where the motion was stiff.
        let is_first = self.choice.changes.is_empty() || field.equations.bodies.is_some();
        let leaves = self.options.method == AUTO && is_first;
        let mut control = control_of(self.options, self.began, leaves);
        control.step = self.driver.constant_step();
        let old = self.driver.take_events();
        let mut driver = Driver::new(field, integrator, control, self.driver.t, next);
        driver.inherit_all_scales(&self.driver);
        driver.set_parts(&self.energies.parts);
        driver.dense = self.driver.dense.take();
        if let Some(dense) = &mut driver.dense {
            dense.change_chart(&driver.field.equations);
        }
        self.driver = driver;
        self.driver.set_events(functions);
        self.forget_paths();
        self.setting = setting;
        if let Err(error) = self.driver.settle_branches() {
            return Ok(Err(Failure::Field(error)));
        }
        if let Err(failure) = self.driver.put_on_rows() {
            return Ok(Err(failure));
        }
        self.driver.go_on_with_events(old.as_ref(), self.options.end);
        Ok(Ok(()))
    }
}
