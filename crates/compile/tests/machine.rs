//! Machine code against the interpreter, to the bit, on tapes that are more than expressions give:
//! long ones, with more values at once than a processor has registers, and with everything in
//! them.

use dalembert_compile::backends::{Function, interpreter, machine};
use dalembert_compile::calls::{ONE, TWO};
use dalembert_compile::conformance::{EDGES, same};
use dalembert_compile::{Backend, Entry, Instruction, Matrix, Register, Right, Scratch, Tape};
use dalembert_expr::{Function as F, Random};

/// What a random tape is like.
#[derive(Clone, Copy)]
struct Kind {
    instructions: usize,
    /// From how many of the last values operands are taken.
    window: usize,
    /// One in so many instructions is not plain arithmetic; none for 0.
    rare: usize,
    solves: bool,
    /// Whether values stay between −1.5 and 1.5, so that long tapes have numbers at the end.
    tame: bool,
    outputs: usize,
}

/// A tape as it is made.
struct Draft {
    tape: Tape,
    window: usize,
    random: Random,
    /// Registers that are no values.
    empty: Vec<Register>,
}

impl Draft {
    /// A register that can be read.
    fn value(&mut self, is_prologue: bool) -> Register {
        let first = self.tape.first_instruction();
        let count = first + self.tape.instructions.len();
        let inputs = if is_prologue { self.tape.first_variable() } else { first };
        loop {
            let recent = self.random.below(4) > 0;
            let lowest = if recent { count.saturating_sub(self.window) } else { 0 };
            let register = lowest + self.random.below(count - lowest);
            let is_there = register < inputs || register >= first;
            if is_there && !self.empty.contains(&(register as Register)) {
                return register as Register;
            }
        }
    }

    fn values<const N: usize>(&mut self, is_prologue: bool) -> [Register; N] {
        std::array::from_fn(|_| self.value(is_prologue))
    }

    fn plain(&mut self, is_prologue: bool, tame: bool) -> Instruction {
        let [a, b, c] = self.values(is_prologue);
        match self.random.below(10) {
            0 | 1 => Instruction::Add(a, b),
            2 => Instruction::Sub(a, b),
            3 | 4 => Instruction::Mul(a, b),
            5 => Instruction::Neg(a),
            6 if !tame && self.random.below(3) == 0 => Instruction::Div(a, b),
            _ => Instruction::Fma(a, b, c),
        }
    }

    /// Anything but plain arithmetic, with what follows it.
    fn rare(&mut self, is_prologue: bool, solves: bool) {
        let [a, b, c] = self.values(is_prologue);
        let instruction = match self.random.below(if solves { 8 } else { 7 }) {
            0 => Instruction::Sqrt(a),
            1 => Instruction::Pow(a, b),
            2 => {
                self.tape.instructions.push(Instruction::SinCos(a));
                Instruction::Follow
            }
            3 | 4 => Instruction::Call1(ONE[self.random.below(ONE.len())], a),
            5 => Instruction::Call2(TWO[self.random.below(TWO.len())], a, b),
            6 => Instruction::Select(a, b, c),
            _ => return self.solve(is_prologue),
        };
        self.tape.instructions.push(instruction);
    }

    /// One matrix, and solutions for some right sides.
    fn solve(&mut self, is_prologue: bool) {
        let size = 1 + self.random.below(5);
        let mut entries = Vec::new();
        for at in 0..size * size {
            let (row, column) = ((at / size) as u32, (at % size) as u32);
            if row == column || self.random.below(3) > 0 {
                entries.push(Entry { row, column, register: self.value(is_prologue) });
            }
        }
        let matrix = self.tape.matrices.len() as u32;
        self.tape.matrices.push(Matrix { size, entries });
        let register = self.tape.registers() as Register;
        self.empty.push(register);
        self.tape.instructions.push(Instruction::Factor(matrix));
        for _ in 0..1 + self.random.below(2) {
            let entries = (0..size).map(|_| self.value(is_prologue)).collect();
            let right = self.tape.rights.len() as u32;
            self.tape.rights.push(Right { matrix, entries });
            self.tape.instructions.push(Instruction::Solve(right));
            self.tape.instructions.extend((1..size).map(|_| Instruction::Follow));
        }
    }
}

