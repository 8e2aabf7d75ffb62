'use strict'
// Algorithms on many more numbers than the tests draw: random shapes, dtypes and layouts beside NumPy, with all cases of SAMEBYTES_FULL=1, and the same bits on
// each instruction set, number of threads and back end. What fails names its SAMEBYTES_SEED.
//
//   node test/math/seeds.js [COUNT] [FIRST]    seeds FIRST to FIRST + COUNT - 1; 5 and 1 where none are given

const path = require('node:path')
const { spawnSync } = require('node:child_process')

const ROOT = path.join(__dirname, '..', '..')
const FILES = ['order', 'matrices', 'linalg', 'signals', 'images', 'boxes', 'norms'].map(
  (name) => `test/math/${name}.test.js`,
)
const HASHES = "console.log(JSON.stringify(require('./test/math/algorithm-hashes').hashes()))"
/** What has to give the bits of the first one. */
const WAYS = [
  { SAMEBYTES_BACKEND: 'native' },
  { SAMEBYTES_BACKEND: 'native', SAMEBYTES_ISA: 'avx2', SAMEBYTES_THREADS: '1' },
  { SAMEBYTES_BACKEND: 'native', SAMEBYTES_ISA: 'scalar', SAMEBYTES_THREADS: '3' },
  { SAMEBYTES_BACKEND: 'wasm' },
].filter(({ SAMEBYTES_ISA: level }) => process.arch === 'x64' || level !== 'avx2')

const run = (args, env) =>
  spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })

/** @returns {{ passed: number, failed: number, told: string }} */
function besideNumpy(seed) {
  const { status, stdout, stderr } = run(['test/run.js', ...FILES, '--backend', 'native'], {
    SAMEBYTES_FULL: '1',
    SAMEBYTES_SEED: `${seed}`,
  })
  const [, passed = 0, failed = 1] = /^(\d+) passed, (\d+) failed/m.exec(stdout) ?? []
  return {
    passed: Number(passed),
    failed: status === 0 ? 0 : Math.max(Number(failed), 1),
    told: `${stdout}${stderr}`,
  }
}

/** @returns {string[]} the functions and dtypes whose bits differ from those of the first way */
function differences(seed) {
  const [wanted, ...others] = WAYS.map((way) => {
    const { status, stdout, stderr } = run(['-e', HASHES], { ...way, SAMEBYTES_SEED: `${seed}` })
    if (status !== 0) throw new Error(`${JSON.stringify(way)}: ${stderr}`)
    return JSON.parse(stdout)
  })
  return others.flatMap((found, i) =>
    Object.keys(wanted).flatMap((name) =>
      Object.keys(wanted[name])
        .filter((dtype) => found[name][dtype] !== wanted[name][dtype])
        .map((dtype) => `${JSON.stringify(WAYS[i + 1])}: ${name} of ${dtype}`),
    ),
  )
}

function main([count = '5', first = '1']) {
  let passed = 0
  let failed = 0
  for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
    const numpy = besideNumpy(seed)
    const differing = differences(seed)
    console.log(
      `SAMEBYTES_SEED=${seed}: ${numpy.passed} passed and ${numpy.failed} failed beside NumPy, ${differing.length} differ between ${WAYS.length} ways`,
    )
    if (numpy.failed > 0) console.log(numpy.told)
    for (const line of differing) console.log(line)
    passed += numpy.passed + (differing.length === 0 ? 1 : 0)
    failed += numpy.failed + differing.length
  }
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
}

main(process.argv.slice(2))
