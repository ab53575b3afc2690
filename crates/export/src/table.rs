//! A trajectory as a table: which columns there are, and what stands in them.

use crate::quantity::{Quantities, Quantity};
use dalembert_expr::{ExprId, text_name};
use dalembert_model::system::{Energy, System};
use dalembert_simulate::Observation;
use dalembert_simulate::Setting;
use dalembert_simulate::run::verify::StateError;

/// A number read off an observation.
type Reading = fn(&Observation) -> f64;

/// Energy, and what changes it.
const BALANCE: &[(&str, Quantity, Reading)] = &[
    ("energy", Quantity::Energy, |o| o.energy),
    ("power", Quantity::Power, |o| o.power),
    ("work", Quantity::Energy, |o| o.work),
];

/// The columns of a table.
pub struct Columns {
    /// Their names.
    pub names: Vec<String>,
    /// The same for readers: `θ̇₁` for `theta1'`.
    pub labels: Vec<String>,
    /// What kind of quantity each is.
    pub kinds: Vec<Quantity>,
    momenta: bool,
    forces: bool,
    /// Values of the `observe`s that are no column already.
    observes: Vec<ExprId>,
    balance: Vec<Reading>,
    /// How many columns of errors there are.
    errors: usize,
}

impl Columns {
    /// t, positions, velocities, momenta where the variables are canonical, the
    /// model's `observe`s; with `forces` also accelerations, the constraint force,
    /// multipliers, the energy, and the power and work that change it.
    pub fn new(setting: &Setting, canonical: bool, forces: bool) -> Columns {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let name = |s| exprs.symbol_info(s).full_name();
        let momenta = canonical || matches!(system.energy, Energy::Hamiltonian { .. });
        let mut names = vec!["t".to_owned()];
        names.extend(system.configuration().into_iter().map(name));
        names.extend(system.velocities().into_iter().map(name));
        if momenta {
            names.extend(system.momenta().into_iter().map(name));
        }
        // `observe x` of a coordinate x is the column x, by the rules for names.
        let known: Vec<String> = names.clone();
        let further = system.observes.iter().filter(|o| !known.contains(&o.name));
        let further: Vec<_> = further.collect();
        names.extend(further.iter().map(|o| o.name.clone()));
        let observes = further.iter().map(|o| o.value).collect();
        let quantities = Quantities::new(&setting.model);
        let of_coordinates: Vec<Quantity> =
            system.positions().into_iter().map(|q| quantities.of_coordinate(q)).collect();
        let rates: Vec<Quantity> = of_coordinates.iter().map(|k| k.rate()).collect();
        let mut kinds = vec![Quantity::Time];
        kinds.extend(&of_coordinates);
        kinds.extend(system.states.iter().map(|_| Quantity::Other));
        kinds.extend(&rates);
        if momenta {
            kinds.extend(rates.iter().map(|_| Quantity::Momentum));
        }
        kinds.extend(further.iter().map(|o| quantities.of_expression(&o.name, o.value)));
        let mut balance = Vec::new();
        if forces {
            names.extend(system.accelerations().into_iter().map(name));
            let coordinates = system.coordinates.iter();
            names.extend(coordinates.map(|c| format!("reaction({})", c.name)));
            let constraints = system.constraints.iter();
            names.extend(constraints.map(|c| format!("multiplier({})", c.name)));
            kinds.extend(rates.iter().map(|k| k.rate()));
            kinds.extend(rates.iter().map(|_| Quantity::Force));
            kinds.extend(system.constraints.iter().map(|_| Quantity::Multiplier));
            for (name, kind, value) in BALANCE {
                if !names.iter().any(|n| n == name) {
                    names.push((*name).to_owned());
                    kinds.push(*kind);
                    balance.push(*value);
                }
            }
        }
        let labels = names.iter().map(|name| label(name)).collect();
        Columns { names, labels, kinds, momenta, forces, observes, balance, errors: 0 }
    }

    /// The same with the estimated errors of positions, velocities and momenta.
    pub fn with_errors(mut self, setting: &Setting) -> Columns {
        let (n, states) = (setting.model.system.n_coordinates(), setting.model.system.states.len());
        self.errors = states + if self.momenta { 3 * n } else { 2 * n };
        let names: Vec<String> =
            self.names[1..=self.errors].iter().map(|name| format!("error({name})")).collect();
        self.labels.extend(names.iter().cloned());
        self.kinds.extend(names.iter().map(|_| Quantity::Error));
        self.names.extend(names);
        self
    }

    /// The errors of one row, behind its values; NaN where they are not known.
    pub fn row_errors(&self, error: Option<&StateError>, row: &mut Vec<f64>) {
        let before = row.len();
        if let Some(error) = error {
            let all = error.q.iter().chain(&error.velocity).chain(&error.momentum);
            row.extend(all.copied().take(self.errors));
        }
        row.resize(before + self.errors, f64::NAN);
    }

    /// The values of one row; what is not unique is NaN.
    pub fn row(&self, setting: &Setting, observation: &Observation, row: &mut Vec<f64>) {
        let system: &System = &setting.model.system;
        row.clear();
        row.push(observation.state.t);
        row.extend(&observation.state.q);
        row.extend(&observation.state.velocity);
        if self.momenta {
            row.extend(&observation.state.momentum);
        }
        if !self.observes.is_empty() {
            row.extend(setting.numbers(&self.observes, &observation.table(system)));
        }
        if self.forces {
            row.extend(&observation.accelerations);
            row.extend(&observation.constraint_force);
            let multipliers = observation.multipliers.iter().zip(&observation.indeterminate);
            row.extend(multipliers.map(|(&l, &open)| if open { f64::NAN } else { l }));
            row.extend(self.balance.iter().map(|value| value(observation)));
        }
    }
}

/// A name as it is typeset; an expression stays as it is written.
fn label(name: &str) -> String {
    let base = name.trim_end_matches('\'');
    let is_name = |c: char| c.is_alphanumeric() || "_[],.".contains(c);
    match u8::try_from(name.len() - base.len()) {
        Ok(primes) if base.starts_with(char::is_alphabetic) && base.chars().all(is_name) => {
            text_name(base, primes)
        }
        _ => name.to_owned(),
    }
}
