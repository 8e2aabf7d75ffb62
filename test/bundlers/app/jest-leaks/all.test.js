'use strict'
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

// --detectLeaks: nothing keeps this file's globals once it has ended. --detectOpenHandles: no handle keeps the process alive.

/* eslint-disable no-undef -- Jest's beforeAll and afterAll */
let folder
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'samebytes-jest-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})
/* eslint-enable no-undef */

test('arithmetic and copies, off the event loop as well', async () => {
  const { memory, ones, zeros } = require('samebytes')
  const { addAsync, sum } = require('samebytes/math')
  const t = await addAsync(zeros([300_000]), 1)
  await t.copyFromAsync(ones([300_000]))
  expect(sum(t).item()).toBe(300_000)
  expect(memory().exported).toBe(0)
})

test('files', async () => {
  const { backend, load, ones, openNpy, saveNpy } = require('samebytes')
  const file = join(folder, 'x.npy')
  await saveNpy(file, ones([1000]))
  expect((await load(file)).get(0)).toBe(1)
  if (backend() === 'native') expect(openNpy(file).get(999)).toBe(1)
})

test('what is shared with native code', async () => {
  const { backend, fromBlob, fromDlpack, ones, tensor } = require('samebytes')
  expect(require('samebytes/module').Module).toBeInstanceOf(Function)
  if (backend() !== 'native') return
  const t = tensor([1, 2])
  expect(fromDlpack(t)).toEqual(t)
  expect(t.__samebytes__).toBeDefined()
  const kept = ones([4], { shared: true })
  await new Promise((resolve) => {
    fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter: resolve }).dispose()
  })
  fromBlob(kept.dataPtr, [4], { dtype: 'float32', deleter: () => kept })
})
