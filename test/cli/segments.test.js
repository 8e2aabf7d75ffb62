'use strict'
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { SharedTensor } = require('samebytes')
const { nativeOnly } = require('../setup')
const { node, endAll } = require('../other-process')
const { FOLDER, clean, fresh, pathOf } = require('../segments')
const { cli } = require('./cli')

describe('samebytes ls, rm and sweep', function () {
  nativeOnly()
  afterEach(async () => {
    await endAll()
    clean()
  })
  const json = async (...args) => {
    const { code, stdout, stderr } = await cli([...args, '--json'])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  /** A process that made segments and has ended. */
  const left = async (...lines) => {
    const other = node()
    await other.run(lines.join('\n'))
    await other.kill()
    return other.pid
  }

  it('lists what there is: whose, how large, of what', async () => {
    const [mine, raw, dead] = [fresh(), fresh(), fresh()]
    const held = [
      SharedTensor.create(mine, [4, 5], { dtype: 'uint8' }),
      SharedTensor.create(raw, [3], { format: 'raw', persist: true }),
    ]
    const pid = await left(`SharedTensor.create('${dead}', [2], { dtype: 'int64' })`)
    const found = (await json('ls')).filter(({ name }) => [mine, raw, dead].includes(name))
    const of = (name) => found.find((each) => each.name === name)
    assert.deepEqual(of(mine), {
      name: mine,
      path: pathOf(mine),
      nbytes: fs.statSync(`${FOLDER}/${mine}`).size,
      pid: process.pid,
      isAlive: true,
      persist: false,
      isRing: false,
      dtype: 'uint8',
      shape: [4, 5],
    })
    assert.deepEqual(of(raw), {
      name: raw,
      path: pathOf(raw),
      nbytes: 12,
      pid: process.pid,
      isAlive: true,
      persist: true,
      isRing: false,
      dtype: null,
      shape: null,
    })
    assert.deepEqual(
      [of(dead).pid, of(dead).isAlive, of(dead).dtype, of(dead).shape],
      [pid, false, 'int64', [2]],
    )
    const { stdout, stderr } = await cli(['ls'])
    assert.match(stdout, /^name +owner +process +size +dtype +shape\n/)
    assert.match(
      stdout,
      new RegExp(`^${mine} +alive +${process.pid} +148 B +uint8 +\\[4, 5\\]$`, 'm'),
    )
    assert.match(stdout, new RegExp(`^${raw} +alive, persists +${process.pid} +12 B +raw *$`, 'm'))
    assert.match(stdout, new RegExp(`^${dead} +dead +${pid} +144 B +int64 +\\[2\\]$`, 'm'))
    assert.match(stderr, /samebytes sweep removes/)
    const names = (await cli(['ls', '--names'])).stdout.split('\n')
    for (const name of [mine, raw, dead]) assert.ok(names.includes(name))
    for (const each of held) each.dispose()
  })

  it('lists the two segments of a ring as one, and sweeps both', async () => {
    const name = fresh()
    const pid = await left(
      `require('samebytes').SharedRing.create('${name}', [2, 3], { slots: 4, dtype: 'uint8' })`,
    )
    const found = (await json('ls')).filter((each) => each.name.startsWith(name))
    const nbytes = [name, `${name}.control`].reduce(
      (sum, part) => sum + fs.statSync(`${FOLDER}/${part}`).size,
      0,
    )
    assert.deepEqual(found, [
      {
        name,
        path: pathOf(name),
        nbytes,
        pid,
        isAlive: false,
        persist: false,
        isRing: true,
        dtype: 'uint8',
        shape: [4, 2, 3],
      },
    ])
    assert.match(
      (await cli(['ls'])).stdout,
      new RegExp(`^${name} +dead +${pid} +${nbytes} B +uint8 +ring of 4 × \\[2, 3\\]$`, 'm'),
    )
    assert.deepEqual((await json('sweep')).removed.filter((each) => each.startsWith(name)).sort(), [
      name,
      `${name}.control`,
    ])
  })

  it('shows a segment by its name, and what another process writes to it', async () => {
    const name = fresh()
    const segment = SharedTensor.create(name, [3], { dtype: 'int32' })
    segment.tensor.copyFrom([1, 2, 3])
    assert.deepEqual((await json('show', name)).values, [1, 2, 3])
    assert.deepEqual((await json('show', `/${name}`, '-1')).values, 3)
    assert.equal((await json('info', name)).tensors[0].dtype, 'int32')
    segment.tensor.copyFrom([4, 5, 6])
    assert.deepEqual((await json('show', name)).values, [4, 5, 6])
    segment.dispose()
  })

  it("removes names, but not what is in use or others' without --force", async () => {
    const [mine, dead, foreign, second] = [fresh(), fresh(), fresh(), fresh()]
    const segment = SharedTensor.create(mine, [2])
    await left(`SharedTensor.create('${dead}', [2])`, `SharedTensor.create('${second}', [2])`)
    fs.writeFileSync(`${FOLDER}/${foreign}`, 'not ours')
    const rows = [
      [
        mine,
        new RegExp(
          `"${mine}" belongs to process ${process.pid}, which is alive; --force .* \\(ERR_BUSY\\)`,
        ),
      ],
      [foreign, /was not made by samebytes; --force removes it all the same \(ERR_BUSY\)/],
      [`${mine}-nothing`, /there is no segment ".*-nothing" \(ERR_NOT_FOUND\)/],
      [
        mine.toUpperCase(),
        fs.existsSync(pathOf(mine.toUpperCase())) // the same name
          ? /".*" belongs to process \d+, which is alive; --force .* \(ERR_BUSY\)/
          : /there is no segment ".*" \(ERR_NOT_FOUND\)/,
      ],
    ]
    for (const [name, pattern] of rows) {
      const { code, stdout, stderr } = await cli(['rm', dead, name]) // all or none
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
      assert.match(stderr, pattern)
    }
    assert.ok([mine, dead, foreign].every((name) => fs.existsSync(`${FOLDER}/${name}`)))
    assert.deepEqual(await json('rm', dead, `/${second}`), { removed: [dead, `/${second}`] })
    assert.deepEqual(
      [dead, second].map((name) => fs.existsSync(`${FOLDER}/${name}`)),
      [false, false],
    )
    assert.equal((await cli(['rm', '--force', mine, foreign])).code, 0)
    assert.deepEqual(
      [mine, foreign].map((name) => fs.existsSync(`${FOLDER}/${name}`)),
      [false, false],
    )
    segment.tensor.fill(1) // who has it open keeps it
    segment.dispose()
  })

  it('removes both names of a ring, also where only one is left; and none while another process has it', async () => {
    const { SharedRing } = require('samebytes')
    const [name, half, used] = [fresh(), fresh(), fresh()]
    await left(
      `for (const name of ['${name}', '${half}', '${used}']) require('samebytes').SharedRing.create(name, [2], { slots: 2 })`,
    )
    fs.unlinkSync(`${FOLDER}/${half}`)
    const ring = SharedRing.open(used)
    ring.write(1)
    const busy = await cli(['rm', name, used])
    assert.deepEqual([busy.code, /ERR_BUSY/.test(busy.stderr)], [1, true])
    assert.deepEqual(await json('rm', name, half), { removed: [name, half] })
    assert.deepEqual(
      fs.readdirSync(FOLDER).filter((each) => each.includes(name) || each.includes(half)),
      [],
    )
    SharedRing.create(name, [2], { slots: 2 }).dispose()
    ring.dispose()
    assert.deepEqual(await json('rm', used), { removed: [used] })
    assert.deepEqual(
      fs.readdirSync(FOLDER).filter((each) => each.includes(used)),
      [],
    )
  })

  it('sweeps what dead processes left, and says before what it would', async () => {
    const [mine, dead, kept] = [fresh(), fresh(), fresh()]
    const segment = SharedTensor.create(mine, [2])
    await left(
      `SharedTensor.create('${dead}', [2])`,
      `SharedTensor.create('${kept}', [2], { persist: true })`,
    )
    const { found } = await json('sweep', '--dry-run')
    assert.deepEqual(
      [mine, dead, kept].map((name) => found.includes(name)),
      [false, true, false],
    )
    assert.ok(fs.existsSync(`${FOLDER}/${dead}`))
    assert.match((await cli(['sweep', '-n'])).stdout, new RegExp(`^would remove ${dead}$`, 'm'))
    const { code, stdout } = await cli(['sweep'])
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`^removed ${dead}$`, 'm'))
    assert.deepEqual(
      [mine, dead, kept].map((name) => fs.existsSync(`${FOLDER}/${name}`)),
      [true, false, true],
    )
    segment.dispose()
  })

  it('follows no link that somebody put into the folder', async () => {
    const name = fresh()
    fs.symlinkSync('/etc/hostname', `${FOLDER}/${name}`)
    const { code, stderr } = await cli(['info', name])
    assert.equal(code, 1)
    assert.match(stderr, /\(ERR_NOT_FOUND\)/)
  })
})
