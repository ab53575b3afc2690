//! What carries what, the coordinates that follow, and the tree that is kept.

use dalembert_model::expand::expand;
use dalembert_model::load::{Beside, Loaded, Syntax, load_with};
use dalembert_model::render::render;
use dalembert_model::resolve::Limits;
use dalembert_model::system::{Model, Stands};
use std::fmt::Write;

fn load(text: &str, coordinates: &str) -> Loaded {
    let beside = Beside { coordinates: Some(coordinates), ..Beside::default() };
    load_with("machine.dal", text, Syntax::Plain, &beside, Limits::default(), None)
}

fn model(text: &str, coordinates: &str) -> Model {
    let loaded = load(text, coordinates);
    let said = render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("{said}\n{text}"))
}

fn coordinates(model: &Model) -> Vec<&str> {
    model.system.coordinates.iter().map(|c| c.name.as_str()).collect()
}

const CART: &str = "
    param m = 0.2, l = 0.5, g = 9.81
    gravity [0, -g]
    body cart: mass 1, inertia 0
    body pole: mass m, inertia m*l^2/3, center [0, l]
    joint track: slider ground, cart, axis [1, 0]
    joint hinge: pin cart, pole
    start hinge.angle ~ 0.1
";

#[test]
fn a_joint_that_carries_has_the_coordinates() {
    let relative = model(CART, "relative");
    assert_eq!(coordinates(&relative), ["track.slide", "hinge.angle"]);
    assert!(relative.system.constraints.is_empty());
    let tree = &relative.system.tree;
    let stands: Vec<Stands> = tree.links.iter().map(|link| link.stands).collect();
    assert_eq!(stands, [Stands::Carried(0), Stands::Carried(1)]);
    assert_eq!(tree.joints[1].sides, [Some(0), Some(1)]);
    assert_eq!(tree.joints[1].coordinates, [1]);
    assert_eq!(tree.joints[0].sides, [None, Some(0)]);
}

#[test]
fn in_absolute_coordinates_bodies_have_them() {
    let absolute = model(CART, "absolute");
    let names = ["cart.r[1]", "cart.r[2]", "cart.angle", "pole.r[1]", "pole.r[2]", "pole.angle"];
    assert_eq!(coordinates(&absolute), names);
    let rows: Vec<&str> = absolute.system.constraints.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(rows, ["track[1]", "track[2]", "hinge[1]", "hinge[2]"]);
    // The guess for the joint has gone down the tree.
    let guess = absolute.system.start.iter().find(|s| s.text == "pole.angle").expect("a guess");
    assert_eq!(absolute.exprs.to_source(guess.right), "0.1");
}

#[test]
fn a_reaction_that_is_asked_for_releases_its_joint_alone() {
    let text = format!("{CART}\nobserve hinge.force");
    let model = model(&text, "relative");
    let names = ["track.slide", "hinge.angle", "hinge.off[1]", "hinge.off[2]"];
    assert_eq!(coordinates(&model), names);
    assert_eq!(model.system.tree.joints[1].released, [2, 3]);
    assert!(model.system.tree.joints[0].released.is_empty());
}

#[test]
fn the_order_of_lines_means_nothing() {
    let mut lines: Vec<&str> = CART.lines().collect();
    lines.reverse();
    let turned = model(&lines.join("\n"), "relative");
    let mut names = coordinates(&turned);
    names.sort_unstable();
    assert_eq!(names, ["hinge.angle", "track.slide"]);
}

#[test]
fn frames_of_parts_are_set_in_braces() {
    let text = "
        model leg {
          frame base
          body shank: mass 1, inertia [1, 1, 1], center [0, 0, -0.2]
          joint hip: pin base, shank, axis [0, 1, 0]
        }
        body torso: mass 5, inertia [1, 1, 1], free
        frame left on torso: at [0, 0.1, 0]
        part l = leg { base = left }
        part r = leg { base = torso }
    ";
    let model = model(text, "relative");
    let names = coordinates(&model);
    assert!(names.contains(&"l.hip.angle") && names.contains(&"r.hip.angle"), "{names:?}");
    assert_eq!(names.len(), 9);
}

#[test]
fn what_is_expanded_has_no_machine_words() {
    let text = format!("{CART}\nspring 3 at hinge.angle\nobserve hinge.force, track.torque");
    let relative = model(&text, "relative");
    let expanded = expand(&relative);
    let words = ["joint", "loop", "frame", "spring", "damper", "torque", "gravity"];
    for line in expanded.lines() {
        let first = line.split_whitespace().next().unwrap_or("");
        assert!(!words.contains(&first), "{line}");
    }
    let again = model(&expanded, "relative");
    let flat: Vec<String> =
        coordinates(&relative).iter().map(|name| name.replace('.', "_")).collect();
    assert_eq!(coordinates(&again), flat);
    assert_eq!(again.system.constraints.len(), relative.system.constraints.len());
    assert_eq!(again.system.observes.len(), relative.system.observes.len());
}

/// Chains are evaluated from the root on, without deep recursion, whatever the order of lines.
#[test]
fn a_chain_is_read_from_its_root() {
    const N: usize = 60;
    let mut text = String::from("gravity [0, 0, -9.81]\n");
    for i in (1..=N).rev() {
        let first = if i == 1 { "ground".to_owned() } else { format!("b[{}]", i - 1) };
        let _ = writeln!(text, "joint j[{i}]: pin {first} at [0, 0, -1], b[{i}], axis [1, 0, 0]");
        let _ = writeln!(text, "body b[{i}]: mass 1, inertia [1, 1, 1], center [0, 0, -0.5]");
    }
    let model = model(&text, "relative");
    assert_eq!(model.system.n_coordinates(), N);
    let parents = model.system.tree.links.iter().map(|link| match link.stands {
        Stands::Carried(at) => model.system.tree.joints[at].sides[0],
        other => panic!("{other:?}"),
    });
    // Parents come first.
    for (at, parent) in parents.enumerate() {
        assert_eq!(parent, at.checked_sub(1));
    }
}
