//! One set of variables: momenta by velocities (or velocities by momenta)
//! everywhere, the words `energy`, `kinetic`, `potential` by what they mean.

use super::*;
use crate::system::{Coordinate, Energy, Input, Parameter, StateVariable};

/// What has been collected for the system so far.
#[derive(Default)]
pub(super) struct Parts {
    pub parameters: Vec<Parameter>,
    pub coordinates: Vec<Coordinate>,
    pub inputs: Vec<Input>,
    /// Their rates are known once the energies are.
    pub states: Vec<StateVariable>,
    by_symbol: FxHashMap<Symbol, usize>,
    /// What symbols are replaced by, once the energies are known.
    replacements: FxHashMap<Symbol, ExprId>,
    /// Whether the model is given by H.
    pub hamiltonian: bool,
}

impl Parts {
    /// What the velocities are replaced by, in a model given by H.
    pub fn velocities(&self) -> Vec<ExprId> {
        self.coordinates
            .iter()
            .filter_map(|c| self.replacements.get(&c.velocity).copied())
            .collect()
    }

    /// The coordinate whose position symbol this is.
    pub fn coordinate_of(&mut self, symbol: Symbol) -> Option<usize> {
        if self.by_symbol.len() != self.coordinates.len() {
            self.by_symbol =
                self.coordinates.iter().enumerate().map(|(i, c)| (c.position, i)).collect();
        }
        self.by_symbol.get(&symbol).copied()
    }
}

