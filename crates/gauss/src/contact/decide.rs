//! The modes of all contacts and frictions together, and whether the motion is the only one.
//!
//! For one choice of modes the loads are f = f₀ + G x, x ≥ 0: a contact that sticks has the two edges
//! (1, ±μ) of its cone, one that slips has the edge against its slip, an open one nothing; a friction
//! that sticks has T = −F + x with x ≤ 2F. Wanted are a = 0 on what is held and a ≥ 0 along gaps that
//! open and slips that begin:
//!
//! ```text
//! D (f₀ + G x) + c = [0; s] ,   x, s ≥ 0 ,
//! ```
//!
//! which has a solution exactly if the nonnegative least-squares problem leaves nothing. Its
//! solution is a vertex: no more loads than the rows determine, also where rows depend on each other.
//!
//! Where nothing but gaps and constant bounds is there, the loads are those of least |Yᵀf + …|² over a
//! convex set (Gauss's principle with inequalities) and the motion is unique. Coulomb's law is no
//! such problem; uniqueness is then seen by trying all choices, up to [`MOST`] of them.

use super::lemke::lemke;
use super::nonneg::{self, Nonnegative};
use super::{Law, Mode, Slip, Space, Touch};
use crate::linalg::{norm, orthonormal};

/// Up to so many choices of modes are tried, which takes milliseconds.
pub const MOST: usize = 4096;
/// Motions closer than this, as a part of what loads change, are one.
const SAME: f64 = 1e-8;
/// Motions closer than this, as a part of the whole that this one is the rest of, are one.
const NOTHING: f64 = 1e-11;
/// Motions closer than this many times the noise cannot be told apart.
const UNTOLD: f64 = 32.0;
/// What is left of a solution, as a part of the terms it is a sum of.
const LEFT: f64 = 256.0 * f64::EPSILON;

/// What is known of the number of motions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is exactly one.
    Unique,
    /// There is one, and no other was found; not all choices were tried.
    Found,
    /// There are several.
    Several,
    /// There is none.
    None,
    /// None was found, but not all choices were tried.
    NotFound,
}

/// A solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The modes that were tried.
    pub modes: Vec<Mode>,
    /// The modes that bear the loads: a contact that sticks with its load on one edge of its cone is
    /// said to slip there, one without load to be open. Their rows do not depend on each other.
    pub support: Vec<Mode>,
    /// Loads by row, scaled.
    pub loads: Vec<f64>,
    /// Accelerations by row, scaled.
    pub accelerations: Vec<f64>,
    /// u.
    pub motion: Vec<f64>,
    /// Per row, whether other loads give the same motion.
    pub open: Vec<bool>,
    /// What is left of the equations over what it may be: below 1.
    pub left: f64,
}

/// What was decided.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Whether there is one motion.
    pub verdict: Verdict,
    /// The motions that were found, each with all the modes that have it: more than one where a
    /// load, or an acceleration, is 0 at the edge of a mode.
    pub motions: Vec<Vec<Found>>,
}

impl Decision {
    /// Whether the loads of the first motion are the only ones.
    pub fn loads_are_unique(&self) -> bool {
        self.motions.first().is_some_and(|ties| ties.iter().all(|f| !f.open.contains(&true)))
    }
}

