//! The functions that code calls, with the platform's calling convention: the very ones that the
//! interpreter calls, so that the bits are the same.

use super::encoder::Width;
use crate::calls;
use dalembert_expr::Function;

/// sin x and cos x, which come back in two registers.
#[repr(C)]
pub(super) struct Pair(f64, f64);

extern "C" fn sin_cos_one(x: f64) -> Pair {
    let (sin, cos) = x.sin_cos();
    Pair(sin, cos)
}

extern "C" fn sin_cos_all<const N: usize>(x: &[f64; N], sin: &mut [f64; N], cos: &mut [f64; N]) {
    for lane in 0..N {
        (sin[lane], cos[lane]) = x[lane].sin_cos();
    }
}

extern "C" fn power_one(x: f64, y: f64) -> f64 {
    x.powf(y)
}

extern "C" fn power_all<const N: usize>(x: &[f64; N], y: &[f64; N], value: &mut [f64; N]) {
    for lane in 0..N {
        value[lane] = x[lane].powf(y[lane]);
    }
}

/// The address of sin and cos, of so many doubles.
pub(super) fn sin_cos(width: Width) -> usize {
    match width {
        Width::One => sin_cos_one as *const () as usize,
        Width::Four => sin_cos_all::<4> as *const () as usize,
        Width::Eight => sin_cos_all::<8> as *const () as usize,
    }
}

/// The address of the power.
pub(super) fn power(width: Width) -> usize {
    match width {
        Width::One => power_one as *const () as usize,
        Width::Four => power_all::<4> as *const () as usize,
        Width::Eight => power_all::<8> as *const () as usize,
    }
}

/// For each function, one that is compiled for it alone: a pointer in the middle would be a
/// second call.
macro_rules! shims {
    ($($function:ident),*) => {
        /// The address of a function of one argument.
        pub(super) fn one(function: Function, width: Width) -> usize {
            match function {
                $(Function::$function => {
                    extern "C" fn one(x: f64) -> f64 {
                        calls::one(Function::$function)(x)
                    }
                    extern "C" fn all<const N: usize>(x: &[f64; N], value: &mut [f64; N]) {
                        *value = x.map(calls::one(Function::$function));
                    }
                    match width {
                        Width::One => one as *const () as usize,
                        Width::Four => all::<4> as *const () as usize,
                        Width::Eight => all::<8> as *const () as usize,
                    }
                })*
            }
        }

        /// The address of a function of two arguments.
        pub(super) fn two(function: Function, width: Width) -> usize {
            match function {
                $(Function::$function => {
                    extern "C" fn one(x: f64, y: f64) -> f64 {
                        calls::two(Function::$function)(x, y)
                    }
                    extern "C" fn all<const N: usize>(
                        x: &[f64; N],
                        y: &[f64; N],
                        value: &mut [f64; N],
                    ) {
                        let function = calls::two(Function::$function);
                        *value = std::array::from_fn(|lane| function(x[lane], y[lane]));
                    }
                    match width {
                        Width::One => one as *const () as usize,
                        Width::Four => all::<4> as *const () as usize,
                        Width::Eight => all::<8> as *const () as usize,
                    }
                })*
            }
        }
    };
}

shims! {
    Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Exp, Log, Abs, Sign, Min, Max, If,
    Negative, NotPositive, And, Or, Floor, Table, Piece, Entry, Given
}
