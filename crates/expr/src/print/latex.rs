//! LaTeX math as an author would type it: fractions, roots, dots, functions
//! without needless parentheses. Needs amsmath for `cases` and `\dddot`.

mod call;

use super::digits::Digits;
use super::layout::{Factor, Term};
use super::linear::{is_half, is_symbol, takes_exponent};
use super::names::latex_name;
use super::write::{Level, Measure, Page, Sheet, Slot, Style, Task, shares};
use crate::arena::{ExprId, Node};
use crate::function::Function;
use crate::symbol::{Shown, SymbolInfo};
use call::call;

pub(super) struct Latex;

/// A numerator longer than this (in characters of LaTeX) stands beside its
/// fraction: 1/(2m) (…).
const LONG_NUMERATOR: u64 = 140;

/// A symbol as documents print it, with dots for primes.
pub(super) fn symbol_latex(info: &SymbolInfo) -> String {
    let Some(Shown::Latex(own)) = &info.shown else {
        return latex_name(info.shown_name(), info.primes);
    };
    match info.primes {
        0 => own.clone(),
        1 => format!("\\dot{{{own}}}"),
        2 => format!("\\ddot{{{own}}}"),
        n => format!("{{{own}}}^{{({n})}}"),
    }
}

impl Style for Latex {
    fn symbol(&self, info: &SymbolInfo) -> String {
        symbol_latex(info)
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
                within(page, slot, own, sheet, |sheet| {
                    sheet.text(format!("{sign}{}", digits_text(&digits)))
                });
            }
            Node::Symbol(symbol) => {
                // x^{(5)} cannot take another exponent.
                let own = if layout.arena.symbol_info(symbol).primes > 4 {
                    Level::Factor
                } else {
                    Level::Atom
                };
                within(page, slot, own, sheet, |sheet| sheet.text(page.symbol(symbol).to_owned()));
            }
            Node::Power(base, exponent) => within(page, slot, Level::Factor, sheet, |sheet| {
                let parts =
                    shares([base, exponent].iter().map(|&x| page.measure(x).length), slot.budget);
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
                    Function::Log | Function::Asin | Function::Acos | Function::Atan => {
                        Level::Factor
                    }
                    f if takes_exponent(f) => Level::Factor,
                    _ => Level::Atom,
                };
                within(page, slot, own, sheet, |sheet| {
                    call(page, Slot { flip, ..slot }, function, "", true, sheet);
                });
            }
            Node::Solve { solve, index } => {
                let (k, r) = (layout.arena.solves.get(solve).matrix as u64 + 1, solve as u64 + 1);
                sheet.text(format!(
                    "\\left(\\mathbf{{K}}_{{{k}}}^{{-1}} \\mathbf{{r}}_{{{r}}}\\right)_{{{}}}",
                    index as u64 + 1
                ));
            }
            Node::Restricted { function, .. } => {
                sheet.text(format!("f_{{{}}}", function as u64 + 1));
            }
            Node::Sum { .. } | Node::Product { .. } => match layout.as_scaled(slot.id) {
                Some((coefficient, expr)) => {
                    let coefficient = if slot.flip { coefficient.neg() } else { coefficient };
                    let term = layout.term(&coefficient, expr);
                    let own = term_level(&term);
                    within(page, slot, own, sheet, |sheet| sum(page, &[term], slot.budget, sheet));
                }
                None => long_sum(page, slot, sheet),
            },
        }
    }
}

fn long_sum(page: &Page, slot: Slot, sheet: &mut Sheet) {
    let Some((negative, number, terms)) = page.layout.as_multiple(slot.id, slot.flip) else {
        let terms = page.layout.terms(slot.id, slot.flip);
        return within(page, slot, Level::Sum, sheet, |sheet| {
            sum(page, &terms, slot.budget, sheet)
        });
    };
    let own = if negative { Level::Sum } else { Level::Term };
    within(page, slot, own, sheet, |sheet| {
        let sign = if negative { "-" } else { "" };
        sheet.text(format!("{sign}{} ", digits_text(&Digits::readable(&number))));
        // The fraction in front is not inside.
        let factors = terms.iter().flat_map(|term| term.numerator.iter().chain(&term.denominator));
        let tall = factors.into_iter().any(|f| page.measure(f.base).tall)
            || terms.iter().any(|term| !term.denominator.is_empty());
        let (open, close) = parentheses(Measure { tall, ..page.measure(slot.id) });
        sheet.text(open);
        sum(page, &terms, slot.budget, sheet);
        sheet.text(close);
    });
}

