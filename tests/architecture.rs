//! ARCHITECTURE.md and its companions against the tree: a map that is checked does not rot.
//!
//! Each check is a function from text to the list of what is wrong, so that it
//! can be shown to find something; the tests at the end do that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The repository; asked for at run time, as a test program built in one
/// checkout may be found fresh in another.
fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests").into()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Folders directly under one, as paths from the root with a slash at the end;
/// without hidden ones and without build output.
fn folders(under: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(under)).unwrap();
    let entries = entries.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let names = names.filter(|name| !name.starts_with('.') && name != "target");
    names.map(|name| format!("{under}{name}/")).collect()
}

#[test]
fn every_path_in_the_architecture_page_exists() {
    let wrong = missing(&read("ARCHITECTURE.md"), |path| {
        let full = root().join(path);
        if path.ends_with('/') { full.is_dir() } else { full.is_file() }
    });
    assert!(wrong.is_empty(), "ARCHITECTURE.md names paths that do not exist: {wrong:?}");
}

#[test]
fn every_folder_is_in_the_architecture_page() {
    let present: Vec<String> = [folders(""), folders("crates/")].concat();
    let wrong = unnamed(&read("ARCHITECTURE.md"), &present);
    assert!(wrong.is_empty(), "ARCHITECTURE.md does not name these folders: {wrong:?}");
}

#[test]
fn crates_use_only_what_their_row_allows() {
    let page = read("ARCHITECTURE.md");
    let packages =
        [folders("crates/"), vec!["src/".into(), "fuzz/".into(), "xtask/".into()]].concat();
    let manifests = packages.into_iter().map(|folder| {
        let manifest =
            if folder == "src/" { "Cargo.toml".into() } else { format!("{folder}Cargo.toml") };
        (folder, read(manifest))
    });
    let wrong = forbidden(&rows(&page), &manifests.collect::<Vec<_>>());
    assert!(wrong.is_empty(), "dependencies against the table of ARCHITECTURE.md: {wrong:#?}");
}

#[test]
fn rows_use_only_rows_above() {
    let wrong = upward(&rows(&read("ARCHITECTURE.md")));
    assert!(wrong.is_empty(), "in the table of ARCHITECTURE.md: {wrong:#?}");
}

#[test]
fn rooms_of_a_crate_use_each_other_one_way() {
    let mut crates = folders("crates/");
    crates.extend(["".into(), "fuzz/".into(), "xtask/".into()]);
    for folder in crates {
        let wrong = cycles(&uses(&sources(&root().join(&folder).join("src"))));
        assert!(wrong.is_empty(), "{folder}src/: rooms that need each other: {wrong:#?}");
    }
}

#[test]
fn every_room_of_simulate_is_in_the_architecture_page() {
    let wrong = unnamed(&read("ARCHITECTURE.md"), &folders("crates/simulate/src/"));
    assert!(wrong.is_empty(), "ARCHITECTURE.md does not name these folders: {wrong:?}");
}

#[test]
fn every_identifier_in_the_notation_page_is_in_the_code() {
    let mut sources = String::new();
    for folder in folders("crates/") {
        append_sources(&root().join(folder).join("src"), &mut sources);
    }
    let wrong = unknown_identifiers(&read("docs/notation.md"), &sources);
    assert!(wrong.is_empty(), "docs/notation.md names what no crate has: {wrong:?}");
}

#[test]
fn the_dependencies_page_and_the_manifest_name_the_same_packages() {
    let wrong = unexplained(&read("Cargo.toml"), &read("docs/dependencies.md"));
    assert!(wrong.is_empty(), "in one of Cargo.toml and docs/dependencies.md only: {wrong:?}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for folder in ["", "docs/"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let wrong =
                    dead_links(&read(&path), |link| root().join(folder).join(link).exists());
                assert!(wrong.is_empty(), "{}: dead links: {wrong:?}", path.display());
            }
        }
    }
}

/// Every Rust file below a folder, by its path in there.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut list = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                list.push((name.replace('\\', "/"), read(&path)));
            }
        }
    }
    list.sort();
    list
}

/// Appends every Rust file below a folder.
fn append_sources(folder: &Path, sources: &mut String) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            append_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&read(path));
        }
    }
}

/// The words in backticks, outside indented and fenced code.
fn quoted(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut words = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            words.extend(line.split('`').skip(1).step_by(2));
        }
    }
    words
}

