"""Transforms and spectrograms as NumPy computes them, in double. Reads cases (JSON) from standard input: name, dtype, shape, bytes (base64),
and arguments. Writes for each its result's shape, and its numbers (base64, complex128 or float64); null where NumPy refuses."""
import base64
import json
import sys

import numpy as np

LINES = ['fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft']
AXES = ['fftn', 'ifftn', 'fft2', 'ifft2', 'rfftn', 'irfftn', 'rfft2', 'irfft2']
SHIFTS = ['fftshift', 'ifftshift']


def numbers(given):
    raw = base64.b64decode(given['bytes'])
    if given['dtype'] == 'bfloat16':
        bits = np.frombuffer(raw, dtype=np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(given['shape'])
    return np.frombuffer(raw, dtype=given['dtype']).reshape(given['shape'])


def window_of(case):
    n = case['nFft']
    length = case.get('winLength') or n
    window = numbers(case['window']).astype(np.float64) if case.get('window') else np.ones(length)
    left = (n - length) // 2
    return np.pad(window, (left, n - length - left))


def frames_of(x, n, hop):
    return np.lib.stride_tricks.sliding_window_view(x, n, axis=-1)[..., ::hop, :]


PADS = {'reflect': 'reflect', 'constant': 'constant', 'replicate': 'edge', 'circular': 'wrap'}


def stft(x, case):
    n, hop = case['nFft'], case['hopLength']
    if case.get('center', True):
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], mode=PADS[case.get('padMode', 'reflect')])
    frames = frames_of(x, n, hop) * window_of(case)
    made = np.fft.rfft(frames) if case.get('onesided', True) else np.fft.fft(frames)
    return np.moveaxis(made, -1, -2) / (np.sqrt(n) if case.get('normalized') else 1)


def istft(x, case):
    n, hop, window = case['nFft'], case['hopLength'], window_of(case)
    frames = np.fft.irfft(np.moveaxis(x, -1, -2) * (np.sqrt(n) if case.get('normalized') else 1), n) * window
    count = frames.shape[-2]
    whole = (count - 1) * hop + n
    sums, squares = np.zeros(frames.shape[:-2] + (whole,)), np.zeros(whole)
    for i in range(count):
        sums[..., i * hop:i * hop + n] += frames[..., i, :]
        squares[i * hop:i * hop + n] += window ** 2
    start = n // 2 if case.get('center', True) else 0
    end = start + case['length'] if case.get('length') else whole - start
    made = sums[..., start:end] / squares[start:end]
    return np.pad(made, [(0, 0)] * (made.ndim - 1) + [(0, end - start - made.shape[-1])])


def mel_of(f, htk):
    f = np.asarray(f, dtype=np.float64)
    if htk:
        return 2595 * np.log10(1 + f / 700)
    return np.where(f < 1000, f * 3 / 200, 15 + np.log(np.maximum(f, 1) / 1000) * 27 / np.log(6.4))


def hertz_of(m, htk):
    if htk:
        return 700 * (10 ** (m / 2595) - 1)
    return np.where(m < 15, m * 200 / 3, 1000 * np.exp((m - 15) * np.log(6.4) / 27))


def mel_filters(case):
    """As librosa.filters.mel has them."""
    n, rate, htk = case['nFft'], case['sampleRate'], case.get('scale') == 'htk'
    low, high = case.get('fMin', 0), case.get('fMax') or rate / 2
    edges = hertz_of(np.linspace(mel_of(low, htk), mel_of(high, htk), case['nMels'] + 2), htk)
    ramps = edges[:, None] - np.arange(n // 2 + 1) * rate / n
    widths = np.diff(edges)
    weights = np.maximum(0, np.minimum(-ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]))
    if case.get('norm', 'slaney') == 'slaney':
        weights *= (2 / (edges[2:] - edges[:-2]))[:, None]
    return weights


def log_mel(x, case):
    """As whisper/audio.py has it."""
    n, hop = case['nFft'], case['hopLength']
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)
    x = np.pad(x.astype(np.float64), [(0, 0)] * (x.ndim - 1) + [(n // 2, n // 2)], mode='reflect')
    powers = np.abs(np.fft.rfft(frames_of(x, n, hop) * window)[..., :-1, :]) ** 2
    filters = mel_filters(case).astype(np.float32).astype(np.float64)
    made = np.log10(np.maximum(filters @ np.moveaxis(powers, -1, -2), 1e-10))
    made = np.maximum(made, made.max(axis=(-2, -1), keepdims=True) - 8)
    return (made + 4) / 4


def compute(case):
    name = case['name']
    if name == 'melFilterbank':
        return mel_filters(case)
    if name in ('fftfreq', 'rfftfreq'):
        return getattr(np.fft, name)(case['n'], case['d'])
    if name in ('hann', 'hamming'):
        a, n = {'hann': 0.5, 'hamming': 0.54}[name], case['n']
        return a - (1 - a) * np.cos(2 * np.pi * np.arange(n) / (n if case['periodic'] else n - 1)) if n > 1 else np.ones(1)
    x = numbers(case)
    if name in SHIFTS:
        return getattr(np.fft, name)(x, case.get('axes'))
    x = x.astype(np.complex128 if x.dtype.kind == 'c' else np.float64)
    if name in LINES:
        return getattr(np.fft, name)(x, case.get('n'), case['axis'], case['norm'])
    if name in AXES:
        axes = {'axes': case['axes']} if case.get('axes') is not None else {}
        return getattr(np.fft, name)(x, s=case.get('s'), norm=case['norm'], **axes)
    return {'stft': stft, 'istft': istft, 'logMelSpectrogram': log_mel}[name](x, case)


def answer(case):
    try:
        made = np.asarray(compute(case))
    except (ValueError, IndexError):
        return None
    wide = np.complex128 if made.dtype.kind == 'c' else np.float64
    return {'shape': made.shape, 'values': base64.b64encode(np.ascontiguousarray(made, wide).tobytes()).decode(), 'complex': made.dtype.kind == 'c'}


json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)
