//! LaTeX math as an author would type it: fractions, roots, dots, functions
//! without needless parentheses. Needs amsmath for `cases` and `\dddot`.

use super::digits::Digits;
use super::layout::{Factor, Term};
use super::linear::{is_half, is_symbol, takes_exponent};
use super::names::latex_name;
use super::write::{Level, Page, Sheet, Slot, Style, Task, shares};
use crate::arena::{ExprId, Node, NumberId};
use crate::function::Function;
use crate::symbol::{Symbol, SymbolInfo};

pub(super) struct Latex;

/// A numerator longer than this (in characters of LaTeX) stands beside its
/// fraction: 1/(2m) (…).
const LONG_NUMERATOR: u64 = 140;
/// Rows of one `cases` environment.
const MAX_CASES: usize = 100;

impl Style for Latex {
    fn symbol(&self, info: &SymbolInfo) -> String {
        latex_name(&info.name, info.primes)
    }

    fn ellipsis(&self) -> &'static str {
        "\\ldots "
    }

    fn node(&self, page: &Page, slot: Slot, sheet: &mut Sheet) {
        let layout = &page.layout;
        if let Some(name) = layout.names.get(&slot.id) {
            return sheet.text(name.clone());
        }
        match layout.node(slot.id) {
            Node::Number(n) => {
                let number = layout.arena.value(n);
                let digits = Digits::readable(number);
                let own = match digits {
                    _ if number.is_negative() => Level::Sum,
                    Digits::Plain(_) => Level::Atom,
                    _ => Level::Factor,
                };
                let sign = if number.is_negative() { "-" } else { "" };
                within(page, slot, own, sheet, |sheet| sheet.text(format!("{sign}{}", digits_text(&digits))));
            }
            Node::Symbol(symbol) => {
                // x^{(5)} cannot take another exponent.
                let own = if layout.arena.symbol_info(symbol).primes > 4 { Level::Factor } else { Level::Atom };
                within(page, slot, own, sheet, |sheet| sheet.text(page.symbol(symbol).to_owned()));
            }
            Node::Power(base, exponent) => within(page, slot, Level::Factor, sheet, |sheet| {
                let parts = shares([base, exponent].iter().map(|&x| page.measure(x).length), slot.budget);
                sheet.expr(base, Level::Atom, parts[0]);
                sheet.text("^{");
                sheet.expr(exponent, Level::Sum, parts[1]);
                sheet.text("}");
            }),
            Node::Call { function, .. } => {
                let flip = slot.flip || layout.flips_freely(slot.id);
                // An exponent after the argument of a bare function would be the argument's.
                let own = match function {
                    Function::Exp => Level::Factor,
                    Function::Log | Function::Asin | Function::Acos | Function::Atan => Level::Factor,
                    f if takes_exponent(f) => Level::Factor,
                    _ => Level::Atom,
                };
                within(page, slot, own, sheet, |sheet| {
                    call(page, Slot { flip, ..slot }, function, "", true, sheet);
                });
            }
            Node::Solve { solve, index } => {
                let (k, r) = (layout.arena.solves.get(solve).matrix as u64 + 1, solve as u64 + 1);
                sheet.text(format!("\\left(K_{{{k}}}^{{-1}} r_{{{r}}}\\right)_{{{}}}", index as u64 + 1));
            }
            Node::Sum { .. } | Node::Product { .. } => {
                let scaled = layout.as_scaled(slot.id);
                let (terms, own) = match scaled {
                    Some((coefficient, expr)) => {
                        let coefficient = if slot.flip { coefficient.neg() } else { coefficient };
                        let term = layout.term(&coefficient, expr);
                        let own = term_level(&term);
                        (vec![term], own)
                    }
                    None => (layout.terms(slot.id, slot.flip), Level::Sum),
                };
                within(page, slot, own, sheet, |sheet| sum(page, &terms, slot.budget, sheet));
            }
        }
    }
}

/// In parentheses if it binds less tightly than the place asks for: large ones
/// around what is large, brackets around parentheses.
fn within(page: &Page, slot: Slot, own: Level, sheet: &mut Sheet, write: impl FnOnce(&mut Sheet)) {
    let measure = page.measure(slot.id);
    let (open, close) = match (measure.nesting, measure.tall) {
        _ if own >= slot.level => ("", ""),
        (0, false) => ("(", ")"),
        (1, false) => ("\\bigl[", "\\bigr]"),
        (2, false) => ("\\Bigl(", "\\Bigr)"),
        (n, _) if n % 2 == 0 => ("\\left(", "\\right)"),
        _ => ("\\left[", "\\right]"),
    };
    sheet.text(open);
    write(sheet);
    sheet.text(close);
}

