//! `dal gallery`: the built-in examples.

use crate::Status;
use crate::args::{Check, Gallery, ModelArgs, Run};
use crate::commands::{check, run};
use crate::report::{Color, data, say};
use dalembert::gallery::{page, pages};

pub(crate) fn run(args: &Gallery, color: Color) -> Status {
    let Some(name) = &args.name else {
        let width = pages().map(|p| p.name.chars().count()).max().unwrap_or(0);
        for page in pages() {
            data(&format!("{:<width$}  {}", page.name, page.title()));
        }
        return Status::Fine;
    };
    match page(name.strip_prefix("gallery:").unwrap_or(name)) {
        Some(page) if args.run => run_page(page.name, color),
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

/// What the commands do with `gallery:NAME`, one after the other.
fn run_page(name: &str, color: Color) -> Status {
    let model =
        || ModelArgs { model: format!("gallery:{name}"), set: Vec::new(), input: Vec::new() };
    let checked = check::run(&Check { model: model(), json: false }, color);
    if checked != Status::Fine {
        return checked;
    }
    data("");
    run::run(&Run::of(model()), color)
}
