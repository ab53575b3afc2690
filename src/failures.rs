//! Why a run ended before its time, said at the line of the model that caused it.

use dalembert_expr::{ExprId, Notation};
use dalembert_gauss::coupled::CoupledError;
use dalembert_gauss::outcome::Verdict;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::span::Span;
use dalembert_model::system::{Energy, Model, Shape, System};
use dalembert_model::tree::{EnergyKind, File, StatementKind};
use dalembert_simulate::FieldError;
use dalembert_simulate::Observation;
use dalembert_simulate::State;
use dalembert_simulate::drive::{End, Failure, Jumps, Open, Stuck, Undecided};
use dalembert_simulate::phases::{Fault, row_of};
use dalembert_simulate::run::RunReport;
use dalembert_simulate::setting::{Setting, Table};

/// Shapes have no normal below this angle, and this part of their radii.
const FLAT: f64 = 1e-4;

/// What is said about a run that failed, or that ended because the motion sticks; `None`
/// if it did neither. `file` is the text the model was read from.
pub fn explain(setting: &Setting, report: &RunReport, file: &File) -> Option<Diagnostic> {
    explain_to(Reader::CommandLine, setting, report, file)
}

/// Whom hints are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Who types commands: hints name their options.
    CommandLine,
    /// Who calls the library.
    Program,
}

/// The same, with hints that serve the reader.
pub(crate) fn explain_to(
    reader: Reader,
    setting: &Setting,
    report: &RunReport,
    file: &File,
) -> Option<Diagnostic> {
    if let End::Sticks(list) = &report.end {
        return sticks(setting, report, list);
    }
    let End::Failed(failure) = &report.end else { return None };
    let scene = Scene { reader, setting, system: &setting.model.system, report, file };
    Some(scene.explain(failure))
}

/// What is said of events that were zero where the motion did not decide whether they
/// happen, once of each.
pub fn notes(setting: &Setting, report: &RunReport) -> Vec<Diagnostic> {
    let events = &setting.model.system.events;
    let mut said: Vec<usize> = Vec::new();
    let mut list = Vec::new();
    for Undecided { event, t, why } in &report.undecided {
        if said.contains(event) {
            continue;
        }
        said.push(*event);
        let name = &events[*event].name;
        let at = match *t == report.start.state.t {
            true => "at the start".to_owned(),
            false => format!("at t = {}", rounded(*t)),
        };
        let (message, label, hint) = match why {
            Open::BothWays => (
                format!("`{name}` is zero {at}, and taken not to happen there"),
                "it counts both ways, and the motion was on neither side of it",
                "say which way it is meant: `rising` or `falling`",
            ),
            Open::OnSection => (
                format!("`{name}` is zero {at}, and taken to have happened already"),
                "the motion starts through it",
                "if it is to stop there, there is nothing to run",
            ),
            Open::Later => (
                format!("`{name}` left zero before t = {} and did not happen", rounded(*t)),
                "at zero, the motion did not tell to which side it would leave",
                "start a little away from zero",
            ),
        };
        let span = events[*event].span;
        list.push(Diagnostic::note(Code::EventAtZero, span, message).at(label).hint(hint));
    }
    list
}

/// What is said about a model of which a term has no value at the start, if the
/// statement is found.
pub fn explain_start(setting: &Setting, file: &File) -> Option<Diagnostic> {
    let start = dalembert_simulate::start::start(setting).ok()?;
    let span = valueless(setting, file, &start.state.table(&setting.model.system))?;
    let message = "a term is not a number at the start";
    Some(Diagnostic::fault(Code::NotANumber, span, message).at("this has no value there"))
}

