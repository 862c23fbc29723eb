#include "core/cluster/nccl_sockets.h"

#include <limits>

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

struct Case {
  NcclSocketNumbers set;
  NcclSocketNumbers of_cards;
  NcclSockets used;
  std::size_t notes;  ///< number of NCCL's warnings, and of ignored numbers
};

/// SOURCE of the results: NVIDIA/nccl src/transport/net_socket.cc, ncclNetSocketGetNsockNthread,
/// computed by hand.
TEST(NcclSockets, AreLimitedAsInNccl) {
  const NcclSocketNumbers none, amazon{2, 8}, google{4, 1};
  const Case cases[] = {
      {none, none, {1, 1}, 0},
      {none, amazon, {2, 8}, 0},
      {none, google, {4, 1}, 0},
      {{8, {}}, none, {8, 1}, 0},
      {{8, {}}, amazon, {8, 8}, 0},
      {{9, {}}, amazon, {9, 7}, 1},
      {{{}, 32}, amazon, {2, 32}, 0},
      {{{}, 33}, amazon, {2, 32}, 1},
      {{16, 4}, none, {16, 4}, 0},
      {{16, 5}, none, {16, 4}, 1},
      {{17, 4}, none, {16, 4}, 1},
      {{64, 64}, none, {16, 4}, 2},
      {{kHuge, kHuge}, none, {16, 4}, 2},
      {{1, 64}, none, {1, 64}, 0},
      {{1, 65}, none, {1, 64}, 1},
      // Without threads or without sockets, the main thread sends over one socket.
      {{{}, 8}, none, {1, 1}, 1},
      {{0, 8}, amazon, {1, 1}, 1},
      {{0, {}}, google, {1, 1}, 0},
      {{8, 0}, none, {1, 1}, 0},
  };
  for (const Case& one : cases) {
    std::vector<std::string> notes;
    const NcclSockets used = nccl_sockets(one.set, one.of_cards, notes);
    const auto text = [](std::optional<std::int64_t> number) {
      return number ? std::to_string(*number) : "unset";
    };
    EXPECT_EQ(used, one.used) << text(one.set.threads) << " " << text(one.set.per_thread) << ": "
                              << used.threads << " " << used.per_thread;
    EXPECT_EQ(notes.size(), one.notes) << text(one.set.threads) << " " << text(one.set.per_thread);
  }
}

}  // namespace
}  // namespace tutti::core
