// The texts of samebytes' bundles, fetched once: the sandboxed frame has no origin of its own to fetch from.
import { withBase } from 'vitepress'

const NAMES = ['samebytes-inline.mjs', 'samebytes-inline-math.mjs']

/** @type {Promise<string[]> | null} */
let texts = null

/** @returns {Promise<string[]>} */
export function modules() {
  texts ??= Promise.all(NAMES.map(textOf)).catch((error) => {
    texts = null // the next click tries again
    throw error
  })
  return texts
}

/** @param {string} name */
async function textOf(name) {
  const response = await fetch(withBase(`/frame/${name}`))
  if (!response.ok) throw new Error(`${name} could not be loaded: ${response.status}`)
  return response.text()
}
