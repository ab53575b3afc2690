//! A tree as text: one statement a line, brackets only where precedence needs
//! them. What it prints parses to a tree that prints the same.

use crate::tree::*;
use std::fmt::Write;

/// The text of a file, checks included (as a Markdown block if there are any).
pub fn format(file: &File) -> String {
    let mut out = String::new();
    for statement in &file.statements {
        write_statement(&mut out, statement, 0);
    }
    out
}

/// The text of an expression.
pub fn format_expression(expr: &Expr) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr, Level::Or);
    out
}

/// How tightly an expression binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
    Power,
    Postfix,
}

fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Or(_) => Level::Or,
        ExprKind::And(_) => Level::And,
        ExprKind::Compare(..) => Level::Compare,
        ExprKind::Sum(_) => Level::Sum,
        ExprKind::Product(_) => Level::Product,
        ExprKind::Negative(_) => Level::Unary,
        ExprKind::Power(..) => Level::Power,
        // Exact numbers may print as fractions.
        ExprKind::Number(number) if number.to_string().contains('/') => Level::Product,
        _ => Level::Postfix,
    }
}

fn write_expr(out: &mut String, expr: &Expr, least: Level) {
    if level(expr) < least {
        out.push('(');
        write_expr(out, expr, Level::Or);
        out.push(')');
        return;
    }
    match &expr.kind {
        ExprKind::Number(number) => out.push_str(&number.to_string()),
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::List(items) => {
            out.push('[');
            join(out, items, ", ", |out, item| write_expr(out, item, Level::Or));
            out.push(']');
        }
        ExprKind::Sum(terms) => {
            for (at, (sign, term)) in terms.iter().enumerate() {
                match (at, sign) {
                    (0, _) => {}
                    (_, Sign::Plus) => out.push_str(" + "),
                    (_, Sign::Minus) => out.push_str(" - "),
                }
                write_expr(out, term, Level::Product);
            }
        }
        ExprKind::Product(factors) => {
            for (at, (times, factor)) in factors.iter().enumerate() {
                match (at, times) {
                    (0, _) => {}
                    (_, Times::Multiply) => out.push('*'),
                    (_, Times::Divide) => out.push('/'),
                }
                // A leading fraction reads the same without brackets.
                write_expr(out, factor, if at == 0 { Level::Product } else { Level::Unary });
            }
        }
        ExprKind::Negative(inner) => {
            out.push('-');
            write_expr(out, inner, Level::Unary);
        }
        ExprKind::Power(base, exponent) => {
            write_expr(out, base, Level::Postfix);
            out.push('^');
            write_expr(out, exponent, Level::Unary);
        }
        ExprKind::Postfix(base, operations) => {
            write_expr(out, base, Level::Postfix);
            for operation in operations {
                write_postfix(out, &operation.kind);
            }
        }
        ExprKind::Compare(left, relation, right) => {
            write_expr(out, left, Level::Sum);
            out.push_str(match relation {
                Relation::Less => " < ",
                Relation::LessEqual => " <= ",
                Relation::Greater => " > ",
                Relation::GreaterEqual => " >= ",
            });
            write_expr(out, right, Level::Sum);
        }
        ExprKind::And(parts) => {
            join(out, parts, " and ", |out, part| write_expr(out, part, Level::Compare))
        }
        ExprKind::Or(parts) => {
            join(out, parts, " or ", |out, part| write_expr(out, part, Level::And))
        }
        ExprKind::Missing => out.push('?'),
    }
}

fn write_postfix(out: &mut String, kind: &PostfixKind) {
    match kind {
        PostfixKind::Prime => out.push('\''),
        PostfixKind::Member(name) => {
            let _ = write!(out, ".{name}");
        }
        PostfixKind::Index(list) => write_indices(out, list),
        PostfixKind::Call(arguments) => {
            out.push('(');
            join(out, arguments, ", ", |out, argument| match argument {
                Argument::Value(expr) => write_expr(out, expr, Level::Or),
                Argument::Binder(name, range) => {
                    let _ = write!(out, "{} in ", name.text);
                    write_range(out, range);
                }
            });
            out.push(')');
        }
    }
}

fn join<T>(out: &mut String, items: &[T], separator: &str, mut each: impl FnMut(&mut String, &T)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        each(out, item);
    }
}

fn write_indices(out: &mut String, list: &[Expr]) {
    if !list.is_empty() {
        out.push('[');
        join(out, list, ", ", |out, index| write_expr(out, index, Level::Sum));
        out.push(']');
    }
}

