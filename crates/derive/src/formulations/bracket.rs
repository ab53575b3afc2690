//! The reduced bracket: Hamilton's equations on the constrained state space.
//!
//! With q̇ = S(q) u for the velocities that satisfy the constraints, p̃ = Sᵀp and
//! H_r(q, p̃) the energy there:
//!
//! ```text
//! [q̇; p̃̇] = J_r ∇H_r + [0; Sᵀ(Q′ + C)],   J_r = [[0, S], [−Sᵀ, B]]
//! B_ij = −pᵀ[S_i, S_j] = Σ_ρ (A_d⁻ᵀ p_d)_ρ S_iᵀ Ω_ρ S_j
//! ```
//!
//! with (Ω_ρ)_ab = ∂_a A_ρb − ∂_b A_ρa. van der Schaft & Maschke (1994), (19), (20).
//! Where the constraints are affine or depend on time, q̇ = S u + s₀(q, t), there
//! is no J_r, and the equations are
//!
//! ```text
//! p̃̇ = Sᵀ(−H_q + Q′ + C) + Ṡᵀ p
//! ```
//!
//! Their state space is the set of states on the constraints: at others, and for
//! rows that are nonlinear in the velocities or given for accelerations, and for a
//! singular mass matrix, and for forces that depend on multipliers, this
//! formulation does not apply. The chart is the static
//! one of [`Chart`]; another S only renames p̃.

use super::{Choices, Formulation};
use crate::chart::{Chart, Parametrised};
use crate::equations::{Auxiliary, EquationsOfMotion, Shape, Source};
use crate::kernel;
use crate::matrix::{self, Inverse};
use crate::parts::{ChartBasis, ReducedBracket, Variables};
use crate::picture::{self, Picture};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol, SymbolKind};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, Level, System};

/// The reduced bracket.
pub struct Bracket;

/// The member of the list.
pub const FORMULATION: Bracket = Bracket;

/// Up to this many coordinates J_r is written out.
const LARGEST: usize = 24;

impl Formulation for Bracket {
    fn name(&self) -> &'static str {
        "bracket"
    }

    fn source(&self) -> Source {
        Source { work: "van der Schaft & Maschke (1994)", equations: "(14)–(20)" }
    }

    fn heading(&self) -> &'static str {
        "Hamilton's equations on the constrained state space"
    }

    fn variables(&self) -> Variables {
        Variables::ReducedMomenta
    }

    fn needs_regular_mass(&self) -> bool {
        true
    }

    fn has_chart(&self) -> bool {
        true
    }

    fn derive(
        &self,
        exprs: &Exprs,
        system: &System,
        choices: &Choices,
    ) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        let picture = Picture::new(exprs, system)?;
        if let Some(row) = (0..system.constraints.len()).find(|&r| !picture.is_affine(system, r)) {
            let constraint = &system.constraints[row];
            let why = match constraint.level {
                Level::Acceleration => "is given for accelerations, which fixes no velocity",
                _ => "is not affine in the velocities, so there is no S with q̇ = S u",
            };
            let message = format!(
                "the reduced bracket does not apply: constraint `{}` {why}",
                constraint.name
            );
            return Err(kernel::not_applicable(system, message));
        }
        kernel::refuse_eliminated(exprs, system, "the reduced bracket", |_| true)?;
        let chart = choices.chart.clone();
        let chart = chart.unwrap_or_else(|| Chart::generic(exprs, system, &picture));
        let Some(mut parametrised) = chart.parametrise(exprs, &picture) else {
            return Err(kernel::not_applicable(system, "the chart chosen is singular everywhere"));
        };
        // The state space is the constraint set itself.
        let levels: Vec<Symbol> = parametrised.levels.drain(..).map(|l| l.0).collect();
        parametrised.s0 = picture::at_zero(exprs, &parametrised.s0, &levels);
        reduce(exprs, system, &picture, parametrised)
    }
}

