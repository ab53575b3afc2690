//! The rate of the energy, and what may be added to a model without changing its
//! motion: a total derivative to L, Aᵀν to C, a multiple of a constraint to V.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load};
use crate::dense::{Matrix, add, dot, largest};
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::System;
use dalembert::expr::{ExprId, Symbol};
use dalembert::model::system::Energy;
use dalembert::simulate::{Setting, State, Verdict};

const SYSTEMS: usize = 2000;

fn check_energy(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    let model = load(&system);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let measure = Measure::new(&case.terms());
    if measure.doubtful || !measure.motion.exists() {
        return Ok(tried);
    }
    tried.systems = 1;
    let (exprs, system_) = (&model.exprs, &model.system);
    let Energy::Lagrangian { lagrangian, momenta, .. } = &system_.energy else {
        return Err("no L".to_owned());
    };
    // E = q̇·L_q̇ − L
    let velocities = system_.velocities();
    let row: Vec<(usize, ExprId)> = momenta.iter().copied().enumerate().collect();
    let v: Vec<ExprId> = velocities.iter().map(|&s| exprs.of_symbol(s)).collect();
    let work = dalembert::formulations::matrix::dot(exprs, &row, &v);
    let energy = (exprs.at(work) - exprs.at(*lagrangian)).id;
    let table = case.state.table(system_);
    let of = |list: &[ExprId]| case.setting.numbers(list, &table);
    let by_q = of(&exprs.gradient(energy, &system_.positions()));
    let by_v = of(&exprs.gradient(energy, &velocities));
    let by_t = of(&[exprs.derivative(energy, Symbol::TIME)])[0];
    let outcome = case.outcome();
    let q_dot = &case.state.velocity;
    let along = dot(&by_q, q_dot) + by_t;
    let rate = |accelerations: &[f64]| along + dot(&by_v, accelerations);

    // −L_t + q̇·(Q′ + C + Aᵀλ)
    let l_t = of(&[exprs.derivative(*lagrangian, Symbol::TIME)])[0];
    let n = case.numbers.size;
    let mut impressed = vec![0.0; n];
    for (i, e) in system_.forces.iter().flat_map(|f| f.components.iter().copied()) {
        impressed[i] += of(&[e])[0];
    }
    let m = case.numbers.bias.len();
    let rows = Matrix::new(m, n, &case.numbers.jacobian);
    let held = rows.transposed().apply(&outcome.multipliers);
    let power = |force: &[f64]| dot(force, q_dot);
    let c = power(&case.numbers.nonideal);
    let right = -l_t + power(&impressed) + c + power(&held);

    let speed = largest(q_dot).max(1.0);
    let size = measure.sizes[1] * speed * n as f64 + largest(&by_q) * speed + by_t.abs();
    let tolerance = measure.tolerance() * size;
    let fail = |why: String| format!("{why}\n{:?}\n{}", case.state, system.text());
    let left = rate(&outcome.v_dot);
    tried.hold("dE/dt", (left - right).abs() / tolerance).map_err(fail)?;
    // Without the work of C, or of λ with the wrong sign, it does not balance.
    if c.abs() > 1e-3 * size {
        tried.notice((left - right + c).abs() / tolerance);
    }
    let ideal = power(&held);
    if ideal.abs() > 1e-3 * size {
        tried.notice((left - right + 2.0 * ideal).abs() / tolerance);
    }
    Ok(tried)
}

/// (5.2): dE/dt = −L_t + q̇·(Q′ + C) + λ·A q̇.
#[test]
fn the_energy_changes_by_the_work_done() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check_energy).conclude("energy", systems * 9 / 10);
}

/// A variant of a system at the state of a case.
fn at_same_state<T>(variant: &System, case: &Case, read: impl FnOnce(&Case) -> T) -> T {
    let model = load(variant);
    let setting = Setting::new(&model).expect("has values");
    let (t, q) = (case.state.t, case.state.q.clone());
    let state = State::of_velocities(&setting, t, q, case.state.velocity.clone());
    read(&Case::at(setting, state.expect("p = L_q̇ is explicit")))
}