/// Decides.
pub fn decide(space: &Space, touches: &[Touch]) -> Decision {
    let options: Vec<Vec<Mode>> = touches.iter().map(|t| options(space, t)).collect();
    let count = options.iter().fold(1usize, |n, o| n.saturating_mul(o.len().max(1)));
    let is_convex = touches.iter().all(|t| t.coefficient() == 0.0);
    let mut found: Vec<Found> = Vec::new();
    let is_complete = count <= MOST;
    if is_complete {
        each(&options, &mut |modes| found.extend(attempt(space, touches, modes)));
    } else if let Some(modes) = lemke(space, touches) {
        // Those beside it too: ties, and with luck other motions.
        found.extend(attempt(space, touches, &modes));
        let mut seen = vec![modes];
        let mut next = 0;
        while next < seen.len() && seen.len() <= MOST {
            let from = seen[next].clone();
            next += 1;
            if next > 1 && !found.iter().any(|f| f.modes == from) {
                continue;
            }
            for (at, options) in options.iter().enumerate() {
                for &mode in options.iter().filter(|&&mode| mode != from[at]) {
                    let mut modes = from.clone();
                    modes[at] = mode;
                    if !seen.contains(&modes) {
                        found.extend(attempt(space, touches, &modes));
                        seen.push(modes);
                    }
                }
            }
        }
    }
    let mut motions: Vec<Vec<Found>> = Vec::new();
    // Where there is only one motion, that which is exact is it; what is near it may be one to rounding.
    if is_convex {
        found.sort_by(|a, b| a.left.total_cmp(&b.left));
    }
    for one in found {
        match motions.iter_mut().find(|ties| is_same(space, &ties[0], &one)) {
            Some(ties) => ties.push(one),
            None => motions.push(vec![one]),
        }
    }
    if is_convex {
        motions.truncate(1);
    }
    for ties in &mut motions {
        share_openness(ties);
    }
    let verdict = match motions.len() {
        0 if is_complete => Verdict::None,
        0 => Verdict::NotFound,
        1 if is_complete || is_convex => Verdict::Unique,
        1 => Verdict::Found,
        _ => Verdict::Several,
    };
    Decision { verdict, motions }
}

/// The modes that make a difference.
fn options(space: &Space, touch: &Touch) -> Vec<Mode> {
    match touch.slip {
        // What cannot slip needs no friction.
        Some(slip) if !space.moves(slip) => Touch { slip: None, ..*touch }.modes(),
        _ => touch.modes(),
    }
}

fn each(options: &[Vec<Mode>], act: &mut dyn FnMut(&[Mode])) {
    let mut places = vec![0; options.len()];
    loop {
        let modes: Vec<Mode> = options.iter().zip(&places).map(|(o, &p)| o[p]).collect();
        act(&modes);
        let mut at = 0;
        loop {
            if at == places.len() {
                return;
            }
            places[at] += 1;
            if places[at] < options[at].len() {
                break;
            }
            places[at] = 0;
            at += 1;
        }
    }
}

/// Whether two solutions are the same motion.
pub fn is_same(space: &Space, a: &Found, b: &Found) -> bool {
    let apart: Vec<f64> = a.motion.iter().zip(&b.motion).map(|(a, b)| a - b).collect();
    let size = norm(&a.motion).max(norm(&b.motion)).max(norm(&space.free));
    let noise = UNTOLD * norm(&space.noise);
    norm(&apart) <= (SAME * size).max(NOTHING * space.whole).max(noise)
}

/// Loads that differ between the ties of a motion are not unique.
fn share_openness(ties: &mut [Found]) {
    let rows = ties[0].loads.len();
    let size = ties.iter().flat_map(|f| &f.loads).fold(0f64, |m, l| m.max(l.abs()));
    let open: Vec<bool> = (0..rows)
        .map(|row| {
            let apart = |f: &Found| (f.loads[row] - ties[0].loads[row]).abs() > SAME * size;
            ties.iter().any(|f| f.open[row] || apart(f))
        })
        .collect();
    ties.iter_mut().for_each(|f| f.open.clone_from(&open));
}

/// The edge of what is held without a cone.
const HELD: i8 = 2;

/// What bears loads in a choice of modes.
struct Column {
    touch: usize,
    /// (row, load) for x = 1; none for a slack.
    loads: Vec<(usize, f64)>,
    /// +1: the edge of slipping backwards (T > 0); −1: forwards; 0: neither.
    edge: i8,
}

