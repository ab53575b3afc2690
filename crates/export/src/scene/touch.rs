//! What touches, drawn: balls and disks as circles, planes as the piece of them that lies under what
//! touches them, curves around their foot points, and the point of contact.
//!
//! A plane has no end. The piece that is drawn goes along with the other shape and is four times as
//! large; where that is a point without a size, it reaches from the plane's own place to the foot.

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

fn touches(system: &System) -> impl Iterator<Item = &Touch> {
    system.contacts.iter().filter_map(|contact| contact.touch.as_ref()).chain(&system.rolling)
}

/// Draws all contacts and rolling joints.
pub(super) fn draw(exprs: &Exprs, system: &System, build: &mut Build) {
    for touch in touches(system) {
        for (side, shape) in touch.shapes.iter().enumerate() {
            let other = radius(&touch.shapes[1 - side]);
            match shape {
                Shape::Point(_) => {}
                Shape::Ball(center, radius) => ball(exprs, center, *radius, build),
                Shape::Rim(center, radius, axis) => build.circle(center, *radius, Some(axis)),
                Shape::Plane(place, normal) => {
                    plane(exprs, (place, normal), &touch.point, other, build);
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
}

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

/// The piece of a plane under a point.
fn plane(
    exprs: &Exprs,
    (place, normal): (&[ExprId], &[ExprId]),
    point: &[ExprId],
    radius: Option<ExprId>,
    build: &mut Build,
) {
    let dot = |a: &[ExprId], b: &[ExprId]| {
        let terms: Vec<ExprId> =
            a.iter().zip(b).map(|(&x, &y)| (exprs.at(x) * exprs.at(y)).id).collect();
        exprs.at(exprs.sum(&terms))
    };
    let apart: Vec<ExprId> =
        point.iter().zip(place).map(|(&q, &p)| (exprs.at(q) - exprs.at(p)).id).collect();
    let height = dot(normal, &apart);
    let foot: Vec<ExprId> =
        point.iter().zip(normal).map(|(&q, &n)| (exprs.at(q) - height * exprs.at(n)).id).collect();
    let Some(radius) = radius else {
        build.line(&[place, &foot]);
        return;
    };
    let reach = exprs.at(radius).abs() * exprs.integer(PIECE);
    if let [x, y] = normal {
        let along = [exprs.at(*y), -exprs.at(*x)];
        let end = |sign: i64| -> Vec<ExprId> {
            let ends = foot.iter().zip(&along);
            ends.map(|(&f, &t)| (exprs.at(f) + exprs.integer(sign) * reach * t).id).collect()
        };
        build.line(&[&end(-1), &end(1)]);
        return;
    }
    build.circle(&foot, reach.id, Some(normal));
}
