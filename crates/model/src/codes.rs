//! Every diagnostic has a kebab-case code, and every code a page that explains
//! it at length: `codes/NAME.md`, printed by `dal explain NAME`. A new code is
//! one line in the list below and one Markdown file.

macro_rules! codes {
    ($($variant:ident $name:literal,)*) => {
        /// The kind of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        /// All codes, in the order of the list.
        pub const ALL: &[Code] = &[$(Code::$variant,)*];

        impl Code {
            /// The kebab-case name shown in brackets behind `error`.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// The page that explains it, as Markdown; its first line is a
            /// heading that says what the code means.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$variant => include_str!(concat!("codes/", $name, ".md")),)* }
            }
        }
    };
}

codes! {
    UnexpectedCharacter "unexpected-character",
    AsciiOperator "ascii-operator",
    ForeignOperator "foreign-operator",
    NumberFormat "number-format",
    ConstantTooLarge "constant-too-large",
    UnterminatedString "unterminated-string",
    UnclosedBracket "unclosed-bracket",
    UnmatchedBracket "unmatched-bracket",
    TooDeep "too-deep",
    Syntax "syntax",
    UnknownStatement "unknown-statement",
    ImplicitMultiplication "implicit-multiplication",
    PrimeAfterPower "prime-after-power",
    PrimeAfterNumber "prime-after-number",
    ChainedEquals "chained-equals",
    ComparisonPlace "comparison-place",
    Inequality "inequality",
    BinderPlace "binder-place",
    StatementPlace "statement-place",
    EmptyBlock "empty-block",
    CheckSyntax "check-syntax",
    NoModelBlock "no-model-block",
    NotUtf8 "not-utf8",
    UnreadableFile "unreadable-file",
    UnknownName "unknown-name",
    UnknownConstraint "unknown-constraint",
    UnknownMember "unknown-member",
    DefinedTwice "defined-twice",
    ReservedName "reserved-name",
    SamePrint "same-print",
    CircularDefinition "circular-definition",
    NotConstant "not-constant",
    NotInteger "not-integer",
    IndexRange "index-range",
    IndexCount "index-count",
    Shape "shape",
    VectorProduct "vector-product",
    NotAFunction "not-a-function",
    FunctionValue "function-value",
    ArgumentCount "argument-count",
    ArgumentKind "argument-kind",
    NotACoordinate "not-a-coordinate",
    NotAllowedHere "not-allowed-here",
    DivisionByZero "division-by-zero",
    ParameterMoves "parameter-moves",
    ParameterWithoutValue "parameter-without-value",
    TooLarge "too-large",
    HigherDerivative "higher-derivative",
    NoCoordinates "no-coordinates",
    NoEnergy "no-energy",
    MixedEnergy "mixed-energy",
    SpeedNotLinear "speed-not-linear",
    SpeedDependent "speed-dependent",
    TooManySpeeds "too-many-speeds",
    AccelerationNonlinear "acceleration-nonlinear",
    ConstraintTrivial "constraint-trivial",
    ConstraintImpossible "constraint-impossible",
    StartGuess "start-guess",
    StartMixed "start-mixed",
    OnceOnly "once-only",
    RunOption "run-option",
    EventReset "event-reset",
    DrawShape "draw-shape",
    UnknownOverride "unknown-override",
    UnusedParameter "unused-parameter",
    NotApplicable "not-applicable",
    ContradictoryStart "contradictory-start",
    CheckFailed "check-failed",
    ContradictoryConstraints "contradictory-constraints",
    RankLost "rank-lost",
    StepTooSmall "step-too-small",
    NotANumber "not-a-number",
    NoUniqueMotion "no-unique-motion",
    RunStopped "run-stopped",
    NoCommonSolution "no-common-solution",
    NearlyDependent "nearly-dependent",
    UndecidedRows "undecided-rows",
    Sticks "sticks",
    LinearizeEdge "linearize-edge",
    StartPenetrates "start-penetrates",
    Penetrates "penetrates",
    ImpactNotUnique "impact-not-unique",
    ContactNotUnique "contact-not-unique",
    ContactNone "contact-none",
    ContactDegenerate "contact-degenerate",
    Jump "jump",
    EventAtZero "event-at-zero",
    PartCycle "part-cycle",
    BodyField "body-field",
    NotARotation "not-a-rotation",
    SubstitutedVelocity "substituted-velocity",
    ConstraintImplied "constraint-implied",
    ParameterWithoutEffect "parameter-without-effect",
    CoordinateAtRest "coordinate-at-rest",
    MasslessCoordinate "massless-coordinate",
    IndefiniteMass "indefinite-mass",
    BadlyScaled "badly-scaled",
    ForceWithoutEffect "force-without-effect",
    EventNever "event-never",
    GravityWithoutBody "gravity-without-body",
    CarriedTwice "carried-twice",
    CarryCycle "carry-cycle",
    BodyWithoutPlace "body-without-place",
    NothingToJoin "nothing-to-join",
    JointKind "joint-kind",
    JointField "joint-field",
    JointAxes "joint-axes",
    SideShape "side-shape",
    InertiaImpossible "inertia-impossible",
    CarriedMultiplier "carried-multiplier",
    JointReversed "joint-reversed",
    ForceAcceleration "force-acceleration",
    GravityField "gravity-field",
    InputWithoutValue "input-without-value",
    InputMoves "input-moves",
    LooksLikeDegrees "looks-like-degrees",
    InputTaken "input-taken",
    ServoLinear "servo-linear",
    ServoRank "servo-rank",
    ServoWeight "servo-weight",
    ServoHidden "servo-hidden",
    StateRate "state-rate",
    StateInConstraint "state-in-constraint",
    InputDerivative "input-derivative",
    TableFile "table-file",
    TableOrder "table-order",
    TableRange "table-range",
    TableSmoothness "table-smoothness",
    UseModel "use-model",
    ForeignWord "foreign-word",
    FrictionNegative "friction-negative",
    FrictionSlip "friction-slip",
    ImpactGains "impact-gains",
}

impl Code {
    /// The code of a name, for `dal explain`.
    pub fn from_name(name: &str) -> Option<Code> {
        ALL.iter().copied().find(|code| code.name() == name)
    }

    /// What the code means, in one line.
    pub fn title(self) -> &'static str {
        self.explanation().lines().next().unwrap_or("").trim_start_matches('#').trim()
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
