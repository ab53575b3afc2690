//! Numbers: `2`, `2.5`, `.5`, `2.`, `1e-3`. In `1..5` the dots are the range.

use super::{Lexer, TokenKind};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use dalembert_expr::Number;

impl Lexer<'_> {
    /// The number that begins here; the caller has seen a digit, or a point
    /// and a digit.
    pub(super) fn number(&mut self) {
        let start = self.at;
        let rest = &self.text[start..self.end];
        let length = number_length(rest.as_bytes());
        let tail = malformed_tail(rest.as_bytes(), length);
        self.at = start + length + tail;
        if tail > 0 {
            self.malformed(start);
        }
        let kind = TokenKind::Number(self.value(start, length));
        self.push(kind, start);
    }

    fn value(&mut self, start: usize, length: usize) -> Number {
        let digits = &self.text[start..start + length];
        Number::from_decimal(digits).unwrap_or_else(|| {
            let place = Span::new(self.source, start, start + length);
            let message = "this constant is too large or too small for a floating-point number";
            self.report(
                Diagnostic::fault(Code::ConstantTooLarge, place, message)
                    .hint("floating-point numbers reach from 5e-324 to 1.7e308"),
            );
            // One does no harm wherever it stands.
            Number::ONE
        })
    }

    fn malformed(&mut self, start: usize) {
        let place = Span::new(self.source, start, self.at);
        let written = &self.text[start..self.at];
        let fault = Diagnostic::fault(Code::NumberFormat, place, "this is not a number");
        self.report(if written.contains('_') && written.bytes().all(|b| b != b'.') {
            fault.hint("digits are not grouped: leave the `_` out")
        } else if written.starts_with('0') && !written.contains(['.', '_']) {
            fault.hint("numbers are decimal, as in `31` or `1e-3`")
        } else {
            fault.hint("a number has one decimal point, as in `2.5`; a range is `1..5`")
        });
    }
}

/// The length of the number at the beginning of `text`.
fn number_length(text: &[u8]) -> usize {
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let digits_end = |mut at: usize| {
        while is_digit(at) {
            at += 1;
        }
        at
    };
    let mut end = digits_end(0);
    if text.get(end) == Some(&b'.') && text.get(end + 1) != Some(&b'.') {
        end = digits_end(end + 1);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        if is_digit(end + 1 + sign) {
            end = digits_end(end + 1 + sign);
        }
    }
    end
}

/// How far something goes on behind a number that looks like a part of it, but
/// cannot be: `1.2.3`, `1_000`, `0x1f`.
fn malformed_tail(text: &[u8], length: usize) -> usize {
    let at = |offset: usize| text.get(length + offset).copied().unwrap_or(b' ');
    let goes_on = match at(0) {
        b'.' | b'_' => at(1).is_ascii_digit(),
        b'x' | b'X' | b'b' | b'o' => text[..length] == *b"0" && at(1).is_ascii_digit(),
        _ => false,
    };
    if !goes_on {
        return 0;
    }
    let mut tail = 1;
    loop {
        match at(tail) {
            b'_' => tail += 1,
            c if c.is_ascii_alphanumeric() => tail += 1,
            b'.' if at(tail + 1).is_ascii_digit() => tail += 1,
            _ => return tail,
        }
    }
}
