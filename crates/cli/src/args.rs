//! The command line.

use clap::builder::Resettable;
use clap::{ArgMatches, Args as ClapArgs, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Equations of motion of constrained mechanical systems.
#[derive(Parser)]
#[command(
    name = "dal",
    version = env!("DAL_VERSION"),
    about = "Equations of motion of constrained mechanical systems",
    long_about = "Equations of motion of constrained mechanical systems.\n\n\
        A model is a text that reads like the page of a textbook: coordinates, energies, forces, \
        constraints. `dal new pendulum` writes one to start from, `dal help language` has the \
        language on a page, `dal gallery` lists worked examples, `dal check` tells what is wrong \
        with a model, `dal derive` gives its equations.",
    after_help = "A MODEL is a .dal or .md file, `-` for standard input, or gallery:NAME.\n\
        Exit status: 0 fine, 1 the model has faults, 2 wrong usage, 3 the numbers failed, the run \
        was interrupted or output could not be written.",
    subcommand_required = true,
    arg_required_else_help = true,
    // Our own `help` knows the language too.
    disable_help_subcommand = true
)]
pub(crate) struct Args {
    /// Color of messages.
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, global = true, value_name = "WHEN")]
    pub color: ColorChoice,

    #[command(subcommand)]
    pub command: Command,
}

/// When messages are colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Simulates a model and certifies the result.
    #[command(after_help = "Examples:\n  dal run gallery:double-pendulum --out run.csv\n  \
        dal run pendulum.dal --t-end 100 --tol 1e-12\n  \
        dal run gallery:double-pendulum --plot fig.svg --show \"theta1, theta2\" --show energy\n  \
        dal run gallery:knife-edge --formulation bracket --json")]
    Run(Named<Run>),
    /// The page of a model in the browser: it is run anew when its file is saved.
    #[command(after_help = "Examples:\n  dal view pendulum.dal\n  \
        dal view gallery:rolling-disk --open\n  dal view pendulum.dal --port 8000 --t-end 20")]
    View(Named<View>),
    /// Runs many cases of a model: parameters and start values varied.
    ///
    /// Each case is one run at the tolerance, without the estimate of its error that `dal run` makes.
    #[command(
        after_help = "Examples:\n  dal sweep gallery:double-pendulum --vary \"theta1 = 0..pi:pi/50\" --out fan\n  \
        dal sweep cart.dal --vary \"m = 1..2, x' ~ normal(0, 0.1)\" --samples 10000 --sampling sobol \\\n    \
        --observe x --statistics --out study\n  dal sweep cart.dal --cases cases.csv --out study --resume"
    )]
    Sweep(Named<Sweep>),
    /// Faults and warnings of a model, and what it consists of.
    #[command(
        after_help = "Examples:\n  dal check pendulum.dal\n  dal check gallery:double-pendulum --json\n  \
        echo 'coord x; kinetic x_dot^2' | dal check -"
    )]
    Check(Named<Check>),
    /// The equations of motion: T, V, L or H, M, Q, A and b.
    #[command(after_help = "Examples:\n  dal derive gallery:double-pendulum\n  \
        dal derive gallery:spherical-pendulum --formulation hamilton --solved\n  \
        dal derive cart.dal --format latex > cart.tex\n  dal derive chain.dal --set N=5")]
    Derive(Named<Derive>),
    /// Numbers at one state: accelerations, constraint forces, multipliers.
    #[command(after_help = "Examples:\n  dal eval gallery:two-wheels-on-an-axle\n  \
        dal eval pendulum.dal --at \"x=0.6, y=-0.8, x'=0.4, y'=0.3\"\n  \
        dal eval gallery:knife-edge --formulation all --elimination all")]
    Eval(Named<Eval>),
    /// What is true of a model: freedom, redundancy, kinds of constraint, brackets.
    #[command(after_help = "Examples:\n  dal analyze gallery:two-wheels-on-an-axle\n  \
        dal analyze gallery:bracket-particle --bracket \"x, p_x + y*p_z\"\n  \
        dal analyze pendulum.dal --json")]
    Analyze(Named<Analyze>),
    /// Equilibrium or steady motion near the start: modes, stability, matrices.
    #[command(after_help = "Examples:\n  dal linearize gallery:double-pendulum\n  \
        dal linearize gallery:whipple-bicycle --set \"x'=5\"\n  \
        dal linearize gallery:knife-edge --at \"x'=1.5\" --json\n  \
        dal linearize gallery:cart-pole-linear --here\n  \
        dal linearize gallery:double-pendulum --within \"th[1]=-1..4, th[2]=-1..4\"\n  \
        dal linearize gallery:spherical-pendulum --along 0,1,2")]
    Linearize(Named<Linearize>),
    /// Equations, analysis, motion, figure and certificate as one HTML document.
    #[command(
        after_help = "Examples:\n  dal report gallery:spherical-pendulum --out pendulum.html\n  \
        dal report cart.dal --solved --t-end 20 > cart.html"
    )]
    Report(Named<Report>),
    /// What joints, springs and their like stand for, as a model without them.
    #[command(after_help = "Examples:\n  dal expand robot.dal\n  \
        dal expand robot.dal --coordinates absolute | dal derive -")]
    Expand(Named<Expand>),
    /// Lists the built-in examples, or prints or runs one.
    Gallery(Named<Gallery>),
    /// A diagnostic at length.
    #[command(after_help = "Example:\n  dal explain unknown-name")]
    Explain(Named<Explain>),
    /// The language on a page, or what a command is for.
    #[command(after_help = "Examples:\n  dal help language\n  dal help run")]
    Help(Named<Help>),
    /// Writes a commented model to start from.
    New(Named<New>),
    /// Shell completions, on standard output.
    #[command(
        after_help = "Example:\n  dal completions bash > ~/.local/share/bash-completion/completions/dal"
    )]
    Completions(Named<Completions>),
}