fn reduce(
    exprs: &Exprs,
    system: &System,
    picture: &Picture,
    parametrised: Parametrised,
) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
    let (s, n) = (&parametrised.s, picture.q.len());
    let st = matrix::transposed(s);
    let add = |a: &[ExprId], b: &[ExprId]| -> Vec<ExprId> {
        a.iter().zip(b).map(|(&a, &b)| (exprs.at(a) + exprs.at(b)).id).collect()
    };
    let difference = |a: &[ExprId], b: &[ExprId]| -> Vec<ExprId> {
        a.iter().zip(b).map(|(&a, &b)| (exprs.at(a) - exprs.at(b)).id).collect()
    };
    // u are the free velocities, for now as symbols of their own.
    let u: Vec<Symbol> = parametrised.free.iter().map(|&i| picture.velocities[i]).collect();
    let of_u: Vec<ExprId> = u.iter().map(|&x| exprs.of_symbol(x)).collect();
    let k = parametrised.velocities(exprs, &of_u);
    let rates = picture.rates(&k);
    let gamma = exprs.directional(&k, &rates);
    let metric = matrix::congruence(exprs, s, &picture.metric);
    let Some(inverse) = Inverse::new(&metric) else {
        return Err(kernel::not_applicable(system, "SᵀMS is singular for every state"));
    };
    // Ṡᵀp
    let flat: Vec<ExprId> = st.rows.iter().flatten().map(|e| e.1).collect();
    let mut s_dot = st.clone();
    let moved = exprs.directional(&flat, &rates);
    s_dot.rows.iter_mut().flatten().zip(moved).for_each(|(place, e)| place.1 = e);
    let s_dot_p = matrix::times(exprs, &s_dot, &picture.momenta);

    let names: Vec<Symbol> = parametrised
        .free
        .iter()
        .map(|&i| {
            let name = reduced_name(&system.coordinates[i].name);
            exprs.symbol(&name, SymbolKind::Variable)
        })
        .collect();
    let of_p: Vec<ExprId> = names.iter().map(|&x| exprs.of_symbol(x)).collect();
    let p: Vec<ExprId> = system.momenta().iter().map(|&x| exprs.of_symbol(x)).collect();

    // p̃̇ = Sᵀ(−H_q + Q′) + Ṡᵀp, with −H_q = L_q.
    let outer = add(&picture.l_q, &picture.impressed);
    let force = add(&matrix::times(exprs, &st, &outer), &s_dot_p);
    // SᵀMS u̇ = p̃̇ − Ṡᵀp − Sᵀ(D p + M(Ṡu + ṡ₀)), and q̈ = S u̇ + Ṡu + ṡ₀.
    let m_gamma = matrix::times(exprs, &picture.metric, &gamma);
    let frozen = matrix::times(exprs, &st, &add(&picture.momentum_bias, &m_gamma));
    let u_bias = inverse.solve(exprs, &add(&s_dot_p, &frozen));
    let lift_bias = difference(&gamma, &matrix::times(exprs, s, &u_bias));
    let inverse_matrix = inverse.matrix(exprs);

    let mut equations = EquationsOfMotion {
        formulation: "bracket",
        variables: Variables::ReducedMomenta,
        q: picture.configuration(),
        states: picture.states.len(),
        v: names,
        own: matrix::times(exprs, &st, &p),
        auxiliary: None,
        levels: Vec::new(),
        kinematics: k.iter().copied().chain(picture.state_rates()).collect(),
        lift: matrix::product(exprs, s, &inverse_matrix),
        lift_bias,
        metric: matrix::identity(u.len()),
        bodies: None,
        force,
        nonideal: matrix::times(exprs, &st, &picture.nonideal),
        jacobian: Jacobian { rows: Vec::new(), columns: u.len() },
        bias: Vec::new(),
        rows: Vec::new(),
        multipliers: Vec::new(),
        chart: Some(ChartBasis { chart: parametrised.chart.clone(), s: s.clone() }),
        canonical: None,
        bracket: None,
        configuration_residuals: picture.rows.configuration_residuals.clone(),
        velocity_residuals: Vec::new(),
        intermediate: parametrised.quantities(exprs),
    };
    // p as it is on the constraints, by (q, u, t): q̇ := S u + s₀.
    let velocities: Vec<(Symbol, ExprId)> =
        picture.velocities.iter().copied().zip(k.iter().copied()).collect();
    equations.substitute(exprs, &velocities);
    let momenta = exprs.substitute(&picture.momenta, &velocities);
    let reduced = matrix::times(exprs, &st, &momenta);
    if picture.quadratic && picture.auxiliary.is_none() {
        // u = (SᵀMS)⁻¹(p̃ − Sᵀ(M s₀ + m̃))
        let shifted = difference(&of_p, &picture::at_zero(exprs, &reduced, &u));
        let explicit = inverse.solve(exprs, &shifted);
        let replacements: Vec<(Symbol, ExprId)> = u.iter().copied().zip(explicit.clone()).collect();
        equations.substitute(exprs, &replacements);
        if parametrised.is_stationary && n <= LARGEST {
            let momenta = exprs.substitute(&momenta, &replacements);
            let h_r = match &system.energy {
                Energy::Lagrangian { lagrangian, .. } => {
                    let rest = picture::at_zero(exprs, &[*lagrangian], &picture.velocities)[0];
                    let row: Vec<(usize, ExprId)> = explicit.iter().copied().enumerate().collect();
                    let twice = exprs.at(matrix::dot(exprs, &row, &shifted));
                    (twice / exprs.integer(2) - exprs.at(rest)).id
                }
                Energy::Hamiltonian { hamiltonian, .. } => {
                    let own = system.momenta().into_iter().zip(momenta.iter().copied());
                    exprs.substitute(&[*hamiltonian], &own.collect::<Vec<_>>())[0]
                }
            };
            structure(exprs, picture, &parametrised, &mut equations, h_r, &momenta);
        }
    } else {
        // Sᵀp(q, u, t) = p̃ determines u; with H, H_p(q, p, t) = q̇ determines p too.
        let mut symbols = u.clone();
        let mut residuals = difference(&reduced, &of_p);
        let mut jacobian = exprs.jacobian(&residuals, &u);
        if let Some(more) = &picture.auxiliary {
            symbols.extend(&more.symbols);
            residuals.extend(exprs.substitute(&more.residuals, &velocities));
            jacobian = exprs.jacobian(&residuals, &symbols);
        }
        equations.auxiliary = Some(Auxiliary { symbols, residuals, jacobian });
    }
    Ok(equations)
}

