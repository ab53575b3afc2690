//! What does not belong: operators and comments of other languages, and
//! characters that are not ASCII.

use super::characters::*;
use super::{Lexer, TokenKind, operator};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use dalembert_expr::Number;

/// How lexing goes on behind a foreign operator.
enum Instead {
    /// As if this had been written.
    Token(TokenKind),
    /// As if this word had been written.
    Word(&'static str),
    /// As if the rest of the line were a comment.
    Comment,
    /// As if nothing had been written, and the line goes on.
    Nothing,
}

impl Lexer<'_> {
    /// Takes an operator of another language, if there is one here.
    pub(super) fn foreign(&mut self) -> bool {
        use Instead::*;
        let rest = &self.text[self.at..self.end];
        let at_line_end = |length: usize| {
            let line = rest[length..].trim_start_matches([' ', '\t']);
            line.starts_with(['\n', '\r'])
        };
        let no_mark = "a line goes on behind an operator or inside brackets; it needs no mark";
        let (written, hint, instead) = match rest.as_bytes() {
            [b'*', b'*', ..] => ("**", "write a power as `a^b`", Token(TokenKind::Caret)),
            [b'/', b'/', ..] => ("//", "a comment begins with `#`", Comment),
            [b'/', b'*', ..] => ("/*", "a comment begins with `#` and ends with its line", Comment),
            [b'%', ..] => {
                ("%", "a comment begins with `#`; a remainder is written `mod(i, n)`", Comment)
            }
            [b'=', b'=', ..] => (
                "==",
                "an equation has one `=`; the condition of `if` compares with `<`, `>`, `<=`, \
                        `>=`",
                Token(TokenKind::Equals),
            ),
            [b'=', b'>', ..] => {
                ("=>", "write `->` in an `event`, `=` or `>=` elsewhere", Token(TokenKind::Arrow))
            }
            [b':', b'=', ..] => (":=", "write `=`", Token(TokenKind::Equals)),
            [b'!', b'=', ..] => {
                ("!=", "write `a < b or a > b` where two values differ", Token(TokenKind::Less))
            }
            [b'&', b'&', ..] => ("&&", "write `and`", Word("and")),
            [b'|', b'|', ..] => ("||", "write `or`", Word("or")),
            [b'&', ..] => ("&", "write `and`", Word("and")),
            [b'|', ..] => ("|", "write `or`; an absolute value is `abs(x)`", Word("or")),
            [b'\\', ..] if at_line_end(1) => ("\\", no_mark, Nothing),
            [b'\\', letter, ..] if letter.is_ascii_alphabetic() => return self.latex(),
            [b'.', b'*', ..] => (".*", "write `*`", Token(TokenKind::Star)),
            [b'.', b'/', ..] => ("./", "write `/`", Token(TokenKind::Slash)),
            [b'.', b'^', ..] => (".^", "write `^`", Token(TokenKind::Caret)),
            [b'.', b'.', b'.', ..] if at_line_end(3) => ("...", no_mark, Nothing),
            _ => return false,
        };
        let start = self.at;
        self.at += written.len();
        let place = Span::new(self.source, start, self.at);
        let message = format!("`{written}` is not part of the language");
        self.report(Diagnostic::fault(Code::ForeignOperator, place, message).hint(hint));
        match instead {
            Token(kind) => self.push(kind, start),
            Word(word) => {
                let name = self.intern(word.into());
                self.push(TokenKind::Name(name), start);
            }
            Comment if written == "/*" => self.skip_block_comment(),
            Comment => self.skip_line(),
            Nothing => self.skip_line_end(),
        }
        true
    }

    /// A command of LaTeX: `\\theta` is taken for `theta`; what has braces behind
    /// it costs the rest of the line.
    fn latex(&mut self) -> bool {
        use Instead::*;
        let start = self.at;
        let rest = &self.text[start + 1..self.end];
        let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let command = &rest[..length];
        let (hint, instead) = match command {
            "frac" | "dfrac" | "tfrac" => ("write `a/b`".to_owned(), Comment),
            "dot" => ("write a prime: `x'`".to_owned(), Comment),
            "ddot" => ("write two primes: `x''`".to_owned(), Comment),
            "cdot" | "times" => ("write `*`".to_owned(), Token(TokenKind::Star)),
            "left" | "right" | "quad" | "qquad" => ("leave it out".to_owned(), Nothing),
            _ => (format!("write `{command}`"), Nothing),
        };
        self.at += 1 + length;
        let message = match command.len() {
            0..=30 => format!("`\\{command}` is LaTeX, and not part of the language"),
            _ => "this is LaTeX, and not part of the language".to_owned(),
        };
        let is_name = hint.ends_with(&format!("`{command}`"));
        self.report_at(start, Code::ForeignOperator, message, Some(&hint));
        match instead {
            Token(kind) => self.push(kind, start),
            Comment => {
                self.push(TokenKind::Unknown, start);
                self.skip_line();
            }
            _ if is_name => {
                let name = self.intern(command.to_owned());
                self.push(TokenKind::Name(name), start);
            }
            _ => {}
        }
        true
    }

