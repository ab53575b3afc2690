//! License expressions as packages state them: SPDX, and the older `MIT/Apache-2.0`.
//!
//! ```text
//! either  = both { ("OR" | "/") both } ;
//! both    = single { "AND" single } ;
//! single  = "(" either ")" | ID [ "+" ] [ "WITH" ID ] ;
//! ```

/// What a package may be used under.
#[derive(Debug, PartialEq, Eq)]
pub enum Expression {
    /// One license, `MIT` or `Apache-2.0 WITH LLVM-exception`.
    License(String),
    /// All of these together.
    And(Vec<Expression>),
    /// Any one of these, at the user's choice.
    Or(Vec<Expression>),
}

impl Expression {
    /// Reads an expression; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut parser = Parser { tokens: tokens(text)? };
        let expression = parser.either()?;
        match parser.next() {
            None => Ok(expression),
            Some(extra) => Err(format!("`{extra}` is not expected here")),
        }
    }

    /// Whether the allowed licenses suffice. Names are compared without case, as SPDX asks.
    pub fn permits(&self, allowed: &[&str]) -> bool {
        match self {
            Expression::License(name) => allowed.iter().any(|one| one.eq_ignore_ascii_case(name)),
            Expression::And(parts) => parts.iter().all(|part| part.permits(allowed)),
            Expression::Or(parts) => parts.iter().any(|part| part.permits(allowed)),
        }
    }
}

/// The tokens in reverse, so that the next one is popped.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while !rest.is_empty() {
            let end = match rest.find(['(', ')', '/']) {
                Some(0) => 1,
                Some(end) => end,
                None => rest.len(),
            };
            let (token, after) = rest.split_at(end);
            tokens.push(token);
            rest = after;
        }
    }
    let named = |c: char| c.is_ascii_alphanumeric() || "-.+:()/".contains(c);
    match tokens.iter().find(|token| !token.chars().all(named)) {
        Some(bad) => Err(format!("`{bad}` is no license")),
        None => {
            tokens.reverse();
            Ok(tokens)
        }
    }
}

struct Parser<'t> {
    tokens: Vec<&'t str>,
}

impl<'t> Parser<'t> {
    fn next(&mut self) -> Option<&'t str> {
        self.tokens.pop()
    }

    fn accept(&mut self, wanted: &[&str]) -> bool {
        let found = self.tokens.last().is_some_and(|token| wanted.contains(token));
        if found {
            self.tokens.pop();
        }
        found
    }

    fn either(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.both()?];
        while self.accept(&["OR", "/"]) {
            parts.push(self.both()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::Or(parts) })
    }

    fn both(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.single()?];
        while self.accept(&["AND"]) {
            parts.push(self.single()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expression::And(parts) })
    }

    fn single(&mut self) -> Result<Expression, String> {
        if self.accept(&["("]) {
            let inner = self.either()?;
            return if self.accept(&[")"]) { Ok(inner) } else { Err("`)` is missing".into()) };
        }
        // `X+`, X or any later version, always leaves the choice of X itself.
        let id = self.id()?;
        let id = id.strip_suffix('+').unwrap_or(id);
        if !self.accept(&["WITH"]) {
            return Ok(Expression::License(id.to_owned()));
        }
        Ok(Expression::License(format!("{id} WITH {}", self.id()?)))
    }

    fn id(&mut self) -> Result<&'t str, String> {
        match self.next() {
            Some(token) if !["OR", "AND", "WITH", "(", ")", "/"].contains(&token) => Ok(token),
            Some(token) => Err(format!("a license is expected before `{token}`")),
            None => Err("a license is expected at the end".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Expression::{self, And, License, Or};

    fn license(name: &str) -> Expression {
        License(name.to_owned())
    }

    fn permits(text: &str, allowed: &[&str]) -> bool {
        Expression::parse(text).unwrap().permits(allowed)
    }

    #[test]
    fn and_binds_tighter_than_or() {
        let expected =
            || Or(vec![license("A"), And(vec![license("B"), license("C")]), license("D")]);
        assert_eq!(Expression::parse("A OR B AND C OR D"), Ok(expected()));
        assert_eq!(Expression::parse("A/B AND C / D"), Ok(expected()));
        assert_eq!(
            Expression::parse("(A OR B) AND C"),
            Ok(And(vec![Or(vec![license("A"), license("B")]), license("C")]))
        );
    }

    #[test]
    fn or_needs_one_and_needs_all() {
        assert!(permits("MIT/Apache-2.0", &["MIT"]));
        assert!(permits("GPL-3.0-only OR mit", &["MIT"]));
        assert!(!permits("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT"]));
        assert!(permits("(MIT OR Apache-2.0) AND Unicode-3.0", &["MIT", "Unicode-3.0"]));
        assert!(!permits("MIT AND GPL-3.0-only", &["MIT"]));
    }

    #[test]
    fn an_exception_belongs_to_its_license() {
        let text = "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only";
        assert!(permits(text, &["Apache-2.0 WITH LLVM-exception"]));
        assert!(!permits(text, &["Apache-2.0"]));
        assert!(!permits("Apache-2.0", &["Apache-2.0 WITH LLVM-exception"]));
    }

    #[test]
    fn or_later_includes_the_version_itself() {
        assert!(permits("Apache-2.0+", &["Apache-2.0"]));
        assert!(!permits("GPL-2.0+", &["Apache-2.0"]));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in
            ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "MIT, ISC"]
        {
            assert!(Expression::parse(text).is_err(), "{text:?} was accepted");
        }
    }
}
