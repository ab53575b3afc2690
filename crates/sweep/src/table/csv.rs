//! Tables of text: a line of names, then a line for each case.

use super::Table;

/// Names and numbers, row after row; words on what is wrong, with its line.
pub fn read_csv(text: &str) -> Result<Table, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, head)) = lines.next() else { return Err("the table is empty".to_owned()) };
    let names = fields(head);
    if let Some(name) = names.iter().find(|name| name.is_empty() || name.parse::<f64>().is_ok()) {
        return Err(format!("line 1 has the names of what is varied, and `{name}` is none"));
    }
    if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(format!("`{}` is there twice", names[at]));
    }
    let mut values = Vec::new();
    for (number, line) in lines {
        let row = fields(line);
        if row.len() != names.len() {
            let (found, expected) = (row.len(), names.len());
            return Err(format!("line {} has {found} values, not {expected}", number + 1));
        }
        for field in row {
            match field.parse::<f64>() {
                Ok(value) if value.is_finite() => values.push(value),
                _ => return Err(format!("line {}: `{field}` is no number", number + 1)),
            }
        }
    }
    match values.is_empty() {
        true => Err("the table has no rows".to_owned()),
        false => Ok((names, values)),
    }
}

/// The fields of a line; names with commas are quoted.
fn fields(line: &str) -> Vec<String> {
    let (mut found, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => found.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    found.push(field);
    found.iter().map(|field| field.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::read_csv;

    #[test]
    fn tables_are_read() {
        let (names, values) = read_csv("m,\"th[1,2]'\"\n1,2e-3\n\n 3 , -4\n").unwrap();
        assert_eq!(names, ["m", "th[1,2]'"]);
        assert_eq!(values, [1.0, 2e-3, 3.0, -4.0]);
        let wrong = [
            ("", "empty"),
            ("m\n", "no rows"),
            ("1,2\n3,4\n", "`1` is none"),
            ("m,m\n1,2\n", "twice"),
            ("m,k\n1\n", "line 2 has 1 values, not 2"),
            ("m\n1\nx\n", "line 3: `x` is no number"),
            ("m\nNaN\n", "`NaN` is no number"),
        ];
        for (text, expected) in wrong {
            let error = read_csv(text).unwrap_err();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
