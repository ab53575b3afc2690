"""Functions of states that are arrays of JAX or PyTorch."""

import numpy as np
import pytest

import dalembert
from dalembert import errors

#: States of the pendulum, on its rod.
ANGLES = np.linspace(0.1, 3, 7)
Q = 2 * np.array([np.cos(ANGLES), np.sin(ANGLES)])
V = np.array([-np.sin(ANGLES), np.cos(ANGLES)])


@pytest.fixture
def jax():  # type: ignore[no-untyped-def]
    library = pytest.importorskip("jax")
    library.config.update("jax_enable_x64", True)
    return library


def test_jax_arrays(pendulum: dalembert.System, jax) -> None:  # type: ignore[no-untyped-def]
    f, jnp = pendulum.function("acceleration"), jax.numpy
    q, v = jnp.asarray(Q), jnp.asarray(V)
    found = f(0.0, q, v)
    assert isinstance(found, jax.Array) and np.array_equal(found, f(0.0, Q, V))
    assert np.array_equal(f(0.0, q[:, 0], v[:, 0]), f(0.0, Q[:, 0], V[:, 0]))
    assert np.array_equal(f(0.0, jnp.concatenate([q, v])), f(0.0, np.concatenate([Q, V])))
    single = f(jnp.float32(0), q.astype("float32"), v.astype("float32"))
    assert single.dtype == jnp.float32 and np.allclose(single, found, atol=1e-4)
    with pytest.raises(errors.ArgumentError, match=r"q and v must have shape \(2,\)"):
        f(0.0, q[:1], v[:1])
    with pytest.raises(errors.ArgumentError, match="`out` is for NumPy"):
        f(0.0, q, v, out=np.empty((2, 7)))


def test_jax_transformations(pendulum: dalembert.System, jax) -> None:  # type: ignore[no-untyped-def]
    jnp = jax.numpy
    f = pendulum.function("acceleration")
    right = f(0.0, Q, V)
    assert np.array_equal(jax.jit(f)(0.0, Q, V), right)
    each = jax.jit(jax.vmap(lambda q, v: f(0.0, q, v), in_axes=1, out_axes=1))
    assert np.array_equal(each(Q, V), right)
    # Axes before axes, one of them of the time only.
    times = jnp.arange(3.0)
    driven = dalembert.System("coord x, y; kinetic x'^2/2 + y'^2/2; force x: t*y; force y: t^2")
    g = driven.function("acceleration")
    grid = jax.vmap(lambda t: jax.vmap(lambda q: g(t, q, q), in_axes=1)(Q))(times)
    assert grid.shape == (3, 7, 2)
    for t, row in zip(times, grid):
        assert np.array_equal(row, g(float(t), Q, Q).T)
    columns = jax.vmap(lambda t: g(t, jnp.asarray(Q), jnp.asarray(Q)))(times)
    assert np.array_equal(columns[2], g(2.0, Q, Q))
    mass = jax.vmap(lambda q: pendulum.function("jacobian")(0.0, q, q), in_axes=1)(Q)
    assert mass.shape == (7, 1, 2) and np.array_equal(mass[:, 0], 2 * Q.T)


def test_a_solver_in_jax(pendulum: dalembert.System, jax) -> None:  # type: ignore[no-untyped-def]
    """Runge and Kutta's steps in a compiled loop come to where ours come."""
    f, h = pendulum.function("acceleration"), 0.001

    @jax.jit
    def run(y):  # type: ignore[no-untyped-def]
        def step(y, _):  # type: ignore[no-untyped-def]
            a = f(0.0, y)
            b = f(0.0, y + h / 2 * a)
            c = f(0.0, y + h / 2 * b)
            d = f(0.0, y + h * c)
            return y + h / 6 * (a + 2 * b + 2 * c + d), None

        return jax.lax.scan(step, y, None, length=500)[0]

    found = run(jax.numpy.array([2.0, 0.0, 0.0, 0.0]))
    assert np.allclose(found, pendulum.simulate(0.5, tol=1e-12).y[:, -1], atol=1e-9)


