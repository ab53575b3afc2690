//! Integrals that say something new: their gradients along the constraints.
//!
//! A function that is constant on the constraints (a constraint itself, its rate, 0)
//! has no gradient along them; one that depends on others has a gradient that is a
//! combination of theirs. Both are decided at a few states, with time held fixed.

use super::identity::Identity;
use crate::envelope::Kernel;
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_gauss::linalg;
use dalembert_simulate::normal_form::dense;
use dalembert_simulate::{Noisy, Setting, State};

/// A gradient below this part of itself along the constraints is none.
const NONE: f64 = 1e-7;

/// Gradients found so far, at each state, orthonormal.
pub struct Independent<'a> {
    setting: &'a Setting,
    identity: &'a Identity<'a>,
    variables: Vec<Symbol>,
    places: Vec<Place>,
}

struct Place {
    state: State,
    constraints: Kernel,
    known: Vec<Vec<f64>>,
}

impl<'a> Independent<'a> {
    /// Nothing found yet.
    pub fn new(identity: &'a Identity<'a>, setting: &'a Setting, states: &[State]) -> Self {
        let mut variables = identity.q.clone();
        variables.extend(&identity.rates);
        let residuals: Vec<ExprId> = identity.residuals.iter().map(|r| r.1).collect();
        let jacobian = identity.exprs.jacobian(&residuals, &variables);
        let places = states
            .iter()
            .filter_map(|state| {
                let mut entries = values(identity, setting, &jacobian, state)?;
                let mut rest = &mut entries[..];
                for row in &jacobian.rows {
                    let (own, after) = rest.split_at_mut(row.len());
                    let size = linalg::norm(own);
                    own.iter_mut().filter(|_| size > 0.0).for_each(|x| *x /= size);
                    rest = after;
                }
                let constraints = Kernel::new(&jacobian, &entries, 1e-9);
                Some(Place { state: state.clone(), constraints, known: Vec::new() })
            })
            .collect();
        Independent { setting, identity, variables, places }
    }

    /// Whether a function is constant on the constraints, as far as the states show;
    /// not where they show nothing.
    pub fn is_trivial(&self, function: ExprId) -> bool {
        let mut known = self.gradients(function).into_iter().flatten().peekable();
        known.peek().is_some() && known.all(|g| linalg::norm(&g) == 0.0)
    }

    /// Whether a function depends on those added before.
    pub fn depends(&self, function: ExprId) -> bool {
        let gradients = self.places.iter().zip(self.gradients(function));
        let mut known = gradients.filter_map(|(place, g)| Some((place, g?))).peekable();
        known.peek().is_some()
            && known.all(|(place, g)| linalg::norm(&rest(&place.known, g)) < NONE)
    }

    /// Adds a function if it is neither constant nor dependent.
    pub fn add(&mut self, function: ExprId) -> bool {
        if self.is_trivial(function) || self.depends(function) {
            return false;
        }
        let gradients = self.gradients(function);
        for (place, gradient) in self.places.iter_mut().zip(gradients) {
            let Some(gradient) = gradient else { continue };
            let mut new = rest(&place.known, gradient);
            let size = linalg::norm(&new);
            if size >= NONE {
                new.iter_mut().for_each(|x| *x /= size);
                place.known.push(new);
            }
        }
        true
    }

    /// Gradients along the constraints, of length 1 or 0; `None` where not defined.
    fn gradients(&self, function: ExprId) -> Vec<Option<Vec<f64>>> {
        let exprs = self.identity.exprs;
        let jacobian = exprs.jacobian(&[function], &self.variables);
        if jacobian.nonzeros() == 0 {
            return vec![Some(vec![0.0; self.variables.len()]); self.places.len()];
        }
        let along = |place: &Place| {
            let entries = values(self.identity, self.setting, &jacobian, &place.state)?;
            let mut gradient = dense(&jacobian, &entries);
            let full = linalg::norm(&gradient);
            place.constraints.project(&mut gradient);
            let left = linalg::norm(&gradient);
            let factor = if left > NONE * full { 1.0 / left } else { 0.0 };
            gradient.iter_mut().for_each(|x| *x *= factor);
            Some(gradient)
        };
        self.places.iter().map(along).collect()
    }
}

fn values(
    identity: &Identity,
    setting: &Setting,
    jacobian: &Jacobian,
    state: &State,
) -> Option<Vec<f64>> {
    let entries: Vec<ExprId> = jacobian.rows.iter().flatten().map(|e| e.1).collect();
    let noisy = setting.evaluate(&entries, &state.table(identity.system));
    // What is rounding is no gradient.
    let settle = |v: &Noisy| if v.value.abs() <= 1e3 * v.noise { 0.0 } else { v.value };
    let numbers: Vec<f64> = noisy.iter().map(settle).collect();
    numbers.iter().all(|x| x.is_finite()).then_some(numbers)
}

/// What is left of a vector beside orthonormal ones.
fn rest(known: &[Vec<f64>], mut vector: Vec<f64>) -> Vec<f64> {
    for _ in 0..2 {
        for unit in known {
            let along = linalg::dot(unit, &vector);
            vector.iter_mut().zip(unit).for_each(|(x, u)| *x -= along * u);
        }
    }
    vector
}
