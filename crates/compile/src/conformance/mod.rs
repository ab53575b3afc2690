//! What every backend must do, as checks that a new one passes by one line:
//!
//! ```
//! # mod suite {
//! dalembert_compile::backend_tests!(dalembert_compile::backends::interpreter::BACKEND);
//! # }
//! ```
//!
//! Bits are compared with the run of [`Program`] over single doubles, NaN with NaN; single
//! instructions with what they say; random expressions with their evaluation as expressions.

mod calls;
mod eliminations;
mod graphs;
mod instructions;
mod solves;

pub use calls::{constants_and_inputs, foreign_scratch, many_lanes};
use dalembert_expr::Random;
pub use eliminations::eliminations;
pub use graphs::{Graph, graphs, not_numbers, random_graphs};
pub use instructions::{every_instruction, instruction_trials};
pub use solves::{linear_solves, solve_trials};

use crate::backends::Backend;
use crate::lanes::Lanes;
use crate::program::Program;
use crate::tape::Tape;

/// A tape and what it is called with.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The tape.
    pub tape: Tape,
    /// The constants.
    pub constants: Vec<f64>,
    /// Sets of variables.
    pub sets: Vec<Vec<f64>>,
}

/// A number that a backend gets wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What was checked.
    pub check: &'static str,
    /// The tape.
    pub tape: Tape,
    /// The constants.
    pub constants: Vec<f64>,
    /// The variables.
    pub variables: Vec<f64>,
    /// Which output.
    pub output: usize,
    /// What the backend gives.
    pub found: f64,
    /// What it should.
    pub expected: f64,
}

/// Tests of a backend, one for each check of [`conformance`](crate::conformance).
#[macro_export]
macro_rules! backend_tests {
    ($backend:expr) => {
        $crate::backend_tests! { $backend;
            every_instruction, random_graphs, not_numbers, linear_solves, eliminations,
            constants_and_inputs, many_lanes, foreign_scratch
        }
    };
    ($backend:expr; $($check:ident),*) => {
        $(
            #[test]
            fn $check() {
                assert_eq!($crate::conformance::$check(&$backend), Ok(()));
            }
        )*
    };
}

/// What is checked, and where.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub check: &'static str,
    pub tape: &'a Tape,
    pub constants: &'a [f64],
    pub variables: &'a [f64],
}

impl Case<'_> {
    /// What is said of a wrong number.
    pub(crate) fn differs(&self, output: usize, found: f64, expected: f64) -> Box<Difference> {
        Box::new(Difference {
            check: self.check,
            tape: self.tape.clone(),
            constants: self.constants.to_vec(),
            variables: self.variables.to_vec(),
            output,
            found,
            expected,
        })
    }

    /// Numbers against those expected, to the bit.
    pub(crate) fn expect(&self, found: &[f64], expected: &[f64]) -> Result<(), Box<Difference>> {
        let mut both = found.iter().zip(expected).enumerate();
        match both.find(|(_, (found, expected))| !same(**found, **expected)) {
            Some((output, (&found, &expected))) => Err(self.differs(output, found, expected)),
            None => Ok(()),
        }
    }
}

/// Numbers at the edges of arithmetic.
pub const EDGES: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.0,
    1e-9,
    std::f64::consts::PI,
    f64::EPSILON,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN_POSITIVE,
    1e-310,
    5e-324,
    -5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// The same bits, or both not a number.
pub fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// A number in (0.2, 1.2).
pub(crate) fn number(random: &mut Random) -> f64 {
    0.2 + random.below(1 << 30) as f64 / (1u64 << 30) as f64
}

/// What a tape yields by the run that defines it.
pub(crate) fn reference(tape: &Tape, constants: &[f64], sets: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let program = Program::new(tape);
    let one = |list: &[f64]| -> Vec<[f64; 1]> { list.iter().map(|&x| [x]).collect() };
    let mut room = program.room(&Lanes);
    program.prepare(&Lanes, &mut room, &one(constants));
    let mut y = vec![[0.0]; tape.outputs.len()];
    let mut call = |x: &Vec<f64>| {
        program.call(&Lanes, &mut room, &one(x), &mut y);
        y.iter().map(|&[y]| y).collect()
    };
    sets.iter().map(&mut call).collect()
}

/// Whether a backend yields what is expected of a tape for sets of variables, one by one and side
/// by side.
pub(crate) fn compare(
    check: &'static str,
    backend: &dyn Backend,
    tape: &Tape,
    constants: &[f64],
    sets: &[Vec<f64>],
    expected: &[Vec<f64>],
) -> Result<(), Box<Difference>> {
    let function = backend.compile(tape.clone());
    let mut scratch = function.scratch();
    function.prepare(&mut scratch, constants);
    let outputs = function.outputs();
    let case = |set: usize| Case { check, tape, constants, variables: &sets[set] };
    let mut y = vec![0.0; outputs];
    for (set, x) in sets.iter().enumerate() {
        function.call(&mut scratch, x, &mut y);
        case(set).expect(&y, &expected[set])?;
    }
    let across: Vec<f64> =
        (0..tape.variables).flat_map(|i| sets.iter().map(move |x| x[i])).collect();
    let mut many = vec![0.0; outputs * sets.len()];
    function.call_many(&mut scratch, sets.len(), &across, &mut many);
    for (set, expected) in expected.iter().enumerate() {
        let found: Vec<f64> = many.iter().skip(set).step_by(sets.len()).copied().collect();
        case(set).expect(&found, expected)?;
    }
    Ok(())
}
