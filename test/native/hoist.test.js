'use strict'
// wasm/hoist.mjs, which the build runs on the text of both modules.

const assert = require('node:assert/strict')

const MASK = 'i32x4 0x09060300 0xffff0f0c 0xffffffff 0xffffffff'
const ZEROS = 'i32x4 0x00000000 0x00000000 0x00000000 0x00000000'
const ONES = 'i32x4 0xffffffff 0xffffffff 0xffffffff 0xffffffff'
const constant = (i) =>
  `i32x4 0x${(i + 1).toString(16).padStart(8, '0')} 0x00000000 0x00000000 0x00000000`
const moduleOf = (...body) => ['(module', ' (func $0 (param $0 i32)', ...body, ' )', ')'].join('\n')
const flat = (text) => text.replace(/\s+/g, ' ')

describe('wasm/hoist.mjs', () => {
  let hoist

  before(async () => {
    ;({ hoist } = await import('../../wasm/hoist.mjs'))
  })

  it('makes a constant before the loop, once for all its uses', () => {
    const { text, moved } = hoist(
      moduleOf(
        '  (local $1 v128)',
        '  (loop $again',
        `   (local.set $1 (v128.const ${MASK}))`,
        '   (drop',
        '    (i8x16.swizzle',
        '     (local.get $1)',
        `     (v128.const ${MASK})`,
        '    )',
        '   )',
        '   (br_if $again',
        '    (local.get $0)',
        '   )',
        '  )',
      ),
    )
    assert.equal(moved, 2)
    const local = text.match(/\(local (\$constant\w+) v128\)/)[1]
    assert.ok(
      flat(text).includes(
        `(local $1 v128) (local ${local} v128) (block (local.set ${local} (v128.const ${MASK})) (loop $again (local.set $1 (local.get ${local}))`,
      ),
    )
    assert.ok(flat(text).includes(`(i8x16.swizzle (local.get $1) (local.get ${local}) )`))
    assert.match(
      flat(text),
      /\(br_if \$again \(local.get \$0\) \) \)\) \) \)$/,
      'the block ends after the loop',
    )
  })

  it('leaves zeros, ones and what is in no loop', () => {
    const text = moduleOf(
      `  (drop (v128.const ${MASK}))`,
      '  (loop $again',
      `   (drop (v128.const ${ZEROS}))`,
      `   (drop (v128.const ${ONES}))`,
      '  )',
      `  (drop (v128.const ${MASK}))`,
    )
    assert.deepEqual(hoist(text), { text, moved: 0 })
  })

  it('leaves functions whose names match a pattern', () => {
    const text = moduleOf('  (loop $again', `   (drop (v128.const ${MASK}))`, '  )')
    assert.deepEqual(hoist(text, /^0$/), { text, moved: 0 })
    assert.equal(hoist(text, /^1$/).moved, 1)
  })

  it('goes before all loops that have few constants', () => {
    const { text } = hoist(
      moduleOf(
        '  (loop $outer',
        '   (loop $inner',
        `    (drop (v128.const ${MASK}))`,
        '   )',
        '  )',
      ),
    )
    assert.match(
      flat(text),
      /\(block \(local.set \S+ \(v128.const [^)]*\)\) \(loop \$outer \(loop \$inner \(drop \(local.get \S+\)\) \) \)\) \)/,
    )
  })

  it('stays within a loop that has many of them in other parts', () => {
    const others = Array.from({ length: 12 }, (_, i) => `    (drop (v128.const ${constant(i)}))`)
    const { text, moved } = hoist(
      moduleOf(
        '  (loop $outer',
        '   (loop $first',
        ...others,
        '   )',
        '   (loop $second',
        `    (drop (v128.const ${MASK}))`,
        '   )',
        '  )',
      ),
    )
    assert.equal(moved, 13)
    assert.match(
      flat(text),
      /\(func \$0 \(param \$0 i32\)( \(local \S+ v128\)){13} \(loop \$outer \(block( \(local.set \S+ \(v128.const [^)]*\)\)){12} \(loop \$first/,
    )
    assert.match(flat(text), /\)\) \(block \(local.set \S+ \(v128.const [^)]*\)\) \(loop \$second/)
  })

  it('keeps what a loop gives', () => {
    const { text } = hoist(
      moduleOf(
        '  (drop',
        '   (loop $again (result v128)',
        `    (v128.const ${MASK})`,
        '   )',
        '  )',
      ),
    )
    assert.match(
      flat(text),
      /\(drop \(block \(result v128\) \(local.set (\S+) \(v128.const [^)]*\)\) \(loop \$again \(result v128\) \(local.get \1\) \)\) \)/,
    )
  })

  it('takes each function by itself', () => {
    const one = ['  (loop $again', `   (drop (v128.const ${MASK}))`, '  )']
    const { text, moved } = hoist(
      ['(module', ' (func $0', ...one, ' )', ' (func $1', ...one, ' )', ')'].join('\n'),
    )
    assert.equal(moved, 2)
    assert.match(
      flat(text),
      /\(func \$0 \(local (\S+) v128\) \(block \(local.set \1 .*\(func \$1 \(local (\S+) v128\) \(block \(local.set \2 /,
    )
  })

  it('refuses a function without an end', () => {
    assert.throws(() => hoist('(module\n (func $0\n  (nop)'), /the function in line 2 has no end/)
  })
})
