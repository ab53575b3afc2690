//! What the analysis finds to be conserved, and what it must not claim.
//!
//! Examples with known integrals, in the coordinates of the papers and in others;
//! the identity (5.3) itself for random fields at random states; candidates that are
//! wrong; and every formula that is found, read back as a check of its page.

use dalembert::analyze::Shown;
use dalembert::analyze::invariants::{
    Generator, Identity, Integral, InvariantOptions, Invariants, Motions, Seen, invariants,
};
use dalembert::expr::{ExprId, Random, Symbol};
use dalembert::model::load::Syntax;
use dalembert::model::system::{Action, Event};
use dalembert::simulate::points::random_states;
use dalembert::simulate::{Reference, Setting, State, Tolerances, Verdict, start};
use dalembert::{Input, Loaded, Model, Options, checks, load};

mod support;

use support::oracle_model::{name, of_kind};
use support::{model, model_text, numbers};

fn analysed(input: &Input) -> (Model, Invariants) {
    let loaded = load(input, &Options::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let found = {
        let setting = Setting::new(&model).expect("values");
        let start = start::start(&setting).expect("a start");
        invariants(&setting, &start, &InvariantOptions::default()).expect("equations")
    };
    (model, found)
}

fn found(text: &str) -> Invariants {
    analysed(&Input::text("model", text)).1
}

fn page(name: &str) -> Invariants {
    analysed(&Input::open(&format!("gallery:{name}")).expect("in the gallery")).1
}

fn names(found: &Invariants) -> Vec<&str> {
    found.integrals.iter().map(|i| i.name.as_str()).collect()
}

fn named<'a>(found: &'a Invariants, name: &str) -> &'a Integral {
    found.integrals.iter().find(|i| i.name == name).unwrap_or_else(|| panic!("{:?}", names(found)))
}

/// Claimed on the expressions and kept along two motions.
fn is_firm(integral: &Integral) -> bool {
    integral.shown == Shown::Symbolic && is_sure(integral)
}

/// The same, or by exact points.
fn is_sure(integral: &Integral) -> bool {
    let kept = matches!(integral.seen, Seen::Kept { motions: 2, .. });
    let shown = match integral.shown {
        Shown::Symbolic => true,
        Shown::RandomPoints { error, .. } => error.is_some_and(|e| e < 1e-20),
        _ => false,
    };
    shown && kept && !integral.for_these_values
}

fn assert_firm(found: &Invariants, expected: &[&str]) {
    assert_eq!(names(found), expected);
    assert!(found.integrals.iter().all(is_firm), "{:#?}", found.integrals);
    assert!(found.refuted.is_empty(), "{:?}", found.refuted);
}