fn check_additions(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    let model = load(&system);
    let on = Case::new(&model, index as u64, Place::On);
    let place = if on.is_some() { Place::On } else { Place::Anywhere };
    let case =
        on.or_else(|| Case::new(&model, index as u64, Place::Anywhere)).expect("any state will do");
    let measure = Measure::new(&case.terms());
    if measure.doubtful || !measure.motion.exists() {
        return Ok(tried);
    }
    tried.systems = 1;
    let outcome = case.outcome();
    let mut random = Random::new(index as u64 ^ 0x9a09);
    let n = case.numbers.size;
    let mass = Matrix::new(n, n, &case.numbers.metric);
    let fail = |variant: &System, why: String| {
        format!("{place:?}: {why}\n{:?}\n{}", case.state, variant.text())
    };
    let force = |there: &Case, v_dot: &[f64]| add(&mass.apply(v_dot), -1.0, &there.numbers.force);
    let last = format!("q{}", system.n);
    let (a, b) = (random.coefficient(), random.coefficient());

    // L + df/dt: nothing changes but p, by ∇f.
    let f = format!("{a}*q1^2*{last} + {b}*tt*sin({last}) + {a}*tt^2");
    for (text, right) in [(format!("lagrangian ({f})'"), true), (format!("lagrangian {f}"), false)]
    {
        let mut variant = system.clone();
        variant.more.push(text);
        let (distance, moved) = at_same_state(&variant, &case, |there| {
            let found = there.outcome();
            if found.motion != outcome.motion {
                return (f64::INFINITY, 1.0);
            }
            let force = force(there, &found.v_dot);
            let apart = measure.distance(&found.v_dot, &force, &found.multipliers);
            let moved = difference(&there.state.momentum, &case.state.momentum);
            (apart[0].max(apart[1]), moved)
        });
        if right {
            // p moves wherever ∇f does not vanish, so the addition was a real one.
            let real = moved > 0.0;
            tried.hold("L + df/dt", distance).map_err(|why| fail(&variant, why))?;
            if !real {
                return Err(fail(&variant, "p did not change".to_owned()));
            }
        } else if n > measure.rank_of_rows {
            tried.notice(distance);
        }
    }

    // C + Aᵀν: λ changes by −ν, nothing else.
    let plain: Vec<usize> = (0..system.rows.len())
        .filter(
            |&at| matches!(&system.rows[at], crate::system::Row::Plain { level, .. } if *level < 2),
        )
        .collect();
    if !plain.is_empty() {
        let row = *random.pick(&plain);
        let level = system.level(&system.rows[row]);
        let word = ["at", "along"][level];
        let residual = system.residual(&system.rows[row], level);
        let mut variant = system.clone();
        variant.more.push(format!("nonideal {a} {word} {residual}"));
        let found = at_same_state(&variant, &case, |there| {
            let found = there.outcome();
            let force = force(there, &found.v_dot);
            (found, force)
        });
        let apart = measure.distance(&found.0.v_dot, &found.1, &found.0.multipliers);
        tried.hold("C + Aᵀν", apart[0].max(apart[1])).map_err(|why| fail(&variant, why))?;
        if measure.rank_of_rows == system.rows.len() {
            let nu: f64 = a.trim_matches(['(', ')']).parse().expect("a number");
            let mut expected = measure.multipliers.clone();
            expected[row] -= nu;
            let off = difference(&found.0.multipliers, &expected);
            let limit = measure.tolerance() * measure.sizes[2].max(nu.abs());
            tried.hold("λ − ν", off / limit).map_err(|why| fail(&variant, why))?;
            tried.notice(apart[2]);
        }
    }

    // V + h φ: on the constraints λ changes by h, and q̈ by nothing.
    let positions: Vec<usize> =
        plain.iter().copied().filter(|&at| system.level(&system.rows[at]) == 0).collect();
    if place == Place::On && !positions.is_empty() && outcome.motion == Verdict::Unique {
        let row = *random.pick(&positions);
        let residual = system.residual(&system.rows[row], 0);
        let h = format!("({b} + {a}*sin({last} + tt))");
        let mut variant = system.clone();
        variant.more.push(format!("let hh = {h}"));
        variant.more.push(format!("potential hh*({residual})"));
        let (found, value) = at_same_state(&variant, &case, |there| {
            let number = |s: &str| s.trim_matches(['(', ')']).parse::<f64>().expect("a number");
            // The last q is a coordinate, or a form in two of them.
            let gauge = system.frame.gauge.last().map_or(0.0, |c| number(c));
            let q = case.state.q[system.n - 1]
                + gauge * case.state.q.get(system.n).copied().unwrap_or(0.0);
            (there.outcome(), number(&b) + number(&a) * (q + case.state.t).sin())
        });
        // The state is on the constraint up to the tolerance of the start, 1e-12 or so.
        let limit = (measure.tolerance() + 1e-11) * measure.sizes[0].max(1.0);
        let off = difference(&found.v_dot, &measure.accelerations) / limit;
        tried.hold("V + hφ", off).map_err(|why| fail(&variant, why))?;
        if measure.rank_of_rows == system.rows.len() {
            let mut expected = measure.multipliers.clone();
            expected[row] += value;
            let limit = (measure.tolerance() + 1e-11) * measure.sizes[2].max(1.0);
            let off = difference(&found.multipliers, &expected) / limit;
            tried.hold("λ + h", off).map_err(|why| fail(&variant, why))?;
            expected[row] -= 2.0 * value;
            if value.abs() > 1e-3 {
                tried.notice(difference(&found.multipliers, &expected) / limit);
            }
        }
    }
    Ok(tried)
}

/// Additions that must not change the motion.
#[test]
fn additions_without_effect_have_none() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check_additions).conclude("additions", systems * 9 / 10);
}
