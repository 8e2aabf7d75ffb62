'use strict'
// A server of the tests' own, which answers as a test says: by rules of HTTP or against them.

const http = require('node:http')

/**
 * @param {(request: http.IncomingMessage, response: http.ServerResponse) => void} answer
 * @returns {Promise<{ url: string, asked: string[], close (): void }>} asked: the ranges
 */
async function startHostile(answer) {
  const asked = []
  const server = http.createServer((request, response) => {
    asked.push(request.headers.range)
    response.on('error', () => {})
    answer(request, response)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return {
    url: `http://127.0.0.1:${server.address().port}/a.safetensors`,
    asked,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The bytes that a request asks for: [first, end]. */
function rangeOf(request, size) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? 'bytes=0-')
  if (first === '') return [Math.max(0, size - Number(last)), size]
  return [Number(first), Math.min(size, last === '' ? size : Number(last) + 1)]
}

/** Answers as servers do; more: headers besides, or instead. */
function honest(bytes, request, response, more = {}) {
  const [from, end] = rangeOf(request, bytes.length)
  response.writeHead(206, {
    'content-range': `bytes ${from}-${end - 1}/${bytes.length}`,
    'content-length': end - from,
    etag: '"1"',
    ...more,
  })
  response.end(bytes.subarray(from, end))
}

module.exports = { startHostile, rangeOf, honest }
