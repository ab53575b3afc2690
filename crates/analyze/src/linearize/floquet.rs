//! Floquet multipliers: what becomes of a small deviation from a periodic motion in one period.
//!
//! Along the motion δẋ = A(t) δx, with A periodic. The solution over one period is the monodromy
//! matrix, its eigenvalues are the multipliers μ: a deviation along an eigenvector is μ times
//! itself after a period. |μ| > 1 grows. In an autonomous system a shift along the motion itself
//! stays what it is: one multiplier is 1. A motion is periodic also where positions go on that the
//! equations do not depend on, as those of a wheel that has rolled on, or angles by whole turns: all
//! others, all rates and A have to return.
//!
//! The deviation is followed in all coordinates, velocities and states, by the response of
//! `rates`, which keeps what satisfies the constraints on them; only at the end it is read off in free
//! quantities. Steps are Gauss collocation of order 8 for the linear equation, on the motion of a
//! run, and halved until the multipliers stay. Where contacts and friction have phases the motion has
//! to stay in one: deviations jump where phases change, and those jumps are not followed.

use super::eigen::{self, Complex};
use super::rates::{Point, Rates};
use super::reduce::{self, Reduced, Tangents};
use super::symmetry::Symmetry;
use super::{LinearizeError, begin, phase};
use crate::watch::Watch;
use dalembert_expr::Symbol;
use dalembert_gauss::linalg::{largest, lu};
use dalembert_simulate::run::{self, RunOptions};
use dalembert_simulate::{Setting, State};
use std::f64::consts::TAU;
use std::ops::ControlFlow;

/// Nodes of Gauss's rule of order 8 on 0..1.
const NODES: [f64; 4] = [
    0.069_431_844_202_973_71,
    0.330_009_478_207_571_87,
    0.669_990_521_792_428_1,
    0.930_568_155_797_026_3,
];
/// Steps to begin with, and most of them.
const STEPS: [usize; 2] = [16, 2048];
/// The multipliers have settled if they change by no more than this, relative to the matrix.
const SETTLED: f64 = 1e-10;
/// A is the same again up to this.
const PERIODIC: f64 = 1e-6;

/// A periodic motion and its multipliers.
#[derive(Clone, Debug)]
pub struct Floquet {
    /// Where it begins.
    pub state: State,
    /// Where it is a period later.
    pub end: State,
    /// The period.
    pub period: f64,
    /// By how much A differs after the period, relative to itself.
    pub closure: f64,
    /// What is free.
    pub reduced: Reduced,
    /// The monodromy matrix in the free quantities.
    pub monodromy: Vec<f64>,
    /// The multipliers, the largest first.
    pub multipliers: Vec<Complex>,
    /// By how much they changed when steps were halved last.
    pub change: f64,
    /// Whether there is a motion, and time does not occur in the equations, so that one multiplier
    /// is 1.
    pub autonomous: bool,
}

/// What multipliers say of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orbit {
    /// All but the one along an autonomous motion are within the unit circle.
    AsymptoticallyStable,
    /// Some are on the circle, none outside.
    Undecided,
    /// One is outside.
    Unstable,
}

impl Orbit {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Orbit::AsymptoticallyStable => "asymptotically stable",
            Orbit::Undecided => "undecided",
            Orbit::Unstable => "unstable",
        }
    }
}

impl Floquet {
    /// What the multipliers say; those that meet on the unit circle are known to half their digits.
    pub fn orbit(&self) -> Orbit {
        let size = largest(&self.monodromy).max(1.0);
        let near = (self.change.max(1e-12) * size).sqrt().max(1e-6);
        let sizes: Vec<f64> = self.multipliers.iter().map(|m| m[0].hypot(m[1])).collect();
        let outside = sizes.iter().filter(|s| **s > 1.0 + near).count();
        let on = sizes.iter().filter(|s| (**s - 1.0).abs() <= near).count();
        if outside > 0 {
            Orbit::Unstable
        } else if on > usize::from(self.autonomous) {
            Orbit::Undecided
        } else {
            Orbit::AsymptoticallyStable
        }
    }
}

