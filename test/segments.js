'use strict'
// Names of shared memory for tests: with this process' number, and taken away when a test is over.
const fs = require('node:fs')
const { SharedTensor } = require('samebytes')

const FOLDER = '/dev/shm'
const names = new Set()
let made = 0

/** A name that nobody else has. */
function fresh() {
  const name = `sb-test-${process.pid}-${made++}`
  names.add(name)
  return name
}

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

module.exports = { FOLDER, clean, fresh, here }
