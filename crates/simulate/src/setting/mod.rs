//! A model with numbers for its parameters.

pub mod extent;
mod implied;
pub mod legendre;
mod recombine;
mod restricted;
mod state;
mod tolerances;

use implied::Rounded;
pub use implied::{Dependence, Doubt, Nearly};
pub use legendre::NewtonError;
pub use state::State;

use crate::noise::{Noisy, Running, SAFETY, Shaken, TRIES};
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::formulations::lagrange;
use dalembert_derive::picture::Picture;
use dalembert_derive::{Choices, Formulation};
use dalembert_expr::series::{Along, Series};
use dalembert_expr::{ExprId, Number, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Model;
use implied::{Rows, dependence};
use recombine::recombined;
use restricted::restricted;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// Links on a path from the ground beyond which bounds on rounding say nothing: they grow by up to
/// 3^(1/2) with each, by 10⁶ along so many.
const DEEP: usize = 24;

/// A model and the values of its parameters. Cheap to clone, and threads may share it.
#[derive(Clone)]
pub struct Setting {
    /// The model, with rows that nearly depend on each other replaced by what they determine;
    /// its expressions are those of the model it is made of.
    pub model: Arc<Model>,
    given: Arc<Model>,
    /// Parameters with other values than the model gives them.
    changed: Vec<(Symbol, f64)>,
    parameters: FxHashMap<Symbol, f64>,
    /// What is known of rows that doubles take for dependent; a property of the functions,
    /// so that one state serves for all.
    dependence: Arc<OnceLock<Dependence>>,
    /// The equations of the model by each formulation, once they were asked for.
    derived: Arc<[OnceLock<Derived>; dalembert_derive::ALL.len()]>,
}

/// Equations by a formulation, or why it does not apply.
type Derived = Result<Arc<EquationsOfMotion>, Vec<Diagnostic>>;

/// Threads may share a setting.
const _: fn() = || {
    fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<Setting>();
};

/// Parameters that numbers need and that have no value, or none that is a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingValues(pub Vec<String>);

impl std::fmt::Display for MissingValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_input = |name: &String| name.starts_with("input ");
        let how = match (self.0.iter().any(is_input), self.0.iter().all(is_input)) {
            (true, true) => "`--input F=…`",
            (true, false) => "`--set` and `--input F=…`",
            (false, _) => "`--set`",
        };
        write!(f, "no value for {}; give one with {how}", self.0.join(", "))
    }
}

/// A table of values for symbols.
#[derive(Clone, Debug, Default)]
pub struct Table {
    values: FxHashMap<Symbol, f64>,
}

impl Table {
    /// A table with room for so many values.
    pub fn with_capacity(count: usize) -> Table {
        Table { values: FxHashMap::with_capacity_and_hasher(count, Default::default()) }
    }

    /// Sets a symbol's value.
    pub fn set(&mut self, symbol: Symbol, value: f64) {
        self.values.insert(symbol, value);
    }

    /// Sets values of several symbols.
    pub fn set_all(&mut self, symbols: &[Symbol], values: &[f64]) {
        for (&symbol, &value) in symbols.iter().zip(values) {
            self.set(symbol, value);
        }
    }

    /// A symbol's value.
    pub fn get(&self, symbol: Symbol) -> Option<f64> {
        self.values.get(&symbol).copied()
    }
}

impl Setting {
    /// The setting of a model whose parameters all have values.
    pub fn new(model: &Model) -> Result<Setting, MissingValues> {
        let system = &model.system;
        let parameters = dalembert_model::parameters::values(&model.exprs, &system.parameters);
        let missing: Vec<String> = system
            .parameters
            .iter()
            .filter(|p| !parameters.get(&p.symbol).is_some_and(|v| v.is_finite()))
            .map(|p| format!("`{}`", p.name))
            .chain(
                system
                    .inputs
                    .iter()
                    .filter(|u| u.value.is_none())
                    .map(|u| format!("input `{}`", u.name)),
            )
            .collect();
        if missing.is_empty() {
            Ok(Setting::of(Arc::new(model.share()), parameters, Vec::new()))
        } else {
            Err(MissingValues(missing))
        }
    }

    /// The same with a hold of its own on its expressions: what one thread looks up there, another
    /// one with its own does not wait for.
    pub fn apart(&self) -> Setting {
        let given = Arc::new((*self.given).clone());
        let model = match Arc::ptr_eq(&self.model, &self.given) {
            true => Arc::clone(&given),
            false => Arc::new(Model {
                exprs: given.exprs.share(),
                system: self.model.system.clone(),
                sources: Arc::clone(&self.model.sources),
            }),
        };
        // What was found is found again: it may have expressions of the other arena.
        let (dependence, derived) = (Arc::default(), Arc::default());
        Setting { model, given, dependence, derived, ..self.clone() }
    }