/// The multipliers of the motion from the start, or from the state asked for, over a period.
pub fn floquet(setting: &Setting, period: f64, watch: &Watch) -> Result<Floquet, LinearizeError> {
    watch.on("looking for a consistent start")?;
    let start = begin(setting)?;
    watch.on("deriving the equations and their slopes")?;
    // In one phase all along; `passed` says if it is not.
    let phase = phase::of(setting, &start.state)?;
    let rates = Rates::new(phase.as_ref().map_or(setting, |here| &here.setting))?;
    let first = rates.at(&start.state)?;
    let tangents = Tangents::new(&rates, &first)?;
    let rest = Symmetry::rest(rates.n);
    let reduced = reduce::reduce(&rates, &first, &tangents, &rest, None)?;
    let d = reduced.dimension();
    let mut steps = STEPS[0];
    let mut before: Option<Vec<f64>> = None;
    loop {
        watch.on("following deviations over a period")?;
        let t0 = start.state.t;
        let mut times: Vec<f64> = Vec::with_capacity(4 * steps + 1);
        for k in 0..steps {
            times.extend(NODES.iter().map(|c| t0 + period * (k as f64 + c) / steps as f64));
        }
        times.push(t0 + period);
        let states = passed(setting, &start, &times)?;
        let Some(end) = states.last().filter(|_| states.len() == times.len()).cloned() else {
            return Err(LinearizeError::NotPeriodic { closure: f64::INFINITY });
        };
        let monodromy = carried(&rates, &reduced, &states[..4 * steps], period / steps as f64)?;
        let change = before.as_ref().map(|before| {
            let off: Vec<f64> = before.iter().zip(&monodromy).map(|(a, b)| a - b).collect();
            largest(&off) / largest(&monodromy).max(f64::MIN_POSITIVE)
        });
        let is_last = 2 * steps > STEPS[1];
        if let Some(change) = change.filter(|c| *c <= SETTLED || is_last) {
            let closure = closure(&rates, &reduced, &end)?;
            if closure > PERIODIC {
                return Err(LinearizeError::NotPeriodic { closure });
            }
            let no = || LinearizeError::NoEigenvalues;
            let mut multipliers = eigen::eigenvalues(&monodromy, d).ok_or_else(no)?;
            let size = |c: &Complex| c[0].hypot(c[1]);
            multipliers.sort_by(|a, b| size(b).total_cmp(&size(a)).then(b[1].total_cmp(&a[1])));
            let symbols = setting.model.exprs.symbols_of(&rates.equations.roots());
            let is_moving = returns(setting, &symbols, &start.state, &states)?;
            return Ok(Floquet {
                state: start.state.clone(),
                end,
                period,
                closure,
                autonomous: is_moving && !symbols.contains(&Symbol::TIME),
                reduced,
                monodromy,
                multipliers,
                change,
            });
        }
        before = Some(monodromy);
        steps *= 2;
    }
}

/// Whether there is a motion; an error where it does not come back. The last state is that after the
/// period, `symbols` are those of the equations.
fn returns(
    setting: &Setting,
    symbols: &[Symbol],
    start: &State,
    states: &[State],
) -> Result<bool, LinearizeError> {
    let system = &setting.model.system;
    let Some(end) = states.last() else { return Ok(false) };
    let largest_of = |of: &dyn Fn(&State) -> f64| states.iter().map(of).fold(0.0, f64::max);
    let fastest = largest_of(&|s| largest(&s.velocity)).max(largest(&start.velocity));
    let name = |symbol: Symbol| setting.model.exprs.symbol_info(symbol).full_name().to_owned();
    let positions = system.configuration();
    let mut is_moving = fastest > 0.0;
    for (i, &symbol) in positions.iter().enumerate() {
        let way = largest_of(&|s| (s.q[i] - start.q[i]).abs());
        let off = (end.q[i] - start.q[i]).abs();
        is_moving |= way > 4.0 * f64::EPSILON * start.q[i].abs();
        let turns = (off / TAU).round();
        let off = if turns > 0.0 { off.min((off - turns * TAU).abs()) } else { off };
        if symbols.contains(&symbol) && off > PERIODIC * way {
            let (name, by) = (name(symbol), off / way);
            return Err(LinearizeError::Elsewhere { name, is_rate: false, by });
        }
        let Some(rate) = start.velocity.get(i) else { continue };
        let off = (end.velocity[i] - rate).abs();
        if off > PERIODIC * fastest {
            let (name, by) = (name(symbol), off / fastest);
            return Err(LinearizeError::Elsewhere { name, is_rate: true, by });
        }
    }
    Ok(is_moving)
}

/// The states of the motion at times.
fn passed(
    setting: &Setting,
    start: &dalembert_simulate::Start,
    times: &[f64],
) -> Result<Vec<State>, LinearizeError> {
    let mut options = RunOptions::of_model(setting);
    let last = times.last().copied().unwrap_or(0.0);
    options.end = last;
    options.tolerance = options.tolerance.min(1e-13);
    options.every = Some((last - start.state.t).abs());
    options.times = times.to_vec();
    let mut states: Vec<State> = Vec::with_capacity(times.len());
    let mut next = 0;
    let report = run::run_from(setting, &options, start.clone(), &mut |seen| {
        // Before and after an event there are two of one time.
        if times.get(next) == Some(&seen.state.t) {
            states.push(seen.state.clone());
            next += 1;
        }
        ControlFlow::Continue(())
    });
    let report = report.map_err(|error| LinearizeError::Run(Box::new(error)))?;
    if let Some(reset) = report.event_log.iter().find(|event| event.change.is_some()) {
        let event = setting.model.system.events[reset.event].name.clone();
        return Err(LinearizeError::Resets { event, t: reset.t });
    }
    match report.phases.and_then(|phases| phases.changes.first().map(|change| change.t)) {
        Some(t) => Err(LinearizeError::Phases { t }),
        None => Ok(states),
    }
}

