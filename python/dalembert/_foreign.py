"""Functions of states that are arrays of JAX or PyTorch.

The values are computed on the host, in doubles, by the same compiled code. For JAX the call is a
``pure_callback``, so that it stands inside of ``jit``, ``vmap``, ``scan`` and solvers such as
diffrax; for PyTorch the answer is a tensor of the state's type on the state's device. There are no
gradients: JAX says so itself, and a tensor that asks for them is refused.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import _dalembert
from .errors import ArgumentError


def call(function: _dalembert.Function, t: Any, q: Any, v: Any, out: Any) -> Any:
    """The value of a function at a state, or at states that are columns."""
    if out is not None:
        raise ArgumentError("`out` is for NumPy's arrays; other libraries get a new one")
    given = [t, q] if v is None else [t, q, v]
    if any(type(x).__module__.partition(".")[0] == "torch" for x in given):
        return _torch(function, given)
    return _jax(function, given)


def _shape(function: _dalembert.Function, given: list[Any]) -> tuple[int, ...]:
    """The shape of the answer; the shapes of the states are checked as the function does it."""
    t, *states = (np.shape(x) for x in given)
    n, places, joined = function.size, function.places, len(given) == 2
    rows = (n + places,) if joined else (places, n)
    columns = states[0][1:]
    if len(columns) > 1 or states != [(count, *columns) for count in rows]:
        what = "y = (q, v)" if joined else "q and v"
        shapes = " and ".join(dict.fromkeys(f"({count},)" for count in rows))
        wide = " and ".join(dict.fromkeys(f"({count}, k)" for count in rows))
        found = " and ".join(str(list(shape)) for shape in states)
        raise ArgumentError(f"{what} must have shape {shapes}, or {wide} for k states, and has {found}")
    if t not in ((), columns) or (t and not columns):
        raise ArgumentError(f"times of shape {list(t)} do not fit states of {list(states[0])}")
    is_rate = joined and function.name == "acceleration"
    return (n + places, *columns) if is_rate else (*function.shape, *columns)


def _jax(function: _dalembert.Function, given: list[Any]) -> Any:
    import jax
    import jax.numpy as jnp

    arrays = [jnp.asarray(x) for x in given]
    shape = _shape(function, arrays)
    dtype = jnp.promote_types(arrays[1].dtype, jnp.float32)
    host = partial(_on_host, function, [x.ndim for x in arrays], np.dtype(dtype))
    answer = jax.ShapeDtypeStruct(shape, dtype)
    return jax.pure_callback(host, answer, *arrays, vmap_method="broadcast_all")


def _on_host(
    function: _dalembert.Function, axes: list[int], dtype: Any, *given: Any
) -> np.ndarray[Any, Any]:
    """The value where ``vmap`` may have put further axes before those of a state."""
    arrays = [np.asarray(x, dtype=float) for x in given]
    ahead = arrays[1].shape[: arrays[1].ndim - axes[1]]
    if not ahead:
        return function(*arrays).astype(dtype)
    count = int(np.prod(ahead))
    columns = arrays[1].shape[len(ahead) + 1 :]
    width = columns[0] if columns else 1

    def flat(array: Any) -> Any:
        """(…, n, k) as (n, …·k)."""
        rows = array.reshape(count, -1, width)
        return np.ascontiguousarray(np.moveaxis(rows, 1, 0)).reshape(rows.shape[1], -1)

    t = arrays[0].reshape(count, -1)
    times = np.broadcast_to(t, (count, width)).ravel()
    values = function(times, *(flat(x) for x in arrays[1:]))
    own = values.shape[:-1]
    apart = np.moveaxis(values.reshape(*own, count, width), -2, 0)
    return apart.reshape(*ahead, *own, *columns).astype(dtype)


def _torch(function: _dalembert.Function, given: list[Any]) -> Any:
    import torch

    tensors = [x for x in given if isinstance(x, torch.Tensor)]
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        raise ArgumentError(
            "this function has no gradients: call it with `tensor.detach()`, or within "
            "`torch.no_grad()`"
        )
    arrays = [_read(x) if isinstance(x, torch.Tensor) else x for x in given]
    _shape(function, arrays)
    like = next((x for x in given[1:] if isinstance(x, torch.Tensor)), tensors[0])
    dtype = like.dtype if like.dtype.is_floating_point else torch.get_default_dtype()
    return torch.from_numpy(function(*arrays)).to(dtype=dtype, device=like.device)


def _read(tensor: Any) -> np.ndarray[Any, Any]:
    """The values of a tensor on the host, of a type that NumPy has."""
    import torch

    try:
        plain = tensor.detach().resolve_neg().cpu()
        if plain.is_floating_point():
            plain = plain.to(torch.float64)
        return np.asarray(plain.numpy())
    except (RuntimeError, TypeError) as error:
        # A layer of `vmap` or `jvp` has none, nor has the device `meta`.
        raise ArgumentError(
            f"a tensor has no values that could be read here: {error}\nMany states are columns of one "
            "tensor, without `vmap`; there are no gradients"
        ) from error
