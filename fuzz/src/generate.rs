//! Inputs: bytes, token streams, mutated models.

use dalembert::Input;
use dalembert::model::lexicon;
use dalembert::model::load::Syntax;

/// Names and operators of the language beside its words, and some that are none of it.
const OTHER_TOKENS: &[&str] = &[
    "in",
    "along",
    "rising",
    "falling",
    "closes",
    "radius",
    "normal",
    "curve",
    "by",
    "static",
    "while",
    "stop",
    "x",
    "y",
    "th",
    "θ",
    "theta",
    "m",
    "g",
    "N",
    "i",
    "j",
    "p_x",
    "p_th",
    "a.x",
    "0",
    "1",
    "2",
    "3",
    "0.5",
    "1e-3",
    "1e308",
    "1e999",
    "99999999999",
    "1/0",
    "x'",
    "x''",
    "th[1]",
    "th[i]",
    "th[i-1]",
    "x^2",
    "[x, y]",
    "[1, 2, 3]",
    "1..N",
    "1..3",
    "+",
    "-",
    "*",
    "/",
    "^",
    "=",
    "~",
    ":",
    ",",
    ";",
    "->",
    "..",
    "'",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "<=",
    ">=",
    "\n",
    "\n",
    "\n",
    "#",
    "\"",
    "’",
    "²",
    "·",
    "−",
    "×",
    "==",
    "**",
    "\u{0}",
    "\u{feff}",
    "é",
    "𝛼",
    "```dal\n",
    "```\n",
    "```check\n",
];

