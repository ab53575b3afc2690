//! A tape on truncated Taylor series, order by order.
//!
//! Along a motion every register is a series y₀ + y₁ h + y₂ h² + …, and y_m follows from the
//! coefficients of its operands up to m. So the coefficients of unknowns that satisfy equations
//! are found one after the other: each order of the equations is linear in the newest
//! coefficients of the unknowns, with slopes that belong to order 0 and are the same for all
//! orders. A *stage* k is
//!
//! ```text
//! run      coefficients of the registers, with 0 for the newest of the unknowns
//! (solve)  by the caller: the outputs are what is left of the equations
//! finish   y_m += Σ (∂y/∂a)₀ δa_m  of the registers that are read again
//! ```
//!
//! Equations of different order of differentiation take part side by side: what a variable is
//! *ahead* of the stage says which coefficient is found at stage k, k + ahead; a position is two
//! ahead of its acceleration. An output that is so much ahead is evaluated at order k + ahead. What
//! is needed there is run once, that far ahead, and serves everything that needs it later. A
//! stage can have several *phases*, each with unknowns of its own.
//!
//! Recurrences are those of A. Griewank and A. Walther, *Evaluating Derivatives* (2008), chapter
//! 13; order by order for equations: J. Pryce, Numer. Algorithms 19 (1998), and N. Nedialkov and
//! J. Pryce, BIT 45 (2005).
//!
//! ```
//! use dalembert_compile::{Tape, series::{Series, Variable, Wanted}};
//! use dalembert_expr::Exprs;
//!
//! // ẋ = −x²: x is one ahead of the rate, which is the output.
//! let exprs = Exprs::new();
//! let x = exprs.variable("x");
//! let tape = Tape::lower(&exprs, &[(-x * x).id], &[], &[x.symbol().unwrap()]);
//! let x = Variable::Moving { phase: 0, ahead: 1 };
//! let rate = Wanted { phase: 0, ahead: 0, is_final: true };
//! let series = Series::new(tape, &[x], &[rate]).unwrap();
//! let mut jets = series.jets(4);
//! series.prepare(&mut jets, &[]);
//! series.begin(&mut jets, &[2.0]);
//! for k in 0..4 {
//!     if k > 0 {
//!         series.run(&mut jets, 0, k);
//!     }
//!     let rate = series.output(&jets, 0, k);
//!     series.set(&mut jets, 0, k + 1, rate / (k + 1) as f64);
//! }
//! // 1/(½ + h)
//! let found: Vec<f64> = series.variable(&jets, 0).take(5).collect();
//! assert_eq!(found, [2.0, -4.0, 8.0, -16.0, 32.0]);
//! ```

mod closing;
mod code;
mod cost;
mod emit;
mod fours;
mod node;
mod plan;
mod quads;
mod run;
mod wide;

pub use closing::{Closing, Integral, Source};
pub use code::SeriesCode;
pub use fours::Fours;
pub use wide::{Wide, WideJets};

use crate::backends::Scratch;
use crate::backends::machine::aligned::Aligned;
use crate::backends::machine::encoder::Width;
use crate::lu::Lu;
use crate::tape::Tape;
use node::{Jet, Op, Pick, Step};
use std::sync::Arc;

/// What is known of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A constant.
    Held,
    /// All coefficients, whatever happens: the time.
    Given,
    /// Coefficient k + ahead is found at the end of a phase of stage k.
    Moving {
        /// The phase.
        phase: usize,
        /// How much ahead it is.
        ahead: usize,
    },
}

/// When an output is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// In this phase,
    pub phase: usize,
    /// its coefficient k + ahead.
    pub ahead: usize,
    /// Whether it is read after the unknowns of the phase have been found, too.
    pub is_final: bool,
}

/// Why a tape has no series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSeries {
    /// It has functions restricted to a surface, which are found by a search.
    Restricted,
    /// It has functions that a program gives, of which nothing but values is known.
    Given,
    /// Something is wanted before what it depends on is known.
    TooEarly,
}

/// A tape made ready for series. What one thread's runs change is in [`Jets`].
#[derive(Clone, Debug)]
pub struct Series {
    tape: Arc<Tape>,
    /// The jet of each variable and of each output; [`node::STILL`] for constants.
    variables: Vec<Jet>,
    outputs: Vec<Jet>,
    /// The register of each jet that begins with one, and of each pick what it picks from.
    begins: Vec<(Jet, u32)>,
    picks: Vec<Pick>,
    /// How many series there is room for, a multiple of [`LANES`].
    jets: usize,
    /// The first so many only pass: of each there is the newest coefficient.
    passing: usize,
    phases: Vec<Phase>,
    /// The first of each four series among which are variables.
    quads_of_variables: Vec<Jet>,
    /// Copies of four series side by side, and of which.
    packs: Vec<(Jet, [Jet; LANES])>,
    /// What is ahead, with the numbers of the orders: for the beginning.
    ahead: usize,
    /// The components of the solutions for each right side, and the jets of what they are made of.
    solves: Vec<node::Solve>,
    /// What was said of variables and outputs.
    when: (Vec<Variable>, Vec<Wanted>),
    closing: Option<Closing>,
}