fn write_range(out: &mut String, range: &Range) {
    write_expr(out, &range.from, Level::Sum);
    out.push_str("..");
    write_expr(out, &range.to, Level::Sum);
}

fn write_entry(out: &mut String, entry: &Entry) {
    out.push_str(&entry.name.text);
    write_indices(out, &entry.indices);
}

fn write_family(out: &mut String, family: &Family) {
    write_indexed(out, family);
    write_shown(out, family.shown.as_ref());
}

/// ` as name`, ` as "LaTeX"`.
fn write_shown(out: &mut String, shown: Option<&Shown>) {
    let _ = match shown {
        Some(Shown::Name(name)) => write!(out, " as {}", name.text),
        Some(Shown::Latex(name)) => write!(out, " as \"{}\"", name.text),
        None => Ok(()),
    };
}

/// A column of a table, in quotes where it is no name.
fn write_column(out: &mut String, name: &str) {
    let mut letters = name.chars();
    let is_name = letters.next().is_some_and(char::is_alphabetic)
        && letters.all(|c| c.is_alphanumeric() || c == '_');
    let is_number = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
    let _ = match is_name || is_number {
        true => write!(out, "{name}"),
        false => write!(out, "\"{name}\""),
    };
}

/// A name and its ranges.
fn write_indexed(out: &mut String, family: &Family) {
    out.push_str(&family.name.text);
    if !family.spans.is_empty() {
        out.push('[');
        join(out, &family.spans, ", ", |out, span| {
            write_expr(out, &span.from, Level::Sum);
            if let Some(to) = &span.to {
                out.push_str("..");
                write_expr(out, to, Level::Sum);
            }
        });
        out.push(']');
    }
}

fn write_statement(out: &mut String, statement: &Statement, depth: usize) {
    let indent = "  ".repeat(depth);
    out.push_str(&indent);
    write_kind(out, &statement.kind, depth);
    out.push('\n');
}

fn write_block(out: &mut String, body: &[Statement], depth: usize) {
    out.push_str("{\n");
    for statement in body {
        write_statement(out, statement, depth + 1);
    }
    out.push_str(&"  ".repeat(depth));
    out.push('}');
}

fn write_equation(out: &mut String, left: &Expr, right: &Expr) {
    write_expr(out, left, Level::Sum);
    out.push_str(" = ");
    write_expr(out, right, Level::Sum);
}

