'use strict'
// A .npy whose header another process writes anew, again and again, while it is opened here.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { SharedTensor, load, memory, openNpy } = require('samebytes')
const { can, child, collectUntil, needs, settledMemory, skipWithout } = require('../setup')
const { npyFiles } = require('../corpora')
const { npyOf } = require('../files')
const { clean, fresh } = require('../segments')
const { node, endAll } = require('../other-process')

const FIRST = 128 // bytes that are written anew
const LONG = 0x1f76 // bytes of a header that are not read at once; its lower half is that of a short one's
const BEGIN = 10 + LONG
const DATA = 96
const TIMES = process.env.SAMEBYTES_FULL === '1' ? 300 : 100 // that each race is won, and lost

const headerOf = (bytes) => {
  const header = Buffer.alloc(FIRST, ' ')
  bytes.copy(header, 0, 0, FIRST)
  return header
}
/** The same, of so many bytes. */
const withLength = (header, length) => {
  const other = Buffer.from(header)
  other.writeUInt16LE(length, 8)
  return other
}

const PLAIN = headerOf(npyOf('<f4', '(6, 4)'))
const VALID = [
  PLAIN,
  withLength(PLAIN, LONG),
  ...[
    ['<f4', '(3, 2)', 'True'],
    ['<i2', '(6, 2)'],
    ['|u1', '(9, 7)'],
    ['<c8', '(4, 3)'],
    ['>f8', '(3, 4)'],
    ['<f4', '(0, 4)'],
    ['<f4', '()'],
  ].map(([descr, shape, fortran]) => headerOf(npyOf(descr, shape, Buffer.alloc(0), fortran))),
]
const HOSTILE = [
  ...Object.values(npyFiles().bad).map(headerOf),
  withLength(PLAIN, 0xff76),
  Buffer.alloc(FIRST),
  Buffer.alloc(FIRST, 0xff),
  headerOf(npyOf('<f4', '(9999, 4)')),
  headerOf(npyOf('<f4', '(2009, 1)')),
  withLength(headerOf(npyOf('<f4', '(5, 5)')), LONG), // the last ones by a few bytes
]
const HEADERS = Array.from({ length: 2 * HOSTILE.length }, (_, i) =>
  i % 2 === 0 ? VALID[(i / 2) % VALID.length] : HOSTILE[(i - 1) / 2],
)
/** What is behind the first bytes never changes: spaces, then data. */
const REST = Buffer.concat([Buffer.alloc(BEGIN - FIRST, ' '), Buffer.alloc(DATA, 'A')])

const DESCRS = {
  bool: 'b1',
  uint8: 'u1',
  int8: 'i1',
  uint16: 'u2',
  int16: 'i2',
  uint32: 'u4',
  int32: 'i4',
  uint64: 'u8',
  int64: 'i8',
  float16: 'f2',
  float32: 'f4',
  float64: 'f8',
  complex64: 'c8',
  complex128: 'c16',
}

/** Does each byte of the header that says this come from one of them? A reader may find the beginning of one and the end of the next. */
function isSaid({ dtype, shape, strides }) {
  const dense = (extents) => extents.map((_, d) => extents.slice(d + 1).reduce((a, b) => a * b, 1))
  const isOwn = (dense) => dense.every((stride, d) => stride === strides[d] || shape[d] === 1) // nobody steps along an axis of one
  const ways = [
    [dense(shape), 'False'],
    [dense([...shape].reverse()).reverse(), 'True'],
  ].filter(([own]) => isOwn(own) || shape.includes(0))
  const tuple = shape.length === 1 ? `${shape[0]},` : shape.join(',')
  const texts = ways.flatMap(([, fortran]) =>
    ['<', '>', '|'].map(
      (order) =>
        `{'descr':'${order}${DESCRS[dtype]}','fortran_order':${fortran},'shape':(${tuple}),}`,
    ),
  )
  return texts.some(
    (text) =>
      [...text].reduce((places, c) => [...new Set(places.flatMap((at) => behind(at, c)))], [10, 12])
        .length > 0,
  )
}

const SAID = Array.from(
  { length: FIRST },
  (_, at) => new Set(HEADERS.map((header) => String.fromCharCode(header[at]))),
)
const known = new Map()
/** Where one may be behind c, from there and behind any spaces. */
function behind(at, c) {
  const key = `${at} ${c}`
  if (!known.has(key)) {
    known.set(key, [
      ...(SAID[at]?.has(c) ? [at + 1] : []),
      ...(SAID[at]?.has(' ') ? behind(at + 1, c) : []),
    ])
  }
  return known.get(key)
}

