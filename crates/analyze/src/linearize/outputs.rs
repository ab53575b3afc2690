//! Inputs and outputs of the linear equations.
//!
//! ```text
//! δẋ = A δx + B₀ δu + B₁ δu' + B₂ δu''
//! δy = C δx + D₀ δu + D₁ δu' + D₂ δu''
//! ```
//!
//! x are the free coordinates, velocities and states of [`Reduced`], A is its matrix. A column is
//! the response (`rates`) to a change of an input with x held and the rest of the state carried
//! along by the constraints, which may hold inputs too: a driven joint φ(q, u) = 0 moves q with
//! u, q̇ with u' and q̈ with u''. There is a column for each of u, u' and u'' that the equations
//! hold. An output may hold accelerations and multipliers; their changes are those of the same
//! response.
//!
//! About a steady motion C and B are constant in the frame that moves with it only if outputs and
//! forces go along with the symmetry. Those that do not are told: the numbers are then those of
//! this one state.

use super::LinearizeError;
use super::rates::{Driver, Point, Rates};
use super::reduce::{Reduced, Tangents};
use super::symmetry::Symmetry;
use dalembert_derive::Variables;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_gauss::linalg::{dot, largest};
use dalembert_model::system::Unknown;
use dalembert_simulate::State;
use dalembert_simulate::normal_form::dense;

/// B, C and D.
#[derive(Clone, Debug, Default)]
pub struct InputOutput {
    /// What the columns of B and D are: an input's name, and how often it is differentiated.
    pub columns: Vec<(String, usize)>,
    /// The outputs, by name.
    pub outputs: Vec<String>,
    /// B, by x and columns.
    pub b: Vec<f64>,
    /// C, by outputs and x. An output without a derivative here has NaN.
    pub c: Vec<f64>,
    /// D, by outputs and columns.
    pub d: Vec<f64>,
    /// Inputs that vary in time, and what they are held at.
    pub held: Vec<(String, f64)>,
    /// Inputs and outputs that do not go along with the steady motion.
    pub varying: Vec<String>,
}

/// The outputs of a model as functions of the state, of v̇ and of λ, with their slopes.
pub(crate) struct Outputs {
    names: Vec<String>,
    by_state: Jacobian,
    by_unknowns: Jacobian,
}

impl Outputs {
    pub fn new(rates: &Rates) -> Outputs {
        let (exprs, system) = (&rates.setting.model.exprs, &rates.setting.model.system);
        let values: Vec<ExprId> = system.outputs.iter().map(|o| o.value).collect();
        let values = exprs.substitute(&values, &unknowns(exprs, rates));
        let mut variables = rates.equations.q.clone();
        variables.extend(&rates.equations.v);
        variables.push(Symbol::TIME);
        variables.extend(rates.inputs.iter().map(|u| u.symbol));
        let residual = &rates.residual;
        let solved: Vec<Symbol> =
            residual.accelerations.iter().chain(&residual.multipliers).copied().collect();
        Outputs {
            names: system.outputs.iter().map(|o| o.name.clone()).collect(),
            by_state: exprs.jacobian(&values, &variables),
            by_unknowns: exprs.jacobian(&values, &solved),
        }
    }

    /// ∂y/∂(q, z, v, t, u) and ∂y/∂(v̇, λ).
    pub fn slopes(&self) -> (&Jacobian, &Jacobian) {
        (&self.by_state, &self.by_unknowns)
    }

    /// The slopes at a point.
    fn at(&self, rates: &Rates, point: &Point) -> Slopes {
        let table = rates.table(&point.state, &point.v, &point.outcome);
        let numbers = |matrix: &Jacobian| -> Vec<f64> {
            let list: Vec<ExprId> = matrix.rows.iter().flatten().map(|e| e.1).collect();
            dense(matrix, &rates.setting.numbers(&list, &table))
        };
        Slopes {
            count: self.names.len(),
            by_state: numbers(&self.by_state),
            by_unknowns: numbers(&self.by_unknowns),
        }
    }
}

struct Slopes {
    count: usize,
    by_state: Vec<f64>,
    by_unknowns: Vec<f64>,
}

