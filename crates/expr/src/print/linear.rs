//! The two notations that fit on a line: the language itself, which parses
//! back to the same expression, and Unicode text for terminals.

mod call;

use super::digits::Digits;
use super::layout::{Factor, Term};
use super::names::{source_name, superscript, text_name};
use super::write::{Level, Page, Sheet, Slot, Style, Task, shares};
use crate::arena::Node;
use crate::function::Function;
use crate::number::Number;
use crate::symbol::SymbolInfo;

/// Source text or, with `unicode`, text for reading.
pub(super) struct Linear {
    pub unicode: bool,
}

impl Style for Linear {
    fn symbol(&self, info: &SymbolInfo) -> String {
        if self.unicode {
            text_name(info.shown_name(), info.primes)
        } else {
            source_name(&info.name, info.primes)
        }
    }

    fn ellipsis(&self) -> &'static str {
        "…"
    }

    fn node(&self, page: &Page, slot: Slot, sheet: &mut Sheet) {
        let layout = &page.layout;
        if let Some(name) = layout.names.get(&slot.id) {
            return sheet.text(name.clone());
        }
        match layout.node(slot.id) {
            Node::Number(n) => self.number(layout.arena.value(n), slot.level, sheet),
            Node::Symbol(symbol) => {
                // x⁽⁵⁾ cannot take another exponent.
                let high = self.unicode && layout.arena.symbol_info(symbol).primes > 4;
                let own = if high { Level::Factor } else { Level::Atom };
                self.within(slot.level, own, sheet, |sheet| {
                    sheet.text(page.symbol(symbol).to_owned())
                });
            }
            Node::Power(base, exponent) => self.within(slot.level, Level::Factor, sheet, |sheet| {
                let parts =
                    shares([base, exponent].iter().map(|&x| page.measure(x).length), slot.budget);
                sheet.expr(base, Level::Atom, parts[0]);
                sheet.text("^");
                sheet.expr(exponent, Level::Atom, parts[1]);
            }),
            Node::Call { function, .. } => {
                let flip = slot.flip || layout.flips_freely(slot.id);
                self.call(page, Slot { flip, ..slot }, function, "", sheet);
            }
            Node::Solve { solve, index } => {
                let matrix = layout.arena.solves.get(solve).matrix;
                let (k, r, i) = (matrix as u64 + 1, solve as u64 + 1, index as u64 + 1);
                if self.unicode {
                    let name = |letter: &str, n| text_name(&format!("{letter}[{n}]"), 0);
                    sheet.text(format!("({}⁻¹·{}){}", name("𝐊", k), name("𝐫", r), name("", i)));
                } else {
                    sheet.text(format!("solve(K[{k}], r[{r}])[{i}]"));
                }
            }
            Node::Restricted { function, .. } => {
                sheet.text(format!("restricted[{}]", function as u64 + 1));
            }
            Node::Sum { .. } | Node::Product { .. } => match layout.as_scaled(slot.id) {
                Some((coefficient, expr)) => {
                    let coefficient = if slot.flip { coefficient.neg() } else { coefficient };
                    let term = layout.term(&coefficient, expr);
                    let own = self.term_level(&term);
                    self.within(slot.level, own, sheet, |sheet| {
                        self.sum(page, &[term], slot.budget, sheet)
                    });
                }
                None => self.long_sum(page, slot, sheet),
            },
        }
    }
}

impl Linear {
    /// In parentheses if what it is binds less tightly than the place asks for.
    fn within(&self, place: Level, own: Level, sheet: &mut Sheet, write: impl FnOnce(&mut Sheet)) {
        let open = own < place;
        if open {
            sheet.text("(");
        }
        write(sheet);
        if open {
            sheet.text(")");
        }
    }

