//! Formulas as derivations produce them, each with the heading of a paper.

use crate::function::Function;
use crate::handle::Expr;
use crate::number::Number;
use crate::{ExprId, Exprs};

pub type Formula<'e> = (&'static str, Expr<'e>);

pub fn all(exprs: &Exprs) -> Vec<Formula<'_>> {
    let mut list = double_pendulum(exprs);
    list.extend(spherical_pendulum(exprs));
    list.extend(cart_and_pole(exprs));
    list.extend(rolling_disk(exprs));
    list.extend(quaternion(exprs));
    list.extend(particles(exprs));
    list.extend(choices(exprs));
    list.extend(names_and_numbers(exprs));
    list
}

fn d<'e>(f: Expr<'e>, x: Expr<'e>) -> Expr<'e> {
    x.symbol().map_or(f, |symbol| f.d(symbol))
}

/// d/dt ∂L/∂q′ − ∂L/∂q
fn lagrange<'e>(l: Expr<'e>, q: Expr<'e>) -> Expr<'e> {
    d(l, q.dt()).dt() - d(l, q)
}

fn speed_squared<'e>(r: &[Expr<'e>]) -> Expr<'e> {
    let exprs = r[0].exprs;
    r.iter().fold(exprs.integer(0), |total, x| total + x.dt().powi(2))
}

fn double_pendulum(e: &Exprs) -> Vec<Formula<'_>> {
    let [m1, m2, l1, l2, g] = ["m1", "m2", "l1", "l2", "g"].map(|name| e.constant(name));
    let [a, b] = ["theta1", "theta2"].map(|name| e.variable(name));
    let (x1, y1) = (l1 * a.sin(), -l1 * a.cos());
    let (x2, y2) = (x1 + l2 * b.sin(), y1 - l2 * b.cos());
    let t = m1 / 2 * speed_squared(&[x1, y1]) + m2 / 2 * speed_squared(&[x2, y2]);
    let v = m1 * g * y1 + m2 * g * y2;
    let l = t - v;
    vec![
        ("double pendulum: kinetic energy", t),
        ("double pendulum: potential energy", v),
        ("double pendulum: M[1,1]", d(d(t, a.dt()), a.dt())),
        ("double pendulum: M[1,2]", d(d(t, a.dt()), b.dt())),
        ("double pendulum: M[2,2]", d(d(t, b.dt()), b.dt())),
        ("double pendulum: momentum of theta1", d(l, a.dt())),
        ("double pendulum: first equation", lagrange(l, a)),
        ("double pendulum: second equation", lagrange(l, b)),
    ]
}

fn spherical_pendulum(e: &Exprs) -> Vec<Formula<'_>> {
    let [m, l, g] = ["m", "l", "g"].map(|name| e.constant(name));
    let [theta, phi, p_theta, p_phi] =
        ["theta", "phi", "p_theta", "p_phi"].map(|name| e.variable(name));
    let r = [l * theta.sin() * phi.cos(), l * theta.sin() * phi.sin(), -l * theta.cos()];
    let lagrangian = m / 2 * speed_squared(&r) - m * g * r[2];
    let h = (p_theta.powi(2) + (p_phi / theta.sin()).powi(2)) / (2 * m * l.powi(2))
        - m * g * l * theta.cos();
    let [x, y, z, big] = [e.variable("x"), e.variable("y"), e.variable("z"), e.constant("L")];
    let [px, py, pz] = ["p_x", "p_y", "p_z"].map(|name| e.variable(name));
    let p2 = px.powi(2) + py.powi(2) + pz.powi(2);
    vec![
        ("spherical pendulum: Lagrangian", lagrangian),
        ("spherical pendulum: equation for theta", lagrange(lagrangian, theta)),
        ("spherical pendulum: equation for phi", lagrange(lagrangian, phi)),
        ("spherical pendulum: Hamiltonian", h),
        ("spherical pendulum: -dH/dtheta", -d(h, theta)),
        ("spherical pendulum: Cartesian Hamiltonian", p2 / (2 * m) + m * g * z),
        ("spherical pendulum: constraint", x.powi(2) + y.powi(2) + z.powi(2) - big.powi(2)),
        ("spherical pendulum: p_x'", -m / big.powi(2) * (p2 / m.powi(2) + g * z) * x),
    ]
}

