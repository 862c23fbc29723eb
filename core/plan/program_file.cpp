// A program of 2^31 tasks takes more than 58 GiB (29 bytes per task, and 4 bytes per edge).
// Therefore the reader maps the file into memory and releases the pages that it has already read.
// The values of each field form a contiguous column. The runner reads each column directly from the
// mapped file, without parsing. The writer knows the number of tasks in advance, so it can compute
// the offset of every column. Only the number of edges is unknown, so the column of successors
// comes last. The writer buffers 256 KiB per column. The writer writes the header last, so an
// incomplete file is not accepted as a program. The reader first checks the header and the offset
// and length of each column. problems_of() (check_columns.cpp) then checks the contents of the
// columns before they are used.

#include "core/plan/program_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {
namespace {

enum FileColumn : std::size_t {
  kKinds,
  kPredecessors,
  kEdgesEnd,
  kValues,
  kPacks,
  kIndices,
  kLatches,
  kOpens,
  kEverySteps,
  kNumbers,
  kNumberStrides,
  kCostShares,
  kRoots,
  kBlocks,
  kShares,
  kSuccessors,  ///< last column, because its length is known only at the end
  kFileColumns
};
constexpr std::array<std::int64_t, kFileColumns> kWidths{
    1, 4, 8, 8, 4, 4, 4, 4, 4, 4, 4, sizeof(IndexRange), 4, sizeof(Block), sizeof(Share), 4};

struct FileHeader {
  std::array<char, 8> magic{'T', 'U', 'T', 'T', 'I', 'P', 'R', 'G'};
  std::uint32_t version = 1;
  std::uint32_t byte_order = 0x01020304;
  std::int64_t tasks = 0, edges = 0, roots = 0, blocks = 0, shares = 0, share_whole = 1,
               latches = 0;
  std::array<std::int64_t, kFileColumns> places{};
};
static_assert(sizeof(FileHeader) == 16 + 7 * 8 + kFileColumns * 8);

/// True for a column that a file may omit; the offset of an omitted column is 0.
constexpr bool is_rare(std::size_t column) { return column >= kLatches && column <= kCostShares; }

/// An upper bound on the number of entries in any column.
constexpr std::int64_t kMaxEntries = std::int64_t{1} << 40;
constexpr std::size_t kBuffered = 1 << 18;

std::int64_t entries(const FileHeader& header, std::size_t column) {
  switch (column) {
    case kRoots: return header.roots;
    case kBlocks: return header.blocks;
    case kShares: return header.shares;
    case kSuccessors: return header.edges;
    default: return header.tasks;
  }
}

Error no_program(const std::string& path, const std::string& why) {
  return Error::request(fmt::format("{}: {}", path, why));
}

}  // namespace

Expected<ProgramFile> ProgramFile::open(const std::string& path, std::int64_t rows) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct ::stat about {};
  if (file < 0 || ::fstat(file, &about) != 0) {
    const int why = errno;
    if (file >= 0) ::close(file);
    return tl::make_unexpected(no_program(path, std::strerror(why)));
  }
  const std::size_t size = about.st_size;
  if (!S_ISREG(about.st_mode) || size < sizeof(FileHeader)) {
    ::close(file);
    return tl::make_unexpected(no_program(path, "this is not a program file"));
  }
  void* const begin = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  const int why = errno;
  ::close(file);
  if (begin == MAP_FAILED) return tl::make_unexpected(no_program(path, std::strerror(why)));
  ProgramFile program(static_cast<const std::byte*>(begin), size);
  if (auto header = program.read_header(); !header)
    return tl::make_unexpected(no_program(path, header.error()));
  const auto problems =
      problems_of(program.columns_, rows, [&](TaskId t) { program.release_before(t); });
  program.release_before(program.columns_.end());
  if (!problems.empty()) return tl::make_unexpected(no_program(path, problems.front().text));
  return program;
}

