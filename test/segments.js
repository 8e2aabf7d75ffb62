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

const AS_TEXT = process.platform === 'win32' // records are links elsewhere

/** What a record of ours says, '' where it is none, or gone. @param {string} entry  its name */
function recordOf(entry) {
  try {
    return AS_TEXT
      ? fs.readFileSync(pathOf(entry), 'latin1').slice(0, 512)
      : fs.readlinkSync(pathOf(entry))
  } catch {
    return ''
  }
}

/** Puts a record there, at once, as if another process had done so. @param {string} entry @param {string} text */
function writeRecord(entry, text) {
  const draft = pathOf(`${entry}-${process.pid}`)
  if (AS_TEXT) fs.writeFileSync(draft, text)
  else fs.symlinkSync(text, draft)
  for (let tries = 0; ; tries++) {
    try {
      return fs.renameSync(draft, pathOf(entry))
    } catch (error) {
      if (!AS_TEXT || tries === 1000) throw error // else somebody reads it at the moment
    }
  }
}

/** Takes a name away as somebody would who knows nothing of records, as far as the system lets them. @param {string} name */
function removeName(name) {
  if (can('mapped files that change')) fs.unlinkSync(pathOf(name))
  else SharedTensor.unlink(name)
}

/** What is in the folder with a text in its name, or in that of the segment that it is a record of. */
const namesWith = (text) =>
  (fs.existsSync(FOLDER) ? fs.readdirSync(FOLDER) : [])
    .filter((name) => [name, recordOf(name)].some((said) => said.includes(text)))
    .sort()

/** What is there of this process' tests. */
const here = () => namesWith(`sb-test-${process.pid}-`)

/** For afterEach. */
function clean() {
  for (const name of [...names, ...here()]) {
    try {
      SharedTensor.unlink(name)
    } catch {} // it is gone, or a record
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

module.exports = {
  FOLDER,
  abilities,
  clean,
  fresh,
  here,
  namesWith,
  pathOf,
  recordOf,
  removeName,
  unnamed,
  writeRecord,
}
