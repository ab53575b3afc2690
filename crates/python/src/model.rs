//! A model: read, looked at, asked for numbers.

use crate::door::{self, Trouble};
use crate::driven::Recipe;
use crate::function::{Function, Kind};
use crate::linear::{self, Asked, watched};
use crate::motion::Motion;
use crate::names;
use crate::value::Saved;
use crate::{arrays, sweep, value};
use dalembert::analyze::{Interrupted, Request, analyze_watched};
use dalembert::export::{AnalysisPage, Derivation, EvaluationPage, Extras, diagnostics};
use dalembert::expr::{Number, Symbol};
use dalembert::model::load::Syntax;
use dalembert::model::parameters;
use dalembert::model::render::render;
use dalembert::model::system;
use dalembert::prelude::{Mechanics, Stabilize};
use dalembert::simulate::report::{EvalError, Options as EvalOptions, Report, in_phase_at, report};
use dalembert::simulate::setting::{Setting, State};
use dalembert::{Compiled, Error, Input, Loaded, Options, Severity, Trajectory, refusals, studies};
use numpy::PyArrayMethods;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ops::Bound as End;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A model without faults.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub(crate) struct Model {
    pub recipe: Recipe,
    pub loaded: Loaded,
    pub model: system::Model,
    /// Compiled when it is first asked for.
    compiled: OnceLock<Compiled>,
    /// What is derived once for numbers at many states; `None` where it is not the same for all.
    at_hand: OnceLock<Option<AtHand>>,
}

/// A model that numbers at states are asked of.
struct AtHand {
    model: system::Model,
    setting: Setting,
    symbols: HashMap<String, Symbol>,
}

/// A state: a text such as `x=1, x'=0.2`, or names and numbers.
#[derive(FromPyObject)]
pub(crate) enum At {
    // The usual one first: each is tried in turn.
    Numbers(Vec<(String, f64)>),
    Text(String),
}

/// Reads a text; one that has faults is an error.
fn read(recipe: Recipe) -> Result<Model, Error> {
    let mut loaded = dalembert::load(&recipe.input, &recipe.options);
    match loaded.model.take() {
        Some(model) if !loaded.diagnostics.iter().any(|d| d.severity == Severity::Fault) => {
            let model = recipe.drive(model)?;
            Ok(Model { recipe, loaded, model, compiled: OnceLock::new(), at_hand: OnceLock::new() })
        }
        _ => Err(loaded.into()),
    }
}

fn input(name: &str, text: &str, markdown: bool, folder: Option<PathBuf>) -> Input {
    let syntax = if markdown { Syntax::Markdown } else { Syntax::Plain };
    Input { name: name.to_owned(), text: text.to_owned(), syntax, folder }
}

/// What is said about a text, be it a model or not, and the same for people.
#[pyfunction]
#[pyo3(signature = (text, *, name = "model", markdown = false))]
pub(crate) fn diagnose<'py>(
    py: Python<'py>,
    text: &str,
    name: &str,
    markdown: bool,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let (list, words) = door::enter(py, |_| {
        let loaded = dalembert::load(&input(name, text, markdown, None), &Options::default());
        Ok(said(&loaded, dalembert::lint(&loaded)))
    })?;
    Ok((value::to_python(py, &list)?, words))
}

fn said(loaded: &Loaded, lint: Vec<dalembert::Diagnostic>) -> (Value, String) {
    let all: Vec<_> = loaded.diagnostics.iter().cloned().chain(lint).collect();
    let words = render(&all, &loaded.sources, false).trim_end().to_owned();
    (diagnostics::to_json(&all, &loaded.sources), words)
}

fn append(input: &mut Input, statements: &str) {
    input.text += &match input.syntax {
        Syntax::Plain => format!("\n{statements}\n"),
        Syntax::Markdown => format!("\n\n```dal\n{statements}\n```\n"),
    };
}

fn listed(given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    Ok(arrays::numbers(given)?.to_vec()?)
}

