//! A motion: samples, the states between them, events, certificate.

use crate::error::{Error, ErrorKind};
use crate::key::{Key, Names};
use crate::sample::{Moment, Row, Sample};
use dalembert_expr::ExprId;
use dalembert_model::system::Model;
use dalembert_simulate::FieldError;
use dalembert_simulate::Observation;
use dalembert_simulate::drive::{End, Failure};
#[cfg(feature = "documents")]
use dalembert_simulate::run::RunOptions;
use dalembert_simulate::run::verify::{ErrorEstimate, Sink, StateError};
use dalembert_simulate::run::{Certificate, Line, RunReport};
use dalembert_simulate::{Setting, State};
use std::fmt;
use std::ops::{ControlFlow, Deref};

/// A motion that was run.
///
/// [`samples`](Trajectory::samples) are what the run wrote: states on the constraints, with
/// accelerations, multipliers and reactions. [`at`](Trajectory::at) gives states at any time.
pub struct Trajectory {
    setting: Setting,
    names: Names,
    rows: Vec<Row>,
    report: RunReport,
}

impl fmt::Debug for Trajectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trajectory")
            .field("samples", &self.rows.len())
            .field("end", &self.report.end)
            .finish_non_exhaustive()
    }
}

/// Threads may share a motion.
const _: fn() = || {
    fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Trajectory>();
};

/// Takes the rows of a run.
pub(crate) struct Rows {
    setting: Setting,
    outputs: Vec<ExprId>,
    list: Vec<Row>,
}

impl Rows {
    pub(crate) fn new(setting: &Setting) -> Rows {
        let outputs = setting.model.system.observes.iter().map(|o| o.value).collect();
        Rows { setting: setting.clone(), outputs, list: Vec::new() }
    }

    pub(crate) fn into_trajectory(self, report: RunReport) -> Trajectory {
        let names = Names::new(&self.setting.model);
        Trajectory { setting: self.setting, names, rows: self.list, report }
    }
}

impl Sink for Rows {
    fn restart(&mut self) {
        self.list.clear();
    }

    fn record(&mut self, row: &Observation, _: Option<&StateError>) -> ControlFlow<()> {
        let mut seen = row.clone();
        let table = seen.table(&self.setting.model.system);
        let outputs = self.setting.numbers(&self.outputs, &table);
        let open = seen.multipliers.iter_mut().zip(&seen.indeterminate);
        open.filter(|(_, is_open)| **is_open).for_each(|(value, _)| *value = f64::NAN);
        self.list.push(Row { seen, outputs });
        ControlFlow::Continue(())
    }
}

