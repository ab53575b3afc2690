//! Enclosures hold what they should, at all precisions.

mod support;

use dalembert_expr::Number;
use dalembert_expr::ball::{Balls, Doubles, Enclose, Gap};
use proptest::prelude::*;
use support::{Bench, Tree, point, tame, wild};

/// Doubles, balls of doubles and extended balls of two precisions agree.
fn agree(tree: &Tree, point: &[Number]) -> Result<bool, TestCaseError> {
    let bench = Bench::new();
    let root = [bench.build(tree).id];
    let at = |s| &point[bench.place(s)];
    let plain = bench.exprs.eval_f64(&root, |s| at(s).to_f64())[0];
    let double = bench.exprs.evaluate(&Balls(Doubles), &root, |s| Doubles.number(at(s)))[0];
    let coarse = &bench.extended(192, &root, point)[0];
    let fine = &bench.extended(448, &root, point)[0];
    if let Ok(ball) = double {
        // The plain value is off by no more than the ball allows for twice.
        prop_assert!((plain - ball.middle).abs() <= 2.0 * ball.radius, "{plain} {ball:?}");
        match fine {
            // The exact value is rounded once more to compare it.
            Ok(fine) => {
                let exact = fine.to_f64();
                prop_assert!(
                    (exact - ball.middle).abs() <= ball.radius + exact.abs() * f64::EPSILON,
                    "{exact} {ball:?}"
                );
            }
            // Doubles may happen to be exact where more digits round: (−x)^0 with the 0 solved for.
            Err(gap) => prop_assert_ne!(gap, &Gap::Undefined),
        }
    }
    if let Ok(coarse) = coarse {
        prop_assert!(fine.as_ref().is_ok_and(|fine| coarse.meets(fine)));
    }
    // What is certain stays so.
    for gap in [double.err(), coarse.as_ref().err().copied()] {
        if gap == Some(Gap::Undefined) {
            prop_assert_eq!(fine.as_ref().err(), Some(&Gap::Undefined));
        }
    }
    if let (Ok(coarse), Ok(fine)) = (coarse, fine) {
        let (a, b) = (coarse.radius(), fine.radius());
        prop_assert!(a.is_zero() || b.log2() < a.log2() - 200.0, "{} {}", a.log2(), b.log2());
    }
    Ok(fine.is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn tame_expressions_are_enclosed(tree in tame(5), point in point()) {
        prop_assert!(agree(&tree, &point)?);
    }

    #[test]
    fn wild_expressions_are_enclosed_or_undefined(tree in wild(5), point in point()) {
        agree(&tree, &point)?;
    }
}
