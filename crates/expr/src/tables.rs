//! Tables: functions given by data, as polynomials between breaks.
//!
//! ```text
//! f(x) = c₀ + c₁ s + c₂ s² + c₃ s³,   s = x − b_m,   b_m ≤ x < b_{m+1}
//! ```
//!
//! A table is a number to expressions: `table(k, x)` with k = 8 id + d is its d-th derivative, and
//! once the piece m is frozen ([`freeze_switches`](crate::Exprs::freeze_switches)) the coefficients
//! are `entry(8 id + j, m)`, constants of the motion as long as it stays on the piece. Finding m
//! takes log n comparisons, whatever the number of points.
//!
//! Equal tables are one. An arena that speaks of a table keeps it, and so does whatever keeps the
//! arena; when the last of them is gone the table is dropped, and its number is never used again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// Numbers of a piece: four coefficients, where it begins, and where it ends.
const COLUMNS: u64 = 8;
/// The column of where a piece begins.
const FROM: u32 = 4;
/// The column of where a piece ends.
const TO: u32 = 5;
/// Numbers of tables are doubles where they are evaluated, and exact up to here.
const MOST: u64 = (1 << 53) / COLUMNS;

/// Beyond all arguments, and yet a number.
const FAR: f64 = 1e300;

/// A thread has so many tables at hand.
const NEAR: usize = 16;

static KNOWN: RwLock<Known> =
    RwLock::new(Known { next: 0, by_id: BTreeMap::new(), by_hash: BTreeMap::new() });
/// How many tables were dropped so far.
static DROPPED: AtomicU64 = AtomicU64::new(0);

struct Known {
    next: u64,
    by_id: BTreeMap<u64, Weak<Held>>,
    by_hash: BTreeMap<u64, Vec<u64>>,
}

/// A table that arenas speak of, by its number. They keep it.
#[derive(Debug)]
pub(crate) struct Held {
    id: u64,
    hash: u64,
    table: Arc<Table>,
}

/// Tables that a thread looked up last, as long as none was dropped since.
struct AtHand {
    dropped: u64,
    list: Vec<(u64, Arc<Table>)>,
}

thread_local! {
    static AT_HAND: RefCell<AtHand> =
        const { RefCell::new(AtHand { dropped: 0, list: Vec::new() }) };
}

/// How a table goes on outside of its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Outside {
    /// It does not: it has no value there.
    #[default]
    Ends,
    /// By its first and last value.
    Hold,
    /// By its first and last piece.
    Extend,
    /// From the beginning.
    Repeat,
}

/// How values between the points are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Between {
    /// By straight lines: continuous.
    #[default]
    Linear,
    /// By cubics that do not overshoot (Fritsch & Butland 1984): one continuous derivative.
    Monotone,
    /// By a cubic spline, not-a-knot at both ends, or periodic where it repeats: two continuous
    /// derivatives.
    Cubic,
    /// By the value at the point before: nothing is continuous. For inputs that are sampled.
    Step,
}

impl Between {
    /// How many derivatives are continuous; −1 if not even the values are.
    pub fn smoothness(self) -> i32 {
        match self {
            Between::Step => -1,
            Between::Linear => 0,
            Between::Monotone => 1,
            Between::Cubic => 2,
        }
    }
}

/// A function given by data.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: String,
    breaks: Vec<f64>,
    pieces: Vec<[f64; 4]>,
    last: f64,
    between: Between,
    outside: Outside,
}

/// The number by which expressions speak of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(u64);

impl Table {
    /// Distances from ends of pieces that have none are beyond this: nothing is ever there, and they
    /// are the size of nothing.
    pub const NO_END: f64 = 1e-3 * FAR;

