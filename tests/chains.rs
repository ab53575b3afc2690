//! Large trees in relative coordinates: their mass matrix is dense and never formed. Accelerations,
//! reactions and motions are those of absolute coordinates, where matrices are sparse.

mod support;

use dalembert::prelude::*;
use dalembert::simulate::report::{self, Options as Routes};
use dalembert::simulate::{Program, Setting, start};
use dalembert::{Input, Model, Options};
use std::fmt::Write;

fn load(text: &str, coordinates: &str) -> Model {
    let options = Options { coordinates: Some(coordinates.into()), ..Options::default() };
    let loaded = dalembert::load(&Input::text("chain.dal", text), &options);
    assert!(!loaded.is_faulty(), "{}", support::render(&loaded));
    loaded.model.expect("no faults")
}

/// A chain of pins and a few sliders with a branch at its middle.
fn branched(n: usize, in_space: bool) -> String {
    let mut text = String::new();
    let (down, inertia) = match in_space {
        true => ("[0, 0.1, -1]", "[0.08, 0.09, 0.02, 0.001, -0.002, 0.003]"),
        false => ("[0, -1]", "0.08"),
    };
    let center = if in_space { "[0.1, 0, -0.5]" } else { "[0.1, -0.5]" };
    let _ = writeln!(text, "gravity {}", if in_space { "[0, 0, -9.81]" } else { "[0, -9.81]" });
    for i in 1..=n {
        let parent = match i {
            1 => "ground".to_owned(),
            _ if i == 2 * n / 3 => format!("b{}", n / 3),
            _ => format!("b{}", i - 1),
        };
        let at = if i == 1 { String::new() } else { format!(" at {down}") };
        let _ = writeln!(text, "body b{i}: mass 1, inertia {inertia}, center {center}");
        let (kind, axis, name) = match (i % 7 == 3, in_space) {
            (true, true) => ("slider", ", axis [0.2, 0, 1]", "slide"),
            (true, false) => ("slider", ", axis [0.2, 1]", "slide"),
            (_, false) => ("pin", "", "angle"),
            _ if i % 2 == 0 => ("pin", ", axis [1, 0, 0]", "angle"),
            _ => ("pin", ", axis [0.1, 1, 0]", "angle"),
        };
        let _ = writeln!(text, "joint j{i}: {kind} {parent}{at}, b{i}{axis}");
        let value = 0.02 * ((7 * i) % 11) as f64 - 0.1;
        let rate = 0.03 * ((5 * i) % 13) as f64 - 0.2;
        let _ = writeln!(text, "start j{i}.{name} ~ {value}, j{i}.{name}' ~ {rate}");
    }
    text
}

/// Observed values at the start, and a word about the matrices.
fn observed(model: &Model) -> Vec<f64> {
    let setting = Setting::new(model).expect("all values");
    let begin = start::start(&setting).expect("a start");
    let routes = Routes::of_model(model);
    let report = report::at(&setting, &begin.state, &routes).expect("numbers");
    let evaluation = report.answers.iter().find_map(|answer| answer.result.as_ref().ok());
    let evaluation = evaluation.expect("a route with numbers");
    support::observed(&setting, &begin.state, evaluation, &report)
}

fn is_along_tree(model: &Model) -> bool {
    let setting = Setting::new(model).expect("all values");
    let program = Program::new(&setting, &dalembert::simulate::run::RunOptions::of_model(&setting));
    program.expect("a program").equations().bodies.is_some()
}

#[test]
fn accelerations_and_reactions_are_those_of_absolute_coordinates() {
    for in_space in [false, true] {
        let n = 70;
        let mut text = branched(n, in_space);
        for i in [1, n / 3, n / 2, n] {
            let _ = writeln!(text, "observe a{i} = b{i}.position''");
        }
        let _ = writeln!(text, "observe f = j{}.force, m = j{}.torque", n / 2, n / 2);
        let (relative, absolute) = (load(&text, "relative"), load(&text, "absolute"));
        assert!(is_along_tree(&relative));
        let (one, two) = (observed(&relative), observed(&absolute));
        assert!(one.len() > 8 && one.len() == two.len());
        let most = one.iter().chain(&two).fold(1f64, |m, x| m.max(x.abs()));
        for (a, b) in one.iter().zip(&two) {
            assert!((a - b).abs() <= 1e-10 * most, "{in_space}: {one:?}\n{two:?}");
        }
    }
}

/// With a loop from the end of one branch to the end of the other.
#[test]
fn loops_along_a_tree_are_those_of_absolute_coordinates() {
    let n = 72;
    let mut text = branched(n, false);
    let _ = writeln!(text, "loop c: pin b{} at [0, -1], b{n} at [0, -1]", 2 * n / 3 - 1);
    for i in [1, n / 3, n / 2, n] {
        let _ = writeln!(text, "observe a{i} = b{i}.position''");
    }
    // The nearest start is another one in other coordinates: it is what relative ones find.
    let relative = load(&text, "relative");
    assert!(is_along_tree(&relative));
    let setting = Setting::new(&relative).expect("all values");
    let begin = start::start(&setting).expect("a start").state;
    let mut exact: String =
        text.lines().filter(|l| !l.starts_with("start")).fold(String::new(), |mut all, line| {
            let _ = writeln!(all, "{line}");
            all
        });
    for (i, coordinate) in relative.system.coordinates.iter().enumerate() {
        let name = &coordinate.name;
        let _ =
            writeln!(exact, "start {name} ~ {:e}, {name}' ~ {:e}", begin.q[i], begin.velocity[i]);
    }
    let _ = writeln!(exact, "observe f = c.force");
    let (one, two) = (observed(&load(&exact, "relative")), observed(&load(&exact, "absolute")));
    let most = one.iter().chain(&two).fold(1f64, |m, x| m.max(x.abs()));
    for (a, b) in one.iter().zip(&two) {
        assert!((a - b).abs() <= 1e-9 * most, "{one:?}\n{two:?}");
    }
}

