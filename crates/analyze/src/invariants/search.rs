//! Which combinations of columns satisfy the conditions of (5.3).
//!
//! Both conditions are linear in the coefficients, so that each consistent state
//! gives one equation for the power and one for each row of A; the coefficients of
//! integrals are the null vectors of all these equations together. The null space
//! is brought to reduced echelon form: a simple field that is an integral by itself
//! comes out by itself.

use super::identity::Identity;
use super::library::Column;
use dalembert_derive::matrix;
use dalembert_expr::{ExprId, Random};
use dalembert_gauss::linalg::{self, qr, svd::Svd};
use dalembert_model::system::Level;
use dalembert_simulate::points::random_states;
use dalembert_simulate::{Setting, Start, State};

/// Singular values below this part of the largest are 0. Those of fields that are
/// only nearly integrals in the region sampled are well above.
const NULL: f64 = 1e-10;
/// A value below this part of the terms it is made of is rounding.
const ROUNDING: f64 = 1e-12;
/// Entries of a reduced null vector below this are 0.
const ENTRY: f64 = 1e-7;

/// Null vectors of the conditions, and at how many places they were looked for. At one
/// place the conditions are polynomials of low degree in the velocities, and a place costs
/// a projection; so there are few at first, and more as long as null vectors do not hold
/// elsewhere and more places leave fewer of them. (Where a system has hardly any freedom,
/// functions are nearly dependent whatever their number.)
pub fn look(
    identity: &Identity,
    setting: &Setting,
    start: &Start,
    columns: &[Column],
    seed: u64,
) -> (Vec<Vec<f64>>, usize) {
    const CHECKED: usize = 8;
    let most = enough(columns);
    let free = identity.system.constraints.is_empty();
    let mut places = if free { most } else { (most / 8).clamp(8, 20) };
    let mut vectors = at_places(identity, setting, start, columns, places, seed);
    let others = sample(identity, setting, start, CHECKED, CHECKED, seed + 7919);
    let elsewhere = equations(identity, setting, &others, columns);
    let holds = |vector: &Vec<f64>| elsewhere.as_ref().is_none_or(|e| e.hold(vector));
    while places < most && !vectors.iter().all(holds) {
        places = (2 * places).min(most);
        let next = at_places(identity, setting, start, columns, places, seed);
        let fewer = next.len() < vectors.len();
        vectors = next;
        if !fewer {
            break;
        }
    }
    vectors.retain(holds);
    (vectors, places)
}

/// As many states as the columns need.
fn enough(columns: &[Column]) -> usize {
    columns.len() * 5 / 4 + 12
}

/// Null vectors of the conditions at so many places.
pub fn at_places(
    identity: &Identity,
    setting: &Setting,
    start: &Start,
    columns: &[Column],
    places: usize,
    seed: u64,
) -> Vec<Vec<f64>> {
    let states = sample(identity, setting, start, enough(columns), places, seed);
    null_vectors(identity, setting, &states, columns)
}

/// Consistent states at so many places, at least `count` where the constraints leave that
/// many.
fn sample(
    identity: &Identity,
    setting: &Setting,
    start: &Start,
    count: usize,
    places: usize,
    seed: u64,
) -> Vec<State> {
    let system = identity.system;
    let rows = system.constraints.iter();
    // Velocities that rows restrict in an affine way are drawn afresh at each place.
    let affine = rows.clone().all(|c| c.level != Level::Velocity || c.affine);
    let places = if affine { places } else { count };
    let mut states = random_states(setting, start, places, seed);
    states.insert(0, start.state.clone());
    if !affine {
        return states;
    }
    let n = identity.q.len();
    let restricting: Vec<usize> = (0..system.constraints.len())
        .filter(|&row| system.constraints[row].level != Level::Acceleration)
        .collect();
    let a = matrix::part(&identity.jacobian, &restricting, &(0..n).collect::<Vec<_>>());
    let entries: Vec<ExprId> = a.rows.iter().flatten().map(|e| e.1).collect();
    let each = count.div_ceil(states.len());
    let mut draw = Random::new(seed);
    let mut all = Vec::new();
    for state in states {
        let values = setting.numbers(&entries, &state.table(system));
        let dense = dalembert_simulate::normal_form::dense(&a, &values);
        let mut svd = Svd::default();
        svd.decompose(&dense, restricting.len(), n);
        let rank = svd.rank(1e-9);
        let size = state.velocity.iter().fold(1f64, |m, v| m.max(v.abs()));
        for _ in 1..each {
            let mut more: Vec<f64> = (0..n).map(|_| size * draw.signed()).collect();
            svd.project_on_kernel(rank, &mut more);
            let velocity = state.velocity.iter().zip(&more).map(|(a, b)| a + b).collect();
            all.extend(State::of_velocities(setting, state.t, state.q.clone(), velocity));
        }
        all.push(state);
    }
    all
}

