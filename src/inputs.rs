//! Inputs from programs: data, a function that is sampled, or a function that is called.

use crate::error::{Error, ErrorKind};
use dalembert_expr::{Between, ExprId, Exprs, Function, Given, Number, Outside, Symbol, Table};
use dalembert_model::smoothness;
use dalembert_model::system::Model;

/// What a run takes for an input, between samples.
pub use dalembert_expr::Between as Interpolation;
/// A function of a program, as [`with_derivatives`] takes it.
pub use dalembert_expr::Closure;

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
    let refuse = |words: String| refused(input, words);
    let table = Table::new(input, times, values, between, Outside::Hold).ok_or_else(|| {
        refuse(format!("the samples of `{input}` are finite, two or more, at times that rise"))
    })?;
    driven(model, input, |exprs, time| {
        let id = exprs.tabulate(table)?;
        let key = exprs.of_number(Number::integer(id.key(0)));
        Some(exprs.call(Function::Table, &[key, time]))
    })
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
        return Err(refused(input, words));
    }
    let times: Vec<f64> = (0..=count as usize).map(|k| from + k as f64 * every).collect();
    let values: Vec<f64> = times.iter().map(|&t| function(t)).collect();
    with_samples(model, input, &times, &values, Between::Step)
}

/// A model with a function of time for an input, which is called wherever a run is: it has to give
/// the same value for the same time, in any order of times and from several threads. Where it is not
/// smooth, steps of an integrator become short; what jumps at known times is better given by samples
/// or by a formula, whose turns are met exactly.
///
/// Nothing is known of it but values. So there are no series of its motions, which go by stages,
/// and what would have to differentiate it (a constraint on positions, say) is refused, unless it
/// comes with derivatives ([`with_derivatives`]). Where it is not finite, or panics, there is no
/// motion.
///
/// ```
/// use dalembert::Mechanics;
/// let model = dalembert::parse("input F\ncoord x\nkinetic x'^2/2\nforce x: F")?;
/// let driven = dalembert::with_callback(&model, "F", |t| t.cos())?;
/// let run = driven.simulate(0.0..2.0).run()?;
/// assert!((run.last().expect("an end")["x"] - (1.0 - 2.0f64.cos())).abs() < 1e-8);
/// # Ok::<(), dalembert::Error>(())
/// ```
pub fn with_callback(
    model: &Model,
    input: &str,
    function: impl Fn(f64) -> f64 + Send + Sync + 'static,
) -> Result<Model, Error> {
    with_derivatives(model, input, vec![Box::new(function)])
}

/// The same with derivatives behind the function: F, F′, F″. Whether they are derivatives of it is
/// not looked at.
///
/// ```
/// use dalembert::Mechanics;
/// let model = dalembert::parse("input u\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint y = u")?;
/// let lift: Vec<dalembert::Closure> =
///     vec![Box::new(f64::sin), Box::new(f64::cos), Box::new(|t| -t.sin())];
/// let driven = dalembert::with_derivatives(&model, "u", lift)?;
/// let run = driven.simulate(0.0..2.0).run()?;
/// assert!((run.last().expect("an end")["y"] - 2.0f64.sin()).abs() < 1e-12);
/// # Ok::<(), dalembert::Error>(())
/// ```
pub fn with_derivatives(
    model: &Model,
    input: &str,
    functions: Vec<Closure>,
) -> Result<Model, Error> {
    let given = Given::new(input, functions).ok_or_else(|| {
        refused(input, format!("`{input}` is a function, and up to seven derivatives of it"))
    })?;
    driven(model, input, |exprs, time| Some(exprs.give(&given, time)))
}

/// A model with a value for an input, if that is smooth enough for what it stands in. The model
/// that it is made of does not get the value, and does not keep it.
fn driven(
    model: &Model,
    input: &str,
    value: impl FnOnce(&Exprs, ExprId) -> Option<ExprId>,
) -> Result<Model, Error> {
    let model = model.clone();
    let value = value(&model.exprs, model.exprs.of_symbol(Symbol::TIME))
        .ok_or_else(|| refused(input, "there were too many tables".to_owned()))?;
    let Some(driven) = model.with_input(input, value) else {
        let known = model.system.inputs.iter().map(|u| u.name.clone()).collect();
        return Err(Error::unknown("input", input, known));
    };
    let faults = smoothness::check(&driven.exprs, &driven.system);
    if faults.is_empty() { Ok(driven) } else { Err(Error::of_faults(faults, &driven)) }
}

fn refused(input: &str, words: String) -> Error {
    Error::plain(ErrorKind::Samples { input: input.to_owned() }, words)
}