/// What is said about forces and multipliers that were not found together.
pub fn explain_coupled(model: &Model, words: impl Into<String>) -> Diagnostic {
    let system = &model.system;
    let used = dalembert_derive::kernel::multipliers_in_forces(&model.exprs, system);
    let forces = system.forces.iter().chain(&system.nonideal);
    let span = forces
        .filter(|force| {
            let roots: Vec<ExprId> = force.components.iter().map(|c| c.1).collect();
            let symbols = model.exprs.symbols_of(&roots);
            used.iter().any(|(_, symbol)| symbols.contains(symbol))
        })
        .map(|force| force.span)
        .next();
    let told = |span| Diagnostic::fault(Code::NoCommonSolution, span, words);
    if let Some(span) = span {
        return told(span).at("this force depends on a multiplier");
    }
    // What rubs is a force in phases only.
    let rubs = system.frictions.iter().filter(|friction| {
        let held = model.exprs.symbols_of(&[friction.bound]);
        system.unknowns.iter().any(|(symbol, _)| held.contains(symbol))
    });
    let spans: Vec<Span> = rubs.map(|friction| friction.span).collect();
    let touches = system.contacts.first().map(|contact| contact.span);
    let first = spans.first().copied().or(touches).unwrap_or_default();
    let mut fault = told(first).at("the friction here depends on the load");
    for span in spans.iter().skip(1).filter(|span| **span != first).take(3) {
        fault = fault.with(*span, "and here");
    }
    fault
}

/// What is said about servo constraints along which their inputs do not push.
pub fn explain_servo(model: &Model, words: impl Into<String>) -> Diagnostic {
    let span = model.system.servos.first().map(|servo| servo.span);
    Diagnostic::fault(Code::ServoHidden, span.unwrap_or_default(), words)
        .at("held by inputs")
        .hint("`--complete` appends what is implied, differentiated as often as it takes")
}

/// What is said about rows that nearly depend on each other.
pub fn explain_nearly(model: &Model, rows: &[usize], ratio: f64) -> Diagnostic {
    let message = format!(
        "constraints nearly depend on each other, by {ratio:.1e}: doubles do not tell what they \
         determine"
    );
    let whole = model.system.coordinates.first().map(|c| c.span).unwrap_or_default();
    let fault = Diagnostic::fault(Code::NearlyDependent, whole, message);
    let words = ["this adds next to nothing to the others", "these say nearly the same"];
    at_rows(&model.system, rows, fault, words)
        .hint("write what the difference of the rows says as a constraint of its own")
}

/// What is said about a state in a singular position.
pub fn explain_singular(model: &Model, rows: &[usize], words: String) -> Diagnostic {
    let whole = model.system.coordinates.first().map(|c| c.span).unwrap_or_default();
    let fault = Diagnostic::fault(Code::RankLost, whole, words);
    at_rows(
        &model.system,
        rows,
        fault,
        ["this says nothing here", "these depend on each other there"],
    )
    .hint("ask for a state beside it; a run that passes it goes on along its branch")
}

/// What is said about rows of which it is not known whether they follow from each other.
pub fn explain_undecided(model: &Model, rows: &[usize], words: String) -> Diagnostic {
    let whole = model.system.coordinates.first().map(|c| c.span).unwrap_or_default();
    let fault = Diagnostic::fault(Code::UndecidedRows, whole, words);
    at_rows(
        &model.system,
        rows,
        fault,
        ["this may follow from the others", "of these one may follow"],
    )
    .hint("leave out what the other constraints imply")
}

/// Points at rows: with other words for one than for several.
fn at_rows(system: &System, rows: &[usize], fault: Diagnostic, words: [&str; 2]) -> Diagnostic {
    let mut spans: Vec<Span> = Vec::new();
    for &row in rows {
        let Some((_, span)) = row_of(system, row) else { continue };
        if !spans.contains(&span) {
            spans.push(span);
        }
    }
    let mut fault = fault;
    if let (Some(first), Some(label)) = (spans.first(), fault.labels.first_mut()) {
        label.span = *first;
    }
    fault = fault.at(words[usize::from(spans.len() > 1)]);
    for span in spans.iter().skip(1).take(3) {
        fault = fault.with(*span, "and this");
    }
    fault
}