/// The equations of all states, row by row.
struct Equations {
    rows: usize,
    entries: Vec<f64>,
}

impl Equations {
    /// Whether a null vector of others satisfies these.
    fn hold(&self, vector: &[f64]) -> bool {
        const SAME: f64 = 1e-6;
        self.entries.chunks(vector.len()).all(|row| {
            let mut total = Total::default();
            row.iter().zip(vector).for_each(|(a, x)| total.add(a * x));
            total.value.abs() <= SAME * total.size
        })
    }
}

/// A sum that knows the size of its terms.
#[derive(Clone, Copy, Default)]
struct Total {
    value: f64,
    size: f64,
}

impl Total {
    fn add(&mut self, term: f64) {
        self.value += term;
        self.size += term.abs();
    }

    fn settled(self) -> f64 {
        if self.value.abs() <= ROUNDING * self.size { 0.0 } else { self.value }
    }
}

/// Null vectors of the conditions, reduced: the leading entry of each is 1 and no
/// other has one there.
fn null_vectors(
    identity: &Identity,
    setting: &Setting,
    states: &[State],
    columns: &[Column],
) -> Vec<Vec<f64>> {
    let cols = columns.len();
    let Some(mut equations) = equations(identity, setting, states, columns) else {
        return Vec::new();
    };
    // Columns of one size; what is 0 stays 0 and is a null vector by itself.
    let mut sizes = vec![0f64; cols];
    for row in equations.entries.chunks(cols) {
        row.iter().zip(&mut sizes).for_each(|(x, s)| *s = s.hypot(*x));
    }
    sizes.iter_mut().filter(|s| !(**s > 0.0)).for_each(|s| *s = 1.0);
    for row in equations.entries.chunks_mut(cols) {
        row.iter_mut().zip(&sizes).for_each(|(x, s)| *x /= s);
    }
    if equations.rows < cols + 4 || equations.entries.iter().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    let mut tau = vec![0.0; cols];
    qr::factor(&mut equations.entries, equations.rows, cols, cols, &mut tau);
    let mut upper = equations.entries[..cols * cols].to_vec();
    for i in 0..cols {
        upper[i * cols..i * cols + i].fill(0.0);
    }
    let mut svd = Svd::default();
    svd.decompose(&upper, cols, cols);
    let rank = svd.rank(NULL);
    let mut basis: Vec<Vec<f64>> =
        (rank..cols).map(|k| svd.v[k * cols..(k + 1) * cols].to_vec()).collect();
    let leading = reduce(&mut basis, cols);
    for (row, &lead) in basis.iter_mut().zip(&leading) {
        row.iter_mut().zip(&sizes).for_each(|(x, s)| *x /= s);
        let scale = row[lead];
        row.iter_mut().for_each(|x| *x /= scale);
    }
    basis.truncate(leading.len());
    basis
}

/// Reduced echelon form; returns the leading columns.
fn reduce(basis: &mut [Vec<f64>], cols: usize) -> Vec<usize> {
    let mut leading = Vec::new();
    for column in 0..cols {
        let at = leading.len();
        let size = |i: usize| basis[i][column].abs();
        let Some(best) = (at..basis.len()).max_by(|&i, &j| size(i).total_cmp(&size(j))) else {
            break;
        };
        if !(basis[best][column].abs() > 1e-6) {
            continue;
        }
        basis.swap(at, best);
        let pivot = basis[at][column];
        basis[at].iter_mut().for_each(|x| *x /= pivot);
        let lead = basis[at].clone();
        for row in (0..basis.len()).filter(|&i| i != at) {
            let factor = basis[row][column];
            basis[row].iter_mut().zip(&lead).for_each(|(x, l)| *x -= factor * l);
        }
        leading.push(column);
    }
    for row in basis.iter_mut() {
        let size = linalg::largest(row);
        row.iter_mut().filter(|x| x.abs() <= ENTRY * size).for_each(|x| *x = 0.0);
    }
    leading
}

