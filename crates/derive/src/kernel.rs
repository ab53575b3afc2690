//! What all formulations share: impressed forces and differentiated constraint
//! rows. Derivatives along the motion with v frozen are written
//! D f = f_q q̇ + f_t.

use crate::matrix::{self, Inverse};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::codes::Code;
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Force, Level, System, Unknown};

/// Constraint rows in the order of the system.
pub struct Rows {
    /// A.
    pub jacobian: Jacobian,
    /// b.
    pub bias: Vec<ExprId>,
    /// (row, φ).
    pub configuration_residuals: Vec<(usize, ExprId)>,
    /// (row, ψ).
    pub velocity_residuals: Vec<(usize, ExprId)>,
}

/// Variables w that the system is written in, where the formulation has others:
/// v determines w, with ∂w/∂v = K⁻¹ and, for frozen v, the rate D w.
pub struct Dual {
    /// w.
    pub symbols: Vec<Symbol>,
    /// K, symmetric.
    pub matrix: Inverse,
    /// D w.
    pub bias: Vec<ExprId>,
}

/// Differentiates every row to the order of v̇.
///
/// `rates` gives the rates of q, t and w, with v frozen; `given` are the symbols
/// that acceleration-level rows are written in: v̇, or ẇ where there is a dual.
/// For the Lagrange variables v = q̇:
///
/// ```text
/// position      A = φ_q     b = −D²φ
/// velocity      A = ψ_q̇     b = −Dψ
/// acceleration  A, b as they stand
/// ```
///
/// For the Hamilton variables v = p the position row is first taken to its rate
/// φ_q H_p + φ_t, of which A = φ_q H_pp is the derivative with respect to p. With
/// a dual, ∂/∂v includes the way through w: ∂/∂v + ∂/∂w K⁻¹, and ẇ = K⁻¹v̇ + D w.
pub fn differentiate(
    exprs: &Exprs,
    system: &System,
    v: &[Symbol],
    given: &[Symbol],
    rates: &[(Symbol, ExprId)],
    dual: Option<&Dual>,
) -> Rows {
    let constraints = &system.constraints;
    let at = |level: Level| -> Vec<usize> {
        (0..constraints.len()).filter(|&i| constraints[i].level == level).collect()
    };
    let residuals =
        |rows: &[usize]| -> Vec<ExprId> { rows.iter().map(|&i| constraints[i].residual).collect() };
    let mut result = Rows {
        jacobian: Jacobian { rows: vec![Vec::new(); constraints.len()], columns: v.len() },
        bias: vec![ExprId::ZERO; constraints.len()],
        configuration_residuals: Vec::new(),
        velocity_residuals: Vec::new(),
    };
    let negative = |id: ExprId| (-exprs.at(id)).id;
    // A row of derivatives with respect to w, by v.
    let through = |dual: &Dual, row: &[(usize, ExprId)]| -> Vec<ExprId> {
        let mut right = vec![ExprId::ZERO; v.len()];
        row.iter().for_each(|&(j, e)| right[j] = e);
        dual.matrix.solve(exprs, &right)
    };

    let position = at(Level::Position);
    let phi = residuals(&position);
    let phi_dot = exprs.directional(&phi, rates);
    let velocity = at(Level::Velocity);
    let psi = residuals(&velocity);

    // Both kinds are now at velocity level: A = ∂/∂v, b = −D.
    let rows: Vec<usize> = position.iter().chain(&velocity).copied().collect();
    let level: Vec<ExprId> = phi_dot.iter().chain(&psi).copied().collect();
    let mut jacobian = exprs.jacobian(&level, v);
    if let Some(dual) = dual {
        let by_w = exprs.jacobian(&level, &dual.symbols);
        for (row, more) in jacobian.rows.iter_mut().zip(&by_w.rows) {
            let mut total = through(dual, more);
            row.iter().for_each(|&(j, e)| total[j] = (exprs.at(total[j]) + exprs.at(e)).id);
            *row = matrix::sparse(total.into_iter());
        }
    }
    let bias = exprs.directional(&level, rates);
    for (at, &row) in rows.iter().enumerate() {
        result.jacobian.rows[row] = std::mem::take(&mut jacobian.rows[at]);
        result.bias[row] = negative(bias[at]);
    }
    result.configuration_residuals = position.iter().copied().zip(phi).collect();
    result.velocity_residuals = rows.into_iter().zip(level).collect();
    result.velocity_residuals.sort_unstable_by_key(|r| r.0);

    let acceleration = at(Level::Acceleration);
    let rows_given = residuals(&acceleration);
    let jacobian = exprs.jacobian(&rows_given, given);
    let at_rest: rustc_hash::FxHashSet<Symbol> = given.iter().copied().collect();
    let rest = exprs.substitute_with(&rows_given, |s| at_rest.contains(&s).then_some(ExprId::ZERO));
    for (at, &row) in acceleration.iter().enumerate() {
        let own = &jacobian.rows[at];
        match dual {
            None => {
                result.jacobian.rows[row] = own.clone();
                result.bias[row] = negative(rest[at]);
            }
            Some(dual) => {
                result.jacobian.rows[row] = matrix::sparse(through(dual, own).into_iter());
                let moved = exprs.at(matrix::dot(exprs, own, &dual.bias));
                result.bias[row] = (-exprs.at(rest[at]) - moved).id;
            }
        }
    }
    result
}

