"""Builds the wheel (PEP 517), with what Python itself has: the package, and the libsamebytes.so.1 of this machine beside it.

    pip install node_modules/samebytes/python        # or: python3 python/backend.py FOLDER"""

import base64
import hashlib
import os
import platform
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
_MODULES = ('samebytes_cuda.py',)


def _version():
    with open(os.path.join(HERE, 'samebytes', '__init__.py'), encoding='utf-8') as file:
        return re.search(r"^__version__ = '([^']+)'", file.read(), re.M).group(1)


def _library():
    sys.path.insert(0, HERE)
    try:
        from samebytes import _library
        return _library.need('a wheel').path
    finally:
        sys.path.remove(HERE)


def _tag(library):
    """glibc 2.28 is the oldest that the library takes; pip knows no musl but by its version."""
    kind = 'musllinux_1_2' if 'musl' in library else 'manylinux_2_28'
    return f'py3-none-{kind}_{platform.machine()}'


def _files(library):
    folder = os.path.join(HERE, 'samebytes')
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py') or name == 'py.typed':
            yield f'samebytes/{name}', os.path.join(folder, name)
    for name in _MODULES:
        yield name, os.path.join(HERE, name)
    yield 'samebytes/libsamebytes.so.1', library


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    library = _library()
    version, tag = _version(), _tag(library)
    info = f'samebytes-{version}.dist-info'
    name = f'samebytes-{version}-{tag}.whl'
    contents = []
    for place, path in _files(library):
        with open(path, 'rb') as file:
            contents.append((place, file.read()))
    contents.append((f'{info}/METADATA', f'Metadata-Version: 2.1\nName: samebytes\nVersion: {version}\nRequires-Python: >=3.9\nLicense: MIT\n'
                     'Summary: Tensors and rings of frames in shared memory, with Node and C\n'.encode()))
    contents.append((f'{info}/WHEEL', f'Wheel-Version: 1.0\nGenerator: samebytes\nRoot-Is-Purelib: false\nTag: {tag}\n'.encode()))
    record = ''
    with zipfile.ZipFile(os.path.join(wheel_directory, name), 'w', zipfile.ZIP_DEFLATED) as wheel:
        for place, data in contents:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
            record += f'{place},sha256={digest},{len(data)}\n'
            wheel.writestr(zipfile.ZipInfo(place), data)
        wheel.writestr(zipfile.ZipInfo(f'{info}/RECORD'), record + f'{info}/RECORD,,\n')
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError('the sources are those of the npm package')


if __name__ == '__main__':
    print(build_wheel(sys.argv[1]))
