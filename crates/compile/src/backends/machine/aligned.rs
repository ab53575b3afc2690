//! Doubles that begin at a line of the processor's cache, so that no four of them, of which the
//! code loads and stores many, lie across two lines.

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
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.list[self.start..][..self.length()]
    }

    /// The list, to be changed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_at_a_line_and_copies_too() {
        for length in [0, 1, 4, 100, 5000] {
            let mut list = Aligned::new(length);
            list.as_mut_slice().iter_mut().enumerate().for_each(|(i, x)| *x = i as f64);
            for list in [list.clone(), list] {
                assert_eq!(list.as_slice().len(), length);
                assert_eq!(list.as_slice().as_ptr() as usize % LINE, 0);
                assert!(list.as_slice().iter().enumerate().all(|(i, &x)| x == i as f64));
            }
        }
    }
}
