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

module.exports = { secondsOf, secondsOfTree }
