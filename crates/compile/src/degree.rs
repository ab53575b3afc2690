//! The degree of what a tape computes: whether what is far away shows in series at a state.
//!
//! A polynomial of low degree is told by its series anywhere, and so is a sine: it goes on as it
//! began. A quotient or a root has its singularities where it is steep, and the radius of
//! convergence ends there. Not so e^(−x²) or a high power of a cosine: they are next to nothing, with all their
//! derivatives, until they are met, and steps of any length may go over them unseen; nor tanh,
//! whose many poles cancel each other from afar.

use crate::tape::{Instruction, Tape};
use dalembert_expr::Function as Elementary;

impl Tape {
    /// The largest degree of an output in the variables and in sines, roots and angles of them, where products
    /// and quotients add up. `None` with exponentials, choices and linear solves.
    pub fn degree(&self) -> Option<u32> {
        let first = self.first_variable();
        let mut of: Vec<u32> = (0..self.registers()).map(|at| u32::from(at >= first)).collect();
        let first = self.first_instruction();
        for (at, instruction) in self.instructions.iter().enumerate() {
            let (registers, count) = instruction.operands();
            let own = registers.map(|r| of[r as usize]);
            let is_constant = own[..count].iter().all(|degree| *degree == 0);
            of[first + at] = match *instruction {
                Instruction::Follow if at > 0 => of[first + at - 1],
                Instruction::Factor(_)
                | Instruction::Solve(_)
                | Instruction::Restricted(_)
                | Instruction::Follow => {
                    return None;
                }
                _ if is_constant => 0,
                Instruction::Add(..) | Instruction::Sub(..) => own[0].max(own[1]),
                Instruction::Mul(..) | Instruction::Div(..) => own[0].saturating_add(own[1]),
                Instruction::Fma(..) => own[0].saturating_add(own[1]).max(own[2]),
                Instruction::Neg(_) | Instruction::Sqrt(_) | Instruction::SinCos(_) => own[0],
                Instruction::Pow(_, exponent) => {
                    let exponent = self.numbers.get(exponent as usize)?;
                    own[0].saturating_mul(exponent.abs().ceil() as u32)
                }
                Instruction::Call1(f, _) if is_told(f) => own[0],
                Instruction::Call2(Elementary::Atan2, ..) => own[0].max(own[1]),
                Instruction::Call1(..) | Instruction::Call2(..) | Instruction::Select(..) => {
                    return None;
                }
            };
        }
        Some(self.outputs.iter().map(|&r| of[r as usize]).max().unwrap_or(0))
    }
}

/// Whether a function shows from afar.
fn is_told(f: Elementary) -> bool {
    use Elementary::{Acos, Asin, Atan, Cos, Log, Sin, Tan};
    matches!(f, Sin | Cos | Tan | Asin | Acos | Atan | Log)
}

#[cfg(test)]
mod tests {
    use crate::Tape;
    use dalembert_expr::{Expr, Exprs};

    fn degree(of: &dyn for<'a> Fn(Expr<'a>, Expr<'a>) -> Expr<'a>) -> Option<u32> {
        let exprs = Exprs::new();
        let (x, k) = (exprs.variable("x"), exprs.constant("k"));
        let y = of(x, k);
        Tape::lower(&exprs, &[y.id], &[k.symbol()?], &[x.symbol()?]).degree()
    }

    #[test]
    fn degrees_add_up() {
        assert_eq!(degree(&|_, k| k), Some(0));
        assert_eq!(degree(&|x, k| k * x + x), Some(1));
        assert_eq!(degree(&|x, k| x.sin() * x.cos() * (k * x)), Some(3));
        assert_eq!(degree(&|x, _| x.cos().powi(40)), Some(40));
        assert_eq!(degree(&|x, k| (x * x + k).sqrt()), Some(2));
    }

    #[test]
    fn what_is_met_without_warning_has_none() {
        assert_eq!(degree(&|x, _| (-(x * x)).exp()), None);
        assert_eq!(degree(&|x, k| x.pow(k)), None);
        assert_eq!(degree(&|x, _| x.abs()), None);
        // What does not depend on variables is a number.
        assert_eq!(degree(&|x, k| k.exp() * x), Some(1));
    }
}
