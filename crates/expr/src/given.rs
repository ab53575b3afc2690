//! Functions of one argument that a program gives: closures, by a number.
//!
//! `given(k, x)` with k = 8 id + d is the d-th derivative of a function at x. What is not given
//! beyond it is not known: `given` of a derivative that the function came without is NaN, and
//! nothing is proved, expanded or enclosed of any.
//!
//! An arena that speaks of a function keeps it, and so does whatever keeps the arena. When the last
//! of them is gone the function is dropped, and its number is never used again.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// A function of a program.
pub type Closure = Box<dyn Fn(f64) -> f64 + Send + Sync>;

/// Numbers of a function: its derivatives. A motion asks for two at most.
const ORDERS: u64 = 8;
/// Numbers are doubles where they are evaluated, and exact up to here.
const MOST: u64 = (1 << 53) / ORDERS;

static GIVEN: RwLock<Known> = RwLock::new(Known { next: 0, by_id: BTreeMap::new() });

struct Known {
    next: u64,
    by_id: BTreeMap<u64, Weak<Given>>,
}

/// A function that a program gives, with as many derivatives as are known.
pub struct Given {
    id: u64,
    name: String,
    /// The function, then its derivatives.
    orders: Vec<Closure>,
}

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Given {
    /// A function and its derivatives, in their order. `None` without a function, or with more
    /// derivatives than seven.
    pub fn new(name: &str, orders: Vec<Closure>) -> Option<Arc<Given>> {
        if orders.is_empty() || orders.len() as u64 > ORDERS {
            return None;
        }
        let known = &mut *GIVEN.write().unwrap_or_else(PoisonError::into_inner);
        let id = known.next;
        if id >= MOST {
            return None;
        }
        known.next += 1;
        let given = Arc::new(Given { id, name: name.to_owned(), orders });
        known.by_id.insert(id, Arc::downgrade(&given));
        Some(given)
    }

    /// Its name in the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many of its derivatives are known.
    pub fn derivatives(&self) -> u32 {
        self.orders.len() as u32 - 1
    }

    /// The number of a derivative, for expressions.
    pub(crate) fn key(&self, order: u32) -> i64 {
        (self.id * ORDERS + u64::from(order).min(ORDERS - 1)) as i64
    }

    /// The function of a number, and the order of its derivative.
    pub(crate) fn of_key(key: f64) -> Option<(Arc<Given>, u32)> {
        if !(0.0..(MOST * ORDERS) as f64).contains(&key) || key.fract() != 0.0 {
            return None;
        }
        let (id, order) = (key as u64 / ORDERS, key as u64 % ORDERS);
        // The lock is given back before a function is called, which may make others.
        let known = GIVEN.read().unwrap_or_else(PoisonError::into_inner);
        Some((known.by_id.get(&id)?.upgrade()?, order as u32))
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        GIVEN.write().unwrap_or_else(PoisonError::into_inner).by_id.remove(&self.id);
    }
}

/// `given(k, x)` of doubles. A function that panics has no value there: what calls this may be
/// machine code, through which no panic passes.
pub(crate) fn call(key: f64, x: f64) -> f64 {
    let Some((given, order)) = Given::of_key(key) else { return f64::NAN };
    let Some(function) = given.orders.get(order as usize) else { return f64::NAN };
    catch_unwind(AssertUnwindSafe(|| function(x))).unwrap_or(f64::NAN)
}

/// The number of the next derivative, whether it is known or not.
pub(crate) fn next(key: f64) -> Option<i64> {
    let (given, order) = Given::of_key(key)?;
    Some(given.key(order + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Doubles;
    use crate::{ExprId, Exprs, Number, Symbol};

    #[test]
    fn functions_have_derivatives_as_far_as_they_are_given() {
        let exprs = Exprs::new();
        let sine = Given::new("f", vec![Box::new(f64::sin), Box::new(f64::cos)]).expect("one");
        let t = exprs.of_symbol(Symbol::TIME);
        let twice = exprs.of_number(Number::integer(2));
        let inside = exprs.at(twice) * exprs.at(t);
        let f = exprs.give(&sine, inside.id);
        let at = |id: ExprId| exprs.evaluate(&Doubles, &[id], |_| 0.3)[0];
        assert_eq!(at(f), 0.6f64.sin());
        let rate = exprs.time_derivative(f);
        assert_eq!(at(rate), 2.0 * 0.6f64.cos());
        assert!(at(exprs.time_derivative(rate)).is_nan());
        assert_eq!(exprs.given(&[rate]).len(), 1);
        assert_eq!((exprs.given(&[rate])[0].1, sine.derivatives()), (1, 1));
    }

    #[test]
    fn functions_stay_as_long_as_an_arena_speaks_of_them() {
        let exprs = Exprs::new();
        let one = Given::new("f", vec![Box::new(|x| x + 1.0)]).expect("one");
        let key = one.key(0) as f64;
        exprs.give(&one, exprs.of_symbol(Symbol::TIME));
        let other = exprs.clone();
        drop((one, exprs));
        assert_eq!(call(key, 1.0), 2.0);
        drop(other);
        assert!(call(key, 1.0).is_nan());
    }

    #[test]
    fn a_function_that_panics_has_no_value() {
        let wrong = Given::new("f", vec![Box::new(|_| panic!("it is to"))]).expect("one");
        assert!(call(wrong.key(0) as f64, 1.0).is_nan());
        assert!(Given::new("f", Vec::new()).is_none());
    }
}
