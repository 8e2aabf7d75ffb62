/* What we call of ONNX Runtime's C interface: opaque types, and functions by their place in its table. The table is only ever appended
 * to, so that a place is right in every later version. */
#ifndef SB_ONNX_TABLE_H
#define SB_ONNX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SB__ORT_API = 20 }; /* the version that is asked for: onnxruntime 1.20 */

typedef struct OrtStatus OrtStatus;
typedef struct OrtEnv OrtEnv;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtValue OrtValue;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtTensorInfo OrtTensorInfo;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtArenaCfg OrtArenaCfg;
typedef struct OrtPrepackedWeightsContainer OrtPrepackedWeightsContainer;

typedef struct OrtApiBase {
  const void *const *(*GetApi)(uint32_t version); /* NULL: the library is older */
  const char *(*GetVersionString)(void);
} OrtApiBase;

/* place, name, result, parameters */
#define SB__ORT(X)                                                                              \
 X(2, GetErrorMessage, const char *, (const OrtStatus *status))                                 \
 X(3, CreateEnv, OrtStatus *, (int severity, const char *id, OrtEnv **out))                     \
 X(7, CreateSession, OrtStatus *,                                                               \
   (const OrtEnv *env, const void *path, const OrtSessionOptions *options, OrtSession **out))   \
 X(8, CreateSessionFromArray, OrtStatus *,                                                      \
   (const OrtEnv *env, const void *model, size_t nbytes, const OrtSessionOptions *options,      \
    OrtSession **out))                                                                          \
 X(9, Run, OrtStatus *,                                                                         \
   (OrtSession * session, const OrtRunOptions *options, const char *const *input_names,         \
    const OrtValue *const *inputs, size_t input_count, const char *const *output_names,         \
    size_t output_count, OrtValue **outputs))                                                   \
 X(10, CreateSessionOptions, OrtStatus *, (OrtSessionOptions * *out))                           \
 X(11, SetOptimizedModelFilePath, OrtStatus *, (OrtSessionOptions * options, const void *path)) \
 X(13, SetSessionExecutionMode, OrtStatus *, (OrtSessionOptions * options, int parallel))       \
 X(17, DisableMemPattern, OrtStatus *, (OrtSessionOptions * options))                           \
 X(19, DisableCpuMemArena, OrtStatus *, (OrtSessionOptions * options))                          \
 X(20, SetSessionLogId, OrtStatus *, (OrtSessionOptions * options, const char *id))             \
 X(21, SetSessionLogVerbosityLevel, OrtStatus *, (OrtSessionOptions * options, int level))      \
 X(22, SetSessionLogSeverityLevel, OrtStatus *, (OrtSessionOptions * options, int level))       \
 X(23, SetSessionGraphOptimizationLevel, OrtStatus *, (OrtSessionOptions * options, int level)) \
 X(24, SetIntraOpNumThreads, OrtStatus *, (OrtSessionOptions * options, int count))             \
 X(25, SetInterOpNumThreads, OrtStatus *, (OrtSessionOptions * options, int count))             \
 X(30, SessionGetInputCount, OrtStatus *, (const OrtSession *session, size_t *out))             \
 X(31, SessionGetOutputCount, OrtStatus *, (const OrtSession *session, size_t *out))            \
 X(33, SessionGetInputTypeInfo, OrtStatus *,                                                    \
   (const OrtSession *session, size_t i, OrtTypeInfo **out))                                    \
 X(34, SessionGetOutputTypeInfo, OrtStatus *,                                                   \
   (const OrtSession *session, size_t i, OrtTypeInfo **out))                                    \
 X(36, SessionGetInputName, OrtStatus *,                                                        \
   (const OrtSession *session, size_t i, OrtAllocator *allocator, char **out))                  \
 X(37, SessionGetOutputName, OrtStatus *,                                                       \
   (const OrtSession *session, size_t i, OrtAllocator *allocator, char **out))                  \
 X(39, CreateRunOptions, OrtStatus *, (OrtRunOptions * *out))                                   \
 X(41, RunOptionsSetRunLogSeverityLevel, OrtStatus *, (OrtRunOptions * options, int level))     \
 X(46, RunOptionsSetTerminate, OrtStatus *, (OrtRunOptions * options))                          \
 X(49, CreateTensorWithDataAsOrtValue, OrtStatus *,                                             \
   (const OrtMemoryInfo *where, void *data, size_t nbytes, const int64_t *shape, size_t ndim,   \
    int type, OrtValue **out))                                                                  \
 X(50, IsTensor, OrtStatus *, (const OrtValue *value, int *out))                                \
 X(51, GetTensorMutableData, OrtStatus *, (OrtValue * value, void **out))                       \
 X(55, CastTypeInfoToTensorInfo, OrtStatus *,                                                   \
   (const OrtTypeInfo *type, const OrtTensorInfo **out))                                        \
 X(60, GetTensorElementType, OrtStatus *, (const OrtTensorInfo *info, int *out))                \
 X(61, GetDimensionsCount, OrtStatus *, (const OrtTensorInfo *info, size_t *out))               \
 X(62, GetDimensions, OrtStatus *, (const OrtTensorInfo *info, int64_t *out, size_t count))     \
 X(63, GetSymbolicDimensions, OrtStatus *,                                                      \
   (const OrtTensorInfo *info, const char **out, size_t count))                                 \
 X(65, GetTensorTypeAndShape, OrtStatus *, (const OrtValue *value, OrtTensorInfo **out))        \
 X(69, CreateCpuMemoryInfo, OrtStatus *, (int allocator, int memory, OrtMemoryInfo **out))      \
 X(76, AllocatorFree, OrtStatus *, (OrtAllocator * allocator, void *data))                      \
 X(78, GetAllocatorWithDefaultOptions, OrtStatus *, (OrtAllocator * *out))                      \
 X(92, ReleaseEnv, void, (OrtEnv * env))                                                        \
 X(93, ReleaseStatus, void, (OrtStatus * status))                                               \
 X(94, ReleaseMemoryInfo, void, (OrtMemoryInfo * info))                                         \
 X(95, ReleaseSession, void, (OrtSession * session))                                            \
 X(96, ReleaseValue, void, (OrtValue * value))                                                  \
 X(97, ReleaseRunOptions, void, (OrtRunOptions * options))                                      \
 X(98, ReleaseTypeInfo, void, (OrtTypeInfo * type))                                             \
 X(99, ReleaseTensorTypeAndShapeInfo, void, (OrtTensorInfo * info))                             \
 X(100, ReleaseSessionOptions, void, (OrtSessionOptions * options))                             \
 X(124, AddFreeDimensionOverrideByName, OrtStatus *,                                            \
   (OrtSessionOptions * options, const char *name, int64_t extent))                             \
 X(130, AddSessionConfigEntry, OrtStatus *,                                                     \
   (OrtSessionOptions * options, const char *key, const char *value))                           \
 X(144, CreateAndRegisterAllocator, OrtStatus *,                                                \
   (OrtEnv * env, const OrtMemoryInfo *what, const OrtArenaCfg *arena))                         \
 X(150, AddInitializer, OrtStatus *,                                                            \
   (OrtSessionOptions * options, const char *name, const OrtValue *value))                      \
 X(166, CreatePrepackedWeightsContainer, OrtStatus *, (OrtPrepackedWeightsContainer * *out))    \
 X(167, ReleasePrepackedWeightsContainer, void, (OrtPrepackedWeightsContainer * container))     \
 X(168, CreateSessionWithPrepackedWeightsContainer, OrtStatus *,                                \
   (const OrtEnv *env, const void *path, const OrtSessionOptions *options,                      \
    OrtPrepackedWeightsContainer *container, OrtSession **out))                                 \
 X(169, CreateSessionFromArrayWithPrepackedWeightsContainer, OrtStatus *,                       \
   (const OrtEnv *env, const void *model, size_t nbytes, const OrtSessionOptions *options,      \
    OrtPrepackedWeightsContainer *container, OrtSession **out))

typedef struct sb__ort_table {
#define X(place, name, result, parameters) result(*name) parameters;
  SB__ORT(X)
#undef X
} sb__ort_table;

#endif
