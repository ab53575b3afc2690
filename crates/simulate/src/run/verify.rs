//! The global error of a run, estimated by a second one.
//!
//! The second run has a tenth of the tolerance and steps of at most 1/500 of the time (longer
//! for large systems, half of the first one's at most), so that it meets what the first
//! may have stepped over; at constant steps it has half of them. Where series show all there is to
//! be met (terms of a low degree, without exponentials, branches and events) its steps are as long as they
//! may be, and its series as long as is soonest: nothing is derived or compiled again, fewer steps are
//! taken and nothing is shown, so it costs less than the first. Its error is far below that of the first, so their difference is the error of the
//! first, which is the run that is written. What is reported is twice the difference, at
//! least a fifth of the worst of the coordinates that move together, since a difference may
//! happen to vanish.
//!
//! ```text
//! e = max_i max_t |Δq_i| / (travel of q_i),  |Δq̇_i| / (largest |q̇_i|)
//! ```
//!
//! The run passes if e is within 100 tolerances and a tenth. If not, it is made again with a smaller
//! local tolerance, as far as rounding and a bound on the work allow; then it is *sensitive*,
//! and e over the local tolerance is its amplification. What does not become smaller with the
//! tolerance is amplified rounding, and one sample of it: it is taken four times.
//!
//! States are compared where neither run is at a jump of the other, and at the end; runs
//! that events end are compared there too, and by when. Multipliers are not compared. An
//! error that both runs share (a wall thinner than what 6000 evaluations meet) is not seen.

use crate::at_state::report::EvalError;
use crate::drive::End;
use crate::integrators::{dop853, taylor};
use crate::points::start::{self, Start};
use crate::program::energy;
use crate::program::observer::Observation;
use crate::run::choose::{Beside, order_of_ends};
use crate::run::{
    Program, Progress, RunError, RunOptions, RunReport, Sizes, output_times, setup, simulate_on,
};
use crate::setting::Setting;
use crate::setting::State;
use std::ops::ControlFlow;

/// A run may be off by this many tolerances,
pub const WITHIN: f64 = 100.0;
/// but by no more than this, whatever was asked for: a motion.
const MOST_OFF: f64 = 0.1;
/// Where steps are constant no tolerance was asked for: two digits have to stand.
const DIGITS: f64 = 1e-2;
/// The second run's tolerance, as a part of the first one's.
const TIGHTER: f64 = 0.1;
/// The second run has at least so many steps, fewer where each costs much: for coordinates
/// and constraints of this number,
const STEPS: (f64, f64) = (500.0, 20.0);
/// but this many times those of the first.
const TIMES: f64 = 2.0;
/// The same beside a run that is made again, which has steps of at most that.
const SHORTER: f64 = 0.37;
/// Times at which states are compared.
const CHECKS: usize = 64;
/// The estimate is this many times the difference,
const SAFETY: f64 = 2.0;
/// and this part of the worst relative one among coordinates that move together.
const SHARED: f64 = 0.2;
/// Where errors are so many times what the tolerance foresees, from those at another one, they are
/// amplified rounding, of which two runs are one sample: then they are estimated this many times.
const ROUGH: (f64, f64) = (3.0, 4.0);
/// What counts of the difference at an output at the next one.
const FADES: f64 = 0.8;
/// The smallest local tolerance.
const SMALLEST: f64 = 1e-14;
/// Most runs with a smaller tolerance.
const MOST: u32 = 4;
/// Most work, in evaluations of the first run; and what is always allowed.
const WORK: (f64, f64) = (64.0, 1e5);
/// A coordinate below this part of the others, where masses are equal, is moved by rounding,
const ROUNDING: f64 = 1e-14;
/// and one below this if two runs differ in it by so much of itself.
const UNRESOLVED: (f64, f64) = (1e-11, 0.05);

