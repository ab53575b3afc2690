//! What no evaluation comes to: loops and sums without turns, branches whose condition
//! is known to fail, functions that nothing calls, the gravity of a model without
//! bodies.
//!
//! All of these are right. An entry that does not exist may be named there, as in
//! `if(i > 1, x[i-1], 0)`; but a name that nothing declares is wrong whatever the
//! ranges are. So names are looked up and indices are not, except where a function
//! would come to them in every call.

use super::*;
use crate::tree::{Argument, ExprKind, Name, PostfixKind, RunOption, StatementKind};
use crate::walk;

impl<'a> Resolver<'a, '_> {
    /// Looks up the names of an expression that is not evaluated. `bound` are those
    /// that its own sums, or the function it belongs to, give a meaning.
    pub(super) fn names_exist(&mut self, expr: &'a Expr, bound: &mut Vec<&'a str>, cx: Cx<'_>) {
        if self.unvisited.insert(expr.span) {
            self.look_up(expr, bound, cx);
        }
    }

    fn look_up(&mut self, expr: &'a Expr, bound: &mut Vec<&'a str>, cx: Cx<'_>) {
        match &expr.kind {
            ExprKind::Name(name) => self.look_up_name(name, expr.span, false, bound, cx),
            ExprKind::Postfix(base, operations) => {
                let is_call = matches!(
                    operations.first().map(|operation| &operation.kind),
                    Some(PostfixKind::Call(_))
                );
                let mut labels_from = usize::MAX;
                match &base.kind {
                    ExprKind::Name(name) => {
                        self.look_up_name(name, base.span, is_call, bound, cx);
                        // Labels of constraints have names of their own.
                        labels_from = match &**name {
                            "multiplier" | "residual" => 0,
                            "reaction" => 1,
                            _ => usize::MAX,
                        };
                    }
                    _ => self.look_up(base, bound, cx),
                }
                let outer = bound.len();
                for operation in operations {
                    match &operation.kind {
                        PostfixKind::Prime | PostfixKind::Member(_) => {}
                        PostfixKind::Index(list) => {
                            list.iter().for_each(|index| self.look_up(index, bound, cx));
                        }
                        PostfixKind::Call(arguments) => {
                            for (at, argument) in arguments.iter().enumerate() {
                                for value in walk::of_argument(argument) {
                                    match at < labels_from {
                                        true => self.look_up(value, bound, cx),
                                        // All labels are known once everything was entered.
                                        false => self.unvisited_labels.push((value, cx.scope)),
                                    }
                                }
                                if let Argument::Binder(index, _) = argument {
                                    bound.push(&index.text);
                                }
                            }
                        }
                    }
                }
                bound.truncate(outer);
            }
            _ => {
                for child in walk::children(expr) {
                    self.look_up(child, bound, cx);
                }
            }
        }
    }

    fn look_up_name(
        &mut self,
        name: &Arc<str>,
        span: Span,
        called: bool,
        bound: &[&str],
        cx: Cx<'_>,
    ) {
        if !bound.contains(&&**name) && !self.is_known(name, cx) {
            let _ = self.unknown::<()>(name, span, cx, called);
        }
    }

    /// Whether a name means something at a place.
    fn is_known(&self, name: &Arc<str>, cx: Cx<'_>) -> bool {
        let mut local = cx.locals;
        while let Some(this) = local {
            if this.name == &**name {
                return true;
            }
            local = this.outer;
        }
        let mut env = cx.env;
        while env != EnvId(0) {
            let this = &self.envs[env.0 as usize];
            if this.index.as_ref().is_some_and(|(index, _)| index == name)
                || this.locals.contains_key(name)
            {
                return true;
            }
            env = this.parent;
        }
        let scope = &self.scopes[cx.scope.0 as usize];
        scope.declared.contains_key(name)
            || self.momentum_of(name, cx.scope).is_some()
            || names::is_reserved(name)
            || &**name == "ground"
    }

    /// A sum or product without turns.
    pub(super) fn no_turn(&mut self, binders: &'a [Argument], body: &'a Expr, cx: Cx<'_>) {
        let mut bound = Vec::new();
        for (at, binder) in binders.iter().enumerate() {
            // The range of the first one was evaluated.
            for value in walk::of_argument(binder).into_iter().filter(|_| at > 0) {
                self.names_exist(value, &mut bound, cx);
            }
            if let Argument::Binder(index, _) = binder {
                bound.push(&index.text);
            }
        }
        self.names_exist(body, &mut bound, cx);
    }

    /// A loop without turns.
    pub(super) fn no_turn_of_loop(&mut self, index: &'a Name, body: &'a [Statement], cx: Cx<'_>) {
        let cx = Cx { constant: false, ..cx };
        let mut pending: Vec<(&'a Statement, Vec<&'a str>)> =
            body.iter().map(|statement| (statement, vec![&*index.text])).collect();
        while let Some((statement, mut bound)) = pending.pop() {
            for expr in walk::of_statement(statement) {
                // The arguments of a function; harmless beside a plain `let`.
                let outer = bound.len();
                bound.extend(walk::bound_names(statement));
                self.names_exist(expr, &mut bound, cx);
                bound.truncate(outer);
            }
            if let StatementKind::For { index, body, .. } = &statement.kind {
                let mut bound = bound.clone();
                bound.push(&index.text);
                pending.extend(body.iter().map(|statement| (statement, bound.clone())));
            }
        }
    }

    /// Functions that nothing calls, gravity that acts on nothing, the `run` of a part.
    pub(super) fn look_at_the_unvisited(&mut self) {
        for index in 0..self.defs.len() {
            let def = DefId(index as u32);
            let Def { kind: DefKind::Function(define), scope, env, .. } = self.defs[index] else {
                continue;
            };
            if self.called.contains(&def) {
                continue;
            }
            let arguments = define.arguments.as_deref().unwrap_or(&[]);
            let mut bound: Vec<&'a str> = arguments.iter().map(|name| &*name.text).collect();
            let cx = Cx { scope, env, locals: None, constant: false };
            self.probe(&define.value, &mut bound, cx);
        }
        for scope in 0..self.scopes.len() {
            if let Some((value, env)) = self.scopes[scope].gravity {
                let scope = ScopeId(scope as u32);
                let cx = Cx { scope, env, locals: None, constant: false };
                let _ = self.settle(|r| match r.field_function(value, cx)? {
                    Some(_) => Ok(()),
                    None => r.eval(value, cx).map(|_| ()),
                });
            }
        }
        for instance in self.instances.clone() {
            let StatementKind::Run(options) = &instance.statement.kind else { continue };
            let cx = self.scope_cx(&instance);
            for option in options.iter().filter(|_| instance.scope != ScopeId(0)) {
                let values: &[&'a Expr] = match option {
                    RunOption::Time(range) => &[&range.from, &range.to],
                    RunOption::Every(value) | RunOption::Tolerance(value) => &[value],
                    _ => &[],
                };
                for &value in values {
                    let _ = self.settle(|r| r.eval(value, cx));
                }
            }
        }
    }

    /// Labels of constraints that nothing asked for: a name that no constraint has is wrong.
    pub(super) fn look_up_labels(&mut self) {
        for (label, scope) in std::mem::take(&mut self.unvisited_labels) {
            let (base, is_member) = match &label.kind {
                ExprKind::Postfix(base, operations) => {
                    let is_member = |o: &tree::Postfix| matches!(o.kind, PostfixKind::Member(_));
                    (&**base, operations.iter().any(is_member))
                }
                _ => (label, false),
            };
            let ExprKind::Name(name) = &base.kind else { continue };
            let table = &self.scopes[scope.0 as usize];
            let is_label =
                !is_member && (table.labels.contains_key(name) || table.label_names.contains(name));
            if !is_label && !table.declared.contains_key(name) && !names::is_unnamed_label(name) {
                let _ = self.unknown_constraint::<()>(name, label.span);
            }
        }
    }

    /// The body of a function that nothing calls: what does not depend on its arguments
    /// is evaluated, since every call would come to it.
    fn probe(&mut self, expr: &'a Expr, bound: &mut Vec<&'a str>, cx: Cx<'_>) {
        let ExprKind::Postfix(base, operations) = &expr.kind else {
            match &expr.kind {
                ExprKind::Name(name) if !bound.contains(&&**name) => {
                    let _ = self.settle(|r| r.eval(expr, cx));
                }
                _ => {
                    for child in walk::children(expr) {
                        self.probe(child, bound, cx);
                    }
                }
            }
            return;
        };
        let call = match (&base.kind, operations.first().map(|operation| &operation.kind)) {
            (ExprKind::Name(name), Some(PostfixKind::Call(arguments))) => Some((name, arguments)),
            _ => None,
        };
        if !mentions(expr, bound) {
            let _ = self.settle(|r| r.eval(expr, cx));
            return;
        }
        match call {
            // What is under a condition, or in a sum, may never be come to.
            Some((name, _)) if matches!(&**name, "if" | "sum" | "product") => {
                self.names_exist(expr, bound, cx);
            }
            Some((name, _)) if matches!(&**name, "multiplier" | "residual" | "reaction") => {
                self.names_exist(expr, bound, cx);
            }
            _ => {
                match &base.kind {
                    ExprKind::Name(name) => {
                        self.look_up_name(name, base.span, call.is_some(), bound, cx);
                    }
                    _ => self.probe(base, bound, cx),
                }
                for child in walk::children(expr).into_iter().skip(1) {
                    self.probe(child, bound, cx);
                }
            }
        }
    }
}

/// Whether an expression holds one of these names.
fn mentions(expr: &Expr, bound: &[&str]) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => bound.contains(&&**name),
        _ => walk::children(expr).into_iter().any(|child| mentions(child, bound)),
    }
}
