"""NumPy and PyTorch on one thread, as a child of ../copy.js; serve.js tells how it talks."""
import json
import os
import sys
import time

os.environ.update({name: '1' for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS')})

import numpy as np

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None


def tensor(array):
    return torch.from_numpy(array)


def copies(work):
    """NumPy has no bfloat16, and PyTorch takes its own; scaling takes each of them two passes."""
    runs = {}
    shape, order = work['shape'], work.get('order') or list(range(len(work['shape'])))
    names = (work['from'], work['to'])
    shown = [shape[d] for d in order]
    if 'bfloat16' not in names:
        pattern = (np.arange(4096) / 32).astype(names[0])
        src = np.resize(pattern, shape).transpose(order)
        dst = np.ones(shown, names[1])
        if not work.get('scale'):
            runs['NumPy'] = lambda: np.copyto(dst, src, casting='unsafe')
        else:
            scale, bias = (np.array(work[name], 'float32').reshape(1, -1, 1, 1) for name in ('scale', 'bias'))

            def scaled():
                np.multiply(src, scale, out=dst)
                np.add(dst, bias, out=dst)
            runs['NumPy'] = scaled
    if torch:
        if 'bfloat16' in names:
            a = torch.ones(shape, dtype=getattr(torch, names[0])).permute(order)
            b = torch.ones(shown, dtype=getattr(torch, names[1]))
        else:
            a, b = tensor(src.transpose(np.argsort(order))).permute(order), tensor(dst)
        if not work.get('scale'):
            runs['PyTorch'] = lambda: b.copy_(a)
        else:
            by, plus = tensor(scale), tensor(bias)

            def scaled_by_torch():
                torch.mul(a, by, out=b)
                b.add_(plus)
            runs['PyTorch'] = scaled_by_torch
    return runs


def fills(work):
    a = np.ones(work['shape'], work['to'])
    runs = {'NumPy': lambda: a.fill(1.5)}
    if torch:
        b = tensor(a)
        runs['PyTorch'] = lambda: b.fill_(1.5)
    return runs


def random(work):
    """A new array each time, as in the library."""
    n, generator = work['count'], np.random.default_rng(1)
    uniform = work['kind'] == 'uniform'
    numpy = generator.random if uniform else generator.standard_normal
    runs = {'NumPy': lambda: numpy(n, dtype=np.float32)}
    if torch:
        pytorch = torch.rand if uniform else torch.randn
        runs['PyTorch'] = lambda: pytorch(n)
    return runs


def seconds(run):
    run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    runs = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if 'work' in asked:
            runs.clear()
            work = asked['work']
            runs = {'copy': copies, 'fill': fills}.get(work['kind'], random)(work)
            answer = list(runs)
        else:
            answer = seconds(runs[asked['run']])
        print(json.dumps(answer), flush=True)


if __name__ == '__main__':
    main()
