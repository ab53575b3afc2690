//! Rows that nearly depend on others in no way that their terms show, held as what they say on the
//! others.
//!
//! sin x + y + z = 1 and 2 sin(x/2) cos(x/2) + y + (1 + ε)z = 1 say z = 0. If, where the rows φ_I
//! hold, a row φ_d adds ρ of itself to them,
//!
//! ```text
//! φ_d = w(q)·φ_I + ρ g + O(φ_I²),
//! ```
//!
//! then g = φ_d/ρ restricted to φ_I = 0 is held in its place ([`restriction`]): it has the size
//! and the digits of a row by itself, and so has everything that is derived from it. Motions and
//! forces are the same; the multipliers of the rows as written are
//!
//! ```text
//! λ_d = λ'_d/ρ,   λ_I = λ'_I − w λ'_d/ρ
//! ```
//!
//! Which rows these are is decided near the values that the model gives for the start
//! ([`implied`](super::implied)); whatever is found at other states only is refused there.
//!
//! [`restriction`]: dalembert_expr::restriction

use super::implied::{Dependence, Nearly, Rows, dependence};
use super::recombine::{exact_values, hold, is_in_force};
use super::{Setting, Table};
use dalembert_expr::{ExprId, Number, Surface, SurfaceId, Symbol};
use dalembert_model::system::{Level, Recombined, System};

/// Bits of a restricted row beyond those that it has in common with the others.
const BITS: f64 = 192.0;
/// More entries of A than this are not looked at before the first state.
const LARGEST: usize = 20_000;
/// More restricted rows than this are not made: each is computed on the surface of those before.
const MOST: usize = 8;

/// The system with one more row restricted to others; `None` if there is none that has to be.
pub(super) fn restricted(setting: &Setting) -> Option<System> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let constraints: Vec<usize> = (0..system.constraints.len())
        .filter(|&row| system.constraints[row].level != Level::Acceleration)
        .collect();
    let made = system.recombined.iter().filter(|r| r.varies).count();
    let n = system.n_coordinates();
    if constraints.len() < 2 || constraints.len() * n > LARGEST || made == MOST {
        return None;
    }
    let (q, v) = (system.positions(), system.velocities());
    let of_level = |level: Level| -> Vec<(usize, ExprId)> {
        let rows = constraints.iter().map(|&row| (row, &system.constraints[row]));
        rows.filter(|r| r.1.level == level).map(|r| (r.0, r.1.residual)).collect()
    };
    let phi = of_level(Level::Position);
    let mut psi = of_level(Level::Velocity);
    let residuals: Vec<ExprId> = phi.iter().map(|r| r.1).collect();
    let mut rates: Vec<(Symbol, ExprId)> =
        q.iter().zip(&v).map(|(&q, &v)| (q, exprs.of_symbol(v))).collect();
    rates.extend(system.rates(exprs));
    let phi_dot = exprs.directional(&residuals, &rates);
    psi.extend(phi.iter().map(|r| r.0).zip(phi_dot));
    psi.sort_unstable_by_key(|r| r.0);
    let levels: Vec<ExprId> = psi.iter().map(|r| r.1).collect();
    let jacobian = exprs.jacobian(&levels, &v);
    let rows = Rows {
        constraints: &constraints,
        q: &q,
        v: &v,
        jacobian: &jacobian,
        phi: &phi,
        psi: &psi,
        auxiliary: None,
    };
    let Dependence::Nearly(nearly) = dependence(setting, &rows, start(setting)) else {
        return None;
    };
    if nearly.constraints().iter().any(|&row| is_in_force(exprs, system, row)) {
        return None;
    }
    replace(setting, &rows, &nearly)
}

/// Bits that rows which are restricted themselves have lost.
pub(super) fn lost_bits(system: &System) -> f64 {
    system.recombined.iter().filter(|r| r.varies).map(|r| 64.0 - r.left.log2()).sum()
}

