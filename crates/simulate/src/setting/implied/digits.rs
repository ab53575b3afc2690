//! The decision at a point with as many digits as it takes.

use super::Nearly;
use super::chosen::Chosen;
use super::problem::{At, Point, Problem};
use super::rounded::Measured;
use crate::setting::tolerances::dependence::{ELSEWHERE, LAST_DIGITS, SHARE};
use dalembert_derive::Auxiliary;
use dalembert_expr::ball::{Balls, Enclose, Extended, ExtendedBall, Gap, Magnitude};
use dalembert_expr::eval::Arithmetic;
use dalembert_expr::{ExprId, Symbol};
use dalembert_gauss::linalg::{lu, norm};
use rustc_hash::FxHashMap;

/// Steps for each word of the precision.
const STEPS: usize = 25;

/// Values of symbols.
type Known = FxHashMap<Symbol, ExtendedBall>;

impl Problem<'_> {
    /// The decision at a point, brought onto the rows or not, with more digits; without a bound for
    /// them, the way there only.
    pub fn extended(
        &self,
        arithmetic: &Balls<Extended>,
        point: &Point,
        rows: &Chosen,
        (bits, on_rows): (i64, bool),
    ) -> Option<At> {
        let (exprs, kind) = (&self.setting.model.exprs, &arithmetic.0);
        let mut values: Known = FxHashMap::default();
        values.insert(Symbol::TIME, kind.double(point.t, 0));
        for (symbols, list) in [(self.rows.q, &point.q), (self.rows.v, &point.v)] {
            for (&symbol, &x) in symbols.iter().zip(list) {
                values.insert(symbol, kind.double(x, 0));
            }
        }
        self.parameters(arithmetic, &mut values)?;
        let momenta = Momenta::new(self, point)?;
        momenta.insert(kind, &mut values);
        momenta.settle(self, arithmetic, &mut values, bits)?;
        let evaluate = |roots: &[ExprId], values: &Known| {
            let symbol = |s: Symbol| values.get(&s).cloned().ok_or(Gap::Undecided);
            let found: Result<Vec<ExtendedBall>, _> =
                exprs.evaluate(arithmetic, roots, symbol).into_iter().collect();
            found.ok()
        };
        for (level, residuals) in [&self.phi, &self.psi].into_iter().enumerate() {
            let (part, roots) = rows.with(residuals);
            if !on_rows || part.rows.is_empty() || (level == 1 && !self.by_velocity) {
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
                momenta.settle(self, arithmetic, &mut values, bits)?;
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
            return Some(At::Independent);
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
        let open = if self.is_rounded { self.open(arithmetic, &values, rows) } else { Vec::new() };
        self.left(kind, rows, &matrix, &open, bits)
    }

    /// What rounded numbers leave open of the entries of A, by row, in units of the coordinates: by
    /// themselves, and by where the point is on which the chosen rows hold.
    fn open(
        &self,
        arithmetic: &Balls<Extended>,
        values: &Known,
        rows: &Chosen,
    ) -> Vec<Vec<(usize, f64)>> {
        let exprs = &self.setting.model.exprs;
        let measured = Measured(arithmetic, &self.rounded);
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
        for (residuals, symbols) in [(&self.phi, self.rows.q), (&self.psi, self.rows.v)] {
            let (part, roots) = rows.with(residuals);
            let symbol = |s: Symbol| values.get(&s).cloned().ok_or(Gap::Undecided);
            let left = exprs.evaluate(&measured, &roots, symbol);
            let left = left.into_iter().map(|x| x.map_or(f64::INFINITY, |x| x.radius_scaled(0)));
            let left: Vec<f64> = left.collect();
            let mut moved = vec![0.0; rows.n];
            for (at, &size) in left.iter().enumerate().filter(|(_, size)| **size > 0.0) {
                let mut unit = vec![0.0; left.len()];
                unit[at] = 1.0;
                let along = part.shift(&unit);
                let along = along.iter().map(|x| if *x == 0.0 { 0.0 } else { size * x.abs() });
                moved.iter_mut().zip(along).for_each(|(sum, x)| *sum += x);
            }
            for ((symbol, size), unit) in symbols.iter().zip(moved).zip(&self.units) {
                let size = size * unit;
                if let (true, Some(value)) = (size > 0.0, values.get(symbol).cloned()) {
                    // Below 2^1024, beyond which nothing is decided anyway.
                    let size = Magnitude::power_of_two(size.log2().ceil().min(1024.0) as i64);
                    values.insert(*symbol, value.wider(size));
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
    fn parameters(&self, arithmetic: &Balls<Extended>, values: &mut Known) -> Option<()> {
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
    ) -> Option<At> {
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
                let is_empty = self.rows.jacobian.rows[row].is_empty();
                if !is_empty && !self.holds_beside(row)? {
                    return Some(At::NoGradient);
                }
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
                return Some(At::Independent);
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
        Some(nearly.map_or(At::Follows, At::Nearly))
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

/// Momenta behind velocities that have no formula.
struct Momenta<'a> {
    own: Option<&'a Auxiliary>,
    /// Their values at a point, in doubles.
    first: Vec<f64>,
    /// The factors there of the derivatives of H_p by them.
    matrix: Vec<f64>,
    order: Vec<usize>,
}

impl<'a> Momenta<'a> {
    fn new(problem: &Problem<'a>, point: &Point) -> Option<Momenta<'a>> {
        let Some(own) = problem.rows.auxiliary else {
            let (first, matrix, order) = (Vec::new(), Vec::new(), Vec::new());
            return Some(Momenta { own: None, first, matrix, order });
        };
        let table = problem.table_of(point)?;
        let n = own.symbols.len();
        let first = own.symbols.iter().map(|&s| table.get(s)).collect::<Option<Vec<f64>>>()?;
        let entries: Vec<ExprId> = own.jacobian.rows.iter().flatten().map(|e| e.1).collect();
        let places = own.jacobian.rows.iter().enumerate();
        let places = places.flat_map(|(i, row)| row.iter().map(move |e| i * n + e.0));
        let (mut matrix, mut order) = (vec![0.0; n * n], vec![0; n]);
        for (place, value) in places.zip(problem.setting.numbers(&entries, &table)) {
            matrix[place] = value;
        }
        lu::factor(&mut matrix, n, &mut order).then_some(Momenta {
            own: Some(own),
            first,
            matrix,
            order,
        })
    }

    fn insert(&self, kind: &Extended, values: &mut Known) {
        let symbols = self.own.iter().flat_map(|own| &own.symbols);
        values.extend(symbols.zip(&self.first).map(|(&s, &p)| (s, kind.double(p, 0))));
    }

    /// Brings them to where H_p is the velocities, to so many bits.
    fn settle(
        &self,
        problem: &Problem,
        arithmetic: &Balls<Extended>,
        values: &mut Known,
        bits: i64,
    ) -> Option<()> {
        let Some(own) = self.own else { return Some(()) };
        let kind = &arithmetic.0;
        let n = own.symbols.len();
        let most = self.first.iter().fold(0f64, |most, p| most.max(p.abs()));
        let mut work = vec![0.0; n];
        for _ in 0..STEPS * (1 + bits as usize / 64) {
            let symbol = |s: Symbol| values.get(&s).cloned().ok_or(Gap::Undecided);
            let exprs = &problem.setting.model.exprs;
            let found = exprs.evaluate(arithmetic, &own.residuals, symbol);
            let left: Vec<ExtendedBall> = found.into_iter().collect::<Result<_, _>>().ok()?;
            let (size, mut step) = scaled(&left);
            if bits == 0 || step.iter().all(|x| *x == 0.0) {
                return Some(());
            }
            lu::solve(&self.matrix, n, &self.order, &mut step, &mut work);
            for (symbol, s) in own.symbols.iter().zip(&step) {
                let moved = kind.add(values.get(symbol)?, &kind.double(-s, size)).ok()?;
                values.insert(*symbol, moved.middle());
            }
            let largest = step.iter().fold(0f64, |m, x| m.max(x.abs()));
            if size as f64 + largest.log2() < most.max(f64::MIN_POSITIVE).log2() - bits as f64 - 8.0
            {
                return Some(());
            }
        }
        None
    }
}
