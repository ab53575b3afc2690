//! The zero test, step by step.

use super::{Zero, ZeroTest};
use crate::arena::{ExprId, Exprs};
use crate::ball::{BallSign, Balls, Enclose, Extended, ExtendedBall, Gap};
use crate::degree::Profile;
use crate::modular::{BITS, Modular};
use crate::sample::{Looked, SMALL_POINTS, Traced, coordinate, in_order};
use rustc_hash::FxHashMap;

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
/// No precision beyond, whatever is asked for.
const MOST_BITS: usize = 1 << 16;
/// From this precision on nothing is waited for that no precision allowed will show
/// to be 0: doubling costs four times as much or more.
const ENOUGH: usize = 768;
/// An expression is given up after precision ran out at so many points.
const PATIENCE: u32 = 3;

/// A test of several expressions in progress.
pub(super) struct Test<'t> {
    exprs: &'t Exprs,
    options: &'t ZeroTest,
    found: FxHashMap<ExprId, Zero>,
    /// The expressions that are not decided yet.
    open: Vec<ExprId>,
}

impl<'t> Test<'t> {
    pub fn new(exprs: &'t Exprs, ids: &[ExprId], options: &'t ZeroTest) -> Self {
        let mut open = ids.to_vec();
        open.sort_unstable();
        open.dedup();
        let mut found = FxHashMap::default();
        let memo = *options == ZeroTest::default();
        for &id in &open {
            if let Some(number) = exprs.as_number(id) {
                found.insert(id, if number.is_zero() { Zero::Structural } else { Zero::Nonzero });
            } else if let Some(&known) = exprs.arena.lock().zeros.get(&id).filter(|_| memo) {
                found.insert(id, known);
            }
        }
        let mut test = Test { exprs, options, found, open };
        test.close();
        test
    }

    pub fn answer(&self, id: ExprId) -> Zero {
        self.found.get(&id).copied().unwrap_or(Zero::Unknown)
    }

    /// Takes out what was found.
    fn close(&mut self) {
        self.open.retain(|id| !self.found.contains_key(id));
    }

    /// Step by step; `all` ends it as soon as one is not 0. What was found with the
    /// default options is kept: expressions do not change.
    pub fn run(&mut self, all: bool) {
        self.steps(all);
        if *self.options == ZeroTest::default() {
            let stopped = all && self.found.values().any(Zero::is_nonzero);
            let unknown = self.open.iter().filter(|_| !stopped).map(|&id| (id, Zero::Unknown));
            let found = self.found.iter().map(|(&id, &zero)| (id, zero));
            self.exprs.arena.lock().zeros.extend(found.chain(unknown));
        }
    }

