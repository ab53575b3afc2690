//! As much of FlatBuffers as Arrow's messages need, written front to back.
//!
//! A table is a signed offset to its vtable and then its fields; the vtable says
//! where each field lies. Offsets point forward, so that what a table refers to is
//! written after it and its place filled in then.

/// A field of a table.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    Absent,
    U8(u8),
    I16(i16),
    I64(i64),
    /// To be pointed at something by [`Flat::point`].
    Offset,
}

impl Slot {
    fn size(self) -> usize {
        match self {
            Slot::Absent => 0,
            Slot::U8(_) => 1,
            Slot::I16(_) => 2,
            Slot::Offset => 4,
            Slot::I64(_) => 8,
        }
    }
}

/// Bytes being written.
pub(super) struct Flat {
    pub(super) bytes: Vec<u8>,
}

impl Flat {
    /// A buffer with a place for the offset of its root, at 0.
    pub(super) fn new() -> Flat {
        Flat { bytes: vec![0; 4] }
    }

    /// Pads until `ahead` bytes more end at a multiple of `size`.
    fn align(&mut self, size: usize, ahead: usize) {
        while !(self.bytes.len() + ahead).is_multiple_of(size) {
            self.bytes.push(0);
        }
    }

    /// Writes a table; gives its place and those of its fields.
    pub(super) fn table(&mut self, slots: &[Slot]) -> (usize, Vec<usize>) {
        let mut size = 4;
        let mut offsets = Vec::with_capacity(slots.len());
        for slot in slots {
            let width = slot.size();
            if width == 0 {
                offsets.push(0);
                continue;
            }
            size = usize::next_multiple_of(size, width);
            offsets.push(size);
            size += width;
        }
        let vtable_size = 4 + 2 * slots.len();
        self.align(8, vtable_size);
        let mut vtable = vec![vtable_size, size];
        vtable.extend(&offsets);
        self.bytes.extend(vtable.iter().flat_map(|&entry| (entry as u16).to_le_bytes()));
        let place = self.bytes.len();
        self.bytes.extend((vtable_size as i32).to_le_bytes());
        self.bytes.resize(place + size, 0);
        for (slot, &offset) in slots.iter().zip(&offsets) {
            let at = place + offset;
            match *slot {
                Slot::Absent | Slot::Offset => {}
                Slot::U8(value) => self.bytes[at] = value,
                Slot::I16(value) => self.bytes[at..at + 2].copy_from_slice(&value.to_le_bytes()),
                Slot::I64(value) => self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
            }
        }
        (place, offsets.iter().map(|offset| place + offset).collect())
    }

    /// Lets the offset at a place point at what was written later.
    pub(super) fn point(&mut self, at: usize, target: usize) {
        let offset = (target - at) as u32;
        self.bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    }

    pub(super) fn string(&mut self, text: &str) -> usize {
        self.align(4, 0);
        let place = self.bytes.len();
        self.bytes.extend((text.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        place
    }

    /// A vector of structs of eight-byte words.
    pub(super) fn words(&mut self, length: usize, words: impl Iterator<Item = u64>) -> usize {
        self.align(8, 4);
        let place = self.bytes.len();
        self.bytes.extend((length as u32).to_le_bytes());
        self.bytes.extend(words.flat_map(u64::to_le_bytes));
        place
    }

    /// A vector of offsets; gives its place and those of its entries.
    pub(super) fn offsets(&mut self, length: usize) -> (usize, Vec<usize>) {
        self.align(4, 0);
        let place = self.bytes.len();
        self.bytes.extend((length as u32).to_le_bytes());
        self.bytes.resize(place + 4 + 4 * length, 0);
        (place, (0..length).map(|at| place + 4 + 4 * at).collect())
    }
}
