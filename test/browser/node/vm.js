'use strict'
// Another realm is an iframe's.

function createContext(globals) {
  const frame = document.createElement('iframe')
  document.body.append(frame)
  return Object.assign(frame.contentWindow, globals)
}

const runInContext = (source, realm) => realm.eval(source)

module.exports = {
  createContext,
  runInContext,
  runInNewContext: (source) => runInContext(source, createContext({})),
}
