// What can be done to a frame: from and to are uint8 tensors [height, width, 4]. Most filters are a view and one copy; edges
// are C, in a module of its own over the same memory.
import { wasmMemory } from 'samebytes'

/**
 * @param {WebAssembly.Exports} kernels  of edges.c, over samebytes' memory
 */
export function filtersOf(kernels) {
  const colours = (t) => t.narrow(2, 0, 3)
  const alpha = (t) => t.narrow(2, 3, 1)
  return {
    mirror: (from, to) => to.copyFrom(from.flip(1)),

    negative(from, to) {
      colours(to).copyFrom(colours(from), { scale: -1, bias: 255, casting: 'unsafe' })
      alpha(to).fill(255)
    },

    'red ↔ blue'(from, to) {
      colours(to).copyFrom(colours(from).flip(2))
      alpha(to).fill(255)
    },

    mosaic(from, to) {
      const [height, width] = from.shape
      const block = 8
      const [rows, columns] = [Math.floor(height / block), Math.floor(width / block)]
      const corners = from.slice(`0:${rows * block}:${block}`, `0:${columns * block}:${block}`) // one pixel of each block
      const blocks = to
        .slice(`0:${rows * block}`, `0:${columns * block}`)
        .view([rows, block, columns, block, 4])
      blocks.copyFrom(corners.unsqueeze(1).unsqueeze(3)) // which is broadcast over the block
    },

    edges(from, to) {
      const [height, width] = from.shape
      kernels.edges(Number(from.dataPtr), Number(to.dataPtr), height, width)
    },
  }
}

/** The module of edges.c, over samebytes' memory: addresses of tensors are addresses there. */
export async function loadKernels(bytes) {
  const { instance } = await WebAssembly.instantiate(bytes, { env: { memory: wasmMemory() } })
  return instance.exports
}
