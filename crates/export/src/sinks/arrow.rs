//! Apache Arrow's file format: columns of doubles that may be missing.
//!
//! The file is `ARROW1`, the schema, record batches, an end mark, the footer with
//! the place of each batch, its length, `ARROW1` (Arrow's `Message.fbs`,
//! `Schema.fbs`, `File.fbs`). Without the first eight bytes and the footer it is the
//! streaming format.

use super::flat::{Flat, Slot};
use super::patched::Patched;
use super::{Block, Output, RowSink};
use std::io;

const MAGIC: &[u8] = b"ARROW1\0\0";
// Members of the format's enumerations.
const VERSION_5: i16 = 4;
const SCHEMA: u8 = 1;
const RECORD_BATCH: u8 = 3;
const FLOATING_POINT: u8 = 3;
const DOUBLE: i16 = 2;

/// As for Parquet: the footer grows with the file.
const WAITING: usize = 16 << 20;

struct Arrow {
    out: Patched,
    names: Vec<String>,
    block: Block,
    waiting: Vec<u8>,
    /// Place, length of the head and of the body of each batch.
    batches: Vec<[u64; 3]>,
}

pub(super) fn open(out: Box<dyn Output>, names: &[String]) -> io::Result<Box<dyn RowSink>> {
    let mut waiting = MAGIC.to_vec();
    let mut flat = Flat::new();
    let at = message(&mut flat, SCHEMA, 0);
    let table = schema(&mut flat, names);
    flat.point(at, table);
    append_head(&mut waiting, flat);
    let block = Block::new(names.len());
    let mut sink = Arrow {
        out: Patched::new(out),
        names: names.to_vec(),
        block,
        waiting,
        batches: Vec::new(),
    };
    sink.flush()?;
    Ok(Box::new(sink))
}

impl RowSink for Arrow {
    fn row(&mut self, values: &[f64]) -> io::Result<()> {
        self.block.push(values);
        if self.block.is_full() {
            let batch = self.encode_block();
            self.batches.push(batch);
            self.block.clear();
            if self.waiting.len() >= WAITING {
                return self.flush();
            }
        }
        Ok(())
    }

    /// The rows of a batch that is not full are part of what is written over.
    fn flush(&mut self) -> io::Result<()> {
        let whole = self.waiting.len();
        let is_partial = self.block.rows > 0;
        if is_partial {
            let batch = self.encode_block();
            self.batches.push(batch);
        }
        // The end mark of the streaming format.
        self.waiting.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
        let footer = self.footer();
        let length = footer.len() as i32;
        self.waiting.extend_from_slice(&footer);
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting.extend_from_slice(&MAGIC[..6]);
        let (stays, closes) = self.waiting.split_at(whole);
        self.out.write(stays, closes)?;
        self.waiting.clear();
        if is_partial {
            self.batches.pop();
        }
        Ok(())
    }
}

impl Arrow {
    /// Appends the block as a record batch to what waits.
    fn encode_block(&mut self) -> [u64; 3] {
        let rows = self.block.rows;
        let mut body = Vec::new();
        let (mut nodes, mut buffers) = (Vec::new(), Vec::new());
        for column in &self.block.columns {
            let missing = column.iter().filter(|v| !v.is_finite()).count();
            nodes.extend([rows as u64, missing as u64]);
            let start = body.len();
            // A column in which nothing is missing needs no marks.
            if missing > 0 {
                body.extend(column.chunks(8).map(|chunk| {
                    let marks = chunk.iter().enumerate();
                    marks.fold(0u8, |byte, (bit, v)| byte | u8::from(v.is_finite()) << bit)
                }));
            }
            buffers.extend([start as u64, (body.len() - start) as u64]);
            body.resize(body.len().next_multiple_of(8), 0);
            let start = body.len();
            let values = column.iter().map(|v| if v.is_finite() { *v } else { 0.0 });
            body.extend(values.flat_map(f64::to_le_bytes));
            buffers.extend([start as u64, (body.len() - start) as u64]);
        }
        let mut flat = Flat::new();
        let at = message(&mut flat, RECORD_BATCH, body.len());
        let (batch, fields) = flat.table(&[Slot::I64(rows as i64), Slot::Offset, Slot::Offset]);
        flat.point(at, batch);
        let place = flat.words(nodes.len() / 2, nodes.into_iter());
        flat.point(fields[1], place);
        let place = flat.words(buffers.len() / 2, buffers.into_iter());
        flat.point(fields[2], place);
        let place = self.out.kept() + self.waiting.len() as u64;
        let head = append_head(&mut self.waiting, flat);
        self.waiting.extend_from_slice(&body);
        [place, head as u64, body.len() as u64]
    }

    fn footer(&self) -> Vec<u8> {
        let mut flat = Flat::new();
        let slots = [Slot::I16(VERSION_5), Slot::Offset, Slot::Offset, Slot::Offset];
        let (root, fields) = flat.table(&slots);
        flat.point(0, root);
        let table = schema(&mut flat, &self.names);
        flat.point(fields[1], table);
        let none = flat.words(0, std::iter::empty());
        flat.point(fields[2], none);
        let words = self.batches.iter().flatten().copied();
        let list = flat.words(self.batches.len(), words);
        flat.point(fields[3], list);
        flat.bytes
    }
}

/// A message; gives the place of the offset of its header.
fn message(flat: &mut Flat, kind: u8, body: usize) -> usize {
    let slots = [Slot::I16(VERSION_5), Slot::U8(kind), Slot::Offset, Slot::I64(body as i64)];
    let (root, fields) = flat.table(&slots);
    flat.point(0, root);
    fields[2]
}

fn schema(flat: &mut Flat, names: &[String]) -> usize {
    // Little-endian is 0.
    let (schema, fields) = flat.table(&[Slot::I16(0), Slot::Offset]);
    let (list, entries) = flat.offsets(names.len());
    flat.point(fields[1], list);
    for (name, at) in names.iter().zip(entries) {
        let slots = [
            Slot::Offset,
            Slot::U8(1),
            Slot::U8(FLOATING_POINT),
            Slot::Offset,
            Slot::Absent,
            Slot::Offset,
        ];
        let (field, places) = flat.table(&slots);
        flat.point(at, field);
        let text = flat.string(name);
        flat.point(places[0], text);
        let (kind, _) = flat.table(&[Slot::I16(DOUBLE)]);
        flat.point(places[3], kind);
        let (children, _) = flat.offsets(0);
        flat.point(places[5], children);
    }
    schema
}

/// Appends a message's mark, length and bytes; gives how many.
fn append_head(out: &mut Vec<u8>, flat: Flat) -> usize {
    let mut bytes = flat.bytes;
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    out.extend_from_slice(&[0xff; 4]);
    out.extend_from_slice(&(bytes.len() as i32).to_le_bytes());
    out.extend_from_slice(&bytes);
    8 + bytes.len()
}
