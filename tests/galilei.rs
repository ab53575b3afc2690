//! Bodies with forces between pairs of them: the integrals of Galilei's group, all of them and
//! no others.
//!
//! N bodies in d dimensions keep the energy, d momenta, d(d − 1)/2 angular momenta and d
//! combinations t P − M X, whatever the masses and the potentials of pairs, with rods between
//! them too. In a uniform field there are as many: the momentum along it with the weight times
//! t, the angular momenta about the center of mass. A trap along one axis takes what belongs
//! to that axis.

use dalembert::analyze::invariants::{InvariantOptions, Invariants, Seen, invariants};
use dalembert::analyze::{Interrupted, Request, Shown, Watch, analyze_watched};
use dalembert::expr::Random;
use dalembert::simulate::{Setting, start};
use dalembert::{Input, Model, Options, load};
use std::cell::Cell;
use std::ops::ControlFlow;

fn model(text: &str) -> Model {
    let loaded = load(&Input::text("model", text), &Options::default());
    loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}

fn found(text: &str) -> Invariants {
    let model = model(text);
    let setting = Setting::new(&model).expect("values");
    let start = start::start(&setting).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    invariants(&setting, &start, &InvariantOptions::default()).expect("equations")
}

fn names(found: &Invariants) -> Vec<&str> {
    found.integrals.iter().map(|i| i.name.as_str()).collect()
}

/// Every integral is proven on expressions or exact points and was seen along a motion.
fn assert_proven(found: &Invariants, text: &str) {
    assert!(found.refuted.is_empty(), "{text}\n{:?}", found.refuted);
    for integral in &found.integrals {
        let shown = match integral.shown {
            Shown::Symbolic => true,
            Shown::RandomPoints { error, .. } => error.is_some_and(|e| e < 1e-20),
            _ => false,
        };
        let seen = matches!(integral.seen, Seen::Kept { .. });
        assert!(shown && seen && !integral.for_these_values, "{text}\n{integral:#?}");
    }
}

/// What acts beside the forces between bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Beside {
    Nothing,
    /// A uniform field along the last axis.
    Field,
    /// A spring to the origin along the first axis, with no relation to the masses.
    Trap,
}

struct Bodies {
    dimension: usize,
    count: usize,
    beside: Beside,
    rod: bool,
    named_masses: bool,
}

impl Bodies {
    fn text(&self, random: &mut Random) -> String {
        let axes = &["x", "y", "z"][..self.dimension];
        let bodies = 1..=self.count;
        let equal = random.below(3) == 0;
        let first = 0.25 + (8.0 * random.unit()).round() / 4.0;
        let masses: Vec<f64> = bodies
            .clone()
            .map(|_| if equal { first } else { 0.37 + (30.0 * random.unit()).round() / 10.0 })
            .collect();
        let mass = |i: usize| match self.named_masses {
            true => format!("m{i}"),
            false => format!("{}", masses[i - 1]),
        };
        let mut text = String::from("param g = 9.81\n");
        if self.named_masses {
            bodies.clone().for_each(|i| text += &format!("param m{i} = {}\n", masses[i - 1]));
        }
        let names = |i: usize| axes.iter().map(move |a| format!("{a}{i}"));
        let coordinates: Vec<String> = bodies.clone().flat_map(names).collect();
        text += &format!("coord {}\n", coordinates.join(", "));
        for i in bodies.clone() {
            let squares: Vec<String> = names(i).map(|c| format!("{c}'^2")).collect();
            text += &format!("kinetic {}*({})/2\n", mass(i), squares.join(" + "));
        }
        let squared = |i: usize, j: usize| {
            let parts: Vec<String> = axes.iter().map(|a| format!("({a}{i} - {a}{j})^2")).collect();
            format!("({})", parts.join(" + "))
        };
        for i in bodies.clone() {
            for j in i + 1..=self.count {
                let (r, k) = (squared(i, j), 1 + random.below(5));
                // No springs: those have integrals of their own.
                let potential = match random.below(5) {
                    0 => format!("-{k}/sqrt{r}"),
                    1 => format!("{r}^2/{k}"),
                    2 => format!("{k}/{r}"),
                    3 => format!("{k}*log{r}"),
                    _ => format!("-{k}*exp(-{r}/9)"),
                };
                text += &format!("potential {potential}\n");
            }
        }
        for i in bodies.clone() {
            match self.beside {
                Beside::Nothing => {}
                Beside::Field => {
                    text += &format!("potential g*{}*{}{i}\n", mass(i), axes[axes.len() - 1])
                }
                Beside::Trap => {
                    text += &format!("potential {}*{}{i}^2\n", 1 + random.below(7), axes[0])
                }
            }
        }
        if self.rod {
            text += &format!("constraint rod: {} = 4\n", squared(1, 2));
        }
        for name in &coordinates {
            let place = (60.0 * random.unit() - 30.0).round() / 10.0;
            text += &format!("start {name} {} {place}\n", if self.rod { "~" } else { "=" });
        }
        text + "run t = 0..4\n"
    }

    fn expected(&self) -> usize {
        let d = self.dimension - usize::from(self.beside == Beside::Trap);
        1 + 2 * d + d * (d - 1) / 2
    }
}

#[test]
fn bodies_keep_what_galilei_s_group_says_and_nothing_else() {
    const CASES: usize = 30;
    let mut random = Random::new(12);
    for case in 0..CASES {
        let bodies = Bodies {
            dimension: 2 + case % 2,
            count: 2 + case / 2 % 3,
            beside: [Beside::Nothing, Beside::Field, Beside::Trap][case / 6 % 3],
            rod: random.below(3) == 0,
            named_masses: random.below(2) == 0,
        };
        let text = bodies.text(&mut random);
        let found = found(&text);
        assert_eq!(names(&found).len(), bodies.expected(), "{text}\n{:#?}", names(&found));
        assert_proven(&found, &text);
    }
}

