// A hundred damaged files of each format: each is refused with a location and a remedy, or it is
// still an algorithm, which the checker then examines within bounded time.

#include <gtest/gtest.h>

#include "core/algorithm/ring.h"
#include "core/base/random.h"
#include "core/custom/msccl.h"
#include "core/custom/mscclpp/mscclpp.h"
#include "core/schedule/checker.h"
#include "tests/core/custom/shipped.h"

namespace tutti::core {
namespace {

struct Format {
  const char* name;
  std::string good;  ///< a valid file for 4 ranks
  int least_refused;
};

std::string teccl_of_four() {
  std::string flows;
  for (int source = 0; source < 4; ++source) {
    for (int epoch = 0; epoch < 3; ++epoch)
      flows += fmt::format("{}\"Chunk 0 from {} traveled over {}->{} in epoch {}\"",
                           flows.empty() ? "" : ",\n", source, (source + epoch) % 4,
                           (source + epoch + 1) % 4, epoch);
  }
  return "{\"3-Epochs_Required\": 3, \"7-Flows\": [\n" + flows + "]}";
}

std::string forest_of_four() {
  std::string text = "<Algo nchunkspernode=\"1\">\n";
  for (int root = 0; root < 4; ++root) {
    text += fmt::format("<tree root=\"(0, 'GPU', {})\" index=\"0\" nchunks=\"1\" height=\"3\">\n",
                        root);
    for (int hop = 0; hop < 3; ++hop)
      text += fmt::format("<send src=\"(0, 'GPU', {0})\" dst=\"(0, 'GPU', {1})\"/>\n",
                          (root + hop) % 4, (root + hop + 1) % 4);
    text += "</tree>\n";
  }
  return text + "</Algo>\n";
}

std::vector<Format> formats() {
  const auto schedule = ring_all_reduce(4, 4);
  const auto xml = custom::to_msccl(*schedule, Contract::all_reduce(4, 4), "ring");
  const auto plan = custom::to_mscclpp(*schedule, Contract::all_reduce(4, 4), "ring", 2);
  EXPECT_TRUE(xml && plan);
  return {{"language", test::text_of_algorithm("in_switch"), 50},
          {"msccl", xml ? *xml : "", 60},
          {"mscclpp", plan ? *plan : "", 60},
          {"teccl", teccl_of_four(), 60},
          {"forestcoll", forest_of_four(), 60}};
}

/// Damages a file: cuts it, or removes, repeats, exchanges or replaces a part of it.
std::string damaged(std::string text, std::uint64_t seed) {
  Random random(seed);
  // Comments at the beginning of the language's files are no target.
  const std::size_t first = std::min(text.find("algorithm in_switch"), text.size()) % text.size();
  const std::size_t at = first + random.below(text.size() - first);
  const std::size_t length = 1 + random.below(40);
  switch (seed % 6) {
    case 0: return text.substr(0, at);
    case 1: return text.erase(at, length);
    case 2: return text.insert(at, text.substr(first + random.below(text.size() - first), length));
    case 3: {
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (digit != std::string::npos) text.replace(digit, 1, "987654321987");
      return text;
    }
    case 4: return text.insert(at, 1, static_cast<char>(1 + random.below(254)));
    default: {
      const std::size_t other = first + random.below(text.size() - first);
      std::swap(text[at], text[other]);
      return text;
    }
  }
}

TEST(MalformedAlgorithms, AreRefusedWithAPositionOrProved) {
  for (const Format& format : formats()) {
    Problems problems;
    const auto good = test::algorithm_of(format.good, {4, 2, 0}, problems);
    ASSERT_TRUE(good && problems.empty()) << format.name;
    int refused = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Problems found;
      const auto algorithm = test::algorithm_of(damaged(format.good, seed), {4, 2, 0}, found);
      if (!algorithm) {
        ++refused;
        ASSERT_FALSE(found.empty()) << format.name << " " << seed;
        const tl::unexpected<Error> error = found.take();
        for (const Problem& problem : error.value().problems()) {
          EXPECT_FALSE(problem.text.empty()) << format.name << " " << seed;
          EXPECT_FALSE(problem.where.file.empty()) << format.name << " " << seed;
        }
        continue;
      }
      if (algorithm->total_steps() > 100'000) continue;
      const std::int64_t elements = algorithm->padded(8);
      check(*algorithm->schedule(elements, 0, Engine::kKernel),
            Contract::of(algorithm->kind(), 4, elements, 0, false), {.random_orders = 0});
    }
    EXPECT_GE(refused, format.least_refused) << format.name;
  }
}

}  // namespace
}  // namespace tutti::core
