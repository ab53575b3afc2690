//! Which way a motion leaves the place where a switch turns, and whether it does.
//!
//! On both sides of g = 0 the rates are smooth, f⁺ and f⁻. If g grows on the side where it
//! is positive, or falls where it is negative, the motion can go on there. If it does
//! neither, both sides lead back to g = 0 and the motion stays on it (Filippov 1988, §4: a
//! sliding mode): a block that friction holds. What holds it there is no longer the force
//! of the model, which has only its two sides, so the run ends and says so; it does not
//! follow the sides in ever shorter steps.
//!
//! Where several switches turn at once, their branches are tried together. A side on which the
//! rates are no numbers tells nothing: a motion sticks only where every side is known not to lead
//! away.

use crate::drive::tolerances::switching::{AHEAD, BESIDE, LEVEL, ONWARD};
use crate::drive::{Driver, RANK};
use crate::integrators::Problem;
use crate::program::field::FieldError;
use dalembert_expr::{ExprId, SwitchKind, Symbol};
use dalembert_model::span::Span;

/// What a motion sticks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stuck {
    /// The switch, `sign(x')`: as the model has it, or in the variables of the
    /// formulation where it is not found there.
    pub switch: ExprId,
    /// The statement it is in.
    pub span: Option<Span>,
}

/// How the motion goes on.
pub(in crate::drive) enum Departure {
    /// On these branches.
    On(Vec<f64>),
    /// It does not: these switches are stuck.
    Sticks(Vec<usize>),
    /// Nothing tells the sides apart, or more than one leads away.
    Open,
}

/// Up to so many switches at once are tried.
const MOST: usize = 6;

/// Branches that were tried: how fast each guard moves away from 0 on them; below 0 back.
struct Side {
    modes: Vec<f64>,
    away: Vec<f64>,
}

impl Driver {
    /// Puts the field on the branches of its state. Signs that are 0 there are on the side
    /// the motion leaves for.
    pub fn settle_branches(&mut self) -> Result<(), FieldError> {
        let (t, x) = (self.t, self.x.clone());
        self.stuck.clear();
        let before = self.modes.clone();
        let mut modes = std::mem::take(&mut self.modes);
        let settled = self.field.settle_modes(t, &x, &mut modes);
        self.modes = modes;
        settled?;
        self.keep_angles(&before)?;
        let at_zero: Vec<usize> = (0..self.modes.len())
            .filter(|&at| self.modes[at] == 0.0 && self.field.kind_of(at) == SwitchKind::Sign)
            .collect();
        if at_zero.is_empty() || self.field.choose_rows(t, &x, RANK).is_err() {
            return Ok(());
        }
        let own = self.modes.clone();
        match self.departure(&at_zero, &own)? {
            Departure::On(modes) => self.modes = modes,
            Departure::Sticks(switches) => self.stuck = switches,
            Departure::Open => {}
        }
        let modes = self.modes.clone();
        self.field.set_modes(&modes);
        Ok(())
    }

