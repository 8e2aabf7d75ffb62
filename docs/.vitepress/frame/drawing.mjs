// Draws a tensor: its values as a table, or as a heat map where there are many, and which of its bytes a view has.

const MOST_CELLS = 64
const MOST_PIXELS = 256 * 256
const MOST_BYTES = 96

/** @param {string} name @param {object} [fields] @param {...(Node | string)} children */
function element(name, fields = {}, ...children) {
  const made = Object.assign(document.createElement(name), fields)
  made.append(...children)
  return made
}

/**
 * @param {any} samebytes
 * @param {unknown} value
 * @returns {Element | null} null: it is no tensor that can be drawn
 */
export function drawing(samebytes, value) {
  if (!samebytes.Tensor.isTensor(value)) return null
  const t = /** @type {any} */ (value)
  if (t.isDisposed || t.size === 0 || t.ndim === 0) return null
  const parts = [valuesOf(samebytes, t), bytesOf(t)].filter((each) => each !== null)
  if (parts.length === 0) return null
  const about = `${t.dtype} [${t.shape.join(', ')}], strides [${t.strides.join(', ')}], offset ${t.offset}`
  return element('figure', {}, element('figcaption', {}, about), ...parts)
}

/** @param {any} samebytes @param {any} t */
function valuesOf(samebytes, t) {
  if (t.ndim > 2) return null
  const rows = t.ndim === 1 ? t.reshape(1, t.size) : t
  if (t.size <= MOST_CELLS) return tableOf(rows)
  const isReal = !t.dtype.startsWith('complex') && t.dtype !== 'bool'
  return t.ndim === 2 && isReal && t.size <= MOST_PIXELS ? heatMapOf(samebytes, rows) : null
}

/** @param {any} rows */
function tableOf(rows) {
  const lines = rows
    .toArray()
    .map((/** @type {any[]} */ row) =>
      element('tr', {}, ...row.map((each) => element('td', {}, textOf(each)))),
    )
  return element('table', {}, ...lines)
}

/** @param {unknown} value */
const textOf = (value) =>
  typeof value === 'number' && !Number.isInteger(value) ? value.toPrecision(4) : String(value)

/** @param {any} samebytes @param {any} rows */
function heatMapOf(samebytes, rows) {
  const floats = rows.astype('float32')
  const list = Array.from(floats.data).filter(Number.isFinite)
  const [min, max] = [Math.min(...list), Math.max(...list)]
  const [height, width] = rows.shape
  const canvas = element('canvas', { width, height })
  const image = floats.toImageData({
    min,
    max: max > min ? max : min + 1,
    colormap: [
      [68, 1, 84],
      [33, 145, 140],
      [253, 231, 37],
    ],
  })
  canvas.getContext('2d').putImageData(image, 0, 0)
  const times = Math.max(1, Math.floor(256 / Math.max(width, height)))
  canvas.style.width = `${width * times}px`
  canvas.title = `${min} to ${max}`
  floats.dispose()
  return canvas
}

/** Which elements of its storage a view has, where it has not all of them. @param {any} t */
function bytesOf(t) {
  const positions = new Set([t.offset])
  for (const [d, extent] of t.shape.entries()) {
    for (const at of [...positions]) {
      for (let i = 1; i < extent; i++) {
        positions.add(at + i * t.strides[d])
        if (positions.size > MOST_BYTES) return null
      }
    }
  }
  const first = Math.min(...positions)
  const count = Math.max(...positions) - first + 1
  if (count > MOST_BYTES || count === positions.size) return null
  const cells = Array.from({ length: count }, (_, i) =>
    element('span', { className: positions.has(first + i) ? 'used' : '' }, String(first + i)),
  )
  return element(
    'div',
    { className: 'bytes', title: 'elements of its memory that the view has' },
    ...cells,
  )
}
