// Puts functions of a module next to those that they resemble: compressors look back 32 KB, and find what was written there.
//
//   node wasm/order.mjs FILE MODULE   FILE: text, as wasm-dis writes it, rewritten; MODULE: what was assembled from it
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const CODE = 10 // section of functions
const WINDOW = 32768
const LENGTH = 6 // bytes that a match has at least: shorter ones gain little
const BIAS = 10 // bytes, against short functions that match by chance

/** The bodies of a module's functions. @param {Uint8Array} module @returns {Uint8Array[]} */
export function bodiesOf (module) {
  let at = 8
  const number = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = module[at++]
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  const body = () => {
    const nbytes = number()
    at += nbytes
    return module.subarray(at - nbytes, at)
  }
  while (at < module.length) {
    const id = module[at++]
    const end = number() + at
    if (id === CODE) return Array.from({ length: number() }, body)
    at = end
  }
  return []
}

/** Hashes of all stretches of LENGTH bytes. */
function stretchesOf (body) {
  const hashes = []
  for (let i = 0; i + LENGTH <= body.length; i++) {
    let hash = 0
    for (let k = 0; k < LENGTH; k++) hash = (hash * 257 + body[i + k]) >>> 0
    hashes.push(hash)
  }
  return hashes
}

/**
 * Each next one is that of which the window has the largest share.
 *
 * @param {Uint8Array[]} bodies
 * @returns {number[]} their indices
 */
export function orderOf (bodies) {
  const stretches = bodies.map(stretchesOf)
  const left = new Set(bodies.keys())
  const order = []
  const window = new Map()
  let first = 0
  let nbytes = 0
  const count = (body, by) => {
    for (const hash of stretches[body]) window.set(hash, (window.get(hash) ?? 0) + by)
    nbytes += by * bodies[body].length
  }
  while (left.size > 0) {
    let best = -1
    let most = -1
    for (const body of left) {
      const found = stretches[body].reduce((sum, hash) => sum + (window.get(hash) > 0 ? 1 : 0), 0)
      const share = found / (stretches[body].length + BIAS)
      if (share > most) [best, most] = [body, share]
    }
    left.delete(best)
    order.push(best)
    count(best, 1)
    while (nbytes - bodies[order[first]].length > WINDOW) count(order[first++], -1)
  }
  return order
}

const depthOf = line => line.split('(').length - line.split(')').length

/**
 * @param {string} text  a module; a function begins in a line of its own
 * @param {number[]} order
 */
export function reorder (text, order) {
  const lines = text.split('\n')
  const functions = []
  const others = []
  let place
  for (let at = 0; at < lines.length; at++) {
    if (!/^ \(func /.test(lines[at])) {
      others.push(lines[at])
      continue
    }
    const start = at
    for (let depth = depthOf(lines[at]); depth > 0; depth += depthOf(lines[at])) at++
    place ??= others.length
    functions.push(lines.slice(start, at + 1).join('\n'))
  }
  if (functions.length !== order.length) throw new Error(`the text has ${functions.length} functions, the module ${order.length}`)
  others.splice(place ?? others.length, 0, ...order.map(each => functions[each]))
  return others.join('\n')
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [file, module] = process.argv.slice(2)
  writeFileSync(file, reorder(readFileSync(file, 'utf8'), orderOf(bodiesOf(readFileSync(module)))))
}
