'use strict'
// Names of shared memory for tests: with this process' number, and taken away when a test is over.
const fs = require('node:fs')
const path = require('node:path')
const { SharedTensor } = require('samebytes')
const { can } = require('./setup')
const { abilities } = require('../js/backend/calls').backend

const FOLDER = abilities.segments ?? '/dev/shm'
const names = new Set()
let made = 0

const pathOf = (name) => path.join(FOLDER, name)

/** A name that nobody else has. */
function fresh() {
  const name = `sb-test-${process.pid}-${made++}`
  names.add(name)
  return name
}

/** The name of a segment that may be sealed, where the system has sealed memory: none. */
const unnamed = () => (abilities.sealedMemory ? null : fresh())

/** What a record of ours says: a link's target, on Windows a file's text. */
function targetOf(name) {
  try {
    return process.platform === 'win32'
      ? fs.readFileSync(`${FOLDER}/${name}`, 'utf8').slice(0, 512)
      : fs.readlinkSync(`${FOLDER}/${name}`)
  } catch {
    return '' // no record, or gone
  }
}

/** What is in the folder with a text in its name, or in that of the segment that it is a record of. */
const namesWith = (text) =>
  fs
    .readdirSync(FOLDER)
    .filter((name) => [name, targetOf(name)].some((said) => said.includes(text)))
    .sort()

/** What is there of this process' tests. */
const here = () => namesWith(`sb-test-${process.pid}-`)

/** For afterEach. */
function clean() {
  for (const name of names) {
    try {
      SharedTensor.unlink(name)
    } catch {}
  }
  for (const name of here()) {
    try {
      fs.rmSync(pathOf(name), { force: true })
    } catch (error) {
      if (error.code !== 'EPERM' || can('mapped files that change')) throw error
    }
  }
  names.clear()
}

module.exports = { FOLDER, abilities, clean, fresh, here, namesWith, pathOf, unnamed }
