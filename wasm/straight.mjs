// Looks at the text of the module that threads share: a worker that is terminated must not leave a lock behind.
//
//   node wasm/straight.mjs FILE     as wasm-dis writes it; fails and says where
//
// Engines end a thread where a loop begins or a function is entered. So between taking a lock (a loop around an atomic
// exchange) and dropping it (an atomic store) there is neither. And what a thread calls before it has a stack
// and thread-local variables uses none.
import { readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const TAKEN = /\(i32\.atomic\.rmw8\.xchg_u\b/
const DROPPED = /\(i32\.atomic\.store8\b/
const ENDS = /\((loop|call|call_indirect|return|unreachable|memory\.grow)\b/
const WITHOUT_STACK = ['sb_new_environment', 'sb_stack', 'sb_tls']
const SETS_GLOBAL = ['stackRestore', '__wasm_init_tls']

/**
 * @param {string} text  a module
 * @returns {{ locks: number, faults: string[] }} how often a lock is taken; what is wrong
 */
export function look(text) {
  const functions = functionsOf(text.split('\n'))
  const faults = []
  let locks = 0
  for (const [name, lines] of functions) {
    for (let at = 0; at < lines.length; at++) {
      if (!TAKEN.test(lines[at])) continue
      locks++
      const fault = faultAfter(lines, at)
      if (fault) faults.push(`${name}: ${fault}`)
    }
  }
  return { locks, faults: [...faults, ...earlyFaults(text, functions)] }
}

/** @returns {Map<string, string[]>} the lines of each */
function functionsOf(lines) {
  const functions = new Map()
  let body
  for (const line of lines) {
    const name = line.match(/^ \(func (\S+)/)?.[1]
    if (name) functions.set(name, (body = []))
    body?.push(line)
    if (line === ' )') body = undefined
  }
  return functions
}

/** What is between the branch that tries again to take the lock, around this line, and the last store that drops it. */
function faultAfter(lines, at) {
  const start = endOfBranch(lines, at) + 1
  if (start === 0) return 'a lock is not taken by a loop'
  let end = start
  while (end < lines.length && !TAKEN.test(lines[end])) end++
  const rest = lines.slice(start, end)
  const last = rest.findLastIndex((line) => DROPPED.test(line))
  if (last === -1) return 'a lock is not dropped'
  let dropped = Infinity // what follows in the same block is indented as much
  for (const line of rest.slice(0, last)) {
    if (indent(line) < dropped) dropped = Infinity
    if (DROPPED.test(line)) dropped = indent(line)
    if (dropped === Infinity && ENDS.test(line)) return `${line.trim()} under a lock`
  }
}

const indent = (line) => line.search(/\S/)

/** The line in which the branch around this one ends; -1: there is none. */
function endOfBranch(lines, at) {
  let start = at
  for (let inner = indent(lines[at]); start >= 0; start--) {
    if (indent(lines[start]) >= inner) continue
    if (/^\s*\(br_if\b/.test(lines[start])) break
    inner = indent(lines[start])
  }
  if (start < 0) return -1
  return lines.findIndex((line, i) => i > start && indent(line) <= indent(lines[start]))
}

function earlyFaults(text, functions) {
  const nameOf = (name) => text.match(new RegExp(`\\(export "${name}" \\(func (\\S+)\\)\\)`))?.[1]
  const globals = SETS_GLOBAL.map(
    (name) =>
      functions
        .get(nameOf(name))
        ?.join('\n')
        .match(/\(global\.set (\S+)/)?.[1],
  )
  if (globals.includes(undefined)) return [`${SETS_GLOBAL.join(' or ')} sets no global`]
  const faults = []
  for (const name of WITHOUT_STACK) {
    const seen = new Set([nameOf(name)])
    for (const each of seen) {
      const body = functions.get(each)?.join('\n')
      if (body === undefined && !each?.startsWith('$fimport')) {
        faults.push(`${name}: ${each} is not there`)
      }
      if (body === undefined) continue
      if (
        globals.some((global) => body.includes(`(global.get ${global})`)) ||
        body.includes('call_indirect')
      ) {
        faults.push(`${name}: ${each} uses a stack, thread-local variables or a table`)
      }
      for (const [, called] of body.matchAll(/\(call (\S+)/g)) seen.add(called.replace(/\)$/, ''))
    }
  }
  return faults
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { locks, faults } = look(readFileSync(process.argv[2], 'utf8'))
  if (locks === 0) faults.push('no lock was found: is the text another one now?')
  if (faults.length > 0) throw new Error(faults.join('\n'))
}
