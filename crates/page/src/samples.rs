//! The rows of a run, as many as a page can bear: where there are more, every second one goes.

use crate::columns::{self, Column};
use crate::number;
use dalembert_export::scene::Scene;
use dalembert_simulate::run::verify::StateError;
use dalembert_simulate::{Observation, Setting};
use serde_json::{Value, json};

/// Rows that a page shows at most, and fewest.
const MOST: usize = 600;
const FEWEST: usize = 120;
/// Numbers in a page, about.
const NUMBERS: usize = 60_000;

/// The rows of a run.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The columns.
    pub columns: Vec<Column>,
    /// What is drawn.
    pub scene: Scene,
    times: Vec<f64>,
    rows: Vec<Vec<f64>>,
    most: usize,
    /// How many rows were given; of each so many, one is kept.
    seen: usize,
    stride: usize,
    keeps_last: bool,
}

impl Samples {
    /// Room for rows.
    pub fn new(columns: Vec<Column>, scene: Scene) -> Samples {
        let width = (columns.len() + scene.numbers.len()).max(1);
        let most = (NUMBERS / width).clamp(FEWEST, MOST);
        Samples {
            columns,
            scene,
            times: Vec::new(),
            rows: Vec::new(),
            most,
            seen: 0,
            stride: 1,
            keeps_last: true,
        }
    }

    /// How many rows a run should give, so that none goes.
    pub fn wanted(&self) -> usize {
        self.most
    }

    /// Forgets all rows: the run is made again.
    pub fn restart(&mut self) {
        (self.seen, self.stride, self.keeps_last) = (0, 1, true);
        self.times.clear();
        self.rows.clear();
    }

    /// Takes a row.
    pub fn record(&mut self, setting: &Setting, seen: &Observation, error: Option<&StateError>) {
        let row = columns::row((&self.columns, &self.scene), setting, seen, error);
        // The end is always there: the row that was last goes if it was not to be kept.
        if !std::mem::replace(&mut self.keeps_last, self.seen.is_multiple_of(self.stride)) {
            self.times.pop();
            self.rows.pop();
        }
        self.seen += 1;
        self.times.push(seen.state.t);
        self.rows.push(row);
        if self.rows.len() > 2 * self.most {
            let second = |at: &mut usize| {
                *at += 1;
                at.is_multiple_of(2)
            };
            let mut at = 1;
            self.times.retain(|_| second(&mut at));
            at = 1;
            self.rows.retain(|_| second(&mut at));
            self.stride *= 2;
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The values of a column, by its place; behind the columns, of the scene's numbers.
    pub fn values(&self, at: usize) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(move |row| row[at])
    }

    /// How far a quantity of this name goes from a value, or the value from 0; 1 if neither does.
    pub(crate) fn reach(&self, name: &str, value: f64) -> f64 {
        let column = self.columns.iter().position(|column| column.name == name);
        let finite = column.into_iter().flat_map(|at| self.values(at)).filter(|x| x.is_finite());
        let reach = finite.fold(value.abs(), |most, x| most.max((x - value).abs()));
        if reach > 0.0 { reach } else { 1.0 }
    }

    /// The run of a page.
    pub(crate) fn to_json(&self) -> Value {
        let width = self.columns.len() + self.scene.numbers.len();
        let list = |at: usize| -> Vec<Value> { self.values(at).map(number).collect() };
        let values: Vec<Vec<Value>> = (0..self.columns.len()).map(list).collect();
        let scene: Vec<Vec<Value>> = (self.columns.len()..width).map(list).collect();
        json!({"t": self.times, "values": values, "scene": scene})
    }
}
