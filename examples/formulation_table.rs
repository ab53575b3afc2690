//! Every worked example of the papers by every formulation and every elimination,
//! against reference values, as a Markdown page:
//!
//! ```text
//! cargo run --release --example formulation_table -- --date 2026-11-15 > docs/formulations.md
//! ```
//!
//! `--full` adds a table for each example. The program fails if an example with a
//! regular mass matrix and independent rows has fewer than 20 cells with numbers.

// The tests use more of it.
#[allow(dead_code)]
#[path = "../tests/support/oracle_model.rs"]
mod oracle_model;

use dalembert::Model;
use dalembert::formulations::{ALL as FORMULATIONS, Choices};
use dalembert::simulate::report::Report;
use dalembert::simulate::{Answer, EVERY, Refusal, Setting};
use oracle_model::{by_hamiltonian, error, every_route, model, model_text, name, numbers, of_kind};
use serde_json::Value;

/// What one route says: the error of q̈ and Qᶜ, a verdict, or a reason in short and
/// in full.
enum Cell {
    Error(f64),
    Verdict(&'static str),
    Reason(&'static str, String),
}

/// An example and what every route says of it.
struct Row {
    name: String,
    report: Report,
    cells: Vec<Cell>,
    /// det M ≠ 0 and the rows are independent.
    plain: bool,
}

impl Row {
    fn new(oracle: &Value, title: String, model: &Model) -> Row {
        let setting = Setting::new(model).expect("the examples have values");
        let state = oracle_model::state(oracle, &setting);
        let report = every_route(&setting, &state, &Choices::default());
        let cells = report.answers.iter().map(|answer| cell(oracle, answer)).collect();
        let plain = report.answers.iter().filter_map(|a| a.result.as_ref().ok()).any(|e| {
            let rank = &e.outcome.rank;
            rank.metric == rank.coordinates && rank.jacobian == rank.constraints
        });
        Row { name: title, report, cells, plain }
    }

    /// The cells of a formulation, of the eliminations meant for use or the others.
    fn of(&self, formulation: &str, literal: bool) -> Vec<&Cell> {
        let pairs = self.report.answers.iter().zip(&self.cells);
        pairs
            .filter(|(a, _)| a.formulation == formulation)
            .filter(|(a, _)| a.elimination.ends_with("literal") == literal)
            .map(|(_, cell)| cell)
            .collect()
    }

    /// How many routes have an answer.
    fn count(&self) -> usize {
        self.cells.iter().filter(|c| !matches!(c, Cell::Reason(..))).count()
    }
}

fn cell(oracle: &Value, answer: &Answer) -> Cell {
    let evaluation = match &answer.result {
        Ok(evaluation) => evaluation,
        Err(refusal) => {
            let words = refusal.to_string();
            return Cell::Reason(short(answer, refusal, &words), words);
        }
    };
    let expected = &oracle["expected"];
    if !evaluation.outcome.motion.exists() {
        return Cell::Verdict(evaluation.outcome.motion.name());
    }
    // Where q̈ is not unique the reference has the shortest one.
    let accelerations = expected.get("qdd").unwrap_or(&expected["qdd_min_norm"]);
    let q_dd = error(&evaluation.accelerations, &numbers(accelerations));
    Cell::Error(q_dd.max(error(&evaluation.constraint_force, &numbers(&expected["Qc"]))))
}

fn short(answer: &Answer, refusal: &Refusal, words: &str) -> &'static str {
    match (refusal, answer.formulation) {
        (Refusal::Formulation(_), "bracket") if words.contains("affine") => "nonlinear row",
        (Refusal::Formulation(_), "routh") if words.contains("L, but") => "nothing to ignore",
        (Refusal::Formulation(_), "routh") if words.contains("every") => "nothing to ignore",
        (Refusal::Formulation(_), _) => "does not apply",
        (Refusal::SingularMass { .. }, _) => "no momenta",
        (Refusal::OffConstraints { .. }, _) => "off the constraints",
        (Refusal::Solve(_), _) => "needs M⁻¹",
        _ => "no numbers",
    }
}

/// Reasons in full, numbered as they come.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn number(&mut self, words: &str) -> usize {
        let at = self.0.iter().position(|w| w == words).unwrap_or_else(|| {
            self.0.push(words.to_owned());
            self.0.len() - 1
        });
        at + 1
    }

    /// Several cells as one: the worst error, verdicts, and reasons.
    fn show(&mut self, cells: &[&Cell]) -> String {
        let mut parts: Vec<String> = Vec::new();
        let errors = cells.iter().filter_map(|c| match c {
            Cell::Error(e) => Some(*e),
            _ => None,
        });
        if let Some(worst) = errors.reduce(f64::max) {
            parts.push(if worst == 0.0 { "0".to_owned() } else { format!("{worst:.0e}") });
        }
        for cell in cells {
            let part = match cell {
                Cell::Error(_) => continue,
                Cell::Verdict(word) => (*word).to_owned(),
                Cell::Reason(short, words) => format!("{short} [{}]", self.number(words)),
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts.join("; ")
    }
}

fn table(head: &[&str], rows: &[Vec<String>]) {
    println!("| {} |", head.join(" | "));
    println!("|{}", "---|".repeat(head.len()));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
    println!();
}

fn rows() -> Vec<Row> {
    let mut list: Vec<Row> = of_kind("state")
        .iter()
        .map(|oracle| Row::new(oracle, name(oracle).to_owned(), &model(&model_text(oracle))))
        .collect();
    list.extend(
        by_hamiltonian()
            .iter()
            .map(|(oracle, model)| Row::new(oracle, format!("{} given by H", name(oracle)), model)),
    );
    list
}

/// The worst of the cells that have an error.
fn worst<'c>(cells: impl Iterator<Item = &'c Cell>) -> f64 {
    cells.fold(0f64, |m, cell| if let Cell::Error(e) = cell { m.max(*e) } else { m })
}

