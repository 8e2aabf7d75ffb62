# at::Tensors of all kinds for the tests of samebytes_torch.h.
{
  'targets': [
    {
      'target_name': 'odd',
      'sources': ['odd.cc'],
      'include_dirs': ['<!(node -p "require(\'samebytes/native\').include")'],
      'defines': ['NAPI_VERSION=8', 'AT_PER_OPERATOR_HEADERS'],
      'cflags': ['-Wall', '-Wextra'],
      'cflags_cc': ['-std=gnu++17', '-fvisibility=hidden'],
      'cflags_cc!': ['-fno-exceptions', '-fno-rtti', '-std=gnu++20', '-std=c++20'],
      'ldflags': ['-Wl,-z,nodelete'],
      'libraries': ['-ltorch_cpu', '-lc10'],
    },
  ],
}