/// The values that the model gives for the start, and 0 where there are none.
fn start(setting: &Setting) -> (f64, Table) {
    let system = &setting.model.system;
    let t = setting.number(system.run.from, &Table::default());
    let t = if t.is_finite() { t } else { 0.0 };
    let mut table = Table::default();
    table.set(Symbol::TIME, t);
    let all: Vec<Symbol> = [system.configuration(), system.velocities()].concat();
    table.set_all(&all, &vec![0.0; all.len()]);
    for known in &system.start {
        let symbol = known.guess.or_else(|| setting.model.exprs.as_symbol(known.left));
        let value = setting.number(known.right, &table);
        if let Some(symbol) = symbol.filter(|s| all.contains(s) && value.is_finite()) {
            table.set(symbol, value);
        }
    }
    (t, table)
}

fn replace(setting: &Setting, rows: &Rows, nearly: &Nearly) -> Option<System> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let values = exact_values(exprs, system, &setting.changed);
    let of = |list: &[(usize, ExprId)], row: usize| list.iter().find(|r| r.0 == row).map(|r| r.1);
    // A power of two near the ratio: no digit is lost.
    let shift = -nearly.ratio.log2().round() as i64;
    let bits = (BITS - nearly.ratio.log2() + lost_bits(system)).max(BITS) as usize;
    let (_, table) = start(setting);
    let geometry = super::extent::Geometry::new(
        exprs,
        rows.q,
        &rows.phi.iter().map(|r| r.1).collect::<Vec<_>>(),
        rows.jacobian,
        &dalembert_expr::Jacobian { rows: Vec::new(), columns: rows.v.len() },
    );
    let units = geometry.at(setting, &table).extents();
    let unit = |unit: f64| if unit.is_normal() { unit } else { 1.0 };
    let positions = rows.q.iter().zip(&units).map(|(&s, &u)| (s, unit(u)));
    let is_position = system.constraints[nearly.row].level == Level::Position;
    // Position rows, and for a row of velocities the rates of these and rows of velocities.
    let mut conditions: Vec<ExprId> =
        nearly.others.iter().filter_map(|&row| of(rows.phi, row)).collect();
    let first = if is_position { 0 } else { conditions.len() };
    let mut moved: Vec<(Symbol, f64)> = positions.collect();
    if !is_position {
        conditions.extend(nearly.others.iter().filter_map(|&row| of(rows.psi, row)));
        let span = unit(setting.duration());
        let velocities = rows.v.iter().zip(&units).map(|(&s, &u)| (s, unit(u) / span));
        moved.extend(velocities);
    }
    let own = of(if is_position { rows.phi } else { rows.psi }, nearly.row)?;
    let inverse = exprs.of_number(Number::from_f64((shift as f64).exp2())?);
    let mut all = conditions.clone();
    all.push(own);
    let by_time = exprs.symbols_of(&all).contains(&Symbol::TIME);
    let given = Surface {
        conditions: &conditions,
        moved: &moved,
        held: if by_time { &[Symbol::TIME] } else { &[] },
        constants: &values,
        shift,
        bits,
    };
    let surface: SurfaceId = exprs.surface(&given)?;
    let residual = exprs.restricted(surface, own)?;
    let shares = exprs.weights(surface, own);
    let mut weights: Vec<(usize, ExprId)> = vec![(nearly.row, inverse)];
    for (&row, &share) in nearly.others.iter().zip(&shares[first..]) {
        // With the digits of the row itself: of a row that is restricted too it may have little.
        let minus = exprs.of_number(Number::MINUS_ONE);
        weights.push((row, exprs.product(&[minus, exprs.restricted(surface, share)?])));
    }
    let mut held = system.clone();
    let left = nearly.ratio;
    let recombined = Recombined { row: nearly.row, weights, varies: true, left };
    hold(&mut held, recombined, residual);
    Some(held)
}
