//! Inputs, outputs, states, tables and events in time, against closed forms and against the same
//! motion told without them.

use dalembert::model::system::Model;
use dalembert::simulate::Setting;
use dalembert::simulate::run::{RunOptions, run};
use dalembert::{Input, Mechanics, Options, parse};

fn model(text: &str) -> Model {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The names of the diagnostics of a text.
fn codes(text: &str) -> Vec<&'static str> {
    match parse(text) {
        Ok(_) => Vec::new(),
        Err(error) => error.diagnostics().iter().map(|d| d.code.name()).collect(),
    }
}

/// Values at the end of a run by a formulation and an integrator.
fn end(model: &Model, to: f64, formulation: &str, method: &str, names: &[&str]) -> Vec<f64> {
    let run =
        model.simulate(0.0..to).tolerance(1e-11).formulation(formulation).method(method).run();
    let run = run.unwrap_or_else(|error| panic!("{formulation} {method}: {error}"));
    let last = run.last().expect("an end");
    names.iter().map(|name| last[*name]).collect()
}

const FORMULATIONS: [&str; 5] = ["lagrange", "poincare", "hamilton", "maggi", "bracket"];
const METHODS: [&str; 4] = ["taylor", "dop853", "radau", "auto"];

fn close(a: &[f64], b: &[f64], within: f64, what: &str) {
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= within * y.abs().max(1.0), "{what}: {a:?} and {b:?}");
    }
}

/// A mass that is a state is the same as a mass that is a function of time, by every formulation
/// and integrator, energy balance included.
#[test]
fn states_are_what_time_is() {
    let by_state = model(
        "coord x, y\nstate mu' = -0.1*mu\nkinetic (1 + mu)/2*(x'^2 + y'^2) + mu*x'*y'/4\n\
         potential (x^2 + y^2)/2*(1 + mu)\nstart x = 1, y' = 0.5, mu = 1",
    );
    let by_time = model(
        "coord x, y\nlet mu = exp(-0.1*t)\nkinetic (1 + mu)/2*(x'^2 + y'^2) + mu*x'*y'/4\n\
         potential (x^2 + y^2)/2*(1 + mu)\nstart x = 1, y' = 0.5",
    );
    let expected = end(&by_time, 3.0, "lagrange", "taylor", &["x", "y", "x'", "y'", "energy"]);
    for formulation in FORMULATIONS {
        let found = end(&by_state, 3.0, formulation, "dop853", &["x", "y", "x'", "y'", "energy"]);
        close(&found, &expected, 1e-8, formulation);
    }
    for method in METHODS {
        let found = end(&by_state, 3.0, "lagrange", method, &["x", "y", "x'", "y'", "energy"]);
        close(&found, &expected, 1e-8, method);
    }
}

/// A constraint that holds a state moves as one that holds time does: rows, multipliers, work.
#[test]
fn constraints_may_hold_states() {
    let text = |z: &str, state: &str| {
        format!(
            "{state}coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\n\
             constraint rod: x^2 + y^2 = (1 + {z})^2\nstart x ~ 1, y = 0.1, x' ~ 0\n\
             observe lam = multiplier(rod)"
        )
    };
    let by_state = model(&text("z", "state z' = w, w' = -z\nstart z = 0, w = 0.3\n"));
    let by_time = model(&text("0.3*sin(t)", ""));
    let names = ["x", "y", "x'", "y'", "lam", "energy"];
    let expected = end(&by_time, 1.0, "lagrange", "dop853", &names);
    for formulation in FORMULATIONS {
        let names = if formulation == "bracket" { &names[..4] } else { &names[..] };
        let found = end(&by_state, 1.0, formulation, "dop853", names);
        close(&found, &expected, 1e-8, formulation);
    }
    for method in METHODS {
        close(&end(&by_state, 1.0, "lagrange", method, &names), &expected, 1e-8, method);
    }
}

