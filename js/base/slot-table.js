'use strict'
// Values by small numbers that are used again. Finding one in a Map takes longer, most of all where the processor's caches are cold.

const { newList, rootless } = require('./primordials')

/**
 * Either the caller numbers the values (`set`, `delete`), or the table does (`put`, `drop`).
 *
 * @template T
 */
class SlotTable {
  constructor () {
    /** by number, undefined where there is none; a list without methods @type {T[]} */
    this.held = newList()
    /** values that are there */
    this.size = 0
    /** numbers that `put` uses again, the last one first; it never gets shorter @type {number[]} */
    this.free = newList()
    this.freeCount = 0
  }

  /** @param {number} id @param {T} value */
  set (id, value) {
    if (this.held[id] === undefined) this.size++
    this.held[id] = value
  }

  /** @param {number} id  there or not */
  delete (id) {
    if (this.held[id] === undefined) return
    this.held[id] = /** @type {any} */ (undefined)
    this.size--
  }

  /** @param {T} value @returns {number} its number */
  put (value) {
    const id = this.freeCount > 0 ? this.free[--this.freeCount] : this.held.length
    this.set(id, value)
    return id
  }

  /** @param {number} id  that `put` gave; it is used again */
  drop (id) {
    this.delete(id)
    this.free[this.freeCount++] = id
  }

  /** @param {(value: T) => void} fn */
  forEach (fn) {
    for (let i = 0; i < this.held.length; i++) {
      const value = this.held[i]
      if (value !== undefined) fn(value)
    }
  }
}

rootless(SlotTable)

module.exports = { SlotTable }