/// The loads of a choice of modes, if there are any.
pub fn attempt(space: &Space, touches: &[Touch], modes: &[Mode]) -> Option<Found> {
    let rows = space.rows();
    let mut columns: Vec<Column> = Vec::new();
    let mut fixed = vec![0.0; rows];
    // Rows of the problem: those of the space that matter, with the sign of their slack.
    let mut wanted: Vec<(usize, Option<f64>)> = Vec::new();
    // Frictions that stick: x + w = 2F.
    let mut boxes: Vec<(usize, f64)> = Vec::new();
    for (at, (touch, &mode)) in touches.iter().zip(modes).enumerate() {
        let slip = touch.slip.filter(|&slip| space.moves(slip));
        if let Some((from, to)) = touch.held.filter(|_| mode != Mode::Open) {
            for row in (from..to).filter(|&row| space.moves(row)) {
                for way in [1.0, -1.0] {
                    let loads = vec![(row, way)];
                    columns.push(Column { touch: at, loads, edge: HELD });
                }
                wanted.push((row, None));
            }
        }
        let column = |loads, edge| Column { touch: at, loads, edge };
        let Some(normal) = touch.normal else {
            let Some(slip) = slip else { continue };
            let bound = space.scaled(slip, touch.bound());
            match mode {
                Mode::Stick => {
                    fixed[slip] -= bound;
                    boxes.push((columns.len(), 2.0 * bound));
                    columns.push(column(vec![(slip, 1.0)], 0));
                    wanted.push((slip, None));
                }
                Mode::Forwards | Mode::Backwards => {
                    let way = if mode == Mode::Forwards { 1.0 } else { -1.0 };
                    fixed[slip] -= way * bound;
                    if touch.moves == Slip::None && bound > 0.0 {
                        wanted.push((slip, Some(way)));
                    }
                }
                Mode::Open => return None,
            }
            continue;
        };
        if mode == Mode::Open {
            wanted.push((normal, Some(1.0)));
            continue;
        }
        wanted.push((normal, None));
        let slip = slip.filter(|_| touch.coefficient() > 0.0);
        let Some(slip) = slip else {
            columns.push(column(vec![(normal, 1.0)], 0));
            continue;
        };
        let mu = space.coefficient(touch.coefficient(), normal, slip);
        match mode {
            Mode::Stick => {
                columns.push(column(vec![(normal, 1.0), (slip, mu)], 1));
                columns.push(column(vec![(normal, 1.0), (slip, -mu)], -1));
                wanted.push((slip, None));
            }
            Mode::Forwards => {
                columns.push(column(vec![(normal, 1.0), (slip, -mu)], -1));
                if touch.moves == Slip::None {
                    wanted.push((slip, Some(1.0)));
                }
            }
            Mode::Backwards => {
                columns.push(column(vec![(normal, 1.0), (slip, mu)], 1));
                if touch.moves == Slip::None {
                    wanted.push((slip, Some(-1.0)));
                }
            }
            Mode::Open => {}
        }
    }
    let at_fixed = space.accelerations(&fixed);
    let size = wanted.len() + boxes.len();
    let mut matrix: Vec<Vec<f64>> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let entry =
            |row: usize| column.loads.iter().map(|&(j, x)| space.coupling(row, j) * x).sum();
        let mut entries: Vec<f64> = wanted.iter().map(|&(row, _)| entry(row)).collect();
        entries.extend(boxes.iter().map(|&(own, _)| f64::from(u8::from(own == at))));
        matrix.push(entries);
    }
    for (at, &(_, slack)) in wanted.iter().enumerate() {
        if let Some(way) = slack {
            let mut entries = vec![0.0; size];
            entries[at] = -way;
            matrix.push(entries);
        }
    }
    for at in 0..boxes.len() {
        let mut entries = vec![0.0; size];
        entries[wanted.len() + at] = 1.0;
        matrix.push(entries);
    }
    let mut right: Vec<f64> = wanted.iter().map(|&(row, _)| -at_fixed[row]).collect();
    right.extend(boxes.iter().map(|&(_, width)| width));
    let load = norm(&fixed);
    let mut noise: Vec<f64> =
        wanted.iter().map(|&(row, _)| space.noise[row] + LEFT * load).collect();
    noise.extend(boxes.iter().map(|&(_, width)| LEFT * width));
    let Nonnegative { x, left } = nonneg::solve(&matrix, &right, &noise);
    // What rounding leaves of the terms that were added.
    let mut worst = 0f64;
    for (i, left) in left.iter().enumerate() {
        let terms: f64 = matrix.iter().zip(&x).map(|(m, x)| (m[i] * x).abs()).sum();
        let allowed = noise[i] + LEFT * (terms + right[i].abs());
        if *left != 0.0 {
            worst = worst.max(left.abs() / allowed);
        }
    }
    if !(worst <= 1.0) {
        return None;
    }
    let mut loads = fixed;
    for (column, x) in columns.iter().zip(&x) {
        column.loads.iter().for_each(|&(row, one)| loads[row] += one * x);
    }
    let open = open_loads(space, &columns, &x, rows);
    let bears = basis(space, &columns, &x, rows);
    let support = support(touches, modes, &columns, &bears);
    let accelerations = space.accelerations(&loads);
    let motion = space.motion(&loads);
    Some(Found { modes: modes.to_vec(), support, loads, accelerations, motion, open, left: worst })
}

