'use strict'
// Memory that NumPy, PyTorch and C programs have as well: each writes what the others read.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { execFile, execFileSync } = require('node:child_process')
const { SharedTensor, dtypes, fromBytes } = require('samebytes')
const { ROOT, hex, needs, refuses, skipWithout } = require('../setup')
const { FOLDER, clean, fresh, here, unnamed } = require('../segments')
const { node, python, endAll } = require('../other-process')

const OF_NUMPY = dtypes.filter((dtype) => !/^bfloat16|float8/.test(dtype))
const OF_TORCH = [
  'bool',
  'uint8',
  'int8',
  'int16',
  'int32',
  'int64',
  'float16',
  'float32',
  'float64',
  'complex64',
  'complex128',
]

/** Bytes of a [2, 3] that differ, and are valid in each dtype. */
const pattern = (dtype, nbytes, seed) =>
  Uint8Array.from({ length: nbytes }, (_, k) =>
    dtype === 'bool' ? (k + seed) & 1 : (k * 7 + seed) & 127,
  )

describe('SharedTensor and Python', function () {
  needs('the addon')
  needs('shared memory with a name')
  needs('NumPy')
  afterEach(async () => {
    await endAll()
    clean()
  })

  /** Here and there for each dtype; load(path) is a line of Python that leaves an array in a. */
  async function bothWays(py, list, segment, load) {
    for (const [i, dtype] of list.entries()) {
      const { a, where } = segment(dtype)
      const { tensor: t } = a
      t.setBytes(pattern(dtype, t.nbytes, i))
      const [name, shape, there, aligned] = await py.run(`
import numpy as np
a = ${load(where, dtype)}
things['${dtype}'] = a
b = a if isinstance(a, np.ndarray) else a.numpy()
result = [str(b.dtype), list(b.shape), b.tobytes().hex(), b.ctypes.data % 64 == 0]
b.view('u1')[...] = np.frombuffer(bytes.fromhex('${Buffer.from(pattern(dtype, t.nbytes, i + 1)).toString('hex')}'), 'u1').reshape(b.view('u1').shape)
`)
      assert.deepEqual(
        [name, shape, there, aligned],
        [dtype, [2, 3], Buffer.from(pattern(dtype, t.nbytes, i)).toString('hex'), true],
      )
      assert.equal(hex(t), Buffer.from(pattern(dtype, t.nbytes, i + 1)).toString('hex'), dtype)
      assert.deepEqual(
        t.toArray(),
        fromBytes(pattern(dtype, t.nbytes, i + 1), [2, 3], { dtype }).toArray(),
      )
      t.setBytes(pattern(dtype, t.nbytes, i + 2))
      assert.equal(
        await py.run(
          `a = things['${dtype}']; b = a if hasattr(a, 'tobytes') else a.numpy(); result = b.tobytes().hex()`,
        ),
        Buffer.from(pattern(dtype, t.nbytes, i + 2)).toString('hex'),
        dtype,
      )
    }
  }
  const npy = (dtype) => {
    const a = SharedTensor.create(fresh(), [2, 3], { dtype })
    return { a, where: a.path }
  }
  const sealed = (dtype) => {
    const a = SharedTensor.create(unnamed(), [2, 3], { dtype })
    return { a, where: a.path }
  }
  const raw = (dtype) => {
    const a = SharedTensor.create(fresh(), [2, 3], { dtype, format: 'raw' })
    return { a, where: a.name }
  }
  const rawFile = (dtype) => {
    const { a } = raw(dtype)
    return { a, where: a.path }
  }

  it('NumPy maps a named segment and a sealed one, every dtype that it has, both ways', async () => {
    const py = python()
    for (const segment of [npy, sealed]) {
      await bothWays(py, OF_NUMPY, segment, (where) => `np.load('${where}', mmap_mode='r+')`)
    }
  })

  it('PyTorch has what NumPy mapped: the same address, both ways', async function () {
    skipWithout(this, 'PyTorch')
    const py = python()
    await py.run('import torch, numpy as np')
    for (const segment of [npy, sealed]) {
      await bothWays(
        py,
        OF_TORCH,
        segment,
        (where) => `__import__('torch').from_numpy(np.load('${where}', mmap_mode='r+'))`,
      )
    }
    const {
      a: { path: where, tensor: t },
    } = npy('float32')
    t.fill(1.5)
    assert.deepEqual(
      await py.run(`
import numpy as np, torch
a = np.load('${where}', mmap_mode='r+')
t = torch.from_numpy(a)
t.mul_(2)
result = [t.data_ptr() == a.ctypes.data, t.sum().item()]
`),
      [true, 18],
    )
    assert.deepEqual(t.toArray(), [
      [3, 3, 3],
      [3, 3, 3],
    ])
  })

  it('PyTorch maps raw bytes by itself', async function () {
    skipWithout(this, 'PyTorch')
    const py = python()
    const {
      a: { path: where, tensor: t },
    } = raw('float32')
    t.fill(2)
    assert.equal(
      await py.run(
        `import torch; t = torch.from_file('${where}', shared=True, size=6, dtype=torch.float32); t.add_(1); result = t.sum().item()`,
      ),
      18,
    )
    assert.equal(t.get(1, 2), 3)
  })

  it('PyTorch maps raw bytes of every dtype that it has, both ways', async function () {
    skipWithout(this, 'PyTorch')
    const py = python()
    await bothWays(
      py,
      OF_TORCH,
      rawFile,
      (where, dtype) =>
        `__import__('torch').from_file('${where}', shared=True, size=6, dtype=__import__('torch').${dtype}).reshape(2, 3)`,
    )
  })

  it('PyTorch has bfloat16: of raw bytes by itself, of a .npy by what NumPy takes for raw bytes; the same address, both ways', async function () {
    skipWithout(this, 'PyTorch')
    const py = python()
    await py.run('import torch, numpy as np')
    const mapped = (where) =>
      `m = np.load('${where}', mmap_mode='r+'); t = torch.from_numpy(m.view('i2')).view(torch.bfloat16); names = [str(m.dtype), t.data_ptr() == m.ctypes.data]`
    const itself = (where) =>
      `t = torch.from_file('${where}', shared=True, size=6, dtype=torch.bfloat16).reshape(2, 3); names = ['|V2', True]`
    for (const [segment, load] of [
      [npy, mapped],
      [sealed, mapped],
      [raw, itself],
    ]) {
      const {
        a: { path: where, tensor: t },
      } = segment('bfloat16')
      t.copyFrom([
        [1, -2.5, 3.140625],
        [-0, Infinity, 2 ** -133],
      ])
      const there = await py.run(`
import numpy as np, torch
${load(where)}
things['t'] = t
result = [names, list(t.shape), t.data_ptr() % 64 == 0, t.view(torch.int16).numpy().tobytes().hex(), [str(x) for x in t.flatten().tolist()]]
t[0, 1], t[1, 0], t[1, 2] = 7.5, float('nan'), -2.0 ** -133
`)
      const values = ['1.0', '-2.5', '3.140625', '-0.0', 'inf', '9.183549615799121e-41']
      assert.deepEqual(there, [['|V2', true], [2, 3], true, '803f20c049400080807f0100', values])
      assert.deepEqual(t.toArray(), [
        [1, 7.5, 3.140625],
        [NaN, Infinity, -(2 ** -133)],
      ])
      t.setBytes(pattern('bfloat16', 12, 3))
      assert.equal(
        await py.run(
          "import torch; result = things['t'].view(torch.int16).numpy().tobytes().hex()",
        ),
        hex(t),
      )
      await py.run("import torch; things['t'].view(torch.int16).numpy().view('u1')[...] = 0x41")
      assert.equal(hex(t), '41'.repeat(12))
      assert.equal(t.get(1, 2), 12.0625)
    }
    const name = fresh()
    await py.run(`
import numpy as np, torch
m = things['m'] = np.lib.format.open_memmap('${FOLDER}/${name}', 'w+', 'V2', (2, 3))
torch.from_numpy(m.view('i2')).view(torch.bfloat16)[...] = torch.arange(6).reshape(2, 3) / 2
`)
    refuses(() => SharedTensor.open(name), 'ERR_DTYPE')
    const { tensor: t } = SharedTensor.open(name, 'bfloat16')
    assert.deepEqual(
      [t.dtype, t.toArray()],
      [
        'bfloat16',
        [
          [0, 0.5, 1],
          [1.5, 2, 2.5],
        ],
      ],
    )
    t.set(-1, 1, 2)
    assert.equal(await py.run("result = things['m'][1, 2].tobytes().hex()"), '80bf')
  })

  it('multiprocessing.shared_memory has raw bytes, and exactly those', async () => {
    const py = python()
    await py.run(`
from multiprocessing import shared_memory, resource_tracker
import numpy as np
def attach(name, dtype):
    shm = shared_memory.SharedMemory(name)
    resource_tracker.unregister(shm._name, 'shared_memory') # else this process removes the name when it ends
    things[name] = shm
    a = np.frombuffer(shm.buf, dtype)
    return a.reshape(2, 3)
things['attach'] = attach
`)
    await bothWays(py, OF_NUMPY, raw, (where, dtype) => `things['attach']('${where}', '${dtype}')`)
    const name = fresh()
    await py.run(`
from multiprocessing import shared_memory, resource_tracker
import numpy as np
shm = things['mine'] = shared_memory.SharedMemory('${name}', create=True, size=32)
np.frombuffer(shm.buf, 'i4')[...] = range(8)
`)
    const { tensor: t } = SharedTensor.open(name, { format: 'raw', dtype: 'int32' })
    assert.deepEqual(t.toArray(), [0, 1, 2, 3, 4, 5, 6, 7])
    t.set(70, 7)
    assert.equal(
      await py.run("import numpy as np; result = int(np.frombuffer(things['mine'].buf, 'i4')[7])"),
      70,
    )
    assert.equal(
      SharedTensor.list().some((entry) => entry.name === name),
      false,
    )
  })

  it('a process that attached by shared_memory and ends takes the name with it, unless its tracker was told not to', async () => {
    const [kept, lost] = [
      SharedTensor.create(fresh(), [4], { format: 'raw' }),
      SharedTensor.create(fresh(), [4], { format: 'raw' }),
    ]
    lost.tensor.fill(5)
    const py = python()
    await py.run(
      `from multiprocessing import shared_memory, resource_tracker; a = things['a'] = shared_memory.SharedMemory('${kept.name}'); resource_tracker.unregister(a._name, 'shared_memory')`,
    )
    assert.deepEqual(await py.end(), { code: 0, signal: null })
    assert.ok(fs.existsSync(kept.path))
    const careless = python()
    const hasTracker = await careless.run(`
import sys
from multiprocessing import shared_memory
things['a'] = shared_memory.SharedMemory('${lost.name}')
result = sys.version_info < (3, 13)
`)
    await careless.end()
    // The tracker is a process of its own, which sees the end of the other one. Newer Pythons may have none.
    for (let left = hasTracker ? 2000 : 0; left > 0 && fs.existsSync(lost.path); left--) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    if (hasTracker) assert.equal(fs.existsSync(lost.path), false)
    assert.deepEqual(lost.tensor.toArray(), [5, 5, 5, 5]) // who has it keeps it
    assert.deepEqual(
      SharedTensor.open({ fd: lost.fd }, { format: 'raw', dtype: 'float32' }).tensor.toArray(),
      [5, 5, 5, 5],
    )
    if (hasTracker) {
      refuses(
        () => SharedTensor.open(lost.name, { format: 'raw', dtype: 'float32' }),
        'ERR_NOT_FOUND',
      )
    }
    lost.dispose()
    clean()
    assert.deepEqual(here(), [])
  })

  it('what NumPy saved there is opened here', async () => {
    const [name, fortran] = [fresh(), fresh()]
    const py = python()
    await py.run(`
import numpy as np
a = things['a'] = np.lib.format.open_memmap('${FOLDER}/${name}', 'w+', 'f8', (2, 3))
a[...] = [[1, 2, 3], [4, 5, 6]]
with open('${FOLDER}/${fortran}', 'wb') as f: np.save(f, np.asfortranarray(a.astype('i2')))
`)
    const { tensor: t } = SharedTensor.open(name)
    assert.deepEqual(
      [t.dtype, t.toArray()],
      [
        'float64',
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      ],
    )
    t.set(60, 1, 2)
    assert.equal(await py.run("result = float(things['a'][1, 2])"), 60)
    const f = SharedTensor.open(fortran).tensor
    assert.deepEqual(
      [f.strides, f.toArray()],
      [
        [1, 2],
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      ],
    )
  })

  it('a sealed segment is inherited as a file, and outlives who made it', async function () {
    skipWithout(this, 'sealed memory')
    const maker = node()
    const { path: where, descriptor } = await maker.run(
      "const s = things.s = SharedTensor.create(null, [3], 'int64'); s.tensor.copyFrom([1n, 2n, 3n]); return { path: s.path, descriptor: s.descriptor }",
    )
    const a = SharedTensor.open(descriptor)
    const py = python({ stdio: [a.fd] })
    assert.deepEqual(
      await py.run(
        "import numpy as np; a = things['a'] = np.load('/proc/self/fd/3', mmap_mode='r+'); result = a.tolist()",
      ),
      [1, 2, 3],
    )
    assert.deepEqual(
      await py.run(
        `import numpy as np; a = things['b'] = np.load('${where}', mmap_mode='r+'); a *= 10; result = a.tolist()`,
      ),
      [10, 20, 30],
    )
    assert.equal(
      (await py.ask(`import os; os.truncate('${where}', 0)`)).error.name,
      'PermissionError',
    )
    assert.equal((await py.ask('import os; os.ftruncate(3, 10)')).error.name, 'PermissionError')
    await maker.kill()
    await py.run("things['a'][0] = 7")
    assert.deepEqual(a.tensor.toArray(), [7n, 20n, 30n])
    assert.equal(await py.run("result = int(things['b'][0])"), 7)
    assert.equal((await py.ask(`open('${where}', 'rb')`)).error.name, 'FileNotFoundError')
    assert.deepEqual(
      await py.run(`import numpy as np; result = np.load('${a.path}').tolist()`),
      [7, 20, 30],
    )
  })

  it('a Python that is killed while it writes takes nothing with it', async () => {
    const a = SharedTensor.create(fresh(), [1000])
    const py = python()
    const asked = py
      .ask(`import numpy as np\na = np.load('${a.path}', mmap_mode='r+')\nwhile True: a += 1`)
      .catch(() => 'it was killed')
    for (let i = 0; a.tensor.get(0) < 3; i++) await new Promise((resolve) => setTimeout(resolve, 5))
    await py.kill()
    assert.equal(await asked, 'it was killed')
    assert.ok(a.tensor.get(999) >= 2)
    a.tensor.fill(0)
    assert.equal(SharedTensor.open(a.name).tensor.get(999), 0)
  })
})