    /// The same with another value for one parameter; those that are defined by it
    /// keep theirs.
    pub fn with(&self, parameter: Symbol, value: f64) -> Setting {
        let mut parameters = self.parameters.clone();
        parameters.insert(parameter, value);
        let mut changed = self.changed.clone();
        changed.retain(|c| c.0 != parameter);
        changed.push((parameter, value));
        Setting::of(Arc::clone(&self.given), parameters, changed)
    }

    /// The same with other values for several parameters; those that are defined by them follow.
    /// What has no finite value then is named.
    pub fn with_all(&self, values: &[(Symbol, f64)]) -> Result<Setting, MissingValues> {
        let system = &self.given.system;
        let mut changed = self.changed.clone();
        changed.retain(|c| values.iter().all(|v| v.0 != c.0));
        changed.extend(values);
        let parameters = dalembert_model::parameters::values_with(
            &self.given.exprs,
            &system.parameters,
            &changed,
        );
        let is_lost = |symbol| !parameters.get(&symbol).is_some_and(|v: &f64| v.is_finite());
        let lost = system.parameters.iter().filter(|p| is_lost(p.symbol));
        let missing: Vec<String> = lost.map(|p| format!("`{}`", p.name)).collect();
        match missing.is_empty() {
            true => Ok(Setting::of(Arc::clone(&self.given), parameters, changed)),
            false => Err(MissingValues(missing)),
        }
    }

    fn of(
        given: Arc<Model>,
        parameters: FxHashMap<Symbol, f64>,
        changed: Vec<(Symbol, f64)>,
    ) -> Setting {
        let of_system = |system| {
            let (exprs, sources) = (given.exprs.share(), Arc::clone(&given.sources));
            Arc::new(Model { exprs, system, sources })
        };
        let mut setting = Setting {
            model: Arc::clone(&given),
            given: Arc::clone(&given),
            changed,
            parameters,
            dependence: Arc::default(),
            derived: Arc::default(),
        };
        let rounded = setting.rounded();
        if let Some(system) = recombined(&given.exprs, &given.system, &setting.changed, &rounded) {
            setting.model = of_system(system);
        }
        while let Some(system) = restricted(&setting) {
            setting.model = of_system(system);
        }
        setting.derived = Arc::default();
        setting
    }

    /// The equations by a formulation that leaves nothing open, or with the default for what it does,
    /// derived when they are first asked for: whoever evaluates at many states has them once.
    pub fn equations(&self, formulation: &dyn Formulation) -> Derived {
        let (exprs, system) = (&self.model.exprs, &self.model.system);
        let derive = || {
            if formulation.name() == lagrange::FORMULATION.name() {
                let picture = Picture::for_numbers(exprs, system)?;
                return Ok(Arc::new(lagrange::equations(exprs, &picture)));
            }
            formulation.derive(exprs, system, &Choices::default()).map(Arc::new)
        };
        match dalembert_derive::ALL.iter().position(|own| own.name() == formulation.name()) {
            Some(place) => self.derived[place].get_or_init(derive).clone(),
            None => derive(),
        }
    }

    /// Lagrange's equations.
    pub fn lagrange(&self) -> Derived {
        self.equations(&lagrange::FORMULATION)
    }

    /// The model as it was given.
    pub(crate) fn given(&self) -> &Arc<Model> {
        &self.given
    }

    /// The setting of another model with the same parameters; what it has beside them is 0.
    pub(crate) fn of_model(&self, model: Model) -> Setting {
        let mut parameters = self.parameters.clone();
        for parameter in &model.system.parameters {
            parameters.entry(parameter.symbol).or_insert(0.0);
        }
        Setting::of(Arc::new(model), parameters, self.changed.clone())
    }

    /// The setting of a model with the same parameters and no others, with all that is known of these.
    pub(crate) fn of_given(&self, given: &Arc<Model>) -> Setting {
        match Arc::ptr_eq(&self.given, given) {
            true => self.clone(),
            false => Setting::of(Arc::clone(given), self.parameters.clone(), self.changed.clone()),
        }
    }

