//! Many cases of a model: parameters and start values varied, each case a run of its own.
//!
//! What is varied and is no parameter is a start value: the model is read once more with a
//! parameter in its place. The equations are derived and compiled once; a case is the program with
//! other numbers. Where these make another system of it (other rows that depend on each other),
//! it is derived anew for that case.
//!
//! Where nothing but ends is kept, cases are moved abreast, several at once on each thread
//! ([`Ensemble`]); what comes of a case is the same to the bit for any number of them.

use crate::{Diagnostic, Error, Input, Loaded, Model, Options, failures, refusals};
use dalembert_derive::Variables;
use dalembert_export::table::Columns;
use dalembert_expr::Symbol;
use dalembert_model::codes::Code;
use dalembert_model::system::System;
use dalembert_model::tree::{File, StatementKind};
use dalembert_simulate::drive::End;
use dalembert_simulate::points::start::Start;
use dalembert_simulate::run::{
    Arrived, Departure, Ensemble, Program, RunOptions, RunReport, Traveller,
};
use dalembert_simulate::{Observation, Setting, start};
pub use dalembert_sweep::store::Done;
pub use dalembert_sweep::{axes, plan, pool, sampling, store, study, summary, table};
use std::ops::ControlFlow;

/// A constant as the language writes it: `pi/2`, `3e-2`.
pub fn constant(text: &str) -> Result<f64, String> {
    let model =
        format!("param value = {}\ncoord q\nkinetic q'^2/2\n", text.replace(['\n', ';'], " "));
    let loaded = crate::load(&Input::text("--vary", &model), &Options::default());
    let fault = loaded.diagnostics.iter().find(|d| d.severity == crate::Severity::Fault);
    let number = loaded.model.as_ref().and_then(|model| {
        let known = dalembert_model::parameters::values(&model.exprs, &model.system.parameters);
        known.get(&model.system.parameters.first()?.symbol).copied()
    });
    match (fault, number) {
        (None, Some(number)) => Ok(number),
        (Some(fault), _) => Err(format!("`{text}`: {}", fault.message)),
        (None, None) => Err(format!("`{text}` is no number")),
    }
}

/// Reads a model so that all of `names` are parameters: those that are none are values of the
/// start, with the numbers given at first.
pub fn load(input: &Input, options: &Options, names: &[String], first: &[f64]) -> Loaded {
    let mut plain = crate::load(input, options);
    if let Some(fault) = names.iter().find_map(|name| constant_fault(&plain.file, name)) {
        plain.diagnostics.push(fault);
        return plain;
    }
    let Some(model) = &plain.model else { return plain };
    let mut options = options.clone();
    for (at, (name, &value)) in names.iter().zip(first).enumerate() {
        if parameter(&model.system, name).is_some() {
            continue;
        }
        let own = stand_in(&input.text, at);
        options.set.push(format!("{name} = {own}"));
        options.parameters.push((own, value));
    }
    match options.parameters.is_empty() {
        true => plain,
        false => crate::load(input, &options),
    }
}

/// What is wrong with varying a constant: it shapes the model, which is derived once.
fn constant_fault(file: &File, name: &str) -> Option<Diagnostic> {
    let constants = file.statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Const(list) => Some(list),
        _ => None,
    });
    let (family, _) = constants.flatten().find(|(family, _)| *family.name.text == *name)?;
    let words = format!("`{name}` is a constant; a study varies parameters and start values");
    Some(Diagnostic::fault(Code::NotApplicable, family.name.span, words))
}

fn parameter(system: &System, name: &str) -> Option<Symbol> {
    system.parameters.iter().find(|p| p.name == name).map(|p| p.symbol)
}

/// A name that a text does not have.
fn stand_in(text: &str, at: usize) -> String {
    let name = |tail: usize| format!("varied_{}{}", at + 1, "_".repeat(tail));
    (0..).map(name).find(|name| !text.contains(name)).unwrap_or_default()
}

/// Cases that a worker is given at once, where they are moved abreast.
const AT_ONCE: usize = 64;

/// A model that is ready for its cases.
pub struct Cases {
    setting: Setting,
    program: Program,
    options: RunOptions,
    symbols: Vec<Symbol>,
    file: File,
    columns: Columns,
    /// The columns of a row among these.
    chosen: Vec<usize>,
    keeps_tables: bool,
    /// For cases that are moved abreast, where they can be.
    ensemble: Option<Ensemble>,
    /// Whether what is varied changes the motion, or only its start.
    are_other_motions: bool,
}

/// What a study of a model keeps.
pub struct Kept<'a> {
    /// Names of the columns of a case's row; all of them if there are none.
    pub observe: &'a [String],
    /// Whether the outputs of each case are kept.
    pub tables: bool,
    /// The most cases that a thread moves at once.
    pub lanes: usize,
}

