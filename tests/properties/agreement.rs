//! Every formulation by every elimination gives the same motion, and that of the
//! problem solved by singular values.

use crate::case::{Case, Gather, Outcomes, Place, Tried, for_each, load};
use crate::dense::largest;
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::System;
use dalembert::expr::{ExprId, Symbol};
use dalembert::formulations::ALL as FORMULATIONS;
use dalembert::model::system::{Energy, Level};
use dalembert::simulate::{
    ALL, Answer, Evaluation, Numbers, Refusal, SolveError, Verdict, agreement,
};
use dalembert::{Choices, Model};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// At least ten thousand; shares are exact over multiples of 36.
const SYSTEMS: usize = 36 * 290;

/// What systems were tried and how they came out.
#[derive(Default)]
struct Tally {
    systems: usize,
    /// Hashes of the models, to count those that differ.
    texts: HashSet<u64>,
    states: usize,
    singular: usize,
    dependent: usize,
    rheonomic: usize,
    nonlinear: usize,
    nonideal: usize,
    forced: usize,
    accelerations: usize,
    holonomic: usize,
    on: usize,
    doubtful: usize,
    motions: BTreeMap<&'static str, usize>,
    /// Numbers from each formulation.
    answered: BTreeMap<&'static str, usize>,
    /// Largest distance, in tolerances, of each formulation: q̈, Qᶜ, λ.
    worst: BTreeMap<&'static str, [f64; 3]>,
    condition: f64,
}

impl Gather for Tally {
    fn add(&mut self, other: Tally) {
        for (own, more) in [
            (&mut self.systems, other.systems),
            (&mut self.states, other.states),
            (&mut self.singular, other.singular),
            (&mut self.dependent, other.dependent),
            (&mut self.rheonomic, other.rheonomic),
            (&mut self.nonlinear, other.nonlinear),
            (&mut self.nonideal, other.nonideal),
            (&mut self.forced, other.forced),
            (&mut self.accelerations, other.accelerations),
            (&mut self.holonomic, other.holonomic),
            (&mut self.on, other.on),
            (&mut self.doubtful, other.doubtful),
        ] {
            *own += more;
        }
        self.texts.extend(other.texts);
        for (key, count) in other.motions {
            *self.motions.entry(key).or_default() += count;
        }
        for (key, count) in other.answered {
            *self.answered.entry(key).or_default() += count;
        }
        for (key, worst) in other.worst {
            let own = self.worst.entry(key).or_default();
            (0..3).for_each(|k| own[k] = own[k].max(worst[k]));
        }
        self.condition = self.condition.max(other.condition);
    }
}

/// What kind of system this is, read off the model and the numbers.
fn classify(model: &Model, measure: &Measure, tally: &mut Tally) {
    let system = &model.system;
    tally.systems = 1;
    tally.singular = usize::from(measure.rank_of_mass < system.n_coordinates());
    tally.dependent = usize::from(measure.rank_of_rows < system.constraints.len());
    let mut roots: Vec<_> = system.constraints.iter().map(|c| c.residual).collect();
    if let Energy::Lagrangian { lagrangian, .. } = &system.energy {
        roots.push(*lagrangian);
    }
    tally.rheonomic = usize::from(model.exprs.symbols_of(&roots).contains(&Symbol::TIME));
    let rows = |level: Level, affine: bool| {
        usize::from(system.constraints.iter().any(|c| c.level == level && c.affine == affine))
    };
    tally.nonlinear = rows(Level::Velocity, false);
    tally.holonomic = rows(Level::Position, true).max(rows(Level::Position, false));
    tally.accelerations = rows(Level::Acceleration, true).max(rows(Level::Acceleration, false));
    tally.nonideal = usize::from(!system.nonideal.is_empty());
    tally.forced = usize::from(!system.forces.is_empty());
}

/// Whether a route may decline, for the reason it gives.
fn may_refuse(answer: &Answer, refusal: &Refusal, measure: &Measure, place: Place) -> bool {
    let n = measure.free.rows;
    match refusal {
        Refusal::SingularMass { .. } => {
            measure.rank_of_mass < n && ["hamilton", "bracket"].contains(&answer.formulation)
        }
        // A projected metric may be singular where M is.
        Refusal::Solve(SolveError::SingularMetric { .. }) => {
            measure.rank_of_mass < n && answer.elimination == "udwadia-kalaba"
        }
        Refusal::OffConstraints { .. } => {
            place == Place::Anywhere && answer.formulation == "bracket"
        }
        Refusal::Formulation(_) => ["bracket", "routh"].contains(&answer.formulation),
        _ => false,
    }
}

