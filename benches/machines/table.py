"""Machines beside Pinocchio: `python3 benches/machines/table.py` (packages `pin` and `numpy`).

Random trees of pins and sliders, some of them closed by loops, are written as models and built with
Pinocchio. At one state of each, with velocities that the loops allow, the mass matrix, the forces that
velocities and gravity make, the accelerations and the forces of the loops are held against each other;
then one evaluation of the accelerations is timed: here the compiled rates, there `pinocchio.aba`, or
`pinocchio.constraintDynamics` with loops, called from Python with its data made before. What a call from
Python costs is measured by a function that does next to nothing and taken off. `--growth` prints the times of
chains of 100, 300, 1000 and 3000 joints instead, `--agreement` the largest differences of 60 machines.

The example `machine` is built by cargo, unless `DALEMBERT_MACHINE` names it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program():
    given = os.environ.get("DALEMBERT_MACHINE")
    if given:
        return given
    subprocess.run(["cargo", "build", "--release", "--example", "machine"], cwd=ROOT, check=True)
    return str(ROOT / "target" / "release" / "examples" / "machine")


def run(paths, *options):
    command = [program(), *options, *map(str, paths)]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if found.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return [json.loads(line) for line in found.stdout.splitlines()]


def text(numbers):
    return "[" + ", ".join(repr(float(x)) for x in numbers) + "]"


def machine(pin, np, random, joints, loops, is_chain):
    """A model's text and the same for Pinocchio."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    lines = ["gravity [0, 0, -9.81]"]
    ids, path = [0], [0]
    start = []
    for k in range(1, joints + 1):
        # Depth first, as Pinocchio numbers them: each stands on the one before, or on what carries that.
        back = 0 if is_chain else int(random.choice(4, p=[0.55, 0.25, 0.1, 0.1]))
        del path[max(1, len(path) - back) :]
        parent = path[-1]
        path.append(k)
        place = np.zeros(3) if k == 1 else np.round(random.uniform(-0.5, 0.5, 3), 3)
        # Of any length in the text.
        along = [np.eye(3)[random.integers(3)], np.round(random.normal(size=3), 2)]
        along = along[random.integers(2)]
        axis = along / np.linalg.norm(along)
        is_slider = random.integers(6) == 0
        kind = pin.JointModelPrismaticUnaligned if is_slider else pin.JointModelRevoluteUnaligned
        ids.append(model.addJoint(ids[parent], kind(axis), pin.SE3(np.eye(3), place), f"j{k}"))
        mass = round(float(random.uniform(0.5, 2)), 3)
        center = np.round(random.uniform(-0.3, 0.3, 3), 3)
        size = np.round(random.uniform(0.1, 0.2, 3), 3)
        product = np.round(random.uniform(-0.01, 0.01, 3), 4)
        inertia = np.diag(size)
        for (i, j), x in zip([(0, 1), (0, 2), (1, 2)], product):
            inertia[i, j] = inertia[j, i] = x
        model.appendBodyToJoint(ids[k], pin.Inertia(mass, center, inertia), pin.SE3.Identity())
        first = "ground" if parent == 0 else f"b{parent}"
        word, name = ("slider", "slide") if is_slider else ("pin", "angle")
        six = text([*size, *product])
        lines.append(f"body b{k}: mass {mass}, inertia {six}, center {text(center)}")
        lines.append(f"joint j{k}: {word} {first} at {text(place)}, b{k}, axis {text(along)}")
        start.append(f"j{k}.{name}")
    q = random.uniform(-1, 1, joints)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    constraints, rows = [], []
    for c in range(loops):
        a = joints
        b = int(random.integers(1, max(2, joints // 2))) if c == 0 else 0
        # They meet where they are.
        on_a = np.round(random.uniform(-0.3, 0.3, 3), 3) + 0.2 * c
        meeting = data.oMi[ids[a]].act(on_a)
        on_b = data.oMi[ids[b]].actInv(meeting) if b else meeting
        constraints.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                model,
                ids[b],
                pin.SE3(np.eye(3), on_b),
                ids[a],
                pin.SE3(np.eye(3), on_a),
                pin.ReferenceFrame.LOCAL,
            )
        )
        first = f"b{b}" if b else "ground"
        lines.append(f"loop c{c}: ball {first} at {text(on_b)}, b{joints} at {text(on_a)}")
        rows.append((ids[a], on_a, ids[b], on_b))
    v = random.uniform(-1, 1, joints)
    if rows:
        pin.computeJointJacobians(model, data, q)
        full = []
        for a, on_a, b, on_b in rows:
            both = []
            for joint, arm in ((a, on_a), (b, on_b)):
                if joint == 0:
                    both.append(np.zeros((3, joints)))
                    continue
                jacobian = pin.getJointJacobian(
                    model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
                )
                lever = pin.skew(data.oMi[joint].rotation @ arm)
                both.append(jacobian[:3] - lever @ jacobian[3:])
            full.append(both[0] - both[1])
        full = np.vstack(full)
        v -= np.linalg.pinv(full) @ (full @ v)
    for name, at, rate in zip(start, q.tolist(), v.tolist()):
        lines.append(f"start {name} ~ {at!r}, {name}' ~ {rate!r}")
    return "\n".join(lines) + "\n", model, constraints, q, v


def median(call, seconds=0.6):
    times, begun = [], time.perf_counter()
    while time.perf_counter() - begun < seconds or len(times) < 5:
        clock = time.perf_counter()
        for _ in range(20):
            call()
        times.append((time.perf_counter() - clock) / 20)
    return sorted(times)[len(times) // 2]


def compare(cases, is_timed=True):
    import numpy as np
    import pinocchio as pin

    random = np.random.default_rng(7)
    tiny = pin.Model()
    tiny.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "j")
    one = tiny.createData()
    nothing = np.zeros(1)
    # A call with three arrays whose work is that of one joint.
    overhead = median(lambda: pin.aba(tiny, one, nothing, nothing, nothing)) if is_timed else 0.0
    rows = []
    # What is no number is no agreement.
    known = lambda x: float(x) if np.isfinite(x) else float("inf")
    for joints, loops, is_chain in cases:
        source, model, constraints, q, v = machine(pin, np, random, joints, loops, is_chain)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "machine.dal"
            path.write_text(source)
            own = run([path], *([] if is_timed else ["--untimed"]))[0]
        q, v = np.array(own["q"]), np.array(own["v"])
        n, m = own["n"], own["m"]
        data = model.createData()
        mass = pin.crba(model, data, q).copy()
        mass = np.triu(mass) + np.triu(mass, 1).T
        bias = pin.nonLinearEffects(model, data, q, v).copy()
        torque = np.zeros(n)
        forces = np.array(own["multipliers"])
        if constraints:
            settings = pin.ProximalSettings(1e-14, 0.0, 1)
            models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
            for c in constraints:
                models.append(c)
                datas.append(c.createData())
            pin.initConstraintDynamics(model, data, models, datas)

            def call():
                return pin.constraintDynamics(model, data, q, v, torque, models, datas, settings)

            accelerations = call().copy()
            # In the axes of the first side there, in inertial ones here; on the first there, on the
            # second here.
            there = []
            for c in constraints:
                at = data.oMi[c.joint1_id].rotation
                there.append(at @ data.lambda_c[len(there) * 3 : len(there) * 3 + 3])
            there = np.concatenate(there)
            loads = min(np.abs(there + forces).max(), np.abs(there - forces).max())
            loads = known(loads / max(1.0, np.abs(there).max()))
        else:

            def call():
                return pin.aba(model, data, q, v, torque)

            accelerations, loads = call().copy(), None
        off = lambda a, b: known(np.abs(a - b).max() / max(1.0, np.abs(b).max()))
        here = np.array(own["accelerations"])
        # What is left of A q̈ = b and M q̈ + h = Aᵀλ says which of the two is off, if they differ.
        rows.append(
            {
                "joints": joints,
                "loops": loops,
                "mass": off(np.array(own["mass"]).reshape(n, n), mass),
                "bias": off(-np.array(own["force"]), bias),
                "accelerations": off(here, accelerations),
                "loads": loads,
                "seconds": own["seconds"],
                "there": median(call) - overhead if is_timed else None,
            }
        )
    return rows


def agreement(count):
    """The largest differences of many small and middling machines."""
    # Loops of chains that are long enough to be closed by independent rows.
    cases = [(12 + (7 * k) % 29, k % 3, True) for k in range(count // 2)]
    cases += [(3 + (7 * k) % 38, 0, False) for k in range(count - count // 2)]
    parts = {"mass": [], "bias": [], "accelerations": [], "loads": []}
    for row in compare(cases, is_timed=False):
        for name, found in parts.items():
            found.append(row[name] or 0.0)
    print(", ".join(f"{name} {max(found):.1e}" for name, found in parts.items()))
    if max(map(max, parts.values())) > 1e-10:
        sys.exit("more than 1e-10")


def chain(joints):
    lines = ["param m = 1, l = 1", "gravity [0, 0, -9.81]"]
    for k in range(1, joints + 1):
        axis = "[0, 1, 0]" if k % 2 else "[1, 0, 0]"
        parent = "ground" if k == 1 else f"b{k - 1} at [0, 0, -l]"
        lines.append(
            f"body b{k}: mass m, inertia diag([m*l^2/12, m*l^2/12, m*l^2/100]), center [0, 0, -l/2]"
        )
        lines.append(f"joint j{k}: pin {parent}, b{k}, axis {axis}")
        lines.append(f"start j{k}.angle = {0.02 * ((7 * k) % 11) - 0.1:.3f}")
    return "\n".join([*lines, "run t = 0..1, tol 1e-8"]) + "\n"


def growth():
    print("| joints | text | derive and compile | one acceleration | 1 s of motion | steps |")
    print("|---|---|---|---|---|---|")
    for joints in (100, 300, 1000, 3000):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "chain.dal"
            path.write_text(chain(joints))
            own = run([path], "--growth")[0]
        motion, steps = "ends early", "–"
        if own["motion"] is not None:
            motion, steps = f"{own['motion']:.3g} s", own["steps"]
        print(
            f"| {joints} | {own['read']:.3g} s | {own['derive and compile']:.3g} s | "
            f"{own['acceleration'] * 1e6:.3g} µs | {motion} | {steps} |",
            flush=True,
        )


def main():
    if "--growth" in sys.argv:
        return growth()
    if "--agreement" in sys.argv:
        return agreement(60)
    cases = [(6, 0, True), (30, 0, False), (100, 0, False), (100, 0, True)]
    cases += [(6, 1, True), (30, 1, False), (30, 2, False), (100, 1, False)]
    print("| joints | loops | M | bias | q̈ | loads | one evaluation | Pinocchio | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    worst = 0.0
    for row in compare(cases):
        parts = [row["mass"], row["bias"], row["accelerations"], row["loads"] or 0.0]
        worst = max(worst, *parts)
        loads = "–" if row["loads"] is None else f"{row['loads']:.1e}"
        print(
            f"| {row['joints']} | {row['loops']} | {row['mass']:.1e} | {row['bias']:.1e} | "
            f"{row['accelerations']:.1e} | {loads} | {row['seconds'] * 1e6:.3g} µs | "
            f"{row['there'] * 1e6:.3g} µs | {row['seconds'] / row['there']:.2g} |",
            flush=True,
        )
    if worst > 1e-10:
        sys.exit(f"the largest difference is {worst:.1e}")


if __name__ == "__main__":
    main()
