"""The random numbers of src/samebytes.h a second time, from their description, one element at a time.
Prints the literals of test/c/random.c:  python3 test/python/random_reference.py  (needs NumPy)"""
import numpy as np

f4, f8 = np.float32, np.float64
M32 = 2**32 - 1


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k[0], p1 & M32, p0 >> 32 ^ c[3] ^ k[1], p0 & M32]
        k = [k[0] + 0x9E3779B9 & M32, k[1] + 0xBB67AE85 & M32]
    return c


class Stream:
    def __init__(self, seed, stream=0):
        self.key, self.stream = (seed & M32, seed >> 32), stream

    def word(self, w, method=0, attempt=0):
        b = (w % 2**64) // 4
        return philox((b & M32, b >> 32, self.stream, method << 24 | attempt), self.key)[w % 4]


def uniform(s, dtype, offset, i, low=0, high=1):
    if dtype == 'float64':
        w = offset + offset % 2 + 2 * i
        k = (s.word(w + 1) >> 5 << 26) + (s.word(w) >> 6)
        low, high, unit = f8(low), f8(high), f8(k) * f8(2.0**-53)
    else:
        p = {'float16': 11, 'bfloat16': 8, 'float32': 24}[dtype]
        low, high, unit = f4(low), f4(high), f4(s.word(offset + i) >> 32 - p) * f4(2.0**-p)
    x = low + unit * (high - low)
    assert x < high  # true for the bounds used here
    return store(dtype, x)


def store(dtype, x):
    if dtype == 'float64':
        return int(f8(x).view(np.uint64))
    if dtype == 'float32':
        return int(f4(x).view(np.uint32))
    if dtype == 'float16':
        return int(np.float16(x).view(np.uint16))
    bits = int(f4(x).view(np.uint32))
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def horner(z, coefficients):
    r = coefficients[-1]
    for c in coefficients[-2::-1]:
        r = c + z * r
    return r


def hexes(f, text):
    return [f(float.fromhex(x)) for x in text.split()]


LOG4 = hexes(f4, '0x1.55555cp0 0x1.997c3p-1 0x1.2ee61p-1')
SIN4 = hexes(f4, '0x1.921fb6p-1 -0x1.4abbbap-4 0x1.465ec4p-9 -0x1.2d9b4p-15')
COS4 = hexes(f4, '1 -0x1.3bd3ccp-2 0x1.03c1eap-6 -0x1.55cb98p-12 0x1.db6492p-19')
LOG8 = hexes(f8, '0x1.5555555555558p0 0x1.99999999952e2p-1 0x1.2492492df148dp-1 0x1.c71c62e5800a1p-2 '
                 '0x1.7462b4ab2ef6bp-2 0x1.39fe606542ddep-2 0x1.2b584aae78a57p-2')
SIN8 = hexes(f8, '0x1.921fb54442d18p-1 -0x1.4abbce625be41p-4 0x1.466bc677587f8p-9 -0x1.32d2cce2e5b19p-15 '
                 '0x1.50782fda12d96p-22 -0x1.e30071afc3e59p-30 0x1.e3f38399551bfp-38')
COS8 = hexes(f8, '1 -0x1.3bd3cc9be45dep-2 0x1.03c1f081b5ac0p-6 -0x1.55d3c7e3cb241p-12 0x1.e1f5068688d5bp-19 '
                 '-0x1.a6d1eef479be1p-26 0x1.f9ce245cada0bp-34 -0x1.b2f3eb054afcdp-42')


def radius(f, u, v, log):
    mantissa, exponent = np.frexp(u)  # [1/2, 1)
    mantissa, exponent = f(mantissa), int(exponent)
    if mantissa < f(np.sqrt(f8(0.5))):
        mantissa, exponent = mantissa * f(2), exponent - 1
    x = -v if exponent == 0 else mantissa - f(1)
    s = x / (f(2) + x)
    z, square = s * s, x * x
    return np.sqrt(f(exponent) * f(-2 * np.log(f8(2))) + (square - s * (square + z * horner(z, log)) - (x + x)))


def circle(x, sin, cos, quarter):
    s, c = x * horner(x * x, sin), horner(x * x, cos)
    if quarter & 1:
        c = -c
    return (s, c) if quarter & 2 else (c, s)


def normal(s, dtype, offset, i, mean=0, std=1):
    if dtype == 'float64':
        w = offset + offset % 2 + 2 * i
        a, b, c, d = (s.word(w // 4 * 4 + k, 2) for k in range(4))
        v = f8((b >> 5 << 26) + (a >> 6)) * f8(2.0**-53)
        x = ((d & 0x3FFFFFFF) - (d >> 29 & 1) * 2**30) * 2**24 + 2 * (c >> 9) + 1
        pair = radius(f8, f8(1) - v, v, LOG8) * np.array(circle(f8(x) * f8(2.0**-53), SIN8, COS8, d >> 30), f8)
        return store(dtype, f8(mean) + f8(std) * pair[w // 2 % 2])
    w = offset + i
    a, b = s.word(w // 2 * 2, 1), s.word(w // 2 * 2 + 1, 1)
    v, u = f4(a & 0x7FFFFFFF) * f4(2.0**-31), f4(2**31 - (a & 0x7FFFFFFF)) * f4(2.0**-31)
    x = ((b & 0x3FFFFFFF) - (b >> 29 & 1) * 2**30) * 4 + 2
    pair = radius(f4, u, v, LOG4) * np.array(circle(f4(x) * f4(2.0**-31), SIN4, COS4, b >> 30), f4)
    return store(dtype, f4(mean) + f4(std) * pair[w % 2])


def randint(s, offset, i, low, high):
    count = high - low
    n = 1 if count <= 2**32 else 2
    w = offset + (offset % 2 if n == 2 else 0) + n * i
    for attempt in range(1000):
        x = sum(s.word(w + k, 0, attempt) << 32 * k for k in range(n)) * count
        if x % 2**(32 * n) >= 2**(32 * n) % count:
            return low + (x >> 32 * n)


if __name__ == '__main__':
    def row(values, width):
        return '{' + ', '.join(f'0x{v % 16**width:0{width}x}' for v in values) + '}'

    for seed, stream, offset in ((0, 0, 0), (42, 0, 5), (0x123456789ABCDEF0, 7, 2**36 - 3)):
        s = Stream(seed, stream)
        print(f'    {{0x{seed:x}, {stream}, 0x{offset:x},')
        for draw in uniform, normal:
            for dtype, width in ('float16', 4), ('bfloat16', 4), ('float32', 8), ('float64', 16):
                print('     ' + row([draw(s, dtype, offset, i) for i in range(6)], width) + ',')
        for low, high in (-10, 1000), (0, 3 * 2**30), (0, 2**63 + 1), (0, 2**64):
            print('     ' + row([randint(s, offset, i, low, high) for i in range(6)], 16) + ',')
        print('    },')
