//! The book in `docs/book` is true of the library: every model in it does what the page
//! says, every word of the language is in the reference, every link leads somewhere.
//! What the book says of the program `dal` is held against it in `crates/cli/tests`.

#[path = "support/book.rs"]
mod book;

use book::{Block, Chapter, anchors, blocks, chapters, folder, links, models, quoted_words};
use dalembert::checks::{self, CheckOutcome};
use dalembert::model::codes;
use dalembert::model::lexicon;
use dalembert::model::load::Syntax;
use dalembert::model::parser;
use dalembert::model::span::SourceId;
use dalembert::simulate::Setting;
use dalembert::simulate::report::{self, Options as EvalOptions};
use dalembert::simulate::run::{RunOptions, run};
use dalembert::{Diagnostic, Input, Loaded, Options, Severity};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// What is wrong with a model of the book, in words; nothing if it is as the page says.
fn wrong(block: &Block, model: &str, check_lines: &str, files: Option<&Path>) -> Option<String> {
    let text = format!("```dal\n{model}```\n\n```check\n{check_lines}```\n");
    let input = Input {
        name: block.place.clone(),
        text,
        syntax: Syntax::Markdown,
        folder: files.map(Path::to_owned),
    };
    let mut loaded = dalembert::load(&input, &Options::default());
    let found = loaded.diagnostics.iter().chain(&dalembert::lint(&loaded)).cloned().collect();
    if let Some(why) = unexpected(block, found, &loaded) {
        return Some(why);
    }
    if block.value("fault").is_some() {
        return None;
    }
    if let Err(faults) = dalembert::derive(loaded.model.as_ref()?, None) {
        return Some(format!("does not derive: {}", faults[0].message));
    }
    for result in checks::run(&loaded) {
        if !matches!(result.outcome, CheckOutcome::Holds(_)) {
            let line = input.text.get(result.span.start as usize..result.span.end as usize);
            return Some(format!("{}: {:?}", line.unwrap_or("?"), result.outcome));
        }
    }
    numbers(&mut loaded, model.lines().any(|line| line.starts_with("run ")))
}

/// Diagnostics beyond the one that the block announces, or that one missing.
fn unexpected(block: &Block, found: Vec<Diagnostic>, loaded: &Loaded) -> Option<String> {
    let expected: Vec<&str> =
        [block.value("fault"), block.value("warning")].into_iter().flatten().collect();
    let (announced, mut others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|d| expected.contains(&d.code.name()));
    // A note is worth knowing; nothing is wrong.
    others.retain(|d| d.severity != Severity::Note);
    for name in &expected {
        let is_fault = block.value("fault") == Some(*name);
        let it = announced.iter().find(|d| d.code.name() == *name);
        if it.is_none_or(|d| (d.severity == Severity::Fault) != is_fault) {
            return Some(format!("yields no `{name}`"));
        }
    }
    let shown = dalembert::model::render::render(&others, &loaded.sources, false);
    (!others.is_empty()).then_some(shown)
}

/// A model that has all its numbers has a start, and one that says `run` runs.
fn numbers(loaded: &mut Loaded, runs: bool) -> Option<String> {
    let model = loaded.model.as_mut()?;
    if Setting::new(model).is_err() {
        return None;
    }
    let options = EvalOptions::of_model(model);
    match report::report(model, &options) {
        // What touches has its equations in each phase: its run tells.
        Err(_) if model.system.wants_phase() => {}
        Ok(found) if found.answers.iter().any(|a| a.result.is_ok()) => {}
        Ok(_) => return Some("has no accelerations at its start".to_owned()),
        Err(_) => return Some("has no start".to_owned()),
    }
    if !runs {
        return None;
    }
    let setting = Setting::new(model).ok()?;
    match run(&setting, &RunOptions::of_model(&setting), &mut |_| ControlFlow::Continue(())) {
        Ok(finished) => finished.verdict().err().map(|why| format!("the run: {why:?}")),
        Err(_) => Some("does not run".to_owned()),
    }
}

