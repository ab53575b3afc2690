//! Whether a machine told in relative and in absolute coordinates is one.
//!
//! Joints that carry stand for coordinates in the one telling and for rows in the other, so that what
//! agrees between them shares neither mass matrix nor constraints: the accelerations of the joints'
//! coordinates, and all that the model observes, reactions among it.

use dalembert_expr::Number;
use dalembert_model::load::Loaded;
use dalembert_model::system::{Model, System};
use dalembert_simulate::program::observer::Solved;
use dalembert_simulate::report::{self, Options};
use dalembert_simulate::{Setting, State, start};

/// Machines of more links are not told again: absolute coordinates are many.
const LINKS: usize = 30;
/// States beside the start.
const STATES: usize = 2;

/// The largest difference between the tellings of a machine, over the larger of 1, of what it is one
/// of, and of the largest acceleration; at the start and at some of other `states`. `None` where
/// there are no two.
pub(crate) fn difference(
    loaded: &Loaded,
    setting: &Setting,
    states: &[State],
) -> Result<Option<f64>, String> {
    let system = &setting.model.system;
    let joints = &system.tree.joints;
    let is_relative = joints.iter().any(|joint| joint.carries);
    if joints.is_empty() || system.tree.links.len() > LINKS || system.wants_phase() {
        return Ok(None);
    }
    let Some(relative) = loaded.retold("relative", &[], &[]) else { return Ok(None) };
    let moving = coordinates(&relative.system);
    let (Some(moving), true) = (moving, relative.system.tree.joints.iter().any(|j| j.carries))
    else {
        return Ok(None);
    };
    let observes: Vec<String> = moving.iter().map(|name| format!("{name}''")).collect();
    let mut worst = 0f64;
    let others = if is_relative { &states[..states.len().min(1 + STATES)] } else { &states[..1] };
    for (at, state) in others.iter().enumerate() {
        // The start is what the text says in both.
        let told: Vec<String> = match at {
            0 => Vec::new(),
            _ => given(setting, state, &moving),
        };
        let tell = |coordinates: &str| {
            let model = loaded.retold(coordinates, &observes, &told);
            let mut model =
                model.ok_or_else(|| format!("it has faults in {coordinates} coordinates"))?;
            // The state is one of its own time.
            if let (true, Some(t)) = (at > 0, Number::from_f64(state.t)) {
                model.system.run.from = model.exprs.of_number(t);
            }
            values(&model).map_err(|why| format!("in {coordinates} coordinates {why}"))
        };
        let (one, other) = (tell("relative")?, tell("absolute")?);
        worst = worst.max(apart(&one, &other));
    }
    Ok(Some(worst))
}

/// The largest relative difference of values of the same names. What is not unique in one telling is
/// not compared.
fn apart(one: &[(String, f64)], other: &[(String, f64)]) -> f64 {
    let accelerations = one.iter().filter(|value| value.0.ends_with("''"));
    let largest = accelerations.fold(1f64, |m, value| m.max(value.1.abs()));
    let mut worst = 0f64;
    for (name, a) in one {
        let Some((_, b)) = other.iter().find(|value| value.0 == *name) else { continue };
        if a.is_finite() && b.is_finite() {
            worst = worst.max((a - b).abs() / largest.max(a.abs()).max(b.abs()));
        }
    }
    worst
}

/// The names of the coordinates that joints and free bodies have in both tellings; none where some
/// are functions of a pose up to a sign.
fn coordinates(system: &System) -> Option<Vec<String>> {
    let of = |at: usize| system.coordinates[at].name.clone();
    if system.tree.joints.iter().any(|joint| joint.carries && joint.kind == "ball") {
        return None;
    }
    let is_plain = |at: &usize| !system.is_released(*at);
    Some((0..system.n_coordinates()).filter(is_plain).map(of).collect())
}

