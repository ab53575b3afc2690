//! Random machines: trees of bodies with joints of all kinds, in the plane and in space, closed by
//! loops. Relative coordinates, absolute coordinates and the text that the machine words stand for
//! must give the same accelerations of every body and the same reactions of every joint, by all
//! formulations and eliminations.

mod support;

use dalembert::formulations::bodies::force;
use dalembert::formulations::formulations::lagrange;
use dalembert::formulations::picture::Picture;
use dalembert::formulations::{ALL as FORMULATIONS, BodyTree};
use dalembert::gauss::bodies::Said;
use dalembert::gauss::{
    ALONG_TREE, Bodies, DEFAULT, Noise, Outcome, Pattern, Patterns, Scratch, Terms, Tolerances,
};
use dalembert::model::expand::expand;
use dalembert::prelude::*;
use dalembert::simulate::report::{self, Options as Routes};
use dalembert::simulate::{ALL as ELIMINATIONS, Answer, Numbers, Setting, start};
use dalembert::{Input, Model, Options};
use std::f64::consts::TAU;
use std::fmt::Write;
use std::sync::Arc;

/// Relative, of the largest value of its kind.
const TOLERANCE: f64 = 1e-11;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A decimal between −size and size.
    fn number(&mut self, size: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((2.0 * unit - 1.0) * size * 1000.0).round() / 1000.0
    }

    fn vector(&mut self, n: usize, size: f64) -> String {
        let list: Vec<String> = (0..n).map(|_| format!("{}", self.number(size))).collect();
        format!("[{}]", list.join(", "))
    }
}

const SPACE: [&str; 8] =
    ["pin", "slider", "cylinder", "screw", "universal", "ball", "planar", "fixed"];
const PLANE: [&str; 3] = ["pin", "slider", "fixed"];

