'use strict'
const assert = require('node:assert/strict')
const samebytes = require('samebytes')
const { childJson, skipWithout } = require('../setup')

describe('import and require', () => {
  it('give one instance: the same functions under the same names', async () => {
    const module = await import('samebytes')
    const names = Object.keys(samebytes).sort()
    assert.deepEqual(
      Object.keys(module)
        .filter((name) => name !== 'default')
        .sort(),
      names,
    )
    for (const name of names) assert.equal(module[name], samebytes[name], name)
  })

  it('give all that this version promises', () => {
    const names = [
      'SamebytesError',
      'Scope',
      'backend',
      'canCast',
      'dtypes',
      'empty',
      'flush',
      'fromBlob',
      'full',
      'keep',
      'memory',
      'ones',
      'scope',
      'sharesMemory',
      'tensor',
      'tidy',
      'zeros',
    ]
    for (const name of names) assert.ok(name in samebytes, `${name} is missing`)
    assert.ok(new samebytes.SamebytesError('text') instanceof Error)
    assert.match(samebytes.backend(), /^(native|wasm|wasm-shared)$/)
  })

  it('work together in a process that starts with import, on float32', async function () {
    skipWithout(this, 'a Node of its own')
    const { same, values, backend } = await childJson(
      `
      import { createRequire } from 'node:module'
      import { join } from 'node:path'
      import { tensor, backend } from 'samebytes'
      const samebytes = createRequire(join(process.cwd(), 'x.js'))('samebytes')
      const t = samebytes.zeros([2]).copyFrom(tensor([1, 2]))
      console.log(JSON.stringify({ same: tensor === samebytes.tensor, values: t.toArray(), backend: backend() }))
    `,
      { type: 'module' },
    )
    assert.deepEqual({ same, values }, { same: true, values: [1, 2] })
    assert.equal(backend, samebytes.backend())
  })

  it('refuse a back end that does not exist', async function () {
    skipWithout(this, 'a Node of its own')
    const { child } = require('../setup')
    const { code, stderr } = await child("require('samebytes')", {
      env: { SAMEBYTES_BACKEND: 'quantum' },
    })
    assert.equal(code, 1)
    assert.match(stderr, /quantum/)
  })

  it('load where the other back end is forced', async function () {
    skipWithout(this, 'a Node of its own')
    skipWithout(this, 'the WebAssembly build')
    const run = (backend) =>
      childJson(
        "const s = require('samebytes'); console.log(JSON.stringify([s.backend(), s.tensor([1.5]).toArray()]))",
        { env: { SAMEBYTES_BACKEND: backend } },
      )
    assert.deepEqual(await run('native'), ['native', [1.5]])
    assert.deepEqual(await run('wasm'), ['wasm', [1.5]])
  })

  it('read few files: each costs Node a look-up and a compilation before a program begins', async function () {
    skipWithout(this, 'a Node of its own')
    const files = await childJson(
      "require('samebytes'); console.log(JSON.stringify(Object.keys(require.cache)))",
      { env: { JEST_WORKER_ID: undefined } },
    )
    assert.ok(
      files.some((file) => /[\\/]js[\\/]index\.js$/.test(file)),
      'the package was not read',
    )
    assert.ok(files.length <= 37, `${files.length} files: ${files.join(' ')}`)
  })

  it('leave nothing that keeps a process alive', async function () {
    skipWithout(this, 'a Node of its own')
    const { code } = await require('../setup').child("require('samebytes').zeros([3]).data")
    assert.equal(code, 0)
  })
})
