//! Steady motions along symmetries that are no affine fields, such as a turn about a tilted
//! axis in Euler angles.
//!
//! The fields are those of integrals pᵀξ linear in the momenta, in systems without constraints
//! and other forces, where L is invariant along them. On states a field acts by its lift
//! (ξ(q), Dξ(q) v), and about a state that it carries along
//!
//! ```text
//! Ξ (δq, δv) = (Dξ δq, D²ξ(v, δq) + Dξ δv)
//! ```
//!
//! is what is taken from the linear equations. Only the start itself is tried; the search for
//! others near it goes along affine fields.

use super::rates::{Point, Rates};
use super::spectrum::Spectrum;
use super::steady::{self, Fit, STEADY};
use super::symmetry::{Symmetries, Symmetry};
use crate::invariants::{InvariantOptions, invariants_watched};
use crate::watch::{Interrupted, Watch};
use dalembert_expr::{ExprId, Jacobian};
use dalembert_model::system::Energy;
use dalembert_simulate::normal_form::dense;
use dalembert_simulate::{Start, State};

/// Fields that are not affine, with their derivatives.
pub(crate) struct Curved {
    fields: Vec<Field>,
}

struct Field {
    value: Vec<ExprId>,
    /// Dξ.
    slopes: Jacobian,
    /// D²ξ(v, ·).
    bend: Jacobian,
}

/// A steady motion along such fields.
pub(crate) struct Along {
    pub fit: Fit,
    /// All symmetries at the state, those of curved fields as they are there.
    pub symmetries: Symmetries,
    /// D²ξ(v, ·) of the whole.
    pub bend: Vec<f64>,
}

impl Curved {
    /// The fields of a system; none where it has constraints or other forces, or is given by H.
    pub fn new(rates: &Rates, start: &Start, watch: &Watch) -> Result<Curved, Interrupted> {
        let (setting, exprs) = (rates.setting, &rates.setting.model.exprs);
        let system = &setting.model.system;
        let plain = system.constraints.is_empty()
            && system.forces.is_empty()
            && system.states.is_empty()
            && system.nonideal.is_empty()
            && matches!(system.energy, Energy::Lagrangian { .. });
        if !plain || start.state.velocity.iter().all(|&v| v == 0.0) {
            return Ok(Curved { fields: Vec::new() });
        }
        let found = invariants_watched(setting, start, &InvariantOptions::default(), watch)?;
        let q = system.positions();
        let v: Vec<ExprId> = system.velocities().iter().map(|&s| exprs.of_symbol(s)).collect();
        let known: Vec<_> =
            q.iter().copied().chain(system.parameters.iter().map(|p| p.symbol)).collect();
        let integrals = found.map(|f| f.integrals).unwrap_or_default();
        let generators = integrals.into_iter().map(|i| i.generator);
        let fields = generators
            .filter(|g| !g.with_energy && g.gauge == ExprId::ZERO)
            .filter(|g| exprs.symbols_of(&g.field).iter().all(|s| known.contains(s)))
            .filter_map(|g| {
                let slopes = exprs.jacobian(&g.field, &q);
                let entries: Vec<ExprId> = slopes.rows.iter().flatten().map(|e| e.1).collect();
                let curved = exprs.symbols_of(&entries).iter().any(|s| q.contains(s));
                let along = |row: &Vec<(usize, ExprId)>| {
                    let terms = row.iter().map(|&(j, s)| exprs.product(&[s, v[j]]));
                    exprs.sum(&terms.collect::<Vec<_>>())
                };
                let turned: Vec<ExprId> = slopes.rows.iter().map(along).collect();
                let bend = exprs.jacobian(&turned, &q);
                curved.then_some(Field { value: g.field, slopes, bend })
            });
        Ok(Curved { fields: fields.collect() })
    }

    /// The motion along these and other symmetries that a state has, if it is steady.
    pub fn steady(
        &self,
        rates: &Rates,
        point: &Point,
        others: &Symmetries,
        with: &Symmetry,
        start: &State,
    ) -> Option<Along> {
        Some(self.nearest(rates, point, others, with, start)?).filter(|a| a.fit.residual <= STEADY)
    }

    fn nearest(
        &self,
        rates: &Rates,
        point: &Point,
        others: &Symmetries,
        with: &Symmetry,
        start: &State,
    ) -> Option<Along> {
        let n = rates.n;
        let table = point.state.table(&rates.setting.model.system);
        let mut symmetries = others.clone();
        let mut bends = Vec::new();
        for field in &self.fields {
            let entries = |matrix: &Jacobian| -> Vec<f64> {
                let list: Vec<ExprId> = matrix.rows.iter().flatten().map(|e| e.1).collect();
                dense(matrix, &rates.setting.numbers(&list, &table))
            };
            let value = rates.setting.numbers(&field.value, &table);
            let (turn, bend) = (entries(&field.slopes), entries(&field.bend));
            if value.iter().chain(&turn).chain(&bend).any(|x| !x.is_finite()) {
                continue;
            }
            // The affine field that has the same value and slopes here.
            let mut symmetry = Symmetry { turn, shift: vec![0.0; n], time: 0.0 };
            let moved = symmetry.turned(&point.state.q);
            symmetry.shift = value.iter().zip(moved).map(|(a, b)| a - b).collect();
            symmetries.others.push(symmetry);
            bends.push(bend);
        }
        if bends.is_empty() {
            return None;
        }
        let fit = steady::fit(rates, point, &symmetries, with, start);
        let mut bend = vec![0.0; n * n];
        for (amount, own) in fit.amounts[others.others.len()..].iter().zip(&bends) {
            bend.iter_mut().zip(own).for_each(|(sum, x)| *sum += amount * x);
        }
        Some(Along { fit, symmetries, bend })
    }

    /// Whether the zeros across the symmetries come from neighbouring steady motions: a small
    /// step along all of them leaves a state that is steady to second order.
    pub fn is_family(
        &self,
        rates: &Rates,
        point: &Point,
        others: &Symmetries,
        with: &Symmetry,
        spectrum: &Spectrum,
        sizes: &[f64],
    ) -> bool {
        const STEP: f64 = 1e-4;
        let n = rates.n;
        let step = super::neutral_step(spectrum, point, sizes, STEP);
        let there: Vec<f64> =
            point.state.q.iter().chain(&point.v).zip(&step).map(|(x, s)| x + s).collect();
        let (q, v) = (there[..n].to_vec(), there[n..].to_vec());
        let Ok(state) = State::of_velocities(rates.setting, point.state.t, q, v) else {
            return false;
        };
        let Ok(displaced) = rates.at(&state) else { return false };
        let near = self.nearest(rates, &displaced, others, with, &point.state);
        near.is_some_and(|along| along.fit.residual <= 0.01 * STEP)
    }
}
