'use strict'
/* global navigator */
const assert = require('node:assert/strict')
const { fetchNpy, fromBlob, openNpy, parseNpy, tensor, tidy, zeros } = require('samebytes')
const math = require('samebytes/math')
const { skip } = require('../setup')

/** What a function throws, or its promise is rejected with. */
async function thrown(fn) {
  try {
    await fn()
  } catch (error) {
    return error
  }
  assert.fail('it throws')
}

/** Do stacks go on with the functions that wait for a promise? In Firefox not always. */
const HAS_AWAITING = typeof navigator === 'undefined' || !/Firefox/.test(navigator.userAgent)

/** The frames of a stack; V8's begin with the message. */
const framesOf = ({ stack }) =>
  stack.split('\n').filter((line) => /:\d+:\d+\)?$/.test(line) && !line.includes('node:'))

// Each is named `here`: the first frame of what it throws.
const CALLS = {
  'a maker': function here() {
    return zeros([-1])
  },
  'a method': function here() {
    return zeros([2]).reshape([3])
  },
  'a getter': function here() {
    const t = zeros([1])
    t.dispose()
    return t.data
  },
  'a function of files': function here() {
    return parseNpy(new Uint8Array(4))
  },
  'a function of samebytes/math': function here() {
    return math.add(zeros([2]), zeros([3]))
  },
  'a function of samebytes/math in C': function here() {
    return math.linalg.inv(zeros([2, 2]))
  },
  'a function that an array calls': function here() {
    return ['a'].map(tensor)
  },
  'a scope': function here() {
    return tidy(1)
  },
  'a copy off the event loop': async function here() {
    await zeros([2]).copyFromAsync(zeros([3]))
  },
  'arithmetic off the event loop': async function here() {
    await math.addAsync(zeros([2]), zeros([3]))
  },
  'arithmetic that fails later': async function here() {
    await math.linalg.invAsync(zeros([2, 2]))
  },
  'a file at a URL': async function here() {
    await fetchNpy('https://example.invalid/x.npy', {
      retries: 0,
      fetch: async () => {
        throw new Error('not now')
      },
    })
  },
}

/** Those that fail on a later turn of the event loop. */
const AWAITING = ['arithmetic that fails later', 'a file at a URL']

describe('the stack of an error', () => {
  before(function () {
    if (Error.captureStackTrace === undefined) skip(this, 'Error.captureStackTrace')
  })

  for (const [title, call] of Object.entries(CALLS)) {
    it(`begins at the caller's line: ${title}`, async () => {
      const error = await thrown(call)
      const [first] = framesOf(error)
      if (!HAS_AWAITING && AWAITING.includes(title) && !error.stack.includes('here')) return
      assert.match(first, /\bhere\b/, error.stack)
    })
  }

  it('has as many frames as the program asks for, and does not change that', () => {
    const { stackTraceLimit } = Error
    if (!HAS_AWAITING) return // Firefox has no such limit
    try {
      for (const limit of [0, 1, 3]) {
        Error.stackTraceLimit = limit
        const deep = (n) => (n === 0 ? parseNpy(new Uint8Array(4)) : deep(n - 1))
        assert.throws(
          () => deep(5),
          (error) => framesOf(error).length === limit,
        )
        assert.equal(Error.stackTraceLimit, limit)
      }
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  })

  it('is made when it is read: no function of the program runs before', async () => {
    const { prepareStackTrace } = Error
    let calls = 0
    Error.prepareStackTrace = (error, frames) => {
      calls++
      return `${error.name}|${error.message}|${frames.length}`
    }
    try {
      const error = await thrown(CALLS['a maker'])
      assert.equal(calls, 0)
      if (!error.stack.includes('|')) return // an engine that has none
      assert.match(error.stack, /^RangeError\|shape\[0\] is -1; 0 or more was expected\|\d+$/)
      assert.equal(error.stack, error.stack)
      assert.equal(calls, 1)
    } finally {
      Error.prepareStackTrace = prepareStackTrace
    }
  })

  it('does not need a limit that can be changed, nor clean prototypes', async () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')
    try {
      for (const limit of [{ value: 10, writable: false }, { get: () => 10 }]) {
        if (before !== undefined) {
          Object.defineProperty(Error, 'stackTraceLimit', { configurable: true, ...limit })
        } // as Object.freeze(Error) makes it
        const error = await thrown(CALLS['a maker'])
        assert.equal(error.code, 'ERR_SHAPE', error)
        assert.equal(typeof error.stack, typeof new Error('other').stack)
      }
    } finally {
      if (before !== undefined) Object.defineProperty(Error, 'stackTraceLimit', before)
    }
    for (const name of ['value', 'writable']) {
      Object.defineProperty(Object.prototype, name, { value: true, configurable: true }) // eslint-disable-line no-extend-native
      const error = await thrown(CALLS['a maker']).finally(() => {
        delete Object.prototype[name]
      })
      assert.equal(error.code, 'ERR_SHAPE', error)
    }
  })

  it('is given to a prepareStackTrace with an Error', async () => {
    const { prepareStackTrace } = Error
    Error.prepareStackTrace = (error) =>
      error instanceof RangeError && error.code === 'ERR_SHAPE' ? 'as others' : 'an object'
    try {
      const { stack } = await thrown(CALLS['a maker'])
      assert.ok(!stack.includes('an object'), stack)
    } finally {
      Error.prepareStackTrace = prepareStackTrace
    }
  })

  it('is a property as others have it', async () => {
    const error = await thrown(CALLS['a maker'])
    assert.ok(error.stack.includes('here'))
    assert.deepEqual(Object.keys(error), ['code'])
    error.stack = 'mine'
    assert.equal(error.stack, 'mine')
    const other = await thrown(CALLS['a maker'])
    other.stack = undefined
    assert.equal(other.stack, undefined)
  })
})

describe('the message of an error', () => {
  const hostile = 'a\u001b[2J\u007f\u009b\u202e\u2028\nb'
  const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

  /** What a server says. */
  const saying = (status, headers) => async () => ({
    status,
    headers: { get: (name) => headers[name] ?? null },
    body: null,
  })
  const range = (text) => saying(206, { 'content-range': text })
  const open = (url, fetch) => () => fetchNpy(url, { retries: 0, fetch })
  const url = 'https://example.invalid/x.npy'

  for (const [title, call] of Object.entries({
    'a dtype': () => zeros([1], { dtype: hostile }),
    'a device': () => zeros([1], { device: hostile }),
    'a slice': () => zeros([1]).slice(hostile),
    'an option': () => fromBlob(new Uint8Array(4), [4], { dtype: hostile }),
    'an equation': () => math.einsum(`i${hostile}->i`, zeros([1])),
    'a URL that is none': () => fetchNpy(`http://[${hostile}`),
    'a path': () => openNpy(hostile),
    'what a fetch throws': open(url, async () => {
      throw new Error(hostile)
    }),
    'the range of an answer': open(url, range(`bytes ${hostile}`)),
    'the encoding of an answer': open(url, saying(200, { 'content-encoding': hostile })),
  })) {
    it(`has no character that nobody sees: ${title}`, async () => {
      const { code, message } = await thrown(call)
      assert.match(code, /^ERR_/)
      assert.doesNotMatch(message, UNSEEN)
    })
  }

  it('keeps what everybody sees', async () => {
    assert.throws(
      () => zeros([1], { dtype: 'größe 日本 🙂' }),
      ({ message }) => message.includes('größe 日本 🙂'),
    )
  })
})
