// Interference between computation and communication. Interference that is off changes nothing, and
// interference that is on only slows a run down. The tests compare slowdowns with closed forms, and
// check the resources that each span of a timeline holds.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"

namespace tutti {
namespace {

using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;

/// All spans and records of a run.
struct KeptSpans : core::Summary {
  void track(const core::Track& track) override { tracks[track.id] = track; }
  void span(core::TrackId track, const Span& span) override { spans[track].push_back(span); }
  std::map<core::TrackId, core::Track> tracks;
  std::map<core::TrackId, std::vector<Span>> spans;
};

struct Box {
  int gpus = 2;
  std::string multiprocessors = "multiprocessors: 20";
  double memory_gb_per_s = 1000;
  double link_gb_per_s = 25;
};

std::string machine(const Box& box) {
  return fmt::format(
      "machine {{ name: \"box\" device {{ name: \"gpu[0-{0}]\" kind: GPU memory_gb_per_s: {1} {2} "
      "}} switch {{ name: "
      "\"nvs\" kind: NVSWITCH }} link {{ from: \"gpu[0-{0}]\" to: \"nvs\" kind: NVLINK "
      "bandwidth_gb_per_s: {3} "
      "latency_us: 0.7 }} }}",
      box.gpus - 1, box.memory_gb_per_s, box.multiprocessors, box.link_gb_per_s);
}

/// Returns a scenario with two layers. The gradients of b (8 MB) are reduced while a is computed
/// for 3 ms.
std::string scenario(const Box& box, const std::string& strategy = "channels: 4 bytes_per_pack: 1",
                     const std::string& run = "steps: 2",
                     const std::string& workload = "compute_bound_percent: 100") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"box\" }} {} }}\nworkload {{ variable {{ name: \"a\" shape: "
      "1000000 "
      "backward_ms: 3 "
      "}} variable {{ name: \"b\" shape: 2000000 backward_ms: 2 }} forward_ms: 4 update_ms: 0 {} "
      "}}\nstrategy {{ "
      "algorithm: \"nccl\" {} }}\nrun {{ {} }}",
      machine(box), workload, strategy, run);
}

KeptSpans simulated_spans(const std::string& text,
                          core::RecordLevel level = core::RecordLevel::kSteps) {
  const auto read =
      core::read_scenario(text, "f", core::Library(std::vector<core::Library::File>()));
  EXPECT_TRUE(read) << (read ? "" : read.error().message()) << '\n' << text;
  core::RecordOptions record;
  record.level = level;
  KeptSpans kept;
  const auto ran =
      sim::Simulator(sim::Folds::kNever, sim::SkipRepeats::kNever).run(*read, record, {}, kept);
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message());
  return kept;
}

Time length(const core::StepRecord& step) { return step.end - step.start; }

core::PackRecord pack_of(const KeptSpans& kept, int pack) {
  for (const core::PackRecord& p : kept.last_packs())
    if (p.pack == pack) return p;
  ADD_FAILURE() << "no pack " << pack;
  return {};
}

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// --- closed forms ---

TEST(Interference, ALayerLosesMultiprocessorsWhileTheCollectiveIsOnTheDevice) {
  const KeptSpans kept = simulated_spans(scenario({}, "channels: 1 bytes_per_pack: 1"));
  const core::PackRecord b = pack_of(kept, 0);
  const Time flight = b.end - b.first_start;
  ASSERT_LT(flight, core::milliseconds(3)) << "the collective ends before the layer";
  const Time slowed(quotient_up(flight.count(), 20));
  for (const core::StepRecord& step : kept.steps()) {
    EXPECT_EQ(step.slowed, slowed);
    EXPECT_EQ(step.backward, core::milliseconds(5) + slowed);
    EXPECT_EQ(step.forward, core::milliseconds(4));
  }
}

TEST(Interference, ALayerDuringACollectiveRunsOnTheRemainingMultiprocessors) {
  for (const int channels : {1, 4, 8, 19, 32}) {
    const KeptSpans kept = simulated_spans(
        scenario({.link_gb_per_s = 0.01}, fmt::format("channels: {} bytes_per_pack: 1", channels)));
    const std::int64_t left = std::max(1, 20 - channels);
    EXPECT_EQ(kept.steps()[1].backward,
              core::milliseconds(2) + Time(quotient_up(20 * core::milliseconds(3).count(), left)))
        << channels;
  }
}

