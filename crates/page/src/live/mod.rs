//! The program of a model for the page: printed tapes, and where what lies among their inputs and
//! outputs. `viewer/src/live/program.ts` reads it.
//!
//! Parameters are inputs throughout. The equations are Lagrange's, in q, q̇ and t, which every
//! model has:
//!
//! ```text
//! Γ q̈ = F + C + Aᵀλ,   A q̈ = b
//! ```
//!
//! with φ, ψ and φ_q for the projection, the equations of the start and of resets in the model's
//! own variables, events, and everything that is seen. What cannot be done so is said ([`Why`]).

mod events;
mod relations;
mod start;

use crate::columns::{Column, Source};
use crate::live::relations::Tapes;
use dalembert_compile::printed::{NotPrinted, javascript};
use dalembert_derive::picture::Picture;
use dalembert_export::scene::Scene;
use dalembert_expr::{ExprId, Exprs, Number, Symbol};
use dalembert_model::system::{Model, Parameter, Unknown};
use dalembert_simulate::Setting;
use dalembert_simulate::program::listing::{Listing, Own};
use serde_json::{Value, json};

/// Larger systems are not moved in the page: matrices are dense there, and a motion must be there
/// while a slider is dragged.
const COORDINATES: usize = 40;
const ROWS: usize = 60;
/// Instructions of all tapes; a line of text each.
const INSTRUCTIONS: usize = 40_000;
/// Samples of a motion in the page: enough to be smooth, and each takes a solution.
const SAMPLES: usize = 400;
/// The tolerance of steps in the page.
const TOLERANCE: f64 = 1e-9;

/// Why a model does not move in its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// No picture of it in q, q̇ and t.
    NoPicture,
    /// It is too large.
    Large {
        /// How many coordinates.
        coordinates: usize,
        /// How many constraint rows.
        rows: usize,
    },
    /// Its program is too long.
    Long(usize),
    /// It has functions that only a search in extended precision finds.
    Restricted,
    /// Which way forces go depends on multipliers.
    Switches,
    /// Coordinates without mass are determined by the rest of the state.
    Determined,
    /// Its start guesses momenta of a model in velocities, or the other way round.
    Guesses,
    /// It may stick or touch.
    Touches,
    /// Rates of its states hold what is solved for.
    States,
    /// It has functions of the program that ran it.
    Given,
    /// The motion that was made says it.
    Motion(&'static str),
}

impl Why {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Why::NoPicture => "velocities do not determine the momenta of this model".to_owned(),
            Why::Large { coordinates, rows } => format!(
                "{coordinates} coordinates and {rows} constraints are too many to be moved in a \
                 page; up to {COORDINATES} and {ROWS} are"
            ),
            Why::Long(count) => {
                format!("its equations take {count} operations, too many for a page")
            }
            Why::Restricted => "its constraints nearly depend on each other, so that they are \
                                followed in more than double precision"
                .to_owned(),
            Why::Switches => "the direction of its forces depends on forces of constraints; such \
                              motions may stick"
                .to_owned(),
            Why::Determined => {
                "coordinates without mass follow from the rest of the state".to_owned()
            }
            Why::Guesses => {
                "its start guesses momenta, and its equations are in velocities, or the other way \
                 round"
                    .to_owned()
            }
            Why::Touches => "it may stick or touch, which a page does not decide".to_owned(),
            Why::States => "the rates of its states hold accelerations or forces of constraints, \
                            which are known only with them"
                .to_owned(),
            Why::Given => "its inputs are functions of the program that ran it".to_owned(),
            Why::Motion(words) => (*words).to_owned(),
        }
    }
}

impl From<NotPrinted> for Why {
    fn from(NotPrinted::Restricted: NotPrinted) -> Why {
        Why::Restricted
    }
}

/// The unknowns of a start: positions, and the model's own rates.
#[derive(Clone, Debug)]
pub struct Unknowns {
    /// Whether the rates are momenta.
    pub by_momenta: bool,
    /// Positions, rates.
    pub symbols: [Vec<Symbol>; 2],
}

impl Unknowns {
    /// Those of a model.
    pub fn new(model: &Model) -> Unknowns {
        let own = Own::new(&model.exprs, &model.system);
        Unknowns { by_momenta: own.by_momenta, symbols: [model.system.positions(), own.rates] }
    }
}

