//! As much of Thrift's compact protocol as a Parquet footer needs.
//!
//! Apache Thrift, `thrift-compact-protocol.md`: integers are zigzag varints; a
//! field begins with its type and how much its number is above the last one's.

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Bytes being written.
#[derive(Default)]
pub(super) struct Thrift {
    pub(super) bytes: Vec<u8>,
    last: Vec<i16>,
    field: i16,
}

impl Thrift {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Fields are written in order, and no two are more than 15 apart.
    fn head(&mut self, field: i16, kind: u8) {
        debug_assert!((1..16).contains(&(field - self.field)));
        self.bytes.push(((field - self.field) as u8) << 4 | kind);
        self.field = field;
    }

    pub(super) fn i32(&mut self, field: i16, value: i32) {
        self.head(field, I32);
        self.zigzag(value.into());
    }

    pub(super) fn i64(&mut self, field: i16, value: i64) {
        self.head(field, I64);
        self.zigzag(value);
    }

    pub(super) fn string(&mut self, field: i16, value: &str) {
        self.head(field, BINARY);
        self.text(value);
    }

    fn text(&mut self, value: &str) {
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value.as_bytes());
    }

    fn list(&mut self, field: i16, kind: u8, length: usize) {
        self.head(field, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(length as u64);
        }
    }

    pub(super) fn i32s(&mut self, field: i16, values: &[i32]) {
        self.list(field, I32, values.len());
        values.iter().for_each(|&value| self.zigzag(value.into()));
    }

    pub(super) fn strings(&mut self, field: i16, values: &[&str]) {
        self.list(field, BINARY, values.len());
        values.iter().for_each(|value| self.text(value));
    }

    /// A struct as a field.
    pub(super) fn structure(&mut self, field: i16, fill: impl FnOnce(&mut Thrift)) {
        self.head(field, STRUCT);
        self.body(fill);
    }

    /// A list of structs.
    pub(super) fn structures<T>(
        &mut self,
        field: i16,
        items: impl ExactSizeIterator<Item = T>,
        mut fill: impl FnMut(&mut Thrift, T),
    ) {
        self.list(field, STRUCT, items.len());
        for item in items {
            self.body(|thrift| fill(thrift, item));
        }
    }

    /// The fields of a struct and its end.
    pub(super) fn body(&mut self, fill: impl FnOnce(&mut Thrift)) {
        self.last.push(self.field);
        self.field = 0;
        fill(self);
        self.bytes.push(0);
        self.field = self.last.pop().unwrap_or(0);
    }
}
