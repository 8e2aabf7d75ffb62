'use strict'
// The loop that somebody writes by hand for one case: nested as the shape is, with the strides as constants.

/**
 * @param {ReturnType<typeof import('./draw').drawCase>} given
 * @returns {(to: any, from: any, scale: Float32Array, bias: Float32Array) => void} over typed arrays
 */
function loopOf({ to, from, scale, axis }) {
  const { shape } = to
  const sum = (view, d) => `${view === to ? 'p' : 'q'}${d}`
  const lines = [`const p0 = ${to.offset}, q0 = ${from.offset}`]
  for (const [d, n] of shape.entries()) {
    lines.push(`for (let i${d} = 0; i${d} < ${n}; i${d}++) {`)
    lines.push(
      `const p${d + 1} = ${sum(to, d)} + i${d} * ${to.strides[d]}, q${d + 1} = ${sum(from, d)} + i${d} * ${from.strides[d]}`,
    )
  }
  const at = axis < 0 ? '0' : `i${axis}`
  const value = `from[q${shape.length}]`
  lines.push(
    `to[p${shape.length}] = ${scale.length > 0 ? `${value} * scale[${at}] + bias[${at}]` : value}`,
  )
  // eslint-disable-next-line no-new-func -- constants are the point
  return new Function('to', 'from', 'scale', 'bias', [...lines, ...shape.map(() => '}')].join('\n'))
}

module.exports = { loopOf }