/// Lines that together often make a model.
const LINES: &[&str] = &[
    "body b1: mass m, inertia 0.2, center [0.3, 0]",
    "body b2: mass 1, inertia 0.1, free",
    "body s1: mass 1, inertia [1, 1, 1.5], center [0, 0.1, -0.3]",
    "body s2: mass 1, inertia [1, 1, 1, 0.1, 0, 0.2], about [0, 0, 0]",
    "frame f on b1: at [0, 1], turning th",
    "frame f2",
    "joint j1: pin ground at [1, 0], b1 at [0.2, 0] turning 0.3",
    "joint j2: slider b1, b2, axis [1, 2]",
    "joint k1: pin ground, s1 turning Rx(0.3), axis [1, 1, 0]",
    "joint k2: universal s1 at [0, 0, 1], s2, axis [[1, 0, 0], [0, 1, 0]]",
    "joint k3: screw s1, s2, axis [0, 0, 1], pitch 0.2",
    "joint k4: ball ground, s2",
    "loop l1: pin b1 at [1, 0], b2",
    "loop l2: planar s2, s1, axis [[0, 0, 1], [0, 1, 0]]",
    "torque 0.3 on b1 from b2",
    "torque [0, x, 1] on s1",
    "spring s: 3, 0.2 between b1.position, [0, 1]",
    "spring 4 at j1.angle",
    "damper 0.3 at k1.angle",
    "force j1.angle: -0.2*j1.angle'",
    "force x: -0.3*x''",
    "friction 0.3 along x'",
    "friction rub: m*abs(multiplier(rod)) along [x', y' - 1], static 2*m",
    "friction -1 along x'^2",
    "contact c: 1 >= x, restitution 0.4",
    "contact c2: y >= 0, sliding x', friction 0.3, static 0.4, while abs(x) < 1 and y > -1",
    "contact c3: ground normal [0, 1], b2 radius 0.1, friction 0.3, restitution m",
    "contact c4: b1 at [0.1, 0], b2 radius -2",
    "contact c5: ground curve [s, 0.1*s^2] by s, b2 radius 0.1",
    "contact c6: s2 radius 0.3 axis [0, 1, 0], ground normal [0, 0, 1], friction 0.2",
    "contact c7: s1 radius 0.2, s2 radius 0.3, friction x",
    "contact c8: s2 normal [1, 1, 0], s1 normal [0, 0, 1]",
    "contact c9: c9.gap >= c.gap, while c9.mode > 0",
    "contact c10: y >= c3.gap + x, sliding c10.slip + x', friction rub.force, static c.mode",
    "contact c11: ground normal [0, c11.gap], b2 radius c10.gap, friction 0.2",
    "friction rub2: rub.force along rub2.force + y'",
    "friction rub3: multiplier(c) along [x', y'], static 3*multiplier(c)",
    "event e10: c opens -> x' = c.mode, y = multiplier(c)",
    "start c2.gap ~ 0.1, c3.gap = 0",
    "run t = 0..0.1, impacts in-turn",
    "joint r1: rolling ground normal [0, 0, 1], s2 radius 0.3",
    "joint r2: rolling ground normal [0, 1], b2 radius 0.3",
    "event e8: c closes -> y' = multiplier(c), x = x",
    "event e9: rub sticks -> stop",
    "observe c.gap, c.mode, rub.force, c3.force, c3.point, c6.slip, r1.force",
    "force x: -multiplier(c)*rub.force",
    "start c.gap = 0",
    "run t = 0..0.1, impacts at-once",
    "observe j1.force, k1.torque, k2.angle, s.length",
    "start j1.angle ~ 0.3, k1.angle = 0.4, b2.r = [1, 2]",
    "run t = 0..0.1, coordinates absolute",
    "let Phi(r) = -1/norm(r); gravity Phi",
    "coord x, y",
    "coord th[1..3]",
    "param m = 1, g = 9.81",
    "param a[1..3] = [1, 2, 3]",
    "const N = 3",
    "kinetic m/2*(x'^2 + y'^2)",
    "kinetic sum(i in 1..N, th[i]'^2/2)",
    "potential m*g*y",
    "potential cos(th[1])",
    "lagrangian x'*y - y'*x",
    "hamiltonian p_x^2/2 + p_y^2/2 + x^2",
    "dissipation x'^2/2",
    "force x: sin(t)",
    "force [1, 2] at [x, y]",
    "force -x' along x'",
    "nonideal y: -y'",
    "constraint rod: x^2 + y^2 = 1",
    "constraint x' = y*y'",
    "constraint x'' + y'' = 1",
    "constraint p_x = 2*p_y",
    "constraint [x, y] = [1, t]",
    "constraint k: x'^2 + y'^2 = 1",
    "speed w = x'*cos(y) + y'",
    "start x = 1, y ~ 0.5",
    "start th = 0.1",
    "run t = 0..10, tol 1e-9",
    "observe energy, x''",
    "observe multiplier(rod)",
    "event hit: y = 0 falling -> y' = -y'",
    "event e: x = 1 -> stop",
    "event e1: x' = y' rising -> x' = 2*x', y = y + 0.1",
    "event e2: multiplier(rod) = 0 -> y' = 0",
    "event e3: sin(1/x) = 0 -> x = 1 - x",
    "event e4: x'' = energy falling -> p_x = -p_x",
    "event e5: abs(x) - if(y > 0, x, y) = 0 -> w = 0, x' = reaction(x)",
    "event e6: t^2 = 0.1*t -> x' = 1/y, y' = x",
    "event e7: (x^2 + y^2) = 1 -> (x^2 + y^2)' = -(x^2 + y^2)'",
    "draw line [0, 0], [x, y]",
    "let r = [x, y]",
    "let f(a, b) = a*b + a'",
    "let q[0] = 0",
    "for i in 1..N { let q[i] = q[i-1] + th[i] }",
    "let z = f(x, y)'",
    "kinetic dot(r', r')/2",
    "potential if(x > 0 and y < 1, x^2, 0)",
    "potential norm(r) + abs(x) + min(x, y, 1)",
    "let R = Rz(x)*Rx(y)",
    "potential 1/(x - x)",
    "let u = u + 1",
    "kinetic x'^2/2*(sin(y)^2 + cos(y)^2)",
    "let deep = sin(sin(sin(sin(x))))",
    "input F = sin(t), u[1..2] = 0",
    "input F = x",
    "force x: F + u[1]'",
    "constraint y = u[2]",
    "output out = x + y, [x]",
    "state z' = x - z, w' = z*x'",
    "state z' = w', w' = z'",
    "force y: -z - w",
    "kinetic (2 + z)/2*x'^2",
    "constraint x = z",
    "start z = 1, w' = 0",
    "event tick: every 0.1 -> z = x, y' = 0",
    "event tock: every m -> stop",
    "constraint track by F: x = sin(t)",
    "constraint both by u[1], u[2]: [x, y] = [t, cos(t)]",
    "constraint few by F, u[1] weight [1, 2]: x + y = t^2",
    "constraint held by u[1] weight x: th[1] = 0.1*t",
    "constraint turned by F: j1.angle = 0.3*sin(t)",
    "constraint rate by F: x' = y",
    "input F, u[1..2]",
    "force y: u[1] + 2*F*x",
    "force j1.angle: F",
    "force x: F^2",
    "friction 0.2*abs(F) along y'",
    "observe F, multiplier(track), reaction(x), u",
    "state s_e' = F - multiplier(track)",
    "part one = \"nowhere.dal\" { F = -x, base = b1 }",
    "model leg { param l = 1\ninput F\nframe base\nbody shank: mass 1, inertia 0.1\njoint knee: pin base, shank\nforce knee.angle: F }",
    "part left = leg { base = b1, F = sin(t) }",
    "part right = leg { base = f, l = 0.5 }",
    "event e11: every 0.05 -> s_e = 0",
    "table h = [[0, 1, 2], [1, 2, 0]], monotone, extend",
    "force y: dot(h(x), [1, t])",
    "constraint mesh: 20*j1.angle = -35*k1.angle",
    "table f = [[0, 0], [1, 2], [2, 0]], cubic, repeat",
    "table f = [[0, 0], [1, 2]], hold",
    "potential f(x)",
    "force x: f(t)",
    "constraint y = f(x)",
    "use \"dal:solids\"",
    "let J = Raxis(rod(m, 1) + disk(m, x), y)",
    "potential det([[x, y], [y, 1]]) + mod(x, 2)*30*deg",
    "let inv = inverse([[1, x], [y, 2]])*r",
    "coord pitch as theta",
    "revolute knee: thigh, shank",
];

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }
}

