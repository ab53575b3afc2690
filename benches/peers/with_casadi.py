"""CasADi's rows: the planar pendulum of N links from T and V to its accelerations, by its virtual
machine and by C that a compiler builds; with `--precision` the motions by SUNDIALS' CVODES, on
accelerations that are eliminated (dependent rows are left out)."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import casadi as ca
import numpy as np
from mechanics import MOTIONS, by_hand, error, model
from rows import say


def accelerations(n):
    """A function of q and v; M and the forces by derivatives of L, then LDL'."""
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    kinetic = potential = vx = vy = y = ca.SX(0)
    for i in range(n):
        vx = vx + 0.5 * ca.cos(q[i]) * v[i]
        vy = vy + 0.5 * ca.sin(q[i]) * v[i]
        y = y - 0.5 * ca.cos(q[i])
        kinetic = kinetic + (vx * vx + vy * vy) / 2
        potential = potential + 9.81 * y
    p = ca.gradient(kinetic, v)
    force = ca.gradient(kinetic - potential, q) - ca.jtimes(p, q, v)
    return ca.Function("f", [q, v], [ca.solve(ca.jacobian(p, v), force)], {"cse": True})


def median(call, patience=0.4):
    times, clock = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - clock < patience:
        own = time.perf_counter()
        call()
        times.append(time.perf_counter() - own)
    return statistics.median(times)


def derive(n):
    state = [np.full(n, 0.3), np.full(n, 0.1)]
    return {"seconds": median(lambda: accelerations(n)(*state)), "note": "virtual machine"}


def called(function, n, inner):
    buffer, call = function.buffer()
    q, v, a = np.full(n, 0.3), np.full(n, 0.1), np.zeros(n)
    buffer.set_arg(0, memoryview(q))
    buffer.set_arg(1, memoryview(v))
    buffer.set_res(0, memoryview(a))
    # Calls from Python cost as much as the function: those of a loop over many states.
    many = function.map(inner)
    buffer, call = many.buffer()
    q, v, a = (np.tile(x, inner) for x in (q, v, a))
    buffer.set_arg(0, memoryview(q))
    buffer.set_arg(1, memoryview(v))
    buffer.set_res(0, memoryview(a))
    return median(call) / inner


def evaluate(n, quick):
    function = accelerations(n)
    inner = max(1, 5000 // n)
    if quick and n > 20:
        return {"seconds": called(function, n, inner), "note": "virtual machine"}
    compiler = shutil.which("cc") or shutil.which("gcc")
    with tempfile.TemporaryDirectory() as folder:
        clock = time.perf_counter()
        source = function.generate("f.c", {"with_header": False})
        shutil.move(source, f"{folder}/f.c")
        command = [compiler, "-O3", "-march=native", "-ffast-math", "-fPIC", "-shared"]
        subprocess.run(command + ["f.c", "-o", "f.so"], cwd=folder, check=True)
        setup = time.perf_counter() - clock
        built = ca.external("f", f"{folder}/f.so")
        return {"seconds": called(built, n, inner), "setup": setup, "note": "C by the compiler"}


def motion(name):
    """The rates of a motion's state."""
    n = len(MOTIONS[name][2])
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    lists = ca.vertsplit(q), ca.vertsplit(v)
    found = by_hand(name, *lists)
    if found is None:
        kinetic, potential, forces, positions, velocities = model(name, (ca.sin, ca.cos, ca.sqrt), *lists)
        p = ca.gradient(kinetic, v)
        force = ca.gradient(kinetic - potential, q) + ca.vertcat(*forces) - ca.jtimes(p, q, v)
        rows = ca.vertcat(*[ca.jtimes(f, q, v) for f in positions], *velocities)
        a, count = ca.jacobian(rows, v), rows.size1()
        matrix = ca.vertcat(ca.horzcat(ca.jacobian(p, v), a.T), ca.horzcat(a, ca.SX(count, count)))
        # Pivots of the multipliers' block are not 0 once the masses are eliminated.
        found = ca.solve(matrix, ca.vertcat(force, -ca.jtimes(rows, q, v)))[:n]
    else:
        found = ca.vertcat(*found)
    return {"x": ca.vertcat(q, v), "ode": ca.vertcat(v, found)}


def precision(name):
    end, _, q0, v0 = MOTIONS[name]
    system, start = motion(name), np.array(q0 + v0)
    for tolerance in [10.0**-k for k in range(4, 15)]:
        options = {"abstol": tolerance, "reltol": tolerance, "max_num_steps": 10**5}
        run = ca.integrator("run", "cvodes", system, 0.0, end, options)
        clock = time.perf_counter()
        try:
            last = np.array(run(x0=start)["xf"]).ravel()
        except RuntimeError:
            break
        if time.perf_counter() - clock > 1.0:
            break
        found = {"method": "cvodes", "tolerance": tolerance, "error": error(name, last[: len(q0)])}
        say(name, "CasADi", {**found, "seconds": median(lambda: run(x0=start), 0.05)})


if __name__ == "__main__":
    if "--precision" in sys.argv:
        for name in [a for a in sys.argv[1:] if a in MOTIONS]:
            precision(name)
        sys.exit()
    quick = "--quick" in sys.argv
    for row in [a for a in sys.argv[1:] if not a.startswith("-")] or ["derive-10", "evaluate-10"]:
        kind, _, size = row.rpartition("-")
        if kind == "derive":
            say(row, "CasADi", derive(int(size)))
        if kind == "evaluate":
            say(row, "CasADi", evaluate(int(size), quick))
