'use strict'
const assert = require('node:assert/strict')
const vm = require('node:vm')
const samebytes = require('samebytes')
const { anotherCopy, refuses, skipWithout } = require('../setup')

const { empty, fromBlob, tensor, zeros } = samebytes
const other = vm.createContext({})
/** what an expression gives in another realm */
const foreign = source => vm.runInContext(`(${source})`, other)

const ARRAYS = {
  Uint8Array: 'uint8',
  Uint8ClampedArray: 'uint8',
  Int8Array: 'int8',
  Int16Array: 'int16',
  Uint16Array: 'uint16',
  Int32Array: 'int32',
  Uint32Array: 'uint32',
  Float32Array: 'float32',
  Float64Array: 'float64'
}

describe('another realm\'s objects', () => {
  it('are not of this realm, in these tests', () => {
    assert.ok(!(foreign('new Float32Array(1)') instanceof Float32Array))
    assert.ok(!(foreign('[]') instanceof Array))
  })

  for (const [name, dtype] of Object.entries(ARRAYS)) {
    it(`${name}: ${dtype} for tensor, fromBlob, copyFrom and setBytes`, () => {
      const array = foreign(`new ${name}([1, 2, 3, 4])`)
      assert.equal(tensor(array).dtype, dtype)
      assert.deepEqual(tensor(array, [2, 2]).toArray(), [[1, 2], [3, 4]])
      const t = fromBlob(array, [2, 2])
      t.set(9, 1, 1)
      assert.equal(array[3], 9)
      assert.deepEqual(zeros([4], dtype).copyFrom(array).toArray(), [1, 2, 3, 9])
      assert.deepEqual(zeros([4], dtype).setBytes(array).toArray(), [1, 2, 3, 9])
      assert.equal(t.data.buffer, array.buffer)
    })
  }

  it('BigInt64Array and BigUint64Array: int64 and uint64', () => {
    assert.deepEqual(tensor(foreign('new BigInt64Array([-1n])')).toArray(), [-1n])
    assert.deepEqual(fromBlob(foreign('new BigUint64Array([1n])')).toArray(), [1n])
  })

  it('buffers and DataViews, as bytes of float32', function () {
    skipWithout(this, 'SharedArrayBuffer')
    for (const source of ['new Float32Array([1, 2]).buffer', 'new DataView(new Float32Array([1, 2]).buffer)',
      '(() => { const b = new SharedArrayBuffer(8); new Float32Array(b).set([1, 2]); return b })()']) {
      assert.deepEqual(fromBlob(foreign(source), [2], 'float32').toArray(), [1, 2])
      assert.deepEqual(zeros([2]).setBytes(foreign(source)).toArray(), [1, 2])
    }
  })

  it('lists: values, shapes, axes, slices, complex64 pairs and options of float32', () => {
    assert.deepEqual(tensor(foreign('[[1, 2], [3, 4]]')).toArray(), [[1, 2], [3, 4]])
    assert.deepEqual(zeros(foreign('[2, 3]'), foreign('{ dtype: "int8" }')).shape, [2, 3])
    const t = tensor([[1, 2], [3, 4]])
    assert.deepEqual(t.permute(foreign('[1, 0]')).toArray(), [[1, 3], [2, 4]])
    assert.deepEqual(t.slice(foreign('{ start: 1 }'), foreign('"::-1"')).toArray(), [[4, 3]])
    assert.deepEqual(t.reshape(foreign('[4]')).toArray(), [1, 2, 3, 4])
    assert.deepEqual(zeros([2, 2]).copyFrom(foreign('[[1, 2], [3, 4]]')).toArray(), [[1, 2], [3, 4]])
    const c = zeros([1], 'complex64')
    c.set(foreign('[1, 2]'), 0)
    assert.deepEqual(c.get(0), [1, 2])
    assert.deepEqual(tensor(foreign('new Set([1, 2])')).toArray(), [1, 2])
    assert.equal(t.accessor(foreign('{ ndim: 2 }')).get(1, 1), 4)
    refuses(() => tensor(foreign('({})')), 'ERR_ARGUMENT')
  })

  it('a detached buffer of float32', () => {
    const buffer = foreign('new ArrayBuffer(8)')
    const t = fromBlob(buffer, [2], 'float32')
    structuredClone(buffer, { transfer: [buffer] })
    refuses(() => t.get(0), 'ERR_DETACHED')
    refuses(() => fromBlob(buffer, [2], 'float32'), 'ERR_DETACHED')
  })

  it('an error that a deleter throws is reported, for float32', async () => {
    const before = samebytes.memory().deleterErrors
    const warned = new Promise(resolve => process.once('warning', resolve))
    const deleter = foreign('() => { throw new Error("from afar") }')
    fromBlob(new ArrayBuffer(8), [2], { dtype: 'float32', deleter }).dispose()
    await samebytes.flush()
    assert.match((await warned).message, /from afar/)
    assert.equal(samebytes.memory().deleterErrors, before + 1)
    if (samebytes.backend() !== 'native') return
    const kept = empty([2], { shared: true })
    fromBlob(kept.dataPtr, [2], { dtype: 'float32', deleter }).dispose()
    await samebytes.flush()
    assert.equal(samebytes.memory().deleterErrors, before + 2)
  })

  it('code there uses float32 tensors of this realm', () => {
    other.t = tensor([[1, 2], [3, 4]])
    assert.equal(foreign('t.get(1, 0)'), 3)
    assert.equal(foreign('[...t.select(0, 1)].join()'), '3,4')
    foreign('t.set(7, 0, 0)')
    foreign('t.slice("1:").copyFrom([[8, 9]])')
    assert.equal(foreign('String(t.data)'), '7,2,8,9')
    assert.equal(foreign('Object.prototype.toString.call(t)'), Object.prototype.toString.call(other.t))
    assert.equal(foreign('JSON.stringify(t)'), '[[7,2],[8,9]]')
  })
})

