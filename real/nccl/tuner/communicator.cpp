// This code is part of a plugin that NCCL loads into the user's training program. A plugin in a
// user's program must not depend on other libraries, so this code needs none at run time. A missing
// or invalid table is never a failure: the plugin writes a line to NCCL's log, and NCCL makes its
// own choice. The function open() keeps only the rows for the size of the communicator. The chosen
// row is the first row that matches the collective, and whose algorithm and protocol NCCL can use.
// The cost of this row's algorithm and protocol is set to 0, so that NCCL's search for the minimum
// finds it. NCCL 2.21 has no cost table, so possible() repeats NCCL's rules. NCCL may call from
// several threads: rows never change, and atomic flags ensure that each message is logged once. The
// file plugin.cpp adapts this class to the versions of NCCL's interface.

#include "real/nccl/tuner/communicator.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::real::nccl_tuner {

using core::tuner_table::Call;
using core::tuner_table::kAlgorithms;
using core::tuner_table::kAny;
using core::tuner_table::kCollectives;
using core::tuner_table::kProtocols;
using core::tuner_table::Reader;
using core::tuner_table::Row;
using core::tuner_table::Table;

namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
/// NCCL's MAXCHANNELS in releases before 2.27, and therefore in tuner interfaces before v4.
constexpr int kOldMostChannels = 32;

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

/// NCCL's log function accepts only C format strings.
void say(Logger log, LogLevel level, const std::string& text) {
  if (log) log(level, kInit | kTuning, "libnccl-tuner-tutti", 0, "%s", text.c_str());
}

/// Returns the content of the file, or the reason why it cannot be read.
tl::expected<std::string, std::string> content_of(const std::string& path) {
  // Opening a pipe would wait for a writer. Files of /proc are regular files of size 0, and some of
  // them, such as /proc/kmsg, never end, so no more than the stated size is read.
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return tl::make_unexpected(std::strerror(errno));
  struct stat found {};
  std::string problem;
  std::string text;
  if (fstat(file, &found) != 0)
    problem = std::strerror(errno);
  else if (!S_ISREG(found.st_mode))
    problem = "it is not a regular file";
  else if (static_cast<std::size_t>(found.st_size) > kMaxBytes)
    problem = "it has more than 64 MiB";
  else
    text.resize(found.st_size);
  for (std::size_t done = 0; problem.empty() && done < text.size();) {
    const ssize_t got = read(file, text.data() + done, text.size() - done);
    if (got > 0) done += got;
    if (got == 0) text.resize(done);
    if (got < 0 && errno != EINTR)
      problem = std::string("it cannot be read: ") + std::strerror(errno);
  }
  close(file);
  if (!problem.empty()) return tl::make_unexpected(problem);
  return text;
}

std::string name(const auto& names, int index) { return std::string(names[index]); }

std::string cell(const Row& row) {
  return name(kAlgorithms, row.algorithm) + "/" + name(kProtocols, row.protocol);
}

std::string described(const Call& call) {
  std::string text =
      name(kCollectives, call.collective) + " of " + std::to_string(call.bytes) + " bytes";
  if (call.registered.value_or(false)) text += ", registered";
  if (call.pipe_ops > 1) text += ", " + std::to_string(call.pipe_ops) + " in a group";
  return text;
}

bool is_known(const Call& call) {
  return call.collective >= 0 && call.collective < static_cast<int>(kCollectives.size());
}

}  // namespace

std::unique_ptr<Communicator> Communicator::open(std::size_t ranks, std::size_t nodes, Logger log) {
  const char* path = variable("TUTTI_TUNER_TABLE");
  if (!path) path = variable("NCCL_TUNER_CONFIG_FILE");
  const auto warn = [&](const std::string& text) {
    say(log, kWarn, "TUNER/Tutti: " + text + "; NCCL decides alone");
    return nullptr;
  };
  if (!path) {
    say(log, kInfo,
        "TUNER/Tutti: neither TUTTI_TUNER_TABLE nor NCCL_TUNER_CONFIG_FILE is set; NCCL decides "
        "alone");
    return nullptr;
  }
  const std::string file = path;
  auto text = content_of(file);
  if (!text) return warn(file + ": " + text.error());
  auto table = core::tuner_table::read_table(*text);
  if (!table) {
    const core::tuner_table::Refusal& why = table.error();
    std::string where = file;
    if (why.line > 0) where += ":" + std::to_string(why.line) + ":" + std::to_string(why.column);
    return warn(where + ": " + why.text + (why.hint.empty() ? "" : " (" + why.hint + ")"));
  }
  const std::size_t all = table->rows.size();
  std::erase_if(table->rows, [&](const Row& row) { return !is_for(row, nodes, ranks); });
  say(log, kInfo,
      "TUNER/Tutti: " + file + ": " + std::to_string(table->rows.size()) + " of " +
          std::to_string(all) + " lines are for " + std::to_string(nodes) + " nodes, " +
          std::to_string(ranks) + " ranks");
  if (table->rows.empty()) return nullptr;
  return std::unique_ptr<Communicator>(new Communicator(std::move(table->rows), nodes, log));
}

