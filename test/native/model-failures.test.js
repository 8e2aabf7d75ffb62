'use strict'
// Models on a library of onnxruntime that fails in every call, gives nothing, or gives what it did not promise: a stand-in, which counts what
// is alive (fakeort). Each in a process of its own.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { ROOT, can, childJson, needs, skip } = require('../setup')

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
  needs("onnxruntime's library")
  needs('the fake onnxruntime')
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-fakeort-'))
  })
  after(() => {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true })
  })

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
          check(answer, word === 'failAt' ? 6 : 3, 'ERR_MODEL', 'none')
          assert.deepEqual([answer.left.session, answer.left.value, answer.left.faults], [0, 0, 0])
        })
      }
    }
  }

  const SHAPES = {
    'given tensors of unknown extents': [
      'const sum = zeros([4]), product = zeros([4])',
      '{ outputs: [sum, product] }',
    ],
    'a given tensor of another shape, and a new one': [
      'const sum = zeros([8]).resize([2]), product = null',
      '{ outputs: [sum] }',
    ],
    'new results of unknown extents': ['const sum = null, product = null', '{}'],
  }
  for (const thread of ['always', 'never']) {
    for (const [what, [targets, options]] of Object.entries(SHAPES)) {
      it(`a run for ${what} (thread: '${thread}') in which a call fails, each in turn`, async () => {
        const answer = await onFake(`
          const a = full([4], 2), b = full([4], 3)
          ${targets}
          const module = await load(BOTH, { thread: '${thread}' })
          const answer = await inTurn('failAt', async () => {
            sum?.resize([sum.capacity === 8 ? 2 : 4]).fill(0)
            const found = await module.run([a, b], ${options})
            const values = found.map(each => each.toArray())
            for (const each of found) if (each !== sum && each !== product) each.dispose()
            if (String(values) !== '5,5,5,5,6,6,6,6') throw new Error(String(values))
          })
          await module.dispose()
          say({ ...answer, left: alive() })
        `)
        check(answer, 7, 'ERR_MODEL', 'none')
        assert.deepEqual([answer.left.session, answer.left.value, answer.left.faults], [0, 0, 0])
      })
    }
  }

  const RESULTS = {
    'of 4 bits': ['22 4', 'ERR_DTYPE', /type 22/],
    'of strings': ['8 4', 'ERR_DTYPE', /type 8/],
    'of a type that nobody knows': ['99 4', 'ERR_DTYPE', /type 99/],
    'of 65 axes': [`1${' 1'.repeat(65)}`, 'ERR_SHAPE', /65 axes/],
    'of more elements than there are numbers': ['1 4611686018427387904 4', 'ERR_SHAPE', /\S{3}/],
    'of more bytes than there is memory': ['1 1099511627776 16', 'ERR_MEMORY', /\S{3}/],
    'of fewer than no elements': ['1 -4', 'ERR_SHAPE', /-4/],
    'that is a list': ['sequence', 'ERR_UNSUPPORTED', /no tensor/],
    'without bytes': ['bytes', 'ERR_MODEL', /gave nothing/],
    'that is none': ['null', 'ERR_MODEL', /no value of odd/],
  }
  for (const [what, [made, code, pattern]] of Object.entries(RESULTS)) {
    it(`a result ${what} is ${code}, leaves nothing, and the module's other outputs go on`, async () => {
      const text = `input a 1 ?\ninput b 1 ?\noutput sum 1 ? = add\noutput odd 1 ? = ${made}\noutput product 1 ? = multiply\n`
      const answers = await onFake(`
        const answers = []
        for (const thread of ['always', 'never']) {
          const module = await load(${JSON.stringify(text)}, { thread })
          const a = full([4], 2), b = full([4], 3)
          const ends = async outputs => {
            const before = alive()
            const outcome = await outcomeOf(() => module.run([a, b], { outputs }))
            return { ...outcome, left: differences(before, alive()) }
          }
          const all = await ends(undefined)
          const alone = await ends(['odd'])
          const { sum, product } = await module.run({ a, b }, { outputs: ['sum', 'product'] })
          answers.push({ all, alone, sum: sum.toArray(), product: product.toArray() })
        }
        say(answers)
      `)
      for (const { all, alone, sum, product } of answers) {
        for (const outcome of [all, alone]) {
          assert.equal(outcome.code, code, outcome.message)
          assert.match(outcome.message, pattern)
          assert.deepEqual(outcome.left, {})
        }
        assert.deepEqual([sum, product], [[5, 5, 5, 5], [6, 6, 6, 6]]) // prettier-ignore
      }
    })
  }

  it('a result of no elements may have no bytes', async () => {
    const answer = await onFake(`
      const module = await load('input a 1 ?\\noutput b 1 ? = 1 3 0\\n')
      const [b] = await module.run([ones([4])])
      say([b.shape, b.dtype])
    `)
    assert.deepEqual(answer, [[3, 0], 'float32'])
  })

  it("a result that is the input's bytes is a copy: writing to one changes nothing of the other", async () => {
    const answers = await onFake(`
      const answers = []
      for (const thread of ['always', 'never']) {
        const module = await load('input a 1 ?\\noutput b 1 ? = pass\\noutput c 1 ? = pass\\n', { thread })
        const a = ones([4], { shared: true })
        for (let i = 0; i < 4; i++) {
          const [b, c] = await module.run([a])
          b.fill(2)
          c.fill(3)
          answers.push([a, b, c].map(each => each.get(3)))
          b.dispose()
          c.dispose()
        }
        a.dispose()
        await module.dispose()
      }
      say({ answers, left: alive() })
    `)
    for (const each of answers.answers) assert.deepEqual(each, [1, 2, 3])
    assert.deepEqual([answers.left.value, answers.left.faults, answers.left.inFlight], [0, 0, 0])
  })

  it('results that were made before a run failed are released', async () => {
    const answers = await onFake(`
      const answers = []
      for (const thread of ['always', 'never']) {
        const module = await load(BOTH, { thread })
        const a = ones([4]), b = ones([4]), sum = zeros([4])
        const before = alive()
        tell('half', 1)
        for (const outputs of [undefined, [sum]]) {
          answers.push({ ...await outcomeOf(() => module.run([a, b], { outputs })), left: differences(before, alive()) })
        }
        tell('half', 0)
        const [, product] = await module.run([a, b], { outputs: [sum] })
        answers.push({ code: 'none', product: product.toArray(), left: {} })
      }
      say(answers)
    `)
    const codes = ['ERR_MODEL', 'ERR_MODEL', 'none']
    assert.deepEqual(
      answers.map(({ code }) => code),
      [...codes, ...codes],
    )
    for (const { left } of answers) assert.deepEqual(left, {})
    assert.match(answers[0].message, /method 'forward' failed: product was told to fail/)
  })

  for (const [what, line, code, pattern] of [
    ['of strings', 'input a 8 4\noutput b 1 4 = 1 4\n', 'ERR_UNSUPPORTED', /'a' is of strings/],
    ['of 4 bits', 'input a 1 4\noutput b 22 4 = 22 4\n', 'ERR_UNSUPPORTED', /'b' is of no dtype/],
    ['that is a list', 'input a 0\noutput b 1 4 = 1 4\n', 'ERR_UNSUPPORTED', /'a' is of no dtype/],
    [
      'of 65 axes',
      `input a 1 4\noutput b 1${' 1'.repeat(65)} = pass\n`,
      'ERR_SHAPE',
      /b has 65 axes/,
    ],
  ]) {
    it(`a model that declares something ${what} is ${code} where the library is asked for, and leaves nothing`, async () => {
      const {
        code: found,
        message,
        left,
      } = await onFake(`
        await (await load(ADD)).dispose()
        const before = alive()
        const outcome = await outcomeOf(() => load(${JSON.stringify(line)}))
        say({ ...outcome, left: differences(before, alive()) })
      `)
      assert.equal(found, code, message)
      assert.match(message, pattern)
      assert.deepEqual(left, {})
    })
  }

  it('bytes that are no model are ERR_FORMAT, and leave nothing', async () => {
    const { code, message, left } = await onFake(`
      await (await load(ADD)).dispose()
      const before = alive()
      const outcome = await outcomeOf(() => load('nonsense'))
      say({ ...outcome, left: differences(before, alive()) })
    `)
    assert.equal(code, 'ERR_FORMAT')
    assert.match(message, /these bytes are no model/)
    assert.deepEqual(left, {})
  })

  describe('a slow run', () => {
    for (const [what, isDeaf] of [
      ['ends', false],
      ['goes on where the library cannot be told, and ends', true],
    ]) {
      it(`whose signal aborts ${what} with the reason; its tensors are busy until then`, async () => {
        const answer = await onFake(`
          const a = ones([4], { shared: true }), b = ones([4]), sum = zeros([4])
          const module = await load(BOTH, { thread: 'always' })
          const before = alive()
          tell('pause', 1)
          const controller = new AbortController()
          const running = outcomeOf(() => module.run([a, b], { outputs: [sum], signal: controller.signal }))
          await until(() => asked('waiting') === 1)
          const busy = [await outcomeOf(() => sum.resize([2])), await outcomeOf(() => module.run([sum, b]))]
          if (${isDeaf}) tell('failAlways', 46)
          controller.abort(Object.assign(new Error('enough'), { code: 'MINE' }))
          if (${isDeaf}) tell('pause', 0)
          const outcome = await running
          tell('failAlways', 0)
          tell('pause', 0)
          const left = differences(before, alive())
          const [, product] = await module.run([a, b], { outputs: [sum] })
          say({ outcome, busy, left, product: product.toArray() })
        `)
        assert.equal(answer.outcome.code, 'MINE', answer.outcome.message)
        assert.deepEqual(
          answer.busy.map(({ code }) => code),
          ['ERR_BUSY', 'ERR_BUSY'],
        )
        assert.deepEqual(answer.left, {})
        assert.deepEqual(answer.product, [1, 1, 1, 1])
      })
    }

    it('that fails does not end another of the same module', async () => {
      const answer = await onFake(`
        const module = await load(BOTH, { thread: 'always', concurrency: 2 })
        const a = full([4], 2), b = full([4], 3)
        const before = alive()
        tell('pause', 1)
        const controller = new AbortController()
        const first = outcomeOf(() => module.run([a, b], { signal: controller.signal }))
        const second = module.run([a, b])
        await until(() => asked('waiting') === 2)
        const during = asked('runOptions')
        controller.abort(Object.assign(new Error('enough'), { code: 'MINE' }))
        const outcome = await first
        const still = asked('waiting')
        const closing = module.dispose()
        tell('pause', 0)
        const [sum, product] = await second
        await closing
        const values = [sum.toArray(), product.toArray()]
        sum.dispose()
        product.dispose()
        say({ outcome, during, still, values, left: differences(before, alive()) })
      `)
      assert.equal(answer.outcome.code, 'MINE')
      assert.deepEqual([answer.during, answer.still], [2, 1])
      assert.deepEqual(answer.values, [[5, 5, 5, 5], [6, 6, 6, 6]]) // prettier-ignore
      assert.equal(answer.left.session, -1)
      assert.deepEqual([answer.left.value, answer.left.runOptions], [undefined, undefined])
    })

    it('whose output was transferred away meanwhile is ERR_DETACHED, and its other results are released', async function () {
      if (can('buffers that stay')) skip(this, 'needs a Node whose buffers can be transferred')
      const answer = await onFake(`
        const a = ones([4]), b = ones([4])
        const bytes = new Float32Array(4), sum = samebytes.fromBlob(bytes)
        const module = await load(BOTH, { thread: 'always' })
        const before = alive()
        tell('pause', 1)
        const running = outcomeOf(() => module.run([a, b], { outputs: [sum] }))
        await until(() => asked('waiting') === 1)
        structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
        tell('pause', 0)
        const outcome = await running
        say({ outcome, left: differences(before, alive()) })
      `)
      assert.equal(answer.outcome.code, 'ERR_DETACHED', answer.outcome.message)
      assert.deepEqual(answer.left, {})
    })
  })

  const WITHOUT_MEMORY = {
    'a load': ['', `await (await load(BOTH)).dispose()`],
    'a load of a path': [
      '',
      `await (await Module.load(file, { runtime: 'library', logId: 'x', freeDimensionOverrides: { n: 2 } })).dispose()`,
    ],
    ...Object.fromEntries(
      ['always', 'never'].flatMap((thread) =>
        Object.entries({ 'new results': '{}', 'given tensors': '{ outputs: [sum, product] }' }).map(
          ([what, options]) => [
            `a run for ${what} (thread: '${thread}')`,
            [
              `const module = await load(BOTH, { thread: '${thread}' })
              const a = full([2000], 2), b = full([2000], 3), sum = zeros([2000]), product = zeros([2000])`,
              `const found = await module.run([a, b], ${options})
              const values = found.map(each => each.get(1999))
              for (const each of found) if (each !== sum && each !== product) each.dispose()
              if (String(values) !== '5,6') throw new Error(String(values))`,
            ],
          ],
        ),
      ),
    ),
  }
  for (const [what, [prepare, act]] of Object.entries(WITHOUT_MEMORY)) {
    it(`${what} that finds no memory, each request in turn, is ERR_MEMORY, leaves nothing, and the next one works`, async () => {
      const answer = await onFake(`
        const file = ${JSON.stringify(path.join(folder, 'model'))}
        require('node:fs').writeFileSync(file, bytes(ADD))
        await (await load(ADD)).dispose()
        ${prepare}
        const act = async () => { ${act} }
        say([await inTurn('allocation', act), await inTurn('allocationElsewhere', act)])
      `)
      check(answer[0], 1, 'ERR_MEMORY', 'none')
      check(answer[1], what.startsWith('a load') ? 2 : 0, 'ERR_MEMORY')
    })
  }
})
