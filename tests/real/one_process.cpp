#include "tests/real/one_process.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

#include "tests/support/clusters.h"

namespace tutti::real {

using core::Rank;

double input(Rank rank, std::int64_t element) {
  return static_cast<double>((rank * 5 + element * 3) % 4);
}

Outcome run(const core::Collective& collective, Operation operation, const std::vector<Rank>& start,
            Devices& devices, LocalTransport& transport) {
  const Rank ranks = collective.schedule->ranks();
  Outcome outcome;
  outcome.data.resize(static_cast<std::size_t>(ranks));
  std::vector<Rank> all;
  std::vector<Devices::Memory> memory;
  std::vector<std::byte*> buffers;
  for (Rank r = 0; r < ranks; ++r) {
    all.push_back(r);
    std::vector<std::byte>& data = outcome.data[r];
    if (r < collective.contributors)
      data.resize(static_cast<std::size_t>(collective.bytes().count()));
    for (std::int64_t e = 0; r < collective.contributors && e < collective.elements; ++e)
      set_element(collective.type, data.data(), e, input(r, e));
    memory.push_back(devices.take(r, static_cast<std::int64_t>(data.size()), false));
    devices.copy_now(memory.back().get(), data.data(), static_cast<std::int64_t>(data.size()));
    buffers.push_back(memory.back().get());
  }
  Done done;
  Interpreter interpreter(transport, devices, done, true);
  transport.connect(interpreter, devices);
  const CollectiveTag tag{3, 5};
  interpreter.open(tag, collective, operation, all, buffers);
  for (const Rank r : start) {
    interpreter.start(tag, r);
    // Messages may arrive before their rank starts.
    interpreter.run_ready();
    EXPECT_TRUE(transport.poll({}));
    EXPECT_TRUE(devices.poll(interpreter));
  }
  const auto never = Devices::Clock::time_point::max();
  for (int idle = 0; idle < 3;) {
    interpreter.run_ready();
    EXPECT_TRUE(transport.poll({}));
    EXPECT_TRUE(devices.poll(interpreter));
    const bool busy =
        !transport.flushed() || interpreter.has_ready() || devices.next_due() != never;
    idle = busy ? 0 : idle + 1;
  }
  EXPECT_EQ(done.ranks.size(), static_cast<std::size_t>(ranks)) << interpreter.progress_text();
  if (done.ranks.size() == static_cast<std::size_t>(ranks)) interpreter.close(tag);
  outcome.steps = std::move(done.steps);
  for (std::size_t r = 0; r < memory.size(); ++r)
    devices.copy_now(outcome.data[r].data(), memory[r].get(),
                     static_cast<std::int64_t>(outcome.data[r].size()));
  return outcome;
}

Outcome run(const core::Collective& collective, Operation operation,
            const std::vector<Rank>& start) {
  HostDevices devices;
  LocalTransport transport;
  return run(collective, operation, start, devices, transport);
}

std::vector<Rank> in_order(Rank ranks) {
  std::vector<Rank> all;
  for (Rank r = 0; r < ranks; ++r) all.push_back(r);
  return all;
}

void for_every_algorithm(
    int workers, int gpus, const std::vector<std::int64_t>& elements,
    const std::function<void(const core::Collective&, const std::string&)>& with) {
  using core::AlgorithmChoice;
  const core::Cluster cluster(
      {{test::switch_machine(gpus), workers}}, gpus,
      core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::Time(), "test"});
  for (const AlgorithmChoice algorithm : core::algorithms()) {
    const core::Strategy strategy = core::Strategy::for_algorithm(algorithm);
    if (!core::problems_of(strategy, cluster).empty()) continue;
    for (const std::int64_t count : elements) {
      with(core::make_all_reduce(cluster, strategy, core::DataType::kFloat32, count, 0),
           fmt::format("{} {}x{}, {} elements", core::to_string(algorithm), workers, gpus, count));
    }
  }
}

void expect_all_reduced(const core::Collective& collective, Operation operation,
                        const Outcome& outcome, double factor, const std::string& what) {
  int wrong = 0;
  for (std::int64_t e = 0; e < collective.elements && wrong == 0; ++e) {
    double expected = input(0, e);
    for (Rank r = 1; r < collective.contributors; ++r) {
      const double x = input(r, e);
      switch (operation) {
        case Operation::kSum: expected += x; break;
        case Operation::kProduct: expected *= x; break;
        case Operation::kMin: expected = std::min(expected, x); break;
        case Operation::kMax: expected = std::max(expected, x); break;
      }
    }
    for (Rank r = 0; r < collective.contributors && wrong == 0; ++r) {
      const double got = element_at(collective.type, outcome.data[r].data(), e);
      if (got == expected * factor) continue;
      ++wrong;
      ADD_FAILURE() << what << ": element " << e << " of rank " << r << " is " << got << ", not "
                    << expected * factor;
    }
  }
}

}  // namespace tutti::real
