'use strict'
// A program of its own: an iframe, which has globals and memory of its own and imports the package itself.

const HOST = `<!doctype html><script type="module">
import * as samebytes from '/dist/samebytes.mjs'
const { options, source, env, process, print, done } = parent.programs.get(frameElement)
globalThis.setImmediate = fn => {
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = () => { port1.close(); fn() }
  port2.postMessage(null)
}
console.log = print
console.warn = text => process.warn(text)
onunhandledrejection = event => done(1, event.reason)
onerror = (message, file, line, column, error) => done(1, error ?? message)
try {
  await samebytes.init(options)
  const require = name => name === 'samebytes' ? { ...samebytes } : parent.nodeModule(name)
  new Function('require', 'process', source)(require, process)
} catch (error) {
  done(1, error)
}
</script>`

globalThis.programs = new Map()
globalThis.nodeModule = (name) => {
  if (name === 'node:os') return require('./os')
  throw new Error(`a page has no ${name}`)
}

/** Ends with the first line that it prints, or an error: { code, stdout, stderr }. */
function run(source, env) {
  return new Promise((resolve) => {
    const frame = document.createElement('iframe')
    const listeners = []
    const end = (code, stdout, stderr) => {
      globalThis.programs.delete(frame)
      frame.remove()
      resolve({ code, stdout, stderr })
    }
    globalThis.programs.set(frame, {
      options: globalThis.RUN.init,
      source,
      print: (text) => setTimeout(end, 0, 0, text, ''),
      done: (code, error) => end(code, '', String(error?.stack ?? error)),
      process: {
        env,
        on: (_, fn) => {
          listeners.push(fn)
        },
        removeAllListeners() {},
        warn: (text) =>
          listeners.forEach((fn) =>
            fn({ name: 'SamebytesWarning', message: text.replace(/^samebytes: /, '') }),
          ),
      },
    })
    frame.srcdoc = HOST
    document.body.append(frame)
  })
}

module.exports = { run }
