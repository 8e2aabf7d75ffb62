# An addon that has LibTorch work on tensors of JavaScript's.
{
  'variables': {
    # Folders of LibTorch's headers and libraries, where they are not the system's:
    #   node-gyp rebuild -- -Dtorch_include=…/include -Dtorch_lib=…/lib
    'torch_include%': '',
    'torch_lib%': '',
  },
  'targets': [
    {
      'target_name': 'blobs',
      'sources': ['blobs.cc'],
      'include_dirs': ['<!(node -p "require(\'samebytes/native\').include")'],
      'defines': ['NAPI_VERSION=8', 'AT_PER_OPERATOR_HEADERS'],
      'cflags': ['-Wall', '-Wextra'],
      'cflags_cc': ['-std=gnu++17', '-fvisibility=hidden'],
      'cflags_cc!': ['-fno-exceptions', '-fno-rtti', '-std=gnu++20', '-std=c++20'],
      'ldflags': ['-Wl,-z,nodelete'],
      'libraries': ['-ltorch_cpu', '-lc10'],
      'conditions': [
        ['torch_include!=""', { 'cflags': ['-isystem', '<(torch_include)', '-isystem', '<(torch_include)/torch/csrc/api/include'] }],
        ['torch_lib!=""', { 'ldflags': ['-L<(torch_lib)', '-Wl,-rpath,<(torch_lib)'] }],
      ],
    },
  ],
}
