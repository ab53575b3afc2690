//! The folder of a study.
//!
//! ```text
//! sweep.json               what the study is; it is locked while one works on it
//! table.parquet            its cases, where these are a table
//! journal-00003            what is finished of a part that is not; locked by who works on it
//! cases-00002.parquet      a finished part, a row for each case in their order
//! trajectories-00002.parquet
//! cases-00002.json         its sums, and why cases of it failed
//! summary.json             of the whole, when all parts are finished
//! failures.csv
//! ```
//!
//! A case is in the journal before it counts as finished, and a part's files have their names only
//! when they are complete. So whenever the process ends, what was finished is there, and nothing
//! of it is computed again.
//!
//! One process works on the whole, with `sweep.json` locked for itself alone; or any number of them
//! on a part each, on any machines that see the folder: they lock `sweep.json` together, and each
//! the journal of its part. Whoever comes to a part goes on with its journal. The locks are the
//! system's, so those of a process that was killed are free.

mod journal;

use crate::pool::Numbers;
use crate::summary::Column;
use dalembert_export::sinks::{self, RowSink};
use journal::Journal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What came of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Its row.
    pub row: Vec<f64>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Its table, row after row.
    pub table: Vec<f64>,
}

/// What a study writes.
#[derive(Clone, Debug)]
pub struct Form {
    /// What the study is, by key: a study goes on only if it is the same.
    pub identity: Value,
    /// How many cases there are.
    pub count: u64,
    /// The columns of a case's row.
    pub columns: Vec<String>,
    /// The columns of its table, if there are tables.
    pub table: Option<Vec<String>>,
    /// How many cases a part has; a study that is gone on with keeps its own.
    pub part: u64,
    /// What a process needs beside the identity to compute cases, for it to find in the folder.
    pub beside: Value,
    /// The cases, where they are a table: names, and numbers row after row.
    pub cases: Option<(Vec<String>, Vec<f64>)>,
}

/// Keys of `sweep.json` that are not the identity of a study.
const PART: &str = "part";
const BESIDE: &str = "beside";
/// Cases of a part where nothing else is said: little to lose, and enough to read at once.
pub const USUAL_PART: u64 = 4096;

/// Why a folder cannot be used.
#[derive(Debug)]
pub enum Refused {
    /// It has a study.
    Taken,
    /// It has another study: what differs.
    Other(Vec<String>),
    /// There is nothing to go on with.
    Nothing,
    /// Another process works on it,
    Busy,
    /// or on the part that was asked for.
    PartBusy,
    /// There is no such part.
    NoPart(u64),
    /// It cannot be read or written.
    Io(PathBuf, io::Error),
}

/// The sums of all parts.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Names of columns, and what they are.
    pub columns: Vec<(String, Column)>,
    /// How many cases there are.
    pub count: u64,
    /// How many of them failed,
    pub failed: u64,
    /// and why the first of these did.
    pub first_failures: Vec<(u64, String)>,
}

/// A folder that is worked on.
pub struct Store {
    folder: PathBuf,
    form: Form,
    /// Held as long as the folder is worked on.
    _lock: File,
    /// The part that is worked on, if it is not all of them.
    only: Option<u64>,
    is_finished: Vec<bool>,
    open: BTreeMap<u64, Open>,
    /// Cases that are finished, and those of them that failed.
    finished: u64,
    failed: u64,
}

/// A part that is not finished.
struct Open {
    journal: Journal,
    is_done: Vec<bool>,
    left: u64,
}

/// Failures that a summary tells.
const TOLD: usize = 5;

impl Store {
    /// Opens a folder for a study: a new one, or one that is gone on with.
    pub fn open(folder: &Path, form: Form, resumes: bool) -> Result<Store, Refused> {
        if !resumes {
            lay_out(folder, &form)?;
        }
        let lock = sweep_file(folder)?;
        match lock.try_lock() {
            Ok(()) => Store::locked(folder, form, lock, None),
            Err(TryLockError::WouldBlock) => Err(Refused::Busy),
            Err(TryLockError::Error(error)) => Err(Refused::Io(folder.join(NAME), error)),
        }
    }

