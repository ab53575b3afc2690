//! A function with room of its own: for calls that are so short that looking up whose room it is would
//! be a part of them.

use crate::backends::machine::{self, Work};
use crate::backends::{Backend, Function, Scratch, interpreter};
use crate::tape::Tape;
use std::sync::Arc;

/// A function and its room. Clones share what is compiled, and nothing else.
#[derive(Clone)]
pub struct Bound(Kind);

#[derive(Clone)]
enum Kind {
    /// Code, and what a call changes.
    Machine(Box<Work>),
    Other(Arc<dyn Function>, Scratch),
}

impl Bound {
    /// The machine code of a tape, where there is some.
    pub fn new(tape: Tape) -> Bound {
        match machine::assembled(tape) {
            Ok(assembled) => Bound(Kind::Machine(Box::new(assembled.room()))),
            Err(tape) => {
                let function: Arc<dyn Function> = interpreter::BACKEND.compile(*tape).into();
                let scratch = function.scratch();
                Bound(Kind::Other(function, scratch))
            }
        }
    }

    /// Sets the constants. Comes before the first call.
    pub fn prepare(&mut self, constants: &[f64]) {
        match &mut self.0 {
            Kind::Machine(work) => work.prepare(constants),
            Kind::Other(function, scratch) => function.prepare(scratch, constants),
        }
    }

    /// Computes the outputs `y` of the variables `x`, as [`Function::call`] does.
    #[inline(always)]
    pub fn call(&mut self, x: &[f64], y: &mut [f64]) {
        match &mut self.0 {
            Kind::Machine(work) => work.call(x, y),
            Kind::Other(function, scratch) => function.call(scratch, x, y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dalembert_expr::Exprs;

    #[test]
    fn clones_have_their_own_constants() {
        let exprs = Exprs::new();
        let (m, x) = (exprs.constant("m"), exprs.variable("x"));
        let y = m * x.sin() + x.cos();
        let tape = Tape::lower(&exprs, &[y.id], &[m.symbol().unwrap()], &[x.symbol().unwrap()]);
        let interpreted: Arc<dyn Function> = interpreter::BACKEND.compile(tape.clone()).into();
        let scratch = interpreted.scratch();
        let mut all = [Bound::new(tape), Bound(Kind::Other(interpreted, scratch))];
        for bound in &mut all {
            let mut other = bound.clone();
            bound.prepare(&[2.0]);
            other.prepare(&[3.0]);
            let of = |bound: &mut Bound, x: f64| {
                let mut y = [0.0];
                bound.call(&[x], &mut y);
                y[0].to_bits()
            };
            for x in [0.5f64, -2.0, 100.0] {
                assert_eq!(of(bound, x), 2f64.mul_add(x.sin(), x.cos()).to_bits());
                assert_eq!(of(&mut other, x), 3f64.mul_add(x.sin(), x.cos()).to_bits());
            }
        }
    }
}
