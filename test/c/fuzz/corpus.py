"""Files to begin with, a folder for each parser. Argument: where."""
import io
import json
import os
import struct
import sys
import zipfile

import numpy as np

where = sys.argv[1]


def put(folder, name, data):
    os.makedirs(os.path.join(where, folder), exist_ok=True)
    with open(os.path.join(where, folder, name), 'wb') as file:
        file.write(data)


def npy(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


for i, array in enumerate([
        np.arange(6, dtype='<f4').reshape(2, 3), np.asfortranarray(np.ones((2, 3), '>c16')),
        np.array(True), np.zeros((0, 3), 'u2'), np.zeros(3, 'V2'), np.zeros(2, 'f4,i4'), np.zeros(1, 'S3')]):
    put('npy', str(i), npy(array))
put('npy', 'v2', npy(np.ones(2), (2, 0)))
put('npy', 'v3', npy(np.ones(2), (3, 0)))


def safetensors(header, data, pad=b''):
    text = json.dumps(header).encode() + pad
    return struct.pack('<Q', len(text)) + text + data


put('safetensors', 'two', safetensors({
    '__metadata__': {'format': 'pt', 'é\n': '"'},
    'a': {'dtype': 'F32', 'shape': [2, 2], 'data_offsets': [0, 16]},
    'b': {'dtype': 'I64', 'shape': [], 'data_offsets': [16, 24]},
    'c': {'dtype': 'F6_E2M3', 'shape': [0, 4], 'data_offsets': [24, 24]}}, bytes(24), b'   '))
put('safetensors', 'none', safetensors({}, b''))
put('safetensors', 'escapes', safetensors({'\U0001f600\\': {'dtype': 'F4', 'shape': [4], 'data_offsets': [0, 2]}}, b'ab'))


def text(s):
    data = s.encode()
    return struct.pack('<Q', len(data)) + data


def gguf(pairs, tensors, size, version=3):
    out = b'GGUF' + struct.pack('<IQQ', version, len(tensors), len(pairs))
    out += b''.join(text(key) + value for key, value in pairs)
    for name, shape, kind, offset in tensors:
        out += text(name) + struct.pack('<I', len(shape)) + b''.join(struct.pack('<Q', n) for n in shape)
        out += struct.pack('<IQ', kind, offset)
    return out + bytes(-len(out) % 32) + bytes(size)


put('gguf', 'two', gguf(
    [('general.alignment', struct.pack('<II', 4, 32)), ('a', struct.pack('<I', 8) + text('b')),
     ('list', struct.pack('<IIQ', 9, 8, 2) + text('x') + text('')), ('n', struct.pack('<IIQ3f', 9, 6, 3, 1, 2, 3)),
     ('deep', struct.pack('<IIQIQ', 9, 9, 1, 0, 2) + b'ab'), ('yes', struct.pack('<IB', 7, 1))],
    [('w', [4, 2], 0, 0), ('q', [64, 2], 2, 32)], 128))
put('gguf', 'none', gguf([], [], 0, 2))

for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', method) as z:
        z.writestr('a.npy', npy(np.arange(3)))
        with z.open('b.npy', 'w', force_zip64=True) as member:
            member.write(npy(np.ones(2)))
    data = file.getvalue()
    at = data.index(b'PK\x01\x02')
    put('zip-end', str(method), data)
    put('zip-directory', str(method), data[at:data.index(b'PK\x05\x06')])
    put('zip-member', str(method), data[:100])
put('zip-end', 'none', b'PK\x05\x06' + bytes(18))
wide = b'PK\x06\x06' + struct.pack('<QHHIIQQQQ', 44, 45, 45, 0, 0, 0, 0, 0, 0)
put('zip-end', 'wide', wide + b'PK\x06\x07' + struct.pack('<IQI', 0, 0, 1) + b'PK\x05\x06' + bytes(4) + b'\xff' * 12 + bytes(2))
