//! Pages of the whole gallery: most of them move in the page, the others say why they do not, and
//! what moves in the page is the motion that was made.

use dalembert::page::{Origin, make};
use dalembert::simulate::Setting;
use dalembert::simulate::run::RunOptions;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;

/// The page of an example, until some time.
fn page(name: &str, end: Option<f64>) -> Option<(Value, f64)> {
    let input = dalembert::Input::open(&format!("gallery:{name}")).ok()?;
    let mut loaded = dalembert::load(&input, &dalembert::Options::default());
    if loaded.is_faulty() {
        return None;
    }
    let model = loaded.model.take()?;
    let setting = Setting::new(&model).ok()?;
    let mut options = RunOptions::of_model(&setting);
    options.end = end.unwrap_or(options.end);
    let origin = Origin { model: &model, name, text: &input.text, command: "dal run", end };
    let made = make(origin, (&setting, &options), false, &mut |_| ControlFlow::Continue(())).ok()?;
    Some((made.data, options.end))
}

#[test]
fn look() {
    let folder = PathBuf::from("/tmp/live-pages");
    std::fs::create_dir_all(&folder).unwrap();
    for name in dalembert::gallery::pages().map(|e| e.name) {
        let began = std::time::Instant::now();
        let Some((data, _)) = page(name, None) else { println!("{name}: no page"); continue };
        let text = data.to_string();
        println!("{name}: {} kB, code {} kB, {:?}, {}", text.len() / 1000, data["live"]["code"].as_str().map_or(0, |c| c.len() / 1000), began.elapsed(), data["live"]["why"]);
        std::fs::write(folder.join(name.replace('/', "-") + ".json"), text).unwrap();
    }
    let _ = (json!(0), Command::new("node"));
}
