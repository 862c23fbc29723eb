#pragma once

#include "real/nccl/api.h"

namespace tutti::test {

/// NCCL of the mind, on the streams of FakeCuda: ranks of one process or of several meet in shared
/// memory. It insists on what NCCL insists on: operations of a communicator in the same order
/// everywhere (else they never end, or are refused), sends and receives that match, all local ranks
/// in one group, nothing asked of a communicator that is still in progress, a GPU per rank and
/// host. It is stricter in one thing: all ranks have to have sends or receives in a group, if one
/// has. Everything takes some looks to get on, as with non-blocking communicators. Environment:
/// TUTTI_FAKE_NCCL_FAILS_AT: the so many-th operation of a rank fails. TUTTI_FAKE_NCCL_TELLS of
/// channels: "nothing", as NCCL before 2.27; "others": of operations that nobody asked for; "late":
/// only one channel of each operation in time.
const TuttiNcclApi& fake_nccl_api();

/// What the fake has been asked for in this process, to be looked at by tests.
struct FakeNcclCounts {
  int communicators = 0;  ///< made and neither discarded nor aborted
  int aborted = 0;
  int all_reduces = 0;
  int broadcasts = 0;
  int sends = 0;
  int receives = 0;
};
FakeNcclCounts& fake_nccl_counts();

}  // namespace tutti::test