/// What a program is made for.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The model, rows as written.
    pub model: &'a Model,
    /// Its parameters.
    pub setting: &'a Setting,
    /// Its picture in q, q̇ and t.
    pub picture: Option<&'a Picture>,
    /// The page's columns.
    pub columns: &'a [Column],
    /// What is drawn.
    pub scene: &'a Scene,
    /// Where the run ends, if not where the model says.
    pub end: Option<f64>,
    /// How many samples there are.
    pub samples: usize,
}

/// The program of a model as JSON, or why there is none.
pub fn program(request: &Request) -> Result<Value, Why> {
    let Request { model, setting, columns, scene, .. } = *request;
    let (exprs, system) = (&model.exprs, &model.system);
    let picture = request.picture.ok_or(Why::NoPicture)?;
    let (n, m) = (system.n_coordinates(), system.constraints.len());
    if n > COORDINATES || m > ROWS {
        return Err(Why::Large { coordinates: n, rows: m });
    }
    if !system.determined.is_empty() {
        return Err(Why::Determined);
    }
    if !system.frictions.is_empty() || !system.contacts.is_empty() {
        return Err(Why::Touches);
    }
    if exprs.calls(&system.roots(), dalembert_expr::Function::Given) {
        return Err(Why::Given);
    }
    if switches_by_multipliers(exprs, picture) {
        return Err(Why::Switches);
    }
    let own = Own::new(exprs, system);
    let (symbols, values) = setting.constants();
    let mut tapes = Tapes::new(exprs, &symbols);

    let defined = definitions(exprs, &system.parameters);
    tapes.plain("parameters", &defined, &symbols);
    let to = request.end.and_then(Number::from_f64).map(|x| exprs.of_number(x));
    tapes.add("times", &[system.run.from, to.unwrap_or(system.run.to)], &[]);

    let mut variables = vec![Symbol::TIME];
    variables.extend(&picture.q);
    variables.extend(&picture.velocities);
    variables.extend(system.state_symbols());
    let behind = picture.auxiliary.as_ref();
    variables.extend(behind.iter().flat_map(|a| &a.symbols));
    let listing = Listing::new(exprs, picture);
    let mut with_multipliers = variables.clone();
    with_multipliers.extend(picture.multipliers.iter().map(|m| m.1));
    tapes.add("terms", &listing.roots, &with_multipliers);
    let state_rates: Vec<ExprId> = picture.state_rates().collect();
    let is_known = |s: &Symbol| variables.contains(s) || symbols.contains(s);
    if !exprs.symbols_of(&state_rates).iter().all(is_known) {
        return Err(Why::States);
    }
    tapes.add("states", &state_rates, &variables);
    let phi: Vec<ExprId> = picture.rows.configuration_residuals.iter().map(|r| r.1).collect();
    let psi: Vec<ExprId> = picture.rows.velocity_residuals.iter().map(|r| r.1).collect();
    let phi_q = exprs.jacobian(&phi, &picture.q);
    let mut rows: Vec<ExprId> = phi.iter().chain(&psi).copied().collect();
    rows.extend(phi_q.rows.iter().flatten().map(|e| e.1));
    tapes.add("rows", &rows, &variables);
    let behind = match behind {
        Some(a) => tapes.relation("behind", &a.residuals, &a.symbols, &variables),
        None => Value::Null,
    };

    let start = start::start(&mut tapes, model, picture, &own)?;
    // What is seen of a state.
    let mut seen = vec![Symbol::TIME];
    seen.extend(system.positions());
    seen.extend(system.velocities());
    seen.extend(system.momenta());
    seen.extend(system.accelerations());
    seen.extend(system.momentum_rates());
    seen.extend(system.state_symbols());
    seen.extend(system.unknowns.iter().map(|u| u.0));
    let mut roots = Vec::new();
    let source = |column: &Column| match column.source {
        Source::Expression(id) => {
            roots.push(id);
            json!({"see": roots.len() - 1})
        }
        Source::Multiplier(row) => json!({"multiplier": row}),
        Source::Reaction(i) => json!({"reaction": i}),
        Source::Error(_) | Source::Mode(_) => json!({"none": true}),
    };
    let sources: Vec<Value> = columns.iter().map(source).collect();
    roots.extend(&scene.numbers);
    tapes.add("see", &roots, &seen);
    let events = events::events(&mut tapes, model, &own, &seen);

    let count = tapes.count();
    if count > INSTRUCTIONS {
        return Err(Why::Long(count));
    }
    let code = javascript::module(&tapes.list())?;
    let unknown = |&(_, unknown): &(Symbol, Unknown)| match unknown {
        Unknown::Multiplier(row) => json!({"multiplier": row}),
        Unknown::Reaction(i) => json!({"reaction": i}),
        Unknown::Share(i, row) => json!({"share": [i, row]}),
        // A phase has none of these left.
        Unknown::Touch(_) => json!(null),
    };
    let names = |symbols: &[Symbol]| -> Vec<String> {
        symbols.iter().map(|&s| exprs.symbol_info(s).full_name()).collect()
    };
    let of_rows = |list: &[(usize, ExprId)]| -> Vec<usize> { list.iter().map(|r| r.0).collect() };
    let times = [system.run.from, system.run.to].map(|id| setting.number(id, &Default::default()));
    Ok(json!({
        "code": code,
        "n": n,
        "m": m,
        "parameters": {
            "names": system.parameters.iter().map(|p| &p.name).collect::<Vec<_>>(),
            "values": values,
        },
        "coordinates": names(&system.positions()),
        "rates": names(&own.rates),
        "states": names(&system.state_symbols()),
        "constraints": system.constraints.iter().map(|c| &c.name).collect::<Vec<_>>(),
        "groups": groups(model),
        "terms": {
            "metric": listing.metric, "jacobian": listing.jacobian, "slopes": listing.slopes,
        },
        "coupled": picture.multipliers.iter().map(|m| m.0).collect::<Vec<_>>(),
        "rows": {
            "phi": of_rows(&picture.rows.configuration_residuals),
            "psi": of_rows(&picture.rows.velocity_residuals),
            "jacobian": relations::places(&phi_q),
        },
        "behind": behind,
        "momenta": own.by_momenta,
        "laws": start.laws,
        "metrics": start.metrics,
        "start": start.start,
        "unknowns": system.unknowns.iter().map(unknown).collect::<Vec<_>>(),
        "columns": sources,
        "seen": roots.len(),
        "scene": scene.numbers.len(),
        "events": events,
        "times": [times[0], request.end.unwrap_or(times[1])],
        "samples": request.samples.clamp(2, SAMPLES + 1) - 1,
        "tolerance": TOLERANCE,
    }))
}

