// The same functions for import as for require. Made by `npm run docs`.
export {
  init, add, subtract, multiply, divide, floorDivide, remainder, negative, positive, abs, sign, square, reciprocal, sqrt, relu,
  maximum, minimum, clip, where, equal, notEqual, less, lessEqual, greater, greaterEqual, logicalAnd, logicalOr, logicalXor,
  logicalNot, bitwiseAnd, bitwiseOr, bitwiseXor, bitwiseInvert, bitwiseLeftShift, bitwiseRightShift, ceil, floor, trunc, round,
  isfinite, isinf, isnan, signbit, copysign, nextafter, real, imag, conj, exp, expm1, log, log1p, log2, log10, sin, cos, tan, asin,
  acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, sigmoid, silu, gelu, pow, atan2, hypot, logaddexp, sum, prod, mean, std,
  min, max, any, all, countNonzero, argmax, argmin, cumulativeSum, cumulativeProd, diff, var, nonzero, index, indexPut,
  maskedSelect, maskedFill
} from './math.js'