    /// The parameters with other values than the model gives them, as the numbers that are meant.
    fn changed_numbers(&self) -> impl Iterator<Item = (Symbol, Number)> + '_ {
        self.changed.iter().filter_map(|&(symbol, x)| Some((symbol, Number::from_f64(x)?)))
    }

    /// The numbers of many digits that it is written with.
    fn rounded(&self) -> Rounded {
        let texts = self.model.sources.iter().map(|source| source.text.as_ref());
        Rounded::new(texts, self.changed_numbers().map(|(_, number)| number))
    }

    /// Whether another one is of the same model with the same values.
    pub fn is_same(&self, other: &Setting) -> bool {
        Arc::ptr_eq(&self.given, &other.given) && self.parameters == other.parameters
    }

    /// Other values of parameters that are in none of several constraints: the rows that are held
    /// stay the same.
    pub fn set_values(&mut self, symbols: &[Symbol], values: &[f64]) {
        self.parameters.extend(symbols.iter().copied().zip(values.iter().copied()));
    }

    /// What is known of rows that doubles take for dependent, at the first state that is asked for.
    pub fn dependence(&self, equations: &EquationsOfMotion, state: &State) -> &Dependence {
        let decide = || {
            let rows = Rows {
                constraints: &equations.rows,
                q: equations.positions(),
                v: &equations.v,
                jacobian: &equations.jacobian,
                phi: &equations.configuration_residuals,
                psi: &equations.velocity_residuals,
                auxiliary: equations.auxiliary.as_ref(),
            };
            dependence(self, &rows, (state.t, state.table(&self.model.system)))
        };
        self.dependence.get_or_init(decide)
    }

    /// When the model's own run starts.
    pub fn start_time(&self) -> f64 {
        self.number(self.model.system.run.from, &Table::default())
    }

    /// The parameters and their values.
    pub fn constants(&self) -> (Vec<Symbol>, Vec<f64>) {
        let symbols: Vec<Symbol> = self.model.system.parameters.iter().map(|p| p.symbol).collect();
        let values = symbols.iter().map(|s| self.parameters[s]).collect();
        (symbols, values)
    }

    /// The values of expressions, with bounds on their rounding errors; along deep trees, with what
    /// these are measured to be.
    pub fn evaluate(&self, roots: &[ExprId], table: &Table) -> Vec<Noisy> {
        let exprs = &self.model.exprs;
        let mut values =
            exprs.evaluate(&Running, roots, |symbol| Noisy::exact(self.symbol(symbol, table)));
        if self.model.system.tree.depth() < DEEP {
            return values;
        }
        let mut measured = vec![0f64; roots.len()];
        for number in 0..TRIES {
            let shaken = Shaken::new(number);
            let found = exprs.evaluate(&shaken, roots, |symbol| self.symbol(symbol, table));
            for ((most, found), own) in measured.iter_mut().zip(found).zip(&values) {
                let off = SAFETY * (found - own.value).abs();
                *most = if off.is_finite() { most.max(off) } else { f64::INFINITY };
            }
        }
        for (value, measured) in values.iter_mut().zip(measured) {
            // A bound that is no number is none.
            value.noise = if value.noise < measured { value.noise } else { measured };
        }
        values
    }

    /// The same where symbols are known to so much.
    pub fn evaluate_off(&self, roots: &[ExprId], table: &Table, off: &Table) -> Vec<Noisy> {
        self.model.exprs.evaluate(&Running, roots, |symbol| Noisy {
            value: self.symbol(symbol, table),
            noise: off.get(symbol).unwrap_or(0.0),
        })
    }

    /// Expressions as series along one of their symbols.
    pub fn series(&self, roots: &[ExprId], table: &Table, along: Symbol) -> Vec<Series> {
        self.model.exprs.evaluate(&Along, roots, |symbol| {
            let value = self.symbol(symbol, table);
            if symbol == along { Series::variable(value) } else { Series::constant(value) }
        })
    }

    /// The time that a run takes, as the model says; 0 if it does not.
    pub fn duration(&self) -> f64 {
        let run = &self.model.system.run;
        let times = self.numbers(&[run.from, run.to], &Table::default());
        let length = (times[1] - times[0]).abs();
        if length.is_finite() { length } else { 0.0 }
    }

    /// The values of expressions.
    pub fn numbers(&self, roots: &[ExprId], table: &Table) -> Vec<f64> {
        self.model.exprs.eval_f64(roots, |symbol| self.symbol(symbol, table))
    }

    /// The value of one expression.
    pub fn number(&self, root: ExprId, table: &Table) -> f64 {
        self.numbers(&[root], table)[0]
    }

    /// The value of a parameter.
    pub(crate) fn number_of(&self, parameter: Symbol) -> f64 {
        self.parameters.get(&parameter).copied().unwrap_or(f64::NAN)
    }

    fn symbol(&self, symbol: Symbol, table: &Table) -> f64 {
        let own = table.get(symbol).or_else(|| self.parameters.get(&symbol).copied());
        own.unwrap_or(f64::NAN)
    }
}
