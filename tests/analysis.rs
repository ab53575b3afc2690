//! What `analyze` says of constraints, against reference values and against
//! constraints made to be integrable or not.

use dalembert::analyze::pfaff::{Flag, Pfaffian};
use dalembert::analyze::places::Places;
use dalembert::analyze::rows::Forms;
use dalembert::analyze::{Analysis, Request, analyze};
use dalembert::expr::Random;
use dalembert::formulations::picture::Picture;
use dalembert::{Input, Model, Options};
use serde_json::Value;

fn oracles(kind: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("data/oracles.json")).expect("valid JSON");
    let list = file["oracles"].as_array().expect("a list");
    list.iter().filter(|o| o["kind"] == kind).cloned().collect()
}

fn model(text: &str) -> Model {
    let loaded = dalembert::load(&Input::text("model", text), &Options::default());
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("{text}\n{shown}"))
}

fn analysis(text: &str) -> Analysis {
    let model = model(text);
    analyze(&model, &Request::default()).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|v| v.as_str()).map(str::to_owned).collect()
}

fn numbers(value: &Value) -> Vec<usize> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|v| v.as_u64()).map(|v| v as usize).collect()
}

/// Forms as rows of a model: dx becomes x', dt becomes 1.
fn text_of(coordinates: &[String], forms: &[Vec<String>]) -> String {
    let q: Vec<&str> = coordinates.iter().map(String::as_str).filter(|c| *c != "t").collect();
    let mut text = format!("coord {}\n", q.join(", "));
    let squares: Vec<String> = q.iter().map(|c| format!("{c}'^2")).collect();
    text += &format!("kinetic ({})/2\n", squares.join(" + "));
    for (at, form) in forms.iter().enumerate() {
        let terms: Vec<String> = coordinates
            .iter()
            .zip(form)
            .map(|(x, a)| {
                let a = a.replace("**", "^").replace("sec(3*t)", "(1/cos(3*t))");
                if x == "t" { format!("({a})") } else { format!("({a})*{x}'") }
            })
            .collect();
        text += &format!("constraint row{at}: {} = 0\n", terms.join(" + "));
    }
    // Away from special points.
    for (at, x) in q.iter().enumerate() {
        text += &format!("start {x} ~ {:.2}\n", 0.7 + 0.31 * at as f64);
    }
    text + "run t = 0.2..1\n"
}

/// The flag of the forms of a model, with or without dt.
fn flag(text: &str, frozen: bool) -> Flag {
    let model = model(text);
    let picture = Picture::new(&model.exprs, &model.system).expect("a picture");
    let mut forms = Forms::of(&model.exprs, &model.system, &picture);
    assert_eq!(forms.rows.len(), model.system.constraints.len(), "{text}");
    if frozen {
        forms.x.pop();
        forms.forms.columns -= 1;
    }
    let places = Places::anywhere(&forms.x);
    let pfaffian = Pfaffian { exprs: &model.exprs, x: forms.x, forms: forms.forms };
    pfaffian.flag(&places).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}

#[test]
fn every_analysis_oracle() {
    let all = oracles("analysis");
    assert_eq!(all.len(), 18);
    for oracle in &all {
        let name = oracle["name"].as_str().unwrap_or("");
        let coordinates = strings(&oracle["coords"]);
        let forms: Vec<Vec<String>> =
            oracle["forms"].as_array().expect("forms").iter().map(strings).collect();
        let expected = &oracle["expected"];
        let text = text_of(&coordinates, &forms);
        let frozen = !coordinates.contains(&"t".to_owned());
        let found = flag(&text, frozen);
        assert_eq!(found.rank, expected["rank"], "{name}");
        assert_eq!(forms.len() - found.rank, expected["redundancy"], "{name}");
        assert_eq!(found.growth, numbers(&expected["growth_vector"]), "{name}");
        assert_eq!(found.is_involutive(), expected["involutive"], "{name}");
        assert_eq!(found.first_derived(), expected["first_derived_dim"], "{name}");
        assert_eq!(
            found.integrable().map(|i| i as u64),
            expected["integrable_combinations"].as_u64(),
            "{name}"
        );
        let nonholonomic = found.integrable().map(|i| (found.rank - i) as u64);
        assert_eq!(nonholonomic, expected["nonholonomic_count"].as_u64(), "{name}");
        if frozen {
            continue;
        }
        // The same by the whole way from the text of a model.
        let whole = analysis(&text);
        assert_eq!(whole.freedom.rank, expected["rank"], "{name}");
        assert_eq!(whole.integrability.growth, Some(found.growth.clone()), "{name}");
        assert_eq!(whole.integrability.holonomic, expected["involutive"].as_bool(), "{name}");
        assert_eq!(whole.integrability.integrable, found.integrable(), "{name}");
        assert_eq!(whole.integrability.growth_at_start, None, "{name}");
        if !expected["growth_at_special"].is_null() {
            let special = analysis(&text.replace("start z ~ 1.32", "start z = 0"));
            assert_eq!(special.integrability.growth, Some(found.growth.clone()), "{name}");
            let at_start = special.integrability.growth_at_start.expect("special");
            assert_eq!(at_start, numbers(&expected["growth_at_special"]), "{name}");
        }
    }
}

