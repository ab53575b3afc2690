//! What other tools write: words that begin their statements, and whole files of theirs. Each is
//! told once, with what to write here.

/// What to write for a word that begins a statement of another tool.
pub(super) fn statement(word: &str) -> Option<&'static str> {
    Some(match word {
        "revolute" | "hinge" => "a hinge is `joint knee: pin thigh, shank, axis [0, 1, 0]`",
        "prismatic" => "a slide is `joint rail: slider ground, cart, axis [1, 0, 0]`",
        "spherical" => "a ball joint is `joint hip: ball pelvis, thigh`",
        "weld" => "what is fixed together is `joint glue: fixed a, b`",
        "gear" => {
            "gears are a constraint between angles: `constraint mesh: 20*a.angle = -35*b.angle`"
        }
        "cable" => "a cable that may go slack is `contact cable: L >= norm(P - Q)`",
        "motor" | "actuator" => {
            "a motor is an input and a force: `input M = 0`, `force knee.angle: M`"
        }
        "sensor" => "what is measured is an output: `output tilt = th/deg`",
        "marker" | "site" => "a place on a body is `frame tip on arm: at [l, 0, 0]`",
        _ => return None,
    })
}

/// The tool that a whole text is of, and what to do with it.
pub(super) fn file(text: &str) -> Option<(&'static str, &'static str)> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('<') {
        if start.contains("<mujoco") {
            return Some((
                "an MJCF file of MuJoCo",
                "bodies become `body`, joints `joint`, a freejoint `free`, a motor an `input` and a `force`",
            ));
        }
        if start.contains("<robot") {
            return Some((
                "a URDF file",
                "links become `body` with `center` and six numbers of inertia, joints `joint … pin` or `slider`",
            ));
        }
        return None;
    }
    let begins = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    if begins("from sympy") || begins("import sympy") {
        return Some((
            "a program for SymPy",
            "write the energies, forces and constraints themselves; a derivative is a prime: `x'`",
        ));
    }
    let is_line = |word: &str| text.lines().any(|line| line.trim() == word);
    let ends = text.lines().any(|line| {
        let line = line.trim();
        line.starts_with("end ") && line.ends_with(';')
    });
    if is_line("equation") && ends && (begins("model ") || begins("class ") || begins("block ")) {
        return Some((
            "a Modelica model",
            "parameters become `param`, `Real` variables coordinates, and equations of motion are derived, not given",
        ));
    }
    None
}
