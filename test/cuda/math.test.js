'use strict'
// Arithmetic is the CPU's: a tensor on a device is refused in every place of every function, and the message says what to do.
const assert = require('node:assert/strict')
const { arrayEqual, memory, ones, tensor, zeros } = require('samebytes')
const { fails, quietMemory } = require('../setup')
const { MATH, inMath, ofMath, validOf } = require('../signatures')
const { math, rows } = require('../math/load')

const device = 'cuda:0'

/** What an argument may be besides what test/signatures.js has. */
const ALSO = {
  slice: [() => tensor([1, 0], 'int32'), () => tensor([true, false, true])],
  value: [() => tensor(7)],
  factor: [() => tensor([0.25, 0.5])],
}

/** What makes a tensor on a device for an argument that may be a tensor. */
function makesFor({ kind, valid, isScalar }) {
  if (isScalar) return []
  if (['tensor', 'out'].includes(kind)) return [() => valid().to(device)]
  return (ALSO[kind] ?? []).map((make) => () => make().to(device))
}

/** A call's arguments with one tensor on a device, also without options, so that a result is made: { label, named, list }. */
function* callsOf(args) {
  for (const [i, argument] of args.entries()) {
    for (const make of makesFor(argument)) {
      const put = () => args.map((each, k) => (k === i ? make() : validOf(each)))
      yield { label: argument.name, named: argument.name, list: put }
      if (args.at(-1).kind === 'options' && args.at(-1).optional) {
        yield {
          label: `${argument.name}, without options`,
          named: argument.name,
          list: () => put().slice(0, -1),
        }
      }
    }
    for (const [key, option] of Object.entries(argument.keys ?? {})) {
      for (const make of makesFor(option)) {
        yield {
          label: key,
          named: key,
          list: () =>
            args.map((each, k) => (k === i ? { ...validOf(each), [key]: make() } : validOf(each))),
        }
      }
    }
  }
}

/** fn must copy nothing, and leave nothing; a collection meanwhile may find dead what was there before. */
async function changesNothing(fn, title) {
  const { copied, staged, inFlight, exported, tensors, storages, bytes } = memory()
  await fn()
  const now = memory()
  assert.deepEqual(
    { copied: now.copied, staged: now.staged, inFlight: now.inFlight, exported: now.exported },
    { copied, staged, inFlight, exported },
    title,
  )
  assert.ok(
    now.tensors <= tensors && now.storages <= storages,
    `${title}: ${tensors} tensors and ${storages} storages became ${now.tensors} and ${now.storages}`,
  )
  for (const [kind, count] of Object.entries(now.bytes)) {
    assert.ok(count <= bytes[kind], `${title}: ${bytes[kind]} bytes of ${kind} became ${count}`)
  }
}

/** Tensors among arguments, and their elements as they were. */
function tensorsIn(list) {
  const found = list.flatMap((value) =>
    value?.device !== undefined
      ? [value]
      : Object.values(value ?? {}).filter((each) => each?.device !== undefined),
  )
  return found.map((t) => ({ t, before: t.cpu().clone() }))
}

const refusal = async (call) => {
  try {
    await call()
  } catch (error) {
    return error
  }
  return null
}

describe('arithmetic with a tensor on a device', function () {
  const functions = rows
    .map((row) => [row.js, ofMath(row)])
    .concat(Object.entries(MATH))
    .filter(([name]) => name !== 'crop')

  for (const [name, args] of functions) {
    it(`${name} is refused in each place, and nothing has changed`, async () => {
      let count = 0
      for (const form of [name, `${name}Async`].filter(
        (form) => inMath(math, form) !== undefined,
      )) {
        for (const { label, named, list } of callsOf(args)) {
          const given = list()
          const kept = tensorsIn(given)
          let error
          await changesNothing(async () => {
            error = await refusal(() => inMath(math, form)(...given))
          }, `${form}, ${label}`)
          assert.equal(
            error?.code,
            'ERR_UNSUPPORTED',
            `${form}, ${label}: ${error?.stack ?? 'nothing was thrown'}`,
          )
          assert.match(
            error.message,
            label === 'out'
              ? /^out is on cuda:0; .*copyFrom\(\)/
              : new RegExp(`^(${named}|entry \\d) is on cuda:0; .* cpu\\(\\) copies it there`),
            `${form}, ${label}`,
          )
          for (const { t, before } of kept) {
            assert.ok(arrayEqual(t.cpu(), before), `${form}, ${label}`)
          }
          count++
        }
      }
      assert.ok(count > 0)
    })
  }

  it('leaves no memory, on the device or elsewhere, however large a result would be', async () => {
    const x = zeros([1000, 1000], { device })
    const here = ones([1000, 1000])
    const { bytes, storages, inFlight } = await quietMemory()
    for (const shared of [false, true]) {
      const y = shared ? zeros([1000, 1000], { shared: true }) : here
      for (const call of [
        () => math.add(y, x),
        () => math.exp(x),
        () => math.softmax(x),
        () => math.cumulativeSum(x),
        () => math.addAsync(y, x),
        () => math.where(true, y, x),
      ]) {
        await changesNothing(
          async () => assert.equal((await refusal(call))?.code, 'ERR_UNSUPPORTED'),
          String(call),
        )
      }
      if (shared) y.dispose()
    }
    const after = await quietMemory()
    assert.deepEqual(
      { bytes: after.bytes, storages: after.storages, inFlight: after.inFlight },
      { bytes, storages, inFlight },
    )
  })

  it('is refused beside scalars, too', () => {
    const x = ones([2], { device })
    const y = ones([2])
    const calls = {
      x1: () => math.add(x, 1),
      x2: () => math.add(1, x),
      'x1|x': () => math.where(true, x, 1),
      x: () => math.clip(x, 0),
      min: () => math.clip(y, x),
      max: () => math.clip(y, null, x),
    }
    for (const [name, call] of Object.entries(calls)) {
      fails(call, Error, 'ERR_UNSUPPORTED', new RegExp(`^(${name}) is on cuda:0`))
    }
  })

  it('is done by copying, as the message says', () => {
    const x = tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { device },
    )
    const sums = math.sum(x.cpu(), { axis: 1 }).to(device)
    assert.deepEqual(sums.toArray(), [3, 7])
    assert.deepEqual(x.copyFrom(math.add(x.cpu(), 1)).toArray(), [
      [2, 3],
      [4, 5],
    ])
    assert.deepEqual(math.index(x, 1, ':').toArray(), [4, 5]) // a view
    assert.deepEqual(math.crop(x, [0, 1, 2, 2]).toArray(), [[4, 5]]) // another one
  })
})
