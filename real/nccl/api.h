#pragma once

#include <cstdint>

// What the NCCL module (libtutti_nccl.so) does for the program, in plain C: NCCL's own calls, and nothing besides. See
// real/cuda/api.h.

extern "C" {

/// Changes with every change of the table below.
inline constexpr std::uint32_t kTuttiNcclInterface = 4;

/// Under way: an answer that is no error. (ncclInProgress)
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

/// A channel of an operation: a share of its data that goes its own way, in one block of the kernel.
struct TuttiNcclChannel {
  std::int32_t communicator;  ///< the number that it was made with
  std::int32_t channels;      ///< of the operation
  std::int64_t operation;     ///< counted from 0 on this communicator; those of no elements do not count
  std::int32_t channel;
  std::int32_t function;   ///< of the operation, as NCCL names it: a TuttiNcclFunction
  std::int64_t bytes;      ///< of the operation's elements, as NCCL counts them; -1: of a type that is none of ours
  std::uint64_t begin_ns;  ///< of the device's global timer
  std::uint64_t end_ns;
};

/// Every call answers 0 or an error number of NCCL. Operations and types are numbered as real::Operation and
/// core::DataType are. Streams are cudaStream_t of the device that the communicator was made for.
struct TuttiNcclApi {
  std::uint32_t interface_number;  ///< kTuttiNcclInterface
  std::uint32_t size;              ///< of this struct

  int (*version)(int* version);  ///< of the library that was loaded: 22809 is 2.28.9
  const char* (*error_text)(int error);
  /// What NCCL last said about an error of the communicator (or of the process, if it is null); may be empty.
  const char* (*last_error)(TuttiNcclCommunicator* communicator);

  /// The name of a new communicator, kTuttiNcclIdBytes long: all its ranks need it.
  int (*make_id)(char* id);
  int (*group_begin)();
  /// May answer kTuttiNcclInProgress: then state() of the communicators tells how it went.
  int (*group_end)();
  /// Begins to make rank `rank` of `ranks` on `device`; never waits for the others. state() tells when it is done.
  /// `number`: what take_channels() calls it.
  int (*make_communicator)(int device, const char* id, int ranks, int rank, int number,
                           TuttiNcclCommunicator** communicator);
  /// 0, kTuttiNcclInProgress, or what has gone wrong with it since, by itself: a peer is gone.
  int (*state)(TuttiNcclCommunicator* communicator);
  /// Ends it together with its peers; state() tells when all that was asked is done. Then discard().
  int (*finalize)(TuttiNcclCommunicator* communicator);
  int (*discard)(TuttiNcclCommunicator* communicator);
  /// Ends it without its peers, and the kernels that wait for them.
  int (*abort)(TuttiNcclCommunicator* communicator);

  /// `count` elements from everyone, combined, to everyone. `from` may be `to`.
  int (*all_reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count, int type,
                    int operation, void* stream);
  /// Part r of the combined `ranks · count` elements to rank r.
  int (*reduce_scatter)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count, int type,
                        int operation, void* stream);
  /// `count` elements from everyone, one behind the other, to everyone.
  int (*all_gather)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count, int type,
                    void* stream);
  int (*broadcast)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count, int type,
                   int root, void* stream);
  int (*reduce)(TuttiNcclCommunicator* communicator, const void* from, void* to, std::int64_t count, int type,
                int operation, int root, void* stream);
  /// `count` elements to one rank, who takes so many from this one; it may be this one. Sends and receives of a group go
  /// at the same time: alone each waits for its counterpart.
  int (*send)(TuttiNcclCommunicator* communicator, const void* from, std::int64_t count, int type, int peer,
              void* stream);
  int (*receive)(TuttiNcclCommunicator* communicator, void* to, std::int64_t count, int type, int peer, void* stream);

  /// From the next communicator on, if it is the process's first, NCCL tells of channels (it has a profiler since 2.27).
  /// False if the user has given it another profiler.
  bool (*follow_channels)();
  /// Channels that are over, oldest first: at most `most`, which are then forgotten. Answers how many. NCCL tells of them a
  /// little after the operation is done.
  int (*take_channels)(TuttiNcclChannel* to, int most);
};

/// What the module exports, under this name.
using TuttiNcclEntry = const TuttiNcclApi* (*)();
inline constexpr char kTuttiNcclEntry[] = "tutti_nccl_api";

}  // extern "C"
