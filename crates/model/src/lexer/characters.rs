//! Characters that look right and are not: typographic forms of the operators,
//! which word processors, PDF files and keyboards put into pasted text, and
//! signs that have a meaning on paper but none here.

use unicode_ident::{is_xid_continue, is_xid_start};
use unicode_normalization::UnicodeNormalization;

/// Whether a name may begin with it: a letter of any script.
pub(super) fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || (!c.is_ascii() && is_xid_start(c) && ascii_form(c).is_none())
}

/// Whether a name may go on with it. Some characters of Unicode names, the
/// middle dots above all, are taken for operators by every reader.
pub(super) fn continues_name(c: char) -> bool {
    is_xid_continue(c) && (c.is_ascii() || ascii_form(c).is_none())
}

/// The ASCII operator that a typographic character stands for.
pub(super) fn ascii_form(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2019}' | '\u{2018}' | '\u{201b}' | '\u{2032}' | '\u{b4}' | '\u{2bc}' => "'",
        '\u{2033}' => "''",
        '\u{2212}' | '\u{2010}'..='\u{2015}' | '\u{fe63}' => "-",
        '\u{b7}' | '\u{387}' | '\u{22c5}' | '\u{d7}' | '\u{2219}' | '\u{2217}' | '\u{2022}' => "*",
        '\u{f7}' | '\u{2215}' | '\u{2044}' => "/",
        '\u{2264}' | '\u{2a7d}' => "<=",
        '\u{2265}' | '\u{2a7e}' => ">=",
        '\u{2192}' | '\u{21a6}' | '\u{27f6}' => "->",
        '\u{2026}' | '\u{2025}' => "..",
        '\u{223c}' | '\u{2248}' | '\u{2243}' | '\u{2dc}' => "~",
        '\u{2236}' => ":",
        // Full-width forms, as an East Asian keyboard types them.
        '\u{ff08}' => "(",
        '\u{ff09}' => ")",
        '\u{ff0a}' => "*",
        '\u{ff0b}' => "+",
        '\u{ff0c}' | '\u{3001}' => ",",
        '\u{ff0d}' => "-",
        '\u{ff0f}' => "/",
        '\u{ff1a}' => ":",
        '\u{ff1b}' => ";",
        '\u{ff1c}' => "<",
        '\u{ff1d}' => "=",
        '\u{ff1e}' => ">",
        '\u{ff3b}' => "[",
        '\u{ff3d}' => "]",
        '\u{ff3e}' => "^",
        '\u{ff5b}' => "{",
        '\u{ff5d}' => "}",
        '\u{ff5e}' => "~",
        '\u{ff07}' => "'",
        _ => return None,
    })
}

/// Operators that our own documents print, and that are read back.
pub(super) fn is_printed(c: char) -> bool {
    matches!(c, '\u{b7}' | '\u{22c5}' | '\u{2212}' | '\u{d7}')
}

/// The fraction that a character is.
pub(super) fn fraction(c: char) -> Option<(i64, i64)> {
    Some(match c {
        '\u{bc}' => (1, 4),
        '\u{bd}' => (1, 2),
        '\u{be}' => (3, 4),
        '\u{2153}' => (1, 3),
        '\u{2154}' => (2, 3),
        _ => return None,
    })
}

/// A name without the dots above its first letter, and how many derivatives they stand for:
/// `θ̇₁` is the first derivative of `θ1`. Letters with two dots of their own are letters.
pub(super) fn without_dots(spelled: &str) -> Option<(String, usize)> {
    const LETTERS: &str = "aeiouyAEIOUY";
    let plain: Vec<char> = spelled.nfd().collect();
    let marks = plain.get(1..)?.iter().take_while(|c| matches!(c, '\u{307}' | '\u{308}')).count();
    let primes: usize = plain[1..=marks].iter().map(|c| if *c == '\u{307}' { 1 } else { 2 }).sum();
    let is_letter = LETTERS.contains(plain[0]) && plain.get(1) == Some(&'\u{308}');
    if marks == 0 || is_letter {
        return None;
    }
    let rest = std::iter::once(plain[0]).chain(plain[1 + marks..].iter().copied());
    Some((rest.collect(), primes))
}

/// The ASCII character of a superscript digit or sign.
pub(super) fn superscript(c: char) -> Option<char> {
    Some(match c {
        '\u{b9}' => '1',
        '\u{b2}' => '2',
        '\u{b3}' => '3',
        '\u{2070}' => '0',
        '\u{2074}'..='\u{2079}' => digit('4', c, '\u{2074}'),
        '\u{207a}' => '+',
        '\u{207b}' => '-',
        _ => return None,
    })
}

/// The ASCII digit of a subscript digit.
pub(super) fn subscript(c: char) -> Option<char> {
    matches!(c, '\u{2080}'..='\u{2089}').then(|| digit('0', c, '\u{2080}'))
}

fn digit(first: char, c: char, zero: char) -> char {
    char::from_u32(first as u32 + (c as u32 - zero as u32)).unwrap_or(first)
}

/// Quotation marks of print.
pub(super) fn is_curly_quote(c: char) -> bool {
    matches!(c, '\u{201c}'..='\u{201f}' | '\u{ff02}')
}

/// Characters that cannot be seen and are not white space either.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}')
}

/// What to write instead of a character that has no place in the language.
pub(super) fn unexpected_hint(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{221a}' => "write `sqrt(…)`",
        '\u{2211}' => "write `sum(i in 1..N, …)`",
        '\u{220f}' => "write `product(i in 1..N, …)`",
        '\u{b0}' => "angles are in radians: 30 degrees are `30*deg`",
        '\u{b1}' => "write two expressions, one with `+` and one with `-`",
        '\u{2202}' | '\u{2207}' | '\u{222b}' => {
            "derivatives are taken for you; a time derivative is written with a prime: `x'`"
        }
        '\u{221e}' => "there is no infinite number; leave the limit out or take a large one",
        '_' => "a name begins with a letter",
        '`' => "a time derivative is written with `'`",
        '!' => "turn the comparison around: `<` and `>=`, `>` and `<=`",
        '?' => "a choice is written `if(a < b, c, d)`",
        '@' | '$' | '\\' => "names are made of letters, digits and `_`",
        c if subscript(c).is_some() => "write an index in brackets: `x[1]`",
        c if c.is_numeric() => "numbers are written with the digits 0 to 9",
        _ => return None,
    })
}

/// A character as a message shows it: itself if it can be seen, else its code.
pub(super) fn visible(c: char) -> String {
    let mark = !c.is_ascii() && continues_name(c) && !starts_name(c) && !c.is_numeric();
    if c == '`' {
        "a backtick".to_owned()
    } else if c.is_control() || c.is_whitespace() || is_invisible(c) || mark {
        format!("U+{:04X}", c as u32)
    } else {
        format!("`{c}`")
    }
}