/** Its bytes are those behind the header, and end where they do: behind that the page has zeros. */
function check(t) {
  assert.ok(isSaid(t), `${t.dtype}, [${t.shape}], [${t.strides}]`)
  const hex = Buffer.from(t.clone().contiguous().bytes).toString('hex')
  if (t.shape.length > 0) assert.match(hex, /^(20|0a)*(41)*$/) // a scalar's may be among those that are rewritten, behind a short header
  assert.ok(hex.length / 2 <= REST.length + 2)
}

/** A process that writes headers; where: a path, or a descriptor that it has. */
function writer(where, options) {
  const other = node(options)
  other
    .ask(
      `
    const fs = require('node:fs')
    const fd = ${typeof where === 'number' ? where : `fs.openSync(${JSON.stringify(where)}, 'r+')`}
    const headers = ${JSON.stringify(HEADERS.map((header) => header.toString('base64')))}.map(text => Buffer.from(text, 'base64'))
    for (const parent = process.ppid; process.ppid === parent;) {
      for (let i = 0; i < 100; i++) fs.writeSync(fd, headers[Math.floor(Math.random() * headers.length)], 0, ${FIRST}, 0)
    }
    process.exit()
  `,
    )
    .then(
      ({ error }) => assert.fail(JSON.stringify(error)),
      () => {},
    ) // it is killed
  return other
}

