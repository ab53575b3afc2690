//! Reads the tables that `dal run --out` writes, independently of what writes them.

use serde_json::Value;
use std::path::Path;

/// Names of columns, and rows; a value may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Option<f64>>>,
}

/// Reads a table by the ending of its name; panics at what is not whole.
pub fn read(path: &Path) -> Table {
    let bytes = std::fs::read(path).expect("the file is there");
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => csv(&String::from_utf8(bytes).expect("UTF-8")),
        Some("json") => json(&bytes),
        Some("parquet") => parquet(&bytes),
        Some("arrow") => arrow(&bytes),
        other => panic!("no reader for {other:?}"),
    }
}

fn transpose(columns: Vec<Vec<Option<f64>>>) -> Vec<Vec<Option<f64>>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

fn csv(text: &str) -> Table {
    assert!(text.ends_with('\n'), "the last line is whole");
    let mut lines = text.lines();
    let names = split(lines.next().expect("a header"));
    let value = |cell: String| match cell.as_str() {
        "" => None,
        cell => Some(cell.parse().expect("a number")),
    };
    let rows: Vec<Vec<_>> =
        lines.map(|line| split(line).into_iter().map(value).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == names.len()));
    Table { names, rows }
}

/// Cells of a line, some of them quoted.
fn split(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            c => cells.last_mut().expect("there is one").push(c),
        }
    }
    cells
}

fn json(bytes: &[u8]) -> Table {
    let value: Value = serde_json::from_slice(bytes).expect("JSON");
    assert_eq!(value["format"], 1);
    let names = value["columns"].as_array().expect("columns").iter();
    let names: Vec<String> = names.map(|n| n.as_str().expect("a name").to_owned()).collect();
    let row = |row: &Value| -> Vec<Option<f64>> {
        let row = row.as_array().expect("a row");
        assert_eq!(row.len(), names.len());
        row.iter().map(|v| if v.is_null() { None } else { Some(v.as_f64().expect("it")) }).collect()
    };
    let rows = value["rows"].as_array().expect("rows").iter().map(row).collect();
    Table { names, rows }
}

/// A value of Thrift's compact protocol.
#[derive(Clone, Debug)]
enum Thrift {
    Number(i64),
    Text(String),
    List(Vec<Thrift>),
    Fields(Vec<(i64, Thrift)>),
}

impl Thrift {
    fn field(&self, id: i64) -> &Thrift {
        let Thrift::Fields(fields) = self else { panic!("no struct: {self:?}") };
        &fields.iter().find(|f| f.0 == id).unwrap_or_else(|| panic!("no field {id}: {self:?}")).1
    }

    fn number(&self, id: i64) -> i64 {
        let Thrift::Number(number) = self.field(id) else { panic!("no number") };
        *number
    }

    fn text(&self, id: i64) -> &str {
        let Thrift::Text(text) = self.field(id) else { panic!("no text") };
        text
    }

