//! Where the rows of a run go: a table, a figure, both or neither.

use crate::picture::{Picture, cannot_write};
use dalembert::export::plot::Mark;
use dalembert::export::sinks::{self, Format, RowSink};
use dalembert::export::summary::Written;
use dalembert::export::table::Columns;
use dalembert::simulate::Observation;
use dalembert::simulate::Setting;
use dalembert::simulate::run::verify::StateError;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A killed process loses no more than this.
const FLUSH: Duration = Duration::from_millis(500);

/// Takes what a run passes.
pub(crate) struct Recorder {
    pub columns: Columns,
    table: Option<Table>,
    plot: Option<Picture>,
    row: Vec<f64>,
    rows: u64,
}

struct Table {
    path: PathBuf,
    format: &'static Format,
    /// Opened with the first row: a run that cannot begin leaves an old file alone.
    sink: Option<Box<dyn RowSink>>,
    flushed: Instant,
    fault: Option<Fault>,
}

/// Why a table was not written.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It could not be opened.
    Open(String),
    /// It could not be written to its end.
    Write(String),
}

impl Recorder {
    pub fn new(
        columns: Columns,
        out: Option<&Path>,
        plot: Option<Picture>,
    ) -> Result<Recorder, String> {
        let table = out.map(Table::new).transpose()?;
        Ok(Recorder { columns, table, plot, row: Vec::new(), rows: 0 })
    }

    /// Forgets all rows: the run is made again.
    pub fn restart(&mut self) {
        self.rows = 0;
        if let Some(picture) = &mut self.plot {
            picture.clear();
        }
        if let Some(table) = &mut self.table {
            (table.sink, table.fault) = (None, None);
        }
    }

    /// Takes one row; breaks if it could not be written.
    pub fn record(
        &mut self,
        setting: &Setting,
        observation: &Observation,
        error: Option<&StateError>,
    ) -> ControlFlow<()> {
        self.columns.row(setting, observation, &mut self.row);
        self.columns.row_errors(error, &mut self.row);
        self.rows += 1;
        if let Some(picture) = &mut self.plot {
            picture.row(setting, observation, &self.row);
        }
        match &mut self.table {
            Some(table) => table.row(&self.columns.names, &self.row),
            None => ControlFlow::Continue(()),
        }
    }

    /// To be called now and then, so that rows do not wait long for their file.
    pub fn flush(&mut self) -> ControlFlow<()> {
        match &mut self.table {
            Some(table) if table.flushed.elapsed() >= FLUSH => {
                table.flushed = Instant::now();
                table.attempt(|sink| sink.flush())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Ends the files and tells which there are.
    pub fn finish(&mut self, title: &str, marks: Vec<Mark>) -> (Vec<Written>, Option<Fault>) {
        let mut written = Vec::new();
        let mut fault = None;
        if let Some(table) = &mut self.table {
            if table.fault.is_none() {
                let _ = table.attempt(|sink| sink.finish());
            }
            fault = table.fault.take();
            if fault.is_none() && table.sink.is_some() {
                let path = table.path.display().to_string();
                let (rows, columns) = (self.rows, self.columns.names.len());
                written.push(Written { path, contents: Some((rows, columns)) });
            }
        }
        if let Some(picture) = &self.plot
            && self.rows > 0
        {
            let path = picture.path();
            match picture.write(title, &self.columns, marks) {
                Ok(()) => {
                    written.push(Written { path: path.display().to_string(), contents: None })
                }
                Err(words) => fault = fault.or(Some(Fault::Write(words))),
            }
        }
        (written, fault)
    }
}

impl Table {
    fn new(path: &Path) -> Result<Table, String> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let Some(format) = sinks::by_ending(ending) else {
            let known: Vec<String> =
                sinks::ALL.iter().map(|format| format!("`.{}`", format.ending)).collect();
            let known = known.join(", ");
            return Err(format!("--out: `{}` must end with one of {known}", path.display()));
        };
        let (path, flushed) = (path.to_owned(), Instant::now());
        Ok(Table { path, format, sink: None, flushed, fault: None })
    }

    fn row(&mut self, names: &[String], row: &[f64]) -> ControlFlow<()> {
        if self.sink.is_none() {
            let opened =
                File::create(&self.path).and_then(|file| (self.format.open)(Box::new(file), names));
            match opened {
                Ok(sink) => self.sink = Some(sink),
                Err(error) => {
                    self.fault = Some(Fault::Open(cannot_write(&self.path, &error)));
                    return ControlFlow::Break(());
                }
            }
        }
        self.attempt(|sink| sink.row(row))
    }

    fn attempt(
        &mut self,
        action: impl FnOnce(&mut dyn RowSink) -> std::io::Result<()>,
    ) -> ControlFlow<()> {
        let Some(sink) = &mut self.sink else { return ControlFlow::Continue(()) };
        match action(sink.as_mut()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.fault = Some(Fault::Write(cannot_write(&self.path, &error)));
                ControlFlow::Break(())
            }
        }
    }
}
