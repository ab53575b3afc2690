//! Which rows enter, decided at states on the constraints and kept between them.
//!
//! A decision (units, ranks, independent rows, verdict) is made on all rows. Where the frozen
//! factors hold by far at the next state on the constraints it would be made again, and is not.
//!
//! Of rows that were left out as dependent it must then be true that they still are, up to rounding
//! far below what a decision would ask about, and that the motion of the others meets them:
//!
//! ```text
//! |a − (a Q) Qᵀ| ≤ 64 ε |a|      Q an orthonormal basis of the rows in use, where masses are equal
//! |a v̇ − b| ≤ 10⁻⁹ (|a| |v̇| + |b|)
//! ```

use super::{Feedback, Field, FieldError};
use dalembert_gauss::coupled::CoupledError;
use dalembert_gauss::linalg::dot;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Noise, Terms, Tolerances};
use dalembert_gauss::{Factored, Solver};
use rustc_hash::FxHashMap;

/// Unit: part of a row. What rounding leaves of a row that depends on others.
const DEPENDS: f64 = 64.0 * f64::EPSILON;
/// Unit: part of a row times v̇. What the motion may miss a row by that it does not use.
const MET: f64 = 1e-9;

impl Field {
    /// Solves the whole problem at a state that satisfies the constraints, finds
    /// which rows are independent there, and takes those from here on.
    pub fn choose_rows(&mut self, t: f64, x: &[f64], rank: f64) -> Result<&Outcome, FieldError> {
        self.evaluate(t, x)?;
        let (work, layout) = (&mut self.work, &self.layout.normal);
        work.is_settled = false;
        let terms = Terms {
            noise: (!self.noise.metric.is_empty()).then_some(Noise {
                metric: &self.noise.metric,
                force: &self.noise.force,
                jacobian: &self.noise.jacobian,
                bias: &self.noise.bias,
            }),
            inertia: &self.noise.inertia,
            ..layout.terms(&work.output, &work.metric, &work.jacobian)
        };
        // Rows that the projection holds agree up to its residual; whether they do
        // is certified, not decided here.
        let tolerances =
            Tolerances { rank: Some(rank), inconsistent: 1e-6, hidden: 1e-6, least_squares: false };
        match &self.coupling {
            None => self
                .elimination
                .solve(&mut work.scratch, &terms, &tolerances, &mut work.outcome)
                .map_err(FieldError::Solve)?,
            Some(coupling) => {
                work.places.clone_from(&coupling.rows);
                let elimination = self.elimination;
                coupling.solve(
                    &mut work.law_registers,
                    &mut work.input,
                    &mut work.law_output,
                    &mut |law| {
                        let (scratch, outcome) = (&mut work.scratch, &mut work.outcome);
                        let places = &work.places;
                        let coupled = &mut work.coupled;
                        let mut solver = Solver::new(elimination, &tolerances, scratch, None);
                        coupled.solve(law, &terms, places, &mut solver, outcome)?;
                        match coupled.ambiguous(&terms, places, &outcome.indeterminate) {
                            None => Ok(()),
                            Some(place) => {
                                let row = self.equations.rows[place];
                                Err(CoupledError::NotUnique { row })
                            }
                        }
                    },
                )?;
            }
        }
        self.counts.decisions += 1;
        (work.is_frozen, work.is_solved, work.has_factors) = (false, false, false);
        let is_adopted = work.factored.adopt(&work.scratch, &work.outcome);
        work.is_settled = is_adopted;
        self.rows.clone_from(&work.outcome.independent);
        self.find_twins();
        Ok(&self.work.outcome)
    }

