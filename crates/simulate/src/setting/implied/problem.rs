//! Points on rows beside a state, in doubles.

use super::chosen::Chosen;
use super::rounded::Rounded;
use super::{Dependence, Doubt, Nearly, Rows};
use crate::setting::extent::Geometry;
use crate::setting::legendre;
use crate::setting::restricted::lost_bits;
use crate::setting::tolerances::dependence::{BESIDE, HOLDS, INDEPENDENT};
use crate::setting::{Setting, Table};
use dalembert_expr::ball::{Balls, Extended};
use dalembert_expr::{ExprId, Jacobian, Random, Symbol};
use dalembert_gauss::linalg::{norm, qr};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bits beyond the range of the numbers.
const BITS: usize = 256;
/// Numbers beyond 2 to this, or with more bits than this, are not followed.
const FARTHEST: i64 = 1 << 13;
/// Bits that are lost on the way.
const LOST: i64 = 112;
/// Steps onto the rows.
const STEPS: usize = 25;

/// The rows, and where they are looked at.
pub(super) struct Problem<'s> {
    pub setting: &'s Setting,
    pub rows: &'s Rows<'s>,
    pub table: Table,
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub units: Vec<f64>,
    /// The extents of the coordinates, 0 where there is none to be known: such a one is not moved.
    pub extents: Vec<f64>,
    /// φ and ψ by row of A, if the row has one.
    pub phi: Vec<Option<ExprId>>,
    pub psi: Vec<Option<ExprId>>,
    /// Whether A depends on v.
    pub by_velocity: bool,
    /// The rounded numbers, and whether there are any in the rows.
    pub rounded: Rounded,
    pub is_rounded: bool,
    pub entries: Vec<ExprId>,
}

