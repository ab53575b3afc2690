//! One JSON object, `{"format":1,"columns":[…],"rows":[[…],…]}`, a line a row;
//! `null` where there is no value.

use super::patched::Patched;
use super::{Output, RowSink};
use serde_json::json;
use std::fmt::Write as _;
use std::io;

const END: &[u8] = b"\n]}\n";

struct Json {
    out: Patched,
    text: String,
    is_first: bool,
}

pub(super) fn open(out: Box<dyn Output>, names: &[String]) -> io::Result<Box<dyn RowSink>> {
    let text = format!("{{\"format\":1,\"columns\":{},\n\"rows\":[", json!(names));
    let mut sink = Json { out: Patched::new(out), text, is_first: true };
    sink.flush()?;
    Ok(Box::new(sink))
}

impl RowSink for Json {
    fn row(&mut self, values: &[f64]) -> io::Result<()> {
        self.text.push_str(if self.is_first { "\n[" } else { ",\n[" });
        self.is_first = false;
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            if value.is_finite() {
                let _ = write!(self.text, "{value:?}");
            } else {
                self.text.push_str("null");
            }
        }
        self.text.push(']');
        if self.text.len() >= 1 << 16 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write(self.text.as_bytes(), END)?;
        self.text.clear();
        Ok(())
    }
}
