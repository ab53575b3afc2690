//! What sticks and touches: each phase is the model of part 1 that one would have written by hand, and
//! gap, normal, point and slip of every pair of shapes are what geometry says.

mod support;

use dalembert::expr::ExprId;
use dalembert::model::system::{Mode, Phase};
use dalembert::{EquationsOfMotion, Model};
use support::model;

/// All expressions of the equations by Lagrange, as text.
fn equations(model: &Model) -> Vec<String> {
    let found: EquationsOfMotion =
        dalembert::derive(model, Some("lagrange")).unwrap_or_else(|e| panic!("{e:?}"));
    found.roots().into_iter().map(|id| model.exprs.to_source(id)).collect()
}

/// The phase of a text is the text written by hand: equations, rows and outputs.
fn same(text: &str, closed: &[bool], modes: &[Mode], by_hand: &str) {
    let touching = model(text);
    let phase = Phase { closed: closed.to_vec(), modes: modes.to_vec() };
    assert!(touching.system.wants_phase());
    let phased = touching.in_phase(&phase);
    assert!(!phased.system.wants_phase());
    let hand = model(by_hand);
    assert_eq!(equations(&phased), equations(&hand), "{phase:?}\n{text}");
    let rows = |m: &Model| -> Vec<String> {
        let rows = m.system.constraints.iter();
        rows.map(|c| {
            let kind = (c.level, c.affine, c.scleronomic, c.catastatic);
            format!("{} {} {} {kind:?}", c.name, c.label, m.exprs.to_source(c.residual))
        })
        .collect()
    };
    assert_eq!(rows(&phased), rows(&hand), "{phase:?}\n{text}");
    let outputs = |m: &Model| -> Vec<String> {
        // The force of a friction that sticks is a multiplier by its own name.
        let text = |id| m.exprs.to_source(id).replace("rub.force", "multiplier(rub)");
        m.system.observes.iter().map(|o| text(o.value)).collect()
    };
    assert_eq!(outputs(&phased), outputs(&hand), "{phase:?}\n{text}");
}

const BELT: &str = "param m = 1, k = 10, F = 2, v = 0.5\ncoord x\n\
    kinetic m*x'^2/2\npotential k*x^2/2\n";

#[test]
fn friction_sticks_and_slips() {
    let text =
        format!("{BELT}friction rub: F along x' - v, static 2*F\nobserve rub.force, rub.mode");
    let stick =
        format!("{BELT}constraint rub: x' - v = 0\nlet f = multiplier(rub)\nobserve f, two = 2");
    same(&text, &[], &[Mode::Stick], &stick);
    let slip = format!("{BELT}nonideal x: -F*sign(x' - v)\nobserve f = -F*sign(x' - v), one = 1");
    same(&text, &[], &[Mode::Slip], &slip);
    let forward = format!("{BELT}nonideal x: -F\nobserve f = -F, one = 1");
    same(&text, &[], &[Mode::Forward], &forward);
    let backward = format!("{BELT}nonideal x: F\nobserve f = F, one = 1");
    same(&text, &[], &[Mode::Backward], &backward);
}

const PUCK: &str = "param m = 1, g = 9.81, mu = 0.3\ncoord x, y, z\n\
    kinetic m*(x'^2 + y'^2 + z'^2)/2\npotential m*g*z\nforce x: 1\n";

