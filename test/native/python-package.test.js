'use strict'
// The Python package beside Node: rings, shared tensors, what a killed process leaves. NumPy is the system's.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { SharedRing, SharedTensor, pythonPath } = require('samebytes')
const { library } = require('samebytes/native')
const { LOCKS, lockFile } = require('../../js/backend/file-calls')
const { nativeOnly, needs, skip, skipWithout, turn } = require('../setup')
const { PYTHON } = require('../tools')
const { nodePeer, pythonPeer, endPeers } = require('../peer-process')
const { clean, fresh } = require('../segments')
const wheel = require('../wheel')

const PRELUDE = `sys.path.insert(0, ${JSON.stringify(pythonPath)})
import time
from samebytes import Error, SharedRing, SharedTensor
name = sys.argv[1]
def code(fn):
  try: return fn()
  except Error as error: return error.code
`
/** As if there were neither NumPy nor the library. */
const BARE = `import os
sys.modules['numpy'] = None
os.environ['SAMEBYTES_LIBRARY'] = '/nowhere'
`

describe('the Python package', function () {
  nativeOnly()
  needs('shared memory with a name')
  let machine = '' // of Python, which may be emulated
  const skipElsewhere = (test) =>
    machine !== 'x86_64' && skip(test, 'without the library only x86-64 can')
  before(function () {
    if (library === null) {
      throw new Error('libsamebytes is missing; first: bash scripts/build library')
    }
    skipWithout(this, 'NumPy')
    machine = execFileSync(PYTHON, ['-c', 'import platform; print(platform.machine())'], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { PATH: process.env.PATH },
    }).trim()
  })
  afterEach(async () => {
    await endPeers()
    clean()
  })
  const peer = (source, name, before = '') => pythonPeer(before + PRELUDE + source, [name])
  const ringOf = (more = {}) =>
    SharedRing.create(fresh(), [2, 50], { slots: 4, dtype: 'int32', ...more })
  const ended = async (child) =>
    assert.deepEqual(await child.exit, { code: 0, signal: null, errors: '' })

  it('writes frames that we read whole, each counted once', async () => {
    const ring = ringOf()
    const writer = peer(
      'ring = SharedRing.open(name)\nfor i in range(1000): ring.write(i)',
      ring.name,
    )
    let next = 0
    for await (const { tensor, index, lost } of ring.read({ from: 0 })) {
      assert.equal(index, next + lost)
      next = index + 1
      const values = tensor.data.slice()
      if (ring.intact(index)) {
        assert.ok(
          values.every((value) => value === index),
          `frame ${index} is of several`,
        )
      }
      if (index === 999) break
    }
    await ended(writer)
    assert.equal(ring.write(0), 1000) // it has given the role up
    ring.dispose()
  })

  for (const [how, before] of [
    ['with NumPy and the library', ''],
    ['with neither', BARE],
  ]) {
    it(`reads whole frames that we write, each counted once, ${how}`, async function () {
      if (before !== '') skipElsewhere(this)
      const ring = ringOf()
      const reader = peer(
        `
ring, seen, torn, missed, after = SharedRing.open(name), 0, 0, 0, 0
say('ready')
for array, index, lost, tag in ring.read(from_=0):
  assert index == after + lost
  after, missed = index + 1, missed + lost
  values = set(memoryview(array).cast('B').cast('i').tolist())
  if ring.intact(index): seen, torn = seen + 1, torn + (values != {index})
  if index == 999: break
say(seen > 0, torn)`,
        ring.name,
        before,
      )
      assert.equal(await reader.next(), 'ready')
      for (let i = 0; i < 1000; i++) {
        ring.write(i)
        if (i % 20 === 0) await turn()
      }
      assert.equal(await reader.next(), 'True 0')
      await ended(reader)
      ring.dispose()
    })
  }

  it('shows a frame in place: the same bytes, read-only, until the writer comes back', async () => {
    const ring = ringOf({ slots: 1 })
    ring.write(3)
    const reader = peer(
      `
ring = SharedRing.open(name)
frame = next(ring.read())
say(frame.array[1, 49], frame.array.flags.writeable, ring.intact(0))
input()
say(frame.array[1, 49], ring.intact(0))`,
      ring.name,
    )
    assert.equal(await reader.next(), '3 False True')
    ring.next().fill(8)
    reader.send('')
    assert.equal(await reader.next(), '8 False')
    await ended(reader)
    ring.dispose()
  })

  it('that is killed inside a frame takes nothing with it, and the next one goes on', async () => {
    const ring = ringOf()
    const source = `
ring = SharedRing.open(name)
ring.write(ring.count)
ring.next()[:] = -1
say(code(lambda: SharedRing.open(name).next()))
input()`
    for (let i = 0; i < 3; i++) {
      const writer = peer(source, ring.name)
      assert.equal(await writer.next(), 'ERR_BUSY')
      assert.throws(() => ring.next(), { code: 'ERR_BUSY' })
      await writer.kill('SIGKILL')
      assert.deepEqual([ring.count, ring.intact(i), ring.intact(i + 1)], [i + 1, true, false])
    }
    assert.equal(ring.write(3), 3)
    ring.dispose()
  })

  it('goes on after a Node that was killed inside a frame', async () => {
    const ring = ringOf()
    const writer = nodePeer(
      "const ring = require('samebytes').SharedRing.open(process.env.RING); ring.write(0); ring.next().fill(9); await send('inside'); await next()",
      { env: { RING: ring.name } },
    )
    assert.equal(await writer.next(), 'inside')
    await writer.kill('SIGKILL')
    const after = peer(
      `
with SharedRing.open(name) as ring:
  frames = ring.read(timeout=20)
  say([next(frames).index, ring.write(1), next(frames).array[0, 0].item()])`,
      ring.name,
    )
    assert.equal(await after.next(), '[0, 1, 1]')
    await ended(after)
    ring.dispose()
  })

  it('makes rings and tensors that we open and list, in every dtype', async () => {
    const name = fresh()
    const maker = peer(
      `
for dtype in input().split():
  with SharedTensor.create(name, (2, 3), dtype, if_exists='replace') as shared: say(shared.dtype)
  input()
ring = SharedRing.create(name, 3, 'float64', slots=4, if_exists='replace')
say(ring.write([1, 2, 3]), code(lambda: SharedRing.create(name, 3, slots=4)), SharedRing.create(name, 3, 'float64', slots=4, if_exists='open').count)
input()
say(code(lambda: SharedRing.create(name, 3, 'float64', slots=5, if_exists='open')), SharedRing.unlink(name), code(lambda: SharedRing.open(name)))`,
      name,
    )
    const { dtypes } = require('samebytes')
    maker.send(dtypes.join(' '))
    for (const dtype of dtypes) {
      assert.equal(await maker.next(), dtype)
      assert.deepEqual(
        [
          SharedTensor.open(name, { dtype }).tensor.shape,
          SharedTensor.list().find((each) => each.name === name).pid,
        ],
        [[2, 3], maker.child.pid],
      )
      maker.send('')
    }
    assert.equal(await maker.next(), '0 ERR_EXISTS 1')
    const {
      value: { tensor },
    } = await SharedRing.open(name).read().next()
    assert.deepEqual(tensor.toArray(), [1, 2, 3])
    maker.send('')
    assert.equal(await maker.next(), 'ERR_SHAPE None ERR_NOT_FOUND')
    await ended(maker)
  })

  it('reads every frame of a ring with readers, whose writer waits for it, and waits likewise', async () => {
    const made = peer(
      "ring = SharedRing.create(name, 3, 'int32', slots=2, readers=1)\nsay(ring.readers, SharedRing.open(name).readers)",
      fresh(),
    )
    assert.equal(await made.next(), '1 1')
    await ended(made)
    const ring = ringOf({ slots: 2, readers: 1 })
    const reader = peer(
      `
ring, seen = SharedRing.open(name), 0
frames = ring.read(0)
say('there')
for array, index, lost, tag in frames:
  assert (index, lost, int(array[1, 49])) == (seen, 0, seen)
  if seen == 0: say(code(lambda: next(ring.read())))
  seen += 1
  if seen == 300: break
frames.close()
input() # the other one writes no more
say(ring.write(5, timeout=9))`,
      ring.name,
    )
    assert.equal(await reader.next(), 'there')
    for (let i = 0; i < 300; i++) {
      await ring.writeAsync(i, { timeout: 60000 })
      if (i === 0) assert.equal(await reader.next(), 'ERR_BUSY')
    }
    ring.dispose()
    reader.send('')
    assert.equal(await reader.next(), '300')
    await ended(reader)
    const closed = peer(
      `
frames = (ring := SharedRing.open(name)).read()
next(frames)
ring.close() # inside of the loop
writer = SharedRing.open(name)
say(writer.write(6), writer.write(7, timeout=20), list(frames))`,
      ring.name,
    )
    assert.equal(await closed.next(), '301 302 []')
    await ended(closed)
    const slow = SharedRing.open(ring.name)
    const frames = slow.read()
    await frames.next()
    const writer = peer(
      `
ring = SharedRing.open(name)
ring.write(1)
try: ring.write(2, timeout=0.01)
except TimeoutError as error: say(error)
say(ring.write(2))`,
      ring.name,
    )
    assert.equal(
      await writer.next(),
      `the ring '${ring.name}' has no free slot after 0.01 s: process ${process.pid} still reads what is in the slot, 2 frames back`,
    )
    await frames.return()
    assert.equal(await writer.next(), '304')
    await ended(writer)
    slow.dispose()
  })

  it('waits for an element, is woken, and wakes', async () => {
    const shared = SharedTensor.create(fresh(), [2], { dtype: 'int64' })
    const other = peer(
      `
shared = SharedTensor.open(${JSON.stringify(shared.descriptor)})
say(shared.wait(0, 5), shared.wait(0, 0, timeout=0.01), code(lambda: shared.wait(2, 0)))
while shared.array[0] == 0: shared.wait(0, 0)
shared.array[1] = 7
shared.notify(1)`,
      shared.name,
    )
    assert.equal(await other.next(), 'not-equal timed-out ERR_BOUNDS')
    const answered = shared.wait(1, 0)
    shared.tensor.set(1n, 0)
    shared.notify(0)
    assert.match(await answered, /^(ok|not-equal)$/)
    assert.equal(shared.tensor.get(1), 7n)
    await ended(other)
    shared.dispose()
  })

  it('ends its loops when the ring is closed, handles signals while it waits, and tells when no frame comes', async () => {
    const ring = ringOf()
    const other = peer(
      `
import signal, threading
ring = SharedRing.open(name)
try: next(ring.read(timeout=0.05))
except TimeoutError as error: say(error)
threading.Timer(0.2, ring.close).start()
say(list(ring.read()), code(lambda: ring.count))
def handle(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try: next(SharedRing.open(name).read())
except KeyboardInterrupt: say('interrupted')`,
      ring.name,
    )
    assert.equal(await other.next(), `the ring '${ring.name}' got no frame for 0.05 s`)
    assert.equal(await other.next(), '[] ERR_DISPOSED')
    assert.equal(await other.next(), 'interrupted')
    await ended(other)
    ring.dispose()
  })

  it('ends a loop also where it was closed just before it slept', async () => {
    const ring = ringOf()
    const other = peer(
      `
import threading
ring = SharedRing.open(name)
ring._words.wake = lambda: None # too early
threading.Timer(0.05, ring.close).start()
say(list(ring.read()))`,
      ring.name,
    )
    assert.equal(await other.next(), '[]')
    await ended(other)
    ring.dispose()
  })

  it('refuses what daemon threads ask for at the end of the process, when its rings are closed', async () => {
    const ring = ringOf()
    const other = peer(
      `
import atexit, threading
def run():
  while True:
    count = code(lambda: ring.count)
    if count != 1: return say(count)
atexit.register(lambda: thread.join())
ring = SharedRing.open(name) # is closed before that
ring.write(1)
thread = threading.Thread(target=run, daemon=True)
thread.start()`,
      ring.name,
    )
    assert.equal(await other.next(), 'ERR_DISPOSED')
    await ended(other)
    assert.equal(ring.write(2), 1)
    ring.dispose()
  })

  it('refuses what makes no sense, with our codes', async () => {
    const name = fresh()
    const held = SharedTensor.create(name, [3], { dtype: 'float32' })
    const other = peer(
      `
say([code(fn) for fn in [lambda: SharedTensor.open(''), lambda: SharedTensor.open(name + '-none'), lambda: SharedTensor.open(name, 'int32'), lambda: SharedTensor.create(name, 3),
  lambda: SharedTensor.create(name, -1), lambda: SharedTensor.create(name, 1, 'float31'), lambda: SharedTensor.open(name).wait(0, 0), lambda: SharedRing.open(name), lambda: SharedRing.create(name + '-r', 1, slots=0),
  lambda: SharedTensor.open('/etc/hostname'), lambda: SharedTensor.open({'path': '/dev/shm/' + name, 'id': '1-2'})]])`,
      name,
    )
    assert.deepEqual(JSON.parse((await other.next()).replaceAll("'", '"')), [
      'ERR_ARGUMENT',
      'ERR_NOT_FOUND',
      'ERR_DTYPE',
      'ERR_EXISTS',
      'ERR_SHAPE',
      'ERR_DTYPE',
      'ERR_DTYPE',
      'ERR_NOT_FOUND',
      'ERR_BOUNDS',
      'ERR_FORMAT',
      'ERR_STALE',
    ])
    await ended(other)
    held.dispose()
  })

  it('takes no numbers whose upper bits C would not see, and leaves nothing where it refused', async () => {
    const name = fresh()
    const ring = ringOf()
    ring.write(0)
    const words = SharedTensor.create(name, [3], { dtype: 'int32' })
    const other = peer(
      `
import os
ring, words = SharedRing.open(${JSON.stringify(ring.name)}), SharedTensor.open(name)
made = lambda *args, **more: code(lambda: SharedRing.create(name + '-r', *args, **more))
say(made(1, slots=2 ** 64 + 1), made(2 ** 64, slots=4), made(None, slots=4), made(1, slots='4'), made(1, slots=4, readers=2.5), made(1, slots=4, mode=2 ** 32))
say(*[code(lambda: SharedTensor.create(name + '-t', shape)) for shape in [2 ** 64 + 1, [2 ** 64 + 1], 2.5]])
say([it for it in sorted(os.listdir('/dev/shm')) if it.startswith(name + '-')])
say(ring.intact(0), *[code(lambda: ring.intact(index)) for index in [2 ** 64, -1, 1.0]], *[code(lambda: ring.read(from_=index)) for index in [2 ** 64, -1, '0']])
say(*[code(lambda: words.wait(*args, timeout=0)) for args in [(0, 0), (0, 2 ** 32), (0, 0.0), (2 ** 64, 0), (0, -1)]], code(lambda: words.wait(0, 0, 'soon')))
say(*[code(lambda: words.notify(0, n)) for n in [2 ** 64, -1, '1', 1]])
say(*[code(lambda: SharedTensor.open(where)) for where in ['\\ud800', '/dev/shm/a\\0b', 2 ** 40, {}]])`,
      name,
    )
    assert.equal(
      await other.next(),
      'ERR_BOUNDS ERR_SHAPE ERR_SHAPE ERR_ARGUMENT ERR_ARGUMENT ERR_BOUNDS',
    )
    assert.equal(await other.next(), 'ERR_SHAPE ERR_SHAPE ERR_SHAPE')
    assert.equal(await other.next(), '[]')
    assert.equal(
      await other.next(),
      'True ERR_BOUNDS ERR_BOUNDS ERR_ARGUMENT ERR_BOUNDS ERR_BOUNDS ERR_ARGUMENT',
    )
    assert.equal(
      await other.next(),
      'timed-out ERR_CAST ERR_ARGUMENT ERR_BOUNDS not-equal ERR_ARGUMENT',
    )
    assert.equal(await other.next(), 'ERR_BOUNDS ERR_BOUNDS ERR_ARGUMENT 0')
    assert.equal(await other.next(), 'ERR_ARGUMENT ERR_ARGUMENT ERR_ARGUMENT ERR_ARGUMENT')
    await ended(other)
    ring.dispose()
    words.dispose()
  })

  it('does not read headers that are longer than those that NumPy reads', async () => {
    const held = SharedTensor.create(fresh(), [20000], { format: 'raw', dtype: 'uint8' })
    const header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }"
    const other = peer(
      `
say(SharedTensor.open(name).shape)
input()
say(code(lambda: SharedTensor.open(name)))`,
      held.name,
    )
    const write = (length) =>
      fs.writeFileSync(
        held.path,
        Buffer.concat([
          Buffer.from([0x93, ...Buffer.from('NUMPY'), 2, 0, length & 255, length >> 8, 0, 0]),
          Buffer.from(header.padEnd(length, ' ')),
        ]),
        { flag: 'r+' },
      )
    write(10000)
    assert.equal(await other.next(), '(1,)')
    write(10001)
    other.send('')
    assert.equal(await other.next(), 'ERR_FORMAT')
    await ended(other)
    held.dispose()
  })

  it('opens a ring that another process is making, once it is there', async () => {
    const name = fresh()
    const words = SharedTensor.create(`${name}.control`, [20], { dtype: 'uint64' })
    assert.equal(lockFile(words.fd, LOCKS.exclusive), 0) // as one that is between its two segments
    const other = peer(
      `
time.sleep = lambda _: None
say(code(lambda: SharedRing.create(name, 2, slots=4, if_exists='open')), code(lambda: SharedRing.open(name)))
time.sleep = lambda _: say('waits') or input()
ring = SharedRing.create(name, 2, slots=4, if_exists='open')
say(ring.write(1), code(lambda: SharedRing.create(name, 2, 'int8', slots=4, if_exists='open')), code(lambda: SharedRing.create(name, 2, slots=5, if_exists='open')))`,
      name,
    )
    assert.equal(await other.next(), 'ERR_EXISTS ERR_NOT_FOUND')
    assert.equal(await other.next(), 'waits')
    const ring = SharedRing.create(name, [2], { slots: 4, ifExists: 'replace' })
    other.send('')
    assert.equal(await other.next(), '0 ERR_DTYPE ERR_SHAPE')
    await ended(other)
    words.dispose()
    ring.dispose()
  })

  it('without the library writes nothing, and says what is missing', async function () {
    skipElsewhere(this)
    const ring = ringOf()
    const other = peer(
      `
say([code(fn) for fn in [lambda: SharedRing.open(name).next(), lambda: SharedTensor.create(name + '-x', 1), lambda: SharedRing.unlink(name)]])
try: SharedRing.open(name).write(1)
except Error as error: say(error)`,
      ring.name,
      BARE,
    )
    assert.equal(await other.next(), "['ERR_UNSUPPORTED', 'ERR_UNSUPPORTED', 'ERR_UNSUPPORTED']")
    assert.match(
      await other.next(),
      /needs libsamebytes\.so\.1 \(\/nowhere is not there\); SAMEBYTES_LIBRARY names one$/,
    )
    await ended(other)
    ring.dispose()
  })

  it('is a wheel that has the library, built by Python alone, and shares memory with us', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-wheel-'))
    try {
      const { PATH, SAMEBYTES_LIBRARY } = process.env
      const options = {
        encoding: 'utf8',
        cwd: folder,
        env: {
          PATH,
          PYTHONDONTWRITEBYTECODE: '1',
          ...(SAMEBYTES_LIBRARY && { SAMEBYTES_LIBRARY }),
        },
      }
      const name = execFileSync(
        PYTHON,
        [path.join(pythonPath, 'backend.py'), folder],
        options,
      ).trim()
      const site = path.join(folder, 'site')
      wheel.install(path.join(folder, name), site)
      assert.deepEqual(await wheel.tryBeside(require('samebytes'), site, fresh()), {
        version: require('samebytes/package.json').version,
        library: path.join(fs.realpathSync(site), 'samebytes', 'libsamebytes.so.1'),
      })
      const publics =
        "import backend; print(*map(backend._public, ['1.2.3', '1.0.0-rc.1', '2.0.0-beta2', '2.0.0-fix_A']))"
      assert.equal(
        execFileSync(PYTHON, ['-c', publics], { ...options, cwd: pythonPath }),
        '1.2.3 1.0.0rc1 2.0.0b2 2.0.0.dev0+fix.a\n',
      )
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  })
})