/// That a motion sticks is no fault: it is where it ends.
fn sticks(setting: &Setting, report: &RunReport, list: &[Stuck]) -> Option<Diagnostic> {
    let exprs = &setting.model.exprs;
    let t = report.stopped.t;
    let words: Vec<String> = list
        .iter()
        .map(|stuck| format!("`{}`", exprs.print_limited(stuck.switch, Notation::Source, 80)))
        .collect();
    let message = format!("the motion sticks at t = {}", rounded(t));
    let span = list.iter().find_map(|stuck| stuck.span).unwrap_or_default();
    let label = format!("neither side of {} leads away from here", words.join(", "));
    Some(Diagnostic::note(Code::Sticks, span, message).at(label))
}

struct Scene<'a> {
    reader: Reader,
    setting: &'a Setting,
    system: &'a System,
    report: &'a RunReport,
    file: &'a File,
}

/// A place, and what is said there.
type Place = (Span, String);

impl Scene<'_> {
    fn explain(&self, failure: &Failure) -> Diagnostic {
        let t = self.report.stopped.t;
        let start = self.report.start.state.t;
        // Of a run that did not get anywhere there is no earlier end.
        let before = (t != start).then(|| {
            let end = rounded(start + 0.99 * (t - start));
            match self.reader {
                Reader::CommandLine => format!("end the run before it: `--t-end {end}`"),
                Reader::Program => format!("end the run before it, at {end}"),
            }
        });
        let mut diagnostic = self.cause(failure, t);
        let is_gained =
            matches!(failure, Failure::RankLost { expected, found, .. } if found > expected);
        diagnostic.hints.extend(before.filter(|_| !is_gained));
        diagnostic
    }

    /// A contact that is about to have no normal.
    fn without_normal(&self, last: &Observation) -> Option<usize> {
        let table = last.table(self.system);
        let numbers = |ids: &[ExprId]| self.setting.numbers(ids, &table);
        let is_flat = |(normal, axis): (&[ExprId], &[ExprId])| {
            let (n, a) = (numbers(normal), numbers(axis));
            let cosine: f64 = n.iter().zip(&a).map(|(n, a)| n * a).sum();
            (1.0 - cosine * cosine).max(0.0).sqrt() < FLAT
        };
        self.system.contacts.iter().position(|contact| {
            let Some(touch) = &contact.touch else { return false };
            match &touch.shapes {
                [Shape::Plane(_, n), Shape::Rim(_, _, a)]
                | [Shape::Rim(_, _, a), Shape::Plane(_, n)] => is_flat((n, a)),
                [Shape::Ball(p, r), Shape::Ball(q, s)] => {
                    let (p, q) = (numbers(p), numbers(q));
                    let apart = p.iter().zip(&q).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
                    let sizes = numbers(&[*r, *s]);
                    apart < FLAT * sizes[0].abs().max(sizes[1].abs())
                }
                _ => false,
            }
        })
    }

    /// A table whose data the motion leaves.
    fn left_table(&self, t: f64) -> Option<Diagnostic> {
        let exprs = &self.setting.model.exprs;
        let forward = if t < self.report.start.state.t { -1.0 } else { 1.0 };
        let mut tables = exprs.tables(&self.system.roots());
        tables.extend(exprs.tables(&self.setting.model.system.roots()));
        for (id, _, argument) in tables {
            let Some(table) = id.table() else { continue };
            let Some((first, end)) = table.range() else { continue };
            let message = format!(
                "the motion leaves the data of table `{}` at t = {}: they are from {first} to {end}",
                table.name(),
                rounded(t)
            );
            let found = Diagnostic::fault(Code::TableRange, self.whole(), message)
                .hint("say how it goes on: `hold`, `extend` or `repeat`");
            // Where nothing can be observed any more, the motion is beyond the data itself.
            let Some(last) = &self.report.last else { return Some(found) };
            for power in [-14, -12, -10, -8, -6] {
                let dt = forward * 10f64.powi(power) * t.abs().max(1.0);
                let x = self.setting.number(argument, &advanced(last, dt).table(self.system));
                if (first..=end).contains(&x) || x.is_nan() {
                    continue;
                }
                return Some(found);
            }
        }
        None
    }

    fn cause(&self, failure: &Failure, t: f64) -> Diagnostic {
        let last = self.report.last.as_ref();
        if matches!(
            failure,
            Failure::Field(FieldError::NotFinite { .. }) | Failure::StepTooSmall { .. }
        ) && let Some(found) = self.left_table(t)
        {
            return found;
        }
        match failure {
            Failure::RankLost { expected, found, constraints } => {
                let is_lost = found < expected;
                let message = format!(
                    "the constraints {} at t = {}: of {} rows {expected} {} independent, now {found}",
                    if is_lost { "lose their rank" } else { "gain a rank" },
                    rounded(t),
                    self.system.constraints.len(),
                    if *expected == 1 { "was" } else { "were" }
                );
                let words = match is_lost {
                    true => [
                        "this restricts nothing from here on",
                        "these depend on each other from here on",
                    ],
                    false => [
                        "this restricted nothing until here",
                        "these depended on each other until here",
                    ],
                };
                let fault = Diagnostic::fault(Code::RankLost, self.whole(), message);
                let diagnostic = at_rows(self.system, constraints, fault, words);
                if is_lost {
                    return diagnostic;
                }
                diagnostic.hint("start beside the position in which they depend on each other")
            }
            Failure::Unresolved(change) => {
                let message = format!(
                    "the motion branches at t = {}: of {} independent constraints {} are left, and {}",
                    rounded(change.t),
                    change.before,
                    change.at,
                    change.stopped.map_or("the motion ends", |why| why.words())
                );
                let words =
                    ["this depends on the others there", "these depend on each other there"];
                let fault = Diagnostic::fault(Code::RankLost, self.whole(), message);
                at_rows(self.system, &change.constraints, fault, words)
            }
            Failure::NearlyDependent { ratio, constraints } => {
                explain_nearly(&self.setting.model, constraints, *ratio)
            }
            // What turns around faster and faster as it comes to lie flat is decided on without end.
            Failure::Phase(Fault::Again)
                if last.is_some_and(|l| self.without_normal(l).is_some()) =>
            {
                let contact = last.and_then(|last| self.without_normal(last)).unwrap_or(0);
                explain_phase(self.system, &Fault::Degenerate { contact }, t, false)
            }
            Failure::StepTooSmall { step } => {
                let message = format!(
                    "the step became too small ({step:.1e}) at t = {}: the motion is singular here",
                    rounded(t)
                );
                let (span, words) = last
                    .and_then(|last| self.beyond(last).or_else(|| self.fastest(last, None)))
                    .unwrap_or_else(|| (self.whole(), String::new()));
                if let Some(contact) = last.and_then(|last| self.without_normal(last)) {
                    return explain_phase(self.system, &Fault::Degenerate { contact }, t, false);
                }
                let diagnostic = Diagnostic::fault(Code::StepTooSmall, span, message).at(words);
                match self.report.statistics.switches {
                    0 => diagnostic,
                    _ => diagnostic
                        .hint("if a switch turns again and again here, smooth it: `tanh(1000*x')` for `sign(x')`"),
                }
            }
            Failure::Field(FieldError::NotFinite { what, index }) => {
                if let Some(state) = self.fed_back(what, *index) {
                    return state;
                }
                let message = format!("a term is not a number at t = {}", rounded(t));
                let coordinate = self.coordinate(what, *index);
                let (span, words) = last
                    .and_then(|last| self.beyond(last).or_else(|| self.fastest(last, coordinate)))
                    .unwrap_or_else(|| (self.whole(), format!("the {what}")));
                Diagnostic::fault(Code::NotANumber, span, message)
                    .at(words)
                    .hint("the motion leaves the region in which the model has values")
            }
            Failure::Field(FieldError::NoMotion(motion)) => {
                let words = match motion {
                    Verdict::GaugeFree => "some accelerations are not determined",
                    Verdict::HiddenConstraint => "a direction without mass has a force on it",
                    _ => "the constraints contradict each other",
                };
                let message =
                    format!("the motion is not determined at t = {}: {words}", rounded(t));
                let span = match motion {
                    Verdict::Inconsistent => self.system.constraints.first().map(|c| c.span),
                    _ => energy_span(self.file, &[EnergyKind::Kinetic]),
                };
                Diagnostic::fault(
                    Code::NoUniqueMotion,
                    span.unwrap_or_else(|| self.whole()),
                    message,
                )
                .hint(match self.reader {
                    Reader::CommandLine => {
                        "`dal eval` at this state tells more; `--complete` adds what is implied"
                    }
                    Reader::Program => "`simulate::complete` adds constraints that are implied",
                })
            }
            Failure::Reset { event, constraints, .. } => {
                let why = failure.words(&self.setting.model);
                let message = format!("the run stopped at t = {}: {why}", rounded(t));
                let span = self.system.events[*event].span;
                let mut diagnostic =
                    Diagnostic::fault(Code::RunStopped, span, message).at("this event");
                let rows = constraints.iter().filter_map(|&row| row_of(self.system, row));
                for (_, span) in rows.take(3) {
                    diagnostic = diagnostic.with(span, "this is in its way");
                }
                diagnostic.hint("list less: what is not listed follows from the constraints")
            }
            Failure::Jump { what, .. } => {
                let why = failure.words(&self.setting.model);
                let message = format!("the run stopped at t = {}: {why}", rounded(t));
                let energies =
                    [EnergyKind::Potential, EnergyKind::Lagrangian, EnergyKind::Hamiltonian];
                let (span, label, hint) = match what {
                    Jumps::Position(row) => (
                        row_of(self.system, *row).map(|row| row.1),
                        "no motion leads from one side to the other",
                        "let it move there in a finite time",
                    ),
                    Jumps::Velocity(row) => (
                        row_of(self.system, *row).map(|row| row.1),
                        "this has a corner here",
                        "round the corner, or describe the impact by an event",
                    ),
                    Jumps::Momentum => (
                        energy_span(self.file, &[EnergyKind::Kinetic]),
                        "this jumps here",
                        "describe what happens there by an event",
                    ),
                    Jumps::Energy => (
                        energy_span(self.file, &energies),
                        "this has a step here: an infinite force",
                        "make it steep, or describe what happens there by an event",
                    ),
                };
                let span = span.unwrap_or_else(|| self.whole());
                Diagnostic::fault(Code::Jump, span, message).at(label).hint(hint)
            }
            Failure::Phase(fault) => self.phase(fault, t),
            Failure::Field(FieldError::Coupled(error)) => {
                let name = |row| row_of(self.system, row).map_or("a force", |row| row.0);
                let words = error.named(name);
                let message = format!("at t = {} {words}", rounded(t));
                match error {
                    CoupledError::Servo { .. } => explain_servo(&self.setting.model, message),
                    _ => explain_coupled(&self.setting.model, message),
                }
            }
            other => {
                let why = other.words(&self.setting.model);
                let message = format!("the run stopped at t = {}: {why}", rounded(t));
                Diagnostic::fault(Code::RunStopped, self.whole(), message)
            }
        }
    }

    /// Why contacts and friction leave no phase to go on in.
    fn phase(&self, fault: &Fault, t: f64) -> Diagnostic {
        let is_start = t == self.report.start.state.t && self.report.statistics.steps == 0;
        explain_phase(self.system, fault, t, is_start)
    }

    /// The `run` statement, or the first coordinate.
    fn whole(&self) -> Span {
        let first = self.system.coordinates.first().map(|c| c.span);
        self.system.run.span.or(first).unwrap_or_default()
    }

    /// What is said of the rate of a state that holds what is solved for and is no number. Where
    /// rows depend on each other, which of them acts is open.
    fn fed_back(&self, what: &str, index: usize) -> Option<Diagnostic> {
        let at = index.checked_sub(self.system.n_coordinates()).filter(|_| what == "rate")?;
        let state = self.system.states.get(at)?;
        if !self.system.is_fed_back(&self.setting.model.exprs, state) {
            return None;
        }
        let message = format!("the rate of state `{}` is not a number", state.name);
        let hint = "it holds what is solved for, which has no formula where constraints depend on \
                    each other: leave out those that follow from the rest";
        Some(Diagnostic::fault(Code::NotANumber, state.span, message).at("this state").hint(hint))
    }

    /// The coordinate of a term, where the own velocities are the coordinates'.
    fn coordinate(&self, what: &str, index: usize) -> Option<usize> {
        let n = self.system.n_coordinates();
        let plain = self.report.variables.are_by_coordinate();
        match what {
            "metric" if plain => Some(index / n),
            "force" | "nonideal force" if plain => Some(index),
            "rate" if index < n => Some(index),
            "rate" if plain && index < 2 * n => Some(index - n),
            _ => None,
        }
    }

    /// A statement that has no value a little further on.
    fn beyond(&self, last: &Observation) -> Option<Place> {
        let forward = if last.state.t < self.report.start.state.t { -1.0 } else { 1.0 };
        (-14..=-3).find_map(|power| {
            let dt = forward * 10f64.powi(power) * last.state.t.abs().max(1.0);
            let ahead = advanced(last, dt).table(self.system);
            let span = valueless(self.setting, self.file, &ahead)?;
            Some((span, "this has no value from here on".to_owned()))
        })
    }

    /// What drives the coordinate that is accelerated most.
    fn fastest(&self, last: &Observation, coordinate: Option<usize>) -> Option<Place> {
        let by = |i: &usize, j: &usize| {
            last.accelerations[*i].abs().total_cmp(&last.accelerations[*j].abs())
        };
        let i = coordinate.or_else(|| (0..last.accelerations.len()).max_by(by))?;
        let name = &self.system.coordinates[i].name;
        let whole = last.momentum_rates[i].abs();
        let table = last.table(self.system);
        let forces = self.system.forces.iter().chain(&self.system.nonideal);
        let by_forces = forces.flat_map(|force| {
            let own = force.components.iter().filter(move |c| c.0 == i);
            own.map(move |c| (c.1, force.span))
        });
        let by_forces = by_forces.map(|(id, span)| (self.setting.number(id, &table).abs(), span));
        let rows = self.system.constraints.iter().enumerate();
        let by_rows = rows.map(|(row, constraint)| {
            let share = last.jacobian.entry(row, i) * last.multipliers[row];
            (share.abs(), constraint.span)
        });
        let largest = by_forces.chain(by_rows).max_by(|a, b| a.0.total_cmp(&b.0));
        let acceleration = last.accelerations[i];
        match largest {
            Some((size, span)) if size >= 0.5 * whole => {
                Some((span, format!("its force on `{name}` is {size:.1e} here")))
            }
            _ => {
                let kinds =
                    [EnergyKind::Potential, EnergyKind::Lagrangian, EnergyKind::Hamiltonian];
                let span = energy_span(self.file, &kinds);
                let span = span.unwrap_or(self.system.coordinates[i].span);
                Some((span, format!("`{name}''` is {acceleration:.1e} here")))
            }
        }
    }
}

