//! Rates of states that hold what is solved for.
//!
//! ```text
//! z′ = f(q, v, z, t, v̇, λ)        v̇ and λ of the motion
//! ```
//!
//! A controller that feeds back a measured acceleration or a measured load. To displacements a
//! state is what time is, so z′ moves nothing at the instant: v̇ and λ do not depend on it, and are
//! what the equations give,
//!
//! ```text
//! by L   M q̈ − (G + ∂Q/∂λ)ᵀλ = Q ,   A q̈ = b
//! by H   ṗ − (G + ∂Q/∂λ)ᵀλ = Q ,     A ṗ = b        G: how rows restrict q̈
//! ```
//!
//! put into f as a linear solve, never as an inverse. The rate is then one like any other, of
//! (q, v, z, t), and nothing downstream knows of this. With contacts and dry friction it is another
//! one in each phase.
//!
//! It fails where the equations hold z′ themselves (momenta or a constraint that hold z: z′ would be
//! on both sides), where forces are not linear in λ, and, in numbers, where rows depend on each
//! other: which of their multipliers acts is open then.

use super::{Constraint, Energy, Level, StateVariable, System, Unknown};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

impl System {
    /// Whether the rate of a state holds what is solved for.
    pub fn is_fed_back(&self, exprs: &Exprs, state: &StateVariable) -> bool {
        let solved = self.solved_for();
        exprs.symbols_of(&[state.written]).iter().any(|s| solved.contains(s))
    }

    /// What is solved for: accelerations, rates of momenta, multipliers and what follows from them.
    fn solved_for(&self) -> FxHashSet<Symbol> {
        let own = self.accelerations().into_iter().chain(self.momentum_rates());
        own.chain(self.unknowns.iter().map(|u| u.0)).collect()
    }

    /// Gives each state its rate as a function of (q, v, z, t), where it is written with what is
    /// solved for. Where contacts or friction want a phase it stays as written.
    pub(crate) fn feed_back(&mut self, exprs: &Exprs) -> Result<(), Diagnostic> {
        let late: Vec<usize> = (0..self.states.len())
            .filter(|&at| self.is_fed_back(exprs, &self.states[at]))
            .collect();
        if late.is_empty() {
            return Ok(());
        }
        let values = self.solution(exprs, &late)?;
        let written: Vec<ExprId> = late.iter().map(|&at| self.states[at].written).collect();
        let rates = exprs.substitute_with(&written, |s| values.get(&s).copied());
        for (&at, rate) in late.iter().zip(rates) {
            self.states[at].rate = rate;
        }
        Ok(())
    }

