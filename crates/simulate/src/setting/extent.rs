//! The scale that a model gives to each coordinate.
//!
//! A quaternion has components of the size of one, because its constraint says so, even where a
//! component is 0 or 10⁻¹⁷. Whether a number is small is asked of that scale, never of the number
//! itself. It is read off the geometry: off the functions φ of the position constraints, the
//! entries of A and those of Γ, each along one coordinate as a series f = Σ c_k h^k whose c₀ is
//! the size of the terms in it. The distance at which its term of order b ≥ 2 outgrows all
//! lower ones is
//!
//! ```text
//! s(f) = min_b max_{a<b} |c_a / c_b|^(1/(b − a))
//! ```
//!
//! and the extent of the coordinate the median of the s(f) of the constraints, which have lengths
//! in them, or if they know none, of the entries of A and Γ; or its own size if that is more.
//! The median, because a function may be next to nothing at this very state and then know a
//! scale of nothing, and another may be all but linear and know one of thousands.
//! Functions that are linear along a coordinate know no scale, and a coordinate that is in no
//! others has none but its own size. Extents change with the unit of the coordinate and with
//! nothing else.
//!
//! Along the extents s that the constraints give, the *reach* of a function is what it can be
//! made of nearby, max_k |c₁| s_k + |c₂| s_k²: the mass that the scalar component of a quaternion gets
//! as soon as the body turns, though it has none in the reference position.

use crate::setting::tolerances::extents::{BEYOND, NOTHING};
use crate::setting::{Setting, Table};
use dalembert_derive::EquationsOfMotion;
use dalembert_expr::series::{Series, TERMS};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

/// Passes along which extents go on from coordinate to coordinate.
const PASSES: usize = 16;

/// Functions, and which of them depend on which symbol.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    symbols: Vec<Symbol>,
    /// For each symbol, the functions that depend on it, constraints first.
    functions: Vec<Vec<ExprId>>,
    /// How many of them are constraints.
    constraints: Vec<usize>,
    /// Functions whose reach is asked for, in order.
    masses: Vec<ExprId>,
}

impl Geometry {
    /// The geometry of equations in their own variables, with the diagonal of Γ as masses.
    pub fn of_equations(exprs: &Exprs, equations: &EquationsOfMotion) -> Geometry {
        let rows: Vec<ExprId> = equations.configuration_residuals.iter().map(|r| r.1).collect();
        let (q, jacobian, metric) = (&equations.q, &equations.jacobian, &equations.metric);
        let geometry = Geometry::new(
            exprs,
            q,
            &rows,
            jacobian,
            &no_entries(metric, equations.bodies.is_some()),
        );
        geometry.with_masses(metric)
    }

    /// The same with the diagonal of another metric as masses.
    pub(crate) fn with_masses(self, metric: &Jacobian) -> Geometry {
        Geometry { masses: diagonal(metric), ..self }
    }

    /// The geometry of a metric alone.
    pub fn of_metric(exprs: &Exprs, symbols: &[Symbol], metric: &Jacobian) -> Geometry {
        let no_rows = Jacobian { rows: Vec::new(), columns: symbols.len() };
        Geometry::new(exprs, symbols, &[], &no_rows, metric)
    }

    /// The geometry of position constraints φ, the rows A of all of them, and a metric, all of
    /// them functions of the symbols.
    pub fn new(
        exprs: &Exprs,
        symbols: &[Symbol],
        constraints: &[ExprId],
        jacobian: &Jacobian,
        metric: &Jacobian,
    ) -> Geometry {
        let place: FxHashMap<Symbol, usize> =
            symbols.iter().enumerate().map(|(k, &s)| (s, k)).collect();
        let mut geometry = Geometry {
            symbols: symbols.to_vec(),
            functions: vec![Vec::new(); symbols.len()],
            constraints: vec![0; symbols.len()],
            masses: diagonal(metric),
        };
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let rest = entries(jacobian).chain(entries(metric));
        for (at, function) in constraints.iter().copied().chain(rest).enumerate() {
            if !seen.insert(function) {
                continue;
            }
            for symbol in exprs.symbols_of(&[function]) {
                if let Some(&k) = place.get(&symbol) {
                    geometry.functions[k].push(function);
                    geometry.constraints[k] += usize::from(at < constraints.len());
                }
            }
        }
        geometry
    }

