//! Every page of the gallery, discovered in its folder: it has no faults, its
//! equations derive, it prints and parses back to itself, and its checks hold.

use dalembert::checks::{self, CheckOutcome};
use dalembert::model::format::format;
use dalembert::model::load::Syntax;
use dalembert::model::parser;
use dalembert::model::span::{SourceId, Span};
use dalembert::{Input, Options};

/// As many checks of pages as hold at least.
const HOLD: usize = 700;

fn pages() -> Vec<(String, Input)> {
    let pages: Vec<_> = dalembert::gallery::pages()
        .map(|page| {
            (
                page.name.to_owned(),
                Input::open(&format!("gallery:{}", page.name)).expect("in the gallery"),
            )
        })
        .collect();
    assert!(pages.len() >= 30, "only {} pages", pages.len());
    pages
}

/// Pages of subfolders bear their path as a name, and come after the others.
#[test]
fn subfolders_are_part_of_it() {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    let count = |folder: &str| {
        let entries = std::fs::read_dir(format!("{root}/{folder}")).expect("a folder").flatten();
        entries.filter(|e| e.path().extension().is_some_and(|e| e == "md")).count()
    };
    let names: Vec<&str> = dalembert::gallery::pages().map(|page| page.name).collect();
    let (own, below) = names.split_at(count("gallery"));
    assert!(own.iter().all(|name| !name.contains('/')), "{own:?}");
    assert_eq!(below.len(), count("gallery/benchmarks"));
    assert!(below.iter().all(|name| name.starts_with("benchmarks/")), "{below:?}");
    assert!(own.is_sorted() && below.is_sorted());
    assert!(Input::open("gallery:benchmarks/andrews").is_ok());
}

#[test]
fn every_page_derives() {
    for (name, input) in pages() {
        let loaded = dalembert::load(&input, &Options::default());
        let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
        assert!(shown.is_empty(), "{name}:\n{shown}");
        let model = loaded.model.expect("no faults");
        assert!(!model.system.title.is_empty(), "{name} has no `system` statement");
        let equations =
            dalembert::derive(&model, None).unwrap_or_else(|_| panic!("{name} does not derive"));
        assert_eq!(equations.metric.rows.len(), model.system.n_coordinates());
        assert_eq!(equations.jacobian.rows.len(), model.system.constraints.len());
    }
}

#[test]
fn print_parse_print_is_the_identity() {
    for (name, input) in pages() {
        let mut diagnostics = Vec::new();
        let tree = parser::parse(SourceId(0), &input.text, true, &mut diagnostics);
        let first = format(&tree);
        let again = parser::parse(SourceId(0), &first, false, &mut diagnostics);
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}\n{first}");
        assert_eq!(first, format(&again), "{name}");
        // And it means the same: equal equations. Checks are not printed, and the order of
        // terms may depend on whatever else was read, so they are left out of both.
        let bare = Input { text: input.text.replace("```check", "```text"), ..input };
        let original = dalembert::load(&bare, &Options::default()).model.expect("no faults");
        let printed = dalembert::load(&Input::text(&name, &first), &Options::default())
            .model
            .expect("no faults");
        let equations = [&original, &printed].map(|model| {
            let equations =
                dalembert::derive(model, None).unwrap_or_else(|_| panic!("{name} does not derive"));
            dalembert::export::Derivation::new(model, &equations).to_json().to_string()
        });
        assert_eq!(equations[0], equations[1], "{name}");
    }
}

/// What a page claims is true. Lines that this version cannot check are counted,
/// with the reason, never skipped in silence.
#[test]
fn every_check_holds_or_waits() {
    let (mut hold, mut run) = (0, 0);
    for (name, input) in pages() {
        let loaded = dalembert::load(&input, &Options::default());
        let results = checks::run(&loaded);
        assert_eq!(results.len(), loaded.file.checks.len(), "{name}");
        let before = hold;
        for result in &results {
            match &result.outcome {
                CheckOutcome::Holds(_) => hold += 1,
                CheckOutcome::Waits("it needs a run") => run += 1,
                other => panic!("{name}: {}\n  {other:?}", line(&input, result.span)),
            }
        }
        assert!(hold > before, "{name} checks nothing");
    }
    println!("{hold} checks hold; {run} wait for a run");
    assert!(hold >= HOLD, "only {hold} checks hold");
}

