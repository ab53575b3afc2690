//! Routh's equations: ignorable coordinates leave, their momenta β stay.
//!
//! ```text
//! β = L_q̇c,   R(q_n, q̇_n, β, t) = L − β·q̇_c
//! d/dt R_q̇n − R_qn = Q′ + Aᵀλ + C,   β̇ = 0,   q̇_c = −∂R/∂β
//! ```
//!
//! Greenwood (2.179)–(2.186). R plays the role of L for the coordinates that are
//! kept; it has terms linear in and free of velocities even where L has none. v is
//! (q̇_n, β). A coordinate q_c can be ignored if L does not depend on it, no force
//! and no non-ideal part acts on it, no constraint holds its velocity, and no
//! force or constraint depends on it; which of these fails is said by name. M_cc
//! must be regular. For L quadratic in the velocities R is formed and
//! differentiated; otherwise the same equations come by K and κ of q̈ = K v̇ + κ.

use super::{Choices, Formulation};
use crate::equations::{Auxiliary, EquationsOfMotion, Shape, Source};
use crate::kernel;
use crate::matrix::{self, Inverse};
use crate::parts::Variables;
use crate::picture::{self, Picture, Velocities};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, System};

/// Routh's equations.
pub struct Routh;

/// The member of the list.
pub const FORMULATION: Routh = Routh;

impl Formulation for Routh {
    fn name(&self) -> &'static str {
        "routh"
    }

    fn source(&self) -> Source {
        Source { work: "Greenwood, Advanced Dynamics, ch. 2", equations: "(2.179)–(2.186)" }
    }

    fn heading(&self) -> &'static str {
        "Routh's equations"
    }

    fn variables(&self) -> Variables {
        Variables::VelocitiesAndMomenta
    }

    fn derive(
        &self,
        exprs: &Exprs,
        system: &System,
        choices: &Choices,
    ) -> Result<EquationsOfMotion, Vec<Diagnostic>> {
        let picture = Picture::new(exprs, system)?;
        if picture.auxiliary.is_some() {
            return Err(kernel::not_applicable(
                system,
                "Routh's equations need a Lagrangian, and this H, not quadratic in the momenta, has none in closed form",
            ));
        }
        let ignored = ignored(exprs, system, &picture, choices)?;
        let split = Split::new(&picture, ignored);
        let m_cc = matrix::part(&picture.metric, &split.ignored, &split.ignored);
        let Some(inverse) = Inverse::new(&m_cc) else {
            return Err(kernel::not_applicable(
                system,
                "the momenta of the ignored coordinates do not determine their velocities",
            ));
        };
        let mut equations = match &system.energy {
            Energy::Lagrangian { lagrangian, .. } if picture.quadratic => {
                routhian(exprs, system, &picture, &split, &inverse, *lagrangian)
            }
            _ => projected(exprs, system, &picture, &split, &inverse, &m_cc),
        };
        // Nothing depends on the ignored coordinates, whatever it looks like.
        let gone: Vec<(Symbol, ExprId)> =
            split.ignored.iter().map(|&c| (picture.q[c], ExprId::ZERO)).collect();
        equations.substitute(exprs, &gone);
        Ok(equations)
    }
}

/// Which coordinates are kept and which ignored.
struct Split {
    kept: Vec<usize>,
    ignored: Vec<usize>,
    kept_velocities: Vec<Symbol>,
    ignored_velocities: Vec<Symbol>,
}

impl Split {
    fn new(picture: &Picture, ignored: Vec<usize>) -> Split {
        let kept: Vec<usize> = (0..picture.q.len()).filter(|i| !ignored.contains(i)).collect();
        let of = |list: &[usize]| list.iter().map(|&i| picture.velocities[i]).collect();
        Split { kept_velocities: of(&kept), ignored_velocities: of(&ignored), kept, ignored }
    }

    /// The momenta that replace the ignored coordinates.
    fn beta(&self, system: &System) -> Vec<Symbol> {
        self.ignored.iter().map(|&c| system.coordinates[c].momentum).collect()
    }

    /// v = (q̇_n, β).
    fn unknowns(&self, system: &System) -> Vec<Symbol> {
        let mut v = self.kept_velocities.clone();
        v.extend(self.beta(system));
        v
    }

    /// A vector of (kept, ignored) parts in the order of the coordinates.
    fn join(&self, kept: &[ExprId], ignored: &[ExprId]) -> Vec<ExprId> {
        let mut all = vec![ExprId::ZERO; kept.len() + ignored.len()];
        self.kept.iter().zip(kept).for_each(|(&i, &e)| all[i] = e);
        self.ignored.iter().zip(ignored).for_each(|(&i, &e)| all[i] = e);
        all
    }
}

