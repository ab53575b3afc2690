use super::TokenKind::*;
use super::*;
use proptest::prelude::*;

fn lexed(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let whole = 0..text.len();
    let tokens = lex(SourceId(0), text, std::slice::from_ref(&whole), &mut diagnostics);
    (tokens, diagnostics)
}

/// The tokens of a text, written out, with `;` for an end of a statement.
fn shown(text: &str) -> (String, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lexed(text);
    let words: Vec<String> = tokens
        .iter()
        .map(|token| match &token.kind {
            Name(name) => name.to_string(),
            Number(number) => {
                let (numerator, denominator) = number.parts();
                if denominator == "1" { numerator } else { format!("{numerator}/{denominator}") }
            }
            Text(text) => format!("{text:?}"),
            Title(title) => format!("<{title}>"),
            End => ";".into(),
            Eof => "$".into(),
            Unknown => "?".into(),
            _ => operator_text(&token.kind).into(),
        })
        .collect();
    (words.join(" "), diagnostics)
}

fn operator_text(kind: &TokenKind) -> &'static str {
    let all = [
        "+", "-", "*", "/", "^", "=", "~", ":", ",", "->", "..", "'", ".", "<", "<=", ">", ">=",
        "(", ")", "[", "]", "{", "}",
    ];
    all.into_iter().find(|text| operator(text).is_some_and(|(k, _)| k == *kind)).unwrap_or("(;)")
}

#[track_caller]
fn assert_lexes(text: &str, expected: &str) {
    let (found, diagnostics) = shown(text);
    assert_eq!(found, expected, "{text:?}");
    assert_eq!(diagnostics, [], "{text:?}");
}

/// Asserts the tokens that follow and the code, place and hint of each fault.
#[track_caller]
fn assert_faults(text: &str, expected: &str, faults: &[(&str, &str, &str)]) {
    let (found, diagnostics) = shown(text);
    assert_eq!(found, expected, "{text:?}");
    let reported: Vec<(&str, &str, &str)> = diagnostics
        .iter()
        .map(|d| {
            let hint = d.hints.first().map_or("", String::as_str);
            (d.code.name(), &text[d.labels[0].span.range()], hint)
        })
        .collect();
    assert_eq!(reported, faults, "{text:?}");
}

#[test]
fn numbers() {
    assert_lexes("2 2.5 .5 2. 1e-3 1E3 2.e2", "2 5/2 1/2 2 1/1000 1000 200 ; $");
    assert_lexes("1..5 1...5 1.5..2.5 0.1", "1 .. 5 1 .. 1/2 3/2 .. 5/2 1/10 ; $");
    assert_lexes("x[2].y 2e x.a", "x [ 2 ] . y 2 e x . a ; $");
    assert_faults(
        "1.2.3 + 1_000 + 0x1f",
        "6/5 + 1 + 0 ; $",
        &[
            (
                "number-format",
                "1.2.3",
                "a number has one decimal point, as in `2.5`; a range is `1..5`",
            ),
            ("number-format", "1_000", "digits are not grouped: leave the `_` out"),
            ("number-format", "0x1f", "numbers are decimal, as in `31` or `1e-3`"),
        ],
    );
    let range = "floating-point numbers reach from 5e-324 to 1.7e308";
    assert_faults(
        "1e400 1e-400",
        "1 1 ; $",
        &[("constant-too-large", "1e400", range), ("constant-too-large", "1e-400", range)],
    );
}

#[test]
fn names_of_any_script_in_normal_form() {
    assert_lexes("θ_2 Größe x1 переменная 変数", "θ_2 Größe x1 переменная 変数 ; $");
    // A letter and a combining accent are the letter with its accent.
    assert_lexes("e\u{301} \u{e9}", "\u{e9} \u{e9} ; $");
    let (tokens, _) = lexed("a a");
    let [Token { kind: Name(first), .. }, Token { kind: Name(second), .. }, ..] = &tokens[..]
    else {
        panic!("two names")
    };
    assert!(Arc::ptr_eq(first, second));
}