fn term_level(term: &Term) -> Level {
    match term.numerator.as_slice() {
        _ if term.negative => Level::Sum,
        [factor] if term.denominator.is_empty() && term.coefficient.is_one() => {
            if is_half(&factor.exponent) { Level::Atom } else { Level::Factor }
        }
        _ => Level::Term,
    }
}

fn digits_text(digits: &Digits) -> String {
    match digits {
        Digits::Plain(text) => text.clone(),
        Digits::Ratio(n, d) => format!("\\frac{{{n}}}{{{d}}}"),
        Digits::Scientific(mantissa, exponent) if mantissa == "1" => format!("10^{{{exponent}}}"),
        Digits::Scientific(mantissa, exponent) => format!("{mantissa} \\times 10^{{{exponent}}}"),
    }
}

fn sum(page: &Page, terms: &[Term], budget: u64, sheet: &mut Sheet) {
    if terms.is_empty() {
        sheet.text("0");
    }
    let parts = shares(terms.iter().map(|term| page.measure_term(term)), budget);
    for (at, (term, &budget)) in terms.iter().zip(&parts).enumerate() {
        if budget == 0 {
            return sheet.text(" + \\cdots");
        }
        match (at, term.negative) {
            (0, true) => sheet.text("-"),
            (0, false) => {}
            (_, true) => sheet.text(" - "),
            (_, false) => sheet.text(" + "),
        }
        write_term(page, term, budget, sheet);
    }
}

/// A factor with the characters it may take; none left means that it is
/// replaced by dots.
type Sized<'a> = (&'a Factor, u64);

fn write_term(page: &Page, term: &Term, budget: u64, sheet: &mut Sheet) {
    let all = || term.numerator.iter().chain(&term.denominator);
    let parts = shares(all().map(|f| page.measure(f.base).length), budget);
    let sized: Vec<Sized> = all().zip(parts).collect();
    let (upper, lower) = sized.split_at(term.numerator.len());
    let digits = Digits::readable(&term.coefficient);
    let (above, below) = match &digits {
        Digits::Ratio(n, d) => (n.clone(), Some(d.clone())),
        digits => (digits_text(digits), None),
    };
    if below.is_none() && lower.is_empty() {
        return product(page, Some(above), upper, sheet);
    }
    let (inside, outside): (Vec<Sized>, Vec<Sized>) = if lower.is_empty() {
        // \frac{θ}{2}, \frac{\sqrt{2}}{2} x, but \frac{1}{2} m x².
        let single = is_symbol(page, &term.numerator);
        upper.iter().copied().partition(|(f, _)| single || page.layout.arena.as_number(f.base).is_some())
    } else {
        split_numerator(page, upper, lower)
    };
    sheet.text("\\frac{");
    match inside.as_slice() {
        [(factor, budget)] if above == "1" && factor.exponent.is_one() => {
            let slot = Slot { id: factor.base, level: Level::Sum, flip: factor.flip, budget: *budget };
            sheet.tasks.push(Task::Expr(slot));
        }
        _ => product(page, Some(above), &inside, sheet),
    }
    sheet.text("}{");
    match (lower, &below) {
        ([(factor, budget)], None) if factor.exponent.is_one() => {
            let slot = Slot { id: factor.base, level: Level::Sum, flip: factor.flip, budget: *budget };
            sheet.tasks.push(Task::Expr(slot));
        }
        _ => product(page, below.or(Some("1".to_owned())), lower, sheet),
    }
    sheet.text("}");
    if !outside.is_empty() {
        sheet.text(" ");
        product(page, None, &outside, sheet);
    }
}

/// What stands on the fraction bar and what beside it: \frac{g}{l} \sin θ
/// rather than \frac{g \sin θ}{l}, and a long or tall sum beside its fraction.
fn split_numerator<'a>(page: &Page, upper: &[Sized<'a>], lower: &[Sized]) -> (Vec<Sized<'a>>, Vec<Sized<'a>>) {
    let is_call = |f: &Factor| matches!(page.layout.node(f.base), Node::Call { .. });
    let constant = lower.iter().all(|(f, _)| page.layout.order.facts(f.base).constant && !is_call(f));
    let is_large_sum = |f: &Factor| {
        let measure = page.measure(f.base);
        let sum = matches!(page.layout.node(f.base), Node::Sum { .. }) && !page.layout.names.contains_key(&f.base);
        sum && f.exponent.is_integer() && (measure.tall || measure.length > LONG_NUMERATOR)
    };
    let large = upper.iter().any(|(f, _)| is_large_sum(f));
    let leave_calls = constant && !upper.iter().all(|(f, _)| is_call(f)) || large;
    upper.iter().partition(|(f, _)| !(is_large_sum(f) || leave_calls && is_call(f)))
}