/// The words in backticks that are paths: they hold a slash and no space.
fn paths(page: &str) -> Vec<&str> {
    quoted(page).into_iter().filter(|word| word.contains('/') && !word.contains(' ')).collect()
}

/// Paths a page names that do not exist.
fn missing(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    paths(page).into_iter().filter(|path| !exists(path)).map(str::to_owned).collect()
}

/// Folders that exist and that a page does not name.
fn unnamed(page: &str, folders: &[String]) -> Vec<String> {
    let named: BTreeSet<&str> = paths(page).into_iter().collect();
    folders.iter().filter(|folder| !named.contains(folder.as_str())).cloned().collect()
}

/// A row of the table of packages.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    folder: String,
    may_use: Vec<String>,
}

impl Row {
    /// The package's short name: `dalembert` for the root, else the folder's.
    fn name(&self) -> &str {
        let folder = self.folder.trim_end_matches('/');
        if folder == "src" { "dalembert" } else { folder.rsplit('/').next().unwrap_or(folder) }
    }
}

/// The table under `| folder | room | may use |`.
fn rows(page: &str) -> Vec<Row> {
    let lines = page.lines().skip_while(|line| *line != "| folder | room | may use |");
    let lines = lines.skip(2).take_while(|line| line.starts_with('|'));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [folder, _, may_use] = cells[..] else { panic!("three cells are expected: {line}") };
    let may_use = may_use.split(',').map(str::trim).filter(|name| *name != "–");
    Row {
        folder: folder.trim_matches('`').to_owned(),
        may_use: may_use.map(str::to_owned).collect(),
    }
}

/// Packages of ours that a manifest depends on, by short name; those that only
/// its tests use do not count.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(heading) = line.strip_prefix('[') {
            section = heading.trim_end_matches(']');
            // `[dependencies.NAME]`
            if let Some((table, name)) = section.rsplit_once('.') {
                found.extend(ours(name).filter(|_| is_dependencies(table)));
            }
        } else if is_dependencies(section) {
            // `NAME.workspace = true`, `NAME = { … }`, `OTHER = { package = "NAME", … }`
            let renamed =
                line.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
            let key = line.split(['.', ' ', '=']).next();
            found.extend(renamed.or(key).and_then(ours));
        }
    }
    found
}

/// `[dependencies]`, `[build-dependencies]`, `[target.….dependencies]`; neither
/// `[dev-dependencies]` nor `[workspace.dependencies]`.
fn is_dependencies(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or(section);
    matches!(last, "dependencies" | "build-dependencies") && !section.starts_with("workspace")
}

fn ours(package: &str) -> Option<String> {
    match package.strip_prefix("dalembert-") {
        Some(short) => Some(short.to_owned()),
        None => (package == "dalembert").then(|| package.to_owned()),
    }
}

