'use strict'
const assert = require('node:assert/strict')
const { importsOf } = require('../../js/backend/wasm')

// What C asks JavaScript for. An address from 2 GiB on comes as a negative number: 32 bits have no sign there. The memory is reserved,
// and two of its pages are used.
describe('the imports of WebAssembly', () => {
  it('write the digits of a number at any address, with nothing behind them', () => {
    const memory = new WebAssembly.Memory({ initial: 32769 })
    const { write_digits: writeDigits } = importsOf(memory, () => {}).samebytes
    for (const at of [1024, 2 ** 31 + 1024]) {
      writeDigits(at | 0, -1.5e300)
      assert.equal(Buffer.from(memory.buffer, at, 12).toString('latin1'), '-1.5e+300\0\0\0')
    }
  })
})