/// An input is its formula: in forces, in constraints with two derivatives, in parts.
#[test]
fn inputs_are_their_formulas() {
    let by_input = model(
        "input u = 0.2*sin(3*t), F = t\ncoord x, th\nkinetic (x' + th'*cos(th))^2/2 + (th'*sin(th))^2/2\n\
         potential -9.81*cos(th)\nforce th: F\nconstraint track: x = u\nstart th = 0.3\n\
         output lam = multiplier(track), speed = u'",
    );
    let plain = model(
        "coord x, th\nkinetic (x' + th'*cos(th))^2/2 + (th'*sin(th))^2/2\npotential -9.81*cos(th)\n\
         force th: t\nconstraint track: x = 0.2*sin(3*t)\nstart th = 0.3\n\
         observe lam = multiplier(track), speed = 0.6*cos(3*t)",
    );
    let names = ["x", "th", "th'", "lam", "speed"];
    let expected = end(&plain, 1.5, "lagrange", "auto", &names);
    close(&end(&by_input, 1.5, "lagrange", "auto", &names), &expected, 1e-12, "input");
    let open = by_input.system.open.as_ref().expect("inputs");
    assert_eq!((by_input.system.inputs.len(), by_input.system.outputs.len()), (2, 2));
    // The open system has u, u′ and u″ in b.
    let equations = dalembert::derive(&by_input.opened(), None).expect("equations");
    let symbols = by_input.exprs.symbols_of(&equations.bias);
    assert!(symbols.contains(&open.inputs[0].second), "b holds u″");
    let symbols = by_input.exprs.symbols_of(&equations.force);
    assert!(symbols.contains(&open.inputs[1].symbol), "Q holds F");
}

/// In a part, an input is set by the braces, and otherwise it is an input of the whole.
#[test]
fn inputs_of_parts() {
    let text = "model cart {\n param m = 2\n input F = 0\n coord x\n kinetic m/2*x'^2\n force x: F\n output y = x\n}\n\
                part plant = cart { F = -3*plant.y - plant.y' }\npart other = cart\nstart plant.x = 1";
    let found = model(text);
    let names: Vec<&str> = found.system.inputs.iter().map(|u| u.name.as_str()).collect();
    assert_eq!(names, ["other.F"]);
    assert!(found.system.outputs.is_empty());
    let plain = model("coord x\nkinetic x'^2\nforce x: -3*x - x'\nstart x = 1");
    let expected = end(&plain, 2.0, "lagrange", "auto", &["x"]);
    close(&end(&found, 2.0, "lagrange", "auto", &["plant.x"]), &expected, 1e-10, "part");
    // From outside, one and all entries of a family.
    let text = "model cart {\n input F = 0, u[1..2] = 0\n coord x\n kinetic x'^2/2\n\
                force x: F + u[1] + 2*u[2]\n}\npart plant = cart\npart other = cart";
    for (given, expected) in [
        (["plant.F = t", "other.u[2] = 3"], [2.0, 12.0]),
        (["plant.u = 1", "other.u = [4, 1]"], [6.0, 12.0]),
    ] {
        let options = Options { inputs: given.map(String::from).to_vec(), ..Options::default() };
        let loaded = dalembert::load(&Input::text("model.dal", text), &options);
        let found = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let speeds = end(&found, 2.0, "lagrange", "auto", &["plant.x'", "other.x'"]);
        close(&speeds, &expected, 1e-12, given[0]);
    }
}

/// An input without a value is told at its line, and given in other ways.
#[test]
fn inputs_from_outside() {
    let open = model("input F\ncoord x\nkinetic x'^2/2\nforce x: F");
    let error = open.simulate(0.0..1.0).run().map(|_| ()).expect_err("no value");
    assert_eq!(error.diagnostics()[0].code.name(), "input-without-value");
    let held = dalembert::with_function(&open, "F", (0.0, 2.0), 0.5, |t| t).expect("a function");
    // Held at 0, ½, 1, 3⁄2.
    let expected = [0.5 * 0.5 + 0.5 * 1.0 + 0.5 * 1.5];
    close(&end(&held, 2.0, "lagrange", "auto", &["x'"]), &expected, 1e-10, "held");
    let wrong = dalembert::with_samples(
        &open,
        "G",
        &[0.0, 1.0],
        &[0.0, 1.0],
        dalembert::Interpolation::Linear,
    );
    assert!(wrong.is_err());
    let track = model("input u = 0\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint x = u");
    assert!(dalembert::with_function(&track, "u", (0.0, 1.0), 0.1, |t| t).is_err());
}