fn gallery(name: &str, searches: bool) -> (Model, Analysis) {
    let input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
    let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
    let request = Request { searches, ..Request::default() };
    let found = analyze(&model, &request).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    (model, found)
}

/// The Jacobiators of both examples of van der Schaft & Maschke, for every state.
#[test]
fn both_jacobiator_oracles() {
    assert_eq!(oracles("jacobiator").len(), 2);
    let entry = |model: &Model, found: &Analysis, names: [&str; 3]| {
        let bracket = found.bracket.as_ref().expect("a bracket");
        let at = names.map(|name| {
            let of = |s: &_| model.exprs.symbol_info(*s).full_name() == name;
            bracket.variables.iter().position(of).expect("a variable")
        });
        bracket.jacobiator(&model.exprs, at)
    };
    let (model, found) = gallery("bracket-particle", false);
    let exprs = &model.exprs;
    let y = exprs.at(exprs.of_symbol(model.system.coordinates[1].position));
    let same = |a, b: dalembert::expr::Expr<'_>| exprs.is_zero((exprs.at(a) - b).id).is_zero();
    let over = 1 / (1 + y.powi(2));
    assert!(same(entry(&model, &found, ["x", "ptilde_x", "ptilde_y"]), y * over));
    assert!(same(entry(&model, &found, ["z", "ptilde_x", "ptilde_y"]), -over));
    let listed = found.bracket.as_ref().unwrap().jacobiator.as_ref().expect("small");
    assert_eq!(listed.len(), 2);
    // At y = 3/4: 12/25 and −16/25.
    let at = |id| exprs.eval_f64(&[id], |_| 0.75)[0];
    let expected = &oracles("jacobiator")[0]["expected"]["nonzero"];
    for (key, value) in [("x,pt_x,pt_y", 12.0 / 25.0), ("z,pt_x,pt_y", -16.0 / 25.0)] {
        let fraction: Vec<f64> =
            expected[key].as_str().unwrap().split('/').map(|n| n.parse().unwrap()).collect();
        assert_eq!(fraction[0] / fraction[1], value);
        let names = [&key[..1], "ptilde_x", "ptilde_y"];
        assert!((at(entry(&model, &found, names)) - value).abs() < 1e-15);
    }

    let (model, found) = gallery("rolling-wheel", false);
    let exprs = &model.exprs;
    let phi = exprs.at(exprs.of_symbol(model.system.coordinates[3].position));
    let same = |a, b: dalembert::expr::Expr<'_>| exprs.is_zero((exprs.at(a) - b).id).is_zero();
    // p̃₁ of the paper belongs to φ, p̃₂ to θ.
    assert!(same(entry(&model, &found, ["x", "ptilde_phi", "ptilde_theta"]), -phi.sin()));
    assert!(same(entry(&model, &found, ["y", "ptilde_phi", "ptilde_theta"]), phi.cos()));
    assert_eq!(found.bracket.as_ref().unwrap().jacobiator.as_ref().unwrap().len(), 2);
    let expected = &oracles("jacobiator")[1]["expected"]["values"];
    for (key, name) in [("x,pt_1,pt_2", "x"), ("y,pt_1,pt_2", "y")] {
        let value: f64 = expected[key].as_str().unwrap().parse().unwrap();
        let id = entry(&model, &found, [name, "ptilde_phi", "ptilde_theta"]);
        assert!((exprs.eval_f64(&[id], |_| 0.625)[0] - value).abs() < 1e-15);
    }
}