/// Every model of the book, complete or a fragment, right or wrong.
#[test]
fn every_model_is_as_the_page_says() {
    let (mut count, mut faults) = (0, Vec::new());
    for chapter in chapters() {
        let blocks = blocks(&chapter);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("book").join(&chapter.file);
        std::fs::create_dir_all(&folder).expect("a folder");
        for (block, model, check_lines) in models(&blocks) {
            if let Some(file) = block.value("file") {
                std::fs::write(folder.join(file), &model).expect("a file");
            }
            count += 1;
            if let Some(why) = wrong(block, &model, &check_lines, Some(&folder)) {
                faults.push(format!("{}: {why}", block.place));
            }
        }
        for block in blocks.iter().filter(|b| b.language == "dal" && b.has("parsed")) {
            count += 1;
            let mut found = Vec::new();
            parser::parse(SourceId(0), &block.text, false, &mut found);
            faults.extend(found.first().map(|d| format!("{}: {}", block.place, d.message)));
        }
    }
    println!("{count} models");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(count >= 60, "only {count} models");
}

/// A block of a kind that no test knows would be a snippet that nothing checks.
#[test]
fn every_block_is_of_a_kind_that_is_checked() {
    // Those of Python are run by python/tests/test_docs.py.
    let known = ["dal", "check", "sh", "console", "text", "python"];
    let marks = ["fragment", "parsed", "fault", "warning", "file", "exit"];
    for chapter in chapters() {
        for block in blocks(&chapter) {
            assert!(
                known.contains(&block.language.as_str()),
                "{}: {}",
                block.place,
                block.language
            );
            for mark in &block.marks {
                let key = mark.split('=').next().unwrap_or("");
                assert!(marks.contains(&key), "{}: {mark}", block.place);
            }
            if let Some(code) = block.value("fault").or(block.value("warning")) {
                assert!(codes::Code::from_name(code).is_some(), "{}: {code}", block.place);
            }
        }
    }
}

/// The index lists every page of the folder once, and nothing else.
#[test]
fn the_index_lists_every_chapter_once() {
    let mut listed: Vec<String> = chapters().into_iter().map(|c| c.file).collect();
    let entries = std::fs::read_dir(folder()).expect("the book's folder").flatten();
    let mut present: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    listed.sort();
    present.sort();
    assert_eq!(listed, present);
}

/// Links to files, and to headings in chapters, that do not exist.
fn dead_links(chapter: &Chapter, all: &[Chapter]) -> Vec<String> {
    let mut dead = Vec::new();
    for (link, line) in links(&chapter.text) {
        if link.starts_with("https://") {
            continue;
        }
        let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
        let target = if file.is_empty() { &chapter.file } else { file };
        let text = all.iter().find(|c| c.file == target).map(|c| c.text.as_str());
        let alive = text.is_some() || folder().join(target).exists();
        let found =
            heading.is_empty() || text.is_some_and(|t| anchors(t).iter().any(|a| a == heading));
        if !alive || !found {
            dead.push(format!("{}:{line}: {link}", chapter.file));
        }
    }
    dead
}

#[test]
fn links_lead_somewhere() {
    let all = chapters();
    let dead: Vec<String> = all.iter().flat_map(|chapter| dead_links(chapter, &all)).collect();
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

/// Those of the words that a chapter does not have in backticks.
fn unnamed<'w>(text: &str, words: impl IntoIterator<Item = &'w str>) -> Vec<&'w str> {
    let quoted = quoted_words(text);
    words.into_iter().filter(|word| !quoted.iter().any(|q| q == word)).collect()
}

fn chapter(file: &str) -> String {
    book::read(file)
}

/// Every statement has a heading of its own, so that it can be found and linked to.
#[test]
fn every_statement_has_its_heading() {
    let pages: String = chapters().into_iter().map(|c| c.text).collect();
    let headings: String = book::prose(&pages)
        .into_iter()
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    assert_eq!(unnamed(&headings, lexicon::STATEMENT_WORDS), Vec::<&str>::new());
}

