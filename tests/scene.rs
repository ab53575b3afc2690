//! What models look like: of every page of the gallery, and of small models whose shapes are known.

use dalembert::export::scene::{Scene, Shape};
use dalembert::simulate::Setting;
use dalembert::simulate::points::start;
use dalembert::{Input, Options};

/// Pages of which nothing can be drawn.
const UNSEEN: &[&str] = &[];

fn model(text: &str) -> dalembert::Model {
    let loaded = dalembert::load(&Input::text("test.dal", text), &Options::default());
    let shown = dalembert::model::render::render(&loaded.diagnostics, &loaded.sources, false);
    loaded.model.unwrap_or_else(|| panic!("{shown}"))
}

/// The scene of a text, each shape by its expressions as they print.
fn shapes(text: &str) -> Vec<String> {
    let model = model(text);
    let scene = Scene::new(&model);
    let number = |&i: &usize| model.exprs.to_source(scene.numbers[i]);
    let point =
        |p: &Vec<usize>| format!("({})", p.iter().map(number).collect::<Vec<_>>().join(", "));
    let mut list: Vec<String> = scene
        .shapes
        .iter()
        .map(|shape| match shape {
            Shape::Line { points } => {
                format!("line {}", points.iter().map(point).collect::<Vec<_>>().join(" "))
            }
            Shape::Point { at } => format!("point {}", point(at)),
            Shape::Trace { at } => format!("trace {}", point(at)),
            Shape::Circle { center, radius, axis } => {
                let axis = axis.as_ref().map(|a| format!(" {}", point(a))).unwrap_or_default();
                format!("circle {} {}{axis}", point(center), number(radius))
            }
        })
        .collect();
    list.sort();
    list
}

#[test]
fn pages_have_scenes_of_finite_numbers() {
    let mut unseen = Vec::new();
    for page in dalembert::gallery::pages() {
        let input = Input::open(&format!("gallery:{}", page.name)).expect("in the gallery");
        let model = dalembert::load(&input, &Options::default()).model.expect("no faults");
        let setting = Setting::new(&model).expect("all parameters are set");
        let model = &setting.model;
        let scene = Scene::new(model);
        assert_eq!(scene.why().is_some(), scene.is_empty());
        if std::env::var_os("DALEMBERT_SHOW_SCENES").is_some() {
            let count = |f: &dyn Fn(&Shape) -> bool| scene.shapes.iter().filter(|s| f(s)).count();
            println!(
                "{:45} {} {} lines {} points {} traces {} circles {} of {} numbers",
                page.name,
                if scene.is_drawn { "drawn" } else { "     " },
                scene.dimension,
                count(&|s| matches!(s, Shape::Line { .. })),
                count(&|s| matches!(s, Shape::Point { .. })),
                count(&|s| matches!(s, Shape::Trace { .. })),
                count(&|s| matches!(s, Shape::Circle { .. })),
                scene.numbers.len()
            );
        }
        if scene.is_empty() {
            unseen.push(page.name);
            continue;
        }
        assert!((2..=3).contains(&scene.dimension), "{}", page.name);
        for shape in &scene.shapes {
            assert!(shape.indices().iter().all(|&i| i < scene.numbers.len()), "{}", page.name);
            let points = match shape {
                Shape::Line { points } => points.clone(),
                Shape::Point { at } | Shape::Trace { at } => vec![at.clone()],
                Shape::Circle { center, axis, .. } => {
                    assert_eq!(axis.is_some(), scene.dimension == 3, "{}", page.name);
                    axis.iter().chain([center]).cloned().collect()
                }
            };
            assert!(points.iter().all(|p| p.len() == scene.dimension), "{}", page.name);
        }
        let state = start::start(&setting).expect("a start").state;
        let numbers = setting.numbers(&scene.numbers, &state.table(&model.system));
        assert!(numbers.iter().all(|x| x.is_finite()), "{}: {numbers:?}", page.name);
    }
    assert_eq!(unseen, UNSEEN);
}