/// One answer against the measure: what differs, in words, and by how much.
fn compare(found: &Evaluation, measure: &Measure) -> Result<[f64; 3], String> {
    let (outcome, rank) = (&found.outcome, &found.outcome.rank);
    if outcome.motion != measure.motion {
        return Err(format!("{} instead of {}", outcome.motion.name(), measure.motion.name()));
    }
    let ranks = (rank.metric, rank.jacobian, rank.metric_and_jacobian);
    let expected = (measure.rank_of_mass, measure.rank_of_rows, measure.rank_together);
    if ranks != expected && outcome.motion != Verdict::Inconsistent {
        return Err(format!("ranks {ranks:?} instead of {expected:?}"));
    }
    if outcome.undetermined != measure.undetermined
        || outcome.indeterminate != measure.indeterminate
    {
        return Err(format!(
            "flags {:?} {:?} instead of {:?} {:?}",
            outcome.undetermined,
            outcome.indeterminate,
            measure.undetermined,
            measure.indeterminate
        ));
    }
    let apart =
        measure.distance(&found.accelerations, &found.constraint_force, &outcome.multipliers);
    if !apart.iter().all(|d| *d <= 1.0) {
        return Err(format!("q̈, Qᶜ, λ off by {apart:?} tolerances of {:e}", measure.tolerance()));
    }
    // Where neither forces nor accelerations exist there is nothing to be relative to.
    if !measure.at_rest && found.gauss.residual > measure.tolerance() {
        return Err(format!("{:?}", found.gauss));
    }
    Ok(apart)
}

/// All answers of a case against the measure and each other.
fn judge(
    case: &Case,
    answers: &[Answer],
    measure: &Measure,
    place: Place,
    tally: &mut Tally,
) -> Outcomes<()> {
    for answer in answers {
        let name = format!("{} by {}", answer.formulation, answer.elimination);
        match &answer.result {
            Ok(found) => {
                let apart = compare(found, measure).map_err(|why| format!("{name}: {why}"))?;
                *tally.answered.entry(answer.formulation).or_default() += 1;
                let worst = tally.worst.entry(answer.formulation).or_default();
                (0..3).for_each(|k| worst[k] = worst[k].max(apart[k]));
            }
            Err(refusal) if may_refuse(answer, refusal, measure, place) => {}
            Err(refusal) => return Err(format!("{name}: refused: {refusal}")),
        }
    }
    let apart = agreement(answers, &case.terms());
    // The scales of `agreement` are sizes of results, which may cancel; those of the
    // measure are sizes of what they are made of.
    let own = measure.sizes[0] / largest(&measure.accelerations).max(1e-300);
    let force = measure.sizes[1] / largest(&case.numbers.force).max(1e-300);
    let slack = 2.0 * own.max(force).max(1.0);
    if !apart.is_some_and(|a| a <= measure.tolerance() * slack) {
        return Err(format!("agreement {apart:?}, tolerance {:e}", measure.tolerance()));
    }
    *tally.motions.entry(measure.motion.name()).or_default() += 1;
    Ok(())
}

/// Whether the reduced bracket is meant to apply.
fn suits_bracket(system: &System) -> bool {
    let affine = system.rows.iter().all(|row| system.level(row) < 2);
    affine && !system.kind.singular && !system.kind.nonlinear
}

fn check(index: usize) -> Outcomes<Tally> {
    let system = System::new(index);
    let text = system.text();
    let model = load(&system);
    let mut tally = Tally::default();
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    tally.texts.insert(hasher.finish());
    let mut places = vec![Place::Anywhere];
    if suits_bracket(&system) || index.is_multiple_of(4) {
        places.push(Place::On);
    }
    for place in places {
        let Some(case) = Case::new(&model, index as u64, place) else { continue };
        let measure = Measure::new(&case.terms());
        if place == Place::Anywhere {
            classify(&model, &measure, &mut tally);
        }
        if measure.doubtful {
            tally.doubtful += 1;
            continue;
        }
        tally.states += 1;
        tally.on += usize::from(place == Place::On);
        tally.condition = tally.condition.max(measure.condition);
        let answers = case.evaluate(FORMULATIONS, ALL, &Choices::default());
        judge(&case, &answers, &measure, place, &mut tally)
            .map_err(|why| format!("{place:?}: {why}\n{:?}\n{text}", case.state))?;
    }
    Ok(tally)
}

