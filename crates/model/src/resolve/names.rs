//! Names: what the language reserves, how names print, what was probably meant.

use super::{Indices, Kind};
pub(super) use crate::lexicon::{FUNCTIONS, is_function, is_reserved};
use crate::span::Span;
use rustc_hash::FxHashMap;

/// Where a label of a constraint or event is used.
pub(super) struct LabelInfo {
    pub span: Span,
    pub is_event: bool,
    pub plain: Option<usize>,
    pub entries: FxHashMap<Indices, usize>,
}

/// How a name is shown: two names with the same result print alike.
pub(super) fn printed(name: &str) -> String {
    // The micro sign is a letter of its own that looks like μ.
    dalembert_expr::text_name(&name.replace('µ', "μ"), 0)
}

/// The candidate most like a name that was not found, if it is like enough. The
/// shorter a name, the more it must have in common with what is suggested.
pub(super) fn closest<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let length = name.chars().count();
    let allowed = match length {
        0..=1 => 0,
        2..=4 => 1,
        5..=8 => 2,
        9..=40 => 3,
        // No one misspells a name of that length only a little.
        _ => return None,
    };
    candidates
        .filter(|c| *c != name && !differ_in_number(name, c))
        .filter_map(|c| {
            if c.eq_ignore_ascii_case(name) || printed(c) == printed(name) {
                return Some((0, c));
            }
            let near = c.chars().count().abs_diff(length) <= allowed;
            near.then(|| (strsim::damerau_levenshtein(name, c), c))
        })
        .filter(|&(distance, _)| distance <= allowed)
        .filter(|&(distance, c)| {
            let swapped = distance > 0 && sorted_letters(c) == sorted_letters(name);
            match length {
                _ if distance == 0 || swapped => true,
                0..=2 => c.starts_with(name),
                3..=4 => c.chars().next() == name.chars().next(),
                _ => true,
            }
        })
        .min_by_key(|&(distance, c)| (distance, c.len(), c))
        .map(|(_, c)| c)
}

fn sorted_letters(name: &str) -> Vec<char> {
    let mut letters: Vec<char> = name.chars().collect();
    letters.sort_unstable();
    letters
}

/// `th1` beside `th2`: another of the same kind, and no misspelling.
fn differ_in_number(a: &str, b: &str) -> bool {
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (at, other) = (stem(a), stem(b));
    at == other && a[..at] == b[..other] && at < a.len() && other < b.len()
}

/// `[2,3]` behind a family's name.
pub(super) fn with_indices(name: &str, indices: &[i64]) -> String {
    if indices.is_empty() {
        return name.to_owned();
    }
    let list: Vec<String> = indices.iter().map(i64::to_string).collect();
    format!("{name}[{}]", list.join(","))
}

/// `c3`: what the third constraint is called if it has no label.
pub(super) fn is_unnamed_label(name: &str) -> bool {
    name.strip_prefix('c').is_some_and(|number| number.parse::<usize>().is_ok())
}

/// Numbers in a sentence: "two", "14".
pub(super) fn number_word(n: usize) -> String {
    const WORDS: [&str; 7] = ["none", "one", "two", "three", "four", "five", "six"];
    WORDS.get(n).map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

/// A kind with its article, for messages.
pub(super) fn a_kind(kind: Kind) -> String {
    format!("a {}", kind.word())
}

/// `mg` where `m` and `g` exist: `m*g`.
pub(super) fn product_reading(name: &str, known: &[&str]) -> Option<String> {
    const LONGEST: usize = 12;
    const MOST_FACTORS: usize = 4;
    fn split(rest: &str, known: &[&str], factors: &mut Vec<String>) -> bool {
        if rest.is_empty() {
            return factors.len() > 1;
        }
        if factors.len() == MOST_FACTORS {
            return false;
        }
        let ends = (1..=rest.len()).rev().filter(|&end| rest.is_char_boundary(end));
        for end in ends {
            let (factor, rest) = rest.split_at(end);
            if known.contains(&factor) {
                factors.push(factor.to_owned());
                if split(rest, known, factors) {
                    return true;
                }
                factors.pop();
            }
        }
        false
    }
    let mut factors = Vec::new();
    let found = name.len() <= LONGEST && split(name, known, &mut factors);
    // No one writes `xx` for a square.
    let differ = factors.iter().any(|factor| *factor != factors[0]);
    (found && differ).then(|| factors.join("*"))
}

/// What a name of another tool or book is written as here. `kind` tells what a
/// name of the model is.
pub(super) fn other_notation(name: &str, kind: impl Fn(&str) -> Option<Kind>) -> Option<String> {
    if let Some(hint) = foreign_name(name) {
        return Some(hint.to_owned());
    }
    // `x_dot`, `xddot` of anything that can move; `dx`, `vx`, `qd` of coordinates.
    const SUFFIXES: [(&str, &str, bool); 9] = [
        ("_ddot", "''", false),
        ("ddot", "''", false),
        ("_dot", "'", false),
        ("dot", "'", false),
        ("_dd", "''", true),
        ("_d", "'", true),
        ("dd", "''", true),
        ("dt", "'", true),
        ("d", "'", true),
    ];
    for (suffix, primes, coordinates_only) in SUFFIXES {
        let Some(stem) = name.strip_suffix(suffix) else { continue };
        let (stem, coordinates_only) = match stem.strip_prefix('d') {
            Some(stem) if suffix == "dt" => (stem.trim_end_matches('_'), true),
            _ => (stem, coordinates_only),
        };
        match kind(stem) {
            Some(Kind::Coord) => {}
            Some(Kind::Let) if !coordinates_only => {}
            _ => continue,
        }
        let order = if primes.len() == 2 { "second time derivative" } else { "time derivative" };
        return Some(format!("the {order} of `{stem}` is `{stem}{primes}`"));
    }
    for (prefix, primes) in
        [("dd", "''"), ("d", "'"), ("v_", "'"), ("v", "'"), ("a_", "''"), ("a", "''")]
    {
        if let Some(stem) = name.strip_prefix(prefix).filter(|s| kind(s) == Some(Kind::Coord)) {
            let what = if primes.len() == 2 { "acceleration" } else { "velocity" };
            return Some(format!("the {what} of `{stem}` is `{stem}{primes}`"));
        }
    }
    if let Some(stem) = name.strip_prefix(['p', 'P']).filter(|s| kind(s) == Some(Kind::Coord)) {
        return Some(format!("the momentum of `{stem}` is `p_{stem}`"));
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &name[stem.len()..];
    let is_numbered = !number.is_empty() && kind(stem).is_some();
    is_numbered.then(|| {
        format!(
            "a power is written `{stem}^{number}`, an entry of a family `{stem}[{number}]`; any other \
             name must be declared"
        )
    })
}

/// What to write for a function of another tool.
pub(super) fn foreign_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "der" => "a time derivative is a prime: `x'`",
        "interp" | "interp1" | "interp1d" | "lookup" => {
            "data are a table: `table f = [[0, 0], [1, 2]]`, called like a function"
        }
        "floor" => "write `x - mod(x, 1)`",
        "ceil" => "write `x + mod(-x, 1)`",
        "round" => "write `x + 1/2 - mod(x + 1/2, 1)`",
        _ => return None,
    })
}

