'use strict'
// What sees that a call did what it should not: tensors that have no part in it, and the use of what it gave.

const { types } = require('node:util')
const { Tensor, empty, fromBlob } = require('samebytes')

/** Tensors of known bytes, which no call is given. */
class Bystanders {
  constructor(r) {
    this.all = [1, 3, 64, 100, 1000, 4096, 70000].map((n) => {
      const t = r.rarely(4)
        ? fromBlob(new Uint8Array(n))
        : empty([n], { dtype: 'uint8', shared: r.rarely(5) })
      const value = r.between(1, 255)
      t.fill(value)
      return { t, value }
    })
  }

  check(program, what) {
    for (const { t, value } of this.all) {
      const bytes = t.bytes
      for (let i = 0; i < bytes.length; i++) {
        if (bytes[i] !== value) {
          program.fail(
            `${what}: byte ${i} of ${bytes.length} of a tensor that had no part in it is ${bytes[i]}, not ${value}`,
          )
        }
      }
    }
  }

  dispose() {
    for (const { t } of this.all) t.dispose()
  }
}

/** All is read that a tensor shows. */
function used(program, what, t) {
  program.call(`${what}: the result as text`, () => String(t))
  const { value: n } = program.call(`${what}: its size`, () => t.size)
  if (n === undefined || n > 1e5) return
  program.call(`${what}: the result as a list`, () => t.toArray())
  program.call(`${what}: its clone`, () => t.clone().dispose())
}

/**
 * A call to its end: a promise settles, and tensors that were given can be used.
 *
 * @param {() => any} fn
 * @param {any} on  what it is called on: its dispose() ends what would wait for others
 * @param {object} [more]  as of Program.call
 */
async function finished(program, what, fn, on, more) {
  const { value: promise, error } = program.call(what, fn, more)
  if (error !== undefined) return
  let value = promise
  if (types.isPromise(promise)) {
    if (/wait|read/.test(what)) {
      setImmediate(() => program.call(`${what}: dispose`, () => on.dispose()))
    } // nobody notifies
    value = (await program.later(what, () => promise)).value
  }
  for (const t of !types.isProxy(value) && Array.isArray(value) ? value.slice(0, 4) : [value]) {
    if (Tensor.isTensor(t)) used(program, what, t)
  }
}

module.exports = { Bystanders, finished, used }