impl Cases {
    /// Compiles a model that was read by [`load`] from an input, with the file that it had.
    pub fn new(
        (model, file): (&Model, &File),
        input: &Input,
        names: &[String],
        change: impl FnOnce(&Setting, &mut RunOptions),
        kept: &Kept<'_>,
    ) -> Result<Cases, Error> {
        let unknown = |what: &str, name: &str| {
            let span = model.system.coordinates.first().map(|c| c.span).unwrap_or_default();
            let words = format!("{what} `{name}`, and there is none");
            Error::of_faults(vec![Diagnostic::fault(Code::NotApplicable, span, words)], model)
        };
        let symbols: Vec<Symbol> = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let system = &model.system;
                let own = || parameter(system, &stand_in(&input.text, at));
                parameter(system, name).or_else(own).ok_or_else(|| unknown("it varies", name))
            })
            .collect::<Result<_, _>>()?;
        let setting = Setting::new(model).map_err(|m| Error::of_missing(m, model))?;
        let mut options = RunOptions::of_model(&setting);
        change(&setting, &mut options);
        let program = Program::new(&setting, &options)
            .map_err(|error| Error::of_faults(refusals::of_run(&error, model), model))?;
        let canonical = options.formulation.variables() == Variables::Momenta;
        let columns = Columns::new(&setting, canonical, false);
        let chosen = chosen(&columns, kept.observe)
            .map_err(|name| unknown("what is kept has no column", &name))?;
        let name_of = |at: &usize| columns.names[*at].as_str();
        let has_work = chosen.iter().any(|at| name_of(at) == "work");
        let sees_work = has_work && !program.field().conserves_energy();
        let ensemble = match kept.tables || sees_work {
            true => None,
            false => program
                .ensemble(&options, kept.lanes)
                .map_err(|error| Error::of_faults(refusals::of_run(&error, model), model))?,
        };
        Ok(Cases {
            are_other_motions: program.depends_on(&symbols),
            ensemble,
            symbols,
            file: file.clone(),
            keeps_tables: kept.tables,
            setting,
            program,
            options,
            columns,
            chosen,
        })
    }

    /// The names of columns of what is varied: a value of the start is not that of the end.
    pub fn varied(&self, names: &[String]) -> Vec<String> {
        let system = &self.setting.model.system;
        let column = |name: &String| match parameter(system, name) {
            Some(_) => name.clone(),
            None => format!("start({name})"),
        };
        names.iter().map(column).collect()
    }

    /// The names of the columns of a row, after what is varied.
    pub fn columns(&self) -> Vec<String> {
        self.chosen.iter().map(|&at| self.columns.names[at].clone()).collect()
    }

    /// The names of the columns of a case's table.
    pub fn table_columns(&self) -> Option<Vec<String>> {
        self.keeps_tables.then(|| self.columns.names.clone())
    }

    /// The options of each run.
    pub fn options(&self) -> &RunOptions {
        &self.options
    }

    /// What a thread computes cases with.
    pub fn worker(&self) -> Worker<'_> {
        let traveller = self.ensemble.as_ref().and_then(|all| all.traveller().ok().flatten());
        Worker { cases: self, setting: self.setting.apart(), traveller }
    }

    /// How many cases a worker is best given at once.
    pub fn at_once(&self) -> usize {
        if self.ensemble.is_some() { AT_ONCE } else { 1 }
    }

    /// The setting and the start of a case, or why there is none.
    fn begin(&self, own: &Setting, values: &[f64]) -> Result<(Setting, Start), Done> {
        let pairs: Vec<(Symbol, f64)> =
            self.symbols.iter().copied().zip(values.iter().copied()).collect();
        let setting = own
            .with_all(&pairs)
            .map_err(|missing| failed(format!("{} has no value", missing.0.join(", "))))?;
        match start::start(&setting) {
            Ok(start) => Ok((setting, start)),
            Err(error) => Err(failed(words(&refusals::of_start(&error, &setting.model)))),
        }
    }

    /// Runs a case. What has failed has its reason, and the last state that it came to.
    pub fn run(&self, values: &[f64]) -> Done {
        self.run_in(&self.setting, values)
    }

    fn run_in(&self, own: &Setting, values: &[f64]) -> Done {
        match self.begin(own, values) {
            Ok((setting, start)) => self.run_from(&setting, start),
            Err(failed) => failed,
        }
    }

    fn run_from(&self, setting: &Setting, start: Start) -> Done {
        let mut done = Done::default();
        let mut row = Vec::new();
        let mut record = |observation: &Observation| {
            if self.keeps_tables {
                self.columns.row(setting, observation, &mut row);
                done.table.extend(&row);
            }
            ControlFlow::Continue(())
        };
        let report = match self.program.run_from(setting, &self.options, start, &mut record) {
            Ok(report) => report,
            Err(error) => return failed(words(&refusals::of_run(&error, &setting.model))),
        };
        if let Some(last) = &report.last {
            done.row = self.row(setting, last);
        }
        done.failure = self.fault(setting, &report);
        done
    }

    fn row(&self, setting: &Setting, last: &Observation) -> Vec<f64> {
        let mut row = Vec::new();
        self.columns.row(setting, last, &mut row);
        self.chosen.iter().map(|&at| row[at]).collect()
    }

    fn fault(&self, setting: &Setting, report: &RunReport) -> Option<String> {
        let faults = report.verdict().err()?;
        match failures::explain(setting, report, &self.file) {
            Some(explained) => Some(explained.message),
            None => Some(faults.join("; ")),
        }
    }
}

