'use strict'
// What tests ask of host-peer.js, which runs in another process of this host.

const { fork } = require('node:child_process')
const path = require('node:path')

/** A process that does what host-peer.js can. */
function startPeer() {
  const child = fork(path.join(__dirname, 'host-peer.js'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const waiting = new Map()
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    error === undefined ? resolve(result) : reject(new Error(error))
  })
  let next = 0
  const ask = (name, value) =>
    new Promise((resolve, reject) => {
      waiting.set(next, { resolve, reject })
      child.send({ id: next++, name, value })
    })
  return {
    pid: child.pid,
    ended,
    ask,
    kill: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}

module.exports = { startPeer }
