//! Whether the numbers among the arguments of `dal run` make sense, told before anything
//! is read.

use crate::args::Run;
use dalembert::model::system::TOLERANCES;

pub(crate) fn validate(args: &Run) -> Result<(), String> {
    if let Some(tolerance) = args.tol.filter(|tolerance| !TOLERANCES.contains(tolerance)) {
        let (least, most) = TOLERANCES.into_inner();
        return Err(format!(
            "--tol is a number from {least:e} to {most}, and {tolerance:e} is none; 1e-9 is usual"
        ));
    }
    if let Some(end) = args.t_end.filter(|end| !end.is_finite()) {
        return Err(format!("--t-end is a finite time, and {end} is none"));
    }
    for (name, value) in
        [("--every", args.every), ("--step", args.step), ("--max-step", args.max_step)]
    {
        if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
            return Err(format!(
                "{name} is a positive, finite time, and {value} is none; a run goes backwards if \
                 its end is before its start"
            ));
        }
    }
    Ok(())
}
