//! Calls out of the code: what is too large for a few instructions is done by a function of ours,
//! which finds its inputs in memory and leaves its results there.
//!
//! The code stores what the call reads, passes the state that it was given itself and the number
//! of the call, and goes on with the results in memory. A new kind of such a call is a variant of
//! [`Out`], and an arm where it is emitted and where it is done.

use super::encoder::Width;
use super::registers::{Base, Place};
use crate::lu::Lu;
use crate::tape::Matrix;
use dalembert_expr::Restriction;
use dalembert_machine::{Parts, State};
use std::sync::Arc;

/// A call out of the code. Its registers are places.
#[derive(Clone, Debug)]
pub(super) enum Out {
    /// Factors a matrix.
    Factor {
        /// Its number.
        matrix: usize,
        /// Its entries.
        entries: Matrix,
    },
    /// Solves with a factored one. Rows are exchanged by the size of numbers, which is decided
    /// anew at every call; so the elimination is the one that all backends share.
    Solve {
        /// The number of the matrix.
        matrix: usize,
        /// The right side.
        right: Vec<Place>,
        /// Where the solution goes.
        solution: Vec<Place>,
    },
    /// Functions restricted to a surface.
    Restricted {
        /// The functions.
        of: Arc<Restriction>,
        /// Their arguments.
        arguments: Vec<Place>,
        /// Where their values go.
        values: Vec<Place>,
    },
}

/// What calls out of the code have besides the numbers: the list of them, and factored matrices,
/// one for each of the `N` lanes.
#[derive(Clone, Debug)]
pub(super) struct Context<const N: usize> {
    pub(super) outs: Arc<[Out]>,
    pub(super) factors: Vec<[Lu; N]>,
}

/// The address of the function that the code calls.
pub(super) fn address(width: Width) -> usize {
    match width {
        Width::One => call_out::<1> as *const () as usize,
        Width::Four => call_out::<4> as *const () as usize,
        Width::Eight => call_out::<8> as *const () as usize,
    }
}

extern "C" fn call_out<const N: usize>(state: &mut State<Context<N>>, number: u64) {
    let Parts { frame, x, y, context } = state.parts();
    let Context { outs, factors } = context;
    let mut lists =
        Lists::<N> { frame: frame.as_chunks_mut().0, x: x.as_chunks().0, y: y.as_chunks_mut().0 };
    match &outs[number as usize] {
        Out::Factor { matrix, entries } => {
            for (lane, lu) in factors[*matrix].iter_mut().enumerate() {
                lu.factor(entries, |r| lists.read(Place::of_register(r))[lane]);
            }
        }
        Out::Solve { matrix, right, solution } => {
            let factors = &mut factors[*matrix];
            for (lane, lu) in factors.iter_mut().enumerate() {
                lu.solve(|i| lists.read(right[i])[lane]);
            }
            for (i, &place) in solution.iter().enumerate() {
                lists.write(place, std::array::from_fn(|lane| factors[lane].solution[i]));
            }
        }
        Out::Restricted { of, arguments, values } => {
            let all: [Vec<f64>; N] = std::array::from_fn(|lane| {
                let own: Vec<f64> = arguments.iter().map(|&p| lists.read(p)[lane]).collect();
                of.at(&own)
            });
            for (i, &place) in values.iter().enumerate() {
                lists.write(place, std::array::from_fn(|lane| all[lane][i]));
            }
        }
    }
}

/// The lists of a call, by values.
struct Lists<'a, const N: usize> {
    frame: &'a mut [[f64; N]],
    x: &'a [[f64; N]],
    y: &'a mut [[f64; N]],
}

impl<const N: usize> Lists<'_, N> {
    fn read(&self, place: Place) -> [f64; N] {
        match place.base() {
            Base::Frame => self.frame[place.index()],
            Base::X => self.x[place.index()],
            Base::Y => self.y[place.index()],
        }
    }

    fn write(&mut self, place: Place, value: [f64; N]) {
        match place.base() {
            Base::Frame => self.frame[place.index()] = value,
            Base::Y => self.y[place.index()] = value,
            // Nothing is computed into the variables.
            Base::X => {}
        }
    }
}
