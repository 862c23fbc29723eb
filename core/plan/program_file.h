#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/task_columns.h"

namespace tutti::core {

/// A file that contains a program of up to 2^31 - 1 tasks. The file is mapped into memory. The file
/// has a header with the offset of every column, followed by the columns, each aligned to 8 bytes.
/// Numbers are stored in the native representation (byte order) of the machine that writes the
/// file.
class ProgramFile {
 public:
  /// Maps a file into memory, and checks the whole program in one pass. `rows` is the number of
  /// rows of Durations.
  /// ERRORS (kRequest): the file cannot be read, is not a program file, or is truncated; the
  /// program has problems (the error names the first).
  static Expected<ProgramFile> open(const std::string& path, std::int64_t rows);
  ProgramFile(ProgramFile&&) noexcept;
  ProgramFile& operator=(ProgramFile&&) = delete;
  ~ProgramFile();

  /// Returns the columns, which are valid while this object exists.
  /// REQUIRES: no process writes to the file or truncates it while it is mapped.
  [[nodiscard]] const TaskColumns& columns() const { return columns_; }
  /// Releases the memory of the tasks before `task`. A later access to one of these tasks reads the
  /// task from the file again. A run that calls this function regularly needs little memory, even
  /// for a large file.
  void release_before(TaskId task) const;

 private:
  ProgramFile(const std::byte* begin, std::size_t size) : begin_(begin), size_(size) {}
  /// Reads the header. The errors are those of open(), as texts.
  tl::expected<void, std::string> read_header();

  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  TaskColumns columns_;
};

/// Writes a program file task by task. The memory that the writer needs does not grow with the
/// file.
class ProgramFileWriter {
 public:
  struct Lists {
    std::vector<TaskId> roots;
    std::vector<Block> blocks;
    std::vector<Share> shares;
    std::int64_t share_whole = 1;
    std::int32_t latches = 0;
    /// True if some task uses a rarely needed field: `latch`, `number`, shares, or `every_steps`
    /// above 1. If false, the file omits the columns of these fields.
    bool has_rare_fields = true;
  };
  /// Creates a file. `tasks` is the number of tasks that will be added; `lists` has the parts of
  /// the program that do not belong to single tasks.
  /// ERRORS (kRun): the file cannot be created.
  static Expected<std::unique_ptr<ProgramFileWriter>> create(const std::string& path,
                                                             std::int64_t tasks,
                                                             const Lists& lists);

  /// Adds the next task, which has `predecessors` predecessors.
  void add(const Task& task, std::int32_t predecessors, std::span<const TaskId> successors);
  /// Completes the file. ERRORS (kRun): the file could not be written completely.
  Expected<void> finish();

 private:
  struct Column {
    std::int64_t at = 0;  ///< file offset of the next byte to write
    std::vector<char> waiting;
  };
  ProgramFileWriter(std::string path, std::int64_t tasks, const Lists& lists);
  void put(std::size_t column, const void* value, std::size_t bytes);
  void flush(Column& column);

  std::string path_;
  std::ofstream file_;
  std::int64_t tasks_ = 0, added_ = 0, edges_ = 0;
  std::vector<Column> columns_;
  std::vector<std::int64_t> places_;  ///< for each column: file offset
  std::int32_t latches_ = 0;
  bool has_rare_fields_ = true;
  std::int64_t share_whole_ = 1, roots_ = 0, blocks_ = 0, shares_ = 0;
};

/// Writes a program that is in memory.
/// ERRORS (kRun): as for ProgramFileWriter.
/// REQUIRES: as for OwnedColumns.
Expected<void> write_program_file(const std::string& path, const Program& program);

}  // namespace tutti::core