/// R formed and differentiated as a Lagrangian.
fn routhian(
    exprs: &Exprs,
    system: &System,
    picture: &Picture,
    split: &Split,
    inverse: &Inverse,
    lagrangian: ExprId,
) -> EquationsOfMotion {
    let beta: Vec<ExprId> = split.beta(system).iter().map(|&s| exprs.of_symbol(s)).collect();
    let p_c: Vec<ExprId> = split.ignored.iter().map(|&c| picture.momenta[c]).collect();
    let rest = picture::at_zero(exprs, &p_c, &split.ignored_velocities);
    let right: Vec<ExprId> =
        beta.iter().zip(&rest).map(|(&b, &r)| (exprs.at(b) - exprs.at(r)).id).collect();
    // q̇_c = M_cc⁻¹(β − m̃_c − M_cn q̇_n)
    let w = inverse.solve(exprs, &right);
    let map: Vec<(Symbol, ExprId)> =
        split.ignored_velocities.iter().copied().zip(w.iter().copied()).collect();
    let row: Vec<(usize, ExprId)> = beta.iter().copied().enumerate().collect();
    let l = exprs.at(exprs.substitute(&[lagrangian], &map)[0]);
    let r = (l - exprs.at(matrix::dot(exprs, &row, &w))).id;

    let kept: Vec<ExprId> = split.kept_velocities.iter().map(|&s| exprs.of_symbol(s)).collect();
    let kinematics = split.join(&kept, &w);
    let rates = picture.rates(&kinematics);
    let q_n: Vec<Symbol> = split.kept.iter().map(|&i| picture.q[i]).collect();
    let momenta = exprs.gradient(r, &split.kept_velocities);
    let r_q = exprs.gradient(r, &q_n);
    let bias = exprs.directional(&momenta, &rates);
    let size = split.kept.len() + split.ignored.len();
    let mut metric = matrix::symmetric(exprs.jacobian(&momenta, &split.kept_velocities));
    metric.columns = size;
    for at in split.kept.len()..size {
        metric.rows.push(vec![(at, ExprId::ONE)]);
    }
    let v = split.unknowns(system);
    let on = |list: &[ExprId]| exprs.substitute(list, &map);
    let (impressed, nonideal) = (on(&picture.impressed), on(&picture.nonideal));
    let mut force: Vec<ExprId> = (0..split.kept.len())
        .map(|at| {
            let outer = exprs.at(impressed[split.kept[at]]);
            (exprs.at(r_q[at]) + outer - exprs.at(bias[at])).id
        })
        .collect();
    force.resize(size, ExprId::ZERO);
    let mut c: Vec<ExprId> = split.kept.iter().map(|&i| nonideal[i]).collect();
    c.resize(size, ExprId::ZERO);
    let rows: Vec<usize> = (0..picture.rows.bias.len()).collect();
    let mut jacobian = matrix::part(&picture.rows.jacobian, &rows, &split.kept);
    jacobian.columns = size;
    let mut equations = EquationsOfMotion {
        formulation: "routh",
        variables: Variables::VelocitiesAndMomenta,
        q: picture.configuration(),
        states: picture.states.len(),
        own: v.iter().map(|&s| exprs.of_symbol(s)).collect(),
        auxiliary: None,
        levels: Vec::new(),
        lift: exprs.jacobian(&kinematics, &v),
        lift_bias: exprs.directional(&kinematics, &rates),
        v,
        kinematics: kinematics.into_iter().chain(picture.state_rates()).collect(),
        metric,
        bodies: None,
        force,
        nonideal: c,
        jacobian,
        bias: picture.rows.bias.clone(),
        rows,
        multipliers: picture.multipliers.clone(),
        chart: None,
        canonical: None,
        bracket: None,
        configuration_residuals: picture.rows.configuration_residuals.clone(),
        velocity_residuals: picture.rows.velocity_residuals.clone(),
        intermediate: vec![picture::quantity("R", "R", "the Routhian, L − β·q̇_c", Shape::Scalar(r))],
    };
    equations.substitute(exprs, &map);
    equations
}

