# An addon as other people write it: it knows samebytes_dlpack.h alone.
{
  'targets': [
    {
      'target_name': 'dlpack_peer',
      'sources': ['peer.c'],
      'include_dirs': ['<!(node -p "require(\'samebytes/native\').include")'],
      'defines': ['NAPI_VERSION=8'],
      'cflags': ['-fvisibility=hidden', '-Wall', '-Wextra', '-Wpedantic'],
      'cflags_c': ['-std=gnu11', '-pthread'],
      'ldflags': ['-Wl,-z,nodelete', '-Wl,--as-needed'],
      'libraries': ['-lpthread'],
    },
  ],
}
