//! The rank of a matrix of expressions at a generic state.

use dalembert_expr::{Exprs, Jacobian, Symbol};
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
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51ed_270b;
    let mut cache: FxHashMap<Symbol, f64> = FxHashMap::default();
    let values = exprs.eval_f64(&roots, |s| {
        *cache.entry(s).or_insert_with(|| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            0.3 + (state >> 33) as f64 / (1u64 << 31) as f64
        })
    });
    let mut at = values.iter();
    // Rows reduced so far, each with its pivot column.
    let mut reduced: Vec<(usize, FxHashMap<usize, f64>)> = Vec::new();
    for (number, row) in rows.rows.iter().enumerate() {
        let mut dense: FxHashMap<usize, f64> = FxHashMap::default();
        for &(column, _) in row {
            dense.insert(column, at.next().copied().unwrap_or(0.0));
        }
        let size = dense.values().fold(0f64, |m, x| m.max(x.abs()));
        for (pivot, other) in &reduced {
            let Some(&value) = dense.get(pivot) else { continue };
            let factor = value / other[pivot];
            for (&column, &x) in other {
                *dense.entry(column).or_insert(0.0) -= factor * x;
            }
            dense.remove(pivot);
        }
        let best = dense.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        match best {
            Some((&column, &value)) if value.abs() > 1e-10 * size => reduced.push((column, dense)),
            _ => return Some(number),
        }
    }
    None
}
