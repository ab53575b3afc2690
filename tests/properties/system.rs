//! Random systems as model text.
//!
//! Expressions are written in q1, …, v1, … (velocities), a1, … (accelerations) and
//! tt (time). A [`Frame`] says what these are: coordinates themselves, coordinates
//! in other units, or linear forms in one coordinate more than there are q's, so
//! that one direction neither has mass nor is held.

use crate::random::Random;
use crate::writer::Writer;

/// A constraint.
#[derive(Clone, Debug)]
pub enum Row {
    /// A residual of a level: 0 positions, 1 velocities, 2 accelerations.
    Plain { level: usize, text: String },
    /// A combination of other rows with constant weights, at the highest of their
    /// levels.
    Mixed(Vec<(String, usize)>),
}

/// What kinds of things a system has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    pub singular: bool,
    pub dependent: bool,
    pub rheonomic: bool,
    pub nonlinear: bool,
}

/// A random system.
#[derive(Clone, Debug)]
pub struct System {
    /// How many q's there are.
    pub n: usize,
    pub kind: Kind,
    pub kinetic: String,
    pub potential: String,
    pub forces: Vec<(usize, String)>,
    pub nonideal: Vec<(usize, String)>,
    pub rows: Vec<Row>,
    /// Rows written instead of these, if any.
    pub replaced: Vec<Row>,
    pub speeds: Vec<String>,
    /// Statements beside these.
    pub more: Vec<String>,
    pub frame: Frame,
}

/// What the letters of a system stand for.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// c of q_i = x_i + c_i w with one more coordinate w; none if empty.
    pub gauge: Vec<String>,
    /// Units other than 1.
    pub units: Option<Units>,
}

/// Units: q = s x for the coordinates, w last, and of time, mass and rows.
#[derive(Clone, Debug)]
pub struct Units {
    pub coordinates: Vec<f64>,
    pub time: f64,
    pub mass: f64,
    pub rows: Vec<f64>,
}

/// The shape asked of a system.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub n: usize,
    pub kind: Kind,
    /// Rank of T.
    pub rank: usize,
    /// Independent rows.
    pub rows: usize,
    pub holonomic: bool,
    pub acceleration: bool,
    /// Whether the last coordinate appears by its velocity only, and in T only.
    pub ignorable: bool,
    /// Whether there is a direction without mass and in no row.
    pub gauge: bool,
    /// Whether a force acts along it, which implies a constraint.
    pub hidden: bool,
}

impl Shape {
    /// The shape of the system of an index: a third singular, a third nonlinear,
    /// half dependent, half rheonomic, in all combinations.
    pub fn of_index(index: usize, random: &mut Random) -> Shape {
        let kind = Kind {
            singular: index.is_multiple_of(3),
            nonlinear: (index / 3).is_multiple_of(3),
            dependent: (index / 9).is_multiple_of(2),
            rheonomic: (index / 18).is_multiple_of(2),
        };
        let n = *random.pick(&[2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6]);
        let missing = if kind.singular { 1 + random.below((n - 1).min(3)) } else { 0 };
        // Mostly as many rows as make up for the missing mass, sometimes fewer.
        let few = kind.singular && random.one_in(8);
        let least = if kind.nonlinear || kind.dependent || few { 1 } else { 0 };
        let rows = if few {
            least.max(missing - 1)
        } else if random.one_in(12) {
            least.max(missing)
        } else {
            (missing + random.below(3)).clamp(1, n)
        };
        let gauge = kind.singular && random.one_in(8);
        Shape {
            n,
            kind,
            rank: n - missing,
            rows: rows.min(if kind.singular { n } else { n - 1 }),
            holonomic: true,
            acceleration: random.one_in(8),
            ignorable: n > 2 && !kind.singular && random.one_in(4),
            gauge,
            hidden: gauge && random.one_in(3),
        }
    }
}

impl System {
    /// The system of an index.
    pub fn new(index: usize) -> System {
        let mut random = Random::new(index as u64);
        let shape = Shape::of_index(index, &mut random);
        System::of_shape(shape, &mut random)
    }

    /// A system of a shape.
    pub fn of_shape(shape: Shape, random: &mut Random) -> System {
        let kind = shape.kind;
        // The gauge direction is a coordinate of its own.
        let n = shape.n - usize::from(shape.gauge);
        let active = if shape.ignorable { n - 1 } else { n };
        let mut writer = Writer { random, active, n, timed: kind.rheonomic };
        let kinetic = writer.kinetic(shape.rank);
        let mut potential = writer.potential();
        let mut forces = Vec::new();
        let mut nonideal = Vec::new();
        for i in 1..=active {
            if writer.random.one_in(2) {
                let (c, j) = (writer.c(), 1 + writer.random.below(active));
                forces.push((i, format!("{c}*v{j}*{} + {}", writer.q(), writer.function())));
            }
            if writer.random.one_in(3) {
                let (c, j) = (writer.c(), 1 + writer.random.below(active));
                nonideal.push((i, format!("{c}*v{j} + {}", writer.function())));
            }
        }
        let mut rows = Vec::new();
        let first = writer.random.below(active);
        for at in 0..shape.rows.min(active) {
            let nonlinear = kind.nonlinear && at == 0;
            let level = match writer.random.below(3) {
                _ if nonlinear => 1,
                0 if shape.holonomic => 0,
                1 if shape.acceleration => 2,
                _ => 1,
            };
            rows.push(writer.row(level, 1 + (first + at) % active, nonlinear));
        }
        let independent = rows.len();
        if kind.dependent {
            for _ in 0..1 + writer.random.below(2) {
                let mixed = mix(writer.random, independent);
                rows.push(mixed);
            }
        }
        if shape.hidden {
            potential += &format!(" + {}*w^2", writer.c());
        }
        let mut speeds = Vec::new();
        let how_many = if writer.random.one_in(3) { 1 + writer.random.below(n) } else { n };
        // Velocities complete the speeds from the first on, so those given are the last.
        for i in n - how_many + 1..=n {
            speeds.push(writer.speed(i));
        }
        let gauge = if shape.gauge { (0..n).map(|_| writer.c()).collect() } else { Vec::new() };
        System {
            n,
            kind,
            kinetic,
            potential,
            forces,
            nonideal,
            rows,
            speeds,
            replaced: Vec::new(),
            more: Vec::new(),
            frame: Frame { gauge, units: None },
        }
    }

