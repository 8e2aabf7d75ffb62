'use strict'
// Another user of the machine puts links, pipes and segments where names are made and opened: in /dev/shm, and in a folder that
// everybody may write to. What they lead to is never written, nobody waits for a pipe, and what says who made a segment is not
// believed. Needs root, who alone can be two users.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const s = require('samebytes')
const { used } = require('../witness')

const { SharedRing, SharedTensor } = s
const OTHER = 65534 // nobody
const SHM = '/dev/shm'
const SECRET = Buffer.alloc(5000, 'secret ')

let folder
let victim

function before() {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'users-'))
  fs.chmodSync(folder, 0o755)
  fs.chmodSync(path.dirname(folder), 0o755) // the runner's
  fs.mkdirSync(path.join(folder, 'all'))
  fs.chmodSync(path.join(folder, 'all'), 0o1777)
  victim = path.join(folder, 'victim')
}

function after() {
  fs.rmSync(folder, { recursive: true, force: true })
}

/** What the other user does: a shell as that user. */
const asOther = (script, ...args) =>
  spawnSync('sh', ['-c', script, 'sh', ...args], {
    uid: OTHER,
    gid: OTHER,
    cwd: '/',
    env: { PATH: process.env.PATH },
  }).status

/** What is planted under a name; $1: the name, $2: what is to be overwritten. */
const PLANTS = {
  nothing: '',
  'a link to a file': 'ln -s "$2" "$1"',
  'a link to nothing': 'ln -s "$2.new" "$1"',
  'a link to itself': 'ln -s "$1" "$1"',
  'a link to a device': 'ln -s /dev/zero "$1"',
  'another name of a file': 'ln "$2" "$1"',
  'a pipe': 'mkfifo "$1" && chmod 666 "$1"',
  'a folder': 'mkdir "$1"',
  'a file of theirs': 'head -c 4096 /dev/zero > "$1"; chmod 666 "$1"',
  'a file that nobody may read': 'echo x > "$1"; chmod 0 "$1"',
  'an empty file': ': > "$1"; chmod 666 "$1"',
}

const TAGS =
  'i=$(stat -c %i "$1" 2>/dev/null || stat -c %i /dev/shm); for n in 0 1 2 3 4 5; do ln -s "$2" "/dev/shm/.samebytes-$((i + n))"; done 2>/dev/null'

/** What is called with a name that they have. */
const ofShm = (name) => ({
  create: (r) =>
    SharedTensor.create(name, [4], {
      ifExists: r.pick([undefined, 'error', 'open', 'replace']),
    }).dispose(),
  'create, then fill': (r) => {
    const made = SharedTensor.create(name, [400], {
      ifExists: r.pick([undefined, 'open', 'replace']),
    })
    made.tensor.fill(1)
    made.dispose()
  },
  open: (r) => {
    const made = SharedTensor.open(
      name,
      r.pick([{}, { mode: 'r', guard: true }, { format: 'raw', dtype: 'uint8', guard: true }]),
    )
    made.tensor.clone()
    made.dispose()
  },
  unlink: () => SharedTensor.unlink(name),
  list: () => SharedTensor.list(),
  'ring: create': (r) => {
    const ring = SharedRing.create(name, [3], {
      slots: 2,
      ifExists: r.pick([undefined, 'open', 'replace']),
    })
    ring.write(1)
    ring.dispose()
  },
  'ring: open': () => SharedRing.open(name).dispose(),
  'ring: unlink': () => SharedRing.unlink(name),
})
const tensors = () => ({ a: s.full([100], 3) })
const ofFiles = (at) => ({
  saveNpy: (r) => s.saveNpy(at, tensors().a, { ifExists: r.pick(['error', 'replace']) }),
  saveNpySync: () => s.saveNpySync(at, tensors().a),
  saveNpz: () => s.saveNpz(at, tensors()),
  saveSafetensorsSync: () => s.saveSafetensorsSync(at, tensors()),
  createNpy: (r) => s.createNpy(at, [30], { ifExists: r.pick(['error', 'replace']) }).fill(1),
})

async function run(program) {
  const { r } = program
  for (let i = program.long ? 20 : 6; i > 0; i--) {
    fs.writeFileSync(victim, SECRET)
    fs.chmodSync(victim, 0o644)
    fs.rmSync(`${victim}.new`, { force: true })
    const isFile = r.next(3) === 0
    const name = `sb-hostile-${process.pid}-${r.next(1e6)}`
    // A save goes where the caller's own link leads, so whoever saves among links of others has to know it.
    const plant = r.pick(
      Object.keys(PLANTS).filter((plant) => !isFile || plant !== 'a link to a file'),
    )
    const control = !isFile && r.rarely(3) ? '.control' : ''
    const at = isFile ? path.join(folder, 'all', `${name}.npy`) : path.join(SHM, name)
    asOther(PLANTS[plant], at + control, victim)
    // Who made a segment is said by a link beside it, named by the file's number: theirs say it was us, or somebody dead, of files that are there and of the next ones.
    if (!isFile && r.rarely(3)) asOther(TAGS, at, `${r.pick([process.pid, 1])}:1:1:0:${name}`)
    const calls = isFile ? ofFiles(at) : ofShm(name)
    for (let n = r.between(1, 4); n > 0; n--) {
      const call = r.pick(Object.keys(calls))
      await program.later(`${call} where there is ${plant}`, async () => calls[call](r))
      const now = fs.readFileSync(victim)
      if (!now.equals(SECRET)) {
        program.fail(`${call} where there is ${plant}: the file that it leads to was written`)
      }
      if (fs.existsSync(`${victim}.new`)) {
        program.fail(`${call} where there is ${plant}: the file that it leads to was made`)
      }
    }
    for (const each of [at, at + control, `${at}.control`]) {
      fs.rmSync(each, { recursive: true, force: true })
    }
  }
  used(program, 'in the end', s.full([3], 1))
}

module.exports = {
  backends: ['native'],
  programs: 12,
  missing: () =>
    process.getuid() !== 0
      ? 'needs root, who can be two users'
      : asOtherWorks()
        ? ''
        : 'another user cannot be had here',
  before,
  after,
  run,
}

function asOtherWorks() {
  try {
    return (
      execFileSync('id', ['-u'], { uid: OTHER, gid: OTHER, encoding: 'utf8', cwd: '/' }).trim() ===
      String(OTHER)
    )
  } catch {
    return false
  }
}
