// Puts indices of functions into the data of a linked module whose table begins at 0. The linker has written them there already, but for
// tables that may begin anywhere it adds code that writes each one anew, which takes more room than the data.
//
//   node wasm/table.mjs FILE        text to text, as wasm-dis writes it; fails where there was nothing to do
import { readFileSync, writeFileSync } from 'node:fs'

/** Writes __table_base and a number to __memory_base and a number. */
const STORE =
  /^ {2}\(i32\.store\n {3}\(i32\.add\n {4}\(global\.get \$__memory_base\)\n {4}\(i32\.const (\d+)\)\n {3}\)\n {3}\(i32\.add\n {4}\(global\.get \$__table_base\)\n {4}\(i32\.const (\d+)\)\n {3}\)\n {2}\)\n/gm

const [file] = process.argv.slice(2)
const text = readFileSync(file, 'utf8')
const data = bytesOf(text)

/** The one segment of data. */
function bytesOf(text) {
  const [, escaped] = text.match(/^ \(data \$\S+ \(global\.get \$__memory_base\) "(.*)"\)$/m)
  const named = { t: '\t', n: '\n', r: '\r' }
  const plain = escaped.replace(/\\([0-9a-f]{2}|.)/g, (_, code) =>
    code.length === 2 ? String.fromCharCode(parseInt(code, 16)) : (named[code] ?? code),
  )
  return Buffer.from(plain, 'latin1')
}

const found = text.replace(STORE, (store, at, index) => {
  if (data.readUInt32LE(Number(at)) !== Number(index)) {
    throw new Error(`${file}: the data has no function ${index} at ${at}`)
  }
  return ''
})
if (found === text) {
  throw new Error(`${file}: no index of a function was found; is the text another one now?`)
}
writeFileSync(file, found.replaceAll('(global.get $__table_base)', '(i32.const 0)'))
