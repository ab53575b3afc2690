//! `cargo xtask book`: the chapters of `docs/book` as pages of HTML.
//!
//! `SUMMARY.md` lists the chapters. Each becomes one page that needs nothing beside it:
//! style inside, no script, navigation to all others. The pages of the diagnostics follow
//! as one more, and those of the gallery with their figures, which `dal` draws. Links to other
//! files of the repository become their paths.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html,
};

use crate::gallery;
use crate::highlight;
use crate::root;
use crate::steps::{Outcome, Report};

const STYLE: &str = include_str!("book.css");
/// Where links to pages of diagnostics lead in the repository.
const CODES: &str = "../../crates/model/src/codes/";

/// Runs the command.
pub fn book() -> Report {
    let mut report = Report::default();
    report.step("book", write);
    report
}

fn write() -> Outcome {
    let folder = root().join("target/book");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut examples = gallery::pages(&root().join("gallery"))?;
    let figures = gallery::draw(&mut examples, &folder)?;
    let codes = root().join("crates/model/src/codes");
    let pages = pages(&root().join("docs/book"), &codes, &examples)?;
    for (name, text) in &pages {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(format!("{} pages, {figures} figures; open target/book/index.html", pages.len()))
}

/// A picture of `docs/images` as an address that holds it: pages need nothing beside them.
fn picture(link: &str) -> Result<String, String> {
    let file = link.strip_prefix("../images/").filter(|file| file.ends_with(".png"));
    let file = file.ok_or_else(|| format!("a picture that is no PNG of docs/images: {link}"))?;
    let path = root().join("docs/images").join(file);
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(format!("data:image/png;base64,{}", base64(&bytes)))
}

/// Three bytes as four letters (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let at = |i: usize| three.get(i).map_or(0, |byte| u32::from(*byte));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// A chapter as the index names it.
struct Entry {
    title: String,
    file: String,
    /// The heading of the index above it.
    section: String,
}

impl Entry {
    fn page(&self) -> String {
        page_of(&self.file)
    }
}

/// `introduction.md` is the first page, so that a folder can be opened.
fn page_of(file: &str) -> String {
    match file.strip_suffix(".md").unwrap_or(file) {
        "introduction" => "index.html".to_owned(),
        name => format!("{name}.html"),
    }
}

/// Every page with its name.
fn pages(
    book: &Path,
    codes: &Path,
    examples: &[gallery::Page],
) -> Result<Vec<(String, String)>, String> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let summary = read(&book.join("SUMMARY.md"))?;
    let mut entries = entries(&summary);
    let mut texts = Vec::new();
    for entry in &entries {
        texts.push(read(&book.join(&entry.file))?);
    }
    let last = entries.last().map(|e| e.section.clone()).unwrap_or_default();
    entries.push(Entry { title: "All diagnostics".into(), file: "codes.md".into(), section: last });
    let names = code_names(codes)?;
    texts.push(all_codes(codes, &names, &read)?);
    let section = "Examples".to_owned();
    entries.push(Entry { title: "Gallery".into(), file: "gallery.md".into(), section });
    texts.push(gallery::index(examples));
    let made = entries.iter().zip(&texts).enumerate().map(|(at, (entry, text))| {
        let body = body(text, &names)?;
        Ok((entry.page(), page(&entries, at, &entry.title, &body)))
    });
    // The gallery's own pages are found in their chapter, which the navigation shows as open.
    let shown = examples.iter().map(|example| {
        let mut body = body(&example.text, &names)?;
        let mut figures = example.figures.iter().map(|figure| {
            let command = highlight::escaped(&figure.command);
            let caption = format!("<figcaption><code>{command}</code></figcaption>");
            format!("<figure class=\"picture\">{}{caption}</figure>\n", figure.svg)
        });
        // The first one, which moves, stands at the top.
        if let (Some(at), Some(mut first)) = (body.find("</h1>"), figures.next()) {
            if let Some(live) = &example.live {
                first += &format!("<p><a href=\"{live}\">The page of this motion</a>: look around, drag a slider.</p>\n");
            }
            body.insert_str(at + "</h1>".len(), &first);
        }
        body.extend(figures);
        Ok((example.file(), page(&entries, entries.len() - 1, &example.title, &body)))
    });
    made.chain(shown).collect()
}