#[test]
fn statements_are_drawn_as_they_stand() {
    let text = "coord x, y, z
        param R = 2
        kinetic (x'^2 + y'^2 + z'^2)/2
        draw line [0, 0], [x, y]
        draw point [x, y, z]
        draw trace [x, y, z]
        draw circle [x, y], R
        start x = 0";
    assert_eq!(
        shapes(text),
        [
            "circle (x, y, 0) R (0, 0, 1)",
            "line (0, 0, 0) (x, y, 0)",
            "point (x, y, z)",
            "trace (x, y, z)"
        ]
    );
}

#[test]
fn families_and_lists_of_points_are_unrolled() {
    let text = "const N = 2
        coord x[1..N], y[1..N]
        for i in 1..N {
          let r[i] = [x[i], y[i]]
          kinetic dot(r[i]', r[i]')/2
          draw point r[i]
        }
        draw line r
        start x = 0";
    assert_eq!(
        shapes(text),
        ["line (x[1], y[1]) (x[2], y[2])", "point (x[1], y[1])", "point (x[2], y[2])"]
    );
}

#[test]
fn energies_tell_what_moves() {
    // As a sum of squares, as a vector, in H, by its own name, in a sum over an index.
    let at = ["point (x, y)", "trace (x, y)"];
    for energy in [
        "kinetic m/2*(x'^2 + y'^2)",
        "kinetic m/2*x'^2 + m/2*y'^2",
        "let r = [x, y]\nkinetic m/2*dot(r', r')",
        "let r = [x, y], v = r'\nkinetic m/2*dot(v, v)",
        "let T = m/2*(x'^2 + y'^2)\nkinetic T",
        "lagrangian m/2*(x'^2 + y'^2)",
        "hamiltonian (p_x^2 + p_y^2)/(2*m)",
    ] {
        let text = format!("param m = 2\ncoord x, y\n{energy}\nstart x = 0");
        assert_eq!(shapes(&text), at, "{energy}");
    }
    // Angles are no places.
    let wheel = "coord x, y, theta, phi
        kinetic (x'^2 + y'^2 + theta'^2 + phi'^2)/2
        start x = 0";
    assert_eq!(shapes(wheel), at);
    assert!(shapes("coord theta\nkinetic theta'^2/2\nstart theta = 0").is_empty());
    // Two masses on one line, and one that goes upward.
    let masses = "coord x, q\nparam m = 2\nkinetic x'^2/2 + m/2*(x' + q')^2\nstart x = 0";
    assert_eq!(shapes(masses)[..2], ["point (x + q, 0)", "point (x, 0)"]);
    assert_eq!(shapes("coord y\nkinetic y'^2/2\nstart y = 0")[0], "point (0, y)");
    let two = "coord x1, y1, x2, y2\nkinetic (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\nstart x1 = 0";
    assert_eq!(shapes(two)[..2], ["point (x1, y1)", "point (x2, y2)"]);
}

#[test]
fn constraints_of_distance_are_rods() {
    let rod = |constraint: &str| {
        let text = format!(
            "param l = 2, a = 1
            coord x1, y1, x2, y2
            let r1 = [x1, y1], r2 = [x2, y2], d = r2 - r1
            kinetic dot(r1', r1')/2 + dot(r2', r2')
            constraint {constraint}
            start x1 = 1, x2 = 3"
        );
        shapes(&text).into_iter().filter(|s| s.starts_with("line")).collect::<Vec<_>>()
    };
    let between = ["line (x1, y1) (x2, y2)"];
    assert_eq!(rod("dot(d, d) = l^2"), between);
    assert_eq!(rod("norm(d) = l"), between);
    assert_eq!(rod("3*(x1 - x2)^2 + 3*(y1 - y2)^2 = l"), between);
    assert_eq!(rod("x1^2 + y1^2 = l^2"), ["line (0, 0) (x1, y1)"]);
    assert_eq!(rod("(x1 - a)^2 + (y1 - sin(t))^2 = l^2"), ["line (a, sin(t)) (x1, y1)"]);
    // An ellipse, a line, and a rate are none.
    assert!(rod("x1^2 + 2*y1^2 = l^2").is_empty());
    assert!(rod("x1 - x2 = -l").is_empty());
    assert!(rod("dot(d, r1') = 0").is_empty());
}

#[test]
fn coordinates_that_keep_a_distance_make_links() {
    let text = "const N = 2
        coord th[1..N]
        let x[0] = 0, y[0] = 0
        for i in 1..N {
          let x[i] = x[i-1] + sin(th[i]), y[i] = y[i-1] - cos(th[i])
          kinetic (x[i]'^2 + y[i]'^2)/2
        }
        start th = 1";
    let lines: Vec<_> = shapes(text).into_iter().filter(|s| s.starts_with("line")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("line (0, 0) (sin(th[1])"), "{lines:?}");
}

#[test]
fn bodies_are_as_large_as_their_inertia_tells() {
    let size = |text: &str| -> Vec<f64> {
        let model = model(text);
        let setting = Setting::new(&model).expect("all parameters are set");
        let scene = Scene::new(&setting.model);
        let state = start::start(&setting).expect("a start").state;
        let numbers = setting.numbers(&scene.numbers, &state.table(&setting.model.system));
        let reach = |p: &Vec<usize>, q: &Vec<usize>| {
            p.iter().zip(q).map(|(&i, &j)| (numbers[i] - numbers[j]).powi(2)).sum::<f64>().sqrt()
        };
        let sizes = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Line { points } => Some(reach(&points[0], &points[1])),
            Shape::Circle { radius, .. } => Some(numbers[*radius]),
            _ => None,
        });
        sizes.collect()
    };
    let near = |found: Vec<f64>, expected: &[f64]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{found:?} {expected:?}");
        }
    };
    let flat = "param m = 3, r = 0.5\ncoord x, y, th
        body b: mass m, inertia m*r^2/2, at [x, y], turning th
        start x = 1, th = 0.3";
    near(size(flat), &[0.5, 0.5]);
    let frame = "coord x, y, z, a, b, c
        param m = 3, r = 0.5
        body top: mass m, inertia J, at [x, y, z], turning Rz(a)*Rx(b)*Rz(c)
        start x = 1, a = 0.3, b = 0.4";
    let disk = frame.replace('J', "[m*r^2/4, m*r^2/4, m*r^2/2]");
    near(size(&disk), &[0.5, 0.5]);
    let rod = frame.replace('J', "[0, m*r^2/12, m*r^2/12]");
    near(size(&rod), &[0.5]);
}

