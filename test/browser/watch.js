'use strict'

/** Notes whether SharedArrayBuffer is used: the function that it gives says so, since it was last asked. */
function watchSharedArrayBuffer() {
  const { SharedArrayBuffer } = globalThis
  if (SharedArrayBuffer === undefined) return () => false
  let used = false
  globalThis.SharedArrayBuffer = new Proxy(SharedArrayBuffer, {
    get(target, key) {
      used = true
      return Reflect.get(target, key)
    },
    construct(target, args) {
      used = true
      return Reflect.construct(target, args)
    },
  })
  return () => {
    const was = used
    used = false
    return was
  }
}

module.exports = { watchSharedArrayBuffer }
