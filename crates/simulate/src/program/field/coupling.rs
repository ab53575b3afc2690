//! The part of the rates that concerns branches and forces by multipliers: which branches
//! a state is on, and the solution on them.

use super::{Field, FieldError};
use crate::normal_form::multiplier_forces::{self, Attempt};
use dalembert_compile::{Function, Scratch as Registers};
use dalembert_expr::SwitchKind;
use dalembert_gauss::Solver;
use dalembert_gauss::coupled::{CoupledError, Forces, Law};
use dalembert_gauss::eliminations::{Elimination, Scratch};
use dalembert_gauss::outcome::{self, Outcome};
use dalembert_gauss::terms::{Terms, Tolerances};
use std::sync::Arc;

/// Forces as functions of the multipliers that occur in them: F, C, the power, D.
#[derive(Clone)]
pub(super) struct Coupling {
    pub(super) function: Arc<dyn Function>,
    /// The row of A of each multiplier.
    pub(super) rows: Vec<Option<usize>>,
    /// Where the multipliers are among the inputs.
    pub(super) first_input: usize,
    /// (multiplier, velocity) of the entries of D.
    pub(super) slopes: Vec<(usize, usize)>,
}

impl Field {
    /// The multipliers that forces depend on, as last solved for.
    pub fn multipliers_in_forces(&self) -> &[f64] {
        &self.work.coupled.lambda
    }

    /// The largest condition of A M⁻¹B seen, of constraints that inputs hold.
    pub fn servo_condition(&self) -> Option<f64> {
        let directed = &self.work.coupled.directed;
        (!directed.is_empty() && directed.condition > 0.0).then_some(directed.condition)
    }

    /// Finds the branches of a state and puts the terms on them. Those that depend on
    /// multipliers are the ones on which the solution lies.
    pub fn settle_modes(
        &mut self,
        t: f64,
        x: &[f64],
        modes: &mut Vec<f64>,
    ) -> Result<(), FieldError> {
        self.load(t, x)?;
        let mut guards = Vec::new();
        // A switch inside of another is settled first: once more for each of them.
        for _ in 0..=self.switches() {
            let before = self.modes().to_vec();
            self.read_branches(modes, &mut guards);
            self.set_modes(modes);
            if before == *modes {
                break;
            }
        }
        self.settle_dependent(t, x, modes, &[], false)
    }

    /// Finds the branches of the switches that depend on multipliers, given the others and
    /// those that are `fixed`, and puts the terms on all of them. On its way a motion goes
    /// on where it is if it can (`keeps`); at a start there must be one solution only.
    pub fn settle_dependent(
        &mut self,
        t: f64,
        x: &[f64],
        modes: &mut [f64],
        fixed: &[usize],
        keeps: bool,
    ) -> Result<(), FieldError> {
        let dependent = self.switchboard.dependent.iter().copied();
        let open: Vec<usize> = dependent.filter(|at| !fixed.contains(at)).collect();
        if !open.is_empty() {
            let kinds: Vec<SwitchKind> =
                open.iter().map(|&at| self.switchboard.kinds[at]).collect();
            let (mut there, mut guards) = (Vec::new(), Vec::new());
            if keeps {
                self.set_modes(modes);
                if self.evaluate(t, x).and_then(|()| self.solve()).is_ok() {
                    self.read_branches(&mut there, &mut guards);
                    let pick = |from: &[f64]| open.iter().map(|&at| from[at]).collect::<Vec<f64>>();
                    let is_there = multiplier_forces::agree(&kinds, &pick(modes), &pick(&there));
                    if is_there && self.work.coupled.check().is_ok() {
                        return Ok(());
                    }
                }
            }
            let mut failure = None;
            let found = multiplier_forces::only_branch(&kinds, &mut |branch| {
                open.iter().zip(branch).for_each(|(&at, &mode)| modes[at] = mode);
                self.set_modes(modes);
                match self.evaluate(t, x).and_then(|()| self.solve()) {
                    Ok(()) => {}
                    Err(FieldError::Coupled(CoupledError::NotFound { .. })) => return Ok(None),
                    Err(error) => {
                        failure = Some(error);
                        return Ok(None);
                    }
                }
                self.read_branches(&mut there, &mut guards);
                let lambda = self.work.coupled.lambda.clone();
                Ok(Some(Attempt { lambda, modes: open.iter().map(|&at| there[at]).collect() }))
            });
            let branch = found.map_err(|error| match failure {
                Some(failure) if error == CoupledError::NoSolution => failure,
                _ => FieldError::Coupled(error),
            })?;
            open.iter().zip(branch).for_each(|(&at, mode)| modes[at] = mode);
        }
        self.set_modes(modes);
        Ok(())
    }