/// A table is the polynomial it goes through, in potentials and as a track; by every integrator.
#[test]
fn tables_are_functions() {
    let points: Vec<String> = (0..=12)
        .map(|i| {
            let x = f64::from(i) / 2.0 - 2.0;
            format!("[{x}, {}]", 0.3 * x * x - 0.05 * x * x * x)
        })
        .collect();
    let text = |f: &str| {
        format!(
            "table hill = [{}], cubic, extend\nlet f(x) = {f}\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n\
             potential 9.81*y\nconstraint track: y = f(x)\nstart x = 1.5, x' = 0.2\n\
             observe lam = multiplier(track)",
            points.join(", ")
        )
    };
    let names = ["x", "y", "x'", "lam"];
    let plain = model(&text("0.3*x^2 - 0.05*x^3 + 0*hill(x)"));
    let expected = end(&plain, 2.0, "lagrange", "dop853", &names);
    let by_table = model(&text("hill(x)"));
    for method in METHODS {
        close(&end(&by_table, 2.0, "lagrange", method, &names), &expected, 1e-8, method);
    }
    for formulation in ["poincare", "hamilton", "maggi"] {
        close(&end(&by_table, 2.0, formulation, "auto", &names), &expected, 1e-8, formulation);
    }
}

/// Pieces are stepped from break to break: a linear table is a force that is continuous only.
#[test]
fn breaks_are_met() {
    let found = model(
        "table F = [[0, 0], [1, 2], [1.5, -1], [4, 3]], hold\ncoord x\nkinetic x'^2/2\nforce x: F(t)",
    );
    // ∫F: trapezoids.
    let expected = [0.5 * 2.0 + 0.25 * (2.0 - 1.0) + 2.5 * 0.5 * (3.0 - 1.0) + 3.0];
    for method in METHODS {
        close(&end(&found, 5.0, "lagrange", method, &["x'"]), &expected, 1e-9, method);
    }
}

/// Large tables are looked up, not written out.
/// Tables that go on beside their data have a first and a last piece without an end, and every break
/// between them is met, along time and along a coordinate that goes to and fro.
#[test]
fn tables_that_go_on_meet_all_their_breaks() {
    for between in ["linear", "monotone", "cubic"] {
        for outside in ["hold", "extend", "repeat"] {
            let table = format!(
                "table f = [[0, 0], [0.3, 0.5], [0.7, -0.2], [1.2, 0.4], [1.3, 0.1], [2, 0]], \
                 {between}, {outside}\n"
            );
            let by_time = model(&format!(
                "{table}coord x\nkinetic x'^2/2\nforce x: f(t - 0.6)\n\
                 start x' = 1\nrun t = 0..3"
            ));
            let along = model(&format!(
                "{table}coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 8*(y - 1)^2\n\
                 force x: f(y)\nstart y = 2.4, x' = 1\nrun t = 0..3"
            ));
            for (model, argument) in [(&by_time, "t - 0.6"), (&along, "1 + 1.4*cos(4*t)")] {
                let pieces = 20_000;
                let reference = dalembert::parse(&format!(
                    "{table}coord q\nkinetic q'^2/2\nobserve f({argument})"
                ));
                let reference = reference.unwrap_or_else(|error| panic!("{error}"));
                let of = |t: f64| {
                    let root = reference.system.observes[0].value;
                    reference.exprs.eval_f64(&[root], |_| t)[0]
                };
                // Simpson's rule on pieces so short that bends in them hardly count.
                let h = 3.0 / f64::from(pieces);
                let sum: f64 = (0..pieces)
                    .map(|k| {
                        let t = h * f64::from(k);
                        h / 6.0 * (of(t) + 4.0 * of(t + 0.5 * h) + of(t + h))
                    })
                    .sum();
                for method in METHODS {
                    let found = end(model, 3.0, "lagrange", method, &["x'"]);
                    close(
                        &found,
                        &[1.0 + sum],
                        1e-6,
                        &format!("{between} {outside} {argument} {method}"),
                    );
                }
            }
        }
    }
}