/// What is done in a phase of each stage.
#[derive(Clone, Debug, Default)]
struct Phase {
    nodes: Vec<Node>,
    /// The unknowns and how much ahead each is.
    unknowns: Vec<(Jet, u32)>,
    corrections: Vec<Correction>,
    /// What is copied again after these.
    again: Vec<Node>,
    /// The solutions among them, with what is changed of their equations.
    solves: Vec<node::Solve>,
}

/// A step that is so much ahead.
#[derive(Clone, Copy, Debug)]
struct Node {
    step: Step,
    ahead: u32,
}

/// How the newest coefficient of a jet follows from those of the unknowns.
#[derive(Clone, Copy, Debug)]
enum Correction {
    /// δy = s₁ δa₁ + s₂ δa₂ + s₃ δa₃, slopes at a place.
    Linear { y: Jet, ahead: u32, of: [Jet; 3], op: Op },
    /// y = m a.
    Derivative { y: Jet, ahead: u32, of: Jet },
    /// The components of a solution, by its place in the phase.
    Solve { at: u32, ahead: u32 },
}

/// The coefficients of a tape's registers, up to an order.
#[derive(Clone)]
pub struct Jets {
    /// The values of all registers.
    values: Vec<f64>,
    /// The newest coefficients of what passes, then coefficients of four jets side by side, order
    /// after order.
    all: Aligned,
    /// Coefficients that there is room for.
    room: usize,
    passing: usize,
    /// What is beside them, by its [`Beside`].
    beside: Aligned,
    factors: Vec<Lu>,
    right: Vec<f64>,
    /// Where series begin, by the registers of their values, and where variables do; none of
    /// constants.
    begins: Vec<(usize, usize)>,
    variables: Vec<Option<usize>>,
    /// What the code of the values keeps, and whether it knows the constants.
    scratch: Scratch,
    is_prepared: bool,
}

/// Where things are in a list of what runs read beside coefficients and values. What belongs to
/// an order is there for each double of a register.
#[derive(Clone, Copy, Debug)]
struct Beside {
    /// How often: four times, or eight.
    copies: usize,
    /// −0, 2, 1 and ½, once for each lane.
    sign: usize,
    two: usize,
    one: usize,
    half: usize,
    /// The order m, and 1/m.
    orders: usize,
    inverses: usize,
    /// What equations of stage k are multiplied with, by how much ahead they are:
    /// −1, −(k + 1), −(k + 1)(k + 2).
    levels: [usize; 3],
    /// The stage, as the bits of an integer.
    stage: usize,
    /// The inverse of the matrix of the unknowns, column by column, each in whole fours.
    matrix: usize,
    /// Right sides of the equations of a stage, where motions are side by side.
    rights: usize,
    /// Changes of the jets.
    changes: usize,
    /// Slopes of the corrections of all phases, three each.
    slopes: usize,
    /// What [`Op::Pick`] multiplies with, two each.
    picks: usize,
    length: usize,
}

/// Series that lie side by side.
const LANES: usize = 4;

impl Series {
    /// Makes a tape ready. There is a [`Variable`] for each of its variables, a [`Wanted`] for
    /// each of its outputs.
    pub fn new(tape: Tape, variables: &[Variable], outputs: &[Wanted]) -> Result<Series, NoSeries> {
        plan::series(tape, variables, outputs)
    }

    /// How many jets there is room for.
    pub fn count(&self) -> usize {
        self.jets
    }

    /// How many steps a stage runs, and how many corrections it makes.
    pub fn work(&self) -> (usize, usize) {
        let nodes = self.phases.iter().map(|phase| phase.nodes.len()).sum();
        (nodes, self.phases.iter().map(|phase| phase.corrections.len()).sum())
    }

    /// Room for coefficients up to an order of whatever is most ahead.
    pub fn jets(&self, order: usize) -> Jets {
        let room = order + 1;
        let beside = self.beside(room).list(room);
        let factors: Vec<Lu> = self.tape.matrices.iter().map(|m| Lu::new(m.size)).collect();
        let largest = self.tape.matrices.iter().map(|m| m.size).max().unwrap_or(0);
        let shape = Shape { room, passing: self.passing };
        let first = |jet: Jet| (jet != node::STILL).then(|| place(jet, 0, shape));
        let begins = self.begins.iter().map(|&(jet, r)| (place(jet, 0, shape), r as usize));
        Jets {
            begins: begins.collect(),
            variables: self.variables.iter().map(|&jet| first(jet)).collect(),
            values: vec![0.0; self.tape.registers()],
            all: Aligned::new(self.passing + (self.jets - self.passing) * room),
            room,
            passing: self.passing,
            beside,
            factors,
            right: vec![0.0; largest],
            scratch: Scratch::default(),
            is_prepared: false,
        }
    }

