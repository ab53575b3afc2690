use super::*;

/// The statements of a text as their kinds' names.
fn kinds(text: &str) -> Vec<String> {
    let name = |statement: &Statement| {
        let debug = format!("{:?}", statement.kind);
        debug.split(['(', ' ']).next().unwrap_or("").to_owned()
    };
    statements(text).iter().map(name).collect()
}

#[test]
fn the_examples_of_the_language() {
    let wheels = "system Two wheels on an axle
param m1 = 1, m2 = 2, alpha = 0.3, g = 9.81
coord x1, y1, x2, y2
let r1 = [x1, y1], r2 = [x2, y2], d = r1 - r2
kinetic   m1/2*dot(r1', r1')
        + m2/2*dot(r2', r2')
potential g*(m1*y1 + m2*y2)*sin(alpha)
constraint axle:  dot(d, d) = 1
constraint roll1: dot(d, r1') = 0
constraint roll2: dot(d, r2') = 0          # the three depend on each other: that is fine
start r1 = [0.5, 0], r2 = [-0.5, 0], y1' = 1, y2' = -0.4
run t = 0..10
draw line r1, r2
";
    assert_eq!(
        kinds(wheels),
        [
            "System",
            "Param",
            "Coord",
            "Let",
            "Energy",
            "Energy",
            "Constraint",
            "Constraint",
            "Constraint",
            "Start",
            "Run",
            "Draw"
        ]
    );
    let pole = "system Cart and pole
model pendulum {
  param m = 1, l = 1, X = 0
  coord th
  particle bob: mass m, at [X + l*sin(th), -l*cos(th)]
}
coord x
kinetic 5/2*x'^2
part pole = pendulum { m = 0.3, X = x }
gravity [0, -9.81]
constraint track: x = 0.1*sin(2*t)
start pole.th = 3
observe u = reaction(x, track)             # the force that makes it so
";
    assert_eq!(
        kinds(pole),
        ["System", "Model", "Coord", "Energy", "Part", "Gravity", "Constraint", "Start", "Observe"]
    );
    let disk = "body disk: mass m, inertia [m*r^2/4, m*r^2/2, m*r^2/4], at [x, y, z], turning R
let a = R*[0, 1, 0], n = [0, 0, 1]         # axle, vertical
let d = -r*(n - dot(n, a)*a)/norm(n - dot(n, a)*a)
constraint roll: disk.velocity_at(d) = 0
draw circle disk.position, r, a";
    assert_eq!(kinds(disk), ["Body", "Let", "Let", "Constraint", "Draw"]);
}

#[test]
fn titles_and_spans() {
    let text = "system It's a pendulum  # not this\nlet a =\n  2 # nor this\n";
    let statements = statements(text);
    assert_eq!(statements[0].kind, StatementKind::System("It's a pendulum".into()));
    assert_eq!(&text[statements[0].span.range()], "system It's a pendulum");
    assert_eq!(&text[statements[1].span.range()], "let a =\n  2");
    assert_eq!(&text[statements[1].keyword.range()], "let");
}

#[test]
fn families_and_values() {
    let StatementKind::Param(items) = statement("param m, k[1..3] = [1, 2, 3], a[0, 1..N] = 2")
    else {
        panic!("parameters")
    };
    let shown: Vec<(usize, Option<String>)> = items
        .iter()
        .map(|(family, value)| (family.spans.len(), value.as_ref().map(show)))
        .collect();
    assert_eq!(shown, [(0, None), (1, Some("[1, 2, 3]".into())), (2, Some("2".into()))]);
    let (from, to) = (&items[2].0.spans[0], &items[2].0.spans[1]);
    assert!(from.to.is_none() && to.to.is_some());
    let StatementKind::Coord(coordinates) = statement("coord at, along, th[1..N], in") else {
        panic!("coordinates")
    };
    let names: Vec<&str> = coordinates.iter().map(|family| &*family.name.text).collect();
    assert_eq!(names, ["at", "along", "th", "in"]);
}

#[test]
fn functions_and_entries() {
    let StatementKind::Let(items) = statement("let f(a, b) = a^2 + b, r[0] = [0, 0], x = f (1, 2)")
    else {
        panic!("definitions")
    };
    let names = items[0].arguments.as_ref().map(|names| names.len());
    assert_eq!((names, items[1].entry.indices.len()), (Some(2), 1));
    assert_eq!(show(&items[2].value), "f(1, 2)");
}

#[test]
fn the_three_forms_of_a_force() {
    let shown = |text: &str| match statement(text) {
        StatementKind::Force(form) | StatementKind::Nonideal(form) => match form {
            ForceForm::On { coordinate, value } => {
                format!("{} : {}", show(&coordinate), show(&value))
            }
            ForceForm::At { value, position } => format!("{} at {}", show(&value), show(&position)),
            ForceForm::Along { value, velocity } => {
                format!("{} along {}", show(&value), show(&velocity))
            }
        },
        other => panic!("a force, not {other:?}"),
    };
    assert_eq!(shown("force th[2]: -k*th[2]"), "th[2] : ((-k) * th[2])");
    assert_eq!(shown("force F at r"), "F at r");
    assert_eq!(shown("nonideal -c*s' along s'"), "((-c) * s') along s'");
    assert_eq!(shown("force at: 3"), "at : 3");
    assert_eq!(shown("force along along along"), "along along along");
    assert_eq!(shown("force at at at"), "at at at");
    assert_eq!(shown("force F along wheel.velocity_at(d)"), "F along wheel.velocity_at(d)");
    assert_eq!(shown("force (F\n) at\u{20}r"), "F at r");
}

#[test]
fn what_sticks_and_touches() {
    // What is printed parses to what prints the same.
    for text in [
        "friction 2/5 along x'",
        "friction rub[2]: mu*N along [x', y' - v], static 2*F",
        "contact stop: 1 >= x",
        "contact c[1]: norm(r) - 1 >= 0, restitution e, sliding x', friction 3/10, static 2/5",
        "contact c: y >= 0, while abs(x) <= w/2 and y > -1 or x < 0",
        "contact c: ground normal [0, 0, 1], ball at [0, 1, 0] radius r, friction 3/10",
        "contact c: ground curve [s, sin(s)] by s, ball radius -r",
        "joint c: rolling ground normal [0, 0, 1], wheel radius r axis [0, 1, 0]",
        "event hit: c closes",
        "event hit[1]: a.c[2] opens -> stop",
        "event slip: rub slips -> x' = 0",
        "run t = 0..1, impacts at-once",
    ] {
        let file = File { statements: statements(text), checks: Vec::new() };
        let printed = crate::format::format(&file);
        assert_eq!(printed.trim_end(), text);
    }
    // The words count in their place only.
    let StatementKind::Event { trigger: Trigger::Zero { .. }, .. } =
        statement("event e: closes = opens")
    else {
        panic!("a zero")
    };
    let StatementKind::Contact { gap: Gap::Sides(sides), condition: None, .. } =
        statement("contact radius: normal radius 2, axis")
    else {
        panic!("two sides")
    };
    assert_eq!((show(&sides[0].of), show(&sides[1].of)), ("normal".into(), "axis".into()));
}

#[test]
fn constraints_with_and_without_label() {
    let shown = |text: &str| match statement(text) {
        StatementKind::Constraint { label, left, right, .. } => {
            let label = label.map(|entry| (entry.name.text.to_string(), entry.indices.len()));
            (label, format!("{} = {}", show(&left), show(&right)))
        }
        other => panic!("a constraint, not {other:?}"),
    };
    assert_eq!(shown("constraint x = 1"), (None, "x = 1".into()));
    assert_eq!(shown("constraint rod: x = 1"), (Some(("rod".into(), 0)), "x = 1".into()));
    assert_eq!(shown("constraint rod[i, j]:\n x\n = 1"), (Some(("rod".into(), 2)), "x = 1".into()));
}

#[test]
fn starts_runs_and_observations() {
    let StatementKind::Start(items) = statement("start x = 1, th' = 0.5, z ~ 1.6, a.x + 1 = 2")
    else {
        panic!("a start")
    };
    assert_eq!(items.len(), 4);
    assert_eq!(items[2].relation, StartRelation::Near);
    let run = "run t = 0..10, every 0.01, tol 1e-10, method radau, formulation hamilton, \
               elimination null-space";
    let StatementKind::Run(options) = statement(run) else { panic!("a run") };
    assert_eq!(options.len(), 6);
    let RunOption::Elimination(name) = &options[5] else { panic!("an elimination") };
    assert_eq!(&*name.text, "null-space");
    let StatementKind::Observe(items) = statement("observe height = y + L, energy, x'', a[2] = 3")
    else {
        panic!("observations")
    };
    let named: Vec<bool> = items.iter().map(|item| item.entry.is_some()).collect();
    assert_eq!(named, [true, false, false, true]);
}

#[test]
fn events() {
    let action = |text: &str| match statement(text) {
        StatementKind::Event { trigger: Trigger::Zero { direction, .. }, action, .. } => {
            (direction, action)
        }
        other => panic!("an event, not {other:?}"),
    };
    assert_eq!(action("event hit: y = 0"), (Direction::Both, Action::Record));
    assert_eq!(action("event hit: y = 0 rising -> stop"), (Direction::Rising, Action::Stop));
    let (direction, Action::Reset(resets)) =
        action("event hit: y = 0 falling -> y' = -0.8*y', stop = 2")
    else {
        panic!("a reset")
    };
    assert_eq!((direction, resets.len()), (Direction::Falling, 2));
    let (direction, Action::Reset(resets)) =
        action("event rising: rising = falling rising ->\nstop = 1")
    else {
        panic!("a reset")
    };
    assert_eq!((direction, resets.len()), (Direction::Rising, 1));
}

#[test]
fn loops_models_and_parts() {
    let StatementKind::For { index, range, body } =
        statement("for i in 1..N { for j in 1..i { coord x[i, j] }; let a[i] = 2\n\n}")
    else {
        panic!("a loop")
    };
    assert_eq!((&*index.text, show(&range.to), body.len()), ("i", "N".into(), 2));
    let StatementKind::Part { source, settings, .. } =
        statement("part a[1] = \"cart.dal\" {\n m = 2\n,\n\n X = cart.x }")
    else {
        panic!("a part")
    };
    assert!(matches!(source, PartSource::File(name) if &*name.text == "cart.dal"));
    assert_eq!(settings.len(), 2);
    assert!(matches!(statement("part a = M"), StatementKind::Part { .. }));
    let StatementKind::Model { body, .. } =
        statement("model M { const N = 2; run t = 0..1\nsystem T\n}")
    else {
        panic!("a model")
    };
    assert_eq!(body.len(), 3);
}

#[test]
fn particles_and_bodies() {
    let StatementKind::Particle { fields, .. } = statement("particle bob: mass m, at [X, Y]")
    else {
        panic!("a particle")
    };
    assert_eq!(fields.len(), 2);
    let StatementKind::Body { fields, .. } =
        statement("body b[2]: turning th,\n  inertia I, at [x, y], mass mass*at")
    else {
        panic!("a body")
    };
    let names: Vec<&str> = fields.iter().map(|field| &*field.name.text).collect();
    assert_eq!(names, ["turning", "inertia", "at", "mass"]);
}

#[test]
fn markdown_blocks_are_one_model() {
    let text = "# Title\n```dal\ncoord x\nlet a = 1 +\n```\ntext\n```dal\nfor i in 1..2 {\n```\n\
                ```dal\nlet b[i] = 1\n}\n```\n";
    let mut diagnostics = Vec::new();
    let file = parse(SourceId(0), text, true, &mut diagnostics);
    assert_eq!(file.statements.len(), 3);
    assert_eq!(found(text, &diagnostics), [(Code::Syntax, "")]);
    assert_eq!(diagnostics[0].message, "expected an expression after `+`");
    let mut diagnostics = Vec::new();
    parse(SourceId(0), "# Title\n", true, &mut diagnostics);
    assert_eq!(diagnostics[0].code, Code::NoModelBlock);
}

fn checks(lines: &str) -> (Vec<Check>, Vec<Diagnostic>) {
    let text = format!("```dal\ncoord x\n```\n```check\n{lines}\n```\n");
    let mut diagnostics = Vec::new();
    let file = parse(SourceId(0), &text, true, &mut diagnostics);
    (file.checks, diagnostics)
}

#[test]
fn checks_of_every_form() {
    let (checks, diagnostics) = checks(
        "x'' = -g*sin(th)/L within 1e-12 at start  # a comment
-x = 3 at t = 2
x =
  (1
  + 2) at x = 0.5, x' = 1, t = 0 within 1e-9
agree
agree within 1e-10
conserve energy within 1e-12
conserve -x
motion gauge-free
analyze rank = 2
analyze redundant = [[\"axle\", \"roll\"]]
fault prime-after-number; warning unused-parameter
motion = 3
agree = fault",
    );
    assert_eq!(diagnostics, []);
    use CheckKind::*;
    let kinds: Vec<&CheckKind> = checks.iter().map(|check| &check.kind).collect();
    let [
        Equal { within: Some(_), at: CheckAt::Start, .. },
        Equal { within: None, at: CheckAt::Time(_), .. },
        Equal { within: Some(_), at: CheckAt::State(state), .. },
        Agree { within: None },
        Agree { within: Some(_) },
        Conserve { within: Some(_), .. },
        Conserve { within: None, .. },
        Verdict(verdict),
        Analyze { field, value },
        Analyze { value: list, .. },
        Fault(fault),
        Warning(warning),
        Equal { at: CheckAt::Anywhere, .. },
        Equal { .. },
    ] = &kinds[..]
    else {
        panic!("{kinds:#?}")
    };
    assert_eq!(state.len(), 3);
    assert_eq!((&*verdict.text, &**field, &**value), ("gauge-free", "rank", "2"));
    assert_eq!(list, "[[\"axle\", \"roll\"]]");
    assert_eq!((&*fault.text, &*warning.text), ("prime-after-number", "unused-parameter"));
}

#[test]
fn checks_that_are_none() {
    for line in [
        "x",
        "x > 1",
        "x = ",
        "+ 3",
        "x = 1 on start",
        "analyze rank",
        "analyze rank =",
        "fault no-such-code",
        "x = 1 at",
        "x = 1 at 3",
        "x = 1 at start at start",
        "motion unique 2",
    ] {
        let (_, diagnostics) = checks(&format!("agree\n{line}"));
        assert_eq!(diagnostics.len(), 1, "{line:?}: {diagnostics:#?}");
    }
}
