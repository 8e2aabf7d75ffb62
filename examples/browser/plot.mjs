// The recording over time: its waveform, the probability of speech over it, and where speech was heard.

const BAR = 3 // pixels
const GAP = 1

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {{ g: CanvasRenderingContext2D, width: number, height: number }} in CSS pixels, sharp on any screen
 */
export function prepareCanvas(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas
  const scale = devicePixelRatio
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
  }
  const g = canvas.getContext('2d')
  g.setTransform(scale, 0, 0, scale, 0, 0)
  g.clearRect(0, 0, width, height)
  return { g, width, height }
}

/**
 * The lowest and highest sample and the loudest window in each column.
 *
 * @param {Float32Array} levels  [count, 3]
 * @param {number} measured  windows that have been
 */
export function columnsOf(levels, count, measured, columns) {
  return Array.from({ length: columns }, (_, c) => {
    const first = Math.floor((c * count) / columns)
    const end = Math.min(measured, Math.max(first + 1, Math.floor(((c + 1) * count) / columns)))
    let [low, high, loud] = [0, 0, 0]
    for (let i = first; i < end; i++) {
      low = Math.min(low, levels[3 * i])
      high = Math.max(high, levels[3 * i + 1])
      loud = Math.max(loud, levels[3 * i + 2])
    }
    return { first, low, high, loud }
  })
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{ count: number, measured: number, heard: number, levels: Float32Array, speech: Float32Array,
 *   seconds: number, marks: { at: number, text: string }[] }} what
 * @param {Record<string, string>} colours
 */
export function drawPlot(
  canvas,
  { count, measured, heard, levels, speech, seconds, marks },
  colours,
) {
  const { g, width, height } = prepareCanvas(canvas)
  const axis = 20
  const plot = height - axis
  const middle = plot / 2
  const columns = columnsOf(
    levels,
    count,
    measured,
    Math.max(1, Math.min(count, Math.floor(width / (BAR + GAP)))),
  )
  const step = width / columns.length
  const peak = Math.max(0.05, ...columns.map(({ low, high }) => Math.max(high, -low)))

  grid(g, width, plot, colours)
  columns.forEach(({ first, low, high }, c) => {
    const top = middle - (high / peak) * (middle - 8)
    const bottom = middle - (low / peak) * (middle - 8)
    const isHeard = first < heard
    g.fillStyle = isHeard ? colours.samples : colours.faint
    g.globalAlpha = !isHeard || speech[first] >= 0.5 ? 1 : 0.4
    g.beginPath()
    g.roundRect(
      c * step,
      Math.min(top, middle - 1),
      Math.max(1, step - GAP),
      Math.max(2, bottom - top),
      1.5,
    )
    g.fill()
  })
  g.globalAlpha = 1
  spoken(g, { width, plot, count, heard, speech }, colours)
  probability(g, { width, plot, count, heard, speech }, colours)
  for (const { at, text } of marks) flag(g, (at / count) * width, text, width, plot, colours)
  if (heard > 0 && heard < count) head(g, (heard / count) * width, plot, colours)
  times(g, width, height, seconds, colours)
}

function grid(g, width, plot, colours) {
  g.strokeStyle = colours.line
  g.lineWidth = 1
  g.setLineDash([3, 4])
  g.beginPath()
  g.moveTo(0, plot / 2)
  g.lineTo(width, plot / 2)
  g.stroke()
  g.setLineDash([])
  g.beginPath()
  g.moveTo(0, plot + 0.5)
  g.lineTo(width, plot + 0.5)
  g.stroke()
}

/** Where somebody speaks: a band under the waveform. */
function spoken(g, { width, plot, count, heard, speech }, colours) {
  g.fillStyle = colours.speech
  for (let i = 0; i < heard; i++) {
    if (speech[i] >= 0.5) g.fillRect((i / count) * width, plot - 3, width / count + 0.5, 4)
  }
}

/** A line over the waveform: 1 at the top, 0 at the axis. */
function probability(g, { width, plot, count, heard, speech }, colours) {
  if (heard === 0) return
  const x = (i) => ((i + 0.5) / count) * width
  const y = (i) => plot - 2 - speech[i] * (plot - 6)
  g.beginPath()
  g.moveTo(0, y(0))
  for (let i = 0; i < heard; i++) g.lineTo(x(i), y(i))
  g.strokeStyle = colours.ground
  g.lineWidth = 5
  g.lineJoin = 'round'
  g.stroke()
  g.strokeStyle = colours.speech
  g.lineWidth = 2
  g.stroke()
  g.lineTo(x(heard - 1), plot)
  g.lineTo(0, plot)
  g.fillStyle = colours.speech
  g.globalAlpha = 0.1
  g.fill()
  g.globalAlpha = 1
}

function head(g, x, plot, colours) {
  g.fillStyle = colours.ink
  g.fillRect(x - 0.75, 0, 1.5, plot)
  g.beginPath()
  g.arc(x, 4, 4, 0, 2 * Math.PI)
  g.fill()
}

function flag(g, x, text, width, plot, colours) {
  g.font = '600 11px system-ui, sans-serif'
  const room = g.measureText(text).width + 12
  const left = Math.min(x, width - room)
  g.fillStyle = colours.grown
  g.fillRect(x - 0.75, 0, 1.5, plot)
  g.beginPath()
  g.roundRect(left, 0, room, 18, 4)
  g.fill()
  g.fillStyle = colours.onGrown
  g.fillText(text, left + 6, 13)
}

function times(g, width, height, seconds, colours) {
  const every = [1, 2, 5, 10, 30, 60, 120, 300].find((s) => (s / seconds) * width >= 56) ?? 600
  g.font = '11px system-ui, sans-serif'
  g.fillStyle = colours.dim
  for (let s = 0; s < seconds; s += every) {
    const text = s < 60 ? `${s} s` : `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`
    const x = (s / seconds) * width
    if (x + 30 < width) g.fillText(text, x + (s === 0 ? 0 : 4), height - 5)
    g.fillRect(x, height - 20, 1, 5)
  }
}
