//! What a page claims of its model, held against numbers: the lines of ```check
//! blocks.

use dalembert_analyze::linearize::linearize;
use dalembert_analyze::{Request, analyze};
use dalembert_derive::{ALL as FORMULATIONS, for_system};
use dalembert_export::linearization::failure_words;
use dalembert_export::{AnalysisPage, LinearizationPage};
use dalembert_expr::ExprId;
use dalembert_gauss::coupled::CoupledError;
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::load::Loaded;
use dalembert_model::span::Span;
use dalembert_model::system::{CheckAt, CheckKind, Energy, Model};
use dalembert_simulate::drive::End;
use dalembert_simulate::normal_form::Solved;
use dalembert_simulate::points::random_states;
use dalembert_simulate::program::observer::{Observation, PhaseSeen};
use dalembert_simulate::report::{self, Options, Report};
use dalembert_simulate::run::{self, RunOptions};
use dalembert_simulate::{ALL as ELIMINATIONS, Refusal, Setting, Start, State, Table, start};

use serde_json::Value;
use std::cell::OnceCell;
use std::ops::ControlFlow;

/// How a check came out.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// The line.
    pub span: Span,
    /// What was found.
    pub outcome: CheckOutcome,
}

/// What was found of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckOutcome {
    /// It holds; the largest error where numbers were compared.
    Holds(Option<f64>),
    /// It does not, and why.
    Fails(String),
    /// This version cannot tell, and why.
    Waits(&'static str),
}

/// Comparisons without `within`.
const DEFAULT: f64 = 1e-9;
/// Local error of the run that checks speak of.
const TIGHT: f64 = 1e-12;
/// Random states of a comparison without `at`.
const RANDOM: usize = 5;

/// Runs the checks of a model.
pub fn run(loaded: &Loaded) -> Vec<CheckResult> {
    let Some(model) = &loaded.model else { return faults_only(loaded) };
    let checker = Checker::new(model);
    let results = model.system.checks.iter().map(|check| {
        let outcome = match &check.kind {
            CheckKind::Fault(name) | CheckKind::Warning(name) => expected(loaded, name),
            kind => checker
                .as_ref()
                .map_or_else(|why| CheckOutcome::Fails(why.clone()), |c| c.check(loaded, kind)),
        };
        CheckResult { span: check.span, outcome }
    });
    results.collect()
}

/// A faulty model has no checks but those that expect its faults.
fn faults_only(loaded: &Loaded) -> Vec<CheckResult> {
    use dalembert_model::tree::CheckKind as Tree;
    let results = loaded.file.checks.iter().map(|check| {
        let outcome = match &check.kind {
            Tree::Fault(name) | Tree::Warning(name) => expected(loaded, &name.text),
            _ => CheckOutcome::Waits("the model has faults"),
        };
        CheckResult { span: check.span, outcome }
    });
    results.collect()
}

fn expected(loaded: &Loaded, name: &str) -> CheckOutcome {
    let named = |list: &[Diagnostic]| list.iter().any(|d| d.code.name() == name);
    match named(&loaded.diagnostics) || named(&crate::lint(loaded)) {
        true => CheckOutcome::Holds(None),
        false => CheckOutcome::Fails(format!("the model yields no `{name}`")),
    }
}

/// A check that failed, as a fault of the page.
pub fn fault(result: &CheckResult) -> Option<Diagnostic> {
    let CheckOutcome::Fails(why) = &result.outcome else { return None };
    let message = format!("this check does not hold: {why}");
    Some(Diagnostic::fault(Code::CheckFailed, result.span, message))
}

/// What a run passed.
struct Passed {
    list: Vec<Observation>,
    /// Why it failed, if it did.
    early: Option<String>,
    /// By which event it ended, if by one.
    ended: Option<String>,
    /// Its last state.
    last: Option<Observation>,
}

/// Whether an error is above a tolerance; NaN must not pass for small.
fn exceeds(error: f64, tolerance: f64) -> bool {
    error > tolerance || error.is_nan() || tolerance.is_nan()
}

/// Fields of the analysis that take a search.
const SEARCHES: [&str; 2] = ["potentials", "singular"];

/// Whether two values are the same; numbers up to rounding.
fn agrees(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => !exceeds((a - b).abs(), DEFAULT * b.abs().max(1.0)),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(a, b))
        }
        _ => found == expected,
    }
}

