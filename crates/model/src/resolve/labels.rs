//! Constraints by their labels: `multiplier(rod)`, `residual(a.pin[3])`,
//! `reaction(x, rod)`, and the unknowns of the solution these stand for.

use super::value::Value;
use super::*;
use crate::system::OfTouch;
use crate::tree::Argument;
use dalembert_expr::SymbolKind;

impl<'a> Resolver<'a, '_> {
    pub(super) fn label_argument(
        &mut self,
        arguments: &'a [Argument],
        at: usize,
        call: Span,
    ) -> Eval<&'a Expr> {
        match arguments.get(at) {
            Some(Argument::Value(expr)) => Ok(expr),
            Some(Argument::Binder(index, _)) => self.fault(
                Code::BinderPlace,
                index.span,
                "the label of a constraint is needed here",
            ),
            None => Err(self.already(call)),
        }
    }

    /// The constraint statements an expression names, and a component if it
    /// says one: `rod`, `pin[3]`, `pin` (all), `roll[2]` (a component).
    fn constraint_reference(
        &mut self,
        expr: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<(Vec<usize>, Option<usize>)> {
        let (scope, name, list) = self.label_path(expr, cx)?;
        let indices = self.indices(list, cx)?;
        let found = match self.scopes[scope.0 as usize].labels.get(name) {
            Some(info) if info.is_event => None,
            Some(info) => match info.plain {
                Some(group) => Some(vec![(Indices::new(), group)]),
                None => Some(info.entries.iter().map(|(i, g)| (i.clone(), *g)).collect()),
            },
            None => self.unnamed_constraint(scope, name).map(|group| vec![(Indices::new(), group)]),
        };
        let Some(mut groups) = found else {
            self.carried_multiplier(scope, name, expr.span)?;
            return self.unknown_constraint(name, expr.span);
        };
        groups.sort();
        if indices.is_empty() {
            return Ok((groups.into_iter().map(|g| g.1).collect(), None));
        }
        // The statement's own indices first, then one more for the component.
        let exact: Vec<usize> =
            groups.iter().filter(|g| *g.0 == *indices && !g.0.is_empty()).map(|g| g.1).collect();
        if !exact.is_empty() {
            return Ok((exact, None));
        }
        let (&last, first) = indices.split_last().unwrap_or((&0, &[]));
        match groups.iter().find(|g| *g.0 == *first) {
            Some(&(_, group)) if last >= 1 => Ok((vec![group], Some(last as usize - 1))),
            _ => self.unknown_constraint(&names::with_indices(name, &indices), expr.span),
        }
    }

    /// A joint that carries has no rows.
    fn carried_multiplier(&mut self, scope: ScopeId, name: &Arc<str>, span: Span) -> Eval<()> {
        let info = self.scopes[scope.0 as usize].names.get(name);
        if info.is_none_or(|info| info.kind != Kind::Joint) {
            return Ok(());
        }
        Err(self.report(
            Diagnostic::fault(
                Code::CarriedMultiplier,
                span,
                format!("`{name}` carries its body, and has no rows with multipliers"),
            )
            .hint(format!("what it holds with is `{name}.force` and `{name}.torque`")),
        ))
    }

    /// The full name of one row of a constraint statement.
    pub(super) fn row_name(&self, group: usize, at: usize, residual: &Value) -> String {
        let ConstraintGroup { label, indexed, .. } = &self.constraint_rows[group];
        let component = match residual {
            Value::Scalar(_) => return label.clone(),
            Value::Vector(_) => format!("{}", at + 1),
            Value::Matrix { columns, .. } => format!("{},{}", at / columns + 1, at % columns + 1),
        };
        match label.strip_suffix(']') {
            Some(open) if *indexed => format!("{open},{component}]"),
            _ => format!("{label}[{component}]"),
        }
    }

    /// `rod`, `pin[3]`, `a.rod`, `a[2].pin[3]`: where to look, for what, and the
    /// indices behind it.
    fn label_path(
        &mut self,
        expr: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<(ScopeId, &'a Arc<str>, &'a [Expr])> {
        use crate::tree::{ExprKind, PostfixKind};
        let (base, mut operations) = match &expr.kind {
            ExprKind::Name(name) => return Ok((cx.scope, name, &[])),
            ExprKind::Postfix(base, operations) => (base, operations.as_slice()),
            ExprKind::Missing => return Err(self.already(expr.span)),
            _ => return self.not_a_label(expr),
        };
        let ExprKind::Name(mut_name) = &base.kind else { return self.not_a_label(expr) };
        let mut name = mut_name;
        let mut scope = cx.scope;
        while let Some(dot) =
            operations.iter().position(|o| matches!(o.kind, PostfixKind::Member(_)))
        {
            let indices = match &operations[..dot] {
                [] => Indices::new(),
                [one] => match &one.kind {
                    PostfixKind::Index(list) => self.indices(list, cx)?,
                    _ => return self.not_a_label(expr),
                },
                _ => return self.not_a_label(expr),
            };
            scope = self.part_scope(scope, name, &indices, base.span)?;
            let PostfixKind::Member(member) = &operations[dot].kind else {
                return self.not_a_label(expr);
            };
            name = member;
            operations = &operations[dot + 1..];
        }
        match operations {
            [] => Ok((scope, name, &[])),
            [one] => match &one.kind {
                PostfixKind::Index(list) => Ok((scope, name, list)),
                _ => self.not_a_label(expr),
            },
            _ => self.not_a_label(expr),
        }
    }

    /// `c3` of a scope, where the third constraint has no label.
    fn unnamed_constraint(&self, scope: ScopeId, name: &str) -> Option<usize> {
        if !names::is_unnamed_label(name) {
            return None;
        }
        let full = self.full_name(scope, name, &[]);
        self.constraint_rows.iter().position(|group| group.label == full)
    }

    fn not_a_label<T>(&mut self, expr: &Expr) -> Eval<T> {
        Err(self.report(
            Diagnostic::fault(
                Code::UnknownConstraint,
                expr.span,
                "the label of a constraint is needed here",
            )
            .hint("a constraint gets its label in `constraint rod: x^2 + y^2 = L^2`"),
        ))
    }

    pub(super) fn unknown_constraint<T>(&mut self, name: &str, span: Span) -> Eval<T> {
        let mut diagnostic = Diagnostic::fault(
            Code::UnknownConstraint,
            span,
            format!("no constraint is named `{name}`"),
        );
        let known: Vec<String> =
            self.constraint_rows.iter().take(1000).map(|g| g.label.clone()).collect();
        if self.scopes[0].labels.get(name).is_some_and(|label| label.is_event) {
            diagnostic = diagnostic.hint(format!("`{name}` is an event, not a constraint"));
        } else if let Some(meant) = names::closest(name, known.iter().map(String::as_str)) {
            diagnostic = diagnostic.hint(format!("did you mean `{meant}`?"));
        } else if known.is_empty() {
            diagnostic = diagnostic.hint("this model has no constraints");
        } else {
            let list =
                known.iter().take(6).map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
            let more = if known.len() > 6 { ", …" } else { "" };
            let what = if known.len() == 1 { "the only constraint is" } else { "there are" };
            diagnostic = diagnostic.hint(format!("{what} {list}{more}"));
        }
        Err(self.report(diagnostic))
    }

    /// `multiplier(rod)` or `residual(rod)`.
    pub(super) fn of_constraint(&mut self, name: &str, label: &'a Expr, cx: Cx<'_>) -> Eval<Value> {
        let (groups, component) = self.constraint_reference(label, cx)?;
        let mut values = Vec::with_capacity(groups.len());
        for &group in &groups {
            // A constraint in a block that is broken off was announced, not built.
            let Some(row) = self.constraint_rows.get(group) else {
                return Err(self.already(label.span));
            };
            let def = row.def;
            if name == "multiplier" && matches!(self.defs[def.0 as usize].state, State::Active) {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::NotAllowedHere,
                        label.span,
                        "a constraint cannot hold a multiplier",
                    )
                    .hint(
                        "a force may depend on one: `force x: -mu*abs(multiplier(rod))*sign(x')`",
                    ),
                ));
            }
            let contact = row.contact;
            let residual = self.def_value(def)?;
            values.push(if let ("multiplier", Some(contact)) = (name, contact) {
                Value::Scalar(self.normal_expr(contact))
            } else if name == "residual" {
                residual
            } else {
                let rows = residual.components().len();
                let mut ids = Vec::with_capacity(rows);
                for at in 0..rows {
                    let shown = format!("multiplier({})", self.row_name(group, at, &residual));
                    ids.push(self.unknown_expr(Unknown::Multiplier(group * ROWS + at), shown));
                }
                Value::with_shape(&residual.shape(), ids)
            });
        }
        let value = match values.as_slice() {
            [single] => single.clone(),
            _ => self.stack_values(&values, |_| label.span)?,
        };
        match component {
            Some(at) => self.component(&value, &[at as i64 + 1], label.span),
            None => Ok(value),
        }
    }

    /// `reaction(x)` or `reaction(x, rod)`.
    pub(super) fn reaction(
        &mut self,
        arguments: &'a [Argument],
        call: Span,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let expr = self.label_argument(arguments, 0, call)?;
        let hint = "a constraint force on something else follows from those on the coordinates";
        let coordinate = self.coordinate(expr, hint, cx)?;
        if arguments.len() == 1 {
            let shown = format!("reaction({})", self.parts.coordinates[coordinate].name);
            return Ok(Value::Scalar(self.unknown_expr(Unknown::Reaction(coordinate), shown)));
        }
        let label = self.label_argument(arguments, 1, call)?;
        let (groups, component) = self.constraint_reference(label, cx)?;
        let mut shares = Vec::new();
        for &group in &groups {
            let Some(row) = self.constraint_rows.get(group) else {
                return Err(self.already(label.span));
            };
            let (def, contact) = (row.def, row.contact);
            let residual = self.def_value(def)?;
            if let (Some(contact), Some(gap)) = (contact, residual.scalar()) {
                let position = self.parts.coordinates[coordinate].position;
                let along = self.exprs.gradient(gap, &[position])[0];
                let normal = self.normal_expr(contact);
                shares.push((self.exprs.at(normal) * self.exprs.at(along)).id);
                continue;
            }
            if let Some(at) = component {
                // Faults a component that the statement does not have.
                self.component(&residual, &[at as i64 + 1], label.span)?;
            }
            for row in 0..residual.components().len() {
                if component.is_none_or(|at| at == row) {
                    let coordinate_name = &self.parts.coordinates[coordinate].name;
                    let shown = format!(
                        "reaction({coordinate_name}, {})",
                        self.row_name(group, row, &residual)
                    );
                    shares.push(
                        self.unknown_expr(Unknown::Share(coordinate, group * ROWS + row), shown),
                    );
                }
            }
        }
        Ok(Value::Scalar(self.exprs.sum(&shares)))
    }

    /// The symbol of an unknown of the solution. Rows are numbered provisionally
    /// here, statement × [`ROWS`] + component, until all are known.
    pub(super) fn unknown_expr(&mut self, unknown: Unknown, name: String) -> ExprId {
        let symbol = match self.unknown_ids.get(&unknown) {
            Some(&symbol) => symbol,
            None => {
                let symbol = self.exprs.symbol(&name, SymbolKind::Variable);
                let role = match unknown {
                    Unknown::Multiplier(_)
                    | Unknown::Touch(OfTouch::Normal(_) | OfTouch::Force(..)) => role::MULTIPLIER,
                    _ => role::REACTION,
                };
                self.set_role(symbol, role);
                self.unknown_ids.insert(unknown, symbol);
                self.unknowns.push((symbol, unknown));
                symbol
            }
        };
        self.exprs.of_symbol(symbol)
    }
}

/// Room for the components of one constraint statement in provisional numbers.
pub(super) const ROWS: usize = 1 << 24;
