//! A compiled function with what one thread's calls of it change.
//!
//! What is compiled is shared by all clones; parameters are its constants, and may be set to other
//! values without compiling anything again.

use crate::setting::Setting;
use dalembert_compile::{Function, Scratch as Registers, Tape, backends};
use dalembert_expr::{ExprId, Symbol};
use std::sync::Arc;

/// A compiled function, its registers, and its last output.
#[derive(Clone)]
pub(crate) struct Compiled {
    function: Arc<dyn Function>,
    registers: Registers,
    pub(crate) output: Vec<f64>,
}

impl Compiled {
    /// Expressions as functions of variables, with the parameters of a setting.
    pub(crate) fn new(setting: &Setting, roots: &[ExprId], variables: &[Symbol]) -> Compiled {
        let (symbols, constants) = setting.constants();
        let tape = Tape::lower(&setting.model.exprs, roots, &symbols, variables);
        let function: Arc<dyn Function> = backends::DEFAULT.compile(tape).into();
        let mut compiled = Compiled {
            registers: function.scratch(),
            output: vec![0.0; function.outputs()],
            function,
        };
        compiled.prepare(&constants);
        compiled
    }

    /// Sets the parameters.
    pub(crate) fn prepare(&mut self, constants: &[f64]) {
        self.function.prepare(&mut self.registers, constants);
    }

    /// The values at an input.
    pub(crate) fn call(&mut self, input: &[f64]) -> &[f64] {
        self.function.call(&mut self.registers, input, &mut self.output);
        &self.output
    }

    /// The values at an input, written to another place.
    pub(crate) fn call_into(&mut self, input: &[f64], output: &mut [f64]) {
        self.function.call(&mut self.registers, input, output);
    }
}