fn failed(words: String) -> Done {
    Done { failure: Some(words), ..Done::default() }
}

/// Computes cases, for one thread.
///
/// What comes of a case depends on its values alone, not on those beside it and not on those before:
/// nothing that is learned of a motion (rows chosen, noise measured, steps) is kept for the next.
pub struct Worker<'a> {
    cases: &'a Cases,
    /// The setting of the cases, apart: threads do not wait for each other's expressions.
    setting: Setting,
    traveller: Option<Traveller>,
}

impl Worker<'_> {
    /// What came of each of some cases, in their order.
    pub fn batch(&mut self, cases: &[&[f64]]) -> Vec<Done> {
        let Worker { cases: own, setting: apart, traveller } = self;
        let Some(traveller) = traveller else {
            return cases.iter().map(|values| own.run_in(apart, values)).collect();
        };
        let mut done: Vec<Option<Done>> = vec![None; cases.len()];
        let mut begun: Vec<Option<(Setting, Start, Departure)>> = Vec::new();
        for (id, values) in cases.iter().enumerate() {
            begun.push(match own.begin(apart, values) {
                Ok((setting, start)) => match own.departs(id, &setting, &start) {
                    Some(motion) => Some((setting, start, motion)),
                    None => {
                        done[id] = Some(own.run_from(&setting, start));
                        None
                    }
                },
                Err(failed) => {
                    done[id] = Some(failed);
                    None
                }
            });
        }
        let mut next = begun.iter().flatten().map(|case| case.2.clone());
        let mut ends: Vec<Arrived> = Vec::new();
        traveller.travel_all(&mut || next.next(), &mut |arrived| ends.push(arrived));
        for arrived in ends {
            let Some((setting, start, motion)) = begun[arrived.id].take() else { continue };
            let id = arrived.id;
            let is_there = matches!(arrived.end, End::Finished | End::Stopped { .. });
            let seen = match is_there && own.may_be(&motion, &arrived) {
                true => traveller.look(&motion, &arrived).and_then(Result::ok),
                false => None,
            };
            done[id] = Some(match seen {
                Some(seen) => Done {
                    row: own.row(&setting, &seen.observation),
                    failure: seen
                        .certificate
                        .verdict(own.options.tolerance)
                        .err()
                        .map(|faults| faults.join("; ")),
                    ..Done::default()
                },
                // Whatever stood in the way, a run tells it.
                None => own.run_from(&setting, start),
            });
        }
        done.into_iter().map(Option::unwrap_or_default).collect()
    }
}

impl Cases {
    /// A case to be moved abreast, if it can be.
    fn departs(&self, id: usize, setting: &Setting, start: &Start) -> Option<Departure> {
        let mut motion = Departure::new(id, start.state.clone());
        if self.are_other_motions {
            if !self.program.has_rows_of(setting) {
                return None;
            }
            motion.setting = Some(setting.clone());
        }
        Some(motion)
    }

    /// Whether a motion with its own parameters is one of the model. All of whose steps were taken
    /// with the others is: there pivots were watched, from those of the model's own start on, so that
    /// the masses are regular and the rows independent.
    fn may_be(&self, motion: &Departure, arrived: &Arrived) -> bool {
        let Some(setting) = motion.setting.as_ref().filter(|_| arrived.served > 0) else {
            return true;
        };
        let program = self.program.with(setting);
        program.is_some_and(|program| program.check(&motion.state).is_ok())
    }
}

/// The columns that are named, or all; an expression is found as it is written. Else the name that
/// there is no column of.
fn chosen(columns: &Columns, observe: &[String]) -> Result<Vec<usize>, String> {
    if observe.is_empty() {
        return Ok((0..columns.names.len()).collect());
    }
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let names: Vec<String> = columns.names.iter().map(|column| plain(column)).collect();
    let mut chosen = Vec::new();
    for text in observe {
        let name = plain(text.split_once('=').map_or(text, |(name, _)| name));
        // A vector has a column for each entry.
        let is_entry = |column: &String| {
            column
                .strip_prefix(&name)
                .is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
        };
        let places = match names.iter().position(|column| *column == name) {
            Some(place) => vec![place],
            None => (0..names.len()).filter(|&at| is_entry(&names[at])).collect(),
        };
        if places.is_empty() {
            return Err(text.clone());
        }
        chosen.extend(places);
    }
    Ok(chosen)
}

fn words(faults: &[Diagnostic]) -> String {
    let words: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    words.join("; ")
}
