//! Parameters: what they are made of, and their numbers.

use super::*;
use crate::tree::{Family, StatementKind};

impl<'a> Resolver<'a, '_> {
    /// Values of parameters; what they may be made of.
    pub(super) fn resolve_parameters(&mut self) {
        for instance in self.instances.clone() {
            let StatementKind::Param(list) = &instance.statement.kind else { continue };
            for (family, value) in list {
                self.resolve_parameter(family, value.as_ref(), instance);
            }
        }
        self.parameter_cycles();
    }

    fn resolve_parameter(
        &mut self,
        family: &'a Family,
        value: Option<&'a Expr>,
        instance: Instance<'a>,
    ) {
        let Instance { scope, env, .. } = instance;
        let cx = self.scope_cx(&instance);
        let Ok(entries) = self.family_indices(family, self.constant_cx(scope, env)) else { return };
        let count = entries.len();
        // Parameters of parts are evaluated when they are used, but for those
        // that `--set` gives.
        let is_setting = |r: &Self, indices: &[i64]| {
            let info = r.scopes[scope.0 as usize].names.get(&family.name.text);
            let def = info.and_then(|i| i.plain.or_else(|| i.entries.get(indices).copied()));
            def.is_some_and(|d| matches!(r.defs[d.0 as usize].kind, DefKind::Setting { .. }))
        };
        if entries.iter().any(|indices| is_setting(self, indices)) {
            // What every part replaces is looked at all the same.
            if let Some(value) = value {
                let _ = self.settle(|r| r.eval(value, cx));
            }
            return;
        }
        // A value for the whole family is evaluated once, then handed out.
        let mut given: Option<Vec<ExprId>> = None;
        if let Some(value) = value {
            given = self.settle(|r| r.parameter_values(value, count, cx));
            if given.is_none() {
                return;
            }
        }
        for (place, indices) in entries.into_iter().enumerate() {
            let full = self.full_name(scope, &family.name.text, &indices);
            let mut chosen = given.as_ref().map(|list| list[place]);
            if let Some(value) =
                self.take_override(&full, &self.full_name(scope, &family.name.text, &[]))
            {
                let cx = Cx { scope: ScopeId(0), env: EnvId(0), locals: None, constant: false };
                let Some(list) = self.settle(|r| r.parameter_values(value, count, cx)) else {
                    continue;
                };
                chosen = Some(list[if list.len() > 1 { place } else { 0 }]);
            }
            let index = self.parameter_index(scope, &family.name.text, &indices);
            if let Some(index) = index {
                self.parts.parameters[index].value = chosen;
            }
        }
    }

    fn parameter_index(&self, scope: ScopeId, name: &str, indices: &[i64]) -> Option<usize> {
        let info = self.scopes[scope.0 as usize].names.get(name)?;
        let def = if indices.is_empty() { info.plain? } else { *info.entries.get(indices)? };
        match self.defs[def.0 as usize].kind {
            DefKind::Param(index) => Some(index),
            _ => None,
        }
    }

    /// A parameter is a number.
    pub(super) fn parameter_moves<T>(&mut self, id: ExprId, span: Span) -> Eval<T> {
        let symbols = self.exprs.symbols_of(&[id]);
        let culprit = symbols.into_iter().find(|&s| self.role(s) & !role::PARAMETER != 0);
        let name = culprit.map(|s| self.exprs.symbol_info(s).full_name()).unwrap_or_default();
        Err(self.report(
            Diagnostic::fault(
                Code::ParameterMoves,
                span,
                format!("a parameter is a number, and `{name}` changes with time"),
            )
            .hint("use `let` for a quantity that moves"),
        ))
    }

    /// One value for each of `count` parameters.
    fn parameter_values(&mut self, value: &'a Expr, count: usize, cx: Cx<'_>) -> Eval<Vec<ExprId>> {
        let result = self.eval(value, cx)?;
        for &id in result.components() {
            if self.mask(id) & !role::PARAMETER != 0 {
                return self.parameter_moves(id, value.span);
            }
        }
        match result.components() {
            [single] if result.scalar().is_some() => Ok(vec![*single; count]),
            list if list.len() == count => Ok(list.to_vec()),
            list => {
                let (message, hint) = match (list.len(), count) {
                    (n, 1) => (
                        format!("{n} values for one parameter"),
                        format!(
                            "declare a family, `param a[1..{n}] = …`, or name the vector with `let`"
                        ),
                    ),
                    (n, _) => (
                        format!("{n} values for {count} parameters"),
                        "give one value for all, or a list with one for each".to_owned(),
                    ),
                };
                Err(self.report(Diagnostic::fault(Code::Shape, value.span, message).hint(hint)))
            }
        }
    }

    /// `param a = b, b = a`.
    fn parameter_cycles(&mut self) {
        let by_symbol: FxHashMap<Symbol, usize> =
            self.parts.parameters.iter().enumerate().map(|(i, p)| (p.symbol, i)).collect();
        let uses: Vec<Vec<usize>> = (0..self.parts.parameters.len())
            .map(|i| match self.parts.parameters[i].value {
                Some(value) => {
                    let symbols = self.exprs.symbols_of(&[value]);
                    symbols.iter().filter_map(|s| by_symbol.get(s).copied()).collect()
                }
                None => Vec::new(),
            })
            .collect();
        // Peel off parameters whose needs are met; what is left is circular.
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); uses.len()];
        let mut missing: Vec<usize> = uses.iter().map(Vec::len).collect();
        for (i, list) in uses.iter().enumerate() {
            list.iter().for_each(|&j| users[j].push(i));
        }
        let mut ready: Vec<usize> = (0..uses.len()).filter(|&i| missing[i] == 0).collect();
        let mut order = Vec::with_capacity(uses.len());
        while let Some(i) = ready.pop() {
            order.push(i);
            for &user in &users[i] {
                missing[user] -= 1;
                if missing[user] == 0 {
                    ready.push(user);
                }
            }
        }
        // Every parameter left uses one that is left too: following these leads
        // into a circle. Others that are left only depend on one.
        let mut visited = vec![false; uses.len()];
        for start in 0..uses.len() {
            let mut path: Vec<usize> = Vec::new();
            let mut next = (missing[start] > 0).then_some(start);
            while let Some(at) = next.filter(|&at| !visited[at]) {
                visited[at] = true;
                path.push(at);
                next = uses[at].iter().copied().find(|&used| missing[used] > 0);
            }
            let circle = next.and_then(|back| path.iter().position(|&at| at == back));
            if let Some(from) = circle {
                self.report_parameter_cycle(&path[from..]);
            }
        }
    }

    fn report_parameter_cycle(&mut self, circle: &[usize]) {
        let Some((&first, others)) = circle.split_first() else { return };
        let parameters = &self.parts.parameters;
        let message =
            format!("the value of parameter `{}` leads back to itself", parameters[first].name);
        let mut diagnostic =
            Diagnostic::fault(Code::CircularDefinition, parameters[first].span, message);
        for &other in others.iter().take(3) {
            diagnostic = diagnostic.with(parameters[other].span, "by way of this one");
        }
        self.report(diagnostic.hint(match others.is_empty() {
            true => "give it a value that does not use it",
            false => "one of them must be given without the others",
        }));
    }

    /// The numeric value of an expression of parameters, if all are known.
    pub(super) fn parameter_value(&mut self, id: ExprId) -> Option<f64> {
        self.known_value(id).filter(|value| value.is_finite())
    }

    /// The same where it is no number: −∞, ∞ or not a number.
    pub(super) fn not_finite(&mut self, id: ExprId) -> Option<&'static str> {
        match self.known_value(id)? {
            value if value.is_finite() => None,
            value if value.is_nan() => Some("not a number"),
            value if value > 0.0 => Some("infinite"),
            _ => Some("minus infinity"),
        }
    }

    /// Faults parameters whose value is not finite.
    pub(super) fn finite_parameters(&mut self) {
        let values = crate::parameters::values(&self.exprs, &self.parts.parameters);
        let wrong: Vec<(String, Span)> = self
            .parts
            .parameters
            .iter()
            .filter(|p| values.get(&p.symbol).is_some_and(|value| !value.is_finite()))
            .map(|p| (p.name.clone(), p.span))
            .collect();
        for (name, span) in wrong {
            self.report(
                Diagnostic::fault(
                    Code::NotANumber,
                    span,
                    format!("the value of parameter `{name}` is not a finite number"),
                )
                .hint("something is divided by 0 in it, or a root or logarithm does not exist"),
            );
        }
    }

    pub(super) fn known_value(&mut self, id: ExprId) -> Option<f64> {
        if self.mask(id) & !role::PARAMETER != 0 {
            return None;
        }
        // Once all parameters are resolved, their values stay what they are, and with them those
        // of what they are in.
        let (values, kept) = self.parameter_values.get_or_insert_with(|| {
            let values = crate::parameters::values(&self.exprs, &self.parts.parameters);
            (values, KeptValues::default())
        });
        self.exprs.eval_kept(kept, id, |s| values.get(&s).copied())
    }
}