/// Σ of forces, by coordinate.
pub fn total(exprs: &Exprs, n: usize, forces: &[Force]) -> Vec<ExprId> {
    let mut terms: Vec<Vec<ExprId>> = vec![Vec::new(); n];
    for force in forces {
        for &(coordinate, value) in &force.components {
            terms[coordinate].push(value);
        }
    }
    terms.iter().map(|list| exprs.sum(list)).collect()
}

/// The multipliers that forces depend on, by constraint.
pub fn multipliers_in_forces(exprs: &Exprs, system: &System) -> Vec<(usize, Symbol)> {
    let forces = system.forces.iter().chain(&system.nonideal);
    let roots: Vec<ExprId> = forces.flat_map(|f| f.components.iter().map(|c| c.1)).collect();
    let found: rustc_hash::FxHashSet<Symbol> = exprs.symbols_of(&roots).into_iter().collect();
    let mut list: Vec<(usize, Symbol)> = system
        .unknowns
        .iter()
        .filter(|(symbol, _)| found.contains(symbol))
        .filter_map(|&(symbol, unknown)| match unknown {
            Unknown::Multiplier(row) => Some((row, symbol)),
            _ => None,
        })
        .collect();
    list.sort_unstable();
    list
}

/// A formulation has no multiplier for a constraint that it builds into its
/// velocities, so no force may depend on it.
pub fn refuse_eliminated(
    exprs: &Exprs,
    system: &System,
    what: &str,
    is_eliminated: impl Fn(usize) -> bool,
) -> Result<(), Vec<Diagnostic>> {
    let used = multipliers_in_forces(exprs, system);
    let Some(&(row, symbol)) = used.iter().find(|(row, _)| is_eliminated(*row)) else {
        return Ok(());
    };
    let forces = system.forces.iter().chain(&system.nonideal);
    let span = forces
        .filter(|force| {
            let roots: Vec<ExprId> = force.components.iter().map(|c| c.1).collect();
            exprs.symbols_of(&roots).contains(&symbol)
        })
        .map(|force| force.span)
        .next();
    let name = &system.constraints[row].name;
    let message = format!(
        "{what} does not apply: a force depends on the multiplier of `{name}`, a constraint that its velocities satisfy by themselves and that has no multiplier here"
    );
    Err(vec![
        Diagnostic::fault(Code::NotApplicable, span.unwrap_or_default(), message)
            .hint("Lagrange's, Poincaré's, Hamilton's and Maggi's equations solve for it together with the motion"),
    ])
}

/// Why a formulation does not apply to a model, in words.
pub fn not_applicable(system: &System, message: impl Into<String>) -> Vec<Diagnostic> {
    let span = system.coordinates.first().map(|c| c.span).unwrap_or_default();
    vec![Diagnostic::fault(Code::NotApplicable, span, message.into())]
}
