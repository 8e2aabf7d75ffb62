'use strict'
// The file in which waiters of all processes have slots on Windows, as it may be after restarts, or when somebody wrote to it.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { SharedTensor } = require('samebytes')
const { needs, skipWithout, turn } = require('../setup')
const { clean, fresh, pathOf } = require('../segments')

const [HEAD, SLOT, SLOTS] = [8, 32, 4096] // bytes, bytes, slots: src/platform/win32_futex.c
const WAITING = 2n

describe('the table of waiters', function () {
  needs('the addon')
  before(function () {
    skipWithout(this, 'a table of waiters')
  })

  let shared, table
  beforeEach(async () => {
    shared = SharedTensor.create(fresh(), [4], 'int32')
    assert.equal(await shared.wait(0, 0, { timeout: 1 }), 'timed-out') // now there is one
    table = fs.openSync(pathOf('.samebytes-waiters-1'), 'r+')
  })
  afterEach(() => {
    fs.closeSync(table)
    shared.dispose()
    clean()
  })

  const place = (slot) => HEAD + SLOT * slot
  /** Reads a slot: its holder, and the word that is waited for. */
  function slotAt(i) {
    const bytes = Buffer.alloc(SLOT)
    fs.readSync(table, bytes, 0, SLOT, place(i))
    return { holder: bytes.readBigUInt64LE(), word: bytes.subarray(8) }
  }
  /** Writes a slot as a wait of this process' number has it. */
  function forge(i, number, word) {
    const bytes = Buffer.alloc(SLOT)
    bytes.writeBigUInt64LE((BigInt(process.pid) << 32n) | (BigInt(number) << 2n) | WAITING)
    word.copy(bytes, 8)
    fs.writeSync(table, bytes, 0, SLOT, place(i))
  }
  const isTaken = (i) => {
    const { holder } = slotAt(i)
    return holder >> 32n === BigInt(process.pid) && (holder & 3n) === WAITING
  }
  /** The slot of the only wait of this process. others: slots that look like its own */
  async function ownSlot(others = []) {
    for (let i = 0; ; i = (i + 1) % SLOTS, i || (await turn())) {
      if (isTaken(i) && !others.includes(i)) return i
    }
  }

  it('what an earlier process of this number left is not taken for who waits', async () => {
    const first = shared.wait(1, 0)
    const { word } = slotAt(await ownSlot())
    assert.equal(shared.notify(1, 1), 1)
    assert.equal(await first, 'ok')
    const forged = [] // before the slot that the next wait takes
    for (let i = 0; i < SLOTS && forged.length < 8; i++) if (slotAt(i).holder === 0n) forged.push(i)
    forged.forEach((slot, i) => forge(slot, i, word))
    const waits = shared.wait(1, 0, { timeout: 10000 })
    await ownSlot(forged)
    assert.equal(shared.notify(1, 1), 1)
    assert.equal(await waits, 'ok')
    assert.equal(shared.notify(1), 0)
  })

  it('slots that nobody has are found when all are taken, also where their process has a namesake', async () => {
    const word = Buffer.alloc(SLOT - 8, 1)
    for (let i = 0; i < SLOTS; i++) if (slotAt(i).holder === 0n) forge(i, 2 ** 29 + i, word)
    assert.equal(await shared.wait(0, 0, { timeout: 1 }), 'timed-out')
    assert.equal(slotAt(SLOTS - 1).holder, 0n)
  })

  it('a wait whose slot is overwritten ends', async () => {
    const waits = shared.wait(0, 0, { timeout: 10000 })
    fs.writeSync(table, Buffer.alloc(SLOT), 0, SLOT, place(await ownSlot()))
    assert.equal(await waits, 'ok') // nothing was missed: who waits looks again
    const later = shared.wait(0, 0)
    await ownSlot()
    assert.equal(shared.notify(0), 1)
    assert.equal(await later, 'ok')
  })
})