    /// Whether anything is corrected in a phase: if not, there is nothing to finish.
    pub fn corrects(&self, phase: usize) -> bool {
        self.phases.get(phase).is_some_and(Phase::corrects)
    }

    fn beside(&self, room: usize) -> Beside {
        self.beside_lanes(room, 1)
    }

    /// The same for so many motions side by side.
    fn beside_lanes(&self, room: usize, lanes: usize) -> Beside {
        let corrections: usize = self.phases.iter().map(|phase| phase.corrections.len()).sum();
        let copies = Width::widest_of(lanes).doubles().max(LANES);
        let of_orders = copies * room;
        let [sign, two, one, half] = [0, 1, 2, 3].map(|at| at * copies);
        let orders = half + copies;
        let inverses = orders + of_orders;
        let levels = [1, 2, 3].map(|level| inverses + level * of_orders);
        let stage = levels[2] + of_orders;
        let matrix = stage + copies;
        let closing = self.closing.as_ref();
        let rights = matrix + lanes * closing.map_or(0, |closing| closing.room());
        let changes =
            rights + if lanes > 1 { lanes * closing.map_or(0, |c| c.equations) } else { 0 };
        let slopes = changes + lanes * self.jets;
        let picks = slopes + lanes * 3 * corrections;
        let length = picks + lanes * 2 * self.picks.len();
        Beside {
            copies,
            sign,
            two,
            one,
            half,
            orders,
            inverses,
            levels,
            stage,
            matrix,
            rights,
            changes,
            slopes,
            picks,
            length,
        }
    }

    /// The coefficients of a variable; all 0 for one that is constant.
    pub fn variable<'a>(&self, jets: &'a Jets, at: usize) -> impl Iterator<Item = f64> + 'a {
        let jet = self.variables[at];
        let first = place(jet, 0, jets.shape());
        let all = jets.all.as_slice();
        (0..jets.room).map(move |m| if jet == node::STILL { 0.0 } else { all[first + LANES * m] })
    }

    /// Sets a coefficient of a variable. One of order 1 or more of a constant is not set.
    pub fn set(&self, jets: &mut Jets, at: usize, order: usize, value: f64) {
        if let Some(first) = jets.variables[at]
            && order < jets.room
        {
            jets.all.as_mut_slice()[first + LANES * order] = value;
        }
    }

    /// A coefficient of an output.
    pub fn output(&self, jets: &Jets, at: usize, order: usize) -> f64 {
        if order == 0 {
            return jets.values[self.tape.outputs[at] as usize];
        }
        jets.at(self.outputs[at], order)
    }
}

impl Beside {
    /// The list with what is always the same, for so many orders.
    fn list(&self, room: usize) -> Aligned {
        let mut beside = Aligned::new(self.length);
        let list = beside.as_mut_slice();
        for (first, value) in
            [(self.sign, -0.0), (self.two, 2.0), (self.one, 1.0), (self.half, 0.5)]
        {
            list[first..first + self.copies].fill(value);
        }
        for order in 0..room {
            let k = order as f64;
            let of_order = [
                (self.orders, k),
                (self.inverses, 1.0 / k),
                (self.levels[0], -1.0),
                (self.levels[1], -(k + 1.0)),
                (self.levels[2], -(k + 1.0) * (k + 2.0)),
            ];
            for (first, value) in of_order {
                list[first + self.copies * order..][..self.copies].fill(value);
            }
        }
        beside
    }
}

impl Phase {
    fn corrects(&self) -> bool {
        !self.corrections.is_empty() || !self.again.is_empty()
    }
}

impl Jets {
    /// The highest order there is room for.
    pub fn order(&self) -> usize {
        self.room - 1
    }

    #[inline(always)]
    fn shape(&self) -> Shape {
        Shape { room: self.room, passing: self.passing }
    }

    #[inline(always)]
    fn at(&self, jet: Jet, order: usize) -> f64 {
        self.all.as_slice()[place(jet, order, self.shape())]
    }

    #[inline(always)]
    fn put(&mut self, jet: Jet, order: usize, value: f64) {
        let at = place(jet, order, self.shape());
        self.all.as_mut_slice()[at] = value;
    }
}

/// How coefficients lie: for how many orders there is room, and how many series only pass.
#[derive(Clone, Copy, Debug)]
struct Shape {
    room: usize,
    passing: usize,
}

/// Where a coefficient is.
#[inline(always)]
fn place(jet: Jet, order: usize, Shape { room, passing }: Shape) -> usize {
    match (jet as usize).checked_sub(passing) {
        None => jet as usize,
        Some(jet) => passing + LANES * (jet / LANES * room + order) + jet % LANES,
    }
}
