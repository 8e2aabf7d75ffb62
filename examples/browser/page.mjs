// The page: what the buttons do, and what is shown meanwhile.

import {
  arrayEqual,
  backend,
  empty,
  init,
  memory,
  share,
  tidy,
  wasmMemory,
} from './dist/samebytes.mjs'
import {
  CONTEXT,
  HOP,
  RATE,
  RUN,
  isSame,
  listener,
  loadModel,
  plainLoop,
  prepare,
  release,
} from './listener.mjs'
import { measure } from './levels.mjs'
import { decode, play, record } from './sound.mjs'
import { bytesText, connect, drawStripes, hex, showStripes } from './picture.mjs'
import { drawPlot } from './plot.mjs'

const START = 4 * 2 ** 20 // bytes of memory, so that there is room to grow
const STEP = 8 * 2 ** 20 // bytes that "Grow memory now" takes
const MOST = 512 * 2 ** 20 // bytes that it stops at
const BUNDLED = 'The bundled recording'
const SPEECH = 0.5 // from this probability on

const $ = (id) => document.getElementById(id)
const query = new URLSearchParams(location.search)
const pace = Number(query.get('speed') ?? 1) // times real time
const recordSeconds = Number(query.get('seconds') ?? 30) // of the microphone
const group = (n) => n.toLocaleString('en-US')

/** What runs, or ran last; null before the first. */
let run = null
let session
let bundled
const grown = [] // tensors that "Grow memory now" made

// ---- Starting ----

async function start() {
  await init({ shared: 'auto', initialMemory: START })
  describe()
  ;[session, bundled] = await Promise.all([loadModel(), fetched('./recording.wav').then(decode)])
  begin(BUNDLED, bundled.length, writeSound(bundled))
  enable(true)
}

const isShared = () => backend() === 'wasm-shared'

async function fetched(url) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response.arrayBuffer()
}

/** What differs with and without isolation. */
function describe() {
  $('kind').textContent = isShared()
    ? '· SharedArrayBuffer, seen by all threads'
    : '· ArrayBuffer, one thread: the page is not isolated'
  if (isShared()) return
  $('thread-words').textContent = 'every view'
  $('worker').classList.add('absent')
  $('worker').dataset.sees = ''
  $('worker-words').textContent =
    'Needs an isolated page. In this one the page measures the waveform.'
}

// ---- A run ----

/** Everything of the last run goes, and what the next one needs is made. */
function begin(title, length, fill) {
  const last = run
  run = null // what follows may fail
  if (last !== null) {
    signal(last, -1)
    release(last.job)
  }
  const before = memory()
  const job = prepare(length)
  run = {
    title,
    job,
    heard: 0,
    seconds: length / RATE,
    before,
    brought: { count: 0, bytes: 0 },
    messages: 0,
    marks: [],
    runs: 0,
    active: false,
    stopped: false,
    checks: null,
    stop() {},
    wake() {},
  }
  showStripes($('bar'), job)
  showHeld()
  link()
  if (isShared()) startWorker(run)
  fill(run)
  return run
}

function startWorker(mine) {
  const { windows, levels, progress } = mine.job
  const worker = new Worker('./worker.mjs', { type: 'module' })
  worker.onerror = (event) => trouble(new Error(`worker: ${event.message}`))
  worker.onmessage = () => {
    mine.messages++
  }
  worker.postMessage({ windows: share(windows), levels: share(levels), progress: share(progress) })
  mine.messages++
}

/** From the browser's buffer into the tensor's bytes: copied once, since the browser has no other way. */
const writeSound = (sound) => (mine) => {
  const { job } = mine
  tidy(() => {
    job.samples.narrow(0, CONTEXT, sound.length).copyFrom(sound.getChannelData(0))
  })
  bring(mine, 4 * sound.length)
  signal(mine, job.count)
}

function bring({ brought }, bytes) {
  brought.count++
  brought.bytes += bytes
}

/** So many windows are there: measured by the worker, which sleeps on this number, or here. */
function signal({ job: { progress, windows, levels } }, there) {
  const steps = progress.data
  if (isShared()) {
    Atomics.store(steps, 0, there)
    Atomics.notify(steps, 0)
  } else if (there > steps[1]) {
    measure({ windows, levels }, steps[1], there)
    steps[1] = there
  }
}

async function listen(mine, whenThere) {
  mine.active = true
  document.body.classList.add('running')
  enable(false)
  try {
    await hearAll(mine, whenThere)
    mine.active = false
    mine.checks = await check(mine)
  } finally {
    mine.active = false
    document.body.classList.remove('running')
    enable(true)
  }
}