/// A state as values of the start.
fn given(setting: &Setting, state: &State, names: &[String]) -> Vec<String> {
    let system = &setting.model.system;
    let mut list = Vec::new();
    for (at, coordinate) in system.coordinates.iter().enumerate() {
        if names.contains(&coordinate.name) {
            list.push(format!("{} = {:e}", coordinate.name, state.q[at]));
            list.push(format!("{}' = {:e}", coordinate.name, state.velocity[at]));
        }
    }
    let first = system.n_coordinates();
    for (z, value) in system.states.iter().zip(&state.q[first..]) {
        list.push(format!("{} = {value:e}", z.name));
    }
    list
}

/// What a model observes at its start.
fn values(model: &Model) -> Result<Vec<(String, f64)>, String> {
    let setting = Setting::new(model).map_err(|missing| missing.to_string())?;
    let begin = start::start(&setting).map_err(|_| "there is no consistent start".to_owned())?;
    let found = report::at(&setting, &begin.state, &Options::of_model(model))
        .map_err(|_| "there are no numbers at a state".to_owned())?;
    let evaluation = found.answers.iter().find_map(|answer| answer.result.as_ref().ok());
    let evaluation = evaluation.ok_or("there is no motion at a state")?;
    let system = &model.system;
    let mut table = begin.state.table(system);
    table.set_all(&system.accelerations(), &evaluation.accelerations);
    let solved = Solved {
        multipliers: &evaluation.outcome.multipliers,
        indeterminate: &evaluation.outcome.indeterminate,
        constraint_force: &evaluation.constraint_force,
        jacobian: &found.reference.rows(),
    };
    solved.fill(system, &mut table);
    let roots: Vec<_> = system.observes.iter().map(|o| o.value).collect();
    let names = system.observes.iter().map(|o| o.name.clone());
    Ok(names.zip(setting.numbers(&roots, &table)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Input, Options as Told, load};

    fn told(text: &str) -> Option<f64> {
        let loaded = load(&Input::text("machine.dal", text), &Told::default());
        let setting = Setting::new(loaded.model.as_ref().expect("a model")).expect("numbers");
        let begin = start::start(&setting).expect("a start");
        let mut states = vec![begin.state.clone()];
        states.extend(dalembert_simulate::points::random_states(&setting, &begin, 5, 7));
        difference(&loaded, &setting, &states).expect("both")
    }

    const ARM: &str = "gravity [0, -9.81]
        body upper: mass 1, inertia 0.1, center [0.3, 0]
        body lower: mass 2, inertia 0.2, center [0.2, 0.1]
        joint A: pin ground, upper
        joint B: pin upper at [0.6, 0], lower
        torque 3 on lower from upper
        observe B.force, lower.velocity'
        start A.angle = 0.3, B.angle = -1, B.angle' = 2\n";

    #[test]
    fn a_machine_is_one_however_it_is_told() {
        for coordinates in ["relative", "absolute"] {
            let off = told(&format!("{ARM}run t = 0..1, coordinates {coordinates}"));
            assert!(off.is_some_and(|off| off < 1e-11), "{coordinates}: {off:?}");
        }
        assert_eq!(told("coord x\nkinetic x'^2/2"), None);
    }

    /// Other states are of other times, at which what leads a joint has it elsewhere.
    #[test]
    fn what_time_leads_is_compared_at_its_time() {
        let text = "gravity [0, -9.81]
            body crank: mass 1, inertia 0.1, center [0.5, 0]
            body rod: mass 1, inertia 0.2, center [1, 0]
            body block: mass 2, inertia 0
            joint A: pin ground, crank
            joint B: pin crank at [1, 0], rod
            joint C: slider ground, block, axis [1, 0]
            loop D: pin rod at [2, 0], block
            constraint go: C.slide = 2.5 + 0.3*cos(t)
            start A.angle ~ 0.9, B.angle ~ -1.3, C.slide ~ 2.6";
        let off = told(text);
        assert!(off.is_some_and(|off| off < 1e-10), "{off:?}");
    }

    #[test]
    fn another_machine_is_seen() {
        let of = |text: &str| values(&crate::parse(text).expect("a model")).expect("numbers");
        let observed = format!("{ARM}observe A.angle'', B.angle''");
        let (one, other) = (of(&observed), of(&observed.replace("mass 2", "mass 2.001")));
        assert_eq!(apart(&one, &one), 0.0);
        assert!(apart(&one, &other) > 1e-6);
    }
}
