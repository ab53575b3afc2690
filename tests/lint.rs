//! Remarks about models without faults. Models that yield them are in
//! `tests/diagnostics/`; here are those that must not, and those of the gallery, each
//! of which was looked at.

#[path = "properties/random.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod random;
mod support;

use dalembert::checks::{self, CheckOutcome};
use dalembert::model::load::Syntax;
use dalembert::{Input, Options, Severity, lint, load};
use random::Random;
use support::model_text;
use support::oracle_model::{name, oracles};

fn found(input: &Input) -> Vec<String> {
    let loaded = load(input, &Options::default());
    assert!(!loaded.is_faulty(), "{}: {:?}", input.name, loaded.diagnostics);
    let line = |d: &dalembert::Diagnostic| {
        let severity = match d.severity {
            Severity::Fault => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        format!("{severity}[{}]: {}", d.code, d.message)
    };
    lint(&loaded).iter().map(line).collect()
}

fn found_in(text: &str) -> Vec<String> {
    found(&Input::text("model", text))
}

/// Redundant rows and singular masses, all on purpose.
const GALLERY: &[(&str, &str)] = &[
    ("nonideal-dependent-rows", "note[constraint-implied]: constraint `again` follows from `once`"),
    (
        "parallelogram",
        "note[constraint-implied]: constraint `middle` follows from `left` and `right`",
    ),
    (
        "singular-wheel",
        "note[massless-coordinate]: `y` has no mass, though a force acts on it: the constraints alone move it",
    ),
    (
        "singular-wheel-and-particle",
        "note[massless-coordinate]: `y` has no mass, though a force acts on it: the constraints alone move it",
    ),
    (
        "singular-wheel-and-particle",
        "note[massless-coordinate]: `x` has no mass, and no constraint determines its acceleration",
    ),
    (
        "two-masses-incomplete",
        "note[massless-coordinate]: `x` has no mass, and no constraint determines its acceleration",
    ),
    (
        "two-masses-without-the-first",
        "note[massless-coordinate]: `x` has no mass, though a force acts on it: the constraints alone move it",
    ),
    (
        "two-masses-without-the-second",
        "note[massless-coordinate]: `q2` has no mass, though a force acts on it: the constraints alone move it",
    ),
    (
        "two-wheels-on-an-axle",
        "note[constraint-implied]: constraint `roll2` follows from `axle` and `roll1`",
    ),
    (
        "what-multipliers-get-wrong",
        "note[massless-coordinate]: `s` has no mass, though a force acts on it: the constraints alone move it",
    ),
    (
        "what-multipliers-get-wrong",
        "note[constraint-implied]: constraint `again` follows from `skate`",
    ),
    // On the branch that it starts on: beyond a singular position they could.
    (
        "benchmarks/n-four-bar",
        "note[coordinate-at-rest]: `h[1]` does not move near the start: together the constraints leave it no velocity",
    ),
    (
        "benchmarks/n-four-bar",
        "note[coordinate-at-rest]: `h[2]` does not move near the start: together the constraints leave it no velocity",
    ),
    (
        "benchmarks/two-masses-without-the-first",
        "note[massless-coordinate]: `x1bar` has no mass, though a force acts on it: the constraints alone move it",
    ),
    (
        "benchmarks/two-wheels",
        "note[constraint-implied]: constraint `roll2` follows from `axle` and `roll1`",
    ),
    (
        "benchmarks/wheel-on-a-slope",
        "note[massless-coordinate]: `y` has no mass, though a force acts on it: the constraints alone move it",
    ),
];

#[test]
fn the_gallery_has_these_findings_and_no_others() {
    let mut all = Vec::new();
    for page in dalembert::gallery::pages() {
        let input = Input::open(&format!("gallery:{}", page.name)).expect("in the gallery");
        all.extend(found(&input).into_iter().map(|f| (page.name, f)));
    }
    let all: Vec<(&str, &str)> = all.iter().map(|(page, f)| (*page, f.as_str())).collect();
    assert_eq!(all, GALLERY);
}

/// The systems of the papers and random ones are meant as they are: no warning.
#[test]
fn no_warning_on_reference_models() {
    let mut looked = 0;
    for oracle in oracles() {
        if !oracle["model"]["q"].is_array() {
            continue;
        }
        let list = found_in(&model_text(&oracle));
        let warnings: Vec<&String> = list.iter().filter(|f| f.starts_with("warning")).collect();
        // Their L may hold parameters that change nothing, which is what such tests are for.
        // Singular masses are what the papers are about.
        let expected = |f: &&&String| {
            !f.contains("parameter-without-effect") && !f.contains("massless-coordinate")
        };
        assert_eq!(warnings.iter().filter(expected).count(), 0, "{}: {warnings:?}", name(&oracle));
        looked += 1;
    }
    assert!(looked >= 40, "only {looked} models");
}

/// An integrable constraint may be put into T, a massless coordinate may be held by a
/// position, and a coordinate with inertia is no sign of anything.
#[test]
fn what_is_right_is_left_alone() {
    let holonomic = "
        param m = 2, r = 0.5
        coord x, th
        kinetic m/2*(r*th')^2
        constraint roll: x' = r*th'
        start th' = 1";
    let positions = "
        param m = 2
        coord x, y, z
        kinetic m/2*(x'^2 + y'^2 + (y*x' + x*y')^2)
        constraint height: z = x*y
        start x = 1, y = 1, x' = 1";
    let kept = "
        param m = 2
        coord x, y, z
        kinetic m/2*(x'^2 + y'^2 + z'^2)
        constraint skate: z' = y*x'
        start y = 1, x' = 1, y' = 1";
    // Integrable only together: dz = y dx with y fixed.
    let together = "
        param m = 2
        coord x, y, z
        kinetic m/2*(x'^2 + y'^2 + (y*x')^2)
        constraint rail: z' = y*x'
        constraint fixed: y' = 0
        start y = 1, x' = 1";
    for text in [holonomic, positions, kept, together] {
        assert_eq!(found_in(text), [""; 0], "{text}");
    }
}

/// The trace of a substitution tells its mass, and it must be exact: a T that only
/// resembles one is not warned of.
#[test]
fn the_trace_must_be_exact() {
    let text = |extra: &str| {
        format!(
            "coord x, y, z
             kinetic (x'^2 + y'^2)/2 + {extra}
             constraint skate: z' = y*x'
             start y = 1, x' = 1, y' = 0.5"
        )
    };
    let is_warned = |extra: &str| {
        let list = found_in(&text(extra));
        assert_eq!(list.len(), 1, "{list:?}");
        list[0].starts_with("warning[substituted-velocity]")
    };
    assert!(is_warned("3/2*(y*x')^2"));
    assert!(!is_warned("3/2*(y^2 + 0.001*y^4)*x'^2"));
    assert!(!is_warned("y^2/2*y'^2"));
    let loaded = load(&Input::text("model", &text("3/2*(y*x')^2")), &Options::default());
    let hint = &lint(&loaded)[0].hints[0];
    assert!(hint.contains("1.500000*z'^2"), "{hint}");
}

/// Warnings and notes are seen by the checks of a page.
#[test]
fn checks_of_a_page_see_them() {
    let page = |line: &str| {
        let model = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\nconstraint one: z' = y*x'\n\
                     constraint two: z' = y*x'\nstart y = 1, x' = 1, y' = 1";
        let mut input =
            Input::text("page", &format!("```dal\n{model}\n```\n```check\n{line}\n```\n"));
        input.syntax = Syntax::Markdown;
        let results = checks::run(&load(&input, &Options::default()));
        assert_eq!(results.len(), 1);
        matches!(results[0].outcome, CheckOutcome::Holds(_))
    };
    assert!(page("warning constraint-implied"));
    assert!(!page("warning substituted-velocity"));
}

/// Models without numbers get the remarks that need none, and no trouble.
#[test]
fn models_without_numbers() {
    let text = "param m, F = 1\ncoord x\nkinetic m/2*x'^2\nforce [F, 0] at [1, 2]\n";
    assert_eq!(found_in(text), ["warning[force-without-effect]: this force acts on no coordinate"]);
    // A start that cannot be made consistent.
    let text = "coord x\nkinetic x'^2/2\nconstraint c: x = 1\nstart x = 2\n";
    assert_eq!(found_in(text), [""; 0]);
}

/// A number as the language writes it.
fn number(x: f64) -> String {
    format!("({x:.6})")
}

/// T = Σ dₖ/2 zₖ′² with z = L q, on the constraints zₖ = 0 for k in S: the mass is negative
/// exactly if some dₖ < 0 with k not in S, whatever L and the units of q are. A
/// coordinate has no mass exactly if its column of L vanishes where dₖ is not 0.
#[test]
fn negative_and_missing_masses_are_found_and_no_others() {
    let mut random = Random::new(5);
    let mut counts = [0; 2];
    for case in 0..300 {
        let n = 2 + random.below(4);
        let is_forgotten = random.one_in(4);
        let units: Vec<i32> = (0..n).map(|_| random.below(9) as i32 - 4).collect();
        let mut text = format!("coord q[1..{n}]\n");
        let mut negative = Vec::new();
        // z are independent; the last coordinate is in one of them, or forgotten.
        for k in 0..n - usize::from(is_forgotten) {
            let mut z =
                format!("{}*1e{}*q[{}]", number(1.0 + random.below(9) as f64), units[k], k + 1);
            for (i, unit) in units.iter().enumerate().take(k) {
                if random.one_in(2) {
                    let entry = number(random.signed());
                    z.push_str(&format!(" + {entry}*1e{unit}*q[{}]", i + 1));
                }
            }
            let (weight, is_held) = (random.signed(), random.one_in(3));
            text.push_str(&format!("let z{k} = {z}\nkinetic {}/2*z{k}'^2\n", number(weight)));
            if !is_held && weight < 0.0 {
                negative.push(text.lines().count());
            }
            if is_held {
                text.push_str(&format!("constraint c{k}: z{k} = 0\n"));
            }
        }
        let input = Input::text("model", &text);
        let loaded = load(&input, &Options::default());
        assert!(!loaded.is_faulty(), "{text}\n{:?}", loaded.diagnostics);
        let findings = lint(&loaded);
        let of = |code: &str| findings.iter().filter(|d| d.code.name() == code).collect::<Vec<_>>();
        let (minus, missing) = (of("indefinite-mass"), of("massless-coordinate"));
        assert_eq!(minus.len(), usize::from(!negative.is_empty()), "case {case}:\n{text}");
        if let Some(found) = minus.first() {
            let (line, _) = loaded.sources.line_column(found.labels[0].span);
            assert!(negative.contains(&line), "case {case}: line {line}\n{text}");
            counts[0] += 1;
        }
        let name = format!("`q[{n}]` has no mass");
        assert_eq!(missing.len(), usize::from(is_forgotten), "case {case}:\n{text}");
        assert!(missing.iter().all(|d| d.message.starts_with(&name)), "case {case}:\n{text}");
        counts[1] += missing.len();
    }
    assert!(counts.iter().all(|&count| count > 40), "{counts:?}");
}
