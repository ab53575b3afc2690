//! The outline of a body of the plane that touches something: what its contacts tell of it, in place of
//! the disk that its inertia would be.
//!
//! A point P touches as part of the body if u = Rᵀ(P − r) is constant. A uniform rectangle with a corner
//! u, and a uniform rod with an end u, have J = m|u|²/3: where that holds the body is drawn so, and
//! else by lines from its mass center to where it touches. A disk that touches is drawn as such; of one
//! about the mass center there is a spoke, which shows how it is turned.

use super::Build;
use super::places::Thing;
use dalembert_expr::{ExprId, Exprs, Symbol};
use dalembert_model::system::{Extent, Shape, System, Touch};

/// So many contacts are looked at; a picture of more shows no outlines.
const LOOKED_AT: usize = 400;

type Local = [ExprId; 2];

/// What a body touches with, in its own axes.
pub(super) struct Outline {
    corners: Vec<Local>,
    disks: Vec<(Local, ExprId)>,
}

/// What of a body touches something; none where nothing does, and in space.
pub(super) fn of<'a>(
    exprs: &Exprs,
    system: &System,
    touches: impl Iterator<Item = &'a Touch>,
    thing: &Thing,
) -> Option<Outline> {
    let extent = thing.extent?;
    let [x, y] = thing.position[..] else { return None };
    let coordinates = system.positions();
    let local = |p: &[ExprId]| -> Option<Local> {
        let apart = [exprs.at(p[0]) - exprs.at(x), exprs.at(p[1]) - exprs.at(y)];
        let along = |i: usize| {
            let [a, b] = [extent.rotation[i], extent.rotation[2 + i]];
            (exprs.at(a) * apart[0] + exprs.at(b) * apart[1]).id
        };
        constant(exprs, &coordinates, [along(0), along(1)])
    };
    let mut outline = Outline { corners: Vec::new(), disks: Vec::new() };
    for touch in touches.take(LOOKED_AT) {
        for shape in &touch.shapes {
            match shape {
                Shape::Point(p) => {
                    if let Some(u) = local(p).filter(|u| !outline.corners.contains(u)) {
                        outline.corners.push(u);
                    }
                }
                Shape::Ball(center, radius) if center.len() == 2 => {
                    let disk = local(center).map(|u| (u, *radius));
                    if let Some(disk) = disk.filter(|disk| !outline.disks.contains(disk)) {
                        outline.disks.push(disk);
                    }
                }
                _ => {}
            }
        }
    }
    let is_empty = outline.corners.is_empty() && outline.disks.is_empty();
    (!is_empty).then_some(outline)
}

/// The values of what does not depend on coordinates, in parameters.
fn constant(exprs: &Exprs, coordinates: &[Symbol], u: Local) -> Option<Local> {
    let held = exprs.symbols_of(&u);
    let moved: Vec<Symbol> = held.into_iter().filter(|s| coordinates.contains(s)).collect();
    for &component in &u {
        let slopes = exprs.gradient(component, &moved);
        if !exprs.all_zero(&slopes).is_zero() {
            return None;
        }
    }
    let zeros: Vec<(Symbol, ExprId)> = moved.iter().map(|&s| (s, ExprId::ZERO)).collect();
    let values = exprs.substitute(&u, &zeros);
    Some([values[0], values[1]])
}

impl Outline {
    /// Draws it; disks that touch draw themselves.
    pub fn draw(&self, exprs: &Exprs, thing: &Thing, extent: &Extent, build: &mut Build) {
        let at = |id: ExprId| exprs.at(id);
        let r = &thing.position;
        let place = |u: Local| -> Vec<ExprId> {
            let row = |i: usize| {
                let [a, b] = [extent.rotation[2 * i], extent.rotation[2 * i + 1]];
                (at(r[i]) + at(a) * at(u[0]) + at(b) * at(u[1])).id
            };
            vec![row(0), row(1)]
        };
        let opposite = |u: Local| u.map(|x| (-at(x)).id);
        let is_same = |a: Local, b: Local| {
            let apart = [0, 1].map(|i| (at(a[i]) - at(b[i])).id);
            exprs.all_zero(&apart).is_zero()
        };
        let tells = |u: &Local| {
            let square = at(u[0]).powi(2) + at(u[1]).powi(2);
            let left = at(extent.inertia[0]) * 3 - at(extent.mass) * square;
            exprs.is_zero(left.id).is_zero()
        };
        let corners: Vec<Local> = self.corners.iter().copied().filter(tells).collect();
        if let Some(&u) = corners.first() {
            let other = |v: &&Local| !is_same(u, **v) && !is_same(opposite(u), **v);
            match corners.iter().find(other) {
                Some(&v) => {
                    let around = [u, v, opposite(u), opposite(v), u].map(place);
                    build.line(&around.each_ref().map(Vec::as_slice));
                }
                None => build.line(&[&place(opposite(u)), &place(u)]),
            }
        } else {
            for &u in &self.corners {
                build.line(&[r, &place(u)]);
            }
        }
        for &(u, radius) in &self.disks {
            if u == [ExprId::ZERO; 2] {
                let reach = |u: ExprId| place([u, ExprId::ZERO]);
                build.line(&[r, &reach(at(radius).abs().id)]);
            } else {
                build.line(&[r, &place(u)]);
            }
        }
    }
}