    /// Solves for the motion by the rows in use, at what was evaluated last; not again if that is
    /// done.
    pub(super) fn solve(&mut self) -> Result<(), FieldError> {
        if self.work.is_fresh && self.work.is_solved {
            return Ok(());
        }
        self.work.is_certified = false;
        self.find_motion()?;
        self.work.is_solved = true;
        Ok(())
    }

    /// Picks A and b of the rows in use, where these are not all.
    fn choose_terms(&mut self) {
        let (work, layout) = (&mut *self.work, &self.layout.normal);
        let bias = &work.output[layout.bias.clone()];
        if self.rows.len() < bias.len() {
            work.chosen.take(&self.rows, &layout.jacobian, &work.jacobian, bias);
        }
    }

    fn find_motion(&mut self) -> Result<(), FieldError> {
        self.choose_terms();
        let (work, layout) = (&mut self.work, &self.layout.normal);
        let chosen = &work.chosen;
        let terms = layout.chosen(&self.rows, &work.output, &work.metric, &work.jacobian, chosen);
        let by = self.elimination;
        let (factored, outcome) = (&mut work.factored, &mut work.outcome);
        let (v_dot, multipliers) = (&mut outcome.v_dot, &mut outcome.multipliers);
        work.is_frozen = self.coupling.is_none()
            && factored.is_decided()
            && match work.has_factors {
                true => factored.solve(by, &terms, v_dot, multipliers),
                false => factored.solve_at(by, &terms, v_dot, multipliers),
            };
        work.has_factors = work.is_frozen;
        if work.is_frozen {
            self.counts.frozen += 1;
            outcome.motion = outcome::Verdict::Unique;
            return Ok(());
        }
        self.decide_motion()
    }

    /// The same with a decision of its own, or together with the forces that depend on it.
    #[inline(never)]
    fn decide_motion(&mut self) -> Result<(), FieldError> {
        let (size, by) = (self.size, self.elimination);
        let (work, layout) = (&mut self.work, &self.layout.normal);
        let chosen = &work.chosen;
        let terms = Terms {
            inertia: &self.noise.inertia,
            ..layout.chosen(&self.rows, &work.output, &work.metric, &work.jacobian, chosen)
        };
        let tolerances =
            Tolerances { rank: None, inconsistent: 1e-3, hidden: 1e-6, least_squares: true };
        let (factored, outcome) = (&mut work.factored, &mut work.outcome);
        match &self.coupling {
            None => {
                self.counts.decided += 1;
                work.is_settled = false;
                certain(by, &mut work.scratch, &terms, &tolerances, outcome)?;
                factored.adopt(&work.scratch, outcome);
            }
            Some(coupling) => {
                let place = |row: &Option<usize>| -> Option<usize> {
                    self.rows.iter().position(|r| Some(*r) == *row)
                };
                work.places.clear();
                work.places.extend(coupling.rows.iter().map(place));
                let counts = &mut self.counts;
                coupling.solve(
                    &mut work.law_registers,
                    &mut work.input,
                    &mut work.law_output,
                    &mut |law| {
                        let (scratch, outcome) = (&mut work.scratch, &mut work.outcome);
                        let (coupled, places) = (&mut work.coupled, &work.places);
                        let factored = Some(&mut work.factored);
                        let mut solver = Solver::new(by, &tolerances, scratch, factored);
                        let solved = coupled.solve(law, &terms, places, &mut solver, outcome);
                        work.is_frozen = solver.counts.1 == 0;
                        match work.is_frozen {
                            true => counts.frozen += 1,
                            false => counts.decided += 1,
                        }
                        solved
                    },
                )?;
                if work.is_frozen {
                    // The last of the problems may have been a column of Newton's matrix.
                    let forces = &work.coupled.forces;
                    let at = Terms { force: &forces.force, nonideal: &forces.nonideal, ..terms };
                    let outcome = &mut work.outcome;
                    work.factored.solve(by, &at, &mut outcome.v_dot, &mut outcome.multipliers);
                } else {
                    work.factored.adopt(&work.scratch, &work.outcome);
                }
                work.outcome.coupling = Some(work.coupled.residual);
                let forces = &work.coupled.forces;
                work.output[layout.force.clone()].copy_from_slice(&forces.force);
                work.output[layout.nonideal.clone()].copy_from_slice(&forces.nonideal);
                work.output[self.layout.power] = work.law_output[2 * size];
            }
        }
        match work.outcome.motion {
            outcome::Verdict::Unique | outcome::Verdict::Inconsistent => Ok(()),
            motion => Err(FieldError::NoMotion(motion)),
        }
    }
}