/// The chapters that the index lists, each under its heading.
fn entries(summary: &str) -> Vec<Entry> {
    let (mut entries, mut section) = (Vec::new(), String::new());
    for line in summary.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.trim().to_owned();
        }
        let item = line.trim_start().strip_prefix("- [").and_then(|rest| rest.split_once("]("));
        if let Some((title, rest)) = item
            && let Some((file, _)) = rest.split_once(')')
        {
            let (title, file) = (title.to_owned(), file.to_owned());
            entries.push(Entry { title, file, section: section.clone() });
        }
    }
    entries
}

/// The codes of all diagnostics.
fn code_names(folder: &Path) -> Result<Vec<String>, String> {
    let listed = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = listed.flatten().map(|entry| entry.path());
    let pages = paths.filter(|path| path.extension().is_some_and(|e| e == "md"));
    let mut names: Vec<String> =
        pages.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    Ok(names)
}

/// The pages of all diagnostics as one chapter, a heading each.
fn all_codes(
    folder: &Path,
    names: &[String],
    read: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<String, String> {
    let mut text = String::from("# All diagnostics\n\nWhat `dal explain` prints of each code.\n");
    for name in names {
        let page = read(&folder.join(format!("{name}.md")))?;
        let (title, rest) = page.split_once('\n').unwrap_or((&page, ""));
        let title = title.trim_start_matches('#').trim();
        // Its own headings would be those of the chapter.
        text += &format!("\n## `{name}`\n\n**{title}**\n{}\n", rest.replace("\n#", "\n###"));
    }
    Ok(text)
}

/// A chapter's text as HTML.
///
/// A code of a diagnostic that stands in backticks and outside a link becomes one to its
/// page, if it has a hyphen; `shape` may be a word of anything.
fn body(text: &str, codes: &[String]) -> Result<String, String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events = Vec::new();
    let mut anchors: HashMap<String, usize> = HashMap::new();
    let (mut heading, mut block) = (None::<(HeadingLevel, usize)>, None::<(String, String)>);
    let mut plain_link = None::<String>;
    let mut in_link = false;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => heading = Some((level, events.len())),
            Event::End(TagEnd::Heading(level)) => {
                let (_, from) = heading.take().ok_or("a heading ends that has not begun")?;
                let inner: Vec<Event> = events.drain(from..).collect();
                let name = unique(anchor(&words(&inner)), &mut anchors);
                let link = format!("<{level} id=\"{name}\"><a class=\"self\" href=\"#{name}\">");
                events.push(Event::Html(link.into()));
                events.extend(inner);
                events.push(Event::Html(format!("</a></{level}>\n").into()));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                block = Some((info.to_string(), String::new()));
            }
            Event::Text(more) if block.is_some() => {
                if let Some((_, code)) = &mut block {
                    code.push_str(&more);
                }
            }
            Event::End(TagEnd::CodeBlock) => match block.take() {
                Some((info, code)) => events.push(Event::Html(code_block(&info, &code).into())),
                None => events.push(Event::End(TagEnd::CodeBlock)),
            },
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                in_link = true;
                match target(&dest_url) {
                    Target::Page(url) => {
                        let dest_url = CowStr::from(url);
                        events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                    }
                    Target::File(path) => plain_link = Some(path),
                }
            }
            Event::End(TagEnd::Link) => {
                in_link = false;
                events.push(match plain_link.take() {
                    Some(path) => Event::Html(format!(" (<code>{path}</code>)").into()),
                    None => Event::End(TagEnd::Link),
                });
            }
            Event::Code(code)
                if !in_link
                    && heading.is_none()
                    && code.contains('-')
                    && codes.iter().any(|name| **name == *code) =>
            {
                let link = format!("<a href=\"codes.html#{code}\"><code>{code}</code></a>");
                events.push(Event::Html(link.into()));
            }
            Event::Start(Tag::Table(_)) => {
                events.push(Event::Html("<div class=\"wide\">".into()));
                events.push(event);
            }
            Event::End(TagEnd::Table) => {
                events.push(event);
                events.push(Event::Html("</div>\n".into()));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = CowStr::from(picture(&dest_url)?);
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Event::Html(_) | Event::InlineHtml(_) => return Err("a chapter has HTML in it".into()),
            other => events.push(other),
        }
    }
    let mut out = String::new();
    html::push_html(&mut out, events.into_iter());
    Ok(out)
}

