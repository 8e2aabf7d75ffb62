"""GPU memory that samebytes and Python have together: what one side writes, the other reads, and nothing is copied.

    import torch
    from samebytes import cuda
    v = cuda.open(descriptor)                      # what cuda.share(t) gave in Node, as a dict or as JSON
    t = torch.as_tensor(v, device='cuda')          # cupy.asarray(v), torch.from_dlpack(v) and others do as well
    d = cuda.share(torch.ones(4, device='cuda'))   # for cuda.open(d) in Node

Needs NVIDIA's driver and Linux; no package, and no CUDA toolkit. Its folder is `pythonPath` of samebytes.

Memory of samebytes (`empty(shape, { device, shared: true })` in Node, `empty()` here) goes as a file descriptor: it is
freed when the last process that has it lets it go, so it outlives whoever shared it. Memory of others goes by the
driver's older handles: it is good for as long as the process that shared it keeps it, which it does until the
importer closes it or ends (`lease` of the descriptor is 'exporter' then)."""

import array
import atexit
import ctypes as C
import json
import os
import secrets
import selectors
import socket
import struct
import sys
import threading

from ._errors import Error

__all__ = ['Error', 'Memory', 'empty', 'open', 'share', 'unshare']

VERSION = 1
_TIMEOUT = 30  # seconds, for each answer of a peer
_MOST_CONNECTIONS = 1024

# What is sent: src/cuda/ipc_server.c has the same.
_REQUEST = struct.Struct('=4sIIIQ16s')  # magic, version, operation, 0, generation, token
_ANSWER = struct.Struct('=4sIIIIIQQQQ16s64s128s')  # magic, version, status, kind, flags, 0, generation, size, offset,
#                                                    nbytes, uuid, handle, message
_OPEN, _TAKEN = 1, 2
_DONE, _STALE, _FAILED = 0, 1, 2
_NOTHING, _FILE, _HANDLE = 0, 1, 2
_READ_ONLY = 1

# samebytes' name: (typestr, itemsize, DLPack's code)
_DTYPES = {
    'bool': ('|b1', 1, 6), 'uint8': ('|u1', 1, 1), 'int8': ('|i1', 1, 0), 'int16': ('<i2', 2, 0), 'uint16': ('<u2', 2, 1),
    'int32': ('<i4', 4, 0), 'uint32': ('<u4', 4, 1), 'int64': ('<i8', 8, 0), 'uint64': ('<u8', 8, 1),
    'float16': ('<f2', 2, 2), 'bfloat16': ('<u2', 2, 4), 'float32': ('<f4', 4, 2), 'float64': ('<f8', 8, 2),
    'complex64': ('<c8', 8, 5), 'complex128': ('<c16', 16, 5),
    'float8_e4m3fn': ('|u1', 1, 10), 'float8_e5m2': ('|u1', 1, 12),
}
_OF_TYPESTR = {typestr[1:]: name for name, (typestr, _, _) in reversed(list(_DTYPES.items()))}


# ---- The driver ----

class _Location(C.Structure):
    _fields_ = [('type', C.c_int), ('id', C.c_int)]


class _Flags(C.Structure):
    _fields_ = [('compression', C.c_ubyte), ('rdma', C.c_ubyte), ('usage', C.c_ushort), ('reserved', C.c_ubyte * 4)]


class _Property(C.Structure):
    _fields_ = [('type', C.c_int), ('handles', C.c_int), ('location', _Location), ('win32', C.c_void_p),
                ('flags', _Flags)]


class _Access(C.Structure):
    _fields_ = [('location', _Location), ('flags', C.c_int)]


class _Handle(C.Structure):
    _fields_ = [('bytes', C.c_ubyte * 64)]


_u64, _size, _int, _uint, _at = C.c_uint64, C.c_size_t, C.c_int, C.c_uint, C.c_void_p
_SIGNATURES = {
    'cuInit': [_uint],
    'cuDriverGetVersion': [_at],
    'cuGetErrorName': [_int, _at],
    'cuDeviceGetCount': [_at],
    'cuDeviceGet': [_at, _int],
    'cuDeviceGetUuid': [_at, _int],
    'cuDevicePrimaryCtxRetain': [_at, _int],
    'cuCtxPushCurrent_v2': [_at],
    'cuCtxPopCurrent_v2': [_at],
    'cuCtxSynchronize': [],
    'cuMemcpyDtoH_v2': [_at, _u64, _size],
    'cuMemcpyHtoD_v2': [_u64, _at, _size],
    'cuMemGetAddressRange_v2': [_at, _at, _u64],
    'cuPointerGetAttribute': [_at, _int, _u64],
    'cuIpcGetMemHandle': [_at, _u64],
    'cuIpcOpenMemHandle_v2': [_at, _Handle, _uint],
    'cuIpcCloseMemHandle': [_u64],
    'cuMemGetAllocationGranularity': [_at, _at, _int],
    'cuMemCreate': [_at, _size, _at, _u64],
    'cuMemRelease': [_u64],
    'cuMemAddressReserve': [_at, _size, _size, _u64, _u64],
    'cuMemAddressFree': [_u64, _size],
    'cuMemMap': [_u64, _size, _size, _u64, _u64],
    'cuMemUnmap': [_u64, _size],
    'cuMemSetAccess': [_u64, _size, _at, _size],
    'cuMemExportToShareableHandle': [_at, _u64, _int, _u64],
    'cuMemImportFromShareableHandle': [_at, _at, _int],
}


