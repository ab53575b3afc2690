//! Cases that are written down: a table with names of what is varied, a row for each case.

mod csv;
mod packed;
mod parquet;
mod thrift;

pub use csv::read_csv;
pub use parquet::{Odd, Unreadable, read_parquet};

/// Names and numbers of a table, row after row.
pub type Table = (Vec<String>, Vec<f64>);

/// A number by which tables are told apart: of their names and the bits of their numbers.
pub fn fingerprint((names, values): (&[String], &[f64])) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    let start = mix(0xcbf2_9ce4_8422_2325, names.len() as u64);
    let names = names.iter().flat_map(|name| name.bytes().map(u64::from).chain([256]));
    values.iter().map(|value| value.to_bits()).fold(names.fold(start, mix), mix)
}
