// Moves vector constants out of the loops of a linked module.
//
//   node wasm/hoist.mjs FILE [PATTERN [--if-any]]   text to text, as wasm-dis writes it; fails where there was nothing to move, but with --if-any
//
// Functions whose names match PATTERN stay as they are: a local takes more room in a compressed module than a constant that stands in it often.
//
// Compiler and linker leave `v128.const` where it is used, and engines that keep that order (V8 since version 13)
// make the constant anew each time, by four instructions. Here it is put into a local before the loop; V8 still sees
// the mask of a swizzle as constant there. All zeros and all ones stay: they take one instruction.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** About as many fit the registers; a loop with more has some that only parts of it need. */
const MOST_AT_ONCE = 12

/**
 * @param {string} text  a module: what takes part here has a line of its own
 * @param {RegExp} [left]  matches names of functions that stay as they are
 * @returns {{ text: string, moved: number }} the same with locals, and how many uses read one now
 */
export function hoist(text, left = /^$/) {
  const lines = text.split('\n')
  let moved = 0
  for (let at = 0; at < lines.length; at++) {
    const name = lines[at].match(/^ *\(func \$(\S+)/)?.[1]
    if (name === undefined || left.test(name)) continue
    const body = read(lines, at)
    rewrite(lines, body)
    moved += body.uses.length
    at = body.end
  }
  return { text: lines.join('\n'), moved }
}

/** The loops of a function, and the constants in them. */
function read(lines, start) {
  const uses = []
  let loop
  let depth = 0
  let header = start
  for (let at = start; at < lines.length; at++) {
    const line = lines[at]
    if (/^ *\(local /.test(line)) header = at
    if (/^ *\(loop\b/.test(line)) {
      loop = { at, depth, around: loop, constants: new Set(), locals: new Map() }
    }
    const constant = line.match(/\(v128\.const (.*?)\)/)?.[1]
    if (constant && loop && takesMany(constant)) {
      uses.push({ at, loop, constant })
      for (let each = loop; each; each = each.around) each.constants.add(constant)
    }
    depth += count(line, '(') - count(line, ')')
    while (loop && depth <= loop.depth) {
      loop.end = at
      loop = loop.around
    }
    if (depth === 0) return { uses, header, end: at }
  }
  throw new Error(`the function in line ${start + 1} has no end`)
}

const count = (line, character) => line.split(character).length - 1

const takesMany = (constant) => !/^i32x4( 0x0{8}){4}$|^i32x4( 0xf{8}){4}$/.test(constant)

/** Lines are changed where they stand, so that their numbers stay what they are. */
function rewrite(lines, { uses, header }) {
  const before = new Map()
  let declared = ''
  for (const { at, loop, constant } of uses) {
    const target = outermost(loop)
    if (!target.locals.has(constant)) {
      const local = `$constant${target.at}_${target.locals.size}`
      target.locals.set(constant, local)
      before.set(
        target,
        `${before.get(target) ?? ''} (local.set ${local} (v128.const ${constant}))`,
      )
      declared += ` (local ${local} v128)`
    }
    lines[at] = lines[at].replace(
      /\(v128\.const .*?\)/,
      `(local.get ${target.locals.get(constant)})`,
    )
  }
  for (const [{ at, end }, sets] of before) {
    const result = lines[at].match(/\(result \w+\)/)?.[0] ?? ''
    lines[at] = `(block ${result}${sets}\n${lines[at]}`
    lines[end] += ')'
  }
  lines[header] += declared
}

/** The outermost loop around this one whose constants fit the registers, or are no more than those of the loop inside. */
function outermost(loop) {
  while (loop.around && loop.around.constants.size <= Math.max(MOST_AT_ONCE, loop.constants.size)) {
    loop = loop.around
  }
  return loop
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [file, pattern = '^$', option] = process.argv.slice(2)
  const { text, moved } = hoist(readFileSync(file, 'utf8'), new RegExp(pattern))
  if (moved === 0 && option !== '--if-any') {
    throw new Error(`${file}: no vector constant was found in a loop; is the text another one now?`)
  }
  writeFileSync(file, text)
}