/// Every route, over all shapes of systems.
#[test]
fn all_routes_agree() {
    let systems = share(SYSTEMS, 36);
    let tally = for_each(0..systems, check);
    println!(
        "{} systems, {} states ({} on the constraints), {} doubtful; cond ≤ {:.1e}",
        tally.systems, tally.states, tally.on, tally.doubtful, tally.condition
    );
    println!("motions {:?}\nanswers {:?}", tally.motions, tally.answered);
    for (name, worst) in &tally.worst {
        println!("{name}: q̈ {:.1e}, Qᶜ {:.1e}, λ {:.1e} tolerances", worst[0], worst[1], worst[2]);
    }
    println!(
        "singular {} dependent {} rheonomic {} nonlinear {} nonideal {} forced {} holonomic {} acceleration {}",
        tally.singular,
        tally.dependent,
        tally.rheonomic,
        tally.nonlinear,
        tally.nonideal,
        tally.forced,
        tally.holonomic,
        tally.accelerations
    );
    assert_eq!((tally.systems, tally.texts.len()), (systems, systems));
    // The shares asked for, as found in the models.
    assert_eq!((3 * tally.singular, 3 * tally.nonlinear), (systems, systems));
    assert_eq!((2 * tally.dependent, 2 * tally.rheonomic), (systems, systems));
    assert!(2 * tally.nonideal >= systems && 2 * tally.forced >= systems);
    assert!(4 * tally.holonomic >= systems && 30 * tally.accelerations >= systems);
    // The numbers are those of all systems.
    let of_all = |count: usize| count * systems / SYSTEMS;
    assert!(tally.on >= of_all(5_000) && 1000 * tally.doubtful <= tally.states);
    for (name, least) in [("unique", 10_000), ("gauge-free", 100), ("hidden-constraint", 100)] {
        assert!(tally.motions[name] >= of_all(least), "{name}: {:?}", tally.motions);
    }
    for (name, least) in [
        ("lagrange", 50_000),
        ("poincare", 50_000),
        ("maggi", 50_000),
        ("hamilton", 40_000),
        ("bracket", 10_000),
        ("routh", 5_000),
    ] {
        assert!(tally.answered[name] >= of_all(least), "{name}: {:?}", tally.answered);
    }
}

/// Wrong answers, of which each must show: v̇ perturbed by a little more than the
/// tolerance, C left out, κ with the wrong sign, the momenta's bias left out.
fn check_wrong(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    let model = load(&system);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let measure = Measure::new(&case.terms());
    if measure.doubtful || measure.motion != Verdict::Unique {
        return Ok(tried);
    }
    tried.systems = 1;
    let n = case.numbers.size;
    let choices = Choices::default();
    let mut answers = case.evaluate(FORMULATIONS, ALL, &choices);
    let judged = |answers: &[Answer]| {
        judge(&case, answers, &measure, Place::Anywhere, &mut Tally::default())
    };
    judged(&answers).map_err(|why| format!("{why}\n{}", system.text()))?;
    tried.held = 1;
    let mut random = Random::new(index as u64 ^ 0x3a0e);
    let number = random.below(answers.len());
    if let Ok(found) = &mut answers[number].result {
        let shift = 20.0 * measure.tolerance() * measure.sizes[0];
        found.accelerations[random.below(n)] += shift;
        tried.notice(if judged(&answers).is_ok() { 0.0 } else { f64::INFINITY });
    }
    let off = |found: &[f64]| {
        difference(found, &measure.accelerations) / measure.sizes[0] / measure.tolerance()
    };
    // C acts along the free directions.
    let along = measure.free.transposed().apply(&case.numbers.nonideal);
    if largest(&along) > 1e-2 * measure.sizes[1] {
        let mut wrong = case.equations.clone();
        wrong.nonideal.fill(ExprId::ZERO);
        tried.notice(off(&case.accelerations(&wrong).1));
    }
    for name in ["poincare", "hamilton", "routh"] {
        let Ok(equations) = dalembert::derive(&model, Some(name)) else { continue };
        if measure.rank_of_mass < n {
            continue;
        }
        let numbers = Numbers::new(&case.setting, &equations, &case.state)
            .map_err(|error| error.to_string())?;
        if largest(&numbers.lift_bias) > 1e-2 * measure.sizes[0] {
            let mut wrong = equations;
            for e in &mut wrong.lift_bias {
                *e = if name == "hamilton" { ExprId::ZERO } else { (-model.exprs.at(*e)).id };
            }
            tried.notice(off(&case.accelerations(&wrong).1));
        }
    }
    Ok(tried)
}

#[test]
fn wrong_routes_are_noticed() {
    for_each(0..1000, check_wrong).conclude("wrong routes", 900);
}
