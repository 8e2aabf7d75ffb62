'use strict'
// Keeps all threads of libuv's pool busy: each waits for a pipe to which nobody writes.
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')

const threads = () => Array.from({ length: Number(process.env.UV_THREADPOOL_SIZE ?? 4) })
let made = 0

/** Each opens a pipe of a folder. */
function occupyByFifo() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-'))
  const pipe = path.join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const opened = threads().map(() => fs.promises.open(pipe, 'r'))
  return async () => {
    const writer = fs.openSync(pipe, 'r+') // with a reader of its own, it need not wait for one
    for (const reader of await Promise.all(opened)) await reader.close()
    fs.closeSync(writer)
    fs.rmSync(folder, { recursive: true })
  }
}

/** Each reads from a pipe of Windows, whose other end is this thread's. */
function occupyByServer() {
  const place = `\\\\.\\pipe\\samebytes-test-${process.pid}-${made++}`
  let release
  const released = new Promise((resolve) => {
    release = resolve
  })
  const server = net.createServer((socket) => {
    socket.on('error', () => {}) // the reader has closed it
    released.then(() => socket.end('x'))
  })
  server.listen(place)
  const files = threads().map(() => fs.openSync(place, 'r'))
  const reads = files.map((fd) => promisify(fs.read)(fd, Buffer.alloc(1), 0, 1, null))
  return async () => {
    release()
    await Promise.all(reads)
    for (const fd of files) fs.closeSync(fd)
    await new Promise((resolve) => server.close(resolve))
  }
}

/** The threads are free once what this returns is called; that resolves when they are done. @returns {() => Promise<void>} */
const occupyPool = process.platform === 'win32' ? occupyByServer : occupyByFifo

module.exports = { occupyPool }
