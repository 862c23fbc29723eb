// Asynchronous workers have no common step, so each worker has its own collective for each pack.
// The collective's tag is p + w · P, with the pack's number p, the worker's number w and the number
// of packs P. Each read has a second collective, the question: the worker requests the variable
// with one empty message. The tags of questions are larger than all other tags. When a question
// arrives, the server copies the variable and starts the read, so the worker gets the current
// value. Pushes arrive in any order, and the result depends on this order. To verify every bit
// nevertheless, the server logs reads and pushes in order, and verify() replays the log from copies
// of the variables. The coordinator compares the hashes from take_reads() to check that replicas
// received what the servers sent.

#include "real/asynchronous/async_servers.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/fnv.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::Rank;

namespace {

std::uint64_t hash_of(const std::byte* bytes, std::int64_t count) {
  core::Fnv hash;
  hash.words({bytes, static_cast<std::size_t>(count)});
  return hash.value();
}

std::uint64_t key_of(std::int32_t step, int pack, std::int64_t group) {
  return static_cast<std::uint64_t>(step) << 32 ^
         static_cast<std::uint64_t>(pack) * 0x9e3779b97f4a7c15u ^
         static_cast<std::uint64_t>(group + 1) * 0xd1342543de82ef95u;
}

}  // namespace

AsyncServers::AsyncServers(const core::Scenario& scenario, std::int32_t worker, Devices& devices)
    : scenario_(scenario),
      devices_(devices),
      worker_(worker),
      rank_of_host_(static_cast<Rank>(scenario.cluster->replicas() + worker)),
      versions_(scenario.plan.partition->groups(), scenario.workload.gradients.size()) {
  for (std::int64_t g = 0; g < scenario.plan.partition->groups(); ++g) {
    for (int p = 0; p < static_cast<int>(scenario.plan.packs.size()); ++p) add_part(p, g);
  }
}

void AsyncServers::add_part(int number_of_pack, std::int64_t group) {
  const core::Cluster& cluster = *scenario_.cluster;
  const GroupRanks ranks{*scenario_.plan.partition, group};
  const core::Collective& first = scenario_.plan.collective(scenario_.plan.packs[number_of_pack]);
  const auto workers = static_cast<std::int32_t>(cluster.workers());
  Part part{number_of_pack, group, first, first.contract(), {}, -1, ranks.to_cluster(first.root),
            nullptr};
  part.collective.schedule = in_cluster(first.schedule, ranks, workers);
  part.collective.group = core::Group::of_cluster(cluster, true);
  part.collective.root = part.root;
  for (Rank r = 0; r < part.collective.schedule->ranks(); ++r) {
    if (is_here(r) && part.collective.schedule->lanes(r) > 0) part.ranks.push_back(r);
  }
  if (part.ranks.empty()) return;
  if (is_read(part)) {
    part.asks = ranks.to_cluster(0);
    part.question = std::make_unique<core::Collective>(part.collective);
    part.question->schedule = one_reports(part.collective.schedule->ranks(), part.asks, part.root);
    part.question->elements = 0;
  }
  part_of_number_[number(number_of_pack, group)] = parts_.size();
  if (is_local(part)) place_variable(part);
  parts_.push_back(std::move(part));
}

/// Sets the variable's initial value.
void AsyncServers::place_variable(const Part& part) {
  const int v = variable_of(part);
  if (variables_.contains(v)) return;
  Variable& variable = variables_[v];
  variable.type = part.collective.type;
  variable.elements = part.collective.elements;
  variable.value.resize(part.collective.bytes().count());
  Reduced as_begun = reduced(-1, part);
  as_begun.key = key_of(-1, v, -1);
  fill_inputs(as_begun, 0, variable.value.data(), variable.elements);
}

bool AsyncServers::is_here(Rank rank) const {
  const core::Cluster& cluster = *scenario_.cluster;
  if (rank >= cluster.replicas()) return rank == rank_of_host_;
  return rank / cluster.replicas_per_worker() == worker_;
}

/// Returns a description of the gradients that workers push to a variable. Gradients are so small
/// that their sums are exact even in half precision.
Reduced AsyncServers::reduced(std::int32_t step, const Part& part) const {
  const std::int64_t all = std::min<std::int64_t>(
      scenario_.cluster->replicas() * std::int64_t{scenario_.run.steps} + 1, 1 << 30);
  const bool mean = scenario_.strategy.reduction == core::Reduction::kMean &&
                    part.contract.contributors.count > 1;
  return {part.collective.type, Operation::kSum, key_of(step, part.pack, part.group),
          static_cast<std::int32_t>(all),
          mean && !is_read(part) ? 1.0 / part.contract.contributors.count : 1};
}

// --- names ---

std::uint32_t AsyncServers::number(int pack, std::int64_t group) const {
  return static_cast<std::uint32_t>(group * std::ssize(scenario_.plan.packs) + pack);
}

