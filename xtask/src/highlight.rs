//! Models and consoles in HTML: words of statements, comments, commands.

/// Text with the characters of HTML written out.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A model: `<b>` around the word of a statement, `<i>` around a comment.
pub fn model(code: &str) -> String {
    let mut html = String::new();
    for line in code.split_inclusive('\n') {
        let (statement, comment) = line.split_at(line.find('#').unwrap_or(line.len()));
        let indent = statement.len() - statement.trim_start().len();
        let word = statement[indent..].split(|c: char| !c.is_ascii_alphabetic()).next();
        // A statement begins with a word and a space; an equation has its `=` there.
        let word = word.filter(|word| {
            let rest = &statement[indent + word.len()..];
            word.len() > 2 && rest.starts_with(' ') && !rest.trim_start().starts_with('=')
        });
        let word = word.unwrap_or("");
        html += &statement[..indent];
        if !word.is_empty() {
            html += &format!("<b>{word}</b>");
        }
        html += &escaped(&statement[indent + word.len()..]);
        let (comment, end) = comment.split_at(comment.trim_end().len());
        if !comment.is_empty() {
            html += &format!("<i>{}</i>", escaped(comment));
        }
        html += end;
    }
    html
}

/// A console: `<b>` around commands.
pub fn console(code: &str) -> String {
    let mut html = String::new();
    for line in code.split_inclusive('\n') {
        match line.strip_prefix("$ ") {
            Some(command) => html += &format!("<i>$</i> <b>{}</b>\n", escaped(command.trim_end())),
            None => html += &escaped(line),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_comments_stand_out() {
        assert_eq!(
            model("coord x\n  force a < b # c\n"),
            "<b>coord</b> x\n  <b>force</b> a &lt; b <i># c</i>\n"
        );
        assert_eq!(model("pull = 1\n+ 2\n"), "pull = 1\n+ 2\n");
        assert_eq!(console("$ dal check\nok\n"), "<i>$</i> <b>dal check</b>\nok\n");
    }
}
