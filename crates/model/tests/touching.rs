//! Shapes that touch, held against what they are: the gap against the least distance of points of
//! both shapes, the rate of the gap and the slip against velocities of material points.

use dalembert_expr::{ExprId, Symbol};
use dalembert_model::load::{Beside, Loaded, Syntax, load_with};
use dalembert_model::render::render;
use dalembert_model::resolve::Limits;
use dalembert_model::system::{Contact, Model, OfTouch, Shape, Unknown};

fn load(text: &str) -> Loaded {
    let beside = Beside::default();
    load_with("touching.dal", text, Syntax::Plain, &beside, Limits::default(), None)
}

fn model(text: &str) -> Model {
    let loaded = load(text);
    let said = render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("{said}\n{text}"))
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        2.0 * unit - 1.0
    }
}

/// Numbers for the symbols of a model.
struct Point {
    values: Vec<(Symbol, f64)>,
}

impl Point {
    fn random(model: &Model, random: &mut Random) -> Point {
        let mut values = Vec::new();
        for c in &model.system.coordinates {
            values.push((c.position, random.number()));
            values.push((c.velocity, random.number()));
        }
        for p in &model.system.parameters {
            let value = p.value.and_then(|id| model.exprs.as_number(id)).expect("a number");
            values.push((p.symbol, value.to_f64()));
        }
        for &(symbol, unknown) in &model.system.unknowns {
            let value = match unknown {
                Unknown::Touch(OfTouch::Normal(_) | OfTouch::Force(..)) => random.number(),
                _ => continue,
            };
            values.push((symbol, value));
        }
        Point { values }
    }

    fn all(&self, model: &Model, ids: &[ExprId]) -> Vec<f64> {
        let of = |s: Symbol| self.values.iter().find(|v| v.0 == s).map_or(f64::NAN, |v| v.1);
        model.exprs.eval_f64(ids, of)
    }

    fn one(&self, model: &Model, id: ExprId) -> f64 {
        self.all(model, &[id])[0]
    }

