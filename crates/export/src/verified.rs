//! The estimated error of a run, as text and as JSON, and the digits that stand.

use dalembert_expr::Exprs;
use dalembert_model::system::System;
use dalembert_simulate::run::verify::{ErrorEstimate, StateError, Verification};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Errors by the names that states have.
fn named(error: &StateError, exprs: &Exprs, system: &System) -> Vec<(String, f64)> {
    let lists = [
        (system.configuration(), &error.q),
        (system.velocities(), &error.velocity),
        (system.momenta(), &error.momentum),
    ];
    let pairs = lists.into_iter().flat_map(|(symbols, list)| {
        symbols.into_iter().zip(list.iter().copied()).collect::<Vec<_>>()
    });
    pairs.map(|(symbol, error)| (exprs.symbol_info(symbol).full_name(), error)).collect()
}

/// The error at the end of what a state calls by this name.
pub(crate) fn at_end(
    verification: &Verification,
    exprs: &Exprs,
    system: &System,
) -> Vec<(String, f64)> {
    verification.estimate().map_or_else(Vec::new, |e| named(&e.end, exprs, system))
}

fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

/// The estimate, or `null`.
pub(crate) fn to_json(verification: &Verification, exprs: &Exprs, system: &System) -> Value {
    let Some(estimate) = verification.estimate() else { return Value::Null };
    let map = |error: &StateError| -> Map<String, Value> {
        named(error, exprs, system).into_iter().map(|(name, e)| (name, number(e))).collect()
    };
    json!({
        "method": estimate.method,
        "end": map(&estimate.end),
        "whole": map(&estimate.whole),
        "relative": number(estimate.relative),
        "bound": number(estimate.bound),
        "amplification": number(estimate.amplification),
        "tolerance_asked": number(estimate.asked),
        "tolerance": number(estimate.tolerance),
        "tightened": estimate.tightened,
        "rounding_reached": estimate.rounding && !estimate.holds(),
        "work_spent": estimate.spent && !estimate.holds(),
        "events": estimate.events.map_or(Value::Null, number),
        "end_time": estimate.end_time.map_or(Value::Null, number),
        "differs": estimate.differs,
    })
}

/// Lines for the certificate.
pub(crate) fn text(verification: &Verification, page: &mut String) {
    let estimate: &ErrorEstimate = match verification {
        Verification::NotAsked => {
            let _ = writeln!(page, "  {:<18} not estimated (`--no-verify`)", "global error");
            return;
        }
        Verification::NotPossible(why) => {
            let _ = writeln!(page, "  {:<18} not known: {why}", "global error");
            return;
        }
        Verification::Estimated(estimate) => estimate,
    };
    let mark = if estimate.holds() { "within" } else { "ABOVE" };
    let value = if estimate.relative == 0.0 {
        "0".to_owned()
    } else {
        format!("{:.1e}", estimate.relative)
    };
    let _ = writeln!(
        page,
        "  {:<18} {value:>8}  {mark} {:.1e}, by {}",
        "global error", estimate.bound, estimate.method
    );
    if estimate.tightened > 0 {
        let _ = writeln!(
            page,
            "  {:<18} {:.1e}, made smaller {} from {:.1e}; errors are amplified {:.1e} times",
            "local tolerance",
            estimate.tolerance,
            if estimate.tightened == 1 {
                "once".to_owned()
            } else {
                format!("{} times", estimate.tightened)
            },
            estimate.asked,
            estimate.amplification
        );
    }
    if let Some(time) = estimate.end_time.or(estimate.events).filter(|t| *t > 0.0) {
        let _ = writeln!(page, "  {:<18} {time:>8.1e}", "times of events");
    }
}

/// The digits of a value that an error leaves, at most 17; a value that is all error is 0.
pub fn standing(value: f64, error: Option<f64>) -> String {
    let Some(error) = error.filter(|e| *e > 0.0 && value.is_finite()) else {
        return format!("{value:?}");
    };
    if !error.is_finite() {
        return "unknown".to_owned();
    }
    // The last digit's unit is at least twice the error.
    let place = (2.0 * error).log10().ceil();
    let leading = if value == 0.0 { f64::NEG_INFINITY } else { value.abs().log10().floor() };
    let about = format!("± {error:.0e}");
    if leading < place {
        return format!("0 {about}");
    }
    let digits = leading - place;
    if digits >= 16.0 {
        return format!("{value:?}");
    }
    let text = if (-5.0..16.0).contains(&leading) && place <= 0.0 {
        format!("{value:.*}", (-place) as usize)
    } else {
        format!("{value:.*e}", digits as usize)
    };
    format!("{text} {about}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_stand() {
        assert_eq!(standing(-0.753_129_414, Some(2e-7)), "-0.753129 ± 2e-7");
        assert_eq!(standing(9.958_006_7e-13, Some(3e-20)), "9.958007e-13 ± 3e-20");
        assert_eq!(standing(1e-17, Some(1e-12)), "0 ± 1e-12");
        assert_eq!(standing(1_234_567.8, Some(400.0)), "1.235e6 ± 4e2");
        assert_eq!(standing(0.1, None), "0.1");
        assert_eq!(standing(0.1, Some(0.0)), "0.1");
        assert_eq!(standing(3.0, Some(1e-30)), "3.0");
        assert_eq!(standing(2.0, Some(f64::INFINITY)), "unknown");
    }
}