#[test]
fn large_tables() {
    let points: Vec<String> = (0..=10_000)
        .map(|i| format!("[{}, {}]", f64::from(i) / 100.0, (f64::from(i) / 100.0).sin()))
        .collect();
    let found = model(&format!(
        "table wind = [{}], cubic\ncoord x\nkinetic x'^2/2\nforce x: wind(t)",
        points.join(", ")
    ));
    let equations = dalembert::derive(&found, None).expect("equations");
    assert!(equations.count_nodes(&found.exprs) < 30);
    let speed = end(&found, 2.0, "lagrange", "dop853", &["x'"])[0];
    assert!((speed - (1.0 - 2f64.cos())).abs() < 1e-8, "{speed}");
}

/// Events in time happen at their times exactly, the first at the start.
#[test]
fn sampled_events() {
    let found = model(
        "param T = 0.1\ncoord x\nstate u' = 0, n' = 0\nkinetic x'^2/2\nforce x: u\n\
         event tick: every T -> u = -2*x - 3*x', n = n + 1\nstart x = 1",
    );
    let (mut x, mut v, h) = (1.0, 0.0, 0.1);
    for _ in 0..20 {
        let u = -2.0 * x - 3.0 * v;
        (x, v) = (x + h * v + 0.5 * h * h * u, v + h * u);
    }
    for method in METHODS {
        // A little before the 21st.
        let found = end(&found, 2.0 - 1e-9, "lagrange", method, &["x", "x'", "n"]);
        close(&found, &[x, v, 20.0], 1e-7, method);
    }
    let setting = Setting::new(&found).expect("numbers");
    let mut options = RunOptions::of_model(&setting);
    options.end = 0.55;
    let report =
        run(&setting, &options, &mut |_| std::ops::ControlFlow::Continue(())).expect("a run");
    let times: Vec<f64> = report.event_log.iter().map(|e| e.t).collect();
    let expected: Vec<f64> = (0..6).map(|k| 0.0 + f64::from(k) * 0.1).collect();
    assert_eq!(times, expected);
}

/// The rate of a state holds accelerations: the same motion as with what they are written out, by
/// every formulation and integrator.
#[test]
fn states_hold_accelerations() {
    let told = |rate: &str| {
        model(&format!(
            "param m = 2, k = 30, tau = 0.1\ncoord x\nstate a' = ({rate} - a)/tau\n\
             kinetic m/2*x'^2\npotential k/2*x^2\nforce x: -3*a\nstart x = 1",
        ))
    };
    let (fed_back, plain) = (told("x''"), told("(-k*x - 3*a)/m"));
    let expected = end(&plain, 2.0, "lagrange", "taylor", &["x", "a", "x'", "energy"]);
    for formulation in FORMULATIONS {
        let found = end(&fed_back, 2.0, formulation, "dop853", &["x", "a", "x'", "energy"]);
        close(&found, &expected, 1e-9, formulation);
    }
    for method in METHODS {
        let found = end(&fed_back, 2.0, "lagrange", method, &["x", "a", "x'", "energy"]);
        close(&found, &expected, 1e-9, method);
    }
}

