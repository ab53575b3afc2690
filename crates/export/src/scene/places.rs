//! What draws itself: particles as points, bodies as their axes or a disk, with their traces.
//!
//! A body's size is told by its inertia. In body axes ∫x² dm = (J_y + J_z − J_x)/2, so a uniform rod
//! along x reaches √(3(J_y + J_z − J_x)/2m) to both sides, and that is how long each axis is drawn;
//! a body without thickness along one axis and round about it is a disk of radius √(4J_x/m), with
//! J_x about a diameter, and one in the plane a disk of radius √(2J/m), with a spoke. Where joints
//! stand beside the mass center of a body in the plane, lines from them to it are the body; where it
//! touches something, its contacts tell what it looks like (`outline`).

use super::angles::{Kinds, PLACES, stem};
use super::{Build, Scene, Shape, outline, rods, touch};
use dalembert_expr::{ExprId, Exprs, Symbol};
use dalembert_model::system::{Coordinate, Extent, Model, Place};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many things leave traces each; of more, only the last does.
const TRACES: usize = 4;

/// Where a thing is, and its size if it has one.
pub(super) struct Thing<'a> {
    pub position: Vec<ExprId>,
    pub extent: Option<&'a Extent>,
}

pub(super) fn scene(model: &Model) -> Scene {
    let (exprs, system) = (&model.exprs, &model.system);
    let things = things(model);
    let placed = things.iter().map(|t| t.position.len());
    let dimension = placed.chain(touch::dimension(system)).max().unwrap_or(2);
    let mut build = Build::new(dimension);
    let first = if things.len() > TRACES { things.len() - 1 } else { 0 };
    for thing in &things[first..] {
        let at = build.point(&thing.position);
        build.push(Shape::Trace { at });
    }
    let points: Vec<&[ExprId]> = things.iter().map(|t| t.position.as_slice()).collect();
    for (a, b) in rods::rods(exprs, system, &points) {
        build.line(&[&a, &b]);
    }
    let links = links(system);
    for (a, b) in &links {
        build.line(&[a, b]);
    }
    for thing in &things {
        let is_linked = dimension == 2 && links.iter().any(|link| link.1 == thing.position);
        match thing.extent {
            Some(extent) if extent.mass != ExprId::ZERO && !is_linked => {
                match outline::of(exprs, system, touch::touches(system), thing) {
                    Some(outline) => outline.draw(exprs, thing, extent, &mut build),
                    None => extended(exprs, thing, extent, &mut build),
                }
            }
            _ => {
                let at = build.point(&thing.position);
                build.push(Shape::Point { at });
            }
        }
    }
    touch::draw(exprs, system, &mut build);
    build.finish()
}

/// Lines from the joints of a machine to the mass centers of what they join.
fn links(system: &dalembert_model::system::System) -> Vec<(Vec<ExprId>, Vec<ExprId>)> {
    let tree = &system.tree;
    let centers: FxHashMap<&str, &Vec<ExprId>> =
        system.places.iter().map(|place| (place.name.as_str(), &place.position)).collect();
    let mut lines = Vec::new();
    for joint in &tree.joints {
        for link in joint.sides.iter().flatten().map(|&at| &tree.links[at]) {
            let end = centers.get(link.name.as_str()).map_or(&link.origin, |center| *center);
            if joint.point.len() == end.len() && joint.point != *end {
                lines.push((joint.point.clone(), end.clone()));
            }
        }
    }
    lines
}

/// Particles and bodies, and what the energies tell of.
fn things(model: &Model) -> Vec<Thing<'_>> {
    let system = &model.system;
    let kinds = Kinds::new(model);
    let by_symbol: FxHashMap<Symbol, &Coordinate> =
        system.coordinates.iter().map(|c| (c.position, c)).collect();
    let of_coordinate = |id: ExprId| by_symbol.get(&model.exprs.as_symbol(id)?).copied();
    let is_angle = |id: ExprId| of_coordinate(id).is_some_and(|c| kinds.is_angle(c.position));
    let mut list = Vec::new();
    let mut single = Vec::new();
    for Place { name, position, extent, .. } in &system.places {
        if !name.is_empty() {
            list.push(Thing { position: position.clone(), extent: extent.as_ref() });
            continue;
        }
        let lengths: Vec<ExprId> = position.iter().copied().filter(|&id| !is_angle(id)).collect();
        match lengths.len() {
            0 => {}
            1 => single.push(lengths[0]),
            2 | 3 => list.push(Thing { position: lengths, extent: None }),
            _ => {
                let names = lengths.iter().map(|&id| of_coordinate(id).map(|c| c.name.as_str()));
                let groups = by_letter(&names.collect::<Vec<_>>());
                let places = groups.into_iter().map(|group| group.map(|at| lengths[at]).collect());
                list.extend(places.map(|position| Thing { position, extent: None }));
            }
        }
    }
    let on_lines = lines(model, &kinds, single, &list);
    list.extend(on_lines.into_iter().map(|position| Thing { position, extent: None }));
    list
}

