//! Angles whose start looks like degrees.
//!
//! An angle is a coordinate that the equations hold and whose turn by 2π changes nothing in them.
//! One that starts at fifteen or more, in whole fives, was probably meant in degrees.

use super::{Sampled, Subject};
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::Energy;
use dalembert_simulate::Table;

pub(super) fn findings(subject: &Subject) -> Vec<Diagnostic> {
    let Some(sampled) = &subject.numbers else { return Vec::new() };
    let positions = subject.system.positions();
    let mut findings = Vec::new();
    for item in &subject.system.start {
        let Some(symbol) = subject.exprs.as_symbol(item.left) else { continue };
        let Some(at) = positions.iter().position(|&p| p == symbol) else { continue };
        // What is computed from parameters says its own units.
        let Some(value) = subject.exprs.as_number(item.right) else { continue };
        let value = value.to_f64();
        let in_fives = value.abs() >= 15.0 && value % 5.0 == 0.0;
        if !in_fives || !is_angle(subject, sampled, symbol) {
            continue;
        }
        let message = format!(
            "{} is an angle, in radians, and starts at {value}: are these degrees?",
            subject.coordinate(at)
        );
        findings.push(
            Diagnostic::warning(Code::LooksLikeDegrees, item.span, message)
                .hint(format!("write `{} = {value}*deg`", item.text)),
        );
    }
    findings
}

/// Whether the equations hold a coordinate, and a turn by 2π changes none of them.
fn is_angle(subject: &Subject, sampled: &Sampled, symbol: Symbol) -> bool {
    let system = subject.system;
    let mut roots: Vec<ExprId> = match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => vec![*lagrangian],
        Energy::Hamiltonian { hamiltonian, .. } => vec![*hamiltonian],
    };
    roots.extend(system.constraints.iter().map(|c| c.residual));
    let forces = system.forces.iter().chain(&system.nonideal);
    roots.extend(forces.flat_map(|f| f.components.iter().map(|c| c.1)));
    roots.retain(|&root| subject.exprs.symbols_of(&[root]).contains(&symbol));
    if roots.is_empty() {
        return false;
    }
    sampled.states.iter().all(|state| {
        let mut table: Table = state.table(system);
        // Multipliers in forces may be anything.
        system.unknowns.iter().for_each(|&(unknown, _)| table.set(unknown, 0.7));
        let here = sampled.setting.numbers(&roots, &table);
        let value = table.get(symbol).unwrap_or(0.0);
        // Small values: those of degrees would lose digits to the turn.
        let mut at = |x: f64| {
            table.set(symbol, x);
            sampled.setting.numbers(&roots, &table)
        };
        let reduced = value.rem_euclid(1.0);
        let (near, turned) = (at(reduced), at(reduced + 2.0 * std::f64::consts::PI));
        here.iter().all(|x| x.is_finite())
            && near
                .iter()
                .zip(&turned)
                .all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0))
    })
}
