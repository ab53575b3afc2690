//! A system in Lagrange's variables q, q̇, t, whichever energy it is given by.
//!
//! ```text
//! by L:  p = L_q̇      M = L_q̇q̇       L_q         D p = p_q q̇ + p_t
//! by H:  H_p = q̇      M = H_pp⁻¹     L_q = −H_q   D p = −H_pp⁻¹(H_pq q̇ + H_pt)
//! ```
//!
//! and in both Q = L_q + Q′ − D p. For H quadratic in p the momenta are a `solve`
//! node; otherwise they are auxiliary unknowns with the equations H_p = q̇ (the
//! Legendre transformation, inverted by numbers).

use crate::bodies::{self, BodyTree};
use crate::equations::{Auxiliary, EquationsOfMotion, Quantity};
use crate::kernel::{self, Dual, Rows};
use crate::matrix::{self, Inverse};
use crate::parts::Variables;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, System};
use std::sync::Arc;

/// A system in q, q̇, t.
pub struct Picture {
    /// q.
    pub q: Vec<Symbol>,
    /// q̇.
    pub velocities: Vec<Symbol>,
    /// p behind q̇, where no formula gives them.
    pub auxiliary: Option<Auxiliary>,
    /// p.
    pub momenta: Vec<ExprId>,
    /// M.
    pub metric: Jacobian,
    /// M of bodies along a tree, of which `metric` then is the diagonal alone.
    pub bodies: Option<Arc<BodyTree>>,
    /// L_q.
    pub l_q: Vec<ExprId>,
    /// D p, with q̇ frozen.
    pub momentum_bias: Vec<ExprId>,
    /// Q′.
    pub impressed: Vec<ExprId>,
    /// Q = L_q + Q′ − D p.
    pub force: Vec<ExprId>,
    /// C.
    pub nonideal: Vec<ExprId>,
    /// A, b and the residuals.
    pub rows: Rows,
    /// The multipliers that Q′ and C depend on, by constraint.
    pub multipliers: Vec<(usize, Symbol)>,
    /// Whether M is free of q̇: L is quadratic in q̇.
    pub quadratic: bool,
    /// The rates of what changes by itself: t, states z, inputs where they are symbols.
    pub given: Vec<(Symbol, ExprId)>,
    /// The states z and their rates f.
    pub states: Vec<(Symbol, ExprId)>,
}

impl Picture {
    /// The picture of a system.
    pub fn new(exprs: &Exprs, system: &System) -> Result<Picture, Vec<Diagnostic>> {
        match &system.energy {
            Energy::Lagrangian { lagrangian, momenta, .. } => {
                Ok(of_lagrangian(exprs, system, *lagrangian, momenta, None))
            }
            Energy::Hamiltonian { hamiltonian, velocities } => {
                of_hamiltonian(exprs, system, *hamiltonian, velocities)
            }
        }
    }

    /// The same for what is done with numbers: a large M that would be dense is that of bodies along
    /// a tree, if it is.
    pub fn for_numbers(exprs: &Exprs, system: &System) -> Result<Picture, Vec<Diagnostic>> {
        Picture::with_bodies(exprs, system, BodyTree::of_large(exprs, system))
    }

    /// The same for rates that are asked for again and again: M is that of bodies where this is sooner
    /// done with.
    pub fn for_rates(exprs: &Exprs, system: &System) -> Result<Picture, Vec<Diagnostic>> {
        Picture::with_bodies(exprs, system, BodyTree::from(bodies::SLOW, exprs, system))
    }

    /// The same where M of any size is that of bodies along a tree, if it is.
    pub fn along_tree(exprs: &Exprs, system: &System) -> Result<Picture, Vec<Diagnostic>> {
        Picture::with_bodies(exprs, system, BodyTree::of(exprs, system))
    }

    fn with_bodies(
        exprs: &Exprs,
        system: &System,
        bodies: Option<BodyTree>,
    ) -> Result<Picture, Vec<Diagnostic>> {
        match (&system.energy, bodies) {
            (Energy::Lagrangian { lagrangian, momenta, .. }, Some(bodies)) => {
                Ok(of_lagrangian(exprs, system, *lagrangian, momenta, Some(bodies)))
            }
            _ => Picture::new(exprs, system),
        }
    }

