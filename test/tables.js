'use strict'
// Literal values: what each dtype's elements read as, the bytes they are, and what casts must give.
// The bytes were made with Python's struct.pack('<…', …).

const MAX_INT64 = 9223372036854775807n
const MIN_INT64 = -9223372036854775808n
const MAX_UINT64 = 18446744073709551615n

/** Six values per dtype, as they come out, and their bytes, little-endian. */
const SAMPLES = [
  {
    dtype: 'bool',
    itemsize: 1,
    array: Uint8Array,
    values: [true, false, true, true, false, false],
    bytes: '010001010000',
  },
  {
    dtype: 'uint8',
    itemsize: 1,
    array: Uint8Array,
    values: [0, 1, 127, 128, 254, 255],
    bytes: '00017f80feff',
  },
  {
    dtype: 'int8',
    itemsize: 1,
    array: Int8Array,
    values: [0, 1, -1, 127, -128, -2],
    bytes: '0001ff7f80fe',
  },
  {
    dtype: 'int16',
    itemsize: 2,
    array: Int16Array,
    values: [0, 1, -1, 32767, -32768, 258],
    bytes: '00000100ffffff7f00800201',
  },
  {
    dtype: 'uint16',
    itemsize: 2,
    array: Uint16Array,
    values: [0, 1, 258, 32767, 32768, 65535],
    bytes: '000001000201ff7f0080ffff',
  },
  {
    dtype: 'int32',
    itemsize: 4,
    array: Int32Array,
    values: [0, 1, -1, 2147483647, -2147483648, 16909060],
    bytes: '0000000001000000ffffffffffffff7f0000008004030201',
  },
  {
    dtype: 'uint32',
    itemsize: 4,
    array: Uint32Array,
    values: [0, 1, 2147483647, 2147483648, 4294967295, 16909060],
    bytes: '0000000001000000ffffff7f00000080ffffffff04030201',
  },
  {
    dtype: 'int64',
    itemsize: 8,
    array: BigInt64Array,
    values: [0n, 1n, -1n, MAX_INT64, MIN_INT64, 72623859790382856n],
    bytes:
      '00000000000000000100000000000000ffffffffffffffff' +
      'ffffffffffffff7f00000000000000800807060504030201',
  },
  {
    dtype: 'uint64',
    itemsize: 8,
    array: BigUint64Array,
    values: [0n, 1n, MAX_INT64, 9223372036854775808n, MAX_UINT64, 72623859790382856n],
    bytes:
      '00000000000000000100000000000000ffffffffffffff7f' +
      '0000000000000080ffffffffffffffff0807060504030201',
  },
  {
    dtype: 'float16',
    itemsize: 2,
    array: globalThis.Float16Array ?? Uint16Array,
    values: [0.5, -1.5, 2, 65504, -0.25, 5.960464477539063e-8],
    bytes: '003800be0040ff7b00b40100',
  },
  {
    dtype: 'bfloat16',
    itemsize: 2,
    array: Uint16Array,
    values: [0.5, -1.5, 2, 3.3895313892515355e38, -0.25, 9.183549615799121e-41],
    bytes: '003fc0bf00407f7f80be0100',
  },
  {
    dtype: 'float32',
    itemsize: 4,
    array: Float32Array,
    values: [0.5, -1.5, 16777216, 3.4028234663852886e38, -0.25, 1.401298464324817e-45],
    bytes: '0000003f0000c0bf0000804bffff7f7f000080be01000000',
  },
  {
    dtype: 'float64',
    itemsize: 8,
    array: Float64Array,
    values: [0.1, -1.5, 9007199254740992, 1.7976931348623157e308, -0.25, 5e-324],
    bytes:
      '9a9999999999b93f000000000000f8bf0000000000004043' +
      'ffffffffffffef7f000000000000d0bf0100000000000000',
  },
  {
    dtype: 'complex64',
    itemsize: 8,
    array: Float32Array,
    values: [
      [0.5, -1.5],
      [2, -0.25],
      [0, 1],
      [1, 0],
      [-1, -1],
      [16777216, 3.4028234663852886e38],
    ],
    bytes:
      '0000003f0000c0bf00000040000080be000000000000803f' +
      '0000803f00000000000080bf000080bf0000804bffff7f7f',
  },
  {
    dtype: 'complex128',
    itemsize: 16,
    array: Float64Array,
    values: [
      [0.1, -1.5],
      [2, -0.25],
      [0, 1],
      [1, 0],
      [-1, -1],
      [9007199254740992, 1.7976931348623157e308],
    ],
    bytes:
      '9a9999999999b93f000000000000f8bf0000000000000040000000000000d0bf' +
      '0000000000000000000000000000f03f000000000000f03f0000000000000000' +
      '000000000000f0bf000000000000f0bf0000000000004043ffffffffffffef7f',
  },
  {
    dtype: 'float8_e4m3fn',
    itemsize: 1,
    array: Uint8Array,
    values: [0.5, -1.5, 2, 448, -0.25, 0.001953125],
    bytes: '30bc407ea801',
  },
  {
    dtype: 'float8_e5m2',
    itemsize: 1,
    array: Uint8Array,
    values: [0.5, -1.5, 2, 57344, -0.25, 0.0000152587890625],
    bytes: '38be407bb401',
  },
]

