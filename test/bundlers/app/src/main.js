// What each bundler builds: views of the same bytes and sums of them, in a page, and in its worker where the page is isolated.
import { init, tensor, share, backend, memory, SamebytesError, Tensor } from 'samebytes'
import * as math from 'samebytes/math'
import { compute } from './compute.js'

async function main() {
  const early = errorOf(() => tensor([1]))
  const earlyMath = errorOf(() => math.add(1, 1))
  const earlyCross = errorOf(() => math.linalg.cross(1, 1))
  const isolated = crossOriginIsolated
  await init({ shared: location.search === '?plain' ? false : 'auto', math: !isolated })
  if (isolated) await math.init()
  const m = tensor([1, 2, 3, 4, 5, 6], [2, 3])
  const t = m.permute([1, 0])
  m.set(7, 0, 2)
  t.set(8, 1, 1)
  return {
    early: [early, earlyMath, earlyCross].map(
      (error) => error instanceof SamebytesError && error.code,
    ),
    names: [early, SamebytesError.prototype, m]
      .map((x) => x.constructor.name)
      .concat(
        early.name,
        Tensor.name,
        memory.name,
        init.name,
        math.softmax.name,
        math.linalg.cross.name,
        /\w+\(/.exec(Object.prototype.toString.call(m))[0],
      ),
    isolated,
    backend: backend(),
    seen: [t.get(2, 0), m.get(1, 1)],
    computed: compute(m),
    worker: backend() === 'wasm-shared' ? await inWorker(share(m)) : null,
    after: m.toArray(),
  }
}

function errorOf(fn) {
  try {
    fn()
  } catch (error) {
    return error
  }
}

async function inWorker(token) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data instanceof Error ? reject(data) : resolve(data))
      worker.onerror = (event) => reject(new Error(`the worker failed: ${event.message}`))
      worker.postMessage(token)
    })
  } finally {
    worker.terminate()
  }
}

window.result = main()
