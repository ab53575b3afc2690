//! Names as a reader expects them: `theta_1'` is θ̇₁, `m_cart` is m with the
//! upright subscript "cart", `a.x` is the x of part a.
//!
//! A name is a path of parts separated by dots; its last part is a stem and,
//! in brackets, indices. The stem is split at `_`, and digits at the end of a
//! piece are a subscript. `p_` followed by a name is the momentum of that name,
//! so everything after it, indices and part included, goes into p's subscript.

/// A name taken apart.
struct Name<'a> {
    /// The parts it belongs to, outermost first.
    path: Vec<&'a str>,
    /// The letters in front: `theta` of `theta1_a`.
    letters: &'a str,
    /// Digits right after the letters.
    digits: &'a str,
    /// What stands between underscores, in order.
    pieces: Vec<&'a str>,
    /// What stands in brackets, in order.
    indices: Vec<&'a str>,
}

impl<'a> Name<'a> {
    fn new(name: &'a str) -> Name<'a> {
        let mut path: Vec<&str> = name.split('.').collect();
        let last = path.pop().unwrap_or(name);
        let (stem, indices) = split_indices(last);
        let mut pieces = stem.split('_');
        let (letters, digits) = split_digits(pieces.next().unwrap_or(stem));
        Name { path, letters, digits, pieces: pieces.collect(), indices }
    }

    /// What the momentum `p_…` belongs to, as a name of its own.
    fn momentum_of(&self, name: &'a str) -> Option<String> {
        if self.letters != "p"
            || !self.digits.is_empty()
            || self.pieces.iter().all(|p| p.is_empty())
        {
            return None;
        }
        let at = name.rfind('.').map_or(0, |dot| dot + 1);
        Some(format!("{}{}", &name[..at], &name[at + 2..]))
    }
}

fn split_indices(part: &str) -> (&str, Vec<&str>) {
    match part.strip_suffix(']').and_then(|p| p.split_once('[')) {
        Some((stem, list)) => (stem, list.split(',').map(str::trim).collect()),
        None => (part, Vec::new()),
    }
}

/// Letters and the digits that end them; a piece of digits only has no letters.
fn split_digits(piece: &str) -> (&str, &str) {
    let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
    piece.split_at(letters.len())
}

/// `ptilde_x`, the momentum p̃ of a reduced state space, as `p_x`.
fn reduced_momentum(name: &str) -> Option<String> {
    let at = name.rfind('.').map_or(0, |dot| dot + 1);
    let rest = name[at..].strip_prefix("ptilde_")?;
    Some(format!("{}p_{rest}", &name[..at]))
}

/// Indices in one subscript: next to each other if that is unambiguous.
fn join_indices(indices: &[&str]) -> String {
    let short = indices.iter().all(|i| i.len() == 1 && i.as_bytes()[0].is_ascii_digit());
    indices.join(if short { "" } else { "," })
}

/// The name with its primes as the language writes it.
pub fn source_name(name: &str, primes: u8) -> String {
    let mut text = name.to_owned();
    text.extend(std::iter::repeat_n('\'', primes as usize));
    text
}

/// The name in Unicode: Greek letters, subscript digits, dots for one or two
/// time derivatives of one-letter names and primes for all others.
///
/// ```
/// use dalembert_expr::text_name;
/// assert_eq!(text_name("theta_1", 1), "θ̇₁");
/// assert_eq!(text_name("th[2]", 2), "th₂″");
/// ```
pub fn text_name(name: &str, primes: u8) -> String {
    if let Some(plain) = reduced_momentum(name) {
        let text = text_name(&plain, primes);
        let at = text.rfind('.').map_or(0, |dot| dot + 1);
        return text[..at].to_owned() + &text[at..].replacen('p', "p\u{303}", 1);
    }
    let parts = Name::new(name);
    let mut text = String::new();
    for part in &parts.path {
        text.push_str(&text_name(part, 0));
        text.push('.');
    }
    let letters = match greek(parts.letters) {
        Some(letter) => letter.character.to_string(),
        None => parts.letters.to_owned(),
    };
    // A dot over the dot of an i or j would not be seen.
    let single = letters.chars().count() == 1 && !matches!(letters.as_str(), "i" | "j");
    text.push_str(&letters);
    let dot = match primes {
        1 if single => Some('\u{307}'),
        2 if single => Some('\u{308}'),
        _ => None,
    };
    text.extend(dot);
    // A list of numbers below: x1[2] is x₁,₂, and x[1,2] is x₁₂.
    let mut below: Vec<String> = Vec::new();
    if !parts.digits.is_empty() {
        below.push(parts.digits.to_owned());
    }
    for piece in &parts.pieces {
        let (letters, digits) = split_digits(piece);
        if letters.is_empty() && !digits.is_empty() {
            below.push(digits.to_owned());
            continue;
        }
        flush_subscript(&mut text, &mut below);
        text.push('_');
        match greek(letters) {
            Some(letter) => text.push(letter.character),
            None => text.push_str(letters),
        }
        if !digits.is_empty() {
            below.push(digits.to_owned());
        }
    }
    if !parts.indices.is_empty() {
        below.push(join_indices(&parts.indices));
    }
    flush_subscript(&mut text, &mut below);
    if dot.is_none() {
        match primes {
            0 => {}
            1 => text.push('′'),
            2 => text.push('″'),
            3 => text.push('‴'),
            4 => text.push('⁗'),
            n => text.push_str(&superscript(&format!("({n})"))),
        }
    }
    text
}

fn flush_subscript(text: &mut String, below: &mut Vec<String>) {
    if !below.is_empty() {
        text.push_str(&subscript(&below.join(",")));
        below.clear();
    }
}

/// The name in LaTeX math: Greek letters, dots for time derivatives, upright
/// words with primes for theirs, subscripts.
///
/// ```
/// use dalembert_expr::latex_name;
/// assert_eq!(latex_name("pitch", 1), r"\mathrm{pitch}'");
/// assert_eq!(latex_name("theta_1", 1), r"\dot{\theta}_{1}");
/// assert_eq!(latex_name("m_cart", 0), r"m_{\mathrm{cart}}");
/// assert_eq!(latex_name("p_th[2]", 0), r"p_{\mathrm{th}_{2}}");
/// ```
pub fn latex_name(name: &str, primes: u8) -> String {
    if let Some(plain) = reduced_momentum(name) {
        return latex_name(&plain, primes).replacen('p', "\\tilde{p}", 1);
    }
    latex(name, primes, true)
}

/// Momenta have no momenta, which also bounds the recursion.
fn latex(name: &str, primes: u8, may_be_momentum: bool) -> String {
    let parts = Name::new(name);
    let mut below: Vec<String> = Vec::new();
    match parts.momentum_of(name) {
        Some(of) if may_be_momentum => below.push(latex(&of, 0, false)),
        _ => {
            if !parts.path.is_empty() {
                let path: Vec<String> =
                    parts.path.iter().map(|part| latex(part, 0, false)).collect();
                below.push(path.join("."));
            }
            if !parts.digits.is_empty() {
                below.push(parts.digits.to_owned());
            }
            below.extend(parts.pieces.iter().map(|piece| latex_piece(piece)));
            if !parts.indices.is_empty() {
                below.push(join_indices(&parts.indices));
            }
        }
    }
    let letters = latex_letters(parts.letters);
    // A dot over the middle of a word belongs to nothing.
    let word = greek(parts.letters).is_none() && parts.letters.chars().count() > 1;
    let mut text = match primes {
        1..=4 if word => letters,
        1 => format!("\\dot{{{letters}}}"),
        2 => format!("\\ddot{{{letters}}}"),
        3 => format!("\\dddot{{{letters}}}"),
        4 => format!("\\ddddot{{{letters}}}"),
        _ => letters,
    };
    if !below.is_empty() {
        text.push_str(&format!("_{{{}}}", below.join(",")));
    }
    match primes {
        1..=4 if word => text.extend(std::iter::repeat_n('\'', primes as usize)),
        5.. => text.push_str(&format!("^{{({primes})}}")),
        _ => {}
    }
    text
}

/// A piece between underscores: `cart`, `th1`, `2`.
fn latex_piece(piece: &str) -> String {
    match split_digits(piece) {
        ("", "") => "\\_".to_owned(),
        ("", digits) => digits.to_owned(),
        (letters, "") => latex_letters(letters),
        (letters, digits) => format!("{}_{{{digits}}}", latex_letters(letters)),
    }
}

fn latex_letters(letters: &str) -> String {
    if let Some(letter) = greek(letters) {
        return letter.latex.to_owned();
    }
    let mut characters = letters.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) if c.is_ascii_alphabetic() => letters.to_owned(),
        (None, _) => "{}".to_owned(),
        _ if letters.chars().all(|c| c.is_ascii_alphanumeric()) => format!("\\mathrm{{{letters}}}"),
        // Math fonts lack letters of other scripts; the text font may have them.
        _ => format!("\\text{{{}}}", escape(letters)),
    }
}