/// The words of the language, and the other tokens.
fn tokens() -> Vec<&'static str> {
    let functions = lexicon::FUNCTIONS.iter().chain(lexicon::FREE_FUNCTIONS);
    let functions = functions.map(|function| function.0);
    let mut tokens: Vec<&str> = lexicon::STATEMENT_WORDS.into_iter().chain(functions).collect();
    for list in [
        lexicon::RESERVED,
        lexicon::BODY_MEMBERS,
        lexicon::BODY_FIELDS,
        lexicon::JOINT_MEMBERS,
        lexicon::JOINT_KINDS,
        lexicon::SIDE_FIELDS,
        lexicon::JOINT_FIELDS,
        lexicon::SPRING_MEMBERS,
        lexicon::RUN_OPTIONS,
        lexicon::SHAPES,
        lexicon::TABLE_OPTIONS,
        lexicon::FREE_NAMES,
        OTHER_TOKENS,
    ] {
        tokens.extend(list);
    }
    tokens
}

/// An endless supply of inputs.
pub struct Generator {
    random: Random,
    tokens: Vec<&'static str>,
    models: Vec<&'static str>,
}

impl Generator {
    /// The supply of a seed.
    pub fn new(seed: u64) -> Self {
        Generator {
            random: Random(seed),
            tokens: tokens(),
            models: dalembert::gallery::pages().map(|p| p.text).collect(),
        }
    }

    /// The next input and its overrides.
    pub fn next(&mut self) -> (Input, Vec<String>) {
        let (text, syntax) = match self.random.below(8) {
            0 => (self.bytes(), Syntax::Plain),
            1 => (self.bytes(), Syntax::Markdown),
            2 | 3 => (self.tokens(), Syntax::Plain),
            4 | 5 => (self.lines(), Syntax::Plain),
            _ => {
                // The shorter of two: long pages take long and fail the same way.
                let one = self.models[self.random.below(self.models.len())];
                let other = self.models[self.random.below(self.models.len())];
                let model = if one.len() < other.len() { one } else { other };
                (self.mutate(model), Syntax::Markdown)
            }
        };
        let set = match self.random.below(6) {
            0 => vec![self.override_text()],
            _ => Vec::new(),
        };
        (Input { name: "fuzz".into(), text, syntax, folder: None }, set)
    }

    fn bytes(&mut self) -> String {
        let length = self.random.below(120);
        let bytes: Vec<u8> = (0..length).map(|_| self.random.next() as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn tokens(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(60) {
            text.push_str(self.random.pick(&self.tokens));
            if self.random.below(3) > 0 {
                text.push(' ');
            }
        }
        text
    }

    fn lines(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..3 + self.random.below(14) {
            let line = self.random.pick(LINES);
            match self.random.below(12) {
                0 => text.push_str(&self.mutate(line)),
                _ => text.push_str(line),
            }
            text.push('\n');
        }
        text
    }

    /// Deletes, doubles, swaps, inserts.
    fn mutate(&mut self, text: &str) -> String {
        let mut pieces: Vec<char> = text.chars().collect();
        for _ in 0..1 + self.random.below(4) {
            if pieces.is_empty() {
                break;
            }
            let at = self.random.below(pieces.len());
            let length = 1 + self.random.below(12).min(pieces.len() - at - 1);
            match self.random.below(5) {
                0 => drop(pieces.drain(at..at + length)),
                1 => {
                    let copy: Vec<char> = pieces[at..at + length].to_vec();
                    let to = self.random.below(pieces.len());
                    pieces.splice(to..to, copy);
                }
                2 => {
                    let other = self.random.below(pieces.len());
                    pieces.swap(at, other);
                }
                _ => {
                    let token: Vec<char> = self.random.pick(&self.tokens).chars().collect();
                    pieces.splice(at..at, token);
                }
            }
        }
        pieces.into_iter().collect()
    }

    fn override_text(&mut self) -> String {
        const NAMES: &[&str] = &["m", "x", "x'", "N", "th[2]", "th", "g", "p_x", "zz", "a.b", ""];
        let (name, value) = (self.random.pick(NAMES), self.random.pick(&self.tokens));
        format!("{name}={value}")
    }
}
