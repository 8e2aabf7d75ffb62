"""The Python side: finds the bright thing in each frame. The frames are read where Node wrote them, and the picture in grey
is written where Node reads it; only numbers go through the pipe."""
import json
import sys

import numpy as np

frames_path, control_path, grey_path = sys.argv[1:]
frames = np.load(frames_path, mmap_mode='r')  # [slots, height, width, 3]
words = np.load(control_path, mmap_mode='r')  # what they mean: docs/rings.md
grey = np.load(grey_path, mmap_mode='r+')     # [height, width]


def whole(index):
    """Is the frame there, and not being written over? Asked before and after it is used."""
    return int(words[16 + index % len(frames)]) == 2 * index + 2


for line in sys.stdin:
    index = int(line)
    was_whole = whole(index)
    grey[...] = frames[index % len(frames)].mean(axis=2)
    ys, xs = np.nonzero(grey > 128)
    answer = {'index': index, 'whole': was_whole and whole(index), 'x': None, 'y': None}
    if len(xs) > 0:
        answer.update(x=float(xs.mean()), y=float(ys.mean()))
    print(json.dumps(answer), flush=True)
