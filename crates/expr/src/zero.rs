//! Whether an expression is 0: first by its form, then at random points.
//!
//! Equal canonical forms are equal, but not the other way round: sin² + cos² − 1
//! is no number in canonical form. So the expression is evaluated at random
//! points, in arithmetic that round-off cannot fool:
//!
//! 1. in balls of doubles ([`crate::ball`]). If 0 is outside, the expression is
//!    certainly not 0, and nearly all that are not end here;
//! 2. exactly, in a finite field, with exponentials and trigonometric functions
//!    as powers of one element ([`crate::modular`]). If it vanishes at all
//!    points, it is 0 with the probability stated below. If not, a rational
//!    function is certainly not 0; other expressions are still open;
//! 3. in balls of doubles at many more points, with symbols of all signs and
//!    sizes, for expressions that vanish in one part of their domain only, like
//!    √(x²) − x;
//! 4. in balls of extended precision, with a point for each way that branches
//!    were seen to be taken in step 3. The precision doubles until 0 is outside,
//!    or until the ball has shrunk about 0 as precision grew, to 2^−100 of the
//!    smallest against the largest value that came up on the way.
//!
//! # How far to trust the answer
//!
//! [`Zero::Structural`] and [`Zero::Nonzero`] are certain; a nonzero expression
//! has a value other than 0 somewhere in its domain.
//!
//! [`Zero::Sampled`] states a bound on the probability, over the choice of the
//! seed, that an expression passes though it is not 0. By Schwartz and Zippel a
//! polynomial of degree d vanishes at a random point, each coordinate one of N
//! values, with probability at most d/N; N is 2^59 here, the points are
//! independent, and d is bounded from the expression's form.
//!
//! - For exact points (step 2) this is a theorem as far as random numbers are
//!   random, if the arguments of exponentials and angles are linear in the
//!   symbols with rational coefficients, and no prime of the eight in use
//!   divides all coefficients that are left. For other arguments it rests on
//!   their exponentials being no less independent than for linear ones.
//! - For extended points (step 4) it is a heuristic: it takes the values of
//!   functions and roots for generic numbers, and a number within 2^−100 of 0
//!   (see above) for 0. An expression made to come closer than that would
//!   pass. It also speaks only of the parts of the domain that points lie in:
//!   an expression that is 0 but in a small part is not found out.
//! - If there are no symbols, all points are one. Then what is stated is how
//!   close to 0 the value was found to be, relatively: a generic number is that
//!   close with about that probability.
//!
//! An expression is compared where it is defined; x/x is 1 by construction. One
//! that is undefined at all points tried is [`Zero::Unknown`].

use crate::arena::{ExprId, Exprs};
use crate::ball::{BallSign, Balls, Enclose, Extended, ExtendedBall, Gap};
use crate::degree::Profile;
use crate::modular::{BITS, Modular};
use crate::sample::{Looked, Traced, coordinate, in_order};
use rustc_hash::FxHashMap;

/// What a zero test found. See the [module documentation](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zero {
    /// The canonical form is the number 0.
    Structural,
    /// It is 0 at all points that were tried.
    Sampled {
        /// How many points.
        points: u32,
        /// A bound on the probability that an expression passes which is not 0.
        probability: f64,
        /// Whether the points were evaluated in exact arithmetic.
        exact: bool,
    },
    /// Certainly not 0.
    Nonzero,
    /// Undefined at all points tried, or balls did not shrink.
    Unknown,
}

impl Zero {
    /// Whether it is 0 as far as can be told.
    pub fn is_zero(&self) -> bool {
        matches!(self, Zero::Structural | Zero::Sampled { .. })
    }

    /// Whether it is certainly not 0.
    pub fn is_nonzero(&self) -> bool {
        matches!(self, Zero::Nonzero)
    }
}

/// Options of the zero test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroTest {
    /// At how many points an expression must vanish. Default: 4.
    pub points: u32,
    /// The largest precision of a ball, in bits. Default: 3072.
    pub max_precision: usize,
    /// Chooses the points; the same seed gives the same answer.
    pub seed: u64,
}

impl Default for ZeroTest {
    fn default() -> Self {
        ZeroTest { points: 4, max_precision: 3072, seed: 0x2545_f491_4f6c_dd1d }
    }
}

