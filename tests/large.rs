//! Systems with many coordinates: matrices stay sparse, and what is found is what dense matrices
//! give, what other ways to write the system give, and what small ones give.

use dalembert::simulate::integrators::Problem;
use dalembert::simulate::run::{Program, RunOptions};
use dalembert::simulate::{DEFAULT, Field, Setting, start};
use dalembert::{Input, Options};
use std::fmt::Write;

/// The end of a motion: positions, velocities, notes, and how it ended.
struct Moved {
    q: Vec<f64>,
    v: Vec<f64>,
    notes: Vec<String>,
    end: dalembert::simulate::drive::End,
}

fn moved(text: &str, end: f64, change: impl Fn(&mut RunOptions)) -> Moved {
    let loaded = dalembert::load(&Input::text("model", text), &Options::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let setting = Setting::new(&model).expect("values");
    let mut options = RunOptions::of_model(&setting);
    (options.end, options.every, options.tolerance) = (end, Some(end), 1e-10);
    change(&mut options);
    let start = start::start(&setting).expect("a start");
    let program = Program::new(&setting, &options).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let go_on = &mut |_: &_| std::ops::ControlFlow::Continue(());
    let report = program.run_from(&setting, &options, start, go_on).expect("a motion");
    let last = report.last.expect("an end");
    Moved { q: last.state.q, v: last.state.velocity, notes: report.choice.notes, end: report.end }
}

fn is_sparse(moved: &Moved) -> bool {
    moved.notes.iter().any(|note| note.starts_with("sparse"))
}

fn compare(what: &str, a: &[f64], b: &[f64], within: f64) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().fold(1f64, |m, x| m.max(x.abs()));
    let error = a.iter().zip(b).fold(0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(error <= within * size, "{what}: {error:e} of {size}");
}

/// By the sparse way and by dense matrices of another elimination.
fn both(what: &str, text: &str, end: f64) -> Moved {
    let sparse = moved(text, end, |_| {});
    assert!(is_sparse(&sparse), "{what}: {:?}", sparse.notes);
    let multipliers = dalembert::gauss::by_name("multipliers").expect("a name");
    let dense = moved(text, end, |options| options.elimination = multipliers);
    compare(&format!("{what}: positions"), &sparse.q, &dense.q, 1e-8);
    compare(&format!("{what}: velocities"), &sparse.v, &dense.v, 1e-7);
    sparse
}

const ROD: &str = "(x[i]-x[i-1])^2 + (y[i]-y[i-1])^2";

/// Masses on rods in the plane, each constraint as often as there are texts for it.
fn chain(n: usize, rows: &[&str]) -> String {
    let mut text = format!(
        "const N = {n}\nparam g = 9.81\ncoord x[0..N], y[0..N]\nconstraint a: x[0] = 0\nconstraint b: y[0] = 0\n\
         for i in 0..N {{\n  kinetic (1 + i/N)*(x[i]'^2 + y[i]'^2)/2\n  potential g*y[i]\n  \
         start x[i] = 0.6*i, y[i] = -0.8*i\n}}\nstart x[N]' = 0.4, y[N]' = 0.3\n"
    );
    for (k, row) in rows.iter().enumerate() {
        let _ = write!(text, "for i in 1..N {{\n  constraint rod{k}[i]: {row}\n}}\n");
    }
    text
}

#[test]
fn a_chain_moves_as_with_dense_matrices() {
    let text = chain(40, &[&format!("{ROD} = 1")]);
    both("chain", &text, 0.4);
}

#[test]
fn constraints_that_are_written_twice_change_nothing() {
    let once = moved(&chain(40, &[&format!("{ROD} = 1")]), 0.4, |_| {});
    let roots = format!("sqrt({ROD}) = 1");
    for again in [&*format!("{ROD} = 1"), &*format!("3*({ROD}) = 3"), &*roots] {
        let twice = moved(&chain(40, &[&format!("{ROD} = 1"), again]), 0.4, |_| {});
        assert!(is_sparse(&twice), "{again}");
        compare(again, &once.q, &twice.q, 1e-8);
        compare(again, &once.v, &twice.v, 1e-7);
    }
}

#[test]
fn masses_that_couple_a_few_coordinates_are_blocks() {
    // Rods with ends as coordinates: each couples its two ends.
    let text = "const N = 30\nparam g = 9.81\ncoord x[1..N], y[1..N], u[1..N], w[1..N]\n\
        for i in 1..N {\n  kinetic (x[i]'^2 + x[i]'*u[i]' + u[i]'^2 + y[i]'^2 + y[i]'*w[i]' + w[i]'^2)/6\n  \
        potential g*(y[i] + w[i])/2\n  constraint rod[i]: (u[i]-x[i])^2 + (w[i]-y[i])^2 = 1\n  \
        start x[i] = 0.6*(i-1), y[i] = -0.8*(i-1), u[i] = 0.6*i, w[i] = -0.8*i\n}\n\
        constraint a: x[1] = 0\nconstraint b: y[1] = 0\n\
        for i in 2..N {\n  constraint c[i]: x[i] = u[i-1]\n  constraint d[i]: y[i] = w[i-1]\n}\n";
    both("rods by their ends", text, 0.3);
}

#[test]
fn trees_loops_and_nets_move_as_with_dense_matrices() {
    // Each mass hangs from the one with half its number.
    let tree = "const N = 63\nparam g = 9.81\ncoord x[1..N], y[1..N]\n\
        for i in 1..N {\n  kinetic (x[i]'^2 + y[i]'^2)/2\n  potential g*y[i] + 0.3*x[i]^2\n}\n\
        start x[1] = 0.6, y[1] = -0.8\nconstraint first: x[1]^2 + y[1]^2 = 1\n\
        for i in 2..N {\n  constraint rod[i]: (x[i]-x[(i-mod(i,2))/2])^2 + \
        (y[i]-y[(i-mod(i,2))/2])^2 = 1\n}\n";
    let mut text = tree.to_owned();
    let (mut x, mut y) = (vec![0.0; 64], vec![0.0; 64]);
    (x[1], y[1]) = (0.6, -0.8);
    for i in 2..64 {
        x[i] = x[i / 2] + if i % 2 == 1 { 0.6 } else { -0.6 };
        y[i] = y[i / 2] - 0.8;
        let _ = writeln!(text, "start x[{i}] = {}, y[{i}] = {}", x[i], y[i]);
    }
    both("tree", &text, 0.3);
    // A net of rods in space that hangs at two corners: rows that fill in.
    let k = 6;
    let mut net = format!(
        "const K = {k}\nparam g = 9.81\ncoord x[1..K, 1..K], y[1..K, 1..K], z[1..K, 1..K]\n\
         for i in 1..K {{\n  for j in 1..K {{\n    kinetic (x[i,j]'^2 + y[i,j]'^2 + z[i,j]'^2)/2\n    \
         potential g*z[i,j]\n    start x[i,j] = i, y[i,j] = j, z[i,j] = 0, z[i,j]' = 0.1*(i + j - 2)\n  }}\n}}\n\
         constraint a: x[1,1] = 1\nconstraint b: y[1,1] = 1\nconstraint c: z[1,1] = 0\n"
    );
    for i in 1..=k {
        for j in 1..=k {
            for (name, a, b) in [("r", i + 1, j), ("s", i, j + 1)] {
                if a <= k && b <= k {
                    let _ = writeln!(
                        net,
                        "constraint {name}{i}x{j}: (x[{a},{b}]-x[{i},{j}])^2 + \
                         (y[{a},{b}]-y[{i},{j}])^2 + (z[{a},{b}]-z[{i},{j}])^2 = 1"
                    );
                }
            }
        }
    }
    both("net", &net, 0.1);
}

#[test]
fn constraints_on_velocities_and_in_time_are_sparse_too() {
    // Skates in a row, coupled by springs, the first one driven.
    let text = "const N = 24\ncoord x[1..N], y[1..N], a[1..N]\n\
        for i in 1..N {\n  kinetic (x[i]'^2 + y[i]'^2 + 0.2*a[i]'^2)/2\n  \
        constraint edge[i]: y[i]'*cos(a[i]) - x[i]'*sin(a[i]) = 0\n  \
        start x[i] = i, y[i] = 0, a[i] = 0.1, a[i]' = 0.2\n}\n\
        for i in 2..N {\n  potential ((x[i]-x[i-1])^2 + (y[i]-y[i-1])^2)/2 + (a[i]-a[i-1])^2/2\n}\n\
        constraint driven: x[1] = 1 + 0.2*sin(t)\nstart x[1]' ~ 0.2\n";
    both("skates", text, 0.5);
}

#[test]
fn every_method_for_large_systems_says_the_same() {
    let text = chain(40, &[&format!("{ROD} = 1")]);
    let first = moved(&text, 0.4, |options| options.method = "taylor".to_owned());
    for method in ["dop853", "radau", "gauss6"] {
        let other = moved(&text, 0.4, |options| options.method = method.to_owned());
        compare(method, &first.q, &other.q, 1e-7);
    }
    let momenta = dalembert::formulations::by_name("hamilton").expect("a name");
    let other = moved(&text, 0.4, |options| options.formulation = momenta);
    compare("hamilton", &first.q, &other.q, 1e-7);
    let other = moved(&text, 0.05, |options| {
        (options.method, options.formulation) = ("rattle".to_owned(), momenta);
        options.step = Some(1e-3);
    });
    let first = moved(&text, 0.05, |_| {});
    compare("rattle", &first.q, &other.q, 1e-4);
}

/// Masses on springs and dampers in a row, both ends held, in a mode of the row: mode j has
/// ω = 2 √k sin(πj/(2N + 2)) and x″ + β ω² x′ + ω² x = 0, whatever the others do.
fn row_of_springs(n: usize, k: f64, beta: f64) -> String {
    format!(
        "const N = {n}\nparam k = {k}, beta = {beta}\ncoord x[1..N]\n\
         for i in 1..N {{\n  kinetic x[i]'^2/2\n  start x[i] = sin(3*pi*i/(N + 1))\n}}\n\
         potential k/2*(x[1]^2 + x[N]^2)\ndissipation beta*k/2*(x[1]'^2 + x[N]'^2)\n\
         for i in 2..N {{\n  potential k/2*(x[i] - x[i-1])^2\n  \
         dissipation beta*k/2*(x[i]' - x[i-1]')^2\n}}\n"
    )
}

/// Stiff rows far too large for matrices with their zeros, by the method for them and by `auto`.
#[test]
fn stiff_rows_of_any_length_keep_to_their_mode() {
    for (n, method) in [(100, "radau"), (1600, "radau"), (1600, "auto")] {
        let (k, beta, t) = (40.0 * (n * n) as f64, 1e-3, 0.05);
        let end = moved(&row_of_springs(n, k, beta), t, |options| {
            (options.method, options.tolerance) = (method.to_owned(), 1e-8);
        });
        assert_eq!(end.end, dalembert::simulate::drive::End::Finished, "{n} {method}");
        let at = |i: usize| std::f64::consts::PI * 3.0 * i as f64 / (n + 1) as f64;
        let omega = 2.0 * k.sqrt() * (0.5 * at(1)).sin();
        let decay = 0.5 * beta * omega * omega;
        let fast = (omega * omega - decay * decay).sqrt();
        let now = (-decay * t).exp() * ((fast * t).cos() + decay / fast * (fast * t).sin());
        for (i, x) in end.q.iter().enumerate() {
            let right = now * at(i + 1).sin();
            assert!((x - right).abs() < 1e-6, "{n} {method} {i}: {x} {right}");
        }
    }
}

/// A chain of rods with dampers and springs between its masses and the ground.
fn damped_chain(n: usize, stiff: f64) -> String {
    let mut text = chain(n, &[&format!("{ROD} = 1")]);
    let _ = write!(
        text,
        "param c = {stiff}\nfor i in 1..N {{\n  dissipation c*(x[i]' - x[i-1]')^2\n  \
         potential c/2*(y[i] - y[i-1] + 0.8)^2\n}}\n"
    );
    text
}

/// Where nothing is too stiff for the others they agree with it; rows that are written twice too.
#[test]
fn stiff_chains_move_as_by_other_methods() {
    for stiff in [3.0, 300.0] {
        let text = damped_chain(40, stiff);
        let first = moved(&text, 0.2, |options| options.method = "dop853".to_owned());
        let radau = |text: &str| moved(text, 0.2, |options| options.method = "radau".to_owned());
        compare("radau", &first.q, &radau(&text).q, 1e-7);
        let mut twice = text.clone();
        let _ = write!(twice, "for i in 1..N {{\n  constraint again[i]: 2*({ROD}) = 2\n}}\n");
        compare("radau, twice", &first.q, &radau(&twice).q, 1e-7);
    }
}

/// The derivatives of a large residual at their places are those of the matrix with its zeros, and
/// what differences give.
#[test]
fn sparse_derivatives_are_those_with_zeros() {
    use dalembert::simulate::integrators::Needs;
    let skates = "const N = 24\ncoord x[1..N], y[1..N], a[1..N]\n\
        for i in 1..N {\n  kinetic (x[i]'^2 + y[i]'^2 + a[i]'^2)/2\n  \
        constraint edge[i]: y[i]'*cos(a[i]) - x[i]'*sin(a[i]) = 0\n  \
        start x[i] = i, y[i] = 0, a[i] = 0.1*i, a[i]' = 0.3\n}\n\
        for i in 2..N {\n  potential 3*(x[i] - x[i-1] - 1)^2 + (y[i] - y[i-1])^2\n}\n";
    for text in [&*damped_chain(36, 5.0), skates, &*row_of_springs(70, 100.0, 0.01)] {
        let loaded = dalembert::load(&Input::text("model", text), &Options::default());
        let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let setting = Setting::new(&model).expect("values");
        let state = start::start(&setting).expect("a start").state;
        let equations = dalembert::derive(&model, Some("lagrange")).expect("equations");
        let mut field = Field::new(&setting, &equations, DEFAULT);
        assert!(field.equip(Needs::Residual));
        let mut x = state.q.clone();
        x.extend(&state.velocity);
        x.push(0.0);
        let mut rates = vec![0.0; x.len()];
        field.choose_rows(0.0, &x, 1e-9).expect("rows");
        field.rates(0.0, &x, &mut rates).expect("rates");
        let inside = x.len() - 1;
        let form = field.residual_form().expect("a residual");
        let mut y = Vec::new();
        form.begin(0.0, &x, &mut y).expect("a step");
        let (n, pattern) = (y.len(), form.pattern().expect("a large one").clone());
        let (mut full, mut sparse) =
            (vec![vec![0.0; n * n]; 2], vec![vec![0.0; pattern.entries()]; 2]);
        let (a, b) = full.split_at_mut(1);
        form.derivatives(0.0, &y, &rates[..inside], &mut a[0], &mut b[0]);
        let (a, b) = sparse.split_at_mut(1);
        form.entries(0.0, &y, &rates[..inside], &mut a[0], &mut b[0]);
        assert!(pattern.entries() < 20 * n);
        for (full, sparse) in full.iter().zip(&sparse) {
            assert_eq!(*full, pattern.dense(sparse));
        }
        let (mut up, mut down) = (vec![0.0; n], vec![0.0; n]);
        for column in (0..n).step_by(7) {
            let (step, middle) = (1e-6, y[column]);
            y[column] = middle + step;
            form.residual(0.0, &y, &rates[..inside], &mut up);
            y[column] = middle - step;
            form.residual(0.0, &y, &rates[..inside], &mut down);
            y[column] = middle;
            for row in 0..n {
                let slope = (up[row] - down[row]) / (2.0 * step);
                let own = full[1][row * n + column];
                assert!((slope - own).abs() < 1e-6 * (1.0 + own.abs()), "{row} {column}");
            }
        }
    }
}

/// A beam with the consistent masses of its elements, which couple all nodes: one block, which is
/// never full. Held at both ends and moved by a force in its middle.
fn beam(n: usize) -> String {
    format!(
        "const N = {n}\nparam k = {}\ncoord w[0..N], a[0..N]\n\
         for i in 1..N {{\n  \
         kinetic (w[i-1]'^2 + w[i-1]'*w[i]' + w[i]'^2)/3 + (a[i-1]'^2 + a[i-1]'*a[i]' + a[i]'^2)/30 \
         + (w[i-1]' - w[i]')*(a[i-1]' + a[i]')/60\n  \
         potential k*((w[i] - w[i-1] - (a[i] + a[i-1])/2)^2 + (a[i] - a[i-1])^2/12)\n}}\n\
         constraint left: w[0] = 0\nconstraint right: w[N] = 0\n\
         constraint pair: w[5] = w[6]\nconstraint again: 2*w[5] = 2*w[6]\n\
         for i in 8..N-8 {{\n  start w[i]' = sin(pi*(i - 8)/(N - 16))\n}}\n",
        30.0
    )
}

#[test]
fn masses_that_couple_all_coordinates_stay_sparse() {
    both("beam", &beam(60), 0.5);
    // Beyond what is ever solved with zeros: it moves, and keeps its energy.
    let long = moved(&beam(2400), 0.02, |options| options.method = "dop853".to_owned());
    assert!(is_sparse(&long));
    assert_eq!(long.end, dalembert::simulate::drive::End::Finished);
    assert!(long.q.iter().any(|w| w.abs() > 1e-3));
    assert!(long.q[5] - long.q[6] == 0.0 || (long.q[5] - long.q[6]).abs() < 1e-12);
}

#[test]
fn hundreds_of_links_move_and_keep_their_energy() {
    let text = chain(300, &[&format!("{ROD} = 1")]);
    let energy = |moved: &Moved| -> f64 {
        let (y, (u, w)) = (&moved.q[301..], moved.v.split_at(301));
        let mass = |i: usize| 1.0 + i as f64 / 300.0;
        (0..301).map(|i| 0.5 * mass(i) * (u[i] * u[i] + w[i] * w[i]) + 9.81 * y[i]).sum()
    };
    let before = moved(&text, 1e-3, |_| {});
    let after = moved(&text, 0.2, |_| {});
    assert!(is_sparse(&after));
    assert_eq!(after.end, dalembert::simulate::drive::End::Finished);
    let (x, y) = after.q.split_at(301);
    let (u, w) = after.v.split_at(301);
    for i in 1..301 {
        let length = (x[i] - x[i - 1]).hypot(y[i] - y[i - 1]);
        assert!((length - 1.0).abs() < 1e-11, "{i}: {length}");
        let rate = (x[i] - x[i - 1]) * (u[i] - u[i - 1]) + (y[i] - y[i - 1]) * (w[i] - w[i - 1]);
        assert!(rate.abs() < 1e-9, "{i}: {rate}");
    }
    let (first, last) = (energy(&before), energy(&after));
    assert!((first - last).abs() < 1e-10 * first.abs(), "{first} then {last}");
}

#[test]
fn coordinates_without_mass_take_dense_matrices() {
    let mut text = chain(40, &[&format!("{ROD} = 1")]);
    text.push_str("coord s\nconstraint follows: s = x[N] + y[N]\n");
    let with = moved(&text, 0.3, |_| {});
    let without = moved(&chain(40, &[&format!("{ROD} = 1")]), 0.3, |_| {});
    compare("chain", &with.q[..82], &without.q, 1e-8);
}

/// Rates in one go and by their terms, to the bit, once they are found in one go at all.
fn rates_in_one_go(what: &str, text: &str, by_loops: bool) {
    let loaded = dalembert::load(&Input::text("model", text), &Options::default());
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let setting = Setting::new(&model).expect("values");
    let start = start::start(&setting).expect("a start").state;
    let mut field = Field::by_lagrange(&setting, DEFAULT).expect("applies").1;
    let mut x = start.q.clone();
    x.extend(&start.velocity);
    x.push(0.0);
    field.choose_rows(start.t, &x, 1e-9).expect("a motion");
    let (mut dx, mut by_terms) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for call in 0..60 {
        let t = 1e-3 * call as f64;
        // A state beside the constraints, as the stages of a step are.
        for (i, x) in x.iter_mut().enumerate() {
            *x += 1e-4 * (0.3 * (i * call) as f64).sin();
        }
        field.rates(t, &x, &mut dx).expect("rates");
        // Each look at the terms speaks against the other way.
        if call % 10 == 9 {
            field.lasting_rates(t, &x, &mut by_terms).expect("rates");
            assert_eq!(dx, by_terms, "{what}: call {call}");
        }
    }
    assert_eq!(field.counts.direct > 0, by_loops, "{what}: {:?}", field.counts);
    assert_eq!(field.counts.decided, 0, "{what}");
}

#[test]
fn rates_in_one_go_are_those_of_their_terms() {
    let rod = format!("{ROD} = 1");
    rates_in_one_go("chain", &chain(70, &[&rod]), true);
    rates_in_one_go("every constraint twice", &chain(70, &[&rod, &rod]), true);
    // Masses that change, springs, and a point that is moved: its row does work.
    let springs = "const N = 60\nparam k = 3, m = 2\ncoord x[1..N], y[1..N]\n\
        for i in 1..N {\n  kinetic m*(1 + x[i]^2)*x[i]'^2/2 + y[i]'^2/2\n  potential k*x[i]^2/2 + sin(y[i])\n  \
        start x[i] = 0.1*i/N, y[i] = 0.2, y[i]' = 0.1\n}\n\
        for i in 2..N {\n  potential k*(x[i] - x[i-1])^2/2 + k*(y[i] - y[i-1])^4\n}\n\
        constraint moved: x[1] = 0.1*cos(3*t)/N\nconstraint held: y[1] + x[2]*y[2] = 0.2 + 0.2*0.2/N\n\
        start x[1] ~ 0, y[1] ~ 0.2, y[1]' ~ 0, x[1]' ~ 0\n";
    rates_in_one_go("springs", springs, true);
}
