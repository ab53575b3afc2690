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
        let first = if parent == 0 { "ground".to_owned() } else { format!("b{parent}") };
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