/// F by J_r and H_r: the paper's own form, where it exists.
fn structure(
    exprs: &Exprs,
    picture: &Picture,
    parametrised: &Parametrised,
    equations: &mut EquationsOfMotion,
    h_r: ExprId,
    momenta: &[ExprId],
) {
    let (s, q) = (&parametrised.s, &picture.q);
    let (n, free) = (q.len(), s.columns);
    let st = matrix::transposed(s);
    let gradient = exprs.gradient(h_r, q);
    let u = exprs.gradient(h_r, &equations.v);
    let b = curvature(exprs, picture, parametrised, momenta);
    // p̃̇ = −Sᵀ ∂H_r/∂q + B ∂H_r/∂p̃ + Sᵀ Q′
    let impressed = {
        let k = equations.kinematics.iter().copied();
        let map: Vec<(Symbol, ExprId)> = picture.velocities.iter().copied().zip(k).collect();
        exprs.substitute(&picture.impressed, &map)
    };
    let outer: Vec<ExprId> =
        impressed.iter().zip(&gradient).map(|(&f, &h)| (exprs.at(f) - exprs.at(h)).id).collect();
    let along = matrix::times(exprs, &st, &outer);
    let turning = matrix::times(exprs, &b, &u);
    equations.force =
        along.iter().zip(&turning).map(|(&a, &b)| (exprs.at(a) + exprs.at(b)).id).collect();
    let rates_of_states = equations.kinematics.split_off(n);
    equations.kinematics = matrix::times(exprs, s, &u);
    equations.kinematics.extend(rates_of_states);

    let mut j_r = Jacobian { rows: vec![Vec::new(); n + free], columns: n + free };
    for (i, row) in s.rows.iter().enumerate() {
        j_r.rows[i] = row.iter().map(|&(j, e)| (n + j, e)).collect();
    }
    for (i, row) in st.rows.iter().enumerate() {
        j_r.rows[n + i] = row.iter().map(|&(j, e)| (j, (-exprs.at(e)).id)).collect();
        j_r.rows[n + i].extend(b.rows[i].iter().map(|&(j, e)| (n + j, e)));
    }
    let list = &mut equations.intermediate;
    list.push(picture::quantity("H_r", "H_r", "the energy on the constraints", Shape::Scalar(h_r)));
    let meaning = "the structure matrix, rows and columns (q, p̃)";
    list.push(picture::quantity("J_r", "J_r", meaning, Shape::Matrix(j_r.clone())));
    equations.bracket = Some(ReducedBracket { hamiltonian: h_r, structure: j_r });
}

