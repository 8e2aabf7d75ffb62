"""libsamebytes through ctypes: tensors that NumPy and PyTorch take and give by DLPack and by __array_interface__."""
import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_uint8, c_void_p

MAX_DIMS = 64
DTYPES = ['bool', 'uint8', 'int8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16', 'bfloat16', 'float32',
          'float64', 'complex64', 'complex128', 'float8_e4m3fn', 'float8_e5m2']
TYPESTRS = {'bool': '|b1', 'uint8': '|u1', 'int8': '|i1', 'int16': '<i2', 'uint16': '<u2', 'int32': '<i4', 'uint32': '<u4',
            'int64': '<i8', 'uint64': '<u8', 'float16': '<f2', 'float32': '<f4', 'float64': '<f8', 'complex64': '<c8', 'complex128': '<c16'}
READ_ONLY = 1


class sb_tensor(ctypes.Structure):
    _fields_ = [('abi', c_uint32), ('struct_size', c_uint32), ('storage', c_void_p), ('dtype', c_int), ('ndim', c_int32),
                ('dynamism', c_int32), ('flags', c_uint32), ('offset', c_int64), ('capacity', c_int64),
                ('shape', c_int64 * MAX_DIMS), ('strides', c_int64 * MAX_DIMS)]


class DLTensor(ctypes.Structure):
    _fields_ = [('data', c_void_p), ('device_type', c_int32), ('device_id', c_int32), ('ndim', c_int32), ('code', c_uint8),
                ('bits', c_uint8), ('lanes', c_uint16), ('shape', POINTER(c_int64)), ('strides', POINTER(c_int64)),
                ('byte_offset', c_uint64)]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [('tensor', DLTensor), ('context', c_void_p), ('deleter', ctypes.CFUNCTYPE(None, c_void_p))]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [('major', c_uint32), ('minor', c_uint32), ('context', c_void_p), ('deleter', ctypes.CFUNCTYPE(None, c_void_p)),
                ('flags', c_uint64), ('tensor', DLTensor)]


class sb_scalar(ctypes.Structure):
    class Value(ctypes.Union):
        _fields_ = [('i', c_int64), ('real', ctypes.c_double), ('pair', ctypes.c_double * 2)]
    _fields_ = [('kind', c_int), ('value', Value)]


Deleter = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


