//! Figures as files: what was put into them is there, in every format.

use dalembert::export::plot::moving::Moving;
use dalembert::export::plot::{Curve, Figure, Mark, Motion, Panel, Strobe};
use dalembert::export::quantity::Quantity;
use dalembert::export::scene::{Scene, Shape};

fn curve(label: &str, kind: Quantity, x: &[f64], y: &[f64]) -> Curve {
    let t = (0..x.len()).map(|i| i as f64).collect();
    Curve { label: label.into(), kind, style: 0, t, x: x.to_vec(), y: y.to_vec() }
}

fn figure(panels: Vec<Panel>) -> Figure {
    Figure { title: "A figure".into(), panels, ..Figure::default() }
}

fn against_time(curves: Vec<Curve>) -> Panel {
    Panel { x_label: "t".into(), x_kind: Quantity::Time, curves }
}

/// A disk of radius ½ that goes around the origin at a distance of 2, on a rod, with a trace.
fn motion() -> Motion {
    // Indices: 0, x, y, ½.
    let (at, center) = (vec![1, 2], vec![1, 2]);
    let scene = Scene {
        dimension: 2,
        shapes: vec![
            Shape::Trace { at: at.clone() },
            Shape::Line { points: vec![vec![0, 0], at.clone()] },
            Shape::Circle { center, radius: 3, axis: None },
            Shape::Point { at },
        ],
        ..Scene::default()
    };
    let t: Vec<f64> = (0..=100).map(|i| 0.05 * f64::from(i)).collect();
    let rows = t.iter().map(|t| vec![0.0, 2.0 * t.cos(), 2.0 * t.sin(), 0.5]).collect();
    Motion { scene, t, rows, up: None }
}

/// The numbers of an attribute of the elements that a line of the file has.
fn attribute(element: &str, name: &str) -> String {
    let from = element.find(&format!(" {name}=\"")).expect("the attribute") + name.len() + 3;
    element[from..].split('"').next().expect("its end").to_owned()
}

/// The points of a path.
fn points(element: &str) -> Vec<(f64, f64)> {
    let numbers: Vec<f64> = attribute(element, "d")
        .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().expect("a number"))
        .collect();
    numbers.chunks(2).map(|p| (p[0], p[1])).collect()
}

/// Every element is closed, in the order in which they were opened.
fn is_well_formed(svg: &str) -> bool {
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let tag = piece.split('>').next().expect("a tag");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().expect("a name").to_owned();
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.is_empty()
}

#[test]
fn lengths_against_lengths_have_one_scale() {
    let around: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.1).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = around.iter().map(|a| (3.0 * a.cos(), a.sin())).unzip();
    let extent = |kind: Quantity| {
        let panel =
            Panel { x_label: "x".into(), x_kind: kind, curves: vec![curve("y", kind, &x, &y)] };
        let svg = figure(vec![panel]).to_svg();
        assert!(is_well_formed(&svg));
        let line = svg.lines().find(|l| l.contains("#0072b2")).expect("a curve");
        let range = |values: Vec<f64>| {
            values.iter().copied().fold(f64::MIN, f64::max)
                - values.iter().copied().fold(f64::MAX, f64::min)
        };
        let p = points(line);
        (range(p.iter().map(|p| p.0).collect()), range(p.iter().map(|p| p.1).collect()))
    };
    let (wide, high) = extent(Quantity::Length);
    assert!((wide / high - 3.0).abs() < 0.02, "{wide} {high}");
    let (wide, high) = extent(Quantity::Angle);
    assert!((wide / high - 3.0).abs() > 0.2, "{wide} {high}");
}

#[test]
fn axes_say_what_they_show() {
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let figure = figure(vec![
        against_time(vec![curve("θ", Quantity::Angle, &x, &x)]),
        against_time(vec![
            curve("a", Quantity::Length, &x, &x),
            curve("b", Quantity::Length, &x, &x),
        ]),
    ]);
    let svg = figure.to_svg();
    let upright: Vec<&str> = svg.lines().filter(|l| l.contains("rotate(-90")).collect();
    assert_eq!(upright.len(), 2);
    assert!(upright[0].ends_with(">angle θ (rad)</text>"), "{upright:?}");
    assert!(upright[1].ends_with(">position</text>"), "{upright:?}");
    // Panels that share their time name it once, and both curves of the second are in a legend.
    assert_eq!(svg.matches(">time t</text>").count(), 1);
    assert!(svg.contains(">a</text>") && svg.contains(">b</text>"));
}

