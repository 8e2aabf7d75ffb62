// What Node has and pages do not, for the tests; the package itself does not see it.
import { Buffer } from './buffer'

const warned = []
const { warn } = console
console.warn = (...texts) => {
  if (String(texts[0]).startsWith('samebytes: ')) {
    for (const fn of warned.splice(0)) fn(new Error(texts[0]))
  } else warn.apply(console, texts)
}

const process = {
  env: globalThis.RUN.env,
  execPath: 'node',
  versions: {},
  emitWarning: warn,
  once: (_, fn) => {
    warned.push(fn)
  },
}

function setImmediate(fn, ...args) {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => {
    port1.close()
    fn(...args)
  }
  port2.postMessage(null)
}

export { Buffer, process, setImmediate }