/// All numbers of a value, in order; NaN for what is none.
fn flatten(value: &Value, into: &mut Vec<f64>) {
    match value {
        Value::Array(list) => list.iter().for_each(|v| flatten(v, into)),
        Value::Number(x) => into.push(x.as_f64().unwrap_or(f64::NAN)),
        _ => into.push(f64::NAN),
    }
}

struct Checker {
    setting: Setting,
    start: Result<Start, String>,
    random: OnceCell<Vec<State>>,
    passed: OnceCell<Result<Passed, String>>,
    analysis: OnceCell<Result<Value, String>>,
    linear: OnceCell<Result<Value, String>>,
}

impl Checker {
    fn new(model: &Model) -> Result<Checker, String> {
        let setting = Setting::new(model).map_err(|missing| missing.to_string())?;
        let start = start::start(&setting).map_err(|error| match error {
            start::StartError::Clash(list) => list[0].message.clone(),
            start::StartError::Legendre(error) => error.to_string(),
            start::StartError::Time => "the start time is not a number".to_owned(),
        });
        Ok(Checker {
            setting,
            start,
            random: OnceCell::new(),
            passed: OnceCell::new(),
            analysis: OnceCell::new(),
            linear: OnceCell::new(),
        })
    }

    fn model(&self) -> &Model {
        &self.setting.model
    }

    fn check(&self, loaded: &Loaded, kind: &CheckKind) -> CheckOutcome {
        match kind {
            CheckKind::Equal { left, right, within, at: CheckAt::Time(time) } => {
                self.at_time(left, right, *within, *time)
            }
            CheckKind::Equal { left, right, within, at: CheckAt::End } => {
                self.at_end(left, right, *within)
            }
            CheckKind::Conserve { value, within } => self.conserve(*value, *within),
            CheckKind::Analyze { field, value } => self.analyze(field, value),
            CheckKind::Linearize { field, values, word, within } => {
                self.linearize(field, values.as_deref(), word, *within)
            }
            CheckKind::Equal { left, right, within, at } => self.equal(left, right, *within, at),
            CheckKind::Agree { within } => self.agree(loaded, *within),
            CheckKind::Verdict(name) => self.motion(name),
            CheckKind::Fault(_) | CheckKind::Warning(_) => CheckOutcome::Holds(None),
        }
    }

