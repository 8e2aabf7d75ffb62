'use strict'
// samebytes/math: arithmetic. Made by `npm run docs`.

const {
  init
} = require('./backend/init-math')
const {
  add, subtract, multiply, divide, floorDivide, remainder, negative, positive, abs, sign, square, reciprocal, sqrt, relu, maximum,
  minimum, clip, where, equal, notEqual, less, lessEqual, greater, greaterEqual, logicalAnd, logicalOr, logicalXor, logicalNot,
  bitwiseAnd, bitwiseOr, bitwiseXor, bitwiseInvert, bitwiseLeftShift, bitwiseRightShift, ceil, floor, trunc, round, isfinite, isinf,
  isnan, signbit, copysign, nextafter, real, imag, conj, exp, expm1, log, log1p, log2, log10, sin, cos, tan, asin, acos, atan, sinh,
  cosh, tanh, asinh, acosh, atanh, erf, sigmoid, silu, gelu, pow, atan2, hypot, logaddexp
} = require('./math/functions')
const {
  sum, prod, mean, std, min, max, any, all, countNonzero, argmax, argmin, cumulativeSum, cumulativeProd, diff, var: variance
} = require('./math/reductions')
const {
  softmax, logSoftmax, logSumExp
} = require('./math/softmax')
const {
  vectorNorm, normalize
} = require('./math/norms')
const {
  median, quantile
} = require('./math/quantiles')

/** @template {import('./base/types').DtypeName} [D=any] @template {import('./base/types').DtypeName} [O=any] @typedef {import('./base/types').MathOptions<D, O>} MathOptions */

module.exports = {
  init,
  add,
  subtract,
  multiply,
  divide,
  floorDivide,
  remainder,
  negative,
  positive,
  abs,
  sign,
  square,
  reciprocal,
  sqrt,
  relu,
  maximum,
  minimum,
  clip,
  where,
  equal,
  notEqual,
  less,
  lessEqual,
  greater,
  greaterEqual,
  logicalAnd,
  logicalOr,
  logicalXor,
  logicalNot,
  bitwiseAnd,
  bitwiseOr,
  bitwiseXor,
  bitwiseInvert,
  bitwiseLeftShift,
  bitwiseRightShift,
  ceil,
  floor,
  trunc,
  round,
  isfinite,
  isinf,
  isnan,
  signbit,
  copysign,
  nextafter,
  real,
  imag,
  conj,
  exp,
  expm1,
  log,
  log1p,
  log2,
  log10,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  sigmoid,
  silu,
  gelu,
  pow,
  atan2,
  hypot,
  logaddexp,
  sum,
  prod,
  mean,
  std,
  min,
  max,
  any,
  all,
  countNonzero,
  argmax,
  argmin,
  cumulativeSum,
  cumulativeProd,
  diff,
  var: variance,
  softmax,
  logSoftmax,
  logSumExp,
  vectorNorm,
  normalize,
  median,
  quantile
}
