//! `dal explain`: a diagnostic at length.

use crate::Status;
use crate::args::Explain;
use crate::report::{data, say};
use dalembert::model::codes::{ALL, Code};

pub(crate) fn run(args: &Explain) -> Status {
    let Some(name) = &args.code else {
        let width = ALL.iter().map(|c| c.name().len()).max().unwrap_or(0);
        for code in ALL {
            data(&format!("{:<width$}  {}", code.name(), code.title()));
        }
        return Status::Fine;
    };
    // As people copy it: `error[unknown-name]`.
    let bare = name.trim().trim_start_matches("error").trim_start_matches("warning");
    let bare = bare.trim_matches(|c| c == '[' || c == ']' || c == ':');
    match Code::from_name(bare) {
        Some(code) => {
            data(code.explanation().trim_end());
            Status::Fine
        }
        None => {
            say(&format!("error: no diagnostic is named `{bare}`; `dal explain` lists them all"));
            Status::WrongUsage
        }
    }
}
