//! What stands behind (K⁻¹ r)ᵢ: inverses that are too large to be written as quotients
//! are shown as solutions of linear systems, and here is what these consist of.

use crate::derivation::Derivation;
use dalembert_expr::{ExprId, Jacobian, LinearSystem};
use std::collections::{BTreeMap, VecDeque};

impl Derivation<'_> {
    /// The systems whose solutions the document's expressions hold, and those that these
    /// hold in turn; simplified.
    pub(crate) fn find_systems(&self) -> Vec<LinearSystem> {
        let mut found: BTreeMap<usize, LinearSystem> = BTreeMap::new();
        let mut open = VecDeque::from(self.exprs().linear_systems(&self.shown_expressions()));
        while let Some(mut system) = open.pop_front() {
            if found.contains_key(&system.number) {
                continue;
            }
            let entries = system.k.iter_mut().chain(&mut system.r);
            entries.for_each(|entry| *entry = self.readable.readable(*entry));
            let held: Vec<ExprId> = system.k.iter().chain(&system.r).copied().collect();
            open.extend(self.exprs().linear_systems(&held));
            found.insert(system.number, system);
        }
        found.into_values().collect()
    }

    /// The matrices of the systems, each once, by number.
    pub(crate) fn system_matrices(&self) -> BTreeMap<usize, Jacobian> {
        let of = |system: &LinearSystem| {
            let n = system.r.len();
            let row = |entries: &[ExprId]| {
                let list = entries.iter().copied().enumerate();
                list.filter(|entry| entry.1 != ExprId::ZERO).collect()
            };
            (system.matrix, Jacobian { rows: system.k.chunks(n).map(row).collect(), columns: n })
        };
        self.systems.iter().map(of).collect()
    }
}