/// The same of a reaction, with the joint released and closed: m(g + l(φ̈ cos φ − φ̇² sin φ)).
#[test]
fn states_hold_reactions() {
    let told = |load: &str, coordinates: &str| {
        model(&format!(
            "param m = 2, l = 0.7, g = 9.81, tau = 0.2\ngravity [0, -g]\n\
             body rod: mass m, inertia m*l^2/3, center [l, 0]\njoint A: pin ground, rod\n\
             let turn = (-0.05*load - m*g*l*cos(A.angle))/(4/3*m*l^2)\n\
             state load' = ({load} - load)/tau\ntorque -0.05*load on rod\n\
             start A.angle = -0.4, A.angle' = 3\nrun t = 0..1, coordinates {coordinates}"
        ))
    };
    let formula = "m*(g + l*(turn*cos(A.angle) - A.angle'^2*sin(A.angle)))";
    let plain = told(formula, "relative");
    let expected = end(&plain, 1.0, "lagrange", "taylor", &["A.angle", "A.angle'", "load"]);
    for coordinates in ["relative", "absolute"] {
        let fed_back = told("A.force[2]", coordinates);
        for (formulation, method) in [
            ("lagrange", "taylor"),
            ("hamilton", "dop853"),
            ("poincare", "radau"),
            ("maggi", "taylor"),
        ] {
            let run = fed_back.simulate(0.0..1.0).tolerance(1e-11);
            let run = run.formulation(formulation).method(method).run();
            let run = run.unwrap_or_else(|error| panic!("{formulation} {method}: {error}"));
            let load = run.last().expect("an end")["load"];
            close(&[load], &expected[2..], 1e-8, &format!("{coordinates} {formulation} {method}"));
        }
    }
}

/// A model given by H: rates of momenta and multipliers of rows on velocities.
#[test]
fn states_hold_what_hamilton_solves_for() {
    let told = |rates: &str| {
        model(&format!(
            "coord x, y\nstate {rates}\nhamiltonian p_x^2/4 + p_y^2/6 + 15*x^2 + 9*y - a*x*y\n\
             constraint c: y' = x*x'\nstart x = 1"
        ))
    };
    // 2 ẍ = −30 x + a y − x λ, 3 ÿ = −9 + a x + λ, ÿ = x ẍ + ẋ².
    let lambda = "(x*(-30*x + a*y)/2 + x'^2 - (-9 + a*x)/3)/(1/3 + x^2/2)";
    let plain = told(&format!("a' = (-30*x + a*y - x*{lambda})/2 - 5*a, r' = {lambda} - r"));
    let fed_back = told("a' = x'' - 5*a, r' = multiplier(c) - r");
    let expected = end(&plain, 1.0, "hamilton", "taylor", &["x", "y", "a", "r"]);
    for formulation in ["lagrange", "poincare", "hamilton"] {
        let found = end(&fed_back, 1.0, formulation, "dop853", &["x", "y", "a", "r"]);
        close(&found, &expected, 1e-8, formulation);
    }
}

/// The load of a contact in each of its phases, and the demand of a servo.
#[test]
fn states_hold_loads_and_demands() {
    let slides = model(
        "param m = 1, g = 9.81\ncoord x, y\nstate n' = multiplier(floor) - 2*n, f' = x''\n\
         kinetic m/2*(x'^2 + y'^2)\npotential m*g*y\n\
         contact floor: y >= 0, sliding x', friction 0.3\nstart y = 0, x' = 3",
    );
    // Slips for 3/(0.3 g), and sticks from then on.
    let found = end(&slides, 2.0, "lagrange", "taylor", &["n", "f", "x'"]);
    close(&found, &[9.81 / 2.0 * (1.0 - (-4f64).exp()), -3.0, 0.0], 1e-9, "a load");
    let servo = model(
        "coord x\ninput F\nstate w' = F\nkinetic x'^2\nforce x: F - x'\n\
         constraint track by F: x = sin(t)",
    );
    let found = end(&servo, 1.0, "lagrange", "taylor", &["w"]);
    close(&found, &[2.0 * (1f64.cos() - 1.0) + 1f64.sin()], 1e-10, "a demand");
}

/// Where rows depend on each other there is no formula for what is solved for, and a run says so.
#[test]
fn what_has_no_formula_is_told() {
    let found = model(
        "coord x, y\nstate z' = y'' - z\nkinetic (x'^2 + y'^2)/2\npotential 9*y\n\
         constraint a: y = x^2\nconstraint b: 2*y = 2*x^2\nstart x = 1",
    );
    let error = found.simulate(0.0..1.0).run().expect_err("no number").to_string();
    assert!(error.contains("the rate of state `z` is not a number"), "{error}");
}

