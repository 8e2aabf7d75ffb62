'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { version } = require('samebytes/package.json')
const { ROOT, isWasm, nativeOnly } = require('../setup')
const { FOLDER } = require('../segments')
const { cli } = require('./cli')

describe('samebytes doctor', function () {
  const examined = async (env = {}) => {
    const { code, stdout, stderr } = await cli(['doctor', '--json'], { env })
    const { findings, ...rest } = JSON.parse(stdout)
    return {
      code,
      stderr,
      ...rest,
      findings,
      of: (about) => findings.find((each) => each.about === about),
    }
  }

  it('says what there is, and what to do about the rest', async () => {
    const { findings, of, ...rest } = await examined()
    assert.equal(rest.version, version)
    assert.equal(rest.node, process.version)
    assert.match(of('back end').text, isWasm ? /^wasm/ : /^native/)
    assert.equal(of('samebytes').text, `${version} in ${ROOT}`)
    for (const { about, state, text, advice } of findings) {
      assert.match(text, /\S/, about)
      assert.ok(['ok', 'missing', 'broken'].includes(state), about)
      if (state !== 'ok') assert.match(advice, /\S{3}/, about)
    }
    for (const about of [
      'instruction set',
      'threads',
      'WebAssembly',
      'memory',
      'shared memory',
      'models',
    ]) {
      assert.ok(of(about), about)
    }
    if (!isWasm) assert.match(of('new memory').text, /^\d+\.\d\d µs for a page/)
    assert.equal(rest.code, findings.some(({ state }) => state === 'broken') ? 1 : 0)
    const { stdout } = await cli(['doctor'])
    for (const { about, text } of findings) {
      assert.ok(/free of/.test(text) || stdout.includes(`${about}`.padEnd(3)), about)
    }
    assert.match(stdout, /^ok {2}samebytes +\d/m)
  })

  it('says what runs models, and why', async () => {
    const { of } = await examined()
    const [, version] = /^onnxruntime-node (\d+\.\d+\.\d+): /.exec(of('models').text)
    const byLibrary = `its C library ${version} runs models, off the event loop`
    const isProven = !isWasm && `${process.platform}-${process.arch}` === 'linux-x64'
    if (isProven) assert.ok(of('models').text.endsWith(byLibrary), of('models').text)
    else assert.match(of('models').text, /its JavaScript runs models.*: \S/)
    const asked = await examined({ SAMEBYTES_ONNXRUNTIME: 'binding' })
    assert.match(
      asked.of('models').text,
      /blocks the event loop: SAMEBYTES_ONNXRUNTIME is 'binding'/,
    )
    const other = await examined({ SAMEBYTES_ONNXRUNTIME: __filename })
    if (isProven) {
      assert.match(other.of('models').text, /blocks the event loop: onnxruntime's library: /)
    }
  })

  describe('on native', () => {
    nativeOnly()

    it('says what the permission model forbids, and is not broken by it', async () => {
      const { PROGRAM } = require('./cli')
      const flag = process.allowedNodeEnvironmentFlags.has('--permission')
        ? '--permission'
        : '--experimental-permission'
      const { code, stdout } = await cli(
        [flag, `--allow-fs-read=${ROOT}/*`, '--allow-addons', PROGRAM, 'doctor', '--json'],
        { command: [process.execPath] },
      )
      const { findings } = JSON.parse(stdout)
      const { state, text, advice } = findings.find(({ about }) => about === 'shared memory')
      assert.deepEqual([code, state], [0, 'missing'], stdout)
      const said = `the permission model forbids ${FOLDER}: --allow-fs-read=* --allow-fs-write=* `
      assert.ok(`${text}: ${advice}`.includes(said), `${text}: ${advice}`)
    })

    it('says what copies run on', async () => {
      const { of } = await examined({ SAMEBYTES_ISA: 'scalar', SAMEBYTES_THREADS: '3' })
      assert.deepEqual(
        [of('instruction set').text, of('threads').text],
        ['scalar, by SAMEBYTES_ISA', '3 for a large copy, by SAMEBYTES_THREADS'],
      )
      const wrong = await examined({ SAMEBYTES_ISA: 'mmx', SAMEBYTES_THREADS: 'many' })
      assert.match(wrong.of('instruction set').text, /; SAMEBYTES_ISA=mmx counts for nothing$/)
      assert.match(wrong.of('threads').text, /; SAMEBYTES_THREADS=many counts for nothing$/)
      assert.deepEqual([wrong.of('instruction set').state, wrong.code], ['missing', 0])
    })

    it('tries the addon in a process of its own', async () => {
      const tried = async (env) =>
        JSON.parse((await cli(['doctor', '--json', '--try-native'], { env })).stdout).findings.find(
          ({ about }) => about === 'native addon',
        )
      const { state, text } = await tried({ SAMEBYTES_BACKEND: 'wasm' })
      assert.deepEqual(
        [state, text],
        [
          'ok',
          'loads, computes, maps and replaces files, works in a second thread, and shares memory with a second process',
        ],
      )
      const lost = await tried({
        SAMEBYTES_BACKEND: 'wasm',
        SAMEBYTES_BINARY: path.join(ROOT, 'no such folder', 'samebytes.node'),
      })
      assert.deepEqual(
        [lost.state, lost.text.startsWith('SamebytesError: no native addon for')],
        ['broken', true],
        lost.text,
      )
    })

    it('says why there is no addon, and goes on', async function () {
      const lost = path.join(ROOT, 'no such folder', 'samebytes.node')
      const { code, of } = await examined({ SAMEBYTES_BINARY: lost, SAMEBYTES_BACKEND: '' })
      assert.equal(code, 1)
      assert.deepEqual(
        [of('back end').state, of('instruction set').text],
        ['broken', 'WebAssembly SIMD'],
      )
      assert.match(of('back end').text, /^wasm: no native addon .*no such folder/)
      assert.match(of('back end').advice, /SAMEBYTES_BINARY/) // not: install the package again
      const forced = await examined({ SAMEBYTES_BINARY: lost, SAMEBYTES_BACKEND: 'native' })
      assert.deepEqual(
        [forced.code, forced.of('back end').state, forced.of('shared memory') !== undefined],
        [1, 'broken', true],
      )
    })

    it('says that SAMEBYTES_BINARY names another module than the addon', async () => {
      const module = path.join(ROOT, 'package.json')
      const { of } = await examined({ SAMEBYTES_BINARY: module, SAMEBYTES_BACKEND: '' })
      assert.match(of('back end').text, /no native addon .*package\.json: it is another module\)/)
    })

    it('says that a runtime refuses buffers over native memory', async () => {
      const { code, of } = await examined({ SAMEBYTES_NO_EXTERNAL_BUFFERS: '1' })
      assert.deepEqual([code, of('buffers over native memory').state], [0, 'missing'])
    })
  })
})
