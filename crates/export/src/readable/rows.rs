//! The equations of motion, one for each unknown:
//!
//! ```text
//! Σ_j Γ_ij v̇_j = F_i + C_i + Σ_k A_ki λ_k
//! ```
//!
//! and for momenta ṗ_i = f_i + C_i + Σ_k A_ki λ_k with Lagrange's A and C, which
//! is the same row without Γ = H_pp on its left.

use super::Readable;
use dalembert_derive::{EquationsOfMotion, Variables};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol, SymbolKind};
use dalembert_model::system::{Model, Unknown};
use std::collections::BTreeSet;

/// One equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What is accelerated.
    pub left: ExprId,
    /// The forces.
    pub right: ExprId,
}

impl Readable {
    /// v̇.
    pub fn rates(&self) -> Vec<Symbol> {
        let exprs = self.exprs();
        self.equations.v.iter().filter_map(|&v| exprs.rate(v)).collect()
    }

    /// The multipliers, by constraint.
    pub fn multipliers(&self) -> &[Symbol] {
        &self.multipliers
    }

    /// The equations of motion.
    pub fn rows(&self) -> Vec<Row> {
        let equations = &self.equations;
        let rates = self.rates();
        let exprs = self.exprs();
        let plain = equations.variables == Variables::Momenta;
        if let (true, Some(canonical)) = (plain, &equations.canonical)
            && let Some((jacobian, nonideal)) = &self.lagrange
        {
            let forces = self.forces(&canonical.force, nonideal, jacobian);
            let left = rates.iter().map(|&rate| exprs.of_symbol(rate));
            return left.zip(forces).map(|(left, right)| Row { left, right }).collect();
        }
        let forces = self.forces(&equations.force, &equations.nonideal, &equations.jacobian);
        let left = equations.metric.rows.iter().map(|row| {
            let terms: Vec<ExprId> = row
                .iter()
                .filter(|entry| !self.rests(entry.0))
                .map(|&(j, entry)| exprs.product(&[entry, exprs.of_symbol(rates[j])]))
                .collect();
            exprs.sum(&terms)
        });
        left.zip(forces).map(|(left, right)| Row { left, right }).collect()
    }

    /// A v̇ = b, row by row.
    pub fn constraint_rows(&self) -> Vec<Row> {
        let exprs = self.exprs();
        let rates = self.rates();
        let rows = self.equations.jacobian.rows.iter().zip(&self.equations.bias).enumerate();
        rows.map(|(at, (row, &right))| {
            // What holds a coordinate says that its rate is 0; others need not say it again.
            let is_own = self.held.is_row(self.equations.rows[at]);
            let terms: Vec<ExprId> = row
                .iter()
                .filter(|entry| is_own || !self.rests(entry.0))
                .map(|&(j, entry)| exprs.product(&[entry, exprs.of_symbol(rates[j])]))
                .collect();
            Row { left: exprs.sum(&terms), right }
        })
        .collect()
    }

    /// Whether the rate of an unknown is 0 on the constraints.
    pub(crate) fn rests(&self, unknown: usize) -> bool {
        self.equations.variables == Variables::Velocities && self.held.is_zero(unknown)
    }

    fn forces(&self, force: &[ExprId], nonideal: &[ExprId], jacobian: &Jacobian) -> Vec<ExprId> {
        let exprs = self.exprs();
        let mut terms: Vec<Vec<ExprId>> =
            force.iter().zip(nonideal).map(|(&f, &c)| vec![f, c]).collect();
        for (at, row) in jacobian.rows.iter().enumerate() {
            let multiplier = exprs.of_symbol(self.multipliers[self.equations.rows[at]]);
            for &(column, entry) in row {
                terms[column].push(exprs.product(&[entry, multiplier]));
            }
        }
        terms.iter().map(|list| exprs.sum(list)).collect()
    }
}

/// Symbols for the multipliers, and what they replace where forces depend on them.
pub(super) fn multiplier_symbols(model: &Model) -> (Vec<Symbol>, Vec<(Symbol, ExprId)>) {
    let system = &model.system;
    let exprs = &model.exprs;
    let taken: BTreeSet<&str> = system
        .coordinates
        .iter()
        .map(|c| c.name.as_str())
        .chain(system.parameters.iter().map(|p| p.name.as_str()))
        .chain(system.speeds.iter().map(|s| s.name.as_str()))
        .collect();
    let name_of = |letter: &str, name: &str| match (system.constraints.len(), name.rfind('.')) {
        (1, _) => letter.to_owned(),
        (_, None) => format!("{letter}_{name}"),
        (_, Some(dot)) => format!("{}{letter}_{}", &name[..=dot], &name[dot + 1..]),
    };
    let is_free = |letter: &str| {
        system.constraints.iter().all(|c| !taken.contains(name_of(letter, &c.name).as_str()))
    };
    let letters = ["lambda", "mu", "nu", "Lambda"];
    let letter = letters.into_iter().find(|letter| is_free(letter)).unwrap_or("multiplier");
    let symbols: Vec<Symbol> = system
        .constraints
        .iter()
        .map(|c| exprs.symbol(&name_of(letter, &c.name), SymbolKind::Variable))
        .collect();
    let mut replacements = Vec::new();
    for &(symbol, unknown) in &system.unknowns {
        if let Unknown::Multiplier(row) = unknown
            && let Some(&own) = symbols.get(row)
        {
            replacements.push((symbol, exprs.of_symbol(own)));
        }
    }
    (symbols, replacements)
}

/// Lagrange's A and C in the variables of momenta.
pub(super) fn lagrange_rows(
    model: &Model,
    equations: &EquationsOfMotion,
) -> Option<(Jacobian, Vec<ExprId>)> {
    let lagrange = dalembert_derive::by_name("lagrange")?;
    let found = lagrange.derive(&model.exprs, &model.system, &Default::default()).ok()?;
    let exprs: &Exprs = &model.exprs;
    let velocities: Vec<(Symbol, ExprId)> =
        found.v.iter().copied().zip(equations.kinematics.iter().copied()).collect();
    let mut jacobian = found.jacobian;
    for row in &mut jacobian.rows {
        let list: Vec<ExprId> = row.iter().map(|entry| entry.1).collect();
        let list = exprs.substitute(&list, &velocities);
        row.iter_mut().zip(list).for_each(|(entry, value)| entry.1 = value);
    }
    Some((jacobian, exprs.substitute(&found.nonideal, &velocities)))
}
