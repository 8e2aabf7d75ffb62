'use strict'
// A Web Worker that looks like Node's, for programs that are given as text.

const PRELUDE = `
const require = () => ({ workerData: globalThis.given, parentPort: { postMessage: value => postMessage({ value }) } })
onmessage = ({ data }) => {
  globalThis.given = data
  program()
  postMessage({ ended: true })
}
`

class Worker {
  constructor (source, { workerData }) {
    this.handlers = { exit () {}, error () {}, message () {} }
    const url = URL.createObjectURL(new Blob([`${PRELUDE}function program () {${source}\n}`], { type: 'text/javascript' }))
    this.worker = new globalThis.Worker(url)
    this.worker.onmessage = ({ data }) => {
      if (!data.ended) return this.handlers.message(data.value)
      this.worker.terminate()
      this.handlers.exit(0)
    }
    this.worker.onerror = ({ message }) => this.handlers.error(new Error(message))
    try {
      this.worker.postMessage(workerData)
    } catch (error) {
      this.worker.terminate()
      throw error
    }
  }

  once (name, fn) {
    this.handlers[name] = fn
    return this
  }
}

module.exports = { MessageChannel: globalThis.MessageChannel, Worker }
