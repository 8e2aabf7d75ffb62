# An addon in C that has tensors of JavaScript's. It needs samebytes' headers, and links to nothing of it.
{
  'targets': [
    {
      'target_name': 'levels',
      'sources': ['levels.c'],
      'include_dirs': ['<!(node -p "require(\'samebytes/native\').include")'],
      'defines': ['NAPI_VERSION=8'],
      'cflags': ['-Wall', '-Wextra', '-fvisibility=hidden'],
    },
  ],
}
