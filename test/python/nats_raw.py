"""A client of NATS that is only a socket: reads one tensor and prints it, or publishes one.

    python3 nats_raw.py read PORT SUBJECT
    python3 nats_raw.py publish PORT SUBJECT
"""
import array
import socket
import sys

mode, port, subject = sys.argv[1:]
stream = socket.create_connection(('127.0.0.1', int(port))).makefile('rwb')


def send(data):
    stream.write(data)
    stream.flush()


def flush():
    send(b'PING\r\n')
    while not stream.readline().startswith(b'PONG'):
        pass


stream.readline()
send(b'CONNECT {"verbose":false,"headers":true}\r\n')
if mode == 'publish':
    data = array.array('d', [1.5, -2, 1e300, 0, 5, 6]).tobytes()
    block = b'NATS/1.0\r\nTensor-Dtype: float64\r\nTensor-Shape: 2,3\r\n\r\n'
    send(b'HPUB %s %d %d\r\n%s%s\r\n' % (subject.encode(), len(block), len(block) + len(data), block, data))
    flush()
else:
    send(b'SUB %s 1\r\n' % subject.encode())
    flush()
    print('ready', flush=True)
    line = stream.readline().split()
    headers = dict(each.decode().split(': ', 1) for each in stream.read(int(line[-2])).split(b'\r\n')[1:] if each)
    payload = stream.read(int(line[-1]) - int(line[-2]))
    # The tensor, in two lines:
    shape = [int(n) for n in headers['Tensor-Shape'].split(',') if n]
    values = array.array({'float32': 'f', 'float64': 'd', 'int32': 'i', 'uint8': 'B'}[headers['Tensor-Dtype']], payload)
    print(headers['Tensor-Dtype'], shape, list(values), flush=True)
