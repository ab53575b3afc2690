"""Ends of many motions by heyoka: its integrator of batches, one for each of two threads, in a plain loop.

    with_heyoka.py NAME STARTS ENDS COUNT TOLERANCE        prints the least seconds of five turns

The pendulum on the sphere has its multiplier eliminated by hand.
"""

import copy
import sys
import threading
import time

import heyoka as hy
import numpy as np

hy.llvm_state.set_diskcache_enabled(False)
name, starts, ends, count, tolerance = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])

if name == "spherical":
    x, y, z, u, v, w = hy.make_vars("x", "y", "z", "u", "v", "w")
    by = (9.81 * z - (u * u + v * v + w * w)) / (x * x + y * y + z * z)
    system = [(x, u), (y, v), (z, w), (u, by * x), (v, by * y), (w, by * z - 9.81)]
else:
    a, b, u, v = hy.make_vars("a", "b", "u", "v")
    c, s = hy.cos(a - b), hy.sin(a - b)
    first, second = -v * v * s - 19.62 * hy.sin(a), u * u * s - 9.81 * hy.sin(b)
    det = 2.0 - c * c
    system = [(a, u), (b, v), (u, (first - c * second) / det), (v, (2.0 * second - c * first) / det)]

size = len(system)
states = np.fromfile(starts).reshape(-1, size)[:count]
batch = hy.recommended_simd_size()
groups = states[: count // batch * batch].reshape(-1, batch, size).transpose(0, 2, 1).copy()
first = hy.taylor_adaptive_batch(system, groups[0], tol=tolerance)
own = [first, copy.deepcopy(first)]
found = np.empty_like(groups)


def work(number):
    integrator = own[number]
    for at in range(number, len(groups), len(own)):
        integrator.set_time(0.0)
        integrator.state[:] = groups[at]
        integrator.propagate_until(10.0)
        found[at] = integrator.state


least = 1e9
for _ in range(5):
    clock = time.perf_counter()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(own))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    least = min(least, time.perf_counter() - clock)
found.transpose(0, 2, 1).reshape(-1, size).tofile(ends)
print(f"{least:.6e}")
