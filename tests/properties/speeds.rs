//! Quasi-velocities: q̈ does not depend on G; Gauss's function has the same value in
//! every variable and rises by uᵀM_s u; no force that enforces the constraints is
//! shorter; the short form of F_s is the long one of the paper.

use crate::case::{Case, Outcomes, Place, Tried, for_each, load, solve};
use crate::dense::{Matrix, add, dot, largest};
use crate::measure::{Measure, difference};
use crate::random::Random;
use crate::support::share;
use crate::system::System;
use dalembert::EquationsOfMotion;
use dalembert::expr::{ExprId, Symbol};
use dalembert::formulations::Shape;
use dalembert::model::system::Energy;
use dalembert::simulate::{Numbers, Verdict};

const SYSTEMS: usize = 1500;

/// Poincaré's equations at the state of a case.
fn poincare(case: &Case) -> (EquationsOfMotion, Numbers) {
    let equations = dalembert::derive(&case.setting.model, Some("poincare")).expect("applies");
    let numbers = Numbers::new(&case.setting, &equations, &case.state).expect("has numbers");
    (equations, numbers)
}

/// A problem with M ≻ 0: Γ, its inverse, F + C and the accelerations by it alone.
struct Regular {
    metric: Matrix,
    inverse: Matrix,
    alone: Vec<f64>,
}

impl Regular {
    fn new(numbers: &Numbers) -> Regular {
        let n = numbers.size;
        let metric = Matrix::new(n, n, &numbers.metric);
        let inverse = metric.inverse();
        let alone = inverse.apply(&add(&numbers.force, 1.0, &numbers.nonideal));
        Regular { metric, inverse, alone }
    }

    /// (v̇ − a)ᵀ Γ (v̇ − a).
    fn gaussian(&self, v_dot: &[f64]) -> f64 {
        let off = add(v_dot, -1.0, &self.alone);
        dot(&off, &self.metric.apply(&off))
    }

    /// Fᵀ Γ⁻¹ F.
    fn length(&self, force: &[f64]) -> f64 {
        dot(force, &self.inverse.apply(force))
    }
}

fn check_speeds(index: usize) -> Outcomes<Tried> {
    let base = System::new(index);
    let mut tried = Tried::default();
    let model = load(&base);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let measure = Measure::new(&case.terms());
    if measure.doubtful || measure.motion != Verdict::Unique {
        return Ok(tried);
    }
    tried.systems = 1;
    let mut random = Random::new(index as u64 ^ 0x59ee);
    let without = System { speeds: Vec::new(), ..base.clone() };
    for variant in [without, base.with_speeds(&mut random), base.with_speeds(&mut random)] {
        let model = load(&variant);
        let setting = dalembert::simulate::Setting::new(&model).expect("has values");
        let case = Case::at(setting, case.state.clone());
        let fail = |why: String| format!("{why}\n{:?}\n{}", case.state, variant.text());
        let (equations, numbers) = poincare(&case);
        let outcome = solve(&numbers.terms());
        let found = numbers.acceleration(&outcome.v_dot);
        let off = |found: &[f64]| {
            difference(found, &measure.accelerations) / measure.sizes[0] / measure.tolerance()
        };
        tried.hold("q̈", off(&found)).map_err(&fail)?;
        if measure.rank_of_mass == numbers.size {
            let here = Regular::new(&numbers).gaussian(&outcome.v_dot);
            let there = Regular::new(&case.numbers).gaussian(&measure.accelerations);
            // Both are sums of terms of the size of a M a.
            let size = measure.sizes[1] * measure.sizes[0] * numbers.size as f64;
            tried
                .hold("Gaussian", (here - there).abs() / size / measure.tolerance())
                .map_err(&fail)?;
        }
        // Without the term of Ġ the force is another one.
        let turned = largest(&numbers.lift_bias) > 1e-3 * measure.sizes[0];
        let free = numbers.size > measure.rank_of_rows;
        if turned && free {
            let mut wrong = equations;
            wrong.lift_bias.fill(ExprId::ZERO);
            tried.notice(off(&case.accelerations(&wrong).1));
        }
    }
    Ok(tried)
}

/// Property: q̈ and Gauss's function are the same for every G(q, t).
#[test]
fn speeds_change_nothing() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check_speeds).conclude("speeds", systems / 2);
}

