//! Apache Parquet: columns of doubles that may be missing, plain and uncompressed.
//!
//! The file is `PAR1`, row groups, the footer (`FileMetaData` of the format's
//! `parquet.thrift`), its length, `PAR1`. A row group has one data page a column:
//! definition levels as runs, then the values that are there.

use super::patched::Patched;
use super::thrift::Thrift;
use super::{Block, Output, RowSink};
use std::io;

const MAGIC: &[u8] = b"PAR1";
// Members of the format's enumerations.
const DOUBLE: i32 = 5;
const OPTIONAL: i32 = 1;
const DATA_PAGE: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const UNCOMPRESSED: i32 = 0;

/// Whole groups wait for a flush, or until there are this many bytes of them: the
/// footer is written with each flush, and it grows with the file.
const WAITING: usize = 16 << 20;

struct Parquet {
    out: Patched,
    names: Vec<String>,
    block: Block,
    /// Whole groups that are not written yet.
    waiting: Vec<u8>,
    groups: Vec<Group>,
}

struct Group {
    rows: usize,
    /// Where the page of a column begins, and its size.
    pages: Vec<(u64, usize)>,
}

pub(super) fn open(out: Box<dyn Output>, names: &[String]) -> io::Result<Box<dyn RowSink>> {
    let mut sink = Parquet {
        out: Patched::new(out),
        names: names.to_vec(),
        block: Block::new(names.len()),
        waiting: MAGIC.to_vec(),
        groups: Vec::new(),
    };
    sink.flush()?;
    Ok(Box::new(sink))
}

impl RowSink for Parquet {
    fn row(&mut self, values: &[f64]) -> io::Result<()> {
        self.block.push(values);
        if self.block.is_full() {
            let group = self.encode_block();
            self.groups.push(group);
            self.block.clear();
            if self.waiting.len() >= WAITING {
                return self.flush();
            }
        }
        Ok(())
    }

    /// The rows of a group that is not full are part of what is written over.
    fn flush(&mut self) -> io::Result<()> {
        let whole = self.waiting.len();
        let is_partial = self.block.rows > 0;
        if is_partial {
            let group = self.encode_block();
            self.groups.push(group);
        }
        let footer = self.footer();
        let length = footer.len() as u32;
        self.waiting.extend_from_slice(&footer);
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting.extend_from_slice(MAGIC);
        let (stays, closes) = self.waiting.split_at(whole);
        self.out.write(stays, closes)?;
        self.waiting.clear();
        if is_partial {
            self.groups.pop();
        }
        Ok(())
    }
}

impl Parquet {
    /// Appends the block's pages to what waits.
    fn encode_block(&mut self) -> Group {
        let mut pages = Vec::with_capacity(self.names.len());
        for column in &self.block.columns {
            let start = self.waiting.len();
            let data = page(column);
            let mut head = Thrift::default();
            head.body(|page| {
                page.i32(1, DATA_PAGE);
                page.i32(2, data.len() as i32);
                page.i32(3, data.len() as i32);
                page.structure(5, |header| {
                    header.i32(1, column.len() as i32);
                    header.i32(2, PLAIN);
                    header.i32(3, RLE);
                    header.i32(4, RLE);
                });
            });
            self.waiting.extend_from_slice(&head.bytes);
            self.waiting.extend_from_slice(&data);
            pages.push((self.out.kept() + start as u64, self.waiting.len() - start));
        }
        Group { rows: self.block.rows, pages }
    }

    fn footer(&self) -> Vec<u8> {
        let mut thrift = Thrift::default();
        thrift.body(|file| {
            file.i32(1, 1);
            file.structures(2, 0..self.names.len() + 1, |element, at| match at {
                0 => {
                    element.string(4, "run");
                    element.i32(5, self.names.len() as i32);
                }
                at => {
                    element.i32(1, DOUBLE);
                    element.i32(3, OPTIONAL);
                    element.string(4, &self.names[at - 1]);
                }
            });
            file.i64(3, self.groups.iter().map(|g| g.rows as i64).sum());
            file.structures(4, self.groups.iter(), |row_group, group| {
                row_group.structures(1, self.names.iter().zip(&group.pages), |chunk, column| {
                    let (name, &(offset, size)) = column;
                    chunk.i64(2, offset as i64);
                    chunk.structure(3, |meta| {
                        meta.i32(1, DOUBLE);
                        meta.i32s(2, &[PLAIN, RLE]);
                        meta.strings(3, &[name]);
                        meta.i32(4, UNCOMPRESSED);
                        meta.i64(5, group.rows as i64);
                        meta.i64(6, size as i64);
                        meta.i64(7, size as i64);
                        meta.i64(9, offset as i64);
                    });
                });
                row_group.i64(2, group.pages.iter().map(|p| p.1 as i64).sum());
                row_group.i64(3, group.rows as i64);
            });
            file.string(6, "dalembert");
        });
        thrift.bytes
    }
}

/// Definition levels, 1 where there is a value, then the values that are there.
fn page(column: &[f64]) -> Vec<u8> {
    let mut levels = Vec::new();
    for run in column.chunk_by(|a, b| a.is_finite() == b.is_finite()) {
        let mut head = run.len() << 1;
        while head >= 0x80 {
            levels.push(head as u8 | 0x80);
            head >>= 7;
        }
        levels.push(head as u8);
        levels.push(u8::from(run[0].is_finite()));
    }
    let mut data = (levels.len() as u32).to_le_bytes().to_vec();
    data.extend_from_slice(&levels);
    data.extend(column.iter().filter(|v| v.is_finite()).flat_map(|v| v.to_le_bytes()));
    data
}
