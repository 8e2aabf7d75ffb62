'use strict'
// POST /classify with a picture as the body; GET /stats. What comes in is bounded: bytes of a picture, pictures that wait.

const http = require('node:http')
const { memory } = require('samebytes')

const MOST_BYTES = 10 * 2 ** 20

/**
 * @param {Awaited<ReturnType<typeof import('./classifier').classifier>>} classifier
 * @param {number} port  0: any that is free
 */
async function serve(classifier, port) {
  const counts = { answered: 0, refused: 0 }
  const server = http.createServer(async (request, response) => {
    try {
      const answer = await answerTo(request, classifier, counts)
      counts.answered++
      send(response, 200, answer)
    } catch (error) {
      counts.refused++
      if (error.status === undefined) console.error(error)
      if (!request.complete) response.setHeader('Connection', 'close') // the rest of it is not wanted
      send(response, error.status ?? 500, {
        error: error.status === undefined ? 'internal error' : error.message,
      })
    }
  })
  await new Promise((resolve, reject) =>
    server.once('error', reject).listen(port, 'localhost', resolve),
  )
  return {
    url: `http://localhost:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(classifier.close()))
        server.closeIdleConnections()
      }),
  }
}

async function answerTo(request, classifier, counts) {
  const { pathname } = new URL(request.url, 'http://localhost')
  if (request.method === 'GET' && pathname === '/stats') {
    const { rss, external, heapUsed } = process.memoryUsage()
    return { ...counts, rss, external, heapUsed, samebytes: memory() }
  }
  if (request.method !== 'POST' || pathname !== '/classify') {
    throw refusal(404, 'POST a picture to /classify, or GET /stats')
  }
  const started = performance.now()
  const labels = await classifier.classify(await bodyOf(request))
  return { labels, milliseconds: Number((performance.now() - started).toFixed(2)) }
}

async function bodyOf(request) {
  const chunks = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > MOST_BYTES) throw refusal(413, `a picture has at most ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  if (length === 0) throw refusal(400, 'the body is the picture; it is empty')
  return Buffer.concat(chunks, length)
}

const refusal = (status, message) => Object.assign(new Error(message), { status })

function send(response, status, body) {
  response
    .writeHead(status, { 'Content-Type': 'application/json' })
    .end(`${JSON.stringify(body)}\n`)
}

module.exports = { serve }