    /// A table of points with rising arguments, two or more. `None` if they do not rise or are
    /// not finite.
    pub fn new(
        name: &str,
        arguments: &[f64],
        values: &[f64],
        between: Between,
        outside: Outside,
    ) -> Option<Table> {
        let n = arguments.len();
        let rising = arguments.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = arguments.iter().chain(values).all(|x| x.is_finite());
        if n < 2 || values.len() != n || !rising || !finite {
            return None;
        }
        let h: Vec<f64> = arguments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let secants: Vec<f64> = (0..n - 1).map(|i| (values[i + 1] - values[i]) / h[i]).collect();
        let slopes = match between {
            Between::Step | Between::Linear => Vec::new(),
            Between::Monotone => monotone(&h, &secants, outside == Outside::Repeat),
            Between::Cubic if outside == Outside::Repeat => periodic(&h, &secants),
            Between::Cubic => not_a_knot(&h, &secants),
        };
        let piece = |i: usize| match between {
            Between::Step => [values[i], 0.0, 0.0, 0.0],
            Between::Linear => [values[i], secants[i], 0.0, 0.0],
            _ => {
                let (d0, d1, s, h) = (slopes[i], slopes[i + 1], secants[i], h[i]);
                let c3 = (d0 + d1 - 2.0 * s) / (h * h);
                [values[i], d0, (3.0 * s - 2.0 * d0 - d1) / h, c3]
            }
        };
        let pieces: Vec<[f64; 4]> = (0..n - 1).map(piece).collect();
        let is_finite = pieces.iter().flatten().all(|c| c.is_finite());
        is_finite.then(|| Table {
            name: name.to_owned(),
            breaks: arguments.to_vec(),
            pieces,
            last: values[n - 1],
            between,
            outside,
        })
    }

    /// Its name in the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many derivatives are continuous.
    pub fn smoothness(&self) -> i32 {
        self.between.smoothness()
    }

    /// From where to where there are data; `None` where it goes on outside.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.outside == Outside::Ends).then(|| self.span())
    }

    /// From where to where there are data.
    pub fn span(&self) -> (f64, f64) {
        (self.breaks[0], self.breaks[self.breaks.len() - 1])
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        self.breaks.len()
    }

    /// The values at its points.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.pieces.iter().map(|piece| piece[0]).chain([self.last])
    }

    /// The coefficients of its pieces.
    pub fn pieces(&self) -> &[[f64; 4]] {
        &self.pieces
    }

    /// How it goes on outside of its data.
    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// The words that make a table of its points what it is.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let between = match self.between {
            Between::Linear | Between::Step => None,
            Between::Monotone => Some("monotone"),
            Between::Cubic => Some("cubic"),
        };
        let outside = match self.outside {
            Outside::Ends => None,
            Outside::Hold => Some("hold"),
            Outside::Extend => Some("extend"),
            Outside::Repeat => Some("repeat"),
        };
        between.into_iter().chain(outside)
    }

    /// The arguments of its points.
    pub fn breaks(&self) -> &[f64] {
        &self.breaks
    }

    /// The piece that an argument is on: 0 to n − 1 inside of the data.
    pub fn piece(&self, x: f64) -> f64 {
        let (first, last) = self.span();
        let count = self.pieces.len();
        if x.is_nan() {
            return f64::NAN;
        }
        let inside = |x: f64| {
            let after = self.breaks.partition_point(|b| *b <= x);
            after.clamp(1, count) as f64 - 1.0
        };
        match self.outside {
            Outside::Ends if x < first || x > last => f64::NAN,
            Outside::Hold if x < first => -1.0,
            Outside::Hold if x >= last => count as f64,
            Outside::Repeat => {
                let turns = ((x - first) / (last - first)).floor();
                let own = x - turns * (last - first);
                // Rounding may put it beside the turn.
                let own = own.clamp(first, last);
                turns * count as f64 + if own == last { count as f64 } else { inside(own) }
            }
            _ => inside(x),
        }
    }

    /// A number of a piece: coefficients, then where it begins and ends.
    fn entry(&self, column: u32, piece: f64) -> f64 {
        if piece.is_nan() {
            return f64::NAN;
        }
        let count = self.pieces.len() as f64;
        let (first, last) = self.span();
        let (turns, own) = match self.outside {
            Outside::Repeat => {
                let turns = (piece / count).floor();
                (turns, piece - turns * count)
            }
            _ => (0.0, piece),
        };
        let shift = turns * (last - first);
        if own < 0.0 || own >= count {
            // Held beside the data.
            let is_before = own < 0.0;
            return match column {
                0 => {
                    if is_before {
                        self.pieces[0][0]
                    } else {
                        self.last
                    }
                }
                FROM => {
                    if is_before {
                        -FAR
                    } else {
                        last
                    }
                }
                TO => {
                    if is_before {
                        first
                    } else {
                        FAR
                    }
                }
                _ => 0.0,
            };
        }
        let at = own as usize;
        let ends_open = self.outside == Outside::Extend;
        match column {
            0..=3 => self.pieces[at][column as usize],
            FROM if ends_open && at == 0 => -FAR,
            TO if ends_open && at + 1 == self.pieces.len() => FAR,
            FROM => self.breaks[at] + shift,
            TO => self.breaks[at + 1] + shift,
            // Where s is counted from, also where a piece goes on without end.
            _ => self.breaks[at] + shift,
        }
    }

    /// Its value, or a derivative.
    pub fn value(&self, order: u32, x: f64) -> f64 {
        let piece = self.piece(x);
        let c: [f64; 4] = std::array::from_fn(|k| self.entry(k as u32, piece));
        let s = x - self.entry(ORIGIN, piece);
        match order {
            0 => ((c[3] * s + c[2]) * s + c[1]) * s + c[0],
            1 => (3.0 * c[3] * s + 2.0 * c[2]) * s + c[1],
            2 => 6.0 * c[3] * s + 2.0 * c[2],
            3 => 6.0 * c[3],
            _ if piece.is_nan() => f64::NAN,
            _ => 0.0,
        }
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        self.name.hash(&mut hasher);
        (self.between, self.outside).hash(&mut hasher);
        let numbers = self.breaks.iter().chain(self.pieces.iter().flatten());
        numbers.for_each(|x| x.to_bits().hash(&mut hasher));
        hasher.finish()
    }
}

