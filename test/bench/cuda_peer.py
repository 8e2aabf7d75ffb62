"""The rows of cuda.js through PyTorch: JSON from standard input, rates in GB/s (read and written) as JSON to standard output."""
import json
import sys
import time

import torch

repetitions, size = int(sys.argv[1]), int(sys.argv[2])
if not torch.cuda.is_available():
    sys.exit('PyTorch ' + torch.__version__ + ' sees no GPU')
device = torch.device('cuda:0')


def rate(nbytes, operation):
    rounds = []
    for _ in range(7):
        operation()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(repetitions):
            operation()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - begin) / repetitions)
    return nbytes / sorted(rounds)[3] / 1e9


def measure(row):
    if row['kind'] == 'permute':
        dtype = getattr(torch, row['dtype'])
        source = torch.zeros(row['shape'], dtype=dtype, device=device)
        target = torch.empty([row['shape'][a] for a in row['axes']], dtype=dtype, device=device)
        view = source.permute(row['axes'])
        return rate(2 * source.numel() * source.element_size(), lambda: target.copy_(view))
    n = row['n']
    if row['kind'] == 'cast':
        source = torch.zeros(n, dtype=getattr(torch, row['from']), device=device)
        target = torch.empty(n, dtype=getattr(torch, row['to']), device=device)
        return rate(n * (source.element_size() + target.element_size()), lambda: target.copy_(source))
    target = torch.empty(n, dtype=torch.float32, device=device)
    return rate(4 * n, (lambda: target.fill_(1.5)) if row['kind'] == 'fill' else target.uniform_)


rates = []
for row in json.load(sys.stdin):
    rates.append(measure(row))
    torch.cuda.empty_cache()
host = torch.zeros(size // 4, dtype=torch.float32).pin_memory()
there = torch.empty(size // 4, dtype=torch.float32, device=device)
link = [rate(size, lambda: there.copy_(host, non_blocking=True)), rate(size, lambda: host.copy_(there, non_blocking=True))]
json.dump({'version': torch.__version__, 'rates': rates, 'link': link}, sys.stdout)