    /// What `dal analyze --json` says; searches are made if the page asks for them.
    fn analysis(&self) -> Result<&Value, String> {
        let asks = |kind: &CheckKind| match kind {
            CheckKind::Analyze { field, .. } => SEARCHES.iter().any(|s| field.starts_with(s)),
            _ => false,
        };
        self.analysis
            .get_or_init(|| {
                let model = self.model();
                let searches = model.system.checks.iter().any(|check| asks(&check.kind));
                let request = Request { searches, ..Request::default() };
                match analyze(model, &request) {
                    Ok(found) => Ok(AnalysisPage { model, analysis: &found }.to_json()),
                    Err(report::EvalError::Refused(refusal)) => Err(refusal.to_string()),
                    Err(_) => Err("there is no consistent start".to_owned()),
                }
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// A field of the analysis, `kinds.rod` for a field of a field.
    fn analyze(&self, field: &str, value: &str) -> CheckOutcome {
        let expected: Value = match serde_json::from_str(value.trim()) {
            Ok(value) => value,
            Err(_) => return CheckOutcome::Fails(format!("`{}` is no JSON", value.trim())),
        };
        let all = match self.analysis() {
            Ok(all) => all,
            Err(why) => return CheckOutcome::Fails(why),
        };
        let (head, tail) = match field.trim().split_once('.') {
            Some((head, tail)) => (head, Some(tail)),
            None => (field.trim(), None),
        };
        let found = all.get(head).and_then(|v| tail.map_or(Some(v), |tail| v.get(tail)));
        match found {
            None => CheckOutcome::Fails(format!("the analysis has no field `{}`", field.trim())),
            Some(found) if agrees(found, &expected) => CheckOutcome::Holds(None),
            Some(found) => CheckOutcome::Fails(format!("it is {found}")),
        }
    }

    /// What `dal linearize --json` says.
    fn linear(&self) -> Result<&Value, String> {
        self.linear
            .get_or_init(|| {
                let model = self.model();
                match linearize(&self.setting) {
                    Ok(found) => Ok(LinearizationPage { model, found: &found }.to_json()),
                    Err(error) => Err(failure_words(&error, model)),
                }
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// A field of the linear equations: one of the object itself, else a matrix or one of
    /// `control`; `matrices.mass` for a field of a field.
    fn linearize(
        &self,
        field: &str,
        values: Option<&[ExprId]>,
        word: &str,
        within: Option<ExprId>,
    ) -> CheckOutcome {
        let all = match self.linear() {
            Ok(all) => all,
            Err(why) => return CheckOutcome::Fails(why),
        };
        let field = field.trim();
        let found = match field.split_once('.') {
            Some((head, tail)) => all.get(head).and_then(|v| v.get(tail)),
            None => ["", "matrices", "control"].iter().find_map(|place| match *place {
                "" => all.get(field).filter(|_| field != "zeros"),
                place => all[place].get(field),
            }),
        };
        let Some(found) = found else {
            return CheckOutcome::Fails(format!("the linear equations have no field `{field}`"));
        };
        let Some(values) = values else {
            return match serde_json::from_str::<Value>(word) {
                Ok(expected) if expected == *found => CheckOutcome::Holds(None),
                _ => CheckOutcome::Fails(format!("it is {found}")),
            };
        };
        let mut numbers = Vec::new();
        flatten(found, &mut numbers);
        let expected = self.setting.numbers(values, &Table::default());
        if numbers.len() != expected.len() {
            return CheckOutcome::Fails(format!("it is {found}"));
        }
        let tolerance = self.tolerance(within);
        let mut worst = 0f64;
        for (a, b) in numbers.iter().zip(&expected) {
            let error = (a - b).abs() / b.abs().max(1.0);
            if exceeds(error, tolerance) {
                return CheckOutcome::Fails(format!("it is {found}: {a} is not {b}"));
            }
            worst = worst.max(error);
        }
        CheckOutcome::Holds(Some(worst))
    }

    /// The run that the checks of the page speak of, as tight as doubles allow. If
    /// it ends early, what it passed until then and why it ended.
    fn passed(&self) -> Result<&Passed, String> {
        self.passed
            .get_or_init(|| {
                let mut options = RunOptions::of_model(&self.setting);
                options.tolerance = options.tolerance.min(TIGHT);
                options.every.get_or_insert((options.end - self.run_start()).abs() / 200.0);
                for check in &self.model().system.checks {
                    if let CheckKind::Equal { at: CheckAt::Time(time), .. } = &check.kind {
                        options.times.push(self.setting.number(*time, &Table::default()));
                    }
                }
                let mut list = Vec::new();
                let report = run::run(&self.setting, &options, &mut |observation| {
                    list.push(observation.clone());
                    ControlFlow::Continue(())
                });
                match report {
                    Err(_) => Err("the run could not begin".to_owned()),
                    Ok(report) => {
                        let early = match &report.end {
                            End::Failed(failure) => Some(failure.words(self.model())),
                            _ => None,
                        };
                        let ended = dalembert_export::end_words(&report.end, self.model());
                        Ok(Passed { list, early, ended, last: report.last })
                    }
                }
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    fn run_start(&self) -> f64 {
        self.start.as_ref().map_or(0.0, |s| s.state.t)
    }

    fn conserve(&self, value: ExprId, within: Option<ExprId>) -> CheckOutcome {
        let tolerance = self.tolerance(within);
        let Passed { list, early, .. } = match self.passed() {
            Ok(passed) => passed,
            Err(why) => return CheckOutcome::Fails(why),
        };
        if let Some(why) = early {
            return CheckOutcome::Fails(format!("the run ended early: {why}"));
        }
        let system = &self.model().system;
        let values: Vec<f64> =
            list.iter().map(|o| self.setting.number(value, &o.table(system))).collect();
        let first = values.first().copied().unwrap_or(f64::NAN);
        let mut worst = 0f64;
        for (value, observation) in values.iter().zip(list) {
            let drift = (value - first).abs() / first.abs().max(1.0);
            // NaN must not pass for small.
            if exceeds(drift, tolerance) {
                return CheckOutcome::Fails(format!(
                    "it is {first} at the start and {value} at t = {}",
                    observation.state.t
                ));
            }
            worst = worst.max(drift);
        }
        CheckOutcome::Holds(Some(worst))
    }

    fn at_time(
        &self,
        left: &[ExprId],
        right: &[ExprId],
        within: Option<ExprId>,
        time: ExprId,
    ) -> CheckOutcome {
        let t = self.setting.number(time, &Table::default());
        let Passed { list, early, ended, last } = match self.passed() {
            Ok(passed) => passed,
            Err(why) => return CheckOutcome::Fails(why),
        };
        let Some(observation) = list.iter().find(|o| o.state.t == t) else {
            return CheckOutcome::Fails(match (early, ended, last) {
                (Some(why), _, _) => format!("the run ended early: {why}"),
                (None, Some(why), Some(last)) => {
                    format!("the run ended at t = {}, before t = {t}: {why}", last.state.t)
                }
                _ => format!("t = {t} is not on the run"),
            });
        };
        self.compare(observation, left, right, within)
    }

    /// Where the run ends: at its time, or by an event.
    fn at_end(&self, left: &[ExprId], right: &[ExprId], within: Option<ExprId>) -> CheckOutcome {
        match self.passed() {
            Err(why) => CheckOutcome::Fails(why),
            Ok(Passed { early: Some(why), .. }) => {
                CheckOutcome::Fails(format!("the run ended early: {why}"))
            }
            Ok(Passed { last: Some(last), .. }) => self.compare(last, left, right, within),
            Ok(_) => CheckOutcome::Fails("there are no numbers at the end of the run".to_owned()),
        }
    }

    /// Whether two sides agree on the run.
    fn compare(
        &self,
        observation: &Observation,
        left: &[ExprId],
        right: &[ExprId],
        within: Option<ExprId>,
    ) -> CheckOutcome {
        let table = observation.table(&self.model().system);
        let (a, b) = (self.setting.numbers(left, &table), self.setting.numbers(right, &table));
        let tolerance = self.tolerance(within);
        let mut worst = 0f64;
        for (a, b) in a.iter().zip(&b) {
            let error = (a - b).abs() / b.abs().max(1.0);
            if exceeds(error, tolerance) {
                return CheckOutcome::Fails(format!("the left side is {a}, the right side {b}"));
            }
            worst = worst.max(error);
        }
        CheckOutcome::Holds(Some(worst))
    }

    fn tolerance(&self, within: Option<ExprId>) -> f64 {
        within.map_or(DEFAULT, |id| self.setting.number(id, &Table::default()))
    }

    /// The start and the random states.
    fn states(&self) -> Result<Vec<State>, String> {
        let start = self.start.as_ref().map_err(Clone::clone)?;
        let random = self.random.get_or_init(|| random_states(&self.setting, start, RANDOM, 2026));
        Ok(std::iter::once(start.state.clone()).chain(random.iter().cloned()).collect())
    }

    fn report(&self, state: &State, options: &Options) -> Result<Report, String> {
        let found = match self.model().system.wants_phase() {
            true => report::in_phase_at(&self.setting, state, options),
            false => report::at(&self.setting, state, options),
        };
        let found = match found {
            // Where contacts leave no phase, as below a surface, only what does not speak of them has a
            // value.
            Err(report::EvalError::Phase { .. }) => report::at(&self.setting, state, options),
            found => found,
        };
        found.map_err(|error| match error {
            report::EvalError::Refused(refusal) => refusal.to_string(),
            _ => "there are no numbers at this state".to_owned(),
        })
    }

    fn equal(
        &self,
        left: &[ExprId],
        right: &[ExprId],
        within: Option<ExprId>,
        at: &CheckAt,
    ) -> CheckOutcome {
        let states = match at {
            CheckAt::Start => {
                self.start.as_ref().map(|s| vec![s.state.clone()]).map_err(Clone::clone)
            }
            CheckAt::State(items) => {
                State::of_items(&self.setting, items).map(|s| vec![s]).map_err(|e| e.to_string())
            }
            _ => self.states(),
        };
        let states = match states {
            Ok(states) => states,
            Err(why) => return CheckOutcome::Fails(why),
        };
        let tolerance = self.tolerance(within);
        let mut worst = 0f64;
        for (at, state) in states.iter().enumerate() {
            let table = match self.table(state) {
                Ok(table) => table,
                Err(why) => return CheckOutcome::Fails(why),
            };
            let a = self.setting.numbers(left, &table);
            let b = self.setting.numbers(right, &table);
            for (a, b) in a.iter().zip(&b) {
                let error = (a - b).abs() / b.abs().max(1.0);
                // NaN must not pass for small.
                if exceeds(error, tolerance) {
                    let place = match at {
                        _ if states.len() == 1 => "",
                        0 => " at the start",
                        _ => " at a random consistent state",
                    };
                    return CheckOutcome::Fails(format!(
                        "the left side is {a}, the right side {b}{place}"
                    ));
                }
                worst = worst.max(error);
            }
        }
        CheckOutcome::Holds(Some(worst))
    }

    /// Values for everything a check may speak of.
    fn table(&self, state: &State) -> Result<Table, String> {
        let model = self.model();
        let system = &model.system;
        let report = self.report(state, &Options::of_model(model))?;
        let answer = &report.answers[0];
        let evaluation = answer.result.as_ref().map_err(|refusal| refusal.to_string())?;
        if !evaluation.outcome.motion.exists() {
            return Err(format!("the motion is {}", evaluation.outcome.motion.name()));
        }
        let mut table = state.table(system);
        table.set_all(&system.accelerations(), &evaluation.accelerations);
        if let Energy::Hamiltonian { .. } = system.energy {
            table.set_all(&system.momentum_rates(), &self.momentum_rates(state)?);
        }
        let solved = Solved {
            multipliers: &evaluation.outcome.multipliers,
            indeterminate: &evaluation.outcome.indeterminate,
            constraint_force: &evaluation.constraint_force,
            jacobian: &report.reference.rows(),
        };
        solved.fill(report.phase.as_ref().map_or(system, |here| &here.model.system), &mut table);
        if let Some(here) = &report.phase {
            PhaseSeen::of(here).fill(system, &solved, &mut table);
        }
        Ok(table)
    }

    /// ṗ, from Hamilton's equations.
    fn momentum_rates(&self, state: &State) -> Result<Vec<f64>, String> {
        let mut options = Options::of_model(self.model());
        options.formulations = vec![for_system(&self.model().system)];
        let report = self.report(state, &options)?;
        let answer = report.answers.into_iter().next();
        match answer.map(|a| a.result) {
            Some(Ok(evaluation)) => Ok(evaluation.outcome.v_dot),
            Some(Err(refusal)) => Err(refusal.to_string()),
            None => Err("no formulation applies".to_owned()),
        }
    }

    fn agree(&self, loaded: &Loaded, within: Option<ExprId>) -> CheckOutcome {
        let mut options = Options::of_model(self.model());
        options.formulations = FORMULATIONS.to_vec();
        options.eliminations = ELIMINATIONS.to_vec();
        let tolerance = self.tolerance(within);
        let states = match self.states() {
            Ok(states) => states,
            Err(why) => return CheckOutcome::Fails(why),
        };
        let mut worst = 0f64;
        for state in &states {
            let report = match self.report(state, &options) {
                Ok(report) => report,
                Err(why) => return CheckOutcome::Fails(why),
            };
            match report.agreement {
                None => return CheckOutcome::Fails("fewer than two routes apply".to_owned()),
                Some(difference) if difference <= tolerance => worst = worst.max(difference),
                Some(difference) => {
                    return CheckOutcome::Fails(format!(
                        "two routes differ by {difference:.2e} of the largest value"
                    ));
                }
            }
        }
        match crate::told::difference(loaded, &self.setting, &states) {
            Err(why) => CheckOutcome::Fails(why),
            Ok(Some(difference)) if exceeds(difference, tolerance) => CheckOutcome::Fails(format!(
                "relative and absolute coordinates differ by {difference:.2e} of the largest value"
            )),
            Ok(difference) => CheckOutcome::Holds(Some(worst.max(difference.unwrap_or(0.0)))),
        }
    }

    fn motion(&self, name: &str) -> CheckOutcome {
        let start = match &self.start {
            Ok(start) => start,
            Err(_) if name == "inconsistent" => return CheckOutcome::Holds(None),
            Err(why) => return CheckOutcome::Fails(why.clone()),
        };
        let (setting, options) = (&self.setting, Options::of_model(self.model()));
        let found = match self.model().system.wants_phase() {
            true => report::in_phase_at(setting, &start.state, &options),
            false => report::at(setting, &start.state, &options),
        };
        let report = match found {
            Ok(report) => report,
            Err(report::EvalError::Refused(Refusal::Coupled {
                error: CoupledError::Servo { .. },
                ..
            })) if name == "hidden-constraint" => return CheckOutcome::Holds(None),
            Err(report::EvalError::Refused(refusal)) => {
                return CheckOutcome::Fails(refusal.to_string());
            }
            Err(_) => return CheckOutcome::Fails("there are no numbers at this state".to_owned()),
        };
        match &report.answers[0].result {
            Ok(e) if e.outcome.motion.name() == name => CheckOutcome::Holds(None),
            Ok(e) => CheckOutcome::Fails(format!("the motion is {}", e.outcome.motion.name())),
            Err(refusal) => CheckOutcome::Fails(refusal.to_string()),
        }
    }
}
