'use strict'
// What the tests of CUDA share. They run on the fake driver, and on a real one with SAMEBYTES_TEST_CUDA=1.
const path = require('node:path')
const { cuda } = require('samebytes')
const { ROOT, child, childJson, skip } = require('../setup')

const isFake = process.env.SAMEBYTES_TEST_CUDA !== '1'

/** For use in describe: its tests are about what only the fake driver does. */
function fakeOnly() {
  before(function () {
    if (!isFake) skip(this, 'needs faults that only the fake driver has')
  })
}

/** For use in describe: its tests need a second device. */
function twoDevices() {
  before(function () {
    if (cuda.deviceCount() < 2) skip(this, 'needs a second device')
  })
}

const FAKE = path.join(ROOT, 'build', 'fakecuda', 'libcuda_fake.so')

/** A program's JSON output, on a driver of its own that faults as env says. */
const onFake = (source, env = {}, options = {}) =>
  childJson(PRELUDE + source, { ...options, env: { SAMEBYTES_LIBCUDA: FAKE, ...env } })
const runOnFake = (source, env = {}, options = {}) =>
  child(PRELUDE + source, { ...options, env: { SAMEBYTES_LIBCUDA: FAKE, ...env } })

const PRELUDE = `
  const samebytes = require('samebytes')
  const { cuda, zeros, ones, tensor, arange, memory } = samebytes
  const codeOf = fn => { try { fn(); return 'nothing was thrown' } catch (error) { return [error.code, error.message] } }
  const say = value => console.log(JSON.stringify(value))
`

module.exports = { FAKE, fakeOnly, isFake, onFake, runOnFake, twoDevices }
