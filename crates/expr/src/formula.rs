//! Expressions taken out of their arena: the steps of an evaluation, with exact numbers, to be run
//! in any arithmetic and on any thread without the arena.

use crate::arena::{ExprId, Exprs};
use crate::eval::Arithmetic;
use crate::function::Function;
use crate::number::Number;
use crate::restriction::Restriction;
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// Something computed, by its place.
type Place = u32;

#[derive(Clone, Debug)]
enum Step {
    Number(Number),
    Pi,
    Input(usize),
    /// A symbol that is not among the inputs: there is no value.
    Unknown,
    Add(Place, Place),
    Mul(Place, Place),
    Power(Place, Number),
    Pow(Place, Place),
    Call(Function, Vec<Place>),
    /// A matrix row by row and a right side; the components follow.
    Solve(Vec<Place>, Vec<Place>),
    /// A restriction and its arguments; its values follow.
    Restricted(Arc<Restriction>, Vec<Place>),
    /// One of the values that came before.
    Component(usize),
}

/// Steps from inputs to outputs.
#[derive(Clone, Debug)]
pub(crate) struct Formula {
    steps: Vec<Step>,
    outputs: Vec<Place>,
}

impl Formula {
    /// The roots as functions of symbols.
    pub fn new(exprs: &Exprs, roots: &[ExprId], inputs: &[Symbol]) -> Formula {
        let places: FxHashMap<Symbol, usize> =
            inputs.iter().enumerate().map(|(at, &symbol)| (symbol, at)).collect();
        let recorder = Recorder::default();
        let outputs = exprs.evaluate(&recorder, roots, |symbol| match places.get(&symbol) {
            Some(&at) => recorder.push(Step::Input(at)),
            None => recorder.push(Step::Unknown),
        });
        Formula { steps: recorder.0.into_inner(), outputs }
    }

    /// The outputs, given the inputs.
    pub fn run<A: Arithmetic>(&self, arithmetic: &A, inputs: &[A::Value]) -> Vec<A::Value> {
        let mut values: Vec<A::Value> = Vec::with_capacity(self.steps.len());
        let mut group: Vec<A::Value> = Vec::new();
        let nothing = || arithmetic.power(&arithmetic.number(&Number::ZERO), &Number::MINUS_ONE);
        for step in &self.steps {
            let at = |place: &Place| &values[*place as usize];
            let all = |list: &[Place]| -> Vec<A::Value> {
                list.iter().map(|place| at(place).clone()).collect()
            };
            let value = match step {
                Step::Number(number) => arithmetic.number(number),
                Step::Pi => arithmetic.pi(),
                Step::Input(at) => inputs[*at].clone(),
                Step::Unknown => nothing(),
                Step::Add(a, b) => arithmetic.add(at(a), at(b)),
                Step::Mul(a, b) => arithmetic.mul(at(a), at(b)),
                Step::Power(a, exponent) => arithmetic.power(at(a), exponent),
                Step::Pow(a, b) => arithmetic.pow(at(a), at(b)),
                Step::Call(function, x) => arithmetic.call(*function, &all(x)),
                Step::Solve(k, r) => {
                    group = arithmetic.solve(&all(k), &all(r));
                    nothing()
                }
                Step::Restricted(restriction, x) => {
                    group = arithmetic.restricted(restriction, &all(x));
                    nothing()
                }
                Step::Component(at) => group.get(*at).cloned().unwrap_or_else(nothing),
            };
            values.push(value);
        }
        self.outputs.iter().map(|&place| values[place as usize].clone()).collect()
    }
}

/// An arithmetic that writes down what it is asked for.
#[derive(Default)]
struct Recorder(RefCell<Vec<Step>>);

impl Recorder {
    fn push(&self, step: Step) -> Place {
        let steps = &mut *self.0.borrow_mut();
        steps.push(step);
        (steps.len() - 1) as Place
    }

    fn components(&self, count: usize) -> Vec<Place> {
        (0..count).map(|at| self.push(Step::Component(at))).collect()
    }
}

impl Arithmetic for Recorder {
    type Value = Place;

    fn number(&self, number: &Number) -> Place {
        self.push(Step::Number(number.clone()))
    }

    fn pi(&self) -> Place {
        self.push(Step::Pi)
    }

    fn add(&self, a: &Place, b: &Place) -> Place {
        self.push(Step::Add(*a, *b))
    }

    fn mul(&self, a: &Place, b: &Place) -> Place {
        self.push(Step::Mul(*a, *b))
    }

    fn power(&self, base: &Place, exponent: &Number) -> Place {
        self.push(Step::Power(*base, exponent.clone()))
    }

    fn pow(&self, base: &Place, exponent: &Place) -> Place {
        self.push(Step::Pow(*base, *exponent))
    }

    fn call(&self, function: Function, arguments: &[Place]) -> Place {
        self.push(Step::Call(function, arguments.to_vec()))
    }

    fn solve(&self, k: &[Place], r: &[Place]) -> Vec<Place> {
        self.push(Step::Solve(k.to_vec(), r.to_vec()));
        self.components(r.len())
    }

    fn restricted(&self, restriction: &Arc<Restriction>, arguments: &[Place]) -> Vec<Place> {
        self.push(Step::Restricted(Arc::clone(restriction), arguments.to_vec()));
        self.components(restriction.len())
    }
}
