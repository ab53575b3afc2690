//! Systems built to have no unique motion get the verdict they were built for, and
//! appending what a hidden constraint implies makes the motion unique.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load};
use crate::dense::{Matrix, add, dot, largest};
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::{Kind, Row, Shape, System};
use dalembert::Choices;
use dalembert::formulations::{Formulation, by_name};
use dalembert::simulate::{
    ALL, Evaluation, Refusal, Setting, SolveError, State, Tolerances, Verdict, points, start,
};

const SYSTEMS: usize = 1000;
const COMPLETED: usize = 120;

/// A shape with a direction without mass and in no row, and no other.
fn shape(index: usize, random: &mut Random) -> Shape {
    let n = 2 + random.below(5);
    let kind = Kind {
        singular: true,
        dependent: index.is_multiple_of(2),
        rheonomic: (index / 2).is_multiple_of(2),
        nonlinear: (index / 4).is_multiple_of(3),
    };
    Shape {
        n,
        kind,
        rank: n - 1,
        rows: (1 + random.below(3)).min(n - 1),
        holonomic: true,
        acceleration: random.one_in(8),
        ignorable: false,
        gauge: true,
        hidden: false,
    }
}

/// All routes that apply where M is singular.
fn evaluations(case: &Case) -> Outcomes<Vec<(String, Evaluation)>> {
    let names = ["lagrange", "poincare", "maggi"];
    let formulations: Vec<&'static dyn Formulation> =
        names.iter().map(|name| by_name(name).expect("a formulation")).collect();
    let mut list = Vec::new();
    for answer in case.evaluate(&formulations, ALL, &Choices::default()) {
        let name = format!("{} by {}", answer.formulation, answer.elimination);
        match answer.result {
            Ok(found) => list.push((name, found)),
            Err(Refusal::Solve(SolveError::SingularMetric { .. })) => {}
            Err(refusal) => return Err(format!("{name}: {refusal}")),
        }
    }
    Ok(list)
}

/// Whether all routes give a verdict; the first that does not, in words.
fn all_say(list: &[(String, Evaluation)], motion: Verdict) -> Outcomes<()> {
    for (name, found) in list {
        if found.outcome.motion != motion {
            let (is, not) = (found.outcome.motion.name(), motion.name());
            return Err(format!("{name}: {is} instead of {not}"));
        }
    }
    Ok(())
}

/// How far a vector is from the line of another, relative to it.
fn off_line(x: &[f64], line: &[f64]) -> f64 {
    let along = dot(x, line) / dot(line, line);
    largest(&add(x, -along, line)) / largest(x)
}

