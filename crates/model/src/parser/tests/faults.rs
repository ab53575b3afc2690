use super::*;

/// Asserts that a text has exactly one fault: its code, the text it points at,
/// and a piece of its hints.
#[track_caller]
fn assert_fault(text: &str, code: Code, place: &str, hint: &str) {
    let (_, diagnostics) = parsed(text);
    assert_eq!(found(text, &diagnostics), [(code, place)], "{text:?}");
    let hints = diagnostics[0].hints.join("; ");
    assert!(hints.contains(hint), "{text:?}: {hints}");
}

#[test]
fn implicit_multiplication() {
    let code = Code::ImplicitMultiplication;
    assert_fault("kinetic 2x", code, "2x", "`2*x`");
    assert_fault("kinetic m g", code, "m g", "`m*g`");
    assert_fault("kinetic a + m g h^2 + b", code, "m g h^2", "`m*g*h^2`");
    assert_fault("kinetic m (x+1)", code, "m (x+1)", "`m*(x+1)`");
    assert_fault("kinetic m (x+1)", code, "m (x+1)", "`let m(a) = …`");
    assert_fault("kinetic 2(x+1)", code, "2(x+1)", "`2*(x+1)`");
    assert_fault("kinetic (a)(b)", code, "(a)(b)", "`(a)*(b)`");
    assert_fault("kinetic x'(t)", code, "x'(t)", "leave the `(t)` out");
    assert_fault("kinetic x[1](t)", code, "x[1](t)", "leave the `(t)` out");
    assert_fault("kinetic x'(a)", code, "x'(a)", "`x'*(a)`");
    assert_fault("kinetic 3 kg", code, "kg", "one system of units");
    assert_fault("kinetic 9.81 m/s^2*y", code, "m/s^2", "one system of units");
    assert_fault("param m = 1\nkinetic 2 m", code, "2 m", "`2*m`");
    assert_fault("param m = 1, k = 2 m", code, "m", "`2*m`");
    assert_fault("kinetic f(2 x)", code, "2 x", "`2*x`");
    assert_fault("kinetic 2 [1, 0]", code, "2 [1, 0]", "`2*[1, 0]`");
}

#[test]
fn primes() {
    assert_fault("kinetic x^2'", Code::PrimeAfterPower, "'", "`(x^2)'`");
    assert_fault("kinetic x^-2''", Code::PrimeAfterPower, "''", "`(x^-2)''`");
    assert_fault("kinetic x^2'", Code::PrimeAfterPower, "'", "`x'^2`");
    assert_fault("kinetic 2'", Code::PrimeAfterNumber, "'", "is 0");
    assert_fault("let x' = 3", Code::Syntax, "'", "`start x' = …`");
    assert_fault("coord x'", Code::Syntax, "'", "leave the prime out");
    assert_fault("kinetic 'x", Code::Syntax, "'", "");
}

#[test]
fn equations() {
    assert_fault("constraint a = b = c", Code::ChainedEquals, "=", "two equations");
    assert_fault("let a = b = c, d = 2", Code::ChainedEquals, "=", "two equations");
    assert_fault("start a = b = c", Code::ChainedEquals, "=", "");
    assert_fault("constraint a == b", Code::ForeignOperator, "==", "one `=`");
    assert_fault("constraint x > 0", Code::Inequality, ">", "`event`");
    assert_fault("constraint c: x <= 0", Code::Inequality, "<=", "`event`");
    assert_fault("event e: y < 0", Code::Inequality, "<", "falling");
    assert_fault("event e: y > 0", Code::Inequality, ">", "rising");
    assert_fault("constraint 0 < x < 3", Code::Inequality, "<", "`event`");
    assert_fault("start x(0) = 1", Code::Syntax, "(0)", "`start x = …`");
    assert_fault("let f(a) = a\nstart f(0) = 1, x'(0) = 1", Code::Syntax, "(0)", "`start x' = …`");
    assert_fault("constraint x^2 - 1", Code::Syntax, "", "`x^2 - 1 = 0`");
    assert_fault("constraint x ~ 1", Code::Syntax, "~", "`start` only");
    assert_fault("start x", Code::Syntax, "", "`x ~ 1`");
    assert_fault("start x 1", Code::ImplicitMultiplication, "x 1", "");
    assert_fault("kinetic T = 2*m", Code::Syntax, "=", "`let T = …` and `kinetic T`");
    assert_fault("gravity = 2", Code::Syntax, "=", "without the `=`");
    assert_fault("force x = 3", Code::Syntax, "=", "`force x: F`");
    assert_fault("coord x = 1", Code::Syntax, "=", "`start x = …`");
}