/// (19) and (30), (33) with its misprints put right.
#[test]
fn the_brackets_of_both_examples() {
    for (name, expected) in [
        (
            "bracket-particle",
            &[
                ("x", "ptilde_x", "1"),
                ("y", "ptilde_y", "1"),
                ("z", "ptilde_x", "y"),
                ("ptilde_x", "ptilde_y", "y*ptilde_x/(y^2 + 1)"),
            ][..],
        ),
        (
            "rolling-wheel",
            &[
                ("x", "ptilde_theta", "cos(phi)"),
                ("y", "ptilde_theta", "sin(phi)"),
                ("theta", "ptilde_theta", "1"),
                ("phi", "ptilde_phi", "1"),
            ][..],
        ),
    ] {
        let (model, found) = gallery(name, false);
        let page = dalembert::export::AnalysisPage { model: &model, analysis: &found }.to_json();
        let entries: Vec<(String, String, String)> = page["bracket"]["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| {
                let text = |at: usize| e[at].as_str().unwrap_or("").to_owned();
                (text(0), text(1), text(2))
            })
            .collect();
        let expected: Vec<(String, String, String)> =
            expected.iter().map(|e| (e.0.to_owned(), e.1.to_owned(), e.2.to_owned())).collect();
        assert_eq!(entries, expected, "{name}");
    }
}

#[test]
fn the_jacobi_identity_holds_for_holonomic_rows_and_no_others() {
    for name in ["spherical-pendulum", "greenwood-disk-rolling", "four-bar", "parallelogram"] {
        let (_, found) = gallery(name, false);
        assert_eq!(found.jacobi_defect, Some(0.0), "{name}");
        let listed = found.bracket.as_ref().ok().and_then(|b| b.jacobiator.clone());
        assert!(listed.is_none_or(|l| l.is_empty()), "{name}");
    }
    for name in ["bracket-particle", "rolling-wheel", "knife-edge", "two-wheels-on-an-axle"] {
        let (_, found) = gallery(name, false);
        assert!(found.jacobi_defect.is_some_and(|d| d > 0.1), "{name}");
    }
    // Affine, rheonomic or nonlinear rows and a singular M have no J_r.
    for name in ["rotating-skate", "greenwood-hoop-cartesian", "appell-hamel", "two-masses"] {
        let (_, found) = gallery(name, false);
        assert_eq!(found.jacobi_defect, None, "{name}");
        assert!(found.bracket.is_err(), "{name}");
    }
}

/// {F, G}_r is skew, obeys Leibniz' rule, and gives the rates: {q, H} = q̇.
#[test]
fn a_bracket_that_was_asked_for() {
    let input = Input::open("gallery:bracket-particle").expect("in the gallery");
    let observe = vec!["left = z".to_owned(), "right = energy".to_owned()];
    let options = Options { observe, ..Options::default() };
    let model = dalembert::load(&input, &options).model.expect("no faults");
    let named = |name: &str| model.system.observes.iter().find(|o| o.name == name).unwrap().value;
    let (f, g) = (named("left"), named("right"));
    let value = |pair| {
        let request = Request { bracket: Some(pair), ..Request::default() };
        analyze(&model, &request).ok().and_then(|a| a.value).expect("a value")
    };
    // z' = y x' = 1.125 at the start.
    let forth = value([f, g]);
    assert!((forth.1.unwrap() - 1.125).abs() < 1e-14);
    let back = value([g, f]);
    assert!((back.1.unwrap() + 1.125).abs() < 1e-14);
    let exprs = &model.exprs;
    let product = (exprs.at(f) * exprs.at(f)).id;
    assert!((value([product, g]).1.unwrap() - 2.0 * -0.25 * 1.125).abs() < 1e-14);
}

/// A function of some of the names.
fn function(random: &mut Random, names: &[&str]) -> String {
    let a = names[random.below(names.len())];
    let b = names[random.below(names.len())];
    let k = 1 + random.below(3);
    match random.below(6) {
        0 => format!("sin({k}*{a})"),
        1 => format!("{a}*{b}"),
        2 => format!("{k}*{a}^2"),
        3 => format!("cos({a})*{b}"),
        4 => format!("exp({a}/{})", k + 1),
        _ => format!("{a}/({b}^2 + {k})"),
    }
}

/// Relations φ(q, t) that are independent by their form, and two functions more.
struct Made {
    potentials: Vec<String>,
    pair: [String; 2],
}

