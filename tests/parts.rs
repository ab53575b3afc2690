//! Parts, bodies and the rules around them, by what comes out.

mod support;

use dalembert::expr::ExprId;
use dalembert::{Input, Mechanics, Options};
use support::{model, values};

fn names(model: &dalembert::Model) -> Vec<&str> {
    model.system.coordinates.iter().map(|c| c.name.as_str()).collect()
}

/// The force vector in the language's own syntax.
fn force(model: &dalembert::Model) -> Vec<String> {
    let equations = dalembert::derive(model, None).expect("applies");
    equations.force.iter().map(|&f| model.exprs.to_source(model.exprs.simplify(f))).collect()
}

const CHAIN: &str = "
    const N = 3
    model link {
      param m = 1, k = 2, left = 0
      coord x
      let stretch = x - left
      kinetic m/2*x'^2
      potential k/2*stretch^2
      start x = 0.5
    }
    for i in 1..1 { part a[i] = link }
    for i in 2..N { part a[i] = link { left = a[i-1].x, k = 10*i } }
    start a[2].x = 7
    observe a[3].stretch, a[2].p_x";

#[test]
fn indexed_parts_see_each_other() {
    let model = model(CHAIN);
    assert_eq!(names(&model), ["a[1].x", "a[2].x", "a[3].x"]);
    // 20 and 30 are parameters of their parts, which `--set` could change.
    assert_eq!(force(&model)[2], "a[3].k*(a[2].x - a[3].x)");
    let values = dalembert::model::parameters::values(&model.exprs, &model.system.parameters);
    let k = model.system.parameters.iter().find(|p| p.name == "a[3].k").expect("it is one");
    assert_eq!(values[&k.symbol], 30.0);
}

#[test]
fn the_outer_start_wins() {
    let model = model(CHAIN);
    let start: Vec<(String, String)> = model
        .system
        .start
        .iter()
        .map(|s| (s.text.clone(), model.exprs.to_source(s.right)))
        .collect();
    assert_eq!(start.len(), 3, "{start:?}");
    assert!(start.contains(&("a[2].x".into(), "7".into())), "{start:?}");
    assert!(start.contains(&("a[1].x".into(), "1/2".into())), "{start:?}");
}

#[test]
fn outer_gravity_acts_on_parts_that_have_none() {
    let model = model(
        "model ball { param m = 2; coord y; particle p: mass m, at [0, y] }\n\
         model heavy { coord y; particle p: mass 1, at [0, y]; gravity [0, -100] }\n\
         part a = ball\npart b = heavy\ngravity [0, -9]",
    );
    assert_eq!(force(&model), ["-9*a.m", "-100"]);
}

#[test]
fn only_the_models_own_names_exist_inside() {
    let loaded = support::load(
        "param g = 9\nmodel m { coord x; kinetic x'^2/2; potential g*x }\npart a = m",
    );
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code.name()).collect();
    assert!(codes.contains(&"unknown-name"), "{codes:?}");
}

#[test]
fn multipliers_of_parts() {
    let model = model(
        "model pendulum { param l = 1; coord x, y; kinetic (x'^2 + y'^2)/2; constraint rod: x^2 + y^2 = l^2 }\n\
         part a = pendulum\npart b = pendulum { l = 2 }\nconstraint x = 0\nlet x = a.x + b.x\n\
         observe multiplier(a.rod), residual(b.rod), multiplier(c1)",
    );
    let rows: Vec<&str> = model.system.constraints.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(rows, ["a.rod", "b.rod", "c1"]);
    assert_eq!(model.exprs.to_source(model.system.observes[1].value), "b.x^2 + b.y^2 - b.l^2");
}

/// A body in the plane and the same body in space give the same equations.
#[test]
fn planar_and_spatial_bodies_agree() {
    let plane = model(
        "param m = 2, I = 3, g = 9\ncoord x, y, th\ngravity [0, -g]\n\
         body b: mass m, inertia I, at [x, y], turning th\n\
         constraint pin: b.point([1, 0]) = 0\nconstraint v: b.velocity_at([0, 1]) = 0\nobserve w = b.omega",
    );
    let space = model(
        "param m = 2, I = 3, g = 9\ncoord x, y, th\ngravity [0, -g, 0]\n\
         body b: mass m, inertia [7, 8, I], at [x, y, 0], turning Rz(th)\n\
         let P = b.point([1, 0, 0]), V = b.velocity_at([0, 1, 0])\n\
         constraint pin: [P[1], P[2]] = 0\nconstraint v: [V[1], V[2]] = 0\nobserve w = b.omega[3]",
    );
    let document = |model: &dalembert::Model| {
        let equations = dalembert::derive(model, None).expect("applies");
        dalembert::export::Derivation::new(model, &equations).to_text()
    };
    assert_eq!(document(&plane), document(&space));
    let [a, b] = [&plane, &space].map(|m| m.exprs.to_source(m.system.observes[0].value));
    assert_eq!(a, b);
}

