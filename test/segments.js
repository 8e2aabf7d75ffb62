'use strict'
// Names of shared memory for tests: with this process' number, and taken away when a test is over.
const fs = require('node:fs')
const { SharedTensor } = require('samebytes')
const { abilities } = require('../js/backend/calls').backend

const FOLDER = '/dev/shm'
const names = new Set()
let made = 0

/** A name that nobody else has. */
function fresh() {
  const name = `sb-test-${process.pid}-${made++}`
  names.add(name)
  return name
}

/** The name of a segment that may be sealed, where the system has sealed memory: none. */
const unnamed = () => (abilities.sealedMemory ? null : fresh())

function targetOf(name) {
  try {
    return fs.readlinkSync(`${FOLDER}/${name}`)
  } catch {
    return '' // no link, or gone
  }
}

/** What is in the folder of these names: themselves, and what says who made them. */
const here = () =>
  fs
    .readdirSync(FOLDER)
    .filter((name) =>
      [name, targetOf(name)].some((text) => text.includes(`sb-test-${process.pid}-`)),
    )
    .sort()

/** For afterEach. */
function clean() {
  for (const name of here()) fs.rmSync(`${FOLDER}/${name}`, { force: true })
  for (const name of names) {
    try {
      SharedTensor.unlink(name)
    } catch {}
  }
  names.clear()
}

module.exports = { FOLDER, abilities, clean, fresh, here, unnamed }