    /// How the motion goes on from the state, where these switches turn. `after` are the
    /// branches on the other side of a turn: if they lead away it is crossed.
    pub(in crate::drive) fn departure(
        &mut self,
        switches: &[usize],
        after: &[f64],
    ) -> Result<Departure, FieldError> {
        if switches.len() > MOST {
            return Ok(Departure::Open);
        }
        let before = self.field.modes().to_vec();
        let mut sides: Vec<Side> = Vec::new();
        let mut failure = None;
        for bits in 0..1usize << switches.len() {
            let mut modes = after.to_vec();
            for (k, &at) in switches.iter().enumerate() {
                let other = bits >> k & 1 == 1;
                modes[at] = match self.field.kind_of(at) {
                    SwitchKind::Sign => {
                        let first = if after[at] < 0.0 { -1.0 } else { 1.0 };
                        if other { -first } else { first }
                    }
                    SwitchKind::Condition if other => 1.0 - after[at],
                    SwitchKind::Piece if other => before[at],
                    SwitchKind::Condition | SwitchKind::Piece => after[at],
                };
            }
            match self.side(switches, modes) {
                Ok(side) => sides.push(side),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        // Where friction is a paradox on one side there is still the other.
        let Some(_) = sides.first() else { return failure.map_or(Ok(Departure::Open), Err) };
        let has_no_value = matches!(failure, Some(FieldError::NotFinite { .. }));
        let is_known =
            !has_no_value && sides.iter().flat_map(|side| &side.away).all(|away| !away.is_nan());
        let largest: Vec<f64> = (0..switches.len())
            .map(|k| sides.iter().fold(0f64, |m, side| m.max(side.away[k].abs())))
            .collect();
        let leads_away = |side: &&Side| {
            (0..switches.len()).all(|k| largest[k] == 0.0 || side.away[k] > LEVEL * largest[k])
        };
        if largest.iter().all(|&rate| rate == 0.0) {
            return Ok(Departure::Open);
        }
        let mut leaving = sides.iter().filter(leads_away);
        match (leaving.next(), leaving.next()) {
            (Some(first), None) => Ok(Departure::On(first.modes.clone())),
            (Some(first), Some(_)) => Ok(match switches.iter().all(|&at| after[at] != 0.0) {
                true if is_after(first, switches, after) => Departure::On(first.modes.clone()),
                _ => Departure::Open,
            }),
            (None, _) if !is_known => match failure {
                Some(failure) => Err(failure),
                None => Ok(Departure::Open),
            },
            (None, _) => {
                let held = |k: &usize| {
                    largest[*k] > 0.0
                        && sides.iter().all(|side| side.away[*k] <= LEVEL * largest[*k])
                };
                let mut stuck: Vec<usize> = (0..switches.len()).filter(held).collect();
                if stuck.is_empty() {
                    stuck = (0..switches.len()).filter(|&k| largest[k] > 0.0).collect();
                }
                Ok(Departure::Sticks(stuck.into_iter().map(|k| switches[k]).collect()))
            }
        }
    }

    /// Tries branches.
    fn side(&mut self, switches: &[usize], mut modes: Vec<f64>) -> Result<Side, FieldError> {
        let (t, x) = (self.t, self.x.clone());
        self.field.settle_dependent(t, &x, &mut modes, switches, true)?;
        self.settle_nested(&mut modes, switches)?;
        let mut rates = vec![0.0; x.len()];
        self.field.rates(t, &x, &mut rates)?;
        let (mut there, mut before, mut guards) = (Vec::new(), Vec::new(), Vec::new());
        self.field.branches(t, &x, &mut there, &mut before)?;
        // Time may be what turns a switch,
        let fastest = self.fastest(&x, &rates);
        // and it has to go on, also where what is next to rest is moved fast by its own measure.
        let dt = (AHEAD / fastest).max(ONWARD * t.abs());
        let dt = if self.is_backward { -dt } else { dt };
        let ahead: Vec<f64> = x.iter().zip(&rates).map(|(x, rate)| x + dt * rate).collect();
        self.field.branches(t + dt, &ahead, &mut there, &mut guards)?;
        let away = switches
            .iter()
            .map(|&at| {
                let range = self.field.guards_of(at);
                let moved = |guard: usize| guards[guard] - before[guard];
                match self.field.kind_of(at) {
                    SwitchKind::Sign => modes[at] * moved(range.start),
                    SwitchKind::Condition | SwitchKind::Piece => {
                        // Beside a boundary a guard may come from infinity.
                        let size = range.fold(0f64, |m, guard| m.max(moved(guard).abs()));
                        let size = size.min(f64::MAX * dt.abs().min(1.0));
                        if there[at] == modes[at] { size } else { -size }
                    }
                }
            })
            .map(|rate| rate / dt.abs())
            .collect();
        Ok(Side { modes, away })
    }

    /// Puts switches on the branches they are on where others, inside of them, have turned: the
    /// condition of `if(mod(t, 1) < 0.5, …)` passes no zero where mod jumps. Those that are at zero
    /// themselves, and the `fixed` ones, stay.
    pub(in crate::drive) fn settle_nested(
        &mut self,
        modes: &mut [f64],
        fixed: &[usize],
    ) -> Result<(), FieldError> {
        let (t, x) = (self.t, self.x.clone());
        let (mut there, mut guards) = (Vec::new(), Vec::new());
        // One after another from the inside out.
        for _ in 0..modes.len() {
            self.field.set_modes(modes);
            self.field.branches(t, &x, &mut there, &mut guards)?;
            let size = |g: usize| self.guard_sizes.get(g).map_or(0.0, |size| size.abs());
            let has_jumped = |&at: &usize| {
                let is_away = |g: usize| guards[g].abs() > BESIDE * guards[g].abs().max(size(g));
                !fixed.contains(&at)
                    && there[at] != modes[at]
                    && !(there[at] + modes[at]).is_nan()
                    && self.field.guards_of(at).all(is_away)
            };
            let jumped: Vec<usize> = (0..modes.len()).filter(has_jumped).collect();
            if jumped.is_empty() {
                break;
            }
            jumped.into_iter().for_each(|at| modes[at] = there[at]);
        }
        self.field.set_modes(modes);
        Ok(())
    }

    /// What the motion sticks at.
    pub(in crate::drive) fn sticking(&self) -> Vec<Stuck> {
        self.stuck.iter().map(|&at| self.named(at)).collect()
    }

    /// A switch as the model has it: the one in a force that becomes it in the variables of
    /// the formulation.
    fn named(&self, at: usize) -> Stuck {
        let model = self.field.model();
        let (exprs, system) = (&model.exprs, &model.system);
        let own = self.field.switch(at).plain;
        let kinematics = self.field.equations.kinematics.iter().copied();
        let map: Vec<(Symbol, ExprId)> = system.velocities().into_iter().zip(kinematics).collect();
        for force in system.forces.iter().chain(&system.nonideal) {
            let roots: Vec<ExprId> = force.components.iter().map(|c| c.1).collect();
            let (_, switches) = exprs.freeze_switches(&roots);
            let values: Vec<ExprId> = switches.iter().map(|s| s.plain).collect();
            let moved = exprs.substitute(&values, &map);
            if let Some(found) = moved.iter().position(|&value| value == own) {
                return Stuck { switch: switches[found].shown, span: Some(force.span) };
            }
        }
        Stuck { switch: self.field.switch(at).shown, span: None }
    }
}

/// Whether a side is the one beyond the turn.
fn is_after(side: &Side, switches: &[usize], after: &[f64]) -> bool {
    switches.iter().all(|&at| side.modes[at] == after[at])
}
