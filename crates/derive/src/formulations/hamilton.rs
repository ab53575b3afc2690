//! Hamilton's equations with constraints on (q, p, t).
//!
//! ```text
//! q̇ = H_p
//! Γ = H_pp,  F = H_pp (−H_q + Q′),  C enters as H_pp C
//! A_p = φ_p,  b_p = −(φ_q H_p + φ_t)
//! ```
//!
//! Udwadia (2016), (11)–(13) and (36): ṗ = f + H_pp⁻¹A_pᵀλ with A_p ṗ = b_p, the
//! normal form with v = p. The constraint force is along H_pp⁻¹φ_pᵀ, not along
//! φ_pᵀ. Holonomic rows are taken to their rate first. With the multipliers as
//! unknowns this is Greenwood's (2.111)–(2.113).
//!
//! Without constraints any Γ does, and where H is not quadratic in p it is 1: ṗ = f holds also
//! where H_pp is singular (H = p⁴/4 at p = 0) or infinite.
//!
//! H need not be quadratic in p; with constraints H_pp must be positive definite. A model given by
//! L is taken to p = L_q̇: for L quadratic in q̇, with T₁ and T₀ terms, by q̇ =
//! M⁻¹(p − m̃) as a `solve` node; otherwise q̇ is an auxiliary unknown of the
//! equations L_q̇ = p. No inverse is differentiated: −H_q = L_q, and with p frozen
//! D q̇ = −M⁻¹(p_q q̇ + p_t).

use super::{Choices, Formulation};
use crate::equations::{Auxiliary, EquationsOfMotion, Shape, Source};
use crate::kernel::{self, Dual, Rows};
use crate::matrix::{self, Inverse};
use crate::parts::{Canonical, Variables};
use crate::picture;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, System};

/// Hamilton's equations.
pub struct Hamilton;

/// The member of the list.
pub const FORMULATION: Hamilton = Hamilton;

impl Formulation for Hamilton {
    fn name(&self) -> &'static str {
        "hamilton"
    }

    fn source(&self) -> Source {
        Source { work: "Udwadia (2016)", equations: "(11)–(13), (36)" }
    }

    fn heading(&self) -> &'static str {
        "Hamilton's equations"
    }

    fn variables(&self) -> Variables {
        Variables::Momenta
    }

    fn needs_regular_mass(&self) -> bool {
        true
    }

    fn derive(
        &self,
        exprs: &Exprs,
        system: &System,
        _: &Choices,
    ) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        match &system.energy {
            Energy::Hamiltonian { hamiltonian, velocities } => {
                Ok(by_h(exprs, system, *hamiltonian, velocities))
            }
            Energy::Lagrangian { lagrangian, momenta, .. } => {
                by_l(exprs, system, *lagrangian, momenta)
            }
        }
    }
}

/// What the two ways to H arrive at.
struct Terms {
    metric: Jacobian,
    lift: Jacobian,
    kinematics: Vec<ExprId>,
    lift_bias: Vec<ExprId>,
    f: Vec<ExprId>,
    force: Vec<ExprId>,
    nonideal: Vec<ExprId>,
    rows: Rows,
}

fn by_h(exprs: &Exprs, system: &System, h: ExprId, h_p: &[ExprId]) -> EquationsOfMotion {
    let (q, p, p_dot) = (system.positions(), system.momenta(), system.momentum_rates());
    let rates = picture::rates(&q, h_p, &system.rates(exprs));
    let metric = matrix::symmetric(exprs.jacobian(h_p, &p));
    let h_q = exprs.gradient(h, &q);
    let impressed = kernel::total(exprs, q.len(), &system.forces);
    let f: Vec<ExprId> =
        impressed.iter().zip(&h_q).map(|(&a, &b)| (exprs.at(a) - exprs.at(b)).id).collect();
    let nonideal = kernel::total(exprs, q.len(), &system.nonideal);
    let plain = system.constraints.is_empty() && !matrix::is_free_of(exprs, &metric, &p);
    let times = |list: &[ExprId]| match plain {
        true => list.to_vec(),
        false => matrix::times(exprs, &metric, list),
    };
    let terms = Terms {
        kinematics: h_p.to_vec(),
        lift_bias: exprs.directional(h_p, &rates),
        force: times(&f),
        nonideal: times(&nonideal),
        f: f.clone(),
        metric: if plain { one(q.len()) } else { metric.clone() },
        lift: metric,
        rows: kernel::differentiate(exprs, system, &p, &p_dot, &rates, None),
    };
    let mut equations = assemble(exprs, system, terms);
    equations.canonical = Some(Canonical { hamiltonian: h, force: f });
    equations
}