class _Driver:
    """libcuda, found at the first use; devices by their UUIDs, because CUDA_VISIBLE_DEVICES renumbers them."""

    def __init__(self):
        named = os.environ.get('SAMEBYTES_LIBCUDA')
        names = [named] if named else ['libcuda.so.1', 'libcuda.so', '/usr/lib/wsl/lib/libcuda.so.1',
                                       '/usr/local/nvidia/lib64/libcuda.so.1']
        self.library, why = None, ''
        for name in names:
            try:
                self.library = C.CDLL(name)
                break
            except OSError as error:
                why = why or str(error)
        if self.library is None:
            raise Error('ERR_DEVICE', f'CUDA unavailable: libcuda.so.1 not found ({why})')
        self.functions = {}
        self.contexts = {}
        self.lock = threading.Lock()
        self.pid = os.getpid()
        self.call('cuInit', 0)
        count = C.c_int()
        self.call('cuDeviceGetCount', C.byref(count))
        self.uuids = [self.uuid_of(i) for i in range(count.value)]

    def find(self, name):
        function = self.functions.get(name)
        if function is None:
            try:
                function = getattr(self.library, name)
            except AttributeError:
                raise Error('ERR_UNSUPPORTED', f'the driver has no {name}; it is too old for this') from None
            function.argtypes, function.restype = _SIGNATURES[name], C.c_int
            self.functions[name] = function
        return function

    def result(self, name, *arguments):
        return self.find(name)(*arguments)

    def name_of(self, result):
        text = C.c_char_p()
        self.result('cuGetErrorName', result, C.byref(text))
        return f'{text.value.decode()} ({result})' if text.value else str(result)

    def call(self, name, *arguments):
        result = self.result(name, *arguments)
        if result:
            code = 'ERR_MEMORY' if result == 2 else 'ERR_DEVICE'
            if result == 3 and os.getpid() != getattr(self, 'pid', os.getpid()):
                raise Error(code, 'CUDA cannot be used in a forked child; spawn one')
            raise Error(code, f'{name} answered {self.name_of(result)}')

    def uuid_of(self, ordinal):
        device, uuid = C.c_int(), (C.c_ubyte * 16)()
        self.call('cuDeviceGet', C.byref(device), ordinal)
        newer = getattr(self.library, 'cuDeviceGetUuid_v2', None)  # tells parts of a GPU (MIG) apart
        if newer is None:
            self.call('cuDeviceGetUuid', uuid, device)
        elif newer(uuid, device):
            raise Error('ERR_DEVICE', f'device {ordinal} has no UUID')
        return bytes(uuid)

    def ordinal_of(self, uuid):
        try:
            return self.uuids.index(uuid)
        except ValueError:
            raise Error('ERR_DEVICE', f'the memory is on GPU {_uuid_text(uuid)}, which this process does not see '
                                      '(CUDA_VISIBLE_DEVICES?)') from None

    def on(self, ordinal):
        """A device's primary context, which PyTorch and CuPy use as well, current in a with statement."""
        with self.lock:
            context = self.contexts.get(ordinal)
            if context is None:
                context = C.c_void_p()
                self.call('cuDevicePrimaryCtxRetain', C.byref(context), ordinal)
                self.contexts[ordinal] = context
        return _Current(self, context)


class _Current:
    def __init__(self, driver, context):
        self.driver, self.context = driver, context

    def __enter__(self):
        self.driver.call('cuCtxPushCurrent_v2', self.context)

    def __exit__(self, *_):
        self.driver.result('cuCtxPopCurrent_v2', C.byref(C.c_void_p()))


_the_driver = None
_driver_lock = threading.Lock()


def _driver():
    global _the_driver
    with _driver_lock:
        if _the_driver is None:
            _the_driver = _Driver()
        return _the_driver


def _uuid_text(uuid):
    digits = uuid.hex()
    return '-'.join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


# ---- Mappings ----

class _Mapping:
    """Device memory that is mapped here, and how it goes. `close` may be called again."""

    def __init__(self, ordinal, base, size):
        self.ordinal, self.base, self.size = ordinal, base, size
        self.steps = []  # what to undo, in order
        self.lock = threading.Lock()

    def close(self):
        with self.lock:
            steps, self.steps = self.steps, []
        for step in reversed(steps):
            step()


def _is_read_only(driver, base, size, access):
    """False: the driver knows no such access. Then the memory can be written, and what is over it refuses to."""
    result = driver.result('cuMemSetAccess', base, size, C.byref(access), 1)
    if result in (0, 1, 801):
        return result == 0
    raise Error('ERR_DEVICE', f'cuMemSetAccess answered {driver.name_of(result)}')


