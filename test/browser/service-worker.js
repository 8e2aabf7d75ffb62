// In docs/wasm-in-a-page.md: keeps the package's files, for pages that are opened again and without a network.
/* global clients, skipWaiting */
const KEPT = 'samebytes 0.1.0' // another name for another version: its JavaScript and its modules belong together

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(begin()))
addEventListener('fetch', (event) => {
  if (/\/samebytes[\w.-]*\.(mjs|wasm)$/.test(new URL(event.request.url).pathname)) {
    event.respondWith(answer(event.request))
  }
})

async function begin() {
  for (const name of await caches.keys()) {
    if (name.startsWith('samebytes ') && name !== KEPT) await caches.delete(name)
  }
  await clients.claim()
}

async function answer(request) {
  const kept = await caches.open(KEPT)
  const known = await kept.match(request)
  if (known) return known
  const response = await fetch(request)
  if (response.ok) await kept.put(request, response.clone())
  return response
}
