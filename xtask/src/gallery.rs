//! The gallery in the book: each page with its drawing in motion and its curves, as `dal run` makes
//! them, and with the page of its motion, which sliders move. Pages of which `dal` makes no picture
//! have none; what it said is printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;

/// A page of the gallery.
pub struct Page {
    /// Its path in the gallery without the ending: `benchmarks/rod`.
    pub name: String,
    /// Its first heading.
    pub title: String,
    /// Its text.
    pub text: String,
    /// SVG, in their order.
    pub figures: Vec<Figure>,
    /// The file of the page of its motion, in the folder of the book.
    pub live: Option<String>,
}

/// A picture and how it was made.
pub struct Figure {
    /// The command.
    pub command: String,
    /// The picture.
    pub svg: String,
}

impl Page {
    /// The name of its page in the book.
    pub fn file(&self) -> String {
        format!("gallery-{}.html", self.name.replace('/', "-"))
    }
}

/// All pages, without figures; those of subfolders after the others.
pub fn pages(folder: &Path) -> Result<Vec<Page>, String> {
    let mut pages = Vec::new();
    for (prefix, folder) in [("", folder.to_owned()), ("benchmarks/", folder.join("benchmarks"))] {
        let listed =
            fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "md"));
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let title = text.lines().find_map(|line| line.strip_prefix("# "));
            let title = title.ok_or_else(|| format!("{} has no heading", path.display()))?;
            let text = linked(&text, &prefix.replace('/', "-"));
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let (name, title) = (format!("{prefix}{stem}"), title.trim().to_owned());
            pages.push(Page { name, title, text, figures: Vec::new(), live: None });
        }
    }
    Ok(pages)
}

/// The text of a page with links to pages beside it as they are called in the book.
fn linked(text: &str, prefix: &str) -> String {
    let mut pieces = text.split("](");
    let mut linked = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        linked += "](";
        let target = piece.split(')').next().unwrap_or_default();
        if target.ends_with(".md") && !target.contains(['/', ':']) {
            linked += &format!("gallery-{prefix}");
        }
        linked += piece;
    }
    linked
}

/// Builds `dal` and draws every page; gives how many figures there are.
pub fn draw(pages: &mut [Page], folder: &Path) -> Result<usize, String> {
    let mut build = crate::cargo();
    let status = build.args(["build", "--bin", "dal"]).current_dir(root()).status();
    if !status.map_err(|error| error.to_string())?.success() {
        return Err("`dal` does not build".to_owned());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let program = target.join("debug").join(format!("dal{}", std::env::consts::EXE_SUFFIX));
    let file = folder.join("figure.svg");
    let mut count = 0;
    for page in pages {
        for more in ["--animate", ""] {
            let _ = fs::remove_file(&file);
            let model = format!("gallery:{}", page.name);
            let mut command = Command::new(&program);
            command.args(["run", &model, "--no-verify", "--plot"]).arg(&file);
            command.args(more.split_whitespace());
            let live = page.file().replace(".html", "-live.html");
            if more.is_empty() {
                command.arg("--html").arg(folder.join(&live));
            }
            let output = command.output().map_err(|error| error.to_string())?;
            if more.is_empty() && folder.join(&live).exists() {
                page.live = Some(live);
            }
            // A run that fails on its way has drawn what it passed.
            match fs::read_to_string(&file) {
                Ok(svg) => {
                    let command = format!("dal run {model} --plot figure.svg {more}");
                    page.figures.push(Figure { command: command.trim().to_owned(), svg });
                    count += 1;
                }
                Err(_) => {
                    let said = String::from_utf8_lossy(&output.stderr);
                    println!("{}: {}", page.name, said.lines().next().unwrap_or("no picture"));
                }
            }
        }
    }
    let _ = fs::remove_file(&file);
    Ok(count)
}

/// The chapter that lists them.
pub fn index(pages: &[Page]) -> String {
    let mut text = String::from(
        "# Gallery\n\nThe built-in examples: explanation, model and test at once. `dal gallery` lists \
         them, `dal gallery NAME` prints one, and every command takes `gallery:NAME`.\n\n",
    );
    for page in pages {
        text += &format!("- [{}](gallery-{}.md)\n", page.title, page.name.replace('/', "-"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_title_and_a_name_of_its_own() {
        let manifest = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
        let root = Path::new(&manifest).parent().expect("xtask/ lies in the root").to_owned();
        let pages = pages(&root.join("gallery")).expect("pages");
        assert!(pages.len() > 60, "{}", pages.len());
        let mut files: Vec<String> = pages.iter().map(Page::file).collect();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), pages.len());
        assert!(pages.iter().any(|p| p.name == "benchmarks/rod"));
        let index = index(&pages);
        assert_eq!(linked("[a](b.md) [c](../d.md)", "e-"), "[a](gallery-e-b.md) [c](../d.md)");
        assert!(pages.iter().all(|p| index.contains(&p.title) && !p.title.is_empty()));
    }
}
