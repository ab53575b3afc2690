//! How a function is called: constants set anew, several scratches, any number of lanes.

use super::{Case, Difference, Random, compare, graphs, number, reference};
use crate::backends::Backend;
use crate::tape::Tape;

/// Constants can be set again, scratches of one function do not disturb each other, and inputs and
/// numbers can be outputs.
pub fn constants_and_inputs(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    let check = "constants and inputs";
    let straight = Tape {
        numbers: vec![2.5, -0.0],
        constants: 1,
        variables: 2,
        outputs: vec![4, 0, 2, 3, 4, 1],
        ..Tape::default()
    };
    let (sets, expected) = ([vec![7.0, 8.0]], [vec![8.0, 2.5, 6.0, 7.0, 8.0, -0.0]]);
    compare(check, backend, &straight, &[6.0], &sets, &expected)?;
    compare(check, backend, &Tape::default(), &[], &[Vec::new()], &[Vec::new()])?;
    for graph in graphs(40) {
        let tape = &graph.tape;
        let function = backend.compile(tape.clone());
        let mut scratches = [function.scratch(), function.scratch()];
        let mut random = Random::new(5);
        let variables = vec![0.3, 0.8, 1.1];
        let mut all = [vec![0.0; 2], vec![0.0; 2]];
        for turn in 0..6 {
            // One is set anew in each turn, the other keeps what it has.
            let own = turn % 2;
            all[own] = vec![number(&mut random), number(&mut random)];
            function.prepare(&mut scratches[own], &all[own]);
            for (scratch, constants) in scratches.iter_mut().zip(&all).take(turn + 1) {
                let mut y = vec![0.0; function.outputs()];
                function.call(scratch, &variables, &mut y);
                let expected = &reference(tape, constants, std::slice::from_ref(&variables))[0];
                Case { check, tape, constants, variables: &variables }.expect(&y, expected)?;
            }
        }
    }
    Ok(())
}

/// Any number of lanes, each as it would be alone.
pub fn many_lanes(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    let mut random = Random::new(13);
    for (graph, lanes) in graphs(40).zip((1..=20).cycle()) {
        let set = |_| (0..3).map(|_| number(&mut random)).collect();
        let sets: Vec<Vec<f64>> = (0..lanes).map(set).collect();
        let constants = [0.6, 0.7];
        let expected = reference(&graph.tape, &constants, &sets);
        compare("many lanes", backend, &graph.tape, &constants, &sets, &expected)?;
    }
    let function = backend.compile(Tape::default());
    let mut scratch = function.scratch();
    function.prepare(&mut scratch, &[]);
    function.call_many(&mut scratch, 0, &[], &mut []);
    Ok(())
}

/// The scratch of another function gives no numbers, until it is prepared.
pub fn foreign_scratch(backend: &dyn Backend) -> Result<(), Box<Difference>> {
    let tape = Tape { numbers: vec![1.0], outputs: vec![0, 0], ..Tape::default() };
    let function = backend.compile(tape.clone());
    let mut scratch = crate::backends::Scratch::default();
    let mut expected = f64::NAN;
    for _ in 0..2 {
        let mut y = [0.5; 2];
        function.call(&mut scratch, &[], &mut y);
        let mut lanes = [0.5; 6];
        function.call_many(&mut scratch, 3, &[], &mut lanes);
        let case = Case { check: "foreign scratch", tape: &tape, constants: &[], variables: &[] };
        case.expect(&y, &[expected; 2])?;
        case.expect(&lanes, &[expected; 6])?;
        function.prepare(&mut scratch, &[]);
        expected = 1.0;
    }
    Ok(())
}
