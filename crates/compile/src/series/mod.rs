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
//! assert_eq!(series.variable(&jets, 0)[..5], [2.0, -4.0, 8.0, -16.0, 32.0]);
//! ```

mod code;
mod cost;
mod node;
mod plan;
mod run;

pub use code::SeriesCode;

use crate::lu::Lu;
use crate::tape::Tape;
use node::{Jet, Op, Pick};
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
    jets: usize,
    phases: Vec<Phase>,
    /// What is ahead, with the numbers of the orders: for the beginning.
    ahead: usize,
    /// The components of the solutions for each right side, and the jets of what they are made of.
    solves: Vec<node::Solve>,
}

/// What is done in a phase of each stage.
#[derive(Clone, Debug, Default)]
struct Phase {
    nodes: Vec<Node>,
    /// The unknowns and how much ahead each is.
    unknowns: Vec<(Jet, u32)>,
    corrections: Vec<Correction>,
    /// The solutions among them, with what is changed of their equations.
    solves: Vec<node::Solve>,
}

/// A register, or what belongs to one, at work.
#[derive(Clone, Copy, Debug)]
struct Node {
    op: Op,
    y: Jet,
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
#[derive(Clone, Debug)]
pub struct Jets {
    /// The values of all registers.
    values: Vec<f64>,
    /// Coefficients from the first on, then from the last on, with zeros behind them.
    all: Vec<f64>,
    /// Coefficients that there is room for, a multiple of [`BLOCK`].
    room: usize,
    /// What is beside them, by its [`Beside`].
    beside: Vec<f64>,
    factors: Vec<Lu>,
    right: Vec<f64>,
}

/// Where things are in a list of what runs read beside coefficients and values: −0 four times, the
/// numbers 0, 1, 2 … of orders, changes of the jets, slopes of the corrections of all phases, three
/// each, and what [`Op::Pick`] multiplies with, two each.
#[derive(Clone, Copy, Debug)]
struct Beside {
    orders: usize,
    changes: usize,
    slopes: usize,
    picks: usize,
    length: usize,
}

/// Terms that are summed side by side.
const BLOCK: usize = 4;

impl Series {
    /// Makes a tape ready. There is a [`Variable`] for each of its variables, a [`Wanted`] for
    /// each of its outputs.
    pub fn new(tape: Tape, variables: &[Variable], outputs: &[Wanted]) -> Result<Series, NoSeries> {
        plan::series(tape, variables, outputs)
    }

    /// How many jets there are, constants not among them.
    pub fn count(&self) -> usize {
        self.jets - 1
    }

    /// How many recurrences a stage runs, and how many corrections it makes.
    pub fn work(&self) -> (usize, usize) {
        let nodes = self.phases.iter().map(|phase| phase.nodes.len()).sum();
        (nodes, self.phases.iter().map(|phase| phase.corrections.len()).sum())
    }

    /// Room for coefficients up to an order of whatever is most ahead.
    pub fn jets(&self, order: usize) -> Jets {
        let room = (order + 1).next_multiple_of(BLOCK);
        let at = self.beside(room);
        let mut beside = vec![0.0; at.length];
        beside[..at.orders].fill(-0.0);
        for (order, place) in beside[at.orders..at.changes].iter_mut().enumerate() {
            *place = order as f64;
        }
        let factors: Vec<Lu> = self.tape.matrices.iter().map(|m| Lu::new(m.size)).collect();
        let largest = self.tape.matrices.iter().map(|m| m.size).max().unwrap_or(0);
        Jets {
            values: vec![0.0; self.tape.registers()],
            all: vec![0.0; self.jets * stride(room)],
            room,
            beside,
            factors,
            right: vec![0.0; largest],
        }
    }

    /// Whether anything is corrected in a phase: if not, there is nothing to finish.
    pub fn corrects(&self, phase: usize) -> bool {
        self.phases.get(phase).is_some_and(|phase| !phase.corrections.is_empty())
    }

    fn beside(&self, room: usize) -> Beside {
        let corrections: usize = self.phases.iter().map(|phase| phase.corrections.len()).sum();
        let orders = BLOCK;
        let changes = orders + room;
        let slopes = changes + self.jets;
        let picks = slopes + 3 * corrections;
        Beside { orders, changes, slopes, picks, length: picks + 2 * self.picks.len() }
    }

    /// The coefficients of a variable; all 0 for one that is constant.
    pub fn variable<'a>(&self, jets: &'a Jets, at: usize) -> &'a [f64] {
        let first = self.variables[at] as usize * stride(jets.room);
        &jets.all[first..first + jets.room]
    }

    /// Sets a coefficient of a variable. One of order 1 or more of a constant is not set.
    pub fn set(&self, jets: &mut Jets, at: usize, order: usize, value: f64) {
        if self.variables[at] != node::STILL && order < jets.room {
            jets.put(self.variables[at], order, value);
        }
    }

    /// A coefficient of an output, of order 1 or more.
    pub fn output(&self, jets: &Jets, at: usize, order: usize) -> f64 {
        if order == 0 {
            return jets.values[self.tape.outputs[at] as usize];
        }
        jets.all[self.outputs[at] as usize * stride(jets.room) + order]
    }
}

impl Jets {
    /// The highest order there is room for.
    pub fn order(&self) -> usize {
        self.room - 1
    }

    #[inline(always)]
    fn put(&mut self, jet: Jet, order: usize, value: f64) {
        let (room, first) = (self.room, jet as usize * stride(self.room));
        self.all[first + order] = value;
        self.all[first + 2 * room - 1 - order] = value;
    }
}

#[inline(always)]
fn stride(room: usize) -> usize {
    2 * room + BLOCK
}