def _map(driver, ordinal, handle, size, read_only):
    """The mapping takes the handle over, also when this fails."""
    mapping = _Mapping(ordinal, 0, size)
    mapping.steps.append(lambda: driver.result('cuMemRelease', handle))
    try:
        address = C.c_uint64()
        driver.call('cuMemAddressReserve', C.byref(address), size, 0, 0, 0)
        base = mapping.base = address.value
        mapping.steps.append(lambda: driver.result('cuMemAddressFree', base, size))
        driver.call('cuMemMap', base, size, 0, handle, 0)
        mapping.steps.append(lambda: _unmap(driver, ordinal, base, size))
        access = _Access(_Location(1, ordinal), 1 if read_only else 3)
        if not read_only or not _is_read_only(driver, base, size, access):
            access.flags = 3
            driver.call('cuMemSetAccess', base, size, C.byref(access), 1)
    except BaseException:
        mapping.close()
        raise
    return mapping


def _unmap(driver, ordinal, base, size):
    """After the work that may still use it."""
    try:
        with driver.on(ordinal):
            driver.result('cuCtxSynchronize')
    except Error:
        pass  # the context is lost: nothing runs
    driver.result('cuMemUnmap', base, size)


def _map_file(driver, ordinal, fd, size, read_only):
    handle = C.c_uint64()
    with driver.on(ordinal):
        driver.call('cuMemImportFromShareableHandle', C.byref(handle), C.c_void_p(fd), 1)
        return _map(driver, ordinal, handle.value, size, read_only)


def _map_handle(driver, ordinal, raw, size):
    address = C.c_uint64()
    with driver.on(ordinal):
        driver.call('cuIpcOpenMemHandle_v2', C.byref(address), _Handle.from_buffer_copy(raw), 1)
    base = address.value
    mapping = _Mapping(ordinal, base, size)

    def end():
        try:
            with driver.on(ordinal):
                driver.result('cuCtxSynchronize')
                driver.result('cuIpcCloseMemHandle', base)
        except Error:
            pass

    mapping.steps.append(end)
    return mapping


# ---- Layouts ----

def _dense(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]


def _reach(shape, strides):
    """Lowest and highest element from the first one; None where there are no elements."""
    if 0 in shape:
        return None
    lowest = highest = 0
    for extent, stride in zip(shape, strides):
        if stride < 0:
            lowest += (extent - 1) * stride
        else:
            highest += (extent - 1) * stride
    return lowest, highest


def _integers(name, values, least=None):
    if not isinstance(values, (list, tuple)):
        raise Error('ERR_ARGUMENT', f'{name} is {values!r}; a list of integers was expected')
    for value in values:
        _integer(name, value, least)
    return list(values)


def _integer(name, value, least=None):
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2 ** 63:
        raise Error('ERR_ARGUMENT', f'{name} has {value!r}; an integer was expected')
    if least is not None and value < least:
        raise Error('ERR_BOUNDS', f'{name} has {value}; at least {least} was expected')
    return value


# ---- DLPack ----

class _DLTensor(C.Structure):
    _fields_ = [('data', C.c_void_p), ('device_type', C.c_int32), ('device_id', C.c_int32), ('ndim', C.c_int32),
                ('code', C.c_uint8), ('bits', C.c_uint8), ('lanes', C.c_uint16), ('shape', C.c_void_p),
                ('strides', C.c_void_p), ('byte_offset', C.c_uint64)]


class _Managed(C.Structure):
    _fields_ = [('tensor', _DLTensor), ('context', C.c_void_p), ('deleter', C.c_void_p)]


class _Versioned(C.Structure):
    _fields_ = [('major', C.c_uint32), ('minor', C.c_uint32), ('context', C.c_void_p), ('deleter', C.c_void_p),
                ('flags', C.c_uint64), ('tensor', _DLTensor)]


_CUDA = 2  # DLPack's number of the kind of device
_exports = {}  # of consumers that have not called the deleter: by the struct's address, all that it needs


@C.CFUNCTYPE(None, C.c_void_p)
def _deleter(address):
    _exports.pop(address, None)


@C.CFUNCTYPE(None, C.c_void_p)
def _end_capsule(capsule):
    """Of one that nobody took: a consumer gives it another name."""
    for name in (b'dltensor', b'dltensor_versioned'):
        if _is_valid(capsule, name):
            _deleter(_pointer(capsule, name))


def _python(name, result, arguments):
    return C.PYFUNCTYPE(result, *arguments)((name, C.pythonapi))


_is_valid = _python('PyCapsule_IsValid', C.c_int, [C.c_void_p, C.c_char_p])
_pointer = _python('PyCapsule_GetPointer', C.c_void_p, [C.c_void_p, C.c_char_p])
_new_capsule = _python('PyCapsule_New', C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p])
_NAMES = (C.c_char_p(b'dltensor'), C.c_char_p(b'dltensor_versioned'))  # a capsule keeps the address of its name


