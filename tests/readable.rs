//! What readers see has the values of what is computed: every displayed expression
//! of every page of the gallery and of random linkages, by every formulation, at random
//! states; parts add up to the whole, and closed forms give the rates that `dal eval` gives.

use dalembert::export::Derivation;
use dalembert::export::{Extras, Held};
use dalembert::expr::{ExprId, Exprs, Jacobian, Random, Symbol};
use dalembert::formulations::{ALL, EquationsOfMotion, Variables};
use dalembert::model::system::System;
use dalembert::simulate::points::random_states;
use dalembert::simulate::report::{Options as EvalOptions, at};
use dalembert::simulate::{Setting, State, start};
use dalembert::{Input, Model, Options, derive};
use std::collections::HashMap;

fn pages() -> Vec<(String, Model)> {
    dalembert::gallery::pages()
        .map(|page| {
            let input = Input::open(&format!("gallery:{}", page.name)).expect("in the gallery");
            let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
            (page.name.to_owned(), model)
        })
        .collect()
}

/// Values for symbols: the same for those that stand for each other.
struct Values {
    known: HashMap<Symbol, f64>,
    random: Random,
}

impl Values {
    fn new(seed: u64) -> Values {
        Values { known: HashMap::new(), random: Random::new(seed) }
    }

    fn of(&mut self, symbol: Symbol) -> f64 {
        let random = &mut self.random;
        *self.known.entry(symbol).or_insert_with(|| 0.3 + 0.9 * random.unit())
    }

    /// Positions and velocities on what constraints hold.
    fn hold(&mut self, system: &System, held: &Held) {
        let of = |at: usize| (system.coordinates[at].position, system.coordinates[at].velocity);
        for &(at, _) in &held.zero {
            let (position, velocity) = of(at);
            self.known.extend([(position, 0.0), (velocity, 0.0)]);
        }
        for unit in &held.units {
            let e: Vec<f64> = unit.iter().map(|&at| self.of(of(at).0)).collect();
            let rate: Vec<f64> = unit.iter().map(|&at| self.of(of(at).1)).collect();
            let length = e.iter().map(|x| x * x).sum::<f64>().sqrt();
            let along = e.iter().zip(&rate).map(|(x, v)| x * v).sum::<f64>() / length;
            for ((&at, x), v) in unit.iter().zip(&e).zip(&rate) {
                let (position, velocity) = of(at);
                self.known.insert(position, x / length);
                self.known.insert(velocity, v - along * x / length);
            }
        }
    }

    fn same(&mut self, a: &[Symbol], b: &[Symbol]) {
        assert_eq!(a.len(), b.len());
        for (&a, &b) in a.iter().zip(b) {
            let value = self.of(a);
            self.known.insert(b, value);
        }
    }

    fn evaluate(&mut self, exprs: &Exprs, list: &[ExprId]) -> Vec<f64> {
        for symbol in exprs.symbols_of(list) {
            self.of(symbol);
        }
        exprs.eval_f64(list, |symbol| self.known.get(&symbol).copied().unwrap_or(f64::NAN))
    }
}

fn dense(matrix: &Jacobian) -> Vec<ExprId> {
    let mut list = Vec::new();
    for row in &matrix.rows {
        let mut line = vec![ExprId::ZERO; matrix.columns];
        row.iter().for_each(|&(column, value)| line[column] = value);
        list.extend(line);
    }
    list
}

fn differ(a: &[f64], b: &[f64]) -> Option<usize> {
    assert_eq!(a.len(), b.len());
    // Rounding of long expressions at states where little cancels.
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
    (0..a.len()).find(|&i| a[i].is_finite() && !close(a[i], b[i]))
}

/// The parts of the normal form, by name.
fn parts(equations: &EquationsOfMotion) -> Vec<(&'static str, Vec<ExprId>)> {
    vec![
        ("k", equations.kinematics.clone()),
        ("Γ", dense(&equations.metric)),
        ("F", equations.force.clone()),
        ("C", equations.nonideal.clone()),
        ("A", dense(&equations.jacobian)),
        ("b", equations.bias.clone()),
        ("f", equations.canonical.as_ref().map_or(Vec::new(), |c| c.force.clone())),
    ]
}

/// Multipliers as the model names them and as they are shown.
fn multipliers(model: &Model, derivation: &Derivation) -> (Vec<Symbol>, Vec<Symbol>) {
    use dalembert::model::system::Unknown;
    let shown = derivation.readable.multipliers();
    let of = |&(symbol, unknown): &(Symbol, Unknown)| match unknown {
        Unknown::Multiplier(row) => Some((symbol, shown[row])),
        _ => None,
    };
    model.system.unknowns.iter().filter_map(of).unzip()
}

