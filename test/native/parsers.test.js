'use strict'
const assert = require('node:assert/strict')
const { randomInt } = require('node:crypto')
const parsers = require('../../js/files/parsers')
const inModule = require('../../js/files/parsers-module')
const { npyOf, safetensors, gguf, placed, floats, u16, u32, u64 } = require('../files')
const { npyFiles, safetensorsFiles, ggufFiles, npzFiles } = require('../corpora')
const { collectUntil, fails, needs } = require('../setup')

const { NPY, SAFETENSORS, GGUF, ZIP_END, ZIP_DIRECTORY, ZIP_MEMBER } = parsers.PARSERS
const FULL = process.env.SAMEBYTES_FULL === '1'
const MUTATIONS = FULL ? 200000 : 2000 // of each format
const SEED = Number(process.env.FUZZ_SEED ?? (FULL ? 0 : 1)) || randomInt(1, 2 ** 32) // 0: another one each time, as test/c/fuzz.sh has it

/** Whole numbers below n, the same ones each time. */
function numbers(seed) {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

/** What a parser says: its words, the bytes that it wants, or its refusal. */
function verdict(parse, which, bytes, total, base) {
  try {
    const { words, wanted } = parse(which, bytes, total, base)
    return wanted > 0 ? { wanted } : { words: Array.from(words) }
  } catch (error) {
    assert.equal(error.code, 'ERR_FORMAT', error.stack)
    return { message: error.message, class: error.constructor.name }
  }
}

const tally = { read: 0, wanting: 0, refused: 0 }

function same(what, which, bytes, total = bytes.length, base = 0) {
  const expected = verdict(parsers.parse, which, bytes, total, base)
  assert.deepEqual(
    verdict(inModule.parse, which, bytes, total, base),
    expected,
    `${what}: ${Buffer.from(bytes).subarray(0, 400).toString('latin1')}`,
  )
  tally[expected.words ? 'read' : expected.wanted ? 'wanting' : 'refused']++
  return expected
}

/** All that is parsed of a zip. */
function sameZip(what, bytes) {
  const { words } = same(what, ZIP_END, bytes)
  same(what, ZIP_MEMBER, bytes)
  if (!words) return
  const [begin, nbytes] = words
  const directory = same(what, ZIP_DIRECTORY, bytes.subarray(begin, begin + nbytes), nbytes, begin)
  for (
    let at = 1, left = directory.words ? words[2] : 0;
    left > 0;
    left--, at += directory.words[at]
  ) {
    const header = directory.words[at + 8]
    same(what, ZIP_MEMBER, bytes.subarray(header, header + 40), bytes.length - header, header)
  }
}

const escaped = safetensors(
  '{"\\u00e9\\n":{"dtype":"F4","shape":[2,3],"data_offsets":[0,3]},"é\\t":{"data_offsets":[3,3],"dtype":"U8","shape":[9007199254740992,0]},"__metadata__":{"\\ud83d\\ude00":"\\"","a":"","\\/":"z"}}',
  Buffer.alloc(3),
)
const thrice = safetensors(
  `{${['b', 'a', '\\u0061', 'a', 'b'].map((name) => `"${name}":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`)}}`,
)
const rounded = (shape) =>
  safetensors(`{"a":{"dtype":"F64","shape":[${shape}],"data_offsets":[0,8]}}`, Buffer.alloc(8))
const NPYS = [
  ...['b1', 'c16', 'V2', 'V3', '\0f4', 'c8'].flatMap((name) =>
    ['<', '>', '|', '='].map((order) => npyOf(order + name, '(1,)', Buffer.alloc(16))),
  ),
  npyOf('\0f4', '(1,)', floats(1)),
  npyOf('<f4', '()', floats(1), 'True'),
  npyOf('<f4', '(1,)', floats(1), 'False', 2),
  npyOf('<f4', '(1,)', floats(1), 'False', 3),
  npyOf('<f4', '(9007199254740993,)'),
  npyOf('<f4', '(9007199254740992,)'),
  npyOf('<f4', '(3, 3002399751580331)'),
  npyOf('<f4', '(5, 0, 3,)'),
]

/** format: [its files, how they are compared, what mutations put in] */
const FORMATS = {
  npy: [
    [npyFiles, NPYS],
    (what, bytes, total) => same(what, NPY, bytes, total),
    '{}(),:\'" \n0189<>|=fciuVTrueFalse\0\xff\xc3',
  ],
  safetensors: [
    [
      safetensorsFiles,
      [
        escaped,
        thrice,
        rounded('3,3002399751580331'),
        rounded('9007199254740993'),
        Buffer.concat([u64(2 ** 33), escaped]),
      ],
    ],
    (what, bytes, total) => same(what, SAFETENSORS, bytes, total),
    '{}[],:" \n\\u0189abdDFU_\0\xff\xc3\xed',
  ],
  gguf: [
    [ggufFiles, []],
    (what, bytes, total) => same(what, GGUF, bytes, total),
    '\0\x01\x02\x04\x08\x09\x20\x7f\x80\xff',
  ],
  zip: [
    [npzFiles, [npzFiles().deflated(), npzFiles().wide()]],
    (what, bytes) => sameZip(what, bytes),
    '\0\x01\x08\x4b\x50\xff',
  ],
}

function mutated(bytes, random, alphabet, most) {
  let copy = Buffer.from(bytes)
  for (let n = 1 + random(most); n > 0; n--) {
    const at = random(copy.length)
    const kind = random(5)
    const part = copy.subarray(at, at + 1 + random(24))
    const byte = Buffer.from(alphabet[random(alphabet.length)], 'latin1')
    if (kind === 0) copy[at] ^= 1 << random(8)
    else if (kind === 1) byte.copy(copy, at)
    else if (kind === 2) copy = Buffer.concat([copy.subarray(0, at), byte, copy.subarray(at)])
    else if (kind === 3) {
      copy = Buffer.concat([copy.subarray(0, at), copy.subarray(at + part.length)])
    } else copy = Buffer.concat([copy.subarray(0, at), part, copy.subarray(at)])
    if (copy.length === 0) return Buffer.from(bytes)
  }
  return copy
}

/** The length of a header is in the file: after a mutation it may be right again. */
function mended(name, bytes, random) {
  if (name !== 'safetensors' || bytes.length < 16 || random(4) === 0) return bytes
  const end = bytes.lastIndexOf('}') + 1
  if (end > 8) u64(end - 8).copy(bytes)
  return bytes
}

describe('parsers in the addon and in the WebAssembly module find the same', function () {
  needs('the WebAssembly build')
  for (const [name, [[files, more], compare, alphabet]] of Object.entries(FORMATS)) {
    const { plain, bad } = files()
    const corpus = [
      ['a good one', plain()],
      ...Object.entries(bad),
      ...more.map((bytes, i) => [`number ${i}`, bytes]),
    ]

    it(`${name}: ${corpus.length} files, and every beginning of the good one`, () => {
      for (const [what, bytes] of corpus) compare(what, placed(bytes))
      const whole = plain()
      for (let n = 0; n < whole.length; n++) {
        compare(`${n} bytes`, placed(whole.subarray(0, n)))
        compare(`${n} bytes of ${whole.length}`, placed(whole.subarray(0, n)), whole.length)
      }
    })

    it(`${name}: ${MUTATIONS} mutations of them, from seed ${SEED}`, () => {
      const random = numbers(SEED)
      const small = corpus
        .map(([, bytes]) => bytes)
        .filter((bytes) => bytes.length > 0 && bytes.length < 4096)
      const before = { ...tally }
      for (let i = 0; i < MUTATIONS; i++) {
        const bytes = mended(
          name,
          random(2)
            ? mutated(plain(), random, alphabet, 1)
            : mutated(small[random(small.length)], random, alphabet, 3),
          random,
        )
        try {
          compare(`mutation ${i}`, placed(bytes))
        } catch (error) {
          assert.fail(
            `seed ${SEED} (FUZZ_SEED=${SEED}${FULL ? ' SAMEBYTES_FULL=1' : ''}), mutation ${i}: ${error.stack}`,
          )
        }
      }
      const [read, refused] = [tally.read - before.read, tally.refused - before.refused]
      assert.ok(
        read > MUTATIONS / 100 && refused > MUTATIONS / 4,
        `seed ${SEED}: ${JSON.stringify({ read, refused })}`,
      )
    })
  }

  it('as long: what goes on beyond 100000000 bytes', () => {
    const total = 2 ** 34
    const pair = (n) => placed(gguf([['k', 8, u64(n)]], []))
    for (const n of [1e8, 1e8 - 50, 1e8 - 49, 1e8 - 48, 1e8 - 45, 1e8 - 40]) {
      same(`a text of ${n}`, GGUF, pair(n), total)
    }
    assert.match(
      same('too long', GGUF, pair(2 ** 33), total).message,
      /^byte 45: 8589934637 bytes of a header are more than the 100000000 that are read$/,
    )
    for (const n of [1e8, 1e8 + 1]) same(`a header of ${n}`, SAFETENSORS, placed(u64(n)), total)
    assert.match(
      same('too long', SAFETENSORS, placed(u64(1e8 + 1)), total).message,
      /^byte 0: 100000001 bytes of a header are more than the 100000000 that are read$/,
    )
    const end = (nbytes) =>
      placed(
        Buffer.concat([u32(0x06054b50), u32(0), u16(1), u16(1), u32(nbytes), u32(2 ** 31), u16(0)]),
      )
    for (const nbytes of [1e8, 1e8 + 1]) {
      same(
        `a directory of ${nbytes}`,
        ZIP_END,
        end(nbytes),
        2 ** 31 + nbytes + 22,
        2 ** 31 + nbytes,
      )
    }
    assert.match(
      same('too long', ZIP_END, end(1e8 + 1), 2 ** 31 + 1e8 + 23, 2 ** 31 + 1e8 + 1).message,
      /: 100000001 bytes of a zip directory are more than the 100000000 that are read$/,
    )
  })

  it('in the same order: ten thousand names', () => {
    const n = 10000
    const header = Object.fromEntries(
      Array.from({ length: n }, (_, i) => [
        `layer.${(i * 7) % n}`,
        { dtype: 'U8', shape: [1], data_offsets: [n - 1 - i, n - i] },
      ]),
    )
    assert.equal(
      same('many', SAFETENSORS, placed(safetensors(header, Buffer.alloc(n)))).words.length,
      1 + n * 12,
    )
    const pairs = Object.fromEntries(Array.from({ length: n }, (_, i) => [i, ''])) // many words in few bytes
    assert.equal(
      same('pairs', SAFETENSORS, placed(safetensors({ __metadata__: pairs }))).words.length,
      1 + n * 7,
    )
  })
})

describe('the memory of the WebAssembly module that parses', () => {
  needs('the WebAssembly build')
  const { Instance } = WebAssembly
  const MIB = 2 ** 20
  const small = placed(npyOf('<f4', '(1,)', floats(1)))
  /** A header with one name of so many bytes, and what is found in it. */
  const longNamed = (n) =>
    placed(
      safetensors(
        `{"${'n'.repeat(n)}":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`,
        Buffer.alloc(1),
      ),
    )
  const parse = (which, bytes) => inModule.parse(which, bytes, bytes.length, 0)
  /** the number of the instance that is at rest when a test begins */
  let last
  /** bytes of the memories that are there, by the number of their instance */
  let sizes
  /** @type {number[]} of the memories that were collected */
  let gone

  beforeEach(() => {
    const made = []
    const registry = new FinalizationRegistry((i) => gone.push(i))
    gone = []
    WebAssembly.Instance = function (...args) {
      const instance = new Instance(...args)
      registry.register(instance.exports.memory, made.length)
      made.push(new WeakRef(instance.exports.memory))
      return instance
    }
    sizes = () => made.map((memory) => memory.deref()?.buffer.byteLength)
    parse(SAFETENSORS, longNamed(4 * MIB)) // the instance of other tests is not watched
    parse(NPY, small)
    last = made.length - 1
  })

  afterEach(() => {
    WebAssembly.Instance = Instance
  })

  it('stays for the next file, up to 8 MiB', () => {
    for (const n of [0, 1000, 2500000, 1000]) parse(SAFETENSORS, longNamed(n))
    for (let n = 0; n < 100; n++) {
      assert.throws(() => parse(NPY, small.subarray(1)), { code: 'ERR_FORMAT' })
    }
    const [size, ...others] = sizes().slice(last)
    assert.ok(size > 7400000 && size <= 8 * MIB, String(size))
    assert.deepEqual(others, [])
  })

  it('is given back when a header of several MiB was read, or refused', async () => {
    const long = longNamed(8 * MIB)
    const { words } = same('long', SAFETENSORS, long)
    assert.deepEqual(words.slice(1, 4), [12, 1, 10])
    assert.equal(words[4], 8 * MIB)
    assert.match(
      same('cut off', SAFETENSORS, placed(long.subarray(0, -1))).message,
      /ends after the file/,
    )
    parse(NPY, small)
    assert.ok(await collectUntil(() => gone.length === last + 2), String(gone))
    assert.deepEqual(sizes().slice(last), [undefined, undefined, 65536])
  })

  it('that cannot grow is ERR_MEMORY, and the next file is read', () => {
    const { grow } = WebAssembly.Memory.prototype
    for (const most of [0, 40]) {
      // for the bytes; for the words alone
      parse(SAFETENSORS, longNamed(4 * MIB)) // what was there is dropped
      const many = placed(
        safetensors(
          Object.fromEntries(
            Array.from({ length: 40000 }, (_, i) => [
              i,
              { dtype: 'U8', shape: [0], data_offsets: [0, 0] },
            ]),
          ),
        ),
      )
      WebAssembly.Memory.prototype.grow = function (pages) {
        if (this.buffer.byteLength / 65536 + pages > most) {
          throw new RangeError('WebAssembly.Memory.grow(): Unable to grow instance memory')
        }
        return grow.call(this, pages)
      }
      try {
        fails(
          () => parse(SAFETENSORS, many),
          RangeError,
          'ERR_MEMORY',
          /^\d{7} bytes for what is in the file cannot be allocated: WebAssembly.Memory.grow\(\): Unable to grow instance memory$/,
        )
        assert.equal(parse(NPY, small).words[0], 128)
      } finally {
        WebAssembly.Memory.prototype.grow = grow
      }
      assert.equal(same('now it can', SAFETENSORS, many).words.length, 1 + 12 * 40000)
    }
  })

  it('that is not to be had at all is ERR_MEMORY, too', () => {
    parse(SAFETENSORS, longNamed(4 * MIB))
    const watched = WebAssembly.Instance
    WebAssembly.Instance = function () {
      throw new RangeError(
        'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance',
      )
    }
    fails(
      () => parse(NPY, small),
      RangeError,
      'ERR_MEMORY',
      /^65536 bytes .*: WebAssembly.Instance\(\): Out of memory/,
    )
    WebAssembly.Instance = watched
    assert.equal(parse(NPY, small).words[0], 128)
  })

  it('is another one where C did not come to its end: a thread without stack', () => {
    const bytes = placed(escaped)
    const expected = Array.from(parse(SAFETENSORS, bytes).words)
    let [cut, whole] = [0, 0]
    const deep = (left) => {
      try {
        deep(left)
      } catch {}
      if (left[0]-- <= 0) return
      try {
        parse(SAFETENSORS, bytes)
        whole++
      } catch {
        cut++
      }
    }
    for (let i = 0; i < 100; i++) deep([2000]) // calls, from the deepest one on
    assert.ok(cut > 100 && whole > 100, `${cut} failed, ${whole} did not`)
    assert.deepEqual(Array.from(parse(SAFETENSORS, bytes).words), expected)
    assert.match(same('refused', NPY, small.subarray(1)).message, /^byte 0: this is no/)
  })
})