/// Points looked at in doubles before exact arithmetic, and the fewest and most
/// in all. More find out more: an expression may vanish in most of its domain,
/// and be defined nowhere else but in a corner.
const FIRST_LOOK: u32 = 2;
const FEWEST_LOOKS: u32 = 32;
const MOST_LOOKS: u32 = 256;
/// Nodes to evaluate in doubles for that.
const BUDGET: usize = 1 << 20;
/// Bits by which a ball about 0 must be smaller than all else.
const MARGIN: i64 = 100;
/// The first precision in bits; it doubles from there.
const FIRST_PRECISION: usize = 192;
/// An expression is given up after precision ran out at so many points.
const PATIENCE: u32 = 3;

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
    /// [`Zero::Unknown`] if one is unknown, else the probability that at least
    /// one of them is not 0. They are evaluated together.
    pub fn all_zero(&self, ids: &[ExprId]) -> Zero {
        self.zero_tests(ids, &ZeroTest::default()).into_iter().fold(Zero::Structural, Zero::and)
    }

    /// Which of several expressions are 0. They are evaluated together, so that
    /// what they share is evaluated once for each point.
    pub fn zero_tests(&self, ids: &[ExprId], options: &ZeroTest) -> Vec<Zero> {
        let mut found: FxHashMap<ExprId, Zero> = FxHashMap::default();
        let mut open: Vec<ExprId> = Vec::new();
        for &id in ids {
            if found.contains_key(&id) {
                continue;
            }
            found.insert(id, Zero::Unknown);
            match self.as_number(id) {
                Some(number) if number.is_zero() => drop(found.insert(id, Zero::Structural)),
                Some(_) => drop(found.insert(id, Zero::Nonzero)),
                None => open.push(id),
            }
        }
        let mut test = Test { exprs: self, options, found, open };
        test.run();
        ids.iter().map(|id| test.found[id]).collect()
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

/// A test of several expressions in progress.
struct Test<'e> {
    exprs: &'e Exprs,
    options: &'e ZeroTest,
    found: FxHashMap<ExprId, Zero>,
    /// The expressions that are not decided yet.
    open: Vec<ExprId>,
}

