'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { ones, saveNpySync, saveNpzSync, toNpyBytes, toSafetensorsBytes } = require('samebytes')
const { gguf, npy, safetensors, text, u64, zip } = require('../files')
const { CLASSES, can } = require('../setup')
const { cli, folder } = require('./cli')

const BEL = '\x07'
const HOSTILE = `a\x1b]0;owned${BEL}\x1b[2J\n\r\x9b31m\u202egnp\u2028\u200b`
// Windows has no files with these in their names; the rest of what is hostile stays.
const NOT_IN_NAMES = /[\0-\x1f"*:<>?|]/g // eslint-disable-line no-control-regex
const UNSEEN = /[^\n\P{C}]|[\p{Zl}\p{Zp}]/u // what no terminal should be given

describe('samebytes and hostile files', function () {
  const at = folder()
  const run = (...args) => cli(args, { cwd: at() })

  it('writes no control character of names, of files or in them', async () => {
    const names = [HOSTILE, '\ud83d\ude00 ok']
    fs.writeFileSync(
      at('h.safetensors'),
      toSafetensorsBytes(
        { [HOSTILE]: ones([2]), [names[1]]: ones([1]) },
        { metadata: { [HOSTILE]: HOSTILE } },
      ),
    )
    fs.writeFileSync(
      at('h.gguf'),
      gguf(
        [
          [HOSTILE, 8, text(HOSTILE)],
          ['list', 9, Buffer.concat([Buffer.from([8, 0, 0, 0]), u64(1), text(HOSTILE)])],
        ],
        [[HOSTILE, [1], 0, 0]],
        Buffer.alloc(4),
      ),
    )
    const file = process.platform === 'win32' ? HOSTILE.replace(NOT_IN_NAMES, '') : HOSTILE
    saveNpySync(at(file), ones([2]))
    fs.writeFileSync(at(`${file}.bad`), '\x93NUMPY\x01\x00\xff\xff')
    const lines = [
      ['info', 'h.safetensors'],
      ['show', 'h.safetensors'],
      ['info', 'h.gguf'],
      ['info', file],
      ['show', file],
      ['info', `${file}.bad`],
      ['show', `h.safetensors:${HOSTILE}x`],
      ['convert', file, `${file}.npz`],
      ['convert', file, `${file}.npz`],
      ['info', `${file}.npz`, '--json'],
      ['info', 'h.safetensors', '--json'],
      ['show', 'h.gguf', '--json'],
      ['info', HOSTILE + '?'],
      ['show', file, HOSTILE],
      [HOSTILE],
      ['info', `--${HOSTILE}`],
      ['info', file, '--dtype', HOSTILE],
      ['info', `--json=${HOSTILE}`],
      ['convert', file, HOSTILE],
      ['rm', HOSTILE],
      ['help', HOSTILE],
      ['ls', HOSTILE],
    ]
    for (const [i, args] of lines.entries()) {
      const { code, signal, stdout, stderr } = await cli(args, {
        cwd: at(),
        env: i % 2 === 0 ? {} : { FORCE_COLOR: '0', NODE_DEBUG: 'samebytes' },
      })
      assert.equal(signal, null)
      assert.ok([0, 1, 2].includes(code))
      assert.doesNotMatch(
        stdout + stderr,
        UNSEEN,
        `${JSON.stringify(args)}: ${JSON.stringify(stdout + stderr)}`,
      )
    }
    const { metadata, tensors } = JSON.parse((await run('info', 'h.safetensors', '--json')).stdout)
    assert.deepEqual(
      [metadata, tensors.map(({ name }) => name).sort()],
      [{ [HOSTILE]: HOSTILE }, names.sort()],
    ) // JSON has all of it
    assert.match(
      (await run('info', 'h.safetensors')).stdout,
      /a\\x1b\]0;owned\\x07\\x1b\[2J\\n\\r\\x9b31m\\u\{202e\}gnp\\u\{2028\}\\u\{200b\}/,
    )
  })

  it('says in one sentence, with its code, what is wrong with a file', async () => {
    const whole = Buffer.from(toNpyBytes(ones([4])))
    const tensors = Buffer.from(toSafetensorsBytes({ a: ones([4]), b: ones([2, 2]) }))
    saveNpzSync(at('whole.npz'), { a: ones([4]) })
    const zipped = fs.readFileSync(at('whole.npz'))
    const files = {
      'empty.npy': Buffer.alloc(0),
      'cut.npy': whole.subarray(0, 130),
      'header.npy': whole.subarray(0, 20),
      'code.npy': npy(
        "{'descr': __import__('os').system('id'), 'fortran_order': False, 'shape': (1,)}",
      ),
      'pickle.npy': npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", Buffer.alloc(8)),
      'huge.npy': npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9007199254740992,)}"),
      'cut.safetensors': tensors.subarray(0, tensors.length - 1),
      'deep.safetensors': safetensors('['.repeat(100000)),
      'overlap.safetensors': safetensors(
        {
          a: { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
          b: { dtype: 'F32', shape: [1], data_offsets: [2, 6] },
        },
        Buffer.alloc(6),
      ),
      'long.safetensors': Buffer.concat([u64(2n ** 60n), Buffer.from('{')]),
      'counts.gguf': gguf([], [], Buffer.alloc(0), { counts: [2n ** 62n, 2n ** 62n] }),
      'cut.gguf': Buffer.from('GGUF\x03\x00'),
      'cut.npz': zipped.subarray(0, zipped.length - 5),
      'nothing.npz': Buffer.from('PK\x03\x04'),
      'lies.npz': zip([['a.npy', whole, { packed: 2 ** 31, unpacked: 2 ** 31 }]]),
      'checksum.npz': zip([['a.npy', Buffer.from('no array')]]),
    }
    for (const [name, bytes] of Object.entries(files)) {
      fs.writeFileSync(at(name), bytes)
      for (const args of [
        ['info', name],
        ['show', name],
        ['convert', name, 'out.npz'],
      ]) {
        const { code, signal, stdout, stderr } = await run(...args)
        assert.deepEqual(
          { code, signal, stdout },
          { code: 1, signal: null, stdout: '' },
          `${args}: ${stderr}`,
        )
        const found = /^samebytes \w+: \S[^\n]* \((ERR_\w+)\)\n$/.exec(stderr)
        assert.ok(found, `${args}: ${stderr}`)
        assert.ok(found[1] in CLASSES, found[1])
        assert.ok(!stderr.includes('undefined') && !stderr.includes('[object'), stderr)
      }
    }
    assert.ok(!fs.existsSync(at('out.npz')))
  })

  it('shows a stack to who asks for it only', async () => {
    fs.writeFileSync(at('bad.npy'), '\x93NUMPY')
    assert.doesNotMatch((await run('info', 'bad.npy')).stderr, /\n\s+at /)
    assert.match(
      (await cli(['info', 'bad.npy'], { cwd: at(), env: { NODE_DEBUG: 'samebytes' } })).stderr,
      /\n\s+at /,
    )
  })

  it('waits for no pipe, and reads no device', async () => {
    const hasPipes = can('named pipes in folders')
    if (hasPipes) execFileSync('mkfifo', [at('pipe.npy')])
    const devices = process.platform === 'win32' ? ['\\\\.\\NUL'] : ['/dev/zero', '/dev/null']
    for (const name of [...(hasPipes ? ['pipe.npy'] : []), ...devices, at()]) {
      for (const command of ['info', 'show']) {
        const { code, stderr } = await run(command, name)
        assert.equal(code, 1)
        assert.match(stderr, /is no regular file \(ERR_IO\)\n$/)
      }
    }
  })

  it('is not led astray by names that look like options', async () => {
    saveNpySync(at('--json'), ones([2]))
    saveNpySync(at('-1.npy'), ones([3]))
    assert.match((await run('info', '--', '--json')).stdout, /^--json {2}npy/)
    assert.match((await run('show', './-1.npy', '-1')).stdout, /^float32 \[\]\ntensor\(1\.\)\n$/)
    assert.equal(path.basename(at('-1.npy')), '-1.npy')
  })
})
