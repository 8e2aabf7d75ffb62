'use strict'
// A ring that Node makes: a program in another language reads it while another process of that program writes; Node looks at the end.
//
//   node examples/rings.js go|rust

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { SharedRing } = require('samebytes')

const FRAMES = 1000
const COMPILERS = {
  go: (to) => ['go', 'build', '-o', to, 'ring.go'],
  rust: (to) => ['rustc', '-O', '-o', to, 'ring.rs'],
}

function compile(language, to) {
  const [command, ...args] = COMPILERS[language](to)
  const { error, status } = spawnSync(command, args, {
    cwd: path.join(__dirname, `ring-in-${language}`),
    stdio: 'inherit',
  })
  if (error?.code === 'ENOENT') {
    throw new Error(
      `${command} is missing; on Debian: apt-get install ${language === 'go' ? 'golang-go' : 'rustc'}`,
    )
  }
  if (error || status !== 0) throw error ?? new Error(`${command} failed`)
}

async function main(language) {
  if (!Object.hasOwn(COMPILERS, language)) throw new Error('go or rust?')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'samebytes-ring-'))
  const name = `samebytes-ring-${process.pid}`
  try {
    const program = path.join(folder, 'ring')
    compile(language, program)
    const ring = SharedRing.create(name, [100], { slots: 4, dtype: 'int32' })
    const start = (...args) =>
      spawn(program, [...args, name, String(FRAMES)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const reader = start('read')
    const closed = once(reader, 'close')
    let said = ''
    reader.stdout.on('data', (text) => {
      said += text
    })
    await Promise.race([once(reader.stdout, 'data'), closed]) // it is ready
    const [written] = await once(start('write'), 'exit')
    const [read] = await closed
    if (written !== 0 || read !== 0) throw new Error('a process failed')
    console.log(`  ${language}: ${said.trim().split('\n').at(-1)}`)
    const {
      value: { index, tensor },
    } = await ring.read({ from: FRAMES - 1 }).next()
    console.log(`  Node: frame ${index} begins with ${tensor.get(0)}`)
    ring.dispose()
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
    if (fs.existsSync(`/dev/shm/${name}`)) SharedRing.unlink(name)
  }
}

main(process.argv[2]).catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
