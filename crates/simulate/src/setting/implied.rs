//! Whether rows that doubles take for dependent do follow from the others.
//!
//! A row that floating point leaves out may be implied by those in use, or it may say something
//! of its own, next to nothing in size: sin x + y + z = 1 and sin(x + εz) + y + z = 1 together
//! determine z = 0, however small ε is. Doubles cannot tell the two apart, more digits can:
//!
//! 1. A point next to the state, so that a singular position is not taken for a dependence, and
//!    rows I that are independent there, the others being D.
//! 2. The point is brought onto the rows I in extended precision. Each step solves with the
//!    factors in doubles of A_I and gains what these are exact to, φ being evaluated with all
//!    digits: q ← q − A_I⁺ φ_I(q).
//! 3. What is left of each row of D beside those of I, r = a − A_Iᵀw with w refined in the same way.
//!
//! A row with |r|/|a| at the precision's end follows from the others at this point, and, the
//! functions being analytic, near it. One with more nearly does, by that ratio. Two points must
//! agree, as a ratio that falls from point to point is that of a singular position nearby.
//!
//! Numbers of fifteen digits and more are mostly rounded ones, and then their last digit decides
//! nothing. Short decimals, 1 + 10⁻¹⁴, fractions, roots and functions of those mean what they say.

use crate::setting::extent::Geometry;
use crate::setting::restricted::lost_bits;
use crate::setting::{Setting, Table};
use dalembert_expr::ball::{Balls, Enclose, Enclosed, Extended, ExtendedBall, Gap, Magnitude};
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{ExprId, Function, Jacobian, Number, Random, Symbol};
use dalembert_gauss::linalg::{lq, norm, qr};
use rustc_hash::FxHashMap;

/// A row that nearly depends on others.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearly {
    /// What it adds to the others, relative to itself.
    pub ratio: f64,
    /// Its constraint.
    pub row: usize,
    /// Those that it nearly follows from.
    pub others: Vec<usize>,
}

impl Nearly {
    /// All constraints that have to do with it.
    pub fn constraints(&self) -> Vec<usize> {
        let mut all = self.others.clone();
        all.push(self.row);
        all.sort_unstable();
        all
    }
}

/// Constraint rows and their functions.
pub(crate) struct Rows<'a> {
    /// The constraint of each row.
    pub constraints: &'a [usize],
    /// Positions and velocities.
    pub q: &'a [Symbol],
    pub v: &'a [Symbol],
    pub jacobian: &'a Jacobian,
    /// (constraint, φ) and (constraint, ψ).
    pub phi: &'a [(usize, ExprId)],
    pub psi: &'a [(usize, ExprId)],
}

/// Bits beyond the range of the numbers.
const BITS: usize = 256;
/// Bits that are lost on the way.
const LOST: i64 = 112;
/// Independent rows keep at least this of themselves beside the others.
const INDEPENDENT: f64 = 1e-6;
/// The distances of the points from the state, in extents of the coordinates.
const DISTANCES: [f64; 3] = [0.05, 0.001, 0.008];
/// From one point to the next one the ratio does not fall by more than this: it would by more than
/// 50⁴ near a singular position that is felt as little as this at the first,
const FALL: f64 = 1e3;
/// or at both it is less than at such a distance from a singular position.
const NOWHERE: f64 = 1e-10;
/// Decimals of so many digits are rounded numbers,
const DIGITS: usize = 15;
/// more than this no double needs,
const MOST_DIGITS: usize = 17;
/// and what so many of their last digits can change is not determined.
const LAST_DIGITS: f64 = 16.0;
/// What is left of a dependent row is less than this.
const ELSEWHERE: f64 = 1e-5;
/// Rows with a share in another of less than this, as a part of what that adds to all, have none.
const SHARE: f64 = 1e-10;
/// Dense factors are made up to this many entries.
const LARGEST: usize = 400_000;
/// Steps in doubles, and steps in extended precision for each word of it.
const STEPS: usize = 25;