/// The line that a check is.
fn line(input: &Input, span: Span) -> &str {
    input.text.get(span.start as usize..span.end as usize).unwrap_or("?")
}

/// Every kind of check can fail: for each that holds there is one beside it that does
/// not and is noticed.
#[test]
fn wrong_checks_are_noticed() {
    let model = "
```dal
param m = 2, k = 3
coord x, y, z
kinetic m/2*(x'^2 + y'^2 + z'^2)
potential k/2*x^2
constraint skate: z' = y*x'
constraint again: 2*z' = 2*y*x'
start x = 0.5, y = 0.75, x' = 1.5, y' = -0.5
```
";
    let lines = [
        ("(1 + y^2)*x'' = -k/m*x - y*y'*x' at start", true),
        // The constraint put into T, and a number that is off in the last digits.
        ("(1 + y^2)*x'' = -k/m*x - 2*y*y'*x' at start", false),
        ("x'' = -0.12 within 1e-12 at start", true),
        ("x'' = -0.1200000001 within 1e-12 at start", false),
        // True at the start, but not elsewhere.
        ("x'' = -0.12 within 1e-12", false),
        ("y'' = 0 within 1e-12", true),
        ("y'' = y*x'^2 within 1e-12", false),
        ("[reaction(x), reaction(z)] = m*z''*[-y, 1] within 1e-12", true),
        ("[reaction(x), reaction(z)] = m*z''*[y, 1] within 1e-12", false),
        // Not determined, so not equal to anything.
        ("multiplier(skate) = multiplier(skate)", false),
        ("x'' = -3/4 at x = 0.5", true),
        ("x'' = -3/4 at x = 0.5, y = 1, x' = 1, y' = 1", false),
        ("motion unique", true),
        ("motion gauge-free", false),
        ("agree within 1e-10", true),
        ("agree within 1e-30", false),
        ("warning unused-parameter", false),
        ("analyze rank = 1", true),
        ("analyze rank = 2", false),
        ("analyze redundant = [[\"skate\", \"again\"]]", true),
        ("analyze redundant = [[\"skate\"]]", false),
        ("analyze growth_vector = [3, 4]", true),
        ("analyze growth_vector = [3, 4, 5]", false),
        ("analyze holonomic = false", true),
        ("analyze holonomic = null", false),
        (
            "analyze kinds.skate = [\"velocity-level\", \"affine\", \"nonholonomic\", \"scleronomic\", \"catastatic\", \"ideal\"]",
            true,
        ),
        ("analyze freedom = 2", false),
    ];
    for (line, expected) in lines {
        let mut input = Input::text("page", &format!("{model}\n```check\n{line}\n```\n"));
        input.syntax = Syntax::Markdown;
        let loaded = dalembert::load(&input, &Options::default());
        let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
        let results = checks::run(&loaded);
        assert_eq!(results.len(), 1, "{line}\n{shown}");
        let outcome = &results[0].outcome;
        assert_eq!(matches!(outcome, CheckOutcome::Holds(_)), expected, "{line}: {outcome:?}");
        assert_eq!(matches!(outcome, CheckOutcome::Fails(_)), !expected, "{line}: {outcome:?}");
        assert_eq!(checks::fault(&results[0]).is_some(), !expected, "{line}");
    }
}

/// A page of the gallery with a digit changed does not pass.
#[test]
fn a_wrong_number_on_a_page_is_noticed() {
    for (name, right, wrong) in [
        ("two-masses", "x'' = 4/3", "x'' = 5/3"),
        ("rolling-wheel", "theta'' = -cos(phi)/2", "theta'' = -cos(phi)/3"),
        ("bracket-particle", "p_x = P/(1 + y^2)", "p_x = P*(1 + y^2)"),
        ("two-masses-without-the-first", "q1'' + q2'' = -k1", "q1'' + q2'' = k1"),
        ("singular-wheel-and-particle", "motion gauge-free", "motion unique"),
    ] {
        let mut input = Input::open(&format!("gallery:{name}")).expect("in the gallery");
        assert!(input.text.contains(right), "{name}");
        input.text = input.text.replacen(right, wrong, 1);
        let results = checks::run(&dalembert::load(&input, &Options::default()));
        let failed = results.iter().filter(|r| matches!(r.outcome, CheckOutcome::Fails(_))).count();
        assert_eq!(failed, 1, "{name}");
    }
}
