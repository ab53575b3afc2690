//! The phase of what was decided, as it is moved and as it is seen.

use crate::phases::elements::Elements;
use crate::phases::settle::{Deciding, Settled, Shown};
use crate::setting::State;
use dalembert_gauss::contact::cone::Trial;
use dalembert_gauss::contact::decide::Found;
use dalembert_gauss::contact::{self, Slip, Space};
use dalembert_model::system::{Mode, Phase};

/// No state: of a phase that is only told.
pub(super) fn nowhere() -> State {
    State { t: 0.0, q: Vec::new(), velocity: Vec::new(), momentum: Vec::new() }
}

impl Deciding<'_> {
    /// The phase of what was found.
    pub(super) fn phase_of(
        &self,
        state: State,
        found: Option<&(Found, Space)>,
        elements: &Elements,
    ) -> Settled {
        let (exprs, system) = (&self.model.exprs, &self.model.system);
        let (contacts, frictions) = (system.contacts.len(), system.frictions.len());
        let mut phase =
            Phase { closed: vec![false; contacts], modes: vec![Mode::Forward; frictions] };
        let mut shown = Shown {
            closed: vec![false; contacts],
            there: vec![true; contacts],
            sticks: vec![false; frictions],
            open_load: vec![false; contacts],
            open_force: vec![false; frictions],
        };
        let mut idle = Vec::new();
        if let Some((found, _)) = found {
            for (k, &(c, f)) in elements.of.iter().enumerate() {
                let (mode, bears) = (found.modes[k], found.support[k]);
                let touch = &elements.held[k].touch;
                if let Some(c) = c {
                    let is_open = |row: Option<usize>| row.is_some_and(|row| found.open[row]);
                    shown.closed[c] = mode != contact::Mode::Open;
                    shown.open_load[c] = is_open(touch.normal);
                    phase.closed[c] = bears != contact::Mode::Open;
                    if shown.closed[c] && !phase.closed[c] {
                        idle.push(c);
                    }
                }
                let Some(f) = f else { continue };
                shown.open_force[f] = touch.slip.is_some_and(|row| found.open[row]);
                if let Some(trial) = &elements.trials[f] {
                    let sticks = *trial == Trial::Stick;
                    let range = elements.rows[f].clone();
                    shown.open_force[f] = range.clone().any(|row| found.open[row]);
                    shown.sticks[f] = sticks && c.is_none_or(|c| shown.closed[c]);
                    phase.modes[f] = if sticks { Mode::Stick } else { Mode::Slip };
                    continue;
                }
                shown.sticks[f] = mode == contact::Mode::Stick;
                let is_held = shown.sticks[f] && c.is_some() && system.has_edges(exprs, f);
                phase.modes[f] = match bears {
                    contact::Mode::Stick => Mode::Stick,
                    contact::Mode::Backwards if is_held => Mode::HeldBackward,
                    contact::Mode::Forwards if is_held => Mode::HeldForward,
                    contact::Mode::Backwards => Mode::Backward,
                    // A load that moves nothing is borne by none, and yet acts.
                    contact::Mode::Open if mode == contact::Mode::Backwards => Mode::Backward,
                    contact::Mode::Forwards | contact::Mode::Open => match touch.moves {
                        Slip::Backwards => Mode::Backward,
                        _ => Mode::Forward,
                    },
                };
            }
        }
        let phase = phase.canonical(system);
        Settled {
            state,
            phase,
            shown,
            idle,
            grazing: Vec::new(),
            slow: Vec::new(),
            from: Vec::new(),
            fast: 0.0,
            late: 0.0,
            proved: elements.proved,
            v_dot: Vec::new(),
            struck: None,
            changes: Vec::new(),
        }
    }
}
