//! `dal gallery`: the built-in examples.

use crate::Status;
use crate::args::Gallery;
use crate::report::{data, say};
use dalembert::gallery::{page, pages};

pub(crate) fn run(args: &Gallery) -> Status {
    let Some(name) = &args.name else {
        let width = pages().map(|p| p.name.chars().count()).max().unwrap_or(0);
        for page in pages() {
            data(&format!("{:<width$}  {}", page.name, page.title()));
        }
        return Status::Fine;
    };
    match page(name.strip_prefix("gallery:").unwrap_or(name)) {
        Some(page) => {
            data(page.text.trim_end());
            Status::Fine
        }
        None => {
            say(&format!("error: the gallery has no `{name}`; `dal gallery` lists what it has"));
            Status::WrongUsage
        }
    }
}
