//! The functions that code calls, with the platform's calling convention: the very ones that the
//! interpreter calls, so that the bits are the same.

use crate::calls;
use dalembert_expr::Function;

/// Four doubles side by side.
pub(super) type Four = [f64; 4];

/// sin x and cos x, which come back in two registers.
#[repr(C)]
pub(super) struct Pair(f64, f64);

extern "C" fn sin_cos_one(x: f64) -> Pair {
    let (sin, cos) = x.sin_cos();
    Pair(sin, cos)
}

extern "C" fn sin_cos_four(x: &Four, sin: &mut Four, cos: &mut Four) {
    for lane in 0..4 {
        (sin[lane], cos[lane]) = x[lane].sin_cos();
    }
}

extern "C" fn power_one(x: f64, y: f64) -> f64 {
    x.powf(y)
}

extern "C" fn power_four(x: &Four, y: &Four, value: &mut Four) {
    for lane in 0..4 {
        value[lane] = x[lane].powf(y[lane]);
    }
}

/// The address of sin and cos, of one double or of four.
pub(super) fn sin_cos(is_wide: bool) -> usize {
    if is_wide { sin_cos_four as *const () as usize } else { sin_cos_one as *const () as usize }
}

/// The address of the power.
pub(super) fn power(is_wide: bool) -> usize {
    if is_wide { power_four as *const () as usize } else { power_one as *const () as usize }
}

/// For each function, one that is compiled for it alone: a pointer in the middle would be a
/// second call.
macro_rules! shims {
    ($($function:ident),*) => {
        /// The address of a function of one argument.
        pub(super) fn one(function: Function, is_wide: bool) -> usize {
            match function {
                $(Function::$function => {
                    extern "C" fn one(x: f64) -> f64 {
                        calls::one(Function::$function)(x)
                    }
                    extern "C" fn four(x: &Four, value: &mut Four) {
                        *value = x.map(calls::one(Function::$function));
                    }
                    if is_wide { four as *const () as usize } else { one as *const () as usize }
                })*
            }
        }

        /// The address of a function of two arguments.
        pub(super) fn two(function: Function, is_wide: bool) -> usize {
            match function {
                $(Function::$function => {
                    extern "C" fn one(x: f64, y: f64) -> f64 {
                        calls::two(Function::$function)(x, y)
                    }
                    extern "C" fn four(x: &Four, y: &Four, value: &mut Four) {
                        let function = calls::two(Function::$function);
                        *value = std::array::from_fn(|lane| function(x[lane], y[lane]));
                    }
                    if is_wide { four as *const () as usize } else { one as *const () as usize }
                })*
            }
        }
    };
}

shims! {
    Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Exp, Log, Abs, Sign, Min, Max, If,
    Negative, NotPositive, And, Or, Floor, Table, Piece, Entry
}
