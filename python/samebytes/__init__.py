"""What Node and Python have together through samebytes: `samebytes.cuda` is GPU memory.

No package is needed, and nothing is compiled. The folder that this one is in is `pythonPath` of samebytes in Node."""

__all__ = ['cuda']
__version__ = '0.1.0'