impl Made {
    fn new(random: &mut Random, timed: bool) -> Made {
        let with = |names: &[&'static str]| -> Vec<&'static str> {
            names.iter().copied().chain(timed.then_some("t")).collect()
        };
        let x = format!("x + {}", function(random, &with(&["y", "z", "w"])));
        let y = format!("y + {}", function(random, &with(&["z", "w"])));
        let z = format!("z + {}", function(random, &with(&["w"])));
        let w = if timed { "w + t^2".to_owned() } else { "w".to_owned() };
        Made { potentials: vec![x, y], pair: [z, w] }
    }
}

/// Rows K·ω for a random K(q, t); `text` of the one-forms as rates.
fn mixed(random: &mut Random, rates: &[String], timed: bool) -> String {
    let mut text = "coord x, y, z, w\nkinetic (x'^2 + y'^2 + z'^2 + w'^2)/2\n".to_owned();
    let mut names = vec!["x", "y", "z", "w"];
    names.extend(timed.then_some("t"));
    for row in 0..rates.len() {
        let terms: Vec<String> = rates
            .iter()
            .map(|rate| format!("({} + {})*{rate}", 1 + random.below(3), function(random, &names)))
            .collect();
        text += &format!("constraint row{row}: {} = 0\n", terms.join(" + "));
    }
    for (at, x) in ["x", "y", "z", "w"].iter().enumerate() {
        text += &format!("start {x} ~ {:.2}\n", 0.4 + 0.23 * at as f64);
    }
    text + "run t = 0.2..1\n"
}

/// An exact set times an invertible matrix of factors is holonomic, whatever the
/// factors; no row of it alone, and no pair of three. With a contact form added it is
/// not, and one combination is left.
#[test]
fn integrating_factors_are_seen_through() {
    let mut random = Random::new(20260826);
    let (mut alone, mut pairs) = (0, 0);
    for case in 0..24 {
        let timed = case % 2 == 1;
        let made = Made::new(&mut random, timed);
        let rate = |f: &String| format!("({f})'");
        let exact: Vec<String> = made.potentials.iter().map(rate).collect();
        let text = mixed(&mut random, &exact, timed);
        let found = flag(&text, false);
        assert_eq!(found.growth, [3], "{text}");
        assert_eq!(found.integrable(), Some(2), "{text}");
        // One row with a factor.
        let single = mixed(&mut random, &exact[..1], timed);
        assert_eq!(flag(&single, false).growth, [4], "{single}");
        // With φ₁ replaced by dφ₁ + g dh the set is not involutive.
        let [g, h] = &made.pair;
        let contact = vec![format!("(({})' + ({g})*({h})')", made.potentials[0]), exact[1].clone()];
        let text = mixed(&mut random, &contact, timed);
        let found = flag(&text, false);
        assert_eq!(found.growth, [3, 4], "{text}");
        assert_eq!(found.integrable(), Some(1), "{text}");
        let single = mixed(&mut random, &contact[..1], timed);
        assert!(!flag(&single, false).is_involutive(), "{single}");
        // Three of which no two are integrable, unless the factors happen to be kind.
        let three: Vec<String> =
            [&made.potentials[..], &made.pair[..1]].concat().iter().map(rate).collect();
        let text = mixed(&mut random, &three, timed);
        assert_eq!(flag(&text, false).growth, [2], "{text}");
        let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("constraint")).collect();
        for left_out in &rows {
            let two = flag(&text.replace(*left_out, ""), false);
            pairs += usize::from(two.is_involutive());
        }
        let whole = analysis(&text);
        assert_eq!(whole.integrability.holonomic, Some(true), "{text}");
        use dalembert::analyze::rows::Integrable;
        alone += whole.integrability.rows.iter().filter(|r| **r == Some(Integrable::Alone)).count();
        assert!(!whole.integrability.rows.contains(&Some(Integrable::Not)), "{text}");
    }
    assert!(alone <= 2 && pairs <= 2, "{alone} rows alone and {pairs} pairs are integrable");
}

