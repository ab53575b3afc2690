//! Tables of numbers in Parquet files, as pandas, pyarrow and our own studies write them.
//!
//! ```text
//! PAR1 · row groups, of each column its pages · what the file is, its length · PAR1
//! ```
//!
//! A page has definition levels (1 where there is a value), then values, as they are or as places
//! in a dictionary. Read are columns of doubles, floats and whole numbers, plain or by dictionary,
//! uncompressed or by Snappy. What else there is in the format is refused by its name, and so is a
//! value that is missing. Source: Apache Parquet, `parquet.thrift` and `Encodings.md`.

use super::Table;
use super::packed::{runs, unsnap};
use super::thrift::Thing;
use std::fmt;

const MAGIC: &[u8] = b"PAR1";
/// The most numbers of a table: a gibibyte of doubles.
const MOST: usize = 1 << 27;
/// Whole numbers up to this are doubles.
const WHOLE: u64 = 1 << 53;

/// Why a table cannot be read. Rows are counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Unreadable {
    /// It is no Parquet file.
    NoParquet,
    /// Its bytes do not fit together: where.
    Broken(&'static str),
    /// A column of another kind than numbers.
    Kind(String, &'static str),
    /// A column is compressed by what is not undone here.
    Compressed(String, &'static str),
    /// A column is encoded in a way that is not read here.
    Encoded(String, i64),
    /// A value is missing.
    Missing(String, usize),
    /// A value is no finite number, or a whole number that doubles do not have.
    NoNumber(String, usize, Odd),
    /// A name is there twice.
    Twice(String),
    /// There are no columns or no rows.
    Empty,
    /// There are more numbers than are read.
    TooMany(usize, usize),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::NoParquet => write!(f, "this is no Parquet file"),
            Unreadable::Broken(what) => write!(f, "the file is broken: {what}"),
            Unreadable::Kind(name, kind) => {
                write!(f, "column `{name}` has {kind}, and what is varied has numbers")
            }
            Unreadable::Compressed(name, how) => write!(
                f,
                "column `{name}` is compressed by {how}; write the table with Snappy, or \
                 uncompressed"
            ),
            Unreadable::Encoded(name, how) => write!(
                f,
                "column `{name}` has the encoding {how} of the format; write it plain or with a \
                 dictionary"
            ),
            Unreadable::Missing(name, row) => {
                write!(f, "row {row} has no value for `{name}`; a case has all of them")
            }
            Unreadable::NoNumber(name, row, value) => {
                write!(f, "row {row}: `{name}` is {value}, which is no finite double")
            }
            Unreadable::Twice(name) => write!(f, "`{name}` is there twice"),
            Unreadable::Empty => write!(f, "the table has no rows"),
            Unreadable::TooMany(rows, columns) => {
                write!(f, "{rows} rows of {columns} columns are more than {MOST} numbers")
            }
        }
    }
}

impl std::error::Error for Unreadable {}

/// What stands where a finite double should.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Odd {
    /// Infinite, or not a number.
    Double(f64),
    /// A whole number that doubles do not have.
    Whole(i128),
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Odd::Double(value) => write!(f, "{value}"),
            Odd::Whole(value) => write!(f, "{value}"),
        }
    }
}

/// A value, or what is there instead.
type Found = Result<f64, Odd>;

/// A column as the schema has it.
struct Column {
    name: String,
    kind: Kind,
    /// Whether values may be missing.
    is_optional: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    I32,
    U32,
    I64,
    U64,
    Float,
    Double,
}

/// Names and numbers of a Parquet file, row after row.
pub fn read_parquet(bytes: &[u8]) -> Result<Table, Unreadable> {
    let file = footer(bytes)?;
    let columns = schema(&file)?;
    let groups = file.list(4);
    let rows = groups.iter().try_fold(0usize, |sum, group| sum.checked_add(group.count(3)?));
    let rows = rows.ok_or(Unreadable::Broken("numbers of rows"))?;
    let width = columns.len();
    if rows == 0 || width == 0 {
        return Err(Unreadable::Empty);
    }
    if rows.checked_mul(width).is_none_or(|numbers| numbers > MOST) {
        return Err(Unreadable::TooMany(rows, width));
    }
    let mut values = vec![0.0; rows * width];
    let mut first = 0;
    for group in groups {
        let count = group.count(3).unwrap_or(0);
        let chunks = group.list(1);
        if chunks.len() != width {
            return Err(Unreadable::Broken("columns of a group"));
        }
        for (at, (column, chunk)) in columns.iter().zip(chunks).enumerate() {
            let mut row = first;
            let meta =
                chunk.field(3).ok_or(Unreadable::Broken("a column without its description"))?;
            Chunk { bytes, column, first }.read(meta, count, &mut |value| {
                values[row * width + at] = value;
                row += 1;
            })?;
        }
        first += count;
    }
    Ok((columns.into_iter().map(|column| column.name).collect(), values))
}