impl Held {
    /// A table by its number: that of an equal one, if there is such; `None` if numbers are used up.
    pub(crate) fn new(table: Table) -> Option<Arc<Held>> {
        let hash = table.fingerprint();
        // What is looked at may be the last hold on it, and is let go after the lock.
        let mut seen: Vec<Arc<Held>> = Vec::new();
        let known = &mut *KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        for id in known.by_hash.get(&hash).into_iter().flatten() {
            seen.extend(known.by_id.get(id).and_then(Weak::upgrade));
        }
        if let Some(same) = seen.iter().find(|held| *held.table == table) {
            return Some(Arc::clone(same));
        }
        let id = known.next;
        if id >= MOST {
            return None;
        }
        known.next += 1;
        let held = Arc::new(Held { id, hash, table: Arc::new(table) });
        known.by_id.insert(id, Arc::downgrade(&held));
        known.by_hash.entry(hash).or_default().push(id);
        Some(held)
    }

    /// The number by which expressions speak of it.
    pub(crate) fn id(&self) -> TableId {
        TableId(self.id)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let known = &mut *KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.by_id.remove(&self.id);
        if let Some(list) = known.by_hash.get_mut(&self.hash) {
            list.retain(|id| *id != self.id);
            if list.is_empty() {
                known.by_hash.remove(&self.hash);
            }
        }
        DROPPED.fetch_add(1, Ordering::Release);
    }
}

/// The column of where s is counted from.
const ORIGIN: u32 = 6;

impl TableId {
    /// The table, as long as an arena keeps it.
    pub fn table(self) -> Option<Arc<Table>> {
        let held = {
            let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
            known.by_id.get(&self.0).and_then(Weak::upgrade)
        };
        held.map(|held| Arc::clone(&held.table))
    }

    /// The number of a derivative, for expressions.
    pub fn key(self, order: u32) -> i64 {
        (self.0 * COLUMNS + u64::from(order).min(COLUMNS - 1)) as i64
    }

    /// The table and the order of a derivative, by its number.
    pub fn of_key(key: f64) -> Option<(TableId, u32)> {
        if !(0.0..(MOST * COLUMNS) as f64).contains(&key) || key.fract() != 0.0 {
            return None;
        }
        let key = key as u64;
        Some((TableId(key / COLUMNS), (key % COLUMNS) as u32))
    }

    /// The number of a coefficient.
    pub(crate) fn coefficient(self, k: u32) -> i64 {
        self.key(k)
    }

