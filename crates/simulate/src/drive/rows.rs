//! Which constraint rows are in use, and the way back onto the constraints.

use super::{Driver, Failure, RANK, Stabilize};
use crate::program::field::FieldError;
use crate::program::projection::Violation;
use dalembert_expr::Symbol;
use dalembert_gauss::outcome;

impl Driver {
    /// Projects, if that is how drift is held; else tells what is left.
    pub(super) fn hold(&mut self, t: f64, x: &mut [f64]) -> Result<Violation, FieldError> {
        match self.control.stabilize {
            Stabilize::Projection => self.projection.project(&mut self.field, t, x, RANK),
            _ => self.projection.violation(&mut self.field, t, x),
        }
    }

    /// Chooses the rows at the first state, before anything is asked of it. What is wrong with
    /// it is said when the motion begins.
    pub fn prepare(&mut self) {
        let x = self.x.clone();
        let (before, ranks) = (self.expected, self.ranks);
        self.is_prepared = self.settle(&x).is_ok();
        if !self.is_prepared {
            (self.expected, self.ranks) = (before, ranks);
        }
    }

    /// Chooses the rows for what comes, at the end of a step that no turn has cut. Where a decision
    /// would be the last one once more, it is not made, and the rates there are known: true.
    pub(super) fn settle_after_step(&mut self, rates: &mut [f64]) -> Result<bool, Failure> {
        let is_kept = self.is_as_expected() && self.field.keeps_decision(self.t, &self.x, rates);
        if !is_kept {
            self.settle_here()?;
        }
        Ok(is_kept)
    }

    /// Whether the last decision would be made again at the state whose rates were found last, which
    /// are certified then.
    pub(super) fn keeps_rates(&mut self) -> bool {
        self.is_as_expected() && self.field.keeps_solution()
    }

    /// Whether the rows in use are as many as there were at first, with one motion.
    fn is_as_expected(&self) -> bool {
        self.is_one_choice
            && self.expected == Some((self.field.rows().len(), outcome::Verdict::Unique))
    }

    /// Takes other values of the parameters, of which those far from what they were ask for another
    /// look at rounding; see [`Field::set_values`](crate::Field::set_values).
    pub fn set_values(&mut self, symbols: &[Symbol], values: &[f64], are_far: bool) {
        self.field.set_values(symbols, values);
        self.prepare_guards();
        if are_far {
            self.expected = None;
        }
    }

    /// Chooses the rows for what comes, at the driver's state.
    pub fn settle_here(&mut self) -> Result<(), Failure> {
        let x = std::mem::take(&mut self.x);
        let settled = self.settle(&x);
        self.x = x;
        settled
    }

    /// Chooses the rows at the driver's state and puts it on them: what is off is what events are
    /// located to.
    pub(crate) fn put_on_rows(&mut self) -> Result<(), Failure> {
        self.settle_here()?;
        if self.control.stabilize == Stabilize::Projection {
            let mut x = std::mem::take(&mut self.x);
            let put = self.projection.project(&mut self.field, self.t, &mut x, RANK);
            self.x = x;
            put.map_err(Failure::Field)?;
        }
        Ok(())
    }

    /// Chooses the rows for what comes, at a state that satisfies them.
    pub(super) fn settle(&mut self, x: &[f64]) -> Result<(), Failure> {
        let is_first = self.expected.is_none();
        if is_first {
            self.refresh_noise(x).map_err(Failure::Field)?;
        }
        // What the state is not known to makes no difference where rows are independent by far.
        let mut firm = None;
        if is_first && !self.field.equations.rows.is_empty() {
            firm = self.choose(x).ok().filter(|_| self.field.has_firm_rows());
        }
        let mut found = match firm {
            Some(found) => found,
            None => {
                self.blur(x).map_err(Failure::Field)?;
                self.choose(x)?
            }
        };
        // Before a change is believed, the noise is looked at where it happens.
        if self.expected.is_some_and(|e| e != found) {
            self.refresh_noise(x).map_err(Failure::Field)?;
            self.blur(x).map_err(Failure::Field)?;
            found = self.choose(x)?;
        }
        self.expected.get_or_insert(found);
        let (rank, motion) = found;
        if let Some(ratio) = self.field.outcome().rank.weak {
            return Err(Failure::NearlyDependent { ratio, constraints: self.dependent_rows() });
        }
        if self.control.stabilize == Stabilize::Projection {
            self.projection.choose(&mut self.field, self.t, x, RANK).map_err(Failure::Field)?;
        }
        self.is_one_choice = self.chooses_alike();
        self.ranks = (self.ranks.0.min(rank), self.ranks.1.max(rank));
        match motion {
            outcome::Verdict::Unique => Ok(()),
            // Off the constraints, where nothing holds them, dependent rows disagree.
            outcome::Verdict::Inconsistent if self.control.stabilize != Stabilize::Projection => {
                Ok(())
            }
            motion => Err(Failure::Field(FieldError::NoMotion(motion))),
        }
    }

    /// Whether the rows of positions that are in use are those of the motion, or all that there
    /// are: then what is known of the ones is known of the others.
    fn chooses_alike(&self) -> bool {
        let equations = &self.field.equations;
        let Some(positions) = self.projection.positions() else { return true };
        let rows = self.field.rows();
        let is_position = |row: &usize| {
            let mut own = positions.iter().map(|&at| equations.configuration_residuals[at].0);
            own.any(|name| name == equations.rows[*row])
        };
        positions.len() == equations.configuration_residuals.len()
            || positions.len() == rows.len() && rows.iter().all(is_position)
    }

    /// Rank and verdict at a state, and the rows in use from there on.
    pub(super) fn choose(&mut self, x: &[f64]) -> Result<(usize, outcome::Verdict), Failure> {
        let outcome = self.field.choose_rows(self.t, x, RANK).map_err(Failure::Field)?;
        Ok((outcome.rank.jacobian, outcome.motion))
    }

    pub(super) fn dependent_rows(&self) -> Vec<usize> {
        let flags = &self.field.outcome().indeterminate;
        let rows = self.field.equations.rows.iter().zip(flags);
        rows.filter(|(_, open)| **open).map(|(row, _)| *row).collect()
    }
}