#[test]
fn every_word_of_the_language_is_in_the_reference() {
    let functions = lexicon::FUNCTIONS.iter().map(|f| f.0);
    assert_eq!(unnamed(&chapter("functions.md"), functions), Vec::<&str>::new());
    let members = lexicon::BODY_MEMBERS.iter().chain(lexicon::PARTICLE_MEMBERS);
    let fields = lexicon::BODY_FIELDS.iter().chain(lexicon::PARTICLE_FIELDS);
    let words = members.chain(fields).copied();
    assert_eq!(unnamed(&chapter("bodies.md"), words), Vec::<&str>::new());
    let members = lexicon::JOINT_MEMBERS.iter().chain(lexicon::SPRING_MEMBERS);
    let fields = lexicon::FRAME_FIELDS.iter().chain(lexicon::JOINT_FIELDS);
    let words = lexicon::JOINT_KINDS.iter().chain(members).chain(fields).copied();
    let chapters = format!("{}{}", chapter("machines.md"), chapter("forces.md"));
    assert_eq!(unnamed(&chapters, words), Vec::<&str>::new());
    let reserved = lexicon::RESERVED.iter().copied();
    assert_eq!(unnamed(&chapter("writing.md"), reserved), Vec::<&str>::new());
    let options = lexicon::RUN_OPTIONS.iter().chain(lexicon::SHAPES).copied();
    assert_eq!(unnamed(&chapter("start-and-run.md"), options), Vec::<&str>::new());
}

#[test]
fn every_diagnostic_is_listed_and_linked() {
    let page = chapter("diagnostics.md");
    let links: Vec<String> = links(&page).into_iter().map(|(link, _)| link).collect();
    for code in codes::ALL {
        let link = format!("../../crates/model/src/codes/{}.md", code.name());
        assert!(links.contains(&link), "`{code}` is not linked in diagnostics.md");
        let row = format!("| [`{code}`]({link}) | {} |", code.title());
        assert!(page.contains(&row), "diagnostics.md should have the row\n{row}");
    }
}

#[test]
fn every_choice_of_the_program_is_named() {
    let page = chapter("commands.md");
    let formulations = dalembert::formulations::ALL.iter().map(|f| f.name());
    assert_eq!(unnamed(&page, formulations), Vec::<&str>::new());
    let eliminations = dalembert::simulate::EVERY.iter().map(|e| e.name());
    assert_eq!(unnamed(&page, eliminations), Vec::<&str>::new());
    let methods = dalembert::simulate::integrators::NAMES.iter().copied();
    assert_eq!(unnamed(&page, methods), Vec::<&str>::new());
    let stabilize = dalembert::simulate::drive::Stabilize::NAMES;
    assert_eq!(unnamed(&page, stabilize.iter().copied()), Vec::<&str>::new());
}

/// The table of what may stand where, each entry tried.
#[test]
fn what_may_stand_where_is_true() {
    const QUANTITIES: [&str; 8] =
        ["t", "y", "y'", "y''", "p_y", "multiplier(rod)", "reaction(y)", "energy"];
    const LAGRANGE: &str = "kinetic (x'^2 + y'^2)/2";
    const HAMILTON: &str = "hamiltonian (p_x^2 + p_y^2)/2";
    // The row of the table, the energy beside it, a statement with a gap.
    let rows = [
        ("`potential`", LAGRANGE, "potential x*(?)"),
        ("`kinetic`", LAGRANGE, "kinetic x'^2*(?)"),
        ("`lagrangian`", LAGRANGE, "lagrangian x'^2*(?)"),
        ("`hamiltonian`", HAMILTON, "hamiltonian p_x^2*(?)"),
        ("`dissipation`", LAGRANGE, "dissipation x'^2*(1 + (?)^2)"),
        ("`force`", LAGRANGE, "force x: ?"),
        ("`nonideal`", LAGRANGE, "nonideal x: ?"),
        ("the place after `at`", LAGRANGE, "force [1, 2] at [x, y] + [?, 0]"),
        ("the velocity after `along`", LAGRANGE, "force 1 along x' + (?)*x'"),
        ("`constraint`", LAGRANGE, "constraint more: x' = ?"),
        ("the coefficients of `speed`", LAGRANGE, "speed u = x'*(?)"),
        ("`gravity`", LAGRANGE, "gravity [0, ?]; particle b: mass 1, at [x, y]"),
        ("`mass` of a particle or body", LAGRANGE, "particle b: mass 1 + (?)^2, at [x, y]"),
        ("`at`, `turning`, `inertia` of one", LAGRANGE, "particle b: mass 1, at [x, y + (?)]"),
        ("`start`", LAGRANGE, "start x = ?"),
        ("`event`, also its resets", LAGRANGE, "event e: x = ? -> x' = ?"),
        ("`observe`", LAGRANGE, "observe z = ?"),
        ("`draw`", LAGRANGE, "draw point [x, ?]"),
        ("`param`", LAGRANGE, "param k = ?; force x: k"),
        ("`run`", LAGRANGE, "run t = 0..1, every ?"),
    ];
    let page = chapter("expressions.md");
    let table = page.split("## What may stand where").nth(1).expect("the table");
    let listed = table.lines().filter(|line| line.ends_with("yes |") || line.ends_with("– |"));
    assert_eq!(listed.count(), rows.len());
    for (name, energy, statement) in rows {
        let row = table.lines().find_map(|line| line.strip_prefix(&format!("| {name} | ")));
        let row = row.unwrap_or_else(|| panic!("no row {name}")).trim_end_matches(" |");
        let said: Vec<bool> = row.split(" | ").map(|entry| entry == "yes").collect();
        assert_eq!(said.len(), QUANTITIES.len(), "{name}");
        for (quantity, said) in QUANTITIES.into_iter().zip(said) {
            let statement = statement.replace('?', quantity);
            let text =
                format!("coord x, y\n{energy}\nconstraint rod: x^2 + y^2 = 4\n{statement}\n");
            let loaded = dalembert::load(&Input::text(name, &text), &Options::default());
            assert_eq!(!loaded.is_faulty(), said, "{statement}");
        }
    }
}

