//! The values of parameters, changed one by one.
//!
//! What is defined by others follows them: its definition is compiled, in terms of those that are
//! not defined. A parameter that is set is no longer defined.

use dalembert_compile::{Function, Scratch, Tape, backends};
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::Model;
use dalembert_simulate::Setting;

/// The values of the parameters of a model, in its order.
pub(crate) struct Values {
    pub symbols: Vec<Symbol>,
    pub numbers: Vec<f64>,
    /// Parameters that were set.
    is_set: Vec<bool>,
    /// What decides which rows are held, how long a run is, or where it is looked at.
    pub decides: Vec<bool>,
    /// The values when rounding was last looked at.
    looked_at: Vec<f64>,
    defined: Option<Defined>,
}

/// Definitions by other parameters.
struct Defined {
    /// The parameters that are defined, and those that they are made of.
    places: Vec<usize>,
    free: Vec<usize>,
    function: Box<dyn Function>,
    scratch: Scratch,
    input: Vec<f64>,
    output: Vec<f64>,
}

/// Rounding is looked at anew where a parameter has changed by more than this factor since.
const FAR: f64 = 16.0;

impl Values {
    pub fn new(model: &Model, setting: &Setting) -> Values {
        let (symbols, numbers) = setting.constants();
        let system = &model.system;
        let exprs = &model.exprs;
        let mut deciding: Vec<ExprId> = vec![system.run.from, system.run.to];
        if system.constraints.len() > 1 {
            deciding.extend(system.constraints.iter().map(|c| c.residual));
        }
        let defined = definitions(model, &vec![false; symbols.len()]);
        for &(at, definition) in &defined {
            if exprs.symbols_of(&deciding).contains(&symbols[at]) {
                deciding.push(definition);
            }
        }
        let seen = exprs.symbols_of(&deciding);
        let mut values = Values {
            decides: symbols.iter().map(|s| seen.contains(s)).collect(),
            is_set: vec![false; symbols.len()],
            looked_at: numbers.clone(),
            symbols,
            numbers,
            defined: None,
        };
        values.compile(model);
        values
    }

    /// Another value for one of them.
    pub fn set(&mut self, model: &Model, at: usize, value: f64) {
        self.numbers[at] = value;
        if !self.is_set[at] {
            self.is_set[at] = true;
            if self.defined.as_ref().is_some_and(|d| d.places.contains(&at)) {
                self.compile(model);
            }
        }
        let Some(own) = &mut self.defined else { return };
        own.input.iter_mut().zip(&own.free).for_each(|(x, &at)| *x = self.numbers[at]);
        own.function.call(&mut own.scratch, &own.input, &mut own.output);
        own.places.iter().zip(&own.output).for_each(|(&at, &y)| self.numbers[at] = y);
    }

    /// Whether rounding has to be looked at anew; if so, it is taken to be.
    pub fn are_far(&mut self) -> bool {
        let mut pairs = self.numbers.iter().zip(&self.looked_at);
        let is_near = |(now, before): (&f64, &f64)| {
            now == before || now / before > 0.0 && (now / before).max(before / now) <= FAR
        };
        let are_far = !pairs.all(is_near);
        if are_far {
            self.looked_at.copy_from_slice(&self.numbers);
        }
        are_far
    }

    fn compile(&mut self, model: &Model) {
        let defined = definitions(model, &self.is_set);
        if defined.is_empty() {
            self.defined = None;
            return;
        }
        let (places, roots): (Vec<usize>, Vec<ExprId>) = defined.into_iter().unzip();
        let free: Vec<usize> = (0..self.symbols.len()).filter(|at| !places.contains(at)).collect();
        let variables: Vec<Symbol> = free.iter().map(|&at| self.symbols[at]).collect();
        let tape = Tape::lower(&model.exprs, &roots, &[], &variables);
        let function = backends::DEFAULT.compile(tape);
        let mut scratch = function.scratch();
        function.prepare(&mut scratch, &[]);
        let (input, output) = (vec![0.0; free.len()], vec![0.0; places.len()]);
        self.defined = Some(Defined { places, free, function, scratch, input, output });
    }
}

/// The parameters that are defined by others and were not set, each in terms of such as are not.
fn definitions(model: &Model, is_set: &[bool]) -> Vec<(usize, ExprId)> {
    let (exprs, parameters) = (&model.exprs, &model.system.parameters);
    let symbols: Vec<Symbol> = parameters.iter().map(|p| p.symbol).collect();
    let is_defined = |at: usize| {
        let value = parameters[at].value.filter(|_| !is_set[at]);
        value.filter(|&value| exprs.symbols_of(&[value]).iter().any(|s| symbols.contains(s)))
    };
    let mut list: Vec<(usize, ExprId)> =
        (0..parameters.len()).filter_map(|at| Some((at, is_defined(at)?))).collect();
    // No definition goes round in a circle: each round takes out one level.
    for _ in 0..list.len() {
        let map: Vec<(Symbol, ExprId)> = list.iter().map(|d| (symbols[d.0], d.1)).collect();
        let roots: Vec<ExprId> = list.iter().map(|d| d.1).collect();
        let next = exprs.substitute(&roots, &map);
        if next == roots {
            break;
        }
        list.iter_mut().zip(next).for_each(|(d, next)| d.1 = next);
    }
    list
}
