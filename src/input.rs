//! Where a model comes from: a file, standard input, the gallery, a string.

use dalembert_model::codes::Code;
use dalembert_model::load::Syntax;
use dalembert_model::resolve::Limits;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A model's text and what it is called in messages.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name in messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// How the text is read.
    pub syntax: Syntax,
    /// The folder that names of part files are relative to; `None` if there is
    /// no place to read them from.
    pub folder: Option<PathBuf>,
}

/// How a model is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Overrides, each a text such as `m=2, th[2]'=0`.
    pub set: Vec<String>,
    /// What a run takes for inputs, each a text such as `F=sin(t)` or `F=drive.csv, cubic`.
    pub inputs: Vec<String>,
    /// A state to evaluate at, such as `x=1, x'=0.2, t=0`; what it does not name
    /// is 0.
    pub at: Option<String>,
    /// Further outputs, each what may stand after `observe`.
    pub observe: Vec<String>,
    /// Further parameters and their values, for overrides to speak of.
    pub parameters: Vec<(String, f64)>,
    /// `relative` or `absolute`: what the coordinates of a machine are, in place of what its `run`
    /// says.
    pub coordinates: Option<String>,
    /// How large a model may become.
    pub limits: Limits,
}

/// Why a text could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// `unreadable-file` or `not-utf8`.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What would help.
    pub hint: Option<String>,
}

impl Input {
    /// A text at hand.
    pub fn text(name: &str, text: &str) -> Input {
        Input { name: name.to_owned(), text: text.to_owned(), syntax: Syntax::Plain, folder: None }
    }

    /// What the command line calls a model: a path, `-`, or `gallery:NAME`.
    pub fn open(place: &str) -> Result<Input, InputError> {
        if let Some(name) = place.strip_prefix("gallery:") {
            return from_gallery(name);
        }
        let (name, bytes) = if place == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            ("<stdin>", read.map(|_| bytes))
        } else {
            (place, std::fs::read(place))
        };
        let bytes = bytes.map_err(|error| InputError {
            code: Code::UnreadableFile,
            message: format!("cannot read `{name}`: {}", plain(&error)),
            hint: suggestion(place),
        })?;
        let text = String::from_utf8(bytes).map_err(|error| InputError {
            code: Code::NotUtf8,
            message: format!(
                "`{name}` is not UTF-8 text: byte {} begins no character",
                error.utf8_error().valid_up_to() + 1
            ),
            hint: Some("save the file as UTF-8".to_owned()),
        })?;
        let syntax = if place == "-" { guess(&text) } else { Syntax::of_path(place) };
        let parent = Path::new(place).parent().filter(|_| place != "-");
        let folder = parent.unwrap_or(Path::new("")).to_owned();
        Ok(Input { name: name.to_owned(), text, syntax, folder: Some(folder) })
    }
}

/// Reads the file a part names, relative to the folder of the file that names it.
pub(crate) fn read_part(
    folder: &Path,
    main: &str,
    from: &str,
    name: &str,
) -> Result<(String, String), String> {
    let base = match Path::new(from).parent() {
        Some(parent) if from != main => parent,
        _ => folder,
    };
    let path = base.join(name);
    let bytes = std::fs::read(&path).map_err(|error| plain(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    Ok((path.display().to_string(), text))
}

/// Standard input has no name: it is Markdown if it has a ```dal block.
pub(crate) fn guess(text: &str) -> Syntax {
    let fenced = text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("```dal") || line.starts_with("~~~dal")
    });
    if fenced { Syntax::Markdown } else { Syntax::Plain }
}

fn from_gallery(name: &str) -> Result<Input, InputError> {
    match crate::gallery::page(name) {
        Some(page) => Ok(Input {
            name: format!("gallery:{name}"),
            text: page.text.to_owned(),
            syntax: Syntax::Markdown,
            folder: None,
        }),
        None => Err(InputError {
            code: Code::UnreadableFile,
            message: format!("the gallery has no `{name}`"),
            hint: Some("`dal gallery` lists what it has".to_owned()),
        }),
    }
}

fn suggestion(place: &str) -> Option<String> {
    if crate::gallery::page(place).is_some() {
        return Some(format!("the gallery has it: `gallery:{place}`"));
    }
    if !place.contains('.') && std::path::Path::new(&format!("{place}.dal")).exists() {
        return Some(format!("did you mean `{place}.dal`?"));
    }
    None
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