CollectiveTag AsyncServers::tag(std::int32_t step, const Part& part) const {
  return {static_cast<std::uint32_t>(step), number(part.pack, part.group)};
}

CollectiveTag AsyncServers::question(std::int32_t step, const Part& part) const {
  return {static_cast<std::uint32_t>(step),
          number(part.pack, part.group + scenario_.plan.partition->groups())};
}

CollectiveTag AsyncServers::tag(std::int32_t step, int pack) const {
  return {static_cast<std::uint32_t>(step), number(pack, worker_)};
}

std::optional<std::uint32_t> AsyncServers::pack_of(CollectiveTag tag) const {
  const auto packs = static_cast<std::uint32_t>(scenario_.plan.packs.size());
  if (tag.pack >= packs * static_cast<std::uint32_t>(scenario_.plan.partition->groups()))
    return std::nullopt;
  return tag.pack % packs;
}

/// Returns the entry of parts_ whose collective, or whose question, has this tag. The tag of a
/// question is the tag of the requested read plus a constant.
const AsyncServers::Part* AsyncServers::find(CollectiveTag tag) const {
  const auto all = static_cast<std::uint32_t>(std::ssize(scenario_.plan.packs) *
                                              scenario_.plan.partition->groups());
  const auto found = part_of_number_.find(tag.pack % all);
  return found == part_of_number_.end() ? nullptr : &parts_[found->second];
}

// --- steps ---

void AsyncServers::prepare(std::int32_t first, std::int32_t count, Collectives& collectives) {
  first_ = first;
  count_ = count;
  events_.clear();
  requested_.clear();
  for (auto& [v, variable] : variables_) variable.before = variable.value;
  sets_.resize(std::max(sets_.size(), static_cast<std::size_t>(count)));
  for (std::int32_t step = first; step < first + count; ++step) {
    auto& set = sets_[step - first];
    set.resize(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      std::vector<std::byte*> buffers;
      for (std::size_t r = 0; r < part.ranks.size(); ++r) {
        if (set[i].size() == r)
          set[i].push_back(devices_.take(
              part.ranks[r],
              part.contract.buffer_elements() * core::size_of(part.collective.type).count(),
              false));
        buffers.push_back(set[i][r].get());
        if (!is_read(part)) fill(step, part, part.ranks[r], buffers.back());
      }
      if (part.question) {
        std::vector<Rank> ends;
        for (const Rank rank : {part.asks, part.root}) {
          if (is_here(rank)) ends.push_back(rank);
        }
        if (!ends.empty())
          collectives.open(question(step, part), *part.question, Operation::kSum, ends,
                           std::vector<std::byte*>(ends.size(), nullptr));
      }
      collectives.open(tag(step, part), part.collective, Operation::kSum, part.ranks, buffers);
    }
  }
}

void AsyncServers::fill(std::int32_t step, const Part& part, Rank rank, std::byte* buffer) {
  const Rank own = GroupRanks{*scenario_.plan.partition, part.group}.to_group(rank);
  const core::Range input = part.contract.input(own);
  if (input.count == 0) return;
  if (devices_.host_reaches(rank))
    return fill_inputs(reduced(step, part), part.contract, own, buffer);
  std::vector<std::byte> inputs(part.collective.buffer_bytes().count());
  fill_inputs(reduced(step, part), part.contract, own, inputs.data());
  devices_.copy_now(buffer, inputs.data(), std::ssize(inputs));
}

void AsyncServers::begin(Collectives& collectives) {
  for (std::int32_t step = first_; step < first_ + count_; ++step) {
    for (const Part& part : parts_) {
      if (part.question && is_local(part)) collectives.start(question(step, part), part.root);
      // A server starts its side of a read later, when the worker requests the read. The CPU starts
      // all its other collectives here, to receive pushes or to forward data.
      for (const Rank rank : part.ranks) {
        if (rank == rank_of_host_ && !(is_read(part) && rank == part.root))
          collectives.start(tag(step, part), rank);
      }
    }
  }
}

void AsyncServers::close(Collectives& collectives) {
  for (std::int32_t step = first_; step < first_ + count_; ++step) {
    for (const Part& part : parts_) {
      if (part.question && (is_here(part.asks) || is_here(part.root)))
        collectives.close(question(step, part));
      collectives.close(tag(step, part));
    }
  }
}

std::int64_t AsyncServers::parts_of_step() const {
  std::int64_t parts = 0;
  for (const Part& part : parts_) {
    parts += std::ssize(part.ranks);
    if (part.question) parts += (is_here(part.asks) ? 1 : 0) + (is_here(part.root) ? 1 : 0);
  }
  return parts;
}

void AsyncServers::ask(std::int32_t step, int pack, Collectives& collectives) {
  const Part* const part = find(tag(step, pack));
  TUTTI_CHECK(part, "worker {} does not take part in pack {}", worker_, pack);
  if (part->question && requested_.insert({step, pack}).second)
    collectives.start(question(step, *part), part->asks);
}