/// The statement that each constraint row is of, by number.
fn groups(model: &Model) -> Vec<usize> {
    let labels: Vec<&str> = model.system.constraints.iter().map(|c| &*c.label).collect();
    let first = |label: &&str| labels.iter().position(|other| other == label).unwrap_or(0);
    labels.iter().map(first).collect()
}

/// Parameters in terms of those that are numbers.
fn definitions(exprs: &Exprs, parameters: &[Parameter]) -> Vec<ExprId> {
    let is_free = |p: &&Parameter| p.value.is_none_or(|v| exprs.symbols_of(&[v]).is_empty());
    let of = |p: &Parameter| match p.value.filter(|_| !is_free(&p)) {
        Some(value) => value,
        None => exprs.of_symbol(p.symbol),
    };
    let mut defined: Vec<ExprId> = parameters.iter().map(of).collect();
    let derived: Vec<(Symbol, ExprId)> = parameters
        .iter()
        .filter(|p| !is_free(p))
        .filter_map(|p| Some((p.symbol, p.value?)))
        .collect();
    // Definitions refer to each other in any order, and not in circles.
    for _ in 0..derived.len() {
        defined = exprs.substitute(&defined, &derived);
    }
    defined
}

/// Whether a switch in the forces depends on multipliers.
fn switches_by_multipliers(exprs: &Exprs, picture: &Picture) -> bool {
    if picture.multipliers.is_empty() {
        return false;
    }
    let roots: Vec<ExprId> = picture.force.iter().chain(&picture.nonideal).copied().collect();
    let (_, switches) = exprs.freeze_switches(&roots);
    let multipliers: Vec<Symbol> = picture.multipliers.iter().map(|m| m.1).collect();
    let values: Vec<ExprId> = switches.iter().map(|s| s.plain).collect();
    exprs.symbols_of(&values).iter().any(|s| multipliers.contains(s))
}
