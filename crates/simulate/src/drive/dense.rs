//! The motion between outputs, kept: for each step the integrator's own polynomial.
//!
//! An integrator gives the state at a fraction θ of its last step by a polynomial of some
//! degree d. Its values at the d + 1 nodes of Chebyshev
//!
//! ```text
//! θ_j = (1 − cos(π j/d))/2,   j = 0 … d
//! ```
//!
//! determine it, whatever its basis was, and the barycentric formula evaluates it without
//! loss (Berrut & Trefethen, SIAM Review 46, 2004). The value at the last node is the state
//! at which the step arrived, on the constraints; so the pieces join, and at the ends of
//! steps the motion is what the run itself went on from. It differs from the polynomial by
//! the correction of the projection, which is part of the step's error. Inside of a step
//! states are not brought back onto the constraints; outputs are.

use crate::setting::Setting;
use crate::setting::State;
use crate::setting::legendre::{self, NewtonError};
use dalembert_derive::{EquationsOfMotion, Variables};
use dalembert_expr::Symbol;
use std::sync::Arc;

/// A motion from step to step.
#[derive(Clone, Debug)]
pub struct Dense {
    pieces: Vec<Piece>,
    /// The equations that were moved, one chart after another.
    charts: Vec<Arc<EquationsOfMotion>>,
}

/// The polynomial of a step: the values (q, v, W) at its nodes, one node after another.
#[derive(Clone, Debug)]
struct Piece {
    from: f64,
    to: f64,
    degree: usize,
    values: Vec<f64>,
    chart: usize,
}

impl Dense {
    /// Nothing yet, of a motion by these equations.
    pub(crate) fn new(equations: &EquationsOfMotion) -> Dense {
        Dense { pieces: Vec::new(), charts: vec![Arc::new(equations.clone())] }
    }

    /// Goes on in another chart.
    pub(crate) fn change_chart(&mut self, equations: &EquationsOfMotion) {
        self.charts.push(Arc::new(equations.clone()));
    }

    /// Keeps a step: `at` gives the states on its way, `next` is where it arrived. What was
    /// kept of times from its beginning on has been taken back.
    pub(super) fn keep(
        &mut self,
        (from, to): (f64, f64),
        degree: usize,
        next: &[f64],
        at: &mut dyn FnMut(f64, &mut [f64]),
    ) {
        let forward = (to - from).signum();
        while self.pieces.last().is_some_and(|last| forward * (last.from - from) >= 0.0) {
            self.pieces.pop();
        }
        let size = next.len();
        let mut values = vec![0.0; (degree + 1) * size];
        let (inner, last) = values.split_at_mut(degree * size);
        for (j, place) in inner.chunks_exact_mut(size).enumerate() {
            at(from + node(j, degree) * (to - from), place);
        }
        last.copy_from_slice(next);
        let chart = self.charts.len() - 1;
        self.pieces.push(Piece { from, to, degree, values, chart });
    }

    /// Where it begins and ends; `None` if there was no step.
    pub fn span(&self) -> Option<(f64, f64)> {
        Some((self.pieces.first()?.from, self.pieces.last()?.to))
    }

    /// The state at a time; `None` outside of the motion. Where an event resets the state it
    /// is the one after the event. Unknowns behind the formulation's own velocities are
    /// looked for next to a state that is `near`.
    pub fn state(
        &self,
        setting: &Setting,
        t: f64,
        near: &State,
    ) -> Result<Option<State>, NewtonError> {
        let Some(piece) = self.piece(t) else { return Ok(None) };
        let equations = &self.charts[piece.chart];
        let (n, system) = (equations.q.len(), &setting.model.system);
        let x = piece.at(t);
        let (q, v) = (x[..n].to_vec(), &x[n..n + equations.v.len()]);
        let mut table = near.table(system);
        table.set(Symbol::TIME, t);
        table.set_all(&equations.q, &q);
        table.set_all(&equations.v, v);
        if let Some(auxiliary) = &equations.auxiliary {
            let (symbols, residuals) = (&auxiliary.symbols, &auxiliary.residuals);
            let jacobian = &auxiliary.jacobian;
            let found = legendre::solve(setting, &mut table, symbols, residuals, jacobian, None)?;
            table.set_all(symbols, &found);
        }
        let velocity = setting.numbers(&equations.kinematics[..equations.n_coordinates()], &table);
        if equations.variables == Variables::Momenta {
            return Ok(Some(State { t, q, velocity, momentum: v.to_vec() }));
        }
        State::of_velocities(setting, t, q, velocity).map(Some)
    }

    /// The last step that begins at a time or before it.
    fn piece(&self, t: f64) -> Option<&Piece> {
        let (from, to) = self.span()?;
        let forward = if to >= from { 1.0 } else { -1.0 };
        if !(forward * (t - from) >= 0.0 && forward * (to - t) >= 0.0) {
            return None;
        }
        let after = self.pieces.partition_point(|piece| forward * (piece.from - t) <= 0.0);
        self.pieces[..after].last()
    }
}

/// The fraction of a step at which a node lies.
fn node(j: usize, degree: usize) -> f64 {
    0.5 * (1.0 - (std::f64::consts::PI * j as f64 / degree as f64).cos())
}

impl Piece {
    /// The barycentric formula: weights (−1)^j, half at both ends.
    fn at(&self, t: f64) -> Vec<f64> {
        let (degree, size) = (self.degree, self.values.len() / (self.degree + 1));
        let value = |j: usize| &self.values[j * size..(j + 1) * size];
        if t == self.to {
            return value(degree).to_vec();
        }
        let theta = (t - self.from) / (self.to - self.from);
        let (mut above, mut below) = (vec![0.0; size], 0.0);
        for j in 0..=degree {
            let distance = theta - node(j, degree);
            if distance == 0.0 {
                return value(j).to_vec();
            }
            let end = if j == 0 || j == degree { 0.5 } else { 1.0 };
            let weight = if j % 2 == 0 { end } else { -end } / distance;
            above.iter_mut().zip(value(j)).for_each(|(sum, x)| *sum += weight * x);
            below += weight;
        }
        above.iter_mut().for_each(|sum| *sum /= below);
        above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_comes_back_whatever_its_basis() {
        let p = |t: f64| [1.0 + t * (2.0 - t * (0.5 - t * (3.0 + t))), t * t * t * t];
        let (from, to) = (0.7, -0.4);
        let mut piece = Piece { from, to, degree: 5, values: Vec::new(), chart: 0 };
        for j in 0..=5 {
            piece.values.extend(p(from + node(j, 5) * (to - from)));
        }
        for k in 0..=20 {
            let t = from + (to - from) * f64::from(k) / 20.0;
            for (found, exact) in piece.at(t).iter().zip(p(t)) {
                assert!((found - exact).abs() <= 4e-15, "{t}: {found} for {exact}");
            }
        }
        assert_eq!(piece.at(from), p(from));
    }
}
