'use strict'
const assert = require('node:assert/strict')
const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Tensor, arange, fromBlob, memory, ones, tensor, zeros } = require('samebytes')
const { tensors } = require('samebytes/nats')
const messages = require('../../js/nats/messages')
const { HeaderBlock, parseBlock } = require('../../js/nats/headers')
const { needs, skipWithout } = require('../setup')
const { GOPATH, PYTHON, find } = require('../tools')
const { startServer } = require('./server')
const {
  TRANSPORTS,
  DTYPES,
  RawClient,
  withConnections,
  randomOf,
  randomTensor,
  bytesOf,
} = require('./wire')

const { LD_PRELOAD, ...ENV } = process.env // a sanitizer's runtime is for the addon

const fieldsOf = (fields) => parseBlock(new HeaderBlock(fields).encode())
const spec = (dtype, shape) => fieldsOf({ 'Tensor-Dtype': dtype, 'Tensor-Shape': shape })
const copiedBytes = () => Object.values(memory().copied).reduce((sum, { bytes }) => sum + bytes, 0)

/** What another program prints; it is given time until it says that it is ready. */
function program(command, args) {
  const child = spawn(command, args, { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stderr.on('data', (data) => {
    errors += data
  })
  const isReady = new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      output += data
      if (output.startsWith('ready\n')) resolve()
    })
    child.once('exit', () => reject(new Error(`it ended: ${errors}`)))
  })
  isReady.catch(() => {})
  const ended = once(child, 'close').then(([code]) => {
    assert.equal(code, 0, errors)
    return output.replace('ready\n', '')
  })
  ended.catch(() => {})
  return { isReady, ended, end: () => child.kill('SIGKILL') }
}