fn check_gauss(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let mut tried = Tried::default();
    let model = load(&system);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let (_, numbers) = poincare(&case);
    let measure = Measure::new(&numbers.terms());
    let n = numbers.size;
    if measure.doubtful || measure.rank_of_mass < n || measure.rank_of_rows == n {
        return Ok(tried);
    }
    tried.systems = 1;
    let fail = |why: String| format!("{why}\n{:?}\n{}", case.state, system.text());
    let problem = Regular::new(&numbers);
    let outcome = solve(&numbers.terms());
    let least = problem.gaussian(&outcome.v_dot);
    let force = add(&problem.metric.apply(&outcome.v_dot), -1.0, &numbers.force);
    let ideal = add(&force, -1.0, &numbers.nonideal);
    let mut random = Random::new(index as u64 ^ 0x6a55);
    let rows = Matrix::new(numbers.bias.len(), n, &numbers.jacobian);
    let scale = measure.sizes[0] * measure.sizes[1] * n as f64;
    for _ in 0..2 {
        // Result 3.2: along u with A_s u = 0 the function rises by uᵀM_s u.
        let u = measure.free.apply(&random.vector(measure.free.columns));
        let rise = dot(&u, &problem.metric.apply(&u));
        let size = scale.max(rise).max(largest(&u) * measure.sizes[1]);
        let identity = |u: &[f64]| {
            let moved = problem.gaussian(&add(&outcome.v_dot, 1.0, u));
            let rise = dot(u, &problem.metric.apply(u));
            (moved - least - rise).abs() / size / measure.tolerance()
        };
        tried.hold("uᵀM_s u", identity(&u)).map_err(&fail)?;
        // Corollary 3.1: the force Qᶜ + M_s u enforces the constraints too, and is
        // longer by uᵀM_s u, measured from C.
        let other = add(&force, 1.0, &problem.metric.apply(&u));
        let enforced = problem.inverse.apply(&add(&numbers.force, 1.0, &other));
        let off = difference(&rows.apply(&enforced), &numbers.bias);
        let row_size = largest(&numbers.jacobian) * (largest(&enforced) + measure.sizes[0]);
        tried
            .hold("enforces", off / row_size.max(1e-2) / n as f64 / measure.tolerance())
            .map_err(&fail)?;
        let longer = problem.length(&add(&other, -1.0, &numbers.nonideal));
        let shortest = problem.length(&ideal);
        tried
            .hold("length", (longer - shortest - rise).abs() / size / measure.tolerance())
            .map_err(&fail)?;
        if longer < shortest {
            return Err(fail(format!("a shorter force: {longer} < {shortest}")));
        }
        // A direction that breaks the constraints rises by something else, unless the
        // constraint force has no work to do.
        if measure.rank_of_rows > 0 && largest(&ideal) > 1e-3 * measure.sizes[1] {
            let along = rows.transposed().apply(&random.vector(rows.rows));
            tried.notice(identity(&add(&u, 1.0, &along)));
        }
    }
    Ok(tried)
}

/// Udwadia & Phohomsiri 2007, Result 3.2 and Corollary 3.1, in quasi-velocities.
#[test]
fn gauss_is_least_and_the_force_shortest() {
    let systems = share(SYSTEMS, 1);
    for_each(0..2 * systems, check_gauss).conclude("gauss", systems);
}

/// ∂/∂q_k and ∂/∂t of matrix entries, as numbers.
struct Slopes {
    value: Matrix,
    by_q: Vec<Matrix>,
    by_t: Matrix,
}

impl Slopes {
    fn new(case: &Case, rows: usize, columns: usize, entries: &[ExprId]) -> Slopes {
        let model = &*case.setting.model;
        let table = case.state.table(&model.system);
        let mut symbols = model.system.positions();
        symbols.push(Symbol::TIME);
        let slopes = model.exprs.jacobian(entries, &symbols);
        let by = |k: usize| {
            let list: Vec<ExprId> = (0..entries.len()).map(|e| slopes.get(e, k)).collect();
            Matrix::new(rows, columns, &case.setting.numbers(&list, &table))
        };
        let n = symbols.len() - 1;
        Slopes {
            value: Matrix::new(rows, columns, &case.setting.numbers(entries, &table)),
            by_q: (0..n).map(by).collect(),
            by_t: by(n),
        }
    }

    /// The total derivative for velocities q̇.
    fn rate(&self, q_dot: &[f64]) -> Matrix {
        let start = self.by_t.clone();
        self.by_q.iter().zip(q_dot).fold(start, |sum, (slope, v)| sum.plus(*v, slope))
    }
}

