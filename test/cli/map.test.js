'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { setTimeout } = require('node:timers/promises')
const { ROOT } = require('../setup')
const { PROGRAM, cli, folder } = require('./cli')

/** @returns {Promise<{ status: number, page: string }>} */
async function get(url) {
  const response = await new Promise((resolve, reject) => {
    http.get(url, { agent: false }, resolve).once('error', reject)
  })
  return {
    status: response.statusCode,
    page: (await response.setEncoding('utf8').toArray()).join(''),
  }
}

describe('samebytes map', function () {
  const at = folder()
  const index = JSON.stringify(path.join(ROOT, 'js', 'index.js'))

  before(() => {
    fs.writeFileSync(
      at('program.cjs'),
      `
      const { ones } = require(${index})
      globalThis.kept = [ones([1000, 3])]
      kept.push(kept[0].T)
      console.log(JSON.stringify(process.argv.slice(1)))
      process.exitCode = 5`,
    )
    fs.writeFileSync(at('fails.mjs'), 'throw new Error("the program\'s own")')
  })

  it('runs a program with its arguments, and writes what it held', async () => {
    for (const [name, pattern] of [
      ['map.txt', /float32 \[1000, 3\].*\n.*float32 \[3, 1000\]/],
      ['map.json', /^\{[\s\S]*"float32"/],
      ['map.html', /^<!doctype html>/i],
    ]) {
      const { code, stdout, stderr } = await cli(
        ['map', '--snapshot', name, 'program.cjs', '--json', '-1', 'x'],
        { cwd: at() },
      )
      assert.deepEqual(
        { code, stderr },
        { code: 5, stderr: `The memory map: ${fs.realpathSync(at(name))}\n` },
      )
      assert.deepEqual(JSON.parse(stdout), [
        fs.realpathSync(at('program.cjs')),
        '--json',
        '-1',
        'x',
      ])
      assert.match(fs.readFileSync(at(name), 'utf8'), pattern)
    }
  })

  it('takes its options behind the program as well, and leaves it what follows --', async () => {
    const given = async (...args) => {
      const { code, stdout, stderr } = await cli(['map', ...args], { cwd: at() })
      assert.deepEqual(
        { code, stderr },
        { code: 5, stderr: `The memory map: ${fs.realpathSync(at('map.txt'))}\n` },
      )
      return JSON.parse(stdout).slice(1)
    }
    assert.deepEqual(await given('program.cjs', '--snapshot', 'map.txt'), [])
    assert.deepEqual(await given('program.cjs', '--snapshot=map.txt', '--json', '--port', '5'), [
      '--json',
      '--port',
      '5',
    ])
    assert.deepEqual(
      await given('--snapshot', 'map.txt', 'program.cjs', '--', '--snapshot', 'x.txt'),
      ['--snapshot', 'x.txt'],
    )
    assert.deepEqual(await given('program.cjs', '--snapshot', 'map.txt', '--', '--', '-1'), [
      '--',
      '-1',
    ])
    const { code, stderr } = await cli(['map', 'program.cjs', '--snapshot'], { cwd: at() })
    assert.deepEqual([code, /--snapshot needs a value/.test(stderr)], [2, true])
  })

  it('runs TypeScript where Node.js or a loader does, and says elsewhere what to do', async () => {
    fs.writeFileSync(
      at('typed.ts'),
      `const { ones } = require(${index})\nconst shape: number[] = [4, 321]\n;(globalThis as any).kept = ones(shape)\n`,
    )
    fs.writeFileSync(
      at('loader.cjs'),
      `require('node:module')._extensions['.ts'] = (m, file) => {
      m._compile(require('node:fs').readFileSync(file, 'utf8').replace(': number[]', '').replace(' as any', ''), file)
    }`,
    )
    const run = (env, name) => cli(['map', '--snapshot', 'typed.txt', name], { cwd: at(), env })
    const check = ({ code, stderr }) => {
      assert.deepEqual(
        { code, stderr: stderr.replace(/^\(node:[^]*/, '') },
        { code: 0, stderr: `The memory map: ${fs.realpathSync(at('typed.txt'))}\n` },
      ) // Node.js may warn that it strips types
      assert.match(fs.readFileSync(at('typed.txt'), 'utf8'), /float32 \[4, 321\]/)
      fs.unlinkSync(at('typed.txt'))
    }
    check(await run({ NODE_OPTIONS: `--require ${at('loader.cjs')}` }, 'typed.ts'))
    if (process.features.typescript) return check(await run({}, 'typed.ts'))
    for (const name of ['typed.ts', 'typed.mts', 'typed.cts', 'typed.tsx']) {
      if (name !== 'typed.ts') fs.copyFileSync(at('typed.ts'), at(name))
      const { code, stdout, stderr } = await run({}, name)
      assert.deepEqual([code, stdout, fs.existsSync(at('typed.txt'))], [1, '', false])
      assert.match(
        stderr,
        new RegExp(
          `^samebytes map: ${name} is TypeScript, which Node\\.js ${process.versions.node} does not run by itself \\(22\\.18 and later run \\.ts\\)\\. Compile it [^\\n]*--import tsx[^\\n]* \\(ERR_UNSUPPORTED\\)\\n$`,
        ),
      )
    }
  })

  it('shows the map on a page of this machine while the program runs', async () => {
    fs.writeFileSync(
      at('runs.cjs'),
      `const { ones } = require(${index}); globalThis.kept = ones([12345]); setInterval(() => {}, 1000)`,
    )
    const running = spawn(process.execPath, [PROGRAM, 'map', at('runs.cjs')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = new Promise((resolve) => running.once('close', resolve))
    try {
      const url = await new Promise((resolve, reject) => {
        let text = ''
        running.stderr.setEncoding('utf8').on('data', (more) => {
          text += more
          const found = /(http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/)\n/.exec(text)
          if (found !== null) resolve(found[1])
        })
        ended.then(() => reject(new Error(`it ended: ${text}`)))
      })
      let page = ''
      for (const end = Date.now() + 60000; !page.includes('12345') && Date.now() < end;) {
        // the address is there before the program has run
        if (page !== '') await setTimeout(20)
        const answer = await get(url)
        assert.equal(answer.status, 200)
        page = answer.page
      }
      assert.match(page, /12345/)
      assert.equal((await get(url.replace(/[\w-]+\/$/, 'another/'))).status, 404)
    } finally {
      running.kill('SIGKILL')
      await ended
    }
  })

  it('leaves what the program throws to the program, and says what is not there', async () => {
    const thrown = await cli(['map', '--snapshot', 'x.txt', 'fails.mjs'], { cwd: at() })
    assert.equal(thrown.code, 1)
    assert.match(thrown.stderr, /Error: the program's own\r?\n\s+at /)
    for (const [args, code, pattern] of [
      [['map', 'nothing.mjs'], 1, /nothing\.mjs: there is no such program \(ERR_NOT_FOUND\)/],
      [['map', '--port', 'x', 'program.cjs'], 2, /--port is "x"; 0 to 65535 was expected/],
      [
        ['map', '--snapshot', 'x.pdf', 'program.cjs'],
        2,
        /^samebytes map: x\.pdf ends in none of \.html, \.htm, \.json, \.txt/,
      ],
      [
        ['map', '--snapshot', 'no/such.txt', 'program.cjs'],
        1,
        /there is no such folder \(ERR_NOT_FOUND\)/,
      ],
      [['map'], 2, /is missing/],
    ]) {
      const found = await cli(args, { cwd: at() })
      assert.deepEqual(
        { code: found.code, stdout: found.stdout },
        { code, stdout: '' },
        found.stderr,
      )
      assert.match(found.stderr, pattern)
    }
  })
})
