//! Tests of the parser. Expressions are shown fully bracketed, so that the tree
//! can be read off: `a + b*c` is `(a + (b * c))`.

mod faults;
mod nesting;
mod precedence;
mod properties;
mod recovery;
mod statements;

use super::*;
use crate::tree::*;

/// An expression with all its brackets.
pub(super) fn show(expr: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(show).collect::<Vec<_>>().join(", ");
    match &expr.kind {
        ExprKind::Number(number) => match number.parts() {
            (numerator, denominator) if denominator == "1" => numerator,
            (numerator, denominator) => format!("{numerator}/{denominator}"),
        },
        ExprKind::Name(name) => name.to_string(),
        ExprKind::List(items) => format!("[{}]", list(items)),
        ExprKind::Sum(terms) => chain_shown(terms, |sign| match sign {
            Sign::Plus => " + ",
            Sign::Minus => " - ",
        }),
        ExprKind::Product(factors) => chain_shown(factors, |times| match times {
            Times::Multiply => " * ",
            Times::Divide => " / ",
        }),
        ExprKind::Negative(operand) => format!("(-{})", show(operand)),
        ExprKind::Power(base, exponent) => format!("({}^{})", show(base), show(exponent)),
        ExprKind::Postfix(base, operations) => {
            let base = match base.kind {
                ExprKind::Postfix(..) => format!("({})", show(base)),
                _ => show(base),
            };
            operations.iter().fold(base, |shown, operation| match &operation.kind {
                PostfixKind::Prime => format!("{shown}'"),
                PostfixKind::Member(name) => format!("{shown}.{name}"),
                PostfixKind::Index(indices) => format!("{shown}[{}]", list(indices)),
                PostfixKind::Call(arguments) => {
                    let arguments: Vec<String> = arguments.iter().map(argument).collect();
                    format!("{shown}({})", arguments.join(", "))
                }
            })
        }
        ExprKind::Compare(left, relation, right) => {
            let sign = match relation {
                Relation::Less => "<",
                Relation::LessEqual => "<=",
                Relation::Greater => ">",
                Relation::GreaterEqual => ">=",
            };
            format!("({} {sign} {})", show(left), show(right))
        }
        ExprKind::And(all) => {
            format!("({})", all.iter().map(show).collect::<Vec<_>>().join(" and "))
        }
        ExprKind::Or(any) => format!("({})", any.iter().map(show).collect::<Vec<_>>().join(" or ")),
        ExprKind::Missing => "?".into(),
    }
}

fn argument(argument: &Argument) -> String {
    match argument {
        Argument::Value(value) => show(value),
        Argument::Binder(name, Range { from, to }) => {
            format!("{} in {}..{}", name.text, show(from), show(to))
        }
    }
}

fn chain_shown<S>(operands: &[(S, Expr)], sign: impl Fn(&S) -> &'static str) -> String {
    let mut shown = String::from("(");
    for (index, (before, operand)) in operands.iter().enumerate() {
        if index > 0 {
            shown.push_str(sign(before));
        }
        shown.push_str(&show(operand));
    }
    shown + ")"
}

/// The tree of a text and the faults found.
pub(super) fn parsed(text: &str) -> (File, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let file = parse(SourceId(0), text, false, &mut diagnostics);
    (file, diagnostics)
}

/// The statements of a text without faults.
#[track_caller]
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let (file, diagnostics) = parsed(text);
    assert_eq!(diagnostics, [], "{text:?}");
    file.statements
}

/// The only statement of a text without faults.
#[track_caller]
pub(super) fn statement(text: &str) -> StatementKind {
    let mut statements = statements(text);
    assert_eq!(statements.len(), 1, "{text:?}");
    statements.remove(0).kind
}

/// The codes of the faults and the text each points at.
pub(super) fn found<'t>(text: &'t str, diagnostics: &[Diagnostic]) -> Vec<(Code, &'t str)> {
    diagnostics
        .iter()
        .map(|diagnostic| (diagnostic.code, &text[diagnostic.labels[0].span.range()]))
        .collect()
}