/// In parentheses if it binds less tightly than the place asks for.
fn within(page: &Page, slot: Slot, own: Level, sheet: &mut Sheet, write: impl FnOnce(&mut Sheet)) {
    if own >= slot.level {
        return write(sheet);
    }
    let (open, close) = parentheses(page.measure(slot.id));
    sheet.text(open);
    write(sheet);
    sheet.text(close);
}

/// Large ones around what is large, brackets around parentheses.
fn parentheses(content: Measure) -> (&'static str, &'static str) {
    match (content.nesting, content.tall) {
        (0, false) => ("(", ")"),
        (1, false) => ("\\bigl[", "\\bigr]"),
        (2, false) => ("\\Bigl(", "\\Bigr)"),
        (n, _) if n % 2 == 0 => ("\\left(", "\\right)"),
        _ => ("\\left[", "\\right]"),
    }
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
        upper
            .iter()
            .copied()
            .partition(|(f, _)| single || page.layout.arena.as_number(f.base).is_some())
    } else {
        split_numerator(page, upper, lower)
    };
    sheet.text("\\frac{");
    match inside.as_slice() {
        [(factor, budget)] if above == "1" && factor.exponent.is_one() => {
            let slot =
                Slot { id: factor.base, level: Level::Sum, flip: factor.flip, budget: *budget };
            sheet.tasks.push(Task::Expr(slot));
        }
        _ => product(page, Some(above), &inside, sheet),
    }
    sheet.text("}{");
    match (lower, &below) {
        ([(factor, budget)], None) if factor.exponent.is_one() => {
            let slot =
                Slot { id: factor.base, level: Level::Sum, flip: factor.flip, budget: *budget };
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
fn split_numerator<'a>(
    page: &Page,
    upper: &[Sized<'a>],
    lower: &[Sized],
) -> (Vec<Sized<'a>>, Vec<Sized<'a>>) {
    let is_call = |f: &Factor| matches!(page.layout.node(f.base), Node::Call { .. });
    let constant =
        lower.iter().all(|(f, _)| page.layout.order.facts(f.base).constant && !is_call(f));
    let is_large_sum = |f: &Factor| {
        let measure = page.measure(f.base);
        let sum = matches!(page.layout.node(f.base), Node::Sum { .. })
            && !page.layout.names.contains_key(&f.base);
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
    let bare =
        latex.trim_start_matches("\\d").trim_start_matches(['d', 'o', 't']).trim_start_matches('{');
    bare.starts_with("\\mathrm") || bare.starts_with("\\text")
}

fn is_trigonometric(page: &Page, id: ExprId) -> bool {
    matches!(page.layout.node(id), Node::Call { function, .. } if takes_exponent(function))
}

/// `ends`: what follows cannot be mistaken for more of a bare argument.
fn write_factor(page: &Page, factor: &Factor, budget: u64, ends: bool, sheet: &mut Sheet) {
    let Factor { base, exponent, flip, scale } = factor;
    if let Some(scale) = scale {
        let terms = page.layout.scaled_terms(*base, *flip, scale);
        let ratio = |term: &Term| matches!(Digits::readable(&term.coefficient), Digits::Ratio(..));
        let content = page.measure(*base);
        let tall = content.tall || terms.iter().any(ratio);
        let (open, close) = parentheses(Measure { tall, ..content });
        sheet.text(open);
        sum(page, &terms, budget, sheet);
        return sheet.text(close);
    }
    let slot = |level| Slot { id: *base, level, flip: *flip, budget };
    let named = page.layout.names.contains_key(base);
    if is_half(exponent) {
        sheet.text("\\sqrt{");
        sheet.tasks.push(Task::Expr(slot(Level::Sum)));
        return sheet.text("}");
    }
    let power = match Digits::readable(exponent) {
        _ if exponent.is_one() => String::new(),
        Digits::Ratio(n, d) => {
            format!("^{{{}{n}/{d}}}", if exponent.is_negative() { "-" } else { "" })
        }
        digits => format!(
            "^{{{}{}}}",
            if exponent.is_negative() { "-" } else { "" },
            digits_text(&digits)
        ),
    };
    match page.layout.node(*base) {
        Node::Call { function, .. }
            if !named
                && (power.is_empty() || takes_exponent(function) && exponent.is_integer()) =>
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
