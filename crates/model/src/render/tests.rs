use super::*;
use crate::codes::Code;
use crate::span::{SourceId, Span};
use proptest::prelude::*;

const TEXT: &str = "coord x\nkinetic m/2*x'^2\npotential 2x + y\n";

fn span(start: usize, end: usize) -> Span {
    Span::new(SourceId(0), start, end)
}

fn sources(text: &str) -> Sources {
    let mut sources = Sources::new();
    sources.add("a.dal", text);
    sources
}

#[test]
fn a_fault_with_all_its_parts() {
    let fault = Diagnostic::fault(Code::ImplicitMultiplication, span(35, 37), "no operator")
        .at("here")
        .with(span(6, 7), "defined here")
        .hint("write `2*x`")
        .hint("or not");
    let expected = "\
error[implicit-multiplication]: no operator
 --> a.dal:3:11
  |
1 | coord x
  |       - defined here
2 | kinetic m/2*x'^2
3 | potential 2x + y
  |           ^^ here
  |
  = hint: write `2*x`
  = hint: or not
";
    assert_eq!(render(&[fault], &sources(TEXT), false), expected);
}

#[test]
fn severities_order_and_blank_lines() {
    let diagnostics = [
        Diagnostic::note(Code::ConstraintTrivial, span(25, 34), "a note"),
        Diagnostic::warning(Code::UnusedParameter, span(0, 5), "a warning"),
    ];
    let expected = "\
warning[unused-parameter]: a warning
 --> a.dal:1:1
  |
1 | coord x
  | ^^^^^

note[constraint-trivial]: a note
 --> a.dal:3:1
  |
3 | potential 2x + y
  | ^^^^^^^^^
";
    assert_eq!(render(&diagnostics, &sources(TEXT), false), expected);
    assert_eq!(render(&[], &sources(TEXT), false), "");
    assert!(render(&diagnostics, &sources(TEXT), true).contains("\u{1b}["));
}

#[test]
fn a_place_in_another_file() {
    let mut sources = sources(TEXT);
    let other = sources.add("part.dal", "param m");
    let fault = Diagnostic::fault(Code::DefinedTwice, span(16, 17), "twice")
        .with(Span::new(other, 6, 7), "first here");
    let shown = render(&[fault], &sources, false);
    assert!(shown.contains("--> a.dal:2:9") && shown.contains("::: part.dal:1:7"), "{shown}");
}

#[test]
fn the_end_of_the_text_can_be_pointed_at() {
    for text in ["", "x", "x\n", "x\r\n", "ü"] {
        let end = text.len();
        let fault = Diagnostic::fault(Code::Syntax, span(end, end), "expected more");
        let shown = render(&[fault], &sources(text), false);
        assert!(shown.contains("^"), "{shown}");
    }
}

#[test]
fn spans_need_not_be_right() {
    let sources = sources("aüb\ncd");
    for (start, end) in [(2, 2), (2, 3), (0, 2), (5, 3), (3, 99), (99, 99), (99, 3), (0, 99)] {
        let fault = Diagnostic::fault(Code::Syntax, span(start, end), "m").with(span(1, 7), "l");
        assert!(render(&[fault], &sources, false).contains("a.dal"));
    }
    let nowhere = Span::new(SourceId(7), 0, 1);
    let fault = Diagnostic::fault(Code::Syntax, nowhere, "nowhere");
    assert_eq!(render(&[fault], &sources, false), "error[syntax]: nowhere\n");
}

#[test]
fn very_many_are_counted() {
    let faults: Vec<Diagnostic> =
        (0..70).map(|_| Diagnostic::warning(Code::Syntax, span(8, 9), "often")).collect();
    let mut faults = faults;
    faults.push(Diagnostic::fault(Code::NoEnergy, span(9, 9), "severe"));
    let shown = render(&faults, &sources(TEXT), false);
    assert!(shown.ends_with("\n\nand 21 more\n"), "{shown}");
    assert!(shown.contains("severe"));
}

#[test]
fn long_lines_are_cut() {
    for (n, place) in [(1000, 500), (1000, 1999), (100_000, 100_000)] {
        let text = "x ".repeat(n) + "\n";
        let fault = Diagnostic::fault(Code::Syntax, span(place, 2 * n), "m")
            .with(span(0, 1), "far away")
            .hint("a hint");
        let shown = render(&[fault], &sources(&text), false);
        assert!(shown.contains(&format!("a.dal:1:{}", place + 1)), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 110), "{shown}");
        assert!(shown.lines().count() < 20);
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let fault = Diagnostic::fault(Code::Syntax, span(0, 3), "a\u{1b}[31m").hint("b\u{1b}[31m");
    assert!(!render(&[fault], &sources("\u{1b}[31m"), false).contains('\u{1b}'));
}

proptest! {
    #[test]
    fn no_span_is_too_wild(
        text in "(?s).{0,80}",
        spans in prop::collection::vec((0u32..120, 0u32..120), 1..5),
    ) {
        let spans: Vec<Span> =
            spans.iter().map(|&(start, end)| Span { source: SourceId(0), start, end }).collect();
        let mut fault = Diagnostic::fault(Code::Syntax, spans[0], "message").at("label");
        for &span in &spans[1..] {
            fault = fault.with(span, "more");
        }
        let shown = render(&[fault], &sources(&text), true);
        prop_assert!(shown.contains("message"));
    }
}
