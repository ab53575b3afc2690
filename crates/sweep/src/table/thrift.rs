//! Thrift's compact protocol, read: what a Parquet file says of itself.
//!
//! Apache Thrift, `thrift-compact-protocol.md`. Nothing here trusts a length: a list is no longer
//! than the bytes that are left, and what is inside of too much is broken.

/// A value of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Thing<'a> {
    /// A number, or a truth: 0 or 1.
    Number(i64),
    Bytes(&'a [u8]),
    List(Vec<Thing<'a>>),
    Struct(Vec<(i16, Thing<'a>)>),
    /// What no table needs: doubles, maps.
    Other,
}

/// Structs inside of structs.
const DEEPEST: usize = 16;

impl<'a> Thing<'a> {
    /// The struct at the beginning of some bytes, and how many they are.
    pub fn read(bytes: &'a [u8]) -> Option<(Thing<'a>, usize)> {
        let mut reader = Reader { bytes, at: 0 };
        let found = reader.structure(0)?;
        Some((found, reader.at))
    }

    /// A field of a struct.
    pub fn field(&self, id: i16) -> Option<&Thing<'a>> {
        let Thing::Struct(fields) = self else { return None };
        fields.iter().find(|field| field.0 == id).map(|field| &field.1)
    }

    /// A field that is a number.
    pub fn number(&self, id: i16) -> Option<i64> {
        match self.field(id)? {
            Thing::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A field that is a number and counts something.
    pub fn count(&self, id: i16) -> Option<usize> {
        usize::try_from(self.number(id)?).ok()
    }

    /// A field that is a list; none is an empty one.
    pub fn list(&self, id: i16) -> &[Thing<'a>] {
        match self.field(id) {
            Some(Thing::List(items)) => items,
            _ => &[],
        }
    }

    /// A field that is a text.
    pub fn text(&self, id: i16) -> Option<String> {
        match self.field(id)? {
            Thing::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let (value, length) = super::packed::varint(self.bytes.get(self.at..)?)?;
        self.at += length;
        Some(value)
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn structure(&mut self, depth: usize) -> Option<Thing<'a>> {
        let mut fields = Vec::new();
        let mut id = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Thing::Struct(fields));
            }
            id = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).ok()?,
                step => id.checked_add(i16::from(step))?,
            };
            let value = match head & 15 {
                1 => Thing::Number(1),
                2 => Thing::Number(0),
                kind => self.value(kind, depth + 1)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Thing<'a>> {
        if depth > DEEPEST {
            return None;
        }
        Some(match kind {
            // A truth in a list has a byte of its own.
            1 | 2 => Thing::Number(i64::from(self.byte()? == 1)),
            3 => Thing::Number(i64::from(self.byte()? as i8)),
            4..=6 => Thing::Number(self.zigzag()?),
            7 => self.take(8).map(|_| Thing::Other)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Thing::Bytes(self.take(length)?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = match head >> 4 {
                    15 => usize::try_from(self.varint()?).ok()?,
                    short => usize::from(short),
                };
                if length > self.bytes.len() - self.at {
                    return None;
                }
                let items = (0..length).map(|_| self.value(head & 15, depth + 1));
                Thing::List(items.collect::<Option<_>>()?)
            }
            11 => {
                let length = self.varint()?;
                if length > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..length {
                        self.value(kinds >> 4, depth + 1)?;
                        self.value(kinds & 15, depth + 1)?;
                    }
                }
                Thing::Other
            }
            12 => self.structure(depth)?,
            _ => return None,
        })
    }
}