/// How many parts were compared, or what is shown otherwise than it is computed.
/// Of what is not exact, values on the constraints that it goes by are compared.
fn check(
    name: &str,
    model: &Model,
    equations: &EquationsOfMotion,
    exact: bool,
) -> Result<usize, String> {
    let mut compared = 0;
    let extras = Extras { exact, ..Extras::default() };
    let derivation = Derivation::with(model, equations, extras);
    let readable = &derivation.readable;
    let exprs = readable.exprs();
    let plain = equations.on_constraints(exprs);
    let shown = &readable.equations;
    let found = readable.parts();
    for seed in 0..3 {
        let mut values = Values::new(seed);
        values.hold(&model.system, &readable.held);
        values.same(&plain.v, &shown.v);
        if let (Some(a), Some(b)) = (&plain.auxiliary, &shown.auxiliary) {
            values.same(&a.symbols, &b.symbols);
        }
        let (own, displayed) = multipliers(model, &derivation);
        values.same(&own, &displayed);
        // On another branch than that of the start they are other expressions.
        let mut assumed = readable.assumptions().iter();
        let holds = assumed.all(|a| (values.evaluate(exprs, &[a.expr])[0] > 0.0) == a.positive);
        if !holds {
            continue;
        }
        let all: Vec<ExprId> = parts(&plain).into_iter().flat_map(|part| part.1).collect();
        // Where a matrix that is inverted is singular, no digit of it stands.
        if values.evaluate(exprs, &all).iter().any(|x| x.is_nan() || x.abs() > 1e12) {
            continue;
        }
        for ((part, a), (_, b)) in parts(&plain).into_iter().zip(parts(shown)) {
            compared += 1;
            let (x, y) = (values.evaluate(exprs, &a), values.evaluate(exprs, &b));
            if let Some(at) = differ(&x, &y) {
                let text = exprs.to_text(b[at]);
                let (x, y) = (x[at], y[at]);
                return Err(format!("{name}, {part}[{at}]: {x} is shown as {y}: {text}"));
            }
        }
        if let Ok(parts) = &found {
            let whole = match (&shown.canonical, shown.variables) {
                (Some(canonical), Variables::Momenta) => &canonical.force,
                _ => &shown.force,
            };
            let x = values.evaluate(exprs, whole);
            let (mut y, mut sizes) = (vec![0.0; x.len()], vec![1.0; x.len()]);
            for part in parts {
                let part = values.evaluate(exprs, &part.values);
                y.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
                sizes.iter_mut().zip(&part).for_each(|(size, part)| *size += part.abs());
            }
            // Parts may be far larger than what they add up to.
            let relative = |list: &[f64]| -> Vec<f64> {
                list.iter().zip(&sizes).map(|(value, size)| value / size).collect()
            };
            if differ(&relative(&x), &relative(&y)).is_some() {
                return Err(format!("{name}: {x:?} is not the sum of its parts, {y:?}"));
            }
        }
        for (a, b) in model.system.constraints.iter().zip(&readable.model.system.constraints) {
            let value = values.evaluate(exprs, &[a.residual, b.residual]);
            if differ(&value[..1], &value[1..]).is_some() {
                return Err(format!("{name}, {}: {value:?}", a.name));
            }
        }
    }
    Ok(compared)
}

/// What is shown of a model by every formulation that applies; how much was compared.
fn check_all(name: &str, model: &Model, exact: bool) -> usize {
    let mut compared = 0;
    for formulation in ALL {
        if let Ok(equations) = derive(model, Some(formulation.name())) {
            let name = format!("{name}, {}", formulation.name());
            compared +=
                check(&name, model, &equations, exact).unwrap_or_else(|words| panic!("{words}"));
        }
    }
    compared
}

#[test]
fn what_is_shown_has_the_values_of_what_is_computed() {
    let compared: usize = pages().iter().map(|(name, model)| check_all(name, model, true)).sum();
    assert!(compared > 5_000, "{compared}");
}

