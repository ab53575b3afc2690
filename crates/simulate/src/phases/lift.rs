//! A force of part 1 that switches by a sign of a velocity, as dry friction: so that a motion that
//! sticks at the switch goes on (Filippov 1988, §4: the sliding mode).
//!
//! ```text
//! Q = R + B sign(g) ,   g affine in q̇ ,   B = −F ∂g/∂q̇   →   friction F along g
//! ```
//!
//! In the sliding mode the sign takes the value σ ∈ [−1, 1] with which g stays 0; where B is along
//! ∂g/∂q̇ that is a row g = 0 whose multiplier is −Fσ, and the mode ends as stick does, at |σ| = 1. A force
//! along other directions has a sliding mode too, but no friction; it is left as it is.

use dalembert_expr::{ExprId, Symbol};
use dalembert_model::span::Span;
use dalembert_model::system::{Constraint, Energy, Force, Friction, Level, Model};

/// The model with the forces of some switches (each `sign(g)` as the model has it) made frictions;
/// `None` where one of them is no friction.
pub(crate) fn lifted(model: &Model, switches: &[(ExprId, Option<Span>)]) -> Option<Model> {
    let mut model = model.share();
    for &(switch, span) in switches {
        lift(&mut model, switch, span?)?;
    }
    Some(model)
}

fn lift(model: &mut Model, shown: ExprId, span: Span) -> Option<()> {
    let exprs = model.exprs.share();
    let system = &mut model.system;
    if !matches!(system.energy, Energy::Lagrangian { .. }) {
        return None;
    }
    let mut slip: Option<ExprId> = None;
    let mut along: Vec<(usize, ExprId)> = Vec::new();
    for list in [&mut system.forces, &mut system.nonideal] {
        for force in list.iter_mut() {
            let roots: Vec<ExprId> = force.components.iter().map(|c| c.1).collect();
            let (frozen, all) = exprs.freeze_switches(&roots);
            let Some(own) = all.iter().find(|s| s.shown == shown) else { continue };
            let [guard] = own.guards[..] else { return None };
            let back: Vec<(Symbol, ExprId)> = all.iter().map(|s| (s.mode, s.plain)).collect();
            let melt = |id: ExprId| {
                // What is inside of a switch was frozen too.
                (0..=all.len()).fold(id, |id, _| exprs.substitute(&[id], &back)[0])
            };
            let mut components = Vec::new();
            for (&(at, _), &frozen) in force.components.iter().zip(&frozen) {
                let b = exprs.derivative(frozen, own.mode);
                let bends = exprs.derivative(b, own.mode);
                if bends != ExprId::ZERO && !exprs.is_zero(bends).is_zero() {
                    return None;
                }
                let rest = exprs.substitute(&[frozen], &[(own.mode, ExprId::ZERO)])[0];
                let (b, rest) = (melt(b), melt(rest));
                if b != ExprId::ZERO {
                    along.push((at, b));
                }
                if rest != ExprId::ZERO {
                    components.push((at, rest));
                }
            }
            slip = Some(melt(guard));
            *force = Force { components, span: force.span };
        }
    }
    let slip = slip?;
    let velocities = system.velocities();
    let gradient = exprs.jacobian(&[slip], &velocities).rows.into_iter().next()?;
    let affine =
        gradient.iter().all(|e| !exprs.symbols_of(&[e.1]).iter().any(|s| velocities.contains(s)));
    let &(first, entry) = gradient.first().filter(|_| affine)?;
    let total = |at: usize| {
        let terms: Vec<ExprId> = along.iter().filter(|a| a.0 == at).map(|a| a.1).collect();
        exprs.sum(&terms)
    };
    // B = −F w, by the first entry of w; and so for all others.
    let bound = (-exprs.at(total(first)) / exprs.at(entry)).id;
    for at in 0..velocities.len() {
        let w = gradient.iter().find(|e| e.0 == at).map_or(ExprId::ZERO, |e| e.1);
        let left = (exprs.at(total(at)) + exprs.at(bound) * exprs.at(w)).id;
        if left != ExprId::ZERO && !exprs.is_zero(left).is_zero() {
            return None;
        }
    }
    let name = format!("slip[{}]", system.frictions.len() + 1);
    let scleronomic = exprs.is_zero(exprs.derivative(slip, Symbol::TIME)).is_zero();
    let rest: Vec<(Symbol, ExprId)> = velocities.iter().map(|&v| (v, ExprId::ZERO)).collect();
    let at_rest = exprs.substitute(&[slip], &rest)[0];
    let row = Constraint {
        name: name.clone(),
        label: name.clone(),
        level: Level::Velocity,
        residual: slip,
        affine: true,
        scleronomic,
        catastatic: Some(at_rest == ExprId::ZERO || exprs.is_zero(at_rest).is_zero()),
        span,
    };
    system.frictions.push(Friction {
        name,
        slip: vec![slip],
        directions: vec![gradient],
        rows: vec![row],
        bound,
        static_bound: None,
        contact: None,
        held: None,
        toward: Vec::new(),
        span,
    });
    system.open = None;
    Some(())
}