/// `x1, y1, x2, y2` are two points: one ends where a letter comes again. Nothing where a point
/// would not have two or three components.
fn by_letter(names: &[Option<&str>]) -> Vec<std::ops::Range<usize>> {
    let Some(names) = names.iter().map(|n| n.map(stem)).collect::<Option<Vec<&str>>>() else {
        return Vec::new();
    };
    let mut groups = Vec::new();
    let mut start = 0;
    for at in 1..=names.len() {
        if at == names.len() || names[start..at].contains(&names[at]) {
            groups.push(start..at);
            start = at;
        }
    }
    groups.retain(|g| (2..=3).contains(&g.len()));
    groups
}

/// What moves along a line: `x`, `y` and `z` together make a point, `y` or `z` alone go upward,
/// others to the right.
fn lines(model: &Model, kinds: &Kinds, single: Vec<ExprId>, known: &[Thing]) -> Vec<Vec<ExprId>> {
    let (exprs, system) = (&model.exprs, &model.system);
    let taken: FxHashSet<ExprId> = known.iter().flat_map(|t| t.position.clone()).collect();
    // The Cartesian ones, with their names.
    let mut cartesian: Vec<(ExprId, &str)> = Vec::new();
    let mut places: Vec<Vec<ExprId>> = Vec::new();
    for id in single.into_iter().filter(|id| !taken.contains(id)) {
        let symbols = exprs.symbols_of(&[id]);
        let own: Vec<&_> =
            system.coordinates.iter().filter(|c| symbols.contains(&c.position)).collect();
        if own.is_empty() || own.iter().any(|c| kinds.is_angle(c.position)) {
            continue;
        }
        match (exprs.as_symbol(id), own.as_slice()) {
            (Some(_), [one]) if PLACES.contains(&stem(&one.name)) => {
                cartesian.push((id, &one.name));
            }
            _ => places.push(vec![id, ExprId::ZERO]),
        }
    }
    let names: Vec<Option<&str>> = cartesian.iter().map(|c| Some(c.1)).collect();
    let groups = by_letter(&names);
    let grouped = |at: usize| groups.iter().find(|g| g.contains(&at));
    for (at, &(id, name)) in cartesian.iter().enumerate() {
        let is_upward = !matches!(stem(name), "x" | "X");
        match grouped(at) {
            Some(group) if group.start == at => {
                places.push(cartesian[group.clone()].iter().map(|c| c.0).collect());
            }
            Some(_) => {}
            None if is_upward => places.push(vec![ExprId::ZERO, id]),
            None => places.push(vec![id, ExprId::ZERO]),
        }
    }
    places
}

/// A body: a disk with a spoke, or its axes.
fn extended(exprs: &Exprs, thing: &Thing, extent: &Extent, build: &mut Build) {
    let at = |id: ExprId| exprs.at(id);
    let mass = at(extent.mass);
    // What is negative by rounding, or for no body there is, has a size all the same.
    let root = |id: ExprId| at(id).abs().sqrt().id;
    let r = &thing.position;
    // r + length × (column of the rotation).
    let n = r.len();
    let reach = |column: usize, length: ExprId| -> Vec<ExprId> {
        let entry = |i: usize| at(extent.rotation[n * i + column]);
        (0..n).map(|i| (at(r[i]) + at(length) * entry(i)).id).collect()
    };
    if let [inertia] = extent.inertia[..] {
        let radius = root((at(inertia) * 2 / mass).id);
        build.circle(r, radius, None);
        build.line(&[r, &reach(0, radius)]);
        return;
    }
    let inertia = |i: usize| at(extent.inertia[4 * i]);
    // ∫x² dm / m, by axis.
    let spread = |i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        ((inertia(j) + inertia(k) - inertia(i)) / (mass * 2)).id
    };
    let flat = (0..3).find(|&i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        extent.inertia[4 * j] == extent.inertia[4 * k] && exprs.is_zero(spread(i)).is_zero()
    });
    if let Some(i) = flat {
        let radius = root((at(spread((i + 1) % 3)) * 4).id);
        let axis: Vec<ExprId> = (0..3).map(|row| extent.rotation[3 * row + i]).collect();
        build.circle(r, radius, Some(&axis));
        build.line(&[r, &reach((i + 1) % 3, radius)]);
        return;
    }
    for i in (0..3).filter(|&i| spread(i) != ExprId::ZERO) {
        let length = root((at(spread(i)) * 3).id);
        let back = (-at(length)).id;
        build.line(&[&reach(i, back), &reach(i, length)]);
    }
}
