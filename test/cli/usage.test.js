'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { spawn } = require('node:child_process')
const { commands } = require('../../js/cli/commands')
const { skip, skipWithout } = require('../setup')
const { PROGRAM, cli } = require('./cli')

describe('samebytes, the command line', function () {
  it('says its version, and what there is', async () => {
    const { version } = require('samebytes/package.json')
    for (const flag of ['--version', '-v']) {
      assert.deepEqual(await cli([flag]), {
        code: 0,
        signal: null,
        stdout: `${version}\n`,
        stderr: '',
      })
    }
    for (const args of [['--help'], ['-h'], ['help']]) {
      const { code, stdout, stderr } = await cli(args)
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      for (const { name, text } of commands) {
        assert.match(stdout, new RegExp(`^  ${name} +${text}$`, 'm'))
      }
    }
  })

  it('says of each command what it takes, with examples', async () => {
    for (const { name, options, operands } of commands) {
      const { code, stdout, stderr } = await cli([name, '--help'])
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, name)
      assert.ok(stdout.startsWith(`Usage: samebytes ${name} [OPTION...]`), stdout)
      assert.ok(stdout.split('\n')[0].endsWith(operands), stdout)
      for (const option of Object.keys(options)) {
        assert.match(stdout, new RegExp(`--${option}\\b`), name)
      }
      assert.match(stdout, /Examples:\n {2}\S/)
      const [, ...told] = stdout.split('\n')
      for (const word of operands.match(/[A-Z]+|[a-z]+/g) ?? []) {
        assert.match(
          told.join('\n'),
          new RegExp(`^(?! {2}).*\\b${word}\\b`, 'm'),
          `${name}: what is ${word}?`,
        )
      }
      if (/FILE|A\[/.test(operands)) {
        for (const format of ['.npy', '.npz', '.safetensors', '.gguf', 'raw bytes']) {
          assert.ok(stdout.includes(format), `${name}: ${format}`)
        }
      }
      assert.doesNotMatch(stdout, /\bunless told\b|what there is|\bwho\b/)
      for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line)
      assert.equal((await cli(['help', name])).stdout, stdout)
    }
  })

  it('answers what makes no sense with status 2 and what was probably meant', async () => {
    const rows = [
      [[], /^samebytes: tensors/],
      [['shwo'], /there is no command "shwo"; did you mean show\?/],
      [['inf'], /did you mean info\?/],
      [['xyzzyxyzzy'], /there is no command "xyzzyxyzzy"\n/],
      [['--jsn'], /there is no option --jsn before the command/],
      [['info'], /FILE\|NAME\.\.\. is missing/],
      [['info', 'a', '--jsno'], /there is no option --jsno; did you mean --json\?/],
      [['info', 'a', '-x'], /there is no option -x\n/],
      [['info', 'a', '--json=yes'], /--json takes no value; it was given "yes"/],
      [['info', 'a', '--dtype'], /--dtype needs a value: --dtype DTYPE/],
      [['info', 'a', '--dtype', '--json'], /--dtype needs a value/],
      [['info', 'a', '--dtype='], /--dtype needs a value/],
      [
        ['info', 'a', '--dtype', 'flaot32'],
        /--dtype is "flaot32"; one of bool, .* was expected; did you mean float32\?/,
      ],
      [['info', 'a', '--constructor'], /there is no option --constructor/],
      [['ls', 'frames'], /"frames" is one too many: nothing was expected/],
      [['convert', 'a.npy'], /A\[:TENSOR\] B was expected; "a\.npy" is not all of it/],
      [['convert', 'a', 'b', 'c'], /"c" is one too many/],
      [['convert', 'a.npy', 'b.txt'], /b\.txt ends in none of \.npy, \.npz, \.safetensors/],
      [
        ['show', 'a.npy', '1:2:3:4'],
        /a slice is "1:2:3:4"; an index, '1:5', '::-1', '\.\.\.' or null was expected/,
      ],
      [['show', 'a.npy', ''], /a slice is ""/],
      [['help', 'a', 'b'], /help takes one command/],
      [['help', 'convrt'], /did you mean convert\?/],
    ]
    for (const [args, pattern] of rows) {
      const { code, signal, stdout, stderr } = await cli(args)
      assert.deepEqual(
        { code, signal, stdout },
        { code: 2, signal: null, stdout: '' },
        `${args}: ${stderr}`,
      )
      assert.match(stderr, pattern)
      assert.doesNotMatch(stderr, /\n\s+at /)
      if (args.length > 0) assert.match(stderr, /\nSee samebytes.* --help\.\n$/)
    }
  })

  it('has no colours but on a terminal; FORCE_COLOR and NO_COLOR decide', async () => {
    const of = async (env) => (await cli(['info', '--help'], { env })).stdout.includes('\x1b[')
    assert.equal(await of({}), false)
    assert.equal(await of({ FORCE_COLOR: '1' }), true)
    assert.equal(await of({ FORCE_COLOR: '0' }), false)
    assert.equal(await of({ NO_COLOR: '1' }), false)
    const failed = async (env) =>
      (await cli(['info', 'no such file'], { env })).stderr.includes('\x1b[')
    assert.equal(await failed({}), false)
    assert.equal(await failed({ FORCE_COLOR: '1' }), true)
  })

  it('is quiet when nobody reads', async () => {
    for (const args of [['--help'], ['convert', '--help'], ['help', 'info']]) {
      const running = spawn(process.execPath, [PROGRAM, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      running.stdout.destroy()
      let stderr = ''
      running.stderr.setEncoding('utf8').on('data', (text) => {
        stderr += text
      })
      const [code, signal] = await once(running, 'close')
      assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
    }
  })

  it('is quiet when nobody reads on', async function () {
    skipWithout(this, 'bash')
    const line = `for i in 1 2 3; do "${process.execPath}" "${PROGRAM}" convert --help; done | head -c 1; "${process.execPath}" "${PROGRAM}" --help | true`
    const { code, stdout, stderr } = await cli([line], { command: ['bash', '-c'] })
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: 'U', stderr: '' })
  })

  it('says in one sentence that there is no room for what it writes', async function () {
    if (!require('node:fs').existsSync('/dev/full')) return skip(this, 'there is no /dev/full')
    const { code, stderr } = await cli(
      [`"${process.execPath}" "${PROGRAM}" convert --help > /dev/full`],
      { command: ['bash', '-c'] },
    )
    assert.equal(code, 1)
    assert.match(stderr, /^samebytes: the output could not be written: ENOSPC[^\n]* \(ERR_IO\)\n$/)
  })
})