fn by_l(
    exprs: &Exprs,
    system: &System,
    lagrangian: ExprId,
    momenta: &[ExprId],
) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
    let n = system.n_coordinates();
    let (q, v, p) = (system.positions(), system.velocities(), system.momenta());
    let w: Vec<ExprId> = v.iter().map(|&s| exprs.of_symbol(s)).collect();
    let mass = matrix::symmetric(exprs.jacobian(momenta, &v));
    let Some(inverse) = Inverse::new(&mass) else {
        return Err(kernel::not_applicable(
            system,
            "the mass matrix is singular, so momenta do not determine the velocities: there is no Hamiltonian",
        ));
    };
    // With p frozen, 0 = p_q q̇ + p_t + M D q̇.
    let mut rates = picture::rates(&q, &w, &system.rates(exprs));
    let moved: Vec<ExprId> =
        exprs.directional(momenta, &rates).into_iter().map(|e| (-exprs.at(e)).id).collect();
    let bias = inverse.solve(exprs, &moved);
    rates.extend(v.iter().copied().zip(bias.iter().copied()));
    let metric = matrix::symmetric(inverse.matrix(exprs));
    let l_q = exprs.gradient(lagrangian, &q);
    let impressed = kernel::total(exprs, n, &system.forces);
    let quadratic = matrix::is_free_of(exprs, &mass, &v);
    let f: Vec<ExprId> =
        impressed.iter().zip(&l_q).map(|(&a, &b)| (exprs.at(a) + exprs.at(b)).id).collect();
    let nonideal = kernel::total(exprs, n, &system.nonideal);
    let plain = system.constraints.is_empty() && !quadratic;
    let (force, nonideal) = match plain {
        true => (f.clone(), nonideal),
        false => (inverse.solve(exprs, &f), inverse.solve(exprs, &nonideal)),
    };
    let dual = Dual { symbols: v.clone(), matrix: inverse, bias: bias.clone() };
    let rows =
        kernel::differentiate(exprs, system, &p, &system.accelerations(), &rates, Some(&dual));
    let terms = Terms {
        metric: if plain { one(n) } else { metric.clone() },
        lift: metric,
        kinematics: w.clone(),
        lift_bias: bias,
        f: f.clone(),
        force,
        nonideal,
        rows,
    };
    let mut equations = assemble(exprs, system, terms);
    let of_p: Vec<ExprId> = p.iter().map(|&s| exprs.of_symbol(s)).collect();
    let difference = |a: &[ExprId], b: &[ExprId]| -> Vec<ExprId> {
        a.iter().zip(b).map(|(&a, &b)| (exprs.at(a) - exprs.at(b)).id).collect()
    };
    let with_h = |equations: &mut EquationsOfMotion, h: ExprId| {
        let meaning = "the Hamiltonian, p·q̇ − L";
        equations.intermediate.insert(0, picture::quantity("H", "H", meaning, Shape::Scalar(h)));
        equations.canonical = Some(Canonical { hamiltonian: h, force: f });
    };
    if quadratic {
        // q̇ = M⁻¹(p − m̃);  H = ½(p − m̃)·q̇ − L|q̇=0
        let shifted = difference(&of_p, &picture::at_zero(exprs, momenta, &v));
        let velocities = dual.matrix.solve(exprs, &shifted);
        let rest = picture::at_zero(exprs, &[lagrangian], &v)[0];
        let row: Vec<(usize, ExprId)> = velocities.iter().copied().enumerate().collect();
        let twice = exprs.at(matrix::dot(exprs, &row, &shifted));
        let h = (twice / exprs.integer(2) - exprs.at(rest)).id;
        with_h(&mut equations, h);
        let replacements: Vec<(Symbol, ExprId)> = v.into_iter().zip(velocities).collect();
        equations.substitute(exprs, &replacements);
    } else {
        let row: Vec<(usize, ExprId)> = of_p.iter().copied().enumerate().collect();
        let h = (exprs.at(matrix::dot(exprs, &row, &w)) - exprs.at(lagrangian)).id;
        with_h(&mut equations, h);
        let residuals = difference(momenta, &of_p);
        equations.auxiliary = Some(Auxiliary { symbols: v, residuals, jacobian: mass });
    }
    Ok(equations)
}

/// The identity.
fn one(n: usize) -> Jacobian {
    Jacobian { rows: (0..n).map(|i| vec![(i, ExprId::ONE)]).collect(), columns: n }
}

fn assemble(exprs: &Exprs, system: &System, terms: Terms) -> EquationsOfMotion {
    let p = system.momenta();
    let Terms { metric, lift, kinematics, lift_bias, f, force, nonideal, rows } = terms;
    let meaning = "ṗ without constraints, −H_q + Q′";
    EquationsOfMotion {
        formulation: "hamilton",
        variables: Variables::Momenta,
        q: system.configuration(),
        states: system.states.len(),
        own: p.iter().map(|&s| exprs.of_symbol(s)).collect(),
        v: p,
        auxiliary: None,
        levels: Vec::new(),
        kinematics: kinematics.into_iter().chain(system.states.iter().map(|z| z.rate)).collect(),
        lift,
        lift_bias,
        force,
        nonideal,
        metric,
        bodies: None,
        rows: (0..rows.bias.len()).collect(),
        multipliers: kernel::multipliers_in_forces(exprs, system),
        chart: None,
        canonical: None,
        bracket: None,
        jacobian: rows.jacobian,
        bias: rows.bias,
        configuration_residuals: rows.configuration_residuals,
        velocity_residuals: rows.velocity_residuals,
        intermediate: vec![picture::quantity("f", "f", meaning, Shape::Vector(f))],
    }
}