#[pymethods]
impl Model {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.recipe.traverse(&visit)
    }

    /// The model that a text is.
    #[staticmethod]
    #[pyo3(signature = (text, *, name = "model", markdown = false, folder = None))]
    fn parse(
        py: Python<'_>,
        text: &str,
        name: &str,
        markdown: bool,
        folder: Option<PathBuf>,
    ) -> PyResult<Model> {
        let recipe = Recipe::new(input(name, text, markdown, folder));
        door::enter(py, |_| Ok(read(recipe)?))
    }

    /// The model of a file, or of the gallery (`gallery:NAME`).
    #[staticmethod]
    fn open(py: Python<'_>, place: &str) -> PyResult<Model> {
        door::enter(py, |_| Ok(read(Recipe::new(Input::open(place).map_err(Error::from)?))?))
    }

    /// The same with further overrides, each a text such as `m=2, x'=0`.
    fn with_set(&self, py: Python<'_>, overrides: Vec<String>) -> PyResult<Model> {
        door::enter(py, |_| {
            let mut recipe = self.recipe.clone();
            recipe.options.set.extend(overrides);
            Ok(read(recipe)?)
        })
    }

    /// The same with further statements at its end.
    fn with_statements(&self, py: Python<'_>, statements: &str) -> PyResult<Model> {
        door::enter(py, |_| {
            let mut recipe = self.recipe.clone();
            append(&mut recipe.input, statements);
            Ok(read(recipe)?)
        })
    }

    /// The same with other values for its inputs: texts such as `F=sin(t)`, of what `statements`
    /// declare too, or functions with derivatives behind them.
    fn with_inputs(
        &self,
        py: Python<'_>,
        texts: Vec<String>,
        statements: &str,
        functions: Vec<(String, Vec<Py<PyAny>>)>,
    ) -> PyResult<Model> {
        let mut recipe = self.recipe.clone();
        if !statements.is_empty() {
            append(&mut recipe.input, statements);
        }
        recipe.replace(texts, functions)?;
        door::enter(py, |_| Ok(read(recipe)?))
    }

    /// All that it is read from, for [`restored`](Model::restored).
    fn saved(&self, py: Python<'_>) -> Saved {
        self.recipe.saved(py)
    }

    /// The model that was saved.
    #[staticmethod]
    fn restored(py: Python<'_>, saved: Saved) -> PyResult<Model> {
        let recipe = Recipe::restored(saved)?;
        door::enter(py, |_| Ok(read(recipe)?))
    }

    /// Its text.
    #[getter]
    fn text(&self) -> &str {
        &self.recipe.input.text
    }

    /// Its title, heading or name.
    #[getter]
    fn title(&self) -> &str {
        &self.model.system.title
    }

    /// Warnings and notes, and the same for people.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, String)> {
        let (list, words) = door::enter(py, |_| {
            Ok(said(&self.loaded, dalembert::analyze::lint::lint(&self.model)))
        })?;
        Ok((value::to_python(py, &list)?, words))
    }

    /// What it consists of.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = door::enter(py, |_| Ok(parts(&self.model)))?;
        value::to_python(py, &object)
    }

    /// Its equations of motion as a document: `text`, `latex`, `html`.
    fn document(&self, py: Python<'_>, kind: &str, formulation: Option<&str>) -> PyResult<String> {
        door::enter(py, |_| {
            self.derived(formulation, false, |derivation| match kind {
                "text" => Ok(derivation.to_text()),
                "latex" => Ok(derivation.to_latex_fragment()),
                "html" => Ok(derivation.to_html_fragment()),
                _ => Err(Trouble::Argument(format!(
                    "no document is called `{kind}`; there are text, latex, html"
                ))),
            })
        })
    }

    /// Its equations of motion as `dal derive --format json` has them.
    fn equations<'py>(
        &self,
        py: Python<'py>,
        formulation: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = door::enter(py, |_| {
            self.derived(formulation, true, |derivation| Ok(derivation.to_json()))
        })?;
        value::to_python(py, &object)
    }

    /// Numbers at a state (`x=1, x'=0.2`) or at the start, as `dal eval --json` has them; the
    /// `terms` are arrays.
    #[pyo3(signature = (at = None, *, formulation = None, elimination = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        at: Option<At>,
        formulation: Option<&str>,
        elimination: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut object = self.recipe.told(door::enter(py, |_| {
            let mut options = EvalOptions::of_model(&self.model);
            match formulation {
                Some("all") => options.formulations = dalembert::formulations::ALL.to_vec(),
                Some(name) => options.formulations = vec![names::formulation(name)?],
                None => {}
            }
            match elimination {
                Some("all") => options.eliminations = dalembert::simulate::ALL.to_vec(),
                Some(name) => {
                    let found = dalembert::gauss::by_name(name).ok_or_else(|| {
                        Trouble::Argument(format!("no elimination is called `{name}`"))
                    })?;
                    options.eliminations = vec![found];
                }
                None => {}
            }
            if let Some(At::Numbers(list)) = &at
                && let Some((model, report)) = self.at_numbers(list, &options)
            {
                return Ok(EvaluationPage { model, report: &report }.to_json());
            }
            self.at_state(at, |model| {
                let found = report(model, &options).map_err(|e| refused(&e, model))?;
                Ok(EvaluationPage { model, report: &found }.to_json())
            })
        }))?;
        let terms = object.get_mut("terms").map(Value::take);
        let answer = value::to_python(py, &object)?;
        if let Some(Value::Object(terms)) = terms {
            answer.set_item("terms", arrays::of_terms(py, &terms)?)?;
        }
        Ok(answer)
    }

    /// What is true of it, as `dal analyze --json` has it.
    fn analyze<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let object = door::enter(py, |guard| {
            let (model, request) = (&self.model, Request { searches: true, ..Request::default() });
            match watched(guard, |watch| analyze_watched(model, &request, watch)) {
                Ok(Ok(analysis)) => Ok(AnalysisPage { model, analysis: &analysis }.to_json()),
                Ok(Err(error)) => Err(refused(&error, model)),
                Err(Interrupted) => Err(Trouble::Interrupted),
            }
        })?;
        value::to_python(py, &object)
    }

    /// The linear equations about the equilibrium or steady motion near a state or the start, or
    /// what else is asked for, as `dal linearize --json` has them.
    #[pyo3(signature = (
        at = None, *, here = false, along = None, period = None, within = None, guesses = 200,
        symbolic = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "all by name, as Python's callers have them")]
    fn linearize<'py>(
        &self,
        py: Python<'py>,
        at: Option<At>,
        here: bool,
        along: Option<&Bound<'_, PyAny>>,
        period: Option<f64>,
        within: Option<Vec<(String, f64, f64)>>,
        guesses: usize,
        symbolic: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let along = along.map(listed).transpose()?;
        let object = self.recipe.told(door::enter(py, |guard| {
            let asked = Asked::new(here, along, period, within, guesses, symbolic)?;
            self.at_state(at, |model| linear::linearize(model, &asked, guard))
        }))?;
        value::to_python(py, &object)
    }

    /// A term of the equations as a function of time and state: `acceleration`, `mass`,
    /// `force`, `nonideal`, `jacobian`, `bias`.
    #[pyo3(signature = (name, parameters = Vec::new()))]
    fn function(
        &self,
        py: Python<'_>,
        name: &str,
        parameters: Vec<(String, f64)>,
    ) -> PyResult<Function> {
        door::enter(py, |_| {
            let kind = Kind::by_name(name).ok_or_else(|| {
                let known: Vec<&str> = Kind::ALL.iter().map(|k| k.0).collect();
                let known = known.join(", ");
                Trouble::Argument(format!("no function is called `{name}`; there are {known}"))
            })?;
            let compiled = match self.compiled.get() {
                Some(compiled) => compiled,
                None => {
                    let made = self.model.compile()?;
                    self.compiled.get_or_init(|| made)
                }
            };
            Function::new(kind, compiled.clone(), parameters, self.recipe.clone())
        })
    }

    /// Runs it.
    #[pyo3(signature = (
        start_time = None, end_time = None, *, tolerance = None, every = None, times = None,
        step = None, longest = None, most_steps = None, method = None, formulation = None,
        elimination = None, stabilize = None, events = true, verify = true, dense = true,
        partial = false, parameters = Vec::new(), start = Vec::new(), progress = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "all by name, as Python's callers have them")]
    fn simulate(
        &self,
        py: Python<'_>,
        start_time: Option<f64>,
        end_time: Option<f64>,
        tolerance: Option<f64>,
        every: Option<f64>,
        times: Option<&Bound<'_, PyAny>>,
        step: Option<f64>,
        longest: Option<f64>,
        most_steps: Option<u64>,
        method: Option<&str>,
        formulation: Option<&str>,
        elimination: Option<&str>,
        stabilize: Option<&str>,
        events: bool,
        verify: bool,
        dense: bool,
        partial: bool,
        parameters: Vec<(String, f64)>,
        start: Vec<(String, f64)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Motion> {
        let times = times.map(listed).transpose()?.unwrap_or_default();
        let is_driven = !self.recipe.driven.is_empty();
        self.recipe.told(door::enter_with(py, progress, |guard| {
            let from = start_time.map_or(End::Unbounded, End::Included);
            let to = end_time.map_or(End::Unbounded, End::Included);
            let mut run = self.model.simulate((from, to)).at(times);
            run = run.events(events).verify(verify).dense(dense).partial(partial);
            macro_rules! asked {
                ($($name:ident => $method:ident),*) => {
                    $(if let Some(value) = $name { run = run.$method(value); })*
                };
            }
            asked!(
                tolerance => tolerance, every => every, step => step, longest => longest_step,
                most_steps => most_steps, method => method, formulation => formulation,
                elimination => elimination
            );
            if let Some(name) = stabilize {
                let found = Stabilize::by_name(name).ok_or_else(|| {
                    let known = Stabilize::NAMES.join(", ");
                    Trouble::Argument(format!(
                        "no stabilization is called `{name}`; there are {known}"
                    ))
                })?;
                run = run.stabilize(found);
            }
            run = parameters.iter().fold(run, |run, (name, value)| run.set(name, *value));
            run = start.iter().fold(run, |run, (name, value)| run.start(name, *value));
            let trajectory: Trajectory = run.run_watched(&mut |p| {
                if is_driven && self.recipe.is_ended() {
                    return ControlFlow::Break(());
                }
                guard.check(p.t - p.start, p.end - p.start)
            })?;
            Ok(Motion { trajectory })
        }))
    }

    /// Many cases of it: what is varied, how each is run, what is kept of it.
    #[pyo3(signature = (
        names, values, *, vary = None, sampling = None, samples = None, seed = 0,
        observe = Vec::new(), trajectories = false, end_time = None, every = None,
        tolerance = None, method = None, formulation = None, part = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "all by name, as Python's callers have them")]
    fn study(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        values: &Bound<'_, PyAny>,
        vary: Option<String>,
        sampling: Option<String>,
        samples: Option<u64>,
        seed: u64,
        observe: Vec<String>,
        trajectories: bool,
        end_time: Option<f64>,
        every: Option<f64>,
        tolerance: Option<f64>,
        method: Option<String>,
        formulation: Option<String>,
        part: Option<u64>,
    ) -> PyResult<sweep::Study> {
        let values = listed(values)?;
        door::enter(py, |_| {
            self.recipe.without_functions()?;
            if let Some(name) = &formulation {
                names::formulation(name)?;
            }
            let asked = studies::Asked {
                cases: vary.is_none().then_some((names, values)),
                vary: vary.into_iter().collect(),
                sampling,
                samples,
                seed,
                observe,
                tables: trajectories,
                end: end_time,
                every,
                tolerance,
                method,
                formulation,
                coordinates: self.recipe.options.coordinates.clone(),
                inputs: self.recipe.options.inputs.clone(),
                lanes: studies::LANES,
                part,
            };
            sweep::new(&self.recipe.input, &self.recipe.options.set, &asked)
        })
    }
}