/// The same equations by K = [[I, 0], [−M_cc⁻¹M_cn, M_cc⁻¹]] and κ = [0; −M_cc⁻¹ D p_c].
fn projected(
    exprs: &Exprs,
    system: &System,
    picture: &Picture,
    split: &Split,
    inverse: &Inverse,
    m_cc: &Jacobian,
) -> EquationsOfMotion {
    let (n_kept, n) = (split.kept.len(), picture.q.len());
    let negative = |id: ExprId| (-exprs.at(id)).id;
    let m_cn = matrix::part(&picture.metric, &split.ignored, &split.kept);
    let coupling = inverse.solve_matrix(exprs, &m_cn);
    let own = inverse.matrix(exprs);
    let mut lift = Jacobian { rows: vec![Vec::new(); n], columns: n };
    split.kept.iter().enumerate().for_each(|(at, &i)| lift.rows[i] = vec![(at, ExprId::ONE)]);
    for (at, &c) in split.ignored.iter().enumerate() {
        lift.rows[c] = coupling.rows[at].iter().map(|&(j, e)| (j, negative(e))).collect();
        lift.rows[c].extend(own.rows[at].iter().map(|&(j, e)| (n_kept + j, e)));
    }
    let moved: Vec<ExprId> =
        split.ignored.iter().map(|&c| negative(picture.momentum_bias[c])).collect();
    let lift_bias = split.join(&vec![ExprId::ZERO; n_kept], &inverse.solve(exprs, &moved));
    let v = split.unknowns(system);
    let beta: Vec<ExprId> = split.beta(system).iter().map(|&s| exprs.of_symbol(s)).collect();
    let p_c: Vec<ExprId> = split.ignored.iter().map(|&c| picture.momenta[c]).collect();
    let kept: Vec<ExprId> = split.kept_velocities.iter().map(|&s| exprs.of_symbol(s)).collect();
    let w: Vec<ExprId> = if picture.quadratic {
        let rest = picture::at_zero(exprs, &p_c, &split.ignored_velocities);
        let right: Vec<ExprId> =
            beta.iter().zip(&rest).map(|(&b, &r)| (exprs.at(b) - exprs.at(r)).id).collect();
        inverse.solve(exprs, &right)
    } else {
        split.ignored_velocities.iter().map(|&s| exprs.of_symbol(s)).collect()
    };
    let mut equations = picture.pull_back(
        exprs,
        Velocities {
            formulation: "routh",
            variables: Variables::VelocitiesAndMomenta,
            own: v.iter().map(|&s| exprs.of_symbol(s)).collect(),
            v,
            kinematics: split.join(&kept, &w),
            lift,
            lift_bias,
        },
    );
    if !picture.quadratic {
        let residuals =
            p_c.iter().zip(&beta).map(|(&p, &b)| (exprs.at(p) - exprs.at(b)).id).collect();
        let symbols = split.ignored_velocities.clone();
        equations.auxiliary = Some(Auxiliary { symbols, residuals, jacobian: m_cc.clone() });
    }
    equations
}

/// The coordinates to ignore: those named, each of which must qualify, or all
/// that do.
fn ignored(
    exprs: &Exprs,
    system: &System,
    picture: &Picture,
    choices: &Choices,
) -> Result<Vec<usize>, Vec<Diagnostic>> {
    if let Some(named) = &choices.ignored {
        for &c in named {
            if let Some(why) = obstacle(exprs, system, picture, c) {
                let name = &system.coordinates[c].name;
                return Err(kernel::not_applicable(
                    system,
                    format!("Routh's equations cannot ignore `{name}`: {why}"),
                ));
            }
        }
        if named.is_empty() {
            return Err(kernel::not_applicable(system, "no coordinate is named to be ignored"));
        }
        return Ok(named.clone());
    }
    let mut first = None;
    let mut found = Vec::new();
    for c in 0..system.n_coordinates() {
        match obstacle(exprs, system, picture, c) {
            None => found.push(c),
            // The reason worth telling is that of a coordinate that is absent
            // from L at least.
            Some(why) => {
                let absent = exprs.is_zero(picture.l_q[c]).is_zero();
                if first.is_none() || (absent && !matches!(first, Some((_, _, true)))) {
                    first = Some((c, why, absent));
                }
            }
        }
    }
    if found.is_empty() {
        let message = match first {
            Some((c, why, true)) => format!(
                "Routh's equations do not apply: `{}` is absent from L, but {why}",
                system.coordinates[c].name
            ),
            _ => "Routh's equations do not apply: L depends on every coordinate".to_owned(),
        };
        return Err(kernel::not_applicable(system, message));
    }
    Ok(found)
}

/// Why a coordinate cannot be ignored; `None` if it can.
fn obstacle(exprs: &Exprs, system: &System, picture: &Picture, c: usize) -> Option<String> {
    let zero = |id: ExprId| exprs.is_zero(id).is_zero();
    if !zero(picture.l_q[c]) {
        return Some("L depends on it".to_owned());
    }
    if !zero(picture.impressed[c]) {
        return Some("a force acts on it".to_owned());
    }
    if !zero(picture.nonideal[c]) {
        return Some("a non-ideal force acts on it".to_owned());
    }
    for (row, constraint) in picture.rows.jacobian.rows.iter().zip(&system.constraints) {
        if row.iter().any(|&(j, e)| j == c && !zero(e)) {
            return Some(format!("constraint `{}` holds its velocity", constraint.name));
        }
    }
    let symbol = picture.q[c];
    let depends = |id: ExprId| !zero(exprs.derivative(id, symbol));
    for constraint in &system.constraints {
        if depends(constraint.residual) {
            return Some(format!("constraint `{}` depends on it", constraint.name));
        }
    }
    if let Some(state) = system.states.iter().find(|z| depends(z.rate)) {
        return Some(format!("the rate of state `{}` depends on it", state.name));
    }
    let outer = picture.impressed.iter().chain(&picture.nonideal);
    outer.copied().any(depends).then(|| "a force depends on it".to_owned())
}
