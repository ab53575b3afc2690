//! The way constraints are written does not matter: dependent rows, mixed rows,
//! scaled rows.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load};
use crate::dense::Matrix;
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::{Row, System, Units};
use dalembert::simulate::Verdict;

const SYSTEMS: usize = 2000;

/// The outcome of a variant at the state of another case, and its measure.
fn at_same_state(variant: &System, base: &Case) -> (dalembert::simulate::Outcome, Measure) {
    let model = load(variant);
    let setting = dalembert::simulate::Setting::new(&model).expect("has values");
    let case = Case::at(setting, base.state.clone());
    (case.outcome(), Measure::new(&case.terms()))
}

/// Differences in q̈ and Qᶜ, in tolerances of the worse conditioned of the two.
fn apart(base: &Measure, other: &Measure, found: &[f64], case: &Case) -> f64 {
    let n = case.numbers.size;
    let force = crate::dense::add(
        &Matrix::new(n, n, &case.numbers.metric).apply(found),
        -1.0,
        &case.numbers.force,
    );
    let tolerance = base.tolerance().max(other.tolerance());
    let q = difference(found, &base.accelerations) / base.sizes[0];
    let f = difference(&force, &base.force) / base.sizes[1];
    q.max(f) / tolerance
}

fn check(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    if system.rows.is_empty() {
        return Ok(tried);
    }
    let model = load(&system);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let measure = Measure::new(&case.terms());
    if measure.doubtful {
        return Ok(tried);
    }
    let outcome = case.outcome();
    let mut random = Random::new(index as u64 ^ 0x0705);
    let rows = system.rows.len();
    let failed = |what: &str, why: String, text: String| format!("{what}: {why}\n{text}");
    tried.systems = 1;

    // One more row that follows from the others.
    let mut longer = system.clone();
    let any =
        |random: &mut Random| (0..rows).map(|j| (format!("({})", random.signed()), j)).collect();
    longer.rows.push(Row::Mixed(any(&mut random)));
    // An invertible mix of all rows.
    let mut mixed = system.clone();
    let weights: Vec<Vec<f64>> = (0..rows)
        .map(|i| (0..rows).map(|j| if i == j { 3.0 } else { 0.75 * random.signed() }).collect())
        .collect();
    mixed.replaced = weights
        .iter()
        .map(|row| Row::Mixed(row.iter().enumerate().map(|(j, c)| (format!("({c})"), j)).collect()))
        .collect();
    // Rows in other units.
    let mut scaled = system.clone();
    let units: Vec<f64> = (0..rows).map(|_| 10f64.powi(random.below(13) as i32 - 6)).collect();
    scaled.frame.units = Some(Units {
        coordinates: vec![1.0; system.coordinates()],
        time: 1.0,
        mass: 1.0,
        rows: units.clone(),
    });
    for (what, variant) in [("longer", &longer), ("mixed", &mixed), ("scaled", &scaled)] {
        let (found, other) = at_same_state(variant, &case);
        let fail = |why: String| failed(what, why, variant.text());
        let rank = (found.rank.jacobian, found.rank.metric, found.rank.metric_and_jacobian);
        let expected =
            (outcome.rank.jacobian, outcome.rank.metric, outcome.rank.metric_and_jacobian);
        if found.motion != outcome.motion || rank != expected {
            return Err(fail(format!("{:?} {:?}, {:?}", found.motion, found.rank, outcome.rank)));
        }
        if what == "longer" && found.rank.constraints != rows + 1 {
            return Err(fail("the row is gone".to_owned()));
        }
        if !found.motion.exists() {
            continue;
        }
        tried.hold("q̈, Qᶜ", apart(&measure, &other, &found.v_dot, &case)).map_err(&fail)?;
        // Multipliers are covariant where they are unique.
        if measure.rank_of_rows == rows && what != "longer" {
            let back: Vec<f64> = match what {
                "mixed" => (0..rows)
                    .map(|j| (0..rows).map(|i| weights[i][j] * found.multipliers[i]).sum())
                    .collect(),
                _ => found.multipliers.iter().zip(&units).map(|(l, u)| l * u).collect(),
            };
            // A mix of rows amplifies by no more than its condition, which is below 64.
            let off = difference(&back, &measure.multipliers) / measure.sizes[2];
            tried
                .hold("λ", off / other.tolerance().max(measure.tolerance()) / 64.0)
                .map_err(&fail)?;
        }
    }

    // A row that does not follow changes the motion, or contradicts.
    let free = case.numbers.size > measure.rank_of_rows;
    if free && outcome.motion == Verdict::Unique {
        let level = longer.level(&longer.rows[rows]);
        let text = longer.residual(&longer.rows[rows], level);
        let letter = ['q', 'v', 'a'][level];
        let mut wrong = system.clone();
        wrong.rows.push(Row::Plain { level, text: format!("{text} + 0.7*{letter}1 + 0.2*tt^2") });
        let (found, other) = at_same_state(&wrong, &case);
        tried.notice(if found.motion == Verdict::Unique {
            apart(&measure, &other, &found.v_dot, &case)
        } else {
            f64::INFINITY
        });
    }
    Ok(tried)
}

#[test]
fn rows_may_be_written_in_any_way() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check).conclude("rows", systems * 9 / 10);
}
