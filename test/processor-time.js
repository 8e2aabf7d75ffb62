'use strict'
// Processor time of processes, from /proc: it stands still while others have the processors.
const fs = require('node:fs')

/** The numbers in /proc/PID/stat, from the parent's id on; null for a process that is gone. */
function statOf (pid) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 4).split(' ', 14).map(Number)
  } catch {
    return null
  }
}

/** Seconds that a process, its threads, and those of its children that have ended, computed; 0 where it is gone or /proc is missing. */
function secondsOf (pid) {
  const stat = statOf(pid)
  return stat === null ? 0 : (stat[10] + stat[11] + stat[12] + stat[13]) / 100 // ticks, user and system time
}

/** Seconds that a process and all that it started computed. */
function secondsOfTree (pid) {
  let ids
  try {
    ids = fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number)
  } catch {
    return 0
  }
  const children = new Map()
  for (const id of ids) {
    const parent = statOf(id)?.[0]
    if (parent !== undefined) children.set(parent, [...children.get(parent) ?? [], id])
  }
  let seconds = 0
  for (const list = [pid]; list.length > 0;) {
    const id = list.pop()
    seconds += secondsOf(id)
    list.push(...children.get(id) ?? [])
  }
  return seconds
}

const LOOK_MS = 1000

/**
 * Ends a child process that hangs: it and what it started computed for longer than `limit`, or did nothing for `patience` times as long.
 *
 * @param {import('node:child_process').ChildProcess} running
 * @param {number} limit  ms of processor time
 * @param {number} patience
 */
function endHanging (running, limit, patience) {
  let since = performance.now() // when it had computed `before` s
  let before = 0
  const watch = setInterval(() => {
    const seconds = secondsOfTree(running.pid)
    if (seconds !== before) [since, before] = [performance.now(), seconds]
    if (seconds * 1000 > limit || performance.now() - since > limit * patience) running.kill('SIGKILL')
  }, LOOK_MS)
  running.once('exit', () => clearInterval(watch))
  running.once('error', () => clearInterval(watch))
}

module.exports = { secondsOf, secondsOfTree, endHanging }