/// What the language does not allow in names, but a caller may have put there.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Digits, signs and commas below the line; the rest as it is.
fn subscript(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '0'..='9' => char::from_u32('₀' as u32 + (c as u32 - '0' as u32)).unwrap_or(c),
            '-' => '₋',
            '+' => '₊',
            c => c,
        })
        .collect()
}

/// Digits, signs and parentheses above the line; the rest as it is.
pub(super) fn superscript(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' | '4'..='9' => char::from_u32('⁰' as u32 + (c as u32 - '0' as u32)).unwrap_or(c),
            '-' => '⁻',
            '(' => '⁽',
            ')' => '⁾',
            c => c,
        })
        .collect()
}

/// How a parameter's letter ranks among others in a product: authors write
/// 2π, G m₁ m₂, m g l, whatever the order of declaration.
pub(super) fn convention(name: &str) -> u8 {
    match Name::new(name).letters {
        "pi" | "π" => 0,
        "G" => 1,
        "m" | "M" | "mass" => 2,
        "g" => 3,
        _ => 4,
    }
}

/// A letter that has a name.
struct Letter {
    name: &'static str,
    character: char,
    latex: &'static str,
}

const fn letter(name: &'static str, character: char, latex: &'static str) -> Letter {
    Letter { name, character, latex }
}

