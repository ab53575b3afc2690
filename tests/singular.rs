//! Singular mass matrices: systems put together from parts equal the same systems
//! in one piece for all masses, zero included, and what a model implies without
//! saying so is found, appended and carries no force.

use dalembert::expr::{ExprId, Random};
use dalembert::model::codes::Code;
use dalembert::model::load::Syntax;
use dalembert::model::system::Level;
use dalembert::simulate::points::hidden::{Completed, CompletionError, Implied, complete};
use dalembert::simulate::{Evaluation, Report, StartError, State, Tolerances, Verdict, report};
use dalembert::{Input, Model, Options};

/// A page of the gallery with a further statement, and values set.
fn page(name: &str, more: &str, set: &str) -> Model {
    let mut input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
    assert_eq!(input.syntax, Syntax::Markdown);
    input.text += &format!("\n```dal\n{more}\n```\n");
    loaded(&input, set)
}

fn text(text: &str, set: &str) -> Model {
    loaded(&Input::text("model.dal", text), set)
}

fn loaded(input: &Input, set: &str) -> Model {
    let set = if set.is_empty() { Vec::new() } else { vec![set.to_owned()] };
    let loaded = dalembert::load(input, &Options { set, ..Options::default() });
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("{shown}\n{}", input.text))
}

/// A model at its start.
fn at_start(model: &Model) -> Report {
    let options = dalembert::simulate::Options::of_model(model);
    report(model, &options).unwrap_or_else(|error| panic!("{error:?}"))
}