impl<'a> Resolver<'a, '_> {
    /// Sets what momenta, velocities and energies are replaced by.
    pub(super) fn prepare_replacements(&mut self, energy: &Energy) {
        let rates = self.state_rates();
        let exprs = &self.exprs;
        let in_time = |id: ExprId| {
            let rate = exprs.time_derivative(id);
            if rates.is_empty() {
                return rate;
            }
            exprs.substitute_with(&[rate], |s| rates.get(&s).copied())[0]
        };
        let mut map: FxHashMap<Symbol, ExprId> = FxHashMap::default();
        match energy {
            Energy::Lagrangian { kinetic, potential, lagrangian, momenta, .. } => {
                // All at once: momenta along a chain are made of the same.
                let moved: Vec<ExprId> =
                    momenta.iter().map(|&p| exprs.time_derivative(p)).collect();
                let moved = match rates.is_empty() {
                    true => moved,
                    false => exprs.substitute_with(&moved, |s| rates.get(&s).copied()),
                };
                for ((coordinate, &p), rate) in
                    self.parts.coordinates.iter().zip(momenta).zip(moved)
                {
                    map.insert(coordinate.momentum, p);
                    map.insert(coordinate.momentum_rate, rate);
                }
                // H = q′·∂L/∂q′ − L
                let terms: Vec<ExprId> = self
                    .parts
                    .coordinates
                    .iter()
                    .zip(momenta)
                    .map(|(c, &p)| (exprs.at(exprs.of_symbol(c.velocity)) * exprs.at(p)).id)
                    .collect();
                let total = exprs.at(exprs.sum(&terms)) - exprs.at(*lagrangian);
                map.insert(self.specials.energy, total.id);
                map.insert(self.specials.kinetic, *kinetic);
                map.insert(self.specials.potential, *potential);
            }
            Energy::Hamiltonian { hamiltonian, velocities } => {
                for (coordinate, &v) in self.parts.coordinates.iter().zip(velocities) {
                    map.insert(coordinate.velocity, v);
                }
                let velocity = map.clone();
                for (coordinate, &v) in self.parts.coordinates.iter().zip(velocities) {
                    // q″ = d/dt ∂H/∂p, with q′ replaced in its turn.
                    let rate = in_time(v);
                    let rate = exprs.substitute_with(&[rate], |s| velocity.get(&s).copied())[0];
                    map.insert(coordinate.acceleration, rate);
                }
                map.insert(self.specials.energy, *hamiltonian);
            }
        }
        self.parts.hamiltonian = matches!(energy, Energy::Hamiltonian { .. });
        self.parts.replacements = map;
    }

    /// An expression in the variables of the system.
    pub(super) fn normalize(&mut self, id: ExprId) -> ExprId {
        let foreign = if self.parts.hamiltonian {
            role::VELOCITY | role::ACCELERATION | role::ENERGY
        } else {
            role::MOMENTUM | role::MOMENTUM_RATE | role::ENERGY
        };
        if self.mask(id) & foreign == 0 {
            return id;
        }
        let map = &self.parts.replacements;
        self.exprs.substitute_with(&[id], |s| map.get(&s).copied())[0]
    }

    pub(super) fn normalize_all(&mut self, ids: &[ExprId]) -> Vec<ExprId> {
        ids.iter().map(|&id| self.normalize(id)).collect()
    }

    /// Faults what may not stand here, naming the first culprit.
    pub(super) fn allow(&mut self, id: ExprId, span: Span, allowed: u16, place: &str) -> Eval<()> {
        let extra = self.mask(id) & !allowed;
        if extra == 0 {
            return Ok(());
        }
        let culprit = self.exprs.symbols_of(&[id]).into_iter().find(|&s| self.role(s) & extra != 0);
        let name = culprit.map(|s| self.exprs.symbol_info(s).full_name()).unwrap_or_default();
        let what = match culprit.map(|s| self.role(s)).unwrap_or(extra) {
            role::PARAMETER => "a parameter",
            role::TIME => "time",
            role::INPUT => "an input",
            role::STATE => "a state",
            role::POSITION => "a coordinate",
            role::VELOCITY => "a velocity",
            role::ACCELERATION => "an acceleration",
            role::MOMENTUM => "a momentum",
            role::MOMENTUM_RATE => "the rate of a momentum",
            role::MULTIPLIER => "a multiplier",
            role::REACTION => "a reaction",
            _ => "an energy",
        };
        let message = match what {
            "time" => format!("{place} cannot depend on time"),
            _ => format!("{place} cannot hold {what}, and `{name}` is one"),
        };
        let mut diagnostic =
            Diagnostic::fault(Code::NotAllowedHere, span, message).at(format!("holds `{name}`"));
        let hint = match (place, extra) {
            ("`potential`", e) if e & role::VELOCITY != 0 => Some(
                "a term that depends on velocities goes into `lagrangian`, or into `dissipation` if it is friction",
            ),
            ("`kinetic`" | "`lagrangian`", e) if e & role::MOMENTUM != 0 => {
                Some("a model in momenta is given by `hamiltonian`")
            }
            ("`hamiltonian`", e) if e & role::VELOCITY != 0 => {
                Some("a model in velocities is given by `kinetic` and `potential`")
            }
            ("the place of a force", e) if e & role::VELOCITY != 0 => {
                Some("write `force F along v` for a force along a velocity")
            }
            ("a speed", e) if e & role::MOMENTUM != 0 => {
                Some("a speed is a combination of velocities, such as `x'*cos(th)`")
            }
            ("`start`", e) if e & role::ACCELERATION != 0 => {
                Some("accelerations follow from positions and velocities; give those")
            }
            ("what an event changes", _) => {
                Some("an event changes positions, velocities, momenta or states")
            }
            (_, e) if e & role::ACCELERATION != 0 => {
                Some("accelerations may stand in constraints, events and outputs only")
            }
            ("`force`" | "`nonideal`", e) if e & (role::ENERGY | role::REACTION) != 0 => {
                Some("of what follows from the motion, a force may use `multiplier(…)` only")
            }
            (_, e) if e & (role::ENERGY | role::REACTION | role::MULTIPLIER) != 0 => Some(
                "multipliers may stand in forces, events and outputs, what else follows from the motion in events and outputs only",
            ),
            _ => None,
        };
        if let Some(hint) = hint {
            diagnostic = diagnostic.hint(hint);
        }
        Err(self.report(diagnostic))
    }
}
