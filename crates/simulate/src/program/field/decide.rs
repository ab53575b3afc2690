//! Which rows enter, decided at states on the constraints and kept between them.
//!
//! A decision (units, ranks, independent rows, verdict) is made on all rows. Where the frozen
//! factors hold by far at the next state on the constraints it would be made again, and is not.

use super::{Feedback, Field, FieldError};
use dalembert_gauss::Solver;
use dalembert_gauss::coupled::CoupledError;
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Noise, Terms, Tolerances};

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
        work.is_settled = is_adopted && work.outcome.independent.len() == layout.bias.len();
        self.rows.clone_from(&work.outcome.independent);
        Ok(&work.outcome)
    }

    /// Whether the last decision would be made again at a state on the constraints, by far. Then
    /// the motion there is solved for and certified on it.
    pub fn keeps_decision(&mut self, t: f64, x: &[f64]) -> bool {
        let is_plain = self.feedback == Feedback::None
            && self.known_rates.is_none()
            && self.coupling.is_none();
        if !is_plain || !self.work.is_settled {
            return false;
        }
        let solved = self.evaluate(t, x).and_then(|()| self.solve());
        let certified = solved.and_then(|()| self.certify()).is_ok();
        let work = &self.work;
        certified && work.is_settled && work.is_frozen && work.factored.holds()
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
