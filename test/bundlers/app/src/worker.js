import { init, fromShared, backend } from 'samebytes'
import { compute } from './compute.js'

addEventListener('message', async ({ data: token }) => {
  try {
    await init({ from: token, math: true })
    const m = fromShared(token)
    const before = m.toArray()
    const computed = compute(m)
    m.permute([1, 0]).set(9, 0, 1)
    postMessage({ backend: backend(), before, computed })
  } catch (error) {
    postMessage(error)
  }
})