#[test]
fn names_do_not_swallow_the_middle_dot() {
    let hint = "write `*`";
    assert_lexes("a\u{b7}b", "a * b ; $");
    assert_faults("a\u{387}b", "a * b ; $", &[("ascii-operator", "\u{387}", hint)]);
}

#[test]
fn a_line_goes_on_behind_trailing_signs() {
    for sign in ["+", "-", "*", "/", "^", "=", "~", ":", ",", "->", ".."] {
        assert_lexes(&format!("a {sign}\nb"), &format!("a {sign} b ; $"));
        assert_lexes(&format!("a\n{sign} b"), &format!("a {sign} b ; $"));
        assert_lexes(
            &format!("a # {sign}\r\n\r\n  # comment\r\n\t{sign} b"),
            &format!("a {sign} b ; $"),
        );
    }
    for sign in ["'", ".", "<"] {
        assert_lexes(&format!("a {sign}\nb"), &format!("a {sign} ; b ; $"));
    }
}

#[test]
fn a_line_goes_on_inside_brackets_but_not_inside_braces() {
    assert_lexes("f(a\nb\n)\nc", "f ( a b ) ; c ; $");
    assert_lexes("[a\n\n[b]\n# c\nc\n]\nd", "[ a [ b ] c ] ; d ; $");
    assert_lexes("{\na\nb\n}\nc", "{ a ; b ; } ; c ; $");
    assert_lexes("{ a }", "{ a } ; $");
}

#[test]
fn semicolons_and_line_ends_of_all_systems() {
    assert_lexes("a; b;\nc", "a ; b ; c ; $");
    assert_lexes("a\r\nb\rc\n\nd", "a ; b ; c ; d ; $");
    assert_lexes("\u{feff}a\u{a0}+ b\u{c}\u{2003}+ c", "a + b + c ; $");
    assert_lexes("", "$");
    assert_lexes("\n\n# only a comment", "$");
    assert_lexes("(a; b)", "( a (;) b ) ; $");
}

#[test]
fn ranges_end_statements() {
    let text = "a + (b @@ c";
    let mut diagnostics = Vec::new();
    let tokens = lex(SourceId(0), text, &[0..6, 10..11], &mut diagnostics);
    let kinds: Vec<bool> = tokens.iter().map(|token| token.kind == End).collect();
    assert_eq!(kinds, [false, false, false, false, true, false, true, false]);
    assert!(tokens[5].line_start);
    assert_eq!(diagnostics, []);
}

#[test]
fn titles_are_text() {
    assert_lexes("system It's 2x; a (title, # no", "system <It's 2x; a (title,> ; $");
    assert_lexes("system T\n+ a", "system <T> ; + a ; $");
    assert_lexes("system\ncoord x", "system <> ; coord x ; $");
    assert_lexes("a; system T", "a ; system <T> ; $");
    assert_lexes("let system = 2", "let system = 2 ; $");
    assert_lexes("param a,\nsystem", "param a , system ; $");
    assert_lexes("part a = M {\nsystem = 2 }", "part a = M { system = 2 } ; $");
}

#[test]
fn a_statement_begins_whatever_is_open() {
    assert_lexes("let a = (b\ncoord x", "let a = ( b ; coord x ; $");
    assert_lexes("let a = (b +\nlet c = 1", "let a = ( b + ; let c = 1 ; $");
    assert_lexes("let a = b +\nkinetic 1/2", "let a = b + ; kinetic 1 / 2 ; $");
    assert_lexes("let a = f(b\nsystem It's", "let a = f ( b ; system <It's> ; $");
    // Names that are words of statements stay what they are.
    assert_lexes("let a = (b +\nforce)", "let a = ( b + force ) ; $");
    assert_lexes("force b +\nstart at r", "force b + start at r ; $");
    assert_lexes("let a = sum(\npart in 1..2, b)", "let a = sum ( part in 1 .. 2 , b ) ; $");
}

