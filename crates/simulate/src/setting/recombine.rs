//! Constraint rows that nearly depend on each other, held as what they determine.
//!
//! x + y + z = 1 together with x + y + (1 + ε)z = 1 say z = 0, however small ε is. In floating
//! point the second row says next to nothing that the first does not, and with z it loses all
//! its digits. Over exact numbers there is nothing to lose: every row is a sum of multiples of
//! terms,
//!
//! ```text
//! φ_i = Σ_k C_ik m_k ,
//! ```
//!
//! and Gaussian elimination on C, with the parameters' exact values, shows what a row adds to
//! those before it. Where that is much less than the row itself, and not nothing, the row is
//! replaced by it, brought to the size of one: φ'_i = Σ_j w_ij φ_j. The set of motions is the same,
//! and so is every constraint force; the multipliers of the rows as written are λ = Wᵀλ'.
//!
//! Terms that are nearly the same, as sin(x + εz) and sin x, are one term and the difference of
//! the two, written so that it keeps its digits ([`Exprs::near_multiple`]).
//!
//! Rows that depend on each other exactly are left as they are: that is no difficulty. So are rows
//! that do so but for the last digits of rounded numbers: a loop told twice with lengths of 16 digits
//! holds to 16 digits. What
//! combinations of terms do not show is left to [`implied`](super::implied), which decides with
//! more digits whether a row follows from the others, and to the run, which says where it does not.

use super::implied::Rounded;
use crate::setting::tolerances::dependence::LAST_DIGITS;
use crate::setting::tolerances::terms::{LIKELY, NEARLY};
use dalembert_expr::{ExprId, Exprs, Number, Random, Symbol};
use dalembert_model::system::{Level, Recombined, System, Unknown};
use rustc_hash::{FxHashMap, FxHashSet};

/// Rows of more terms than this are left as they are.
const LARGEST: usize = 128;
/// Rows with more nodes than this are not multiplied out.
const NODES: usize = 400;

/// A row as terms, with what it is made of.
struct Row {
    terms: FxHashMap<ExprId, Number>,
    /// Weights of the rows as written.
    weights: FxHashMap<usize, Number>,
    pivot: ExprId,
}

/// The system with rows that nearly depend on others replaced by what they add to them; `None` if
/// there are none. Parameters have their own
/// values but for those given.
pub(crate) fn recombined(
    exprs: &Exprs,
    system: &System,
    given: &[(Symbol, f64)],
    rounded: &Rounded,
) -> Option<System> {
    if system.constraints.len() < 2 {
        return None;
    }
    let mut values = exact_values(exprs, system, given);
    values.retain(|value| exprs.as_number(value.1).is_some());
    let mut found: Vec<(Recombined, ExprId)> = Vec::new();
    for level in [Level::Position, Level::Velocity, Level::Acceleration] {
        let rows: Vec<usize> = (0..system.constraints.len())
            .filter(|&i| system.constraints[i].level == level)
            .collect();
        if rows.len() > 1 {
            eliminate(exprs, system, (&values, rounded), &rows, &mut found);
        }
    }
    if found.is_empty() {
        return None;
    }
    let mut held = system.clone();
    for (recombined, residual) in found {
        hold(&mut held, recombined, residual);
    }
    Some(held)
}

/// Replaces a row by a combination.
pub(super) fn hold(held: &mut System, recombined: Recombined, residual: ExprId) {
    // Of a combination is true what is true of all rows in it.
    let parts: Vec<_> = recombined.weights.iter().map(|w| &held.constraints[w.0]).collect();
    let affine = parts.iter().all(|c| c.affine);
    let scleronomic = parts.iter().all(|c| c.scleronomic);
    let catastatic = parts.iter().all(|c| c.catastatic == Some(true));
    let row = &mut held.constraints[recombined.row];
    row.residual = residual;
    row.affine = affine;
    row.scleronomic = scleronomic;
    row.catastatic = row.catastatic.map(|_| catastatic);
    held.recombined.push(recombined);
}

/// Whether a force goes by the multiplier of a row: then it goes by that of the row as written.
pub(super) fn is_in_force(exprs: &Exprs, system: &System, row: usize) -> bool {
    system.unknowns.iter().any(|(symbol, unknown)| {
        matches!(unknown, Unknown::Multiplier(r) | Unknown::Share(_, r) if *r == row)
            && is_in_forces(exprs, system, *symbol)
    })
}

