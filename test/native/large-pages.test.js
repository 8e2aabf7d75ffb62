'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { empty, zeros } = require('samebytes')
const { nativeOnly, needs, skip } = require('../setup')

/** What Linux notes about the mapping that an address lies in: 'hg' is the advice to use large pages. */
function flagsAt(address) {
  let inside = false
  for (const line of fs.readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const range = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line)
    if (range) inside = BigInt(`0x${range[1]}`) <= address && address < BigInt(`0x${range[2]}`)
    else if (inside && line.startsWith('VmFlags:')) return line.split(/\s+/).slice(1)
  }
  return []
}

describe('new memory', () => {
  nativeOnly()
  needs('/proc')
  before(function () {
    if (!fs.existsSync('/sys/kernel/mm/transparent_hugepage/enabled')) {
      skip(this, 'the system has no large pages')
    }
  })

  const makers = { empty, zeros, 'shared memory': (shape) => empty(shape, { shared: true }) }
  for (const [name, make] of Object.entries(makers)) {
    it(`asks for large pages from 4 MiB on: float32 from ${name}`, () => {
      const t = make([8, 2 ** 20])
      assert.ok(flagsAt(t.dataPtr + BigInt(t.nbytes / 2)).includes('hg'))
      t.fill(1)
      assert.equal(t.get(7, -1), 1)
      t.dispose()
    })
  }
})