def load(path):
    lib = ctypes.CDLL(path)
    tensor = POINTER(sb_tensor)
    signatures = {
        'sb_error_message': (c_char_p, []),
        'sb_status_name': (c_char_p, [c_int]),
        'sb_dtype_itemsize': (c_int64, [c_int]),
        'sb_tensor_from_blob': (c_int, [c_void_p, c_size_t, c_int, c_int32, POINTER(c_int64), POINTER(c_int64), Deleter, c_void_p, tensor]),
        'sb_tensor_from_bytes': (c_int, [c_void_p, c_size_t, c_int, c_int32, POINTER(c_int64), tensor]),
        'sb_tensor_empty': (c_int, [c_int, c_int32, POINTER(c_int64), tensor]),
        'sb_tensor_release': (None, [tensor]),
        'sb_tensor_retain': (None, [tensor]),
        'sb_tensor_copy_layout': (None, [tensor, tensor]),
        'sb_tensor_data': (c_void_p, [tensor]),
        'sb_storage_nbytes': (c_size_t, [c_void_p]),
        'sb_fill': (c_int, [tensor, POINTER(sb_scalar)]),
        'sb_permute': (c_int, [tensor, c_int32, POINTER(c_int64), tensor]),
        'sb_flip': (c_int, [tensor, c_int32, POINTER(c_int64), tensor]),
        'sb_narrow': (c_int, [tensor, c_int64, c_int64, c_int64, tensor]),
        'sb_tensor_to_dlpack': (c_int, [tensor, c_uint64, POINTER(c_void_p)]),
        'sb_tensor_to_dlpack_legacy': (c_int, [tensor, POINTER(c_void_p)]),
        'sb_tensor_from_dlpack': (c_int, [c_void_p, tensor]),
        'sb_tensor_from_dlpack_legacy': (c_int, [c_void_p, tensor]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments
    return lib


class Failed(Exception):
    pass


# ---- Capsules: names are compared by their text and have to stay; the destructor as well ----

UNUSED, USED = b'dltensor', b'used_dltensor'
api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
api.PyCapsule_GetPointer.restype = c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]
api.PyCapsule_IsValid.restype = c_int
api.PyCapsule_SetName.argtypes = [ctypes.py_object, c_char_p]

_is_valid = ctypes.PYFUNCTYPE(c_int, c_void_p, c_char_p)(('PyCapsule_IsValid', api))
_pointer = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(('PyCapsule_GetPointer', api))


@ctypes.PYFUNCTYPE(None, c_void_p)
def destroy(capsule):
    if not _is_valid(capsule, UNUSED):
        return # whoever used it frees it
    address = _pointer(capsule, UNUSED)
    DLManagedTensor.from_address(address).deleter(address)


def int64s(values):
    return (c_int64 * max(1, len(values)))(*values)


class Tensor:
    """An sb_tensor that holds its storage."""

    def __init__(self, lib):
        self.lib = lib
        self.c = sb_tensor()
        self.capsule = None

    def __del__(self):
        self.capsule = None
        self.lib.sb_tensor_release(self.c)

    def check(self, status):
        if status:
            raise Failed(f'{self.lib.sb_status_name(status).decode()}: {self.lib.sb_error_message().decode()}')

    @classmethod
    def of_bytes(cls, lib, data, dtype, shape):
        """A copy of an array's bytes."""
        t = cls(lib)
        t.check(lib.sb_tensor_from_bytes(data, len(data), DTYPES.index(dtype), len(shape), int64s(shape), t.c))
        return t

    @classmethod
    def over(cls, lib, address, nbytes, dtype, shape, deleter):
        t = cls(lib)
        t.kept = deleter
        t.check(lib.sb_tensor_from_blob(address, nbytes, DTYPES.index(dtype), len(shape), int64s(shape), None, deleter, None, t.c))
        return t

    @classmethod
    def from_capsule(cls, lib, capsule):
        t = cls(lib)
        t.check(lib.sb_tensor_from_dlpack_legacy(api.PyCapsule_GetPointer(capsule, UNUSED), t.c))
        api.PyCapsule_SetName(capsule, USED)
        return t

    def view(self, name, *arguments):
        out = Tensor(self.lib)
        self.check(getattr(self.lib, name)(self.c, *arguments, out.c))
        self.lib.sb_tensor_retain(out.c)
        return out

    def fill(self, value):
        scalar = sb_scalar(3)
        scalar.value.real = value
        self.check(self.lib.sb_fill(self.c, scalar))

    @property
    def dtype(self):
        return DTYPES[self.c.dtype]

    @property
    def shape(self):
        return tuple(self.c.shape[:self.c.ndim])

    @property
    def strides(self):
        return tuple(self.c.strides[:self.c.ndim])

    @property
    def address(self):
        return self.lib.sb_tensor_data(self.c) or 0

    # What NumPy and PyTorch ask for:

    def __dlpack__(self, stream=None):
        out = c_void_p()
        status = self.lib.sb_tensor_to_dlpack_legacy(self.c, out)
        if status:
            raise BufferError(self.lib.sb_error_message().decode())
        # Kept, because a consumer that refuses it drops it with an exception set, in which no destructor in Python can run.
        self.capsule = api.PyCapsule_New(out, UNUSED, ctypes.cast(destroy, c_void_p))
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)

    @property
    def __array_interface__(self):
        if self.dtype not in TYPESTRS:
            raise AttributeError(f'NumPy has no {self.dtype}')
        itemsize = self.lib.sb_dtype_itemsize(self.c.dtype)
        return {
            'version': 3,
            'typestr': TYPESTRS[self.dtype],
            'shape': self.shape,
            'strides': tuple(n * itemsize for n in self.strides),
            'data': (self.address, bool(self.c.flags & READ_ONLY)),
        }