impl<'s> Problem<'s> {
    /// The problem, or what is known without it.
    pub fn new(
        setting: &'s Setting,
        rows: &'s Rows<'s>,
        t: f64,
        table: Table,
    ) -> Result<Problem<'s>, Dependence> {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let n = rows.v.len();
        let by_row = |list: &[(usize, ExprId)]| -> Vec<Option<ExprId>> {
            let places: FxHashMap<usize, ExprId> = list.iter().copied().collect();
            rows.constraints.iter().map(|row| places.get(row).copied()).collect()
        };
        let phi = by_row(rows.phi);
        let psi = by_row(rows.psi);
        let entries: Vec<ExprId> =
            rows.jacobian.rows.iter().flatten().map(|entry| entry.1).collect();
        let symbols = exprs.symbols_of(&entries);
        let auxiliary: &[Symbol] = rows.auxiliary.map_or(&[], |a| &a.symbols);
        let of = |list: &[Symbol]| list.iter().copied().collect::<FxHashSet<Symbol>>();
        let (of_q, of_v, behind) = (of(rows.q), of(rows.v), of(auxiliary));
        let by_velocity = symbols.iter().any(|s| of_v.contains(s) || behind.contains(s));
        let mut all = entries.clone();
        all.extend(phi.iter().chain(&psi).flatten());
        let parameters = system.parameters.iter();
        all.extend(parameters.clone().filter_map(|p| p.value));
        // A sum of short numbers may be a long one, and means what it says.
        let rounded = setting.rounded();
        let is_rounded = rounded.is_any()
            && (exprs.numbers_of(&all).iter().any(|number| rounded.rounding(number) > 0.0)
                || setting.changed_numbers().any(|(_, n)| rounded.rounding(&n) > 0.0));
        let known = |s: &Symbol| {
            *s == Symbol::TIME
                || of_q.contains(s)
                || of_v.contains(s)
                || behind.contains(s)
                || parameters.clone().any(|p| p.symbol == *s)
        };
        if rows.q.len() != n || !exprs.symbols_of(&all).iter().all(known) {
            return Err(Dependence::Undecided(Doubt::NoFormula));
        }
        let functions: Vec<ExprId> = rows.phi.iter().map(|r| r.1).collect();
        let no_mass = Jacobian { rows: Vec::new(), columns: n };
        let geometry = Geometry::new(exprs, rows.q, &functions, rows.jacobian, &no_mass);
        let extents = geometry.at(setting, &table).balanced();
        let mut units = extents.clone();
        let most = units.iter().fold(0f64, |m, u| m.max(*u));
        let fallback = if most > 0.0 { most } else { 1.0 };
        units.iter_mut().filter(|u| !(**u > 0.0)).for_each(|u| *u = fallback);
        let own = |symbols: &[Symbol]| -> Option<Vec<f64>> {
            symbols.iter().map(|s| table.get(*s)).collect()
        };
        let (Some(q), Some(v)) = (own(rows.q), own(rows.v)) else {
            return Err(Dependence::Undecided(Doubt::NoFormula));
        };
        Ok(Problem {
            setting,
            rows,
            t,
            q,
            v,
            units,
            extents,
            phi,
            psi,
            by_velocity,
            rounded,
            is_rounded,
            entries,
            table,
        })
    }

    /// Brings the state itself onto the rows, if it was not there.
    pub fn settle_state(&mut self) {
        let mut point = Point { t: self.t, q: self.q.clone(), v: self.v.clone() };
        let Some(lengths) = self.lengths(&self.table) else { return };
        let found = self.settle(&mut point, &lengths, Onto::Any);
        if found.is_some()
            && let Some(table) = self.table_of(&point)
        {
            self.table = table;
            (self.q, self.v) = (point.q, point.v);
        }
    }

    /// What is known at a point at a distance.
    pub fn at(&self, distance: f64, seed: u64) -> At {
        self.decided_at(distance, seed).unwrap_or(At::Nowhere)
    }

    /// The same, `None` if there is no such point or no values at it.
    fn decided_at(&self, distance: f64, seed: u64) -> Option<At> {
        let mut random = Random::new(seed);
        let mut point = Point { t: self.t, q: self.q.clone(), v: self.v.clone() };
        for (q, unit) in point.q.iter_mut().zip(&self.extents) {
            *q += distance * unit * random.signed();
        }
        // At the rate at which the fastest coordinate moves through its extent; at rest nothing
        // tells how long a while is.
        let rates = self.v.iter().zip(&self.extents).map(|(v, extent)| v.abs() / extent);
        let rate = rates.filter(|rate| rate.is_finite()).fold(0f64, f64::max);
        if rate > 0.0 {
            point.t += distance / rate * random.signed();
        }
        for (v, unit) in point.v.iter_mut().zip(&self.extents) {
            *v += distance * rate * unit * random.signed();
        }
        let lengths = self.lengths(&self.table_of(&point)?)?;
        // On the rows that are independent at the state; if there are more at the point, the state
        // is a singular one, and those of the point count.
        let at_state = self.choose(&self.table, &lengths)?.chosen;
        let mut beside = Point { t: point.t, q: point.q.clone(), v: point.v.clone() };
        let rows = match self.settle(&mut beside, &lengths, Onto::These(&at_state)) {
            Some(rows) if rows.chosen.len() == at_state.len() => {
                point = beside;
                rows
            }
            _ => {
                let off = Point { t: point.t, q: point.q.clone(), v: point.v.clone() };
                match self.settle(&mut point, &lengths, Onto::Regular) {
                    Some(rows) => rows,
                    None => return self.off_rows(&off, &lengths),
                }
            }
        };
        if rows.chosen.len() == self.rows.constraints.len() {
            return Some(At::Independent);
        }
        self.with_digits(&point, &rows, true)
    }

    /// What is known at a point that is not on the rows: such as follow from others everywhere do
    /// so where these hold.
    fn off_rows(&self, point: &Point, lengths: &[f64]) -> Option<At> {
        let rows = self.choose(&self.table_of(point)?, lengths)?;
        let is_dependent = rows.chosen.len() < self.rows.constraints.len();
        let found = is_dependent.then(|| self.with_digits(point, &rows, false))?;
        found.filter(|found| *found == At::Follows)
    }

    /// The decision at a point with as many digits as the numbers on the way to it need.
    fn with_digits(&self, point: &Point, rows: &Chosen, on_rows: bool) -> Option<At> {
        let narrow = Balls(Extended::new(BITS));
        self.extended(&narrow, point, rows, (0, on_rows))?;
        let reach = narrow.0.reach();
        if reach > FARTHEST {
            return None;
        }
        let lost = lost_bits(&self.setting.model.system) as usize;
        let wide = Balls(narrow.0.with_precision(BITS + 2 * reach as usize + lost));
        let bits = BITS as i64 + 2 * reach - LOST;
        self.extended(&wide, point, rows, (bits, on_rows))
    }

    /// All values at a point; `None` if there are no momenta for its velocities.
    pub fn table_of(&self, point: &Point) -> Option<Table> {
        let mut table = self.table.clone();
        table.set(Symbol::TIME, point.t);
        table.set_all(self.rows.q, &point.q);
        table.set_all(self.rows.v, &point.v);
        if let Some(own) = self.rows.auxiliary {
            let (symbols, f) = (&own.symbols, &own.residuals);
            legendre::solve(self.setting, &mut table, symbols, f, &own.jacobian, None).ok()?;
        }
        Some(table)
    }

    /// Brings a point onto rows in doubles; and the rows that are independent where it comes to.
    fn settle(&self, point: &mut Point, lengths: &[f64], onto: Onto) -> Option<Chosen> {
        let mut rank = 0;
        for level in [0, 1] {
            if level == 1 && !self.by_velocity {
                break;
            }
            let residuals = if level == 0 { &self.phi } else { &self.psi };
            let mut is_near = false;
            let mut best = f64::INFINITY;
            for _ in 0..STEPS {
                let table = self.table_of(point)?;
                let mut chosen = self.choose(&table, lengths)?;
                match onto {
                    Onto::These(given) => chosen.chosen = given.to_vec(),
                    Onto::Regular if chosen.chosen.len() < rank => return None,
                    Onto::Regular => rank = chosen.chosen.len(),
                    Onto::Any => {}
                }
                let (part, exprs) = chosen.with(residuals);
                if part.rows.is_empty() {
                    is_near = true;
                    break;
                }
                let values = self.setting.numbers(&exprs, &table);
                let step = part.shift(&values);
                let size = norm(&step);
                if !size.is_finite() {
                    return None;
                }
                let x = if level == 0 { &mut point.q } else { &mut point.v };
                for ((x, s), unit) in x.iter_mut().zip(&step).zip(&self.units) {
                    *x -= s * unit;
                }
                // As far as doubles go: the steps no longer become smaller, or no longer count.
                if size < 1e-9 && size > 0.25 * best || size < f64::EPSILON {
                    is_near = true;
                    break;
                }
                best = best.min(size);
            }
            if !is_near {
                return None;
            }
        }
        let found = self.choose(&self.table_of(point)?, lengths)?;
        (found.chosen.len() >= rank).then_some(found)
    }

    /// A at a point, in units of the coordinates.
    fn matrix(&self, table: &Table) -> Option<Vec<f64>> {
        let (m, n) = (self.rows.constraints.len(), self.rows.v.len());
        let values = self.setting.numbers(&self.entries, table);
        let mut rows = vec![0.0; m * n];
        let places = self.rows.jacobian.rows.iter().enumerate();
        let places = places.flat_map(|(i, row)| row.iter().map(move |e| (i, e.0)));
        for ((i, j), value) in places.zip(values) {
            if !value.is_finite() {
                return None;
            }
            rows[i * n + j] = value * self.units[j];
        }
        Some(rows)
    }

    /// The lengths of the rows beside the constraints. There a row is not shorter than it is by
    /// its nature; where it holds it may vanish, and say nothing.
    pub fn lengths(&self, table: &Table) -> Option<Vec<f64>> {
        let n = self.rows.v.len();
        let rows = self.matrix(table)?;
        Some((0..self.rows.constraints.len()).map(|i| norm(&rows[i * n..(i + 1) * n])).collect())
    }

    /// Independent rows at a point.
    pub fn choose(&self, table: &Table, lengths: &[f64]) -> Option<Chosen> {
        let (m, n) = (self.rows.constraints.len(), self.rows.v.len());
        let rows = self.matrix(table)?;
        let own = (0..m).map(|i| norm(&rows[i * n..(i + 1) * n]));
        let lengths: Vec<f64> = own.zip(lengths).map(|(own, l)| own.max(*l)).collect();
        let independent = |list: &[(usize, f64)]| -> Vec<usize> {
            let m = list.len();
            let mut across = vec![0.0; n * m];
            for (at, &(i, weight)) in list.iter().enumerate() {
                let factor = if lengths[i] > 0.0 { weight / lengths[i] } else { 0.0 };
                for j in 0..n {
                    across[j * m + at] = rows[i * n + j] * factor;
                }
            }
            let (mut tau, mut order) = (vec![0.0; m.min(n)], vec![0; m]);
            let steps = qr::factor_pivoted(&mut across, n, m, &mut tau, &mut order);
            let rank = (0..steps).take_while(|&k| across[k * m + k].abs() > INDEPENDENT).count();
            order[..rank].iter().map(|&at| list[at].0).collect()
        };
        // A row of positions is never left out for one of velocities: it says more.
        let (positions, others): (Vec<usize>, Vec<usize>) =
            (0..m).partition(|&i| self.phi[i].is_some());
        let first: Vec<(usize, f64)> = positions.into_iter().map(|i| (i, 1.0)).collect();
        let mut chosen = independent(&first);
        if !others.is_empty() {
            let ahead = chosen.into_iter().map(|i| (i, 1.0 / INDEPENDENT));
            let all: Vec<(usize, f64)> =
                ahead.chain(others.into_iter().map(|i| (i, 1.0))).collect();
            chosen = independent(&all);
        }
        chosen.sort_unstable();
        Some(Chosen { n, chosen, rows, lengths })
    }

    /// Whether a row without a gradient holds at points beside the state where the others do.
    pub fn holds_beside(&self, row: usize) -> Option<bool> {
        let mut random = Random::new(row as u64 + 11);
        let span = self.setting.duration();
        let rate = if span > 0.0 { 1.0 / span } else { 1.0 };
        let mut point = Point { t: self.t, q: self.q.clone(), v: self.v.clone() };
        for ((q, v), unit) in point.q.iter_mut().zip(&mut point.v).zip(&self.units) {
            *q += BESIDE * unit * random.signed();
            *v += BESIDE * unit * rate * random.signed();
        }
        let lengths = self.lengths(&self.table)?;
        let at_state = self.choose(&self.table, &lengths)?.chosen;
        let lengths = self.lengths(&self.table_of(&point)?)?;
        self.settle(&mut point, &lengths, Onto::These(&at_state))?;
        let own = self.phi[row].or(self.psi[row])?;
        let value = self.setting.evaluate(&[own], &self.table_of(&point)?)[0];
        Some(value.value.abs() <= HOLDS * value.noise)
    }
}

/// The rows that a point is brought onto.
#[derive(Clone, Copy)]
enum Onto<'a> {
    /// These.
    These(&'a [usize]),
    /// Those that are independent where it is.
    Any,
    /// The same, if these do not become fewer on the way: that leads to a singular position.
    Regular,
}

/// What is known at a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum At {
    /// There is no such point, or there are no values at it.
    Nowhere,
    /// All rows are independent.
    Independent,
    /// All that are dependent follow.
    Follows,
    /// This one nearly does.
    Nearly(Nearly),
    /// A row has no gradient, and does not follow.
    NoGradient,
}

pub(super) struct Point {
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}