describe('the package inside another realm', () => {
  const globals = { process, Buffer, setTimeout, structuredClone, performance } // and no setImmediate, as in Jest's jsdom
  const context = vm.createContext({ ...globals })
  let inner
  before(async () => { inner = await anotherCopy(context) }) // as Jest runs it
  const run = source => vm.runInContext(`(() => { ${source} })()`, Object.assign(context, { samebytes: inner }))

  it('is another instance, whose objects are of that realm', () => {
    assert.notEqual(inner.Tensor, samebytes.Tensor)
    assert.equal(inner.backend(), samebytes.backend())
    assert.ok(run('return samebytes.zeros([2]).data instanceof Float32Array'))
    assert.ok(run('return Array.isArray(samebytes.zeros([2]).shape) && samebytes.zeros([2]).shape instanceof Array'))
    assert.ok(run('try { samebytes.zeros([2]).get(5) } catch (e) { return e instanceof RangeError && e.code === "ERR_BOUNDS" }'))
  })

  it('makes, reads, writes, copies and prints float32, small and large', () => {
    assert.equal(run(`
      const { tensor, zeros, fromBlob } = samebytes
      const t = tensor([[1, 2], [3, 4]])
      t.T.set(5, 0, 1)
      zeros([100, 100]).copyFrom(t.select(0, 0).narrow(0, 0, 1))
      const u = fromBlob(new Float32Array([1, 2, 3, 4]), [2, 2]).copyFrom(t)
      return String(t) + u.data.join() + JSON.stringify(u.clone().astype('bfloat16'))`),
    'tensor([[1., 2.],\n        [5., 4.]])1,2,5,4[[1,2],[5,4]]')
  })

  it('shares float32 with the outside, both ways', () => {
    const array = new Float32Array([1, 2, 3, 4])
    const there = inner.fromBlob(array, [2, 2])
    const here = fromBlob(inner.fromBlob(array, [4]).data)
    there.set(7, 1, 1)
    here.set(8, 0)
    assert.deepEqual([...array], [8, 2, 3, 7])
    assert.equal(there.accessor().get(0, 0), 8)
    const made = inner.zeros([4])
    fromBlob(made.data).fill(3)
    assert.equal(made.get(-1), 3)
  })
})