#[test]
fn events_are_lines_over_time_and_rings_on_curves() {
    let t: Vec<f64> = (0..=100).map(|i| f64::from(i) * 0.1).collect();
    let y: Vec<f64> = t.iter().map(|t| t.sin()).collect();
    let over_time = Curve { t: t.clone(), ..curve("y", Quantity::Length, &t, &y) };
    let phase = Panel {
        x_label: "y".into(),
        x_kind: Quantity::Length,
        curves: vec![Curve { t: t.clone(), ..curve("v", Quantity::Velocity, &y, &t) }],
    };
    let marks: Vec<Mark> =
        [2.0, 6.05, 6.0501].map(|t| Mark { t, name: "hit".into() }).into_iter().collect();
    let mut figure = figure(vec![against_time(vec![over_time]), phase]);
    let rings = |svg: &str| svg.lines().filter(|l| l.starts_with("<circle")).count();
    let dashed = |svg: &str| svg.lines().filter(|l| l.contains("stroke-dasharray=\"3 3\"")).count();
    let svg = figure.to_svg();
    assert_eq!((dashed(&svg), rings(&svg)), (0, 0));
    figure.marks = marks;
    let svg = figure.to_svg();
    // Two lines: the third would lie on the second.
    assert_eq!((dashed(&svg), rings(&svg)), (2, 3));
    assert_eq!(svg.matches(">hit</text>").count(), 3, "two over the lines, one at a ring");
    // A line stands where its time is, from the left edge at 0 to the right edge at 10.
    let lines: Vec<&str> = svg.lines().filter(|l| l.contains("stroke-dasharray=\"3 3\"")).collect();
    let axis = svg.lines().find(|l| l.contains("stroke=\"#9a9a9a\"") && !l.contains("dash"));
    let corners = points(axis.expect("a frame"));
    let (left, right) = (corners[0].0, corners[2].0);
    let x = points(lines[0])[0].0;
    assert!((x - (left + 0.2 * (right - left))).abs() < 0.1, "{left} {x} {right}");
    // The ring at 6.05 lies between the rows around it.
    assert!(svg.contains("events: hit"));
}

#[test]
fn a_png_has_its_size_and_ink_where_curves_are() {
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let level = vec![1.0; 50];
    let figure = figure(vec![against_time(vec![
        curve("a", Quantity::Length, &x, &level),
        curve("b", Quantity::Length, &x, &x),
    ])]);
    let svg = figure.to_svg();
    let head = svg.lines().next().expect("a head");
    let size: Vec<u32> =
        ["width", "height"].iter().map(|n| attribute(head, n).parse().expect("pixels")).collect();
    let bytes = figure.to_png().expect("a picture");
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((info.width, info.height), (3 * size[0], 3 * size[1]));
    let pixel = |x: f64, y: f64| {
        let at = 3 * ((3.0 * y) as usize * info.width as usize + (3.0 * x) as usize);
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    };
    assert_eq!(pixel(1.0, 1.0), [255; 3]);
    // In the middle of the first curve there is its color.
    let line = svg.lines().filter(|l| l.contains("#0072b2")).nth(1).expect("a curve");
    let p = points(line);
    let middle = (0.5 * (p[0].0 + p[1].0) + 7.0, 0.5 * (p[0].1 + p[1].1));
    assert_eq!(pixel(middle.0, middle.1), [0x00, 0x72, 0xb2]);
    assert_ne!(pixel(middle.0, middle.1 - 12.0), [0x00, 0x72, 0xb2]);
    // The title is made of letters: dark pixels above the plane, and not all dark.
    let title: Vec<bool> =
        (0..300).map(|i| pixel(82.0 + f64::from(i) / 3.0, 27.0)[0] < 128).collect();
    let dark = title.iter().filter(|d| **d).count();
    assert!((10..200).contains(&dark), "{dark}");
}

/// The objects of a PDF by number, as its table of places says.
fn objects(file: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(file).into_owned();
    let place = |after: &[u8], from: usize| {
        file[from..].windows(after.len()).position(|w| w == after).map(|at| from + at)
    };
    assert!(text.starts_with("%PDF-1.5") && file.ends_with(b"%%EOF\n"));
    let at = place(b"startxref\n", 0).expect("a place");
    let tail = String::from_utf8_lossy(&file[at..]).into_owned();
    let table: usize = tail.lines().nth(1).and_then(|l| l.parse().ok()).expect("a number");
    let table = String::from_utf8_lossy(&file[table..]).into_owned();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("xref"));
    let count: usize =
        lines.next().and_then(|l| l.split(' ').nth(1)?.parse().ok()).expect("a count");
    let mut found = Vec::new();
    for (number, line) in lines.take(count).enumerate().skip(1) {
        let from: usize = line[..10].parse().expect("a place");
        assert!(file[from..].starts_with(format!("{number} 0 obj\n").as_bytes()), "{line}");
        let end = place(b"endobj", from).expect("an end");
        found.push(String::from_utf8_lossy(&file[from..end]).into_owned());
    }
    found
}

