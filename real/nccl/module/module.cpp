// libtutti_nccl.so: the table of real/nccl/api.h on NCCL.

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>

#include "real/nccl/api.h"
#include "real/nccl/module/profiler.h"

namespace {

using tutti::real::profiled_name;
using tutti::real::take_channels;

constexpr char kPluginVariable[] = "NCCL_PROFILER_PLUGIN";

static_assert(kTuttiNcclInProgress == ncclInProgress && kTuttiNcclIdBytes == NCCL_UNIQUE_ID_BYTES);

ncclComm_t nccl(TuttiNcclCommunicator* communicator) {
  return reinterpret_cast<ncclComm_t>(communicator);
}

/// Converts a core::DataType to NCCL's data type. REQUIRES: `type` is a valid core::DataType.
ncclDataType_t type_of(int type) {
  constexpr ncclDataType_t types[] = {ncclFloat32,  ncclFloat32, ncclFloat64, ncclFloat16,
                                      ncclBfloat16, ncclInt32,   ncclInt64};
  return type >= 1 && type <= 6 ? types[type] : ncclNumTypes;
}

/// Converts a real::Operation. REQUIRES: the number is a valid value of the enumeration.
ncclRedOp_t operation_of(int operation) {
  constexpr ncclRedOp_t operations[] = {ncclSum, ncclMin, ncclMax, ncclProd};
  return operation >= 0 && operation <= 3 ? operations[operation] : ncclNumOps;
}

int version(int* number) { return ncclGetVersion(number); }
const char* error_text(int error) { return ncclGetErrorString(static_cast<ncclResult_t>(error)); }
const char* last_error(TuttiNcclCommunicator* communicator) {
  return ncclGetLastError(nccl(communicator));
}

int make_id(char* id) {
  ncclUniqueId made;
  const ncclResult_t result = ncclGetUniqueId(&made);
  if (result == ncclSuccess) std::memcpy(id, made.internal, sizeof made.internal);
  return result;
}

int group_begin() { return ncclGroupStart(); }
int group_end() { return ncclGroupEnd(); }

int make_communicator(int device, const char* id, int ranks, int rank, int number,
                      TuttiNcclCommunicator** communicator) {
  *communicator = nullptr;
  if (cudaSetDevice(device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return ncclUnhandledCudaError;
  }
  ncclUniqueId name;
  std::memcpy(name.internal, id, sizeof name.internal);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  config.commName = profiled_name(number);
#else
  static_cast<void>(number);
#endif
  return ncclCommInitRankConfig(reinterpret_cast<ncclComm_t*>(communicator), ranks, name, rank,
                                &config);
}

int state(TuttiNcclCommunicator* communicator) {
  ncclResult_t now = ncclSuccess;
  const ncclResult_t status = ncclCommGetAsyncError(nccl(communicator), &now);
  return status == ncclSuccess ? now : status;
}

int finalize(TuttiNcclCommunicator* communicator) { return ncclCommFinalize(nccl(communicator)); }
int discard(TuttiNcclCommunicator* communicator) { return ncclCommDestroy(nccl(communicator)); }
int abort_now(TuttiNcclCommunicator* communicator) { return ncclCommAbort(nccl(communicator)); }

int all_reduce(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count,
               int type, int operation, void* stream) {
  return ncclAllReduce(from, to, static_cast<std::size_t>(count), type_of(type),
                       operation_of(operation), nccl(communicator),
                       static_cast<cudaStream_t>(stream));
}

int reduce_scatter(TuttiNcclCommunicator* communicator, const void* from, void* to,
                   std::int64_t count, int type, int operation, void* stream) {
  return ncclReduceScatter(from, to, static_cast<std::size_t>(count), type_of(type),
                           operation_of(operation), nccl(communicator),
                           static_cast<cudaStream_t>(stream));
}

int all_gather(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count,
               int type, void* stream) {
  return ncclAllGather(from, to, static_cast<std::size_t>(count), type_of(type), nccl(communicator),
                       static_cast<cudaStream_t>(stream));
}

int broadcast(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count,
              int type, int root, void* stream) {
  return ncclBroadcast(from, to, static_cast<std::size_t>(count), type_of(type), root,
                       nccl(communicator), static_cast<cudaStream_t>(stream));
}

int reduce(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count,
           int type, int operation, int root, void* stream) {
  return ncclReduce(from, to, static_cast<std::size_t>(count), type_of(type),
                    operation_of(operation), root, nccl(communicator),
                    static_cast<cudaStream_t>(stream));
}

int send(TuttiNcclCommunicator* communicator, const void* from, std::int64_t count, int type,
         int peer, void* stream) {
  return ncclSend(from, static_cast<std::size_t>(count), type_of(type), peer, nccl(communicator),
                  static_cast<cudaStream_t>(stream));
}

int receive(TuttiNcclCommunicator* communicator, void* to, std::int64_t count, int type, int peer,
            void* stream) {
  return ncclRecv(to, static_cast<std::size_t>(count), type_of(type), peer, nccl(communicator),
                  static_cast<cudaStream_t>(stream));
}

/// Makes NCCL load this library as its profiler plugin. Returns false if that is impossible.
bool follow_channels() {
  Dl_info file{};
  if (::dladdr(&ncclProfiler_v4, &file) == 0 || !file.dli_fname) return false;
  ::setenv(kPluginVariable, file.dli_fname, 0);
  const char* const named = std::getenv(kPluginVariable);
  return named && std::strcmp(named, file.dli_fname) == 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const TuttiNcclApi* tutti_nccl_api() {
  static const TuttiNcclApi api{kTuttiNcclInterface,
                                sizeof(TuttiNcclApi),
                                version,
                                error_text,
                                last_error,
                                make_id,
                                group_begin,
                                group_end,
                                make_communicator,
                                state,
                                finalize,
                                discard,
                                abort_now,
                                all_reduce,
                                reduce_scatter,
                                all_gather,
                                broadcast,
                                reduce,
                                send,
                                receive,
                                follow_channels,
                                take_channels};
  return &api;
}
