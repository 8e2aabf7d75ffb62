// Camera → tensor → filter → canvas. The browser writes each frame straight into a tensor's bytes, filters read and write
// tensors in the same memory, and the canvas is drawn from the result's bytes.
import { empty, init, memory, tidy } from 'samebytes'
import { filtersOf, loadKernels } from './filters.mjs'

const $ = (id) => document.getElementById(id)
const state = (globalThis.camera = {
  frames: 0,
  filter: 'edges',
  paused: false,
  isStopped: false,
  isIdle: true,
  copied: null,
  staged: null,
})

function say(text) {
  $('trouble').textContent = text
  $('trouble').hidden = text === ''
}

async function main() {
  await init()
  const filters = filtersOf(await loadKernels(await (await fetch('edges.wasm')).arrayBuffer()))
  for (const name of Object.keys(filters)) {
    const button = Object.assign(document.createElement('button'), { textContent: name, id: name })
    button.onclick = () => choose(name)
    $('filters').append(button)
  }
  choose(state.filter)
  $('start').onclick = () => start(filters).catch((error) => say(`${error.name}: ${error.message}`))
  $('start').disabled = false
  $('stop').onclick = () => {
    state.isStopped = true
  }
  state.ready = true
}

function choose(name) {
  state.filter = name
  for (const button of $('filters').children) {
    button.setAttribute('aria-pressed', String(button.id === name))
  }
}

async function start(filters) {
  $('start').disabled = true
  state.isStopped = false
  say('')
  let stream
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 } })
    $('stop').disabled = false
    const video = Object.assign(document.createElement('video'), {
      srcObject: stream,
      muted: true,
      playsInline: true,
    })
    await video.play()
    await run(video, filters)
  } finally {
    for (const track of stream?.getTracks() ?? []) track.stop()
    $('stop').disabled = true
    $('start').disabled = false
  }
}

async function run(video, filters) {
  const [height, width] = [video.videoHeight, video.videoWidth]
  const [from, to] = [empty([height, width, 4], 'uint8'), empty([height, width, 4], 'uint8')]
  Object.assign(state, { from, to, width, height })
  const [before, after] = ['before', 'canvas'].map((id) =>
    Object.assign($(id), { width, height }).getContext('2d'),
  )
  while (!state.isStopped) {
    await Promise.race([
      new Promise((resolve) => video.requestVideoFrameCallback(resolve)),
      new Promise((resolve) => setTimeout(resolve, 1000)),
    ]) // Stop is heard without frames, too
    state.isIdle = state.paused
    if (state.paused) continue
    const frame = new VideoFrame(video)
    const started = performance.now()
    try {
      await from.copyFromAsync(frame) // the browser converts into the tensor's bytes
    } finally {
      frame.close()
    }
    tidy(() => {
      filters[state.filter](from, to)
    }) // views that a filter makes go with it
    draw(before, from)
    draw(after, to)
    show(performance.now() - started)
  }
  for (const t of [from, to]) t.dispose()
}

function draw(context, t) {
  const { buffer, byteOffset } = t.data // taken anew each time: memory may have grown
  context.putImageData(
    new ImageData(new Uint8ClampedArray(buffer, byteOffset, t.size), t.shape[1], t.shape[0]),
    0,
    0,
  )
}

function show(milliseconds) {
  const { copied, staged, tensors } = memory()
  Object.assign(state, { frames: state.frames + 1, copied, staged, tensors })
  $('facts').textContent =
    `frame ${state.frames}, ${state.width} × ${state.height}: ${milliseconds.toFixed(1)} ms; ` +
    `from at 0x${state.from.dataPtr.toString(16)}, to at 0x${state.to.dataPtr.toString(16)}; ${tensors} tensors; ` +
    `staged: ${staged.count === 0 ? 'nothing' : `${staged.bytes} bytes`}`
}

main().catch((error) => say(`${error.name}: ${error.message}`))
