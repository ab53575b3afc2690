//! The lock around an arena, and copies of it that are made when they are written to.
//!
//! [`Exprs`](crate::Exprs) may be used by several threads. Each of its operations takes the lock
//! once, however many nodes it makes; an operation never calls another one, nor a function that
//! was handed in, while it has the lock. Should one do so, it ends by a panic that says so and
//! not by waiting for itself.
//!
//! A clone shares the arena until one of the two adds to it, and ids made before are valid in
//! both. Threads with a clone each get the same ids in the same order whatever the others do;
//! threads that share one arena get the same expressions, with the terms of sums in the order in
//! which they happened to be made.

use crate::arena::Arena;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Something whose address tells threads apart.
    static HERE: u8 = const { 0 };
}

/// The address of the calling thread; never 0.
fn here() -> usize {
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// An arena that one operation at a time uses.
pub(crate) struct Shared {
    arena: Mutex<Arc<Arena>>,
    /// The thread that has the lock; 0 for none. Only a thread itself writes its own address, so
    /// what it reads of that is always true.
    owner: AtomicUsize,
}

impl Shared {
    pub fn new(arena: Arena) -> Shared {
        Shared::of(Arc::new(arena))
    }

    fn of(arena: Arc<Arena>) -> Shared {
        Shared { arena: Mutex::new(arena), owner: AtomicUsize::new(0) }
    }

    /// The arena, for one operation.
    ///
    /// # Panics
    /// If the thread has it already.
    pub fn lock(&self) -> Held<'_> {
        crate::interrupt::pause();
        let me = here();
        assert!(
            self.owner.load(Ordering::Relaxed) != me,
            "an operation on expressions was asked for inside of another one"
        );
        // Nodes are added as a whole, so that a panic leaves no half of one.
        let arena = self.arena.lock().unwrap_or_else(PoisonError::into_inner);
        self.owner.store(me, Ordering::Relaxed);
        Held { arena, owner: &self.owner }
    }
}

impl Clone for Shared {
    fn clone(&self) -> Shared {
        Shared::of(Arc::clone(&self.lock().arena))
    }
}

/// The arena while an operation has it.
pub(crate) struct Held<'a> {
    arena: MutexGuard<'a, Arc<Arena>>,
    owner: &'a AtomicUsize,
}

impl Deref for Held<'_> {
    type Target = Arena;

    fn deref(&self) -> &Arena {
        &self.arena
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Arena {
        Arc::make_mut(&mut self.arena)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.owner.store(0, Ordering::Relaxed);
    }
}