#[test]
fn down_is_where_things_fall_to() {
    let down = |text: &str| {
        let model = model(text);
        let scene = Scene::new(&model);
        let words = |g: Vec<_>| g.iter().map(|&e| model.exprs.to_source(e)).collect::<Vec<_>>();
        scene.down.map(|g| words(g).join(" "))
    };
    let particle =
        |more: &str| format!("param m = 2, g = 9.81\ncoord x, y, z\n{more}\nstart x = 0");
    let found = |more: &str| down(&particle(more));
    let kinetic = "kinetic m/2*(x'^2 + y'^2 + z'^2)";
    assert_eq!(found(&format!("{kinetic}\npotential m*g*z")).as_deref(), Some("0 0 -m*g"));
    assert_eq!(found(&format!("{kinetic}\npotential -m*g*y")).as_deref(), Some("0 m*g 0"));
    assert_eq!(found(&format!("{kinetic}\npotential z^2")), None);
    assert_eq!(found(kinetic), None);
    let hamiltonian = "hamiltonian (p_x^2 + p_y^2 + p_z^2)/(2*m) + m*g*x";
    assert_eq!(found(hamiltonian).as_deref(), Some("-m*g 0 0"));
    let body = "gravity [0, -g, 0]\nparticle bob: mass m, at [x, y, z]";
    assert_eq!(found(body).as_deref(), Some("0 -g 0"));
}

/// Balls, disks and the ground under them, and the point where they touch.
#[test]
fn what_touches_is_drawn() {
    let text = "body ball: mass 1, inertia 0.1, free\n\
        contact c: ground normal [0, 1], ball radius 0.5\nstart ball.r = [0, 1]";
    let found = shapes(text);
    assert!(found.contains(&"circle (ball.r[1], ball.r[2]) 1/2".to_owned()), "{found:?}");
    assert!(found.contains(&"line (ball.r[1] - 2, 0) (ball.r[1] + 2, 0)".to_owned()), "{found:?}");
    assert!(found.contains(&"point (ball.r[1], ball.r[2] - 1/2)".to_owned()), "{found:?}");
    let text = "body disk: mass 1, inertia [1, 2, 1], free\n\
        joint c: rolling ground normal [0, 0, 1], disk radius 0.5 axis [0, 1, 0]";
    let found = shapes(text);
    let circles = found.iter().filter(|s| s.starts_with("circle")).count();
    assert!(circles >= 2, "{found:?}");
    // What the model says is drawn, and nothing else.
    let text = "body ball: mass 1, inertia 0.1, free\n\
        contact c: ground normal [0, 1], ball radius 0.5\nstart ball.r = [0, 1]\n\
        draw point ball.position";
    assert_eq!(shapes(text), ["point (ball.r[1], ball.r[2])"]);
}

/// A body of the plane that touches something is what its contacts tell, once.
#[test]
fn what_touches_has_an_outline() {
    let count = |found: &[String], what: &str| found.iter().filter(|s| s.starts_with(what)).count();
    let block = |inertia: &str| {
        format!(
            "param m = 2, b = 0.2, h = 1\ngravity [0, -9.81]\n\
             body block: mass m, inertia {inertia}, free\n\
             contact left: ground normal [0, 1], block at [-b, -h]\n\
             contact right: ground normal [0, 1], block at [b, -h]\n\
             start block.r = [0, h]"
        )
    };
    // The inertia of a rectangle with such corners: it is one.
    let found = shapes(&block("m*(b^2 + h^2)/3"));
    assert_eq!(count(&found, "circle"), 0, "{found:?}");
    let rectangle = found.iter().find(|s| s.starts_with("line") && s.contains("block.r[2]"));
    let rectangle = rectangle.unwrap_or_else(|| panic!("{found:?}"));
    // A corner that nothing touches with is there too: above, b to the right and h up.
    assert!(
        rectangle.contains("block.r[2] + b*sin(block.angle) + h*cos(block.angle)"),
        "{rectangle}"
    );
    // Another one: lines to where it touches.
    let found = shapes(&block("m"));
    assert_eq!(count(&found, "circle"), 0, "{found:?}");
    assert_eq!(count(&found, "line"), 3, "two and the ground: {found:?}");
    // A disk that touches is that disk, whatever its inertia, with a spoke.
    let ball = "param m = 1, r = 0.5\ngravity [0, -9.81]\n\
        body ball: mass m, inertia 2/5*m*r^2, free\n\
        contact c: ground normal [0, 1], ball radius r\nstart ball.r = [0, 1]";
    let found = shapes(ball);
    assert_eq!(count(&found, "circle"), 1, "{found:?}");
    assert_eq!(count(&found, "line"), 2, "a spoke and the ground: {found:?}");
}