/// The parameters by their definitions, so that no digit of them is lost.
pub(super) fn exact_values(
    exprs: &Exprs,
    system: &System,
    changed: &[(Symbol, f64)],
) -> Vec<(Symbol, ExprId)> {
    let mut values: Vec<(Symbol, ExprId)> = Vec::new();
    for parameter in &system.parameters {
        let given = changed.iter().find(|c| c.0 == parameter.symbol);
        let value = match given {
            Some(&(_, x)) => Number::from_f64(x).map(|n| exprs.of_number(n)),
            None => parameter.value,
        };
        values.extend(value.map(|v| (parameter.symbol, v)));
    }
    // One may be defined by another.
    for _ in 0..values.len() {
        let definitions: Vec<ExprId> = values.iter().map(|v| v.1).collect();
        let next = exprs.substitute(&definitions, &values);
        if next == definitions {
            break;
        }
        values.iter_mut().zip(next).for_each(|(value, next)| value.1 = next);
    }
    values
}

fn eliminate(
    exprs: &Exprs,
    system: &System,
    (values, rounded): (&[(Symbol, ExprId)], &Rounded),
    rows: &[usize],
    found: &mut Vec<(Recombined, ExprId)>,
) {
    // What the numbers of each row leave open of it.
    let mut open: FxHashMap<usize, f64> = FxHashMap::default();
    let mut known = Known::default();
    let mut pivots: Vec<Row> = Vec::new();
    let mut by_pivot: FxHashMap<ExprId, usize> = FxHashMap::default();
    for &constraint in rows {
        let residual = exprs.substitute(&[system.constraints[constraint].residual], values)[0];
        let numbers = exprs.numbers_of(&[residual]);
        let coarsest = numbers.iter().fold(0f64, |most, n| most.max(rounded.rounding(n)));
        open.insert(constraint, coarsest);
        let small = exprs.count_nodes(&[residual]) <= NODES;
        let residual = if small { exprs.expand(residual) } else { residual };
        let terms = exprs.multiples(residual);
        if terms.len() > LARGEST {
            continue;
        }
        let mut row = Row {
            terms: known.rewrite(exprs, terms),
            weights: FxHashMap::from_iter([(constraint, Number::ONE)]),
            pivot: ExprId::ONE,
        };
        let before = largest(exprs, &row.terms).map_or(f64::NEG_INFINITY, |l| l.2);
        while let Some(at) = row.terms.keys().filter_map(|t| by_pivot.get(t)).min().copied() {
            let pivot = &pivots[at];
            let (Some(own), Some(other)) =
                (row.terms.get(&pivot.pivot), pivot.terms.get(&pivot.pivot))
            else {
                break;
            };
            let Some(inverse) = other.recip() else { break };
            let factor = own.mul(&inverse).neg();
            add(&mut row.terms, &pivot.terms, &factor);
            add(&mut row.weights, &pivot.weights, &factor);
        }
        let Some((pivot, most, size)) = largest(exprs, &row.terms) else {
            // It depends on the others exactly, or contradicts them.
            continue;
        };
        let left = (size - before).exp();
        // What the last digits of rounded numbers can change is nothing that the row adds.
        let coarsest = row.weights.keys().filter_map(|row| open.get(row));
        if left <= LAST_DIGITS * coarsest.fold(0f64, |most, own| most.max(*own)) {
            continue;
        }
        // Brought to the size of one.
        let unit =
            Number::from_f64((size - most.to_f64().abs().ln()).exp()).filter(|u| !u.is_zero());
        if left < NEARLY
            && !row.weights.keys().any(|&r| is_in_force(exprs, system, r))
            && let Some(inverse) = unit.map_or(most.abs(), |u| most.abs().mul(&u)).recip()
        {
            let scale = |map: &FxHashMap<usize, Number>| -> Vec<(usize, Number)> {
                let mut list: Vec<(usize, Number)> =
                    map.iter().map(|(&row, n)| (row, n.mul(&inverse))).collect();
                list.sort_unstable_by_key(|w| w.0);
                list
            };
            let weights = scale(&row.weights);
            if weights.iter().all(|w| w.1.to_f64().is_finite()) {
                let mut parts: Vec<(ExprId, Number)> =
                    row.terms.iter().map(|(&t, n)| (t, n.mul(&inverse))).collect();
                parts.sort_unstable_by_key(|p| p.0);
                let parts: Vec<ExprId> = parts
                    .into_iter()
                    .map(|(term, n)| exprs.product(&[exprs.of_number(n), term]))
                    .collect();
                let weights =
                    weights.into_iter().map(|(row, n)| (row, exprs.of_number(n))).collect();
                let recombined = Recombined { row: constraint, weights, varies: false, left };
                found.push((recombined, exprs.sum(&parts)));
            }
        }
        row.pivot = pivot;
        by_pivot.insert(pivot, pivots.len());
        pivots.push(row);
    }
}