    fn long_sum(&self, page: &Page, slot: Slot, sheet: &mut Sheet) {
        let Some((negative, number, terms)) = page.layout.as_multiple(slot.id, slot.flip) else {
            let terms = page.layout.terms(slot.id, slot.flip);
            return self.within(slot.level, Level::Sum, sheet, |sheet| {
                self.sum(page, &terms, slot.budget, sheet);
            });
        };
        let own = if negative { Level::Sum } else { Level::Term };
        self.within(slot.level, own, sheet, |sheet| {
            let sign = if !negative {
                ""
            } else if self.unicode {
                "−"
            } else {
                "-"
            };
            let times = if self.unicode { "·" } else { "*" };
            let digits = self.digits_text(&self.digits(&number));
            sheet.text(format!("{sign}{digits}{times}("));
            self.sum(page, &terms, slot.budget, sheet);
            sheet.text(")");
        });
    }

    fn term_level(&self, term: &Term) -> Level {
        match term.numerator.as_slice() {
            _ if term.negative => Level::Sum,
            [factor] if term.denominator.is_empty() && term.coefficient.is_one() => {
                if is_half(&factor.exponent) { Level::Atom } else { Level::Factor }
            }
            _ => Level::Term,
        }
    }

    fn digits(&self, number: &Number) -> Digits {
        if self.unicode { Digits::readable(number) } else { Digits::exact(number) }
    }

    fn number(&self, number: &Number, level: Level, sheet: &mut Sheet) {
        let digits = self.digits(number);
        let own = match &digits {
            _ if number.is_negative() => Level::Sum,
            Digits::Plain(_) => Level::Atom,
            Digits::Ratio(..) => Level::Term,
            Digits::Scientific(..) => {
                if self.unicode {
                    Level::Term
                } else {
                    Level::Atom
                }
            }
        };
        self.within(level, own, sheet, |sheet| {
            if number.is_negative() {
                sheet.text(if self.unicode { "−" } else { "-" });
            }
            sheet.text(self.digits_text(&digits));
        });
    }

    fn digits_text(&self, digits: &Digits) -> String {
        match digits {
            Digits::Plain(text) => text.clone(),
            Digits::Ratio(n, d) => match vulgar(n, d) {
                Some(character) if self.unicode => character.to_string(),
                _ => format!("{n}/{d}"),
            },
            Digits::Scientific(mantissa, exponent) if self.unicode => {
                let mantissa =
                    if mantissa == "1" { String::new() } else { format!("{mantissa}×") };
                format!("{mantissa}10{}", superscript(&exponent.to_string()))
            }
            Digits::Scientific(mantissa, exponent) => format!("{mantissa}e{exponent}"),
        }
    }

    fn sum(&self, page: &Page, terms: &[Term], budget: u64, sheet: &mut Sheet) {
        if terms.is_empty() {
            sheet.text("0");
        }
        let parts = shares(terms.iter().map(|term| page.measure_term(term)), budget);
        let (plus, minus) = if self.unicode { (" + ", " − ") } else { (" + ", " - ") };
        for (at, (term, &budget)) in terms.iter().zip(&parts).enumerate() {
            if budget == 0 {
                return sheet.text(format!("{plus}…"));
            }
            match (at, term.negative) {
                (0, true) => sheet.text(minus.trim()),
                (0, false) => {}
                (_, true) => sheet.text(minus),
                (_, false) => sheet.text(plus),
            }
            self.term(page, term, budget, sheet);
        }
    }

    /// A term without its sign.
    fn term(&self, page: &Page, term: &Term, budget: u64, sheet: &mut Sheet) {
        let times = if self.unicode { "·" } else { "*" };
        let digits = self.digits(&term.coefficient);
        let (above, below) = match &digits {
            // ½·m·x², but p²/(2·m) and θ/2.
            Digits::Ratio(n, d)
                if !term.denominator.is_empty() || is_symbol(page, &term.numerator) =>
            {
                (n.clone(), Some(d.clone()))
            }
            digits => (self.digits_text(digits), None),
        };
        let all = term.numerator.iter().chain(&term.denominator);
        let parts = shares(all.map(|f| page.measure(f.base).length), budget);
        let (upper, lower) = parts.split_at(term.numerator.len());
        let number = (above != "1" || term.numerator.is_empty()).then_some(above);
        self.factors(page, number, &term.numerator, upper, times, sheet);
        if term.denominator.is_empty() && below.is_none() {
            return;
        }
        sheet.text("/");
        let single = below.is_some() as usize + term.denominator.len() == 1;
        let place = if single { Level::Or } else { Level::Atom };
        self.within(place, Level::Term, sheet, |sheet| {
            self.factors(page, below, &term.denominator, lower, times, sheet);
        });
    }