#[test]
fn a_pdf_is_whole_and_has_its_font() {
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let file =
        figure(vec![against_time(vec![curve("θ\u{307}₁", Quantity::AngularVelocity, &x, &x)])])
            .to_pdf();
    let objects = objects(&file);
    let has = |words: &str| objects.iter().filter(|o| o.contains(words)).count();
    assert_eq!((has("/Type /Catalog"), has("/Type /Page "), has("/FontFile2")), (1, 1, 1));
    // Every object that another one names is there.
    for object in &objects {
        let head = object.split("stream").next().expect("a head");
        for (at, _) in head.match_indices(" 0 R") {
            let number = head[..at].rsplit([' ', '[']).next().expect("a number");
            let number: usize = number.parse().expect("a number");
            assert!((1..=objects.len()).contains(&number), "{head}");
        }
    }
    // 760 pixels of 1/96 inch are 570 points.
    assert_eq!(has("/MediaBox [0 0 570.00"), 1);
    assert!(file.len() < 80_000, "{}", file.len());
}

#[test]
fn a_strobe_shows_as_many_instants_as_asked() {
    for frames in [1, 2, 8] {
        let strobe = Some(Strobe { motion: motion(), frames });
        let figure = Figure { strobe, ..figure(Vec::new()) };
        let svg = figure.to_svg();
        assert!(is_well_formed(&svg));
        assert_eq!(svg.matches("class=\"instant\"").count(), frames);
        // Each instant: a rod, a circle, a point and the head of the trace.
        assert_eq!(svg.matches("<circle").count(), 3 * frames);
        assert!(!svg.contains("NaN"));
        // A circle is as round as the rod is long: ½ to 2.
        let mut instant = svg.lines().skip_while(|l| !l.contains("class=\"instant\""));
        let rod = instant.find(|l| l.starts_with("<path")).expect("a rod");
        let rod = points(rod);
        let length = (rod[0].0 - rod[1].0).hypot(rod[0].1 - rod[1].1);
        let circle = svg.lines().find(|l| l.contains("<circle") && l.contains("stroke"));
        let radius: f64 = attribute(circle.expect("it"), "r").parse().expect("a number");
        assert!((length / radius - 4.0).abs() < 0.02, "{length} {radius}");
    }
}

#[test]
fn an_animated_svg_goes_through_the_motion() {
    let moving = Moving { title: "Around".into(), motion: motion(), frames: Some(11) };
    let svg = moving.to_svg().expect("a picture");
    assert!(is_well_formed(&svg) && !svg.contains("NaN"));
    let rod = svg.lines().find(|l| l.contains("attributeName=\"d\"")).expect("a rod that moves");
    let values: Vec<&str> = rod
        .split(" values=\"")
        .nth(1)
        .and_then(|v| v.split('"').next())
        .expect("values")
        .split(';')
        .collect();
    assert_eq!(values.len(), 11);
    assert!(values.windows(2).all(|w| w[0] != w[1]), "{values:?}");
    // Its length stays; its first and last directions are those of t = 0 and t = 5.
    let ends = |d: &str| points(&format!("<path d=\"{d}\""));
    let lengths: Vec<f64> =
        values.iter().map(|d| ends(d)).map(|p| (p[0].0 - p[1].0).hypot(p[0].1 - p[1].1)).collect();
    assert!(lengths.iter().all(|l| (l - lengths[0]).abs() < 0.3), "{lengths:?}");
    let last = ends(values[10]);
    let angle = (last[0].1 - last[1].1).atan2(last[1].0 - last[0].0);
    assert!((angle - (5.0 - std::f64::consts::TAU)).abs() < 0.01, "{angle}");
    // The trace is uncovered from nothing to all of it.
    let trace = svg.lines().find(|l| l.contains("stroke-dashoffset")).expect("a trace");
    assert!(trace.contains("values=\"1.0000;") && trace.contains(";0.0000\""), "{trace}");
}

#[test]
fn frames_of_a_gif_differ() {
    let moving = Moving { title: "Around".into(), motion: motion(), frames: Some(8) };
    let bytes = moving.to_gif().expect("a picture");
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut reader = options.read_info(std::io::Cursor::new(bytes)).expect("a GIF");
    let (width, height) = (usize::from(reader.width()), usize::from(reader.height()));
    let mut screen = vec![0u8; width * height];
    let mut screens: Vec<Vec<u8>> = Vec::new();
    while let Some(frame) = reader.read_next_frame().expect("a frame") {
        for (at, &entry) in frame.buffer.iter().enumerate() {
            let (x, y) = (at % usize::from(frame.width), at / usize::from(frame.width));
            if Some(entry) != frame.transparent {
                let row = y + usize::from(frame.top);
                screen[row * width + x + usize::from(frame.left)] = entry;
            }
        }
        assert!(screens.iter().all(|s| *s != screen), "two frames are the same");
        screens.push(screen.clone());
    }
    assert_eq!(screens.len(), 8);
    // The trace of a later frame covers more of the page.
    let ink = |s: &Vec<u8>| s.iter().filter(|e| **e != 1).count();
    assert!(ink(&screens[7]) > ink(&screens[0]) + 200, "{} {}", ink(&screens[0]), ink(&screens[7]));
}

