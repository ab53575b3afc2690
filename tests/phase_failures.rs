//! Runs that end in a phase of contacts and friction: the rows of the phase are not the model's, and
//! what is said points at the contact or friction that they are of.

mod support;

use dalembert::failures;
use dalembert::model::render::render;
use dalembert::simulate::run::{self, RunOptions};
use dalembert::simulate::{Setting, drive::End};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

/// A box on three or four points, with whatever moves it.
fn boxed(points: usize, mu: f64, gravity: &str, more: &str, start: &str) -> String {
    let place =
        [["a", "b"], ["-a", if points == 3 { "0" } else { "b" }], ["a", "-b"], ["-a", "-b"]];
    let contact = |(k, [x, y]): (usize, &[&str; 2])| {
        format!("contact c{k}: ground normal [0,0,1], box at [{x},{y},-h], friction mu\n")
    };
    let contacts: String = place[..points].iter().enumerate().map(contact).collect();
    format!(
        "param m = 1, a = 0.2, b = 0.1, h = 0.05, mu = {mu}, g = 9.81
         gravity {gravity}
         body box: mass m, inertia m/3*[b^2+h^2, a^2+h^2, a^2+b^2], free
         {contacts}{more}
         start box.r = [0,0,h], {start}
         run t = 0..2"
    )
}

/// Three points share what holds a box in more than one way: it rests on a slope below the angle of
/// friction, slides and turns until it rests, and holds against less than μ of its weight.
#[test]
fn a_box_on_three_points_comes_to_rest() {
    let (down, rest) = ("[0,0,-g]", "box.velocity = [0,0,0], box.omega = [0,0,0]");
    let slope = "g*[sin(0.4),0,-cos(0.4)]";
    let pushed = |force: &str| boxed(3, 0.3, down, &format!("force box.r[1]: {force}"), rest);
    let ends = [
        (boxed(3, 0.5, slope, "", rest), Some([0.0; 2])),
        (boxed(4, 0.5, slope, "", rest), Some([0.0; 2])),
        (
            boxed(3, 0.3, down, "", "box.velocity = [1,0.3,0], box.omega = [0,0,0]"),
            // v²/(2μg) along v.
            Some([1.0, 0.3].map(|v: f64| v * 1.09f64.sqrt() / (2.0 * 0.3 * 9.81))),
        ),
        (boxed(3, 0.3, down, "", "box.velocity = [0,0,0], box.omega = [0,0,3]"), None),
        (pushed("2.5"), Some([0.0; 2])),
        (pushed("2.9"), Some([0.0; 2])),
        (pushed("4"), Some([2.0 * (4.0 - 0.3 * 9.81), 0.0])),
    ];
    for (text, end) in ends {
        let loaded = support::load(&text);
        let model = loaded.model.as_ref().unwrap_or_else(|| panic!("{}", support::render(&loaded)));
        let setting = Setting::new(model).expect("values");
        let options = RunOptions::of_model(&setting);
        let report =
            run::run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("a run");
        assert_eq!(report.end, End::Finished, "{text}");
        assert!(report.verdict().is_ok(), "{text}: {:?}", report.verdict());
        let Some(end) = end else { continue };
        let place = &report.last.as_ref().expect("a state").state.q;
        let apart = (place[0] - end[0]).hypot(place[1] - end[1]);
        assert!(apart < 1e-9, "{apart:e} from {end:?}:\n{text}");
    }
}