enum Target {
    /// A page of the book, or an address outside.
    Page(String),
    /// Another file of the repository, by its path in it.
    File(String),
}

fn target(link: &str) -> Target {
    let (file, heading) =
        link.split_once('#').map_or((link, ""), |(file, heading)| (file, heading));
    let hash = if heading.is_empty() { String::new() } else { format!("#{heading}") };
    if link.contains("://") || file.is_empty() {
        return Target::Page(link.to_owned());
    }
    if let Some(code) = file.strip_prefix(CODES).and_then(|file| file.strip_suffix(".md")) {
        return Target::Page(format!("codes.html#{code}"));
    }
    match file.strip_prefix("../") {
        None => Target::Page(page_of(file) + &hash),
        Some(rest) => Target::File(match rest.strip_prefix("../") {
            Some(path) => path.to_owned(),
            None => format!("docs/{rest}"),
        }),
    }
}

/// The text of a heading without its marks.
fn words(events: &[Event]) -> String {
    let text = events.iter().filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    text.collect()
}

/// The name by which a heading is linked to, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn unique(name: String, seen: &mut HashMap<String, usize>) -> String {
    let count = seen.entry(name.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { name } else { format!("{name}-{}", *count - 1) }
}

/// A block of code with a word on what it is, where that is not plain.
fn code_block(info: &str, code: &str) -> String {
    let mut marks = info.split(',').map(str::trim);
    let language = marks.next().unwrap_or_default();
    let mut note = match language {
        "check" => "what must hold of it".to_owned(),
        _ => String::new(),
    };
    for mark in marks {
        note = match mark.split_once('=') {
            Some(("fault", code)) => {
                format!("a fault: <a href=\"codes.html#{code}\"><code>{code}</code></a>")
            }
            Some(("warning", code)) => {
                format!("a remark: <a href=\"codes.html#{code}\"><code>{code}</code></a>")
            }
            Some(("file", name)) => format!("<code>{name}</code>"),
            _ if mark == "fragment" => "added to the model above".to_owned(),
            _ => note,
        };
    }
    let class = match language {
        "check" => "dal",
        other => other,
    };
    let code = match language {
        "dal" | "check" => highlight::model(code),
        "console" => highlight::console(code),
        _ => highlight::escaped(code),
    };
    let note = if note.is_empty() { note } else { format!("<figcaption>{note}</figcaption>") };
    format!("<figure>{note}<pre><code class=\"{class}\">{code}</code></pre></figure>\n")
}

