'use strict'
const assert = require('assert')
const childProcess = require('child_process')
const fs = require('fs')
const os = require('os')
const path = require('path')

const root = path.join(__dirname, '..', '..')
const built = path.join(root, 'build', 'cuda')
const { complaints, modules, sourcesOf } = require('../../scripts/cuda.js')
const { skip } = require('../setup')

/** Names of src/cuda/kernels.def, by module. */
function listed() {
  const names = { copy: [], cast: [], random: [] }
  const text = fs.readFileSync(path.join(root, 'src', 'cuda', 'kernels.def'), 'utf8')
  for (const [, kind, row] of text.matchAll(/^(KERNEL|PAIR|VIA_F32|ROWS|SCALED)\((.*)\)$/gm)) {
    const [first, second] = row.split(', ')
    if (kind === 'KERNEL') names[first].push(`sb_${second}`)
    else {
      names.cast.push(
        `sb_${{ SCALED: 'scale', ROWS: 'rows' }[kind] ?? 'cast'}_${first}_from_${second}`,
      )
    }
  }
  return names
}

describe('device code', () => {
  let scratch

  before(function () {
    if (!fs.existsSync(path.join(built, 'manifest.json'))) {
      skip(this, 'device code is not built (scripts/build cuda)')
    }
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-code-'))
  })

  after(() => {
    if (scratch) fs.rmSync(scratch, { recursive: true, force: true })
  })

  const copy = () => {
    const place = fs.mkdtempSync(path.join(scratch, 'copy-'))
    fs.cpSync(built, place, { recursive: true })
    return place
  }

  it('belongs to the sources that are here', () => {
    assert.deepStrictEqual(complaints(built), [])
  })

  it('has every kernel of the list, and no other, in text for old drivers', () => {
    const names = listed()
    for (const module of modules) {
      const text = fs.readFileSync(path.join(built, `${module}.ptx`), 'latin1')
      assert.match(text, /^\.version 6\.3$/m)
      assert.match(text, /^\.target sm_75$/m)
      const entries = [...text.matchAll(/\.entry (\w+)/g)].map(([, name]) => name)
      assert.deepStrictEqual(entries.sort(), names[module].sort(), module)
      assert.ok(names[module].length > 5)
    }
  })

  it('computes as the CPU does: no product is contracted with a sum, nothing is flushed to zero', () => {
    for (const module of modules) {
      const text = fs.readFileSync(path.join(built, `${module}.ptx`), 'latin1')
      assert.doesNotMatch(text, /\bfma\.|\bmad\.(rn|f)|\.ftz|\.approx/, module)
    }
  })

  it('is known to be stale, incomplete or damaged', () => {
    const stale = copy()
    const manifest = path.join(stale, 'manifest.json')
    const about = JSON.parse(fs.readFileSync(manifest, 'utf8'))
    fs.writeFileSync(
      manifest,
      JSON.stringify({ ...about, sources: about.sources.replace(/./g, '0') }),
    )
    assert.match(complaints(stale).join(), /other sources/)

    const incomplete = copy()
    fs.rmSync(path.join(incomplete, 'cast.ptx'))
    assert.match(complaints(incomplete).join(), /cast\.ptx is missing/)

    const damaged = copy()
    fs.appendFileSync(path.join(damaged, 'copy.fatbin'), '\n')
    assert.match(complaints(damaged).join(), /copy\.fatbin is not what/)

    const unlisted = copy()
    fs.rmSync(path.join(unlisted, 'manifest.json'))
    assert.match(complaints(unlisted).join(), /no manifest/)
  })
})

describe('the build of device code', () => {
  it('knows every file that a module is made of', () => {
    for (const module of modules) {
      const names = sourcesOf(module)
      for (const name of names) {
        const text = fs.readFileSync(path.join(root, name), 'utf8')
        for (const [, included] of text.matchAll(/^#\s*include "(.*)"/gm)) {
          assert.ok(names.includes(`src/${included}`), `${name} includes ${included}`)
        }
      }
    }
    assert.ok(sourcesOf('cast').includes('src/cuda/cast_each.inc'), 'by way of a macro')
  })

  it('succeeds and says nothing where there is no nvcc', function () {
    const { status, stdout, stderr } = childProcess.spawnSync(
      process.execPath,
      ['scripts/cuda.js', 'build'],
      { cwd: root, env: { ...process.env, NVCC: '0' }, encoding: 'utf8' },
    )
    assert.deepStrictEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
  })
})