#[test]
fn comparisons_and_binders() {
    assert_fault("kinetic a < b", Code::ComparisonPlace, "<", "`if(a < b, c, d)`");
    assert_fault("kinetic (a < b)", Code::ComparisonPlace, "<", "`if(a < b, c, d)`");
    assert_fault("kinetic max(a < b, 2)", Code::ComparisonPlace, "<", "");
    assert_fault("kinetic if(a < b, c < d, 2)", Code::ComparisonPlace, "<", "");
    assert_fault("kinetic a and b", Code::ComparisonPlace, "and", "");
    assert_fault("kinetic if(a < b < c, 1, 2)", Code::Syntax, "<", "`a < b and b < c`");
    assert_fault("kinetic if(a = b, 1, 2)", Code::Syntax, "=", "`<`");
    assert_fault("kinetic if(a == b, 1, 2)", Code::ForeignOperator, "==", "`<`");
    assert_fault("kinetic f(i in 1..2, x)", Code::BinderPlace, "in", "`sum(i in 1..N, …)`");
    assert_fault("kinetic i in 1..2", Code::BinderPlace, "in", "`for i in 1..N { … }`");
    assert_fault("kinetic sin x", Code::FunctionValue, "sin x", "`sin(x)`");
    assert_fault("kinetic sin 2*x", Code::FunctionValue, "sin 2", "`sin(…)`");
    assert_fault("let f(a) = a; kinetic f x", Code::FunctionValue, "f x", "`f(x)`");
    assert_fault("kinetic [x[i], i in 1..2]", Code::BinderPlace, "in", "");
    assert_fault("kinetic sum(i in N, x)", Code::Syntax, ",", "`1..N`");
    assert_fault("kinetic x[1..2]", Code::Syntax, "..", "leave the index out");
}

#[test]
fn missing_things() {
    assert_fault("kinetic a*", Code::Syntax, "", "");
    assert_fault("kinetic a*\ncoord x", Code::Syntax, "", "");
    assert_fault("kinetic", Code::Syntax, "", "");
    assert_fault("kinetic\n m*x'^2", Code::Syntax, "", "a line goes on");
    assert_fault("kinetic (a + )", Code::Syntax, ")", "");
    assert_fault("kinetic []", Code::Syntax, "[]", "");
    assert_fault("kinetic [a,]", Code::Syntax, "]", "");
    assert_fault("kinetic ()", Code::Syntax, ")", "");
    assert_fault("kinetic (a, b)", Code::Syntax, ",", "`[a, b]`");
    assert_fault("kinetic * a", Code::Syntax, "*", "");
    assert_fault("kinetic a +* / b", Code::Syntax, "*", "");
    assert_fault("kinetic a.", Code::Syntax, "", "");
    assert_fault("param m = 1,", Code::Syntax, "", "");
    assert_fault("param m = 1, , k", Code::Syntax, ",", "");
    assert_fault("param 2m = 1", Code::Syntax, "2", "begins with a letter");
    assert_fault("param m = 1 k = 2", Code::Syntax, "k", "`,`");
    assert_fault("coord x y z", Code::Syntax, "y", "`,`");
    assert_fault("let a", Code::Syntax, "", "`a = …`");
    assert_fault("let f(2) = 3", Code::Syntax, "2", "");
    assert_fault("let f() = 3", Code::Syntax, "()", "`f = …`");
    assert_fault("let r[1..3] = 3", Code::Syntax, "..", "`for i in 1..N { let r[i] = … }`");
    assert_fault("const N 3", Code::Syntax, "3", "`N = …`");
    assert_fault("force F", Code::Syntax, "", "`force F at r`");
    assert_fault("force at r", Code::Syntax, "at", "`force F at r`");
    assert_fault("force x: F at r", Code::Syntax, "at", "`force F at r`");
    assert_fault("force F at r at s", Code::Syntax, "at", "");
    assert_fault("potential: m", Code::Syntax, ":", "leave it out");
    assert_fault("let a = 1 let b = 2", Code::Syntax, "let", "`;`");
    assert_fault("let a = [1, 2; 3, 4]", Code::Syntax, ";", "`[[1, 2], [3, 4]]`");
}

#[test]
fn labels() {
    assert_fault("constraint rod x = 1", Code::Syntax, "x", "`rod: …`");
    assert_fault("constraint rod[i] 2*x = 1", Code::Syntax, "2", "`rod: …`");
    assert_fault("constraint a + b: x = 1", Code::Syntax, "a", "`rod[i]:`");
    assert_fault("event y = 0", Code::Syntax, "y", "`event hit: y = 0 falling`");
    assert_fault("event hit y = 0", Code::Syntax, "y", "`hit: …`");
    assert_fault("particle bob mass m, at r", Code::Syntax, "mass", "`bob: mass m, at [x, y]`");
    assert_fault("particle mass m, at r", Code::Syntax, "mass", "`bob: mass m, at [x, y]`");
}