/// `start z' = 0` begins where a state rests, also beside a motion that depends on it.
#[test]
fn states_may_start_at_rest() {
    let found = model(
        "coord x\nstate z' = 2 - z - x'\nkinetic x'^2/2\nforce x: z\nstart x = 0, x' = 0.5, z' = 0",
    );
    let start = dalembert::simulate::start::start(&Setting::new(&found).expect("numbers"));
    let q = start.expect("a start").state.q;
    assert!((q[1] - 1.5).abs() < 1e-12, "{q:?}");
}

#[test]
fn small_functions() {
    let value = |text: &str| -> f64 {
        let model = model(&format!(
            "coord x\nkinetic x'^2/2\nparam a = 0.3, b = -0.7, c = 1.1\nlet n = [1, 2, 2]\n\
             let A = [[2, 1, 0], [1, 3, 1], [0, -1, 4]]\nobserve value = {text}"
        ));
        let run = model.simulate(0.0..0.1).run().unwrap_or_else(|error| panic!("{text}: {error}"));
        run.last().expect("an end")["value"]
    };
    for (text, expected) in [
        ("det(Raxis(n, a))", 1.0),
        ("norm(Raxis(n, a)*n - n)", 0.0),
        ("(Raxis(n, a)[1,1] + Raxis(n, a)[2,2] + Raxis(n, a)[3,3] - 1)/2", 0.3f64.cos()),
        ("norm(Rzyx(a, b, c)*n - Rz(a)*(Ry(b)*(Rx(c)*n)))", 0.0),
        ("norm(Rxy(a, b)*n - Rx(a)*(Ry(b)*n))", 0.0),
        ("norm(unit(n))", 1.0),
        ("clamp(3*a, -1, 0.5)", 0.5),
        ("clamp(-3*c, -1, 0.5)", -1.0),
        ("dot(diag(n)*n, [1, 1, 1])", 9.0),
        ("norm(identity(3)*n - n)", 0.0),
        ("det(A)", 22.0),
        ("norm(inverse(A)*(A*n) - n)", 0.0),
        ("mod(7.5, 2)", 1.5),
        ("mod(-0.5, 2)", 1.5),
        ("c - mod(c, 1)", 1.0),
        ("180*deg/pi", 1.0),
        ("½·n[2]² − θ·0", 2.0),
    ] {
        let text = text.replace("θ·0", "a·0");
        let found = value(&text);
        assert!((found - expected).abs() < 1e-12, "{text}: {found} for {expected}");
    }
}

/// What is printed is read back: Greek letters, subscripts, dots above, powers.
#[test]
fn printed_formulas_are_read() {
    let found = model(
        "param m1 = 2, l = 0.5\ncoord theta, x\nkinetic ½·m₁·l²·θ̇² + x'^2/2\npotential −9.81·m₁·l·cos(θ)\n\
         observe a = θ̈, b = ẋ",
    );
    let plain = model(
        "param m1 = 2, l = 0.5\ncoord theta, x\nkinetic m1*l^2*theta'^2/2 + x'^2/2\n\
         potential -9.81*m1*l*cos(theta)\nobserve a = theta'', b = x'",
    );
    let text = |model: &Model| {
        let all: Vec<String> =
            model.system.roots().iter().map(|&id| model.exprs.to_source(id)).collect();
        all.join("\n")
    };
    assert_eq!(text(&found), text(&plain));
}

