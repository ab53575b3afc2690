//! What touches, drawn: balls and disks as circles, planes as the piece of them that lies under what
//! touches them, curves around their foot points, and the point of contact.
//!
//! A plane has no end. The piece that is drawn goes along with the other shape and is four times as
//! large. Where points touch it, it reaches beyond them by half of how far they are apart; under a
//! single point, which has no size, from the plane's own place to the foot. Where points touch a body
//! of the plane, its outline shows it.

use super::{Build, Shape as Drawn};
use dalembert_expr::{ExprId, Exprs};
use dalembert_model::system::{Shape, System, Touch};

/// The piece of a plane, by the radius of what touches it.
const PIECE: i64 = 4;
/// Points of a curve to each side of the foot, this many to a radius.
const REACH: i64 = 24;
const FINE: i64 = 4;

/// The dimensions of what touches.
pub(super) fn dimension(system: &System) -> impl Iterator<Item = usize> {
    touches(system).map(|touch| touch.point.len())
}

pub(super) fn touches(system: &System) -> impl Iterator<Item = &Touch> {
    system.contacts.iter().filter_map(|contact| contact.touch.as_ref()).chain(&system.rolling)
}

/// Draws all contacts and rolling joints.
pub(super) fn draw(exprs: &Exprs, system: &System, build: &mut Build) {
    let mut planes: Vec<(Plane<'_>, Vec<&Vec<ExprId>>)> = Vec::new();
    for touch in touches(system) {
        for (side, shape) in touch.shapes.iter().enumerate() {
            let other = radius(&touch.shapes[1 - side]);
            match shape {
                Shape::Point(_) => {}
                Shape::Ball(center, radius) => ball(exprs, center, *radius, build),
                Shape::Rim(center, radius, axis) => build.circle(center, *radius, Some(axis)),
                Shape::Plane(place, normal) => {
                    let known = (place, normal);
                    if let Some(radius) = other {
                        plane(exprs, known, &touch.point, radius, build);
                        continue;
                    }
                    match planes.iter_mut().find(|p| p.0 == known) {
                        Some((_, points)) => points.push(&touch.point),
                        None => planes.push((known, vec![&touch.point])),
                    }
                }
                Shape::Curve(place, s) => {
                    let step = match other {
                        Some(radius) => (exprs.at(radius) / exprs.integer(FINE)).id,
                        None => (exprs.integer(1) / exprs.integer(10)).id,
                    };
                    let at = |k: i64| {
                        let by = exprs.at(exprs.of_symbol(*s)) + exprs.at(step) * exprs.integer(k);
                        exprs.substitute(place, &[(*s, by.id)])
                    };
                    let points: Vec<Vec<ExprId>> = (-REACH..=REACH).map(at).collect();
                    build.line(&points.iter().map(Vec::as_slice).collect::<Vec<_>>());
                }
            }
        }
        let at = build.point(&touch.point);
        build.push(Drawn::Point { at });
    }
    for (known, points) in planes {
        under_points(exprs, known, &points, build);
    }
}

/// The piece of a plane under points.
fn under_points(exprs: &Exprs, known: Plane<'_>, points: &[&Vec<ExprId>], build: &mut Build) {
    let feet: Vec<Vec<ExprId>> = points.iter().map(|point| foot(exprs, known, point)).collect();
    match feet.as_slice() {
        [] => {}
        [only] => build.line(&[known.0, only]),
        // In space they are the corners of the piece.
        all if all[0].len() == 3 => build.line(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()),
        [first, .., last] => {
            let beyond = |a: &[ExprId], b: &[ExprId]| -> Vec<ExprId> {
                let half = exprs.integer(2);
                a.iter()
                    .zip(b)
                    .map(|(&a, &b)| (exprs.at(a) + (exprs.at(a) - exprs.at(b)) / half).id)
                    .collect()
            };
            build.line(&[&beyond(first, last), &beyond(last, first)]);
        }
    }
}

/// A place and the normal.
type Plane<'a> = (&'a Vec<ExprId>, &'a Vec<ExprId>);

/// The size of what is round.
fn radius(shape: &Shape) -> Option<ExprId> {
    match shape {
        Shape::Ball(_, radius) | Shape::Rim(_, radius, _) => Some(*radius),
        Shape::Point(_) | Shape::Plane(..) | Shape::Curve(..) => None,
    }
}

/// A disk of the plane, or a ball by its circles about the three axes.
fn ball(exprs: &Exprs, center: &[ExprId], radius: ExprId, build: &mut Build) {
    // A hollow has a negative radius.
    let radius = exprs.at(radius).abs().id;
    if center.len() == 2 {
        build.circle(center, radius, None);
        return;
    }
    for k in 0..3 {
        let axis: Vec<ExprId> =
            (0..3).map(|i| if i == k { ExprId::ONE } else { ExprId::ZERO }).collect();
        build.circle(center, radius, Some(&axis));
    }
}

/// The foot of a point on a plane.
fn foot(exprs: &Exprs, (place, normal): Plane<'_>, point: &[ExprId]) -> Vec<ExprId> {
    let dot = |a: &[ExprId], b: &[ExprId]| {
        let terms: Vec<ExprId> =
            a.iter().zip(b).map(|(&x, &y)| (exprs.at(x) * exprs.at(y)).id).collect();
        exprs.at(exprs.sum(&terms))
    };
    let apart: Vec<ExprId> =
        point.iter().zip(place).map(|(&q, &p)| (exprs.at(q) - exprs.at(p)).id).collect();
    let height = dot(normal, &apart);
    point.iter().zip(normal).map(|(&q, &n)| (exprs.at(q) - height * exprs.at(n)).id).collect()
}

/// The piece of a plane under what is round.
fn plane(exprs: &Exprs, known: Plane<'_>, point: &[ExprId], radius: ExprId, build: &mut Build) {
    let foot = foot(exprs, known, point);
    let normal = known.1;
    let reach = exprs.at(radius).abs() * exprs.integer(PIECE);
    if let [x, y] = normal[..] {
        let along = [exprs.at(y), -exprs.at(x)];
        let end = |sign: i64| -> Vec<ExprId> {
            let ends = foot.iter().zip(&along);
            ends.map(|(&f, &t)| (exprs.at(f) + exprs.integer(sign) * reach * t).id).collect()
        };
        build.line(&[&end(-1), &end(1)]);
        return;
    }
    build.circle(&foot, reach.id, Some(normal));
}
