import { useState } from 'react'
import { tensor } from 'samebytes'

function Shown({
  t,
  inside: {
    list: [same],
  },
}) {
  return (
    <p>
      shows {t.toArray().join()} and {same.toArray().join()}
    </p>
  )
}

export function App() {
  const [t, setTensor] = useState(() => tensor([1, 2]))
  return (
    <>
      <button onClick={() => setTensor((t) => tensor([t.get(0) + 1, 2]))}>next</button>
      <Shown t={t} inside={{ list: [t] }} />
    </>
  )
}