/// B of J_r.
fn curvature(
    exprs: &Exprs,
    picture: &Picture,
    parametrised: &Parametrised,
    momenta: &[ExprId],
) -> Jacobian {
    let free = parametrised.s.columns;
    let zero = Jacobian { rows: vec![Vec::new(); free], columns: free };
    let Some(inverse) = Inverse::new(&matrix::transposed(&parametrised.a_d)) else { return zero };
    let p_d: Vec<ExprId> = parametrised.chart.columns.iter().map(|&d| momenta[d]).collect();
    let weights = inverse.solve(exprs, &p_d);
    let mut terms: Vec<Vec<Vec<ExprId>>> = vec![vec![Vec::new(); free]; free];
    for (row, &weight) in parametrised.a.rows.iter().zip(&weights) {
        let entries: Vec<ExprId> = row.iter().map(|e| e.1).collect();
        let slopes = exprs.jacobian(&entries, &picture.q);
        // Ω_ab = ∂_a A_b − ∂_b A_a
        let mut omega = Jacobian {
            rows: vec![Vec::new(); picture.q.len()],
            columns: picture.q.len(),
        };
        for (&(b, _), slope) in row.iter().zip(&slopes.rows) {
            for &(a, e) in slope.iter().filter(|&&(a, _)| a != b) {
                omega.rows[a].push((b, e));
                omega.rows[b].push((a, (-exprs.at(e)).id));
            }
        }
        let s = &parametrised.s;
        let turned =
            matrix::product(exprs, &matrix::transposed(s), &matrix::product(exprs, &omega, s));
        for (i, row) in turned.rows.iter().enumerate() {
            for &(j, e) in row.iter().filter(|&&(j, _)| j > i) {
                terms[i][j].push((exprs.at(weight) * exprs.at(e)).id);
            }
        }
    }
    let mut b = zero;
    for (i, row) in terms.iter().enumerate() {
        for (j, list) in row.iter().enumerate().skip(i + 1) {
            let value = exprs.sum(list);
            if value != ExprId::ZERO {
                b.rows[i].push((j, value));
                b.rows[j].push((i, (-exprs.at(value)).id));
            }
        }
    }
    b
}

/// `a.x` → `a.ptilde_x`.
fn reduced_name(coordinate: &str) -> String {
    match coordinate.rfind('.') {
        Some(dot) => format!("{}ptilde_{}", &coordinate[..=dot], &coordinate[dot + 1..]),
        None => format!("ptilde_{coordinate}"),
    }
}