    /// The functions along each of the symbols at a state.
    pub fn at<'a>(&'a self, setting: &'a Setting, table: &'a Table) -> Along<'a> {
        let series = |k: usize| setting.series(&self.functions[k], table, self.symbols[k]);
        let lists = (0..self.symbols.len()).map(series).collect();
        Along { geometry: self, setting, table, lists }
    }

    /// The slopes of the constraints along the symbols that they depend on.
    fn slopes(&self, lists: &[Vec<Series>]) -> FxHashMap<ExprId, Vec<(usize, f64)>> {
        let mut slopes: FxHashMap<ExprId, Vec<(usize, f64)>> = FxHashMap::default();
        for (k, list) in lists.iter().enumerate() {
            let functions = &self.functions[k][..self.constraints[k]];
            for (function, series) in functions.iter().zip(list) {
                if series.is_significant(1) {
                    let slope = series.coefficients[1].abs();
                    slopes.entry(*function).or_default().push((k, slope));
                }
            }
        }
        slopes
    }

    /// Scales, unless they are beyond all reason for the constraints as they stand. In a row a
    /// coordinate balances the other terms, |c₁| h = |c₀|, or what these are where the other
    /// coordinates move through their own scales. A function that is all but linear, as
    /// sin(10⁻¹³ z), may know a scale of billions of that.
    fn within(&self, lists: &[Vec<Series>], scales: &[f64]) -> Vec<f64> {
        let slopes = self.slopes(lists);
        let mut found = scales.to_vec();
        for (k, list) in lists.iter().enumerate() {
            let functions = &self.functions[k][..self.constraints[k]];
            let rows = functions.iter().zip(list).filter_map(|(function, series)| {
                let all = slopes.get(function)?;
                let own = all.iter().find(|s| s.0 == k)?.1;
                let others = all.iter().filter(|s| s.0 != k).map(|s| s.1 * scales[s.0]);
                let size = series.coefficients[0].abs().max(series.sizes[0]);
                Some(others.fold(size, f64::max) / own)
            });
            let most = rows.filter(|b| b.is_finite()).fold(0.0, f64::max);
            if most > 0.0 && scales[k] > BEYOND * most {
                found[k] = most;
            }
        }
        found
    }
}

/// Functions along each symbol at a state, evaluated once for all that is asked of them.
pub struct Along<'a> {
    geometry: &'a Geometry,
    setting: &'a Setting,
    table: &'a Table,
    lists: Vec<Vec<Series>>,
}