fn near(value: Option<f64>, expected: f64) {
    let value = value.expect("a number");
    assert!((value - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{value} {expected}");
}

/// Greenwood, examples 2.5 and 2.6. In the angle the energy is constant and is not
/// T + V; in Cartesian coordinates it is not, and T + V − Ω J_z is, with the same value.
#[test]
fn the_hoop_in_both_sets_of_coordinates() {
    let angle = page("greenwood-hoop-driven");
    assert_firm(&angle, &["energy"]);
    assert!(angle.energy.conserved && angle.energy.differs_from_sum);
    near(angle.integrals[0].value, 2.0797044620083946);

    let cartesian = page("greenwood-hoop-cartesian");
    assert_firm(&cartesian, &["energy - Omega*(x*p_y - p_x*y)"]);
    near(cartesian.integrals[0].value, 2.0797044620083946);
    assert!(!cartesian.energy.conserved);
    assert_eq!(cartesian.energy.reasons, ["the constraint `plane` moves with time and drives"]);
    assert!(cartesian.energy.rate.expect("a rate") > 1.0);

    let free = page("greenwood-hoop-free");
    assert_firm(&free, &["energy", "p_phi"]);
    near(named(&free, "p_phi").value, 1.150630913720207);
    near(named(&free, "energy").value, 5.589128748855026);
}

/// Udwadia 2016, section 4.4: the constraint depends on time and does no work.
#[test]
fn rheonomic_and_still_conservative() {
    let found = page("double-pendulum-momentum");
    assert_firm(&found, &["energy"]);
    assert!(found.energy.conserved);
}

/// van der Schaft & Maschke 1994, example 2.6, with and without the slope.
#[test]
fn the_rolling_wheel() {
    let slope = page("rolling-wheel");
    assert_firm(&slope, &["energy", "p_phi"]);
    let of = |name: &str| {
        slope.ignorable.iter().find(|i| i.coordinate == name).map(|i| (i.conserved, &*i.reason))
    };
    let turn = "`phi` does not occur in L and nothing acts on it: p_phi is constant";
    assert_eq!(of("phi"), Some((true, turn)));
    let (conserved, reason) = of("theta").expect("theta is ignorable");
    assert!(!conserved && reason.contains("the constraint `roll[1]`"), "{reason}");
    assert!(reason.ends_with("p_theta changes"), "{reason}");
    assert_eq!(of("x"), None);

    let level = found(
        "coord x, y, theta, phi
         kinetic (x'^2 + y'^2 + theta'^2 + phi'^2)/2
         constraint roll: [x', y'] = theta'*[cos(phi), sin(phi)]
         start x = 0.25, theta' = 1.25, phi' = -0.5",
    );
    // The energy is a function of the other two.
    let gauge = "p_theta + p_x*cos(phi) + p_y*sin(phi)";
    assert_firm(&level, &["energy", "p_phi", gauge]);
    near(named(&level, gauge).value, 2.5);
    assert!(named(&level, "energy").follows_from_others);
}

/// Udwadia 2016, section 4.2, and the particle of van der Schaft & Maschke without a
/// potential: the momentum along the admissible field of unit length.
#[test]
fn gauge_momenta_of_unit_fields() {
    let particle = found(
        "param m = 1.5
         coord x, y, z
         kinetic m/2*(x'^2 + y'^2 + z'^2)
         constraint contact: z' = y*x'
         start y = 0.5, x' = 1, y' = 0.5",
    );
    let by_h = page("nonholonomic-particle");
    let by_l = page("benchmarks/nonholonomic-particle");
    // The last one also has a screw: turning (y, z) while x advances.
    let screw = "y*p_z - p_y*z + p_x";
    for (found, expected) in [
        (&by_h, &["energy", "p_z", "m*(p_y*z^2 + p_x)/sqrt(z^4 + 1)"][..]),
        (&by_l, &["energy", "p_z", "(p_y*z^2 + p_x)/sqrt(z^4 + 1)"]),
        (&particle, &["energy", "p_y", screw, "(y*p_z + p_x)/sqrt(y^2 + 1)"]),
    ] {
        assert_eq!(names(found), expected);
        assert!(found.integrals.iter().all(is_sure), "{:#?}", found.integrals);
    }
    let along = particle.integrals[3].value.expect("a number");
    assert!((along - 1.5 * 1.25f64.sqrt()).abs() < 1e-13, "{along}");
}

#[test]
fn pendulums_tops_and_central_forces() {
    assert_firm(&page("spherical-pendulum"), &["energy", "x*p_y - p_x*y"]);
    assert_firm(&page("relativistic-pendulum"), &["energy", "x*p_y - p_x*y"]);
    assert_firm(&page("greenwood-paraboloid"), &["energy", "x*p_y - p_x*y"]);
    assert_firm(&page("spinning-top"), &["energy", "p_phi", "p_psi"]);
    let kepler = found(
        "param m = 2, mu = 3
         coord x, y, z
         kinetic m/2*(x'^2 + y'^2 + z'^2)
         potential -mu/sqrt(x^2 + y^2 + z^2)
         start x = 1, y' = 1, z' = 0.5",
    );
    let rotations = ["x*p_y - p_x*y", "x*p_z - p_x*z", "y*p_z - p_y*z"];
    assert_firm(&kepler, &[&["energy"][..], &rotations].concat());
    assert_eq!(named(&kepler, "x*p_y - p_x*y").because, "nothing changes when (`x`, `y`) turn");
}

/// All three components of the angular momentum of a body free to turn, in Euler
/// angles, which name only one of them.
#[test]
fn a_free_body_in_euler_angles() {
    let found = found(&euler("2", "1.5", "0"));
    assert_eq!(found.integrals.len(), 4, "{:?}", names(&found));
    assert!(found.integrals.iter().all(is_firm));
    let along_x =
        "p_theta*cos(phi) - p_phi*sin(phi)*cos(theta)/sin(theta) + p_psi*sin(phi)/sin(theta)";
    assert!(names(&found).contains(&along_x), "{:?}", names(&found));
}

/// Equal moments of inertia in two parameters: conserved for these values only, and
/// the claim says so.
#[test]
fn a_body_that_happens_to_be_symmetric() {
    let found = found(&euler("2", "2", "5"));
    assert_eq!(names(&found), ["energy", "p_phi", "p_psi"]);
    let spin = named(&found, "p_psi");
    assert!(spin.for_these_values && spin.because.contains("these values"), "{}", spin.because);
    // With the values put in, it is proven as anything else is.
    assert_eq!(spin.shown, Shown::Symbolic);
    assert!(is_firm(named(&found, "p_phi")));
}

fn euler(i1: &str, i2: &str, weight: &str) -> String {
    format!(
        "param I1 = {i1}, I2 = {i2}, I3 = 1
         coord phi, theta, psi
         let w1 = phi'*sin(theta)*sin(psi) + theta'*cos(psi)
         let w2 = phi'*sin(theta)*cos(psi) - theta'*sin(psi)
         let w3 = phi'*cos(theta) + psi'
         kinetic (I1*w1^2 + I2*w2^2 + I3*w3^2)/2
         potential {weight}*cos(theta)
         start theta = 1, phi' = 0.5, psi' = 2"
    )
}

/// Momenta of two bodies with inner forces, and their centre of mass.
#[test]
fn two_bodies() {
    let found = found(
        "param m1 = 2, m2 = 3, k = 5, L = 1
         coord x1, y1, x2, y2
         kinetic m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)
         potential k/2*(sqrt((x1 - x2)^2 + (y1 - y2)^2) - L)^2
         start x1 = 1, y1' = 1, x2' = 0.5, y2 = 0.3",
    );
    let expected = [
        "energy",
        "p_x1 + p_x2",
        "p_y1 + p_y2",
        "x1*p_y1 - p_x1*y1 + x2*p_y2 - p_x2*y2",
        "t*p_x1 + t*p_x2 - m1*x1 - m2*x2",
        "t*p_y1 + t*p_y2 - m1*y1 - m2*y2",
    ];
    assert_firm(&found, &expected);
}

/// L changes by a derivative: uniform gravity, a uniform magnetic field, linear
/// friction.
#[test]
fn invariant_up_to_a_derivative() {
    let found_in = |text: &str| found(text);
    let falling = found_in(
        "param m1 = 2, m2 = 3, g = 9, L = 1
         coord x1, y1, x2, y2
         kinetic m1/2*(x1'^2 + y1'^2) + m2/2*(x2'^2 + y2'^2)
         potential g*(m1*y1 + m2*y2)
         constraint rod: (x1 - x2)^2 + (y1 - y2)^2 = L^2
         start x1 = 1, x2 = 0, y1' = 1, x2' = 0.5",
    );
    assert!(is_firm(named(&falling, "p_x1 + p_x2")));
    assert!(is_firm(named(&falling, "p_y1 + p_y2 + (m1 + m2)*g*t")));
    let magnetic = found_in(
        "param m = 2, B = 3, g = 5
         coord x, y, z
         kinetic m/2*(x'^2 + y'^2 + z'^2)
         lagrangian B/2*(x*y' - y*x')
         potential m*g*z
         start x = 1, y' = 1, z' = 0.5",
    );
    let expected = ["energy", "p_x - 1/2*B*y", "1/2*B*x + p_y", "p_z + m*g*t", "x*p_y - p_x*y"];
    assert_firm(&magnetic, &expected);
    let damped = found_in(
        "param m = 2, c = 0.3
         coord x, y
         kinetic m/2*(x'^2 + y'^2)
         force x: -c*x'
         start x' = 1, y' = 1",
    );
    assert_firm(&damped, &["c*x + p_x", "p_y"]);
    assert_eq!(damped.energy.reasons, ["the force on `x` does work"]);
    let friction = &damped.ignorable[0].reason;
    assert_eq!(friction, "`x` does not occur in L, but a force acts on it: p_x changes");
}

/// Nothing beyond the energy, and nothing at all.
#[test]
fn nothing_more_is_claimed() {
    for name in ["rolling-disk", "knife-edge", "benchmarks/chaplygin-sleigh", "double-pendulum"] {
        assert_firm(&page(name), &["energy"]);
    }
    for name in ["benchmarks/car-axis", "driven-pivot", "everything-at-once", "cart-and-pole"] {
        assert_firm(&page(name), &[]);
    }
    let all = page("everything-at-once").energy.reasons;
    assert_eq!(all.len(), 6, "{all:?}");
    assert_eq!(all[0], "L depends on time");
    assert!(all[5].starts_with("the constraint `bend` is not homogeneous"), "{all:?}");
}

/// Without a motion to look at, the claim rests on the expressions and says so.
#[test]
fn what_cannot_be_simulated_is_said() {
    let found = page("two-masses-incomplete");
    assert_eq!(names(&found), ["energy"]);
    let Seen::NotSeen(why) = &found.integrals[0].seen else { panic!("{:?}", found.integrals) };
    assert!(why.contains("hidden-constraint"), "{why}");
    let model = analysed(&Input::open("gallery:two-masses-incomplete").expect("a page")).0;
    let text = dalembert::export::invariants::to_text(&model, &found);
    assert!(text.contains("not verified along a motion: "), "{text}");
}

/// Expressions that are no integrals change along the same motions: the last check
/// can fail.
#[test]
fn wrong_candidates_are_seen_to_change() {
    let wrong = [
        ("greenwood-hoop-driven", "kinetic + potential", true),
        ("greenwood-hoop-driven", "energy", false),
        ("greenwood-hoop-cartesian", "energy", true),
        ("greenwood-hoop-cartesian", "energy + Omega*(x*p_y - y*p_x)", true),
        ("greenwood-hoop-cartesian", "energy - 3.0001*(x*p_y - y*p_x)", true),
        ("greenwood-hoop-cartesian", "energy - Omega*(x*p_y - y*p_x)", false),
        ("rolling-wheel", "p_theta", true),
        ("rolling-wheel", "p_theta + p_x*cos(phi) + p_y*sin(phi)", true),
        ("spherical-pendulum", "energy + 1e-6*z", true),
        ("spherical-pendulum", "y*p_z - z*p_y", true),
        ("knife-edge", "p_phi", true),
    ];
    for (name, expression, changes) in wrong {
        let input = Input::open(&format!("gallery:{name}")).expect("a page");
        let observe = vec![format!("candidate = {expression}")];
        let model = load(&input, &Options { observe, ..Options::default() }).model.expect("fine");
        let setting = Setting::new(&model).expect("values");
        let start = start::start(&setting).expect("a start");
        let value = model.system.observes.last().expect("the candidate").value;
        let seen = Motions::new(&setting, &start, 5).judge(&setting, &model.system, value, &[]);
        assert_eq!(matches!(seen, Seen::Changed { .. }), changes, "{name}: {expression} {seen:?}");
        assert_eq!(matches!(seen, Seen::Kept { .. }), !changes, "{name}: {expression} {seen:?}");
    }
}

/// (5.3) for random fields and functions: the derivative along the motion, with the
/// accelerations of the default elimination, against the right side.
#[test]
fn the_identity_holds_for_any_field() {
    let pages = [
        "everything-at-once",
        "greenwood-hoop-cartesian",
        "nonideal-dependent-rows",
        "rolling-wheel",
        "spherical-pendulum",
        "bracket-general-mass",
        "driven-pivot",
        "benchmarks/ball-on-turntable",
    ];
    let mut compared = 0;
    for name in pages {
        let input = Input::open(&format!("gallery:{name}")).expect("a page");
        let model = load(&input, &Options::default()).model.expect("no faults");
        let setting = Setting::new(&model).expect("values");
        let start = start::start(&setting).expect("a start");
        let identity = Identity::new(&model).expect("a picture");
        let (exprs, system) = (&model.exprs, &model.system);
        let lagrange = dalembert::formulations::by_name("lagrange").expect("a formulation");
        let equations = lagrange.derive(exprs, system, &Default::default()).expect("derived");
        let equations = std::sync::Arc::new(equations);
        let by_momenta = identity.rates == system.momenta();
        let mut draw = Random::new(name.len() as u64);
        for with_energy in [false, true] {
            let generator = random_generator(&identity, with_energy, &mut draw);
            let conditions = identity.conditions(&generator);
            let integral = identity.integral(&generator);
            let mut symbols = identity.q.clone();
            symbols.extend(&identity.rates);
            symbols.push(Symbol::TIME);
            let gradient = exprs.gradient(integral, &symbols);
            for state in random_states(&setting, &start, 4, 11) {
                let tolerances = Tolerances::default();
                let reference =
                    Reference::new(&setting, &equations, &state, &tolerances).expect("numbers");
                assert_eq!(reference.outcome.motion, Verdict::Unique, "{name}");
                let table = state.table(system);
                let slopes = setting.numbers(&gradient, &table);
                let n = system.n_coordinates();
                // ṗ = L_q + Q′ + C + Aᵀλ where the rates are momenta.
                let forces: Vec<ExprId> = (0..n).map(|i| identity.force(i)).collect();
                let mut second = setting.numbers(&forces, &table);
                let lambda = &reference.outcome.multipliers;
                for (row, l) in reference.numbers.jacobian.chunks(n).zip(lambda) {
                    second.iter_mut().zip(row).for_each(|(f, a)| *f += a * l);
                }
                if !by_momenta {
                    second = reference.outcome.v_dot.clone();
                }
                let mut left = slopes[2 * n];
                let mut size = left.abs();
                for i in 0..n {
                    let terms = [slopes[i] * state.velocity[i], slopes[n + i] * second[i]];
                    left += terms[0] + terms[1];
                    size += terms[0].abs() + terms[1].abs();
                }
                // The integral of τ = 1 is written E − pᵀξ + f.
                let left = if with_energy { -left } else { left };
                let mut right = setting.number(conditions.power, &table);
                for (row, l) in setting.numbers(&conditions.rows, &table).iter().zip(lambda) {
                    right += row * l;
                    size += (row * l).abs();
                }
                let error = (left - right).abs() / size.max(1.0);
                assert!(error <= 1e-11, "{name}, τ = {with_energy}: {left} {right}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 60, "only {compared} states");
}

/// Quadratic in q and t, with random coefficients.
fn random_generator(identity: &Identity, with_energy: bool, draw: &mut Random) -> Generator {
    let exprs = identity.exprs;
    let mut function = || {
        let mut sum = exprs.integer(draw.below(7) as i64 - 3) * exprs.time();
        for &a in &identity.q {
            for &b in &identity.q {
                let product = exprs.at(exprs.of_symbol(a)) * exprs.at(exprs.of_symbol(b));
                sum = sum + exprs.integer(draw.below(5) as i64 - 2) * product;
            }
            sum =
                sum + exprs.integer(draw.below(5) as i64 - 2) * exprs.at(exprs.of_symbol(a)).sin();
        }
        sum.id
    };
    let field = identity.q.iter().map(|_| function()).collect();
    Generator { field, with_energy, gauge: function() }
}

/// Every formula and every name that is found on the gallery parses, and what it says
/// is kept on the run of its own page.
#[test]
fn formulas_read_back_and_hold_on_their_pages() {
    let (mut held, mut integrals) = (0, 0);
    for page in dalembert::gallery::pages() {
        // Large, and slow to sample.
        if ["bricard", "whipple-bicycle", "benchmarks/andrews"].contains(&page.name) {
            continue;
        }
        let input = Input::open(&format!("gallery:{}", page.name)).expect("a page");
        // What is kept in one phase of contacts and frictions is not in another.
        if dalembert::open(&format!("gallery:{}", page.name)).is_ok_and(|m| m.system.wants_phase())
        {
            continue;
        }
        let (_, found) = analysed(&input);
        assert!(found.refuted.is_empty(), "{}: {:?}", page.name, found.refuted);
        integrals += found.integrals.len();
        // Where events act, the run of the page keeps them between events only.
        let resets = |e: &Event| matches!(e.action, Action::Reset(_));
        let loaded = load(&input, &Options::default());
        if loaded.model.is_some_and(|m| m.system.events.iter().any(resets)) {
            continue;
        }
        let seen = found.integrals.iter().filter(|i| matches!(i.seen, Seen::Kept { .. }));
        let lines: Vec<String> = seen
            .flat_map(|i| [&i.name, &i.expression])
            .map(|e| format!("conserve {e} within 1e-9"))
            .collect();
        let bare = input.text.replace("```check", "```text");
        let text = format!("{bare}\n```check\n{}\n```\n", lines.join("\n"));
        let input = Input { text, syntax: Syntax::Markdown, ..input };
        let loaded: Loaded = load(&input, &Options::default());
        assert!(loaded.model.is_some(), "{}: {:?}", page.name, loaded.diagnostics);
        for (result, line) in checks::run(&loaded).iter().zip(&lines) {
            assert!(
                matches!(result.outcome, checks::CheckOutcome::Holds(_)),
                "{}: {line}: {:?}",
                page.name,
                result.outcome
            );
            held += 1;
        }
    }
    println!("{integrals} integrals, {held} lines hold");
    assert!(held >= 150, "only {held} lines");
}

/// Reference values of E at states, and dE/dt there: where it is not 0, the energy is
/// not claimed, and the reason given comes with a rate at least as large as can be seen.
#[test]
fn energies_against_reference_values() {
    let (mut varying, mut constant) = (0, 0);
    for oracle in of_kind("state") {
        let expected = &oracle["expected"];
        // One state misses its constraints on purpose: it is on no motion.
        let off = name(&oracle).contains("off-manifold");
        if oracle["kind"] != "state" || expected["dEdt"].is_null() || off {
            continue;
        }
        let (label, model) = (name(&oracle), model(&model_text(&oracle)));
        let setting = Setting::new(&model).expect("values");
        let given = &oracle["state"];
        let (q, v, t) = (numbers(&given["q"]), numbers(&given["qdot"]), numbers(&given["t"])[0]);
        let state = State::of_velocities(&setting, t, q, v).expect("a state");
        let identity = Identity::new(&model).expect("a picture");
        let energy = setting.number(identity.energy, &state.table(&model.system));
        let reference = numbers(&expected["energy_E"])[0];
        let off = (energy - reference).abs() / reference.abs().max(1.0);
        assert!(off <= 1e-13, "{label}: {energy}");
        let (changed, free) = (Vec::new(), 0);
        let start = start::Start { state, changed, free_positions: free, free_velocities: free };
        let found = invariants(&setting, &start, &InvariantOptions::default()).expect("found");
        assert!(found.refuted.is_empty(), "{label}: {:?}", found.refuted);
        let rate = numbers(&expected["dEdt"])[0];
        let claimed = found.integrals.iter().any(|i| i.name == "energy");
        assert_eq!(claimed, found.energy.conserved, "{label}: {:?}", found.energy);
        if rate.abs() > 1e-9 {
            varying += 1;
            assert!(!claimed && !found.energy.reasons.is_empty(), "{label}");
            // At the state itself the rate is the reference's; the largest is no smaller.
            let largest = found.energy.rate.expect("a rate");
            assert!(largest >= rate.abs() * (1.0 - 1e-9), "{label}: {largest} {rate}");
        } else {
            constant += usize::from(claimed);
        }
    }
    assert!(varying >= 4 && constant >= 20, "{varying} vary, {constant} are constant");
}

/// The fields of an analysis in JSON.
#[test]
fn the_fields_of_json() {
    let object = dalembert::export::invariants::to_json(&page("greenwood-hoop-free"));
    assert_eq!(object["ignorable"], serde_json::json!(["phi"]));
    let list = object["invariants"].as_array().expect("a list");
    assert_eq!(list.len(), 2);
    assert_eq!(list[0]["name"], "energy");
    assert_eq!(list[1]["expression"], "m*r^2*phi'*sin(theta)^2");
    assert_eq!(list[1]["shown"], "symbolic");
    assert!(list[1]["value"].as_f64().is_some_and(|v| (v - 1.15063).abs() < 1e-5));
    assert!(list[1]["along_motion"]["deviation"].as_f64().is_some_and(|d| d < 1e-10));
}
