"""Three models with contacts, here and in MuJoCo as its time step goes to 0.

MuJoCo's contacts are soft: what they do in the limit of stiff contacts and small steps is what
rigid ones do. So its answers should come nearer to ours with each halving, and ours not move.

    pip install mujoco
    python3 benches/contact/mujoco_limit.py target/release/dal

prints a table in Markdown: the end value of each model by both, and by how much they differ.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import mujoco

# Elliptic cones and Newton's method to rounding; contacts as stiff as the step allows.
OPTION = (
    '<option timestep="{dt}" gravity="{down}" cone="elliptic" solver="Newton" iterations="200" tolerance="1e-14" '
    'impratio="{imp}" integrator="implicitfast"/>'
)
SOLID = 'solref="{ref} 1" solimp="0.9999 0.9999 0.001"'

# Blocks that do not turn; a tilted gravity is an incline.
SLIDES = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'

BLOCK = """
<mujoco>{option}
<worldbody>
<geom name="floor" type="plane" size="5 5 1" friction="0.6 0 0" {solid} condim="3"/>
<body pos="0 0 0.02">{slides}
<geom type="sphere" size="0.02" mass="1" friction="0.6 0 0" {solid} condim="3"/></body>
</worldbody></mujoco>
"""

BALL = """
<mujoco>{option}
<worldbody>
<geom name="floor" type="plane" size="5 5 1" friction="0.2 0 0" {solid} condim="3"/>
<body pos="0 0 0.1"><freejoint/>
<geom type="sphere" size="0.1" mass="0.2" friction="0.2 0 0" {solid} condim="3"/></body>
</worldbody></mujoco>
"""

STACK = """
<mujoco>{option}
<worldbody>
<geom name="floor" type="plane" size="5 5 1" friction="0.2 0 0" {solid} condim="3"/>
<body pos="0 0 0.1">{slides}<geom type="box" size="0.5 0.5 0.1" mass="2" friction="0.2 0 0" {solid} condim="3"/></body>
<body pos="0 0 0.3">{slides}<geom type="sphere" size="0.1" mass="1" friction="0.2 0 0" {solid} condim="3"/></body>
</worldbody></mujoco>
"""


def block_start(data):
    data.qvel[0] = 2


def ball_start(data):
    data.qvel[0] = 3.0


def stack_start(data):
    data.qvel[0] = 1.0
    data.qvel[2] = 1.5


# name, MJCF, start, end time, the value there, our model and what it is called there.
MODELS = [
    (
        "block stops on an incline",
        BLOCK,
        block_start,
        1.0,
        lambda d, s: d.qpos[0],
        """param g = 9.81, alpha = 0.3, h = 0.02, a = 0.2
gravity [g*sin(alpha), -g*cos(alpha)]
body block: mass 1, inertia (a^2 + h^2)/3, free
contact l: ground normal [0, 1], block at [-a, -h], friction 0.6
contact r: ground normal [0, 1], block at [a, -h], friction 0.6
start block.r = [0, h], block.r[1]' = 2
run t = 0..1, tol 1e-11
""",
        "block.r[1]",
    ),
    (
        "ball from slip to rolling",
        BALL,
        ball_start,
        1.0,
        lambda d, s: d.qpos[0] - s[0],
        """param g = 9.81, r = 0.1
gravity [0, -g]
body ball: mass 0.2, inertia 2/5*0.2*r^2, free
contact f: ground normal [0, 1], ball radius r, friction 0.2
start ball.r = [0, r], ball.r[1]' = 3
run t = 0..1, tol 1e-11
""",
        "ball.r[1]",
    ),
    (
        "two blocks slide on each other",
        STACK,
        stack_start,
        1.0,
        lambda d, s: d.qpos[2],
        """param g = 9.81, h = 0.1
gravity [0, -g]
body one: mass 2, inertia 2*(0.5^2 + h^2)/3, free
body two: mass 1, inertia (0.2^2 + h^2)/3, free
contact l: ground normal [0, 1], one at [-0.5, -h], friction 0.2
contact r: ground normal [0, 1], one at [0.5, -h], friction 0.2
contact p: one at [0, h] normal [0, 1], two at [-0.2, -h], friction 0.2
contact q: one at [0, h] normal [0, 1], two at [0.2, -h], friction 0.2
start one.r = [0, h], two.r = [0, 3*h], one.r[1]' = 1, two.r[1]' = 1.5
run t = 0..1, tol 1e-11
""",
        "two.r[1]",
    ),
]


def theirs(text, start, end, value, dt):
    tilt = 0.3 if start is block_start else 0.0
    down = f"{9.81 * math.sin(tilt)} 0 {-9.81 * math.cos(tilt)}"
    option = OPTION.format(dt=dt, imp=1e4, down=down)
    model = mujoco.MjModel.from_xml_string(
        text.format(option=option, solid=SOLID.format(ref=2 * dt), slides=SLIDES)
    )
    data = mujoco.MjData(model)
    start(data)
    first = data.qpos.copy()
    for _ in range(round(end / dt)):
        mujoco.mj_step(model, data)
    return value(data, first)


def ours(dal, text, name):
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "model.dal", Path(folder) / "out.json"
        path.write_text(text)
        subprocess.run([dal, "run", path, "--json"], check=True, stdout=out.open("w"))
        found = json.loads(out.read_text())
    return found["state"][name]


def main():
    dal = sys.argv[1]
    steps = [2e-3, 5e-4, 1.25e-4, 3.125e-5]
    head = " | ".join(f"dt = {dt:g}" for dt in steps)
    print(f"| model | here | {head} |")
    print("|---" * (len(steps) + 2) + "|")
    for name, text, start, end, value, model, key in MODELS:
        exact = ours(dal, model, key)
        off = [theirs(text, start, end, value, dt) - exact for dt in steps]
        cells = " | ".join(f"{o:+.1e}" for o in off)
        print(f"| {name} | {exact:.9f} | {cells} |")


if __name__ == "__main__":
    main()
