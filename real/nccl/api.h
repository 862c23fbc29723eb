#pragma once

#include <cstdint>

// The interface of the NCCL module (libtutti_nccl.so), in plain C: NCCL's own calls and nothing
// else. See real/cuda/api.h.

extern "C" {

/// The version of the table below.
inline constexpr std::uint32_t kTuttiNcclInterface = 4;

/// The operation is in progress; not an error. (ncclInProgress)
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

/// A channel of an operation: a share of its data with a route of its own, in one block of the
/// kernel.
struct TuttiNcclChannel {
  std::int32_t communicator;  ///< number of the communicator, as given to make_communicator()
  std::int32_t channels;      ///< number of channels of the operation
  /// Number of the operation on this communicator, from 0; operations without elements are not
  /// counted.
  std::int64_t operation;
  std::int32_t channel;
  std::int32_t function;  ///< the function of the operation: a TuttiNcclFunction
  /// Size of the operation's elements in bytes, as NCCL counts; -1: a type that Tutti does not use.
  std::int64_t bytes;
  std::uint64_t begin_ns;  ///< begin by the device's global timer, in ns
  std::uint64_t end_ns;
};

/// Every call returns 0 or an error number of NCCL. Operations and types have the numbers of
/// real::Operation and core::DataType. Streams are cudaStream_t of the communicator's device.
struct TuttiNcclApi {
  std::uint32_t interface_number;  ///< equals kTuttiNcclInterface
  std::uint32_t size;              ///< size of this struct in bytes

  int (*version)(int* version);  ///< version of the loaded library, such as 22809 for 2.28.9
  const char* (*error_text)(int error);
  /// Returns NCCL's last message about an error of the communicator (or of the process, if it is
  /// null); may be empty.
  const char* (*last_error)(TuttiNcclCommunicator* communicator);

  /// Creates the identifier of a new communicator, kTuttiNcclIdBytes long, which all its ranks
  /// need.
  int (*make_id)(char* id);
  int (*group_begin)();
  /// May return kTuttiNcclInProgress; then state() of the communicators returns the result.
  int (*group_end)();
  /// Starts to create rank `rank` of `ranks` on `device`, without waiting for the others; state()
  /// reports when it is done. take_channels() refers to the communicator by `number`.
  int (*make_communicator)(int device, const char* id, int ranks, int rank, int number,
                           TuttiNcclCommunicator** communicator);
  /// Returns 0, kTuttiNcclInProgress, or an asynchronous error, such as that a peer is gone.
  int (*state)(TuttiNcclCommunicator* communicator);
  /// Ends the communicator together with its peers; state() reports when all its operations are
  /// done. Then call discard().
  int (*finalize)(TuttiNcclCommunicator* communicator);
  int (*discard)(TuttiNcclCommunicator* communicator);
  /// Ends the communicator without its peers, together with kernels that wait for them.
  int (*abort)(TuttiNcclCommunicator* communicator);

  /// All-reduces `count` elements. `from` may be `to`.
  int (*all_reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                    std::int64_t count, int type, int operation, void* stream);
  /// Reduces `ranks · count` elements; rank r receives part r.
  int (*reduce_scatter)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                        std::int64_t count, int type, int operation, void* stream);
  /// Gathers `count` elements of each rank, in the order of ranks, on every rank.
  int (*all_gather)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                    std::int64_t count, int type, void* stream);
  int (*broadcast)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                   std::int64_t count, int type, int root, void* stream);
  int (*reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count,
                int type, int operation, int root, void* stream);
  /// Sends `count` elements to one rank (possibly this one), which has to receive as many from this
  /// one. Sends and receives within a group run concurrently; outside a group each waits for its
  /// counterpart.
  int (*send)(TuttiNcclCommunicator* communicator, const void* from, std::int64_t count, int type,
              int peer, void* stream);
  int (*receive)(TuttiNcclCommunicator* communicator, void* to, std::int64_t count, int type,
                 int peer, void* stream);

  /// Makes NCCL report channels from the next communicator on, if that is the process's first (NCCL
  /// has a profiler since 2.27). Returns false if the user has configured another profiler.
  bool (*follow_channels)();
  /// Takes up to `most` completed channels, oldest first, and returns their number. NCCL reports
  /// them shortly after the operation is done.
  int (*take_channels)(TuttiNcclChannel* to, int most);
};

/// The type and the name of the function that the module exports.
using TuttiNcclEntry = const TuttiNcclApi* (*)();
inline constexpr char kTuttiNcclEntry[] = "tutti_nccl_api";

}  // extern "C"
