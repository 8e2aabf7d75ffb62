"""Images as their definitions have them, in float64. Reads cases (JSON) from standard input: name, dtype, shape, bytes (base64) and options.
Writes for each its result's shape and values, and of resize with `torch` how far PyTorch is from that, where it is there."""
import base64
import json
import sys

import numpy as np


def source(case):
    raw = base64.b64decode(case['bytes'])
    if case['dtype'] == 'bfloat16':
        bits = np.frombuffer(raw, dtype=np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(case['shape'])
    return np.frombuffer(raw, dtype=case['dtype']).reshape(case['shape'])


def cubic(x, a):
    x = np.abs(x)
    near = (a + 2) * x ** 3 - (a + 3) * x ** 2 + 1
    far = a * (x ** 3 - 5 * x ** 2 + 8 * x - 4)
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def weights(n, m, method, antialias):
    """The matrix from n elements to m."""
    centre = (np.arange(m) + 0.5) * n / m
    made = np.zeros((m, n))
    rows = np.arange(m)
    if method == 'nearest':
        made[rows, ((2 * rows + 1) * n) // (2 * m)] = 1
    elif antialias:
        x = (np.arange(n) + 0.5 - centre[:, None]) / max(n / m, 1)
        made = np.maximum(1 - np.abs(x), 0) if method == 'bilinear' else cubic(x, -0.5)
        made /= made.sum(axis=1, keepdims=True)
    else:
        at = centre - 0.5
        below = np.floor(at).astype(int)
        for k in range(-1, 3):
            x = at - (below + k)
            by = np.maximum(1 - np.abs(x), 0) if method == 'bilinear' else cubic(x, -0.75)
            np.add.at(made, (rows, np.clip(below + k, 0, n - 1)), by)
    return made


def pytorch():
    """Is imported where it is asked for: that takes seconds."""
    try:
        import torch
        return torch
    except ImportError:
        return None


def interpolated(torch, x, case):
    """By PyTorch, of images whose rows and columns are the last axes."""
    batch = torch.from_numpy(np.ascontiguousarray(x)).reshape((-1, 1) + x.shape[-2:])
    mode = case['method'] if case['method'] != 'nearest' else 'nearest-exact'
    options = {} if case['method'] == 'nearest' else {'antialias': case['antialias'], 'align_corners': False}
    return torch.nn.functional.interpolate(batch, tuple(case['size']), mode=mode, **options).numpy().reshape(x.shape[:-2] + tuple(case['size']))


def resize(x, case):
    x = np.moveaxis(x.astype(np.float64), case['axes'], (-2, -1))
    h, w = case['size']
    made = weights(x.shape[-2], h, case['method'], case['antialias']) @ x @ weights(x.shape[-1], w, case['method'], case['antialias']).T
    off = None
    torch = pytorch() if case.get('torch') and case['method'] != 'nearest' else None
    if torch is not None:
        off = float(np.max(np.abs(interpolated(torch, x, case) - made), initial=0))
    return np.moveaxis(made, (-2, -1), case['axes']), off


def pad(x, case):
    options = {'constant_values': case['value']} if case['mode'] == 'constant' else {}
    if x.ndim == 0:
        return x, None
    return np.pad(x, case['widths'], mode=case['mode'], **options), None


def iou(x, case):
    a, b = x[:, None].astype(np.float64), np.array(case['other'], dtype=np.float64)[None]
    inner = np.maximum(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]), 0).prod(-1)
    return inner / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - inner), None


def nms(x, case):
    """Greedy, of float32, as torchvision has it."""
    x = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
    scores = np.array(case['scores'])
    alive = np.ones(len(x), bool) if case['least'] is None else scores > case['least']
    area = (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])
    kept = []
    for i in np.argsort(-scores, kind='stable'):
        if not alive[i]:
            continue
        kept.append(i)
        inner = np.maximum(np.minimum(x[i, 2:], x[:, 2:]) - np.maximum(x[i, :2], x[:, :2]), 0).prod(-1)
        beyond = (inner / (area[i] + area - inner)).astype(np.float64) > case['most']
        if case['classes'] is not None:
            classes = np.array(case['classes'])
            beyond &= classes == classes[i]
        alive &= ~beyond
    return np.array(kept[:case['limit']], dtype=np.int32), None


NAMES = {'resize': resize, 'pad': pad, 'iou': iou, 'nms': nms}


def answer(case):
    with np.errstate(all='ignore'):
        made, off = NAMES[case['name']](source(case), case)
    values = made.astype(np.float64) if made.dtype.kind == 'f' else made
    return {'shape': made.shape, 'values': [repr(float(v)) if made.dtype.kind == 'f' else str(int(v)) for v in values.ravel()], 'off': off}


json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)
