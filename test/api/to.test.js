'use strict'
const assert = require('node:assert/strict')
const { empty, fromBlob, memory, sharesMemory, tensor, zeros } = require('samebytes')
const { ALL_SHARED, NO_CUDA, copied, fails, refuses } = require('../setup')

describe('to', () => {
  it('gives float32 itself where nothing changes', () => {
    const t = tensor([1, 2])
    for (const same of [
      t.to('float32'),
      t.to('cpu'),
      t.to({ dtype: 'float32' }),
      t.to({ device: 'cpu' }),
      t.to({}),
      t.to('cpu', 'float32'),
      t.cpu(),
      t.to(zeros([1])),
    ]) {
      assert.equal(same, t)
    }
  })

  it('copies where the dtype changes, in the same order of storage', () => {
    const t = empty([2, 3], { order: 'F', dynamism: 'unbound' }).copyFrom([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const { result, copies } = copied(() => t.to('float16'))
    assert.deepEqual(copies, { to: { count: 1, bytes: 12 } })
    assert.deepEqual(
      [result.dtype, result.strides, result.dynamism],
      ['float16', [1, 2], 'unbound'],
    )
    assert.deepEqual(result.toArray(), t.toArray())
    for (const other of [
      t.to('cpu', 'float16'),
      t.to({ dtype: 'float16', device: 'cpu' }),
      t.to('float16', { device: 'cpu' }),
    ]) {
      assert.deepEqual([other.dtype, other.toArray()], ['float16', t.toArray()])
    }
  })

  it('always copies with copy: true', () => {
    const t = tensor([1, 2])
    for (const made of [t.to('cpu', { copy: true }), t.to({ copy: true }), t.cpu({ copy: true })]) {
      assert.equal(sharesMemory(made, t), false)
      assert.deepEqual(made.toArray(), [1, 2])
    }
  })

  it('judges the cast, elements or none', () => {
    fails(() => tensor([1.5]).to('int8'), TypeError, 'ERR_CAST')
    fails(() => zeros([0]).to('int8'), TypeError, 'ERR_CAST')
    fails(() => tensor([1]).to('float16', { casting: 'safe' }), TypeError, 'ERR_CAST')
    assert.deepEqual(tensor([1.5]).to('int8', { casting: 'unsafe' }).toArray(), [1])
  })

  it('says which device is there', () => {
    const t = tensor([1])
    for (const fn of [
      () => t.to('cuda'),
      () => t.to('cuda:0'),
      () => t.to({ device: 'cuda:1' }),
      () => t.to('float16', { device: 'cuda:0' }),
      () => t.cuda(),
      () => t.cuda(3),
    ]) {
      const error = refuses(fn, NO_CUDA)
      assert.match(error.message, /'cpu'/)
    }
    refuses(() => t.to({ device: 'tpu' }), 'ERR_DEVICE')
    refuses(() => t.cuda(-1), 'ERR_DEVICE')
  })

  it('refuses anything else', () => {
    const t = tensor([1])
    for (const fn of [
      () => t.to(),
      () => t.to(null),
      () => t.to(1),
      () => t.to([2]),
      () => t.to('cpu', 5),
      () => t.to({ copy: 1 }),
      () => t.cuda('0'),
    ]) {
      refuses(fn, 'ERR_ARGUMENT')
    }
    for (const fn of [() => t.to('tpu'), () => t.to('cuda:'), () => t.to({ dtype: 'float' })]) {
      refuses(fn, 'ERR_DTYPE')
    }
    t.dispose()
    refuses(() => t.to('cpu'), 'ERR_DISPOSED')
  })

  it('leaves no tensor behind where it fails', () => {
    const t = tensor([1.5])
    const { tensors } = memory()
    refuses(() => t.to('int8'))
    refuses(() => t.to('int8', { copy: true }))
    assert.ok(memory().tensors <= tensors)
  })
})

describe('toAsync, cpuAsync, cudaAsync', () => {
  it('promise what to, cpu and cuda give, of float32', async () => {
    const t = tensor([
      [1, 2],
      [3, 4],
    ]).T
    assert.equal(await t.toAsync('cpu'), t)
    assert.equal(await t.cpuAsync(), t)
    const made = await t.toAsync('float64')
    assert.deepEqual(
      [made.dtype, made.strides, made.toArray()],
      [
        'float64',
        [1, 2],
        [
          [1, 3],
          [2, 4],
        ],
      ],
    )
    assert.equal(sharesMemory(await t.cpuAsync({ copy: true }), t), false)
    const out = zeros([2, 2], 'float16')
    assert.equal(await t.toAsync('float16', { out }), out)
    assert.deepEqual(out.toArray(), [
      [1, 3],
      [2, 4],
    ])
  })

  it('reject what they refuse, and leave nothing behind', async () => {
    const t = tensor([1.5])
    const { tensors } = memory()
    await assert.rejects(t.toAsync('int8'), { code: 'ERR_CAST' })
    await assert.rejects(t.toAsync('cuda:0'), { code: NO_CUDA })
    await assert.rejects(t.cudaAsync(), { code: NO_CUDA })
    await assert.rejects(t.toAsync('nothing'), { code: 'ERR_DTYPE' })
    await assert.rejects(t.toAsync('float64', { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    })
    await assert.rejects(t.toAsync('float64', { signal: 1 }), { code: 'ERR_ARGUMENT' })
    assert.ok(memory().tensors <= tensors)
    const out = zeros([2], 'float64')
    await assert.rejects(t.toAsync('float64', { out }), { code: 'ERR_SHAPE' })
    await assert.rejects(t.toAsync('float16', { out: zeros([1]) }), { code: 'ERR_DTYPE' })
    assert.deepEqual([out.isDisposed, out.toArray()], [false, [0, 0]])
  })
})

describe('shareMemory', () => {
  it('copies float32 to memory that other threads may see, once, in the same order', () => {
    const t = empty([2, 3], { order: 'F' }).copyFrom([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const { result, copies } = copied(() => t.shareMemory())
    assert.deepEqual(copies, { shareMemory: { count: 1, bytes: 24 } })
    assert.deepEqual([t.isShared, result.isShared, result.strides], [ALL_SHARED, true, [1, 2]])
    assert.deepEqual(result.toArray(), t.toArray())
    result.set(9, 0, 0)
    assert.equal(t.get(0, 0), 1)
    assert.notEqual(result.shareMemory(), result)
  })

  it("takes the caller's bytes, views, and none", () => {
    const t = fromBlob(Float64Array.of(1, 2, 3)).flip()
    assert.deepEqual(t.shareMemory().toArray(), [3, 2, 1])
    assert.deepEqual(zeros([0, 2]).shareMemory().shape, [0, 2])
    assert.equal(tensor(5n).shareMemory().item(), 5n)
  })

  it('leaves nothing behind where there is no memory', () => {
    const wide = zeros([1]).expand(2 ** 50)
    const { tensors, bytes } = memory()
    refuses(() => wide.shareMemory(), 'ERR_MEMORY', 'ERR_SHAPE')
    const after = memory()
    assert.ok(after.tensors <= tensors)
    assert.deepEqual(after.bytes.shared, bytes.shared)
  })
})

describe('isPinned', () => {
  it('is false of float32, and asks for a tensor that is there', () => {
    const t = zeros([1])
    assert.equal(t.isPinned, false)
    t.dispose()
    refuses(() => t.isPinned, 'ERR_DISPOSED')
  })
})