    /// A coordinate by its name, set.
    fn set(&mut self, model: &Model, name: &str, value: f64) {
        let c = model.system.coordinates.iter().find(|c| c.name == name).expect("a coordinate");
        self.values.iter_mut().find(|v| v.0 == c.position).expect("its value").1 = value;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: &[f64], b: &[f64]) -> Vec<f64> {
    vec![a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A shape as numbers.
enum Numbers {
    Round(Vec<f64>, f64),
    Rim(Vec<f64>, f64, Vec<f64>),
    Plane(Vec<f64>, Vec<f64>),
}

fn numbers(model: &Model, at: &Point, shape: &Shape) -> Option<Numbers> {
    Some(match shape {
        Shape::Point(p) => Numbers::Round(at.all(model, p), 0.0),
        Shape::Ball(p, r) => Numbers::Round(at.all(model, p), at.one(model, *r)),
        Shape::Rim(p, r, n) => Numbers::Rim(at.all(model, p), at.one(model, *r), at.all(model, n)),
        Shape::Plane(p, n) => Numbers::Plane(at.all(model, p), at.all(model, n)),
        Shape::Curve(..) => return None,
    })
}

/// Points of a rim.
fn points(c: &[f64], r: f64, n: &[f64]) -> Vec<Vec<f64>> {
    let other = if n[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let a = cross(n, &other);
    let a: Vec<f64> = a.iter().map(|x| x / norm(&a)).collect();
    let b = cross(n, &a);
    let count = 20_000;
    (0..count)
        .map(|k| {
            let (s, t) = (f64::from(k) / f64::from(count) * std::f64::consts::TAU).sin_cos();
            (0..3).map(|i| c[i] + r * (t * a[i] + s * b[i])).collect()
        })
        .collect()
}

/// The gap by its meaning: how far the shapes are from each other.
fn distance(first: &Numbers, second: &Numbers) -> f64 {
    use Numbers::{Plane, Rim, Round};
    match (first, second) {
        (Plane(p, n), Round(c, r)) => dot(n, &minus(c, p)) - r,
        // Inside of a hollow every point of the other is nearer to the center than its radius.
        (Round(a, r), Round(b, s)) if *r < 0.0 => -r - norm(&minus(a, b)) - s,
        (Round(a, r), Round(b, s)) if *s < 0.0 => -s - norm(&minus(a, b)) - r,
        (Round(a, r), Round(b, s)) => norm(&minus(a, b)) - r - s,
        (Plane(p, n), Rim(c, r, axis)) => {
            let all = points(c, *r, axis);
            all.iter().map(|q| dot(n, &minus(q, p))).fold(f64::INFINITY, f64::min)
        }
        (Round(c, r), Rim(o, s, axis)) => {
            let all = points(o, *s, axis);
            let far = all.iter().map(|q| norm(&minus(q, c)));
            match *r < 0.0 {
                true => -r - far.fold(0.0, f64::max),
                false => far.fold(f64::INFINITY, f64::min) - r,
            }
        }
        (Rim(..), Rim(..)) | (Plane(..), Plane(..)) => f64::NAN,
        _ => distance(second, first),
    }
}

const SPACE: &str = "
    body a: mass 1, inertia [1, 1, 1], free
    body b: mass 1, inertia [1, 1, 1], free
    contact c: a at [0.1, 0.2, -0.3] turning Rx(0.4)*Rz(1.1) FIRST, b at [0.3, 0, 0.1] SECOND, friction 0.3
    observe c.gap, c.point, c.slip, c.force, a.origin, a.omega, b.origin, b.omega
    observe va = a.velocity_at(c.point - a.position), vb = b.velocity_at(c.point - b.position)
";

const PLANE: &str = "
    body a: mass 1, inertia 1, free
    body b: mass 1, inertia 1, free
    contact c: a at [0.1, 0.2] turning 0.4 FIRST, b at [0.3, 0] SECOND, friction 0.3
    observe c.gap, c.point, c.slip, c.force
    observe va = a.velocity_at(c.point - a.position), vb = b.velocity_at(c.point - b.position)
";

fn close(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within * (1.0 + a.abs().max(b.abs()))
}

/// gap' = n·v_rel, slip = v_rel − n (n·v_rel), components of slip, force on the second, rows.
fn is_kinematic(model: &Model, contact: &Contact, at: &Point, what: &str) {
    let exprs = &model.exprs;
    let observed = |name: &str| -> Vec<f64> {
        let list = model.system.observes.iter();
        let own = list.filter(|o| o.name == name || o.name.starts_with(&format!("{name}[")));
        let ids: Vec<ExprId> = own.map(|o| o.value).collect();
        at.all(model, &ids)
    };
    let touch = contact.touch.as_ref().expect("sides");
    let normal = at.all(model, &touch.normal);
    assert!(close(norm(&normal), 1.0, 1e-12), "{what}: {normal:?}");
    let relative = minus(&observed("vb"), &observed("va"));
    let rate = at.one(model, exprs.time_derivative(contact.gap()));
    assert!(close(rate, dot(&normal, &relative), 1e-10), "{what}: gap' {rate} {relative:?}");
    let slip = observed("c.slip");
    let along = dot(&normal, &relative);
    for i in 0..normal.len() {
        let expected = relative[i] - normal[i] * along;
        assert!(close(slip[i], expected, 1e-11), "{what}: slip");
    }
    assert!(dot(&slip, &normal).abs() < 1e-11, "{what}");
    // As long in its components, which are at right angles.
    let friction = &model.system.frictions[contact.friction.expect("friction")];
    assert_eq!(friction.slip.len(), normal.len() - 1);
    let components = at.all(model, &friction.slip);
    assert!(close(norm(&components), norm(&slip), 1e-11), "{what}: {components:?} {slip:?}");
    // Power of the force on the second: N gap' + f·slip.
    let value = |wanted: OfTouch| {
        let found = model.system.unknowns.iter().find(|u| u.1 == Unknown::Touch(wanted));
        at.one(model, exprs.of_symbol(found.expect("asked for").0))
    };
    let mut power = value(OfTouch::Normal(0)) * rate;
    for (k, component) in components.iter().enumerate() {
        power += value(OfTouch::Force(0, k)) * component;
    }
    let force = observed("c.force");
    assert!(close(power, dot(&force, &relative), 1e-10), "{what}: power");
    // The directions are the derivatives of the components.
    for (direction, &component) in friction.directions.iter().zip(&friction.slip) {
        for (coordinate, c) in model.system.coordinates.iter().enumerate() {
            let given = direction.iter().find(|d| d.0 == coordinate).map_or(ExprId::ZERO, |d| d.1);
            let expected = exprs.derivative(component, c.velocity);
            let (x, y) = (at.one(model, given), at.one(model, expected));
            assert!(close(x, y, 1e-12), "{what}: w");
        }
    }
}

#[test]
fn shapes_of_space_meet_where_they_are_nearest() {
    let shapes = [
        "normal [1, 2, 2]",
        "normal [0, 0, -1]",
        "",
        "radius 0.4",
        "radius -20",
        "radius 0.7 axis [1, -1, 0.5]",
    ];
    let mut random = Random(1);
    let mut pairs = 0;
    for first in shapes {
        for second in shapes {
            let text = SPACE.replace("FIRST", first).replace("SECOND", second);
            let what = format!("{first} | {second}");
            let loaded = load(&text);
            let flat = |s: &str| s.starts_with("normal");
            let rim = |s: &str| s.contains("axis");
            let hollow = |s: &str| s.contains('-') && !flat(s) && !rim(s);
            let refused = (flat(first) && flat(second))
                || (rim(first) && rim(second))
                || (hollow(first) && hollow(second))
                || (hollow(first) && flat(second))
                || (flat(first) && hollow(second))
                || (first.is_empty() && (second.is_empty() || rim(second)))
                || (second.is_empty() && rim(first));
            if refused {
                let found: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code.name()).collect();
                assert_eq!(found, ["side-shape"], "{what}");
                continue;
            }
            let model = model(&text);
            let contact = &model.system.contacts[0];
            let touch = contact.touch.as_ref().expect("sides");
            for _ in 0..8 {
                let at = Point::random(&model, &mut random);
                is_kinematic(&model, contact, &at, &what);
                let sides =
                    touch.shapes.each_ref().map(|s| numbers(&model, &at, s).expect("known"));
                let (gap, expected) =
                    (at.one(&model, contact.gap()), distance(&sides[0], &sides[1]));
                assert!(close(gap, expected, 1e-6), "{what}: {gap} {expected}");
                // The point is of the second, one gap away from the first.
                let point = Numbers::Round(at.all(&model, &touch.point), 0.0);
                let away = match &sides[0] {
                    Numbers::Rim(c, r, n) => {
                        distance(&point, &Numbers::Rim(c.clone(), *r, n.clone()))
                    }
                    own => distance(own, &point),
                };
                // Where one is beyond the other there is no nearest point in this sense.
                assert!(gap < 0.0 || close(away, gap, 1e-6), "{what}: {away} {gap}");
            }
            pairs += 1;
        }
    }
    assert_eq!(pairs, 23);
}

#[test]
fn shapes_of_the_plane_meet_where_they_are_nearest() {
    let shapes = ["normal [3, 4]", "", "radius 0.4", "radius -20"];
    let mut random = Random(2);
    for first in shapes {
        for second in shapes {
            let text = PLANE.replace("FIRST", first).replace("SECOND", second);
            if !load(&text).diagnostics.is_empty() {
                continue;
            }
            let model = model(&text);
            let contact = &model.system.contacts[0];
            let touch = contact.touch.as_ref().expect("sides");
            for _ in 0..8 {
                let at = Point::random(&model, &mut random);
                let what = format!("{first} | {second}");
                is_kinematic(&model, contact, &at, &what);
                let sides =
                    touch.shapes.each_ref().map(|s| numbers(&model, &at, s).expect("known"));
                let (gap, expected) =
                    (at.one(&model, contact.gap()), distance(&sides[0], &sides[1]));
                assert!(close(gap, expected, 1e-11), "{what}: {gap} {expected}");
            }
        }
    }
}

/// A disk over a curve: at the foot of the perpendicular the gap is the distance, and where the foot
/// is, its row holds.
#[test]
fn a_curve_is_touched_at_the_foot_of_the_perpendicular() {
    let mut random = Random(3);
    for order in [true, false] {
        let (first, second) = match order {
            true => ("curve [s, 0.1*s^2] by s", "radius 0.2"),
            false => ("radius 0.2", "curve [s, 0.1*s^2] by s"),
        };
        let model = model(&PLANE.replace("FIRST", first).replace("SECOND", second));
        let contact = &model.system.contacts[0];
        let foot = &model.system.constraints[0];
        assert_eq!(foot.name, "c.foot");
        let touch = contact.touch.as_ref().expect("sides");
        let (mut curve, mut ball) = (None, None);
        for shape in &touch.shapes {
            match shape {
                Shape::Curve(p, s) => curve = Some((p.clone(), *s)),
                Shape::Ball(p, r) => ball = Some((p.clone(), *r)),
                other => panic!("{other:?}"),
            }
        }
        let ((p, s), (center, radius)) = (curve.expect("a curve"), ball.expect("a disk"));
        let name = model.exprs.symbol_info(s).full_name();
        assert_eq!(name, "c.s");
        for _ in 0..8 {
            let mut at = Point::random(&model, &mut random);
            // The nearest point by search, then by Newton on the row.
            let far = |at: &Point| norm(&minus(&at.all(&model, &p), &at.all(&model, &center)));
            let mut best = (f64::INFINITY, 0.0);
            for k in -4000..4000 {
                at.set(&model, &name, f64::from(k) * 1e-3);
                let away = far(&at);
                if away < best.0 {
                    best = (away, f64::from(k) * 1e-3);
                }
            }
            let mut x = best.1;
            for _ in 0..20 {
                at.set(&model, &name, x);
                let slope = model.exprs.derivative(foot.residual, s);
                x -= at.one(&model, foot.residual) / at.one(&model, slope);
            }
            at.set(&model, &name, x);
            let above = {
                // Left of the curve, seen along it.
                let slope: Vec<ExprId> = p.iter().map(|&e| model.exprs.derivative(e, s)).collect();
                let (slope, apart) =
                    (at.all(&model, &slope), minus(&at.all(&model, &center), &at.all(&model, &p)));
                if slope[0] * apart[1] - slope[1] * apart[0] > 0.0 { 1.0 } else { -1.0 }
            };
            let expected = above * far(&at) - at.one(&model, radius);
            assert!(close(at.one(&model, contact.gap()), expected, 1e-9));
            // The rate of s follows from the row.
            let rate = model.exprs.time_derivative(foot.residual);
            let velocity =
                model.system.coordinates.iter().find(|c| c.position == s).expect("s").velocity;
            let slope = at.one(&model, model.exprs.derivative(rate, velocity));
            let held = at.values.iter_mut().find(|v| v.0 == velocity).expect("s'");
            held.1 = 0.0;
            let rest = at.one(&model, rate);
            at.values.iter_mut().find(|v| v.0 == velocity).expect("s'").1 = -rest / slope;
            is_kinematic(&model, contact, &at, "curve");
        }
    }
}

/// What is expanded reads back as the same system, without sides and shapes.
#[test]
fn what_is_expanded_reads_back() {
    let text = "
        param mu = 0.3
        coord x
        kinetic x'^2/2
        body a: mass 1, inertia 1, free
        contact c: ground normal [0, 1], a radius 0.2, friction mu, static 2*mu, restitution 0.5, while a.r[1] > -1 and x < 2
        contact stop: 1 >= x
        friction rub: 2 along x' - 1, static 3
        friction mu*abs(multiplier(c)) along x'
        joint roll: rolling ground at [0, -1] normal [0, 1], a radius 0.1
        event e: c closes -> x' = multiplier(c)
        event f: rub slips
        observe c.gap, c.mode, c.force, c.slip, rub.force, rub.mode, roll.force, roll.gap
        start c.gap = 0
        run t = 0..1, impacts in-turn
    ";
    let written = model(text);
    let expanded = dalembert_model::expand::expand(&written);
    for word in ["radius", "normal", "joint", "rolling"] {
        assert!(!expanded.contains(&format!("{word} ")), "{expanded}");
    }
    let again = model(&expanded);
    let (a, b) = (&written.system, &again.system);
    assert_eq!(a.contacts.len(), b.contacts.len());
    assert_eq!(a.frictions.len(), b.frictions.len());
    assert_eq!(a.constraints.len(), b.constraints.len());
    assert_eq!(a.run.impacts, b.run.impacts);
    assert_eq!(
        a.events.iter().map(|e| e.change).collect::<Vec<_>>(),
        b.events.iter().map(|e| e.change).collect::<Vec<_>>()
    );
    for (x, y) in a.contacts.iter().zip(&b.contacts) {
        assert_eq!((&x.name, x.friction), (&y.name, y.friction));
        assert_eq!(x.condition.is_some(), y.condition.is_some());
    }
    // The same numbers in the same state.
    let at = Point::random(&written, &mut Random(5));
    let of = |name: &str| {
        let flat = |name: &str| name.replace('.', "_");
        let place = written.system.coordinates.iter().position(|c| flat(&c.name) == name);
        place.map(|at| &written.system.coordinates[at])
    };
    let mut other = Point { values: Vec::new() };
    for c in &b.coordinates {
        let own = of(&c.name).expect("the same coordinates");
        other.values.push((c.position, at.one(&written, written.exprs.of_symbol(own.position))));
        other.values.push((c.velocity, at.one(&written, written.exprs.of_symbol(own.velocity))));
    }
    for (p, q) in a.parameters.iter().zip(&b.parameters) {
        other.values.push((q.symbol, at.one(&written, written.exprs.of_symbol(p.symbol))));
    }
    for &(symbol, unknown) in &b.unknowns {
        let own = a.unknowns.iter().find(|u| u.1 == unknown).expect("the same unknowns").0;
        other.values.push((symbol, at.one(&written, written.exprs.of_symbol(own))));
    }
    let pairs = a.contacts.iter().zip(&b.contacts).flat_map(|(x, y)| {
        [(x.gap(), y.gap()), (x.restitution, y.restitution)]
            .into_iter()
            .chain(x.condition.zip(y.condition))
    });
    let frictions = a.frictions.iter().zip(&b.frictions).flat_map(|(x, y)| {
        let slips = x.slip.iter().copied().zip(y.slip.iter().copied());
        slips.chain([(x.bound, y.bound)]).chain(x.static_bound.zip(y.static_bound))
    });
    for (x, y) in pairs.chain(frictions) {
        let (u, v) = (at.one(&written, x), other.one(&again, y));
        assert!(u.is_finite() && close(u, v, 1e-12), "{u} {v}\n{expanded}");
    }
}
