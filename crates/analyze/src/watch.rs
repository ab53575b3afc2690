//! Long work that is watched: it says what it is about to do, and ends where it is told
//! to.

use std::ops::ControlFlow;

/// What a caller is asked between the steps of long work, with what comes next in words.
/// The answer `Break` ends the work.
#[derive(Clone, Copy)]
pub struct Watch<'w>(Option<&'w dyn Fn(&'static str) -> ControlFlow<()>>);

/// The caller ended the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl<'w> Watch<'w> {
    /// Nobody watches.
    pub const fn nobody() -> Watch<'w> {
        Watch(None)
    }

    /// A caller who is asked.
    pub fn by(caller: &'w dyn Fn(&'static str) -> ControlFlow<()>) -> Watch<'w> {
        Watch(Some(caller))
    }

    /// Says what comes next.
    pub fn on(&self, stage: &'static str) -> Result<(), Interrupted> {
        match self.0.map(|caller| caller(stage)) {
            Some(ControlFlow::Break(())) => Err(Interrupted),
            _ => Ok(()),
        }
    }
}
