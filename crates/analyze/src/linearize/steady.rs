//! What the start asks for, and how far a state is from being steady.
//!
//! A state is steady if some symmetry has its rates: q̇ = ξ(q), v̇ = B v. The one that comes
//! nearest is found by least squares, each coordinate measured by its mass, and what is left is
//! compared with the sizes of the terms it is made of.

use super::rates::{Point, Rates};
use super::symmetry::{Symmetries, Symmetry};
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{largest, norm};
use dalembert_gauss::scale::Scaled;
use dalembert_model::system::{Energy, Level};
use dalembert_model::tree::StartRelation;
use dalembert_simulate::{Setting, State};

/// What the start says of a quantity with `=`.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub level: Level,
    pub left: ExprId,
    pub right: ExprId,
    pub text: String,
}

/// What is given beside the model, or by the `=` items of its start.
pub(crate) fn given(setting: &Setting) -> Vec<Given> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    if system.state.is_empty() {
        let items = system.start.iter().filter(|s| s.relation == StartRelation::Equals);
        return items
            .map(|s| Given { level: s.level, left: s.left, right: s.right, text: s.text.clone() })
            .collect();
    }
    let positions = system.positions();
    let items = system.state.iter().filter_map(|&(left, right)| {
        let symbol = exprs.as_symbol(left).filter(|&s| s != Symbol::TIME)?;
        let level = if positions.contains(&symbol) { Level::Position } else { Level::Velocity };
        Some(Given { level, left, right, text: exprs.symbol_info(symbol).full_name() })
    });
    items.collect()
}

/// What a search may change and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Hold the `=` among positions.
    pub positions: bool,
    /// Hold the `=` among velocities.
    pub velocities: Held,
    /// No symmetry but the one that goes with time: an equilibrium.
    pub rest: bool,
}

/// Which `=` among velocities are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    All,
    /// Those of coordinates along which the system may be shifted.
    Shifts,
    None,
}

impl Attempt {
    pub fn holds(&self, given: &Given, shifted: &[Symbol], setting: &Setting) -> bool {
        match given.level {
            Level::Position => self.positions,
            _ => match self.velocities {
                Held::All => true,
                Held::None => false,
                Held::Shifts => {
                    let symbols = setting.model.exprs.symbols_of(&[given.left, given.right]);
                    symbols.iter().any(|s| shifted.contains(s))
                        && setting.model.exprs.as_symbol(given.left).is_some()
                }
            },
        }
    }
}

/// How far a state is from being steady.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    /// The symmetry that comes nearest.
    pub along: Symmetry,
    /// The amounts of the symmetries in it.
    pub amounts: Vec<f64>,
    /// The largest deviation, relative to the terms it is made of.
    pub residual: f64,
}

/// The symmetry that carries a state along its motion, as well as one can.
pub(crate) fn fit(
    rates: &Rates,
    point: &Point,
    symmetries: &Symmetries,
    with: &Symmetry,
    start: &State,
) -> Fit {
    // A shift alone is preferred: it leaves the coordinates as the user has them.
    let shifts: Vec<bool> = symmetries.others.iter().map(Symmetry::is_shift).collect();
    let all = vec![true; shifts.len()];
    let none = vec![false; shifts.len()];
    let mut best: Option<Fit> = None;
    for used in [&none, &shifts, &all] {
        let fit = fit_with(rates, point, symmetries, with, start, used, true);
        if best.as_ref().is_none_or(|b| fit.residual < 0.01 * b.residual && b.residual > STEADY) {
            best = Some(fit);
        }
    }
    best.unwrap_or_else(|| fit_with(rates, point, symmetries, with, start, &none, true))
}

/// The amounts of the symmetries whose velocities come nearest to those of a state, whatever its
/// accelerations: where a search begins.
pub(crate) fn carried(
    rates: &Rates,
    point: &Point,
    symmetries: &Symmetries,
    with: &Symmetry,
    start: &State,
) -> Vec<f64> {
    let all = vec![true; symmetries.others.len()];
    fit_with(rates, point, symmetries, with, start, &all, false).amounts
}

/// A state whose rates are those of a symmetry up to this, relative, is steady.
pub(crate) const STEADY: f64 = 1e-9;

