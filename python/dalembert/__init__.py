"""Equations of motion of constrained mechanical systems: derived, run, certified.

A model is written the way a textbook does it.

>>> import dalembert
>>> pendulum = dalembert.System('''
...     param m = 1, g = 9.81, l = 2
...     coord x, y
...     kinetic m/2*(x'^2 + y'^2)
...     potential m*g*y
...     constraint rod: x^2 + y^2 = l^2
...     start x = 2
... ''')
>>> motion = pendulum.simulate(10, tol=1e-10)
>>> motion.certificate.holds
True
>>> bool(abs(motion["x"]**2 + motion["y"]**2 - 4).max() < 1e-9)
True
"""

from __future__ import annotations

from ._answers import Answer, Diagnostics
from ._dalembert import Function, __version__
from ._result import Certificate, Moment, Result
from ._scipy import solve_ivp
from ._sweep import Study, work
from ._symbols import Builder, Part, Symbol, cos, exp, function, log, sin, sqrt, tan
from ._system import System, check, gallery
from .errors import Error

__all__ = [
    "Answer",
    "Builder",
    "Certificate",
    "Diagnostics",
    "Error",
    "Function",
    "Moment",
    "Part",
    "Result",
    "Study",
    "Symbol",
    "System",
    "__version__",
    "check",
    "cos",
    "errors",
    "exp",
    "function",
    "gallery",
    "log",
    "sin",
    "solve_ivp",
    "sqrt",
    "tan",
    "work",
]
