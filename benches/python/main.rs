//! The calls that `overhead.py` makes from Python, from Rust: least times in seconds, as JSON.

use dalembert::export::EvaluationPage;
use dalembert::prelude::*;
use dalembert::simulate::report::{Options as EvalOptions, in_phase_at};
use dalembert::simulate::setting::{Setting, State};
use dalembert::{Input, Options};
use std::hint::black_box;
use std::time::Instant;

/// The least time of a call, of several rounds.
fn least(calls: u32, mut call: impl FnMut()) -> f64 {
    let round = |_| {
        let clock = Instant::now();
        (0..calls).for_each(|_| call());
        clock.elapsed().as_secs_f64() / f64::from(calls)
    };
    (0..30).map(round).fold(f64::INFINITY, f64::min)
}

fn main() {
    let mut systems = serde_json::Map::new();
    for name in ["spherical-pendulum", "four-bar", "rolling-disk"] {
        let input = Input::open(&format!("gallery:{name}")).expect("it is in the gallery");
        let loaded = dalembert::load(&input, &Options::default());
        let model = loaded.model.expect("it has no faults");
        let motion = model.simulate(0.0..0.01).every(0.01).verify(false).run().expect("it runs");
        let state = motion.last().expect("a sample").observation().state.clone();
        let mut work = model.compile().expect("it compiles").work();
        let acceleration = least(20_000, || {
            black_box(work.accelerations(0.0, &state.q, &state.velocity).expect("a motion"));
        });
        let setting = Setting::new(&model).expect("all have values");
        let options = EvalOptions::of_model(&model);
        let evaluate = least(100, || {
            let (q, velocity) = (state.q.clone(), state.velocity.clone());
            let state = State::of_velocities(&setting, 0.0, q, velocity).expect("a state");
            let found = in_phase_at(&setting, &state, &options).expect("a motion");
            black_box(EvaluationPage { model: &model, report: &found }.to_json());
        });
        let simulate = least(10, || {
            let run = model.simulate(0.0..0.01).every(0.01).verify(false).run();
            black_box(run.expect("it runs").column("t").expect("time"));
        });
        let times = serde_json::json!({
            "acceleration": acceleration, "evaluate": evaluate, "simulate": simulate,
        });
        systems.insert(name.to_owned(), times);
    }
    println!("{}", serde_json::Value::Object(systems));
}