fn summary(rows: &[Row], notes: &mut Notes) {
    let names: Vec<&str> = FORMULATIONS.iter().map(|f| f.name()).collect();
    let head = [&["example"], names.as_slice(), &["literal", "cells of 36"]].concat();
    let body: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let mut line = vec![row.name.clone()];
            line.extend(names.iter().map(|name| notes.show(&row.of(name, false))));
            let literal: Vec<&Cell> = names.iter().flat_map(|name| row.of(name, true)).collect();
            // Reasons of the literal ones are those of their formulations.
            let answered: Vec<&Cell> =
                literal.into_iter().filter(|c| !matches!(c, Cell::Reason(..))).collect();
            line.extend([notes.show(&answered), row.count().to_string()]);
            line
        })
        .collect();
    table(&head, &body);
}

fn detail(rows: &[Row], notes: &mut Notes) {
    let names: Vec<&str> = EVERY.iter().map(|e| e.name()).collect();
    let head = [&["formulation"], names.as_slice()].concat();
    for row in rows {
        println!("## {}\n", row.name);
        let body: Vec<Vec<String>> = FORMULATIONS
            .iter()
            .map(|formulation| {
                let mut line = vec![formulation.name().to_owned()];
                let pairs = row.report.answers.iter().zip(&row.cells);
                let own = pairs.filter(|(a, _)| a.formulation == formulation.name());
                line.extend(own.map(|(_, cell)| notes.show(&[cell])));
                line
            })
            .collect();
        table(&head, &body);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let date = arguments.iter().position(|a| a == "--date").and_then(|at| arguments.get(at + 1));
    let rows = rows();
    let cells: usize = rows.iter().map(Row::count).sum();
    let routes = rows.iter().flat_map(|row| row.report.answers.iter().zip(&row.cells));
    let of = |literal: bool| {
        let chosen =
            routes.clone().filter(move |(a, _)| a.elimination.ends_with("literal") == literal);
        worst(chosen.map(|(_, cell)| cell))
    };
    println!("# Every formulation against reference values\n");
    println!(
        "Each row is a worked example of the papers, or a system made to be awkward, at one state. \
         Each cell is the largest relative error of the accelerations and of the constraint force \
         against values computed elsewhere in 60 digits, the worst over the eliminations meant for \
         use (`multipliers`, `udwadia-kalaba`, `null-space`, `singular-mass`); a formulation or an \
         elimination that does not apply says why. All routes agree to rounding: of {cells} cells \
         with an answer the worst is off by {:.0e}, of those by the formulas as the papers print \
         them (`literal`) by {:.0e}. The last column counts the cells that have an answer, of six \
         formulations by six eliminations.\n",
        of(false),
        of(true)
    );
    if let Some(date) = date {
        println!("Measured on {date} by\n");
        println!("    cargo run --release --example formulation_table -- --date {date}\n");
        println!("`--full` adds a table of all 36 cells for each example.\n");
    }
    let mut notes = Notes::default();
    summary(&rows, &mut notes);
    if arguments.iter().any(|a| a == "--full") {
        detail(&rows, &mut notes);
    }
    println!("## Reasons\n");
    for (at, words) in notes.0.iter().enumerate() {
        println!("{}. {words}", at + 1);
    }
    for row in rows.iter().filter(|row| row.plain) {
        assert!(row.count() >= 20, "{}: only {} cells have numbers", row.name, row.count());
    }
    let plain = rows.iter().filter(|row| row.plain);
    let fewest = plain.clone().map(Row::count).min().unwrap_or(0);
    println!(
        "\nThe {} examples with a regular mass matrix and independent rows have at least {fewest} \
         cells each; {cells} cells have an answer in all.",
        plain.count()
    );
}
