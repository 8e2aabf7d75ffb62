'use strict'
// wasm/straight.mjs, which the build runs on the text of the module that threads share.
const assert = require('node:assert/strict')

const TAKE = `
  (loop $again
   (br_if $again
    (i32.and
     (i32.atomic.rmw8.xchg_u offset=16
      (i32.const 0)
      (i32.const 1)
     )
     (i32.const 1)
    )
   )
  )`
const DROP = `
  (i32.atomic.store8 offset=16
   (i32.const 0)
   (i32.const 0)
  )`
const moduleOf = (body, early = '') => `(module
 (import "env" "grown" (func $fimport$0 (param i32)))
 (export "stackRestore" (func $1))
 (export "__wasm_init_tls" (func $2))
 (export "sb_new_environment" (func $3))
 (export "sb_stack" (func $4))
 (export "sb_tls" (func $4))
 (func $0 (param $0 i32)${body}
 )
 (func $1 (param $0 i32)
  (global.set $global$0
   (local.get $0)
  )
 )
 (func $2 (param $0 i32)
  (global.set $global$1
   (local.get $0)
  )
 )
 (func $3
  (call $fimport$0
   (i32.const 0)
  )
  (call $5)
 )
 (func $4
  (nop)
 )
 (func $5${early}
  (nop)
 )
)
`

describe('wasm/straight.mjs', () => {
  let look

  before(async () => {
    ;({ look } = await import('../../wasm/straight.mjs'))
  })

  it('finds nothing where a lock is held over stores and conditions only', () => {
    const text = moduleOf(`${TAKE}
  (if
   (local.get $0)
   (i32.store
    (i32.const 0)
    (i32.const 1)
   )
  )${DROP}
  (call $0)`)
    assert.deepEqual(look(text), { locks: 1, faults: [] })
  })

  for (const what of [
    '(call $0',
    '(call_indirect (type $none)',
    '(loop $more',
    '(memory.grow',
    '(return',
  ]) {
    it(`finds ${what} under a lock`, () => {
      const { faults } = look(
        moduleOf(`${TAKE}
  ${what}
   (nop)
  )${DROP}`),
      )
      assert.deepEqual(faults, [`$0: ${what} under a lock`])
    })
  }

  it('knows that a branch has dropped the lock, and that others have not', () => {
    const branch = (inner) => `
  (block $done
   (if
    (local.get $0)
    (block${DROP.replace(/^/gm, '   ')}
     (call $0)
     (br $done)
    )
   )${inner}${DROP.replace(/^/gm, ' ')}
  )`
    assert.deepEqual(look(moduleOf(TAKE + branch(''))).faults, [])
    assert.deepEqual(look(moduleOf(TAKE + branch('\n   (call $1)'))).faults, [
      '$0: (call $1) under a lock',
    ])
  })

  it('takes two locks one after the other for two', () => {
    assert.deepEqual(look(moduleOf(`${TAKE}${DROP}\n  (call $0)${TAKE}${DROP}`)), {
      locks: 2,
      faults: [],
    })
  })

  it('finds a lock that is not dropped, or not waited for', () => {
    assert.deepEqual(look(moduleOf(TAKE)).faults, ['$0: a lock is not dropped'])
    assert.deepEqual(look(moduleOf(TAKE.replace('br_if', 'if') + DROP)).faults, [
      '$0: a lock is not taken by a loop',
    ])
  })

  for (const global of ['$global$0', '$global$1']) {
    it(`finds ${global} in what is called before a thread has a stack`, () => {
      const { faults } = look(moduleOf('', `\n  (drop (global.get ${global}))`))
      assert.deepEqual(faults, [
        'sb_new_environment: $5 uses a stack, thread-local variables or a table',
      ])
    })
  }

  it('finds an export that is not there', () => {
    const { faults } = look(moduleOf('').replace('"sb_stack"', '"other"'))
    assert.deepEqual(faults, ['sb_stack: undefined is not there'])
  })
})
