// Ranks whose memory the host cannot access, and whose operations take time. To the interpreter
// they behave like GPUs, but no GPU is needed. The memory is unreadable except while an operation
// runs, so any access by the host ends the test.

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "core/algorithm/ring.h"
#include "core/base/random.h"
#include "tests/real/one_process.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::Rank;

/// The memory of devices, which is inaccessible unless an `Unlocked` object exists.
class Vault {
 public:
  static constexpr std::size_t kBytes = std::size_t{256} << 20;
  Vault()
      : memory_(::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                       0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Vault() { ::munmap(memory_, kBytes); }
  Vault(const Vault&) = delete;
  Vault& operator=(const Vault&) = delete;

  std::byte* take(std::int64_t bytes) {
    std::byte* const memory = static_cast<std::byte*>(memory_) + used_;
    used_ += (static_cast<std::size_t>(bytes) + 63) / 64 * 64;
    if (used_ > kBytes) throw std::bad_alloc();
    return memory;
  }
  void allow(int access) { ::mprotect(memory_, kBytes, access); }

 private:
  void* memory_ = nullptr;
  std::size_t used_ = 0;
};

class Unlocked {
 public:
  explicit Unlocked(Vault& vault) : vault_(vault) { vault_.allow(PROT_READ | PROT_WRITE); }
  ~Unlocked() { vault_.allow(PROT_NONE); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  Vault& vault_;
};

/// Devices for which every `far_each`-th rank is far. An operation completes at some later poll.
/// The operations of one lane complete in order, those of different lanes in any order.
class FarDevices : public Devices {
 public:
  explicit FarDevices(int far_each, std::uint64_t seed) : far_each_(far_each), random_(seed) {}

  [[nodiscard]] bool host_reaches(Rank rank) const override { return rank % far_each_ != 0; }
  Memory take(Rank rank, std::int64_t bytes, bool for_host) override {
    if (for_host || host_reaches(rank)) return host_.take(rank, bytes, true);
    return {vault_.take(bytes), {[](void*, std::byte*) {}, nullptr}};
  }
  void copy_now(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    const Unlocked unlocked(vault_);
    host_.copy_now(to, from, bytes);
  }
  bool perform(const Work& work, Ticket ticket) override {
    if (host_reaches(work.rank)) {
      perform_here(work);
      return true;
    }
    queues_[{work.rank, work.lane}].push_back({work, ticket});
    return false;
  }
  core::Expected<void> poll(WorkListener& listener) override {
    std::vector<Asked> done;
    for (auto queue = queues_.begin(); queue != queues_.end();) {
      for (std::uint64_t n = random_.below(3); n > 0 && !queue->second.empty(); --n) {
        done.push_back(queue->second.front());
        queue->second.pop_front();
      }
      queue = queue->second.empty() ? queues_.erase(queue) : std::next(queue);
    }
    if (!done.empty()) {
      const Unlocked unlocked(vault_);
      for (const Asked& requested : done) perform_here(requested.work);
    }
    for (const Asked& requested : done) listener.worked(requested.ticket);
    return {};
  }
  [[nodiscard]] Clock::time_point next_due() const override {
    return queues_.empty() ? Clock::time_point::max() : Clock::time_point();
  }

 private:
  struct Asked {
    Work work;
    Ticket ticket = 0;
  };
  int far_each_;
  core::Random random_;
  HostDevices host_;
  Vault vault_;
  std::map<std::pair<Rank, core::Lane>, std::deque<Asked>> queues_;
};

void expect_right(const core::Collective& collective, int far_each, bool local, std::uint64_t seed,
                  const std::string& what) {
  FarDevices devices(far_each, seed);
  LocalTransport inside;
  LeavesTheProcess outside;
  const Outcome outcome = run(collective, Operation::kSum, in_order(collective.schedule->ranks()),
                              devices, local ? inside : outside);
  expect_all_reduced(collective, Operation::kSum, outcome, 1, what);
}

TEST(FarDevices, EveryAlgorithmReducesWithoutHostAccessToDeviceMemory) {
  for (const auto& [workers, gpus] : {std::pair{1, 4}, std::pair{3, 1}, std::pair{2, 4}}) {
    for_every_algorithm(workers, gpus, {1, 1009, 40'001},
                        [](const core::Collective& collective, const std::string& name) {
                          for (const int far_each : {1, 2}) {
                            for (const bool local : {true, false}) {
                              expect_right(collective, far_each, local, 7,
                                           fmt::format("{}, each {}, {}", name, far_each,
                                                       local ? "local" : "remote"));
                            }
                          }
                        });
  }
}

/// Messages have many pieces and there are few slots. There are more pieces than a lane has buffers
/// for sending.
TEST(FarDevices, LongMessagesAndFewSlots) {
  const auto cluster = test::plain_cluster(2);
  for (const int credits : {1, 2, core::kUnlimitedCredits}) {
    core::RingOptions options;
    options.credits = credits;
    const core::Collective collective =
        test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 1'200'011, options), 1'200'011);
    for (const bool local : {true, false})
      expect_right(collective, 1, local, 11,
                   fmt::format("{} slots, {}", credits, local ? "local" : "remote"));
  }
}

}  // namespace
}  // namespace tutti::real
