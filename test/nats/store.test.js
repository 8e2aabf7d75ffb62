'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { connect } = require('@nats-io/transport-node')
const { jetstream } = require('@nats-io/jetstream')
const { Objm } = require('@nats-io/obj')
const samebytes = require('samebytes')
const { tensors, transport } = require('samebytes/nats')
const { generator, needs } = require('../setup')
const { npyOf } = require('../files')
const { startServer } = require('./server')

const {
  Tensor,
  SharedTensor,
  memory,
  tensor,
  zeros,
  ones,
  arange,
  fromBytes,
  parseNpy,
  parseNpz,
  parseSafetensors,
  toNpyBytes,
  toNpzBytes,
  toSafetensorsBytes,
  openNpy,
  createNpy,
  load,
  save,
  saveNpy,
} = samebytes
const DTYPES = [
  'bool',
  'uint8',
  'int8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float16',
  'bfloat16',
  'float32',
  'float64',
  'complex64',
]
const RAW = new Set(['bfloat16']) // NumPy has no name for it

const bytesOf = (t) => Buffer.from(toNpyBytes(t.contiguous()))
const assertSame = (a, b) => {
  assert.equal(a.dtype, b.dtype)
  assert.deepEqual([...a.shape], [...b.shape])
  assert.ok(bytesOf(a).equals(bytesOf(b)), 'the same bytes')
}
const failsWith = (promise, code, pattern = /./) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.code, code, error.stack)
    assert.match(error.message, pattern)
    return true
  })

/** A tensor of random bytes that are values of the dtype. */
function drawn({ next, uint32, pick }, most = 40) {
  const dtype = pick(DTYPES)
  const shape = Array.from({ length: next(4) }, () => pick([0, 1, 2, 3, 7, next(most)]))
  const t = zeros(shape, { dtype })
  const bytes = Uint8Array.from(
    { length: t.nbytes },
    () => uint32() & (dtype === 'bool' ? 1 : 0x3f),
  )
  return t.size === 0 ? t : fromBytes(bytes, shape, { dtype })
}

