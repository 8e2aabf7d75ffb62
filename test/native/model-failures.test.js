'use strict'
// Models on a library of onnxruntime that fails in every call, gives nothing, or gives what it did not promise: a stand-in, which counts what
// is alive (fakeort). Each in a process of its own.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ROOT, childJson, nativeOnly, needs } = require('../setup')

const FAKE = path.join(ROOT, 'build', 'fakeort', 'libonnxruntime_fake.so')
const OTHER = path.join(ROOT, 'build', 'fakeort', 'libother.so')

const PRELUDE = `
  const samebytes = require('samebytes')
  const { empty, full, ones, zeros, memory } = samebytes
  const { ADD, BOTH, Module, alive, asked, bytes, differences, failAllocation, inTurn, load, outcomeOf, say, tell, turn, until } =
    require('./test/native/fakeort/program.js')
`

let folder
/** A program's answer, on a stand-in of its own. */
async function onFake(source, env = {}) {
  const state = path.join(folder, 'state')
  fs.writeFileSync(state, new Uint8Array(512))
  return childJson(`${PRELUDE}async function main () { ${source} }\nmain()`, {
    flags: ['--expose-gc'],
    env: { SAMEBYTES_ONNXRUNTIME: FAKE, FAKEORT_STATE: state, ...env },
  })
}

/**
 * Each failure was one of these codes, and left nothing.
 *
 * @param {{ said: any[], last: any }} answer
 * @param {number} least  failures
 * @param {string[]} codes
 */
function check({ said, last }, least, ...codes) {
  const wrong = said.filter(
    ({ code, left }) => !codes.includes(code) || Object.keys(left).length > 0,
  )
  assert.deepEqual(wrong, [])
  assert.equal(last.code, 'none', last.message)
  assert.ok(said.length >= least, `${said.length} failed; ${least} were expected`)
}