fn cart_and_pole(e: &Exprs) -> Vec<Formula<'_>> {
    let [m, mass, l, g, k] = ["M", "m", "l", "g", "k"].map(|name| e.constant(name));
    let [x, theta] = ["x", "theta"].map(|name| e.variable(name));
    let bob = [x + l * theta.sin(), -l * theta.cos()];
    let t = m / 2 * x.dt().powi(2) + mass / 2 * speed_squared(&bob);
    let lagrangian = t - mass * g * bob[1] - k / 2 * x.powi(2);
    vec![
        ("cart and pole: kinetic energy", t),
        ("cart and pole: Lagrangian", lagrangian),
        ("cart and pole: equation for x", lagrange(lagrangian, x)),
        ("cart and pole: equation for theta", lagrange(lagrangian, theta)),
    ]
}

type Matrix<'e> = [[Expr<'e>; 3]; 3];

fn multiply<'e>(a: &Matrix<'e>, b: &Matrix<'e>) -> Matrix<'e> {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j]))
}

/// The rotation about the axis `k`.
fn rotation(angle: Expr<'_>, k: usize) -> Matrix<'_> {
    let e = angle.exprs;
    [0, 1, 2].map(|i| {
        [0, 1, 2].map(|j| match ((3 + i - k) % 3, (3 + j - k) % 3) {
            (0, 0) => e.integer(1),
            (0, _) | (_, 0) => e.integer(0),
            (1, 2) => -angle.sin(),
            (2, 1) => angle.sin(),
            _ => angle.cos(),
        })
    })
}

fn rolling_disk(e: &Exprs) -> Vec<Formula<'_>> {
    let [m, r] = ["m", "r"].map(|name| e.constant(name));
    let [x, y, psi, phi, theta] = ["x", "y", "psi", "phi", "theta"].map(|name| e.variable(name));
    let turn = multiply(&multiply(&rotation(psi, 2), &rotation(phi, 0)), &rotation(theta, 1));
    let rate = turn.map(|row| row.map(|entry| entry.dt()));
    // ω = axial(R′Rᵀ), the angular velocity.
    let spin = |i: usize, j: usize| {
        rate[i][0] * turn[j][0] + rate[i][1] * turn[j][1] + rate[i][2] * turn[j][2]
    };
    let omega = [spin(2, 1), spin(0, 2), spin(1, 0)];
    let down = [-r * phi.sin() * psi.sin(), r * phi.sin() * psi.cos(), -r * phi.cos()];
    let slip = x.dt() + omega[1] * down[2] - omega[2] * down[1];
    let inertia = m * r.powi(2) / 4;
    let axis = [turn[0][1], turn[1][1], turn[2][1]];
    let along = omega[0] * axis[0] + omega[1] * axis[1] + omega[2] * axis[2];
    let square = omega[0].powi(2) + omega[1].powi(2) + omega[2].powi(2);
    vec![
        ("rolling disk: a length that is 1", axis[0].powi(2) + axis[1].powi(2) + axis[2].powi(2)),
        ("rolling disk: omega, first component", omega[0]),
        ("rolling disk: omega, vertical", omega[2]),
        ("rolling disk: no slip along x", slip),
        ("rolling disk: spin energy", inertia * square / 2 + inertia * along.powi(2) / 2),
        ("knife edge", x.dt() * theta.sin() - y.dt() * theta.cos()),
    ]
}

fn quaternion(e: &Exprs) -> Vec<Formula<'_>> {
    let q = ["e[0]", "e[1]", "e[2]", "e[3]"].map(|name| e.variable(name));
    let norm = q.iter().fold(e.integer(0), |total, x| total + x.powi(2));
    let [a, b, c, d] = q;
    let rate = 2 * (a * b.dt() - b * a.dt() + c * d.dt() - d * c.dt());
    vec![
        ("quaternion: R[1,1]", (a.powi(2) + b.powi(2) - c.powi(2) - d.powi(2)) / norm),
        ("quaternion: R[1,2]", 2 * (b * c - a * d) / norm),
        ("quaternion: omega, first component", rate / norm),
        ("quaternion: constraint", norm - 1),
    ]
}