describe('the examples of shared memory', function () {
  needs('the addon')
  needs('shared memory with a name')
  const said = (name) =>
    execFileSync(process.execPath, [path.join(ROOT, 'examples', name, 'index.js')], {
      encoding: 'utf8',
    })
  const left = (text) =>
    fs
      .readdirSync(FOLDER)
      .filter((name) =>
        name.startsWith(`samebytes-example-${/^Node, process (\d+)/.exec(text)[1]}`),
      )

  it("Node and Python double each other's", async function () {
    skipWithout(this, 'NumPy')
    skipWithout(this, 'PyTorch')
    const text = said('share-with-python')
    assert.match(text, /Node sees 3 … 3, sum 50331648\n/)
    assert.match(text, /Python sees 0\.0, 2\.0 … 2097150\.0\ncopied: nothing\n/)
    assert.deepEqual(left(text), [])
  })

  it("Node and C double each other's", function () {
    skipWithout(this, 'a C compiler')
    const text = said('share-with-c')
    assert.match(text, /^C, .*: 1 2 3 4 5 6 7 8\nNode sees: 2 4 6 8 10 12 14 16$/m)
    assert.match(
      text,
      /^Node sees the C program's: 0 1 4 9 16 25 36 49\nC, .*: 0 2 8 18 32 50 72 98$/m,
    )
    assert.deepEqual(left(text), [])
  })
})

