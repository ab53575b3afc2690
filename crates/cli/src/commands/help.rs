//! `dal help`: the language on a page, or what a command is for.

use crate::Status;
use crate::args::{Args, Help};
use crate::report::{data, say};
use clap::CommandFactory;

pub(crate) fn run(args: &Help) -> Status {
    let mut program = Args::command();
    program.build();
    let topic = args.topic.as_deref();
    if topic == Some("language") {
        data(plain(dalembert::book::LANGUAGE).trim_end());
        return Status::Fine;
    }
    let found = match topic {
        Some(topic) => program.find_subcommand_mut(topic),
        None => Some(&mut program),
    };
    match (found, topic) {
        (Some(command), _) => {
            data(command.render_long_help().to_string().trim_end());
            Status::Fine
        }
        (None, topic) => {
            let topic = topic.unwrap_or_default();
            say(&format!(
                "error: there is no help on `{topic}`; `dal help` lists the commands, \
                 `dal help language` has the language, `dal explain` the diagnostics"
            ));
            Status::WrongUsage
        }
    }
}

/// Markdown as text for a terminal: without fences, marks of headings and targets of links.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut fenced = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            text.push_str("  ");
            text.push_str(line);
        } else {
            text.push_str(&without_links(line.trim_start_matches('#').trim_start()));
        }
        text.push('\n');
    }
    text
}

/// `[words](target)` becomes `words`.
fn without_links(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((words, (_, behind))) = before.rsplit_once('[').zip(after.split_once(')')) else {
            break;
        };
        text.push_str(words.0);
        text.push_str(words.1);
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_markdown_are_left_out() {
        let page = "# A\n\nSee [the page](a.md#b) and x[1](t).\n\n```dal\ncoord x # one\n```\n";
        assert_eq!(plain(page), "A\n\nSee the page and x1.\n\n  coord x # one\n");
    }
}
