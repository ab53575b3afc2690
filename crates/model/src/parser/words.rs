//! Words: which ones there are, and which one was meant.

use crate::lexer::{STATEMENT_WORDS, Token, TokenKind};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The functions of the language.
pub(super) const FUNCTIONS: [&str; 33] = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sign",
    "min",
    "max",
    "mod",
    "if",
    "sum",
    "product",
    "dot",
    "cross",
    "norm",
    "transpose",
    "Rx",
    "Ry",
    "Rz",
    "Rq",
    "axial",
    "multiplier",
    "reaction",
    "residual",
];

/// The functions that the text itself defines: `let f(a, b) = …`.
pub(super) fn defined_functions(tokens: &[Token], partner: &[u32]) -> FxHashSet<Rc<str>> {
    let mut functions = FxHashSet::default();
    for (at, window) in tokens.windows(3).enumerate() {
        let [before, name, open] = window else { continue };
        let TokenKind::Name(text) = &name.kind else { continue };
        let begins = before.kind == TokenKind::Comma || before.kind.is_name("let");
        let behind = partner[at + 2] as usize + 1;
        if begins
            && open.kind == TokenKind::OpenParen
            && tokens.get(behind).is_some_and(|token| token.kind == TokenKind::Equals)
        {
            functions.insert(text.clone());
        }
    }
    functions
}

/// The names that statements such as `param` and `coord` declare.
pub(super) fn declared_names(tokens: &[Token]) -> FxHashSet<Rc<str>> {
    use TokenKind::*;
    let mut names = FxHashSet::default();
    // Whether a statement begins here, whether it declares, whether the next
    // token is the name of an item, and how many brackets are open.
    let (mut begins, mut declares, mut is_item, mut depth) = (true, false, false, 0usize);
    for token in tokens {
        match &token.kind {
            kind if kind.ends_statement() => (begins, declares, depth) = (true, false, 0),
            kind if begins => {
                let word = kind.name();
                declares = matches!(word, Some("param" | "const" | "coord" | "let" | "speed"));
                (begins, is_item) = (false, true);
            }
            Name(name) if declares && is_item && depth == 0 => {
                names.insert(name.clone());
                is_item = false;
            }
            OpenParen | OpenBracket => depth += 1,
            CloseParen | CloseBracket => depth = depth.saturating_sub(1),
            kind => is_item = *kind == Comma && depth == 0,
        }
    }
    names
}

/// Whether a name behind a number is probably a unit.
pub(super) fn is_unit(name: &str) -> bool {
    const UNITS: &[&str] = &[
        "m", "mm", "cm", "dm", "km", "in", "ft", "kg", "g", "mg", "t", "lb", "s", "ms", "us", "min",
        "h", "Hz", "N", "kN", "mN", "Nm", "lbf", "J", "kJ", "W", "kW", "Pa", "kPa", "MPa", "bar",
        "rad", "deg", "degree", "degrees", "rpm", "K", "A", "V", "Ohm", "meter", "meters", "second",
        "seconds",
    ];
    UNITS.contains(&name)
}

/// Words of other tools and books, and the statement that does the same here.
const SYNONYMS: &[(&str, &str)] = &[
    ("title", "system"),
    ("name", "system"),
    ("parameter", "param"),
    ("parameters", "param"),
    ("params", "param"),
    ("constant", "const"),
    ("constants", "const"),
    ("integer", "const"),
    ("coordinate", "coord"),
    ("coordinates", "coord"),
    ("variable", "coord"),
    ("variables", "coord"),
    ("var", "coord"),
    ("dof", "coord"),
    ("real", "coord"),
    ("syms", "coord"),
    ("symbols", "coord"),
    ("def", "let"),
    ("define", "let"),
    ("function", "let"),
    ("quasivelocity", "speed"),
    ("damping", "dissipation"),
    ("rayleigh", "dissipation"),
    ("torque", "force"),
    ("moment", "force"),
    ("subject", "constraint"),
    ("constrain", "constraint"),
    ("equation", "constraint"),
    ("joint", "constraint"),
    ("init", "start"),
    ("initial", "start"),
    ("simulate", "run"),
    ("integrate", "run"),
    ("output", "observe"),
    ("print", "observe"),
    ("plot", "observe"),
    ("when", "event"),
    ("animate", "draw"),
    ("import", "part"),
    ("include", "part"),
    ("mass", "particle"),
    ("rigid", "body"),
];

/// The statement that an unknown word stands for.
pub(super) fn meant_statement(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == lower).map(|(_, ours)| *ours);
    synonym.or_else(|| nearest(&lower, &STATEMENT_WORDS))
}

/// The candidate that a word is most likely a misspelling of.
pub(super) fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    // Words that are longer than any of ours are no misspelling of one.
    if word.len() > 24 {
        return None;
    }
    let lower = word.to_lowercase();
    candidates
        .iter()
        .map(|&candidate| (strsim::damerau_levenshtein(&lower, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= candidate.len().min(word.len()) / 3)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// `` `a`, `b` or `c` ``
pub(super) fn alternatives(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
