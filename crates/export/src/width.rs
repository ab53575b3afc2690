//! How wide a LaTeX formula comes out, and where it may be broken: in tenths of
//! an em, from the widths of the glyphs of Computer Modern, rounded up. An
//! estimate, so lines are held some percent below the page.

/// What a line may take: the text of the documents is some 41 em wide.
pub(crate) const LINE: u64 = 385;

/// The width of a formula.
pub(crate) fn width(formula: &str) -> u64 {
    Reader { rest: formula }.group(10)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Everything up to the end of the group; `scale` is 10 for full size.
    fn group(&mut self, scale: u64) -> u64 {
        let mut total = 0;
        while let Some(c) = self.next() {
            total += match c {
                '}' => break,
                '{' => self.group(scale),
                '^' | '_' => self.argument(7 * scale / 10 + 1),
                '\\' => self.command(scale),
                ' ' | '&' | '~' => 0,
                '+' | '-' | '=' | '<' | '>' => 13 * scale / 10,
                '(' | ')' | '[' | ']' | ',' | '.' | '\'' | '|' | '/' => 4 * scale / 10,
                '0'..='9' => 5 * scale / 10,
                'm' | 'w' | 'M' | 'W' => 9 * scale / 10,
                'A'..='Z' => 8 * scale / 10,
                'i' | 'j' | 'l' | 't' | 'r' | 'f' => 5 * scale / 10,
                _ => 6 * scale / 10,
            };
        }
        total
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// What follows as one argument.
    fn argument(&mut self, scale: u64) -> u64 {
        self.rest = self.rest.trim_start();
        match self.next() {
            Some('{') => self.group(scale),
            Some('\\') => self.command(scale),
            Some(_) => 5 * scale / 10,
            None => 0,
        }
    }

    fn command(&mut self, scale: u64) -> u64 {
        let letters =
            self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        if letters == 0 {
            return match self.next() {
                Some(',') => 2,
                Some(_) => 5,
                None => 0,
            };
        }
        let (word, rest) = self.rest.split_at(letters);
        self.rest = rest;
        match word {
            "frac" => {
                let above = self.argument(scale);
                above.max(self.argument(scale)) + 3
            }
            "sqrt" => self.argument(scale) + 10,
            "left" | "right" => {
                self.next();
                7 * scale / 10
            }
            "bigl" | "bigr" | "Bigl" | "Bigr" | "biggl" | "biggr" => {
                self.next();
                6 * scale / 10
            }
            "dot" | "ddot" | "dddot" | "ddddot" | "tilde" | "mathrm" | "text" | "mathbf"
            | "boldsymbol" | "operatorname" | "overline" => self.argument(scale),
            "sin" | "cos" | "tan" | "exp" | "log" | "ln" => 16 * scale / 10,
            "sinh" | "cosh" | "tanh" | "arcsin" | "arccos" | "arctan" => 28 * scale / 10,
            "quad" => 10,
            "qquad" => 20,
            "times" | "cdot" | "approx" => 13 * scale / 10,
            "begin" | "end" => {
                self.argument(0);
                8
            }
            "mathsf" => self.argument(7),
            _ => 7 * scale / 10,
        }
    }
}

/// A formula in lines of at most this width: broken before + and − that stand in
/// no bracket; where one term alone is too wide, between its factors; where one
/// factor is, before + and − inside of its brackets.
pub(crate) fn break_lines(formula: &str, limit: u64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for term in pieces(formula, Cut::Terms) {
        if !line.trim().is_empty() && width(&line) + width(&term) > limit {
            lines.push(std::mem::take(&mut line));
        }
        if width(&term) <= limit {
            line.push_str(&term);
            continue;
        }
        let factors = pieces(&term, Cut::Factors).into_iter();
        for factor in factors.flat_map(|factor| unfolded(factor, limit)) {
            let used = width(&line);
            if used > limit / 4 && used + width(&factor) > limit {
                line.push_str(" \\cdot{}");
                lines.push(std::mem::take(&mut line));
            }
            if width(&factor) <= limit {
                line.push_str(&factor);
                continue;
            }
            // Brackets that grow must close on their line.
            let factor = factor.replace("\\left", "\\biggl").replace("\\right", "\\biggr");
            let outer = pieces(&factor, Cut::Inside(1)).into_iter();
            let deeper = |piece: String| match width(&piece) <= limit {
                true => vec![piece],
                false => pieces(&piece, Cut::Inside(i32::MAX)),
            };
            for inner in outer.flat_map(deeper) {
                // A term in there may be a product that is too wide itself.
                let parts = match width(&inner) > limit / 2 {
                    true => pieces(&inner, Cut::Products),
                    false => vec![inner],
                };
                for (at, part) in parts.into_iter().enumerate() {
                    if width(&line) > limit / 4 && width(&line) + width(&part) > limit {
                        if at > 0 {
                            line.push_str(" \\cdot{}");
                        }
                        lines.push(std::mem::take(&mut line));
                        line.push_str("\\quad ");
                    }
                    line.push_str(&part);
                }
            }
        }
    }
    lines.push(line);
    lines.iter().map(|l| l.trim().to_owned()).collect()
}

/// A fraction that is too wide as one with the first factor of its numerator, and the others behind
/// it; as several, where its denominator is a product that is too wide. What is no such fraction
/// stays.
fn unfolded(factor: String, limit: u64) -> Vec<String> {
    let whole = |factor: String| vec![factor];
    let Some(at) = factor.find("\\frac{").filter(|_| width(&factor) > limit) else {
        return whole(factor);
    };
    let sign = &factor[..at];
    let parts = braced(&factor[at + "\\frac".len()..])
        .and_then(|(above, rest)| braced(rest).map(|(below, rest)| (above, below, rest)));
    let Some((above, below, rest)) = parts else { return whole(factor) };
    let is_alone = ["", "+", "-"].contains(&sign.trim()) && rest.trim().is_empty();
    if !is_alone || pieces(above, Cut::Terms).len() > 1 {
        return whole(factor);
    }
    let mut factors = pieces(above, Cut::Factors).into_iter();
    let first = factors.next().unwrap_or_default();
    let mut list = Vec::new();
    // A sign stands before, a dot behind.
    for (at, part) in grouped(below, limit.saturating_sub(30)).iter().enumerate() {
        let (sign, above) = if at == 0 { (sign, first.trim()) } else { (" ", "1") };
        list.push(format!("{sign}\\frac{{{above}}}{{{}}}", part.trim()));
    }
    list.extend(factors);
    list
}

/// A product in groups of factors that are no wider than the limit where they need not be.
fn grouped(product: &str, limit: u64) -> Vec<String> {
    if width(product) <= limit || pieces(product, Cut::Terms).len() > 1 {
        return vec![product.to_owned()];
    }
    let mut groups: Vec<String> = Vec::new();
    for factor in pieces(product, Cut::Factors) {
        match groups.last_mut() {
            Some(group) if width(group) + width(&factor) <= limit => group.push_str(&factor),
            _ => groups.push(factor),
        }
    }
    groups
}

/// What stands in the braces that a text begins with, and what is behind them.
fn braced(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('{')?;
    let mut depth = 1;
    for (at, c) in inner.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return Some((&inner[..at], &inner[at + 1..]));
        }
    }
    None
}