@atexit.register
def _leave_exports():
    """Consumers that outlive the interpreter must not call into it: what they have stays as it is, for ever."""
    harmless = C.cast(C.CDLL(None).getpid, C.c_void_p).value
    for held in list(_exports.values()):
        held[0].deleter = harmless
        for each in held:
            C.pythonapi.Py_IncRef(C.py_object(each))


# ---- What is opened ----

class Memory:
    """Elements in GPU memory, for whatever reads `__cuda_array_interface__` (version 3) or DLPack.

    shape, strides   counted in elements
    dtype            samebytes' name. NumPy has no bfloat16 and no float8: consumers of `__cuda_array_interface__` see
                     unsigned integers of their width (`.view(torch.bfloat16)` makes them floats again); DLPack has them
    device           the GPU's number in this process; ptr: the first element's address, 0 where there is none
    read_only        consumers are told; nothing stops them
    lease            'none', or 'exporter': the process that shared it keeps it, and its end would be its end
    """

    def __init__(self, mapping, dtype, shape, strides, ptr, read_only, lease, connection=None):
        self.dtype, self.shape, self.strides = dtype, tuple(shape), tuple(strides)
        self.itemsize = _DTYPES[dtype][1]
        self.read_only, self.lease = read_only, lease
        self.device = mapping.ordinal
        self._mapping, self._ptr, self._connection = mapping, ptr, connection
        self._is_shown = False
        self._is_closed = False

    @property
    def ptr(self):
        self._check()
        self._is_shown = True
        return self._ptr

    @property
    def nbytes(self):
        count = self.itemsize
        for extent in self.shape:
            count *= extent
        return count

    @property
    def __cuda_array_interface__(self):
        is_dense = list(self.strides) == _dense(self.shape)
        return {'shape': self.shape, 'typestr': _DTYPES[self.dtype][0], 'data': (self.ptr, self.read_only),
                'strides': None if is_dense else tuple(stride * self.itemsize for stride in self.strides),
                'stream': None, 'version': 3}  # who shared it has waited for its work

    def __dlpack_device__(self):
        return _CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule; the memory stays until its consumer is done. stream: nothing is pending on any."""
        if copy:
            raise BufferError('samebytes makes no copy of it; ask for one without copy=True')
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f'the memory is on device {self.__dlpack_device__()}, not {tuple(dl_device)}')
        versioned = max_version is not None and max_version[0] >= 1
        if self.read_only and not versioned:
            raise BufferError('read-only memory needs a consumer of DLPack 1.0 or newer')
        if self.dtype.startswith('float8') and not versioned:
            raise BufferError(f'{self.dtype} needs a consumer of DLPack 1.0 or newer')
        count = len(self.shape)
        numbers = (C.c_int64 * (2 * count or 1))(*self.shape, *self.strides)
        held = _Versioned() if versioned else _Managed()
        tensor = held.tensor
        tensor.data, tensor.device_type, tensor.device_id, tensor.ndim = self.ptr, _CUDA, self.device, count
        tensor.code, tensor.bits, tensor.lanes = _DTYPES[self.dtype][2], 8 * self.itemsize, 1
        tensor.shape, tensor.strides = C.addressof(numbers), C.addressof(numbers) + 8 * count
        held.deleter = C.cast(_deleter, C.c_void_p).value
        if versioned:
            held.major, held.minor, held.flags = 1, 1, _READ_ONLY if self.read_only else 0
        address = C.addressof(held)
        _exports[address] = (held, numbers, self)
        try:
            return _new_capsule(address, _NAMES[versioned], C.cast(_end_capsule, C.c_void_p))
        except BaseException:
            del _exports[address]
            raise

    def get_bytes(self):
        """A copy of the elements on the CPU, in their order in memory.

        Errors   ERR_SHAPE they are not contiguous · ERR_DISPOSED · ERR_DEVICE"""
        nbytes = self._dense_nbytes()
        data = bytearray(nbytes)
        if nbytes:
            with _driver().on(self.device):
                _driver().call('cuMemcpyDtoH_v2', (C.c_ubyte * nbytes).from_buffer(data), self._ptr, nbytes)
        return bytes(data)

    def set_bytes(self, data):
        """The elements, from bytes on the CPU: anything with the buffer protocol, of the same length.

        Errors   as get_bytes · ERR_BOUNDS another length · ERR_READ_ONLY"""
        nbytes, view = self._dense_nbytes(), memoryview(data).cast('B')
        if self.read_only:
            raise Error('ERR_READ_ONLY', 'the memory is read-only')
        if len(view) != nbytes:
            raise Error('ERR_BOUNDS', f'{len(view)} bytes were given; {nbytes} are expected')
        if nbytes:
            with _driver().on(self.device):
                _driver().call('cuMemcpyHtoD_v2', self._ptr, bytes(view), nbytes)
                _driver().call('cuCtxSynchronize')

    def _dense_nbytes(self):
        self._check()
        if list(self.strides) != _dense(self.shape):
            raise Error('ERR_SHAPE', f'the elements are not contiguous: strides {list(self.strides)}')
        return self.nbytes

    def close(self):
        """Lets the memory go. Where its address was given to others, it goes with the last of them: PyTorch and CuPy keep
        this object for as long as they have tensors over it."""
        self._is_closed = True
        if not self._is_shown:
            self._end()

    def _check(self):
        if self._is_closed:
            raise Error('ERR_DISPOSED', 'the memory was closed')

    def _end(self):
        self._mapping.close()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()  # after the mapping: the exporter may free it now

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if sys is None or sys.is_finalizing():
            return  # the process ends, and with it all that it has
        try:
            self._end()
        except AttributeError:
            pass  # it was never whole

    def __repr__(self):
        state = 'closed' if self._is_closed else f'cuda:{self.device}'
        return f'Memory(shape={list(self.shape)}, dtype={self.dtype}, {state})'


def empty(shape, dtype='float32', device=0):
    """New memory that other processes can map and that outlives this one; its elements are anything.

    device   the GPU's number in this process
    Errors   ERR_DTYPE · ERR_ARGUMENT, ERR_BOUNDS the shape · ERR_MEMORY · ERR_DEVICE"""
    if dtype not in _DTYPES:
        raise Error('ERR_DTYPE', f'dtype is {dtype!r}; one of {", ".join(_DTYPES)} was expected')
    shape = _integers('shape', [shape] if isinstance(shape, int) else shape, 0)
    driver = _driver()
    if isinstance(device, bool) or not isinstance(device, int) or not 0 <= device < len(driver.uuids):
        raise Error('ERR_DEVICE', f'device is {device!r}; there are {len(driver.uuids)}')
    nbytes = _DTYPES[dtype][1]
    for extent in shape:
        nbytes *= extent
    if nbytes == 0:
        return Memory(_Mapping(device, 0, 0), dtype, shape, _dense(shape), 0, False, 'none')
    with driver.on(device):
        prop, granularity, handle = _Property(1, 1, _Location(1, device)), C.c_size_t(), C.c_uint64()
        driver.call('cuMemGetAllocationGranularity', C.byref(granularity), C.byref(prop), 0)
        size = -(-nbytes // granularity.value) * granularity.value
        if size >= 2 ** 63:
            raise Error('ERR_MEMORY', f'{nbytes} bytes cannot be allocated')
        driver.call('cuMemCreate', C.byref(handle), size, C.byref(prop), 0)
        mapping = _map(driver, device, handle.value, size, False)
    mapping.handle = handle.value
    return Memory(mapping, dtype, shape, _dense(shape), mapping.base, False, 'none')


# ---- Opening ----

def _fields(descriptor):
    """A descriptor's fields; nothing of it is believed but that it is no accident."""
    if isinstance(descriptor, (str, bytes)):
        try:
            descriptor = json.loads(descriptor)
        except ValueError:
            raise Error('ERR_ARGUMENT', 'the descriptor is text that is no JSON') from None
    if not isinstance(descriptor, dict) or descriptor.get('samebytes') != 'vram':
        raise Error('ERR_ARGUMENT', 'the descriptor is not what cuda.share() or samebytes_cuda.share() gave')
    if descriptor.get('version') != VERSION:
        raise Error('ERR_UNSUPPORTED', f'the descriptor has version {descriptor.get("version")!r}; this reads {VERSION}')
    found = dict(descriptor)
    try:
        found['token'] = bytes.fromhex(found['token'])
        found['uuid'] = bytes.fromhex(found['uuid'].replace('-', ''))
        if len(found['token']) != 16 or len(found['uuid']) != 16 or found['socket'][:1] != '@':
            raise ValueError
        for name in ('generation', 'offset', 'nbytes'):
            _integer(name, found[name], 0)
        if found['dtype'] not in _DTYPES:
            raise Error('ERR_DTYPE', f'dtype is {found["dtype"]!r}; one of {", ".join(_DTYPES)} was expected')
        found['shape'] = _integers('shape', found['shape'], 0)
        found['strides'] = _integers('strides', found['strides'])
        if len(found['shape']) != len(found['strides']) or len(found['shape']) > 64:
            raise Error('ERR_SHAPE', f'{len(found["shape"])} extents and {len(found["strides"])} strides do not fit')
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Error('ERR_ARGUMENT', 'the descriptor lacks fields, or has wrong ones') from None
    return found


