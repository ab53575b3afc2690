//! Whether what a run is asked for makes sense.

use crate::run::RunOptions;
use dalembert_model::system::TOLERANCES;

/// More rows than this are a slip of the pen.
pub(crate) const MOST_OUTPUTS: f64 = 1e8;

/// An option that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionError {
    /// An end time that is not finite, or infinitely far from the start.
    End(f64),
    /// A tolerance out of range.
    Tolerance(f64),
    /// An interval of outputs that is not positive and finite.
    Every(f64),
    /// More outputs than can be meant.
    Outputs {
        /// The interval.
        every: f64,
        /// How many.
        count: f64,
    },
    /// A step that is not positive and finite.
    Step(f64),
    /// A longest step that is not positive.
    Longest(f64),
    /// More steps than are allowed.
    Steps {
        /// The step.
        step: f64,
        /// How many it takes.
        count: f64,
        /// How many are allowed.
        most: f64,
    },
}

impl std::fmt::Display for OptionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let backwards = "a run goes backwards if its end is before its start";
        match self {
            OptionError::End(end) => {
                write!(f, "the end time must be a finite number, and it is {end}")
            }
            OptionError::Tolerance(tolerance) => write!(
                f,
                "the tolerance must be positive and at most {}, and it is {tolerance:e}",
                TOLERANCES.end()
            ),
            OptionError::Every(every) => write!(
                f,
                "`every` must be a positive finite number, and it is {every}; {backwards}"
            ),
            OptionError::Outputs { every, count } => write!(
                f,
                "`every` {every:e} gives {count:.0e} outputs, and {MOST_OUTPUTS:.0e} is the most"
            ),
            OptionError::Step(step) => write!(
                f,
                "the step must be a positive finite number, and it is {step}; {backwards}"
            ),
            OptionError::Longest(step) => {
                write!(f, "the longest step must be positive, and it is {step}; {backwards}")
            }
            OptionError::Steps { step, count, most } => {
                write!(f, "a step of {step:e} takes {count:.0e} steps, and {most:.0e} is the most")
            }
        }
    }
}

/// What is wrong with the options of a run that begins at this time.
pub fn validate(options: &RunOptions, start: f64) -> Result<(), OptionError> {
    let RunOptions { end, tolerance, .. } = *options;
    if !end.is_finite() || !(end - start).is_finite() {
        return Err(OptionError::End(end));
    }
    // The least one is a matter of what people may ask for, not of what can be tried.
    if !(tolerance > 0.0 && tolerance <= *TOLERANCES.end()) {
        return Err(OptionError::Tolerance(tolerance));
    }
    let length = (end - start).abs();
    if let Some(every) = options.every {
        if !(every > 0.0) || !every.is_finite() {
            return Err(OptionError::Every(every));
        }
        let count = length / every;
        if count > MOST_OUTPUTS {
            return Err(OptionError::Outputs { every, count });
        }
    }
    if let Some(step) = options.longest
        && length > 0.0
        && !(step > 0.0)
    {
        return Err(OptionError::Longest(step));
    }
    if let Some(step) = options.step {
        if !(step > 0.0) || !step.is_finite() {
            return Err(OptionError::Step(step));
        }
        let (count, most) = (length / step, options.most_steps as f64);
        if count > most {
            return Err(OptionError::Steps { step, count, most });
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
        let mut random = dalembert_expr::Random::new(7);
        let mut next = || random.unit();
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
