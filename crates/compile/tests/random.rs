//! Compiled tapes against direct evaluation, on random expressions with every
//! instruction in them, and lanes against single calls.

use dalembert_compile::{Instruction, Tape, backends};
use dalembert_expr::{Expr, Exprs, Function, Symbol};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / (1u64 << 30) as f64
    }
}

/// A random expression that is defined for symbols in (0.2, 1.2).
fn expression<'e>(
    exprs: &'e Exprs,
    random: &mut Random,
    symbols: &[Expr<'e>],
    depth: u32,
) -> Expr<'e> {
    if depth == 0 {
        return match random.below(4) {
            0 => exprs.integer(random.below(7) as i64 - 3),
            _ => symbols[random.below(symbols.len())],
        };
    }
    let next = |random: &mut Random| expression(exprs, random, symbols, depth - 1);
    let a = next(random);
    let safe = |x: Expr<'e>| x * x + exprs.integer(1);
    match random.below(14) {
        0 | 1 => a + next(random),
        2 => a - next(random),
        3 | 4 => a * next(random),
        5 => a / safe(next(random)),
        6 => a.sin() * a.cos(),
        7 => a.sin(),
        8 => safe(a).sqrt(),
        9 => safe(a).powi(random.below(5) as i64 - 2),
        10 => exprs.at(exprs.call(Function::Tanh, &[a.id])),
        11 => {
            let b = next(random);
            exprs.at(exprs.call(Function::Max, &[a.id, b.id]))
        }
        12 => {
            let (b, c) = (next(random), next(random));
            let condition = exprs.call(Function::Negative, &[a.id]);
            exprs.at(exprs.call(Function::If, &[condition, b.id, c.id]))
        }
        _ => {
            let b = next(random);
            let one = exprs.integer(1);
            let k = [safe(a), b, -b, safe(b) + one].map(|e| e.id);
            let x = exprs.solve(&k, &[a.id, one.id]);
            exprs.at(x[random.below(2)])
        }
    }
}

#[test]
fn tapes_compute_what_the_expressions_say() {
    let mut random = Random(7);
    let mut seen = [false; 5];
    for _ in 0..400 {
        let exprs = Exprs::new();
        let constants = [exprs.constant("a"), exprs.constant("b")];
        let variables = [exprs.variable("x"), exprs.variable("y"), exprs.variable("z")];
        let all: Vec<Expr> = constants.iter().chain(&variables).copied().collect();
        let roots: Vec<_> = (0..3).map(|_| expression(&exprs, &mut random, &all, 5).id).collect();
        let symbols =
            |list: &[Expr]| -> Vec<Symbol> { list.iter().filter_map(|e| e.symbol()).collect() };
        let (c, v) = (symbols(&constants), symbols(&variables));
        let tape = Tape::lower(&exprs, &roots, &c, &v);
        for instruction in &tape.instructions {
            match instruction {
                Instruction::Fma(..) => seen[0] = true,
                Instruction::SinCos(_) => seen[1] = true,
                Instruction::Solve(_) => seen[2] = true,
                Instruction::Select(..) => seen[3] = true,
                Instruction::Sub(..) => seen[4] = true,
                _ => {}
            }
        }
        let function = backends::DEFAULT.compile(tape);
        let mut scratch = function.scratch();
        let constant_values = [0.2 + random.unit(), 0.2 + random.unit()];
        function.prepare(&mut scratch, &constant_values);
        const LANES: usize = 7;
        let sets: Vec<[f64; 3]> =
            (0..LANES).map(|_| std::array::from_fn(|_| 0.2 + random.unit())).collect();
        let mut single = vec![[0.0; 3]; LANES];
        for (x, y) in sets.iter().zip(&mut single) {
            function.call(&mut scratch, x, y);
            let expected = exprs.eval_f64(&roots, |s| {
                let find = |list: &[Symbol]| list.iter().position(|&o| o == s);
                match (find(&c), find(&v)) {
                    (Some(i), _) => constant_values[i],
                    (_, Some(i)) => x[i],
                    _ => f64::NAN,
                }
            });
            for (a, b) in y.iter().zip(&expected) {
                let close = (a - b).abs() <= 1e-11 * b.abs().max(1.0);
                assert!(close || (a.is_nan() && b.is_nan()), "{a} {b}");
            }
        }
        let across: Vec<f64> = (0..3).flat_map(|i| sets.iter().map(move |x| x[i])).collect();
        let mut many = vec![0.0; 3 * LANES];
        function.call_many(&mut scratch, LANES, &across, &mut many);
        for lane in 0..LANES {
            for output in 0..3 {
                let (a, b) = (many[output * LANES + lane], single[lane][output]);
                assert_eq!(a.to_bits(), b.to_bits(), "lane {lane} differs: {a} {b}");
            }
        }
    }
    assert!(seen.iter().all(|&s| s), "an instruction never occurred: {seen:?}");
}

