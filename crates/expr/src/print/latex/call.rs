//! Functions in LaTeX: names, bare arguments, braces for choices, conditions.

use super::super::write::{Level, Page, Sheet, Slot, Task, shares};
use super::{LONG_NUMERATOR, sum, within};
use crate::arena::{ExprId, Node, NumberId};
use crate::function::Function;
use crate::symbol::Symbol;

/// Rows of one `cases` environment.
const MAX_CASES: usize = 100;

/// A function of its arguments. `ends`: what follows cannot be mistaken for more
/// of a bare argument.
pub(super) fn call(
    page: &Page,
    slot: Slot,
    function: Function,
    power: &str,
    ends: bool,
    sheet: &mut Sheet,
) {
    use Function::*;
    let arguments = page.layout.arguments(slot.id);
    let name = match function {
        Asin => "\\arcsin",
        Acos => "\\arccos",
        Atan => "\\arctan",
        Atan2 => "\\operatorname{atan2}",
        Sign => "\\operatorname{sgn}",
        Log => "\\ln",
        Sin => "\\sin",
        Cos => "\\cos",
        Tan => "\\tan",
        Sinh => "\\sinh",
        Cosh => "\\cosh",
        Tanh => "\\tanh",
        Min => "\\min",
        Max => "\\max",
        Exp => return exponential(page, slot, &arguments, sheet),
        Abs => {
            let tall = arguments.iter().any(|&x| page.measure(x).tall);
            let (open, close) =
                if tall { ("\\left|", "\\right|") } else { ("\\lvert ", "\\rvert") };
            sheet.text(open);
            list(page, &arguments, slot, ", ", Level::Sum, sheet);
            return sheet.text(close);
        }
        If => return cases(page, slot, sheet),
        Floor => {
            sheet.text("\\lfloor ");
            list(page, &arguments, slot, ", ", Level::Sum, sheet);
            return sheet.text(" \\rfloor");
        }
        Table | Given => {
            let name = page.layout.table_name(function, arguments[0]);
            sheet.text(format!("\\operatorname{{{}}}{power}(", name.replace('_', "\\_")));
            list(page, &arguments[1..], slot, ", ", Level::Sum, sheet);
            return sheet.text(")");
        }
        Piece => "\\operatorname{piece}",
        Entry => "\\operatorname{entry}",
        Negative | NotPositive | And | Or => {
            return condition(page, slot, function, &arguments, sheet);
        }
    };
    sheet.text(format!("{name}{power}"));
    if let [x] = arguments.as_slice()
        && ends
        && !matches!(function, Sign)
        && is_bare(page, *x)
    {
        return list(page, &arguments, slot, "", Level::Sum, sheet);
    }
    let tall = arguments.iter().any(|&x| page.measure(x).tall);
    let (open, close) = if tall { ("\\left(", "\\right)") } else { ("(", ")") };
    sheet.text(open);
    list(page, &arguments, slot, ", ", Level::Sum, sheet);
    sheet.text(close);
}

/// e with an exponent, but exp(…) of what is too large for one.
fn exponential(page: &Page, slot: Slot, arguments: &[ExprId], sheet: &mut Sheet) {
    let large = arguments.iter().any(|&x| page.measure(x).length > LONG_NUMERATOR / 3);
    let (open, close) = if large { ("\\exp\\left(", "\\right)") } else { ("\\mathrm{e}^{", "}") };
    sheet.text(open);
    list(page, arguments, slot, ", ", Level::Sum, sheet);
    sheet.text(close);
}

/// Arguments that need no parentheses: θ, 2θ, θ/2, ω t.
fn is_bare(page: &Page, x: ExprId) -> bool {
    let layout = &page.layout;
    let is_symbol = |id| matches!(layout.node(id), Node::Symbol(_));
    if layout.names.contains_key(&x) || is_symbol(x) {
        return true;
    }
    match layout.node(x) {
        Node::Number(n) => !layout.arena.value(n).is_negative(),
        Node::Sum { constant: NumberId::ZERO, start, len: 1 } => {
            let item = layout.arena.items(start, 1)[0];
            is_symbol(item.expr) && !layout.arena.value(item.number).is_negative()
        }
        Node::Product { start, len: 2 } => {
            let items = layout.arena.items(start, 2);
            let time = layout.arena.symbol_expr(Symbol::TIME);
            items.iter().all(|i| is_symbol(i.expr) && i.number == NumberId::ONE)
                && items.iter().any(|i| i.expr == time)
        }
        _ => false,
    }
}

fn list(
    page: &Page,
    ids: &[ExprId],
    slot: Slot,
    separator: &'static str,
    level: Level,
    sheet: &mut Sheet,
) {
    let parts = shares(ids.iter().map(|&x| page.measure(x).length), slot.budget);
    for (at, (&id, &budget)) in ids.iter().zip(&parts).enumerate() {
        if at > 0 {
            sheet.text(separator);
        }
        if budget == 0 {
            return sheet.text("\\ldots ");
        }
        sheet.tasks.push(Task::Expr(Slot { id, level, flip: slot.flip, budget }));
    }
}

/// An `if`, and those in its second value, as the rows of one brace.
fn cases(page: &Page, slot: Slot, sheet: &mut Sheet) {
    let mut rows: Vec<(ExprId, ExprId)> = Vec::new();
    let mut rest = slot.id;
    while let Some([condition, value, other]) = page.layout.as_choice(rest) {
        rows.push((value, condition));
        rest = other;
        if rows.len() == MAX_CASES {
            break;
        }
    }
    let all = rows.iter().flat_map(|&(value, condition)| [value, condition]).chain([rest]);
    let parts = shares(all.map(|x| page.measure(x).length), slot.budget);
    sheet.text("\\begin{cases} ");
    for (at, &(value, condition)) in rows.iter().enumerate() {
        sheet.expr(value, Level::Sum, parts[2 * at]);
        sheet.text(" & \\text{if } ");
        sheet.expr(condition, Level::Or, parts[2 * at + 1]);
        sheet.text(" \\\\ ");
    }
    sheet.expr(rest, Level::Sum, parts[2 * rows.len()]);
    sheet.text(" & \\text{otherwise} \\end{cases}");
}

/// A condition; where a number is asked for, in Iverson's brackets.
fn condition(page: &Page, slot: Slot, function: Function, arguments: &[ExprId], sheet: &mut Sheet) {
    if slot.level > Level::Compare {
        sheet.text("\\left[");
        sheet.expr(slot.id, Level::Or, slot.budget);
        return sheet.text("\\right]");
    }
    if let Function::And | Function::Or = function {
        let (own, inner, word) = match function {
            Function::And => (Level::And, Level::Compare, " \\text{ and } "),
            _ => (Level::Or, Level::And, " \\text{ or } "),
        };
        return within(page, slot, own, sheet, |sheet| {
            list(page, arguments, slot, word, inner, sheet)
        });
    }
    let Some(&x) = arguments.first() else { return };
    let (left, right) = page.layout.sides(x);
    let half = if slot.budget == u64::MAX { u64::MAX } else { slot.budget / 2 };
    let signs = if function == Function::Negative { [" < ", " > "] } else { [" \\le ", " \\ge "] };
    let number = left.iter().all(|term| term.numerator.is_empty() && term.denominator.is_empty());
    let (first, sign, second) =
        if number && !right.is_empty() { (right, signs[1], left) } else { (left, signs[0], right) };
    sum(page, &first, half, sheet);
    sheet.text(sign);
    sum(page, &second, half, sheet);
}
