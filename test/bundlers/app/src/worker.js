import { init, fromShared, backend } from 'samebytes'

addEventListener('message', async ({ data: token }) => {
  await init({ from: token })
  const m = fromShared(token)
  const before = m.toArray()
  m.permute([1, 0]).set(9, 0, 1)
  postMessage({ backend: backend(), before })
})