/// The model that was given with the momenta missing.
#[test]
fn three_bodies_in_the_plane() {
    let text = "coord x1,y1,x2,y2,x3,y3
        kinetic (x1'^2+y1'^2)/2 + (x2'^2+y2'^2) + 3*(x3'^2+y3'^2)/2
        potential -2/sqrt((x1-x2)^2+(y1-y2)^2) - 3/sqrt((x1-x3)^2+(y1-y3)^2) - 6/sqrt((x2-x3)^2+(y2-y3)^2)
        start x1=3,y1=0,x2=0,y2=2,x3=-2,y3=-1";
    let found = found(text);
    assert_eq!(
        names(&found),
        [
            "energy",
            "p_x1 + p_x2 + p_x3",
            "p_y1 + p_y2 + p_y3",
            "x1*p_y1 - p_x1*y1 + x2*p_y2 - p_x2*y2 + x3*p_y3 - p_x3*y3",
            "t*p_x1 + t*p_x2 + t*p_x3 - x1 - 2*x2 - 3*x3",
            "t*p_y1 + t*p_y2 + t*p_y3 - y1 - 2*y2 - 3*y3",
        ]
    );
    assert_proven(&found, text);
}

/// From rest two bodies fall into each other; what is seen before that counts.
#[test]
fn a_collision_does_not_void_what_is_true() {
    for distance in ["0.01", "1", "30"] {
        let text = format!(
            "coord x1, y1, x2, y2
             kinetic (x1'^2 + y1'^2)/2 + x2'^2 + y2'^2
             potential -2/sqrt((x1-x2)^2 + (y1-y2)^2)
             start x1 = 0, y1 = 0, x2 = {distance}, y2 = 0
             run t = 0..1000"
        );
        let found = found(&text);
        assert_eq!(names(&found).len(), 6, "{:?}", names(&found));
        assert_proven(&found, &text);
    }
}

/// A body with a particle that is bound to a point of it, by quaternions, by angles, in the
/// plane, and in a uniform field: all ten, six in the plane.
#[test]
fn bodies_that_turn() {
    let bound = |coordinates: &str, turning: &str, more: &str| {
        format!(
            "coord x, y, z, {coordinates}, a, b, c
             body q: mass 1.5, inertia [0.2, 0.3, 0.4], at [x, y, z], turning {turning}
             particle p: mass 2, at [a, b, c]
             let d = q.position + {turning}*[0.5, 0.2, 0.1] - [a, b, c]
             potential dot(d, d)^2/3
             start a = 2, b = 1, c = -1
             {more}\nrun t = 0..2"
        )
    };
    let unit = "constraint unit: dot(e, e) = 1\nstart e ~ [0.9, 0.1, 0.3, 0.2]";
    let angles = "start al = 0.3, be = 1, ga = 0.4";
    let cases = [
        (bound("e[0..3]", "Rq(e)", unit), 10),
        (bound("al, be, ga", "Rz(al)*Rx(be)*Rz(ga)", angles), 10),
        (
            "coord x, y, th, a, b
             kinetic x'^2 + y'^2 + th'^2/3 + 2*(a'^2 + b'^2)
             potential ((x + cos(th) - a)^2 + (y + sin(th) - b)^2)^2
             start a = 1, b = 1, th = 0.4\nrun t = 0..2"
                .to_owned(),
            6,
        ),
    ];
    for (text, count) in cases {
        let found = found(&text);
        assert_eq!(names(&found).len(), count, "{text}\n{:#?}", names(&found));
        assert_proven(&found, &text);
    }
}

/// Functions of functions are shared and not written out, and what is flat nearly everywhere
/// is neither taken for constant nor looked at with endless digits.
#[test]
fn nested_definitions() {
    for depth in [14, 50] {
        let mut text = String::from("coord x\nlet a1 = sin(x)*cos(x)\n");
        for k in 2..=depth {
            let b = k - 1;
            text += &format!("let a{k} = sin(a{b})*cos(a{b}) + a{b}\n");
        }
        text += &format!("kinetic x'^2/2\npotential a{depth}\nstart x = 0.3\nrun t = 0..1");
        let found = found(&text);
        assert_eq!(names(&found), ["energy"]);
        assert!(found.refuted.is_empty(), "{:?}", found.refuted);
    }
}

#[test]
fn an_analysis_ends_where_it_is_told_to() {
    let model = model("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential x^2*y^2\nstart x = 1, y = 2");
    let request = Request { searches: true, ..Request::default() };
    let asked = Cell::new(0);
    let count = |_: &'static str| {
        asked.set(asked.get() + 1);
        ControlFlow::Continue(())
    };
    let whole = analyze_watched(&model, &request, &Watch::by(&count));
    assert!(matches!(whole, Ok(Ok(_))));
    let all = asked.get();
    assert!(all > 20, "{all}");
    // At the first question, in the middle, and at the last one.
    for last in [1, all / 2, all] {
        asked.set(0);
        let stop = |_: &'static str| {
            asked.set(asked.get() + 1);
            if asked.get() == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = analyze_watched(&model, &request, &Watch::by(&stop));
        assert!(matches!(found, Err(Interrupted)), "{last} of {all}");
        assert_eq!(asked.get(), last);
    }
}