/// On what constraints hold, what is shown has the values of what is computed, and is shorter.
#[test]
fn what_constraints_hold_is_left_out() {
    let mut compared = 0;
    for (name, model) in pages() {
        let held = Held::new(&model.exprs, &model.system);
        if !held.zero.is_empty() || !held.units.is_empty() {
            compared += check_all(&name, &model, false);
            let equations = derive(&model, None).expect("its own formulation");
            let length = |exact| {
                let extras = Extras { exact, ..Extras::default() };
                Derivation::with(&model, &equations, extras).to_text().chars().count()
            };
            let (exact, brief) = (length(true), length(false));
            println!("{name}: {brief} characters, {exact} beside the constraints");
            // Where nothing is long, nothing that is repeated has a name.
            assert!(10 * brief <= 11 * exact, "{name}: {brief} and {exact} characters");
        }
    }
    assert!(compared > 100, "{compared}");
}

/// A linkage in the plane: rods that turn, by absolute angles or against the one before, or
/// slide; with springs, dampers, forces, and perhaps a rod whose end is led.
fn linkage(random: &mut Random) -> String {
    let count = 2 + random.below(2);
    let mut text = String::from("param m = 1, l = 2, g = 9.81, k = 3, c = 0.5\ncoord ");
    let names: Vec<String> = (1..=count).map(|i| format!("q{i}")).collect();
    text += &names.join(", ");
    text += "\nlet r0 = [0, 0]\n";
    let mut angle = String::from("0");
    for (i, q) in names.iter().enumerate() {
        let rod = match random.below(3) {
            0 => {
                angle.clone_from(q);
                "l".to_owned()
            }
            1 => {
                angle = format!("{angle} + {q}");
                "l".to_owned()
            }
            _ => format!("(l + {q})"),
        };
        text += &format!("let r{} = r{i} + {rod}*[sin({angle}), -cos({angle})]\n", i + 1);
        text += &format!("kinetic m/2*dot(r{0}', r{0}')\npotential m*g*r{0}[2]\n", i + 1);
        match random.below(4) {
            0 => text += &format!("potential k/2*{q}^2\n"),
            1 => text += &format!("dissipation c/2*{q}'^2\n"),
            2 => text += &format!("force {q}: -c*{q}'*abs({q}') + cos(t)\n"),
            _ => {}
        }
    }
    match random.below(3) {
        0 => text += &format!("constraint led: r{count}[1] = l/2 + 0.1*sin(t)\n"),
        1 => text += &format!("constraint skate: r{count}[1]'*cos(q1) = r{count}[2]'*sin(q1)\n"),
        _ => {}
    }
    text
}

