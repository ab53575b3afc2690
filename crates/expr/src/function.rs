//! The functions of the language and what is true of each.

/// A function applied by a call node. Square roots are powers, and conditions
/// are functions with value 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Function {
    /// sin x
    Sin,
    /// cos x
    Cos,
    /// tan x
    Tan,
    /// arcsin x
    Asin,
    /// arccos x
    Acos,
    /// arctan x
    Atan,
    /// The angle of the point (x, y), arguments y, x.
    Atan2,
    /// sinh x
    Sinh,
    /// cosh x
    Cosh,
    /// tanh x
    Tanh,
    /// eˣ
    Exp,
    /// Natural logarithm.
    Log,
    /// |x|
    Abs,
    /// −1, 0 or 1.
    Sign,
    /// The least of two or more.
    Min,
    /// The greatest of two or more.
    Max,
    /// `if(c, a, b)`: a where c is not 0, else b.
    If,
    /// 1 where x < 0, else 0.
    Negative,
    /// 1 where x ≤ 0, else 0.
    NotPositive,
    /// 1 where all arguments are not 0.
    And,
    /// 1 where any argument is not 0.
    Or,
    /// The largest integer that is not above x.
    Floor,
    /// A table, or a derivative of one, by its number: arguments k, x.
    Table,
    /// The piece of a table that x is on, by the number of the table: arguments k, x.
    Piece,
    /// A number of the piece m of a table: arguments k, m.
    Entry,
    /// A function that a program gives, or a derivative of one, by its number: arguments k, x.
    Given,
}

/// Behavior under a change of the argument's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// f(−x) = f(x)
    Even,
    /// f(−x) = −f(x)
    Odd,
    /// Neither.
    None,
}

impl Function {
    /// Its name in the language; conditions have none and get a word.
    pub fn name(self) -> &'static str {
        match self {
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tan => "tan",
            Function::Asin => "asin",
            Function::Acos => "acos",
            Function::Atan => "atan",
            Function::Atan2 => "atan2",
            Function::Sinh => "sinh",
            Function::Cosh => "cosh",
            Function::Tanh => "tanh",
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Abs => "abs",
            Function::Sign => "sign",
            Function::Min => "min",
            Function::Max => "max",
            Function::If => "if",
            Function::Negative => "negative",
            Function::NotPositive => "not-positive",
            Function::And => "and",
            Function::Or => "or",
            Function::Floor => "floor",
            Function::Table => "table",
            Function::Piece => "piece",
            Function::Entry => "entry",
            Function::Given => "given",
        }
    }

    /// The function of one argument that bears this name in the language.
    pub fn from_name(name: &str) -> Option<Function> {
        use Function::*;
        [Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Log, Abs, Sign]
            .into_iter()
            .find(|f| f.name() == name)
    }

    /// Its behavior under a change of sign.
    pub fn parity(self) -> Parity {
        match self {
            Function::Sin
            | Function::Tan
            | Function::Asin
            | Function::Atan
            | Function::Sinh
            | Function::Tanh
            | Function::Sign => Parity::Odd,
            Function::Cos | Function::Cosh | Function::Abs => Parity::Even,
            _ => Parity::None,
        }
    }

    /// Whether it is constant but where it jumps: its derivatives are 0, and rounding of its arguments
    /// does nothing to it.
    pub fn is_step(self) -> bool {
        use Function::*;
        self.is_condition() || matches!(self, Sign | Floor | Piece | Entry)
    }

    /// Whether its value is a truth value.
    pub fn is_condition(self) -> bool {
        matches!(self, Function::Negative | Function::NotPositive | Function::And | Function::Or)
    }
}
