"""Builds the wheel (PEP 517), with what Python itself has: the package, and the libsamebytes.so.1 of this machine beside it.

    pip install node_modules/samebytes/python
    python3 python/backend.py FOLDER           the same wheel
    python3 python/backend.py FOLDER --all     one for each libsamebytes.so.1 of prebuilds/

The same files give the same bytes, with the same zlib."""

import base64
import hashlib
import os
import platform
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
_MODULES = ('samebytes_cuda.py',)
_MACHINES = {'x64': 'x86_64', 'arm64': 'aarch64'}  # by Node's names


def _version():
    with open(os.path.join(HERE, 'samebytes', '__init__.py'), encoding='utf-8') as file:
        return re.search(r"^__version__ = '([^']+)'", file.read(), re.M).group(1)


def _public(version):
    """In Python's words: 1.0.0-rc.1 is 1.0.0rc1."""
    number, _, more = version.partition('-')
    known = re.fullmatch(r'(alpha|beta|rc)\.?(\d+)', more)
    if known:
        return number + {'alpha': 'a', 'beta': 'b', 'rc': 'rc'}[known[1]] + known[2]
    return f'{number}.dev0+{re.sub("[^0-9a-z]+", ".", more.lower())}' if more else number


def _library():
    sys.path.insert(0, HERE)
    try:
        from samebytes import _library
        return _library.need('a wheel').path
    finally:
        sys.path.remove(HERE)


def _tag(library, machine):
    """glibc 2.28 is the oldest that the library takes; pip knows no musl but by its version."""
    kind = 'musllinux_1_2' if library.endswith(f'-musl/{os.path.basename(library)}') else 'manylinux_2_28'
    return f'py3-none-{kind}_{machine}'


def _files(library):
    folder = os.path.join(HERE, 'samebytes')
    for name in sorted(os.listdir(folder)):
        if name.endswith('.py') or name == 'py.typed':
            yield f'samebytes/{name}', os.path.join(folder, name)
    for name in _MODULES:
        yield name, os.path.join(HERE, name)
    yield 'samebytes/libsamebytes.so.1', library


def _build(wheel_directory, library, machine):
    version, tag = _public(_version()), _tag(library, machine)
    info = f'samebytes-{version}.dist-info'
    name = f'samebytes-{version}-{tag}.whl'
    contents = []
    for place, path in _files(library):
        with open(path, 'rb') as file:
            contents.append((place, file.read()))
    contents.append((f'{info}/METADATA', f'Metadata-Version: 2.1\nName: samebytes\nVersion: {version}\nRequires-Python: >=3.9\nLicense: MIT\nLicense-File: LICENSE\n'
                     'Summary: Tensors and rings of frames in shared memory, with Node and C\n'.encode()))
    contents.append((f'{info}/WHEEL', f'Wheel-Version: 1.0\nGenerator: samebytes\nRoot-Is-Purelib: false\nTag: {tag}\n'.encode()))
    with open(os.path.join(os.path.dirname(HERE), 'LICENSE'), 'rb') as file:
        contents.append((f'{info}/LICENSE', file.read()))
    record = ''
    with zipfile.ZipFile(os.path.join(wheel_directory, name), 'w', zipfile.ZIP_DEFLATED) as wheel:
        def add(place, data):
            entry = zipfile.ZipInfo(place)  # of 1980
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            wheel.writestr(entry, data)

        for place, data in contents:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
            record += f'{place},sha256={digest},{len(data)}\n'
            add(place, data)
        add(f'{info}/RECORD', record + f'{info}/RECORD,,\n')
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _build(wheel_directory, _library(), platform.machine())


def build_all(wheel_directory):
    """Of a package: also those of other processors."""
    prebuilds = os.path.join(os.path.dirname(HERE), 'prebuilds')
    names = []
    for place in sorted(os.listdir(prebuilds)):
        library = os.path.join(prebuilds, place, 'libsamebytes.so.1')
        if os.path.exists(library):
            names.append(_build(wheel_directory, library, _MACHINES[place.split('-')[1]]))
    return names


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError('the sources are those of the npm package')


if __name__ == '__main__':
    print('\n'.join(build_all(sys.argv[1]) if sys.argv[2:] == ['--all'] else [build_wheel(sys.argv[1])]))