describe('NATS: messages', () => {
  let server
  before(async () => {
    if (find('nats-server') !== null) server = await startServer({ config: 'max_payload: 4MB' })
  })
  after(() => server?.stop())

  describe('headers', () => {
    it('are padded to a multiple of 64 bytes, whatever is in them', () => {
      for (let n = 0; n < 200; n++) {
        const block = new HeaderBlock({ A: 'x'.repeat(n), Other: 'ü'.repeat(n) }).encode()
        assert.equal(block.length % 64, 0)
        assert.equal(parseBlock(block).get('other'), 'ü'.repeat(n))
      }
    })

    it('cannot be broken by a value or a name', () => {
      assert.throws(() => new HeaderBlock({ A: 'x\r\nTensor-Dtype: int8' }), {
        code: 'ERR_ARGUMENT',
      })
      assert.throws(() => new HeaderBlock({ 'A:b': 'x' }), { code: 'ERR_ARGUMENT' })
      assert.throws(() => new HeaderBlock({ '': 'x' }), { code: 'ERR_ARGUMENT' })
    })

    it('are changed by what is set after they were encoded', () => {
      const block = new HeaderBlock({ A: 'x' })
      block.encode()
      block.set('B', 'y')
      assert.deepEqual(
        [...parseBlock(block.encode())],
        [
          ['a', 'x'],
          ['b', 'y'],
        ],
      )
      block.delete('A')
      assert.deepEqual([...parseBlock(block.encode())], [['b', 'y']])
      assert.deepEqual(
        [block.get('B'), block.get('A'), block.has('B'), block.keys()],
        ['y', '', true, ['B']],
      )
    })

    for (const [what, text, code] of [
      ['that are not UTF-8', 'NATS/1.0\r\nA: \xff\xfe\r\n\r\n', 'ERR_FORMAT'],
      ['without an end', 'NATS/1.0\r\nA: x\r\n', 'ERR_FORMAT'],
      ['of another protocol', 'HTTP/1.1 200\r\n\r\n', 'ERR_FORMAT'],
      ['with a line that is no field', 'NATS/1.0\r\nnonsense\r\n\r\n', 'ERR_FORMAT'],
      [
        'with a shape twice',
        'NATS/1.0\r\nTensor-Shape: 1\r\ntensor-shape: 2\r\n\r\n',
        'ERR_FORMAT',
      ],
      ['of 200 fields', `NATS/1.0\r\n${'a: b\r\n'.repeat(200)}\r\n`, 'ERR_TOO_LARGE'],
      ['of 20,000 bytes', `NATS/1.0\r\nA: ${'x'.repeat(20000)}\r\n\r\n`, 'ERR_TOO_LARGE'],
    ]) {
      it(`${what} are refused`, () =>
        assert.throws(() => parseBlock(Buffer.from(text, 'latin1')), { code }))
    }

    it('tell a status and the first of repeated values', () => {
      const fields = parseBlock(Buffer.from('NATS/1.0 503 No Responders\r\nA: x\r\na: y\r\n\r\n'))
      assert.deepEqual(
        [...fields],
        [
          [':status', '503'],
          ['a', 'x'],
        ],
      )
    })
  })

  describe('written', () => {
    it('are the bytes of a contiguous tensor', () => {
      const t = ones([300, 300])
      const before = copiedBytes()
      const { payload, storage } = messages.encode(t)
      assert.equal(copiedBytes(), before)
      assert.notEqual(storage, null)
      new Float32Array(payload.buffer, payload.byteOffset, 1)[0] = 7
      assert.equal(t.get(0, 0), 7)
    })

    it('are a counted copy of another', () => {
      const t = arange(6).reshape([2, 3]).permute([1, 0])
      const before = memory().copied.nats?.bytes ?? 0
      const { payload, storage } = messages.encode(t)
      assert.equal(storage, null)
      assert.equal(memory().copied.nats.bytes - before, t.nbytes)
      assert.deepEqual(Buffer.from(payload), bytesOf(t))
    })

    it('are of tensors and records alone', () => {
      for (const value of [null, undefined, 5, 'x', [1], new Uint8Array(3), { a: 5 }]) {
        assert.throws(() => messages.encode(value), { code: 'ERR_ARGUMENT' })
      }
      const gone = zeros([2])
      gone.dispose()
      assert.throws(() => messages.encode(gone), { code: 'ERR_DISPOSED' })
    })

    it('keep a large tensor busy until they are released, a small one not', () => {
      const [large, small] = [zeros([2 ** 14]), zeros([2 ** 14 - 1])]
      const sent = [messages.outgoing(large), messages.outgoing(small)]
      assert.throws(() => large.fill(1), { code: 'ERR_BUSY' })
      small.fill(1)
      assert.equal(sent[1].payload[2], 0)
      for (const each of sent) each.release()
      large.fill(1)
      assert.equal(sent[0].payload[2], 0x80)
    })
  })

  describe('read', () => {
    it('are a tensor over their own bytes', () => {
      const data = new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer)
      const before = copiedBytes()
      const t = messages.decodeParts(spec('float32', '2,2'), data)
      assert.equal(copiedBytes(), before)
      t.set(9, 0, 0)
      assert.equal(new Float32Array(data.buffer)[0], 9)
    })

    it('are a counted copy where they are not aligned', () => {
      const data = new Uint8Array(17).subarray(1)
      const before = copiedBytes()
      assert.deepEqual(messages.decodeParts(spec('float64', '2'), data).toArray(), [0, 0])
      assert.equal(copiedBytes() - before, 16)
    })

    for (const [dtype, shape, bytes] of [
      ['float32', '3', 8],
      ['float32', '2', 9],
      ['float32', '-2', 8],
      ['float32', '+2', 8],
      ['float32', '2.0', 8],
      ['float32', '1e0', 4],
      ['float32', '0x2', 8],
      ['float32', ' 2 , 1 ', 8],
      ['float32', '02', 8],
      ['float32', ',', 4],
      ['float32', '2,', 8],
      ['float32', 'two', 8],
      ['float64', '4294967296,4294967296', 0],
      ['float32', '9007199254740991,9007199254740991', 0],
      ['uint8', '65536,65536,65536,65536', 0],
      ['float32', '99999999999999999999', 8],
      ['float32', '1,'.repeat(64) + '1', 4],
      ['uint8', '9999999999999999,0', 0],
      ['float128', '1', 16],
      ['toString', '1', 8],
      ['__proto__', '1', 8],
      ['FLOAT32', '1', 4],
      ['', '1', 1],
      ['float32', '4611686018427387904,0', 8],
      ['float32', '9007199254740992', 0],
    ]) {
      it(`of dtype '${dtype}' and shape '${shape.slice(0, 42)}' in ${bytes} bytes are refused`, () => {
        assert.throws(() => messages.decodeParts(spec(dtype, shape), new Uint8Array(bytes)), {
          code: 'ERR_FORMAT',
        })
      })
    }

    it('have 64 axes at most, and may have no elements', () => {
      assert.equal(
        messages.decodeParts(spec('uint8', '1,'.repeat(63) + '1'), new Uint8Array(1)).ndim,
        64,
      )
      assert.deepEqual(
        messages.decodeParts(spec('float32', '0,3'), new Uint8Array(0)).shape,
        [0, 3],
      )
      assert.deepEqual(messages.decodeParts(spec('int16', ''), new Uint8Array(2)).shape, [])
    })

    it('without headers, in another format, or over maxBytes are refused', () => {
      assert.throws(() => messages.decodeParts(new Map(), new Uint8Array(4)), {
        code: 'ERR_FORMAT',
      })
      assert.throws(
        () => messages.decodeParts(fieldsOf({ 'Tensor-Format': 'pickle' }), new Uint8Array(4)),
        { code: 'ERR_FORMAT' },
      )
      assert.throws(
        () => messages.decodeParts(spec('uint8', '5'), new Uint8Array(5), { maxBytes: 4 }),
        { code: 'ERR_TOO_LARGE' },
      )
    })

    it('are written into out, which stays as it is where it does not match', () => {
      const data = new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer)
      const out = zeros([2, 2])
      assert.equal(messages.decodeParts(spec('float32', '2,2'), data, { out }), out)
      assert.deepEqual(out.toArray(), [
        [1, 2],
        [3, 4],
      ])
      const turned = zeros([2, 2]).permute([1, 0])
      messages.decodeParts(spec('float32', '2,2'), data, { out: turned })
      assert.deepEqual(turned.toArray(), [
        [1, 2],
        [3, 4],
      ])
      assert.throws(() => messages.decodeParts(spec('float32', '4'), data, { out }), {
        code: 'ERR_SHAPE',
      })
      assert.throws(() => messages.decodeParts(spec('int32', '2,2'), data, { out }), {
        code: 'ERR_DTYPE',
      })
      assert.throws(() => messages.decodeParts(spec('float32', '2,3'), data, { out }), {
        code: 'ERR_FORMAT',
      })
      assert.throws(
        () =>
          messages.decodeParts(spec('float32', '2,2'), data, {
            out: fromBlob(new Float32Array(4), [2, 2], { readOnly: true }),
          }),
        { code: 'ERR_READ_ONLY' },
      )
      assert.deepEqual(out.toArray(), [
        [1, 2],
        [3, 4],
      ])
    })
  })

  describe('of records', () => {
    const round = (record, options) => {
      const { headers, payload } = messages.encode(record)
      return messages.decodeParts(parseBlock(headers.encode()), payload, options)
    }

    it('are tensors by name', () => {
      const back = round({ a: arange(3), __proto: ones([1]), 'with space': zeros([0]) })
      assert.deepEqual(Object.keys(back).sort(), ['__proto', 'a', 'with space'])
      assert.deepEqual(back.a.toArray(), [0, 1, 2])
      assert.equal(
        Object.getPrototypeOf(round(new Map([['__proto__', ones([1])]]))),
        Object.prototype,
      )
    })

    it('are written into out by name, or not at all', () => {
      const out = { a: zeros([3]), b: zeros([2]) }
      const result = round({ a: ones([3]), b: ones([2]) }, { out })
      assert.equal(result, out)
      assert.deepEqual(out.a.toArray(), [1, 1, 1])
      assert.throws(() => round({ a: zeros([3]), b: zeros([3]) }, { out }), { code: 'ERR_SHAPE' })
      assert.throws(() => round({ a: zeros([3]), c: zeros([3]) }, { out }), {
        code: 'ERR_NOT_FOUND',
      })
      assert.deepEqual(out.a.toArray(), [1, 1, 1])
      assert.throws(() => round({ a: zeros([3]) }, { out: zeros([3]) }), { code: 'ERR_FORMAT' })
    })

    it('that are no .safetensors bodies are refused', () => {
      const fields = fieldsOf({ 'Tensor-Format': 'safetensors' })
      const { payload } = messages.encode({ a: ones([3]) })
      const huge = new Uint8Array(64)
      huge.fill(255, 0, 8)
      for (const data of [
        new Uint8Array(0),
        new Uint8Array(7),
        huge,
        payload.subarray(0, payload.length - 1),
        new Uint8Array(2 ** 21).fill(1),
      ]) {
        assert.throws(() => messages.decodeParts(fields, data), { code: 'ERR_FORMAT' })
      }
      const long = messages.encode(
        Object.fromEntries(
          Array.from({ length: 1100 }, (_, i) => [`${i}`.padEnd(1000, 'x'), zeros([0])]),
        ),
      )
      assert.throws(() => messages.decodeParts(fields, long.payload), { code: 'ERR_FORMAT' })
      const many = messages.encode(
        Object.fromEntries(Array.from({ length: 17000 }, (_, i) => [`${i}`, zeros([0])])),
      )
      assert.throws(() => messages.decodeParts(fields, many.payload), { code: 'ERR_FORMAT' })
    })
  })

  for (const [name, connect] of Object.entries(TRANSPORTS)) {
    describe(`by ${name}`, () => {
      needs('nats-server')
      it('bring tensors of all dtypes and shapes there and back', () =>
        withConnections(server, [connect, connect], async (a, b) => {
          const [sender, receiver] = [tensors(a), tensors(b)]
          const received = receiver.subscribe('round')
          await b.flush()
          const random = randomOf(42)
          const sent = []
          for (let i = 0; i < 15; i++) {
            for (const dtype of DTYPES) sent.push(randomTensor(random, dtype))
          }
          sent.push(arange(300000), ones([600, 600]).permute([1, 0]), ones([2 ** 15]))
          await Promise.all(sent.map((t) => sender.publish('round', t)))
          for (const t of sent) {
            const {
              value: { tensor: back, lost },
            } = await received.next()
            assert.deepEqual([back.dtype, [...back.shape], lost], [t.dtype, [...t.shape], 0])
            assert.ok(bytesOf(back).equals(bytesOf(t)), `${t.dtype} [${t.shape}]`)
          }
          await received.return()
        }))

      it('that are hostile are told and skipped, and the connection goes on', () =>
        withConnections(server, [connect], async (connection) => {
          const raw = await RawClient.connect(server)
          try {
            const errors = []
            const bus = tensors(connection, { maxBytes: 2 ** 20 })
            const received = bus.subscribe('bad.*', {
              onError: (error, subject) => errors.push([subject, error.code]),
            })
            await connection.flush()
            const good = 'Tensor-Dtype: float32\nTensor-Shape: 2'
            const bombs = [
              [
                'bad.bomb',
                Array.from({ length: 40000 }, (_, i) => `H${i}: x`).join('\n'),
                8,
                'ERR_TOO_LARGE',
              ],
              [
                'bad.many',
                Array.from({ length: 500 }, (_, i) => `H${i}: x`).join('\n'),
                8,
                'ERR_TOO_LARGE',
              ],
              ['bad.block', Buffer.from('garbage, no header at all'), 8, 'ERR_FORMAT'],
              ['bad.utf8', 'Tensor-Dtype: float32\nTensor-Shape: 2\nX: \xff\xc0', 8, 'ERR_FORMAT'],
              ['bad.size', good, 12, 'ERR_FORMAT'],
              ['bad.negative', 'Tensor-Dtype: float32\nTensor-Shape: -2,-1', 8, 'ERR_FORMAT'],
              [
                'bad.overflow',
                'Tensor-Dtype: float64\nTensor-Shape: 4294967296,536870912',
                0,
                'ERR_FORMAT',
              ],
              ['bad.dtype', 'Tensor-Dtype: object\nTensor-Shape: 1', 8, 'ERR_FORMAT'],
              ['bad.twice', `${good}\nTensor-Shape: 3`, 8, 'ERR_FORMAT'],
              ['bad.none', '', 8, 'ERR_FORMAT'],
              [
                'bad.large',
                'Tensor-Dtype: uint8\nTensor-Shape: 1048577',
                2 ** 20 + 1,
                'ERR_TOO_LARGE',
              ],
              ['bad.record', 'Tensor-Format: safetensors', 100, 'ERR_FORMAT'],
            ]
            for (const [subject, headers, n] of bombs) {
              raw.publish(subject, headers, new Uint8Array(n))
            }
            raw.publish('bad.good', good, new Uint8Array(8))
            const { value } = await received.next()
            assert.deepEqual(
              [value.subject, value.tensor.toArray(), value.lost],
              ['bad.good', [0, 0], bombs.length],
            )
            assert.deepEqual(
              errors,
              bombs.map(([subject, , , code]) => [subject, code]),
            )
            await received.return()
            assert.equal(raw.text.includes('-ERR'), false)
          } finally {
            raw.close()
          }
        }))

      it('whose subjects are not UTF-8 are refused', () =>
        withConnections(server, [connect], async (connection) => {
          const raw = await RawClient.connect(server)
          try {
            const errors = []
            const received = tensors(connection).subscribe('raw.>', {
              onError: (error) => errors.push(error.code),
            })
            await connection.flush()
            const block = 'NATS/1.0\r\nTensor-Dtype: uint8\r\nTensor-Shape: 2\r\n\r\n'
            raw.socket.write(
              Buffer.from(
                `HPUB raw.\xff\xfe ${block.length} ${block.length + 2}\r\n${block}ab\r\n`,
                'latin1',
              ),
            )
            raw.publish('raw.good', 'Tensor-Dtype: uint8\nTensor-Shape: 2', new Uint8Array(2))
            assert.equal((await received.next()).value.subject, 'raw.good')
            assert.deepEqual(errors, ['ERR_FORMAT'])
            await received.return()
          } finally {
            raw.close()
          }
        }))
    })
  }

  describe('of other clients', () => {
    needs('nats-server')
    let folder
    before(() => {
      folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-nats-'))
    })
    after(() => {
      if (folder) fs.rmSync(folder, { recursive: true, force: true })
    })
    const python = (mode) =>
      program(PYTHON, [
        path.join(__dirname, '..', 'python', 'nats_raw.py'),
        mode,
        String(server.port),
        'other',
      ])

    it('are read by Python over a socket', function () {
      skipWithout(this, 'Python')
      return withConnections(server, [TRANSPORTS['the transport in place']], async (connection) => {
        const reader = python('read')
        try {
          await reader.isReady
          await tensors(connection).publish(
            'other',
            tensor([
              [1.5, 2],
              [-3, 4],
            ]),
          )
          assert.equal(await reader.ended, 'float32 [2, 2] [1.5, 2.0, -3.0, 4.0]\n')
        } finally {
          reader.end()
        }
      })
    })

    it('are received from Python over a socket', function () {
      skipWithout(this, 'Python')
      return withConnections(server, [TRANSPORTS['the transport in place']], async (connection) => {
        const received = tensors(connection).subscribe('other')
        await connection.flush()
        const writer = python('publish')
        try {
          const { value } = await received.next()
          assert.ok(Tensor.isTensor(value.tensor))
          assert.deepEqual(value.tensor.toArray(), [
            [1.5, -2, 1e300],
            [0, 5, 6],
          ])
          assert.deepEqual([value.tensor.dtype, value.seq, value.lost], ['float64', undefined, 0])
          assert.equal(await writer.ended, '')
        } finally {
          writer.end()
          await received.return()
        }
      })
    })

    it('are read by C with libnats', async function () {
      skipWithout(this, 'libnats')
      const file = path.join(folder, 'read')
      execFileSync(
        'cc',
        ['-Wall', '-Wextra', '-Werror', '-o', file, path.join(__dirname, 'read.c'), '-lnats'],
        { env: ENV },
      )
      await withConnections(server, [TRANSPORTS['the transport in place']], async (connection) => {
        const reader = program(file, [`nats://${server.url}`, 'other'])
        try {
          await reader.isReady
          await tensors(connection).publish(
            'other',
            tensor([
              [1.5, 2],
              [-3, 4],
            ]),
          )
          assert.equal(await reader.ended, 'float32 [2,2] 1.5 2 -3 4\n')
        } finally {
          reader.end()
        }
      })
    })

    it('are read by Go with nats.go, and received from it', async function () {
      skipWithout(this, 'nats.go')
      const file = path.join(folder, 'peer')
      const env = {
        ...ENV,
        GOPATH,
        GO111MODULE: 'off',
        CGO_ENABLED: '0',
        GOCACHE: path.join(__dirname, '..', '..', 'build', 'go'),
      }
      execFileSync('go', ['build', '-o', file, path.join(__dirname, 'peer.go')], { env })
      await withConnections(server, [TRANSPORTS['the transport in place']], async (connection) => {
        const bus = tensors(connection)
        const reader = program(file, ['read', `nats://${server.url}`, 'other'])
        try {
          await reader.isReady
          await bus.publish(
            'other',
            tensor([
              [1.5, 2],
              [-3, 4],
            ]),
          )
          assert.equal(await reader.ended, 'float32 [2,2] [1.5 2 -3 4]\n')
        } finally {
          reader.end()
        }
        const received = bus.subscribe('other')
        await connection.flush()
        const writer = program(file, ['publish', `nats://${server.url}`, 'other'])
        try {
          const { value } = await received.next()
          assert.deepEqual(
            [value.tensor.dtype, value.tensor.toArray()],
            [
              'float64',
              [
                [1.5, -2, 1e300],
                [0, 5, 6],
              ],
            ],
          )
          assert.equal(await writer.ended, '')
        } finally {
          writer.end()
          await received.return()
        }
      })
    })
  })
})