/// The row that adds the most to the others among those that doubles take for dependent near a
/// point and that only nearly are; `None` if all of them follow from the others, or that is not
/// decided (functions that jump, large systems).
pub(crate) fn nearly_dependent(
    setting: &Setting,
    rows: &Rows,
    (t, table): (f64, Table),
) -> Option<Nearly> {
    let mut problem = Problem::new(setting, rows, t, table)?;
    problem.settle_state();
    // Rows that are independent here are no matter of digits.
    problem.at(0.0, 0)?;
    let mut first: Option<Nearly> = None;
    for (at, distance) in DISTANCES.into_iter().enumerate() {
        let Some(found) = problem.at(distance, at as u64 + 1) else { continue };
        let found = found?;
        match &first {
            None => first = Some(found),
            Some(before) => {
                let is_general =
                    found.ratio * FALL > before.ratio || found.ratio.max(before.ratio) < NOWHERE;
                return is_general.then_some(found);
            }
        }
    }
    first.filter(|nearly| nearly.ratio < NOWHERE)
}

/// The rows, and where they are looked at.
struct Problem<'s> {
    setting: &'s Setting,
    rows: &'s Rows<'s>,
    table: Table,
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    units: Vec<f64>,
    /// The extents of the coordinates, 0 where there is none to be known: such a one is not moved.
    extents: Vec<f64>,
    /// φ and ψ by row of A, if the row has one.
    phi: Vec<Option<ExprId>>,
    psi: Vec<Option<ExprId>>,
    /// Whether A depends on v.
    by_velocity: bool,
    /// Whether there are rounded numbers.
    is_rounded: bool,
    entries: Vec<ExprId>,
}

