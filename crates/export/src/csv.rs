//! Comma-separated values: a header, then a row a time. Empty where there is no
//! value. Rows are whole at any moment, so a file of a run that was stopped is
//! readable up to there.

use std::io::{self, Write};

/// A table being written.
pub struct CsvWriter<W: Write> {
    out: W,
    line: String,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    pub fn new(mut out: W, names: &[String]) -> io::Result<CsvWriter<W>> {
        let quoted: Vec<String> = names.iter().map(|n| quote(n)).collect();
        writeln!(out, "{}", quoted.join(","))?;
        Ok(CsvWriter { out, line: String::new() })
    }

    /// Writes a row, with all digits.
    pub fn row(&mut self, values: &[f64]) -> io::Result<()> {
        use std::fmt::Write as _;
        self.line.clear();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.line.push(',');
            }
            if value.is_finite() {
                let _ = write!(self.line, "{value:?}");
            }
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())
    }

    /// Flushes.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A name that holds a comma or a quote is quoted.
fn quote(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_are_quoted_and_missing_values_empty() {
        let mut bytes = Vec::new();
        let names = ["t".to_owned(), "pin[3,2]".to_owned()];
        let mut table = CsvWriter::new(&mut bytes, &names).expect("memory");
        table.row(&[0.1, f64::NAN]).expect("memory");
        table.finish().expect("memory");
        assert_eq!(String::from_utf8(bytes).expect("text"), "t,\"pin[3,2]\"\n0.1,\n");
    }
}
