//! What expressions are lowered to.

use dalembert_compile::{Instruction, Tape, backends};
use dalembert_expr::{Exprs, Symbol};

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

/// Whether something is wanted once or twice differs from tape to tape; a constant's value must
/// not.
#[test]
fn constants_have_the_value_of_their_expression_to_the_bit() {
    let exprs = Exprs::new();
    let names = ["a", "b", "c", "d"];
    let [a, b, c, d] = names.map(|name| exprs.constant(name));
    let x = exprs.variable("x");
    let constants = [a * b + c * d, a * c / d.powi(2) + b, (a / b + c).powi(5) / d.powi(-3)];
    let roots: Vec<_> = constants.iter().flat_map(|&e| [e.id, (e * x).id]).collect();
    let symbols = [a, b, c, d].map(|e| e.symbol().expect("a symbol"));
    let values = [0.3, 1.7, 7.1, 0.9];
    let of = |s| symbols.iter().position(|&o| o == s).map_or(1.0, |i| values[i]);
    let expected = exprs.eval_f64(&roots, of);
    for some in (1..=roots.len()).map(|n| &roots[..n]) {
        let tape = Tape::lower(&exprs, some, &symbols, &[x.symbol().expect("a symbol")]);
        let function = backends::DEFAULT.compile(tape);
        let mut scratch = function.scratch();
        function.prepare(&mut scratch, &values);
        let mut y = vec![0.0; some.len()];
        function.call(&mut scratch, &[1.0], &mut y);
        assert_eq!(y, expected[..y.len()]);
    }
}
