'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { execFileSync } = require('node:child_process')
const { SharedTensor, dtypes } = require('samebytes')
const { commands } = require('../../js/cli/commands')
const { isWasm, skip, skipWithout } = require('../setup')
const { clean } = require('../segments')
const { PROGRAM, cli, folder } = require('./cli')

const CHECKS = { bash: ['-n'], zsh: ['-n'], fish: ['--no-execute'] }

describe('samebytes completion', function () {
  const at = folder()

  for (const shell of Object.keys(CHECKS)) {
    it(`prints a script for ${shell} that has all commands and options`, async function () {
      const { code, stdout, stderr } = await cli(['completion', shell])
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      for (const { name, options } of commands) {
        assert.match(stdout, new RegExp(`\\b${name}\\b`))
        for (const option of Object.keys(options)) assert.match(stdout, new RegExp(`(--| -l )${option}\\b`))
      }
      fs.writeFileSync(at(shell), stdout)
      if (shell !== 'bash') skipWithout(this, shell)
      execFileSync(shell, [...CHECKS[shell], at(shell)])
    })
  }

  describe('in bash', () => {
    afterEach(clean)

    /** What bash offers for the last of these words. */
    async function offered (...words) {
      const { stdout: script } = await cli(['completion', 'bash'])
      fs.writeFileSync(at('complete.bash'), `samebytes () { "$NODE" "$PROGRAM" "$@"; }
command () { shift; "$NODE" "$PROGRAM" "$@"; }
${script}
COMP_WORDS=("samebytes" "$@")
COMP_CWORD=$#
_samebytes
for word in "\${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done
`)
      const { code, stdout, stderr } = await cli([at('complete.bash'), ...words], { command: ['bash'], cwd: at(), env: { NODE: process.execPath, PROGRAM } })
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      return stdout.split('\n').slice(0, -1).map(word => word.replace(/ $/, ''))
    }

    it('offers commands, options, and what an option takes', async () => {
      assert.deepEqual((await offered('')).sort(), [...commands.map(({ name }) => name), 'help', '--help', '--version'].sort())
      assert.deepEqual((await offered('co')).sort(), ['completion', 'convert'])
      assert.deepEqual(await offered('rm', '--'), ['--force', '--json', '--help'])
      assert.deepEqual(await offered('info', '--dtype', 'float1'), dtypes.filter(name => name.startsWith('float1')))
      assert.deepEqual(await offered('convert', '--name', ''), [])
      assert.deepEqual(await offered('completion', 'z'), ['zsh'])
      assert.deepEqual(await offered('help', 'sw'), ['sweep'])
    })

    it('offers files, with what a shell would take apart escaped', async () => {
      fs.writeFileSync(at('model one.npy'), '')
      fs.mkdirSync(at('models'))
      assert.deepEqual((await offered('info', 'model')).sort(), ['model\\ one.npy', 'models/'])
    })

    it('offers segments, and runs nothing that is in their names', async function () {
      if (isWasm) return skip(this, 'shared memory needs the native addon')
      const prefix = `sb-test-${process.pid}-`
      const names = [`${prefix}plain`, `${prefix}$(touch ran)`, `${prefix}\`touch ran\`; x`]
      const held = names.map(name => SharedTensor.create(name, [1]))
      const found = await offered('rm', prefix)
      assert.ok(!fs.existsSync(at('ran')))
      const back = JSON.parse(execFileSync('bash', ['-c', `set -- ${found.join(' ')}; exec "$NODE" -p 'JSON.stringify(process.argv.slice(1))' -- "$@"`], { env: { ...process.env, NODE: process.execPath }, cwd: at(), encoding: 'utf8' }))
      assert.deepEqual(back.sort(), names.sort())
      assert.ok(!fs.existsSync(at('ran')))
      for (const each of held) each.dispose()
    })
  })
})
