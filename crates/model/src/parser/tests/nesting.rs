use super::*;

/// The codes of the faults, without their places.
fn codes(text: &str) -> Vec<Code> {
    parsed(text).1.into_iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn the_limit_is_exact() {
    let nested = |n: usize| format!("let a = {}x{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(codes(&nested(MAX_DEPTH)), []);
    assert_eq!(codes(&nested(MAX_DEPTH + 1)), [Code::TooDeep]);
    let powers = |n: usize| format!("let a = x{}", "^x".repeat(n));
    assert_eq!(codes(&powers(MAX_DEPTH)), []);
    assert_eq!(codes(&powers(MAX_DEPTH + 1)), [Code::TooDeep]);
    let blocks = |n: usize| format!("{}let a = 1{}", "for i in 1..2 {".repeat(n), "}".repeat(n));
    assert_eq!(codes(&blocks(MAX_DEPTH)), []);
    assert_eq!(codes(&blocks(MAX_DEPTH + 1)), [Code::TooDeep]);
}

#[test]
fn a_million_of_anything() {
    let n = 1_000_000;
    let many = |text: &str| format!("let a = {}", text.repeat(n));
    assert_eq!(codes(&many("(")), [Code::UnclosedBracket, Code::TooDeep]);
    assert_eq!(codes(&many("f(")), [Code::UnclosedBracket, Code::TooDeep]);
    assert_eq!(codes(&many("[")), [Code::UnclosedBracket, Code::TooDeep]);
    assert_eq!(codes(&many("(-")), [Code::UnclosedBracket, Code::TooDeep]);
    assert_eq!(codes(&format!("{}x", many("-"))), [Code::TooDeep]);
    assert_eq!(codes(&format!("{}x", many("x^"))), [Code::TooDeep]);
    assert_eq!(codes(&format!("let a = x{}", "'".repeat(n))), []);
    assert_eq!(codes(&format!("let a = x{}", " + x".repeat(n))), []);
    assert_eq!(codes(&many("x ")), [Code::ImplicitMultiplication]);
    assert_eq!(codes(&format!("let a = x{}", " = x".repeat(n))), [Code::ChainedEquals]);
    assert_eq!(codes(&format!("let a = i{}", " in 1..2".repeat(n / 10))), [Code::BinderPlace]);
}

#[test]
fn many_faults_take_linear_time() {
    // Each of these was once a chance for looking ahead too far.
    let n = 100_000;
    let texts = [
        format!("let a = {}{}", "(".repeat(MAX_DEPTH), "([) + ".repeat(n)),
        "/*\n".repeat(n),
        format!("constraint a{}", ":".repeat(n)),
        format!("start {}", "x' ".repeat(n)),
        format!("part a = M {{{}}}", "\n m = 2".repeat(n)),
        format!("let a = [{}]", ";".repeat(n)),
        "let a = 1 ".repeat(n),
        ")(".repeat(n),
        "{".repeat(n),
        "foo bar\n".repeat(n),
    ];
    for text in texts {
        let (_, diagnostics) = parsed(&text);
        assert!(!diagnostics.is_empty() && diagnostics.len() <= 2 * MAX_FAULTS);
    }
}
