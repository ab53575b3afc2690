//! What is finished of a part that is not: one record a case, each written in one go.
//!
//! ```text
//! length of what follows · case · why it failed · its row · its table · checksum
//! ```
//!
//! A process that is killed leaves whole records and at most one that is not, which its checksum
//! tells; what is after it is cut off before the next record is written.

use super::Done;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A journal, and where in it each case is.
pub(super) struct Journal {
    file: File,
    /// Cases and the places of their records.
    pub places: Vec<(u64, u64)>,
    end: u64,
    bytes: Vec<u8>,
    /// A stretch of the file, and where it begins.
    window: (u64, Vec<u8>),
}

/// So much is read at once, at least.
const WINDOW: usize = 1 << 16;

/// Longer records are none.
const LONGEST: u64 = 1 << 40;

impl Journal {
    /// Opens the journal of a part, with what it has; it is made if it is not there. It is locked
    /// until it is dropped; if another has the lock, the error is `WouldBlock`.
    pub fn open(path: &Path) -> io::Result<Journal> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock().map_err(io::Error::from)?;
        let (places, bytes, window) = (Vec::new(), Vec::new(), (0, Vec::new()));
        let mut journal = Journal { file, places, end: 0, bytes, window };
        let whole = journal.file.metadata()?.len();
        while let Some((case, length)) = journal.read_at(journal.end, whole)? {
            journal.places.push((case, journal.end));
            journal.end += length;
        }
        journal.file.set_len(journal.end)?;
        // What is cut off is not to be met again.
        journal.window.1.clear();
        Ok(journal)
    }

    /// Adds a case.
    pub fn add(&mut self, case: u64, done: &Done) -> io::Result<()> {
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.extend([0; 8]);
        bytes.extend(case.to_le_bytes());
        let words = done.failure.as_deref().map_or(&[] as &[u8], str::as_bytes);
        bytes.extend((words.len() as u64).to_le_bytes());
        bytes.extend((done.failure.is_some() as u64).to_le_bytes());
        bytes.extend(words);
        for list in [&done.row, &done.table] {
            bytes.extend((list.len() as u64).to_le_bytes());
            list.iter().for_each(|x| bytes.extend(x.to_bits().to_le_bytes()));
        }
        let length = bytes.len() as u64 - 8;
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(&bytes[8..]);
        bytes.extend(sum.to_le_bytes());
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)?;
        self.places.push((case, self.end));
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Reads the record at a place.
    pub fn get(&mut self, place: u64) -> io::Result<Done> {
        self.read_at(place, self.end)?;
        let broken =
            || io::Error::new(io::ErrorKind::InvalidData, "a record of a journal is broken");
        self.parse().ok_or_else(broken)
    }

    /// The case of the record at a place, and its length in the file, of so much that there is; its
    /// bytes are at hand then.
    fn read_at(&mut self, place: u64, whole: u64) -> io::Result<Option<(u64, u64)>> {
        let word = |bytes: &[u8]| bytes.first_chunk::<8>().map_or(0, |w| u64::from_le_bytes(*w));
        if place + 24 > whole {
            return Ok(None);
        }
        let length = word(self.stretch(place, 8, whole)?);
        if !(8..=LONGEST).contains(&length) || place + 16 + length > whole {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend_from_slice(self.stretch(place + 8, length as usize + 8, whole)?);
        let sum = word(&bytes[length as usize..]);
        bytes.truncate(length as usize);
        self.bytes = bytes;
        let is_whole = sum == checksum(&self.bytes);
        Ok(is_whole.then(|| (word(&self.bytes), length + 16)))
    }

    /// So many bytes at a place, which are there.
    fn stretch(&mut self, place: u64, length: usize, whole: u64) -> io::Result<&[u8]> {
        let (from, bytes) = &mut self.window;
        let has = |from: u64, bytes: &[u8]| {
            place >= from && place + length as u64 <= from + bytes.len() as u64
        };
        if !has(*from, bytes) {
            let most = usize::try_from(whole - place).unwrap_or(usize::MAX);
            bytes.resize(length.max(WINDOW).min(most), 0);
            *from = place;
            self.file.seek(SeekFrom::Start(place))?;
            if let Err(error) = self.file.read_exact(bytes) {
                bytes.clear();
                return Err(error);
            }
        }
        let at = (place - *from) as usize;
        Ok(&bytes[at..at + length])
    }

    fn parse(&self) -> Option<Done> {
        let mut rest = self.bytes.get(8..)?;
        let mut word = || -> Option<u64> {
            let (first, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            Some(u64::from_le_bytes(*first))
        };
        let (length, is_failed) = (word()? as usize, word()? == 1);
        let words = rest.get(..length)?.to_vec();
        rest = &rest[length..];
        let mut list = || -> Option<Vec<f64>> {
            let (first, after) = rest.split_first_chunk::<8>()?;
            let count = u64::from_le_bytes(*first) as usize;
            let (numbers, after) = after.split_at_checked(count.checked_mul(8)?)?;
            rest = after;
            let number = |bytes: &[u8; 8]| f64::from_bits(u64::from_le_bytes(*bytes));
            Some(numbers.as_chunks::<8>().0.iter().map(number).collect())
        };
        let (row, table) = (list()?, list()?);
        let failure = is_failed.then(|| String::from_utf8_lossy(&words).into_owned());
        Some(Done { row, failure, table })
    }
}

/// Fowler, Noll and Vo's, over words: what is torn does not pass by chance.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let start = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    words.fold(start, |sum, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(k: u64) -> Done {
        let failure = k.is_multiple_of(3).then(|| format!("case {k} failed: λ"));
        let row = vec![k as f64, f64::NAN, -0.0];
        Done { row, failure, table: (0..k % 5).map(|x| x as f64 * 0.1).collect() }
    }

    /// Wherever a file is cut, the records before are there and the next can be added.
    #[test]
    fn a_torn_journal_has_what_was_whole() {
        let path = std::env::temp_dir().join(format!("dalembert-journal-{}", std::process::id()));
        let mut journal = Journal::open(&path).unwrap();
        let mut ends = vec![0];
        for k in 0..20 {
            journal.add(k, &done(k)).unwrap();
            ends.push(journal.end);
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in (0..whole.len()).step_by(7) {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut journal = Journal::open(&path).unwrap();
            assert_eq!(Journal::open(&path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
            let complete = ends.iter().filter(|end| **end <= cut as u64).count() - 1;
            assert_eq!(journal.places.len(), complete);
            journal.add(77, &done(77)).unwrap();
            drop(journal);
            let mut again = Journal::open(&path).unwrap();
            assert_eq!(again.places.last().unwrap().0, 77);
            for (case, place) in again.places.clone() {
                let (found, right) = (again.get(place).unwrap(), done(case));
                assert_eq!((found.failure, found.table), (right.failure, right.table));
                let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&found.row), bits(&right.row));
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}
