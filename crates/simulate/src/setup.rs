//! Whether what a run is asked for makes sense.

use crate::run::RunOptions;
use dalembert_model::system::TOLERANCES;

/// More rows than this are a slip of the pen.
pub(crate) const MOST_OUTPUTS: f64 = 1e8;

/// What is wrong with the options of a run that begins at this time, in words that say
/// what is allowed.
pub fn validate(options: &RunOptions, start: f64) -> Result<(), String> {
    let RunOptions { end, tolerance, .. } = *options;
    if !end.is_finite() || !(end - start).is_finite() {
        return Err(format!("the end time must be a finite number, and it is {end}"));
    }
    // The least one is a matter of what people may ask for, not of what can be tried.
    let most = *TOLERANCES.end();
    if !(tolerance > 0.0 && tolerance <= most) {
        return Err(format!(
            "the tolerance must be positive and at most {most}, and it is {tolerance:e}"
        ));
    }
    let length = (end - start).abs();
    if let Some(every) = options.every {
        if !(every > 0.0) || !every.is_finite() {
            return Err(format!(
                "`every` must be a positive finite number, and it is {every}; a run goes backwards \
                 if its end is before its start"
            ));
        }
        if length / every > MOST_OUTPUTS {
            return Err(format!(
                "`every` {every:e} gives {:.0e} outputs, and {MOST_OUTPUTS:.0e} is the most",
                length / every
            ));
        }
    }
    if let Some(step) = options.step {
        if !(step > 0.0) || !step.is_finite() {
            return Err(format!(
                "the step must be a positive finite number, and it is {step}; a run goes backwards \
                 if its end is before its start"
            ));
        }
        if length / step > options.most_steps as f64 {
            return Err(format!(
                "a step of {step:e} takes {:.0e} steps, and {:.0e} is the most",
                length / step,
                options.most_steps as f64
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::run::output_times;

    /// Whatever the interval: from the start on, never beyond the end, the end last.
    #[test]
    fn the_end_is_the_last_output() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for case in 0..2000 {
            let start = 20.0 * next() - 10.0;
            let length = 10f64.powf(8.0 * next() - 4.0) * if next() < 0.5 { -1.0 } else { 1.0 };
            let end = if case % 50 == 0 { start } else { start + length };
            let every = match case % 3 {
                0 => None,
                // Longer than the run, and whole parts of it.
                1 => Some(length.abs() * 10f64.powf(6.0 * next() - 3.0)),
                _ => Some(length.abs() / (1.0 + (9.0 * next()).floor())),
            };
            let times = output_times(start, end, every);
            let what = format!("{start} to {end} every {every:?}");
            assert_eq!(times.last(), Some(&end), "{what}");
            let forward = (end - start).signum();
            let is_on = |pair: &[f64]| forward * (pair[1] - pair[0]) > 0.0;
            assert!(times.windows(2).all(is_on), "{what}");
            assert!(end == start || forward * (times[0] - start) > 0.0, "{what}");
            if let Some(every) = every.filter(|_| end != start) {
                let count = (length.abs() / every).floor();
                assert!((times.len() as f64 - count).abs() <= 1.0, "{what}: {}", times.len());
            }
        }
    }
}
