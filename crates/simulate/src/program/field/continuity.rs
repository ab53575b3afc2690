//! What has to be continuous where a switch turns, and angles that are continued.
//!
//! A turn changes forces, and with them accelerations. Positions, velocities and momenta go
//! on; so φ and ψ, the kinematics, p and, unless time itself turns the switch, E must have
//! one value on both branches at the turn. Where one of them jumps the model demands an
//! impulse, or more than that.
//!
//! An `atan2` jumps by 2π at its cut. Where only its derivatives enter the equations of
//! motion (it stands linearly in φ or in E) the jump means nothing, and the angle is
//! continued: 2π w is added to it, w being how often its cut was passed. Where it enters
//! them by its value it is a switch like any other.

use super::{Field, FieldError};
use crate::noise::{Noisy, Running};
use crate::program::observer;
use crate::setting::Setting;
use dalembert_derive::EquationsOfMotion;
use dalembert_derive::picture::Picture;
use dalembert_expr::{ExprId, Exprs, Switch, Symbol, SymbolKind};
use dalembert_model::system::Energy;
use std::ops::Range;

/// The compiled quantities.
#[derive(Clone)]
pub(super) struct Continuity {
    pub(super) function: crate::program::compiled::Compiled,
    roots: Vec<ExprId>,
}

/// What they are, by their places.
#[derive(Clone, Debug)]
pub struct Places {
    /// The angles.
    pub angles: Range<usize>,
    /// φ.
    pub positions: Range<usize>,
    /// ψ.
    pub velocities: Range<usize>,
    /// Kinematics, then momenta.
    pub momenta: Range<usize>,
    /// E.
    pub energy: usize,
}

/// Angles that may be continued: the `atan2` itself, the switch of its cut, and w.
pub(crate) type Windings = Vec<(ExprId, usize, Symbol)>;

/// A w for each angle among the switches.
pub(crate) fn windings(exprs: &Exprs, switches: &[Switch]) -> Windings {
    let of = |(at, switch): (usize, &Switch)| {
        switch.angle?;
        let name = format!("winding[{}]", at + 1);
        Some((switch.shown, at, exprs.symbol(&name, SymbolKind::Constant)))
    };
    switches.iter().enumerate().filter_map(of).collect()
}

/// A frozen expression with the angles continued of which only derivatives matter:
/// those that are not in its derivatives.
pub(crate) fn continued(
    exprs: &Exprs,
    (plain, frozen): (ExprId, ExprId),
    variables: &[Symbol],
    switches: &[Switch],
    windings: &Windings,
) -> ExprId {
    let own = exprs.angles(plain);
    if own.is_empty() {
        return frozen;
    }
    let by_value: Vec<ExprId> =
        variables.iter().flat_map(|&v| exprs.angles(exprs.derivative(plain, v))).collect();
    let turned = windings.iter().filter(|w| own.contains(&w.0) && !by_value.contains(&w.0));
    let map: Vec<(ExprId, ExprId)> = turned
        .filter_map(|&(_, at, w)| {
            let angle = switches[at].angle?;
            Some((angle, (exprs.at(angle) + 2 * exprs.pi() * exprs.at(exprs.of_symbol(w))).id))
        })
        .collect();
    exprs.replace(&[frozen], &map)[0]
}

/// Momenta and energy in the variables of the equations; none if nothing in the model
/// turns.
pub(super) fn held(
    setting: &Setting,
    equations: &EquationsOfMotion,
    switches: &[Switch],
) -> Vec<ExprId> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let whole = match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => *lagrangian,
        Energy::Hamiltonian { hamiltonian, .. } => *hamiltonian,
    };
    if switches.is_empty() && exprs.freeze_switches(&[whole]).1.is_empty() {
        return Vec::new();
    }
    let Ok(picture) = Picture::for_numbers(exprs, system) else { return Vec::new() };
    let mut roots = picture.momenta.clone();
    roots.push(observer::energy(setting, &picture));
    let map: Vec<(Symbol, ExprId)> =
        picture.velocities.iter().copied().zip(equations.kinematics.iter().copied()).collect();
    exprs.substitute(&roots, &map)
}

