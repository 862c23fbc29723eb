#pragma once

// The state of a job that NCCL's RAS service reports: the JSON of `ncclras -f json` (NCCL 2.28 and
// later), or the text of `ncclras` (2.24 and later).
// SOURCE: NVIDIA/nccl src/ras/client_support.cc.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

struct RasRank {
  std::int64_t rank = -1;
  std::string host;
  std::int64_t pid = -1, device = -1;
  std::string state;  ///< init_state, or the reason why the rank is missing
  std::string error;  ///< async_error, if it is not "success"
  bool is_missing = false;
  std::map<std::string, std::int64_t> collectives;  ///< number of calls by NCCL function
};

/// A communicator of a JSON status. A status in text form does not list single communicators, but
/// groups of communicators with the same numbers of nodes and ranks. Each group becomes one
/// RasCommunicator without ranks, in which `communicators` is the size of the group.
struct RasCommunicator {
  std::string hash;
  std::int64_t size = -1;
  std::int64_t nodes = -1;  ///< only in a status in text form
  std::int64_t communicators = 1;
  std::vector<RasRank> ranks;
};

struct RasStatus {
  std::string nccl_version;
  std::int64_t timeouts = 0;          ///< RAS processes that did not answer
  std::vector<std::string> warnings;  ///< lines of the sections Errors and Warnings of a status in
                                      ///< text form
};

/// True if a file with these first bytes is a RAS status.
bool is_nccl_ras(std::string_view first_bytes);

/// Reads a status. Calls `take` for each communicator; one communicator at a time is in memory.
/// ERRORS: the JSON is damaged (with line and column); the file has no communicator.
Expected<RasStatus> read_nccl_ras(ByteInput& input, const std::string& name,
                                  const std::function<void(const RasCommunicator&)>& take,
                                  RecordCounts& counts);

}  // namespace tutti::core
