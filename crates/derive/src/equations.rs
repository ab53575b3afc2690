//! The normal form that all formulations share.

use crate::bodies::BodyTree;
use crate::parts::{Canonical, ChartBasis, ReducedBracket, Variables};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use std::sync::Arc;

/// Where a formulation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Author and year.
    pub work: &'static str,
    /// The equations used, by number.
    pub equations: &'static str,
}

/// q̇ = k(q, v, t), Γ v̇ = F + C + Aᵀλ, A v̇ = b, where F and C may depend on λ.
#[derive(Clone, Debug)]
pub struct EquationsOfMotion {
    /// The formulation's name.
    pub formulation: &'static str,
    /// What v is.
    pub variables: Variables,
    /// The coordinates q, then the states z.
    pub q: Vec<Symbol>,
    /// How many of them are states: they have rates, and neither velocities nor displacements.
    pub states: usize,
    /// The velocity-like unknowns v: q̇, s, p, u, p̃, or q̇ and β.
    pub v: Vec<Symbol>,
    /// v at a state, in terms of q, q̇, p and t.
    pub own: Vec<ExprId>,
    /// Further unknowns that q, v and t determine by equations of their own.
    pub auxiliary: Option<Auxiliary>,
    /// Constants of the motion that are read off the state, in terms of q, q̇, p
    /// and t: by how much it misses the velocity constraints that a chart solves.
    /// 0 on the constraints.
    pub levels: Vec<(Symbol, ExprId)>,
    /// k: the rates of q and z in terms of (q, z, v, t).
    pub kinematics: Vec<ExprId>,
    /// K of q̈ = K v̇ + κ.
    pub lift: Jacobian,
    /// κ of q̈ = K v̇ + κ.
    pub lift_bias: Vec<ExprId>,
    /// Γ, symmetric.
    pub metric: Jacobian,
    /// Γ of bodies along a tree, of which `metric` then is the diagonal alone.
    pub bodies: Option<Arc<BodyTree>>,
    /// F.
    pub force: Vec<ExprId>,
    /// C, the non-ideal part of the constraint force.
    pub nonideal: Vec<ExprId>,
    /// A, a row for each constraint that is left.
    pub jacobian: Jacobian,
    /// b.
    pub bias: Vec<ExprId>,
    /// The constraint of the system that each row of A belongs to.
    pub rows: Vec<usize>,
    /// The multipliers that F and C depend on, by constraint: friction goes by the
    /// force of the constraint it acts at. Each is the multiplier of a row of A, and
    /// v̇ and λ are solved for together.
    pub multipliers: Vec<(usize, Symbol)>,
    /// The constraints that are built into v instead, and the coordinates whose
    /// velocities they give.
    pub chart: Option<ChartBasis>,
    /// H and ṗ without constraints, where v is p.
    pub canonical: Option<Canonical>,
    /// H_r and J_r, where v is p̃ and there is a J_r.
    pub bracket: Option<ReducedBracket>,
    /// (constraint, φ): position-level constraints as written.
    pub configuration_residuals: Vec<(usize, ExprId)>,
    /// (constraint, ψ): velocity-level constraints and the rates of
    /// position-level ones, as far as v does not satisfy them by itself.
    pub velocity_residuals: Vec<(usize, ExprId)>,
    /// What the formulation made on the way, for the reader alone.
    pub intermediate: Vec<Quantity>,
}

/// Threads may share equations.
const _: fn() = || {
    fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<EquationsOfMotion>();
};

/// Unknowns w determined by r(w; q, v, t) = 0: the velocities behind momenta, or
/// the momenta behind velocities, where no formula gives them.
#[derive(Clone, Debug)]
pub struct Auxiliary {
    /// w.
    pub symbols: Vec<Symbol>,
    /// r.
    pub residuals: Vec<ExprId>,
    /// ∂r/∂w, regular.
    pub jacobian: Jacobian,
}

/// A named quantity on the way to the equations.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// Its letter as text.
    pub text: &'static str,
    /// Its letter in LaTeX.
    pub latex: &'static str,
    /// What it is, in words.
    pub meaning: &'static str,
    /// Its entries.
    pub value: Shape,
}

