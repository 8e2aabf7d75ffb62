'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const zlib = require('node:zlib')
const samebytes = require('samebytes')
const { childJson, collectUntil, hex, needs, refuses, can } = require('../setup')
const { u16, u32, u64, npyOf, safetensors, zip, crc32, floats } = require('../files')
const { npyFiles, safetensorsFiles, ggufFiles, npzFiles } = require('../corpora')
const { crc32: checksum, crc32Here } = require('../../js/files/crc32')
const { Inflater: InflaterHere } = require('../../js/files/inflater')
const { Inflater: InflaterOfBrowsers } = require('../../js/files/inflater.browser')
const hostHere = require('../../js/runtime/host')
const hostOfBrowsers = require('../../js/runtime/host.browser')
const {
  load,
  memory,
  openGguf,
  openNpy,
  openNpz,
  openSafetensors,
  parseNpz,
  saveNpzSync,
  toNpzBytes,
  zeros,
} = samebytes

const FORMATS = {
  npy: [openNpy, npyFiles()],
  safetensors: [openSafetensors, safetensorsFiles()],
  gguf: [openGguf, ggufFiles()],
  npz: [openNpz, npzFiles()],
}

// What the parsers refuse in bytes is in test/api/formats.test.js; here the same comes from the disk.
describe('hostile files', function () {
  needs('the addon')

  let folder
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-bad-'))
  })
  after(() => {
    fs.rmSync(folder, { recursive: true, force: true })
  })
  /** In a folder of its own, because Windows lets nobody write anew what is mapped. */
  const put = (name, bytes) => {
    const file = path.join(fs.mkdtempSync(path.join(folder, 'in-')), name)
    fs.writeFileSync(file, bytes)
    return file
  }
  /** A file of these pieces, [where, bytes], and holes between them. */
  const sparse = (name, size, pieces) => {
    const file = put(name, '')
    const fd = fs.openSync(file, 'r+')
    for (const [at, bytes] of pieces) fs.writeSync(fd, bytes, 0, bytes.length, at)
    fs.ftruncateSync(fd, size)
    fs.closeSync(fd)
    return file
  }
  const open = () =>
    (can('/proc') ? fs.readdirSync('/proc/self/fd') : []).filter((fd) => {
      try {
        return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
      } catch {
        return false
      }
    }).length

  for (const [extension, [openFile, { bad, plain }]] of Object.entries(FORMATS)) {
    it(`.${extension}: ${Object.keys(bad).length} wrong ones are refused when they are mapped and when they are read`, async () => {
      for (const [what, bytes] of Object.entries(bad)) {
        const file = put(`bad.${extension}`, bytes)
        for (const mode of ['r', 'r+', 'c']) {
          assert.match(
            refuses(() => openFile(file, { mode }), 'ERR_FORMAT').message,
            /^byte \d+: \S/,
            what,
          )
        }
        const error = await load(file).then(
          () => assert.fail(`${what} was read`),
          (error) => error,
        )
        assert.deepEqual(
          [error.code, /^byte \d+: \S/.test(error.message)],
          ['ERR_FORMAT', true],
          what,
        )
      }
      assert.equal(open(), 0)
      assert.ok(await collectUntil(() => memory().bytes.mapped === 0))
    })

    it(`.${extension}: every beginning of a good one is refused`, () =>
      refusesBeginnings(extension, openFile, plain()))
  }

  async function refusesBeginnings(extension, openFile, whole) {
    const names = extension === 'npy' ? [] : [...openFile(put(`good.${extension}`, whole)).keys()]
    const use = (file) => {
      for (const name of names) file.get(name)
    }
    use(openFile(put(`good.${extension}`, whole)))
    for (let n = 0; n < whole.length; n++) {
      const file = put(`part.${extension}`, whole.subarray(0, n))
      refuses(() => use(openFile(file)), 'ERR_FORMAT')
      assert.equal(
        (
          await load(file).then(
            () => assert.fail(`${n} bytes were read`),
            (error) => error,
          )
        ).code,
        'ERR_FORMAT',
      )
    }
    assert.equal(open(), 0)
    assert.ok(await collectUntil(() => memory().bytes.mapped === 0))
  }

  it('.npz with a deflated member: every beginning is refused', () =>
    refusesBeginnings('npz', openNpz, npzFiles().deflated()))
  it('.npz of zip64: every beginning is refused', () =>
    refusesBeginnings('npz', openNpz, npzFiles().wide()))

  it('what is deflated and has no end is refused; info of it is right, or refused', async () => {
    const { deflated, packed } = npzFiles()
    const { shape, dtype, nbytes } = openNpz(put('deflated.npz', deflated())).info('a')
    assert.deepEqual({ shape, dtype, nbytes }, { shape: [2], dtype: 'float32', nbytes: 8 })
    let known = 0
    for (let n = 0; n < packed.length; n++) {
      const file = put('deflated.npz', deflated(n))
      try {
        const { shape, dtype, nbytes } = openNpz(file).info('a')
        assert.deepEqual({ shape, dtype, nbytes }, { shape: [2], dtype: 'float32', nbytes: 8 })
        known++
      } catch (error) {
        assert.equal(error.code, 'ERR_FORMAT', error.stack)
      }
      for (const mode of ['r', 'c']) {
        assert.match(
          refuses(() => openNpz(file, { mode }).get('a'), 'ERR_FORMAT').message,
          /^byte 0: the member "a" cannot be inflated: /,
        )
      }
      assert.equal(
        (
          await openNpz(file)
            .load('a')
            .then(
              () => null,
              (error) => error,
            )
        )?.code,
        'ERR_FORMAT',
      )
      assert.equal(
        (
          await load(file).then(
            () => null,
            (error) => error,
          )
        )?.code,
        'ERR_FORMAT',
      )
    }
    assert.ok(known > 0)
    assert.equal(open(), 0)
    assert.ok(await collectUntil(() => memory().bytes.mapped === 0))
  })

  /** What opening a file makes of it, and by how much the resident set of a process that does nothing else was larger at most. */
  const opened = (open, file, opts) =>
    childJson(`
    const samebytes = require('samebytes')
    const fs = require('node:fs')
    const peak = () => Math.max(process.memoryUsage.rss(), 1024 * (/^VmHWM:\\s+(\\d+) kB/m.exec(fs.readFileSync('/proc/self/status', 'latin1'))?.[1] ?? 0))
    samebytes.zeros([1]).dispose()
    const before = process.memoryUsage.rss()
    let said = ''
    try {
      const result = samebytes.${open}(${JSON.stringify(file)}, ${JSON.stringify(opts)})
      said = result.size + ' ' + result.get(result.size - 1)
    } catch (error) {
      said = error.code
    }
    console.log(JSON.stringify({ said, grown: peak() - before }))
  `)

  it('headers of a gigabyte that are not there cost nothing; holes are no memory', async () => {
    const size = 2 ** 34
    const most = process.env.SAMEBYTES_SANITIZED ? 2 ** 30 : 2 ** 26 // half a MiB is usual; a sanitizer keeps what was freed
    const hole = (name, ...bytes) => sparse(name, size, [[0, Buffer.concat(bytes)]])
    const head = [Buffer.from('GGUF'), u32(3)]
    const at = size - 98
    const end = [
      u32(0x06064b50),
      u64(44),
      u16(45),
      u16(45),
      u32(0),
      u32(0),
      u64(1),
      u64(1),
      u64(at),
      u64(0),
      u32(0x07064b50),
      u32(0),
      u64(at),
      u32(1),
      u32(0x06054b50),
      u32(0),
      u16(1),
      u16(1),
      u32(0),
      u32(0),
      u16(0),
    ]
    const refused = [
      ['openSafetensors', hole('big.safetensors', u64(2 ** 33)), most],
      ['openNpy', hole('big.npy', Buffer.from('\x93NUMPY\x02\0', 'latin1'), u32(2 ** 31)), most],
      ['openGguf', hole('big.gguf', ...head, u64(2 ** 33), u64(2 ** 33)), most],
      [
        'openGguf',
        hole('long.gguf', ...head, u64(0), u64(1), u64(1), Buffer.of(97), u32(8), u64(2 ** 33)),
        most,
      ],
      ['openNpz', sparse('big.npz', size, [[at, Buffer.concat(end)]]), most],
      // Of these as many bytes are read as a format allows. What was found in them is there twice, as it took two rooms.
      ['openSafetensors', hole('zeros.safetensors', u64(1e8)), most + 1e8],
      ['openGguf', hole('values.gguf', ...head, u64(0), u64(1e6)), most + 1e6 * (13 + 2 * 8 * 8)],
      ['openGguf', hole('tensors.gguf', ...head, u64(1e6), u64(0)), most + 1e6 * (24 + 2 * 12 * 8)],
    ]
    for (const [open, file, most] of refused) {
      const { said, grown } = await opened(open, file)
      assert.equal(said, 'ERR_FORMAT', file)
      assert.ok(grown < most, `${grown} bytes for ${file}; at most ${most} were expected`)
    }
    const { said, grown } = await opened('openRaw', sparse('big', size, []), { dtype: 'uint8' })
    assert.equal(said, `${size} 0`)
    assert.ok(grown < most, `${grown} bytes for what is mapped`)
  })

  it('a header of many megabytes is read to its end', () => {
    const n = 30000
    const entries = Object.fromEntries(
      Array.from({ length: n }, (_, i) => [
        `${'x'.repeat(100)}${i}`,
        { dtype: 'U8', shape: [1], data_offsets: [i, i + 1] },
      ]),
    )
    const file = openSafetensors(put('long.safetensors', safetensors(entries, Buffer.alloc(n, 7))))
    assert.deepEqual([file.size, file.get(`${'x'.repeat(100)}${n - 1}`).item()], [n, 7])
    file.close()
  })

  const deflated = (content, differs) => {
    const bytes = zlib.deflateRawSync(content)
    return zip([
      ['a.npy', bytes, { method: 8, unpacked: content.length, crc: crc32(content), ...differs }],
    ])
  }

  it('a deflated member becomes what the directory says, or nothing', async () => {
    const good = npyOf('<f4', '(100000,)', Buffer.alloc(400000))
    assert.deepEqual(parseNpz(deflated(good)).get('a').shape, [100000])
    const wrong = {
      'more bytes than it says': { unpacked: 1000 },
      'fewer bytes than it says': { unpacked: good.length + 1 },
      'another checksum': { crc: (crc32(good) ^ 1) >>> 0 },
    }
    const files = Object.entries(wrong).map(([what, differs]) => [what, deflated(good, differs)])
    files.push([
      'bytes that are not deflated',
      zip([['a.npy', Buffer.alloc(1000, 0xff), { method: 8, unpacked: good.length }]]),
    ])
    for (const [what, bytes] of files) {
      const file = put('deflated.npz', bytes)
      assert.match(refuses(() => openNpz(file).get('a'), 'ERR_FORMAT').message, /^byte \d+: /, what)
      assert.equal(
        (
          await openNpz(file)
            .load('a')
            .then(
              () => null,
              (error) => error,
            )
        ).code,
        'ERR_FORMAT',
        what,
      )
      assert.equal(
        (
          await load(file).then(
            () => null,
            (error) => error,
          )
        ).code,
        'ERR_FORMAT',
        what,
      )
    }
    assert.ok(await collectUntil(() => memory().bytes.mapped === 0))
  })

  it('browsers inflate what Node does, and refuse what it refuses', async () => {
    const bytes = Buffer.from(
      Array.from({ length: 300000 }, (_, i) => Math.imul(i, 2654435761) >>> 27),
    )
    const packed = zlib.deflateRawSync(bytes)
    /** Whether something was wrong, and what came out before. */
    const inflated = async (Inflater, pieces, most) => {
      const parts = []
      let n = 0
      const inflater = new Inflater(bytes.length, (part) => {
        parts.push(Buffer.from(part))
        n += part.length
        return n <= most
      })
      for (const piece of pieces) if (!inflater.isOver) await inflater.add(new Uint8Array(piece))
      const fault = await inflater.end()
      assert.ok(inflater.isOver)
      inflater.close()
      return [fault !== null, fault === null && n <= most && Buffer.concat(parts).equals(bytes)]
    }
    const pieces = Array.from({ length: Math.ceil(packed.length / 5000) }, (_, i) =>
      packed.subarray(5000 * i, 5000 * (i + 1)),
    )
    const cases = [
      [[packed], Infinity, false, true],
      [pieces, Infinity, false, true],
      [pieces.slice(0, -1), Infinity, true, false],
      [[], Infinity, true, false],
      [[Buffer.alloc(100, 0xff)], Infinity, true, false],
      [pieces, 1000, false, false],
    ]
    for (const [pieces, most, ...result] of cases) {
      for (const Inflater of [InflaterHere, InflaterOfBrowsers]) {
        assert.deepEqual(await inflated(Inflater, pieces, most), result)
      }
    }
  })

  it('what is left of a bomb is bounded by the directory', async () => {
    const bomb = zlib.deflateRawSync(Buffer.alloc(2 ** 28))
    const rss = process.memoryUsage.rss()
    for (const unpacked of [100, 2 ** 20]) {
      // at once, and a part at a time
      const file = put('bomb.npz', zip([['a.npy', bomb, { method: 8, unpacked }]]))
      const error = await load(file).then(
        () => assert.fail('it was inflated'),
        (error) => error,
      )
      assert.deepEqual(
        [error.code, /^byte 0: the member "a" cannot be inflated: /.test(error.message)],
        ['ERR_FORMAT', true],
        error.stack,
      )
    }
    for (let i = 0; i < 10; i++) {
      refuses(
        () => parseNpz(zip([['a.npy', bomb, { method: 8, unpacked: 100 }]])).get('a'),
        'ERR_FORMAT',
      )
    }
    assert.ok(process.memoryUsage.rss() - rss < 2 ** 27)
  })

  it('zip64: a member of more than 4 GiB, far behind', () => {
    const n = 2 ** 32 + 1000
    const npy = npyOf('|u1', `(${n},)`)
    const size = npy.length + n
    const name = Buffer.from('a.npy')
    const field = (...values) => Buffer.concat([u16(1), u16(8 * values.length), ...values.map(u64)])
    const common = [
      u16(45),
      u16(0),
      u16(0),
      u32(0),
      u32(0),
      u32(0xffffffff),
      u32(0xffffffff),
      u16(name.length),
    ]
    const head = Buffer.concat([u32(0x04034b50), ...common, u16(20), name, field(size, size)])
    const at = 2 ** 32 + 64 // where its header is
    const entry = Buffer.concat([
      u32(0x02014b50),
      u16(45),
      ...common,
      u16(28),
      u16(0),
      u16(0),
      u16(0),
      u32(0),
      u32(0xffffffff),
      name,
      field(size, size, at),
    ])
    const begin = at + head.length + size
    const end = begin + entry.length
    const last = Buffer.concat([
      u32(0x06064b50),
      u64(44),
      u16(45),
      u16(45),
      u32(0),
      u32(0),
      u64(1),
      u64(1),
      u64(entry.length),
      u64(begin),
      u32(0x07064b50),
      u32(0),
      u64(end),
      u32(1),
      u32(0x06054b50),
      u32(0),
      u16(1),
      u16(1),
      u32(entry.length),
      u32(0xffffffff),
      u16(0),
    ])
    const file = sparse('wide.npz', end + last.length, [
      [at, Buffer.concat([head, npy])],
      [begin - 1, Buffer.of(9)],
      [begin, entry],
      [end, last],
    ])
    const t = openNpz(file).get('a')
    assert.deepEqual([t.shape, t.get(0), t.get(n - 1)], [[n], 0, 9])
    t.dispose()
    for (const [where, bytes] of [
      [end + 48, u64(begin + 1)],
      [end + 56 + 8, u64(end + 1)],
      [end + 32, u64(2n ** 63n)],
    ]) {
      const fd = fs.openSync(file, 'r+')
      const before = Buffer.alloc(8)
      fs.readSync(fd, before, 0, 8, where)
      fs.writeSync(fd, bytes, 0, 8, where)
      refuses(() => openNpz(file), 'ERR_FORMAT')
      fs.writeSync(fd, before, 0, 8, where)
      fs.closeSync(fd)
    }
  })

  it('zip64: more members than 65535', () => {
    const n = 66000
    const one = zeros([1], 'uint8')
    const file = path.join(folder, 'many.npz')
    saveNpzSync(
      file,
      Array.from({ length: n }, (_, i) => [`a${i}`, one]),
    )
    const read = openNpz(file)
    assert.deepEqual([read.size, read.get('a65999').toArray()], [n, [0]])
    read.close()
  })

  it('bytes that are not UTF-8 are told from text in Node, in browsers, and in an AudioWorklet, which has no TextDecoder', () => {
    const texts = [
      '',
      'a.npy',
      'a%41\0',
      '\xe9',
      '\u20ac\u0800\ud7ff\ue000',
      '\u{10000}\u{10ffff}',
      '\ufeffa\ufffd',
    ]
    const bad = {
      82: '?',
      '41ff42': 'A?B',
      c341: '?A',
      c3a9a9: '\xe9?',
      e29641: '?A',
      e2: '?',
      f09f9841: '?A',
      c0af: '?',
      eda080: '?',
      f4908080: '?',
      efbfbdff: '??',
    }
    const check = ({ textOf, exactTextOf }) => {
      for (const text of texts) {
        assert.deepEqual([textOf(Buffer.from(text)), exactTextOf(Buffer.from(text))], [text, text])
      }
      for (const [bytes, text] of Object.entries(bad)) {
        assert.equal(exactTextOf(Buffer.from(bytes, 'hex')), null, bytes)
        assert.equal(
          textOf(Buffer.from(bytes, 'hex')).replace(/\ufffd+/g, '\ufffd'),
          text.replace(/\?+/g, '\ufffd'),
          bytes,
        )
      }
    }
    check(hostHere)
    check(hostOfBrowsers)
    const decoder = Object.getOwnPropertyDescriptor(globalThis, 'TextDecoder')
    delete globalThis.TextDecoder
    try {
      assert.equal(typeof TextDecoder, 'undefined')
      check(hostOfBrowsers)
    } finally {
      Object.defineProperty(globalThis, 'TextDecoder', decoder)
    }
  })

  it('checksums are those of zip', () => {
    const bytes = Buffer.from('123456789')
    for (const crc of [checksum, crc32Here]) {
      assert.deepEqual(
        [
          crc(bytes, 0),
          crc(bytes.subarray(4), crc(bytes.subarray(0, 4), 0)),
          crc(Buffer.alloc(0), 0),
        ],
        [0xcbf43926, 0xcbf43926, 0],
      )
    }
    const t = zeros([100])
    assert.equal(hex(parseNpz(toNpzBytes({ t })).get('t')), hex(t))
  })

  it('a file that became shorter while it was read', async () => {
    const bytes = npyOf('<f4', '(2,)', floats(1, 2))
    const file = put('short.npy', bytes.subarray(0, -4))
    refuses(() => openNpy(file), 'ERR_FORMAT')
    const long = put('long.npy', npyOf('<f4', `(${2 ** 24},)`, Buffer.alloc(2 ** 26)))
    const error = await load(long, {
      onProgress: ({ done }) => {
        if (done === 2 ** 24) fs.truncateSync(long, 2 ** 24 + 5)
      },
    }).then(
      () => null,
      (error) => error,
    )
    assert.equal(error?.code, 'ERR_FORMAT')
  })
})