/// Where a formula may be cut.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// Before + and − outside of brackets.
    Terms,
    /// Before factors outside of brackets.
    Factors,
    /// Before + and − inside of so many brackets, but not of braces.
    Inside(i32),
    /// Before factors in brackets, inside of any.
    Products,
}

/// The formula in pieces.
fn pieces(formula: &str, cut: Cut) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let (mut braces, mut brackets) = (0i32, 0i32);
    for (at, c) in formula.char_indices() {
        match c {
            '{' => braces += 1,
            '}' => braces -= 1,
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets -= 1,
            _ => {}
        }
        let rest = &formula[at..];
        let operator = rest.starts_with(" + ") || rest.starts_with(" - ");
        let is_place = match cut {
            Cut::Terms => operator && brackets == 0,
            // An argument belongs to its function, a number to what it multiplies.
            Cut::Factors => {
                c == ' ' && brackets == 0 && may_end_factor(&piece) && may_begin_factor(rest)
            }
            Cut::Inside(depth) => operator && brackets <= depth,
            Cut::Products => c == ' ' && may_end_factor(&piece) && begins_with_bracket(rest),
        };
        if braces == 0 && is_place && !piece.trim().is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push(c);
    }
    pieces.push(piece);
    pieces
}

fn may_end_factor(piece: &str) -> bool {
    piece.ends_with('}') || piece.ends_with(')') || piece.ends_with(']')
}

