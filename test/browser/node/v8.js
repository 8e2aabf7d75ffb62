'use strict'
/** What a page has for it: the same algorithm, with the result for others that nobody is. (Firefox's history has errors of its own.) */
module.exports = {
  serialize(value) {
    const channel = new BroadcastChannel('nobody')
    try {
      channel.postMessage(value)
    } finally {
      channel.close()
    }
  },
}
