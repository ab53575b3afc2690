//! Rods: pairs of places whose distance a constraint fixes, or the coordinates themselves do.
//!
//! A constraint φ(q, t) = 0 fixes the distance of a and b where φ depends on q through
//! D = |a − b|² alone: ∂φ/∂qᵢ ∂D/∂qⱼ = ∂φ/∂qⱼ ∂D/∂qᵢ. This sees `norm(a - b) = l` as well as
//! squares, and any factor. b may be a fixed place, or one moved by time alone: the origin is
//! tried, and where a is made of coordinates, the b that solves ∂φ/∂a = 2(a − b) ∂φ/∂D.

use dalembert_expr::{ExprId, Exprs, Symbol};
use dalembert_model::system::{Level, System};
use rustc_hash::{FxHashMap, FxHashSet};

type Point = Vec<ExprId>;

/// Links depend on no more coordinates than this.
const LINK: usize = 12;
/// So many pairs are tried; beyond, a picture has other needs than rods.
const PAIRS: usize = 4000;
/// And so many places are looked at for them.
const LOOKED_AT: usize = 200_000;

/// The rods between places, each once.
pub(super) fn rods(exprs: &Exprs, system: &System, places: &[&[ExprId]]) -> Vec<(Point, Point)> {
    let coordinates: FxHashSet<Symbol> = system.positions().into_iter().collect();
    let held = |ids: &[ExprId]| -> FxHashSet<Symbol> {
        exprs.symbols_of(ids).into_iter().filter(|s| coordinates.contains(s)).collect()
    };
    let of_places: Vec<FxHashSet<Symbol>> = places.iter().map(|p| held(p)).collect();
    // Which places a coordinate moves.
    let mut moved: FxHashMap<Symbol, Vec<usize>> = FxHashMap::default();
    for (at, held) in of_places.iter().enumerate() {
        held.iter().for_each(|&s| moved.entry(s).or_default().push(at));
    }
    let mut rods: Vec<(Point, Point)> = Vec::new();
    let (mut pairs, mut looked_at) = (0, 0);
    for constraint in system.constraints.iter().filter(|c| c.level == Level::Position) {
        let phi = constraint.residual;
        let own = held(&[phi]);
        let mut near: Vec<usize> =
            own.iter().filter_map(|s| moved.get(s)).flatten().copied().collect();
        looked_at += near.len();
        if looked_at > LOOKED_AT {
            break;
        }
        near.sort_unstable();
        near.dedup();
        near.retain(|&i| of_places[i].is_subset(&own));
        let mut found = None;
        'search: for (at, &i) in near.iter().enumerate() {
            if of_places[i].len() == own.len() {
                for fixed in fixed_places(exprs, phi, places[i], &coordinates) {
                    pairs += 1;
                    if fixes(exprs, phi, places[i], &fixed, &own) {
                        found = Some((fixed, places[i].to_vec()));
                        break 'search;
                    }
                }
            }
            for &j in &near[at + 1..] {
                let union = of_places[i].union(&of_places[j]).count();
                if places[i].len() != places[j].len() || union != own.len() {
                    continue;
                }
                pairs += 1;
                if pairs > PAIRS {
                    return rods;
                }
                if fixes(exprs, phi, places[i], places[j], &own) {
                    found = Some((places[i].to_vec(), places[j].to_vec()));
                    break 'search;
                }
            }
        }
        rods.extend(found.filter(|rod| !rods.contains(rod)));
    }
    rods.extend(links(exprs, places, &coordinates));
    rods
}

/// Whether φ is a function of |a − b|² and time alone.
fn fixes(exprs: &Exprs, phi: ExprId, a: &[ExprId], b: &[ExprId], own: &FxHashSet<Symbol>) -> bool {
    let mut variables: Vec<Symbol> = own.iter().copied().collect();
    variables.sort_unstable();
    let of_phi = exprs.gradient(phi, &variables);
    let of_distance = exprs.gradient(square(exprs, a, b), &variables);
    if of_distance.iter().all(|&g| g == ExprId::ZERO) {
        return false;
    }
    // All against the first that φ depends on.
    let Some(k) = of_phi.iter().position(|&g| g != ExprId::ZERO) else { return false };
    let (phi_k, d_k) = (exprs.at(of_phi[k]), exprs.at(of_distance[k]));
    let minors = of_phi.iter().zip(&of_distance);
    let minors: Vec<ExprId> =
        minors.map(|(&p, &d)| (exprs.at(p) * d_k - exprs.at(d) * phi_k).id).collect();
    exprs.all_zero(&minors).is_zero()
}

/// |a − b|²
fn square(exprs: &Exprs, a: &[ExprId], b: &[ExprId]) -> ExprId {
    let terms: Vec<ExprId> =
        a.iter().zip(b).map(|(&a, &b)| (exprs.at(a) - exprs.at(b)).powi(2).id).collect();
    exprs.sum(&terms)
}

/// Places that do not move with the coordinates and may be the other end.
fn fixed_places(
    exprs: &Exprs,
    phi: ExprId,
    a: &[ExprId],
    coordinates: &FxHashSet<Symbol>,
) -> Vec<Point> {
    let mut list = vec![vec![ExprId::ZERO; a.len()]];
    let center = a.iter().map(|&id| {
        let symbol = exprs.as_symbol(id).filter(|s| coordinates.contains(s))?;
        let first = exprs.derivative(phi, symbol);
        let second = exprs.derivative(first, symbol);
        if second == ExprId::ZERO {
            return None;
        }
        let center = (exprs.at(id) - exprs.at(first) / exprs.at(second)).id;
        // Where it does not depend on the coordinates, it is what it is with all of them 0.
        let held: Vec<Symbol> =
            exprs.symbols_of(&[center]).into_iter().filter(|s| coordinates.contains(s)).collect();
        let moved: Vec<ExprId> = held.iter().map(|&s| exprs.derivative(center, s)).collect();
        let zeros: Vec<(Symbol, ExprId)> = held.iter().map(|&s| (s, ExprId::ZERO)).collect();
        let is_fixed = exprs.all_zero(&moved).is_zero();
        is_fixed.then(|| exprs.substitute(&[center], &zeros)[0])
    });
    list.extend(center.collect::<Option<Point>>());
    list
}

/// What the coordinates keep at one distance by themselves: each place and the one before it, the
/// first and the origin.
fn links(
    exprs: &Exprs,
    places: &[&[ExprId]],
    coordinates: &FxHashSet<Symbol>,
) -> Vec<(Point, Point)> {
    let mut list = Vec::new();
    for (at, place) in places.iter().enumerate().take(PAIRS / 4) {
        let before = match at.checked_sub(1) {
            Some(before) => places[before].to_vec(),
            None => vec![ExprId::ZERO; place.len()],
        };
        if before.len() != place.len() {
            continue;
        }
        // What both have in common is gone: of a long chain, one link is left.
        let d = square(exprs, place, &before);
        let variables: Vec<Symbol> =
            exprs.symbols_of(&[d]).into_iter().filter(|s| coordinates.contains(s)).collect();
        if !(1..=LINK).contains(&variables.len()) {
            continue;
        }
        if exprs.all_zero(&exprs.gradient(d, &variables)).is_zero() {
            list.push((before, place.to_vec()));
        }
    }
    list
}
