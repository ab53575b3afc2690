//! `solve` nodes written out by Cramer's rule, for readers. Numbers never come
//! this way: a quotient of determinants is longer and less accurate than a solve.

use crate::arena::{ExprId, Exprs};
use rustc_hash::FxHashMap;

impl Exprs {
    /// The expression with every `solve` of at most `largest` unknowns (3 at most)
    /// replaced by quotients, simplified on the way. Larger ones stay.
    pub fn without_solves(&self, id: ExprId, largest: usize) -> ExprId {
        let solves = self.small_solves(id, largest.min(3));
        if solves.is_empty() {
            return id;
        }
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for (first, k, r) in solves {
            // Operands come before what they are operands of.
            let k: Vec<ExprId> = self.replace_nodes(&k, &image);
            let r: Vec<ExprId> = self.replace_nodes(&r, &image);
            let n = r.len();
            let whole = self.simplify(self.determinant(&k, n));
            for column in 0..n {
                let mut other = k.clone();
                (0..n).for_each(|row| other[row * n + column] = r[row]);
                let part = self.simplify(self.determinant(&other, n));
                let quotient = (self.at(part) / self.at(whole)).id;
                image.insert(ExprId(first.0 + column as u32), self.simplify(quotient));
            }
        }
        self.replace_nodes(&[id], &image)[0]
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
