//! Derivation does not swell: counts of nodes, which are the same on every
//! machine, for the N-link planar pendulum in angles and other known systems.

mod support;

use support::model;

fn chain(n: usize) -> String {
    format!(
        "const N = {n}\n\
         param g = 9.81, m[1..N] = 1, l[1..N] = 0.5\n\
         coord th[1..N]\n\
         let x[0] = 0, y[0] = 0\n\
         for i in 1..N {{\n\
           let x[i] = x[i-1] + l[i]*sin(th[i]), y[i] = y[i-1] - l[i]*cos(th[i])\n\
           kinetic m[i]/2*(x[i]'^2 + y[i]'^2)\n\
           potential m[i]*g*y[i]\n\
         }}"
    )
}

/// (nodes, operands) of M and Q together.
fn size(text: &str) -> (usize, usize) {
    let model = model(text);
    let equations = dalembert::derive(&model, Some("lagrange")).expect("applies");
    let mut roots: Vec<_> = equations.metric.rows.iter().flatten().map(|e| e.1).collect();
    roots.extend(&equations.force);
    (model.exprs.count_nodes(&roots), model.exprs.count_edges(&roots))
}

#[test]
fn the_n_link_pendulum_grows_as_the_square() {
    let sizes: Vec<(usize, usize)> = [25, 50, 100, 200].iter().map(|&n| size(&chain(n))).collect();
    for pair in sizes.windows(2) {
        // Twice the links: four times the nodes and operands, and no more.
        assert!(pair[1].0 <= 4 * pair[0].0, "{sizes:?}");
        assert!(pair[1].1 as f64 <= 4.6 * pair[0].1 as f64, "{sizes:?}");
    }
    let last = sizes[3].1 as f64 / sizes[2].1 as f64;
    assert!(last <= 4.1, "operands must settle to the square: {sizes:?}");
}

#[test]
fn node_counts_of_known_systems() {
    let lines: Vec<String> = [2usize, 3, 5, 10, 20, 50]
        .iter()
        .map(|&n| {
            let (nodes, operands) = size(&chain(n));
            format!("chain {n}: {nodes} nodes, {operands} operands")
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// A chain of point masses in Cartesian coordinates is sparse and linear.
#[test]
fn a_cartesian_chain_is_linear() {
    let text = |n: usize| {
        format!(
            "const N = {n}\nparam m = 1, g = 9.81, l = 0.1\n\
             coord x[1..N], y[1..N]\n\
             let r[0] = [0, 0]\n\
             for i in 1..N {{\n let r[i] = [x[i], y[i]]\n kinetic m/2*dot(r[i]', r[i]')\n \
             potential m*g*y[i]\n constraint link[i]: dot(r[i] - r[i-1], r[i] - r[i-1]) = l^2\n }}"
        )
    };
    let count = |n: usize| {
        let model = model(&text(n));
        let equations = dalembert::derive(&model, None).expect("applies");
        assert_eq!(equations.metric.nonzeros(), 2 * n);
        assert_eq!(equations.jacobian.nonzeros(), 4 * n - 2);
        equations.count_nodes(&model.exprs)
    };
    let (a, b) = (count(200), count(400));
    assert!(b <= 2 * a + 10, "{a} nodes for 200 links, {b} for 400");
}
