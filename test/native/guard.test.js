'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { child, childJson, needs } = require('../setup')

// A fault that is not caught ends the process: each program has one of its own, and `truncate` is another one that
// makes its files shorter.
const PRELUDE = (folder) => `
  const { execFileSync } = require('node:child_process')
  const fs = require('node:fs')
  const samebytes = require('samebytes')
  const { zeros, full, openNpy, openSafetensors, openRaw, saveNpySync, saveSafetensorsSync, arrayEqual, share, memory } = samebytes
  const at = name => ${JSON.stringify(folder + path.sep)} + process.pid + '-' + name
  const cut = (file, size = 0) => execFileSync('truncate', ['-s', String(size), file])
  const N = 1 << 20
  /** A file of ones, 4 MiB. */
  const ones = name => { saveNpySync(at(name), full([N], 1)); return at(name) }
  const code = fn => { try { fn(); return 'nothing thrown' } catch (error) { return error.code ?? error.stack } }
  const codeLater = async promise => { try { await promise; return 'nothing thrown' } catch (error) { return error.code ?? error.stack } }
  const say = x => process.stdout.write(JSON.stringify(x))
`

describe('a guarded file that is made shorter', function () {
  needs('the addon')
  needs('mapped files that change')

  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-guard-'))
  })
  after(() => {
    if (folder) fs.rmSync(folder, { recursive: true, force: true })
  })
  const program = (source, options) => childJson(PRELUDE(folder) + source, options)

  it('makes each use of it fail, in every mode, from the first kernel on that meets the hole', async () => {
    const uses = await program(`
      const uses = {
        'copyFrom (read)': t => zeros([N]).copyFrom(t),
        'copyFrom (cast)': t => zeros([N], 'float64').copyFrom(t),
        'copyFrom (strided)': t => zeros([N / 2]).copyFrom(t.slice('::2')),
        clone: t => t.clone(),
        get: t => t.get(N - 1),
        accessor: t => t.accessor().get(N - 1),
        toArray: t => t.slice('-9:').toArray(),
        'to text': t => t.slice('-9:').toString(),
        arrayEqual: t => arrayEqual(t, t.clone()),
        data: t => { t.data[N - 1]; t.data }
      }
      const writes = {
        fill: t => t.fill(2),
        set: t => t.set(2, N - 1),
        'copyFrom (write)': t => t.copyFrom(zeros([N])),
        setBytes: t => t.setBytes(new Uint8Array(4 * N))
      }
      const said = {}
      for (const mode of ['r', 'r+', 'c']) {
        for (const [name, use] of Object.entries(mode === 'r' ? uses : { ...uses, ...writes })) {
          const file = ones('a.npy')
          const t = openNpy(file, { mode, guard: true })
          const fine = t.get(N - 1)
          cut(file, 8192)
          said[mode + ' ' + name] = [fine, code(() => use(t)), code(() => t.get(0)), code(() => t.data), code(() => t.slice('5:').clone())]
          t.dispose()
        }
      }
      say(said)`)
    assert.equal(Object.keys(uses).length, 38)
    for (const [name, said] of Object.entries(uses)) {
      assert.deepEqual(said, [1, 'ERR_IO', 'ERR_IO', 'ERR_IO', 'ERR_IO'], name)
    }
  })

  it('reads as zeros through data that was taken before; what was written there goes nowhere', async () => {
    const said = await program(`
      const t = openNpy(ones('d.npy'), { mode: 'r+', guard: true })
      const { data } = t
      cut(at('d.npy'), 4096)
      const before = [data[0], t.get(0)]
      const seen = [data[0], data[N - 1], data[992]]
      data[N - 1] = 5
      say([before, seen, data[N - 1], fs.statSync(at('d.npy')).size, code(() => t.data), code(() => t.dataPtr), code(() => t.fill(1))])`)
    assert.deepEqual(said, [[1, 1], [1, 0, 0], 5, 4096, 'ERR_IO', 'ERR_IO', 'ERR_IO'])
  })

  it('breaks all tensors of that file, and nothing of others or of one that is opened again', async () => {
    const said = await program(`
      const write = () => saveSafetensorsSync(at('w.safetensors'), { a: full([N], 1), b: full([N], 2) })
      write()
      const weights = openSafetensors(at('w.safetensors'), { mode: 'r+', guard: true })
      const other = openNpy(ones('o.npy'), { guard: true })
      const [a, b] = [weights.get('a'), weights.get('b')]
      cut(at('w.safetensors'), 4096 * 3)
      const first = code(() => b.clone())
      const all = [code(() => a.get(0)), code(() => weights.get('a').slice(':1').toArray()), code(() => share(a)), code(() => a.__dlpack__())]
      write()
      weights.close()
      a.dispose()
      b.dispose()
      const again = openSafetensors(at('w.safetensors'), { guard: true })
      say([first, all, other.get(N - 1), again.get('b').get(N - 1), [...again.keys()]])`)
    assert.deepEqual(said, ['ERR_IO', ['ERR_IO', 'ERR_IO', 'ERR_IO', 'ERR_IO'], 1, 2, ['a', 'b']])
  })

  it('fails where it is worked on by several threads, and off the event loop', async () => {
    const said = await program(`
      const n = 1 << 24
      const sparse = name => { fs.writeFileSync(at(name), ''); fs.truncateSync(at(name), 4 * n); return openRaw(at(name), [n], { dtype: 'float32', mode: 'r+', guard: true }) }
      const main = async () => {
        const t = sparse('t')
        cut(at('t'), 4096)
        const copied = code(() => zeros([n]).copyFrom(t))
        const u = sparse('u')
        cut(at('u'), 4096)
        const filled = code(() => u.fill(1))
        const v = sparse('v')
        cut(at('v'), 4096)
        const target = zeros([n], { shared: true })
        const later = await codeLater(target.copyFromAsync(v))
        const w = sparse('w')
        const copying = zeros([n]).copyFromAsync(w)
        cut(at('w'), 4096)
        say([copied, filled, later, await codeLater(copying), await codeLater(target.copyFromAsync(v))])
      }
      main()`)
    assert.deepEqual(said, ['ERR_IO', 'ERR_IO', 'ERR_IO', 'ERR_IO', 'ERR_IO'])
  })

  it('cannot be saved, and leaves nothing half written', async () => {
    const said = await program(`
      const main = async () => {
        const said = []
        for (const guard of [true, false]) { // the system's own calls fail in any case
          const t = openNpy(ones('from.npy'), { guard })
          cut(at('from.npy'), 8192)
          said.push(code(() => saveNpySync(at('to.npy'), t)), await codeLater(samebytes.saveNpy(at('to.npy'), t)))
        }
        say([said, fs.readdirSync(${JSON.stringify(folder)}).filter(name => name.endsWith('to.npy') || name.endsWith('.tmp'))])
      }
      main()`)
    assert.deepEqual(said, [['ERR_IO', 'ERR_IO', 'ERR_IO', 'ERR_IO'], []])
  })

  it('fails in a worker, which opened it or was sent it', async () => {
    const said = await program(`
      const { Worker } = require('node:worker_threads')
      const t = openNpy(ones('s.npy'), { guard: true })
      ones('x.npy')
      const worker = new Worker(\`
        const { parentPort, workerData } = require('node:worker_threads')
        const { openNpy, fromShared, zeros } = require('samebytes')
        const code = fn => { try { fn(); return 'nothing thrown' } catch (error) { return error.code } }
        const sent = fromShared(workerData.token)
        const own = openNpy(workerData.path, { guard: true })
        const { data } = own
        const last = data.length - 1
        parentPort.once('message', () => {
          const seen = data[last]
          parentPort.postMessage([seen, code(() => own.get(0)), code(() => sent.clone()), code(() => sent.data)])
        })
        parentPort.postMessage([sent.get(last), data[last]])\`, { eval: true, workerData: { token: share(t), path: at('x.npy') } })
      worker.once('message', ready => {
        cut(at('s.npy'))
        cut(at('x.npy'))
        worker.once('message', said => say([ready, said, code(() => t.get(0))]))
        worker.postMessage('go')
      })`)
    assert.deepEqual(said, [[1, 1], [0, 'ERR_IO', 'ERR_IO', 'ERR_IO'], 'ERR_IO'])
  })

  it('leaves nothing behind, however often', async () => {
    const said = await program(`
      const file = ones('m.npy')
      const maps = () => fs.readFileSync('/proc/self/maps', 'utf8').split('\\n').filter(line => line.endsWith('m.npy')).length
      for (let i = 0; i < 200; i++) {
        const list = [openNpy(file, { guard: true }), openNpy(file, { guard: true })]
        if (list[0].get(5) !== 1) throw new Error('broken')
        for (const t of list) t.dispose()
      }
      say([memory().bytes.mapped, maps()])`)
    assert.deepEqual(said, [0, 0])
  })

  it('fails where another handler took over, too, and when that is gone', async () => {
    const said = await program(`
      const opened = name => openNpy(ones(name), { guard: true })
      const first = opened('h1.npy')
      process.on('SIGBUS', heard)
      const beside = opened('h2.npy')
      for (const name of ['h1.npy', 'h2.npy']) cut(at(name))
      const codes = [first, beside].map(t => code(() => t.get(0)))
      process.kill(process.pid, 'SIGBUS') // passed on to the other one
      const waiting = setInterval(() => {}, 1000)
      function heard () {
        clearInterval(waiting)
        process.off('SIGBUS', heard)
        const last = opened('h3.npy')
        cut(at('h3.npy'))
        say([codes, code(() => last.get(0))])
      }`)
    assert.deepEqual(said, [['ERR_IO', 'ERR_IO'], 'ERR_IO'])
  })

  it('fails in each of two copies of the package, whichever was loaded first', async () => {
    const said = await program(`
      const opened = ({ openNpy }, name) => openNpy(ones(name), { guard: true })
      const before = opened(samebytes, 'c1.npy')
      const [binary] = /\\/\\S*samebytes\\w*\\.node/.exec(fs.readFileSync('/proc/self/maps', 'utf8'))
      fs.copyFileSync(binary, at('copy.node'))
      process.env.SAMEBYTES_BINARY = at('copy.node')
      const copy = require(${JSON.stringify(path.join(__dirname, '..', 'another-copy.js'))}).anotherCopy()
      const tensors = [before, opened(copy, 'c2.npy'), opened(samebytes, 'c3.npy'), opened(copy, 'c4.npy')]
      const segments = [samebytes, copy, samebytes].map(({ SharedTensor }, i) => {
        const name = 'samebytes-test-' + process.pid + '-' + i
        const { tensor } = SharedTensor.create(name, [N])
        cut('/dev/shm/' + name)
        SharedTensor.unlink(name)
        return code(() => tensor.get(N - 1))
      })
      for (const i of [1, 2, 3, 4]) cut(at('c' + i + '.npy'))
      say([new Set(fs.readFileSync('/proc/self/maps', 'utf8').match(/\\S*\\.node$/gm)).size > 1, tensors.map(t => code(() => t.get(0))), segments])`)
    assert.deepEqual(said, [true, new Array(4).fill('ERR_IO'), new Array(3).fill('ERR_IO')])
  })

  // A sanitizer's own handler ends a process in its way: what counts is that ours changes nothing.
  for (const [what, source] of Object.entries({
    'a fault of a file without a guard':
      "const t = openNpy(ones('u.npy')); cut(at('u.npy')); t.clone()",
    'a signal that somebody sends':
      "process.kill(process.pid, 'SIGBUS'); setInterval(() => {}, 1000)",
  })) {
    it(`${what} ends the process as it does without any guard`, async () => {
      const end = async (source) => {
        const { code, signal, stdout } = await child(PRELUDE(folder) + source)
        return { code, signal, stdout }
      }
      const [without, beside] = [
        await end(source),
        await end("globalThis.kept = openNpy(ones('k.npy'), { guard: true });" + source),
      ]
      assert.deepEqual(beside, without)
      assert.ok(without.signal !== null || without.code > 0, JSON.stringify(without))
    })
  }
})