/// Bricard's mechanism: 41 rows in 35 coordinates, of rank 34 at its start.
#[test]
fn bricard_is_redundant() {
    let input = Input::open("gallery:bricard").expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let equations = dalembert::derive(&model, None).expect("applies");
    let (n, m) = (35, 41);
    assert_eq!((equations.q.len(), equations.bias.len()), (n, m));
    // The start gives every coordinate, by name.
    let mut q = vec![f64::NAN; n];
    for start in &model.system.start {
        let symbol = model.exprs.as_symbol(start.left).expect("a coordinate");
        let at = equations.q.iter().position(|&s| s == symbol).expect("a coordinate");
        q[at] = values(&model, &equations, &[start.right], &[0.0; 35], &[0.0; 35], 0.0)[0];
    }
    let residuals: Vec<ExprId> = equations.configuration_residuals.iter().map(|r| r.1).collect();
    let off = values(&model, &equations, &residuals, &q, &[0.0; 35], 0.0);
    assert!(off.iter().all(|r| r.abs() < 1e-15), "{off:?}");
    let entries: Vec<ExprId> = (0..m)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| equations.jacobian.get(i, j))
        .collect();
    let mut a = values(&model, &equations, &entries, &q, &[0.0; 35], 0.0);
    assert_eq!(rank(&mut a, m, n), 34);
}

/// By elimination with the largest pivot left.
fn rank(a: &mut [f64], m: usize, n: usize) -> usize {
    let mut used = vec![false; m];
    let mut rank = 0;
    loop {
        let free = (0..m).filter(|&i| !used[i]).flat_map(|i| (0..n).map(move |j| (i, j)));
        let Some((i, j)) =
            free.max_by(|x, y| a[x.0 * n + x.1].abs().total_cmp(&a[y.0 * n + y.1].abs()))
        else {
            return rank;
        };
        let pivot = a[i * n + j];
        if pivot.abs() < 1e-10 {
            return rank;
        }
        used[i] = true;
        rank += 1;
        for other in (0..m).filter(|&o| !used[o]).collect::<Vec<_>>() {
            let factor = a[other * n + j] / pivot;
            for column in 0..n {
                a[other * n + column] -= factor * a[i * n + column];
            }
        }
    }
}

/// What a part's parameter depends on may move with the setting it follows.
#[test]
fn defaults_follow_settings_that_move() {
    let model = model(
        "model P { param X = 0, Y = 2*X, k = 3; coord x; let r = [x + X, Y]; kinetic k*dot(r', r')/2 }\n\
         coord y\nkinetic y'^2/2\npart a = P { X = y }",
    );
    let equations = dalembert::derive(&model, None).expect("applies");
    // T = k/2 ((x′ + y′)² + 4 y′²) + y′²/2
    assert_eq!(model.exprs.to_source(equations.metric.get(1, 1)), "a.k");
    let yy = model.exprs.simplify(equations.metric.get(0, 0));
    assert_eq!(model.exprs.to_source(yy), "1 + 5*a.k");
    let names: Vec<&str> = model.system.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["a.k"]);
    let alone = support::load("model P { coord x; param X = x; kinetic X*x'^2 }\npart a = P");
    assert_eq!(alone.diagnostics[0].code.name(), "parameter-moves");
}

/// A branch that is never taken need not exist.
#[test]
fn conditions_on_constants_choose_before_evaluating() {
    let model = model(
        "const N = 3\ncoord x[1..N]\nkinetic dot(x', x')/2\n\
         potential sum(i in 1..N, if(i > 1, (x[i] - x[i-1])^2/2, x[1]^2/(2*1)))",
    );
    assert_eq!(force(&model)[2], "x[2] - x[3]");
}

#[test]
fn made_up_names_do_not_hide_given_ones() {
    let loaded =
        support::load("coord x, y\nkinetic x'^2 + y'^2\nconstraint c2: x = 0\nconstraint y = 0");
    assert_eq!(loaded.diagnostics[0].code.name(), "defined-twice");
    let fine =
        support::load("coord x, y\nkinetic x'^2 + y'^2\nconstraint c1: x = 0\nconstraint y = 0");
    assert!(!fine.is_faulty());
}