    /// Whether the last decision would be made again at a state on the constraints, by far. Then
    /// the rates there are found on it, and certified.
    pub fn keeps_decision(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> bool {
        self.may_keep()
            && self.certified_rates(t, x, dx).is_ok()
            && self.work.is_settled
            && self.would_decide_alike()
    }

    /// The same at the state whose rates were found last, which are certified by that.
    pub fn keeps_solution(&mut self) -> bool {
        self.may_keep()
            && self.work.is_solved
            && self.certify().is_ok()
            && self.work.is_settled
            && self.would_decide_alike()
    }

    /// Whether there is a decision that may serve elsewhere.
    fn may_keep(&self) -> bool {
        self.feedback == Feedback::None
            && self.known_rates.is_none()
            && self.coupling.is_none()
            && self.work.is_settled
    }

    /// Whether the decision at hand would be made again where it was gone by last.
    fn would_decide_alike(&mut self) -> bool {
        let holds = self.work.is_frozen && self.work.factored.holds();
        let has_others = self.rows.len() < self.layout.normal.bias.len();
        holds && (!has_others || self.others_depend())
    }

    /// Whether rows that are not in use depend on those in use at what was evaluated last, as far
    /// as rounding can tell, and are met by its motion.
    fn others_depend(&mut self) -> bool {
        if self.patterns().is_some() && self.equations.bodies.is_none() {
            return self.large_others_depend();
        }
        let (n, size) = (self.layout.normal.bias.len(), self.size);
        let mut units = std::mem::take(&mut self.work.units);
        let mut basis = std::mem::take(&mut self.work.basis);
        let unit = |i: usize| {
            let mass = self.last_mass(i).abs();
            if mass > 0.0 { 1.0 / mass.sqrt() } else { 1.0 }
        };
        units.clear();
        units.extend((0..size).map(unit));
        let v_dot = &self.work.outcome.v_dot;
        let parts = v_dot.iter().zip(&units).map(|(v, unit)| v / unit);
        let speed = parts.map(|v| v * v).sum::<f64>().sqrt();
        basis.clear();
        let mut depend = true;
        for row in self.rows.iter().copied().chain((0..n).filter(|row| !self.rows.contains(row))) {
            let at = basis.len();
            basis.resize(at + size, 0.0);
            let (known, rest) = basis.split_at_mut(at);
            let mut moved = 0.0;
            for (i, a) in self.row(&self.work.jacobian, row) {
                rest[i] = a * units[i];
                moved += a * v_dot[i];
            }
            let whole = dot(rest, rest).sqrt();
            // Twice, as once leaves what was large in it.
            for _ in 0..2 {
                for known in known.chunks_exact(size.max(1)) {
                    let along = dot(known, rest);
                    rest.iter_mut().zip(known).for_each(|(r, k)| *r -= along * k);
                }
            }
            let left = dot(rest, rest).sqrt();
            if at < self.rows.len() * size {
                if !(left > 0.0) {
                    depend = false;
                    break;
                }
                rest.iter_mut().for_each(|r| *r /= left);
                continue;
            }
            let right = self.bias()[row];
            let missed = (moved - right).abs();
            let size = whole * speed + right.abs();
            if !(left <= DEPENDS * whole && missed <= MET * size) {
                depend = false;
                break;
            }
            basis.truncate(at);
        }
        (self.work.units, self.work.basis) = (units, basis);
        depend
    }

    /// The same where matrices are large: a row that repeats one in use, as they all do whose
    /// constraints were written twice, is the only one that needs no decision.
    fn large_others_depend(&self) -> bool {
        let (values, right) = (&self.work.jacobian, self.bias());
        let is_equal = |a: usize, b: usize| {
            right[a] == right[b] && self.row(values, a).eq(self.row(values, b))
        };
        self.twins.iter().all(|&(row, twin)| is_equal(row, twin))
            && self.twins.len() + self.rows.len() == right.len()
    }

    /// For each row that is not in use, one in use that has the same entries; those that have none
    /// are left out.
    fn find_twins(&mut self) {
        self.twins.clear();
        let count = self.layout.normal.bias.len();
        if self.patterns().is_none() || self.rows.len() == count {
            return;
        }
        let values = &self.work.jacobian;
        let key = |row: usize| -> Vec<(usize, u64)> {
            self.row(values, row).map(|(i, a)| (i, a.to_bits())).collect()
        };
        let own: FxHashMap<_, usize> = self.rows.iter().map(|&row| (key(row), row)).collect();
        let mut is_used = vec![false; count];
        self.rows.iter().for_each(|&row| is_used[row] = true);
        let others = (0..count).filter(|row| !is_used[*row]);
        let twins = others.filter_map(|row| Some((row, *own.get(&key(row))?))).collect();
        self.twins = twins;
    }

    /// The decision of a state on the constraints that the field goes by, with one motion.
    pub(crate) fn decision(&self) -> Option<&Factored> {
        let own = &self.work.factored;
        (self.work.is_settled && own.is_decided()).then_some(own)
    }

    /// Whether all rows are independent by far where that was decided last, but those that repeat
    /// others.
    pub fn has_firm_rows(&self) -> bool {
        self.rows.len() + self.twins.len() == self.equations.rows.len()
            && self.decision().is_some_and(|decision| decision.holds())
    }

    /// The rows in use.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Uses other rows.
    pub fn use_rows(&mut self, rows: &[usize]) {
        if self.rows != rows {
            self.rows = rows.to_vec();
            self.work.factored.forget();
            (self.work.is_settled, self.work.is_solved) = (false, false);
            self.work.has_factors = false;
        }
    }
}
