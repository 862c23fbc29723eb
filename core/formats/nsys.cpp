// Tables are read one after the other, each by one query. The columns of the tables depend on the
// release of nsys, so the reader first asks the database which columns exist.

#include "core/formats/nsys.h"

#include <sqlite3.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/base/number.h"

namespace tutti::core {
namespace {

using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

/// The limit on times in nanoseconds since the start of the recording. A time beyond three years
/// means that the file is damaged.
constexpr std::int64_t kLatestNs = 100'000'000'000'000'000;

std::string_view text_at(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

/// Returns the process of a globalTid or globalPid, by removing the 24 bits of the thread.
std::int64_t process_of(std::int64_t global) { return global >> 24; }

struct PayloadField {
  std::string name;
  std::int64_t offset = 0;
  std::int64_t type = 0;
};

/// An NVTX range that NCCL has recorded. The ranges are collected first, because a later range
/// (ncclGroupEnd) may show that an earlier one is part of a group.
struct NcclRange {
  std::string name;  ///< such as "ncclAllReduce"
  std::int64_t start = 0, end = 0;
  std::int64_t bytes = -1, communicator = -1;
};

class NsysReader {
 public:
  NsysReader(Database database, std::string name, const TakeNsysEvent& take, RecordCounts& counts)
      : db_(std::move(database)), name_(std::move(name)), take_(take), counts_(counts) {}

  Expected<NsysHeader> read() {
    run("PRAGMA trusted_schema = OFF", [](sqlite3_stmt*) {});
    run("PRAGMA cell_size_check = ON", [](sqlite3_stmt*) {});
    run("SELECT name FROM sqlite_master WHERE type = 'table'",
        [this](sqlite3_stmt* row) { tables_.insert(std::string(text_at(row, 0))); });
    if (error_) return tl::make_unexpected(*error_);
    const bool is_export = std::any_of(tables_.begin(), tables_.end(), [](const std::string& t) {
      return t == "StringIds" || t.starts_with("CUPTI_") || t.starts_with("TARGET_INFO_");
    });
    if (!is_export)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kWrongType},
          "this SQLite database is not an export of Nsight Systems (nsys export --type sqlite)",
          {name_, 0, 0}));
    if (!tables_.contains("CUPTI_ACTIVITY_KIND_KERNEL") ||
        !has_columns("CUPTI_ACTIVITY_KIND_KERNEL",
                     {"start", "end", "correlationId", "deviceId", "streamId"}))
      return tl::make_unexpected(
          Error::request({ProblemCode::kMissing, "CUPTI_ACTIVITY_KIND_KERNEL"},
                         "this export has no kernels; record with nsys profile --trace=cuda,nvtx, "
                         "and export with nsys export --type "
                         "sqlite --include-blobs=true",
                         {name_, 0, 0}));
    read_processes();
    read_facts();
    read_kernels();
    read_copies();
    read_launches();
    read_ranges();
    if (error_) return tl::make_unexpected(*error_);
    return std::move(header_);
  }