async function hearAll(mine, whenThere) {
  const { job } = mine
  const ears = listener(session, job)
  bring(mine, 8) // the sample rate, as a tensor
  mine.loopFrom = memory()
  try {
    for (let i = 0; i < job.count; i++) {
      await whenThere(i)
      if (mine.stopped) break
      await ears.hear(i)
      mine.heard = i + 1
      mine.runs++
    }
  } finally {
    ears.dispose()
    mine.loopEnd = memory()
    mine.stop()
  }
}

/** Window i of a recording is there when it would have been heard. */
function clock() {
  const from = performance.now()
  let shown = from
  return async (i) => {
    const due = from + ((((i + 1) * HOP) / RATE) * 1000) / pace
    const wait = due - performance.now()
    if (wait > 0) await later(wait)
    else if (performance.now() - shown > 30) {
      await later(0)
    } // the page is drawn in between
    else return
    shown = performance.now()
  }
}

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function check(mine) {
  const { job, heard, loopFrom, loopEnd } = mine
  const plain = await plainLoop(session, job.samples.data.slice(), heard)
  if (isShared()) await until(() => job.progress.data[1] >= heard)
  return {
    heard,
    count: job.count,
    identical: isSame(job.speech, plain),
    levels: levelsAreRight(job, heard),
    inLoop: copiedSince(loopFrom.copied, loopEnd.copied),
    staged: less(loopEnd.staged, loopFrom.staged),
    beyond: beyond(mine, loopEnd),
    grown: loopEnd.grown - loopFrom.grown,
    segments: segmentsOf(job.speech.data, heard),
  }
}

async function until(isSo) {
  for (let i = 0; i < 200 && !isSo(); i++) await later(10)
}

/** Whether what was measured, by whichever thread, is what this thread gets. */
function levelsAreRight({ windows, levels }, heard) {
  return tidy(() => {
    const again = empty(levels.shape)
    measure({ windows, levels: again }, 0, heard)
    return arrayEqual(again.narrow(0, 0, heard), levels.narrow(0, 0, heard))
  })
}

function segmentsOf(speech, heard) {
  let segments = 0
  for (let i = 0; i < heard; i++) {
    if (speech[i] >= SPEECH && (i === 0 || speech[i - 1] < SPEECH)) segments++
  }
  return segments
}

/** How memory().copied grew from one look to the next. */
function copiedSince(before, after) {
  const rows = {}
  for (const [reason, { count, bytes }] of Object.entries(after)) {
    const was = before[reason] ?? { count: 0, bytes: 0 }
    if (count > was.count) rows[reason] = less({ count, bytes }, was)
  }
  return rows
}

// ---- Buttons ----

$('run').onclick = attempt(async () => {
  const isNew = run?.title === BUNDLED && run.runs === 0 // as the page began
  await listenTo(isNew ? run : begin(BUNDLED, bundled.length, writeSound(bundled)), bundled)
})

$('pick').onchange = attempt(async () => {
  const [file] = $('pick').files
  $('pick').value = ''
  if (file) await openFile(file)
})

document.ondragover = (event) => event.preventDefault()
document.ondrop = attempt(async (event) => {
  event.preventDefault()
  const [file] = event.dataTransfer.files
  if (file && !$('run').disabled) await openFile(file)
})

async function openFile(file) {
  let sound
  try {
    sound = await decode(await file.arrayBuffer())
  } catch (error) {
    throw new Error(`${file.name} is no sound that this browser can decode`, { cause: error })
  }
  await listenTo(begin(file.name, sound.length, writeSound(sound)), sound)
}

async function listenTo(mine, sound) {
  if ($('aloud').checked && pace === 1) mine.stop = play(sound)
  await listen(mine, clock())
}

$('microphone').onclick = attempt(async () => {
  enable(false)
  const mine = begin(
    isShared() ? 'The microphone, written here by the audio thread' : 'The microphone',
    recordSeconds * RATE,
    () => {},
  )
  mine.there = 0
  try {
    mine.stop = await record(mine.job.samples, isShared(), (samples, copied) => {
      if (mine !== run || mine.stopped) return
      if (copied > 0) bring(mine, copied)
      mine.there = samples >= recordSeconds * RATE ? mine.job.count : Math.floor(samples / HOP)
      signal(mine, mine.there)
      mine.wake()
    })
  } catch (error) {
    enable(true)
    throw new Error(`no microphone: ${error.message}`, { cause: error })
  }
  await listen(mine, async (i) => {
    while (mine.there <= i && !mine.stopped) {
      await new Promise((resolve) => {
        mine.wake = resolve
      })
    }
  })
})

$('stop').onclick = () => {
  run.stopped = true
  run.wake()
}