/// Why contacts and friction leave no phase: at the start or a state asked for, or on a run.
pub(crate) fn explain_phase(system: &System, fault: &Fault, t: f64, is_start: bool) -> Diagnostic {
    let words = fault.words(system);
    let message = format!("at t = {} {words}", rounded(t));
    let first = system.coordinates.first().map(|c| c.span);
    let run = system.run.span.or(first).unwrap_or_default();
    let contact = system.contacts.first().map(|c| c.span);
    let friction = system.frictions.first().map(|f| f.span);
    let whole = contact.or(friction).unwrap_or(run);
    let told = |code, span| Diagnostic::fault(code, span, message.clone());
    match fault {
        Fault::Penetrates { contact, .. } => {
            let span = system.contacts[*contact].span;
            let name = &system.contacts[*contact].name;
            match is_start {
                true => told(Code::StartPenetrates, span)
                    .at("this is closed beyond its surface")
                    .hint(format!("start on the surface: `start {name}.gap = 0`")),
                false => told(Code::Penetrates, span)
                    .at("this begins to be there below its surface")
                    .hint("give what it met first a contact of its own"),
            }
        }
        Fault::Negative { friction, .. } => {
            // Those that were made of forces on the way are not among the model's.
            let span = system.frictions.get(*friction).map_or(whole, |f| f.span);
            told(Code::FrictionNegative, span)
        }
        Fault::ImpactDiffers { .. } => told(Code::ImpactNotUnique, run)
            .hint("say which it is: `run …, impacts at-once` or `impacts in-turn`"),
        Fault::ImpactGains { .. } => told(Code::ImpactGains, whole),
        Fault::Several(_) | Fault::ImpactSeveral => told(Code::ContactNotUnique, whole),
        Fault::None | Fault::ImpactNone => told(Code::ContactNone, whole),
        Fault::Degenerate { contact } => {
            told(Code::ContactDegenerate, system.contacts[*contact].span)
                .hint("start beside it, or give it points or balls that touch one by one")
        }
        _ if is_start => told(Code::RunStopped, whole),
        _ => {
            let message = format!("the run stopped at t = {}: {words}", rounded(t));
            Diagnostic::fault(Code::RunStopped, whole, message)
        }
    }
}

