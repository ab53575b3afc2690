//! Puts the gallery into the library: every `.md` file in `gallery/` and its
//! subfolders becomes an entry, so that a new example is one new file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let folder = Path::new(&root).join("gallery");
    let mut files = Vec::new();
    collect(&folder, &mut String::new(), &mut files);
    // A folder's own pages come before those of its subfolders.
    files.sort_by_key(|(name, _)| (name.matches('/').count(), name.clone()));
    let mut code = String::from("&[\n");
    for (name, path) in files {
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", path.display().to_string());
    }
    code.push(']');
    if let Err(error) = std::fs::write(Path::new(&out).join("gallery.rs"), code) {
        println!("cargo::error=cannot write the gallery list: {error}");
    }
}

/// The pages below a folder, each with its name: the path without `.md`, with `/` on
/// every system.
fn collect(folder: &Path, prefix: &mut String, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let length = prefix.len();
            prefix.push_str(&stem);
            prefix.push('/');
            collect(&path, prefix, files);
            prefix.truncate(length);
        } else if path.extension().is_some_and(|e| e == "md") {
            files.push((format!("{prefix}{stem}"), path));
        }
    }
}
