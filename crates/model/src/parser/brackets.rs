//! Which bracket closes which, found before anything is parsed. The parser can
//! then step over any bracket in one move, so that a fault inside one does not
//! spread beyond it, and never has to guess where a closing bracket is missing:
//! all that is wrong with brackets is reported here.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{MAX_FAULTS, Token, TokenKind};
use crate::span::Span;
use TokenKind::*;

/// The partner of a bracket that is never closed, and of all other tokens.
pub(super) const NONE: u32 = u32::MAX;

/// Tokens whose brackets are in order, but for those that are never closed.
pub(super) struct Matched {
    pub tokens: Vec<Token>,
    /// For every opening bracket that is closed, where.
    pub partner: Vec<u32>,
    pub faults: Vec<Diagnostic>,
}

/// Pairs the brackets. Closing ones that close nothing are taken out (a `}`
/// still ends the statement before it); a `(` that is closed by `]` counts as
/// closed.
pub(super) fn pair(tokens: Vec<Token>) -> Matched {
    let mut pairing = Pairing {
        out: Matched {
            tokens: Vec::with_capacity(tokens.len()),
            partner: Vec::with_capacity(tokens.len()),
            faults: Vec::new(),
        },
        open: Vec::new(),
        n_parens: 0,
        braces: Vec::new(),
        semicolons: Vec::new(),
    };
    for token in tokens {
        pairing.add(token);
    }
    pairing.out
}

struct Pairing {
    out: Matched,
    /// The `(` and `[` of this statement that are still open.
    open: Vec<usize>,
    /// How many of these are `(`.
    n_parens: usize,
    /// The `{` that are still open.
    braces: Vec<usize>,
    /// The `;` since the first bracket that is still open.
    semicolons: Vec<usize>,
}

impl Pairing {
    fn add(&mut self, mut token: Token) {
        let here = self.out.tokens.len();
        match token.kind {
            OpenParen | OpenBracket => {
                self.n_parens += usize::from(token.kind == OpenParen);
                self.open.push(here);
            }
            CloseParen | CloseBracket => return self.close(token),
            OpenBrace => {
                self.end_statement();
                self.braces.push(here);
            }
            CloseBrace => {
                self.end_statement();
                return self.close_brace(token);
            }
            // The lexer counts brackets without looking at their kind, and may
            // hold one open that has no chance to be closed any more.
            Semicolon if self.open.is_empty() => token.kind = End,
            Semicolon => self.semicolons.push(here),
            End => self.end_statement(),
            Eof => {
                self.end_statement();
                let open = std::mem::take(&mut self.braces);
                if let Some((&first, others)) = open.split_first() {
                    let place = self.out.tokens[first].span;
                    let message = match others.len() {
                        0 => "this `{` is never closed".to_owned(),
                        n => format!("this `{{` and {n} more behind it are never closed"),
                    };
                    let fault = Diagnostic::fault(Code::UnclosedBracket, place, message);
                    self.report(fault.hint("put a `}` where the block ends"));
                }
            }
            _ => {}
        }
        self.push(token);
    }

    fn push(&mut self, token: Token) {
        self.out.tokens.push(token);
        self.out.partner.push(NONE);
    }

    fn report(&mut self, fault: Diagnostic) {
        if self.out.faults.len() < MAX_FAULTS {
            self.out.faults.push(fault);
        }
    }

    fn is_paren(&self, at: usize) -> bool {
        self.out.tokens[at].kind == OpenParen
    }

    fn close(&mut self, mut token: Token) {
        let closes_paren = token.kind == CloseParen;
        let has_kind =
            if closes_paren { self.n_parens > 0 } else { self.open.len() > self.n_parens };
        // Whatever was opened inside and is still open stays unclosed, if the
        // bracket that this one closes is there at all.
        while has_kind
            && let Some(&last) = self.open.last()
            && self.is_paren(last) != closes_paren
        {
            self.open.pop();
            self.n_parens -= usize::from(!closes_paren);
            self.report_unclosed(&[last]);
        }
        let Some(opening) = self.open.pop() else {
            let written = if closes_paren { ")" } else { "]" };
            return self.report_unmatched(token.span, written);
        };
        self.n_parens -= usize::from(self.is_paren(opening));
        if self.is_paren(opening) != closes_paren {
            let (open, shut, right) = if closes_paren { ("[", ")", "]") } else { ("(", "]", ")") };
            let message = format!("a `{open}` is closed by `{shut}`");
            self.report(
                Diagnostic::fault(Code::UnmatchedBracket, token.span, message)
                    .with(self.out.tokens[opening].span, "opened here")
                    .hint(format!("close it with `{right}`")),
            );
            token.kind = if closes_paren { CloseBracket } else { CloseParen };
        }
        self.out.partner[opening] = self.out.tokens.len() as u32;
        self.push(token);
        if self.open.is_empty() {
            self.enclose_semicolons(opening);
        }
    }

    /// Reports the `;` inside a bracket that is closed, and takes them for
    /// commas.
    fn enclose_semicolons(&mut self, opening: usize) {
        let semicolons = std::mem::take(&mut self.semicolons);
        let Some(&first) = semicolons.first() else { return };
        let place = self.out.tokens[first].span;
        let fault = Diagnostic::fault(Code::Syntax, place, "a `;` stands inside brackets")
            .with(self.out.tokens[opening].span, "opened here");
        self.report(if self.is_paren(opening) {
            fault.hint("a `;` ends a statement; arguments are separated by `,`")
        } else {
            fault.hint("the rows of a matrix are lists of their own: `[[1, 2], [3, 4]]`")
        });
        for at in semicolons {
            self.out.tokens[at].kind = Comma;
        }
    }

    fn close_brace(&mut self, mut token: Token) {
        match self.braces.pop() {
            Some(opening) => {
                self.out.partner[opening] = self.out.tokens.len() as u32;
            }
            None => {
                self.report_unmatched(token.span, "}");
                token.kind = End;
            }
        }
        self.push(token);
    }

    /// What is open where a statement ends is never closed, and the `;` since
    /// then do end statements.
    fn end_statement(&mut self) {
        for at in std::mem::take(&mut self.semicolons) {
            self.out.tokens[at].kind = End;
        }
        self.n_parens = 0;
        let open = std::mem::take(&mut self.open);
        self.report_unclosed(&open);
    }

    /// One fault, however many brackets one statement leaves open.
    fn report_unclosed(&mut self, open: &[usize]) {
        let Some((&first, others)) = open.split_first() else { return };
        let token = &self.out.tokens[first];
        let (written, closing) = if token.kind == OpenParen { ("(", ")") } else { ("[", "]") };
        let message = match others.len() {
            0 => format!("this `{written}` is never closed"),
            n => format!("this `{written}` and {n} more brackets behind it are never closed"),
        };
        let fault = Diagnostic::fault(Code::UnclosedBracket, token.span, message);
        self.report(fault.hint(format!("put a `{closing}` where it ends")));
    }

    fn report_unmatched(&mut self, place: Span, written: &str) {
        let message = format!("this `{written}` closes nothing");
        self.report(
            Diagnostic::fault(Code::UnmatchedBracket, place, message)
                .hint(format!("delete it, or open it with `{}`", opening_of(written))),
        );
    }
}

fn opening_of(closing: &str) -> &'static str {
    match closing {
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}