fn write_kind(out: &mut String, kind: &StatementKind, depth: usize) {
    let value = |out: &mut String, expr: &Expr| write_expr(out, expr, Level::Sum);
    match kind {
        StatementKind::System(title) => {
            let _ = write!(out, "system {title}");
        }
        StatementKind::Param(list) | StatementKind::Const(list) | StatementKind::Input(list) => {
            out.push_str(match kind {
                StatementKind::Param(_) => "param ",
                StatementKind::Const(_) => "const ",
                _ => "input ",
            });
            join(out, list, ", ", |out, (family, given)| {
                write_family(out, family);
                if let Some(given) = given {
                    out.push_str(" = ");
                    value(out, given);
                }
            });
        }
        StatementKind::Coord(list) => {
            out.push_str("coord ");
            join(out, list, ", ", write_family);
        }
        StatementKind::State(list) => {
            out.push_str("state ");
            join(out, list, ", ", |out, rate| {
                write_indexed(out, &rate.family);
                out.push('\'');
                write_shown(out, rate.family.shown.as_ref());
                out.push_str(" = ");
                value(out, &rate.value);
            });
        }
        StatementKind::Table { name, source, options } => {
            let _ = write!(out, "table {} = ", name.text);
            match source {
                TableSource::File(file) => {
                    let _ = write!(out, "\"{}\"", file.text);
                }
                TableSource::List(rows) => value(out, rows),
            }
            for option in options {
                match option {
                    TableOption::Word(word) => {
                        let _ = write!(out, ", {}", word.text);
                    }
                    TableOption::Columns(names) => {
                        out.push_str(", columns [");
                        join(out, names, ", ", |out, name| write_column(out, &name.text));
                        out.push(']');
                    }
                }
            }
        }
        // Reported, and nothing of the language.
        StatementKind::Foreign(_) => {}
        StatementKind::Use { file, name } => {
            let _ = write!(out, "use \"{}\"", file.text);
            if let Some(name) = name {
                let _ = write!(out, " as {}", name.text);
            }
        }
        StatementKind::Let(list) | StatementKind::Speed(list) | StatementKind::Output(list) => {
            out.push_str(match kind {
                StatementKind::Let(_) => "let ",
                StatementKind::Speed(_) => "speed ",
                _ => "output ",
            });
            join(out, list, ", ", |out, define| {
                write_entry(out, &define.entry);
                if let Some(arguments) = &define.arguments {
                    out.push('(');
                    join(out, arguments, ", ", |out, name| out.push_str(&name.text));
                    out.push(')');
                }
                write_shown(out, define.shown.as_ref());
                out.push_str(" = ");
                value(out, &define.value);
            });
        }
        StatementKind::Energy(energy, expr) => {
            out.push_str(match energy {
                EnergyKind::Kinetic => "kinetic ",
                EnergyKind::Potential => "potential ",
                EnergyKind::Lagrangian => "lagrangian ",
                EnergyKind::Hamiltonian => "hamiltonian ",
                EnergyKind::Dissipation => "dissipation ",
            });
            value(out, expr);
        }
        StatementKind::Gravity(expr) => {
            out.push_str("gravity ");
            value(out, expr);
        }
        StatementKind::Force(form) => write_force(out, "force", form),
        StatementKind::Nonideal(form) => write_force(out, "nonideal", form),
        StatementKind::Constraint { label, by, weight, left, right } => {
            out.push_str("constraint ");
            if let Some(label) = label {
                write_entry(out, label);
                if !by.is_empty() {
                    out.push_str(" by ");
                    join(out, by, ", ", value);
                }
                if let Some(weight) = weight {
                    out.push_str(" weight ");
                    value(out, weight);
                }
                out.push_str(": ");
            }
            write_equation(out, left, right);
        }
        StatementKind::Start(items) => {
            out.push_str("start ");
            join(out, items, ", ", |out, item| {
                value(out, &item.left);
                out.push_str(if item.relation == StartRelation::Equals { " = " } else { " ~ " });
                value(out, &item.right);
            });
        }
        StatementKind::Run(options) => {
            out.push_str("run ");
            join(out, options, ", ", |out, option| match option {
                RunOption::Time(range) => {
                    out.push_str("t = ");
                    write_range(out, range);
                }
                RunOption::Every(expr) => {
                    out.push_str("every ");
                    value(out, expr);
                }
                RunOption::Tolerance(expr) => {
                    out.push_str("tol ");
                    value(out, expr);
                }
                RunOption::Method(name) => out.push_str(&format!("method {}", name.text)),
                RunOption::Formulation(name) => out.push_str(&format!("formulation {}", name.text)),
                RunOption::Elimination(name) => out.push_str(&format!("elimination {}", name.text)),
                RunOption::Coordinates(name) => out.push_str(&format!("coordinates {}", name.text)),
                RunOption::Impacts(name) => out.push_str(&format!("impacts {}", name.text)),
            });
        }
        StatementKind::Observe(list) => {
            out.push_str("observe ");
            join(out, list, ", ", |out, item| {
                if let Some(entry) = &item.entry {
                    write_entry(out, entry);
                    out.push_str(" = ");
                }
                value(out, &item.value);
            });
        }
        StatementKind::Event { label, trigger, action } => {
            out.push_str("event ");
            write_entry(out, label);
            out.push_str(": ");
            match trigger {
                Trigger::Zero { left, right, direction } => {
                    write_equation(out, left, right);
                    out.push_str(match direction {
                        Direction::Both => "",
                        Direction::Rising => " rising",
                        Direction::Falling => " falling",
                    });
                }
                Trigger::Every(period) => {
                    out.push_str("every ");
                    value(out, period);
                }
                Trigger::Change { of, change } => {
                    value(out, of);
                    let _ = write!(out, " {}", change.text);
                }
            }
            match action {
                Action::Record => {}
                Action::Stop => out.push_str(" -> stop"),
                Action::Reset(list) => {
                    out.push_str(" -> ");
                    join(out, list, ", ", |out, (a, b)| write_equation(out, a, b));
                }
            }
        }
        StatementKind::Draw(shape, list) => {
            out.push_str(match shape {
                Shape::Line => "draw line ",
                Shape::Point => "draw point ",
                Shape::Trace => "draw trace ",
                Shape::Circle => "draw circle ",
            });
            join(out, list, ", ", value);
        }
        StatementKind::For { index, range, body } => {
            let _ = write!(out, "for {} in ", index.text);
            write_range(out, range);
            out.push(' ');
            write_block(out, body, depth);
        }
        StatementKind::Model { name, body } => {
            let _ = write!(out, "model {} ", name.text);
            write_block(out, body, depth);
        }
        StatementKind::Part { entry, source, settings } => {
            out.push_str("part ");
            write_entry(out, entry);
            match source {
                PartSource::Model(name) => out.push_str(&format!(" = {}", name.text)),
                PartSource::File(name) => out.push_str(&format!(" = \"{}\"", name.text)),
            }
            if !settings.is_empty() {
                out.push_str(" { ");
                join(out, settings, ", ", |out, (entry, expr)| {
                    write_entry(out, entry);
                    out.push_str(" = ");
                    value(out, expr);
                });
                out.push_str(" }");
            }
        }
        StatementKind::Particle { entry, fields } | StatementKind::Body { entry, fields } => {
            out.push_str(if matches!(kind, StatementKind::Body { .. }) {
                "body "
            } else {
                "particle "
            });
            write_entry(out, entry);
            out.push_str(": ");
            join(out, fields, ", ", write_field);
        }
        StatementKind::Frame { entry, on, fields } => {
            out.push_str("frame ");
            write_entry(out, entry);
            if let Some(on) = on {
                out.push_str(" on ");
                value(out, on);
            }
            if !fields.is_empty() {
                out.push_str(": ");
                join(out, fields, ", ", write_field);
            }
        }
        StatementKind::Joint { entry, kind, sides, fields, is_loop } => {
            out.push_str(if *is_loop { "loop " } else { "joint " });
            write_entry(out, entry);
            let _ = write!(out, ": {} ", kind.text);
            join(out, &sides[..], ", ", write_side);
            for field in fields {
                out.push_str(", ");
                write_field(out, field);
            }
        }
        StatementKind::Torque { value: torque, on, from } => {
            out.push_str("torque ");
            value(out, torque);
            out.push_str(" on ");
            value(out, on);
            if let Some(from) = from {
                out.push_str(" from ");
                value(out, from);
            }
        }
        StatementKind::Spring { label, is_damper, coefficient, rest, place } => {
            out.push_str(if *is_damper { "damper " } else { "spring " });
            if let Some(label) = label {
                write_entry(out, label);
                out.push_str(": ");
            }
            value(out, coefficient);
            if let Some(rest) = rest {
                out.push_str(", ");
                value(out, rest);
            }
            match place {
                Where::Between(p, q) => {
                    out.push_str(" between ");
                    value(out, p);
                    out.push_str(", ");
                    value(out, q);
                }
                Where::At(s) => {
                    out.push_str(" at ");
                    value(out, s);
                }
            }
        }
        StatementKind::Friction { label, bound, along, holds } => {
            out.push_str("friction ");
            if let Some(label) = label {
                write_entry(out, label);
                out.push_str(": ");
            }
            value(out, bound);
            out.push_str(" along ");
            value(out, along);
            if let Some(holds) = holds {
                out.push_str(", static ");
                value(out, holds);
            }
        }
        StatementKind::Contact { entry, gap, fields, condition } => {
            out.push_str("contact ");
            write_entry(out, entry);
            out.push_str(": ");
            match gap {
                Gap::Between(left, right) => {
                    value(out, left);
                    out.push_str(" >= ");
                    value(out, right);
                }
                Gap::Sides(sides) => join(out, &sides[..], ", ", write_side),
            }
            for field in fields {
                out.push_str(", ");
                write_field(out, field);
            }
            if let Some(condition) = condition {
                out.push_str(", while ");
                write_expr(out, condition, Level::Or);
            }
        }
    }
}

fn write_side(out: &mut String, side: &Side) {
    write_expr(out, &side.of, Level::Sum);
    for field in &side.fields {
        out.push(' ');
        write_field(out, field);
        if let ("curve", Some(by)) = (&*field.name.text, &side.by) {
            let _ = write!(out, " by {}", by.text);
        }
    }
}

fn write_field(out: &mut String, field: &Field) {
    out.push_str(&field.name.text);
    if &*field.name.text != "free" {
        out.push(' ');
        write_expr(out, &field.value, Level::Sum);
    }
}

fn write_force(out: &mut String, word: &str, form: &ForceForm) {
    let value = |out: &mut String, expr: &Expr| write_expr(out, expr, Level::Sum);
    let _ = write!(out, "{word} ");
    match form {
        ForceForm::On { coordinate, value: force } => {
            value(out, coordinate);
            out.push_str(": ");
            value(out, force);
        }
        ForceForm::At { value: force, position } => {
            value(out, force);
            out.push_str(" at ");
            value(out, position);
        }
        ForceForm::Along { value: force, velocity } => {
            value(out, force);
            out.push_str(" along ");
            value(out, velocity);
        }
    }
}