/// A known term, the ratio to it, and the small rest.
type Near = (ExprId, Number, Vec<(Number, ExprId)>);

/// The terms of the rows so far, with their values at two points, by the symbols in them.
#[derive(Default)]
struct Known {
    terms: FxHashSet<ExprId>,
    by_symbol: FxHashMap<Symbol, Vec<(ExprId, [f64; 2])>>,
}

impl Known {
    /// A row in terms of those of the rows before it, where they are nearly its own.
    fn rewrite(
        &mut self,
        exprs: &Exprs,
        terms: Vec<(Number, ExprId)>,
    ) -> FxHashMap<ExprId, Number> {
        let mut row: FxHashMap<ExprId, Number> = FxHashMap::default();
        let mut new = Vec::new();
        let roots: Vec<ExprId> = terms.iter().map(|t| t.1).collect();
        let [first, second] =
            [1, 2].map(|point| exprs.eval_f64(&roots, |symbol| somewhere(symbol, point)));
        for ((number, term), values) in terms.into_iter().zip(first.into_iter().zip(second)) {
            let values = [values.0, values.1];
            let near = match self.terms.contains(&term) {
                true => None,
                false => self.near(exprs, term, values),
            };
            match near {
                Some((other, ratio, parts)) => {
                    add(&mut row, &FxHashMap::from_iter([(other, ratio)]), &number);
                    for (part, expr) in parts {
                        add(&mut row, &FxHashMap::from_iter([(expr, part)]), &number);
                    }
                }
                None => {
                    add(&mut row, &FxHashMap::from_iter([(term, Number::ONE)]), &number);
                    new.push((term, values));
                }
            }
        }
        for (term, values) in new {
            if self.terms.insert(term) {
                for symbol in exprs.symbols_of(&[term]) {
                    self.by_symbol.entry(symbol).or_default().push((term, values));
                }
            }
        }
        row
    }

    /// A known term that is nearly a multiple of this one. Two points show of nearly all others
    /// that they are not.
    fn near(&self, exprs: &Exprs, term: ExprId, values: [f64; 2]) -> Option<Near> {
        let symbols = exprs.symbols_of(&[term]);
        let mut tried: FxHashSet<ExprId> = FxHashSet::default();
        let candidates = symbols.iter().filter_map(|s| self.by_symbol.get(s)).flatten();
        let is_likely = |other: &[f64; 2]| {
            let (a, b) = (values[0] * other[1], values[1] * other[0]);
            (a - b).abs() <= LIKELY * a.abs()
        };
        candidates.filter(|c| is_likely(&c.1) && tried.insert(c.0)).find_map(|&(other, _)| {
            let (ratio, parts) = exprs.near_multiple(other, term, NEARLY)?;
            Some((other, ratio, parts))
        })
    }
}

/// A value for a symbol at a point of no special position.
fn somewhere(symbol: Symbol, point: u64) -> f64 {
    let seed = (symbol.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ point;
    0.4 + Random::new(seed).unit()
}

/// The largest term, but for the constant one, its number, and the logarithm of its size.
fn largest(exprs: &Exprs, terms: &FxHashMap<ExprId, Number>) -> Option<(ExprId, Number, f64)> {
    let varying = terms.iter().filter(|(term, _)| **term != ExprId::ONE);
    let sized = varying
        .map(|(&term, number)| (term, number, number.to_f64().abs().ln() + exprs.log_size(term)));
    let most = sized.max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.cmp(&a.0)));
    most.map(|(term, number, size)| (term, number.clone(), size))
}

/// Whether forces depend on a symbol.
fn is_in_forces(exprs: &Exprs, system: &System, symbol: Symbol) -> bool {
    let forces = system.forces.iter().chain(&system.nonideal);
    let parts: Vec<ExprId> = forces.flat_map(|f| f.components.iter().map(|c| c.1)).collect();
    exprs.symbols_of(&parts).contains(&symbol)
}

/// map += factor · other, without what vanishes.
fn add<K: Copy + Eq + std::hash::Hash>(
    map: &mut FxHashMap<K, Number>,
    other: &FxHashMap<K, Number>,
    factor: &Number,
) {
    for (&key, number) in other {
        let part = number.mul(factor);
        let sum = map.get(&key).map_or(part.clone(), |own| own.add(&part));
        if sum.is_zero() {
            map.remove(&key);
        } else {
            map.insert(key, sum);
        }
    }
}
