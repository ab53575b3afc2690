use super::*;
use proptest::prelude::*;

/// Checks what holds for every text: spans lie inside it, on characters.
fn check(text: &str, markdown: bool) -> Result<(), TestCaseError> {
    let mut diagnostics = Vec::new();
    let file = parse(SourceId(0), text, markdown, &mut diagnostics);
    let inside = |span: Span| text.get(span.range()).is_some();
    for label in diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels) {
        prop_assert!(inside(label.span), "{:?} in {:?}", label.span, text);
    }
    let mut statements: Vec<&Statement> = file.statements.iter().collect();
    while let Some(statement) = statements.pop() {
        prop_assert!(inside(statement.span) && inside(statement.keyword));
        if let StatementKind::For { body, .. } | StatementKind::Model { body, .. } = &statement.kind
        {
            statements.extend(body.iter());
        }
    }
    for check in &file.checks {
        prop_assert!(inside(check.span));
    }
    parse_expression(SourceId(0), text, &mut diagnostics);
    parse_assignments(SourceId(0), text, &mut diagnostics);
    let mut sources = crate::span::Sources::new();
    sources.add("test", text);
    crate::render::render(&diagnostics, &sources, false);
    Ok(())
}

/// Texts made of pieces that mean something.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        ":",
        "=",
        "~",
        "'",
        ".",
        "..",
        "->",
        "+",
        "-",
        "*",
        "/",
        "^",
        "<",
        ">=",
        "\n",
        "\n",
        " ",
        "2",
        "1.5",
        ".5",
        "x",
        "y",
        "if",
        "sum",
        "in",
        "and",
        "at",
        "along",
        "rising",
        "stop",
        "t",
        "every",
        "mass",
        "system",
        "param",
        "coord",
        "let",
        "kinetic",
        "force",
        "constraint",
        "start",
        "run",
        "observe",
        "event",
        "draw",
        "line",
        "for",
        "model",
        "part",
        "body",
        "within",
        "agree",
        "\"",
        "#",
        "@",
        "²",
        "−",
        "θ",
        "==",
        "//",
        "```",
        "```dal\n",
        "```check\n",
        "analyze",
        "conserve",
        "\r\n",
        "x = 1",
        "i in 1..2",
        "f(x)",
    ]);
    let spaced = (piece, prop::bool::ANY)
        .prop_map(|(piece, space)| format!("{piece}{}", if space { " " } else { "" }));
    prop::collection::vec(spaced, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_parsed(text in "(?s).{0,200}") {
        check(&text, false)?;
        check(&text, true)?;
    }

    #[test]
    fn any_pieces_are_parsed(text in pieces()) {
        check(&text, false)?;
        check(&text, true)?;
        check(&format!("```dal\n{text}\n```\n```check\n{text}"), true)?;
    }

    #[test]
    fn any_bytes_are_parsed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes), false)?;
    }
}
