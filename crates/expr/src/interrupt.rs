//! Somebody who is asked, now and then, whether work on expressions is to go on.
//!
//! A derivation may take long and says nowhere how far it is. But whatever it does, it works on an
//! arena: every so many operations of one thread, between two of them, whoever waits for the work is
//! asked. Operations that may take long themselves, substitutions and Jacobians, let the arena go in
//! between. If the work is not to go on, the stack is unwound as by a panic, with [`Interrupted`] in
//! place of a message, up to [`interruptible`]'s caller, who catches it. The arena has whole nodes in
//! it, as after any panic, and may be used on.
//!
//! Threads that the work starts are not asked, and nobody is who did not call [`interruptible`].

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::rc::Rc;

/// After so many operations somebody is asked; whoever that is looks at the clock.
const EVERY: u32 = 256;

/// Who is asked.
pub type Ask = Rc<dyn Fn() -> ControlFlow<()>>;

/// What the stack is unwound with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(EVERY) };
    static ASKED: RefCell<Option<Ask>> = const { RefCell::new(None) };
}

/// Puts back whoever was asked before, also where the stack is unwound.
struct Before(Option<Ask>);

impl Drop for Before {
    fn drop(&mut self) {
        ASKED.with(|asked| asked.replace(self.0.take()));
    }
}

/// Does work, of which this thread asks somebody now and then.
///
/// # Panics
/// With [`Interrupted`], and without a message, if it is not to go on.
pub fn interruptible<T>(ask: Ask, work: impl FnOnce() -> T) -> T {
    let before = ASKED.with(|asked| asked.replace(Some(ask)));
    let _restored = Before(before);
    work()
}

/// A place at which work may end. Cheap: the arena passes one with each operation, and loops that
/// take long without it may have their own.
#[inline]
pub fn pause() {
    let left = LEFT.get();
    LEFT.set(left.wrapping_sub(1));
    if left == 0 {
        LEFT.set(EVERY);
        ask();
    }
}

#[cold]
fn ask() {
    // What is unwound already stays so.
    if std::thread::panicking() {
        return;
    }
    let asked = ASKED.with(|asked| asked.borrow().clone());
    if asked.is_some_and(|asked| asked().is_break()) {
        resume_unwind(Box::new(Interrupted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exprs;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn work_ends_between_operations_and_the_arena_goes_on() {
        let exprs = Exprs::new();
        let x = exprs.variable("x");
        let grow = |count: i64| (0..count).fold(x, |sum, k| (sum + exprs.integer(k)).sin());
        let calls = Rc::new(Cell::new(0));
        let own = Rc::clone(&calls);
        let ask: Ask = Rc::new(move || {
            own.set(own.get() + 1);
            if own.get() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let ended = catch_unwind(AssertUnwindSafe(|| interruptible(ask, || grow(100_000).id)));
        assert!(ended.expect_err("it was ended").is::<Interrupted>());
        assert_eq!(calls.get(), 3);
        assert!(exprs.len() < 10_000);
        // Nobody is asked any more.
        assert_eq!(grow(5000).id, grow(5000).id);
        assert_eq!(calls.get(), 3);
    }

    #[test]
    fn one_operation_on_a_large_expression_ends_too() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let large = (0..50_000).fold(x, |sum, k| (sum + exprs.integer(k)).sin());
        let symbol = exprs.as_symbol(x.id).expect("it is one");
        let replace = || exprs.substitute(&[large.id], &[(symbol, y.id)]);
        let slopes = || exprs.jacobian(&[large.id], &[symbol]).rows[0][0].1;
        for work in [&(|| drop(replace())) as &dyn Fn(), &|| _ = slopes()] {
            let calls = Rc::new(Cell::new(0));
            let own = Rc::clone(&calls);
            let ask: Ask = Rc::new(move || {
                own.set(own.get() + 1);
                if own.get() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let ended = catch_unwind(AssertUnwindSafe(|| interruptible(ask, work)));
            assert!(ended.expect_err("it was ended").is::<Interrupted>());
        }
        // What was begun is gone on with, and comes to the same.
        let (first, slope) = (replace(), slopes());
        assert_eq!((replace(), slopes()), (first, slope));
        assert_eq!(exprs.eval_f64(&[slope], |_| 0.3).len(), 1);
    }
}