void AsyncServers::rank_done(CollectiveTag done, Rank rank, Collectives& collectives) {
  const Part* const part = find(done);
  if (!part || !is_local(*part) || rank != part->root) return;
  const auto step = static_cast<std::int32_t>(done.step);
  if (!pack_of(done)) return send_as_it_is(step, *part, collectives);
  if (!is_read(*part)) apply(step, *part);
}

// --- where variables lie ---

std::byte* AsyncServers::data(std::int32_t step, const Part& part, Rank rank) const {
  const std::size_t index = &part - parts_.data();
  const std::size_t place =
      std::find(part.ranks.begin(), part.ranks.end(), rank) - part.ranks.begin();
  return sets_[step - first_][index][place].get();
}

void AsyncServers::send_as_it_is(std::int32_t step, const Part& part, Collectives& collectives) {
  const int v = variable_of(part);
  const Variable& variable = variables_.at(v);
  std::memcpy(data(step, part, part.root), variable.value.data(), variable.value.size());
  versions_.read(part.group, v);
  events_.push_back({true, v, step, static_cast<std::size_t>(&part - parts_.data())});
  collectives.start(tag(step, part), part.root);
}

void AsyncServers::apply(std::int32_t step, const Part& part) {
  const int v = variable_of(part);
  Variable& variable = variables_.at(v);
  combine(Operation::kSum, variable.type, variable.value.data(), data(step, part, part.root),
          variable.elements);
  versions_.applied(part.group, v);
  events_.push_back({false, v, step, static_cast<std::size_t>(&part - parts_.data())});
}

// --- verification ---

Error AsyncServers::wrong(std::int32_t step, const Part& part, const std::string& what) const {
  return Error::run(
      {core::ProblemCode::kWrongResult, "", static_cast<std::int32_t>(part.group)},
      fmt::format("step {}: variable \"{}\", worker {}: {}", step,
                  scenario_.workload.gradients[variable_of(part)].name, part.group, what));
}

Expected<void> AsyncServers::verify_push(std::int32_t step, const Part& part) const {
  const Rank own = GroupRanks{*scenario_.plan.partition, part.group}.to_group(part.root);
  const auto found =
      find_wrong_element(reduced(step, part), part.contract, {own}, {data(step, part, part.root)});
  if (!found) return {};
  return tl::make_unexpected(
      wrong(step, part,
            fmt::format("element {} of a push is {:.17g}, but must be {:.17g} ± {:.2g}",
                        found->element, found->got, found->expected, found->tolerance)));
}

/// Replays the log, starting with the values that the variables had before the current steps.
/// Pushes are added in the same order as in the run, so every bit must be equal.
Expected<void> AsyncServers::verify() {
  for (const Event& event : events_) {
    const Part& part = parts_[event.part];
    Variable& variable = variables_.at(event.variable);
    const std::byte* const there = data(event.step, part, part.root);
    if (!event.read) {
      if (auto right = verify_push(event.step, part); !right) return right;
      combine(Operation::kSum, variable.type, variable.before.data(), there, variable.elements);
    } else if (std::memcmp(variable.before.data(), there, variable.before.size()) != 0) {
      return tl::make_unexpected(wrong(
          event.step, part,
          "the server sent values that differ from the initial values plus all previous pushes"));
    }
  }
  for (const auto& [v, variable] : variables_) {
    if (variable.before != variable.value)
      return tl::make_unexpected(Error::run(
          {core::ProblemCode::kWrongResult},
          fmt::format("the value of variable \"{}\" is not its initial value plus all pushes",
                      scenario_.workload.gradients[v].name)));
  }
  return {};
}

std::vector<ReadSeen> AsyncServers::take_reads() {
  std::vector<ReadSeen> reads;
  for (std::int32_t step = first_; step < first_ + count_; ++step) {
    for (const Part& part : parts_) {
      if (!is_read(part)) continue;
      const std::int64_t bytes = part.collective.bytes().count();
      for (const Rank rank : part.ranks) {
        // A CPU that only forwards data has no copy of the variable to check.
        if (rank == rank_of_host_ && rank != part.root) continue;
        const std::byte* there = data(step, part, rank);
        std::vector<std::byte> fetched;
        if (!devices_.host_reaches(rank)) {
          fetched.resize(bytes);
          devices_.copy_now(fetched.data(), there, bytes);
          there = fetched.data();
        }
        reads.push_back({step, part.pack, part.group, hash_of(there, bytes), rank == part.root});
      }
    }
  }
  return reads;
}

core::UpdatesBehind AsyncServers::take_behind() {
  core::UpdatesBehind all = versions_.behind();
  all.updates -= reported_.updates;
  all.sum -= reported_.sum;
  reported_ = versions_.behind();
  return all;
}

}  // namespace tutti::real