tl::expected<void, std::string> ProgramFile::read_header() {
  FileHeader header;
  std::memcpy(&header, begin_, sizeof header);
  const FileHeader expected;
  if (header.magic != expected.magic) return tl::make_unexpected("this is not a program file");
  if (header.version != expected.version || header.byte_order != expected.byte_order)
    return tl::make_unexpected(
        "this program file was written by another version of Tutti, or by a machine with another "
        "byte order");
  for (const std::int64_t count :
       {header.tasks, header.edges, header.roots, header.blocks, header.shares, header.latches}) {
    if (count < 0 || count > kMaxEntries)
      return tl::make_unexpected("a count in the header is damaged");
  }
  // No task opens more than one latch, so there are at most as many latches as tasks.
  if (header.latches > header.tasks || header.latches > INT32_MAX)
    return tl::make_unexpected("a count in the header is damaged");
  std::array<const void*, kFileColumns> at{};
  for (std::size_t c = 0; c < kFileColumns; ++c) {
    if (header.places[c] == 0 && is_rare(c)) continue;
    const std::int64_t place = header.places[c], bytes = entries(header, c) * kWidths[c];
    if (place < static_cast<std::int64_t>(sizeof header) || place % 8 != 0 ||
        bytes > static_cast<std::int64_t>(size_) ||
        place > static_cast<std::int64_t>(size_) - bytes)
      return tl::make_unexpected("this program file is truncated or damaged");
    at[c] = begin_ + place;
  }
  columns_.tasks = header.tasks;
  columns_.kinds = static_cast<const std::uint8_t*>(at[kKinds]);
  columns_.predecessors = static_cast<const std::int32_t*>(at[kPredecessors]);
  columns_.edges_end = static_cast<const std::int64_t*>(at[kEdgesEnd]);
  columns_.values = static_cast<const std::int64_t*>(at[kValues]);
  columns_.packs = static_cast<const std::int32_t*>(at[kPacks]);
  columns_.indices = static_cast<const std::int32_t*>(at[kIndices]);
  columns_.latches = static_cast<const std::int32_t*>(at[kLatches]);
  columns_.opens = static_cast<const std::int32_t*>(at[kOpens]);
  columns_.every_steps = static_cast<const std::int32_t*>(at[kEverySteps]);
  columns_.numbers = static_cast<const std::int32_t*>(at[kNumbers]);
  columns_.number_strides = static_cast<const std::int32_t*>(at[kNumberStrides]);
  columns_.cost_shares = static_cast<const IndexRange*>(at[kCostShares]);
  columns_.successors = static_cast<const std::int32_t*>(at[kSuccessors]);
  columns_.edges = header.edges;
  columns_.roots = {static_cast<const TaskId*>(at[kRoots]), static_cast<std::size_t>(header.roots)};
  columns_.blocks = {static_cast<const Block*>(at[kBlocks]),
                     static_cast<std::size_t>(header.blocks)};
  columns_.shares = {static_cast<const Share*>(at[kShares]),
                     static_cast<std::size_t>(header.shares)};
  columns_.share_whole = header.share_whole;
  columns_.latch_count = static_cast<std::int32_t>(header.latches);
  return {};
}

ProgramFile::ProgramFile(ProgramFile&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), size_(other.size_), columns_(other.columns_) {}

ProgramFile::~ProgramFile() {
  if (begin_) ::munmap(const_cast<std::byte*>(begin_), size_);
}

void ProgramFile::release_before(TaskId task) const {
  if (task <= 0 || task > columns_.end())
    task = static_cast<TaskId>(task <= 0 ? 0 : columns_.tasks);
  const std::size_t page = ::sysconf(_SC_PAGESIZE);
  const auto release = [&](const void* column, std::int64_t count, std::size_t width) {
    if (!column) return;
    // Do not release the first page, which also holds the end of the previous column.
    const auto from =
        (static_cast<std::size_t>(static_cast<const std::byte*>(column) - begin_) + page - 1) /
        page * page;
    const std::size_t to =
        (static_cast<std::size_t>(static_cast<const std::byte*>(column) - begin_) +
         static_cast<std::size_t>(count) * width) /
        page * page;
    if (from < to) ::madvise(const_cast<std::byte*>(begin_ + from), to - from, MADV_DONTNEED);
  };
  release(columns_.kinds, task, 1);
  release(columns_.edges_end, task, 8);
  release(columns_.values, task, 8);
  for (const std::int32_t* column :
       {columns_.predecessors, columns_.packs, columns_.indices, columns_.latches, columns_.opens,
        columns_.every_steps, columns_.numbers, columns_.number_strides})
    release(column, task, 4);
  release(columns_.cost_shares, task, sizeof(IndexRange));
  const std::int64_t edge = task == 0 ? 0 : columns_.edges_end[task - 1];
  // problems_of() may not have checked the columns yet, so the number may be out of range.
  if (edge > 0 && edge <= columns_.edges) release(columns_.successors, edge, 4);
}

// --- writing ---

Expected<std::unique_ptr<ProgramFileWriter>> ProgramFileWriter::create(const std::string& path,
                                                                       std::int64_t tasks,
                                                                       const Lists& lists) {
  std::unique_ptr<ProgramFileWriter> writer(new ProgramFileWriter(path, tasks, lists));
  if (!writer->file_)
    return tl::make_unexpected(
        Error::run({ProblemCode::kSystem}, fmt::format("{}: cannot be created", path)));
  return writer;
}