    /// Other speeds.
    pub fn with_speeds(&self, random: &mut Random) -> System {
        let mut writer = Writer { random, active: self.n, n: self.n, timed: true };
        let speeds = (1..=self.n).map(|i| writer.speed(i)).collect();
        System { speeds, ..self.clone() }
    }

    /// How many coordinates there are.
    pub fn coordinates(&self) -> usize {
        self.n + usize::from(!self.frame.gauge.is_empty())
    }

    /// The level of a row.
    pub fn level(&self, row: &Row) -> usize {
        match row {
            Row::Plain { level, .. } => *level,
            Row::Mixed(parts) => {
                parts.iter().map(|p| self.level(&self.rows[p.1])).max().unwrap_or(0)
            }
        }
    }

    /// The residual of a row, differentiated to a level.
    pub fn residual(&self, row: &Row, level: usize) -> String {
        let unit = self.frame.units.as_ref().map_or(1.0, |units| units.time);
        match row {
            Row::Plain { level: own, text } => {
                let mut text = text.clone();
                for _ in *own..level {
                    text = if unit == 1.0 {
                        format!("({text})'")
                    } else {
                        format!("{unit}*({text})'")
                    };
                }
                text
            }
            Row::Mixed(parts) => {
                let part = |(c, at): &(String, usize)| {
                    format!("{c}*({})", self.residual(&self.rows[*at], level))
                };
                parts.iter().map(part).collect::<Vec<_>>().join(" + ")
            }
        }
    }

    /// The rows as they are written.
    pub fn written(&self) -> &[Row] {
        if self.replaced.is_empty() { &self.rows } else { &self.replaced }
    }

    /// The model text.
    pub fn text(&self) -> String {
        let (n, frame) = (self.n, &self.frame);
        let ones = Units {
            coordinates: vec![1.0; self.coordinates()],
            time: 1.0,
            mass: 1.0,
            rows: vec![1.0; self.written().len()],
        };
        let units = frame.units.as_ref().unwrap_or(&ones);
        let times = |unit: f64, text: &str| {
            if unit == 1.0 { text.to_owned() } else { format!("{unit}*({text})") }
        };
        let plain = frame.gauge.is_empty() && frame.units.is_none();
        let letter = if plain { "q" } else { "x" };
        let names: Vec<String> = (1..=self.coordinates()).map(|i| format!("{letter}{i}")).collect();
        let mut lines = vec![format!("coord {}", names.join(", "))];
        if !plain {
            for i in 1..=n {
                let mut text = times(units.coordinates[i - 1], &format!("x{i}"));
                if let Some(c) = frame.gauge.get(i - 1) {
                    text += &format!(" + {c}*w");
                }
                lines.push(format!("let q{i} = {text}"));
            }
        }
        if !frame.gauge.is_empty() {
            lines.push(format!("let w = {}", times(units.coordinates[n], &format!("x{}", n + 1))));
        }
        let rate = units.time;
        for i in 1..=n {
            lines.push(if rate == 1.0 {
                format!("let v{i} = q{i}', a{i} = q{i}''")
            } else {
                format!("let v{i} = {rate}*q{i}', a{i} = {rate}^2*q{i}''")
            });
        }
        lines.push(if rate == 1.0 { "let tt = t".into() } else { format!("let tt = t/{rate}") });
        lines.push(format!("kinetic {}", times(units.mass, &self.kinetic)));
        lines.push(format!("potential {}", times(units.mass, &self.potential)));
        for (word, list) in [("force", &self.forces), ("nonideal", &self.nonideal)] {
            for (i, text) in list {
                let text = times(units.mass, text);
                lines.push(if plain {
                    format!("{word} q{i}: {text}")
                } else {
                    format!("{word} {text} at q{i}")
                });
            }
        }
        for (at, row) in self.written().iter().enumerate() {
            let text = times(units.rows[at], &self.residual(row, self.level(row)));
            lines.push(format!("constraint c{}: {text} = 0", at + 1));
        }
        for (at, text) in self.speeds.iter().enumerate() {
            lines.push(format!("speed s{} = {text}", at + 1));
        }
        lines.extend(self.more.iter().cloned());
        lines.join("\n") + "\n"
    }
}

/// A combination of the first rows; each weight is at least an eighth.
pub fn mix(random: &mut Random, rows: usize) -> Row {
    Row::Mixed((0..rows).map(|at| (random.coefficient(), at)).collect())
}
