//! Starts in absolute coordinates: guesses for joint coordinates go down the tree.
//!
//! A body that a joint would carry is free in absolute coordinates. What is said of the joint's
//! coordinates at the start, as a guess or as an equation, gives the pose that the body would have if
//! it were carried; that is the guess for `b.r` and `b.e`, positions and velocities, and what stands on
//! frames of the body goes by it too. So a start that tells all joint coordinates is consistent in both
//! kinds of coordinates.

use super::*;
use crate::resolve::machines::Footing;
use crate::resolve::rigid::{quaternion_of, rates};
use crate::system::{Level, Start};
use crate::tree::StartRelation;

impl<'a> Resolver<'a, '_> {
    /// Guesses that no statement gives: quaternions without turn, and in absolute coordinates
    /// poses by the joints.
    pub(in crate::resolve) fn machine_guesses(&mut self) -> Vec<(ExprId, Start)> {
        let mut poses: FxHashMap<DefId, Pose> = FxHashMap::default();
        let mut guesses: Vec<(ExprId, Start)> = Vec::new();
        for def in self.machine.order.clone() {
            let Some(footing) = self.machine.footing.get(&def).copied() else { continue };
            let Footing::Free(by) = footing else {
                if let Some(pose) =
                    self.settle(|r| r.shadow_follower(def, footing, &poses)).flatten()
                {
                    poses.insert(def, pose);
                }
                continue;
            };
            let Some(&scope) = self.machine.inner.get(&def) else { continue };
            let span = self.defs[def.0 as usize].span;
            let e = self.inner_symbols(scope, "e");
            if let Some(&first) = e.first() {
                guesses.push(self.guess(first, ExprId::ONE, span));
            }
            let Some(at) = by else { continue };
            let Some(pose) = self.settle(|r| r.shadow_pose(at, &poses)) else { continue };
            poses.insert(def, pose.clone());
            let mut quantities = self.inner_symbols(scope, "r");
            let mut values = pose.origin.clone();
            match &pose.turn {
                Turn::Plane(angle) => {
                    quantities.extend(self.inner_symbols(scope, "angle"));
                    values.push(*angle);
                }
                Turn::Space(rotation) => {
                    quantities.extend(&e);
                    // Sines and cosines first: the quaternion of numbers is a number.
                    let known = self.with_guesses(rotation.components());
                    if let Some(known) = known {
                        let numbers = quaternion_of(&self.exprs, &known);
                        let moving = self.quaternion_rate(&pose, &numbers);
                        self.push_guesses(&mut guesses, &e, &numbers, span);
                        self.push_rates(&mut guesses, &e, &moving, span);
                    }
                }
            }
            let own = values.len();
            let rates = rates(&self.exprs, &values);
            if let Some(known) = self.with_guesses(&values) {
                self.push_guesses(&mut guesses, &quantities[..own], &known, span);
            }
            if let Some(known) = self.with_guesses(&rates) {
                self.push_rates(&mut guesses, &quantities[..own], &known, span);
            }
        }
        for at in 0..self.machine.joints.len() {
            let joint = &self.machine.joints[at];
            let (Some(kind), span) = (joint.kind, joint.instance.statement.span) else { continue };
            for (step, made) in joint.coordinates.clone().into_iter().enumerate() {
                if let (Move::Ball, Some(made)) = (kind.moves[step], made) {
                    let symbol = self.parts.coordinates[made[0]].position;
                    guesses.push(self.guess(symbol, ExprId::ONE, span));
                }
            }
        }
        guesses
    }

    /// e' = ½ (0, ω) e.
    fn quaternion_rate(&mut self, pose: &Pose, e: &[ExprId; 4]) -> Vec<ExprId> {
        let omega = pose.turn.omega(&self.exprs);
        let Some(omega) = self.with_guesses(&omega) else { return Vec::new() };
        let exprs = &self.exprs;
        let (w, u) = (exprs.at(e[0]), &e[1..]);
        let turn = Tensor::cross(exprs, &omega, u);
        let mut rates = vec![(-exprs.at(Tensor::dot(exprs, &omega, u)) / 2).id];
        rates.extend((0..3).map(|i| ((w * exprs.at(omega[i]) + exprs.at(turn[i])) / 2).id));
        rates
    }

    fn push_guesses(
        &mut self,
        list: &mut Vec<(ExprId, Start)>,
        symbols: &[Symbol],
        values: &[ExprId],
        span: Span,
    ) {
        for (&symbol, &value) in symbols.iter().zip(values) {
            // The one without turn was only for those of which nothing is known.
            let id = self.exprs.of_symbol(symbol);
            list.retain(|(left, _)| *left != id);
            list.push(self.guess(symbol, value, span));
        }
    }

    fn push_rates(
        &mut self,
        list: &mut Vec<(ExprId, Start)>,
        symbols: &[Symbol],
        values: &[ExprId],
        span: Span,
    ) {
        for (&symbol, &value) in symbols.iter().zip(values) {
            if let (true, Some(rate)) = (value != ExprId::ZERO, self.exprs.rate(symbol)) {
                list.push(self.guess(rate, value, span));
            }
        }
    }

    fn guess(&mut self, symbol: Symbol, value: ExprId, span: Span) -> (ExprId, Start) {
        let left = self.exprs.of_symbol(symbol);
        let level = match self.role(symbol) {
            role::POSITION => Level::Position,
            _ => Level::Velocity,
        };
        let start = Start {
            level,
            relation: StartRelation::Near,
            left,
            right: value,
            text: self.exprs.symbol_info(symbol).full_name(),
            guess: Some(symbol),
            span,
        };
        (left, start)
    }

    /// The symbols of a coordinate in the scope of a body.
    pub(in crate::resolve) fn inner_symbols(&self, scope: ScopeId, name: &str) -> Vec<Symbol> {
        let prefix = self.full_name(scope, name, &[]);
        let is_own = |full: &str| {
            full.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        };
        let own = self.parts.coordinates.iter().filter(|c| is_own(&c.name));
        own.map(|c| c.position).collect()
    }

    /// The pose that a joint would give to its second side, in symbols that stand for its
    /// coordinates.
    fn shadow_pose(&mut self, at: usize, poses: &FxHashMap<DefId, Pose>) -> Eval<Pose> {
        let geometry = self.geometry(at)?;
        let target = self.targets(at)?[0];
        let known = match target {
            Target::Def(def) => poses.get(&def).cloned(),
            Target::Ground => None,
        };
        let pose = match known {
            Some(pose) => pose,
            None => self.pose_of(target, self.machine.joints[at].dimension)?,
        };
        let (u, turn) = &geometry.sides[0];
        let first = pose.attach(&self.exprs, u, turn);
        let shadows = self.machine.joints[at].shadows.clone();
        let values: Vec<Vec<ExprId>> = shadows
            .iter()
            .map(|list| list.iter().map(|&s| self.exprs.of_symbol(s)).collect())
            .collect();
        let motion = self.motion(at, &values, &[])?;
        self.moved(at, &first, &motion)
    }

    /// The pose of a frame that stands on something whose pose is known by symbols only: fixed in it,
    /// or carried by a joint.
    fn shadow_follower(
        &mut self,
        def: DefId,
        footing: Footing,
        poses: &FxHashMap<DefId, Pose>,
    ) -> Eval<Option<Pose>> {
        let below = match self.parent(def) {
            Some(Target::Def(below)) => poses.get(&below),
            _ => None,
        };
        match (below, footing) {
            (Some(base), Footing::On(_)) => Ok(Some(self.fixed_pose(def, base)?)),
            (Some(_), Footing::Carried(at)) => Ok(Some(self.shadow_pose(at, poses)?)),
            _ => Ok(None),
        }
    }

    /// Expressions with the guesses put in; `None` if they depend on something else that moves.
    fn with_guesses(&mut self, ids: &[ExprId]) -> Option<Vec<ExprId>> {
        let symbols = self.exprs.symbols_of(ids);
        let mut map: Vec<(Symbol, ExprId)> = Vec::new();
        for symbol in symbols {
            match self.role(symbol) {
                role::PARAMETER | role::TIME | role::INPUT => {}
                _ => {
                    let otherwise = self.machine.balls.contains(&symbol);
                    let otherwise = if otherwise { ExprId::ONE } else { ExprId::ZERO };
                    let value = self.machine.guesses.get(&symbol).copied();
                    map.push((symbol, value.unwrap_or(otherwise)));
                }
            }
        }
        let values = self.exprs.substitute(ids, &map);
        let known = role::PARAMETER | role::TIME | role::INPUT;
        values.iter().all(|&id| self.mask(id) & !known == 0).then_some(values)
    }
}