impl Along<'_> {
    /// The extents of the symbols.
    pub fn extents(&self) -> Vec<f64> {
        let geometry = self.geometry;
        let own = |k: usize| self.table.get(geometry.symbols[k]).map_or(0.0, f64::abs);
        let scale = |(k, list): (usize, &Vec<Series>)| {
            let (constraints, others) = list.split_at(geometry.constraints[k]);
            let scale = median(constraints).or_else(|| median(others));
            scale.map_or(own(k), |s| s.max(own(k)))
        };
        let scales: Vec<f64> = self.lists.iter().enumerate().map(scale).collect();
        let within = geometry.within(&self.lists, &scales).into_iter().enumerate();
        within.map(|(k, s)| s.max(own(k))).collect()
    }

    /// The extents, where a coordinate that is next to nothing here, and along which all is linear, has
    /// one of what it balances in the constraints: the way out of the plane of a linkage is held at 0
    /// by rows of lengths.
    pub(crate) fn balanced(&self) -> Vec<f64> {
        let mut extents = self.extents();
        let slopes = self.geometry.slopes(&self.lists);
        let known = |list: &Vec<Series>| list.iter().any(|series| extent(series).is_some());
        let linear: Vec<usize> = (0..extents.len()).filter(|&k| !known(&self.lists[k])).collect();
        let rows = |k: usize| {
            let own = &self.geometry.functions[k][..self.geometry.constraints[k]];
            own.iter().filter_map(|function| slopes.get(function))
        };
        let slope = |row: &[(usize, f64)], k: usize| row.iter().find(|s| s.0 == k).map(|s| s.1);
        // What one coordinate has gives the next one its own.
        for _ in 0..PASSES {
            let mut grows = false;
            for &k in &linear {
                // It is next to nothing both beside the others and beside what balances it: a row in
                // which it has hardly a part would give it any scale.
                let largest = rows(k).filter_map(|row| slope(row, k)).fold(0.0, f64::max);
                let most = rows(k).filter_map(|row| {
                    let own = slope(row, k).filter(|own| *own > NOTHING * largest)?;
                    let others = row.iter().filter(|s| s.0 != k);
                    let is_nothing = |s: &(usize, f64)| extents[k] < NOTHING * extents[s.0];
                    let others = others.filter(|s| is_nothing(s)).map(|s| s.1 * extents[s.0]);
                    Some(others.fold(0.0, f64::max) / own)
                });
                let most = most.filter(|b| b.is_finite()).fold(0.0, f64::max);
                if most > 0.0 && extents[k] < NOTHING * most {
                    extents[k] = most;
                    grows = true;
                }
            }
            if !grows {
                break;
            }
        }
        extents
    }

    /// The extents of those symbols to which the constraints give one; 0 for the others. What
    /// only A and Γ know may be far beyond where the motion ever comes.
    pub fn lengths(&self) -> Vec<f64> {
        let lists = self.lists.iter().zip(&self.geometry.constraints);
        let scales: Vec<f64> =
            lists.map(|(list, &count)| median(&list[..count]).unwrap_or(0.0)).collect();
        self.geometry.within(&self.lists, &scales)
    }

    /// The functions other than the constraints along a symbol.
    fn others(&self, k: usize) -> impl Iterator<Item = (&ExprId, &Series)> {
        self.geometry.functions[k].iter().zip(&self.lists[k]).skip(self.geometry.constraints[k])
    }

    /// By how much functions other than the constraints change, to first order, where each
    /// symbol changes by its extent: Σ_k |c₁| s_k. The last digits of a state change them by
    /// that times ε.
    pub fn slopes_within(&self, extents: &[f64]) -> FxHashMap<ExprId, f64> {
        let mut slopes: FxHashMap<ExprId, f64> = FxHashMap::default();
        for (k, &extent) in extents.iter().enumerate().filter(|(_, s)| **s > 0.0) {
            for (function, series) in self.others(k) {
                let change = series.coefficients[1].abs() * extent;
                *slopes.entry(*function).or_default() +=
                    if change.is_finite() { change } else { 0.0 };
            }
        }
        slopes
    }

    /// The reach of the masses.
    pub fn reach(&self) -> Vec<f64> {
        self.reach_within(&self.lengths())
    }

    /// The reach of the masses along the extents of the symbols.
    pub fn reach_within(&self, extents: &[f64]) -> Vec<f64> {
        let mut reach: FxHashMap<ExprId, f64> = FxHashMap::default();
        for (k, &extent) in extents.iter().enumerate().filter(|(_, s)| **s > 0.0) {
            for (function, series) in self.others(k) {
                let mut power = 1.0;
                // Higher orders would count for a scale that is too large more than it is worth.
                let nearby: f64 = series.coefficients[1..3]
                    .iter()
                    .map(|c| {
                        power *= extent;
                        c.abs() * power
                    })
                    .filter(|part| part.is_finite())
                    .sum();
                let most = reach.entry(*function).or_default();
                *most = most.max(nearby);
            }
        }
        let reach_of = |mass: &ExprId| reach.get(mass).copied().unwrap_or(0.0);
        let masses = &self.geometry.masses;
        let own = self.setting.numbers(masses, self.table);
        let size = |value: f64| if value.is_finite() { value.abs() } else { 0.0 };
        masses.iter().zip(own).map(|(mass, own)| size(own).max(reach_of(mass))).collect()
    }
}

