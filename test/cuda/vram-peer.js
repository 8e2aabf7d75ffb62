'use strict'
// A process of the tests of GPU memory between processes: one JSON object a line on stdin, one answer on stdout.
// vram_peer.py understands the same.
const fs = require('node:fs')
const { createInterface } = require('node:readline')
const { cuda, empty, flush, fromBlob, memory } = require('samebytes')

/** tensors by the names that the tester gives them */
const tensors = {}

const at = ({ shape, dtype, device, strides, isReadOnly }) => ({
  shape: [...shape],
  dtype,
  device,
  strides: [...strides],
  readOnly: isReadOnly,
})

const operations = {
  /** shared: by file descriptors, in a segment with others or in its own; else memory that goes by the older handles */
  make({ as, shape, dtype = 'float32', device = 'cuda:0', shared = true, values }) {
    const t = (tensors[as] = empty(shape, { dtype, device, ...(shared ? { shared } : {}) }))
    if (values !== undefined) t.copyFrom(values)
    return at(t)
  },
  /** the same bytes, as an address that somebody else allocated */
  blob({ of, as, readOnly = false }) {
    const { dataPtr, shape, dtype, device, nbytes } = tensors[of]
    return at(
      (tensors[as] = fromBlob(dataPtr, shape, {
        dtype,
        device,
        nbytes,
        readOnly,
        owner: tensors[of],
      })),
    )
  },
  slice: ({ of, as, specs }) => at((tensors[as] = tensors[of].slice(...specs))),
  share: ({ of, uses }) => cuda.share(tensors[of], { uses }),
  unshare: ({ d }) => cuda.unshare(d) ?? null,
  open: async ({ d, as }) => at((tensors[as] = await cuda.open(d))),
  read: ({ of }) => tensors[of].cpu().toArray(),
  write({ of, values }) {
    tensors[of].copyFrom(values)
    cuda.synchronize()
    return null
  },
  async dispose({ of }) {
    tensors[of].dispose()
    delete tensors[of]
    await flush()
    return null
  },
  /** what is open and counted */
  held: () => ({
    cuda: memory().bytes.cuda,
    inFlight: memory().inFlight,
    files: fs.readdirSync('/proc/self/fd').length,
  }),
  address: ({ of }) => Number(tensors[of].dataPtr),
}

async function answer(question) {
  try {
    return { value: await operations[question.op](question) }
  } catch (error) {
    return { error: { code: error.code ?? error.name, message: error.message } }
  }
}

async function main() {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n')
  }
}

main()
