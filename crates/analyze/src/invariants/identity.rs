//! The generalised Noether identity as expressions.
//!
//! For a field ξ(q, t), τ ∈ {0, 1} and a function f(q, t), along every motion
//! M q̈ = Q + Qᶜ with Qᶜ = Aᵀλ + C,
//!
//! ```text
//! d/dt(pᵀξ − τE − f) = τ L_t + ξᵀ(L_q + Q′ + C) + ξ̇ᵀp − τ q̇ᵀ(Q′ + C) − ḟ + λᵀA(ξ − τ q̇)   (5.3)
//! ```
//!
//! with E = q̇ᵀp − L. It follows from ṗ = L_q + Q′ + Qᶜ and Ė = −L_t + q̇ᵀ(Q′ + Qᶜ), and
//! needs no regularity of M. pᵀξ − τE − f is an integral if everything in front of
//! λ vanishes on the constraints, and A(ξ − τ q̇) too: for rows a q̇ + a_t = 0 that is
//! a ξ + τ a_t = 0. These conditions are sufficient. They are not necessary: the
//! force of a constraint may happen to do no work on ξ.
//!
//! A system given by H is taken in q, p, t: q̇ = H_p, L_q = −H_q, L_t = −H_t, E = H.

use dalembert_derive::picture::{self, Picture};
use dalembert_derive::{kernel, matrix};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::diagnostic::Diagnostic;
use dalembert_model::system::{Energy, Level, Model, System};

/// ξ, τ and f of one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// ξ, by coordinate.
    pub field: Vec<ExprId>,
    /// Whether τ = 1.
    pub with_energy: bool,
    /// f.
    pub gauge: ExprId,
}

impl Generator {
    /// The energy: τ = 1, ξ = 0.
    pub fn energy(n: usize) -> Generator {
        Generator { field: vec![ExprId::ZERO; n], with_energy: true, gauge: ExprId::ZERO }
    }

    /// The momentum of one coordinate: τ = 0, ξ = e_i.
    pub fn momentum(n: usize, i: usize) -> Generator {
        let mut field = vec![ExprId::ZERO; n];
        field[i] = ExprId::ONE;
        Generator { field, with_energy: false, gauge: ExprId::ZERO }
    }
}

/// What must vanish for a generator to give an integral.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Everything in front of λ.
    pub power: ExprId,
    /// A(ξ − τ q̇) by row; for affine rows a ξ + τ a_t.
    pub rows: Vec<ExprId>,
}

/// The ingredients of (5.3), in the variables the model is written in.
pub struct Identity<'m> {
    /// The arena.
    pub exprs: &'m Exprs,
    /// The system.
    pub system: &'m System,
    /// q.
    pub q: Vec<Symbol>,
    /// q̇, or p in a system given by H.
    pub rates: Vec<Symbol>,
    /// q̇.
    pub velocities: Vec<ExprId>,
    /// p.
    pub momenta: Vec<ExprId>,
    /// L_q.
    pub l_q: Vec<ExprId>,
    /// L_t, with what states do to L.
    pub l_t: ExprId,
    /// Q′.
    pub impressed: Vec<ExprId>,
    /// C.
    pub nonideal: Vec<ExprId>,
    /// E.
    pub energy: ExprId,
    /// M.
    pub metric: Jacobian,
    /// A.
    pub jacobian: Jacobian,
    /// A q̇ by row, on the constraints: −a_t for affine rows, 0 for rows that are
    /// homogeneous in the velocities.
    pub drag: Vec<ExprId>,
    /// φ, φ̇ and ψ: what is 0 on the constraints, position level first.
    pub residuals: Vec<(Level, ExprId)>,
}