fn fit_with(
    rates: &Rates,
    point: &Point,
    symmetries: &Symmetries,
    with: &Symmetry,
    start: &State,
    used: &[bool],
    accelerations: bool,
) -> Fit {
    let n = rates.n;
    let (size_k, mut size_a, size_z) = sizes(rates, point, start);
    if !accelerations {
        size_a.fill(f64::INFINITY);
    }
    let q = &point.state.q;
    let off = |symmetry: &Symmetry| -> Vec<f64> {
        let moved = symmetry.moved(q).into_iter().zip(&size_k).map(|(x, s)| x / s);
        let turned = symmetry.turned(&point.v).into_iter().zip(&size_a).map(|(x, s)| x / s);
        moved.chain(turned).chain(size_z.iter().map(|_| 0.0)).collect()
    };
    let own = point.numbers.kinematics.iter().zip(&size_k).map(|(x, s)| x / s);
    let own = own.chain(point.outcome.v_dot.iter().zip(&size_a).map(|(x, s)| x / s));
    let of_states = point.numbers.kinematics[n..].iter().zip(&size_z).map(|(x, s)| x / s);
    let own = own.chain(of_states);
    let mut right: Vec<f64> = own.zip(off(with)).map(|(a, b)| a - b).collect();
    let chosen: Vec<usize> = (0..used.len()).filter(|&k| used[k]).collect();
    let columns: Vec<Vec<f64>> = chosen.iter().map(|&k| off(&symmetries.others[k])).collect();
    let mut amounts = vec![0.0; used.len()];
    if !chosen.is_empty() {
        let (rows, cols) = (right.len(), chosen.len());
        // Columns of equal size: amounts have units.
        let scales: Vec<f64> = columns.iter().map(|c| norm(c)).collect();
        let scales: Vec<f64> =
            scales.iter().map(|&s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
        let mut matrix = vec![0.0; rows * cols];
        for i in 0..rows {
            (0..cols).for_each(|k| matrix[i * cols + k] = columns[k][i] * scales[k]);
        }
        let mut svd = Svd::default();
        svd.decompose(&matrix, rows, cols);
        let mut x = vec![0.0; cols];
        svd.apply_pseudo_inverse(svd.rank(1e-10), &right, &mut x);
        for (k, &at) in chosen.iter().enumerate() {
            amounts[at] = x[k] * scales[k];
            right.iter_mut().zip(&columns[k]).for_each(|(r, c)| *r -= amounts[at] * c);
        }
    }
    let mut along = with.plus(&symmetries.others, &amounts);
    // What is rounding of other coordinates' velocities is no motion.
    let (of_q, of_v) = scales(rates, point);
    let of_rate = if by_momenta(rates.setting) { &of_q } else { &of_v };
    let speed = along.shift.iter().zip(of_rate).fold(0f64, |m, (x, s)| m.max((x / s).abs()));
    for (x, s) in along.shift.iter_mut().zip(of_rate) {
        if (*x / s).abs() <= 1e-14 * speed {
            *x = 0.0;
        }
    }
    Fit { along, amounts, residual: largest(&right) }
}

/// The sizes of the terms that velocities, accelerations and the rates of states are made of, so
/// that a deviation can be told from rounding whatever the units.
pub(crate) fn sizes(rates: &Rates, point: &Point, start: &State) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (n, wide) = (rates.n, rates.wide);
    let blocks = rates.blocks();
    let terms = point.numbers.terms();
    let (of_q, of_v) = scales(rates, point);
    // The length of positions and velocities in units of each coordinate.
    let length =
        |x: &[f64], scale: &[f64]| x.iter().zip(scale).fold(0f64, |m, (x, s)| m.max((x / s).abs()));
    // The start counts too: near a state at 0 there is nothing else to compare with.
    let own = if by_momenta(rates.setting) { &start.momentum } else { &start.velocity };
    let long_q = length(&point.state.q, &of_q).max(length(&start.q, &of_q));
    let long_v = length(&point.v, &of_v).max(length(own, &of_v));
    let by_states =
        |row: &[f64]| -> f64 { (n..wide).map(|k| (row[k] * point.state.q[k]).abs()).sum() };
    let mut force = 0f64;
    for i in 0..n {
        let mut sum = terms.force[i].abs() + terms.nonideal[i].abs();
        for (r, l) in point.outcome.multipliers.iter().enumerate() {
            sum += (terms.jacobian[r * n + i] * l).abs();
        }
        let row = point.row(blocks.balance + i);
        for j in 0..n {
            sum += row[j].abs() * (point.state.q[j].abs() + long_q * of_q[j]);
            sum += row[wide + j].abs() * (point.v[j].abs() + long_v * of_v[j]);
        }
        sum += by_states(row);
        force = force.max(sum * of_v[i]);
    }
    let positive = |x: f64| if x > 0.0 { x } else { 1.0 };
    let size_rate = |rows: std::ops::Range<usize>| -> Vec<f64> {
        let size = |i: usize| {
            let row = point.row(i);
            let sum: f64 = (0..n)
                .map(|j| row[j].abs() * long_q * of_q[j] + row[wide + j].abs() * long_v * of_v[j])
                .sum();
            positive(sum + by_states(row))
        };
        rows.map(size).collect()
    };
    let size_a = (0..n).map(|i| positive(force * of_v[i])).collect();
    (size_rate(0..n), size_a, size_rate(n..wide))
}