/// What a file says of itself.
fn footer(bytes: &[u8]) -> Result<Thing<'_>, Unreadable> {
    let inside = bytes.strip_prefix(MAGIC).and_then(|rest| rest.strip_suffix(MAGIC));
    let (rest, length) =
        inside.and_then(|rest| rest.split_last_chunk::<4>()).ok_or(Unreadable::NoParquet)?;
    let length = u32::from_le_bytes(*length) as usize;
    let broken = Unreadable::Broken("its footer");
    let first = rest.len().checked_sub(length).ok_or_else(|| broken.clone())?;
    Thing::read(&rest[first..]).map(|read| read.0).ok_or(broken)
}

/// The columns: all directly under the root, each of numbers.
fn schema(file: &Thing<'_>) -> Result<Vec<Column>, Unreadable> {
    let Some((_, elements)) = file.list(2).split_first() else {
        return Err(Unreadable::Broken("its schema"));
    };
    let mut columns: Vec<Column> = Vec::with_capacity(elements.len());
    for element in elements {
        let name = element.text(4).ok_or(Unreadable::Broken("a column without a name"))?;
        if columns.iter().any(|column| column.name == name) {
            return Err(Unreadable::Twice(name));
        }
        if element.number(5).is_some_and(|children| children > 0) || element.number(3) == Some(2) {
            return Err(Unreadable::Kind(name, "lists or parts"));
        }
        let kind = match kind(element) {
            Ok(kind) => kind,
            Err(words) => return Err(Unreadable::Kind(name, words)),
        };
        columns.push(Column { name, kind, is_optional: element.number(3) == Some(1) });
    }
    Ok(columns)
}

/// The kind of numbers of a column, or what it has instead.
fn kind(element: &Thing<'_>) -> Result<Kind, &'static str> {
    // What numbers stand for: as it is said today (a union), and as it was.
    let meant = match element.field(10) {
        Some(Thing::Struct(fields)) => fields.first().map(|field| field.0),
        _ => None,
    };
    let is_unsigned = match (element.number(6), element.field(10).and_then(|l| l.field(10))) {
        (Some(11..=14), _) => true,
        (_, Some(whole)) => whole.number(2) == Some(0),
        _ => false,
    };
    match (meant, element.number(6)) {
        (Some(10), _) | (None, None | Some(11..=18)) => {}
        (Some(1), _) | (None, Some(0)) => return Err("texts"),
        (Some(5), _) | (None, Some(5)) => return Err("decimals"),
        (Some(6..=8), _) | (None, Some(6..=10)) => return Err("dates or times"),
        _ => return Err("values of another kind"),
    }
    match element.number(1) {
        Some(1) if is_unsigned => Ok(Kind::U32),
        Some(1) => Ok(Kind::I32),
        Some(2) if is_unsigned => Ok(Kind::U64),
        Some(2) => Ok(Kind::I64),
        Some(4) => Ok(Kind::Float),
        Some(5) => Ok(Kind::Double),
        Some(0) => Err("truths"),
        Some(6 | 7) => Err("texts or bytes"),
        _ => Err("values of another kind"),
    }
}

/// A column of a row group.
struct Chunk<'a> {
    bytes: &'a [u8],
    column: &'a Column,
    /// Rows before the group.
    first: usize,
}