fn tape(seed: u64, kind: Kind) -> Tape {
    let mut random = Random::new(seed);
    let numbers = (0..random.below(6)).map(|_| random.signed());
    let tape = Tape {
        numbers: [1.5, -1.5].into_iter().chain(numbers).collect(),
        constants: random.below(4),
        variables: 1 + random.below(30),
        ..Tape::default()
    };
    let mut draft = Draft { tape, window: kind.window, random, empty: Vec::new() };
    let ahead = draft.random.below(1 + kind.instructions / 8);
    while draft.tape.instructions.len() < kind.instructions {
        let is_prologue = draft.tape.instructions.len() < ahead;
        if kind.rare > 0 && draft.random.below(kind.rare) == 0 {
            draft.rare(is_prologue, kind.solves);
        } else {
            let instruction = draft.plain(is_prologue, kind.tame);
            draft.tape.instructions.push(instruction);
            if kind.tame {
                let result = draft.tape.registers() as Register - 1;
                draft.tape.instructions.push(Instruction::Call2(F::Min, result, 0));
                draft.tape.instructions.push(Instruction::Call2(F::Max, result + 1, 1));
            }
        }
        if is_prologue {
            draft.tape.prologue = draft.tape.instructions.len();
        }
    }
    draft.tape.outputs = (0..kind.outputs).map(|_| draft.value(false)).collect();
    draft.tape
}

/// A number of any size, or an edge.
fn number(random: &mut Random, edges: bool) -> f64 {
    if edges && random.below(3) == 0 {
        return EDGES[random.below(EDGES.len())];
    }
    2.0 * random.signed()
}

fn prepared(function: &dyn Function, constants: &[f64]) -> Scratch {
    let mut scratch = function.scratch();
    function.prepare(&mut scratch, constants);
    scratch
}

fn assembled(tape: Tape) -> Box<dyn Function> {
    machine::assemble(tape).unwrap_or_else(|tape| {
        assert!(!has_code(), "this machine has what the code needs");
        interpreter::BACKEND.compile(*tape)
    })
}

/// Whether code is expected here.
fn has_code() -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    false
}

/// How many numbers were compared, and how many of them are finite and not 0.
#[derive(Default)]
struct Count {
    all: usize,
    ordinary: usize,
}

impl Count {
    fn compare(&mut self, what: &str, seed: u64, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (place, (&a, &b)) in found.iter().zip(expected).enumerate() {
            assert!(same(a, b), "{what} of tape {seed}, output {place}: {a:e} is not {b:e}");
            self.ordinary += usize::from(b.is_finite() && b != 0.0);
        }
        self.all += found.len();
    }

    /// A tape by both, one by one and in lanes.
    fn tape(&mut self, seed: u64, kind: Kind, lanes: usize, edges: bool) {
        let tape = tape(seed, kind);
        let both = [interpreter::BACKEND.compile(tape.clone()), assembled(tape.clone())];
        let mut random = Random::new(seed ^ 99);
        for turn in 0..2 {
            let constants: Vec<f64> =
                (0..tape.constants).map(|_| number(&mut random, edges && turn == 1)).collect();
            let mut scratches = both.each_ref().map(|f| prepared(&**f, &constants));
            let x: Vec<f64> =
                (0..lanes * tape.variables).map(|_| number(&mut random, edges)).collect();
            let mut many = vec![vec![0.25; lanes * tape.outputs.len()]; 2];
            for (f, (scratch, y)) in both.iter().zip(scratches.iter_mut().zip(&mut many)) {
                f.call_many(scratch, lanes, &x, y);
            }
            self.compare("lanes", seed, &many[1], &many[0]);
            for lane in 0..lanes.min(4) {
                let set: Vec<f64> = x.iter().skip(lane).step_by(lanes).copied().collect();
                let mut y = vec![vec![0.5; tape.outputs.len()]; 2];
                for (f, (scratch, y)) in both.iter().zip(scratches.iter_mut().zip(&mut y)) {
                    f.call(scratch, &set, y);
                }
                self.compare("one", seed, &y[1], &y[0]);
            }
        }
    }
}

