'use strict'
// Files that tests write: kept in the page, given to Python as it starts.
const { Buffer } = require('buffer')

const SCRATCH = '/scratch/'
/** @type {Map<string, string>} in base64, by path */
const written = new Map()
let folders = 0

module.exports = {
  SCRATCH,
  newFolder: (prefix) => `${SCRATCH}${prefix.split('/').pop()}${folders++}`,
  write: (path, data) => {
    written.set(path, Buffer.from(data).toString('base64'))
  },
  read: (path) => Buffer.from(written.get(path), 'base64'),
  remove(folder) {
    for (const path of written.keys()) if (path.startsWith(`${folder}/`)) written.delete(path)
  },
  all: () => Object.fromEntries(written),
  add(more) {
    for (const [path, data] of Object.entries(more)) written.set(path, data)
  },
}
