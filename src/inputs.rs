//! Inputs from programs: data, or a function that is sampled.

use crate::error::{Error, ErrorKind};
use dalembert_expr::{Between, Function, Number, Outside, Symbol, Table};
use dalembert_model::smoothness;
use dalembert_model::system::Model;

/// What a run takes for an input, between samples.
pub use dalembert_expr::Between as Interpolation;

/// A model with values for an input at given times, which rise; before the first and after the
/// last they are held.
///
/// ```
/// use dalembert::Mechanics;
/// let model = dalembert::parse("input F\ncoord x\nkinetic x'^2/2\nforce x: F")?;
/// let driven = dalembert::with_samples(
///     &model, "F", &[0.0, 1.0, 2.0], &[0.0, 1.0, 0.0], dalembert::Interpolation::Linear,
/// )?;
/// let run = driven.simulate(0.0..2.0).run()?;
/// // x″ is t up to 1 and 2 − t after it: x = 1 at t = 2.
/// assert!((run.last().expect("an end")["x"] - 1.0).abs() < 1e-8);
/// # Ok::<(), dalembert::Error>(())
/// ```
pub fn with_samples(
    model: &Model,
    input: &str,
    times: &[f64],
    values: &[f64],
    between: Interpolation,
) -> Result<Model, Error> {
    let refuse = |words: String| {
        let kind = ErrorKind::Samples { input: input.to_owned() };
        Error::plain(kind, words)
    };
    let table = Table::new(input, times, values, between, Outside::Hold).ok_or_else(|| {
        refuse(format!("the samples of `{input}` are finite, two or more, at times that rise"))
    })?;
    let id = table.register().ok_or_else(|| refuse("there are too many tables".to_owned()))?;
    let exprs = &model.exprs;
    let key = exprs.of_number(Number::integer(id.key(0)));
    let value = exprs.call(Function::Table, &[key, exprs.of_symbol(Symbol::TIME)]);
    let driven = model
        .with_input(input, value)
        .ok_or_else(|| refuse(format!("the model has no input `{input}`")))?;
    match smoothness::check(&driven.exprs, &driven.system).first() {
        Some(fault) => Err(refuse(fault.message.clone())),
        None => Ok(driven),
    }
}

/// A model with a function of time for an input, sampled from one time to another so often; it is
/// held from each sample to the next. It has no derivatives, so it may be in forces and rates of
/// states, and in no constraint on positions.
pub fn with_function(
    model: &Model,
    input: &str,
    (from, to): (f64, f64),
    every: f64,
    function: impl Fn(f64) -> f64,
) -> Result<Model, Error> {
    let count = ((to - from) / every).ceil();
    if !(1.0..=1e7).contains(&count) {
        let words = format!("`{input}` is sampled {count} times from {from} to {to}");
        return Err(Error::plain(ErrorKind::Samples { input: input.to_owned() }, words));
    }
    let times: Vec<f64> = (0..=count as usize).map(|k| from + k as f64 * every).collect();
    let values: Vec<f64> = times.iter().map(|&t| function(t)).collect();
    with_samples(model, input, &times, &values, Between::Step)
}
