//! Comma-separated values: a header, then a line a row with all digits; nothing
//! between two commas where there is no value. Lines are written whole.

use super::{Output, RowSink};
use std::fmt::Write as _;
use std::io;

struct Csv {
    out: Box<dyn Output>,
    lines: String,
}

pub(super) fn open(out: Box<dyn Output>, names: &[String]) -> io::Result<Box<dyn RowSink>> {
    let quoted: Vec<String> = names.iter().map(|n| quote(n)).collect();
    let mut sink = Csv { out, lines: quoted.join(",") + "\n" };
    sink.flush()?;
    Ok(Box::new(sink))
}

impl RowSink for Csv {
    fn row(&mut self, values: &[f64]) -> io::Result<()> {
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.lines.push(',');
            }
            if value.is_finite() {
                let _ = write!(self.lines, "{value:?}");
            }
        }
        self.lines.push('\n');
        if self.lines.len() >= 1 << 16 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.lines.as_bytes())?;
        self.lines.clear();
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