/// Images outside of those in a basis have this part of their length there.
const BESIDE: f64 = 1e-9;

/// The columns that bear loads, and as many of the others, with loads 0, as it takes to hold all that
/// is held: whose loads happen to be in balance would not be held by them alone. A contact that bears
/// load already takes more of it before another one does.
fn basis(space: &Space, columns: &[Column], x: &[f64], rows: usize) -> Vec<bool> {
    let mut bears: Vec<bool> = (0..columns.len()).map(|j| x[j] > 0.0).collect();
    let mut base: Vec<Vec<f64>> = Vec::new();
    let mut is_outside = |column: &Column| {
        let mut loads = vec![0.0; rows];
        column.loads.iter().for_each(|&(row, one)| loads[row] = one);
        orthonormal::extend(&mut base, &space.motion(&loads), BESIDE)
    };
    columns.iter().zip(&bears).filter(|(_, bears)| **bears).for_each(|(c, _)| {
        is_outside(c);
    });
    let loaded: Vec<usize> =
        columns.iter().zip(&bears).filter(|(_, bears)| **bears).map(|(c, _)| c.touch).collect();
    for is_first in [true, false] {
        for (j, column) in columns.iter().enumerate() {
            if !bears[j] && loaded.contains(&column.touch) == is_first && is_outside(column) {
                bears[j] = true;
            }
        }
    }
    bears
}

/// Which contacts bear loads on which edge.
fn support(touches: &[Touch], modes: &[Mode], columns: &[Column], bears: &[bool]) -> Vec<Mode> {
    let of = |at: usize, edge: i8| {
        columns.iter().zip(bears).any(|(c, bears)| c.touch == at && c.edge == edge && *bears)
    };
    let mut support = modes.to_vec();
    for (at, mode) in support.iter_mut().enumerate() {
        if touches[at].normal.is_none() || *mode == Mode::Open {
            continue;
        }
        *mode = match (of(at, 1), of(at, -1), of(at, 0)) {
            (true, true, _) => Mode::Stick,
            (true, false, _) => Mode::Backwards,
            (false, true, _) | (_, _, true) => Mode::Forwards,
            (false, false, false) => Mode::Open,
        };
    }
    support
}