impl Slopes {
    /// δy, given the direction and the response to it.
    fn change(&self, full: &[f64], response: &[f64]) -> Vec<f64> {
        let row = |matrix: &[f64], width: usize, i: usize, x: &[f64]| -> f64 {
            dot(&matrix[i * width..(i + 1) * width], x)
        };
        let (a, b) = (full.len(), response.len());
        (0..self.count)
            .map(|i| row(&self.by_state, a, i, full) + row(&self.by_unknowns, b, i, response))
            .collect()
    }
}

/// What accelerations, multipliers and reactions are in the symbols of the equations.
fn unknowns(exprs: &Exprs, rates: &Rates) -> Vec<(Symbol, ExprId)> {
    let (system, e, residual) = (&rates.setting.model.system, &rates.equations, &rates.residual);
    let symbol = |s: Symbol| exprs.of_symbol(s);
    let times = |a: ExprId, b: ExprId| (exprs.at(a) * exprs.at(b)).id;
    let mut list: Vec<(Symbol, ExprId)> = Vec::new();
    for (i, &second) in system.accelerations().iter().enumerate() {
        let own = e.lift.rows[i].iter().map(|&(j, k)| times(k, symbol(residual.accelerations[j])));
        list.push((second, exprs.sum(&own.chain([e.lift_bias[i]]).collect::<Vec<_>>())));
    }
    let by_momenta = e.variables == Variables::Momenta;
    if by_momenta {
        let rates = residual.accelerations.iter().map(|&a| symbol(a));
        list.extend(system.momentum_rates().into_iter().zip(rates));
    }
    // Of rows that are held as combinations of those written nothing is known here, and A of a
    // model in momenta is not that of its coordinates.
    let plain = system.recombined.is_empty();
    let place = |row: usize| e.rows.iter().position(|&own| own == row);
    let share =
        |i: usize, at: usize| times(e.jacobian.get(at, i), symbol(residual.multipliers[at]));
    for &(own, unknown) in system.unknowns.iter().filter(|_| plain) {
        let value = match unknown {
            Unknown::Multiplier(row) => place(row).map(|at| symbol(residual.multipliers[at])),
            Unknown::Share(i, row) if !by_momenta => place(row).map(|at| share(i, at)),
            Unknown::Reaction(i) if !by_momenta => {
                let shares = (0..e.rows.len()).map(|at| share(i, at));
                Some(exprs.sum(&shares.chain([residual.nonideal[i]]).collect::<Vec<_>>()))
            }
            _ => None,
        };
        list.extend(value.map(|value| (own, value)));
    }
    list
}

impl InputOutput {
    /// B, C and D at a point.
    pub(crate) fn new(
        rates: &Rates,
        outputs: &Outputs,
        point: &Point,
        tangents: &Tangents,
        reduced: &Reduced,
    ) -> Result<InputOutput, LinearizeError> {
        let system = &rates.setting.model.system;
        let (dim, count, outs) = (reduced.dimension(), rates.inputs.len(), outputs.names.len());
        let blocks = rates.blocks();
        let slopes = outputs.at(rates, point);
        let mut found = InputOutput {
            columns: rates.inputs.iter().map(|u| (name(system, u), u.order)).collect(),
            outputs: outputs.names.clone(),
            b: vec![0.0; dim * count],
            c: vec![0.0; outs * dim],
            d: vec![0.0; outs * count],
            ..InputOutput::default()
        };
        for j in 0..count {
            let full = tangents.along(rates.wide + rates.n + 1 + j);
            let (mut image, v, lambda) = point.response(&blocks, &full)?;
            image.extend(&v);
            for (i, x) in reduced.free(&image).into_iter().enumerate() {
                found.b[i * count + j] = x;
            }
            let change = slopes.change(&full, &[v, lambda].concat());
            change.iter().enumerate().for_each(|(i, y)| found.d[i * count + j] = *y);
        }
        for (j, place) in reduced.places().enumerate().filter(|_| outs > 0) {
            let full = tangents.along(place);
            let (_, v, lambda) = point.response(&blocks, &full)?;
            let change = slopes.change(&full, &[v, lambda].concat());
            change.iter().enumerate().for_each(|(i, y)| found.c[i * dim + j] = *y);
        }
        Ok(found)
    }