/// Whether the error of a run is known.
#[derive(Clone, Debug, Default)]
pub enum Verification {
    /// It was not asked for.
    #[default]
    NotAsked,
    /// It could not be estimated: why.
    NotPossible(String),
    /// It was.
    Estimated(Box<ErrorEstimate>),
}

impl Verification {
    /// The estimate, if there is one.
    pub fn estimate(&self) -> Option<&ErrorEstimate> {
        match self {
            Verification::Estimated(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// What is wrong, in words.
    pub fn fault(&self) -> Option<String> {
        match self {
            Verification::NotAsked => None,
            Verification::NotPossible(why) => Some(format!("the error is not known: {why}")),
            Verification::Estimated(estimate) => estimate.fault(),
        }
    }
}

/// The error of each coordinate of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateError {
    /// Of q.
    pub q: Vec<f64>,
    /// Of q̇.
    pub velocity: Vec<f64>,
    /// Of p.
    pub momentum: Vec<f64>,
}

impl StateError {
    fn between(a: &State, b: &State) -> StateError {
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect();
        StateError {
            q: apart(&a.q, &b.q),
            velocity: apart(&a.velocity, &b.velocity),
            momentum: apart(&a.momentum, &b.momentum),
        }
    }

    fn lists(&mut self) -> [&mut Vec<f64>; 3] {
        [&mut self.q, &mut self.velocity, &mut self.momentum]
    }

    /// Takes the larger of each.
    fn widen(&mut self, other: &StateError) {
        let others = [&other.q, &other.velocity, &other.momentum];
        for (own, other) in self.lists().into_iter().zip(others) {
            own.resize(other.len(), 0.0);
            for (own, other) in own.iter_mut().zip(other) {
                *own = if other.is_nan() { f64::INFINITY } else { own.max(*other) };
            }
        }
    }
}

/// How far off a run may be.
#[derive(Clone, Debug, Default)]
pub struct ErrorEstimate {
    /// How it was found, in words.
    pub method: String,
    /// At the end.
    pub end: StateError,
    /// At most, over the whole run.
    pub whole: StateError,
    /// The largest, relative to the sizes of the motion: e.
    pub relative: f64,
    /// What it may be.
    pub bound: f64,
    /// The local tolerance that was asked for.
    pub asked: f64,
    /// The local tolerance of the run.
    pub tolerance: f64,
    /// e over the local tolerance; over what rounding leaves, where steps are constant.
    pub amplification: f64,
    /// How often the tolerance was made smaller.
    pub tightened: u32,
    /// Whether rounding keeps a smaller tolerance from being of use.
    pub rounding: bool,
    /// Whether the work allowed was spent.
    pub spent: bool,
    /// By how much the times of events differ, at most.
    pub events: Option<f64>,
    /// By how much the end does, if an event is the end.
    pub end_time: Option<f64>,
    /// Where the runs differ in kind: in words.
    pub differs: Option<String>,
    /// Whether steps were constant.
    pub constant: bool,
    /// What the second run took: its steps,
    pub steps: u64,
    /// and evaluations of its rates.
    pub evaluations: u64,
    /// The order of its series, where these show all there is.
    pub order: Option<usize>,
}

impl ErrorEstimate {
    /// Whether the run is as good as it was to be.
    pub fn holds(&self) -> bool {
        self.differs.is_none() && self.relative <= self.bound
    }

    /// Makes it larger.
    fn widen(&mut self, factor: f64) {
        self.relative *= factor;
        let lists = self.end.lists().into_iter().chain(self.whole.lists());
        lists.flatten().for_each(|e| *e *= factor);
    }

    fn fault(&self) -> Option<String> {
        if self.holds() {
            return None;
        }
        if let Some(words) = &self.differs {
            return Some(format!("sensitive: {words}"));
        }
        let (relative, bound) = (self.relative, self.bound);
        if self.constant {
            return Some(format!(
                "the constant step is too long: the error is about {relative:.1e} of the motion's \
                 size, above {bound:.1e}"
            ));
        }
        let why = match (self.rounding, self.spent) {
            (true, _) => "; rounding keeps it there",
            (false, true) => "; the work allowed was spent",
            _ => "",
        };
        Some(format!(
            "sensitive: the error is about {relative:.1e} of the motion's size, above {bound:.1e}; \
             local errors of {:.1e} are amplified {:.1e} times{why}",
            self.tolerance, self.amplification
        ))
    }
}

/// Where the rows of a verified run go. A run that has to be made again begins anew.
pub trait Sink {
    /// Forgets all rows.
    fn restart(&mut self) {}

    /// Takes a row, with its error if that was asked for.
    fn record(&mut self, row: &Observation, error: Option<&StateError>) -> ControlFlow<()>;

    /// Is told how far a run is.
    fn watch(&mut self, _: Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What is compared of a run.
struct Trace {
    states: Vec<State>,
    report: RunReport,
}

/// Runs a model from its start, and estimates the error. With `rows` each row has its own.
pub fn run_verified(
    setting: &Setting,
    options: &RunOptions,
    rows: bool,
    sink: &mut dyn Sink,
) -> Result<RunReport, RunError> {
    let start = start::start(setting).map_err(|e| RunError::Eval(EvalError::Start(e)))?;
    run_verified_from(setting, options, start, rows, sink)
}

/// The same from another start than the model's own.
pub fn run_verified_from(
    setting: &Setting,
    options: &RunOptions,
    start: Start,
    rows: bool,
    sink: &mut dyn Sink,
) -> Result<RunReport, RunError> {
    setup::validate(options, start.state.t).map_err(RunError::Option)?;
    let program = Program::at(setting, options, &start.state)?;
    let shows = program.functions.is_none() && program.field.shows_from_afar();
    let asked = options.tolerance;
    let span = (options.end - start.state.t).abs();
    let system = &setting.model.system;
    let size = (system.n_coordinates() + system.constraints.len()) as f64;
    let usual = (STEPS.0 * (STEPS.1 / size).powi(2)).min(STEPS.0);
    let mut options = options.clone();
    let mut first_work = 0.0;
    let mut work = 0.0;
    let mut before: Option<(f64, f64)> = None;
    let mut tightened = 0;
    loop {
        if tightened > 0 && !rows {
            sink.restart();
        }
        let shown = if rows { Shown::Nothing } else { Shown::Rows(None) };
        let mut run = trace(&program, &options, &start, shown, sink)?;
        run.report.tolerance = asked;
        if matches!(run.report.end, End::Failed(_) | End::Interrupted) {
            let why = "the run did not come to its end".to_owned();
            return finish(&program, &options, &start, rows, sink, run, Err(why));
        }
        let step = run.report.choice.step;
        let steps = run.report.statistics.steps as f64;
        let count = usual.max((TIMES * steps).min(STEPS.0)).max(1.0);
        let mut second = RunOptions { dense: false, ..options.clone() };
        // Of the second run nothing is shown.
        if !rows && span > 0.0 {
            (second.every, second.times) = (Some(span), Vec::new());
        }
        // With as many steps as it must have, it may be done sooner by another method; and what two
        // methods agree in is more than what one does.
        let is_slower = |beside: Beside| beside.is_slower(steps, count);
        let choice = &run.report.choice;
        let is_steady = choice.changes.is_empty();
        let is_seen = tightened == 0 && shows && is_steady && choice.name == taylor::NAME;
        if is_steady && !is_seen && choice.beside.is_some_and(is_slower) {
            second.method = dop853::NAME.to_owned();
        }
        // Its errors are to be small, not to go with the tolerance.
        if is_seen && run.report.certificate.rank_changes.is_empty() {
            second.order = order_of_ends(&program.field, TIGHTER * options.tolerance);
        }
        let mut words = String::new();
        let mut tries = Vec::new();
        match step {
            Some(step) => {
                second.step = Some(0.5 * step.abs());
                words = format!("a second run at half the step, {:.3e}", 0.5 * step.abs());
                tries.push(second.clone());
            }
            None => {
                // A looser one tells more than enough, where a tighter one cannot be made.
                for factor in [TIGHTER, 1.0 / TIGHTER] {
                    second.tolerance = options.tolerance * factor;
                    let part = if tightened == 0 { 1.0 } else { SHORTER };
                    second.longest = if is_seen { None } else { Some(part * span / count) };
                    tries.push(second.clone());
                    // Coefficients of long series may be beyond all numbers where times are short.
                    if second.order.take().is_some() {
                        tries.push(second.clone());
                    }
                }
            }
        }
        let (mut other, mut order) = (None, None);
        for second in &tries {
            order = second.order;
            let shown = if rows { Shown::Kept } else { Shown::Nothing };
            let found = trace(&program, second, &start, shown, sink)?;
            work += found.report.evaluations as f64;
            let is_done = !matches!(found.report.end, End::Failed(_));
            if step.is_none() {
                words = format!("a second run at tolerance {:.1e}", second.tolerance);
            }
            let is_interrupted = found.report.end == End::Interrupted;
            other = Some(found);
            if is_done || is_interrupted {
                break;
            }
        }
        let other = match other {
            Some(other) if !matches!(other.report.end, End::Failed(_) | End::Interrupted) => other,
            other => {
                let mut why = "the second run did not come to its end".to_owned();
                if let Some(End::Failed(failure)) = other.map(|other| other.report.end) {
                    why += &format!(" ({})", failure.words(&setting.model));
                }
                return finish(&program, &options, &start, rows, sink, run, Err(why));
            }
        };
        let mut estimate = compare(setting, &run, &other, options.tolerance);
        if before.is_some_and(|(e, t)| estimate.relative > ROUGH.0 * e * options.tolerance / t) {
            estimate.widen(ROUGH.1);
        }
        (estimate.method, estimate.order) = (words, order);
        (estimate.steps, estimate.evaluations) =
            (other.report.statistics.steps, other.report.evaluations);
        (estimate.asked, estimate.tolerance) = (asked, options.tolerance);
        (estimate.tightened, estimate.constant) = (tightened, step.is_some());
        let within = (WITHIN * asked).min(MOST_OFF);
        estimate.bound = if step.is_some() { DIGITS.max(within) } else { within };
        let local = if step.is_some() { f64::EPSILON } else { options.tolerance };
        estimate.amplification = estimate.relative / local;
        work += run.report.evaluations as f64;
        if first_work == 0.0 {
            first_work = work;
        }
        let excess =
            if estimate.differs.is_some() { 1e3 } else { estimate.relative / estimate.bound };
        let tolerance = (options.tolerance * (0.3 / excess).clamp(1e-3, 0.1)).max(SMALLEST);
        let order = 4.0;
        let ahead = work * (options.tolerance / tolerance).powf(1.0 / order);
        estimate.rounding = options.tolerance <= SMALLEST
            || before.is_some_and(|(e, _)| estimate.relative < 0.1 && estimate.relative > 0.5 * e);
        estimate.spent = tightened >= MOST || work + ahead > (WORK.0 * first_work).max(WORK.1);
        if estimate.holds() || step.is_some() || estimate.rounding || estimate.spent {
            let apart = times_apart(setting, &run, &other, options.tolerance);
            let found = Ok((estimate, other, apart));
            return finish(&program, &options, &start, rows, sink, run, found);
        }
        before = Some((estimate.relative, options.tolerance));
        options.tolerance = tolerance;
        // What the first run may have stepped over it must not step over again.
        options.longest = Some(span / count);
        tightened += 1;
    }
}

/// Spans of time.
type Spans = Vec<(f64, f64)>;

/// Writes the rows, if they were to come with their errors, and the estimate.
fn finish(
    program: &Program,
    options: &RunOptions,
    start: &Start,
    rows: bool,
    sink: &mut dyn Sink,
    run: Trace,
    found: Result<(ErrorEstimate, Trace, Spans), String>,
) -> Result<RunReport, RunError> {
    let mut report = run.report;
    let (error, other) = match found {
        Ok((estimate, other, apart)) => {
            (Verification::Estimated(Box::new(estimate)), Some((other, apart)))
        }
        Err(why) => (Verification::NotPossible(why), None),
    };
    if rows {
        let states = other.as_ref().map(|(o, apart)| Compared { states: &o.states, apart });
        let again = trace(program, options, start, Shown::Rows(states), sink)?;
        if again.report.end == End::Interrupted {
            report.end = End::Interrupted;
        }
    }
    report.error = error;
    Ok(report)
}

/// Which rows of a run are shown, and by what they are compared.
enum Shown<'a> {
    Nothing,
    /// None, but all are kept.
    Kept,
    Rows(Option<Compared<'a>>),
}

/// The states of another run, and the times between a jump of one run and that of the other, where states
/// differ by the jump.
struct Compared<'a> {
    states: &'a [State],
    apart: &'a [(f64, f64)],
}

/// A run with the states that are compared.
fn trace(
    program: &Program,
    options: &RunOptions,
    start: &Start,
    shown: Shown,
    sink: &mut dyn Sink,
) -> Result<Trace, RunError> {
    let (from, to) = (start.state.t, options.end);
    let checks: Vec<f64> =
        (1..=CHECKS).map(|k| from + (to - from) * k as f64 / CHECKS as f64).collect();
    let forward = if to >= from { 1.0 } else { -1.0 };
    // Those that were not asked for are not shown.
    let hidden: Vec<f64> = match options.every.is_none_or(|every| every != 0.0) && to.is_finite() {
        true => {
            let own = output_times(from, to, options.every);
            let is_own = |t: f64| {
                own.binary_search_by(|o| (forward * o).total_cmp(&(forward * t))).is_ok()
                    || options.times.contains(&t)
            };
            checks.iter().copied().filter(|&t| !is_own(t)).collect()
        }
        false => Vec::new(),
    };
    let mut options = options.clone();
    options.times.extend(&checks);
    let mut states: Vec<State> = Vec::new();
    let cell = std::cell::RefCell::new(sink);
    let keeps_all = matches!(shown, Shown::Kept);
    let mut held = StateError::default();
    // Before and after a jump there are two rows of one time.
    let (mut time, mut turn) = (f64::NAN, 0);
    let report = simulate_on(
        program.clone(),
        &options,
        start.clone(),
        &mut |row| {
            if keeps_all || checks.contains(&row.state.t) {
                states.push(row.state.clone());
            }
            turn = if row.state.t == time { turn + 1 } else { 0 };
            time = row.state.t;
            match &shown {
                Shown::Rows(others) if !hidden.contains(&row.state.t) => {
                    let others = others.as_ref();
                    let error = others
                        .map(|others| row_error(others, &row.state, (forward, turn), &mut held));
                    cell.borrow_mut().record(row, error.as_ref())
                }
                _ => ControlFlow::Continue(()),
            }
        },
        &mut |progress| cell.borrow_mut().watch(progress),
    )?;
    Ok(Trace { states, report })
}

/// Twice the difference to the other run at the same time, or to that of the rows before, which
/// fades: a difference may happen to vanish. NaN where there is none. The rows of one time, before and
/// after jumps, are compared in their turn.
fn row_error(
    others: &Compared,
    state: &State,
    (forward, turn): (f64, usize),
    held: &mut StateError,
) -> StateError {
    let Compared { states, apart } = *others;
    let is_apart = apart.iter().any(|jump| state.t >= jump.0 && state.t <= jump.1);
    let at = states.partition_point(|o| forward * o.t < forward * state.t);
    let same = states.get(at + turn).filter(|o| o.t == state.t && !is_apart);
    let mut error = match same {
        Some(other) => StateError::between(state, other),
        None => StateError {
            q: vec![f64::NAN; state.q.len()],
            velocity: vec![f64::NAN; state.velocity.len()],
            momentum: vec![f64::NAN; state.momentum.len()],
        },
    };
    for (list, held) in error.lists().into_iter().zip(held.lists()) {
        held.resize(list.len(), 0.0);
        for (e, held) in list.iter_mut().zip(held.iter_mut()) {
            *held = if e.is_nan() { FADES * *held } else { e.max(FADES * *held) };
            *e = if e.is_nan() { f64::NAN } else { SAFETY * *held };
        }
    }
    error
}

/// The error of a run by another.
fn compare(setting: &Setting, run: &Trace, other: &Trace, tolerance: f64) -> ErrorEstimate {
    let parts = energy::parts(setting);
    let (a, b) = (&run.report, &other.report);
    let mut estimate = ErrorEstimate::default();
    let span =
        a.last.as_ref().zip(run.states.first()).map_or(0.0, |(l, f)| (l.state.t - f.t).abs());
    let mut jumps = jumps(setting, a, b, WITHIN * tolerance * span, &mut estimate);
    jumps.extend(impacts(a, b, WITHIN * tolerance * span));
    let (mut whole, mut end) = (StateError::default(), StateError::default());
    let mut shared = vec![0f64; parts.len()];
    let mut differences = Vec::new();
    for state in &run.states {
        let inside = |jump: &(f64, f64)| state.t >= jump.0 && state.t <= jump.1;
        if jumps.iter().any(inside) {
            continue;
        }
        let Some(same) = other.states.iter().find(|o| o.t == state.t) else { continue };
        let difference = StateError::between(state, same);
        whole.widen(&difference);
        differences.push(difference);
    }
    let scale = Scale::new(&a.sizes, &b.sizes, &whole, tolerance, span);
    for late in differences.iter().rev().take(1 + CHECKS / 12) {
        scale.share(late, &parts, &mut shared);
    }
    if let (Some(last), Some(theirs)) = (&a.last, &b.last)
        && std::mem::discriminant(&a.end) == std::mem::discriminant(&b.end)
    {
        let is_timed = matches!(a.end, End::Finished);
        if !is_timed {
            estimate.end_time = Some(SAFETY * (last.state.t - theirs.state.t).abs());
        }
        end = StateError::between(&last.state, &theirs.state);
        scale.share(&end, &parts, &mut shared);
        // Where events pile up the last of them is any.
        if !matches!(a.end, End::PiledUp { .. }) {
            whole.widen(&end);
        }
    } else {
        estimate.differs = Some("a second run ends in another way".to_owned());
    }
    estimate.relative = SAFETY * scale.relative(&whole);
    let states = setting.model.system.states.len();
    let zero = StateError {
        q: vec![0.0; parts.len() + states],
        velocity: vec![0.0; parts.len()],
        momentum: vec![0.0; parts.len()],
    };
    whole.widen(&zero);
    end.widen(&zero);
    let last = a.last.as_ref().map(|last| &last.state);
    let digits = |value: Option<f64>| 2.0 * f64::EPSILON * value.unwrap_or(0.0).abs();
    // States belong to all parts.
    let largest = shared.iter().fold(0f64, |m, share| m.max(*share));
    for i in parts.len()..parts.len() + states {
        let own = SHARED * largest * scale.own[0].get(i).copied().unwrap_or(0.0);
        end.q[i] = SAFETY * end.q[i].max(own) + digits(last.map(|s| s.q[i]));
    }
    for (i, part) in parts.iter().enumerate() {
        let own = SHARED * shared[*part];
        let q = digits(last.map(|s| s.q[i]));
        let v = digits(last.map(|s| s.velocity[i]));
        let p = last.map(|s| s.momentum[i]);
        end.q[i] = SAFETY * end.q[i].max(own * scale.own[0][i]) + q;
        end.velocity[i] = SAFETY * end.velocity[i].max(own * scale.own[1][i]) + v;
        let momentum = own * p.unwrap_or(0.0).abs();
        end.momentum[i] = SAFETY * end.momentum[i].max(momentum) + digits(p);
    }
    for list in whole.lists() {
        list.iter_mut().for_each(|e| *e *= SAFETY);
    }
    whole.widen(&end);
    (estimate.end, estimate.whole) = (end, whole);
    estimate
}

/// The times between the same events of two runs, where the states differ by a jump. What
/// changes nothing and happens as near to the end as times may be off may be missed by one.
fn jumps(
    setting: &Setting,
    a: &RunReport,
    b: &RunReport,
    near: f64,
    estimate: &mut ErrorEstimate,
) -> Vec<(f64, f64)> {
    let finished = matches!((&a.end, &b.end), (End::Finished, End::Finished));
    let end = a.last.as_ref().filter(|_| finished).map(|last| last.state.t);
    let (mut first, mut second) = (&a.event_log[..], &b.event_log[..]);
    while first.len() != second.len() {
        let longer = if first.len() > second.len() { &mut first } else { &mut second };
        let Some((last, others)) = longer.split_last() else { break };
        let is_late = end.is_some_and(|end| (last.t - end).abs() <= near);
        if last.change.is_some() || !is_late {
            break;
        }
        *longer = others;
    }
    let pairs = first.iter().zip(second);
    let mut jumps = Vec::new();
    let mut apart = 0f64;
    for (one, two) in pairs {
        if one.event != two.event {
            estimate.differs = Some(format!(
                "a second run meets other events from t = {:.6} on",
                one.t.min(two.t)
            ));
            break;
        }
        apart = apart.max((one.t - two.t).abs());
        if one.change.is_some() {
            jumps.push((one.t.min(two.t), one.t.max(two.t)));
        }
    }
    let counts = [first.len(), second.len()];
    let extra = first.get(counts[1]).or(second.get(counts[0]));
    if let Some(extra) = extra.filter(|e| end.is_some_and(|end| (e.t - end).abs() <= near)) {
        let differs = format!(
            "`{}` happens as near to the end as times are known, t = {}: the end is before it \
             or after it",
            setting.model.system.events[extra.event].name, extra.t
        );
        estimate.differs.get_or_insert(differs);
    }
    let piles_up = matches!((&a.end, &b.end), (End::PiledUp { .. }, End::PiledUp { .. }));
    if counts[0] != counts[1] && !piles_up && estimate.differs.is_none() {
        estimate.differs = Some(format!(
            "events happen {} times in this run and {} times in a second one",
            counts[0], counts[1]
        ));
    }
    if !a.event_log.is_empty() {
        estimate.events = Some(SAFETY * apart);
    }
    jumps
}

/// The times between jumps of two runs that are not at the same time.
fn times_apart(setting: &Setting, run: &Trace, other: &Trace, tolerance: f64) -> Spans {
    let (a, b) = (&run.report, &other.report);
    let span =
        a.last.as_ref().zip(run.states.first()).map_or(0.0, |(l, f)| (l.state.t - f.t).abs());
    let near = WITHIN * tolerance * span;
    let mut apart = jumps(setting, a, b, near, &mut ErrorEstimate::default());
    apart.extend(impacts(a, b, near));
    apart.retain(|jump| jump.0 < jump.1);
    apart
}

/// The times between an impact of a run and the nearest one of the other, where these are as near as
/// times may be off.
fn impacts(a: &RunReport, b: &RunReport, near: f64) -> Vec<(f64, f64)> {
    let times = |report: &RunReport| -> Vec<f64> {
        let mut times =
            report.phases.as_ref().map_or(Vec::new(), |phases| phases.impact_times.clone());
        times.sort_by(f64::total_cmp);
        times
    };
    let (first, second) = (times(a), times(b));
    let mut list = Vec::new();
    for (own, others) in [(&first, &second), (&second, &first)] {
        for &t in own {
            let at = others.partition_point(|o| *o < t);
            let beside = others[at.saturating_sub(1)..others.len().min(at + 1)].iter();
            let nearest = beside.map(|o| (o - t).abs()).fold(f64::INFINITY, f64::min);
            if nearest <= near {
                list.push((t - nearest, t + nearest));
            }
        }
    }
    list
}

/// The sizes by which errors are measured.
struct Scale {
    /// Of q and q̇.
    own: [Vec<f64>; 2],
    /// What rounding explains.
    digits: [Vec<f64>; 2],
    /// Whether more than rounding moves a coordinate.
    moves: Vec<bool>,
}

impl Scale {
    fn new(a: &Sizes, b: &Sizes, whole: &StateError, tolerance: f64, span: f64) -> Scale {
        let larger = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| a.max(*b)).collect()
        };
        let (travel, speed) = (larger(&a.travel, &b.travel), larger(&a.speed, &b.speed));
        let position = larger(&a.position, &b.position);
        // States have no mass.
        let mass = |i: usize| a.mass.get(i).copied().unwrap_or(0.0);
        let energy = |i: usize| speed[i] * mass(i).abs().sqrt();
        let fastest = (0..speed.len()).map(energy).fold(0f64, f64::max);
        let moves = (0..speed.len())
            .map(|i| {
                let is_below = |part: f64| mass(i) > 0.0 && energy(i) <= part * fastest;
                let is_open = whole.velocity.get(i).is_some_and(|e| *e > UNRESOLVED.1 * speed[i]);
                let is_noise = is_below(ROUNDING) || is_open && is_below(UNRESOLVED.0);
                // States have neither a velocity nor forces in balance.
                let rest = a.rest[i].min(b.rest[i]);
                let is_rest = rest > 0.0 && speed[i] <= span * rest;
                travel[i] > 0.0 && !is_noise && !is_rest
            })
            .collect();
        let digits = |x: f64| 4.0 * f64::EPSILON * x / tolerance;
        // The digits that a position has of its travel are those its velocity can have.
        let fast = |i: usize| match travel[i] > 0.0 {
            true => speed[i] * (position[i] / travel[i]).max(1.0),
            false => speed[i],
        };
        let rounding = [
            position.iter().map(|x| digits(*x)).collect(),
            (0..speed.len()).map(|i| digits(fast(i))).collect(),
        ];
        Scale { digits: rounding, own: [travel, speed], moves }
    }

    fn ratios<'s>(&'s self, error: &'s StateError) -> impl Iterator<Item = (usize, f64)> + 's {
        let lists = [&error.q, &error.velocity].into_iter().zip(self.own.iter().zip(&self.digits));
        lists.flat_map(move |(errors, (own, digits))| {
            errors.iter().enumerate().filter(|(i, _)| self.moves[*i]).map(move |(i, error)| {
                let scale = own[i] + digits[i];
                (i, if *error == 0.0 { 0.0 } else { error / scale })
            })
        })
    }

    fn relative(&self, error: &StateError) -> f64 {
        self.ratios(error).fold(0f64, |m, (_, r)| if r.is_nan() { f64::INFINITY } else { m.max(r) })
    }

    /// The worst of each part.
    fn share(&self, error: &StateError, parts: &[usize], shared: &mut [f64]) {
        for (i, ratio) in self.ratios(error) {
            // States belong to all parts.
            match parts.get(i) {
                Some(&part) => shared[part] = shared[part].max(ratio),
                None => shared.iter_mut().for_each(|own| *own = own.max(ratio)),
            }
        }
    }
}
