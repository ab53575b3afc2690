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