/// Those of the words that are nowhere in a text.
fn missing<'w>(text: &str, words: impl IntoIterator<Item = &'w str>) -> Vec<&'w str> {
    let part = |c: char| !(c.is_alphanumeric() || c == '_');
    words.into_iter().filter(|word| !text.split(part).any(|w| w == *word)).collect()
}

/// What `dal help language` prints has every word too, and so has the grammar.
#[test]
fn the_page_of_the_language_and_the_grammar_are_complete() {
    let text = dalembert::book::LANGUAGE;
    let words = lexicon::STATEMENT_WORDS.iter().chain(lexicon::RUN_OPTIONS);
    let words = words.chain(lexicon::SHAPES).chain(lexicon::BODY_FIELDS).copied();
    assert_eq!(missing(text, words.clone()), Vec::<&str>::new());
    assert_eq!(missing(&chapter("grammar.md"), words), Vec::<&str>::new());
    let words = lexicon::FUNCTIONS.iter().map(|f| f.0);
    let words = words.chain(lexicon::BODY_MEMBERS.iter().copied());
    assert_eq!(missing(text, words), Vec::<&str>::new());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "for a terminal");
}

/// The checks above find what is wrong.
#[test]
fn what_is_wrong_is_found() {
    let block = |marks: &[&str]| Block {
        place: "here:1".to_owned(),
        language: "dal".to_owned(),
        marks: marks.iter().map(|m| m.to_string()).collect(),
        text: String::new(),
    };
    let wrong = |block: &Block, model: &str, lines: &str| wrong(block, model, lines, None);
    let right = "coord x\nkinetic x'^2/2\npotential 2*x^2\nstart x = 1\nrun t = 0..1\n";
    assert_eq!(wrong(&block(&[]), right, "x'' = -4*x\n"), None);
    assert!(wrong(&block(&[]), right, "x'' = -5*x\n").is_some());
    assert!(wrong(&block(&[]), "coord x\nkinetic y'^2/2\n", "").is_some());
    assert!(wrong(&block(&["fault=unknown-name"]), "coord x\nkinetic y'^2/2\n", "").is_none());
    assert!(wrong(&block(&["fault=shape"]), "coord x\nkinetic y'^2/2\n", "").is_some());
    assert!(wrong(&block(&["fault=shape"]), right, "").is_some());
    let falls = "coord x\nkinetic x'^2/2\npotential -1/x\nstart x = 1\nrun t = 0..10\n";
    assert!(wrong(&block(&[]), falls, "").is_some());
    let unused = format!("param k = 1\n{right}");
    assert!(wrong(&block(&[]), &unused, "").is_some());
    assert!(wrong(&block(&["warning=unused-parameter"]), &unused, "").is_none());

    let page = |text: &str| Chapter { file: "a.md".to_owned(), text: text.to_owned() };
    let all = [page("# A b\n[x](#a-b) [y](a.md#c) [z](no.md)")];
    assert_eq!(dead_links(&all[0], &all), ["a.md:2: a.md#c", "a.md:2: no.md"]);
    assert_eq!(unnamed("`sin(x)` and cos", ["sin", "cos"]), ["cos"]);
}
