//! How each link moves beside what it stands on, by its own velocities: what recursions along a tree
//! are made of.
//!
//! ```text
//! carried   at P_B: linear R_A d' + off', angular R_A ω_D, by the joint's own coordinates
//! fixed     not at all
//! else      at its origin, by all velocities in it
//! Ways from link to link are turned arms, and no differences of positions.
//! ```
//!
//! Angular velocities of a joint are differentiated in the axes of its first attachment and turned
//! afterwards, so that no derivative walks down the tree.

use super::bodies::{Attitude, Body};
use super::joints;
use super::machines::{Footing, Target};
use super::rigid::{add, rates};
use super::*;
use crate::system::{Moving, Step, Steps};

/// A link that stands on nothing and has more velocities than this is moved by coordinates of others.
const OWN: usize = 12;

impl Resolver<'_, '_> {
    /// How a link moves beside what it stands on.
    pub(super) fn steps_of(
        &mut self,
        def: DefId,
        footing: Footing,
        body: &Body,
    ) -> Eval<Option<Steps>> {
        // A mass center that moves in its body is moved by others.
        if self.moves(&body.center) {
            return Ok(None);
        }
        let mut found = self.steps_by(def, footing, body)?;
        let is_given = self.is_given(&body.center);
        if let Some(steps) = found.as_mut().filter(|_| is_given) {
            steps.motion = None;
        }
        Ok(found)
    }

    fn is_given(&mut self, list: &[ExprId]) -> bool {
        list.iter().any(|&id| self.mask(id) & role::GIVEN != 0)
    }

    fn steps_by(&mut self, def: DefId, footing: Footing, body: &Body) -> Eval<Option<Steps>> {
        match footing {
            Footing::Carried(joint) => self.carried_steps(joint, body),
            Footing::On(target) => self.fixed_steps(def, target, body),
            Footing::Placed | Footing::Free(_) => Ok(self.rooted_steps(body)),
            Footing::Broken => Ok(None),
        }
    }

    fn moves(&mut self, list: &[ExprId]) -> bool {
        list.iter().any(|&id| self.mask(id) & role::POSITION != 0)
    }

    fn carried_steps(&mut self, at: usize, body: &Body) -> Eval<Option<Steps>> {
        let geometry = self.geometry(at)?;
        let mut is_given = false;
        for (place, turn) in &geometry.sides {
            let turn = turn.matrix(&self.exprs);
            is_given |= self.is_given(place) || self.is_given(turn.components());
            if self.moves(place) || self.moves(turn.components()) {
                return Ok(None);
            }
        }
        let first = self.attached(at, 0)?;
        let Some(targets) = self.machine.joints[at].targets else { return Ok(None) };
        let carrier = self.pose_of(targets[0], self.machine.joints[at].dimension)?;
        let motion = self.own_motion(at)?;
        let joint = &self.machine.joints[at];
        let own = joint.coordinates.iter().flatten().flatten().chain(&joint.released);
        let own: Vec<usize> = own.copied().collect();
        let velocities: Vec<Symbol> =
            own.iter().map(|&at| self.parts.coordinates[at].velocity).collect();
        let exprs = &self.exprs;
        let n = motion.along.len();
        let attached = carrier.turn.turned(exprs, &geometry.sides[0].0);
        let arm = first.turn.turned(exprs, &motion.along);
        let from_parent = add(exprs, &[&attached, &arm, &motion.displaced]);
        let back = body.pose().turn.turned(exprs, &geometry.sides[1].0);
        let to_origin = back.iter().map(|&e| (-exprs.at(e)).id).collect();
        let mut functions = rates(exprs, &motion.along);
        functions.extend(rates(exprs, &motion.displaced));
        functions.extend(joints::turn_of(exprs, &motion).omega(exprs));
        let slopes = exprs.jacobian(&functions, &velocities);
        // Of a list (d', off', ω_D) the twist in inertial axes.
        let whole = |list: &[ExprId]| -> Vec<ExprId> {
            let along = first.turn.turned(exprs, &list[..n]);
            let angular = match n {
                2 => list[2 * n..].to_vec(),
                _ => first.turn.turned(exprs, &list[2 * n..]),
            };
            add(exprs, &[&along, &list[n..2 * n]]).into_iter().chain(angular).collect()
        };
        let moving: Vec<(Symbol, ExprId)> = own
            .iter()
            .map(|&at| &self.parts.coordinates[at])
            .map(|c| (c.position, exprs.of_symbol(c.velocity)))
            .collect();
        let motion = (!is_given).then(|| Moving {
            twist: whole(&functions),
            drift: whole(&exprs.directional(&functions, &moving)),
        });
        let columns = own.iter().enumerate().map(|(k, &coordinate)| {
            let column: Vec<ExprId> = (0..functions.len()).map(|row| slopes.get(row, k)).collect();
            let mut linear = whole(&column);
            let angular = linear.split_off(n);
            Step { coordinate, linear, angular }
        });
        Ok(Some(Steps { from_parent, to_origin, columns: columns.collect(), motion }))
    }

