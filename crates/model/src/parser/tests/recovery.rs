use super::*;

/// The names that the statements of a text define, in order.
fn defined(file: &File) -> Vec<String> {
    let name = |entry: &Entry| entry.name.text.to_string();
    let family = |family: &Family| family.name.text.to_string();
    file.statements
        .iter()
        .flat_map(|statement| match &statement.kind {
            StatementKind::Let(items) => items.iter().map(|item| name(&item.entry)).collect(),
            StatementKind::Coord(items) => items.iter().map(family).collect(),
            StatementKind::Param(items) | StatementKind::Const(items) => {
                items.iter().map(|(item, _)| family(item)).collect()
            }
            _ => Vec::new(),
        })
        .collect()
}

#[track_caller]
fn assert_recovers(text: &str, names: &[&str], faults: &[(Code, &str)]) {
    let (file, diagnostics) = parsed(text);
    assert_eq!(found(text, &diagnostics), faults, "{text:?}");
    assert_eq!(defined(&file), names, "{text:?}");
}

#[test]
fn every_fault_of_a_file_is_reported_once() {
    let text = "param m = 2x, k = , c = (1 + 2
coord x, y
lett a = 1
kinetic m*x'^2'
let b = x @ y, d = 1 y = 3
constraint x > 0
let e = f(x
  + 3
potential k*x**2
";
    let (file, mut diagnostics) = parsed(text);
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels[0].span);
    assert_eq!(
        found(text, &diagnostics),
        [
            (Code::ImplicitMultiplication, "2x"),
            (Code::Syntax, ","),
            (Code::UnclosedBracket, "("),
            (Code::UnknownStatement, "lett"),
            (Code::PrimeAfterPower, "'"),
            (Code::UnexpectedCharacter, "@"),
            (Code::Syntax, "y"),
            (Code::Inequality, ">"),
            (Code::UnclosedBracket, "("),
            (Code::ForeignOperator, "**"),
        ]
    );
    assert_eq!(defined(&file), ["m", "k", "c", "x", "y", "a", "b", "d", "y", "e"]);
    assert_eq!(file.statements.len(), 8);
}

#[test]
fn an_open_bracket_ends_with_its_statement() {
    let code = Code::UnclosedBracket;
    assert_recovers("let a = f(1,\nlet b = 2", &["a", "b"], &[(code, "(")]);
    assert_recovers("let a = (1 + 2\ncoord x\n", &["a", "x"], &[(code, "(")]);
    assert_recovers("let a = [1, 2\nkinetic 1/2*m\ncoord x", &["a", "x"], &[(code, "[")]);
    assert_recovers("let a = (1, b = 2\ncoord x", &["a", "b", "x"], &[(code, "(")]);
    assert_recovers("let a = (1; coord x", &["a", "x"], &[(code, "(")]);
    assert_recovers("for i in 1..(2 { let a = 1 }\ncoord x", &["x"], &[(code, "(")]);
}

#[test]
fn a_fault_inside_brackets_stays_inside() {
    assert_recovers("let a = f(1 = 2, x)*3, b = 4", &["a", "b"], &[(Code::Syntax, "=")]);
    assert_recovers("let a = [1, *, 3], b = 4", &["a", "b"], &[(Code::Syntax, "*")]);
    assert_recovers("let a = (1 .. 3), b = 4", &["a", "b"], &[(Code::Syntax, "..")]);
}

#[test]
fn a_list_loses_one_item_only() {
    assert_recovers("param a = 1, 2b = 3, c = 4", &["a", "c"], &[(Code::Syntax, "2")]);
    assert_recovers("coord x, y' = 1, z", &["x", "y", "z"], &[(Code::Syntax, "'")]);
    assert_recovers("let a 2, b = 3", &["a", "b"], &[(Code::Syntax, "2")]);
}

#[test]
fn what_an_unknown_statement_defines_is_known() {
    let code = Code::UnknownStatement;
    assert_recovers("parameter m = 1, k = 2", &["m", "k"], &[(code, "parameter")]);
    assert_recovers("x = 3", &["x"], &[(code, "x")]);
    assert_recovers("f(a) = 3*a", &["f"], &[(code, "f")]);
    assert_recovers("var x y", &["x", "y"], &[(code, "var")]);
}

#[test]
fn statements_that_must_not_stand_in_a_loop_are_moved_out_of_it() {
    let text = "for i in 1..2 { for j in 1..2 { const N = 3 } }\ncoord x";
    assert_recovers(text, &["N", "x"], &[(Code::StatementPlace, "const")]);
    let (file, _) = parsed(text);
    assert_eq!(file.statements.len(), 3);
}

#[test]
fn a_stray_brace_ends_a_statement_only() {
    let code = Code::UnmatchedBracket;
    assert_recovers("let a = 1 }\ncoord x", &["a", "x"], &[(code, "}")]);
    assert_recovers("}\n}\ncoord x", &["x"], &[(code, "}"), (code, "}")]);
}

#[test]
fn an_unclosed_loop_is_the_only_fault() {
    let text = "for i in 1..2 {\nlet a[i] = 1\nrun t = 0..1\nconst N = 2";
    assert_recovers(text, &[], &[(Code::UnclosedBracket, "{")]);
}
