"""Checks factorisations. Reads cases (JSON) from standard input: name, arguments, and arrays by name (dtype, shape, bytes in base64), all float64 or
complex128. Writes for each how far its results are from what they should be, as a list: beside the least that float64 allows, in units of it, and
beside one unit in the last place of the result's dtype (`unit`), which results were rounded to."""
import base64
import json
import sys

import numpy as np

LA = np.linalg


def array(a):
    return np.frombuffer(base64.b64decode(a['bytes']), dtype=a['dtype']).reshape(a['shape'])


def size(x):
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=(-2, -1))) if x.ndim > 1 else LA.norm(x)


def worst(error, scale, unit):
    """The greatest error of a stack, in units of the scale."""
    error = np.asarray(error, dtype=float)
    scale = np.broadcast_to(np.asarray(scale, dtype=float), error.shape)
    assert not np.any(np.isnan(error)), 'nan'
    most = float(np.max(error / (scale * unit + 1e-300), initial=0))
    return most if np.isfinite(most) else 1e300


def star(x):
    return np.swapaxes(x, -1, -2).conj()


def orthonormal(q, unit):
    eye = np.eye(q.shape[-1])
    return worst(size(star(q) @ q - eye), 1 + size(eye), unit)


def check(case):
    a, unit, name = array(case['a']), case['unit'], case['name']
    r = {key: array(value) for key, value in case['results'].items()}
    y = r.get('y')
    n = a.shape[-1]
    batch = a.shape[:-2]
    if name == 'inv':
        return [worst(size(a @ y - np.eye(n)), size(a) * size(y) + 1, unit)]
    if name == 'solve':
        b = array(case['b'])
        columns = b[..., None] if b.ndim == 1 else b
        wide = y[..., None] if b.ndim == 1 else y
        assert wide.shape == np.broadcast_shapes(batch, columns.shape[:-2]) + columns.shape[-2:], wide.shape
        return [worst(size(a @ wide - columns), size(a) * size(wide) + size(columns), unit)]
    if name == 'det':
        assert y.shape == batch
        return [worst(np.abs(y - LA.det(a)), np.prod(np.sqrt(np.sum(np.abs(a) ** 2, -1)), -1) * max(n, 1), unit)]
    if name == 'slogdet':
        sign, log = LA.slogdet(a)
        kappa = LA.cond(a) if n else np.ones(batch)
        apart = np.where(np.isinf(log), np.where(r['logabsdet'] < -30 * n, 0, 1), np.abs(r['logabsdet'] - np.where(np.isinf(log), 0, log)))
        return [worst(np.abs(sign - r['sign']), 1 + kappa * n, unit), worst(apart, 1 + np.abs(np.where(np.isinf(log), 0, log)) + kappa * n, unit)]
    if name == 'matrixPower':
        wanted = LA.matrix_power(a, case['n'])
        power = abs(case['n'])
        base = size(a) if case['n'] >= 0 or n == 0 else size(LA.inv(a)) * LA.cond(a)
        return [worst(size(y - wanted), base ** power + 1 if case['n'] >= 0 else base ** power * 10, unit)]
    if name == 'cholesky':
        low = star(y) if case['upper'] else y
        assert np.all(np.triu(low, 1) == 0) and np.all(np.diagonal(low, axis1=-2, axis2=-1).real > 0)
        full = np.tril(a, -1) + star(np.tril(a, -1)) + np.eye(n) * a.real
        return [worst(size(low @ star(low) - full), size(full), unit)]
    if name == 'qr':
        q, t = r['q'], r['r']
        m = a.shape[-2]
        k = m if case['complete'] else min(m, n)
        assert q.shape == batch + (m, k) and t.shape == batch + (k, n), (q.shape, t.shape)
        assert np.all(np.tril(t, -1) == 0)
        return [worst(size(q @ t - a), size(a), unit), orthonormal(q, unit)]
    if name == 'eigh':
        full = np.tril(a, -1) + star(np.tril(a, -1)) + np.eye(n) * a.real
        values, v = r['eigenvalues'], r['eigenvectors']
        assert np.all(np.diff(values, axis=-1) >= 0)
        return [worst(size(full @ v - v * values[..., None, :]), size(full), unit), orthonormal(v, unit),
                worst(np.max(np.abs(values - LA.eigvalsh(full)), axis=-1, initial=0), size(full), unit),
                worst(np.max(np.abs(values - r['alone']), axis=-1, initial=0), size(full), unit)]
    if name == 'svd':
        u, s, vh = r['u'], r['s'], r['vh']
        m, k = a.shape[-2], min(a.shape[-2:])
        assert u.shape == batch + (m, m if case['full'] else k) and vh.shape == batch + (n if case['full'] else k, n)
        assert np.all(s >= 0) and np.all(np.diff(s, axis=-1) <= 0)
        wanted = LA.svd(a, compute_uv=False) if k else np.zeros(batch + (0,))
        return [worst(size((u[..., :k] * s[..., None, :]) @ vh[..., :k, :] - a), size(a), unit), orthonormal(u, unit), orthonormal(star(vh), unit),
                worst(np.max(np.abs(s - wanted), axis=-1, initial=0), size(a), unit), worst(np.max(np.abs(s - r['alone']), axis=-1, initial=0), size(a), unit)]
    if name == 'pinv':
        wanted = LA.pinv(a, rcond=case['rtol'])
        s = LA.svd(a, compute_uv=False) if min(a.shape[-2:]) else np.ones(batch + (1,))
        kept = np.where(s > case['rtol'] * s[..., :1], s, np.inf)
        kappa = s[..., 0] / np.min(kept, axis=-1)
        return [worst(size(y - wanted), size(wanted) * (1 + kappa) * 4, unit)]
    if name == 'matrixRank':
        s = LA.svd(a, compute_uv=False) if min(a.shape[-2:]) else np.zeros(batch + (0,))
        wanted = np.sum(s > case['rtol'] * s[..., :1], axis=-1)
        return [0 if np.array_equal(wanted, y) else 1e9]
    if name == 'matrixNorm':
        order = {'inf': np.inf, '-inf': -np.inf}.get(case['ord'], case['ord'])
        wanted = LA.norm(a, order, axis=(-2, -1), keepdims=case['keepdims'])
        assert wanted.shape == y.shape, (wanted.shape, y.shape)
        return [worst(np.abs(y - wanted).ravel(), LA.norm(a, 'fro', axis=(-2, -1)).ravel(), unit)]
    if name == 'trace':
        wanted = np.trace(a, case['offset'], axis1=-2, axis2=-1)
        return [worst(np.abs(y - wanted), 1 + np.abs(wanted), unit)]
    raise ValueError(name)


def told(case):
    try:
        return check(case)
    except Exception as error:  # the test shows it
        return [f'{type(error).__name__}: {error}']


np.seterr(all='ignore')
json.dump([told(case) for case in json.load(sys.stdin)], sys.stdout)