#[test]
fn relations_behind_velocity_rows() {
    // (rows, what they imply, at how many of the coordinates it is tried)
    for (rows, expected) in [
        (&["y*x' - x*y' = 0"][..], &["x/y"][..]),
        (&["y*exp(z)*x' - x*exp(z)*y' = 0"], &["x/y"]),
        (&["x' = 2*y'"], &["x - 2*y"]),
        (&["x' + t*y' + y = 0"], &["x + t*y"]),
        (&["z' = y*x'", "y' = 0"], &["y", "z - y*x"]),
        (&["x' = 2"], &["x - 2*t"]),
        (&["cos(x)*y*x' + sin(x)*y' = 0"], &["y*sin(x)"]),
    ] {
        let mut text = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nstart x ~ 0.7, y ~ 1.1, z ~ 0.4\nrun t = 0.2..1\n".to_owned();
        for row in rows {
            text += &format!("constraint {row}\n");
        }
        for (at, relation) in expected.iter().enumerate() {
            text += &format!("observe known{at} = {relation}\n");
        }
        let model = model(&text);
        let request = Request { searches: true, ..Request::default() };
        let found = analyze(&model, &request).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        assert_eq!(found.potentials.len(), expected.len(), "{text}");
        // A function of the expected one: their differentials are parallel.
        let exprs = &model.exprs;
        let mut x = model.system.positions();
        x.push(dalembert::expr::Symbol::TIME);
        let mut all: Vec<_> = model.system.observes.iter().map(|o| o.value).collect();
        all.extend(found.potentials.iter().map(|p| p.expression));
        let jacobian = exprs.jacobian(&all, &x);
        let rank = Places::anywhere(&x).rank(exprs, &jacobian).expect("defined");
        assert_eq!(rank.rank(), expected.len(), "{text}");
    }
    // Nothing is claimed of a nonholonomic row.
    let (_, found) = gallery("knife-edge", true);
    assert!(found.potentials.is_empty());
    // One of the three rows of a rolling disk is integrable: z = R sin θ.
    let (_, found) = gallery("rolling-disk", true);
    assert_eq!(found.potentials.len(), 1);
}

#[test]
fn disguised_rows_are_affine_and_others_are_not() {
    let text = |row: &str| {
        format!(
            "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nconstraint c: {row}\nstart x = 0.5, y = 0.75, z = 0.25, x' ~ 1, y' ~ 1\n"
        )
    };
    for row in ["exp(z' - y*x') = 1", "(z' - y*x')/(1 + (z' - y*x')^2) = 0"] {
        let found = analysis(&text(row));
        assert!(found.kinds[0].contains(&"affine"), "{row}: {:?}", found.kinds[0]);
        assert!(found.kinds[0].contains(&"written nonlinearly"), "{row}");
        assert_eq!(found.integrability.growth, Some(vec![3, 4]), "{row}");
    }
    assert_eq!(flag(&text("(z' - y*x')^3 = 0"), false).growth, [3, 4]);
    assert_eq!(flag(&text("(z' - 2)^3 = 0"), false).growth, [3]);
    let found = analysis(&text("x'^2 + y'^2 = z'^2"));
    assert!(found.kinds[0].contains(&"nonlinear"));
    assert_eq!(found.integrability.holonomic, Some(false));
}

#[test]
fn what_is_missing_is_said_as_a_line_of_the_model() {
    let gauge = analysis("coord x, y\nkinetic x'^2/2\nstart y = 0.25\n");
    assert_eq!(gauge.uniqueness.motion.name(), "gauge-free");
    assert_eq!(gauge.uniqueness.missing, ["constraint held: y = 0.25"]);
    assert!(gauge.uniqueness.reasons[0].contains("`y`: it has no mass and no constraint"));
    // Adding the line makes it unique.
    let held = analysis("coord x, y\nkinetic x'^2/2\nstart y = 0.25\nconstraint held: y = 0.25\n");
    assert_eq!(held.uniqueness.motion.name(), "unique");

    let (_, hidden) = gallery("two-masses-incomplete", false);
    assert_eq!(hidden.uniqueness.motion.name(), "hidden-constraint");
    assert_eq!(hidden.uniqueness.missing.len(), 1);
    let input = Input::open("gallery:two-masses-incomplete").expect("in the gallery");
    let text =
        input.text.replacen("\n```\n", &format!("\n{}\n```\n", hidden.uniqueness.missing[0]), 1);
    let completed = dalembert::load(&Input { text, ..input }, &Options::default());
    let model = completed.model.expect("the line is in the language");
    let found = analyze(&model, &Request::default()).expect("consistent");
    assert_eq!(found.uniqueness.motion.name(), "unique");
}

