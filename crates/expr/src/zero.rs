//! Whether an expression is 0: first by its form, then at random points.
//!
//! Equal canonical forms are equal, but not the other way round: sin² + cos² − 1
//! is no number in canonical form. So the expression is evaluated at random
//! points, in arithmetic that round-off cannot fool:
//!
//! 1. in balls of doubles ([`crate::ball`]). If 0 is outside, the expression is
//!    certainly not 0, and nearly all that are not end here;
//! 2. exactly, in a finite field, with exponentials and trigonometric functions
//!    as powers of random elements (`modular.rs`). If it vanishes at all points,
//!    it is taken for 0, with the probability of error stated below. If not, a
//!    rational function is certainly not 0; other expressions are still open;
//! 3. in balls of doubles at many more points, with symbols of all signs and
//!    sizes, for expressions that vanish in one part of their domain only, like
//!    √(x²) − x; and at a few near 0, for those that are flat nearly everywhere;
//! 4. in balls of extended precision, with a point for each way that branches
//!    were seen to be taken in step 3. The precision doubles until 0 is outside,
//!    or until the ball has shrunk about 0 as precision grew, to 2^−100 of the
//!    smallest against the largest value that came up on the way. Where these
//!    are so far apart that no precision allowed can do that, it is left open.
//!
//! # How far to trust the answer
//!
//! [`Zero::Structural`] and [`Zero::Nonzero`] are certain, as far as the errors
//! of the libraries that balls are made with are what [`crate::ball`] takes them
//! to be; a nonzero expression has a value other than 0 somewhere in its domain.
//!
//! [`Zero::Sampled`] states a bound on the probability, over the choice of the
//! seed, that an expression passes though it is not 0. By Schwartz and Zippel a
//! polynomial of degree d vanishes at a random point, each coordinate one of N
//! values, with probability at most d/N; N is 2^59 here, the points are
//! independent, and d is bounded from the expression's form.
//!
//! - For exact points (step 2) this is a theorem as far as random numbers are
//!   random, if the arguments of exponentials and angles are linear in the
//!   symbols with rational coefficients, and unless all coefficients that are
//!   left are divisible by each of the primes in use, one of 60 bits for each
//!   point. For other arguments it rests on their exponentials being no less
//!   independent than for linear ones.
//! - For extended points (step 4) it is a heuristic: it takes the values of
//!   functions and roots for generic numbers, and a number within 2^−100 of 0
//!   (see above) for 0. An expression made to come closer than that would
//!   pass. It also speaks only of the parts of the domain that points lie in:
//!   an expression that is 0 but in a small part is not found out.
//! - If there are no symbols, all points of step 4 are one. What is stated then
//!   is how close to 0 the value was found to be, relatively: a generic number
//!   is that close with about that probability.
//!
//! An expression is compared where it is defined; x/x is 1 by construction. One
//! that is undefined at all points tried is [`Zero::Unknown`].

mod steps;

pub use crate::arena::Zero;
use crate::arena::{ExprId, Exprs};
use steps::Test;

/// Options of the zero test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroTest {
    /// At how many points an expression must vanish. Default: 4. Balls of
    /// extended precision have no more than 256.
    pub points: u32,
    /// The largest precision of a ball, in bits. Default: 3072, at most 65 536.
    pub max_precision: usize,
    /// Chooses the points; the same seed gives the same answer.
    pub seed: u64,
}

impl Default for ZeroTest {
    fn default() -> Self {
        ZeroTest { points: 4, max_precision: 3072, seed: 0x2545_f491_4f6c_dd1d }
    }
}

impl Exprs {
    /// Whether an expression is 0, with the default options.
    pub fn is_zero(&self, id: ExprId) -> Zero {
        self.zero_test(id, &ZeroTest::default())
    }

    /// Whether an expression is 0.
    pub fn zero_test(&self, id: ExprId, options: &ZeroTest) -> Zero {
        self.zero_tests(&[id], options)[0]
    }

    /// Whether all expressions are 0: [`Zero::Nonzero`] if one is not,
    /// [`Zero::Unknown`] if one is unknown, else with the probability that at
    /// least one of them is not 0. They are evaluated together, until one is
    /// found that is not 0.
    pub fn all_zero(&self, ids: &[ExprId]) -> Zero {
        let options = ZeroTest::default();
        let mut test = Test::new(self, ids, &options);
        test.run(true);
        ids.iter().map(|&id| test.answer(id)).fold(Zero::Structural, Zero::and)
    }

    /// Which of several expressions are 0. They are evaluated together, so that
    /// what they share is evaluated once for each point.
    pub fn zero_tests(&self, ids: &[ExprId], options: &ZeroTest) -> Vec<Zero> {
        let mut test = Test::new(self, ids, options);
        test.run(false);
        ids.iter().map(|&id| test.answer(id)).collect()
    }
}

impl Zero {
    /// Of two expressions whether both are 0.
    fn and(self, other: Zero) -> Zero {
        match (self, other) {
            (Zero::Nonzero, _) | (_, Zero::Nonzero) => Zero::Nonzero,
            (Zero::Unknown, _) | (_, Zero::Unknown) => Zero::Unknown,
            (Zero::Structural, x) | (x, Zero::Structural) => x,
            (
                Zero::Sampled { points: m, probability: p, exact: a },
                Zero::Sampled { points: n, probability: q, exact: b },
            ) => Zero::Sampled { points: m.min(n), probability: (p + q).min(1.0), exact: a && b },
        }
    }
}