/// Names that other tools give to things the language writes otherwise.
fn foreign_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "arcsin" => "the inverse sine is `asin`",
        "arccos" => "the inverse cosine is `acos`",
        "arctan" => "the inverse tangent is `atan`",
        "arctan2" => "write `atan2(y, x)`",
        "cot" => "write `1/tan(x)`",
        "sec" => "write `1/cos(x)`",
        "csc" => "write `1/sin(x)`",
        "ln" => "the natural logarithm is `log`",
        "log10" | "log2" => "write `log(x)/log(10)`, with the base below",
        "pow" | "power" => "a power is written `a^b`",
        "sqr" | "square" => "a square is written `x^2`",
        "sgn" | "signum" => "the sign is `sign`",
        "fabs" | "Abs" => "the absolute value is `abs`",
        "Pi" | "PI" | "π" => "the number π is `pi`",
        "e" => "the exponential function is `exp(x)`",
        "norm2" | "length" => "the length of a vector is `norm`",
        "inner" => "the scalar product is `dot`",
        "heaviside" | "Heaviside" | "Piecewise" | "piecewise" | "ifelse" | "where" => {
            "a choice is written `if(a < b, c, d)`"
        }
        "symbols" | "dynamicsymbols" => {
            "declare coordinates with `coord x`, numbers with `param m`"
        }
        "deg2rad" | "radians" => "write `x*deg`",
        "diff" | "ddt" | "der" | "D" | "Derivative" => "a time derivative is a prime: `x'`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_need_more_in_common() {
        let known = ["m", "g", "th", "phi", "mod", "theta", "omega1", "length", "θ0"];
        let meant = |name| closest(name, known.into_iter());
        assert_eq!(meant("mg"), None);
        assert_eq!(meant("M"), Some("m"));
        assert_eq!(meant("ht"), Some("th"));
        assert_eq!(meant("ph"), Some("phi"));
        assert_eq!(meant("rod"), None);
        assert_eq!(meant("thta"), Some("theta"));
        assert_eq!(meant("lenght"), Some("length"));
        assert_eq!(meant("theta0"), Some("θ0"));
        assert_eq!(meant("omega2"), None);
        assert_eq!(meant(&"a".repeat(1_000_000)), None);
    }

    #[test]
    fn products_without_operators() {
        let known = ["m", "g", "l", "theta", "x"];
        let product = |name| product_reading(name, &known);
        assert_eq!(product("mg").as_deref(), Some("m*g"));
        assert_eq!(product("mglx").as_deref(), Some("m*g*l*x"));
        assert_eq!(product("mtheta").as_deref(), Some("m*theta"));
        assert_eq!(product("xx"), None);
        assert_eq!(product("mk"), None);
        assert_eq!(product("m"), None);
        assert_eq!(product(""), None);
    }

    #[test]
    fn other_notations() {
        let kind = |name: &str| match name {
            "x" | "phi" => Some(Kind::Coord),
            "X" => Some(Kind::Let),
            "k" => Some(Kind::Param),
            _ => None,
        };
        let hint = |name| other_notation(name, kind).unwrap_or_default();
        for (name, written) in [
            ("x_dot", "`x'`"),
            ("phidot", "`phi'`"),
            ("Xddot", "`X''`"),
            ("dx", "`x'`"),
            ("ddx", "`x''`"),
            ("dphidt", "`phi'`"),
            ("dx_dt", "`x'`"),
            ("xd", "`x'`"),
            ("vx", "`x'`"),
            ("px", "`p_x`"),
            ("x2", "`x^2`"),
            ("k2", "`k[2]`"),
            ("arcsin", "`asin`"),
        ] {
            assert!(hint(name).contains(written), "{name}: {}", hint(name));
        }
        for name in ["k_dot", "Xd", "dk", "dot", "y2", "dt", "d"] {
            assert_eq!(hint(name), "", "{name}");
        }
    }
}
