//! How much a step allocates, counted by an allocator: the difference between a long run and a
//! short one, so that what is made once does not count.
#![allow(unsafe_code)]

use dalembert::simulate::Setting;
use dalembert::simulate::run::{RunOptions, run};
use dalembert::{Input, Options};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is done by the system's allocator; a counter of the thread is no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and steps of a run to a time.
fn count(setting: &Setting, end: f64) -> (u64, u64) {
    let mut options = RunOptions::of_model(setting);
    (options.method, options.tolerance, options.end) = ("dop853".to_owned(), 1e-9, end);
    options.every = Some(end);
    let before = COUNT.with(Cell::get);
    let report = run(setting, &options, &mut |_| ControlFlow::Continue(())).expect("a run");
    (COUNT.with(Cell::get) - before, report.statistics.steps + report.statistics.rejected)
}

#[test]
fn steps_allocate_nothing() {
    let mut wrong = Vec::new();
    for page in
        ["spherical-pendulum", "double-pendulum", "heavy-top", "benchmarks/andrews", "knife-edge"]
    {
        let input = Input::open(&format!("gallery:{page}")).expect("a page");
        let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
        let setting = Setting::new(&model).expect("values");
        let end = RunOptions::of_model(&setting).end;
        let (short, long) = (count(&setting, 0.5 * end), count(&setting, end));
        let (allocations, steps) = (long.0.saturating_sub(short.0), long.1 - short.1);
        println!("{page:24} {:.2} a step", allocations as f64 / steps as f64);
        if allocations > 0 {
            wrong.push((page, allocations, steps));
        }
    }
    assert!(wrong.is_empty(), "allocations in steps: {wrong:?}");
}

/// Steps of series: as many again allocate nothing but what the doubling of a run's lists takes,
/// a few dozen times however many they are.
#[test]
fn steps_of_series_allocate_nothing() {
    for page in
        ["spherical-pendulum", "double-pendulum", "heavy-top", "benchmarks/andrews", "knife-edge"]
    {
        let input = Input::open(&format!("gallery:{page}")).expect("a page");
        let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
        let setting = Setting::new(&model).expect("values");
        let count = |parts: f64| {
            let mut options = RunOptions::of_model(&setting);
            options.method = "taylor".to_owned();
            options.every = Some(options.end);
            options.longest = Some(options.end / parts);
            let before = COUNT.with(Cell::get);
            let report = run(&setting, &options, &mut |_| ControlFlow::Continue(())).expect("it");
            (COUNT.with(Cell::get) - before, report.statistics.steps)
        };
        let (few, many) = (count(800.0), count(1600.0));
        let (allocations, steps) = (many.0.saturating_sub(few.0), many.1 - few.1);
        assert!(steps > 500 && allocations < 60, "{page}: {allocations} in {steps} steps");
    }
}

/// Accelerations at states: a few buffers until each has been used, whichever states need it;
/// then nothing.
#[test]
fn compiled_accelerations_allocate_nothing() -> Result<(), dalembert::Error> {
    use dalembert::Mechanics;
    for page in ["spherical-pendulum", "double-pendulum", "heavy-top", "knife-edge"] {
        let model = dalembert::open(&format!("gallery:{page}"))?;
        let motion = model.simulate(..).verify(false).dense(false).run()?;
        let states: Vec<_> = motion.samples().map(|s| s.observation().state.clone()).collect();
        let mut work = model.compile()?.work();
        let before = COUNT.with(Cell::get);
        for state in &states {
            work.accelerations(state.t, &state.q, &state.velocity)?;
            work.terms(state.t, &state.q, &state.velocity)?;
        }
        let first = COUNT.with(Cell::get) - before;
        assert!(first < states.len() as u64, "{page}: {first} for {} states", states.len());
        let before = COUNT.with(Cell::get);
        let mut sum = 0.0;
        for state in &states {
            sum += work.accelerations(state.t, &state.q, &state.velocity)?[0];
            sum += work.terms(state.t, &state.q, &state.velocity)?.force[0];
        }
        let count = COUNT.with(Cell::get) - before;
        assert!(count == 0 && sum.is_finite(), "{page}: {count} for {} states", states.len());
    }
    Ok(())
}

/// Parameters that are set in a loop: nothing is allocated once each was set, those that are
/// defined by others included.
#[test]
fn parameters_that_are_set_allocate_nothing() -> Result<(), dalembert::Error> {
    use dalembert::Mechanics;
    let text = "param m = 1, l = 2, g = 9.81, k = m*g/l, s = 2*k\ncoord x, y\n\
        kinetic m/2*(x'^2 + y'^2)\npotential m*g*y + s*x^2/2\nconstraint rod: x^2 + y^2 = l^2\n";
    let system = dalembert::parse(text)?.compile()?;
    let mut work = system.work();
    let mut found = Vec::with_capacity(1000);
    let mut loops = |found: &mut Vec<f64>| -> Result<(), dalembert::Error> {
        found.clear();
        for turn in 0..200 {
            let (m, l) = (1.0 + 0.01 * f64::from(turn), 2.0 + 0.02 * f64::from(turn));
            work.set("m", m)?;
            work.set("l", l)?;
            found.push(work.accelerations(0.0, &[0.6 * l, -0.8 * l], &[0.8, 0.6])?[0]);
            found.push(work.terms(0.0, &[0.6 * l, -0.8 * l], &[0.8, 0.6])?.force[0]);
        }
        Ok(())
    };
    loops(&mut found)?;
    let before = COUNT.with(Cell::get);
    loops(&mut found)?;
    let count = COUNT.with(Cell::get) - before;
    assert_eq!(count, 0);
    for (turn, pair) in found.chunks(2).enumerate() {
        let (m, l) = (1.0 + 0.01 * turn as f64, 2.0 + 0.02 * turn as f64);
        let (x, y) = (0.6 * l, -0.8 * l);
        let pull = -2.0 * m * 9.81 / l * x;
        // x'' = f_x/m + 2xλ/m with 2(xx'' + yy'') = −2v².
        let lambda = -m * (1.0 + x * pull / m - y * 9.81) / (2.0 * l * l);
        let right = pull / m + 2.0 * x * lambda / m;
        assert!((pair[0] - right).abs() < 1e-12 * right.abs().max(1.0), "{turn}: {pair:?} {right}");
        assert!((pair[1] - pull).abs() < 1e-13 * pull.abs(), "{turn}: {pair:?} {pull}");
    }
    Ok(())
}
