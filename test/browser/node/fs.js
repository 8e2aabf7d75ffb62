'use strict'
// The repository's files to read, by the test server; temporary ones to write, in the page.
const files = require('./files')

function ask(path) {
  const request = new XMLHttpRequest()
  request.open('GET', `/files${path}`, false)
  request.send()
  return request
}

function answered(path) {
  const { status, responseText } = ask(path)
  if (status !== 200) throw new Error(`${path}: ${status} ${responseText}`)
  return responseText
}

function readFileSync(path, encoding) {
  if (path.startsWith(files.SCRATCH)) return files.read(path)
  if (encoding !== 'utf8') throw new Error(`${path} can be read as utf8 only`)
  return answered(path)
}

module.exports = {
  existsSync: (path) => ask(path).status === 200,
  readFileSync,
  readdirSync: (path) => JSON.parse(answered(path)),
  mkdtempSync: files.newFolder,
  writeFileSync: files.write,
  rmSync: files.remove,
}
