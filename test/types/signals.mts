// Which dtype transforms give. Compiled only.
import { tensor, zeros, type Tensor } from 'samebytes'
import { fft, fftfreq, fftn, fftshift, hann, irfft, irfft2, istft, logMelSpectrogram, melFilterbank, rfft, rfftAsync, rfftn, stft } from 'samebytes/math'
import { is } from './equal.mjs'

const bytes = zeros([4, 4], 'uint8')
const halves = zeros([4, 4], 'float16')
const singles = zeros([4, 4])
const doubles = zeros([4, 4], 'float64')
const pairs = zeros([4], 'complex64')
declare const any: Tensor<any>

is<Tensor<'complex64'>>()(fft(bytes))
is<Tensor<'complex64'>>()(rfft(halves, { n: 3, axis: 0, norm: 'ortho' }))
is<Tensor<'complex128'>>()(fft(doubles))
is<Tensor<'complex128'>>()(fft(singles, 'complex128'))
is<Tensor<'complex64'>>()(rfft(doubles, { out: zeros([4, 3], 'complex64') }))
is<Tensor<any>>()(fft(any))
is<Tensor<'float32'>>()(irfft(pairs))
is<Tensor<'float64'>>()(irfft(zeros([3], 'complex128')))
is<Tensor<'float64'>>()(irfft2(singles, { dtype: 'float64', s: [3, 3] }))
is<Tensor<'complex64'>>()(fftn(pairs, { axes: 0 }))
is<Tensor<'complex128'>>()(rfftn(doubles, { axes: [0, 1] }))
is<Tensor<'float32'>>()(fftfreq(4))
is<Tensor<'float64'>>()(fftfreq(4, { d: 0.5, dtype: 'float64' }))
is<Tensor<'uint8'>>()(fftshift(bytes, { axes: 0 }))
is<Tensor<'float32'>>()(hann(4, { periodic: false }))
is<Tensor<'float16'>>()(hann(4, 'float16'))
is<Tensor<'complex64'>>()(stft(singles, { nFft: 4, window: hann(4) }))
is<Tensor<'float64'>>()(istft(zeros([3, 2], 'complex128'), { length: 5 }))
is<Tensor<'float32'>>()(melFilterbank())
is<Tensor<'float32'>>()(logMelSpectrogram(tensor([1, 2]), { nMels: 128 }))
is<Promise<Tensor<'complex128'>>>()(rfftAsync(doubles, { signal: new AbortController().signal }))

// @ts-expect-error nFft is missing
stft(singles, {})
// @ts-expect-error no norm
fft(singles, { norm: 'none' })
