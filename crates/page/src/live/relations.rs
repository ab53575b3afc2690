//! Tapes by name, and equations with their derivatives.

use dalembert_compile::Tape;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use serde_json::{Value, json};

/// The tapes of a program.
pub(crate) struct Tapes<'e> {
    pub exprs: &'e Exprs,
    constants: &'e [Symbol],
    tapes: Vec<(String, Tape)>,
}

impl<'e> Tapes<'e> {
    pub fn new(exprs: &'e Exprs, constants: &'e [Symbol]) -> Tapes<'e> {
        Tapes { exprs, constants, tapes: Vec::new() }
    }

    /// Expressions as functions of variables, with the parameters as constants.
    pub fn add(&mut self, name: &str, roots: &[ExprId], variables: &[Symbol]) {
        let tape = Tape::lower(self.exprs, roots, self.constants, variables);
        self.tapes.push((name.to_owned(), tape));
    }

    /// The same without constants.
    pub fn plain(&mut self, name: &str, roots: &[ExprId], variables: &[Symbol]) {
        self.tapes.push((name.to_owned(), Tape::lower(self.exprs, roots, &[], variables)));
    }

    /// Equations for unknowns: residuals, then the entries of their derivatives.
    pub fn relation(
        &mut self,
        name: &str,
        equations: &[ExprId],
        unknowns: &[Symbol],
        variables: &[Symbol],
    ) -> Value {
        let jacobian = self.exprs.jacobian(equations, unknowns);
        let mut roots = equations.to_vec();
        roots.extend(jacobian.rows.iter().flatten().map(|e| e.1));
        self.add(name, &roots, variables);
        json!({"tape": name, "count": equations.len(), "places": places(&jacobian)})
    }

    /// How many instructions there are.
    pub fn count(&self) -> usize {
        self.tapes.iter().map(|tape| tape.1.instructions.len()).sum()
    }

    /// All tapes.
    pub fn list(&self) -> Vec<(&str, &Tape)> {
        self.tapes.iter().map(|(name, tape)| (name.as_str(), tape)).collect()
    }
}

/// Places of a matrix's entries in the dense one.
pub(crate) fn places(matrix: &Jacobian) -> Vec<usize> {
    let columns = matrix.columns;
    let rows = matrix.rows.iter().enumerate();
    rows.flat_map(|(i, row)| row.iter().map(move |e| i * columns + e.0)).collect()
}