/// Whatever ends them, no row is looked for where it is not, and what is pointed at touches or rubs.
#[test]
fn rows_of_phases_are_told_by_their_contacts() {
    let (down, rest) = ("[0,0,-g]", "box.velocity = [0,0,0], box.omega = [0,0,0]");
    let slope = "g*[sin(0.4),0,-cos(0.4)]";
    let mut texts = vec![
        boxed(4, 0.3, down, "", "box.velocity = [1,0.3,0], box.omega = [0,0,3]"),
        boxed(3, 0.5, slope, "", rest),
        boxed(4, 0.5, slope, "", rest),
        boxed(3, 0.3, down, "", "box.velocity = [1,0.3,0], box.omega = [0,0,0]"),
        boxed(3, 0.3, down, "", "box.velocity = [0,0,0], box.omega = [0,0,3]"),
    ];
    for force in ["2.5", "2.9", "4"] {
        texts.push(boxed(3, 0.3, down, &format!("force box.r[1]: {force}"), rest));
    }
    let mut told_of = 0;
    for text in texts {
        let loaded = support::load(&text);
        let model = loaded.model.as_ref().unwrap_or_else(|| panic!("{}", support::render(&loaded)));
        let setting = Setting::new(model).expect("values");
        let options = RunOptions::of_model(&setting);
        let report = match run::run(&setting, &options, &mut |_| ControlFlow::Continue(())) {
            Ok(report) => report,
            Err(_) => continue,
        };
        let End::Failed(failure) = &report.end else { continue };
        let words = failure.words(model);
        let told = failures::explain(&setting, &report, &loaded.file).expect("a failure");
        let spans = told.labels.iter().map(|label| label.span);
        for span in spans {
            let place = &text[span.start as usize..span.end as usize];
            assert!(place.starts_with("contact"), "{place:?}: {words}\n{text}");
        }
        told_of += usize::from(words.contains("c0 closed"));
    }
    assert!(told_of > 0, "none of them spoke of contacts");
}

/// What is said of loads that are not found with the friction they make.
#[test]
fn coupled_frictions_are_pointed_at() {
    for (text, place) in [
        (
            "coord x, y
             kinetic (x'^2 + y'^2)/2
             contact floor: y >= 0, sliding x', friction 0.3",
            "contact floor",
        ),
        (
            "coord x, y
             kinetic (x'^2 + y'^2)/2
             constraint rail: y = 0
             friction rub: 0.3*abs(multiplier(rail)) along x'",
            "friction rub",
        ),
    ] {
        let model = support::motion::model(text);
        let told = failures::explain_coupled(&model, "words");
        let span = told.labels[0].span;
        assert!(text[span.start as usize..].starts_with(place), "{span:?}");
    }
}

/// The models on the pages of diagnostics that runs find, and what is said of them.
#[test]
fn pages_show_what_runs_find() {
    for code in [
        "start-penetrates",
        "penetrates",
        "impact-not-unique",
        "contact-not-unique",
        "contact-none",
        "contact-degenerate",
    ] {
        let path = format!("crates/model/src/codes/{code}.md");
        let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        let page = page.expect("a page");
        let text = page.split("```dal\n").nth(1).and_then(|rest| rest.split("```").next());
        let loaded = support::load(text.expect("a model"));
        let model = loaded.model.as_ref().unwrap_or_else(|| panic!("{}", support::render(&loaded)));
        let setting = Setting::new(model).expect("values");
        let options = RunOptions::of_model(&setting);
        let report = run::run(&setting, &options, &mut |_| ControlFlow::Continue(()));
        let report = report.unwrap_or_else(|error| panic!("{code}: {error:?}"));
        let told = failures::explain(&setting, &report, &loaded.file).expect("a failure");
        assert_eq!(told.code.name(), code);
        insta::assert_snapshot!(code, render(&[told], &loaded.sources, false));
    }
}

/// A coin falls flat: what it comes to is no point of contact, and is told by its name.
#[test]
fn a_coin_that_falls_flat_is_told() {
    let text = "gravity [0, 0, -9.81]
        body coin: mass 1, inertia [0.0025, 0.0025, 0.005], free
        contact edge: ground normal [0, 0, 1], coin radius 0.1 axis [0, 0, 1], friction 0.3
        start coin.rotation = Rx(0.3), coin.r = [0, 0, 0.1*sin(0.3)]
        run t = 0..2";
    let loaded = support::load(text);
    let model = loaded.model.as_ref().unwrap_or_else(|| panic!("{}", support::render(&loaded)));
    let setting = Setting::new(model).expect("values");
    let options = RunOptions::of_model(&setting);
    let report = run::run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("a run");
    let told = failures::explain(&setting, &report, &loaded.file).expect("a failure");
    assert_eq!(told.code.name(), "contact-degenerate", "{}", told.message);
}
