//! What is conserved, for people and for programs.

use dalembert_analyze::Shown;
use dalembert_analyze::invariants::{EnergyVerdict, Integral, Invariants, Seen};
use dalembert_expr::Notation;
use dalembert_model::system::Model;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Longer formulas are cut in text; JSON has them whole.
const LONGEST: usize = 400;

/// The fields `ignorable`, `invariants`, `energy` and `not_sought` of an analysis.
pub fn to_json(invariants: &Invariants) -> Map<String, Value> {
    let mut object = Map::new();
    let names: Vec<&String> = invariants.ignorable.iter().map(|i| &i.coordinate).collect();
    object.insert("ignorable".to_owned(), json!(names));
    let reasons: Map<String, Value> = invariants
        .ignorable
        .iter()
        .map(|i| (i.coordinate.clone(), json!({"conserved": i.conserved, "reason": i.reason})))
        .collect();
    object.insert("ignorable_momenta".to_owned(), Value::Object(reasons));
    let list: Vec<Value> = invariants.integrals.iter().map(integral_json).collect();
    object.insert("invariants".to_owned(), json!(list));
    let energy = &invariants.energy;
    object.insert(
        "energy".to_owned(),
        json!({
            "conserved": energy.conserved,
            "reasons": energy.reasons,
            "largest_rate": energy.rate.filter(|r| r.is_finite()),
        }),
    );
    if let Some(why) = &invariants.not_sought {
        object.insert("not_sought".to_owned(), json!(why));
    }
    object
}

fn integral_json(integral: &Integral) -> Value {
    let error = match integral.shown {
        Shown::RandomPoints { error, .. } => error,
        _ => None,
    };
    let motion = match &integral.seen {
        Seen::Kept { deviation, duration, motions } => {
            json!({"deviation": deviation, "duration": duration, "motions": motions})
        }
        Seen::Changed { deviation, t } => json!({"changed": deviation, "t": t}),
        Seen::NotSeen(why) => json!({"not_verified": why}),
    };
    let mut object = json!({
        "name": integral.name,
        "expression": integral.expression,
        "value": integral.value,
        "shown": integral.shown.name(),
        "along_motion": motion,
        "because": integral.because,
        "equation": integral.equation,
    });
    if let Some(error) = error {
        object["error_probability"] = json!(error);
    }
    if integral.for_these_values {
        object["for_these_parameters_only"] = json!(true);
    }
    if integral.follows_from_others {
        object["follows_from_others"] = json!(true);
    }
    object
}

/// Text for a terminal.
pub fn to_text(model: &Model, invariants: &Invariants) -> String {
    let mut page = String::from("Conserved\n");
    if invariants.integrals.is_empty() {
        page.push_str("  nothing that was looked for\n");
    }
    for integral in &invariants.integrals {
        let formula = model.exprs.print_limited(integral.id, Notation::Text, LONGEST);
        let name = &integral.name;
        let _ = match integral.expression == *name {
            true => writeln!(page, "  {name}"),
            false => writeln!(page, "  {name} = {formula}"),
        };
        if let Some(value) = integral.value {
            let _ = writeln!(page, "      at the start {value:.9}");
        }
        let _ = writeln!(page, "      {}", integral.because);
        let _ = writeln!(page, "      {}", shown_words(integral));
        if integral.follows_from_others {
            page.push_str("      the other integrals determine it\n");
        }
    }
    for (name, deviation, t) in &invariants.refuted {
        let _ = writeln!(
            page,
            "  not claimed: {name} satisfies the conditions, but changes by {deviation:.1e} along a simulated motion (t = {t})"
        );
    }
    if let Some(why) = &invariants.not_sought {
        let _ = writeln!(page, "  not looked for further: {why}");
    }
    page.push_str(&energy_words(&invariants.energy));
    if !invariants.ignorable.is_empty() {
        page.push_str("Ignorable coordinates\n");
        for ignorable in &invariants.ignorable {
            let _ = writeln!(page, "  {}", ignorable.reason);
        }
    }
    page
}

fn energy_words(energy: &EnergyVerdict) -> String {
    let mut words = String::new();
    if !energy.conserved {
        let _ = writeln!(words, "Not conserved\n  energy: {}", energy.reasons.join("; "));
        if let Some(rate) = energy.rate {
            let _ =
                writeln!(words, "      |dE/dt| up to {rate:.3e} at consistent states, by (5.2)");
        }
    } else if energy.differs_from_sum {
        words.push_str("  energy is T₂ − T₀ + V here, which is not T + V\n");
    }
    words
}

/// How a claim was established.
fn shown_words(integral: &Integral) -> String {
    let conditions = match &integral.shown {
        Shown::Symbolic => "on the expressions, for every state".to_owned(),
        Shown::RandomPoints { points, error: Some(error) } => {
            format!("at {points} random points, wrong with a probability of at most {error:.0e}")
        }
        Shown::RandomPoints { points, error: None } => {
            format!("by numbers at {points} consistent states")
        }
        other => other.name().to_owned(),
    };
    let motion = match &integral.seen {
        Seen::Kept { deviation, duration, motions } => format!(
            "kept along {motions} simulated motion{} of {duration:.3} in all, up to {deviation:.0e}",
            if *motions == 1 { "" } else { "s" }
        ),
        Seen::Changed { deviation, t } => format!("changed by {deviation:.1e} at t = {t}"),
        Seen::NotSeen(why) => format!("not verified along a motion: {why}"),
    };
    format!("shown by {}: {conditions}; {motion}", integral.equation)
}
