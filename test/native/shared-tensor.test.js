'use strict'
// Memory between processes, as one process sees it. shared-tensor-processes.test.js and shared-tensor-python.test.js have others.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { Worker } = require('node:worker_threads')
const {
  SharedTensor,
  dtypes,
  fromShared,
  memory,
  openNpy,
  share,
  tidy,
  toNpyBytes,
  tensor,
  zeros,
} = require('samebytes')
const {
  can,
  childJson,
  collectUntil,
  copied,
  errnoOf,
  needs,
  refuses,
  ROOT,
  skip,
  skipWithout,
} = require('../setup')
const { floats, npyOf } = require('../files')
const { FOLDER, abilities, clean, fresh, here, pathOf, unnamed } = require('../segments')

/** Descriptors of segments that this process has. */
function descriptors() {
  return fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return /^\/dev\/shm\/|^\/memfd:samebytes/.test(fs.readlinkSync(`/proc/self/fd/${fd}`))
    } catch {
      return false // the one that lists them
    }
  }).length
}

/** Has this process so many descriptors of segments, as far as it can be seen? @param {number} n */
const areOpen = (n) => !can('/proc') || descriptors() === n

/** Nothing is open or mapped any more: what other tests left is collected first. */
const nothing = () => collectUntil(() => memory().bytes.mapped === 0 && areOpen(0))