impl<'m> Identity<'m> {
    /// The ingredients of a model.
    pub fn new(model: &'m Model) -> Result<Identity<'m>, Vec<Diagnostic>> {
        let (exprs, system) = (&model.exprs, &model.system);
        let picture = Picture::new(exprs, system)?;
        let n = system.n_coordinates();
        let q = system.positions();
        let at = |id: ExprId| exprs.at(id);
        let symbols =
            |list: &[Symbol]| -> Vec<ExprId> { list.iter().map(|&s| exprs.of_symbol(s)).collect() };
        let (rates, velocities, momenta, l_q, l_t, energy) = match &system.energy {
            Energy::Lagrangian { lagrangian, momenta, .. } => {
                let velocities = symbols(&system.velocities());
                let terms: Vec<ExprId> =
                    velocities.iter().zip(momenta).map(|(&v, &p)| (at(v) * at(p)).id).collect();
                let energy = (at(exprs.sum(&terms)) - at(*lagrangian)).id;
                let l_t = system.partial_rate(exprs, *lagrangian);
                (system.velocities(), velocities, momenta.clone(), picture.l_q.clone(), l_t, energy)
            }
            Energy::Hamiltonian { hamiltonian, velocities } => {
                let negative = |id: ExprId| (-at(id)).id;
                let h_q = exprs.gradient(*hamiltonian, &q);
                let l_t = negative(system.partial_rate(exprs, *hamiltonian));
                let l_q = h_q.into_iter().map(negative).collect();
                let momenta = symbols(&system.momenta());
                (system.momenta(), velocities.clone(), momenta, l_q, l_t, *hamiltonian)
            }
        };
        // Rows of the picture are in q̇; those of a system given by H are wanted in p.
        let by_h: Vec<(Symbol, ExprId)> = match &system.energy {
            Energy::Lagrangian { .. } => Vec::new(),
            Energy::Hamiltonian { .. } => {
                system.velocities().into_iter().zip(velocities.iter().copied()).collect()
            }
        };
        let own = |id: ExprId| exprs.substitute(&[id], &by_h)[0];
        let in_own = |mut matrix: Jacobian| {
            matrix.rows.iter_mut().flatten().for_each(|entry| entry.1 = own(entry.1));
            matrix
        };
        let of_level = |level: Level| -> Vec<ExprId> {
            let rows = system.constraints.iter().filter(|c| c.level == level);
            rows.map(|c| c.residual).collect()
        };
        let phi = of_level(Level::Position);
        let given = system.rates(exprs);
        let phi_dot = exprs.directional(&phi, &picture::rates(&q, &velocities, &given));
        let mut residuals: Vec<(Level, ExprId)> =
            phi.into_iter().map(|id| (Level::Position, id)).collect();
        let at_velocity = phi_dot.into_iter().chain(of_level(Level::Velocity));
        residuals.extend(at_velocity.map(|id| (Level::Velocity, id)));
        let jacobian = in_own(picture.rows.jacobian.clone());
        let drag = (0..system.constraints.len())
            .map(|row| {
                let psi = picture.rows.velocity_residuals.iter().find(|r| r.0 == row);
                match psi {
                    Some(&(_, psi)) if picture.is_affine(system, row) => {
                        (-at(picture::at_zero(exprs, &[psi], &picture.velocities)[0])).id
                    }
                    psi => {
                        let drag = matrix::dot(exprs, &jacobian.rows[row], &velocities);
                        let psi = psi.map(|r| own(r.1));
                        if psi.is_some_and(|psi| is_multiple(exprs, drag, psi)) {
                            ExprId::ZERO
                        } else {
                            drag
                        }
                    }
                }
            })
            .collect();
        Ok(Identity {
            exprs,
            system,
            q,
            rates,
            velocities,
            momenta,
            l_q,
            l_t,
            impressed: kernel::total(exprs, n, &system.forces),
            nonideal: kernel::total(exprs, n, &system.nonideal),
            energy,
            metric: in_own(picture.metric),
            jacobian,
            drag,
            residuals,
        })
    }

    /// L_q + Q′ + C on one coordinate.
    pub fn force(&self, i: usize) -> ExprId {
        self.exprs.sum(&[self.l_q[i], self.impressed[i], self.nonideal[i]])
    }

    /// Time derivatives along the motion of functions of q and t.
    pub fn rate(&self, functions: &[ExprId]) -> Vec<ExprId> {
        let given = self.system.rates(self.exprs);
        self.exprs.directional(functions, &picture::rates(&self.q, &self.velocities, &given))
    }

    /// What must vanish on the constraints.
    pub fn conditions(&self, generator: &Generator) -> Conditions {
        let exprs = self.exprs;
        let at = |id: ExprId| exprs.at(id);
        let field_rate = self.rate(&generator.field);
        let mut terms = vec![(-at(self.rate(&[generator.gauge])[0])).id];
        for i in 0..self.q.len() {
            terms.push((at(generator.field[i]) * at(self.force(i))).id);
            terms.push((at(field_rate[i]) * at(self.momenta[i])).id);
            if generator.with_energy {
                let force = at(self.impressed[i]) + at(self.nonideal[i]);
                terms.push((-force * at(self.velocities[i])).id);
            }
        }
        if generator.with_energy {
            terms.push(self.l_t);
        }
        let rows = (0..self.drag.len())
            .map(|row| {
                let along = at(matrix::dot(exprs, &self.jacobian.rows[row], &generator.field));
                if generator.with_energy { (along - at(self.drag[row])).id } else { along.id }
            })
            .collect();
        Conditions { power: exprs.sum(&terms), rows }
    }

    /// The integral: pᵀξ − f, or E − pᵀξ + f with τ = 1.
    pub fn integral(&self, generator: &Generator) -> ExprId {
        self.compose(generator, &self.momenta, self.energy)
    }

    /// The same with symbols for momenta and energy.
    pub fn compose(&self, generator: &Generator, momenta: &[ExprId], energy: ExprId) -> ExprId {
        let at = |id: ExprId| self.exprs.at(id);
        let terms: Vec<ExprId> =
            generator.field.iter().zip(momenta).map(|(&x, &p)| (at(x) * at(p)).id).collect();
        let moment = at(self.exprs.sum(&terms)) - at(generator.gauge);
        if generator.with_energy { (at(energy) - moment).id } else { moment.id }
    }
}

/// Whether A q̇ is a multiple of ψ: ψ is homogeneous in the velocities, and so by
/// Euler's theorem A q̇ = k ψ.
fn is_multiple(exprs: &Exprs, drag: ExprId, psi: ExprId) -> bool {
    (1..=4).any(|k| exprs.is_zero((exprs.at(drag) - k * exprs.at(psi)).id).is_zero())
}
