//! Lemke's complementary pivoting (1965), for contacts that are too many to be enumerated.
//!
//! The linear complementarity problem of Stewart & Trinkle (1996) at acceleration level, with
//! T = β⁺ − β⁻ where a contact may stick:
//!
//! ```text
//! 0 ≤ N ⊥ g'' ≥ 0 ,   0 ≤ β^± ⊥ ±s' + ℓ ≥ 0 ,   0 ≤ ℓ ⊥ μN − β⁺ − β⁻ ≥ 0 .
//! ```
//!
//! Its matrix is copositive where nothing slips yet, so the method ends in a solution wherever one is
//! feasible (Cottle, Pang & Stone, *The Linear Complementarity Problem*, §4.4); a contact that slips
//! already may end it in a ray. What it finds are modes: numbers come from [`decide`](super::decide()).

use super::{Law, Mode, Slip, Space, Touch};

/// What a variable of the problem is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Normal,
    Plus,
    Minus,
    Least,
}

/// Variables beyond this part of the largest are not 0.
const ZERO: f64 = 1e-9;
/// So many covering vectors are tried.
const TRIES: usize = 12;

/// The modes of a solution; `None` if the method ends in a ray.
pub fn lemke(space: &Space, touches: &[Touch]) -> Option<Vec<Mode>> {
    let mut kinds: Vec<(usize, Kind)> = Vec::new();
    for (at, touch) in touches.iter().enumerate() {
        if touch.normal.is_some() {
            kinds.push((at, Kind::Normal));
        }
        if may_stick(space, touch) {
            kinds.extend([Kind::Plus, Kind::Minus, Kind::Least].map(|kind| (at, kind)));
        }
    }
    let n = kinds.len();
    let rows = space.rows();
    // Loads for each variable, and those there are without any.
    let mut fixed = vec![0.0; rows];
    for touch in touches {
        if let (None, Some(slip)) = (touch.normal, touch.slip) {
            let bound = space.scaled(slip, touch.bound());
            fixed[slip] -= bound * sign(touch.moves);
        }
    }
    let loads = |&(at, kind): &(usize, Kind)| -> Vec<f64> {
        let touch = &touches[at];
        let mut loads = vec![0.0; rows];
        match (kind, touch.normal, touch.slip) {
            (Kind::Normal, Some(normal), slip) => {
                loads[normal] = 1.0;
                if let Some(slip) = slip.filter(|_| touch.moves != Slip::None) {
                    let mu = space.coefficient(touch.coefficient(), normal, slip);
                    loads[slip] = -mu * sign(touch.moves);
                }
            }
            (Kind::Plus, _, Some(slip)) => loads[slip] = 1.0,
            (Kind::Minus, _, Some(slip)) => loads[slip] = -1.0,
            _ => {}
        }
        loads
    };
    let at_fixed = space.accelerations(&fixed);
    let mut q = vec![0.0; n];
    let mut m = vec![0.0; n * n];
    let place = |at: usize, kind: Kind| kinds.iter().position(|k| *k == (at, kind));
    for (j, column) in kinds.iter().enumerate() {
        let own = loads(column);
        let change: Vec<f64> = {
            let a = space.accelerations(&own);
            a.iter().zip(&space.free).map(|(a, c)| a - c).collect()
        };
        for (i, &(at, kind)) in kinds.iter().enumerate() {
            let touch = &touches[at];
            m[i * n + j] += match (kind, touch.normal, touch.slip) {
                (Kind::Normal, Some(normal), _) => change[normal],
                (Kind::Plus, _, Some(slip)) => change[slip],
                (Kind::Minus, _, Some(slip)) => -change[slip],
                _ => 0.0,
            };
        }
    }
    for (i, &(at, kind)) in kinds.iter().enumerate() {
        let touch = &touches[at];
        match (kind, touch.normal, touch.slip) {
            (Kind::Normal, Some(normal), _) => q[i] = at_fixed[normal],
            (Kind::Plus | Kind::Minus, _, Some(slip)) => {
                q[i] = if kind == Kind::Plus { at_fixed[slip] } else { -at_fixed[slip] };
                if let Some(least) = place(at, Kind::Least) {
                    m[i * n + least] += 1.0;
                    m[least * n + i] -= 1.0;
                }
            }
            (Kind::Least, normal, Some(slip)) => match (touch.law, normal) {
                (Law::Coefficient(mu), Some(normal)) => {
                    if let Some(j) = place(at, Kind::Normal) {
                        m[i * n + j] += space.coefficient(mu, normal, slip);
                    }
                }
                (Law::Bound(bound), _) => q[i] = space.scaled(slip, bound),
                (Law::Coefficient(_), None) => {}
            },
            _ => {}
        }
    }
    // Where many loads are possible rounding may end it in a ray: another covering vector is another
    // way.
    let z = (0..TRIES).find_map(|way| pivots(&m, &q, n, way))?;
    let most = z.iter().copied().fold(0.0, f64::max);
    let is_there = |at: usize, kind: Kind| place(at, kind).is_some_and(|j| z[j] > ZERO * most);
    let mode = |(at, touch): (usize, &Touch)| {
        if touch.normal.is_some() && !is_there(at, Kind::Normal) {
            return Mode::Open;
        }
        match touch.moves {
            Slip::Forwards => Mode::Forwards,
            Slip::Backwards => Mode::Backwards,
            Slip::None if !may_stick(space, touch) => Mode::Forwards,
            Slip::None if !is_there(at, Kind::Least) && !touch.must_slip => Mode::Stick,
            Slip::None if is_there(at, Kind::Plus) => Mode::Backwards,
            Slip::None => Mode::Forwards,
        }
    };
    Some(touches.iter().enumerate().map(mode).collect())
}

