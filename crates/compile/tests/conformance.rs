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

mod auto {
    dalembert_compile::backend_tests!(dalembert_compile::backends::auto::BACKEND);
}

/// The change from one to the other is seen in no number, wherever it comes: among single calls,
/// lanes, other constants and copies of a scratch.
#[test]
fn nobody_can_tell_when_code_is_made() {
    for (number, graph) in graphs(60).enumerate() {
        let own = backends::auto::BACKEND.compile(graph.tape.clone());
        let right = backends::interpreter::BACKEND.compile(graph.tape.clone());
        let (mut a, mut b) = (own.scratch(), right.scratch());
        let outputs = graph.roots.len();
        for call in 0..60 {
            let x: Vec<f64> = (0..3).map(|i| 0.3 + 0.01 * (call * (i + 1)) as f64).collect();
            if call % 13 == number % 13 {
                let constants = [0.2 + call as f64 / 100.0, 0.7];
                own.prepare(&mut a, &constants);
                right.prepare(&mut b, &constants);
            }
            if call % 17 == 5 {
                a = a.clone();
            }
            let (mut y, mut z) = (vec![0.0; 2 * outputs], vec![0.0; 2 * outputs]);
            if call % 11 == 7 {
                let twice: Vec<f64> = x.iter().flat_map(|&x| [x, x + 0.1]).collect();
                own.call_many(&mut a, 2, &twice, &mut y);
                right.call_many(&mut b, 2, &twice, &mut z);
            } else {
                own.call(&mut a, &x, &mut y[..outputs]);
                right.call(&mut b, &x, &mut z[..outputs]);
            }
            let bits = |list: &[f64]| -> Vec<u64> {
                list.iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect()
            };
            assert_eq!(bits(&y), bits(&z), "graph {number}, call {call}");
        }
    }
}

mod bulk {
    dalembert_compile::backend_tests!(dalembert_compile::backends::bulk::BACKEND);
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
    assert_eq!(backends::DEFAULT.name(), "auto");
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
        let inner = backends::interpreter::BACKEND.compile((self.tape)(tape));
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