    /// Everything that is solved for, by q, v, z and t. The rates of the `late` states are not known
    /// yet.
    fn solution(
        &self,
        exprs: &Exprs,
        late: &[usize],
    ) -> Result<FxHashMap<Symbol, ExprId>, Diagnostic> {
        let (n, m) = (self.n_coordinates(), self.constraints.len());
        let size = n + m;
        let all_rows: Vec<usize> = (0..m).collect();
        let gradients = self.gradients(exprs, &all_rows);
        let prime = |at: &usize| {
            let z = self.states[*at].symbol;
            exprs.rate(z).map(|rate| (z, rate))
        };
        let primes: Vec<(Symbol, Symbol)> = late.iter().filter_map(prime).collect();
        // What q, t and all else that moves by itself change by, v frozen.
        let (velocities, by, solved, metric) = match &self.energy {
            Energy::Lagrangian { momenta, .. } => {
                let by = self.velocities();
                let own: Vec<ExprId> = by.iter().map(|&s| exprs.of_symbol(s)).collect();
                let metric = exprs.jacobian(momenta, &by);
                (own, by, self.accelerations(), Some(metric))
            }
            Energy::Hamiltonian { velocities, .. } => {
                (velocities.clone(), self.momenta(), self.momentum_rates(), None)
            }
        };
        let mut rates: Vec<(Symbol, ExprId)> =
            self.positions().into_iter().zip(velocities.iter().copied()).collect();
        rates.extend(self.rates(exprs).into_iter().map(|(symbol, rate)| {
            let own = primes.iter().find(|p| p.0 == symbol);
            (symbol, own.map_or(rate, |p| exprs.of_symbol(p.1)))
        }));

        let right_of_motion = match &self.energy {
            Energy::Lagrangian { lagrangian, momenta, .. } => {
                let slopes = exprs.gradient(*lagrangian, &self.positions());
                let bias = exprs.directional(momenta, &rates);
                let both = slopes.iter().zip(&bias);
                both.map(|(&l, &p)| (exprs.at(l) - exprs.at(p)).id).collect::<Vec<_>>()
            }
            Energy::Hamiltonian { hamiltonian, .. } => {
                let slopes = exprs.gradient(*hamiltonian, &self.positions());
                slopes.into_iter().map(|h| (-exprs.at(h)).id).collect()
            }
        };
        let multipliers: Vec<(usize, Symbol)> = self
            .unknowns
            .iter()
            .filter_map(|&(symbol, unknown)| match unknown {
                Unknown::Multiplier(row) => Some((row, symbol)),
                _ => None,
            })
            .collect();
        let (forces, slopes) = self.forces_by_multipliers(exprs, &multipliers)?;
        let mut matrix = vec![ExprId::ZERO; size * size];
        let mut right = Vec::with_capacity(size);
        for i in 0..n {
            for j in 0..n {
                matrix[i * size + j] = match &metric {
                    Some(metric) => metric.get(i, j),
                    None if i == j => ExprId::ONE,
                    None => ExprId::ZERO,
                };
            }
            right.push((exprs.at(right_of_motion[i]) + exprs.at(forces[i])).id);
            for (&(row, _), slope) in multipliers.iter().zip(&slopes) {
                let place = &mut matrix[i * size + n + row];
                *place = (exprs.at(*place) - exprs.at(slope[i])).id;
            }
        }
        for (row, gradient) in gradients.iter().enumerate() {
            for &(i, entry) in gradient {
                let place = &mut matrix[i * size + n + row];
                *place = (exprs.at(*place) - exprs.at(entry)).id;
            }
        }
        for (row, constraint) in self.constraints.iter().enumerate() {
            let (entries, bias) = restricted(exprs, constraint, &rates, &by, &solved);
            for (j, entry) in entries.into_iter().enumerate() {
                matrix[(n + row) * size + j] = entry;
            }
            right.push(bias);
        }
        self.refuse_circles(exprs, &primes, &[&matrix, &right])?;
        let found = exprs.solve(&matrix, &right);
        let mut values: FxHashMap<Symbol, ExprId> =
            solved.into_iter().zip(found.iter().copied()).collect();
        let lambda = &found[n..];
        for &(row, symbol) in &multipliers {
            values.insert(symbol, lambda[row]);
        }
        let nonideal = self.nonideal_force(exprs);
        let nonideal = exprs.substitute_with(&nonideal, |s| values.get(&s).copied());
        for &(symbol, unknown) in &self.unknowns {
            let share = |row: usize, i: usize| {
                let entry = gradients[row].iter().find(|e| e.0 == i);
                entry.map(|e| (exprs.at(e.1) * exprs.at(lambda[row])).id)
            };
            match unknown {
                Unknown::Share(i, row) => {
                    values.insert(symbol, share(row, i).unwrap_or(ExprId::ZERO));
                }
                Unknown::Reaction(i) => {
                    let mut terms: Vec<ExprId> = (0..m).filter_map(|row| share(row, i)).collect();
                    terms.push(nonideal[i]);
                    values.insert(symbol, exprs.sum(&terms));
                }
                Unknown::Multiplier(_) | Unknown::Touch(_) => {}
            }
        }
        Ok(values)
    }

    /// C by coordinate.
    fn nonideal_force(&self, exprs: &Exprs) -> Vec<ExprId> {
        let mut terms: Vec<Vec<ExprId>> = vec![Vec::new(); self.n_coordinates()];
        for &(i, value) in self.nonideal.iter().flat_map(|force| &force.components) {
            terms[i].push(value);
        }
        terms.iter().map(|list| exprs.sum(list)).collect()
    }

    /// Q′ + C without multipliers, and their slopes by each of these.
    fn forces_by_multipliers(
        &self,
        exprs: &Exprs,
        multipliers: &[(usize, Symbol)],
    ) -> Result<(Vec<ExprId>, Vec<Vec<ExprId>>), Diagnostic> {
        let n = self.n_coordinates();
        let symbols: FxHashSet<Symbol> = multipliers.iter().map(|m| m.1).collect();
        let mut plain: Vec<Vec<ExprId>> = vec![Vec::new(); n];
        let mut sloped: Vec<Vec<Vec<ExprId>>> = vec![vec![Vec::new(); n]; multipliers.len()];
        let list: Vec<Symbol> = multipliers.iter().map(|m| m.1).collect();
        for force in self.forces.iter().chain(&self.nonideal) {
            for &(i, value) in &force.components {
                let at_zero = exprs
                    .substitute_with(&[value], |s| symbols.contains(&s).then_some(ExprId::ZERO));
                plain[i].push(at_zero[0]);
                for (k, slope) in exprs.gradient(value, &list).into_iter().enumerate() {
                    if slope == ExprId::ZERO {
                        continue;
                    }
                    if exprs.symbols_of(&[slope]).iter().any(|s| symbols.contains(s)) {
                        return Err(self.not_linear(exprs, list[k], force.span));
                    }
                    sloped[k][i].push(slope);
                }
            }
        }
        let sums = |lists: &[Vec<ExprId>]| lists.iter().map(|l| exprs.sum(l)).collect::<Vec<_>>();
        Ok((sums(&plain), sloped.iter().map(|lists| sums(lists)).collect()))
    }

