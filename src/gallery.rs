//! The built-in examples: each a Markdown page that is explanation, model and
//! test at once.

const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/gallery.rs"));

/// One page of the gallery.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its name, as in `gallery:NAME`: the path in the gallery's folder.
    pub name: &'static str,
    /// The Markdown text.
    pub text: &'static str,
}

impl Page {
    /// The page's heading.
    pub fn title(&self) -> &'static str {
        let heading = self.text.lines().find_map(|line| line.strip_prefix("# "));
        heading.unwrap_or(self.name).trim()
    }
}

/// All pages, by name; those of subfolders come last.
pub fn pages() -> impl Iterator<Item = Page> {
    PAGES.iter().map(|&(name, text)| Page { name, text })
}

/// The page of a name.
pub fn page(name: &str) -> Option<Page> {
    pages().find(|page| page.name == name)
}
