//! LaTeX: a complete document, or its body.

use crate::derivation::Derivation;
use crate::typeset::{Block, align_lines};
use dalembert_expr::latex_name;
use std::fmt::Write;

impl Derivation<'_> {
    /// A document that typesets as it is.
    pub fn to_latex(&self) -> String {
        let title = escape(self.title());
        format!(
            "\\documentclass[11pt]{{article}}\n\
             \\usepackage[utf8]{{inputenc}}\n\
             \\usepackage[T1]{{fontenc}}\n\
             \\usepackage{{textcomp}}\n\
             \\usepackage{{amsmath}}\n\
             \\usepackage[margin=25mm]{{geometry}}\n\
             \\allowdisplaybreaks\n\
             \\setlength{{\\parindent}}{{0pt}}\n\
             \\setlength{{\\emergencystretch}}{{3em}}\n\
             \\title{{{title}}}\n\\author{{}}\\date{{}}\n\
             \\begin{{document}}\n\\maketitle\n\n{}\n\\end{{document}}\n",
            self.to_latex_fragment()
        )
    }

    /// The body of the document.
    pub fn to_latex_fragment(&self) -> String {
        let mut page = String::new();
        for block in self.blocks() {
            let _ = match block {
                Block::Section(title) => writeln!(page, "\\section*{{{}}}", escape(&title)),
                Block::Text(text) => writeln!(page, "{}\n", escape_around_math(&text)),
                Block::Label(name, words) => {
                    writeln!(page, "\\texttt{{{}}} ({words}):\n", escape(&name))
                }
                Block::Code(lines) => writeln!(
                    page,
                    "\\begin{{quote}}\\small\\ttfamily\\raggedright\n{}\n\\end{{quote}}",
                    lines.iter().map(|l| code(l)).collect::<Vec<_>>().join("\\\\\n")
                ),
                Block::Legend(rows) => {
                    let rows: Vec<String> = rows
                        .iter()
                        .map(|(symbol, words)| {
                            format!("{symbol} & {} \\\\", escape_around_math(words))
                        })
                        .collect();
                    writeln!(
                        page,
                        "\\begin{{tabular}}{{ll}}\n{}\n\\end{{tabular}}",
                        rows.join("\n")
                    )
                }
                Block::Display(formula) => writeln!(page, "\\[ {formula} \\]"),
                Block::Align(rows) => {
                    writeln!(
                        page,
                        "\\begin{{align*}}\n{}\n\\end{{align*}}",
                        align_lines(&rows).join(" \\\\\n")
                    )
                }
            };
        }
        page
    }
}

/// A line of the model, with its spaces and without ligatures.
fn code(line: &str) -> String {
    let escaped = escape(line).replace("--", "-{}-").replace(' ', "\\ ");
    if escaped.is_empty() { "~".to_owned() } else { escaped.replace('\'', "\\textquotesingle{}") }
}

/// Escapes what is not between dollar signs.
fn escape_around_math(text: &str) -> String {
    let pieces = text.split('$').enumerate();
    pieces
        .map(|(at, piece)| if at % 2 == 0 { escape(piece) } else { format!("${piece}$") })
        .collect()
}

/// Text in which LaTeX sees no commands.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '–' => escaped.push_str("--"),
            '…' => escaped.push_str("\\ldots{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            ' '..='~' | '\n' | '\t' => escaped.push(c),
            // What the encoding of the font has.
            '\u{a1}'..='\u{17f}' | '‘'..='„' | '—' => escaped.push(c),
            _ => match greek(c) {
                Some(name) => escaped.push_str(&format!("\\ensuremath{{{name}}}")),
                None => escaped.push_str(&format!("[U+{:04X}]", c as u32)),
            },
        }
    }
    escaped
}

/// A Greek letter as formulas have it; capitals that look like Latin ones are those.
fn greek(c: char) -> Option<String> {
    let latex = latex_name(&c.to_string(), 0);
    latex.is_ascii().then_some(latex)
}