Communicator::Communicator(std::vector<Row> rows, std::size_t nodes, Logger log)
    : rows_(std::move(rows)), nodes_(nodes), log_(log), logged_(rows_.size()) {
  const char* requested = variable("TUTTI_TUNER_LOG");
  choices_logged_ = requested && std::strcmp(requested, "0") != 0;
}

void Communicator::choose(const Call& call, const Costs& costs, int* channels) {
  if (!is_known(call)) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (!matches(row, call)) continue;
    if (row.algorithm >= costs.algorithms || row.protocol >= costs.protocols ||
        costs.at(row.algorithm, row.protocol) == kImpossible) {
      log_impossible(i, call);
      continue;
    }
    costs.at(row.algorithm, row.protocol) = 0.0F;
    apply(i, call, call.registered ? core::tuner_table::kMaxChannels : kOldMostChannels, channels);
    return;
  }
  log_without_row(call);
}

void Communicator::choose_without_costs(const Call& call, bool collnet, bool nvls, int* algorithm,
                                        int* protocol, int* channels) {
  if (!is_known(call)) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (!matches(row, call)) continue;
    if (!possible(row, collnet, nvls)) {
      log_impossible(i, call);
      continue;
    }
    *algorithm = row.algorithm;
    *protocol = row.protocol;
    apply(i, call, kOldMostChannels, channels);
    return;
  }
  log_without_row(call);
}

/// True if NCCL 2.21 has a kernel for the algorithm and protocol in the row. NCCL 2.21 does not
/// check a tuner's choice itself.
/// SOURCE: NVIDIA/nccl (v2.21.5) src/enqueue.cc, topoGetAlgoInfo; src/graph/tuning.cc.
bool Communicator::possible(const Row& row, bool collnet, bool nvls) const {
  enum { kTree, kRing, kCollnetDirect, kCollnetChain, kNvls, kNvlsTree, kPat };
  enum { kBroadcast, kReduce, kAllGather, kReduceScatter, kAllReduce };
  constexpr int kSimple = 2;
  const bool all_reduce = row.collective == kAllReduce;
  const bool half = row.collective == kAllGather || row.collective == kReduceScatter;
  const bool one_node = nodes_ == 1;
  switch (row.algorithm) {
    case kTree: return all_reduce;
    case kRing: return true;
    case kCollnetDirect: return collnet && (all_reduce || half) && row.protocol == kSimple;
    case kCollnetChain: return collnet && all_reduce && row.protocol == kSimple;
    case kNvls:
      return nvls && row.protocol == kSimple &&
             (one_node ? all_reduce || half : collnet && all_reduce);
    case kNvlsTree: return nvls && !one_node && all_reduce && row.protocol == kSimple;
    default: return false;  // PAT is newer than NCCL 2.21
  }
}

void Communicator::apply(std::size_t index, const Call& call, int max_channels, int* channels) {
  const int requested = std::min(rows_[index].channels, max_channels);
  if (requested > 0) *channels = requested;
  log_applied(index, call, requested);
}

void Communicator::set_chunk(const Call& call, int algorithm, int protocol, int channels,
                             std::size_t* chunk) {
  if (!is_known(call)) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.chunk_bytes == 0 || row.algorithm != algorithm || row.protocol != protocol) continue;
    Call whole = call;
    // If `channels` is 1, `call.bytes` is the size of one channel's data (TunerV6). The table's
    // rows contain sizes of whole collectives, so convert the size.
    if (channels == 1) whole.bytes *= static_cast<std::uint64_t>(row.channels);
    if (!matches(row, whole)) continue;
    *chunk = row.chunk_bytes;
    if (choices_logged_ && !logged_[i].chunk.exchange(true, std::memory_order_relaxed))
      say(log_, kInfo,
          "TUNER/Tutti: line " + std::to_string(row.line) + ": " +
              name(kCollectives, call.collective) + " by " + cell(row) + " in chunks of " +
              std::to_string(row.chunk_bytes) + " bytes");
    return;
  }
}

void Communicator::log_applied(std::size_t index, const Call& call, int channels) {
  if (!choices_logged_ || logged_[index].applied.exchange(true, std::memory_order_relaxed)) return;
  const Row& row = rows_[index];
  say(log_, kInfo,
      "TUNER/Tutti: line " + std::to_string(row.line) + ": " + described(call) + " by " +
          cell(row) +
          (channels > 0 ? ", " + std::to_string(channels) + " channels" : ", NCCL's channels"));
}

void Communicator::log_impossible(std::size_t index, const Call& call) {
  if (!choices_logged_ || logged_[index].impossible.exchange(true, std::memory_order_relaxed))
    return;
  const Row& row = rows_[index];
  say(log_, kInfo,
      "TUNER/Tutti: line " + std::to_string(row.line) + ": " + described(call) +
          ": NCCL cannot use " + cell(row) + " for this call; the line is ignored");
}

void Communicator::log_without_row(const Call& call) {
  std::atomic<bool>& logged = logged_without_row_[call.collective];
  if (!choices_logged_ || logged.exchange(true, std::memory_order_relaxed)) return;
  say(log_, kInfo, "TUNER/Tutti: no line for " + described(call) + "; NCCL decides");
}

}  // namespace tutti::real::nccl_tuner