#[test]
fn what_depends_on_constants_is_computed_once() {
    let exprs = Exprs::new();
    let (a, x) = (exprs.constant("a"), exprs.variable("x"));
    let y = (a.sin() * a.cos() + a.sqrt()) * x;
    let tape = Tape::lower(
        &exprs,
        &[y.id],
        &[a.symbol().expect("a symbol")],
        &[x.symbol().expect("a symbol")],
    );
    assert!(tape.prologue >= 3, "{tape:?}");
    assert_eq!(tape.instructions.len() - tape.prologue, 1, "{tape:?}");
}

#[test]
fn one_factorization_for_each_matrix() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let k = [x.id, y.id, y.id, (x + x).id];
    let first = exprs.solve(&k, &[x.id, y.id]);
    let second = exprs.solve(&k, &[first[0], first[1]]);
    let symbols: Vec<Symbol> = [x, y].iter().filter_map(|e| e.symbol()).collect();
    let tape = Tape::lower(&exprs, &[second[0], second[1]], &[], &symbols);
    let count =
        |f: &dyn Fn(&Instruction) -> bool| tape.instructions.iter().filter(|i| f(i)).count();
    assert_eq!(count(&|i| matches!(i, Instruction::Factor(_))), 1);
    assert_eq!(count(&|i| matches!(i, Instruction::Solve(_))), 2);
}

#[test]
fn integer_powers_are_products() {
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let powers: Vec<_> = [2, 3, 7, 8, 12, 63, 64].map(|n| x.powi(n).id).to_vec();
    let symbols = [x.symbol().expect("a symbol")];
    let lower = |roots: &[_]| Tape::lower(&exprs, roots, &[], &symbols);
    let tape = lower(&powers);
    assert!(tape.instructions.iter().all(|i| matches!(i, Instruction::Mul(..))), "{tape:?}");
    // Six squares up to x⁶⁴ serve all of them; one more product each for 3, 7 and 12, and three
    // for 63, which begins as 7 does.
    assert_eq!(tape.instructions.len(), 6 + 1 + 1 + 1 + 3, "{tape:?}");
    let reciprocal = lower(&[x.powi(-5).id]);
    let divisions = |tape: &Tape| {
        tape.instructions.iter().filter(|i| matches!(i, Instruction::Div(..))).count()
    };
    assert_eq!((reciprocal.instructions.len(), divisions(&reciprocal)), (4, 1), "{reciprocal:?}");
    let large = lower(&[x.powi(1_000_001).id]);
    assert!(matches!(large.instructions[..], [Instruction::Pow(..)]), "{large:?}");
}

#[test]
fn a_matrix_has_its_pattern() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let zero = exprs.integer(0);
    let k = [x.id, zero.id, y.id, zero.id, y.id, zero.id, y.id, zero.id, x.id];
    let solved = exprs.solve(&k, &[x.id, y.id, x.id]);
    let symbols: Vec<Symbol> = [x, y].iter().filter_map(|e| e.symbol()).collect();
    let tape = Tape::lower(&exprs, &solved, &[], &symbols);
    let pattern: Vec<_> = tape.matrices[0].entries.iter().map(|e| (e.row, e.column)).collect();
    assert_eq!(pattern, [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2)]);
}