#[test]
fn random_tapes_have_the_same_bits() {
    let mut count = Count::default();
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let kind = Kind {
            instructions: 1 + random.below(120),
            window: [3, 12, 40, 1000][random.below(4)],
            rare: [0, 3, 10, 30][random.below(4)],
            solves: random.below(2) == 0,
            tame: random.below(8) == 0,
            outputs: 1 + random.below(20),
        };
        count.tape(seed, kind, 1 + random.below(11), random.below(2) == 0);
    }
    assert!(count.all > 250_000, "{} numbers", count.all);
    assert!(count.ordinary > count.all / 4, "{} of {}", count.ordinary, count.all);
}

/// Far more values at once than there are registers, and calls in between that keep none.
#[test]
fn what_does_not_fit_into_registers_comes_back() {
    let mut count = Count::default();
    for seed in 0..40 {
        let rare = if seed % 2 == 0 { 0 } else { 60 };
        let kind =
            Kind { instructions: 1500, window: 300, rare, solves: true, tame: false, outputs: 200 };
        count.tape(seed, kind, 5, false);
    }
    assert!(count.ordinary > 30_000, "{} of {}", count.ordinary, count.all);
}

/// Sums of sums, all of which are wanted at the end in the order in which they came.
#[test]
fn everything_is_wanted_to_the_end() {
    for width in [10, 17, 40, 400] {
        let n = width as Register;
        let mut instructions: Vec<Instruction> =
            (0..n).map(|i| Instruction::Mul(i, (i + 1) % n)).collect();
        instructions.push(Instruction::Add(n, n + 1));
        instructions.extend((2..n).map(|i| Instruction::Fma(n + i, i, 2 * n + i - 2)));
        let tape = Tape {
            variables: width,
            outputs: vec![(n + instructions.len() as u32) - 1, n, n, 0],
            instructions,
            ..Tape::default()
        };
        let x: Vec<f64> = (0..width).map(|i| 0.1 + i as f64).collect();
        let run = |f: Box<dyn Function>| {
            let mut y = [0.0; 4];
            f.call(&mut prepared(&*f, &[]), &x, &mut y);
            y.map(f64::to_bits)
        };
        assert_eq!(run(assembled(tape.clone())), run(interpreter::BACKEND.compile(tape)));
    }
}

#[test]
fn long_tapes() {
    let mut count = Count::default();
    for (seed, window, rare) in [(1, 20, 0), (2, 500, 0), (3, 10_000, 50)] {
        let kind =
            Kind { instructions: 40_000, window, rare, solves: false, tame: true, outputs: 500 };
        count.tape(seed, kind, 6, false);
    }
    assert!(count.ordinary > 3_000, "{} of {}", count.ordinary, count.all);
}

/// One function, many threads; each has a scratch of its own, made from one.
#[test]
fn threads_share_a_function() {
    let kind =
        Kind { instructions: 300, window: 30, rare: 10, solves: true, tame: false, outputs: 10 };
    let tape = tape(77, kind);
    let constants = vec![0.7; tape.constants];
    let function = assembled(tape.clone());
    let scratch = prepared(&*function, &constants);
    let expected = |x: &[f64]| {
        let f = interpreter::BACKEND.compile(tape.clone());
        let mut y = vec![0.0; 10];
        f.call(&mut prepared(&*f, &constants), x, &mut y);
        y
    };
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (function, expected, tape, mut scratch) =
                (&function, &expected, &tape, scratch.clone());
            scope.spawn(move || {
                let mut random = Random::new(thread);
                for _ in 0..50 {
                    let x: Vec<f64> = (0..tape.variables).map(|_| random.signed()).collect();
                    let mut y = vec![0.0; 10];
                    function.call(&mut scratch, &x, &mut y);
                    let mut lanes = vec![0.0; 30];
                    let three: Vec<f64> = x.iter().flat_map(|&x| [x; 3]).collect();
                    function.call_many(&mut scratch, 3, &three, &mut lanes);
                    for (place, &right) in expected(&x).iter().enumerate() {
                        assert!(same(y[place], right));
                        assert!(lanes[3 * place..][..3].iter().all(|&y| same(y, right)));
                    }
                }
            });
        }
    });
}