/// A random machine: its text without loops, the loops, and what is compared.
struct Machine {
    dimension: usize,
    tree: String,
    joints: Vec<(String, &'static str)>,
    bodies: usize,
    /// Kind, first body, second body and attachment on the first of each loop.
    loops: Vec<(&'static str, usize, usize, String)>,
}

fn machine(seed: u64) -> Machine {
    let mut r = Random(seed);
    let n = if seed.is_multiple_of(3) { 2 } else { 3 };
    let bodies = if n == 2 { 2 + r.below(3) } else { 1 + r.below(3) };
    let mut text = String::from("param g = 9.81\n");
    let gravity = if n == 2 { "[0, -g]" } else { "[0, 0, -g]" };
    let _ = writeln!(text, "gravity {gravity}");
    let mut joints = Vec::new();
    let mut parents = vec![0];
    let mut balls = 0;
    for b in 1..=bodies {
        let size = 0.5 + r.number(0.4).abs();
        let inertia = match (n, r.below(2)) {
            (2, _) => format!("{}", 0.1 + r.number(0.1).abs()),
            (_, 0) => format!("[{size}, {}, {}]", size + 0.1, size + 0.2),
            _ => format!("[{size}, {}, {}, 0.02, -0.03, 0.01]", size + 0.1, size + 0.15),
        };
        let mass = 1.0 + r.number(0.5);
        let center = r.vector(n, 0.4);
        let _ = writeln!(text, "body b{b}: mass {mass}, inertia {inertia}, center {center}");
        let kind = loop {
            let kind = if n == 2 { PLANE[r.below(3)] } else { SPACE[r.below(8)] };
            // Small is quick: one quaternion each. Something has to move.
            if (kind == "ball" && balls > 0) || (kind == "fixed" && b == 1) {
                continue;
            }
            break kind;
        };
        balls += usize::from(kind == "ball");
        let parent = r.below(b);
        let mut first = if parent == 0 { "ground".to_owned() } else { format!("b{parent}") };
        if r.below(3) == 0 {
            // By way of a frame that is fixed in it.
            let turn =
                if n == 2 { "0.4".to_owned() } else { format!("Rzx({}, 0.3)", r.number(1.0)) };
            let at = r.vector(n, 0.4);
            let _ = writeln!(text, "frame f{b} on {first}: at {at}, turning {turn}");
            first = format!("f{b}");
        }
        let turning = |r: &mut Random| match (n, r.below(3)) {
            (_, 0) => String::new(),
            (2, _) => format!(" turning {}", r.number(1.0)),
            _ => format!(" turning Rz({})*Rx({})", r.number(1.0), r.number(1.0)),
        };
        let (t1, t2) = (turning(&mut r), turning(&mut r));
        let (u1, u2) = (r.vector(n, 0.6), r.vector(n, 0.6));
        let axis = match (kind, n) {
            ("slider", 2) => format!(", axis {}", r.vector(2, 1.0)),
            ("pin" | "slider" | "cylinder" | "screw", 3) => match r.below(2) {
                0 => ", axis [0, 1, 0]".to_owned(),
                _ => format!(", axis [{}, 0.3, {}]", r.number(1.0), r.number(1.0)),
            },
            ("universal" | "planar", _) => match r.below(2) {
                0 => ", axis [[0, 0, 1], [1, 0, 0]]".to_owned(),
                _ => ", axis [[3, 4, 0], [4, -3, 2*0]]".to_owned(),
            },
            _ => String::new(),
        };
        let pitch = if kind == "screw" { ", pitch 0.4" } else { "" };
        let _ =
            writeln!(text, "joint j{b}: {kind} {first} at {u1}{t1}, b{b} at {u2}{t2}{axis}{pitch}");
        let name = format!("j{b}");
        let coordinates: &[&str] = match kind {
            "pin" | "screw" => &["angle"],
            "slider" => &["slide"],
            "cylinder" => &["slide", "angle"],
            "universal" => &["angle[1]", "angle[2]"],
            "planar" => &["slide[1]", "slide[2]", "angle"],
            _ => &[],
        };
        for c in coordinates {
            let (at, rate) = (r.number(1.2), r.number(1.0));
            let _ = writeln!(text, "start {name}.{c} ~ {at}, {name}.{c}' ~ {rate}");
        }
        if kind == "ball" {
            let _ = writeln!(text, "start {name}.e ~ [0.8, 0.36, -0.48, 0]");
            let _ = writeln!(text, "start {name}.e' ~ [0, 0.2, 0.15, -0.3]");
        }
        joints.push((name, kind));
        parents.push(parent);
    }
    if r.below(2) == 0 {
        let _ = writeln!(text, "force 0.3*t - 0.2 at b{bodies}.point({})[1]", r.vector(n, 0.5));
    }
    let torque = if n == 2 { "0.4".to_owned() } else { r.vector(3, 0.5) };
    let _ = writeln!(text, "torque {torque} on b{bodies} from ground");
    let _ = writeln!(
        text,
        "spring 3, 0.2 between {}, b{bodies}.point({})",
        r.vector(n, 2.0),
        r.vector(n, 0.5)
    );
    let _ = writeln!(text, "damper 0.3 between {}, b1.position", r.vector(n, 2.0));
    let mut loops = Vec::new();
    // What can move between two bodies; a loop must leave some of it, or its rows are not
    // independent by more than rounding.
    let kinds: &[(&'static str, usize, usize)] = match n {
        2 => &[("pin", 2, 0), ("slider", 1, 1)],
        _ => &[("ball", 3, 0), ("universal", 3, 1), ("cylinder", 2, 2), ("planar", 1, 2)],
    };
    let mut fitting = Vec::new();
    for second in 2..=bodies {
        for first in 0..second {
            let (moves, turns) = between(first, second, &parents, &joints);
            let fits = kinds
                .iter()
                .filter(|kind| moves > kind.1 + kind.2 && (kind.2 == 0 || turns > kind.2));
            fitting.extend(fits.map(|kind| (kind.0, first, second)));
        }
    }
    if !fitting.is_empty() {
        let (kind, first, second) = fitting[r.below(fitting.len())];
        loops.push((kind, first, second, r.vector(n, 0.5)));
    }
    Machine { dimension: n, tree: text, joints, bodies, loops }
}

/// How many coordinates, and how many turns, there are between two bodies.
fn between(
    first: usize,
    second: usize,
    parents: &[usize],
    joints: &[(String, &'static str)],
) -> (usize, usize) {
    let path = |mut body: usize| {
        let mut path = Vec::new();
        while body > 0 {
            path.push(body);
            body = parents[body];
        }
        path
    };
    let (a, b) = (path(first), path(second));
    let apart = a.iter().filter(|x| !b.contains(x)).chain(b.iter().filter(|x| !a.contains(x)));
    apart.fold((0, 0), |(moves, turns), &body| {
        let (more, turning) = match joints[body - 1].1 {
            "pin" | "screw" => (1, 1),
            "slider" => (1, 0),
            "cylinder" => (2, 1),
            "universal" => (2, 2),
            "ball" => (3, 3),
            "planar" => (3, 1),
            _ => (0, 0),
        };
        (moves + more, turns + turning)
    })
}

fn load(text: &str, coordinates: &str) -> Model {
    let options = Options { coordinates: Some(coordinates.into()), ..Options::default() };
    let loaded = dalembert::load(&Input::text("machine.dal", text), &options);
    assert!(!loaded.is_faulty(), "{}\n{text}", support::render(&loaded));
    loaded.model.expect("no faults")
}

/// The values of the model's outputs at its start, and how far its routes differ there.
fn outputs(
    model: &Model,
    text: &str,
    every_route: bool,
) -> Result<(Vec<(String, f64)>, f64), String> {
    let setting = Setting::new(model).map_err(|_| "values are missing".to_owned())?;
    let begin = start::start(&setting).map_err(|e| format!("no start: {e:?}\n{text}"))?;
    let mut routes = Routes::of_model(model);
    if every_route {
        routes.formulations = FORMULATIONS.to_vec();
        routes.eliminations = ELIMINATIONS.to_vec();
    }
    routes.eliminations.push(ALONG_TREE);
    let report = report::at(&setting, &begin.state, &routes).map_err(|e| format!("{e:?}"))?;
    if BodyTree::of(&model.exprs, &model.system).is_some() {
        let is_it = |a: &&Answer| (a.formulation, a.elimination) == ("lagrange", ALONG_TREE.name());
        let own = report.answers.iter().find(is_it).ok_or("no answer along the tree")?;
        own.result.as_ref().map_err(|why| format!("along the tree: {why}"))?;
    }
    let evaluation = report.answers.iter().find_map(|answer| answer.result.as_ref().ok());
    let evaluation = evaluation.ok_or("no route has numbers")?;
    if !evaluation.outcome.motion.exists() {
        return Err(format!("the motion is {}", evaluation.outcome.motion.name()));
    }
    let numbers = support::observed(&setting, &begin.state, evaluation, &report);
    let names = model.system.observes.iter().map(|o| o.name.clone());
    Ok((names.zip(numbers).collect(), report.agreement.unwrap_or(0.0)))
}

/// The text with loops that close at the start of the tree, and what is observed.
fn closed(machine: &Machine) -> String {
    let n = machine.dimension;
    let mut text = machine.tree.clone();
    for (at, (kind, first, second, u)) in machine.loops.iter().enumerate() {
        let body = if *first == 0 { "ground".to_owned() } else { format!("b{first}") };
        let turn = if n == 3 {
            (1..=3)
                .flat_map(|i| (1..=3).map(move |j| (i, j)))
                .map(|(i, j)| {
                    format!("dot(b{second}.vector({}), {body}.vector({}))", unit(i), unit(j))
                })
                .collect()
        } else {
            vec![
                format!("dot(b{second}.vector([1, 0]), {body}.vector([1, 0]))"),
                format!("cross(b{second}.vector([1, 0]), {body}.vector([1, 0]))"),
            ]
        };
        let asked = format!(
            "{}\nobserve b{second}.local({body}.point({u}))\nobserve {}",
            machine.tree,
            turn.join(", ")
        );
        let model = load(&asked, "relative");
        let (values, _) = outputs(&model, &asked, false).expect("a tree can begin anywhere");
        let numbers: Vec<f64> = values.into_iter().map(|v| v.1).collect();
        let (place, turn) = numbers.split_at(n);
        let list = |v: &[f64]| {
            let list: Vec<String> = v.iter().map(|x| format!("{x:?}")).collect();
            format!("[{}]", list.join(", "))
        };
        let turning = match n {
            2 => format!("{:?}", turn[1].atan2(turn[0])),
            _ => format!("[{}, {}, {}]", list(&turn[..3]), list(&turn[3..6]), list(&turn[6..])),
        };
        let axis = match (*kind, n) {
            ("slider", 2) => ", axis [0.6, 0.8]",
            ("cylinder", _) => ", axis [0, 0.6, 0.8]",
            ("universal" | "planar", _) => ", axis [[1, 0, 0], [0, 1, 0]]",
            _ => "",
        };
        let _ = writeln!(
            text,
            "loop k{at}: {kind} {body} at {u}, b{second} at {} turning {turning}{axis}",
            list(place)
        );
        let _ = writeln!(text, "observe k{at}.force, k{at}.torque");
    }
    for (name, kind) in &machine.joints {
        let _ = writeln!(text, "observe {name}.force, {name}.torque, {name}.omega, {name}.point");
        let own: &[&str] = match *kind {
            "pin" | "screw" => &["angle"],
            "slider" => &["slide"],
            "cylinder" => &["slide", "angle"],
            "universal" => &["angle[1]", "angle[2]"],
            "planar" => &["slide[1]", "slide[2]", "angle"],
            _ => &[],
        };
        for c in own {
            let _ = writeln!(text, "observe {name}.{c}, {name}.{c}', {name}.{c}''");
        }
    }
    for b in 1..=machine.bodies {
        let _ = writeln!(text, "observe b{b}.position, b{b}.velocity, b{b}.velocity', b{b}.omega'");
    }
    text
}

fn unit(i: usize) -> &'static str {
    ["[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"][i - 1]
}

/// The largest difference of two lists, relative to their largest value. Reactions that are not
/// unique are null in both.
fn difference(a: &[(String, f64)], b: &[(String, f64)]) -> (f64, String) {
    assert_eq!(a.len(), b.len(), "as many outputs");
    let scale = a.iter().chain(b).map(|v| v.1.abs()).filter(|v| v.is_finite()).fold(1.0, f64::max);
    let mut worst = (0.0, String::new());
    for (x, y) in a.iter().zip(b) {
        let off = match (x.1.is_nan(), y.1.is_nan()) {
            (true, true) => 0.0,
            (false, false) => (x.1 - y.1).abs() / scale,
            // One choice of coordinates may leave open what the other one decides.
            _ => 0.0,
        };
        if off > worst.0 {
            worst = (off, format!("{}: {} and {}", x.0, x.1, y.1));
        }
    }
    worst
}

/// Γ of the bodies along the tree of a model is its mass matrix, and articulated inertias solve what
/// the matrix does: accelerations, multipliers, ranks.
fn along_tree(model: &Model) -> Result<(), String> {
    let setting = Setting::new(model).map_err(|_| "values are missing".to_owned())?;
    let begin = start::start(&setting).map_err(|e| format!("no start: {e:?}"))?;
    let (exprs, system) = (&model.exprs, &model.system);
    let Some(tree) = BodyTree::of(exprs, system) else { return Err("there is no tree".into()) };
    let said: Vec<Said> = tree
        .links
        .iter()
        .map(|link| {
            let (parent, columns) = (link.parent, link.columns.clone());
            Said { parent, columns, has_rest: link.has_rest }
        })
        .collect();
    let n = system.n_coordinates();
    let bodies = Bodies::new(n, tree.is_plane, &said).ok_or("no tree of the coordinates")?;
    let numbers = tree.links.iter().flat_map(|link| &link.numbers);
    let numbers: Vec<_> = tree.diagonal.iter().chain(numbers).copied().collect();
    let values = setting.numbers(&numbers, &begin.state.table(system));
    let picture = Picture::new(exprs, system).map_err(|_| "no picture")?;
    let equations = lagrange::equations(exprs, &picture);
    let dense = Numbers::new(&setting, &equations, &begin.state).map_err(|e| format!("{e:?}"))?;
    let full = bodies.dense(&values);
    let most = dense.metric.iter().fold(0f64, |m, x| m.max(x.abs()));
    for (k, (a, b)) in full.iter().zip(&dense.metric).enumerate() {
        let own = if k % (n + 1) == 0 { (values[k / (n + 1)] - b).abs() } else { 0.0 };
        if (a - b).abs().max(own) > 1e-13 * most {
            return Err(format!("Γ[{}, {}] is {a} and {b}", k / n, k % n));
        }
    }
    // What the recursion along bodies makes of their energies, and the rest of L, is F.
    let force = force(exprs, system, &tree).ok_or("no recursion along the tree")?;
    let others = exprs.sum(&system.tree.others);
    let left = (exprs.at(others) - exprs.at(exprs.sum(&system.tree.potentials))).id;
    let (q, v) = (system.positions(), system.velocities());
    let slopes = exprs.gradient(left, &q);
    let rates: Vec<_> = picture.rates(&v.iter().map(|&s| exprs.of_symbol(s)).collect::<Vec<_>>());
    let bias = exprs.directional(&exprs.gradient(others, &v), &rates);
    let parts: Vec<_> = [force, slopes, picture.impressed.clone(), bias].concat();
    let parts = setting.numbers(&parts, &begin.state.table(system));
    let most = dense.force.iter().chain(&parts).fold(1f64, |m, x| m.max(x.abs()));
    for (i, f) in dense.force.iter().enumerate() {
        let own = parts[i] + parts[n + i] + parts[2 * n + i] - parts[3 * n + i];
        if (own - f).abs() > 1e-12 * most {
            return Err(format!("F[{i}] is {own} and {f}"));
        }
    }
    let pattern = Arc::new(Pattern::of_bodies(bodies));
    let rows = Arc::new(Pattern::new(n, (0..dense.bias.len()).map(|_| 0..n)));
    let terms = dense.terms();
    let nothing = vec![0.0; values.len()];
    let of_tree = Terms {
        metric: &values,
        // Rows that depend on others agree up to the rounding of the state.
        noise: terms.noise.map(|noise| Noise { metric: &nothing, ..noise }),
        inertia: &[],
        patterns: Some(Patterns { metric: &pattern, jacobian: &rows }),
        ..terms
    };
    let (mut one, mut two) = (Outcome::default(), Outcome::default());
    let tolerances = Tolerances::default();
    let solve = |terms: &Terms, outcome: &mut Outcome| {
        DEFAULT.solve(&mut Scratch::default(), terms, &tolerances, outcome)
    };
    solve(&of_tree, &mut one).map_err(|e| format!("along the tree: {e:?}"))?;
    solve(&terms, &mut two).map_err(|e| format!("{e:?}"))?;
    if one.motion != two.motion || one.rank.jacobian != two.rank.jacobian {
        return Err(format!("{:?} and {:?}", one.rank, two.rank));
    }
    for (what, a, b) in [("v̇", &one.v_dot, &two.v_dot), ("λ", &one.multipliers, &two.multipliers)]
    {
        let most = a.iter().chain(b).fold(1f64, |m, x| m.max(x.abs()));
        let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if a.len() != b.len() || off > TOLERANCE * most {
            return Err(format!("along the tree {what} is off by {off:e} of {most}"));
        }
    }
    Ok(())
}

/// What was found of one machine: how many numbers were compared, and how many loops it has.
fn compare(seed: u64) -> Result<(usize, usize), String> {
    let machine = machine(seed);
    let text = closed(&machine);
    let relative = load(&text, "relative");
    let absolute = load(&text, "absolute");
    let again = load(&expand(&relative), "relative");
    let both = load(&expand(&absolute), "relative");
    let mut all = Vec::new();
    let models = [
        (&relative, "relative"),
        (&absolute, "absolute"),
        (&again, "expanded"),
        (&both, "absolute, expanded"),
    ];
    for (model, what) in models {
        // All routes of machines that are small; of the others, all coordinates.
        let small = machine.dimension == 2 || machine.bodies == 1 || seed % 40 == 1;
        let (values, routes) = outputs(model, &text, small && !what.ends_with("expanded"))
            .map_err(|why| format!("{what}: {why}\n{text}"))?;
        if routes > TOLERANCE {
            return Err(format!("{what}: routes differ by {routes:e}\n{text}"));
        }
        all.push((values, what));
    }
    along_tree(&relative).map_err(|why| format!("{why}\n{text}"))?;
    let (first, others) = all.split_first().expect("four");
    for (values, what) in others {
        let (off, which) = difference(&first.0, values);
        if off > TOLERANCE {
            return Err(format!("{what}: off by {off:e} at {which}\n{text}"));
        }
    }
    Ok((first.0.iter().filter(|v| v.1.is_finite()).count(), machine.loops.len()))
}

#[test]
fn relative_absolute_and_expanded_agree() {
    let only = std::env::var("DALEMBERT_SEED").ok().and_then(|text| text.parse().ok());
    let cases = support::share(120, 3) as u64;
    let seeds = only.map_or(0..cases, |seed: u64| seed..seed + 1);
    let (mut compared, mut loops, mut failed) = (0, 0, Vec::new());
    for seed in seeds {
        match std::panic::catch_unwind(|| compare(seed)) {
            Ok(Ok((numbers, closed))) => (compared, loops) = (compared + numbers, loops + closed),
            Ok(Err(why)) => failed.push(format!("seed {seed}, {why}")),
            Err(_) => failed.push(format!("seed {seed} panicked")),
        }
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    let enough = compared > 20 * cases as usize && loops > cases as usize / 8;
    assert!(only.is_some() || enough, "{compared} values, {loops} loops");
}

/// A pin and a screw that go around several times: where they close, angles go on over turns, and
/// the thread does not lose its place.
#[test]
fn angles_go_on_over_turns() {
    let text = "
        body arm: mass 1, inertia [0.1, 0.2, 0.3], center [0.1, 0, 0]
        body nut: mass 1, inertia [0.1, 0.2, 0.3], center [0.1, 0.2, 0]
        joint base: pin ground, arm, axis [0, 1, 1]
        joint thread: screw arm at [1, 0, 0], nut, axis [1, 0, 0], pitch 0.3
        force base.angle: 0.2
        force thread.angle: 0.4
        gravity [0, 0, -2]
        spring 0.3 at thread.angle
        start base.angle' = 12, thread.angle' = -9
    ";
    let end = |coordinates: &str| {
        let motion = load(text, coordinates).simulate(0.0..4.0).tolerance(1e-12).run();
        let motion = motion.expect("it moves");
        let last = motion.at(4.0).expect("its end");
        [last["base.angle"], last["thread.angle"]]
    };
    let (relative, absolute) = (end("relative"), end("absolute"));
    assert!(relative[0] > 8.0 * std::f64::consts::PI, "{relative:?}");
    for (a, b) in relative.iter().zip(absolute) {
        assert!((a - b).abs() < 1e-9 * a.abs(), "{relative:?} and {absolute:?}");
    }
}

/// What a joint carries by way of frames, also one that a joint carries itself, begins in absolute
/// coordinates where it does in relative ones.
#[test]
fn starts_go_down_the_tree_by_way_of_frames() {
    let text = "
        gravity [0, 0, -9.81]
        body arm: mass 1, inertia [0.1, 0.2, 0.3], center [0.1, 0, 0]
        joint shoulder: universal ground, arm, axis [[0, 0, 1], [0, 1, 0]]
        frame hand on arm: at [0.4, 0.1, 0], turning Rx(0.7)
        frame fork
        joint twist: pin hand, fork, axis [1, 0, 0]
        body tool: mass 0.5, inertia [0.1, 0.1, 0.2], center [0, 0.1, 0.1]
        joint grip: slider fork at [0.1, 0, 0] turning Ry(0.3), tool, axis [0, 0, 1]
        frame tip on tool: at [0, 0, 0.3]
        body flag: mass 0.2, inertia [0.1, 0.1, 0.1]
        joint weld: fixed tip turning Rz(0.2), flag
        start shoulder.angle[1] = 2, shoulder.angle[2] = -1.2, twist.angle = 2.5, grip.slide = 0.3
        start shoulder.angle[1]' = 1, shoulder.angle[2]' = 0.4, twist.angle' = -2, grip.slide' = 0.5
        observe flag.position, flag.velocity, flag.omega, tool.rotation*[1, 0, 0], grip.force
    ";
    let of = |coordinates: &str| outputs(&load(text, coordinates), text, false).expect("numbers").0;
    let (off, which) = difference(&of("relative"), &of("absolute"));
    assert!(off < TOLERANCE, "{off:e} at {which}");
}

/// The rows of a weld hold as well where its sides are turned by half a turn, and those of a pin where
/// its axes point against each other. A start near that finds the joint as it is meant, and one on it
/// is refused.
#[test]
fn joints_close_the_right_way_round() {
    let bodies = "
        body a: mass 1, inertia [1, 1.2, 1.4], center [0.1, 0, 0], free
        observe a.rotation*[0, 1, 0], a.rotation*[1, 0, 0]
    ";
    let begin = |joint: &str, start: &str| {
        let text = format!("{bodies}\njoint J: {joint}\nstart {start}\n");
        let model = load(&text, "relative");
        let setting = Setting::new(&model).expect("values");
        let found = start::start(&setting).map(|start| {
            let roots: Vec<_> = model.system.observes.iter().map(|o| o.value).collect();
            setting.numbers(&roots, &start.state.table(&model.system))
        });
        found.map_err(|error| match error {
            start::StartError::Clash(faults) => faults[0].code.name().to_owned(),
            other => format!("{other:?}"),
        })
    };
    for start in ["a.e ~ [0.1, 1, 0.05, 0]", "a.e ~ [0.1, 0.1, 1, 0]", "a.e ~ [0.2, 0, 0.3, 1]"] {
        let welded = begin("fixed ground, a", start).expect("a start");
        assert!((welded[1] - 1.0).abs() < 1e-12 && (welded[3] - 1.0).abs() < 1e-12, "{welded:?}");
        for kind in ["pin ground, a, axis [0, 1, 0]", "cylinder ground, a, axis [0, 2, 0]"] {
            let found = begin(kind, start).expect("a start");
            assert!((found[1] - 1.0).abs() < 1e-12, "{kind}: {found:?}");
        }
    }
    for kind in
        ["fixed ground, a", "pin ground, a, axis [0, 1, 0]", "slider ground, a, axis [1, 0, 0]"]
    {
        let refused = begin(kind, "a.rotation = Rx(pi)");
        assert_eq!(refused.as_ref().map_err(String::as_str), Err("joint-reversed"), "{kind}");
    }
    for (guess, wanted) in [(2.2, Some(0.0)), (-2.5, Some(0.0)), (3.0, None), (6.0, Some(TAU))] {
        let plane = format!(
            "body a: mass 1, inertia 1, free\njoint J: fixed ground, a\nstart a.angle ~ {guess}\n"
        );
        let model = load(&plane, "relative");
        let setting = Setting::new(&model).expect("values");
        let angle = start::start(&setting).expect("a start").state.q[2];
        assert!((angle.cos() - 1.0).abs() < 1e-12, "{guess}: {angle}");
        assert!(wanted.is_none_or(|wanted| (angle - wanted).abs() < 1e-9), "{guess}: {angle}");
    }
}

/// A loop that adds nothing but what rounded numbers leave open: two pins between the same two bodies,
/// a ball joint between two that turn about one axis. What its rows are off by is rounding, and decides
/// nothing.
#[test]
fn loops_of_rounded_numbers_add_nothing() {
    let two_pins = "
        gravity [0, -9.81]
        body b1: mass 1.07, inertia 0.49, center [-0.106, 0.112]
        joint j1: pin ground at [0.171, 0.33] turning 0.202, b1 at [-0.04, -0.183] turning 0.826
        body b2: mass 1.41, inertia 0.28, center [0.243, -0.295]
        joint j2: pin b1 at [-0.339, -0.433] turning -0.269, b2
        start j1.angle ~ -0.366, j1.angle' ~ 0.204
        start j2.angle ~ -1.814, j2.angle' ~ 0
        loop k: pin b2 at [-0.9680851646702184, 0.09354738876866472], b1 at [0.217, 0.365]
        observe j1.angle'', j2.angle'', j2.angle
    ";
    let model = load(two_pins, "relative");
    let (values, _) = outputs(&model, two_pins, false).expect("numbers");
    // One rigid body on a pin.
    let rigid = two_pins.replace("loop k", "# loop k").replace("joint j2: pin", "joint j2: fixed");
    let rigid = rigid.replace("-0.269, b2", "-0.269 - 1.814, b2").replace("start j2", "# start j2");
    let rigid = rigid.replace("observe j1.angle'', j2.angle'', j2.angle", "observe j1.angle''");
    let (wanted, _) = outputs(&load(&rigid, "relative"), &rigid, false).expect("numbers");
    assert!((values[0].1 - wanted[0].1).abs() < 1e-9 * wanted[0].1.abs(), "{values:?} {wanted:?}");
    assert!(values[1].1.abs() < 1e-9 && (values[2].1 + 1.814).abs() < 1e-12, "{values:?}");
}

/// The angle of a joint that closes is a coordinate, whose row holds at every half of a turn. At the
/// start it is what the poses make it, between −π and π unless `start` says which turn it is on.
#[test]
fn angles_that_close_begin_on_their_turn() {
    let text = |start: &str, at: f64| {
        format!(
            "body crank: mass 1, inertia [0.1, 0.1, 0.01], center [0.5, 0, 0]
            body rod: mass 1.5, inertia [0.2, 0.2, 0.01], center [1, 0, 0]
            body rocker: mass 2, inertia [0.3, 0.3, 0.02], center [0.6, 0, 0.1]
            joint A: pin ground, crank, axis [0, -1, 0]
            joint B: pin crank at [1, 0, 0], rod, axis [0, -1, 0]
            joint D: pin ground at [2.5, 0, 0], rocker, axis [0, -1, 0]
            loop C: pin rocker at [1.5, 0, 0], rod at [2, 0, 0] turning Ry({at}), axis [0, -1, 0]
            spring 3, 0.2 at C.angle
            observe A.angle + B.angle - D.angle - {at}, C.angle, A.angle''
            start A.angle = 1.2, B.angle ~ -0.9, D.angle ~ 1.8, A.angle' = 1
            {start}"
        )
    };
    for at in [-2.5, -1.2, 0.0, 0.7, 1.9, 3.0] {
        let mut accelerations = Vec::new();
        for (start, turns) in
            [("", 0.0), ("start C.angle ~ 6.5", 1.0), ("start C.angle ~ -13", -2.0)]
        {
            let text = text(start, at);
            let (values, _) = outputs(&load(&text, "relative"), &text, false).expect("numbers");
            let (wanted, found) = (values[0].1, values[1].1);
            let off = (found - wanted) / TAU;
            assert!((off - off.round()).abs() < 1e-12, "{at}, {start}: {found} for {wanted}");
            match turns == 0.0 {
                true => assert!(found.abs() < TAU / 2.0 + 1e-12, "{at}: {found}"),
                false => assert!((found - turns * 6.5).abs() < TAU / 2.0, "{at}, {start}: {found}"),
            }
            accelerations.push((values[2].1, found));
        }
        // Another turn winds the spring.
        assert!(accelerations[0].1 != accelerations[1].1, "{accelerations:?}");
    }
}

/// A linkage of the plane told in space, all bodies with coordinates of their own: three of its rows
/// follow from the others. Out of the plane all is rounding, which is no scale.
#[test]
fn a_linkage_of_the_plane_in_space_is_redundant() {
    let text = "
        gravity [0, 0, -9.81]
        body crank: mass 1, inertia [0.1, 0.1, 0.01], center [0.5, 0, 0]
        body rod: mass 1.5, inertia [0.2, 0.2, 0.01], center [1, 0, 0]
        body rocker: mass 2, inertia [0.3, 0.3, 0.02], center [0.6, 0, 0.1]
        joint A: pin ground, crank, axis [0, -1, 0]
        joint B: pin crank at [1, 0, 0], rod, axis [0, -1, 0]
        joint D: pin ground at [2.5, 0, 0], rocker, axis [0, -1, 0]
        loop C: pin rocker at [1.5, 0, 0], rod at [2, 0, 0], axis [0, -1, 0]
        start A.angle = 1.2, B.angle ~ -0.9, D.angle ~ 1.8, A.angle' = 1
        observe rod.velocity', rod.omega', C.force[1], C.force[3]
    ";
    for axis in ["[0, -1, 0]", "[0, 1, 0]", "[0, 0, 1]"] {
        let text = text.replace("[0, -1, 0]", axis);
        let of = |coordinates: &str| {
            let found = outputs(&load(&text, coordinates), &text, false);
            found.unwrap_or_else(|why| panic!("{axis}, {coordinates}: {why}")).0
        };
        let (off, which) = difference(&of("relative"), &of("absolute"));
        assert!(off < TOLERANCE, "{axis}: {off:e} at {which}");
    }
}