 private:
  template <class Take>
  void run(const std::string& query, const Take& take_row) {
    if (error_) return;
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(db_.get(), query.c_str(), -1, &made, nullptr) != SQLITE_OK)
      return fail();
    const Statement statement(made, sqlite3_finalize);
    constexpr std::int64_t kMaxRows = 200'000'000;
    std::int64_t rows = 0;
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(made)) == SQLITE_ROW && ++rows < kMaxRows) take_row(made);
    if (status != SQLITE_DONE && status != SQLITE_ROW) fail();
  }
  void fail() {
    if (error_) return;
    error_ = Error::request(
        {ProblemCode::kSyntax},
        fmt::format("this SQLite database cannot be read: {}", sqlite3_errmsg(db_.get())),
        {name_, 0, 0});
  }
  const std::set<std::string>& columns_of(const std::string& table) {
    const bool is_new = !columns_.contains(table);
    std::set<std::string>& columns = columns_[table];
    if (is_new)
      run("PRAGMA table_info(" + table + ")",
          [&columns](sqlite3_stmt* row) { columns.insert(std::string(text_at(row, 1))); });
    return columns;
  }
  bool has_columns(const std::string& table, std::initializer_list<const char*> names) {
    if (!tables_.contains(table)) return false;
    const auto& columns = columns_of(table);
    return std::all_of(names.begin(), names.end(),
                       [&](const char* name) { return columns.contains(name); });
  }
  /// Returns the name of the column, or the SQL expression `otherwise` if the table does not have
  /// the column.
  std::string column(const std::string& table, const std::string& name,
                     const std::string& otherwise = "NULL") {
    return columns_of(table).contains(name) ? table + "." + name : otherwise;
  }

  void read_processes() {
    const std::string kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
    std::set<std::int64_t> with_kernels;
    run("SELECT DISTINCT " + column(kernels, "globalPid", "0") + " FROM " + kernels,
        [&](sqlite3_stmt* row) { with_kernels.insert(process_of(sqlite3_column_int64(row, 0))); });
    constexpr std::size_t kMaxProcesses = 4096;
    for (const std::int64_t process : with_kernels) {
      if (header_.processes.size() >= kMaxProcesses) break;
      index_[process] = header_.processes.size();
      header_.processes.push_back({process & 0xffffff, "", -1, -1});
    }
    if (!has_columns("PROCESSES", {"globalPid", "name"})) return;
    run("SELECT globalPid, name FROM PROCESSES", [this](sqlite3_stmt* row) {
      const auto known = index_.find(process_of(sqlite3_column_int64(row, 0)));
      if (known != index_.end())
        header_.processes[known->second].name = text_at(row, 1).substr(0, 256);
    });
  }

  void read_facts() {
    if (has_columns("TARGET_INFO_GPU", {"name"}))
      run("SELECT name FROM TARGET_INFO_GPU LIMIT 1024",
          [this](sqlite3_stmt* row) { header_.gpus.emplace_back(text_at(row, 0).substr(0, 256)); });
    if (has_columns("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}))
      run("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1",
          [this](sqlite3_stmt* row) {
            const std::int64_t start = sqlite3_column_int64(row, 0);
            if (start > 0 && start < 3'000'000'000'000'000'000) header_.start_ns = start;
          });
  }

  /// Begins an event of the process that `global` identifies. Returns false, so that the event is
  /// skipped, if its times are damaged or the process has no kernels.
  bool begin_event(std::int64_t global, std::int64_t start, std::int64_t end, KinetoKind kind,
                   const char* what) {
    const auto known = index_.find(process_of(global));
    if (known == index_.end()) {
      counts_.ignore("a row of a process without kernels");
      return false;
    }
    if (start < 0 || end < start || end > kLatestNs) {
      counts_.incomplete(fmt::format("{} without a time", what));
      return false;
    }
    process_ = known->second;
    event_ = KinetoEvent{};
    event_.kind = kind;
    event_.start_ns = start;
    event_.duration_ns = end - start;
    return true;
  }
  void give() { take_(process_, event_); }

  void read_kernels() {
    const std::string t = "CUPTI_ACTIVITY_KIND_KERNEL";
    const std::string name_column =
        columns_of(t).contains("demangledName") ? "demangledName" : "shortName";
    const bool named =
        columns_of(t).contains(name_column) && has_columns("StringIds", {"id", "value"});
    run("SELECT " + t + ".start, " + t + ".end, " + column(t, "globalPid", "0") + ", " + t +
            ".correlationId, " + t + ".deviceId, " + t + ".streamId, " + column(t, "gridX") + ", " +
            (named ? "StringIds.value" : "''") + " FROM " + t +
            (named ? " LEFT JOIN StringIds ON StringIds.id = " + t + "." + name_column : ""),
        [this](sqlite3_stmt* row) {
          if (!begin_event(sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 0),
                           sqlite3_column_int64(row, 1), KinetoKind::kKernel, "kernel"))
            return;
          event_.correlation = sqlite3_column_int64(row, 3);
          event_.device = sqlite3_column_int64(row, 4);
          event_.stream = sqlite3_column_int64(row, 5);
          event_.grid = sqlite3_column_int64(row, 6);
          event_.name = text_at(row, 7).substr(0, 1024);
          give();
        });
  }

  void read_copies() {
    for (const char* kind : {"MEMCPY", "MEMSET"}) {
      const std::string t = std::string("CUPTI_ACTIVITY_KIND_") + kind;
      if (!has_columns(t, {"start", "end", "correlationId"})) continue;
      run("SELECT start, end, " + column(t, "globalPid", "0") + ", correlationId FROM " + t,
          [this](sqlite3_stmt* row) {
            if (!begin_event(sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 0),
                             sqlite3_column_int64(row, 1), KinetoKind::kCopy, "copy"))
              return;
            event_.correlation = sqlite3_column_int64(row, 3);
            give();
          });
    }
  }

  void read_launches() {
    const std::string t = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!has_columns(t, {"start", "end", "correlationId", "globalTid"})) return;
    const bool named =
        columns_of(t).contains("nameId") && has_columns("StringIds", {"id", "value"});
    run("SELECT " + t + ".start, " + t + ".end, " + t + ".globalTid, " + t + ".correlationId, " +
            (named ? "StringIds.value" : "'cudaLaunchKernel'") + " FROM " + t +
            (named ? " LEFT JOIN StringIds ON StringIds.id = " + t + ".nameId" : ""),
        [this](sqlite3_stmt* row) {
          if (!begin_event(sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 0),
                           sqlite3_column_int64(row, 1), KinetoKind::kLaunch, "launch"))
            return;
          event_.tid = std::to_string(sqlite3_column_int64(row, 2));
          event_.correlation = sqlite3_column_int64(row, 3);
          event_.name = text_at(row, 4).substr(0, 256);
          give();
        });
  }

  // ---------------------------------------------------------------------------------------- ranges

  void read_schemas() {
    const std::string t = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
    if (!has_columns(t, {"domainId", "schemaId", "name", "offset"})) return;
    run("SELECT DISTINCT domainId, schemaId, name, coalesce(offset, 0), " + column(t, "type", "0") +
            " FROM " + t,
        [this](sqlite3_stmt* row) {
          auto& fields = schemas_[{sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)}];
          constexpr std::size_t kMaxFields = 64;
          if (fields.size() < kMaxFields)
            fields.push_back({std::string(text_at(row, 2).substr(0, 64)),
                              sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 4)});
        });
  }

  static std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint64_t number = 0;
    for (std::size_t i = size; i-- > 0;)
      number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
    return number;
  }
  /// Returns the value of the payload field whose name begins with `field`; -1 if there is none.
  /// Values with type code 5 have four bytes, and all other values have eight bytes.
  [[nodiscard]] std::int64_t payload(std::string_view blob, std::string_view field) const {
    constexpr std::size_t kBlobHeader = 32;
    if (blob.size() < kBlobHeader) return -1;
    const auto schema = schemas_.find({static_cast<std::int64_t>(little_endian(blob, 0, 4)),
                                       static_cast<std::int64_t>(little_endian(blob, 8, 4))});
    if (schema == schemas_.end()) return -1;
    for (const PayloadField& f : schema->second) {
      if (!f.name.starts_with(field)) continue;
      const std::size_t size = f.type == 5 ? 4 : 8;
      if (f.offset < 0 || static_cast<std::uint64_t>(f.offset) > blob.size() ||
          kBlobHeader + static_cast<std::size_t>(f.offset) + size > blob.size())
        return -1;
      return static_cast<std::int64_t>(
          little_endian(blob, kBlobHeader + static_cast<std::size_t>(f.offset), size) &
          0x7fff'ffff'ffff'ffffu);
    }
    return -1;
  }

  void read_ranges() {
    const std::string t = "NVTX_EVENTS";
    if (!has_columns(t, {"start", "end", "globalTid"})) return;
    read_schemas();
    const bool strings =
        columns_of(t).contains("textId") && has_columns("StringIds", {"id", "value"});
    const std::string text =
        strings ? "coalesce(" + column(t, "text") + ", StringIds.value)" : column(t, "text", "''");
    // The ranges that NCCL has recorded, by thread.
    std::map<std::int64_t, std::vector<NcclRange>> of_nccl;
    std::size_t kept = 0;
    run("SELECT " + t + ".start, " + t + ".end, " + t + ".globalTid, " + text + ", " +
            column(t, "binaryData") + " FROM " + t +
            (strings ? " LEFT JOIN StringIds ON StringIds.id = " + t + ".textId" : ""),
        [&](sqlite3_stmt* row) {
          const std::string_view name = text_at(row, 3);
          if (name.empty() || sqlite3_column_type(row, 1) == SQLITE_NULL)
            return counts_.ignore("mark or domain");
          if (!begin_event(sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 0),
                           sqlite3_column_int64(row, 1), KinetoKind::kCpuOperator, "range"))
            return;
          const void* blob = sqlite3_column_blob(row, 4);
          const std::string_view bytes(
              static_cast<const char*>(blob),
              blob == nullptr ? 0 : static_cast<std::size_t>(sqlite3_column_bytes(row, 4)));
          header_.has_blobs = header_.has_blobs || !bytes.empty();
          constexpr std::size_t kMaxRanges = 40'000'000;
          if (name.starts_with("nccl") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z') {
            if (name.starts_with("ncclCommInitRank")) return take_communicator(bytes);
            if (++kept > kMaxRanges) return;
            of_nccl[sqlite3_column_int64(row, 2)].push_back(
                {std::string(name.substr(0, 64)), event_.start_ns,
                 event_.start_ns + event_.duration_ns, payload(bytes, "Message size"),
                 payload(bytes, "NCCL communicator ID")});
            return;
          }
          take_range(name, sqlite3_column_int64(row, 2));
        });
    for (auto& [thread, ranges] : of_nccl) take_nccl_ranges(thread, ranges);
  }

  void take_communicator(std::string_view blob) {
    counts_.use("communicator");
    const std::int64_t ranks = payload(blob, "No. of ranks"), rank = payload(blob, "Rank"),
                       id = payload(blob, "NCCL communicator ID");
    if (ranks < 1 || rank < 0 || rank >= ranks || ranks > 1 << 24) return;
    communicator_ranks_[id] = ranks;
    NsysProcess& process = header_.processes[process_];
    if (ranks >= process.ranks) process.ranks = ranks, process.rank = rank;
  }

  /// Reads the name and the sizes of a range such as "aten::add, seq = 45, op_id = 3, sizes = [[64,
  /// 3]]".
  void take_range(std::string_view name, std::int64_t thread) {
    event_.tid = std::to_string(thread);
    const std::size_t comma =
        std::min({name.find(", seq = "), name.find(", op_id = "), name.find(", sizes = ")});
    if (const std::size_t sizes = name.find(", sizes = "); sizes != std::string_view::npos) {
      for (const char c : name.substr(sizes + 10, 4096)) {
        if (c != ' ') event_.input_dims += c;
      }
    }
    event_.name = name.substr(0, std::min<std::size_t>(comma, 512));
    if (const auto step = step_number(event_.name))
      event_.name = fmt::format("ProfilerStep#{}", *step);
    for (const char* annotation :
         {"ProfilerStep#", "nccl:", "Optimizer.step", "DistributedDataParallel.forward"}) {
      if (event_.name.starts_with(annotation)) event_.kind = KinetoKind::kAnnotation;
    }
    give();
  }

  /// Returns the number in "step 5", "Iteration_12", "train_step: 3".
  static std::optional<std::int64_t> step_number(std::string_view name) {
    const std::size_t digits = name.find_first_of("0123456789");
    if (digits == std::string_view::npos || digits == 0) return std::nullopt;
    std::string word;
    for (const char c : name.substr(0, digits)) {
      if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) word += static_cast<char>(c | 0x20);
    }
    constexpr std::array<std::string_view, 7> kWords{
        "step", "iter", "iteration", "trainstep", "trainingstep", "batch", "trainiteration"};
    if (std::find(kWords.begin(), kWords.end(), word) == kWords.end()) return std::nullopt;
    return whole_number<std::int64_t>(name.substr(digits));
  }

  void take_nccl_ranges(std::int64_t thread, std::vector<NcclRange>& ranges) {
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const NcclRange& a, const NcclRange& b) { return a.start < b.start; });
    // Groups may be nested. The outermost ncclGroupEnd launches all calls since the outermost
    // ncclGroupStart.
    int depth = 0;
    std::vector<const NcclRange*> group;
    for (const NcclRange& range : ranges) {
      if (range.name == "ncclGroupStart") {
        if (depth++ == 0) group.clear();
      } else if (range.name == "ncclGroupEnd") {
        if (depth > 0 && --depth == 0) give_group(thread, range, group);
      } else if (is_call(range.name)) {
        ++header_.calls;
        if (range.bytes >= 0) ++header_.sized_calls;
        if (depth > 0)
          group.push_back(&range);
        else
          give_call(thread, range.start, range.end, range.name, range.bytes, range.communicator);
      } else {
        counts_.ignore("other call of NCCL");
      }
    }
  }
  static bool is_call(std::string_view name) {
    for (const char* call : {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast",
                             "ncclBcast", "ncclReduce", "ncclSend", "ncclRecv", "ncclAlltoAll",
                             "ncclAllToAll", "ncclGather", "ncclScatter"}) {
      if (name == call) return true;
    }
    return false;
  }
  void give_group(std::int64_t thread, const NcclRange& end,
                  const std::vector<const NcclRange*>& calls) {
    if (calls.empty()) return counts_.ignore("group without calls");
    std::int64_t sends = 0, receives = 0, bytes = 0;
    bool sized = true;
    for (const NcclRange* call : calls) {
      sends += call->name == "ncclSend";
      receives += call->name == "ncclRecv";
      if (call->name == "ncclRecv") continue;
      sized = sized && call->bytes >= 0 && bytes < std::int64_t{1} << 50;
      bytes += std::max<std::int64_t>(0, call->bytes);
    }
    const bool exchange = sends + receives == static_cast<std::int64_t>(calls.size());
    // PyTorch implements an all-to-all as equal numbers of sends and receives with several peers.
    std::string name = calls.front()->name;
    if (exchange)
      name = sends == receives && sends > 1 ? "ncclAllToAll"
             : sends == 0                   ? "ncclRecv"
             : receives == 0                ? "ncclSend"
                                            : "ncclSendRecv";
    for (std::size_t i = 1; i < calls.size(); ++i) counts_.use("call of NCCL in a group");
    give_call(thread, end.start, end.end, name, sized ? bytes : -1, calls.front()->communicator,
              exchange);
  }
  void give_call(std::int64_t thread, std::int64_t start, std::int64_t end, const std::string& name,
                 std::int64_t bytes, std::int64_t communicator, bool whole = false) {
    if (!begin_event(thread, start, end, KinetoKind::kAnnotation, "call")) return;
    event_.tid = std::to_string(thread);
    event_.name = "nccl:" + name.substr(4);
    std::int64_t ranks = -1;
    if (communicator >= 0) {
      event_.group_name = fmt::format("{:#x}", communicator);
      if (const auto known = communicator_ranks_.find(communicator);
          known != communicator_ranks_.end())
        event_.group_size = ranks = known->second;
    }
    if (bytes > 0) {
      event_.data_type = "Byte";
      event_.in_elements = bytes;
      // `bytes` is the block of one rank: the input of an all-gather or the output of a
      // reduce-scatter.
      const bool part = !whole && (name == "ncclAllGather" || name == "ncclReduceScatter" ||
                                   name == "ncclAlltoAll" || name == "ncclAllToAll");
      if (part && ranks > 0 && bytes < (std::int64_t{1} << 60) / ranks)
        event_.out_elements = bytes * ranks;
    }
    give();
  }

  Database db_;
  std::string name_;
  const TakeNsysEvent& take_;
  RecordCounts& counts_;
  NsysHeader header_;
  std::set<std::string> tables_;
  std::map<std::string, std::set<std::string>> columns_;
  std::map<std::int64_t, std::size_t> index_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<PayloadField>> schemas_;
  std::map<std::int64_t, std::int64_t> communicator_ranks_;
  std::size_t process_ = 0;
  KinetoEvent event_;
  std::optional<Error> error_;
};

