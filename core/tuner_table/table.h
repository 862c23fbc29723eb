#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

/// The table by which a tuner plugin sets NCCL's choices (docs/formats.md, Tables for NCCL's
/// tuner). The plugin and the simulator read it by this code, which needs nothing but the standard
/// library: a plugin is loaded into other people's programs.
namespace tutti::core::tuner_table {

// The names of a table, in the order of NCCL's enumerators. SOURCE: NVIDIA/nccl
// plugins/tuner/example/plugin.c (v2.30.7), parseCollType, parseAlgorithm, parseProtocol.
inline constexpr std::array<std::string_view, 5> kCollectives = {"broadcast", "reduce", "allgather",
                                                                 "reducescatter", "allreduce"};
inline constexpr std::array<std::string_view, 7> kAlgorithms = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
inline constexpr std::array<std::string_view, 3> kProtocols = {"ll", "ll128", "simple"};

inline constexpr int kAny = -1;
/// NCCL's MAXCHANNELS since 2.27; it was 32 before.
inline constexpr int kMaxChannels = 64;

/// One line: which calls it is for, and what NCCL shall do with them.
struct Row {
  int collective = 4;           ///< index of kCollectives
  std::uint64_t min_bytes = 0;  ///< inclusive minimum of the larger buffer, as NCCL counts it
  std::uint64_t max_bytes = 0;  ///< inclusive maximum of the larger buffer
  int algorithm = 1;            ///< index of kAlgorithms
  int protocol = 2;             ///< index of kProtocols
  int channels = 0;             ///< 0: the number that NCCL chooses itself
  int nodes = kAny;
  int ranks = kAny;
  int pipe_ops = kAny;            ///< collectives that NCCL has aggregated in the group
  int registered = kAny;          ///< 1: both buffers are registered; 0: they are not
  std::uint64_t chunk_bytes = 0;  ///< 0: NCCL's own chunk size
  int line = 0;                   ///< line of the file, for messages

  bool operator==(const Row&) const = default;
};

/// The plugin that a table is for. NVIDIA's example uses one channel for calls that no row matches.
enum class Reader { kTutti, kNvidiaExample };

struct Table {
  Reader reader = Reader::kTutti;
  /// Comments on the table's purpose, one line each; lines are cut after 200 bytes.
  std::vector<std::string> remarks;
  std::vector<Row> rows;  ///< the first row that matches and is possible applies
};

/// The reason why a text is not a valid table.
struct Refusal {
  int line = 0;    ///< line number from 1; 0: the text as a whole
  int column = 0;  ///< column number from 1
  std::string text;
  std::string hint;
};

/// The first line of a table for libnccl-tuner-tutti.so.
inline constexpr std::string_view kHeader = "# tutti nccl-tuner table 1";

/// Reads a table. A text without kHeader in its first line is a configuration of NVIDIA's example
/// plugin. Lines that that plugin would misread silently (unknown names, more than 254 characters,
/// empty cells) are refused. Any bytes are allowed; costs time and memory proportional to them.
tl::expected<Table, Refusal> read_table(std::string_view text);

/// Writes a table that read_table() reads back unchanged, except for line numbers. REQUIRES: all
/// rows are valid.
std::string write_table(const Table& table);

/// A collective call for which NCCL asks the tuner.
struct Call {
  int collective = 4;
  std::uint64_t bytes = 0;
  int pipe_ops = 1;
  std::optional<bool> registered;  ///< empty: the interface does not report it (before 2.24)
};

/// True if the row's communicators include one of this size.
bool is_for(const Row& row, std::uint64_t nodes, std::uint64_t ranks);
/// True if the row applies to the call. A row for registered buffers, or for unregistered ones,
/// matches no call for which this is unknown.
bool matches(const Row& row, const Call& call);

}  // namespace tutti::core::tuner_table
