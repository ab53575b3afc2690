//! What every document says, before it is typeset.

use dalembert_derive::{EquationsOfMotion, Source};
use dalembert_expr::{ExprId, Exprs, Jacobian};
use dalembert_model::system::{Energy, Model};

/// A model and its equations, ready to be written down.
pub struct Derivation<'m> {
    /// The model.
    pub model: &'m Model,
    /// Its equations of motion.
    pub equations: &'m EquationsOfMotion,
}

/// A matrix entry or vector component with its place.
pub(crate) struct Entry {
    pub row: usize,
    pub column: usize,
    pub value: ExprId,
}

/// Expressions larger than this (as trees) are shown as they are: rewriting
/// them would take long and help nobody.
const READABLE: u64 = 2_000;

impl<'m> Derivation<'m> {
    /// The derivation of a model.
    pub fn new(model: &'m Model, equations: &'m EquationsOfMotion) -> Self {
        Derivation { model, equations }
    }

    /// The title of a document.
    pub(crate) fn title(&self) -> &'m str {
        match self.model.system.title.as_str() {
            "" => "Equations of motion",
            title => title,
        }
    }

    pub(crate) fn exprs(&self) -> &'m Exprs {
        &self.model.exprs
    }

    /// An expression as a reader wants it.
    pub(crate) fn readable(&self, id: ExprId) -> ExprId {
        if self.exprs().count_tree_size(id) <= READABLE { self.exprs().simplify(id) } else { id }
    }

    /// The energies by their letters.
    pub(crate) fn energies(&self) -> Vec<(&'static str, ExprId)> {
        match &self.model.system.energy {
            Energy::Lagrangian { kinetic, potential, rest, lagrangian, .. } => {
                let mut list = Vec::new();
                if *rest == ExprId::ZERO {
                    list.push(("T", *kinetic));
                    list.push(("V", *potential));
                } else {
                    list.push(("L", *lagrangian));
                }
                list
            }
            Energy::Hamiltonian { hamiltonian, .. } => vec![("H", *hamiltonian)],
        }
    }

    /// Whether v is the momentum.
    pub(crate) fn is_canonical(&self) -> bool {
        self.equations.formulation == "hamilton"
    }

    /// The lower triangle of Γ.
    pub(crate) fn metric_entries(&self) -> Vec<Entry> {
        let rows = self.equations.metric.rows.iter().enumerate();
        rows.flat_map(|(row, list)| {
            let lower = list.iter().filter(move |(column, _)| *column <= row);
            lower.map(move |&(column, value)| Entry { row, column, value })
        })
        .collect()
    }

    /// All entries of A.
    pub(crate) fn jacobian_entries(&self) -> Vec<Entry> {
        let rows = self.equations.jacobian.rows.iter().enumerate();
        rows.flat_map(|(row, list)| {
            list.iter().map(move |&(column, value)| Entry { row, column, value })
        })
        .collect()
    }

    /// The formulation's source.
    pub(crate) fn source(&self) -> Option<Source> {
        dalembert_derive::by_name(self.equations.formulation).map(|f| f.source())
    }

    /// "Lagrange's equations" or "Hamilton's equations".
    pub(crate) fn heading(&self) -> &'static str {
        if self.is_canonical() { "Hamilton's equations" } else { "Lagrange's equations" }
    }
}

/// A small matrix with every entry, row by row.
pub(crate) fn dense(matrix: &Jacobian) -> Vec<Vec<ExprId>> {
    matrix
        .rows
        .iter()
        .map(|row| {
            let mut line = vec![ExprId::ZERO; matrix.columns];
            row.iter().for_each(|&(column, value)| line[column] = value);
            line
        })
        .collect()
}