/// The options of a command, which are described to the parser when the command is named: those of
/// all others would be a part of the time that a small model takes.
pub(crate) struct Named<T>(pub T);

impl<T: ClapArgs> ClapArgs for Named<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(|command| described(command, T::augment_args))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command.defer(|command| described(command, T::augment_args_for_update))
    }
}

/// Options for a command that says by itself what it is for: what the options' own comment says
/// comes later than that here, and would take its place.
fn described(command: clap::Command, options: fn(clap::Command) -> clap::Command) -> clap::Command {
    let (about, at_length) = (command.get_about().cloned(), command.get_long_about().cloned());
    options(command).about(Resettable::from(about)).long_about(Resettable::from(at_length))
}

impl<T: FromArgMatches> FromArgMatches for Named<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Named)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches_mut(matches).map(Named)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}

/// The model and its overrides.
#[derive(ClapArgs)]
pub(crate) struct ModelArgs {
    /// A .dal or .md file, `-` for standard input, or gallery:NAME.
    #[arg(value_name = "MODEL")]
    pub model: String,

    /// Overrides parameters, constants and start values.
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub set: Vec<String>,

    /// What the coordinates of joined bodies are, in place of what the model's `run` says.
    #[arg(long, value_name = "WHICH", value_parser = ["relative", "absolute"])]
    pub coordinates: Option<String>,
    /// What a run takes for an input: a formula of t, or a CSV file of times and values.
    #[arg(long, value_name = "NAME=FORMULA|FILE")]
    pub input: Vec<String>,
}

#[derive(ClapArgs)]
pub(crate) struct Check {
    #[command(flatten)]
    pub model: ModelArgs,

    /// One JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Expand {
    #[command(flatten)]
    pub model: ModelArgs,
}

#[derive(ClapArgs)]
pub(crate) struct Derive {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Which route; by default the one the model is written for.
    #[arg(long, value_name = "NAME", value_parser = formulation_names())]
    pub formulation: Option<String>,

    /// For Routh's equations: the coordinates to ignore, instead of all that can be.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub ignore: Vec<String>,

    /// With contacts or friction: the phase whose equations are shown, as in "floor open, rub sticks";
    /// `start` is that of the start. What is not named is closed, and slips.
    #[arg(long, value_name = "PHASE")]
    pub phase: Option<String>,

    /// The rates in closed form too, for readers, where they are short enough.
    #[arg(long)]
    pub solved: bool,

    /// What the forces are made of: velocity terms, potential, dissipation, applied.
    #[arg(long)]
    pub parts: bool,

    /// What kind of document.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// The body of the LaTeX or HTML document only.
    #[arg(long)]
    pub fragment: bool,

