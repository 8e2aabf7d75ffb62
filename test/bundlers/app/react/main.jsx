import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { init } from 'samebytes'
import { App } from './App.jsx'

await init()
createRoot(document.querySelector('main')).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