/** Tensors are made until memory has grown: whoever listens meanwhile notices nothing. */
$('grow').onclick = attempt(async () => {
  if (run === null) throw new Error('there is nothing in memory that could stay where it is')
  const old = wasmMemory().buffer
  const from = old.byteLength
  if (from >= MOST) {
    throw new Error(`memory has ${bytesText(from)}; that is enough for a demonstration`)
  }
  const at = Number(run.job.samples.dataPtr)
  while (wasmMemory().buffer.byteLength === from) grown.push(empty([STEP], { dtype: 'uint8' }))
  const to = wasmMemory().buffer.byteLength
  const sizes = `${bytesText(from)} → ${bytesText(to)}`
  if (run.active) run.marks.push({ at: run.heard, text: `grew ${sizes}` })
  $('size').dataset.change = sizes
  run.growth = {
    sizes,
    at: run.active ? run.heard : null,
    stayed: Number(run.job.samples.dataPtr) === at,
    old: isShared()
      ? 'old views still show their part'
      : `the old ArrayBuffer has ${old.byteLength} bytes now, views are taken anew`,
  }
  showHeld()
  link()
})

/** A handler of an event; what it throws is shown. */
function attempt(handler) {
  return (event) => {
    $('trouble').hidden = true
    Promise.resolve(handler(event)).catch(trouble)
  }
}

function trouble(error) {
  $('trouble').textContent = error.message
  $('trouble').hidden = false
}

function enable(on) {
  for (const id of ['run', 'pick', 'microphone']) $(id).disabled = !on
  $('pick-label').style.opacity = on ? 1 : 0.45
  $('microphone').disabled = !on || !navigator.mediaDevices
  $('grow').disabled = session === undefined
  $('stop').hidden = on
}

// ---- What is shown ----

/** The stripe of what "Grow memory now" took. */
function showHeld() {
  $('bar').querySelector('.held')?.remove()
  if (grown.length === 0) return
  const stripe = document.createElement('div')
  stripe.className = 'stripe held'
  stripe.style.flexGrow = 2.4
  stripe.innerHTML = `<b>new</b>${bytesText(grown.length * STEP)}<code>${hex(Number(grown[0].dataPtr))}</code>`
  $('bar').querySelector('.rest').before(stripe)
}

function link() {
  connect($('links'), $('bar'), $('readers').children)
}

let colours
function readColours() {
  const style = getComputedStyle(document.documentElement)
  const of = (name) => style.getPropertyValue(`--${name}`).trim()
  colours = {
    samples: of('samples'),
    speech: of('speech'),
    faint: of('faint'),
    line: of('line'),
    ground: of('card'),
    ink: of('ink'),
    dim: of('dim'),
    grown: of('grown'),
    onGrown: of('card'),
    window: '#ffffff80',
  }
}

function draw() {
  if (run !== null) {
    const { job, heard, seconds, marks, active } = run
    const now = { count: job.count, heard, seconds, marks, running: active }
    // Taken anew for each picture, since memory may have grown: this makes views, not copies.
    for (const name of ['samples', 'speech', 'stateA', 'stateB', 'levels']) {
      now[name] = job[name].data
    }
    now.measured = job.progress.data[1]
    drawStripes($('bar'), now, colours)
    drawPlot($('plot'), now, colours)
    showTexts(now)
  }
  requestAnimationFrame(draw)
}

function showTexts({ heard, count, measured, seconds, speech }) {
  const { job, runs, title, active } = run
  const at =
    heard > 0
      ? `, ${((heard * HOP) / RATE).toFixed(1)} of ${seconds.toFixed(1)} s`
      : `, ${seconds.toFixed(1)} s`
  set('title', title + at)
  set('js-fact', `drawing from ${hex(Number(job.samples.dataPtr))}`)
  set(
    'c-fact',
    heard > 0
      ? `window ${heard - 1}: p = ${speech[heard - 1].toFixed(3)} stored`
      : `${count} windows are views`,
  )
  set(
    'worker-fact',
    isShared() ? `${group(measured)} windows, ${run.messages} message: the tokens` : '',
  )
  set(
    'ort-fact',
    runs > 0
      ? `${bytesText(runs * RUN.in)} in, ${bytesText(runs * RUN.out)} out`
      : `per window ${group(RUN.in)} B in, ${group(RUN.out)} B out`,
  )
  const size = wasmMemory().buffer.byteLength
  const change = $('size').dataset.change
  setHtml(
    'size',
    change
      ? `memory grew: <b class="grew">${change}</b>, addresses stayed`
      : `0x000000 – ${hex(size)} · <b>${bytesText(size)}</b>`,
  )
  showCounters(memory(), active)
}

