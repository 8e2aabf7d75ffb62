// Which code blocks can run in a page, by their lines.
import { createRequire } from 'node:module'

const { blocksOf } = createRequire(import.meta.url)('../../test/docs/blocks.js')

/** Files, processes, addresses and GPUs: a page has none. Nor has one without isolation SharedArrayBuffers. */
const NODE_ALONE =
  /\bshared: |\b(SharedTensor|SharedRing|open(Npy|Npz|Safetensors|Gguf)|save\w*|load\w*|process|Buffer|cuda|share|fromShared|unshare|dataPtr|__dlpack__|fromDlpack|require\('node|hostRegister|stream\w*|fetch\w*)\b/

/** Pages that show what Node alone has. */
const NOT_HERE =
  /^docs\/(gpu|vram|sharing|sharing-with-python|rings|machines|dlpack|writing-an-addon|cli|debugging|install|ring-protocol|c-api|running-a-model)\.md$/

const OURS = /^samebytes(\/math)?$/

/** @param {string} code */
function importsOursAlone(code) {
  const names = [...code.matchAll(/(?:\bfrom |\brequire\(|\bimport\(?\s*)'([^']+)'/g)]
  return names.every(([, name]) => OURS.test(name))
}

const known = new Map()

/**
 * @param {string} page  relative to the root
 * @returns {Map<number, string>} programs, by the line of the block that shows them
 */
export function examplesOf(page) {
  if (!known.has(page)) known.set(page, read(page))
  return known.get(page)
}

/** @param {string} page */
function read(page) {
  /** @type {Map<number, string>} */
  const list = new Map()
  if (NOT_HERE.test(page)) return list
  for (const block of blocksOf(page)) {
    const { code, language, reason, before, continues, names, line } = block
    if (!['js', 'mjs', 'cjs'].includes(language)) continue
    if (reason !== null || continues || before !== '' || names.length > 0) continue
    if (NODE_ALONE.test(code) || !importsOursAlone(code)) continue
    list.set(line, code)
  }
  return list
}