#[test]
fn unknown_statements() {
    let code = Code::UnknownStatement;
    assert_fault("params m = 1", code, "params", "`param`");
    assert_fault("Coord x", code, "Coord", "`coord`");
    assert_fault("cooord x", code, "cooord", "`coord`");
    assert_fault("constrain x = 1", code, "constrain", "`constraint`");
    assert_fault("initial x = 1", code, "initial", "`start`");
    assert_fault("x = 3", code, "x", "`let x = …`");
    assert_fault("x = 3", code, "x", "`param x = …`");
    assert_fault("x' = 3", code, "x", "`start x' = …`");
    assert_fault("x'' = -x", code, "x", "derived");
    assert_fault("x(0) = 1", code, "x", "`start x = …`");
    assert_fault("coord x; x = 3", code, "x", "`start x = …`");
    assert_fault("der(x) = v", code, "der", "a prime");
    assert_fault("T = m/2*x'^2", code, "T", "`kinetic …`");
    assert_fault("L = 2", code, "L", "`param L = …`");
    assert_fault("end", code, "end", "`}`");
    assert_fault("rod: x = 3", code, "rod", "`constraint rod: …`");
    assert_fault("units SI", code, "units", "no units");
    assert_fault("while a { coord x }", code, "while", "");
    assert_fault("3 + 4", code, "3", "");
}

#[test]
fn options_fields_and_figures() {
    assert_fault("run evry 2", Code::RunOption, "evry", "`every`");
    assert_fault("run speed 2", Code::RunOption, "speed", "`elimination`");
    assert_fault("run every 1, every 2", Code::RunOption, "every", "");
    assert_fault("run 10", Code::Syntax, "10", "`run t = 0..10`");
    assert_fault("run t = 10", Code::Syntax, "", "`t = 0..10`");
    assert_fault("run t = 0..10 every 1", Code::Syntax, "every", "`,`");
    assert_fault("run method", Code::Syntax, "", "");
    assert_fault("run every = 2", Code::Syntax, "=", "`every …`");
    assert_fault("draw lin A, B", Code::DrawShape, "lin", "`line`");
    assert_fault("draw A, B", Code::DrawShape, "A", "`draw line A, B`");
    assert_fault("particle b: mas m, at r", Code::BodyField, "mas", "`mass`");
    assert_fault("particle b: mass m at r", Code::Syntax, "at", "`,`");
    assert_fault("particle b: mass = m, at r", Code::Syntax, "=", "`mass …`");
}

#[test]
fn blocks() {
    assert_fault("for i = 1..2 { let a[i] = 1 }", Code::Syntax, "=", "`for i in 1..N { … }`");
    assert_fault("for i in 1..2\n{ let a[i] = 1 }", Code::Syntax, "", "on this line");
    assert_fault("for i in 3 { let a[i] = 1 }", Code::Syntax, "{", "`1..N`");
    assert_fault("for i in 1..2 { }", Code::EmptyBlock, "{ }", "");
    assert_fault("model M {\n}", Code::EmptyBlock, "{\n}", "");
    assert_fault("coord x }\ncoord y", Code::UnmatchedBracket, "}", "`{`");
    assert_fault("model M {\ncoord x", Code::UnclosedBracket, "{", "`}`");
    assert_fault("part a = M { }", Code::Syntax, "}", "leave the braces out");
    assert_fault("part a = M { m = 2; k = 3 }", Code::Syntax, ";", "`,`");
    assert_fault("part a = M { m = 2\n k = 3 }", Code::Syntax, "k", "`,`");
    assert_fault("part a = 'M.dal'", Code::Syntax, "'", "`part a = \"file.dal\"`");
    for word in ["system T\n", "run t = 0..1", "const N = 2", "model M { coord x }"] {
        let text = format!("for i in 1..2 {{ {word} }}");
        let keyword = word.split(' ').next().unwrap_or("");
        assert_fault(&text, Code::StatementPlace, keyword, "outside the loop");
    }
    assert!(!statements("model M { system T\n }").is_empty());
}

#[test]
fn an_empty_block_is_only_a_warning() {
    let (_, diagnostics) = parsed("for i in 1..2 { }");
    assert_eq!(diagnostics[0].severity, crate::diagnostic::Severity::Warning);
}

#[test]
fn brackets() {
    assert_fault("kinetic (a + b", Code::UnclosedBracket, "(", "`)`");
    assert_fault("kinetic f(a, [b, c)", Code::UnclosedBracket, "[", "`]`");
    assert_fault("kinetic a + b)", Code::UnmatchedBracket, ")", "`(`");
    assert_fault("kinetic (a + b]", Code::UnmatchedBracket, "]", "`)`");
    assert_fault("kinetic ((a + (b", Code::UnclosedBracket, "(", "`)`");
}
