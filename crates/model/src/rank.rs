//! The rank of a matrix of expressions at a generic state.

use dalembert_expr::{Exprs, Jacobian, Random, Symbol};
use rustc_hash::FxHashMap;

/// The first row that depends on those before it, at random values of all
/// symbols; `None` if the rows are independent. Independence found at one point
/// holds at nearly all; dependence is believed after several points.
pub(crate) fn dependent_row(exprs: &Exprs, rows: &Jacobian) -> Option<usize> {
    let mut found = None;
    for attempt in 0..4u64 {
        match dependent_row_at(exprs, rows, attempt) {
            None => return None,
            Some(row) => found = found.max(Some(row)),
        }
    }
    found
}

fn dependent_row_at(exprs: &Exprs, rows: &Jacobian, seed: u64) -> Option<usize> {
    let roots: Vec<_> = rows.rows.iter().flatten().map(|&(_, e)| e).collect();
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51ed_270b);
    let mut cache: FxHashMap<Symbol, f64> = FxHashMap::default();
    let values = exprs.eval_f64(&roots, |s| *cache.entry(s).or_insert_with(|| 0.3 + random.unit()));
    let mut at = values.iter();
    let mut independent = Independent::default();
    (0..rows.rows.len()).find(|&number| {
        let row = rows.rows[number].iter();
        let row = row.map(|&(column, _)| (column, at.next().copied().unwrap_or(0.0)));
        independent.add(row).is_none()
    })
}

/// Rows of numbers, added one at a time as long as they are independent.
///
/// Whether an entry is zero after elimination is judged by the terms that it is
/// made of, so that neither the units of rows nor those of columns matter. Only an
/// entry that rounding can have left of one that is identically zero is judged by
/// the largest of its row.
#[derive(Clone, Debug, Default)]
pub struct Independent {
    /// Reduced rows with their pivot columns.
    reduced: Vec<(usize, Row)>,
}

/// Entries by column, each with the size of the terms that it is made of.
type Row = FxHashMap<usize, (f64, f64)>;

impl Independent {
    /// Adds a row if it is independent of those before it, and returns the column of
    /// its pivot: the largest entry; of equals the first, so that the choice does not
    /// depend on the order in a table.
    pub fn add(&mut self, row: impl IntoIterator<Item = (usize, f64)>) -> Option<usize> {
        self.add_preferring(row, |_| false)
    }

    /// The same with a preference for the pivots of some columns, unless they are a
    /// thousand times smaller.
    pub fn add_preferring(
        &mut self,
        row: impl IntoIterator<Item = (usize, f64)>,
        preferred: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut row: Row = row.into_iter().map(|(column, x)| (column, (x, x.abs()))).collect();
        let largest = row.values().fold(0f64, |m, entry| m.max(entry.1));
        row.retain(|_, entry| entry.1 > 1e-14 * largest);
        for (pivot, other) in &self.reduced {
            let Some(&(value, _)) = row.get(pivot) else { continue };
            let factor = value / other[pivot].0;
            for (&column, &(x, size)) in other {
                let entry = row.entry(column).or_insert((0.0, 0.0));
                entry.0 -= factor * x;
                entry.1 += (factor * size).abs();
            }
            row.remove(pivot);
        }
        row.retain(|_, (value, size)| value.is_finite() && value.abs() > 1e-10 * *size);
        let weight = |column: usize, value: f64| {
            if preferred(column) { 1e3 * value.abs() } else { value.abs() }
        };
        let best = row
            .iter()
            .max_by(|a, b| weight(*a.0, a.1.0).total_cmp(&weight(*b.0, b.1.0)).then(b.0.cmp(a.0)))
            .map(|(&column, _)| column)?;
        self.reduced.push((best, row));
        Some(best)
    }
}
