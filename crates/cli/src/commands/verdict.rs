//! The verdict of `dal check`: is there a motion at the start, and is it unique?

use dalembert::export::EvaluationPage;
use dalembert::export::text::list;
use dalembert::expr::Symbol;
use dalembert::formulations::BodyTree;
use dalembert::gauss::outcome;
use dalembert::model::codes::Code;
use dalembert::refusals::{of_evaluation, of_refusal};
use dalembert::simulate::phases::Fault;
use dalembert::simulate::points::hidden::Origin;
use dalembert::simulate::report::{self, Options, Report};
use dalembert::simulate::{Evaluation, Refusal, Setting, Start, StartError, start};
use dalembert::{Diagnostic, Model};
use serde_json::{Value, json};

/// Larger systems are not solved here where matrices are dense: those of bodies along a tree are not.
const LARGEST: usize = 400;

/// What is true of the motion at the start.
pub(crate) enum Verdict {
    /// The consistent start and what was found there.
    Found(Box<(Start, Report)>),
    /// Why there are no numbers.
    NotTold(String),
}

impl Verdict {
    /// The verdict on a model, or the faults that leave it without a start.
    pub fn of(model: &Model) -> Result<Verdict, Vec<Diagnostic>> {
        let (n, m) = (model.system.n_coordinates(), model.system.constraints.len());
        let is_along_tree = || BodyTree::of_large(&model.exprs, &model.system).is_some();
        if m > LARGEST || n > LARGEST && !is_along_tree() {
            return Ok(Verdict::NotTold(format!(
                "not told: more than {LARGEST} coordinates or constraints"
            )));
        }
        let setting = match Setting::new(model) {
            Ok(setting) => setting,
            Err(missing) => return Ok(Verdict::NotTold(format!("not told: {missing}"))),
        };
        let start = match start::start(&setting) {
            Ok(start) => start,
            Err(StartError::Clash(faults)) => return Err(faults),
            Err(StartError::Legendre(error)) => {
                return Ok(Verdict::NotTold(format!("not told: {error}")));
            }
            Err(StartError::Time) => {
                return Ok(Verdict::NotTold("not told: the start time is no number".to_owned()));
            }
        };
        Ok(match report::in_phase_at(&setting, &start.state, &Options::of_model(model)) {
            Ok(found) if !contradictions(model, &found).is_empty() => {
                return Err(contradictions(model, &found));
            }
            Ok(found) => Verdict::Found(Box::new((start, found))),
            Err(report::EvalError::Refused(refusal)) => match refusal {
                Refusal::NearlyDependent { .. } | Refusal::Undecided { .. } => {
                    return Err(of_refusal(&refusal, model));
                }
                _ => Verdict::NotTold(format!("not told: {refusal}")),
            },
            // A start below a surface is no start.
            Err(report::EvalError::Phase { fault, t })
                if matches!(*fault, Fault::Penetrates { .. }) =>
            {
                return Err(of_evaluation(&report::EvalError::Phase { fault, t }, model));
            }
            Err(report::EvalError::Phase { fault, .. }) => {
                Verdict::NotTold(format!("not told: {}", fault.words(&model.system)))
            }
            Err(_) => Verdict::NotTold("not told: there are no numbers at the start".to_owned()),
        })
    }

    fn evaluation(&self) -> Option<&Evaluation> {
        match self {
            Verdict::Found(found) => found.1.answers.first()?.result.as_ref().ok(),
            Verdict::NotTold(_) => None,
        }
    }

