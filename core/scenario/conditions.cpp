#include "core/scenario/conditions.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/base/random.h"

namespace tutti::core {

bool change_with_time(const Conditions& conditions) {
  const bool for_a_while =
      std::any_of(conditions.slow.begin(), conditions.slow.end(),
                  [](const SlowDevices& slow) { return slow.from > Time() || slow.to < kNever; });
  const bool during_the_run =
      std::any_of(conditions.links.begin(), conditions.links.end(),
                  [](const LinkChange& change) { return change.at > Time(); });
  return for_a_while || during_the_run || !conditions.gone.empty();
}

/// Chooses random workers by Floyd's algorithm, which needs only k draws to choose k of n workers.
std::vector<SlowDevices> chosen(const std::vector<SlowDevices>& slow, std::uint64_t seed,
                                const Cluster& cluster) {
  std::vector<SlowDevices> named;
  for (std::size_t entry = 0; entry < slow.size(); ++entry) {
    if (slow[entry].worker >= 0) {
      named.push_back(slow[entry]);
      continue;
    }
    Random random(Random(seed).next() ^ (entry + 1));
    std::set<std::int64_t> workers;
    for (std::int64_t i = cluster.workers() - slow[entry].random_workers; i < cluster.workers();
         ++i) {
      const auto worker =
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(i) + 1));
      workers.insert(workers.contains(worker) ? i : worker);
    }
    for (const std::int64_t worker : workers) {
      named.push_back(slow[entry]);
      named.back().worker = worker;
    }
  }
  return named;
}

namespace {

std::string describe(const Noise& noise) {
  const double mean = static_cast<double>(noise.mean_ppm) / 1e4;
  switch (noise.kind) {
    case Noise::Kind::kNone: return "";
    case Noise::Kind::kExponential:
      return fmt::format("{:g} % longer on average, exponential", mean);
    case Noise::Kind::kPareto:
      return fmt::format("{:g} % longer on average, Pareto with tail index {:g}", mean,
                         static_cast<double>(noise.tail_index_milli) / 1e3);
    case Noise::Kind::kBernoulli:
      return fmt::format("{:g} % longer on average, concentrated in {:g} % of the steps", mean,
                         static_cast<double>(noise.probability_ppm) / 1e4);
  }
  return "";
}

std::string between(Time from, Time to) {
  std::string text;
  if (from > Time()) text += " from " + show(from) + " on";
  if (to < kNever) text += (from > Time() ? ", until " : " until ") + show(to);
  return text;
}

}  // namespace

std::string describe(const GoneWorker& gone) {
  return gone.from == Time() ? fmt::format("worker {} never starts", gone.worker)
                             : fmt::format("worker {} is lost at {}", gone.worker, show(gone.from));
}

std::vector<std::string> describe(const Conditions& conditions,
                                  const std::vector<SlowDevices>& slow, const Cluster& cluster) {
  std::vector<std::string> texts;
  constexpr std::size_t kMaxNamed = 8;
  for (const SlowDevices& s : slow) {
    if (texts.size() == kMaxNamed) {
      texts.push_back(fmt::format("… and {} more are slow", slow.size() - kMaxNamed));
      break;
    }
    const auto worker = static_cast<std::int32_t>(s.worker);
    texts.push_back(fmt::format("{} {} {:g} times as long{}",
                                s.part < 0 ? fmt::format("every device of worker {}", s.worker)
                                           : cluster.part_name({worker, s.part}),
                                "takes", static_cast<double>(s.slowdown_ppm) / 1e6,
                                between(s.from, s.to)));
  }
  for (const GoneWorker& gone : conditions.gone) texts.push_back(describe(gone));
  for (const LateHost& late : conditions.late) {
    const std::string device =
        late.part < 0 ? fmt::format("every device of worker {}", late.worker)
                      : cluster.part_name({static_cast<std::int32_t>(late.worker), late.part});
    texts.push_back(
        fmt::format("{} waits {} in each pass for its host, before {}", device, show(late.gap),
                    late.before.empty() ? "the forward pass"
                                        : fmt::format("the backward pass of \"{}\"", late.before)));
  }
  for (const LinkChange& change : conditions.links) {
    texts.push_back(
        change.share_ppm == 0
            ? fmt::format("link {} is dead{}", cluster.link_name(change.link),
                          between(change.at, kNever))
            : fmt::format("link {} has {:g} % of its bandwidth{}", cluster.link_name(change.link),
                          static_cast<double>(change.share_ppm) / 1e4, between(change.at, kNever)));
  }
  for (const BackgroundLoad& load : conditions.background) {
    texts.push_back(fmt::format("background traffic on {}: {:g} % of the bandwidth{}", load.where,
                                static_cast<double>(load.share_ppm) / 1e4,
                                load.burst == Time()
                                    ? ""
                                    : fmt::format(", in bursts of {} on average, with pauses of {}",
                                                  show(load.burst), show(load.pause))));
  }
  if (conditions.compute_noise.kind != Noise::Kind::kNone)
    texts.push_back("steps compute " + describe(conditions.compute_noise));
  return texts;
}

}  // namespace tutti::core
