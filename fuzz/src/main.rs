//! Feeds the language broken input: random bytes, random token streams, mutated
//! gallery models. Everything that may happen to a text happens: it is lexed,
//! parsed, resolved, its diagnostics rendered, and, if it has no faults, its
//! equations derived, printed and evaluated, and a run begun. No panic, no hang, no unbounded memory.
//!
//! `cargo run --release -p dalembert-fuzz -- --seconds 60`, or `--inputs 10000000
//! --threads 2 --seed 7`. A failing input is written to `fuzz-failure-*.txt` and
//! the program ends with status 1.

mod clock;
mod generate;
mod memory;
mod settings;

use clock::Clock;
use dalembert::simulate::run::RunOptions;
use dalembert::simulate::{self, Setting};
use dalembert::{Input, Limits, Model, Options};
use generate::Generator;
use settings::Settings;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longer than this on one input, in processor time, counts as a hang.
const SLOW: Duration = Duration::from_secs(2);
/// More live memory than this for one input counts as unbounded.
const LARGE: usize = 512 << 20;
/// Documents of larger equations take long to typeset and show nothing new.
const LARGE_EQUATIONS: usize = 300;
/// Small, so that inputs that run into the limit are many.
const LIMITS: Limits = Limits { terms: 20_000 };

thread_local! {
    static PLACE: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}

/// All that may happen to a text. Returns whether it was a model.
fn exercise(input: &Input, set: &[String]) -> bool {
    let options = Options { set: set.to_vec(), limits: LIMITS, ..Options::default() };
    let loaded = dalembert::load(input, &options);
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    assert!(loaded.model.is_some() || !shown.is_empty(), "refused without a word");
    let Some(model) = &loaded.model else { return false };
    if let Ok(equations) = dalembert::derive(model, None)
        && equations.count_nodes(&model.exprs) < LARGE_EQUATIONS
    {
        let derivation = dalembert::export::Derivation::new(model, &equations);
        let text = derivation.to_text();
        let latex = derivation.to_latex_fragment();
        assert!(!text.is_empty() && !latex.is_empty());
        if model.system.n_coordinates() <= 8 && model.system.constraints.len() <= 10 {
            numbers(model);
            dalembert::lint(&loaded);
        }
    }
    true
}

/// Numbers at the start by every route, and the first steps of a run: whatever the
/// model, an answer in numbers or in words.
fn numbers(model: &Model) {
    let Ok(setting) = Setting::new(model) else { return };
    let Ok(start) = simulate::start::start(&setting) else { return };
    assert!(start.state.q.iter().all(|x| x.is_finite()));
    let mut options = simulate::Options::of_model(model);
    options.formulations = dalembert::formulations::ALL.to_vec();
    options.eliminations = simulate::EVERY.to_vec();
    // Contacts and friction are looked at in their phase.
    let touches = model.system.wants_phase();
    let found = match touches {
        true => simulate::report::in_phase_at(&setting, &start.state, &options),
        false => simulate::report::at(&setting, &start.state, &options),
    };
    if touches && model.system.n_coordinates() <= 4 {
        let watch = dalembert::analyze::Watch::nobody();
        let _ = dalembert::analyze::linearize::linearize_here(&setting, &watch);
    }
    if let Ok(report) = found {
        let page = dalembert::export::EvaluationPage { model, report: &report };
        let (text, json) = (page.to_text(), page.to_json().to_string());
        assert!(!text.is_empty() && !json.contains("NaN"));
        for answer in report.answers.iter().filter_map(|a| a.result.as_ref().ok()) {
            assert!(answer.accelerations.iter().all(|x| x.is_finite()), "not a number");
        }
    }
    let settings = dalembert::analyze::invariants::InvariantOptions::default();
    if model.system.n_coordinates() <= 3
        && let Ok(found) = dalembert::analyze::invariants::invariants(&setting, &start, &settings)
    {
        let text = dalembert::export::invariants::to_text(model, &found);
        assert!(!text.is_empty());
        assert!(found.integrals.iter().all(|i| i.value.is_none_or(f64::is_finite)));
    }
    let mut options = RunOptions::of_model(&setting);
    options.most_steps = 40;
    options.every = None;
    if options.end.is_finite() {
        options.end = start.state.t + (options.end - start.state.t).clamp(-1.0, 1.0);
        let _ = simulate::run::run(&setting, &options, &mut |observation| {
            assert!(observation.state.q.iter().all(|x| x.is_finite()), "not a number");
            std::ops::ControlFlow::Continue(())
        });
    }
}

fn main() -> std::process::ExitCode {
    let settings = match Settings::read("--inputs") {
        Ok(settings) => settings,
        Err(why) => {
            eprintln!("{why}");
            return std::process::ExitCode::from(2);
        }
    };
    // Where it panicked is known only to the hook.
    std::panic::set_hook(Box::new(|info| {
        let place =
            info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        PLACE.with(|cell| cell.replace(place));
    }));
    let start = Instant::now();
    let done = AtomicU64::new(0);
    let models = AtomicU64::new(0);
    let slowest = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let over = |count: u64| {
        settings.count.is_some_and(|n| count >= n)
            || settings.seconds.is_some_and(|s| start.elapsed() >= Duration::from_secs(s))
    };
    std::thread::scope(|scope| {
        for thread in 0..settings.threads {
            let (done, models, failed, over) = (&done, &models, &failed, &over);
            let slowest = &slowest;
            let seed = settings.seed.wrapping_mul(1000).wrapping_add(thread as u64);
            scope.spawn(move || {
                let mut generator = Generator::new(seed);
                while !failed.load(Ordering::Relaxed) && !over(done.fetch_add(1, Ordering::Relaxed))
                {
                    let (input, set) = generator.next();
                    memory::reset();
                    let begun = Clock::begin();
                    let outcome = catch_unwind(AssertUnwindSafe(|| exercise(&input, &set)));
                    let (took, used) = (begun.elapsed(), memory::peak());
                    slowest.fetch_max(took.as_millis() as u64, Ordering::Relaxed);
                    let why = match outcome {
                        Err(panic) => Some(format!("panicked: {}", message(&panic))),
                        Ok(_) if took > SLOW => Some(format!("took {took:?}")),
                        Ok(_) if used > LARGE => Some(format!("used {} MiB", used >> 20)),
                        Ok(is_model) => {
                            models.fetch_add(is_model as u64, Ordering::Relaxed);
                            None
                        }
                    };
                    if let Some(why) = why {
                        failed.store(true, Ordering::Relaxed);
                        report(&why, &input, &set, thread);
                    }
                }
            });
        }
    });
    let count = done.load(Ordering::Relaxed).saturating_sub(settings.threads as u64);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{count} inputs in {seconds:.1} s ({:.0} a second), {} of them models without faults, the slowest in {} ms",
        count as f64 / seconds,
        models.load(Ordering::Relaxed),
        slowest.load(Ordering::Relaxed)
    );
    let failures = failed.load(Ordering::Relaxed) as u32;
    println!("fuzz: {} passed, {failures} failed", count.saturating_sub(failures as u64));
    std::process::ExitCode::from(failures as u8)
}

fn message(panic: &Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
    let text = text
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into());
    text + &PLACE.with(|cell| cell.borrow().clone())
}

fn report(why: &str, input: &Input, set: &[String], thread: usize) {
    let path = format!("fuzz-failure-{thread}.txt");
    let _ = std::fs::write(&path, &input.text);
    eprintln!("{why}\n  input: {path} ({:?}), --set {set:?}", input.syntax);
}