    /// Opens one part of a study that is there, for others may work on other parts.
    pub fn open_part(folder: &Path, form: Form, part: u64) -> Result<Store, Refused> {
        let lock = sweep_file(folder)?;
        match lock.try_lock_shared() {
            Ok(()) => Store::locked(folder, form, lock, Some(part)),
            Err(TryLockError::WouldBlock) => Err(Refused::Busy),
            Err(TryLockError::Error(error)) => Err(Refused::Io(folder.join(NAME), error)),
        }
    }

    fn locked(
        folder: &Path,
        mut form: Form,
        lock: File,
        only: Option<u64>,
    ) -> Result<Store, Refused> {
        let known = known(folder)?;
        let others = differences(&known, &form.identity);
        if !others.is_empty() {
            return Err(Refused::Other(others));
        }
        form.part = part_of(&known);
        let parts = form.count.div_ceil(form.part);
        if let Some(part) = only.filter(|part| *part >= parts) {
            return Err(Refused::NoPart(part));
        }
        let mut store = Store {
            folder: folder.to_owned(),
            form,
            _lock: lock,
            only,
            is_finished: vec![false; parts as usize],
            open: BTreeMap::new(),
            finished: 0,
            failed: 0,
        };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock => Refused::PartBusy,
            _ => Refused::Io(folder.to_owned(), error),
        };
        match only {
            Some(part) => store.look_at(part).map_err(failed)?,
            None => {
                let there = parts_with_files(folder).map_err(failed)?;
                let mut there = there.into_iter().filter(|part| *part < parts);
                there.try_for_each(|part| store.look_at(part)).map_err(failed)?;
            }
        }
        Ok(store)
    }

    fn path(&self, kind: &str, part: u64, ending: &str) -> PathBuf {
        self.folder.join(format!("{kind}-{part:05}{ending}"))
    }

    fn cases_of(&self, part: u64) -> std::ops::Range<u64> {
        let first = part * self.form.part;
        first..(first + self.form.part).min(self.form.count)
    }

    /// What there is of a part from an earlier process. Its journal is locked before it is looked
    /// at whether the part is finished: another may have been about to finish it.
    fn look_at(&mut self, part: u64) -> io::Result<()> {
        let path = self.path("journal", part, "");
        let is_wanted = self.only == Some(part) || path.exists();
        let journal = match self.sums_of(part).is_none() && is_wanted {
            true => Some(Journal::open(&path)?),
            false => None,
        };
        if let Some(sums) = self.sums_of(part) {
            let cases = self.cases_of(part);
            self.is_finished[part as usize] = true;
            self.finished += cases.end - cases.start;
            self.failed += sums.failures.len() as u64;
            // The journal may have outlived the part it was for.
            let _ = fs::remove_file(path);
        } else if let Some(journal) = journal {
            self.adopt(part, journal)?;
            self.finish_if_done(part)?;
        }
        Ok(())
    }

    fn open_part_of(&mut self, part: u64) -> io::Result<&mut Open> {
        if !self.open.contains_key(&part) {
            let journal = Journal::open(&self.path("journal", part, ""))?;
            self.adopt(part, journal)?;
        }
        self.open.get_mut(&part).ok_or_else(|| io::Error::other("a part is not open"))
    }

    /// Goes on with the journal of a part.
    fn adopt(&mut self, part: u64, mut journal: Journal) -> io::Result<()> {
        let cases = self.cases_of(part);
        let mut is_done = vec![false; (cases.end - cases.start) as usize];
        let mut left = cases.end - cases.start;
        for (case, place) in journal.places.clone() {
            if cases.contains(&case) && !is_done[(case - cases.start) as usize] {
                is_done[(case - cases.start) as usize] = true;
                left -= 1;
                self.finished += 1;
                self.failed += u64::from(journal.get(place)?.failure.is_some());
            }
        }
        self.open.insert(part, Open { journal, is_done, left });
        Ok(())
    }

    /// The cases that are not finished, in their order.
    pub fn left(&self) -> Numbers {
        let mut left = Numbers::default();
        let is_open =
            |p: &u64| !self.is_finished[*p as usize] && self.only.is_none_or(|only| only == *p);
        for part in (0..self.is_finished.len() as u64).filter(is_open) {
            let cases = self.cases_of(part);
            match self.open.get(&part) {
                None => left.add(cases),
                Some(open) => {
                    let own = cases.zip(&open.is_done).filter(|(_, is_done)| !**is_done);
                    own.for_each(|(case, _)| left.add(case..case + 1));
                }
            }
        }
        left
    }

    /// How many cases there are: of the part, if it is one that is worked on.
    pub fn count(&self) -> u64 {
        let cases = self.only.map_or(0..self.form.count, |part| self.cases_of(part));
        cases.end - cases.start
    }

    /// How many cases are finished, and how many of these failed.
    pub fn counts(&self) -> (u64, u64) {
        (self.finished, self.failed)
    }

    /// Takes a case that is finished.
    pub fn take(&mut self, case: u64, done: &Done) -> io::Result<()> {
        let part = case / self.form.part;
        let first = part * self.form.part;
        let open = self.open_part_of(part)?;
        let is_done = &mut open.is_done[(case - first) as usize];
        if std::mem::replace(is_done, true) {
            return Ok(());
        }
        open.journal.add(case, done)?;
        open.left -= 1;
        self.finished += 1;
        self.failed += u64::from(done.failure.is_some());
        self.finish_if_done(part)
    }

    /// Writes the files of a part that is complete.
    fn finish_if_done(&mut self, part: u64) -> io::Result<()> {
        if self.open.get(&part).is_none_or(|open| open.left > 0) {
            return Ok(());
        }
        let Some(mut open) = self.open.remove(&part) else { return Ok(()) };
        let mut places = std::mem::take(&mut open.journal.places);
        places.sort_by_key(|place| place.0);
        places.dedup_by_key(|place| place.0);
        let mut sums = Sums::new(&self.form.columns);
        let mut tables = match &self.form.table {
            None => None,
            Some(columns) => {
                let path = self.path("trajectories", part, ".parquet");
                let mut names = vec!["case".to_owned()];
                names.extend(columns.iter().cloned());
                Some((Written::new(path, &names)?, columns.len()))
            }
        };
        let mut names = vec!["case".to_owned(), "failed".to_owned()];
        names.extend(self.form.columns.iter().cloned());
        let mut rows = Written::new(self.path("cases", part, ".parquet"), &names)?;
        let mut line = Vec::new();
        for (case, place) in places {
            let done = open.journal.get(place)?;
            line.clear();
            line.extend([case as f64, f64::from(u8::from(done.failure.is_some()))]);
            line.extend(&done.row);
            line.resize(names.len(), f64::NAN);
            rows.sink.row(&line)?;
            sums.see(case, &line[2..], done.failure);
            if let Some((table, width)) = &mut tables {
                for values in done.table.chunks_exact(*width) {
                    line.clear();
                    line.push(case as f64);
                    line.extend(values);
                    table.sink.row(&line)?;
                }
            }
        }
        rows.finish()?;
        if let Some((table, _)) = tables {
            table.finish()?;
        }
        // The last to be written is what says that the part is finished.
        let text = sums.to_json().to_string();
        replace(&self.path("cases", part, ".json"), |file| file.write_all(text.as_bytes()))?;
        self.is_finished[part as usize] = true;
        fs::remove_file(self.path("journal", part, ""))
    }

    fn sums_of(&self, part: u64) -> Option<Sums> {
        let text = fs::read_to_string(self.path("cases", part, ".json")).ok()?;
        Sums::of_json(&serde_json::from_str(&text).ok()?, self.form.columns.len())
    }

    /// The sums of the parts that are finished, in their order; with all of them finished, as
    /// files too.
    pub fn summary(&self) -> io::Result<Summary> {
        let mut columns = vec![Column::default(); self.form.columns.len()];
        let (mut failed, mut first_failures) = (0, Vec::new());
        // As they come: all cases may have failed, and there may be millions.
        let listed = self.folder.join("failures.csv");
        let is_whole = self.is_finished.iter().all(|is_finished| *is_finished);
        let mut list = match is_whole {
            true => Some(BufWriter::new(File::create(unfinished(&listed))?)),
            false => None,
        };
        if let Some(list) = &mut list {
            list.write_all(b"case,why\n")?;
        }
        for part in parts_with_files(&self.folder)? {
            let Some(sums) = self.sums_of(part) else { continue };
            columns.iter_mut().zip(&sums.columns).for_each(|(own, more)| own.join(more));
            for (case, words) in sums.failures {
                failed += 1;
                if let Some(list) = &mut list {
                    writeln!(list, "{case},\"{}\"", words.replace('"', "\"\""))?;
                }
                if first_failures.len() < TOLD {
                    first_failures.push((case, words));
                }
            }
        }
        let columns = self.form.columns.iter().cloned().zip(columns).collect();
        let summary = Summary { columns, count: self.finished, failed, first_failures };
        if let Some(mut list) = list {
            list.flush()?;
            fs::rename(unfinished(&listed), &listed)?;
            let text = format!("{:#}\n", summary.to_json());
            let path = self.folder.join("summary.json");
            replace(&path, |file| file.write_all(text.as_bytes()))?;
        }
        Ok(summary)
    }
}

