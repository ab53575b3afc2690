//! Rows that depend on others, each with those that it depends on.

use super::decide::{Rows, independent};
use super::pattern::Pattern;
use super::structure::Structure;
use crate::linalg::norm;
use std::sync::Arc;

/// Each row that depends on others up to `tau`, with those that have more than a `share` in it,
/// rows being brought to length one; in order.
pub fn dependent_sets(rows: &Pattern, values: &[f64], tau: f64, share: f64) -> Vec<Vec<usize>> {
    let (n, m) = (rows.columns(), rows.rows());
    let identity = Arc::new(Pattern::new(n, (0..n).map(|i| [i])));
    let Some(s) = Structure::new(&identity, &Arc::new(rows.clone())) else { return Vec::new() };
    // The blocks are the coordinates, so that rows over whole blocks are the rows.
    let lengths: Vec<f64> = (0..m).map(|row| norm(&values[rows.range(row)])).collect();
    let live: Vec<bool> = lengths.iter().map(|length| *length > 0.0).collect();
    let given = Rows { entries: values, lengths: &lengths, noise: &vec![0.0; m] };
    let found = independent(&s, &given, &live, tau, tau);
    let set = |(row, weights): (usize, Vec<(usize, f64)>)| {
        let others = weights.into_iter().filter(|(_, w)| w.abs() > share);
        let mut set: Vec<usize> = others.map(|(other, _)| other).chain([row]).collect();
        set.sort_unstable();
        set
    };
    found.dependent.into_iter().map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_with_those_it_depends_on() {
        let pattern = Pattern::new(4, [vec![0, 1], vec![2], vec![0, 1], vec![2, 3], vec![3]]);
        let values = [1.0, 2.0, 5.0, -2.0, -4.0, 1.0, 1.0, 3.0];
        let mut sets = dependent_sets(&pattern, &values, 1e-9, 1e-8);
        sets.sort();
        assert_eq!(sets, [vec![0, 2], vec![1, 3, 4]]);
    }
}
