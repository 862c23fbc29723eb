#pragma once

#include <cstdint>

// The interface of the NCCL module (libtutti_nccl.so) in plain C. The module only forwards calls to
// NCCL, and profiler events from NCCL. See real/cuda/api.h for the reasons.

extern "C" {

/// The version of the function table below.
inline constexpr std::uint32_t kTuttiNcclInterface = 4;

/// The result of a function whose operation is in progress (ncclInProgress). Not an error.
inline constexpr int kTuttiNcclInProgress = 7;

inline constexpr int kTuttiNcclIdBytes = 128;

/// An ncclComm_t.
struct TuttiNcclCommunicator;

enum TuttiNcclFunction : std::int32_t {
  kTuttiNcclOther,
  kTuttiNcclAllReduce,
  kTuttiNcclReduceScatter,
  kTuttiNcclAllGather,
  kTuttiNcclBroadcast,
  kTuttiNcclReduce
};

/// NCCL's report on one channel of an operation. One thread block of NCCL's kernel executes a
/// channel, and moves a part of the operation's data over one route.
struct TuttiNcclChannel {
  /// The communicator's number, as given to make_communicator().
  std::int32_t communicator;
  std::int32_t channels;  ///< number of channels of the operation
  /// The index of the operation on this communicator, from 0. NCCL's count skips operations without
  /// elements.
  std::int64_t operation;
  std::int32_t channel;
  std::int32_t function;  ///< the collective: a TuttiNcclFunction
  /// The size of the operation's data in bytes, as reported by NCCL; -1 if Tutti does not know the
  /// operation's data type.
  std::int64_t bytes;
  std::uint64_t begin_ns;  ///< start by the device's global timer, in ns
  std::uint64_t end_ns;
};

/// The module's functions. Functions with result int, except take_channels(), return 0 or an NCCL
/// error number. Operations and types are passed as the integer values of real::Operation and
/// core::DataType. Streams have type cudaStream_t, and belong to the communicator's device.
struct TuttiNcclApi {
  std::uint32_t interface_number;  ///< equals kTuttiNcclInterface
  std::uint32_t size;              ///< size of this struct in bytes

  int (*version)(int* version);  ///< version of the loaded library, such as 22809 for 2.28.9
  const char* (*error_text)(int error);
  /// Returns NCCL's last error message for the communicator, or for the process if `communicator`
  /// is null. The returned text may be empty.
  const char* (*last_error)(TuttiNcclCommunicator* communicator);

  /// Creates the identifier of a new communicator, of kTuttiNcclIdBytes bytes. All ranks of the
  /// communicator need the same identifier.
  int (*make_id)(char* id);
  int (*group_begin)();
  /// Ends a group. May return kTuttiNcclInProgress. If group_end() returns kTuttiNcclInProgress,
  /// state() returns the result of each communicator later.
  int (*group_end)();
  /// Begins to create rank `rank` of a communicator of `ranks` ranks on `device`, without waiting
  /// for the other ranks. The function state() returns 0 when the communicator has been created.
  /// The function take_channels() identifies the communicator by `number`.
  int (*make_communicator)(int device, const char* id, int ranks, int rank, int number,
                           TuttiNcclCommunicator** communicator);
  /// Returns 0, kTuttiNcclInProgress, or an asynchronous error, for example if a peer is gone.
  int (*state)(TuttiNcclCommunicator* communicator);
  /// Begins to end the communicator. All ranks have to call this function. When state() returns 0,
  /// all operations of the communicator are done, and the caller has to call discard().
  int (*finalize)(TuttiNcclCommunicator* communicator);
  int (*discard)(TuttiNcclCommunicator* communicator);
  /// Ends the communicator without waiting for its peers, and ends kernels that wait for peers.
  int (*abort)(TuttiNcclCommunicator* communicator);

  /// All-reduces `count` elements. `from` may equal `to`.
  int (*all_reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                    std::int64_t count, int type, int operation, void* stream);
  /// Reduces `count` elements per rank of the communicator. Rank r receives elements r · count to
  /// (r + 1) · count - 1 of the result.
  int (*reduce_scatter)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                        std::int64_t count, int type, int operation, void* stream);
  /// Gathers `count` elements of every rank on all ranks, in the order of ranks.
  int (*all_gather)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                    std::int64_t count, int type, void* stream);
  int (*broadcast)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                   std::int64_t count, int type, int root, void* stream);
  int (*reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count,
                int type, int operation, int root, void* stream);
  /// Sends `count` elements to `peer`, which has to receive the same number of elements from this
  /// rank. `peer` may be this rank itself. Sends and receives within a group run concurrently.
  /// Outside a group, a send waits for its receive, and vice versa.
  int (*send)(TuttiNcclCommunicator* communicator, const void* from, std::int64_t count, int type,
              int peer, void* stream);
  int (*receive)(TuttiNcclCommunicator* communicator, void* to, std::int64_t count, int type,
                 int peer, void* stream);

  /// Makes NCCL report when the channels of operations begin and end. Must be called before the
  /// process creates its first communicator. Requires the profiler interface of NCCL 2.27 or later.
  /// Returns false if the user has configured another profiler.
  bool (*follow_channels)();
  /// Moves up to `most` reports of completed channels to `to`, oldest first, and returns their
  /// number. NCCL reports channels shortly after the operation is done.
  int (*take_channels)(TuttiNcclChannel* to, int most);
};

/// The type and the name of the only function that the module exports. The function returns the
/// function table.
using TuttiNcclEntry = const TuttiNcclApi* (*)();
inline constexpr char kTuttiNcclEntry[] = "tutti_nccl_api";

}  // extern "C"