/// Rows whose loads can change without the motion: columns that are not in use, as much as they like,
/// with those in use, which are all positive, add up to nothing.
fn open_loads(space: &Space, columns: &[Column], x: &[f64], rows: usize) -> Vec<bool> {
    let mut open = vec![false; rows];
    let image = |column: &Column| {
        let mut loads = vec![0.0; rows];
        column.loads.iter().for_each(|&(row, one)| loads[row] = one);
        space.motion(&loads)
    };
    let images: Vec<Vec<f64>> = columns.iter().map(image).collect();
    // The two ways of a row that is held are one.
    let are_one = |j: usize, k: usize| {
        let (a, b) = (&columns[j], &columns[k]);
        a.edge == HELD && b.edge == HELD && a.loads[0].0 == b.loads[0].0
    };
    let (used, idle): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(|&j| x[j] > 0.0);
    let idle: Vec<usize> =
        idle.into_iter().filter(|&j| !used.iter().any(|&k| are_one(j, k))).collect();
    for &j in &idle {
        let others: Vec<usize> =
            idle.iter().copied().filter(|&k| k != j && !are_one(j, k)).collect();
        let Some(weights) = combination(&images, &used, &others, j) else { continue };
        for (k, weight) in weights.into_iter().chain([(j, 1.0)]) {
            if weight.abs() > SAME {
                columns[k].loads.iter().for_each(|&(row, _)| open[row] = true);
            }
        }
    }
    open
}

/// The weights of vectors, those of `others` not negative, with which they and one more add up to
/// nothing, if they do.
fn combination(
    images: &[Vec<f64>],
    used: &[usize],
    others: &[usize],
    one: usize,
) -> Option<Vec<(usize, f64)>> {
    let wanted: Vec<f64> = images[one].iter().map(|x| -x).collect();
    let mut columns: Vec<Vec<f64>> = used.iter().map(|&k| images[k].clone()).collect();
    columns.extend(used.iter().map(|&k| images[k].iter().map(|x| -x).collect::<Vec<f64>>()));
    columns.extend(others.iter().map(|&k| images[k].clone()));
    let size = norm(&wanted);
    let noise = vec![1e-11 * size; wanted.len()];
    let found = nonneg::solve(&columns, &wanted, &noise);
    let both = used.iter().enumerate().map(|(i, &k)| (k, found.x[i] - found.x[used.len() + i]));
    let rest = others.iter().enumerate().map(|(i, &k)| (k, found.x[2 * used.len() + i]));
    (norm(&found.left) <= 1e-9 * size).then(|| both.chain(rest).collect())
}

/// A friction or contact whose bound is larger while it sticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// With the law while it slips.
    pub touch: Touch,
    /// The law while it sticks.
    pub at_rest: Law,
}

/// Decides with bounds that are larger at rest: who breaks away at these slips by the smaller ones,
/// and may take others along.
pub fn decide_held(space: &Space, held: &[Held]) -> Decision {
    let mut broken = vec![false; held.len()];
    loop {
        let touches: Vec<Touch> = held
            .iter()
            .zip(&broken)
            .map(|(h, &is_broken)| match h.touch.moves {
                Slip::None if !is_broken => Touch { law: h.at_rest, ..h.touch },
                Slip::None if h.at_rest != h.touch.law => Touch { must_slip: true, ..h.touch },
                _ => h.touch,
            })
            .collect();
        let decision = decide(space, &touches);
        let Some(first) = decision.motions.first().filter(|_| decision.motions.len() == 1) else {
            return decision;
        };
        // Those that slip whatever else is true.
        let slips = |f: &Found, at: usize| matches!(f.modes[at], Mode::Forwards | Mode::Backwards);
        let mut is_new = false;
        for at in 0..held.len() {
            let can_slip = held[at].touch.slip.is_some() && held[at].touch.moves == Slip::None;
            let is_larger = held[at].at_rest != held[at].touch.law;
            if can_slip && is_larger && !broken[at] && first.iter().all(|f| slips(f, at)) {
                broken[at] = true;
                is_new = true;
            }
        }
        if !is_new {
            return decision;
        }
    }
}
