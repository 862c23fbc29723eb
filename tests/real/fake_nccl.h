#pragma once

#include "real/nccl/api.h"

namespace tutti::test {

/// A fake NCCL on the streams of FakeCuda. Ranks of one or several processes communicate through
/// shared memory. It has the same requirements as NCCL: all ranks start the operations of a
/// communicator in the same order (else these never end, or fail), sends and receives match, all
/// local ranks are in one group, a communicator is not used while an operation is in progress, and
/// each rank of a host has its own GPU. It is stricter in one respect: if one rank has sends or
/// receives in a group, all ranks must have some. Progress takes several calls of state(), as with
/// non-blocking communicators.
///
/// Environment variables: TUTTI_FAKE_NCCL_FAILS_AT is the number of a rank's operation that fails.
/// TUTTI_FAKE_NCCL_TELLS changes the reported channels: "nothing" reports none, as NCCL before
/// 2.27; "others" reports channels of operations that nobody requested; "late" reports only one
/// channel of each operation in time.
const TuttiNcclApi& fake_nccl_api();

/// Counts of calls to the fake in this process, for tests.
struct FakeNcclCounts {
  int communicators = 0;  ///< number of communicators that exist
  int aborted = 0;
  int all_reduces = 0;
  int broadcasts = 0;
  int sends = 0;
  int receives = 0;
};
FakeNcclCounts& fake_nccl_counts();

}  // namespace tutti::test