#[test]
fn motions_end_where_they_do_in_absolute_coordinates() {
    let n = 68;
    let text = branched(n, true) + &format!("observe b1.position, b11.position, b{n}.position\n");
    let end = |coordinates: &str| {
        let model = load(&text, coordinates);
        let motion = model.simulate(0.0..0.3).tolerance(1e-11).run().expect("it moves");
        let last = motion.at(0.3).expect("its end");
        let setting = Setting::new(&model).expect("all values");
        let values: Vec<_> = model.system.observes.iter().map(|o| o.value).collect();
        setting.numbers(&values, &last.state().table(&model.system))
    };
    let (relative, absolute) = (end("relative"), end("absolute"));
    assert_eq!((relative.len(), absolute.len()), (9, 9));
    for (a, b) in relative.iter().zip(&absolute) {
        assert!((a - b).abs() < 1e-8, "{relative:?} and {absolute:?}");
    }
}

#[test]
fn methods_that_need_entries_say_so() {
    let model = load(&branched(66, false), "relative");
    let refused = model.simulate(0.0..0.1).method("radau").run().expect_err("no entries");
    assert!(refused.to_string().contains("along a tree is not formed"), "{refused}");
}

/// The last joint of a chain is held by a spring so stiff that `auto` leaves for a method that takes
/// entries.
#[test]
fn stiff_trees_go_on_by_entries() {
    let n = 14;
    let text = branched(n, false)
        + &format!("spring 1e7 at j{n}.angle\nforce j{n}.angle: -1e5*j{n}.angle'\n");
    let model = load(&text, "relative");
    assert!(is_along_tree(&model));
    let end = |method: &str| {
        let motion = model.simulate(0.0..0.5).tolerance(1e-8).method(method).run();
        let motion = motion.expect("it moves");
        (motion.at(0.5).expect("its end").state().q.clone(), motion.report().method)
    };
    let ((auto, name), (radau, _)) = (end("auto"), end("radau"));
    assert_eq!(name, "radau");
    for (a, b) in auto.iter().zip(&radau) {
        assert!((a - b).abs() < 1e-5, "{auto:?} and {radau:?}");
    }
}

/// By name trees of any size are solved along themselves; what is none is solved as ever, with a note.
#[test]
fn the_elimination_of_trees_has_a_name() {
    let tree = load(&branched(5, true), "relative");
    assert!(!is_along_tree(&tree));
    let plain = load("coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1", "relative");
    for (model, note) in
        [(&tree, "along a tree: 5 rates"), (&plain, "`null-space` takes its place")]
    {
        let run = |elimination: &str| {
            let motion = model.simulate(0.0..0.5).tolerance(1e-11).elimination(elimination).run();
            motion.expect("it moves")
        };
        let (own, other) = (run("articulated-bodies"), run("null-space"));
        let notes = own.report().choice.notes.join("\n");
        assert!(notes.contains(note), "{notes}");
        let [own, other] = [&own, &other].map(|m| m.at(0.5).expect("its end").state().q.clone());
        for (a, b) in own.iter().zip(&other) {
            assert!((a - b).abs() < 1e-9, "{own:?} and {other:?}");
        }
    }
}

/// What rounding leaves of rates along a tree is what the solution makes of the rounding of forces,
/// where the motion is: steps are as long as the tolerance allows. With Γ_ii in place of the solution,
/// or with the noise of the start, a chain of 600 takes twice as many and one of 1000 ten times.
#[test]
fn steps_of_long_chains_go_by_the_tolerance() {
    let mut text = "param m = 1, l = 1\ngravity [0, 0, -9.81]\n".to_owned();
    for k in 1..=600 {
        let axis = if k % 2 == 1 { "[0, 1, 0]" } else { "[1, 0, 0]" };
        let parent = if k == 1 { "ground".to_owned() } else { format!("b{} at [0, 0, -l]", k - 1) };
        let inertia = "diag([m*l^2/12, m*l^2/12, m*l^2/100])";
        let _ = writeln!(text, "body b{k}: mass m, inertia {inertia}, center [0, 0, -l/2]");
        let _ = writeln!(text, "joint j{k}: pin {parent}, b{k}, axis {axis}");
        let angle = 0.02 * ((7 * k) % 11) as f64 - 0.1;
        let _ = writeln!(text, "start j{k}.angle = {angle:.3}");
    }
    let model = load(&text, "relative");
    let end = |tolerance: f64| {
        let motion = model.simulate(0.0..0.3).tolerance(tolerance).verify(false).run();
        let motion = motion.expect("it moves");
        (motion.at(0.3).expect("its end").state().q.clone(), motion.report().statistics)
    };
    let ((here, statistics), (there, _)) = (end(1e-8), end(1e-10));
    assert!(statistics.steps <= 150, "{statistics:?}");
    for (a, b) in here.iter().zip(&there) {
        assert!((a - b).abs() <= 1e-9, "{a} {b}");
    }
}
