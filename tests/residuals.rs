//! What is left of constraints is noticed: velocities that are off by a billionth are measured by
//! the terms of the rows they miss, and brought back.

mod support;

use dalembert::expr::Random;
use dalembert::simulate::Field;
use dalembert::simulate::program::Projection;
use dalembert::simulate::{DEFAULT, Setting, State, points, start};
use dalembert::{Input, Model, derive};

/// Rows are dependent below this.
const RANK: f64 = 1e-9;
/// By how much velocities are off.
const OFF: f64 = 1e-9;

/// The largest Σ|a_i δv_i| of a row in use that its sum shows, relative to Σ|a_i v_i| or, where that
/// is nearly nothing, to a hundredth of what it is for velocities of equal energy.
fn missed(field: &mut Field, t: f64, x: &[f64], right: &[f64]) -> f64 {
    let (n, size, rows) = (field.n, field.size, field.rows().to_vec());
    let (metric, jacobian) = field.matrices(t, right).expect("numbers");
    let unit = |i: usize| metric[i * size + i].abs().sqrt();
    let v = &right[n..n + size];
    let longest = (0..size).fold(0f64, |m, i| m.max(unit(i) * v[i].abs()));
    let reach = |i: usize| if unit(i) > 0.0 { longest / unit(i) } else { v[i].abs() };
    rows.iter().fold(0f64, |most, row| {
        let a = &jacobian[row * size..(row + 1) * size];
        let sum = |of: &dyn Fn(usize) -> f64| (0..size).map(of).sum::<f64>();
        let residual = sum(&|i| a[i] * (x[n + i] - v[i])).abs();
        let terms = sum(&|i| (a[i] * v[i]).abs()).max(1e-2 * sum(&|i| a[i].abs() * reach(i)));
        if terms > 0.0 { most.max(residual / terms) } else { most }
    })
}

/// Tries a state of a model; false if there is nothing to be off.
fn is_noticed(name: &str, model: &Model, state: &State, random: &mut Random) -> bool {
    let setting = Setting::new(model).expect("values");
    let Ok(equations) = derive(model, Some("lagrange")) else { return false };
    if equations.velocity_residuals.is_empty() {
        return false;
    }
    let mut field = Field::new(&setting, &equations, DEFAULT);
    field.guess(state);
    let mut x = state.q.clone();
    x.extend(&state.velocity);
    x.push(0.0);
    let t = state.t;
    let mut projection = Projection::default();
    if field.refresh_noise(t, &x).is_err()
        || field.choose_rows(t, &x, RANK).is_err()
        || projection.choose(&mut field, t, &x, RANK).is_err()
        || projection.project(&mut field, t, &mut x, RANK).is_err()
    {
        return false;
    }
    let before = projection.violation(&mut field, t, &x).expect("residuals");
    assert!(before.velocity <= 1e-13, "{name}: {before:?}");
    let (n, size) = (field.n, field.size);
    let mut wrong = x.clone();
    wrong[n..n + size].iter_mut().for_each(|v| *v *= 1.0 + OFF * random.signed());
    let expected = missed(&mut field, t, &wrong, &x);
    // Far from rounding.
    if expected < 1e-2 * OFF {
        return false;
    }
    let found = projection.violation(&mut field, t, &wrong).expect("residuals").velocity;
    assert!(found >= 0.9 * expected, "{name}: {found:e}, {expected:e}");
    let left = projection.project(&mut field, t, &mut wrong, RANK).expect("a projection");
    assert!(left.velocity <= 1e-13, "{name}: {left:?}");
    // Positions may have moved by a rounding error.
    let apart = (projection.found.velocity - found).abs();
    assert!(apart <= 1e-9 * found, "{name}: {apart:e}");
    true
}

#[test]
fn velocities_off_by_a_billionth() {
    let (mut cases, mut random) = (0, Random::new(7));
    for page in dalembert::gallery::pages() {
        let Ok(input) = Input::open(&format!("gallery:{}", page.name)) else { continue };
        let Some(model) = dalembert::load(&input, &Default::default()).model else { continue };
        let Ok(setting) = Setting::new(&model) else { continue };
        let Ok(start) = start::start(&setting) else { continue };
        let mut list = vec![start.state.clone()];
        list.extend(points::random_states(&setting, &start, 3, 5));
        let tried = list.iter().filter(|s| is_noticed(page.name, &model, s, &mut random));
        cases += tried.count();
    }
    assert!(cases >= 60, "{cases}");
}
