//! What a page can plot: the same columns for the run that was made and for the one that is
//! computed in the page.

use dalembert_derive::picture::Picture;
use dalembert_export::quantity::{Quantities, Quantity, of_mode, touched};
use dalembert_export::scene::{Kinds, Scene};
use dalembert_expr::{ExprId, Symbol, text_name};
use dalembert_model::system::{Energy, Model, Touched};
use dalembert_simulate::program::listing;
use dalembert_simulate::run::verify::StateError;
use dalembert_simulate::{Observation, Setting};
use serde_json::{Value, json};

/// More contacts and frictions than these have no columns of their own accord.
const MODES: usize = 16;

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, as the language writes it.
    pub name: String,
    /// The same for readers.
    pub label: String,
    /// What kind of quantity it is.
    pub group: &'static str,
    /// Whether it is a length, and whether an angle.
    pub length: bool,
    /// See above.
    pub angle: bool,
    /// Of what is no amount: the words for 0, 1 and 2.
    pub words: Option<[&'static str; 3]>,
    /// Where its values come from.
    pub source: Source,
}

/// Where the values of a column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An expression of t, q, q̇, p, q̈, ṗ and the unknowns that a model speaks of.
    Expression(ExprId),
    /// The multiplier of a row.
    Multiplier(usize),
    /// Qᶜ of a coordinate.
    Reaction(usize),
    /// The estimated error of a position, velocity or momentum; only of the run that was made.
    Error(usize),
    /// How a contact or friction is; only of the run that was made.
    Mode(Touched),
}

impl Column {
    pub(crate) fn to_json(&self) -> Value {
        let mut column = json!({
            "name": self.name, "label": self.label, "group": self.group,
            "length": self.length, "angle": self.angle,
        });
        if let Some(words) = self.words {
            column["words"] = json!(words);
        }
        column
    }
}

/// All columns of a model.
pub fn columns(model: &Model, picture: Option<&Picture>, scene: &Scene) -> Vec<Column> {
    let (exprs, system) = (&model.exprs, &model.system);
    let kinds = Kinds::new(model);
    let mut list: Vec<Column> = Vec::new();
    let mut push = |name: String, label: String, group, (length, angle), source| {
        if list.iter().all(|column: &Column| column.name != name) {
            let words = None;
            list.push(Column { name, label, group, length, angle, words, source });
        }
    };
    let named = |symbol: Symbol| (exprs.symbol_info(symbol).full_name(), exprs.symbol_text(symbol));
    let plain = (false, false);
    // What a released joint holds at 0 has its place in lists, and no panel of its own.
    let group = |coordinate: usize, group| match system.is_released(coordinate) {
        true => "held",
        false => group,
    };
    for (at, coordinate) in system.coordinates.iter().enumerate() {
        let (name, label) = named(coordinate.position);
        let position = coordinate.position;
        let kind = (kinds.is_length(position), kinds.is_angle(position));
        let source = Source::Expression(exprs.of_symbol(position));
        push(name, label, group(at, "coordinate"), kind, source);
    }
    for state in &system.states {
        let (name, label) = named(state.symbol);
        push(name, label, "state", plain, Source::Expression(exprs.of_symbol(state.symbol)));
    }
    for input in &system.inputs {
        let Some(value) = input.value else { continue };
        let label = exprs.symbol_text(input.symbol);
        push(input.name.clone(), label, "input", plain, Source::Expression(value));
    }
    let is_hamiltonian = matches!(system.energy, Energy::Hamiltonian { .. });
    let momenta = if is_hamiltonian { system.momenta() } else { Vec::new() };
    let n = system.n_coordinates();
    for (at, symbol) in system.velocities().into_iter().chain(momenta).enumerate() {
        let (name, label) = named(symbol);
        let source = Source::Expression(exprs.of_symbol(symbol));
        push(name, label, group(at % n.max(1), "velocity"), plain, source);
    }
    for observe in &system.observes {
        let is_length = scene.numbers.contains(&observe.value);
        let label = label(&observe.name);
        let source = Source::Expression(observe.value);
        let group = if observe.name == "energy" { "energy" } else { "observable" };
        push(observe.name.clone(), label, group, (is_length, false), source);
    }
    if let Energy::Lagrangian { kinetic, potential, .. } = &system.energy {
        let parts = [("kinetic", "T", *kinetic), ("potential", "V", *potential)];
        for (name, label, id) in parts.into_iter().filter(|part| part.2 != ExprId::ZERO) {
            push(name.to_owned(), label.to_owned(), "energy", plain, Source::Expression(id));
        }
    }
    if let Some(picture) = picture {
        let energy = Source::Expression(listing::energy(model, picture));
        push("energy".to_owned(), "energy".to_owned(), "energy", plain, energy);
    }
    for (row, constraint) in system.constraints.iter().enumerate() {
        let name = &constraint.name;
        let label = format!("λ({name})");
        push(format!("multiplier({name})"), label, "multiplier", plain, Source::Multiplier(row));
    }
    if !system.constraints.is_empty() {
        for (i, coordinate) in system.coordinates.iter().enumerate() {
            let label = format!("Qᶜ({})", exprs.symbol_text(coordinate.position));
            let name = format!("reaction({})", coordinate.name);
            push(name, label, "force", plain, Source::Reaction(i));
        }
    }
    for constraint in &system.constraints {
        let name = format!("residual({})", constraint.name);
        let label = format!("residual of {}", constraint.name);
        push(name, label, "residual", plain, Source::Expression(constraint.residual));
    }
    let states = system.configuration().into_iter().chain(system.velocities());
    for (at, symbol) in states.enumerate() {
        let (name, label) = named(symbol);
        let (name, label) = (format!("error({name})"), format!("error of {label}"));
        let configuration = n + system.states.len();
        let coordinate = if at < configuration { at } else { at - configuration };
        push(name, label, group(coordinate, "error"), plain, Source::Error(at));
    }
    modes(model, &mut list);
    list
}