    /// Lines for the summary.
    pub fn lines(&self, model: &Model) -> Vec<String> {
        let (found, evaluation) = match (self, self.evaluation()) {
            (Verdict::NotTold(why), _) => return vec![format!("  motion            {why}")],
            (Verdict::Found(found), Some(evaluation)) => (found, evaluation),
            (Verdict::Found(found), None) => {
                let why = found.1.answers[0].result.as_ref().err().map(|r| r.to_string());
                return vec![format!("  motion            not told: {}", why.unwrap_or_default())];
            }
        };
        let phase = found.1.phase.as_ref();
        let model = phase.map_or(model, |here| &here.model);
        let outcome = &evaluation.outcome;
        let rank = &outcome.rank;
        let mut lines = vec![format!("  motion            {}", outcome.motion.name())];
        if let Some(here) = phase {
            let words = here.words().into_iter().map(|(name, word)| format!("{name} {word}"));
            lines.push(format!("  phase             {}", list(words.collect(), 8)));
        }
        lines.push(format!(
            "  freedom      {:<4} {} coordinates, rank {} of {} constraint rows",
            rank.coordinates - rank.jacobian,
            rank.coordinates,
            rank.jacobian,
            rank.constraints
        ));
        let named = |names: Vec<&String>, flags: &[bool]| -> Vec<String> {
            names.into_iter().zip(flags).filter(|(_, f)| **f).map(|(n, _)| n.clone()).collect()
        };
        let system = &model.system;
        let open =
            named(system.constraints.iter().map(|c| &c.name).collect(), &outcome.indeterminate);
        if !open.is_empty() && outcome.motion.exists() {
            lines.push(format!(
                "  redundant         {}: their multipliers are not unique, the force is",
                list(open, 8)
            ));
        }
        let free =
            named(system.coordinates.iter().map(|c| &c.name).collect(), &outcome.undetermined);
        match outcome.motion {
            outcome::Verdict::Unique => {}
            outcome::Verdict::GaugeFree => {
                lines.push(format!(
                    "  undetermined      {}: no mass and no constraint",
                    list(free, 8)
                ));
            }
            outcome::Verdict::HiddenConstraint => {
                lines.push(format!(
                    "  no acceleration   {}: a force, no mass and no constraint",
                    list(free, 8)
                ));
            }
            outcome::Verdict::Inconsistent => {
                lines.push(
                    "  no acceleration   the differentiated constraints contradict each other"
                        .to_owned(),
                );
            }
        }
        if !outcome.motion.exists() {
            for implied in &found.1.implied {
                lines.push(format!(
                    "  implied           {} = 0",
                    model.exprs.to_text(implied.residual)
                ));
            }
        }
        lines
    }

    /// The same in JSON.
    pub fn write(&self, model: &Model, object: &mut Value) {
        match self {
            Verdict::NotTold(why) => object["motion"] = json!({"not_told": why}),
            Verdict::Found(found) => {
                let page = EvaluationPage { model, report: &found.1 }.to_json();
                let result = &page["results"][0];
                object["motion"] = result["motion"].clone();
                object["rank"] = result["rank"].clone();
                object["undetermined"] = result["undetermined"].clone();
                object["indeterminate"] = result["indeterminate"].clone();
                object["implied"] = page["implied"].clone();
                object["start"] = page["state"].clone();
                if found.1.phase.is_some() {
                    object["phase"] = page["phase"].clone();
                }
            }
        }
    }
}

/// Rows that imply what no state can change: 1 = 0.
fn contradictions(model: &Model, found: &Report) -> Vec<Diagnostic> {
    let system = &model.system;
    let moving: Vec<_> = [system.positions(), system.velocities(), system.momenta()].concat();
    let mut faults = Vec::new();
    for implied in &found.implied {
        let Origin::Rows(rows) = &implied.origin else { continue };
        let symbols = model.exprs.symbols_of(&[implied.residual]);
        let fixed = !symbols.iter().any(|s| moving.contains(s) || *s == Symbol::TIME);
        if !fixed || model.exprs.is_zero(implied.residual).is_zero() {
            continue;
        }
        let names: Vec<String> =
            rows.iter().map(|&r| format!("`{}`", system.constraints[r].name)).collect();
        let message = format!(
            "{} contradict each other: they imply {} = 0",
            names.join(", "),
            model.exprs.to_text(implied.residual)
        );
        let mut fault = Diagnostic::fault(
            Code::ContradictoryConstraints,
            system.constraints[rows[0]].span,
            message,
        );
        for &row in &rows[1..] {
            let constraint = &system.constraints[row];
            fault = fault.with(constraint.span, format!("`{}`", constraint.name));
        }
        faults.push(fault);
    }
    faults
}