    fn steps(&mut self, all: bool) {
        let done = |test: &Self| {
            test.open.is_empty() || (all && test.found.values().any(Zero::is_nonzero))
        };
        if done(self) {
            return;
        }
        let mut points = self.look_at(0..FIRST_LOOK);
        if done(self) {
            return;
        }
        let profiles = self.exprs.arena.lock().profiles(&self.open);
        let profiles: FxHashMap<ExprId, Profile> =
            self.open.iter().copied().zip(profiles).collect();
        self.exact_points(&profiles);
        if done(self) {
            return;
        }
        if !self.open.iter().all(|id| profiles[id].constant) {
            let affordable = BUDGET / self.exprs.count_nodes(&self.open).max(1);
            let last = (affordable as u32).clamp(FEWEST_LOOKS, MOST_LOOKS);
            points.extend(self.look_at(FIRST_LOOK..last));
            self.look_near_zero();
        }
        if done(self) {
            return;
        }
        let (points, pieces) = in_order(points);
        self.extended_points(&profiles, &points, pieces);
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
            for (&id, value) in self.open.iter().zip(values) {
                match value.map(|ball| traced.sign(&ball)) {
                    Ok(BallSign::Negative | BallSign::Positive) => {
                        self.found.insert(id, Zero::Nonzero);
                    }
                    Ok(_) => {
                        point.defined += 1;
                        point.possible += 1;
                    }
                    Err(Gap::Undecided) => point.possible += 1,
                    Err(Gap::Undefined) => {}
                }
            }
            looked.push(point);
            self.close();
        }
        looked
    }

    /// Evaluates in balls of doubles near 0; what excludes 0 is settled. These points
    /// are special, and nothing else is concluded from them.
    fn look_near_zero(&mut self) {
        for number in 0..SMALL_POINTS {
            if self.open.is_empty() {
                break;
            }
            let (traced, seed) = (Traced::new(), self.options.seed);
            let value = |s| traced.small_coordinate(seed, number, s);
            let values = self.exprs.evaluate(&traced, &self.open, value);
            for (&id, value) in self.open.iter().zip(values) {
                let sign = value.map(|ball| traced.sign(&ball));
                if let Ok(BallSign::Negative | BallSign::Positive) = sign {
                    self.found.insert(id, Zero::Nonzero);
                }
            }
            self.close();
        }
    }

    /// Evaluates in finite fields; what vanishes throughout is settled, and
    /// what is rational in any case, unless it is undefined.
    fn exact_points(&mut self, profiles: &FxHashMap<ExprId, Profile>) {
        let mut active: Vec<(ExprId, u32)> = self.open.iter().map(|&id| (id, 0)).collect();
        // A denominator vanishes rarely, unless it is 0.
        for point in 0..self.options.points.saturating_add(2) {
            if active.is_empty() {
                break;
            }
            let modular = Modular::new(self.options.seed, point);
            let roots: Vec<ExprId> = active.iter().map(|a| a.0).collect();
            let values = self.exprs.evaluate(&modular, &roots, |s| modular.symbol(s));
            let mut next = Vec::new();
            for ((id, zeros), value) in active.into_iter().zip(values) {
                let profile = profiles[&id];
                match value {
                    Some([0, _, _]) if zeros + 1 >= self.options.points => {
                        let probability = chance(profile.degree, zeros + 1);
                        self.found.insert(
                            id,
                            Zero::Sampled { points: zeros + 1, probability, exact: true },
                        );
                    }
                    Some([0, _, _]) => next.push((id, zeros + 1)),
                    Some(_) if profile.rational => {
                        self.found.insert(id, Zero::Nonzero);
                    }
                    Some(_) => {}
                    None => next.push((id, zeros)),
                }
            }
            active = next;
        }
        self.close();
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
        let mut tally: FxHashMap<ExprId, Tally> = FxHashMap::default();
        for (at, &point) in points.iter().enumerate() {
            let so_far = |id: ExprId| (id, tally.get(&id).copied().unwrap_or_default());
            let open: Vec<(ExprId, Tally)> = self.open.iter().map(|&id| so_far(id)).collect();
            let active: Vec<Active> = open
                .into_iter()
                .filter(|(_, tally)| tally.untold < PATIENCE)
                .map(|(id, tally)| Active { id, before: None, hurry: tally.untold > 0 })
                .collect();
            if active.is_empty() {
                break;
            }
            for (id, outcome) in self.extended_point(&source, point, active) {
                let tally = tally.entry(id).or_default();
                match outcome {
                    Outcome::Untold => tally.untold += 1,
                    Outcome::Nonzero => {
                        self.found.insert(id, Zero::Nonzero);
                    }
                    Outcome::Zero { bits } if profiles[&id].constant => {
                        let probability = (-bits).exp2();
                        self.found
                            .insert(id, Zero::Sampled { points: 1, probability, exact: false });
                    }
                    Outcome::Zero { .. } => tally.zeros += 1,
                }
            }
            for &id in self.open.iter().filter(|_| at + 1 >= pieces) {
                let points = tally.get(&id).map_or(0, |t| t.zeros);
                if points >= self.options.points.max(1) && !self.found.contains_key(&id) {
                    let probability = chance(profiles[&id].degree, points);
                    self.found.insert(id, Zero::Sampled { points, probability, exact: false });
                }
            }
            self.close();
        }
    }

    /// What expressions are at one point, those aside that are undefined, or in
    /// a hurry.
    fn extended_point(
        &self,
        source: &Extended,
        point: u32,
        active: Vec<Active>,
    ) -> Vec<(ExprId, Outcome)> {
        let mut outcomes = Vec::new();
        let mut active = active;
        let (seed, limit) = (self.options.seed, self.options.max_precision.min(MOST_BITS));
        let mut precision = FIRST_PRECISION;
        while !active.is_empty() && precision <= limit {
            let balls = Balls(source.with_precision(precision));
            let roots: Vec<ExprId> = active.iter().map(|a| a.id).collect();
            let values = self
                .exprs
                .evaluate(&balls, &roots, |s| balls.0.number(&coordinate(seed, point, s)));
            // The precision, less the bits that the values on the way span.
            let spare = |precision: usize| precision as i64 - 2 * balls.0.reach();
            let hopeless = spare(limit) < MARGIN;
            let mut next = Vec::new();
            for (Active { id, before, hurry }, value) in active.into_iter().zip(values) {
                let before = match value {
                    Err(Gap::Undefined) => continue,
                    Err(Gap::Undecided) => None,
                    Ok(ball) => match judge(&balls.0, &ball, before, precision, spare(precision)) {
                        Ok(outcome) => {
                            outcomes.push((id, outcome));
                            continue;
                        }
                        Err(size) => Some(size),
                    },
                };
                if !(hopeless && (hurry || precision >= ENOUGH)) {
                    next.push(Active { id, before, hurry });
                }
            }
            active = next;
            precision *= 2;
        }
        outcomes.extend(active.into_iter().map(|a| (a.id, Outcome::Untold)));
        outcomes
    }
}

/// At how many points an expression was 0, or could not be told.
#[derive(Clone, Copy, Default)]
struct Tally {
    zeros: u32,
    untold: u32,
}

/// An expression that is evaluated at a point.
struct Active {
    id: ExprId,
    /// The size of its ball at half the precision.
    before: Option<f64>,
    /// Whether not to wait for it where precision will not suffice.
    hurry: bool,
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
/// size, for the next time.
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
