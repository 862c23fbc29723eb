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

/// A program in a file of columns, of up to 2^31 - 1 tasks, that is mapped into memory rather than
/// read. The file holds numbers as this machine has them: a header with the place of every column,
/// then the columns, each at a multiple of 8 bytes.
class ProgramFile {
 public:
  /// Maps a file and checks all of it, once from front to back. `rows`: those of Durations.
  /// ERRORS (requests): it cannot be read, is no such file, is cut off, or its program has
  /// problems; the first of them is named.
  static Expected<ProgramFile> open(const std::string& path, std::int64_t rows);
  ProgramFile(ProgramFile&&) noexcept;
  ProgramFile& operator=(ProgramFile&&) = delete;
  ~ProgramFile();

  /// REQUIRES: nobody writes to the file or shortens it while it is mapped. Valid as long as this
  /// is.
  [[nodiscard]] const TaskColumns& columns() const { return columns_; }
  /// Gives the memory of tasks before `task` back to the system; the file is read again for those
  /// that are looked at nevertheless. Runs that call this now and then keep what they have in
  /// memory small, however large the file is.
  void release_before(TaskId task) const;

 private:
  ProgramFile(const std::byte* begin, std::size_t size) : begin_(begin), size_(size) {}
  /// ERRORS (texts): as open().
  tl::expected<void, std::string> read_header();

  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  TaskColumns columns_;
};

/// Writes a program file, task by task, in memory that does not grow with it.
class ProgramFileWriter {
 public:
  struct Lists {
    std::vector<TaskId> roots;
    std::vector<Block> blocks;
    std::vector<Share> shares;
    std::int64_t share_whole = 1;
    std::int32_t holds = 0;
    /// Tasks may be held, skipped in some steps, numbered, or have shares; false saves the columns
    /// of that.
    bool has_rare_fields = true;
  };
  /// `tasks`: how many will be added. `lists`: what is known of all of them together.
  /// ERRORS (kRun): the file cannot be created.
  static Expected<std::unique_ptr<ProgramFileWriter>> create(const std::string& path, std::int64_t tasks,
                                                             const Lists& lists);

  /// Adds the next task. `predecessors`: how many it has.
  void add(const Task& task, std::int32_t predecessors, std::span<const TaskId> successors);
  /// ERRORS (kRun): not all could be written.
  Expected<void> finish();

 private:
  struct Column {
    std::int64_t at = 0;  ///< in the file, of the next byte that is written
    std::vector<char> waiting;
  };
  ProgramFileWriter(std::string path, std::int64_t tasks, const Lists& lists);
  void put(std::size_t column, const void* value, std::size_t bytes);
  void flush(Column& column);

  std::string path_;
  std::ofstream file_;
  std::int64_t tasks_ = 0, added_ = 0, edges_ = 0;
  std::vector<Column> columns_;
  std::vector<std::int64_t> places_;  ///< in the file, of each column
  std::int32_t holds_ = 0;
  bool has_rare_fields_ = true;
  std::int64_t share_whole_ = 1, roots_ = 0, blocks_ = 0, shares_ = 0;
};

/// Writes a program of the memory. ERRORS (kRun): as ProgramFileWriter. REQUIRES: as OwnedColumns.
Expected<void> write_program_file(const std::string& path, const Program& program);

}  // namespace tutti::core
