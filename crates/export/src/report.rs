//! One document of a model: its equations, what is true of it, its motion with
//! figures, and the certificate.

use crate::derivation::Derivation;
use crate::html::{self, escape};
use crate::text::untitled;
use crate::{AnalysisPage, RunPage};
use std::fmt::Write;

/// What goes into the document. What could not be had stands there as words.
pub struct ReportPage<'a> {
    /// The equations.
    pub derivation: &'a Derivation<'a>,
    /// What is suspicious about the model, in words.
    pub findings: Vec<String>,
    /// What is true of it.
    pub analysis: Result<AnalysisPage<'a>, String>,
    /// Its motion.
    pub run: Result<RunPage<'a>, String>,
    /// Figures, as SVG.
    pub figures: Vec<String>,
    /// The command that makes this document again.
    pub command: String,
}

impl ReportPage<'_> {
    /// A page to open in a browser.
    pub fn to_html(&self) -> String {
        let mut body = String::new();
        let _ = writeln!(
            body,
            "<nav><a href=\"#equations\">Equations</a> · <a href=\"#analysis\">Analysis</a> · \
             <a href=\"#motion\">Motion</a> · <a href=\"#certificate\">Certificate</a></nav>"
        );
        let _ = writeln!(body, "<section id=\"equations\">");
        body.push_str(&self.derivation.to_html_fragment());
        let _ = writeln!(body, "</section>\n<section id=\"analysis\">\n<h2>Analysis</h2>");
        let analysis = self.analysis.as_ref().map(AnalysisPage::to_text);
        // What the analysis says itself is not said twice.
        let said = analysis.as_deref().unwrap_or("");
        for finding in self.findings.iter().filter(|finding| !said.contains(finding.as_str())) {
            let _ = writeln!(body, "<p class=\"finding\">{}</p>", escape(finding));
        }
        self.text(&mut body, analysis);
        let _ = writeln!(body, "</section>\n<section id=\"motion\">\n<h2>Motion</h2>");
        for figure in &self.figures {
            let _ = writeln!(body, "<figure>{}</figure>", inline(figure));
        }
        let run = self.run.as_ref().map(RunPage::to_text);
        // The summary ends with the certificate.
        let (motion, certificate) = match &run {
            Ok(text) => match text.find("\ncertificate") {
                Some(at) => (Ok(text[..at].to_owned()), Ok(text[at..].to_owned())),
                None => (Ok(text.clone()), Err("there is none")),
            },
            Err(words) => (Err(*words), Err("there is no motion to certify")),
        };
        self.text(&mut body, motion);
        let heading = "</section>\n<section id=\"certificate\">\n<h2>Certificate</h2>";
        let _ = writeln!(body, "{heading}");
        self.text(&mut body, certificate);
        let _ =
            writeln!(body, "</section>\n<footer><code>{}</code></footer>", escape(&self.command));
        html::page(self.derivation.title(), &body)
    }

    /// A text as it stands on a terminal, without its title.
    fn text(&self, body: &mut String, text: Result<String, impl std::fmt::Display>) {
        let _ = match text {
            Ok(text) => writeln!(body, "<pre>{}</pre>", escape(untitled(&text))),
            Err(words) => writeln!(body, "<p>{}</p>", escape(&words.to_string())),
        };
    }
}

/// A figure without what stands only in front of a file of its own.
fn inline(svg: &str) -> &str {
    svg.find("<svg").map_or("", |at| &svg[at..])
}
