//! Linear equations where contacts and friction have phases: those of the phase of the point, with what
//! is closed or sticks held. On the edge of a phase a small deviation leads into another one, on one
//! side at least, and there are no linear equations.

use super::LinearizeError;
use super::rates::Point;
use dalembert_gauss::multipliers::constraint_force;
use dalembert_simulate::normal_form::{Matrix, Solved};
use dalembert_simulate::phases::Here;
use dalembert_simulate::{Setting, State};

/// The phase of a state; `None` without contacts and friction.
pub(super) fn of(setting: &Setting, state: &State) -> Result<Option<Here>, LinearizeError> {
    let fault =
        |fault| LinearizeError::Phase { fault: Box::new(fault), state: Box::new(state.clone()) };
    Here::of(setting, state).map_err(fault)
}

/// Refuses a point that is on an edge of the phase, or beyond it.
pub(super) fn check(here: &Here, point: &Point) -> Result<(), LinearizeError> {
    let terms = point.numbers.terms();
    let outcome = &point.outcome;
    let dense = (0..terms.m).flat_map(|row| {
        let mut line = vec![0.0; terms.n];
        terms.jacobian_row(row).for_each(|(i, a)| line[i] = a);
        line
    });
    let solved = Solved {
        multipliers: &outcome.multipliers,
        indeterminate: &outcome.indeterminate,
        constraint_force: &constraint_force(&terms, &outcome.v_dot),
        jacobian: &Matrix::dense(dense.collect(), terms.n),
    };
    let edges = here.edges(&point.state, &solved).map_err(LinearizeError::Legendre)?;
    match edges.is_empty() {
        true => Ok(()),
        false => Err(LinearizeError::Edge { edges, state: Box::new(point.state.clone()) }),
    }
}