    fn not_linear(&self, exprs: &Exprs, symbol: Symbol, span: crate::span::Span) -> Diagnostic {
        let name = exprs.symbol_info(symbol).full_name();
        let state = self.states.iter().find(|z| self.is_fed_back(exprs, z));
        let state = state.unwrap_or(&self.states[0]);
        let message = format!(
            "the rate of state `{}` holds what is solved for, and a force is not linear in `{name}`",
            state.name
        );
        Diagnostic::fault(Code::StateRate, state.span, message)
            .with(span, "this force")
            .hint("what is measured has to follow from linear equations: let the rate hold positions and velocities, or the force be linear in multipliers")
    }

    /// Faults equations that hold the rates that are to be found by them.
    fn refuse_circles(
        &self,
        exprs: &Exprs,
        primes: &[(Symbol, Symbol)],
        lists: &[&[ExprId]],
    ) -> Result<(), Diagnostic> {
        let held: FxHashSet<Symbol> =
            lists.iter().flat_map(|list| exprs.symbols_of(list)).collect();
        let Some(&(symbol, _)) = primes.iter().find(|p| held.contains(&p.1)) else {
            return Ok(());
        };
        let Some(state) = self.states.iter().find(|z| z.symbol == symbol) else { return Ok(()) };
        let message = format!(
            "the rate of state `{0}` holds what is solved for, and that depends on `{0}'`",
            state.name
        );
        Err(Diagnostic::fault(Code::CircularDefinition, state.span, message).hint(format!(
            "momenta or a constraint hold `{0}`, so that accelerations hold `{0}'`: keep one of the two",
            state.name
        )))
    }
}

/// A row of A by what is solved for, with its entry of b.
fn restricted(
    exprs: &Exprs,
    constraint: &Constraint,
    rates: &[(Symbol, ExprId)],
    by: &[Symbol],
    solved: &[Symbol],
) -> (Vec<ExprId>, ExprId) {
    let residual = constraint.residual;
    let level = match constraint.level {
        Level::Position => exprs.directional(&[residual], rates)[0],
        Level::Velocity => residual,
        Level::Acceleration => {
            let rest: FxHashSet<Symbol> = solved.iter().copied().collect();
            let rest =
                exprs.substitute_with(&[residual], |s| rest.contains(&s).then_some(ExprId::ZERO));
            return (exprs.gradient(residual, solved), (-exprs.at(rest[0])).id);
        }
    };
    let bias = exprs.directional(&[level], rates)[0];
    (exprs.gradient(level, by), (-exprs.at(bias)).id)
}

impl System {
    /// How rows restrict q̈, by coordinate: what their ideal force acts along.
    pub(crate) fn gradients(&self, exprs: &Exprs, rows: &[usize]) -> Vec<Vec<(usize, ExprId)>> {
        let by_momenta: Option<Jacobian> = match &self.energy {
            Energy::Hamiltonian { velocities, .. } => {
                Some(exprs.jacobian(velocities, &self.momenta()))
            }
            Energy::Lagrangian { .. } => None,
        };
        let n = self.n_coordinates();
        rows.iter()
            .map(|&row| {
                let constraint = &self.constraints[row];
                let symbols = match (constraint.level, by_momenta.is_some()) {
                    (Level::Position, _) => self.positions(),
                    (Level::Velocity, false) => self.velocities(),
                    (Level::Velocity, true) => self.momenta(),
                    (Level::Acceleration, false) => self.accelerations(),
                    (Level::Acceleration, true) => self.momentum_rates(),
                };
                let own = exprs.gradient(constraint.residual, &symbols);
                let own = match (&by_momenta, constraint.level) {
                    // ∂/∂q̇ = H_pp⁻¹ ∂/∂p.
                    (Some(h_pp), Level::Velocity | Level::Acceleration) => {
                        let entries: Vec<ExprId> =
                            (0..n * n).map(|p| h_pp.get(p / n, p % n)).collect();
                        exprs.solve(&entries, &own)
                    }
                    _ => own,
                };
                own.into_iter().enumerate().filter(|c| c.1 != ExprId::ZERO).collect()
            })
            .collect()
    }
}