    /// The rates of q, and of what changes by itself, for velocities k.
    pub fn rates(&self, k: &[ExprId]) -> Vec<(Symbol, ExprId)> {
        rates(&self.q, k, &self.given)
    }

    /// q, then the states.
    pub fn configuration(&self) -> Vec<Symbol> {
        self.q.iter().copied().chain(self.states.iter().map(|z| z.0)).collect()
    }

    /// The rates of the states.
    pub fn state_rates(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.states.iter().map(|z| z.1)
    }

    /// Whether a row restricts velocities in an affine way, a(q, t) q̇ + a_t = 0.
    pub fn is_affine(&self, system: &System, row: usize) -> bool {
        use dalembert_model::system::Level;
        let constraint = &system.constraints[row];
        match constraint.level {
            Level::Position => true,
            Level::Velocity => constraint.affine && self.auxiliary.is_none(),
            Level::Acceleration => false,
        }
    }

    /// Whether velocities may be chosen so that they satisfy a row by themselves: it is
    /// affine, and no force depends on its multiplier.
    pub fn is_solvable(&self, system: &System, row: usize) -> bool {
        self.is_affine(system, row) && self.multipliers.iter().all(|m| m.0 != row)
    }

    /// The normal form for velocities q̇ = k(q, v, t), with K = k_v and κ = D k:
    ///
    /// ```text
    /// Γ = KᵀMK,  F = Kᵀ(Q − M κ),  C → KᵀC,  A → A K,  b → b − A κ
    /// ```
    ///
    /// Every route in velocities is this one: K = I for Lagrange, W = G⁻¹ for
    /// Poincaré, S for Maggi.
    pub fn pull_back(&self, exprs: &Exprs, to: Velocities) -> EquationsOfMotion {
        let Velocities { formulation, variables, v, own, kinematics, lift, lift_bias } = to;
        let transposed = matrix::transposed(&lift);
        let m_kappa = matrix::times(exprs, &self.metric, &lift_bias);
        let right: Vec<ExprId> = self
            .force
            .iter()
            .zip(&m_kappa)
            .map(|(&q, &m)| (exprs.at(q) - exprs.at(m)).id)
            .collect();
        let a_kappa = matrix::times(exprs, &self.rows.jacobian, &lift_bias);
        let mut equations = EquationsOfMotion {
            formulation,
            variables,
            q: self.configuration(),
            states: self.states.len(),
            v,
            own,
            auxiliary: self.auxiliary.clone(),
            levels: Vec::new(),
            metric: matrix::congruence(exprs, &lift, &self.metric),
            bodies: None,
            force: matrix::times(exprs, &transposed, &right),
            nonideal: matrix::times(exprs, &transposed, &self.nonideal),
            jacobian: matrix::product(exprs, &self.rows.jacobian, &lift),
            bias: self
                .rows
                .bias
                .iter()
                .zip(&a_kappa)
                .map(|(&b, &a)| (exprs.at(b) - exprs.at(a)).id)
                .collect(),
            rows: (0..self.rows.bias.len()).collect(),
            multipliers: self.multipliers.clone(),
            chart: None,
            canonical: None,
            bracket: None,
            configuration_residuals: self.rows.configuration_residuals.clone(),
            velocity_residuals: self.rows.velocity_residuals.clone(),
            kinematics: {
                let velocities = self.velocities.iter().map(|&s| exprs.of_symbol(s));
                velocities.chain(self.state_rates()).collect()
            },
            lift,
            lift_bias,
            intermediate: Vec::new(),
        };
        let replacements: Vec<(Symbol, ExprId)> =
            self.velocities.iter().copied().zip(kinematics).collect();
        equations.substitute(exprs, &replacements);
        equations
    }
}

/// How a formulation writes the velocities: q̇ = k(q, v, t).
pub struct Velocities {
    /// The formulation's name.
    pub formulation: &'static str,
    /// What v is.
    pub variables: Variables,
    /// v.
    pub v: Vec<Symbol>,
    /// v in terms of q, q̇, t.
    pub own: Vec<ExprId>,
    /// k, in q, v, t.
    pub kinematics: Vec<ExprId>,
    /// K, in q, t (and q̇, which is replaced).
    pub lift: Jacobian,
    /// κ, in q, v, t (and q̇, which is replaced).
    pub lift_bias: Vec<ExprId>,
}

