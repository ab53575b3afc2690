//! What each formulation says in its own variables, against reference values: s, ṡ,
//! F_s and F_sᶜ of Poincaré, p, ṗ, A_p, b_p and H of Hamilton, S of Maggi, p̃, p̃̇,
//! H_r and B of the bracket, β and R of Routh, and the energy with its rate. Then
//! the same for systems given by H.

mod support;

use dalembert::formulations::Choices;
use dalembert::simulate::Setting;
use support::oracle_model::*;
use support::own_variables::{TOLERANCE, Total, own_variables};

#[test]
fn every_formulation_in_its_own_variables() {
    let mut total = Total::default();
    for oracle in of_kind("state").iter().filter(|o| o["kind"] == "state") {
        let mut text = model_text(oracle);
        // The one entry whose s are those of the generic G.
        if name(oracle).starts_with("X-parallelogram") {
            text = format!("{text}\n{}", generic_speeds(oracle));
        }
        own_variables(oracle, &model(&text), &mut total);
    }
    println!("{:?}, worst {:.1e}", total.counts, total.worst);
    for key in [
        "M",
        "Q",
        "A",
        "b",
        "qdd",
        "s",
        "sdot",
        "S",
        "Sc",
        "M_s",
        "A_s",
        "b_s",
        "p",
        "pdot",
        "A_p",
        "b_p",
        "H",
        "bracket.S",
        "bracket.p_tilde1",
        "bracket.p_tilde1_dot",
        "bracket.H_r",
        "bracket.minus_pT_SiSj",
        "beta_p_phi",
        "R",
        "energy_E",
        "dEdt",
    ] {
        assert!(total.counts.contains_key(key), "{key} was never compared");
    }
}

#[test]
fn systems_given_by_their_hamiltonian() {
    let mut total = Total::default();
    for (oracle, model) in by_hamiltonian() {
        let setting = Setting::new(&model).expect("values");
        let state = state(&oracle, &setting);
        let report = every_route(&setting, &state, &Choices::default());
        let expected = &oracle["expected"];
        let mut cells = 0;
        for answer in &report.answers {
            let place =
                format!("{}: {} · {}", name(&oracle), answer.formulation, answer.elimination);
            match &answer.result {
                // None of these has a coordinate to ignore.
                Err(refusal) => assert_eq!(answer.formulation, "routh", "{place}: {refusal}"),
                Ok(evaluation) => {
                    cells += 1;
                    for (key, found) in [
                        ("qdd", &evaluation.accelerations),
                        ("Qc", &evaluation.constraint_force),
                        ("lambda_min_norm", &evaluation.outcome.multipliers),
                    ] {
                        let off = error(found, &numbers(&expected[key]));
                        assert!(off <= TOLERANCE, "{place}: {key} is off by {off:e}");
                    }
                }
            }
        }
        assert_eq!(cells, 30, "{}", name(&oracle));
        own_variables(&oracle, &model, &mut total);
    }
    println!("{:?}, worst {:.1e}", total.counts, total.worst);
    assert!(total.counts.values().sum::<usize>() > 400, "{:?}", total.counts);
}
