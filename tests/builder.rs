//! The builder gives the same system as the language.

use dalembert::build::Builder;
use dalembert::{Input, Model, Options};

fn from_text(text: &str) -> Model {
    let loaded = dalembert::load(&Input::text("model", text), &Options::default());
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("{shown}"))
}

fn document(model: &Model) -> String {
    let equations = dalembert::derive(model, None).unwrap_or_else(|_| panic!("does not derive"));
    dalembert::export::Derivation::new(model, &equations).to_text()
}

#[test]
fn every_kind_of_statement() {
    let b = Builder::new("Everything");
    let (m, k) = (b.param("m", 1.5), b.param("k", 40));
    let (x, y) = (b.coord("x"), b.coord("y"));
    let th = b.coords("th", 1..=2);
    let r = b.define("r", [x, y]);
    b.kinetic(m / 2 * r.prime().dot(r.prime()));
    b.kinetic((th[0].prime().powi(2) + th[1].prime().powi(2)) / 2);
    b.potential(k / 2 * r.dot(r));
    b.lagrangian(th[0] * th[1].prime());
    b.dissipation(x.prime().powi(2) / 10);
    b.force_on(x, b.time().sin());
    b.force_at((0, -m), r);
    b.force_along(-2 * y.prime(), y.prime());
    b.nonideal_on(y, -x.prime());
    let rod = b.constraint("rod", r.norm(), 2);
    b.constraint("roll", x.prime(), th[0].prime() * y);
    b.constraint("ratio", th[0].momentum(), 3 * th[1].momentum());
    b.constraint("servo", th[1].prime().prime(), -th[1]);
    b.speed("w", x.prime() * y.cos());
    b.start(x, 1);
    b.guess(y, 1.7);
    b.run(0, 5);
    b.observe("lambda", rod.multiplier());
    b.line("event top: y = 0 rising -> stop");
    let built = b.finish().unwrap_or_else(|wrong| {
        panic!("{}", dalembert::model::render::render(&wrong.diagnostics, &wrong.sources, false))
    });
    let written = from_text(
        "system Everything\nparam m = 1.5, k = 40\ncoord x, y, th[1..2]\nlet r = [x, y]\n\
         kinetic m/2*dot(r', r') + (th[1]'^2 + th[2]'^2)/2\npotential k/2*dot(r, r)\n\
         lagrangian th[1]*th[2]'\ndissipation x'^2/10\nforce x: sin(t)\nforce [0, -m] at r\n\
         force -2*y' along y'\nnonideal y: -x'\nconstraint rod: norm(r) = 2\n\
         constraint roll: x' = th[1]'*y\nconstraint ratio: p_th[1] = 3*p_th[2]\n\
         constraint servo: th[2]'' = -th[2]\nspeed w = x'*cos(y)\nstart x = 1, y ~ 1.7\nrun t = 0..5\n\
         observe lambda = multiplier(rod)\nevent top: y = 0 rising -> stop",
    );
    assert_eq!(document(&built), document(&written));
    assert_eq!(built.system.events.len(), 1);
    assert_eq!(built.system.speeds.len(), 1);
    assert_eq!(built.system.start.len(), 2);
    // And the text it keeps is the model again.
    assert_eq!(document(&from_text(&b.source())), document(&built));
}

#[test]
fn bodies_and_large_expressions() {
    let b = Builder::new("Chain of bodies");
    let (m, l, g) = (b.param("m", 1), b.param("l", 0.5), b.param("g", 9.81));
    let th = b.coords("th", 1..=6);
    b.gravity((0, -g));
    let mut tip = b.vector([0, 0]);
    for (i, &angle) in th.iter().enumerate() {
        let along = b.vector([angle.sin(), -angle.cos()]);
        b.body(&format!("rod[{}]", i + 1), m, m * l.powi(2) / 12, tip + l / 2 * along, angle);
        tip = tip + l * along;
    }
    let model = b.finish().unwrap_or_else(|wrong| {
        panic!("{}", dalembert::model::render::render(&wrong.diagnostics, &wrong.sources, false))
    });
    // What grows is named on the way, so the text stays short.
    assert!(b.source().lines().all(|line| line.len() < 600), "{}", b.source());
    let written = from_text(
        "system Chain of bodies\nparam m = 1, l = 0.5, g = 9.81\ncoord th[1..6]\ngravity [0, -g]\n\
         let tip[0] = [0, 0]\nfor i in 1..6 {\n  let u = [sin(th[i]), -cos(th[i])]\n\
         body rod[i]: mass m, inertia m*l^2/12, at tip[i-1] + l/2*u, turning th[i]\n\
         let tip[i] = tip[i-1] + l*u\n}",
    );
    assert_eq!(document(&model), document(&written));
}

#[test]
fn mistakes_are_reported_with_a_line() {
    let b = Builder::new("Wrong");
    let x = b.coord("x");
    b.kinetic(x.prime().powi(2) / 2 + b.named("y"));
    b.potential(f64::NAN);
    let Err(wrong) = b.finish() else { panic!("`y` is not defined") };
    let shown = dalembert::model::render::render(&wrong.diagnostics, &wrong.sources, false);
    assert!(shown.contains("error[unknown-name]") && shown.contains("kinetic"), "{shown}");
    assert!(wrong.diagnostics.len() >= 2, "{shown}");
}