def _user_of(connection):
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid, _ = struct.unpack('iII', credentials)
    return pid, uid


def _connect(name):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.settimeout(_TIMEOUT)
        connection.connect('\0' + name[1:])
        _, uid = _user_of(connection)
    except (ConnectionRefusedError, FileNotFoundError):
        connection.close()
        raise Error('ERR_NOT_FOUND', 'the process that shared the memory has ended, or cannot be reached from here') from None
    except (OSError, ValueError) as error:
        connection.close()
        raise Error('ERR_IO', f'the process that shared the memory cannot be reached: {error}') from None
    if uid != os.geteuid():
        connection.close()
        raise Error('ERR_STALE', f'the process at {name} belongs to another user')
    return connection


def _ask(connection, d):
    """Its answer, and a file descriptor that is the caller's to close, or -1."""
    fds = []
    try:
        connection.sendall(_REQUEST.pack(b'SBVR', VERSION, _OPEN, 0, d['generation'], d['token']))
        data, fds, _, _ = socket.recv_fds(connection, _ANSWER.size + 1, 1, socket.MSG_CMSG_CLOEXEC)
    except socket.timeout:
        raise Error('ERR_IO', f'the process that shared the memory has not answered for {_TIMEOUT} s') from None
    except OSError as error:
        raise Error('ERR_NOT_FOUND', f'the process that shared the memory ended meanwhile ({error})') from None
    fd = fds[0] if fds else -1
    try:
        if not data:
            raise Error('ERR_NOT_FOUND', 'the process that shared the memory ended meanwhile')
        if len(data) != _ANSWER.size or data[:4] != b'SBVA':
            raise Error('ERR_FORMAT', 'what answered is not samebytes')
        (_, version, status, kind, flags, _, generation, size, offset, nbytes, uuid, handle,
         message) = _ANSWER.unpack(data)
        if version != VERSION:
            raise Error('ERR_UNSUPPORTED', f'the process that shared the memory speaks version {version}; this {VERSION}')
        if status:
            text = message.split(b'\0')[0].decode('utf-8', 'replace')
            raise Error('ERR_STALE' if status == _STALE else 'ERR_DEVICE', text)
        if kind not in (_NOTHING, _FILE, _HANDLE) or (kind == _FILE) != (fd >= 0) or offset + nbytes > size:
            raise Error('ERR_FORMAT', 'the answer of the process that shared the memory makes no sense')
        if uuid != d['uuid'] or generation != d['generation']:
            raise Error('ERR_STALE', 'the descriptor was changed: it is not of this memory')
    except BaseException:
        if fd >= 0:
            os.close(fd)
        raise
    return kind, bool(flags & _READ_ONLY), size, offset, nbytes, handle, fd


