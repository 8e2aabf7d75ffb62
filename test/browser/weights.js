'use strict'
// Files that tests in pages put on the server, and read by ranges:
//
//   PUT /weights/NAME            puts one there
//   GET /weights/NAME?OPTIONS    as servers answer. whole: without ranges; etag=…; cors=bare or exposed: other hosts' pages may read it, and see only
//                                what all may, or the range and the ETag as well; size=…: a file of so many zeros
//   POST /weights/NAME           [{ method, range, ifRange, authorization, sent }]: the requests for it since the last time

/** @type {Map<string, Buffer>} */
const files = new Map()
/** @type {Map<string, object[]>} */
const asked = new Map()

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {Record<string, string>} headers  of all answers
 */
async function answerWeights(request, response, headers) {
  const { pathname: name, searchParams: options } = new URL(request.url, 'http://x')
  if (request.method === 'PUT') {
    const parts = []
    for await (const part of request) parts.push(part)
    files.set(name, Buffer.concat(parts))
    response.writeHead(200, headers).end()
    return
  }
  if (request.method === 'POST') {
    response.writeHead(200, headers).end(JSON.stringify(asked.get(name) ?? []))
    asked.delete(name)
    return
  }
  answerGet(name, options, request, response, headers)
}

function answerGet(
  name,
  options,
  { method, headers: { range, authorization, 'if-range': ifRange } },
  response,
  headers,
) {
  const cors = options.get('cors')
  const seen = { method, range, ifRange, authorization, sent: 0 }
  asked.set(name, [...(asked.get(name) ?? []), seen])
  const more = {
    ...headers,
    'Content-Type': 'application/octet-stream',
    ...(cors !== null && {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Headers': 'range, authorization',
    }),
    ...(cors === 'exposed' && { 'Access-Control-Expose-Headers': 'Content-Range, ETag' }),
    ...(options.has('etag') && { ETag: `"${options.get('etag')}"` }),
  }
  const bytes = options.has('size') ? Buffer.alloc(Number(options.get('size'))) : files.get(name)
  if (method !== 'GET') return response.writeHead(204, more).end()
  if (bytes === undefined) return response.writeHead(404, more).end()
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(options.has('whole') ? '' : range) ?? []
  const [from, end] =
    first === undefined
      ? [0, bytes.length]
      : first === ''
        ? [Math.max(0, bytes.length - last), bytes.length]
        : [Number(first), Math.min(Number(last) + 1, bytes.length)]
  if (first !== undefined) more['Content-Range'] = `bytes ${from}-${end - 1}/${bytes.length}`
  seen.sent = end - from
  response
    .writeHead(first === undefined ? 200 : 206, { ...more, 'Content-Length': end - from })
    .end(bytes.subarray(from, end))
}

/** Puts a file there before a page asks for it. @param {string} name @param {Uint8Array} bytes */
function putWeights(name, bytes) {
  files.set(`/weights/${name}`, Buffer.from(bytes))
}

module.exports = { answerWeights, putWeights }