    /// Which inputs and outputs do not go along with a steady motion, seen at a state farther on.
    pub(crate) fn look_along(
        &mut self,
        rates: &Rates,
        outputs: &Outputs,
        point: &Point,
        tangents: &Tangents,
        reduced: &Reduced,
        along: &Symmetry,
    ) {
        let (n, wide) = (rates.n, rates.wide);
        if *along == Symmetry::rest(n) {
            return;
        }
        let Some(carried) = Carried::new(along, &point.state.q[..n]) else { return };
        let mut q = carried.place.clone();
        q.extend(&point.state.q[n..]);
        let v = carried.turned(&point.v);
        let state = match rates.equations.variables {
            Variables::Momenta => State::of_momenta(rates.setting, point.state.t, q, v),
            _ => State::of_velocities(rates.setting, point.state.t, q, v),
        };
        let Some(there) = state.ok().and_then(|state| rates.at(&state).ok()) else { return };
        let (here, blocks) = (outputs.at(rates, point), rates.blocks());
        let farther = outputs.at(rates, &there);
        let moved = |full: &[f64]| -> Vec<f64> {
            let mut other = full.to_vec();
            other[..n].copy_from_slice(&carried.turned(&full[..n]));
            other[wide..wide + n].copy_from_slice(&carried.turned(&full[wide..wide + n]));
            other
        };
        let differs = |a: &[f64], b: &[f64]| {
            let size = largest(a).max(largest(b));
            a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-7 * size)
        };
        let mut varying = vec![false; outputs.names.len()];
        let inputs = (0..self.columns.len()).map(|j| wide + n + 1 + j);
        for (at, place) in reduced.places().chain(inputs).enumerate() {
            let full = tangents.along(place);
            let other = moved(&full);
            let (Ok((_, a, la)), Ok((_, b, lb))) =
                (point.response(&blocks, &full), there.response(&blocks, &other))
            else {
                return;
            };
            if let Some(j) = at.checked_sub(reduced.dimension())
                && differs(&carried.turned(&a), &b)
            {
                self.varying.push(self.columns[j].0.clone());
            }
            let y = here.change(&full, &[a, la].concat());
            let other = farther.change(&other, &[b, lb].concat());
            for (i, varies) in varying.iter_mut().enumerate() {
                *varies |=
                    differs(&y[i..=i], &other[i..=i]) && y[i].abs().max(other[i].abs()) > 1e-9;
            }
        }
        let names = outputs.names.iter().zip(varying).filter(|o| o.1).map(|o| o.0.clone());
        self.varying.extend(names);
        self.varying.dedup();
    }
}

/// Where a symmetry carries a place in some time, and how it turns.
struct Carried {
    place: Vec<f64>,
    turn: Vec<f64>,
}

impl Carried {
    /// The flow by its series, over a time in which it turns by less than a radian.
    fn new(along: &Symmetry, q: &[f64]) -> Option<Carried> {
        let n = q.len();
        let fast = largest(&along.turn).max(largest(&along.shift) / largest(q).max(1.0));
        let time = 0.37 / fast;
        if !time.is_finite() {
            return None;
        }
        let flow = |start: &[f64], shift: bool| -> Vec<f64> {
            let (mut sum, mut term) = (start.to_vec(), start.to_vec());
            for k in 1..24 {
                let mut next = along.turned(&term);
                if k == 1 && shift {
                    next.iter_mut().zip(&along.shift).for_each(|(x, c)| *x += c);
                }
                next.iter_mut().for_each(|x| *x *= time / f64::from(k));
                sum.iter_mut().zip(&next).for_each(|(s, x)| *s += x);
                term = next;
            }
            sum
        };
        let mut turn = vec![0.0; n * n];
        for j in 0..n {
            let mut unit = vec![0.0; n];
            unit[j] = 1.0;
            flow(&unit, false).into_iter().enumerate().for_each(|(i, x)| turn[i * n + j] = x);
        }
        Some(Carried { place: flow(q, true), turn })
    }

    fn turned(&self, x: &[f64]) -> Vec<f64> {
        self.turn.chunks_exact(x.len().max(1)).map(|row| dot(row, x)).collect()
    }
}

fn name(system: &dalembert_model::system::System, u: &Driver) -> String {
    format!("{}{}", system.inputs[u.input].name, "'".repeat(u.order))
}