def open(descriptor):
    """The memory that a descriptor stands for; a use of it is taken.

    descriptor   what cuda.share(t) gave in Node, or share(x) in another Python: a dict, or its JSON
    Gives        a Memory; what either side writes, both have
    Errors       ERR_STALE used up, taken back, or changed · ERR_NOT_FOUND whoever shared it has ended ·
                 ERR_DEVICE its GPU is not seen here · ERR_ARGUMENT, ERR_DTYPE, ERR_SHAPE, ERR_BOUNDS no descriptor ·
                 ERR_MEMORY · ERR_IO"""
    d = _fields(descriptor)
    driver = _driver()
    ordinal = driver.ordinal_of(d['uuid'])
    connection = _connect(d['socket'])
    mapping = None
    try:
        kind, read_only, size, offset, nbytes, handle, fd = _ask(connection, d)
        try:
            start = _check_inside(d, offset, nbytes)
            if kind == _FILE:
                mapping = _map_file(driver, ordinal, fd, size, read_only)
            elif kind == _HANDLE:
                if _user_of(connection)[0] == os.getpid():
                    raise Error('ERR_UNSUPPORTED', 'this process shared the memory itself, and the driver opens such memory only in others')
                mapping = _map_handle(driver, ordinal, handle, size)
            else:
                mapping = _Mapping(ordinal, 0, 0)
        finally:
            if fd >= 0:
                os.close(fd)
        try:
            connection.sendall(_REQUEST.pack(b'SBVR', VERSION, _TAKEN, 0, d['generation'], d['token']))
        except OSError:
            if kind == _HANDLE:  # who kept the memory is gone
                raise Error('ERR_NOT_FOUND', 'the process that shared the memory ended meanwhile') from None
    except BaseException:
        if mapping is not None:
            mapping.close()
        connection.close()
        raise
    keeps = kind == _HANDLE
    if not keeps:
        connection.close()
    ptr = mapping.base + start if kind != _NOTHING else 0
    return Memory(mapping, d['dtype'], d['shape'], d['strides'], ptr, read_only, 'exporter' if keeps else 'none',
                  connection if keeps else None)


def _check_inside(d, offset, nbytes):
    """Where the first element is in the mapping."""
    reach = _reach(d['shape'], d['strides'])
    if reach is None:
        return offset
    itemsize = _DTYPES[d['dtype']][1]
    first, last = d['offset'] + reach[0] * itemsize, d['offset'] + (reach[1] + 1) * itemsize
    if first < offset or last > offset + nbytes:
        raise Error('ERR_BOUNDS', 'the descriptor reaches beyond the memory that was shared')
    if (d['offset'] - offset) % itemsize:
        raise Error('ERR_ALIGNMENT', f'offset is {d["offset"]}; elements begin at multiples of {itemsize}')
    return d['offset']


# ---- Sharing ----

class _Entry:
    """What a token stands for."""

    def __init__(self, owner, ordinal, uses, segment):
        self.owner, self.ordinal, self.uses, self.segment = owner, ordinal, uses, segment
        self.pending = 0  # asked for, not confirmed
        self.generation, self.answer = 0, None