#[test]
fn what_is_shown_of_random_linkages_has_the_values_of_what_is_computed() {
    let mut random = Random::new(11);
    let mut compared = 0;
    for at in 0..6 {
        let text = linkage(&mut random);
        let model = dalembert::parse(&text).unwrap_or_else(|faults| panic!("{text}{faults:?}"));
        compared += check_all(&format!("linkage {at}\n{text}"), &model, true);
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn what_is_shown_otherwise_is_found() {
    let input = Input::open("gallery:double-pendulum").expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let mut equations = derive(&model, None).expect("applies");
    assert!(check("as it is", &model, &equations, true).is_ok());
    let exprs = &model.exprs;
    equations.force[1] = (exprs.at(equations.force[1]) * 2).id;
    let words = check("twice the force", &model, &equations, true).unwrap_err();
    assert!(words.contains("F[1]"), "{words}");
}

/// q̈ = K v̇ + κ with v̇ of a closed form at a state; `None` on another branch than that
/// of the start. (v̇ itself may be that of another chart than `eval` takes.)
fn closed_accelerations(
    model: &Model,
    setting: &Setting,
    derivation: &Derivation,
    state: &State,
) -> Option<Vec<f64>> {
    let solved = derivation.solved()?.as_ref().ok()?;
    let readable = &derivation.readable;
    let exprs = readable.exprs();
    let table = state.table(&model.system);
    let mut values = Values::new(0);
    let (symbols, numbers) = setting.constants();
    values.known.extend(symbols.into_iter().zip(numbers));
    values.known.insert(Symbol::TIME, state.t);
    let moving = model.system.coordinates.iter();
    let moving = moving.flat_map(|c| [c.position, c.velocity, c.momentum]);
    for symbol in moving.chain(model.system.state_symbols()) {
        values.known.extend(table.get(symbol).map(|value| (symbol, value)));
    }
    let own = setting.numbers(&derivation.equations.own, &table);
    values.known.extend(readable.equations.v.iter().copied().zip(own.iter().copied()));
    values.known.extend(derivation.equations.v.iter().copied().zip(own));
    values.known.extend(derivation.equations.levels.iter().map(|level| (level.0, 0.0)));
    for assumption in solved.assumptions.iter().chain(readable.assumptions()) {
        if (values.evaluate(exprs, &[assumption.expr])[0] > 0.0) != assumption.positive {
            return None;
        }
    }
    let lambda: Vec<ExprId> = solved.multipliers.iter().map(|m| m.1).collect();
    let lambda = values.evaluate(exprs, &lambda);
    values.known.extend(solved.multipliers.iter().map(|m| m.0).zip(lambda));
    let rates: Vec<ExprId> = solved.rates.iter().map(|r| r.1).collect();
    let rates = values.evaluate(exprs, &rates);
    let lift = values.evaluate(exprs, &dense(&derivation.equations.lift));
    // `eval` takes another chart where this one is singular.
    if lift.iter().any(|k| !k.is_finite()) {
        return None;
    }
    let mut accelerations = values.evaluate(exprs, &derivation.equations.lift_bias);
    for (row, sum) in lift.chunks(rates.len().max(1)).zip(&mut accelerations) {
        *sum += row.iter().zip(&rates).map(|(k, v)| k * v).sum::<f64>();
    }
    Some(accelerations)
}

#[test]
fn closed_forms_give_the_rates_that_are_computed() {
    let (mut forms, mut compared) = (0, 0);
    for (name, model) in pages() {
        let Ok(setting) = Setting::new(&model) else { continue };
        let Ok(begin) = start::start(&setting) else { continue };
        let mut states = vec![begin.state.clone()];
        states.extend(random_states(&setting, &begin, 2, 7));
        for formulation in ALL {
            let Ok(equations) = derive(&model, Some(formulation.name())) else { continue };
            if equations.v.len() > 12 || equations.auxiliary.is_some() {
                continue;
            }
            let extras = Extras { solved: true, parts: false, exact: false };
            let derivation = Derivation::with(&model, &equations, extras);
            forms += usize::from(matches!(derivation.solved(), Some(Ok(_))));
            let mut options = EvalOptions::of_model(&model);
            options.formulations = vec![*formulation];
            for state in &states {
                let found = closed_accelerations(&model, &setting, &derivation, state);
                let Some(accelerations) = found else { continue };
                let Ok(report) = at(&setting, state, &options) else { continue };
                let Some(Ok(found)) = report.answers.first().map(|a| &a.result) else { continue };
                // Rows that depend on each other at the start only are another form elsewhere.
                let begins = state.t == begin.state.t && state.q == begin.state.q;
                let dependent = found.outcome.rank.jacobian < model.system.constraints.len();
                if found.outcome.motion.name() != "unique" || (dependent && !begins) {
                    continue;
                }
                compared += 1;
                let scale = found.accelerations.iter().fold(1.0f64, |a, b| a.max(b.abs()));
                for (a, b) in accelerations.iter().zip(&found.accelerations) {
                    assert!(
                        (a - b).abs() <= 1e-7 * scale,
                        "{name}, {}: {accelerations:?} is {:?}",
                        formulation.name(),
                        found.accelerations
                    );
                }
            }
        }
    }
    assert!(forms > 60 && compared > 120, "{forms} forms, {compared} comparisons");
}

#[test]
fn the_spherical_pendulum_is_that_of_the_paper() {
    // Udwadia 2016, eq. (42), but for the direction of gravity.
    let input = Input::open("gallery:spherical-pendulum").expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let equations = derive(&model, Some("hamilton")).expect("applies");
    let derivation =
        Derivation::with(&model, &equations, Extras { solved: true, parts: false, exact: false });
    let solved = derivation.solved().expect("asked for").as_ref().expect("small");
    let exprs = derivation.readable.exprs();
    for (_, rate) in &solved.rates {
        let text = exprs.to_text(*rate);
        assert!(text.chars().count() < 60, "{text}");
    }
}

#[test]
fn roots_of_squares_are_taken_on_the_branch_of_the_start() {
    let input = Input::open("gallery:rolling-disk").expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let equations = derive(&model, None).expect("applies");
    let derivation = Derivation::new(&model, &equations);
    let [assumed] = derivation.readable.assumptions() else { panic!("one") };
    assert_eq!(derivation.readable.exprs().to_source(assumed.expr), "cos(phi)");
    assert!(assumed.positive);
    let text = derivation.to_text();
    assert!(text.contains("for cos(φ) > 0, as at the start") && !text.contains('√'), "{text}");
}

#[test]
fn the_arm_does_not_swell() {
    let arm = include_str!("data/spatial-arm.dal");
    let model = dalembert::parse(arm).expect("no faults");
    let equations = derive(&model, None).expect("applies");
    let derivation = Derivation::new(&model, &equations);
    let force = &derivation.readable.equations.force;
    // SymPy has 355 characters for the first.
    for &f in force {
        let text = derivation.readable.exprs().to_source(f);
        assert!(text.len() < 500, "{} characters: {text}", text.len());
    }
}

/// A length that is held at l is l, also where the constraint is written with a root.
#[test]
fn lengths_that_are_held_are_used() {
    let text = "param m = 1, l = 2, g = 9.81\ncoord x, y, z\nkinetic m/2*(x'^2 + y'^2 + z'^2)\n\
        potential m*g*z\nconstraint rod: norm([x, y, z]) = l\nstart x = 0.5, y = 0.3";
    let loaded = dalembert::load(&Input::text("test.dal", text), &Options::default());
    let model = loaded.model.expect("no faults");
    let equations = derive(&model, None).expect("applies");
    let derivation =
        Derivation::with(&model, &equations, Extras { solved: true, ..Extras::default() });
    let solved = derivation.solved().expect("asked for").as_ref().expect("small");
    let exprs = derivation.readable.exprs();
    for (_, value) in solved.multipliers.iter().chain(&solved.rates) {
        let text = exprs.to_text(*value);
        assert!(!text.contains('√') && text.chars().count() < 60, "{text}");
    }
    assert!(derivation.to_text().contains("(for l > 0, as at the start)"));
}

/// Beside the equations of a phase stands what decides it.
#[test]
fn documents_say_what_decides_a_phase() {
    let text = "param m = 2, g = 9.81, mu = 0.3, k = 5, F = 1\ncoord x, y\n\
        kinetic m/2*(x'^2 + y'^2)\npotential m*g*y + k/2*x^2\n\
        contact floor: y >= 0.1*x, sliding x', friction mu, static 2*mu, restitution 0.5\n\
        contact wall: 3 >= x\nfriction rub: F along x' - 1\nstart y = 1";
    let loaded = dalembert::load(&Input::text("test.dal", text), &Options::default());
    let model = loaded.model.expect("no faults").shown();
    let equations = derive(&model, None).expect("applies");
    let derivation = Derivation::new(&model, &equations);
    let page = derivation.to_text();
    for line in [
        "contacts and friction",
        "0 ≤ g ⊥ λ ≥ 0",
        "f = −F·v/|v|",
        "ġ⁺ = −e·ġ⁻",
        "floor closed, slips; wall closed; rub slips",
        "g_floor = y − 0.1·x",
        "v_floor = x\u{307}",
        "F_floor = μ·λ_floor",
        "F_s_floor = 2·μ·λ_floor",
        "e_floor = ½",
        "g_wall = 3 − x",
        "v_rub = x\u{307} − 1",
        "F_rub = F",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    let latex = derivation.to_latex();
    for formula in ["0 \\le g \\perp \\lambda \\ge 0", "|f| \\le F", "g_{\\mathrm{floor}}"] {
        assert!(latex.contains(formula), "{formula}\n{latex}");
    }
    let json = derivation.to_json();
    let conditions = json["conditions"].as_array().expect("a list");
    assert_eq!(conditions.len(), 3);
    assert_eq!(conditions[0]["name"], "floor");
    assert_eq!(conditions[0]["phase"], "closed, slips");
    assert_eq!(conditions[1]["letters"]["g_wall"], "3 - x");
    // A model without them says nothing of them.
    let text = "coord x\nkinetic x'^2/2";
    let loaded = dalembert::load(&Input::text("test.dal", text), &Options::default());
    let model = loaded.model.expect("no faults");
    let equations = derive(&model, None).expect("applies");
    let json = Derivation::new(&model, &equations).to_json();
    assert!(json["conditions"].is_null());
}

/// Forces that count with those of constraints are there also where there are no constraints.
#[test]
fn forces_without_constraints_are_whole() {
    let text = "coord x\nkinetic x'^2/2\nnonideal x: -3*x'";
    let loaded = dalembert::load(&Input::text("test.dal", text), &Options::default());
    let model = loaded.model.expect("no faults");
    let equations = derive(&model, None).expect("applies");
    let latex = Derivation::new(&model, &equations).to_latex();
    assert!(latex.contains("\\mathbf{Q} + \\mathbf{C}"), "{latex}");
    assert!(latex.contains("\\mathbf{C}_{1} &= -3 \\dot{x}"), "{latex}");
}