def test_torch_tensors(pendulum: dalembert.System) -> None:
    torch = pytest.importorskip("torch")
    f = pendulum.function("acceleration")
    q, v = torch.tensor(Q), torch.tensor(V)
    found = f(0.0, q, v)
    assert isinstance(found, torch.Tensor) and found.dtype == torch.float64
    assert np.array_equal(found.numpy(), f(0.0, Q, V))
    assert f(torch.tensor(0.0), q.float(), v.float()).dtype == torch.float32
    with pytest.raises(errors.ArgumentError, match="no gradients"):
        f(0.0, q.requires_grad_(), v)
    with torch.no_grad():
        assert np.array_equal(f(0.0, q, v).numpy(), found.numpy())
    # One state, y = (q, v), integers, times of their own, a time beside NumPy's arrays.
    assert torch.equal(f(0.0, q[:, 0].detach(), v[:, 0]), found[:, 0])
    y = torch.cat([q.detach(), v])
    assert torch.equal(f(0.0, y)[2:], found) and torch.equal(f(0.0, y)[:2], v)
    whole = f(0, torch.tensor([2, 0]), torch.tensor([0, 1]))
    assert whole.dtype == torch.get_default_dtype() and np.allclose(whole.numpy(), [-0.5, -9.81])
    driven = dalembert.System("coord x, y; kinetic x'^2/2 + y'^2/2; force x: t*y; force y: t^2")
    g, times = driven.function(), torch.linspace(0, 1, 7, dtype=torch.float64)
    assert np.array_equal(g(times, q.detach(), v).numpy(), g(times.numpy(), Q, V))
    assert isinstance(g(torch.tensor(0.5), Q, V), torch.Tensor)
    assert pendulum.function("jacobian")(0.0, q.detach(), v).shape == (1, 2, 7)
    with pytest.raises(errors.ArgumentError, match=r"q and v must have shape \(2,\)"):
        f(0.0, q.detach()[:1], v[:1])
    with pytest.raises(errors.ArgumentError, match="`out` is for NumPy"):
        f(0.0, q.detach(), v, out=np.empty((2, 7)))
    # Types and layouts that NumPy has not.
    few = f(0.0, torch.tensor([2.0, 0.0]).bfloat16(), torch.tensor([0.0, 1.0]).bfloat16())
    assert few.dtype == torch.bfloat16 and np.allclose(few.float().numpy(), [-0.5, -9.81], rtol=1e-2)
    assert torch.equal(f(0.0, torch._neg_view(-q.detach()), v), found)
    assert torch.equal(f(0.0, q.detach().T.contiguous().T, v), found)
    with pytest.raises(errors.ArgumentError, match="must be real"):
        f(0.0, q.detach().to(torch.complex128), v)
    # What has no values here is said to have none.
    for ask in (
        lambda: torch.func.vmap(lambda q, v: f(0.0, q, v))(q.detach().T, v.T),
        lambda: torch.func.jvp(lambda v: f(0.0, q.detach(), v), (v,), (v,)),
        lambda: f(0.0, q.detach().to("meta"), v),
        lambda: f(0.0, q.detach().to_sparse(), v),
    ):
        with pytest.raises(errors.ArgumentError, match="no values that could be read"):
            ask()
    # A solver made of tensors comes to where ours comes.
    h, z = 0.001, torch.tensor([2.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    for _ in range(500):
        a = f(0.0, z)
        b = f(0.0, z + h / 2 * a)
        c = f(0.0, z + h / 2 * b)
        z = z + h / 6 * (a + 2 * b + 2 * c + f(0.0, z + h * c))
    assert np.allclose(z.numpy(), pendulum.simulate(0.5, tol=1e-12).y[:, -1], atol=1e-9)
