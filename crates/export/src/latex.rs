//! LaTeX: a complete document, or its body.

use crate::derivation::Derivation;
use crate::typeset::{Block, align_lines};
use std::fmt::Write;

impl Derivation<'_> {
    /// A document that typesets as it is.
    pub fn to_latex(&self) -> String {
        let title = escape(self.title());
        format!(
            "\\documentclass[11pt]{{article}}\n\
             \\usepackage[utf8]{{inputenc}}\n\
             \\usepackage[T1]{{fontenc}}\n\
             \\usepackage{{amsmath}}\n\
             \\usepackage[margin=25mm]{{geometry}}\n\
             \\allowdisplaybreaks\n\
             \\setlength{{\\parindent}}{{0pt}}\n\
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
                    writeln!(page, "\\texttt{{{}}} ({words}):", escape(&name))
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
            _ => escaped.push(c),
        }
    }
    escaped
}