fn sign(moves: Slip) -> f64 {
    match moves {
        Slip::None => 0.0,
        Slip::Forwards => 1.0,
        Slip::Backwards => -1.0,
    }
}

fn may_stick(space: &Space, touch: &Touch) -> bool {
    let has_friction = touch.coefficient() > 0.0 || touch.bound() > 0.0;
    touch.moves == Slip::None && has_friction && touch.slip.is_some_and(|slip| space.moves(slip))
}

/// z ≥ 0 with w = M z + q ≥ 0 and z·w = 0; `None` after a ray.
fn pivots(m: &[f64], q: &[f64], n: usize, way: usize) -> Option<Vec<f64>> {
    // w − M z − d z₀ = q in a tableau: columns w, z, z₀, right side. The covering vector, and a
    // little added to q, keep ties apart.
    let width = 2 * n + 2;
    let size = q.iter().fold(0f64, |m, q| m.max(q.abs()));
    if n == 0 || size == 0.0 {
        return Some(vec![0.0; n]);
    }
    let beside = |i: usize| ((i + 31 * way + 1) as f64 * 0.618_033_988_75).fract();
    let apart = 1e-12 * 10f64.powi((way % 4) as i32) * size;
    let mut table = vec![0.0; n * width];
    for i in 0..n {
        table[i * width + i] = 1.0;
        for j in 0..n {
            table[i * width + n + j] = -m[i * n + j];
        }
        table[i * width + 2 * n] = -(0.3 + beside(i));
        table[i * width + 2 * n + 1] = q[i] + apart * (1.0 + beside(7 * i + 3));
    }
    let mut basis: Vec<usize> = (0..n).collect();
    let value = |table: &[f64], i: usize| table[i * width + 2 * n + 1];
    if (0..n).all(|i| value(&table, i) >= 0.0) {
        return Some(vec![0.0; n]);
    }
    let cover = |table: &[f64], i: usize| value(table, i) / -table[i * width + 2 * n];
    let mut row = (0..n).min_by(|&a, &b| cover(&table, a).total_cmp(&cover(&table, b)))?;
    let mut entering = 2 * n;
    for _ in 0..50 * (n + 10) {
        let leaving = basis[row];
        pivot(&mut table, n, width, row, entering);
        basis[row] = entering;
        if leaving == 2 * n {
            let mut z = vec![0.0; n];
            for (i, &b) in basis.iter().enumerate() {
                if (n..2 * n).contains(&b) {
                    z[b - n] = value(&table, i).max(0.0);
                }
            }
            return Some(z);
        }
        entering = if leaving < n { leaving + n } else { leaving - n };
        let most = (0..n).fold(0f64, |m, i| m.max(table[i * width + entering].abs()));
        let rises = (0..n).filter(|&i| table[i * width + entering] > 1e-11 * most);
        let ratio = |i: usize| value(&table, i) / table[i * width + entering];
        row = rises.min_by(|&a, &b| {
            // z₀ leaves if it can.
            let own = |i: usize| if basis[i] == 2 * n { 0 } else { 1 };
            ratio(a).total_cmp(&ratio(b)).then(own(a).cmp(&own(b)))
        })?;
    }
    None
}

fn pivot(table: &mut [f64], n: usize, width: usize, row: usize, column: usize) {
    let by = table[row * width + column];
    table[row * width..(row + 1) * width].iter_mut().for_each(|a| *a /= by);
    let own = table[row * width..(row + 1) * width].to_vec();
    for i in (0..n).filter(|&i| i != row) {
        let factor = table[i * width + column];
        if factor != 0.0 {
            let other = &mut table[i * width..(i + 1) * width];
            other.iter_mut().zip(&own).for_each(|(a, b)| *a -= factor * b);
        }
    }
}
