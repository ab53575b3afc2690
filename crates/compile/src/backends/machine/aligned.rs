//! Doubles that begin at a line of the processor's cache, so that no four or eight of them, of
//! which the code loads and stores many, lie across two lines.

use std::ops::{Deref, DerefMut};

/// The length of a line, in bytes.
const LINE: usize = 64;

/// A list of doubles at the start of a line.
#[derive(Debug)]
pub(crate) struct Aligned {
    /// The list, and enough before it.
    list: Vec<f64>,
    start: usize,
}

impl Aligned {
    /// A list of zeros.
    pub(crate) fn new(length: usize) -> Aligned {
        let list = vec![0.0; length + LINE / size_of::<f64>()];
        // Where it cannot be known, anywhere will do.
        let start = list.as_ptr().align_offset(LINE).min(LINE / size_of::<f64>());
        Aligned { list, start }
    }

    fn length(&self) -> usize {
        self.list.len() - LINE / size_of::<f64>()
    }

    /// The list.
    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.list[self.start..][..self.length()]
    }

    /// The list, to be changed.
    #[inline(always)]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [f64] {
        let length = self.length();
        &mut self.list[self.start..][..length]
    }
}

impl Clone for Aligned {
    /// A copy lies elsewhere, so that its line begins elsewhere.
    fn clone(&self) -> Aligned {
        let mut copy = Aligned::new(self.length());
        copy.as_mut_slice().copy_from_slice(self.as_slice());
        copy
    }
}

/// Numbers of several motions, or of whatever there are several of side by side: a list of lanes at
/// the start of a line, so that lanes of a whole line are loaded as one.
#[derive(Clone, Debug)]
pub struct LaneList<const W: usize>(Aligned);

impl<const W: usize> LaneList<W> {
    /// A list of zeros.
    pub fn new(length: usize) -> LaneList<W> {
        LaneList(Aligned::new(W * length))
    }
}

impl<const W: usize> Deref for LaneList<W> {
    type Target = [[f64; W]];

    #[inline(always)]
    fn deref(&self) -> &[[f64; W]] {
        self.0.as_slice().as_chunks().0
    }
}

impl<const W: usize> DerefMut for LaneList<W> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[f64; W]] {
        self.0.as_mut_slice().as_chunks_mut().0
    }
}

impl<'a, const W: usize> IntoIterator for &'a LaneList<W> {
    type Item = &'a [f64; W];
    type IntoIter = std::slice::Iter<'a, [f64; W]>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_at_a_line_and_copies_too() {
        for length in [0, 1, 4, 100, 5000] {
            let mut list = Aligned::new(length);
            list.as_mut_slice().iter_mut().enumerate().for_each(|(i, x)| *x = i as f64);
            let mut lanes = LaneList::<8>::new(length);
            lanes.iter_mut().for_each(|lanes| *lanes = [1.0; 8]);
            assert_eq!((lanes.len(), lanes.as_ptr() as usize % LINE), (length, 0));
            for list in [list.clone(), list] {
                assert_eq!(list.as_slice().len(), length);
                assert_eq!(list.as_slice().as_ptr() as usize % LINE, 0);
                assert!(list.as_slice().iter().enumerate().all(|(i, &x)| x == i as f64));
            }
        }
    }
}
