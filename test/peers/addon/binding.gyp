# Addons as other people write them: they know samebytes by its headers alone.
#
#   peer    what the tests call
#   newer   one that was built for a later samebytes
{
  'target_defaults': {
    'include_dirs': ['<!(node -p "require(\'samebytes/native\').include")'],
    'defines': ['NAPI_VERSION=8'],
    'cflags': ['-fvisibility=hidden', '-Wall', '-Wextra', '-Wpedantic'],
    'cflags_c': ['-std=gnu11', '-pthread'],
    'ldflags': ['-Wl,-z,nodelete', '-Wl,--as-needed'],
  },
  'targets': [
    { 'target_name': 'peer', 'sources': ['peer.c'], 'libraries': ['-lpthread'] },
    { 'target_name': 'newer', 'sources': ['peer.c'], 'defines': ['SB_TABLE_MINOR=99'], 'libraries': ['-lpthread'] },
  ],
}