fn check_verdicts(index: usize) -> Outcomes<Tried> {
    let mut random = Random::new(index as u64 ^ 0x57a705);
    let shape = shape(index, &mut random);
    let system = System::of_shape(shape, &mut random);
    let mut tried = Tried { systems: 1, ..Tried::default() };
    let model = load(&system);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let measure = Measure::new(&case.terms());
    if measure.doubtful {
        return Ok(Tried::default());
    }
    let fail = |system: &System, why: String| format!("{why}\n{:?}\n{}", case.state, system.text());
    let (n, w) = (shape.n, case.state.q[shape.n - 1]);

    // q_i = x_i + c_i w stays when w moves by 1 and x_i by −c_i.
    let number = |c: &String| c.trim_matches(['(', ')']).parse::<f64>().expect("a number");
    let mut line: Vec<f64> = system.frame.gauge.iter().map(|c| -number(c)).collect();
    line.push(1.0);
    let list = evaluations(&case).map_err(|why| fail(&system, why))?;
    all_say(&list, Verdict::GaugeFree).map_err(|why| fail(&system, why))?;
    for (name, found) in &list {
        let null = &found.outcome.null;
        let fail = |why: String| fail(&system, format!("{name}: {why}"));
        if null.len() != 1 || !found.outcome.undetermined.iter().all(|u| *u) {
            return Err(fail(format!("{null:?} {:?}", found.outcome.undetermined)));
        }
        tried.hold("ν", off_line(&null[0], &line) / measure.tolerance()).map_err(&fail)?;
        let force = difference(&found.constraint_force, &measure.force);
        tried.hold("Qᶜ", force / measure.sizes[1] / measure.tolerance()).map_err(&fail)?;
    }
    // A row that holds the direction makes the motion unique.
    let mut held = system.clone();
    held.rows.push(Row::Plain { level: 1, text: "w' + 0.5*w".into() });
    at_state(&held, &case.state, |case| {
        all_say(&evaluations(case)?, Verdict::Unique)?;
        tried.notice(if all_say(&evaluations(case)?, Verdict::GaugeFree).is_err() {
            f64::INFINITY
        } else {
            0.0
        });
        Ok(())
    })
    .map_err(|why| fail(&held, why))?;

    // A force along the direction: no motion, wherever it does not vanish.
    let mut hidden = system.clone();
    let c = random.coefficient();
    hidden.potential += &format!(" + {c}*w^2");
    at_state(&hidden, &case.state, |case| {
        let list = evaluations(case)?;
        all_say(&list, Verdict::HiddenConstraint)?;
        for (name, found) in &list {
            let Some(evidence) = &found.outcome.hidden else {
                return Err(format!("{name}: no evidence"));
            };
            let direction = &evidence.direction;
            tried.hold("ν", off_line(direction, &line) / measure.tolerance())?;
            // νᵀQ = −2 c w for the ν whose last entry is 1.
            let expected = -2.0 * number(&c) * w * direction[n - 1];
            let size = largest(&case.numbers.force) * largest(direction) * n as f64;
            tried.hold(
                "νᵀ(Q + C)",
                (evidence.value - expected).abs() / size / measure.tolerance(),
            )?;
        }
        Ok(())
    })
    .map_err(|why| fail(&hidden, why))?;
    // Where it vanishes there is none.
    let mut state = case.state.clone();
    state.q[n - 1] = 0.0;
    at_state(&hidden, &state, |case| {
        tried.notice(if all_say(&evaluations(case)?, Verdict::HiddenConstraint).is_err() {
            f64::INFINITY
        } else {
            0.0
        });
        all_say(&evaluations(case)?, Verdict::GaugeFree)
    })
    .map_err(|why| fail(&hidden, why))?;

    // A row that follows from others but for a term that only time changes.
    for offset in [0.25, 0.0] {
        let mut contrary = system.clone();
        // Weights that do not cancel by chance.
        let rows = 0..system.rows.len();
        let weights = rows.map(|j| (format!("({})", random.signed()), j)).collect();
        let mixed = Row::Mixed(weights);
        let level = contrary.level(&mixed);
        let power = 2 - level;
        let text = format!("{} + {offset}*tt^{power}", contrary.residual(&mixed, level));
        contrary.rows.push(Row::Plain { level, text });
        at_state(&contrary, &case.state, |case| {
            let list = evaluations(case)?;
            if offset == 0.0 {
                let passes = all_say(&list, Verdict::Inconsistent).is_ok();
                tried.notice(if passes { 0.0 } else { f64::INFINITY });
                return all_say(&list, Verdict::GaugeFree);
            }
            all_say(&list, Verdict::Inconsistent)?;
            let rows = case.numbers.bias.len();
            let a = Matrix::new(rows, n, &case.numbers.jacobian);
            for (name, found) in &list {
                let Some(evidence) = &found.outcome.conflict else {
                    return Err(format!("{name}: no evidence"));
                };
                let zeta = &evidence.weights;
                let size = largest(&case.numbers.jacobian) * rows as f64;
                let left = largest(&a.transposed().apply(zeta)) / size / measure.tolerance();
                tried.hold("ζᵀA", left)?;
                // Only the last row has the offset: ζᵀb is its rate times the weight.
                let rate = -offset * [2.0, 1.0, 1.0][level];
                let off = (evidence.value - rate * zeta[rows - 1]).abs();
                let size = largest(&case.numbers.bias).max(1.0) * rows as f64;
                tried.hold("ζᵀb", off / size / measure.tolerance())?;
            }
            Ok(())
        })
        .map_err(|why| fail(&contrary, why))?;
    }
    Ok(tried)
}

/// A system at a state.
fn at_state(
    system: &System,
    state: &State,
    check: impl FnOnce(&Case) -> Outcomes<()>,
) -> Outcomes<()> {
    let model = load(system);
    let setting = Setting::new(&model).expect("has values");
    let (q, v) = (state.q.clone(), state.velocity.clone());
    let state = State::of_velocities(&setting, state.t, q, v).expect("p = L_q̇ is explicit");
    check(&Case::at(setting, state))
}

