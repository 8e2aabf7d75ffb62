'use strict'
const assert = require('node:assert/strict')
const http = require('node:http')
const path = require('node:path')
const { ROOT, nativeOnly, needs } = require('../setup')

const FOLDER = path.join(ROOT, 'examples', 'classifier-service')

/** What must not grow. */
const counted = ({ samebytes: { tensors, storages, bytes, inFlight } }) => ({
  tensors,
  storages,
  inFlight,
  ...bytes,
})

describe('the example of a service that classifies pictures', function () {
  nativeOnly()
  needs('sharp')
  let ask, load, stats, service, list, agent
  const classify = (body) => ask(`${service.url}/classify`, agent, body)

  before(async () => {
    const { pictures, start, ...rest } = require(path.join(FOLDER, 'load.js')) // which takes sharp
    ;({ ask, load, stats } = rest)
    agent = new http.Agent({ keepAlive: true })
    service = await start()
    list = await pictures()
  })
  after(async () => {
    agent?.destroy()
    await service?.end()
  })

  it('names the colours of pictures: JPEG and PNG, with transparency and in grey', async () => {
    for (const { bytes, label } of list) {
      const { status, body } = await classify(bytes)
      assert.deepEqual([status, body.labels.length, body.labels[0].label], [200, 3, label])
      assert.ok(body.labels[0].probability > 0.3 && body.labels[0].probability <= 1)
    }
    const blank = (background, channels) =>
      require('sharp')({ create: { width: 30, height: 50, channels, background } })
    const white = await classify(await blank('#ffffff80', 4).png().toBuffer())
    assert.equal(white.body.labels[0].label, 'white')
    const grey = await classify(await blank('#808080', 3).toColourspace('b-w').png().toBuffer())
    assert.equal(grey.body.labels[0].label, 'grey')
  })

  it('refuses what is no picture, nothing, and too much, and goes on', async () => {
    const before = (await stats(service.url)).refused
    for (const [body, status] of [
      [Buffer.from('no picture'), 415],
      [Buffer.alloc(0), 400],
      [list[0].bytes.subarray(0, 40), 415],
    ]) {
      const answer = await classify(body)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      assert.match(answer.body.error, /picture/)
    }
    assert.equal((await ask(`${service.url}/elsewhere`, agent)).status, 404)
    const tooMuch = await classify(Buffer.alloc(11 * 2 ** 20)).catch((error) => error) // it may stop reading before all is sent
    assert.ok(
      tooMuch.status === 413 || ['EPIPE', 'ECONNRESET'].includes(tooMuch.code),
      String(tooMuch),
    )
    assert.equal((await classify(list[0].bytes)).status, 200)
    assert.ok((await stats(service.url)).refused >= before + 4)
  })

  it('under load answers rightly, and holds what it held before', async () => {
    const run = (count) =>
      load(service.url, list, { connections: 4, until: (asked) => asked >= count })
    await run(100)
    const before = await stats(service.url)
    const { asked, wrong } = await run(1500)
    assert.deepEqual(wrong, [])
    const after = await stats(service.url)
    assert.equal(after.answered - before.answered, asked + 1) // the statistics themselves
    const was = counted(before)
    for (const [name, count] of Object.entries(counted(after))) {
      assert.ok(count <= was[name], `${name}: ${count} after ${was[name]}`)
    }
    assert.equal(was.tensors > 0 && was.storages > 0, true)
    assert.deepEqual(Object.keys(after.samebytes.copied), ['copyFrom']) // pixels into planes, which is the work
    assert.deepEqual(after.samebytes.staged, before.samebytes.staged) // the model's bytes, as they were loaded, in Node 20 and 22
  })

  it('tells those to come again for whom there is no room', async () => {
    const { classifier } = require(path.join(FOLDER, 'classifier.js'))
    const { model, labels } = require(path.join(FOLDER, 'model.js'))
    const small = await classifier(model(), labels, { places: 1, waiting: 1 })
    const answers = await Promise.allSettled([1, 2, 3].map(() => small.classify(list[1].bytes, 1)))
    assert.deepEqual(
      answers.map(({ status, reason }) => reason?.status ?? status),
      ['fulfilled', 'fulfilled', 503],
    )
    await small.close()
  })
})
