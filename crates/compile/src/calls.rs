//! The elementary functions on doubles, as pointers. Every backend calls these, so that all of
//! them have the same bits; what each function means is said by [`Doubles`].

use dalembert_expr::Function;
use dalembert_expr::eval::{Arithmetic, Doubles};

/// The functions of one argument.
pub const ONE: &[Function] = &[
    Function::Sin,
    Function::Cos,
    Function::Tan,
    Function::Asin,
    Function::Acos,
    Function::Atan,
    Function::Sinh,
    Function::Cosh,
    Function::Tanh,
    Function::Exp,
    Function::Log,
    Function::Abs,
    Function::Sign,
    Function::Negative,
    Function::NotPositive,
    Function::Floor,
];

/// The functions of two; those that take more are chains of them.
pub const TWO: &[Function] = &[
    Function::Atan2,
    Function::Min,
    Function::Max,
    Function::And,
    Function::Or,
    Function::Table,
    Function::Piece,
    Function::Entry,
    Function::Given,
];

/// A function of one argument; NaN if there is none of that name.
pub fn one(function: Function) -> fn(f64) -> f64 {
    match function {
        Function::Sin => f64::sin,
        Function::Cos => f64::cos,
        Function::Tan => f64::tan,
        Function::Asin => f64::asin,
        Function::Acos => f64::acos,
        Function::Atan => f64::atan,
        Function::Sinh => f64::sinh,
        Function::Cosh => f64::cosh,
        Function::Tanh => f64::tanh,
        Function::Exp => f64::exp,
        Function::Log => f64::ln,
        Function::Abs => f64::abs,
        Function::Sign => |x| Doubles.call(Function::Sign, &[x]),
        Function::Negative => |x| Doubles.call(Function::Negative, &[x]),
        Function::NotPositive => |x| Doubles.call(Function::NotPositive, &[x]),
        Function::Atan2
        | Function::Min
        | Function::Max
        | Function::If
        | Function::And
        | Function::Or
        | Function::Table
        | Function::Piece
        | Function::Entry
        | Function::Given => |_| f64::NAN,
        Function::Floor => f64::floor,
    }
}

/// A function of two arguments; NaN if there is none of that name.
pub fn two(function: Function) -> fn(f64, f64) -> f64 {
    match function {
        Function::Atan2 => |x, y| Doubles.call(Function::Atan2, &[x, y]),
        Function::Min => |x, y| Doubles.call(Function::Min, &[x, y]),
        Function::Max => |x, y| Doubles.call(Function::Max, &[x, y]),
        Function::And => |x, y| Doubles.call(Function::And, &[x, y]),
        Function::Or => |x, y| Doubles.call(Function::Or, &[x, y]),
        Function::Table => |x, y| Doubles.call(Function::Table, &[x, y]),
        Function::Piece => |x, y| Doubles.call(Function::Piece, &[x, y]),
        Function::Entry => |x, y| Doubles.call(Function::Entry, &[x, y]),
        Function::Given => |x, y| Doubles.call(Function::Given, &[x, y]),
        _ => |_, _| f64::NAN,
    }
}
