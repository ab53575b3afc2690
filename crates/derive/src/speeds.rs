//! Quasi-velocities s = G(q, t) q̇: the user's `speed`s, completed by velocities.

use crate::picture;
use dalembert_expr::{ExprId, Exprs, Jacobian, Random, Symbol, SymbolKind};
use dalembert_model::rank::Independent;
use dalembert_model::system::System;
use rustc_hash::FxHashMap;

/// A full set of quasi-velocities.
pub struct Speeds {
    /// Their symbols: new ones for the user's speeds, q̇ for the velocities that
    /// complete them.
    pub symbols: Vec<Symbol>,
    /// s in terms of q, q̇, t.
    pub own: Vec<ExprId>,
    /// G.
    pub g: Jacobian,
}

/// Completes the speeds of a system: going through the coordinates in order, each
/// velocity that raises the rank of G at a generic state. Without speeds, G = I.
pub fn complete(exprs: &Exprs, system: &System) -> Speeds {
    let n = system.n_coordinates();
    let velocities = system.velocities();
    let values: Vec<ExprId> = system.speeds.iter().map(|s| s.value).collect();
    // Speeds are linear, so G is ∂s/∂q̇ at rest, whatever it looks like.
    let mut g = exprs.jacobian(&values, &velocities);
    for row in &mut g.rows {
        let entries: Vec<ExprId> = row.iter().map(|e| e.1).collect();
        let entries = picture::at_zero(exprs, &entries, &velocities);
        row.iter_mut().zip(entries).for_each(|(place, e)| place.1 = e);
        row.retain(|e| e.1 != ExprId::ZERO);
    }
    let mut symbols: Vec<Symbol> =
        system.speeds.iter().map(|speed| exprs.symbol(&speed.name, SymbolKind::Variable)).collect();
    let mut own = values;
    for j in completing(exprs, &g, n) {
        symbols.push(velocities[j]);
        own.push(exprs.of_symbol(velocities[j]));
        g.rows.push(vec![(j, ExprId::ONE)]);
    }
    g.columns = n;
    Speeds { symbols, own, g }
}

/// The coordinates whose velocities complete the rows of G.
fn completing(exprs: &Exprs, g: &Jacobian, n: usize) -> Vec<usize> {
    let entries: Vec<ExprId> = g.rows.iter().flatten().map(|e| e.1).collect();
    let mut random = Random::new(0x2545_f491_4f6c_dd1d);
    let mut cache: FxHashMap<Symbol, f64> = FxHashMap::default();
    let values =
        exprs.eval_f64(&entries, |s| *cache.entry(s).or_insert_with(|| 0.3 + random.unit()));
    let mut at = values.into_iter();
    let rows = g.rows.iter().map(|row| -> Vec<(usize, f64)> {
        row.iter().map(|&(j, _)| (j, at.next().unwrap_or(0.0))).collect()
    });
    let mut independent = Independent::default();
    let mut count = 0;
    for row in rows {
        independent.add(row);
        count += 1;
    }
    let mut found = Vec::new();
    for j in 0..n {
        if count + found.len() == n {
            break;
        }
        if independent.add([(j, 1.0)]).is_some() {
            found.push(j);
        }
    }
    found
}