impl Chunk<'_> {
    fn read(
        &self,
        meta: &Thing<'_>,
        rows: usize,
        take: &mut dyn FnMut(f64),
    ) -> Result<(), Unreadable> {
        let broken = || Unreadable::Broken("the pages of a column");
        let is_snappy = match meta.number(4) {
            Some(0) => false,
            Some(1) => true,
            codec => return Err(Unreadable::Compressed(self.column.name.clone(), named(codec))),
        };
        let first = meta.count(9).ok_or_else(broken)?;
        let first = meta.count(11).filter(|&at| at > 0).map_or(first, |own| own.min(first));
        let size = meta.count(7).ok_or_else(broken)?;
        let end = first.checked_add(size).ok_or_else(broken)?;
        let mut rest = self.bytes.get(first..end).ok_or_else(broken)?;
        let mut dictionary: Vec<Found> = Vec::new();
        let mut done = 0;
        while done < rows {
            let (head, length) = Thing::read(rest).ok_or_else(broken)?;
            let size = head.count(3).ok_or_else(broken)?;
            let (data, after) = rest[length..].split_at_checked(size).ok_or_else(broken)?;
            rest = after;
            match head.number(1) {
                Some(0) => {
                    let page = head.field(5).ok_or_else(broken)?;
                    let opened = opened(data, is_snappy).ok_or_else(broken)?;
                    let (levels, values) = match self.column.is_optional {
                        true => {
                            let (length, rest) =
                                opened.split_first_chunk::<4>().ok_or_else(broken)?;
                            let length = u32::from_le_bytes(*length) as usize;
                            rest.split_at_checked(length).ok_or_else(broken)?
                        }
                        false => opened.split_at(0),
                    };
                    let count = page.count(1).filter(|n| *n <= rows - done).ok_or_else(broken)?;
                    self.all_there(levels, count, done)?;
                    let found = self.values((page.number(2), count), values, &dictionary)?;
                    self.hand_over(found, done, take)?;
                    done += count;
                }
                Some(3) => {
                    let page = head.field(8).ok_or_else(broken)?;
                    // Levels are not compressed here; there is nothing that repeats.
                    let levels = page.count(5).filter(|_| page.number(6).unwrap_or(0) == 0);
                    let levels = levels.ok_or_else(broken)?;
                    let (levels, values) = data.split_at_checked(levels).ok_or_else(broken)?;
                    let is_snappy = is_snappy && page.number(7) != Some(0);
                    let values = opened(values, is_snappy).ok_or_else(broken)?;
                    let count = page.count(1).filter(|n| *n <= rows - done).ok_or_else(broken)?;
                    self.all_there(levels, count, done)?;
                    let found = self.values((page.number(4), count), &values, &dictionary)?;
                    self.hand_over(found, done, take)?;
                    done += count;
                }
                Some(2) => {
                    let page = head.field(7).ok_or_else(broken)?;
                    let opened = opened(data, is_snappy).ok_or_else(broken)?;
                    let count = page.count(1).filter(|n| *n <= opened.len()).ok_or_else(broken)?;
                    // The same number for both names of plain values.
                    let encoding = page.number(2).map(|e| if e == 2 { 0 } else { e });
                    dictionary = self.values((encoding, count), &opened, &[])?;
                }
                // An index of pages.
                _ => {}
            }
        }
        Ok(())
    }

    /// Faults the first value that is missing.
    fn all_there(&self, levels: &[u8], count: usize, done: usize) -> Result<(), Unreadable> {
        if !self.column.is_optional {
            return Ok(());
        }
        let levels =
            runs(levels, 1, count).ok_or(Unreadable::Broken("what is there of a column"))?;
        match levels.iter().position(|&level| level == 0) {
            Some(at) => {
                let row = self.first + done + at + 1;
                Err(Unreadable::Missing(self.column.name.clone(), row))
            }
            None => Ok(()),
        }
    }

    /// So many values, by their encoding.
    fn values(
        &self,
        (encoding, count): (Option<i64>, usize),
        data: &[u8],
        dictionary: &[Found],
    ) -> Result<Vec<Found>, Unreadable> {
        let broken = || Unreadable::Broken("the values of a column");
        let kind = self.column.kind;
        match encoding {
            Some(0) => {
                let whole = kind.size().checked_mul(count).ok_or_else(broken)?;
                let data = data.get(..whole).ok_or_else(broken)?;
                Ok(data.chunks_exact(kind.size()).map(|value| kind.number(value)).collect())
            }
            Some(2 | 8) => {
                let (&bits, data) = data.split_first().ok_or_else(broken)?;
                let places = runs(data, bits.into(), count).ok_or_else(broken)?;
                let of = |place: u32| dictionary.get(place as usize).copied();
                places.into_iter().map(of).collect::<Option<_>>().ok_or_else(broken)
            }
            Some(other) => Err(Unreadable::Encoded(self.column.name.clone(), other)),
            None => Err(broken()),
        }
    }

    /// Hands over values that are numbers.
    fn hand_over(
        &self,
        found: Vec<Found>,
        done: usize,
        take: &mut dyn FnMut(f64),
    ) -> Result<(), Unreadable> {
        for (at, value) in found.into_iter().enumerate() {
            take(value.map_err(|odd| {
                let row = self.first + done + at + 1;
                Unreadable::NoNumber(self.column.name.clone(), row, odd)
            })?);
        }
        Ok(())
    }
}