impl Trajectory {
    /// The samples, from the start on. An event that resets the state has one before and one
    /// after it, at the same time.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = Sample<'_>> + DoubleEndedIterator {
        self.rows.iter().map(|row| Sample::new(&self.names, row))
    }

    /// The last sample; `None` if there is not even one of the start.
    pub fn last(&self) -> Option<Sample<'_>> {
        self.samples().next_back()
    }

    /// A quantity at all samples.
    pub fn column(&self, key: impl Key) -> Result<Vec<f64>, Error> {
        let name = key.name();
        let Some(place) = self.names.find(&name) else {
            return Err(Error::unknown("quantity", &name, self.names.all()));
        };
        Ok(self.samples().map(|sample| *sample.value(place)).collect())
    }

    /// The state at a time of the motion, from the integrator's own polynomial: of its dense
    /// order, 7 for `dop853`.
    ///
    /// At the ends of steps it is the state that the run went on from. Inside of a step it is not
    /// brought back onto the constraints, as samples are: it misses them, and these, by what the
    /// dense output is off, which is about the tolerance. There are no accelerations and no
    /// multipliers: a sample has them ([`Simulation::at`](crate::Simulation::at) asks for one at
    /// a time). Where an event resets the state it is the state after the event.
    pub fn at(&self, t: f64) -> Result<Moment<'_>, Error> {
        let Some(dense) = &self.report.dense else {
            let words = "the motion between samples was not kept: `dense(false)` was asked for";
            return Err(Error::plain(ErrorKind::NotDense, words));
        };
        let (first, last) = (&self.report.start.state, self.rows.last());
        let from = first.t;
        let to = dense.span().map_or(from, |span| span.1);
        let forward = if to >= from { 1.0 } else { -1.0 };
        // What stands behind momenta is looked for next to the sample before.
        let before = self.rows.partition_point(|row| forward * (row.seen.state.t - t) <= 0.0);
        let near = before.checked_sub(1).and_then(|at| self.rows.get(at)).or(last);
        let near = near.map_or(first, |row| &row.seen.state);
        match dense.state(&self.setting, t, near) {
            Ok(Some(state)) => Ok(Moment { names: &self.names, state }),
            Ok(None) if t == from => Ok(Moment { names: &self.names, state: first.clone() }),
            Ok(None) => {
                let words =
                    format!("t = {t} is outside of the motion, which is from {from} to {to}");
                Err(Error::plain(ErrorKind::Outside { t, from, to }, words))
            }
            Err(_) => {
                let failure = Failure::Field(FieldError::Legendre);
                Err(Error::of_state(failure, t, &self.setting.model))
            }
        }
    }

    /// The model that was run, with the numbers of this run.
    pub fn model(&self) -> &Model {
        &self.setting.model
    }

    /// The page of the motion: one HTML file that shows and moves it. The name and the text are
    /// the model's, the command is what the page says it was made by.
    #[cfg(feature = "documents")]
    pub fn page(&self, name: &str, text: &str, command: &str) -> String {
        let (setting, model) = (&self.setting, &*self.setting.model);
        let mut samples = crate::page::samples(model);
        for row in &self.rows {
            samples.record(setting, &row.seen, None);
        }
        let mut options = RunOptions::of_model(setting);
        let formulation = dalembert_derive::by_name(self.report.formulation);
        options.formulation = formulation.unwrap_or(options.formulation);
        let origin = crate::page::Origin { model, name, text, command, end: None };
        let data = crate::page::data(origin, (setting, &options), &self.report, &samples);
        crate::page::fill(&data)
    }

    /// The events that happened, in order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = Event<'_>> {
        let events = &self.setting.model.system.events;
        self.report.event_log.iter().map(|record| Event {
            t: record.t,
            name: &events[record.event].name,
            change: record.change.as_ref().map(|change| (&change.0, &change.1)),
            energy: record.energy,
        })
    }

    /// The certificate: what was measured on the way, and what is allowed.
    pub fn certificate(&self) -> Certified<'_> {
        Certified { setting: &self.setting, report: &self.report }
    }

    /// How it ended: at its time, by an event, because it sticks.
    pub fn end(&self) -> &End {
        &self.report.end
    }

    /// How far off it may be; `None` if that was not asked for or could not be told.
    pub fn error_estimate(&self) -> Option<&ErrorEstimate> {
        self.report.error.estimate()
    }

    /// All that is known of the run: method, steps, start, sizes.
    pub fn report(&self) -> &RunReport {
        &self.report
    }
}

/// An event that happened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'t> {
    /// When.
    pub t: f64,
    /// What it is called.
    pub name: &'t str,
    /// The states before and after, if it reset the state.
    pub change: Option<(&'t State, &'t State)>,
    /// By how much the energy changed.
    pub energy: f64,
}

/// The certificate of a run. What it measured are the fields of [`Certificate`].
#[derive(Clone, Copy)]
pub struct Certified<'t> {
    setting: &'t Setting,
    report: &'t RunReport,
}

impl Certified<'_> {
    /// Fine if every number is within its bound, the run came to its end, and its error, if it
    /// was estimated, is what the tolerance allows.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(error) = Error::of_failure(self.setting, self.report) {
            return Err(error);
        }
        self.report.verdict().map_err(Error::of_certificate)
    }

    /// Its numbers, each with what is allowed.
    pub fn lines(&self) -> Vec<Line> {
        self.report.certificate.lines(self.report.tolerance)
    }
}

impl fmt::Debug for Certified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.certificate.fmt(f)
    }
}

impl Deref for Certified<'_> {
    type Target = Certificate;

    fn deref(&self) -> &Certificate {
        &self.report.certificate
    }
}