impl Summary {
    /// As JSON; a number that there is none of is null.
    pub fn to_json(&self) -> Value {
        let columns: serde_json::Map<String, Value> = self
            .columns
            .iter()
            .map(|(name, c)| {
                let is_some = c.count > 0;
                let value = json!({
                    "count": c.count,
                    "mean": is_some.then_some(c.mean),
                    "deviation": Some(c.deviation()).filter(|x| x.is_finite()),
                    "least": is_some.then_some(c.least),
                    "largest": is_some.then_some(c.largest),
                });
                (name.clone(), value)
            })
            .collect();
        let failures: Vec<Value> = self
            .first_failures
            .iter()
            .map(|(case, words)| json!({"case": case, "why": words}))
            .collect();
        json!({
            "format": 1, "cases": self.count, "failed": self.failed,
            "columns": columns, "first_failures": failures,
        })
    }
}

/// The sums of a part.
struct Sums {
    columns: Vec<Column>,
    failures: Vec<(u64, String)>,
}

impl Sums {
    fn new(columns: &[String]) -> Sums {
        Sums { columns: vec![Column::default(); columns.len()], failures: Vec::new() }
    }

    fn see(&mut self, case: u64, row: &[f64], failure: Option<String>) {
        match failure {
            Some(words) => self.failures.push((case, words)),
            None => self.columns.iter_mut().zip(row).for_each(|(column, &x)| column.see(x)),
        }
    }