impl<'s> Problem<'s> {
    fn new(setting: &'s Setting, rows: &'s Rows<'s>, t: f64, table: Table) -> Option<Problem<'s>> {
        let (exprs, system) = (&setting.model.exprs, &setting.model.system);
        let (n, m) = (rows.v.len(), rows.constraints.len());
        if m < 2 || m * n > LARGEST || rows.q.len() != n {
            return None;
        }
        let by_row = |list: &[(usize, ExprId)]| -> Vec<Option<ExprId>> {
            let find = |row: &usize| list.iter().find(|r| r.0 == *row).map(|r| r.1);
            rows.constraints.iter().map(find).collect()
        };
        let phi = by_row(rows.phi);
        let psi = by_row(rows.psi);
        let entries: Vec<ExprId> =
            rows.jacobian.rows.iter().flatten().map(|entry| entry.1).collect();
        let symbols = exprs.symbols_of(&entries);
        let by_velocity = symbols.iter().any(|s| rows.v.contains(s));
        let mut all = entries.clone();
        all.extend(phi.iter().chain(&psi).flatten());
        let parameters = system.parameters.iter();
        all.extend(parameters.clone().filter_map(|p| p.value));
        // A sum of short numbers may be a long one, and means what it says.
        let mut texts = setting.model.sources.iter().map(|source| &source.text);
        let is_rounded = texts.any(|text| has_long_number(text))
            && exprs.numbers_of(&all).iter().any(|number| rounding(number) > 0.0)
            || setting.changed_numbers().any(|(_, number)| rounding(&number) > 0.0);
        let known = |s: &Symbol| {
            *s == Symbol::TIME
                || rows.q.contains(s)
                || rows.v.contains(s)
                || parameters.clone().any(|p| p.symbol == *s)
        };
        if !exprs.symbols_of(&all).iter().all(known) {
            return None;
        }
        let functions: Vec<ExprId> = rows.phi.iter().map(|r| r.1).collect();
        let no_mass = Jacobian { rows: Vec::new(), columns: n };
        let geometry = Geometry::new(exprs, rows.q, &functions, rows.jacobian, &no_mass);
        let extents = geometry.at(setting, &table).extents();
        let mut units = extents.clone();
        let most = units.iter().fold(0f64, |m, u| m.max(*u));
        let fallback = if most > 0.0 { most } else { 1.0 };
        units.iter_mut().filter(|u| !(**u > 0.0)).for_each(|u| *u = fallback);
        let own = |symbols: &[Symbol]| -> Option<Vec<f64>> {
            symbols.iter().map(|s| table.get(*s)).collect()
        };
        let (q, v) = (own(rows.q)?, own(rows.v)?);
        Some(Problem {
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
            is_rounded,
            entries,
            table,
        })
    }

    /// Brings the state itself onto the rows, if it was not there.
    fn settle_state(&mut self) {
        let mut point = Point { t: self.t, q: self.q.clone(), v: self.v.clone() };
        let Some(lengths) = self.lengths(&self.table) else { return };
        let found = self.settle(&mut point, &lengths, None);
        if found.is_some() {
            self.table = self.table_of(&point);
            (self.q, self.v) = (point.q, point.v);
        }
    }

    /// What is nearly dependent at a point at a distance: `None` if there is no such point or
    /// nothing is dependent there, `Some(None)` if all that is dependent follows.
    fn at(&self, distance: f64, seed: u64) -> Option<Option<Nearly>> {
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
        let lengths = self.lengths(&self.table_of(&point))?;
        // On the rows that are independent at the state; if there are more at the point, the state
        // is a singular one, and those of the point count.
        let at_state = self.choose(&self.table, &lengths)?.chosen;
        let mut beside = Point { t: point.t, q: point.q.clone(), v: point.v.clone() };
        let rows = match self.settle(&mut beside, &lengths, Some(&at_state)) {
            Some(rows) if rows.chosen.len() == at_state.len() => {
                point = beside;
                rows
            }
            _ => self.settle(&mut point, &lengths, None)?,
        };
        if rows.chosen.len() == self.rows.constraints.len() {
            return None;
        }
        // The range of all numbers on the way says how many digits there are.
        let narrow = Balls(Extended::new(BITS));
        self.extended(&narrow, &point, &rows, 0)?;
        let reach = narrow.0.reach().clamp(0, 1 << 13);
        let lost = lost_bits(&self.setting.model.system) as usize;
        let wide = Balls(narrow.0.with_precision(BITS + 2 * reach as usize + lost));
        let bits = BITS as i64 + 2 * reach - LOST;
        self.extended(&wide, &point, &rows, bits)
    }

    fn table_of(&self, point: &Point) -> Table {
        let mut table = self.table.clone();
        table.set(Symbol::TIME, point.t);
        table.set_all(self.rows.q, &point.q);
        table.set_all(self.rows.v, &point.v);
        table
    }

    /// Brings a point onto rows that are given, or independent there, in doubles; and the rows
    /// that are independent where it comes to.
    fn settle(
        &self,
        point: &mut Point,
        lengths: &[f64],
        given: Option<&[usize]>,
    ) -> Option<Chosen> {
        for level in [0, 1] {
            if level == 1 && !self.by_velocity {
                break;
            }
            let residuals = if level == 0 { &self.phi } else { &self.psi };
            let mut is_near = false;
            let mut best = f64::INFINITY;
            for _ in 0..STEPS {
                let table = self.table_of(point);
                let mut chosen = self.choose(&table, lengths)?;
                if let Some(given) = given {
                    chosen.chosen = given.to_vec();
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
        self.choose(&self.table_of(point), lengths)
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
    fn lengths(&self, table: &Table) -> Option<Vec<f64>> {
        let n = self.rows.v.len();
        let rows = self.matrix(table)?;
        Some((0..self.rows.constraints.len()).map(|i| norm(&rows[i * n..(i + 1) * n])).collect())
    }

    /// Independent rows at a point.
    fn choose(&self, table: &Table, lengths: &[f64]) -> Option<Chosen> {
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

    /// The decision at a point with more digits; without a bound for them, the way there only.
    fn extended(
        &self,
        arithmetic: &Balls<Extended>,
        point: &Point,
        rows: &Chosen,
        bits: i64,
    ) -> Option<Option<Nearly>> {
        let (exprs, kind) = (&self.setting.model.exprs, &arithmetic.0);
        let mut values: FxHashMap<Symbol, ExtendedBall> = FxHashMap::default();
        values.insert(Symbol::TIME, kind.double(point.t, 0));
        for (symbols, list) in [(self.rows.q, &point.q), (self.rows.v, &point.v)] {
            for (&symbol, &x) in symbols.iter().zip(list) {
                values.insert(symbol, kind.double(x, 0));
            }
        }
        self.parameters(arithmetic, &mut values)?;
        let evaluate = |roots: &[ExprId], values: &FxHashMap<Symbol, ExtendedBall>| {
            let symbol = |s: Symbol| values.get(&s).cloned().ok_or(Gap::Undecided);
            let found: Result<Vec<ExtendedBall>, _> =
                exprs.evaluate(arithmetic, roots, symbol).into_iter().collect();
            found.ok()
        };
        for (level, residuals) in [&self.phi, &self.psi].into_iter().enumerate() {
            let (part, roots) = rows.with(residuals);
            if part.rows.is_empty() || (level == 1 && !self.by_velocity) {
                continue;
            }
            let symbols = if level == 0 { self.rows.q } else { self.rows.v };
            let mut is_there = bits == 0;
            for _ in 0..STEPS * (1 + bits as usize / 64) {
                let left = evaluate(&roots, &values)?;
                let (size, left) = scaled(&left);
                if bits == 0 || left.iter().all(|x| *x == 0.0) {
                    is_there = true;
                    break;
                }
                let step = part.shift(&left);
                let most = step.iter().fold(0f64, |m, x| m.max(x.abs()));
                for ((symbol, s), unit) in symbols.iter().zip(&step).zip(&self.units) {
                    let old = values.get(symbol)?;
                    let moved = kind.add(old, &kind.double(-s * unit, size)).ok()?;
                    values.insert(*symbol, moved.middle());
                }
                // In units of the coordinates.
                if size as f64 + most.log2() < -(bits as f64) - 8.0 {
                    is_there = true;
                    break;
                }
            }
            if !is_there {
                return None;
            }
        }
        let entries = evaluate(&self.entries, &values)?;
        if bits == 0 {
            return Some(None);
        }
        let mut matrix: Vec<Vec<(usize, ExtendedBall)>> = Vec::new();
        let mut entries = entries.into_iter();
        for row in &self.rows.jacobian.rows {
            let with_units = row.iter().map(|e| {
                let unit = kind.double(self.units[e.0], 0);
                Some((e.0, kind.mul(&entries.next()?, &unit).ok()?.middle()))
            });
            matrix.push(with_units.collect::<Option<_>>()?);
        }
        let open = if self.is_rounded { self.open(arithmetic, &values) } else { Vec::new() };
        self.left(kind, rows, &matrix, &open, bits)
    }

    /// What rounded numbers leave open of the entries of A, by row, in units of the coordinates.
    fn open(
        &self,
        arithmetic: &Balls<Extended>,
        values: &FxHashMap<Symbol, ExtendedBall>,
    ) -> Vec<Vec<(usize, f64)>> {
        let exprs = &self.setting.model.exprs;
        let measured = Measured(arithmetic);
        let mut values = values.clone();
        for (symbol, number) in self.setting.changed_numbers() {
            if let Ok(ball) = measured.number(&number) {
                values.insert(symbol, ball);
            }
        }
        let parameters = self.setting.model.system.parameters.iter();
        for _ in 0..=parameters.len() {
            for parameter in parameters.clone() {
                let given = self.setting.changed.iter().any(|c| c.0 == parameter.symbol);
                let Some(value) = parameter.value.filter(|_| !given) else { continue };
                let symbol = |s: Symbol| values.get(&s).cloned().ok_or(Gap::Undecided);
                if let Ok(ball) = exprs.evaluate(&measured, &[value], symbol).remove(0) {
                    values.insert(parameter.symbol, ball);
                }
            }
        }
        let symbol = |s: Symbol| values.get(&s).cloned().ok_or(Gap::Undecided);
        let mut entries = exprs.evaluate(&measured, &self.entries, symbol).into_iter();
        let mut size = |column: usize| {
            let radius = entries.next().and_then(Result::ok).map(|ball| ball.radius_scaled(0));
            radius.unwrap_or(f64::INFINITY) * self.units[column]
        };
        let rows = self.rows.jacobian.rows.iter();
        rows.map(|row| row.iter().map(|e| (e.0, size(e.0))).collect()).collect()
    }

    /// The parameters, by their definitions.
    fn parameters(
        &self,
        arithmetic: &Balls<Extended>,
        values: &mut FxHashMap<Symbol, ExtendedBall>,
    ) -> Option<()> {
        let (exprs, system) = (&self.setting.model.exprs, &self.setting.model.system);
        for (symbol, number) in self.setting.changed_numbers() {
            values.insert(symbol, arithmetic.number(&number).ok()?);
        }
        let mut open: Vec<_> = system.parameters.iter().collect();
        open.retain(|parameter| !values.contains_key(&parameter.symbol));
        while !open.is_empty() {
            let before = open.len();
            open.retain(|parameter| {
                let Some(value) = parameter.value else { return true };
                let symbol = |s: Symbol| values.get(&s).cloned().ok_or(Gap::Undecided);
                match exprs.evaluate(arithmetic, &[value], symbol).remove(0) {
                    Ok(value) => {
                        values.insert(parameter.symbol, value);
                        false
                    }
                    Err(_) => true,
                }
            });
            if open.len() == before {
                return None;
            }
        }
        Some(())
    }

    /// What is left of the rows that were not chosen.
    fn left(
        &self,
        kind: &Extended,
        rows: &Chosen,
        matrix: &[Vec<(usize, ExtendedBall)>],
        open: &[Vec<(usize, f64)>],
        bits: i64,
    ) -> Option<Option<Nearly>> {
        let n = rows.n;
        let is_position = |row: &usize| self.phi[*row].is_some();
        let positions: Vec<usize> = rows.chosen.iter().copied().filter(is_position).collect();
        let parts = [rows.part(&rows.chosen), rows.part(&positions)];
        let mut nearly: Option<Nearly> = None;
        for row in (0..matrix.len()).filter(|row| !rows.chosen.contains(row)) {
            // A row of positions follows from rows of positions.
            let part = &parts[usize::from(is_position(&row))];
            let zero = kind.double(0.0, 0);
            let mut left = vec![zero; n];
            for (j, a) in &matrix[row] {
                left[*j] = a.clone();
            }
            let (own, whole) = scaled(&left);
            if whole.iter().all(|x| *x == 0.0) {
                continue;
            }
            let length = (own as f64 + norm(&whole).log2()).max(rows.lengths[row].log2());
            let mut shares = vec![0.0; part.rows.len()];
            let mut before = f64::INFINITY;
            let ratio = loop {
                let (size, short) = scaled(&left);
                let now = size as f64 + norm(&short).log2() - length;
                if now < -(bits as f64) || short.iter().all(|x| *x == 0.0) {
                    break None;
                }
                if now > before - 1.0 {
                    break Some(now.exp2());
                }
                before = now;
                let weights = part.weights(&short);
                for ((&chosen, w), share) in part.rows.iter().zip(&weights).zip(&mut shares) {
                    let w = *w;
                    *share += w * (size as f64 - own as f64).exp2();
                    let factor = kind.double(-w, size);
                    for (j, a) in &matrix[chosen] {
                        let part = kind.mul(a, &factor).ok()?;
                        left[*j] = kind.add(&left[*j], &part).ok()?.middle();
                    }
                }
            };
            let Some(ratio) = ratio else { continue };
            // Entry by entry, so that no unit of a coordinate makes rows look alike; those of
            // coordinates whose extents are known are compared with each other.
            let (size, short) = scaled(&left);
            let mut terms: Vec<f64> = whole.iter().map(|x| x.abs()).collect();
            for (&chosen, share) in part.rows.iter().zip(&shares) {
                let entries = &rows.rows[chosen * n..(chosen + 1) * n];
                terms.iter_mut().zip(entries).for_each(|(term, a)| *term += (share * a).abs());
            }
            let known = terms.iter().zip(&self.extents).filter(|(_, extent)| **extent > 0.0);
            let largest = known.fold(0f64, |most, (term, _)| most.max(*term));
            for (term, extent) in terms.iter_mut().zip(&self.extents) {
                *term = if *extent > 0.0 { largest } else { *term };
            }
            let parts = short.iter().zip(&terms).filter(|(left, _)| **left != 0.0);
            let by_entry = parts.fold(0f64, |most, (left, term)| most.max(left.abs() / term))
                * (size as f64 - own as f64).exp2();
            if !(by_entry < ELSEWHERE) {
                continue;
            }
            // In doubles it was dependent: this is another place.
            if ratio > ELSEWHERE {
                return None;
            }
            if !open.is_empty() {
                // What the entries leave open of it.
                let mut spread = vec![0.0; n];
                open[row].iter().for_each(|(j, size)| spread[*j] += size);
                for (&chosen, share) in part.rows.iter().zip(&shares) {
                    let weight = share.abs() * (own as f64).exp2();
                    open[chosen].iter().for_each(|(j, size)| spread[*j] += weight * size);
                }
                if ratio * length.exp2() <= LAST_DIGITS * norm(&spread) {
                    continue;
                }
            }
            if nearly.as_ref().is_some_and(|n| n.ratio >= by_entry) {
                continue;
            }
            // Those that have a share in it.
            let name = |at: usize| self.rows.constraints[at];
            let lengths = part.rows.iter().map(|&r| norm(&rows.rows[r * n..(r + 1) * n]));
            let own_length = norm(&whole);
            let shared = part.rows.iter().zip(&shares).zip(lengths);
            let others: Vec<usize> = shared
                .filter(|((_, share), length)| (*share * length).abs() > SHARE * ratio * own_length)
                .map(|((&at, _), _)| name(at))
                .collect();
            nearly = Some(Nearly { ratio: by_entry, row: name(row), others });
        }
        Some(nearly)
    }
}

/// Whether a number of many digits is written in a text.
fn has_long_number(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    text.split(|c| !is_part(c)).any(|word| {
        let digits = word.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0');
        digits.count() >= DIGITS
    })
}

/// What a number leaves open, relative to it, if it is a rounded one: a decimal of many digits
/// without a pattern, or a short one that is off by the last digit of a double. 1.000000000001 is
/// meant as it is.
fn rounding(number: &Number) -> f64 {
    let Some(digits) = number.decimal_digits().filter(|d| d.len() >= DIGITS) else { return 0.0 };
    let has_pattern = ["000000", "999999"].iter().any(|run| digits.contains(run));
    let x = number.to_f64();
    let short: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    let is_off_by_a_digit = (x - short).abs() <= 2.0 * f64::EPSILON * x.abs();
    let is_double = digits.len() <= MOST_DIGITS;
    if has_pattern && !(is_double && is_off_by_a_digit) {
        return 0.0;
    }
    5.0 * 10f64.powi(-(digits.len() as i32))
}

/// Extended precision in which rounded numbers are balls about what is written.
struct Measured<'a>(&'a Balls<Extended>);

impl Arithmetic for Measured<'_> {
    type Value = Enclosed<ExtendedBall>;

    fn number(&self, number: &Number) -> Self::Value {
        let ball = self.0.number(number)?;
        let size = rounding(number);
        if size == 0.0 {
            return Ok(ball);
        }
        let exponent = (size * number.to_f64().abs()).log2().ceil();
        Ok(ball.wider(Magnitude::power_of_two(exponent as i64)))
    }

    fn pi(&self) -> Self::Value {
        self.0.pi()
    }

    fn add(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        self.0.add(a, b)
    }

    fn mul(&self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        self.0.mul(a, b)
    }

    fn power(&self, base: &Self::Value, exponent: &Number) -> Self::Value {
        self.0.power(base, exponent)
    }

    fn pow(&self, base: &Self::Value, exponent: &Self::Value) -> Self::Value {
        self.0.pow(base, exponent)
    }

    fn call(&self, function: Function, x: &[Self::Value]) -> Self::Value {
        self.0.call(function, x)
    }

    fn solve(&self, k: &[Self::Value], r: &[Self::Value]) -> Vec<Self::Value> {
        self.0.solve(k, r)
    }
}

/// Values as doubles times one power of two, so that the largest is about 1.
fn scaled(values: &[ExtendedBall]) -> (i64, Vec<f64>) {
    let bound = |x: &ExtendedBall| x.clone().middle().bound();
    let sizes = values.iter().map(bound).filter(|b| !b.is_zero());
    let Some(most) = sizes.map(|b| b.log2()).max_by(f64::total_cmp) else {
        return (0, vec![0.0; values.len()]);
    };
    let shift = most.ceil() as i64;
    (shift, values.iter().map(|x| x.to_f64_scaled(-shift)).collect())
}

struct Point {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

/// Rows in units of the coordinates, and independent ones among them.
struct Chosen {
    n: usize,
    chosen: Vec<usize>,
    rows: Vec<f64>,
    lengths: Vec<f64>,
}

/// Factored rows, A = L Qᵀ.
struct Factors {
    n: usize,
    rows: Vec<usize>,
    matrix: Vec<f64>,
    tau: Vec<f64>,
}

impl Chosen {
    fn part(&self, rows: &[usize]) -> Factors {
        let n = self.n;
        let mut matrix: Vec<f64> =
            rows.iter().flat_map(|&r| self.rows[r * n..(r + 1) * n].iter().copied()).collect();
        let mut tau = vec![0.0; rows.len()];
        lq::factor(&mut matrix, n, rows.len(), &mut tau);
        Factors { n, rows: rows.to_vec(), matrix, tau }
    }

    /// Those chosen rows that have a residual, and their residuals.
    fn with(&self, residuals: &[Option<ExprId>]) -> (Factors, Vec<ExprId>) {
        let both = self.chosen.iter().filter_map(|&r| Some((r, residuals[r]?)));
        let (rows, exprs): (Vec<usize>, Vec<ExprId>) = both.unzip();
        (self.part(&rows), exprs)
    }
}

impl Factors {
    /// The shortest x with A x = b.
    fn shift(&self, b: &[f64]) -> Vec<f64> {
        let k = self.rows.len();
        let mut x = vec![0.0; self.n];
        x[..k].copy_from_slice(b);
        lq::solve_lower(&self.matrix, self.n, k, &mut x);
        lq::apply_q(&self.matrix, self.n, k, &self.tau, &mut x);
        x
    }

    /// The w with the least |a − Aᵀ w|.
    fn weights(&self, a: &[f64]) -> Vec<f64> {
        let k = self.rows.len();
        let mut x = a.to_vec();
        lq::apply_q_transposed(&self.matrix, self.n, k, &self.tau, &mut x);
        lq::solve_lower_transposed(&self.matrix, self.n, k, &mut x);
        x.truncate(k);
        x
    }
}
