//! Eliminations: ways to get v̇ and λ out of Γ v̇ = F + C + Aᵀλ, A v̇ = b.
//!
//! Each elimination is one file that states its equation and source. What must not depend on the
//! choice (ranks, the status of the motion, null vectors, contradictions, multipliers of least
//! norm, certificates) is done once for all of them; the acceleration itself comes from
//! each one's own algebra, so that they check each other.

mod along_tree;
mod articulated_bodies;
pub mod factored;
mod frozen;
mod inverse;
mod larger;
mod scratch;
mod shared;
mod status;

mod multipliers;
mod null_space;
mod singular_mass;
mod singular_mass_literal;
mod udwadia_kalaba;
mod udwadia_kalaba_literal;

pub use crate::error::SolveError;
pub use scratch::Scratch;

use crate::outcome::Outcome;
use crate::sparse;
use crate::terms::{Terms, Tolerances};

/// Up to so many rows a factored matrix is solved with one operation after the other, such that
/// code that has them as single instructions gives the same bits.
pub const STRAIGHT: usize = 20;
/// The same for the coordinates of a problem with rows, which has more operations.
pub const STRAIGHT_WITH_ROWS: usize = 10;

/// Where an elimination comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The book or paper.
    pub work: &'static str,
    /// The equations in it.
    pub equations: &'static str,
}

/// A way to solve the problem at one state, in equilibrated units, once units, ranks and the
/// order of rows are decided. What it does not do itself is done for all of them.
pub trait Elimination: Sync {
    /// The name by which a user chooses it.
    fn name(&self) -> &'static str;

    /// Where it comes from.
    fn source(&self) -> Source;

    /// Whether it needs Γ ≻ 0.
    fn needs_regular(&self) -> bool {
        false
    }

    /// Whether it solves in the order and the units of a decision; one that follows a printed
    /// formula step by step does not.
    fn freezes(&self) -> bool {
        true
    }

    /// Whether the factors of the rows and of K, which are there before it is asked, are all that
    /// it solves with.
    fn is_null_space(&self) -> bool {
        false
    }

    /// Whether it goes along a tree of bodies: a Γ of such is then kept as theirs, however small.
    fn is_along_tree(&self) -> bool {
        false
    }

    /// Factors what it solves with, at the metric and the rows in `scratch`. False if that is
    /// singular; then the null space takes over.
    fn factor(&self, scratch: &mut Scratch, terms: &Terms) -> bool;

    /// Finds x in `scratch` with what was factored, for the forces and right-hand sides there.
    /// False if it is not a number.
    fn back_substitute(&self, scratch: &mut Scratch, terms: &Terms) -> bool;
}

impl dyn Elimination + '_ {
    /// Decides, factors, solves and certifies. A problem without a motion is not an error:
    /// `outcome.motion` says so. After an error the contents of `outcome` have no meaning.
    pub fn solve(
        &self,
        scratch: &mut Scratch,
        terms: &Terms,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) -> Result<(), SolveError> {
        scratch.is_sparse = false;
        if terms.patterns.is_some() {
            return self.solve_sparse(scratch, terms, tolerances, outcome);
        }
        let proceeds = shared::begin(scratch, terms, tolerances, outcome)?;
        if self.needs_regular() {
            shared::refuse_singular(scratch, terms, outcome)?;
        }
        if !proceeds {
            return Ok(());
        }
        if !(self.factor(scratch, terms) && self.back_substitute(scratch, terms)) {
            null_space::solve_free(scratch);
        }
        shared::finish(scratch, terms, outcome)
    }

    /// A sparse problem by its structure; with all its zeros where that does not serve, or where
    /// an elimination was asked for by name.
    fn solve_sparse(
        &self,
        scratch: &mut Scratch,
        terms: &Terms,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) -> Result<(), SolveError> {
        terms.check()?;
        scratch.is_along_tree = terms.bodies().is_some();
        if let Some(bodies) = terms.bodies().filter(|_| self.is_null_space()) {
            let mut own = scratch.tree.take().unwrap_or_default();
            let solved = own.solve(bodies, terms, tolerances, outcome);
            scratch.tree = Some(own);
            if let Some(solved) = solved {
                scratch.is_sparse = true;
                return solved;
            }
        } else if self.is_null_space() {
            let mut decided = scratch.sparse.take().unwrap_or_default();
            let solved = sparse::solve(&mut decided, terms, tolerances, outcome);
            scratch.sparse = Some(decided);
            if let Some(solved) = solved {
                scratch.is_sparse = true;
                return solved;
            }
        }
        if terms.n > sparse::LARGEST_DENSE {
            return Err(SolveError::TooLarge { size: terms.n });
        }
        let mut dense = scratch.dense.take().unwrap_or_default();
        let solved = self.solve(scratch, &dense.fill(terms), tolerances, outcome);
        scratch.dense = Some(dense);
        solved
    }
}

/// The explicit list. An elimination is a module with a static `ELIMINATION`; the module line
/// stays outside the macro because rustfmt does not follow modules declared inside one.
macro_rules! eliminations {
    ($($member:ident),* ; trees: $tree:ident ; literal: $($literal:ident),*) => {
        /// The eliminations meant for use with any system.
        pub static ALL: &[&dyn Elimination] = &[$(&$member::ELIMINATION),*];

        /// Those of [`ALL`], that of trees of bodies, and the literal ones, which follow the printed
        /// formulas step by step and are kept for comparison.
        pub static EVERY: &[&dyn Elimination] =
            &[$(&$member::ELIMINATION),* , &$tree::ELIMINATION, $(&$literal::ELIMINATION),*];

        /// That of trees of bodies.
        pub static ALONG_TREE: &dyn Elimination = &$tree::ELIMINATION;
    };
}

eliminations! {
    multipliers, udwadia_kalaba, null_space, singular_mass;
    trees: articulated_bodies;
    literal: udwadia_kalaba_literal, singular_mass_literal
}

/// The elimination used unless another is named: `null-space`.
pub static DEFAULT: &dyn Elimination = &null_space::ELIMINATION;

/// The elimination with the given name.
pub fn by_name(name: &str) -> Option<&'static dyn Elimination> {
    EVERY.iter().copied().find(|elimination| elimination.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_found() {
        assert_eq!((ALL.len(), EVERY.len()), (4, 7));
        for (i, a) in EVERY.iter().enumerate() {
            assert!(by_name(a.name()).is_some_and(|found| found.source() == a.source()));
            assert!(EVERY.iter().skip(i + 1).all(|b| a.name() != b.name()));
        }
        assert_eq!(DEFAULT.name(), "null-space");
        assert!(by_name("unheard-of").is_none());
    }
}