/// A number (left out if it is 1 and something follows) and factors.
fn product(page: &Page, number: Option<String>, factors: &[Sized], sheet: &mut Sheet) {
    let number = number.filter(|n| n != "1" || factors.is_empty());
    let mut before = Kind::Nothing;
    if let Some(number) = number {
        sheet.text(number);
        before = Kind::Number;
    }
    for (at, &(factor, budget)) in factors.iter().enumerate() {
        let kind = kind_of(page, factor);
        sheet.text(match (before, kind) {
            (Kind::Nothing, _) => "",
            // Digits must not run together, nor words.
            (_, Kind::Number) => " \\cdot ",
            (Kind::Word, _) | (_, Kind::Word) => " \\, ",
            _ => " ",
        });
        before = kind;
        if budget == 0 {
            return sheet.text("\\cdots");
        }
        let next = factors.get(at + 1).map(|(f, _)| *f);
        let ends = next.is_none_or(|f| is_trigonometric(page, f.base));
        write_factor(page, factor, budget, ends, sheet);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Nothing,
    Number,
    Word,
    Other,
}

fn kind_of(page: &Page, factor: &Factor) -> Kind {
    match page.layout.node(factor.base) {
        Node::Number(_) if !is_half(&factor.exponent) => Kind::Number,
        Node::Symbol(symbol) if is_word(page.symbol(symbol)) => Kind::Word,
        _ => Kind::Other,
    }
}

fn is_word(latex: &str) -> bool {
    let bare = latex.trim_start_matches("\\d").trim_start_matches(['d', 'o', 't']).trim_start_matches('{');
    bare.starts_with("\\mathrm") || bare.starts_with("\\text")
}

fn is_trigonometric(page: &Page, id: ExprId) -> bool {
    matches!(page.layout.node(id), Node::Call { function, .. } if takes_exponent(function))
}

/// `ends`: what follows cannot be mistaken for more of a bare argument.
fn write_factor(page: &Page, factor: &Factor, budget: u64, ends: bool, sheet: &mut Sheet) {
    let Factor { base, exponent, flip } = factor;
    let slot = |level| Slot { id: *base, level, flip: *flip, budget };
    let named = page.layout.names.contains_key(base);
    if is_half(exponent) {
        sheet.text("\\sqrt{");
        sheet.tasks.push(Task::Expr(slot(Level::Sum)));
        return sheet.text("}");
    }
    let power = match Digits::readable(exponent) {
        _ if exponent.is_one() => String::new(),
        Digits::Ratio(n, d) => format!("^{{{}{n}/{d}}}", if exponent.is_negative() { "-" } else { "" }),
        digits => format!("^{{{}{}}}", if exponent.is_negative() { "-" } else { "" }, digits_text(&digits)),
    };
    match page.layout.node(*base) {
        Node::Call { function, .. }
            if !named && (power.is_empty() || takes_exponent(function) && exponent.is_integer()) =>
        {
            call(page, slot(Level::Factor), function, &power, ends, sheet);
        }
        _ => {
            let level = if power.is_empty() { Level::Factor } else { Level::Atom };
            sheet.tasks.push(Task::Expr(slot(level)));
            sheet.text(power);
        }
    }
}

fn call(page: &Page, slot: Slot, function: Function, power: &str, ends: bool, sheet: &mut Sheet) {
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
            let (open, close) = if tall { ("\\left|", "\\right|") } else { ("\\lvert ", "\\rvert") };
            sheet.text(open);
            list(page, &arguments, slot, ", ", Level::Sum, sheet);
            return sheet.text(close);
        }
        If => return cases(page, slot, sheet),
        Negative | NotPositive | And | Or => return condition(page, slot, function, &arguments, sheet),
    };
    sheet.text(format!("{name}{power}"));
    if let [x] = arguments.as_slice() {
        if ends && !matches!(function, Sign) && is_bare(page, *x) {
            return list(page, &arguments, slot, "", Level::Sum, sheet);
        }
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

fn list(page: &Page, ids: &[ExprId], slot: Slot, separator: &'static str, level: Level, sheet: &mut Sheet) {
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
        return within(page, slot, own, sheet, |sheet| list(page, arguments, slot, word, inner, sheet));
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
