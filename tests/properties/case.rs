//! A system loaded, at a state, with its numbers; and many of them in parallel.

use crate::random::Random;
use crate::support;
use crate::system::System;
use dalembert::formulations::Formulation;
use dalembert::simulate::start::{self, Guess};
use dalembert::simulate::{
    Answer, Elimination, Numbers, Outcome, Reference, Scratch, Setting, State, Terms, Tolerances,
    evaluate,
};
use dalembert::{Choices, EquationsOfMotion, Model};
use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether a state has to satisfy the constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    On,
    Anywhere,
}

/// A setting at a state, with Lagrange's equations there.
pub struct Case {
    pub setting: Setting,
    pub state: State,
    pub equations: EquationsOfMotion,
    pub numbers: Numbers,
}

/// What went wrong, with the text that it went wrong for.
pub type Outcomes<T> = Result<T, String>;

impl Case {
    /// A case at a random state. `None` if the state should satisfy the constraints
    /// and none was found near the random one.
    pub fn new(model: &Model, seed: u64, place: Place) -> Option<Case> {
        let setting = Setting::new(model).expect("every parameter has a value");
        let mut random = Random::new(seed ^ 0x5eed_57a7e);
        let n = model.system.n_coordinates();
        let (t, q, v) = (random.signed(), random.vector(n), random.vector(n));
        let state = match place {
            Place::Anywhere => {
                State::of_velocities(&setting, t, q, v).expect("p = L_q̇ is explicit")
            }
            Place::On => {
                let guess = Guess { q, rate: v, by_momenta: false };
                let found = start::from(&setting, t, &guess, false).ok()?.state;
                let size = found.q.iter().chain(&found.velocity).fold(0f64, |m, x| m.max(x.abs()));
                if size > 8.0 {
                    return None;
                }
                found
            }
        };
        Some(Case::at(setting, state))
    }

    /// A case at a state.
    pub fn at(setting: Setting, state: State) -> Case {
        let equations = dalembert::derive(&setting.model, Some("lagrange")).expect("applies");
        let numbers = Numbers::new(&setting, &equations, &state).expect("has numbers");
        Case { setting, state, equations, numbers }
    }

    pub fn terms(&self) -> Terms<'_> {
        self.numbers.terms()
    }

    /// Formulations and eliminations at the state.
    pub fn evaluate(
        &self,
        formulations: &[&'static dyn Formulation],
        eliminations: &[&'static dyn Elimination],
        choices: &Choices,
    ) -> Vec<Answer> {
        let tolerances = Tolerances::default();
        let (setting, state) = (&self.setting, &self.state);
        let reference = Reference::of(setting, state, &tolerances)
            .unwrap_or_else(|refusal| panic!("{refusal} at {state:?}"));
        evaluate(setting, state, &reference, formulations, eliminations, choices, &tolerances)
    }

    /// The outcome of Lagrange's equations by the default elimination.
    pub fn outcome(&self) -> Outcome {
        solve(&self.terms())
    }

    /// v̇ and q̈ of equations as they stand.
    pub fn accelerations(&self, equations: &EquationsOfMotion) -> (Outcome, Vec<f64>) {
        let numbers = Numbers::new(&self.setting, equations, &self.state).expect("has numbers");
        let outcome = solve(&numbers.terms());
        let accelerations =
            if outcome.motion.exists() { numbers.acceleration(&outcome.v_dot) } else { Vec::new() };
        (outcome, accelerations)
    }
}

/// Solves a problem by the default elimination.
pub fn solve(terms: &Terms) -> Outcome {
    let mut outcome = Outcome::default();
    dalembert::simulate::DEFAULT
        .solve(&mut Scratch::default(), terms, &Tolerances::default(), &mut outcome)
        .expect("solves");
    outcome
}

thread_local! {
    /// The model loaded last, for the report of a panic.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Loads a system, which must have no faults.
pub fn load(system: &System) -> Model {
    let text = system.text();
    LAST.with_borrow_mut(|last| last.clone_from(&text));
    support::model(&text)
}

/// What is gathered over many systems.
pub trait Gather: Default + Send {
    fn add(&mut self, other: Self);
}

/// Runs a check for each index, on two threads, and gathers what it returns. Panics
/// with the first failures: index, what is wrong, the model.
pub fn for_each<T: Gather>(
    indices: std::ops::Range<usize>,
    check: impl Fn(usize) -> Outcomes<T> + Sync,
) -> T {
    let next = AtomicUsize::new(indices.start);
    let failures: Mutex<Vec<(usize, String)>> = Mutex::default();
    let total: Mutex<T> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut own = T::default();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= indices.end {
                        break;
                    }
                    let result =
                        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(index)));
                    match result {
                        Ok(Ok(found)) => own.add(found),
                        Ok(Err(why)) => failures.lock().expect("no panic").push((index, why)),
                        Err(_) => {
                            let why = LAST.with_borrow(|text| format!("panicked in\n{text}"));
                            failures.lock().expect("no panic").push((index, why));
                        }
                    }
                }
                total.lock().expect("no panic").add(own);
            });
        }
    });
    let mut failures = failures.into_inner().expect("no panic");
    failures.sort();
    if !failures.is_empty() {
        let shown: Vec<String> =
            failures.iter().take(3).map(|(index, why)| format!("system {index}: {why}")).collect();
        panic!("{} of {} fail\n{}", failures.len(), indices.len(), shown.join("\n\n"));
    }
    total.into_inner().expect("no panic")
}

/// Comparisons made, and deliberately wrong ones that had to be noticed.
#[derive(Debug, Default)]
pub struct Tried {
    pub systems: usize,
    /// Comparisons that hold.
    pub held: usize,
    /// The largest difference among them, in tolerances.
    pub worst: f64,
    /// Wrong variants.
    pub wrong: usize,
    /// Those among them that were noticed.
    pub noticed: usize,
}

impl Gather for Tried {
    fn add(&mut self, other: Tried) {
        self.systems += other.systems;
        self.held += other.held;
        self.worst = self.worst.max(other.worst);
        self.wrong += other.wrong;
        self.noticed += other.noticed;
    }
}

impl Tried {
    /// Notes a difference in tolerances; fails above 1.
    pub fn hold(&mut self, what: &str, distance: f64) -> Outcomes<()> {
        self.held += 1;
        self.worst = self.worst.max(distance);
        if distance <= 1.0 { Ok(()) } else { Err(format!("{what} off by {distance} tolerances")) }
    }

    /// Notes whether a wrong variant shows, which means: by ten tolerances or more.
    pub fn notice(&mut self, distance: f64) {
        self.wrong += 1;
        self.noticed += usize::from(distance.is_nan() || distance > 10.0);
    }

    /// Checks that enough was tried and that the wrong variants were noticed.
    pub fn conclude(&self, name: &str, systems: usize) {
        println!("{name}: {self:?}");
        assert!(self.systems >= systems, "{name}: too few systems: {self:?}");
        assert!(self.held >= systems, "{name}: too few comparisons: {self:?}");
        assert!(self.wrong >= systems / 4, "{name}: too few wrong variants: {self:?}");
        assert!(20 * self.noticed >= 19 * self.wrong, "{name}: wrong variants pass: {self:?}");
    }
}