/// Packages without a row, and dependencies their row does not allow.
fn forbidden(rows: &[Row], manifests: &[(String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (folder, manifest) in manifests {
        let Some(row) = rows.iter().find(|row| row.folder == *folder) else {
            wrong.push(format!("{folder} has no row"));
            continue;
        };
        let used = dependencies(manifest).into_iter().filter(|name| !row.may_use.contains(name));
        wrong.extend(used.map(|name| format!("{folder} may not use {name}")));
    }
    wrong
}

/// Uses of rows that do not stand above.
fn upward(rows: &[Row]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let above: Vec<&str> = rows[..i].iter().map(Row::name).collect();
        let used = row.may_use.iter().filter(|name| !above.contains(&name.as_str()));
        wrong.extend(used.map(|name| format!("{} uses {name}, which is not above it", row.folder)));
    }
    wrong
}

/// Which rooms of a crate use which, each with a file that does. A room is a file or a folder
/// directly under `src`; the root is none, since it only gathers, and tests may use everything.
fn uses(files: &[(String, String)]) -> BTreeMap<(String, String), String> {
    let (mut rooms, mut gathered) = (BTreeSet::new(), BTreeMap::new());
    for (name, text) in files {
        match module(name).first() {
            Some(room) => drop(rooms.insert((*room).to_owned())),
            // `pub use room::{Name, …}`
            None => gathered.extend(names_of_root(text)),
        }
    }
    let mut found = BTreeMap::new();
    for (name, text) in files {
        let place = module(name);
        if place.first().is_none_or(|room| *room == "tests") || name.contains("/tests") {
            continue;
        }
        for used in roots_used(&place, text) {
            let room = if rooms.contains(&used) { Some(&used) } else { gathered.get(&used) };
            if let Some(room) = room.filter(|room| *room != place[0] && rooms.contains(*room)) {
                found.entry((place[0].to_owned(), room.clone())).or_insert_with(|| name.clone());
            }
        }
    }
    found
}

/// The module of a file: `a/mod.rs` is `a`, `a/b.rs` is `a::b`, `lib.rs` the root.
fn module(name: &str) -> Vec<&str> {
    let mut place: Vec<&str> = name.trim_end_matches(".rs").split('/').collect();
    place.pop_if(|last| matches!(*last, "mod" | "lib" | "main"));
    place
}

/// Code without comments, up to the tests at the end of a file.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// What `pub use room::…` in the root makes a name of the root, and of which room.
fn names_of_root(text: &str) -> Vec<(String, String)> {
    let code = code(text);
    let mut names = Vec::new();
    for statement in code.split("use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or(statement);
        let Some((room, rest)) = statement.split_once("::") else { continue };
        let words = rest.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        names.extend(words.filter(|w| !w.is_empty()).map(|w| (w.to_owned(), room.to_owned())));
    }
    names
}

/// The names directly under the root that a file of a module speaks of, by `crate::` or by as
/// many `super::` as lead there.
fn roots_used(place: &[&str], text: &str) -> BTreeSet<String> {
    let code = code(text);
    let to_root = "super::".repeat(place.len());
    let mut used = BTreeSet::new();
    for (prefix, longer) in [("crate::", ""), (to_root.as_str(), "super::")] {
        for (at, _) in code.match_indices(prefix) {
            let (before, rest) = (&code[..at], &code[at + prefix.len()..]);
            let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
            if !is_whole || (!longer.is_empty() && before.ends_with(longer)) {
                continue;
            }
            used.extend(heads(rest));
        }
    }
    used
}

/// The first names of what follows `crate::`: one, or those of a list in braces.
fn heads(rest: &str) -> Vec<String> {
    let word = |text: &str| {
        let text = text.trim_start();
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        text[..end].to_owned()
    };
    let Some(list) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut depth, mut heads, mut start) = (0, Vec::new(), 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            ',' if depth == 0 => {
                heads.push(word(&list[start..at]));
                start = at + 1;
            }
            '}' if depth == 0 => {
                heads.push(word(&list[start..at]));
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

/// Uses between rooms that lead back to where they came from.
fn cycles(uses: &BTreeMap<(String, String), String>) -> Vec<String> {
    let reaches = |from: &str, to: &str| {
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(room) = open.pop() {
            let next = uses.keys().filter(|(user, _)| user == room).map(|(_, used)| used.as_str());
            open.extend(next.filter(|used| seen.insert(*used)));
        }
        seen.contains(to)
    };
    let back = uses.iter().filter(|((user, used), _)| reaches(used, user));
    back.map(|((user, used), file)| format!("{user} uses {used} ({file})")).collect()
}

/// Identifiers in the column `in code` of a page's tables that are no words of the sources.
fn unknown_identifiers(page: &str, sources: &str) -> Vec<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let known: BTreeSet<&str> = sources.split(|c| !word(c)).collect();
    let mut column = None;
    let mut wrong = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            column = None;
        } else if let Some(found) = cells.iter().position(|cell| *cell == "in code") {
            column = Some(found);
        } else if let Some(cell) = column.and_then(|column| cells.get(column)) {
            let identifiers = quoted(cell).into_iter().flat_map(|word| word.split("::"));
            let unknown = identifiers.filter(|identifier| !known.contains(identifier));
            wrong.extend(unknown.map(str::to_owned));
        }
    }
    wrong
}

/// Packages that are in a manifest's `[workspace.dependencies]`, or in the first
/// column of the page's table of packages, but not in both.
fn unexplained(manifest: &str, page: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]");
    let lines = lines.skip(1).take_while(|line| !line.starts_with('['));
    let keys = lines.filter_map(|line| line.split_once([' ', '=', '.'])).map(|(key, _)| key);
    let used: BTreeSet<&str> =
        keys.filter(|key| !key.starts_with('#') && ours(key).is_none()).collect();
    let table = page.lines().skip_while(|line| !line.starts_with("| package |")).skip(2);
    let table = table.take_while(|line| line.starts_with('|'));
    let explained: BTreeSet<&str> = table.filter_map(|line| line.split('`').nth(1)).collect();
    used.symmetric_difference(&explained).map(|name| (*name).to_owned()).collect()
}