    fn to_json(&self) -> Value {
        let columns: Vec<Value> = self.columns.iter().map(|c| c.to_list()).collect();
        json!({"format": 1, "columns": columns, "failures": self.failures})
    }

    fn of_json(value: &Value, columns: usize) -> Option<Sums> {
        let list = value["columns"].as_array()?;
        let columns: Option<Vec<Column>> =
            (list.len() == columns).then(|| list.iter().map(Column::of_list).collect())?;
        let failure = |value: &Value| Some((value[0].as_u64()?, value[1].as_str()?.to_owned()));
        let failures: Option<Vec<(u64, String)>> =
            value["failures"].as_array()?.iter().map(failure).collect();
        Some(Sums { columns: columns?, failures: failures? })
    }
}

/// A Parquet file that gets its name when it is complete.
struct Written {
    sink: Box<dyn RowSink>,
    path: PathBuf,
}

impl Written {
    fn new(path: PathBuf, names: &[String]) -> io::Result<Written> {
        let format = sinks::by_ending("parquet").ok_or_else(|| io::Error::other("no Parquet"))?;
        let sink = (format.open)(Box::new(File::create(unfinished(&path))?), names)?;
        Ok(Written { sink, path })
    }

    fn finish(mut self) -> io::Result<()> {
        self.sink.finish()?;
        drop(self.sink);
        fs::rename(unfinished(&self.path), &self.path)
    }
}

