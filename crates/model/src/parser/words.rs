//! Words: which ones there are, and which one was meant.

use crate::lexer::{Token, TokenKind};
use crate::lexicon::STATEMENT_WORDS;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The names that a text declares.
#[derive(Default)]
pub(super) struct Declared {
    /// All of them: `param m = 1`, `coord x[1..N]`, `let f(a) = …`.
    pub names: FxHashSet<Arc<str>>,
    /// The functions among them.
    pub functions: FxHashSet<Arc<str>>,
}

/// Looks for declarations before anything is parsed.
pub(super) fn declared(tokens: &[Token]) -> Declared {
    use TokenKind::*;
    let mut declared = Declared::default();
    // The word of the statement if it declares, whether one begins here, whether
    // the next token is the name of an item, and how many brackets are open.
    let (mut word, mut begins, mut is_item, mut depth) = (None, true, false, 0usize);
    for (at, token) in tokens.iter().enumerate() {
        match &token.kind {
            kind if kind.ends_statement() => (word, begins, depth) = (None, true, 0),
            kind if begins => {
                let synonym = |word| SYNONYMS.iter().find(|(other, _)| *other == word);
                let ours = kind.name().map(|word| synonym(word).map_or(word, |(_, ours)| *ours));
                word = ours.filter(|word| DECLARING.contains(word));
                (begins, is_item) = (false, true);
            }
            Name(name) if word.is_some() && is_item && depth == 0 => {
                declared.names.insert(name.clone());
                let called = tokens.get(at + 1).is_some_and(|next| next.kind == OpenParen);
                if (word == Some("let") && called) || word == Some("table") {
                    declared.functions.insert(name.clone());
                }
                is_item = false;
            }
            OpenParen | OpenBracket => depth += 1,
            CloseParen | CloseBracket => depth = depth.saturating_sub(1),
            kind => is_item = *kind == Comma && depth == 0,
        }
    }
    declared
}

const DECLARING: [&str; 9] =
    ["param", "const", "coord", "let", "speed", "input", "output", "state", "table"];

/// Whether a name behind a number is probably a unit.
pub(super) fn is_unit(name: &str) -> bool {
    const UNITS: &[&str] = &[
        "m", "mm", "cm", "dm", "km", "in", "ft", "kg", "g", "mg", "t", "lb", "s", "ms", "us",
        "min", "h", "Hz", "N", "kN", "mN", "Nm", "lbf", "J", "kJ", "W", "kW", "Pa", "kPa", "MPa",
        "bar", "rad", "deg", "degree", "degrees", "rpm", "K", "A", "V", "Ohm", "meter", "meters",
        "second", "seconds",
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
    ("moment", "torque"),
    ("subject", "constraint"),
    ("constrain", "constraint"),
    ("equation", "constraint"),
    ("init", "start"),
    ("initial", "start"),
    ("simulate", "run"),
    ("integrate", "run"),
    ("print", "observe"),
    ("plot", "observe"),
    ("when", "event"),
    ("animate", "draw"),
    ("import", "use"),
    ("include", "use"),
    ("outputs", "output"),
    ("inputs", "input"),
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
