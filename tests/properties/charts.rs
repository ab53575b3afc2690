//! The reduced bracket and Maggi's equations do not depend on the choice of S.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load};
use crate::dense::Matrix;
use crate::measure::{Measure, difference};
use crate::support::share;
use crate::system::System;
use dalembert::formulations::{Chart, by_name};
use dalembert::simulate::{DEFAULT, Reference, Tolerances, Verdict};
use dalembert::{Choices, expr::ExprId};

const SYSTEMS: usize = 1500;

/// The subsets of 0, …, n − 1 of a size.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for last in size - 1..n {
        for mut rest in subsets(last, size - 1) {
            rest.push(last);
            all.push(rest);
        }
    }
    all
}

fn check(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    let model = load(&system);
    let Some(case) = Case::new(&model, index as u64, Place::On) else { return Ok(tried) };
    let measure = Measure::new(&case.terms());
    if measure.doubtful || measure.motion != Verdict::Unique {
        return Ok(tried);
    }
    let tolerances = Tolerances::default();
    let reference =
        Reference::new(&case.setting, &case.equations.clone().into(), &case.state, &tolerances)
            .map_err(|refusal| refusal.to_string())?;
    let own = reference.chart(&case.setting).expect("has a chart");
    if own.rows.is_empty() {
        return Ok(tried);
    }
    let n = case.numbers.size;
    let both = [by_name("bracket").expect("exists"), by_name("maggi").expect("exists")];
    for columns in subsets(n, own.rows.len()) {
        let block = Matrix::build(own.rows.len(), own.rows.len(), |i, j| {
            case.numbers.jacobian[own.rows[i] * n + columns[j]]
        });
        let sigma = block.svd().sigma;
        let condition = sigma[0] / sigma[sigma.len() - 1].max(1e-300);
        // S and its rate are A_d⁻¹ times what is of order one.
        let growth = (1.0 / sigma[sigma.len() - 1]).max(1.0).max(condition);
        if growth > 1e3 {
            continue;
        }
        let chart = Chart { rows: own.rows.clone(), columns };
        let choices = Choices { chart: Some(chart.clone()), ignored: None };
        let off = |found: &[f64]| {
            let scale = measure.sizes[0] * measure.tolerance() * growth * growth;
            difference(found, &measure.accelerations) / scale
        };
        for answer in case.evaluate(&both, &[DEFAULT], &choices) {
            let Ok(found) = &answer.result else {
                // The bracket has conditions of its own; Maggi's equations always apply.
                if answer.formulation == "maggi" {
                    return Err(format!("{:?}\n{}", answer.result, system.text()));
                }
                continue;
            };
            tried.systems = 1;
            tried.hold(answer.formulation, off(&found.accelerations)).map_err(|why| {
                format!("{why} in {chart:?}\n{:?}\n{}", case.state, system.text())
            })?;
            // q̈ = K v̇ without the rate of S is another acceleration.
            let equations = dalembert::derive_with(&model, Some(answer.formulation), &choices)
                .map_err(|_| "derived once and not twice".to_owned())?;
            let bias = dalembert::simulate::Numbers::new(&case.setting, &equations, &case.state)
                .map_err(|error| error.to_string())?
                .lift_bias;
            if crate::dense::largest(&bias) > 1e-2 * measure.sizes[0] {
                let mut wrong = equations;
                wrong.lift_bias.fill(ExprId::ZERO);
                tried.notice(off(&case.accelerations(&wrong).1));
            }
        }
    }
    Ok(tried)
}

#[test]
fn any_chart_will_do() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check).conclude("charts", systems / 2);
}