/// Gauge-free, hidden-constraint and inconsistent systems are told apart, by every
/// route, with the evidence they were built with.
#[test]
fn verdicts_are_those_the_systems_were_built_for() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check_verdicts).conclude("verdicts", systems * 9 / 10);
}

fn check_completion(index: usize) -> Outcomes<Tried> {
    let mut random = Random::new(index as u64 ^ 0xc0317e7e);
    let mut shape = shape(index, &mut random);
    // χ of more coordinates takes seconds to simplify.
    shape.n = shape.n.min(4);
    shape.rank = shape.n - 1;
    shape.rows = shape.rows.min(shape.n - 1);
    let mut system = System::of_shape(shape, &mut random);
    let mut c = || random.coefficient();
    // Along the free direction q stays, so that χ = 2 w + c q₁ + c sin q_n.
    let last = system.n;
    system.potential += &format!(" + w^2 + {}*w*q1 + {}*w*sin(q{last})", c(), c());
    if index.is_multiple_of(3) {
        // χ at velocity level, with the velocity of the direction itself.
        system.more.push(format!("force {}*w' + {}*v{last} at w", c(), c()));
    }
    let names = (1..=system.coordinates()).flat_map(|i| [format!("x{i}"), format!("x{i}'")]);
    let guesses: Vec<String> = names.map(|name| format!("{name} ~ {}", random.signed())).collect();
    system.more.push(format!("start {}", guesses.join(", ")));
    let fail = |why: String| format!("{why}\n{}", system.text());

    let mut tried = Tried::default();
    let mut model = load(&system);
    {
        let setting = Setting::new(&model).expect("has values");
        // Rows that no state near the guess satisfies are not at issue here.
        let Ok(found) = start::start(&setting) else { return Ok(tried) };
        let case = Case::at(setting, found.state);
        if case.outcome().motion != Verdict::HiddenConstraint {
            return Err(fail(format!("{:?} before", case.outcome().motion)));
        }
    }
    let rows = model.system.constraints.len();
    let added = match points::hidden::complete(&model, &Tolerances::default()) {
        Ok(completed) => {
            model = completed.model;
            completed.added
        }
        Err(points::hidden::CompletionError::Start(_)) => return Ok(tried),
        Err(error) => return Err(fail(format!("{error:?}"))),
    };
    if added.len() != 1 || model.system.constraints.len() != rows + 1 {
        return Err(fail(format!("{} appended", added.len())));
    }
    let setting = Setting::new(&model).expect("has values");
    let start = start::start(&setting).map_err(|error| fail(format!("{error:?}")))?;
    let mut all = vec![start.state.clone()];
    all.extend(points::random_states(&setting, &start, 2, index as u64));
    tried.systems = 1;
    for state in all {
        let case = Case::at(Setting::new(&model).expect("has values"), state);
        let measure = Measure::new(&case.terms());
        if measure.doubtful || measure.condition > 1e6 {
            continue;
        }
        let outcome = case.outcome();
        if outcome.motion != Verdict::Unique {
            return Err(fail(format!("{:?} after\n{:?}", outcome.motion, case.state)));
        }
        // The row only says what the forces say already, so it takes no force. Starts
        // are consistent to 1e-12 or so.
        let n = case.numbers.size;
        let row = &case.numbers.jacobian[rows * n..];
        let pull = outcome.multipliers[rows].abs() * largest(row) / measure.sizes[1];
        tried
            .hold("λ", pull / (measure.tolerance() + 1e-10))
            .map_err(|why| fail(format!("{why}\n{:?}", case.state)))?;
        // Off it, the row pulls.
        let mut away = case.state.clone();
        away.q[n - 1] += 0.5;
        let setting = Setting::new(&model).expect("has values");
        let state = State::of_velocities(&setting, away.t, away.q, away.velocity);
        let case = Case::at(setting, state.expect("p = L_q̇ is explicit"));
        let outcome = case.outcome();
        if outcome.motion == Verdict::Unique {
            let row = &case.numbers.jacobian[rows * n..];
            let pull = outcome.multipliers[rows].abs() * largest(row) / measure.sizes[1];
            tried.notice(pull / (measure.tolerance() + 1e-10));
        }
    }
    Ok(tried)
}

/// Appending the implied constraint resolves a hidden one; on it, its multiplier is 0.
#[test]
fn completion_makes_the_motion_unique() {
    for_each(0..COMPLETED, check_completion).conclude("completion", COMPLETED * 3 / 4);
}
