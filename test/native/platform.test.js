'use strict'
const assert = require('node:assert/strict')
const path = require('node:path')
const { ROOT, nativeOnly, skipWithout } = require('../setup')

describe('the name of this machine', () => {
  nativeOnly()

  let platform
  before(function () {
    skipWithout(this, "the package's sources")
    platform = require('../../js/runtime/platform')
  })

  it('has the C library that runs this program, also where another one is installed', () => {
    const { glibcVersionRuntime } = process.report.getReport().header
    const isLinux = process.platform === 'linux'
    const tail = isLinux && glibcVersionRuntime === undefined ? '-musl' : ''
    assert.equal(platform.platformName(), `${process.platform}-${process.arch}${tail}`)
    assert.equal(platform.prebuilt(), path.join(ROOT, 'prebuilds', platform.platformName()))
    const loader = platform.loaderOf(process.execPath)
    if (isLinux) assert.equal(loader.includes('musl'), tail !== '')
    else assert.equal(loader, null)
  })

  it('comes from no file that is none for this machine', () => {
    for (const file of [__filename, '/dev/null', '/nowhere', path.join(ROOT, 'js')]) {
      assert.equal(platform.loaderOf(file), null, file)
    }
  })
})

describe('what the system offers', () => {
  nativeOnly()

  it('is told by the addon: Linux has all of it, Windows has no files without names', () => {
    const {
      abilities: { segments, namesIgnoreCase, ...rest },
    } = require('../../js/backend/calls').backend
    const names = [
      'descriptorPaths',
      'futexes',
      'processStartTimes',
      'sealedMemory',
      'unnamedFiles',
    ]
    assert.ok(path.isAbsolute(segments) && !/[/\\]$/.test(segments), segments)
    assert.equal(namesIgnoreCase, process.platform === 'win32')
    assert.deepEqual(Object.keys(rest).sort(), names)
    const isGeneric = Boolean(process.env.SAMEBYTES_LIBRARY?.includes('build-generic')) // scripts/generic
    const lacking = isGeneric
      ? names
      : process.platform === 'win32'
        ? ['descriptorPaths', 'unnamedFiles']
        : []
    assert.deepEqual(
      names.filter((name) => !rest[name]),
      lacking,
    )
  })
})
