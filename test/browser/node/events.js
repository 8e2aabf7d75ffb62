'use strict'
// Which listeners an AbortSignal has: pages cannot be asked, so what is added and removed is noted.

/** @type {WeakMap<EventTarget, { type: string, fn: unknown }[]>} */
const noted = new WeakMap()
const { addEventListener, removeEventListener } = EventTarget.prototype

AbortSignal.prototype.addEventListener = function (type, fn, options) {
  addEventListener.call(this, type, fn, options)
  const list = noted.get(this) ?? []
  noted.set(this, list)
  list.push({ type, fn })
  if (options?.once) addEventListener.call(this, type, () => forget(this, type, fn), { once: true })
}

AbortSignal.prototype.removeEventListener = function (type, fn, options) {
  removeEventListener.call(this, type, fn, options)
  forget(this, type, fn)
}

function forget(signal, type, fn) {
  noted.set(
    signal,
    (noted.get(signal) ?? []).filter((one) => one.type !== type || one.fn !== fn),
  )
}

const getEventListeners = (signal, type) =>
  (noted.get(signal) ?? []).filter((one) => one.type === type)

module.exports = { getEventListeners }