/// How the responses at a point change (q, z, v), a matrix by rows.
fn matrix(rates: &Rates, point: &Point) -> Result<Vec<f64>, LinearizeError> {
    let size = rates.wide + rates.n;
    let blocks = rates.blocks();
    let mut matrix = vec![0.0; size * size];
    for j in 0..size {
        let mut unit = vec![0.0; point.columns()];
        unit[j] = 1.0;
        let (mut image, v, _) = point.response(&blocks, &unit)?;
        image.extend(v);
        image.iter().enumerate().for_each(|(i, x)| matrix[i * size + j] = *x);
    }
    Ok(matrix)
}

/// The free part of what becomes of the tangent vectors in one period.
fn carried(
    rates: &Rates,
    reduced: &Reduced,
    states: &[State],
    step: f64,
) -> Result<Vec<f64>, LinearizeError> {
    let (size, d) = (rates.wide + rates.n, reduced.dimension());
    let weights = coefficients();
    let mut columns = reduced.tangent.clone();
    for nodes in states.chunks_exact(4) {
        let mut slopes = Vec::with_capacity(4);
        for state in nodes {
            slopes.push(matrix(rates, &rates.at(state)?)?);
        }
        // K_i − h Σ_j a_ij J_i K_j = J_i x.
        let whole = 4 * size;
        let mut block = vec![0.0; whole * whole];
        for i in 0..4 {
            for j in 0..4 {
                for a in 0..size {
                    for b in 0..size {
                        block[(i * size + a) * whole + j * size + b] =
                            -step * weights.0[i][j] * slopes[i][a * size + b];
                    }
                }
            }
        }
        (0..whole).for_each(|a| block[a * whole + a] += 1.0);
        let mut order = vec![0; whole];
        if !lu::factor(&mut block, whole, &mut order) {
            return Err(LinearizeError::NoEigenvalues);
        }
        let mut work = vec![0.0; whole];
        for column in &mut columns {
            let mut k = vec![0.0; whole];
            for (i, slopes) in slopes.iter().enumerate() {
                dalembert_gauss::linalg::multiply(
                    slopes,
                    size,
                    column,
                    &mut k[i * size..(i + 1) * size],
                );
            }
            lu::solve(&block, whole, &order, &mut k, &mut work);
            for (a, x) in column.iter_mut().enumerate() {
                *x += step * (0..4).map(|i| weights.1[i] * k[i * size + a]).sum::<f64>();
            }
        }
    }
    let mut monodromy = vec![0.0; d * d];
    for (j, column) in columns.iter().enumerate() {
        for (i, x) in reduced.free(column).into_iter().enumerate() {
            monodromy[i * d + j] = x;
        }
    }
    match monodromy.iter().all(|x| x.is_finite()) {
        true => Ok(monodromy),
        false => Err(LinearizeError::NoEigenvalues),
    }
}

/// a_ij and b_j: integrals of Lagrange's polynomials of the nodes, by the moments of the nodes.
fn coefficients() -> ([[f64; 4]; 4], [f64; 4]) {
    // Σ_j a_ij c_jᵏ = c_iᵏ⁺¹/(k+1).
    let row = |c: f64| -> [f64; 4] {
        let mut matrix: Vec<f64> = (0..16).map(|p| NODES[p % 4].powi((p / 4) as i32)).collect();
        let mut right: Vec<f64> = (0..4).map(|k| c.powi(k + 1) / f64::from(k + 1)).collect();
        let mut order = vec![0; 4];
        lu::factor(&mut matrix, 4, &mut order);
        lu::solve(&matrix, 4, &order, &mut right, &mut [0.0; 4]);
        [right[0], right[1], right[2], right[3]]
    };
    (NODES.map(row), row(1.0))
}

/// By how much A at the end differs from A at the start, in natural units.
fn closure(rates: &Rates, reduced: &Reduced, end: &State) -> Result<f64, LinearizeError> {
    let point = rates.at(end)?;
    let d = reduced.dimension();
    let blocks = rates.blocks();
    let mut off = Vec::with_capacity(d * d);
    for (j, column) in reduced.tangent.iter().enumerate() {
        let mut full = column.clone();
        full.resize(point.columns(), 0.0);
        let (mut image, v, _) = point.response(&blocks, &full)?;
        image.extend(v);
        for (i, x) in reduced.free(&image).into_iter().enumerate() {
            off.push((x - reduced.matrix[i * d + j]) * reduced.scales[j] / reduced.scales[i]);
        }
    }
    let size = largest(&reduced.scaled());
    Ok(largest(&off) / if size > 0.0 { size } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coefficients_are_those_of_order_eight() {
        let (a, b) = coefficients();
        for k in 0..8 {
            let sum: f64 = (0..4).map(|j| b[j] * NODES[j].powi(k)).sum();
            assert!((sum - 1.0 / f64::from(k + 1)).abs() < 1e-15, "{k}");
        }
        for (i, row) in a.iter().enumerate() {
            let sum: f64 = row.iter().sum();
            assert!((sum - NODES[i]).abs() < 1e-15);
        }
    }
}
