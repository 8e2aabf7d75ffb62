"""How PyTorch prints tensors.

Reads JSON lines from standard input: dtype, shape, strides and offset in elements, bytes in base64. Writes
one JSON string a line.
"""
import base64
import json
import sys

import torch


def printed(case):
    dtype = getattr(torch, case['dtype'])
    data = bytearray(base64.b64decode(case['bytes']))
    base = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return str(base.as_strided(case['shape'], case['strides'], case['offset']))


for line in sys.stdin:
    print(json.dumps(printed(json.loads(line))))