impl Kind {
    fn size(self) -> usize {
        match self {
            Kind::I32 | Kind::U32 | Kind::Float => 4,
            Kind::I64 | Kind::U64 | Kind::Double => 8,
        }
    }

    /// The number of some bytes, as many as its size.
    fn number(self, bytes: &[u8]) -> Found {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        let half = word as u32;
        let value = match self {
            Kind::I32 => f64::from(half as i32),
            Kind::U32 => f64::from(half),
            Kind::I64 if (word as i64).unsigned_abs() > WHOLE => {
                return Err(Odd::Whole(i128::from(word as i64)));
            }
            Kind::I64 => word as i64 as f64,
            Kind::U64 if word > WHOLE => return Err(Odd::Whole(word.into())),
            Kind::U64 => word as f64,
            Kind::Float => f64::from(f32::from_bits(half)),
            Kind::Double => f64::from_bits(word),
        };
        if value.is_finite() { Ok(value) } else { Err(Odd::Double(value)) }
    }
}

/// A page as it was before it was compressed.
fn opened(data: &[u8], is_snappy: bool) -> Option<std::borrow::Cow<'_, [u8]>> {
    match is_snappy {
        true => unsnap(data).map(Into::into),
        false => Some(data.into()),
    }
}

/// The compressions of the format.
fn named(codec: Option<i64>) -> &'static str {
    match codec {
        Some(2) => "gzip",
        Some(3) => "LZO",
        Some(4) => "Brotli",
        Some(5 | 7) => "LZ4",
        Some(6) => "Zstandard",
        _ => "what is not known here",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dalembert_export::sinks;
    use std::fs::File;

    /// A table as our own studies write it.
    fn written(names: &[&str], rows: &[&[f64]], place: &str) -> Vec<u8> {
        let name = format!("dalembert-parquet-{place}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let open = sinks::by_ending("parquet").expect("a kind of table").open;
        let mut sink =
            open(Box::new(File::create(&path).expect("a file")), &names).expect("a table");
        rows.iter().for_each(|row| sink.row(row).expect("a row"));
        sink.finish().expect("an end");
        drop(sink);
        let bytes = std::fs::read(&path).expect("a file");
        std::fs::remove_file(&path).expect("a file");
        bytes
    }

    #[test]
    fn what_a_study_writes_is_read() {
        let all: Vec<[f64; 2]> = (0..20_000).map(|k| [k as f64, (k as f64).sin()]).collect();
        let rows: Vec<&[f64]> = all.iter().map(|row| row.as_slice()).collect();
        let (names, values) = read_parquet(&written(&["m", "th[1,2]'"], &rows, "read")).unwrap();
        assert_eq!(names, ["m", "th[1,2]'"]);
        assert_eq!(values, rows.concat());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let read = |names: &[&str], rows: &[&[f64]]| read_parquet(&written(names, rows, "wrong"));
        let missing = Unreadable::Missing("k".to_owned(), 2);
        assert_eq!(read(&["m", "k"], &[&[1.0, 2.0], &[3.0, f64::NAN]]), Err(missing));
        assert_eq!(read(&["m", "m"], &[&[1.0, 2.0]]), Err(Unreadable::Twice("m".to_owned())));
        assert_eq!(read(&["m"], &[]), Err(Unreadable::Empty));
        assert_eq!(read_parquet(b"m,k\n1,2\n"), Err(Unreadable::NoParquet));
    }

    /// Cut or changed anywhere, a file is read or refused: it takes neither the program nor its
    /// memory.
    #[test]
    fn a_broken_file_is_refused() {
        let whole = written(&["m", "k"], &[&[1.0, 2.0], &[3.0, 4.0]], "broken");
        for cut in 0..whole.len() {
            assert!(read_parquet(&whole[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..whole.len() {
            for change in [0x01, 0x10, 0x7f, 0x80, 0xff] {
                let mut other = whole.clone();
                other[at] ^= change;
                let _ = read_parquet(&other);
            }
        }
    }
}
