//! The consistent start where it is not plain: dependent rows, no mass, momenta and
//! quasi-velocities among the equations, rows that depend on time, guesses at
//! singular points, and equations that contradict each other, by name and place.

mod support;

use dalembert::Model;
use dalembert::simulate::start::{Start, StartError, start};
use dalembert::simulate::{Options, Setting, report};
use support::oracle_model::{error, model};

const TOLERANCE: f64 = 1e-13;

fn found(model: &Model) -> Start {
    let setting = Setting::new(model).expect("values");
    start(&setting).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Message and labels of a clash: the text that each label covers, and what it says.
fn clash(text: &str) -> (String, String, Vec<(String, String)>) {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    let Err(StartError::Clash(faults)) = start(&setting) else { panic!("a start for\n{text}") };
    assert_eq!(faults.len(), 1, "{faults:?}");
    let covered = |span: dalembert::model::span::Span| {
        let text = &model.sources.get(span.source).text;
        text[span.start as usize..span.end as usize].to_owned()
    };
    let labels = faults[0].labels.iter().map(|l| (covered(l.span), l.text.clone())).collect();
    (faults[0].code.name().to_owned(), faults[0].message.clone(), labels)
}

fn close(found: &[f64], expected: &[f64]) {
    let off = error(found, expected);
    assert!(off <= TOLERANCE, "{found:?} instead of {expected:?}: off by {off:e}");
}

/// What is left of every constraint and of its rate, in units of its rounding.
fn on_the_constraints(model: &Model, start: &Start) {
    let setting = Setting::new(model).expect("values");
    let options = Options::of_model(model);
    let report = report::at(&setting, &start.state, &options).expect("a report");
    for residual in &report.residuals {
        assert!(residual.relative < 1e-12, "{residual:?}");
    }
}

const PARALLELOGRAM: &str = "param a = 1.25, d = 2
    coord x1, y1, x2, y2
    kinetic x1'^2 + y1'^2 + 3/2*(x2'^2 + y2'^2)
    constraint crank1: x1^2 + y1^2 = a^2
    constraint crank2: (x2 - d)^2 + y2^2 = a^2
    constraint coupler: (x2 - x1)^2 + (y2 - y1)^2 = d^2
    constraint middle: ((x1 + x2)/2 - d/2)^2 + ((y1 + y2)/2)^2 = a^2\n";

/// Four rows of rank three, on the solution set only.
#[test]
fn rows_that_depend_on_each_other_only_where_they_hold() {
    for moved in [0.0, 1e-6, 0.01, 0.2] {
        let text = format!(
            "{PARALLELOGRAM}start x1 ~ {}, y1 ~ {}, x2 ~ {}, y2 ~ {}, x1' ~ -1.5, y1' ~ 1",
            0.75 + moved,
            1.0 - 0.5 * moved,
            2.75 - moved,
            1.0 + 0.7 * moved
        );
        let model = model(&text);
        let start = found(&model);
        on_the_constraints(&model, &start);
        assert_eq!((start.free_positions, start.free_velocities), (1, 1), "moved by {moved}");
        let [x1, y1, x2, y2] = start.state.q[..] else { panic!() };
        close(&[x2 - x1, y2 - y1], &[2.0, 0.0]);
        let v = &start.state.velocity;
        close(&[v[2], v[3]], &[v[0], v[1]]);
        close(&[v[0] * x1 + v[1] * y1], &[0.0]);
    }
}

/// Rows that say the same thing twice, at both levels.
#[test]
fn rows_that_are_written_twice() {
    let model = model(
        "coord x, y\nkinetic (x'^2 + 4*y'^2)/2\nconstraint a: x + y = 2\nconstraint b: 3*x + 3*y = 6\n\
         constraint c: x' + y' = 0\nstart x ~ 3, y ~ 3, x' ~ 1",
    );
    let start = found(&model);
    // δ ∝ M⁻¹(1, 1) = (1, ¼): the lighter coordinate moves more.
    close(&start.state.q, &[3.0 - 3.2, 3.0 - 0.8]);
    close(&start.state.velocity, &[0.2, -0.2]);
    assert_eq!((start.free_positions, start.free_velocities), (1, 1));
}

/// Coordinates without mass move for nothing, but no farther than they must.
#[test]
fn a_mass_matrix_that_measures_nothing_in_some_direction() {
    let model = model(
        "param m = 2\ncoord x, y, z\nkinetic m*x'^2/2\npotential y\nconstraint c: x + y = 3\n\
         start x ~ 1, y ~ 1, z ~ 5, x' ~ 1, y' ~ 1, z' ~ 7",
    );
    let start = found(&model);
    close(&start.state.q, &[1.0, 2.0, 5.0]);
    close(&start.state.velocity, &[1.0, -1.0, 7.0]);
    // A quaternion: no mass along itself, which is where it has to move.
    let model = self::model(
        "coord e[0..3]
         let w = [-e[1]*e[0]' + e[0]*e[1]' + e[3]*e[2]' - e[2]*e[3]', \
         -e[2]*e[0]' - e[3]*e[1]' + e[0]*e[2]' + e[1]*e[3]', \
         -e[3]*e[0]' + e[2]*e[1]' - e[1]*e[2]' + e[0]*e[3]']
         kinetic 2*dot(w, w)
         constraint unit: dot(e, e) = 1
         start e[0] ~ 0.6, e[1] ~ 0.6, e[2] ~ -0.6, e[3] ~ 0.6, e[0]' ~ 0.25, e[1]' ~ -0.5",
    );
    let start = found(&model);
    close(&start.state.q, &[0.5, 0.5, -0.5, 0.5]);
    on_the_constraints(&model, &start);
}

/// Momenta in a model given by L, velocities in one given by H.
#[test]
fn momenta_and_velocities_in_either_kind_of_model() {
    let by_l = "param m = 2, w = 3\ncoord x, y\n\
        kinetic m*((x' - w*y)^2 + (y' + w*x)^2)/2\nconstraint line: y = x\n";
    let by_h = "param m = 2, w = 3\ncoord x, y\n\
        hamiltonian (p_x^2 + p_y^2)/(2*m) + w*(y*p_x - x*p_y)\nconstraint line: y = x\n";
    // p_x = m(x' − w y), p_y = m(y' + w x): with x = y = 0.5, x' = y' = v.
    for kind in [by_l, by_h] {
        for equation in ["p_x = 1", "x' = 2", "p_x + p_y = 8", "y' = 2", "x' + y' + p_y = 11"] {
            let model = model(&format!("{kind}start x = 0.5, {equation}"));
            let start = found(&model);
            close(&start.state.velocity, &[2.0, 2.0]);
            close(&start.state.momentum, &[1.0, 7.0]);
            close(&start.state.q, &[0.5, 0.5]);
            assert_eq!((start.free_positions, start.free_velocities), (0, 0));
            on_the_constraints(&model, &start);
        }
        // Guesses of momenta are guesses of the velocities behind them.
        for guesses in ["p_x ~ 1, p_y ~ 7", "x' ~ 2, y' ~ 2", "x' ~ 3, y' ~ 1"] {
            let model = model(&format!("{kind}start x = 0.5, {guesses}"));
            close(&found(&model).state.momentum, &[1.0, 7.0]);
        }
    }
}

/// A Hamiltonian that is not quadratic: the momenta behind velocities are found.
#[test]
fn velocities_of_a_relativistic_particle() {
    let model = model(
        "param m = 1.5, c = 4, g = 9.8125, L = 1.75\ncoord x, y, z\n\
         hamiltonian sqrt(m^2*c^4 + c^2*(p_x^2 + p_y^2 + p_z^2)) - m*g*z\n\
         constraint rod: x^2 + y^2 + z^2 = L^2\n\
         start x = 0.5, y = 0.75, z ~ 1, x' = 1.5, y' = 1",
    );
    let start = found(&model);
    close(&start.state.q, &[0.5, 0.75, 1.5]);
    close(&start.state.velocity, &[1.5, 1.0, -1.0]);
    let size = (1.0f64 - 4.25 / 16.0).sqrt();
    close(&start.state.momentum, &[2.25 / size, 1.5 / size, -1.5 / size]);
}

/// Quasi-velocities in the equations of the start.
#[test]
fn speeds_in_the_start() {
    let model = model(
        "param m = 1.25, l = 1.5\ncoord x, y, phi\n\
         kinetic m*(x'^2 + y'^2 + l^2*phi'^2/2)\n\
         constraint edge: -x'*sin(phi) + y'*cos(phi) = 0\n\
         speed u = x'*cos(phi) + y'*sin(phi), w = phi'\n\
         start phi = 0.75, u = 1.5, w = -0.75",
    );
    let start = found(&model);
    let (s, c) = 0.75f64.sin_cos();
    close(&start.state.velocity, &[1.5 * c, 1.5 * s, -0.75]);
    assert_eq!(start.free_velocities, 0);
    assert_eq!(start.changed.len(), 2, "{:?}", start.changed);
}

/// A hoop that turns: at rest is not admissible.
#[test]
fn rows_that_depend_on_time() {
    let model = model(
        "param r = 1.25, Om = 3\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/4\n\
         constraint sphere: x^2 + y^2 + z^2 = r^2\n\
         constraint plane: x*sin(Om*t) - y*cos(Om*t) = 0\n\
         start x ~ 1, y ~ 1, z = 0.75\nrun t = 0.25..1",
    );
    let start = found(&model);
    let (s, c) = 0.75f64.sin_cos();
    close(&start.state.q, &[c, s, 0.75]);
    close(&start.state.velocity, &[-3.0 * s, 3.0 * c, 0.0]);
    assert_eq!(start.state.t, 0.25);
    assert_eq!((start.free_positions, start.free_velocities), (0, 1));
}

/// Points where the rows vanish, or the equations are not defined.
#[test]
fn guesses_at_singular_points() {
    for (text, radius) in [
        ("coord x, y\nkinetic x'^2 + y'^2\nconstraint c: x^2 + y^2 = 4", 2.0),
        ("coord x, y\nkinetic x'^2 + y'^2\nconstraint c: sqrt(x^2 + y^2) = 3", 3.0),
        ("coord x, y\nkinetic x'^2 + y'^2\nconstraint c: (x^2 + y^2)^2 = 16", 2.0),
    ] {
        let model = model(text);
        let start = found(&model);
        let q = &start.state.q;
        close(&[q[0].hypot(q[1])], &[radius]);
        assert_eq!((start.free_positions, start.free_velocities), (1, 1), "{text}");
    }
    // A branch is chosen by its sign, however small.
    for sign in [-1.0, 1.0] {
        let model = model(&format!(
            "coord x, y\nkinetic x'^2 + y'^2\nconstraint c: x^2 + y^2 = 25\nstart x = 3, y ~ {}",
            sign * 1e-3
        ));
        close(&found(&model).state.q, &[3.0, sign * 4.0]);
    }
}

#[test]
fn contradictions_are_named_where_they_stand() {
    let model = "coord x, y\nkinetic x'^2 + y'^2\nconstraint circle: x^2 + y^2 = 1\n";
    // Two values for one name.
    let (code, message, labels) = clash(&format!("{model}start x = 0.5, y ~ 1, x = 0.25"));
    assert_eq!(code, "contradictory-start");
    assert!(
        message.contains("positions") && message.contains("0.250000 is left over"),
        "{message}"
    );
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(labels.iter().all(|l| l.0 == "x"), "{labels:?}");
    // A value that the constraint forbids.
    let (_, message, labels) = clash(&format!("{model}start x = 2"));
    assert!(message.contains("3.000000 is left over"), "{message}");
    assert!(labels[0].0.starts_with("constraint circle"), "{labels:?}");
    assert_eq!(labels[1], ("x".to_owned(), "held".to_owned()));
    // Equations that are no assignments are held too, and only those in the way named.
    let (_, message, labels) = clash(&format!("{model}start x + y = 4, x - y = 0"));
    assert!(message.contains("7.000000 is left over"), "{message}");
    let places: Vec<&str> = labels.iter().map(|l| l.0.as_str()).collect();
    assert!(places[0].starts_with("constraint circle") && places[1..] == ["x + y"], "{places:?}");
    // Equations that contradict each other, whatever the constraints say.
    let (_, _, labels) = clash(&format!("{model}start x + y = 1, 2*x + 2*y = 3, y ~ 1"));
    let places: Vec<&str> = labels.iter().map(|l| l.0.as_str()).collect();
    assert_eq!(places, ["x + y", "2*x + 2*y"]);
    // At velocity level.
    let (_, message, labels) = clash(&format!("{model}start x = 0.6, y ~ 1, x' = 1, y' = 1"));
    assert!(
        message.contains("velocities") && message.contains("2.800000 is left over"),
        "{message}"
    );
    assert_eq!(labels.len(), 3, "{labels:?}");
}

/// Constraints that no start could satisfy are the model's own fault.
#[test]
fn constraints_that_contradict_each_other() {
    let (code, message, labels) = clash(
        "coord x, y\nkinetic x'^2 + y'^2\nconstraint short: x^2 + y^2 = 1\n\
         constraint long: x^2 + y^2 = 4\nconstraint other: y = 2*x\nstart x ~ 1",
    );
    assert_eq!(code, "contradictory-constraints");
    assert!(message.contains("no positions satisfy"), "{message}");
    let names: Vec<&str> = labels.iter().map(|l| l.1.as_str()).collect();
    assert!(names[0].contains("`short`") && names[1].contains("`long`"), "{names:?}");
    assert_eq!(labels.len(), 2, "{labels:?}");
    let (code, _, _) = clash(
        "coord x, y\nkinetic x'^2 + y'^2\nconstraint a: x' + y' = 1\nconstraint b: x' + y' = 2",
    );
    assert_eq!(code, "contradictory-constraints");
}