#[test]
fn contacts_open_slip_and_stick() {
    let text = format!(
        "{PUCK}contact floor: z >= 0, sliding [x', y' - 1], friction mu, restitution 0.5\n\
        observe multiplier(floor), floor.mode, floor.force"
    );
    let open = format!("{PUCK}observe a = 0, b = 0, c = 0, d = 0, e = 0");
    same(&text, &[false], &[Mode::Stick], &open);
    let row = "constraint floor: z = 0\n";
    let stick = format!(
        "{PUCK}{row}constraint floor.slip: [x', y' - 1] = 0\n\
        observe multiplier(floor), b = 2, multiplier(floor), d = multiplier(slip)"
    )
    .replace("floor.slip", "slip");
    // A name with a dot cannot be written by hand; the rest is the same.
    let (touching, hand) = (model(&text), model(&stick));
    let phase = Phase { closed: vec![true], modes: vec![Mode::Stick] };
    let phased = touching.in_phase(&phase);
    let plain: Vec<String> =
        equations(&phased).iter().map(|t| t.replace("floor.slip", "slip")).collect();
    assert_eq!(plain, equations(&hand));
    let names: Vec<&str> = phased.system.constraints.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["floor", "floor.slip[1]", "floor.slip[2]"]);
    assert_eq!(phased.system.contacts[0].held, Some(0));
    assert_eq!(phased.system.frictions[0].held, Some(1..3));
    let speed = "sqrt(x'^2 + (y' - 1)^2)";
    let slip = format!(
        "{PUCK}{row}let N = multiplier(floor)\n\
        nonideal x: -mu*N*x'/{speed}\nnonideal y: -mu*N*(y' - 1)/{speed}\n\
        observe N, b = 1, N, d = -mu*N*x'/{speed}, e = -mu*N*(y' - 1)/{speed}"
    );
    same(
        &text,
        &[true],
        &[Mode::Slip],
        &slip.replace("observe N, b = 1, N,", "observe N, b = 1, c = N,"),
    );
}

/// The direction of what begins to slip is a parameter.
#[test]
fn the_beginning_of_slip_has_a_direction() {
    let text = format!("{PUCK}friction rub: mu along [x', y']\nobserve rub.force");
    let touching = model(&text);
    let phase = Phase { closed: vec![], modes: vec![Mode::Toward] };
    let phased = touching.in_phase(&phase);
    let names: Vec<&str> = phased.system.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["m", "g", "mu", "rub.toward[1]", "rub.toward[2]"]);
    let force: Vec<String> =
        phased.system.observes.iter().map(|o| phased.exprs.to_source(o.value)).collect();
    assert_eq!(force, ["-mu*rub.toward[1]", "-mu*rub.toward[2]"]);
}

/// A model given by H has its phases too, in its own variables.
#[test]
fn phases_of_a_hamiltonian() {
    let text = "param m = 2, F = 1\ncoord x\nhamiltonian p_x^2/(2*m) + x^2\n\
        friction rub: F along x' - 1\ncontact stop: 1 >= x";
    let base = "param m = 2, F = 1\ncoord x\nhamiltonian p_x^2/(2*m) + x^2\n";
    let by = |phase: Phase| {
        let phased = model(text).in_phase(&phase);
        let found = dalembert::derive(&phased, Some("hamilton")).expect("applies");
        found.roots().iter().map(|&id| phased.exprs.to_source(id)).collect::<Vec<_>>()
    };
    let hand = |more: &str| {
        let hand = model(&format!("{base}{more}"));
        let found = dalembert::derive(&hand, Some("hamilton")).expect("applies");
        found.roots().iter().map(|&id| hand.exprs.to_source(id)).collect::<Vec<_>>()
    };
    let sticks = by(Phase { closed: vec![true], modes: vec![Mode::Stick] });
    assert_eq!(sticks, hand("constraint stop: 1 = x\nconstraint rub: x' - 1 = 0"));
    let slips = by(Phase { closed: vec![false], modes: vec![Mode::Slip] });
    assert_eq!(slips, hand("nonideal x: -F*sign(x' - 1)"));
}

/// Inputs stay inputs in a phase.
#[test]
fn phases_of_a_model_with_inputs() {
    let text = format!("{BELT}input u = sin(t)\nfriction rub: 2 + u along x' - u\n");
    let phase = Phase { closed: vec![], modes: vec![Mode::Stick] };
    let phased = model(&text).in_phase(&phase);
    let row = &phased.system.constraints[0];
    assert_eq!(phased.exprs.to_source(row.residual), "x' - sin(t)");
    assert!(!row.scleronomic && row.catastatic == Some(false));
    let opened = phased.opened();
    let row = &opened.system.constraints[0];
    assert_eq!(opened.exprs.to_source(row.residual), "x' - u");
    let again = phased.with_input("u", ExprId::ONE).expect("an input");
    assert_eq!(again.exprs.to_source(again.system.constraints[0].residual), "x' - 1");
}
