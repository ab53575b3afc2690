//! A trajectory as a table: which columns there are, and what stands in them.

use dalembert_model::system::{Energy, System};
use dalembert_simulate::observer::Observation;
use dalembert_simulate::setting::Setting;

/// The columns of a table.
pub struct Columns {
    /// Their names.
    pub names: Vec<String>,
    momenta: bool,
    forces: bool,
}

impl Columns {
    /// t, positions, velocities, momenta where the variables are canonical, the
    /// model's `observe`s; with `forces` also accelerations, the constraint force,
    /// multipliers and the energy.
    pub fn new(setting: &Setting, canonical: bool, forces: bool) -> Columns {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let name = |s| exprs.symbol_info(s).full_name();
        let momenta = canonical || matches!(system.energy, Energy::Hamiltonian { .. });
        let mut names = vec!["t".to_owned()];
        names.extend(system.positions().into_iter().map(name));
        names.extend(system.velocities().into_iter().map(name));
        if momenta {
            names.extend(system.momenta().into_iter().map(name));
        }
        names.extend(system.observes.iter().map(|o| o.name.clone()));
        if forces {
            names.extend(system.accelerations().into_iter().map(name));
            let coordinates = system.coordinates.iter();
            names.extend(coordinates.map(|c| format!("reaction({})", c.name)));
            let constraints = system.constraints.iter();
            names.extend(constraints.map(|c| format!("multiplier({})", c.name)));
            names.push("energy".to_owned());
        }
        Columns { names, momenta, forces }
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
        if !system.observes.is_empty() {
            let roots: Vec<_> = system.observes.iter().map(|o| o.value).collect();
            row.extend(setting.numbers(&roots, &observation.table(system)));
        }
        if self.forces {
            row.extend(&observation.accelerations);
            row.extend(&observation.constraint_force);
            let multipliers = observation.multipliers.iter().zip(&observation.indeterminate);
            row.extend(multipliers.map(|(&l, &open)| if open { f64::NAN } else { l }));
            row.push(observation.energy);
        }
    }
}
