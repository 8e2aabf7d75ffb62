'use strict'
// What docs/install.md shows of an application in one file.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { getRawAsset } = require('node:sea')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'app-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
for (const name of ['samebytes.node', 'samebytes_math.node']) {
  fs.writeFileSync(path.join(folder, name), new Uint8Array(getRawAsset(name)))
}
process.env.SAMEBYTES_BINARY = path.join(folder, 'samebytes.node')
const { backend } = require('samebytes')
console.log(backend()) // native
