'use strict'
// wasm/order.mjs, which the build runs on every module.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { skipWithout } = require('../setup')

describe('wasm/order.mjs', () => {
  let bodiesOf, orderOf, reorder

  before(async () => {
    ({ bodiesOf, orderOf, reorder } = await import('../../wasm/order.mjs'))
  })

  const text = ['(module', ' (import "env" "memory" (memory $0 1))', ' (func $a (result i32)', '  (i32.const 1)', ' )', ' (func $b)', ' (func $c', '  (nop)', ' )', ' (export "c" (func $c))', ')'].join('\n')

  it('puts a function next to the one that it resembles', () => {
    const of = (...bytes) => Uint8Array.from({ length: 400 }, (_, i) => (i * i * bytes[0] + bytes[1]) & 255)
    const [plain, other] = [of(7, 1), of(11, 5)]
    const near = Uint8Array.from(plain, (byte, i) => i % 100 ? byte : 0)
    assert.deepEqual(orderOf([plain, other, near]), [0, 2, 1])
  })

  it('looks no farther back than compressors do', () => {
    const random = length => Uint8Array.from({ length }, (_, i) => Math.imul(i + length, 2654435761) >>> 21)
    const twin = random(1000)
    const order = orderOf([twin, random(40_000), random(2000), twin])
    assert.deepEqual(order.slice(0, 2), [0, 3])
    assert.equal(order.length, 4)
  })

  it('moves functions of a text alone, and all of them', () => {
    assert.equal(reorder(text, [0, 1, 2]), text)
    const moved = reorder(text, [2, 0, 1]).split('\n')
    assert.deepEqual(moved.filter(line => line.startsWith(' (func')), [' (func $c', ' (func $a (result i32)', ' (func $b)'])
    assert.deepEqual([...moved].sort(), text.split('\n').sort())
    assert.deepEqual([moved[1], moved.at(-2)], [text.split('\n')[1], text.split('\n').at(-2)])
  })

  it('refuses a text of another module', () => {
    assert.throws(() => reorder(text, [0, 1]), /the text has 3 functions, the module 2/)
  })

  it('finds the functions of a module', function () {
    skipWithout(this, 'the WebAssembly build')
    const module = fs.readFileSync(path.join(__dirname, '..', '..', 'dist', 'samebytes.wasm'))
    const bodies = bodiesOf(module)
    const nbytes = bodies.reduce((sum, body) => sum + body.length, 0)
    assert.ok(bodies.length > 100 && nbytes > module.length / 2 && nbytes < module.length)
    assert.ok(bodies.every(body => body.at(-1) === 0x0b), 'each ends with the instruction `end`')
  })
})
