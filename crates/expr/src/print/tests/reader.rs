//! A reader of source text, small enough to be trusted, that builds through
//! the canonical constructors. Chains of `+` and `*` are built at once: sums
//! and products of many items are not taken apart when they are added to.

use crate::arena::{ExprId, Exprs};
use crate::function::Function;
use crate::number::Number;
use rustc_hash::FxHashMap;

pub struct Reader<'a> {
    exprs: &'a Exprs,
    names: FxHashMap<String, ExprId>,
    tokens: Vec<String>,
    at: usize,
}

/// The expression that a text means; all symbols of the arena are known.
pub fn read(exprs: &Exprs, roots: &[ExprId], text: &str) -> ExprId {
    let mut names: FxHashMap<String, ExprId> = FxHashMap::default();
    for symbol in exprs.symbols_of(roots) {
        names.insert(exprs.symbol_info(symbol).full_name(), exprs.of_symbol(symbol));
    }
    read_with(exprs, names, text)
}

pub fn read_with(exprs: &Exprs, names: FxHashMap<String, ExprId>, text: &str) -> ExprId {
    let mut reader = Reader { exprs, names, tokens: tokens(text), at: 0 };
    let id = reader.condition();
    assert_eq!(reader.at, reader.tokens.len(), "text left over in {text}");
    id
}

fn tokens(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let start = at;
        let c = characters[at];
        at += 1;
        if c.is_whitespace() {
            continue;
        }
        let is = |at: usize, set: &str| characters.get(at).is_some_and(|&c| set.contains(c));
        if c.is_ascii_digit() {
            while is(at, "0123456789.") {
                at += 1;
            }
            if is(at, "e") {
                at += 1 + is(at + 1, "-") as usize;
                while is(at, "0123456789") {
                    at += 1;
                }
            }
        } else if c.is_alphabetic() {
            while characters.get(at).is_some_and(|c| c.is_alphanumeric() || "_.".contains(*c)) {
                at += 1;
            }
            if is(at, "[") {
                while !is(at - 1, "]") {
                    at += 1;
                }
            }
            while is(at, "'") {
                at += 1;
            }
        } else if "<>".contains(c) && is(at, "=") {
            at += 1;
        }
        found.push(characters[start..at].iter().collect());
    }
    found
}

impl Reader<'_> {
    fn next(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.next() == token;
        self.at += found as usize;
        found
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "{token} expected, not {}, in {:?}", self.next(), self.tokens);
    }

    fn condition(&mut self) -> ExprId {
        self.junction("or", Function::Or, |r| r.junction("and", Function::And, Self::comparison))
    }

    fn junction(
        &mut self,
        word: &str,
        function: Function,
        part: impl Fn(&mut Self) -> ExprId,
    ) -> ExprId {
        let mut parts = vec![part(self)];
        while self.take(word) {
            parts.push(part(self));
        }
        if parts.len() == 1 { parts[0] } else { self.exprs.call(function, &parts) }
    }

    fn comparison(&mut self) -> ExprId {
        let left = self.sum();
        let sign = self.next().to_owned();
        let function = match sign.as_str() {
            "<" | ">" => Function::Negative,
            "<=" | ">=" => Function::NotPositive,
            _ => return left,
        };
        self.at += 1;
        let (left, right) = (self.exprs.at(left), self.exprs.at(self.sum()));
        let difference = if sign.starts_with('<') { left - right } else { right - left };
        self.exprs.call(function, &[difference.id])
    }

    fn sum(&mut self) -> ExprId {
        let mut terms = vec![self.product()];
        loop {
            if self.take("+") {
                terms.push(self.product());
            } else if self.take("-") {
                terms.push((-self.exprs.at(self.product())).id);
            } else {
                return self.exprs.sum(&terms);
            }
        }
    }

    fn product(&mut self) -> ExprId {
        let mut factors = vec![self.unary()];
        loop {
            if self.take("*") {
                factors.push(self.unary());
            } else if self.take("/") {
                factors.push(self.exprs.at(self.unary()).powi(-1).id);
            } else {
                return if factors.len() == 1 { factors[0] } else { self.exprs.product(&factors) };
            }
        }
    }

    fn unary(&mut self) -> ExprId {
        if self.take("-") { (-self.exprs.at(self.unary())).id } else { self.power() }
    }

    fn power(&mut self) -> ExprId {
        let base = self.primary();
        if self.take("^") { self.exprs.pow(base, self.unary()) } else { base }
    }

    fn primary(&mut self) -> ExprId {
        if self.take("(") {
            let inner = self.condition();
            self.expect(")");
            return inner;
        }
        let token = self.next().to_owned();
        self.at += 1;
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            let number = Number::from_decimal(&token);
            return self.exprs.of_number(number.unwrap_or_else(|| panic!("no number: {token}")));
        }
        if token == "pi" {
            return self.exprs.pi().id;
        }
        if !self.take("(") {
            return *self
                .names
                .get(&token)
                .unwrap_or_else(|| panic!("no name: {token} in {:?}", self.tokens));
        }
        let mut arguments = vec![self.condition()];
        while self.take(",") {
            arguments.push(self.condition());
        }
        self.expect(")");
        let function = match token.as_str() {
            "sqrt" => return self.exprs.at(arguments[0]).sqrt().id,
            "atan2" => Function::Atan2,
            "min" => Function::Min,
            "max" => Function::Max,
            "if" => Function::If,
            name => Function::from_name(name).unwrap_or_else(|| panic!("no function: {name}")),
        };
        self.exprs.call(function, &arguments)
    }
}
