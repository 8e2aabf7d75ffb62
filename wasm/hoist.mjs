// Moves vector constants out of loops, in WebAssembly as text (what `emcc -S` writes).
//
//   node wasm/hoist.mjs FILE...     rewrites the files; fails where none of them had anything to move
//
// The compiler leaves `v128.const` where it is used, and engines that keep that order (V8 since version 13) make
// the constant anew each time, by four instructions. Here it is put into a local before the loop; V8 still sees
// the mask of a swizzle as constant there, and saves two instructions. All zeros and all ones stay: they take one.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** As many fit the registers; a loop with more has some that only parts of it need. */
const MOST_AT_ONCE = 12

/**
 * @param {string} text  one file
 * @returns {{ text: string, moved: number }} the same with locals, and how many uses read one now
 */
export function hoist (text) {
  const lines = text.split('\n')
  let moved = 0
  let body // the function that a line belongs to
  for (const [i, line] of lines.entries()) {
    const [word, ...rest] = line.trim().split(/\s+/)
    if (word === '.type' && rest.join(' ').includes('@function')) body = { name: rest[0].split(',')[0], locals: 0, uses: [] }
    if (!body) continue
    if (word === '.functype' && rest[0] === body.name) {
      body.signatureAt = i
      body.locals += countOf(line.slice(line.indexOf('('), line.indexOf('->')))
    } else if (word === '.local') {
      body.localsAt = i
      body.locals += countOf(line.trim().slice(word.length))
    } else if (word === 'loop') {
      body.loop = { at: i, around: body.loop, constants: new Set(), locals: new Map() }
    } else if (word === 'end_loop') {
      body.loop = body.loop.around
    } else if (word === 'v128.const' && body.loop && takesMany(rest.join(' '))) {
      body.uses.push({ at: i, loop: body.loop, constant: rest.join(' ') })
      for (let { loop } = body; loop; loop = loop.around) loop.constants.add(rest.join(' '))
    } else if (word === 'end_function') {
      moved += body.uses.length
      rewrite(lines, body)
      body = undefined
    }
  }
  return { text: [...declarations(lines), ...lines].join('\n'), moved }
}

const countOf = list => (list.match(/[ifv]\d+/g) ?? []).length

function takesMany (constant) {
  const [first, ...others] = constant.split(/,\s*/)
  return !/^(0|-1|0x0p0)$/.test(first) || others.some(lane => lane !== first)
}

/** Lines are changed where they stand, so that their numbers stay what they are. */
function rewrite (lines, { locals, uses, localsAt, signatureAt }) {
  const before = new Map()
  let added = 0
  for (const { at, loop, constant } of uses) {
    const target = outermost(loop)
    if (!target.locals.has(constant)) {
      const local = locals + added++
      target.locals.set(constant, local)
      before.set(target, `${before.get(target) ?? ''}\tv128.const\t${constant}\n\tlocal.set\t${local}\n`)
    }
    lines[at] = `\tlocal.get\t${target.locals.get(constant)}`
  }
  for (const [{ at }, set] of before) lines[at] = set + lines[at]
  if (added === 0) return
  const types = Array(added).fill('v128').join(', ')
  if (localsAt) lines[localsAt] += `, ${types}`
  else lines[signatureAt] += `\n\t.local\t${types}`
}

/** The outermost loop around this one whose constants fit the registers; else this one. */
function outermost (loop) {
  while (loop.around && loop.around.constants.size <= MOST_AT_ONCE) loop = loop.around
  return loop
}

/** A function called before its own text has to be declared for the assembler, and the compiler leaves that out. */
const declarations = lines => lines.filter(line => /^\s*\.functype\b/.test(line)).map(line => line.split('\n')[0])

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  let moved = 0
  for (const file of process.argv.slice(2)) {
    const result = hoist(readFileSync(file, 'utf8'))
    writeFileSync(file, result.text)
    moved += result.moved
  }
  if (moved === 0) throw new Error('no vector constant was found in a loop: does the compiler write another text now?')
}
