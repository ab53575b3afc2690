//! HTML: one self-contained page, formulas as MathML, which browsers typeset
//! without help.

use crate::derivation::Derivation;
use crate::typeset::{Block, align_lines};
use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser, RenderConfig, Storage, push_mathml};
use std::fmt::Write;

const STYLE: &str = "\
    body { max-width: 62rem; margin: 3rem auto; padding: 0 1.5rem; line-height: 1.5;\n\
      font-family: Georgia, 'Times New Roman', serif; color: #1a1a1a; background: #fff; }\n\
    h1 { font-weight: normal; text-align: center; }\n\
    h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; padding-bottom: .2rem; }\n\
    math { font-family: 'Latin Modern Math', 'STIX Two Math', 'Cambria Math', math; }\n\
    .formula { margin: 1rem 0; padding: .3rem 0; overflow-x: auto; overflow-y: hidden; }\n\
    .menv-alignlike mtd { math-style: normal; padding: .25rem 0; text-align: left; }\n\
    .menv-alignlike mtd:nth-child(odd) { text-align: right; padding-right: .3rem; }\n\
    pre { background: #f3f3f3; padding: .6rem .9rem; white-space: pre-wrap; }\n\
    figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; }\n\
    nav, footer { text-align: center; margin: 1.5rem 0; }\n\
    .finding { border-left: .3rem solid #c90; padding-left: .8rem; }\n\
    .legend td { padding: .1rem 1.2rem .1rem 0; vertical-align: baseline; }\n\
    code { font-size: 1rem; background: #f3f3f3; padding: 0 .3rem; }\n";

impl Derivation<'_> {
    /// A page to open in a browser.
    pub fn to_html(&self) -> String {
        page(self.title(), &self.to_html_fragment())
    }

    /// The body of the page.
    pub fn to_html_fragment(&self) -> String {
        let mut page = String::new();
        for block in self.blocks() {
            let _ = match block {
                Block::Section(title) => writeln!(page, "<h2>{}</h2>", escape(&title)),
                Block::Text(text) => writeln!(page, "<p>{}</p>", text_with_math(&text)),
                Block::Label(name, words) => {
                    writeln!(page, "<p><code>{}</code> ({})</p>", escape(&name), escape(&words))
                }
                Block::Code(lines) => {
                    writeln!(page, "<pre>{}</pre>", escape(&lines.join("\n")))
                }
                Block::Legend(rows) => {
                    let rows: Vec<String> = rows
                        .iter()
                        .map(|(symbol, words)| {
                            let (symbol, words) = (text_with_math(symbol), text_with_math(words));
                            format!("<tr><td>{symbol}</td><td>{words}</td></tr>")
                        })
                        .collect();
                    writeln!(page, "<table class=\"legend\">{}</table>", rows.join("\n"))
                }
                Block::Display(formula) => {
                    writeln!(
                        page,
                        "<div class=\"formula\">{}</div>",
                        mathml(&formula, DisplayMode::Block)
                    )
                }
                Block::Align(rows) => {
                    let body = aligned(&rows);
                    writeln!(
                        page,
                        "<div class=\"formula\">{}</div>",
                        mathml(&body, DisplayMode::Block)
                    )
                }
            };
        }
        page
    }
}

/// A complete page.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

fn aligned(rows: &[(String, Vec<String>)]) -> String {
    format!("\\begin{{aligned}} {} \\end{{aligned}}", align_lines(rows).join(" \\\\ "))
}

/// MathML of a LaTeX formula; the LaTeX itself where it cannot be converted.
fn mathml(formula: &str, display_mode: DisplayMode) -> String {
    let storage = Storage::new();
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    let mut out = String::new();
    let failed = Parser::new(formula, &storage).any(|event| event.is_err());
    let storage = Storage::new();
    match push_mathml(&mut out, Parser::new(formula, &storage), config) {
        // The converter puts the thin space before a function into the script
        // that raises it, where it counts as the base.
        Ok(()) if !failed => out
            .replace("<msup><mspace width=\"0.1667em\" />", "<mspace width=\"0.1667em\" /><msup>"),
        _ => format!("<code>{}</code>", escape(formula)),
    }
}

fn text_with_math(text: &str) -> String {
    let pieces = text.split('$').enumerate();
    pieces
        .map(
            |(at, piece)| {
                if at % 2 == 0 { escape(piece) } else { mathml(piece, DisplayMode::Inline) }
            },
        )
        .collect()
}

/// Text in which a browser sees no elements.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(c),
        }
    }
    escaped
}