/// The median of the scales that functions know.
fn median(list: &[Series]) -> Option<f64> {
    let mut scales: Vec<f64> = list.iter().filter_map(extent).collect();
    scales.sort_unstable_by(f64::total_cmp);
    scales.get(scales.len() / 2).copied()
}

/// The scale of one function, if it knows one.
fn extent(series: &Series) -> Option<f64> {
    let mut c = series.coefficients.map(f64::abs);
    c[0] = c[0].max(series.sizes[0]);
    let mut least: Option<f64> = None;
    for b in 2..TERMS {
        if !series.is_significant(b) {
            continue;
        }
        let most = (0..b)
            .map(|a| (c[a] / c[b]).powf(1.0 / (b - a) as f64))
            .filter(|s| s.is_finite())
            .fold(0.0, f64::max);
        if most > 0.0 {
            least = Some(least.map_or(most, |l: f64| l.min(most)));
        }
    }
    least
}

/// The extents of velocities: of the positions, at the rate at which the fastest of them moves
/// through its own, or through it once in the time of a run. A velocity without either is
/// of its own size.
pub fn velocity_extents(positions: &[f64], velocities: &[f64], duration: f64) -> Vec<f64> {
    let moving = positions.iter().zip(velocities).filter(|(s, _)| **s > 0.0);
    let once = if duration > 0.0 { 1.0 / duration } else { 0.0 };
    let rate = moving.map(|(s, v)| v.abs() / s).filter(|r| r.is_finite()).fold(once, f64::max);
    positions.iter().zip(velocities).map(|(s, v)| (s * rate).max(v.abs())).collect()
}

/// Accelerations of the size that a motion with these velocities has where it is curved at all:
/// each velocity at the rate at which the fastest coordinate moves through its extent, or
/// once in the time of a run. What is far below their rounding is nothing.
pub fn natural_accelerations(
    positions: &[f64],
    velocities: &[f64],
    extents: &[f64],
    duration: f64,
) -> Vec<f64> {
    let extent = |i: usize| positions[i].abs().max(extents.get(i).copied().unwrap_or(0.0));
    let rates = velocities.iter().enumerate().map(|(i, v)| v.abs() / extent(i));
    let once = if duration > 0.0 { 1.0 / duration } else { 0.0 };
    let rate = rates.filter(|r| r.is_finite()).fold(once, f64::max);
    velocities.iter().map(|v| v.abs() * rate).collect()
}

/// A metric, or none of its entries: those of bodies along a tree depend on all coordinates that
/// they carry, and know of lengths what one of them knows.
pub(crate) fn no_entries(metric: &Jacobian, of_bodies: bool) -> Jacobian {
    match of_bodies {
        true => Jacobian { rows: Vec::new(), columns: metric.columns },
        false => metric.clone(),
    }
}

fn entries(matrix: &Jacobian) -> impl Iterator<Item = ExprId> + '_ {
    matrix.rows.iter().flatten().map(|e| e.1)
}

/// The entries on the diagonal; zero where there is none.
fn diagonal(matrix: &Jacobian) -> Vec<ExprId> {
    let rows = matrix.rows.iter().enumerate();
    rows.map(|(i, row)| row.iter().find(|e| e.0 == i).map_or(ExprId::ZERO, |e| e.1)).collect()
}