/// Fewer variables than a function takes, fewer outputs than it has, more of both.
#[test]
fn lists_of_other_lengths() {
    let kind =
        Kind { instructions: 60, window: 20, rare: 8, solves: true, tame: false, outputs: 9 };
    for seed in 0..20 {
        let tape = tape(seed, kind);
        let both = [interpreter::BACKEND.compile(tape.clone()), assembled(tape.clone())];
        let constants = vec![0.3; tape.constants];
        let mut scratches = both.each_ref().map(|f| prepared(&**f, &constants));
        let x: Vec<f64> = (0..tape.variables + 3).map(|i| 0.4 + 0.1 * i as f64).collect();
        for given in [0, 1, tape.variables, tape.variables + 3] {
            for wanted in [0, 4, 9, 12] {
                let mut y = [vec![0.5; wanted], vec![0.5; wanted]];
                for (f, (scratch, y)) in both.iter().zip(scratches.iter_mut().zip(&mut y)) {
                    f.call(scratch, &x[..given.min(x.len())], y);
                }
                assert!(y[0].iter().zip(&y[1]).all(|(a, b)| same(*a, *b)), "{y:?}");
            }
        }
    }
}

/// A scratch is of one function, even where another has the same tape.
#[test]
fn the_scratch_of_another_function_gives_no_numbers() {
    let kind =
        Kind { instructions: 20, window: 20, rare: 0, solves: false, tame: false, outputs: 3 };
    let (one, other) = (assembled(tape(5, kind)), assembled(tape(6, kind)));
    let interpreted = interpreter::BACKEND.compile(tape(5, kind));
    let x = vec![0.5; 40];
    for mut wrong in [other.scratch(), interpreted.scratch(), Scratch::default()] {
        let (mut y, mut lanes) = ([0.5; 3], [0.5; 6]);
        one.call(&mut wrong, &x, &mut y);
        one.call_many(&mut wrong, 2, &x, &mut lanes);
        assert!(y.iter().chain(&lanes).all(|y| y.is_nan()), "{y:?} {lanes:?}");
        one.prepare(&mut wrong, &[0.5; 4]);
        one.call(&mut wrong, &x, &mut y);
        assert!(y.iter().any(|y| !y.is_nan()), "{y:?}");
    }
}

/// Tapes that no lowering makes are left to the interpreter.
#[test]
fn other_tapes_have_no_code() {
    let base = Tape { variables: 2, outputs: vec![2], ..Tape::default() };
    let with = |instructions: Vec<Instruction>| Tape { instructions, ..base.clone() };
    let good = with(vec![Instruction::Add(0, 1)]);
    assert_eq!(machine::assemble(good).is_ok(), has_code());
    let stray = with(vec![Instruction::Follow]);
    let alone = with(vec![Instruction::SinCos(0)]);
    let ahead = with(vec![Instruction::Add(0, 3), Instruction::Neg(0)]);
    let mut early = with(vec![Instruction::Neg(0)]);
    early.prologue = 1;
    let mut narrow = with(vec![Instruction::Factor(0), Instruction::Solve(0)]);
    narrow.matrices = vec![Matrix { size: 2, entries: Vec::new() }];
    narrow.rights = vec![Right { matrix: 0, entries: vec![0] }];
    for tape in [stray, alone, ahead, early, narrow] {
        assert_eq!(machine::assemble(tape.clone()).err(), Some(Box::new(tape)));
    }
}
