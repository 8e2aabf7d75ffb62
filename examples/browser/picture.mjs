// The picture of the memory: a stripe for each tensor, with its content in it, and who looks at which.

import { prepareCanvas } from './plot.mjs'

const SVG = 'http://www.w3.org/2000/svg'

/** The tensors in the picture. Widths aren't to scale; the order is that of the addresses. */
const STRIPES = [
  { name: 'samples', label: 'samples', grow: 9 },
  { name: 'speech', label: 'speech', grow: 3.2 },
  { name: 'stateA', label: 'state A', grow: 2 },
  { name: 'stateB', label: 'state B', grow: 2 },
  { name: 'levels', label: 'levels', grow: 2.6 },
]

/** Builds the stripes of a job, in the order of their addresses. */
export function showStripes(bar, job) {
  const stripes = STRIPES.map((stripe) => ({
    ...stripe,
    at: Number(job[stripe.name].dataPtr),
    bytes: job[stripe.name].nbytes,
  }))
  stripes.sort((a, b) => a.at - b.at)
  bar.replaceChildren(
    plain('module', 'module'),
    ...stripes.map(stripeElement),
    plain('rest', 'free'),
  )
}

function plain(kind, text) {
  const element = document.createElement('div')
  element.className = `stripe ${kind}`
  element.append(document.createElement('span'))
  element.firstChild.append(text)
  return element
}

function stripeElement({ name, label, grow, at, bytes }) {
  const element = document.createElement('figure')
  element.className = 'stripe tensor'
  element.dataset.tensor = name
  element.style.flexGrow = grow
  const title = document.createElement('figcaption')
  title.innerHTML = `<b>${label}</b><span>${bytesText(bytes)}</span>`
  const address = document.createElement('code')
  address.textContent = hex(at)
  element.append(title, document.createElement('canvas'), address)
  return element
}

export function hex(address) {
  return '0x' + address.toString(16).padStart(6, '0')
}

export function bytesText(n) {
  if (n < 1024) return `${n} B`
  if (n < 2 ** 20) return `${Number((n / 1024).toFixed(n < 10240 ? 1 : 0))} KiB`
  return `${(n / 2 ** 20).toFixed(1)} MiB`
}

/** What is in the bytes right now. */
export function drawStripes(bar, now, colours) {
  for (const figure of bar.querySelectorAll('figure')) {
    const { g, width, height } = prepareCanvas(figure.querySelector('canvas'))
    const { tensor } = figure.dataset
    if (tensor === 'samples') drawSamples(g, width, height, now, colours)
    else if (tensor === 'speech') drawBars(g, width, height, now, (i) => now.speech[i], now.heard)
    else if (tensor === 'levels') {
      drawBars(g, width, height, now, (i) => 2.5 * now.levels[3 * i + 2], now.measured)
    } else drawState(g, width, height, now[tensor])
  }
}

function drawSamples(g, width, height, { count, heard, samples, running }, colours) {
  const columns = rangesOf(samples, Math.floor(width / 2))
  const peak = columns.reduce((most, { low, high }) => Math.max(most, high, -low), 0.05)
  g.fillStyle = '#fff'
  columns.forEach(({ low, high }, c) => {
    const top = (height / 2) * (1 - (0.9 * high) / peak)
    g.globalAlpha = (c / columns.length) * count < heard ? 1 : 0.45
    g.fillRect(c * 2, top, 1.4, Math.max(1, ((height / 2) * 0.9 * (high - low)) / peak))
  })
  g.globalAlpha = 1
  if (!running) return
  const x = Math.min(width - 9, (heard / count) * width)
  g.fillStyle = colours.window
  g.strokeStyle = '#fff'
  g.lineWidth = 2
  g.beginPath()
  g.roundRect(x, 1, 8, height - 2, 2)
  g.fill()
  g.stroke()
}

/** The lowest and highest of some samples in each column: a long recording has too many to read for each picture. */
function rangesOf(samples, columns) {
  const step = Math.max(1, Math.floor(samples.length / columns / 128))
  return Array.from({ length: columns }, (_, c) => {
    let [low, high] = [0, 0]
    const end = Math.floor(((c + 1) * samples.length) / columns)
    for (let i = Math.floor((c * samples.length) / columns); i < end; i += step) {
      const x = samples[i]
      if (x < low) low = x
      if (x > high) high = x
    }
    return { low, high }
  })
}

function drawBars(g, width, height, { count }, value, end) {
  const columns = Math.max(1, Math.floor(width / 2))
  g.fillStyle = '#fff'
  for (let c = 0; c < columns; c++) {
    const i = Math.floor((c * count) / columns)
    if (i >= end) break
    const tall = Math.max(1, Math.min(1, value(i)) * (height - 2))
    g.fillRect(c * 2, height - tall, 1.4, tall)
  }
}

/** 256 numbers as so many little squares. */
function drawState(g, width, height, values) {
  const columns = Math.max(8, Math.round(Math.sqrt((values.length * width) / height)))
  const rows = Math.ceil(values.length / columns)
  for (let i = 0; i < values.length; i++) {
    g.fillStyle = '#fff'
    g.globalAlpha = 0.08 + 0.92 * Math.min(1, Math.abs(values[i]))
    g.fillRect(
      ((i % columns) * width) / columns,
      (Math.floor(i / columns) * height) / rows,
      width / columns - 0.8,
      height / rows - 0.8,
    )
  }
  g.globalAlpha = 1
}

/** Lines from each reader to the stripes that it names in data-sees or data-copies: a tensor's lines run along a height of its own. */
export function connect(svg, bar, readers) {
  const frame = svg.getBoundingClientRect()
  const all = [...bar.querySelectorAll('[data-tensor]')].map(({ dataset }) => dataset.tensor)
  svg.replaceChildren()
  for (const reader of readers) {
    const box = reader.getBoundingClientRect()
    const names = namesOf(reader).sort((a, b) => all.indexOf(a) - all.indexOf(b))
    const copies = reader.dataset.copies !== undefined
    names.forEach((name, i) => {
      const stripe = bar.querySelector(`[data-tensor="${name}"]`)?.getBoundingClientRect()
      if (!stripe) return
      const x = box.left + (box.width * (i + 1)) / (names.length + 1) - frame.left
      const from = stripe.left + (stripe.width * (copies ? 2 : 1)) / 3 - frame.left
      const height = (frame.height * (all.length - all.indexOf(name))) / (all.length + 1)
      svg.append(line(from, x, height, frame.height, name, copies))
    })
  }
}

function namesOf({ dataset: { sees, copies } }) {
  return (sees ?? copies ?? '').split(' ').filter(Boolean)
}

function line(from, to, turn, height, name, copies) {
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', `M${from} 0 V${turn} H${to} V${height}`)
  path.setAttribute('class', copies ? 'copies' : 'sees')
  path.style.stroke = `var(--${name})`
  return path
}
