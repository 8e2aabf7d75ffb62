// The order of pages beside each page.

/** @param {string} text @param {string} name */
const page = (text, name) => ({ text, link: `/docs/${name}` })

export const GROUPS = [
  {
    text: 'Start',
    items: [
      { text: 'samebytes', link: '/' },
      page('Installing', 'install'),
      page('Coming from another library', 'coming-from'),
      page('From ExecuTorch and PyTorch', 'from-executorch-and-torch'),
      page('Examples', 'examples'),
    ],
  },
  {
    text: 'Tensors',
    items: [
      page('Views and copies', 'views-and-copies'),
      page('Lifetime', 'lifetime'),
      page('Arithmetic', 'arithmetic'),
      page('Files', 'files'),
      page('TypeScript', 'typescript'),
    ],
  },
  {
    text: 'Models',
    items: [
      page('Running a model', 'running-a-model'),
      page('Other packages', 'neighbours'),
      page('GPUs', 'gpu'),
      page('GPU memory between processes', 'vram'),
    ],
  },
  {
    text: 'Pages',
    items: [
      page('WebAssembly in a page', 'wasm-in-a-page'),
      page('Camera, canvas, audio', 'camera-canvas-audio'),
      page('Weights in a page', 'weights-in-a-page'),
      page('Bundlers', 'bundlers'),
    ],
  },
  {
    text: 'Threads, processes, machines',
    items: [
      page('Sharing', 'sharing'),
      page('Rings', 'rings'),
      page('The ring protocol', 'ring-protocol'),
      page('Sharing with Python', 'sharing-with-python'),
      page('More than one machine', 'machines'),
    ],
  },
  {
    text: 'Native code',
    items: [page('Writing an addon', 'writing-an-addon'), page('DLPack', 'dlpack')],
  },
  {
    text: 'Looking inside',
    items: [
      page('The memory map', 'memory-map'),
      page('Debugging', 'debugging'),
      page('Security', 'security'),
      page('Benchmarks', 'benchmarks'),
    ],
  },
  {
    text: 'Reference',
    items: [
      page('JavaScript', 'api'),
      page('C', 'c-api'),
      page('Errors', 'errors'),
      page('Command line', 'cli'),
    ],
  },
]