#[test]
fn strings() {
    assert_lexes("\"a # b.dal\" c", "\"a # b.dal\" c ; $");
    let closed = "put a `\"` at its end, on the same line";
    assert_faults("\"a\nb", "\"a\" ; b ; $", &[("unterminated-string", "\"a", closed)]);
    assert_faults("“a”", "\"a\" ; $", &[("ascii-operator", "“", "write `\"`")]);
}

#[test]
fn typographic_operators() {
    let pairs = [
        ("’", "'"),
        ("′", "'"),
        ("–", "-"),
        ("÷", "/"),
        ("≤", "<="),
        ("≥", ">="),
        ("→", "->"),
        ("…", ".."),
        ("≈", "~"),
        ("，", ","),
        ("（", "("),
    ];
    for (written, ascii) in pairs {
        assert_faults(
            &format!("a{written}b"),
            &format!("a {ascii} b ; $"),
            &[("ascii-operator", written, &format!("write `{ascii}`"))],
        );
    }
    assert_faults("x″", "x ' ' ; $", &[("ascii-operator", "″", "write `''`")]);
    assert_faults(
        "a ≠ b",
        "a < b ; $",
        &[("ascii-operator", "≠", "write `a < b or a > b` where two values differ")],
    );
}

/// What documents print is read back.
#[test]
fn printed_operators() {
    assert_lexes("a−b", "a - b ; $");
    assert_lexes("a·b×c", "a * b * c ; $");
    assert_lexes("x²+y⁻¹⁰", "x ^ 2 + y ^ - 10 ; $");
    assert_lexes("½*m₁*ẋ³", "1/2 * m1 * x ' ^ 3 ; $");
    assert_lexes("θ̈₂ + ä", "θ2 ' ' + ä ; $");
    assert_faults("a −> b", "a -> b ; $", &[("ascii-operator", "−", "write `->`")]);
}

#[test]
fn operators_of_other_languages() {
    let cases = [
        ("a**b", "a ^ b", "**"),
        ("a == b", "a = b", "=="),
        ("a := b", "a = b", ":="),
        ("a => b", "a -> b", "=>"),
        ("a != b", "a < b", "!="),
        ("a && b", "a and b", "&&"),
        ("a || b", "a or b", "||"),
        ("a // b", "a", "//"),
        ("a % b", "a", "%"),
        ("a /* b\n */ c", "a c", "/*"),
        ("a \\\nb", "a b", "\\"),
        ("a ...\r\nb", "a b", "..."),
    ];
    for (text, expected, written) in cases {
        let (found, diagnostics) = shown(text);
        assert_eq!(found, format!("{expected} ; $"), "{text:?}");
        assert_eq!(diagnostics.len(), 1, "{text:?}");
        assert_eq!(diagnostics[0].code, Code::ForeignOperator);
        assert_eq!(&text[diagnostics[0].labels[0].span.range()], written);
        assert!(!diagnostics[0].hints.is_empty());
    }
}

#[test]
fn characters_without_meaning() {
    assert_faults(
        "a @@$ b",
        "a ? b ; $",
        &[("unexpected-character", "@@$", "names are made of letters, digits and `_`")],
    );
    assert_faults(
        "a\u{200b}+ b",
        "a + b ; $",
        &[("unexpected-character", "\u{200b}", "delete it")],
    );
    assert_faults("\0", "? ; $", &[("unexpected-character", "\0", "")]);
}

#[test]
fn garbage_is_not_reported_without_end() {
    let (_, diagnostics) = shown(&"@ ".repeat(5000));
    assert_eq!(diagnostics.len(), MAX_FAULTS);
}

proptest! {
    #[test]
    fn any_text_becomes_tokens_in_order(text in "(?s).{0,200}") {
        let (tokens, diagnostics) = lexed(&text);
        prop_assert_eq!(tokens.iter().filter(|token| token.kind == Eof).count(), 1);
        let mut last = 0;
        for token in &tokens {
            let range = token.span.range();
            prop_assert!(text.get(range.clone()).is_some());
            prop_assert!(range.start >= last);
            last = range.start;
        }
        for label in diagnostics.iter().flat_map(|d| &d.labels) {
            prop_assert!(text.get(label.span.range()).is_some());
        }
    }
}