/// Columns that say how contacts and frictions are: those that are observed, and the others.
fn modes(model: &Model, list: &mut Vec<Column>) {
    let system = &model.system;
    let quantities = Quantities::new(model);
    let words = |kind: Quantity| [0.0, 1.0, 2.0].map(|mode| kind.mode_word(mode));
    for column in &mut *list {
        let Source::Expression(id) = column.source else { continue };
        let kind = quantities.of_expression(&column.name, id);
        if kind.is_mode() {
            (column.group, column.words) = ("mode", Some(words(kind)));
            column.label = column.label.trim_end_matches(".mode").to_owned();
        }
    }
    for (of, name) in touched(system).into_iter().take(MODES) {
        let full = format!("{name}.mode");
        if list.iter().any(|column| column.name == full) {
            continue;
        }
        list.push(Column {
            name: full,
            label: label(name),
            group: "mode",
            length: false,
            angle: false,
            words: Some(words(of_mode(system, of))),
            source: Source::Mode(of),
        });
    }
}

/// A name as it is typeset; an expression stays as it is written.
fn label(name: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || "_[],.".contains(c);
    match name.starts_with(char::is_alphabetic) && name.chars().all(is_name) {
        true => text_name(name, 0),
        false => name.to_owned(),
    }
}

/// The values of all columns, then of the scene's numbers, in a row of a run.
pub(crate) fn row(
    (columns, scene): (&[Column], &Scene),
    setting: &Setting,
    seen: &Observation,
    error: Option<&StateError>,
) -> Vec<f64> {
    let table = seen.table(&setting.model.system);
    let expression = |column: &Column| match column.source {
        Source::Expression(id) => Some(id),
        _ => None,
    };
    let mut roots: Vec<ExprId> = columns.iter().filter_map(expression).collect();
    roots.extend(&scene.numbers);
    let mut values = setting.numbers(&roots, &table).into_iter();
    let n = seen.state.q.len();
    let error = |at: usize| match (error, at < n) {
        (None, _) => f64::NAN,
        (Some(error), true) => error.q[at],
        (Some(error), false) => error.velocity[at - n],
    };
    let mut row: Vec<f64> = columns
        .iter()
        .map(|column| match column.source {
            Source::Expression(_) => values.next().unwrap_or(f64::NAN),
            Source::Multiplier(row) if seen.indeterminate.get(row) == Some(&true) => f64::NAN,
            Source::Multiplier(row) => seen.multipliers.get(row).copied().unwrap_or(f64::NAN),
            Source::Reaction(i) => seen.constraint_force[i],
            Source::Error(at) => error(at),
            Source::Mode(of) => seen.mode(of).unwrap_or(f64::NAN),
        })
        .collect();
    row.extend(values);
    row
}