/// How large positions, velocities and momenta are at a point or at the start, in the natural
/// size of each: what rounding of them is measured by.
pub(crate) fn reach(rates: &Rates, point: &Point, start: &State) -> Vec<f64> {
    let (of_q, of_v) = scales(rates, point);
    let by_momenta = by_momenta(rates.setting);
    let (of_velocity, of_momentum) = match by_momenta {
        true => (of_q.clone(), of_v),
        false => (of_v.clone(), of_v.iter().map(|x| 1.0 / x).collect()),
    };
    let part = |here: &[f64], there: &[f64], sizes: &[f64]| -> Vec<f64> {
        let all = here.iter().zip(sizes).chain(there.iter().zip(sizes));
        let long = all.fold(0f64, |m, (x, s)| m.max((x / s).abs()));
        sizes.iter().map(|s| s * long).collect()
    };
    let state = &point.state;
    let mut list = part(&state.q, &start.q, &of_q);
    list.extend(part(&state.velocity, &start.velocity, &of_velocity));
    list.extend(part(&state.momentum, &start.momentum, &of_momentum));
    list
}

/// Natural sizes of positions and of v by coordinate: what has unit mass-weighted length.
pub(crate) fn scales(rates: &Rates, point: &Point) -> (Vec<f64>, Vec<f64>) {
    let mut scaled = Scaled::default();
    let c = match scaled.set(&point.numbers.terms()) {
        Ok(()) => scaled.coordinates,
        Err(_) => vec![1.0; rates.n],
    };
    if by_momenta(rates.setting) {
        (c.iter().map(|x| 1.0 / x).collect(), c)
    } else {
        (c.clone(), c)
    }
}

/// The largest force in natural units; 1 if there is none.
pub(crate) fn largest_force(rates: &Rates, point: &Point) -> f64 {
    let (_, of_v) = scales(rates, point);
    let (_, size_a, _) = sizes(rates, point, &point.state);
    size_a.iter().zip(&of_v).fold(0f64, |m, (a, s)| m.max(a / s))
}

/// The size of each multiplier whose force is as large as the largest there is.
pub(crate) fn multiplier_sizes(rates: &Rates, point: &Point) -> Vec<f64> {
    let n = rates.n;
    let (_, of_v) = scales(rates, point);
    let force = largest_force(rates, point);
    let rows = point.numbers.jacobian.chunks_exact(n.max(1));
    let lengths =
        rows.map(|row| norm(&row.iter().zip(&of_v).map(|(a, s)| a * s).collect::<Vec<_>>()));
    lengths.map(|l| if l > 0.0 { force / l } else { 0.0 }).collect()
}

/// Whether v is p.
pub(crate) fn by_momenta(setting: &Setting) -> bool {
    matches!(setting.model.system.energy, Energy::Hamiltonian { .. })
}
