#pragma once

#include <cstdint>

// The interface of the NCCL module (libtutti_nccl.so) in plain C. It only forwards NCCL's calls and
// profiler events. See real/cuda/api.h for the reasons.

extern "C" {

/// The version of the function table below.
inline constexpr std::uint32_t kTuttiNcclInterface = 4;

/// ncclInProgress: the operation is in progress. Not an error.
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

/// A channel of an operation: the share of its data that one thread block of the kernel moves over
/// one route.
struct TuttiNcclChannel {
  /// The communicator's number, as given to make_communicator().
  std::int32_t communicator;
  std::int32_t channels;  ///< number of channels of the operation
  /// The index of the operation on this communicator, from 0. Operations without elements are not
  /// counted.
  std::int64_t operation;
  std::int32_t channel;
  std::int32_t function;  ///< the collective: a TuttiNcclFunction
  /// The size of the operation in bytes, as NCCL counts it; -1: its data type is not used by Tutti.
  std::int64_t bytes;
  std::uint64_t begin_ns;  ///< start by the device's global timer, in ns
  std::uint64_t end_ns;
};

/// The module's functions. Functions with result int, except take_channels(), return 0 or an NCCL
/// error number. Operations and types have the numbers of real::Operation and core::DataType.
/// Streams are cudaStream_t of the communicator's device.
struct TuttiNcclApi {
  std::uint32_t interface_number;  ///< equals kTuttiNcclInterface
  std::uint32_t size;              ///< size of this struct in bytes

  int (*version)(int* version);  ///< version of the loaded library, such as 22809 for 2.28.9
  const char* (*error_text)(int error);
  /// Returns NCCL's last error message for the communicator, or for the process if `communicator`
  /// is null; may be empty.
  const char* (*last_error)(TuttiNcclCommunicator* communicator);

  /// Creates the identifier of a new communicator, which has kTuttiNcclIdBytes bytes. All ranks of
  /// the communicator need it.
  int (*make_id)(char* id);
  int (*group_begin)();
  /// Ends a group. May return kTuttiNcclInProgress; state() of the communicators then returns the
  /// result.
  int (*group_end)();
  /// Starts to create rank `rank` of `ranks` on `device`, without waiting for the other ranks.
  /// state() returns 0 when this is done. take_channels() refers to the communicator by `number`.
  int (*make_communicator)(int device, const char* id, int ranks, int rank, int number,
                           TuttiNcclCommunicator** communicator);
  /// Returns 0, kTuttiNcclInProgress, or an asynchronous error, for example if a peer is gone.
  int (*state)(TuttiNcclCommunicator* communicator);
  /// Starts to end the communicator together with its peers. When state() returns 0, all its
  /// operations are done, and discard() has to be called.
  int (*finalize)(TuttiNcclCommunicator* communicator);
  int (*discard)(TuttiNcclCommunicator* communicator);
  /// Ends the communicator without its peers, and ends kernels that wait for them.
  int (*abort)(TuttiNcclCommunicator* communicator);

  /// All-reduces `count` elements. `from` may equal `to`.
  int (*all_reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                    std::int64_t count, int type, int operation, void* stream);
  /// Reduces ranks · count elements. Rank r receives part r, of `count` elements.
  int (*reduce_scatter)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                        std::int64_t count, int type, int operation, void* stream);
  /// Gathers `count` elements of each rank on every rank, in the order of ranks.
  int (*all_gather)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                    std::int64_t count, int type, void* stream);
  int (*broadcast)(TuttiNcclCommunicator* communicator, const void* from, void* to,
                   std::int64_t count, int type, int root, void* stream);
  int (*reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count,
                int type, int operation, int root, void* stream);
  /// Sends `count` elements to `peer`, which may be this rank, and which has to receive the same
  /// number from this rank. Sends and receives within a group run concurrently. Outside a group,
  /// each waits for its counterpart.
  int (*send)(TuttiNcclCommunicator* communicator, const void* from, std::int64_t count, int type,
              int peer, void* stream);
  int (*receive)(TuttiNcclCommunicator* communicator, void* to, std::int64_t count, int type,
                 int peer, void* stream);

  /// Makes NCCL report the channels of communicators. To be called before the process creates its
  /// first communicator; needs NCCL 2.27 or later, which has a profiler. Returns false if the user
  /// has configured another profiler.
  bool (*follow_channels)();
  /// Removes up to `most` completed channels from the reported ones, oldest first, writes them to
  /// `to`, and returns their number. NCCL reports channels shortly after the operation is done.
  int (*take_channels)(TuttiNcclChannel* to, int most);
};

/// The type and the name of the function that the module exports. It returns the table.
using TuttiNcclEntry = const TuttiNcclApi* (*)();
inline constexpr char kTuttiNcclEntry[] = "tutti_nccl_api";

}  // extern "C"