    fn list(&self, id: i64) -> &[Thrift] {
        let Thrift::List(list) = self.field(id) else { panic!("no list") };
        list
    }
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("a byte");
        self.0 = rest;
        *first
    }

    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn zigzag(&mut self) -> i64 {
        let value = self.varint();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    fn value(&mut self, kind: u8) -> Thrift {
        match kind {
            5 | 6 => Thrift::Number(self.zigzag()),
            8 => {
                let length = self.varint() as usize;
                let (text, rest) = self.0.split_at(length);
                self.0 = rest;
                Thrift::Text(String::from_utf8(text.to_vec()).expect("UTF-8"))
            }
            9 => {
                let head = self.byte();
                let length = if head >> 4 == 15 { self.varint() } else { u64::from(head >> 4) };
                Thrift::List((0..length).map(|_| self.value(head & 15)).collect())
            }
            12 => {
                let (mut fields, mut id) = (Vec::new(), 0);
                loop {
                    let head = self.byte();
                    if head == 0 {
                        return Thrift::Fields(fields);
                    }
                    id += i64::from(head >> 4);
                    fields.push((id, self.value(head & 15)));
                }
            }
            other => panic!("type {other}"),
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four")) as usize
}

fn f64_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"))
}

fn parquet(bytes: &[u8]) -> Table {
    let end = bytes.len() - 8;
    assert_eq!((&bytes[..4], &bytes[end + 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    let footer = end - u32_at(bytes, end);
    let mut reader = Reader(&bytes[footer..end]);
    let footer = reader.value(12);
    assert!(reader.0.is_empty());
    let names: Vec<String> =
        footer.list(2)[1..].iter().map(|element| element.text(4).to_owned()).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for group in footer.list(4) {
        for (column, chunk) in columns.iter_mut().zip(group.list(1)) {
            let start = chunk.field(3).number(9) as usize;
            let mut page = Reader(&bytes[start..]);
            let head = page.value(12);
            let data = &page.0[..head.number(2) as usize];
            let count = head.field(5).number(1) as usize;
            let levels_end = 4 + u32_at(data, 0);
            let mut levels = Reader(&data[4..levels_end]);
            let (mut at, mut read) = (levels_end, 0);
            while !levels.0.is_empty() {
                let run = levels.varint() as usize >> 1;
                let is_there = levels.byte() == 1;
                for _ in 0..run {
                    column.push(is_there.then(|| f64_at(data, at)));
                    at += if is_there { 8 } else { 0 };
                }
                read += run;
            }
            assert_eq!((read, at), (count, data.len()));
        }
    }
    let rows = transpose(columns);
    assert_eq!(rows.len() as i64, footer.number(3));
    Table { names, rows }
}

/// Where the field of a table of a flat buffer lies.
fn field(bytes: &[u8], table: usize, slot: usize) -> usize {
    let vtable = table - u32_at(bytes, table);
    let at = vtable + 4 + 2 * slot;
    table + usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// What an offset points at.
fn follow(bytes: &[u8], at: usize) -> usize {
    at + u32_at(bytes, at)
}

fn arrow(bytes: &[u8]) -> Table {
    let end = bytes.len() - 6;
    assert_eq!((&bytes[..8], &bytes[end..]), (&b"ARROW1\0\0"[..], &b"ARROW1"[..]));
    let flat = &bytes[end - 4 - u32_at(bytes, end - 4)..end - 4];
    let root = follow(flat, 0);
    let schema = follow(flat, field(flat, root, 1));
    let fields = follow(flat, field(flat, schema, 1));
    let names: Vec<String> = (0..u32_at(flat, fields))
        .map(|at| {
            let one = follow(flat, fields + 4 + 4 * at);
            let name = follow(flat, field(flat, one, 0));
            let text = &flat[name + 4..name + 4 + u32_at(flat, name)];
            String::from_utf8(text.to_vec()).expect("UTF-8")
        })
        .collect();
    let mut columns = vec![Vec::new(); names.len()];
    let blocks = follow(flat, field(flat, root, 3));
    for at in 0..u32_at(flat, blocks) {
        let block = blocks + 4 + 24 * at;
        let (place, head) = (u32_at(flat, block), u32_at(flat, block + 8));
        let (message, body) = (&bytes[place + 8..place + head], &bytes[place + head..]);
        let batch = follow(message, field(message, follow(message, 0), 2));
        let rows = u32_at(message, field(message, batch, 0));
        let buffers = follow(message, field(message, batch, 2));
        for (column, values) in columns.iter_mut().enumerate() {
            let buffer = |which: usize| {
                let at = buffers + 4 + 32 * column + 16 * which;
                &body[u32_at(message, at)..][..u32_at(message, at + 8)]
            };
            let (marks, data) = (buffer(0), buffer(1));
            for row in 0..rows {
                let is_there = marks.is_empty() || marks[row / 8] >> (row % 8) & 1 == 1;
                values.push(is_there.then(|| f64_at(data, 8 * row)));
            }
        }
    }
    Table { names, rows: transpose(columns) }
}
