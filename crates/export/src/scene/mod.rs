//! The scene: what a model looks like, as shapes whose points are scalar expressions.
//!
//! `draw` statements say it. Without any, particles and bodies draw themselves (`places`), with
//! the rods that constraints between them amount to (`rods`). Everything that shows a motion
//! (figures, the page, its live program) reads this one list, so that all of them show the same.
//!
//! Points of a scene have two components, or three if any of it is in space; a point of the plane
//! is then at height 0. Where nothing can be drawn the scene is empty and [`Scene::why`] says why.

mod angles;
mod down;
mod outline;
mod places;
mod rods;
mod touch;

pub use angles::Kinds;

use dalembert_expr::ExprId;
use dalembert_model::system::Draw;
use dalembert_model::system::Model;
use dalembert_model::tree;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a model looks like.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// 2 or 3.
    pub dimension: usize,
    /// In the order in which they are drawn.
    pub shapes: Vec<Shape>,
    /// The scalars that the shapes are made of, each once; in the variables of the system.
    pub numbers: Vec<ExprId>,
    /// Whether the model says what is drawn, by `draw`.
    pub is_drawn: bool,
    /// Where things fall to, in parameters and time: the direction that is down in a picture. The
    /// last axis is up where this is not known.
    pub down: Option<Vec<ExprId>>,
}

/// A place in [`Scene::numbers`].
pub type Index = usize;

/// One thing to draw. Points are lists of as many numbers as the scene has dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A polygonal line.
    Line {
        /// Two points or more.
        points: Vec<Vec<Index>>,
    },
    /// A point.
    Point {
        /// Where.
        at: Vec<Index>,
    },
    /// The path that a point has passed.
    Trace {
        /// The point.
        at: Vec<Index>,
    },
    /// A circle.
    Circle {
        /// Its center.
        center: Vec<Index>,
        /// Its radius.
        radius: Index,
        /// The axis across its plane, of any length; in space only.
        axis: Option<Vec<Index>>,
    },
}

impl Scene {
    /// The scene of a model. Expressions that it adds go to the model's arena.
    pub fn new(model: &Model) -> Scene {
        let draws = &model.system.draws;
        let down = down::down(model);
        if draws.is_empty() {
            return Scene { down, ..places::scene(model) };
        }
        let points = draws.iter().flat_map(|d| &d.points);
        let dimension = points.map(Vec::len).max().unwrap_or(2);
        let mut build = Build::new(dimension);
        for draw in draws {
            build.draw(draw);
        }
        Scene { is_drawn: true, down, ..build.finish() }
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// What it consists of: `1 line, 2 points in the plane`.
    pub fn words(&self) -> String {
        let count = |which: fn(&Shape) -> bool, word: &str| {
            let n = self.shapes.iter().filter(|s| which(s)).count();
            let plural = if n == 1 { "" } else { "s" };
            (n > 0).then(|| format!("{n} {word}{plural}"))
        };
        let parts = [
            count(|s| matches!(s, Shape::Line { .. }), "line"),
            count(|s| matches!(s, Shape::Circle { .. }), "circle"),
            count(|s| matches!(s, Shape::Point { .. }), "point"),
            count(|s| matches!(s, Shape::Trace { .. }), "trace"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let place = if self.dimension == 3 { "in space" } else { "in the plane" };
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            format!("{} {place}", parts.join(", "))
        }
    }

    /// Why there is nothing to see, with what would change it.
    pub fn why(&self) -> Option<&'static str> {
        self.is_empty().then_some(
            "nothing can be drawn: the model has no `draw` statement, no particle and no body, \
             and its kinetic energy shows no position; write `draw line A, B` or `draw point P`",
        )
    }
}

impl Shape {
    /// Every number that it is made of.
    pub fn indices(&self) -> Vec<Index> {
        match self {
            Shape::Line { points } => points.concat(),
            Shape::Point { at } | Shape::Trace { at } => at.clone(),
            Shape::Circle { center, radius, axis } => {
                let mut all = center.clone();
                all.push(*radius);
                all.extend(axis.iter().flatten());
                all
            }
        }
    }
}

/// A scene in the making.
struct Build {
    scene: Scene,
    known: FxHashMap<ExprId, Index>,
    drawn: FxHashSet<Shape>,
}

impl Build {
    fn new(dimension: usize) -> Build {
        let scene = Scene { dimension, ..Scene::default() };
        Build { scene, known: FxHashMap::default(), drawn: FxHashSet::default() }
    }

    fn number(&mut self, id: ExprId) -> Index {
        let numbers = &mut self.scene.numbers;
        *self.known.entry(id).or_insert_with(|| {
            numbers.push(id);
            numbers.len() - 1
        })
    }

    /// A point, lifted into space if need be.
    fn point(&mut self, point: &[ExprId]) -> Vec<Index> {
        let lifted = point.iter().copied().chain(std::iter::repeat(ExprId::ZERO));
        let lifted: Vec<ExprId> = lifted.take(self.scene.dimension).collect();
        lifted.into_iter().map(|id| self.number(id)).collect()
    }

    fn push(&mut self, shape: Shape) {
        if self.drawn.insert(shape.clone()) {
            self.scene.shapes.push(shape);
        }
    }

    fn line(&mut self, points: &[&[ExprId]]) {
        let points = points.iter().map(|p| self.point(p)).collect();
        self.push(Shape::Line { points });
    }

    fn circle(&mut self, center: &[ExprId], radius: ExprId, axis: Option<&[ExprId]>) {
        let center = self.point(center);
        let radius = self.number(radius);
        // A circle of the plane stays in it.
        let upward = [ExprId::ZERO, ExprId::ZERO, ExprId::ONE];
        let in_space = self.scene.dimension == 3;
        let axis = in_space.then(|| self.point(axis.unwrap_or(&upward)));
        self.push(Shape::Circle { center, radius, axis });
    }

    fn draw(&mut self, draw: &Draw) {
        match draw.shape {
            tree::Shape::Line => {
                let points: Vec<&[ExprId]> = draw.points.iter().map(Vec::as_slice).collect();
                self.line(&points);
            }
            tree::Shape::Point => {
                for point in &draw.points {
                    let at = self.point(point);
                    self.push(Shape::Point { at });
                }
            }
            tree::Shape::Trace => {
                for point in &draw.points {
                    let at = self.point(point);
                    self.push(Shape::Trace { at });
                }
            }
            tree::Shape::Circle => {
                if let (Some(center), Some(radius)) = (draw.points.first(), draw.radius) {
                    self.circle(center, radius, draw.axis.as_deref());
                }
            }
        }
    }

    fn finish(self) -> Scene {
        self.scene
    }
}
