'use strict'
// A Web Worker that looks like Node's, for programs that are given as text. In Node all threads of a process that
// use wasm-shared have one memory; here a worker is told whose to join.
const { share, unshare, zeros } = require('samebytes')

// A worker holds a lock of its own: who gets it knows that nothing of the worker runs any more, as Node's 'exit' says.
const PRELUDE = `
onmessage = async ({ data: { source, workerData, origin, init, lock } }) => {
  await new Promise(held => { navigator.locks.request(lock, () => { held(); return new Promise(() => {}) }) })
  try {
    const samebytes = /require\\('samebytes'\\)/.test(source) && await import(origin + '/dist/samebytes.mjs')
    if (samebytes) await samebytes.init(init)
    const parentPort = { postMessage: value => postMessage({ value }) }
    globalThis.require = name => name === 'samebytes' ? samebytes : { workerData, parentPort }
    await (0, eval)(source)
    postMessage({ ended: true })
  } catch (error) {
    postMessage({ error })
  }
}
`

/** What init is given in a worker. */
function forWorkers() {
  if (!globalThis.RUN.init.shared) return {}
  const token = share(zeros([1]))
  unshare(token)
  return { from: { group: token.group } }
}

let last = 0

class Worker {
  constructor(source, { workerData }) {
    this.lock = `test ${location.href} ${performance.timeOrigin} ${++last}`
    this.handlers = { exit: [], error: [], message: [] }
    const url = URL.createObjectURL(new Blob([PRELUDE], { type: 'text/javascript' }))
    this.worker = new globalThis.Worker(url)
    this.worker.onmessage = ({ data }) => {
      if (data.ended) this.end(0)
      else if (data.error) this.fail(data.error)
      else this.tell('message', data.value)
    }
    this.worker.onerror = ({ message }) => this.fail(new Error(message))
    try {
      this.worker.postMessage({
        source,
        workerData,
        origin: location.origin,
        init: forWorkers(),
        lock: this.lock,
      })
    } catch (error) {
      this.worker.terminate()
      throw error
    }
  }

  tell(name, value) {
    const all = this.handlers[name]
    this.handlers[name] = all.filter(({ once }) => !once)
    for (const { fn } of all) fn(value)
  }

  fail(error) {
    this.tell('error', error)
    this.end(1)
  }

  end(code) {
    this.worker.terminate()
    navigator.locks.request(this.lock, () => this.tell('exit', code))
  }

  async terminate() {
    this.end(1)
  }

  on(name, fn, once = false) {
    this.handlers[name].push({ fn, once })
    return this
  }

  once(name, fn) {
    return this.on(name, fn, true)
  }
}

module.exports = { MessageChannel: globalThis.MessageChannel, Worker }
