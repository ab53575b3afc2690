//! Phases whose rows depend on each other, or that leave no motion: what can go on does, and what is said
//! points at the contact or friction that it is of.

mod support;

use dalembert::failures;
use dalembert::simulate::run::{self, RunOptions};
use dalembert::simulate::{Setting, drive::End};
use std::ops::ControlFlow;

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