fn unfinished(path: &Path) -> PathBuf {
    path.with_extension("unfinished")
}

/// Writes a file that is there as a whole or not at all.
fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    write(&mut File::create(unfinished(path))?)?;
    fs::rename(unfinished(path), path)
}

const NAME: &str = "sweep.json";

/// The folder of a new study, with what the study is.
fn lay_out(folder: &Path, form: &Form) -> Result<(), Refused> {
    let path = folder.join(NAME);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| Refused::Io(path, error)
    };
    if path.exists() {
        return Err(Refused::Taken);
    }
    fs::create_dir_all(folder).map_err(failed(folder))?;
    if let Some((names, values)) = &form.cases {
        let path = folder.join("table.parquet");
        let write = || -> io::Result<()> {
            let mut table = Written::new(path.clone(), names)?;
            for row in values.chunks_exact(names.len().max(1)) {
                table.sink.row(row)?;
            }
            table.finish()
        };
        write().map_err(failed(&path))?;
    }
    let mut whole = form.identity.clone();
    whole[PART] = json!(form.part);
    whole[BESIDE] = form.beside.clone();
    let text = format!("{whole:#}\n");
    replace(&path, |file| file.write_all(text.as_bytes())).map_err(failed(&path))
}

/// What is locked. Network file systems lock for one process alone only what it may write to.
fn sweep_file(folder: &Path) -> Result<File, Refused> {
    let path = folder.join(NAME);
    let opened = File::options().read(true).write(true).open(&path);
    match opened.or_else(|_| File::open(&path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refused::Nothing),
        other => other.map_err(|error| Refused::Io(path, error)),
    }
}

/// What the study of a folder is, as it was written.
pub fn known(folder: &Path) -> Result<Value, Refused> {
    let path = folder.join(NAME);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap_or_default()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Refused::Nothing),
        Err(error) => Err(Refused::Io(path, error)),
    }
}

/// The parts that there are files of, in their order.
fn parts_with_files(folder: &Path) -> io::Result<BTreeSet<u64>> {
    let part = |name: &str| -> Option<u64> {
        let rest = name.strip_prefix("journal-").or_else(|| name.strip_prefix("cases-"))?;
        rest.split('.').next()?.parse().ok()
    };
    let mut parts = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        parts.extend(part(&entry?.file_name().to_string_lossy()));
    }
    Ok(parts)
}

/// How many cases a part of it has.
fn part_of(known: &Value) -> u64 {
    known[PART].as_u64().filter(|part| *part > 0).unwrap_or(USUAL_PART)
}

/// What was written beside the identity.
pub fn beside(known: &Value) -> &Value {
    &known[BESIDE]
}

/// The parts of a study that are not finished. Nothing is locked: others may be at work.
pub fn parts_left(folder: &Path) -> Result<Vec<u64>, Refused> {
    let known = known(folder)?;
    let count = known["count"].as_u64().unwrap_or(0).div_ceil(part_of(&known));
    let is_left = |part: &u64| !folder.join(format!("cases-{part:05}.json")).exists();
    Ok((0..count).filter(is_left).collect())
}

/// The keys under which two objects differ.
fn differences(a: &Value, b: &Value) -> Vec<String> {
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    let mut all = keys(a);
    all.extend(keys(b));
    all.sort();
    all.dedup();
    all.retain(|key| key != PART && key != BESIDE && a.get(key) != b.get(key));
    all
}