#[test]
fn what_is_nowhere_is_left_out() {
    let mut motion = motion();
    let nan = f64::NAN;
    for row in motion.rows.iter_mut().skip(50) {
        *row = vec![nan; 4];
    }
    let strobe = Some(Strobe { motion: motion.clone(), frames: 5 });
    let svg = Figure { strobe, ..figure(Vec::new()) }.to_svg();
    assert!(!svg.contains("NaN") && svg.contains("<circle"));
    let moving = Moving { title: String::new(), motion: motion.clone(), frames: Some(5) };
    assert!(!moving.to_svg().expect("half of it is somewhere").contains("NaN"));
    motion.rows.iter_mut().for_each(|row| *row = vec![nan; 4]);
    let moving = Moving { title: String::new(), motion: motion.clone(), frames: Some(5) };
    assert!(moving.to_svg().is_none() && moving.to_gif().is_err());
    let strobe = Some(Strobe { motion, frames: 5 });
    assert!(!Figure { strobe, ..figure(Vec::new()) }.to_svg().contains("NaN"));
    // A point that stays where it is has a picture too.
    let scene =
        Scene { dimension: 2, shapes: vec![Shape::Point { at: vec![0, 0] }], ..Scene::default() };
    let still = Motion { scene, t: vec![0.0, 1.0], rows: vec![vec![3.0]; 2], up: None };
    let strobe = Some(Strobe { motion: still.clone(), frames: 2 });
    assert!(Figure { strobe, ..figure(Vec::new()) }.to_svg().contains("<circle"));
    let moving = Moving { title: String::new(), motion: still, frames: None };
    assert!(moving.to_gif().is_ok());
}

#[test]
fn what_is_nowhere_a_number_leaves_the_others_their_time() {
    let t: Vec<f64> = (0..=10).map(f64::from).collect();
    let none = vec![f64::NAN; t.len()];
    let late: Vec<f64> = t.iter().map(|&t| if t < 5.0 { f64::NAN } else { t }).collect();
    let panels = vec![
        against_time(vec![curve("late", Quantity::Other, &t, &late)]),
        against_time(vec![curve("none", Quantity::Other, &t, &none)]),
    ];
    let svg = figure(panels).to_svg();
    assert!(is_well_formed(&svg));
    assert!(svg.contains("nowhere a number"), "{svg}");
    assert!(!svg.contains("×10") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    // From 5 to 10 is the right half of a plane that shows 0 to 10.
    let path =
        svg.lines().find(|line| line.contains("<path") && line.contains("stroke-width=\"1.6\""));
    let places = points(path.expect("the curve that is there"));
    let (first, last) = (places[0].0, places[places.len() - 1].0);
    assert!((first - 0.5 * (82.0 + last)).abs() < 1.0, "{first} {last}");
}

/// Modes are words over stretches of time, in a panel of their own, and amounts are none of them.
#[test]
fn modes_are_strips() {
    let t = [0.0, 1.0, 1.0, 2.0, 4.0];
    let force = curve("rub.force", Quantity::Force, &t, &[0.0, 3.0, 2.0, 2.0, 2.0]);
    let mode = curve("rub.mode", Quantity::Mode, &t, &[2.0, 2.0, 1.0, 1.0, 1.0]);
    let floor = curve("floor.mode", Quantity::Closed, &t, &[0.0, 0.0, 0.0, 1.0, 1.0]);
    let figure = figure(vec![against_time(vec![force, mode, floor])]).divided();
    assert_eq!(figure.panels.len(), 2, "forces, and modes of both kinds");
    let svg = figure.to_svg();
    assert!(is_well_formed(&svg));
    // In the stretch and beside its color.
    for (word, times) in [("sticks", 2), ("slips", 2), ("open", 2), ("closed", 2)] {
        assert_eq!(svg.matches(&format!(">{word}</text>")).count(), times, "{word}");
    }
    for name in ["rub", "floor"] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
    // It stops sticking at 1 of 4, where the force jumps.
    let modes = &svg[svg.find("class=\"modes\"").expect("strips")..];
    let blocks: Vec<Vec<(f64, f64)>> =
        modes.lines().filter(|l| l.starts_with("<path")).take(2).map(points).collect();
    let (left, change, right) = (blocks[0][0].0, blocks[0][2].0, blocks[1][2].0);
    assert!(((change - left) / (right - left) - 0.25).abs() < 1e-2, "{blocks:?}");
    assert!((blocks[1][0].0 - change).abs() < 0.02, "{blocks:?}");
}