/// The rates of q for velocities k, and of what changes by itself
/// ([`System::rates`]).
pub fn rates(q: &[Symbol], k: &[ExprId], given: &[(Symbol, ExprId)]) -> Vec<(Symbol, ExprId)> {
    q.iter().copied().zip(k.iter().copied()).chain(given.iter().copied()).collect()
}

/// The values of expressions where symbols are 0.
pub fn at_zero(exprs: &Exprs, roots: &[ExprId], symbols: &[Symbol]) -> Vec<ExprId> {
    let zero: rustc_hash::FxHashSet<Symbol> = symbols.iter().copied().collect();
    exprs.substitute_with(roots, |s| zero.contains(&s).then_some(ExprId::ZERO))
}

/// A quantity for the reader.
pub fn quantity(
    text: &'static str,
    latex: &'static str,
    meaning: &'static str,
    value: crate::equations::Shape,
) -> Quantity {
    Quantity { text, latex, meaning, value }
}

fn of_lagrangian(
    exprs: &Exprs,
    system: &System,
    lagrangian: ExprId,
    momenta: &[ExprId],
    bodies: Option<BodyTree>,
) -> Picture {
    let n = system.n_coordinates();
    let (q, v, a) = (system.positions(), system.velocities(), system.accelerations());
    let k: Vec<ExprId> = v.iter().map(|&s| exprs.of_symbol(s)).collect();
    let given = system.rates(exprs);
    let rates = rates(&q, &k, &given);
    let metric = match &bodies {
        Some(bodies) => bodies.diagonal_matrix(),
        None => matrix::symmetric(exprs.jacobian(momenta, &v)),
    };
    // Q = L_q + Q′ − D p: docs/notation.md (2.1).
    let l_q = exprs.gradient(lagrangian, &q);
    let momentum_bias = exprs.directional(momenta, &rates);
    let impressed = kernel::total(exprs, n, &system.forces);
    // The same of what is left of L beside bodies, whose own part is a recursion along them.
    let along_tree = bodies.as_ref().and_then(|tree| bodies::force(exprs, system, tree));
    let force = match along_tree {
        Some(of_bodies) => {
            let tree = &system.tree;
            let others = exprs.sum(&tree.others);
            let left = (exprs.at(others) - exprs.at(exprs.sum(&tree.potentials))).id;
            let momenta = exprs.gradient(others, &v);
            let bias = exprs.directional(&momenta, &rates);
            let rest = force(exprs, &exprs.gradient(left, &q), &impressed, &bias);
            let both = rest.iter().zip(&of_bodies);
            both.map(|(&a, &b)| (exprs.at(a) + exprs.at(b)).id).collect()
        }
        None => force(exprs, &l_q, &impressed, &momentum_bias),
    };
    Picture {
        force,
        auxiliary: None,
        momenta: momenta.to_vec(),
        quadratic: bodies.is_some() || matrix::is_free_of(exprs, &metric, &v),
        metric,
        bodies: bodies.map(Arc::new),
        l_q,
        momentum_bias,
        impressed,
        nonideal: kernel::total(exprs, n, &system.nonideal),
        rows: kernel::differentiate(exprs, system, &v, &a, &rates, None),
        multipliers: kernel::multipliers_in_forces(exprs, system),
        states: states(system),
        given,
        q,
        velocities: v,
    }
}

fn states(system: &System) -> Vec<(Symbol, ExprId)> {
    system.states.iter().map(|z| (z.symbol, z.rate)).collect()
}

