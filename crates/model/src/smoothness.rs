//! How often tables, and functions that a program gives, are differentiated on the way to equations of motion.
//!
//! A table with k continuous derivatives may be differentiated k + 1 times: the last one jumps at
//! the points, where an integrator stops and goes on. Energies are differentiated once, constraints
//! as often as it takes to reach accelerations, forces not at all. A function that a program gives may
//! be differentiated as often as it comes with derivatives.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::system::{Energy, Level, System};
use dalembert_expr::{ExprId, Exprs, Given, TableId};

/// Faults of tables that are differentiated too often.
pub fn check(exprs: &Exprs, system: &System) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut look = |root: ExprId, further: u32, span: Span, what: &str| {
        for (id, order, argument) in exprs.tables(&[root]) {
            let Some(table) = id.table() else { continue };
            let total = order + further;
            let allowed = table.smoothness() + 1;
            let is_constant = exprs.as_number(argument).is_some();
            if is_constant || total as i32 <= allowed {
                continue;
            }
            faults.push(fault(system, exprs, id, (total, allowed), span, what));
        }
        for (given, order, argument) in exprs.given(&[root]) {
            let (total, allowed) = (order + further, given.derivatives());
            if exprs.as_number(argument).is_none() && total > allowed {
                faults.push(beyond(system, exprs, &given, (total, allowed), span, what));
            }
        }
    };
    let touching = system.contacts.iter().map(|contact| &contact.row);
    let sliding = system.frictions.iter().flat_map(|friction| &friction.rows);
    for constraint in system.constraints.iter().chain(touching).chain(sliding) {
        let further = match constraint.level {
            Level::Position => 2,
            Level::Velocity => 1,
            Level::Acceleration => 0,
        };
        look(constraint.residual, further, constraint.span, "a constraint");
    }
    let place = |id: ExprId| {
        let own = system.energy_terms.iter().find(|term| term.0 == id).map(|term| term.1);
        own.or_else(|| system.coordinates.first().map(|c| c.span)).unwrap_or_default()
    };
    match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => {
            look(*lagrangian, 1, place(*lagrangian), "an energy")
        }
        Energy::Hamiltonian { hamiltonian, .. } => {
            look(*hamiltonian, 1, place(*hamiltonian), "an energy");
        }
    }
    for force in system.forces.iter().chain(&system.nonideal) {
        force.components.iter().for_each(|c| look(c.1, 0, force.span, "a force"));
    }
    for state in &system.states {
        look(state.rate, 0, state.span, "the rate of a state");
    }
    faults
}

/// How often, in words.
fn times(n: i64) -> String {
    match n {
        0 => "not at all".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

/// The message about one function of a program, which is an input.
fn beyond(
    system: &System,
    exprs: &Exprs,
    given: &Given,
    (total, allowed): (u32, u32),
    span: Span,
    what: &str,
) -> Diagnostic {
    let (name, wanted) = (given.name(), times(i64::from(total)));
    let known = match allowed {
        0 => "comes without derivatives".to_owned(),
        n => format!("can be differentiated {} only", times(i64::from(n))),
    };
    let message =
        format!("{what} differentiates input `{name}` {wanted}, and its function {known}");
    let is_own = |id: ExprId| exprs.given(&[id]).iter().any(|found| found.0.name() == name);
    let input = system.inputs.iter().find(|u| u.value.is_some_and(is_own));
    let fault = Diagnostic::fault(Code::InputDerivative, span, message);
    let fault = match input {
        Some(input) => fault.with(input.span, "the input"),
        None => fault,
    };
    fault.hint(
        "give its derivatives beside it, or a formula, or let states have the place: \
         `state X' = V, V' = a`",
    )
}

/// The message about one table.
fn fault(
    system: &System,
    exprs: &Exprs,
    id: TableId,
    (total, allowed): (u32, i32),
    span: Span,
    what: &str,
) -> Diagnostic {
    let name = id.table().map_or(String::new(), |table| table.name().to_owned());
    // An input that is this table is what the model speaks of.
    let input = system
        .inputs
        .iter()
        .find(|u| u.value.is_some_and(|value| exprs.tables(&[value]).iter().any(|t| t.0 == id)));
    let (total, allowed) = (times(i64::from(total)), times(i64::from(allowed.max(0))));
    match input {
        Some(input) => {
            let message = format!(
                "{what} differentiates input `{}` {total}, and its data allow that {allowed}",
                input.name
            );
            Diagnostic::fault(Code::InputDerivative, span, message)
                .with(input.span, "the input")
                .hint("take smoother data, `cubic`, or let states have the place: `state X' = V, V' = a`")
        }
        None => {
            let message = format!(
                "{what} differentiates table `{name}` {total}, and its data allow that {allowed}"
            );
            Diagnostic::fault(Code::TableSmoothness, span, message)
                .hint("take smoother curves through the same points: `cubic`")
        }
    }
}