fn particles(e: &Exprs) -> Vec<Formula<'_>> {
    let [m, c, k, gamma, omega, phi] =
        ["m", "c", "k", "gamma", "omega", "phi"].map(|name| e.constant(name));
    let [x, y, r, p, ell] = ["x", "y", "r", "p", "ell"].map(|name| e.variable(name));
    let (big, m1, m2) = (e.constant("G"), e.constant("m_1"), e.constant("m_2"));
    let t = e.time();
    let oscillation = (-gamma * t).exp() * (omega * t - phi).cos();
    let distance = (x.powi(2) + y.powi(2)).sqrt();
    let [x1, x2] = [e.variable("x1"), e.variable("x2")];
    let stretch = x1 - x2;
    vec![
        ("relativistic Hamiltonian", (m.powi(2) * c.powi(4) + c.powi(2) * p.powi(2)).sqrt()),
        ("relativistic Lagrangian", -m * c.powi(2) * (1 - x.dt().powi(2) / c.powi(2)).sqrt()),
        ("damped oscillation", oscillation),
        ("damped oscillation, its rate", oscillation.dt()),
        ("gravity", -(big * m1 * m2) / r),
        ("effective potential", ell.powi(2) / (2 * m * r.powi(2)) - k / r),
        ("force of gravity", -(k * x) / distance.powi(3)),
        ("two springs", k / 2 * stretch.powi(2) + k * x1 * x2 + k / 2 * x1.powi(2)),
        ("complete square", k * x1.powi(2) - 2 * k * x1 * x2 + k * x2.powi(2)),
        ("van der Pol", x.dt().dt() - gamma * (1 - x.powi(2)) * x.dt() + omega.powi(2) * x),
        ("common factor", k * x + k * y),
        ("common number", (x.dt().powi(2) + y.dt().powi(2)) / 2),
        ("common number, negative", -2 * x.powi(2) - 2 * y.powi(2)),
        ("constant last", m * x.cos() + k * y.cos() - c),
        ("double angle", 2 * m * phi.sin() * phi.cos()),
        ("tangent", m * phi.sin() / phi.cos()),
        ("exponents", m.pow(x + 1) * (k / m).sqrt() / x.pow(c)),
    ]
}

fn choices(e: &Exprs) -> Vec<Formula<'_>> {
    let [mu, n, k, f] = ["mu", "N", "k", "F"].map(|name| e.constant(name));
    let [x, y] = ["x", "y"].map(|name| e.variable(name));
    let call = |function, arguments: &[Expr]| {
        e.at(e.call(function, &arguments.iter().map(|a| a.id).collect::<Vec<_>>()))
    };
    let less = |a: Expr, b: Expr| e.at(e.call(Function::Negative, &[(a - b).id]));
    let t = e.time();
    let pulse = call(Function::And, &[less(e.integer(1), t), less(t, e.integer(2))]);
    let either = call(Function::Or, &[pulse, call(Function::NotPositive, &[x])]);
    let nested = call(Function::If, &[less(y, e.integer(0)), -k * y, e.integer(0)]);
    vec![
        ("dry friction", -mu * n * call(Function::Sign, &[x.dt()])),
        ("quadratic drag", -k * x.dt().abs() * x.dt()),
        ("pulse", call(Function::If, &[pulse, f, e.integer(0)])),
        ("either", call(Function::If, &[either, f * x, y])),
        ("three pieces", x * call(Function::If, &[less(x, y), k * x / 2, nested])),
        (
            "extremes",
            call(Function::Max, &[e.integer(0), k * (x - 1)]) + call(Function::Min, &[x, y, x * y]),
        ),
        ("angle", call(Function::Atan2, &[y, x]) + call(Function::Asin, &[x / 2])),
        ("truth", k * less(x, y)),
    ]
}

fn names_and_numbers(e: &Exprs) -> Vec<Formula<'_>> {
    let [cart, mass, len] = ["m_cart", "mass", "len"].map(|name| e.constant(name));
    let [x, angle, p, q, i] =
        ["a.x", "arm[2].th[1]", "p_th[2]", "r[1,13]", "i"].map(|name| e.variable(name));
    let number = |text| e.at(e.of_number(Number::from_decimal(text).unwrap_or(Number::ZERO)));
    let matrix: Vec<ExprId> = [cart, mass, mass, x].iter().map(|m| m.id).collect();
    let solved = e.solve(&matrix, &[x.id, p.id]);
    vec![
        ("names", cart * x.dt().powi(2) + mass * len * angle.dt() * p.dt() * q.dt().dt() + i.dt()),
        ("fifth derivative", x.dt().dt().dt() * x.dt().dt().dt().dt().dt().powi(2)),
        (
            "numbers",
            number("6.674e-11") * x + number("9.81") * p + number("1e12") * q - number("0.125") * i,
        ),
        (
            "rod",
            cart * len.powi(2) / 12
                + (number("2").sqrt() / 2 - number("3").pow(number("1") / 3)) * x,
        ),
        ("solve", cart * e.at(solved[1]).powi(2) - e.at(solved[0])),
        ("circle constant", 2 * e.pi() * len + (e.pi() / 4 + x / 2).sin()),
    ]
}