fn of_hamiltonian(
    exprs: &Exprs,
    system: &System,
    hamiltonian: ExprId,
    h_p: &[ExprId],
) -> Result<Picture, Vec<Diagnostic>> {
    let n = system.n_coordinates();
    let (q, v) = (system.positions(), system.velocities());
    let (p, p_dot) = (system.momenta(), system.momentum_rates());
    let k: Vec<ExprId> = v.iter().map(|&s| exprs.of_symbol(s)).collect();
    let h_pp = matrix::symmetric(exprs.jacobian(h_p, &p));
    let Some(inverse) = Inverse::new(&h_pp) else {
        return Err(kernel::not_applicable(
            system,
            "H_pp is singular for every state, so velocities do not determine the momenta",
        ));
    };
    // H_p(q, p, t) = q̇ with q̇ frozen: H_pq q̇ + H_pt + H_pp D p = 0.
    let given = system.rates(exprs);
    let mut rates = rates(&q, &k, &given);
    let moved: Vec<ExprId> =
        exprs.directional(h_p, &rates).into_iter().map(|e| (-exprs.at(e)).id).collect();
    let momentum_bias = inverse.solve(exprs, &moved);
    rates.extend(p.iter().copied().zip(momentum_bias.iter().copied()));
    let l_q: Vec<ExprId> =
        exprs.gradient(hamiltonian, &q).into_iter().map(|e| (-exprs.at(e)).id).collect();
    let impressed = kernel::total(exprs, n, &system.forces);
    let metric = matrix::symmetric(inverse.matrix(exprs));
    let quadratic = matrix::is_free_of(exprs, &h_pp, &p);
    let dual = Dual { symbols: p.clone(), matrix: inverse, bias: momentum_bias.clone() };
    let rows = kernel::differentiate(exprs, system, &v, &p_dot, &rates, Some(&dual));
    let residuals: Vec<ExprId> =
        h_p.iter().zip(&k).map(|(&h, &v)| (exprs.at(h) - exprs.at(v)).id).collect();
    let mut picture = Picture {
        force: force(exprs, &l_q, &impressed, &momentum_bias),
        momenta: p.iter().map(|&s| exprs.of_symbol(s)).collect(),
        metric,
        bodies: None,
        l_q,
        momentum_bias,
        impressed,
        nonideal: kernel::total(exprs, n, &system.nonideal),
        rows,
        multipliers: kernel::multipliers_in_forces(exprs, system),
        q,
        velocities: v,
        quadratic,
        auxiliary: None,
        states: states(system),
        given,
    };
    if quadratic {
        // p = H_pp⁻¹(q̇ − H_p|p=0)
        let offset = at_zero(exprs, h_p, &p);
        let right: Vec<ExprId> =
            k.iter().zip(&offset).map(|(&v, &o)| (exprs.at(v) - exprs.at(o)).id).collect();
        let momenta = dual.matrix.solve(exprs, &right);
        picture.substitute(exprs, &p.iter().copied().zip(momenta).collect::<Vec<_>>());
    } else {
        picture.auxiliary = Some(Auxiliary { symbols: p, residuals, jacobian: h_pp });
    }
    Ok(picture)
}

fn force(exprs: &Exprs, l_q: &[ExprId], impressed: &[ExprId], bias: &[ExprId]) -> Vec<ExprId> {
    (0..l_q.len())
        .map(|i| (exprs.at(l_q[i]) + exprs.at(impressed[i]) - exprs.at(bias[i])).id)
        .collect()
}

impl Picture {
    fn substitute(&mut self, exprs: &Exprs, replacements: &[(Symbol, ExprId)]) {
        let mut lists: Vec<&mut ExprId> = Vec::new();
        lists.extend(&mut self.momenta);
        lists.extend(self.metric.rows.iter_mut().flatten().map(|e| &mut e.1));
        lists.extend(&mut self.l_q);
        lists.extend(&mut self.momentum_bias);
        lists.extend(&mut self.impressed);
        lists.extend(&mut self.force);
        lists.extend(&mut self.nonideal);
        lists.extend(self.rows.jacobian.rows.iter_mut().flatten().map(|e| &mut e.1));
        lists.extend(&mut self.rows.bias);
        lists.extend(self.rows.configuration_residuals.iter_mut().map(|e| &mut e.1));
        lists.extend(self.rows.velocity_residuals.iter_mut().map(|e| &mut e.1));
        lists.extend(self.given.iter_mut().chain(&mut self.states).map(|e| &mut e.1));
        let old: Vec<ExprId> = lists.iter().map(|e| **e).collect();
        for (place, new) in lists.into_iter().zip(exprs.substitute(&old, replacements)) {
            *place = new;
        }
    }
}
