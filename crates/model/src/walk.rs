//! The expressions of a tree: those a statement or a check holds, and those inside an
//! expression.

use crate::tree::{
    Action, Argument, CheckAt, CheckKind, Expr, ExprKind, Family, ForceForm, Gap, PostfixKind,
    RunOption, Side, Statement, StatementKind, TableSource, Trigger, Where,
};

/// The expressions that stand in a statement itself, in the order of the text. Those of
/// the statements inside a loop or a model are not among them.
pub fn of_statement(statement: &Statement) -> Vec<&Expr> {
    let mut list = Vec::new();
    match &statement.kind {
        StatementKind::System(_) | StatementKind::Model { .. } | StatementKind::Foreign(_) => {}
        StatementKind::Param(families)
        | StatementKind::Const(families)
        | StatementKind::Input(families) => {
            for (family, value) in families {
                list.extend(of_family(family));
                list.extend(value);
            }
        }
        StatementKind::Coord(families) => list.extend(families.iter().flat_map(of_family)),
        StatementKind::Let(defines)
        | StatementKind::Speed(defines)
        | StatementKind::Output(defines) => {
            for define in defines {
                list.extend(&define.entry.indices);
                list.push(&define.value);
            }
        }
        StatementKind::State(rates) => {
            for rate in rates {
                list.extend(of_family(&rate.family));
                list.push(&rate.value);
            }
        }
        StatementKind::Table { source, .. } => {
            if let TableSource::List(rows) = source {
                list.push(rows);
            }
        }
        StatementKind::Use { .. } => {}
        StatementKind::Energy(_, value) | StatementKind::Gravity(value) => list.push(value),
        StatementKind::Force(form) | StatementKind::Nonideal(form) => list.extend(match form {
            ForceForm::On { coordinate, value } => [coordinate, value],
            ForceForm::At { value, position } => [value, position],
            ForceForm::Along { value, velocity } => [value, velocity],
        }),
        StatementKind::Constraint { label, by, weight, left, right } => {
            list.extend(label.iter().flat_map(|entry| &entry.indices));
            list.extend(by.iter().chain(weight));
            list.extend([left, right]);
        }
        StatementKind::Start(items) => {
            list.extend(items.iter().flat_map(|item| [&item.left, &item.right]));
        }
        StatementKind::Run(options) => {
            for option in options {
                match option {
                    RunOption::Time(range) => list.extend([&range.from, &range.to]),
                    RunOption::Every(value) | RunOption::Tolerance(value) => list.push(value),
                    RunOption::Method(_)
                    | RunOption::Formulation(_)
                    | RunOption::Elimination(_)
                    | RunOption::Coordinates(_)
                    | RunOption::Impacts(_) => {}
                }
            }
        }
        StatementKind::Observe(items) => {
            for item in items {
                list.extend(item.entry.iter().flat_map(|entry| &entry.indices));
                list.push(&item.value);
            }
        }
        StatementKind::Event { label, trigger, action } => {
            list.extend(&label.indices);
            match trigger {
                Trigger::Zero { left, right, .. } => list.extend([left, right]),
                Trigger::Every(period) => list.push(period),
                Trigger::Change { of, .. } => list.push(of),
            }
            if let Action::Reset(resets) = action {
                list.extend(resets.iter().flat_map(|(quantity, value)| [quantity, value]));
            }
        }
        StatementKind::Draw(_, values) => list.extend(values),
        StatementKind::For { range, .. } => list.extend([&range.from, &range.to]),
        StatementKind::Part { entry, settings, .. } => {
            list.extend(&entry.indices);
            for (setting, value) in settings {
                list.extend(&setting.indices);
                list.push(value);
            }
        }
        StatementKind::Particle { entry, fields } | StatementKind::Body { entry, fields } => {
            list.extend(&entry.indices);
            list.extend(fields.iter().map(|field| &field.value));
        }
        StatementKind::Frame { entry, on, fields } => {
            list.extend(&entry.indices);
            list.extend(on);
            list.extend(fields.iter().map(|field| &field.value));
        }
        StatementKind::Joint { entry, sides, fields, .. } => {
            list.extend(&entry.indices);
            list.extend(sides.iter().flat_map(of_side));
            list.extend(fields.iter().map(|field| &field.value));
        }
        StatementKind::Torque { value, on, from } => {
            list.extend([value, on]);
            list.extend(from);
        }
        StatementKind::Spring { label, coefficient, rest, place, .. } => {
            list.extend(label.iter().flat_map(|entry| &entry.indices));
            list.push(coefficient);
            list.extend(rest);
            match place {
                Where::Between(p, q) => list.extend([p, q]),
                Where::At(s) => list.push(s),
            }
        }
        StatementKind::Friction { label, bound, along, holds } => {
            list.extend(label.iter().flat_map(|entry| &entry.indices));
            list.extend([bound, along]);
            list.extend(holds);
        }
        StatementKind::Contact { entry, gap, fields, condition } => {
            list.extend(&entry.indices);
            match gap {
                Gap::Between(left, right) => list.extend([left, right]),
                Gap::Sides(sides) => list.extend(sides.iter().flat_map(of_side)),
            }
            list.extend(fields.iter().map(|field| &field.value));
            list.extend(condition);
        }
    }
    list
}