describe('SharedTensor', () => {
  needs('the addon')
  needs('shared memory with a name')
  afterEach(clean)

  it('makes a segment that is opened by name, path, descriptor and file descriptor: the same bytes, nothing copied', async () => {
    assert.ok(await nothing())
    const name = fresh()
    const { result: a, copies } = copied(() =>
      SharedTensor.create(name, [2, 3], { dtype: 'int32' }),
    )
    const { tensor: t } = a
    assert.deepEqual(
      [a.name, a.path, t.toArray(), t.dtype, a.isSealed],
      [
        name,
        pathOf(name),
        [
          [0, 0, 0],
          [0, 0, 0],
        ],
        'int32',
        false,
      ],
    )
    const others = [
      name,
      `/${name}`,
      a.path,
      a.descriptor,
      JSON.parse(JSON.stringify(a)),
      { fd: a.fd },
      ...(can('/proc') ? [`/proc/${process.pid}/fd/${a.fd}`] : []),
    ].map((where) => SharedTensor.open(where))
    assert.deepEqual(
      others.map((b) => b.name),
      [name, name, name, name, name, null, null].slice(0, others.length),
    )
    others.forEach((b, i) => b.tensor.set(i + 1, 0, 0))
    assert.equal(t.get(0, 0), others.length)
    t.set(9, 1, 2)
    for (const b of others) assert.equal(b.tensor.get(1, 2), 9)
    assert.deepEqual(copies, {})
    for (const b of [a, ...others]) {
      b.dispose()
      b.dispose()
    }
    refuses(() => a.fd, 'ERR_DISPOSED')
    refuses(() => a.isSealed, 'ERR_DISPOSED')
    refuses(() => a.tensor, 'ERR_DISPOSED')
    assert.deepEqual([a.name, a.path, a.descriptor.shape], [name, pathOf(name), [2, 3]])
    t.set(7, 0, 0)
    assert.equal(SharedTensor.open(name).tensor.get(0, 0), 7)
    SharedTensor.unlink(name)
    refuses(() => SharedTensor.open(name), 'ERR_NOT_FOUND')
    assert.equal(t.get(0, 0), 7)
    assert.deepEqual(here(), [])
  })

  it("path and descriptor mean the same wherever they are read: not this working directory, not this process' descriptors", async () => {
    const a = SharedTensor.create(fresh(), [2])
    const relative = path.relative(process.cwd(), a.path)
    const opened = [
      relative, // absolute where the folder is on another drive
      ...(path.isAbsolute(relative) ? [] : [`./${relative}`]),
      ...(abilities.descriptorPaths ? [`/dev/fd/${a.fd}`] : []),
    ].map((where) => SharedTensor.open(where))
    for (const b of opened) {
      assert.ok(path.isAbsolute(b.path) && !b.path.startsWith('/dev/fd/'), b.path)
      assert.equal(b.descriptor.path, b.path)
      assert.equal(
        await childJson(`const { SharedTensor } = require('samebytes')
        process.chdir('/')
        console.log(SharedTensor.open(${JSON.stringify(b.descriptor)}).tensor.size)`),
        2,
      )
    }
  })

  it('the tensor is the same one until it is disposed; tidy takes it, not the segment', () => {
    const a = SharedTensor.create(unnamed(), [2])
    const t = a.tensor
    assert.equal(a.tensor, t)
    t.fill(3).dispose()
    assert.deepEqual(a.tensor.toArray(), [3, 3])
    tidy(() => {
      SharedTensor.open(a.descriptor).tensor.fill(4)
    })
    assert.deepEqual(a.tensor.toArray(), [4, 4])
  })

  it('memory() counts what is mapped until the last tensor goes; descriptors go with the segment, disposed or collected', async () => {
    assert.ok(await nothing())
    const a = SharedTensor.create(unnamed(), [1024])
    const t = a.tensor
    const view = t.narrow(0, 1, 2)
    assert.equal(memory().bytes.mapped, 128 + 4096)
    assert.equal(t.data.buffer.byteLength, 4096)
    assert.equal(t.dataPtr % 64n, 0n)
    assert.ok(areOpen(1))
    a.dispose()
    assert.ok(areOpen(0))
    t.dispose()
    view.fill(2)
    assert.equal(memory().bytes.mapped, 128 + 4096)
    view.dispose()
    assert.ok(await nothing())
    let forgotten = Array.from({ length: 20 }, () => SharedTensor.create(unnamed(), [4]))
    assert.ok(areOpen(20))
    forgotten = forgotten[0].tensor // of one its mapping stays, of none its descriptor
    assert.ok(await collectUntil(() => areOpen(0) && memory().bytes.mapped === 128 + 16))
    forgotten.dispose()
    assert.ok(await nothing())
  })

  it('every dtype and shape: a .npy file that openNpy reads, 64-byte aligned; and as raw bytes, as long as its elements', () => {
    for (const dtype of dtypes) {
      for (const shape of [[], [0], [3], [2, 0, 4], [2, 3, 4]]) {
        const name = fresh()
        const a = SharedTensor.create(name, shape, { dtype })
        assert.deepEqual(
          [a.tensor.shape, a.tensor.dtype, SharedTensor.open(name, { dtype }).tensor.shape],
          [shape, dtype, shape],
        )
        a.tensor.bytes.fill(1)
        assert.equal(Buffer.compare(fs.readFileSync(a.path), toNpyBytes(a.tensor)), 0)
        assert.deepEqual(openNpy(a.path, { dtype }).toArray(), a.tensor.toArray())
        if (a.tensor.size > 0) {
          const raw = SharedTensor.create(fresh(), shape, { dtype, format: 'raw' })
          assert.equal(fs.statSync(raw.path).size, a.tensor.nbytes)
          raw.tensor.bytes.fill(1)
          const b = SharedTensor.open(raw.descriptor)
          assert.deepEqual([b.tensor.shape, b.tensor.toArray()], [shape, a.tensor.toArray()])
        }
        clean()
      }
    }
    assert.deepEqual(here(), [])
  })

  it("raw: shape and dtype are the opener's, from any element on", () => {
    const { path: file, name } = SharedTensor.create(fresh(), [8], {
      dtype: 'int32',
      format: 'raw',
    })
    fs.writeFileSync(file, Buffer.from(Int32Array.from([1, 2, 3, 4, 5, 6, 7, 8]).buffer), {
      flag: 'r+',
    })
    const open = (opts) =>
      SharedTensor.open(name, { format: 'raw', dtype: 'int32', ...opts }).tensor
    assert.deepEqual(open().toArray(), [1, 2, 3, 4, 5, 6, 7, 8])
    assert.deepEqual(open({ shape: [2, 2], offset: 3 }).toArray(), [
      [4, 5],
      [6, 7],
    ])
    assert.deepEqual(open({ shape: [0], offset: 8 }).toArray(), [])
    assert.deepEqual(open({ dtype: 'int64', offset: 1 }).shape, [3])
    assert.deepEqual(open({ dtype: 'complex128', offset: 1 }).shape, [1])
    refuses(() => open({ shape: [9] }), 'ERR_BOUNDS')
    refuses(() => open({ shape: [8], offset: 1 }), 'ERR_BOUNDS')
    refuses(() => open({ offset: 9 }), 'ERR_BOUNDS')
    refuses(() => open({ offset: -1 }), 'ERR_BOUNDS')
    refuses(() => open({ shape: [2 ** 52, 2 ** 52] }), 'ERR_SHAPE', 'ERR_BOUNDS')
    refuses(() => SharedTensor.open(name, { format: 'raw' }), 'ERR_DTYPE')
    refuses(() => SharedTensor.open(name), 'ERR_FORMAT')
  })

  it('modes: r refuses our writers and shows what others write, c keeps writes to itself, r+ writes', () => {
    const { name, tensor: t } = SharedTensor.create(fresh(), [2])
    const open = (mode) => SharedTensor.open(name, { mode }).tensor
    const [r, c, w] = ['r', 'c', 'r+'].map(open)
    refuses(() => r.fill(1), 'ERR_READ_ONLY')
    t.fill(5)
    assert.deepEqual(
      [r.toArray(), w.toArray()],
      [
        [5, 5],
        [5, 5],
      ],
    )
    c.fill(6)
    assert.deepEqual(
      [t.toArray(), c.toArray()],
      [
        [5, 5],
        [6, 6],
      ],
    )
    w.fill(7)
    assert.deepEqual(
      [t.toArray(), r.toArray(), c.toArray()],
      [
        [7, 7],
        [7, 7],
        [6, 6],
      ],
    )
  })

  it('names: with or without a slash, all that shm_open takes', () => {
    const isPosix = can('permissions of files')
    for (const name of [
      'a b',
      'ä☃',
      '-',
      'x'.repeat(200),
      ...(isPosix ? ['...', '*', '\\'] : []),
    ].map((end) => fresh() + end)) {
      const a = SharedTensor.create('/' + name, [1])
      assert.equal(a.name, name)
      assert.ok(fs.existsSync(pathOf(name)))
      assert.deepEqual(
        SharedTensor.list()
          .filter((entry) => entry.name === name)
          .map(({ path, nbytes, pid, isAlive, persist }) => [path, nbytes, pid, isAlive, persist]),
        [[a.path, 132, process.pid, true, false]],
      )
      SharedTensor.unlink(name)
    }
    assert.deepEqual(here(), [])
  })

  it('names that are none are refused, wherever one is taken', () => {
    for (const name of [
      '',
      '/',
      '.',
      '..',
      '/.',
      '/..',
      'a/b',
      '//a',
      'a/',
      '/a/b',
      '../a',
      'a\0b',
      'x'.repeat(256),
      'ä'.repeat(128),
      '.samebytes-1',
      '.SAMEBYTES-waiters-1', // the same on Windows and macOS
      '\ud800',
      ...(can('permissions of files')
        ? []
        : ['a:b', 'a*', 'a\\b', 'a\tb', 'a.', 'a ', 'nul', 'conin$', 'com\u00b9', 'COM1.txt']),
    ]) {
      refuses(() => SharedTensor.create(name, [1]), 'ERR_ARGUMENT')
      refuses(() => SharedTensor.unlink(name), 'ERR_ARGUMENT')
      if (name.indexOf('/', 1) < 0 && name.indexOf(path.sep, 1) < 0) {
        refuses(() => SharedTensor.open(name), 'ERR_ARGUMENT')
      } else refuses(() => SharedTensor.open(name), 'ERR_NOT_FOUND', 'ERR_ARGUMENT', 'ERR_IO')
    }
    assert.equal(refuses(() => SharedTensor.open('x'.repeat(255))).code, 'ERR_NOT_FOUND')
    for (const name of [undefined, 1, {}, [], true, Symbol('a'), 1n]) {
      refuses(() => SharedTensor.create(name, [1]), 'ERR_ARGUMENT')
    }
  })

  it('the folder of segments on Windows is found however its variable is written, which elsewhere means nothing', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-folder-'))
    const name = fresh()
    for (const given of [
      folder,
      folder + path.sep,
      `${folder.replaceAll('\\', '/')}/`,
      `${folder}${path.sep}..${path.sep}${path.basename(folder)}`,
    ]) {
      const seen = await childJson(
        `const { SharedTensor } = require('samebytes')
        const shared = SharedTensor.create('${name}', [2], 'int32')
        shared.tensor.fill(3)
        const names = () => SharedTensor.list().map((each) => each.name)
        const seen = [SharedTensor.open(shared.path).name, SharedTensor.open('${name}').tensor.toArray(), names().includes('${name}')]
        SharedTensor.unlink('${name}')
        console.log(JSON.stringify([...seen, names().includes('${name}')]))`,
        { env: { LOCALAPPDATA: given } },
      )
      assert.deepEqual(seen, [name, [3, 3], true, false], given)
    }
    fs.rmSync(folder, { recursive: true })
  })

  it('what is left of a segment without its name goes with the last view of it', () => {
    const left = ({ descriptor }) =>
      fs.readdirSync(FOLDER).filter((entry) => entry.includes(descriptor.id.split('-')[1]))
    const ways = {
      'disposed, then unlinked'(shared) {
        shared.dispose()
        SharedTensor.unlink(shared.name)
      },
      'unlinked, then disposed'(shared) {
        SharedTensor.unlink(shared.name)
        shared.dispose()
      },
      replaced(shared) {
        SharedTensor.create(shared.name, [1], { ifExists: 'replace' }).dispose()
        shared.dispose()
        SharedTensor.unlink(shared.name)
      },
    }
    for (const [way, loseName] of Object.entries(ways)) {
      const shared = SharedTensor.create(fresh(), [4])
      const other = SharedTensor.open(shared.name) // of another mapping
      const views = [shared.tensor, other.tensor]
      other.dispose()
      loseName(shared)
      views[0].fill(3)
      assert.deepEqual(views[1].toArray(), [3, 3, 3, 3])
      for (const view of views) view.dispose()
      assert.deepEqual(left(shared), [], way)
    }
  })

  it('a segment that may not be written to any more is unlinked whole', () => {
    const shared = SharedTensor.create(fresh(), [4])
    const id = shared.descriptor.id.split('-')[1]
    shared.dispose()
    fs.chmodSync(shared.path, 0o400)
    SharedTensor.unlink(shared.name)
    assert.deepEqual(
      fs.readdirSync(FOLDER).filter((entry) => entry.includes(id)),
      [],
    )
  })

  it('a name that is taken is an error, opened, or replaced: who has the old one keeps it', () => {
    const name = fresh()
    const a = SharedTensor.create(name, [2], { dtype: 'int16' })
    a.tensor.fill(1)
    const error = refuses(() => SharedTensor.create(name, [2]), 'ERR_EXISTS')
    assert.deepEqual([error.errno, error.path], [errnoOf('EEXIST'), a.path])
    const same = SharedTensor.create(name, [2], { dtype: 'int16', ifExists: 'open' })
    assert.deepEqual(same.tensor.toArray(), [1, 1])
    refuses(() => SharedTensor.create(name, [3], { dtype: 'int16', ifExists: 'open' }), 'ERR_SHAPE')
    refuses(() => SharedTensor.create(name, [2], { dtype: 'int32', ifExists: 'open' }), 'ERR_DTYPE')
    const b = SharedTensor.create(name, [3], { ifExists: 'replace' })
    same.tensor.fill(2)
    b.tensor.fill(3)
    assert.deepEqual(
      [a.tensor.toArray(), SharedTensor.open(name).tensor.toArray()],
      [
        [2, 2],
        [3, 3, 3],
      ],
    )
    refuses(() => SharedTensor.open(a.descriptor), 'ERR_STALE')
    assert.deepEqual(SharedTensor.list().filter((entry) => entry.name === name).length, 1)
    const other = fresh()
    assert.deepEqual(SharedTensor.create(other, [1], { ifExists: 'open' }).tensor.toArray(), [0])
    assert.deepEqual(
      SharedTensor.create(fresh(), [1], { ifExists: 'replace' }).tensor.toArray(),
      [0],
    )
    clean()
    assert.deepEqual(here(), [])
  })

  it('permissions are those that were asked for, 0600 otherwise, whatever the umask', function () {
    skipWithout(this, 'permissions of files')
    const before = process.umask(0o077)
    try {
      for (const [mode, expected] of [
        [undefined, 0o600],
        [0o660, 0o660],
        [0o644, 0o644],
        [0o400, 0o400],
      ]) {
        assert.equal(
          fs.statSync(SharedTensor.create(fresh(), [1], { mode }).path).mode & 0o777,
          expected,
        )
        assert.equal(
          fs.fstatSync(SharedTensor.create(unnamed(), [1], { mode }).fd).mode & 0o777,
          expected,
        )
      }
    } finally {
      process.umask(before)
    }
    refuses(() => SharedTensor.create(fresh(), [1], { mode: 0o1777 }), 'ERR_BOUNDS')
    refuses(() => SharedTensor.create(fresh(), [1], { mode: -1 }), 'ERR_BOUNDS')
    refuses(() => SharedTensor.create(fresh(), [1], { mode: 'r' }), 'ERR_ARGUMENT')
  })

  it('without a name it is sealed: no length but its own, nothing in the folder', function () {
    skipWithout(this, 'sealed memory')
    const a = SharedTensor.create(null, [1000])
    assert.deepEqual(
      [a.name, a.isSealed, SharedTensor.open({ fd: a.fd }).isSealed],
      [null, true, true],
    )
    const [code, ...longer] = can('mapped files that change') ? ['EPERM', 2 ** 20] : ['UNKNOWN'] // Windows lets files grow
    for (const change of [
      () => fs.ftruncateSync(a.fd, 0),
      () => fs.truncateSync(a.path, 0),
      ...longer.map((nbytes) => () => fs.ftruncateSync(a.fd, nbytes)),
    ]) {
      assert.throws(change, { code })
    }
    a.tensor.fill(1)
    assert.equal(SharedTensor.create(null, [1], { sealed: true, format: 'raw' }).isSealed, true)
    refuses(() => SharedTensor.create(null, [1], { sealed: false }), 'ERR_ARGUMENT')
    refuses(() => SharedTensor.create(fresh(), [1], { sealed: true }), 'ERR_ARGUMENT')
    assert.deepEqual(here(), [])
  })

  it('a header is held against the length, and others than files are refused', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-shared-'))
    const at = (name) => path.join(folder, name)
    try {
      const put = (name, bytes) => {
        fs.writeFileSync(at(name), bytes)
        return at(name)
      }
      const read = (file) => {
        const shared = SharedTensor.open(file)
        try {
          const { tensor: t } = shared
          const values = t.toArray()
          t.dispose()
          return values
        } finally {
          shared.dispose()
        }
      }
      assert.deepEqual(read(put('a.npy', npyOf('<f4', '(2,)', floats(1, 2)))), [1, 2])
      refuses(
        () => SharedTensor.open(put('b.npy', npyOf('<f4', '(3,)', floats(1, 2)))),
        'ERR_FORMAT',
      )
      refuses(
        () =>
          SharedTensor.open(put('c.npy', npyOf('<f4', '(4294967296, 4294967296)', floats(1, 2)))),
        'ERR_FORMAT',
      )
      refuses(
        () => SharedTensor.open(put('d.npy', npyOf('<f4', '(2,)', floats(1, 2)).subarray(0, 90))),
        'ERR_FORMAT',
      )
      refuses(() => SharedTensor.open(put('e.npy', '')), 'ERR_FORMAT')
      refuses(
        () => SharedTensor.open(put('e.npy', ''), { format: 'raw', dtype: 'uint8' }),
        'ERR_FORMAT',
      )
      refuses(() => read(put('f.npy', npyOf('>f4', '(2,)', floats(1, 2)))), 'ERR_UNSUPPORTED')
      refuses(
        () => SharedTensor.open(put('g.npy', npyOf('|O', '(2,)', floats(1, 2)))),
        'ERR_FORMAT',
      )
      assert.deepEqual(read(put('h.npy', npyOf('<f4', '(2, 2)', floats(1, 2, 3, 4), 'True'))), [
        [1, 3],
        [2, 4],
      ])
      if (can('named pipes in folders')) {
        execFileSync('mkfifo', [at('pipe')])
        refuses(() => SharedTensor.open(at('pipe')), 'ERR_IO')
      }
      refuses(() => SharedTensor.open(folder + '/'), 'ERR_IO', 'ERR_NOT_FOUND')
      refuses(() => SharedTensor.open('/dev/zero/'), 'ERR_NOT_FOUND', 'ERR_IO')
      refuses(() => SharedTensor.open('/dev/zero', { mode: 'r' }), 'ERR_NOT_FOUND', 'ERR_IO')
      assert.equal(refuses(() => SharedTensor.open(at('none'))).errno, errnoOf('ENOENT'))
      const name = fresh()
      if (!can('permissions of files')) return
      fs.symlinkSync(at('a.npy'), pathOf(name)) // somebody else's idea of what the name should be
      refuses(() => SharedTensor.open(name), 'ERR_IO')
      refuses(() => SharedTensor.create(name, [2], { ifExists: 'open' }), 'ERR_IO')
      refuses(() => SharedTensor.create(name, [2]), 'ERR_EXISTS')
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })

  it('a header that is rewritten later changes nothing for who has it open, and is refused by the next', () => {
    const a = SharedTensor.create(fresh(), [4])
    const b = SharedTensor.open(a.name)
    for (const forged of [
      '(4000000,)',
      '(4611686018427387904,)',
      '(-1,)',
      '(18446744073709551620,)',
    ]) {
      const header = npyOf('<f4', forged).subarray(0, 128)
      fs.writeSync(a.fd, header, 0, 128, 0)
      b.tensor.dispose()
      assert.deepEqual([a.tensor.size, b.tensor.size], [4, 4])
      refuses(() => SharedTensor.open(a.name), 'ERR_FORMAT')
    }
    const tail = npyOf('<f4', '(4,)').subarray(0, 128)
    fs.writeSync(a.fd, tail, 0, 128, 0)
    assert.deepEqual(SharedTensor.open(a.name).tensor.toArray(), [0, 0, 0, 0])
  })

  it('wrong arguments are refused and leave nothing', async () => {
    assert.ok(await nothing())
    const name = fresh()
    const wrong = [
      [[-1]],
      [[1.5]],
      ['x'],
      [{}],
      [[2 ** 53]],
      [null],
      [undefined],
      [Array(65).fill(1)],
    ]
    for (const [shape] of wrong) refuses(() => SharedTensor.create(name, shape))
    for (const opts of [
      { dtype: 'float' },
      { dtype: null },
      { format: 'npz' },
      { sealed: 1 },
      { mode: 1.5 },
      { mode: NaN },
      { ifExists: 'no' },
      { persist: 'yes' },
      5,
      null,
      [],
    ]) {
      refuses(() => SharedTensor.create(name, [1], opts))
    }
    refuses(() => SharedTensor.create(name, [0], { format: 'raw' }), 'ERR_SHAPE')
    refuses(() => SharedTensor.create(name, [2 ** 50]), 'ERR_MEMORY')
    assert.deepEqual(here(), [])
    const a = SharedTensor.create(name, [1])
    for (const where of [
      5,
      null,
      undefined,
      {},
      [],
      { fd: -1 },
      { fd: 1.5 },
      { fd: '3' },
      { fd: 2 ** 31 },
      { path: 5, id: 'x' },
      { path: a.path },
      'a\0/b',
      true,
    ]) {
      refuses(() => SharedTensor.open(where), 'ERR_ARGUMENT', 'ERR_BOUNDS')
    }
    assert.equal(
      refuses(() => SharedTensor.open({ fd: 2 ** 31 - 1 }), 'ERR_IO').errno,
      errnoOf('EBADF'),
    )
    for (const opts of [
      { shape: [2] },
      { shape: 'x' },
      { dtype: 'int32' },
      { dtype: 'x' },
      { format: 'x' },
      { offset: 1 },
      { offset: 'x' },
      { mode: 'w' },
      { mode: 0o600 },
      { guard: 1 },
      7,
      null,
    ]) {
      refuses(() => SharedTensor.open(name, opts))
    }
    assert.throws(() => new SharedTensor(), { code: 'ERR_ARGUMENT' })
    refuses(() => SharedTensor.unlink(fresh()), 'ERR_NOT_FOUND')
    a.dispose()
    assert.ok(areOpen(0))
    assert.ok(await nothing())
  })

  it('getters of options are called once, and what they throw leaves nothing', () => {
    const name = fresh()
    const calls = {}
    const opts = new Proxy(
      {},
      {
        get: (target, key) => {
          calls[key] = (calls[key] ?? 0) + 1
        },
      },
    )
    SharedTensor.create(name, [1], opts)
    SharedTensor.open(name, opts)
    for (const [key, count] of Object.entries(calls)) assert.ok(count <= 2, key)
    assert.throws(
      () =>
        SharedTensor.create(fresh(), [1], {
          get mode() {
            throw new Error('mine')
          },
        }),
      { message: 'mine' },
    )
    clean()
    assert.deepEqual(here(), [])
  })

  it('crosses to a worker as a tensor, which stays when both let go here', async () => {
    const a = SharedTensor.create(unnamed(), [2])
    const token = share(a.tensor)
    const worker = new Worker(
      `
      const { parentPort, workerData } = require('node:worker_threads')
      const { fromShared } = require('samebytes')
      const t = fromShared(workerData)
      t.set(5, 1)
      parentPort.postMessage(t.toArray())
    `,
      { eval: true, workerData: token, env: { ...process.env, NODE_PATH: path.join(ROOT, '..') } },
    )
    assert.deepEqual(
      await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject)),
      [0, 5],
    )
    await worker.terminate()
    assert.deepEqual(a.tensor.toArray(), [0, 5])
    assert.deepEqual(fromShared(share(a.tensor)).toArray(), [0, 5])
  })

  it('a worker that is terminated leaves no descriptor and no mapping', async () => {
    assert.ok(await nothing())
    const a = SharedTensor.create(fresh(), [1000])
    const worker = new Worker(
      `
      const { parentPort, workerData } = require('node:worker_threads')
      const { SharedTensor } = require('samebytes')
      globalThis.kept = Array.from({ length: 10 }, () => SharedTensor.open(workerData)).concat(SharedTensor.create(${JSON.stringify(unnamed())}, [1000]))
      for (const s of globalThis.kept) s.tensor.data[0] = 1
      parentPort.postMessage('ready')
      setInterval(() => {}, 1000)
    `,
      { eval: true, workerData: a.name },
    )
    await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    await worker.terminate()
    assert.equal(a.tensor.get(0), 1)
    a.tensor.dispose()
    a.dispose()
    assert.ok(await nothing())
  })

  it('a failing allocation at any place leaves nothing', async function () {
    const result = await childJson(
      `
      const fs = require('node:fs')
      const { SharedTensor, memory } = require('samebytes')
      const ffi = require('./js/backend/calls')
      const fail = n => { ffi.frame.f64[ffi.tables.frame.ARGS] = n; ffi.backend.call(ffi.opcodes.fail_allocation) }
      if (ffi.opcodes.fail_allocation === undefined) console.log('"no test build"')
      else {
        const name = 'sb-test-' + process.pid + '-memory'
        const round = () => { const a = SharedTensor.create(name, [4]); const b = SharedTensor.open(name); b.tensor.fill(1); const sum = a.tensor.get(3); a.tensor.dispose(); b.tensor.dispose(); a.dispose(); b.dispose(); SharedTensor.unlink(name); return sum }
        for (let i = 0; i < 3; i++) round()
        gc()
        const before = fs.readdirSync('/proc/self/fd').length
        const seen = {}
        for (let n = 1; n < 40; n++) {
          fail(n)
          try { round(); seen.ok = (seen.ok ?? 0) + 1 } catch (error) { seen[error.code] = (seen[error.code] ?? 0) + 1 }
          fail(0)
          try { SharedTensor.unlink(name) } catch {}
        }
        const turn = () => new Promise(resolve => setImmediate(resolve))
        const settle = async () => { for (let i = 0; i < 50 && (memory().bytes.mapped > 0 || fs.readdirSync('/proc/self/fd').length > before); i++) { gc(); await turn(); await turn() } }
        settle().then(() => console.log(JSON.stringify({ seen: Object.keys(seen).sort(), mapped: memory().bytes.mapped, files: fs.readdirSync('/proc/self/fd').length - before, left: fs.readdirSync('/dev/shm').filter(n => n.includes('-' + process.pid + '-')) })))
      }
    `,
      { flags: ['--expose-gc'] },
    )
    if (result !== 'no test build') {
      assert.deepEqual(result, { seen: ['ERR_MEMORY', 'ok'], mapped: 0, files: 0, left: [] })
    }
  })

  it('what is made in a loop leaves nothing', async () => {
    assert.ok(await nothing())
    const name = fresh()
    for (let i = 0; i < 500; i++) {
      const a = SharedTensor.create(name, [16], { ifExists: i % 2 === 0 ? 'replace' : 'open' })
      const b = SharedTensor.open(name)
      b.tensor.fill(i)
      assert.equal(a.tensor.get(15), i)
      for (const s of [a, b]) {
        s.tensor.dispose()
        s.dispose()
      }
    }
    assert.ok(areOpen(0))
    SharedTensor.unlink(name)
    assert.ok(await nothing())
    assert.deepEqual(here(), [])
  })

  it('without a name is refused where the system seals nothing', function () {
    if (abilities.sealedMemory) {
      skip(this, 'this system has sealed memory; scripts/generic tries it where there is none')
    }
    refuses(() => SharedTensor.create(null, [2]), 'ERR_UNSUPPORTED')
    assert.deepEqual(here(), [])
  })

  it('copies in and out as every tensor does', () => {
    const a = SharedTensor.create(unnamed(), [2, 3], 'float64')
    a.tensor.copyFrom(
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    )
    assert.deepEqual(a.tensor.T.clone().toArray(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ])
    refuses(() => a.tensor.resize([3, 3]))
    assert.deepEqual(zeros([3]).copyFrom(a.tensor.select(0, 1)).toArray(), [4, 5, 6])
  })
})
