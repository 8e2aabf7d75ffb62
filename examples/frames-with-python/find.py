"""The Python side: finds the bright thing in each frame. The frames are read where Node wrote them, and the picture in grey
is written where Node reads it; only numbers go through the pipe. Node sets PYTHONPATH to the package samebytes."""
import json
import sys

import numpy as np
from samebytes import SharedRing, SharedTensor

name, grey_name, first = sys.argv[1:]
ring = SharedRing.open(name)                     # frames of [height, width, 3]
grey = SharedTensor.open(grey_name).array  # [height, width]

for frame, index, lost, tag in ring.read(from_=int(first)):
    grey[...] = frame.mean(axis=2)
    answer = {'index': index, 'lost': lost, 'whole': ring.intact(index), 'x': None, 'y': None}
    ys, xs = np.nonzero(grey > 128)
    if len(xs) > 0:
        answer.update(x=float(xs.mean()), y=float(ys.mean()))
    print(json.dumps(answer), flush=True)
