use super::*;

#[track_caller]
fn assert_expr(text: &str, expected: &str) {
    let mut diagnostics = Vec::new();
    let expr = parse_expression(SourceId(0), text, &mut diagnostics);
    assert_eq!(diagnostics, [], "{text:?}");
    assert_eq!(show(&expr), expected, "{text:?}");
}

#[test]
fn the_table_of_the_language() {
    assert_expr("th[i]'", "th[i]'");
    assert_expr("th'[i]", "th'[i]");
    assert_expr("f(x)'", "f(x)'");
    assert_expr("(R*a)'[2]", "(R * a)'[2]");
    assert_expr("a.x'^2", "(a.x'^2)");
    assert_expr("2^3^2", "(2^(3^2))");
    assert_expr("x^-2", "(x^(-2))");
    assert_expr("-x^2", "(-(x^2))");
    assert_expr("m/2*v^2", "(m / 2 * (v^2))");
    assert_expr("a - b + c", "(a - b + c)");
    assert_expr("a - (b + c)", "(a - (b + c))");
    assert_expr("a + b*c - d/e", "(a + (b * c) - (d / e))");
}

#[test]
fn signs() {
    assert_expr("-a*b", "((-a) * b)");
    assert_expr("-a + b", "((-a) + b)");
    assert_expr("a - -b", "(a - (-b))");
    assert_expr("a*-b", "(a * (-b))");
    assert_expr("+a", "a");
    assert_expr("--a", "a");
    assert_expr("2^-3^2", "(2^(-(3^2)))");
    assert_expr("x^+2", "(x^2)");
}

#[test]
fn postfix_operations_in_any_order() {
    assert_expr("a.b.c[1, 2]''[3].f(x, y)'.d", "a.b.c[1, 2]''[3].f(x, y)'.d");
    assert_expr("(x')'", "(x')'");
    assert_expr("[a, b]'[1]", "[a, b]'[1]");
    assert_expr("x [1]", "x[1]");
}

#[test]
fn names_that_are_words_elsewhere() {
    assert_expr("start + force*at - in/stop", "(start + (force * at) - (in / stop))");
    assert_expr("kinetic + potential", "(kinetic + potential)");
    assert_expr("system", "system");
}

#[test]
fn calls_and_binders() {
    assert_expr("f()", "f()");
    assert_expr("sum(i in 1..N, x[i])", "sum(i in 1..N, x[i])");
    assert_expr("product(in in 1..2*n, in)", "product(in in 1..(2 * n), in)");
    assert_expr("multiplier(rod[i])[2]", "multiplier(rod[i])[2]");
    assert_expr("wheel.point([1, 2])[1]", "wheel.point([1, 2])[1]");
    // White space has no meaning: functions may be called across it.
    assert_expr("sin (x) + a.f (y)", "(sin(x) + a.f(y))");
}

#[test]
fn conditions() {
    assert_expr(
        "if(t > 1 and t < 2 or x >= 3, F, 0)",
        "if((((t > 1) and (t < 2)) or (x >= 3)), F, 0)",
    );
    assert_expr(
        "if((a < b or c < d) and e < f, 1, 2)",
        "if((((a < b) or (c < d)) and (e < f)), 1, 2)",
    );
    assert_expr("if(if(a < b, 1, 2) < 2, 1, 2)", "if((if((a < b), 1, 2) < 2), 1, 2)");
    assert_expr("if(a + 1 < 2*b, 1, 2)", "if(((a + 1) < (2 * b)), 1, 2)");
}

#[test]
fn spans_cover_what_they_name() {
    let text = "a + (b*c)' - f(x)";
    let expr = parse_expression(SourceId(0), text, &mut Vec::new());
    assert_eq!(&text[expr.span.range()], text);
    let ExprKind::Sum(terms) = expr.kind else { panic!("a sum") };
    let texts: Vec<&str> = terms.iter().map(|(_, term)| &text[term.span.range()]).collect();
    assert_eq!(texts, ["a", "(b*c)'", "f(x)"]);
}

#[test]
fn line_ends_inside_one_expression_are_white_space() {
    assert_expr("a\n+ b\n*\nc", "(a + (b * c))");
    assert_expr("\n (a\n) ", "a");
}

#[test]
fn assignments_of_options() {
    let shown = |text: &str| {
        let mut diagnostics = Vec::new();
        let pairs = parse_assignments(SourceId(0), text, &mut diagnostics);
        assert_eq!(diagnostics, [], "{text:?}");
        let pairs: Vec<String> =
            pairs.iter().map(|(left, right)| format!("{}: {}", show(left), show(right))).collect();
        pairs.join(", ")
    };
    assert_eq!(shown("m=2, a.m=3, th[2]'=0"), "m: 2, a.m: 3, th[2]': 0");
    assert_eq!(shown("x=1,x'=0.2,t=0"), "x: 1, x': 1/5, t: 0");
    assert_eq!(shown("x = -2*pi/3"), "x: ((-2) * pi / 3)");
}

#[test]
fn assignments_that_are_none() {
    for text in ["", "m", "m=", "m=2,", "=2", "m==2", "m=2=3", "m=2 n=3", "m~2", "m=2)", "m=(2"] {
        let mut diagnostics = Vec::new();
        parse_assignments(SourceId(0), text, &mut diagnostics);
        assert_eq!(diagnostics.len(), 1, "{text:?}: {diagnostics:#?}");
        assert!(text.get(diagnostics[0].labels[0].span.range()).is_some());
    }
}

#[test]
fn expressions_that_are_none() {
    for text in ["", "a b", "a = b", "a,", "(a", "a)", "a; b", "a < b", "*", "a +", "1..2"] {
        let mut diagnostics = Vec::new();
        parse_expression(SourceId(0), text, &mut diagnostics);
        assert_eq!(diagnostics.len(), 1, "{text:?}: {diagnostics:#?}");
    }
}