/// Relative links of a page that lead nowhere.
fn dead_links(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    let files = files.map(|target| target.split('#').next().unwrap_or(target));
    files.filter(|file| !exists(file)).map(str::to_owned).collect()
}

const PAGE: &str = "\
Text with `a/`, `b/c.rs`, `no path`, and `A v = b`.

    `not/this/`, it is code

| folder | room | may use |
|---|---|---|
| `crates/expr/` | expressions | – |
| `crates/model/` | the language | expr |
| `src/` | everything | expr, model |

| folder | something else |
";

#[test]
fn a_missing_path_is_found() {
    assert_eq!(paths(PAGE), ["a/", "b/c.rs", "crates/expr/", "crates/model/", "src/"]);
    assert_eq!(missing(PAGE, |path| path != "b/c.rs"), ["b/c.rs"]);
}

#[test]
fn an_unnamed_folder_is_found() {
    assert_eq!(unnamed(PAGE, &["a/".into(), "crates/derive/".into()]), ["crates/derive/"]);
}

#[test]
fn a_forbidden_dependency_is_found() {
    let manifest = "\
[workspace.dependencies]
dalembert-export = { path = \"crates/export\" }
[dependencies]
dalembert-model.workspace = true
smallvec = \"1\"
[dependencies.dalembert-derive]
workspace = true
[target.'cfg(unix)'.dependencies]
other = { package = \"dalembert\", path = \"..\" }
[dev-dependencies]
dalembert-cli.workspace = true
";
    assert_eq!(dependencies(manifest), ["model", "derive", "dalembert"]);
    let manifests =
        [("crates/expr/".to_owned(), manifest.to_owned()), ("fuzz/".to_owned(), String::new())];
    assert_eq!(
        forbidden(&rows(PAGE), &manifests),
        [
            "crates/expr/ may not use model",
            "crates/expr/ may not use derive",
            "crates/expr/ may not use dalembert",
            "fuzz/ has no row",
        ]
    );
}

#[test]
fn a_row_that_uses_one_below_is_found() {
    let mut rows = rows(PAGE);
    assert_eq!(rows.len(), 3);
    assert!(upward(&rows).is_empty());
    rows.swap(0, 1);
    assert_eq!(upward(&rows), ["crates/model/ uses expr, which is not above it"]);
}

#[test]
fn rooms_that_need_each_other_are_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let mut files = vec![
        file("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::{C, See};\n"),
        file("a/mod.rs", "use super::b::X; // crate::c\nuse super::super::no;\n"),
        file("a/deep.rs", "use super::own;\n"),
        file("b.rs", "use crate::{c::d::{e, f}, other};\n#[cfg(test)]\nmod tests {\nuse crate::a;"),
        file("b/tests/one.rs", "use crate::a;\n"),
        file("c.rs", "fn f() {}\n"),
    ];
    let found: Vec<_> = uses(&files).into_keys().collect();
    assert_eq!(found, [("a".into(), "b".into()), ("b".into(), "c".into())]);
    assert!(cycles(&uses(&files)).is_empty());
    files[2].1 = "fn f(x: &super::super::See) {}\n".into();
    assert!(uses(&files).contains_key(&("a".into(), "c".into())));
    files[5].1 = "fn f() { crate::a::g() }\n".into();
    assert_eq!(
        cycles(&uses(&files)),
        ["a uses b (a/mod.rs)", "a uses c (a/deep.rs)", "b uses c (b.rs)", "c uses a (c.rs)"]
    );
}

#[test]
fn an_unknown_identifier_is_found() {
    let page = "| symbol | in code |\n|---|---|\n| M | `metric` |\n| r | `Rank::found`, none |\n\n`free`\n";
    assert_eq!(unknown_identifiers(page, "struct Rank { metric_of: u8 } // found"), ["metric"]);
}

#[test]
fn an_unexplained_dependency_is_found() {
    let manifest = "[workspace.dependencies]\ndalembert = { path = \".\" }\n\n# why\nclap = \"4\"\nserde = \"1\"\n[profile.dev]\nx = 1\n";
    let page = "| package | why |\n|---|---|\n| `clap` | arguments |\n| `rug` | numbers |\n";
    assert_eq!(unexplained(manifest, page), ["rug", "serde"]);
}

#[test]
fn a_dead_link_is_found() {
    let page = "[a](a.md#part), [b](b.md), [c](https://example.org/c), [d](#here)";
    assert_eq!(dead_links(page, |file| file == "a.md"), ["b.md"]);
}