/// One page: navigation, body, and the way to the next.
fn page(entries: &[Entry], at: usize, title: &str, body: &str) -> String {
    let title = highlight::escaped(title);
    let mut navigation = String::new();
    let mut section = "";
    for (place, entry) in entries.iter().enumerate() {
        if entry.section != section {
            section = &entry.section;
            navigation += &format!("<p>{}</p>", highlight::escaped(section));
        }
        let here = if place == at { " aria-current=\"page\"" } else { "" };
        let (href, title) = (entry.page(), highlight::escaped(&entry.title));
        navigation += &format!("<a href=\"{href}\"{here}>{title}</a>");
    }
    let step = |place: Option<usize>, word: &str, class: &str| {
        let entry = place.and_then(|place| entries.get(place));
        entry.map_or(String::new(), |entry| {
            let (href, title) = (entry.page(), highlight::escaped(&entry.title));
            format!("<a class=\"{class}\" href=\"{href}\"><small>{word}</small>{title}</a>")
        })
    };
    let before = step(at.checked_sub(1), "before", "before");
    let next = step(Some(at + 1), "next", "next");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} – dalembert</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <details class=\"menu\"><summary>Contents</summary><nav>{navigation}</nav></details>\n\
         <nav class=\"side\">{navigation}</nav>\n\
         <main>\n{body}<footer>{before}{next}</footer>\n</main>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Vec<(String, String)> {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
        let root = Path::new(&manifest).parent().expect("xtask/ lies in the root").to_owned();
        let mut examples = gallery::pages(&root.join("gallery")).expect("examples");
        let (command, svg) = ("dal run".to_owned(), "<svg></svg>".to_owned());
        examples[0].figures.push(gallery::Figure { command, svg });
        let codes = root.join("crates/model/src/codes");
        pages(&root.join("docs/book"), &codes, &examples).expect("pages")
    }

    /// Every `attribute="…"` of a page.
    fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
        let start = format!("{attribute}=\"");
        let found = page.split(start.as_str()).skip(1);
        found.filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn every_link_of_every_page_leads_to_a_page_and_a_heading() {
        let pages = made();
        assert!(pages.iter().any(|(name, _)| name == "index.html"));
        for (name, text) in &pages {
            for link in values(text, "href") {
                if link.starts_with("https://") {
                    continue;
                }
                let (file, heading) = link.split_once('#').unwrap_or((link, ""));
                let file = if file.is_empty() { name } else { file };
                let target = pages.iter().find(|(other, _)| other == file);
                let (_, target) = target.unwrap_or_else(|| panic!("{name}: {link}"));
                assert!(
                    heading.is_empty() || values(target, "id").contains(&heading),
                    "{name}: {link}"
                );
            }
        }
    }

    #[test]
    fn figures_of_the_gallery_stand_on_their_pages() {
        let pages = made();
        let with: Vec<&String> =
            pages.iter().filter(|(_, text)| text.contains("<svg>")).map(|(name, _)| name).collect();
        assert_eq!(with, ["gallery-acceleration-constraint.html"]);
    }

    #[test]
    fn a_page_needs_nothing_beside_it() {
        for (name, text) in made() {
            let text = text.replace("src=\"data:image/png;base64,", "");
            for word in ["<script", "<link", "src=", "@import", "url("] {
                assert!(!text.contains(word), "{name} has {word}");
            }
            assert_eq!(text.matches("aria-current=\"page\"").count(), 2, "{name}");
            assert_eq!(text.matches("<h1").count(), 1, "{name}");
        }
    }

    #[test]
    fn links_are_turned_into_those_of_pages() {
        let html =
            body("[a](b.md#c) [d](../json.md) [e](../../crates/model/src/codes/shape.md)", &[])
                .unwrap();
        assert!(html.contains("<a href=\"b.html#c\">a</a>"), "{html}");
        assert!(html.contains("d (<code>docs/json.md</code>)"), "{html}");
        assert!(html.contains("<a href=\"codes.html#shape\">e</a>"), "{html}");
        let html = body("![what](../images/page.png)", &[]).unwrap();
        assert!(html.contains("<img src=\"data:image/png;base64,iVBORw0KGgo"), "{html:.90}");
        assert_eq!(
            ["", "f", "fo", "foo"].map(|text| base64(text.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v"]
        );
        assert!(body("![what](elsewhere.png)", &[]).is_err());
        let html = body("`rank-lost` and `a-b`", &["rank-lost".to_owned()]).unwrap();
        assert_eq!(html.matches("<a ").count(), 1, "{html}");
        assert!(html.contains("codes.html#rank-lost"), "{html}");
    }

    #[test]
    fn blocks_say_what_they_are() {
        let html = body("```dal,fault=shape\ncoord x # <a>\n```\n", &[]).unwrap();
        assert!(html.contains("codes.html#shape") && html.contains("&lt;a&gt;"), "{html}");
        assert!(html.contains("<b>coord</b> x <i># &lt;a&gt;</i>"), "{html}");
    }
}