    /// The number of where a piece begins, ends, and where its s is counted from.
    pub(crate) fn places(self) -> [i64; 3] {
        [self.key(FROM), self.key(TO), self.key(ORIGIN)]
    }
}

/// `table(k, x)`, `piece(k, x)` and `entry(k, m)` of doubles.
pub(crate) fn call(what: crate::Function, key: f64, x: f64) -> f64 {
    let Some((id, order)) = TableId::of_key(key) else { return f64::NAN };
    let look_up = |table: &Table| match what {
        crate::Function::Table => table.value(order, x),
        crate::Function::Piece => table.piece(x),
        _ => table.entry(order, x),
    };
    // Motions look up the same few tables again and again: no lock, and nothing that threads share
    // but a counter that is read.
    let near = AT_HAND.try_with(|own| {
        let AtHand { dropped, list } = &mut *own.borrow_mut();
        let now = DROPPED.load(Ordering::Acquire);
        if *dropped != now || list.len() > NEAR {
            list.clear();
            *dropped = now;
        }
        let at = list.iter().position(|near| near.0 == id.0);
        let at = at.or_else(|| {
            list.push((id.0, id.table()?));
            Some(list.len() - 1)
        })?;
        Some(look_up(&list[at].1))
    });
    match near {
        Ok(found) => found.unwrap_or(f64::NAN),
        // The thread ends.
        Err(_) => id.table().map_or(f64::NAN, |table| look_up(&table)),
    }
}

/// Slopes at the points that keep what rises rising: the weighted harmonic mean of the secants,
/// 0 where they differ in sign.
#[allow(clippy::needless_range_loop)]
fn monotone(h: &[f64], secants: &[f64], repeats: bool) -> Vec<f64> {
    let n = h.len();
    let inside = |i: usize, j: usize| {
        let (a, b) = (secants[i], secants[j]);
        if a * b <= 0.0 {
            return 0.0;
        }
        let (w, u) = (2.0 * h[j] + h[i], h[j] + 2.0 * h[i]);
        (w + u) / (w / a + u / b)
    };
    let mut slopes = vec![0.0; n + 1];
    for i in 1..n {
        slopes[i] = inside(i - 1, i);
    }
    if n == 1 {
        slopes = vec![secants[0]; 2];
    } else if repeats {
        slopes[0] = inside(n - 1, 0);
        slopes[n] = slopes[0];
    } else {
        slopes[0] = end_slope(h[0], h[1], secants[0], secants[1]);
        slopes[n] = end_slope(h[n - 1], h[n - 2], secants[n - 1], secants[n - 2]);
    }
    slopes
}

/// The slope of the parabola through three points at the first, kept from overshooting.
fn end_slope(h: f64, next: f64, secant: f64, other: f64) -> f64 {
    let slope = ((2.0 * h + next) * secant - h * other) / (h + next);
    if slope * secant <= 0.0 {
        0.0
    } else if secant * other <= 0.0 && slope.abs() > 3.0 * secant.abs() {
        3.0 * secant
    } else {
        slope
    }
}

