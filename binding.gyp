# The Node-API addon. A file added to one of the folders below is found at the next configure.
#
#   samebytes        what ships
#   samebytes_test   the same sources with SB_TEST=1, for tests; kernels, platform and build are the same objects
#   libsamebytes     the C core as a shared library (libsamebytes.so.1): the functions of samebytes.h, no Node-API
#   samebytes_math   arithmetic, an addon of its own: loaded when somebody wants it, it calls the core by a table
#   samebytes_bench  what the benches compare with: memcpy and its like
#
# node-gyp configure -- -Dsanitize=address,undefined   makes both with these sanitizers
# node-gyp configure -- -Dgeneric=1                    leaves out what only Linux offers (src/platform/posix.h)
{
  'variables': {
    'sanitize%': '',
    'generic%': '',
    # Of all C sources: addons that call each other by internal tables have to be of one build.
    'build_hash': '<!(node -p "const h=crypto.createHash(\'sha256\');fs.readdirSync(\'src\',{recursive:true}).map(f=>f.split(path.sep).join(\'/\')).filter(f=>/\\.(c|h|inc|def)$/.test(f)).sort().forEach(f=>h.update(f).update(fs.readFileSync(\'src/\'+f)));h.digest(\'hex\').slice(0,16)")',
    # Of loops: clang does not know these.
    'gcc_only': [
      '<!@(node -p "/clang/.test(child_process.execSync((process.env.CC||\'cc\')+\' --version\'))?\'\':\'-fvect-cost-model=dynamic --param=vect-epilogues-nomask=0 -fno-align-loops -fno-align-jumps\'")',
    ],
    # Kernels of each level.
    'levels': 'kernels.(scalar|avx2|avx512|neon)[.]c',
    # Arithmetic without the loops that take its time: what reads calls, finds dtypes, and cuts work into lines.
    'sources_math_small': [
      'src/math/algorithms.c', 'src/math/cores.c', 'src/math/exports.c', 'src/math/fft.c', 'src/math/fft_plan.c', 'src/math/interp.c',
      'src/math/linalg.c', 'src/math/linalg_factor.c', 'src/math/linalg_spectra.c', 'src/math/matmul.c', 'src/math/pad.c',
      'src/math/reduce_types.c', 'src/math/rules.c', 'src/math/search.c', 'src/math/signals.c', 'src/math/vectors.c',
    ],
    'sources_math_fast': [
      'src/math/avx2.c', 'src/math/avx512.c', 'src/math/boxes.c', 'src/math/circular.c', 'src/math/complex.c', 'src/math/cumulate.c',
      'src/math/dispatch.c', 'src/math/elementwise.c', 'src/math/fft_levels.c', 'src/math/indexing.c', 'src/math/linalg_loops.c',
      'src/math/lines.c', 'src/math/matmul_avx2.c', 'src/math/matmul_avx512.c', 'src/math/matmul_base.c', 'src/math/mixed.c',
      'src/math/neon.c', 'src/math/reduce.c', 'src/math/reduce_results.c', 'src/math/resize.c', 'src/math/scalar.c',
      'src/math/select.c', 'src/math/simd128.c', 'src/math/softmax.c', 'src/math/sort.c', 'src/math/tiles.c', 'src/math/whole.c',
    ],
    'sources_cuda': [
      '<!@(node -p "[\'cuda\'].map(d=>\'src/\'+d).filter(fs.existsSync).flatMap(d=>fs.readdirSync(d).filter(f=>f.endsWith(\'.c\')).sort().map(f=>d+\'/\'+f)).join(\' \')")',
    ],
    'sources_node': [
      '<!@(node -p "[\'core\',\'ops\',\'kernels\',\'formats\',\'ipc\',\'onnx\',\'interop\',\'bind\',\'node\'].map(d=>\'src/\'+d).filter(fs.existsSync).flatMap(d=>fs.readdirSync(d).filter(f=>f.endsWith(\'.c\')).sort().map(f=>d+\'/\'+f)).filter(f=>!/<(levels)|node.math[.]c/.test(f)).join(\' \')")',
    ],
    'sources_library': [
      '<!@(node -p "[\'core\',\'ops\',\'kernels\',\'formats\',\'ipc\',\'interop\'].map(d=>\'src/\'+d).filter(fs.existsSync).flatMap(d=>fs.readdirSync(d).filter(f=>f.endsWith(\'.c\')).sort().map(f=>d+\'/\'+f)).filter(f=>!/<(levels)/.test(f)).join(\' \')")',
    ],
  },
  'target_defaults': {
    'include_dirs': ['src'],
    'defines': ['NAPI_VERSION=8'],
    'cflags': [
      '-fvisibility=hidden',
      '-ffp-contract=off',
      '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wshadow', '-Wvla', '-Wundef',
      # Node's headers are not ours to warn about.
      '-isystem', '<(node_root_dir)/include/node',
    ],
    'cflags_c': ['-std=gnu11', '-Wmissing-declarations', '-Wunused-parameter'],
    'ldflags': [
      # Finalizers may run after the last environment has gone: never unload the code.
      '-Wl,-z,nodelete',
      '-Wl,-z,relro,-z,now',
      # The linker is a C++ one by default; this leaves libstdc++ out.
      '-Wl,--as-needed',
    ],
    'libraries': ['-lm'],
    'conditions': [
      ['sanitize!=""', {
        'cflags!': ['-O3', '-O2'],
        'cflags': [
          '-fsanitize=<(sanitize)', '-fno-sanitize-recover=all', '-fno-omit-frame-pointer',
          '-O1', '-g',
        ],
        'ldflags': ['-fsanitize=<(sanitize)'],
        'configurations': { 'Release': { 'cflags!': ['-O3', '-O2'] } },
      }, {
        # Calls between our own files need no detour by the dynamic linker, and may be inlined.
        'cflags': ['-O3', '-flto', '-fno-semantic-interposition'],
        'ldflags': ['-O3', '-flto=auto', '-Wl,-Bsymbolic-functions'],
      }],
    ],
  },
  'targets': [
    {
      # Apart, because its symbol versions are lost when it is optimised with the rest.
      'target_name': 'samebytes_platform',
      'type': 'static_library',
      'sources': ['<!@(node -p "fs.readdirSync(\'src/platform\').filter(f=>/^(native|posix|linux|darwin)_/.test(f)).sort().map(f=>\'src/platform/\'+f).join(\' \')")'],
      'defines': ['SB_OLD_GLIBC=1'],
      'cflags': ['-fno-lto', '-fPIC'],
      'conditions': [['generic!=""', { 'defines': ['SB_GENERIC_POSIX=1'] }]],
    },
    {
      # Apart, because everything that is compiled with the hash is compiled anew when a source changes.
      'target_name': 'samebytes_build',
      'type': 'static_library',
      'sources': ['src/build.c'],
      'defines': ['SB_BUILD="<(build_hash)"'],
      'cflags': ['-fno-lto', '-fPIC'],
    },
    {
      # The driver's side of CUDA, which waits for the driver most of the time: small rather than fast.
      'target_name': 'samebytes_cuda',
      'type': 'static_library',
      'sources': ['<@(sources_cuda)'],
      'cflags!': ['-O3', '-O2', '-flto'],
      'cflags': ['-Os', '-fno-lto', '-fPIC', '-fno-asynchronous-unwind-tables'],
      'configurations': { 'Release': { 'cflags!': ['-O3', '-O2'] } },
    },
    {
      'target_name': 'samebytes_cuda_test',
      'type': 'static_library',
      'sources': ['<@(sources_cuda)'],
      'cflags!': ['-O3', '-O2', '-flto'],
      'cflags': ['-Os', '-fno-lto', '-fPIC', '-fno-asynchronous-unwind-tables'],
      'configurations': { 'Release': { 'cflags!': ['-O3', '-O2'] } },
      'defines': ['SB_TEST=1'],
    },
    {
      # Called by pointers, so the linker has nothing to inline: compiled once for all that link them.
      'target_name': 'samebytes_kernels',
      'type': 'static_library',
      'sources': ['src/kernels/scalar.c', 'src/kernels/avx2.c', 'src/kernels/avx512.c', 'src/kernels/neon.c'],
      'cflags!': ['-flto'],
      'cflags': ['-fno-lto', '-fPIC'],
    },
    {
      'target_name': 'samebytes',
      'sources': ['<@(sources_node)'],
      'dependencies': ['samebytes_platform', 'samebytes_kernels', 'samebytes_cuda', 'samebytes_build'],
    },
    {
      # Small rather than fast.
      'target_name': 'samebytes_math_small',
      'type': 'static_library',
      'sources': ['<@(sources_math_small)'],
      'cflags!': ['-O3', '-O2', '-flto'],
      'cflags': ['-Os', '-fno-lto', '-fPIC', '-fno-asynchronous-unwind-tables', '-fno-trapping-math', '-fno-math-errno'],
      'configurations': { 'Release': { 'cflags!': ['-O3', '-O2'] } },
    },
    {
      'target_name': 'samebytes_math',
      'sources': ['<@(sources_math_fast)', 'src/node/math.c'],
      'dependencies': ['samebytes_build', 'samebytes_math_small'],
      # Selects become vectors only where comparisons may not trap, which they do not: the mode is the default one.
      # Loops are many: what -O3 adds to vectors (unrolled remainders, copies for each alignment) would make them twice as large.
      'cflags!': ['-flto', '-O3'],
      'cflags': ['-O2', '-ftree-vectorize', '<@(gcc_only)', '-fno-asynchronous-unwind-tables', '-fno-trapping-math', '-fno-math-errno', '-fno-lto'],
      'configurations': { 'Release': { 'cflags!': ['-O3'] } },
      'ldflags!': ['-flto=auto'],
    },
    {
      'target_name': 'samebytes_test',
      'sources': ['<@(sources_node)'],
      'dependencies': ['samebytes_platform', 'samebytes_kernels', 'samebytes_cuda_test', 'samebytes_build'],
      'defines': ['SB_TEST=1'],
    },
    {
      'target_name': 'libsamebytes',
      'type': 'shared_library',
      'product_prefix': '',
      'product_name': 'libsamebytes',
      'product_extension': 'so.1',
      'product_dir': '<(PRODUCT_DIR)',
      'sources': ['<@(sources_library)'],
      'dependencies': ['samebytes_platform', 'samebytes_kernels', 'samebytes_cuda'],
      # -u: what registers the devices (src/cuda/init.c) is called by nobody.
      'ldflags': ['-Wl,-soname,libsamebytes.so.1', '-Wl,--exclude-libs,ALL', '-Wl,--no-undefined', '-Wl,-u,sb__cuda_why_not'],
    },
    {
      'target_name': 'samebytes_bench',
      'sources': ['test/bench/c/yardstick.c', 'test/bench/c/bounds.c'],
    },
  ],
}