/// The shape of a quantity.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A number.
    Scalar(ExprId),
    /// A column.
    Vector(Vec<ExprId>),
    /// A matrix.
    Matrix(Jacobian),
}

impl EquationsOfMotion {
    /// All expressions of the normal form, to count or compile them together.
    pub fn roots(&self) -> Vec<ExprId> {
        let mut copy = Vec::new();
        self.clone().each(&mut |list| copy.extend_from_slice(list));
        copy
    }

    /// How many coordinates there are.
    pub fn n_coordinates(&self) -> usize {
        self.q.len() - self.states
    }

    /// The coordinates, without the states.
    pub fn positions(&self) -> &[Symbol] {
        &self.q[..self.n_coordinates()]
    }

    /// How many distinct nodes they consist of.
    pub fn count_nodes(&self, exprs: &Exprs) -> usize {
        exprs.count_nodes(&self.roots())
    }

    /// The row of A that each of [`multipliers`](Self::multipliers) belongs to.
    pub fn multiplier_rows(&self) -> Vec<Option<usize>> {
        let row_of = |constraint: usize| self.rows.iter().position(|&row| row == constraint);
        self.multipliers.iter().map(|m| row_of(m.0)).collect()
    }

    /// The equations on the constraints: with all [`levels`](Self::levels) 0.
    pub fn on_constraints(&self, exprs: &Exprs) -> EquationsOfMotion {
        let mut copy = self.clone();
        let zero: Vec<(Symbol, ExprId)> =
            copy.levels.drain(..).map(|level| (level.0, ExprId::ZERO)).collect();
        copy.substitute(exprs, &zero);
        copy
    }

    /// Replaces symbols in everything but [`own`](Self::own) and
    /// [`levels`](Self::levels), which speak of q, q̇ and p themselves.
    pub(crate) fn substitute(&mut self, exprs: &Exprs, replacements: &[(Symbol, ExprId)]) {
        if replacements.is_empty() {
            return;
        }
        // All at once, so that what they share is replaced once.
        let new = exprs.substitute(&self.roots(), replacements);
        let mut next = new.into_iter();
        self.each(&mut |list| {
            for place in list {
                *place = next.next().unwrap_or(*place);
            }
        });
    }

    /// Visits every expression of the normal form.
    fn each(&mut self, visit: &mut dyn FnMut(&mut [ExprId])) {
        let matrix = |m: &mut Jacobian, visit: &mut dyn FnMut(&mut [ExprId])| {
            for row in &mut m.rows {
                let mut list: Vec<ExprId> = row.iter().map(|e| e.1).collect();
                visit(&mut list);
                row.iter_mut().zip(list).for_each(|(entry, value)| entry.1 = value);
            }
        };
        visit(&mut self.kinematics);
        matrix(&mut self.lift, visit);
        visit(&mut self.lift_bias);
        matrix(&mut self.metric, visit);
        if let Some(bodies) = &mut self.bodies {
            Arc::make_mut(bodies).each(visit);
        }
        visit(&mut self.force);
        visit(&mut self.nonideal);
        matrix(&mut self.jacobian, visit);
        visit(&mut self.bias);
        if let Some(auxiliary) = &mut self.auxiliary {
            visit(&mut auxiliary.residuals);
            matrix(&mut auxiliary.jacobian, visit);
        }
        if let Some(chart) = &mut self.chart {
            matrix(&mut chart.s, visit);
        }
        if let Some(canonical) = &mut self.canonical {
            visit(std::slice::from_mut(&mut canonical.hamiltonian));
            visit(&mut canonical.force);
        }
        if let Some(bracket) = &mut self.bracket {
            visit(std::slice::from_mut(&mut bracket.hamiltonian));
            matrix(&mut bracket.structure, visit);
        }
        for list in [&mut self.configuration_residuals, &mut self.velocity_residuals] {
            let mut values: Vec<ExprId> = list.iter().map(|r| r.1).collect();
            visit(&mut values);
            list.iter_mut().zip(values).for_each(|(entry, value)| entry.1 = value);
        }
        for quantity in &mut self.intermediate {
            match &mut quantity.value {
                Shape::Scalar(value) => visit(std::slice::from_mut(value)),
                Shape::Vector(list) => visit(list),
                Shape::Matrix(m) => matrix(m, visit),
            }
        }
    }
}