fn equations(
    identity: &Identity,
    setting: &Setting,
    states: &[State],
    columns: &[Column],
) -> Option<Equations> {
    let (n, m, cols) = (identity.q.len(), identity.drag.len(), columns.len());
    let functions: Vec<ExprId> = columns
        .iter()
        .map(|column| match column {
            Column::Field { factor, .. } => *factor,
            _ => ExprId::ZERO,
        })
        .collect();
    let gauges: Vec<ExprId> = columns
        .iter()
        .map(|column| match column {
            Column::Energy => ExprId::ZERO,
            Column::Field { gauge, .. } | Column::Whole { gauge, .. } => *gauge,
            Column::Gauge(f) => *f,
        })
        .collect();
    let mut roots = functions.clone();
    roots.extend(identity.rate(&functions));
    roots.extend(identity.rate(&gauges));
    let momenta = roots.len();
    roots.extend(&identity.momenta);
    roots.extend((0..n).map(|i| identity.force(i)));
    let pushes = (0..n).map(|i| identity.exprs.sum(&[identity.impressed[i], identity.nonideal[i]]));
    roots.extend(pushes);
    roots.extend(&identity.velocities);
    roots.extend(&identity.drag);
    roots.push(identity.l_t);
    let wholes = roots.len();
    for column in columns {
        if let Column::Whole { field, .. } = column {
            roots.extend(field);
            roots.extend(identity.rate(field));
        }
    }
    let matrix = roots.len();
    roots.extend(identity.jacobian.rows.iter().flatten().map(|e| e.1));
    let mut entries = Vec::new();
    for state in states {
        let noisy = setting.evaluate(&roots, &state.table(identity.system));
        // A place where a factor is not defined teaches nothing.
        if noisy.iter().any(|v| !v.value.is_finite()) {
            continue;
        }
        let values: Vec<f64> = noisy
            .iter()
            .map(|v| if v.value.abs() <= 1e3 * v.noise { 0.0 } else { v.value })
            .collect();
        let (function, rate) = (&values[..cols], &values[cols..2 * cols]);
        let gauge_rate = &values[2 * cols..3 * cols];
        let part = |k: usize| &values[momenta + k * n..momenta + (k + 1) * n];
        let (p, force, push, velocity) = (part(0), part(1), part(2), part(3));
        let drag = &values[momenta + 4 * n..momenta + 4 * n + m];
        let l_t = values[momenta + 4 * n + m];
        let a = dalembert_simulate::normal_form::dense(&identity.jacobian, &values[matrix..]);
        let mut whole = values[wholes..matrix].chunks(2 * n);
        let mut block = vec![0.0; (1 + m) * cols];
        for (k, column) in columns.iter().enumerate() {
            let mut power = Total::default();
            power.add(-gauge_rate[k]);
            match column {
                Column::Energy => {
                    power.add(l_t);
                    (0..n).for_each(|i| power.add(-push[i] * velocity[i]));
                    (0..m).for_each(|j| block[(1 + j) * cols + k] = -drag[j]);
                }
                Column::Field { along, .. } => {
                    power.add(function[k] * force[*along]);
                    power.add(rate[k] * p[*along]);
                    let along = (0..m).map(|j| a[j * n + along]);
                    let rows = along.map(|a| a * function[k]).enumerate();
                    rows.for_each(|(j, x)| block[(1 + j) * cols + k] = x);
                }
                Column::Whole { .. } => {
                    let both = whole.next().unwrap_or_default();
                    for i in 0..n {
                        power.add(both[i] * force[i]);
                        power.add(both[n + i] * p[i]);
                    }
                    for j in 0..m {
                        let mut row = Total::default();
                        (0..n).for_each(|i| row.add(a[j * n + i] * both[i]));
                        block[(1 + j) * cols + k] = row.settled();
                    }
                }
                Column::Gauge(_) => {}
            }
            block[k] = power.settled();
        }
        entries.extend(block);
    }
    // Equations of one kind get one scale, or a row in small units would not count.
    for kind in 0..1 + m {
        let rows = || entries.chunks(cols).skip(kind).step_by(1 + m);
        let size = rows().flatten().fold(0f64, |s, x| s.max(x.abs()));
        if size > 0.0 {
            let rows = entries.chunks_mut(cols).skip(kind).step_by(1 + m);
            rows.flatten().for_each(|x| *x /= size);
        }
    }
    (!entries.is_empty()).then_some(Equations { rows: entries.len() / cols, entries })
}