/// Parts that double at every level are refused like any other flood.
#[test]
fn parts_that_double_are_bounded() {
    let mut text = String::from("model M0 { coord x; kinetic x'^2 }\n");
    for i in 0..40 {
        text += &format!("model M{} {{ part a = M{i}; part b = M{i} }}\n", i + 1);
    }
    text += "part z = M40\n";
    let loaded = support::load(&text);
    assert!(
        loaded.diagnostics.iter().any(|d| d.code.name() == "too-large"),
        "{}",
        support::render(&loaded)
    );
    let mut deep = String::from("model M0 { coord x; kinetic x'^2 }\n");
    for i in 0..300 {
        deep += &format!("model M{} {{ part a = M{i} }}\n", i + 1);
    }
    let loaded = support::load(&format!("{deep}part z = M300\n"));
    assert!(
        loaded.diagnostics.iter().any(|d| d.code.name() == "too-deep"),
        "{}",
        support::render(&loaded)
    );
    let loaded = support::load(&format!("{deep}part z = M150\n"));
    assert!(!loaded.is_faulty(), "{}", support::render(&loaded));
}

/// A leg that hangs on a frame, with a knee.
const LEGS: &str = "model leg {
      body thigh: mass 1, inertia 0.1, center [0, -0.2]
      body shank: mass 1, inertia 0.1, center [0, -0.2]
      joint hip: pin ground, thigh
      joint knee: pin thigh at [0, -0.4], shank
    }
    gravity [0, -9.81]\n";

/// The joints whose displacements are coordinates.
fn released(text: &str) -> Vec<String> {
    let model = model(&format!("{LEGS}{text}"));
    let joints = model.system.tree.joints.iter();
    joints.filter(|j| !j.released.is_empty()).map(|j| j.name.clone()).collect()
}

/// A reaction is asked of the joint it is asked of: not of those of the same name in other parts.
#[test]
fn reactions_release_the_joints_that_are_meant() {
    let two = "part left = leg\npart right = leg\n";
    let legs =
        "part leg[1..2] = leg\n".replace("leg[1..2] = leg", "legs[1] = leg\npart legs[2] = leg");
    let own =
        "joint knee: pin ground at [5, 0], foot\nbody foot: mass 1, inertia 1, center [1, 0]\n";
    let robot = "model robot { part left = leg\npart right = leg\nlet load = left.knee.force }\n\
                 part a = robot\npart b = robot\n";
    for (text, expected) in [
        (format!("{two}observe left.knee.force[2]"), vec!["left.knee"]),
        (
            format!("{two}observe right.knee.torque, left.hip.force[1]"),
            vec!["left.hip", "right.knee"],
        ),
        (format!("{two}{own}observe knee.force[1]"), vec!["knee"]),
        (format!("{two}{own}force left.hip.angle: -norm(left.knee.force)*0"), vec!["left.knee"]),
        (format!("{legs}observe legs[2].knee.force[1]"), vec!["legs[2].knee"]),
        (
            format!("{legs}const k = 2\nobserve legs[k].knee.force[1]"),
            vec!["legs[1].knee", "legs[2].knee"],
        ),
        (format!("{legs}for i in 1..1 {{ observe legs[i].knee.force[1] }}"), vec!["legs[1].knee"]),
        (robot.to_owned(), vec!["a.left.knee", "b.left.knee"]),
        (format!("{two}start left.knee.angle = 0.1"), vec![]),
    ] {
        let mut found = released(&text);
        found.sort();
        assert_eq!(found, expected, "{text}");
    }
}

/// What is asked of one part is what it is without the others.
#[test]
fn reactions_of_parts_are_their_own() {
    let load = |text: &str| {
        let model =
            model(&format!("{LEGS}{text}\nstart left.hip.angle = 0.3, left.knee.angle' = 2"));
        let run = model.simulate(0.0..0.5).tolerance(1e-11).run().expect("a run");
        run.last().expect("an end")["load"]
    };
    let alone = load("part left = leg\nobserve load = left.knee.force[2]");
    let beside = load("part left = leg\npart right = leg\nobserve load = left.knee.force[2]");
    assert!((alone - beside).abs() < 1e-9 * alone.abs(), "{alone} {beside}");
}