describe("failures of onnxruntime's library", function () {
  nativeOnly()
  needs('the fake onnxruntime')
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-fakeort-'))
  })
  after(() => fs.rmSync(folder, { recursive: true }))

  describe('a library that cannot be used', () => {
    const ASK = `
      const source = require('./test/onnx').onnx({ inputs: { a: 'float32[2]' }, nodes: ['Identity(a) -> b'], outputs: { b: 'float32[2]' } })
      const forced = await outcomeOf(() => Module.load(source, { runtime: 'library' }))
      const always = await outcomeOf(() => Module.load(source, { thread: 'always' }))
      const module = await Module.load(source)
      const [b] = await module.run([full([2], 3)])
      say({ forced, always, runtime: module.runtime, b: b.toArray(), left: alive() })
    `
    for (const [what, env, reason] of [
      [
        'is not there',
        { SAMEBYTES_ONNXRUNTIME: '/nonexistent/libonnxruntime.so.1' },
        /nonexistent/,
      ],
      ['is another one', { SAMEBYTES_ONNXRUNTIME: OTHER }, /is no library of onnxruntime/],
      ['is no library', { SAMEBYTES_ONNXRUNTIME: __filename }, /onnxruntime's library: /],
      ['is older', { FAKEORT_VERSION: '19' }, /onnxruntime 1\.19\.0 is older than 1\.20/],
    ]) {
      it(`one that ${what}: the binding runs the model, and says why`, async () => {
        const { forced, always, runtime, b } = await onFake(ASK, env)
        for (const { code, message } of [forced, always]) {
          assert.equal(code, 'ERR_UNSUPPORTED')
          assert.match(message, reason)
        }
        assert.equal(runtime.name, 'binding')
        assert.match(runtime.reason, reason)
        assert.deepEqual(b, [3, 3])
      })
    }

    for (const word of ['failAt', 'nullAt']) {
      it(`one that fails to begin (${word}) is tried again by the next load`, async () => {
        const answer = await onFake(`
          const failures = []
          for (let n = 1; n <= 2; n++) {
            tell('${word}', n)
            failures.push({ ...await outcomeOf(() => load(ADD)), left: alive() })
          }
          const isOver = asked('${word}') === 0
          const module = await load(ADD)
          const [c] = await module.run([ones([2, 3]), ones([2, 3])])
          await module.dispose()
          say({ failures, isOver, c: c.toArray(), version: module.runtime.version })
        `)
        for (const { code, left } of answer.failures) {
          assert.equal(code, 'ERR_UNSUPPORTED')
          assert.deepEqual([left.env, left.memory, left.status, left.faults], [0, 0, 0, 0])
        }
        assert.deepEqual([answer.isOver, answer.version], [true, '1.99.0'])
        assert.deepEqual(answer.c, [[2, 2, 2], [2, 2, 2]]) // prettier-ignore
      })
    }

    it('sessions have arenas of their own where it shares none', async () => {
      const answer = await onFake(`
        tell('failAlways', 144)
        const module = await load(ADD)
        const [c] = await module.run([ones([1, 3]), ones([1, 3])])
        const during = alive()
        await module.dispose()
        c.dispose()
        say({ values: c.isDisposed, during, left: alive() })
      `)
      assert.deepEqual([answer.left.memory, answer.left.status, answer.left.faults], [1, 0, 0])
      assert.deepEqual([answer.left.session, answer.left.value], [0, 0])
    })
  })

  const LOADS = {
    'a load': `load(BOTH)`,
    'a load with options': `load(ADD, {
      intraOpNumThreads: 2, interOpNumThreads: 1, executionMode: 'parallel', graphOptimizationLevel: 'basic', logSeverityLevel: 3, logVerbosityLevel: 1,
      enableCpuMemArena: false, enableMemPattern: false, logId: 'x', freeDimensionOverrides: { n: 2 }, extra: { session: { a: '1' } } })`,
    'a load of a path': `Module.load(file, { runtime: 'library' })`,
    'a load of two models': `Module.load({ a: bytes(ADD), b: bytes(BOTH) }, { runtime: 'library' })`,
  }
  for (const [what, expression] of Object.entries(LOADS)) {
    for (const [word, how] of [
      ['failAt', 'a call fails'],
      ['nullAt', 'a call makes nothing'],
    ]) {
      it(`${what} in which ${how}, each in turn, is a typed error, leaves nothing, and the next one works`, async () => {
        const answer = await onFake(`
          const file = ${JSON.stringify(path.join(folder, 'model'))}
          require('node:fs').writeFileSync(file, bytes(ADD))
          await (await load(ADD)).dispose()
          say(await inTurn('${word}', async () => { await (await ${expression}).dispose() }))
        `)
        const isFree = ({ entry }) => entry === 'AllocatorFree'
        for (const { code, left } of answer.said.filter(isFree)) {
          assert.deepEqual([code, left], ['none', { name: 1 }])
        }
        const said = answer.said.filter((each) => !isFree(each))
        const least = word === 'failAt' ? 20 : 10
        check({ ...answer, said }, least, 'ERR_FORMAT', 'ERR_UNSUPPORTED')
      })
    }
  }

  const RUNS = {
    'new results': ['', '{}'],
    'results in given tensors': ['', '{ outputs: [c] }'],
    'a wanted output': ['', "{ outputs: ['c'] }"],
  }
  for (const thread of ['always', 'never']) {
    for (const [what, [, options]] of Object.entries(RUNS)) {
      for (const [word, how] of [
        ['failAt', 'a call fails'],
        ['nullAt', 'a call makes nothing'],
      ]) {
        it(`a run for ${what} (thread: '${thread}') in which ${how}, each in turn`, async () => {
          const answer = await onFake(`
            const a = ones([2, 3]), b = ones([2, 3]), c = zeros([2, 3])
            const module = await load(ADD, { thread: '${thread}' })
            const answer = await inTurn('${word}', async () => {
              const found = await module.run([a, b], ${options})
              const list = Array.isArray(found) ? found : Object.values(found)
              const isRight = list.every(each => each.toArray().flat().every(x => x === 2))
              for (const each of list) if (each !== c) each.dispose()
              if (!isRight) throw new Error('wrong values')
            })
            await module.dispose()
            say({ ...answer, left: alive() })
          `)
          check(answer, word === 'failAt' ? 5 : 3, 'ERR_MODEL', 'none') // its options are the last run's
          assert.deepEqual([answer.left.session, answer.left.value, answer.left.faults], [0, 0, 0])
        })
      }
    }
  }
})
