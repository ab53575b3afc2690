//! Energy over many constant steps: bounded where a method is symplectic, held up to
//! rounding where it is conserved by construction, and growing where it is neither.
//! `examples/long_runs.rs` takes a million steps; its table is `docs/long-runs.md`.

// The example uses more of it.
#[allow(dead_code)]
#[path = "support/long_run.rs"]
mod long_run;

use long_run::{Kind, LongRun, RUNS};

const STEPS: u64 = 20_000;

#[test]
fn energies_do_what_is_said_of_them() {
    for run in RUNS {
        let found = LongRun::new(run, STEPS).unwrap_or_else(|why| panic!("{}: {why}", run.name));
        eprintln!("{}", found.line(run));
        match run.kind {
            Kind::Bounded => {
                assert!(found.trend < 0.2, "{}: a trend of {}", run.name, found.trend);
                assert!(found.late <= 1.5 * found.early, "{}: it grows", run.name);
                assert!(found.passes, "{}", run.name);
                assert!(found.largest > 1e-13, "{}: nothing to be seen", run.name);
            }
            Kind::Rounding => {
                assert!(found.largest < 2e-14, "{}: {:e}", run.name, found.largest);
                assert!(found.passes, "{}", run.name);
            }
            Kind::Growing => {
                assert!(found.trend > 0.8, "{}: a trend of {}", run.name, found.trend);
                assert!(found.late > 1.5 * found.early, "{}: it does not grow", run.name);
            }
        }
        assert!(found.residual < 1e-10, "{}: off the constraints {:e}", run.name, found.residual);
    }
}