ProgramFileWriter::ProgramFileWriter(std::string path, std::int64_t tasks, const Lists& lists)
    : path_(std::move(path)),
      file_(path_, std::ios::binary | std::ios::trunc),
      tasks_(tasks),
      columns_(kFileColumns),
      latches_(lists.latches),
      has_rare_fields_(lists.has_rare_fields),
      share_whole_(lists.share_whole),
      roots_(std::ssize(lists.roots)),
      blocks_(std::ssize(lists.blocks)),
      shares_(std::ssize(lists.shares)) {
  FileHeader header;
  header.tasks = tasks;
  header.roots = roots_;
  header.blocks = blocks_;
  header.shares = shares_;
  std::int64_t at = sizeof header;
  for (std::size_t c = 0; c < kFileColumns; ++c) {
    if (is_rare(c) && !has_rare_fields_) {
      places_.push_back(0);
      continue;
    }
    places_.push_back(at);
    columns_[c].at = at;
    at += (entries(header, c) * kWidths[c] + 7) / 8 * 8;
  }
  put(kRoots, lists.roots.data(), lists.roots.size() * sizeof(TaskId));
  put(kBlocks, lists.blocks.data(), lists.blocks.size() * sizeof(Block));
  put(kShares, lists.shares.data(), lists.shares.size() * sizeof(Share));
}

void ProgramFileWriter::add(const Task& task, std::int32_t predecessors,
                            std::span<const TaskId> successors) {
  ++added_;
  edges_ += std::ssize(successors);
  const std::uint8_t kinds = TaskColumns::packed_kinds(task);
  put(kKinds, &kinds, 1);
  put(kPredecessors, &predecessors, 4);
  put(kEdgesEnd, &edges_, 8);
  put(kValues, &task.cost.value, 8);
  put(kPacks, &task.pack, 4);
  put(kIndices, &task.index, 4);
  put(kSuccessors, successors.data(), successors.size_bytes());
  if (!has_rare_fields_) return;
  put(kLatches, &task.latch, 4);
  put(kOpens, &task.opens, 4);
  put(kEverySteps, &task.every_steps, 4);
  put(kNumbers, &task.number, 4);
  put(kNumberStrides, &task.number_stride, 4);
  put(kCostShares, &task.cost.shares, sizeof(IndexRange));
}

void ProgramFileWriter::put(std::size_t column, const void* value, std::size_t bytes) {
  Column& to = columns_[column];
  const char* const begin = static_cast<const char*>(value);
  to.waiting.insert(to.waiting.end(), begin, begin + bytes);
  if (to.waiting.size() >= kBuffered) flush(to);
}

void ProgramFileWriter::flush(Column& column) {
  file_.seekp(column.at);
  file_.write(column.waiting.data(), static_cast<std::streamsize>(column.waiting.size()));
  column.at += std::ssize(column.waiting);
  column.waiting.clear();
}

Expected<void> ProgramFileWriter::finish() {
  TUTTI_CHECK(added_ == tasks_, "only {} of {} tasks were added", added_, tasks_);
  for (Column& column : columns_) {
    if (!column.waiting.empty()) flush(column);
  }
  FileHeader header;
  header.tasks = tasks_;
  header.edges = edges_;
  header.roots = roots_;
  header.blocks = blocks_;
  header.shares = shares_;
  header.share_whole = share_whole_;
  header.latches = latches_;
  for (std::size_t c = 0; c < kFileColumns; ++c) header.places[c] = places_[c];
  // The file may be too short if the last columns are empty or end with padding.
  file_.seekp(0, std::ios::end);
  while (file_.tellp() < static_cast<std::streamoff>(places_[kSuccessors])) file_.put('\0');
  file_.seekp(0);
  file_.write(reinterpret_cast<const char*>(&header), sizeof header);
  file_.close();
  if (!file_)
    return tl::make_unexpected(
        Error::run({ProblemCode::kSystem}, fmt::format("{}: cannot be written", path_)));
  return {};
}

Expected<void> write_program_file(const std::string& path, const Program& program) {
  const OwnedColumns owned(program);
  const TaskColumns& columns = owned.columns();
  auto writer = ProgramFileWriter::create(
      path, columns.tasks,
      {program.roots, program.blocks, program.shares, program.share_whole, program.latches});
  if (!writer) return tl::make_unexpected(writer.error());
  for (TaskId t = 0; t < program.size(); ++t) {
    const std::int64_t first = columns.first_edge(t);
    (*writer)->add(
        program.tasks[t], columns.predecessors[t],
        {columns.successors + first, static_cast<std::size_t>(columns.edges_end[t] - first)});
  }
  return (*writer)->finish();
}

}  // namespace tutti::core