    /// Into a file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Report {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Which route; by default the one the model is written for.
    #[arg(long, value_name = "NAME", value_parser = formulation_names())]
    pub formulation: Option<String>,

    /// The rates in closed form too.
    #[arg(long)]
    pub solved: bool,

    /// What the forces are made of.
    #[arg(long)]
    pub parts: bool,

    /// End time; the model's `run` statement, else 10.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub t_end: Option<f64>,

    /// Local error of the motion, from 1e-15 to 0.1; 1e-9 by default.
    #[arg(long, value_name = "TOLERANCE")]
    pub tol: Option<f64>,

    /// Quantities of the figure, a panel each time: "theta1, theta2", "y against x".
    #[arg(long, value_name = "QUANTITIES", allow_hyphen_values = true)]
    pub show: Vec<String>,

    /// Into a file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub model: ModelArgs,

    /// What is varied: `m = 1..2:0.1`, `m = {1, 2, 5}`, `m = 1..2`, `x ~ normal(0, 1)`, several
    /// of them after commas.
    #[arg(long, value_name = "AXES", required_unless_present = "cases")]
    pub vary: Vec<String>,

    /// The cases from a table, .csv or .parquet, whose columns are named by what is varied.
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub cases: Option<PathBuf>,

    /// How many cases, where they are not a grid.
    #[arg(long, value_name = "N", conflicts_with = "cases")]
    pub samples: Option<u64>,

    /// How cases are chosen: grid, random, sobol.
    #[arg(long, value_name = "HOW", conflicts_with = "cases")]
    pub sampling: Option<String>,

    /// The seed of random and Sobol's cases.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,

    /// What is kept of the end of each case, expressions too: "x, energy"; by default the whole
    /// state. A case is one run: there is no estimate of its error.
    #[arg(long, value_name = "QUANTITIES")]
    pub observe: Vec<String>,

    /// The outputs of every case too, at the times of `--every`.
    #[arg(long)]
    pub trajectories: bool,

    /// Prints mean, deviation, least and largest of each column.
    #[arg(long)]
    pub statistics: bool,

    /// How many threads; by default one for each processor.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// The most cases that a thread moves at once: 1, 4 or 8. What comes of a case does not depend
    /// on it.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub lanes: usize,

    /// The folder for the cases, as Parquet.
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,

    /// Goes on with the study that is in the folder.
    #[arg(long)]
    pub resume: bool,

    /// End time; the model's `run` statement, else 10.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub t_end: Option<f64>,

    /// Interval between outputs, for trajectories.
    #[arg(long, value_name = "TIME", requires = "trajectories")]
    pub every: Option<f64>,

    /// Local error relative to the size of the motion in each coordinate.
    #[arg(long, value_name = "TOLERANCE")]
    pub tol: Option<f64>,

    /// The integrator, as for `dal run`.
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,

    /// Which formulation's variables to integrate in.
    #[arg(long, value_name = "NAME", value_parser = formulation_names())]
    pub formulation: Option<String>,

    /// One JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Run {
    #[command(flatten)]
    pub model: ModelArgs,

    /// End time; the model's `run` statement, else 10.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub t_end: Option<f64>,

    /// Interval between outputs; by default a thousand of them, a hundred without `--out` and
    /// `--plot`.
    #[arg(long, value_name = "TIME")]
    pub every: Option<f64>,

    /// Local error relative to the size of the motion in each coordinate, from 1e-15 to 0.1;
    /// 1e-9 by default.
    #[arg(long, value_name = "TOLERANCE")]
    pub tol: Option<f64>,

    /// Leaves out the second run by which the global error is estimated.
    #[arg(long)]
    pub no_verify: bool,

    /// The estimated error of each position and velocity as columns too.
    #[arg(long, conflicts_with = "no_verify")]
    pub errors: bool,

    /// Constant steps of this size instead of controlled ones.
    #[arg(long, value_name = "TIME")]
    pub step: Option<f64>,

    /// The longest step, where steps are controlled.
    #[arg(long, value_name = "TIME", conflicts_with = "step")]
    pub max_step: Option<f64>,

    /// The integrator: auto, dop853, taylor, gauss4, gauss6, gauss8, radau (stiff), rattle
    /// (symplectic on constraints), discrete-gradient (conserves the energy).
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,