describe('SharedTensor and C', function () {
  needs('the addon')
  needs('shared memory with a name')
  let folder
  before(function () {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-c-'))
    skipWithout(this, 'a C compiler')
    for (const source of ['examples/share-with-c/ints.c', 'test/native/numbers.c']) {
      execFileSync(
        process.env.CC ?? 'gcc',
        [
          '-Wall',
          '-Werror',
          '-o',
          path.join(folder, path.basename(source, '.c')),
          path.join(ROOT, source),
          '-lrt',
        ],
        { stdio: 'pipe' },
      )
    }
  })
  after(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })
  afterEach(clean)

  const program = (name, ...args) =>
    new Promise((resolve, reject) =>
      execFile(path.join(folder, name), args, (error, stdout, stderr) =>
        error ? reject(new Error(stderr)) : resolve(stdout),
      ),
    )
  const run = (...args) => program('ints', ...args)

  it('the classic program doubles the integers that we made', async () => {
    const a = SharedTensor.create(fresh(), [8], { dtype: 'int32', format: 'raw' })
    a.tensor.copyFrom([1, 2, 3, 4, 5, 6, 7, 8])
    assert.match(await run('double', '/' + a.name, '8'), /1 2 3 4 5 6 7 8/)
    assert.deepEqual(a.tensor.toArray(), [2, 4, 6, 8, 10, 12, 14, 16])
    await assert.rejects(run('double', '/sb-test-none', '8'), /No such file/)
  })

  it('we read and write the integers that it made', async () => {
    const name = fresh()
    await run('make', '/' + name, '5')
    const a = SharedTensor.open(name, { format: 'raw', dtype: 'int32', shape: [5] })
    assert.deepEqual(a.tensor.toArray(), [0, 1, 4, 9, 16])
    a.tensor.set(-7, 4)
    assert.match(await run('double', '/' + name, '5'), /0 1 4 9 -7/)
    assert.equal(a.tensor.get(4), -14)
    await assert.rejects(run('make', '/' + name, '5'), /File exists/)
  })

  const [single, least] = [Math.fround(0.1), 2 ** -149]
  const most = (2 - 2 ** -23) * 2 ** 127
  const NUMBERS = {
    // as in numbers.c
    bool: [true, true, false],
    uint8: [0, 255, 65],
    int8: [-128, 127, -2],
    uint16: [0, 65535, 0x1234],
    int16: [-32768, 32767, -0x1234],
    uint32: [0, 4294967295, 0x12345678],
    int32: [-2147483648, 2147483647, -0x12345678],
    uint64: [0n, 2n ** 64n - 1n, 0x123456789abcdef0n],
    int64: [-(2n ** 63n), 2n ** 63n - 1n, -0x123456789abcdef0n],
    float32: [-single, most, least],
    float64: [-0.1, Number.MAX_VALUE, Number.MIN_VALUE],
    complex64: [
      [1.5, -2],
      [-0, most],
      [-Infinity, single],
    ],
    complex128: [
      [1.5, -2],
      [-0, Number.MAX_VALUE],
      [-Infinity, 0.1],
    ],
  }

  for (const [dtype, values] of Object.entries(NUMBERS)) {
    it(`C reads what we write as ${dtype}, and we read what it writes`, async () => {
      const [a, b, c] = values
      const { name, tensor: t } = SharedTensor.create(fresh(), [3], { dtype, format: 'raw' })
      await assert.rejects(program('numbers', '/' + name, dtype), /are others/)
      t.copyFrom(values)
      await program('numbers', '/' + name, dtype)
      assert.deepEqual(t.toArray(), [c, a, b])
      assert.deepEqual(SharedTensor.open(name, { dtype, format: 'raw' }).tensor.toArray(), [
        c,
        a,
        b,
      ])
    })
  }
})
