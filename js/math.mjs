// The same functions for import as for require. Made by `npm run docs`.
export {
  init, add, subtract, multiply, divide, floorDivide, remainder, negative, positive, abs, sign, square, reciprocal, sqrt, relu,
  maximum, minimum, clip, where, equal, notEqual, less, lessEqual, greater, greaterEqual, logicalAnd, logicalOr, logicalXor,
  logicalNot, bitwiseAnd, bitwiseOr, bitwiseXor, bitwiseInvert, bitwiseLeftShift, bitwiseRightShift, ceil, floor, trunc, round,
  isfinite, isinf, isnan, signbit, copysign, nextafter, real, imag, conj, exp, expm1, log, log1p, log2, log10, sin, cos, tan, asin,
  acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, erf, sigmoid, silu, gelu, pow, atan2, hypot, logaddexp, sum, prod, mean, std,
  min, max, any, all, countNonzero, argmax, argmin, cumulativeSum, cumulativeProd, diff, var, softmax, logSoftmax, logSumExp,
  vectorNorm, normalize, median, quantile, nonzero, index, indexPut, maskedSelect, maskedFill, matmul, vecdot, tensordot, outer,
  einsum, cosineSimilarity, addAsync, subtractAsync, multiplyAsync, divideAsync, floorDivideAsync, remainderAsync, negativeAsync,
  positiveAsync, absAsync, signAsync, squareAsync, reciprocalAsync, sqrtAsync, reluAsync, maximumAsync, minimumAsync, clipAsync,
  whereAsync, equalAsync, notEqualAsync, lessAsync, lessEqualAsync, greaterAsync, greaterEqualAsync, logicalAndAsync,
  logicalOrAsync, logicalXorAsync, logicalNotAsync, bitwiseAndAsync, bitwiseOrAsync, bitwiseXorAsync, bitwiseInvertAsync,
  bitwiseLeftShiftAsync, bitwiseRightShiftAsync, ceilAsync, floorAsync, truncAsync, roundAsync, isfiniteAsync, isinfAsync,
  isnanAsync, signbitAsync, copysignAsync, nextafterAsync, realAsync, imagAsync, conjAsync, expAsync, expm1Async, logAsync,
  log1pAsync, log2Async, log10Async, sinAsync, cosAsync, tanAsync, asinAsync, acosAsync, atanAsync, sinhAsync, coshAsync, tanhAsync,
  asinhAsync, acoshAsync, atanhAsync, erfAsync, sigmoidAsync, siluAsync, geluAsync, powAsync, atan2Async, hypotAsync,
  logaddexpAsync, sumAsync, prodAsync, meanAsync, stdAsync, minAsync, maxAsync, anyAsync, allAsync, countNonzeroAsync, argmaxAsync,
  argminAsync, cumulativeSumAsync, cumulativeProdAsync, diffAsync, varAsync, softmaxAsync, logSoftmaxAsync, logSumExpAsync,
  vectorNormAsync, normalizeAsync, matmulAsync, vecdotAsync, tensordotAsync, outerAsync, einsumAsync, cosineSimilarityAsync, linalg
} from './math.js'
