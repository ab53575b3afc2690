//! Files that take a trajectory row by row, one file a format.
//!
//! A run may be stopped, and its process may be killed. So a file is readable
//! after each [`RowSink::flush`], not only at the end: what closes it (a bracket, a
//! footer) is written with the rows, and the next rows are written over it.

use std::io::{self, Seek, Write};

mod arrow;
mod csv;
mod flat;
mod json;
mod parquet;
mod patched;
mod thrift;

/// What a table is written to.
pub trait Output: Write + Seek {}

impl<T: Write + Seek> Output for T {}

/// A table being written. A value that is not a number is missing from it.
pub trait RowSink {
    /// Takes one row.
    fn row(&mut self, values: &[f64]) -> io::Result<()>;

    /// Makes a readable file of all rows so far.
    fn flush(&mut self) -> io::Result<()>;

    /// Ends the file.
    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

/// Begins a table with these columns.
pub type Open = fn(Box<dyn Output>, &[String]) -> io::Result<Box<dyn RowSink>>;

/// A kind of file.
pub struct Format {
    /// The ending of the file's name.
    pub ending: &'static str,
    /// Begins a table with these columns.
    pub open: Open,
}

macro_rules! sinks {
    ($($module:ident,)*) => {
        /// Every kind of file.
        pub const ALL: &[Format] =
            &[$(Format { ending: stringify!($module), open: $module::open },)*];
    };
}

sinks! {
    csv,
    json,
    parquet,
    arrow,
}

/// The kind of file that has this ending, whatever its case.
pub fn by_ending(ending: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.ending.eq_ignore_ascii_case(ending))
}

/// Rows kept as columns until there are enough of them for a block.
struct Block {
    columns: Vec<Vec<f64>>,
    rows: usize,
    most: usize,
}

impl Block {
    /// Blocks of 2 MiB or so, so that wide tables need no more memory
    /// than narrow ones.
    fn new(columns: usize) -> Block {
        let most = ((1 << 18) / columns.max(1)).clamp(1 << 8, 1 << 16);
        Block { columns: vec![Vec::new(); columns], rows: 0, most }
    }

    fn push(&mut self, values: &[f64]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(*value);
        }
        self.rows += 1;
    }

    fn is_full(&self) -> bool {
        self.rows >= self.most
    }

    fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.rows = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::io::{Cursor, SeekFrom};
    use std::rc::Rc;

    /// A file in memory that can be looked at while it is written.
    #[derive(Clone, Default)]
    struct Memory(Rc<RefCell<Cursor<Vec<u8>>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Memory {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.borrow_mut().seek(to)
        }
    }

    impl Memory {
        fn bytes(&self) -> Vec<u8> {
            self.0.borrow().get_ref().clone()
        }
    }

    /// What a table of so many rows looks like, flushed after every so many of them.
    fn write(format: &Format, rows: usize, every: usize) -> Vec<u8> {
        let memory = Memory::default();
        let names = ["t", "pin[3,2]", "lost"].map(str::to_owned);
        let mut sink = (format.open)(Box::new(memory.clone()), &names).expect("memory");
        let mut length = memory.bytes().len();
        for row in 1..=rows {
            let t = 0.1 * row as f64;
            let last = if row % 3 == 0 { f64::NAN } else { f64::INFINITY };
            sink.row(&[t, if row % 7 < 3 { f64::NAN } else { -t }, last]).expect("memory");
            if row % every == 0 {
                sink.flush().expect("memory");
                assert!(memory.bytes().len() >= length, "a file never becomes shorter");
                length = memory.bytes().len();
            }
        }
        sink.finish().expect("memory");
        memory.bytes()
    }

    #[test]
    fn the_file_does_not_depend_on_when_it_was_flushed() {
        for format in ALL {
            for (rows, every) in [(0, 1), (1, 1), (100, 1), (100, 7), (70_000, 20_000)] {
                let (often, once) = (write(format, rows, every), write(format, rows, rows + 1));
                assert!(often == once, "{}: {rows} rows, every {every}", format.ending);
            }
        }
    }

    #[test]
    fn names_with_commas_are_quoted_and_missing_values_empty() {
        let csv = write(by_ending("CSV").expect("it is known"), 3, 1);
        let text = String::from_utf8(csv).expect("text");
        assert_eq!(
            text,
            "t,\"pin[3,2]\",lost\n0.1,,\n0.2,,\n0.30000000000000004,-0.30000000000000004,\n"
        );
    }

    #[test]
    fn json_is_an_object_after_every_flush() {
        let json = write(by_ending("json").expect("it is known"), 3, 1);
        let value: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        assert_eq!(value["columns"], serde_json::json!(["t", "pin[3,2]", "lost"]));
        assert_eq!(value["rows"][1], serde_json::json!([0.2, null, null]));
        let empty = write(by_ending("json").expect("it is known"), 0, 1);
        let value: serde_json::Value = serde_json::from_slice(&empty).expect("JSON");
        assert_eq!(value["rows"], serde_json::json!([]));
    }
}
