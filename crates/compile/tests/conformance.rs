//! Every backend passes the suite, and wrong backends do not.

use dalembert_compile::backends::{self, Backend, Function};
use dalembert_compile::conformance::{
    constants_and_inputs, every_instruction, foreign_scratch, graphs, linear_solves, many_lanes,
    not_numbers, random_graphs,
};
use dalembert_compile::{Instruction, Scratch, Tape};
use std::collections::BTreeSet;

mod interpreter {
    dalembert_compile::backend_tests!(dalembert_compile::backends::interpreter::BACKEND);
}

mod machine {
    dalembert_compile::backend_tests!(dalembert_compile::backends::machine::BACKEND);
}

#[test]
fn every_backend_of_the_list_conforms_and_is_found() {
    for backend in backends::ALL {
        assert!(backends::by_name(backend.name()).is_some());
        assert_eq!(random_graphs(*backend), Ok(()));
    }
    assert_eq!(backends::DEFAULT.name(), "interpreter");
    assert!(backends::by_name("unheard-of").is_none());
}

#[test]
fn random_graphs_have_every_kind_of_instruction() {
    let all: BTreeSet<u8> =
        graphs(400).flat_map(|g| g.tape.instructions).map(|i| i.kind().0).collect();
    assert_eq!(all, (0..16).collect(), "kinds that occur");
}

/// The interpreter with its tapes or its calls altered.
struct Wrong {
    tape: fn(Tape) -> Tape,
    call: fn(&dyn Function, &mut Scratch, &[f64], &mut [f64]),
    lanes: fn(&mut [f64]),
}

const RIGHT: Wrong = Wrong {
    tape: |tape| tape,
    call: |function, scratch, x, y| function.call(scratch, x, y),
    lanes: |_| {},
};

struct WrongFunction {
    inner: Box<dyn Function>,
    call: fn(&dyn Function, &mut Scratch, &[f64], &mut [f64]),
    lanes: fn(&mut [f64]),
}

impl Backend for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn compile(&self, tape: Tape) -> Box<dyn Function> {
        let inner = backends::DEFAULT.compile((self.tape)(tape));
        Box::new(WrongFunction { inner, call: self.call, lanes: self.lanes })
    }
}

impl Function for WrongFunction {
    fn constants(&self) -> usize {
        self.inner.constants()
    }

    fn variables(&self) -> usize {
        self.inner.variables()
    }

    fn outputs(&self) -> usize {
        self.inner.outputs()
    }

    fn scratch(&self) -> Scratch {
        self.inner.scratch()
    }

    fn prepare(&self, scratch: &mut Scratch, constants: &[f64]) {
        self.inner.prepare(scratch, constants);
    }

    fn call(&self, scratch: &mut Scratch, x: &[f64], y: &mut [f64]) {
        (self.call)(&*self.inner, scratch, x, y);
    }

    fn call_many(&self, scratch: &mut Scratch, lanes: usize, x: &[f64], y: &mut [f64]) {
        self.inner.call_many(scratch, lanes, x, y);
        (self.lanes)(y);
    }
}

fn altered(mut tape: Tape, how: impl Fn(&mut Instruction)) -> Tape {
    tape.instructions.iter_mut().for_each(how);
    tape
}

#[test]
fn wrong_backends_are_noticed() {
    assert_eq!(every_instruction(&RIGHT), Ok(()));
    let swapped = |tape| {
        altered(tape, |i| {
            if let Instruction::Select(c, a, b) = *i {
                *i = Instruction::Select(c, b, a);
            }
        })
    };
    let wrong = Wrong { tape: swapped, ..RIGHT };
    assert!(every_instruction(&wrong).is_err());
    assert!(random_graphs(&wrong).is_err());
    let negative_zero: fn(&dyn Function, &mut Scratch, &[f64], &mut [f64]) = |f, scratch, x, y| {
        f.call(scratch, x, y);
        y.iter_mut().for_each(|y| *y += 0.0);
    };
    let wrong = Wrong { call: negative_zero, ..RIGHT };
    assert!(every_instruction(&wrong).is_err());
    assert!(constants_and_inputs(&wrong).is_err());
    let no_nan: fn(&dyn Function, &mut Scratch, &[f64], &mut [f64]) = |f, scratch, x, y| {
        f.call(scratch, x, y);
        y.iter_mut().filter(|y| y.is_nan()).for_each(|y| *y = 0.0);
    };
    let wrong = Wrong { call: no_nan, ..RIGHT };
    assert!(not_numbers(&wrong).is_err());
    assert!(foreign_scratch(&wrong).is_err());
    let wrong = Wrong { lanes: |y| y.reverse(), ..RIGHT };
    assert!(many_lanes(&wrong).is_err());
    let transposed = |mut tape: Tape| {
        for entry in tape.matrices.iter_mut().flat_map(|m| &mut m.entries) {
            std::mem::swap(&mut entry.row, &mut entry.column);
        }
        tape
    };
    assert!(linear_solves(&Wrong { tape: transposed, ..RIGHT }).is_err());
}