    fn factors(
        &self,
        page: &Page,
        number: Option<String>,
        factors: &[Factor],
        budgets: &[u64],
        times: &'static str,
        sheet: &mut Sheet,
    ) {
        let mut first = number.is_none();
        if let Some(number) = number {
            sheet.text(number);
        }
        for (factor, &budget) in factors.iter().zip(budgets) {
            if !std::mem::replace(&mut first, false) {
                sheet.text(times);
            }
            if budget == 0 {
                return sheet.text("…");
            }
            self.factor(page, factor, budget, sheet);
        }
    }

    fn factor(&self, page: &Page, factor: &Factor, budget: u64, sheet: &mut Sheet) {
        let Factor { base, exponent, flip, scale } = factor;
        if let Some(scale) = scale {
            sheet.text("(");
            self.sum(page, &page.layout.scaled_terms(*base, *flip, scale), budget, sheet);
            return sheet.text(")");
        }
        let slot = |level| Task::Expr(Slot { id: *base, level, flip: *flip, budget });
        if exponent.is_one() {
            return sheet.tasks.push(slot(Level::Factor));
        }
        if is_half(exponent) {
            let number = page.layout.arena.as_number(*base);
            if self.unicode && number.is_some_and(|n| n.is_integer() && !n.is_negative()) {
                sheet.text("√");
                return sheet.tasks.push(slot(Level::Atom));
            }
            sheet.text(if self.unicode { "√(" } else { "sqrt(" });
            sheet.tasks.push(slot(Level::Sum));
            return sheet.text(")");
        }
        let power = self.exponent(exponent);
        match page.layout.node(*base) {
            // sin²(θ): the exponent is read with the name.
            Node::Call { function, .. }
                if self.unicode
                    && takes_exponent(function)
                    && exponent.is_integer()
                    && !page.layout.names.contains_key(base) =>
            {
                let slot = Slot { id: *base, level: Level::Factor, flip: *flip, budget };
                self.call(page, slot, function, &power, sheet);
            }
            _ => {
                sheet.tasks.push(slot(Level::Atom));
                sheet.text(power);
            }
        }
    }

    fn exponent(&self, exponent: &Number) -> String {
        let sign = if exponent.is_negative() { "-" } else { "" };
        match self.digits(exponent) {
            Digits::Plain(text) if self.unicode && exponent.is_integer() => {
                superscript(&format!("{sign}{text}"))
            }
            Digits::Plain(text) => format!("^{sign}{text}"),
            Digits::Ratio(n, d) => format!("^({sign}{n}/{d})"),
            digits => format!("^({sign}{})", self.digits_text(&digits)),
        }
    }
}

/// Whether the factors are one symbol or π.
pub(super) fn is_symbol(page: &Page, factors: &[Factor]) -> bool {
    match factors {
        [factor] => {
            factor.exponent.is_one() && matches!(page.layout.node(factor.base), Node::Symbol(_))
        }
        _ => false,
    }
}

pub(super) fn is_half(number: &Number) -> bool {
    number.as_small() == Some((1, 2))
}

/// Functions whose powers are written sin²θ.
pub(super) fn takes_exponent(function: Function) -> bool {
    use Function::*;
    matches!(function, Sin | Cos | Tan | Sinh | Cosh | Tanh)
}

fn vulgar(n: &str, d: &str) -> Option<char> {
    Some(match (n, d) {
        ("1", "2") => '½',
        ("1", "3") => '⅓',
        ("2", "3") => '⅔',
        ("1", "4") => '¼',
        ("3", "4") => '¾',
        ("1", "6") => '⅙',
        ("5", "6") => '⅚',
        ("1", "8") => '⅛',
        ("3", "8") => '⅜',
        _ => return None,
    })
}