fn greek(name: &str) -> Option<&'static Letter> {
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(c), None) if c.is_ascii() => None,
        (Some(c), None) => LETTERS.iter().find(|l| l.character == c),
        _ => LETTERS.iter().find(|l| l.name == name),
    }
}

/// The Greek letters, their variants, and the two letters of physics that have
/// names. Capitals that look Latin are typeset as the Latin ones.
const LETTERS: &[Letter] = &[
    letter("alpha", 'α', "\\alpha"),
    letter("beta", 'β', "\\beta"),
    letter("gamma", 'γ', "\\gamma"),
    letter("delta", 'δ', "\\delta"),
    letter("epsilon", 'ε', "\\epsilon"),
    letter("zeta", 'ζ', "\\zeta"),
    letter("eta", 'η', "\\eta"),
    letter("theta", 'θ', "\\theta"),
    letter("iota", 'ι', "\\iota"),
    letter("kappa", 'κ', "\\kappa"),
    letter("lambda", 'λ', "\\lambda"),
    letter("mu", 'μ', "\\mu"),
    letter("nu", 'ν', "\\nu"),
    letter("xi", 'ξ', "\\xi"),
    letter("omicron", 'ο', "o"),
    letter("pi", 'π', "\\pi"),
    letter("rho", 'ρ', "\\rho"),
    letter("sigma", 'σ', "\\sigma"),
    letter("tau", 'τ', "\\tau"),
    letter("upsilon", 'υ', "\\upsilon"),
    letter("phi", 'φ', "\\phi"),
    letter("chi", 'χ', "\\chi"),
    letter("psi", 'ψ', "\\psi"),
    letter("omega", 'ω', "\\omega"),
    letter("Alpha", 'Α', "\\mathrm{A}"),
    letter("Beta", 'Β', "\\mathrm{B}"),
    letter("Gamma", 'Γ', "\\Gamma"),
    letter("Delta", 'Δ', "\\Delta"),
    letter("Epsilon", 'Ε', "\\mathrm{E}"),
    letter("Zeta", 'Ζ', "\\mathrm{Z}"),
    letter("Eta", 'Η', "\\mathrm{H}"),
    letter("Theta", 'Θ', "\\Theta"),
    letter("Iota", 'Ι', "\\mathrm{I}"),
    letter("Kappa", 'Κ', "\\mathrm{K}"),
    letter("Lambda", 'Λ', "\\Lambda"),
    letter("Mu", 'Μ', "\\mathrm{M}"),
    letter("Nu", 'Ν', "\\mathrm{N}"),
    letter("Xi", 'Ξ', "\\Xi"),
    letter("Omicron", 'Ο', "\\mathrm{O}"),
    letter("Pi", 'Π', "\\Pi"),
    letter("Rho", 'Ρ', "\\mathrm{P}"),
    letter("Sigma", 'Σ', "\\Sigma"),
    letter("Tau", 'Τ', "\\mathrm{T}"),
    letter("Upsilon", 'Υ', "\\Upsilon"),
    letter("Phi", 'Φ', "\\Phi"),
    letter("Chi", 'Χ', "\\mathrm{X}"),
    letter("Psi", 'Ψ', "\\Psi"),
    letter("Omega", 'Ω', "\\Omega"),
    letter("varepsilon", 'ϵ', "\\varepsilon"),
    letter("vartheta", 'ϑ', "\\vartheta"),
    letter("varpi", 'ϖ', "\\varpi"),
    letter("varrho", 'ϱ', "\\varrho"),
    letter("varsigma", 'ς', "\\varsigma"),
    letter("varphi", 'ϕ', "\\varphi"),
    letter("ell", 'ℓ', "\\ell"),
    letter("hbar", 'ħ', "\\hbar"),
];