#[test]
fn circuits_conflicts_and_singular_configurations() {
    let (_, found) = gallery("parallelogram", true);
    assert_eq!((found.freedom.rank, found.freedom.degrees_of_freedom()), (3, 1));
    assert_eq!(found.circuits.len(), 1);
    assert!(found.circuits[0].is_consistent() && found.circuits_are_all);
    // Flat, the cranks and the coupler are in line: rank 2.
    let singular = found.singular.expect("small");
    assert!(!singular.found.is_empty());
    for place in &singular.found {
        assert!(place.rank < 3 && place.q[1].abs() < 1e-4, "{place:?}");
    }
    let (_, found) = gallery("spherical-pendulum", true);
    assert!(found.singular.expect("small").found.is_empty());
    // Two circuits that share a row make a third.
    let text = "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: x = 1\nconstraint b: 2*x = 2\nconstraint c: 3*x = 3\n";
    let found = analysis(text);
    let rows: Vec<&Vec<usize>> = found.circuits.iter().map(|c| &c.rows).collect();
    assert_eq!(rows, [&vec![0, 1], &vec![0, 2], &vec![1, 2]]);
    assert_eq!(found.uniqueness.indeterminate, [true, true, true]);
    // Rows that ask for different accelerations.
    let text =
        "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint a: x'' = 1\nconstraint b: 2*x'' = 3\n";
    let found = analysis(text);
    assert_eq!(found.circuits.len(), 1);
    assert!(!found.circuits[0].is_consistent());
    assert_eq!(found.uniqueness.motion.name(), "inconsistent");
}

/// Every page, and what it says in text and in JSON.
#[test]
fn every_page_of_the_gallery_is_analyzed() {
    for page in dalembert::gallery::pages() {
        let began = std::time::Instant::now();
        let (model, found) = gallery(page.name, true);
        let shown = dalembert::export::AnalysisPage { model: &model, analysis: &found };
        let json = shown.to_json();
        for field in [
            "format",
            "system",
            "coordinates",
            "constraints",
            "rank",
            "degrees_of_freedom",
            "motion",
            "redundant",
            "undetermined",
            "holonomic",
            "integrable",
            "growth_vector",
            "jacobi_defect",
            "kinds",
            "ignorable",
            "invariants",
        ] {
            assert!(json.get(field).is_some(), "{}: no {field}", page.name);
        }
        assert!(!shown.to_text().contains("NaN"), "{}", page.name);
        assert!(began.elapsed().as_secs() < 60, "{} took {:?}", page.name, began.elapsed());
        println!("{:<40} {:?}", page.name, began.elapsed());
    }
}

#[test]
fn large_and_impossible_models() {
    let input = Input::open("gallery:n-link-chain").expect("in the gallery");
    let options = Options { set: vec!["N=10".to_owned()], ..Options::default() };
    let chain = dalembert::load(&input, &options).model.expect("no faults");
    let found =
        analyze(&chain, &Request { searches: true, ..Request::default() }).expect("consistent");
    assert_eq!(found.freedom.degrees_of_freedom(), 10);
    // No start satisfies x² = −1.
    let none = model("coord x\nkinetic x'^2/2\nconstraint c: x^2 = -1\n");
    assert!(analyze(&none, &Request::default()).is_err());
    let missing = model("param m\ncoord x\nkinetic m*x'^2/2\n");
    assert!(analyze(&missing, &Request::default()).is_err());
}

/// The same system by H has the same bracket.
#[test]
fn a_model_given_by_h() {
    let found = |energy: &str| {
        let text = format!(
            "coord x, y, z\n{energy}\nconstraint c: z' = y*x'\nstart x = 0.5, y = 0.75, y' = 0.2, x' ~ 1\n"
        );
        let model = model(&text);
        let found = analyze(&model, &Request::default()).unwrap_or_else(|e| panic!("{e:?}"));
        let page = dalembert::export::AnalysisPage { model: &model, analysis: &found }.to_json();
        (page["bracket"].clone(), page["growth_vector"].clone(), page["kinds"].clone())
    };
    let by_l = found("kinetic (x'^2 + 2*y'^2 + 3*z'^2)/2 + x'*y'/4\npotential x*y");
    let by_h = found("hamiltonian (p_x^2*2 + p_y^2 - p_x*p_y/2)/(2*(2 - 1/16)) + p_z^2/6 + x*y");
    assert_eq!(by_l.1, by_h.1);
    assert_eq!(by_l.2, by_h.2);
    assert_eq!(by_l.0["variables"], by_h.0["variables"]);
    assert_eq!(
        by_l.0["jacobiator"].as_array().map(Vec::len),
        by_h.0["jacobiator"].as_array().map(Vec::len)
    );
    assert!(by_l.0["jacobiator"].as_array().is_some_and(|l| !l.is_empty()));
}