/// Slopes of the spline whose third derivative is continuous at the second and last but one point.
#[allow(clippy::needless_range_loop)]
fn not_a_knot(h: &[f64], secants: &[f64]) -> Vec<f64> {
    let n = h.len();
    match n {
        1 => return vec![secants[0]; 2],
        2 => {
            // The parabola through three points.
            let curve = (secants[1] - secants[0]) / (h[0] + h[1]);
            let first = secants[0] - curve * h[0];
            return vec![first, first + 2.0 * curve * h[0], first + 2.0 * curve * (h[0] + h[1])];
        }
        _ => {}
    }
    // Rows of slopes d: continuous second derivatives inside, not-a-knot at both ends.
    let (mut below, mut middle, mut above) = (vec![0.0; n + 1], vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut right = vec![0.0; n + 1];
    for i in 1..n {
        (below[i], middle[i], above[i]) = (h[i], 2.0 * (h[i - 1] + h[i]), h[i - 1]);
        right[i] = 3.0 * (h[i] * secants[i - 1] + h[i - 1] * secants[i]);
    }
    let end = |h0: f64, h1: f64, s0: f64, s1: f64| {
        let sum = h0 + h1;
        (h1, sum, ((h0 + 2.0 * sum) * h1 * s0 + h0 * h0 * s1) / sum)
    };
    (middle[0], above[0], right[0]) = end(h[0], h[1], secants[0], secants[1]);
    let last = end(h[n - 1], h[n - 2], secants[n - 1], secants[n - 2]);
    (middle[n], below[n], right[n]) = last;
    thomas(&below, &mut middle, &above, &mut right);
    right
}

/// Slopes of the spline that goes on as it began.
fn periodic(h: &[f64], secants: &[f64]) -> Vec<f64> {
    let n = h.len();
    if n == 1 {
        return vec![0.0; 2];
    }
    // d₀ … d_{n−1}, cyclic; Sherman–Morrison for the corners.
    let before = |i: usize| if i == 0 { n - 1 } else { i - 1 };
    let row = |i: usize| {
        let (a, b) = (h[before(i)], h[i]);
        let right = 3.0 * (b * secants[before(i)] + a * secants[i]);
        (b, 2.0 * (a + b), a, right)
    };
    let rows: Vec<(f64, f64, f64, f64)> = (0..n).map(row).collect();
    let mut middle: Vec<f64> = rows.iter().map(|r| r.1).collect();
    let mut below: Vec<f64> = rows.iter().map(|r| r.0).collect();
    let mut above: Vec<f64> = rows.iter().map(|r| r.2).collect();
    let mut right: Vec<f64> = rows.iter().map(|r| r.3).collect();
    let (corner, other) = (below[0], above[n - 1]);
    let gamma = -middle[0];
    middle[0] -= gamma;
    middle[n - 1] -= corner * other / gamma;
    (below[0], above[n - 1]) = (0.0, 0.0);
    let mut u = vec![0.0; n];
    u[0] = gamma;
    u[n - 1] += other;
    let mut copy = middle.clone();
    thomas(&below, &mut middle, &above, &mut right);
    thomas(&below, &mut copy, &above, &mut u);
    let factor =
        (right[0] + corner * right[n - 1] / gamma) / (1.0 + u[0] + corner * u[n - 1] / gamma);
    let mut slopes: Vec<f64> = right.iter().zip(&u).map(|(r, u)| r - factor * u).collect();
    slopes.push(slopes[0]);
    slopes
}

/// Solves a tridiagonal system; the solution takes the place of the right side.
#[allow(clippy::needless_range_loop)]
fn thomas(below: &[f64], middle: &mut [f64], above: &[f64], right: &mut [f64]) {
    let n = right.len();
    for i in 1..n {
        let factor = below[i] / middle[i - 1];
        middle[i] -= factor * above[i - 1];
        right[i] -= factor * right[i - 1];
    }
    right[n - 1] /= middle[n - 1];
    for i in (0..n - 1).rev() {
        right[i] = (right[i] - above[i] * right[i + 1]) / middle[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(between: Between, outside: Outside, f: impl Fn(f64) -> f64, x: &[f64]) -> Table {
        let values: Vec<f64> = x.iter().map(|&x| f(x)).collect();
        Table::new("f", x, &values, between, outside).expect("a table")
    }

    /// A not-a-knot spline is any cubic, a line through points is any line; derivatives too.
    #[test]
    fn polynomials_come_back() {
        let x = [0.0, 0.3, 1.1, 1.5, 2.75, 4.0];
        let cubic = |x: f64| 1.0 + x * (2.0 - x * (0.5 - 0.25 * x));
        let table = of(Between::Cubic, Outside::Extend, cubic, &x);
        for k in -10..60 {
            let x = 0.1 * f64::from(k);
            assert!((table.value(0, x) - cubic(x)).abs() < 1e-12, "{x}");
            let slope = 2.0 - x + 0.75 * x * x;
            assert!((table.value(1, x) - slope).abs() < 1e-12, "{x}");
            assert!((table.value(2, x) + 1.0 - 1.5 * x).abs() < 1e-11, "{x}");
        }
        let parabola = of(Between::Cubic, Outside::Extend, |x| x * x, &x[..3]);
        assert!((parabola.value(0, 0.7) - 0.49).abs() < 1e-15);
    }

    /// Splines have the smoothness they promise at every break, and go through the points.
    #[test]
    fn pieces_join() {
        let x: Vec<f64> = (0..12).map(|i| f64::from(i) + 0.3 * f64::from(i % 3)).collect();
        for (between, smooth) in [(Between::Linear, 0), (Between::Monotone, 1), (Between::Cubic, 2)]
        {
            for outside in [Outside::Extend, Outside::Repeat] {
                let f = |x: f64| (6.0 * std::f64::consts::TAU * x / 11.6).sin();
                let table = of(between, outside, f, &x);
                for &b in &x[1..x.len() - 1] {
                    assert!((table.value(0, b) - f(b)).abs() < 1e-12);
                    for order in 0..=smooth {
                        let (a, c) = (table.value(order, b - 1e-9), table.value(order, b + 1e-9));
                        assert!((a - c).abs() < 1e-6, "{between:?} {order} at {b}: {a} {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_rises_does_not_overshoot() {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0];
        let y = [0.0, 0.0, 0.1, 1.0, 1.0];
        let table = Table::new("f", &x, &y, Between::Monotone, Outside::Hold).expect("a table");
        let mut last = 0.0;
        for k in 0..=400 {
            let y = table.value(0, 0.01 * f64::from(k));
            assert!((last..=1.0).contains(&y), "{y} after {last}");
            last = y;
        }
    }

    #[test]
    fn outside_of_the_data() {
        let (x, y) = ([0.0, 1.0, 3.0], [1.0, 2.0, 1.0]);
        let of = |outside| Table::new("f", &x, &y, Between::Linear, outside).expect("a table");
        assert!(of(Outside::Ends).value(0, 3.1).is_nan() && of(Outside::Ends).value(0, 3.0) == 1.0);
        assert_eq!((of(Outside::Hold).value(0, -4.0), of(Outside::Hold).value(1, 9.0)), (1.0, 0.0));
        assert_eq!(of(Outside::Extend).value(0, 5.0), 0.0);
        let repeats = of(Outside::Repeat);
        for k in -9..9 {
            let x = 0.37 + f64::from(3 * k);
            assert!((repeats.value(0, x) - 1.37).abs() < 1e-14, "{x}");
            let piece = repeats.piece(x);
            assert_eq!(piece, f64::from(2 * k));
        }
        let exprs = crate::Exprs::new();
        let ids = [Outside::Hold, Outside::Hold, Outside::Extend].map(|o| exprs.tabulate(of(o)));
        assert!(ids[0] == ids[1] && ids[0] != ids[2]);
    }

    fn numbered(k: u32) -> Table {
        let (x, y) = ([0.0, 1.0], [f64::from(k), 0.25]);
        Table::new("of its own", &x, &y, Between::Linear, Outside::Hold).expect("a table")
    }

    #[test]
    fn tables_stay_as_long_as_an_arena_speaks_of_them() {
        let exprs = crate::Exprs::new();
        let id = exprs.tabulate(numbered(7)).expect("a number");
        let value = || call(crate::Function::Table, id.key(0) as f64, 0.0);
        let other = exprs.clone();
        drop(exprs);
        assert_eq!((value(), value()), (7.0, 7.0));
        let again = crate::Exprs::new();
        assert_eq!(again.tabulate(numbered(7)), Some(id));
        drop(other);
        assert_eq!(value(), 7.0);
        drop(again);
        assert!(value().is_nan() && id.table().is_none());
        assert_ne!(crate::Exprs::new().tabulate(numbered(7)), Some(id));
    }

    #[test]
    fn a_program_may_have_any_number_of_tables_one_after_the_other() {
        for k in 0..100_000 {
            let exprs = crate::Exprs::new();
            let id = exprs.tabulate(numbered(k)).expect("a number");
            assert_eq!(call(crate::Function::Table, id.key(0) as f64, -1.0), f64::from(k));
        }
        // Tables of other tests may be there.
        let known = KNOWN.read().expect("not poisoned");
        assert!(known.by_id.len() < 100 && known.by_hash.len() < 100);
    }
}