TEST(Interference, WaitingKernelsSlowEarlyRanks) {
  const std::string late = "}\nconditions { slow { worker: 0 device: \"gpu1\" slowdown: 1.3 }";
  const KeptSpans kept =
      simulated_spans(scenario({}, "channels: 1 bytes_per_pack: 1", "steps: 1 " + late));
  const core::PackRecord b = pack_of(kept, 0);
  EXPECT_EQ(b.last_start - b.first_start, core::microseconds(1'800))
      << "0.3 of forward pass and layer b";
  for (const auto& [id, spans] : kept.spans) {
    if (kept.tracks.at(id).kind != TrackKind::kCompute || kept.tracks.at(id).device != "gpu0")
      continue;
    for (const Span& span : spans) {
      if (span.kind != SpanKind::kFirstCompute + 1 || span.index != 1) continue;
      EXPECT_EQ(span.start, b.first_start);
      EXPECT_EQ(span.duration,
                core::milliseconds(3) + Time(quotient_up((b.end - b.first_start).count(), 20)));
    }
  }
}

TEST(Interference, CollectivesTakeMemoryBandwidthFromComputation) {
  // An all-reduce of two ranks accesses memory 1 + 4 + 3 times per chunk of 4 MB: once to send it,
  // 4 times to receive, add and forward it, and 3 times to receive the result.
  const KeptSpans kept =
      simulated_spans(scenario({.memory_gb_per_s = 500}, "channels: 1 bytes_per_pack: 1",
                               "steps: 2", "compute_bound_percent: 0"));
  const Time lost =
      core::transfer_time(1 + 4 + 3, core::Bytes(4'000'000), core::Bandwidth(500'000'000'000));
  EXPECT_EQ(kept.steps()[1].slowed, lost);
  const KeptSpans half = simulated_spans(
      scenario({.multiprocessors = "", .memory_gb_per_s = 500}, "channels: 1 bytes_per_pack: 1",
               "steps: 2 interference: ON", "compute_bound_percent: 50"));
  EXPECT_EQ(half.steps()[1].slowed, Time(lost.count() / 2))
      << "multiprocessors are not known: none are taken";
}

/// The reverse direction: NCCL's additions share memory bandwidth with memory-bound computation,
/// and nothing with compute-bound computation.
TEST(Interference, ComputationTakesMemoryBandwidthFromAdditions) {
  const auto flight = [](const std::string& run, const std::string& workload) {
    const core::PackRecord b =
        pack_of(simulated_spans(scenario({.memory_gb_per_s = 100}, "channels: 1 bytes_per_pack: 1",
                                         "steps: 1 " + run, workload)),
                0);
    return b.end - b.first_start;
  };
  const Time alone = flight("interference: OFF", "");
  EXPECT_EQ(flight("", "compute_bound_percent: 100"), alone);
  // Each addition takes twice as long. The 4 MB are added in four slices in sequence, and the
  // transfers hide all slices but a part of the last slice.
  EXPECT_GT(flight("", "compute_bound_percent: 0"), alone);
}

// --- properties ---

TEST(Interference, IsOffByRequestAndWithoutRates) {
  const KeptSpans off =
      simulated_spans(scenario({}, "channels: 4 bytes_per_pack: 1", "steps: 3 interference: OFF"));
  const KeptSpans unknown = simulated_spans(
      scenario({.multiprocessors = ""}, "channels: 4 bytes_per_pack: 1", "steps: 3"));
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(off.steps()[s].slowed, Time());
    EXPECT_EQ(off.steps()[s].backward, core::milliseconds(5));
    EXPECT_EQ(off.steps()[s].end, unknown.steps()[s].end);
  }
  EXPECT_GT(simulated_spans(scenario({})).steps()[0].end, off.steps()[0].end);
}

TEST(Interference, WithoutOverlapChangesNothing) {
  for (const std::string strategy : {"channels: 8 bytes_per_pack: 0", "num_packs: 1"}) {
    const KeptSpans on = simulated_spans(scenario({}, strategy, "steps: 3 interference: ON"));
    const KeptSpans off = simulated_spans(scenario({}, strategy, "steps: 3 interference: OFF"));
    for (std::size_t s = 0; s < 3; ++s) {
      EXPECT_EQ(on.steps()[s].end, off.steps()[s].end);
      EXPECT_EQ(on.steps()[s].slowed, Time());
    }
  }
}

TEST(Interference, SlowsCpusOnlyIfEnabled) {
  const auto hosts = [](const std::string& run) {
    return simulated_spans(
        "cluster { workers { machine: \"host\" count: 3 } network { kind: ONE_SWITCH latency_us: 1 "
        "} machine { name: "
        "\"host\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 30 } nic { name: \"nic0\" "
        "bandwidth_gb_per_s: 3 } "
        "link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 16 latency_us: 0 } } "
        "}\nworkload { variable "
        "{ "
        "name: \"a\" shape: 1000000 backward_ms: 9 } variable { name: \"b\" shape: 3000000 "
        "backward_ms: 2 } update_ms: "
        "0 "
        "}\nstrategy { algorithm: \"ring\" bytes_per_pack: 1 }\nrun { steps: 1 " +
        run + " }");
  };
  const KeptSpans plain = hosts(""), off = hosts("interference: OFF"),
                  on = hosts("interference: ON");
  EXPECT_EQ(plain.steps()[0].end, off.steps()[0].end);
  EXPECT_EQ(plain.steps()[0].slowed, Time());
  // Two thirds of b's 12 MB are sent and received, with two memory accesses each, at 30 GB/s. Two
  // thirds of the 12 MB are added at 10 GB/s.
  const Time bytes =
      core::transfer_time(8, core::Bytes(4'000'000), core::Bandwidth(30'000'000'000));
  const Time added =
      core::transfer_time(2, core::Bytes(4'000'000), core::Bandwidth(10'000'000'000));
  EXPECT_LE(on.steps()[0].slowed - bytes - added, Time(2));
  EXPECT_GE(on.steps()[0].slowed, bytes + added);
  EXPECT_EQ(on.steps()[0].backward, core::milliseconds(11) + on.steps()[0].slowed);
}

// --- random scenarios, compared with the timeline ---

/// The times for which a collective held its resources, by device and pack.
struct Holding {
  Time start;
  std::vector<Time> lane_ends;
};

std::map<std::tuple<std::string, std::int32_t, std::int32_t>, Holding> holdings(
    const KeptSpans& kept) {
  std::map<std::tuple<std::string, std::int32_t, std::int32_t>, Holding> all;
  for (const auto& [id, spans] : kept.spans) {
    const core::Track& track = kept.tracks.at(id);
    std::map<std::pair<std::int32_t, std::int32_t>, Time>
        ends;  // a slot's lane serves one lane of each of several packs
    for (const Span& span : spans) {
      if (span.kind == SpanKind::kPackInFlight)
        all[{track.device, span.step, span.pack}].start = span.start;
      if (track.kind == TrackKind::kLane) ends[{span.step, span.pack}] = span.start + span.duration;
    }
    for (const auto& [key, end] : ends)
      all[{track.device, key.first, key.second}].lane_ends.push_back(end);
  }
  return all;
}

/// Every task of a pass must end at the first picosecond at which it has had its share of
/// multiprocessor time.
TEST(Interference, TasksGetTheMultiprocessorsThatKernelsLeave) {
  int slowed = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    core::Random random(seed);
    const auto below = [&](int n) {
      return static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
    };
    Box box{2 + below(3), "", 1000, 5.0 + below(40)};
    const int multiprocessors = 4 + below(30);
    box.multiprocessors = fmt::format("multiprocessors: {}", multiprocessors);
    std::string variables;
    std::vector<Time> backward;  // by segment: the last variable is first
    for (int v = 3 + below(5); v > 0; --v) {
      const int tenths = below(30);
      variables += fmt::format("variable {{ name: \"v{}\" shape: {} backward_ms: {:.1f} }} ", v,
                               1 + below(1'000'000), tenths / 10.0);
      backward.insert(backward.begin(), core::microseconds(100) * tenths);
    }
    const std::string text = fmt::format(
        "cluster {{ workers {{ machine: \"box\" }} {} }}\nworkload {{ {} forward_ms: 1 update_ms: "
        "0 "
        "compute_bound_percent: 100 }}\nstrategy {{ algorithm: \"nccl\" channels: {} "
        "bytes_per_pack: {} launch: {} "
        "}}\nrun "
        "{{ steps: 2 network_model: {} }}",
        machine(box), variables, 1 + below(10), below(2) * 2'000'000 + 1,
        below(2) == 0 ? "SERIAL" : "CONCURRENT", below(2) == 0 ? "FIFO" : "FAIR");
    const KeptSpans kept = simulated_spans(text);
    const auto all = holdings(kept);
    for (const auto& [id, spans] : kept.spans) {
      const core::Track& track = kept.tracks.at(id);
      if (track.kind != TrackKind::kCompute) continue;
      for (const Span& span : spans) {
        if (span.kind > SpanKind::kFirstCompute + 1) continue;
        const bool forward = span.kind == SpanKind::kFirstCompute;
        const Time alone = forward ? core::milliseconds(1) : backward[span.index];
        const auto missing = [&](Time end) {
          // The number of held multiprocessors changes at these times.
          std::map<Time, int> changes{{span.start, 0}, {end, 0}};
          for (const auto& [key, holding] : all) {
            if (std::get<0>(key) != track.device) continue;
            for (const Time lane_end : holding.lane_ends) {
              changes[std::clamp(holding.start, span.start, end)] += 1;
              changes[std::clamp(lane_end, span.start, end)] -= 1;
            }
          }
          std::int64_t held = 0, sum = 0;
          Time last = span.start;
          for (const auto& [at, change] : changes) {
            sum += std::min<std::int64_t>(held, multiprocessors - 1) * (at - last).count();
            held += change;
            last = at;
          }
          return Time(quotient_up(sum, multiprocessors));
        };
        const Time end = span.start + span.duration;
        ASSERT_GE(span.duration - missing(end), alone) << "seed " << seed << '\n' << text;
        ASSERT_LT(span.duration - Time(1) - missing(end - Time(1)), alone)
            << "seed " << seed << '\n'
            << text;
        slowed += span.duration > alone;
      }
    }
  }
  EXPECT_GT(slowed, 500);
}

/// Computation is never faster than without communication, and the timeline reports the whole
/// slowdown.
TEST(Interference, NeverMakesComputationFaster) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    core::Random random(seed + 1'000);
    const auto below = [&](int n) {
      return static_cast<int>(random.below(static_cast<std::uint64_t>(n)));
    };
    Box box{2 + below(3), fmt::format("multiprocessors: {}", 2 + below(20)), 50.0 + below(500),
            5.0 + below(40)};
    const std::string strategy =
        fmt::format("channels: {} bytes_per_pack: {} launch: {}", 1 + below(6),
                    1 + below(2) * 3'000'000, below(2) == 0 ? "SERIAL" : "CONCURRENT");
    const std::string workload = fmt::format("compute_bound_percent: {}", below(101));
    const auto run = [&](const std::string& how) {
      return simulated_spans(scenario(box, strategy, "steps: 3 " + how, workload),
                             core::RecordLevel::kNone);
    };
    const KeptSpans on = run("interference: ON"), off = run("interference: OFF");
    for (std::size_t s = 0; s < 3; ++s) {
      const core::StepRecord &slow = on.steps()[s], &alone = off.steps()[s];
      const auto computed = [](const core::StepRecord& step) {
        return step.forward + step.backward + step.other_compute;
      };
      // In later steps, a replica that was ahead did some of the step's work before the step
      // started, and this work is not counted.
      if (s == 0) {
        EXPECT_EQ(computed(slow) - slow.slowed, computed(alone)) << seed;
      }
      EXPECT_GE(length(slow), length(alone)) << seed;
      EXPECT_LE(on.info().step_bound, length(slow)) << seed;
    }
  }
}

}  // namespace
}  // namespace tutti