/** Casts by value, 'unsafe': JS values (exact in `from`) and what they must become. */
const CASTS = [
  // float to integer truncates, saturates, and NaN is 0
  [
    'float64',
    'int32',
    [NaN, Infinity, -Infinity, 1.9, -1.9, 2147483647.9, 2147483648, -2147483648.9, -2147483649, -0],
    [0, 2147483647, -2147483648, 1, -1, 2147483647, 2147483647, -2147483648, -2147483648, 0],
  ],
  ['float64', 'int8', [NaN, 127.9, 128, -128.9, -129, 1e300], [0, 127, 127, -128, -128, 127]],
  ['float64', 'int16', [NaN, 32767.5, 32768, -32769, 65536], [0, 32767, 32767, -32768, 32767]],
  ['float64', 'uint8', [NaN, -0.9, -1, 255.9, 256, -1e300], [0, 0, 0, 255, 255, 0]],
  ['float64', 'uint16', [NaN, -1, 65535.9, 65536, Infinity], [0, 0, 65535, 65535, 65535]],
  [
    'float64',
    'uint32',
    [NaN, -5, 4294967295.9, 4294967296, 1.5],
    [0, 0, 4294967295, 4294967295, 1],
  ],
  [
    'float64',
    'int64',
    [NaN, 9223372036854775808, 9223372036854774784, -9223372036854775808, -1e300, Infinity, -2.5],
    [0n, MAX_INT64, 9223372036854774784n, MIN_INT64, MIN_INT64, MAX_INT64, -2n],
  ],
  [
    'float64',
    'uint64',
    [NaN, 18446744073709551616, 18446744073709549568, -1, 0.99, -Infinity, 9223372036854775808],
    [0n, MAX_UINT64, 18446744073709549568n, 0n, 0n, 0n, 9223372036854775808n],
  ],
  [
    'float32',
    'int32',
    [NaN, 2147483648, 2147483520, -2147483648, -3000000000, 0.99],
    [0, 2147483647, 2147483520, -2147483648, -2147483648, 0],
  ],
  [
    'float32',
    'uint32',
    [NaN, 4294967296, 4294967040, -1, Infinity],
    [0, 4294967295, 4294967040, 0, 4294967295],
  ],
  [
    'float32',
    'int64',
    [NaN, 9223372036854775808, -9223372036854775808, 9223371487098961920],
    [0n, MAX_INT64, MIN_INT64, 9223371487098961920n],
  ],
  [
    'float32',
    'uint64',
    [NaN, 18446744073709551616, 18446742974197923840, -0.5],
    [0n, MAX_UINT64, 18446742974197923840n, 0n],
  ],
  ['float32', 'uint8', [NaN, 255.99998474121094, 256, -1, 2.5, -Infinity], [0, 255, 255, 0, 2, 0]],
  ['float32', 'int8', [NaN, 127.5, 128, -128.5, -129, Infinity], [0, 127, 127, -128, -128, 127]],
  ['float16', 'int16', [NaN, 65504, -65504, Infinity, 1.5], [0, 32767, -32768, 32767, 1]],
  ['float16', 'uint8', [NaN, 300, -1, 254.875], [0, 255, 0, 254]],
  ['float16', 'int64', [NaN, Infinity, -65504, -Infinity], [0n, MAX_INT64, -65504n, MIN_INT64]],
  ['bfloat16', 'int32', [NaN, 2147483648, -3.5, -Infinity], [0, 2147483647, -3, -2147483648]],
  ['bfloat16', 'uint64', [NaN, 18446744073709551616, 1.5], [0n, MAX_UINT64, 1n]],
  // anything to bool asks whether it is zero
  ['float64', 'bool', [0, -0, 5e-324, NaN, 0.5, -Infinity], [false, false, true, true, true, true]],
  ['float32', 'bool', [0, -0, 1.401298464324817e-45, NaN], [false, false, true, true]],
  ['float16', 'bool', [0, -0, 5.960464477539063e-8, NaN], [false, false, true, true]],
  ['bfloat16', 'bool', [0, -0, 9.183549615799121e-41, NaN], [false, false, true, true]],
  ['int32', 'bool', [0, 256, 65536, -1], [false, true, true, true]],
  ['int64', 'bool', [0n, 4294967296n, MIN_INT64], [false, true, true]],
  [
    'complex64',
    'bool',
    [
      [0, 0],
      [-0, 0],
      [0, 1],
      [1, 0],
      [NaN, 0],
    ],
    [false, false, true, true, true],
  ],
  ['bool', 'int32', [true, false], [1, 0]],
  ['bool', 'uint64', [true, false], [1n, 0n]],
  ['bool', 'float16', [true, false], [1, 0]],
  ['bool', 'bfloat16', [true, false], [1, 0]],
  [
    'bool',
    'complex128',
    [true, false],
    [
      [1, 0],
      [0, 0],
    ],
  ],
  // integer to integer wraps
  ['int32', 'uint8', [256, 257, -1, 511, -256], [0, 1, 255, 255, 0]],
  ['int32', 'int8', [128, 255, -129, 384], [-128, -1, 127, -128]],
  ['int16', 'uint16', [-1, -32768], [65535, 32768]],
  ['uint32', 'int32', [4294967295, 2147483648], [-1, -2147483648]],
  ['int64', 'int32', [4294967301n, 2147483648n, MIN_INT64], [5, -2147483648, 0]],
  ['int64', 'uint64', [-1n, MIN_INT64], [MAX_UINT64, 9223372036854775808n]],
  ['uint64', 'int64', [MAX_UINT64, 9223372036854775808n], [-1n, MIN_INT64]],
  ['uint64', 'int8', [MAX_UINT64, 128n], [-1, -128]],
  ['int8', 'uint64', [-1, -128], [MAX_UINT64, 18446744073709551488n]],
  ['int8', 'uint16', [-1, 127], [65535, 127]],
  ['uint8', 'int64', [255], [255n]],
  // integers to floats round once, to nearest, ties to even
  [
    'int32',
    'float32',
    [16777217, 16777219, -16777217, 2147483647],
    [16777216, 16777220, -16777216, 2147483648],
  ],
  ['uint32', 'float32', [4294967295, 16777219], [4294967296, 16777220]],
  [
    'int64',
    'float32',
    [MAX_INT64, MIN_INT64, 16777217n, 16777219n, 1152921573326323713n],
    [9223372036854775808, -9223372036854775808, 16777216, 16777220, 1152921642045800448],
  ],
  [
    'uint64',
    'float32',
    [MAX_UINT64, 1152921573326323713n, 9223372036854775808n],
    [18446744073709551616, 1152921642045800448, 9223372036854775808],
  ],
  [
    'int64',
    'float64',
    [9007199254740993n, 9007199254740995n, MAX_INT64, MIN_INT64],
    [9007199254740992, 9007199254740996, 9223372036854775808, -9223372036854775808],
  ],
  [
    'uint64',
    'float64',
    [MAX_UINT64, 9223372036854776833n],
    [18446744073709551616, 9223372036854777856],
  ],
  ['int32', 'bfloat16', [257, 259, -257, 2147483647], [256, 260, -256, 2147483648]],
  [
    'int64',
    'bfloat16',
    [1157425104234217473n, 1157425104234217472n, MAX_INT64],
    [2 ** 60 + 2 ** 53, 1152921504606846976, 9223372036854775808],
  ],
  [
    'uint64',
    'bfloat16',
    [MAX_UINT64, 1157425104234217473n],
    [18446744073709551616, 2 ** 60 + 2 ** 53],
  ],
  [
    'int32',
    'float16',
    [2049, 2051, 65519, 65520, -65520],
    [2048, 2052, 65504, Infinity, -Infinity],
  ],
  [
    'int64',
    'float16',
    [2049n, 2051n, 65519n, 65520n, MIN_INT64],
    [2048, 2052, 65504, Infinity, -Infinity],
  ],
  ['uint64', 'float16', [2051n, MAX_UINT64], [2052, Infinity]],
  ['uint8', 'float32', [0, 255], [0, 255]],
  // floats to narrower floats round once, to nearest, ties to even
  [
    'float64',
    'float32',
    [0.1, 16777217, 16777219, 1e39, -1e-50, 3.4028235677973366e38],
    [0.10000000149011612, 16777216, 16777220, Infinity, -0, Infinity],
  ],
  [
    'float32',
    'float16',
    [
      1.00048828125,
      1.00146484375,
      65519.99609375,
      65520,
      -65520,
      2 ** -25,
      8.940696716308594e-8,
      -1.4901161193847656e-8,
    ],
    [1, 1.001953125, 65504, Infinity, -Infinity, 0, 1.1920928955078125e-7, -0],
  ],
  [
    'float64',
    'float16',
    [1.0004882812509095, 1.00048828125, 65519.99999999999],
    [1.0009765625, 1, 65504],
  ],
  [
    'float32',
    'bfloat16',
    [1.00390625, 1.01171875, 3.39617752923046e38, 3.396177326406364e38],
    [1, 1.015625, Infinity, 3.3895313892515355e38],
  ],
  ['float64', 'bfloat16', [1.0039062500009095, 1.00390625], [1.0078125, 1]],
  ['float16', 'bfloat16', [1.00390625, 65504], [1, 65536]],
  ['bfloat16', 'float16', [65536, 1.0078125, 9.183549615799121e-41], [Infinity, 1.0078125, 0]],
  [
    'float16',
    'float32',
    [65504, -0, 5.960464477539063e-8, Infinity],
    [65504, -0, 5.960464477539063e-8, Infinity],
  ],
  [
    'bfloat16',
    'float64',
    [1.5, -Infinity, 9.183549615799121e-41],
    [1.5, -Infinity, 9.183549615799121e-41],
  ],
  [
    'float32',
    'float8_e4m3fn',
    [1.0625, 1.1875, 448, 464, -0, 0.0009765625, 0.0029296875],
    [1, 1.25, 448, 448, -0, 0, 0.00390625],
  ],
  [
    'float32',
    'float8_e5m2',
    [1.125, 1.375, 57344, 61439, 61440, -Infinity, -0],
    [1, 1.5, 57344, 57344, Infinity, -Infinity, -0],
  ],
  ['float8_e4m3fn', 'float32', [448, -0.001953125, 0.015625], [448, -0.001953125, 0.015625]],
  [
    'float8_e5m2',
    'float32',
    [57344, Infinity, 0.0000152587890625],
    [57344, Infinity, 0.0000152587890625],
  ],
  // complex
  [
    'float32',
    'complex64',
    [1.5, -0],
    [
      [1.5, 0],
      [-0, 0],
    ],
  ],
  ['int64', 'complex128', [9007199254740993n], [[9007199254740992, 0]]],
  ['complex128', 'complex64', [[0.1, 1e39]], [[0.10000000149011612, Infinity]]],
  ['complex64', 'complex128', [[0.5, -3]], [[0.5, -3]]],
  ['complex64', 'float32', [[1.5, 7]], [1.5]],
  ['complex128', 'int32', [[-1.9, 7]], [-1]],
]

/** What a float's quiet NaN is, as bits, whatever the NaN it was cast from. */
const CANONICAL_NAN = {
  float16: '007e',
  bfloat16: 'c07f',
  float32: '0000c07f',
  float64: '000000000000f87f',
  float8_e4m3fn: '7f',
  float8_e5m2: '7e',
}

/** NaNs with a sign and a payload. */
const ODD_NAN = {
  float16: '01fe',
  bfloat16: 'a1ff',
  float32: '4523c1ff',
  float64: 'efcdab896745f3ff',
  float8_e5m2: 'ff',
}

module.exports = { CANONICAL_NAN, CASTS, MAX_INT64, MAX_UINT64, MIN_INT64, ODD_NAN, SAMPLES }