/// F_s by (2.15) of the paper, term by term; `with_turning` false leaves out R_s.
fn long_form(case: &Case, g: &[ExprId], with_turning: bool) -> Vec<f64> {
    let model = &*case.setting.model;
    let (exprs, system) = (&model.exprs, &model.system);
    let (n, v) = (system.n_coordinates(), &case.state.velocity);
    let Energy::Lagrangian { kinetic, potential, momenta, .. } = &system.energy else {
        unreachable!("models are given by T and V")
    };
    let velocities = system.velocities();
    let at_rest =
        |list: &[ExprId]| dalembert::formulations::picture::at_zero(exprs, list, &velocities);
    let mass: Vec<ExprId> = {
        let m = exprs.jacobian(momenta, &velocities);
        (0..n * n).map(|k| m.get(k / n, k % n)).collect()
    };
    let mass = Slopes::new(case, n, n, &mass);
    let linear = Slopes::new(case, n, 1, &at_rest(momenta));
    let rest = Slopes::new(case, 1, 1, &at_rest(&[*kinetic]));
    let v_slopes = Slopes::new(case, 1, 1, &[*potential]);
    let g = Slopes::new(case, n, n, g);

    let w = g.value.inverse();
    let wt = w.transposed();
    let s = g.value.apply(v);
    let g_dot = g.rate(v);
    let w_dot = w.times(&g_dot).times(&w).scaled(-1.0);
    let impressed: Vec<f64> = {
        let table = case.state.table(system);
        let mut total = vec![0.0; n];
        for (i, e) in system.forces.iter().flat_map(|f| f.components.iter().copied()) {
            total[i] += case.setting.number(e, &table);
        }
        total
    };
    // Q_app = Q′ − V_q
    let applied: Vec<f64> = (0..n).map(|k| impressed[k] - v_slopes.by_q[k].at(0, 0)).collect();
    // π = M_s s + Wᵀm̃
    let m_s = wt.times(&mass.value).times(&w);
    let pi = add(&m_s.apply(&s), 1.0, &wt.apply(&linear.value.entries));
    // (R_s)_ji = Σ_l ∂_jG_il q̇_l
    let turning = Matrix::build(n, n, |j, i| g.by_q[j].apply(v)[i]);
    let turned = g_dot.transposed().plus(if with_turning { -1.0 } else { 0.0 }, &turning);
    // ∂T_s/∂q_k at fixed s
    let by_q: Vec<f64> = (0..n)
        .map(|k| {
            let w_k = w.times(&g.by_q[k]).times(&w).scaled(-1.0);
            let one = w_k.transposed().times(&mass.value).times(&w);
            let two = wt.times(&mass.by_q[k]).times(&w);
            let quadratic = one.plus(1.0, &two).plus(1.0, &one.transposed());
            let moved = add(
                &wt.apply(&linear.by_q[k].entries),
                1.0,
                &w_k.transposed().apply(&linear.value.entries),
            );
            0.5 * dot(&s, &quadratic.apply(&s)) + dot(&moved, &s) + rest.by_q[k].at(0, 0)
        })
        .collect();
    // Ṁ_s and d/dt(Wᵀm̃)
    let m_dot = mass.rate(v);
    let outer = w_dot.transposed().times(&mass.value).times(&w);
    let m_s_dot = outer.plus(1.0, &wt.times(&m_dot).times(&w)).plus(1.0, &outer.transposed());
    let linear_dot = add(
        &w_dot.transposed().apply(&linear.value.entries),
        1.0,
        &wt.apply(&linear.rate(v).entries),
    );
    // F_s = WᵀQ_app − Wᵀ(Ġᵀ − R_s)π + Wᵀ ∂T_s/∂q − Ṁ_s s − d/dt(Wᵀm̃)
    let mut force = wt.apply(&applied);
    force = add(&force, -1.0, &wt.apply(&turned.apply(&pi)));
    force = add(&force, 1.0, &wt.apply(&by_q));
    force = add(&force, -1.0, &m_s_dot.apply(&s));
    add(&force, -1.0, &linear_dot)
}

fn check_long_form(index: usize) -> Outcomes<Tried> {
    let system = System::new(index);
    let model = load(&system);
    let case = Case::new(&model, index as u64, Place::Anywhere).expect("any state will do");
    let (equations, numbers) = poincare(&case);
    let n = numbers.size;
    let shown = equations.intermediate.iter().find(|q| q.text == "G").map(|q| &q.value);
    let Some(Shape::Matrix(g)) = shown else {
        return Err("no G".to_owned());
    };
    let g: Vec<ExprId> = (0..n * n).map(|k| g.get(k / n, k % n)).collect();
    let mut tried = Tried { systems: 1, ..Tried::default() };
    // Terms are of the size of forces and of squared velocities times masses.
    let speed = largest(&case.state.velocity).max(largest(&numbers.v));
    let size = largest(&numbers.force)
        .max(largest(&case.numbers.force))
        .max(largest(&case.numbers.metric) * speed * speed);
    let tolerance = 1e3 * f64::EPSILON * size;
    let fail = |why: String| format!("{why}\n{:?}\n{}", case.state, system.text());
    let off = difference(&long_form(&case, &g, true), &numbers.force);
    tried.hold("(2.15)", off / tolerance).map_err(fail)?;
    // Without R_s it is another force, where G depends on q.
    let symbols = model.exprs.symbols_of(&g);
    if model.system.positions().iter().any(|q| symbols.contains(q)) {
        tried.notice(difference(&long_form(&case, &g, false), &numbers.force) / tolerance);
    }
    Ok(tried)
}

/// (2.15) of Udwadia & Phohomsiri 2007 with every term is the short form used.
#[test]
fn the_long_form_of_the_force_is_the_short_one() {
    let systems = share(SYSTEMS, 1);
    for_each(0..systems, check_long_form).conclude("(2.15)", systems);
}