impl Test<'_> {
    fn run(&mut self) {
        let first = self.look_at(0..FIRST_LOOK);
        if self.open.is_empty() {
            return;
        }
        let profiles = self.exprs.arena.borrow_mut().profiles(&self.open);
        let profiles: FxHashMap<ExprId, Profile> =
            self.open.iter().copied().zip(profiles).collect();
        self.exact_points(&profiles);
        if self.open.is_empty() {
            return;
        }
        let mut points = first;
        if !self.open.iter().all(|id| profiles[id].constant) {
            let affordable = BUDGET / self.exprs.count_nodes(&self.open).max(1);
            let last = (affordable as u32).clamp(FEWEST_LOOKS, MOST_LOOKS);
            points.extend(self.look_at(FIRST_LOOK..last));
        }
        let (points, pieces) = in_order(points);
        self.extended_points(&profiles, &points, pieces);
    }

    fn settle(&mut self, id: ExprId, zero: Zero) {
        self.found.insert(id, zero);
        self.open.retain(|&other| other != id);
    }

    /// Evaluates in balls of doubles; what excludes 0 is settled.
    fn look_at(&mut self, points: std::ops::Range<u32>) -> Vec<Looked> {
        let seed = self.options.seed;
        let mut looked = Vec::new();
        for number in points {
            if self.open.is_empty() {
                break;
            }
            let traced = Traced::new();
            let values =
                self.exprs.evaluate(&traced, &self.open, |s| traced.coordinate(seed, number, s));
            let mut point = Looked { number, defined: 0, possible: 0, branches: traced.branches() };
            for (id, value) in self.open.clone().into_iter().zip(values) {
                match value.map(|ball| traced.sign(&ball)) {
                    Ok(BallSign::Negative | BallSign::Positive) => self.settle(id, Zero::Nonzero),
                    Ok(_) => {
                        point.defined += 1;
                        point.possible += 1;
                    }
                    Err(Gap::Undecided) => point.possible += 1,
                    Err(Gap::Undefined) => {}
                }
            }
            looked.push(point);
        }
        looked
    }

    /// Evaluates in finite fields; what vanishes throughout is settled, and
    /// what is rational in any case, unless it is undefined.
    fn exact_points(&mut self, profiles: &FxHashMap<ExprId, Profile>) {
        let mut zeros: FxHashMap<ExprId, u32> = self.open.iter().map(|&id| (id, 0)).collect();
        // A denominator vanishes rarely, unless it is 0.
        for point in 0..self.options.points.saturating_add(2) {
            let active: Vec<ExprId> =
                self.open.iter().copied().filter(|id| zeros.contains_key(id)).collect();
            if active.is_empty() {
                break;
            }
            let modular = Modular::new(self.options.seed, point);
            let values = self.exprs.evaluate(&modular, &active, |s| modular.symbol(s));
            for (id, value) in active.into_iter().zip(values) {
                match value {
                    Some([0, _, _]) => {
                        let Some(count) = zeros.get_mut(&id) else { continue };
                        *count += 1;
                        if *count >= self.options.points {
                            let points = *count;
                            let probability = chance(profiles[&id].degree, points);
                            self.settle(id, Zero::Sampled { points, probability, exact: true });
                        }
                    }
                    Some(_) if profiles[&id].rational => self.settle(id, Zero::Nonzero),
                    Some(_) => drop(zeros.remove(&id)),
                    None => {}
                }
            }
        }
    }

    /// Evaluates in balls of growing precision, at least at the first `pieces`
    /// points.
    fn extended_points(
        &mut self,
        profiles: &FxHashMap<ExprId, Profile>,
        points: &[u32],
        pieces: usize,
    ) {
        let source = Extended::new(FIRST_PRECISION);
        // At how many points each was found to be 0, and could not be told.
        let mut tally: FxHashMap<ExprId, (u32, u32)> = FxHashMap::default();
        for (at, &point) in points.iter().enumerate() {
            let told = |id: &ExprId| tally.get(id).is_none_or(|t| t.1 < PATIENCE);
            let active: Vec<ExprId> = self.open.iter().copied().filter(told).collect();
            if active.is_empty() {
                break;
            }
            for (id, outcome) in self.extended_point(&source, point, active) {
                let (zeros, untold) = tally.entry(id).or_default();
                let profile = profiles[&id];
                match outcome {
                    Outcome::Untold => *untold += 1,
                    Outcome::Nonzero => self.settle(id, Zero::Nonzero),
                    Outcome::Zero { bits } if profile.constant => {
                        let probability = (-bits).exp2();
                        self.settle(id, Zero::Sampled { points: 1, probability, exact: false });
                    }
                    Outcome::Zero { .. } => *zeros += 1,
                }
            }
            if at + 1 < pieces {
                continue;
            }
            for id in self.open.clone() {
                let points = tally.get(&id).map_or(0, |t| t.0);
                if points >= self.options.points.max(1) {
                    let probability = chance(profiles[&id].degree, points);
                    self.settle(id, Zero::Sampled { points, probability, exact: false });
                }
            }
        }
    }

    /// What expressions are at one point, those aside that are undefined.
    fn extended_point(
        &self,
        source: &Extended,
        point: u32,
        ids: Vec<ExprId>,
    ) -> Vec<(ExprId, Outcome)> {
        let mut outcomes = Vec::new();
        // Each with the size of its ball at half the precision.
        let mut active: Vec<(ExprId, Option<f64>)> = ids.into_iter().map(|id| (id, None)).collect();
        let mut precision = FIRST_PRECISION;
        while !active.is_empty() && precision <= self.options.max_precision {
            let balls = Balls(source.with_precision(precision));
            let roots: Vec<ExprId> = active.iter().map(|a| a.0).collect();
            let seed = self.options.seed;
            let values = self
                .exprs
                .evaluate(&balls, &roots, |s| balls.0.number(&coordinate(seed, point, s)));
            let spare = precision as i64 - 2 * balls.0.reach();
            let mut next = Vec::new();
            for ((id, before), value) in active.into_iter().zip(values) {
                match value {
                    Err(Gap::Undefined) => {}
                    Err(Gap::Undecided) => next.push((id, None)),
                    Ok(ball) => match judge(&balls.0, &ball, before, precision, spare) {
                        Ok(outcome) => outcomes.push((id, outcome)),
                        Err(size) => next.push((id, Some(size))),
                    },
                }
            }
            active = next;
            precision *= 2;
        }
        outcomes.extend(active.into_iter().map(|(id, _)| (id, Outcome::Untold)));
        outcomes
    }
}

/// What an expression is at a point.
enum Outcome {
    Nonzero,
    /// Precision ran out.
    Untold,
    /// Within 2^−bits of 0, relatively.
    Zero {
        bits: f64,
    },
}

/// What a ball says, given the size it had at half the precision; else its
/// size, for the next time. `spare` is the precision less the bits that the
/// values on the way span.
fn judge(
    balls: &Extended,
    ball: &ExtendedBall,
    before: Option<f64>,
    precision: usize,
    spare: i64,
) -> Result<Outcome, f64> {
    match balls.sign(ball) {
        BallSign::Negative | BallSign::Positive => return Ok(Outcome::Nonzero),
        BallSign::Zero => return Ok(Outcome::Zero { bits: precision as f64 }),
        BallSign::Unclear => {}
    }
    let size = ball.bound().log2();
    // All of the new bits but a few must have gone into the size.
    let gained = (precision / 2 - 32) as f64;
    match before {
        Some(before) if spare >= MARGIN && size <= before - gained => {
            Ok(Outcome::Zero { bits: spare as f64 })
        }
        _ => Err(size),
    }
}

/// The probability that `points` points are all among the zeros of a
/// polynomial.
fn chance(degree: f64, points: u32) -> f64 {
    let one = (degree.max(1.0) / f64::from(BITS).exp2()).min(1.0);
    if one.is_nan() { 1.0 } else { one.powi(points.min(1 << 20) as i32) }
}
