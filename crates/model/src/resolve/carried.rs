//! The coordinates of bodies and joints: who carries is asked, who closes is not, and a joint whose
//! reaction is wanted is released.

use super::joints::kinds::Move;
use super::machines::Footing;
use super::*;
use crate::tree::{Name, StatementKind};

impl<'a> Resolver<'a, '_> {
    /// Enters the coordinates of free bodies and of joints, in the order of the text.
    pub(super) fn machine_coordinates(&mut self) {
        for instance in self.instances.clone() {
            match &instance.statement.kind {
                StatementKind::Body { entry, .. } => {
                    let key = (instance.statement.span, instance.scope, instance.env);
                    let Some(&def) = self.body_defs.get(&key) else { continue };
                    if let Some(Footing::Free(_)) = self.machine.footing.get(&def) {
                        let _ = self.free_coordinates(def, entry.span, instance);
                    }
                }
                StatementKind::Joint { .. } => {
                    let key = (instance.statement.span, instance.scope, instance.env);
                    if let Some(&at) = self.machine.by_statement.get(&key) {
                        let _ = self.joint_coordinates(at);
                    }
                }
                _ => {}
            }
        }
    }

    /// A scope for what stands behind the dot of a body or joint.
    pub(super) fn inner_scope(
        &mut self,
        def: DefId,
        name: &str,
        instance: Instance<'a>,
    ) -> ScopeId {
        if let Some(&scope) = self.machine.inner.get(&def) {
            return scope;
        }
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(Scope {
            prefix: format!("{name}."),
            parent: Some(instance.scope),
            outer_env: instance.env,
            model: usize::MAX,
            ..Scope::default()
        });
        self.machine.inner.insert(def, id);
        id
    }

    /// Enters `name`, or `name[from]`, `name[from + 1]`, … in a scope; gives back their places among
    /// the coordinates.
    pub(super) fn inner_coordinates(
        &mut self,
        scope: ScopeId,
        name: &str,
        indices: Option<std::ops::RangeInclusive<i64>>,
        span: Span,
    ) -> Eval<Vec<usize>> {
        let name = Name { text: name.into(), span };
        let table = &mut self.scopes[scope.0 as usize];
        table.declared.entry(name.text.clone()).or_insert((Kind::Coord, span));
        let first = self.parts.coordinates.len();
        match indices {
            None => self.enter_coord(&name, Indices::new(), scope, EnvId(0))?,
            Some(range) => {
                for i in range {
                    self.spend(1, span)?;
                    self.enter_coord(&name, [i].into_iter().collect(), scope, EnvId(0))?;
                }
            }
        }
        Ok((first..self.parts.coordinates.len()).collect())
    }

    /// Enters rows with a label of their own inside a scope. Their value is given, or evaluated
    /// when it is asked for.
    pub(super) fn inner_rows(
        &mut self,
        scope: ScopeId,
        label: &str,
        kind: DefKind<'a>,
        span: Span,
    ) -> usize {
        let number = self.constraint_rows.len();
        let def = self.new_def(kind, scope, EnvId(0), span);
        let name = Name { text: label.into(), span };
        let _ = self.enter_label(&name, Indices::new(), false, number, scope);
        self.constraint_rows.push(ConstraintGroup {
            def,
            label: self.full_name(scope, label, &[]),
            indexed: false,
            unnamed: None,
            contact: None,
            by: None,
            span,
        });
        number
    }

    /// e·e = 1.
    fn unit_row(&mut self, scope: ScopeId, e: &[usize], span: Span) {
        let e: Vec<ExprId> = e.iter().map(|&at| self.coordinate_value(at)).collect();
        let square = Value::dot(&self.exprs, &e, &e);
        let residual = (self.exprs.at(square) - 1).id;
        let number = self.inner_rows(scope, "unit", DefKind::Known, span);
        let def = self.constraint_rows[number].def;
        self.defs[def.0 as usize].state = State::Done(Value::Scalar(residual));
    }

    pub(super) fn coordinate_value(&self, at: usize) -> ExprId {
        self.exprs.of_symbol(self.parts.coordinates[at].position)
    }

    fn free_coordinates(&mut self, def: DefId, span: Span, instance: Instance<'a>) -> Eval<()> {
        let StatementKind::Body { entry, .. } = &instance.statement.kind else { return Ok(()) };
        let cx = self.constant_cx(instance.scope, instance.env);
        let indices = self.indices(&entry.indices, cx)?;
        let name = self.full_name(instance.scope, &entry.name.text, &indices);
        let scope = self.inner_scope(def, &name, instance);
        let n = self.machine.dimension.get(&def).copied().unwrap_or(3);
        self.inner_coordinates(scope, "r", Some(1..=n as i64), span)?;
        if n == 2 {
            self.inner_coordinates(scope, "angle", None, span)?;
            return Ok(());
        }
        let e = self.inner_coordinates(scope, "e", Some(0..=3), span)?;
        self.machine.balls.insert(self.parts.coordinates[e[0]].position);
        self.unit_row(scope, &e, span);
        Ok(())
    }

    fn joint_coordinates(&mut self, at: usize) -> Eval<()> {
        let joint = &self.machine.joints[at];
        let (Some(kind), Some(_)) = (joint.kind, joint.targets) else { return Ok(()) };
        let (def, instance, n) = (joint.def, joint.instance, joint.dimension);
        let (name, carries, span) = (joint.name.clone(), joint.carries, instance.statement.span);
        if n == 2 && kind.plane_axes.is_none() {
            let StatementKind::Joint { kind: word, .. } = &instance.statement.kind else {
                return Ok(());
            };
            let message = format!("there is no `{}` joint in the plane", word.text);
            self.machine.joints[at].targets = None;
            return Err(self.report(
                Diagnostic::fault(Code::JointKind, word.span, message)
                    .hint("in the plane joints are `fixed`, `pin` and `slider`; a body in space has three moments of inertia"),
            ));
        }
        let scope = self.inner_scope(def, &name, instance);
        for (place, &step) in kind.moves.iter().enumerate() {
            let indices = match step {
                Move::Ball => Some(0..=3),
                _ => kind.index(place).map(|i| i..=i),
            };
            // In space the angle of a joint that closes is a coordinate that its row determines:
            // so it goes on over turns.
            let asked = step.turns_about().is_some()
                && n == 3
                && (self.is_asked(at, &["angle"]) || step == Move::Screw);
            let made = match carries || asked {
                true => Some(self.inner_coordinates(scope, step.name(), indices, span)?),
                false => None,
            };
            if let (Move::Ball, Some(e)) = (step, &made) {
                self.unit_row(scope, e, span);
            }
            let shadows: Vec<Symbol> = match &made {
                Some(list) => list.iter().map(|&at| self.parts.coordinates[at].position).collect(),
                None => self.shadow_symbols(&name, step),
            };
            if step == Move::Ball {
                self.machine.balls.extend(shadows.first());
            }
            self.machine.joints[at].coordinates.push(made);
            self.machine.joints[at].shadows.push(shadows);
        }
        let turns = self.machine.joints[at].coordinates.iter().zip(kind.moves);
        let turns = turns.filter(|(made, step)| made.is_some() && step.turns_about().is_some());
        if !carries && turns.count() > 0 {
            self.inner_rows(scope, "turn", DefKind::Turns(at), span);
        }
        if !carries {
            let StatementKind::Joint { entry, .. } = &instance.statement.kind else {
                return Ok(());
            };
            let number = self.constraint_rows.len();
            let rows = self.new_def(DefKind::Rows(at), instance.scope, instance.env, span);
            let cx = self.constant_cx(instance.scope, instance.env);
            let indices = self.indices(&entry.indices, cx)?;
            let indexed = self.machine.joints[at].indexed;
            self.enter_label(&entry.name, indices, false, number, instance.scope)?;
            self.constraint_rows.push(ConstraintGroup {
                def: rows,
                label: name,
                indexed,
                unnamed: None,
                contact: None,
                by: None,
                span,
            });
            self.machine.joints[at].group = Some(number);
        } else if self.is_asked(at, &["force", "torque", "off"]) {
            self.release(at, scope, span)?;
        }
        Ok(())
    }

    /// Makes the forbidden displacements of a joint coordinates, and rows of them that hold it.
    fn release(&mut self, at: usize, scope: ScopeId, span: Span) -> Eval<()> {
        let joint = &self.machine.joints[at];
        let Some(kind) = joint.kind else { return Ok(()) };
        let n = joint.dimension;
        let count: usize = kind.held(n).map(|held| held.size(n)).sum();
        if count == 0 {
            return Ok(());
        }
        let released = self.inner_coordinates(scope, "off", Some(1..=count as i64), span)?;
        let values: Vec<ExprId> = released.iter().map(|&at| self.coordinate_value(at)).collect();
        let number = self.inner_rows(scope, "hold", DefKind::Known, span);
        let def = self.constraint_rows[number].def;
        self.defs[def.0 as usize].state = State::Done(Value::vector(values));
        let joint = &mut self.machine.joints[at];
        (joint.released, joint.group) = (released, Some(number));
        Ok(())
    }

    /// Symbols for the coordinates that a joint would have if it carried.
    fn shadow_symbols(&mut self, name: &str, step: Move) -> Vec<Symbol> {
        let count = if step == Move::Ball { 4 } else { 1 };
        (0..count)
            .map(|_| {
                let number = self.machine.shadows;
                self.machine.shadows += 1;
                let shown = format!("{name}.{}~{number}", step.name());
                let symbol = self.exprs.symbol(&shown, dalembert_expr::SymbolKind::Variable);
                self.set_role(symbol, role::SHADOW);
                if let Some(rate) = self.exprs.rate(symbol) {
                    self.set_role(rate, role::SHADOW);
                }
                symbol
            })
            .collect()
    }
}