#[test]
fn faults_are_told() {
    for (text, code) in [
        ("input F = -x\ncoord x\nkinetic x'^2/2\nforce x: F", "input-moves"),
        ("state z = 1\ncoord x\nkinetic x'^2/2", "state-rate"),
        ("state z'' = 1\ncoord x\nkinetic x'^2/2", "state-rate"),
        ("state z' = x''\ncoord x\nkinetic (x' + z)^2/2", "circular-definition"),
        (
            "state z' = multiplier(c)\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x' = z",
            "state-in-constraint",
        ),
        (
            "state z' = y''\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: y = x^2\n\
             nonideal -0.1*abs(multiplier(c))*tanh(x') along x'",
            "state-rate",
        ),
        (
            "input F\nstate z' = F'\ncoord x\nkinetic x'^2/2\nforce x: F\n\
             constraint track by F: x = sin(t)",
            "servo-linear",
        ),
        ("state z' = w', w' = z'\ncoord x\nkinetic x'^2/2", "circular-definition"),
        (
            "coord x, y\nstate z' = y'\nkinetic (x'^2 + y'^2)/2\nconstraint x = z",
            "state-in-constraint",
        ),
        ("table f = [[0, 0], [0, 1]]\ncoord x\nkinetic x'^2/2\nforce x: f(x)", "table-order"),
        ("table f = [[0, 0], [1]]\ncoord x\nkinetic x'^2/2\nforce x: f(x)", "shape"),
        ("table f = \"nowhere.csv\"\ncoord x\nkinetic x'^2/2\nforce x: f(x)", "table-file"),
        (
            "table f = [[0, 0], [1, 1]], hold\ncoord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint y = f(x)",
            "table-smoothness",
        ),
        (
            "table f = [[0, 0], [1, 1]], hold\ninput u = f(t)\ncoord x\nkinetic x'^2/2\nconstraint x = u",
            "input-derivative",
        ),
    ] {
        assert!(codes(text).contains(&code), "{text}: {:?}", codes(text));
    }
}

/// A motion that leaves the data of a table ends there, and says so.
#[test]
fn tables_end() {
    let found = model(
        "table track = [[0, 0], [1, 0.2], [2, 0]], cubic\ncoord x\nkinetic x'^2/2\n\
         potential 9.81*track(x)\nstart x = 1, x' = 3",
    );
    let error = found.simulate(0.0..5.0).run().map(|_| ()).expect_err("it leaves the data");
    assert_eq!(error.diagnostics()[0].code.name(), "table-range", "{error}");
    // Of time: it stops where the data end, and says when.
    let timed =
        model("table push = [[0, 1], [0.5, 1], [1, 2]]\ncoord x\nkinetic x'^2/2\nforce x: push(t)");
    for method in METHODS {
        let error = timed.simulate(0.0..2.0).method(method).run().map(|_| ());
        let error = error.expect_err("it leaves the data").to_string();
        assert!(
            error.contains("of table `push` at t = 1: they are from 0 to 1"),
            "{method}: {error}"
        );
    }
}

/// `as` says how documents print a name, and changes nothing else.
#[test]
fn names_in_documents() {
    let found = model(
        "coord pitch as theta, x[1..2] as q\nparam k1 as \"k_{s}\" = 2\nstate z' as \"\\zeta\" = pitch\n\
         kinetic pitch'^2/2 + dot(x', x')/2\npotential k1/2*pitch^2 + z*x[2]",
    );
    let latex: Vec<String> =
        found.system.roots().iter().map(|&id| found.exprs.to_latex(id)).collect();
    let latex = latex.join("\n");
    for part in ["\\theta", "\\dot{\\theta}", "k_{s}", "\\zeta", "q_{2}"] {
        assert!(latex.contains(part), "{part} in {latex}");
    }
    let source: Vec<String> =
        found.system.roots().iter().map(|&id| found.exprs.to_source(id)).collect();
    let source = source.join("\n");
    assert!(source.contains("pitch'") && source.contains("k1") && !source.contains("theta"));
}

/// Definitions of a library, as if they were written here or behind a dot.
#[test]
fn libraries_are_used() {
    let found = model(
        "use \"dal:solids\"\nuse \"dal:solids\" as solids\ncoord x\nkinetic x'^2/2\n\
         observe a = disk(2, 0.5)[3], b = solids.ball(5, 1)[1], c = rod(12, 1)[1]",
    );
    let run = found.simulate(0.0..0.1).run().unwrap_or_else(|error| panic!("{error}"));
    let last = run.last().expect("an end");
    assert_eq!((last["a"], last["b"], last["c"]), (0.25, 2.0, 0.0));
}