/// A statement that has no value at these values of the variables.
fn valueless(setting: &Setting, file: &File, table: &Table) -> Option<Span> {
    let system = &setting.model.system;
    let is_lost = |id: ExprId| !setting.number(id, table).is_finite();
    let forces = system.forces.iter().chain(&system.nonideal);
    for force in forces {
        if force.components.iter().any(|c| is_lost(c.1)) {
            return Some(force.span);
        }
    }
    if let Some(constraint) = system.constraints.iter().find(|c| is_lost(c.residual)) {
        return Some(constraint.span);
    }
    let energies = match &system.energy {
        Energy::Lagrangian { kinetic, potential, rest, .. } => vec![
            (*potential, EnergyKind::Potential),
            (*kinetic, EnergyKind::Kinetic),
            (*rest, EnergyKind::Lagrangian),
        ],
        Energy::Hamiltonian { hamiltonian, .. } => vec![(*hamiltonian, EnergyKind::Hamiltonian)],
    };
    let lost = energies.iter().find(|(id, _)| is_lost(*id))?;
    energy_span(file, &[lost.1])
}

/// The statement of these kinds, if there is one only.
fn energy_span(file: &File, kinds: &[EnergyKind]) -> Option<Span> {
    let is_wanted = |kind: &StatementKind| matches!(kind, StatementKind::Energy(kind, _) if kinds.contains(kind));
    let mut found = file.statements.iter().filter(|s| is_wanted(&s.kind));
    match (found.next(), found.next()) {
        (Some(one), None) => Some(one.span),
        _ => None,
    }
}

/// Where a state is after a short time.
fn advanced(last: &Observation, dt: f64) -> State {
    let State { t, q, velocity, momentum } = last.state.clone();
    // States have rates of their own; they stay.
    let step = |mut x: Vec<f64>, rate: &[f64]| -> Vec<f64> {
        x.iter_mut().zip(rate).for_each(|(x, rate)| *x += dt * rate);
        x
    };
    State {
        t: t + dt,
        q: step(q, &velocity),
        velocity: step(velocity, &last.accelerations),
        momentum: step(momentum, &last.momentum_rates),
    }
}

/// A time for a message.
fn rounded(t: f64) -> String {
    if t == 0.0 || (1e-3..1e6).contains(&t.abs()) {
        let text = format!("{t:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{t:.4e}")
    }
}