    /// Of a frame that is fixed in something: where its place there moves, it is not.
    fn fixed_steps(&mut self, def: DefId, target: Target, body: &Body) -> Eval<Option<Steps>> {
        let Def { kind: DefKind::Body { fields, .. }, scope, env, .. } = self.defs[def.0 as usize]
        else {
            return Ok(None);
        };
        let cx = Cx { scope, env, locals: None, constant: false };
        let n = body.origin.len();
        let still = vec![ExprId::ZERO; n];
        let mut at = still.clone();
        let mut is_given = false;
        for field in fields.iter().filter(|f| matches!(&*f.name.text, "at" | "turning")) {
            let value = self.eval(&field.value, cx)?;
            if self.moves(value.components()) {
                return Ok(None);
            }
            is_given |= self.is_given(value.components());
            if &*field.name.text == "at" {
                at = value.components().to_vec();
            }
        }
        let from_parent = self.pose_of(target, n)?.turn.turned(&self.exprs, &at);
        let nothing = vec![ExprId::ZERO; if n == 2 { 3 } else { 6 }];
        let motion = (!is_given).then(|| Moving { twist: nothing.clone(), drift: nothing.clone() });
        Ok(Some(Steps { from_parent, to_origin: still, columns: Vec::new(), motion }))
    }

    fn rooted_steps(&mut self, body: &Body) -> Option<Steps> {
        let mut functions = body.origin_velocity.clone();
        let n = functions.len();
        match &body.attitude {
            Attitude::Point => functions.extend(vec![ExprId::ZERO; 2 * n - 3]),
            Attitude::Plane { omega, .. } => functions.push(*omega),
            Attitude::Space { omega, .. } => functions.extend(omega),
        }
        let symbols: FxHashSet<Symbol> = self.exprs.symbols_of(&functions).into_iter().collect();
        let coordinates = self.parts.coordinates.iter().enumerate();
        let own: Vec<(usize, Symbol)> = coordinates
            .filter(|(_, c)| symbols.contains(&c.velocity))
            .map(|(at, c)| (at, c.velocity))
            .collect();
        if own.len() > OWN {
            return None;
        }
        let velocities: Vec<Symbol> = own.iter().map(|own| own.1).collect();
        let slopes = self.exprs.jacobian(&functions, &velocities);
        let columns = own.iter().enumerate().map(|(k, &(coordinate, _))| {
            let column = (0..functions.len()).map(|row| slopes.get(row, k));
            let (linear, angular) = (column.clone().take(n), column.skip(n));
            Step { coordinate, linear: linear.collect(), angular: angular.collect() }
        });
        let columns = columns.collect();
        // Its twist is whole, with what time does; a rate that is no symbol yet is not looked into.
        let motion = functions.iter().all(|&id| self.mask(id) & role::STATE == 0).then(|| {
            let rates: Vec<ExprId> =
                functions.iter().map(|&id| self.exprs.time_derivative(id)).collect();
            let accelerations: FxHashSet<Symbol> =
                self.parts.coordinates.iter().map(|c| c.acceleration).collect();
            let still = |s: Symbol| accelerations.contains(&s).then_some(ExprId::ZERO);
            Moving { drift: self.exprs.substitute_with(&rates, still), twist: functions.clone() }
        });
        let still = vec![ExprId::ZERO; n];
        Some(Steps { from_parent: still.clone(), to_origin: still, columns, motion })
    }
}
