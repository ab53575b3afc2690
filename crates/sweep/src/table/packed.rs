//! How Parquet packs: runs of small numbers, and Snappy's compression.
//!
//! Sources: Apache Parquet, `Encodings.md` (RLE/bit-packing hybrid); Google's
//! `snappy/format_description.txt`.

/// A number of seven bits a byte, the lowest first, and how many bytes it has.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (at, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte < 0x80 {
            return Some((value, at + 1));
        }
    }
    None
}

/// Reads `count` numbers of so many bits: runs of one number, and groups of eight side by side.
pub(super) fn runs(bytes: &[u8], bits: u32, count: usize) -> Option<Vec<u32>> {
    if bits > 32 {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    let mut rest = bytes;
    while found.len() < count {
        let (head, length) = varint(rest)?;
        rest = &rest[length..];
        let left = count - found.len();
        if head & 1 == 0 {
            let width = bits.div_ceil(8) as usize;
            let (own, after) = rest.split_at_checked(width)?;
            rest = after;
            let mut word = [0; 4];
            word[..width].copy_from_slice(own);
            let length = usize::try_from(head >> 1).ok()?;
            if length == 0 {
                return None;
            }
            found.resize(found.len() + length.min(left), u32::from_le_bytes(word));
        } else {
            let groups = usize::try_from(head >> 1).ok().filter(|groups| *groups > 0)?;
            let size = groups.checked_mul(bits as usize)?;
            // The last group may be cut where its numbers end.
            let (own, after) = rest.split_at(size.min(rest.len()));
            rest = after;
            let numbers = groups.checked_mul(8)?.min(left);
            if own.len() * 8 < numbers * bits as usize {
                return None;
            }
            found.extend((0..numbers).map(|k| bits_at(own, k * bits as usize, bits)));
        }
    }
    Some(found)
}

/// The number of so many bits at a bit.
fn bits_at(bytes: &[u8], first: usize, bits: u32) -> u32 {
    let mut word = [0; 8];
    let tail = &bytes[(first / 8).min(bytes.len())..];
    let length = tail.len().min(8);
    word[..length].copy_from_slice(&tail[..length]);
    let mask = (1u64 << bits) - 1;
    (u64::from_le_bytes(word) >> (first % 8) & mask) as u32
}

/// Snappy's bytes as they were, if they are whole.
pub(super) fn unsnap(bytes: &[u8]) -> Option<Vec<u8>> {
    let (length, at) = varint(bytes)?;
    let length = usize::try_from(length).ok()?;
    // Three bytes say at most 64: what claims more is broken, and no room is made for it.
    if length > bytes.len().checked_mul(32)? {
        return None;
    }
    let mut out: Vec<u8> = Vec::with_capacity(length);
    let mut rest = &bytes[at..];
    while let Some((&tag, after)) = rest.split_first() {
        rest = after;
        let mut number = |width: usize| -> Option<usize> {
            let (own, after) = rest.split_at_checked(width)?;
            rest = after;
            Some(own.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
        };
        let short = usize::from(tag >> 2);
        let (size, back) = match tag & 3 {
            0 => {
                let size = if short < 60 { short } else { number(short - 59)? } + 1;
                let (own, after) = rest.split_at_checked(size)?;
                rest = after;
                if out.len() + size > length {
                    return None;
                }
                out.extend_from_slice(own);
                continue;
            }
            1 => ((short & 7) + 4, (short >> 3) << 8 | number(1)?),
            2 => (short + 1, number(2)?),
            _ => (short + 1, number(4)?),
        };
        if back == 0 || back > out.len() || out.len() + size > length {
            return None;
        }
        // What is copied may be what is being written.
        for _ in 0..size {
            out.push(out[out.len() - back]);
        }
    }
    (out.len() == length).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups_are_read() {
        // Five times 3, then 0..8 in three bits, as in the format's own example.
        let bytes = [5 << 1, 3, 1 << 1 | 1, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(runs(&bytes, 3, 13).unwrap(), [3, 3, 3, 3, 3, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(runs(&bytes, 3, 6).unwrap(), [3, 3, 3, 3, 3, 0]);
        assert_eq!(runs(&bytes, 3, 14), None, "there are no more");
        assert_eq!(runs(&[0, 0], 1, 1), None, "a run of none does not end");
        // Nothing is needed to say one of one.
        assert_eq!(runs(&[4 << 1], 0, 4).unwrap(), [0; 4]);
    }

    #[test]
    fn snappy_is_undone() {
        // A literal `abcd`, then eight from four back, then one `!`.
        let bytes = [13, 3 << 2, b'a', b'b', b'c', b'd', 4 << 2 | 1, 4, 0, b'!'];
        assert_eq!(unsnap(&bytes).unwrap(), b"abcdabcdabcd!");
        for cut in 0..bytes.len() {
            assert_eq!(unsnap(&bytes[..cut]), None, "cut at {cut}");
        }
        assert_eq!(
            unsnap(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0]),
            None,
            "a size out of all proportion"
        );
        assert_eq!(unsnap(&[4, 1, 9]), None, "from before the beginning");
    }
}
