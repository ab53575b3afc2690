//! `solve` nodes written out by Cramer's rule, for readers. Numbers never come
//! this way: a quotient of determinants is longer and less accurate than a solve.

use crate::arena::{ExprId, Exprs};
use rustc_hash::FxHashMap;

/// What `solve` nodes were written out as, kept from one expression to the next: those
/// of a derivation hold the same few, and simplifying determinants takes long.
#[derive(Default)]
pub struct Explicit {
    /// The quotient that stands for a node; `None` where it would be too long.
    image: FxHashMap<ExprId, Option<ExprId>>,
}

/// A determinant with this many times the room is not simplified at all: what the
/// identities take away is seldom more than half.
const HOPELESS: u64 = 16;

impl Exprs {
    /// The expression with every `solve` of at most `largest` unknowns (3 at most)
    /// replaced by quotients, simplified on the way. Larger ones stay.
    pub fn without_solves(&self, id: ExprId, largest: usize) -> ExprId {
        self.explicit(id, largest, u64::MAX, &mut Explicit::default()).unwrap_or(id)
    }

    /// The same, or `None` as soon as one of the quotients takes more than `room`, as a
    /// tree. What is found on the way is kept in `known`, which is for one `largest` and
    /// one `room`.
    pub fn explicit(
        &self,
        id: ExprId,
        largest: usize,
        room: u64,
        known: &mut Explicit,
    ) -> Option<ExprId> {
        let solves = self.small_solves(id, largest.min(3));
        if solves.is_empty() {
            return Some(id);
        }
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for (first, k, r) in solves {
            let columns = || (0..r.len()).map(|column| ExprId(first.0 + column as u32));
            if !known.image.contains_key(&first) {
                // Operands come before what they are operands of.
                let k: Vec<ExprId> = self.replace_nodes(&k, &image);
                let r: Vec<ExprId> = self.replace_nodes(&r, &image);
                let quotients = self.quotients(&k, &r, room);
                for (column, node) in columns().enumerate() {
                    known.image.insert(node, quotients.as_ref().map(|list| list[column]));
                }
            }
            for node in columns() {
                image.insert(node, (*known.image.get(&node)?)?);
            }
        }
        Some(self.replace_nodes(&[id], &image)[0])
    }

    /// K⁻¹ r by Cramer's rule.
    fn quotients(&self, k: &[ExprId], r: &[ExprId], room: u64) -> Option<Vec<ExprId>> {
        let n = r.len();
        let determinant = |entries: &[ExprId]| {
            let plain = self.determinant(entries, n);
            if self.count_tree_size(plain) > room.saturating_mul(HOPELESS) {
                return None;
            }
            let simple = self.simplify(plain);
            (self.count_tree_size(simple) <= room).then_some(simple)
        };
        let whole = determinant(k)?;
        let mut list = Vec::with_capacity(n);
        for column in 0..n {
            let mut other = k.to_vec();
            (0..n).for_each(|row| other[row * n + column] = r[row]);
            let part = determinant(&other)?;
            list.push(self.simplify((self.at(part) / self.at(whole)).id));
        }
        Some(list)
    }

    fn determinant(&self, k: &[ExprId], n: usize) -> ExprId {
        let at = |i: usize, j: usize| self.at(k[i * n + j]);
        match n {
            1 => k[0],
            2 => (at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0)).id,
            _ => {
                let minor = |a: usize, b: usize| at(1, a) * at(2, b) - at(1, b) * at(2, a);
                (at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1)).id
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_inverted_to_its_transpose() {
        let exprs = Exprs::new();
        let (x, a, b) = (exprs.variable("x"), exprs.variable("a"), exprs.variable("b"));
        let k = [x.cos().id, x.sin().id, (-x.sin()).id, x.cos().id];
        let solution = exprs.solve(&k, &[a.id, b.id]);
        let first = exprs.without_solves(solution[0], 3);
        assert_eq!(
            exprs.simplify((exprs.at(first) - (a * x.cos() - b * x.sin())).id),
            ExprId::ZERO
        );
        assert_eq!(
            exprs.without_solves(solution[0], 1),
            solution[0],
            "too large to be written out"
        );
    }

    #[test]
    fn what_would_be_too_long_is_given_up() {
        let exprs = Exprs::new();
        let k: Vec<ExprId> = (0..9).map(|i| exprs.variable(&format!("k{i}")).id).collect();
        let r: Vec<ExprId> = (0..3).map(|i| exprs.variable(&format!("r{i}")).id).collect();
        let solution = exprs.solve(&k, &r);
        let mut known = Explicit::default();
        assert_eq!(exprs.explicit(solution[1], 3, 5, &mut known), None);
        assert_eq!(exprs.explicit(r[0], 3, 5, &mut known), Some(r[0]));
        let mut known = Explicit::default();
        let plain = exprs.explicit(solution[1], 3, 1000, &mut known);
        assert_eq!(plain, Some(exprs.without_solves(solution[1], 3)));
        let again = exprs.explicit(solution[1], 3, 1000, &mut known);
        assert_eq!(again, plain, "what is known gives the same");
    }

    #[test]
    fn solves_inside_of_solves_are_written_out_too() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let one = exprs.integer(1);
        let inner = exprs.solve(&[x.id, one.id, one.id, y.id], &[one.id, x.id]);
        let outer = exprs.solve(&[inner[0], one.id, one.id, y.id], &[x.id, one.id]);
        let plain = exprs.without_solves(outer[1], 3);
        let first = x.symbol().expect("a symbol");
        let value = |id| exprs.eval_f64(&[id], |s| if s == first { 1.7 } else { 0.4 })[0];
        assert!((value(plain) - value(outer[1])).abs() < 1e-12);
    }
}
