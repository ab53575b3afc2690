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