impl Model {
    fn derived<T>(
        &self,
        formulation: Option<&str>,
        exact: bool,
        show: impl FnOnce(&Derivation<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        if let Some(name) = formulation {
            names::formulation(name)?;
        }
        let model = self.model.shown();
        let equations = dalembert::derive(&model, formulation)
            .map_err(|faults| Error::of_faults(faults, &self.model))?;
        show(&Derivation::with(&model, &equations, Extras { exact, ..Extras::default() }))
    }

    /// What is found at a state of positions, states, velocities and the time by what is derived
    /// already, if all is well there: then it is what it would be by itself. Whatever else derives
    /// anything (another formulation, a phase, a refusal) does so in expressions of its own.
    fn at_numbers(
        &self,
        list: &[(String, f64)],
        options: &EvalOptions,
    ) -> Option<(&system::Model, Report)> {
        // A chart depends on the state.
        let is_derived = options.formulations.iter().all(|f| !f.has_chart())
            && options.eliminations.iter().all(|e| !e.is_along_tree());
        let AtHand { model, setting, symbols } = self.at_hand().filter(|_| is_derived)?;
        let known = |(name, value): &(String, f64)| Some((*symbols.get(name)?, *value));
        let values: Vec<(Symbol, f64)> = list.iter().map(known).collect::<Option<_>>()?;
        let state = State::of_values(setting, &values).ok()?;
        let found = in_phase_at(setting, &state, options).ok()?;
        let is_well = found.implied.is_empty()
            && found.phase.is_none()
            && found.answers.iter().all(|answer| answer.result.is_ok());
        is_well.then_some((model, found))
    }

    fn at_hand(&self) -> Option<&AtHand> {
        let make = || {
            let system = &self.model.system;
            if system.wants_phase() {
                return None;
            }
            let model = self.model.clone();
            let setting = Setting::new(&model).ok()?;
            let symbols =
                [system.configuration(), system.velocities(), system.momenta(), vec![Symbol::TIME]];
            let named = |symbol| (model.exprs.symbol_info(symbol).full_name(), symbol);
            let symbols = symbols.concat().into_iter().map(named).collect();
            Some(AtHand { model, setting, symbols })
        };
        self.at_hand.get_or_init(make).as_ref()
    }

    /// With the model as it is, or with a state beside it. Numbers of positions and velocities
    /// are taken as they are; for all else the model is read once more, which says what is wrong.
    fn at_state<T>(
        &self,
        at: Option<At>,
        work: impl FnOnce(&system::Model) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let text = match at {
            None => return work(&self.model),
            Some(At::Numbers(list)) => {
                if let Some(model) = self.with_state(&list) {
                    return work(&model);
                }
                let items: Vec<String> =
                    list.iter().map(|(name, x)| format!("{name}={x:?}")).collect();
                items.join(", ")
            }
            Some(At::Text(text)) => text,
        };
        let mut recipe = self.recipe.clone();
        recipe.options.at = Some(text);
        work(&read(recipe)?.model)
    }

    fn with_state(&self, list: &[(String, f64)]) -> Option<system::Model> {
        let mut model = self.model.clone();
        let (exprs, system) = (&model.exprs, &mut model.system);
        let symbols = [system.positions(), system.velocities(), vec![Symbol::TIME]].concat();
        let names: Vec<String> =
            symbols.iter().map(|&symbol| exprs.symbol_info(symbol).full_name()).collect();
        for (name, value) in list {
            let at = names.iter().position(|own| own == name)?;
            let value = exprs.of_number(Number::from_f64(*value)?);
            system.state.push((exprs.of_symbol(symbols[at]), value));
        }
        Some(model)
    }
}

fn refused(error: &EvalError, model: &system::Model) -> Trouble {
    match error {
        EvalError::Missing(missing) => Error::of_missing(missing.clone(), model).into(),
        error => Error::of_faults(refusals::of_evaluation(error, model), model).into(),
    }
}

fn parts(model: &system::Model) -> Value {
    let (exprs, system) = (&model.exprs, &model.system);
    let names = |symbols: Vec<Symbol>| -> Vec<String> {
        symbols.into_iter().map(|s| exprs.symbol_info(s).full_name()).collect()
    };
    let known = parameters::values(exprs, &system.parameters);
    let parameters: Map<String, Value> =
        system.parameters.iter().map(|p| (p.name.clone(), json!(known.get(&p.symbol)))).collect();
    let constraints: Vec<Value> = system
        .constraints
        .iter()
        .map(|c| {
            let residual = exprs.to_source(c.residual);
            json!({"name": c.name, "label": c.label, "kinds": c.kinds(), "residual": residual})
        })
        .collect();
    let inputs: Map<String, Value> = system
        .inputs
        .iter()
        .map(|u| (u.name.clone(), json!(u.value.map(|value| exprs.to_source(value)))))
        .collect();
    json!({
        "positions": names(system.positions()),
        "states": system.states.iter().map(|z| &z.name).collect::<Vec<_>>(),
        "inputs": inputs,
        "outputs": system.outputs.iter().map(|o| &o.name).collect::<Vec<_>>(),
        "velocities": names(system.velocities()),
        "momenta": names(system.momenta()),
        "parameters": parameters,
        "constraints": constraints,
        "observes": system.observes.iter().map(|o| &o.name).collect::<Vec<_>>(),
        "events": system.events.iter().map(|e| &e.name).collect::<Vec<_>>(),
    })
}