impl Field {
    /// The shortest change of the own velocities, in the metric Γ, by which A v changes by `right`
    /// in each row in use, at what was evaluated last. Found by the factors of the motion, which
    /// serve it too where Γ and A do not depend on the velocities. False if there are none.
    pub(crate) fn shortest_change(&mut self, right: &[f64], change: &mut Vec<f64>) -> bool {
        if self.coupling.is_some() || !self.work.factored.is_decided() {
            return false;
        }
        self.choose_terms();
        let (work, by) = (&mut self.work, self.elimination);
        work.is_solved = false;
        if !work.has_factors {
            let (chosen, layout) = (&work.chosen, &self.layout.normal);
            let terms =
                layout.chosen(&self.rows, &work.output, &work.metric, &work.jacobian, chosen);
            work.has_factors = work.factored.refactor(by, &terms);
        }
        work.has_factors && work.factored.shortest(by, right, change)
    }

    /// How far the rows in use are from depending on each other at what was evaluated last, by the
    /// pivots of their factors as parts of given lengths; where matrices are large.
    pub(crate) fn margin(&mut self, lengths: &[f64]) -> Option<f64> {
        self.choose_terms();
        let work = &mut *self.work;
        if !work.has_factors {
            let (chosen, layout) = (&work.chosen, &self.layout.normal);
            let terms =
                layout.chosen(&self.rows, &work.output, &work.metric, &work.jacobian, chosen);
            // Without a decision there is nothing to go by, and with a pivot that fell, no margin.
            if !work.factored.is_decided() {
                return None;
            }
            work.has_factors = work.factored.refactor(self.elimination, &terms);
            work.is_solved = false;
        }
        work.factored.margin(lengths)
    }

    /// Checks the last solution by Gauss's principle, if it is on the decision of another state;
    /// all others have been. One that misses it is solved for again.
    pub(super) fn certify(&mut self) -> Result<(), FieldError> {
        if !self.work.is_frozen || self.work.is_certified {
            return Ok(());
        }
        let outcome = &mut self.work.outcome;
        (outcome.stationarity, outcome.feasibility) = self.work.factored.residuals();
        if is_certain(outcome) {
            self.work.is_certified = true;
            return Ok(());
        }
        self.work.factored.forget();
        (self.work.is_solved, self.work.has_factors) = (false, false);
        self.solve()
    }
}

/// Solves by an elimination, or by another where its solution misses Gauss's principle: whatever
/// solved it, an answer that is none is not gone on with.
fn certain(
    elimination: &'static dyn Elimination,
    scratch: &mut Scratch,
    terms: &Terms,
    tolerances: &Tolerances,
    outcome: &mut Outcome,
) -> Result<(), FieldError> {
    elimination.solve(scratch, terms, tolerances, outcome)?;
    if is_certain(outcome) {
        return Ok(());
    }
    let residual = outcome.stationarity.max(outcome.feasibility);
    for other in dalembert_gauss::ALL.iter().filter(|other| other.name() != elimination.name()) {
        if other.solve(scratch, terms, tolerances, outcome).is_ok() && is_certain(outcome) {
            return Ok(());
        }
    }
    Err(FieldError::Residual(residual))
}

/// Whether a solution satisfies Gauss's principle. Rows that contradict each other, off the
/// constraints, are met as well as can be.
fn is_certain(outcome: &Outcome) -> bool {
    outcome.motion != outcome::Verdict::Unique
        || !(outcome.stationarity.max(outcome.feasibility) > crate::normal_form::RESIDUAL)
}

impl Coupling {
    /// Makes the law of the forces at the inputs, and gives it to `with`.
    pub(super) fn solve(
        &self,
        registers: &mut Registers,
        input: &mut [f64],
        output: &mut [f64],
        with: &mut dyn FnMut(&mut dyn Law) -> Result<(), CoupledError>,
    ) -> Result<(), FieldError> {
        with(&mut Compiled { coupling: self, registers, input, output }).map_err(FieldError::from)
    }
}

/// The forces by their tape.
struct Compiled<'a> {
    coupling: &'a Coupling,
    registers: &'a mut Registers,
    input: &'a mut [f64],
    output: &'a mut [f64],
}

impl Law for Compiled<'_> {
    fn evaluate(&mut self, lambda: &[f64], at: &mut Forces) {
        let (first, n) = (self.coupling.first_input, at.force.len());
        self.input[first..first + lambda.len()].copy_from_slice(lambda);
        self.coupling.function.call(self.registers, self.input, self.output);
        at.force.copy_from_slice(&self.output[..n]);
        at.nonideal.copy_from_slice(&self.output[n..2 * n]);
        let entries = self.coupling.slopes.iter().zip(&self.output[2 * n + 1..]);
        entries.for_each(|(&(c, i), &slope)| at.slopes[c * n + i] = slope);
    }
}