tl::unexpected<Error> no_database(const std::string& name, const std::string& why) {
  return tl::make_unexpected(
      Error::request({ProblemCode::kSyntax},
                     fmt::format("this SQLite database cannot be read: {}", why), {name, 0, 0}));
}

}  // namespace

Expected<NsysHeader> read_nsys(const std::string& path, const TakeNsysEvent& take,
                               RecordCounts& counts) {
  sqlite3* made = nullptr;
  char begin[2] = {};
  std::ifstream(path, std::ios::binary).read(begin, sizeof begin);
  if (begin[0] == '\x1f' && begin[1] == '\x8b')
    return no_database(path, "the file is compressed; decompress it with gunzip");
  // Open the file as immutable, so that SQLite does not change it and needs no journal.
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  const int status = sqlite3_open_v2((uri + "?immutable=1").c_str(), &made,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  Database database(made, sqlite3_close);
  if (status != SQLITE_OK)
    return no_database(path, made != nullptr ? sqlite3_errmsg(made) : "out of memory");
  return NsysReader(std::move(database), path, take, counts).read();
}

Expected<NsysHeader> read_nsys_bytes(std::string_view bytes, const std::string& name,
                                     const TakeNsysEvent& take, RecordCounts& counts) {
  sqlite3* made = nullptr;
  const int status = sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE, nullptr);
  Database database(made, sqlite3_close);
  if (status != SQLITE_OK) return no_database(name, "out of memory");
  auto* copy =
      static_cast<unsigned char*>(sqlite3_malloc64(std::max<std::size_t>(bytes.size(), 1)));
  if (copy == nullptr) return no_database(name, "out of memory");
  std::memcpy(copy, bytes.data(), bytes.size());
  if (sqlite3_deserialize(made, "main", copy, static_cast<sqlite3_int64>(bytes.size()),
                          static_cast<sqlite3_int64>(bytes.size()),
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK)
    return no_database(name, sqlite3_errmsg(made));
  return NsysReader(std::move(database), name, take, counts).read();
}

}  // namespace tutti::core