const CODES = ['ERR_FORMAT', 'ERR_UNSUPPORTED', 'ERR_ALIGNMENT'] // the last ones: where a copy could not be written back
/** Descriptors of a file that are open here; 0 where there is no /proc, which has them. */
const openHere = (place) =>
  (can('/proc') ? fs.readdirSync('/proc/self/fd') : []).filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`) === place
    } catch {
      return false
    }
  }).length

const pause = () => new Promise((resolve) => setTimeout(resolve, 1)) // in which the writer runs, where there is one processor

/** Opens until it was done and refused TIMES times, and was told this and that. open(mode, use) calls use(tensor). */
async function race(place, open, codes = CODES) {
  const countsOf = ({ tensors, storages, bytes: { mapped } }) => [
    mapped,
    openHere(place),
    tensors,
    storages,
  ]
  const before = countsOf(settledMemory())
  const isLess = (counts) => counts.every((n, i) => n <= before[i]) // what earlier tests left may go, too
  let refused = 0
  let found = 0
  const seen = new Set()
  for (let i = 0; found < TIMES || refused < TIMES || seen.size < 20; i++) {
    try {
      await open(['r', 'r+', 'c'][i % 3], (t) => {
        check(t)
        seen.add(`${t.dtype} ${t.shape} ${t.strides}`)
        found++
      })
    } catch (error) {
      assert.ok(codes.includes(error.code) && error.message.length > 3, error.stack)
      seen.add(error.message)
      refused++
    }
    if (i % 16 === 0) await pause()
  }
  const now = countsOf(memory()).slice(0, 2)
  assert.ok(isLess(now), `${now}, not ${before}: nothing waits to be collected`)
  assert.ok(
    await collectUntil(() => isLess(countsOf(settledMemory()))),
    `${countsOf(memory())}, not ${before}`,
  )
}

describe('a header that another process rewrites', function () {
  needs('the addon')

  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-rewritten-'))
  })
  after(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    await endAll()
    clean()
  })

  /** A segment with these bytes. */
  function segment(name) {
    const made = SharedTensor.create(name, [PLAIN.length + REST.length], {
      dtype: 'uint8',
      format: 'raw',
    })
    made.tensor.setBytes(Buffer.concat([PLAIN, REST]))
    return made
  }
  const opening =
    (where, wanted = {}) =>
    (mode, use) => {
      const s = SharedTensor.open(where, { ...wanted, mode })
      try {
        assert.deepEqual(
          [s.tensor.shape, s.tensor.dtype],
          [wanted.shape ?? s.descriptor.shape, wanted.dtype ?? s.descriptor.dtype],
        )
        use(s.tensor)
        s.tensor.dispose()
      } finally {
        s.dispose()
      }
    }

  it('of a named segment: each open gives what somebody wrote, within the segment, or an error', async function () {
    skipWithout(this, 'shared memory with a name')
    const a = segment(fresh())
    const other = writer(a.path)
    await race(a.path, opening(a.name))
    await race(a.path, opening(a.path))
    await other.kill()
    a.tensor.setBytes(Buffer.concat([PLAIN, REST]))
    opening(a.name)('r+', (t) =>
      assert.deepEqual([t.shape, t.get(0, 0)], [[6, 4], Buffer.alloc(4, ' ').readFloatLE()]),
    )
  })

  it('of a named segment: who knows what it should be gets that or an error', async function () {
    skipWithout(this, 'shared memory with a name')
    const a = segment(fresh())
    writer(a.path)
    await race(a.path, opening(a.name, { shape: [6, 4], dtype: 'float32' }), [
      ...CODES,
      'ERR_DTYPE',
      'ERR_SHAPE',
    ])
  })

  it('of a sealed segment, whose writer inherited it', async function () {
    skipWithout(this, 'sealed memory')
    const a = segment(null)
    assert.ok(a.isSealed)
    writer(3, { stdio: [a.fd] })
    const place = can('/proc') ? fs.readlinkSync(`/proc/self/fd/${a.fd}`) : a.path
    await race(place, opening(a.path))
    await race(place, opening({ fd: a.fd }))
  })

  it('of a mapped file, and of one that is read', async () => {
    const file = path.join(folder, 'a.npy')
    fs.writeFileSync(file, Buffer.concat([PLAIN, REST]))
    writer(file)
    const using = async (opened, use) => {
      const t = await opened
      use(t)
      t.dispose()
    }
    await race(file, (mode, use) => using(openNpy(file, { mode }), use))
    await race(file, (mode, use) => using(load(file), use))
  })

  it('of a file that becomes shorter as well: with guard each use is an error, too, or gives bytes that were there', async function () {
    skipWithout(this, 'mapped files that change')
    const file = path.join(folder, 'b.npy')
    fs.writeFileSync(file, Buffer.concat([PLAIN, REST]))
    const other = node()
    other
      .ask(
        `
      const fs = require('node:fs')
      const rest = Buffer.from(${JSON.stringify(REST.toString('base64'))}, 'base64')
      const files = ${JSON.stringify(HEADERS.map((header) => header.toString('base64')))}.map((text, i) => Buffer.concat([Buffer.from(text, 'base64'), rest.subarray(i % 7 === 3 ? 5000 : 0)]))
      for (const parent = process.ppid; process.ppid === parent;) {
        for (const bytes of files) fs.writeFileSync(${JSON.stringify(file)}, bytes)
      }
      process.exit()
    `,
      )
      .then(
        ({ error }) => assert.fail(JSON.stringify(error)),
        () => {},
      )
    const { code, signal, stdout, stderr } = await child(
      `
      const { SharedTensor, openNpy, memory } = require('samebytes')
      const fs = require('node:fs')
      const file = ${JSON.stringify(file)}
      const codes = {}
      const found = {}
      let [count, refused] = [0, 0]
      const textOf = fd => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }
      function open (i, use) {
        const how = { mode: ['r', 'r+', 'c'][i % 3], guard: true }
        if (i % 2 === 0) {
          const t = openNpy(file, how)
          try { use(t) } finally { t.dispose() }
        } else {
          const s = SharedTensor.open(file, how)
          try { use(s.tensor) } finally { s.dispose() }
        }
      }
      async function main () {
        for (let i = 0; count < ${TIMES} || refused < ${TIMES}; i++) {
          try {
            open(i, t => {
              if (t.numel > 0) t.get(...t.shape.map(n => n - 1))
              const hex = Buffer.from(t.clone().contiguous().bytes).toString('hex')
              if (!/^(20|0a|41|00)*$/.test(hex)) throw new Error(hex)
              found[[t.dtype, t.shape, t.strides]] = { dtype: t.dtype, shape: t.shape, strides: t.strides }
              count++
            })
          } catch (error) {
            if (error.code === undefined) throw error
            codes[error.code] = error.stack
            refused++
          }
          if (i % 16 === 0) await new Promise(resolve => setTimeout(resolve, 1))
        }
        for (let i = 0; i < 50 && memory().bytes.mapped > 0; i++) { gc(); await new Promise(resolve => setImmediate(resolve)) }
        console.log(JSON.stringify({ codes, found: Object.values(found), mapped: memory().bytes.mapped, open: fs.readdirSync('/proc/self/fd').filter(fd => textOf(fd) === file).length }))
      }
      main()
    `,
      { flags: ['--expose-gc'] },
    )
    assert.deepEqual([code, signal], [0, null], stderr)
    const said = JSON.parse(stdout)
    assert.deepEqual(
      Object.keys(said.codes).filter((name) => ![...CODES, 'ERR_IO'].includes(name)),
      [],
      JSON.stringify(said.codes),
    )
    for (const t of said.found) assert.ok(isSaid(t), JSON.stringify(t))
    assert.deepEqual([said.mapped, said.open], [0, 0])
  })
})
