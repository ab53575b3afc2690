//! Functions of multipliers, by the rates.
//!
//! The loads of contacts and the forces of frictions that hold are multipliers of rows, and the rates are
//! found together with them: Γ v̇ = F + C + Aᵀλ, A v̇ = b. So a function of positions, velocities, time and λ
//! needs no observation, which finds λ once more, in Lagrange's variables, with all that is told of a state
//! beside it. It does where rows depend on each other (λ of least norm is another one), where rows are held
//! otherwise than they are written, where inputs hold them, and in charts, whose rates are found without λ.

use crate::integrators::Problem;
use crate::program::compiled::Compiled;
use crate::program::field::Field;
use crate::setting::Setting;
use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::Unknown;

/// Such functions, compiled.
#[derive(Clone)]
pub(super) struct Loads {
    values: Compiled,
    /// The output of each event's function, of those that are such.
    outputs: Vec<Option<usize>>,
    /// The rows whose multipliers are inputs, behind the variables of the field.
    rows: Vec<usize>,
    input: Vec<f64>,
    rates: Vec<f64>,
}

impl Loads {
    /// Those of the events with a function here; `map` has velocities and momenta in the field's
    /// `variables`, and `known` is what that is a function of. `None` if some of them speak of more than
    /// multipliers.
    pub(super) fn new(
        setting: &Setting,
        equations: &EquationsOfMotion,
        functions: &[Option<ExprId>],
        map: &[(Symbol, ExprId)],
        (variables, known): (&[Symbol], &[Symbol]),
    ) -> Option<Loads> {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let is_as_written = equations.chart.is_none()
            && system.recombined.is_empty()
            && system.servos.is_empty()
            && equations.rows.iter().copied().eq(0..system.constraints.len());
        let given: Vec<ExprId> = functions.iter().flatten().copied().collect();
        let unknown = exprs.symbols_of(&given).into_iter().filter(|s| !known.contains(s));
        let row = |symbol: Symbol| match system.unknowns.iter().find(|u| u.0 == symbol)?.1 {
            Unknown::Multiplier(row) if row < system.constraints.len() => Some((symbol, row)),
            _ => None,
        };
        let loads: Vec<(Symbol, usize)> = unknown.map(row).collect::<Option<_>>()?;
        if !is_as_written {
            return None;
        }
        let mut inputs = variables.to_vec();
        inputs.extend(loads.iter().map(|load| load.0));
        let mut count = 0..;
        Some(Loads {
            values: Compiled::new(setting, &exprs.substitute(&given, map), &inputs),
            outputs: functions.iter().map(|f| f.and_then(|_| count.next())).collect(),
            rows: loads.into_iter().map(|load| load.1).collect(),
            input: vec![0.0; inputs.len()],
            rates: Vec::new(),
        })
    }

    /// Sets the parameters.
    pub(super) fn prepare(&mut self, constants: &[f64]) {
        self.values.prepare(constants);
    }

    /// Evaluates them at a state, whose variables are `input`; whether the rates tell them there.
    pub(super) fn find(&mut self, field: &mut Field, t: f64, x: &[f64], input: &[f64]) -> bool {
        let Loads { values, rows, input: own, rates, .. } = self;
        if !field.tells_loads() {
            return false;
        }
        let is_direct = field.find_loads(t, x);
        rates.resize(field.state_length(), 0.0);
        if !is_direct && field.lasting_rates(t, x, rates).is_err() {
            return false;
        }
        own[..input.len()].copy_from_slice(input);
        let inputs = own[input.len()..].iter_mut().zip(rows.iter());
        let all_known = inputs.fold(true, |known, (load, &row)| {
            let found = if is_direct { field.load_of(row) } else { field.multiplier(row) };
            *load = found.unwrap_or(f64::NAN);
            known && found.is_some()
        });
        if all_known {
            values.call(own);
        }
        all_known
    }

    /// The value of an event's function as found last.
    pub(super) fn value(&self, event: usize) -> f64 {
        self.outputs[event].map_or(f64::NAN, |at| self.values.output[at])
    }
}