    /// Which formulation's variables to integrate in; by default the one the model
    /// is written for.
    #[arg(long, value_name = "NAME", value_parser = formulation_names())]
    pub formulation: Option<String>,

    /// How the multipliers are eliminated; by default the null space.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(elimination_list()))]
    pub elimination: Option<String>,

    /// How drift off the constraints is held.
    #[arg(long, value_name = "HOW", value_parser = clap::builder::PossibleValuesParser::new(dalembert::simulate::drive::Stabilize::NAMES))]
    pub stabilize: Option<String>,

    /// Appends the constraints that the model implies.
    #[arg(long)]
    pub complete: bool,

    /// For Routh's equations: the coordinates to ignore, instead of all that can be.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub ignore: Vec<String>,

    /// The trajectory into a file: .csv, .json, .parquet or .arrow.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// A figure, .svg, .png or .pdf: what `--show` says, else the (first 14) coordinates against
    /// time. A .gif is the drawing in motion.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,

    /// The page of the run, .html: animation, plots, certificate and equations in one file, which
    /// moves without a server where it can.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// The drawing at so many instants in the figure; of a moving picture, its frames.
    #[arg(long, value_name = "COUNT", requires = "plot")]
    pub frames: Option<usize>,

    /// The drawing in motion, as an .svg that moves by itself.
    #[arg(long, requires = "plot")]
    pub animate: bool,

    /// Quantities of the figure: "theta1, theta2", "y against x", "multiplier(rod)". Each time a
    /// panel, divided where some would flatten others. They are columns of the table too.
    #[arg(long, value_name = "QUANTITIES", allow_hyphen_values = true)]
    pub show: Vec<String>,

    /// Accelerations, constraint forces, multipliers, energy, power and work as columns
    /// too.
    #[arg(long)]
    pub forces: bool,

    /// One JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct View {
    #[command(flatten)]
    pub model: ModelArgs,

    /// The port of the loopback address; by default 8245, or another one if that is taken.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Opens the page in the browser of the system.
    #[arg(long)]
    pub open: bool,

    /// End time; the model's `run` statement, else 10.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub t_end: Option<f64>,

    /// Interval between outputs; by default a thousand of them.
    #[arg(long, value_name = "TIME")]
    pub every: Option<f64>,

    /// Local error relative to the size of the motion in each coordinate; 1e-9 by default.
    #[arg(long, value_name = "TOLERANCE")]
    pub tol: Option<f64>,

    /// Leaves out the second run by which the global error is estimated.
    #[arg(long)]
    pub no_verify: bool,

    /// The integrator, as in `dal run`.
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,

    /// Which formulation's variables to integrate in.
    #[arg(long, value_name = "NAME", value_parser = formulation_names())]
    pub formulation: Option<String>,

    /// Appends the constraints that the model implies.
    #[arg(long)]
    pub complete: bool,
}

impl View {
    /// The run that the page shows, with values that take the place of the model's.
    /// Those of inputs are told by `is_input`.
    pub fn run(&self, values: &[(String, f64)], is_input: &dyn Fn(&str) -> bool) -> Run {
        let mut model = ModelArgs {
            model: self.model.model.clone(),
            set: self.model.set.clone(),
            coordinates: self.model.coordinates.clone(),
            input: self.model.input.clone(),
        };
        // Rust writes a number so that it is read back as the same one.
        for (name, value) in values {
            let text = format!("{name}={value:?}");
            match is_input(name) {
                true => {
                    let other =
                        |given: &String| given.split('=').next().map(str::trim) != Some(name);
                    model.input.retain(other);
                    model.input.push(text);
                }
                false => model.set.push(text),
            }
        }
        Run {
            t_end: self.t_end,
            every: self.every,
            tol: self.tol,
            no_verify: self.no_verify,
            method: self.method.clone(),
            formulation: self.formulation.clone(),
            complete: self.complete,
            ..Run::of(model)
        }
    }
}

impl Run {
    /// A run as the model asks for it.
    pub fn of(model: ModelArgs) -> Run {
        Run {
            model,
            t_end: None,
            every: None,
            tol: None,
            no_verify: false,
            errors: false,
            step: None,
            max_step: None,
            method: None,
            formulation: None,
            elimination: None,
            stabilize: None,
            complete: false,
            ignore: Vec::new(),
            out: None,
            plot: None,
            html: None,
            frames: None,
            animate: false,
            show: Vec::new(),
            forces: false,
            json: false,
        }
    }
}