fn evaluation(report: &Report) -> &Evaluation {
    report.answers[0].result.as_ref().unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

fn motion(report: &Report) -> Verdict {
    evaluation(report).outcome.motion
}

/// Completes a model; what was appended, and what it does at its start then.
fn completed(model: &mut Model) -> (Vec<Implied>, Report) {
    let complete = |model: &Model| hidden(model).unwrap_or_else(|e| panic!("{e:?}"));
    let (given, Completed { model: whole, added }) =
        (model.system.constraints.len(), complete(model));
    assert_eq!(model.system.constraints.len(), given, "the model itself stays as it is");
    *model = whole;
    let again = complete(model).added;
    assert!(again.is_empty(), "completing again appends {} more", again.len());
    (added, at_start(model))
}

fn hidden(model: &Model) -> Result<Completed, CompletionError> {
    complete(model, &Tolerances::default())
}

/// Positions, velocities, accelerations and constraint forces of coordinates by name.
fn of(model: &Model, report: &Report, names: &[&str]) -> Vec<f64> {
    let State { q, velocity, .. } = &report.state;
    let found = evaluation(report);
    let place = |name: &&str| {
        let mut all = model.system.coordinates.iter();
        all.position(|c| c.name == **name).unwrap_or_else(|| panic!("no `{name}`"))
    };
    let at: Vec<usize> = names.iter().map(place).collect();
    [q, velocity, &found.accelerations, &found.constraint_force]
        .iter()
        .flat_map(|list| at.iter().map(|&i| list[i]))
        .collect()
}

fn multiplier(model: &Model, report: &Report, name: &str) -> f64 {
    let row = model.system.constraints.iter().position(|c| c.name == name).expect("a constraint");
    assert!(!evaluation(report).outcome.indeterminate[row], "`{name}` has no multiplier");
    evaluation(report).outcome.multipliers[row]
}

fn undetermined(model: &Model, report: &Report) -> Vec<String> {
    let flags = evaluation(report).outcome.undetermined.iter();
    let open = flags.zip(&model.system.coordinates).filter(|(open, _)| **open);
    open.map(|(_, c)| c.name.clone()).collect()
}

/// Whether an expression is a constant multiple of what the model observes as `chi`.
fn is_chi(model: &Model, residual: ExprId) -> bool {
    let exprs = &model.exprs;
    let chi = model.system.observes.iter().find(|o| o.name == "chi").expect("`observe chi`");
    let values = parameters(model);
    let [residual, chi] = [residual, chi.value].map(|e| exprs.substitute(&[e], &values)[0]);
    let ratio = (exprs.at(residual) / exprs.at(chi)).id;
    let moving = exprs.symbols_of(&[residual, chi]);
    let slopes: Vec<ExprId> = moving.iter().map(|&s| exprs.derivative(ratio, s)).collect();
    !moving.is_empty() && exprs.is_zero(residual).is_nonzero() && exprs.all_zero(&slopes).is_zero()
}

/// Parameters that are 0 are 0 in what a model implies, too.
fn parameters(model: &Model) -> Vec<(dalembert::expr::Symbol, ExprId)> {
    let system = &model.system;
    let values = dalembert::model::parameters::values(&model.exprs, &system.parameters);
    let zero = system.parameters.iter().filter(|p| values[&p.symbol] == 0.0);
    zero.map(|p| (p.symbol, ExprId::ZERO)).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = b.iter().fold(1f64, |m, x| m.max(x.abs()));
    for (x, y) in a.iter().zip(b) {
        // NaN must not pass for small.
        assert!((x - y).abs() <= tolerance * size, "{what}\n  {a:?}\n  {b:?}");
    }
}

/// Between a tenth and ten, evenly by magnitude.
fn positive(random: &mut Random) -> f64 {
    10f64.powf(random.signed())
}

/// The two descriptions of Udwadia & Phohomsiri's example 3.
fn two_masses(m: [f64; 2], k: [f64; 2], x: f64, v: f64) -> [Model; 2] {
    let whole =
        format!("m1={}, m2={}, k1={}, k2={}, x={x}, q1={x}, x'={v}", m[0], m[1], k[0], k[1]);
    let parts = format!(
        "one.m={}, two.m={}, one.k={}, two.k={}, one.stretch={x}, two.base={x}, one.stretch'={v}",
        m[0], m[1], k[0], k[1]
    );
    // (5.40) if the first mass is missing, (5.49) if the second is.
    let chi = if m[0] == 0.0 {
        ["k1*x - k2*q2", "one.k*one.stretch - two.k*two.stretch"]
    } else {
        ["k2*q2", "two.k*two.stretch"]
    };
    [
        page("two-masses", &format!("observe chi = {}", chi[0]), &whole),
        page("two-masses-from-parts", &format!("observe chi = {}", chi[1]), &parts),
    ]
}

const WHOLE: [&str; 3] = ["x", "q1", "q2"];
const PARTS: [&str; 3] = ["one.stretch", "two.base", "two.stretch"];

#[test]
fn parts_equal_the_whole_for_all_masses() {
    let mut random = Random::new(7);
    let mut cases = 0;
    for m1 in [1.5, 0.0, 1e-3, 2e4] {
        for m2 in [2.5, 0.0, 4e-3, 3e4] {
            if m1 == 0.0 && m2 == 0.0 {
                continue;
            }
            for _ in 0..4 {
                let k = [40.0 * positive(&mut random), 24.0 * positive(&mut random)];
                let (x, v) = (random.signed(), random.signed());
                let case = format!("m = {m1}, {m2}, k = {k:?}, x = {x}, x' = {v}");
                let models = two_masses([m1, m2], k, x, v);
                same_motion(models, [m1, m2], k, &case);
                cases += 1;
            }
        }
    }
    println!("{cases} pairs of models");
    assert_eq!(cases, 60);
}

fn same_motion(mut models: [Model; 2], m: [f64; 2], k: [f64; 2], case: &str) {
    let incomplete = m[0] == 0.0 || m[1] == 0.0;
    let expected = if incomplete { Verdict::HiddenConstraint } else { Verdict::Unique };
    let mut found = Vec::new();
    for (model, names) in models.iter_mut().zip([WHOLE, PARTS]) {
        assert_eq!(motion(&at_start(model)), expected, "{case}");
        let (added, report) = completed(model);
        assert_eq!(added.len(), usize::from(incomplete), "{case}");
        for implied in &added {
            assert_eq!(implied.level, Level::Position);
            let shown = model.exprs.to_text(implied.residual);
            assert!(is_chi(model, implied.residual), "{case}: {shown}");
            let force = 1e-9 * k[0].max(k[1]);
            assert!(multiplier(model, &report, "hidden[1]").abs() <= force, "{case}");
        }
        assert_eq!(motion(&report), Verdict::Unique, "{case}");
        assert!(evaluation(&report).gauss.residual < 1e-12, "{case}");
        found.push(of(model, &report, &names));
    }
    close(&found[1], &found[0], 1e-9, case);
    // What the paper has: (5.39), (5.47) and (5.56).
    let (x, q2) = (found[0][0], found[0][2]);
    let accelerations = match m {
        [0.0, m2] => {
            let f = -k[0] * k[1] * (x + q2) / (m2 * (k[0] + k[1]).powi(2));
            [k[1] * f, k[1] * f, k[0] * f]
        }
        [m1, 0.0] => [-k[0] * x / m1, -k[0] * x / m1, 0.0],
        [m1, m2] => {
            let a = (-k[0] * x + k[1] * q2) / m1;
            [a, a, -a - k[1] * q2 / m2]
        }
    };
    close(&found[0][6..9], &accelerations, 1e-9, case);
}

/// With no mass at all what is left is statics: everything must be slack.
#[test]
fn without_any_mass_there_is_statics() {
    for mut model in two_masses([0.0, 0.0], [40.0, 24.0], 0.0, 0.0) {
        let (added, report) = completed(&mut model);
        assert_eq!(added.len(), 2);
        assert_eq!(motion(&report), Verdict::Unique);
        let found = evaluation(&report);
        let all = found.accelerations.iter().chain(&found.constraint_force);
        assert!(all.chain(&report.state.q).all(|x| x.abs() < 1e-12), "{found:?}");
    }
}

/// Where it holds, an implied constraint changes nothing: a mass that tends to zero
/// has the motion of the completed model as its limit, if it starts in balance.
#[test]
fn the_completed_model_is_the_limit() {
    let (k, x) = ([40.0, 24.0], 0.3);
    let [mut model, _] = two_masses([0.0, 2.5], k, x, 0.0);
    let (_, report) = completed(&mut model);
    let limit = of(&model, &report, &WHOLE);
    // In balance: k2 q2 − k1 x = m1 x'' with the limit's x''.
    for m1 in [1e-3, 1e-6, 1e-9] {
        let q2 = (k[0] * x + m1 * limit[6]) / k[1];
        let set = format!("m1={m1}, x={x}, q1={x}, q2={q2:?}");
        let light = page("two-masses", "", &set);
        let report = at_start(&light);
        let found = of(&light, &report, &WHOLE);
        close(&found[6..8], &limit[6..8], 1e-4, &set);
        close(&found[9..12], &limit[9..12], m1, &set);
    }
}

/// Example 1 from two parts: something that turns and something that weighs.
const WHEEL: &str = "
    model spin { param J = 1; coord theta; kinetic J/2*theta'^2 }
    model weight { param w = 1; coord y; potential -w*y }
    param m = 2, R = 0.5, Ic = 0.25, alpha = 0.5, g = 9.8125
    part wheel = spin { J = m*R^2 + Ic }
    part load = weight { w = m*g }
    constraint roll: load.y = R*sin(alpha)*wheel.theta
";

#[test]
fn wheel_from_parts() {
    let mut random = Random::new(11);
    for m in [2.0, 0.0] {
        for inertia in [0.25, 0.0] {
            for _ in 0..5 {
                let (radius, alpha) = (positive(&mut random), random.signed());
                let set = format!("m={m}, Ic={inertia}, R={radius}, alpha={alpha}");
                let whole = page("singular-wheel", "", &set);
                let parts = text(WHEEL, &set);
                let reports = [at_start(&whole), at_start(&parts)];
                let expected =
                    if m + inertia == 0.0 { Verdict::GaugeFree } else { Verdict::Unique };
                assert!(reports.iter().all(|r| motion(r) == expected), "{set}");
                let a = of(&whole, &reports[0], &["theta", "y"]);
                let b = of(&parts, &reports[1], &["wheel.theta", "load.y"]);
                close(&b, &a, 1e-12, &set);
                if expected == Verdict::GaugeFree {
                    assert_eq!(undetermined(&whole, &reports[0]), ["theta", "y"], "{set}");
                    continue;
                }
                let turn = m * 9.8125 * radius * alpha.sin();
                let theta = turn / (m * radius * radius + inertia);
                close(&a[4..6], &[theta, radius * alpha.sin() * theta], 1e-12, &set);
                close(&a[6..8], &[turn, -m * 9.8125], 1e-12, &set);
            }
        }
    }
}

/// Example 2: the coordinate that nothing determines is named, the rest is as before,
/// and completion has nothing to add. With a force on it there is no motion.
#[test]
fn a_particle_without_mass() {
    let ghost = format!("model ghost {{ coord x }}\npart particle = ghost\n{WHEEL}");
    let mut models = [page("singular-wheel-and-particle", "", ""), text(&ghost, "")];
    let mut found = Vec::new();
    for (model, names) in
        models.iter_mut().zip([["theta", "y", "x"], ["wheel.theta", "load.y", "particle.x"]])
    {
        let (added, report) = completed(model);
        assert!(added.is_empty());
        assert_eq!(motion(&report), Verdict::GaugeFree);
        assert_eq!(undetermined(model, &report), [names[2]]);
        found.push(of(model, &report, &names));
    }
    close(&found[1], &found[0], 1e-14, "the same");
    close(&found[0][6..8], &[6.272484130071656, 1.5035945412229597], 1e-14, "(5.23)");
    close(&found[0][9..], &[4.704363097553742, -19.625, 0.0], 1e-14, "Qᶜ is unique");

    let pulled = page("singular-wheel-and-particle", "force x: 1e-3", "");
    assert_eq!(motion(&at_start(&pulled)), Verdict::HiddenConstraint);
    let result = hidden(&pulled).map(|found| found.added);
    assert!(matches!(result, Err(CompletionError::Contradiction(_))), "{result:?}");
}

/// SPEC's example of a relation hidden among rows: two velocity rows that imply a
/// relation of positions. It is found wherever the start is.
#[test]
fn relation_hidden_among_rows() {
    let model = "
        coord x, y
        kinetic (x'^2 + y'^2)/2
        constraint one: x' + x = 0
        constraint two: x' + y = 0
        observe chi = x - y
    ";
    for start in ["start x = 1, y = 1", "start x = 1", "start x ~ 0.5, y ~ -2", ""] {
        let mut model = text(&format!("{model}{start}"), "");
        let (added, report) = completed(&mut model);
        assert_eq!(added.len(), 1, "{start}");
        assert_eq!(added[0].level, Level::Position);
        assert!(is_chi(&model, added[0].residual));
        assert_eq!(motion(&report), Verdict::Unique);
        let State { q, velocity, .. } = &report.state;
        close(&[q[1], velocity[0], velocity[1]], &[q[0], -q[0], -q[0]], 1e-12, start);
        close(&evaluation(&report).accelerations, &[q[0], q[0]], 1e-12, start);
    }
}

/// A damper at a massless point: the implied constraint is one of velocities.
#[test]
fn hidden_constraint_of_velocities() {
    let mut random = Random::new(3);
    for _ in 0..10 {
        let (k, c) = (positive(&mut random), positive(&mut random));
        let (x, y, v) = (random.signed(), random.signed(), random.signed());
        let mut model = text(
            &format!(
                "param m = 2, k = {k:?}, c = {c:?}
                coord x, y
                kinetic m/2*x'^2
                potential k/2*(x - y)^2
                dissipation c/2*y'^2
                start x = {x:?}, y = {y:?}, x' = {v:?}
                observe chi = c*y' - k*(x - y)"
            ),
            "",
        );
        assert_eq!(motion(&at_start(&model)), Verdict::HiddenConstraint);
        let (added, report) = completed(&mut model);
        assert_eq!(added.len(), 1);
        assert_eq!(added[0].level, Level::Velocity);
        assert!(is_chi(&model, added[0].residual));
        assert_eq!(motion(&report), Verdict::Unique);
        assert!(multiplier(&model, &report, "hidden[1]").abs() < 1e-12 * k.max(1.0));
        let rate = k / c * (x - y);
        let expected = [-k * (x - y) / 2.0, k / c * (v - rate)];
        close(&report.state.velocity, &[v, rate], 1e-12, "velocities");
        close(&evaluation(&report).accelerations, &expected, 1e-12, "accelerations");
    }
}

/// What one round appends may imply more.
#[test]
fn completion_in_two_rounds() {
    // −(x − y) = 0 along z; then x' = z and y' = 0 leave z = 0.
    let mut model = text(
        "coord x, y, z
        kinetic x'^2/2 + y'^2/2
        force z: y - x
        constraint a: x' = z
        constraint b: y' = 0
        start x ~ 1, y = 2
        observe chi = z",
        "",
    );
    let (added, report) = completed(&mut model);
    assert_eq!(added.len(), 2);
    assert!(is_chi(&model, added[1].residual));
    assert_eq!(motion(&report), Verdict::Unique);
    close(&report.state.q, &[2.0, 2.0, 0.0], 1e-12, "positions");

    // x = y from the first two rows; with the third z = 0.
    let mut model = text(
        "coord x, y, z
        kinetic (x'^2 + y'^2 + z'^2)/2
        constraint a: x' + x = 0
        constraint b: x' + y = 0
        constraint c: y' + y = z
        force z: 5
        start x = 1, z ~ 0.5
        observe chi = x - y + z",
        "",
    );
    let (added, report) = completed(&mut model);
    assert_eq!(added.len(), 2);
    assert!(is_chi(&model, added[1].residual));
    assert_eq!(motion(&report), Verdict::Unique);
    close(&report.state.q, &[1.0, 1.0, 0.0], 1e-12, "positions");
    // The force on z is held by the constraint that nobody wrote.
    close(&evaluation(&report).accelerations, &[1.0, 1.0, 0.0], 1e-12, "accelerations");
    close(&evaluation(&report).constraint_force, &[1.0, 1.0, -5.0], 1e-12, "forces");
}

#[test]
fn contradictions_are_told() {
    let cases = [
        // A force where there is neither mass nor constraint.
        "coord x, y\nkinetic x'^2/2\npotential y",
        "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: x'' + y'' = 0\nconstraint b: x'' + y'' = 1",
        "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: x' + y' = x\nconstraint b: x' + y' = x + 1",
    ];
    for case in cases {
        let model = text(case, "");
        let result = hidden(&model).map(|found| found.added);
        let Err(CompletionError::Contradiction(faults)) = &result else {
            panic!("{case}\n{result:?}")
        };
        assert!(faults[0].message.contains("1 = 0"), "{}", faults[0].message);
    }
    // Implied in two steps: x = y, then x = y + 1, and there is no such place.
    let model = text(
        "coord x, y
        kinetic (x'^2 + y'^2)/2
        constraint a: x' + x = 0
        constraint b: x' + y = 0
        constraint c: x' + y + 1 = 0",
        "",
    );
    let result = hidden(&model).map(|found| found.added);
    let Err(CompletionError::Start(StartError::Clash(faults))) = &result else {
        panic!("{result:?}")
    };
    assert_eq!(faults[0].code, Code::ContradictoryConstraints);
}

/// Models that say everything are left as they are.
#[test]
fn nothing_is_added_where_nothing_is_hidden() {
    let mut looked_at = 0;
    for page in dalembert::gallery::pages() {
        // Large, and in tests of its own.
        if page.name == "bricard" {
            continue;
        }
        let model = self::page(page.name, "", "");
        let added = hidden(&model).expect("no contradiction").added;
        let expected = usize::from(page.name == "two-masses-incomplete");
        assert_eq!(added.len(), expected, "{}", page.name);
        looked_at += 1;
    }
    assert!(looked_at >= 40);
}

/// A relation that follows from the dynamics is enforced by nothing. x'' = −2w with
/// the massless w bound to x' implies w' = −2w, which no row says.
#[test]
fn an_implied_row_carries_no_force_even_if_that_takes_another() {
    let model = text(
        "coord x, w\nkinetic x'^2/2\nforce x: -2*w\nforce w: x' - w\n\
         start x = 1, x' = 1, w = 1, w' ~ 5",
        "",
    );
    let Completed { model, added } = hidden(&model).expect("completes");
    assert_eq!(added.len(), 2, "{added:?}");
    let report = at_start(&model);
    let found = evaluation(&report);
    assert_eq!(found.outcome.motion, Verdict::Unique);
    assert!((found.accelerations[0] + 2.0).abs() < 1e-12, "{:?}", found.accelerations);
    assert!(found.outcome.multipliers.iter().all(|l| l.abs() < 1e-12));
}
