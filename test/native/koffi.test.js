'use strict'
// C libraries, called through koffi, on the memory of tensors: addresses go both ways.
const assert = require('node:assert/strict')
const { fromBlob, flush, memory, tensor, zeros } = require('samebytes')
const { collectUntil, copied, nativeOnly, needs, settledMemory } = require('../setup')

describe('koffi', function () {
  nativeOnly()
  needs('/proc') // and the libraries of such systems
  let koffi
  let libc
  let zlib

  before(() => {
    koffi = require('koffi')
    libc = koffi.load('libc.so.6')
    zlib = koffi.load('libz.so.1')
  })

  it('lets the C library write to a uint8 tensor, by its typed array and by its address', () => {
    const memset = libc.func('void *memset(void *, int, size_t)')
    const t = zeros([2, 4], 'uint8')
    const { copies } = copied(() => {
      memset(t.data, 7, 2)
      memset(t.dataPtr + 4n, 9, 3)
    })
    assert.deepEqual(copies, {})
    assert.deepEqual(t.toArray(), [
      [7, 7, 0, 0],
      [9, 9, 9, 0],
    ])
  })

  it('lets qsort sort a row of a float64 tensor in place, with a comparison in JavaScript', () => {
    koffi.proto('int Compare(const void *, const void *)')
    const qsort = libc.func('void qsort(void *, size_t, size_t, Compare *)')
    const t = tensor(
      [
        [9, 8, 7],
        [3, 1, 2],
      ],
      { dtype: 'float64' },
    )
    const row = t.select(0, 1)
    qsort(
      row.dataPtr,
      row.size,
      row.itemsize,
      (a, b) => koffi.decode(a, 'double') - koffi.decode(b, 'double'),
    )
    assert.deepEqual(t.toArray(), [
      [9, 8, 7],
      [1, 2, 3],
    ])
  })

  it('lets zlib read and write uint8 tensors: packed and unpacked, byte for byte', () => {
    const crc32 = zlib.func('unsigned long crc32(unsigned long, const void *, unsigned int)')
    const compress = zlib.func(
      'int compress(void *, _Inout_ unsigned long *, const void *, unsigned long)',
    )
    const uncompress = zlib.func(
      'int uncompress(void *, _Inout_ unsigned long *, const void *, unsigned long)',
    )
    assert.equal(Number(crc32(0, tensor(Buffer.from('123456789')).dataPtr, 9)), 0xcbf43926) // the check value of CRC-32
    const t = tensor(new Uint8Array(10000).map((_, i) => i % 7))
    const packed = zeros([20000], 'uint8')
    const length = [packed.nbytes]
    assert.equal(compress(packed.dataPtr, length, t.dataPtr, t.nbytes), 0)
    packed.resize([Number(length[0])])
    assert.ok(packed.size < 1000)
    assert.deepEqual(require('node:zlib').inflateSync(packed.data), Buffer.from(t.bytes))
    const back = zeros([10000], 'uint8')
    length[0] = back.nbytes
    assert.equal(uncompress(back.dataPtr, length, packed.dataPtr, packed.nbytes), 0)
    assert.deepEqual(back.data, t.data)
  })

  it('makes a float32 tensor of what malloc gave, and frees it once', async () => {
    const malloc = libc.func('void *malloc(size_t)')
    const free = libc.func('void free(void *)')
    const freed = []
    const address = BigInt(koffi.address(malloc(16)))
    const { result: t, copies } = copied(() =>
      fromBlob(address, [2, 2], {
        dtype: 'float32',
        nbytes: 16,
        deleter: (at) => {
          freed.push(at)
          free(at)
        },
      }),
    )
    assert.deepEqual(copies, {})
    t.copyFrom([
      [1, 2],
      [3, 4],
    ])
    assert.deepEqual(koffi.decode(address, 'float', 4), Float32Array.of(1, 2, 3, 4))
    new Float32Array(koffi.view(address, 16))[2] = 30
    assert.equal(t.get(1, 0), 30)
    assert.equal(t.dataPtr, address)
    const row = t.select(0, 1)
    t.dispose()
    await flush()
    assert.deepEqual(freed, [])
    assert.deepEqual(row.toArray(), [30, 4])
    row.dispose()
    await flush()
    assert.deepEqual(freed, [address])
  })

  it('hands a blob record over: C writes to a float32 view with strides, at its ptr', () => {
    const memcpy = libc.func('void *memcpy(void *, const void *, size_t)')
    const t = zeros([3, 4])
    const { ptr, strides, elementSize, shape } = t.slice(':', 1).toBlob()
    const column = Float32Array.of(1, 2, 3)
    for (let i = 0; i < shape[0]; i++) {
      memcpy(ptr + BigInt(i * strides[0] * elementSize), column.subarray(i), elementSize)
    }
    assert.deepEqual(t.toArray(), [
      [0, 1, 0, 0],
      [0, 2, 0, 0],
      [0, 3, 0, 0],
    ])
  })

  it('keeps float32 bytes as long as a record of them is there, and only so long', async () => {
    const memset = libc.func('void *memset(void *, int, size_t)')
    const before = settledMemory().storages
    let record = zeros([1 << 20]).toBlob() // the tensor itself is nobody's any more
    await collectUntil(() => true)
    memset(record.ptr, 0, 1 << 22)
    const t = fromBlob(record)
    record = null
    await collectUntil(() => true)
    memset(t.dataPtr + 4n, 0xff, 4)
    assert.ok(Number.isNaN(t.get(1)))
    assert.equal(t.get(2), 0)
    t.dispose()
    assert.ok(
      await collectUntil(() => memory().storages <= before),
      `${memory().storages} storages, ${before} before`,
    )
  })
})