#[derive(ClapArgs)]
pub(crate) struct Eval {
    #[command(flatten)]
    pub model: ModelArgs,

    /// The state, exactly this one; what it does not name is 0. Without it, the
    /// consistent start.
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub at: Option<String>,

    /// Which route, or all of them; by default the one the model is written for.
    #[arg(long, value_name = "NAME|all", value_parser = with_all(formulation_list()))]
    pub formulation: Option<String>,

    /// How the multipliers are eliminated, or all ways; by default the null space.
    #[arg(long, value_name = "NAME|all", value_parser = with_all(elimination_list()))]
    pub elimination: Option<String>,

    /// Appends the constraints that the model implies.
    #[arg(long)]
    pub complete: bool,

    /// For Routh's equations: the coordinates to ignore, instead of all that can be.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub ignore: Vec<String>,

    /// One JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Analyze {
    #[command(flatten)]
    pub model: ModelArgs,

    /// The reduced bracket {F, G} of two functions of positions and momenta.
    #[arg(long, value_name = "F, G", allow_hyphen_values = true)]
    pub bracket: Option<String>,

    /// One JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Linearize {
    #[command(flatten)]
    pub model: ModelArgs,

    /// Look near this state instead of the start; what it does not name is 0. What it
    /// names is kept if it can be.
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub at: Option<String>,

    /// About the start, or the state of --at, itself, whether it is steady or not.
    #[arg(long)]
    pub here: bool,

    /// About the states that the run passes at these times; without a list, at eleven
    /// from its start to its end.
    #[arg(long, value_name = "TIME,…", num_args = 0..=1, value_delimiter = ',',
        allow_negative_numbers = true, conflicts_with_all = ["here", "at"])]
    pub along: Option<Vec<f64>>,

    /// The Floquet multipliers of the motion from the start, or the state of --at, which has
    /// this period.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["here", "along"])]
    pub period: Option<f64>,

    /// All equilibria that are found with these coordinates between these ends.
    #[arg(long, value_name = "NAME=LOW..HIGH,…", conflicts_with_all = ["here", "along", "period"])]
    pub within: Option<String>,

    /// A, B, C and D in the parameters too, where the state is known in them.
    #[arg(long, conflicts_with_all = ["here", "along", "period", "within"])]
    pub symbolic: bool,

    /// From so many guesses in the box of --within.
    #[arg(long, value_name = "N", default_value_t = 200, requires = "within")]
    pub guesses: usize,

    /// Appends the constraints that the model implies.
    #[arg(long)]
    pub complete: bool,

    /// One JSON object on standard output.
    #[arg(long)]
    pub json: bool,
}

fn formulation_list() -> Vec<&'static str> {
    dalembert::formulations::ALL.iter().map(|f| f.name()).collect()
}

fn elimination_list() -> Vec<&'static str> {
    dalembert::simulate::EVERY.iter().map(|e| e.name()).collect()
}

fn with_all(mut names: Vec<&'static str>) -> clap::builder::PossibleValuesParser {
    names.push("all");
    clap::builder::PossibleValuesParser::new(names)
}

fn formulation_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(dalembert::formulations::ALL.iter().map(|f| f.name()))
}

/// Kinds of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Unicode text for a terminal.
    Text,
    /// A complete LaTeX document.
    Latex,
    /// A self-contained page for the browser.
    Html,
    /// One JSON object.
    Json,
}

#[derive(ClapArgs)]
pub(crate) struct Gallery {
    /// Prints this example.
    pub name: Option<String>,

    /// Runs it instead: holds its checks against numbers, then simulates it.
    #[arg(long, requires = "name")]
    pub run: bool,
}

#[derive(ClapArgs)]
pub(crate) struct Explain {
    /// A code such as `unknown-name`; without one, all are listed.
    pub code: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct Help {
    /// `language`, or a command such as `run`; without one, what there is.
    pub topic: Option<String>,
}

#[derive(ClapArgs)]
pub(crate) struct New {
    /// Name of the file; `.dal` is added if it has no ending. `-` prints it.
    pub name: String,
}

#[derive(ClapArgs)]
pub(crate) struct Completions {
    /// Which shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