fn of_side(side: &Side) -> impl Iterator<Item = &Expr> {
    std::iter::once(&side.of).chain(side.fields.iter().map(|field| &field.value))
}

/// The names that run in the expressions of a statement itself, and are known nowhere else.
pub fn bound_names(statement: &Statement) -> Vec<&str> {
    let sides = match &statement.kind {
        StatementKind::Let(list) => {
            let arguments = list.iter().filter_map(|define| define.arguments.as_ref());
            return arguments.flatten().map(|argument| &*argument.text).collect();
        }
        StatementKind::Joint { sides, .. } => sides,
        StatementKind::Contact { gap: Gap::Sides(sides), .. } => sides,
        _ => return Vec::new(),
    };
    sides.iter().filter_map(|side| side.by.as_ref()).map(|name| &*name.text).collect()
}

/// The expressions of a check.
pub fn of_check(kind: &CheckKind) -> Vec<&Expr> {
    match kind {
        CheckKind::Equal { left, right, within, at } => {
            let mut list = vec![left, right];
            list.extend(within);
            match at {
                CheckAt::Time(time) => list.push(time),
                CheckAt::State(state) => list.extend(state.iter().flat_map(|(a, b)| [a, b])),
                CheckAt::Anywhere | CheckAt::Start | CheckAt::End => {}
            }
            list
        }
        CheckKind::Agree { within } => within.iter().collect(),
        CheckKind::Conserve { value, within } => std::iter::once(value).chain(within).collect(),
        CheckKind::Linearize { value, within, .. } => value.iter().chain(within).collect(),
        CheckKind::Verdict(_)
        | CheckKind::Analyze { .. }
        | CheckKind::Fault(_)
        | CheckKind::Warning(_) => Vec::new(),
    }
}

/// The expressions directly inside an expression, in the order of the text.
pub fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Missing => Vec::new(),
        ExprKind::List(list) | ExprKind::And(list) | ExprKind::Or(list) => list.iter().collect(),
        ExprKind::Sum(terms) => terms.iter().map(|(_, term)| term).collect(),
        ExprKind::Product(factors) => factors.iter().map(|(_, factor)| factor).collect(),
        ExprKind::Negative(inner) => vec![inner],
        ExprKind::Power(a, b) | ExprKind::Compare(a, _, b) => vec![a, b],
        ExprKind::Postfix(base, operations) => {
            let mut list: Vec<&Expr> = vec![base];
            for operation in operations {
                match &operation.kind {
                    PostfixKind::Prime | PostfixKind::Member(_) => {}
                    PostfixKind::Index(indices) => list.extend(indices),
                    PostfixKind::Call(arguments) => {
                        list.extend(arguments.iter().flat_map(of_argument))
                    }
                }
            }
            list
        }
    }
}

/// The expressions of an argument.
pub fn of_argument(argument: &Argument) -> Vec<&Expr> {
    match argument {
        Argument::Value(value) => vec![value],
        Argument::Binder(_, range) => vec![&range.from, &range.to],
    }
}

fn of_family(family: &Family) -> Vec<&Expr> {
    family.spans.iter().flat_map(|span| std::iter::once(&span.from).chain(&span.to)).collect()
}