function showCounters(counts) {
  const { tensors, storages, bytes, grown: times } = counts
  const rows = [
    ['tensors', group(tensors)],
    ['storages', group(storages)],
    ['bytes in WASM', bytesText(bytes.wasm)],
    ['grown', times],
  ]
  setHtml(
    'counters',
    rows
      .map(
        ([name, value]) =>
          `<div><dt>${name}</dt><dd${name === 'grown' && value > 0 ? ' class="grew"' : ''}>${value}</dd></div>`,
      )
      .join(''),
  )
  showCopies(counts)
  showChecks()
}

/** What memory() counted since a run began, less what this page asked for. */
function beyond({ before, brought, runs, loopEnd }, counts) {
  const total = sum(copiedSince(before.copied, (loopEnd ?? counts).copied))
  return {
    count: total.count - brought.count - 2 * runs,
    bytes: total.bytes - brought.bytes - runs * RUN.out,
  }
}

/** By whom what was copied: what this page asked for, and whatever else memory() counted meanwhile. */
function showCopies(counts) {
  const { brought, runs, before, loopEnd } = run
  const rest = beyond(run, counts)
  const staged = less((loopEnd ?? counts).staged, before.staged)
  const rows = [
    ['samebytes: the sound and its rate into tensors', brought.count, brought.bytes, ''],
    ['samebytes: answers out of onnxruntime-web', 2 * runs, runs * RUN.out, ''],
    ['samebytes: temporaries on their way (staged)', staged.count, staged.bytes, ''],
    ['samebytes: anything else', rest.count, rest.bytes, ''],
    ['onnxruntime-web: into its memory', 3 * runs, runs * RUN.in, 'other'],
    ['onnxruntime-web: out of its memory', 2 * runs, runs * RUN.out, 'other'],
  ]
  setHtml(
    'copies',
    rows
      .map(
        ([what, count, bytes, kind]) =>
          `<tr class="${kind}"><td>${what}</td><td>${group(count)}</td><td>${group(bytes)}</td></tr>`,
      )
      .join(''),
  )
}

function showChecks() {
  const { checks, growth, heard } = run
  const item = (state, text) =>
    `<li class="${state === null ? 'pending' : state ? 'yes' : 'no'}"><span>${text}</span></li>`
  const inLoop = checks && sum(checks.inLoop)
  const items = [
    checks
      ? item(
          checks.identical,
          `identical to the plain loop: <b>${checks.identical ? 'yes' : 'no'}</b>, all ${group(checks.heard)} probabilities`,
        )
      : item(null, 'identical to the plain loop: compared at the end'),
    checks
      ? item(
          isOnlyAnswers(checks),
          `copied by samebytes per window: ${group(Math.round(inLoop.bytes / checks.heard || 0))} bytes, the dashed way back`,
        )
      : item(null, 'per window, the only copies are the dashed ones'),
    checks
      ? item(
          checks.levels,
          isShared()
            ? "the worker's waveform equals this thread's own"
            : 'the waveform, measured twice, is the same',
        )
      : item(
          null,
          isShared()
            ? 'the worker reads the same bytes while they are used'
            : 'one thread measures and listens',
        ),
  ]
  if (growth) {
    const after =
      growth.at !== null && heard > growth.at
        ? `, ${group(heard - growth.at)} windows heard since`
        : ''
    items.push(
      item(growth.stayed, `memory grew ${growth.sizes}${after}; no address changed, ${growth.old}`),
    )
  } else {
    items.push(item(null, 'memory may grow at any time: press “Grow memory now”'))
  }
  setHtml('checks', items.join(''))
}

/** Was nothing copied but the two answers of each window? */
function isOnlyAnswers({ heard, inLoop, beyond }) {
  const { count, bytes } = sum(inLoop)
  return (
    count === 2 * heard && bytes === RUN.out * heard && beyond.count === 0 && beyond.bytes === 0
  )
}

function less(a, b) {
  return { count: a.count - b.count, bytes: a.bytes - b.bytes }
}

function sum(copies) {
  return Object.values(copies).reduce(
    (all, { count, bytes }) => ({ count: all.count + count, bytes: all.bytes + bytes }),
    { count: 0, bytes: 0 },
  )
}

/** Text or markup that is put in only where it changed. */
const shown = new Map()
function setHtml(id, html) {
  if (shown.get(id) === html) return
  shown.set(id, html)
  $(id).innerHTML = html
}

function set(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text
}

readColours()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', readColours)
addEventListener('resize', link)

/** For the test, and for the curious in the console. */
globalThis.demo = {
  get run() {
    return run
  },
  get memory() {
    return memory()
  },
  get bytes() {
    return wasmMemory().buffer.byteLength
  },
}

start().then(() => requestAnimationFrame(draw), trouble)
