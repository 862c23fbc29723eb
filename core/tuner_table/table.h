#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

/// A table that determines NCCL's choices (docs/formats.md, Tables for NCCL's tuner). Tutti's tuner
/// plugin and the simulator share this code. The code depends only on the standard library, because
/// the plugin is loaded into other programs.
namespace tutti::core::tuner_table {

// The names that tables use, in the order of NCCL's enumerators. SOURCE: NVIDIA/nccl
// plugins/tuner/example/plugin.c (v2.30.7), parseCollType, parseAlgorithm, parseProtocol.
inline constexpr std::array<std::string_view, 5> kCollectives = {"broadcast", "reduce", "allgather",
                                                                 "reducescatter", "allreduce"};
inline constexpr std::array<std::string_view, 7> kAlgorithms = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
inline constexpr std::array<std::string_view, 3> kProtocols = {"ll", "ll128", "simple"};

inline constexpr int kAny = -1;
/// NCCL's MAXCHANNELS since 2.27; it was 32 before.
inline constexpr int kMaxChannels = 64;

/// One line of a table: the calls to which it applies, and the algorithm, protocol and number of
/// channels that NCCL uses for them.
struct Row {
  int collective = 4;           ///< index of kCollectives
  std::uint64_t min_bytes = 0;  ///< smallest size of a call (inclusive), which is the size of a
                                ///< rank's input or output, whichever is larger
  std::uint64_t max_bytes = 0;  ///< largest size of a call (inclusive)
  int algorithm = 1;            ///< index of kAlgorithms
  int protocol = 2;             ///< index of kProtocols
  int channels = 0;             ///< 0: NCCL chooses the number
  int nodes = kAny;
  int ranks = kAny;
  int pipe_ops = kAny;            ///< number of collectives in the group that NCCL aggregates
  int registered = kAny;          ///< 1: both buffers are registered; 0: they are not
  std::uint64_t chunk_bytes = 0;  ///< 0: NCCL chooses the chunk size
  int line = 0;                   ///< line number in the file, for messages

  bool operator==(const Row&) const = default;
};

/// The plugin for which a table is written. NVIDIA's example plugin uses one channel for a call
/// that matches no row.
enum class Reader { kTutti, kNvidiaExample };

struct Table {
  Reader reader = Reader::kTutti;
  /// Comments on the purpose of the table, one line each. Lines are truncated after 200 bytes.
  std::vector<std::string> remarks;
  std::vector<Row> rows;  ///< in order of precedence: for a call, NCCL uses the first row that
                          ///< matches the call and that NCCL can execute
};

/// The reason why a text is not a valid table, and the location of the mistake.
struct Refusal {
  int line = 0;    ///< line number, from 1; 0: the problem concerns the whole text
  int column = 0;  ///< column number from 1
  std::string text;
  std::string hint;
};

/// The first line of a table for libnccl-tuner-tutti.so.
inline constexpr std::string_view kHeader = "# tutti nccl-tuner table 1";

/// Reads a table. A text whose first line is not kHeader is read as a configuration of NVIDIA's
/// example plugin. Lines that the example plugin would misread without a message (unknown names,
/// more than 254 characters, empty cells) are errors. The text may contain any bytes. Cost: time
/// and memory proportional to the length of the text.
tl::expected<Table, Refusal> read_table(std::string_view text);

/// Returns the text of a table. read_table() reads the same table from it, except for line numbers.
/// REQUIRES: all rows are valid.
std::string write_table(const Table& table);

/// A collective call for which NCCL asks the tuner.
struct Call {
  int collective = 4;
  std::uint64_t bytes = 0;
  int pipe_ops = 1;
  /// True if both buffers are registered; nullopt: the plugin interface does not report it (before
  /// 2.24).
  std::optional<bool> registered;
};

/// True if the row applies to communicators of this size.
bool is_for(const Row& row, std::uint64_t nodes, std::uint64_t ranks);
/// True if the row applies to the call. A row that requires registered or unregistered buffers does
/// not match a call for which the registration is unknown.
bool matches(const Row& row, const Call& call);

}  // namespace tutti::core::tuner_table