fn may_begin_factor(rest: &str) -> bool {
    let rest = rest.trim_start();
    !rest.starts_with("\\right") && !rest.starts_with(['^', '_', '+', '-', '=', '&'])
}

fn begins_with_bracket(rest: &str) -> bool {
    let rest = rest.trim_start();
    ["(", "[", "\\left", "\\bigl", "\\Bigl", "\\biggl"].iter().any(|open| rest.starts_with(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_terms() {
        let term = "m_{1} \\left(a + b\\right)^{2}";
        let formula = [term; 12].join(" + ");
        let lines = break_lines(&formula, 200);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|l| width(l) <= 200), "{lines:?}");
        assert_eq!(lines.join(" "), formula);
        assert!(lines.iter().all(|l| l.matches('(').count() == l.matches(')').count()));
        assert_eq!(break_lines("a + b", 200), ["a + b"]);
    }

    #[test]
    fn a_term_that_is_too_wide_breaks_between_factors() {
        let formula = ["\\left(a + b + c\\right)"; 8].join(" ");
        let lines = break_lines(&formula, 150);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l) <= 180), "{lines:?}");
    }

    #[test]
    fn a_factor_that_is_too_wide_breaks_inside_of_its_brackets() {
        let formula = format!("-g \\left[{}\\right]", ["a b^{2}"; 40].join(" + "));
        let lines = break_lines(&formula, 200);
        assert!(lines.len() > 2 && lines.iter().all(|l| width(l) <= 215), "{lines:?}");
        assert!(!lines.join(" ").contains("\\left"));
    }

    #[test]
    fn a_product_in_brackets_that_is_too_wide_breaks_before_a_bracket() {
        let sum = ["a b^{2}"; 9].join(" + ");
        let wide = ["a b^{2}"; 12].join(" ");
        let inner = format!("\\frac{{y}}{{{sum}}} ({wide} + d) - c");
        let formula = format!("\\frac{{1}}{{z}} \\left[{inner}\\right]");
        let lines = break_lines(&formula, 330);
        assert!(lines.iter().all(|l| width(l) <= 345), "{lines:?}");
        assert!(lines.iter().any(|l| l.ends_with("\\cdot{}")), "{lines:?}");
    }

    #[test]
    fn a_fraction_that_is_too_wide_has_factors_behind_it() {
        let factors = ["\\sin(a + b + c)"; 9].join(" ");
        let lines = break_lines(&format!("x - \\frac{{3 (a + b) {factors}}}{{2 z^{{2}}}}"), 330);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l) <= 345), "{lines:?}");
        let all = lines.join(" ");
        assert!(all.contains("\\frac{3 (a + b)}{2 z^{2}}"), "{all}");
        assert_eq!(all.matches("\\sin").count(), 9);
        // A product below is divided too.
        let below = ["\\bigl[1 + x^{2} + (a + b) c + d e + f g + h\\bigr]^{2}"; 3].join(" ");
        let lines = break_lines(&format!("x - \\frac{{3 p}}{{{below}}}"), 330);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l) <= 345), "{lines:?}");
        let all = lines.join(" ");
        assert_eq!(
            (all.matches("\\bigl").count(), all.matches("\\frac{1}").count()),
            (3, 2),
            "{all}"
        );
        // A sum in the numerator stays where it is.
        let sum = ["a b^{2}"; 40].join(" + ");
        let wide = format!("\\frac{{{sum}}}{{z}}");
        assert_eq!(break_lines(&wide, 330), [wide]);
    }

    #[test]
    fn fractions_are_as_wide_as_their_wider_half() {
        assert_eq!(width("\\frac{a}{b}"), width("\\frac{b}{a}"));
        assert!(width("\\frac{a + b + c}{a}") < width("a + b + c") + width("a"));
        assert!(width("x^{2}") < width("x 2"));
    }
}