class _Office:
    """Answers for what this process shared, on a thread of its own that keeps nothing alive."""

    def __init__(self):
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.entries = {}
        self.made = 0
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        name = f'samebytes-vram-{os.getpid()}-{secrets.token_hex(8)}'
        self.listening.bind('\0' + name)
        self.listening.listen(64)
        self.listening.setblocking(False)
        self.name = '@' + name
        threading.Thread(target=self.serve, name='samebytes vram', daemon=True).start()

    def add(self, entry, answer_of):
        token = secrets.token_bytes(16)
        with self.lock:
            self.made += 1
            entry.generation = self.made
            entry.answer = answer_of(self.made)
            self.entries[token] = entry
        return token

    def serve(self):
        selector = selectors.DefaultSelector()
        selector.register(self.listening, selectors.EVENT_READ)
        peers = {}
        while True:
            for key, _ in selector.select():
                if key.fileobj is self.listening:
                    self.accept(selector, peers)
                elif not self.hear(key.fileobj, peers[key.fileobj]):
                    self.part_from(peers.pop(key.fileobj))
                    selector.unregister(key.fileobj)
                    key.fileobj.close()

    def accept(self, selector, peers):
        try:
            connection, _ = self.listening.accept()
        except OSError:
            return
        connection.setblocking(False)
        if len(peers) >= _MOST_CONNECTIONS or _user_of(connection)[1] != os.geteuid():
            connection.close()
            return
        peers[connection] = _Peer()
        selector.register(connection, selectors.EVENT_READ)

    def hear(self, connection, peer):
        """False: it has ended, or is to end."""
        try:
            data = connection.recv(_REQUEST.size + 1)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if len(data) != _REQUEST.size or data[:4] != b'SBVR':
            return False
        _, version, operation, _, generation, token = _REQUEST.unpack(data)
        if operation == _TAKEN and peer.entry is not None and not peer.is_taken:
            self.confirm(peer)
            return peer.entry.answer[3] == _HANDLE  # the connection is the lease
        if operation != _OPEN or peer.entry is not None:
            return False
        return self.answer(connection, peer, version, generation, token)

    def confirm(self, peer):
        """The importer has the memory."""
        peer.is_taken = True
        with self.lock:
            peer.entry.pending -= 1
            if peer.entry.uses == 0 and peer.entry.pending == 0:
                self.entries.pop(peer.token, None)

    def part_from(self, peer):
        if peer.entry is not None and not peer.is_taken:
            with self.lock:
                peer.entry.pending -= 1
                peer.entry.uses += 1  # it was never confirmed

    def refuse(self, connection, status, text):
        message = text.encode()[:127]
        try:
            connection.send(_ANSWER.pack(b'SBVA', VERSION, status, 0, 0, 0, 0, 0, 0, 0, b'', b'', message))
        except OSError:
            pass
        return False

    def answer(self, connection, peer, version, generation, token):
        if version != VERSION:
            return self.refuse(connection, _FAILED, f'the process that shared the memory speaks version {VERSION}, not {version}')
        with self.lock:
            entry = self.entries.get(token)
            if entry is None or entry.generation != generation or entry.uses == 0:
                entry = None
            else:
                entry.uses -= 1
                entry.pending += 1
        if entry is None:
            return self.refuse(connection, _STALE, 'the descriptor was used up or taken back, or is none')
        peer.entry, peer.token = entry, token
        fds = []
        try:
            driver = _driver()
            with driver.on(entry.ordinal):
                driver.call('cuCtxSynchronize')  # what is pending is seen by whoever opens it
                if entry.segment is not None:
                    fd = C.c_int(-1)
                    driver.call('cuMemExportToShareableHandle', C.byref(fd), entry.segment, 1, 0)
                    fds.append(fd.value)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', fds))] if fds else []
            connection.sendmsg([_ANSWER.pack(*entry.answer)], rights)
            return True
        except Error as error:
            return self.refuse(connection, _FAILED, str(error))
        except OSError:
            return False
        finally:
            for fd in fds:
                os.close(fd)


class _Peer:
    def __init__(self):
        self.entry, self.token, self.is_taken = None, None, False


_the_office = None
_office_lock = threading.Lock()


def _office():
    global _the_office
    with _office_lock:
        if _the_office is None or _the_office.pid != os.getpid():
            _the_office = _Office()
        return _the_office