    fn skip_block_comment(&mut self) {
        // A search that failed once need not be repeated for every `/*`.
        let rest = &self.text[self.at..self.end];
        match (!self.comment_unclosed).then(|| rest.find("*/")).flatten() {
            Some(length) => self.at += length + 2,
            None => {
                self.comment_unclosed = true;
                self.skip_line();
            }
        }
    }

    /// Skips the end of this line, so that the next one continues it.
    fn skip_line_end(&mut self) {
        self.skip_line();
        let rest = &self.text[self.at..self.end];
        self.at += if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) };
    }

    /// Takes a character that is neither a letter nor ASCII white space nor an
    /// ASCII operator.
    pub(super) fn unusual(&mut self, c: char) {
        let start = self.at;
        if is_invisible(c) {
            self.at += c.len_utf8();
            let message = format!("there is an invisible character here ({})", visible(c));
            self.report_at(start, Code::UnexpectedCharacter, message, Some("delete it"));
        } else if is_curly_quote(c) {
            self.report_ascii(c, "\"");
            self.string();
        } else if superscript(c).is_some() {
            self.superscripts();
        } else if let Some((n, d)) = fraction(c) {
            self.at += c.len_utf8();
            let value = Number::ratio(n, d).unwrap_or(Number::ONE);
            self.push(TokenKind::Number(value), start);
        } else if is_printed(c) && self.peek_second() != Some('>') {
            // As our own documents write it.
            self.as_if(ascii_form(c).unwrap_or("*"), c.len_utf8());
        } else if let Some(ascii) = ascii_form(c) {
            // `–>`: a program has made a dash of the arrow's line.
            let arrow = ascii == "-" && self.peek_second() == Some('>');
            let ascii = if arrow { "->" } else { ascii };
            self.report_ascii(c, ascii);
            self.as_if(ascii, c.len_utf8() + usize::from(arrow));
        } else if c == '\u{2260}' {
            self.at += c.len_utf8();
            let message = "`≠` is not part of the language".into();
            let hint = "write `a < b or a > b` where two values differ";
            self.report_at(start, Code::AsciiOperator, message, Some(hint));
            self.push(TokenKind::Less, start);
        } else {
            self.unexpected(c);
        }
    }

    /// Adds the tokens of `ascii` in place of the `length` bytes here.
    fn as_if(&mut self, ascii: &str, length: usize) {
        let start = self.at;
        if ascii == ";" {
            return self.semicolon(length);
        }
        self.at += length;
        let mut rest = ascii;
        while let Some((kind, taken)) = operator(rest) {
            self.push(kind, start);
            rest = &rest[taken..];
        }
    }

    /// `x²`, `x⁻¹`: a power.
    fn superscripts(&mut self) {
        let start = self.at;
        let mut exponent = String::new();
        while let Some((c, ascii)) = self.peek().and_then(|c| Some((c, superscript(c)?))) {
            exponent.push(ascii);
            self.at += c.len_utf8();
        }
        self.push(TokenKind::Caret, start);
        let digits = exponent.trim_start_matches(['+', '-']);
        if exponent.starts_with('-') {
            self.push(TokenKind::Minus, start);
        }
        let value = Number::from_decimal(digits).unwrap_or(Number::ONE);
        self.push(TokenKind::Number(value), start);
    }

    fn report_ascii(&mut self, c: char, ascii: &str) {
        let place = Span::new(self.source, self.at, self.at + c.len_utf8());
        let message = format!("{} (U+{:04X}) is not ASCII", visible(c), c as u32);
        let hint = format!("write `{ascii}`");
        self.report(Diagnostic::fault(Code::AsciiOperator, place, message).hint(hint));
    }

    /// A run of characters that mean nothing here, as one fault.
    fn unexpected(&mut self, first: char) {
        let start = self.at;
        self.at += first.len_utf8();
        while let Some(c) = self.peek() {
            let has_meaning = c.is_whitespace()
                || c.is_ascii_digit()
                || matches!(c, '#' | ';' | '"' | '&' | '|' | '%')
                || starts_name(c)
                || operator(&self.text[self.at..self.end]).is_some()
                || ascii_form(c).is_some();
            if has_meaning {
                break;
            }
            self.at += c.len_utf8();
        }
        let run = &self.text[start..self.at];
        let hint = match run.starts_with("```") {
            true => Some("a fenced block ends with a line of ``` alone"),
            false => unexpected_hint(first),
        };
        let message = match run.chars().count() {
            1 => format!("{} is not part of the language", visible(first)),
            n => format!(
                "{n} characters here, the first of them {}, are not part of the language",
                visible(first)
            ),
        };
        self.report_at(start, Code::UnexpectedCharacter, message, hint);
        self.push(TokenKind::Unknown, start);
    }

    fn report_at(&mut self, start: usize, code: Code, message: String, hint: Option<&str>) {
        let place = Span::new(self.source, start, self.at);
        let fault = Diagnostic::fault(code, place, message);
        self.report(match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        });
    }
}
