//! Statements without effect: forces on nothing, events that never come.

use dalembert_expr::{Symbol, Zero};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Model;

pub(super) fn findings(model: &Model) -> Vec<Diagnostic> {
    let (exprs, system) = (&model.exprs, &model.system);
    let mut findings = Vec::new();
    // What acts for a servo constraint may be just its ideal force, and nothing beside it.
    let of_servo = |at: usize| system.servos.iter().any(|servo| servo.force == at);
    let nonideal = system.nonideal.iter().enumerate().filter(|(at, _)| !of_servo(*at));
    for force in system.forces.iter().chain(nonideal.map(|(_, force)| force)) {
        if force.components.is_empty() {
            let finding = Diagnostic::warning(
                Code::ForceWithoutEffect,
                force.span,
                "this force acts on no coordinate",
            )
            .hint("it is 0, or what it acts at does not move with any coordinate; write the point with coordinates in it");
            findings.push(finding);
        }
    }
    let parameters: Vec<Symbol> = system.parameters.iter().map(|p| p.symbol).collect();
    for event in system.events.iter().filter(|e| e.period.is_none() && e.change.is_none()) {
        let symbols = exprs.symbols_of(&[event.function]);
        let fixed = symbols.iter().all(|s| parameters.contains(s));
        let zero = exprs.is_zero(event.function);
        let message = match zero {
            Zero::Structural | Zero::Sampled { .. } => {
                format!(
                    "event `{}` has the same on both sides, so that nothing is crossed",
                    event.name
                )
            }
            _ if fixed => format!("event `{}` never comes: nothing in it changes", event.name),
            _ => continue,
        };
        findings.push(
            Diagnostic::warning(Code::EventNever, event.span, message).hint(
                "an event is a crossing of left − right through 0: something in it has to move",
            ),
        );
    }
    findings
}
