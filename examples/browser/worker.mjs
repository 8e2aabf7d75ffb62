// A thread that joined the page's memory. It gets tokens once; from then on it sleeps on the tensors' own bytes
// (Atomics), and what it measures is there for the page without a message.

import { dispose, fromShared, init } from './dist/samebytes.mjs'
import { measure } from './levels.mjs'

self.onmessage = async ({ data: tokens }) => {
  await init({ from: tokens.windows })
  const [windows, levels, progress] = [tokens.windows, tokens.levels, tokens.progress].map(
    fromShared,
  )
  follow({ windows, levels }, progress)
  dispose([windows, levels, progress])
  self.close()
}

/** Measures windows as they come to be, up to the last one. */
function follow(tensors, progress) {
  const count = tensors.levels.shape[0]
  let done = 0
  while (done < count) {
    Atomics.wait(progress.data, 0, done)
    const there = Atomics.load(progress.data, 0)
    if (there < 0) return // the page has no use for it any more
    measure(tensors, done, there)
    done = there
    Atomics.store(progress.data, 1, done)
  }
}
