// Puts a module's section dylink.0, which says how much memory and how large a table it wants, into others of the same code.
//
//   node wasm/dylink.mjs FROM TO...
import { readFileSync, writeFileSync } from 'node:fs'

const HEADER = 8 // bytes: what it is, and the version
const [from, ...others] = process.argv.slice(2)

/** @returns {Buffer} the first section, whose size is one byte here */
function sectionOf(module) {
  const size = module[HEADER + 1]
  const section = module.subarray(HEADER, HEADER + 2 + size)
  if (section[0] !== 0 || size > 127 || section.subarray(3, 11).toString() !== 'dylink.0') {
    throw new Error(`${from} does not begin with dylink.0`)
  }
  return section
}

const section = sectionOf(readFileSync(from))
for (const file of others) {
  const module = readFileSync(file)
  writeFileSync(file, Buffer.concat([module.subarray(0, HEADER), section, module.subarray(HEADER)]))
}
