'use strict'
// Other processes that do as they are told, a line at a time: a Node with samebytes, a Python with NumPy.
const path = require('node:path')
const readline = require('node:readline')
const { execFile, spawn } = require('node:child_process')
const { PYTHON } = require('./tools')

const ROOT = path.join(__dirname, '..')

const NODE_SOURCE = `
  const { SharedTensor, memory } = require('samebytes')
  const things = {} // what later lines need
  const lines = require('node:readline').createInterface({ input: process.stdin })
  const answer = value => process.stdout.write(JSON.stringify(value === undefined ? null : value, (key, x) => typeof x === 'bigint' ? String(x) : x) + '\\n')
  lines.on('line', async line => {
    try {
      answer({ result: await eval('(async () => {' + JSON.parse(line) + '})()') })
    } catch (error) {
      answer({ error: { code: error.code, errno: error.errno, path: error.path, message: error.message, name: error.name } })
    }
  })
`
const PYTHON_SOURCE = `
import sys, json, traceback
things = {}
for line in sys.stdin:
    scope = {'things': things}
    try:
        exec(json.loads(line), scope)
        answer = {'result': scope.get('result')}
    except BaseException as error:
        answer = {'error': {'message': traceback.format_exc(), 'name': type(error).__name__}}
    print(json.dumps(answer), flush=True)
`

/** Answers come in the order of questions. */
class Other {
  constructor(command, args, options) {
    this.child = spawn(command, args, {
      cwd: ROOT,
      ...options,
      stdio: ['pipe', 'pipe', 'pipe', ...(options.stdio ?? [])],
    })
    this.waiting = []
    this.errors = ''
    this.ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => resolve({ code, signal })),
    )
    this.child.stderr.on('data', (text) => {
      this.errors += text
    })
    this.child.stdin.on('error', () => {}) // it was killed
    readline
      .createInterface({ input: this.child.stdout })
      .on('line', (line) => this.waiting.shift()?.resolve(JSON.parse(line)))
    this.ended.then((how) => {
      for (const { reject } of this.waiting) {
        reject(new Error(`the process ended (${JSON.stringify(how)}): ${this.errors}`))
      }
    })
  }

  get pid() {
    return this.child.pid
  }

  /** What the lines give, or { error }. */
  ask(source) {
    const answer = new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject })
    })
    this.child.stdin.write(JSON.stringify(source) + '\n')
    return answer
  }

  /** What the lines give; what they throw. */
  async run(source) {
    const { result, error } = await this.ask(source)
    if (error !== undefined) {
      throw Object.assign(new Error(`${error.name}: ${error.message}`), error)
    }
    return result
  }

  /** Ends it well; gives { code, signal }. */
  end() {
    this.child.stdin.end()
    return this.ended
  }

  kill(signal = 'SIGKILL') {
    this.child.kill(signal)
    return this.ended
  }
}

const all = []
function kept(other) {
  all.push(other)
  return other
}

/** A Node whose lines are the body of an async function. */
function node(options = {}) {
  return kept(new Other(process.execPath, [...(options.flags ?? []), '-e', NODE_SOURCE], options))
}

/** A Python whose lines leave what they found in `result`. */
function python(options = {}) {
  const { LD_PRELOAD, ...env } = process.env // a sanitizer's runtime is for the addon
  return kept(
    new Other(PYTHON, ['-c', PYTHON_SOURCE], {
      env: { ...env, PYTHONDONTWRITEBYTECODE: '1', OMP_NUM_THREADS: '1' },
      ...options,
    }),
  )
}

/** For afterEach: nobody stays behind. */
async function endAll() {
  for (const other of all.splice(0)) await other.kill()
}

/** What a program says that has 1 MiB of space in a folder; null: there can be no such place. */
function inSmallFolder(folder, source) {
  return new Promise((resolve, reject) => {
    const script =
      'mount -t tmpfs -o size=1m none "$2" 2>/dev/null || exit 77; exec "$0" --expose-gc -e "$1"'
    execFile(
      'unshare',
      ['-m', 'bash', '-c', script, process.execPath, source, folder],
      { cwd: ROOT, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (
          error &&
          (error.code === 'ENOENT' || error.code === 77 || /unshare failed/.test(stderr))
        ) {
          resolve(null)
        } else if (error) reject(new Error(stderr))
        else resolve(JSON.parse(stdout))
      },
    )
  })
}

module.exports = { node, python, endAll, inSmallFolder }
