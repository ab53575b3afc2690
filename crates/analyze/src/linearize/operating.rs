//! Inputs at a point of operation: what they are there, once as numbers in the model and once as
//! symbols of the equations.
//!
//! An equilibrium or a steady motion has constant inputs: each is held at what it is at the time
//! of the start, with u' = u'' = 0. At a point of a motion they are what the run takes for them.

use dalembert_expr::{ExprId, Number, Symbol};
use dalembert_model::system::Model;
use dalembert_simulate::{Setting, State, Table};

/// A setting with constant inputs, and the one of the same numbers in which inputs are symbols.
pub(crate) struct Operating {
    pub closed: Setting,
    pub open: Setting,
    /// Inputs that vary in time, and the values they are held at.
    pub held: Vec<(String, f64)>,
}

impl Operating {
    /// Inputs held at what they are at the start, or in the state asked for.
    pub fn new(setting: &Setting) -> Operating {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        if system.inputs.is_empty() {
            let (closed, open) = (setting.clone(), setting.clone());
            return Operating { closed, open, held: Vec::new() };
        }
        let asked = State::of_items(setting, &system.state).map(|state| state.t);
        let t = asked.unwrap_or_else(|_| setting.number(system.run.from, &Table::default()));
        let values: Vec<ExprId> =
            system.inputs.iter().map(|u| u.value.unwrap_or(ExprId::ZERO)).collect();
        let numbers = setting.numbers(&values, &at_time(t));
        let varies = |id: ExprId| exprs.symbols_of(&[id]).contains(&Symbol::TIME);
        let held: Vec<(String, f64)> = (0..values.len())
            .filter(|&k| varies(values[k]))
            .map(|k| (system.inputs[k].name.clone(), numbers[k]))
            .collect();
        let closed = match held.is_empty() {
            true => setting.clone(),
            false => constant(setting, &numbers).unwrap_or_else(|| setting.clone()),
        };
        let open = opened(setting, &numbers.iter().map(|&u| [u, 0.0, 0.0]).collect::<Vec<_>>());
        Operating { closed, open, held }
    }
}

/// The setting of the open system with inputs as a run takes them at a time.
pub(crate) fn at(setting: &Setting, t: f64) -> Setting {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let values = system.inputs.iter().map(|u| {
        let value = u.value.unwrap_or(ExprId::ZERO);
        let rate = exprs.derivative(value, Symbol::TIME);
        let second = exprs.derivative(rate, Symbol::TIME);
        let numbers = setting.numbers(&[value, rate, second], &at_time(t));
        [numbers[0], numbers[1], numbers[2]]
    });
    opened(setting, &values.collect::<Vec<_>>())
}

fn at_time(t: f64) -> Table {
    let mut table = Table::default();
    table.set(Symbol::TIME, t);
    table
}

/// The open system with values of u, u' and u'' for each input.
fn opened(setting: &Setting, values: &[[f64; 3]]) -> Setting {
    let model = setting.model.opened();
    let Ok(open) = Setting::new(&model) else { return setting.clone() };
    let mut open = like(open, setting);
    for (input, numbers) in model.system.inputs.iter().zip(values) {
        open.set_values(&[input.symbol, input.rate, input.second], numbers);
    }
    open
}

/// The model with other, constant values of its inputs.
fn constant(setting: &Setting, values: &[f64]) -> Option<Setting> {
    let Model { exprs, mut system, sources } = setting.model.opened();
    for (input, &value) in system.inputs.iter_mut().zip(values) {
        input.value = Some(exprs.of_number(Number::from_f64(value)?));
    }
    let system = system.closed(&exprs);
    let new = Setting::new(&Model { exprs, system, sources }).ok()?;
    Some(like(new, setting))
}

/// The same values of parameters.
fn like(mut setting: Setting, other: &Setting) -> Setting {
    let (symbols, values) = other.constants();
    setting.set_values(&symbols, &values);
    setting
}