def _layout_of(x):
    """(dtype, shape, strides in elements, address, read-only, device or None)."""
    if isinstance(x, Memory):
        x._check()
        x._is_shown = True  # close() leaves it to whoever has it last
        return x.dtype, list(x.shape), list(x.strides), x._ptr, x.read_only, x.device
    if type(x).__module__.split('.')[0] == 'torch':
        if not x.is_cuda:
            raise Error('ERR_ARGUMENT', 'the tensor is not on a GPU')
        dtype = str(x.dtype).split('.')[-1]
        return dtype, list(x.shape), list(x.stride()), x.data_ptr(), False, x.device.index
    interface = getattr(x, '__cuda_array_interface__', None)
    if not isinstance(interface, dict):
        raise Error('ERR_ARGUMENT', f'{type(x).__name__} has no __cuda_array_interface__')
    typestr = interface['typestr']
    dtype = _OF_TYPESTR.get(typestr[1:])
    if dtype is None or typestr[0] == '>':
        raise Error('ERR_DTYPE', f'{typestr} has no counterpart in samebytes')
    itemsize, shape, steps = _DTYPES[dtype][1], list(interface['shape']), interface.get('strides')
    if steps is not None and any(step % itemsize for step in steps):
        raise Error('ERR_ALIGNMENT', f'strides of {tuple(steps)} bytes are not multiples of {itemsize}')
    strides = _dense(shape) if steps is None else [step // itemsize for step in steps]
    address, read_only = interface['data']
    return dtype, shape, strides, address, bool(read_only), None


def share(x, uses=1):
    """A descriptor of GPU memory for another process, of the same user on the same machine: cuda.open(d) in Node, open(d) here.

    x      what empty() or a CUDA tensor of PyTorch or CuPy, or anything with __cuda_array_interface__. It is kept until the
           descriptor is used up or taken back; memory that is not of empty() also while somebody has it open
    uses   how many processes may open it
    Gives  a dict that JSON can carry
    Errors ERR_ARGUMENT no GPU memory · ERR_BOUNDS uses below 1 · ERR_DTYPE · ERR_ALIGNMENT ·
           ERR_UNSUPPORTED memory of an allocator that the driver does not share (expandable segments, memory pools)"""
    if isinstance(uses, bool) or not isinstance(uses, int):
        raise Error('ERR_ARGUMENT', f'uses is {uses!r}; an integer was expected')
    if not 1 <= uses < 2 ** 31:
        raise Error('ERR_BOUNDS', f'uses is {uses}; it is at least 1')
    dtype, shape, strides, address, read_only, device = _layout_of(x)
    if dtype not in _DTYPES:
        raise Error('ERR_DTYPE', f'{dtype} has no counterpart in samebytes')
    driver = _driver()
    reach = _reach(shape, strides)
    itemsize = _DTYPES[dtype][1]
    kind, handle, segment, base, size, first, last = _NOTHING, b'', None, 0, 0, 0, 0
    if reach is not None:
        first, last = address + reach[0] * itemsize, address + (reach[1] + 1) * itemsize
        if device is None:
            ordinal = C.c_int()
            with driver.on(0):
                driver.call('cuPointerGetAttribute', C.byref(ordinal), 9, address)
            device = ordinal.value
        mapping = getattr(x, '_mapping', None)
        if isinstance(x, Memory) and hasattr(mapping, 'handle'):
            kind, segment, base, size = _FILE, mapping.handle, mapping.base, mapping.size
        else:
            kind, (handle, base, size) = _HANDLE, _handle_of(driver, device, address)
    device = device or 0
    with driver.on(device):
        driver.call('cuCtxSynchronize')
    if kind == _NOTHING:
        address = base = first = last = 0

    def answer(generation):
        return (b'SBVA', VERSION, _DONE, kind, _READ_ONLY if read_only else 0, 0, generation, size, first - base,
                last - first, driver.uuids[device], bytes(handle), b'')

    office = _office()
    entry = _Entry(x, device, uses, segment)
    token = office.add(entry, answer)
    return {'samebytes': 'vram', 'version': VERSION, 'socket': office.name, 'token': token.hex(),
            'uuid': _uuid_text(driver.uuids[device]), 'generation': entry.generation, 'offset': address - base,
            'nbytes': last - first, 'dtype': dtype, 'shape': shape, 'strides': strides, 'readOnly': read_only,
            'lease': 'exporter' if kind == _HANDLE else 'none'}


def _handle_of(driver, device, address):
    """The driver's handle of the whole allocation that has an address, its base and its size."""
    base, size, handle = C.c_uint64(), C.c_size_t(), _Handle()
    with driver.on(device):
        driver.call('cuMemGetAddressRange_v2', C.byref(base), C.byref(size), address)
        result = driver.result('cuIpcGetMemHandle', C.byref(handle), base.value)
    if result:
        raise Error('ERR_UNSUPPORTED', f'the driver shares no memory of this allocator ({driver.name_of(result)}); '
                                       'samebytes_cuda.empty() makes memory that can be shared')
    return bytes(handle.bytes), base.value, size.value


def unshare(descriptor):
    """Takes back what nobody has opened yet. What was opened stays.

    Errors   ERR_STALE used up, taken back already, or of another process · ERR_ARGUMENT no descriptor"""
    d = _fields(descriptor)
    office = _the_office
    if office is None or office.pid != os.getpid() or d['socket'] != office.name:
        raise Error('ERR_STALE', 'the descriptor is of another process')
    with office.lock:
        entry = office.entries.pop(d['token'], None)
    if entry is None:
        raise Error('ERR_STALE', 'the descriptor was used up or taken back already')
