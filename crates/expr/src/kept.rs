//! Values that are kept from one evaluation to the next.
//!
//! Of expressions that come one by one and are made of each other (the positions along a chain,
//! xᵢ = xᵢ₋₁ + lᵢ), each is a step from the one before, while a walk of each from its root would
//! take the square of their number.

use crate::arena::{ExprId, Exprs, Node};
use crate::eval::{Doubles, combine};
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;

/// The values of expressions in doubles, for one set of values of symbols; `None` for those that
/// hold a symbol without a value.
#[derive(Clone, Debug, Default)]
pub struct KeptValues {
    values: FxHashMap<ExprId, Option<f64>>,
}

impl KeptValues {
    /// Of how many expressions a value is kept.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether nothing was evaluated yet.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn of(&self, id: ExprId) -> Option<f64> {
        self.values.get(&id).copied().flatten()
    }
}

impl Exprs {
    /// The value of an expression, with those of all it consists of kept; `None` if it holds a
    /// symbol without a value. A symbol is asked for once: as long as the values are kept, it has
    /// to stay what it is. The number is that of [`Exprs::eval_f64`].
    pub fn eval_kept(
        &self,
        kept: &mut KeptValues,
        root: ExprId,
        mut symbol: impl FnMut(Symbol) -> Option<f64>,
    ) -> Option<f64> {
        let mut found: Vec<ExprId> = Vec::new();
        let mut stack = vec![root];
        {
            let arena = self.arena.lock();
            while let Some(id) = stack.pop() {
                if let std::collections::hash_map::Entry::Vacant(place) = kept.values.entry(id) {
                    place.insert(None);
                    found.push(id);
                    stack.extend(arena.children(id));
                }
            }
        }
        // Children come before what they are part of.
        found.sort_unstable();
        for id in found {
            // What was handed in may use the arena: it is asked with none held.
            let node = self.arena.lock().node(id);
            let value = match node {
                Node::Symbol(one) if one != Symbol::PI => symbol(one),
                Node::Solve { .. } | Node::Restricted { .. } => {
                    self.operands(id).iter().all(|&e| kept.of(e).is_some()).then(|| {
                        self.eval_f64(&[id], |s| kept.of(self.of_symbol(s)).unwrap_or(f64::NAN))[0]
                    })
                }
                _ => {
                    let arena = self.arena.lock();
                    let all = arena.children(id).iter().all(|&e| kept.of(e).is_some());
                    let at = |e: ExprId| kept.of(e).unwrap_or(f64::NAN);
                    all.then(|| combine(&Doubles, &arena, node, at)).flatten()
                }
            };
            kept.values.insert(id, value);
        }
        kept.of(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_value_is_the_one_that_a_walk_finds() {
        let exprs = Exprs::new();
        let (a, b, c) = (exprs.constant("a"), exprs.constant("b"), exprs.constant("c"));
        let solved = exprs.solve(&[a.id, b.id, b.id, c.id], &[ExprId::ONE, (a * b).id]);
        let values = [0.3, -1.7, 2.9];
        let of = |s: Symbol| {
            [a, b, c].iter().position(|x| x.symbol() == Some(s)).map_or(f64::NAN, |at| values[at])
        };
        let mut kept = KeptValues::default();
        let mut x = exprs.at(ExprId::ZERO);
        for turn in 0..60 {
            let angle = a * turn + b.powi(2) / 7;
            x = x + angle.sin() * c + b.powi(-3) * exprs.at(solved[turn as usize % 2]);
            let found = exprs.eval_kept(&mut kept, x.id, |s| Some(of(s)));
            assert_eq!(found, Some(exprs.eval_f64(&[x.id], of)[0]), "turn {turn}");
        }
    }

    #[test]
    fn each_link_of_a_chain_is_walked_once() {
        let exprs = Exprs::new();
        let l = exprs.constant("l");
        let mut kept = KeptValues::default();
        let mut x = exprs.at(ExprId::ZERO);
        let mut asked = 0;
        for link in 0..5000 {
            x = x + (l * link).cos();
            let found = exprs.eval_kept(&mut kept, x.id, |_| {
                asked += 1;
                Some(0.1)
            });
            assert!(found.is_some_and(f64::is_finite));
        }
        assert_eq!(asked, 1);
        // A link is an angle, its cosine, and the sum up to it.
        assert!(kept.len() <= 3 * 5000 + 10, "{} values", kept.len());
    }

    #[test]
    fn what_holds_a_symbol_without_a_value_has_none() {
        let exprs = Exprs::new();
        let (a, b) = (exprs.constant("a"), exprs.constant("b"));
        let mut kept = KeptValues::default();
        let value = |s: Symbol| (Some(s) == a.symbol()).then_some(2.0);
        assert_eq!(exprs.eval_kept(&mut kept, (a + b).id, value), None);
        assert_eq!(exprs.eval_kept(&mut kept, (a * 3).id, value), Some(6.0));
        assert_eq!(exprs.eval_kept(&mut kept, (a + b).sin().id, value), None);
    }
}