impl Field {
    /// Compiles what has to be continuous: frozen momenta and energy.
    pub(super) fn keep_continuous(&mut self, held: &[ExprId]) {
        if held.is_empty() {
            return;
        }
        let counts = (self.residuals.positions, self.residuals.velocities);
        let mut roots: Vec<ExprId> =
            self.switchboard.switches.iter().filter_map(|switch| switch.angle).collect();
        roots.extend(&self.kept.residuals[..counts.0 + counts.1]);
        // The rates of states may jump.
        let rates = &self.kept.terms[self.layout.kinematics.clone()];
        roots.extend(&rates[..self.equations.n_coordinates()]);
        roots.extend(held);
        self.parts.continuity = Some(Continuity { function: self.compile(&roots, &[]), roots });
    }

    /// Where the quantities lie.
    pub fn continuous(&self) -> Option<Places> {
        let all = self.parts.continuity.as_ref()?.roots.len();
        let angles = self.windings.len();
        let positions = angles + self.residuals.positions;
        let velocities = positions + self.residuals.velocities;
        Some(Places {
            angles: 0..angles,
            positions: angles..positions,
            velocities: positions..velocities,
            momenta: velocities..all - 1,
            energy: all - 1,
        })
    }

    /// Their values at a state, on the branches the field is on.
    pub fn continuous_values(&mut self, t: f64, x: &[f64]) -> Result<Vec<f64>, FieldError> {
        self.load(t, x)?;
        let Some(continuity) = &mut self.parts.continuity else { return Ok(Vec::new()) };
        Ok(continuity.function.call(&self.work.input).to_vec())
    }

    /// Bounds on the rounding errors of these values, if each variable is off by rounding
    /// errors of a size of its own (t, then the state).
    pub fn continuous_noise(&self, sizes: &[f64]) -> Vec<f64> {
        let Some(continuity) = &self.parts.continuity else { return Vec::new() };
        let kept = &self.kept;
        let value = |symbol: Symbol| {
            if let Some(at) = kept.variables.iter().position(|s| *s == symbol) {
                let noise = sizes.get(at).map_or(0.0, |size| 4.0 * f64::EPSILON * size);
                return Noisy { value: self.work.input[at], noise };
            }
            let at = kept.symbols.iter().position(|s| *s == symbol);
            Noisy::exact(at.map_or(f64::NAN, |at| self.constants[at]))
        };
        let noisy = self.setting.model.exprs.evaluate(&Running, &continuity.roots, value);
        noisy.iter().map(|n| n.noise).collect()
    }

    /// Whether time alone turns a switch.
    pub fn is_timed(&self, at: usize) -> bool {
        let switch = &self.switchboard.switches[at];
        let moving = &self.kept.variables[1..self.switchboard.first_input];
        let symbols = self.setting.model.exprs.symbols_of(&switch.guards);
        !symbols.iter().any(|s| moving.contains(s))
    }

    /// How often the cut of each angle was passed.
    pub fn windings(&self) -> &[f64] {
        let first = self.switchboard.first_input + self.switches();
        &self.work.input[first..first + self.windings.len()]
    }

    /// Continues the angles from there.
    pub fn set_windings(&mut self, windings: &[f64]) {
        let first = self.switchboard.first_input + self.switches();
        self.work.input[first..first + windings.len()].copy_from_slice(windings);
    }

    /// How often the cut of an angle was passed.
    pub fn winding_of(&self, angle: ExprId) -> f64 {
        let at = self.windings.iter().position(|w| w.0 == angle);
        at.map_or(0.0, |at| self.windings()[at])
    }

    /// Takes over how often cuts were passed from a field of the same model.
    pub fn inherit_windings(&mut self, other: &Field) {
        let own: Vec<f64> = self.windings.iter().map(|w| other.winding_of(w.0)).collect();
        self.set_windings(&own);
    }
}