describe('NATS: the object store', () => {
  needs('nats-server')
  let server
  let connection
  let folder
  let bus
  let store
  let objects
  let count = 0

  before(async () => {
    server = await startServer({ jetstream: true })
    connection = await connect({ servers: server.url })
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-store-'))
    bus = tensors(connection)
  })
  beforeEach(async () => {
    store = await bus.store(`b${++count}`, { storage: 'memory' })
    objects = await new Objm(connection).open(store.name)
  })
  after(async () => {
    await connection?.close()
    await server?.stop()
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })

  const file = (name) => path.join(folder, name)
  const stream = async () =>
    (
      await (
        await jetstream(connection).jetstreamManager()
      ).streams.info(`OBJ_${store.name}`, { subjects_filter: '>' })
    ).state.subjects ?? {}
  const chunkSubjects = async () =>
    Object.keys(await stream()).filter((subject) => subject.includes('.C.'))

  it('gives back drawn tensors, which obj reads as the files that saveNpy writes', async () => {
    const random = generator(71)
    for (let i = 0; i < 25; i++) {
      const t = drawn(random)
      const name = `t${i}.npy`
      const info = await store.put(name, t, { chunk: 1024 })
      const bytes = await objects.getBlob(name)
      assert.ok(Buffer.from(bytes).equals(Buffer.from(toNpyBytes(t))))
      assert.equal(info.size, bytes.length)
      assertSame(await store.get(name, RAW.has(t.dtype) ? { dtype: t.dtype } : {}), t)
    }
  })

  it('gives back drawn records, which obj reads as whole files', async () => {
    const random = generator(72)
    for (let i = 0; i < 12; i++) {
      const record = Object.fromEntries(
        Array.from({ length: random.next(5) }, (_, k) => [`${k}\u00e9`, drawn(random)]),
      )
      const arrays = Object.fromEntries(Object.entries(record).filter(([, t]) => !RAW.has(t.dtype)))
      await store.put('r.safetensors', record, { chunk: 1024 })
      await store.put('r.npz', arrays, { chunk: 1024 })
      assert.ok(
        Buffer.from(await objects.getBlob('r.safetensors')).equals(
          Buffer.from(toSafetensorsBytes(record)),
        ),
      )
      assert.ok(Buffer.from(await objects.getBlob('r.npz')).equals(Buffer.from(toNpzBytes(arrays))))
      for (const [name, given] of [
        ['r.safetensors', record],
        ['r.npz', arrays],
      ]) {
        const got = await store.get(name)
        assert.deepEqual(Object.keys(got).sort(), Object.keys(given).sort())
        for (const key of Object.keys(given)) assertSame(got[key], given[key])
      }
    }
  })

  it('reads what obj wrote, in chunks of any size', async () => {
    const random = generator(73)
    for (const size of [1, 7, 64, 1000, 131072]) {
      const t = drawn(random, 30)
      await objects.putBlob(
        { name: 'o.safetensors', options: { max_chunk_size: size } },
        toSafetensorsBytes({ t, one: ones([3]) }),
      )
      const got = await store.get('o.safetensors')
      assertSame(got.t, t)
      assertSame(got.one, ones([3]))
      const to = { t: zeros(t.shape, { dtype: t.dtype }), one: zeros([3]) }
      assert.equal(await store.get('o.safetensors', { out: to }), to)
      assertSame(to.t, t)
      assertSame(to.one, ones([3]))
    }
  })

  it('keeps Fortran order, copies others once, and reads big-endian arrays', async () => {
    const t = arange(0, 24, { dtype: 'float32' }).reshape([4, 6])
    await store.put('f.npy', t.permute([1, 0]))
    assert.deepEqual([...(await store.get('f.npy')).strides], [1, 6])
    const out = zeros([6, 4])
    await store.get('f.npy', { out })
    assertSame(out, t.permute([1, 0]).contiguous())
    const before = memory().copied.contiguous?.count ?? 0
    const turned = t.reshape([2, 3, 4]).permute([1, 0, 2])
    await store.put('s.npy', turned)
    assert.equal(memory().copied.contiguous.count - before, 1)
    assertSame(await store.get('s.npy'), turned)
    await objects.putBlob(
      { name: 'b.npy' },
      npyOf('>f4', '(2,)', Buffer.from('3f80000040000000', 'hex')),
    )
    assert.deepEqual((await store.get('b.npy')).toArray(), [1, 2])
  })

  it('writes chunks to their place: into a tensor, a SharedTensor and a mapped file', async () => {
    const t = arange(0, 300000, { dtype: 'float32' })
    await store.put('x.npy', t)
    const out = zeros([300000])
    const { data } = out
    assert.equal(await store.get('x.npy', { out }), out)
    assert.equal(out.data, data)
    assert.equal(data[299999], 299999)
    const shared = SharedTensor.create(null, [300000])
    try {
      await store.get('x.npy', { out: shared.tensor })
      assertSame(shared.tensor, t)
    } finally {
      shared.dispose()
    }
    const mapped = createNpy(file('mapped.npy'), [300000])
    await store.get('x.npy', { out: mapped })
    assertSame(await load(file('mapped.npy')), t)
  })

  it('leaves out as it is where dtype, shape, names or the tensor are wrong', async () => {
    await store.put('x.npy', ones([6]))
    await store.put('x.safetensors', { a: ones([6]) })
    await store.put('x.npz', { a: ones([6]) })
    const six = zeros([6])
    await failsWith(
      store.get('x.npy', { out: zeros([6], { dtype: 'int32' }) }),
      'ERR_DTYPE',
      /int32/,
    )
    await failsWith(store.get('x.npy', { out: zeros([5]) }), 'ERR_SHAPE', /\[6\]/)
    await failsWith(store.get('x.safetensors', { out: { b: six } }), 'ERR_SHAPE', /"b"/)
    await failsWith(store.get('x.safetensors', { out: { a: six, b: six } }), 'ERR_SHAPE', /"b"/)
    await failsWith(store.get('x.safetensors', { out: {} }), 'ERR_SHAPE', /"a"/)
    await failsWith(store.get('x.safetensors', { out: six }), 'ERR_ARGUMENT')
    await failsWith(store.get('x.npz', { out: { a: six } }), 'ERR_UNSUPPORTED')
    await saveNpy(file('read-only.npy'), zeros([6]))
    await failsWith(store.get('x.npy', { out: openNpy(file('read-only.npy')) }), 'ERR_READ_ONLY')
    assert.deepEqual(six.toArray(), [0, 0, 0, 0, 0, 0])
    six.fill(1) // it is not busy any more
  })

  it('writes whole files, and sends them', async () => {
    const t = arange(0, 200000)
    for (const [extension, value] of [
      ['npy', t],
      ['safetensors', { t, one: ones([2]) }],
      ['npz', { t, one: ones([2]) }],
    ]) {
      await save(file(`a.${extension}`), value)
      await store.put(`a.${extension}`, { file: file(`a.${extension}`) })
      const info = await store.get(`a.${extension}`, { out: { file: file(`b.${extension}`) } })
      const [a, b] = ['a', 'b'].map((name) => fs.readFileSync(file(`${name}.${extension}`)))
      assert.ok(a.equals(b))
      assert.equal(info.size, a.length)
      assert.equal(info.digest, (await objects.info(`a.${extension}`)).digest)
    }
    assert.deepEqual(
      fs.readdirSync(folder).filter((name) => name.startsWith('.')),
      [],
    )
  })

  it('refuses a file that is none of the format, before anything is sent', async () => {
    fs.writeFileSync(file('bad.npy'), 'no array')
    await failsWith(store.put('bad.npy', { file: file('bad.npy') }), 'ERR_FORMAT')
    await failsWith(store.put('bad.npz', { file: file('bad.npy') }), 'ERR_ARGUMENT')
    await failsWith(store.put('bad.npy', { file: file('missing.npy') }), 'ERR_NOT_FOUND')
    assert.deepEqual(await stream(), {})
  })

  it("sends a tensor's own bytes, and copies none but of headers", async () => {
    const t = ones([1 << 20])
    const record = { a: t, b: ones([1 << 18]), c: ones([3]) }
    for (const [name, value] of [
      ['x.npy', t],
      ['x.safetensors', record],
      ['x.npz', record],
    ]) {
      const before = memory()
      await store.put(name, value)
      const { staged, copied } = memory()
      assert.deepEqual(copied, before.copied)
      assert.ok(
        staged.bytes - before.staged.bytes < 4096,
        `${staged.bytes - before.staged.bytes} bytes were copied`,
      )
    }
  })

  it('copies a message once, to its place, and makes tensors over one block', async () => {
    const value = { a: ones([1 << 20]), b: ones([1 << 18]) }
    const { size } = await store.put('x.safetensors', value)
    const before = memory()
    const { a, b } = await store.get('x.safetensors')
    const { staged, copied, bytes } = memory()
    assert.equal(staged.bytes - before.staged.bytes, size)
    assert.deepEqual(copied, before.copied)
    assert.ok(bytes.native - before.bytes.native <= size + 4096)
    assert.equal(Number(a.dataPtr % 64n), 0)
    assert.equal(Math.abs(Number(b.dataPtr - a.dataPtr)), a.nbytes)
  })

  it('reads the chunks of an object through the same memory, over the transport that reads in place', async () => {
    const fast = await transport.connect({ servers: server.url })
    try {
      const its = await tensors(fast).store(store.name)
      const t = arange(0, 1 << 20, { dtype: 'float32' })
      const { chunks } = await store.put('x.npy', t, { chunk: 1 << 16 })
      const { counts } = fast.protocol.transport.frames
      const kept = await its.get('x.npy')
      const { inPlace, reused } = counts
      assert.ok(inPlace >= chunks - 1, `${inPlace} of ${chunks}`)
      assert.ok(
        reused >= inPlace - 6,
        `${reused} of ${inPlace}: the numbers in control lines get longer a few times`,
      )
      const other = await its.get('x.npy', { out: zeros([1 << 20]) })
      assertSame(kept, t)
      assertSame(other, t)
    } finally {
      await fast.close()
    }
  })

  it('tells the progress of both, and names the info that obj has', async () => {
    const seen = []
    const note = (progress) => seen.push(progress)
    const { size } = await store.put('x.npy', zeros([100000]), { chunk: 65536, onProgress: note })
    assert.deepEqual(seen.at(-1), { done: size, total: size })
    assert.ok(seen.length > 1 && seen.every(({ done }, i) => i === 0 || done >= seen[i - 1].done))
    seen.length = 0
    await store.get('x.npy', { onProgress: note })
    assert.deepEqual(seen.at(-1), { done: size, total: size })
    const info = await store.info('x.npy')
    const theirs = await objects.info('x.npy')
    assert.deepEqual(
      [info.name, info.size, info.chunks, info.digest, info.modified.toISOString()],
      [theirs.name, theirs.size, theirs.chunks, theirs.digest, theirs.mtime],
    )
  })

  it('ends a transfer with what onProgress throws', async () => {
    const reason = new Error('enough')
    const onProgress = () => {
      throw reason
    }
    await assert.rejects(
      store.put('x.npy', zeros([100000]), { onProgress }),
      (error) => error === reason,
    )
    assert.deepEqual(await stream(), {})
    await store.put('x.npy', zeros([100000]))
    await assert.rejects(store.get('x.npy', { onProgress }), (error) => error === reason)
    await assert.rejects(
      store.get('x.npy', { out: { file: file('thrown.npy') }, onProgress }),
      (error) => error === reason,
    )
    assert.equal(fs.existsSync(file('thrown.npy')), false)
  })

  it('lists, deletes, and says what is not there', async () => {
    assert.deepEqual(await store.list(), [])
    await store.put('b.npy', ones([2]))
    await store.put('a/\u65e5.npy', ones([300000]))
    await objects.putBlob({ name: 'note.txt' }, Buffer.from('theirs'))
    assert.deepEqual(
      (await store.list()).map(({ name, size }) => [name, size]),
      [
        ['a/\u65e5.npy', 1200128],
        ['b.npy', 136],
        ['note.txt', 6],
      ],
    )
    await store.delete('b.npy')
    await store.delete('a/\u65e5.npy')
    assert.deepEqual(
      (await store.list()).map(({ name }) => name),
      ['note.txt'],
    )
    assert.equal((await chunkSubjects()).length, 1)
    for (const missing of [
      store.get('b.npy'),
      store.info('b.npy'),
      store.delete('b.npy'),
      store.get('never.npy'),
      store.info('never.npy'),
    ]) {
      await failsWith(missing, 'ERR_NOT_FOUND')
    }
    await failsWith(bus.store('none', { create: false }), 'ERR_NOT_FOUND')
    await store.put('b.npy', ones([3]), { ifExists: 'error' }) // deleted is not there
    await failsWith(store.put('b.npy', ones([2]), { ifExists: 'error' }), 'ERR_EXISTS')
    assertSame(await store.get('b.npy'), ones([3]))
  })

  it('replaces an object, and deletes the chunks of the old one', async () => {
    for (let i = 1; i <= 3; i++) await store.put('x.npy', ones([i * 50000]), { chunk: 65536 })
    assertSame(await store.get('x.npy'), ones([150000]))
    assert.equal((await chunkSubjects()).length, 1)
    await objects.putBlob({ name: 'x.npy' }, toNpyBytes(ones([4])))
    assertSame(await store.get('x.npy'), ones([4]))
  })

  it('refuses wrong arguments before anything happens', async () => {
    for (const bad of ['', 'a b', 'a.b', 7, undefined]) {
      await failsWith(bus.store(bad), 'ERR_ARGUMENT')
    }
    for (const bad of ['', 7, undefined, 'x'.repeat(2000), '\ud800.npy']) {
      await failsWith(store.put(bad, ones([2])), 'ERR_ARGUMENT')
    }
    await failsWith(store.put('x.bin', ones([2])), 'ERR_UNSUPPORTED')
    await failsWith(store.get('x.bin'), 'ERR_UNSUPPORTED')
    await failsWith(store.put('x.npy', [1, 2]), 'ERR_ARGUMENT')
    await failsWith(store.put('x.safetensors', ones([2])), 'ERR_ARGUMENT')
    await failsWith(
      store.put('x.safetensors', { a: tensor([1], { dtype: 'complex128' }) }),
      'ERR_DTYPE',
    )
    await failsWith(store.put('x.npy', ones([2]), { chunk: 1 }), 'ERR_BOUNDS')
    await failsWith(store.put('x.npy', ones([2]), { signal: 3 }), 'ERR_ARGUMENT')
    await failsWith(store.put('x.npy', ones([2]), { onProgress: 3 }), 'ERR_ARGUMENT')
    await failsWith(store.get('x.npy', { resume: 'side' }), 'ERR_ARGUMENT')
    await failsWith(store.get('x.npy', { maxBytes: -1 }), 'ERR_BOUNDS')
    await assert.rejects(store.put.call({}, 'x.npy', ones([2])), { code: 'ERR_ARGUMENT' })
    assert.throws(() => new store.constructor(), { code: 'ERR_ARGUMENT' })
    assert.deepEqual(await stream(), {})
  })

  it('keeps tensors busy until a transfer settles', async () => {
    const t = ones([300000])
    const putting = store.put('x.npy', t)
    assert.throws(() => t.fill(2), { code: 'ERR_BUSY' })
    await putting
    t.fill(2)
    let isBusy = false
    const out = zeros([300000])
    await store.get('x.npy', {
      out,
      onProgress() {
        isBusy ||= (() => {
          try {
            out.fill(3)
          } catch (error) {
            return error.code === 'ERR_BUSY'
          }
        })()
      },
    })
    assert.ok(isBusy)
    assertSame(out, ones([300000]))
    out.fill(3)
  })

  it('parses what other clients wrote strictly', async () => {
    const good = toNpyBytes(ones([5]))
    for (const bytes of [
      Buffer.from('x'),
      good.subarray(0, 60),
      good.subarray(0, good.length - 1),
      npyOf('|O', '(1,)', Buffer.alloc(8)),
    ]) {
      await objects.putBlob({ name: 'bad.npy' }, bytes)
      await failsWith(store.get('bad.npy'), 'ERR_FORMAT')
      await failsWith(store.get('bad.npy', { out: ones([5]) }), 'ERR_FORMAT')
    }
    await objects.putBlob({ name: 'bad.npy' }, Buffer.alloc(0))
    await failsWith(store.get('bad.npy'), 'ERR_FORMAT', /empty/)
    assert.ok((await store.get('bad.npy').catch((error) => error)) instanceof Error)
  })

  it('has tensors like those that parse functions give', async () => {
    const record = { a: ones([7]), b: arange(0, 9).reshape([3, 3]) }
    for (const [name, bytes, parse] of [
      ['p.npy', toNpyBytes(record.a), parseNpy],
      ['p.npz', toNpzBytes(record), parseNpz],
      ['p.safetensors', toSafetensorsBytes(record), parseSafetensors],
    ]) {
      await objects.putBlob({ name }, bytes)
      const got = await store.get(name)
      const parsed = parse(bytes)
      for (const [key, t] of parsed instanceof Tensor ? [['', parsed]] : parsed) {
        assertSame(key === '' ? got : got[key], t)
      }
    }
  })
})
